//! What a drive with flexible data placement counts: of each reclaim unit handle what was written by it, and what came of the
//! reclaim units that it referred to; and the events of its log.
//!
//! A reclaim unit is a block group. What decides where a unit lies is not known here: it is told what happened.

use ninescope_model::Stream;

use crate::policies::Told;
use crate::policies::stream_choice::fdp::Fdp;

/// Of the reclaim units that a handle refers to, or that hold what is moved of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitCounts {
    /// Reclaim units that were begun: the handle refers to another one from then on.
    pub begun: u64,
    /// Reclaim units that were written to their capacity.
    pub filled: u64,
    /// Reclaim units that were erased.
    pub erased: u64,
    /// Reclaim units that are used no more, because a block of theirs broke.
    pub retired: u64,
    /// Units of padding in them.
    pub padding_units: u64,
    /// Units, padding among them, that were programmed once more, because a program failed.
    pub rewritten_units: u64,
}

/// Of a reclaim unit handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HandleCounts {
    /// Units that commands of the host wrote by it.
    pub host_units: u64,
    /// Units of it that the drive wrote by itself and garbage collection did not move.
    pub own_units: u64,
    /// Units of it that garbage collection moved.
    pub moved_units: u64,
    /// Its reclaim units: those of what is written, and of what is moved where it is persistently isolated.
    pub units: UnitCounts,
}

/// Everything that is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementCounts {
    /// By handle.
    pub handles: Vec<HandleCounts>,
    /// Reclaim units that hold what is moved of all handles that are initially isolated.
    pub shared: UnitCounts,
    /// Events: a reclaim unit was to be emptied that held something valid.
    pub media_reallocated: u64,
    /// Events: units of the host came with a handle that there is not.
    pub invalid_identifiers: u64,
    /// Victims that were passed over, because padding might have taken more than they would have given.
    pub victims_passed: u64,
}

/// Counts, and how handles are isolated.
#[derive(Clone, Debug)]
pub struct ReclaimUnits {
    told: Fdp,
    counts: PlacementCounts,
}

impl ReclaimUnits {
    pub(crate) fn new(told: Fdp) -> Self {
        let handles = vec![HandleCounts::default(); told.handles.len()];
        Self { told, counts: PlacementCounts { handles, ..PlacementCounts::default() } }
    }

    /// What was counted.
    pub fn counts(&self) -> &PlacementCounts {
        &self.counts
    }

    /// The handles that there are.
    pub fn told(&self) -> &Fdp {
        &self.told
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.told.clone());
    }

    /// Of the reclaim units that a stream fills. What makes way so that wear is level has one beside those of handles, which are all
    /// initially isolated then.
    fn units_of(&mut self, stream: Stream) -> &mut UnitCounts {
        let levels = stream.kind() as usize >= self.told.handles.len();
        if stream.is_of_moves() && (levels || self.told.moves_of(stream.kind()).1) {
            &mut self.counts.shared
        } else {
            &mut self.counts.handles[stream.kind() as usize].units
        }
    }

    /// A unit was written, by a command of the host or by none.
    pub(crate) fn written(&mut self, handle: u32, told: Told) {
        let counts = &mut self.counts.handles[handle as usize];
        if told.sectors == 0 {
            counts.own_units += 1;
            return;
        }
        counts.host_units += 1;
        self.counts.invalid_identifiers += u64::from(usize::from(told.stream) >= self.told.handles.len());
    }

    /// Units were filled in order into an empty drive.
    pub(crate) fn filled_in_order(&mut self, handle: u32, units: u32) {
        self.counts.handles[handle as usize].own_units += u64::from(units);
    }

    /// A unit that was written by a handle got the place to which it is moved.
    pub(crate) fn moved(&mut self, handle: u32) {
        self.counts.handles[handle as usize].moved_units += 1;
    }

    /// A unit of padding was put behind what a stream wrote.
    pub(crate) fn padded(&mut self, stream: Stream) {
        self.units_of(stream).padding_units += 1;
    }

    /// A stream begins a reclaim unit.
    pub(crate) fn begun(&mut self, by: Stream) {
        self.units_of(by).begun += 1;
    }

    /// A reclaim unit is full.
    pub(crate) fn filled(&mut self, by: Stream) {
        self.units_of(by).filled += 1;
    }

    /// A reclaim unit that a stream filled was erased.
    pub(crate) fn erased(&mut self, of: Stream) {
        self.units_of(of).erased += 1;
    }

    /// A reclaim unit that a stream filled is used no more.
    pub(crate) fn retired(&mut self, of: Stream) {
        self.units_of(of).retired += 1;
    }

    /// Units of a page of a stream are programmed once more.
    pub(crate) fn rewritten(&mut self, by: Stream, units: u32) {
        self.units_of(by).rewritten_units += u64::from(units);
    }

    /// A reclaim unit is to be emptied that holds something valid.
    pub(crate) fn reallocates(&mut self) {
        self.counts.media_reallocated += 1;
    }

    /// A victim was passed over.
    pub(crate) fn passed(&mut self) {
        self.counts.victims_passed += 1;
    }
}
