//! Whom each access and each command waited for, as it is kept where several tenants share the drive: rows of waits by holder.
//!
//! Knows nothing of transactions but their numbers.

use ninescope_kernel::{NONE, Ns, ResourceId};
use ninescope_model::Pool;

use crate::meter::{
    BUFFER, CacheHolders, DRAM, DieLedger, ERASE, FREE_PAGE, LINK, MAP, MIGRATION, MOVES, MapHolders, MediaWaits,
    OwnParts, PROCESSOR, PROGRAM, PROGRAMS, QUEUE, SPACE, SPLIT_WHOLE, STALL, SharedPlaces, TenantLedgers, Waits,
};

/// Waits in the controller's processor, on the link towards the device, for a place in the drive's queue and for a map in flash, behind
/// one holder [ns].
type FrontWaits = [u64; 4];

/// Whom each access and each command inside waited for.
#[derive(Debug)]
pub struct TenantWaits {
    /// What dies and channels did for whom.
    pub ledgers: TenantLedgers,
    /// By command inside: its tenant.
    of_command: Vec<u16>,
    /// By transaction: of a program, or a read of the map, whom it counts for.
    of_access: Vec<u16>,
    /// By migration under way: whose page it moves.
    of_migration: Vec<u16>,
    /// By pool: who opened a block group of it last.
    openers: Vec<u16>,
    /// By transaction and holder.
    media: Vec<MediaWaits>,
    /// By kept rest of a unit and holder: the same of the reads of the rest.
    merges: Vec<MediaWaits>,
    /// By holder: those of the kept rest that was taken out last, until somebody's chain ends with it.
    carried: Vec<MediaWaits>,
    /// By command inside and holder.
    front: Vec<FrontWaits>,
    /// By holder: of the command that completed last.
    last: Vec<Waits>,
    /// Whose commands are inside.
    queue: SharedPlaces,
    /// Whose filled pages wait for their programs, by part of the write buffer.
    buffer: Vec<SharedPlaces>,
    /// By partition of the drive: the pools of whom, each a place of who opened a block group there last.
    space: Vec<SharedPlaces>,
    /// By pool: its partition.
    partition_of: Vec<u32>,
    /// By holder: the part of the write buffer that its pages are of, where that is divided.
    part_of: Vec<u32>,
    /// Who holds slots of an upper medium, where there is one.
    pub cache: Option<CacheHolders>,
    /// For whom pages of the map are read and written, where that lies in flash.
    pub map: Option<MapHolders>,
    /// By command inside: since when a FLUSH waits for programs alone, where it waited for a cache before.
    drained: Vec<Ns>,
}

/// By whom a unit is written, so that it lies elsewhere.
#[derive(Clone, Copy, Debug)]
pub enum Writer {
    /// A command of the host, or one that forgets it.
    Command(u32),
    /// A page that goes down.
    Migration(u32),
    /// What lies in a slot, which is newer.
    Slot(u32),
}

/// Takes out what was done before a wait begins.
pub(super) fn begins(wait: &mut u64, done: u64) {
    *wait = wait.wrapping_sub(done);
}

/// Adds what was done until a wait ends.
pub(super) fn ends(wait: &mut u64, done: u64) {
    *wait = wait.wrapping_add(done);
}

/// The row of a thing in a table of rows, which grows to hold it.
fn row<T: Clone + Default>(table: &mut Vec<T>, index: u32, holders: usize) -> &mut [T] {
    let from = index as usize * holders;
    if table.len() < from + holders {
        table.resize(from + holders, T::default());
    }
    &mut table[from..from + holders]
}

