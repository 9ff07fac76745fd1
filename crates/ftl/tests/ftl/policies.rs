//! Policies against naive models on tiny drives, step by step, and the registries.
//!
//! [`NaiveDrive`] is a flash translation layer of one pool written for clarity: lists, linear searches, no
//! index that could go stale. It must agree with the real one after every host operation on where every
//! unit lies, on the free groups and on wear. Policies that draw at random are checked draw by draw against
//! what they could see: a victim must be a candidate, and victims must follow the policy's law.

use std::collections::BTreeMap;

use ninescope_ftl::policies::gc_trigger::free_groups::FreeGroups;
use ninescope_ftl::policies::page_allocation::round_robin::{Granularity, RoundRobin};
use ninescope_ftl::policies::page_allocation::static_striping::StaticStriping;
use ninescope_ftl::policies::victim_selection::d_choices::DChoices;
use ninescope_ftl::policies::{
    FreeBlockChoiceConfig, GcTriggerConfig, PageAllocationConfig, Told, VictimSelectionConfig,
};
use ninescope_ftl::{Ftl, FtlConfig, FtlError, GcStep, GroupState, InstantDriver};
use ninescope_kernel::RandomStream;
use ninescope_model::{BlockGroup, Geometry, Lpa, Pool, Ppa, string_or_table};
use serde::Deserialize;
use serde::de::DeserializeOwned;

const RESERVE: u32 = 1;

/// One pool: 12 groups of 4 pages of 2 units.
fn one_pool() -> Geometry {
    Geometry::checked(1, 1, 1, 1, 12, 4, 8192, 4096, 1).expect("legal")
}

fn config(geometry: Geometry, logical_units: u32) -> FtlConfig {
    FtlConfig {
        logical_units,
        reserve_groups: RESERVE,
        page_allocation: PageAllocationConfig::default(),
        free_block_choice: FreeBlockChoiceConfig::default(),
        gc_trigger: GcTriggerConfig::default(),
        victim_selection: VictimSelectionConfig::default(),
        seed: 5,
        ..FtlConfig::bare(geometry)
    }
}

fn named<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_value(serde_json::json!({ "policy": name })).expect("a policy of the registry")
}

// ---- a naive drive ------------------------------------------------------------------------------------

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    FewestValid,
    FilledFirst,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextFree {
    FreeForLongest,
    LeastWorn,
}

/// What was written into a group since its last erase, in order, and how often it was erased.
#[derive(Clone, Debug, Default)]
struct NaiveGroup {
    written: Vec<u32>,
    erases: u32,
}

#[derive(Debug)]
struct NaiveDrive {
    units_per_group: usize,
    beyond_reserve: usize,
    victim: Victim,
    next_free: NextFree,
    groups: Vec<NaiveGroup>,
    /// Where each unit lies: group and offset.
    place: Vec<Option<(usize, usize)>>,
    /// Free groups, the one that has been free for longest first.
    free: Vec<usize>,
    /// Filled groups, the one that was filled first in front.
    filled: Vec<usize>,
    host_frontier: Option<usize>,
    gc_frontier: Option<usize>,
    collected: u32,
}

impl NaiveDrive {
    fn new(config: &FtlConfig, beyond_reserve: u32, victim: Victim, next_free: NextFree) -> Self {
        let groups = config.geometry.groups() as usize;
        Self {
            units_per_group: config.geometry.units_per_group() as usize,
            beyond_reserve: beyond_reserve as usize,
            victim,
            next_free,
            groups: vec![NaiveGroup::default(); groups],
            place: vec![None; config.logical_units as usize],
            free: (0..groups).collect(),
            filled: Vec::new(),
            host_frontier: None,
            gc_frontier: None,
            collected: 0,
        }
    }

    fn valid_units(&self, group: usize) -> usize {
        self.place.iter().flatten().filter(|place| place.0 == group).count()
    }

    fn open_group(&mut self) -> usize {
        let position = match self.next_free {
            NextFree::FreeForLongest => 0,
            NextFree::LeastWorn => {
                let least = self.free.iter().map(|&group| self.groups[group].erases).min().expect("a free group");
                self.free.iter().position(|&group| self.groups[group].erases == least).expect("the minimum exists")
            }
        };
        self.free.remove(position)
    }

    /// Writes a unit into an open group; returns the group again unless that filled it.
    fn append(&mut self, group: usize, unit: u32) -> Option<usize> {
        self.place[unit as usize] = Some((group, self.groups[group].written.len()));
        self.groups[group].written.push(unit);
        if self.groups[group].written.len() < self.units_per_group {
            return Some(group);
        }
        self.filled.push(group);
        None
    }

