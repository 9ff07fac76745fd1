//! What was in memory of a map that lies in flash, and what was read and written of it, as JSON.

use ninescope_engine::Seen;
use serde_json::{Value, json};

use crate::error::Error;

/// The section `map`; absent where all of the map is in memory. Counts are of the measured time, bytes are as they are now.
pub fn section(device: &Seen<'_>, policy: &str) -> Result<Option<Value>, Error> {
    let Some(mapping) = device.mapping else { return Ok(None) };
    let counters = mapping.counters();
    let looked_up = counters.hits + counters.misses;
    let (bytes, bytes_max) = mapping.bytes();
    let mut told = serde_json::to_value(counters).map_err(|error| Error::Internal(error.to_string()))?;
    told["programs_held"] = device.counters.held_programs.into();
    Ok(Some(json!({
        "policy": policy,
        "pages": device.ftl.translation_units(),
        "cache_bytes": bytes,
        "cache_bytes_max": bytes_max,
        "hit_ratio": (looked_up > 0).then(|| counters.hits as f64 / looked_up as f64),
        "counters": told,
    })))
}
