//! Preconditioning: what is written into a drive, under the instant driver, before its run begins. Units are filled, then
//! overwritten at random or by the workload's own writes, so often or until the drive has settled.
//!
//! A large drive that is overwritten at random is composed (`composition`). Where the writes of the workload come from is told by `own_writes`, when the drive has settled by `settling`, and what is
//! said of that by `steady_state`. Snapshots, plans and runs are not known here.

mod composition;
mod own_writes;
mod prefill;
mod settling;
mod shares;
mod steady_state;

use std::ops::Range;

use ninescope_ftl::policies::Told;
use ninescope_ftl::{Ftl, FtlConfig, FtlError, InstantDriver};
use ninescope_kernel::{RandomStream, RunDigest};
use ninescope_model::{BlockGroup, Lpa};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use own_writes::OwnWrite;
use settling::{Settling, Unreached, Window};
use steady_state::DRIVE_WRITES_MAX;

pub use composition::Composition;
pub use own_writes::{OwnWrites, WearIn};
pub use prefill::{PrefillMode, PrefillOrder};
pub use steady_state::{OverwrittenBy, SteadyState};

/// How a full drive is overwritten.
#[derive(Debug, Default)]
pub enum Overwriting {
    /// Not at all.
    #[default]
    None,
    /// So many units of a range, at random.
    Units(Range<u32>, u64),
    /// At random, until write amplification is stationary.
    UntilSteady(Range<u32>),
    /// By the workload's own writes, until write amplification and wear are stationary. The range is the whole drive.
    ByWorkload(Range<u32>, OwnWrites),
}

const WINDOWS_PER_DRIVE_WRITE: u32 = 10;
/// However long a window is, there may be so many.
const WINDOWS_AT_LEAST: u64 = 10;

/// What a preconditioning does to a drive, as text that names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Units written once [count].
    pub fill_units: u64,
    /// Which they are.
    pub fill_hash: String,
    /// In which order; absent: by their addresses.
    #[serde(default, skip_serializing_if = "PrefillOrder::is_ascending")]
    pub fill_order: PrefillOrder,
    /// The units that are then overwritten, and the one behind them.
    pub overwrite: (u32, u32),
    /// How many of them, where their number is given [count].
    pub overwrites: u64,
    /// Whether they are overwritten until write amplification is stationary.
    pub until_steady: bool,
    /// The hash of the writes of a workload that overwrite them; absent where they are overwritten at random.
    pub by_workload: Option<String>,
    /// Whether one pool is overwritten in place of all of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub composed: bool,
    /// Whether pages of the map are there of which nothing was written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole_map: bool,
    /// What fills one block group in each pool [units].
    pub round: u32,
}

/// A preconditioning that advances in steps.
#[derive(Debug)]
pub struct Preconditioning {
    /// Ranges of units to write, and how far that is where it is done by their addresses.
    fill: Vec<Range<u32>>,
    range: usize,
    order: PrefillOrder,
    /// In random order: the units still to write, the next one last. Made when the first is written.
    shuffled: Option<Vec<u32>>,
    order_stream: RandomStream,
    /// Units that are overwritten; empty where no steady state is asked for.
    overwrite: Range<u32>,
    /// Units still to overwrite where their number is given.
    overwrites_left: u64,
    stream: RandomStream,
    own: Option<OwnWrites>,
    settling: Option<Settling>,
    /// How the drive is made without all of that.
    composition: Option<Composition>,
    /// What was full when overwriting began, once it has.
    full_before: Option<Vec<BlockGroup>>,
    /// What fills one block group in each pool [units].
    round: u32,
    /// Host writes in a window, or, where it takes more of them to program so much, in each part of one [units].
    window: u64,
    window_programs: u64,
    window_done: u64,
    window_start: Window,
    /// Bytes of the workload's own writes [B].
    host_bytes: u64,
    /// The most windows there may be.
    windows_max: u64,
    written: u64,
    total: u64,
    settled: bool,
    /// Every page of a map that lies in flash is written.
    whole_map: bool,
}

