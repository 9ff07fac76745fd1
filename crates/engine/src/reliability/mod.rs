//! Bits that fail and what is done about it: codes and their decoders, reading again, the store behind a cache, scrubbing
//! and refresh.
//!
//! A drive has none of this unless its description says so; it is one pointer then, which the hot path looks at. The rooms
//! that know codes (`ecc`), cells (`media`) and maps (`ftl`) do not know each other: they are joined here.
//!
//! Knows nothing of host commands, dies and banks: it is asked about accesses, and says what becomes of them.

pub mod backing_store;
pub mod code;
pub mod corruption;
mod decoders;
pub mod die_rebuild;
pub mod health;
pub mod read_ages;
mod rebuild;
mod recovery;
mod sense;
pub(crate) mod timetable;
mod upkeep;
pub mod variation;

use ninescope_ecc::{RberLevel, Scheme};
use ninescope_ftl::Residence;
use ninescope_kernel::{BitTable, Ns, RandomStream};
use ninescope_media::health::{ErrorModel, ErrorModelConfig};
use ninescope_model::{BlockGroup, DieId, Geometry, Lpa, Ppa, ScmLayout};
use serde::Serialize;

use crate::policies::read_retry::{ReadRetry, ReadRetryConfig};
use crate::policies::refresh::{RefreshPolicy, RefreshPolicyConfig};
use crate::policies::scrub::{ScrubPolicy, ScrubPolicyConfig};
use backing_store::{BackingStore, BackingStoreConfig};
use code::{Code, Decoded};
use corruption::{Corruption, CorruptionConfig};
use die_rebuild::{DieRebuild, DieRebuildConfig};
use health::{Ageing, GroupAges, GroupHealth};
use read_ages::ReadsByAge;
use rebuild::Rebuild;
use timetable::Timetable;
use variation::{Variation, VariationConfig};

pub use crate::transaction::Harm;
pub(crate) use decoders::{Decoder, Passage};
pub(crate) use die_rebuild::RebuildStep;
pub(crate) use rebuild::Rebuilt;
pub(crate) use recovery::Remedy;
pub(crate) use sense::{Afterwards, Ground, ones};
pub(crate) use upkeep::ScrubStep;

/// Which code of the flash: for data that may lie nowhere else, and for clean data kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NandCode {
    /// The error-correcting code.
    Ecc,
    /// The error-detecting code of clean data.
    Edc,
}

/// What the bits of flash do, and which codes guard them.
#[derive(Clone, Debug, Default)]
pub struct NandReliability {
    /// The error-correcting code; none: nothing is decoded.
    pub ecc: Option<Scheme>,
    /// The code of clean data where that is kept apart; none: the error-correcting one.
    pub edc: Option<Scheme>,
    /// How often bits fail by themselves; none: never.
    pub errors: Option<ErrorModelConfig>,
    /// By how much that differs from page to page; none: not at all.
    pub variation: Option<VariationConfig>,
    /// P/E cycles that every block has behind it at the start [count].
    pub initial_cycles: u32,
    /// How old prepared data is at the start, by the clock [ns].
    pub initial_age: Ns,
    /// How fast data ages; none: as the clock says.
    pub ageing: Option<Ageing>,
    /// How pages that do not decode are read again; none: not at all.
    pub retry: Option<ReadRetryConfig>,
    /// Errors that are injected and stay.
    pub corruption: Option<CorruptionConfig>,
    /// Dies that fail, each at a time.
    pub die_failures: Vec<(DieId, Ns)>,
    /// How what lay on them is written again.
    pub rebuild: DieRebuildConfig,
}

/// What the bits of a medium of SCM do, and which code guards them.
#[derive(Clone, Debug, Default)]
pub struct ScmReliability {
    /// The code; none: nothing is decoded.
    pub ecc: Option<Scheme>,
    /// How often bits fail by themselves; none: never.
    pub errors: Option<ErrorModelConfig>,
}

/// Everything about failing bits that a drive is built from.
#[derive(Clone, Debug, Default)]
pub struct ReliabilityConfig {
    /// Of flash.
    pub nand: NandReliability,
    /// Of each medium of SCM.
    pub scm: Vec<ScmReliability>,
    /// The store behind a cache-oriented drive.
    pub backing_store: Option<BackingStoreConfig>,
    /// When data at rest is read.
    pub scrub: Option<ScrubPolicyConfig>,
    /// When data is written anew.
    pub refresh: Option<RefreshPolicyConfig>,
    /// The run's seed.
    pub seed: u64,
}

