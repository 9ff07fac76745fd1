//! The controller's DRAM, as those see it who have something in it: one bus, which carries one access after another, in the
//! order in which they were asked for.
//!
//! Knows how long an access takes and who waited for it, not what lies there: whoever asks is told when an access has ended.
//! A cache above flash has banks of its own behind the bus and takes its turns itself; the bus is told of them.

mod queue;
mod spent;

use std::sync::Arc;

use ninescope_kernel::{NONE, Ns, Rate};
use serde::Serialize;

use crate::meter::DRAM;
use crate::run::Run;

use queue::Queue;
use spent::{Moved, Spent};

/// How long data take of the bus, told for some sizes [B, ns]: between two of them along a line, beyond the last in proportion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransferTimes(Arc<[(u64, Ns)]>);

impl TransferTimes {
    /// Of sizes that rise, each above zero.
    pub fn new(told: Vec<(u64, Ns)>) -> Self {
        Self(told.into())
    }

    /// The sizes, with the time of each.
    pub fn told(&self) -> &[(u64, Ns)] {
        &self.0
    }

    /// How long so many bytes take, to the next whole nanosecond; none where nothing is told.
    pub fn time(&self, bytes: u64) -> Option<Ns> {
        let (last, of_last) = *self.0.last()?;
        if bytes > last {
            return Some(Ns((u128::from(of_last.0) * u128::from(bytes)).div_ceil(u128::from(last)) as u64));
        }
        let next = self.0.partition_point(|(size, _)| *size < bytes);
        let (size, time) = self.0[next];
        let (before, of_before) = if next == 0 { (0, Ns::ZERO) } else { self.0[next - 1] };
        let (way, whole) = (u128::from(bytes - before), u128::from(size - before));
        let (from, to) = (u128::from(of_before.0) * (whole - way), u128::from(time.0) * way);
        Some(Ns((from + to).div_ceil(whole) as u64))
    }
}

/// What a drive has in its DRAM, and how long an access takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // four users, each of which is there or not, and how one of them goes on
pub struct DramConfig {
    /// What each access takes of the bus beside its data: row and column [ns].
    pub access: Ns,
    /// Rate of the bus [B/s].
    pub rate: Rate,
    /// How long data take of it otherwise than by its rate.
    pub times: TransferTimes,
    /// Holders have it in turn, not whoever asked first.
    pub in_turn: bool,
    /// What the host writes goes into it, and from there to the dies.
    pub write_buffer: bool,
    /// It goes to the dies as it comes in, each part when it gets its place in the buffer: a program reads none of it from there, and
    /// does not wait until it is in.
    pub cut_through: bool,
    /// What is read of flash for the host goes into it, and from there to the host.
    pub read_data: bool,
    /// The map is looked up in it, and pages of a map that lies in flash come into it and leave it.
    pub map: bool,
    /// A part of it is the upper medium of a tier.
    pub cache: bool,
}

impl DramConfig {
    /// What is written is in it before it goes on, and leaves it for its die.
    pub fn goes_in_first(&self) -> bool {
        self.write_buffer && !self.cut_through
    }

    /// How long the bus is taken by something that opens so many rows and moves so many bytes.
    pub fn time(&self, rows: u32, bytes: u64) -> Ns {
        Ns(self.access.0 * u64::from(rows)) + self.times.time(bytes).unwrap_or_else(|| self.rate.burst(bytes))
    }
}

/// Why the bus is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DramUse {
    /// Data of a host write come into the write buffer.
    WriteIn,
    /// Pages of a program leave the write buffer for their die.
    PageOut,
    /// Data of a page that is read for the host come in.
    ReadIn,
    /// Data leave for the host.
    ReadOut,
    /// A command looks up the entries of its units.
    LookUp,
    /// A page of the map that was read comes in.
    MapIn,
    /// Pages of a program, all of them of the map, leave for their die.
    MapOut,
}

/// An access to DRAM. What the bus does for its rows and bytes is done in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DramAccess {
    /// Why.
    pub usage: DramUse,
    /// The host command that waits for it; `NONE` for none.
    pub command: u32,
    /// The page access that it belongs to; `NONE` for none.
    pub transaction: u32,
    /// Rows that are opened [count].
    pub rows: u32,
    /// Bytes that cross the bus [B].
    pub bytes: u64,
    /// Of read data, what goes on over the link, which is more where the controller makes up a part of it [B].
    pub link_bytes: u64,
    /// When it was, or will be, asked for.
    pub asked: Ns,
    /// Of what is cut through: where the time of its part of the command went before; `NONE` for nowhere.
    pub merge: u32,
    /// For whom it is, as a holder: a tenant, or the drive; of no meaning on a drive with one tenant.
    pub holder: u16,
}

