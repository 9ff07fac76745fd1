//! RWB-DM: as WO-DM, and what is read hot or at random moves up as well (Yamada et al., SCM/NAND flash hybrid SSD).
//!
//! The paper moves what is hot *or* random and keeps no copy below, and so does its experiment (docs/decisions/0021).
//! The defaults, for drives to use, move what is hot *and* random and keep the copy.

use ninescope_model::string_or_table;
use ninescope_model::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Classes, DataPlacement, MigrationMode, OnRead, PlacementParameters, Rules, WriteBack, WriteTo};
use crate::policies::eviction::EvictionConfig;

/// Which reads bring a page up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MoveRule {
    /// Those of hot pages in random requests.
    #[default]
    HotAndRandom,
    /// Those of hot pages, and all in random requests.
    HotOrRandom,
}

/// Its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RwbDm {
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
    /// Entries of the table of recent pages, as a multiple of the slots.
    #[schemars(range(min = 0, max = 1000))]
    pub hot_entries: f64,
    /// Uses before an access from which on its page is hot.
    #[schemars(range(min = 1))]
    pub hot_uses: u32,
    /// Requests up to this size are random.
    pub random_up_to: Bytes,
    /// Which reads bring a page up.
    pub moves: MoveRule,
    /// The page stays in flash as well, so that it can be dropped free from SCM while it is clean.
    pub keep_copy: bool,
}

impl Default for RwbDm {
    fn default() -> Self {
        let Classes { hot_entries, hot_uses, random_up_to, .. } = Classes::default();
        Self {
            evict_free: 0.08,
            evict_stop: None,
            victim: EvictionConfig::default(),
            migration: MigrationMode::Background,
            hot_entries,
            hot_uses,
            random_up_to,
            moves: MoveRule::HotAndRandom,
            keep_copy: true,
        }
    }
}

impl RwbDm {
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
            flush_at_rest: None,
        }
    }

    fn classes(&self) -> Classes {
        Classes {
            hot_entries: self.hot_entries,
            hot_uses: self.hot_uses,
            random_up_to: self.random_up_to,
            ..Classes::default()
        }
    }
}

impl PlacementParameters for RwbDm {
    fn build(&self) -> Option<(Box<dyn DataPlacement>, Rules)> {
        Some((Box::new(self.clone()), self.rules()))
    }

    fn problem(&self) -> Option<(&'static str, String)> {
        self.classes().nothing_is_placed()
    }
}

impl DataPlacement for RwbDm {
    fn write(&mut self, access: &Access) -> WriteTo {
        self.classes().place(access)
    }

    fn read(&mut self, access: &Access) -> OnRead {
        let classes = self.classes();
        let (hot, random) = (classes.is_hot(access), classes.is_random(access));
        let moves = match self.moves {
            MoveRule::HotAndRandom => hot && random,
            MoveRule::HotOrRandom => hot || random,
        };
        match (moves, self.keep_copy) {
            (false, _) => OnRead::Stay,
            (true, true) => OnRead::Copy,
            (true, false) => OnRead::Move,
        }
    }
}
