//! A cache of what is written again: a page that is written the first time for a while goes to flash at once, one that was written
//! lately stays above, so that what is overwritten soon is programmed once. Reads move nothing.
//!
//! MQSim's data cache does so (Tavakkol et al., FAST 2018; `Data_Cache_Manager_Flash_Advanced`): what it has written within a
//! second stays dirty until it is evicted. *Lately* is a number of pages, and since all of them were forgotten last.

use ninescope_model::schema::above_zero;
use ninescope_model::string_or_table;
use ninescope_model::units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Classes, DataPlacement, MigrationMode, OnRead, PlacementParameters, Rules, WriteBack, WriteTo};
use crate::policies::eviction::EvictionConfig;

/// Its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rewritten {
    /// Pages are evicted while no more than this share of the slots is free; 0: where a slot is needed.
    #[schemars(range(min = 0, max = 1))]
    pub evict_free: f64,
    /// Once begun, eviction goes on until more than this share is free; that of `evict_free`, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub evict_stop: Option<f64>,
    /// Which page is evicted.
    #[serde(deserialize_with = "string_or_table")]
    pub victim: EvictionConfig,
    /// Whether requests wait for the migrations they cause.
    pub migration: MigrationMode,
    /// Pages that count as written lately, as a multiple of the slots.
    #[schemars(transform = above_zero)]
    pub recent_writes: f64,
    /// So often all of them are forgotten: what is written next goes to flash, and leaves its slot where it covers what that holds;
    /// absent: never [ns].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub forget_every: Option<Duration>,
    /// When the host has rested for so long, what is dirty goes down; absent: not because of that [ns].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub flush_at_rest: Option<Duration>,
}

impl Default for Rewritten {
    fn default() -> Self {
        Self {
            evict_free: 0.0,
            evict_stop: None,
            victim: EvictionConfig::default(),
            migration: MigrationMode::Background,
            recent_writes: 1.0,
            forget_every: None,
            flush_at_rest: None,
        }
    }
}

impl Rewritten {
    /// Nothing is random by its size alone.
    fn classes(&self) -> Classes {
        Classes {
            hot_entries: self.recent_writes,
            hot_uses: 1,
            random_up_to: Bytes(0),
            of_writes: true,
            forgotten_every: self.forget_every,
        }
    }

    /// What the tier needs to know.
    pub fn rules(&self) -> Rules {
        Rules {
            evict_free: self.evict_free,
            evict_stop: self.evict_stop.unwrap_or(self.evict_free),
            victim: self.victim.clone(),
            migration: self.migration,
            classes: self.classes(),
            fetch_on_write: false,
            write_around: false,
            write_back: WriteBack::default(),
            read_ahead: 0,
            flush_at_rest: self.flush_at_rest,
        }
    }
}

impl PlacementParameters for Rewritten {
    fn is_cache(&self) -> bool {
        true
    }

    fn build(&self) -> Option<(Box<dyn DataPlacement>, Rules)> {
        Some((Box::new(self.clone()), self.rules()))
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        let told = self.recent_writes;
        if self.forget_every.is_some_and(|every| every.0 == 0) {
            return Some(("forget_every", "is zero: nothing would be known of what was written lately".to_owned()));
        }
        let legal = told > 0.0 && told <= 1_000.0;
        (!legal)
            .then(|| ("recent_writes", format!("is {told}, it must be a multiple of the slots from above 0 to 1000")))
    }
}

impl DataPlacement for Rewritten {
    fn write(&mut self, access: &Access) -> WriteTo {
        if self.classes().is_hot(access) { WriteTo::Upper } else { WriteTo::Lower }
    }

    fn read(&mut self, _access: &Access) -> OnRead {
        OnRead::Stay
    }
}
