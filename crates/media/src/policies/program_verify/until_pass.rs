//! Cycles until a sector passes: until at most `accept_bits` of its cells fail, or the cap is reached.
//!
//! Kinoshita et al. (error remedies of SCM), section 3: after each pulse the sector is read, and where the write failed
//! both are repeated. Accepting a few bits and leaving them to the code saves most of the cycles (Tanakamaru et al.,
//! TCAS-I 2015). **Inferred**: that cells fail independently of each other, each for good from the cycle after which it
//! passes, so that the numbers of failing cells after 0, 1, 2 ... cycles are binomial and each set of them lies in the
//! one before. Then a sector passes by cycle `v` exactly if no more than `accept_bits` fail after it, and one uniform
//! draw decides its cycles.

use ninescope_kernel::RandomStream;
use ninescope_model::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::curve::VerifyCurve;
use super::{ProgramVerify, ProgramVerifyParameters, VerifyLoop, WrittenCells};
use crate::ParameterError;
use crate::parameter::within;
use crate::policies::error_model::RBER_MAX;

/// Failing cells after the first pulses where neither the policy nor the memory says it: chosen, of the rates for
/// which codes are chosen.
const RBER_CHOSEN: f64 = 1e-3;

/// As many cycles as a sector needs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UntilPass {
    /// The most cycles after the first pulses; 0 to 20 are published [count].
    #[schemars(range(max = 1000))]
    pub cycles: u32,
    /// The most cycles in which cells are set; absent: `cycles` [count].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1000))]
    pub cycles_set: Option<u32>,
    /// The most cycles in which cells are reset; absent: `cycles` [count].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1000))]
    pub cycles_reset: Option<u32>,
    /// Failing cells that a sector may have and yet passes [count].
    pub accept_bits: u32,
    /// Share of the cells that fail after the first pulses; absent: that of the memory's errors when new, or 1e-3 where
    /// it has none [1/bit].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 0.5))]
    pub rber: Option<f64>,
    /// A verify read of a sector; absent: as long as any read of it [ns].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify_read: Option<Duration>,
    /// By how much `reference_cycles` cut bit errors; 0.49 is published.
    #[schemars(range(min = 0, max = 1))]
    pub reduction: f64,
    /// After how many cycles that was measured; 20 is published [count].
    #[schemars(range(min = 1))]
    pub reference_cycles: u32,
    /// After how many cycles the cut has come within 1/e of its limit; 5 is inferred [cycles].
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub decay: f64,
}

impl Default for UntilPass {
    fn default() -> Self {
        let VerifyCurve { reduction, reference_cycles, decay } = VerifyCurve::default();
        Self {
            cycles: 20,
            cycles_set: None,
            cycles_reset: None,
            accept_bits: 0,
            rber: None,
            verify_read: None,
            reduction,
            reference_cycles,
            decay,
        }
    }
}

impl ProgramVerifyParameters for UntilPass {
    fn build(&self, cells: &WrittenCells) -> Result<Box<dyn ProgramVerify>, ParameterError> {
        Ok(Box::new(self.built(cells)?))
    }
}

impl UntilPass {
    fn built(&self, cells: &WrittenCells) -> Result<PassTable, ParameterError> {
        let Self { reduction, reference_cycles, decay, accept_bits, .. } = *self;
        let curve = VerifyCurve { reduction, reference_cycles, decay };
        let caps = (self.cycles_set, self.cycles_reset);
        let verify_loop = VerifyLoop::of(self.cycles, caps, self.verify_read, curve)?;
        if accept_bits >= cells.count {
            let message = format!("is {accept_bits}, it must be less than the {} cells of a sector", cells.count);
            return Err(ParameterError::new("accept_bits", message));
        }
        let rber = self.rber.or(cells.rber).unwrap_or(RBER_CHOSEN);
        within("rber", rber, 0.0, RBER_MAX)?;
        Ok(PassTable::new(verify_loop, cells.count, rber, accept_bits))
    }
}

