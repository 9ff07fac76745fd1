//! The controller's DRAM: what goes through it before it goes on, and what of a request's time was for it.

use std::ops::RangeInclusive;

use ninescope_kernel::{NONE, Ns, WakeQueue};
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{BankId, Cause, ChannelId, DieId, Op, SECTOR_BYTES, Source};

use super::kind::Kind;
use super::tier::pages_of;
use super::{Device, Flow};
use crate::dram::{Dram, DramAccess, DramConfig, DramUse};
use crate::error::SimulationError;
use crate::flash::WriteEntry;
use crate::host::{HostCommand, LinkJob};
use crate::meter::{DRAM, Parts, SPLIT_WHOLE};
use crate::policies::mapping::ENTRY_BYTES;
use crate::probe::{Event, observe};

/// The channel of a cache in DRAM, which is the first of all media.
const CACHE_CHANNEL: ChannelId = ChannelId(0);

impl<K: Kind> Device<K> {
    /// Gives the drive a DRAM. Before anything runs.
    pub fn set_dram(&mut self, config: &DramConfig) {
        let holders = self.run.transactions.tenants.as_ref().map_or(1, |tenants| tenants.ledgers.holders());
        self.dram = Some(Box::new(Dram::new(config, holders)));
        self.goes_by_memory();
    }

    /// Commands wait for memory of the controller or what is in it.
    pub(super) fn goes_by_memory(&mut self) {
        self.waits_for_memory = true;
        if self.flow == Flow::Flash {
            self.flow = Flow::FlashByMemory;
        }
    }

    // ---- the bus -----------------------------------------------------------------------------------

    /// Somebody asks for the bus.
    fn ask_dram(&mut self, mut access: DramAccess) {
        if let Some(tenants) = &self.run.transactions.tenants {
            access.holder = match access.usage {
                DramUse::MapIn => tenants.of_access(access.transaction),
                DramUse::PageOut | DramUse::MapOut => {
                    tenants.ledgers.holder(self.run.resources.die(self.die_of_program(&access)))
                }
                _ => tenants.of_command(access.command),
            };
        }
        if let Some(dram) = &mut self.dram {
            dram.ask(access);
        }
        self.await_dram();
    }

    /// Sets the wake-up of the bus.
    fn await_dram(&mut self) {
        let Some(dram) = &self.dram else { return };
        let (resource, at) = (self.run.resources.dram(), dram.next_at().map(|at| at.max(self.run.now)));
        if let Some(at) = at.filter(|at| self.run.queue.wake_time(resource) != *at) {
            self.run.queue.schedule(resource, at);
        }
    }

    /// An access has ended, or the next one may begin.
    #[inline(never)]
    pub(super) fn dram_woke(&mut self) -> Result<(), SimulationError> {
        let now = self.run.now;
        let Some(ended) = self.dram.as_mut().map(|dram| dram.ended(now)) else { return Ok(()) };
        let of_cache = if self.has_cache_in_dram() { self.scm.first_asked(CACHE_CHANNEL) } else { None };
        if let Some((access, until)) = self.dram.as_mut().and_then(|dram| dram.begin(now, of_cache)) {
            observe!(self, Event::DramTaken { access: &access, until });
            if let Some(power) = &mut self.run.power {
                power.dram_works(now, access.bytes);
            }
            if matches!(access.usage, DramUse::PageOut | DramUse::MapOut) {
                self.programs_wait(&access, until);
            }
            if let Some(tenants) = self.run.transactions.tenants.as_mut().filter(|_| of_cache.is_some()) {
                let channel = self.run.resources.bank_channel(CACHE_CHANNEL);
                tenants.ledgers.channel_taken(channel, access.holder, now, until);
            }
        }
        if let Some(access) = ended {
            self.dram_access_ended(&access)?;
        }
        if of_cache.is_some() && self.dram.as_ref().is_some_and(|dram| dram.is_free(now)) {
            // It takes the bus before time moves on, and sets the wake-up of its end then.
            self.scm.channel_woke(CACHE_CHANNEL);
        } else {
            self.await_dram();
        }
        Ok(())
    }

