//! The firmware's cores: what is wrong with the table `[firmware]`, and the engine's part made of it.

use ninescope_engine::FirmwareConfig;
use ninescope_kernel::Rate;
use ninescope_tier::policies::Below;

use crate::config::LoadedDrive;
use crate::error::Error;

/// The most cores that are supported.
const CORES_MAX: u32 = 1_024;
/// The slowest clock, so that a step ends within the run's range of times [Hz].
const CLOCK_MIN: u64 = 1_000;
/// The most cycles of a step.
const CYCLES_MAX: u32 = 1_000_000_000;

/// What a reader must know about cores that have nothing to do.
pub fn firmware_note(firmware: Option<&FirmwareConfig>) -> Option<String> {
    firmware.is_some_and(|firmware| firmware.cycles.iter().all(|&cycles| cycles == 0)).then(|| {
        "firmware changes nothing: no decision takes cycles (firmware.command, look_up, allocation, transaction, victim, move)".to_owned()
    })
}

/// The cores of a drive; `None` where its decisions take no time.
///
/// # Errors
/// [`Error::Input`] that names the key at fault.
pub fn config(drive: &LoadedDrive) -> Result<Option<FirmwareConfig>, Error> {
    let Some(firmware) = &drive.config.firmware else { return Ok(None) };
    let placement = &drive.config.tier.placement;
    if placement.chosen().has_upper() || placement.chosen().below() != Below::Nothing {
        let message = format!(
            "is there, and tier.placement is `{}`: firmware has cores on drives of flash alone",
            placement.name()
        );
        return Err(drive.error_at("firmware", &message));
    }
    if firmware.cores == 0 {
        return Err(drive.error_at("firmware.cores", "must not be zero"));
    }
    if firmware.cores > CORES_MAX {
        let message = format!("is {}, at most {CORES_MAX} are supported", firmware.cores);
        return Err(drive.error_at("firmware.cores", &message));
    }
    if firmware.clock.0 < CLOCK_MIN {
        let message = format!("is {}, at least {CLOCK_MIN} Hz are needed", firmware.clock);
        return Err(drive.error_at("firmware.clock", if firmware.clock.0 == 0 { "must not be zero" } else { &message }));
    }
    for (key, cycles) in firmware.cycles() {
        if cycles > CYCLES_MAX {
            return Err(drive.error_at(key, &format!("is {cycles}, at most {CYCLES_MAX} cycles are supported")));
        }
    }
    Ok(Some(FirmwareConfig {
        cores: firmware.cores,
        clock: Rate(firmware.clock.0),
        dealing: firmware.dealing,
        cycles: firmware.cycles().map(|(_, cycles)| cycles),
    }))
}