impl Preconditioning {
    /// Writes the units of `fill` in order, then overwrites as `overwriting` says.
    /// `round` is what fills one block group in each pool [units]: pools fill and collect in step, so a
    /// window that is no whole number of rounds would count one burst of moves more or less than the next.
    pub fn new(fill: Vec<Range<u32>>, overwriting: Overwriting, round: u32, seed: u64) -> Self {
        let fill_units: u64 = fill.iter().map(|range| u64::from(range.end - range.start)).sum();
        let (overwrite, overwrites_left, settling, own) = match overwriting {
            Overwriting::None => (0..0, 0, None, None),
            Overwriting::Units(range, units) => (range, units, None, None),
            Overwriting::UntilSteady(range) => (range.clone(), 0, Some(Settling::uniform(range.len())), None),
            Overwriting::ByWorkload(range, own) => {
                (range.clone(), 0, Some(Settling::by_workload(range.len(), round, own.pass_units())), Some(own))
            }
        };
        let space = u64::from(overwrite.end - overwrite.start);
        let least = (space / u64::from(WINDOWS_PER_DRIVE_WRITE)).max(1);
        let window = match own.as_ref().and_then(OwnWrites::pass_units) {
            // A trace has phases: windows are whole replays.
            Some(pass) => least.next_multiple_of(pass),
            None => least.next_multiple_of(u64::from(round.max(1))),
        };
        let drive_writes = space * u64::from(DRIVE_WRITES_MAX);
        let windows_max = match own {
            Some(_) => drive_writes.div_ceil(window).max(WINDOWS_AT_LEAST),
            None => drive_writes.div_ceil(window),
        };
        let most = if settling.is_some() { windows_max * window } else { overwrites_left };
        Self {
            fill,
            range: 0,
            order: PrefillOrder::Ascending,
            shuffled: None,
            order_stream: RandomStream::new(seed, "prepare", "order"),
            overwrite,
            overwrites_left,
            stream: RandomStream::new(seed, "prepare", "overwrite"),
            own,
            settling,
            composition: None,
            full_before: None,
            round,
            window,
            window_programs: 0,
            window_done: 0,
            window_start: Window::default(),
            host_bytes: 0,
            windows_max,
            written: 0,
            total: fill_units + most,
            settled: false,
            whole_map: false,
        }
    }

    /// The same; every page of the map is on the media, where it lies there, if `whole_map`, and else those that hold something.
    pub fn with_whole_map(self, whole_map: bool) -> Self {
        Self { whole_map, ..self }
    }

    /// Whether it leaves the drive as it is.
    pub fn is_of_nothing(&self) -> bool {
        self.total() == 0 && !self.whole_map
    }

    /// The same, with the units of `fill` written in this order.
    pub fn in_order(self, order: PrefillOrder) -> Self {
        Self { order, ..self }
    }

    /// The same in windows in which so many units are programmed, in whole rounds of block groups, and so many of them at most.
    #[must_use]
    fn in_windows(self, programmed: u64, most: u64) -> Self {
        let fill = self.total - self.windows_max * self.window;
        let round = u64::from(self.round);
        // Where nothing moves, all that is programmed the host wrote.
        let total = fill + most * programmed.next_multiple_of(round);
        Self { window: round, window_programs: programmed, windows_max: most, total, ..self }
    }

