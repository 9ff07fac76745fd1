//! Values of a drive's description by their dotted keys.

use ninescope_model::units::Duration;
use ninescope_tier::PlacementConfig;

/// Codes, bits that fail and what is done about them, by their keys.
pub(super) const OF_RELIABILITY: [&str; 12] = [
    "backing_store",
    "scrub",
    "refresh",
    "nand.ecc",
    "nand.edc",
    "nand.errors",
    "nand.variation",
    "nand.initial_age",
    "nand.temperature",
    "nand.retry",
    "nand.corruption",
    "nand.spare_size",
];

/// The value at a dotted key.
pub(super) fn value_at<'a>(drive: &'a toml::Table, key: &str) -> Option<&'a toml::Value> {
    match key.split_once('.') {
        None => drive.get(key),
        Some((section, rest)) => value_at(drive.get(section)?.as_table()?, rest),
    }
}

/// Sets the value at a dotted key whose tables are there.
pub(super) fn put_at(drive: &mut toml::Table, key: &str, value: impl Into<toml::Value>) {
    match key.split_once('.') {
        None => drop(drive.insert(key.to_owned(), value.into())),
        Some((section, rest)) => {
            if let Some(section) = drive.get_mut(section).and_then(toml::Value::as_table_mut) {
                put_at(section, rest, value);
            }
        }
    }
}

/// The name of the policy at a dotted key of a drive.
pub(super) fn policy_name(drive: &toml::Table, key: &str) -> Option<String> {
    let Some(entry) = value_at(drive, key) else {
        // A drive that says nothing of a tier has none.
        return (key == "tier.placement").then(|| PlacementConfig::default().name().to_owned());
    };
    let name = entry.as_str().or_else(|| entry.get("policy").and_then(toml::Value::as_str))?;
    Some(name.to_owned())
}

/// Takes the value at a dotted key out.
pub(super) fn take_at(drive: &mut toml::Table, key: &str) {
    match key.split_once('.') {
        None => drop(drive.remove(key)),
        Some((section, rest)) => {
            if let Some(section) = drive.get_mut(section).and_then(toml::Value::as_table_mut) {
                take_at(section, rest);
            }
        }
    }
}

/// A duration as descriptions have it.
pub(super) fn text(time: Duration) -> toml::Value {
    toml::Value::try_from(time).expect("a duration is a string")
}