    fn write(&mut self, unit: u32) {
        let reserve = RESERVE as usize;
        if self.host_frontier.is_none() && self.free.len() <= reserve {
            self.collect();
        }
        let opens = self.host_frontier.is_none();
        if opens {
            assert!(self.free.len() > reserve, "the drive is full");
            self.host_frontier = Some(self.open_group());
        }
        let group = self.host_frontier.expect("just opened");
        self.host_frontier = self.append(group, unit);
        if opens {
            self.collect();
        }
    }

    fn trim(&mut self, unit: u32) {
        self.place[unit as usize] = None;
    }

    fn collect(&mut self) {
        while self.free.len() <= RESERVE as usize + self.beyond_reserve {
            let invalid: usize = self.filled.iter().map(|&group| self.units_per_group - self.valid_units(group)).sum();
            if invalid < self.units_per_group {
                return;
            }
            let victim = match self.victim {
                Victim::FilledFirst => self.filled[0],
                Victim::FewestValid => {
                    let mut ascending = self.filled.clone();
                    ascending.sort_unstable();
                    // The first minimum, hence the lowest number among equals.
                    ascending.into_iter().min_by_key(|&group| self.valid_units(group)).expect("a filled group")
                }
            };
            self.filled.retain(|&group| group != victim);
            for offset in 0..self.units_per_group {
                let unit = self.groups[victim].written[offset];
                if self.place[unit as usize] == Some((victim, offset)) {
                    let group = self.gc_frontier.unwrap_or_else(|| self.open_group());
                    self.gc_frontier = self.append(group, unit);
                }
            }
            self.groups[victim].written.clear();
            self.groups[victim].erases += 1;
            self.free.push(victim);
            self.collected += 1;
        }
    }

    fn assert_agrees(&self, ftl: &Ftl, step: u32) {
        let per_group = self.units_per_group as u32;
        for (unit, place) in self.place.iter().enumerate() {
            let expected = place.map_or(Ppa::UNMAPPED, |(group, offset)| Ppa(group as u32 * per_group + offset as u32));
            assert_eq!(ftl.translate(Lpa(unit as u32)), expected, "unit {unit} after step {step}");
        }
        assert_eq!(ftl.free_groups(Pool(0)) as usize, self.free.len(), "after step {step}");
        for (number, group) in self.groups.iter().enumerate() {
            let record = ftl.group(BlockGroup(number as u32));
            assert_eq!(record.write_pointer as usize, group.written.len(), "group {number} after step {step}");
            assert_eq!(record.erase_count, group.erases, "group {number} after step {step}");
            let valid = ftl.valid_units(BlockGroup(number as u32)) as usize;
            assert_eq!(valid, self.valid_units(number), "group {number} after step {step}");
        }
    }
}

#[test]
fn greedy_and_fifo_with_each_free_block_choice_and_trigger_follow_the_naive_drive() {
    for (victim, victim_name) in [(Victim::FewestValid, "greedy"), (Victim::FilledFirst, "fifo")] {
        for (next_free, choice_name) in [(NextFree::FreeForLongest, "fifo"), (NextFree::LeastWorn, "least-worn")] {
            for beyond_reserve in [0, 1, 3] {
                let config = FtlConfig {
                    victim_selection: named(victim_name),
                    free_block_choice: named(choice_name),
                    gc_trigger: GcTriggerConfig::FreeGroups(FreeGroups { beyond_reserve }),
                    ..config(one_pool(), 50)
                };
                let mut ftl = Ftl::new(&config).expect("enough spare groups");
                let mut naive = NaiveDrive::new(&config, beyond_reserve, victim, next_free);
                let mut driver = InstantDriver::new(&mut ftl);
                let mut stream = RandomStream::new(u64::from(beyond_reserve), victim_name, choice_name);
                for step in 0..6_000 {
                    // Skewed, so that wear differs; one operation in ten is a TRIM.
                    let range = if stream.below(2) == 0 { 50 } else { 7 };
                    let unit = stream.below(range) as u32;
                    if stream.below(10) == 0 {
                        driver.trim(Lpa(unit));
                        naive.trim(unit);
                    } else {
                        driver.write(Lpa(unit)).expect("the drive is not full");
                        naive.write(unit);
                    }
                    naive.assert_agrees(driver.ftl(), step);
                }
                assert!(naive.collected > 500, "garbage collection was at work: {} victims", naive.collected);
            }
        }
    }
}

// ---- policies that draw at random ---------------------------------------------------------------------

/// What a policy saw when it chose, and what it chose.
struct Choice {
    /// Valid units of each candidate.
    candidates: Vec<(BlockGroup, u32)>,
    victim: BlockGroup,
}

