//! A drive in the steady state of uniform random overwriting, made at once: one of its pools is overwritten by itself until it
//! has settled, all pools take states that it goes through from then on, and their valid places take the drive's units at
//! random. Then the drive itself is overwritten a little, and has to do as the pool did.
//!
//! That can be, because a random write picks its unit anywhere: whatever is valid in a block is any of the drive's units, and
//! a pool that is given its turn like all others does not know that there are others, but for how many units it holds
//! (`shares`): between two looks the pool is given as many more or loses them. That the law of block states (Van Houdt,
//! SIGMETRICS 2013) comes out, and the overwritten drive with its tails, is held by tests. How overwriting settles is not
//! known here.

use std::ops::Range;

use ninescope_ftl::{Ftl, FtlConfig, InstantDriver};
use ninescope_kernel::{RandomOrder, RandomStream};
use ninescope_model::Lpa;

use super::settling::Window;
use super::shares::{self, Share};
use super::steady_state::{MISSED, SPREAD, SteadyState};
use super::{Overwriting, Preconditioning, internal};
use crate::error::Error;
use crate::steadiness::{interval_of_mean, t_of};

/// Smaller drives are overwritten, which takes no time either [units].
const UNITS_AT_LEAST: u32 = 1 << 21;
/// With fewer pools there is less to gain.
const POOLS_AT_LEAST: u32 = 8;
/// The pool is looked at each time that it has programmed so much of its flash: what its blocks were before is gone when
/// they have been filled anew, however many writes of the host that takes.
const WINDOWS_PER_TURN: u64 = 5;
/// It is overwritten for so many windows at most. Where victims are drawn at random, windows scatter too much to agree.
const WINDOWS_MAX: u64 = 45;
/// So often it programs all its flash while it goes through the shares of all pools, by which it forgets what it held before.
const TURNS_OF_SHARES: f64 = 3.0;
/// Windows, of a block group in each pool, over which the drive has to do as the pool did. Odd, for Student's t.
const CONFIRMING_WINDOWS: usize = 3;

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The pool is overwritten.
    Settling,
    /// So many pools of the drive have their states.
    Composing(usize),
    /// The drive is overwritten.
    Confirming,
    /// It does as the pool did, or does not.
    Done { confirmed: bool },
}

/// A drive that is made of one pool.
#[derive(Debug)]
pub struct Composition {
    /// The pool by itself, made when it is overwritten.
    of_one: FtlConfig,
    sample: Option<Ftl>,
    wearing: Box<Preconditioning>,
    stage: Stage,
    /// The drive's units.
    order: RandomOrder,
    units: u32,
    /// What each pool is to hold, in the order in which they get it.
    shares: Vec<Share>,
    /// How many units the pool by itself holds: its first ones.
    held: u32,
    /// What fills a block group [units].
    group: u32,
    stream: RandomStream,
    /// Write amplification while the drive was overwritten.
    confirming: Vec<f64>,
    window_start: Window,
    window_left: u64,
    written: u64,
}

impl Composition {
    /// Whether a drive of this configuration is composed in less time than it is overwritten, and what chooses its victims and
    /// streams knows nothing that groups do not tell.
    pub fn is_quicker(config: &FtlConfig) -> bool {
        let is_large = config.logical_units >= UNITS_AT_LEAST && config.geometry.pools() >= POOLS_AT_LEAST;
        // Which blocks broke is not what one pool says of others.
        let is_whole = config.breakdown.is_none() && !config.wear_leveling.levels();
        is_large
            && is_whole
            && config.homes.is_empty()
            && config.block_map.is_none()
            && !config.stream_choice.remembers()
            && config.victim_selection.chosen().follows_from_groups()
    }

