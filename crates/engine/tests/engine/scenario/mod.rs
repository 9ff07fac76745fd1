//! Small drives, hand-made request lists and a probe that writes down what happened when.
//!
//! The default drive has numbers that add up in the head: 4 KiB units, four to a page, 1 us per unit on
//! the channel, 100 ns of command cycles, tR 50 us, tPROG 400 us (four pulses), tBERS 3 ms (three loops),
//! recovery 30 us, ramp 20 us; the controller and the link cost nothing.

#![allow(dead_code, reason = "each test binary uses a part of this")]

pub mod scenes;

use ninescope_engine::mapping::map_pages;
use ninescope_engine::policies::mapping::{MapConfig, MapRules};
use ninescope_engine::reliability::{NandCode, ReliabilityConfig};
use ninescope_engine::{
    self as engine, Device, DramConfig, EngineConfig, FirmwareConfig, Kind, LaneConfig, NoProbe, Plain, PowerConfig,
    Probe, RunLimits, SectorRules, SimulationError, SuspendPolicyConfig, TransactionSchedulerConfig, View, Watched,
    WriteCompletion,
};
use ninescope_ftl::policies::{
    FreeBlockChoiceConfig, GcTriggerConfig, PageAllocationConfig, StreamChoiceConfig, VictimSelectionConfig,
};
use ninescope_ftl::{Ftl, FtlConfig, FtlCounters, InstantDriver, Partition};
use ninescope_kernel::{Ns, RandomStream, Rate};
use ninescope_media::health::SuspendLimit;
use ninescope_media::nand::{
    CommandKind, CopiedFrom, EraseLoops, FlashCommand, Nand, NandTiming, PageTypes, PlaneGroups, PlaneReads, Wear,
};
use ninescope_model::{
    Arrival, BlockGroup, Cause, DieId, Geometry, Lba, Lpa, Op, Parity, Pool, Ppa, Request, Source, Stream, Workload,
    WorkloadError,
};

/// Sectors of a 4 KiB unit.
pub const UNIT: u32 = 8;
/// Time of the command cycles of one plane [ns].
pub const COMMAND: u64 = 100;
/// Time one 4 KiB unit takes on the channel [ns].
pub const UNIT_TRANSFER: u64 = 1_000;
/// Array time of a read [ns].
pub const READ: u64 = 50_000;
/// Array time of a program [ns].
pub const PROGRAM: u64 = 400_000;
/// Time of one erase loop; an erase has three [ns].
pub const ERASE_LOOP: u64 = 1_000_000;
/// Array time of an erase [ns].
pub const ERASE: u64 = 3 * ERASE_LOOP;
/// Recovery after a suspend [ns].
pub const RECOVER: u64 = 30_000;
/// Ramp before a resume [ns].
pub const RAMP: u64 = 20_000;
/// A read of one unit on an idle drive, from command to the end of its data [ns].
pub const UNIT_READ: u64 = COMMAND + READ + UNIT_TRANSFER;
/// A program of one 16 KiB page on an idle die, from command to the end of the array phase [ns].
pub const PAGE_PROGRAM: u64 = COMMAND + 4 * UNIT_TRANSFER + PROGRAM;

// ---- requests --------------------------------------------------------------------------------------

/// A request for sectors.
pub fn sectors(op: Op, at: u64, lba: u64, sectors: u32) -> Request {
    Request { submitted: Ns(at), lba: Lba(lba), sectors, op, ..Request::default() }
}

/// A read of 4 KiB units.
pub fn read_units(at: u64, unit: u64, units: u32) -> Request {
    sectors(Op::Read, at, unit * u64::from(UNIT), units * UNIT)
}

/// A read of one 4 KiB unit.
pub fn read(at: u64, unit: u64) -> Request {
    read_units(at, unit, 1)
}

/// A write of 4 KiB units.
pub fn write_units(at: u64, unit: u64, units: u32) -> Request {
    sectors(Op::Write, at, unit * u64::from(UNIT), units * UNIT)
}

/// A write of one 4 KiB unit.
pub fn write(at: u64, unit: u64) -> Request {
    write_units(at, unit, 1)
}

