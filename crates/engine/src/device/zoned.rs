//! Zones: commands are judged by the state of their zone, writes go where it says, and what manages zones waits for what it follows.
//!
//! A write is judged when its data is in the controller, in the order in which data comes. A reset and a finish begin when all writes
//! that their zone has taken have their places; the zone is judged then. What opens a random write area and what commits it is judged
//! when the data of writes that were taken up before it are there, as those are: the host need not wait in between.

use ninescope_ftl::{Placed, ZoneError, Zones};
use ninescope_kernel::{NONE, Ns};
use ninescope_model::{BlockGroup, Cause, Lpa, Ppa, ZoneCommand};

use super::Device;
use super::kind::Kind;
use super::write::Placing;
use crate::error::SimulationError;
use crate::flash::{MergedWith, WriteEntry};
use crate::host::HostCommand;
use crate::meter::Parts;
use crate::probe::{Event, observe};

/// A command that manages a zone, and is not done.
#[derive(Clone, Copy, Debug)]
pub(super) struct ZoneWork {
    /// The command.
    slot: u32,
    zone: u32,
    command: ZoneCommand,
    /// Of a commit: the units of its zone up to which it goes.
    end: u32,
    /// Writes that were taken up before it.
    behind: u64,
    /// The firmware has found its zone.
    is_found: bool,
    /// When it began; `NEVER` while it waits for writes of its zone, or for others that manage it.
    begun: Ns,
}

impl ZoneWork {
    /// Whether it is judged where it came among the writes, as they are, and waits for nothing else.
    fn is_in_order_of_writes(&self) -> bool {
        matches!(self.command, ZoneCommand::OpenZrwa | ZoneCommand::Commit)
    }
}

impl<K: Kind> Device<K> {
    /// A read asks for its zones.
    #[inline(never)]
    pub(super) fn zoned_read_comes(&mut self, index: u32) -> Result<(), SimulationError> {
        let later = self.run.firmware.is_some() && self.decides_about_zones(index);
        if later { Ok(()) } else { self.start_zoned_read(index) }
    }

    /// The data of a write is in the controller.
    #[inline(never)]
    pub(super) fn zoned_write_comes(&mut self, index: u32) -> Result<(), SimulationError> {
        let later = self.run.firmware.is_some() && self.decides_about_zones(index);
        if later { Ok(()) } else { self.start_zoned_write(index) }
    }

    /// Reads what a zone holds; what lies behind its write pointer reads as zeros.
    pub(super) fn start_zoned_read(&mut self, index: u32) -> Result<(), SimulationError> {
        let HostCommand { lba, sectors, .. } = *self.host.command(index);
        let (first, last) = (self.flash.unit_of(lba), self.flash.unit_of(lba + u64::from(sectors) - 1));
        match self.flash.zones().map_or(Ok(()), |zones| zones.read(first, last)) {
            Ok(()) => self.start_read(index),
            Err(error) => self.zone_refuses(index, (first, 0), ZoneCommand::None, error),
        }
    }

    /// A write whose data are there is judged: its zone takes it, or does not.
    pub(super) fn start_zoned_write(&mut self, index: u32) -> Result<(), SimulationError> {
        self.zoned_writes.1 += 1;
        let written = self.judge_write(index);
        // At the same instant, before the next write is judged.
        if written.is_ok() && self.zone_works.iter().any(ZoneWork::is_in_order_of_writes) {
            return self.pump_zones();
        }
        written
    }

    fn judge_write(&mut self, index: u32) -> Result<(), SimulationError> {
        let HostCommand { lba, sectors, fua, remark, .. } = *self.host.command(index);
        let command = remark.zone();
        let per_unit = self.flash.geometry().sectors_per_unit();
        let (lpa, units) = (self.flash.unit_of(lba), sectors / per_unit);
        let is_whole = lba % u64::from(per_unit) == 0 && sectors % per_unit == 0;
        // What is in the controller is safe, and no page of a zone is padded to be on the media earlier.
        let is_write = is_whole && !fua && matches!(command, ZoneCommand::None | ZoneCommand::Append);
        if is_write && command == ZoneCommand::None && self.takes_any_order(lpa) {
            return self.start_write_into_area(index, lpa, units);
        }
        let answer = if is_write {
            self.flash.zone_takes(lpa, units, command == ZoneCommand::Append)
        } else {
            Err(ZoneError::InvalidField)
        };
        match answer {
            Ok(first) => {
                self.host.goes_to(index, u64::from(first.0) * u64::from(per_unit));
                observe!(self, Event::ZoneAnswered { slot: index, lpa, units, command, answer });
                self.start_write(index)
            }
            Err(error) => self.zone_refuses(index, (lpa, units), command, error),
        }
    }

    /// A command completes with an error.
    pub(super) fn zone_refuses(
        &mut self,
        index: u32,
        (lpa, units): (Lpa, u32),
        command: ZoneCommand,
        error: ZoneError,
    ) -> Result<(), SimulationError> {
        self.refuse_with(index, (lpa, units), command, error, &mut Parts::default())
    }