    /// What waited for an access goes on.
    fn dram_access_ended(&mut self, access: &DramAccess) -> Result<(), SimulationError> {
        match access.usage {
            DramUse::WriteIn if self.cuts_through() => {
                let mut parts = self.run.transactions.take_merge(access.merge);
                self.end_part(access.command, &mut parts, NONE)
            }
            DramUse::WriteIn if self.flow == Flow::Tier => self.start_tiered_write_when_mapped(access.command),
            DramUse::WriteIn => self.look_up_in_dram(access.command),
            DramUse::LookUp if self.flow == Flow::Tier => self.start_tiered_when_mapped(access.command),
            DramUse::LookUp => self.start_when_mapped(access.command),
            DramUse::ReadIn => {
                self.ask_dram(DramAccess { usage: DramUse::ReadOut, asked: self.run.now, ..*access });
                Ok(())
            }
            DramUse::ReadOut => {
                let DramAccess { command, transaction, link_bytes: bytes, .. } = *access;
                let ready = self.run.now;
                self.host.send(&mut self.run, LinkJob { ready, bytes, command, transaction });
                Ok(())
            }
            DramUse::MapIn => self.map_page_arrived(access.transaction),
            DramUse::PageOut | DramUse::MapOut => {
                self.pages_are_out(access);
                Ok(())
            }
        }
    }

    // ---- a cache behind the same bus ---------------------------------------------------------------

    fn has_cache_in_dram(&self) -> bool {
        self.dram.as_ref().is_some_and(|dram| dram.config().cache)
    }

    /// Whether banks may ask for a channel now: that of a cache is the bus of DRAM, which may be taken by something else.
    pub(super) fn cache_may_have_dram(&self, channel: ChannelId) -> bool {
        channel != CACHE_CHANNEL
            || !self.has_cache_in_dram()
            || self.dram.as_ref().is_none_or(|dram| !dram.has_access())
    }

    /// A bank was given its channel until then.
    pub(super) fn cache_has_dram(&mut self, bank: BankId, until: Ns) {
        if !self.has_cache_in_dram() || self.scm.layout().channel_of_bank(bank) != CACHE_CHANNEL {
            return;
        }
        let tenants = self.run.transactions.tenants.as_ref();
        let holder = tenants.map_or(0, |tenants| tenants.ledgers.holder(self.run.resources.bank(bank)));
        if let Some(dram) = &mut self.dram {
            dram.taken_by_cache(self.run.now, until, holder);
        }
        self.await_dram();
    }

    // ---- commands ----------------------------------------------------------------------------------

    /// The data of a write have crossed the link.
    pub(super) fn write_comes_into_dram(&mut self, index: u32) -> Result<(), SimulationError> {
        if !self.goes_into_dram_first() {
            return self.look_up_in_dram(index);
        }
        self.come_in(index, u64::from(self.host.command(index).sectors), NONE);
        Ok(())
    }

    /// The same on a drive with two media, of what goes below at once: what goes to its slot crosses the bus on the way there, if
    /// the slot lies in DRAM.
    #[inline(never)]
    pub(super) fn tiered_write_comes_into_dram(&mut self, index: u32) -> Result<(), SimulationError> {
        match if self.goes_into_dram_first() { self.sectors_written_below(index) } else { 0 } {
            0 => self.start_tiered_write_when_mapped(index),
            below => {
                self.come_in(index, u64::from(below), NONE);
                Ok(())
            }
        }
    }

    /// How many sectors of a write would go below at once.
    fn sectors_written_below(&mut self, index: u32) -> u32 {
        let HostCommand { lba, sectors, .. } = *self.host.command(index);
        let pages = pages_of(lba, sectors, self.sectors_per_page());
        let below = pages.filter(|&(page, mask)| self.tiered().would_write_below(page, mask, sectors));
        below.map(|(_, mask)| mask.count_ones()).sum()
    }

    fn goes_into_dram_first(&self) -> bool {
        self.dram.as_ref().is_some_and(|dram| dram.config().goes_in_first())
    }

    /// Whether data go to their dies as they come into the write buffer.
    #[inline]
    pub(super) fn cuts_through(&self) -> bool {
        self.waits_for_memory && self.dram.as_ref().is_some_and(|dram| dram.config().cut_through)
    }

    /// A write that is cut through sets out. What gets its place at once comes in together; all of one that waits for its program
    /// comes in beside that, as another part of it.
    #[inline(never)]
    pub(super) fn cut_through_sets_out(&mut self, index: u32) {
        if self.ends_at_program(self.host.command(index)) {
            let tiered = self.flow == Flow::Tier;
            let sectors = if tiered { self.sectors_written_below(index) } else { self.host.command(index).sectors };
            if sectors > 0 {
                self.come_in_as_another_part(index, u64::from(sectors), NONE);
            }
        } else if let Some(dram) = &mut self.dram {
            dram.sets_out(index);
        }
    }

