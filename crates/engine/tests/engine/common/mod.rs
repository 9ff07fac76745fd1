//! Small drives put together by hand, and workloads that are plain lists of requests.
//!
//! A [`Bench`] is a description with every field public: take [`Bench::tiny`], change what the test is
//! about, and build a device from it. Nothing here knows what a test expects.

#![allow(dead_code, reason = "each test binary uses its own part of this module")]

pub mod statistics;
pub mod tiered;

use ninescope_engine::mapping::map_pages;
use ninescope_engine::policies::mapping::{MapConfig, MapRules};
use ninescope_engine::{
    Device, EngineConfig, FirmwareConfig, Kind, NoProbe, Plain, RunLimits, SectorRules, SuspendPolicyConfig,
    TransactionSchedulerConfig, WriteCompletion,
};
use ninescope_ftl::policies::{
    FreeBlockChoiceConfig, GcTriggerConfig, PageAllocationConfig, StreamChoiceConfig, VictimSelectionConfig,
};
use ninescope_ftl::{BreakdownConfig, Ftl, FtlConfig, InstantDriver, Partition, SlcCacheConfig, ZoneConfig};
use ninescope_kernel::{Ns, Rate};
use ninescope_media::nand::{EraseLoops, Nand, NandTiming, PageTypes, PlaneGroups, PlaneReads};
use ninescope_model::{
    Arrival, BlockGroup, DieId, Geometry, Lba, Lpa, Op, Parity, Request, Superblock, Workload, WorkloadError,
};

/// What the drive holds before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefill {
    /// Nothing: everything erased.
    Nothing,
    /// Every logical unit, written once in ascending order.
    Sequential,
    /// As `Sequential`, then this many overwrites at random, so that garbage collection is at work.
    Overwritten(u64),
}

/// A drive, its controller and the limits of a run.
#[derive(Clone, Debug)]
pub struct Bench {
    /// Channels of the controller, one package of `dies_per_channel` dies each.
    pub channels: u32,
    pub dies_per_channel: u32,
    pub planes: u32,
    pub blocks_per_plane: u32,
    pub pages_per_block: u32,
    pub page_bytes: u32,
    pub unit_bytes: u32,
    pub frontier_planes: u32,
    /// Parity over dies.
    pub parity: Option<Parity>,
    /// Block groups on several dies without it.
    pub superblock: Option<Superblock>,
    /// Logical units as a share of the physical ones, in percent.
    pub logical_percent: u32,
    pub reserve_groups: u32,
    pub page_allocation: PageAllocationConfig,
    pub free_block_choice: FreeBlockChoiceConfig,
    pub gc_trigger: GcTriggerConfig,
    pub victim_selection: VictimSelectionConfig,
    pub breakdown: Option<BreakdownConfig>,
    /// Which streams there are.
    pub streams: StreamChoiceConfig,
    /// Planes that some addresses have for themselves.
    pub partitions: Vec<Partition>,
    pub seed: u64,
    pub prefill: Prefill,
    pub timing: NandTiming,
    /// How much of the map is in memory.
    pub map: MapConfig,
    /// The zones that the host's addresses are; nothing is filled then.
    pub zones: Option<ZoneConfig>,
    /// The cores that its decisions take.
    pub firmware: Option<FirmwareConfig>,
    /// Blocks of one bit in a cell.
    pub slc_cache: Option<SlcCacheConfig>,
    pub engine: EngineConfig,
    pub limits: RunLimits,
}

impl Bench {
    /// The same with two channels of two dies of two planes in use, overwritten until garbage is collected.
    pub fn busy(self) -> Self {
        Self {
            channels: 2,
            dies_per_channel: 2,
            planes: 2,
            frontier_planes: 2,
            logical_percent: 70,
            blocks_per_plane: 32,
            prefill: Prefill::Overwritten(20_000),
            ..self
        }
    }

