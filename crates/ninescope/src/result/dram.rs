//! What the controller's DRAM did.

use ninescope_engine::{Dram, Seen};
use serde_json::{Value, json};

/// What its bus was taken for, and what the banks of a cache in it did.
pub fn section(device: &Seen<'_>, caches: bool) -> Value {
    let mut section = json!({ "bus": device.dram.map(Dram::counters) });
    if caches {
        section["counters"] = json!(device.scm.counters(0));
    }
    section
}
