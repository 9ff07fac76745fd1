//! Dies and their channels take turns: what the flash decides goes on to whoever waits for it.

use ninescope_kernel::{NONE, Ns};
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{ChannelId, DieId, Lpa, Ppa, SECTOR_BYTES, Source};

use super::Device;
use super::kind::Kind;
use crate::error::SimulationError;
use crate::flash::{Beside, Ending, ForPower, Granted, Leaving, Turn};
use crate::host::LinkJob;
use crate::probe::{Access, Event, Probe, observe};
use crate::reliability::Afterwards;
use crate::transaction::{BringsUp, QueueClass, Transaction, UnitRecord};

impl<K: Kind> Device<K> {
    // ---- a free die --------------------------------------------------------------------------------

    /// Issues the next command of a die if it is free and something waits; resumes a parked operation if
    /// nothing does.
    #[inline]
    pub(super) fn dispatch(&mut self, die: DieId) -> Result<(), SimulationError> {
        self.flash.touch_overdue(&self.run, die);
        if self.run.power.is_some() && self.waits_for_power(die)? {
            return Ok(());
        }
        let Some(turn) = self.flash.turn_of(&mut self.run, die) else { return Ok(()) };
        match turn {
            Turn::Issue(class) => self.issue(die, class)?,
            Turn::Resume => {
                self.flash.resume_parked(&mut self.run, die);
                observe!(self, Event::ResumeBegan { die });
            }
            Turn::Rest => self.die_may_rest(die)?,
            Turn::Fail => {
                self.die_fails(die)?;
                // What waits on it still goes to the spare.
                return self.dispatch(die);
            }
        }
        self.flash.turn_ends(&mut self.run, die);
        Ok(())
    }

    /// Whether a die has to wait for power with what it would do next.
    #[inline(never)]
    fn waits_for_power(&mut self, die: DieId) -> Result<bool, SimulationError> {
        self.drive_warms()?;
        match self.flash.ask_for_power(&mut self.run, die) {
            ForPower::Goes => Ok(false),
            comes @ (ForPower::GoesOn | ForPower::Leaves) => {
                observe!(self, Event::PowerComes { die, goes_on: comes == ForPower::GoesOn });
                Ok(false)
            }
            waits @ (ForPower::Waits | ForPower::BeginsToWait) => {
                if waits == ForPower::BeginsToWait {
                    observe!(self, Event::PowerAwaited { die });
                }
                self.flash.turn_ends(&mut self.run, die);
                Ok(true)
            }
        }
    }

    fn issue(&mut self, die: DieId, class: QueueClass) -> Result<(), SimulationError> {
        let mut command = self.flash.form_command(&mut self.run, die, class);
        self.code_command(&mut command);
        let station = self.flash.take_up(&mut self.run, &command, class);
        if self.dram.is_none() || !self.pages_leave_dram(&command) {
            self.flash.ask_to_send(&mut self.run, station);
        }
        if K::ACTIVE {
            let mut planes = [Access::default(); 4];
            let accesses = self.accesses_of(&command, &mut planes);
            observe!(self, Event::Dispatched { command: &command, class, accesses });
        }
        Ok(())
    }

