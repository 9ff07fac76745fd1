//! Bad input is refused with a message that names the file, the line or the key, never with a panic and never as
//! a fault of ninescope.

use crate::support::{Scratch, data, data_text, expect, input_error, result_of, tiny_request};
use serde_json::{Value, json};

/// Every part of `wanted` is in the message of `request`.
fn with_set(set: &str) -> Value {
    tiny_request(&[set])
}

/// The tiny drive's text with a line changed.
fn with_text(from: &str, to: &str) -> Value {
    let text = data_text("tiny.toml");
    assert!(text.contains(from), "the tiny drive says {from}");
    let mut request = tiny_request(&[]);
    request["drive"] = json!({ "toml": text.replace(from, to) });
    request
}

#[test]
fn the_number_of_blocks_that_is_said_to_be_enough_is_enough_and_one_less_is_not() {
    let with_blocks = |share: &str, blocks: u64| {
        tiny_request(&[
            &format!("ftl.over_provisioning={share}"),
            &format!("geometry.blocks_per_plane={blocks}"),
            "geometry.pages_per_block=3",
        ])
    };
    for (share, too_few) in [("0.07", 5), ("0.05", 12), ("0.1", 40), ("0.011", 300), ("1.5", 3), ("0.28", 2)] {
        let message = input_error(&with_blocks(share, too_few));
        let (before, _) = message.split_once(" blocks per plane are enough").unwrap_or_else(|| panic!("{message}"));
        let enough: u64 = before.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a number");
        let loads = |blocks: u64| {
            crate::support::simulation(&with_blocks(share, blocks)).map(drop).map_err(|error| error.to_string())
        };
        let is_too_small = |told: Result<(), String>| told.is_err_and(|told| told.contains("spare blocks"));
        assert!(!is_too_small(loads(enough)), "{share}: {enough}");
        assert!(is_too_small(loads(enough - 1)), "{share}: {enough}");
    }
}

#[test]
fn mistakes_in_a_drive_name_their_line_or_key() {
    for (from, to, wanted) in [
        ("page_size", "pgae_size", &["drive", "line 10", "did you mean `page_size`"][..]),
        ("[ftl]", "[flt]", &["did you mean `ftl`"]),
        ("channels = 2", "chanels = 2", &["line 4", "did you mean `channels`"]),
        ("cell = \"tlc\"", "cell = \"plc\"", &["plc", "slc"]),
        ("\"1200MB/s\"", "\"1200 parsecs\"", &["1200 parsecs", "line 22"]),
        ("erase_loop = \"1ms\"", "erase_loop = \"1KiB\"", &["1KiB", "erase_loop"]),
        ("channels = 2", "channels = -2", &["line 4"]),
        ("channels = 2", "channels = 0", &["geometry.channels", "must not be zero", "line 4"]),
        ("blocks_per_plane = 12", "blocks_per_plane = 0", &["geometry.blocks_per_plane", "line 8"]),
        ("page_size = \"16KiB\"", "page_size = \"10000B\"", &["geometry.page_size", "512 B x 2^n", "line 10"]),
        ("page_size = \"16KiB\"", "page_size = \"8GiB\"", &["geometry.page_size", "too large"]),
        ("planes_per_die = 2", "planes_per_die = 9", &["geometry.planes_per_die", "at most 4"]),
        (
            "gc_reserve_blocks = 1",
            "gc_reserve_blocks = 1\nfrontier_planes = 3",
            &["ftl.frontier_planes is 3, and geometry.planes_per_die is 2: ftl.frontier_planes must divide", "line 29"],
        ),
        ("mapping_unit = \"4KiB\"", "mapping_unit = \"32KiB\"", &["ftl.mapping_unit", "at most the page"]),
        ("over_provisioning = 0.6", "over_provisioning = 0.0", &["ftl.over_provisioning", "greater than 0"]),
        ("over_provisioning = 0.6", "over_provisioning = -0.5", &["ftl.over_provisioning", "greater than 0"]),
        ("over_provisioning = 0.6", "over_provisioning = nan", &["ftl.over_provisioning"]),
        ("over_provisioning = 0.6", "over_provisioning = 0.01", &["ftl.over_provisioning", "spare blocks"]),
        ("gc_reserve_blocks = 1", "gc_reserve_blocks = 0", &["ftl.gc_reserve_blocks", "at least 1"]),
        ("gc_reserve_blocks = 1", "gc_reserve_blocks = 4294967295", &["ftl.gc_reserve_blocks", "12 blocks", "line 28"]),
        (
            "over_provisioning = 0.6",
            "over_provisioning = 1e9",
            &["ftl.over_provisioning", "at most 100 are", "a share", "line 27"],
        ),
        ("channels = 2", "channels = 1000000000", &["geometry.channels is 1000000000", "line 4"]),
        (
            "gc_reserve_blocks = 1",
            "victim = { policy = \"d-choices\", d = -1 }",
            &["ftl.victim.d: a whole number from 1 to 4294967295 is wanted, not -1", "line 28"],
        ),
        ("queue_depth = 64", "queue_depth = 0", &["controller.queue_depth", "must not be zero"]),
        ("\"3200MB/s\"", "\"0B/s\"", &["controller.link_rate", "must not be zero"]),
        ("\"1200MB/s\"", "\"0B/s\"", &["nand.channel_rate", "must not be zero"]),
        ("\"34us\", \"52us\", \"61us\"", "\"34us\", \"52us\"", &["nand.read"]),
        ("\"250us\", \"400us\", \"610us\"", "\"250us\", \"400us\"", &["nand.program"]),
        ("queue_depth = 64", "queue_depth = 100000000", &["controller.queue_depth", "at most 65535"]),
        (
            "page_timeout = \"2ms\"",
            "page_timeout = \"2ms\"\nbuffered_pages = 4000000000",
            &["buffered_pages", "at most 65535"],
        ),
        ("command_cost = \"1us\"", "command_cost = \"10000000000s\"", &["controller.command_cost", "hour"]),
        ("over_provisioning = 0.6", "over_provisioning = inf", &["ftl.over_provisioning", "finite"]),
        ("\"3200MB/s\"", "\"1B/s\"", &["controller.link_rate", "line 32", "at least 1000 B/s"]),
        ("\"1200MB/s\"", "\"999B/s\"", &["nand.channel_rate", "at least 1000 B/s"]),
        ("erase_loops = 3", "erase_loops = 0", &["nand.erase_loops", "must not be zero"]),
        ("erase_loops = 3", "erase_loops = 1000000", &["nand.erase_loops is 1000000, at most 64", "line 18"]),
        ("erase_loop = \"1ms\"", "erase_loop = 45", &["nand.erase_loop: `45` has no unit", "line 17"]),
        ("\"1200MB/s\"", "1200", &["nand.channel_rate: `1200` has no unit: write 1200B/s, 1200MB/s", "line 22"]),
        ("\"34us\", \"52us\", \"61us\"", "34, 52, 61", &["nand.read[0]: `34` has no unit", "34us"]),
        ("erase_loop = \"1ms\"", "erase_loop = \"9000h\"", &["nand.erase_loop", "more than"]),
        ("[geometry]", "[geometry", &["line 3"]),
    ] {
        expect(&with_text(from, to), wanted);
    }
}