impl DramAccess {
    /// One access of so many bytes, for nobody yet.
    pub fn of(usage: DramUse, bytes: u64, asked: Ns) -> Self {
        Self {
            usage,
            command: NONE,
            transaction: NONE,
            rows: 1,
            bytes,
            link_bytes: bytes,
            asked,
            merge: NONE,
            holder: 0,
        }
    }
}

/// What was counted on the bus since measuring began, without what a cache does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DramCounters {
    /// Times that data of host writes came in: once of each, or with what is cut through once for what got its place together.
    pub writes_in: u64,
    /// Pages that left the write buffer for their dies, with those of the map that are programmed beside them.
    pub pages_out: u64,
    /// Page reads whose data came in.
    pub reads_in: u64,
    /// Of these and of what the write buffer answered, those whose data left for the host.
    pub reads_out: u64,
    /// Commands that looked up the map.
    pub map_look_ups: u64,
    /// Pages of the map that came in.
    pub map_pages_in: u64,
    /// Pages of the map that left for their dies.
    pub map_pages_out: u64,
    /// Bytes that crossed the bus [B].
    pub bytes: u64,
    /// Accesses that had to wait for it.
    pub waits: u64,
}

impl DramCounters {
    fn count(&mut self, access: &DramAccess, waited: bool) {
        let pages_out = matches!(access.usage, DramUse::PageOut | DramUse::MapOut);
        *match access.usage {
            DramUse::WriteIn => &mut self.writes_in,
            DramUse::PageOut => &mut self.pages_out,
            DramUse::ReadIn => &mut self.reads_in,
            DramUse::ReadOut => &mut self.reads_out,
            DramUse::LookUp => &mut self.map_look_ups,
            DramUse::MapIn => &mut self.map_pages_in,
            DramUse::MapOut => &mut self.map_pages_out,
        } += if pages_out { u64::from(access.rows) } else { 1 };
        self.bytes += access.bytes;
        self.waits += u64::from(waited);
    }
}

/// Data of a command that come into the write buffer together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Incoming {
    /// The command.
    pub command: u32,
    /// Sectors of them.
    pub sectors: u64,
    /// Parts of the command that end when they are in.
    pub parts: u32,
}

/// The DRAM of a drive.
#[derive(Debug)]
pub struct Dram {
    config: DramConfig,
    queue: Queue,
    /// The access under way; none while a cache has the bus, or nobody.
    present: Option<DramAccess>,
    /// When the present access, or that of the cache, ends.
    free_at: Ns,
    /// Time taken since measuring began [ns].
    busy: Ns,
    counters: DramCounters,
    /// What comes into the write buffer for the command that sets out, in one go.
    incoming: Option<Incoming>,
    /// Where the time of commands inside went before they set out.
    fronts: Spent,
    /// The same of what the controller answers of a read by itself and of what of a write is cut through, by command, and of page
    /// accesses.
    answers: Spent,
    accesses: Spent,
    /// What the bus did last, where several tenants share it.
    moved: Moved,
}

impl Dram {
    /// An idle bus, of a drive with so many holders (one where one tenant is alone).
    pub fn new(config: &DramConfig, holders: usize) -> Self {
        let spent = || Spent::new(holders);
        Self {
            config: config.clone(),
            queue: Queue::new(if config.in_turn { holders } else { 1 }),
            present: None,
            free_at: Ns::ZERO,
            busy: Ns::ZERO,
            counters: DramCounters::default(),
            incoming: None,
            fronts: spent(),
            answers: spent(),
            accesses: spent(),
            moved: Moved::new(holders > 1),
        }
    }

    /// What it was made with.
    pub fn config(&self) -> &DramConfig {
        &self.config
    }

    // ---- the bus -----------------------------------------------------------------------------------

    /// An access is asked for, or will be.
    pub(crate) fn ask(&mut self, access: DramAccess) {
        self.queue.push(access);
    }

    /// A command sets out: what of it gets its place until [`Self::has_set_out`] comes in together.
    pub(crate) fn sets_out(&mut self, command: u32) {
        self.incoming = Some(Incoming { command, ..Incoming::default() });
    }

    /// The command has set out: what comes in of it.
    pub(crate) fn has_set_out(&mut self) -> Option<Incoming> {
        self.incoming.take()
    }

