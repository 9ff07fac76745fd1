//! How many loops an erase takes (ISPE: pulse and verify, with a higher voltage each time, until the cells are
//! erased): a fixed number, or one that grows with the wear of the block and differs from block to block.

use ninescope_kernel::RandomStream;

/// The most loops an erase may take: more is a typing error.
const LOOPS_MAX: u32 = 64;
/// The most cycles a row may stand for.
const CYCLES_MAX: u32 = 10_000_000;
/// How far the shares of a row may be from 1 in sum: what rounding to a thousandth leaves.
const SHARES_TOLERANCE: f64 = 0.005;

/// Loops of an erase [count].
#[derive(Clone, Debug, PartialEq)]
pub enum EraseLoops {
    /// The same for every block at all times.
    Fixed(u32),
    /// By P/E cycles, rows ascending. Between two rows the shares change linearly; beyond the last one they stay.
    ByWear(Vec<LoopShares>),
}

/// Which share of the blocks takes how many loops at so many P/E cycles.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopShares {
    /// P/E cycles [count].
    pub cycles: u32,
    /// `shares[i]` of the blocks take `i + 1` loops; in sum 1.
    pub shares: Vec<f64>,
}

impl EraseLoops {
    /// The most loops that any block takes at any time.
    pub fn most(&self) -> u32 {
        match self {
            Self::Fixed(loops) => *loops,
            Self::ByWear(rows) => rows.iter().map(|row| row.shares.len() as u32).max().unwrap_or(0),
        }
    }

    /// What is wrong with it, as the rest of a sentence that begins with the key.
    pub(super) fn problem(&self) -> Option<String> {
        match self {
            Self::Fixed(0) => Some("must not be zero".into()),
            Self::Fixed(loops) if *loops > LOOPS_MAX => Some(format!("is {loops}, at most {LOOPS_MAX} are supported")),
            Self::Fixed(_) => None,
            Self::ByWear(rows) => problem_of_rows(rows),
        }
    }
}

fn problem_of_rows(rows: &[LoopShares]) -> Option<String> {
    if rows.is_empty() {
        return Some("has no rows: give a number, or rows of `cycles` and `shares`".into());
    }
    for (index, LoopShares { cycles, shares }) in rows.iter().enumerate() {
        if index > 0 && *cycles <= rows[index - 1].cycles {
            return Some(format!("has {cycles} cycles after {}: rows must ascend", rows[index - 1].cycles));
        }
        if *cycles > CYCLES_MAX {
            return Some(format!("has {cycles} cycles, at most {CYCLES_MAX} are supported"));
        }
        if shares.is_empty() || shares.len() > LOOPS_MAX as usize {
            return Some(format!("has {} shares at {cycles} cycles, it needs 1 to {LOOPS_MAX}", shares.len()));
        }
        if let Some(share) = shares.iter().find(|share| !(0.0..=1.0).contains(*share)) {
            return Some(format!("has a share of {share} at {cycles} cycles, it must be 0 to 1"));
        }
        let sum: f64 = shares.iter().sum();
        if (sum - 1.0).abs() > SHARES_TOLERANCE {
            return Some(format!("has shares of {sum} in sum at {cycles} cycles, it must be 1"));
        }
    }
    None
}

/// [`EraseLoops`] laid out for the blocks of a drive.
#[derive(Clone, Debug)]
pub(super) enum LoopTable {
    Fixed(u32),
    ByWear(WearTable),
}

/// A block keeps its place among the blocks for life: it is as hard to erase, compared with the others, when it
/// is old as when it was new. So the number of its loops only grows with its wear, as long as the rows' shares
/// move to more loops.
#[derive(Clone, Debug)]
pub(super) struct WearTable {
    cycles: Vec<u32>,
    /// Per row: the share of blocks with at most `i + 1` loops, in 2^-32, without the last, which is all of them.
    cumulative: Vec<Vec<u64>>,
    /// Per block: the share of blocks that are easier to erase, in 2^-32.
    hardness: Vec<u32>,
}

impl LoopTable {
    /// For `blocks` blocks, all alike until [`LoopTable::vary`].
    pub(super) fn new(loops: &EraseLoops, blocks: usize) -> Self {
        match loops {
            EraseLoops::Fixed(loops) => Self::Fixed(*loops),
            EraseLoops::ByWear(rows) => Self::ByWear(WearTable {
                cycles: rows.iter().map(|row| row.cycles).collect(),
                cumulative: cumulative(rows),
                hardness: vec![1 << 31; blocks],
            }),
        }
    }

    /// Gives every block its hardness.
    pub(super) fn vary(&mut self, seed: u64) {
        if let Self::ByWear(table) = self {
            let mut stream = RandomStream::new(seed, "nand", "erase hardness");
            table.hardness.iter_mut().for_each(|hardness| *hardness = (stream.bits() >> 32) as u32);
        }
    }

    /// Loops that block number `block` takes after `cycles` P/E cycles [count].
    #[inline]
    pub(super) fn loops(&self, block: usize, cycles: u32) -> u32 {
        match self {
            Self::Fixed(loops) => *loops,
            Self::ByWear(table) => table.loops(table.hardness[block], cycles),
        }
    }
}

