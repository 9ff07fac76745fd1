//! What the firmware's cores did.

use ninescope_engine::{Firmware, Seen};
use serde_json::{Value, json};

/// The decisions that were made; how busy each core was is told with the other resources.
pub fn section(device: &Seen<'_>) -> Option<Value> {
    device.firmware.map(Firmware::counters).map(|counters| json!({ "counters": counters }))
}
