//! The flash of a drive: its dies with what waits on them, the translation layer over them, pages on their way to the
//! media, garbage collection in time, and the line of writes that wait for a place.
//!
//! Knows nothing of host commands but their numbers, nor of codes, tiers and storage-class memory: what ends here is told to
//! whoever called, who tells the others.

mod buffer_parts;
mod channel;
mod classes;
mod clean;
mod collection;
mod copyback;
mod dispatch;
mod failed_dies;
mod flush;
mod held;
mod line;
mod loads;
mod map;
mod merged;
mod merging;
mod parity;
mod phases;
mod place;
mod planes;
mod power;
mod programs;
mod queue;
mod registers;
mod rewrite;
mod sectors;
mod suspend;
mod tenants;
mod throttle;
mod trims;
mod turns;
mod wordlines;
mod zoned;

use ninescope_ftl::{Ftl, Partitions};
use ninescope_kernel::Ns;
use ninescope_media::nand::{FlashCommand, Nand};
use ninescope_model::{ChannelId, DieId, Geometry, Pool, UrgencyClass};

use crate::config::{EngineConfig, Forwarding, WriteCompletion};
use crate::meter::DieLedger;
use crate::policies::suspend::SuspendPolicy;
use crate::policies::trim::TrimConfig;
use crate::resources::Resources;
use crate::sched::Stations;
use crate::transaction::BringsUp;

pub use channel::{Granted, Leaving};
pub use collection::CollectionStep;
pub use dispatch::Turn;
pub use line::WriteEntry;
pub use map::{MergedWith, ReadFrom};
pub use phases::Ending;
pub use power::ForPower;
pub use programs::BufferLimits;
pub use registers::{Beside, stations_beside};
pub use sectors::all_sectors;
pub use zoned::Dropped;

use buffer_parts::BufferParts;
use clean::FlushReads;
use collection::Collection;
use copyback::Copybacks;
use failed_dies::FailedDies;
use flush::FlushEpochs;
use held::HeldPrograms;
use line::WriteLines;
use loads::Loads;
use merging::Merging;
use planes::Planes;
use programs::Programs;
use registers::Registers;
use sectors::Sectors;
use throttle::Throttle;
use trims::Trims;

/// What a die works on.
#[derive(Debug, Default)]
struct DieWork {
    /// Its command, meaningless while it is free.
    command: FlashCommand,
    /// Planes of the command whose read data stays in the controller, so that its arrival is an event.
    staying_planes: u8,
    /// By plane: the migration that takes up the data of a host read as well.
    bringing_up: [BringsUp; 4],
    /// Its command works for commands of several parts, which have shares of the die; or several tenants share the drive.
    shared: bool,
}

/// All flash of one drive.
#[allow(clippy::struct_excessive_bools)] // what the description says, and what was told, each by itself
#[derive(Debug)]
pub struct Flash {
    geometry: Geometry,
    ftl: Ftl,
    nand: Nand,
    dies: Stations<DieWork>,
    /// The classes of tenants, where the scheduler goes by them.
    classes: Option<Box<[UrgencyClass]>>,
    suspend_policy: Option<Box<dyn SuspendPolicy>>,
    merging: Merging,
    /// Planes that read each by itself; nothing where those of a die read together.
    planes: Option<Box<Planes>>,
    /// Second registers, where pages leave from them; nothing where they leave from that which they were sensed into.
    registers: Option<Registers>,
    /// The first station beside the dies.
    first_beside: u32,
    /// Programs that wait for the map; nothing where none do.
    held: Option<Box<HeldPrograms>>,
    /// What goes by sector; nothing where whole units and pages do.
    sectors: Option<Box<Sectors>>,
    /// What the allocation has dies measured by; nothing where it asks for nothing.
    loads: Option<Loads>,
    write_completion: WriteCompletion,
    forwards: Forwarding,
    programs: Programs,
    /// Parts of the write buffer, where tenants have any for themselves.
    parts: Option<Box<BufferParts>>,
    flushes: FlushEpochs,
    flush_reads: FlushReads,
    collection: Collection,
    /// How often pages were copied within their planes, where they are.
    copybacks: Option<Box<Copybacks>>,
    line: WriteLines,
    /// What holds host writes back while little is free, where something does.
    throttle: Option<Box<Throttle>>,
    /// What was trimmed and is in the map still, where TRIMs are put off.
    trims: Option<Box<Trims>>,
    /// What TRIMs come to.
    trim_config: TrimConfig,
    /// Dies that fail; nothing where none does.
    failed_dies: Option<Box<FailedDies>>,
    /// Blocks break.
    blocks_break: bool,
    /// It was told that the drive takes no more writes.
    read_only_told: bool,
    /// Pages have no place to be programmed again.
    keeps_pages: bool,
}

