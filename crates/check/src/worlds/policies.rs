//! Policies of drives with their parameters drawn.

use ninescope::config::DriveConfig;

use super::dice::Dice;

/// Sets a policy with parameters about its defaults. A parameter that the policy refuses goes back to its default.
pub(super) fn set_policy(dice: &mut Dice, drive: &mut toml::Table, key: &str, name: &str) {
    let Some((section, entry)) = key.split_once('.') else { return };
    let Some(section) = drive.get_mut(section).and_then(toml::Value::as_table_mut) else { return };
    section.insert(entry.to_owned(), toml::Value::String(name.to_owned()));
    let Some(mut defaults) = resolved_policy(drive, key) else { return };
    if defaults.contains_key("evict_free") {
        // Left out, it follows from that.
        defaults.insert("evict_stop".to_owned(), 0.0.into());
    }
    if defaults.contains_key("reference_cycles") {
        // Those of verifying that are left out by default.
        for parameter in ["cycles_set", "cycles_reset", "verify_read", "rber"] {
            defaults.insert(parameter.to_owned(), 0.into());
        }
    }
    for (parameter, value) in defaults.iter().filter(|(parameter, _)| *parameter != "policy") {
        let Some(other) = drawn(dice, parameter, value) else { continue };
        let before = drive.clone();
        let mut policy = resolved_policy(drive, key).unwrap_or_else(|| defaults.clone());
        policy.insert(parameter.clone(), other);
        let (section, entry) = key.split_once('.').expect("checked above");
        if let Some(section) = drive.get_mut(section).and_then(toml::Value::as_table_mut) {
            section.insert(entry.to_owned(), toml::Value::Table(policy));
        }
        if resolved_policy(drive, key).is_none() {
            *drive = before;
        }
    }
}

/// The table of a policy with all parameters; `None` where the drive is refused.
fn resolved_policy(drive: &toml::Table, key: &str) -> Option<toml::Table> {
    let config: DriveConfig = drive.clone().try_into().ok()?;
    let resolved = toml::Table::try_from(&config).ok()?;
    let (section, entry) = key.split_once('.')?;
    resolved.get(section)?.get(entry)?.as_table().cloned()
}

/// Another value of a parameter: of those by name where a default says little about what is worth trying.
fn drawn(dice: &mut Dice, parameter: &str, value: &toml::Value) -> Option<toml::Value> {
    let share = |dice: &mut Dice, shares: &[f64]| Some(toml::Value::Float(dice.one_of(shares)));
    let word = |dice: &mut Dice, words: &[&str]| Some(toml::Value::from(dice.one_of(words)));
    match parameter {
        "accept_bits" => Some(dice.one_of(&[0, 0, 1, 3, 9]).into()),
        "cycles" => Some(dice.one_of(&[0, 1, 2, 5, 20]).into()),
        "cycles_set" | "cycles_reset" | "verify_read" | "rber" if dice.chance(60) => None,
        "cycles_set" | "cycles_reset" => Some(dice.one_of(&[0, 1, 3, 9]).into()),
        "verify_read" => Some(dice.one_of(&[1, 40, 3_000]).into()),
        "rber" => share(dice, &[0.0, 1e-4, 1e-3, 0.1]),
        "evict_free" => share(dice, &[0.0, 0.0, 0.1, 0.3, 0.5]),
        "evict_stop" if dice.chance(50) => None,
        "evict_stop" => share(dice, &[0.0, 0.1, 0.3, 0.5, 0.8]),
        "hot_entries" => share(dice, &[0.0, 0.5, 1.0, 2.0, 10.0]),
        "victim" if value.as_str().is_some() => word(dice, &["lru", "fifo", "sequential-first"]),
        "migration" => word(dice, &["foreground", "background"]),
        "moves" => word(dice, &["hot-and-random", "hot-or-random"]),
        "random_up_to" => word(dice, &["0B", "512B", "2KiB", "8KiB", "64KiB"]),
        _ => other_value(dice, value),
    }
}

fn other_value(dice: &mut Dice, value: &toml::Value) -> Option<toml::Value> {
    match value {
        toml::Value::Boolean(_) => Some(toml::Value::Boolean(dice.chance(50))),
        toml::Value::Integer(number) => Some(toml::Value::Integer(dice.one_of(&[1, 2, 3, *number, number * 2]))),
        toml::Value::Float(number) => Some(toml::Value::Float(dice.one_of(&[0.5, 1.0, 2.0]) * number)),
        _ => None,
    }
}
