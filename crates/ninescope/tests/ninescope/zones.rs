//! Zones: what is refused, what a log of the host on them is told with, and what is told of both.

use crate::support::{data, expect, result_of, tiny_request};
use serde_json::{Value, json};

/// The tiny drive with zones of these keys, empty, under these jobs; and more changes.
fn zoned(zns: &str, more: &[&str], jobs: &Value) -> Value {
    let zns = format!("zns={{{zns}}}");
    let mut sets: Vec<&str> = more.to_vec();
    sets.push(&zns);
    let mut request = tiny_request(&sets);
    request["drive"] = json!({ "file": data("tiny-zns.toml") });
    request["prefill"] = json!("none");
    request["workload"] = json!({ "job": jobs });
    request
}

fn append() -> Value {
    json!([{ "name": "log", "rw": "write", "bs": "16k", "iodepth": 4, "requests": 40, "zone_command": "append" }])
}

#[test]
fn zones_that_cannot_be_are_refused_by_their_key() {
    let refused = |zns: &str, words: &[&str]| expect(&zoned(zns, &[], &append()), words);
    refused("zone_width=0", &["zns.zone_width is 0, it must divide"]);
    refused("zone_width=1000", &["zns.zone_width is 1000, it must divide"]);
    refused("zone_size=\"4KiB\"", &["zns.zone_size is 4KiB, and a zone takes"]);
    refused("active_zones=0", &["zns.active_zones must not be zero"]);
    refused("active_zones=2,open_zones=3", &["zns.", "a zone that is open is active"]);
    refused("read_only_zones=[100000]", &["zns.read_only_zones names zone 100000"]);
    refused("read_only_zones=[1],offline_zones=[1]", &["zns.read_only_zones names zone 1", "offline"]);
    refused("zone_widht=1", &["did you mean `zone_width`"]);
}

#[test]
fn what_does_not_go_with_zones_is_refused_by_its_key() {
    for (set, key) in [
        ("controller.write_completion=program", "controller.write_completion"),
        ("controller.page_timeout=1ms", "controller.page_timeout"),
        ("controller.interface=sata", "controller.interface"),
        ("ftl.streams={policy=\"hinted\",streams=2}", "ftl.streams"),
        ("ftl.map={policy=\"entries\",size=\"4KiB\"}", "ftl.map"),
        ("nand.ecc={policy=\"bch\",user_data=1024,correctable=9}", "nand.ecc"),
        ("namespaces=[{size=\"1MiB\"}]", "namespaces"),
    ] {
        expect(&zoned("zone_width=1", &[set], &append()), &[key, "does not go with zones"]);
    }
    let mut request = zoned("zone_width=1", &[], &append());
    request["prefill"] = json!("steady");
    expect(&request, &["prefill: nothing of a drive with zones"]);
    let forced = json!([{ "rw": "write", "requests": 4, "fua": 1.0 }]);
    expect(&zoned("zone_width=1", &[], &forced), &["fua", "no page of a zone is padded"]);
    let mut request = tiny_request(&[]);
    request["workload"] = json!({ "job": append() });
    expect(&request, &["zone_command", "the drive has no zones"]);
    let read = json!([{ "rw": "read", "requests": 4, "zone_command": "append" }]);
    expect(&zoned("zone_width=1", &[], &read), &["zone_command", "is asked for with writes"]);
}

#[test]
fn what_zones_were_asked_is_told() {
    let result = result_of(&zoned("zone_width=1,active_zones=3", &[], &append())).expect("a run");
    let zns = &result["zns"];
    assert_eq!(zns["commands"]["append"], 40);
    assert_eq!(zns["active_zones_max"], 3);
    let refused: u64 = zns["errors"].as_object().expect("errors").values().filter_map(Value::as_u64).sum();
    assert_eq!((refused, &result["waf"]["gc"]), (0, &json!(0.0)));
    let states = zns["states"].as_object().expect("states");
    assert_eq!(states.values().filter_map(Value::as_u64).sum::<u64>(), zns["zones"].as_u64().expect("zones"));
}
