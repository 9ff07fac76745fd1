//! Ledgers by tenant: what each die, bank and channel did for whom.
//!
//! They are told when a die takes up something else, and are read out of its ledger by occupancy, as the shares of
//! [`OwnParts`](super::OwnParts) are: so a die of a drive with one tenant knows nothing of them. What a share did is kept by
//! holder too, because a command over several planes counts for the tenant of its first access alone, whoever else has a part
//! in it.
//!
//! Knows nothing of why a resource works.

use ninescope_kernel::{Ns, ResourceId};
use ninescope_model::Occupancy;

use super::own_parts::{Held, HeldLanes, LANES, OwnParts};
use super::{DieLedger, SPLIT_WHOLE};

/// Waits behind one holder for dies and channels, by the first causes of [`SPLIT`](super::SPLIT), and then for room in the write
/// buffer, for slots and moves of a cache, and for programs [ns]. A wait that goes on has what was done before it taken out, and wraps.
pub type MediaWaits = [u64; SPLIT_WHOLE + 4];
/// Where the wait for the write buffer is in them, that for a cache, and that for programs.
pub(crate) const STALL: usize = SPLIT_WHOLE;
pub(crate) const MOVES: usize = SPLIT_WHOLE + 1;
pub(crate) const PROGRAMS: usize = SPLIT_WHOLE + 2;
pub(crate) const SPACE: usize = SPLIT_WHOLE + 3;
/// Where the wait for a channel is in them, behind the lanes in which parts of host commands run.
const CHANNEL: usize = LANES.len();
/// The other lanes of a die's ledger that are told apart by whom they are for: no part of a host command runs in them.
const BESIDE: [Occupancy; 5] =
    [Occupancy::Migration, Occupancy::Mapping, Occupancy::GcRead, Occupancy::GcProgram, Occupancy::Erase];
/// How many lanes of a die there are.
const WORK_LANES: usize = LANES.len() + BESIDE.len();

/// What a die or bank did, by all of these lanes [ns]. Of a channel all is in the first one.
#[derive(Clone, Copy, Debug, Default)]
struct Work([u64; WORK_LANES]);

impl Work {
    /// These lanes of a ledger.
    fn of(ledger: &DieLedger) -> Self {
        let lanes = LANES.iter().chain(&BESIDE);
        let mut work = Self::default();
        work.0.iter_mut().zip(lanes).for_each(|(done, &lane)| *done = ledger[lane as usize]);
        work
    }

    fn plus(self, other: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane] + other.0[lane]))
    }

    /// What was added since `earlier`.
    fn since(self, earlier: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane] - earlier.0[lane]))
    }

    /// Where a lane is among the waits.
    fn place(lane: usize) -> usize {
        if lane < CHANNEL { lane } else { lane + 1 }
    }
}

const _: () = assert!(WORK_LANES + 1 == SPLIT_WHOLE);

/// For whom a resource works.
#[derive(Clone, Copy, Debug, Default)]
struct Working {
    holder: u16,
    /// The ledger of a die or bank when it began to.
    mark: Work,
    /// Of a channel: when its present transfer ends.
    until: Ns,
}

/// For whom the share of a command counts.
#[derive(Clone, Copy, Debug, Default)]
struct OwnRow {
    /// The share's number among all that were ever made.
    serial: u32,
    /// Whom its resource works for since it was opened last.
    holder: u16,
}

/// What resources did for each holder: the tenants, and behind them the drive.
#[derive(Debug)]
pub struct TenantLedgers {
    holders: usize,
    /// By resource.
    working: Vec<Working>,
    /// By resource and holder.
    held: Vec<Work>,
    /// By share.
    own: Vec<OwnRow>,
    /// By share and holder: what the resource did for the share's command.
    own_held: Vec<Held>,
}

impl TenantLedgers {
    /// Nothing done yet, for so many tenants on so many resources.
    pub fn new(tenants: usize, resources: usize) -> Self {
        let holders = tenants + 1;
        let idle = Working { holder: tenants as u16, ..Working::default() };
        Self {
            holders,
            working: vec![idle; resources],
            held: vec![Work::default(); resources * holders],
            own: Vec::new(),
            own_held: Vec::new(),
        }
    }

    /// How many holders there are.
    pub fn holders(&self) -> usize {
        self.holders
    }

    /// The drive, as a holder.
    pub fn drive(&self) -> u16 {
        (self.holders - 1) as u16
    }

