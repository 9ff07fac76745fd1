//! From the description of storage-class memory to its parts.

use ninescope_engine::ScmPart;
use ninescope_ftl::policies::SectorWearLevelingConfig;
use ninescope_kernel::{Ns, Rate};
use ninescope_media::ParameterError;
use ninescope_media::health::Health;
use ninescope_media::scm::{CopyPath, ProgramVerify, ProgramVerifyConfig, PulseOrder, Scm, ScmTiming, WrittenCells};
use ninescope_model::units::Bytes;
use ninescope_model::{SECTOR_BYTES, SECTORS_PER_SLOT_MAX, ScmGeometry};

use crate::config::{CopyPathConfig, LoadedDrive, PulseOrderConfig, ScmConfig};
use crate::error::Error;

/// One medium of storage-class memory.
#[derive(Clone, Debug)]
pub struct ScmMedium {
    /// Its shape.
    pub shape: ScmGeometry,
    /// Its time constants.
    pub timing: ScmTiming,
    /// How its wear is levelled.
    pub wear_leveling: SectorWearLevelingConfig,
    /// How its writes are verified.
    pub verify: Option<ProgramVerifyConfig>,
    /// What a sector write writes.
    pub cells: WrittenCells,
}

/// Everything the storage-class memory of a drive is made of: no medium, one, or one above the other.
#[derive(Clone, Debug, Default)]
pub struct ScmAssembly {
    /// The media, the upper one first.
    pub media: Vec<ScmMedium>,
}

impl ScmAssembly {
    /// Checks the tables `[scm]` and `[storage_scm]`, as far as they are there, and derives the parts.
    ///
    /// # Errors
    /// [`Error::Input`] that names the key at fault.
    pub fn new(drive: &LoadedDrive) -> Result<Self, Error> {
        let dram = dram_as_memory(drive)?;
        let tables = [("dram", &dram), ("scm", &drive.config.scm), ("storage_scm", &drive.config.storage_scm)];
        let media = tables.into_iter().filter_map(|(table, config)| config.as_ref().map(|config| (table, config)));
        let media = media.map(|(table, config)| ScmMedium::new(drive, table, config));
        Ok(Self { media: media.collect::<Result<_, _>>()? })
    }

    /// Idle memory that was never written; `seed` decides what chance does in it.
    ///
    /// # Errors
    /// [`Error::Internal`]: all of it was checked before.
    pub fn part(&self, seed: u64) -> Result<ScmPart, Error> {
        let timings: Vec<_> = self.media.iter().map(|medium| (medium.shape, medium.timing)).collect();
        let shapes: Vec<_> = self.media.iter().map(|medium| (medium.shape, medium.wear_leveling.clone())).collect();
        let mut media = Scm::of_media(&timings).map_err(|error| Error::Internal(error.to_string()))?;
        for (index, medium) in self.media.iter().enumerate() {
            if let Some(policy) = medium.verify_policy().map_err(|error| Error::Internal(error.to_string()))? {
                media = media.with_verify(index, policy, seed);
            }
        }
        Ok(ScmPart::new(&shapes, media))
    }

    /// The shape of the upper medium, or of the only one.
    pub fn upper(&self) -> Option<&ScmGeometry> {
        self.media.first().map(|medium| &medium.shape)
    }

    /// The medium that holds what the host addresses, where that is memory: the lower one of two.
    pub fn lowest(&self) -> Option<&ScmGeometry> {
        self.media.last().map(|medium| &medium.shape)
    }

    /// Sectors there are of these, spare ones included; a cache in DRAM is no place where data stays.
    pub fn raw_sectors(&self) -> u64 {
        self.media.iter().map(|medium| medium.shape.raw_sectors()).sum()
    }

    /// Bytes of the tables: wear of every sector, and what wear levelling keeps [B].
    pub fn table_bytes(&self) -> u64 {
        self.media.iter().map(ScmMedium::table_bytes).sum()
    }
}

impl ScmMedium {
    fn new(drive: &LoadedDrive, table: &str, config: &ScmConfig) -> Result<Self, Error> {
        let shape = shape(drive, table, config)?;
        let timing = ScmTiming {
            read: Ns(config.read.0),
            set: Ns(config.set.0),
            reset: Ns(config.reset.0),
            pulse_order: match config.pulse_order {
                PulseOrderConfig::Together => PulseOrder::Together,
                PulseOrderConfig::InTurn => PulseOrder::InTurn,
            },
            command_address: Ns(config.command_address.0),
            channel_rate: Rate(config.channel_rate.0),
            copies: match config.wear_leveling_copies {
                CopyPathConfig::ThroughController => CopyPath::ThroughController,
                CopyPathConfig::InMemory => CopyPath::InMemory,
            },
        };
        timing.check().map_err(|error| drive.error_at(&format!("{table}.{}", error.key), &error.message))?;
        if config.endurance_writes == Some(0) {
            return Err(drive.error_at(&format!("{table}.endurance_writes"), "must not be zero"));
        }
        if let Some(cost) = config.bit_cost.filter(|cost| !(cost.is_finite() && *cost > 0.0)) {
            let message = format!("is {cost}, it must be a finite number greater than 0");
            return Err(drive.error_at(&format!("{table}.bit_cost"), &message));
        }
        let medium = Self {
            shape,
            timing,
            wear_leveling: config.wear_leveling.clone(),
            verify: config.verify.clone(),
            cells: written_cells(config),
        };
        medium
            .verify_policy()
            .map_err(|error| drive.error_at(&format!("{table}.verify.{}", error.key), &error.message))?;
        Ok(medium)
    }