/// A TRIM of one 4 KiB unit.
pub fn trim(at: u64, unit: u64) -> Request {
    sectors(Op::Trim, at, unit * u64::from(UNIT), UNIT)
}

/// A FLUSH.
pub fn flush(at: u64) -> Request {
    sectors(Op::Flush, at, 0, 0)
}

/// A random mix over a drive: reads, whole and partial writes of up to three units, some trims and flushes.
pub fn mixed_requests(seed: u64, count: u64, logical_units: u32, gap: u64, read_percent: u64) -> Vec<Request> {
    mixed_sectors(seed, count, u64::from(logical_units) * u64::from(UNIT), UNIT, gap, read_percent)
}

/// [`mixed_requests`] over sectors, for other mapping units.
pub fn mixed_sectors(seed: u64, count: u64, total: u64, unit: u32, gap: u64, read_percent: u64) -> Vec<Request> {
    let mut stream = RandomStream::new(seed, "test", "mixed requests");
    let (mut at, unit) = (0, u64::from(unit));
    let mut request = |_| {
        at += stream.below(2 * gap + 1);
        let draw = stream.below(100);
        let op = match draw {
            0 => Op::Flush,
            1..=3 => Op::Trim,
            _ if stream.below(100) < read_percent => Op::Read,
            _ => Op::Write,
        };
        if op == Op::Flush {
            return flush(at);
        }
        let units = 1 + stream.below(3);
        let first = stream.below(total / unit - units) * unit;
        // A quarter begins and ends somewhere within its units.
        let (begin, end) = if stream.below(4) == 0 && unit > 1 {
            (first + stream.below(unit), first + units * unit + stream.below(unit))
        } else {
            (first, first + units * unit)
        };
        sectors(op, at, begin, (end - begin) as u32)
    };
    (0..count).map(&mut request).collect()
}

/// Requests from a list.
pub struct Listed {
    requests: std::vec::IntoIter<Request>,
    arrival: Arrival,
}

impl Listed {
    /// The requests in their order, which is that of their times.
    pub fn boxed(requests: Vec<Request>, arrival: Arrival) -> Box<dyn Workload> {
        Box::new(Self { requests: requests.into_iter(), arrival })
    }
}

impl Workload for Listed {
    fn arrival(&self) -> Arrival {
        self.arrival
    }

    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        Ok(self.requests.next())
    }
}

// ---- what happened ---------------------------------------------------------------------------------

/// What the probe saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A command's channel phase began.
    Issued(FlashCommand),
    /// That was a copyback, of these pages.
    Copied(CopiedFrom),
    /// A command's array phase ended.
    Ended(FlashCommand),
    /// The map changed.
    Mapped(Lpa, Ppa, Ppa),
    /// A group was erased.
    Erased(BlockGroup),
    /// A request completed.
    Completed(u64, Request),
    /// A program or an erase was stopped.
    Suspended(DieId),
    /// Its die takes reads.
    Recovered(DieId),
    /// Voltages ramp up for it to go on.
    ResumeBegan(DieId),
    /// It goes on.
    Resumed(DieId),
    /// A page went through a decoder.
    Decoded(Decode),
    /// A unit was fetched from the backing store; `true` where somebody waits for it.
    Fetched(Lpa, bool),
    /// A fetched unit got a new place.
    Healed(Lpa),
    /// A fetched unit was not wanted any more.
    HealDropped(Lpa),
    /// A unit is lost.
    Lost(Lpa),
    /// A unit is wrong, and nobody knows.
    MadeWrong(Lpa),
    /// A lost or wrong unit is in order again.
    Repaired(Lpa),
    /// A host read reports an error for a unit.
    Reported(Lpa),
    /// A host read returns wrong data of a unit.
    ReadWrong(Lpa),
    /// A unit is clean from now on.
    Flushed(Lpa),
    /// A place became corrupt.
    Corrupted(Ppa),
    /// The scrubber read a page.
    Scrubbed(Ppa),
    /// So many other pages of the stripe of an access are read.
    Degraded(Source, u32),
}