impl ReliabilityConfig {
    /// Whether the drive has anything of it.
    pub fn is_used(&self) -> bool {
        self.nand.ecc.is_some()
            || self.nand.edc.is_some()
            || self.scm.iter().any(|medium| medium.ecc.is_some())
            || self.scrub.is_some()
            || self.refresh.is_some()
    }
}

/// What was counted since measuring began, beside what each code counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReliabilityCounters {
    /// Page accesses that did not decode and were read again.
    pub retried_reads: u64,
    /// Attempts to read again.
    pub retries: u64,
    /// Page accesses given up.
    pub failed_reads: u64,
    /// Page accesses that did not decode and for which the rest of their parity stripe was read.
    pub degraded_reads: u64,
    /// Pages of stripes read for those.
    pub stripe_page_reads: u64,
    /// Units found again by their stripe.
    pub units_rebuilt: u64,
    /// Dies that failed.
    pub die_failures: u64,
    /// Page accesses of what lay on a die that failed and was not written again by then.
    pub missing_page_reads: u64,
    /// Pages of dies that failed which were written again on the die that stands for it.
    pub pages_rebuilt: u64,
    /// Pages read for that, of the rest of their stripes.
    pub rebuild_page_reads: u64,
    /// Pages of which some or all could not be found by the rest of their stripe, so that they are missing still.
    pub rebuild_pages_lost: u64,
    /// Pages that lay on a die that failed and were erased before they were written again.
    pub missing_pages_erased: u64,
    /// Dies of which nothing was left to be written again.
    pub dies_rebuilt: u64,
    /// How long that took, from when each of them failed [ns].
    pub rebuild_ns: u64,
    /// Units lost, because a read of the drive's own (of a move, a merge, a migration) was given up.
    pub units_lost: u64,
    /// Units that went wrong unnoticed in a read of the drive's own.
    pub units_wrong: u64,
    /// Host reads that reported an error instead of data.
    pub reads_reported: u64,
    /// Host reads that returned wrong data as if it were good.
    pub reads_wrong: u64,
    /// Units read by the host under the error-correcting code.
    pub ecc_units_read: u64,
    /// Units read by the host under the error-detecting code.
    pub edc_units_read: u64,
    /// Units moved to where the error-correcting code guards them.
    pub ecc_units_moved: u64,
    /// Units moved that stay under the error-detecting code.
    pub edc_units_moved: u64,
    /// Units moved that were under the error-correcting code and are under the detecting one now.
    pub units_moved_to_edc: u64,
    /// Units with an injected error, those of the start included.
    pub corruptions: u64,
    /// Of these, units under the error-detecting code when it happened.
    pub corruptions_under_edc: u64,
    /// Corrupt units that a code corrected; this and the four below count each unit once, by who met it first.
    pub corruptions_corrected: u64,
    /// Corrupt units that a read of the host (or of a merge) found.
    pub corruptions_met_by_host: u64,
    /// Corrupt units that a move found.
    pub corruptions_met_by_moves: u64,
    /// Corrupt units that the scrubber found.
    pub corruptions_met_by_scrub: u64,
    /// Corrupt units that were erased before anybody met them.
    pub corruptions_erased: u64,
    /// Units fetched from the backing store because the host (or a merge) needed them.
    pub refetched: u64,
    /// Units fetched because a move needed them.
    pub refetched_for_moves: u64,
    /// Units fetched because the scrubber found them corrupt.
    pub prefetched: u64,
    /// Fetched units that had changed or moved by the time they were to be written.
    pub heals_dropped: u64,
    /// Pages read by the scrubber.
    pub scrub_page_reads: u64,
    /// Passes of the scrubber that ended.
    pub scrub_passes: u64,
    /// Groups whose refresh was asked for because of their reads.
    pub refreshes_by_reads: u64,
    /// Groups whose refresh was asked for because of the age of their data.
    pub refreshes_by_age: u64,
    /// Groups whose refresh was asked for because too many of their bits were expected to fail.
    pub refreshes_by_rate: u64,
}

/// Units that hold other than what they should: a bit per logical unit each, none set on a drive in order.
#[derive(Debug)]
pub struct Damage {
    lost: BitTable,
    wrong: BitTable,
    /// Bits set in both.
    count: u32,
}

impl Damage {
    fn new(units: u32) -> Self {
        Self { lost: BitTable::new(units as usize), wrong: BitTable::new(units as usize), count: 0 }
    }

