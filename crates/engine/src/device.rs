//! The device: all state of one drive in simulation, and the loop that moves time on.

use std::any::Any;
use std::collections::VecDeque;

use ninescope_ftl::Ftl;
use ninescope_kernel::{BitTable, NONE, Ns, ResourceId, RunDigest, Slab, WakeQueue};
use ninescope_media::nand::{CommandKind, FlashCommand, Nand};
use ninescope_model::{BankId, ChannelId, DieId, Geometry, OCCUPANCIES, Pool, SECTOR_BYTES, Stream};
use ninescope_workload::{HostCacheStatistics, Workload};

use crate::config::{EngineConfig, RunLimits, WriteCompletion};
use crate::counters::EngineCounters;
use crate::error::SimulationError;
use crate::flow::{FlushEpochs, FlushRead, GcJob, OpenStripe, PageDeadline, WriteEntry};
use crate::host::{HostCommand, HostFront, LaneConfig, LinkOut, RequestLogEntry, SerialStage};
use crate::kind::{Kind, Plain, Watched};
use crate::meter::{DieLedger, Meter, OwnParts, Spells, Written};
use crate::probe::{BufferLimits, Event, Probe, observe};
use crate::reliability::{Reliability, ReliabilityConfig};
use crate::resources::Resources;
use crate::sched::scm::BankPhase;
use crate::sched::suspend_policy::SuspendPolicy;
use crate::sched::transaction_scheduler::TransactionScheduler;
use crate::sched::{ChannelUnit, DiePhase, DieUnit};
use crate::scm::ScmPart;
use crate::tier::{Lower, TierConfig, TierPart};
use crate::transaction::{CLASSES, TransactionStore};

/// How commands are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// By flash alone.
    Flash,
    /// By storage-class memory alone.
    Scm,
    /// By two media.
    Tier,
}

/// What a slice of a run got to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Commands completed so far.
    pub completed: u64,
    /// Simulated time.
    pub now: Ns,
    /// Nothing is left to do.
    pub finished: bool,
}

/// How the time of the drive's resources was used since measuring began.
#[derive(Clone, Debug, Default)]
pub struct Utilization {
    /// Measured time [ns].
    pub elapsed: Ns,
    /// Per die: time by occupancy [ns].
    pub dies: Vec<DieLedger>,
    /// Per channel: time spent transferring [ns].
    pub channels: Vec<Ns>,
    /// Per bank of SCM: time by occupancy [ns].
    pub banks: Vec<DieLedger>,
    /// Per channel of SCM: time spent transferring [ns].
    pub bank_channels: Vec<Ns>,
    /// The controller's processor [ns].
    pub processor: Ns,
    /// The time in which a write found the write buffer full, or no free page [ns].
    pub write_stalls: Ns,
    /// Host link towards the device [ns].
    pub link_in: Ns,
    /// Host link towards the host [ns].
    pub link_out: Ns,
}

impl Utilization {
    /// How long each resource was busy [ns], by kind in the order of the fields.
    pub fn busy(&self) -> [Vec<u64>; 8] {
        let of_units = |units: &[DieLedger]| units.iter().map(|unit| busy_of_unit(unit, self.elapsed.0)).collect();
        let of_times = |times: &[Ns]| times.iter().map(|time| time.0).collect();
        [
            of_units(&self.dies),
            of_times(&self.channels),
            of_units(&self.banks),
            of_times(&self.bank_channels),
            vec![self.processor.0],
            vec![self.write_stalls.0],
            vec![self.link_in.0],
            vec![self.link_out.0],
        ]
    }
}

/// What the host's last completion left behind, before the drive works on by itself.
#[derive(Clone, Debug)]
pub struct HostEnd {
    /// How the resources' time was used until then.
    pub utilization: Utilization,
    /// What was written until then.
    pub written: Written,
}

/// What a device has done so far, for whoever reports it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Simulated time.
    pub now: Ns,
    /// The digest of everything it did.
    pub digest: RunDigest,
    /// Commands completed, warm-up included.
    pub completed: u64,
    /// When the last of them completed.
    pub latest_completion: Ns,
    /// What there was then, if it is known to be the last of all.
    pub host_end: Option<&'a HostEnd>,
    /// What was measured.
    pub meter: &'a Meter,
    /// What was counted.
    pub counters: &'a EngineCounters,
    /// The translation layer.
    pub ftl: &'a Ftl,
    /// The storage-class memory.
    pub scm: &'a ScmPart,
    /// What is above and below, on a drive with two media.
    pub tier: Option<&'a TierPart>,
    /// Failing bits and what is done about them.
    pub reliability: Option<&'a Reliability>,
    /// One entry per measured request, if they were to be logged.
    pub request_log: &'a [RequestLogEntry],
    /// What the cache in front of the drive did since the run began, where there is one.
    pub host_cache: Option<&'a HostCacheStatistics>,
}