    /// The composition of a drive of this configuration.
    pub fn new(config: &FtlConfig, seed: u64) -> Self {
        let (geometry, units) = (&config.geometry, config.logical_units);
        let mut stream = RandomStream::new(seed, "prepare", "composition");
        let order = RandomOrder::new(units, &mut stream);
        // Of addresses that are dealt out in turn some pools have a turn more.
        let turn = config.turn_by_address().unwrap_or(geometry.units_per_page());
        let share = units.div_ceil(geometry.pools()).next_multiple_of(turn);
        // However much a pool holds, collection goes on in it.
        let groups_at_most = geometry.blocks_per_plane - config.spare_groups_needed();
        let limit = (groups_at_most * geometry.units_per_group()).saturating_sub(share);
        let shares = shares::drawn(units, geometry.pools(), limit, &mut stream);
        let most = shares.iter().map(|share| share.units).max().unwrap_or(0).max(share);
        let of_one =
            FtlConfig { geometry: geometry.of_one_pool(), logical_units: most, translation_units: 0, ..config.clone() };
        let group = geometry.units_per_group();
        let overwriting = Overwriting::UntilSteady(0..share);
        let fill = std::iter::once(0..share).collect();
        let turn = u64::from(of_one.geometry.units());
        let wearing =
            Preconditioning::new(fill, overwriting, group, seed).in_windows(turn / WINDOWS_PER_TURN, WINDOWS_MAX);
        Self {
            of_one,
            sample: None,
            wearing: Box::new(wearing),
            stage: Stage::Settling,
            order,
            units,
            shares,
            held: share,
            group,
            stream,
            confirming: Vec::with_capacity(CONFIRMING_WINDOWS),
            window_start: Window::default(),
            window_left: 0,
            written: 0,
        }
    }

    /// Units written so far.
    pub fn written(&self) -> u64 {
        self.wearing.written() + self.written
    }

    /// Units that will be written at most.
    pub fn total(&self) -> u64 {
        let round = u64::from(self.group) * self.shares.len() as u64;
        // Beside the looks, what one pool is given more than another.
        let rounds = self.groups_between_looks() + 1 + CONFIRMING_WINDOWS as u64;
        self.wearing.total() + u64::from(self.units) + rounds * round
    }

    /// Whether the drive does as the pool did; `None` until that is known.
    pub fn confirmed(&self) -> Option<bool> {
        match self.stage {
            Stage::Done { confirmed } => Some(confirmed),
            _ => None,
        }
    }

    /// What the pool came to.
    pub fn state(&self) -> SteadyState {
        let of_pool = self.wearing.steady_state().unwrap_or_default();
        let converged = self.confirmed() == Some(true);
        SteadyState { converged, composed: true, ..of_pool }.judged()
    }

    /// Goes on for about so many units.
    ///
    /// # Errors
    /// When garbage collection cannot go on, which a checked configuration rules out.
    pub fn advance(&mut self, ftl: &mut Ftl, units: u32) -> Result<(), Error> {
        match self.stage {
            Stage::Settling => {
                let mut sample = self.take_sample()?;
                if self.wearing.advance(&mut sample, units)? {
                    self.stage = Stage::Composing(0);
                }
                self.sample = Some(sample);
            }
            Stage::Composing(done) if done < self.shares.len() => {
                let mut sample = self.take_sample()?;
                self.compose(ftl, &mut sample, self.shares[done])?;
                self.stage = Stage::Composing(done + 1);
                self.sample = Some(sample);
            }
            Stage::Composing(_) => (self.sample, self.stage) = (None, Stage::Confirming),
            Stage::Confirming => self.confirm(ftl, units)?,
            Stage::Done { .. } => {}
        }
        Ok(())
    }

    fn take_sample(&mut self) -> Result<Ftl, Error> {
        self.sample.take().map_or_else(|| Ftl::new(&self.of_one).map_err(internal), Ok)
    }