/// Which share of the sectors needs how many cycles.
#[derive(Clone, Debug)]
pub(super) struct PassTable {
    verify_loop: VerifyLoop,
    /// By cycles below the cap: the chance that a sector has passed after them. It never falls.
    passed: Vec<f64>,
    ber_factor: f64,
}

impl PassTable {
    fn new(verify_loop: VerifyLoop, cells: u32, rber: f64, accept_bits: u32) -> Self {
        // Half of the cells are set, the others reset.
        let halves = [cells / 2, cells - cells / 2];
        let rates = |cycles| verify_loop.factors(cycles).map(|factor| rber * factor);
        let cap = verify_loop.cap();
        let mut passed = Vec::with_capacity(cap as usize);
        // Failing cells in the mean, of those sectors that stop after each number of cycles.
        let mut left = 0.0;
        let mut stopped = Failing::default();
        for cycles in 0..=cap {
            let (now, before) = (rates(cycles), rates(cycles.saturating_sub(1)));
            // Sectors that passed earlier would have so many of their failing cells left by now.
            let thinned = |kind: usize| if before[kind] > 0.0 { now[kind] / before[kind] } else { 0.0 };
            let of_stopped = stopped.mean[0] * thinned(0) + stopped.mean[1] * thinned(1);
            if cycles == cap {
                let of_all = f64::from(halves[0]) * now[0] + f64::from(halves[1]) * now[1];
                left += of_all - of_stopped;
            } else {
                stopped = Failing::at_most(accept_bits, halves, now);
                left += stopped.mean[0] + stopped.mean[1] - of_stopped;
                passed.push(stopped.chance);
            }
        }
        let without = f64::from(cells) * rber;
        let ber_factor = if without > 0.0 { (left / without).clamp(0.0, 1.0) } else { 1.0 };
        Self { verify_loop, passed, ber_factor }
    }
}

impl ProgramVerify for PassTable {
    fn verify_loop(&self) -> &VerifyLoop {
        &self.verify_loop
    }

    #[inline]
    fn cycles(&self, stream: &mut RandomStream) -> u32 {
        let draw = stream.unit();
        self.passed.partition_point(|&passed| passed <= draw) as u32
    }

    /// One more than the cycles says that it passed; after the last cycle nobody looks.
    fn reads(&self, cycles: u32) -> u32 {
        self.verify_loop.cap().min(cycles + 1)
    }

    fn ber_factor(&self) -> f64 {
        self.ber_factor
    }
}

/// Failing cells of two kinds with different rates, as far as they are few.
#[derive(Clone, Copy, Debug, Default)]
struct Failing {
    /// The chance that no more fail than are accepted.
    chance: f64,
    /// The mean number of failing cells by kind, 0 counted where more fail than are accepted.
    mean: [f64; 2],
}

impl Failing {
    /// What no more than `most` failing cells in all amount to, of `cells` by kind that fail at `rates`.
    fn at_most(most: u32, cells: [u32; 2], rates: [f64; 2]) -> Self {
        let first = BinomialHead::new(cells[0], rates[0], most);
        let second = BinomialHead::new(cells[1], rates[1], most);
        let mut sum = Self::default();
        for number in 0..=most as usize {
            let others = most as usize - number;
            let chance = first.chance[number] * second.cumulative[others];
            sum.chance += chance;
            sum.mean[0] += number as f64 * chance;
            sum.mean[1] += number as f64 * second.chance[number] * first.cumulative[others];
        }
        sum.chance = sum.chance.min(1.0);
        sum
    }
}

/// The chances of 0, 1, 2 ... failures of `count` independent ones.
struct BinomialHead {
    chance: Vec<f64>,
    /// Of at most so many.
    cumulative: Vec<f64>,
}

