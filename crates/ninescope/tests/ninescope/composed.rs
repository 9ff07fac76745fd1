//! A drive that is composed does in time as one that is overwritten: the same write amplification, throughput and tails.
//!
//! The other one is filled in random order: of a drive that was filled by address some neighbours still lie in neighbouring
//! pools when its write amplification has settled, which large writes notice.

use crate::support::{data, result_of};
use serde_json::{Value, json};

const SEEDS: u64 = 10;
/// Student's t of 18 degrees of freedom, two-sided, at one in a thousand.
const T: f64 = 3.92;

/// A job on a drive of 16 pools.
fn run(prefill: &str, seed: u64, job: &Value, spare: &str) -> Value {
    let request = json!({
        "drive": { "file": data("tiny.toml") },
        "set": [
            "geometry.channels=4", "geometry.packages_per_channel=2", "geometry.dies_per_package=2", "geometry.planes_per_die=1",
            "geometry.blocks_per_plane=128", "geometry.pages_per_block=32", format!("ftl.over_provisioning={spare}"),
        ],
        "workload": { "job": job },
        "prefill": prefill,
        "prefill_order": "random",
        "seed": seed,
    });
    result_of(&request).expect("a run")
}

fn mix() -> Value {
    json!({ "rw": "randrw", "bs": "4k", "iodepth": 16, "requests": 12_000, "rwmixread": 50 })
}

/// Numbers of a result by their pointers.
fn figures(result: &Value, pointers: &[&str]) -> Vec<f64> {
    let number = |pointer: &&str| {
        result.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} is no number"))
    };
    pointers.iter().map(number).collect()
}

/// Means over runs of composed and of overwritten drives differ by no more than chance has it, which is little.
fn agree(job: &Value, spare: &str, pointers: &[&str]) {
    let of = |prefill: &str| -> Vec<Vec<f64>> {
        (0..SEEDS).map(|seed| figures(&run(prefill, seed, job, spare), pointers)).collect()
    };
    let (composed, overwritten) = (of("steady-composed"), of("steady-overwritten"));
    for (figure, pointer) in pointers.iter().enumerate() {
        let moments = |results: &[Vec<f64>]| {
            let values: Vec<f64> = results.iter().map(|result| result[figure]).collect();
            let mean = values.iter().sum::<f64>() / SEEDS as f64;
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (SEEDS - 1) as f64;
            (mean, variance)
        };
        let ((one, variance), (other, variance_of_other)) = (moments(&composed), moments(&overwritten));
        let uncertain = T * ((variance + variance_of_other) / SEEDS as f64).sqrt();
        println!("{pointer}: {one} and {other}, uncertain by {uncertain}");
        assert!((one - other).abs() <= uncertain, "{pointer}: {one} and {other}, uncertain by {uncertain}");
        // Where they scatter much, anything would pass.
        assert!(uncertain < 0.25 * other, "{pointer}: {other} is uncertain by {uncertain}");
    }
}

#[test]
fn write_amplification_throughput_and_read_tails_are_those_of_an_overwritten_drive() {
    agree(
        &mix(),
        "0.2",
        &[
            "/waf/total",
            "/throughput/read/iops",
            "/latency/read/percentiles_ns/99",
            "/latency/read/percentiles_ns/99.9",
            "/latency/write/mean_ns",
        ],
    );
}

#[test]
fn write_tails_under_load_are_those_of_an_overwritten_drive() {
    // Were all pools to hold the same number of units, they would fall short of space together.
    let job = json!({ "rw": "randwrite", "bs": "64k", "iodepth": 32, "requests": 6_000 });
    agree(
        &job,
        "0.1",
        &[
            "/waf/total",
            "/latency/write/percentiles_ns/90",
            "/latency/write/percentiles_ns/99",
            "/latency/write/percentiles_ns/99.9",
        ],
    );
}

#[test]
fn a_result_says_that_its_drive_was_composed() {
    let composed = run("steady-composed", 1, &mix(), "0.2");
    assert_eq!(composed["steady_state"]["composed"], json!(true), "{}", composed["steady_state"]);
    let overwritten = run("steady-overwritten", 1, &mix(), "0.2");
    assert!(overwritten["steady_state"]["composed"].is_null());
    let small = run("steady-uniform", 1, &mix(), "0.2");
    assert_eq!(small["digest"], overwritten["digest"], "a small drive is overwritten");
}