    /// Sectors of a command got their place, with all of one of its parts or, with `whole` unset, some of it. Returns whether they
    /// come in with others.
    pub(crate) fn joins_incoming(&mut self, command: u32, sectors: u64, whole: bool) -> bool {
        let Some(incoming) = self.incoming.as_mut().filter(|incoming| incoming.command == command) else {
            return false;
        };
        incoming.sectors += sectors;
        incoming.parts += u32::from(whole);
        true
    }

    /// When the bus has something to do or to decide next, if nothing else is asked for.
    pub(crate) fn next_at(&self) -> Option<Ns> {
        if self.present.is_some() {
            return Some(self.free_at);
        }
        self.queue.first_asked().map(|asked| asked.max(self.free_at))
    }

    /// The access that ends now.
    pub(crate) fn ended(&mut self, now: Ns) -> Option<DramAccess> {
        if self.free_at > now { None } else { self.present.take() }
    }

    /// Whether something else than the cache has it.
    pub(crate) fn has_access(&self) -> bool {
        self.present.is_some()
    }

    /// Whether nobody has it.
    pub(crate) fn is_free(&self, now: Ns) -> bool {
        self.present.is_none() && self.free_at <= now
    }

    /// The next access begins, if the bus is free and something else does not come first that was asked for before it.
    /// Returns it and when it ends.
    pub(crate) fn begin(&mut self, now: Ns, other_asked: Option<Ns>) -> Option<(DramAccess, Ns)> {
        let (line, asked) = self.queue.next(now).filter(|_| self.is_free(now))?;
        if other_asked.is_some_and(|other| other < asked) {
            return None;
        }
        let access = self.queue.pop(line)?;
        let until = now + self.config.time(access.rows, access.bytes);
        self.counters.count(&access, access.asked < now);
        self.note_wait(&access, now, until);
        let oldest = self.queue.first_asked().map_or(access.asked, |first| first.min(access.asked));
        self.moved.add(now, until, access.holder, oldest);
        self.take(now, until);
        self.present = Some(access);
        Some((access, until))
    }

    /// The cache has the bus from now on.
    pub(crate) fn taken_by_cache(&mut self, now: Ns, until: Ns, holder: u16) {
        let oldest = self.queue.first_asked().unwrap_or(now).min(now);
        self.moved.add(now, until, holder, oldest);
        self.take(now, until);
    }

    fn take(&mut self, now: Ns, until: Ns) {
        self.busy += until - now;
        self.free_at = until;
    }

    /// How many accesses wait or are under way.
    pub(crate) fn under_way(&self) -> usize {
        self.queue.len() + usize::from(self.present.is_some())
    }

    // ---- where time goes ---------------------------------------------------------------------------

    /// A command waits for an access from its asking to its end; whatever was before it in the meantime is told by holder.
    fn note_wait(&mut self, access: &DramAccess, begins: Ns, until: Ns) {
        if access.command == NONE {
            return;
        }
        let (spent, at) = match (access.usage, access.transaction) {
            (DramUse::ReadIn, index) => {
                self.accesses.forget(index);
                (&mut self.accesses, index)
            }
            (DramUse::ReadOut, NONE) => (&mut self.answers, access.command),
            // The part that comes in last is what its command ends with.
            (DramUse::WriteIn, _) if self.config.cut_through => {
                self.answers.forget(access.command);
                (&mut self.answers, access.command)
            }
            (DramUse::ReadOut, index) => (&mut self.accesses, index),
            _ => (&mut self.fronts, access.command),
        };
        spent.add(at, until - access.asked);
        self.moved.behind(access.asked, begins, |holder, time| spent.add_behind(at, holder, time));
    }

    /// The end of a program waits for an access from its asking to its end, which `begins` now.
    pub(crate) fn note_program(&mut self, transaction: u32, access: &DramAccess, (begins, until): (Ns, Ns)) {
        let spent = &mut self.accesses;
        spent.forget(transaction);
        spent.add(transaction, until - access.asked);
        self.moved.behind(access.asked, begins, |holder, time| spent.add_behind(transaction, holder, time));
    }

    /// A command is no more.
    pub(crate) fn forget(&mut self, command: u32) {
        self.fronts.forget(command);
        self.answers.forget(command);
    }

    /// A command ends otherwise than with what the controller answered.
    pub(crate) fn forget_answer(&mut self, command: u32) {
        self.answers.forget(command);
    }

    /// A page access ends without data.
    pub(crate) fn has_no_data(&mut self, transaction: u32) {
        self.accesses.forget(transaction);
    }