    /// One channel, one die, one plane: 16 blocks of 8 pages of 16 KiB, units of 4 KiB, half of it logical
    /// and prefilled. Everything in the controller is infinitely fast, the media are not, and no two
    /// durations are equal.
    pub fn tiny() -> Self {
        Self {
            channels: 1,
            dies_per_channel: 1,
            planes: 1,
            blocks_per_plane: 16,
            pages_per_block: 8,
            page_bytes: 16_384,
            unit_bytes: 4_096,
            frontier_planes: 1,
            parity: None,
            superblock: None,
            logical_percent: 50,
            reserve_groups: 1,
            page_allocation: PageAllocationConfig::default(),
            free_block_choice: FreeBlockChoiceConfig::default(),
            gc_trigger: GcTriggerConfig::default(),
            victim_selection: VictimSelectionConfig::default(),
            breakdown: None,
            streams: StreamChoiceConfig::default(),
            partitions: Vec::new(),
            seed: 1,
            prefill: Prefill::Sequential,
            timing: timing(),
            map: MapConfig::default(),
            zones: None,
            firmware: None,
            slc_cache: None,
            engine: EngineConfig {
                queue_depth: 1024,
                command_cost: Ns::ZERO,
                link_rate: Rate(0),
                write_completion: WriteCompletion::Buffer,
                buffered_pages: 4,
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
                log_requests: true,
            },
            limits: RunLimits {
                requests: None,
                duration: None,
                warmup_requests: 0,
                warmup_time: None,
                closed_queue_depth: 1,
            },
        }
    }

    /// The drive's shape.
    pub fn geometry(&self) -> Geometry {
        Geometry::checked(
            self.channels,
            1,
            self.dies_per_channel,
            self.planes,
            self.blocks_per_plane,
            self.pages_per_block,
            self.page_bytes,
            self.unit_bytes,
            self.frontier_planes,
        )
        .and_then(|geometry| geometry.with_parity(self.parity))
        .and_then(|geometry| geometry.with_superblock(self.superblock))
        .expect("a legal geometry")
    }

    /// Units the host can address.
    pub fn logical_units(&self) -> u32 {
        if let Some(zones) = &self.zones {
            return zones.size * (self.geometry().pools() / zones.pools) * self.blocks_per_plane;
        }
        (u64::from(self.geometry().units()) * u64::from(self.logical_percent) / 100) as u32
    }

    /// Host sectors of the drive.
    pub fn logical_sectors(&self) -> u64 {
        u64::from(self.logical_units()) * self.sectors_per_unit()
    }

    /// Sectors of a unit.
    pub fn sectors_per_unit(&self) -> u64 {
        u64::from(self.unit_bytes / 512)
    }

    /// The translation layer, filled as `prefill` says, everything programmed.
    pub fn ftl(&self) -> Ftl {
        let rules = self.map.chosen().rules();
        let of_map = |rules: MapRules| map_pages(&rules, &self.geometry(), self.logical_units());
        let (translation_entries, translation_units) = rules.map_or((0, 0), of_map);
        let mut ftl = Ftl::new(&FtlConfig {
            geometry: self.geometry(),
            logical_units: self.logical_units(),
            translation_units,
            translation_entries,
            reserve_groups: self.reserve_groups,
            page_allocation: self.page_allocation.clone(),
            stream_choice: self.streams.clone(),
            free_block_choice: self.free_block_choice.clone(),
            gc_trigger: self.gc_trigger.clone(),
            victim_selection: self.victim_selection.clone(),
            partitions: self.partitions.clone(),
            homes: Vec::new(),
            zones: self.zones.clone(),
            block_map: None,
            slc_cache: self.slc_cache,
            breakdown: self.breakdown.clone(),
            wear_leveling: Default::default(),
            seed: self.seed,
        })
        .expect("enough spare blocks");
        let overwrites = match self.prefill {
            Prefill::Nothing => return ftl,
            Prefill::Sequential => 0,
            Prefill::Overwritten(count) => count,
        };
        let mut stream = ninescope_kernel::RandomStream::new(self.seed, "tests", "prefill");
        let units = u64::from(self.logical_units());
        let mut driver = InstantDriver::new(&mut ftl);
        let overwritten = (0..overwrites).map(|_| stream.below(units));
        for lpa in (0..units).chain(overwritten) {
            driver.write(Lpa(lpa as u32)).expect("the drive is not full");
        }
        if self.map.chosen().rules().is_some() {
            driver.write_map(false).expect("the drive is not full");
        }
        driver.settle();
        ftl
    }

    /// The media, holding what `ftl` programmed.
    pub fn nand(&self, ftl: &Ftl) -> Nand {
        let geometry = self.geometry();
        let mut nand = Nand::new(&geometry, self.timing.clone()).expect("legal timing");
        for group in (0..geometry.groups()).map(BlockGroup) {
            let record = ftl.group(group);
            let (pool, block) = geometry.pool_and_block(group);
            assert_eq!(geometry.within_group(record.programmed).2, 0, "whole pages are programmed");
            let planes = geometry.frontier_planes;
            for (die, member) in geometry.dies_of_group(group).zip(0..) {
                let pages = geometry.pages_of_member(record.programmed, member);
                for plane in 0..planes {
                    nand.set_programmed_pages(
                        die,
                        geometry.first_plane_of_pool(pool) + plane,
                        block,
                        pages / planes + u32::from(plane < pages % planes),
                        record.erase_count,
                    );
                }
            }
        }
        nand
    }