/// Writes at random and carries out collection step by step, looking at the drive before each victim is
/// chosen.
fn choices_of(victim_selection: VictimSelectionConfig, writes: u32) -> Vec<Choice> {
    let config = FtlConfig { victim_selection, ..config(one_pool(), 56) };
    let mut ftl = Ftl::new(&config).expect("enough spare groups");
    let mut stream = RandomStream::new(9, "tests", "victims");
    let mut choices = Vec::new();
    for step in 0..writes {
        let unit = if step < 56 { step } else { stream.below(56) as u32 };
        let placed = ftl.write(Lpa(unit)).expect("collection keeps up");
        if placed.closed {
            ftl.programmed(ftl.geometry().group_and_offset(placed.new).0, 8);
        }
        if placed.opened {
            collect_step_by_step(&mut ftl, &mut choices);
        }
    }
    choices
}

fn collect_step_by_step(ftl: &mut Ftl, choices: &mut Vec<Choice>) {
    let mut present = None;
    loop {
        let candidates: Vec<(BlockGroup, u32)> = (0..12)
            .map(BlockGroup)
            .filter(|&group| ftl.group(group).state == GroupState::Closed)
            .map(|group| (group, ftl.valid_units(group)))
            .collect();
        let step = ftl.gc_next(Pool(0), false);
        let group = match step {
            GcStep::MovePage { first, .. } => ftl.geometry().group_and_offset(first).0,
            GcStep::Erase(group) => group,
            GcStep::Wait | GcStep::Nothing | GcStep::Retired(_) | GcStep::Padded(_) => return,
        };
        if present != Some(group) {
            present = Some(group);
            choices.push(Choice { candidates, victim: group });
        }
        let GcStep::MovePage { first, mask } = step else {
            ftl.erased(group);
            present = None;
            continue;
        };
        for from in (0..2).filter(|bit| mask >> bit & 1 == 1).map(|bit| Ppa(first.0 + bit)) {
            let lpa = ftl.content(from);
            assert!(ftl.move_is_current(lpa, ftl.residence(from), 0), "only valid units are handed out");
            let placed = ftl.place_move(Pool(0), lpa, from).expect("the reserve takes a victim");
            if placed.closed {
                ftl.programmed(ftl.geometry().group_and_offset(placed.new).0, 8);
            }
            assert!(ftl.moved(lpa, ftl.residence(from), placed.new));
        }
    }
}

#[test]
fn random_takes_every_candidate_equally_often() {
    let choices = choices_of(named("random"), 200_000);
    assert!(choices.len() > 10_000, "{} victims", choices.len());
    // The rank of the victim among the candidates, by group number and by valid units, is uniform.
    let (mut by_number, mut by_valid, mut variance) = (0.0, 0.0, 0.0);
    for choice in &choices {
        let rank = choice.candidates.iter().position(|(group, _)| *group == choice.victim).expect("a candidate");
        let count = choice.candidates.len() as f64;
        by_number += rank as f64 - (count - 1.0) / 2.0;
        variance += (count * count - 1.0) / 12.0;
        let valid = choice.candidates[rank].1;
        let fewer = choice.candidates.iter().filter(|(_, other)| *other < valid).count() as f64;
        let more = choice.candidates.iter().filter(|(_, other)| *other > valid).count() as f64;
        by_valid += (fewer - more) / 2.0;
    }
    // The variance of mid-ranks is at most that of ranks.
    let deviation = f64::sqrt(variance);
    assert!(by_number.abs() < 4.0 * deviation, "{} standard deviations", by_number / deviation);
    assert!(by_valid.abs() < 4.0 * deviation, "{} standard deviations", by_valid / deviation);
}

#[test]
fn random_invalid_takes_every_candidate_with_something_invalid_equally_often() {
    let choices = choices_of(named("random-invalid"), 200_000);
    assert!(choices.len() > 10_000, "{} victims", choices.len());
    let (mut ranks, mut variance, mut left_out) = (0.0, 0.0, 0);
    // By how many there are to choose from: how often each was chosen.
    let mut chosen: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for choice in &choices {
        let wanted: Vec<_> = choice.candidates.iter().filter(|(_, valid)| *valid < 8).collect();
        left_out += choice.candidates.len() - wanted.len();
        let rank = wanted.iter().position(|(group, _)| *group == choice.victim).expect("it holds something invalid");
        chosen.entry(wanted.len()).or_insert_with(|| vec![0; wanted.len()])[rank] += 1;
        let count = wanted.len() as f64;
        ranks += rank as f64 - (count - 1.0) / 2.0;
        variance += (count * count - 1.0) / 12.0;
    }
    assert!(left_out > 1_000, "{left_out} candidates were valid throughout");
    let deviation = f64::sqrt(variance);
    assert!(ranks.abs() < 4.0 * deviation, "{} standard deviations", ranks / deviation);
    // All alike: chi-square over all of them, where each is expected five times at least.
    let (mut chi_square, mut freedom) = (0.0, 0.0);
    for counts in chosen.values() {
        let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
        if expected >= 5.0 {
            chi_square += counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum::<f64>();
            freedom += counts.len() as f64 - 1.0;
        }
    }
    let above = (chi_square - freedom) / f64::sqrt(2.0 * freedom);
    assert!(freedom >= 10.0 && above < 4.0, "chi-square {chi_square} of {freedom} degrees of freedom");
}

