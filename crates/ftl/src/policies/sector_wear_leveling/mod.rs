//! Which sector of a bank of storage-class memory holds which content: wear levelling of memory that is overwritten
//! in place.
//!
//! A bank is levelled by itself: the sectors of a slot stay together, so that a slot is one transaction. What is
//! decided here is carried out at once by whoever asks, before anything else happens in the bank; so there is no
//! content on its way from one sector to another.

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

/// What a levelling can be told.
pub trait SectorWearLevelingParameters {
    /// Sectors a bank has beyond its `logical` ones.
    fn spare_sectors(&self, _logical: u32) -> u32 {
        0
    }

    /// The policy of one bank of `logical` sectors and the spare ones that it asked for.
    fn build(&self, logical: u32) -> Box<dyn SectorWearLeveling>;

    /// Bytes of the tables of a bank of `logical` sectors [B]; wear, which the media keep, comes on top.
    fn table_bytes(&self, _logical: u32) -> u64 {
        0
    }

    /// What is wrong with the parameters: the key and the rest of a sentence that begins with it.
    fn problem(&self) -> Option<(&'static str, String)> {
        None
    }
}

policy_registry! {
    /// How the wear of sectors of storage-class memory is levelled.
    SectorWearLevelingConfig as dyn SectorWearLevelingParameters;
    "none" => none::None, "every sector stays where it is";
    "ladder" => ladder::Ladder, "content leaves a sector that reached the rung C_th for one a rung of C_ow overwrites lower";
    "weak-ladder" => weak_ladder::WeakLadder, "the ladder with high rungs: few copies, weak levelling";
    "start-gap" => start_gap::StartGap, "a gap moves through the bank, one sector in so many writes";
}