impl TenantWaits {
    /// Nobody has waited yet, of so many tenants on so many resources.
    pub fn new(tenants: usize, resources: usize) -> Self {
        let holders = tenants + 1;
        Self {
            ledgers: TenantLedgers::new(tenants, resources),
            of_command: Vec::new(),
            of_access: Vec::new(),
            of_migration: Vec::new(),
            openers: Vec::new(),
            media: Vec::new(),
            merges: Vec::new(),
            carried: vec![MediaWaits::default(); holders],
            front: Vec::new(),
            last: vec![Waits::default(); holders],
            queue: SharedPlaces::new(holders),
            buffer: vec![SharedPlaces::new(holders)],
            space: Vec::new(),
            partition_of: Vec::new(),
            part_of: Vec::new(),
            cache: None,
            map: None,
            drained: Vec::new(),
        }
    }

    // ---- who is who --------------------------------------------------------------------------------

    /// A command of a tenant is taken in, for which the host waited so long. For `limited` of that its own limit held it, or
    /// that the drive had as many commands of its own queue as it may.
    pub fn fetched(&mut self, command: u32, tenant: u16, now: Ns, (waited, limited): (Ns, Ns)) {
        let at = command as usize;
        if self.of_command.len() <= at {
            self.of_command.resize(at + 1, 0);
        }
        self.of_command[at] = tenant;
        let front = row(&mut self.front, command, self.last.len());
        front.fill(FrontWaits::default());
        if waited > Ns::ZERO {
            let for_place = waited.saturating_since(limited);
            front[tenant as usize][2] = (waited - for_place).0;
            self.queue.share((now - for_place, now), for_place, tenant, |holder, time| front[holder][2] += time);
        }
        self.queue.taken(now, tenant);
    }

    /// Of the command that completed last: whom it waited for.
    pub fn lend_last(&mut self) -> Vec<Waits> {
        std::mem::take(&mut self.last)
    }

    /// The same, given back before anything else is asked.
    pub fn give_last_back(&mut self, last: Vec<Waits>) {
        self.last = last;
    }

    /// Of the command that the host is told of now: whom it waited for.
    pub fn tell_of(&mut self, waits: &[Waits]) {
        self.last.copy_from_slice(waits);
    }

    /// The tenant of a command inside.
    pub fn of_command(&self, command: u32) -> u16 {
        self.of_command[command as usize]
    }

    /// A program, or a read of the map, counts for a holder.
    pub fn counts_for(&mut self, index: u32, holder: u16) {
        row(&mut self.of_access, index, 1)[0] = holder;
    }

    /// Whom a program, or a read of the map, counts for.
    pub fn of_access(&self, index: u32) -> u16 {
        self.of_access[index as usize]
    }

    /// A migration sets out, which moves a page of a holder.
    pub fn migration_began(&mut self, migration: u32, holder: u16) {
        row(&mut self.of_migration, migration, 1)[0] = holder;
    }

    /// Whose page a migration moves.
    pub fn of_migration(&self, migration: u32) -> u16 {
        self.of_migration[migration as usize]
    }

    /// For whom a unit is written.
    pub fn of_writer(&self, writer: Writer) -> u16 {
        match writer {
            Writer::Command(command) => self.of_command(command),
            Writer::Migration(migration) => self.of_migration(migration),
            Writer::Slot(slot) => self.cache.as_ref().map_or(self.ledgers.drive(), |cache| cache.of_slot(slot)),
        }
    }

    // ---- block groups ------------------------------------------------------------------------------

    /// The drive has these pools, each of a partition, of which nobody has opened a block group. Before anything runs.
    pub fn divide_space(&mut self, partitions: impl Iterator<Item = u32>) {
        let drive = self.ledgers.drive();
        self.partition_of = partitions.collect();
        self.openers = vec![drive; self.partition_of.len()];
        let count = self.partition_of.iter().max().map_or(0, |last| last + 1);
        self.space = (0..count).map(|_| SharedPlaces::new(self.last.len())).collect();
        for &partition in &self.partition_of {
            self.space[partition as usize].taken(Ns::ZERO, drive);
        }
    }