#[test]
fn random_invalid_takes_nothing_where_everything_is_valid() {
    // Four full groups, nothing overwritten: to fill an open page, greedy would take one of them.
    for (name, expected) in [("greedy", true), ("random-invalid", false)] {
        let config = FtlConfig { victim_selection: named(name), ..config(one_pool(), 56) };
        let mut ftl = Ftl::new(&config).expect("enough spare groups");
        for unit in 0..32 {
            let placed = ftl.write(Lpa(unit)).expect("an empty drive");
            if placed.closed {
                ftl.programmed(ftl.geometry().group_and_offset(placed.new).0, 8);
            }
        }
        let step = ftl.gc_next(Pool(0), true);
        assert_eq!(matches!(step, GcStep::MovePage { .. }), expected, "{name}: {step:?}");
        assert_eq!(ftl.counters().gc_victims, u64::from(expected), "{name}");
        ftl.write(Lpa(3)).expect("space");
        assert!(
            matches!(ftl.gc_next(Pool(0), true), GcStep::MovePage { .. }),
            "{name}: one group has something invalid"
        );
    }
}

#[test]
fn d_choices_takes_a_candidate_with_fewest_valid_units_as_often_as_d_draws_find_one() {
    for d in [1_u8, 2, 5, 10] {
        let policy = VictimSelectionConfig::DChoices(DChoices { d: u32::from(d).try_into().expect("d is not zero") });
        let choices = choices_of(policy, 200_000);
        assert!(choices.len() > 10_000, "{} victims", choices.len());
        // The law of the victim's valid units: the least of d draws with replacement. Summed over all
        // choices, compare the share of victims at the minimum and the mean of "candidates with fewer".
        let (mut at_minimum, mut expected, mut variance) = (0.0, 0.0, 0.0);
        let (mut fewer_found, mut fewer_expected, mut fewer_variance) = (0.0, 0.0, 0.0);
        for choice in &choices {
            let count = choice.candidates.len() as f64;
            let of_victim = choice.candidates.iter().find(|(group, _)| *group == choice.victim).expect("a candidate").1;
            let least = choice.candidates.iter().map(|candidate| candidate.1).min().expect("candidates");
            let with_at_least =
                |valid: u32| choice.candidates.iter().filter(|candidate| candidate.1 >= valid).count() as f64 / count;
            let chance = |valid: u32| with_at_least(valid).powi(d.into()) - with_at_least(valid + 1).powi(d.into());
            at_minimum += f64::from(u8::from(of_victim == least));
            expected += chance(least);
            variance += chance(least) * (1.0 - chance(least));
            fewer_found += 1.0 - with_at_least(of_victim);
            let mean: f64 = (0..=8).map(|valid| chance(valid) * (1.0 - with_at_least(valid))).sum();
            let square: f64 = (0..=8).map(|valid| chance(valid) * (1.0 - with_at_least(valid)).powi(2)).sum();
            fewer_expected += mean;
            fewer_variance += square - mean * mean;
        }
        let off = (at_minimum - expected) / f64::sqrt(variance);
        assert!(off.abs() < 4.0, "d = {d}: {at_minimum} at the minimum, {expected} expected, {off} deviations");
        let off = (fewer_found - fewer_expected) / f64::sqrt(fewer_variance);
        assert!(off.abs() < 4.0, "d = {d}: {fewer_found} with fewer, {fewer_expected} expected, {off} deviations");
    }
}

// ---- page allocation ----------------------------------------------------------------------------------

/// Two channels of two dies of two planes, pages of two units.
fn eight_pools(frontier_planes: u32) -> Geometry {
    Geometry::checked(2, 1, 2, 2, 12, 4, 8192, 4096, frontier_planes).expect("legal")
}

/// Channel, die within the channel, plane within the die, of each unit written.
fn places_written(ftl: &mut Ftl, units: impl Iterator<Item = u32>) -> Vec<(u32, u32, u32)> {
    let geometry = *ftl.geometry();
    units
        .map(|unit| {
            let placed = ftl.write(Lpa(unit)).expect("there is room");
            let die = geometry.die_of_pool(placed.pool);
            let plane = geometry.first_plane_of_pool(placed.pool) + geometry.locate(placed.new).plane_in_group;
            (geometry.channel_of_die(die).0, die.0 % geometry.dies_per_channel(), plane)
        })
        .collect()
}

/// Channel first, then die, then plane.
const CHANNEL_FIRST: [(u32, u32, u32); 8] =
    [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 1)];

