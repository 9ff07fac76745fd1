//! Recording: what is said of a request is what happened to it, to the nanosecond, and saying it changes nothing.

#[path = "../../../engine/tests/engine/scenario/mod.rs"]
mod scenario;

use ninescope::record::{Account, Doing, RecordSettings, Recorder, Stage, Stretch};
use ninescope::{Plan, RecordedSimulation, RunRequest};
use ninescope_engine::{Dealing, Device, DramConfig, FirmwareConfig, Watched, WriteCompletion};
use ninescope_kernel::{Ns, Rate};
use ninescope_model::{Arrival, Cause, DieId, Occupancy, Op, Request};
use scenario::{
    COMMAND, Drive, ERASE_LOOP, Listed, PAGE_PROGRAM, RAMP, READ, RECOVER, UNIT_READ, UNIT_TRANSFER, mixed_requests,
    policy_with, read, write, write_units,
};
use serde_json::{Value, json};

type Recorded = Device<Watched>;

fn recorded(drive: &Drive, requests: Vec<Request>, slowest: usize, window: Option<(u64, u64)>) -> Recorded {
    let window = window.map(|(from, until)| (Ns(from), Ns(until)));
    let recorder = Recorder::new(RecordSettings { slowest, window });
    let mut device = drive.device::<Watched>(Listed::boxed(requests, Arrival::Open), Box::new(recorder));
    device.run().expect("the run comes to its end");
    device
}

/// A drive whose first write has group 0 erased from time 0 on, and which suspends erases at the ends of loops.
fn suspending_drive() -> Drive {
    let mut drive = Drive::with(|drive| drive.prepared = (0..24).chain(0..8).chain(8..16).collect());
    drive.engine.suspend = policy_with(&json!({ "policy": "every-safe-point", "points_per_loop": 1 }));
    drive
}

/// A read that arrives in the second of three erase loops.
fn suspended_erase(window: Option<(u64, u64)>) -> Recorded {
    recorded(&suspending_drive(), vec![write(0, 16), read(1_500_000, 20)], 5, window)
}

fn stages(account: &Account) -> Vec<(&'static str, u64, u64)> {
    account.stages.iter().map(|stage| (stage.name, stage.from.0, stage.until.0)).collect()
}

fn held(stage: &Stage) -> Vec<(Occupancy, u64, u64)> {
    stage.acts.listed.iter().map(|held| (held.occupancy(), held.from.0, held.until.0)).collect()
}

// ---- requests ----------------------------------------------------------------------------------------

#[test]
fn a_read_that_suspends_an_erase_is_told_stage_by_stage() {
    let device = suspended_erase(None);
    let reads = device.probe::<Recorder>().slowest(Op::Read);
    let [account] = reads.as_slice() else { panic!("one read, not {}", reads.len()) };
    let stop = COMMAND + 2 * ERASE_LOOP;
    let (issued, sensed) = (stop + RECOVER, stop + RECOVER + COMMAND + READ);
    assert_eq!((account.id, account.request.submitted.0, account.completed.0), (1, 1_500_000, sensed + UNIT_TRANSFER));
    assert_eq!(
        stages(account),
        [
            ("die_queue", 1_500_000, issued),
            ("command_array", issued, sensed),
            ("transfer", sensed, sensed + UNIT_TRANSFER)
        ]
    );
    let queue = &account.stages[0];
    assert_eq!(queue.die, Some(DieId(0)));
    assert_eq!(held(queue), [(Occupancy::Erase, 1_500_000, stop), (Occupancy::SuspendOverhead, stop, stop + RECOVER)]);
    assert_eq!(queue.acts.listed[0].segments_in_words().as_deref(), Some("loop 2 of 3"));
    assert_eq!((queue.acts.listed[0].work.suspensions, queue.acts.listed[1].work.suspensions), (0, 1));
    assert_eq!(queue.acts.listed[1].doing, Doing::Recovering);
    let told = device.probe::<Recorder>().slowest_json().expect("it was asked for");
    let queue = &told["read"][0]["stages"][0];
    assert_eq!(queue["die_did"][0]["what"], "erase of block 0 (loop 2 of 3)");
    assert_eq!(queue["die_did"][1]["what"], "recovery after suspending the erase of block 0 (suspended 1x)");
    assert_eq!(told["read"][0]["parts_ns"]["die_erase"], stop - 1_500_000);
}

