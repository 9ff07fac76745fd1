//! Drive descriptions: presets, a base with changes, single values set on top, and the default drive that is
//! sized to its trace.

use crate::support::{Scratch, data, data_text, result_of, simulation, tiny_request};
use ninescope::{presets, resolve_drive};
use serde_json::{Value, json};

fn resolved(request: &Value) -> toml::Table {
    let text = resolve_drive(&request.to_string()).expect("a legal drive");
    toml::from_str(&text).expect("what is resolved is TOML")
}

#[test]
fn every_preset_is_a_complete_drive_that_runs() {
    for preset in presets() {
        assert!(!preset.summary().is_empty(), "{} has a summary", preset.name);
        // The whole preset is large: a few blocks of it run the same code.
        let mut flash = vec!["geometry.blocks_per_plane=14", "geometry.channels=1", "ftl.over_provisioning=1.0"];
        if preset.toml.contains("[ftl.slc_cache]") {
            flash.extend(["ftl.slc_cache.fixed_blocks=1", "ftl.slc_cache.borrowed_blocks=1"]);
        }
        let set = match preset.name {
            // Seven channels share its sectors.
            "intel-optane-p4800x" => vec!["scm.capacity=56MiB"],
            name if name.contains("scm") => vec!["scm.capacity=4MiB"],
            _ => flash,
        };
        let request = json!({
            "drive": { "preset": preset.name },
            "set": set,
            "workload": { "job": { "rw": "randrw", "bs": "16KiB", "requests": 200, "iodepth": 4 } },
        });
        let result = result_of(&request).unwrap_or_else(|error| panic!("{}: {error}", preset.name));
        assert_eq!((&result["requests"], &result["complete"]), (&json!(200), &json!(true)), "{}", preset.name);
    }
}

/// The means that AERO's block models have, as they are published.
#[test]
fn the_erase_loops_of_aero_have_the_published_means() {
    let drive = resolved(&json!({ "drive": { "preset": "aero" } }));
    let rows = drive["nand"]["erase_loops"].as_array().expect("rows by wear");
    let published = [1.0, 1.08, 1.29, 2.05, 2.50, 2.79, 3.13, 3.62, 4.07, 4.46, 4.79];
    assert_eq!(rows.len(), published.len());
    for ((row, published), index) in rows.iter().zip(published).zip(0..) {
        assert_eq!(row["cycles"].as_integer(), Some(500 * index));
        let shares = row["shares"].as_array().expect("shares").iter().map(|share| share.as_float().expect("a share"));
        let mean: f64 = shares.zip(1..).map(|(share, loops)| share * f64::from(loops)).sum();
        assert!((mean - published).abs() < 0.0051, "{}: {mean} loops, published {published}", row["cycles"]);
    }
}

#[test]
fn what_is_resolved_resolves_to_itself() {
    for preset in presets() {
        let once = resolve_drive(&json!({ "drive": { "preset": preset.name } }).to_string()).expect("a preset");
        let twice = resolve_drive(&json!({ "drive": { "toml": once } }).to_string()).expect("what was resolved");
        assert_eq!(once, twice, "{}", preset.name);
    }
}

/// What changes nothing, or is of another interface, is no mistake, and is said.
#[test]
fn notes_say_what_does_not_go_with_a_link_or_a_cache() {
    let notes = |sets: &[&str]| result_of(&tiny_request(sets)).expect("a legal drive")["notes"].to_string();
    let sata = |rate: &str| {
        let rate = format!("controller.link_rate={rate}");
        notes(&["controller.queue_depth=32", "controller.interface=sata", &rate])
    };
    let note = "controller.link_rate is 3436 MB/s, and SATA's fastest link has 600 MB/s";
    assert!(sata("3435973837B/s").contains(note), "{}", sata("3435973837B/s"));
    assert!(!sata("600MB/s").contains("controller.link_rate"));
    assert!(!notes(&[]).contains("controller.link_rate"));
    let dram = "dram={access=\"30ns\",rate=\"1GB/s\",capacity=\"1MiB\"}";
    let cache = ["ftl.mapping_unit=16KiB", "tier.placement=wb", dram];
    let program = "controller.write_completion=program";
    let note = "controller.write_completion = \\\"program\\\" changes nothing";
    let told = notes(&[&cache[..], &[program]].concat());
    assert!(told.contains(note), "{told}");
    assert!(!notes(&cache).contains("changes nothing"));
    assert!(!notes(&[program]).contains("changes nothing"));
}

#[test]
fn a_base_gives_what_a_file_does_not_say() {
    let text = "base = \"tlc\"\n[geometry]\nchannels = 3\n[ftl.victim]\npolicy = \"d-choices\"\nd = 4\n";
    let table = resolved(&json!({ "drive": { "toml": text } }));
    let preset = resolved(&json!({ "drive": { "preset": "tlc" } }));
    assert_eq!(table["geometry"]["channels"].as_integer(), Some(3));
    assert_eq!(table["geometry"]["page_size"], preset["geometry"]["page_size"]);
    assert_eq!(table["nand"], preset["nand"]);
    assert_eq!(table["ftl"]["victim"]["policy"].as_str(), Some("d-choices"));
    assert_eq!(table["ftl"]["victim"]["d"].as_integer(), Some(4));
}

