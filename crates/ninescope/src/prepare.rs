//! Preparing a drive under the instant driver: prefill, and overwrite to a steady state.

use std::ops::Range;

use ninescope_ftl::{Ftl, FtlError, InstantDriver};
use ninescope_kernel::{RandomStream, RunDigest};
use ninescope_model::Lpa;
use serde::{Deserialize, Serialize};

/// What the drive holds when the run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PrefillMode {
    /// Every address the workload may read is present.
    #[default]
    Footprint,
    /// Every address of the drive was written once, in order.
    Full,
    /// Full, then overwritten at random until as much was written as the drive has flash: every page was programmed
    /// once, and garbage collection has begun.
    Raw,
    /// Full, then overwritten at random until write amplification is stationary.
    Steady,
    /// Nothing: reads of what was never written are answered with zeros.
    None,
}

/// How overwriting ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyState {
    /// Write amplification became stationary (otherwise the limit of drive writes was reached).
    pub converged: bool,
    /// Overwrites, in multiples of the logical space.
    pub drive_writes: f64,
    /// Write amplification of each window: a tenth of the overwritten space, in whole rounds of block groups.
    pub window_waf: Vec<f64>,
}

/// How a full drive is overwritten at random.
#[derive(Clone, Debug, Default)]
pub enum Overwriting {
    /// Not at all.
    #[default]
    None,
    /// So many units.
    Units(Range<u32>, u64),
    /// Until write amplification is stationary.
    UntilSteady(Range<u32>),
}

const WINDOWS_PER_DRIVE_WRITE: u32 = 10;
const DRIVE_WRITES_MAX: u32 = 20;
/// Windows that must agree, how far each may lie from their mean, and how steep their line may be.
const STATIONARY_WINDOWS: usize = 5;
const STATIONARY_SPREAD: f64 = 0.01;
const STATIONARY_SLOPE: f64 = 0.001;

/// What a preparation does to a drive, as text that names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Units written in order [count].
    pub fill_units: u64,
    /// Which they are.
    pub fill_hash: String,
    /// The units that are then overwritten at random, and the one behind them.
    pub overwrite: (u32, u32),
    /// How many of them, where their number is given [count].
    pub overwrites: u64,
    /// Whether they are overwritten until write amplification is stationary.
    pub until_steady: bool,
    /// What fills one block group in each pool [units].
    pub round: u32,
}

/// A preparation that advances in steps.
#[derive(Debug)]
pub struct Preparation {
    /// Ranges of units to write in order, and how far that is.
    fill: Vec<Range<u32>>,
    range: usize,
    /// Units that are overwritten at random; empty where no steady state is asked for.
    overwrite: Range<u32>,
    /// Units still to overwrite where their number is given.
    overwrites_left: u64,
    stream: RandomStream,
    steady: Option<SteadyState>,
    /// What fills one block group in each pool [units].
    round: u32,
    /// Host writes in a window [units].
    window: u32,
    window_done: u32,
    window_start: (u64, u64),
    written: u64,
    total: u64,
    settled: bool,
}

impl Preparation {
    /// Writes the units of `fill` in order, then overwrites at random as `overwriting` says.
    /// `round` is what fills one block group in each pool [units]: pools fill and collect in step, so a
    /// window that is no whole number of rounds would count one burst of moves more or less than the next.
    pub fn new(fill: Vec<Range<u32>>, overwriting: Overwriting, round: u32, seed: u64) -> Self {
        let fill_units: u64 = fill.iter().map(|range| u64::from(range.end - range.start)).sum();
        let (overwrite, overwrites_left, steady) = match overwriting {
            Overwriting::None => (0..0, 0, None),
            Overwriting::Units(range, units) => (range, units, None),
            Overwriting::UntilSteady(range) => (range, 0, Some(SteadyState::default())),
        };
        let space = overwrite.end - overwrite.start;
        let most = match steady {
            Some(_) => u64::from(space) * u64::from(DRIVE_WRITES_MAX),
            None => overwrites_left,
        };
        let window = (space / WINDOWS_PER_DRIVE_WRITE).max(1).next_multiple_of(round.max(1));
        Self {
            fill,
            range: 0,
            overwrite,
            overwrites_left,
            stream: RandomStream::new(seed, "prepare", "overwrite"),
            steady,
            round,
            window,
            window_done: 0,
            window_start: (0, 0),
            written: 0,
            total: fill_units + most,
            settled: false,
        }
    }

    /// Leaves everything as it is.
    pub fn of_nothing() -> Self {
        Self::new(Vec::new(), Overwriting::None, 1, 0)
    }

    /// What it will do, as long as it has not begun.
    pub fn recipe(&self) -> Recipe {
        let mut digest = RunDigest::default();
        let mut ranges = self.fill.iter().filter(|range| !range.is_empty()).peekable();
        while let Some(range) = ranges.next() {
            // Ranges that touch are one range in two pieces.
            let mut end = range.end;
            while let Some(next) = ranges.next_if(|next| next.start == end) {
                end = next.end;
            }
            digest.word(u64::from(range.start) << 32 | u64::from(end));
        }
        Recipe {
            fill_units: self.fill.iter().map(|range| u64::from(range.end - range.start)).sum(),
            fill_hash: digest.to_hex(),
            overwrite: (self.overwrite.start, self.overwrite.end),
            overwrites: self.overwrites_left,
            until_steady: self.steady.is_some(),
            round: self.round,
        }
    }