/// A page on its way through a decoder [ns].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decode {
    pub source: Source,
    pub code: NandCode,
    pub attempt: u32,
    pub arrived: u64,
    pub begins: u64,
    pub until: u64,
    pub failed: u32,
    pub undetected: u32,
}

/// Writes everything down with its time, and checks that host writes leave the reserve alone.
#[derive(Debug, Default)]
pub struct Recorder {
    /// Everything, in order [ns].
    pub events: Vec<(u64, Event)>,
    /// Groups that host writes must leave free.
    pub reserve: u32,
    /// The fewest free groups right after the host opened one.
    pub fewest_free_after_host: Option<u32>,
}

impl Recorder {
    fn note(&mut self, view: &View<'_>, event: Event) {
        self.events.push((view.now.0, event));
    }

    fn note_reliability(&mut self, view: &View<'_>, event: engine::Event<'_>) {
        let event = match event {
            engine::Event::PageDecoded {
                source, code, attempt, arrived, begins, until, failed, undetected, ..
            } => {
                let [arrived, begins, until] = [arrived, begins, until].map(|time| time.0);
                Event::Decoded(Decode { source, code, attempt, arrived, begins, until, failed, undetected })
            }
            engine::Event::UnitFetched { lpa, wanted, .. } => Event::Fetched(lpa, wanted),
            engine::Event::UnitHealed { lpa, old, new } => {
                self.note(view, Event::Mapped(lpa, old, new));
                Event::Healed(lpa)
            }
            engine::Event::HealDropped { lpa, .. } => Event::HealDropped(lpa),
            engine::Event::UnitLost { lpa } => Event::Lost(lpa),
            engine::Event::UnitMadeWrong { lpa } => Event::MadeWrong(lpa),
            engine::Event::UnitRepaired { lpa } => Event::Repaired(lpa),
            engine::Event::ReadReported { lpa, .. } => Event::Reported(lpa),
            engine::Event::ReadWrong { lpa, .. } => Event::ReadWrong(lpa),
            engine::Event::UnitFlushed { lpa, .. } => Event::Flushed(lpa),
            engine::Event::UnitCorrupted { ppa } => Event::Corrupted(ppa),
            engine::Event::ScrubSensed { ppa } => Event::Scrubbed(ppa),
            engine::Event::ReadDegraded { source, pages, .. } => Event::Degraded(source, pages),
            _ => return,
        };
        self.note(view, event);
    }

    fn check_reserve(&mut self, view: &View<'_>, new: Ppa) {
        let group = view.ftl.geometry().group_and_offset(new).0;
        let record = view.ftl.group(group);
        if record.stream == Stream::HOST.0 as u8 && record.write_pointer == 1 {
            let free = view.ftl.free_groups(view.ftl.geometry().pool_and_block(group).0);
            assert!(free >= self.reserve, "a host write at {} left {free} groups free", view.now);
            self.fewest_free_after_host = Some(self.fewest_free_after_host.map_or(free, |fewest| fewest.min(free)));
        }
    }
}

impl Probe for Recorder {
    fn observe(&mut self, view: &View<'_>, event: engine::Event<'_>) -> Result<(), SimulationError> {
        match event {
            engine::Event::CommandIssued { command, .. } => {
                self.note(view, Event::Issued(*command));
                if command.copies {
                    self.note(view, Event::Copied(view.nand.copied_from(command.die)));
                }
            }
            engine::Event::CommandEnded { command } => self.note(view, Event::Ended(*command)),
            engine::Event::UnitWritten { lpa, old, new, .. } => {
                self.note(view, Event::Mapped(lpa, old, new));
                self.check_reserve(view, new);
            }
            engine::Event::UnitTrimmed { lpa, old, .. } if old != Ppa::UNMAPPED => {
                self.note(view, Event::Mapped(lpa, old, Ppa::UNMAPPED));
            }
            engine::Event::MoveEnded { lpa, from, to, current: true } => self.note(view, Event::Mapped(lpa, from, to)),
            engine::Event::Erased { group } => self.note(view, Event::Erased(group)),
            engine::Event::Completed { id, request, .. } => self.note(view, Event::Completed(id, request)),
            engine::Event::Suspended { die, .. } => self.note(view, Event::Suspended(die)),
            engine::Event::Recovered { die } => self.note(view, Event::Recovered(die)),
            engine::Event::ResumeBegan { die } => self.note(view, Event::ResumeBegan(die)),
            engine::Event::Resumed { die } => self.note(view, Event::Resumed(die)),
            _ => self.note_reliability(view, event),
        }
        Ok(())
    }
}

