//! From a drive's description to the parts it describes: a room for each part, put together here.
//!
//! What is wrong with a description is found here, and named by its key. The rooms must not know what will run on the drive.

mod block_maps;
mod controller;
mod copyback;
mod die_failures;
mod dram;
mod firmware;
mod fit;
mod flash;
mod forwarding;
mod idle_keys;
pub mod memory;
mod namespaces;
mod one_shot;
mod parity;
mod power;
mod reliability;
mod scm;
mod shelf;
mod slc_cache;
mod tier;
mod times;
mod translation;
mod whole_erase;
mod zones;

use ninescope_engine::policies::mapping::CachedBy;
use ninescope_engine::reliability::ReliabilityConfig;
use ninescope_engine::{Device, EngineConfig, FirmwareConfig, Kind, LaneConfig, PowerConfig, RunLimits, TierConfig};
use ninescope_ftl::{BreakdownConfig, Ftl, FtlConfig};
use ninescope_media::nand::{Nand, NandTiming, Wear};
use ninescope_model::units::Bytes;
use ninescope_model::{BlockGroup, Geometry, SECTOR_BYTES};
use ninescope_tier::PlacementConfig;
use ninescope_tier::policies::Below;

use crate::config::{DriveConfig, EraseLoopsConfig, LoadedDrive, NandConfig};
use crate::endurance;
use crate::error::Error;

pub(crate) use controller::buffered_pages_min;
pub use controller::{completion_note, sata_note, shared_buffer_note};
use dram::DramAssembly;
pub use firmware::firmware_note;
pub use fit::{Unfit, fit_drive};
use scm::ScmAssembly;
pub use shelf::Shelf;

