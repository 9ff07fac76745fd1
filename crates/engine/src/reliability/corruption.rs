//! Corruption that stays: units of flash whose stored bits were flipped by injection, at one time and over time.
//!
//! A corrupt unit has at least one wrong bit until its group is erased. Errors of the medium itself, which are drawn anew
//! at each read, are the error model's.

use ninescope_kernel::{BitTable, Ns, RandomStream};
use ninescope_model::Ppa;

const NS_PER_HOUR: f64 = 3_600e9;

/// How much is injected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CorruptionConfig {
    /// Chance that a bit goes wrong at the time `at`, or between it and `until`.
    pub initial_rber: f64,
    /// When that is [ns].
    pub at: Ns,
    /// Where it is later than `at`, each unit goes wrong at a time of its own, all times between the two alike [ns].
    pub until: Option<Ns>,
    /// Chance per hour that a bit becomes wrong.
    pub hourly_rber: f64,
}

impl CorruptionConfig {
    /// Chance that a unit of `bytes` has a wrong bit where each bit has one with chance `rber`.
    fn of_unit(rber: f64, bytes: u32) -> f64 {
        -libm::expm1(f64::from(bytes) * 8.0 * libm::log1p(-rber))
    }
}

/// Which units are corrupt.
#[derive(Debug)]
pub struct Corruption {
    corrupt: BitTable,
    /// Corrupt units that were found so by a read.
    met: BitTable,
    units: u32,
    stream: RandomStream,
    initial: f64,
    /// When the first injection happens, or begins [ns].
    pub at: Ns,
    /// How long it takes [ns]; zero: it happens at once.
    window: Ns,
    /// Units that go wrong within it, the next one last.
    coming: Vec<(Ns, Ppa)>,
    /// Mean time from one unit's turn to the next [ns]; none where nothing is injected over time.
    mean_interval: Option<f64>,
}

impl Corruption {
    /// None yet, of so many units.
    pub fn new(config: &CorruptionConfig, units: u32, unit_bytes: u32, seed: u64) -> Self {
        let per_hour = CorruptionConfig::of_unit(config.hourly_rber, unit_bytes) * f64::from(units);
        Self {
            corrupt: BitTable::new(units as usize),
            met: BitTable::new(units as usize),
            units,
            stream: RandomStream::new(seed, "corruption", "units"),
            initial: CorruptionConfig::of_unit(config.initial_rber, unit_bytes),
            at: config.at,
            window: config.until.map_or(Ns::ZERO, |until| Ns(until.0.saturating_sub(config.at.0))),
            coming: Vec::new(),
            mean_interval: (per_hour > 0.0).then(|| NS_PER_HOUR / per_hour),
        }
    }

    /// Whether the first injection takes time, instead of happening at once.
    pub fn takes_time(&self) -> bool {
        self.window > Ns::ZERO
    }

    /// Draws which places go wrong within the time of the first injection, whatever they will hold, and when each does.
    pub fn draw_times(&mut self) {
        for unit in 0..self.units {
            if self.stream.unit() < self.initial {
                let at = Ns(self.at.0 + self.stream.below(self.window.0));
                self.coming.push((at, Ppa(unit)));
            }
        }
        self.coming.sort_unstable_by_key(|&(at, ppa)| std::cmp::Reverse((at, ppa)));
    }

    /// When the first injection begins and ends, where it takes time [ns].
    pub fn timed(&self) -> (Ns, Ns) {
        (self.at, self.at + self.window)
    }

    /// Whether units go wrong at a rate as well, without an end.
    pub fn has_rate(&self) -> bool {
        self.mean_interval.is_some()
    }

    /// Those of them whose time is still to come, with their times, the next one last.
    pub fn coming(&self) -> &[(Ns, Ppa)] {
        &self.coming
    }

    /// When the next of them does.
    pub fn next_time(&self) -> Option<Ns> {
        self.coming.last().map(|&(at, _)| at)
    }