    /// The first unit of a block group was written for a holder.
    pub fn group_opened(&mut self, now: Ns, pool: Pool, holder: u16) {
        let before = self.openers[pool.index()];
        self.openers[pool.index()] = holder;
        let opener = self.openers[pool.index()];
        if before != opener {
            let space = &mut self.space[self.partition_of[pool.index()] as usize];
            space.left(now, before);
            space.taken(now, opener);
        }
    }

    /// Who opened a block group of a pool last.
    pub fn opener_of(&self, pool: Pool) -> u16 {
        self.openers.get(pool.index()).copied().unwrap_or(self.ledgers.drive())
    }

    // ---- the write buffer --------------------------------------------------------------------------

    /// The write buffer has so many parts, and each tenant's pages are of one. Before anything runs.
    pub fn divide_buffer(&mut self, parts: usize, of_tenant: &[u32]) {
        self.part_of = of_tenant.to_vec();
        self.buffer.resize_with(parts.max(1), || SharedPlaces::new(self.last.len()));
    }

    fn part_of(&self, holder: u16) -> usize {
        self.part_of.get(usize::from(holder)).map_or(0, |&part| part as usize)
    }

    /// A page that counts for a holder is filled, and waits for its program.
    pub fn page_buffered(&mut self, now: Ns, holder: u16) {
        let part = self.part_of(holder);
        self.buffer[part].taken(now, holder);
    }

    /// It is programmed.
    pub fn page_programmed(&mut self, now: Ns, holder: u16) {
        let part = self.part_of(holder);
        self.buffer[part].left(now, holder);
    }

    /// A command, which takes out what was kept of it, was stalled in that time, so long of it behind a full buffer.
    pub fn stalled(&mut self, command: u32, span: (Ns, Ns), time: Ns) {
        let own = self.of_command(command);
        let (part, carried) = (self.part_of(own), &mut self.carried);
        self.buffer[part].share(span, time, own, |holder, time| carried[holder][STALL] += time);
    }

    /// A command, which takes out what was kept of it, was stalled in that time, so long of it for want of a free page of a partition.
    pub fn waited_for_space(&mut self, command: u32, partition: u32, span: (Ns, Ns), time: Ns) {
        let (own, carried) = (self.of_command(command), &mut self.carried);
        let mut tell = |holder: usize, time: u64| carried[holder][SPACE] += time;
        match self.space.get(partition as usize) {
            Some(pools) => pools.share(span, time, own, tell),
            // What a zone waits for is the erase that it asked for.
            None => tell(own as usize, time.0),
        }
    }

    // ---- a cache above -----------------------------------------------------------------------------

    /// A write, which ends with that or with what follows, waited in that time for a slot of a part.
    pub fn waited_for_slot(&mut self, command: u32, of_part: (usize, bool), span: (Ns, Ns)) {
        let (own, carried) = (self.of_command(command), &mut self.carried);
        if let Some(cache) = &self.cache {
            cache.share_slot(of_part, span, own, |holder, time| carried[holder][MOVES] += time);
        }
    }

    /// A command waited in that time for pages that move.
    pub fn waited_for_moves(&mut self, command: u32, span: (Ns, Ns)) {
        let (own, carried) = (self.of_command(command), &mut self.carried);
        if let Some(cache) = &self.cache {
            cache.share_moves(span, own, |holder, time| carried[holder][MOVES] += time);
        }
    }

    /// A write waited in that time for its page to be below.
    pub fn waited_for_copy(&mut self, command: u32, span: (Ns, Ns)) {
        let (own, carried) = (self.of_command(command), &mut self.carried);
        if let Some(cache) = &self.cache {
            cache.share_down(span, own, |holder, time| carried[holder][PROGRAMS] += time);
        }
    }

    /// What was dirty in a cache when a FLUSH came is below.
    pub fn drained(&mut self, command: u32, now: Ns) {
        *row(&mut self.drained, command, 1).first_mut().expect("a row of one") = now;
    }

