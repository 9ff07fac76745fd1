//! How long drives last under what was measured, and what they cost: from a run to the figures of its result, against
//! closed forms and sums made by hand.

#![allow(clippy::float_cmp, reason = "counts and quotients of counts are told exactly")]

use crate::support::{data, input_error, result_of, tiny_request};
use ninescope_oracles::endurance;
use serde_json::{Value, json};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number, not {value}"))
}

fn assert_near(told: &Value, expected: f64) {
    let told = number(told);
    assert!((told - expected).abs() <= 1e-12 * expected.abs(), "{told}, expected {expected}");
}

/// A few requests on a preset, or on the tiny memory.
fn run(drive: &Value, sets: &[&str], job: &Value, prefill: &str) -> Value {
    let request = json!({ "drive": drive, "set": sets, "workload": { "job": job }, "seed": 1, "prefill": prefill });
    result_of(&request).unwrap_or_else(|error| panic!("{error}"))
}

fn tiny_scm() -> Value {
    json!({ "file": data("tiny-scm.toml") })
}

/// 700 writes of the same sector, and nothing that moves it.
fn hammer() -> Value {
    json!({ "rw": "write", "bs": "512", "size": "512", "requests": 700, "iodepth": 1 })
}

#[test]
fn a_hammered_sector_lasts_its_rating_over_its_writes() {
    let result = run(&tiny_scm(), &["scm.wear_leveling=none", "scm.endurance_writes=70000"], &hammer(), "none");
    let medium = &result["endurance"]["media"]["scm"];
    assert_eq!(medium["passes"], json!(endurance::passes_of_a_sector(70_000.0, 700.0)));
    assert_eq!(
        (&medium["passes"], &medium["unit"], &medium["reason"]),
        (&json!(100.0), &json!("sector"), &json!(null))
    );
    // 8,192 sectors of which one has all 700 writes.
    let wear = &medium["wear"];
    let told = ["min", "p50", "p90", "p99", "max"].map(|key| wear[key].as_u64());
    assert_eq!(told, [0, 0, 0, 0, 700].map(Some));
    assert_eq!((&wear["mean"], &wear["max_over_mean"]), (&json!(700.0 / 8_192.0), &json!(8_192.0)));
    assert_eq!((&medium["passes_of_mean"], &medium["used"]), (&json!(100.0 * 8_192.0), &json!(0.01)));
    let lifetime = &result["endurance"]["lifetime"];
    assert_eq!((&lifetime["limited_by"], &lifetime["passes"]), (&json!("scm"), &json!(100.0)));
    let ns = number(&result["measured_ns"]);
    assert_eq!(number(&result["endurance"]["window_ns"]), ns);
    assert_near(&lifetime["years"], 100.0 * ns / (365.0 * 86_400e9));
    // 70,000 writes of 512 B, in drives of 4 MiB, over 1,825 days.
    assert_eq!(lifetime["host_bytes"], json!(70_000.0 * 512.0));
    assert_near(&lifetime["dwpd"], 70_000.0 * 512.0 / (4_194_304.0 * 1_825.0));
}

#[test]
fn wear_before_the_window_is_not_of_the_window() {
    let request = json!({
        "drive": tiny_scm(), "set": ["scm.wear_leveling=none"], "seed": 1, "warmup": 300,
        "workload": { "job": hammer() },
    });
    let result = result_of(&request).expect("a run");
    let medium = &result["endurance"]["media"]["scm"];
    assert_eq!((&medium["wear"]["max"], &medium["passes"]), (&json!(400), &json!(250.0)));
    assert_eq!((&medium["used"], &result["scm"]["wear"]["writes_max"]), (&json!(0.007), &json!(700)));
}

#[test]
fn wear_levelling_costs_writes_and_buys_life() {
    let job = json!({ "rw": "randwrite", "bs": "512", "size": "32KiB", "requests": 20_000, "iodepth": 4 });
    let of = |policy: &str| run(&tiny_scm(), &[&format!("scm.wear_leveling={policy}")], &job, "none");
    let (plain, ladder) = (of("none"), of("ladder"));
    let told = |result: &Value, key: &str| number(&result["endurance"]["media"]["scm"][key]);
    assert_eq!(told(&plain, "write_amplification"), 1.0);
    let copies = number(&ladder["scm"]["copies_per_write"]);
    assert!((told(&ladder, "write_amplification") - (1.0 + copies)).abs() < 1e-9 && copies > 0.0);
    assert!(told(&ladder, "passes") > 10.0 * told(&plain, "passes"));
    for result in [&plain, &ladder] {
        assert!(told(result, "passes") <= told(result, "passes_of_mean"), "nothing is better than level");
    }
}