/// Who changes one of two values that go together is told of the other, and whose it is.
#[test]
fn planes_that_do_not_go_together_are_named_with_where_they_come_from() {
    let of_text = |text: &str| {
        let mut request = tiny_request(&[]);
        request["drive"] = json!({ "toml": text });
        request
    };
    let based = "base = \"tlc\"\n[geometry]\nplanes_per_die = 2\n";
    let whose =
        "geometry.planes_per_die is 2, and ftl.frontier_planes is 4 (from its base tlc): ftl.frontier_planes must";
    expect(&of_text(based), &[whose, "line 3"]);
    let based = "base = \"tlc\"\n[ftl]\nfrontier_planes = 3\n";
    expect(&of_text(based), &["is 3, and geometry.planes_per_die is 4 (from its base tlc): ", "line 3"]);
    let mut request = tiny_request(&["geometry.planes_per_die=2"]);
    request["drive"] = json!({ "preset": "tlc" });
    let whose =
        "--set geometry.planes_per_die=2: geometry.planes_per_die is 2, and ftl.frontier_planes is 4 (from preset tlc)";
    expect(&request, &[whose]);
}

/// Suspending: no safe point, no loop, a cost beyond what is interrupted, wear that nobody knows.
#[test]
fn mistakes_about_suspending_name_their_key() {
    let no_points = "scheduler.suspend={policy=\"every-safe-point\",points_per_loop=0}";
    for (sets, wanted) in [
        (&[no_points][..], &["scheduler.suspend", "points_per_loop", "a whole number from 1 to"][..]),
        (
            &["scheduler.suspend={policy=\"safe-points-by-wear\",worn_points=0}"],
            &["scheduler.suspend", "worn_points", "must not be zero"],
        ),
        (&["scheduler.suspend=between-loops", "scheduler.suspend.parked_max=0us"], &["parked_max", "must not be zero"]),
        (&["scheduler.suspend=practical", "scheduler.suspend.timeout=0ms"], &["timeout", "must not be zero"]),
        (
            &["scheduler.suspend={policy=\"safe-points-by-wear\",young_points=5}"],
            &["scheduler.suspend", "worn_points", "more than that of a young block"],
        ),
        (&["nand.erase_loops=0"], &["--set nand.erase_loops=0", "must not be zero"]),
        (&["nand.erase_loops=[]"], &["--set nand.erase_loops=[]", "no rows"]),
        (&["nand.erase_loops=-1"], &["nand.erase_loops", "-1 is no number of loops"]),
        (&["nand.erase_loops=[{cycles=0,share=[1]}]"], &["nand.erase_loops", "shares"]),
        (&["nand.erase_loops=[{cycles=0,shares=[0.5,0.4]}]"], &["nand.erase_loops", "in sum"]),
        (
            &["scheduler.suspend=immediate", "nand.suspend_recover=2ms"],
            &["--set nand.suspend_recover=2ms", "cost 2005.000 us", "resume_ramp", "erase loop of 1000.000 us"],
        ),
        (
            &["scheduler.suspend=between-loops", "nand.resume_ramp=1ms"],
            &["nand.resume_ramp", "erase loop of 1000.000 us"],
        ),
        (&["nand.initial_cycles=4000000000"], &["nand.initial_cycles", "at most"]),
        (&["nand.suspend_limit.young_cycles=5"], &["nand.suspend_limit", "young_suspensions"]),
    ] {
        let mut request = tiny_request(sets);
        request["prefill"] = json!("none");
        expect(&request, wanted);
    }
    let text = data_text("tiny.toml").replace("initial_cycles = 0", "");
    for set in ["scheduler.suspend=safe-points-by-wear", "nand.erase_loops=[{cycles=0,shares=[1.0]}]"] {
        let mut request = tiny_request(&[set]);
        request["drive"] = json!({ "toml": text });
        expect(&request, &["P/E cycles", "nand.initial_cycles"]);
    }
    // Nothing is suspended: what a suspension would cost does not matter.
    result_of(&tiny_request(&["nand.suspend_recover=2ms"])).expect("a drive without suspends");
}

