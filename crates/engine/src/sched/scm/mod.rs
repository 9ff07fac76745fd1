//! Scheduling of storage-class memory: what waits on each bank, what runs, and who has the channel.
//!
//! A bank works as a die does, with a queue per class, the drive's scheduling policy and a ledger of its time; but it has
//! no planes to fill and nothing to suspend. One transaction is one command: a slot and a mask of its sectors.

mod bus;
mod dispatch;
mod phases;

use ninescope_kernel::{Fifo, NONE, Ns};
use ninescope_media::scm::ScmCommand;
use ninescope_model::Occupancy;

use crate::meter::OccupancyLedger;
use crate::transaction::CLASSES;

/// What a bank's present command waits for or does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BankPhase {
    /// No command.
    #[default]
    Free,
    /// Wear levelling reads sectors that are in the way of a write, to copy them through the controller.
    CopyingOut,
    /// Waits for the channel to send them out and back in.
    WaitingToCopy,
    /// They cross the channel and are written where they are not in the way; or all of it happens within the memory.
    Copying,
    /// Waits for the channel to send command, address and write data.
    WaitingToSend,
    /// The array works, or will as soon as the bytes just being sent have arrived.
    Array,
    /// Waits for the channel to send read data.
    WaitingForDataOut,
    /// Read data moves; the bank is free at `data_out_end`.
    DataOut,
}

/// One bank as the scheduler sees it.
#[derive(Debug)]
pub struct BankUnit {
    /// Waiting transactions by class.
    pub queues: [Fifo; CLASSES],
    /// Bit `c`: `queues[c]` is not empty.
    pub waiting: u8,
    /// What its command does.
    pub phase: BankPhase,
    /// Its command, meaningless in `Free`.
    pub command: ScmCommand,
    /// Whose command it is, meaningless in `Free`.
    pub transaction: u32,
    /// Sectors that wear levelling copies before it, meaningless but while it does.
    pub copies: u32,
    /// What the command occupies the bank as.
    pub occupancy: Occupancy,
    /// Where its time went.
    pub ledger: OccupancyLedger,
    /// When the data of a read has left.
    pub data_out_end: Ns,
    /// That data stays in the controller, so that its arrival is an event.
    pub stays: bool,
    /// A transaction that was queued on the idle bank at this instant and has no ledger snapshot.
    pub unsnapped: u32,
    /// Link of the channel's queues.
    pub channel_next: u32,
    /// When it last asked for its channel.
    pub channel_requested: Ns,
}

impl Default for BankUnit {
    fn default() -> Self {
        Self {
            queues: [Fifo::default(); CLASSES],
            waiting: 0,
            phase: BankPhase::Free,
            command: ScmCommand::default(),
            transaction: NONE,
            copies: 0,
            occupancy: Occupancy::Idle,
            ledger: OccupancyLedger::default(),
            data_out_end: Ns::ZERO,
            stays: false,
            unsnapped: NONE,
            channel_next: NONE,
            channel_requested: Ns::ZERO,
        }
    }
}