#[test]
fn the_preset_s_scm_tells_what_its_counters_come_to() {
    let job = json!({ "rw": "randwrite", "bs": "4KiB", "size": "1MiB", "requests": 5_000, "iodepth": 8 });
    let result = run(&json!({ "preset": "s-scm" }), &["scm.capacity=8MiB"], &job, "none");
    let (scm, medium) = (&result["scm"], &result["endurance"]["media"]["scm"]);
    assert_near(&medium["passes"], 100_000.0 / number(&scm["wear"]["writes_max"]));
    let written = number(&scm["counters"]["sectors_written"]) + number(&scm["counters"]["sectors_copied"]);
    assert_eq!(number(&medium["bytes_written"]), written * 512.0);
    assert_eq!(result["endurance"]["host_bytes"], json!(5_000 * 4_096));
    assert_eq!(result["endurance"]["lifetime"]["dwpd_years"], json!(5.0));
    // Six times what TLC costs, for each byte there is, spare sectors included.
    let raw = number(&result["config"]["raw_bytes"]);
    let logical = number(&result["config"]["logical_bytes"]);
    let cost = &result["cost"];
    assert!(raw > logical);
    assert_near(&cost["total"], 6.0 * raw / 1e9);
    assert_near(&cost["per_logical_gb"], 6.0 * raw / logical);
    assert_near(&cost["iops_per_cost"], number(&result["throughput"]["write"]["iops"]) / (6.0 * raw / 1e9));
}

/// 24 block groups in each of 4 pools bear 500 cycles each: that is 500 times all flash, whatever they are rated for.
#[test]
fn blocks_that_bear_numbers_of_their_own_end_the_drive_when_too_few_are_left() {
    let result = small_tlc(&["nand.wear_out={policy=\"fixed\",cycles=500.0}"]);
    let (medium, lifetime) = (&result["endurance"]["media"]["nand"], &result["endurance"]["lifetime"]);
    let passes = 500.0 * number(&result["config"]["raw_bytes"]) / number(&medium["bytes_written"]);
    assert_near(&medium["passes"], passes);
    assert_eq!((&medium["life_by"], &medium["rated"]), (&json!("read-only"), &json!(3_000)));
    assert_near(&medium["passes_of_mean"], passes * 6.0);
    assert_near(&lifetime["passes"], passes);
    assert_eq!(result["endurance"]["wear_out"]["passes_to_read_only"], lifetime["passes"]);
    assert_eq!(result["endurance"]["wear_out"]["read_only_cycles"], json!(500));
    assert_near(&lifetime["years"], passes * number(&result["measured_ns"]) / (365.0 * 86_400e9));
    // Of Weibull numbers the drive needs all but the weakest few.
    let drawn = small_tlc(&["nand.wear_out={policy=\"weibull\",scale=500.0,shape=8.0}"]);
    let told = &drawn["endurance"];
    assert_eq!(told["lifetime"]["passes"], told["wear_out"]["passes_to_read_only"]);
    assert!(number(&told["wear_out"]["passes_to_first"]) < number(&told["lifetime"]["passes"]));
    assert!(number(&told["lifetime"]["passes"]) < passes, "the mean of these is less than 500");
}

/// The tlc preset with few blocks, overwritten until it collects garbage.
fn small_tlc(sets: &[&str]) -> Value {
    let small = ["geometry.blocks_per_plane=24", "geometry.pages_per_block=24", "ftl.over_provisioning=0.5"];
    let sets = [&small[..], sets].concat();
    let job = json!({ "rw": "randwrite", "bs": "4KiB", "requests": 100_000, "iodepth": 32 });
    run(&json!({ "preset": "tlc" }), &sets, &job, "full")
}