/// Codes, failing bits, and what is done about them. The drive has a code of 1 KiB, 8 bits, errors and a retry.
#[test]
fn mistakes_about_codes_name_their_key() {
    for (set, wanted) in [
        // Codes.
        ("nand.ecc.correctable=0", &["nand.ecc.correctable"][..]),
        ("nand.ecc={policy=\"bch\",user_data=\"1KiB\",correctable=900,field_degree=14}", &["nand.ecc.", "16383"]),
        ("nand.ecc.field_degree=12", &["nand.ecc.field_degree", "4095"]),
        ("nand.ecc.field_degree=40", &["nand.ecc.field_degree"]),
        ("nand.ecc.user_data=0B", &["nand.ecc.user_data"]),
        ("nand.ecc.user_data=1000B", &["nand.ecc.user_data", "whole number of codewords"]),
        ("nand.ecc.user_data=64KiB", &["nand.ecc.user_data", "16KiB"]),
        ("nand.ecc.decoders=0", &["nand.ecc.decoders"]),
        ("nand.ecc.corectable=3", &["--set nand.ecc.corectable=3", "correctable"]),
        ("nand.ecc=reed-solomon", &["nand.ecc", "bch"]),
        ("nand.ecc={policy=\"bch\",shared=true,holds_die=true}", &["--set nand.ecc={", "holds_die", "shared"]),
        ("nand.ecc={policy=\"crc\",width=0}", &["nand.ecc.width"]),
        ("nand.ecc={policy=\"crc\",width=100}", &["nand.ecc.width"]),
        ("nand.ecc.latency={policy=\"cycles\",cycle=\"0ns\"}", &["nand.ecc.latency"]),
        ("nand.ecc.latency={policy=\"cycles\",parallel_bits=0}", &["nand.ecc"]),
        ("nand.ecc.latency={policy=\"fixed\",clean=\"5KiB\"}", &["nand.ecc", "5KiB"]),
        ("nand.spare_size=10B", &["--set nand.spare_size=10B", "16 codewords of 14 B", "224 B", "214 B more"]),
        ("nand.edc=crc", &["nand.edc", "clean-apart"]),
        // Bits that fail.
        ("nand.errors.rber=0.51", &["--set nand.errors.rber=0.51", "nand.errors.rber is 0.51", "0.5"]),
        ("nand.errors.rber=-1e-3", &["nand.errors.rber", "-0.001"]),
        ("nand.errors.rber=nan", &["nand.errors.rber"]),
        ("nand.errors={policy=\"table\",rows=[]}", &["nand.errors.rows"]),
        ("nand.errors={policy=\"power-law\",fresh=0.7}", &["nand.errors"]),
        (
            "nand.corruption={initial_rber=0.6}",
            &["--set nand.corruption={", "nand.corruption.initial_rber is 0.6", "0.5"],
        ),
        (
            "nand.corruption={initial_rber=1e-7,at=\"2s\",until=\"2s\"}",
            &["nand.corruption.until is 2s", "after `at`", "2s"],
        ),
        ("nand.corruption={hourly_rber=-1.0}", &["nand.corruption.hourly_rber is -1"]),
        ("nand.initial_age=-1h", &["nand.initial_age", "-1h"]),
        (
            "nand.temperature={running=150.5}",
            &["--set nand.temperature={", "nand.temperature.running is 150.5", "-55 to 150"],
        ),
        ("nand.temperature={reference=-60.0}", &["nand.temperature.reference is -60"]),
        ("nand.temperature={stored=200.0}", &["nand.temperature.stored is 200"]),
        ("nand.temperature={activation_energy=2.5}", &["nand.temperature.activation_energy is 2.5", "0 to 2"]),
        ("nand.temperature={runing=50.0}", &["nand.temperature", "runing"]),
        ("nand.variation={}", &["--set nand.variation={", "nand.variation says nothing", "layers"]),
        (
            "nand.variation={page_types=[1.0,2.0]}",
            &["nand.variation.page_types has 2 values", "per bit of the cell (3)"],
        ),
        ("nand.variation={page_types=[1.0,0.0,1.0]}", &["nand.variation.page_types has the value 0", "above 0"]),
        ("nand.variation={layers=[1.0,nan]}", &["nand.variation.layers has the value NaN"]),
        ("nand.variation={layers=[1,1,1,1,1,1,1,1,1]}", &["nand.variation.layers has 9 values", "8 pages"]),
        ("nand.variation={blocks=3.5}", &["nand.variation.blocks is 3.5", "0 to 3"]),
        ("nand.retry={policy=\"table\",rows=[]}", &["nand.retry.rows"]),
        ("nand.retry={policy=\"table\",retention=[\"1d\",\"0s\"]}", &["nand.retry.retention", "ascend"]),
        (
            "nand.retry={policy=\"table\",retention=[\"0s\"],rows=[{cycles=0,shares=[[0.6,0.6]]}]}",
            &["nand.retry.rows", "1.2 in sum at 0 cycles"],
        ),
        // What is done about them.
        ("nand.retry={policy=\"levels\",success=[1.5]}", &["nand.retry.success"]),
        ("nand.retry={policy=\"levels\",success=[]}", &["nand.retry.success"]),
        ("nand.retry={policy=\"shifted-reference\",attempts=0}", &["nand.retry.attempts"]),
        ("nand.retry={policy=\"shifted-reference\",remaining=2.0}", &["nand.retry.remaining"]),
        ("scrub={policy=\"periodic\",period=\"0s\"}", &["--set scrub={", "scrub.period", "zero"]),
        ("scrub={policy=\"periodic\",pages_in_flight=0}", &["scrub.pages_in_flight"]),
        ("scrub=always", &["scrub", "periodic"]),
        ("refresh=limits", &["--set refresh=limits", "retention", "reads"]),
        ("refresh={policy=\"limits\",reads=0}", &["refresh.reads"]),
        ("nand.retry=soft-sensing", &["--set nand.retry=soft-sensing", "LDPC"]),
        ("refresh={policy=\"limits\",retention=\"0s\"}", &["refresh.retention"]),
        ("refresh={policy=\"expected-errors\",rber=0.7}", &["refresh.rber"]),
        ("refresh={policy=\"expected-errors\",period=\"0s\"}", &["refresh.period"]),
        ("backing_store={read=\"8ms\",parallel=0}", &["backing_store.parallel is 0"]),
        ("backing_store={read=\"8ms\"}", &["backing_store", "nand.edc"]),
        ("ftl.streams=clean", &["ftl.streams", "clean-apart"]),
    ] {
        let mut request = with_set(set);
        request["drive"] = json!({ "file": data("tiny-coded.toml") });
        expect(&request, wanted);
    }
}

/// The same in the file of a drive, whose line is named, and of storage-class memory.
#[test]
fn mistakes_about_codes_name_their_line() {
    let coded = data_text("tiny-coded.toml");
    for (from, to, wanted) in [
        ("rber = 4e-4", "rber = 0.7", &["line 26", "nand.errors.rber is 0.7"][..]),
        ("correctable = 8", "correctable = 0", &["line 25", "nand.ecc.correctable"]),
        ("[controller]", "[scrub]\npolicy = \"periodic\"\nperiod = \"0h\"\n[controller]", &["scrub.period", "line 36"]),
        ("ecc = {", "#ecc = {", &["nand.errors", "give nand.ecc"]),
        ("errors = {", "temperature = {}\n#errors = {", &["line 26", "nand.temperature is there", "give nand.errors"]),
        ("errors = {", "variation = {}\n#errors = {", &["line 26", "nand.variation is there", "give nand.errors"]),
        (
            "initial_age = \"30d\"",
            "temperature = { stored = 40.0 }",
            &["nand.temperature.stored is given", "give nand.initial_age"],
        ),
    ] {
        assert!(coded.contains(from), "the coded drive says {from}");
        let mut request = tiny_request(&[]);
        request["drive"] = json!({ "toml": coded.replace(from, to) });
        expect(&request, wanted);
    }
    let scm = "scm.ecc={policy=\"bch\",user_data=\"1KiB\",correctable=3}";
    for (sets, wanted) in [
        (&[scm][..], &["scm.ecc.user_data", "512B"][..]),
        (&["scm.errors={policy=\"constant\",rber=1e-3}"], &["scm.errors", "give scm.ecc"]),
    ] {
        let mut request = tiny_request(sets);
        request["drive"] = json!({ "file": data("tiny-scm.toml") });
        expect(&request, wanted);
    }
}