impl Flash {
    /// Flash at rest. `ftl` is quiet (empty or prepared), and `nand` holds what it programmed.
    pub fn new(config: &EngineConfig, mut ftl: Ftl, mut nand: Nand, resources: Resources) -> Self {
        let geometry = *ftl.geometry();
        let depth = config.queue_depth as usize;
        ftl.clear_counters();
        ftl.follow_members();
        if config.gc_copybacks > 0 {
            ftl.collect_by_planes();
        }
        if config.forwards != Forwarding::All {
            nand.sense_unwritten();
        }
        let flush_reads = if ftl.knows_clean() { depth * 4 } else { 0 };
        let dies = (geometry.dies(), stations_beside(&geometry, &nand), resources.die(DieId(0)));
        let channels = (geometry.channels, resources.channel(ChannelId(0)));
        Self {
            dies: Stations::new(dies, channels, config.scheduler.build(), &config.channel),
            classes: None,
            suspend_policy: config.suspend.build(),
            merging: Merging::new(config, &ftl, &nand),
            planes: Planes::new(&geometry, &nand),
            registers: Registers::new(&geometry, &nand),
            first_beside: geometry.dies(),
            held: None,
            sectors: Sectors::new(&config.sectors, &ftl, Programs::stripes_of(&ftl), config.forwards),
            loads: Loads::new(ftl.load_measure(), &geometry, &nand),
            write_completion: config.write_completion,
            forwards: config.forwards,
            programs: Programs::new(config, &ftl),
            parts: BufferParts::new(&config.buffer_parts),
            flushes: FlushEpochs::with_capacity(depth),
            flush_reads: FlushReads::with_capacity(flush_reads),
            collection: Collection::new(&mut ftl, config.gc_pages_in_flight, config.slc_fold_after),
            copybacks: Copybacks::new(config.gc_copybacks, &ftl),
            throttle: Throttle::new(&config.throttle, ftl.partitions().map_or(1, Partitions::count)),
            trims: Trims::new(&config.trim, ftl.logical_units()),
            trim_config: config.trim.clone(),
            line: WriteLines::with_capacity(
                Self::lines_of(&ftl) * config.buffer_parts.pages.len().max(1) as u32,
                depth * 3,
            ),
            failed_dies: None,
            blocks_break: ftl.blocks_break(),
            read_only_told: false,
            keeps_pages: false,
            geometry,
            ftl,
            nand,
        }
    }

    /// Its shape.
    #[inline]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The translation layer.
    #[inline]
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// The media.
    #[inline]
    pub fn nand(&self) -> &Nand {
        &self.nand
    }

    /// What is given of units that wait for their program.
    pub fn forwards(&self) -> Forwarding {
        self.forwards
    }

    /// When a host write completes.
    pub fn write_completion(&self) -> WriteCompletion {
        self.write_completion
    }

    /// Whether a host write is done when its last unit is programmed: there is no write buffer then.
    #[inline]
    pub fn completes_at_program(&self) -> bool {
        self.write_completion == WriteCompletion::Program
    }

    // ---- what was seen ---------------------------------------------------------------------------

    /// Counts from `now` on: end of warm-up.
    pub fn begin_measuring(&mut self, now: Ns) {
        self.ftl.clear_counters();
        self.dies.begin_measuring(now);
        self.line.begin_measuring(now);
    }

    /// How many dies and channels there are.
    pub fn units(&self) -> usize {
        self.dies.count()
    }

    /// How long each die, and then each channel, was busy since measuring began, `elapsed` ago [ns].
    pub fn busy(&mut self, now: Ns, elapsed: u64) -> impl Iterator<Item = u64> {
        self.dies.busy(now, elapsed)
    }

    /// What each die was occupied with since measuring began.
    pub fn die_ledgers(&mut self, now: Ns) -> impl Iterator<Item = DieLedger> {
        self.dies.ledgers(now)
    }

    /// How long each channel transferred since measuring began.
    pub fn channel_times(&self, now: Ns) -> impl Iterator<Item = Ns> {
        self.dies.transfers(now)
    }

    /// How long writes were stalled since measuring began.
    pub fn stall_time(&self, now: Ns) -> Ns {
        self.line.stall_time(now)
    }

    /// Whether nothing is under way and nothing waits.
    pub fn is_quiet(&self, now: Ns) -> bool {
        let mut holders = Vec::new();
        self.add_holders(now, &mut holders);
        self.add_last_holders(&mut holders);
        // What is moved may be in the decoder, whose die is at rest.
        let moved = (0..self.geometry.pools()).any(|pool| self.moves_have_no_place(Pool(pool)));
        holders.is_empty() && !moved
    }

    /// Adds who still has something to do.
    pub fn add_holders(&self, now: Ns, holders: &mut Vec<String>) {
        if self.line.len() > 0 {
            holders.push(format!("{} stalled writes", self.line.len()));
        }
        for (die, phase, waiting) in self.dies.holders(now, |die| self.has_more(die)) {
            holders.push(format!("die {die} ({phase:?}, waiting classes {waiting:#b})"));
        }
    }

    /// Whether a die has something under way beside its command.
    fn has_more(&self, die: u32) -> bool {
        self.nand.parked(DieId(die)).is_some() || self.planes_reading(DieId(die)) > 0
    }

    /// Whether any die works, or is to.
    pub fn is_at_work(&self, now: Ns) -> bool {
        self.dies.holders(now, |die| self.has_more(die)).next().is_some()
    }

    /// The same of what comes last.
    pub fn add_last_holders(&self, holders: &mut Vec<String>) {
        if !self.collection.erases_waiting().is_empty() {
            holders.push(format!("erases of groups {:?} wait for readers", self.collection.erases_waiting()));
        }
    }

    /// Has another policy choose among what waits on dies. For tests.
    #[cfg(test)]
    pub fn set_scheduler(&mut self, scheduler: Box<dyn crate::policies::transaction_scheduler::TransactionScheduler>) {
        self.dies.set_scheduler(scheduler);
    }
}