    fn refuse_with(
        &mut self,
        index: u32,
        (lpa, units): (Lpa, u32),
        command: ZoneCommand,
        error: ZoneError,
        parts: &mut Parts,
    ) -> Result<(), SimulationError> {
        self.host.refuse(index, error);
        if let Some(zones) = self.flash.zones_mut() {
            zones.refuse(error);
        }
        observe!(self, Event::ZoneAnswered { slot: index, lpa, units, command, answer: Err(error) });
        self.complete(index, parts, NONE)
    }

    /// Places as many units of a write that a zone took as can be.
    #[inline(never)]
    pub(super) fn place_in_zone(&mut self, entry: &mut WriteEntry) -> Result<Placing, SimulationError> {
        let sectors = u64::from(self.flash.geometry().sectors_per_unit());
        if self.has_area(Lpa(entry.next)) {
            return self.place_out_of_area(entry);
        }
        while entry.next < entry.end {
            let lpa = Lpa(entry.next);
            let Some(placed) = self.flash.write_in_zone(lpa) else { return Ok(Placing::Waits) };
            let Placed { old, new, .. } = placed;
            let merged_with = MergedWith::Nothing;
            observe!(self, Event::UnitWritten { slot: entry.command, lpa, old, new, merged_with });
            self.run.counters.host_sectors_placed += sectors;
            if self.run.transactions.tenants.is_some() {
                self.flash.written_by(&mut self.run, &placed, entry.command);
            }
            self.flash.host_unit_placed(&mut self.run, &placed, None);
            entry.next += 1;
            entry.begun = true;
        }
        Ok(Placing::Done)
    }

    // ---- management --------------------------------------------------------------------------------

    /// A TRIM manages a zone: it has its place among the writes and among what else does, and waits there until the firmware has found
    /// the zone.
    #[inline(never)]
    pub(super) fn zone_is_managed(&mut self, index: u32) -> Result<(), SimulationError> {
        if let Ok(work) = self.work_of(index) {
            self.zone_works.push(work);
        }
        let later = self.run.firmware.is_some() && self.decides_about_zones(index);
        if later { Ok(()) } else { self.zone_is_found(index) }
    }

    /// The zone is there that a TRIM is about.
    pub(super) fn zone_is_found(&mut self, index: u32) -> Result<(), SimulationError> {
        self.host.sets_out(index, self.run.now);
        if let Err((lpa, named)) = self.work_of(index) {
            return self.zone_refuses(index, (lpa, 0), named, ZoneError::InvalidField);
        }
        if let Some(work) = self.zone_works.iter_mut().find(|work| work.slot == index) {
            work.is_found = true;
        }
        self.pump_zones()
    }

    /// What a TRIM asks of its zone; one that names no command resets the zone that it covers. An error where it asks for nothing that a
    /// TRIM may: the unit and what it names.
    fn work_of(&self, index: u32) -> Result<ZoneWork, (Lpa, ZoneCommand)> {
        let HostCommand { lba, sectors, remark, .. } = *self.host.command(index);
        let (named, per_unit) = (remark.zone(), self.flash.geometry().sectors_per_unit());
        let lpa = self.flash.unit_of(lba);
        let layout = self.flash.zones().map(Zones::layout).ok_or((lpa, named))?;
        let (zone, offset) = layout.zone_and_offset(lpa);
        let is_zone =
            offset == 0 && lba % u64::from(per_unit) == 0 && sectors == layout.size().saturating_mul(per_unit);
        let end = lba + u64::from(sectors) - u64::from(layout.first_unit(zone).0) * u64::from(per_unit);
        let is_whole = end.is_multiple_of(per_unit.into());
        let command = match named {
            ZoneCommand::None if is_zone => ZoneCommand::Reset,
            ZoneCommand::Commit if !is_whole => return Err((lpa, named)),
            ZoneCommand::None | ZoneCommand::Append => return Err((lpa, named)),
            named => named,
        };
        let (end, behind) = ((end / u64::from(per_unit)) as u32, self.zoned_writes.0);
        Ok(ZoneWork { slot: index, zone, command, end, behind, is_found: false, begun: Ns::NEVER })
    }

    /// What manages zones goes on as far as it can now.
    #[inline(never)]
    pub(super) fn pump_zones(&mut self) -> Result<(), SimulationError> {
        let mut at = 0;
        while let Some(work) = self.zone_works.get(at).copied() {
            let mut before = self.zone_works[..at].iter().filter(|other| other.zone == work.zone);
            let waits = if !work.is_found {
                true
            } else if work.is_in_order_of_writes() {
                self.zoned_writes.1 < work.behind || before.any(|other| other.begun == Ns::NEVER)
            } else {
                work.begun == Ns::NEVER && (before.next().is_some() || self.flash.has_writes_waiting(work.zone))
            };
            if waits || !self.zone_work_goes_on(at, work)? {
                at += 1;
            }
        }
        Ok(())
    }

