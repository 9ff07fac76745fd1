//! Runs one synthetic job without a probe and prints its digest: what `tools/probe_cost.sh` counts instructions of.
//!
//! `one_job PATTERN REQUESTS [coded|mapped|roomy]`, for instance `one_job randread 20000`. With `coded`, pages are under a BCH code and
//! one bit in ten thousand fails; with `mapped`, the map lies in flash, and the cache holds all of it that was read once; `roomy` is
//! the same drive with all of its map in memory, and so much less spare that as much is moved
//! for a write. What is written is written to a drive in a steady state, so that few requests collect.

use std::time::Duration;

use ninescope::{RunRequest, Simulation};
use serde_json::{Value, json};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let codes = r#"
        [nand]
        ecc = { policy = "bch", user_data = "1KiB", correctable = 40 }
        errors = { policy = "constant", rber = 1e-4 }
        "#;
    // What is kept apart takes blocks of its own.
    let map = r#"
        over_provisioning = 0.8
        map = { policy = "pages", size = "1MiB" }
        "#;
    let spare = "over_provisioning = 0.5";
    let (pattern, requests, more) = match &arguments[..] {
        [pattern, requests] => (pattern, requests, spare.to_owned()),
        [pattern, requests, with] if with == "coded" => (pattern, requests, format!("{spare}{codes}")),
        [pattern, requests, with] if with == "mapped" => (pattern, requests, map.to_owned()),
        [pattern, requests, with] if with == "roomy" => (pattern, requests, "over_provisioning = 0.768".to_owned()),
        _ => panic!("one_job PATTERN REQUESTS [coded|mapped|roomy]"),
    };
    let drive = r#"base = "tlc"
        [geometry]
        channels = 4
        packages_per_channel = 1
        planes_per_die = 2
        blocks_per_plane = 16
        pages_per_block = 64
        [ftl]
        frontier_planes = 2
        "#;
    let drive = format!("{drive}{more}");
    let prefill = if pattern.ends_with("read") { "full" } else { "steady-overwritten" };
    let request = json!({
        "seed": 1, "prefill": prefill, "drive": {"toml": drive},
        "requests": requests.parse::<u64>().expect("a number of requests"),
        "workload": {"job": {"rw": pattern, "bs": "4k", "iodepth": 32, "rwmixread": 70}},
    });
    let request = RunRequest::from_json(&request.to_string()).expect("a legal request");
    let mut run = Simulation::new(&request).expect("a legal run");
    while !run.run_slice(Duration::from_secs(3600)).expect("a run without faults").finished {}
    let result: Value = serde_json::from_str(&run.result_json(true).expect("a result")).expect("JSON");
    let collected = result["counters"]["gc_page_reads"].as_u64().unwrap_or_default();
    // A mix of a few thousand requests fills a block group.
    let enough = result["requests"].as_u64() >= Some(4_000);
    assert!(prefill == "full" || collected > 0 || !enough, "nothing was collected: {}", result["counters"]);
    println!("{}", result["digest"]);
}
