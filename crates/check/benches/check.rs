//! What checking costs: the same runs without a checker, under `cheap` and under `full`, in one process.
//!
//! Part of `make bench`; nothing here passes or fails. Without `--bench` it is only tried, as `cargo test` does.

use ninescope::RunRequest;
use serde_json::{Value, json};

/// How often each is run, requests of a run, and blocks per plane.
fn extent() -> (usize, u64, u32) {
    if std::env::args().any(|argument| argument == "--bench") { (3, 2_000_000, 64) } else { (1, 2_000, 32) }
}

fn request(rw: &str, prefill: &str, check: &str) -> RunRequest {
    let (_, requests, blocks) = extent();
    let drive = format!(
        r#"base = "tlc"
        [geometry]
        channels = 8
        packages_per_channel = 2
        dies_per_package = 1
        planes_per_die = 2
        blocks_per_plane = {blocks}
        pages_per_block = 256
        [ftl]
        frontier_planes = 2
        over_provisioning = 0.25
        "#
    );
    let text = json!({
        "seed": 1, "prefill": prefill, "check": check, "requests": requests, "drive": {"toml": drive},
        "workload": {"job": {"rw": rw, "rwmixread": 70, "bs": "4k", "iodepth": 16}},
    });
    RunRequest::from_json(&text.to_string()).expect("a legal request")
}

/// Wall time of the run itself, without preparing [s], and its digest.
fn timed(rw: &str, prefill: &str, check: &str) -> (f64, String) {
    let mut run = ninescope_check::simulation(&request(rw, prefill, check)).expect("a legal run");
    while !run.run_slice(std::time::Duration::from_secs(3600)).expect("no violation").finished {}
    let result: Value = serde_json::from_str(&run.result_json(true).expect("a result")).expect("JSON");
    let seconds = result["performance"]["run_seconds"].as_f64().expect("a time");
    (seconds, result["digest"].as_str().expect("a digest").to_owned())
}

fn main() {
    let (rounds, _, blocks) = extent();
    println!(
        "checking: 4 KiB, QD 16, {} GiB drive, the best of {rounds} runs of each level, times that of `off`",
        blocks / 4
    );
    println!("{:<24} {:>10} {:>8} {:>8}", "", "off", "cheap", "full");
    for (name, rw, prefill) in [
        ("random read", "randread", "full"),
        ("random 70/30", "randrw", "full"),
        ("random write, GC", "randwrite", "steady"),
    ] {
        let mut best = [f64::INFINITY; 3];
        let mut digests = Vec::new();
        for _ in 0..rounds {
            for (level, best) in ["off", "cheap", "full"].into_iter().zip(&mut best) {
                let (seconds, digest) = timed(rw, prefill, level);
                *best = best.min(seconds);
                digests.push(digest);
            }
        }
        assert!(digests.iter().all(|digest| *digest == digests[0]), "a checked run is the run");
        let [off, cheap, full] = best;
        println!("{name:<24} {:>8.2} s {:>7.2}x {:>7.2}x", off, cheap / off, full / off);
    }
}
