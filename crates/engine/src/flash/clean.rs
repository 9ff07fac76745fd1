//! Data of which another copy exists: what a cache writes as clean, and what it has flushed.

use ninescope_model::{Lpa, Ppa};

use super::{Flash, WriteEntry};

/// A unit that a command reads whole, so that it is written to the store behind the drive.
#[derive(Clone, Copy, Debug)]
struct FlushRead {
    command: u32,
    lpa: Lpa,
    /// What the command gets of it is wrong, and nobody knows.
    wrong: bool,
}

/// Units that are being read so as to be flushed, and have not changed since. Known where clean data is.
#[derive(Debug)]
pub(super) struct FlushReads(Vec<FlushRead>);

impl FlushReads {
    /// None, with room for so many.
    pub fn with_capacity(reads: usize) -> Self {
        Self(Vec::with_capacity(reads))
    }
}

impl Flash {
    /// Whether a unit written with clean data is clean then: one that is written in part is only if the rest of it was.
    pub fn may_stay_clean(&self, entry: &WriteEntry) -> bool {
        let lpa = Lpa(entry.next);
        let rest_is_clean = || self.ftl.translate(lpa) == Ppa::UNMAPPED || self.ftl.is_clean(lpa);
        entry.merged_with.is_none() || rest_is_clean()
    }

    /// A command that reads a unit whole is going to flush it. It is clean when the read has completed, not before: it may be
    /// written meanwhile, and the read may fail.
    pub fn note_flush_read(&mut self, command: u32, lpa: Lpa) {
        self.flush_reads.0.push(FlushRead { command, lpa, wrong: false });
    }

    /// What such a command gets of a unit is wrong, and nobody knows.
    pub fn flush_read_is_wrong(&mut self, command: u32, lpa: Lpa) {
        let flushed = self.flush_reads.0.iter_mut().find(|read| read.command == command && read.lpa == lpa);
        if let Some(flushed) = flushed {
            flushed.wrong = true;
        }
    }

    /// A unit was written or forgotten: what is being flushed of it is old.
    #[inline]
    pub fn overtake_flush_reads(&mut self, lpa: Lpa) {
        if !self.flush_reads.0.is_empty() {
            self.flush_reads.0.retain(|read| read.lpa != lpa);
        }
    }

    /// Whether anything is being flushed.
    #[inline]
    pub fn has_flush_reads(&self) -> bool {
        !self.flush_reads.0.is_empty()
    }

    /// A flush read is about to complete: what it read and has not changed since is clean, unless it answers with an error
    /// (`reported`). What passed as good and is wrong is not taken as flushed either, although the drive cannot know that: so
    /// what the store behind it has is always right, and whoever fetches it need not ask. Returns a unit that it was asked
    /// for, and whether that is clean now; none when there are no more.
    pub fn flush_read_ends(&mut self, command: u32, reported: bool) -> Option<(Lpa, bool)> {
        let position = self.flush_reads.0.iter().position(|read| read.command == command)?;
        let FlushRead { lpa, wrong, .. } = self.flush_reads.0.remove(position);
        let clean = !reported && !wrong;
        if clean {
            self.ftl.set_clean(lpa);
        }
        Some((lpa, clean))
    }
}
