//! `make bench`: how fast ninescope runs, on one core of the machine it is started on.
//!
//! Prints one table; nothing here passes or fails. `FULL=1` takes a 512 GiB drive instead of 64 GiB. The
//! first argument that is not an option selects the rows whose name contains it, `BENCH_FILE` names a file to keep figures
//! in. Without `--bench`, which `cargo bench` gives and `cargo test` does not, everything is run for a moment, so that it is
//! known to run.

mod choices;
mod figures;
mod reference_loop;
mod untimed;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use ninescope::{
    DriveSource, Plan, PresetKind, ProfileWorkload, RunRequest, Simulation, Workload, WorkloadSource, parse_profile,
    presets_of,
};
use ninescope_engine::meter::{OccupancyLedger, OpMeter, Parts};
use ninescope_engine::{NoProbe, Plain};
use ninescope_kernel::{Ns, RandomStream};
use ninescope_model::{Arrival, Cause, Lba, Occupancy, Request};
use serde_json::{Value, json};

use figures::Figures;

/// Whether it is only tried.
fn is_tried() -> bool {
    !std::env::args().any(|argument| argument == "--bench")
}

/// So many requests, or a moment's.
fn requests(of_measurement: u64) -> u64 {
    if is_tried() { 1_000 } else { of_measurement }
}

/// How often two things are compared.
fn turns() -> usize {
    if is_tried() { 1 } else { 5 }
}

fn blocks(full: bool) -> u32 {
    match (is_tried(), full) {
        (true, _) => 32,
        (_, true) => 1024,
        _ => 128,
    }
}

/// The drive of all rows: 8 channels x 4 packages x 2 dies x 2 planes of 16 KiB pages.
fn drive(full: bool, over_provisioning: f64) -> String {
    drive_of(blocks(full), over_provisioning)
}

fn drive_of(blocks: u32, over_provisioning: f64) -> String {
    format!(
        r#"base = "tlc"
        [geometry]
        channels = 8
        packages_per_channel = 4
        dies_per_package = 2
        planes_per_die = 2
        blocks_per_plane = {blocks}
        pages_per_block = 256
        page_size = "16KiB"
        [ftl]
        frontier_planes = 2
        over_provisioning = {over_provisioning}
        "#
    )
}

struct Row {
    name: &'static str,
    job: Value,
    prefill: &'static str,
    over_provisioning: f64,
}

fn rows() -> Vec<Row> {
    let job = |rw: &str, iodepth: u32, requests: u64| json!({"rw": rw, "rwmixread": 70, "bs": "4k", "iodepth": iodepth, "requests": self::requests(requests)});
    vec![
        Row {
            name: "4 KiB random read, QD 1",
            job: job("randread", 1, 1_000_000),
            prefill: "full",
            over_provisioning: 0.25,
        },
        Row {
            name: "4 KiB random read, QD 32",
            job: job("randread", 32, 4_000_000),
            prefill: "full",
            over_provisioning: 0.25,
        },
        Row {
            name: "4 KiB random 70/30, QD 16",
            job: job("randrw", 16, 4_000_000),
            prefill: "full",
            over_provisioning: 0.25,
        },
        Row {
            name: "4 KiB random write, GC, QD 32",
            job: job("randwrite", 32, 4_000_000),
            prefill: "steady-uniform",
            over_provisioning: 0.28,
        },
    ]
}

