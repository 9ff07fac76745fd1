//! A die that fails: what lay on it is found by the rest of its parity stripe, and written again on the die that stands for it.

use ninescope_kernel::Ns;
use ninescope_model::{DieId, Source};

use crate::device::Device;
use crate::device::kind::Kind;
use crate::error::SimulationError;
use crate::probe::{Event, Probe, observe};
use crate::reliability::timetable::Appointment;
use crate::reliability::{Afterwards, Ground, RebuildStep};
use crate::transaction::{PageToRebuild, Transaction};

impl<K: Kind> Device<K> {
    /// Notes when dies fail.
    pub(super) fn note_die_failures(&mut self) {
        let times: Vec<Ns> = self.flash.die_failures().collect();
        for (number, at) in times.into_iter().enumerate() {
            self.note(at, Appointment::DieFails { number });
        }
    }

    /// A die fails, which has nothing under way: reads that waited on it for what is missing now go on without it.
    #[cold]
    pub(in crate::device) fn die_fails(&mut self, die: DieId) -> Result<(), SimulationError> {
        let reads = self.flash.fail_die(&mut self.run, die);
        let now = self.run.now;
        let number = self.flash.number_of_failed(die);
        self.reliable().die_failed(number, now);
        observe!(self, Event::DieFailed { die });
        for index in reads {
            self.page_is_missing(index, false)?;
        }
        self.rebuild_goes_on()
    }

    /// Queues a read of what lay on a die that failed: it goes to no die.
    #[cold]
    pub(in crate::device) fn read_missing(&mut self, read: Transaction) -> Result<u32, SimulationError> {
        let index = self.flash.read_of_missing(&mut self.run, read);
        self.page_is_missing(index, false)?;
        Ok(index)
    }

    /// An access reads what lay on a die that failed: all of it is as if no decoder had made it good, or of what would be read `again`
    /// what did not decode.
    pub(super) fn page_is_missing(&mut self, index: u32, again: bool) -> Result<(), SimulationError> {
        let part = self.reliability.as_mut().expect("a drive with codes");
        let (ftl, nand) = (self.flash.ftl(), self.flash.nand());
        let ground = Ground { now: self.run.now, ftl, nand, transactions: &self.run.transactions };
        let afterwards = part.sense_missing(ground, index, again);
        if K::ACTIVE {
            let (access, class) = (self.access_of(index), self.run.transactions.slab[index].class);
            let units = self.run.transactions.slab[index].units;
            observe!(self, Event::PageMissing { access: &access, class, units });
            if self.probe.follows_data() {
                self.tell_what_was_sensed(index)?;
            }
        }
        if afterwards == Afterwards::Nothing {
            self.flash.read_ended(&mut self.run, index);
        }
        self.note(self.run.now, Appointment::Failed { transaction: index });
        Ok(())
    }

    // ---- rebuild -------------------------------------------------------------------------------------

    /// Reads what is to be written again, as far as the rate and what is under way let it.
    pub(super) fn rebuild_goes_on(&mut self) -> Result<(), SimulationError> {
        if self.flash.geometry().parity.is_none() || self.host_has_ended() {
            return Ok(());
        }
        let now = self.run.now;
        loop {
            let Some(page) = self.flash.page_to_rebuild() else {
                self.reliable().looked_past(usize::MAX);
                break;
            };
            self.reliable().looked_past(page.number);
            match self.reliable().next_rebuild(now) {
                RebuildStep::Wait => break,
                RebuildStep::At(at) => {
                    self.note(at, Appointment::RebuildGoesOn);
                    break;
                }
                RebuildStep::Begin => {}
            }
            self.flash.begin_to_rebuild(page);
            self.begin_to_rebuild(page)?;
        }
        let ended = self.reliable().end_rebuilds(now);
        for number in ended {
            let die = self.flash.failed_die(number);
            observe!(self, Event::DieRebuilt { die });
        }
        Ok(())
    }

    /// The time between two pages is over.
    pub(super) fn rebuild_time_came(&mut self) -> Result<(), SimulationError> {
        self.reliable().rebuild_time_came();
        self.rebuild_goes_on()
    }

    fn begin_to_rebuild(&mut self, page: PageToRebuild) -> Result<(), SimulationError> {
        let units = self.flash.geometry().units_per_page() as u8;
        let read = Transaction::rebuild_read(page.ppa, units);
        let group = self.flash.stripe_read_queued(page.ppa);
        self.group_read(group)?;
        observe!(self, Event::ReadQueued { ppa: page.ppa, source: Source::Rebuild, class: read.class });
        let index = self.read_missing(read)?;
        let now = self.run.now;
        self.reliable().rebuild_page_begins(now, index, page);
        Ok(())
    }

    /// The stripe of a page is in the controller, or no good: pages are programmed in the order in which they lie.
    pub(in crate::device) fn page_to_rebuild_arrived(&mut self, index: u32) {
        let lost = self.reliable().bad_units(index) != 0;
        self.reliable().rebuild_page_read(index, lost);
        self.run.transactions.slab.remove(index);
        while let Some(page) = self.reliable().next_to_program() {
            let program = self.flash.write_rebuilt(&mut self.run, page.ppa);
            self.reliable().rebuild_programs(program);
        }
    }

    /// A page is on the die that stands for the one that failed. What was lost is missing still.
    #[cold]
    pub(in crate::device) fn page_rebuilt(&mut self, index: u32) -> Result<(), SimulationError> {
        let ppa = self.run.transactions.slab[index].ppa();
        let lost = self.reliable().rebuild_page_programmed(index);
        self.flash.page_is_back(ppa, !lost);
        observe!(self, Event::PageRebuilt { ppa, lost });
        self.flash.read_ended(&mut self.run, index);
        self.run.transactions.slab.remove(index);
        self.rebuild_goes_on()
    }

    /// A die erased blocks of which something was missing.
    #[cold]
    pub(in crate::device) fn missing_blocks_erased(&mut self, command: &ninescope_media::nand::FlashCommand) {
        let mut pages = 0;
        for plane in command.addressed_planes() {
            pages += self.flash.missing_erased(command.die, plane as u32, command.block[plane]);
        }
        self.reliable().missing_erased(pages);
    }
}