#[test]
fn sets_come_last_and_the_later_one_wins() {
    let request = json!({
        "drive": { "toml": "base = \"tlc\"\n[geometry]\nchannels = 3\n" },
        "set": ["geometry.channels=4", "nand.erase_loop=2.5ms", "ftl.victim=d-choices", "ftl.victim.d=7",
                "geometry.channels=5", "scheduler.multi_plane=false"],
    });
    let table = resolved(&request);
    assert_eq!(table["geometry"]["channels"].as_integer(), Some(5));
    assert_eq!(table["nand"]["erase_loop"].as_str(), Some("2500us"), "exactly, in the unit that holds it");
    assert_eq!(table["ftl"]["victim"]["d"].as_integer(), Some(7));
    assert_eq!(table["scheduler"]["multi_plane"].as_bool(), Some(false));
}

#[test]
fn the_result_holds_the_drive_it_ran_on() {
    let result = result_of(&tiny_request(&["ftl.victim=fifo"])).expect("the tiny run");
    let again = json!({
        "drive": { "toml": result["config"]["drive_toml"] },
        "workload": { "trace": data("tiny.csv") },
        "seed": 1,
    });
    assert_eq!(result_of(&again).expect("the resolved drive runs")["digest"], result["digest"]);
    assert_eq!(result["config"]["name"], json!("tiny"));
    // 1536 units of 4 KiB; 1536 / 1.6 of them logical.
    assert_eq!(result["config"]["raw_bytes"], json!(1536 * 4096));
    assert_eq!(result["config"]["logical_bytes"], json!(960 * 4096));
}

/// Blocks per plane of the default drive for a trace whose highest byte is `end`.
fn blocks_for(scratch: &Scratch, end: u64) -> u64 {
    let trace = scratch.file(&format!("{end}.csv"), format!("1,h,0,Read,{},512,1\n", end - 512));
    let request = json!({ "workload": { "trace": trace }, "prefill": "none" });
    let mut simulation = simulation(&request).expect("the default drive");
    let result: Value = serde_json::from_str(&simulation.result_json(false).expect("a result")).expect("JSON");
    let logical = result["config"]["logical_bytes"].as_u64().expect("a size");
    assert!(logical >= end.max(8 << 30), "{logical} bytes for a trace up to {end}");
    result["config"]["drive"]["geometry"]["blocks_per_plane"].as_u64().expect("a count")
}

#[test]
fn the_default_drive_is_sized_to_its_trace() {
    let scratch = Scratch::new("sizing");
    let preset = resolved(&json!({ "drive": { "preset": "tlc" } }));
    let number = |table: &str, key: &str| preset[table][key].as_integer().expect("a count") as f64;
    // Independent of the library: bytes that one more block per plane adds, by hand from the preset's numbers.
    let bytes_per_block = number("geometry", "channels")
        * number("geometry", "packages_per_channel")
        * number("geometry", "dies_per_package")
        * number("geometry", "planes_per_die")
        * number("geometry", "pages_per_block")
        * 16_384.0;
    let over_provisioning = preset["ftl"]["over_provisioning"].as_float().expect("a share");
    let expected = |gib: u64| {
        let blocks = ((gib << 30) as f64 * (1.0 + over_provisioning) / bytes_per_block).ceil();
        (blocks as u64).max(256)
    };
    assert_eq!(preset["geometry"]["page_size"].as_str(), Some("16KiB"));
    // At least as many blocks as the preset has; above that what the next whole GiB needs.
    assert_eq!(blocks_for(&scratch, 512), expected(8));
    assert_eq!(blocks_for(&scratch, 8 << 30), expected(8));
    assert_eq!(blocks_for(&scratch, 200 << 30), expected(200));
    assert_eq!(blocks_for(&scratch, (200 << 30) + 512), expected(201));
}

#[test]
fn a_drive_that_is_named_is_not_resized() {
    let table: toml::Table = toml::from_str(&data_text("tiny.toml")).expect("TOML");
    let result = result_of(&tiny_request(&[])).expect("the tiny run");
    assert_eq!(
        result["config"]["drive"]["geometry"]["blocks_per_plane"].as_i64(),
        table["geometry"]["blocks_per_plane"].as_integer()
    );
}

#[test]
fn one_value_stands_for_every_page_type_and_one_parameter_for_the_default_policy() {
    let sets = json!(["nand.read=45us", "nand.program=500us", "ftl.gc_trigger.beyond_reserve=2"]);
    let request = json!({ "drive": { "preset": "tlc" }, "set": sets });
    let drive = resolved(&request);
    assert_eq!(drive["nand"]["read"].as_array().map(Vec::len), Some(1));
    assert_eq!(drive["ftl"]["gc_trigger"]["beyond_reserve"].as_integer(), Some(2));
    let mut run = tiny_request(&["nand.read=45us"]);
    run["requests"] = json!(10);
    assert!(result_of(&run).is_ok(), "three program times beside one read time");
}