impl Seen<'_> {
    /// What the host wrote since measuring began, and what flash did for it.
    pub fn written(&self) -> Written {
        written(self.ftl, self.scm, self.counters)
    }
}

/// One simulated drive with its workload, of one of the [kinds](Kind) there are.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // four facts that have nothing to do with each other
pub struct Device<K: Kind = Plain> {
    pub(crate) now: Ns,
    pub(crate) queue: K::Queue,
    pub(crate) resources: Resources,
    pub(crate) geometry: Geometry,
    pub(crate) ftl: Ftl,
    pub(crate) nand: Nand,
    pub(crate) dies: Vec<DieUnit>,
    pub(crate) channels: Vec<ChannelUnit>,
    /// Dies that may be given a command before time moves on.
    pub(crate) touched: BitTable,
    /// Channels that may be granted before time moves on.
    pub(crate) channels_touched: BitTable,
    pub(crate) transactions: TransactionStore,
    pub(crate) commands: Slab<HostCommand>,
    /// What dies, banks and channels did for commands of several parts.
    pub(crate) own_parts: OwnParts,
    pub(crate) host: HostFront,
    /// When the host's last command completed so far.
    pub(crate) latest_completion: Ns,
    /// What there was when nothing more came from the host.
    pub(crate) host_end: Option<Box<HostEnd>>,
    /// Room for it.
    host_end_to_be: Option<Box<HostEnd>>,
    pub(crate) processor: SerialStage,
    pub(crate) link_in: SerialStage,
    pub(crate) link_out: LinkOut,
    pub(crate) stalled: VecDeque<WriteEntry>,
    /// The times in which one was stalled.
    pub(crate) stalls: Spells,
    /// Units that are being read so as to be flushed, and have not changed since. Known where clean data is.
    pub(crate) flush_reads: Vec<FlushRead>,
    /// Space or buffer room appeared since the stalled writes were last tried.
    pub(crate) retry_stalled: bool,
    pub(crate) stripes: Vec<OpenStripe>,
    pub(crate) gc_jobs: Vec<GcJob>,
    /// Pools whose garbage collection may go on before time moves on.
    pub(crate) gc_touched: BitTable,
    pub(crate) erases_waiting: Vec<u32>,
    pub(crate) flushes: FlushEpochs,
    pub(crate) page_deadlines: VecDeque<PageDeadline>,
    pub(crate) scheduler: Box<dyn TransactionScheduler>,
    pub(crate) suspend_policy: Option<Box<dyn SuspendPolicy>>,
    pub(crate) counters: EngineCounters,
    pub(crate) meter: Meter,
    pub(crate) log: Option<Vec<RequestLogEntry>>,
    pub(crate) digest: RunDigest,
    pub(crate) probe: K::Probe,
    pub(crate) multi_plane: bool,
    pub(crate) read_any_block: bool,
    pub(crate) buffered_pages_max: u32,
    /// Filled pages of all dies that wait for their program, and how many there may be.
    pub(crate) shared_buffered_pages: u32,
    pub(crate) shared_buffered_pages_max: u32,
    pub(crate) gc_pages_max: u32,
    pub(crate) write_completion: WriteCompletion,
    pub(crate) page_timeout: Option<Ns>,
    pub(crate) scm: ScmPart,
    /// What moves between two media, on a drive that has them.
    pub(crate) tier: Option<TierPart>,
    /// Failing bits and what is done about them, on a drive whose description says so.
    pub(crate) reliability: Option<Box<Reliability>>,
    /// A slot became free, or a migration ended.
    pub(crate) tier_touched: bool,
    /// How commands are carried out.
    pub(crate) flow: Flow,
    /// Sectors that the host can address [512 B].
    pub(crate) host_sectors: u64,
    /// The probe knows that the run is over.
    finished_told: bool,
}

impl<K: Kind> Device<K> {
    /// Puts a drive with one workload together. `ftl` is quiet (empty or prepared), and `nand` holds what it
    /// programmed.
    pub fn new(
        config: &EngineConfig,
        limits: &RunLimits,
        ftl: Ftl,
        nand: Nand,
        workload: Box<dyn Workload>,
        probe: K::Probe,
    ) -> Self {
        let lane = LaneConfig::new(workload, limits.closed_queue_depth);
        Self::with_lanes(config, limits, ftl, nand, vec![lane], probe)
    }

