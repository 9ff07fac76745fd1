//! What failing bits change in the flow of requests, and what the drive does by itself so that data stays good.
//!
//! Nothing here runs on a drive without codes: each hook asks whether it has any, and is out of line behind that.

mod decode;
mod die_fails;
mod heal;
mod map;
mod rebuild;
mod recover;
mod refresh;
mod scm;
mod scrub;

use ninescope_kernel::{Ns, WakeQueue};
use ninescope_model::{Lpa, Op, Ppa};

use super::Device;
use super::kind::Kind;
use crate::error::SimulationError;
use crate::flash::{ReadFrom, WriteEntry};
use crate::host::HostCommand;
use crate::probe::{Event, observe};
use crate::reliability::timetable::Appointment;
use crate::reliability::{Ground, Reliability};
use crate::run::Run;
use crate::transaction::Harm;

impl<K: Kind> Device<K> {
    /// The reliability of a drive that has it: nobody else calls.
    #[inline]
    fn reliable(&mut self) -> &mut Reliability {
        self.reliability.as_mut().expect("a drive with codes")
    }

    /// The same with the run that it is lent.
    #[inline]
    fn reliable_and_run(&mut self) -> (&mut Reliability, &mut Run<K::Queue>) {
        (self.reliability.as_mut().expect("a drive with codes"), &mut self.run)
    }

    /// Whether read data go through decoders, which may let them pass as they are.
    #[inline]
    pub(super) fn has_codes(&self) -> bool {
        self.reliability.is_some()
    }

    // ---- the timetable ---------------------------------------------------------------------------

    /// Notes something that will happen.
    fn note(&mut self, at: Ns, what: Appointment) {
        let (part, run) = self.reliable_and_run();
        part.note(run, at, what);
    }

    /// The time of something has come.
    #[inline(never)]
    pub(super) fn timetable_woke(&mut self) -> Result<(), SimulationError> {
        while let Some(what) = self.reliability.as_mut().and_then(|part| part.due(&mut self.run)) {
            self.keep_appointment(what)?;
        }
        Ok(())
    }

    fn keep_appointment(&mut self, what: Appointment) -> Result<(), SimulationError> {
        match what {
            Appointment::AtDecoder { transaction } => self.decode_page(transaction, 0, self.run.now).map(drop),
            Appointment::SectorsAtDecoder { bank, transaction } => {
                self.decode_sectors(bank, transaction, 0, self.run.now).map(drop)
            }
            Appointment::Decoded { transaction } => self.own_read_ends(transaction),
            Appointment::MapRebuilt { transaction } => self.map_rebuilt(transaction),
            Appointment::BroughtUp { migration } => self.migration_data_arrived(migration),
            Appointment::Failed { transaction } => self.read_failed(transaction),
            Appointment::Refetched { transaction } => self.read_refetched(transaction),
            Appointment::Prefetched { lpa, from } => self.heal(lpa, from),
            Appointment::ScrubPass => self.begin_scrub_pass(),
            Appointment::RefreshCheck => self.check_groups(),
            Appointment::FirstCorruption => self.begin_corruption(),
            Appointment::TimedCorruption => self.corrupt_in_time(),
            Appointment::Corruption => self.corrupt_next(),
            Appointment::DieFails { number } => {
                self.flash.die_is_due(&mut self.run, number);
                Ok(())
            }
            Appointment::RebuildGoesOn => self.rebuild_time_came(),
        }
    }

    /// Before the first event: the first timers, and what is corrupt from the start.
    pub(super) fn start_reliability(&mut self) -> Result<(), SimulationError> {
        let Some(part) = &mut self.reliability else { return Ok(()) };
        if !part.start() {
            return Ok(());
        }
        match part.corruption_begins() {
            Some(Ns::ZERO) => self.begin_corruption()?,
            Some(at) => self.note(at, Appointment::FirstCorruption),
            None => {}
        }
        self.note_die_failures();
        let (part, run) = self.reliable_and_run();
        part.note_next_corruption(run);
        part.note_first_timers(run);
        Ok(())
    }

    /// Whether timers still mean something: the host may come with more.
    ///
    /// # Errors
    /// Where commands are inside and nothing but timers will ever happen: timers would go on for ever.
    fn goes_on(&mut self) -> Result<bool, SimulationError> {
        let goes_on = !self.host_has_ended();
        let waits = self.host.inside() > 0 && self.run.queue.peek().is_none();
        if waits && !self.reliable().is_scrubbing() && self.reliable().has_only_timers() {
            self.drain_instant()?;
            if self.run.queue.peek().is_none() && self.reliable().has_only_timers() {
                self.check_quiet()?;
            }
        }
        Ok(goes_on)
    }

    /// Whether the host is over. It is noted by whoever asks first: a completion mostly, a timer where the last job began
    /// after the last completion and had nothing to ask for.
    pub(super) fn host_has_ended(&mut self) -> bool {
        let over = self.host.is_over(self.run.now);
        self.reliability.as_mut().is_some_and(|part| part.host_is_over(over))
    }

    // ---- what the host does ----------------------------------------------------------------------

