//! From a drive description to the parts it describes.

use ninescope_engine::reliability::ReliabilityConfig;
use ninescope_engine::{Device, EngineConfig, Kind, LaneConfig, RunLimits, TierConfig};
use ninescope_ftl::{Ftl, FtlConfig, FtlError};
use ninescope_kernel::{Ns, Rate};
use ninescope_media::health::{LimitByWear, SuspendLimit, WearPoint};
use ninescope_media::nand::{EraseLoops, LoopShares, Nand, NandTiming, Wear};
use ninescope_model::units::Duration;
use ninescope_model::{BlockGroup, Geometry, SECTOR_BYTES};
use ninescope_tier::PlacementConfig;
use ninescope_tier::policies::Below;

use crate::config::{DriveConfig, EraseLoopsConfig, GeometryConfig, LoadedDrive, NandConfig};
use crate::endurance;
use crate::error::Error;
use crate::memory;
use crate::reliability;
use crate::scm::ScmAssembly;
use crate::tier;

/// Numbers of blocks that are tried for one that is enough: with an over-provisioning that needs more nobody is helped.
const TRIED_MAX: usize = 1 << 20;
/// The default drive is at least this large [B], and its planes at least this many blocks.
const FITTED_BYTES_MIN: u64 = 8 << 30;
const FITTED_BLOCKS_MIN: u32 = 256;
/// No stage of a command may take longer [ns]: beyond it is a typing error, and sums of times cannot overflow.
const TIME_MAX: u64 = 3_600_000_000_000;
/// The most entries of a queue or buffer: NVMe's largest queue.
pub(crate) const ENTRIES_MAX: u64 = 65_535;
/// The slowest link and channel [B/s]: the longest transfer must be short beside the simulated time there is.
const RATE_MIN: u64 = 1_000;
/// The most P/E cycles a drive may begin with.
const CYCLES_MAX: u32 = 10_000_000;
/// The most spare bytes to a byte of the host: beyond it is a typing error, and the drive would be nothing but spare.
const OVER_PROVISIONING_MAX: f64 = 100.0;

/// Everything a drive is made of.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// Its description.
    pub config: DriveConfig,
    /// Its shape.
    pub geometry: Geometry,
    /// Its translation layer.
    pub ftl: FtlConfig,
    /// Its flash, if it has any.
    pub timing: Option<NandTiming>,
    /// What its blocks have behind them and what they bear.
    pub wear: Wear,
    /// Its controller.
    pub engine: EngineConfig,
    /// Its storage-class memory.
    pub scm: ScmAssembly,
    /// What moves between two media, if it has them.
    pub tier: Option<TierConfig>,
    /// Its codes, its failing bits and what is done about them.
    pub reliability: ReliabilityConfig,
    /// The run's seed: blocks differ from each other as it says.
    pub seed: u64,
    /// What its tables take [B].
    pub table_bytes: u64,
}

impl Assembly {
    /// Checks a description and derives the parts.
    ///
    /// # Errors
    /// [`Error::Input`] that names the key at fault.
    pub fn new(drive: &LoadedDrive, seed: u64, log_requests: bool) -> Result<Self, Error> {
        check_media(drive)?;
        endurance::check(drive)?;
        let mut config = drive.config.clone();
        let flash = config.geometry.is_some();
        let geometry = if flash { geometry(drive)? } else { Geometry::absent() };
        let ftl = if flash { ftl_config(drive, geometry, seed)? } else { no_ftl(geometry, seed) };
        let timing = if flash { Some(timing(drive)?) } else { None };
        let wear = if flash { wear(drive)? } else { Wear::default() };
        let engine = engine_config(drive, &geometry, log_requests)?;
        let mut table_bytes = 0;
        if flash {
            table_bytes += memory::check(&geometry, ftl.logical_units, &engine)?;
            // What was left to a default is written out, so that a result says what ran.
            config.ftl.frontier_planes = Some(geometry.frontier_planes);
            config.ftl.gc_pages_in_flight = Some(engine.gc_pages_in_flight);
            config.controller.buffered_pages = Some(engine.buffered_pages);
        }
        let sized = tier::sized(drive, &geometry)?;
        config.scm.clone_from(&sized.config.scm);
        let scm = ScmAssembly::new(&sized)?;
        let tier = tier::config(&sized, &geometry, &scm)?;
        config.tier.migrations_in_flight = tier.as_ref().map(|tier| tier.migrations_in_flight);
        let reliability = reliability::config(drive, &geometry, seed)?;
        if ftl.stream_choice.knows_clean() && tier.is_some() {
            return Err(drive.error_at("ftl.streams", "keeps clean data apart, which only a drive of flash alone does"));
        }
        let pages = if tier.is_none() { 0 } else { ftl.logical_units.max(scm.lowest().map_or(0, |shape| shape.slots)) };
        table_bytes += memory::check_scm(&scm, pages, &engine)?;
        Ok(Self { config, geometry, ftl, timing, wear, engine, scm, tier, reliability, seed, table_bytes })
    }

