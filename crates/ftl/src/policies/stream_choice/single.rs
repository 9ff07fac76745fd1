//! One stream for the host and one for garbage collection, whatever the data is.

use ninescope_kernel::Snapshot;
use ninescope_model::{Lpa, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StreamChoice, StreamChoiceParameters, Written};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Single {}

impl StreamChoiceParameters for Single {
    fn build(&self, _units: u32, _groups: u32) -> Box<dyn StreamChoice> {
        Box::new(*self)
    }
}

impl StreamChoice for Single {
    fn of_write(&self, _unit: &Written) -> u32 {
        0
    }

    fn of_move(&self, _lpa: Lpa, _clean: bool, _from: Stream) -> u32 {
        0
    }
}

impl Snapshot for Single {}
