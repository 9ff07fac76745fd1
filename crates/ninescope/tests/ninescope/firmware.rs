//! Cores of the firmware: what is refused, and what is told of them.

use crate::support::{data, expect, result_of, tiny_request};
use serde_json::{Value, json};

/// The tiny drive with cores of these keys, and more changes.
fn with_cores(firmware: &str, more: &[&str]) -> Value {
    let firmware = format!("firmware={{{firmware}}}");
    let mut sets: Vec<&str> = more.to_vec();
    sets.push(&firmware);
    tiny_request(&sets)
}

#[test]
fn cores_that_cannot_be_are_refused_by_their_key() {
    expect(&with_cores("cores=0,clock=\"1GHz\"", &[]), &["firmware.cores must not be zero"]);
    expect(&with_cores("cores=5000,clock=\"1GHz\"", &[]), &["firmware.cores is 5000, at most 1024"]);
    expect(&with_cores("cores=1,clock=\"0Hz\"", &[]), &["firmware.clock must not be zero"]);
    expect(&with_cores("cores=1,clock=\"10Hz\"", &[]), &["firmware.clock is 10Hz, at least 1000 Hz"]);
    expect(&with_cores("cores=1,clock=\"500\"", &[]), &["has no unit", "500MHz"]);
    expect(&with_cores("cores=1,clock=\"1GHz\",move=2000000000", &[]), &["firmware.move is 2000000000"]);
    expect(&with_cores("cores=1,clock=\"1GHz\",dealing=\"hashed\"", &[]), &["by-role"]);
    expect(&with_cores("cores=1,clock=\"1GHz\",comand=5", &[]), &["did you mean `command`"]);
    let cache = "dram={capacity=\"1MiB\",access=\"30ns\",rate=\"3.2GB/s\"}";
    let more = ["ftl.mapping_unit=16KiB", "tier.placement=wb", cache];
    expect(&with_cores("cores=1,clock=\"1GHz\"", &more), &["firmware is there", "`wb`", "flash alone"]);
}

#[test]
fn what_cores_did_is_told() {
    let firmware = "cores=2,clock=\"500MHz\",command=100,look_up=10,allocation=20,transaction=30,victim=1000,move=5";
    let result = result_of(&with_cores(firmware, &[])).expect("a drive");
    let (of_cores, counters) = (&result["firmware"]["counters"], &result["counters"]);
    let requests = |op: &str| result["throughput"][op]["requests"].as_u64().unwrap_or(0);
    assert_eq!(of_cores["allocations"].as_u64(), Some(requests("write")));
    assert_eq!(of_cores["look_ups"].as_u64(), Some(requests("write") + requests("read")));
    assert_eq!(of_cores["moves"], counters["gc_page_reads"]);
    let busy = result["utilisation"]["cores"].as_array().expect("two cores");
    assert_eq!(busy.len(), 2);
    assert!(busy.iter().all(|share| share.as_f64().is_some_and(|share| share > 0.0 && share < 1.0)), "{busy:?}");
    // 100 cycles of 2 ns for each, and as many for what it reads or writes.
    let of_write = &result["attribution"]["write"][0]["parts_ns"]["firmware"];
    assert!(of_write.as_f64().is_some_and(|mean| mean >= 260.0), "{}", result["attribution"]["write"]);
    assert_eq!(result["config"]["drive"]["firmware"]["dealing"], "shared");
}

#[test]
fn cores_of_a_drive_with_zones_decide_about_zones() {
    let cores = "cores=1,clock=\"1GHz\",command=100,look_up=10,allocation=20,transaction=30";
    let mut request = with_cores(cores, &["zns={zone_width=1}"]);
    request["drive"] = json!({ "file": data("tiny-zns.toml") });
    request["prefill"] = json!("none");
    let append = json!({ "name": "log", "rw": "write", "bs": "16k", "requests": 40, "zone_command": "append" });
    request["workload"] = json!({ "job": [append] });
    let result = result_of(&request).expect("a run");
    let of_cores = &result["firmware"]["counters"];
    let counted = ["commands", "look_ups", "allocations"].map(|name| of_cores[name].as_u64());
    assert_eq!(counted, [Some(40); 3], "{of_cores}");
    // One request at a time: each waits for nobody's decisions but those about its programs, of which there are some.
    let of_write = result["attribution"]["write"][0]["parts_ns"]["firmware"].as_f64().expect("a mean");
    assert!((130.0..160.0).contains(&of_write), "{of_write}");
}
