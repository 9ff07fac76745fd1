//! Zones: stretches of the host's addresses that are written in order, from their beginning on, and reset as a whole (NVM Express Zoned
//! Namespace Command Set). Each lies on the same block groups for good, one in each of its pools, so that there is no map to look
//! into and no garbage to collect.
//!
//! `layout` says where a unit of a zone lies, `state` which commands a zone takes and what becomes of it, `area` what a zone with a random
//! write area takes and commits. Programs, erases and time are not known here.

mod area;
mod layout;
mod state;

use std::collections::VecDeque;

use ninescope_model::ZoneCommand;
use serde::{Deserialize, Serialize};

use area::Areas;
pub use area::{ZrwaConfig, ZrwaCounts};
pub use layout::ZoneLayout;
pub use state::{ZoneError, ZoneState};

/// The zones of a drive, as they are told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneConfig {
    /// Pools that each zone lies on; divides those that there are.
    pub pools: u32,
    /// From the first unit of one zone to that of the next; at least what a zone takes [units].
    pub size: u32,
    /// Zones that may be open at a time.
    pub open: u32,
    /// Zones that may be open or closed at a time.
    pub active: u32,
    /// Zones that can be read and not written.
    pub read_only: Vec<u32>,
    /// Zones that can be neither.
    pub offline: Vec<u32>,
    /// The random write areas that zones may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zrwa: Option<ZrwaConfig>,
}

/// What is known of one zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Its state.
    pub state: ZoneState,
    /// Units before its write pointer: those of commands that were taken.
    pub written: u32,
    /// Units that have their places on the media, in order: behind those that were taken while some wait for room.
    pub placed: u32,
}

/// What was counted since the last time counters were set to zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZoneCounts {
    /// Commands that were taken, in the order of [`ZoneCommand::ALL`]; the first are writes at the write pointer.
    pub commands: [u64; ZoneCommand::ALL.len()],
    /// Commands that were refused, in the order of [`ZoneError::ALL`].
    pub errors: [u64; ZoneError::ALL.len()],
    /// Zones that a write opened.
    pub implicit_opens: u64,
    /// Zones that the drive closed, to open another one.
    pub implicit_closes: u64,
    /// Zones that were written to their end.
    pub filled: u64,
    /// Units that were in the controller when their zone was reset, and never came to the media.
    pub dropped_units: u64,
}

/// All zones of a drive.
#[derive(Clone, Debug)]
pub struct Zones {
    layout: ZoneLayout,
    records: Vec<Zone>,
    /// Limits.
    open_max: u32,
    active_max: u32,
    /// Those that are open, and those that are open or closed.
    open: u32,
    active: u32,
    /// Zones that writes opened, the one that was opened first before the others.
    implicit: VecDeque<u32>,
    areas: Areas,
    counts: ZoneCounts,
}

impl Zones {
    /// Zones that hold nothing.
    pub fn new(config: &ZoneConfig, layout: ZoneLayout) -> Self {
        let empty = Zone { state: ZoneState::Empty, written: 0, placed: 0 };
        let mut records = vec![empty; layout.zones() as usize];
        for (list, state) in [(&config.read_only, ZoneState::ReadOnly), (&config.offline, ZoneState::Offline)] {
            for zone in list {
                records[*zone as usize].state = state;
            }
        }
        Self {
            layout,
            records,
            open_max: config.open,
            active_max: config.active,
            open: 0,
            active: 0,
            implicit: VecDeque::with_capacity(config.open as usize + 1),
            areas: Areas::new(config.zrwa),
            counts: ZoneCounts::default(),
        }
    }

    /// Where units lie.
    #[inline]
    pub fn layout(&self) -> &ZoneLayout {
        &self.layout
    }

    /// A zone.
    pub fn zone(&self, zone: u32) -> &Zone {
        &self.records[zone as usize]
    }

    /// How many zones are open, and how many are open or closed.
    pub fn resources(&self) -> (u32, u32) {
        (self.open, self.active)
    }

    /// The most that may be open, and open or closed.
    pub fn limits(&self) -> (u32, u32) {
        (self.open_max, self.active_max)
    }

    /// What was counted.
    pub fn counts(&self) -> &ZoneCounts {
        &self.counts
    }

    /// What was counted of random write areas.
    pub fn zrwa_counts(&self) -> &ZrwaCounts {
        &self.areas.counts
    }

    /// How many zones are in each state, in the order of [`ZoneState::ALL`].
    pub fn in_states(&self) -> [u32; ZoneState::ALL.len()] {
        let mut counts = [0; ZoneState::ALL.len()];
        self.records.iter().for_each(|zone| counts[zone.state as usize] += 1);
        counts
    }

    /// Counts from here on.
    pub fn clear_counts(&mut self) {
        self.counts = ZoneCounts::default();
        self.areas.counts = ZrwaCounts::default();
    }

    /// One more unit of a zone has its place.
    pub(crate) fn placed(&mut self, zone: u32, units: u32) {
        let record = &mut self.records[zone as usize];
        record.placed += units;
        let is_whole = record.placed == self.layout.capacity();
        self.areas.placed(zone, units, is_whole);
    }

    /// So many units never come to the media.
    pub(crate) fn dropped(&mut self, units: u32) {
        self.counts.dropped_units += u64::from(units);
    }

    /// A zone was filled before the run, or holds nothing.
    pub(crate) fn is_prepared(&mut self, zone: u32, placed: u32) {
        let capacity = self.layout.capacity();
        let record = &mut self.records[zone as usize];
        (record.written, record.placed) = (placed, placed);
        if matches!(record.state, ZoneState::Empty | ZoneState::Full) {
            record.state = if placed == capacity { ZoneState::Full } else { ZoneState::Empty };
        }
    }
}
