//! No suspends: what most drives without the feature do, and the baseline of the others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SuspendPolicy, SuspendPolicyParameters};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoSuspend {}

impl SuspendPolicyParameters for NoSuspend {
    fn build(&self) -> Option<Box<dyn SuspendPolicy>> {
        None
    }
}
