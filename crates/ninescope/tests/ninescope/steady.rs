//! A drive that the workload itself wears in is steady: what is declared is measured, and measured on. What is not says so.

use crate::support::{Scratch, data, input_error, result_of};
use ninescope::{Plan, RunRequest};
use ninescope_oracles::write_amplification::{TrafficClass, fifo, fifo_hot_cold, greedy};
use serde_json::{Value, json};

const OVER_PROVISIONING: f64 = 0.28;

/// A run on one pool of blocks of 64 units of 4 KiB.
#[allow(clippy::needless_pass_by_value)] // a job is written where it is asked for
fn request(prefill: &str, victim: &str, blocks: u32, job: Value) -> Value {
    json!({
        "drive": { "file": data("tiny.toml") },
        "set": [
            "geometry.channels=1", "geometry.planes_per_die=1", format!("geometry.blocks_per_plane={blocks}"),
            "geometry.pages_per_block=64", "geometry.page_size=4KiB", "controller.page_timeout=10s",
            format!("ftl.over_provisioning={OVER_PROVISIONING}"), format!("ftl.victim={victim}"),
        ],
        "workload": { "job": job },
        "prefill": prefill,
        "seed": 3,
    })
}

/// Random writes that come so slowly that the drive is done with one before the next: as preparing takes them.
fn random_writes(distribution: &str, requests: u32) -> Value {
    json!({ "rw": "randwrite", "random_distribution": distribution, "requests": requests, "rate_iops": 10 })
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number, not {value}"))
}

fn assert_within(measured: f64, expected: f64, share: f64) {
    assert!((measured / expected - 1.0).abs() < share, "{measured}, expected {expected}");
}

#[test]
fn uniform_writes_wear_in_as_theory_has_it_whoever_writes_them() {
    let spare = 1.0 + OVER_PROVISIONING;
    for (victim, theory) in [("greedy", greedy(spare, 64)), ("fifo", fifo(spare))] {
        for (prefill, by) in [("steady", "workload"), ("steady-uniform", "uniform")] {
            let job = random_writes("uniform", 200_000);
            let result = result_of(&request(prefill, victim, 2_048, job)).expect("a run");
            let steady = &result["steady_state"];
            assert_eq!((&steady["by"], &steady["converged"]), (&json!(by), &json!(true)), "{steady}");
            assert_within(number(&steady["waf"]), theory, 0.015);
            assert_within(number(&result["waf"]["total"]), theory, 0.015);
            assert_eq!(result["steadiness"]["verdict"], "no-drift-shown", "{}", result["steadiness"]);
        }
    }
}

/// What a run says about the WAF that it declared; `None` where nothing.
fn note_on_declared(result: &Value) -> Option<&str> {
    let notes = result["notes"].as_array().expect("notes").iter().filter_map(Value::as_str);
    notes.into_iter().find(|note| note.starts_with("declared was a WAF of "))
}

/// The WAF that wearing in declared and the one that was measured, apart by no more than both are uncertain.
fn assert_measured_as_declared(result: &Value) {
    let (steady, told) = (&result["steady_state"], &result["steadiness"]);
    assert_eq!((&steady["by"], &steady["converged"]), (&json!("workload"), &json!(true)), "{steady}");
    assert_eq!(told["verdict"], "no-drift-shown", "{told}");
    assert_eq!(result["steady_state_measured"]["as_declared"], json!(true), "{}", result["steady_state_measured"]);
    assert_eq!(note_on_declared(result), None);
    let tenths: Vec<f64> = told["waf"].as_array().expect("tenths").iter().map(number).collect();
    let mean = tenths.iter().sum::<f64>() / 10.0;
    let deviation = (tenths.iter().map(|waf| (waf - mean).powi(2)).sum::<f64>() / 9.0).sqrt();
    let of_run = 2.262 * deviation / 10_f64.sqrt();
    let of_declared = (number(&steady["waf_high"]) - number(&steady["waf_low"])) / 2.0;
    let apart = (number(&result["waf"]["total"]) - number(&steady["waf"])).abs();
    assert!(
        apart <= of_run + of_declared,
        "apart by {apart}, uncertain by {of_run} and {of_declared}: {steady} {told}"
    );
}

#[test]
fn hot_and_cold_writes_are_measured_as_wearing_in_declared_them_and_go_on_so() {
    // The second run goes on four times as long: 23 drive writes. Preparing knows nothing of it.
    for requests in [300_000, 1_200_000] {
        assert_measured_as_declared(
            &result_of(&request("steady", "greedy", 1_024, random_writes("hotcold:90/10", requests))).expect("a run"),
        );
    }
    let classes = [(0.9, 0.1), (0.1, 0.9)].map(|(write_share, data_share)| TrafficClass { write_share, data_share });
    let theory = fifo_hot_cold(1.0 + OVER_PROVISIONING, &classes);
    let result = result_of(&request("steady", "fifo", 2_048, random_writes("hotcold:90/10", 300_000))).expect("a run");
    assert_within(number(&result["steady_state"]["waf"]), theory, 0.02);
    assert_within(number(&result["waf"]["total"]), theory, 0.02);
}