    /// The same with several workloads that run at the same time.
    pub fn with_lanes(
        config: &EngineConfig,
        limits: &RunLimits,
        ftl: Ftl,
        nand: Nand,
        lanes: Vec<LaneConfig>,
        probe: K::Probe,
    ) -> Self {
        K::assemble(config, limits, (ftl, nand), lanes, probe)
    }

    pub(crate) fn assemble(
        config: &EngineConfig,
        limits: &RunLimits,
        (ftl, nand): (Ftl, Nand),
        lanes: Vec<LaneConfig>,
        probe: K::Probe,
    ) -> Self {
        let geometry = *ftl.geometry();
        let resources = Resources::new(geometry.dies(), geometry.channels, 0, 0);
        let (dies, pools) = (geometry.dies() as usize, geometry.pools() as usize);
        let depth = config.queue_depth as usize;
        let of_die = EngineConfig::buffered_pages_min(&geometry);
        // Reads of a command, pages in the write buffer, pages garbage collection moves, and erases.
        let transactions =
            depth * 4 + dies * config.buffered_pages as usize + pools * config.gc_pages_in_flight as usize * 2;
        let units = pools * config.gc_pages_in_flight as usize * geometry.units_per_page() as usize * 2;
        let mut ftl = ftl;
        ftl.clear_counters();
        let flush_reads = if ftl.knows_clean() { depth * 4 } else { 0 };
        let host_sectors = u64::from(ftl.logical_units()) * u64::from(geometry.sectors_per_unit());
        let streams = (0..pools as u32).flat_map(|pool| Stream::ALL.map(|stream| (Pool(pool), stream)));
        let stripes =
            streams.map(|(pool, stream)| OpenStripe::after(&geometry, ftl.last_allocated(pool, stream))).collect();
        Self {
            now: Ns::ZERO,
            queue: K::Queue::new(resources.count()),
            resources,
            geometry,
            ftl,
            read_any_block: nand.reads_any_block(),
            nand,
            dies: (0..dies).map(|_| DieUnit::default()).collect(),
            channels: (0..geometry.channels).map(|_| ChannelUnit::default()).collect(),
            touched: BitTable::new(dies),
            channels_touched: BitTable::new(geometry.channels as usize),
            transactions: TransactionStore::with_capacity(transactions, units, depth * 2),
            commands: Slab::with_capacity(depth),
            own_parts: OwnParts::new(resources.count(), depth * 8),
            meter: Meter::new(Ns::ZERO, lanes.len()),
            host: HostFront::new(lanes, config, limits),
            latest_completion: Ns::ZERO,
            host_end: None,
            host_end_to_be: None,
            processor: SerialStage::default(),
            link_in: SerialStage::default(),
            link_out: LinkOut::new(config.link_rate, depth),
            stalled: VecDeque::with_capacity(depth * 3),
            stalls: Spells::default(),
            flush_reads: Vec::with_capacity(flush_reads),
            retry_stalled: false,
            stripes,
            gc_jobs: vec![GcJob::default(); pools],
            gc_touched: BitTable::new(pools),
            erases_waiting: Vec::with_capacity(pools),
            flushes: FlushEpochs::with_capacity(depth),
            page_deadlines: VecDeque::with_capacity(pools * 4),
            scheduler: config.scheduler.build(),
            suspend_policy: config.suspend.build(),
            counters: EngineCounters::default(),
            log: config.log_requests.then(Vec::new),
            digest: RunDigest::default(),
            probe,
            multi_plane: config.multi_plane,
            buffered_pages_max: config.buffered_pages.max(of_die),
            shared_buffered_pages: 0,
            shared_buffered_pages_max: config
                .shared_buffered_pages
                .map_or(u32::MAX, |pages| pages.max(EngineConfig::shared_buffered_pages_min(&geometry, of_die))),
            gc_pages_max: config.gc_pages_in_flight.max(1),
            write_completion: config.write_completion,
            page_timeout: config.page_timeout,
            scm: ScmPart::absent(),
            tier: None,
            reliability: None,
            tier_touched: false,
            flow: Flow::Flash,
            host_sectors,
            finished_told: false,
        }
    }

