//! Cache reads: a die whose planes have a second register senses the next page while the one before it leaves.
//!
//! Beside each die stands its second register, which is a station: with a wake-up and a place in the queue of the channel, and nothing
//! queued. A page that was sensed waits in the die until the second register is free. If a read is next then, the die takes that up, and
//! the command of that sends the page on: it moves while the die is busy, and then the next page is sensed while it leaves. If none is,
//! it leaves as pages do of a die without such a register, and in no more time. So whenever a page is in the second register its die
//! is at a read, and whatever else it is to do finds both registers free.

use ninescope_kernel::{Ns, WakeQueue};
use ninescope_media::nand::Nand;
use ninescope_model::{DieId, Geometry, Occupancy};

use super::Flash;
use super::dispatch::Turn;
use crate::run::Run;
use crate::sched::Phase;
use crate::transaction::QueueClass;

/// The second registers of all dies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registers {
    /// The station of that of the first die.
    first: u32,
    /// What a page takes to move there.
    time: Ns,
}

impl Registers {
    /// Nothing where pages leave from the register that they were sensed into.
    pub fn new(geometry: &Geometry, nand: &Nand) -> Option<Self> {
        nand.timing().cache_read.map(|time| Self { first: geometry.dies(), time })
    }

    fn station(self, die: DieId) -> u32 {
        self.first + die.0
    }
}

/// How many stations stand beside the dies of a drive: planes that read each by itself, or second registers.
pub fn stations_beside(geometry: &Geometry, nand: &Nand) -> u32 {
    if nand.planes_read_independently() {
        geometry.dies() * geometry.planes_per_die
    } else if nand.timing().cache_read.is_some() {
        geometry.dies()
    } else {
        0
    }
}

/// What a station beside a die has come to the end of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// A plane that reads by itself has sensed its page.
    PageSensed,
    /// The command is sent that sends a page on to its second register.
    PageFollowed,
    /// The page is there.
    PageMoved,
    /// Data have left.
    DataLeft,
}

impl Flash {
    /// Whether a station is none of the dies: a plane that reads by itself, or a second register.
    #[inline]
    pub fn is_beside(&self, station: u32) -> bool {
        station >= self.first_beside
    }

    /// Whether it is a second register.
    #[inline]
    pub(super) fn is_register(&self, station: u32) -> bool {
        self.is_beside(station) && self.registers.is_some()
    }

    /// How many commands have their page in the second register of a die, or on its way there: none or one.
    pub(super) fn pages_in_register(&self, die: DieId) -> u32 {
        let phase = self.registers.map(|of| self.dies[of.station(die)].phase());
        u32::from(phase.is_some_and(|phase| phase != Phase::Free))
    }

    /// What a station beside a die has come to the end of, which woke.
    pub fn beside_ended(&self, station: u32) -> Beside {
        match self.dies[station].phase() {
            Phase::DataOut => Beside::DataLeft,
            Phase::Sensed => Beside::PageFollowed,
            Phase::Moving => Beside::PageMoved,
            _ => Beside::PageSensed,
        }
    }

    /// The pages of a read are in the first register. From here on they wait to leave.
    #[inline(never)]
    pub(super) fn page_is_sensed<Q>(&mut self, run: &mut Run<Q>, station: u32) {
        let die = DieId(station);
        if self.nand.parked(die).is_some() {
            // What is parked keeps one of the registers.
            self.request_channel(run, station, Phase::WaitingForDataOut);
            return;
        }
        self.dies[station].enter(run.now, Phase::Sensed, Occupancy::WaitingForChannel);
        if self.dies[station].work.shared {
            self.begin_shared_channel_wait(run, station);
        }
        // What it does next is decided when all else of this instant is known.
        self.dies.touch(station);
    }

