//! The storage-class memory of a drive: its media, the maps of its banks, and what it did.
//!
//! Banks and channels of SCM are resources beside dies and channels of NAND. A drive without SCM has none of them.

use ninescope_ftl::policies::{SectorWearLeveling, SectorWearLevelingConfig, SectorWrite};
use ninescope_kernel::BitTable;
use ninescope_media::scm::Scm;
use ninescope_model::{BankId, ScmGeometry, SlotId};
use serde::Serialize;

use crate::sched::ChannelUnit;
use crate::sched::scm::BankUnit;

/// Counts since the last warm-up end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ScmCounters {
    /// Read commands issued to banks.
    pub read_commands: u64,
    /// Write commands issued to banks.
    pub write_commands: u64,
    /// Sectors read for the host.
    pub sectors_read: u64,
    /// Sectors written for the host.
    pub sectors_written: u64,
    /// Sectors copied by wear levelling.
    pub sectors_copied: u64,
    /// Sectors of TRIMs: memory that is overwritten in place gains nothing from them.
    pub trim_sectors_ignored: u64,
    /// Grants of a channel to a bank that had to wait for it.
    pub channel_waits: u64,
}

/// All SCM of one drive.
#[derive(Debug)]
pub struct ScmPart {
    geometry: ScmGeometry,
    pub(crate) media: Scm,
    /// By bank.
    leveling: Vec<Box<dyn SectorWearLeveling>>,
    pub(crate) banks: Vec<BankUnit>,
    pub(crate) channels: Vec<ChannelUnit>,
    /// Banks that may be given a command before time moves on.
    pub(crate) touched: BitTable,
    /// Channels that may be granted before time moves on.
    pub(crate) channels_touched: BitTable,
    pub(crate) counters: ScmCounters,
    /// Writes of each sector when measuring began; empty where it began with new memory [count].
    writes_before: Vec<u32>,
}

impl ScmPart {
    /// Idle banks. `media` are of the same shape, whose spare sectors are those that `leveling` asks for.
    pub fn new(geometry: ScmGeometry, media: Scm, leveling: &SectorWearLevelingConfig) -> Self {
        let logical = geometry.logical_sectors_per_bank();
        Self {
            leveling: (0..geometry.banks()).map(|_| leveling.build(logical)).collect(),
            banks: (0..geometry.banks()).map(|_| BankUnit::default()).collect(),
            channels: (0..geometry.channels).map(|_| ChannelUnit::default()).collect(),
            touched: BitTable::new(geometry.banks() as usize),
            channels_touched: BitTable::new(geometry.channels as usize),
            counters: ScmCounters::default(),
            writes_before: Vec::new(),
            geometry,
            media,
        }
    }

    /// None.
    pub fn absent() -> Self {
        Self::new(ScmGeometry::absent(), Scm::absent(), &SectorWearLevelingConfig::default())
    }

    /// Its shape.
    pub fn geometry(&self) -> &ScmGeometry {
        &self.geometry
    }

    /// Its media, with the wear of every sector.
    pub fn media(&self) -> &Scm {
        &self.media
    }

    /// What was counted.
    pub fn counters(&self) -> &ScmCounters {
        &self.counters
    }

    /// Writes of each sector since measuring began, in the order of [`Scm::wear`] [count].
    pub fn writes_measured(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        let before = self.writes_before.iter().copied().chain(std::iter::repeat(0));
        self.media.wear().iter().zip(before).map(|(&writes, before)| writes - before)
    }

    /// Counts from now on: end of warm-up.
    pub(crate) fn begin_measuring(&mut self) {
        self.counters = ScmCounters::default();
        self.writes_before.clear();
        self.writes_before.extend_from_slice(self.media.wear());
    }

    /// The sector of its bank that holds a sector of a slot.
    pub fn locate(&self, slot: SlotId, sector: u32) -> u32 {
        let bank = self.geometry.bank_of_slot(slot);
        self.leveling[bank.index()].locate(self.geometry.first_sector_of_slot(slot) + sector)
    }

    /// A logical sector of a bank is to be written now: wear levelling says where.
    #[inline]
    pub(crate) fn place_write(&mut self, bank: BankId, sector: u32) -> SectorWrite {
        self.leveling[bank.index()].write(sector, self.media.wear_of(bank))
    }
}
