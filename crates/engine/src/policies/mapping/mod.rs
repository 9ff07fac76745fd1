//! How much of the map is in memory, and in what form; or whether it is one of blocks.

use std::fmt::Debug;

use ninescope_ftl::block_map::BlockMapConfig;
use ninescope_kernel::Ns;
use ninescope_model::policy_registry;
use ninescope_model::units::Bytes;

/// Bytes of an entry of the map where nothing is said: where a unit lies [B].
pub const ENTRY_BYTES: u32 = 4;

/// How long it takes to find a page of the map again where nothing is said: about a page of each block of a die of 1,024, read
/// one after the other, all dies side by side [ns].
pub const REBUILD: u64 = 100_000_000;

/// How far the host's memory is away where nothing is said [ns].
pub const HOST_ACCESS: u64 = 1_000;
/// Pages of the map that are written anew at a time where nothing is said [count].
pub const UPDATES_IN_FLIGHT: u32 = 16;

/// What the cache of a map is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachedBy {
    /// Single entries.
    Entry,
    /// All entries of a page of the map together.
    Page,
}

/// Says what is cached of a map that lies in flash. Asked when the drive is made, and for what a page takes when that is
/// cached or changes.
pub trait MapPolicy: Debug + Send {
    /// What comes into the cache and leaves it as one.
    fn cached_by(&self) -> CachedBy;

    /// What an item takes of the cache: of a page with so many `entries`, which lie in so many `runs` of units side by side
    /// [B].
    fn item_bytes(&self, entries: u32, runs: u32) -> u32;

    /// Whether what an item takes depends on how many runs there are.
    fn counts_runs(&self) -> bool {
        false
    }
}

/// How a map that lies in flash is cached.
#[allow(clippy::struct_excessive_bools)] // what the description says, each by itself
#[derive(Debug)]
pub struct MapRules {
    /// What is cached.
    pub policy: Box<dyn MapPolicy>,
    /// What the cache takes [B].
    pub size: Bytes,
    /// Pages of the map that are written anew at a time [count].
    pub updates_in_flight: u32,
    /// Memory of the host that holds what has left the cache [B].
    pub host_memory: Option<Bytes>,
    /// From asking for something there until it is in the controller [ns].
    pub host_access: Ns,
    /// What is fetched from there takes the link towards the drive.
    pub host_link: bool,
    /// What an entry takes on the media [B].
    pub entry_size: Bytes,
    /// What a read of a page moves that commands wait for; `None`: all of it [B].
    pub fetch_size: Option<Bytes>,
    /// Writes wait for what is not in memory.
    pub writes_wait: bool,
    /// Programs of what was written wait for entries that are read beside it.
    pub programs_wait: bool,
    /// A die reads pages of the map before what else commands wait for.
    pub reads_first: bool,
    /// What leaves changed is written.
    pub written: bool,
    /// Finding the entries of a page again that cannot be read [ns].
    pub rebuild_time: Ns,
    /// Memory is full when the run begins.
    pub warm: bool,
    /// The share of entries that have changed before the run since their page was written.
    pub changed_at_start: f64,
}