    /// Returns whether it is done, and does not wait any more.
    fn zone_work_goes_on(&mut self, at: usize, mut work: ZoneWork) -> Result<bool, SimulationError> {
        if work.begun == Ns::NEVER {
            work.begun = self.run.now;
            self.zone_works[at].begun = self.run.now;
            if let Err(error) = self.begin_zone_work(work)? {
                self.zone_works.remove(at);
                let first = self.flash.zones().map_or(Lpa(0), |zones| zones.layout().first_unit(work.zone));
                let mut parts = self.parts_of_zone_work(work);
                self.refuse_with(work.slot, (first, 0), work.command, error, &mut parts)?;
                return Ok(true);
            }
        }
        if work.command == ZoneCommand::Commit {
            // It waits in the line of writes, if at all.
            self.zone_works.remove(at);
            return Ok(true);
        }
        if work.command == ZoneCommand::Finish
            && self.zone_holds_something(work.zone)
            && self.area_is_emptied(work.slot, work.zone)?
        {
            while let Some(padded) = self.flash.pad_zone(&mut self.run, work.zone) {
                observe!(self, Event::Padded { last: padded.last });
            }
        }
        if !self.zone_work_is_done(work) {
            return Ok(false);
        }
        self.zone_works.remove(at);
        let mut parts = self.parts_of_zone_work(work);
        self.complete(work.slot, &mut parts, NONE)?;
        Ok(true)
    }

    fn begin_zone_work(&mut self, work: ZoneWork) -> Result<Result<(), ZoneError>, SimulationError> {
        let ZoneWork { slot, zone, command, .. } = work;
        if command == ZoneCommand::Commit {
            return self.begin_commit(slot, zone, work.end);
        }
        let Some(zones) = self.flash.zones_mut() else { return Ok(Err(ZoneError::InvalidField)) };
        if let Err(error) = zones.manage(zone, command) {
            return Ok(Err(error));
        }
        let lpa = zones.layout().first_unit(zone);
        observe!(self, Event::ZoneAnswered { slot, lpa, units: 0, command, answer: Ok(lpa) });
        if command == ZoneCommand::Reset {
            let per_unit = self.flash.geometry().sectors_per_unit();
            let size = self.flash.zones().map_or(0, |zones| zones.layout().size());
            self.host.covers(slot, u64::from(lpa.0) * u64::from(per_unit), size.saturating_mul(per_unit));
            self.reset_zone(slot, zone)?;
        }
        Ok(Ok(()))
    }

    /// Nothing of a zone counts any more: its blocks are erased as soon as nothing is on its way to them or read from them.
    fn reset_zone(&mut self, slot: u32, zone: u32) -> Result<(), SimulationError> {
        let Some(layout) = self.flash.zones().map(Zones::layout) else { return Ok(()) };
        let groups: Vec<BlockGroup> = layout.groups(zone).collect();
        let first = layout.first_unit(zone).0;
        for lpa in (first..first + layout.size()).map(Lpa) {
            let old = self.flash.trim(lpa);
            observe!(self, Event::UnitTrimmed { slot, lpa, old });
        }
        for group in groups {
            let Some(dropped) = self.flash.reset_group(&mut self.run, group) else { continue };
            observe!(self, Event::ZoneDropped { dropped });
            if self.flash.ftl().may_be_erased(group) {
                self.flash.queue_erase(&mut self.run, group);
            }
        }
        Ok(())
    }

    /// One that held nothing is full without a program.
    fn zone_holds_something(&self, zone: u32) -> bool {
        self.flash.zones().is_some_and(|zones| zones.zone(zone).placed > 0 || zones.has_area(zone))
    }

    fn zone_work_is_done(&self, work: ZoneWork) -> bool {
        let ftl = self.flash.ftl();
        match work.command {
            ZoneCommand::Reset => !ftl.zone_is_being_erased(work.zone),
            ZoneCommand::Finish => {
                let is_whole = |zones: &Zones| zones.zone(work.zone).placed == zones.layout().capacity();
                let is_padded = !self.zone_holds_something(work.zone) || ftl.zones().is_none_or(is_whole);
                is_padded && ftl.zone_is_programmed(work.zone)
            }
            _ => true,
        }
    }

    /// Where the time of such a command went: behind writes of its zone first.
    fn parts_of_zone_work(&mut self, work: ZoneWork) -> Parts {
        let mut parts = Parts::default();
        let came = self.host.command(work.slot).mark;
        parts.add(Cause::Ordering, work.begun - came);
        let cause = if work.command == ZoneCommand::Reset { Cause::DieErase } else { Cause::ProgramWait };
        parts.add(cause, self.run.now - work.begun);
        let span = (work.begun, self.run.now);
        match &mut self.run.transactions.tenants {
            Some(tenants) if cause == Cause::ProgramWait => tenants.flushed(work.slot, span),
            Some(tenants) => tenants.waited_for_own_erase(work.slot, span),
            None => {}
        }
        parts
    }

    // ---- ends --------------------------------------------------------------------------------------

    /// A page of a zone is on the media.
    #[inline(never)]
    pub(super) fn zone_page_programmed(&mut self, ppa: Ppa) {
        let group = self.flash.group_of(ppa);
        if self.flash.ftl().may_be_erased(group) {
            self.flash.queue_erase(&mut self.run, group);
        }
    }
}