#[test]
fn round_robin_goes_page_by_page_over_channels_then_dies_then_planes() {
    for granularity in [Granularity::Page, Granularity::Stripe] {
        // With one plane per frontier a stripe is a page.
        let policy = PageAllocationConfig::RoundRobin(RoundRobin { granularity });
        let mut ftl = Ftl::new(&FtlConfig { page_allocation: policy, ..config(eight_pools(1), 200) }).expect("fits");
        let places = places_written(&mut ftl, 0..32);
        let twice_each: Vec<_> = CHANNEL_FIRST.iter().flat_map(|place| [*place; 2]).collect();
        assert_eq!(places[..16], twice_each, "two units per page");
        assert_eq!(places[16..], twice_each, "and again from the first channel");
    }
}

#[test]
fn round_robin_by_stripe_fills_all_planes_of_a_die_before_it_goes_on() {
    let policy = PageAllocationConfig::RoundRobin(RoundRobin { granularity: Granularity::Stripe });
    let mut ftl = Ftl::new(&FtlConfig { page_allocation: policy, ..config(eight_pools(2), 200) }).expect("fits");
    let expected: Vec<_> = [(0, 0), (1, 0), (0, 1), (1, 1)]
        .into_iter()
        .flat_map(|(channel, die)| [(channel, die, 0), (channel, die, 0), (channel, die, 1), (channel, die, 1)])
        .collect();
    assert_eq!(places_written(&mut ftl, 0..16), expected);
}

#[test]
fn round_robin_by_page_changes_the_die_after_each_plane() {
    let policy = PageAllocationConfig::RoundRobin(RoundRobin { granularity: Granularity::Page });
    let mut ftl = Ftl::new(&FtlConfig { page_allocation: policy, ..config(eight_pools(2), 200) }).expect("fits");
    let expected: Vec<_> = CHANNEL_FIRST.iter().flat_map(|place| [*place; 2]).collect();
    assert_eq!(places_written(&mut ftl, 0..16), expected);
}

#[test]
fn round_robin_passes_over_pools_without_room_and_comes_back_to_them() {
    let mut ftl = Ftl::new(&config(eight_pools(1), 200)).expect("fits");
    // The pool of the second place (channel 1, die 0, plane 0): die 2, first plane.
    ftl.set_room(Pool(4), false);
    let places = places_written(&mut ftl, 0..14);
    let without: Vec<_> =
        CHANNEL_FIRST.iter().filter(|place| **place != (1, 0, 0)).flat_map(|place| [*place; 2]).collect();
    assert_eq!(places, without);
    ftl.set_room(Pool(4), true);
    assert_eq!(places_written(&mut ftl, 14..17), [(0, 0, 0), (0, 0, 0), (1, 0, 0)]);
}

#[test]
fn writes_wait_where_no_pool_has_room() {
    let mut ftl = Ftl::new(&config(eight_pools(1), 200)).expect("fits");
    (0..8).for_each(|pool| ftl.set_room(Pool(pool), false));
    assert_eq!(ftl.write(Lpa(3)), None);
    assert_eq!((ftl.translate(Lpa(3)), ftl.counters().host_units), (Ppa::UNMAPPED, 0));
    ftl.set_room(Pool(6), true);
    assert_eq!(ftl.write(Lpa(3)).map(|placed| placed.pool), Some(Pool(6)));
}

#[test]
fn static_striping_places_by_address_alone() {
    let policy = PageAllocationConfig::StaticStriping(StaticStriping::default());
    let mut ftl = Ftl::new(&FtlConfig { page_allocation: policy, ..config(eight_pools(1), 200) }).expect("fits");
    let mut stream = RandomStream::new(2, "tests", "static");
    for _ in 0..100 {
        let unit = stream.below(200) as u32;
        // Two units to a page, page by page over the places.
        let expected = CHANNEL_FIRST[unit as usize / 2 % 8];
        assert_eq!(places_written(&mut ftl, std::iter::once(unit)), [expected], "unit {unit}");
    }
    ftl.set_room(Pool(4), false);
    assert_eq!(ftl.write(Lpa(2)), None, "another pool may not take it");
    assert!(ftl.write(Lpa(0)).is_some());
}

// ---- cleaning in the foreground --------------------------------------------------------------------------

/// Writes a unit where there is space for it, and reports the end of the programs of a group that it fills.
fn written(ftl: &mut Ftl, unit: u32) -> bool {
    let Some(placed) = ftl.write(Lpa(unit)) else { return false };
    if placed.closed {
        let (group, _) = ftl.geometry().group_and_offset(placed.new);
        ftl.programmed(group, 8);
    }
    true
}

/// The pool of 12 groups with 7 full and then so many overwritten in order: 5 less those are free, one of them in reserve.
fn overwritten(trigger: &serde_json::Value, units: u32) -> Ftl {
    let gc_trigger = serde_json::from_value(trigger.clone()).expect("a policy of the registry");
    let mut ftl = Ftl::new(&FtlConfig { gc_trigger, ..config(one_pool(), 56) }).expect("enough spare groups");
    for unit in (0..56).chain(0..units) {
        assert!(written(&mut ftl, unit), "unit {unit}");
    }
    ftl
}

