//! The device: the owners of a drive in simulation, and the loop that moves time on.
//!
//! Who does what is the owners' (`host`, `flash`, `scm`, `tier`, `reliability`), each behind its verbs. Here wake-ups and
//! instants go to whom they belong to, and what one owner says goes on to the others: a file for each way through them.

mod banks;
mod collection;
mod command;
mod dies;
mod dram;
mod firmware;
mod heat;
mod interrupt;
pub mod kind;
mod mapping;
mod programs;
mod read;
mod reliability;
mod rest;
mod rewrite;
mod scm_only;
mod seen;
mod tier;
mod trims;
mod whole_erase;
mod write;
mod zoned;
mod zrwa;

use ninescope_ftl::Ftl;
use ninescope_kernel::{NONE, Ns, ResourceId, WakeQueue};
use ninescope_media::nand::Nand;
use ninescope_model::{BankId, ChannelId, DieId, Geometry, Pool, Workload};

use crate::config::{EngineConfig, RunLimits};
use crate::dram::Dram;
use crate::error::SimulationError;
use crate::flash::{Flash, stations_beside};
use crate::host::{Host, LaneConfig};
use crate::mapping::Mapping;
use crate::policies::mapping::MapConfig;
use crate::power::{Power, PowerConfig};
use crate::probe::{Event, observe};
use crate::reliability::{Reliability, ReliabilityConfig};
use crate::resources::Resources;
use crate::run::Run;
use crate::scm::ScmPart;
use crate::tier::{Lower, TierConfig, TierPart};
use crate::transaction::TransactionStore;

use kind::{Kind, Plain};
pub use seen::{HostEnd, Seen};
use whole_erase::WholeErase;
use zoned::ZoneWork;

/// How commands are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// By flash alone.
    Flash,
    /// The same, through the controller's DRAM, with a map that lies in flash itself, or both.
    FlashByMemory,
    /// By storage-class memory alone.
    Scm,
    /// By two media.
    Tier,
    /// By flash in zones.
    Zoned,
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

