//! Maps of blocks in a run: what merges take, by hand, and what is refused by which key.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::{Scratch, expect, result_of};

/// One plane of 16 blocks of four pages, ten logical blocks of them, where a read takes 10 us, a program 100 us, an erase 1 ms, and
/// nothing else any time worth speaking of; a write is over when it is programmed.
const DRIVE: &str = r#"
[geometry]
channels = 1
packages_per_channel = 1
dies_per_package = 1
planes_per_die = 1
blocks_per_plane = 16
pages_per_block = 4
page_size = "4KiB"

[nand]
cell = "slc"
read = ["10us"]
program = ["100us"]
program_pulses = 1
erase_loop = "1ms"
erase_loops = 1
command_address = "0ns"
suspend_recover = "0ns"
resume_ramp = "0ns"
channel_rate = "1000GB/s"
initial_cycles = 0

[ftl]
mapping_unit = "4KiB"
over_provisioning = 0.6
map = "block"

[controller]
queue_depth = 4
link_rate = "1000GB/s"
command_cost = "0ns"
write_completion = "program"
"#;

/// Writes of pages, so many each, one every 100 ms, on that drive, full, with changes.
fn request(scratch: &Scratch, sets: &[&str], pages: &[(u64, u64)]) -> Value {
    let mut trace = String::new();
    for (number, (page, count)) in (0_u64..).zip(pages) {
        let at = 128_166_372_003_000_000_u64 + number * 1_000_000;
        let _ = writeln!(trace, "{at},t,0,Write,{},{},0", page * 4096, count * 4096);
    }
    json!({
        "drive": { "file": scratch.file("drive.toml", DRIVE) },
        "workload": { "trace": scratch.file("trace.csv", trace) },
        "set": sets,
        "prefill": "full",
        "seed": 1,
    })
}

/// The mean latency of the writes [us], rounded.
fn mean_us(result: &Value) -> u64 {
    let mean = result["latency"]["write"]["mean_ns"].as_f64().expect("writes");
    (mean / 1000.0).round() as u64
}

#[test]
fn a_write_waits_for_the_pages_before_it() {
    for page in 0..4 {
        let scratch = Scratch::new("waits-for-pages");
        let result = result_of(&request(&scratch, &[], &[(8 + page, 1)])).expect("a run");
        // Each page before it is read and programmed, then its own is; those behind it come after.
        assert_eq!(mean_us(&result), page * 110 + 100, "page {page}");
        assert_eq!(result["block_map"]["pages_copied"], 3);
        assert_eq!(result["block_map"]["merges"], json!({ "switch": 0, "partial": 0, "full": 1 }));
        assert_eq!(result["waf"]["total"], 4.0);
        assert_eq!(result["waf"]["gc"], 3.0);
    }
}

#[test]
fn pages_of_one_request_come_with_one_merge() {
    let scratch = Scratch::new("one-merge");
    let result = result_of(&request(&scratch, &[], &[(9, 2)])).expect("a run");
    // One page before them, then both; one behind.
    assert_eq!(mean_us(&result), 110 + 200);
    assert_eq!((&result["block_map"]["pages_copied"], &result["waf"]["total"]), (&json!(2), &json!(2.0)));
}

#[test]
fn a_log_block_takes_pages_at_once_and_a_merge_is_waited_for() {
    let bast = "ftl.map={policy=\"bast\",log_blocks=1}";
    let scratch = Scratch::new("log-block");
    // Pages 2 and 1 of a logical block, in the order of coming: a program each.
    let result = result_of(&request(&scratch, &[bast], &[(10, 1), (9, 1)])).expect("a run");
    assert_eq!((mean_us(&result), &result["waf"]["total"]), (100, &json!(1.0)));
    // One of another logical block waits for all four pages of the first one to be read, the last of them behind three programs.
    let result = result_of(&request(&scratch, &[bast], &[(10, 1), (17, 1)])).expect("a run");
    let waits = mean_us(&result) * 2 - 100;
    assert!((4 * 110 - 100 + 100..=4 * 110 + 1100).contains(&waits), "{waits}");
    assert_eq!(result["block_map"]["merges"]["full"], 1);
    // All of a logical block in its order: nothing is copied, and nobody waits.
    let all: Vec<(u64, u64)> = (8..12).map(|page| (page, 1)).collect();
    let result = result_of(&request(&scratch, &[bast], &all)).expect("a run");
    assert_eq!((mean_us(&result), &result["waf"]["total"]), (100, &json!(1.0)));
    assert_eq!(result["block_map"]["merges"], json!({ "switch": 1, "partial": 0, "full": 0 }));
}

