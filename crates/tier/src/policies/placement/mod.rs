//! Where data is placed: one policy per file, the published ones under the names of their papers.
//!
//! A policy decides; the tier keeps what it knows of pages and slots, and the engine moves the data.

use std::fmt::Debug;

use ninescope_model::units::{Bytes, Duration};
use ninescope_model::{SECTOR_BYTES, policy_registry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::policies::eviction::EvictionConfig;

/// An access of the host to one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The page.
    pub page: u32,
    /// Sectors of it, one bit each.
    pub sectors: u32,
    /// Sectors of the whole request.
    pub request_sectors: u32,
    /// Uses of the page that the table of recent pages knows of, this access not included.
    pub uses: u32,
    /// The page has a slot in the upper medium.
    pub resident: bool,
}

/// Where a write goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteTo {
    /// Into the upper medium.
    Upper,
    /// Into the lower one.
    Lower,
}

/// What a read of the lower medium leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRead {
    /// Nothing.
    Stay,
    /// The page is copied up; the lower medium keeps it.
    Copy,
    /// The page moves up; the lower medium forgets it.
    Move,
}

/// Chooses media. A policy may keep state of its own; what it sees of the tier is in the access.
pub trait DataPlacement: Debug + Send {
    /// Where a write to a page goes. Not asked for a page that has a slot: it is written there.
    fn write(&mut self, access: &Access) -> WriteTo;

    /// What becomes of a page of which sectors are read from the lower medium.
    fn read(&mut self, access: &Access) -> OnRead;
}

/// Whether requests wait for the migrations they cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MigrationMode {
    /// They do not, as long as a slot is free.
    #[default]
    Background,
    /// They complete when what moves has been read, decoded and merged, one after the other; writing goes on behind
    /// them.
    ForegroundReads,
    /// They complete when these have ended.
    Foreground,
}

/// What of a dirty page is written below. Flash takes whole pages, whatever is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WriteBack {
    /// The sectors that were written above.
    #[default]
    DirtySectors,
    /// All sectors that the slot holds: data moves by whole pages.
    WholePages,
}

/// What is hot, and what is random: see [`crate::RecentPages`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Classes {
    /// Entries of the table of recent pages, as a share of the slots.
    pub hot_entries: f64,
    /// Uses before an access from which on its page is hot.
    pub hot_uses: u32,
    /// Requests up to this size are random.
    pub random_up_to: Bytes,
    /// Writes alone are uses.
    pub of_writes: bool,
    /// So often all that was used lately is forgotten; what is written then and has a slot is told nothing by that [ns].
    pub forgotten_every: Option<Duration>,
}

impl Default for Classes {
    /// Those published for CDE: a table of as many entries as slots, and 8 KiB (the tie is inferred).
    fn default() -> Self {
        Self { hot_entries: 1.0, hot_uses: 1, random_up_to: Bytes(8192), of_writes: false, forgotten_every: None }
    }
}

impl Classes {
    /// Where CDE, WO-DM and RWB-DM place a write: up if it is hot or random.
    #[inline]
    pub fn place(&self, access: &Access) -> WriteTo {
        if self.is_hot(access) || self.is_random(access) { WriteTo::Upper } else { WriteTo::Lower }
    }

    /// Whether an access is to a hot page.
    #[inline]
    pub fn is_hot(&self, access: &Access) -> bool {
        access.uses >= self.hot_uses
    }

    /// What is wrong with classes that decide what goes up: the key and the rest of a sentence that begins with it.
    fn nothing_is_placed(&self) -> Option<(&'static str, String)> {
        let message = "is 0 and so is random_up_to: nothing would ever be placed in SCM";
        (self.hot_entries == 0.0 && self.random_up_to.0 == 0).then(|| ("hot_entries", message.to_owned()))
    }

    /// Whether an access is part of a random request.
    #[inline]
    pub fn is_random(&self, access: &Access) -> bool {
        u64::from(access.request_sectors) * SECTOR_BYTES <= self.random_up_to.0
    }
}

/// The longest rest that is waited for [ns].
const REST_MAX: u64 = 3_600_000_000_000;

