//! Block: a map of blocks without logs.

use ninescope_ftl::block_map::{BlockMapConfig, BlockScheme};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MapParameters, MapRules};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Block {}

impl MapParameters for Block {
    fn rules(&self) -> Option<MapRules> {
        None
    }

    fn by_blocks(&self) -> Option<BlockMapConfig> {
        Some(BlockMapConfig { scheme: BlockScheme::Block, log_blocks: 0 })
    }
}
