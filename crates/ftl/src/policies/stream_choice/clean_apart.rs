//! Clean data apart from dirty data: what another copy exists of (a cache's clean writes, and what was flushed since it
//! was written) goes to block groups of its own, where a weaker code will do. Data changes sides when it is moved, or
//! written anew (Huang et al., "FlexECC: Partially Relaxing ECC of MLC SSD for Better Cache Performance", USENIX ATC
//! 2014: "partition SSD cache into EDC(CRC) and ECC(BCH) regions").

use ninescope_kernel::Snapshot;
use ninescope_model::{Lpa, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StreamChoice, StreamChoiceParameters, Written};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CleanApart {}

impl StreamChoiceParameters for CleanApart {
    fn build(&self, _units: u32, _groups: u32) -> Box<dyn StreamChoice> {
        Box::new(*self)
    }
}

impl StreamChoice for CleanApart {
    fn kinds_of_writes(&self) -> u32 {
        2
    }

    fn kinds_of_moves(&self) -> u32 {
        2
    }

    fn knows_clean(&self) -> bool {
        true
    }

    fn of_write(&self, unit: &Written) -> u32 {
        u32::from(unit.clean)
    }

    fn of_move(&self, _lpa: Lpa, clean: bool, _from: Stream) -> u32 {
        u32::from(clean)
    }
}

impl Snapshot for CleanApart {}