/// A log block (BAST) is erased with one page in it where hardly any logical block is written twice in a row: what was erased is what had
/// been programmed, and not the room that there was. Of B = 160 logical blocks of N = 16 pages each change is a full merge; a page in N is
/// the first one of its block, and begins a log that is filled up instead, which copies a page less.
#[test]
fn a_drive_with_log_blocks_settles_where_theory_has_it() {
    let scratch = Scratch::new("settles");
    let larger = ["geometry.blocks_per_plane=256", "geometry.pages_per_block=16"];
    let sets = ["ftl.map={policy=\"bast\",log_blocks=1}", larger[0], larger[1]];
    let mut request = request(&scratch, &sets, &[(0, 1)]);
    request["workload"] = json!({ "job": { "rw": "randwrite", "bs": "4k", "requests": 20_000, "iodepth": 1 } });
    request["prefill"] = json!("steady");
    let result = result_of(&request).expect("a run");
    let (steady, told) = (&result["steady_state"], &result["steadiness"]);
    assert_eq!((&steady["by"], &steady["converged"]), (&json!("workload"), &json!(true)), "{steady}");
    assert_eq!(told["verdict"], "no-drift-shown", "{told}");
    let theory = 1.0 + 16.0 * (1.0 - 1.0 / 160.0);
    for waf in [&steady["waf"], &result["waf"]["total"]] {
        let waf = waf.as_f64().expect("a number");
        assert!((waf / theory - 1.0).abs() < 0.02, "{waf}, expected {theory}");
    }
}

#[test]
fn what_does_not_go_with_a_map_of_blocks_is_refused_by_its_key() {
    let refused = |sets: &[&str], words: &[&str]| {
        let scratch = Scratch::new("refused-with-blocks");
        expect(&request(&scratch, sets, &[(0, 1)]), words);
    };
    refused(&["ftl.mapping_unit=2KiB"], &["ftl.mapping_unit", "give ftl.mapping_unit = \"4KiB\""]);
    refused(&["geometry.planes_per_die=2"], &["ftl.frontier_planes", "give ftl.frontier_planes = 1"]);
    refused(&["ftl.map={policy=\"bast\",log_blocks=0}"], &["ftl.map.log_blocks is 0, at least 1"]);
    refused(&["ftl.map={policy=\"fast\",log_blocks=1}"], &["ftl.map.log_blocks is 1, at least 2"]);
    refused(&["ftl.map={policy=\"fast\",log_blocks=16}"], &["ftl.map.log_blocks is 16, and a plane has 16"]);
    refused(&["ftl.map={policy=\"bast\",log_blocks=6}"], &["10 logical blocks, and 7 more are needed"]);
    for (set, key) in [
        ("ftl.victim=fifo", "ftl.victim"),
        ("ftl.gc_trigger={policy=\"foreground\"}", "ftl.gc_trigger"),
        ("ftl.streams=generations", "ftl.streams"),
        ("ftl.gc_copybacks=2", "ftl.gc_copybacks"),
        ("ftl.gc_reserve_blocks=2", "ftl.gc_reserve_blocks"),
        ("ftl.page_allocation=static", "ftl.page_allocation"),
        ("ftl.trim=lazy", "ftl.trim"),
        ("ftl.merges=sectors", "ftl.merges"),
        ("nand.program_failures=0.01", "nand.program_failures"),
        ("nand.factory_bad_blocks=1", "nand.factory_bad_blocks"),
        ("firmware={cores=1,clock=\"1GHz\",command=10}", "firmware"),
    ] {
        refused(&[set], &[key, "map of blocks"]);
    }
    let scratch = Scratch::new("composed-blocks");
    let mut composed = request(&scratch, &[], &[(0, 1)]);
    composed["prefill"] = json!("steady-composed");
    expect(&composed, &["steady-composed", "map of blocks"]);
}