// ---- drives ----------------------------------------------------------------------------------------

/// A drive to be built. Tests change the fields they care about.
#[derive(Clone, Debug)]
pub struct Drive {
    pub channels: u32,
    pub dies_per_channel: u32,
    pub planes: u32,
    pub frontier_planes: u32,
    /// Parity over dies.
    pub parity: Option<Parity>,
    /// Pages of a wordline that is programmed in one go.
    pub pages_per_program: u32,
    pub blocks: u32,
    pub pages: u32,
    pub page_bytes: u32,
    pub unit_bytes: u32,
    pub logical_units: u32,
    pub reserve: u32,
    pub seed: u64,
    pub page_allocation: PageAllocationConfig,
    pub free_block_choice: FreeBlockChoiceConfig,
    pub gc_trigger: GcTriggerConfig,
    pub victim: VictimSelectionConfig,
    pub timing: NandTiming,
    pub engine: EngineConfig,
    pub limits: RunLimits,
    /// Planes that some addresses have for themselves.
    pub partitions: Vec<Partition>,
    /// Units written before the run, in order.
    pub prepared: Vec<u32>,
    /// P/E cycles of every block before that, as the media count them [count].
    pub worn_by: u32,
    /// Suspensions an erase bears; `None`: any number.
    pub suspend_limit: Option<SuspendLimit>,
    /// How much of the map is in memory.
    pub map: MapConfig,
    /// The controller's DRAM.
    pub dram: Option<DramConfig>,
    /// Cores that decisions take.
    pub firmware: Option<FirmwareConfig>,
    /// What its parts draw.
    pub power: Option<PowerConfig>,
    /// Which streams there are.
    pub streams: StreamChoiceConfig,
    /// Whether what was written before the run is clean, where that is known.
    pub prepared_is_clean: bool,
    /// Codes, failing bits and what is done about them.
    pub reliability: ReliabilityConfig,
}

impl Default for Drive {
    /// One die of one plane; eight blocks of two pages of four units, three blocks' worth of them logical.
    fn default() -> Self {
        Self {
            channels: 1,
            dies_per_channel: 1,
            planes: 1,
            frontier_planes: 1,
            parity: None,
            pages_per_program: 1,
            blocks: 8,
            pages: 2,
            page_bytes: 16_384,
            unit_bytes: 4_096,
            logical_units: 24,
            reserve: 1,
            seed: 1,
            page_allocation: PageAllocationConfig::default(),
            free_block_choice: FreeBlockChoiceConfig::default(),
            gc_trigger: GcTriggerConfig::default(),
            victim: VictimSelectionConfig::default(),
            timing: NandTiming {
                read: vec![Ns(READ)],
                program: vec![Ns(PROGRAM)],
                slc: None,
                page_types: PageTypes::InTurn,
                program_pulses: 4,
                erase_loop: Ns(ERASE_LOOP),
                erase_loops: EraseLoops::Fixed(3),
                command_address: Ns(COMMAND),
                suspend_recover: Ns(RECOVER),
                resume_ramp: Ns(RAMP),
                channel_rate: Rate(4_096_000_000),
                read_any_block: false,
                any_page: false,
                planes_per_command: 4,
                plane_groups: PlaneGroups::Neighbours,
                plane_reads: PlaneReads::Together,
                cache_read: None,
                times: Default::default(),
                program_load: Ns::ZERO,
            },
            engine: EngineConfig {
                queue_depth: 1024,
                command_cost: Ns::ZERO,
                link_rate: Rate(0),
                write_completion: WriteCompletion::Buffer,
                buffered_pages: 64,
                shared_buffered_pages: None,
                buffer_parts: Default::default(),
                page_timeout: None,
                multi_plane: true,
                merge_window: 8,
                merge_by: ninescope_engine::MergeBy::default(),
                forwards: ninescope_engine::Forwarding::default(),
                sectors: SectorRules::default(),
                gc_pages_in_flight: 4,
                gc_copybacks: 0,
                slc_fold_after: None,
                throttle: Default::default(),
                trim: Default::default(),
                scheduler: TransactionSchedulerConfig::default(),
                channel: Default::default(),
                arbitration: Default::default(),
                protocol: Default::default(),
                suspend: SuspendPolicyConfig::default(),
                log_requests: false,
            },
            limits: RunLimits {
                requests: None,
                duration: None,
                warmup_requests: 0,
                warmup_time: None,
                closed_queue_depth: 1,
            },
            partitions: Vec::new(),
            prepared: Vec::new(),
            worn_by: 0,
            suspend_limit: None,
            map: MapConfig::default(),
            dram: None,
            firmware: None,
            power: None,
            streams: StreamChoiceConfig::default(),
            prepared_is_clean: true,
            reliability: ReliabilityConfig::default(),
        }
    }
}