    /// The same of a drive of this configuration, all of which is overwritten at random until that is steady: composed.
    #[must_use]
    pub fn composed(self, config: &FtlConfig, seed: u64) -> Self {
        debug_assert!(self.settling.is_some() && self.own.is_none() && self.overwrite == (0..config.logical_units));
        Self { composition: Some(Composition::new(config, seed)), ..self }
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
            fill_order: self.order,
            overwrite: (self.overwrite.start, self.overwrite.end),
            overwrites: self.overwrites_left,
            until_steady: self.settling.is_some(),
            by_workload: self.own.as_ref().map(|own| own.identity().to_owned()),
            composed: self.composition.is_some(),
            whole_map: self.whole_map,
            round: self.round,
        }
    }

    /// Units written so far.
    pub fn written(&self) -> u64 {
        self.written + self.composition.as_ref().map_or(0, Composition::written)
    }

    /// Units that will be written at most.
    pub fn total(&self) -> u64 {
        match &self.composition {
            Some(composition) if composition.confirmed() != Some(false) => composition.total(),
            composition => self.total + composition.as_ref().map_or(0, Composition::written),
        }
    }

    /// How overwriting ended, if it was asked for.
    pub fn steady_state(&self) -> Option<SteadyState> {
        match &self.composition {
            Some(composition) if composition.confirmed() != Some(false) => Some(composition.state()),
            _ => self.settling.as_ref().map(Settling::state),
        }
    }

    /// Writes about `units` more; returns whether the drive is ready.
    ///
    /// # Errors
    /// When garbage collection cannot go on, which a checked configuration rules out, or a trace cannot be read on.
    pub fn advance(&mut self, ftl: &mut Ftl, units: u32) -> Result<bool, Error> {
        if self.settled {
            return Ok(true);
        }
        if let Some(composition) = &mut self.composition
            && composition.confirmed().is_none()
        {
            composition.advance(ftl, units)?;
            return Ok(false);
        }
        // What lies on a cache before its host has written anything came from behind it.
        let mut driver = InstantDriver::of_clean_data(ftl);
        let left = match self.order {
            _ if self.filled() => units,
            PrefillOrder::Ascending => self.fill_by_address(&mut driver, units)?,
            PrefillOrder::Random => self.fill_at_random(&mut driver, units)?,
        };
        if self.filled() && !self.overwriting_done() {
            self.overwrite(&mut driver, left)?;
        }
        if self.filled() && self.overwriting_done() {
            if (self.written() > 0 || self.whole_map) && driver.ftl().translation_units() > 0 {
                driver.write_map(self.whole_map).map_err(internal)?;
            }
            driver.settle();
            ftl.clear_counters();
            self.settled = true;
        }
        Ok(self.settled)
    }

    /// Whether everything was written once that is to be.
    fn filled(&self) -> bool {
        if self.composition.is_some() {
            return true;
        }
        match self.order {
            PrefillOrder::Ascending => self.range == self.fill.len(),
            PrefillOrder::Random => self.shuffled.as_ref().is_some_and(Vec::is_empty),
        }
    }

    /// Writes up to so many of the units to fill; returns how many of them are left to write of others.
    fn fill_by_address(&mut self, driver: &mut InstantDriver<'_>, units: u32) -> Result<u32, Error> {
        let mut left = units;
        if self.written == 0
            && let Some(range) = self.fill.first_mut()
        {
            // What takes no time is done at once.
            let filled = driver.fill(range.clone());
            range.start += filled;
            self.written += u64::from(filled);
            self.range += usize::from(range.start == range.end);
        }
        while left > 0 && self.range < self.fill.len() {
            let range = &mut self.fill[self.range];
            let take = left.min(range.end - range.start);
            for unit in range.start..range.start + take {
                driver.write(Lpa(unit)).map_err(internal)?;
            }
            range.start += take;
            left -= take;
            self.written += u64::from(take);
            self.range += usize::from(range.start == range.end);
        }
        Ok(left)
    }

    /// The same in random order.
    fn fill_at_random(&mut self, driver: &mut InstantDriver<'_>, units: u32) -> Result<u32, Error> {
        let (fill, stream) = (&self.fill, &mut self.order_stream);
        let shuffled = self.shuffled.get_or_insert_with(|| {
            let mut all: Vec<u32> = fill.iter().cloned().flatten().collect();
            shuffle(&mut all, stream);
            all
        });
        let mut left = units;
        while left > 0
            && let Some(unit) = shuffled.pop()
        {
            driver.write(Lpa(unit)).map_err(internal)?;
            left -= 1;
            self.written += 1;
        }
        Ok(left)
    }

    fn overwriting_done(&self) -> bool {
        if self.composition.as_ref().and_then(Composition::confirmed) == Some(true) {
            return true;
        }
        let done = |settling: &Settling| settling.converged() || settling.windows() >= self.windows_max;
        self.overwrites_left == 0 && self.settling.as_ref().is_none_or(done)
    }

    fn overwrite(&mut self, driver: &mut InstantDriver<'_>, units: u32) -> Result<(), Error> {
        let mut left = u64::from(units);
        if self.full_before.is_none() {
            self.full_before = Some(full_groups(driver.ftl()));
            self.window_start = Window::of(driver.ftl(), self.host_bytes);
        }
        while left > 0 {
            let written = if let Some(own) = &mut self.own {
                let write = own.next_write()?;
                self.host_bytes += write.host_bytes();
                write_own(driver, write)?
            } else {
                let space = self.overwrite.end - self.overwrite.start;
                let unit = self.overwrite.start + self.stream.below(u64::from(space)) as u32;
                driver.write(Lpa(unit)).map_err(internal)?;
                1
            };
            // A TRIM takes its time too.
            left = left.saturating_sub(written.max(1));
            self.written += written;
            if self.overwrites_left > 0 {
                self.overwrites_left -= 1;
                if self.overwrites_left == 0 {
                    break;
                }
                continue;
            }
            self.window_done += written;
            if self.window_done >= self.window && self.close_window(driver) && self.overwriting_done() {
                break;
            }
        }
        Ok(())
    }

    /// Takes a window in that is over; returns whether it was.
    fn close_window(&mut self, driver: &InstantDriver<'_>) -> bool {
        let window = Window::of(driver.ftl(), self.host_bytes).since(&self.window_start);
        let is_over = window.programmed_units >= self.window_programs;
        self.window_done = 0;
        if is_over {
            self.window_start = Window::of(driver.ftl(), self.host_bytes);
            let unit_bytes = u64::from(driver.ftl().geometry().unit_bytes);
            if let Some(settling) = &mut self.settling {
                settling.take(
                    window,
                    Unreached::of(driver.ftl(), self.full_before.as_deref().unwrap_or_default()),
                    unit_bytes,
                );
            }
        }
        is_over
    }
}