#[test]
fn mistakes_in_a_set_name_it() {
    for (set, wanted) in [
        ("ftl.over_provisoning=0.1", &["--set", "did you mean `over_provisioning`"][..]),
        ("ftl.victim=greedi", &["--set", "did you mean `greedy`"]),
        ("ftl.victim.d=3", &["--set ftl.victim.d=3", "`d`"]),
        ("nand.erase_loop=", &["--set", "nand.erase_loop"]),
        ("nonsense", &["--set nonsense", "key=value"]),
        ("=1", &["--set =1", "key"]),
        ("geometry.channels=-1", &["geometry.channels", "-1"]),
        ("geometry.channels=1.5", &["geometry.channels"]),
        ("geometry.channels=99999999999", &["geometry.channels"]),
        ("geometry.channels.x=1", &["geometry.channels"]),
        ("geometry.channels=4294967295", &["--set geometry.channels=4294967295", "mapping units"]),
        ("geometry.blocks_per_plane=4294967295", &["geometry.blocks_per_plane", "32-bit"]),
        ("controller.write_completion=never", &["write_completion", "never"]),
        ("scheduler.suspend=sometimes", &["sometimes", "every-safe-point"]),
        ("scheduler.arbitration=weighted", &["weighted", "weighted-round-robin"]),
        (
            "scheduler.arbitration={policy=\"weighted-round-robin\",low=0}",
            &["scheduler.arbitration.low", "must not be zero"],
        ),
        (
            "scheduler.arbitration={policy=\"weighted-round-robin\",high=300}",
            &["scheduler.arbitration.high", "at most 256"],
        ),
        ("scheduler.transactions={policy=\"by-class\",low=0}", &["scheduler.transactions.low", "must not be zero"]),
        ("scheduler.transactions={policy=\"by-class\",high=300}", &["scheduler.transactions.high", "at most 256"]),
        ("controller.max_transfer=0B", &["controller.max_transfer", "at least a sector"]),
        ("controller.max_transfer=1000B", &["controller.max_transfer", "no multiple of a sector"]),
        ("controller.max_transfer=100TiB", &["controller.max_transfer", "at most"]),
        ("controller.interrupt_threshold=8", &["controller.interrupt_threshold", "needs `interrupt_time`"]),
        ("controller.link_carries=entries", &["controller.link_carries", "`commands`"]),
        ("controller.link_reads=page", &["controller.link_reads", "`by-page`"]),
        (
            "controller={interface=\"sata\",queue_depth=32,link_carries=\"commands\"}",
            &["controller.link_carries", "sata"],
        ),
        ("controller={fetch_time=\"1us\",link_carries=\"commands\"}", &["controller.fetch_time", "link_carries"]),
        ("controller.interrupt_time=1us", &["controller.interrupt_time", "needs `interrupt_threshold`"]),
        ("controller.queued_trims=true", &["controller.queued_trims", "sata"]),
        ("controller.interface=sata", &["controller.queue_depth is 64, at most 32", "sata", "NCQ"]),
        ("controller={interface=\"sata\",queue_depth=32,queue_entries=9}", &["controller.queue_entries", "sata"]),
        ("controller.interface=scsi", &["controller.interface", "scsi"]),
        ("controller.queues=65536", &["controller.queues is 65536, at most 65535"]),
        ("controller.queues=0", &["controller.queues is 0, at least 1"]),
        ("controller.queue_entries=65537", &["controller.queue_entries is 65537, at most 65536"]),
        ("controller.queue_entries=1", &["controller.queue_entries is 1, at least 2"]),
        ("controller.commands_per_queue=0", &["controller.commands_per_queue is 0, at least 1"]),
        ("controller.commands_per_queue=65536", &["controller.commands_per_queue is 65536, at most 65535"]),
        (
            "controller={interface=\"sata\",queue_depth=32,commands_per_queue=9}",
            &["controller.commands_per_queue", "sata"],
        ),
        ("controller.fetch_entries=4", &["controller.fetch_entries", "needs `fetch_time`"]),
        ("controller.fetches_in_flight=2", &["controller.fetches_in_flight", "needs `fetch_time`"]),
        ("controller.fetch_time=0ns", &["controller.fetch_time", "must not be zero"]),
        ("controller.buffered_pages=0", &["controller.buffered_pages"]),
        ("ftl.victim={policy=\"d-choices\", d=4294967295}", &["ftl.victim.d", "at most 1000", "`greedy`"]),
        ("controller.buffered_pages=1", &["controller.buffered_pages", "at least 2"]),
        ("controller.shared_buffered_pages=0", &["controller.shared_buffered_pages", "must not be zero"]),
        ("controller.shared_buffered_pages=70000", &["controller.shared_buffered_pages", "at most 65535"]),
        ("controller.shared_buffered_pages=1", &["controller.shared_buffered_pages", "1 for each of"]),
        ("controller.forwards=some", &["controller.forwards", "`written`"]),
        ("controller.forwards=written", &["controller.forwards", "ftl.merges = \"sectors\""]),
        ("ftl.map.programs_wait=true", &["ftl.map.programs_wait", "`entries`", "give ftl.map.policy"]),
    ] {
        expect(&with_set(set), wanted);
    }
}

/// A table that needs several keys is looked at when all of them are set.
#[test]
fn sets_that_are_right_together_alone_are_taken_together() {
    let of = |sets: &[&str]| tiny_request(&[&["ftl.mapping_unit=16KiB", "tier.placement=wb"], sets].concat());
    let whole = ["dram.capacity=1MiB", "dram.rate=3GB/s", "dram.access=30ns"];
    let result = result_of(&of(&whole)).expect("a cache in DRAM");
    assert_eq!(result["config"]["drive"]["dram"]["access"], json!("30ns"));
    let in_one = result_of(&of(&["dram={capacity=\"1MiB\",rate=\"3GB/s\",access=\"30ns\"}"])).expect("the same");
    assert_eq!(result["digest"], in_one["digest"]);
    expect(&of(&whole[..2]), &["--set dram.", "the key `access` is missing"]);
    expect(&of(&["dram.capacity=1MiB", "dram.acess=30ns"]), &["--set dram.acess=30ns", "did you mean `access`"]);
    // What lacks something is not blamed for a slip in another table that it hid.
    let hidden = ["dram.capacity=1MiB", "ftl.victim=greedi", "dram.rate=3GB/s", "dram.access=30ns"];
    expect(&of(&hidden), &["--set ftl.victim=greedi", "did you mean `greedy`"]);
    expect(&of(&["ftl.victim=greedi", "dram.capacity=1MiB"]), &["--set ftl.victim=greedi"]);
}

