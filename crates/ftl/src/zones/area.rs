//! Random write areas of zones (ZRWA, TP 4076): what a zone that has one takes at and behind its write pointer is kept in the controller,
//! where it may be overwritten, until the write pointer passes it. It is committed then: its units go to their places in order.
//!
//! The area itself begins at the write pointer. Behind it lies as much again, the region of implicit commits: a write that ends there
//! moves the write pointer by so many granules that it ends in the area.

use std::collections::VecDeque;
use std::ops::Range;

use ninescope_model::{Lpa, ZoneCommand};
use serde::{Deserialize, Serialize};

use super::{ZoneError, ZoneState, Zones};

/// The random write areas of a drive, as they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZrwaConfig {
    /// What an area spans (ZRWASZ); a multiple of the granularity [units].
    pub size: u32,
    /// The write pointer moves by multiples of this (ZRWAFG), which divides what a zone takes [units].
    pub granularity: u32,
    /// Zones that may have an area at a time (NUMZRWA).
    pub zones: u32,
}

/// What was counted since the last time counters were set to zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZrwaCounts {
    /// Units that were written into areas.
    pub written_units: u64,
    /// Of these, those that took the place of what had not been committed.
    pub overwritten_units: u64,
    /// Writes that moved a write pointer. Explicit commits are counted as commands.
    pub implicit_commits: u64,
    /// Units that went from areas to their places, but for what nobody had written there.
    pub committed_units: u64,
    /// Units that were in an area when their zone was reset.
    pub dropped_units: u64,
}

/// The area of a zone.
#[derive(Clone, Debug)]
struct Area {
    zone: u32,
    /// Whether it takes writes; if not, what it holds is on its way out of it.
    is_open: bool,
    /// By unit, from the next one that is to be placed on: whether it was written.
    held: VecDeque<bool>,
}

/// The areas of a drive.
#[derive(Clone, Debug)]
pub(super) struct Areas {
    config: Option<ZrwaConfig>,
    all: Vec<Area>,
    pub counts: ZrwaCounts,
}

impl Areas {
    pub fn new(config: Option<ZrwaConfig>) -> Self {
        Self { config, all: Vec::new(), counts: ZrwaCounts::default() }
    }

    fn of(&self, zone: u32) -> Option<&Area> {
        self.all.iter().find(|area| area.zone == zone)
    }

    fn of_mut(&mut self, zone: u32) -> Option<&mut Area> {
        self.all.iter_mut().find(|area| area.zone == zone)
    }

    /// Whether one more zone may have an area.
    pub fn may_open(&self) -> Result<(), ZoneError> {
        match self.config {
            None => Err(ZoneError::InvalidOperation),
            Some(config) if self.all.iter().filter(|area| area.is_open).count() >= config.zones as usize => {
                Err(ZoneError::ZrwaUnavailable)
            }
            Some(_) => Ok(()),
        }
    }

    /// A zone that holds nothing has an area.
    pub fn open(&mut self, zone: u32) {
        self.all.push(Area { zone, is_open: true, held: VecDeque::new() });
    }

    /// A zone is finished: its area takes no more, and is gone where it holds nothing.
    pub fn finish(&mut self, zone: u32) {
        if let Some(area) = self.of_mut(zone) {
            area.is_open = false;
            self.all.retain(|area| area.zone != zone || area.held.contains(&true));
        }
    }

    /// A zone is reset: its area is gone, with all that it holds.
    pub fn reset(&mut self, zone: u32) {
        let Some(at) = self.all.iter().position(|area| area.zone == zone) else { return };
        let held = self.all.remove(at).held;
        self.counts.dropped_units += held.into_iter().filter(|held| *held).count() as u64;
    }

    /// So many units of a zone were placed, which has all of its units on the media then or not.
    pub fn placed(&mut self, zone: u32, units: u32, is_whole: bool) {
        let Some(at) = self.all.iter().position(|area| area.zone == zone) else { return };
        let held = &mut self.all[at].held;
        for was_held in held.drain(..(units as usize).min(held.len())) {
            self.counts.committed_units += u64::from(was_held);
        }
        if is_whole {
            self.all.remove(at);
        }
    }
}

impl Zones {
    /// What is told of random write areas; none where no zone can have one.
    pub fn zrwa(&self) -> Option<&ZrwaConfig> {
        self.areas.config.as_ref()
    }