/// One simulated drive with its workload, of one of the [kinds](Kind) there are.
#[derive(Debug)]
pub struct Device<K: Kind = Plain> {
    /// Time, and what belongs to no part of the drive.
    run: Run<K::Queue>,
    host: Host,
    flash: Flash,
    scm: ScmPart,
    /// What moves between two media, on a drive that has them.
    tier: Option<TierPart>,
    /// Failing bits and what is done about them, on a drive whose description says so.
    reliability: Option<Box<Reliability>>,
    /// What is in memory of the map, on a drive whose map lies in flash.
    mapping: Option<Box<Mapping>>,
    /// The controller's DRAM, on a drive whose description says so.
    dram: Option<Box<Dram>>,
    /// One of these two is there: commands wait for more than dies, banks and stages.
    waits_for_memory: bool,
    probe: K::Probe,
    /// How commands are carried out.
    flow: Flow,
    /// Commands that manage zones, and wait for writes, programs or erases.
    zone_works: Vec<ZoneWork>,
    /// Writes to zones that were taken up, and those whose data have come.
    zoned_writes: (u64, u64),
    /// The drive is erased as a whole, or is about to be.
    whole_erase: Option<WholeErase>,
    /// What there was when nothing more came from the host.
    host_end: Option<Box<HostEnd>>,
    /// Room for it.
    host_end_to_be: Option<Box<HostEnd>>,
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
        K::assemble(config, limits, (ftl, nand, ScmPart::absent()), lanes, probe)
    }

    /// A drive of storage-class memory alone, with several workloads that run at the same time.
    pub fn of_scm(
        config: &EngineConfig,
        limits: &RunLimits,
        scm: ScmPart,
        lanes: Vec<LaneConfig>,
        probe: K::Probe,
    ) -> Self {
        let sectors = scm.layout().medium(0).logical_sectors();
        let mut device: Self = K::assemble(config, limits, (Ftl::absent(), Nand::absent(), scm), lanes, probe);
        device.flow = Flow::Scm;
        device.host.set_sectors(sectors);
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
        let (geometry, shape) = (*ftl.geometry(), *scm.layout());
        let (upper, storage) = (*shape.medium(0), *shape.medium(1));
        let tenants = lanes.len();
        let mut device: Self = K::assemble(config, limits, (ftl, nand, scm), lanes, probe);
        device.flow = Flow::Tier;
        let pages = match tier.lower {
            Lower::Flash => {
                assert!(
                    geometry.units_per_page() == 1 && geometry.sectors_per_unit() == upper.sectors_per_slot,
                    "a page of flash is a slot"
                );
                device.flash.ftl().logical_units()
            }
            Lower::Scm => {
                assert_eq!(storage.sectors_per_slot, upper.sectors_per_slot, "slots are of one size");
                device.host.set_sectors(storage.logical_sectors());
                storage.slots
            }
        };
        let part = TierPart::new(tier, upper.slots, pages, upper.sectors_per_slot, config.queue_depth);
        let mut part = part.expect("a placement of two media");
        part.set_tenants(tier, tenants);
        device.tier = Some(part);
        device.follow_holders_of_slots();
        device
    }

    fn assemble(
        config: &EngineConfig,
        limits: &RunLimits,
        (ftl, nand, mut scm): (Ftl, Nand, ScmPart),
        lanes: Vec<LaneConfig>,
        probe: K::Probe,
    ) -> Self {
        let (geometry, shape) = (*ftl.geometry(), *scm.layout());
        let dies = geometry.dies() + stations_beside(&geometry, &nand);
        let resources = Resources::new(dies, geometry.channels, shape.banks(), shape.channels());
        scm.join_drive(config, resources);
        let flow = if ftl.zones().is_some() { Flow::Zoned } else { Flow::Flash };
        let sectors = u64::from(ftl.logical_units()) * u64::from(geometry.sectors_per_unit());
        let mut run = Run::new(resources, transactions_of(config, &geometry, resources), lanes.len());
        if let Some(tenants) = &mut run.transactions.tenants {
            tenants.divide_buffer(config.buffer_parts.pages.len(), &config.buffer_parts.of_tenant);
            if ftl.zones().is_none() {
                let partition = |pool| ftl.partitions().map_or(0, |partitions| partitions.of_pool(Pool(pool)));
                tenants.divide_space((0..geometry.pools()).map(partition));
            }
        }
        let mut flash = Flash::new(config, ftl, nand, resources);
        if lanes.len() > 1 && config.scheduler.chosen().knows_classes() {
            flash.go_by_classes(lanes.iter().map(|lane| lane.turns.class).collect());
        }
        let mut host = Host::new(lanes, config, limits, sectors);
        host.set_sectors_per_unit(geometry.sectors_per_unit());
        Self {
            run,
            host,
            flash,
            scm,
            tier: None,
            reliability: None,
            mapping: None,
            dram: None,
            waits_for_memory: false,
            probe,
            flow,
            whole_erase: None,
            zoned_writes: (0, 0),
            zone_works: Vec::with_capacity(if flow == Flow::Zoned { config.queue_depth as usize } else { 0 }),
            host_end: None,
            host_end_to_be: None,
            finished_told: false,
        }
    }

    /// Gives the drive codes, and bits that fail. Before anything runs.
    pub fn set_reliability(&mut self, config: &ReliabilityConfig) {
        if !config.is_used() {
            return;
        }
        let units = if self.flow == Flow::Tier && self.flash.ftl().logical_units() == 0 {
            self.scm.layout().medium(1).slots
        } else {
            self.flash.ftl().logical_units()
        };
        let transactions = self.run.transactions.slab.capacity();
        let media = self.scm.media();
        let ber_factors = [0, 1].map(|medium| media.ber_factor(medium));
        let geometry = self.flash.geometry();
        let part = Reliability::new(config, geometry, self.scm.layout(), ber_factors, units, transactions);
        self.flash.dies_fail(&config.nand.die_failures);
        self.reliability = Some(Box::new(part));
        self.run.transactions.coded = true;
    }

    /// Gives the drive a map that lies in flash, as its translation layer is made for. Before anything runs.
    pub fn set_map(&mut self, config: &MapConfig) {
        let rules = config.chosen().rules();
        self.flash.programs_wait_for_map(rules.is_some_and(|rules| rules.programs_wait));
        self.mapping = Mapping::new(config, self.flash.ftl(), self.host.depth(), K::ACTIVE).map(Box::new);
        if self.mapping.is_some() {
            self.goes_by_memory();
            self.follow_holders_of_map();
        }
    }

    /// Counts what the drive draws. Before anything runs.
    pub fn set_power(&mut self, config: &PowerConfig) {
        self.run.power = Some(Box::new(Power::new(config, self.run.resources.dies)));
        if !config.states.is_empty() {
            self.host.drive_may_rest();
        }
    }

    /// Runs on until about `events` more events were handled or everything is done. How a run is cut into
    /// slices changes nothing in it.
    ///
    /// # Errors
    /// See [`SimulationError`]; the run is over then.
    pub fn run_slice(&mut self, events: u64) -> Result<Progress, SimulationError> {
        K::run_slice(self, events)
    }

    fn handle_events(&mut self, events: u64) -> Result<Progress, SimulationError> {
        let begins = self.host.start();
        if begins {
            // Made now, so that nothing is allocated at the end.
            self.host_end_to_be = Some(Box::new(self.host_end_now()));
        }
        if begins && K::ACTIVE {
            let lane_depths = self.host.lane_depths();
            let (write_completion, buffer) = (self.flash.write_completion(), self.flash.buffer_limits());
            let (limits, protocol) = (self.host.lane_limits(), self.host.protocol());
            let (throttle, sectors) = (self.flash.throttle_config(), &self.flash.sector_rules());
            let (lane_depths, queue_commands) = (&lane_depths, &self.host.lane_queue_commands());
            let limits = &limits;
            let buffer_parts = self.flash.buffer_parts();
            let started = Event::Started {
                write_completion,
                forwards: self.flash.forwards(),
                sectors,
                protocol,
                lane_depths,
                queue_commands,
                limits,
                buffer,
                buffer_parts: buffer_parts.as_ref(),
                throttle,
                trim: self.flash.trim_config(),
                classes: self.flash.classes(),
                copybacks: self.flash.copyback_limit(),
                slc_fold_after: self.flash.slc_fold_after(),
                page_timeout: self.flash.page_timeout(),
            };
            observe!(self, started);
            self.tell_of_cache()?;
        }
        if begins {
            self.flash.begin_slc_cache();
            self.flash.dies_may_rest();
        }
        self.start_reliability()?;
        let end = self.run.counters.events + events;
        let mut finished = false;
        loop {
            // Between two events of one instant nothing is decided yet.
            if self.run.queue.peek().is_none_or(|(next, _)| next > self.run.now) {
                self.drain_instant()?;
            }
            if self.run.counters.events >= end {
                break;
            }
            let Some((at, resource)) = self.run.queue.pop() else {
                finished = true;
                break;
            };
            debug_assert!(at >= self.run.now, "time does not go back");
            self.run.now = at;
            self.run.counters.events += 1;
            self.wake(resource)?;
        }
        if finished {
            if self.run.power.is_some() {
                self.drive_warms()?;
            }
            self.check_quiet()?;
            self.host_has_ended();
            if K::ACTIVE && !self.finished_told {
                self.finished_told = true;
                let utilization = self.utilization();
                observe!(self, Event::Finished { utilization: &utilization });
            }
        }
        Ok(Progress { completed: self.host.completed(), now: self.run.now, finished })
    }

    /// Runs to the end of the workload.
    ///
    /// # Errors
    /// See [`SimulationError`].
    pub fn run(&mut self) -> Result<(), SimulationError> {
        while !self.run_slice(u64::MAX / 2)?.finished {}
        Ok(())
    }

    // ---- wake-ups ----------------------------------------------------------------------------------

    #[inline]
    fn wake(&mut self, resource: ResourceId) -> Result<(), SimulationError> {
        let Resources { dies, channels, stages, .. } = self.run.resources;
        if resource.0 < dies {
            self.die_woke(DieId(resource.0))
        } else if resource.0 < dies + channels {
            self.flash.channel_woke(ChannelId(resource.0 - dies));
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
                5 => self.memory_timer_woke(),
                6 => {
                    self.rest_may_begin();
                    Ok(())
                }
                7 => self.dram_woke(),
                8 => self.arrival_woke(),
                9 => self.interrupt_woke(),
                10 => self.fetch_woke(),
                11 => {
                    self.held_writes_woke();
                    Ok(())
                }
                12 => {
                    self.flash.gate_opens();
                    Ok(())
                }
                13 => self.firmware_woke(),
                14 => self.trims_woke(),
                _ => self.heat_woke(),
            }
        }
    }

    /// A bank of SCM woke, or behind the banks a channel.
    #[inline(never)]
    fn scm_woke(&mut self, unit: u32) -> Result<(), SimulationError> {
        match unit.checked_sub(self.run.resources.banks) {
            None => self.bank_woke(BankId(unit)),
            Some(channel) => {
                self.scm.channel_woke(ChannelId(channel));
                Ok(())
            }
        }
    }

    // ---- instants ----------------------------------------------------------------------------------

    /// Everything that must be decided at this instant, in a fixed order: fetches, stalled writes, garbage
    /// collection, then reads and writes of the map or banks and channels of SCM, then dies by id, then channels by id; again until nothing is left.
    fn drain_instant(&mut self) -> Result<(), SimulationError> {
        loop {
            self.fetch_commands()?;
            if self.flash.take_up_line() {
                self.retry_stalled_writes()?;
            }
            while let Some(pool) = self.flash.next_touched_pool() {
                if self.whole_erase.is_none() || !self.collection_rests() {
                    self.pump_gc(pool)?;
                }
            }
            match self.flow {
                // Whatever changes the map at this instant has by now.
                Flow::FlashByMemory if self.map_may_have_work() => drop(self.pump_map()?),
                Flow::Zoned if !self.zone_works.is_empty() => self.pump_zones()?,
                Flow::Flash | Flow::FlashByMemory | Flow::Zoned => {}
                Flow::Scm => self.drain_scm()?,
                // What goes down changes the map, and what the map tells of is read above and below.
                Flow::Tier => {
                    while {
                        let goes_on = self.pump_map()?;
                        self.drain_scm()?;
                        goes_on
                    } {}
                }
            }
            while let Some(die) = self.flash.next_touched_die() {
                self.dispatch(die)?;
            }
            while let Some(channel) = self.flash.next_touched_channel() {
                self.arbitrate_channel(channel)?;
            }
            // Of a die that is free by now, too.
            if self.whole_erase.is_some() && self.whole_erase_goes_on()? {
                continue;
            }
            if !self.host.has_work(self.run.now) && !self.flash.line_may_go_on() && !self.flash.collection_may_go_on() {
                if self.host.waits_for_time() {
                    self.instant_is_over()?;
                }
                return Ok(());
            }
        }
    }

    /// The banks and channels of SCM of an instant.
    #[inline(never)]
    fn drain_scm(&mut self) -> Result<(), SimulationError> {
        loop {
            while self.tier.as_mut().is_some_and(TierPart::take_up) {
                self.pump_tier(NONE)?;
                self.complete_drained_flushes()?;
                self.complete_written_through()?;
            }
            let Some(bank) = self.scm.next_touched_bank() else { break };
            self.dispatch_bank(bank)?;
        }
        while let Some(channel) = self.scm.next_touched_channel() {
            self.arbitrate_bank_channel(channel)?;
        }
        Ok(())
    }

    /// Nothing is scheduled: everything must have come to its end.
    fn check_quiet(&self) -> Result<(), SimulationError> {
        let mut holders = Vec::new();
        let now = self.run.now;
        if self.host.inside() > 0 {
            holders.push(format!("{} host commands", self.host.inside()));
        } else if !self.run.transactions.has_no_shares() {
            holders.push("shares of commands that have completed".to_owned());
        }
        self.flash.add_holders(now, &mut holders);
        self.scm.add_holders(now, &mut holders);
        let waiting = self.tier.as_ref().map_or(0, TierPart::under_way);
        if waiting > 0 {
            holders.push(format!("{waiting} migrations and accesses that wait for a slot"));
        }
        let of_map = self.mapping.as_ref().map_or(0, |mapping| mapping.under_way());
        if of_map > 0 {
            holders.push(format!("{of_map} pages of the map and commands that wait for them"));
        }
        let steps = self.run.firmware.as_ref().map_or(0, |firmware| firmware.under_way());
        if steps > 0 {
            holders.push(format!("{steps} steps of the firmware"));
        }
        let in_dram = self.dram.as_ref().map_or(0, |dram| dram.under_way());
        if in_dram > 0 {
            holders.push(format!("{in_dram} accesses of DRAM"));
        }
        self.flash.add_last_holders(&mut holders);
        if holders.is_empty() {
            return Ok(());
        }
        holders.truncate(12);
        Err(SimulationError::Stuck { at: now, holders: holders.join("; ") })
    }
}

