//! BAST: a map of blocks with a log block for each logical block that is overwritten (Kim et al., "A space-efficient flash translation layer for `CompactFlash`
//! systems", IEEE Transactions on Consumer Electronics 48(2), 2002).

use ninescope_ftl::block_map::{BlockMapConfig, BlockScheme};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MapParameters, MapRules};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bast {
    /// Log blocks of each plane at most [count].
    #[schemars(range(min = 1))]
    pub log_blocks: u32,
}

impl Default for Bast {
    fn default() -> Self {
        Self { log_blocks: 4 }
    }
}

impl MapParameters for Bast {
    fn rules(&self) -> Option<MapRules> {
        None
    }

    fn by_blocks(&self) -> Option<BlockMapConfig> {
        Some(BlockMapConfig { scheme: BlockScheme::Bast, log_blocks: self.log_blocks })
    }
}