/// The parameters of a policy that caches a map, which are those of all of them.
macro_rules! cached_map {
    ($policy:ident) => {
        /// Parameters.
        #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct $policy {
            /// What the cache takes [B].
            #[schemars(transform = ninescope_model::schema::above_zero)]
            pub size: ninescope_model::units::Bytes,
            /// Pages of the map that are written anew at a time [count].
            #[schemars(transform = ninescope_model::schema::above_zero)]
            pub updates_in_flight: u32,
            /// Memory of the host that holds what has left the cache; absent: none [B].
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(transform = ninescope_model::schema::above_zero)]
            pub host_memory: Option<ninescope_model::units::Bytes>,
            /// From asking for something in the host's memory until it is there [ns].
            pub host_access: ninescope_model::units::Duration,
            /// Whether what is fetched from there takes the link towards the drive, behind what the host writes.
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            pub host_link: bool,
            /// What an entry takes of a page of the map on the media, which tells of as many units as entries fit it [B].
            #[serde(skip_serializing_if = "crate::policies::mapping::is_entry_size")]
            #[schemars(transform = ninescope_model::schema::above_zero)]
            pub entry_size: ninescope_model::units::Bytes,
            /// What a read of a page of the map for commands moves; absent: all of it [B].
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(transform = ninescope_model::schema::above_zero)]
            pub fetch_size: Option<ninescope_model::units::Bytes>,
            /// Whether writes wait for what is not in memory.
            pub writes_wait: bool,
            /// Whether programs wait for entries that are read beside what is written, where writes do not wait.
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            pub programs_wait: bool,
            /// Whether a die reads pages of the map before what else commands wait for.
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            pub reads_first: bool,
            /// Whether what leaves memory changed is written.
            pub written: bool,
            /// How long it takes to find the entries of a page again that cannot be read.
            pub rebuild_time: ninescope_model::units::Duration,
            /// Whether memory is full when the run begins, of what the prepared drive holds, spread evenly.
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            pub warm: bool,
            /// The share of entries of what the prepared drive holds that have changed since their page was written; absent: all
            /// where nothing is written and memory is not warm, else none.
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(range(min = 0.0, max = 1.0))]
            pub changed_at_start: Option<f64>,
        }

        impl Default for $policy {
            /// 1 MiB, and no memory of the host, which is a round trip over its link away; writes wait, and all is written.
            fn default() -> Self {
                let size = ninescope_model::units::Bytes(1 << 20);
                let host_access = ninescope_model::units::Duration($crate::policies::mapping::HOST_ACCESS);
                let (host_memory, fetch_size) = (None, None);
                Self {
                    size,
                    updates_in_flight: $crate::policies::mapping::UPDATES_IN_FLIGHT,
                    host_memory,
                    host_access,
                    host_link: false,
                    entry_size: ninescope_model::units::Bytes($crate::policies::mapping::ENTRY_BYTES as u64),
                    fetch_size,
                    writes_wait: true,
                    programs_wait: false,
                    reads_first: false,
                    written: true,
                    rebuild_time: ninescope_model::units::Duration($crate::policies::mapping::REBUILD),
                    warm: false,
                    changed_at_start: None,
                }
            }
        }

        impl $crate::policies::mapping::MapParameters for $policy {
            fn rules(&self) -> Option<$crate::policies::mapping::MapRules> {
                Some($crate::policies::mapping::MapRules {
                    policy: Box::new(*self),
                    size: self.size,
                    updates_in_flight: self.updates_in_flight,
                    host_memory: self.host_memory,
                    host_access: ninescope_kernel::Ns(self.host_access.0),
                    host_link: self.host_link,
                    entry_size: self.entry_size,
                    fetch_size: self.fetch_size,
                    writes_wait: self.writes_wait,
                    programs_wait: self.programs_wait,
                    reads_first: self.reads_first,
                    written: self.written,
                    rebuild_time: ninescope_kernel::Ns(self.rebuild_time.0),
                    warm: self.warm,
                    changed_at_start: self.changed_at_start.unwrap_or(if self.written || self.warm {
                        0.0
                    } else {
                        1.0
                    }),
                })
            }
        }
    };
}

/// Whether an entry takes what it does where nothing is said.
pub fn is_entry_size(size: &Bytes) -> bool {
    size.0 == u64::from(ENTRY_BYTES)
}

/// What a policy of this kind can be told.
pub trait MapParameters {
    /// How the map is cached; `None`: all of it is in memory.
    fn rules(&self) -> Option<MapRules>;

    /// How it is a map of blocks; `None`: it is one of units.
    fn by_blocks(&self) -> Option<BlockMapConfig> {
        None
    }
}

policy_registry! {
    /// How much of the map from logical to physical units is in memory, or whether it is one of blocks.
    MapConfig as dyn MapParameters;
    "ideal" => ideal::Ideal, "all of the map is in memory: no request waits for it, and it is never written";
    "entries" => entries::Entries, "single entries are cached, the map itself lies in flash (DFTL)";
    "pages" => pages::Pages, "whole pages of the map are cached";
    "runs" => runs::Runs, "whole pages are cached, as runs of units that lie side by side (S-FTL)";
    "block" => block::Block, "a block for each logical block, each page at its place, written anew for what does not fit it";
    "bast" => bast::Bast, "the same with a log block for each logical block that is overwritten, of a few (BAST)";
    "fast" => fast::Fast, "the same with log blocks that all logical blocks share, and one for sequential writes (FAST)";
}