    /// A drive of storage-class memory alone, with several workloads that run at the same time.
    pub fn of_scm(
        config: &EngineConfig,
        limits: &RunLimits,
        scm: ScmPart,
        lanes: Vec<LaneConfig>,
        probe: K::Probe,
    ) -> Self {
        let mut device = Self::with_lanes(config, limits, Ftl::absent(), Nand::absent(), lanes, probe);
        let shape = *scm.layout();
        let resources = Resources::new(0, 0, shape.banks(), shape.channels());
        device.set_resources(resources);
        device.scm = scm;
        device.flow = Flow::Scm;
        device.host_sectors = shape.medium(0).logical_sectors();
        device
    }

    /// A drive of two media: slots of `scm` above flash, or above a second medium of `scm`.
    ///
    /// # Panics
    /// If the placement knows one medium only, or a page of the lower medium is no slot of the upper one: whoever
    /// assembles the drive has checked both.
    #[allow(clippy::too_many_arguments)] // the parts of a drive, each once
    pub fn of_tier(
        config: &EngineConfig,
        limits: &RunLimits,
        ftl: Ftl,
        nand: Nand,
        scm: ScmPart,
        tier: &TierConfig,
        lanes: Vec<LaneConfig>,
        probe: K::Probe,
    ) -> Self {
        let mut device = Self::with_lanes(config, limits, ftl, nand, lanes, probe);
        let shape = *scm.layout();
        let geometry = device.geometry;
        let resources = Resources::new(geometry.dies(), geometry.channels, shape.banks(), shape.channels());
        device.set_resources(resources);
        device.scm = scm;
        device.flow = Flow::Tier;
        let (upper, storage) = (*shape.medium(0), *shape.medium(1));
        let pages = match tier.lower {
            Lower::Flash => {
                assert!(
                    geometry.units_per_page() == 1 && geometry.sectors_per_unit() == upper.sectors_per_slot,
                    "a page of flash is a slot"
                );
                device.ftl.logical_units()
            }
            Lower::Scm => {
                assert_eq!(storage.sectors_per_slot, upper.sectors_per_slot, "slots are of one size");
                device.host_sectors = storage.logical_sectors();
                storage.slots
            }
        };
        let part = TierPart::new(tier, upper.slots, pages, upper.sectors_per_slot, config.queue_depth);
        device.tier = Some(part.expect("a placement of two media"));
        device
    }

    fn set_resources(&mut self, resources: Resources) {
        self.queue = K::Queue::new(resources.count());
        self.own_parts = OwnParts::new(resources.count(), self.commands.capacity() * 8);
        self.resources = resources;
    }

    /// Gives the drive codes, and bits that fail. Before anything runs.
    pub fn set_reliability(&mut self, config: &ReliabilityConfig) {
        if !config.is_used() {
            return;
        }
        let units = if self.flow == Flow::Tier && self.ftl.logical_units() == 0 {
            self.scm.layout().medium(1).slots
        } else {
            self.ftl.logical_units()
        };
        let transactions = self.transactions.slab.capacity();
        let media = self.scm.media();
        let ber_factors = [0, 1].map(|medium| media.ber_factor(medium));
        let part = Reliability::new(config, &self.geometry, self.scm.layout(), ber_factors, units, transactions);
        self.reliability = Some(Box::new(part));
    }

    /// Runs on until about `events` more events were handled or everything is done. How a run is cut into
    /// slices changes nothing in it.
    ///
    /// # Errors
    /// See [`SimulationError`]; the run is over then.
    pub fn run_slice(&mut self, events: u64) -> Result<Progress, SimulationError> {
        K::run_slice(self, events)
    }

    pub(crate) fn handle_events(&mut self, events: u64) -> Result<Progress, SimulationError> {
        let begins = self.host.start();
        if begins {
            // Made now, so that nothing is allocated at the end.
            self.host_end_to_be = Some(Box::new(self.host_end_now()));
        }
        if begins && K::ACTIVE {
            let lane_depths = self.host.lane_depths();
            let write_completion = self.write_completion;
            let buffer = BufferLimits { of_die: self.buffered_pages_max, of_all: self.shared_buffered_pages_max };
            observe!(self, Event::Started { write_completion, lane_depths: &lane_depths, buffer });
        }
        if self.reliability.is_some() {
            self.start_reliability()?;
        }
        // Where the last slice ended between two events of one instant, the rest of them comes first.
        if self.queue.peek().is_none_or(|(next, _)| next > self.now) {
            self.drain_instant()?;
        }
        let end = self.counters.events + events;
        let mut finished = false;
        while self.counters.events < end {
            let Some((at, resource)) = self.queue.pop() else {
                finished = true;
                break;
            };
            debug_assert!(at >= self.now, "time does not go back");
            self.now = at;
            self.counters.events += 1;
            self.wake(resource)?;
            if self.queue.peek().is_none_or(|(next, _)| next > at) {
                self.drain_instant()?;
            }
        }
        if finished {
            self.check_quiet()?;
            if self.reliability.is_some() {
                self.host_has_ended();
            }
            if K::ACTIVE && !self.finished_told {
                self.finished_told = true;
                let utilization = self.utilization();
                observe!(self, Event::Finished { utilization: &utilization });
            }
        }
        Ok(Progress { completed: self.host.completed, now: self.now, finished })
    }

