//! Policies of drives with their parameters drawn, and whether a policy decides anything.

use ninescope::config::DriveConfig;
use ninescope_ftl::policies::page_allocation::static_striping::Order;
use ninescope_model::units::Duration;

use super::dice::Dice;
use super::keys::{policy_name, put_at, take_at, text, value_at};
use super::run::{Outcome, run};
use super::world::World;

/// Whether the policy that a world has of a registry decides anything there that another of the registry decides otherwise, or
/// that nobody decides where it is left out: whether the digest is another with these in its place. A world whose drive can
/// have no other, as placements that want other memories, shows it by what it does. `outcome` is that of the world.
pub fn decides_otherwise(world: &World, outcome: &Outcome, key: &str) -> bool {
    let Some(name) = policy_name(&world.drive, key) else { return false };
    let registries = ninescope::policies();
    let list = registries.iter().find(|(registry, _)| *registry == key).map_or(&[][..], |(_, list)| list);
    let others = list.iter().filter(|(other, _)| *other != name);
    let mut drives: Vec<toml::Table> = others
        .map(|(other, _)| {
            let mut drive = world.drive.clone();
            put_at(&mut drive, key, *other);
            drive
        })
        .collect();
    let mut without = world.drive.clone();
    take_at(&mut without, key);
    drives.push(without);
    // A drive without the table that the key is in stays as it is.
    drives.retain(|drive| policy_name(drive, key).as_ref() != Some(&name));
    let mut alone = true;
    for drive in drives {
        let other = World { drive, ..world.clone() };
        if other.plan().is_err() {
            continue;
        }
        alone = false;
        if run(&other).is_ok_and(|other| other.digest != outcome.digest || other.shared_digest != outcome.shared_digest)
        {
            return true;
        }
    }
    alone && outcome.requests > 0
}

/// Sets a policy with parameters about its defaults. A parameter that the policy refuses goes back to its default.
pub(super) fn set_policy(dice: &mut Dice, drive: &mut toml::Table, key: &str, name: &str) {
    put_at(drive, key, name);
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
    if defaults.contains_key("copy_reads") {
        // Those of a cache that are left out by default.
        defaults.insert("read_ahead".to_owned(), 0.into());
    }
    if defaults.contains_key("recent_writes") {
        defaults.insert("forget_every".to_owned(), 0.into());
    }
    if name == "pages-in-flight" {
        // That which is left out by default.
        defaults.insert("pages".to_owned(), 0.into());
    }
    if defaults.contains_key("fetch_on_write") {
        defaults.insert("flush_at_rest".to_owned(), 0.into());
    }
    for (parameter, value) in defaults.iter().filter(|(parameter, _)| *parameter != "policy") {
        let Some(other) = drawn(dice, parameter, value) else { continue };
        let before = drive.clone();
        let mut policy = resolved_policy(drive, key).unwrap_or_else(|| defaults.clone());
        policy.insert(parameter.clone(), other);
        put_at(drive, key, policy);
        if resolved_policy(drive, key).is_none() {
            *drive = before;
        }
    }
}

/// The table of a policy with all parameters; `None` where the drive is refused.
fn resolved_policy(drive: &toml::Table, key: &str) -> Option<toml::Table> {
    let config: DriveConfig = drive.clone().try_into().ok()?;
    let resolved = toml::Table::try_from(&config).ok()?;
    value_at(&resolved, key)?.as_table().cloned()
}

/// Another value of a parameter: of those by name where a default says little about what is worth trying.
fn drawn(dice: &mut Dice, parameter: &str, value: &toml::Value) -> Option<toml::Value> {
    let share = |dice: &mut Dice, shares: &[f64]| Some(toml::Value::Float(dice.one_of(shares)));
    let word = |dice: &mut Dice, words: &[&str]| Some(toml::Value::from(dice.one_of(words)));
    match parameter {
        "accept_bits" => Some(dice.one_of(&[0, 0, 1, 3, 9]).into()),
        "cycles" => Some(dice.one_of(&[0, 1, 2, 5, 20]).into()),
        "cycles_set" | "cycles_reset" | "verify_read" | "rber" | "flush_at_rest" | "forget_every"
            if dice.chance(60) =>
        {
            None
        }
        "cycles_set" | "cycles_reset" => Some(dice.one_of(&[0, 1, 3, 9]).into()),
        "verify_read" => Some(text(Duration(dice.one_of(&[1, 40, 3_000])))),
        "rber" => share(dice, &[0.0, 1e-4, 1e-3, 0.1]),
        "evict_free" => share(dice, &[0.0, 0.0, 0.1, 0.3, 0.5]),
        "evict_stop" | "read_ahead" if dice.chance(50) => None,
        "evict_stop" => share(dice, &[0.0, 0.1, 0.3, 0.5, 0.8]),
        "hot_entries" => share(dice, &[0.0, 0.5, 1.0, 2.0, 10.0]),
        "recent_writes" => share(dice, &[0.5, 1.0, 2.0, 10.0]),
        "migration" => word(dice, &["foreground", "foreground-reads", "background"]),
        "write_back" => word(dice, &["dirty-sectors", "whole-pages"]),
        "moves" => word(dice, &["hot-and-random", "hot-or-random"]),
        "random_up_to" => word(dice, &["0B", "512B", "2KiB", "8KiB", "64KiB"]),
        "encode" | "clean" | "corrupted" => Some(text(dice.time(0, 4))),
        "cycle" => Some(text(dice.time(1, 2))),
        "key_equation" => word(dice, &["linear", "quadratic"]),
        "period" => Some(text(dice.time(100_000, 7))),
        "first" | "retention" | "flush_at_rest" | "after" | "postponed" | "rest" => Some(text(dice.time(1, 7))),
        "pages_in_flight" => Some(dice.small(1, 5).into()),
        "reads" if value.is_str() => word(dice, &["zeros", "old-data"]),
        "reads" => Some(dice.one_of(&[1, 5, 20, 100]).into()),
        "read_ahead" => Some(dice.small(1, 20).into()),
        "generations" | "regions" | "streams" => Some(dice.small(2, 5).into()),
        "handles" => {
            let types = ["initially-isolated", "persistently-isolated", "persistently-isolated"];
            let handles = (0..dice.small(2, 5)).map(|_| toml::Value::from(dice.one_of(&types)));
            Some(toml::Value::Array(handles.collect()))
        }
        "small" => word(dice, &["512B", "2KiB", "8KiB"]),
        "order" => word(dice, &Order::ALL.map(Order::letters)),
        "size" => word(dice, &["16B", "64B", "512B", "2KiB", "8KiB", "32KiB"]),
        "pages" => Some(dice.small(1, 4).into()),
        "from" => share(dice, &[0.2, 0.5, 0.8, 1.0]),
        "entry_time" => Some(text(dice.time(0, 3))),
        "gap" | "longest" | "forget_every" => Some(text(dice.time(1, 6))),
        "remaining" => share(dice, &[0.1, 0.5, 0.8]),
        "below" => Some(dice.small(1, 6).into()),
        "above" => share(dice, &[0.0, 0.3, 0.5, 0.75, 1.0]),
        "weight" => share(dice, &[0.0, 0.02, 0.2, 1.0]),
        "window" => Some(dice.small(1, 8).into()),
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