/// A drive that tells what it draws, and draws nothing.
pub fn no_power() -> PowerConfig {
    PowerConfig {
        die: [0; 3],
        die_suspend: None,
        channel_byte: 0,
        dram_byte: 0,
        bank_bytes: [[0; 2]; 2],
        core: 0,
        command_cost: Ns::ZERO,
        at_rest: 0,
        window: Ns(1_000_000),
        cap: None,
        states: Vec::new(),
        heat: None,
    }
}

/// Eight dies on as many channels, filled.
pub fn eight_dies(power: PowerConfig) -> Drive {
    Drive::with(|drive| {
        drive.channels = 8;
        drive.logical_units *= 8;
        drive.prepared = (0..drive.logical_units).collect();
        drive.power = Some(power);
    })
}

/// A unit of each of eight dies, by what lies where.
pub fn unit_of_each_die(drive: &Drive) -> Vec<u64> {
    let run = drive.run(Vec::new());
    let geometry = *run.device.ftl().geometry();
    let die_of = |unit: u32| geometry.die_of(run.place_of(unit)).index();
    (0..8)
        .map(|die| (0..drive.logical_units).find(|&unit| die_of(unit) == die).expect("data on each die").into())
        .collect()
}

/// A policy by its name in configurations.
pub fn policy<T: serde::de::DeserializeOwned>(name: &str) -> T {
    policy_with(&serde_json::json!({ "policy": name }))
}

/// A policy with parameters.
pub fn policy_with<T: serde::de::DeserializeOwned>(description: &serde_json::Value) -> T {
    serde_json::from_value(description.clone()).expect("a registered policy")
}

impl Drive {
    /// The default drive with changes.
    pub fn with(change: impl FnOnce(&mut Self)) -> Self {
        let mut drive = Self::default();
        change(&mut drive);
        drive
    }

    /// A drive large enough for random work: 4 dies on 2 channels, 2 planes, 1024 units of 4 KiB per die.
    pub fn busy() -> Self {
        Self::with(|drive| {
            drive.channels = 2;
            drive.dies_per_channel = 2;
            drive.planes = 2;
            drive.frontier_planes = 2;
            drive.blocks = 16;
            drive.pages = 8;
            drive.logical_units = 2_700;
            drive.prepared = (0..2_700).collect();
            drive.engine.buffered_pages = 8;
            drive.engine.command_cost = Ns(500);
            drive.engine.link_rate = Rate(4_096_000_000);
        })
    }

    /// The default drive a few writes before its garbage collection: groups 0 and 1 hold one valid unit each
    /// (7 and 15), group 2 six (18 to 23), groups 3 and 4 what was overwritten; three groups are free. The next
    /// write of a unit opens one of them, which starts a collection of group 0.
    pub fn before_collection() -> Self {
        Self::with(|drive| drive.prepared = (0..24).chain(0..7).chain(8..15).chain(16..18).collect())
    }

    /// The default drive whose group 0 is overwritten; the first write of a unit opens one of three free groups,
    /// which starts the erase of group 0. Units 16 to 23 lie in another group.
    pub fn before_erase() -> Self {
        Self::with(|drive| drive.prepared = (0..24).chain(0..8).chain(8..16).collect())
    }

