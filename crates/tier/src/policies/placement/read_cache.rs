//! A cache of what is read: pages are copied up when they are read from flash, and writes go around it. A page that is written
//! leaves its slot, so that nothing above is ever newer than what lies below, and none of it has to go down.

use ninescope_model::string_or_table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Classes, DataPlacement, MigrationMode, OnRead, PlacementParameters, Rules, WriteBack, WriteTo};
use crate::policies::eviction::EvictionConfig;

/// Its parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReadCache {
    /// Which page makes way.
    #[serde(deserialize_with = "string_or_table")]
    pub victim: EvictionConfig,
    /// Pages that are brought up ahead of a read that goes on where one before it ended [count].
    #[serde(skip_serializing_if = "is_none")]
    pub read_ahead: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_none(pages: &u32) -> bool {
    *pages == 0
}

impl PlacementParameters for ReadCache {
    fn is_cache(&self) -> bool {
        true
    }

    fn build(&self) -> Option<(Box<dyn DataPlacement>, Rules)> {
        let rules = Rules {
            evict_free: 0.0,
            evict_stop: 0.0,
            victim: self.victim.clone(),
            migration: MigrationMode::Background,
            classes: Classes::default(),
            fetch_on_write: false,
            write_around: true,
            write_back: WriteBack::default(),
            read_ahead: self.read_ahead,
            flush_at_rest: None,
        };
        Some((Box::new(self.clone()), rules))
    }
}

impl DataPlacement for ReadCache {
    fn write(&mut self, _access: &Access) -> WriteTo {
        WriteTo::Lower
    }

    fn read(&mut self, _access: &Access) -> OnRead {
        OnRead::Copy
    }
}