/// Before, the value that the preset gave was blamed, at a line of a file that the user never saw.
#[test]
fn values_that_do_not_go_together_blame_the_one_that_was_given() {
    let of_tlc = |set: &str| {
        let mut request = with_set(set);
        request["drive"] = json!({ "preset": "tlc" });
        request
    };
    let both = ["geometry.blocks_per_plane", "ftl.over_provisioning is 0.07", "spare blocks"];
    expect(&of_tlc("geometry.blocks_per_plane=4"), &[&["--set geometry.blocks_per_plane=4: "][..], &both].concat());
    expect(
        &of_tlc("geometry.blocks_per_plane=1"),
        &["--set geometry.blocks_per_plane=1: geometry.blocks_per_plane is 1", "ftl.gc_reserve_blocks is 1"],
    );
    expect(
        &of_tlc("ftl.gc_reserve_blocks=4000000"),
        &["--set ftl.gc_reserve_blocks=4000000: ftl.gc_reserve_blocks is 4000000", "geometry.blocks_per_plane is"],
    );
    let mut request = with_set("controller.queue_depth=8");
    request["drive"] = json!({ "toml": "base = \"tlc\"\n\n[geometry]\nblocks_per_plane = 8\n" });
    expect(&request, &[&["drive: geometry.blocks_per_plane is 8, and", "line 4"][..], &both].concat());
}

/// Memory that is free where the system says so [KiB].
fn free_kibibytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Larger units are named where they are enough, and not where they are there already.
#[test]
fn larger_units_are_advised_where_they_help() {
    let scratch = Scratch::new("units");
    let reaching = |tebibytes: u64| {
        let far = tebibytes << 40;
        scratch.file(&format!("{tebibytes}.csv"), format!("0,h,0,Read,0,4096,0\n1000,h,0,Read,{far},4096,0\n"))
    };
    let advice = |tebibytes: u64, set: &[&str]| {
        let workload = json!({ "trace": reaching(tebibytes), "addresses": "refuse" });
        let message = input_error(&json!({ "workload": workload, "set": set }));
        assert!(message.contains("--addresses compact"), "{message}");
        message.contains("ftl.mapping_unit=16KiB makes")
    };
    assert!(advice(20, &[]));
    assert!(!advice(80, &[]));
    assert!(!advice(80, &["ftl.mapping_unit=16KiB"]));
}

#[test]
fn a_default_drive_whose_size_was_set_names_what_set_it() {
    let scratch = Scratch::new("set-size");
    let trace = scratch.file("far.csv", "0,h,0,Read,0,4096,0\n1000,h,0,Read,1627277209600,4096,0\n");
    let request = json!({ "workload": { "trace": trace }, "set": ["geometry.blocks_per_plane=300"] });
    expect(
        &request,
        &["far.csv: the trace reaches", "no --set geometry.blocks_per_plane=300 to have one sized", "compact"],
    );
    let request = json!({ "workload": { "trace": trace }, "drive": { "preset": "tlc" } });
    expect(&request, &["far.csv: the trace reaches", "no --drive to have one sized"]);
}

/// Before, `geometry` was blamed, which nobody had set, and what to do about a trace was told of a job. The tables of
/// 4 * 10^9 units take 8 bytes for each at least, 32 GB; a machine that has them builds the drive instead.
#[test]
fn a_workload_that_reaches_too_far_for_the_memory_names_what_reaches() {
    if free_kibibytes().is_none_or(|kibibytes| kibibytes > 33 << 20) {
        return;
    }
    let job = json!([{ "name": "far", "rw": "randread", "size": "14.75t", "number_ios": 10 }]);
    let message = input_error(&json!({ "workload": { "job": job } }));
    for part in ["size: a drive that reaches address", "GiB of memory", "90 % of the"] {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
    assert!(!message.contains("geometry") && !message.contains("--addresses"), "{message}");

    let scratch = Scratch::new("far-trace");
    let trace = scratch.file("far.csv", "0,h,0,Read,0,4096,0\n1000,h,0,Read,16272772092723,4096,0\n");
    let expected = ["far.csv: a drive that reaches address", "GiB of memory", "--addresses compact", "--volume"];
    expect(&json!({ "workload": { "trace": trace } }), &expected);
}

#[test]
fn a_drive_that_does_not_fit_into_memory_is_refused_with_its_size() {
    // 2 144 337 920 units of 512 B: about 18 GB of tables on any machine's account; a machine that has them, and
    // the share that is kept free, builds the drive instead.
    if free_kibibytes().is_none_or(|kibibytes| kibibytes > 16 << 20) {
        return;
    }
    let request = tiny_request(&["geometry.blocks_per_plane=2094080", "ftl.mapping_unit=512B"]);
    expect(&request, &["GiB of memory", "mapping units", "fewer blocks per plane"]);
}

#[test]
fn unknown_presets_and_missing_files_are_named() {
    let request = |drive: Value| json!({ "drive": drive, "workload": { "trace": data("tiny.csv") } });
    expect(&request(json!({ "preset": "tcl" })), &["no preset `tcl`", "Did you mean `tlc`"]);
    expect(&request(json!({ "toml": "base = \"tcl\"" })), &["no preset `tcl`"]);
    expect(&request(json!({ "toml": "base = 3" })), &["base"]);
    expect(&request(json!({ "file": "/nonexistent/drive.toml" })), &["/nonexistent/drive.toml"]);
    expect(&request(json!({ "fiel": "x" })), &["drive", "fiel"]);
    expect(&json!({ "workload": { "trace": "/nonexistent/trace.csv" } }), &["/nonexistent/trace.csv"]);
    expect(&json!({ "workload": { "job_file": "/nonexistent/job.toml" } }), &["/nonexistent/job.toml"]);
}

#[test]
fn broken_traces_are_named_with_file_and_line() {
    let scratch = Scratch::new("traces");
    let with_trace = |name: &str, content: &[u8], strict: bool| {
        let mut request = tiny_request(&[]);
        request["workload"] = json!({ "trace": scratch.file(name, content), "strict": strict });
        request
    };
    expect(&with_trace("empty.csv", b"", false), &["empty.csv", "empty"]);
    expect(&with_trace("blank.csv", b"\n\n\n", false), &["blank.csv"]);
    expect(&with_trace("prose.csv", b"It was a dark\nand stormy night\n", false), &["prose.csv", "dark"]);
    let good = "128166372003061629,h,0,Read,0,4096,1\n";
    let broken = format!("{good}128166372003061630,h,0,Read,zero,4096,1\n");
    expect(&with_trace("broken.csv", broken.as_bytes(), true), &["broken.csv:2", "offset", "zero"]);
    let truncated = format!("{good}{good}128166372003061630,h,0,Re");
    expect(&with_trace("cut.csv", truncated.as_bytes(), true), &["cut.csv:3"]);
    let negative = format!("{good}128166372003061630,h,0,Read,-4096,4096,1\n");
    expect(&with_trace("negative.csv", negative.as_bytes(), true), &["negative.csv:2", "negative"]);
    // The head of a gzip member and nothing behind it.
    let gzip = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b];
    expect(&with_trace("cut.csv.gz", &gzip, false), &["cut.csv.gz", "gzip"]);
    let zstd = [0x28, 0xb5, 0x2f, 0xfd, 4, 0];
    expect(&with_trace("cut.csv.zst", &zstd, false), &["cut.csv.zst", "zstd"]);
    let beyond = "128166372003061629,h,0,Write,3932160,4096,1\n";
    expect(&with_trace("beyond.csv", beyond.as_bytes(), false), &["beyond.csv", "3936256", "3932160"]);
    let far = "128166372003061629,h,0,Write,9223372036854775807,4096,1\n";
    expect(&with_trace("far.csv", far.as_bytes(), false), &["far.csv"]);
}

