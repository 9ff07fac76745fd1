//! What the parts of a world's drive draw.

use ninescope::config::{DriveConfig, HeatSection, PowerSection, PowerStateSection, ThrottleSection};
use ninescope_model::units::{Duration, Femtojoules, Microwatts};

use super::dice::Dice;
use super::keys::put_at;

/// Some drives tell what they draw, each part of it or not.
pub(super) fn add(dice: &mut Dice, drive: &mut toml::Table) {
    let Ok(config) = drive.clone().try_into::<DriveConfig>() else { return };
    if !dice.chance(40) {
        return;
    }
    let has_scm = config.scm.is_some() || config.storage_scm.is_some();
    let mut some = |is_there: bool, most| {
        let number = if dice.chance(70) { u64::from(dice.small(1, most)) } else { 0 };
        if is_there { number } else { 0 }
    };
    let (flash, dram) = (config.geometry.is_some(), config.dram.is_some());
    let [die_read, die_program, die_erase, die_standby] =
        [200_000, 200_000, 200_000, 100].map(|most| Microwatts(some(flash, most)));
    let [controller, core, of_dram, of_scm] = [(true, 9_000_000), (true, 900_000), (dram, 500_000), (has_scm, 500_000)]
        .map(|(is_there, most)| Microwatts(some(is_there, most)));
    let [channel_byte, dram_byte, scm_read_byte, scm_write_byte] =
        [(flash, 200_000), (dram, 90_000), (has_scm, 50_000), (has_scm, 300_000)]
            .map(|(is_there, most)| Femtojoules(some(is_there, most)));
    let die_suspend = (flash && dice.chance(50)).then(|| Microwatts(u64::from(dice.small(0, 200_000))));
    // On some few dies work at a time.
    let most = [die_read, die_program, die_erase].into_iter().max().unwrap_or_default().0;
    let dies = config.geometry.map_or(0, |shape| shape.channels * shape.packages_per_channel * shape.dies_per_package);
    let at_rest = controller.0 + of_dram.0 + of_scm.0 + die_standby.0 * u64::from(dies);
    let cap = (flash && dice.chance(50)).then(|| at_rest + most + dice.between(0, most * u64::from(dies.min(3))));
    let die_suspend =
        die_suspend.map(|power| power.min(if cap.is_some() { die_program.min(die_erase) } else { power }));
    // Long enough that a run has not too many of them.
    let window = Duration(dice.between(50_000, 50_000_000));
    let power = PowerSection {
        die_read,
        die_program,
        die_erase,
        die_suspend,
        die_standby,
        channel_byte,
        controller,
        core,
        dram: of_dram,
        dram_byte,
        scm: of_scm,
        scm_read_byte,
        scm_write_byte,
        cap: cap.map(Microwatts),
        window,
        states: Vec::new(),
        heat: None,
    };
    put_at(drive, "power", toml::Value::try_from(power).expect("powers are TOML"));
}

/// Some of them warm themselves, most of these so fast that they are throttled now and then.
pub(super) fn add_heat(dice: &mut Dice, drive: &mut toml::Table) {
    let Ok(DriveConfig { power: Some(power), geometry, .. }) = drive.clone().try_into::<DriveConfig>() else { return };
    if !dice.chance(50) {
        return;
    }
    let dies = geometry.map_or(0, |shape| shape.channels * shape.packages_per_channel * shape.dies_per_package);
    let at_rest = power.controller.0 + power.dram.0 + power.scm.0 + power.die_standby.0 * u64::from(dies);
    let of_die = [power.die_read, power.die_program, power.die_erase].into_iter().max().unwrap_or_default().0;
    // What it comes to at rest, and with most of the dies and some of what they move beside.
    let at_work = at_rest + of_die * u64::from(dies) * 3 / 4 + 100_000;
    let resistance = (dice.between(5, 100) as f64 * 1e6 / at_work as f64 * 1e3).round().min(1e6) / 1e3;
    let kelvin = |microwatts: u64| microwatts as f64 / 1e6 * resistance;
    let (cool, hot) = (kelvin(at_rest), kelvin(at_work));
    let ambient = f64::from(dice.small(0, 40));
    let celsius = |dice: &mut Dice, from: f64, to: f64| {
        let above = from + (to - from) * dice.between(1, 1_000) as f64 / 1_000.0;
        ((ambient + above) * 1e3).round() / 1e3
    };
    let time_constant = dice.between(50_000, 20_000_000);
    let window = Duration((time_constant / dice.between(2, 200)).max(5_000));
    let mut throttle = Vec::new();
    let most = power.cap.map_or(at_rest + of_die * u64::from(dies), |cap| cap.0.saturating_sub(1));
    // It is no cooler than at rest, so that most steps end when fewer dies work.
    let (mut from, mut least, mut cap) = (cool + (hot - cool) * 0.2, cool + (hot - cool) * 0.1, most);
    // As `power.cap` asks for.
    let suspends = power.die_suspend.is_none_or(|suspend| suspend <= power.die_program.min(power.die_erase));
    let wanted = if geometry.is_some() && of_die > 0 && suspends && dice.chance(80) { dice.between(1, 3) } else { 0 };
    for _ in 0..wanted {
        if cap < at_rest + of_die || hot <= from {
            break;
        }
        let above = celsius(dice, from, from + (hot - from) / 2.0);
        let until = celsius(dice, least, above - ambient).min(above);
        let one = at_rest + of_die;
        let of_step = if dice.chance(50) { dice.between(one, one + (cap - one) / 4) } else { dice.between(one, cap) };
        // Hotter than flash bears is refused.
        if above > 140.0 || until <= ambient {
            break;
        }
        throttle.push(ThrottleSection { above, until, cap: Microwatts(of_step) });
        (from, least, cap) = (above - ambient + 0.001, until - ambient, of_step - 1);
    }
    let begins_at = dice.chance(50).then(|| celsius(dice, 0.0, hot).min(145.0));
    let time_constant = Duration(time_constant);
    let heat = HeatSection { ambient, resistance, time_constant, begins_at, window, throttle };
    put_at(drive, "power.heat", toml::Value::try_from(heat).expect("heat is TOML"));
}

/// Some of them go into states of less power while they have nothing to do.
pub(super) fn add_states(dice: &mut Dice, drive: &mut toml::Table) {
    let Ok(DriveConfig { power: Some(power), geometry, .. }) = drive.clone().try_into::<DriveConfig>() else { return };
    if !dice.chance(50) {
        return;
    }
    let dies = geometry.map_or(0, |shape| shape.channels * shape.packages_per_channel * shape.dies_per_package);
    let of_dies = power.die_standby.0 * u64::from(dies);
    let (mut most, mut earliest) = (power.controller.0 + power.dram.0 + power.scm.0 + of_dies, 0);
    let states: Vec<PowerStateSection> = (0..dice.between(1, 3))
        .map(|_| {
            most = dice.between(0, most);
            let (after, enter) = (earliest + dice.between(0, 300_000), dice.between(0, 100_000));
            earliest = after + enter;
            let leave = Duration(dice.between(0, 200_000));
            PowerStateSection { after: Duration(after), power: Microwatts(most), enter: Duration(enter), leave }
        })
        .collect();
    let states = states.into_iter().map(|state| toml::Value::try_from(state).expect("a state is TOML")).collect();
    put_at(drive, "power.states", toml::Value::Array(states));
}