    /// Runs to the end of the workload.
    ///
    /// # Errors
    /// See [`SimulationError`].
    pub fn run(&mut self) -> Result<(), SimulationError> {
        while !self.run_slice(u64::MAX / 2)?.finished {}
        Ok(())
    }

    #[inline]
    fn wake(&mut self, resource: ResourceId) -> Result<(), SimulationError> {
        let Resources { dies, channels, stages, .. } = self.resources;
        if resource.0 < dies {
            self.die_woke(DieId(resource.0))
        } else if resource.0 < dies + channels {
            self.channels_touched.set((resource.0 - dies) as usize);
            Ok(())
        } else if resource.0 < stages {
            self.scm_woke(resource.0 - dies - channels)
        } else {
            match resource.0 - stages {
                0 => self.processor_woke(),
                1 => self.link_in_woke(),
                2 => self.link_out_woke(),
                3 => self.page_timer_woke(),
                4 => self.timetable_woke(),
                _ => self.arrival_woke(),
            }
        }
    }

    /// A bank of SCM woke, or behind the banks a channel.
    #[inline(never)]
    fn scm_woke(&mut self, unit: u32) -> Result<(), SimulationError> {
        let Resources { banks, .. } = self.resources;
        match unit.checked_sub(banks) {
            None => self.bank_woke(BankId(unit)),
            Some(channel) => {
                self.scm.channels_touched.set(channel as usize);
                Ok(())
            }
        }
    }

    /// Everything that must be decided at this instant, in a fixed order: fetches, stalled writes, garbage
    /// collection, then banks and channels of SCM, then dies by id, then channels by id; again until nothing is left.
    pub(crate) fn drain_instant(&mut self) -> Result<(), SimulationError> {
        loop {
            self.fetch_commands()?;
            if self.retry_stalled {
                self.retry_stalled = false;
                self.retry_stalled_writes()?;
            }
            while let Some(pool) = self.gc_touched.next_set(0) {
                self.gc_touched.clear(pool);
                self.pump_gc(pool as u32)?;
            }
            if self.flow != Flow::Flash {
                self.drain_scm()?;
            }
            while let Some(die) = self.touched.next_set(0) {
                self.touched.clear(die);
                self.dispatch(DieId(die as u32))?;
            }
            while let Some(channel) = self.channels_touched.next_set(0) {
                self.channels_touched.clear(channel);
                self.arbitrate_channel(ChannelId(channel as u32))?;
            }
            if !self.host.has_work(self.now) && !self.retry_stalled && self.gc_touched.next_set(0).is_none() {
                self.await_arrival();
                return Ok(());
            }
        }
    }

    /// The banks and channels of SCM of an instant.
    #[inline(never)]
    fn drain_scm(&mut self) -> Result<(), SimulationError> {
        loop {
            if std::mem::take(&mut self.tier_touched) {
                self.pump_tier(NONE)?;
            }
            let Some(bank) = self.scm.touched.next_set(0) else { break };
            self.scm.touched.clear(bank);
            self.dispatch_bank(BankId(bank as u32))?;
        }
        while let Some(channel) = self.scm.channels_touched.next_set(0) {
            self.scm.channels_touched.clear(channel);
            self.arbitrate_bank_channel(ChannelId(channel as u32))?;
        }
        Ok(())
    }

