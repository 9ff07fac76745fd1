//! A drive that is composed does in time as one that is overwritten: the same write amplification, throughput and read tails.
//! Its write tails are longer (decision 40): no test says that they are the same.

use crate::support::{data, result_of};
use serde_json::{Value, json};

const SEEDS: u64 = 10;
/// Student's t of 18 degrees of freedom, two-sided, at one in a thousand.
const T: f64 = 3.92;

/// Random writes and reads under load on a drive of 16 pools.
fn run(prefill: &str, seed: u64) -> Value {
    let request = json!({
        "drive": { "file": data("tiny.toml") },
        "set": [
            "geometry.channels=4", "geometry.packages_per_channel=2", "geometry.dies_per_package=2", "geometry.planes_per_die=1",
            "geometry.blocks_per_plane=128", "geometry.pages_per_block=32", "ftl.over_provisioning=0.2",
        ],
        "workload": { "job": { "rw": "randrw", "bs": "4k", "iodepth": 16, "requests": 12_000, "rwmixread": 50 } },
        "prefill": prefill,
        "seed": seed,
    });
    result_of(&request).expect("a run")
}

fn figures(result: &Value) -> [f64; 5] {
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("a number, not {value}"));
    let percentile = |kind: &str, of: &str| number(&result["latency"][kind]["percentiles_ns"][of]);
    [
        number(&result["waf"]["total"]),
        number(&result["throughput"]["read"]["iops"]),
        percentile("read", "99"),
        percentile("read", "99.9"),
        number(&result["latency"]["write"]["mean_ns"]),
    ]
}

#[test]
fn write_amplification_throughput_and_read_tails_are_those_of_an_overwritten_drive() {
    let of = |prefill: &str| -> Vec<[f64; 5]> { (0..SEEDS).map(|seed| figures(&run(prefill, seed))).collect() };
    let (composed, overwritten) = (of("steady-composed"), of("steady-uniform"));
    for figure in 0..5 {
        let moments = |results: &[[f64; 5]]| {
            let values: Vec<f64> = results.iter().map(|result| result[figure]).collect();
            let mean = values.iter().sum::<f64>() / SEEDS as f64;
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (SEEDS - 1) as f64;
            (mean, variance)
        };
        let ((one, variance), (other, variance_of_other)) = (moments(&composed), moments(&overwritten));
        let uncertain = T * ((variance + variance_of_other) / SEEDS as f64).sqrt();
        assert!((one - other).abs() <= uncertain, "figure {figure}: {one} and {other}, uncertain by {uncertain}");
        // Where they scatter much, anything would pass.
        assert!(uncertain < 0.25 * other, "figure {figure}: {other} is uncertain by {uncertain}");
    }
}

#[test]
fn a_result_says_that_its_drive_was_composed() {
    let composed = run("steady-composed", 1);
    assert_eq!(composed["steady_state"]["composed"], json!(true), "{}", composed["steady_state"]);
    assert!(run("steady-uniform", 1)["steady_state"]["composed"].is_null());
}
