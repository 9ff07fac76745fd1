//! Which free block group becomes the next write frontier.

use std::collections::VecDeque;
use std::fmt::Debug;

use ninescope_kernel::Snapshot;
use ninescope_model::policy_registry;

use crate::BlockRecord;

/// Chooses free groups. Asked once per group opened.
pub trait FreeBlockChoice: Debug + Send + Snapshot {
    /// The position in `free` (group numbers, in the order in which they became free, never empty) of the
    /// group to open. `groups` are all records of the drive.
    fn choose(&mut self, free: &VecDeque<u32>, groups: &[BlockRecord]) -> usize;
}

/// What a choice of free groups can be told.
pub trait FreeBlockChoiceParameters {
    /// The policy.
    fn build(&self) -> Box<dyn FreeBlockChoice>;
}

policy_registry! {
    /// Which free block group becomes the next write frontier.
    FreeBlockChoiceConfig as dyn FreeBlockChoiceParameters;
    "fifo" => fifo::Fifo, "the one that has been free for longest";
    "least-worn" => least_worn::LeastWorn, "the one with the fewest P/E cycles (dynamic wear levelling)";
}

impl FreeBlockChoiceConfig {
    pub(crate) fn build(&self) -> Box<dyn FreeBlockChoice> {
        self.chosen().build()
    }
}
