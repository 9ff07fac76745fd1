//! A map that lies in flash: commands look their units up and wait for pages of it, and what changes of it is written.

use std::ops::Range;

use ninescope_kernel::{NONE, Ns, WakeQueue};
use ninescope_model::{Lpa, Op, Source};

use super::kind::Kind;
use super::tier::pages_of;
use super::write::Placing;
use super::{Device, Flow};
use crate::error::SimulationError;
use crate::flash::{ReadFrom, WriteEntry};
use crate::host::HostCommand;
use crate::mapping::{FetchFrom, MapStep, Mapping};
use crate::meter::MapHolders;
use crate::probe::{Event, observe};
use crate::transaction::{Transaction, Writer};

impl<K: Kind> Device<K> {
    /// Several tenants share a map that lies in flash.
    pub(super) fn follow_holders_of_map(&mut self) {
        let pages = self.flash.ftl().translation_units() as usize;
        if let (Some(tenants), Some(mapping)) = (&mut self.run.transactions.tenants, &mut self.mapping) {
            tenants.map = Some(MapHolders::new(pages, tenants.ledgers.holders()));
            mapping.tell_updates();
        }
    }

    /// A command that reads or writes sets out when all of the map is in memory that it needs, at once or later.
    pub(super) fn start_when_mapped(&mut self, index: u32) -> Result<(), SimulationError> {
        if self.look_up(index)? { Ok(()) } else { self.start_mapped(index) }
    }

    /// The same where there are two media: of a read, of what lies below. What was above when it was looked for and has left since
    /// is looked up then.
    pub(super) fn start_tiered_when_mapped(&mut self, index: u32) -> Result<(), SimulationError> {
        let waits = self.mapping.is_some() && self.look_up_below(index)?;
        if waits { Ok(()) } else { self.start_tiered_read(index) }
    }

    /// The same of a write: of what goes to flash at once.
    pub(super) fn start_tiered_write_when_mapped(&mut self, index: u32) -> Result<(), SimulationError> {
        let waits = self.mapping.is_some() && self.look_up_written_below(index)?;
        if waits { Ok(()) } else { self.start_tiered_write(index) }
    }

    fn start_mapped(&mut self, index: u32) -> Result<(), SimulationError> {
        if self.flow == Flow::Tier {
            return match self.host.command(index).op {
                Op::Write => self.start_tiered_write_when_mapped(index),
                _ => self.start_tiered_when_mapped(index),
            };
        }
        if self.host.command(index).op == Op::Read { self.start_read(index) } else { self.start_write(index) }
    }

    /// Looks up the units of a command, and has it wait for the pages that tell of those that are not in memory. Returns
    /// whether there are any.
    fn look_up(&mut self, index: u32) -> Result<bool, SimulationError> {
        let &HostCommand { lba, sectors, .. } = self.host.command(index);
        let (first, last) = (self.flash.unit_of(lba).0, self.flash.unit_of(lba + u64::from(sectors) - 1).0);
        // Most often one unit is asked for, whose entry is in memory.
        let is_at_once = |mapping: &mut Box<Mapping>| mapping.looks_up_at_once(first);
        if self.looks_up_as_placed() && self.host.command(index).op == Op::Write {
            return self.look_up_written_in_part(index, first..last + 1);
        }
        if !K::ACTIVE && first == last && self.mapping.as_mut().is_some_and(is_at_once) {
            return Ok(false);
        }
        self.look_up_units(index, first..last + 1)
    }

    /// Whether what is written is looked up when it gets its place.
    #[inline]
    fn looks_up_as_placed(&self) -> bool {
        self.mapping.as_ref().is_some_and(|mapping| mapping.programs_wait())
    }

    /// Whether a unit of a write can wait for its place to be looked up: nothing of it is to be read before.
    fn is_looked_up_as_placed(&self, index: u32, unit: u32) -> bool {
        self.looks_up_as_placed()
            && (self.writes_whole_unit(index, unit) || !matches!(self.rest_of(index, unit).0, ReadFrom::Media(_)))
    }

    /// The units of a write whose rest is to be read, for which it must be known where that lies.
    fn look_up_written_in_part(&mut self, index: u32, units: Range<u32>) -> Result<bool, SimulationError> {
        let mut waits = false;
        for unit in units {
            let is_later = self.is_looked_up_as_placed(index, unit);
            if !is_later && self.mapping.as_mut().is_some_and(|mapping| !mapping.looks_up_again(index, unit)) {
                waits |= self.look_up_units(index, unit..unit + 1)?;
            }
        }
        Ok(waits)
    }