    pub fn geometry(&self) -> Geometry {
        Geometry::checked(
            self.channels,
            1,
            self.dies_per_channel,
            self.planes,
            self.blocks,
            self.pages,
            self.page_bytes,
            self.unit_bytes,
            self.frontier_planes,
        )
        .and_then(|geometry| geometry.with_parity(self.parity))
        .and_then(|geometry| geometry.with_pages_per_program(self.pages_per_program))
        .expect("a legal geometry")
    }

    /// Host sectors of the drive.
    pub fn sectors(&self) -> u64 {
        u64::from(self.logical_units) * u64::from(self.unit_bytes / 512)
    }

    /// Pages of a map that lies in flash; 0 where all of it is in memory.
    pub fn map_pages(&self) -> u32 {
        self.entries_and_map_pages().1
    }

    fn entries_and_map_pages(&self) -> (u32, u32) {
        let of_map = |rules: MapRules| map_pages(&rules, &self.geometry(), self.logical_units);
        self.map.chosen().rules().map_or((0, 0), of_map)
    }

    /// The prepared translation layer and the media that belongs to it.
    pub fn parts(&self) -> (Ftl, Nand) {
        let geometry = self.geometry();
        let mut ftl = Ftl::new(&FtlConfig {
            logical_units: self.logical_units,
            translation_units: self.map_pages(),
            translation_entries: self.entries_and_map_pages().0,
            reserve_groups: self.reserve,
            page_allocation: self.page_allocation.clone(),
            stream_choice: self.streams.clone(),
            free_block_choice: self.free_block_choice.clone(),
            gc_trigger: self.gc_trigger.clone(),
            victim_selection: self.victim.clone(),
            partitions: self.partitions.clone(),
            seed: self.seed,
            ..FtlConfig::bare(geometry)
        })
        .expect("a drive that can collect");
        let prepare = if self.prepared_is_clean { InstantDriver::of_clean_data } else { InstantDriver::new };
        let mut driver = prepare(&mut ftl);
        for &unit in &self.prepared {
            driver.write(Lpa(unit)).expect("a drive with spare blocks");
        }
        if self.map_pages() > 0 {
            driver.write_map(false).expect("a drive with spare blocks");
        }
        driver.settle();
        let nand = Nand::new(&geometry, self.timing.clone()).expect("legal times");
        let mut nand = nand.with_wear(Wear { initial_cycles: 0, suspend_limit: self.suspend_limit }, self.seed);
        for group in (0..geometry.groups()).map(BlockGroup) {
            let record = ftl.group(group);
            let (pool, block) = geometry.pool_and_block(group);
            let (planes, first) = (geometry.frontier_planes, geometry.first_plane_of_pool(pool));
            for (die, member) in geometry.dies_of_group(group).zip(0..) {
                let pages = geometry.pages_of_member(record.programmed, member);
                for plane in 0..planes {
                    let of_plane = pages / planes + u32::from(plane < pages % planes);
                    nand.set_programmed_pages(die, first + plane, block, of_plane, self.worn_by + record.erase_count);
                }
            }
        }
        (ftl, nand)
    }

    /// The device with any queue, workload and probe.
    pub fn device<K: Kind>(&self, workload: Box<dyn Workload>, probe: K::Probe) -> Device<K> {
        let (ftl, nand) = self.parts();
        let mut device = Device::new(&self.engine, &self.limits, ftl, nand, workload, probe);
        device.set_reliability(&self.reliability);
        if let Some(dram) = &self.dram {
            device.set_dram(dram);
        }
        if let Some(firmware) = &self.firmware {
            device.set_firmware(firmware);
        }
        if let Some(power) = &self.power {
            device.set_power(power);
        }
        device.set_map(&self.map);
        device
    }

    /// The device that gets `requests` at their times.
    pub fn recorded(&self, requests: Vec<Request>) -> Device<Watched> {
        let probe = Recorder { reserve: self.reserve, ..Recorder::default() };
        self.device::<Watched>(Listed::boxed(requests, Arrival::Open), Box::new(probe))
    }

