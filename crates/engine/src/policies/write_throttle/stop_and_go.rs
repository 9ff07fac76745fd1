//! Stop and go: writes are placed as they come while there is a free page for them, and wait when there is none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{WriteThrottle, WriteThrottleParameters};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopAndGo {}

impl WriteThrottleParameters for StopAndGo {
    fn build(&self) -> Option<Box<dyn WriteThrottle>> {
        None
    }
}