    /// A die or bank takes something up for a holder; `ledger` is its own, up to now.
    pub fn works_for(&mut self, resource: ResourceId, holder: u16, ledger: &DieLedger) {
        let (now, at) = (Work::of(ledger), resource.0 as usize);
        let before = std::mem::replace(&mut self.working[at], Working { holder, mark: now, until: Ns::ZERO });
        let held = &mut self.held[at * self.holders + before.holder as usize];
        *held = held.plus(now.since(before.mark));
    }

    /// For whom a die or bank works.
    pub fn holder(&self, resource: ResourceId) -> u16 {
        self.working[resource.0 as usize].holder
    }

    /// A channel moves something for a holder, from now `until` then.
    pub fn channel_taken(&mut self, channel: ResourceId, holder: u16, now: Ns, until: Ns) {
        let at = channel.0 as usize;
        self.working[at] = Working { holder, until, ..Working::default() };
        self.held[at * self.holders + holder as usize].0[0] += (until - now).0;
    }

    /// A share of a command begins to count for whom its resource works.
    pub fn own_opened(&mut self, share: u32, serial: u32, holder: u16) {
        let at = share as usize;
        if self.own.len() <= at {
            self.own.resize(at + 1, OwnRow::default());
            self.own_held.resize((at + 1) * self.holders, Held::default());
        }
        if self.own[at].serial != serial {
            self.own_held[at * self.holders..][..self.holders].fill(Held::default());
        }
        self.own[at] = OwnRow { serial, holder };
    }

    /// What was done for a share since then is known.
    pub fn own_closed(&mut self, share: u32, by: Held) {
        let at = share as usize;
        let held = &mut self.own_held[at * self.holders + self.own[at].holder as usize];
        *held = held.plus(by);
    }

    /// What was done for a share on behalf of a holder, of which so much of what is under way is `done` beyond what is closed
    /// (or less, where that reaches into the future).
    fn own_by(&self, (share, serial): (u32, u32), holder: usize, done: HeldLanes) -> HeldLanes {
        let at = share as usize;
        let Some(row) = self.own.get(at).filter(|row| row.serial == serial) else { return HeldLanes::default() };
        let mut held = self.own_held[at * self.holders + holder].lanes();
        if row.holder as usize == holder {
            held.iter_mut().zip(done).for_each(|(lane, done)| *lane = lane.wrapping_add(done));
        }
        held
    }

    /// Has a function take in what a die did for each holder until now, without what it did for the command of a `share`.
    pub fn read_die(
        &self,
        die: ResourceId,
        (own, share): (&OwnParts, Option<u32>),
        now: Ns,
        ledger: &DieLedger,
        waits: &mut [MediaWaits],
        take: fn(&mut u64, u64),
    ) {
        let working = &self.working[die.0 as usize];
        let present = Work::of(ledger).since(working.mark);
        let own = share.map(|share| (own.name(share), own.under_way(share, now, ledger)));
        for (holder, waits) in waits.iter_mut().enumerate() {
            let mut held = self.held[die.0 as usize * self.holders + holder];
            if working.holder as usize == holder {
                held = held.plus(present);
            }
            let own = own.map_or(HeldLanes::default(), |(name, done)| self.own_by(name, holder, done));
            for (lane, held) in held.0.into_iter().enumerate() {
                let own = own.get(lane).copied().unwrap_or_default();
                take(&mut waits[Work::place(lane)], held.wrapping_sub(own));
            }
        }
    }

    /// The same of a channel; `share` is the command's in a die on it.
    pub fn read_channel(
        &self,
        channel: ResourceId,
        (own, share): (&OwnParts, Option<u32>),
        now: Ns,
        waits: &mut [MediaWaits],
        take: fn(&mut u64, u64),
    ) {
        let working = &self.working[channel.0 as usize];
        let to_come = working.until.saturating_since(now).0;
        let own = share.map(|share| {
            let channel = own.channel_of(share);
            (own.name(channel), own.channel_under_way(channel, now))
        });
        for (holder, waits) in waits.iter_mut().enumerate() {
            let mut held = self.held[channel.0 as usize * self.holders + holder].0[0];
            if working.holder as usize == holder {
                held -= to_come;
            }
            let own = own.map_or(0, |(name, done)| self.own_by(name, holder, done)[0]);
            take(&mut waits[CHANNEL], held.wrapping_sub(own));
        }
    }

