//! What the drive holds when a run begins, and when overwriting has reached a steady state.

use std::collections::BTreeSet;

use crate::support::{data_text, result_of, tiny_request};
use ninescope::{Plan, RunRequest};
use ninescope_model::{Lpa, Ppa};
use ninescope_oracles::write_amplification::greedy;
use serde_json::{Value, json};

fn prepared(prefill: &str) -> Value {
    let mut request = tiny_request(&[]);
    request["prefill"] = json!(prefill);
    result_of(&request).expect("the tiny run")
}

/// 4 KiB units that the tiny trace reads, of whole and of partial requests, by a reading of its own.
fn units_read(unread_before_write_only: bool) -> (usize, BTreeSet<u64>) {
    let (mut touched, mut known, mut missing) = (BTreeSet::new(), BTreeSet::new(), 0);
    for line in data_text("tiny.csv").lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |index: usize| fields[index].parse::<u64>().expect("a number");
        let units = number(4) / 4096..(number(4) + number(5)).div_ceil(4096);
        if fields[3] == "Read" {
            missing += units.clone().filter(|unit| !known.contains(unit)).count();
            touched.extend(units);
        } else if unread_before_write_only {
            known.extend(units);
        }
    }
    (missing, touched)
}

#[test]
fn nothing_is_prepared_where_nothing_is_asked_for() {
    let result = prepared("none");
    assert_eq!((&result["prepared_units"], &result["prefill"]), (&json!(0), &json!("none")));
    // Requests overlap in time, but a read is answered from what was submitted before it in this slow trace.
    let (missing, _) = units_read(true);
    assert_eq!(result["counters"]["unmapped_units"], json!(missing));
    assert!(missing > 50);
}

#[test]
fn the_footprint_is_what_the_trace_reads_and_no_more() {
    let result = prepared("footprint");
    assert_eq!(result["prepared_units"], json!(units_read(false).1.len()));
    assert_eq!(result["counters"]["unmapped_units"], json!(0), "no read finds nothing");
    assert!(result["steady_state"].is_null());
}

#[test]
fn full_is_every_unit_once() {
    let result = prepared("full");
    assert_eq!(result["prepared_units"], json!(960));
    assert_eq!(result["ftl"]["mapped_units"], result["ftl"]["logical_units"]);
    assert_eq!(result["counters"]["unmapped_units"], json!(0));
}

/// Where each unit lies of a drive that was prepared so; none where it is not there.
fn places(prefill: &str, order: &str, seed: u64) -> Vec<Option<u32>> {
    let mut request = tiny_request(&[]);
    (request["prefill"], request["prefill_order"], request["seed"]) = (json!(prefill), json!(order), json!(seed));
    let mut plan = Plan::new(&RunRequest::from_json(&request.to_string()).expect("a request")).expect("a run");
    let ftl = plan.prepare().expect("the tiny drive").ftl;
    let place = |unit| Some(ftl.translate(Lpa(unit))).filter(|&place| place != Ppa::UNMAPPED).map(|place| place.0);
    (0..ftl.logical_units()).map(place).collect()
}

/// How far units with neighbouring addresses lie apart in the mean, in places that hold something.
fn mean_distance(places: &[Option<u32>]) -> f64 {
    let mut taken: Vec<u32> = places.iter().flatten().copied().collect();
    taken.sort_unstable();
    let rank = |place: u32| taken.binary_search(&place).expect("it is taken") as f64;
    let ranks: Vec<f64> = places.iter().flatten().map(|&place| rank(place)).collect();
    ranks.windows(2).map(|pair| (pair[0] - pair[1]).abs()).sum::<f64>() / (ranks.len() - 1) as f64
}

#[test]
fn in_random_order_the_same_units_lie_anywhere() {
    let (ascending, random) = (places("full", "ascending", 1), places("full", "random", 1));
    assert_eq!(
        random.iter().flatten().collect::<BTreeSet<_>>().len(),
        960,
        "every unit is there, at a place of its own"
    );
    // In the mean two of n places lie (n + 1) / 3 apart, with a standard deviation of n / sqrt(18).
    let (expected, deviation) = (961.0 / 3.0, 960.0 / 18.0_f64.sqrt() / 959.0_f64.sqrt());
    let (near, apart) = (mean_distance(&ascending), mean_distance(&random));
    assert!((apart - expected).abs() < 5.0 * deviation, "{apart} places apart, {expected} expected");
    assert!(near < expected - 5.0 * deviation, "{near} places apart by address");
    // The order is the seed's.
    assert_eq!(places("full", "random", 1), random);
    assert_ne!(places("full", "random", 2), random);
}

