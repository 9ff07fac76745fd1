//! Channels that kinds of data have for themselves: what is refused, and what is told of them.

use crate::support::{expect, result_of, tiny_request};
use serde_json::Value;

/// The tiny drive, of so many channels, with two kinds of data and channels of theirs.
fn with_channels(lists: &str, more: &[&str]) -> Value {
    let lists = format!("ftl.stream_channels={lists}");
    let streams = "ftl.streams={policy=\"by-size\",small=\"4KiB\"}";
    let mut sets =
        vec!["geometry.channels=3", "geometry.blocks_per_plane=64", "ftl.over_provisioning=2", streams, &lists];
    sets.extend(more);
    tiny_request(&sets)
}

#[test]
fn channels_that_cannot_be_are_refused_by_their_key() {
    let key = "ftl.stream_channels";
    expect(&with_channels("[[0,1]]", &[]), &[key, "ftl.streams is by-size", "2 kinds of data are written"]);
    expect(&with_channels("[[0,1],[2]]", &["ftl.streams=single"]), &[key, "one kind of data is written"]);
    expect(&with_channels("[[0,1,2],[]]", &[]), &[key, "gives kind 1 no channel"]);
    expect(&with_channels("[[0,1],[3]]", &[]), &[key, "names channel 3, and the drive has 3, from 0 on"]);
    expect(&with_channels("[[0,0,1],[2]]", &[]), &[key, "names channel 0 twice for kind 0"]);
    expect(&with_channels("[[0],[1]]", &[]), &[key, "gives channel 2 to no kind of data"]);
    expect(
        &with_channels("[[0,1],[2]]", &["ftl.page_allocation=static"]),
        &[key, "the address says where a unit goes"],
    );
}

#[test]
fn what_found_no_room_at_home_is_told() {
    let result = result_of(&with_channels("[[0,1],[2]]", &[])).expect("a drive");
    assert!(result["ftl"]["away_units"].is_u64(), "{}", result["ftl"]);
    assert_eq!(result["config"]["drive"]["ftl"]["stream_channels"], serde_json::json!([[0, 1], [2]]));
    let without = result_of(&tiny_request(&[])).expect("a drive");
    assert!(without["ftl"].get("away_units").is_none());
}
