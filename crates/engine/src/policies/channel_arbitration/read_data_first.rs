//! Data that a die has read leave it before anything is sent to another die, as in MQSim: its channel asks for a command only when
//! no data wait (Tavakkol et al., FAST 2018; its NVDDR2 physical layer). Dies of a channel fall into step, and all sense, then
//! all send.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChannelArbitration, ChannelArbitrationParameters, ChannelView};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadDataFirst {}

impl ChannelArbitrationParameters for ReadDataFirst {
    fn build(&self) -> Option<Box<dyn ChannelArbitration>> {
        Some(Box::new(*self))
    }

    fn programs_are_commands(&self) -> bool {
        true
    }
}

impl ChannelArbitration for ReadDataFirst {
    fn data_first(&mut self, _view: &ChannelView) -> bool {
        true
    }
}