    /// The write has set out.
    #[inline(never)]
    pub(super) fn cut_through_has_set_out(&mut self, index: u32) {
        let Some(incoming) = self.dram.as_mut().and_then(|dram| dram.has_set_out()) else { return };
        match incoming.parts {
            0 if incoming.sectors == 0 => {}
            0 => self.come_in_as_another_part(index, incoming.sectors, NONE),
            parts => {
                for _ in 1..parts {
                    self.host.part_ends(index);
                }
                self.come_in(index, incoming.sectors, NONE);
            }
        }
    }

    /// Sectors of an entry got their place in the buffer, those of some of its units.
    #[inline(never)]
    pub(super) fn some_come_in(&mut self, entry: &WriteEntry, units: u32) {
        if entry.source != Source::Host || entry.at_program {
            return;
        }
        let sectors = u64::from(units) * self.sectors_of_each(entry);
        if self.dram.as_mut().is_some_and(|dram| dram.joins_incoming(entry.command, sectors, false)) {
            return;
        }
        // Where the rest of the entry is refused the command may end with this.
        let parts = self.parts_before_placing(entry);
        let merge = self.run.transactions.keep_merge(Some(&parts));
        self.come_in_as_another_part(entry.command, sectors, merge);
    }

    /// The last units of an entry got their places: it is done when they are in.
    #[inline(never)]
    pub(super) fn the_last_come_in(&mut self, entry: &WriteEntry, units: u32) {
        let sectors = u64::from(units) * self.sectors_of_each(entry);
        let parts = self.parts_before_placing(entry);
        if self.dram.as_mut().is_some_and(|dram| dram.joins_incoming(entry.command, sectors, true)) {
            // Nothing of a command that sets out has waited.
            return;
        }
        let merge = self.run.transactions.keep_merge(Some(&parts));
        self.come_in(entry.command, sectors, merge);
    }

    fn come_in_as_another_part(&mut self, index: u32, sectors: u64, merge: u32) {
        self.run.transactions.has_several_parts(index, false);
        self.host.has_another_part(index);
        self.come_in(index, sectors, merge);
    }

    fn come_in(&mut self, command: u32, sectors: u64, merge: u32) {
        let crossing = DramAccess::of(DramUse::WriteIn, sectors * SECTOR_BYTES, self.run.now);
        self.ask_dram(DramAccess { command, merge, ..crossing });
    }

    /// A command asks the map where its units lie: one row for each page of it, one entry for each unit.
    pub(super) fn look_up_in_dram(&mut self, index: u32) -> Result<(), SimulationError> {
        if self.run.firmware.is_some() && self.decides_about_units(index) {
            return Ok(());
        }
        self.ask_map_in_dram(index)
    }

    pub(super) fn ask_map_in_dram(&mut self, index: u32) -> Result<(), SimulationError> {
        if self.dram.as_ref().is_none_or(|dram| !dram.config().map) {
            return self.start_when_mapped(index);
        }
        let (lba, sectors) = (self.host.command(index).lba, self.host.command(index).sectors);
        let (first, last) = (self.flash.unit_of(lba).0, self.flash.unit_of(lba + u64::from(sectors) - 1).0);
        self.ask_for_entries(index, first..=last);
        Ok(())
    }

    /// A read of two media asks the map where what lies below is, if anything does.
    #[inline(never)]
    pub(super) fn tiered_read_looks_up(&mut self, index: u32) -> Result<(), SimulationError> {
        if self.dram.as_ref().is_none_or(|dram| !dram.config().map) {
            return self.start_tiered_when_mapped(index);
        }
        let (lba, sectors) = (self.host.command(index).lba, self.host.command(index).sectors);
        let per_page = self.sectors_per_page();
        let is_below = |device: &mut Self, page: u32, mask: u32| device.tiered().above(page) & mask != mask;
        let mut pages = pages_of(lba, sectors, per_page).filter(|&(page, mask)| is_below(self, page, mask));
        let Some((first, _)) = pages.next() else { return self.start_tiered_when_mapped(index) };
        let last = pages.last().map_or(first, |(page, _)| page);
        self.ask_for_entries(index, first..=last);
        Ok(())
    }