    /// The next of them whose time has come by `now`.
    pub fn due(&mut self, now: Ns) -> Option<Ppa> {
        self.coming.pop_if(|(at, _)| *at <= now).map(|(_, ppa)| ppa)
    }

    /// Whether a unit, in turn, goes wrong at the first injection.
    pub fn draw_initial(&mut self) -> bool {
        self.stream.unit() < self.initial
    }

    /// From now to the next unit's turn; none where nothing is injected over time.
    pub fn next_interval(&mut self) -> Option<Ns> {
        let mean = self.mean_interval?;
        Some(Ns((self.stream.exponential(mean) as u64).max(1)))
    }

    /// The unit whose turn it is, whether or not it holds anything.
    pub fn draw_unit(&mut self) -> Ppa {
        Ppa(self.stream.below(u64::from(self.units)) as u32)
    }

    /// Marks a unit; returns whether it was good.
    pub fn corrupt(&mut self, ppa: Ppa) -> bool {
        let was_good = !self.corrupt.get(ppa.index());
        self.corrupt.set(ppa.index());
        was_good
    }

    /// Whether a unit is corrupt.
    #[inline]
    pub fn is_corrupt(&self, ppa: Ppa) -> bool {
        self.corrupt.get(ppa.index())
    }

    /// A read finds a unit corrupt; returns whether it is the first one to.
    pub fn meet(&mut self, ppa: Ppa) -> bool {
        let first = !self.met.get(ppa.index());
        self.met.set(ppa.index());
        first
    }

    /// Units `first..first + count` are erased. Returns how many were corrupt and never met.
    pub fn erased(&mut self, first: Ppa, count: u32) -> u64 {
        let mut unmet = 0;
        for unit in (first.0..first.0 + count).map(|unit| unit as usize) {
            unmet += u64::from(self.corrupt.get(unit) && !self.met.get(unit));
            self.corrupt.clear(unit);
            self.met.clear(unit);
        }
        unmet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_goes_wrong_once_and_at_all_times_of_the_window_alike() {
        const UNITS: u32 = 20_000;
        let config = CorruptionConfig { initial_rber: 0.5, at: Ns(1_000), until: Some(Ns(17_000)), hourly_rber: 0.0 };
        let mut corruption = Corruption::new(&config, UNITS, 512, 3);
        corruption.draw_times();
        assert_eq!((corruption.timed(), corruption.has_rate()), ((Ns(1_000), Ns(17_000)), false));
        let (mut units, mut counts) = (vec![false; UNITS as usize], [0_u32; 16]);
        let mut before = Ns::ZERO;
        while let Some(next) = corruption.next_time() {
            assert!(before <= next && corruption.due(Ns(next.0 - 1)).is_none(), "in the order of their times");
            let unit = corruption.due(next).expect("its time has come").index();
            assert!(!std::mem::replace(&mut units[unit], true), "unit {unit} twice");
            counts[(next.0 as usize - 1_000) / 1_000] += 1;
            before = next;
        }
        // Of 4,096 bits one is wrong for sure.
        assert!(units.iter().all(|&unit| unit), "every unit");
        let expected = f64::from(UNITS) / 16.0;
        let chi_square: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!(chi_square < 37.7, "chi-square {chi_square} of 15 degrees of freedom: {counts:?}");
    }

    #[test]
    fn a_unit_that_is_corrupt_is_not_made_so_again() {
        let config = CorruptionConfig { initial_rber: 0.0, at: Ns::ZERO, until: None, hourly_rber: 1e-3 };
        let mut corruption = Corruption::new(&config, 4, 512, 3);
        assert!(corruption.corrupt(Ppa(2)) && !corruption.corrupt(Ppa(2)));
        assert_eq!(corruption.erased(Ppa(0), 4), 1);
        assert!(corruption.corrupt(Ppa(2)), "its group was erased since");
    }
}