fn main() {
    let full = std::env::var("FULL").is_ok_and(|value| !value.is_empty() && value != "0");
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted = |name: &str| filter.as_deref().is_none_or(|filter| name.contains(filter));
    println!("drive: 8 channels x 4 packages x 2 dies x 2 planes, {} GiB raw", blocks(full) / 2);
    let mut figures = Figures::default();
    let looped = wanted("instant driver").then(|| untimed::driver_beside_loop(blocks(full), &mut figures));
    if wanted("steady state") {
        untimed::steady_states(blocks(full), &mut figures);
    }
    if wanted("victims") {
        untimed::victims(&mut figures);
        choices::choices(&mut figures);
    }
    println!(
        "\n{:<31} {:>9} {:>11} {:>11} {:>8} {:>6} {:>12}",
        "", "M req/s", "M pages/s", "M units/s", "events", "WAF", "simulated"
    );
    println!("{:<31} {:>9} {:>11} {:>11} {:>8}", "", "", "(flash ops)", "", "per req");
    let mut attributed = None;
    for row in rows().into_iter().filter(|row| wanted(row.name)) {
        let timed = timed_row(&row, full);
        figures.keep(format!("{} [M requests/s]", row.name), 1e-6 / timed.seconds_per_request);
        if row.name.contains("read, QD 32") {
            attributed = Some(timed.seconds_per_request);
        }
        if let (Some(looped), true) = (looped, row.name.contains("GC")) {
            let share = timed.programmed_per_second / looped;
            println!("  programs per second: {share:.2} of the untimed loop's");
            figures.keep("random write, GC: programs per second, of the untimed loop's", share);
        }
    }
    if let Some(seconds) = attributed {
        attribution_share(seconds);
    }
    if wanted("suspending") {
        suspending();
    }
    if wanted("codes") {
        codes();
    }
    if wanted("placement") {
        placements();
    }
    figures.write();
}

