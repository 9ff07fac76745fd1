//! Decisions of the firmware: what waited for one goes on when its step has ended.

use ninescope_kernel::WakeQueue;
use ninescope_model::{Op, Pool, Source};

use super::kind::Kind;
use super::{Device, Flow};
use crate::error::SimulationError;
use crate::firmware::{Decision, Firmware, FirmwareConfig, Step};
use crate::probe::{Event, observe};
use crate::transaction::{QueueClass, Transaction};

impl<K: Kind> Device<K> {
    /// Has decisions take time of cores. Before anything runs.
    ///
    /// # Panics
    /// If the drive is not of flash alone: whoever assembles the drive has checked it.
    pub fn set_firmware(&mut self, config: &FirmwareConfig) {
        let firmware = Firmware::new(config);
        if firmware.takes_time(Decision::Victim) {
            self.flash.choices_take_time();
        }
        self.run.firmware = Some(Box::new(firmware));
        self.goes_by_memory();
        assert_eq!(self.flow, Flow::FlashByMemory, "firmware has cores on drives of flash alone");
    }

    /// Steps have ended, or may begin.
    #[inline(never)]
    pub(super) fn firmware_woke(&mut self) -> Result<(), SimulationError> {
        let now = self.run.now;
        while let Some(step) = self.run.firmware.as_mut().and_then(|firmware| firmware.next_ended(now)) {
            self.is_decided(&step)?;
        }
        while let Some((step, core, until)) = self.run.firmware.as_mut().and_then(|firmware| firmware.next_begun(now)) {
            observe!(self, Event::StepTaken { step: &step, core, until });
            if let Some(power) = &mut self.run.power {
                power.core_works(now, until - now);
            }
        }
        let end = self.run.firmware.as_ref().and_then(|firmware| firmware.next_end());
        let resource = self.run.resources.firmware();
        match end {
            Some(end) => self.run.queue.schedule(resource, end),
            // What was asked for by what has ended was taken up, too.
            None => self.run.queue.cancel(resource),
        }
        Ok(())
    }

    fn is_decided(&mut self, step: &Step) -> Result<(), SimulationError> {
        match step.decision {
            Decision::Command => self.take_up_command(step.number),
            Decision::LookUp if self.host.command(step.number).op == Op::Trim => self.start_trim(step.number),
            Decision::LookUp => self.allocates(step.number),
            Decision::Allocation => self.ask_map_in_dram(step.number),
            Decision::Transaction => {
                for &access in step.accesses() {
                    self.flash.is_decided(&mut self.run, access);
                    let Transaction { source, class, .. } = self.run.transactions.slab[access];
                    if source == Source::Mapping && class == QueueClass::HostRead {
                        self.map_read_joined(access);
                    }
                }
                Ok(())
            }
            Decision::Victim => {
                self.flash.may_choose(Pool(step.number));
                Ok(())
            }
            Decision::Move => self.place_moves(step.number),
        }
    }

    // ---- the units of a command --------------------------------------------------------------------

    /// A command whose data are there, if it has any, asks where its units lie, and a write where they are to lie. Returns whether that
    /// takes time.
    pub(super) fn decides_about_units(&mut self, index: u32) -> bool {
        let units = self.units_of(index);
        self.run.decides_later(Decision::LookUp, index, units) || self.allocates_later(index, units)
    }

    /// Its units were looked up.
    fn allocates(&mut self, index: u32) -> Result<(), SimulationError> {
        let units = self.units_of(index);
        if self.allocates_later(index, units) { Ok(()) } else { self.ask_map_in_dram(index) }
    }

    fn allocates_later(&mut self, index: u32, units: u32) -> bool {
        self.host.command(index).op == Op::Write && self.run.decides_later(Decision::Allocation, index, units)
    }

    /// A command asks where the units lie that it forgets.
    pub(super) fn trim_looks_up(&mut self, index: u32) -> Result<(), SimulationError> {
        let units = self.units_of(index);
        if self.run.firmware.is_some() && self.run.decides_later(Decision::LookUp, index, units) {
            return Ok(());
        }
        self.start_trim(index)
    }

    /// Units that a command touches.
    fn units_of(&self, index: u32) -> u32 {
        let (lba, sectors) = (self.host.command(index).lba, u64::from(self.host.command(index).sectors));
        self.flash.unit_of(lba + sectors.max(1) - 1).0 - self.flash.unit_of(lba).0 + 1
    }
}