    /// What a die does that is not free: with a page in its first register and nothing in the second one, it goes on to a read that is
    /// next, or else asks for its channel.
    #[inline(never)]
    pub(super) fn turn_after_sensing<Q>(&mut self, run: &mut Run<Q>, die: DieId) -> Option<Turn> {
        let register = self.registers?.station(die);
        if self.dies[die.0].phase() != Phase::Sensed || self.dies[register].phase() != Phase::Free {
            return None;
        }
        if let Some(class) = self.read_that_follows(run, die) {
            self.page_is_followed(run, (die, register));
            return Some(Turn::Issue(class));
        }
        let channel = self.geometry.channel_of_die(die).0;
        self.dies.ask_for_bus(run.now, die.0, channel, Phase::WaitingForDataOut, false);
        None
    }

    /// The class of reads that is next, if one is. The scheduler is asked where a read of the host waits, or nothing but reads: then no
    /// answer that is not followed is of any consequence to it.
    fn read_that_follows<Q>(&mut self, run: &Run<Q>, die: DieId) -> Option<QueueClass> {
        let unit = &self.dies[die.0];
        let others = [QueueClass::HostProgram, QueueClass::MoveProgram, QueueClass::Erase];
        let of_moves = unit.has_waiting(QueueClass::MoveRead) && !others.iter().any(|&class| unit.has_waiting(class));
        if self.is_to_fail(die) || !unit.has_waiting(QueueClass::HostRead) && !of_moves {
            return None;
        }
        self.next_class(run, die, false).filter(|class| class.is_read())
    }

    /// A die is about to take up another read: what it has sensed is the second register's, and moves when that read is sent.
    fn page_is_followed<Q>(&mut self, run: &mut Run<Q>, (die, register): (DieId, u32)) {
        if self.dies[die.0].work.shared {
            self.close_shares(run, die.0, run.now);
            self.works_for_whom(run, register, die.0);
        }
        let unit = &mut self.dies[die.0];
        let (work, occupancy) = (std::mem::take(&mut unit.work), unit.occupancy);
        unit.enter(run.now, Phase::Free, Occupancy::Idle);
        let unit = &mut self.dies[register];
        (unit.work, unit.occupancy) = (work, occupancy);
        unit.enter(run.now, Phase::Sensed, Occupancy::WaitingForChannel);
        run.counters.cached_reads += 1;
    }

    /// A command of a die is `sent` then. Returns for how long a page moves then that it follows, before the array begins.
    #[inline(never)]
    pub(super) fn page_goes_on<Q: WakeQueue>(&self, run: &mut Run<Q>, of: Registers, die: DieId, sent: Ns) -> Ns {
        let register = of.station(die);
        if self.dies[register].phase() != Phase::Sensed {
            return Ns::ZERO;
        }
        run.queue.schedule(self.dies.resource(register), sent);
        of.time
    }

    /// The command is sent that a page waited for: it moves to the second register. Returns until when.
    pub fn page_moves<Q: WakeQueue>(&mut self, run: &mut Run<Q>, register: u32) -> Ns {
        let (now, time) = (run.now, self.registers.map_or(Ns::ZERO, |of| of.time));
        let command = self.dies[register].work.command;
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            if run.transactions.slab[index].tracked {
                run.transactions.moves(index, now, time);
            }
        }
        if self.dies[register].work.shared {
            self.channel_awaited_by_tenant(run, register);
            self.channel_awaited(run, register);
        }
        let unit = &mut self.dies[register];
        unit.enter(now, Phase::Moving, unit.occupancy);
        run.queue.schedule(self.dies.resource(register), now + time);
        now + time
    }

    /// The pages are in the second register, which asks for the channel.
    pub fn page_moved<Q>(&mut self, run: &mut Run<Q>, register: u32) {
        self.request_channel(run, register, Phase::WaitingForDataOut);
    }

    /// They have left: what waits in the first one may follow.
    pub(super) fn register_is_free<Q>(&mut self, run: &Run<Q>, register: u32) {
        let die = self.dies[register].work.command.die;
        self.dies[register].enter(run.now, Phase::Free, Occupancy::Idle);
        self.dies.touch(die.0);
    }
}