#[test]
fn in_random_order_a_footprint_is_a_footprint_and_nothing_is_nothing() {
    let held = |places: Vec<Option<u32>>| -> BTreeSet<usize> {
        places.into_iter().enumerate().filter_map(|(unit, place)| place.map(|_| unit)).collect()
    };
    let footprint = held(places("footprint", "ascending", 1));
    assert!(!footprint.is_empty() && footprint.len() < 960);
    assert_eq!(held(places("footprint", "random", 1)), footprint);
    assert!(held(places("none", "random", 1)).is_empty());
    let mut request = tiny_request(&[]);
    (request["prefill"], request["prefill_order"]) = (json!("steady-uniform"), json!("random"));
    let result = result_of(&request).expect("the tiny run");
    assert_eq!(result["config"]["run"]["prefill_order"], json!("random"), "a result says how it was made");
    assert_eq!(result["ftl"]["mapped_units"], json!(960));
    assert!(prepared("full")["config"]["run"].get("prefill_order").is_none());
}

#[test]
fn raw_writes_as_much_as_the_drive_has_flash() {
    let result = prepared("raw");
    let raw_units = result["config"]["raw_bytes"].as_u64().expect("a number") / 4096;
    assert!(raw_units > 960);
    assert_eq!(result["prepared_units"], json!(raw_units));
    assert_eq!(result["ftl"]["mapped_units"], result["ftl"]["logical_units"]);
    assert!(result["wear"]["erases_max"].as_u64().expect("a number") >= 1, "garbage collection has begun");
    assert!(result["steady_state"].is_null());
}

#[test]
fn preparing_is_not_measured() {
    let result = prepared("full");
    let mut written = BTreeSet::new();
    let mut host_units = 0;
    for line in data_text("tiny.csv").lines().filter(|line| line.contains("Write")) {
        let fields: Vec<u64> = line.split(',').filter_map(|field| field.parse().ok()).collect();
        let units = fields[2] / 4096..(fields[2] + fields[3]).div_ceil(4096);
        host_units += units.clone().count();
        written.extend(units);
    }
    assert_eq!(result["ftl"]["host_units"], json!(host_units), "the trace's units and not the prefill's");
    assert!(written.len() < host_units, "the trace overwrites");
}

#[test]
fn a_steady_state_has_the_write_amplification_of_theory() {
    // One pool of 4200 blocks of 64 pages, uniform random overwrites, greedy collection.
    let over_provisioning = 0.4;
    let request = json!({
        "drive": { "file": crate::support::data("tiny.toml") },
        "set": [
            "geometry.channels=1", "geometry.planes_per_die=1", "geometry.blocks_per_plane=4200",
            "geometry.pages_per_block=64", "geometry.page_size=4KiB",
            format!("ftl.over_provisioning={over_provisioning}"),
        ],
        "workload": { "job": { "rw": "randwrite", "requests": 100 } },
        "prefill": "steady",
        "seed": 3,
    });
    let result = result_of(&request).expect("the run");
    let steady = &result["steady_state"];
    assert_eq!(steady["converged"], json!(true), "{steady}");
    let windows: Vec<f64> =
        steady["window_waf"].as_array().expect("windows").iter().map(|waf| waf.as_f64().expect("a number")).collect();
    let drive_writes = steady["drive_writes"].as_f64().expect("a number");
    assert!((drive_writes - windows.len() as f64 / 10.0).abs() < 1e-9 && (1.0..20.0).contains(&drive_writes));
    let last = &windows[windows.len() - 5..];
    let measured = last.iter().sum::<f64>() / 5.0;
    let theory = greedy(1.0 + over_provisioning, 64);
    assert!((measured / theory - 1.0).abs() < 0.01, "write amplification {measured}, theory {theory}");
    assert_eq!(windows[0].to_bits(), 1.0_f64.to_bits(), "the first windows fill what was free");
}

#[test]
fn a_steady_state_that_is_not_reached_says_so() {
    // Ten windows of 96 units fluctuate by more than a percent for ever.
    let result = prepared("steady-uniform");
    let steady = &result["steady_state"];
    if steady["converged"] == json!(false) {
        assert_eq!(steady["drive_writes"], json!(20.0));
        let notes = result["notes"].to_string();
        assert!(notes.contains("could not be told") && notes.contains("its windows scatter"), "{notes}");
    }
    assert!(steady["window_waf"].as_array().is_some_and(|windows| windows.len() >= 5));
}

#[test]
fn preparing_depends_on_the_seed_and_on_nothing_else() {
    let with_seed = |seed: u64| {
        let mut request = tiny_request(&[]);
        request["prefill"] = json!("steady-uniform");
        request["seed"] = json!(seed);
        let result = result_of(&request).expect("the tiny run");
        (result["digest"].clone(), result["steady_state"].clone())
    };
    assert_eq!(with_seed(5), with_seed(5));
    assert_ne!(with_seed(5).1, with_seed(6).1);
}
