//! By how much accesses take longer or shorter than the times of their types: by the layer that a page lies in, and by the wear of
//! its block. A factor counts in millionths, so that a time is the same whole number on every machine.

use ninescope_kernel::Ns;

/// A factor of 1.
pub const ONE: u32 = 1_000_000;
/// No factor is smaller: a slip.
const LEAST: u32 = ONE / 100;
/// No factor is larger.
const MOST: u32 = 100 * ONE;
/// The most cycles that a row may stand for.
const CYCLES_MAX: u32 = 10_000_000;

/// Factors of the times that a part takes; by default there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeFactors {
    /// Of tR, of the layers of a block from the first to the last; none: 1 [millionth].
    pub read_layers: Vec<u32>,
    /// Of tPROG, likewise.
    pub program_layers: Vec<u32>,
    /// By P/E cycles, rows ascending; between two rows factors change linearly, beyond the first and the last they stay.
    pub wear: Vec<WearFactors>,
    /// Pages of a block that holds one bit in each cell, which has the same layers [count].
    pub slc_pages: u32,
}

/// Factors after so many P/E cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WearFactors {
    /// P/E cycles [count].
    pub cycles: u32,
    /// Of tPROG [millionth].
    pub program: u32,
    /// Of an erase [millionth].
    pub erase: u32,
}

impl WearFactors {
    const NONE: Self = Self { cycles: 0, program: ONE, erase: ONE };
}

impl TimeFactors {
    /// Whether there are any.
    pub fn is_used(&self) -> bool {
        !(self.read_layers.is_empty() && self.program_layers.is_empty() && self.wear.is_empty())
    }

    /// The factor of the layer of a page of a block of so many: of four layers the first is that of the first quarter.
    pub fn of_layer(layers: &[u32], page: u32, pages: u32) -> u32 {
        let layer = u64::from(page) * layers.len() as u64 / u64::from(pages.max(1));
        layers.get(layer as usize).copied().unwrap_or(ONE)
    }

    /// The factors of a block of so many P/E cycles.
    pub fn of_wear(&self, cycles: u32) -> WearFactors {
        of_wear(&self.wear, cycles)
    }

    /// The least and the largest factors of a read, of a program and of an erase.
    pub(super) fn extremes(&self) -> [(u64, u64); 3] {
        let of = |factors: &mut dyn Iterator<Item = u32>| {
            let (least, most) = factors.fold((u32::MAX, 0), |(least, most), of| (least.min(of), most.max(of)));
            if most == 0 { (u64::from(ONE), u64::from(ONE)) } else { (u64::from(least), u64::from(most)) }
        };
        let product =
            |(a, b): (u64, u64), (c, d): (u64, u64)| (a * c / u64::from(ONE), (b * d).div_ceil(u64::from(ONE)));
        let programs =
            product(of(&mut self.program_layers.iter().copied()), of(&mut self.wear.iter().map(|row| row.program)));
        let erases = of(&mut self.wear.iter().map(|row| row.erase));
        [of(&mut self.read_layers.iter().copied()), programs, erases]
    }

    /// What is wrong with them: the key at fault, and the rest of a sentence that begins with it.
    pub(super) fn problem(&self) -> Option<(&'static str, String)> {
        let rows = |of: fn(&WearFactors) -> u32| self.wear.iter().map(of).collect::<Vec<_>>();
        for (key, factors) in [
            ("times.read_layers", &self.read_layers),
            ("times.program_layers", &self.program_layers),
            ("times.wear", &rows(|row| row.program)),
            ("times.wear", &rows(|row| row.erase)),
        ] {
            if let Some(factor) = factors.iter().find(|factor| !(LEAST..=MOST).contains(*factor)) {
                let [factor, least, most] = [*factor, LEAST, MOST].map(|factor| f64::from(factor) / f64::from(ONE));
                return Some((key, format!("has the factor {factor}, it must lie between {least} and {most}")));
            }
        }
        if let Some(pair) = self.wear.windows(2).find(|pair| pair[1].cycles <= pair[0].cycles) {
            let (before, after) = (pair[0].cycles, pair[1].cycles);
            return Some(("times.wear", format!("has {after} cycles after {before}: rows must ascend")));
        }
        let too_many = self.wear.last().filter(|row| row.cycles > CYCLES_MAX)?;
        Some(("times.wear", format!("has {} cycles, at most {CYCLES_MAX} are supported", too_many.cycles)))
    }
}

fn of_wear(rows: &[WearFactors], cycles: u32) -> WearFactors {
    let after = rows.partition_point(|row| row.cycles <= cycles);
    let (Some(low), Some(high)) = (rows.get(after.saturating_sub(1)), rows.get(after).or(rows.last())) else {
        return WearFactors::NONE;
    };
    let span = i64::from(high.cycles.saturating_sub(low.cycles).max(1));
    let into = i64::from(cycles.saturating_sub(low.cycles)).min(span);
    let between = |from: u32, to: u32| (i64::from(from) + (i64::from(to) - i64::from(from)) * into / span) as u32;
    WearFactors { cycles, program: between(low.program, high.program), erase: between(low.erase, high.erase) }
}

/// A time that is longer by two factors, rounded down, and no less than a nanosecond.
pub(super) fn scaled(time: Ns, factors: [u32; 2]) -> Ns {
    let product = u128::from(time.0) * u128::from(factors[0]) * u128::from(factors[1]);
    Ns(((product / (u128::from(ONE) * u128::from(ONE))) as u64).max(1))
}

