//! Which sector of a bank of storage-class memory holds which content: wear levelling of memory that is overwritten
//! in place.
//!
//! A bank is levelled by itself: the sectors of a slot stay together, so that a slot is one transaction. What is
//! decided here is carried out at once by whoever asks, before anything else happens in the bank; so there is no
//! content on its way from one sector to another.

pub mod ladder;
pub mod none;
pub mod start_gap;
pub mod weak_ladder;

use std::fmt::Debug;

use ninescope_model::policy_registry;

/// Content that goes from one sector to another one of its bank: a read and a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorCopy {
    /// Where it lies.
    pub from: u32,
    /// Where it will lie; what was there is not needed any more.
    pub to: u32,
}

/// What a write to a logical sector does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorWrite {
    /// What is copied before.
    pub copy: Option<SectorCopy>,
    /// The sector that is written: from now on the content lies there.
    pub place: u32,
}

/// Maps the logical sectors of one bank to its physical ones, of which there may be more.
pub trait SectorWearLeveling: Debug + Send {
    /// The physical sector that holds a logical one. Different ones hold different ones, always.
    fn locate(&self, sector: u32) -> u32;

    /// A logical sector is about to be written. `wear` holds the writes of each physical sector over its life, those
    /// of everything decided before included. The copy and the write of the answer are made at once.
    fn write(&mut self, sector: u32, wear: &[u32]) -> SectorWrite;
}

policy_registry! {
    /// How the wear of sectors of storage-class memory is levelled.
    SectorWearLevelingConfig;
    "none" => None(none::None), "every sector stays where it is";
    "ladder" => Ladder(ladder::Ladder), "content leaves a sector that reached the rung C_th for one a rung of C_ow overwrites lower";
    "weak-ladder" => WeakLadder(weak_ladder::WeakLadder), "the ladder with high rungs: few copies, weak levelling";
    "start-gap" => StartGap(start_gap::StartGap), "a gap moves through the bank, one sector in so many writes";
}

impl SectorWearLevelingConfig {
    /// Sectors a bank has beyond its `logical` ones.
    pub fn spare_sectors(&self, logical: u32) -> u32 {
        match self {
            Self::None(_) => 0,
            Self::Ladder(parameters) => ladder::spare_sectors(parameters.spare, logical),
            Self::WeakLadder(parameters) => ladder::spare_sectors(parameters.spare, logical),
            Self::StartGap(_) => 1,
        }
    }

    /// The policy of one bank of `logical` sectors and the spare ones that it asked for.
    pub fn build(&self, logical: u32) -> Box<dyn SectorWearLeveling> {
        let spare = self.spare_sectors(logical);
        match self {
            Self::None(parameters) => Box::new(*parameters),
            Self::Ladder(parameters) => Box::new(ladder::LadderMap::new(parameters.overwrites.get(), logical, spare)),
            Self::WeakLadder(parameters) => {
                Box::new(ladder::LadderMap::new(parameters.overwrites.get(), logical, spare))
            }
            Self::StartGap(parameters) => Box::new(start_gap::StartGapRegisters::new(*parameters, logical)),
        }
    }

    /// Bytes of the tables of a bank of `logical` sectors [B]; wear, which the media keep, comes on top.
    pub fn table_bytes(&self, logical: u32) -> u64 {
        match self {
            Self::None(_) | Self::StartGap(_) => 0,
            Self::Ladder(_) | Self::WeakLadder(_) => {
                4 * (2 * u64::from(logical) + u64::from(self.spare_sectors(logical)))
            }
        }
    }

    /// What is wrong with the parameters: the key and the rest of a sentence that begins with it.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let spare = match self {
            Self::Ladder(parameters) => parameters.spare,
            Self::WeakLadder(parameters) => parameters.spare,
            Self::None(_) | Self::StartGap(_) => return None,
        };
        let legal = (0.0..=1.0).contains(&spare);
        (!legal).then(|| ("spare", format!("is {spare}, it must be a share of the logical sectors from 0 to 1")))
    }
}

impl Default for SectorWearLevelingConfig {
    fn default() -> Self {
        Self::None(none::None {})
    }
}
