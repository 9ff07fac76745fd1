//! The storage-class memory of a drive: its media, the maps of its banks, what waits on them and runs, and what it did.
//!
//! Banks and channels of SCM are resources beside dies and channels of NAND. A drive without SCM has none of them. A bank
//! works as a die does, but has no planes to fill and nothing to suspend: one transaction is one command, a slot and a mask
//! of its sectors.
//!
//! Knows nothing of host commands but their numbers, nor of codes, tiers and flash: what ends here is told to whoever
//! called, who tells the others.

mod channel;
mod dispatch;
mod phases;

use ninescope_ftl::policies::{SectorWearLeveling, SectorWearLevelingConfig};
use ninescope_kernel::{NONE, Ns};
use ninescope_media::scm::{Scm, ScmCommand};
use ninescope_model::{BankId, ChannelId, ScmGeometry, ScmLayout, SlotId};
use serde::Serialize;

use crate::config::EngineConfig;
use crate::meter::DieLedger;
use crate::policies::channel_arbitration::ChannelArbitrationConfig;
use crate::policies::transaction_scheduler::TransactionSchedulerConfig;
use crate::resources::Resources;
use crate::sched::Stations;

pub use channel::BankGranted;
pub use phases::BankEnding;

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

/// What a bank works on.
#[derive(Debug)]
struct BankWork {
    /// Its command, meaningless while it is free.
    command: ScmCommand,
    /// Whose command it is, meaningless while it is free.
    transaction: u32,
    /// Sectors that wear levelling copies before it, meaningless but while it does.
    copies: u32,
    /// The data of a read stay in the controller, so that their arrival is an event.
    stays: bool,
}

impl Default for BankWork {
    fn default() -> Self {
        Self { command: ScmCommand::default(), transaction: NONE, copies: 0, stays: false }
    }
}

/// All SCM of one drive.
#[derive(Debug)]
pub struct ScmPart {
    layout: ScmLayout,
    media: Scm,
    /// By bank.
    leveling: Vec<Box<dyn SectorWearLeveling>>,
    /// Banks that have joined a drive.
    banks: Stations<BankWork>,
    /// By medium.
    counters: [ScmCounters; 2],
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
            banks: stations(0, 0, Resources::new(0, 0, 0, 0), &Default::default(), &Default::default()),
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

    /// Becomes part of a drive, whose policy chooses among what waits on its banks.
    pub(crate) fn join_drive(&mut self, config: &EngineConfig, resources: Resources) {
        self.banks =
            stations(self.layout.banks(), self.layout.channels(), resources, &config.scheduler, &config.channel);
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
    fn counters_of(&mut self, bank: BankId) -> &mut ScmCounters {
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

    /// Sectors of a TRIM are ignored.
    pub(crate) fn ignore_trim(&mut self, sectors: u32) {
        self.counters[0].trim_sectors_ignored += u64::from(sectors);
    }

    /// Counts from `now` on: end of warm-up.
    pub(crate) fn begin_measuring(&mut self, now: Ns) {
        self.banks.begin_measuring(now);
        self.counters = Default::default();
        self.writes_before.clear();
        self.writes_before.extend_from_slice(self.media.wear());
    }

    /// The sector of its bank that holds a sector of a slot.
    pub fn locate(&self, slot: SlotId, sector: u32) -> u32 {
        let bank = self.layout.bank_of_slot(slot);
        self.leveling[bank.index()].locate(self.layout.first_sector_of_slot(slot) + sector)
    }

    /// The channel of its medium that serves a bank.
    pub(crate) fn channel_within_medium(&self, bank: BankId) -> u32 {
        let first = if self.layout.medium_of_bank(bank) == 0 { 0 } else { self.layout.medium(0).channels };
        self.layout.channel_of_bank(bank).0 - first
    }

    /// How often the first sector of an access was written: sectors of a slot are much alike, so that it speaks for all.
    pub(crate) fn writes_of(&self, slot: SlotId, mask: u32) -> u32 {
        let place = self.locate(slot, mask.trailing_zeros());
        self.media.wear_of(self.layout.bank_of_slot(slot))[place as usize]
    }

    // ---- what was seen ---------------------------------------------------------------------------

    /// How many banks and channels there are.
    pub(crate) fn units(&self) -> usize {
        self.banks.count()
    }

    /// How long each bank, and then each channel, was busy since measuring began, `elapsed` ago [ns].
    pub(crate) fn busy(&mut self, now: Ns, elapsed: u64) -> impl Iterator<Item = u64> {
        self.banks.busy(now, elapsed)
    }

    /// What each bank was occupied with since measuring began.
    pub(crate) fn bank_ledgers(&mut self, now: Ns) -> impl Iterator<Item = DieLedger> {
        self.banks.ledgers(now)
    }

    /// How long each channel transferred since measuring began.
    pub(crate) fn channel_times(&self, now: Ns) -> impl Iterator<Item = Ns> {
        self.banks.transfers(now)
    }

    /// Adds banks that still have something to do.
    pub(crate) fn add_holders(&self, now: Ns, holders: &mut Vec<String>) {
        for (bank, phase, waiting) in self.banks.holders(now, |_| false) {
            holders.push(format!("SCM bank {bank} ({phase:?}, waiting classes {waiting:#b})"));
        }
    }
}

fn stations<W: Default>(
    banks: u32,
    channels: u32,
    resources: Resources,
    scheduler: &TransactionSchedulerConfig,
    channel: &ChannelArbitrationConfig,
) -> Stations<W> {
    let (first, first_channel) = (resources.bank(BankId(0)), resources.bank_channel(ChannelId(0)));
    Stations::new((banks, 0, first), (channels, first_channel), scheduler.build(), channel)
}