#[test]
fn after_uniform_overwriting_hot_and_cold_writes_are_not_steady_and_say_so() {
    for requests in [60_000, 300_000] {
        let job = random_writes("hotcold:90/10", requests);
        let result = result_of(&request("steady-uniform", "greedy", 1_024, job)).expect("a run");
        let told = &result["steadiness"];
        assert_eq!(told["verdict"], "not-steady", "{told}");
        let upwards = number(&told["drift"]["change"]) > 0.01 && number(&told["start"]["change"]) > 0.01;
        assert!(upwards, "it declared {} of uniform writes: {told}", result["steady_state"]["waf"]);
        if requests == 300_000 {
            let note = note_on_declared(&result).expect("2.4 is not 2.8");
            assert!(note.contains("uniform random writes is not that of this workload"), "{note}");
        }
    }
}

#[test]
fn what_preparing_without_time_declares_and_a_run_misses_is_said() {
    let of = |job: Value| {
        let mut request = request("steady", "greedy", 256, job);
        request["drive"] = json!({ "file": concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/drives/small.toml") });
        request["set"] = json!([]);
        result_of(&request).expect("a run")
    };
    // Under load collection comes after later writes, which have made more garbage by then.
    for job in [
        json!({ "rw": "randwrite", "bs": "256k", "iodepth": 4, "requests": 6_000 }),
        json!({ "rw": "randwrite", "bs": "64k", "iodepth": 1, "requests": 20_000 }),
    ] {
        let result = of(job);
        let (steady, measured) = (&result["steady_state"], &result["steady_state_measured"]);
        assert_eq!((&steady["converged"], &measured["as_declared"]), (&json!(true), &json!(false)), "{measured}");
        assert!(number(&measured["waf_high"]) < number(&steady["waf_low"]), "{steady} {measured}");
        assert_eq!(measured["waf"], result["waf"]["until_last_completion"]);
        let note = note_on_declared(&result).expect("a note");
        assert!(note.contains("worn in without time") && note.contains("--warmup"), "{note}");
    }
    // A drive that is done with each write before the next measures what was declared, however large the writes are: one of
    // half a block of every die is placed whole before garbage is collected.
    for (bs, rate, requests) in [("4k", 100, 100_000), ("256k", 10, 6_000), ("1m", 5, 2_000)] {
        let slow = of(json!({ "rw": "randwrite", "bs": bs, "rate_iops": rate, "requests": requests }));
        assert_eq!(
            slow["steady_state_measured"]["as_declared"],
            json!(true),
            "{bs}: {}",
            slow["steady_state_measured"]
        );
        assert_eq!(note_on_declared(&slow), None);
    }
}

#[test]
fn stationary_runs_are_seldom_called_drifting() {
    const RUNS: u64 = 150;
    for distribution in ["uniform", "hotcold:90/10"] {
        let verdict = |seed: u64| {
            let mut request = request("steady", "greedy", 256, random_writes(distribution, 12_000));
            request["seed"] = json!(seed);
            result_of(&request).expect("a run")["steadiness"]["verdict"].clone()
        };
        let verdicts: Vec<Value> = (0..RUNS).map(verdict).collect();
        assert!(verdicts.iter().all(|verdict| verdict != "cannot-be-told"), "the runs are long enough");
        let alarms = verdicts.iter().filter(|&verdict| verdict == "not-steady").count();
        // One in a hundred is promised: more than six of 150 come in one of a thousand sets.
        assert!(alarms <= 6, "{distribution}: {alarms} of {RUNS}");
    }
}

#[test]
fn what_is_overwritten_too_seldom_to_settle_says_so() {
    // A hundredth of the writes go to 99 % of the data: the spare space that it takes away is gone after 28 drive writes.
    let result = result_of(&request("steady", "greedy", 256, random_writes("hotcold:99/1", 1_000))).expect("a run");
    let steady = &result["steady_state"];
    assert_eq!(steady["converged"], json!(false), "{steady}");
    assert!(number(&steady["unreached"]) > 0.2, "{steady}");
    let notes = result["notes"].to_string();
    assert!(notes.contains("of its garbage lies in blocks that the workload has not had erased yet"), "{notes}");
}

#[test]
fn garbage_of_cold_data_is_waited_for_whatever_the_seed_and_the_channels() {
    // Hot writes alone collect at 1.0x until cold garbage, 1 % of the drive in each drive write, has taken the spare space: that
    // is most of 20 drive writes with a fifth of it, and more with as much again. No last half is flat that is the end.
    let declared = |channels: u32, spare: f64, share: &str, seed: u64| {
        let mut request = request("steady", "greedy", 256, random_writes(&format!("hotcold:{share}"), 100));
        let sets = request["set"].as_array_mut().expect("a list");
        sets.extend([json!(format!("geometry.channels={channels}")), json!(format!("ftl.over_provisioning={spare}"))]);
        request["seed"] = json!(seed);
        result_of(&request).expect("a run")["steady_state"].clone()
    };
    for seed in 0..5 {
        for (channels, spare, share) in [(1, 0.2, "99/1"), (3, 0.2, "99/1"), (1, 1.0, "99/1")] {
            let steady = declared(channels, spare, share, seed);
            assert_eq!(steady["converged"], json!(false), "{channels} channels, seed {seed}, {share}: {steady}");
        }
        // A tenth of the writes have been everywhere soon.
        let steady = declared(1, 0.2, "90/10", seed);
        assert_eq!(steady["converged"], json!(true), "seed {seed}: {steady}");
        assert!(number(&steady["waf"]) > 3.0 && number(&steady["unreached"]) < 0.05, "seed {seed}: {steady}");
    }
}

#[test]
fn what_is_written_again_in_order_settles_beside_what_is_never_written() {
    // Half of the drive is never written; some blocks of the rest are full of garbage for ever.
    for job in [
        json!({ "rw": "write", "bs": "64k", "size": "24m", "requests": 1_000 }),
        json!({ "rw": "write", "requests": 1_000 }),
    ] {
        let result = result_of(&request("steady", "greedy", 256, job)).expect("a run");
        let steady = &result["steady_state"];
        assert_eq!((&steady["converged"], &steady["waf"]), (&json!(true), &json!(1.0)), "{steady}");
        assert!(number(&steady["drive_writes"]) < 5.0, "{steady}");
    }
    let job = json!({ "rw": "randwrite", "size": "200m", "rate_iops": 10, "requests": 1_000 });
    let steady = result_of(&request("steady", "greedy", 2_048, job)).expect("a run")["steady_state"].clone();
    assert_eq!(steady["converged"], json!(true), "{steady}");
    // Blocks that are never written again stay full: all the spare space, of a drive of 400 MiB, is that of its half.
    assert_within(number(&steady["waf"]), greedy(1.0 + 2.0 * OVER_PROVISIONING, 64), 0.015);
}

#[test]
fn a_fresh_drive_lives_on_free_blocks_and_says_so() {
    let result = result_of(&request("full", "greedy", 256, random_writes("uniform", 2_000))).expect("a run");
    let told = &result["steadiness"];
    assert_eq!(told["verdict"], "not-steady", "{told}");
    assert!(told["words"].as_str().is_some_and(|words| words.contains("lives on blocks that were free")), "{told}");
    let short = result_of(&request("full", "greedy", 256, random_writes("uniform", 100))).expect("a run");
    assert_eq!(short["steadiness"]["verdict"], "cannot-be-told");
}

#[test]
fn sequential_writes_wear_in_to_a_write_amplification_of_one() {
    let job = json!({ "rw": "write", "bs": "64k", "requests": 20_000 });
    let result = result_of(&request("steady", "greedy", 256, job)).expect("a run");
    let steady = &result["steady_state"];
    assert_eq!((&steady["converged"], &steady["waf"]), (&json!(true), &json!(1.0)), "{steady}");
    assert_eq!(result["waf"]["total"], json!(1.0));
}

#[test]
fn parts_of_units_count_when_wearing_in_as_they_do_when_measured() {
    let job = json!({ "rw": "randwrite", "bs": 512, "requests": 200_000, "rate_iops": 10 });
    let result = result_of(&request("steady", "greedy", 2_048, job)).expect("a run");
    assert_within(number(&result["steady_state"]["waf"]), 8.0 * greedy(1.0 + OVER_PROVISIONING, 64), 0.02);
    assert_measured_as_declared(&result);
}

#[test]
fn a_workload_that_writes_nothing_leaves_it_to_uniform_writes() {
    let jobs =
        [json!({ "rw": "randread", "requests": 100 }), json!({ "rw": "randrw", "rwmixread": 100, "requests": 100 })];
    for job in jobs {
        let result = result_of(&request("steady", "greedy", 256, job)).expect("a run");
        assert_eq!(result["steady_state"]["by"], "uniform");
        let notes = result["notes"].to_string();
        assert!(
            notes.contains("the workload writes nothing: the drive was worn in by uniform random writes"),
            "{notes}"
        );
    }
}

/// A line of a trace in the format of MSR Cambridge.
fn msr_line(index: u32, op: &str, offset: u64, bytes: u32) -> String {
    format!("{},host,0,{op},{offset},{bytes},0\n", 128_166_372_000_000_000 + u64::from(index) * 100_000)
}

/// So many writes to the first `units` of the drive, each four units long.
fn trace(writes: u32, units: u32) -> String {
    let offset = |index: u32| u64::from(index * 7_919 % (units / 4)) * 16_384;
    (0..writes).map(|index| msr_line(index, "Write", offset(index), 16_384)).collect()
}

fn of_trace(path: &std::path::Path, prefill: &str) -> Value {
    let mut request = request(prefill, "greedy", 256, json!({}));
    request["workload"] = json!({ "trace": path });
    request
}

#[test]
fn a_trace_is_replayed_until_the_drive_is_steady() {
    let scratch = Scratch::new("steady-trace");
    let path = scratch.file("writes.csv", trace(500, 12_000));
    let result = result_of(&of_trace(&path, "steady")).expect("a run");
    let steady = &result["steady_state"];
    assert_eq!((&steady["by"], &steady["converged"]), (&json!("workload"), &json!(true)), "{steady}");
    // Windows are whole replays of 2,000 units.
    let replays = number(&steady["replays"]);
    assert!(replays > 5.0 && replays.fract() == 0.0, "{steady}");
    let notes = result["notes"].to_string();
    assert!(notes.contains("the host writes 15.6 % of the drive's capacity"), "{notes}");
    assert_within(number(&result["waf"]["total"]), number(&steady["waf"]), 0.05);

    // Half a unit each time: of the data of the host that is half as much as of the units that are written for it.
    let halves: String =
        (0..500).map(|index| msr_line(index, "Write", u64::from(index % 250) * 16_384 + 512, 2_048)).collect();
    let result = result_of(&of_trace(&scratch.file("halves.csv", halves), "steady")).expect("a run");
    let notes = result["notes"].to_string();
    let share = 100.0 * 500.0 * 2_048.0 / number(&result["config"]["logical_bytes"]);
    assert_eq!(format!("{share:.2}"), "1.95");
    assert!(notes.contains("the host writes 1.95 % of the drive's capacity in the trace"), "{notes}");

    let path = scratch.file("reads.csv", msr_line(0, "Read", 0, 4_096));
    let result = result_of(&of_trace(&path, "steady")).expect("a run");
    assert!(result["notes"].to_string().contains("the trace writes nothing"), "{}", result["notes"]);
}

#[test]
fn a_prepared_drive_is_named_by_the_writes_that_wore_it_in() {
    let shape = |request: &Value| {
        let request = RunRequest::from_json(&request.to_string()).expect("a request");
        Plan::new(&request).expect("a plan").shape().hash().expect("a name")
    };
    let of_job = |job: Value| shape(&request("steady", "greedy", 256, job));
    let writes = of_job(json!({ "rw": "randwrite" }));
    let others = [
        json!({ "rw": "randwrite", "iodepth": 32, "requests": 77 }),
        json!({ "rw": "randwrite", "rate_iops": 1000, "rate_process": "poisson", "duration": "1s" }),
        json!({ "rw": "randwrite", "flush_every": 4 }),
    ];
    assert!(others.into_iter().all(|job| of_job(job) == writes), "what says when and how often changes nothing");
    let mixed = of_job(json!({ "rw": "randrw", "rwmixread": 30 }));
    assert_eq!(mixed, of_job(json!({ "rw": "randrw", "rwmixread": 70 })), "the share of reads neither");
    let different = [
        json!({ "rw": "randwrite", "bs": "8k" }),
        json!({ "rw": "randwrite", "random_distribution": "zipf:1.2" }),
        json!({ "rw": "randwrite", "size": "1m" }),
        json!({ "rw": "write" }),
    ];
    assert!(different.into_iter().all(|job| of_job(job) != writes));
    let reads = json!({ "rw": "randread" });
    let uniform = |prefill: &str| shape(&request(prefill, "greedy", 256, reads.clone()));
    assert_eq!(uniform("steady"), uniform("steady-uniform"), "nobody else is there to wear it in");

    let scratch = Scratch::new("steady-shape");
    let of_trace = |name: &str, text: String| shape(&of_trace(&scratch.file(name, text), "steady"));
    let first = of_trace("one.csv", trace(50, 4_000));
    let with_reads = trace(50, 4_000) + &msr_line(60, "Read", 0, 4_096);
    assert_eq!(first, of_trace("two.csv", with_reads), "its name and its reads change nothing");
    assert_ne!(first, of_trace("three.csv", trace(51, 4_000)));
}

#[test]
fn a_prefill_that_there_is_not_is_answered_with_those_there_are() {
    let message = input_error(&request("steady_uniform", "greedy", 256, json!({ "rw": "randwrite" })));
    assert!(message.contains("steady-uniform"), "{message}");
}
