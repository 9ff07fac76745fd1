//! What the parts of a drive draw: what is wrong with the table `[power]`, and the engine's part made of it.

use ninescope_engine::{HeatConfig, PowerConfig, PowerState, ThrottleStep};
use ninescope_kernel::Ns;
use ninescope_media::health::CELSIUS;
use ninescope_model::Geometry;
use ninescope_model::units::{Duration, Femtojoules, Microwatts};

use crate::config::{HeatSection, LoadedDrive, PowerSection, PowerStateSection, ThrottleSection};
use crate::error::Error;

/// The most that a part draws.
const POWER_MAX: Microwatts = Microwatts(1_000_000_000);
/// The longest that a drive rests before it enters a state, and takes to enter or leave it: a day.
const STATE_TIME_MAX: Duration = Duration(24 * 3_600 * 1_000_000_000);
/// The most that a watt warms a drive: even a grain of sand has less [K/W].
const RESISTANCE_MAX: f64 = 1_000.0;
/// The longest that it takes to warm up.
const TIME_CONSTANT_MAX: Duration = Duration(30 * 24 * 3_600 * 1_000_000_000);
/// How often it is measured at least, and at most in its time constant.
const WINDOW_MAX: Duration = Duration(3_600 * 1_000_000_000);
const WINDOWS_MAX: u64 = 1_000_000;
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
    let at_rest = at_rest(power, geometry);
    if let Some(cap) = power.cap {
        check_cap(drive, "power.cap", cap, at_rest)?;
    }
    check_states(drive, power, Microwatts(at_rest))?;
    let heat = power.heat.as_ref().map(|heat| heat_config(drive, heat, at_rest)).transpose()?;
    let (of_dram, of_scm) = ([power.dram_byte.0; 2], [power.scm_read_byte.0, power.scm_write_byte.0]);
    Ok(Some(PowerConfig {
        die: [power.die_read.0, power.die_program.0, power.die_erase.0],
        die_suspend: power.die_suspend.map(|power| power.0),
        channel_byte: power.channel_byte.0,
        dram_byte: power.dram_byte.0,
        bank_bytes: [if drive.config.dram.is_some() { of_dram } else { of_scm }, of_scm],
        core: power.core.0,
        command_cost: Ns(drive.config.controller.command_cost.0),
        at_rest,
        window: Ns(power.window.0),
        cap: power.cap.map(|cap| cap.0),
        states: power.states.iter().map(state).collect(),
        heat,
    }))
}

fn state(section: &PowerStateSection) -> PowerState {
    let PowerStateSection { after, power, enter, leave } = *section;
    PowerState { after: Ns(after.0), enter: Ns(enter.0), leave: Ns(leave.0), power: power.0 }
}

/// Each state is entered behind the one before it, and draws no more.
fn check_states(drive: &LoadedDrive, power: &PowerSection, at_rest: Microwatts) -> Result<(), Error> {
    let (mut most, mut of_most, mut earliest) = (at_rest, "what the drive draws at rest".to_owned(), Duration(0));
    for (number, state) in power.states.iter().enumerate() {
        let error =
            |what: &str, message: String| Err(drive.error_at(&format!("power.states[{number}].{what}"), &message));
        for (what, time) in [("after", state.after), ("enter", state.enter), ("leave", state.leave)] {
            if time > STATE_TIME_MAX {
                return error(what, format!("is {time}, at most {STATE_TIME_MAX} is supported"));
            }
        }
        if state.power > most {
            return error("power", format!("is {}, more than {of_most} ({most})", state.power));
        }
        if state.after < earliest {
            return error(
                "after",
                format!("is {}, and the state before is not entered before {earliest}", state.after),
            );
        }
        (most, of_most) = (state.power, format!("that of power.states[{number}]"));
        earliest = Duration(state.after.0 + state.enter.0);
    }
    Ok(())
}

/// What all parts draw at any time [uW].
fn at_rest(power: &PowerSection, geometry: &Geometry) -> u64 {
    let of_dies = power.die_standby.0 * u64::from(geometry.dies());
    power.controller.0 + of_dies + power.dram.0 + power.scm.0
}

/// Whatever a die is to do can be done at last.
fn check_cap(drive: &LoadedDrive, key: &str, cap: Microwatts, at_rest: u64) -> Result<(), Error> {
    let Some(power) = &drive.config.power else { return Ok(()) };
    if drive.config.geometry.is_none() {
        let message = "is given, and the drive has no flash: commands of dies are what waits for power";
        return Err(drive.error_at(key, message));
    }
    let of_dies = [
        ("power.die_read", power.die_read),
        ("power.die_program", power.die_program),
        ("power.die_erase", power.die_erase),
    ];
    let Some((of_most, most)) = of_dies.into_iter().max_by_key(|(_, power)| *power) else { return Ok(()) };
    let needed = Microwatts(at_rest + most.0);
    if cap < needed {
        let message = format!(
            "is {cap}, and what the drive draws at rest makes {needed} with {of_most}: at least that is needed for one die to work"
        );
        return Err(drive.error_at(key, &message));
    }
    let least = power.die_program.min(power.die_erase);
    if let Some(suspend) = power.die_suspend.filter(|&suspend| suspend > least) {
        let message = format!(
            "is {suspend}, more than programs or erases draw ({least}): with {key} a die that suspends one draws no more than before"
        );
        return Err(drive.error_at("power.die_suspend", &message));
    }
    Ok(())
}