impl BinomialHead {
    fn new(count: u32, rate: f64, most: u32) -> Self {
        let logarithm_of_factorial = |number: u32| libm::lgamma(f64::from(number) + 1.0);
        let of = |number: u32| {
            if number > count || (rate <= 0.0 && number > 0) {
                return 0.0;
            }
            let ways =
                logarithm_of_factorial(count) - logarithm_of_factorial(number) - logarithm_of_factorial(count - number);
            let failing = if number == 0 { 0.0 } else { f64::from(number) * libm::log(rate) };
            libm::exp(ways + failing + f64::from(count - number) * libm::log1p(-rate))
        };
        let chance: Vec<f64> = (0..=most).map(of).collect();
        let mut sum = 0.0;
        let cumulative = chance.iter().map(|chance| {
            sum += chance;
            sum
        });
        Self { cumulative: cumulative.collect(), chance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(policy: UntilPass, count: u32, rber: f64) -> PassTable {
        policy.built(&WrittenCells { count, rber: Some(rber) }).expect("legal")
    }

    /// One sector, cell by cell: each draws when it passes, and the loop goes on until few enough fail.
    fn sector_by_sector(policy: &UntilPass, count: u32, rber: f64, stream: &mut RandomStream) -> (u32, u32) {
        let curve = VerifyCurve::default();
        let caps = [policy.cycles_set.unwrap_or(policy.cycles), policy.cycles_reset.unwrap_or(policy.cycles)];
        let cells: Vec<(f64, u32)> =
            (0..count).map(|cell| (stream.unit(), caps[usize::from(cell >= count / 2)])).collect();
        let failing = |cycles: u32| {
            let fails = |(draw, cap): &&(f64, u32)| *draw < rber * curve.factor(cycles.min(*cap));
            cells.iter().filter(fails).count() as u32
        };
        let cap = caps[0].max(caps[1]);
        let cycles = (0..cap).find(|&cycles| failing(cycles) <= policy.accept_bits).unwrap_or(cap);
        (cycles, failing(cycles))
    }

    #[test]
    fn one_draw_stands_for_all_cells_of_a_sector() {
        const SECTORS: u32 = 40_000;
        let base = UntilPass { cycles: 6, ..UntilPass::default() };
        for (policy, count, rber) in [
            (base, 64, 0.02),
            (UntilPass { accept_bits: 1, ..base }, 64, 0.04),
            (UntilPass { accept_bits: 2, cycles_set: Some(2), ..base }, 65, 0.05),
            (UntilPass { cycles_reset: Some(0), ..base }, 40, 0.02),
        ] {
            let table = table(policy, count, rber);
            let mut stream = RandomStream::new(3, "tests", "cells");
            let (mut counts, mut drawn, mut failing) = ([0_u32; 7], [0_u32; 7], 0);
            for _ in 0..SECTORS {
                let (cycles, left) = sector_by_sector(&policy, count, rber, &mut stream);
                counts[cycles as usize] += 1;
                failing += left;
                drawn[table.cycles(&mut stream) as usize] += 1;
            }
            for cycles in 0..7 {
                let (own, cells) = (f64::from(drawn[cycles]), f64::from(counts[cycles]));
                // Five standard deviations of a difference of counts.
                let limit = 5.0 * (own + cells + 1.0).sqrt();
                assert!((own - cells).abs() < limit, "{policy:?}, {cycles} cycles: {own} and {cells}");
            }
            let mean = f64::from(failing) / f64::from(SECTORS);
            let factor = mean / (f64::from(count) * rber);
            let limit = 5.0 * (mean / f64::from(SECTORS)).sqrt() / (f64::from(count) * rber);
            assert!((factor - table.ber_factor()).abs() < limit, "{policy:?}: {factor} for {}", table.ber_factor());
        }
    }

    /// The mean of cycles is the sum of the chances of not having passed; those by a product, not by logarithms.
    #[test]
    fn the_mean_of_cycles_is_the_sum_of_the_chances_of_failing() {
        const DRAWS: u32 = 200_000;
        for rber in [1e-5, 1e-4, 5e-4, 1e-3] {
            let table = table(UntilPass::default(), 4096, rber);
            let curve = VerifyCurve::default();
            let fails = |cycles: u32| {
                let passes = (1.0 - rber * curve.factor(cycles)).powi(4096);
                1.0 - passes
            };
            let expected: f64 = (0..20).map(fails).sum();
            let mut stream = RandomStream::new(5, "tests", "cycles");
            let drawn: Vec<f64> = (0..DRAWS).map(|_| f64::from(table.cycles(&mut stream))).collect();
            let mean = drawn.iter().sum::<f64>() / f64::from(DRAWS);
            let variance = drawn.iter().map(|cycles| (cycles - mean).powi(2)).sum::<f64>() / f64::from(DRAWS);
            let limit = 4.0 * (variance / f64::from(DRAWS)).sqrt();
            assert!((mean - expected).abs() < limit, "{rber}: {mean} for {expected}");
        }
    }

    /// By the binomial law: at 5e-4 a sector of 4551 cells has a failing bit with 0.90, at 1e-3 with 0.99.
    #[test]
    fn frequent_errors_run_the_loop_to_its_cap() {
        let never_passes =
            |rber: f64| 1.0 - table(UntilPass { cycles: 1, ..UntilPass::default() }, 4551, rber).passed[0];
        assert!((never_passes(5e-4) - 0.90).abs() < 0.005 && (never_passes(1e-3) - 0.99).abs() < 0.001);
        // What is left then is what all cycles leave.
        let certain = table(UntilPass::default(), 4551, 0.1);
        assert!((certain.ber_factor() - 0.51).abs() < 1e-12);
        assert_eq!(certain.cycles(&mut RandomStream::new(1, "tests", "cap")), 20);
    }

    #[test]
    fn accepting_bits_saves_cycles_and_leaves_errors() {
        let of = |accept_bits| table(UntilPass { accept_bits, ..UntilPass::default() }, 4096, 1e-3);
        let tables: Vec<PassTable> = (0..12).map(of).collect();
        for (strict, lax) in tables.iter().zip(&tables[1..]) {
            assert!(strict.passed.iter().zip(&lax.passed).all(|(strict, lax)| strict < lax));
            assert!(strict.ber_factor() < lax.ber_factor());
            assert!(strict.passed.is_sorted());
        }
        assert!(tables[11].ber_factor() > 0.99, "11 of a mean of 4 are accepted at once");
    }

    #[test]
    fn cells_that_never_fail_pass_at_once() {
        let table = table(UntilPass::default(), 4096, 0.0);
        let mut stream = RandomStream::new(1, "tests", "none");
        assert!((0..100).all(|_| table.cycles(&mut stream) == 0));
        assert_eq!((table.reads(0), table.ber_factor().to_bits()), (1, 1.0_f64.to_bits()));
    }

    #[test]
    fn a_cap_of_none_verifies_nothing() {
        let table = table(UntilPass { cycles: 0, ..UntilPass::default() }, 4096, 1e-3);
        assert_eq!((table.cycles(&mut RandomStream::new(1, "tests", "none")), table.reads(0)), (0, 0));
        assert!((table.ber_factor() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_rate_is_the_policys_or_the_memorys_or_the_chosen_one() {
        let passes_at_once = |rber, memory| {
            let policy = UntilPass { rber, ..UntilPass::default() };
            policy.built(&WrittenCells { count: 4096, rber: memory }).expect("legal").passed[0]
        };
        let by_hand = |rber: f64| (1.0 - rber).powi(4096);
        assert!((passes_at_once(Some(1e-5), Some(1e-2)) - by_hand(1e-5)).abs() < 1e-9);
        assert!((passes_at_once(None, Some(1e-4)) - by_hand(1e-4)).abs() < 1e-9);
        assert!((passes_at_once(None, None) - by_hand(1e-3)).abs() < 1e-9);
    }
}