#[test]
fn cleaning_in_the_foreground_has_the_host_wait_until_enough_is_free() {
    let foreground = serde_json::json!({ "policy": "foreground", "beyond_reserve": 2, "gain": 2 });
    // The first overwrite opens a group, four are free; the ninth opens another, three are free, which is the mark. That one
    // is filled, to the sixteenth, and no other is opened.
    let ftl = overwritten(&foreground, 8);
    assert_eq!((ftl.free_groups(Pool(0)), ftl.gc_is_urgent(Pool(0)), ftl.counters().host_holds), (4, false, 0));
    let mut ftl = overwritten(&foreground, 16);
    assert_eq!((ftl.free_groups(Pool(0)), ftl.gc_is_urgent(Pool(0)), ftl.counters().host_holds), (3, true, 1));
    assert!(
        !written(&mut ftl, 16) && !ftl.has_space_for(Lpa(16), false, Told::default()),
        "three are free, two beyond the reserve"
    );
    // Five must be free: two victims, which hold nothing.
    for free in [4, 5] {
        assert!(!written(&mut ftl, 16), "{free} are not free yet");
        let GcStep::Erase(group) = ftl.gc_next(Pool(0), false) else { panic!("groups 0 and 1 were overwritten") };
        assert!(!ftl.gc_rests(Pool(0)), "the erase is under way");
        ftl.erased(group);
        assert_eq!(ftl.free_groups(Pool(0)), free);
    }
    assert!(!ftl.gc_is_urgent(Pool(0)) && ftl.gc_next(Pool(0), false) == GcStep::Nothing);
    assert!(written(&mut ftl, 16));
    // The same mark without waiting.
    let mut ftl = overwritten(&serde_json::json!({ "policy": "free-groups", "beyond_reserve": 2 }), 16);
    assert!(written(&mut ftl, 16));
    assert_eq!((ftl.free_groups(Pool(0)), ftl.counters().host_holds), (2, 0));
}

#[test]
fn between_two_watermarks_collection_goes_on_once_it_has_begun() {
    // Two groups are the lower mark, which the third group of the overwrites reaches; five are the upper one. Groups 0 to 2 hold
    // nothing by then.
    let watermarks = serde_json::json!({ "policy": "watermarks", "beyond_reserve": 1, "gain": 3 });
    let mut ftl = overwritten(&watermarks, 16);
    assert_eq!((ftl.free_groups(Pool(0)), ftl.gc_next(Pool(0), false)), (3, GcStep::Nothing));
    for (trigger, freed) in [(&watermarks, 3), (&serde_json::json!({ "policy": "free-groups" }), 1)] {
        let mut ftl = overwritten(trigger, 24);
        for group in 0..freed {
            assert_eq!(ftl.gc_next(Pool(0), false), GcStep::Erase(BlockGroup(group)));
            ftl.erased(BlockGroup(group));
        }
        assert_eq!((ftl.gc_next(Pool(0), false), ftl.free_groups(Pool(0))), (GcStep::Nothing, 2 + freed), "{trigger}");
    }
}

#[test]
fn the_host_does_not_wait_for_what_cannot_be_reclaimed() {
    // A mark that nothing reaches, and nothing overwritten.
    let high = serde_json::json!({ "policy": "foreground", "beyond_reserve": 9, "gain": 3 });
    let gc_trigger = serde_json::from_value(high).expect("a policy of the registry");
    let mut ftl = Ftl::new(&FtlConfig { gc_trigger, ..config(one_pool(), 56) }).expect("enough spare groups");
    let mut held = 0;
    for unit in 0..56 {
        if !written(&mut ftl, unit) {
            held += 1;
            assert_eq!(ftl.gc_next(Pool(0), false), GcStep::Nothing);
            assert!(ftl.gc_rests(Pool(0)) && !ftl.gc_rests(Pool(0)), "once");
            assert!(written(&mut ftl, unit), "unit {unit}");
        }
    }
    // Ten free groups are the mark, which the second group of the seven reaches: the five after it had to wait.
    assert_eq!((held, ftl.counters().host_holds, ftl.free_groups(Pool(0))), (5, 6, 5));
}

#[test]
fn a_pool_that_cleans_in_the_foreground_never_falls_below_its_mark() {
    // Five groups are the mark, and the three that the data fills leave room for seven.
    for (policy, fewest) in [("foreground", 5), ("free-groups", 1)] {
        let trigger = serde_json::json!({ "policy": policy, "beyond_reserve": 4 });
        let gc_trigger = serde_json::from_value(trigger).expect("a policy of the registry");
        let mut ftl = Ftl::new(&FtlConfig { gc_trigger, ..config(one_pool(), 24) }).expect("enough spare groups");
        let mut stream = RandomStream::new(11, "tests", "foreground");
        let mut least = u32::MAX;
        for step in 0..4_000 {
            let unit = if step < 24 { step } else { stream.below(24) as u32 };
            // Garbage collection is as slow as can be: it does something only while the host can do nothing.
            while !written(&mut ftl, unit) {
                one_step(&mut ftl);
            }
            least = least.min(ftl.free_groups(Pool(0)));
        }
        assert_eq!(least, fewest, "{policy}");
    }
}

