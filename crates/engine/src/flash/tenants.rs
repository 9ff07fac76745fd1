//! For whom dies and channels work, where several tenants share the drive.
//!
//! A command over several planes counts for the tenant of its first access, a program for the tenant of the first unit
//! that went into its page, what moves a page between two media for the tenant whose page that is, and what reads and writes a map in
//! flash for whom [`MapHolders`](crate::meter::MapHolders) says. Garbage collection counts for the tenant that opened a block group of the
//! pool last, whose write it is that makes another free one wanted; what refreshes data, and all else that the drive does for itself,
//! is its own. With several tenants the commands of all dies are treated as those that have shares: a drive with one tenant pays
//! nothing.

use ninescope_ftl::Placed;
use ninescope_kernel::{NONE, Ns, ResourceId};
use ninescope_media::nand::FlashCommand;
use ninescope_model::{DieId, Source};

use super::Flash;
use super::programs::{FirstWriter, NOBODY};
use crate::run::Run;
use crate::transaction::{QueueClass, TenantWaits, Transaction, TransactionStore};

/// Whose request of the host an access is for, the drive's where it is none.
pub(super) fn host_of(transactions: &TransactionStore, tenants: &TenantWaits, index: u32) -> u16 {
    let access: &Transaction = &transactions.slab[index];
    match (access.class, access.source) {
        (QueueClass::HostRead, Source::Host) => tenants.of_command(access.command()),
        (QueueClass::HostRead, Source::ReadModifyWrite) => {
            tenants.of_command(transactions.units[access.records()].parent)
        }
        (QueueClass::HostProgram, Source::Host) => tenants.of_access(index),
        _ => tenants.ledgers.drive(),
    }
}

impl Flash {
    /// Whom an access counts for.
    fn holder_of(transactions: &TransactionStore, tenants: &TenantWaits, index: u32) -> u16 {
        let access: &Transaction = &transactions.slab[index];
        match (access.class, access.source) {
            (_, Source::Parity | Source::Rebuild) => tenants.ledgers.drive(),
            (QueueClass::HostProgram, _) | (_, Source::Mapping | Source::GarbageCollection) => tenants.of_access(index),
            (_, Source::Migration) => tenants.of_migration(access.migration()),
            _ => host_of(transactions, tenants, index),
        }
    }

    fn channel_resource(&self, die: DieId) -> ResourceId {
        self.dies.bus_resource(self.geometry.channel_of_die(die).0)
    }

    // ---- pages -------------------------------------------------------------------------------------

    /// A unit that a command of the host wrote goes into a page; before that page is followed any further.
    #[inline(never)]
    pub fn written_by<Q>(&mut self, run: &mut Run<Q>, placed: &Placed, command: u32) {
        let Some(tenants) = &run.transactions.tenants else { return };
        let holder = tenants.of_command(command);
        let part = self.buffer_part_of(holder) as u16;
        self.placed_for(run, placed, part, |_| holder);
    }

    /// The same of a page that goes down from a tier, which is the drive's as far as parts of the buffer go, as is all that follows.
    #[inline(never)]
    pub fn taken_down_by<Q>(&mut self, run: &mut Run<Q>, placed: &Placed, migration: u32) {
        self.placed_for(run, placed, 0, |tenants| tenants.of_migration(migration));
    }

    /// The same of a page of the map.
    #[inline(never)]
    pub(super) fn map_page_placed_for<Q>(&mut self, run: &mut Run<Q>, placed: &Placed, page: u32) {
        self.placed_for(run, placed, 0, |tenants| tenants.map_written_for(page));
    }

    /// The same of a unit that the drive wrote by itself.
    #[inline(never)]
    pub fn written_by_drive<Q>(&mut self, run: &mut Run<Q>, placed: &Placed) {
        self.placed_for(run, placed, 0, |tenants| tenants.ledgers.drive());
    }

    fn placed_for<Q>(
        &mut self,
        run: &mut Run<Q>,
        placed: &Placed,
        part: u16,
        holder: impl FnOnce(&TenantWaits) -> u16,
    ) {
        let Some(tenants) = &mut run.transactions.tenants else { return };
        let holder = holder(tenants);
        if placed.opened && self.ftl.zones().is_none() {
            // Blocks of zones are erased because the host resets them.
            tenants.group_opened(run.now, placed.pool, holder);
        }
        self.begin_page_for(placed, FirstWriter { holder, part });
    }

    /// A page is filled and waits for its program, into which `holder` wrote first.
    #[inline(never)]
    pub(super) fn page_buffered_for<Q>(run: &mut Run<Q>, holder: u16) {
        if let Some(tenants) = &mut run.transactions.tenants {
            let holder = if holder == NOBODY { tenants.ledgers.drive() } else { holder };
            tenants.page_buffered(run.now, holder);
        }
    }

    /// It is forgotten.
    pub(super) fn page_forgotten_for<Q>(run: &mut Run<Q>, holder: u16) {
        if let Some(tenants) = &mut run.transactions.tenants {
            let holder = if holder == NOBODY { tenants.ledgers.drive() } else { holder };
            tenants.page_programmed(run.now, holder);
        }
    }

