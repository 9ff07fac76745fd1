//! What happens when a die's present phase ends.

use ninescope_kernel::NONE;
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{DieId, Occupancy, Source};

use super::DiePhase;
use crate::device::Device;
use crate::error::SimulationError;
use crate::kind::Kind;
use crate::probe::{Event, Probe, observe};
use crate::transaction::{BringsUp, Transaction, UnitRecord};

impl<K: Kind> Device<K> {
    /// The die's wake-up came.
    #[inline]
    pub(crate) fn die_woke(&mut self, die: DieId) -> Result<(), SimulationError> {
        match self.dies[die.index()].phase {
            DiePhase::Array if self.nand.stop_time(die) == Some(self.now) => self.stop_reached(die)?,
            DiePhase::Array => self.array_ended(die)?,
            DiePhase::DataOut => self.data_left(die)?,
            DiePhase::Recovering => self.recovered(die)?,
            DiePhase::Resuming => self.ramp_ended(die)?,
            DiePhase::Free | DiePhase::WaitingToSend | DiePhase::WaitingForDataOut => {
                debug_assert!(false, "a die without a timed phase has no wake-up");
            }
        }
        Ok(())
    }

    pub(super) fn set_free(&mut self, die: DieId) {
        let unit = &mut self.dies[die.index()];
        unit.phase = DiePhase::Free;
        unit.ledger.enter(self.now, Occupancy::Idle);
        self.touched.set(die.index());
    }

    fn array_ended(&mut self, die: DieId) -> Result<(), SimulationError> {
        let now = self.now;
        let ended = self.nand.end_array(die, now).map_err(|source| SimulationError::Illegal { at: now, source })?;
        observe!(self, Event::CommandEnded { command: &ended.command });
        match ended.command.kind {
            CommandKind::Read => {
                self.pages_sensed(&ended.command)?;
                self.dies[die.index()].phase = DiePhase::WaitingForDataOut;
                self.request_channel(die);
                Ok(())
            }
            CommandKind::Program => {
                if self.dies[die.index()].shared {
                    self.close_shares(die, now);
                }
                self.set_free(die);
                self.pages_programmed(die, &ended.command)
            }
            CommandKind::Erase => {
                self.set_free(die);
                let added_rber = self.nand.added_rber(ended.excess_suspensions);
                let took = now - ended.began;
                self.meter.suspensions.record(ended.suspensions, ended.excess_suspensions, added_rber, took);
                let plane = ended.command.planes.trailing_zeros() as usize;
                let transaction = ended.command.transaction[plane];
                if self.reliability.is_some() {
                    self.reliable_group_erased(transaction, ended.excess_suspensions);
                }
                self.group_erased(transaction)
            }
        }
    }

    /// The data is in the page registers: the blocks are no longer read.
    fn pages_sensed(&mut self, command: &FlashCommand) -> Result<(), SimulationError> {
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            let transaction = self.transactions.slab[index];
            if transaction.tracked {
                let track = &mut self.transactions.tracks[index as usize];
                track.command_array = self.now - track.mark;
                track.mark = self.now;
            }
            if K::ACTIVE && self.probe.follows_data() {
                self.tell_what_was_sensed(&transaction)?;
            }
            if self.reliability.is_some() {
                self.draw_what_was_sensed(index);
            }
            if self.reliability.is_some() && self.will_be_read_again(index) {
                observe!(self, Event::ReadWillRepeat { transaction: index });
                continue;
            }
            let group = self.geometry.group_and_offset(transaction.ppa()).0;
            if self.ftl.read_ended(group) {
                self.last_reader_left(group);
            }
        }
        Ok(())
    }

    /// Tells the probe which content is in the page register, by whom it was asked for.
    fn tell_what_was_sensed(&mut self, transaction: &Transaction) -> Result<(), SimulationError> {
        let (ppa, units) = (transaction.ppa(), transaction.units);
        match transaction.source {
            Source::Host => {
                let (slot, brings_up) = (transaction.command(), transaction.brings_up().get().unwrap_or(NONE));
                observe!(self, Event::HostUnitsSensed { slot, ppa, units, brings_up });
            }
            Source::ReadModifyWrite => {
                let UnitRecord { lpa, parent: slot, .. } = self.transactions.units[transaction.records()];
                observe!(self, Event::MergeSensed { slot, lpa, ppa });
            }
            Source::Migration => {
                observe!(self, Event::MigrationUnitSensed { migration: transaction.migration(), ppa });
            }
            Source::Scrub => observe!(self, Event::ScrubSensed { ppa }),
            Source::GarbageCollection => {
                let mut record = transaction.records();
                while record != NONE {
                    let UnitRecord { lpa, taken_from, next, .. } = self.transactions.units[record];
                    observe!(self, Event::MoveSensed { record, lpa, from: taken_from.place });
                    record = next;
                }
            }
        }
        Ok(())
    }

    /// The transfer of a read ended and somebody cares: the die goes on, and data that stays in the
    /// controller is there.
    fn data_left(&mut self, die: DieId) -> Result<(), SimulationError> {
        let command = self.dies[die.index()].command;
        self.set_free(die);
        let staying = self.dies[die.index()].staying_planes;
        for plane in command.addressed_planes().filter(|plane| staying >> plane & 1 == 1) {
            let index = command.transaction[plane];
            self.page_arrived(index)?;
        }
        let bringing_up = std::mem::take(&mut self.dies[die.index()].bringing_up);
        for migration in bringing_up.into_iter().filter_map(BringsUp::get) {
            self.migration_data_arrived(migration)?;
        }
        Ok(())
    }

    /// What the drive read for itself is in the controller.
    pub(crate) fn page_arrived(&mut self, transaction: u32) -> Result<(), SimulationError> {
        match self.transactions.slab[transaction].source {
            Source::GarbageCollection => self.gc_page_arrived(transaction),
            Source::Migration => {
                if self.reliability.is_some() {
                    self.migration_read_arrived(transaction);
                }
                self.migration_sectors_arrived(transaction)
            }
            Source::Scrub => self.scrub_page_arrived(transaction),
            Source::Host | Source::ReadModifyWrite => self.read_modify_write_arrived(transaction),
        }
    }
}
