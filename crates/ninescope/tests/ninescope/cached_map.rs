//! A map that lies in flash in a description: what is told of it, and what is refused by which key.

use serde_json::Value;

use crate::support::{input_error, result_of, tiny_request};

/// The tiny drive with room for a map of its own, of 2,560 units, and changes.
fn larger(sets: &[&str]) -> Value {
    let mut all = vec!["geometry.blocks_per_plane=32"];
    all.extend_from_slice(sets);
    tiny_request(&all)
}

fn expect(sets: &[&str], wanted: &[&str]) {
    let message = input_error(&larger(sets));
    for part in wanted {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
}

#[test]
fn a_policy_that_is_set_by_its_name_keeps_what_it_knows_of_its_parameters() {
    let map_of = |sets: &[&str]| {
        let result = result_of(&larger(sets)).expect("a drive");
        result["config"]["drive"]["ftl"]["map"].clone()
    };
    let given = "ftl.map={policy=\"entries\",size=\"2KiB\"}";
    assert_eq!(map_of(&[given, "ftl.map.policy=ideal"]), Value::Null, "which is what is said of it");
    let pages = map_of(&[given, "ftl.map.policy=pages", "ftl.map.size=8KiB"]);
    assert_eq!((&pages["policy"], &pages["size"]), (&"pages".into(), &"8KiB".into()));
    // What is set behind it, and of another policy, is refused by its own key.
    expect(&[given, "ftl.map.policy=ideal", "ftl.map.size=1KiB"], &["--set ftl.map.size=1KiB", "parameter of"]);
}

#[test]
fn what_does_not_go_with_it_is_named_by_what_was_typed() {
    expect(
        &["ftl.map={policy=\"entries\",fetch_size=\"1KiB\"}", "nand.ecc=bch"],
        &["ftl.map.fetch_size is 1KiB, and nand.ecc is given", "are read whole"],
    );
    let tiered = ["ftl.map=entries", "ftl.mapping_unit=16KiB", "tier.placement=wo-dm"];
    let scm = "scm={channels=1,banks_per_channel=1,capacity=\"64KiB\",slot_size=\"16KiB\",read=\"1us\",set=\"1us\",\
               reset=\"1us\",command_address=\"1us\",channel_rate=\"1GB/s\"}";
    expect(
        &[tiered[0], tiered[1], tiered[2], scm],
        &["ftl.map is entries, and tier.placement is wo-dm", "caches alone (`wb`"],
    );
}

#[test]
fn a_cache_of_less_than_a_page_of_the_map_is_refused() {
    // 128 blocks are 10,240 units, whose entries take more than eight pages of 1,024; 32 blocks have three.
    let (large, map) = ("geometry.blocks_per_plane=128", "ftl.map=entries");
    for (policy, size, least) in [("entries", "8B", 4_096), ("entries", "4095B", 4_096), ("pages", "4095B", 4_096)] {
        let (policy, size) = (format!("ftl.map={policy}"), format!("ftl.map.size={size}"));
        let wanted = format!("a page of the map may take {least} B of it");
        expect(&[large, &policy, &size], &["ftl.map.size", &wanted]);
    }
    for sets in [[large, map, "ftl.map.size=4KiB"], ["geometry.blocks_per_plane=32", map, "ftl.map.size=8B"]] {
        assert!(result_of(&larger(&sets)).is_ok(), "{sets:?}");
    }
    expect(&[large, map, "ftl.map.host_memory=8B"], &["ftl.map.host_memory", "4096 B"]);
}

#[test]
fn what_says_nothing_is_told() {
    expect(
        &["ftl.map={policy=\"entries\"}", "ftl.map.host_access=3us"],
        &["ftl.map.host_access", "ftl.map.host_memory"],
    );
    let notes = |size: &str| {
        let map = format!("ftl.map={{policy=\"entries\",size=\"{size}\"}}");
        let result = result_of(&larger(&[&map])).expect("a drive");
        let notes = result["notes"].as_array().expect("notes").clone();
        notes.iter().any(|note| note.as_str().is_some_and(|note| note.contains("nothing of it ever leaves memory")))
    };
    // 8 B for each unit.
    assert_eq!((notes("20480B"), notes("20472B")), (true, false));
}