    /// Whether anything is damaged.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.count > 0
    }

    /// Whether a unit is known to be lost.
    pub fn is_lost(&self, lpa: Lpa) -> bool {
        self.lost.get(lpa.index())
    }

    /// Whether a unit is wrong, and nobody knows.
    pub fn is_wrong(&self, lpa: Lpa) -> bool {
        self.wrong.get(lpa.index())
    }

    /// A unit is lost; returns whether it was not before.
    pub fn lose(&mut self, lpa: Lpa) -> bool {
        Self::mark(&mut self.lost, lpa, &mut self.count)
    }

    /// A unit is wrong; returns whether it was not before.
    pub fn make_wrong(&mut self, lpa: Lpa) -> bool {
        Self::mark(&mut self.wrong, lpa, &mut self.count)
    }

    fn mark(table: &mut BitTable, lpa: Lpa, count: &mut u32) -> bool {
        let is_new = !table.get(lpa.index());
        *count += u32::from(is_new);
        table.set(lpa.index());
        is_new
    }

    /// A unit was written anew, or forgotten.
    pub fn repair(&mut self, lpa: Lpa) {
        for table in [&mut self.lost, &mut self.wrong] {
            self.count -= u32::from(table.get(lpa.index()));
            table.clear(lpa.index());
        }
    }
}

/// What a page access brought into the page register of its die, and what became of it.
#[derive(Clone, Copy, Debug)]
struct Sensed {
    /// What the decoder will find.
    decoded: Decoded,
    /// The code of its group.
    code: NandCode,
    /// It lay on a die that failed.
    missing: bool,
    /// Where its first unit lay, if the decoder finds anything.
    from: Residence,
    /// Of storage-class memory: the page whose sectors it brought.
    page: Lpa,
}

/// A unit of a page access of which the decoder finds something.
#[derive(Clone, Copy, Debug)]
struct HarmedUnit {
    /// The access.
    transaction: u32,
    /// Its number in it.
    number: u32,
    /// What it held when it was sensed.
    lpa: Lpa,
}

impl Default for Sensed {
    fn default() -> Self {
        Self {
            decoded: Decoded::default(),
            code: NandCode::Ecc,
            missing: false,
            from: Residence::NONE,
            page: Lpa::NONE,
        }
    }
}

/// How far the scrubber is.
#[derive(Clone, Copy, Debug, Default)]
struct ScrubPass {
    /// A pass is under way.
    running: bool,
    /// When it began.
    began: Ns,
    /// The pool whose turn it is, so that pages of all dies are read side by side.
    turn: u32,
    /// Page reads under way.
    reads: u32,
}

/// Everything about failing bits of a drive in simulation.
#[derive(Debug)]
pub struct Reliability {
    /// By [`NandCode`].
    nand: [Option<Code>; 2],
    /// By medium of SCM.
    scm: [Option<ScmCode>; 2],
    ages: GroupAges,
    health: Option<GroupHealth>,
    variation: Option<Variation>,
    /// By page: the raw bit error rate that it took along when it was copied by its die; empty until one is.
    copied: Vec<f64>,
    initial_cycles: u32,
    /// Whether codes or retries change what a command moves or senses.
    shapes_commands: bool,
    /// Accesses the rest of whose parity stripe is read; none where pages have no parity over dies.
    rebuilds: Option<Vec<Rebuild>>,
    die_rebuild: DieRebuild,
    retry: Option<Box<dyn ReadRetry>>,
    retry_stream: RandomStream,
    corruption: Option<Corruption>,
    /// By transaction: what it brought.
    sensed: Vec<Sensed>,
    /// Of accesses that brought something bad; those of a number that is in use again are forgotten then.
    harmed_units: Vec<HarmedUnit>,
    damage: Damage,
    backing_store: Option<BackingStore>,
    /// By unit: its content is being fetched for the scrubber, or waits to be written.
    healing: BitTable,
    scrub: Option<Box<dyn ScrubPolicy>>,
    pass: ScrubPass,
    /// By pool: the first unit that the pass has not looked at.
    scrub_cursors: Vec<u32>,
    refresh: Option<Box<dyn RefreshPolicy>>,
    /// By group: its refresh was asked for in this life.
    refresh_asked: BitTable,
    timetable: Timetable,
    counters: ReliabilityCounters,
    reads_by_age: ReadsByAge,
    /// The first timers are noted, and what is corrupt from the start is.
    started: bool,
    /// It was noticed that nothing more comes from the host: timers are void.
    host_ended: bool,
}

