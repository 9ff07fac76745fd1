//! Zones: what was asked of them, what was refused, and what became of them.

use ninescope_engine::Seen;
use ninescope_ftl::{ZoneError, ZoneState};
use ninescope_model::ZoneCommand;
use serde_json::{Map, Value, json};

use crate::error::Error;

/// The section `zns`; absent where the drive has no zones.
pub fn section(device: &Seen<'_>) -> Option<Value> {
    let zones = device.ftl.zones()?;
    let (layout, counts) = (zones.layout(), zones.counts());
    let unit_bytes = u64::from(device.ftl.geometry().unit_bytes);
    let commands: Map<String, Value> = ZoneCommand::ALL
        .into_iter()
        .map(|command| {
            let name = if command == ZoneCommand::None { "write" } else { command.name() };
            (name.replace('-', "_"), json!(counts.commands[command as usize]))
        })
        .collect();
    let errors: Map<String, Value> = ZoneError::ALL
        .into_iter()
        .map(|error| (error.name().to_owned(), json!(counts.errors[error as usize])))
        .collect();
    let in_states = zones.in_states();
    let states: Map<String, Value> =
        ZoneState::ALL.into_iter().map(|state| (state.name().to_owned(), json!(in_states[state as usize]))).collect();
    let (open, active) = zones.limits();
    let mut section = json!({
        "zones": layout.zones(),
        "zone_bytes": u64::from(layout.size()) * unit_bytes,
        "zone_capacity_bytes": u64::from(layout.capacity()) * unit_bytes,
        "open_zones_max": open,
        "active_zones_max": active,
        "commands": commands,
        "errors": errors,
        "states": states,
        "implicit_opens": counts.implicit_opens,
        "implicit_closes": counts.implicit_closes,
        "zones_filled": counts.filled,
        "dropped_units": counts.dropped_units,
    });
    if let Some(told) = zones.zrwa() {
        let counts = zones.zrwa_counts();
        section["zrwa"] = json!({
            "size_bytes": u64::from(told.size) * unit_bytes,
            "granularity_bytes": u64::from(told.granularity) * unit_bytes,
            "zones_max": told.zones,
            "written_units": counts.written_units,
            "overwritten_units": counts.overwritten_units,
            "implicit_commits": counts.implicit_commits,
            "committed_units": counts.committed_units,
            "dropped_units": counts.dropped_units,
        });
    }
    Some(section)
}

/// The section `zone_log`; absent where no requests went to a log on zones.
///
/// # Errors
/// [`Error::Internal`] when it cannot be written.
pub fn log(device: &Seen<'_>) -> Result<Option<Value>, Error> {
    let Some(log) = device.zone_log else { return Ok(None) };
    let mut section = serde_json::to_value(log).map_err(|error| Error::Internal(error.to_string()))?;
    section["write_amplification"] = json!(log.write_amplification());
    Ok(Some(section))
}
