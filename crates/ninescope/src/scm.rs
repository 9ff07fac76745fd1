//! From the description of storage-class memory to its parts.

use ninescope_engine::ScmPart;
use ninescope_ftl::policies::SectorWearLevelingConfig;
use ninescope_kernel::{Ns, Rate};
use ninescope_media::scm::{PulseOrder, Scm, ScmTiming};
use ninescope_model::{SECTOR_BYTES, ScmGeometry};

use crate::config::{LoadedDrive, PulseOrderConfig, ScmConfig};
use crate::error::Error;

/// Everything the storage-class memory of a drive is made of.
#[derive(Clone, Debug)]
pub struct ScmAssembly {
    /// Its shape.
    pub shape: ScmGeometry,
    /// Its time constants.
    pub timing: ScmTiming,
    /// How its wear is levelled.
    pub wear_leveling: SectorWearLevelingConfig,
}

impl ScmAssembly {
    /// Checks the table `[scm]` and derives the parts.
    ///
    /// # Errors
    /// [`Error::Input`] that names the key at fault.
    pub fn new(drive: &LoadedDrive) -> Result<Self, Error> {
        let Some(config) = &drive.config.scm else { return Err(drive.error("missing field `scm`")) };
        let shape = shape(drive, config)?;
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
        };
        timing.check().map_err(|error| drive.error_at(&format!("scm.{}", error.key), &error.message))?;
        if config.endurance_writes == Some(0) {
            return Err(drive.error_at("scm.endurance_writes", "must not be zero"));
        }
        if let Some(cost) = config.bit_cost.filter(|cost| !(cost.is_finite() && *cost > 0.0)) {
            let message = format!("is {cost}, it must be a finite number greater than 0");
            return Err(drive.error_at("scm.bit_cost", &message));
        }
        Ok(Self { shape, timing, wear_leveling: config.wear_leveling.clone() })
    }

    /// Idle memory that was never written.
    ///
    /// # Errors
    /// [`Error::Internal`]: the timing was checked before.
    pub fn part(&self) -> Result<ScmPart, Error> {
        let media = Scm::new(&self.shape, &self.timing).map_err(|error| Error::Internal(error.to_string()))?;
        Ok(ScmPart::new(self.shape, media, &self.wear_leveling))
    }

    /// Bytes of the tables: wear of every sector, now and when measuring began, and what wear levelling keeps [B].
    pub fn table_bytes(&self) -> u64 {
        let maps = self.wear_leveling.table_bytes(self.shape.logical_sectors_per_bank());
        self.shape.raw_sectors() * 8 + u64::from(self.shape.banks()) * maps
    }
}

fn shape(drive: &LoadedDrive, config: &ScmConfig) -> Result<ScmGeometry, Error> {
    let (capacity, slot) = (config.capacity.0, config.slot_size.0);
    if slot == 0 || !slot.is_multiple_of(SECTOR_BYTES) {
        return Err(drive.error_at("scm.slot_size", &format!("is {slot} B, it must be 512 B x 2^n")));
    }
    if !capacity.is_multiple_of(slot) {
        let message = format!("is {capacity} B, which is no whole number of slots of {slot} B");
        return Err(drive.error_at("scm.capacity", &message));
    }
    let slots = u32::try_from(capacity / slot)
        .map_err(|_| drive.error_at("scm.capacity", &format!("makes {} slots, more than 2^32", capacity / slot)))?;
    if let Some((key, message)) = config.wear_leveling.problem() {
        return Err(drive.error_at(&format!("scm.wear_leveling.{key}"), &message));
    }
    let checked = |spare| {
        let sectors = u32::try_from(slot / SECTOR_BYTES).unwrap_or(u32::MAX);
        ScmGeometry::checked(config.channels, config.banks_per_channel, slots, sectors, spare)
            .map_err(|error| drive.error_at(&format!("scm.{}", error.key), &error.message))
    };
    // How many sectors are spare follows from how many a bank has.
    let without_spare = checked(0)?;
    checked(config.wear_leveling.spare_sectors(without_spare.logical_sectors_per_bank()))
}
