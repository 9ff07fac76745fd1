//! FAST: a map of blocks with log blocks that all logical blocks share (Lee et al., "A log buffer-based flash translation layer using
//! fully-associative sector translation", ACM Transactions on Embedded Computing Systems 6(3), 2007).

use ninescope_ftl::block_map::{BlockMapConfig, BlockScheme};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MapParameters, MapRules};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fast {
    /// Log blocks of each plane at most, one of them for sequential writes [count].
    #[schemars(range(min = 2))]
    pub log_blocks: u32,
}

impl Default for Fast {
    fn default() -> Self {
        Self { log_blocks: 4 }
    }
}

impl MapParameters for Fast {
    fn rules(&self) -> Option<MapRules> {
        None
    }

    fn by_blocks(&self) -> Option<BlockMapConfig> {
        Some(BlockMapConfig { scheme: BlockScheme::Fast, log_blocks: self.log_blocks })
    }
}
