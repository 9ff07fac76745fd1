//! Wear levelling of storage-class memory: every policy maps one to one and carries contents along, and its overhead
//! is what the papers say.

use std::num::NonZeroU32;

use ninescope_ftl::policies::sector_wear_leveling::ladder::Ladder;
use ninescope_ftl::policies::sector_wear_leveling::start_gap::StartGap;
use ninescope_ftl::policies::sector_wear_leveling::weak_ladder::WeakLadder;
use ninescope_ftl::policies::{SectorCopy, SectorWearLeveling, SectorWearLevelingConfig as Config, SectorWrite};
use ninescope_kernel::RandomStream;
use proptest::prelude::*;

fn rung(overwrites: u32) -> NonZeroU32 {
    NonZeroU32::new(overwrites).expect("a rung has a height")
}

/// A bank: the policy, the wear of its sectors, and what each sector holds.
struct Bank {
    policy: Box<dyn SectorWearLeveling>,
    wear: Vec<u32>,
    content: Vec<Option<(u32, u64)>>,
    /// The version that each logical sector was written with last.
    newest: Vec<Option<u64>>,
    writes: u64,
    copies: u64,
}

impl Bank {
    fn new(config: &Config, logical: u32) -> Self {
        let physical = (logical + config.chosen().spare_sectors(logical)) as usize;
        Self {
            policy: config.chosen().build(logical),
            wear: vec![0; physical],
            content: vec![None; physical],
            newest: vec![None; logical as usize],
            writes: 0,
            copies: 0,
        }
    }

    fn write(&mut self, sector: u32) -> SectorWrite {
        self.writes += 1;
        let answer = self.policy.write(sector, &self.wear);
        if let Some(SectorCopy { from, to }) = answer.copy {
            assert_ne!(from, to);
            self.content[to as usize] = self.content[from as usize];
            self.wear[to as usize] += 1;
            self.copies += 1;
        }
        self.content[answer.place as usize] = Some((sector, self.writes));
        self.wear[answer.place as usize] += 1;
        self.newest[sector as usize] = Some(self.writes);
        assert_eq!(self.policy.locate(sector), answer.place);
        answer
    }

    fn write_all(&mut self, sectors: Vec<u32>) {
        for sector in sectors {
            self.write(sector);
        }
    }

    /// Different sectors lie in different places, each with its newest content.
    fn assert_sound(&self) {
        let mut taken = vec![false; self.content.len()];
        for (sector, newest) in self.newest.iter().enumerate() {
            let place = self.policy.locate(sector as u32) as usize;
            assert!(!std::mem::replace(&mut taken[place], true), "two sectors lie in {place}");
            if let Some(version) = newest {
                assert_eq!(self.content[place], Some((sector as u32, *version)), "sector {sector} lies in {place}");
            }
        }
    }

    fn most_worn(&self) -> u32 {
        self.wear.iter().copied().max().unwrap_or_default()
    }
}

/// Addresses that are skewed as hard as `shape` says: one sector alone, a few hot ones, or all alike.
fn addresses(shape: u8, logical: u32, seed: u64, count: usize) -> Vec<u32> {
    let mut stream = RandomStream::new(seed, "tests", "wear");
    let mut below = |most: u32| stream.below(u64::from(most)) as u32;
    (0..count as u32)
        .map(|index| match shape {
            0 => 0,
            1 if below(10) > 0 => below(logical.div_ceil(8)),
            2 => index % logical,
            _ => below(logical),
        })
        .collect()
}

fn any_policy() -> impl Strategy<Value = Config> {
    prop_oneof![
        Just(Config::default()),
        (1_u32..12, 0.0..0.3).prop_map(|(height, spare)| Config::Ladder(Ladder { overwrites: rung(height), spare })),
        (20_u32..60, 0.0..0.3)
            .prop_map(|(height, spare)| Config::WeakLadder(WeakLadder { overwrites: rung(height), spare })),
        (1_u32..12).prop_map(|psi| Config::StartGap(StartGap { psi: rung(psi) })),
    ]
}

proptest! {
    #[test]
    fn every_policy_is_a_bijection_that_loses_nothing(
        config in any_policy(), logical in 1_u32..70, shape in 0_u8..4, seed in any::<u64>()
    ) {
        let mut bank = Bank::new(&config, logical);
        bank.assert_sound();
        for sector in addresses(shape, logical, seed, 600) {
            bank.write(sector);
            bank.assert_sound();
        }
    }

    #[test]
    fn the_ladder_costs_at_most_one_copy_per_rung_of_overwrites(
        height in 1_u32..20, spare in 0.0..0.2, logical in 1_u32..70, shape in 0_u8..4, seed in any::<u64>()
    ) {
        let mut bank = Bank::new(&Config::Ladder(Ladder { overwrites: rung(height), spare }), logical);
        for sector in addresses(shape, logical, seed, 1500) {
            bank.write(sector);
            prop_assert!(bank.copies * u64::from(height) <= bank.writes, "{} copies, {} writes", bank.copies, bank.writes);
        }
    }

    #[test]
    fn the_gap_moves_once_in_psi_writes(psi in 1_u32..30, logical in 1_u32..70, shape in 0_u8..4, seed in any::<u64>()) {
        let mut bank = Bank::new(&Config::StartGap(StartGap { psi: rung(psi) }), logical);
        for sector in addresses(shape, logical, seed, 500) {
            bank.write(sector);
            prop_assert_eq!(bank.copies, bank.writes / u64::from(psi));
        }
    }

    #[test]
    fn whoever_writes_what_was_just_moved_gets_no_more_copies_than_paid_for(
        height in 2_u32..10, logical in 4_u32..60
    ) {
        let mut bank = Bank::new(&Config::Ladder(Ladder { overwrites: rung(height), spare: 0.0 }), logical);
        let mut victim = 0;
        for _ in 0..3000 {
            let answer = bank.write(victim);
            if let Some(copy) = answer.copy {
                // The content that now lies in the worn sector.
                victim = (0..logical).find(|&sector| bank.policy.locate(sector) == copy.to).expect("it was moved there");
            }
            prop_assert!(bank.copies * u64::from(height) <= bank.writes);
        }
        bank.assert_sound();
    }
}