    /// Units written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Units that will be written at most.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How overwriting ended, if it was asked for.
    pub fn steady_state(&self) -> Option<&SteadyState> {
        self.steady.as_ref()
    }

    /// Writes up to `units` more; returns whether the drive is ready.
    ///
    /// # Errors
    /// When garbage collection cannot go on, which a checked configuration rules out.
    pub fn advance(&mut self, ftl: &mut Ftl, units: u32) -> Result<bool, FtlError> {
        if self.settled {
            return Ok(true);
        }
        // What lies on a cache before its host has written anything came from behind it.
        let mut driver = InstantDriver::of_clean_data(ftl);
        let mut left = units;
        while left > 0 && self.range < self.fill.len() {
            let range = &mut self.fill[self.range];
            let take = left.min(range.end - range.start);
            for unit in range.start..range.start + take {
                driver.write(Lpa(unit))?;
            }
            range.start += take;
            left -= take;
            self.written += u64::from(take);
            self.range += usize::from(range.start == range.end);
        }
        if self.range == self.fill.len() && !self.overwriting_done() {
            self.overwrite(&mut driver, left)?;
        }
        if self.range == self.fill.len() && self.overwriting_done() {
            driver.settle();
            ftl.clear_counters();
            self.settled = true;
        }
        Ok(self.settled)
    }

    fn overwriting_done(&self) -> bool {
        self.overwrites_left == 0
            && self
                .steady
                .as_ref()
                .is_none_or(|steady| steady.converged || steady.drive_writes >= f64::from(DRIVE_WRITES_MAX))
    }

    fn overwrite(&mut self, driver: &mut InstantDriver<'_>, units: u32) -> Result<(), FtlError> {
        let space = self.overwrite.end - self.overwrite.start;
        for _ in 0..units {
            if self.window_done == 0 {
                self.window_start = unit_counts(driver);
            }
            driver.write(Lpa(self.overwrite.start + self.stream.below(u64::from(space)) as u32))?;
            self.written += 1;
            if self.overwrites_left > 0 {
                self.overwrites_left -= 1;
                if self.overwrites_left == 0 {
                    break;
                }
                continue;
            }
            self.window_done += 1;
            if self.window_done == self.window {
                self.window_done = 0;
                self.close_window(driver);
                if self.overwriting_done() {
                    break;
                }
            }
        }
        Ok(())
    }

    fn close_window(&mut self, driver: &InstantDriver<'_>) {
        let (host, programmed) = unit_counts(driver);
        let waf = (programmed - self.window_start.1) as f64 / (host - self.window_start.0) as f64;
        let space = f64::from(self.overwrite.end - self.overwrite.start);
        if let Some(steady) = &mut self.steady {
            steady.window_waf.push(waf);
            steady.drive_writes = steady.window_waf.len() as f64 * f64::from(self.window) / space;
            steady.converged = is_stationary(&steady.window_waf);
        }
    }
}

fn unit_counts(driver: &InstantDriver<'_>) -> (u64, u64) {
    let counters = driver.ftl().counters();
    (counters.host_units, counters.programmed_units())
}

/// Whether the last windows agree: each within 1 % of their mean, their least-squares line rising or
/// falling by less than 0.1 % of the mean per window. Windows without garbage collection do not count:
/// before the first erase write amplification is exactly 1 and says nothing.
fn is_stationary(window_waf: &[f64]) -> bool {
    let Some(start) = window_waf.len().checked_sub(STATIONARY_WINDOWS) else { return false };
    let last = &window_waf[start..];
    let mean = last.iter().sum::<f64>() / STATIONARY_WINDOWS as f64;
    let middle = (STATIONARY_WINDOWS - 1) as f64 / 2.0;
    let covariance: f64 = last.iter().enumerate().map(|(i, waf)| (i as f64 - middle) * (waf - mean)).sum();
    let variance: f64 = (0..STATIONARY_WINDOWS).map(|i| (i as f64 - middle).powi(2)).sum();
    mean > 1.0
        && last.iter().all(|waf| (waf - mean).abs() <= STATIONARY_SPREAD * mean)
        && (covariance / variance).abs() < STATIONARY_SLOPE * mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stationary_means_flat_and_collecting() {
        assert!(!is_stationary(&[1.0; 10]), "no garbage collection yet");
        assert!(is_stationary(&[1.0, 3.0, 2.501, 2.5, 2.499, 2.5, 2.5]));
        assert!(!is_stationary(&[2.5, 2.5, 2.5, 2.5, 2.6]), "one window is off");
        assert!(!is_stationary(&[2.480, 2.490, 2.500, 2.510, 2.520]), "a steady rise");
    }
}