    /// Host bytes of the drive [B].
    pub fn logical_bytes(&self) -> u64 {
        if self.timing.is_some() {
            return u64::from(self.ftl.logical_units) * u64::from(self.geometry.unit_bytes);
        }
        self.scm.lowest().map_or(0, |shape| shape.logical_sectors() * SECTOR_BYTES)
    }

    /// Bytes there are on the media, spare ones included [B].
    pub fn raw_bytes(&self) -> u64 {
        self.geometry.raw_bytes() + self.scm.raw_sectors() * SECTOR_BYTES
    }

    /// Host sectors of the drive [512 B].
    pub fn logical_sectors(&self) -> u64 {
        self.logical_bytes() / SECTOR_BYTES
    }

    /// What a reader of the result must know about a drive whose spare blocks are mostly frontiers and reserve:
    /// on small drives these, whose number does not shrink with the drive, eat the over-provisioning.
    pub fn spare_note(&self) -> Option<String> {
        let geometry = &self.geometry;
        if geometry.pools() == 0 {
            return None;
        }
        let share = self.ftl.logical_units.div_ceil(geometry.pools());
        let spare = geometry.blocks_per_plane - share.div_ceil(geometry.units_per_group());
        let held = self.ftl.spare_groups_needed();
        (spare < 2 * held).then(|| {
            format!(
                "small drive: {held} of its {spare} spare blocks per plane are frontiers, reserve and working space, so \
                 write amplification under random writes is higher than over-provisioning alone suggests"
            )
        })
    }

    /// The empty translation layer.
    ///
    /// # Errors
    /// When over-provisioning cannot sustain garbage collection.
    pub fn empty_ftl(&self) -> Result<Ftl, FtlError> {
        if self.timing.is_none() { Ok(Ftl::absent()) } else { Ftl::new(&self.ftl) }
    }

    /// The device: this drive with a prepared translation layer and its workloads.
    ///
    /// # Errors
    /// [`Error::Internal`]: everything was checked before.
    pub fn device<K: Kind>(
        &self,
        limits: &RunLimits,
        ftl: Ftl,
        lanes: Vec<LaneConfig>,
        probe: K::Probe,
    ) -> Result<Device<K>, Error> {
        let mut device = if let Some(tier) = &self.tier {
            let (nand, scm) = (self.media_for(&ftl)?, self.scm.part(self.seed)?);
            Device::of_tier(&self.engine, limits, ftl, nand, scm, tier, lanes, probe)
        } else if self.timing.is_none() {
            Device::of_scm(&self.engine, limits, self.scm.part(self.seed)?, lanes, probe)
        } else {
            let nand = self.media_for(&ftl)?;
            Device::with_lanes(&self.engine, limits, ftl, nand, lanes, probe)
        };
        device.set_reliability(&self.reliability);
        Ok(device)
    }

    /// Media that holds what a prepared translation layer programmed.
    ///
    /// # Errors
    /// [`Error::Internal`]: the timing was checked before.
    pub fn media_for(&self, ftl: &Ftl) -> Result<Nand, Error> {
        let geometry = &self.geometry;
        let Some(timing) = &self.timing else { return Ok(Nand::absent()) };
        let nand = Nand::new(geometry, timing.clone()).map_err(|error| Error::Internal(error.to_string()))?;
        let mut nand = nand.with_wear(self.wear, self.seed);
        for group in (0..geometry.groups()).map(BlockGroup) {
            let record = ftl.group(group);
            let (pool, block) = geometry.pool_and_block(group);
            let die = geometry.die_of_pool(pool);
            let first_plane = geometry.first_plane_of_pool(pool);
            let (page, pages_of_stripe, _) = geometry.within_group(record.programmed);
            for plane in 0..geometry.frontier_planes {
                let pages = page + u32::from(plane < pages_of_stripe);
                nand.set_programmed_pages(die, first_plane + plane, block, pages, record.erase_count);
            }
        }
        Ok(nand)
    }
}