    /// It is programmed.
    #[inline(never)]
    pub fn unbuffered_for<Q>(&mut self, run: &mut Run<Q>, index: u32) {
        if let Some(tenants) = &mut run.transactions.tenants {
            let holder = tenants.of_access(index);
            tenants.page_programmed(run.now, holder);
            self.page_leaves_part(self.part_of_program(index));
        }
    }

    /// A page is queued to be programmed, into which somebody wrote first.
    #[inline(never)]
    pub(super) fn program_counts_for<Q>(&mut self, run: &mut Run<Q>, index: u32, first: FirstWriter) {
        if let Some(tenants) = &mut run.transactions.tenants {
            let holder = if first.holder == NOBODY { tenants.ledgers.drive() } else { first.holder };
            tenants.counts_for(index, holder);
        }
        self.program_is_of_part(index, first.part);
    }

    // ---- dies --------------------------------------------------------------------------------------

    /// A die takes a command up: what of it is garbage collection counts from now on for who opened a group of its pool last.
    pub(super) fn collection_counts_for_tenants<Q>(&self, run: &mut Run<Q>, command: &FlashCommand) {
        let Some(tenants) = &mut run.transactions.tenants else { return };
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            let access: &Transaction = &run.transactions.slab[index];
            if access.source == Source::GarbageCollection {
                // On a drive with parity an erase may be named by a page of that.
                let pool = self.geometry.pool_and_block(self.geometry.locate(access.ppa()).group).0;
                let is_refresh = self.ftl.is_refreshing(pool);
                let holder = if is_refresh { tenants.ledgers.drive() } else { tenants.opener_of(pool) };
                tenants.counts_for(index, holder);
            }
        }
    }

    /// A die takes up its command, or goes on with it; or a plane that reads by itself does.
    pub(super) fn die_works_for_tenant<Q>(&mut self, run: &mut Run<Q>, station: u32) {
        let Some(tenants) = &run.transactions.tenants else { return };
        let resource = self.dies.resource(station);
        let first = run.first_access(&self.dies[station].work.command);
        let holder = Self::holder_of(&run.transactions, tenants, first);
        let ledger = self.dies[station].ledger(run.now);
        if let Some(tenants) = &mut run.transactions.tenants {
            tenants.ledgers.works_for(resource, holder, ledger);
        }
    }

    /// A die is occupied with what a plane of it does, or a plane with what its die does: for whom that does it.
    pub(super) fn works_for_whom<Q>(&mut self, run: &mut Run<Q>, station: u32, of: u32) {
        if let Some(tenants) = &mut run.transactions.tenants {
            let holder = tenants.ledgers.holder(self.dies.resource(of));
            let resource = self.dies.resource(station);
            tenants.ledgers.works_for(resource, holder, self.dies[station].ledger(run.now));
        }
    }

    // ---- channels ----------------------------------------------------------------------------------

    /// The command of a die begins to wait for its channel.
    pub(super) fn begin_channel_wait_by_tenant<Q>(&mut self, run: &mut Run<Q>, station: u32) {
        if run.transactions.tenants.is_none() {
            return;
        }
        let command = &self.dies[station].work.command;
        let channel = self.channel_resource(command.die);
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            if run.transactions.slab[index].tracked {
                run.transactions.begin_channel_wait_by_tenant(index, channel, run.now);
            }
        }
    }

    /// The command of a die gets its channel `until` then, after waiting for it.
    pub(super) fn channel_granted_by_tenant<Q>(&mut self, run: &mut Run<Q>, station: u32, until: Ns) {
        if run.transactions.tenants.is_none() {
            return;
        }
        self.channel_awaited_by_tenant(run, station);
        let channel = self.channel_resource(self.dies[station].work.command.die);
        if let Some(tenants) = &mut run.transactions.tenants {
            let holder = tenants.ledgers.holder(self.dies.resource(station));
            tenants.ledgers.channel_taken(channel, holder, run.now, until);
        }
    }

    /// It has waited for it, whoever gets it.
    pub(super) fn channel_awaited_by_tenant<Q>(&self, run: &mut Run<Q>, station: u32) {
        if run.transactions.tenants.is_none() {
            return;
        }
        let command = &self.dies[station].work.command;
        let (now, channel) = (run.now, self.channel_resource(command.die));
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            if run.transactions.slab[index].tracked {
                run.transactions.end_channel_wait_by_tenant(index, channel, now);
            }
        }
    }

    /// The data of a plane leave behind those of other planes, but for those that are of its own command.
    pub(super) fn wait_for_data_by_tenant<Q>(
        &self,
        run: &mut Run<Q>,
        command: &FlashCommand,
        plane: usize,
        which: impl Fn(usize) -> bool,
    ) {
        if run.transactions.tenants.is_none() {
            return;
        }
        let index = command.transaction[plane];
        let share = run.transactions.joined_share(index);
        for other in command.addressed_planes().filter(|&other| which(other)) {
            let beside = command.transaction[other];
            let is_own = share != NONE && run.transactions.joined_share(beside) == share;
            let Some(tenants) = run.transactions.tenants.as_ref().filter(|_| !is_own) else { continue };
            let holder = Self::holder_of(&run.transactions, tenants, beside);
            let time = self.nand.data_time(u64::from(command.bytes[other]));
            if let Some(tenants) = &mut run.transactions.tenants {
                tenants.behind_data(index, holder, time);
            }
        }
    }
}
