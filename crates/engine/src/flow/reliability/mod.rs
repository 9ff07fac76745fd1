//! Reads on their way through a decoder, and what the drive does by itself so that data stays good.
//!
//! Whether a page decodes is drawn when it is sensed, because its group may be erased before its data has left the die.
//! Nothing here runs on a drive without codes.

mod decode;
mod encode;
mod heal;
mod recover;
mod refresh;
mod scm;
mod scrub;

use ninescope_kernel::{Ns, WakeQueue};
use ninescope_model::{Lpa, Op};

use crate::device::Device;
use crate::error::SimulationError;
use crate::flow::WriteEntry;
use crate::host::HostCommand;
use crate::kind::Kind;
use crate::probe::{Event, ReadFrom, observe};
use crate::reliability::timetable::Appointment;
use crate::reliability::{Harm, NandCode, Reliability};

impl<K: Kind> Device<K> {
    /// The reliability of a drive that has it: nobody else calls.
    #[inline]
    pub(crate) fn reliable(&mut self) -> &mut Reliability {
        self.reliability.as_mut().expect("a drive with codes")
    }

    // ---- the timetable ---------------------------------------------------------------------------

    /// Notes something that will happen.
    pub(crate) fn note(&mut self, at: Ns, what: Appointment) {
        if self.reliable().timetable.note(at, what) {
            self.queue.schedule(self.resources.timetable(), at);
        }
    }

    /// The time of something has come.
    #[inline(never)]
    pub(crate) fn timetable_woke(&mut self) -> Result<(), SimulationError> {
        let now = self.now;
        while let Some(what) = self.reliable().timetable.due(now) {
            self.keep_appointment(what)?;
        }
        if let Some(next) = self.reliable().timetable.next() {
            self.queue.schedule(self.resources.timetable(), next);
        }
        Ok(())
    }

    fn keep_appointment(&mut self, what: Appointment) -> Result<(), SimulationError> {
        match what {
            Appointment::AtDecoder { transaction } => self.decode_page(transaction, 0, self.now).map(drop),
            Appointment::SectorsAtDecoder { bank, transaction } => {
                self.decode_sectors(bank, transaction, 0, self.now).map(drop)
            }
            Appointment::Decoded { transaction } => self.page_arrived(transaction),
            Appointment::BroughtUp { migration } => self.migration_data_arrived(migration),
            Appointment::Failed { transaction } => self.read_failed(transaction),
            Appointment::Refetched { transaction } => self.read_refetched(transaction),
            Appointment::Prefetched { lpa, from } => self.heal(lpa, from),
            Appointment::ScrubPass => self.begin_scrub_pass(),
            Appointment::RefreshCheck => self.check_ages(),
            Appointment::FirstCorruption => self.begin_corruption(),
            Appointment::TimedCorruption => self.corrupt_in_time(),
            Appointment::Corruption => self.corrupt_next(),
        }
    }

    /// Before the first event: the first timers, and what is corrupt from the start.
    pub(crate) fn start_reliability(&mut self) -> Result<(), SimulationError> {
        if std::mem::replace(&mut self.reliable().started, true) {
            return Ok(());
        }
        match self.reliable().corruption.as_ref().map(|corruption| corruption.at) {
            Some(Ns::ZERO) => self.begin_corruption()?,
            Some(at) => self.note(at, Appointment::FirstCorruption),
            None => {}
        }
        self.note_next_corruption();
        let part = self.reliable();
        let first_pass = part.scrub.as_ref().map(|scrub| scrub.first_pass());
        let check_period = part.refresh.as_ref().and_then(|refresh| refresh.check_period());
        if let Some(at) = first_pass {
            self.note(at, Appointment::ScrubPass);
        }
        if let Some(period) = check_period {
            self.note(period, Appointment::RefreshCheck);
        }
        Ok(())
    }

    /// Whether timers still mean something: the host may come with more.
    ///
    /// # Errors
    /// Where commands are inside and nothing but timers will ever happen: timers would go on for ever.
    pub(super) fn goes_on(&mut self) -> Result<bool, SimulationError> {
        let goes_on = !self.host_has_ended();
        let waits = !self.commands.is_empty() && self.queue.peek().is_none();
        if waits && self.reliable().pass.reads == 0 && self.reliable().timetable.has_only_timers() {
            self.drain_instant()?;
            if self.queue.peek().is_none() && self.reliable().timetable.has_only_timers() {
                self.check_quiet()?;
            }
        }
        Ok(goes_on)
    }