/// Bytes that are kept of a unit whose map lies in flash [B]: where its entry is in memory, and whether that changed.
const MAP_BYTES_PER_UNIT: u64 = 5;

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
    /// Its DRAM, if its description says so.
    pub dram: Option<DramAssembly>,
    /// The cores that its decisions take, if they take any.
    pub firmware: Option<FirmwareConfig>,
    /// What its parts draw, where that is told.
    pub power: Option<PowerConfig>,
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
        idle_keys::check(drive)?;
        endurance::check(drive)?;
        let mut config = drive.config.clone();
        let has_flash = config.geometry.is_some();
        let geometry = if has_flash { flash::geometry(drive)? } else { Geometry::absent() };
        let ftl = match &drive.config.zns {
            Some(zns) => zones::ftl_config(drive, zns, geometry, seed)?,
            None if has_flash => translation::ftl_config(drive, geometry, seed)?,
            None => translation::no_ftl(geometry, seed),
        };
        one_shot::check(drive, &ftl)?;
        let timing = if has_flash { Some(flash::timing(drive)?) } else { None };
        let wear = if has_flash { flash::wear(drive)? } else { Wear::default() };
        let engine = controller::engine_config(drive, &geometry, ftl.zones.as_ref(), log_requests)?;
        let mut table_bytes = 0;
        if has_flash {
            table_bytes += memory::check(&geometry, ftl.logical_units, &engine)?;
            // What was left to a default is written out, so that a result says what ran.
            config.ftl.frontier_planes = Some(geometry.frontier_planes);
            config.ftl.gc_pages_in_flight = Some(engine.gc_pages_in_flight);
            config.controller.buffered_pages = Some(engine.buffered_pages);
        }
        let dram = DramAssembly::new(drive, &geometry, &ftl, &engine)?;
        let firmware = firmware::config(drive)?;
        let power = power::config(drive, &geometry)?;
        let mut sized = tier::sized(drive, &geometry)?;
        if let (Some(part), Some(section)) = (&dram, &mut sized.config.dram)
            && part.cache > 0
            && part.cache != section.capacity.0
        {
            section.cache = Some(Bytes(part.cache));
        }
        config.dram.clone_from(&sized.config.dram);
        config.scm.clone_from(&sized.config.scm);
        let scm = ScmAssembly::new(&sized)?;
        let tier = tier::config(&sized, &geometry, &scm)?;
        config.tier.migrations_in_flight = tier.as_ref().map(|tier| tier.migrations_in_flight);
        let mut reliability = reliability::config(drive, &geometry, seed)?;
        die_failures::add(drive, (&geometry, &ftl), engine.gc_pages_in_flight, &mut reliability.nand)?;
        if ftl.stream_choice.knows_clean() && tier.is_some() {
            return Err(drive.error_at("ftl.streams", "keeps clean data apart, which only a drive of flash alone does"));
        }
        if ftl.translation_units > 0 {
            check_map(drive, geometry.unit_bytes)?;
            table_bytes += u64::from(ftl.logical_units) * MAP_BYTES_PER_UNIT;
        }
        check_breakdown(drive, &ftl, tier.is_some())?;
        parity::check(drive, &ftl)?;
        copyback::check(drive, &ftl)?;
        slc_cache::check(drive, &ftl)?;
        forwarding::check(drive, &ftl, tier.is_some())?;
        let pages = if tier.is_none() { 0 } else { ftl.logical_units.max(scm.lowest().map_or(0, |shape| shape.slots)) };
        table_bytes += memory::check_scm(&scm, pages, &engine)?;
        let assembly = Self {
            config,
            geometry,
            ftl,
            timing,
            wear,
            engine,
            scm,
            dram,
            firmware,
            power,
            tier,
            reliability,
            seed,
            table_bytes,
        };
        assembly.check_namespaces(drive)?;
        Ok(assembly)
    }

    /// The prepared drive lay on shelves before the run: what it holds is older.
    ///
    /// # Errors
    /// [`Error::Input`] where the temperature of one says nothing to the drive.
    pub fn lay_on(&mut self, shelves: &[Shelf]) -> Result<(), Error> {
        match &self.config.nand {
            Some(nand) if !shelves.is_empty() => shelf::lay_on(&mut self.reliability.nand, nand, shelves),
            _ => Ok(()),
        }
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
        let cache = self.dram.as_ref().map_or(0, |dram| dram.cache);
        self.geometry.raw_bytes() + self.scm.raw_sectors() * SECTOR_BYTES - cache
    }

    /// Host sectors of the drive [512 B].
    pub fn logical_sectors(&self) -> u64 {
        self.logical_bytes() / SECTOR_BYTES
    }

    /// What a reader of the result must know about a drive whose spare blocks are mostly frontiers and reserve:
    /// on small drives these, whose number does not shrink with the drive, eat the over-provisioning.
    pub fn spare_note(&self) -> Option<String> {
        let geometry = &self.geometry;
        if geometry.pools() == 0 || self.ftl.zones.is_some() || self.ftl.block_map.is_some() {
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
        if let Some(dram) = &self.dram {
            device.set_dram(&dram.bus);
        }
        if let Some(firmware) = &self.firmware {
            device.set_firmware(firmware);
        }
        if let Some(power) = &self.power {
            device.set_power(power);
        }
        device.set_map(&self.config.ftl.map);
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
            let (first_plane, planes) = (geometry.first_plane_of_pool(pool), geometry.frontier_planes);
            for (die, member) in geometry.dies_of_group(group).zip(0..) {
                let programmed = geometry.pages_of_member(record.programmed, member);
                for plane in 0..planes {
                    let pages = programmed / planes + u32::from(plane < programmed % planes);
                    nand.set_programmed_pages(die, first_plane + plane, block, pages, record.erase_count);
                }
            }
        }
        Ok(nand)
    }
}

/// The key by which blocks break, and its value.
fn key_of_breakdown(breakdown: &BreakdownConfig, nand: &NandConfig) -> (&'static str, String) {
    match &nand.wear_out {
        Some(law) => ("nand.wear_out", law.name().to_owned()),
        None if breakdown.program_failures > 0.0 => ("nand.program_failures", breakdown.program_failures.to_string()),
        None if breakdown.erase_failures > 0.0 => ("nand.erase_failures", breakdown.erase_failures.to_string()),
        None => ("nand.factory_bad_blocks", breakdown.factory_bad_blocks.to_string()),
    }
}

/// What blocks that break do not go with, yet: writes that the host is not told of would have to be refused.
fn check_breakdown(drive: &LoadedDrive, ftl: &FtlConfig, has_tier: bool) -> Result<(), Error> {
    let (Some(breakdown), Some(nand)) = (&ftl.breakdown, &drive.config.nand) else { return Ok(()) };
    let (key, value) = key_of_breakdown(breakdown, nand);
    let message = "blocks that break are modelled on drives of flash alone, all of whose map is in memory";
    if has_tier {
        let placement = ("tier.placement", drive.config.tier.placement.name().to_owned());
        return Err(drive.error_between(&[(key, value), placement], message));
    }
    if ftl.translation_units > 0 {
        let map = ("ftl.map", drive.config.ftl.map.name().to_owned());
        return Err(drive.error_between(&[(key, value), map], message));
    }
    if drive.config.zns.is_some() {
        let message =
            "a zone whose block fails would become read-only, which is not modelled: a drive has one of the two";
        return Err(drive.error_between(&[(key, value), ("zns", "given".to_owned())], message));
    }
    if !ftl.homes.is_empty() {
        let message =
            "which channels are full for a kind of data does not know blocks that break: a drive has one of the two";
        return Err(drive.error_between(&[(key, value), ("ftl.stream_channels", "given".to_owned())], message));
    }
    Ok(())
}