    /// Nothing is scheduled: everything must have come to its end.
    pub(crate) fn check_quiet(&self) -> Result<(), SimulationError> {
        let mut holders = Vec::new();
        if !self.commands.is_empty() {
            holders.push(format!("{} host commands", self.commands.len()));
        }
        if self.commands.is_empty() && !self.own_parts.is_empty() {
            holders.push("shares of commands that have completed".to_owned());
        }
        if !self.stalled.is_empty() {
            holders.push(format!("{} stalled writes", self.stalled.len()));
        }
        for (index, die) in self.dies.iter().enumerate() {
            let idle = die.phase == DiePhase::Free || (die.phase == DiePhase::DataOut && die.data_out_end <= self.now);
            if die.waiting != 0 || !idle || self.nand.parked(DieId(index as u32)).is_some() {
                holders.push(format!("die {index} ({:?}, waiting classes {:#b})", die.phase, die.waiting));
            }
        }
        for (index, bank) in self.scm.banks.iter().enumerate() {
            let idle =
                bank.phase == BankPhase::Free || (bank.phase == BankPhase::DataOut && bank.data_out_end <= self.now);
            if bank.waiting != 0 || !idle {
                holders.push(format!("SCM bank {index} ({:?}, waiting classes {:#b})", bank.phase, bank.waiting));
            }
        }
        let waiting = self.tier.as_ref().map_or(0, |part| part.waiting.len() as u32 + part.migrations.len());
        if waiting > 0 {
            holders.push(format!("{waiting} migrations and accesses that wait for a slot"));
        }
        if !self.erases_waiting.is_empty() {
            holders.push(format!("erases of groups {:?} wait for readers", self.erases_waiting));
        }
        if holders.is_empty() {
            return Ok(());
        }
        holders.truncate(12);
        Err(SimulationError::Stuck { at: self.now, holders: holders.join("; ") })
    }

    // ---- what was seen ----------------------------------------------------------------------------

    /// Counts from now on: end of warm-up.
    pub(crate) fn begin_measuring(&mut self) {
        let now = self.now;
        let events = self.counters.events;
        self.counters = EngineCounters { events, ..EngineCounters::default() };
        self.meter.begin(now);
        self.ftl.clear_counters();
        if let Some(part) = &mut self.tier {
            part.tier.clear_counters();
        }
        if let Some(part) = &mut self.reliability {
            part.begin_measuring();
        }
        self.dies.iter_mut().for_each(|die| die.ledger.begin_measuring(now));
        self.scm.banks.iter_mut().for_each(|bank| bank.ledger.begin_measuring(now));
        self.scm.begin_measuring();
        for channel in self.channels.iter_mut().chain(&mut self.scm.channels) {
            // What is left of the present transfer belongs to the measured time.
            channel.busy = channel.free_at.saturating_since(now);
        }
        for stage in [&mut self.processor, &mut self.link_in] {
            stage.busy = stage.free_at.saturating_since(now);
        }
        self.stalls.begin_measuring(now);
        self.link_out.begin_measuring(now);
        if let Some(log) = &mut self.log {
            log.clear();
        }
    }

    #[inline]
    pub(crate) fn count_command(&mut self, command: &FlashCommand) {
        let many = u64::from(command.plane_count() > 1);
        let counters = &mut self.counters;
        match command.kind {
            CommandKind::Read => {
                counters.read_commands += 1;
                counters.multi_plane_reads += many;
            }
            CommandKind::Program => {
                counters.program_commands += 1;
                counters.multi_plane_programs += many;
            }
            CommandKind::Erase => {
                counters.erase_commands += 1;
                counters.multi_plane_erases += many;
            }
        }
    }

    #[inline]
    pub(crate) fn digest_command(&mut self, command: &FlashCommand) {
        let plane = command.planes.trailing_zeros() as usize;
        let address = u64::from(command.block[plane]) << 32 | u64::from(command.page);
        let what = u64::from(command.die.0) << 16 | u64::from(command.planes) << 8 | command.kind as u64;
        self.digest.word(self.now.0);
        self.digest.word(what);
        self.digest.word(address);
    }

    /// The digest of everything the device did so far.
    pub fn digest(&self) -> RunDigest {
        self.digest
    }

    /// Simulated time.
    pub fn now(&self) -> Ns {
        self.now
    }

    /// What was measured.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// What was counted.
    pub fn counters(&self) -> &EngineCounters {
        &self.counters
    }

    /// The translation layer.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// The storage-class memory.
    pub fn scm(&self) -> &ScmPart {
        &self.scm
    }

    /// The media.
    pub fn nand(&self) -> &Nand {
        &self.nand
    }

    /// What the host wrote since measuring began, and what flash did for it.
    pub fn written(&self) -> Written {
        written(&self.ftl, &self.scm, &self.counters)
    }

    /// Sentences of its probe for the result.
    pub fn notes(&self) -> Vec<String> {
        self.probe.notes()
    }

    /// Commands completed so far, warm-up included.
    pub fn completed(&self) -> u64 {
        self.host.completed
    }

