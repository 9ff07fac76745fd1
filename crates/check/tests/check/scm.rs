//! Random drives of storage-class memory under the checker: every policy of wear levelling, every order of dispatch.

use crate::support::result;
use ninescope_kernel::RandomStream;
use serde_json::{Value, json};

/// A drive and a job drawn from a seed, with a policy of wear levelling.
fn request(seed: u64, policy: &str, check: &str) -> Value {
    let mut stream = RandomStream::new(seed, "tests", "scm worlds");
    let mut between = |low: u64, high: u64| low + stream.below(high - low + 1);
    let (channels, banks, slot) = (between(1, 3), between(1, 4), 512_u64 << between(0, 5));
    let capacity = channels * banks * slot * between(1, 12);
    let drive = format!(
        "[scm]\nchannels = {channels}\nbanks_per_channel = {banks}\ncapacity = {capacity}\nslot_size = {slot}\n\
         read = \"{}ns\"\nset = \"{}ns\"\nreset = \"{}ns\"\npulse_order = \"{}\"\ncommand_address = \"{}ns\"\nchannel_rate = \"{}B/s\"\n\
         [tier]\nplacement = \"scm-only\"\n[controller]\nqueue_depth = {}\ncommand_cost = \"{}ns\"\n[scheduler]\ntransactions = \"{}\"\n",
        between(1, 2000),
        between(1, 3000),
        between(1, 3000),
        ["together", "in-turn"][between(0, 1) as usize],
        between(0, 50),
        between(100_000_000, 4_000_000_000),
        between(1, 40),
        between(0, 1000),
        ["reads-first", "fifo"][between(0, 1) as usize],
    );
    let leveling = match policy {
        "ladder" | "weak-ladder" => {
            format!("{{ policy = \"{policy}\", overwrites = {}, spare = 0.{} }}", between(1, 9), between(0, 3))
        }
        "start-gap" => format!("{{ policy = \"start-gap\", psi = {} }}", between(1, 9)),
        other => format!("\"{other}\""),
    };
    // Requests of one to several slots, half of them in a tenth of the drive.
    let (most, space) = (between(1, 40) * 512, capacity / 512);
    let bytes = (1 + between(0, most / 512)).min(space) * 512;
    json!({
        "seed": seed,
        "check": check,
        "prefill": "none",
        "warmup": between(0, 1) * 100,
        "drive": { "toml": drive },
        "set": [format!("scm.wear_leveling={leveling}")],
        "workload": { "job": {
            "rw": "randrw", "rwmixread": between(10, 60), "bs": bytes, "requests": 600, "iodepth": between(1, 32),
            "random_distribution": "zipf:1.1",
        } },
    })
}

#[test]
fn no_world_of_storage_class_memory_violates_an_invariant() {
    let policies = ninescope::policies();
    let (_, list) = policies.iter().find(|(key, _)| *key == "scm.wear_leveling").expect("a registry");
    for (name, _) in *list {
        let mut copied = 0;
        for seed in 0..60 {
            let checked = result(&request(seed, name, ["full", "full", "cheap"][seed as usize % 3]));
            let notes = checked["notes"].to_string();
            assert!(notes.contains("no invariant violated"), "{name}, seed {seed}: {notes}");
            assert_eq!(checked["digest"], result(&request(seed, name, "off"))["digest"], "{name}, seed {seed}");
            copied += checked["scm"]["counters"]["sectors_copied"].as_u64().expect("a counter");
        }
        assert_eq!(copied > 100, *name != "none", "{name} copied {copied} sectors");
    }
}