/// The code of a medium of SCM, and how often its bits fail.
#[derive(Debug)]
struct ScmCode {
    code: Code,
    model: Option<Box<dyn ErrorModel>>,
    ber_factor: f64,
}

impl ScmCode {
    /// The level of sectors whose memory was written so often.
    fn level(&self, writes: u32) -> Option<RberLevel> {
        let health = ninescope_media::health::Health { cycles: writes, ..Default::default() };
        let rber = self.model.as_ref()?.rber(&health) * self.ber_factor;
        self.code.level(rber)
    }
}

impl Reliability {
    /// Builds it for a drive of that shape whose host addresses `logical_units`, with room for `transactions` at a time.
    /// `ber_factors` is what verified writes leave of the bit error rate of each medium of SCM.
    ///
    /// # Panics
    /// Where a policy's parameters make no sense, which whoever assembles the drive has checked.
    pub fn new(
        config: &ReliabilityConfig,
        geometry: &Geometry,
        layout: &ScmLayout,
        ber_factors: [f64; 2],
        logical_units: u32,
        transactions: usize,
    ) -> Self {
        let ReliabilityConfig { nand, seed, .. } = config;
        let retry = nand.retry.as_ref().map(|retry| retry.build().expect("checked when the drive was assembled"));
        let model = |errors: &ErrorModelConfig| errors.build().expect("checked when the drive was assembled");
        let nand_model = nand.errors.as_ref().map(model);
        let rber_of_all = nand_model.as_ref().and_then(|model| model.rber_of_all());
        let of_nand = |scheme: &Scheme, purpose| {
            let told = retry.as_ref().map_or(0, |retry| retry.errors_told(scheme.correctable()));
            let told = nand.errors.is_some().then_some(told);
            let mut code = Code::new(scheme, geometry.unit_bytes, geometry.channels, told, *seed, purpose);
            if let Some(rber) = rber_of_all {
                code.know_exactly(rber);
            }
            code
        };
        let of_scm = |medium: usize| {
            let config = config.scm.get(medium)?;
            let channels = layout.medium(medium).channels;
            let told = config.errors.is_some().then_some(0);
            let purpose = ["scm", "storage-scm"][medium];
            let sector = ninescope_model::SECTOR_BYTES as u32;
            let mut code = Code::new(config.ecc.as_ref()?, sector, channels, told, *seed, purpose);
            let model = config.errors.as_ref().map(model);
            if let Some(rber) = model.as_ref().and_then(|model| model.rber_of_all()) {
                code.know_exactly(rber * ber_factors[medium]);
            }
            Some(ScmCode { code, model, ber_factor: ber_factors[medium] })
        };
        let codes = [
            nand.ecc.as_ref().map(|scheme| of_nand(scheme, "nand")),
            nand.edc.as_ref().map(|scheme| of_nand(scheme, "nand-edc")),
        ];
        let mut health = nand_model.map(|model| GroupHealth::new(model, geometry.groups()));
        let variation = nand.variation.as_ref().map(|config| Variation::new(config, geometry, *seed));
        if let (Some(health), Some(rber), None) = (&mut health, rber_of_all, &variation) {
            let level = |code: &Option<Code>| code.as_ref().and_then(|code| code.level(rber));
            health.never_changes([level(&codes[0]), level(&codes[1])]);
        }
        Self {
            shapes_commands: retry.is_some() || codes.iter().flatten().any(Code::moves_more),
            nand: codes,
            scm: [of_scm(0), of_scm(1)],
            ages: GroupAges::new(geometry.groups(), nand.initial_age, nand.ageing),
            health,
            variation,
            copied: Vec::new(),
            initial_cycles: nand.initial_cycles,
            retry_stream: RandomStream::new(*seed, "ecc", "read-retry"),
            corruption: nand
                .corruption
                .as_ref()
                .map(|config| Corruption::new(config, geometry.units(), geometry.unit_bytes, *seed)),
            sensed: vec![Sensed::default(); transactions],
            harmed_units: Vec::with_capacity(64),
            damage: Damage::new(logical_units),
            healing: BitTable::new(logical_units as usize),
            backing_store: config.backing_store.as_ref().map(BackingStore::new),
            scrub: config.scrub.as_ref().map(|scrub| scrub.build().expect("checked when the drive was assembled")),
            pass: ScrubPass::default(),
            scrub_cursors: vec![0; if config.scrub.is_some() { geometry.pools() as usize } else { 0 }],
            refresh: config
                .refresh
                .as_ref()
                .map(|refresh| refresh.build().expect("checked when the drive was assembled")),
            refresh_asked: BitTable::new(geometry.groups() as usize),
            timetable: Timetable::with_capacity(transactions + 8),
            counters: ReliabilityCounters::default(),
            reads_by_age: ReadsByAge::default(),
            started: false,
            host_ended: false,
            rebuilds: geometry.parity.map(|_| Vec::new()),
            die_rebuild: DieRebuild::new(nand.rebuild, &nand.die_failures),
            retry,
        }
    }