/// Why a drive cannot be made as large as a workload needs it.
#[derive(Debug)]
pub enum Unfit {
    /// Its description is wrong, whatever its size.
    Description(Error),
    /// No drive of its shape is that large: a sentence without a place.
    TooFar(String),
    /// This machine has no memory for it: a sentence without a place. What a run does never depends on that, so
    /// that nothing is tried in its stead.
    NoMemory(String),
}

impl Unfit {
    /// As an error: that of the description, or the sentence where `placed` puts it.
    pub fn into_error(self, placed: impl FnOnce(String) -> Error) -> Error {
        match self {
            Self::Description(error) => error,
            Self::TooFar(message) | Self::NoMemory(message) => placed(message),
        }
    }
}

/// Gives the default drive as many blocks per plane as `highest_byte` needs, rounded up to a GiB.
///
/// # Errors
/// [`Unfit`], where the description itself is looked at first: what is wrong with it is no fault of the workload.
pub fn fit_drive(drive: &mut LoadedDrive, highest_byte: u64) -> Result<(), Unfit> {
    if drive.config.geometry.is_none() {
        return Ok(());
    }
    let of_one_block = geometry(drive).map_err(Unfit::Description)?;
    let over_provisioning = over_provisioning(drive).map_err(Unfit::Description)?;
    let wanted = highest_byte.div_ceil(1 << 30).max(1) << 30;
    let wanted = wanted.max(FITTED_BYTES_MIN) as f64 * (1.0 + over_provisioning);
    let bytes_per_block_index = of_one_block.raw_bytes() as f64 / f64::from(of_one_block.blocks_per_plane);
    let blocks = (wanted / bytes_per_block_index).ceil();
    let units = blocks * bytes_per_block_index / f64::from(of_one_block.unit_bytes);
    if units >= f64::from(u32::MAX) {
        return Err(Unfit::TooFar(format!(
            "address {highest_byte} B is beyond the largest drive with a mapping unit of {} and ftl.over_provisioning of \
             {over_provisioning} (2^32 units)",
            drive.config.ftl.mapping_unit
        )));
    }
    if let Some(geometry) = &mut drive.config.geometry {
        geometry.blocks_per_plane = (blocks as u32).max(FITTED_BLOCKS_MIN);
    }
    match memory::shortage(flash_table_bytes(drive).map_err(Unfit::Description)?) {
        Some(shortage) => Err(Unfit::NoMemory(format!(
            "a drive that reaches address {highest_byte} B has tables that need {shortage}"
        ))),
        None => Ok(()),
    }
}

/// Bytes of the tables of a drive's flash [B].
fn flash_table_bytes(drive: &LoadedDrive) -> Result<u64, Error> {
    let geometry = geometry(drive)?;
    let ftl = ftl_config(drive, geometry, 0)?;
    Ok(memory::drive_bytes(&geometry, ftl.logical_units, &engine_config(drive, &geometry, false)?))
}

/// The tables that a drive's placement works with are there, and no others.
fn check_media(drive: &LoadedDrive) -> Result<(), Error> {
    let config = &drive.config;
    let placement = &config.tier.placement;
    let (has_upper, below) = (placement.chosen().has_upper(), placement.chosen().below());
    let uses_flash = !has_upper || below == Below::Flash;
    let tables = [
        ("geometry", config.geometry.is_some(), uses_flash),
        ("nand", config.nand.is_some(), uses_flash),
        ("scm", config.scm.is_some(), has_upper),
        ("storage_scm", config.storage_scm.is_some(), below == Below::Scm),
    ];
    let name = placement.name();
    if let Some((table, ..)) = tables.iter().find(|(_, is_there, is_used)| *is_used && !is_there) {
        if name == PlacementConfig::default().name() {
            return Err(no_table(drive, table));
        }
        return Err(drive.error_at("tier.placement", &format!("is `{name}`, which needs the table [{table}]")));
    }
    match tables.iter().find(|(_, is_there, is_used)| *is_there && !is_used) {
        Some((table, ..)) => {
            let message = format!("is there, and tier.placement = \"{name}\" does not use it");
            Err(drive.error_at(table, &message))
        }
        None => Ok(()),
    }
}