    /// A command waited in that time for blocks that it has erased.
    pub fn waited_for_own_erase(&mut self, command: u32, (from, until): (Ns, Ns)) {
        let own = self.of_command(command) as usize;
        self.carried[own][ERASE] += (until - from).0;
    }

    /// A FLUSH waited for a cache, if there is one that it takes down, and then for the pages that are being programmed.
    pub fn flushed(&mut self, command: u32, (from, until): (Ns, Ns)) {
        let since = self.drained.get(command as usize).map_or(from, |&at| at.max(from));
        if since > from {
            self.waited_for_copy(command, (from, since));
        }
        let (own, carried) = (self.of_command(command), &mut self.carried);
        SharedPlaces::share_of(&self.buffer.iter(), (since, until), until - since, own, |holder, time| {
            carried[holder][PROGRAMS] += time;
        });
    }

    // ---- a map in flash ----------------------------------------------------------------------------

    /// For whom a page of the map is written.
    pub fn map_written_for(&self, page: u32) -> u16 {
        self.map.as_ref().map_or(self.ledgers.drive(), |map| map.written_for(page))
    }

    /// A page of the map is in the controller, which this access has read; `NONE`: none has.
    pub fn map_page_came(&mut self, page: u32, transaction: u32) {
        let holders = self.last.len();
        let Some(map) = &mut self.map else { return };
        let row = if transaction == NONE { &[][..] } else { &self.media[transaction as usize * holders..][..holders] };
        map.came(page, row.iter().map(|waits| waits[..SPLIT_WHOLE].iter().sum()));
    }

    /// A command waited in that time for pages of the map, the last of which is the one that came last.
    pub fn waited_for_map(&mut self, command: u32, span: (Ns, Ns)) {
        let own = self.of_command(command);
        let waits = row(&mut self.front, command, self.last.len());
        if let Some(map) = &self.map {
            map.waited(span, own, |holder, time| waits[holder][3] += time);
        }
    }

    // ---- waits of accesses -------------------------------------------------------------------------

    pub(super) fn media_of(&mut self, index: u32) -> &mut [MediaWaits] {
        row(&mut self.media, index, self.last.len())
    }

    pub(super) fn die_wait(
        &mut self,
        index: u32,
        die: ResourceId,
        own: (&OwnParts, Option<u32>),
        (now, ledger): (Ns, &DieLedger),
        take: fn(&mut u64, u64),
    ) {
        let waits = row(&mut self.media, index, self.last.len());
        self.ledgers.read_die(die, own, now, ledger, waits, take);
    }

    pub(super) fn channel_wait(
        &mut self,
        index: u32,
        channel: ResourceId,
        own: (&OwnParts, Option<u32>),
        now: Ns,
        take: fn(&mut u64, u64),
    ) {
        let waits = row(&mut self.media, index, self.last.len());
        self.ledgers.read_channel(channel, own, now, waits, take);
    }

    /// Data of an access that counts for a holder go before those of another one of the same command over several planes.
    pub fn behind_data(&mut self, index: u32, holder: u16, time: Ns) {
        TenantLedgers::behind_data(self.media_of(index), holder, time);
    }

    // ---- rests of units ----------------------------------------------------------------------------

    /// What an access waited for goes into what is kept of a unit written in part.
    pub fn add_read_of_rest(&mut self, index: u32, merge: u32) {
        let holders = self.last.len();
        let waits = &self.media[index as usize * holders..][..holders];
        for (sums, waits) in row(&mut self.merges, merge, holders).iter_mut().zip(waits) {
            sums.iter_mut().zip(waits).for_each(|(sum, wait)| *sum += wait);
        }
    }

    /// What is kept of a unit written in part begins with nothing, or with what was taken out last.
    pub fn merge_begins(&mut self, merge: u32, goes_on: bool) {
        let holders = self.last.len();
        let kept = row(&mut self.merges, merge, holders);
        if goes_on {
            kept.copy_from_slice(&self.carried);
            self.carried.fill(MediaWaits::default());
        } else {
            kept.fill(MediaWaits::default());
        }
    }

