//! First come, first served over commands and data; the command wins among equals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChannelArbitration, ChannelArbitrationParameters, ChannelView};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstCome {}

impl ChannelArbitrationParameters for FirstCome {
    fn build(&self) -> Option<Box<dyn ChannelArbitration>> {
        Some(Box::new(*self))
    }
}

impl ChannelArbitration for FirstCome {
    fn data_first(&mut self, view: &ChannelView) -> bool {
        view.data_asked < view.command_asked
    }
}