    /// A unit of a command that writes gets its place. Where programs wait for the map it is looked up now, unless it was before.
    #[inline]
    pub(super) fn look_up_as_placed(&mut self, entry: &WriteEntry) -> Result<(), SimulationError> {
        if !self.looks_up_as_placed() {
            return Ok(());
        }
        let (index, unit) = (entry.command, entry.next);
        let was_before = !self.writes_whole_unit(index, unit)
            && self.mapping.as_mut().is_some_and(|mapping| mapping.looks_up_again(index, unit));
        if !was_before {
            self.look_up_units(index, unit..unit + 1)?;
        }
        Ok(())
    }

    /// The units of a read that have not all that it asks for above.
    fn look_up_below(&mut self, index: u32) -> Result<bool, SimulationError> {
        let HostCommand { lba, sectors, .. } = *self.host.command(index);
        let mut waits = false;
        for (page, mask) in pages_of(lba, sectors, self.sectors_per_page()) {
            let is_below = self.tiered().above(page) & mask != mask;
            if is_below && self.mapping.as_mut().is_some_and(|mapping| !mapping.looks_up_again(index, page)) {
                waits |= self.look_up_units(index, page..page + 1)?;
            }
        }
        Ok(waits)
    }

    /// The units of a write that go to flash at once.
    fn look_up_written_below(&mut self, index: u32) -> Result<bool, SimulationError> {
        let HostCommand { lba, sectors, .. } = *self.host.command(index);
        let mut waits = false;
        for (page, mask) in pages_of(lba, sectors, self.sectors_per_page()) {
            let goes_below =
                !self.is_looked_up_as_placed(index, page) && self.tiered().would_write_below(page, mask, sectors);
            if goes_below && self.mapping.as_mut().is_some_and(|mapping| !mapping.looks_up_again(index, page)) {
                waits |= self.look_up_units(index, page..page + 1)?;
            }
        }
        Ok(waits)
    }

    fn look_up_units(&mut self, index: u32, units: Range<u32>) -> Result<bool, SimulationError> {
        // From the first to the last unit that is missing of one page of the map.
        let mut missing: Option<Range<u32>> = None;
        let mut waits = false;
        for unit in units {
            let Some(mapping) = &mut self.mapping else { break };
            let hit = mapping.look_up(unit);
            let goes_on = !hit && self.host.command(index).op == Op::Write && !mapping.writes_wait();
            if goes_on && mapping.write_goes_on(self.flash.ftl(), unit) {
                let page = mapping.page_of(Lpa(unit));
                self.map_page_asked(page, index);
            }
            if goes_on {
                self.flash.awaits_entry(unit);
            }
            observe!(self, Event::EntryLookedUp { slot: index, lpa: Lpa(unit), hit, goes_on });
            self.tell_of_cache()?;
            if hit || goes_on {
                continue;
            }
            waits = true;
            let page_of = |unit: u32| self.mapping.as_ref().map(|mapping| mapping.page_of(Lpa(unit)));
            match &mut missing {
                Some(units) if page_of(units.start) == page_of(unit) => units.end = unit + 1,
                _ => {
                    let before = missing.replace(unit..unit + 1);
                    self.await_entries(index, before);
                }
            }
        }
        self.await_entries(index, missing);
        Ok(waits)
    }

    fn await_entries(&mut self, index: u32, units: Option<Range<u32>>) {
        if let (Some(mapping), Some(units)) = (&mut self.mapping, units) {
            let page = mapping.page_of(Lpa(units.start));
            if mapping.await_page(index, units, self.run.now) {
                self.map_page_asked(page, index);
            }
        }
    }

    /// How long a command that ends has waited for the map.
    pub(super) fn wait_for_map_of(&mut self, index: u32) -> Ns {
        self.mapping.as_mut().map_or(Ns::ZERO, |mapping| mapping.take_wait(index))
    }

    /// Whether any may be due.
    #[inline]
    pub(super) fn map_may_have_work(&self) -> bool {
        self.mapping.as_ref().is_some_and(|mapping| mapping.may_have_work())
    }

