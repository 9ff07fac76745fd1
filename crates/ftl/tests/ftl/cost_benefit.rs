//! Cost-benefit victims: each has most to gain for its cost, with ages by counting what became invalid.

use ninescope_ftl::policies::VictimSelectionConfig;
use ninescope_ftl::policies::victim_selection::cost_benefit::CostBenefit;
use ninescope_ftl::{Ftl, FtlConfig, GcStep, GroupState, Placed};
use ninescope_kernel::RandomStream;
use ninescope_model::{BlockGroup, Geometry, Lpa, Pool, Ppa};

/// One pool: 12 groups of 4 pages of 2 units.
fn config() -> FtlConfig {
    FtlConfig {
        logical_units: 56,
        reserve_groups: 1,
        victim_selection: VictimSelectionConfig::CostBenefit(CostBenefit {}),
        seed: 5,
        ..FtlConfig::bare(Geometry::checked(1, 1, 1, 1, 12, 4, 8192, 4096, 1).expect("legal"))
    }
}

/// When each group changed last, in units that became invalid before: by counting.
#[derive(Default)]
struct Changes {
    now: u64,
    changed: [u64; 12],
}

impl Changes {
    fn invalidated(&mut self, ftl: &Ftl, place: Ppa) {
        self.now += 1;
        self.changed[ftl.geometry().group_and_offset(place).0.index()] = self.now;
    }

    /// A group that is full is on the media now, unless moves into it are under way.
    fn programmed(&mut self, ftl: &mut Ftl, placed: &Placed) {
        let group = ftl.geometry().group_and_offset(placed.new).0;
        ftl.programmed(group, 8);
        if ftl.group(group).pending == 0 {
            self.changed[group.index()] = self.now;
        }
    }

    /// Benefit over cost of a candidate: what is gained, times its age, over what is copied twice.
    fn worth(&self, group: BlockGroup, valid: u32) -> f64 {
        let (utilisation, age) = (f64::from(valid) / 8.0, (self.now - self.changed[group.index()]) as f64);
        if valid == 0 { f64::INFINITY } else { age * (1.0 - utilisation) / (2.0 * utilisation) }
    }
}

#[test]
fn cost_benefit_takes_a_candidate_with_most_to_gain_for_its_cost() {
    let mut ftl = Ftl::new(&config()).expect("enough spare groups");
    let mut stream = RandomStream::new(9, "tests", "victims");
    let (mut changes, mut chosen, mut not_greedy) = (Changes::default(), 0, 0);
    for step in 0..60_000 {
        // Two of three writes go to an eighth of the units.
        let range = if stream.below(3) > 0 { 7 } else { 56 };
        let placed = ftl.write(Lpa(if step < 56 { step } else { stream.below(range) as u32 })).expect("space");
        if placed.old != Ppa::UNMAPPED {
            changes.invalidated(&ftl, placed.old);
        }
        if placed.closed {
            changes.programmed(&mut ftl, &placed);
        }
        if !placed.opened {
            continue;
        }
        let mut present = None;
        loop {
            let candidates: Vec<(BlockGroup, u32)> = (0..12)
                .map(BlockGroup)
                .filter(|&group| ftl.group(group).state == GroupState::Closed)
                .map(|group| (group, ftl.valid_units(group)))
                .collect();
            let (group, units) = match ftl.gc_next(Pool(0), false) {
                GcStep::MovePage { first, mask } => (ftl.geometry().group_and_offset(first).0, Some((first, mask))),
                GcStep::Erase(group) => (group, None),
                GcStep::Wait | GcStep::Nothing | GcStep::Retired(_) | GcStep::Padded(_) => break,
            };
            if present != Some(group) {
                present = Some(group);
                let worth = |&(group, valid): &(BlockGroup, u32)| changes.worth(group, valid);
                let of_victim = candidates.iter().find(|(other, _)| *other == group).expect("a candidate");
                let best = candidates.iter().map(worth).fold(0.0, f64::max);
                assert!(worth(of_victim) >= best * (1.0 - 1e-12), "step {step}: {of_victim:?} of {candidates:?}");
                chosen += 1;
                not_greedy += u32::from(candidates.iter().any(|(_, valid)| *valid < of_victim.1));
            }
            let Some((first, mask)) = units else {
                ftl.erased(group);
                present = None;
                continue;
            };
            for from in (0..2).filter(|bit| mask >> bit & 1 == 1).map(|bit| Ppa(first.0 + bit)) {
                let lpa = ftl.content(from);
                assert!(ftl.move_is_current(lpa, ftl.residence(from), 0));
                let moved = ftl.place_move(Pool(0), lpa, from).expect("the reserve takes a victim");
                if moved.closed {
                    changes.programmed(&mut ftl, &moved);
                }
                assert!(ftl.moved(lpa, ftl.residence(from), moved.new));
                changes.invalidated(&ftl, from);
                if moved.closed {
                    changes.changed[ftl.geometry().group_and_offset(moved.new).0.index()] = changes.now;
                }
            }
        }
    }
    assert!(chosen > 5_000 && not_greedy > chosen / 10, "{chosen} victims, {not_greedy} of them not greedy's");
}