    /// Data of other accesses of the same command over several planes go before those of a wait, which goes on.
    pub fn behind_data(waits: &mut [MediaWaits], holder: u16, time: Ns) {
        let wait = &mut waits[holder as usize][CHANNEL];
        *wait = wait.wrapping_add(time.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ninescope_kernel::NONE;
    use ninescope_model::OCCUPANCIES;

    fn ledger(read: u64, program: u64) -> DieLedger {
        let mut ledger = [0; OCCUPANCIES];
        ledger[Occupancy::HostRead as usize] = read;
        ledger[Occupancy::HostProgram as usize] = program;
        ledger
    }

    /// The same, of a die that moved pages between media and did nothing else.
    fn moves(time: u64) -> DieLedger {
        let mut ledger = [0; OCCUPANCIES];
        ledger[Occupancy::Migration as usize] = time;
        ledger
    }

    fn begins(wait: &mut u64, done: u64) {
        *wait = wait.wrapping_sub(done);
    }

    fn ends(wait: &mut u64, done: u64) {
        *wait = wait.wrapping_add(done);
    }

    /// So much in one lane of waits for dies and channels.
    fn at(lane: usize, time: u64) -> [u64; SPLIT_WHOLE] {
        std::array::from_fn(|at| if at == lane { time } else { 0 })
    }

    /// Waits for dies and channels.
    fn of_media(waits: MediaWaits) -> [u64; SPLIT_WHOLE] {
        std::array::from_fn(|at| waits[at])
    }

    #[test]
    fn a_wait_is_split_by_whom_the_die_worked_for() {
        let (die, own) = (ResourceId(0), OwnParts::new(2, 1));
        let mut ledgers = TenantLedgers::new(2, 2);
        ledgers.works_for(die, 1, &ledger(0, 0));
        let mut waits = [MediaWaits::default(); 3];
        ledgers.read_die(die, (&own, None), Ns(10), &ledger(0, 10), &mut waits, begins);
        ledgers.works_for(die, 0, &ledger(0, 400));
        ledgers.works_for(die, ledgers.drive(), &ledger(50, 400));
        ledgers.read_die(die, (&own, None), Ns(900), &ledger(50, 400), &mut waits, ends);
        assert_eq!(waits.map(of_media), [at(1, 50), at(2, 390), at(0, 0)]);
    }

    #[test]
    fn what_is_moved_for_somebody_is_waited_for_behind_him() {
        let (die, own) = (ResourceId(0), OwnParts::new(2, 1));
        let mut ledgers = TenantLedgers::new(2, 2);
        ledgers.works_for(die, 1, &moves(0));
        let mut waits = [MediaWaits::default(); 3];
        ledgers.read_die(die, (&own, None), Ns(40), &moves(40), &mut waits, begins);
        ledgers.works_for(die, 0, &moves(100));
        ledgers.read_die(die, (&own, None), Ns(110), &moves(110), &mut waits, ends);
        assert_eq!(waits.map(of_media), [at(4, 10), at(4, 60), at(0, 0)]);
    }

    #[test]
    fn what_counts_for_another_tenant_and_is_done_for_the_own_command_is_no_wait() {
        let (die, channel) = (ResourceId(0), ResourceId(1));
        let (mut own, mut first) = (OwnParts::new(2, 2), NONE);
        let mut ledgers = TenantLedgers::new(2, 2);
        let share = own.join(3, &mut first, [die, channel], true);
        let mut waits = [MediaWaits::default(); 3];
        // A command over two planes counts for tenant 0, and reads a page for a command of tenant 1 too.
        ledgers.works_for(die, 0, &ledger(0, 0));
        own.open(share, &ledger(0, 0));
        ledgers.own_opened(share, own.name(share).1, 0);
        ledgers.read_die(die, (&own, Some(share)), Ns(5), &ledger(5, 0), &mut waits, begins);
        let before = own.closed(share);
        own.close(share, Ns(50), Ns(60), &ledger(50, 0));
        ledgers.own_closed(share, own.closed(share).since(before));
        ledgers.read_die(die, (&own, Some(share)), Ns(55), &ledger(55, 0), &mut waits, ends);
        assert_eq!(waits, [MediaWaits::default(); 3]);
    }

    #[test]
    fn a_transfer_counts_as_far_as_it_got() {
        let (channel, own) = (ResourceId(1), OwnParts::new(2, 1));
        let mut ledgers = TenantLedgers::new(2, 2);
        ledgers.channel_taken(channel, 1, Ns(100), Ns(140));
        let mut waits = [MediaWaits::default(); 3];
        ledgers.read_channel(channel, (&own, None), Ns(110), &mut waits, begins);
        ledgers.channel_taken(channel, 0, Ns(140), Ns(150));
        ledgers.read_channel(channel, (&own, None), Ns(150), &mut waits, ends);
        assert_eq!(waits.map(of_media), [at(3, 10), at(3, 30), at(0, 0)]);
    }
}
