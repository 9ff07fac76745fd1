//! Least worn: the free group with the fewest P/E cycles, which is dynamic wear levelling (Chang,
//! "On efficient wear leveling for large-scale flash-memory storage systems", SAC 2007, section 2).

use std::collections::VecDeque;

use ninescope_kernel::Snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FreeBlockChoice, FreeBlockChoiceParameters};
use crate::BlockRecord;

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeastWorn {}

impl FreeBlockChoiceParameters for LeastWorn {
    fn build(&self) -> Box<dyn FreeBlockChoice> {
        Box::new(*self)
    }
}

impl FreeBlockChoice for LeastWorn {
    fn choose(&mut self, free: &VecDeque<u32>, groups: &[BlockRecord]) -> usize {
        let wear = |&(_, &group): &(usize, &u32)| groups[group as usize].erase_count;
        free.iter().enumerate().min_by_key(wear).map_or(0, |(position, _)| position)
    }
}

impl Snapshot for LeastWorn {}