#[test]
fn the_ladder_takes_the_steps_that_were_worked_out_by_hand() {
    // Three sectors, one spare, rungs of two. Sector 0 alone is written. It leaves place 0 for the spare one at wear
    // 2; then cold contents give way (copies), until no sector is a rung lower and the next rung begins at the ninth
    // write. Place 0, invalid at wear 2, is a target in the second rung.
    let mut bank = Bank::new(&Config::Ladder(Ladder { overwrites: rung(2), spare: 0.1 }), 3);
    let copy = |from, to| Some(SectorCopy { from, to });
    let expected = [
        (0, None),
        (0, None),
        (3, None),
        (3, None),
        (1, copy(1, 3)),
        (1, None),
        (2, copy(2, 1)),
        (2, None),
        (2, None),
        (2, None),
        (0, None),
        (0, None),
        (0, None),
    ];
    for (number, (place, copy)) in expected.into_iter().enumerate() {
        assert_eq!(bank.write(0), SectorWrite { copy, place }, "write {number}");
        bank.assert_sound();
    }
    assert_eq!(bank.wear, [5, 3, 4, 3]);
}

#[test]
fn start_gap_takes_the_steps_of_the_paper() {
    // Four sectors, a gap behind them, a move with every write (psi 1), as in figure 3 of the paper: the gap walks
    // from 4 to 0, then back to 4 while the start moves on, and each move takes one sector along.
    let mut bank = Bank::new(&Config::StartGap(StartGap { psi: rung(1) }), 4);
    let copies: Vec<_> = (0..6).map(|_| bank.write(0).copy.map(|copy| (copy.from, copy.to))).collect();
    assert_eq!(copies, [(3, 4), (2, 3), (1, 2), (0, 1), (4, 0), (3, 4)].map(Some));
    // Start is 1 and the gap at 3: sector 0 in place 1, 1 in 2, 2 behind the gap in 4, 3 in 0.
    assert_eq!((0..4).map(|sector| bank.policy.locate(sector)).collect::<Vec<_>>(), [1, 2, 4, 0]);
    bank.assert_sound();
}

#[test]
fn alike_ageing_sectors_are_not_swapped_for_nothing() {
    let mut bank = Bank::new(&Config::Ladder(Ladder::default()), 100);
    bank.write_all(addresses(2, 100, 0, 20_000));
    assert_eq!(bank.copies, 0);
    assert!(bank.most_worn() <= 201 + 5, "{}", bank.most_worn());
}

#[test]
fn levelling_keeps_the_most_worn_sector_near_the_mean() {
    // 40 sectors, 16,000 writes to one of them: 400 each if they were shared evenly.
    let most_worn = |config: &Config| {
        let mut bank = Bank::new(config, 40);
        bank.write_all(vec![0; 16_000]);
        (bank.most_worn(), bank.copies)
    };
    assert_eq!(most_worn(&Config::default()), (16_000, 0));
    let (ladder, copies) = most_worn(&Config::Ladder(Ladder::default()));
    // The copies are writes too: 16,000 * 1.2 / 41 sectors are 468, and the ladder is two rungs wide.
    assert!((400..=468 + 10).contains(&ladder) && copies <= 3200, "{ladder} after {copies} copies");
    let (weak, weak_copies) = most_worn(&Config::WeakLadder(WeakLadder::default()));
    assert!(weak > ladder && weak <= 400 + 200 && weak_copies <= 160, "{weak} after {weak_copies} copies");
    // A sector takes psi writes per stay and is met once in a round of 41 moves.
    let (gap, gap_copies) = most_worn(&Config::StartGap(StartGap { psi: rung(10) }));
    assert!(gap < 16_000 / 20 && gap_copies == 1600, "{gap} after {gap_copies} copies");
}

#[test]
fn tables_take_eight_bytes_per_sector_at_most() {
    for config in Config::all() {
        let logical = 1 << 20;
        let physical = u64::from(logical + config.chosen().spare_sectors(logical));
        assert!(config.chosen().table_bytes(logical) <= 8 * physical, "{}", config.name());
    }
}

#[test]
fn a_share_that_is_none_is_refused_by_key() {
    for spare in [-0.1, 1.5, f64::NAN] {
        let (key, message) = Config::Ladder(Ladder { spare, ..Ladder::default() }).chosen().problem().expect("refused");
        assert!(key == "spare" && message.contains("from 0 to 1"), "{message}");
    }
    assert!(Config::all().iter().all(|config| config.chosen().problem().is_none()));
}