#[test]
fn a_second_read_waits_behind_the_first_and_knows_its_number() {
    let device = recorded(&suspending_drive(), vec![write(0, 16), read(1_500_000, 20), read(1_500_000, 21)], 5, None);
    let slowest = device.probe::<Recorder>().slowest(Op::Read)[0].clone();
    let begins = COMMAND + 2 * ERASE_LOOP + RECOVER;
    assert_eq!(slowest.id, 2, "the later of the two waits longer");
    let waited: Vec<_> = slowest.stages[0].acts.listed.iter().filter(|held| held.from.0 >= begins).collect();
    assert_eq!(waited.iter().map(|held| held.length().0).sum::<u64>(), UNIT_READ);
    for part in waited {
        assert_eq!(part.work.title(), "host read of request #1", "{part:?}");
    }
}

#[test]
fn a_write_that_finds_the_buffer_full_says_which_die_it_waited_for_and_what_that_did() {
    let drive = Drive::with(|drive| drive.engine.buffered_pages = 1);
    let device = recorded(&drive, vec![write_units(0, 0, 4), write(10, 4)], 5, None);
    let account = device.probe::<Recorder>().slowest(Op::Write)[0].clone();
    assert_eq!(stages(&account), [("buffer_stall", 10, PAGE_PROGRAM)]);
    let stall = &account.stages[0];
    assert_eq!(stall.die, Some(DieId(0)));
    assert_eq!(stall.acts.sums()[Occupancy::HostProgram as usize], PAGE_PROGRAM - 10, "{:?}", stall.acts);
    assert_eq!(stall.acts.listed[0].work.requests.ids().collect::<Vec<_>>(), [0]);
}

#[test]
fn a_write_without_a_free_page_waits_for_the_erase_that_gives_it_one() {
    let drive = Drive::with(|drive| drive.prepared = (0..24).collect());
    let device = recorded(&drive, (0..33).map(|unit| write(0, unit % 24)).collect(), 1, None);
    let account = device.probe::<Recorder>().slowest(Op::Write)[0].clone();
    let [stall] = account.stages.as_slice() else { panic!("{:?}", account.stages) };
    assert_eq!((stall.name, stall.until), ("allocation_stall", account.completed));
    assert_eq!(stall.acts.listed.back().map(Stretch::occupancy), Some(Occupancy::Erase), "the last thing before room");
}

/// Stages leave no gap, and neither does what the dies did in them.
fn check_stages(account: &Account) {
    let mut reached = account.request.submitted;
    for stage in &account.stages {
        assert_eq!(stage.from, reached, "{account:?}");
        reached = stage.until;
        if stage.acts.is_empty() {
            assert!(stage.cause.is_some(), "{account:?}");
            continue;
        }
        let did = stage.acts.sums().iter().sum::<u64>() + stage.acts.own().0;
        assert_eq!(did, (stage.until - stage.from).0, "{account:?}");
        let earlier = stage.acts.earlier.iter().sum::<u64>() + stage.acts.earlier_own.0;
        let mut inside = stage.from.0 + earlier;
        for stretch in &stage.acts.listed {
            assert_eq!(stretch.from.0, inside, "{account:?}");
            inside = stretch.until.0;
        }
    }
    assert_eq!(reached, account.completed, "{account:?}");
}

/// Every request of a run, as many as can be explained.
fn all_accounts(device: &Recorded) -> Vec<&Account> {
    [Op::Read, Op::Write].into_iter().flat_map(|op| device.probe::<Recorder>().slowest(op)).collect()
}

/// Drives under more load than they bear, with suspends of erases and programs, and both ways to complete writes.
fn busy_runs() -> Vec<(Drive, Vec<Request>)> {
    let suspend = || policy_with(&json!({ "policy": "every-safe-point", "points_per_loop": 3, "programs": true }));
    let busy = |seed, completion, buffered_pages| {
        let mut drive = Drive::busy();
        drive.engine.write_completion = completion;
        drive.engine.queue_depth = 32;
        drive.engine.buffered_pages = buffered_pages;
        drive.engine.suspend = suspend();
        let requests = mixed_requests(seed, 8_000, drive.logical_units, 9_000, 45);
        (drive, requests)
    };
    // Large buffers in front of few free groups.
    let mut cramped = Drive::with(|drive| drive.prepared = (0..24).collect());
    cramped.engine.suspend = suspend();
    cramped.engine.queue_depth = 256;
    let bursts = mixed_requests(4, 1_000, cramped.logical_units, 300_000, 20);
    let through_dram = |completion| {
        let (mut drive, mixed) = busy(5, completion, 4);
        let (access, rate, cache) = (Ns(100), Rate(1_000_000_000), false);
        drive.dram = Some(DramConfig {
            times: ninescope_engine::TransferTimes::default(),
            in_turn: false,
            access,
            rate,
            write_buffer: true,
            cut_through: false,
            read_data: true,
            map: true,
            cache,
        });
        (drive, mixed)
    };
    let with_cores = |completion, dram: bool| {
        let (mut drive, mixed) = if dram { through_dram(completion) } else { busy(6, completion, 4) };
        let (cores, clock, dealing) = (2, Rate(1_000_000_000), Dealing::Shared);
        drive.firmware = Some(FirmwareConfig { cores, clock, dealing, cycles: [900, 200, 300, 700, 5_000, 150] });
        (drive, mixed)
    };
    vec![
        with_cores(WriteCompletion::Buffer, false),
        with_cores(WriteCompletion::Program, false),
        with_cores(WriteCompletion::Program, true),
        busy(1, WriteCompletion::Buffer, 4),
        busy(2, WriteCompletion::Program, 4),
        busy(3, WriteCompletion::Buffer, 64),
        (cramped, bursts),
        through_dram(WriteCompletion::Buffer),
        through_dram(WriteCompletion::Program),
    ]
}

