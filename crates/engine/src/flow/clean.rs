//! Data of which another copy exists: what a cache writes as clean, and what it has flushed.

use ninescope_model::{CacheHint, Lpa, Source};

use crate::device::Device;
use crate::error::SimulationError;
use crate::flow::WriteEntry;
use crate::host::HostCommand;
use crate::kind::Kind;
use crate::probe::{Event, ReadFrom, observe};

/// A unit that a command reads whole, so that it is written to the store behind the drive.
#[derive(Clone, Copy, Debug)]
pub struct FlushRead {
    /// The command.
    pub command: u32,
    /// The unit.
    pub lpa: Lpa,
    /// What the command gets of it is wrong, and nobody knows.
    pub wrong: bool,
}

impl<K: Kind> Device<K> {
    /// Whether another copy exists of what is written, as far as whoever writes it knows.
    pub(crate) fn writes_clean(&self, source: Source, command: u32) -> bool {
        match source {
            Source::Scrub => true,
            Source::Host => self.commands[command].hint == CacheHint::CleanWrite,
            _ => false,
        }
    }

    /// Whether a unit written with clean data is clean then: one that is written in part is only if the rest of it was.
    pub(crate) fn may_stay_clean(&self, entry: &WriteEntry) -> bool {
        let lpa = Lpa(entry.next);
        let rest_is_clean = || self.ftl.translate(lpa) == ninescope_model::Ppa::UNMAPPED || self.ftl.is_clean(lpa);
        entry.merged_with.is_none() || rest_is_clean()
    }

    /// A host read has found out where a unit is. One that is flushed is clean when the read has completed, not before: it
    /// may be written meanwhile, and the read may fail.
    #[inline(never)]
    pub(crate) fn note_flush_read(&mut self, index: u32, lpa: Lpa, from: ReadFrom) {
        let command = &self.commands[index];
        let per_unit = u64::from(self.geometry.sectors_per_unit());
        let first = u64::from(lpa.0) * per_unit;
        let whole = command.lba <= first && command.lba + u64::from(command.sectors) >= first + per_unit;
        if whole && from != ReadFrom::Nowhere {
            self.flush_reads.push(FlushRead { command: index, lpa, wrong: false });
        }
    }

    /// A unit was written or forgotten: what is being flushed of it is old.
    #[inline]
    pub(crate) fn overtake_flush_reads(&mut self, lpa: Lpa) {
        if !self.flush_reads.is_empty() {
            self.flush_reads.retain(|read| read.lpa != lpa);
        }
    }

    /// A flush read is about to complete: what it read and has not changed since is clean, unless it answers with an error.
    /// What passed as good and is wrong is not taken as flushed either, although the drive cannot know that: so what the
    /// store behind it has is always right, and whoever fetches it need not ask.
    #[inline(never)]
    pub(crate) fn flush_read_completes(&mut self, index: u32, command: &HostCommand) -> Result<(), SimulationError> {
        while let Some(position) = self.flush_reads.iter().position(|read| read.command == index) {
            let FlushRead { lpa, wrong, .. } = self.flush_reads.remove(position);
            if !command.reported && !wrong {
                self.ftl.set_clean(lpa);
                observe!(self, Event::UnitFlushed { slot: index, lpa });
            }
        }
        Ok(())
    }
}