    /// A device ready to run.
    pub fn device(&self, workload: impl Workload + 'static) -> Device {
        self.device_with::<Plain>(workload, NoProbe)
    }

    /// A device with another wake-up queue or a probe.
    pub fn device_with<K: Kind>(&self, workload: impl Workload + 'static, probe: K::Probe) -> Device<K> {
        let ftl = self.ftl();
        let nand = self.nand(&ftl);
        let mut device = Device::new(&self.engine, &self.limits, ftl, nand, Box::new(workload), probe);
        if let Some(firmware) = &self.firmware {
            device.set_firmware(firmware);
        }
        device
    }

    /// A device that has run its workload to the end.
    pub fn run(&self, workload: impl Workload + 'static) -> Device {
        let mut device = self.device(workload);
        device.run().expect("the run ends well");
        device
    }

    /// The die on which each logical unit lies in `ftl`.
    pub fn die_of(&self, ftl: &Ftl, lpa: Lpa) -> DieId {
        let geometry = self.geometry();
        geometry.die_of(ftl.translate(lpa))
    }
}

/// Three page types, no two durations equal, a channel that moves 4 KiB in 4 096 ns.
pub fn timing() -> NandTiming {
    NandTiming {
        read: vec![Ns(34_000), Ns(52_000), Ns(61_000)],
        program: vec![Ns(250_000), Ns(400_000), Ns(610_000)],
        slc: None,
        page_types: PageTypes::InTurn,
        program_pulses: 10,
        erase_loop: Ns(1_300_000),
        erase_loops: EraseLoops::Fixed(2),
        command_address: Ns(300),
        suspend_recover: Ns(25_000),
        resume_ramp: Ns(5_000),
        channel_rate: Rate(1_000_000_000),
        read_any_block: false,
        any_page: false,
        planes_per_command: 4,
        plane_groups: PlaneGroups::Neighbours,
        plane_reads: PlaneReads::Together,
        cache_read: None,
        times: Default::default(),
        program_load: Ns::ZERO,
    }
}

/// Single-level cells: one page type, whose read and program take these times [ns].
pub fn slc(read: u64, program: u64) -> NandTiming {
    NandTiming { read: vec![Ns(read)], program: vec![Ns(program)], ..timing() }
}

/// A workload that is a list.
#[derive(Debug)]
pub struct Requests {
    arrival: Arrival,
    requests: std::vec::IntoIter<Request>,
}

impl Workload for Requests {
    fn arrival(&self) -> Arrival {
        self.arrival
    }

    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        Ok(self.requests.next())
    }
}

/// Requests submitted at their time stamps, which must not decrease.
pub fn open(requests: Vec<Request>) -> Requests {
    Requests { arrival: Arrival::Open, requests: requests.into_iter() }
}

/// Requests submitted as slots of the queue become free.
pub fn closed(requests: Vec<Request>) -> Requests {
    Requests { arrival: Arrival::Closed, requests: requests.into_iter() }
}

/// A workload computed request by request, for runs too long for a list.
pub struct Generated<F> {
    arrival: Arrival,
    next: F,
}

impl<F: FnMut() -> Option<Request> + Send> Workload for Generated<F> {
    fn arrival(&self) -> Arrival {
        self.arrival
    }

    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        Ok((self.next)())
    }
}

/// Requests from a function; `None` ends the workload.
pub fn generated<F: FnMut() -> Option<Request> + Send>(arrival: Arrival, next: F) -> Generated<F> {
    Generated { arrival, next }
}

/// A request at time 0.
pub fn request(op: Op, lba: u64, sectors: u32) -> Request {
    Request { submitted: Ns::ZERO, lba: Lba(lba), sectors, op, ..Request::default() }
}

/// A read at time 0.
pub fn read(lba: u64, sectors: u32) -> Request {
    request(Op::Read, lba, sectors)
}

/// A write at time 0.
pub fn write(lba: u64, sectors: u32) -> Request {
    request(Op::Write, lba, sectors)
}

/// A TRIM at time 0.
pub fn trim(lba: u64, sectors: u32) -> Request {
    request(Op::Trim, lba, sectors)
}

/// A FLUSH at time 0.
pub fn flush() -> Request {
    request(Op::Flush, 0, 0)
}

/// The same request, submitted at `time` [ns].
pub fn at(time: u64, request: Request) -> Request {
    Request { submitted: Ns(time), ..request }
}