#[test]
fn stages_follow_one_another_without_a_gap_and_sum_to_the_parts_cause_by_cause() {
    let mut causes = std::collections::BTreeSet::new();
    let (mut behind, mut summed) = (false, false);
    for (drive, requests) in busy_runs() {
        let count = requests.len();
        let device = recorded(&drive, requests, 10_000, None);
        let accounts = all_accounts(&device);
        assert!(accounts.len() > count * 9 / 10, "{} requests", accounts.len());
        for account in accounts {
            check_stages(account);
            assert_eq!(account.parts_of_stages(), account.parts, "{account:?}");
            behind |= account.stages.iter().any(|stage| stage.behind_others);
            summed |= account.stages.iter().any(|stage| stage.acts.earlier.iter().any(|&time| time > 0));
            causes.extend(Cause::ALL.into_iter().filter(|&cause| account.parts.of(cause) > 0));
        }
    }
    assert!(behind && summed, "a write waited behind others, and a long wait is told in sum");
    for cause in [
        Cause::OwnParts,
        Cause::DieHostRead,
        Cause::DieHostProgram,
        Cause::DieGcProgram,
        Cause::DieErase,
        Cause::DieSuspendOverhead,
        Cause::DieWaitingForChannel,
        Cause::HostQueue,
        Cause::BufferStall,
        Cause::AllocationStall,
        Cause::ReadModifyWrite,
        Cause::Channel,
        Cause::Dram,
        Cause::Firmware,
    ] {
        assert!(causes.contains(&cause), "no request had a part of {}", cause.name());
    }
}

#[test]
fn the_slowest_are_the_slowest_and_the_warm_up_is_not_among_them() {
    let mut drive = Drive::busy();
    drive.limits.warmup_requests = 1_000;
    drive.engine.log_requests = true;
    let device = recorded(&drive, mixed_requests(5, 3_000, drive.logical_units, 20_000, 60), 20, None);
    for op in [Op::Read, Op::Write] {
        let mut measured: Vec<_> = device.request_log().iter().filter(|entry| entry.op == op).collect();
        measured.sort_by_key(|entry| (std::cmp::Reverse(entry.latency), entry.id));
        let expected: Vec<u64> = measured.iter().take(20).map(|entry| entry.id).collect();
        let found: Vec<u64> = device.probe::<Recorder>().slowest(op).iter().map(|account| account.id).collect();
        assert_eq!(found, expected, "{}", op.name());
    }
}

// ---- the timeline ----------------------------------------------------------------------------------------

fn events(device: &Recorded) -> Vec<Value> {
    let text = device.probe::<Recorder>().timeline_json().expect("a timeline was asked for");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    document["traceEvents"].as_array().expect("a list").clone()
}

/// Name, begin and end [ns] of the slices of the only die.
fn die_slices(events: &[Value]) -> Vec<(String, u64, u64)> {
    let ns = |value: &Value| (value.as_f64().expect("a number") * 1e3).round() as u64;
    let of_die = |event: &&Value| event["ph"] == "X" && event["tid"] == 2;
    let slice = |event: &Value| {
        let begin = ns(&event["ts"]);
        (event["name"].as_str().expect("a name").to_owned(), begin, begin + ns(&event["dur"]))
    };
    events.iter().filter(of_die).map(slice).collect()
}

