//! What the parts of a world's drive draw.

use ninescope::config::{DriveConfig, PowerSection, PowerStateSection};
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
    };
    put_at(drive, "power", toml::Value::try_from(power).expect("powers are TOML"));
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