    /// It is taken out, for who ends with it; `NONE` where nothing was kept.
    pub fn take_merge(&mut self, merge: u32) {
        if merge == NONE {
            self.carried.fill(MediaWaits::default());
        } else {
            let holders = self.last.len();
            self.carried.copy_from_slice(row(&mut self.merges, merge, holders));
        }
    }

    /// A part of a command ended that is not the last, or otherwise than by what was taken out.
    pub fn drop_carried(&mut self) {
        self.carried.fill(MediaWaits::default());
    }

    // ---- waits of commands -------------------------------------------------------------------------

    /// A command waits for the processor, or for the link towards the device, behind a holder.
    pub fn in_front(&mut self, command: u32, holder: u16, (processor, link): (Ns, Ns)) {
        let waits = &mut row(&mut self.front, command, self.last.len())[holder as usize];
        waits[0] += processor.0;
        waits[1] += link.0;
    }

    /// A command completes with this access, `NONE` for none: whom it waited for.
    pub fn completes(&mut self, command: u32, transaction: u32, now: Ns) {
        let holders = self.last.len();
        self.queue.left(now, self.of_command(command));
        for (holder, last) in self.last.iter_mut().enumerate() {
            let of_access = match transaction {
                NONE => MediaWaits::default(),
                index => self.media[index as usize * holders + holder],
            };
            let carried = std::mem::take(&mut self.carried[holder]);
            for (at, last) in last[..SPLIT_WHOLE].iter_mut().enumerate() {
                *last = of_access[at] + carried[at];
            }
            [last[PROCESSOR], last[LINK], last[QUEUE], last[MAP]] = self.front[command as usize * holders + holder];
            last[BUFFER] = of_access[STALL] + carried[STALL];
            last[MIGRATION] = of_access[MOVES] + carried[MOVES];
            last[PROGRAM] = of_access[PROGRAMS] + carried[PROGRAMS];
            last[FREE_PAGE] = of_access[SPACE] + carried[SPACE];
            // Who knows DRAM adds to it.
            last[DRAM] = 0;
        }
    }

    /// By holder, whom the command that completed last waited for.
    pub fn last(&self) -> &[Waits] {
        &self.last
    }

    /// The same, to be completed.
    pub fn last_mut(&mut self) -> &mut [Waits] {
        &mut self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_page_is_waited_for_behind_those_who_opened_the_groups_of_its_partition() {
        // Three pools, the last of which is another partition's. The drive had the first two until 40 and 70.
        let mut waits = TenantWaits::new(2, 1);
        waits.divide_space([0, 0, 1].into_iter());
        waits.fetched(0, 0, Ns::ZERO, (Ns::ZERO, Ns::ZERO));
        waits.group_opened(Ns(10), Pool(2), 1);
        waits.group_opened(Ns(40), Pool(0), 1);
        waits.group_opened(Ns(70), Pool(1), 0);
        let mut behind = |partition: u32, span: (u64, u64), time: u64| {
            waits.waited_for_space(0, partition, (Ns(span.0), Ns(span.1)), Ns(time));
            [0, 1, 2].map(|holder: usize| std::mem::take(&mut waits.carried[holder][SPACE]))
        };
        // Until 100 tenant 0 had a pool for 30, tenant 1 for 60 and the drive for 40 and 70: of 200, of which half was waited.
        assert_eq!(behind(0, (0, 100), 100), [15, 30, 55]);
        // From 70 on each has one, whatever else the write waited for meanwhile.
        assert_eq!(behind(0, (80, 100), 10), [5, 5, 0]);
        assert_eq!(behind(1, (0, 40), 40), [0, 30, 10]);
        // Of zones nobody is known.
        assert_eq!(behind(2, (0, 40), 40), [40, 0, 0]);
    }
}