#[test]
fn a_suspended_erase_is_one_slice_that_holds_its_stretches_and_the_read_in_between() {
    let device = suspended_erase(Some((0, 10_000_000)));
    let stop = COMMAND + 2 * ERASE_LOOP;
    let parked = stop + RECOVER;
    let resumed = parked + UNIT_READ + RAMP;
    let end = resumed + ERASE_LOOP;
    let sensed = parked + COMMAND + READ;
    let named = |name: &str, from: u64, until: u64| (name.to_owned(), from, until);
    assert_eq!(
        die_slices(&events(&device)),
        [
            named("erase block 0 (suspended 1x)", 0, end),
            named("command", 0, COMMAND),
            named("erase block 0 (loops 1-2 of 3)", COMMAND, stop),
            named("recovery", stop, parked),
            named("parked: erase block 0", parked, parked + UNIT_READ),
            named("host read #1", parked, parked + UNIT_READ),
            named("command", parked, parked + COMMAND),
            named("sensing", parked + COMMAND, sensed),
            named("data out", sensed, sensed + UNIT_TRANSFER),
            named("ramp", parked + UNIT_READ, resumed),
            named("erase block 0 (loop 3 of 3)", resumed, end),
        ]
    );
}

#[test]
fn what_reaches_beyond_the_window_is_cut_to_it_and_says_what_it_was() {
    let stop = COMMAND + 2 * ERASE_LOOP;
    let device = suspended_erase(Some((stop - 1_000, stop + 1_000)));
    let events = events(&device);
    let slices = die_slices(&events);
    assert_eq!(slices[0], ("erase block 0 (suspended 1x)".to_owned(), stop - 1_000, stop + 1_000));
    assert_eq!(slices[1], ("erase block 0 (loops 1-2 of 3)".to_owned(), stop - 1_000, stop));
    assert_eq!(slices[2], ("recovery".to_owned(), stop, stop + 1_000));
    let whole = events.iter().find(|event| event["cat"] == "command").expect("the erase");
    assert_eq!(whole["args"]["uncut_from_ns"], 0);
    let request: Vec<&Value> = events.iter().filter(|event| event["cat"] == "request").collect();
    assert_eq!(request.len(), 4, "the read and its wait, cut: {request:?}");
    assert_eq!(request[0]["args"]["latency_ns"], device.probe::<Recorder>().slowest(Op::Read)[0].latency().0);
}

#[test]
fn every_event_has_what_viewers_need_and_slices_of_a_track_nest() {
    let mut drive = Drive::busy();
    drive.engine.suspend = policy_with(&json!({ "policy": "every-safe-point", "programs": true }));
    let requests = mixed_requests(7, 4_000, drive.logical_units, 20_000, 60);
    let device = recorded(&drive, requests, 0, Some((10_000_000, 30_000_000)));
    let events = events(&device);
    assert!(events.len() > 5_000, "{} events", events.len());
    let mut open: Vec<(u64, u64, f64)> = Vec::new();
    let mut depth = std::collections::BTreeMap::<String, i32>::new();
    for event in &events {
        for key in ["name", "ph", "ts", "pid", "tid"] {
            assert!(!event[key].is_null(), "{key} is missing: {event}");
        }
        let ts = event["ts"].as_f64().expect("a number");
        match event["ph"].as_str().expect("a phase") {
            "M" => continue,
            "X" => {
                let end = ts + event["dur"].as_f64().expect("a number");
                let track = (event["pid"].as_u64().expect("a number"), event["tid"].as_u64().expect("a number"));
                open.retain(|&(pid, tid, until)| (pid, tid) == track && until > ts + 1e-6);
                assert!(open.iter().all(|&(.., until)| end <= until + 1e-6), "{event} overlaps {open:?}");
                open.push((track.0, track.1, end));
            }
            "b" => *depth.entry(event["id"].to_string()).or_default() += 1,
            "e" => *depth.entry(event["id"].to_string()).or_default() -= 1,
            other => panic!("phase {other}"),
        }
        assert!((10_000.0..=30_000.0).contains(&ts), "{event}");
    }
    assert!(depth.values().all(|&depth| depth == 0), "every request ends");
    let parked = events.iter().filter(|event| event["name"].as_str().is_some_and(|name| name.starts_with("parked")));
    assert!(parked.count() > 3);
}

// ---- the run ------------------------------------------------------------------------------------------------

fn request(extra: &Value) -> Value {
    let mut request = crate::support::tiny_request(&[]);
    for (key, value) in extra.as_object().expect("an object") {
        request[key] = value.clone();
    }
    request
}

fn simulation(request: &Value) -> RecordedSimulation {
    let request = RunRequest::from_json(&request.to_string()).expect("a legal request");
    let settings = request.record_settings().expect("legal settings");
    RecordedSimulation::of_plan(Plan::new(&request).expect("a legal request"), None, settings).expect("a run")
}