    /// Reads and writes of the map that are due. Returns whether there were any.
    #[inline(never)]
    pub(super) fn pump_map(&mut self) -> Result<bool, SimulationError> {
        let mut any = false;
        let (now, is_over) = (self.run.now, self.host.is_over(self.run.now));
        let next_step = |device: &mut Self| device.mapping.as_mut()?.next_step(device.flash.ftl(), is_over, now);
        while let Some(step) = next_step(self) {
            any = true;
            if let MapStep::Fetch { page, .. } = step
                && let Some(map) = self.map_holders()
            {
                map.comes(page, now);
            }
            match step {
                MapStep::Fetch { page, from: FetchFrom::Media } => self.read_map_page(page, true)?,
                MapStep::Fetch { page, from: FetchFrom::Controller } => self.commands_go_on(page, NONE)?,
                MapStep::Fetch { page, from: FetchFrom::Host(at) } => {
                    observe!(self, Event::MapPageAsked { page });
                    if self.mapping.as_ref().and_then(|mapping| mapping.next_from_host_at()) == Some(at) {
                        self.run.queue.schedule(self.run.resources.memory_timer(), at);
                    }
                }
                MapStep::Update { page, read: true } => self.read_map_page(page, false)?,
                MapStep::Update { page, read: false } => self.write_map_page(page)?,
            }
        }
        Ok(any)
    }

    /// What was asked of the host's memory is there, or comes to the link, or has crossed it.
    pub(super) fn memory_timer_woke(&mut self) -> Result<(), SimulationError> {
        let now = self.run.now;
        while let Some(asked) = self.mapping.as_mut().and_then(|mapping| mapping.next_from_host(now)) {
            if asked.bytes == 0 {
                self.commands_go_on(asked.page, NONE)?;
                continue;
            }
            let (from, until) = self.host.crosses_link_in(now, asked.bytes);
            observe!(self, Event::MapPageCrosses { page: asked.page, bytes: asked.bytes, from, until });
            if let Some(mapping) = &mut self.mapping {
                mapping.crosses_link(asked, until);
            }
        }
        while let Some(page) = self.mapping.as_mut().and_then(|mapping| mapping.next_over_link(now)) {
            self.commands_go_on(page, NONE)?;
        }
        if let Some(at) = self.mapping.as_ref().and_then(|mapping| mapping.next_from_host_at()) {
            self.run.queue.schedule(self.run.resources.memory_timer(), at);
        }
        Ok(())
    }

    fn read_map_page(&mut self, page: u32, is_waited_for: bool) -> Result<(), SimulationError> {
        let ppa = self.flash.ftl().translate(self.flash.ftl().translation_unit(page));
        self.run.counters.map_page_reads += 1;
        if is_waited_for {
            observe!(self, Event::MapPageFetched { page });
        }
        let moves = self.mapping.as_ref().filter(|_| is_waited_for).map_or(0, |mapping| mapping.fetch_bytes());
        let mut read = Transaction::map_read(ppa, page, is_waited_for, moves);
        // Whom it waits for matters where several tenants do.
        read.tracked = is_waited_for && self.run.transactions.tenants.is_some();
        let index = self.queue_read(read)?;
        if let Some(tenants) = &mut self.run.transactions.tenants
            && let Some(map) = &tenants.map
        {
            let holder = if is_waited_for { map.asked_by(page) } else { map.written_for(page) };
            tenants.counts_for(index, holder);
        }
        if is_waited_for {
            self.map_read_joined(index);
        }
        Ok(())
    }

    /// A read of a page of the map that commands wait for may have joined its die's queue, where it goes first if the drive does it so.
    pub(super) fn map_read_joined(&mut self, index: u32) {
        if let Some(mapping) = self.mapping.as_mut().filter(|mapping| mapping.reads_first())
            && self.flash.goes_first(&mut self.run, index)
        {
            mapping.went_ahead();
        }
    }

    /// A page of the map is in the controller, and goes into its memory.
    pub(super) fn map_page_read(&mut self, transaction: u32) -> Result<(), SimulationError> {
        if self.dram.is_some() && self.map_page_comes_into_dram(transaction) {
            return Ok(());
        }
        self.map_page_arrived(transaction)
    }

    /// A page of the map is in the controller's memory.
    pub(super) fn map_page_arrived(&mut self, transaction: u32) -> Result<(), SimulationError> {
        let read = self.run.transactions.slab[transaction];
        self.run.transactions.slab.remove(transaction);
        if read.is_waited_for() {
            self.commands_go_on(read.map_page(), transaction)
        } else {
            self.write_map_page(read.map_page())
        }
    }

