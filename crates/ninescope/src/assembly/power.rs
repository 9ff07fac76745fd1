//! What the parts of a drive draw: what is wrong with the table `[power]`, and the engine's part made of it.

use ninescope_engine::PowerConfig;
use ninescope_kernel::Ns;
use ninescope_model::Geometry;
use ninescope_model::units::{Femtojoules, Microwatts};

use crate::config::LoadedDrive;
use crate::error::Error;

/// The most that a part draws.
const POWER_MAX: Microwatts = Microwatts(1_000_000_000);
/// The most that a byte takes.
const ENERGY_MAX: Femtojoules = Femtojoules(1_000_000_000_000);

/// What the parts of a drive draw; `None` where it is not told.
///
/// # Errors
/// [`Error::Input`] that names the key at fault.
pub fn config(drive: &LoadedDrive, geometry: &Geometry) -> Result<Option<PowerConfig>, Error> {
    let Some(power) = &drive.config.power else { return Ok(None) };
    for (key, value) in power.powers() {
        if value > POWER_MAX {
            return Err(drive.error_at(key, &format!("is {value}, at most {POWER_MAX} is supported")));
        }
    }
    for (key, value) in power.energies() {
        if value > ENERGY_MAX {
            return Err(drive.error_at(key, &format!("is {value}, at most {ENERGY_MAX} is supported")));
        }
    }
    if power.window.0 == 0 {
        return Err(drive.error_at("power.window", "must not be zero"));
    }
    check_parts(drive)?;
    let (of_dram, of_scm) = ([power.dram_byte.0; 2], [power.scm_read_byte.0, power.scm_write_byte.0]);
    Ok(Some(PowerConfig {
        die: [power.die_read.0, power.die_program.0, power.die_erase.0],
        die_suspend: power.die_suspend.map(|power| power.0),
        channel_byte: power.channel_byte.0,
        dram_byte: power.dram_byte.0,
        bank_bytes: [if drive.config.dram.is_some() { of_dram } else { of_scm }, of_scm],
        core: power.core.0,
        command_cost: Ns(drive.config.controller.command_cost.0),
        at_rest: power.controller.0 + power.die_standby.0 * u64::from(geometry.dies()) + power.dram.0 + power.scm.0,
        window: Ns(power.window.0),
    }))
}

/// Nothing is said of what the drive has not.
fn check_parts(drive: &LoadedDrive) -> Result<(), Error> {
    let (config, none) = (&drive.config, "is given, and the drive has none");
    let Some(power) = &config.power else { return Ok(()) };
    let has_scm = config.scm.is_some() || config.storage_scm.is_some();
    let given = |key: &str| {
        power.powers().iter().any(|(name, value)| *name == key && value.0 > 0)
            || power.energies().iter().any(|(name, value)| *name == key && value.0 > 0)
    };
    let of_dies = ["die_read", "die_program", "die_erase", "die_suspend", "die_standby", "channel_byte"];
    let parts = [
        (config.geometry.is_some(), &of_dies[..], "flash"),
        (config.dram.is_some(), &["dram", "dram_byte"], "[dram]"),
        (has_scm, &["scm", "scm_read_byte", "scm_write_byte"], "[scm]"),
    ];
    for (is_there, keys, part) in parts {
        let key = keys.iter().map(|key| format!("power.{key}")).find(|key| given(key));
        if let Some(key) = key.filter(|_| !is_there) {
            return Err(drive.error_at(&key, &format!("{none}: there is no {part}")));
        }
    }
    Ok(())
}