/// What the tier needs to know of its policy beyond its decisions.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// Slots are emptied while no more than this share of them is free. 0: only where one is needed.
    pub evict_free: f64,
    /// Once begun, they are emptied until more than this share is free.
    pub evict_stop: f64,
    /// Which one.
    pub victim: EvictionConfig,
    /// Whether requests wait for it.
    pub migration: MigrationMode,
    /// What is hot and random.
    pub classes: Classes,
    /// A page of which a part was written is completed from the lower medium.
    pub fetch_on_write: bool,
    /// All writes go to the lower medium, and a page that is written leaves its slot.
    pub write_around: bool,
    /// What of a dirty page goes down.
    pub write_back: WriteBack,
    /// Pages that are brought up ahead of a read that goes on where one before it ended.
    pub read_ahead: u32,
    /// When the host has rested for so long, what is dirty goes down [ns].
    pub flush_at_rest: Option<Duration>,
}

impl Rules {
    /// Whether requests wait for the migrations they cause, or for what these read.
    pub fn waits(&self) -> bool {
        self.migration != MigrationMode::Background
    }

    /// Whether requests wait for what migrations read alone, which is read one after the other.
    pub fn waits_for_reads(&self) -> bool {
        self.migration == MigrationMode::ForegroundReads
    }

    /// What is wrong with them: the key and the rest of a sentence that begins with it.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let Self { evict_free, evict_stop, ref classes, ref victim, .. } = *self;
        if let Some(problem) = victim.chosen().problem() {
            return Some(problem);
        }
        let share = |key, value: f64| {
            let legal = (0.0..1.0).contains(&value);
            (!legal).then(|| (key, format!("is {value}, it must be a share of the slots from 0 to below 1")))
        };
        if let Some(problem) = share("evict_free", evict_free).or_else(|| share("evict_stop", evict_stop)) {
            return Some(problem);
        }
        if evict_stop < evict_free {
            let message = format!("is {evict_stop}, less than evict_free = {evict_free}: eviction would never stop");
            return Some(("evict_stop", message));
        }
        let entries = classes.hot_entries;
        if !(0.0..=1_000.0).contains(&entries) {
            return Some(("hot_entries", format!("is {entries}, it must be a multiple of the slots from 0 to 1000")));
        }
        if self.flush_at_rest.is_some_and(|rest| rest.0 == 0) {
            return Some(("flush_at_rest", "is zero: between two requests that is no rest".to_owned()));
        }
        if self.flush_at_rest.is_some_and(|rest| rest.0 > REST_MAX) {
            return Some(("flush_at_rest", "is longer than an hour".to_owned()));
        }
        (classes.hot_uses == 0).then(|| ("hot_uses", "is 0: every page would be hot".to_owned()))
    }
}

/// What lies below the upper medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// Nothing: there is one medium.
    Nothing,
    /// Flash.
    Flash,
    /// Storage-type memory.
    Scm,
}

/// What a placement can be told.
pub trait PlacementParameters {
    /// What a drive with this placement has below its upper medium.
    fn below(&self) -> Below {
        Below::Flash
    }

    /// Whether it has storage-class memory as its upper medium.
    fn has_upper(&self) -> bool {
        true
    }

    /// Whether the upper medium caches the lower one: what is written goes up, and nothing that was below is only above but
    /// what the host wrote.
    fn is_cache(&self) -> bool {
        false
    }

    /// The policy and its rules; `None` where all data is in one medium.
    fn build(&self) -> Option<(Box<dyn DataPlacement>, Rules)>;

    /// What is wrong with the parameters beyond [`Rules::problem`]: the key and the rest of a sentence that begins with it.
    fn problem(&self) -> Option<(&'static str, String)> {
        None
    }
}

policy_registry! {
    /// Where data is placed.
    PlacementConfig as dyn PlacementParameters;
    "nand-only" => nand_only::NandOnly, "everything in flash";
    "scm-only" => scm_only::ScmOnly, "everything in storage-class memory, overwritten in place";
    "wb" => wb::Wb, "SCM caches flash: writes and what is read go there, clean pages are dropped free";
    "wo-dm" => wo_dm::WoDm, "hot or random writes to SCM, cold sequential data to flash; reads move nothing (CDE)";
    "rwb-dm" => rwb_dm::RwbDm, "as wo-dm, and what is read hot and random, or hot or random, goes up to SCM";
    "rewritten" => rewritten::Rewritten, "a page that was written lately is written above, others to flash; reads move nothing";
    "read-cache" => read_cache::ReadCache, "a cache of what is read: writes go to flash, and their pages leave it";
    "nv-wb" => nv_wb::NvWb, "memory-type SCM caches storage-type SCM";
}

impl PlacementConfig {
    /// What is wrong with the parameters: the key and the rest of a sentence that begins with it.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let (_, rules) = self.chosen().build()?;
        self.chosen().problem().or_else(|| rules.problem())
    }
}