    /// How long a command that ends was here: before it set out, and with what it ended with, a page access of flash or, with
    /// `NONE`, what the controller answered.
    pub(crate) fn time_of(&self, command: u32, data: Option<u32>) -> Ns {
        let of_data = match data {
            None => Ns::ZERO,
            Some(NONE) => self.answers.time(command),
            Some(index) => self.accesses.time(index),
        };
        self.fronts.time(command) + of_data
    }

    /// Adds whom it waited for meanwhile, by holder.
    pub(crate) fn add_behind<Q>(&self, run: &mut Run<Q>, command: u32, data: Option<u32>) {
        let Some(tenants) = &mut run.transactions.tenants else { return };
        for (holder, waits) in tenants.last_mut().iter_mut().enumerate() {
            let of_data = match data {
                None => 0,
                Some(NONE) => self.answers.behind(command, holder),
                Some(index) => self.accesses.behind(index, holder),
            };
            waits[DRAM] += self.fronts.behind(command, holder) + of_data;
        }
    }

    // ---- what was seen -----------------------------------------------------------------------------

    /// What was counted since measuring began.
    pub fn counters(&self) -> &DramCounters {
        &self.counters
    }

    /// Counts from `now` on: what is left of the present access belongs to the measured time.
    pub(crate) fn begin_measuring(&mut self, now: Ns) {
        self.counters = DramCounters::default();
        self.busy = self.free_at.saturating_since(now);
    }

    /// Time taken until `now`, that of a cache included.
    pub fn busy_until(&self, now: Ns) -> Ns {
        self.busy.saturating_since(self.free_at.saturating_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dram() -> Dram {
        let config = DramConfig {
            times: TransferTimes::default(),
            in_turn: false,
            access: Ns(30),
            rate: Rate(1_000_000_000),
            write_buffer: true,
            cut_through: false,
            read_data: true,
            map: true,
            cache: true,
        };
        Dram::new(&config, 1)
    }

    #[test]
    fn holders_have_it_in_turn() {
        let mut dram = Dram::new(&DramConfig { in_turn: true, ..dram().config }, 3);
        for (holder, asked) in [(0, 0), (0, 0), (0, 1), (1, 2), (2, 500), (1, 3)] {
            dram.ask(DramAccess { holder, ..DramAccess::of(DramUse::WriteIn, 100, Ns(asked)) });
        }
        let mut order = Vec::new();
        while let Some(at) = dram.next_at() {
            dram.ended(at);
            order.extend(dram.begin(at, None).map(|(access, _)| access.holder));
        }
        // Each takes 130 ns: the third has not asked when the second one has been there for the first time.
        assert_eq!(order, [0, 1, 0, 1, 2, 0]);
    }

    #[test]
    fn times_told_for_sizes_lie_on_lines() {
        let times = TransferTimes::new(vec![(1_000, Ns(500)), (2_000, Ns(100)), (4_000, Ns(200))]);
        let taken = [1, 500, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 6_001].map(|size| times.time(size));
        assert_eq!(taken, [1, 250, 500, 300, 100, 150, 200, 300, 301].map(|time| Some(Ns(time))));
        assert_eq!(TransferTimes::default().time(1), None);
    }

    #[test]
    fn accesses_follow_each_other_in_the_order_of_asking() {
        let mut dram = dram();
        dram.ask(DramAccess::of(DramUse::ReadIn, 100, Ns(50)));
        dram.ask(DramAccess::of(DramUse::WriteIn, 200, Ns(10)));
        assert_eq!(dram.next_at(), Some(Ns(10)));
        assert!(dram.begin(Ns(5), None).is_none(), "nothing was asked for yet");
        let (first, until) = dram.begin(Ns(10), None).expect("the bus is free");
        assert_eq!((first.usage, until), (DramUse::WriteIn, Ns(10 + 30 + 200)));
        assert!(dram.begin(Ns(60), None).is_none() && dram.ended(Ns(60)).is_none());
        assert_eq!(dram.ended(Ns(240)).map(|access| access.usage), Some(DramUse::WriteIn));
        assert!(dram.begin(Ns(240), Some(Ns(49))).is_none(), "the cache has asked before it");
        let (second, until) = dram.begin(Ns(240), Some(Ns(50))).expect("at the same time who is seen first");
        assert_eq!((second.usage, until), (DramUse::ReadIn, Ns(240 + 130)));
        assert_eq!((dram.counters().waits, dram.counters().bytes), (1, 300));
        assert_eq!(dram.busy_until(Ns(300)), Ns(230 + 60));
    }
}
