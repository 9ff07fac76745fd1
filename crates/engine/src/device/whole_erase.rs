//! The drive is erased as a whole: formatted, or sanitized.
//!
//! What came before it is carried out first, and what comes after it is aborted until it is over. When nothing is under way any more
//! all units are forgotten, and all block groups that hold anything are erased. A format completes with the last of them, a sanitize
//! when they begin, as its standard has it.

use ninescope_kernel::{NONE, Ns};
use ninescope_model::{Cause, DriveErase, Lpa, Pool, Stream};

use super::Device;
use super::kind::Kind;
use crate::error::SimulationError;
use crate::meter::Parts;
use crate::probe::{Event, observe};
use crate::transaction::Writer;

/// An erase of the drive that is not over.
#[derive(Clone, Copy, Debug)]
pub(super) struct WholeErase {
    /// Its command, `NONE` when that has completed.
    slot: u32,
    /// The number of that.
    id: u64,
    what: DriveErase,
    /// Commands that came before it and are not done.
    before: u32,
    /// When it began; `NEVER` while something is under way.
    begun: Ns,
    /// Groups that are still to be erased.
    left: u32,
}

impl<K: Kind> Device<K> {
    /// Whether a command is one that erases the drive.
    #[inline]
    pub(super) fn erases_drive(&self, index: u32) -> bool {
        self.host.command(index).remark.erase() != DriveErase::None
    }

    /// It comes to the drive.
    #[inline(never)]
    pub(super) fn start_whole_erase(&mut self, index: u32) -> Result<(), SimulationError> {
        if self.flash.is_read_only() {
            self.refuse(index)?;
            return self.complete(index, &mut Parts::default(), NONE);
        }
        let command = self.host.sets_out(index, self.run.now);
        let (id, what, before) = (command.id, command.remark.erase(), self.host.inside_before(command.id));
        self.whole_erase = Some(WholeErase { slot: index, id, what, before, begun: Ns::NEVER, left: 0 });
        while self.whole_erase_goes_on()? {}
        Ok(())
    }

    /// Aborts a command that came after it. Returns whether it is aborted.
    #[inline(never)]
    pub(super) fn is_aborted(&mut self, index: u32) -> Result<bool, SimulationError> {
        let after = self.whole_erase.is_some_and(|erase| self.host.command(index).id > erase.id);
        if after {
            self.host.abort(index);
            self.run.counters.aborted_commands += 1;
            observe!(self, Event::CommandAborted { slot: index });
            self.complete(index, &mut Parts::default(), NONE)?;
        }
        Ok(after)
    }

    /// A command is over, which may have come before it.
    #[inline]
    pub(super) fn over_before_erase(&mut self, id: u64) {
        if let Some(erase) = self.whole_erase.as_mut().filter(|erase| id < erase.id) {
            erase.before -= 1;
        }
    }

    /// Garbage collection rests while the drive is about to be erased, and until it is.
    #[inline]
    pub(super) fn collection_rests(&self) -> bool {
        self.whole_erase.is_some_and(|erase| erase.before == 0)
    }

    /// It goes on as far as it can now. Returns whether it did.
    #[inline(never)]
    pub(super) fn whole_erase_goes_on(&mut self) -> Result<bool, SimulationError> {
        let Some(erase) = self.whole_erase.filter(|erase| erase.before == 0) else { return Ok(false) };
        if erase.begun == Ns::NEVER {
            if self.send_all_open_pages()? {
                return Ok(true);
            }
            let is_quiet = self.flash.is_quiet(self.run.now);
            if is_quiet {
                self.begin_whole_erase(erase)?;
            }
            return Ok(is_quiet);
        }
        if erase.left > 0 {
            return Ok(false);
        }
        self.whole_erase = None;
        self.run.counters.whole_erase_ns += (self.run.now - erase.begun).0;
        observe!(self, Event::WholeEraseEnded);
        if erase.slot != NONE {
            self.complete_whole_erase(erase)?;
        }
        (0..self.flash.geometry().pools()).for_each(|pool| self.flash.touch_collection(Pool(pool)));
        Ok(true)
    }

    /// Of what is written and of what is moved. Returns whether there were any.
    fn send_all_open_pages(&mut self) -> Result<bool, SimulationError> {
        let mut any = false;
        for pool in (0..self.flash.geometry().pools()).map(Pool) {
            for stream in self.flash.host_streams() {
                any |= self.pad_and_send(pool, stream)?;
            }
            if self.flash.moves_have_no_place(pool) {
                continue;
            }
            for kind in 0..self.flash.ftl().kinds() {
                any |= self.pad_and_send(pool, Stream::of_moves(kind))?;
            }
        }
        Ok(any)
    }

    fn begin_whole_erase(&mut self, mut erase: WholeErase) -> Result<(), SimulationError> {
        (erase.begun, self.run.counters.whole_erases) = (self.run.now, self.run.counters.whole_erases + 1);
        let (slot, units) = (erase.slot, self.flash.ftl().logical_units());
        self.host.covers(slot, 0, units.saturating_mul(self.flash.geometry().sectors_per_unit()));
        observe!(self, Event::WholeEraseBegan { slot, what: erase.what });
        for lpa in (0..units).map(Lpa) {
            self.flash.takes_noted_trim(lpa);
            let old = self.flash.trim(lpa);
            self.flash.sectors_forgotten(lpa);
            observe!(self, Event::UnitTrimmed { slot, lpa, old });
            self.unit_is_written(lpa, Writer::Command(slot))?;
            self.repair(lpa)?;
        }
        if erase.what != DriveErase::SanitizeCrypto {
            let groups = self.flash.give_all_up();
            erase.left = groups.len() as u32;
            for group in groups {
                self.flash.queue_erase(&mut self.run, group);
            }
        }
        if erase.what != DriveErase::Format {
            self.complete_whole_erase(erase)?;
            erase.slot = NONE;
        }
        self.whole_erase = Some(erase);
        Ok(())
    }

    /// Its command completes: where its time went.
    fn complete_whole_erase(&mut self, erase: WholeErase) -> Result<(), SimulationError> {
        let mut parts = Parts::default();
        parts.add(Cause::Ordering, erase.begun - self.host.command(erase.slot).mark);
        parts.add(Cause::DieErase, self.run.now - erase.begun);
        if let Some(tenants) = &mut self.run.transactions.tenants {
            tenants.waited_for_own_erase(erase.slot, (erase.begun, self.run.now));
        }
        self.complete(erase.slot, &mut parts, NONE)
    }

    /// A group is erased.
    #[inline]
    pub(super) fn erased_for_all(&mut self) {
        if let Some(erase) = self.whole_erase.as_mut().filter(|erase| erase.left > 0) {
            erase.left -= 1;
        }
    }
}
