//! The storage-class memory of a drive: its media, the maps of its banks, and what it did.
//!
//! Banks and channels of SCM are resources beside dies and channels of NAND. A drive without SCM has none of them.

use ninescope_ftl::policies::{SectorWearLeveling, SectorWearLevelingConfig, SectorWrite};
use ninescope_kernel::BitTable;
use ninescope_media::scm::Scm;
use ninescope_model::{BankId, ScmGeometry, ScmLayout, SlotId};
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
    /// Sectors of host writes that banks took up.
    pub host_sectors_taken: u64,
    /// Sectors copied by wear levelling.
    pub sectors_copied: u64,
    /// Sectors of TRIMs: memory that is overwritten in place gains nothing from them.
    pub trim_sectors_ignored: u64,
    /// Verify cycles of written and copied sectors: further pulses, each after a verify read.
    pub verify_cycles: u64,
    /// Verify reads of written and copied sectors: those of the cycles, and those that found a sector to pass.
    pub verify_reads: u64,
    /// Grants of a channel to a bank that had to wait for it.
    pub channel_waits: u64,
}

/// All SCM of one drive.
#[derive(Debug)]
pub struct ScmPart {
    layout: ScmLayout,
    pub(crate) media: Scm,
    /// By bank.
    leveling: Vec<Box<dyn SectorWearLeveling>>,
    pub(crate) banks: Vec<BankUnit>,
    pub(crate) channels: Vec<ChannelUnit>,
    /// Banks that may be given a command before time moves on.
    pub(crate) touched: BitTable,
    /// Channels that may be granted before time moves on.
    pub(crate) channels_touched: BitTable,
    /// By medium.
    pub(crate) counters: [ScmCounters; 2],
    /// Writes of each sector when measuring began; empty where it began with new memory [count].
    writes_before: Vec<u32>,
}

impl ScmPart {
    /// Idle banks of at most two media, each with its shape and how its wear is levelled. `media` are of the same
    /// shapes, whose spare sectors are those that wear levelling asks for.
    pub fn new(each: &[(ScmGeometry, SectorWearLevelingConfig)], media: Scm) -> Self {
        let shapes: Vec<ScmGeometry> = each.iter().map(|(shape, _)| *shape).collect();
        let layout = ScmLayout::new(&shapes);
        let of_medium = |(shape, leveling): &(ScmGeometry, SectorWearLevelingConfig)| {
            let logical = shape.logical_sectors_per_bank();
            (0..shape.banks()).map(|_| leveling.chosen().build(logical)).collect::<Vec<_>>()
        };
        Self {
            leveling: each.iter().flat_map(of_medium).collect(),
            banks: (0..layout.banks()).map(|_| BankUnit::default()).collect(),
            channels: (0..layout.channels()).map(|_| ChannelUnit::default()).collect(),
            touched: BitTable::new(layout.banks() as usize),
            channels_touched: BitTable::new(layout.channels() as usize),
            counters: [ScmCounters::default(); 2],
            layout,
            writes_before: Vec::new(),
            media,
        }
    }

    /// None.
    pub fn absent() -> Self {
        Self::new(&[], Scm::absent())
    }

    /// The shapes of its media.
    pub fn layout(&self) -> &ScmLayout {
        &self.layout
    }

    /// Writes of every sector of a medium, banks one after another [count].
    pub fn wear_of_medium(&self, medium: usize) -> impl Iterator<Item = u32> + '_ {
        let first = self.layout.first_bank(medium);
        let banks = first..first + self.layout.medium(medium).banks();
        banks.flat_map(|bank| self.media.wear_of(BankId(bank)).iter().copied())
    }

    /// Its media, with the wear of every sector.
    pub fn media(&self) -> &Scm {
        &self.media
    }

    /// What was counted on a medium.
    pub fn counters(&self, medium: usize) -> &ScmCounters {
        &self.counters[medium]
    }

    /// The counters of the medium of a bank.
    #[inline]
    pub(crate) fn counters_of(&mut self, bank: BankId) -> &mut ScmCounters {
        &mut self.counters[self.layout.medium_of_bank(bank)]
    }

    /// Writes of each sector of a medium since measuring began, banks one after another [count].
    pub fn writes_measured(&self, medium: usize) -> impl Iterator<Item = u32> + Clone + '_ {
        let sectors = |medium: usize| self.layout.medium(medium).raw_sectors() as usize;
        let first = if medium == 0 { 0 } else { sectors(0) };
        let range = first..first + sectors(medium);
        let before = self.writes_before.get(range.clone()).unwrap_or_default().iter().copied();
        let before = before.chain(std::iter::repeat(0));
        self.media.wear()[range].iter().zip(before).map(|(&writes, before)| writes - before)
    }

    /// Counts from now on: end of warm-up.
    pub(crate) fn begin_measuring(&mut self) {
        self.counters = Default::default();
        self.writes_before.clear();
        self.writes_before.extend_from_slice(self.media.wear());
    }

    /// The sector of its bank that holds a sector of a slot.
    pub fn locate(&self, slot: SlotId, sector: u32) -> u32 {
        let bank = self.layout.bank_of_slot(slot);
        self.leveling[bank.index()].locate(self.layout.first_sector_of_slot(slot) + sector)
    }

    /// A logical sector of a bank is to be written now: wear levelling says where.
    #[inline]
    pub(crate) fn place_write(&mut self, bank: BankId, sector: u32) -> SectorWrite {
        self.leveling[bank.index()].write(sector, self.media.wear_of(bank))
    }
}
