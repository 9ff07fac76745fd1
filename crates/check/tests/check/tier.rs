//! Drives of two media under several jobs: every placement, checked cheaply, in full and not at all.

use crate::support::result;
use serde_json::{Value, json};

/// The flash of a drive whose pages are slots of 4 KiB.
const FLASH: &str = r#"
[geometry]
channels = 2
packages_per_channel = 1
dies_per_package = 1
planes_per_die = 1
blocks_per_plane = 16
pages_per_block = 8
page_size = "4KiB"
[nand]
cell = "slc"
read = "25us"
program = "200us"
erase_loop = "1ms"
command_address = "100ns"
channel_rate = "400MB/s"
[ftl]
mapping_unit = "4KiB"
over_provisioning = 0.5
"#;

/// A medium of slots.
fn slots(table: &str, slots: u32) -> String {
    let capacity = slots * 4096;
    format!(
        "[{table}]\nchannels = 2\nbanks_per_channel = 2\ncapacity = {capacity}\nslot_size = \"4KiB\"\nread = \"100ns\"\n\
         set = \"200ns\"\nreset = \"150ns\"\nchannel_rate = \"1GB/s\"\nwear_leveling = \"start-gap\"\n"
    )
}

fn drive(placement: &str, settings: &str) -> String {
    let below = if placement == "nv-wb" { slots("storage_scm", 160) } else { FLASH.to_owned() };
    let name = format!("[tier]\nplacement = {{ policy = \"{placement}\"{settings} }}\nmigrations_in_flight = 2\n");
    format!("{}{below}{name}[controller]\nqueue_depth = 24\n", slots("scm", 16))
}

fn request(placement: &str, settings: &str, check: &str) -> Value {
    json!({
        "seed": 5,
        "check": check,
        "prefill": "full",
        "warmup": 300,
        "drive": { "toml": drive(placement, settings) },
        "workload": { "job": [
            { "name": "mixer", "rw": "randrw", "bs": "2k", "iodepth": 8, "requests": 1500, "random_distribution": "zipf:1.1" },
            { "name": "reader", "rw": "randread", "bs": "6k", "iodepth": 4, "requests": 800 },
            { "name": "log", "rw": "write", "bs": "16k", "iodepth": 3, "requests": 400, "flush_every": 20 },
        ] },
    })
}

#[test]
fn several_jobs_on_two_media_break_no_invariant_and_checking_changes_nothing() {
    for (placement, settings) in [
        ("wb", ""),
        ("wb", ", migration = \"background\", evict_free = 0.2, evict_stop = 0.4, fetch_on_write = true"),
        ("wo-dm", ", hot_entries = 2.0"),
        ("rwb-dm", ", keep_copy = false, moves = \"hot-or-random\""),
        ("rwb-dm", ", migration = \"foreground\""),
        ("rewritten", ", recent_writes = 2.0"),
        ("read-cache", ", read_ahead = 2"),
        ("nv-wb", ""),
        ("nv-wb", ", migration = \"foreground\", evict_free = 0.0, evict_stop = 0.0"),
        ("nv-wb", ", fetch_on_write = true, write_back = \"whole-pages\""),
        ("wb", ", migration = \"foreground-reads\", evict_free = 0.2, evict_stop = 0.4, fetch_on_write = true"),
        ("wo-dm", ", migration = \"foreground-reads\", evict_free = 0.2, evict_stop = 0.2"),
        ("rwb-dm", ", migration = \"foreground-reads\", keep_copy = false, moves = \"hot-or-random\""),
        ("nv-wb", ", migration = \"foreground-reads\", fetch_on_write = true"),
    ] {
        let unchecked = result(&request(placement, settings, "off"));
        for level in ["cheap", "full"] {
            let checked = result(&request(placement, settings, level));
            assert_eq!(checked["digest"], unchecked["digest"], "{placement}{settings} at {level}");
            let notes = checked["notes"].to_string();
            assert!(notes.contains("no invariant violated"), "{placement}{settings}: {notes}");
        }
    }
}
