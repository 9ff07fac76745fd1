//! One stream for the host and one for garbage collection, whatever the data is.

use ninescope_kernel::Snapshot;
use ninescope_model::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StreamChoice, StreamChoiceParameters};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Single {}

impl StreamChoiceParameters for Single {
    fn build(&self) -> Box<dyn StreamChoice> {
        Box::new(*self)
    }
}

impl StreamChoice for Single {
    fn of_write(&self, _clean: bool) -> Stream {
        Stream::HOST
    }

    fn of_move(&self, _clean: bool) -> Stream {
        Stream::GC
    }
}

impl Snapshot for Single {}
