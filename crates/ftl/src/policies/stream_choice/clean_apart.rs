//! Clean data apart from dirty data: what another copy exists of (a cache's clean writes, and what was flushed since it
//! was written) goes to block groups of its own, where a weaker code will do. Data changes sides when it is moved, or
//! written anew (Huang et al., "FlexECC: Partially Relaxing ECC of MLC SSD for Better Cache Performance", USENIX ATC
//! 2014: "partition SSD cache into EDC(CRC) and ECC(BCH) regions").

use ninescope_kernel::Snapshot;
use ninescope_model::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StreamChoice, StreamChoiceParameters};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CleanApart {}

impl StreamChoiceParameters for CleanApart {
    fn build(&self) -> Box<dyn StreamChoice> {
        Box::new(*self)
    }
}

impl StreamChoice for CleanApart {
    fn knows_clean(&self) -> bool {
        true
    }

    fn of_write(&self, clean: bool) -> Stream {
        if clean { Stream::APART } else { Stream::HOST }
    }

    fn of_move(&self, clean: bool) -> Stream {
        if clean { Stream::GC_APART } else { Stream::GC }
    }
}

impl Snapshot for CleanApart {}