/// [`TimeFactors`] laid out for the pages of blocks.
#[derive(Clone, Debug)]
pub(super) struct FactorTable {
    read: Pages,
    program: Pages,
    wear: Vec<WearFactors>,
}

/// The factors of the pages of a block, and of those of one that holds one bit in each cell.
#[derive(Clone, Debug)]
struct Pages {
    all_bits: Box<[u32]>,
    one_bit: Box<[u32]>,
}

impl Pages {
    fn new(layers: &[u32], pages: u32, slc_pages: u32) -> Self {
        let of = |pages: u32| (0..pages).map(|page| TimeFactors::of_layer(layers, page, pages)).collect();
        Self { all_bits: of(pages), one_bit: of(slc_pages) }
    }

    fn of(&self, page: u32, one_bit: bool) -> u32 {
        let pages = if one_bit { &self.one_bit } else { &self.all_bits };
        pages.get(page as usize).copied().unwrap_or(ONE)
    }
}

impl FactorTable {
    /// None where there are no factors.
    pub fn new(factors: &TimeFactors, pages: u32) -> Option<Box<Self>> {
        let of = |layers: &[u32]| Pages::new(layers, pages, factors.slc_pages);
        factors.is_used().then(|| {
            let (read, program) = (of(&factors.read_layers), of(&factors.program_layers));
            Box::new(Self { read, program, wear: factors.wear.clone() })
        })
    }

    /// What a read takes of a page that takes so long by its type.
    pub fn read(&self, time: Ns, page: u32, one_bit: bool) -> Ns {
        scaled(time, [self.read.of(page, one_bit), ONE])
    }

    /// What a program takes, in a block of so many P/E cycles.
    pub fn program(&self, time: Ns, (page, one_bit): (u32, bool), cycles: u32) -> Ns {
        scaled(time, [self.program.of(page, one_bit), of_wear(&self.wear, cycles).program])
    }

    /// What an erase takes of such a block.
    pub fn erase(&self, time: Ns, cycles: u32) -> Ns {
        scaled(time, [of_wear(&self.wear, cycles).erase, ONE])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> TimeFactors {
        let row = |cycles, program, erase| WearFactors { cycles, program, erase };
        TimeFactors {
            wear: vec![row(100, ONE, ONE), row(300, 800_000, 1_500_000), row(400, 800_001, 3 * ONE)],
            ..TimeFactors::default()
        }
    }

    #[test]
    fn factors_of_wear_hold_at_the_rows_and_change_linearly_between_them() {
        // By hand; between 300 and 400 the program gains a millionth, which shows at the end alone.
        for (cycles, program, erase) in [
            (0, 1_000_000, 1_000_000),
            (100, 1_000_000, 1_000_000),
            (150, 950_000, 1_125_000),
            (200, 900_000, 1_250_000),
            (300, 800_000, 1_500_000),
            (399, 800_000, 2_985_000),
            (400, 800_001, 3_000_000),
            (u32::MAX, 800_001, 3_000_000),
        ] {
            assert_eq!(rows().of_wear(cycles), WearFactors { cycles, program, erase });
        }
        assert_eq!(TimeFactors::default().of_wear(7), WearFactors::NONE);
    }

    #[test]
    fn layers_are_equal_parts_of_a_block() {
        let of = |pages: u32| (0..pages).map(|page| TimeFactors::of_layer(&[1, 2, 3], page, pages)).collect::<Vec<_>>();
        assert_eq!(of(6), [1, 1, 2, 2, 3, 3]);
        assert_eq!(of(7), [1, 1, 1, 2, 2, 3, 3]);
        assert_eq!(TimeFactors::of_layer(&[], 5, 7), ONE);
    }

    #[test]
    fn the_longest_time_does_not_overflow() {
        let hour = Ns(3_600_000_000_000);
        assert_eq!(scaled(hour, [MOST, MOST]), Ns(hour.0 * 10_000));
        assert_eq!(scaled(Ns(3), [1_333_333, ONE]), Ns(3));
        assert_eq!(scaled(Ns(1), [LEAST, LEAST]), Ns(1));
    }

    #[test]
    fn factors_without_a_meaning_are_refused() {
        let row = |cycles, program, erase| WearFactors { cycles, program, erase };
        let wear = |rows: &[WearFactors]| TimeFactors { wear: rows.to_vec(), ..TimeFactors::default() };
        for (factors, key, word) in [
            (TimeFactors { read_layers: vec![ONE, 0], ..TimeFactors::default() }, "times.read_layers", "factor 0,"),
            (
                TimeFactors { program_layers: vec![u32::MAX], ..TimeFactors::default() },
                "times.program_layers",
                "between",
            ),
            (wear(&[row(0, ONE, 1)]), "times.wear", "0.000001"),
            (wear(&[row(5, ONE, ONE), row(5, ONE, ONE)]), "times.wear", "ascend"),
            (wear(&[row(u32::MAX, ONE, ONE)]), "times.wear", "at most"),
        ] {
            let (at, problem) = factors.problem().unwrap_or_default();
            assert!(at == key && problem.contains(word), "{factors:?}: {at} {problem:?}");
        }
        assert_eq!(rows().problem(), None);
        let ones = (u64::from(ONE), u64::from(ONE));
        assert_eq!(rows().extremes(), [ones, (800_000, 1_000_000), (1_000_000, 3_000_000)]);
    }
}