#[test]
fn a_nand_preset_lasts_as_the_closed_forms_say() {
    let result = small_tlc(&["endurance.dwpd_years=3"]);
    let (flash, logical) = (number(&result["config"]["raw_bytes"]), number(&result["config"]["logical_bytes"]));
    let waf = number(&result["waf"]["total"]);
    assert!(waf > 1.2, "garbage was collected: {waf}");
    let medium = &result["endurance"]["media"]["nand"];
    let lifetime = &result["endurance"]["lifetime"];
    assert_near(&medium["write_amplification"], waf);
    assert_near(&lifetime["host_bytes"], endurance::host_bytes(flash, 3_000.0, waf));
    assert_near(&lifetime["dwpd"], endurance::drive_writes_per_day(3_000.0, flash / logical, waf, 3.0));
    let host_per_day = 100_000.0 * 4_096.0 * 86_400e9 / number(&result["measured_ns"]);
    assert_near(&medium["per_unit_day"], endurance::erases_per_block_day(host_per_day, flash, waf));
    assert_near(&lifetime["years"], endurance::years(flash, 3_000.0, waf, host_per_day));
    assert_near(&lifetime["passes"], endurance::host_bytes(flash, 3_000.0, waf) / (100_000.0 * 4_096.0));
    assert_eq!((&lifetime["limited_by"], &lifetime["dwpd_years"]), (&json!("nand"), &json!(3.0)));
    // One bit costs one: so much more per GB of the host as there is spare.
    assert_near(&result["cost"]["total"], flash / 1e9);
    assert_near(&result["cost"]["per_logical_gb"], flash / logical);
}

#[test]
fn erases_are_those_of_the_window_and_the_most_erased_block_is_told_beside() {
    let result = small_tlc(&[]);
    let medium = &result["endurance"]["media"]["nand"];
    let wear = &medium["wear"];
    assert_eq!(number(&medium["units"]), 8.0 * 2.0 * 4.0 * 24.0);
    // Every erase is of a group, of the four blocks of a stripe.
    assert_near(
        &json!(number(&wear["mean"]) * number(&medium["units"])),
        4.0 * number(&result["counters"]["group_erases"]),
    );
    assert_near(&medium["passes_of_most_worn"], 3_000.0 / number(&wear["max"]));
    assert!(number(&medium["passes_of_most_worn"]) < number(&medium["passes"]));
    assert_near(&medium["used"], number(&result["wear"]["erases_max"]) / 3_000.0);
    assert_eq!(medium["notes"], json!([]));
}

#[test]
fn cycles_behind_a_drive_are_used_and_do_not_change_what_it_bears() {
    let (new, old) = (small_tlc(&[]), small_tlc(&["nand.initial_cycles=1500"]));
    let told = |result: &Value, key: &str| number(&result["endurance"]["media"]["nand"][key]);
    assert_eq!(told(&new, "passes"), told(&old, "passes"));
    assert!((told(&old, "used") - told(&new, "used") - 0.5).abs() < 1e-12);
}

#[test]
fn reads_wear_nothing_and_no_figure_is_infinite() {
    for drive in [json!({ "preset": "s-scm" }), json!({ "preset": "tlc" })] {
        let job = json!({ "rw": "randread", "size": "1MiB", "requests": 100 });
        let result = run(&drive, &[], &job, "footprint");
        let lifetime = &result["endurance"]["lifetime"];
        for key in ["passes", "years", "host_bytes", "dwpd", "limited_by"] {
            assert_eq!(lifetime[key], json!(null), "{key}");
        }
        let reason = lifetime["reason"].as_str().expect("a reason");
        assert!(reason.starts_with("unlimited"), "{reason}");
        assert!(number(&result["cost"]["iops_per_cost"]) > 0.0);
    }
}

#[test]
fn what_is_not_rated_and_has_no_price_says_so() {
    let result = result_of(&tiny_request(&[])).expect("the tiny run");
    let lifetime = &result["endurance"]["lifetime"];
    assert_eq!(lifetime["passes"], json!(null));
    assert_eq!(lifetime["reason"], json!("nand: unknown: the drive does not say nand.endurance_cycles"));
    assert_eq!(result["cost"]["total"], json!(null));
    assert_eq!(result["cost"]["reason"], json!("unknown: the drive does not say nand.bit_cost"));
}

#[test]
fn values_that_no_figure_can_be_told_with_are_refused() {
    for (set, words) in [
        ("endurance.dwpd_years=0.0", "greater than 0"),
        ("endurance.dwpd_years=nan", "finite"),
        ("endurance.dwpd_years=2000", "at most 1000"),
        ("nand.bit_cost=-1.0", "greater than 0"),
        ("nand.bit_cost=inf", "finite"),
        ("nand.endurance_cycles=0", "must not be zero"),
    ] {
        let message = input_error(&tiny_request(&[set]));
        let key = set.split('=').next().expect("a key");
        assert!(message.contains(key) && message.contains(words), "{set}: {message}");
    }
}