fn recorded_result(request: &Value) -> (Value, Option<String>) {
    use ninescope::AnySimulation;
    let mut run = simulation(request);
    while !run.run_slice(std::time::Duration::from_secs(1)).expect("a run").finished {}
    let result = run.result_json(true).expect("a result");
    (serde_json::from_str(&result).expect("JSON"), run.timeline_json())
}

#[test]
fn recording_does_not_show_in_the_digest() {
    let plain = crate::support::result_of(&request(&json!({ "prefill": "full" }))).expect("the tiny run");
    let (result, timeline) = recorded_result(&request(&json!({
        "prefill": "full", "explain_slowest": 7, "trace_window": { "from": "1ms", "until": "4ms" },
    })));
    assert_eq!(result["digest"], plain["digest"]);
    assert_eq!(result["latency"], plain["latency"]);
    for op in ["read", "write"] {
        let listed = result["slowest"][op].as_array().expect("a list");
        assert_eq!(listed.len(), 7, "{op}");
        assert_eq!(listed[0]["latency_ns"], result["latency"][op]["max_ns"], "{op}");
    }
    assert!(timeline.expect("a timeline").len() > 10_000);
    assert!(plain.get("slowest").is_none(), "nobody asked");
}

#[test]
fn an_empty_window_is_said_to_be_empty() {
    let window = |from: &str, until: &str| request(&json!({ "trace_window": { "from": from, "until": until } }));
    let (result, timeline) = recorded_result(&window("1h", "2h"));
    assert!(result["notes"].to_string().contains("is empty: the run ended at"), "{}", result["notes"]);
    let timeline: Value = serde_json::from_str(&timeline.expect("a timeline")).expect("JSON");
    let events = timeline["traceEvents"].as_array().expect("a list");
    assert!(events.iter().all(|event| event["ph"] == "M"), "names of tracks and nothing else");
    assert!(!recorded_result(&window("0ns", "1ms")).0["notes"].to_string().contains("timeline"));
}

#[test]
fn bad_settings_name_their_key() {
    for (extra, wanted) in [
        (json!({ "trace_window": { "from": "12ms", "until": "10ms" } }), "trace_window: the window from 12ms to 10ms"),
        (json!({ "trace_window": { "from": "1s", "until": "1s" } }), "holds no time"),
        (json!({ "trace_window": { "from": "10 parsecs", "until": "12ms" } }), "trace_window.from"),
        (json!({ "trace_window": { "from": "1s" } }), "until"),
        (json!({ "explain_slowest": 0 }), "explain_slowest: 0"),
        (json!({ "explain_slowest": 1001 }), "1 to 1000"),
        (json!({ "explain_slowest": -1 }), "explain_slowest"),
    ] {
        let message = crate::support::input_error(&request(&extra));
        assert!(message.contains(wanted), "`{wanted}` is missing in: {message}");
    }
    for (extra, key) in [
        (json!({ "explain_slowest": 3 }), "explain_slowest"),
        (json!({ "trace_window": { "from": "1ms", "until": "2ms" } }), "trace_window"),
    ] {
        let mut request = request(&extra);
        request["set"] = json!(["nand.plane_reads=independently"]);
        let request = RunRequest::from_json(&request.to_string()).expect("a legal request");
        let (plan, settings) =
            (Plan::new(&request).expect("a legal plan"), request.record_settings().expect("settings"));
        let message = RecordedSimulation::of_plan(plan, None, settings).err().map(|error| error.to_string());
        let wanted =
            format!("{key} tells what each die did, one thing at a time, and nand.plane_reads is \"independently\"");
        assert_eq!(message, Some(wanted));
    }
    let mut request_of_cache = request(&json!({ "explain_slowest": 3 }));
    request_of_cache["set"] = json!(["nand.cache_read=1us"]);
    let request_of_cache = RunRequest::from_json(&request_of_cache.to_string()).expect("a legal request");
    let plan = Plan::new(&request_of_cache).expect("a legal plan");
    let settings = request_of_cache.record_settings().expect("settings");
    let message = RecordedSimulation::of_plan(plan, None, settings).err().map(|error| error.to_string());
    let wanted = "explain_slowest tells what each die did, one thing at a time, and nand.cache_read is given";
    assert_eq!(message.as_deref(), Some(wanted));
    let message = crate::support::input_error(&request(&json!({ "explain_slowest": 3 })));
    assert!(message.contains("needs a run with a recorder") || message.contains("need a run with a recorder"));
}
