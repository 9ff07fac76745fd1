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
    /// Chance that a bit goes wrong at the time `at`.
    pub initial_rber: f64,
    /// When that is [ns].
    pub at: Ns,
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
    /// When the first injection happens [ns].
    pub at: Ns,
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
            mean_interval: (per_hour > 0.0).then(|| NS_PER_HOUR / per_hour),
        }
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