/// The stand-in of `prxy_0`, its pages moved together, on flash, on memory, and on two media.
fn placements() {
    let count = requests(2_000_000) as usize;
    let profiles = presets_of(PresetKind::Profiles);
    let profile = profiles.iter().find(|profile| profile.name == "prxy_0").expect("a profile that is shipped");
    let profile = parse_profile(profile.name, profile.toml).expect("a legal profile");
    let mut drawn = ProfileWorkload::new(&profile, None, 1).expect("a legal profile");
    let mut requests = Vec::with_capacity(count);
    while requests.len() < count {
        requests.push(drawn.next_request().expect("a draw").expect("as many requests"));
    }
    move_together(&mut requests);
    println!("\nthe stand-in of prxy_0, {count} requests, open loop      M req/s   events per request");
    for drive in ["mlc", "m-scm", "hybrid-wo", "hybrid-rwb", "hybrid-wb", "multi-scm"] {
        let mut request = RunRequest::from_json(r#"{"seed": 1}"#).expect("a legal request");
        request.drive = Some(DriveSource::Preset(drive.to_owned()));
        let plan = Plan::of_requests(&request, requests.clone(), Arrival::Open, u32::MAX).expect("a legal run");
        let mut simulation = Simulation::<Plain>::of_plan(plan, NoProbe).expect("a drive");
        while !simulation.run_slice(Duration::from_secs(3600)).expect("a run without faults").finished {}
        let result: Value = serde_json::from_str(&simulation.result_json(true).expect("a result")).expect("JSON");
        let number = |value: &Value| value.as_f64().expect("a number");
        println!(
            "  {drive:<52} {:>7.2} {:>20.2}",
            number(&result["requests"]) / number(&result["performance"]["run_seconds"]) / 1e6,
            number(&result["counters"]["events"]) / number(&result["requests"])
        );
    }
}

/// Pages of 16 KiB that are touched, side by side, and over again where they are more than the smallest of the drives holds.
fn move_together(requests: &mut [Request]) {
    const PAGE: u64 = 32;
    /// 1 GiB, less what a request is long.
    const PAGES_AT_MOST: u64 = 65_000;
    let pages = |request: &Request| request.lba.0 / PAGE..request.end().div_ceil(PAGE);
    let touched: BTreeSet<u64> = requests.iter().flat_map(pages).collect();
    let touched: Vec<u64> = touched.into_iter().collect();
    for request in requests {
        let place = touched.partition_point(|&page| page < request.lba.0 / PAGE) as u64 % PAGES_AT_MOST;
        request.lba = Lba(place * PAGE + request.lba.0 % PAGE);
    }
}

/// What suspending costs beside a drive without it, in turns within this run: where nothing is erased, and where
/// erases are suspended all the time.
fn suspending() {
    let idle = |policy: &str| {
        let job = json!({"rw": "randread", "bs": "4k", "iodepth": 32, "requests": requests(1_000_000)});
        (DriveSource::Toml(drive(false, 0.25)), policy.to_owned(), job, "full")
    };
    let active = |preset: &str, policy: &str| {
        let job = json!({"rw": "randrw", "rwmixread": 70, "bs": "4k", "iodepth": 16, "requests": requests(1_000_000)});
        (DriveSource::Preset(preset.to_owned()), policy.to_owned(), job, "raw")
    };
    for (name, without, with) in [
        ("configured, nothing to suspend", idle("none"), idle("every-safe-point")),
        ("erases suspended by I-ES", active("ssr-baseline", "none"), active("ssr-ies", "immediate")),
        ("erases suspended by SSR static", active("ssr-baseline", "none"), active("ssr-static", "every-safe-point")),
    ] {
        let mut ratios = Vec::new();
        let mut suspends = 0.0;
        for _ in 0..turns() {
            let (plain, _) = timed_case(&without);
            let (suspending, per_request) = timed_case(&with);
            suspends = per_request;
            ratios.push(suspending / plain);
        }
        println!(
            "suspending, {name}: {} of the time per request without, {suspends:.3} suspends per request",
            middle_of(&mut ratios)
        );
    }
}

/// What codes and failing bits cost beside a drive without them, in turns within this run: time of the simulator per
/// request, on 4 KiB random 70/30 at QD 16.
fn codes() {
    let job = json!({"rw": "randrw", "rwmixread": 70, "bs": "4k", "iodepth": 16, "requests": requests(1_000_000)});
    let case = |more: &str| (DriveSource::Toml(drive(false, 0.25) + more), "none".to_owned(), job.clone(), "full");
    let ecc = "[nand]\necc = { policy = \"bch\", user_data = \"4KiB\", correctable = 40, latency = { policy = \"fixed\" } }\n";
    let errors = |rber: &str| format!("{ecc}errors = {{ policy = \"constant\", rber = {rber} }}\n");
    let retry = format!("{}retry = {{ policy = \"shifted-reference\" }}\n", errors("1e-3"));
    let plain = case("");
    for (name, coded) in [
        ("BCH, no bit fails", case(ecc)),
        ("BCH, RBER 1e-4", case(&errors("1e-4"))),
        ("BCH, RBER 1e-3, one codeword in six is read again", case(&retry)),
    ] {
        let mut ratios: Vec<f64> = (0..turns()).map(|_| timed_case(&coded).0 / timed_case(&plain).0).collect();
        println!("codes, {name}: {} of the time per request without", middle_of(&mut ratios));
    }
}

/// The middle one and the ends, in words.
fn middle_of(ratios: &mut [f64]) -> String {
    ratios.sort_by(f64::total_cmp);
    let (middle, last) = (ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
    format!("{middle:.3} ({:.3} to {last:.3} in {} turns)", ratios[0], ratios.len())
}

/// Wall time per request [s], and suspends per request.
fn timed_case((drive, policy, job, prefill): &(DriveSource, String, Value, &str)) -> (f64, f64) {
    let mut set = vec![format!("scheduler.suspend={policy}")];
    if is_tried() {
        set.push("geometry.blocks_per_plane=64".to_owned());
    }
    let text = json!({"seed": 1, "prefill": prefill, "set": set}).to_string();
    let mut request = RunRequest::from_json(&text).expect("a legal request");
    request.drive = Some(drive.clone());
    request.workload = Some(WorkloadSource { job: Some(job.clone()), ..WorkloadSource::default() });
    let mut simulation = Simulation::new(&request).expect("a legal run");
    while !simulation.run_slice(Duration::from_secs(3600)).expect("a run without faults").finished {}
    let result: Value = serde_json::from_str(&simulation.result_json(true).expect("a result")).expect("JSON");
    let number = |value: &Value| value.as_f64().expect("a number");
    let requests = number(&result["requests"]);
    (number(&result["performance"]["run_seconds"]) / requests, number(&result["counters"]["suspends"]) / requests)
}

fn request(row: &Row, full: bool) -> RunRequest {
    let text = json!({"seed": 1, "prefill": row.prefill, "requests": row.job["requests"]}).to_string();
    let mut request = RunRequest::from_json(&text).expect("a legal request");
    request.drive = Some(DriveSource::Toml(drive(full, row.over_provisioning)));
    request.workload = Some(WorkloadSource { job: Some(row.job.clone()), ..WorkloadSource::default() });
    request
}

/// What a row took.
struct Timed {
    seconds_per_request: f64,
    /// Units of the host and of moves.
    programmed_per_second: f64,
}

/// Runs a row and prints its figures.
fn timed_row(row: &Row, full: bool) -> Timed {
    let mut simulation = Simulation::new(&request(row, full)).expect("a legal run");
    while !simulation.run_slice(Duration::from_secs(3600)).expect("a run without faults").finished {}
    let result: Value = serde_json::from_str(&simulation.result_json(true).expect("a result")).expect("JSON");
    let seconds = result["performance"]["run_seconds"].as_f64().expect("a time");
    let requests = result["requests"].as_f64().expect("a count");
    let counters = simulation.device().expect("a device").counters();
    let pages = counters.host_page_reads
        + counters.gc_page_reads
        + counters.host_page_programs
        + counters.gc_page_programs
        + counters.group_erases;
    let programmed =
        result["ftl"]["host_units"].as_u64().unwrap_or(0) + result["ftl"]["gc_units"].as_u64().unwrap_or(0);
    let units = programmed + counters.host_page_reads;
    let waf = result["waf"]["total"].as_f64();
    println!(
        "{:<31} {:>9.2} {:>11.2} {:>11.2} {:>8.2} {:>6} {:>10.2} s",
        row.name,
        requests / seconds / 1e6,
        pages as f64 / seconds / 1e6,
        units as f64 / seconds / 1e6,
        counters.events as f64 / requests,
        waf.map_or_else(|| "-".to_owned(), |waf| format!("{waf:.2}")),
        result["simulated_ns"].as_f64().unwrap_or(0.0) / 1e9,
    );
    Timed { seconds_per_request: seconds / requests, programmed_per_second: programmed as f64 / seconds }
}

/// What attribution costs a request that waits: two readings of the ledger, their difference, the parts,
/// and the sum of its bucket. Measured alone and compared with the whole, in the same run.
fn attribution_share(seconds_per_request: f64) {
    let rounds = requests(4_000_000);
    let mut stream = RandomStream::new(1, "bench", "attribution");
    let mut ledger = OccupancyLedger::default();
    let mut meter = OpMeter::default();
    let mut now = Ns(0);
    let begin = Instant::now();
    for _ in 0..rounds {
        let queued = *ledger.read(now);
        let waited = stream.below(200_000);
        now += Ns(waited);
        ledger.enter(now, Occupancy::HostRead);
        let mut wait = *ledger.read(now);
        wait.iter_mut().zip(&queued).for_each(|(held, before)| *held -= before);
        let mut parts = Parts::default();
        parts.add_die_wait(&wait);
        parts.add(Cause::CommandArray, Ns(40_000));
        parts.add(Cause::Transfer, Ns(4_000));
        let bucket = meter.latency.record(parts.total());
        meter.attribution.record(bucket, &parts);
    }
    let each = begin.elapsed().as_secs_f64() / rounds as f64;
    println!(
        "\nattribution, measured alone: {:.0} ns per waiting request with its histogram, {:.0} % of the {:.0} ns of a random read at QD 32",
        each * 1e9,
        100.0 * each / seconds_per_request,
        seconds_per_request * 1e9
    );
}