/// A drive of flash alone, as it is where nothing says otherwise, without a table of flash.
fn no_table(drive: &LoadedDrive, table: &str) -> Error {
    drive.error(&format!("the table [{table}] is missing, which a drive of flash needs"))
}

/// The shape of a drive's flash, whose table was found to be there.
fn flash_shape(drive: &LoadedDrive) -> Result<&GeometryConfig, Error> {
    drive.config.geometry.as_ref().ok_or_else(|| no_table(drive, "geometry"))
}

/// The constants of a drive's flash, whose table was found to be there.
fn flash(drive: &LoadedDrive) -> Result<&NandConfig, Error> {
    drive.config.nand.as_ref().ok_or_else(|| no_table(drive, "nand"))
}

fn geometry(drive: &LoadedDrive) -> Result<Geometry, Error> {
    let shape = flash_shape(drive)?;
    let ftl = &drive.config.ftl;
    let small = |key: &str, bytes: u64| {
        u32::try_from(bytes).map_err(|_| drive.error_at(key, &format!("is {bytes} B, which is too large")))
    };
    Geometry::checked(
        shape.channels,
        shape.packages_per_channel,
        shape.dies_per_package,
        shape.planes_per_die,
        shape.blocks_per_plane,
        shape.pages_per_block,
        small("geometry.page_size", shape.page_size.0)?,
        small("ftl.mapping_unit", ftl.mapping_unit.0)?,
        ftl.frontier_planes.unwrap_or(shape.planes_per_die),
    )
    .map_err(|error| {
        if let ("frontier_planes", Some(planes)) = (error.key, ftl.frontier_planes) {
            let (frontier, all) = ("ftl.frontier_planes", "geometry.planes_per_die");
            let value = |key: &str, value: u32| format!("{value}{}", drive.whence(key));
            let values = [(frontier, value(frontier, planes)), (all, value(all, shape.planes_per_die))];
            if planes > 0 && shape.planes_per_die > 0 {
                return drive.error_between(&values, "ftl.frontier_planes must divide geometry.planes_per_die");
            }
        }
        let table = if matches!(error.key, "mapping_unit" | "frontier_planes") { "ftl" } else { "geometry" };
        drive.error_at(&format!("{table}.{}", error.key), &error.message)
    })
}

/// The translation layer of a drive without flash.
fn no_ftl(geometry: Geometry, seed: u64) -> FtlConfig {
    FtlConfig {
        geometry,
        logical_units: 0,
        reserve_groups: 0,
        page_allocation: Default::default(),
        stream_choice: Default::default(),
        free_block_choice: Default::default(),
        gc_trigger: Default::default(),
        victim_selection: Default::default(),
        seed,
    }
}

fn ftl_config(drive: &LoadedDrive, geometry: Geometry, seed: u64) -> Result<FtlConfig, Error> {
    let section = &drive.config.ftl;
    let over_provisioning = over_provisioning(drive)?;
    let blocks = ("geometry.blocks_per_plane", geometry.blocks_per_plane.to_string());
    let reserve = ("ftl.gc_reserve_blocks", section.gc_reserve_blocks.to_string());
    if section.gc_reserve_blocks >= geometry.blocks_per_plane {
        let message = format!("the reserve must be smaller than the {} blocks of a plane", geometry.blocks_per_plane);
        return Err(drive.error_between(&[reserve, blocks], &message));
    }
    if section.gc_reserve_blocks == 0 {
        return Err(
            drive.error_at("ftl.gc_reserve_blocks", "must be at least 1: garbage collection needs a block to move to")
        );
    }
    check_policies(drive, &geometry)?;
    if section.streams.knows_clean() && section.gc_reserve_blocks < 2 {
        let message = "must be at least 2 where clean data is kept apart: moves may need a block of either kind";
        return Err(drive.error_at("ftl.gc_reserve_blocks", message));
    }
    let config = FtlConfig {
        geometry,
        logical_units: logical_units(u64::from(geometry.units()), over_provisioning) as u32,
        reserve_groups: section.gc_reserve_blocks,
        page_allocation: section.page_allocation.clone(),
        stream_choice: section.streams.clone(),
        free_block_choice: section.free_block_choice.clone(),
        gc_trigger: section.gc_trigger.clone(),
        victim_selection: section.victim.clone(),
        seed,
    };
    let spare = ("ftl.over_provisioning", over_provisioning.to_string());
    config.check().map_err(|_| {
        let held = config.spare_groups_needed();
        let enough = blocks_that_suffice(&config, over_provisioning).map_or_else(
            || "no number of blocks would do".to_owned(),
            |blocks| format!("{blocks} blocks per plane are enough"),
        );
        let message = format!(
            "over-provisioning leaves fewer spare blocks than the {held} that each plane needs for frontiers, reserve and \
             garbage collection; raise over_provisioning or blocks_per_plane: {enough} with this over_provisioning"
        );
        drive.error_between(&[spare, blocks, reserve], &message)
    })?;
    Ok(config)
}