/// What a map that lies in flash does not go with.
fn check_map(drive: &LoadedDrive, unit_bytes: u32) -> Result<(), Error> {
    let map = || ("ftl.map", drive.config.ftl.map.name().to_owned());
    let placement = &drive.config.tier.placement;
    if placement.chosen().has_upper() && !placement.chosen().is_cache() {
        let message =
            "of drives of two media, caches alone (`wb`, `rewritten`, `read-cache`) have a map that lies in flash";
        return Err(drive.error_between(&[map(), ("tier.placement", placement.name().to_owned())], message));
    }
    let has_code = drive.config.nand.as_ref().is_some_and(|nand| nand.ecc.is_some());
    let rules = drive.config.ftl.map.chosen().rules();
    if let Some(size) =
        rules.and_then(|rules| rules.fetch_size).filter(|size| has_code && size.0 < u64::from(unit_bytes))
    {
        let values = [("ftl.map.fetch_size", size.to_string()), ("nand.ecc", "given".to_owned())];
        return Err(drive.error_between(&values, "under a code pages of the map are read whole"));
    }
    Ok(())
}

/// The tables that a drive's placement works with are there, and no others.
fn check_media(drive: &LoadedDrive) -> Result<(), Error> {
    let config = &drive.config;
    let placement = &config.tier.placement;
    let (has_upper, below) = (placement.chosen().has_upper(), placement.chosen().below());
    let uses_flash = !has_upper || below == Below::Flash;
    if let Some(dram) = &config.dram {
        if config.scm.is_some() {
            return Err(drive.error_at("dram", "is there, and [scm] too: one memory lies above another medium"));
        }
        let is_used = dram.cache.is_some() || dram.write_buffer || dram.read_data || dram.map;
        if !placement.chosen().is_cache() && !is_used {
            let message = format!(
                "is there, and tier.placement = \"{}\" makes no cache of it: `wb`, `rewritten`, `read-cache` and `nv-wb` do; without one, set \
                 dram.write_buffer, dram.read_data or dram.map",
                placement.name()
            );
            return Err(drive.error_at("dram", &message));
        }
    }
    let tables = [
        ("geometry", config.geometry.is_some(), uses_flash),
        ("nand", config.nand.is_some(), uses_flash),
        ("scm", config.scm.is_some() || (config.dram.is_some() && placement.chosen().is_cache()), has_upper),
        ("storage_scm", config.storage_scm.is_some(), below == Below::Scm),
    ];
    let name = placement.name();
    if let Some((table, ..)) = tables.iter().find(|(_, is_there, is_used)| *is_used && !is_there) {
        if name == PlacementConfig::default().name() {
            return Err(flash::no_table(drive, table));
        }
        let or_dram = if *table == "scm" && placement.chosen().is_cache() { " or [dram]" } else { "" };
        let message = format!("is `{name}`, which needs the table [{table}]{or_dram}");
        return Err(drive.error_at("tier.placement", &message));
    }
    match tables.iter().find(|(_, is_there, is_used)| *is_there && !is_used) {
        Some((table, ..)) => {
            let message = format!("is there, and tier.placement = \"{name}\" does not use it");
            Err(drive.error_at(table, &message))
        }
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

/// What a reader must know about a map that lies in flash and fits memory whole: nothing of it ever leaves.
pub fn map_note(assembly: &Assembly) -> Option<String> {
    let rules = assembly.config.ftl.map.chosen().rules()?;
    let units = u64::from(assembly.ftl.logical_units);
    let entries = assembly.ftl.translation_entries;
    let whole = match rules.policy.cached_by() {
        CachedBy::Entry => units * u64::from(rules.policy.item_bytes(1, 1)),
        CachedBy::Page => {
            u64::from(assembly.ftl.translation_units) * u64::from(rules.policy.item_bytes(entries, entries))
        }
    };
    (rules.size.0 >= whole).then(|| {
        format!(
            "all of the map takes no more than {} as `{}`, and ftl.map.size is {}: nothing of it ever leaves memory",
            Bytes(whole),
            assembly.config.ftl.map.name(),
            rules.size
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