    /// One entry per measured request, if they were to be logged.
    pub fn request_log(&self) -> &[RequestLogEntry] {
        self.log.as_deref().unwrap_or_default()
    }

    /// All of the above at once.
    pub fn seen(&self) -> Seen<'_> {
        Seen {
            now: self.now,
            digest: self.digest,
            completed: self.host.completed,
            latest_completion: self.latest_completion,
            host_end: self.host_end.as_deref(),
            meter: &self.meter,
            counters: &self.counters,
            ftl: &self.ftl,
            scm: &self.scm,
            tier: self.tier.as_ref(),
            reliability: self.reliability.as_deref(),
            request_log: self.request_log(),
            host_cache: self.host.host_cache(),
        }
    }

    /// How the resources' time was used since measuring began, until the host had all it asked for.
    pub fn utilization_for_host(&mut self) -> Utilization {
        match &self.host_end {
            // Measuring may begin after it: of a run that is over within its ramp nothing is measured.
            Some(end) if self.meter.since < self.latest_completion => end.utilization.clone(),
            _ => self.utilization(),
        }
    }

    /// A command completed. Behind the last one the drive works on by itself: programs what it holds, collects garbage.
    #[inline]
    pub(crate) fn note_completion(&mut self) {
        self.latest_completion = self.now;
        if self.commands.is_empty() && self.host.is_over(self.now) {
            self.note_host_end();
        }
    }

    #[cold]
    fn note_host_end(&mut self) {
        // A job may begin when all others are over: then it ends anew.
        let Some(mut end) = self.host_end_to_be.take().or_else(|| self.host_end.take()) else { return };
        self.utilization_into(&mut end.utilization);
        end.written = self.written();
        self.host_end = Some(end);
    }

    fn host_end_now(&mut self) -> HostEnd {
        HostEnd { utilization: self.utilization(), written: self.written() }
    }

    /// The same until now.
    pub fn utilization(&mut self) -> Utilization {
        let mut utilization = Utilization::default();
        self.utilization_into(&mut utilization);
        utilization
    }

    fn utilization_into(&mut self, into: &mut Utilization) {
        fn renew<T>(list: &mut Vec<T>, items: impl Iterator<Item = T>) {
            list.clear();
            list.extend(items);
        }
        let now = self.now;
        let until_now = |busy: Ns, free_at: Ns| busy.saturating_since(free_at.saturating_since(now));
        into.elapsed = now - self.meter.since;
        renew(&mut into.dies, self.dies.iter_mut().map(|die| die.ledger.measured(now)));
        renew(&mut into.channels, self.channels.iter().map(|channel| until_now(channel.busy, channel.free_at)));
        renew(&mut into.banks, self.scm.banks.iter_mut().map(|bank| bank.ledger.measured(now)));
        let bank_channels = self.scm.channels.iter().map(|channel| until_now(channel.busy, channel.free_at));
        renew(&mut into.bank_channels, bank_channels);
        into.write_stalls = self.stalls.measured(now);
        into.processor = until_now(self.processor.busy, self.processor.free_at);
        into.link_in = until_now(self.link_in.busy, self.link_in.free_at);
        into.link_out = self.link_out.busy_until(now);
    }

    /// Notes how long each resource was busy so far, in the order of [`Utilization::busy`], without allocating.
    pub(crate) fn note_busy(&mut self) {
        let now = self.now;
        let elapsed = (now - self.meter.since).0;
        let until_now = |busy: Ns, free_at: Ns| busy.saturating_since(free_at.saturating_since(now)).0;
        let (processor, link_in) = (&self.processor, &self.link_in);
        let alone = [
            until_now(processor.busy, processor.free_at),
            self.stalls.measured(now).0,
            until_now(link_in.busy, link_in.free_at),
            self.link_out.busy_until(now).0,
        ];
        let (banks, bank_channels) = (&mut self.scm.banks, &self.scm.channels);
        let count = self.dies.len() + self.channels.len() + banks.len() + bank_channels.len() + alone.len();
        let dies = self.dies.iter_mut().map(|die| busy_of_unit(&die.ledger.measured(now), elapsed));
        let channels = self.channels.iter().map(|channel| until_now(channel.busy, channel.free_at));
        let banks = banks.iter_mut().map(|bank| busy_of_unit(&bank.ledger.measured(now), elapsed));
        let bank_channels = bank_channels.iter().map(|channel| until_now(channel.busy, channel.free_at));
        self.meter.busy.note(now, count, dies.chain(channels).chain(banks).chain(bank_channels).chain(alone));
    }
}