fn full_groups(ftl: &Ftl) -> Vec<BlockGroup> {
    let units = ftl.geometry().units_per_group();
    (0..ftl.geometry().groups()).map(BlockGroup).filter(|&group| ftl.group(group).write_pointer == units).collect()
}

/// Carries a write or a TRIM of a workload out; returns the units that it wrote.
#[inline]
fn write_own(driver: &mut InstantDriver<'_>, write: OwnWrite) -> Result<u64, Error> {
    if write.trims() {
        (write.first..write.end).for_each(|unit| driver.trim(Lpa(unit)));
        return Ok(0);
    }
    let told = Told { stream: write.stream, sectors: write.sectors };
    driver.write_request(write.first..write.end, told).map_err(internal)?;
    Ok(u64::from(write.end - write.first))
}

/// All orders alike: each unit in turn changes places with one of those before it, or stays (Fisher and Yates).
fn shuffle(units: &mut [u32], stream: &mut RandomStream) {
    (1..units.len()).rev().for_each(|last| units.swap(last, stream.below(last as u64 + 1) as usize));
}

#[allow(clippy::needless_pass_by_value)] // as `map_err` calls it
fn internal(error: FtlError) -> Error {
    if let FtlError::ReadOnly(_) = error {
        return Error::Input(format!(
            "while the drive is prepared {error}; prepare it with fewer writes, or raise nand.wear_out"
        ));
    }
    Error::Internal(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn all_orders_of_a_random_prefill_are_alike() {
        const ROUNDS: u32 = 24_000;
        let mut stream = RandomStream::new(5, "prepare", "order");
        let mut counts: BTreeMap<[u32; 4], u32> = BTreeMap::new();
        for _ in 0..ROUNDS {
            let mut units = [0, 1, 2, 3];
            shuffle(&mut units, &mut stream);
            *counts.entry(units).or_default() += 1;
        }
        let expected = f64::from(ROUNDS) / 24.0;
        let chi_square: f64 = counts.values().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert_eq!(counts.len(), 24, "every order");
        assert!(chi_square < 49.7, "chi-square {chi_square} of 23 degrees of freedom");
    }
}