/// The units that the host sees of so many on the media.
fn logical_units(units: u64, over_provisioning: f64) -> u64 {
    (units as f64 / (1.0 + over_provisioning)).floor() as u64
}

/// The fewest blocks per plane, above those there are, of which over-provisioning leaves enough spare ones: with each block
/// the host sees more, too.
fn blocks_that_suffice(config: &FtlConfig, over_provisioning: f64) -> Option<u64> {
    let geometry = &config.geometry;
    let per_index = u64::from(geometry.units()) / u64::from(geometry.blocks_per_plane);
    let (pools, per_group) = (u64::from(geometry.pools()), u64::from(geometry.units_per_group()));
    let held = u64::from(config.spare_groups_needed());
    let suffices = |blocks: &u64| {
        let logical = logical_units(per_index * blocks, over_provisioning);
        logical > 0 && logical.div_ceil(pools).div_ceil(per_group) + held <= *blocks
    };
    // Spare are op / (1 + op) of them, and at most a block more by rounding: fewer than these cannot do.
    let least = (held - 1) as f64 * (1.0 + over_provisioning) / over_provisioning;
    let first = (least as u64).max(u64::from(geometry.blocks_per_plane) + 1);
    let most = u64::from(u32::MAX) / per_index;
    (first..=most).take(TRIED_MAX).find(suffices)
}

fn over_provisioning(drive: &LoadedDrive) -> Result<f64, Error> {
    let share = drive.config.ftl.over_provisioning;
    let refused = |message: &str| Err(drive.error_at("ftl.over_provisioning", &format!("is {share}, {message}")));
    if !(share.is_finite() && share > 0.0) {
        return refused("it must be a finite number greater than 0");
    }
    if share > OVER_PROVISIONING_MAX {
        return refused(&format!(
            "at most {OVER_PROVISIONING_MAX} are supported; it is a share: 0.07 is 7 % of what the host sees"
        ));
    }
    Ok(share)
}

/// Parameters of policies that only mean something in proportion to the drive.
fn check_policies(drive: &LoadedDrive, geometry: &Geometry) -> Result<(), Error> {
    match drive.config.ftl.victim.chosen().problem(geometry) {
        Some((key, message)) => Err(drive.error_at(&format!("ftl.victim.{key}"), &message)),
        None => Ok(()),
    }
}

/// What a reader must know about a drive most of which is spare: it may be a slip for a share.
pub fn over_provisioning_note(config: &DriveConfig) -> Option<String> {
    let share = config.ftl.over_provisioning;
    (config.geometry.is_some() && share > 1.0).then(|| {
        format!(
            "ftl.over_provisioning = {share} is {share} spare bytes for each byte of the host; {share} % would be {}",
            share / 100.0
        )
    })
}

/// What a reader must know about a drive whose suspend policy has nothing to do.
pub fn suspend_note(config: &DriveConfig) -> Option<String> {
    let suspend = &config.scheduler.suspend;
    let one_loop = config.nand.as_ref().is_some_and(|nand| matches!(nand.erase_loops, EraseLoopsConfig::Fixed(1)));
    (one_loop && suspend.chosen().needs_loops())
        .then(|| format!("erases take one loop (nand.erase_loops), so that `{}` never suspends one", suspend.name()))
}