#[test]
fn options_of_the_run_without_a_meaning_are_named() {
    let with = |key: &str, value: Value| {
        let mut request = tiny_request(&[]);
        request[key] = value;
        request
    };
    expect(&with("warmup", json!(400)), &["warmup", "400"]);
    expect(&with("warmup", json!(1.5)), &["warmup", "1.5"]);
    expect(&with("warmup", json!(-0.5)), &["warmup"]);
    expect(&with("warmup", json!(-1)), &["warmup"]);
    expect(&with("requests", json!(-1)), &["requests"]);
    expect(&with("seed", json!(-1)), &["seed"]);
    expect(&with("duration", json!("10 parsecs")), &["duration", "parsecs"]);
    expect(&with("duration", json!("1000000h")), &["duration", "73 years"]);
    expect(&with("prefill", json!("halfway")), &["prefill", "halfway"]);
    expect(&with("prefil", json!("none")), &["prefil"]);
    expect(&with("check", json!("ful")), &["check", "`full`"]);
    let both = json!({ "trace": data("tiny.csv"), "job": { "rw": "read" } });
    expect(&with("workload", both), &["workload", "exactly one"]);
    expect(&with("workload", json!({})), &["workload", "exactly one"]);
    expect(&with("workload", Value::Null), &["workload", "exactly one"]);
    let trace = |key: &str, value: Value| {
        let mut workload = json!({ "trace": data("tiny.csv") });
        workload[key] = value;
        with("workload", workload)
    };
    expect(&trace("time_scale", json!(0)), &["time_scale"]);
    expect(&trace("time_scale", json!(-1)), &["time_scale"]);
    expect(&trace("loop", json!(0)), &["loop"]);
    expect(&trace("format", json!("mrs")), &["format", "mrs"]);
}

#[test]
fn jobs_without_a_meaning_name_their_key() {
    let scratch = Scratch::new("jobs");
    for (job, wanted) in [
        (json!({ "rw": "randraed" }), &["job", "rw", "randraed"][..]),
        (json!({ "bs": 0 }), &["job", "bs"]),
        (json!({ "bs": "100B" }), &["job", "bs", "512"]),
        (json!({ "bs": "4MiB" }), &["job", "bs"]),
        (json!({ "bs": -4096 }), &["job", "bs"]),
        (json!({ "rwmixread": 101 }), &["job", "rwmixread"]),
        (json!({ "iodepth": 0 }), &["job", "iodepth"]),
        (json!({ "requests": 0 }), &["job", "requests"]),
        (json!({ "offset": "1GiB" }), &["job", "offset", "beyond"]),
        (json!({ "size": "1GiB" }), &["job", "size"]),
        (json!({ "rate_iops": -1.0 }), &["job", "rate_iops"]),
        (json!({ "random_distribution": "zipf:-1" }), &["job", "random_distribution"]),
        (json!({ "io_depth": 1 }), &["job", "io_depth"]),
    ] {
        let mut request = tiny_request(&[]);
        request["workload"] = json!({ "job": job });
        expect(&request, wanted);
    }
    // TRIMs take the controller's time and nothing else: without that a duration never passes.
    let mut request = tiny_request(&["controller.command_cost=0"]);
    request["workload"] = json!({ "job": { "rw": "trim", "duration": "1us" } });
    expect(&request, &["job", "command_cost", "requests"]);
    let mut request = tiny_request(&[]);
    request["workload"] = json!({ "job_file": scratch.file("job.toml", "rw = \"read\"\nbs = \"4 parsecs\"\n") });
    expect(&request, &["job.toml", "line 2", "parsecs"]);
}

#[test]
fn text_that_is_no_request_is_refused() {
    for text in ["", "{", "3", "null", "{\"drive\": 3}", "{\"workload\": 3}", "{\"seed\": 1} x"] {
        let error = ninescope::RunRequest::from_json(text).err();
        assert!(matches!(error, Some(ninescope::Error::Input(_))), "{text}: {error:?}");
    }
}

/// Storage-class memory: a medium that is missing or too many, shapes, times and policies that cannot be.
#[test]
fn mistakes_about_storage_class_memory_name_their_key() {
    let of_scm = |set: &str| {
        let mut request = tiny_request(&[set]);
        request["drive"] = json!({ "file": data("tiny-scm.toml") });
        request
    };
    for (set, wanted) in [
        ("tier.placement=nand-only", &["the table [geometry] is missing"][..]),
        ("scm.channels=0", &["--set scm.channels=0", "must not be zero"]),
        ("scm.banks_per_channel=3", &["scm.capacity", "1024 slots", "6 banks"]),
        ("scm.capacity=5000B", &["scm.capacity", "no whole number of slots"]),
        ("scm.capacity=0B", &["scm.capacity", "must not be zero"]),
        ("scm.capacity=1000TiB", &["scm.capacity", "more than 2^32"]),
        ("scm.slot_size=32KiB", &["scm.slot_size", "at most 16384 B"]),
        ("scm.slot_size=700B", &["scm.slot_size", "512 B x 2^n"]),
        ("scm.read=0ns", &["scm.read", "at least 1 ns"]),
        ("scm.set=2h", &["scm.set"]),
        ("scm.channel_rate=1B/s", &["scm.channel_rate", "at least 1000 B/s"]),
        ("scm.pulse_order=sideways", &["sideways", "in-turn"]),
        ("scm.wear_leveling_copies=by-hand", &["by-hand", "through-controller", "in-memory"]),
        ("scm.endurance_writes=0", &["scm.endurance_writes", "must not be zero"]),
        ("scm.bit_cost=-1.0", &["scm.bit_cost", "greater than 0"]),
        ("scm.wear_leveling=laddder", &["did you mean `ladder`"]),
        ("scm.wear_leveling.spare=1.5", &["scm.wear_leveling.spare", "from 0 to 1"]),
        ("scm.wear_leveling.overwrites=0", &["overwrites", "a whole number from 1 to"]),
        ("scm.verify=to-teh-cap", &["--set scm.verify", "did you mean `to-the-cap`"]),
        ("scm.verify={policy=\"to-the-cap\",cycles=1001}", &["scm.verify.cycles", "is 1001", "at most 1000"]),
        (
            "scm.verify={policy=\"to-the-cap\",accept_bits=1}",
            &["`accept_bits` is a parameter of until-pass, not of to-the-cap"],
        ),
        ("scm.verify={policy=\"until-pass\",accept_bits=4096}", &["scm.verify.accept_bits", "the 4096 cells"]),
        ("scm.verify={policy=\"until-pass\",rber=0.6}", &["scm.verify.rber", "is 0.6", "0 to 0.5"]),
        ("scm.verify={policy=\"until-pass\",decay=0.0}", &["scm.verify.decay", "is 0", "above 0"]),
        ("scm.verify={policy=\"until-pass\",reduction=2.0}", &["scm.verify.reduction", "0 to 1"]),
        ("scm.verify={policy=\"to-the-cap\",verify_read=\"0ns\"}", &["scm.verify.verify_read", "must not be zero"]),
        ("scm.verify.cycles=3", &["--set scm.verify.cycles=3", "policy"]),
    ] {
        expect(&of_scm(set), wanted);
    }
    expect(&with_set("tier.placement=scm-only"), &["--set tier.placement=scm-only", "needs the table [scm]"]);
    let scm = data_text("tiny-scm.toml").split("[tier]").next().unwrap_or_default().to_owned();
    let mut unused = tiny_request(&[]);
    unused["drive"] = json!({ "toml": data_text("tiny.toml") + scm.split_once('\n').expect("a summary").1 });
    expect(&unused, &["scm is there", "nand-only"]);
}