impl Device<Watched> {
    /// The probe it was given.
    ///
    /// # Panics
    /// If that is of another type.
    pub fn probe<P: Probe>(&self) -> &P {
        let probe: &dyn Any = &*self.probe;
        probe.downcast_ref().expect("a probe of the type it was given")
    }
}

fn busy_of_unit(unit: &DieLedger, elapsed: u64) -> u64 {
    elapsed.saturating_sub(unit[ninescope_model::Occupancy::Idle as usize])
}

fn written(ftl: &Ftl, scm: &ScmPart, counters: &EngineCounters) -> Written {
    let (geometry, of_flash) = (ftl.geometry(), ftl.counters());
    let taken = scm.counters(0).host_sectors_taken + scm.counters(1).host_sectors_taken;
    let unit_bytes = u64::from(geometry.unit_bytes);
    Written {
        host: (counters.host_sectors_placed + taken) * SECTOR_BYTES,
        flash: of_flash.programmed_units() * unit_bytes,
        erased: of_flash.erased_groups * u64::from(geometry.units_per_group()) * unit_bytes,
    }
}

const _: () = assert!(OCCUPANCIES == 12 && CLASSES <= 8 && NONE == u32::MAX);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProbe;
    use crate::sched::transaction_scheduler::{DieView, TransactionSchedulerConfig};
    use crate::transaction::QueueClass;
    use ninescope_ftl::FtlConfig;
    use ninescope_kernel::Rate;
    use ninescope_media::nand::{EraseLoops, NandTiming};
    use ninescope_model::{Lba, Op, Request};
    use ninescope_workload::{Arrival, WorkloadError};

    /// A scheduler that leaves the die idle whatever waits.
    #[derive(Debug)]
    struct Idler;

    impl TransactionScheduler for Idler {
        fn pick(&mut self, _view: &DieView) -> Option<QueueClass> {
            None
        }
    }

    /// Fills a page and asks for it to be on the media.
    struct WriteAndFlush(u32);

    impl Workload for WriteAndFlush {
        fn arrival(&self) -> Arrival {
            Arrival::Open
        }

        fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
            self.0 += 1;
            let request = |sectors, op| Request { submitted: Ns::ZERO, lba: Lba(0), sectors, op, ..Request::default() };
            Ok(match self.0 {
                1 => Some(request(8, Op::Write)),
                2 => Some(request(0, Op::Flush)),
                _ => None,
            })
        }
    }

    #[test]
    fn work_that_nothing_will_ever_finish_is_an_error_that_names_its_holders() {
        let geometry = Geometry::checked(1, 1, 1, 1, 8, 4, 4096, 4096, 1).expect("a legal geometry");
        let ftl = Ftl::new(&FtlConfig {
            geometry,
            logical_units: 8,
            reserve_groups: 1,
            page_allocation: Default::default(),
            stream_choice: Default::default(),
            free_block_choice: Default::default(),
            gc_trigger: Default::default(),
            victim_selection: Default::default(),
            seed: 1,
        })
        .expect("enough spare blocks");
        let timing = NandTiming {
            read: vec![Ns(1)],
            program: vec![Ns(1)],
            program_pulses: 1,
            erase_loop: Ns(1),
            erase_loops: EraseLoops::Fixed(1),
            command_address: Ns(1),
            suspend_recover: Ns(1),
            resume_ramp: Ns(1),
            channel_rate: Rate(0),
            read_any_block: false,
        };
        let config = EngineConfig {
            queue_depth: 2,
            command_cost: Ns::ZERO,
            link_rate: Rate(0),
            write_completion: WriteCompletion::Buffer,
            buffered_pages: 2,
            shared_buffered_pages: None,
            page_timeout: None,
            multi_plane: true,
            gc_pages_in_flight: 1,
            scheduler: TransactionSchedulerConfig::default(),
            suspend: crate::sched::suspend_policy::SuspendPolicyConfig::default(),
            log_requests: false,
        };
        let nand = Nand::new(&geometry, timing).expect("legal times");
        let mut device: Device =
            Device::new(&config, &RunLimits::default(), ftl, nand, Box::new(WriteAndFlush(0)), NoProbe);
        device.scheduler = Box::new(Idler);
        let error = device.run().expect_err("the program is never issued");
        let SimulationError::Stuck { at, holders } = &error else { panic!("{error}") };
        assert_eq!(*at, Ns::ZERO);
        assert!(holders.contains("1 host commands") && holders.contains("die 0"), "{holders}");
    }
}