fn timing(drive: &LoadedDrive) -> Result<NandTiming, Error> {
    let nand = flash(drive)?;
    let bits = nand.cell.bits();
    if nand.read.len() != 1 && nand.read.len() != bits {
        let message = format!("has {} values; give one, or one per page type ({bits})", nand.read.len());
        return Err(drive.error_at("nand.read", &message));
    }
    let ns = |duration: &Duration| Ns(duration.0);
    // One value stands for every page type.
    let types = nand.read.len().max(nand.program.len());
    let by_type = |durations: &[Duration]| -> Vec<Ns> {
        let repeated = if durations.len() == 1 { types } else { 1 };
        durations.iter().flat_map(|duration| std::iter::repeat_n(ns(duration), repeated)).collect()
    };
    let timing = NandTiming {
        read: by_type(&nand.read),
        program: by_type(&nand.program),
        program_pulses: nand.program_pulses,
        erase_loop: ns(&nand.erase_loop),
        erase_loops: match &nand.erase_loops {
            EraseLoopsConfig::Fixed(loops) => EraseLoops::Fixed(*loops),
            EraseLoopsConfig::ByWear(rows) => EraseLoops::ByWear(
                rows.iter().map(|row| LoopShares { cycles: row.cycles, shares: row.shares.clone() }).collect(),
            ),
        },
        command_address: ns(&nand.command_address),
        suspend_recover: ns(&nand.suspend_recover),
        resume_ramp: ns(&nand.resume_ramp),
        channel_rate: Rate(nand.channel_rate.0),
        read_any_block: nand.read_any_block,
    };
    timing.check().map_err(|error| drive.error_at(&format!("nand.{}", error.key), &error.message))?;
    let cost = timing.suspend_recover + timing.resume_ramp;
    if drive.config.scheduler.suspend.chosen().build().is_some() && cost > timing.erase_loop {
        let key = if timing.suspend_recover >= timing.resume_ramp { "suspend_recover" } else { "resume_ramp" };
        let message = format!(
            "makes a suspension cost {cost} (suspend_recover and resume_ramp), more than the erase loop of {} \
             (nand.erase_loop) that it interrupts",
            timing.erase_loop
        );
        return Err(drive.error_at(&format!("nand.{key}"), &message));
    }
    Ok(timing)
}

/// What depends on the wear of blocks needs to know it.
fn wear(drive: &LoadedDrive) -> Result<Wear, Error> {
    let nand = flash(drive)?;
    if nand.initial_cycles.is_none() {
        let suspend = &drive.config.scheduler.suspend;
        let needed_by = if suspend.chosen().needs_wear() {
            Some(("scheduler.suspend", format!("`{}`", suspend.name())))
        } else if let EraseLoopsConfig::ByWear(_) = nand.erase_loops {
            Some(("nand.erase_loops", "a number of loops by wear".to_owned()))
        } else {
            None
        };
        if let Some((key, what)) = needed_by {
            let message =
                format!("{what} needs the P/E cycles of the blocks: give nand.initial_cycles (0 for a new drive)");
            return Err(drive.error_at(key, &message));
        }
    }
    let initial_cycles = nand.initial_cycles.unwrap_or(0);
    if initial_cycles > CYCLES_MAX {
        let message = format!("is {initial_cycles}, at most {CYCLES_MAX} are supported");
        return Err(drive.error_at("nand.initial_cycles", &message));
    }
    let Some(limit) = &nand.suspend_limit else { return Ok(Wear { initial_cycles, suspend_limit: None }) };
    let young = WearPoint { cycles: limit.young_cycles, per_loop: limit.young_suspensions };
    let worn = WearPoint { cycles: limit.worn_cycles, per_loop: limit.worn_suspensions };
    let limit = LimitByWear::new(young, worn)
        .and_then(|by_wear| SuspendLimit::new(by_wear, limit.rber_factor, limit.rber_exponent));
    let limit = limit.map_err(|error| {
        let key = match error.parameter {
            "young.cycles" => "young_cycles",
            "young.per_loop" => "young_suspensions",
            "worn.cycles" => "worn_cycles",
            "worn.per_loop" => "worn_suspensions",
            parameter => parameter,
        };
        drive.error_at(&format!("nand.suspend_limit.{key}"), error.problem)
    })?;
    Ok(Wear { initial_cycles, suspend_limit: Some(limit) })
}

