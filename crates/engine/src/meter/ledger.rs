//! The ledger of one die: how long it has been in each occupancy.

use ninescope_kernel::Ns;
use ninescope_model::{OCCUPANCIES, Occupancy};

/// Time held by each occupancy [ns].
pub type DieLedger = [u64; OCCUPANCIES];

/// Accumulates occupancy over time. A change of occupancy is one add.
///
/// `until` lets a data transfer end without an event: the die is idle from then on.
#[derive(Clone, Copy, Debug)]
pub struct OccupancyLedger {
    held: DieLedger,
    /// What was held when measuring began. Waits that began before count on from `held`.
    at_start: DieLedger,
    occupancy: Occupancy,
    since: Ns,
    until: Ns,
}

impl Default for OccupancyLedger {
    fn default() -> Self {
        Self {
            held: [0; OCCUPANCIES],
            at_start: [0; OCCUPANCIES],
            occupancy: Occupancy::Idle,
            since: Ns::ZERO,
            until: Ns::NEVER,
        }
    }
}

impl OccupancyLedger {
    /// Brings the ledger up to `now`.
    #[inline]
    pub fn settle(&mut self, now: Ns) {
        if self.until <= now {
            self.held[self.occupancy as usize] += (self.until - self.since).0;
            self.since = self.until;
            self.occupancy = Occupancy::Idle;
            self.until = Ns::NEVER;
        }
        self.held[self.occupancy as usize] += (now - self.since).0;
        self.since = now;
    }

    /// Changes the occupancy from `now` on.
    #[inline]
    pub fn enter(&mut self, now: Ns, occupancy: Occupancy) {
        self.settle(now);
        self.occupancy = occupancy;
        self.until = Ns::NEVER;
    }

    /// Changes the occupancy from `now` until `until`, idle after that unless changed before.
    #[inline]
    pub fn enter_until(&mut self, now: Ns, occupancy: Occupancy, until: Ns) {
        self.enter(now, occupancy);
        self.until = until;
    }

    /// What it was changed to last.
    pub fn occupancy(&self) -> Occupancy {
        self.occupancy
    }

    /// The ledger up to `now`.
    #[inline]
    pub fn read(&mut self, now: Ns) -> &DieLedger {
        self.settle(now);
        &self.held
    }

    /// Measures from `now` on.
    pub fn begin_measuring(&mut self, now: Ns) {
        self.settle(now);
        self.at_start = self.held;
    }

    /// What was held since measuring began.
    pub fn measured(&mut self, now: Ns) -> DieLedger {
        self.settle(now);
        std::array::from_fn(|occupancy| self.held[occupancy] - self.at_start[occupancy])
    }
}

/// How long something lasts that begins and ends again and again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spells {
    since: Option<Ns>,
    time: Ns,
}

impl Spells {
    /// It begins, unless it has.
    #[inline]
    pub fn begin(&mut self, now: Ns) {
        self.since.get_or_insert(now);
    }

    /// It ends, if it had begun.
    #[inline]
    pub fn end(&mut self, now: Ns) {
        if let Some(since) = self.since.take() {
            self.time += now - since;
        }
    }

    /// Measures from `now` on.
    pub fn begin_measuring(&mut self, now: Ns) {
        *self = Self { since: self.since.map(|_| now), time: Ns::ZERO };
    }

    /// How long it lasted since measuring began.
    pub fn measured(&self, now: Ns) -> Ns {
        self.since.map_or(self.time, |since| self.time + (now - since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nanosecond_lies_in_one_occupancy() {
        let mut ledger = OccupancyLedger::default();
        ledger.enter(Ns(10), Occupancy::HostRead);
        ledger.enter(Ns(25), Occupancy::WaitingForChannel);
        ledger.enter_until(Ns(30), Occupancy::HostRead, Ns(37));
        let held = *ledger.read(Ns(50));
        assert_eq!(held[Occupancy::Idle as usize], 10 + 13);
        assert_eq!(held[Occupancy::HostRead as usize], 15 + 7);
        assert_eq!(held[Occupancy::WaitingForChannel as usize], 5);
        assert_eq!(held.iter().sum::<u64>(), 50);
    }

    #[test]
    fn measuring_may_begin_while_somebody_waits() {
        let mut ledger = OccupancyLedger::default();
        ledger.enter(Ns(0), Occupancy::Erase);
        let queued = *ledger.read(Ns(10));
        ledger.begin_measuring(Ns(15));
        assert_eq!(ledger.read(Ns(40))[Occupancy::Erase as usize] - queued[Occupancy::Erase as usize], 30);
        assert_eq!(ledger.measured(Ns(40))[Occupancy::Erase as usize], 25);
    }

    #[test]
    fn spells_count_from_when_measuring_began() {
        let mut spells = Spells::default();
        spells.begin(Ns(10));
        spells.begin(Ns(15));
        spells.begin_measuring(Ns(20));
        spells.end(Ns(50));
        spells.end(Ns(60));
        assert_eq!(spells.measured(Ns(70)), Ns(30));
        spells.begin(Ns(80));
        assert_eq!(spells.measured(Ns(100)), Ns(50));
    }

    #[test]
    fn an_occupancy_that_ends_by_itself_can_be_cut_short() {
        let mut ledger = OccupancyLedger::default();
        ledger.enter_until(Ns(0), Occupancy::HostRead, Ns(100));
        ledger.enter(Ns(40), Occupancy::Erase);
        let held = *ledger.read(Ns(60));
        assert_eq!((held[Occupancy::HostRead as usize], held[Occupancy::Erase as usize]), (40, 20));
    }
}