    /// Whether units of a zone go to their places out of an area.
    #[inline]
    pub fn has_area(&self, zone: u32) -> bool {
        self.areas.of(zone).is_some()
    }

    /// Whether a zone takes writes into an area.
    #[inline]
    pub fn takes_any_order(&self, zone: u32) -> bool {
        self.areas.of(zone).is_some_and(|area| area.is_open)
    }

    /// Whether the newest content of a unit is in an area.
    #[inline]
    pub fn holds(&self, lpa: Lpa) -> bool {
        if self.areas.all.is_empty() {
            return false;
        }
        let (zone, offset) = self.layout.zone_and_offset(lpa);
        let at = offset.checked_sub(self.records[zone as usize].placed);
        at.zip(self.areas.of(zone)).is_some_and(|(at, area)| area.held.get(at as usize) == Some(&true))
    }

    /// Whether the area of a zone holds anything.
    pub fn area_holds_something(&self, zone: u32) -> bool {
        self.areas.of(zone).is_some_and(|area| area.held.contains(&true))
    }

    /// A write of so many units into the area of a zone. Returns the units that are committed by it.
    ///
    /// # Errors
    /// Why the zone does not take it. Nothing has changed then.
    pub fn write_into_area(&mut self, lpa: Lpa, units: u32) -> Result<Range<u32>, ZoneError> {
        let (zone, offset) = self.layout.zone_and_offset(lpa);
        let record = self.records[zone as usize];
        let Some(ZrwaConfig { size, granularity, .. }) = self.areas.config else {
            return Err(ZoneError::InvalidOperation);
        };
        let end = u64::from(offset) + u64::from(units);
        if end > u64::from(self.layout.capacity()) {
            return Err(ZoneError::BoundaryError);
        }
        let area_ends = u64::from(record.written) + u64::from(size);
        if offset < record.written || end > area_ends + u64::from(size) {
            return Err(ZoneError::InvalidWrite);
        }
        self.opens_for_writing(zone)?;
        let Areas { all, counts, .. } = &mut self.areas;
        if let Some(area) = all.iter_mut().find(|area| area.zone == zone) {
            let (from, to) = ((offset - record.placed) as usize, end as usize - record.placed as usize);
            if area.held.len() < to {
                area.held.resize(to, false);
            }
            for held in area.held.range_mut(from..to) {
                counts.overwritten_units += u64::from(std::mem::replace(held, true));
            }
        }
        counts.written_units += u64::from(units);
        let granules = end.saturating_sub(area_ends).div_ceil(granularity.into()) as u32;
        counts.implicit_commits += u64::from(granules > 0);
        self.counts.commands[ZoneCommand::None as usize] += 1;
        Ok(self.pointer_moves(zone, granules * granularity))
    }

    /// The write pointer of a zone with an area is to go `end` units behind its beginning. Returns the units that are committed.
    ///
    /// # Errors
    /// Why it does not. Nothing has changed then.
    pub fn commit(&mut self, zone: u32, end: u32) -> Result<Range<u32>, ZoneError> {
        let record = self.records[zone as usize];
        let Some(config) = self.areas.config.filter(|_| self.takes_any_order(zone)) else {
            return Err(ZoneError::InvalidOperation);
        };
        let most = (u64::from(record.written) + u64::from(config.size)).min(self.layout.capacity().into());
        if end <= record.written || u64::from(end) > most {
            return Err(ZoneError::BoundaryError);
        }
        if !(end - record.written).is_multiple_of(config.granularity) {
            return Err(ZoneError::InvalidField);
        }
        self.opens_for_writing(zone)?;
        self.counts.commands[ZoneCommand::Commit as usize] += 1;
        let committed = self.pointer_moves(zone, end - record.written);
        if end == self.layout.capacity() {
            self.becomes(zone, ZoneState::Full);
            self.counts.filled += 1;
            if let Some(area) = self.areas.of_mut(zone) {
                area.is_open = false;
            }
        }
        Ok(committed)
    }

    /// The write pointer of a zone moves by so many units, which are returned.
    fn pointer_moves(&mut self, zone: u32, units: u32) -> Range<u32> {
        let record = &mut self.records[zone as usize];
        let first = self.layout.first_unit(zone).0 + record.written;
        record.written += units;
        first..first + units
    }
}