// ---- heat ----------------------------------------------------------------------------------------------

/// How warm the drive gets.
fn heat_config(drive: &LoadedDrive, heat: &HeatSection, at_rest: u64) -> Result<HeatConfig, Error> {
    let error = |key: &str, message: String| drive.error_at(&format!("power.heat.{key}"), &message);
    let ambient = celsius(drive, "ambient", heat.ambient)?;
    if !(heat.resistance > 0.0 && heat.resistance <= RESISTANCE_MAX) {
        let message = format!("is {}, it must lie above 0 and at {RESISTANCE_MAX} at most", heat.resistance);
        return Err(error("resistance", message));
    }
    let (time, window) = (heat.time_constant, heat.window);
    for (key, value, most) in [("time_constant", time, TIME_CONSTANT_MAX), ("window", window, WINDOW_MAX)] {
        if value.0 == 0 {
            return Err(error(key, "must not be zero".to_owned()));
        }
        if value > most {
            return Err(error(key, format!("is {value}, at most {most} is supported")));
        }
    }
    let least = Duration(time.0.div_ceil(WINDOWS_MAX));
    if window < least {
        return Err(error(
            "window",
            format!("is {window}, at least a {WINDOWS_MAX}th of power.heat.time_constant: {least}"),
        ));
    }
    Ok(HeatConfig {
        ambient,
        resistance: (heat.resistance * 1e6).round() as u64,
        time_constant: Ns(time.0),
        begins_at: heat.begins_at.map_or(Ok(ambient), |begins_at| celsius(drive, "begins_at", begins_at))?,
        window: Ns(window.0),
        throttle: throttle(drive, heat, at_rest)?,
    })
}

/// A temperature between those at which there is flash [millionths of a degree].
fn celsius(drive: &LoadedDrive, key: &str, celsius: f64) -> Result<i64, Error> {
    if !(CELSIUS.0..=CELSIUS.1).contains(&celsius) {
        let message = format!("is {celsius}, it must lie between {} and {}", CELSIUS.0, CELSIUS.1);
        return Err(drive.error_at(&format!("power.heat.{key}"), &message));
    }
    Ok((celsius * 1e6).round() as i64)
}

/// Each step begins warmer than the one before it, ends no cooler, and leaves less power, but enough for one die.
fn throttle(drive: &LoadedDrive, heat: &HeatSection, at_rest: u64) -> Result<Vec<ThrottleStep>, Error> {
    let mut most = drive.config.power.as_ref().and_then(|power| power.cap).map(|cap| (cap, "power.cap".to_owned()));
    let mut before: Option<ThrottleSection> = None;
    let mut steps = Vec::with_capacity(heat.throttle.len());
    for (number, step) in heat.throttle.iter().enumerate() {
        let key = |key: &str| format!("throttle[{number}].{key}");
        let error = |of: &str, message: String| Err(drive.error_at(&format!("power.heat.{}", key(of)), &message));
        let above = celsius(drive, &key("above"), step.above)?;
        let until = celsius(drive, &key("until"), step.until)?;
        if until > above {
            return error("until", format!("is {}, and the step begins above {}", step.until, step.above));
        }
        if step.until <= heat.ambient {
            let message = format!(
                "is {}, and by itself the drive gets no cooler than power.heat.ambient ({})",
                step.until, heat.ambient
            );
            return error("until", message);
        }
        if let Some(before) = before {
            if step.above <= before.above {
                return error("above", format!("is {}, and the step before begins above {}", step.above, before.above));
            }
            if step.until < before.until {
                return error("until", format!("is {}, and the step before ends at {}", step.until, before.until));
            }
        }
        if let Some((most, of)) = most.as_ref().filter(|(most, _)| step.cap >= *most) {
            return error("cap", format!("is {}, no less than {of} ({most})", step.cap));
        }
        check_cap(drive, &format!("power.heat.{}", key("cap")), step.cap, at_rest)?;
        most = Some((step.cap, format!("that of power.heat.throttle[{number}]")));
        before = Some(*step);
        steps.push(ThrottleStep { above, until, cap: step.cap.0 });
    }
    Ok(steps)
}

// ---- parts ---------------------------------------------------------------------------------------------

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
