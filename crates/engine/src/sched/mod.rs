//! Scheduling: what waits on each die, what runs, and who has the channel.

pub mod scm;
pub mod suspend_policy;
pub mod transaction_scheduler;

mod channel;
mod die_phases;
mod dispatch;
mod enqueue;
mod own_parts;
mod suspend;

use ninescope_kernel::{Fifo, NONE, Ns};
use ninescope_media::nand::FlashCommand;
use ninescope_model::Occupancy;

use crate::meter::OccupancyLedger;
use crate::transaction::{BringsUp, CLASSES, QueueClass};

/// What a die's present command waits for or does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiePhase {
    /// No command; perhaps an operation is parked.
    #[default]
    Free,
    /// Waits for the channel to send command, address and program data.
    WaitingToSend,
    /// The array works, or will as soon as the bytes just being sent have arrived.
    Array,
    /// Waits for the channel to send read data.
    WaitingForDataOut,
    /// Read data moves; the die is free at `data_out_end`.
    DataOut,
    /// A suspended operation's voltages recover.
    Recovering,
    /// A suspended operation ramps up to go on.
    Resuming,
}

/// One die as the scheduler sees it.
#[derive(Debug)]
pub struct DieUnit {
    /// Waiting transactions by class.
    pub queues: [Fifo; CLASSES],
    /// Bit `c`: `queues[c]` is not empty.
    pub waiting: u8,
    /// What its command does.
    pub phase: DiePhase,
    /// Its command, meaningless in `Free`.
    pub command: FlashCommand,
    /// What the command occupies the die as.
    pub occupancy: Occupancy,
    /// Where its time went.
    pub ledger: OccupancyLedger,
    /// When the data of a read has left.
    pub data_out_end: Ns,
    /// Planes of the command whose read data stays in the controller, so that its arrival is an event.
    pub staying_planes: u8,
    /// By plane: the migration that takes up the data of a host read as well.
    pub bringing_up: [BringsUp; 4],
    /// Its command works for commands of several parts, which have shares of the die.
    pub shared: bool,
    /// A tracked transaction that was queued on the idle die at this instant and has no ledger snapshot.
    pub unsnapped: u32,
    /// Link of the channel's queues.
    pub channel_next: u32,
    /// When it last asked for its channel.
    pub channel_requested: Ns,
    /// Host pages filled and not yet programmed.
    pub buffered_pages: u32,
}

impl DieUnit {
    /// Whether transactions of a class wait.
    #[inline]
    pub fn has_waiting(&self, class: QueueClass) -> bool {
        self.waiting >> class as u8 & 1 == 1
    }
}

impl Default for DieUnit {
    fn default() -> Self {
        Self {
            queues: [Fifo::default(); CLASSES],
            waiting: 0,
            phase: DiePhase::Free,
            command: FlashCommand::default(),
            occupancy: Occupancy::Idle,
            ledger: OccupancyLedger::default(),
            data_out_end: Ns::ZERO,
            staying_planes: 0,
            bringing_up: [BringsUp::NONE; 4],
            shared: false,
            unsnapped: NONE,
            channel_next: NONE,
            channel_requested: Ns::ZERO,
            buffered_pages: 0,
        }
    }
}

/// One channel.
#[derive(Debug, Default)]
pub struct ChannelUnit {
    /// When the present transfer ends.
    pub free_at: Ns,
    /// Dies that wait to send a command without data, in the order of asking.
    pub commands: Fifo,
    /// Dies that wait to move data, in the order of asking.
    pub data: Fifo,
    /// Time spent transferring since the counters were cleared [ns].
    pub busy: Ns,
}