/// Room for what a drive has under way at a time: reads of a command, pages in the write buffer, pages garbage collection
/// moves, and erases.
fn transactions_of(config: &EngineConfig, geometry: &Geometry, resources: Resources) -> TransactionStore {
    let (dies, pools) = (geometry.dies() as usize, geometry.pools() as usize);
    let (depth, moves) = (config.queue_depth as usize, pools * config.gc_pages_in_flight as usize);
    let transactions = depth * 4 + dies * config.buffered_pages as usize + moves * 2;
    // Moves wait for the rest of a wordline that is programmed in one go.
    let waiting = if geometry.pages_per_program > 1 { pools * geometry.units_per_program() as usize } else { 0 };
    let units = moves * geometry.units_per_page() as usize * 2 + waiting;
    TransactionStore::with_capacity(transactions, units, depth, resources.count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{SectorRules, WriteCompletion};
    use crate::policies::transaction_scheduler::{DieView, TransactionScheduler, TransactionSchedulerConfig};
    use crate::probe::NoProbe;
    use crate::transaction::QueueClass;
    use ninescope_ftl::FtlConfig;
    use ninescope_kernel::Rate;
    use ninescope_media::nand::{EraseLoops, NandTiming, PageTypes, PlaneGroups, PlaneReads};
    use ninescope_model::{Arrival, Lba, Op, Request, WorkloadError};

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
        let ftl = Ftl::new(&FtlConfig { logical_units: 8, reserve_groups: 1, seed: 1, ..FtlConfig::bare(geometry) })
            .expect("enough spare blocks");
        let timing = NandTiming {
            read: vec![Ns(1)],
            program: vec![Ns(1)],
            slc: None,
            page_types: PageTypes::InTurn,
            program_pulses: 1,
            program_load: Ns::ZERO,
            erase_loop: Ns(1),
            erase_loops: EraseLoops::Fixed(1),
            command_address: Ns(1),
            suspend_recover: Ns(1),
            resume_ramp: Ns(1),
            channel_rate: Rate(0),
            read_any_block: false,
            any_page: false,
            planes_per_command: 4,
            plane_groups: PlaneGroups::Neighbours,
            plane_reads: PlaneReads::Together,
            cache_read: None,
            times: Default::default(),
        };
        let config = EngineConfig {
            queue_depth: 2,
            command_cost: Ns::ZERO,
            link_rate: Rate(0),
            write_completion: WriteCompletion::Buffer,
            buffered_pages: 2,
            shared_buffered_pages: None,
            buffer_parts: Default::default(),
            page_timeout: None,
            multi_plane: true,
            merge_window: 8,
            merge_by: crate::config::MergeBy::default(),
            forwards: crate::config::Forwarding::default(),
            sectors: SectorRules::default(),
            gc_pages_in_flight: 1,
            gc_copybacks: 0,
            slc_fold_after: None,
            throttle: Default::default(),
            trim: Default::default(),
            scheduler: TransactionSchedulerConfig::default(),
            channel: Default::default(),
            arbitration: Default::default(),
            protocol: Default::default(),
            suspend: crate::policies::suspend::SuspendPolicyConfig::default(),
            log_requests: false,
        };
        let nand = Nand::new(&geometry, timing).expect("legal times");
        let mut device: Device =
            Device::new(&config, &RunLimits::default(), ftl, nand, Box::new(WriteAndFlush(0)), NoProbe);
        device.flash.set_scheduler(Box::new(Idler));
        let error = device.run().expect_err("the program is never issued");
        let SimulationError::Stuck { at, holders } = &error else { panic!("{error}") };
        assert_eq!(*at, Ns::ZERO);
        assert!(holders.contains("1 host commands") && holders.contains("die 0"), "{holders}");
    }
}