    /// Entries of units that follow each other.
    fn ask_for_entries(&mut self, index: u32, units: RangeInclusive<u32>) {
        let of_page = self.flash.geometry().unit_bytes / ENTRY_BYTES;
        let rows = units.end() / of_page - units.start() / of_page + 1;
        let bytes = u64::from(units.end() - units.start() + 1) * u64::from(ENTRY_BYTES);
        self.ask_dram(DramAccess { command: index, rows, ..DramAccess::of(DramUse::LookUp, bytes, self.run.now) });
    }

    // ---- data --------------------------------------------------------------------------------------

    /// The data of a host read of flash is `ready` in the controller. Returns whether it goes through DRAM.
    #[inline(never)]
    pub(super) fn page_comes_into_dram(&mut self, index: u32, ready: Ns) -> bool {
        let access = self.run.transactions.slab[index];
        if !access.is_of_flash() || self.dram.as_ref().is_none_or(|dram| !dram.config().read_data) {
            return false;
        }
        let (command, bytes) = (access.command(), u64::from(access.sectors) * SECTOR_BYTES);
        let crossing = DramAccess::of(DramUse::ReadIn, bytes, ready);
        self.ask_dram(DramAccess { command, transaction: index, ..crossing });
        true
    }

    /// Of a read the controller answers so many bytes by itself, and holds so many sectors of them. Returns whether these lie in
    /// DRAM.
    #[inline(never)]
    pub(super) fn answer_leaves_dram(&mut self, index: u32, link_bytes: u64, held: u32) -> bool {
        if self.dram.as_ref().is_none_or(|dram| !dram.config().write_buffer) {
            return false;
        }
        let crossing = DramAccess::of(DramUse::ReadOut, u64::from(held) * SECTOR_BYTES, self.run.now);
        self.ask_dram(DramAccess { command: index, link_bytes, ..crossing });
        true
    }

    /// A die takes up a program: the pages of it that lie in DRAM are read from there before they go over the channel, in one
    /// go. Returns whether there are any.
    #[inline(never)]
    pub(super) fn pages_leave_dram(&mut self, command: &FlashCommand) -> bool {
        let Some(config) = self.dram.as_ref().map(|dram| dram.config()) else { return false };
        let (of_buffer, map) = (config.goes_in_first(), config.map);
        if command.kind != CommandKind::Program {
            return false;
        }
        let slab = &self.run.transactions.slab;
        let pages_of = |source: Source| {
            let programs = command.addressed_planes().map(|plane| &slab[command.transaction[plane]]);
            let of_source = programs.filter(|program| program.source == source);
            of_source.map(|program| self.flash.pages_held(program.ppa())).sum::<u32>()
        };
        let of_host = if of_buffer { pages_of(Source::Host) } else { 0 };
        let of_map = if map { pages_of(Source::Mapping) } else { 0 };
        let rows = of_host + of_map;
        if rows == 0 {
            command.addressed_planes().for_each(|plane| self.no_data_in_dram(command.transaction[plane]));
            return false;
        }
        let usage = if of_host > 0 { DramUse::PageOut } else { DramUse::MapOut };
        // Parity is made on the way.
        let bytes = u64::from(rows) * u64::from(self.flash.geometry().page_bytes);
        let transaction = command.transaction[command.planes.trailing_zeros() as usize];
        self.flash.waits_for_data(&mut self.run, command.die);
        self.ask_dram(DramAccess { transaction, rows, ..DramAccess::of(usage, bytes, self.run.now) });
        true
    }

    /// The die whose program has its pages read from DRAM.
    fn die_of_program(&self, access: &DramAccess) -> DieId {
        self.flash.geometry().die_of(self.run.transactions.slab[access.transaction].ppa())
    }

