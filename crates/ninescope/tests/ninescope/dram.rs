//! One DRAM for all that lies in it: what fits, what does not, and what is told of it.

use crate::support::{expect, result_of, tiny_request};
use serde_json::Value;

/// The tiny drive with a DRAM of these keys, and more changes.
fn with_dram(dram: &str, more: &[&str]) -> Value {
    let dram = format!("dram={{access=\"30ns\",rate=\"1GB/s\",{dram}}}");
    let mut sets: Vec<&str> = more.to_vec();
    sets.push(&dram);
    tiny_request(&sets)
}

/// The same with mapping units of a page, as a cache above flash needs.
fn with_cache(dram: &str) -> Value {
    with_dram(dram, &["ftl.mapping_unit=16KiB", "tier.placement=wb"])
}

#[test]
fn what_does_not_fit_is_named_with_each_key_and_its_share() {
    // Four pages for each of two dies and one that fills for each of two plane groups: ten of 16 KiB.
    expect(
        &with_dram("capacity=\"128KiB\",write_buffer=true", &[]),
        &[
            "dram.capacity is 128KiB",
            "controller.buffered_pages is 4 for each of 2 dies (160KiB with 2 that fill)",
            "they take 160KiB together, more than there is",
        ],
    );
    // Six in a shared buffer, and the 960 entries of the ideal map.
    expect(
        &with_dram("capacity=\"128KiB\",write_buffer=true,map=true", &["controller.shared_buffered_pages=6"]),
        &["controller.shared_buffered_pages is 6 (128KiB with 2 that fill)", "ftl.map is ideal (3840B)"],
    );
    expect(
        &with_dram(
            "capacity=\"32KiB\",map=true",
            &["geometry.blocks_per_plane=32", "ftl.map={policy=\"entries\",size=\"64KiB\"}"],
        ),
        &["dram.capacity is 32KiB", "ftl.map.size is 64KiB", "they take 64KiB together"],
    );
    expect(
        &with_cache("capacity=\"1MiB\",cache=\"896KiB\",write_buffer=true,map=true"),
        &["dram.capacity is 1MiB", "dram.cache is 896KiB", "(160KiB with 2 that fill)", "ftl.map is ideal (960B)"],
    );
    expect(
        &with_cache("capacity=\"256KiB\",write_buffer=true"),
        &["dram.capacity is 256KiB", "they leave no page of a cache for each of 8 banks"],
    );
}

#[test]
fn what_is_of_no_use_in_dram_is_refused() {
    expect(
        &with_dram("capacity=\"1MiB\"", &[]),
        &["dram is there", "makes no cache of it", "dram.write_buffer, dram.read_data or dram.map"],
    );
    expect(&with_dram("capacity=\"1MiB\",cache=\"1MiB\"", &[]), &["dram.cache is given", "makes no cache of it"]);
    expect(&with_cache("capacity=\"1MiB\",cache=\"0B\""), &["dram.cache must not be zero"]);
    expect(&with_dram("capacity=\"0B\",map=true", &[]), &["dram.capacity must not be zero"]);
    expect(
        &with_cache("capacity=\"1MiB\",cache=\"100KiB\""),
        &["dram.cache is 100KiB", "whole number of pages of 16KiB for each of 8 banks"],
    );
}

#[test]
fn times_of_sizes_must_rise_in_size_and_have_somebody_who_takes_them() {
    let told = |sizes: &str| with_dram(&format!("capacity=\"1MiB\",write_buffer=true,transfer_times=[{sizes}]"), &[]);
    let one = |size: &str, time: &str| format!("{{size=\"{size}\",time=\"{time}\"}}");
    let twice = format!("{},{}", one("4KiB", "1us"), one("4KiB", "2us"));
    expect(&told(&twice), &["dram.transfer_times[1].size is 4KiB, it must be above 4KiB"]);
    expect(&told(&one("0B", "1us")), &["dram.transfer_times[0].size is 0B, it must be above 0B"]);
    expect(&told(&one("4KiB", "2h")), &["dram.transfer_times[0].time is longer than an hour"]);
    let cache = format!("capacity=\"1MiB\",transfer_times=[{}]", one("4KiB", "1us"));
    expect(&with_cache(&cache), &["dram.transfer_times", "nothing but the cache takes the bus"]);
}

#[test]
fn a_cache_takes_what_the_others_leave() {
    let cache_of = |dram: &str| {
        let result = result_of(&with_cache(dram)).expect("a drive");
        result["config"]["drive"]["dram"]["cache"].clone()
    };
    // 1 MiB less 160 KiB and 960 B is six times a page for each of 8 banks, and something.
    assert_eq!(cache_of("capacity=\"1MiB\",write_buffer=true,map=true"), "768KiB");
    // Where nothing else lies there it is all of it, as it was before anything else could.
    assert_eq!(cache_of("capacity=\"1MiB\""), Value::Null);
}

#[test]
fn what_went_over_the_bus_is_told() {
    let all = "capacity=\"1MiB\",write_buffer=true,read_data=true,map=true";
    let result = result_of(&with_dram(all, &[])).expect("a drive");
    let (bus, counters) = (&result["dram"]["bus"], &result["counters"]);
    assert_eq!(bus["reads_in"], counters["host_page_reads"]);
    assert_eq!(bus["pages_out"], counters["host_page_programs"]);
    let requests = |op: &str| result["throughput"][op]["requests"].as_u64().unwrap_or(0);
    assert_eq!(bus["writes_in"].as_u64(), Some(requests("write")));
    assert_eq!(bus["map_look_ups"].as_u64(), Some(requests("write") + requests("read")));
    let busy = result["utilisation"]["dram"].as_f64().expect("a share");
    assert!(busy > 0.0 && busy < 1.0, "{busy}");
    let of_write = &result["attribution"]["write"][0]["parts_ns"]["dram"];
    assert!(of_write.as_f64().is_some_and(|mean| mean > 30.0), "{}", result["attribution"]["write"]);
    assert!(result["dram"].get("counters").is_none(), "there is no cache");
}