    /// Commands that waited for a page of the map, which this access has read, set out, unless they wait for another one.
    fn commands_go_on(&mut self, page: u32, transaction: u32) -> Result<(), SimulationError> {
        if let Some(mapping) = &mut self.mapping {
            mapping.arrived(self.flash.ftl(), page, self.run.now);
        }
        observe!(self, Event::MapPageArrived { page });
        self.flash.entries_came(&mut self.run, page);
        if let Some(tenants) = &mut self.run.transactions.tenants {
            tenants.map_page_came(page, transaction);
        }
        self.tell_of_cache()?;
        while let Some((index, since)) = self.mapping.as_mut().and_then(|mapping| mapping.next_ready()) {
            if let Some(tenants) = &mut self.run.transactions.tenants {
                tenants.waited_for_map(index, (since, self.run.now));
            }
            self.start_mapped(index)?;
        }
        Ok(())
    }

    /// A page of the map is to be written as it is when it gets a place, if anything of the map is.
    fn write_map_page(&mut self, page: u32) -> Result<(), SimulationError> {
        if self.mapping.as_mut().is_some_and(|mapping| mapping.read_beside()) {
            let now = self.run.now;
            if let Some(map) = self.map_holders() {
                map.written(page, now);
            }
            return Ok(());
        }
        let unit = self.flash.ftl().translation_unit(page).0;
        self.place_or_stall(self.entry_of(Source::Mapping, page, unit))
    }

    /// Places a page of the map.
    #[inline(never)]
    pub(super) fn place_map_page(&mut self, entry: &WriteEntry) -> Result<Placing, SimulationError> {
        let page = entry.command;
        let Some(placed) = self.flash.write_map_page(page) else { return Ok(Placing::Waits) };
        if let Some(mapping) = &mut self.mapping {
            mapping.written(page);
        }
        let now = self.run.now;
        if let Some(map) = self.map_holders() {
            map.written(page, now);
        }
        observe!(self, Event::MapPageWritten { page, old: placed.old, new: placed.new });
        self.flash.map_page_placed(&mut self.run, &placed, page);
        Ok(Placing::Done)
    }

    /// A unit is written: it lies elsewhere from now on, or nowhere, and what changes of the map by that is for whom it was written.
    #[inline]
    pub(super) fn unit_is_written(&mut self, lpa: Lpa, writer: Writer) -> Result<(), SimulationError> {
        if self.mapping.is_some() && self.run.transactions.tenants.is_some() {
            self.map_is_changed_by(lpa, writer);
        }
        self.unit_lies_elsewhere(lpa)
    }

    #[inline(never)]
    fn map_is_changed_by(&mut self, lpa: Lpa, writer: Writer) {
        let (Some(tenants), Some(mapping)) = (&mut self.run.transactions.tenants, &self.mapping) else { return };
        let holder = tenants.of_writer(writer);
        if let Some(map) = &mut tenants.map {
            map.changed(mapping.page_of(lpa), holder);
        }
    }

    /// A command is the first of those that wait for a page of the map, or has it read beside what it writes.
    fn map_page_asked(&mut self, page: u32, command: u32) {
        if let Some(tenants) = &mut self.run.transactions.tenants {
            let tenant = tenants.of_command(command);
            if let Some(map) = &mut tenants.map {
                map.asked(page, tenant);
            }
        }
    }

    fn map_holders(&mut self) -> Option<&mut MapHolders> {
        self.run.transactions.tenants.as_mut()?.map.as_mut()
    }

    /// A unit lies elsewhere from now on, or nowhere.
    #[inline]
    pub(super) fn unit_lies_elsewhere(&mut self, lpa: Lpa) -> Result<(), SimulationError> {
        let Some(mapping) = &mut self.mapping else { return Ok(()) };
        mapping.changed(self.flash.ftl(), lpa);
        self.tell_of_cache()
    }

    /// Says what of the map is in memory now, and what is to be written.
    pub(super) fn tell_of_cache(&mut self) -> Result<(), SimulationError> {
        if self.run.transactions.tenants.is_some() {
            let now = self.run.now;
            while let Some(page) = self.mapping.as_mut().and_then(|mapping| mapping.next_update_wanted())
                && let Some(map) = self.map_holders()
            {
                map.is_to_be_written(page, now);
            }
        }
        if K::ACTIVE {
            while let Some(change) = self.mapping.as_mut().and_then(|mapping| mapping.next_change()) {
                observe!(self, Event::MapCacheChanged { change });
            }
        }
        Ok(())
    }
}
