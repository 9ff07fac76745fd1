//! FLUSH: everything written so far goes to the media before the command completes.
//!
//! Host programs are counted by *epoch*: a FLUSH closes the present epoch and completes when its
//! programs, and those of the epochs before, have ended.

use std::collections::VecDeque;

use ninescope_kernel::NONE;

use super::Flash;
use crate::transaction::FlushEpoch;

#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Host page programs queued in the epoch and not ended.
    programs: u32,
    /// The FLUSH that closed it, `NONE` for the present one.
    command: u32,
}

/// The epochs that have not ended, oldest first; the last one is the present.
#[derive(Debug)]
pub struct FlushEpochs {
    epochs: VecDeque<Epoch>,
    /// Number of the oldest epoch kept, wrapping.
    oldest: u32,
}

impl FlushEpochs {
    /// The first epoch, with room for those that `commands` flushes at a time close.
    pub fn with_capacity(commands: usize) -> Self {
        let mut epochs = VecDeque::with_capacity(commands + 1);
        epochs.push_back(Epoch { programs: 0, command: NONE });
        Self { epochs, oldest: 0 }
    }

    /// A host page program is queued; returns its epoch.
    #[inline]
    pub fn program_queued(&mut self) -> FlushEpoch {
        let present = self.epochs.len() - 1;
        self.epochs[present].programs += 1;
        FlushEpoch(self.oldest.wrapping_add(present as u32))
    }

    fn program_ended(&mut self, FlushEpoch(epoch): FlushEpoch) {
        let position = epoch.wrapping_sub(self.oldest) as usize;
        self.epochs[position].programs -= 1;
    }

    fn close(&mut self, command: u32) {
        if let Some(present) = self.epochs.back_mut() {
            present.command = command;
        }
        self.epochs.push_back(Epoch { programs: 0, command: NONE });
    }

    /// The commands that wait for programs.
    pub fn waiting(&self) -> Vec<u32> {
        self.epochs.iter().map(|epoch| epoch.command).filter(|&command| command != NONE).collect()
    }

    /// The FLUSH of the oldest epoch, if its programs have all ended.
    fn pop_finished(&mut self) -> Option<u32> {
        let oldest = self.epochs.front()?;
        if oldest.programs > 0 || oldest.command == NONE {
            return None;
        }
        let command = oldest.command;
        self.epochs.pop_front();
        self.oldest = self.oldest.wrapping_add(1);
        Some(command)
    }
}

impl Flash {
    /// A FLUSH closes the present epoch: it completes when the programs of that, and of those before, have ended.
    pub fn close_epoch(&mut self, command: u32) {
        self.flushes.close(command);
    }

    /// A host page program ended. Returns whether a FLUSH waits for any.
    #[inline]
    pub fn flush_program_ended(&mut self, epoch: FlushEpoch) -> bool {
        self.flushes.program_ended(epoch);
        self.flushes.epochs.len() > 1
    }

    /// A FLUSH whose programs have all ended.
    pub fn next_finished_flush(&mut self) -> Option<u32> {
        self.flushes.pop_finished()
    }
}