fn cumulative(rows: &[LoopShares]) -> Vec<Vec<u64>> {
    let most = rows.iter().map(|row| row.shares.len()).max().unwrap_or(1);
    let of_row = |row: &LoopShares| {
        let total: f64 = row.shares.iter().sum();
        let mut sum = 0.0;
        // Shares are normalised: those of a table are rounded.
        let below = row.shares.iter().map(|share| {
            sum += share / total;
            ((sum * 4_294_967_296.0) as u64).min(1 << 32)
        });
        let mut below: Vec<u64> = below.collect();
        if let Some(last) = below.last_mut() {
            *last = 1 << 32;
        }
        below.resize(most, 1 << 32);
        below.pop();
        below
    };
    rows.iter().map(of_row).collect()
}

impl WearTable {
    fn loops(&self, hardness: u32, cycles: u32) -> u32 {
        let after = self.cycles.partition_point(|&row| row <= cycles);
        let (low, high) = (after.saturating_sub(1), after.min(self.cycles.len() - 1));
        let (from, to) = (&self.cumulative[low], &self.cumulative[high]);
        let span = i128::from(self.cycles[high].saturating_sub(self.cycles[low]).max(1));
        let into = i128::from(cycles.saturating_sub(self.cycles[low])).min(span);
        let mut loops = 1;
        for (&from, &to) in from.iter().zip(to) {
            let below = i128::from(from) + (i128::from(to) - i128::from(from)) * into / span;
            if i128::from(hardness) < below {
                break;
            }
            loops += 1;
        }
        loops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares that are exact in binary, so that counts can be written down.
    fn rows() -> EraseLoops {
        EraseLoops::ByWear(vec![
            LoopShares { cycles: 100, shares: vec![1.0] },
            LoopShares { cycles: 300, shares: vec![0.5, 0.5] },
            LoopShares { cycles: 400, shares: vec![0.0, 0.25, 0.75] },
        ])
    }

    #[test]
    fn shares_hold_at_the_rows_and_change_linearly_between_them() {
        const BLOCKS: usize = 40_000;
        let mut table = LoopTable::new(&rows(), BLOCKS);
        table.vary(7);
        // (cycles, share of 1, 2 and 3 loops), by hand: half way from 100 to 300, and from 300 to 400.
        for (cycles, expected) in [
            (0, [1.0, 0.0, 0.0]),
            (100, [1.0, 0.0, 0.0]),
            (200, [0.75, 0.25, 0.0]),
            (300, [0.5, 0.5, 0.0]),
            (350, [0.25, 0.375, 0.375]),
            (400, [0.0, 0.25, 0.75]),
            (9_999, [0.0, 0.25, 0.75]),
        ] {
            let mut counts = [0_u32; 3];
            for block in 0..BLOCKS {
                counts[table.loops(block, cycles) as usize - 1] += 1;
            }
            for (count, share) in counts.into_iter().zip(expected) {
                let measured = f64::from(count) / BLOCKS as f64;
                // Three standard deviations of a binomial share are at most 0.75 %.
                assert!((measured - share).abs() <= 0.0075, "{cycles} cycles: {measured} for {share}");
            }
        }
    }

    #[test]
    fn a_block_never_gets_easier_to_erase() {
        let mut table = LoopTable::new(&rows(), 500);
        table.vary(3);
        for block in 0..500 {
            let mut before = 0;
            for cycles in (0..450).step_by(10) {
                let loops = table.loops(block, cycles);
                assert!(loops >= before, "block {block}: {loops} loops at {cycles} cycles, {before} before");
                before = loops;
            }
        }
    }

    #[test]
    fn blocks_that_do_not_vary_are_all_in_the_middle() {
        let table = LoopTable::new(&rows(), 4);
        assert_eq!([100, 299, 300, 400].map(|cycles| table.loops(0, cycles)), [1, 1, 2, 3]);
        assert_eq!(LoopTable::new(&EraseLoops::Fixed(4), 0).loops(17, 5), 4);
    }

    #[test]
    fn rows_without_a_meaning_are_refused() {
        let row = |cycles, shares: &[f64]| LoopShares { cycles, shares: shares.to_vec() };
        for (rows, word) in [
            (vec![], "no rows"),
            (vec![row(0, &[])], "0 shares"),
            (vec![row(0, &[0.5, 0.4])], "in sum"),
            (vec![row(0, &[1.5, -0.5])], "0 to 1"),
            (vec![row(0, &[f64::NAN])], "0 to 1"),
            (vec![row(500, &[1.0]), row(500, &[1.0])], "ascend"),
            (vec![row(u32::MAX, &[1.0])], "at most"),
        ] {
            let problem = EraseLoops::ByWear(rows.clone()).problem().unwrap_or_default();
            assert!(problem.contains(word), "{rows:?}: {problem:?}");
        }
        assert_eq!(EraseLoops::Fixed(0).problem().as_deref(), Some("must not be zero"));
        assert_eq!(rows().problem(), None);
    }
}