/// Two media: one that is missing, too large or of another page, and thresholds by which no page could stay above, or
/// eviction never end.
#[test]
fn mistakes_about_two_media_name_their_key() {
    let of_hybrid = |sets: &[&str]| {
        let mut request = tiny_request(sets);
        request["drive"] = json!({ "file": data("tiny-hybrid.toml") });
        request
    };
    result_of(&of_hybrid(&[])).expect("without a mistake it runs");
    for (set, wanted) in [
        ("scm.capacity=8MiB", &["--set scm.capacity=8MiB", "more than the", "below it"][..]),
        ("tier.scm_ratio=0.0", &["tier.scm_ratio", "is 0", "greater than 0"]),
        ("tier.scm_ratio=-0.1", &["tier.scm_ratio", "greater than 0"]),
        ("tier.scm_ratio=1.5", &["tier.scm_ratio", "at most 1"]),
        ("tier.scm_ratio=nan", &["tier.scm_ratio"]),
        ("tier.scm_ratio=0.001", &["tier.scm_ratio", "less than one slot of 16KiB for each of 2 banks"]),
        ("tier.placement.evict_free=1.0", &["tier.placement.evict_free", "from 0 to below 1"]),
        ("tier.placement.evict_free=-0.1", &["tier.placement.evict_free", "from 0 to below 1"]),
        ("tier.placement.evict_stop=nan", &["tier.placement.evict_stop", "NaN is not a finite number"]),
        ("tier.placement.evict_stop=0.1", &["tier.placement.evict_stop", "less than evict_free", "never stop"]),
        ("tier.placement.hot_uses=0", &["tier.placement.hot_uses", "every page would be hot"]),
        ("tier.placement.hot_entries=-1.0", &["tier.placement.hot_entries", "from 0 to 1000"]),
        ("tier.placement.victim=mru", &["fifo", "lru"]),
        ("tier.placement.migration=never", &["never", "foreground"]),
        ("tier.placement.copy_reads=true", &["copy_reads"]),
        ("tier.placement=wodm", &["did you mean `wo-dm`"]),
        ("tier.migrations_in_flight=0", &["tier.migrations_in_flight", "must not be zero"]),
        ("tier.migrations_in_flight=4000000000", &["tier.migrations_in_flight", "at most 65535"]),
        ("ftl.mapping_unit=4KiB", &["ftl.mapping_unit", "is 4KiB, the page 16KiB and the slot 16KiB", "must be equal"]),
        ("scm.slot_size=8KiB", &["ftl.mapping_unit", "the slot 8KiB", "must be equal"]),
        ("tier.placement=nv-wb", &["--set tier.placement=nv-wb", "needs the table [storage_scm]"]),
        ("tier.placement=nand-only", &["scm is there", "nand-only", "does not use it"]),
        ("tier.placement=scm-only", &["geometry is there", "scm-only", "does not use it"]),
    ] {
        expect(&of_hybrid(&[set]), wanted);
    }
    let keeps_all = ["tier.placement.evict_free=0.97", "tier.placement.evict_stop=0.97"];
    expect(&of_hybrid(&keeps_all), &["tier.placement.evict_free", "keeps 16 of 16 slots free", "no page stays"]);
    let nothing_above = ["tier.placement.hot_entries=0.0", "tier.placement.random_up_to=0B"];
    expect(&of_hybrid(&nothing_above), &["tier.placement.hot_entries", "nothing would ever be placed in SCM"]);
    let mut without = of_hybrid(&[]);
    let text = data_text("tiny-hybrid.toml");
    let (before, after) = (text.split_once("[scm]").expect("a table").0, text.split_once("[tier]").expect("a table").1);
    without["drive"] = json!({ "toml": format!("{before}[tier]{after}") });
    expect(&without, &["tier.placement", "is `wo-dm`, which needs the table [scm]"]);
    // DRAM makes a cache, too.
    for name in ["wb", "rewritten"] {
        let set = format!("tier.placement={name}");
        expect(&tiny_request(&[&set]), &[&set, &format!("is `{name}`, which needs the table [scm] or [dram]")]);
    }
}

/// What is like a name may be meant, and no key that is like it.
#[test]
fn an_unknown_name_has_names_suggested() {
    let message = input_error(&tiny_request(&["controller.interface=scsi"]));
    assert!(message.contains("unknown name `scsi`, expected `nvme` or `sata`"), "{message}");
    assert!(!message.contains("did you mean"), "{message}");
    expect(&tiny_request(&["controller.interface=nvmee"]), &["did you mean `nvme`?"]);
}