    /// The pool goes on with as many units as the one at a position holds, which takes the state it is in then.
    fn compose(&mut self, ftl: &mut Ftl, sample: &mut Ftl, share: Share) -> Result<(), Error> {
        let group = u64::from(self.group);
        let (units, placed) = if let Some((count, unit)) = ftl.units_by_address(share.position) {
            // Addresses decide what it holds, and how full its group is.
            let goes_on = self.stream.below(2 * group);
            self.written += overwrite(sample, self.held..self.held, goes_on, &mut self.stream)?;
            let order = RandomOrder::new(count, &mut self.stream);
            (count, ftl.compose_pool(share.position, sample, order.map(unit)))
        } else {
            // Pools that are written in turn fill their groups in step, and are all at the same place of one.
            let goes_on = self.groups_between_looks() * group;
            self.written += overwrite(sample, self.held..share.units, goes_on, &mut self.stream)?;
            self.held = share.units;
            let units = self.order.by_ref().take(share.units as usize).map(Lpa);
            (share.units, ftl.compose_pool(share.position, sample, units))
        };
        self.written += u64::from(placed);
        if placed == units {
            return Ok(());
        }
        Err(Error::Internal(format!("of {units} units a pool took {placed}")))
    }

    /// Block groups that the host fills in the pool from one look to the next.
    fn groups_between_looks(&self) -> u64 {
        let waf = self.wearing.steady_state().map_or(1.0, |state| state.waf).max(1.0);
        let groups_in_a_turn = f64::from(self.of_one.geometry.groups()) / waf;
        (TURNS_OF_SHARES * groups_in_a_turn / self.shares.len() as f64).ceil().max(1.0) as u64
    }