fn engine_config(drive: &LoadedDrive, geometry: &Geometry, log_requests: bool) -> Result<EngineConfig, Error> {
    let controller = &drive.config.controller;
    for (key, value) in [
        ("controller.queue_depth", u64::from(controller.queue_depth)),
        ("controller.link_rate", controller.link_rate.0),
        ("controller.buffered_pages", u64::from(controller.buffered_pages.unwrap_or(1))),
        ("controller.shared_buffered_pages", u64::from(controller.shared_buffered_pages.unwrap_or(1))),
        ("ftl.gc_pages_in_flight", u64::from(drive.config.ftl.gc_pages_in_flight.unwrap_or(1))),
        ("controller.page_timeout", controller.page_timeout.map_or(1, |timeout| timeout.0)),
    ] {
        if value == 0 {
            return Err(drive.error_at(key, "must not be zero"));
        }
    }
    for (key, entries) in [
        ("controller.queue_depth", u64::from(controller.queue_depth)),
        ("controller.buffered_pages", u64::from(controller.buffered_pages.unwrap_or(1))),
        ("controller.shared_buffered_pages", u64::from(controller.shared_buffered_pages.unwrap_or(1))),
        ("ftl.gc_pages_in_flight", u64::from(drive.config.ftl.gc_pages_in_flight.unwrap_or(1))),
    ] {
        if entries > ENTRIES_MAX {
            return Err(drive.error_at(key, &format!("is {entries}, at most {ENTRIES_MAX} are supported")));
        }
    }
    let channel_rates = [
        ("nand.channel_rate", drive.config.nand.as_ref().map(|nand| nand.channel_rate)),
        ("scm.channel_rate", drive.config.scm.as_ref().map(|scm| scm.channel_rate)),
        ("storage_scm.channel_rate", drive.config.storage_scm.as_ref().map(|scm| scm.channel_rate)),
    ];
    let channel_rates = channel_rates.into_iter().filter_map(|(key, rate)| Some((key, rate?)));
    for (key, rate) in std::iter::once(("controller.link_rate", controller.link_rate)).chain(channel_rates) {
        if rate.0 < RATE_MIN {
            let message = format!("is {rate}, at least {RATE_MIN} B/s are needed");
            return Err(drive.error_at(key, if rate.0 == 0 { "must not be zero" } else { &message }));
        }
    }
    for (key, time) in [
        ("controller.command_cost", Some(controller.command_cost)),
        ("controller.page_timeout", controller.page_timeout),
    ] {
        if time.is_some_and(|time| time.0 > TIME_MAX) {
            return Err(drive.error_at(key, "is longer than an hour"));
        }
    }
    let buffered_pages = controller.buffered_pages.unwrap_or(2 * geometry.planes_per_die).max(1);
    let kinds = if drive.config.ftl.streams.knows_clean() { 2 } else { 1 };
    let least = EngineConfig::buffered_pages_min(geometry) * kinds;
    if buffered_pages < least {
        let message = format!("is {buffered_pages}, at least {least} are needed, or a stripe could never fill");
        return Err(drive.error_at("controller.buffered_pages", &message));
    }
    let least_shared = EngineConfig::shared_buffered_pages_min(geometry, least);
    if let Some(shared) = controller.shared_buffered_pages.filter(|shared| *shared < least_shared) {
        let message = format!(
            "is {shared}, at least {least_shared} are needed: {} for each of {} dies, or a stripe could never fill",
            least - 1,
            geometry.dies()
        );
        return Err(drive.error_at("controller.shared_buffered_pages", &message));
    }
    let scheduler = &drive.config.scheduler;
    if let Some((key, message)) = scheduler.suspend.chosen().problem() {
        return Err(drive.error_at(&format!("scheduler.suspend.{key}"), &message));
    }
    Ok(EngineConfig {
        queue_depth: controller.queue_depth,
        command_cost: Ns(controller.command_cost.0),
        link_rate: Rate(controller.link_rate.0),
        write_completion: controller.write_completion,
        buffered_pages,
        shared_buffered_pages: controller.shared_buffered_pages,
        page_timeout: controller.page_timeout.map(|timeout| Ns(timeout.0)),
        multi_plane: scheduler.multi_plane,
        gc_pages_in_flight: drive.config.ftl.gc_pages_in_flight.unwrap_or(4 * geometry.frontier_planes),
        scheduler: scheduler.transactions.clone(),
        suspend: scheduler.suspend.clone(),
        log_requests,
    })
}