/// Two memories: the same mistakes in the lower one.
#[test]
fn mistakes_about_two_memories_name_their_key() {
    let scm = data_text("tiny-scm.toml");
    let (_, table) = scm.split_once("[scm]").expect("a table");
    let (table, rest) = table.split_once("[tier]").expect("a table");
    let upper = table.replace("4MiB", "64KiB");
    let rest = rest.replace("scm-only", "nv-wb");
    let of_two = |set: &str| {
        let mut request = tiny_request(&[set]);
        request["drive"] = json!({ "toml": format!("[scm]{upper}[storage_scm]{table}[tier]{rest}") });
        request
    };
    result_of(&of_two("scm.read=200ns")).expect("without a mistake it runs");
    let verify = "storage_scm.verify={policy=\"to-the-cap\",reference_cycles=0}";
    expect(&of_two(verify), &["storage_scm.verify.reference_cycles", "must not be zero"]);
    for (set, wanted) in [
        ("scm.capacity=8MiB", &["scm.capacity", "is 8MiB, more than the 4MiB below it"][..]),
        ("storage_scm.slot_size=8KiB", &["storage_scm.slot_size", "must be equal"]),
        ("storage_scm.channel_rate=1B/s", &["storage_scm.channel_rate", "at least 1000 B/s"]),
        ("storage_scm.channel_rate=0B/s", &["storage_scm.channel_rate", "must not be zero"]),
        ("storage_scm.read=0ns", &["storage_scm.read", "at least 1 ns"]),
        ("storage_scm.capacity=0B", &["storage_scm.capacity", "must not be zero"]),
        ("storage_scm.wear_leveling.spare=1.5", &["storage_scm.wear_leveling.spare", "from 0 to 1"]),
        ("tier.placement.evict_free=0.99", &["tier.placement.evict_free", "keeps 16 of 16 slots free"]),
        ("tier.placement=wb", &["--set tier.placement=wb", "needs the table [geometry]"]),
        ("tier.placement=scm-only", &["storage_scm is there", "does not use it"]),
    ] {
        expect(&of_two(set), wanted);
    }
}

#[test]
fn times_by_layer_and_wear_name_their_key() {
    assert!(result_of(&tiny_request(&["nand.times={read_layers=[1.0,1.2],wear=[{cycles=5,erase=1.5}]}"])).is_ok());
    for (set, wanted) in [
        ("nand.times={}", &["nand.times says nothing", "read_layers"][..]),
        ("nand.times={layers=[1.0]}", &["nand.times", "layers"]),
        ("nand.times={read_layers=[1.0,0.0]}", &["nand.times.read_layers has the factor 0", "0.01 and 100"]),
        ("nand.times={program_layers=[nan]}", &["nand.times.program_layers has the factor NaN"]),
        ("nand.times={program_layers=[1,1,1,1,1,1,1,1,1]}", &["nand.times.program_layers has 9 values", "8 pages"]),
        ("nand.times={wear=[{cycles=0,erase=101.0}]}", &["nand.times.wear has the erase factor 101"]),
        ("nand.times={wear=[{cycles=7},{cycles=7}]}", &["nand.times.wear has 7 cycles after 7", "ascend"]),
        ("nand.times={wear=[{cycles=4000000000}]}", &["nand.times.wear has 4000000000 cycles, at most 10000000"]),
        ("nand.times={wear=[{program=1.0}]}", &["nand.times", "cycles"]),
        ("nand.times={wear=[{cycles=0,erase=0.02}]}", &["nand.erase_loop", "suspension"]),
    ] {
        let sets = [set, "scheduler.suspend=immediate"];
        expect(&tiny_request(&sets), wanted);
    }
    expect(
        &with_text("initial_cycles = 0", "times = { wear = [{ cycles = 0 }] }"),
        &["nand.times.wear", "a factor by wear needs the P/E cycles", "nand.initial_cycles"],
    );
}

#[test]
fn a_second_register_is_refused_where_it_makes_no_sense() {
    assert!(result_of(&tiny_request(&["nand.cache_read=0ns"])).is_ok());
    assert!(result_of(&tiny_request(&["nand.read=20us", "nand.cache_read=20us"])).is_ok(), "no gain, and no loss");
    for (sets, wanted) in [
        (&["nand.read=20us", "nand.cache_read=21us"][..], "is 21.000 us, and a page is read in 20.000 us (nand.read)"),
        (&["nand.cache_read=-1us"], ""),
        (&["nand.plane_reads=independently"], "is given, and does not go with planes that read each by itself"),
        (&["power={die_read=\"60mW\"}"], "is given, and does not go with what its parts draw ([power])"),
        (&["nand.ecc={policy=\"bch\",holds_die=true}"], "holds_die"),
    ] {
        let sets = [&["nand.cache_read=1us"][..], sets].concat();
        expect(&tiny_request(&sets), &["nand.cache_read", wanted]);
    }
}

#[test]
fn wordlines_in_one_go_are_refused_where_they_make_no_sense() {
    let wordlines = ["nand.programs=one-shot", "nand.program=900us", "geometry.pages_per_block=9"];
    // Blocks that break are counted beside those that are spare.
    let one_shot = [&wordlines[..], &["geometry.blocks_per_plane=16"]].concat();
    let with = |sets: &[&str]| tiny_request(&[&one_shot[..], sets].concat());
    assert!(result_of(&with(&["nand.program_load=3us"])).is_ok());
    assert!(result_of(&with(&["nand.cell=slc", "nand.read=30us"])).is_ok(), "a wordline of one page");
    expect(&tiny_request(&["nand.program_load=3us"]), &["nand.program_load", "give nand.programs = \"one-shot\""]);
    for (set, key, wanted) in [
        ("geometry.pages_per_block=8", "geometry.pages_per_block", "is 8, no multiple of the 3 pages of a wordline"),
        ("nand.program=[\"1ms\",\"1ms\",\"2ms\"]", "nand.program", "has 3 values"),
        ("controller.buffered_pages=5", "controller.buffered_pages", "at least 6 are needed"),
        ("ftl.superblock={dies=2}", "nand.programs", "and block groups lie on several dies"),
        ("ftl.gc_copybacks=1", "ftl.gc_copybacks", "does not go with"),
        ("nand.program_failures=0.01", "nand.program_failures", "does not go with"),
        ("nand.program_moves=sectors", "nand.program_moves", "does not go with"),
        ("nand.page_types={then=[0,1,2]}", "nand.page_types", "does not go with"),
    ] {
        expect(&with(&[set]), &[key, wanted]);
    }
}

#[test]
fn planes_that_read_each_by_itself_are_refused_where_a_die_does_one_thing_at_a_time() {
    let with = |sets: &[&str]| tiny_request(&[&["nand.plane_reads=independently"][..], sets].concat());
    assert!(result_of(&with(&["ftl.frontier_planes=2"])).is_ok());
    for (set, wanted) in [
        ("geometry.planes_per_die=1", "and a die has one plane: give geometry.planes_per_die"),
        ("power={die_read=\"60mW\"}", "which does not go with what its parts draw ([power])"),
        ("nand.die_failures=[{die=0,at=\"1ms\"}]", "which does not go with dies that fail (nand.die_failures)"),
        (
            "scheduler.transactions=by-class",
            "which does not go with classes of jobs (scheduler.transactions = \"by-class\")",
        ),
    ] {
        let mut sets = vec![set];
        if set.starts_with("geometry") {
            sets.push("ftl.frontier_planes=1");
        }
        expect(&with(&sets), &[&format!("nand.plane_reads is \"independently\", {wanted}")]);
    }
}
