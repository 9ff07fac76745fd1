//! Reads before writes before garbage collection. Where host writes wait for garbage collection, it goes
//! before them. Within garbage collection: erase (frees a group), program (frees a buffer), read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DieView, TransactionScheduler, TransactionSchedulerParameters};
use crate::transaction::QueueClass::{self, Erase, HostProgram, HostRead, MoveProgram, MoveRead};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadsFirst {}

impl TransactionSchedulerParameters for ReadsFirst {
    fn build(&self) -> Box<dyn TransactionScheduler> {
        Box::new(*self)
    }
}

impl TransactionScheduler for ReadsFirst {
    fn pick(&mut self, view: &DieView) -> Option<QueueClass> {
        if view.gc_is_urgent {
            view.first_of(&[HostRead, Erase, MoveProgram, MoveRead, HostProgram])
        } else {
            view.first_of(&[HostRead, HostProgram, Erase, MoveProgram, MoveRead])
        }
    }
}