    /// Whether the host is over. It is noted by whoever asks first: a completion mostly, a timer where the last job began
    /// after the last completion and had nothing to ask for.
    pub(crate) fn host_has_ended(&mut self) -> bool {
        let over = self.host.is_over(self.now);
        self.reliable().host_ended |= over;
        over
    }

    /// A command completed. Behind the last one, nothing is waited for that only time brings.
    #[inline(never)]
    pub(crate) fn reliable_command_completed(&mut self, command: &HostCommand) {
        let part = self.reliable();
        if command.op == Op::Read {
            part.counters.reads_reported += u64::from(command.reported);
            part.counters.reads_wrong += u64::from(command.wrong && !command.reported);
        }
        if self.host_has_ended() {
            let timetable = &mut self.reliable().timetable;
            timetable.drop_timers();
            match timetable.next() {
                Some(next) => self.queue.schedule(self.resources.timetable(), next),
                None => self.queue.cancel(self.resources.timetable()),
            }
        }
    }

    // ---- what the host does ----------------------------------------------------------------------

    /// A host read has found out where a unit is.
    #[inline(never)]
    pub(crate) fn host_unit_read(&mut self, slot: u32, lpa: Lpa, from: ReadFrom) -> Result<(), SimulationError> {
        self.tell_damage(slot, lpa)?;
        if let ReadFrom::Media(ppa) = from {
            let edc = self.nand_code_of(ppa) == NandCode::Edc;
            let counters = &mut self.reliable().counters;
            *(if edc { &mut counters.edc_units_read } else { &mut counters.ecc_units_read }) += 1;
        }
        Ok(())
    }

    /// A read of something that is lost or wrong already says so, or passes it on.
    pub(crate) fn tell_damage(&mut self, slot: u32, lpa: Lpa) -> Result<(), SimulationError> {
        let damage = &self.reliable().damage;
        if !damage.is_any() {
            return Ok(());
        }
        let (lost, wrong) = (damage.is_lost(lpa), damage.is_wrong(lpa));
        if lost {
            self.report(slot, lpa)?;
        } else if wrong {
            self.pass_wrong(slot, lpa)?;
        }
        Ok(())
    }

    pub(super) fn report(&mut self, slot: u32, lpa: Lpa) -> Result<(), SimulationError> {
        self.commands[slot].reported = true;
        observe!(self, Event::ReadReported { slot, lpa });
        Ok(())
    }

    pub(super) fn pass_wrong(&mut self, slot: u32, lpa: Lpa) -> Result<(), SimulationError> {
        self.commands[slot].wrong = true;
        let flushed = self.flush_reads.iter_mut().find(|read| read.command == slot && read.lpa == lpa);
        if let Some(flushed) = flushed {
            flushed.wrong = true;
        }
        observe!(self, Event::ReadWrong { slot, lpa });
        Ok(())
    }

    /// A unit that the host writes was placed: it is as good as what was written, and what it was merged with.
    #[inline(never)]
    pub(crate) fn host_unit_written(&mut self, entry: &WriteEntry, lpa: Lpa) -> Result<(), SimulationError> {
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
    pub(crate) fn repair(&mut self, lpa: Lpa) -> Result<(), SimulationError> {
        let damage = &mut self.reliable().damage;
        if damage.is_any() && (damage.is_lost(lpa) || damage.is_wrong(lpa)) {
            damage.repair(lpa);
            observe!(self, Event::UnitRepaired { lpa });
        }
        Ok(())
    }

    /// A read of the drive's own left a unit lost or wrong.
    pub(crate) fn harm(&mut self, lpa: Lpa, harm: Harm) -> Result<(), SimulationError> {
        let part = self.reliable();
        match harm {
            Harm::Lost => {
                part.counters.units_lost += u64::from(part.damage.lose(lpa));
                observe!(self, Event::UnitLost { lpa });
            }
            Harm::Wrong => {
                part.counters.units_wrong += u64::from(part.damage.make_wrong(lpa));
                observe!(self, Event::UnitMadeWrong { lpa });
            }
        }
        Ok(())
    }

    /// What a page access of the drive's own did to the unit number `number` of it.
    pub(crate) fn harm_of(&self, transaction: u32, number: u32) -> Option<Harm> {
        let part = self.reliability.as_ref()?;
        let decoded = part.sensed.get(transaction as usize)?.decoded;
        if decoded.failed >> number & 1 == 1 {
            return Some(Harm::Lost);
        }
        (decoded.undetected >> number & 1 == 1).then_some(Harm::Wrong)
    }
}
