//! FIFO: the group that has been free for longest, which spreads erases evenly without looking at wear.

use std::collections::VecDeque;

use ninescope_kernel::Snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FreeBlockChoice, FreeBlockChoiceParameters};
use crate::BlockRecord;

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fifo {}

impl FreeBlockChoiceParameters for Fifo {
    fn build(&self) -> Box<dyn FreeBlockChoice> {
        Box::new(*self)
    }
}

impl FreeBlockChoice for Fifo {
    fn choose(&mut self, _free: &VecDeque<u32>, _groups: &[BlockRecord]) -> usize {
        0
    }
}

impl Snapshot for Fifo {}