/// Carries out one step of garbage collection.
fn one_step(ftl: &mut Ftl) {
    match ftl.gc_next(Pool(0), false) {
        GcStep::Erase(group) => ftl.erased(group),
        GcStep::MovePage { first, mask } => {
            for from in (0..2).filter(|bit| mask >> bit & 1 == 1).map(|bit| Ppa(first.0 + bit)) {
                let lpa = ftl.content(from);
                let placed = ftl.place_move(Pool(0), lpa, from).expect("the reserve takes a victim");
                if placed.closed {
                    ftl.programmed(ftl.geometry().group_and_offset(placed.new).0, 8);
                }
                assert!(ftl.moved(lpa, ftl.residence(from), placed.new));
            }
        }
        GcStep::Wait | GcStep::Nothing | GcStep::Retired(_) | GcStep::Padded(_) => {
            assert!(ftl.gc_rests(Pool(0)), "the host waits for something");
        }
    }
}

// ---- registries ---------------------------------------------------------------------------------------

/// A setting that takes a name or a table.
#[derive(Debug, Deserialize)]
struct Setting<T: DeserializeOwned> {
    #[serde(deserialize_with = "string_or_table")]
    policy: T,
}

fn setting<T: DeserializeOwned>(value: &serde_json::Value) -> Result<T, String> {
    let document = serde_json::json!({ "policy": value });
    serde_json::from_value::<Setting<T>>(document).map(|setting| setting.policy).map_err(|error| error.to_string())
}

macro_rules! check_registry {
    ($config:ty) => {{
        let policies = <$config>::all();
        assert_eq!(policies.len(), <$config>::LIST.len());
        for (policy, (name, summary)) in policies.iter().zip(<$config>::LIST) {
            assert_eq!(policy.name(), *name);
            assert!(!summary.is_empty());
            let by_name: $config = setting(&serde_json::json!(name)).expect("a name alone");
            let by_table: $config = setting(&serde_json::json!({ "policy": name })).expect("a table");
            assert_eq!((&by_name, &by_table), (policy, policy), "both give the default parameters");
            let printed = serde_json::to_value(policy).expect("policies print themselves");
            assert_eq!(setting::<$config>(&printed).as_ref(), Ok(policy), "and read themselves back");
            let refused = setting::<$config>(&serde_json::json!({ "policy": name, "no_such_parameter": 1 }));
            let message = refused.expect_err("an unknown parameter is refused");
            assert!(message.contains("no_such_parameter"), "{message}");
        }
        let message = setting::<$config>(&serde_json::json!("no-such-policy")).expect_err("an unknown name is refused");
        for (name, _) in <$config>::LIST {
            assert!(message.contains(name), "the known names are listed: {message}");
        }
        policies
    }};
}

/// Random writes and TRIMs on eight pools: nothing gets lost.
fn run_smoke(config: &FtlConfig) {
    let mut ftl = Ftl::new(config).expect("enough spare groups");
    let mut driver = InstantDriver::new(&mut ftl);
    let mut stream = RandomStream::new(3, "tests", "smoke");
    let mut mapped = vec![false; config.logical_units as usize];
    for _ in 0..20_000 {
        let unit = stream.below(u64::from(config.logical_units)) as u32;
        let write = stream.below(8) != 0;
        if write {
            driver.write(Lpa(unit)).expect("the drive is not full");
        } else {
            driver.trim(Lpa(unit));
        }
        mapped[unit as usize] = write;
    }
    for (unit, &mapped) in mapped.iter().enumerate() {
        let place = ftl.translate(Lpa(unit as u32));
        assert_eq!(place != Ppa::UNMAPPED, mapped, "unit {unit}");
        assert!(!mapped || ftl.is_valid(place) && ftl.content(place) == Lpa(unit as u32), "unit {unit}");
    }
    assert!(ftl.counters().erased_groups > 100, "garbage collection was at work");
    let valid: u32 = (0..ftl.geometry().groups()).map(|group| ftl.valid_units(BlockGroup(group))).sum();
    assert_eq!(valid, ftl.mapped_units());
}