    /// What was counted.
    pub fn counters(&self) -> &ReliabilityCounters {
        &self.counters
    }

    /// How many attempts reads of flash took, by the age of what they read and by wear.
    pub fn reads_by_age(&self) -> &ReadsByAge {
        &self.reads_by_age
    }

    /// A code of the flash.
    pub fn nand_code(&self, code: NandCode) -> Option<&Code> {
        self.nand[code as usize].as_ref()
    }

    /// The code of a medium of SCM.
    pub fn scm_code(&self, medium: usize) -> Option<&Code> {
        self.scm[medium].as_ref().map(|of_medium| &of_medium.code)
    }

    /// Units that are lost or wrong.
    pub fn damage(&self) -> &Damage {
        &self.damage
    }

    /// How pages that do not decode are read again.
    pub fn retry(&self) -> Option<&dyn ReadRetry> {
        self.retry.as_deref()
    }

    /// When data at rest is read.
    pub fn scrub(&self) -> Option<&dyn ScrubPolicy> {
        self.scrub.as_deref()
    }

    /// Whether it was noticed that nothing more comes from the host.
    pub fn host_ended(&self) -> bool {
        self.host_ended
    }

    /// When data is written anew.
    pub fn refresh(&self) -> Option<&dyn RefreshPolicy> {
        self.refresh.as_deref()
    }

    /// The store behind a cache-oriented drive.
    pub fn backing_store(&self) -> Option<&BackingStore> {
        self.backing_store.as_ref()
    }

    /// What makes units corrupt, where anything does.
    pub fn corruption(&self) -> Option<&Corruption> {
        self.corruption.as_ref()
    }

    /// How often the bits of flash fail by themselves, where they do.
    pub fn error_model(&self) -> Option<&dyn ErrorModel> {
        self.health.as_ref().map(GroupHealth::model)
    }

    /// Suspensions of the last erase of a group beyond what it bears [count].
    pub fn excess_suspensions(&self, group: BlockGroup) -> u32 {
        self.health.as_ref().map_or(0, |health| health.suspensions(group))
    }

    /// P/E cycles that every block had behind it at the start [count].
    pub fn initial_cycles(&self) -> u32 {
        self.initial_cycles
    }

    /// How old data was that was there at the start, by the clock, and how fast data ages.
    pub fn age_at_start(&self) -> (Ns, Option<Ageing>) {
        self.ages.at_start()
    }

    /// By how much the raw bit error rate of a block differs from that of others, where any does.
    pub fn variation(&self) -> Option<&Variation> {
        self.variation.as_ref()
    }

    /// Whether a unit of flash is corrupt by injection.
    pub fn is_corrupt(&self, ppa: Ppa) -> bool {
        self.corruption.as_ref().is_some_and(|corruption| corruption.is_corrupt(ppa))
    }

    /// A read finds what a place holds; returns whether it is the first one to find that it is corrupt.
    fn meet_corruption(&mut self, place: Ppa) -> bool {
        self.corruption.as_mut().is_some_and(|corruption| corruption.is_corrupt(place) && corruption.meet(place))
    }

    /// Counts from now on: end of warm-up.
    pub(crate) fn begin_measuring(&mut self) {
        // What was injected is there still, and its ledger goes on.
        let before = self.counters;
        self.counters = ReliabilityCounters {
            corruptions: before.corruptions,
            corruptions_under_edc: before.corruptions_under_edc,
            corruptions_corrected: before.corruptions_corrected,
            corruptions_met_by_host: before.corruptions_met_by_host,
            corruptions_met_by_moves: before.corruptions_met_by_moves,
            corruptions_met_by_scrub: before.corruptions_met_by_scrub,
            corruptions_erased: before.corruptions_erased,
            ..ReliabilityCounters::default()
        };
        self.reads_by_age.clear();
        let codes = self.nand.iter_mut().flatten();
        let codes = codes.chain(self.scm.iter_mut().flatten().map(|of_medium| &mut of_medium.code));
        codes.for_each(|code| code.counters = Default::default());
    }
}