    /// The drive is overwritten, and compared with the pool when that was enough.
    fn confirm(&mut self, ftl: &mut Ftl, units: u32) -> Result<(), Error> {
        let mut driver = InstantDriver::of_clean_data(ftl);
        for _ in 0..units {
            if self.window_left == 0 {
                self.window_start = Window::of(driver.ftl(), 0);
                self.window_left = u64::from(self.group) * self.shares.len() as u64;
            }
            driver.write(Lpa(self.stream.below(u64::from(self.units)) as u32)).map_err(internal)?;
            self.written += 1;
            self.window_left -= 1;
            if self.window_left == 0 {
                self.confirming.push(Window::of(driver.ftl(), 0).since(&self.window_start).write_amplification());
                if self.confirming.len() == CONFIRMING_WINDOWS {
                    self.stage = Stage::Done { confirmed: self.agrees() };
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Whether the drive's write amplification is that of the pool, by as much as both are uncertain, or [`SPREAD`].
    fn agrees(&self) -> bool {
        let of_pool = self.state();
        let waf = self.confirming.iter().sum::<f64>() / CONFIRMING_WINDOWS as f64;
        let (low, high) = interval_of_mean(waf, &self.confirming, t_of(MISSED, CONFIRMING_WINDOWS as u32 - 1));
        waf > 1.0 && low <= of_pool.waf_high * (1.0 + SPREAD) && high >= of_pool.waf_low * (1.0 - SPREAD)
    }
}

/// A pool comes to hold the last of its units instead of the first, and is overwritten until it was written so often, or as
/// often in whole times as that takes. Returns how often.
fn overwrite(sample: &mut Ftl, held: Range<u32>, writes: u64, stream: &mut RandomStream) -> Result<u64, Error> {
    let mut driver = InstantDriver::of_clean_data(sample);
    for unit in held.end..held.start {
        driver.trim(Lpa(unit));
    }
    for unit in held.clone() {
        driver.write(Lpa(unit)).map_err(internal)?;
    }
    let added = held.len() as u64;
    let writes = match (held.end, added) {
        (0, _) => 0, // of very few units a pool may hold none
        (_, 0) => writes,
        _ => added.next_multiple_of(writes.max(1)),
    };
    for _ in added..writes {
        driver.write(Lpa(stream.below(u64::from(held.end)) as u32)).map_err(internal)?;
    }
    if sample.collects_nothing() {
        return Ok(writes);
    }
    Err(Error::Internal("a pool that is overwritten without time never rests".to_owned()))
}

#[cfg(test)]
mod tests {
    use ninescope_model::{BlockGroup, Geometry, Ppa};
    use ninescope_oracles::write_amplification::{d_choices, fifo, greedy, greedy_valid_distribution, random};

    use super::*;

    const POOLS: u32 = 16;
    const PAGES: u32 = 64;

    /// 16 pools of blocks of 64 units, which hold `spare` times what the host has.
    fn config(victim: &str, allocation: &str, blocks: u32, spare: f64) -> FtlConfig {
        let geometry = Geometry::checked(4, 2, 2, 1, blocks, PAGES, 4_096, 4_096, 1).expect("a geometry");
        // What is free, and half of what is open, holds nothing to collect (see `the_law_of_block_states_comes_out`).
        let collected = f64::from(geometry.groups() - 2 * POOLS) * f64::from(PAGES);
        let named = |policy: &str| serde_json::json!({ "policy": policy });
        FtlConfig {
            logical_units: (collected / spare) as u32,
            reserve_groups: 1,
            page_allocation: serde_json::from_value(named(allocation)).expect("an allocation"),
            victim_selection: serde_json::from_value(named(victim)).expect("a victim"),
            seed: 5,
            ..FtlConfig::bare(geometry)
        }
    }

    /// A drive of this configuration in a steady state.
    fn prepared(config: &FtlConfig, composed: bool, seed: u64) -> (Ftl, SteadyState) {
        let mut ftl = Ftl::new(config).expect("a drive");
        let units = 0..config.logical_units;
        let round = config.geometry.units_per_group() * config.geometry.pools();
        let mut preconditioning =
            Preconditioning::new(vec![units.clone()], Overwriting::UntilSteady(units), round, seed);
        if composed {
            preconditioning = preconditioning.composed(config, seed);
        }
        while !preconditioning.advance(&mut ftl, 100_000).expect("it goes on") {}
        assert!(preconditioning.written() <= preconditioning.total());
        (ftl, preconditioning.steady_state().expect("a steady state"))
    }

    /// By the number of valid units, the share of the filled blocks that hold so many.
    fn block_states(ftl: &Ftl) -> Vec<f64> {
        let mut states = vec![0.0; PAGES as usize + 1];
        let filled =
            (0..ftl.geometry().groups()).map(BlockGroup).filter(|&group| ftl.group(group).write_pointer == PAGES);
        filled.for_each(|group| states[ftl.valid_units(group) as usize] += 1.0);
        let all: f64 = states.iter().sum();
        states.iter().map(|count| count / all).collect()
    }

    /// How far two distributions are apart: the share that would have to be elsewhere.
    fn apart(one: &[f64], other: &[f64]) -> f64 {
        one.iter().zip(other).map(|(one, other)| (one - other).abs()).sum::<f64>() / 2.0
    }

    #[test]
    fn what_is_declared_is_what_theory_has_and_the_overwritten_drive() {
        let spare = 1.28;
        // Of what is open FIFO leaves more uncollected than theory has; drawn at random, victims scatter.
        for (victim, theory, allowed) in [
            ("greedy", greedy(spare, PAGES), 0.015),
            ("fifo", fifo(spare), 0.025),
            ("d-choices", d_choices(spare, PAGES, 10), 0.015),
            ("random", random(spare), 0.04),
        ] {
            let config = config(victim, "round-robin", 512, spare);
            let (composed, overwritten) = (prepared(&config, true, 3).1, prepared(&config, false, 3).1);
            assert!(composed.composed && composed.converged, "{victim}: {composed:?}");
            assert!((composed.waf / theory - 1.0).abs() < allowed, "{victim}: {} of {theory}", composed.waf);
            let uncertain = composed.waf_high - composed.waf_low + overwritten.waf_high - overwritten.waf_low;
            let apart = (composed.waf - overwritten.waf).abs();
            assert!(apart <= uncertain / 2.0 + 0.005 * theory, "{victim}: {composed:?} and {overwritten:?}");
        }
    }

    #[test]
    fn the_law_of_block_states_comes_out() {
        for spare in [1.1, 1.28] {
            let (ftl, _) = prepared(&config("greedy", "round-robin", 512, spare), true, 3);
            let law = greedy_valid_distribution(spare, PAGES);
            // 8,000 blocks on 65 states are a twentieth apart by chance (the mean of |N(0, 1)| in each).
            let (composed, filled) =
                (block_states(&ftl), prepared(&config("greedy", "round-robin", 512, spare), false, 3).0);
            assert!(apart(&composed, &law) < 0.06, "spare {spare}: {} from the law", apart(&composed, &law));
            let overwritten = block_states(&filled);
            assert!(apart(&composed, &overwritten) < 0.08, "spare {spare}: {}", apart(&composed, &overwritten));
            assert!(apart(&overwritten, &law) < 0.06, "the overwritten drive is held by it, too");
        }
    }

    #[test]
    fn every_unit_lies_at_one_valid_place_that_holds_it() {
        for allocation in ["round-robin", "static"] {
            let config = config("greedy", allocation, 64, 1.2);
            let mut ftl = Ftl::new(&config).expect("a drive");
            let mut composition = Composition::new(&config, 9);
            while composition.stage != Stage::Confirming {
                composition.advance(&mut ftl, 100_000).expect("it goes on");
            }
            let mut taken = vec![false; config.geometry.units() as usize];
            for lpa in (0..config.logical_units).map(Lpa) {
                let at = ftl.translate(lpa);
                assert!(ftl.is_valid(at) && ftl.content(at) == lpa && !std::mem::replace(&mut taken[at.index()], true));
            }
            let valid = (0..config.geometry.units()).filter(|&place| ftl.is_valid(Ppa(place))).count();
            assert_eq!((ftl.mapped_units(), valid), (config.logical_units, config.logical_units as usize));
            // Each pool holds its share: by addresses where they decide, elsewhere as they scatter.
            let of_pools = (0..config.logical_units).fold([0_u32; POOLS as usize], |mut counts, unit| {
                let group = config.geometry.group_and_offset(ftl.translate(Lpa(unit))).0;
                counts[config.geometry.pool_and_block(group).0.index()] += 1;
                counts
            });
            let share = config.logical_units / POOLS;
            let within = if allocation == "static" { 1 } else { 6 * (share / 2).isqrt() };
            assert!(of_pools.iter().all(|units| units.abs_diff(share) <= within), "{allocation}: {of_pools:?}");
            assert_eq!(of_pools.iter().any(|units| units.abs_diff(share) > 1), allocation != "static");
        }
    }

    #[test]
    fn a_drive_by_address_is_composed_too() {
        let config = config("greedy", "static", 256, 1.28);
        let (composed, overwritten) = (prepared(&config, true, 4).1, prepared(&config, false, 4).1);
        assert!(composed.composed && composed.converged && !overwritten.composed);
        let apart = (composed.waf / overwritten.waf - 1.0).abs();
        assert!(apart < 0.02, "{} and {}", composed.waf, overwritten.waf);
    }

    #[test]
    fn a_drive_that_does_not_do_as_the_pool_did_is_overwritten() {
        let config = config("greedy", "round-robin", 64, 1.28);
        let mut ftl = Ftl::new(&config).expect("a drive");
        let units = 0..config.logical_units;
        let round = config.geometry.units_per_group() * config.geometry.pools();
        let mut preconditioning =
            Preconditioning::new(vec![units.clone()], Overwriting::UntilSteady(units), round, 3).composed(&config, 3);
        // A pool that is looked at before it collects anything.
        let composition = preconditioning.composition.as_mut().expect("it is composed");
        let share = 0..config.logical_units / POOLS;
        *composition.wearing =
            Preconditioning::new(vec![share.clone()], Overwriting::UntilSteady(share), PAGES, 3).in_windows(1, 1);
        while !preconditioning.advance(&mut ftl, 10_000).expect("it goes on") {}
        let state = preconditioning.steady_state().expect("a steady state");
        assert!(!state.composed && state.converged && state.waf > 2.0, "{state:?}");
        assert!(preconditioning.written() <= preconditioning.total());
        assert_eq!(ftl.mapped_units(), config.logical_units);
    }

    #[test]
    fn what_is_overwritten_as_quickly_is_not_composed() {
        assert!(!Composition::is_quicker(&config("greedy", "round-robin", 512, 1.28)), "half a million units");
        assert!(Composition::is_quicker(&config("greedy", "round-robin", 4_096, 1.28)), "four million");
    }
}