    /// Runs `requests` to the end.
    pub fn run(&self, requests: Vec<Request>) -> Outcome {
        let mut device = self.recorded(requests);
        device.run().expect("the run comes to its end");
        Outcome { device }
    }

    /// Runs the requests of several jobs, on a drive of which no more than the map is set.
    pub fn run_jobs<const N: usize>(&self, of_jobs: [Vec<Request>; N]) -> Device {
        let (ftl, nand) = self.parts();
        let lanes = of_jobs.map(|requests| LaneConfig::new(Listed::boxed(requests, Arrival::Open), 1));
        let mut device = Device::<Plain>::with_lanes(&self.engine, &self.limits, ftl, nand, lanes.into(), NoProbe);
        device.set_map(&self.map);
        device.run().expect("the run ends well");
        device
    }

    /// Runs `requests` to the error they provoke.
    pub fn run_to_error(&self, requests: Vec<Request>) -> SimulationError {
        self.recorded(requests).run().expect_err("the run must not come to its end")
    }
}

/// A finished run.
pub struct Outcome {
    pub device: Device<Watched>,
}

impl Outcome {
    pub fn counters(&self) -> &ninescope_engine::EngineCounters {
        self.device.counters()
    }

    pub fn ftl(&self) -> &FtlCounters {
        self.device.ftl().counters()
    }

    /// What watched it.
    pub fn recorder(&self) -> &Recorder {
        self.device.probe()
    }

    pub fn events(&self) -> &[(u64, Event)] {
        &self.recorder().events
    }

    /// When request number `id` completed [ns].
    pub fn completed_at(&self, id: u64) -> u64 {
        let completed = |&(at, event): &(u64, Event)| match event {
            Event::Completed(other, _) if other == id => Some(at),
            _ => None,
        };
        self.events().iter().find_map(completed).expect("every request completes")
    }

    /// Latency of request number `id` [ns].
    pub fn latency(&self, id: u64) -> u64 {
        let latency = |&(at, event): &(u64, Event)| match event {
            Event::Completed(other, request) if other == id => Some(at - request.submitted.0),
            _ => None,
        };
        self.events().iter().find_map(latency).expect("every request completes")
    }

    /// The numbers of the completed requests in the order of their completion.
    pub fn completion_order(&self) -> Vec<u64> {
        let id = |&(_, event): &(u64, Event)| match event {
            Event::Completed(id, _) => Some(id),
            _ => None,
        };
        self.events().iter().filter_map(id).collect()
    }

    /// When commands of a kind were issued [ns].
    pub fn issued(&self, kind: CommandKind) -> Vec<(u64, FlashCommand)> {
        let of_kind = |&(at, event): &(u64, Event)| match event {
            Event::Issued(command) if command.kind == kind => Some((at, command)),
            _ => None,
        };
        self.events().iter().filter_map(of_kind).collect()
    }

    /// What copybacks copied.
    pub fn copied(&self) -> Vec<CopiedFrom> {
        let of_copyback = |&(_, event): &(u64, Event)| match event {
            Event::Copied(from) => Some(from),
            _ => None,
        };
        self.events().iter().filter_map(of_copyback).collect()
    }

    /// When array phases of a kind ended [ns].
    pub fn ended(&self, kind: CommandKind) -> Vec<u64> {
        let of_kind = |&(at, event): &(u64, Event)| match event {
            Event::Ended(command) if command.kind == kind => Some(at),
            _ => None,
        };
        self.events().iter().filter_map(of_kind).collect()
    }

    /// The causes of all latency of one operation that are not zero, in lane order [ns].
    pub fn parts(&self, op: Op) -> Vec<(Cause, u64)> {
        let total = self.device.meter().ops[op as usize].attribution.total();
        Cause::ALL.into_iter().zip(total.lanes()).filter(|&(_, time)| time > 0).collect()
    }

    /// Where a unit is mapped.
    pub fn place_of(&self, unit: u32) -> Ppa {
        self.device.ftl().translate(Lpa(unit))
    }

    /// Free groups of the first pool.
    pub fn free_groups(&self) -> u32 {
        self.device.ftl().free_groups(Pool(0))
    }
}
