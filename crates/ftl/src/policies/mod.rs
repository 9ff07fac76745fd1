//! The FTL's policies: one folder per trait, one file per policy, one registry line each.
//!
//! A policy may own state (a queue, a random stream) and changes only that; everything else it sees
//! is read-only.

pub mod free_block_choice;
pub mod gc_trigger;
pub mod page_allocation;
pub mod sector_wear_leveling;
pub mod stream_choice;
pub mod victim_selection;
pub mod wear_leveling;
pub mod wear_out;

pub use free_block_choice::{FreeBlockChoice, FreeBlockChoiceConfig};
pub use gc_trigger::{GcTrigger, GcTriggerConfig};
pub use page_allocation::{PageAllocation, PageAllocationConfig};
pub use sector_wear_leveling::{SectorCopy, SectorWearLeveling, SectorWearLevelingConfig, SectorWrite};
pub use stream_choice::{StreamChoice, StreamChoiceConfig, StreamChoiceParameters, Told, Written};
pub use victim_selection::{CandidateView, VictimSelection, VictimSelectionConfig};
pub use wear_leveling::{WearLeveling, WearLevelingConfig};
pub use wear_out::WearOutConfig;
