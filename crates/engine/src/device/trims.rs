//! TRIMs: units that are forgotten at once, or noted, and forgotten when they are written, when the host rests, or before garbage
//! collection goes on.

use std::ops::Range;

use ninescope_kernel::{NONE, Ns, WakeQueue};
use ninescope_model::{Lpa, Pool};

use super::Device;
use super::kind::Kind;
use crate::error::SimulationError;
use crate::meter::Parts;
use crate::probe::{Event, Forgotten, observe};
use crate::transaction::Writer;

impl<K: Kind> Device<K> {
    /// Forgets the whole units of a range, or notes them; parts of units at its ends are ignored, as devices may.
    pub(super) fn start_trim(&mut self, index: u32) -> Result<(), SimulationError> {
        if self.flash.is_read_only() {
            self.refuse(index)?;
            return self.complete(index, &mut Parts::default(), NONE);
        }
        let command = *self.host.command(index);
        let per_unit = u64::from(self.flash.geometry().sectors_per_unit());
        let (begin, end) = (command.lba, command.lba + u64::from(command.sectors));
        let whole = begin.div_ceil(per_unit)..end / per_unit;
        let covered = whole.end.saturating_sub(whole.start) * per_unit;
        self.run.counters.trim_sectors_ignored += u64::from(command.sectors) - covered;
        for unit in whole {
            let lpa = Lpa(unit as u32);
            if self.flash.note_trim(lpa) {
                self.run.counters.deferred_trims += 1;
                observe!(self, Event::TrimNoted { slot: index, lpa });
                continue;
            }
            let old = self.flash.trim(lpa);
            self.flash.sectors_forgotten(lpa);
            observe!(self, Event::UnitTrimmed { slot: index, lpa, old });
            self.unit_is_written(lpa, Writer::Command(index))?;
            self.flash.overtake_flush_reads(lpa);
            self.repair(lpa)?;
        }
        self.complete(index, &mut Parts::default(), NONE)
    }

    // ---- what is put off -----------------------------------------------------------------------------

    /// Units that are about to be written are forgotten first where they were trimmed: nothing of them is merged.
    #[inline]
    pub(super) fn forget_noted(&mut self, units: Range<u32>) -> Result<(), SimulationError> {
        if self.flash.noted_trims() > 0 { self.forget_each(units) } else { Ok(()) }
    }

    #[inline(never)]
    fn forget_each(&mut self, units: Range<u32>) -> Result<(), SimulationError> {
        for lpa in units.map(Lpa) {
            if self.flash.is_noted_trim(lpa) {
                self.forget(lpa, Forgotten::Written)?;
            }
        }
        Ok(())
    }

    /// A pool's collection is about to go on: what was trimmed is forgotten before, where the drive has it so.
    #[inline]
    pub(super) fn forget_before_collection(&mut self, pool: Pool) -> Result<(), SimulationError> {
        let forgets = self.flash.forgets_before_collection(&mut self.run, pool);
        if forgets { self.forget_all(Forgotten::BeforeCollection) } else { Ok(()) }
    }

    #[inline(never)]
    fn forget_all(&mut self, why: Forgotten) -> Result<(), SimulationError> {
        while let Some(lpa) = self.flash.next_noted_trim() {
            self.forget(lpa, why)?;
        }
        Ok(())
    }

    fn forget(&mut self, lpa: Lpa, why: Forgotten) -> Result<(), SimulationError> {
        self.flash.takes_noted_trim(lpa);
        let old = self.flash.trim(lpa);
        self.flash.sectors_forgotten(lpa);
        let counters = &mut self.run.counters;
        *match why {
            Forgotten::Written => &mut counters.trims_before_writes,
            Forgotten::AtRest => &mut counters.trims_at_rest,
            Forgotten::BeforeCollection => &mut counters.trims_before_collection,
        } += 1;
        observe!(self, Event::UnitForgotten { lpa, old, why });
        self.repair(lpa)
    }

    // ---- rest ----------------------------------------------------------------------------------------

    /// A command of the host came: what is put off stays so.
    #[inline]
    pub(super) fn trims_wait(&mut self) {
        if self.flash.deferral().is_some() {
            self.run.queue.cancel(self.run.resources.trims());
        }
    }

    /// A command completed; where nothing else is inside, what was trimmed is forgotten after a while.
    #[inline]
    pub(super) fn trims_may_begin(&mut self) {
        if self.flash.noted_trims() > 0 && self.host.inside() == 0 {
            self.await_next_trim(self.run.now);
        }
    }

    fn await_next_trim(&mut self, since: Ns) {
        if let Some(at) = self.flash.next_trim_at(since) {
            self.run.queue.schedule(self.run.resources.trims(), at);
        }
    }

    /// The drive has rested for long enough.
    #[inline(never)]
    pub(super) fn trims_woke(&mut self) -> Result<(), SimulationError> {
        let Some(deferral) = self.flash.deferral().copied() else { return Ok(()) };
        if deferral.entry_time == Ns::ZERO {
            return self.forget_all(Forgotten::AtRest);
        }
        if let Some(lpa) = self.flash.next_noted_trim() {
            self.forget(lpa, Forgotten::AtRest)?;
        }
        if self.flash.noted_trims() > 0 {
            self.run.queue.schedule(self.run.resources.trims(), self.run.now + deferral.entry_time);
        }
        Ok(())
    }
}