    /// A command completed. Behind the last one, nothing is waited for that only time brings.
    #[inline]
    pub(super) fn command_completed(&mut self, command: &HostCommand) {
        if self.reliability.is_some() {
            self.reliable_command_completed(command);
        }
    }

    #[inline(never)]
    fn reliable_command_completed(&mut self, command: &HostCommand) {
        if command.op == Op::Read {
            self.reliable().count_read(command.reported, command.wrong);
        }
        if self.host_has_ended() {
            let (part, run) = self.reliable_and_run();
            part.drop_timers(run);
        }
    }

    /// A host read has found out where a unit is.
    #[inline]
    pub(super) fn host_unit_read(&mut self, slot: u32, lpa: Lpa, from: ReadFrom) -> Result<(), SimulationError> {
        if self.reliability.is_some() { self.reliable_unit_read(slot, lpa, from) } else { Ok(()) }
    }

    #[inline(never)]
    fn reliable_unit_read(&mut self, slot: u32, lpa: Lpa, from: ReadFrom) -> Result<(), SimulationError> {
        if !self.flash.reads_as_trimmed(lpa) {
            self.tell_damage(slot, lpa)?;
        }
        if let (ReadFrom::Media(ppa), Some(part)) = (from, &mut self.reliability) {
            part.count_unit_read(self.flash.ftl(), ppa);
        }
        Ok(())
    }

    /// A read of something that is lost or wrong already says so, or passes it on.
    #[inline]
    pub(super) fn tell_damage(&mut self, slot: u32, lpa: Lpa) -> Result<(), SimulationError> {
        match self.reliability.as_ref().and_then(|part| part.harm_at(lpa)) {
            Some(Harm::Lost) => self.report(slot, lpa),
            Some(Harm::Wrong) => self.pass_wrong(slot, lpa),
            None => Ok(()),
        }
    }

    fn report(&mut self, slot: u32, lpa: Lpa) -> Result<(), SimulationError> {
        self.host.report(slot);
        observe!(self, Event::ReadReported { slot, lpa });
        Ok(())
    }

    fn pass_wrong(&mut self, slot: u32, lpa: Lpa) -> Result<(), SimulationError> {
        self.host.pass_wrong(slot);
        self.flash.flush_read_is_wrong(slot, lpa);
        observe!(self, Event::ReadWrong { slot, lpa });
        Ok(())
    }

    /// A unit that the host writes was placed: it is as good as what was written, and what it was merged with.
    #[inline]
    pub(super) fn host_unit_written(&mut self, entry: &WriteEntry, lpa: Lpa) -> Result<(), SimulationError> {
        if self.reliability.is_some() { self.reliable_unit_written(entry, lpa) } else { Ok(()) }
    }

    #[inline(never)]
    fn reliable_unit_written(&mut self, entry: &WriteEntry, lpa: Lpa) -> Result<(), SimulationError> {
        if entry.merged_with.is_none() {
            return self.repair(lpa);
        }
        match entry.damage {
            Some(harm) => self.harm(lpa, harm),
            None => Ok(()),
        }
    }

    // ---- damage ----------------------------------------------------------------------------------

    /// A unit is written anew, or forgotten: what was wrong with it is over.
    #[inline]
    pub(super) fn repair(&mut self, lpa: Lpa) -> Result<(), SimulationError> {
        if self.reliability.as_mut().is_some_and(|part| part.repair(lpa)) {
            observe!(self, Event::UnitRepaired { lpa });
        }
        Ok(())
    }

    /// A read of the drive's own left a unit lost or wrong.
    fn harm(&mut self, lpa: Lpa, harm: Harm) -> Result<(), SimulationError> {
        self.reliable().harm(lpa, harm);
        match harm {
            Harm::Lost => observe!(self, Event::UnitLost { lpa }),
            Harm::Wrong => observe!(self, Event::UnitMadeWrong { lpa }),
        }
        Ok(())
    }

    /// What a page access of the drive's own did to the unit number `number` of it.
    #[inline]
    pub(super) fn harm_of(&self, transaction: u32, number: u32) -> Option<Harm> {
        self.reliability.as_ref()?.harm_of(transaction, number)
    }

    /// What a move did to its unit.
    #[inline]
    pub(super) fn move_harms(&mut self, transaction: u32, number: u32, lpa: Lpa) -> Result<(), SimulationError> {
        match self.harm_of(transaction, number) {
            Some(harm) => self.harm(lpa, harm),
            None => Ok(()),
        }
    }

    /// The die of a page has copied it: its raw errors are in the copy, too.
    pub(super) fn errors_go_along(&mut self, from: Ppa, to: Ppa) {
        if let Some(part) = &mut self.reliability {
            let (ftl, nand) = (self.flash.ftl(), self.flash.nand());
            part.copied(Ground { now: self.run.now, ftl, nand, transactions: &self.run.transactions }, from, to);
        }
    }

    /// A move got a place: counts what its unit was and is under.
    #[inline]
    pub(super) fn count_move(&mut self, from: Ppa, to: Ppa) {
        if let Some(part) = &mut self.reliability {
            part.count_move(self.flash.ftl(), from, to);
        }
    }
}
