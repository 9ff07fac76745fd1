//! First come, first served over all classes; the lower class wins among equals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DieView, TransactionScheduler, TransactionSchedulerParameters};
use crate::transaction::QueueClass;

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fifo {}

impl TransactionSchedulerParameters for Fifo {
    fn build(&self) -> Box<dyn TransactionScheduler> {
        Box::new(*self)
    }
}

impl TransactionScheduler for Fifo {
    fn pick(&mut self, view: &DieView) -> Option<QueueClass> {
        let waiting = QueueClass::ALL.into_iter().filter(|&class| view.has(class));
        waiting.min_by_key(|&class| view.head_queued(class))
    }
}