    /// Pages of a program are being read from DRAM until then: what waits for its end waits for that.
    fn programs_wait(&mut self, access: &DramAccess, until: Ns) {
        let command = self.flash.command_of(self.die_of_program(access).0);
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            if self.run.transactions.slab[index].tracked
                && let Some(dram) = &mut self.dram
            {
                dram.note_program(index, access, (self.run.now, until));
            }
        }
    }

    /// They have been read.
    fn pages_are_out(&mut self, access: &DramAccess) {
        let (die, now) = (self.die_of_program(access), self.run.now);
        let command = self.flash.command_of(die.0);
        for plane in command.addressed_planes() {
            if self.run.transactions.slab[command.transaction[plane]].tracked {
                self.run.transactions.data_are_there(command.transaction[plane], now);
            }
        }
        self.flash.ask_to_send(&mut self.run, die.0);
    }

    /// A page of the map, or what is wanted of it, was read. Returns whether it goes into DRAM first.
    #[inline(never)]
    pub(super) fn map_page_comes_into_dram(&mut self, transaction: u32) -> bool {
        if self.dram.as_ref().is_none_or(|dram| !dram.config().map) {
            return false;
        }
        let bytes = self.run.transactions.slab[transaction].read_bytes(self.flash.geometry().unit_bytes);
        let crossing = DramAccess::of(DramUse::MapIn, u64::from(bytes), self.run.now);
        self.ask_dram(DramAccess { transaction, ..crossing });
        true
    }

    /// A page access of a host read answers with an error.
    pub(super) fn no_data_in_dram(&mut self, transaction: u32) {
        if let Some(dram) = &mut self.dram {
            dram.has_no_data(transaction);
        }
    }

    /// The last part of a read is none that the controller answers.
    pub(super) fn ends_without_answer(&mut self, command: u32) {
        if let Some(dram) = &mut self.dram {
            dram.forget_answer(command);
        }
    }

    // ---- where time goes ---------------------------------------------------------------------------

    /// The access of flash with which a command ends and whose data were in DRAM, `NONE` where it ends with what the controller
    /// answered; none where it ends with something else.
    fn data_ended_with(&self, index: u32, transaction: u32) -> Option<u32> {
        let config = self.dram.as_ref()?.config();
        let DramConfig { cut_through, read_data, map, .. } = *config;
        let of_flash = || transaction != NONE && self.run.transactions.slab[transaction].is_of_flash();
        let had_data = match self.host.command(index).op {
            Op::Read => transaction == NONE || read_data && of_flash(),
            Op::Write if cut_through && transaction == NONE => true,
            // Beside pages of the map its program waits for them.
            Op::Write => (config.goes_in_first() || map) && of_flash(),
            Op::Trim | Op::Flush => false,
        };
        had_data.then_some(transaction)
    }

    /// Whether a command ends with an access of a cache in DRAM.
    fn ended_in_cache(&self, transaction: u32) -> bool {
        self.has_cache_in_dram() && transaction != NONE && {
            let access = &self.run.transactions.slab[transaction];
            !access.is_of_flash() && self.scm.layout().medium_of_slot(access.slot()) == 0
        }
    }

    /// Adds what a command that ends waited for the map and for DRAM. What an access of a cache in DRAM took, waits for its bank
    /// included, was for DRAM.
    #[inline(never)]
    pub(super) fn add_waits_for_memory(&mut self, index: u32, parts: &mut Parts, transaction: u32) {
        if self.mapping.is_some() {
            parts.add(Cause::MappingRead, self.wait_for_map_of(index));
        }
        if let Some(firmware) = &mut self.run.firmware {
            parts.add(Cause::Firmware, firmware.time_of(index, transaction));
            firmware.forget(index);
        }
        if self.dram.is_none() {
            return;
        }
        if self.ended_in_cache(transaction) {
            parts.name_media(Cause::Dram);
        }
        let data = self.data_ended_with(index, transaction);
        let Some(dram) = &mut self.dram else { return };
        parts.add(Cause::Dram, dram.time_of(index, data));
        if self.run.transactions.tenants.is_none() {
            dram.forget(index);
        }
    }

    /// The same by whom it waited for, where several tenants share the drive.
    #[inline(never)]
    pub(super) fn waited_for_memory_behind(&mut self, index: u32, transaction: u32) {
        if self.ended_in_cache(transaction)
            && let Some(tenants) = &mut self.run.transactions.tenants
        {
            for waits in tenants.last_mut() {
                waits[DRAM] += waits[..SPLIT_WHOLE].iter().sum::<u64>();
                waits[..SPLIT_WHOLE].fill(0);
            }
        }
        let data = self.data_ended_with(index, transaction);
        if let Some(dram) = &mut self.dram {
            dram.add_behind(&mut self.run, index, data);
            dram.forget(index);
        }
    }
}
