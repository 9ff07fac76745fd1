//! Flexible data placement: the host names a placement handle with each write ("NVM Express Base Specification" 2.1, Flexible Data
//! Placement). A handle refers to a reclaim unit, here the open block group of its stream in each pool, and what is written by it
//! lies there with nothing else. What garbage collection moves of a handle that is persistently isolated goes to groups that hold
//! nothing of any other, whatever space there is; what it moves of those that are initially isolated lies together.
//!
//! A write that names no handle, or one that there is not, goes by the first.

use ninescope_kernel::{SectionReader, SectionWriter, Snapshot, SnapshotError, must_hold, zeroed};
use ninescope_model::{Lpa, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StreamChoice, StreamChoiceParameters, Told, Written};

/// How far what is written by a handle lies apart from the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Until it is moved.
    InitiallyIsolated,
    /// For good.
    PersistentlyIsolated,
}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fdp {
    /// The reclaim unit handles that there are, 2 to 8, numbered from 0: the type of each.
    #[schemars(length(min = 2, max = 8))]
    pub handles: Vec<Isolation>,
}

impl Default for Fdp {
    fn default() -> Self {
        Self { handles: vec![Isolation::InitiallyIsolated; 4] }
    }
}

impl Fdp {
    /// The number of the kind of moves of a handle, and whether anything of another handle may lie there.
    pub fn moves_of(&self, handle: u32) -> (u32, bool) {
        let shared = |isolation: &Isolation| *isolation == Isolation::InitiallyIsolated;
        if shared(&self.handles[handle as usize]) {
            let first = self.handles.iter().position(shared).unwrap_or_default();
            (first as u32, true)
        } else {
            (handle, false)
        }
    }

    /// Whether any handle is persistently isolated.
    pub fn isolates(&self) -> bool {
        self.isolated() > 0
    }

    fn isolated(&self) -> u32 {
        let isolated = self.handles.iter().filter(|isolation| **isolation == Isolation::PersistentlyIsolated);
        isolated.count() as u32
    }

    /// The handle by which a command writes that `told` this.
    pub fn handle_named(&self, told: Told) -> u32 {
        let named = u32::from(told.stream);
        if (named as usize) < self.handles.len() { named } else { 0 }
    }
}

impl StreamChoiceParameters for Fdp {
    fn problem(&self) -> Option<(&'static str, String)> {
        let (count, most) = (self.handles.len(), Stream::KINDS_MAX as usize);
        (!(2..=most).contains(&count)).then(|| ("handles", format!("are {count}, and there may be 2 to {most}")))
    }

    fn build(&self, units: u32, _groups: u32) -> Box<dyn StreamChoice> {
        Box::new(ByHandle { told: self.clone(), handle_of: zeroed(units as usize) })
    }

    fn placement(&self) -> Option<&Fdp> {
        Some(self)
    }
}

/// The handle by which each unit was written.
#[derive(Debug)]
struct ByHandle {
    told: Fdp,
    handle_of: Vec<u8>,
}

impl StreamChoice for ByHandle {
    fn kinds_of_writes(&self) -> u32 {
        self.told.handles.len() as u32
    }

    fn kinds_of_moves(&self) -> u32 {
        let (handles, isolated) = (self.kinds_of_writes(), self.told.isolated());
        isolated + u32::from(isolated < handles)
    }

    fn listens(&self) -> bool {
        true
    }

    fn is_named_by_host(&self) -> bool {
        true
    }

    fn remembers(&self) -> bool {
        true
    }

    fn isolates(&self) -> bool {
        self.told.isolates()
    }

    fn of_write(&self, unit: &Written) -> u32 {
        // What the drive writes by itself stays with its handle.
        let own = || unit.before.map_or(0, |_| self.handle_of(unit.lpa));
        if unit.told.sectors == 0 { own() } else { self.told.handle_named(unit.told) }
    }

    fn of_move(&self, _lpa: Lpa, _clean: bool, from: Stream) -> u32 {
        self.told.moves_of(from.kind()).0
    }

    fn written(&mut self, lpa: Lpa, kind: u32) {
        self.handle_of[lpa.index()] = kind as u8;
    }

    fn handle_of(&self, lpa: Lpa) -> u32 {
        u32::from(self.handle_of[lpa.index()])
    }
}

impl Snapshot for ByHandle {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        to.column(self.handle_of.iter().map(|&handle| u32::from(handle)))
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        let mut handles = vec![0; self.handle_of.len()];
        from.column(&mut handles, |handle| handle)?;
        let most = handles.iter().copied().max().unwrap_or_default();
        must_hold((most as usize) < self.told.handles.len(), || format!("a unit was written by handle {most}"))?;
        self.handle_of = handles.into_iter().map(|handle| handle as u8).collect();
        Ok(())
    }
}