    /// How writes are verified, if they are. It says what is left of bit errors.
    ///
    /// # Errors
    /// Names the parameter that makes no sense.
    pub fn verify_policy(&self) -> Result<Option<Box<dyn ProgramVerify>>, ParameterError> {
        let cells = self.cells;
        self.verify.as_ref().map(|config| config.build(&cells)).transpose()
    }

    /// Wear of every sector, now and when measuring began, and what wear levelling keeps [B].
    fn table_bytes(&self) -> u64 {
        let maps = self.wear_leveling.chosen().table_bytes(self.shape.logical_sectors_per_bank());
        self.shape.raw_sectors() * 8 + u64::from(self.shape.banks()) * maps
    }
}

/// The cache of a drive as the memory that it is for the engine: its slots are the pages of what is below.
fn dram_as_memory(drive: &LoadedDrive) -> Result<Option<ScmConfig>, Error> {
    let Some(dram) = drive.config.dram.as_ref().filter(|_| drive.config.tier.placement.chosen().is_cache()) else {
        return Ok(None);
    };
    if dram.banks == 0 {
        return Err(drive.error_at("dram.banks", "must not be zero"));
    }
    let of_flash = drive.config.geometry.as_ref().map(|geometry| geometry.page_size);
    let of_memory = drive.config.storage_scm.as_ref().map(|storage| storage.slot_size);
    let page = of_flash.or(of_memory).unwrap_or(Bytes(SECTOR_BYTES));
    let step = page.0.saturating_mul(dram.banks.into());
    let (key, cache) = dram.cache.map_or(("dram.capacity", dram.capacity), |cache| ("dram.cache", cache));
    if cache.0 == 0 || !cache.0.is_multiple_of(step) {
        let values = [(key, cache.to_string()), ("dram.banks", dram.banks.to_string())];
        let message = format!("a cache has a whole number of pages of {page} for each of {} banks", dram.banks);
        return Err(drive.error_between(&values, &message));
    }
    Ok(Some(dram.as_memory(cache, page)))
}

/// The cells of a sector, those of its parity included, and how many of them fail where the description says so. What is
/// wrong with a code or an error model is said elsewhere.
fn written_cells(config: &ScmConfig) -> WrittenCells {
    let scheme = config.ecc.as_ref().and_then(|ecc| ecc.build().ok());
    let model = config.errors.as_ref().and_then(|errors| errors.build().ok());
    WrittenCells {
        count: scheme.map_or(SECTOR_BYTES as u32 * 8, |scheme| scheme.codeword_bits()),
        rber: model.map(|model| model.rber(&Health::default())),
    }
}

/// Checks the shape of a memory whose capacity is not known yet, at one slot per bank: what is wrong with that is wrong
/// with any.
///
/// # Errors
/// [`Error::Input`] that names the key at fault.
pub fn check_shape_without_capacity(drive: &LoadedDrive, table: &str, config: &ScmConfig) -> Result<(), Error> {
    let banks = u64::from(config.channels).saturating_mul(config.banks_per_channel.into()).clamp(1, 1 << 20);
    let capacity = Bytes(config.slot_size.0.saturating_mul(banks));
    check_shape(drive, table, &ScmConfig { capacity, ..config.clone() })
}

/// Checks the shape of a memory.
///
/// # Errors
/// [`Error::Input`] that names the key at fault.
pub fn check_shape(drive: &LoadedDrive, table: &str, config: &ScmConfig) -> Result<(), Error> {
    shape(drive, table, config).map(drop)
}

fn shape(drive: &LoadedDrive, table: &str, config: &ScmConfig) -> Result<ScmGeometry, Error> {
    let at = |key: &str| format!("{table}.{key}");
    let (capacity, slot) = (config.capacity.0, config.slot_size.0);
    if slot == 0 || !slot.is_multiple_of(SECTOR_BYTES) {
        return Err(drive.error_at(&at("slot_size"), &format!("is {slot} B, it must be 512 B x 2^n")));
    }
    if slot > u64::from(SECTORS_PER_SLOT_MAX) * SECTOR_BYTES {
        let most = u64::from(SECTORS_PER_SLOT_MAX) * SECTOR_BYTES;
        return Err(drive.error_at(&at("slot_size"), &format!("is {slot} B, at most {most} B are supported")));
    }
    if !capacity.is_multiple_of(slot) {
        let message = format!("is {capacity} B, which is no whole number of slots of {slot} B");
        return Err(drive.error_at(&at("capacity"), &message));
    }
    let slots = u32::try_from(capacity / slot)
        .map_err(|_| drive.error_at(&at("capacity"), &format!("makes {} slots, more than 2^32", capacity / slot)))?;
    if let Some((key, message)) = config.wear_leveling.chosen().problem() {
        return Err(drive.error_at(&at(&format!("wear_leveling.{key}")), &message));
    }
    let checked = |spare| {
        let sectors = u32::try_from(slot / SECTOR_BYTES).unwrap_or(u32::MAX);
        ScmGeometry::checked(config.channels, config.banks_per_channel, slots, sectors, spare)
            .map_err(|error| drive.error_at(&at(error.key), &error.message))
    };
    // How many sectors are spare follows from how many a bank has.
    let without_spare = checked(0)?;
    checked(config.wear_leveling.chosen().spare_sectors(without_spare.logical_sectors_per_bank()))
}