#[test]
fn every_registered_policy_is_built_from_its_name_and_runs() {
    let base = config(eight_pools(2), 200);
    for victim_selection in check_registry!(VictimSelectionConfig) {
        run_smoke(&FtlConfig { victim_selection, ..base.clone() });
    }
    for free_block_choice in check_registry!(FreeBlockChoiceConfig) {
        run_smoke(&FtlConfig { free_block_choice, ..base.clone() });
    }
    for gc_trigger in check_registry!(GcTriggerConfig) {
        run_smoke(&FtlConfig { gc_trigger, ..base.clone() });
    }
    for page_allocation in check_registry!(PageAllocationConfig) {
        run_smoke(&FtlConfig { page_allocation, ..base.clone() });
    }
}

#[test]
fn parameters_are_read_from_a_table_and_their_ranges_hold() {
    let read: VictimSelectionConfig = setting(&serde_json::json!({ "policy": "d-choices", "d": 3 })).expect("legal");
    assert_eq!(read, VictimSelectionConfig::DChoices(DChoices { d: 3.try_into().expect("not zero") }));
    assert!(setting::<VictimSelectionConfig>(&serde_json::json!({ "policy": "d-choices", "d": 0 })).is_err());
    let read: GcTriggerConfig =
        setting(&serde_json::json!({ "policy": "free-groups", "beyond_reserve": 4 })).expect("legal");
    assert_eq!(read, GcTriggerConfig::FreeGroups(FreeGroups { beyond_reserve: 4 }));
    let read: PageAllocationConfig =
        setting(&serde_json::json!({ "policy": "round-robin", "granularity": "page" })).expect("legal");
    assert_eq!(read, PageAllocationConfig::RoundRobin(RoundRobin { granularity: Granularity::Page }));
}

#[test]
fn too_little_spare_space_is_refused_with_the_numbers() {
    // 12 groups: one reserve and three working groups leave eight for data.
    assert!(Ftl::new(&config(one_pool(), 64)).is_ok());
    let error = Ftl::new(&config(one_pool(), 65)).expect_err("refused");
    assert_eq!(error, FtlError::TooLittleSpare { blocks_per_plane: 12, needed: 13, spare: 4 });
}

#[test]
fn the_fullest_drive_that_is_accepted_never_gets_stuck() {
    for victim_selection in VictimSelectionConfig::all() {
        let config = FtlConfig { victim_selection, ..config(one_pool(), 64) };
        let mut ftl = Ftl::new(&config).expect("enough spare groups");
        let mut driver = InstantDriver::new(&mut ftl);
        let mut stream = RandomStream::new(4, "tests", "full");
        for step in 0..20_000 {
            let unit = if step < 64 { step } else { stream.below(64) };
            let written = driver.write(Lpa(unit as u32));
            assert!(written.is_ok(), "{} at step {step}: {written:?}", config.victim_selection.name());
        }
    }
}

#[test]
fn what_a_request_overwrites_is_garbage_before_any_is_collected() {
    // On the fullest drive that is accepted. A request that begins anywhere overwrites parts of two groups and more: placed
    // unit by unit, its first unit has what its later units overwrite moved.
    let moved = |units: u32, whole_requests: bool| {
        let mut ftl = Ftl::new(&config(one_pool(), 64)).expect("enough spare groups");
        let mut driver = InstantDriver::new(&mut ftl);
        let mut stream = RandomStream::new(4, "tests", "requests");
        for step in 0..2_000 {
            let first = if step < 64 / units { units * step } else { stream.below(u64::from(65 - units)) as u32 };
            if whole_requests {
                driver.write_request(first..first + units, Told::default()).expect("not full");
            } else {
                for unit in first..first + units {
                    driver.write(Lpa(unit)).expect("not full");
                }
            }
        }
        assert_eq!(ftl.counters().host_units, u64::from(2_000 * units));
        ftl.counters().gc_units
    };
    assert_eq!(moved(1, true), moved(1, false), "a request of one unit is both");
    for units in [8, 16, 32] {
        let (whole, by_unit) = (moved(units, true), moved(units, false));
        assert!(whole < by_unit, "{units} units: {whole} moved, {by_unit} unit by unit");
    }
}

#[test]
fn freed_groups_are_reopened_in_the_order_in_which_they_became_free() {
    let config = FtlConfig { victim_selection: named("fifo"), ..config(one_pool(), 8) };
    let mut ftl = Ftl::new(&config).expect("enough spare groups");
    let mut driver = InstantDriver::new(&mut ftl);
    let mut order = Vec::new();
    for step in 0..8 * 40 {
        let placed = driver.write(Lpa(step % 8)).expect("not full");
        if placed.opened {
            order.push(driver.ftl().geometry().group_and_offset(placed.new).0.0);
        }
    }
    // Eight units overwritten in order fill one group: every filled group but the last is empty, so that
    // nothing is ever moved, and the groups go round in the order of filling, freeing and opening.
    assert_eq!(ftl.counters().gc_units, 0);
    assert!(order.iter().enumerate().all(|(turn, &group)| group == turn as u32 % 12), "{order:?}");
}
