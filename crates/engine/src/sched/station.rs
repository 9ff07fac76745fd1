//! A die or a bank: what waits for it, what it does, and where its time goes.

use ninescope_kernel::{Fifo, NONE, Ns};
use ninescope_model::Occupancy;

use crate::meter::{DieLedger, OccupancyLedger};
use crate::transaction::{CLASSES, QueueClass};

/// What a station's present command waits for or does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// No command; perhaps a die has an operation parked.
    #[default]
    Free,
    /// A bank reads sectors that are in the way of a write, to copy them through the controller.
    CopyingOut,
    /// Waits for the channel to send them out and back in.
    WaitingToCopy,
    /// They cross the channel and are written where they are not in the way; or all of it happens within the memory.
    Copying,
    /// Waits for the data of a program, which the controller reads from its DRAM.
    WaitingForMemory,
    /// Waits for the channel to send command, address and data.
    WaitingToSend,
    /// The array works, or will as soon as the bytes just being sent have arrived.
    Array,
    /// A page is in the register that it was sensed into, and waits for the other one, from which it leaves.
    Sensed,
    /// A page moves from one register to the other.
    Moving,
    /// Waits for the channel to send read data.
    WaitingForDataOut,
    /// Read data moves; the station is free when they have left.
    DataOut,
    /// A die's suspended operation: voltages recover.
    Recovering,
    /// A die's suspended operation ramps up to go on.
    Resuming,
}

/// One die or bank as the scheduler sees it, with what it works on.
#[derive(Debug)]
pub struct Station<W> {
    /// Waiting transactions by class.
    pub(super) queues: [Fifo; CLASSES],
    /// Bit `c`: `queues[c]` is not empty.
    pub(super) waiting: u8,
    /// What its command does.
    phase: Phase,
    /// What the command occupies it as.
    pub occupancy: Occupancy,
    /// Where its time went.
    ledger: OccupancyLedger,
    /// When the data of a read has left.
    pub(super) data_out_end: Ns,
    /// A tracked transaction that was queued while it was idle, at this instant, and has no ledger snapshot.
    pub(super) unsnapped: u32,
    /// Link of the channel's queues.
    pub(super) bus_next: u32,
    /// When it last asked for its channel.
    pub(super) bus_requested: Ns,
    /// Its command and what belongs to it.
    pub work: W,
}

impl<W: Default> Default for Station<W> {
    fn default() -> Self {
        Self {
            queues: [Fifo::default(); CLASSES],
            waiting: 0,
            phase: Phase::Free,
            occupancy: Occupancy::Idle,
            ledger: OccupancyLedger::default(),
            data_out_end: Ns::ZERO,
            unsnapped: NONE,
            bus_next: NONE,
            bus_requested: Ns::ZERO,
            work: W::default(),
        }
    }
}

impl<W> Station<W> {
    /// What its command does.
    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// How many transactions of each class are queued.
    pub fn queued(&self) -> [u32; CLASSES] {
        self.queues.each_ref().map(Fifo::len)
    }

    /// Whether transactions of a class wait.
    #[inline]
    pub fn has_waiting(&self, class: QueueClass) -> bool {
        self.waiting >> class as u8 & 1 == 1
    }

    /// The queue of a class, and what is behind its first transaction.
    #[inline]
    pub fn queue(&mut self, class: QueueClass) -> &mut Fifo {
        &mut self.queues[class as usize]
    }

    /// Transactions were taken from the queue of a class.
    #[inline]
    pub fn taken_from(&mut self, class: QueueClass) {
        if self.queues[class as usize].is_empty() {
            self.waiting &= !(1 << class as u8);
        }
    }

    /// Its ledger up to now.
    #[inline]
    pub fn ledger(&mut self, now: Ns) -> &DieLedger {
        self.ledger.read(now)
    }

    /// What it is occupied with.
    pub fn occupied_with(&self) -> Occupancy {
        self.ledger.occupancy()
    }

    /// Its command goes on to another phase.
    #[inline]
    pub fn goes_on(&mut self, phase: Phase) {
        self.phase = phase;
    }

    /// The same, and it is occupied with something else from `now` on.
    #[inline]
    pub fn enter(&mut self, now: Ns, phase: Phase, occupancy: Occupancy) {
        self.phase = phase;
        self.ledger.enter(now, occupancy);
    }

    /// Data leave until it is free again.
    #[inline]
    pub(super) fn enter_data_out(&mut self, now: Ns, until: Ns) {
        self.ledger.enter_until(now, self.occupancy, until);
        self.phase = Phase::DataOut;
        self.data_out_end = until;
    }

    /// Whether it has nothing to do, whatever waits.
    pub fn is_through(&self, now: Ns) -> bool {
        self.phase == Phase::Free || (self.phase == Phase::DataOut && self.data_out_end <= now)
    }

    /// When the data of its read will have left, while they leave.
    pub fn data_out_end(&self) -> Ns {
        self.data_out_end
    }

    /// Whether it has nothing to do, and nothing waits.
    pub(super) fn is_quiet(&self, now: Ns) -> bool {
        self.waiting == 0 && self.is_through(now)
    }

    /// Measures from `now` on.
    pub(super) fn begin_measuring(&mut self, now: Ns) {
        self.ledger.begin_measuring(now);
    }

    /// What it was occupied with since measuring began.
    pub(super) fn measured(&mut self, now: Ns) -> DieLedger {
        self.ledger.measured(now)
    }
}