    /// What a probe is told of a command's transactions.
    fn accesses_of<'a>(&self, command: &FlashCommand, planes: &'a mut [Access; 4]) -> &'a [Access] {
        let mut count = 0;
        for plane in command.addressed_planes() {
            planes[count] = self.access_of(command.transaction[plane]);
            count += 1;
        }
        &planes[..count]
    }

    /// The same of one of them.
    pub(super) fn access_of(&self, transaction: u32) -> Access {
        let transactions = &self.run.transactions;
        let access = transactions.slab[transaction];
        let Transaction { queued, source, class, tracked, .. } = access;
        let (slot, lpa, rests) = match (class, source) {
            (QueueClass::HostRead, Source::Host) => (access.command(), Lpa::NONE, 0),
            (QueueClass::HostRead, Source::ReadModifyWrite) => {
                let record = &transactions.units[access.records()];
                (record.parent, record.lpa, access.units)
            }
            (QueueClass::HostProgram, Source::Host) if tracked => {
                (transactions.units[access.records()].parent, Lpa::NONE, 0)
            }
            _ => (NONE, Lpa::NONE, 0),
        };
        let number = match (class, source) {
            (QueueClass::MoveRead, Source::Migration) => access.migration(),
            (QueueClass::HostRead | QueueClass::MoveRead, Source::Mapping) => access.map_page(),
            (QueueClass::HostRead | QueueClass::MoveRead | QueueClass::IdleRead, Source::Parity) => access.rebuilt(),
            _ => NONE,
        };
        Access { transaction, ppa: access.ppa(), queued, source, slot, lpa, rests, number }
    }

    // ---- a free channel ----------------------------------------------------------------------------

    /// Gives the channel to those that wait for it while it is free.
    #[inline]
    pub(super) fn arbitrate_channel(&mut self, channel: ChannelId) -> Result<(), SimulationError> {
        while let Some(granted) = self.flash.grant_channel(&mut self.run, channel) {
            match granted {
                Granted::Command(station) => self.send_command(station)?,
                Granted::Data(station) => self.send_data_out(station, channel)?,
            }
        }
        Ok(())
    }

    fn send_command(&mut self, station: u32) -> Result<(), SimulationError> {
        let command = self.flash.command_of(station);
        let encode = self.encode_time(&command);
        let (sent, begins) = self.flash.send_command(&mut self.run, (station, &command), encode)?;
        observe!(self, Event::CommandIssued { command: &command, sent, begins });
        Ok(())
    }

    /// Read data of each plane in turn. Each page goes on, to the host or through a decoder, as soon as it has left; what
    /// the drive read for itself is there when the last one has.
    fn send_data_out(&mut self, station: u32, channel: ChannelId) -> Result<(), SimulationError> {
        let command = self.flash.command_of(station);
        let decoded = self.has_codes();
        let mut leaving = Leaving::from(station, self.run.now);
        let mut held = self.run.now;
        for plane in command.addressed_planes() {
            let (index, to_host) = self.flash.page_leaves(&mut self.run, &command, plane, &mut leaving, decoded);
            if decoded {
                held = held.max(self.page_left(index, channel, leaving.left)?);
            } else if to_host {
                self.send_page(index, leaving.left);
            }
        }
        let held = held.max(leaving.left);
        self.flash.pages_leave(&mut self.run, &command, leaving, held);
        observe!(self, Event::DataOut { command: &command, until: leaving.left, held });
        Ok(())
    }

    /// The data of a host read is `ready` in the controller.
    #[inline]
    pub(super) fn send_page(&mut self, index: u32, ready: Ns) {
        if self.dram.is_some() && self.page_comes_into_dram(index, ready) {
            return;
        }
        let transaction = &self.run.transactions.slab[index];
        let bytes = u64::from(transaction.sectors) * SECTOR_BYTES;
        let job = LinkJob { ready, bytes, command: transaction.command(), transaction: index };
        self.host.send(&mut self.run, job);
    }

    // ---- a die that wakes --------------------------------------------------------------------------

    /// The die's wake-up came.
    #[inline]
    pub(super) fn die_woke(&mut self, die: DieId) -> Result<(), SimulationError> {
        if self.flash.is_beside(die.0) {
            return self.beside_woke(die.0);
        }
        match self.flash.ends_now(&self.run, die) {
            Some(Ending::Array) => self.array_ended(die)?,
            Some(Ending::DataOut) => self.data_left(die.0)?,
            Some(Ending::Stop) => {
                let lost = self.flash.stop_reached(&mut self.run, die);
                observe!(self, Event::Suspended { die, lost });
            }
            Some(Ending::Recovery) => {
                self.flash.recovered(&mut self.run, die);
                observe!(self, Event::Recovered { die });
            }
            Some(Ending::Ramp) => {
                self.flash.ramp_ended(&mut self.run, die);
                observe!(self, Event::Resumed { die });
            }
            Some(Ending::Idleness) => self.die_rests(die)?,
            None => {}
        }
        Ok(())
    }

    /// A plane that reads by itself, or a second register, has come to the end of something.
    #[inline(never)]
    fn beside_woke(&mut self, station: u32) -> Result<(), SimulationError> {
        match self.flash.beside_ended(station) {
            Beside::DataLeft => self.data_left(station)?,
            Beside::PageSensed => {
                let ended = self.flash.end_plane_read(&self.run, station)?;
                observe!(self, Event::CommandEnded { command: &ended.command });
                self.pages_sensed(&ended.command)?;
                self.flash.ask_to_send_data(&mut self.run, station);
            }
            Beside::PageFollowed => {
                let until = self.flash.page_moves(&mut self.run, station);
                observe!(self, Event::PageMoves { command: &self.flash.command_of(station), until });
            }
            Beside::PageMoved => self.flash.page_moved(&mut self.run, station),
        }
        Ok(())
    }

    /// A die has nothing to do: where its collection goes by that, it rests if that lasts, unless all is over.
    #[inline]
    fn die_may_rest(&mut self, die: DieId) -> Result<(), SimulationError> {
        match self.flash.rest_after(die) {
            None => Ok(()),
            Some(_) if self.host.is_over(self.run.now) => Ok(()),
            Some(Ns::ZERO) => self.die_rests(die),
            Some(after) => {
                self.flash.may_rest(&mut self.run, die, after);
                Ok(())
            }
        }
    }

    #[cold]
    fn die_rests(&mut self, die: DieId) -> Result<(), SimulationError> {
        if !self.host.is_over(self.run.now) {
            self.flash.rest_begins(&mut self.run, die);
            observe!(self, Event::DieRests { die });
        }
        Ok(())
    }

    fn array_ended(&mut self, die: DieId) -> Result<(), SimulationError> {
        let ended = self.flash.end_array(&mut self.run, die)?;
        observe!(self, Event::CommandEnded { command: &ended.command });
        match ended.command.kind {
            CommandKind::Read => {
                self.pages_sensed(&ended.command)?;
                self.flash.ask_to_send_data(&mut self.run, die.0);
                Ok(())
            }
            CommandKind::Program => {
                self.flash.command_ends(&mut self.run, &ended.command);
                self.pages_programmed(die, &ended.command)
            }
            CommandKind::Erase => {
                self.flash.command_ends(&mut self.run, &ended.command);
                let added_rber = self.flash.nand().added_rber(ended.excess_suspensions);
                let took = self.run.now - ended.began;
                self.run.meter.suspensions.record(ended.suspensions, ended.excess_suspensions, added_rber, took);
                if self.flash.dies_may_fail() {
                    self.missing_blocks_erased(&ended.command);
                }
                let plane = ended.command.planes.trailing_zeros() as usize;
                self.group_erased(ended.command.transaction[plane], ended.excess_suspensions)
            }
        }
    }

    /// The data is in the page registers: the blocks are no longer read.
    fn pages_sensed(&mut self, command: &FlashCommand) -> Result<(), SimulationError> {
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            self.run.page_sensed(index);
            if K::ACTIVE && self.probe.follows_data() {
                self.tell_what_was_sensed(index)?;
            }
            let afterwards = self.draw_what_was_sensed(index);
            if K::ACTIVE && self.has_codes() {
                self.tell_rate_drawn(index)?;
            }
            match afterwards {
                Afterwards::Nothing => self.flash.read_ended(&mut self.run, index),
                Afterwards::ReadAgain => observe!(self, Event::ReadWillRepeat { transaction: index }),
                Afterwards::Rebuilt => observe!(self, Event::ReadWillBeRebuilt { transaction: index }),
            }
        }
        Ok(())
    }

    /// Tells the probe which content is in the page register, by whom it was asked for.
    pub(super) fn tell_what_was_sensed(&mut self, index: u32) -> Result<(), SimulationError> {
        let transaction = self.run.transactions.slab[index];
        let (ppa, units) = (transaction.ppa(), transaction.units);
        match transaction.source {
            Source::Host => {
                let (slot, brings_up) = (transaction.command(), transaction.brings_up().get().unwrap_or(NONE));
                observe!(self, Event::HostUnitsSensed { slot, ppa, units, brings_up });
            }
            Source::ReadModifyWrite => {
                let mut record = transaction.records();
                for number in 0..u32::from(units) {
                    let UnitRecord { lpa, parent: slot, next, .. } = self.run.transactions.units[record];
                    observe!(self, Event::MergeSensed { slot, lpa, ppa: Ppa(ppa.0 + number) });
                    record = next;
                }
            }
            Source::Migration => {
                observe!(self, Event::MigrationUnitSensed { migration: transaction.migration(), ppa });
            }
            Source::Scrub => observe!(self, Event::ScrubSensed { ppa }),
            Source::Parity => observe!(self, Event::StripeSensed { transaction: index, ppa, units }),
            // Of a page as a whole, whatever it holds.
            Source::Rebuild => {}
            Source::Mapping => {
                let (page, for_commands) = (transaction.map_page(), transaction.is_waited_for());
                observe!(self, Event::MapPageSensed { page, ppa, for_commands });
            }
            Source::GarbageCollection => {
                let mut record = transaction.records();
                while record != NONE {
                    let UnitRecord { lpa, taken_from, next, .. } = self.run.transactions.units[record];
                    observe!(self, Event::MoveSensed { record, lpa, from: taken_from.place });
                    record = next;
                }
            }
        }
        Ok(())
    }

    /// The transfer of a read ended and somebody cares: the die goes on, and data that stays in the
    /// controller is there.
    fn data_left(&mut self, station: u32) -> Result<(), SimulationError> {
        let (command, staying, bringing_up) = self.flash.data_left(&mut self.run, station);
        for plane in command.addressed_planes().filter(|plane| staying >> plane & 1 == 1) {
            self.page_arrived(command.transaction[plane])?;
        }
        for migration in bringing_up.into_iter().filter_map(BringsUp::get) {
            self.migration_data_arrived(migration)?;
        }
        Ok(())
    }

    /// What the drive read for itself is in the controller.
    pub(super) fn page_arrived(&mut self, transaction: u32) -> Result<(), SimulationError> {
        match self.run.transactions.slab[transaction].source {
            Source::GarbageCollection => self.move_page_arrived(transaction),
            Source::Migration => {
                self.migration_read_arrived(transaction);
                self.migration_sectors_arrived(transaction)
            }
            Source::Scrub => self.scrub_page_arrived(transaction),
            Source::Mapping => self.map_page_read(transaction),
            Source::Host | Source::ReadModifyWrite => self.read_modify_write_arrived(transaction),
            Source::Parity => self.stripe_page_arrived(transaction),
            Source::Rebuild => {
                self.page_to_rebuild_arrived(transaction);
                Ok(())
            }
        }
    }
}
