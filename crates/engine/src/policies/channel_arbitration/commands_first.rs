//! Commands without data, of 0.2 to 0.3 us, fit between transfers of tens of microseconds, and each starts a die.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChannelArbitration, ChannelArbitrationParameters};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandsFirst {}

impl ChannelArbitrationParameters for CommandsFirst {
    fn build(&self) -> Option<Box<dyn ChannelArbitration>> {
        None
    }
}
