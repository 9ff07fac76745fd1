//! Decisions of the firmware: what waited for one goes on when its step has ended.

use ninescope_kernel::WakeQueue;
use ninescope_model::{Lpa, Op, Pool, Source, ZoneCommand};

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
        let of_flash = matches!(self.flow, Flow::FlashByMemory | Flow::Zoned);
        assert!(of_flash, "firmware has cores on drives of flash alone");
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
            Decision::LookUp if self.allocates_later(step.number) => Ok(()),
            Decision::LookUp | Decision::Allocation => self.units_are_decided(step.number),
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
        self.run.decides_later(Decision::LookUp, index, units) || self.allocates_later(index)
    }

    /// The same of a command to zones: each zone is looked up once. Decisions of one kind take as long for each write, so that they end in
    /// the order in which the data of writes came.
    #[inline(never)]
    pub(super) fn decides_about_zones(&mut self, index: u32) -> bool {
        let zones = self.zones_of(index);
        self.run.decides_later(Decision::LookUp, index, zones) || self.allocates_later(index)
    }

    /// Where what a command writes is to lie: of each unit, and in a zone where the first one is to.
    fn allocates_later(&mut self, index: u32) -> bool {
        let command = self.host.command(index);
        let places = match (self.flow, command.op) {
            (Flow::Zoned, Op::Write) => 1,
            (Flow::Zoned, Op::Trim) => u32::from(command.remark.zone() == ZoneCommand::Commit),
            (_, Op::Write) => self.units_of(index),
            _ => 0,
        };
        self.run.decides_later(Decision::Allocation, index, places)
    }

    /// All of it was decided.
    fn units_are_decided(&mut self, index: u32) -> Result<(), SimulationError> {
        match (self.flow, self.host.command(index).op) {
            (Flow::Zoned, Op::Read) => self.start_zoned_read(index),
            (Flow::Zoned, Op::Write) => self.start_zoned_write(index),
            (Flow::Zoned, _) => self.zone_is_found(index),
            (_, Op::Trim) => self.start_trim(index),
            _ => self.ask_map_in_dram(index),
        }
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
        let (first, last) = self.first_and_last(index);
        last.0 - first.0 + 1
    }

    /// Zones that a command is about: that which it begins in, and of a read all of them.
    fn zones_of(&self, index: u32) -> u32 {
        let (first, last) = self.first_and_last(index);
        match self.flash.zones() {
            Some(zones) if self.host.command(index).op == Op::Read => {
                zones.layout().zone_and_offset(last).0 - zones.layout().zone_and_offset(first).0 + 1
            }
            _ => 1,
        }
    }

    fn first_and_last(&self, index: u32) -> (Lpa, Lpa) {
        let (lba, sectors) = (self.host.command(index).lba, u64::from(self.host.command(index).sectors));
        (self.flash.unit_of(lba), self.flash.unit_of(lba + sectors.max(1) - 1))
    }
}
