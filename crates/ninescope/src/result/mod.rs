//! The result: everything measured, as one JSON value.

mod bad_blocks;
mod block_map;
mod declared;
mod dram;
mod fdp;
mod fio;
mod firmware;
mod host_queue;
mod latency;
mod mapping;
mod namespaces;
mod partitions;
mod power;
mod reliability;
mod scm;
mod slc_cache;
mod span;
mod tier;
mod waits;
mod workload;
mod write_amplification;
mod zones;

use ninescope_engine::meter::{DieLedger, HintMeter, LaneMeter, LaneOpMeter};
use ninescope_engine::{Seen, Utilization};
use ninescope_kernel::Ns;
use ninescope_model::{BlockGroup, CacheHint, OCCUPANCIES, Occupancy, Op, Stream};
use serde_json::{Map, Value, json};

use self::declared::MeasuredWaf;
use crate::assembly::Assembly;
use crate::endurance;
use crate::error::Error;
use crate::precondition::{PrefillMode, SteadyState};
use crate::snapshot::SnapshotReport;
use crate::steadiness::Steadiness;
use crate::version::VERSION;

pub use workload::WorkloadReport;

/// What a result is made from.
pub struct ResultInput<'a> {
    pub assembly: &'a Assembly,
    /// Absent when the run was interrupted while the drive was prepared.
    pub device: Option<Seen<'a>>,
    pub utilization: Option<Utilization>,
    pub complete: bool,
    /// What is not measured at the beginning is the jobs' `ramp_time`.
    pub ramped: bool,
    pub seed: u64,
    pub prefill: PrefillMode,
    pub steady: Option<&'a SteadyState>,
    pub prepared_units: u64,
    pub snapshot: Option<&'a SnapshotReport>,
    pub report: &'a WorkloadReport,
    /// What the jobs are called, where there are several.
    pub job_names: &'a [String],
    /// Of each job, the partition of the drive that it has; empty where the drive is one.
    pub job_partitions: &'a [u32],
    pub prepare_seconds: f64,
    pub run_seconds: f64,
    pub notes: &'a [String],
    pub drive_name: &'a str,
    pub run: &'a Value,
}

/// The result of a run, complete or not. Only `performance` depends on the machine.
pub fn result_json(input: &ResultInput<'_>) -> Result<Value, Error> {
    let internal = |error: serde_json::Error| Error::Internal(error.to_string());
    let requests = input.device.map_or(0, |device| device.meter.ops.iter().map(|op| op.latency.count()).sum());
    let mut result = json!({
        "ninescope": VERSION,
        "complete": input.complete,
        "requests": requests,
        "digest": input.device.map(|device| device.digest.to_hex()),
        "seed": input.seed,
        "simulated_ns": input.device.map_or(0, |device| device.now.0),
        "workload": input.report.value(),
        "prefill": input.prefill,
        "prepared_units": input.prepared_units,
        "steady_state": input.steady,
        "steady_state_measured": as_declared(input),
        "notes": notes(input),
        "build": {
            "version": VERSION,
            "profile": if cfg!(debug_assertions) { "debug" } else { "release" },
            "target": std::env::consts::ARCH,
        },
        "performance": performance(input, requests),
        "config": {
            "name": input.drive_name,
            "drive": serde_json::to_value(&input.assembly.config).map_err(internal)?,
            "drive_toml": toml::to_string(&input.assembly.config).map_err(|error| Error::Internal(error.to_string()))?,
            "logical_bytes": input.assembly.logical_bytes(),
            "raw_bytes": input.assembly.raw_bytes(),
            "run": input.run,
        },
    });
    if let (Some(device), Some(utilization)) = (&input.device, &input.utilization) {
        let measured = measurements(device, utilization, input)?;
        if let (Value::Object(result), Value::Object(measured)) = (&mut result, measured) {
            result.extend(measured);
        }
    }
    Ok(result)
}

/// What was measured: of every drive, then what its parts and its jobs have of their own.
fn measurements(device: &Seen<'_>, utilization: &Utilization, input: &ResultInput<'_>) -> Result<Value, Error> {
    let internal = |error: serde_json::Error| Error::Internal(error.to_string());
    let mut measured = of_every_drive(device, utilization, input)?;
    let drive = &input.assembly.config;
    for (medium, (key, config)) in [("scm", &drive.scm), ("storage_scm", &drive.storage_scm)].into_iter().enumerate() {
        if let Some(section) = scm::section(device, medium, config.as_ref()) {
            measured[key] = section;
        }
    }
    if drive.dram.is_some() {
        measured["dram"] = dram::section(device, drive.tier.placement.chosen().is_cache());
    }
    if let Some(section) = firmware::section(device) {
        measured["firmware"] = section;
    }
    if let Some(section) = power::section(device) {
        measured["energy"] = section;
    }
    if let Some(section) = tier::section(device, drive.tier.placement.name())? {
        measured["tier"] = section;
    }
    if let Some(section) = mapping::section(device, drive.ftl.map.name())? {
        measured["map"] = section;
    }
    if let Some(section) = block_map::section(device, drive.ftl.map.name()) {
        measured["block_map"] = section;
    }
    if let Some(section) = slc_cache::section(device) {
        measured["slc_cache"] = section;
    }
    if let Some(section) = partitions::section(device, &input.assembly.ftl, input.job_names, input.job_partitions) {
        measured["partitions"] = section;
    }
    if let Some(section) = bad_blocks::section(device) {
        measured["bad_blocks"] = section;
    }
    if let Some(section) = fdp::section(device) {
        measured["fdp"] = section;
    }
    if let Some(section) = zones::section(device) {
        measured["zns"] = section;
    }
    if let Some(section) = zones::log(device)? {
        measured["zone_log"] = section;
    }
    if let Some(section) = reliability::section(device)? {
        measured["reliability"] = section;
    }
    if let Some(section) = namespaces::section(device, &drive.namespaces, input.report, input.job_names) {
        measured["by_namespace"] = section;
    }
    let (endurance, cost) =
        endurance::of_run(device, &input.assembly.config, input.assembly.logical_bytes(), utilization.elapsed);
    measured["endurance"] = serde_json::to_value(endurance).map_err(internal)?;
    measured["cost"] = serde_json::to_value(cost).map_err(internal)?;
    measured["host_queue"]["overload"] = host_queue::overload(device, utilization, input.report, input.job_names);
    measured["host_queue"]["undecided"] = host_queue::undecided(device, input.job_names);
    if let Some(limits) = host_queue::limits(device, input.job_names) {
        measured["host_queue"]["limits"] = limits;
    }
    if !input.job_names.is_empty() {
        measured["by_job"] = by_job(device, input);
    }
    Ok(measured)
}

/// What is measured of every drive.
fn of_every_drive(device: &Seen<'_>, utilization: &Utilization, input: &ResultInput<'_>) -> Result<Value, Error> {
    let meter = device.meter;
    let (report, ends) = (input.report, span::Ends::of(input.report, input.run, input.complete));
    let worked_on = if input.complete { worked_on(device) } else { Ns::ZERO };
    let measured = device.now.saturating_since(device.meter.since.max(ends.beginning(device)));
    // A job that its time ended was measured to that time, whether or not anything completed at its end.
    let latest = meter.since.max(device.latest_completion);
    let end = ends.by_time(device).max().unwrap_or(latest);
    let elapsed = (measured.saturating_since(worked_on) + end.saturating_since(latest)).0;
    let by_op = |value: &dyn Fn(Op) -> Value| -> Value {
        let filled = Op::ALL.into_iter().filter(|&op| meter.ops[op as usize].latency.count() > 0);
        Value::Object(filled.map(|op| (op.name().to_owned(), value(op))).collect::<Map<_, _>>())
    };
    Ok(json!({
        "measured_ns": elapsed,
        "worked_on_ns": worked_on.0,
        "throughput": by_op(&|op| {
            let meter = &meter.ops[op as usize];
            let per_second = |amount: u64| if elapsed == 0 { 0.0 } else { amount as f64 * 1e9 / elapsed as f64 };
            throughput((meter.latency.count(), meter.done(), meter.bytes), &per_second)
        }),
        "latency": by_op(&|op| latency::summary(&meter.ops[op as usize].latency, &meter.ops[op as usize].blocks)),
        "host_queue": host_queue::section(device, utilization),
        "latency_without_host_queue": by_op(&|op| latency::summary_without_intervals(&meter.ops[op as usize].device_latency)),
        "attribution": by_op(&|op| latency::attribution(&meter.ops[op as usize])),
        "hints": hints(device),
        "host_cache": device.host_cache,
        "waf": write_amplification::section(device),
        "steadiness": steadiness(device),
        "operations": operations(device),
        "counters": serde_json::to_value(device.counters).map_err(|error| Error::Internal(error.to_string()))?,
        "ftl": ftl_counters(device),
        "utilisation": utilisation(utilization),
        "wear": wear(device),
        "suspension": suspension(device),
        "fio version": format!("ninescope-{VERSION}"),
        "global options": report.options().global,
        "jobs": fio::jobs(meter, report, elapsed, ends),
    }))
}

/// What one kind of command moved: of all requests those count that did what they asked for.
fn throughput((requests, done, bytes): (u64, u64, u64), per_second: &dyn Fn(u64) -> f64) -> Value {
    let mut told = json!({
        "requests": requests,
        "bytes": bytes,
        "iops": per_second(done),
        "bytes_per_second": per_second(bytes),
    });
    if done < requests {
        told["failed"] = json!(requests - done);
    }
    told
}

/// Whether the window had settled; null where nothing was programmed, and the drive took what came.
fn steadiness(device: &Seen<'_>) -> Option<Steadiness> {
    let geometry = device.ftl.geometry();
    let round = u64::from(geometry.units_per_group()) * u64::from(geometry.pools()) * u64::from(geometry.unit_bytes);
    let written = write_amplification::until_last_completion(device);
    let told = Steadiness::of(&device.meter.series.written(written), round);
    match device.counters.refused_commands {
        0 => told,
        refused => Some(told.unwrap_or_default().of_read_only(refused)),
    }
}

/// The measured write amplification beside the declared one; null where they cannot be compared.
fn as_declared(input: &ResultInput<'_>) -> Option<MeasuredWaf> {
    let device = input.device.as_ref()?;
    // Under the load that is judged: what a drive does by itself behind it belongs to none of the window's tenths.
    let waf = write_amplification::ratio(write_amplification::until_last_completion(device))?;
    MeasuredWaf::of(input.steady, steadiness(device).as_ref(), waf)
}

/// How long the drive worked on by itself after the host's last completion [ns].
fn worked_on(device: &Seen<'_>) -> Ns {
    device.now.saturating_since(device.latest_completion.max(device.meter.since))
}

/// What each job did, in the words of the whole run; its time ends with its last completion, or when its duration is over.
fn by_job(device: &Seen<'_>, input: &ResultInput<'_>) -> Value {
    let ends = span::Ends::of(input.report, input.run, input.complete);
    let entry = |(index, (lane, name)): (usize, (&LaneMeter, &String))| {
        let elapsed = ends.elapsed(lane, index).0;
        let per_second = |amount: u64| if elapsed == 0 { 0.0 } else { amount as f64 * 1e9 / elapsed as f64 };
        let filled = || Op::ALL.into_iter().filter(|&op| lane.ops[op as usize].latency.count() > 0);
        let by_op = |value: &dyn Fn(&LaneOpMeter) -> Value| -> Value {
            Value::Object(filled().map(|op| (op.name().to_owned(), value(&lane.ops[op as usize]))).collect())
        };
        let requests: u64 = lane.ops.iter().map(|op| op.latency.count()).sum();
        let done: u64 = lane.ops.iter().map(LaneOpMeter::done).sum();
        // A trim moves no data.
        let bytes: u64 = [Op::Read, Op::Write].into_iter().map(|op| lane.ops[op as usize].bytes).sum();
        let mut told = json!({
            "name": name,
            "began_ns": lane.since.map(|since| since.0),
            "measured_ns": elapsed,
            "requests": requests,
            "bytes": bytes,
            "iops": per_second(done),
            "throughput": by_op(&|op| throughput((op.latency.count(), op.done(), op.bytes), &per_second)),
            "latency": by_op(&|op| latency::summary_without_intervals(&op.latency)),
            "waits": waits::section(lane, input.job_names),
        });
        if input.assembly.config.scheduler.arbitration.chosen().knows_weights() {
            let (taken_in, out_of_turn) = (lane.chosen.taken_in, lane.chosen.out_of_turn);
            told["arbitration"] = json!({ "taken_in": taken_in, "out_of_turn": out_of_turn });
        }
        if let Some(&partition) = input.job_partitions.get(index) {
            told["partition"] = json!(partition);
            told["waf"] = json!(partitions::waf(device, partition));
        }
        if let Some(part) = device.tier {
            told["cache"] = tier::of_job(part, index);
        }
        told
    };
    device.meter.lanes.iter().zip(input.job_names).enumerate().map(entry).collect()
}

fn notes(input: &ResultInput<'_>) -> Vec<String> {
    let mut notes = input.notes.to_vec();
    // Of the drive as a whole: on what it was calibrated, and how well.
    notes.extend(input.assembly.config.sources.get("summary").map(|source| format!("this drive: {source}")));
    if !input.complete {
        notes.push("partial result: the run was interrupted".to_owned());
    }
    notes.extend(input.device.as_ref().filter(|_| input.complete).and_then(alone));
    notes.extend(input.device.as_ref().filter(|_| input.complete).and_then(collected_alone));
    notes.extend(input.device.as_ref().filter(|_| input.complete).and_then(|device| unmeasured(input, device)));
    if let Some(device) = &input.device {
        notes.extend(host_queue::overload_notes(device, input.report, input.job_names));
    }
    notes.extend(input.steady.and_then(SteadyState::trouble));
    if let (Some(measured), Some(steady), Some(used)) = (as_declared(input), input.steady, &input.utilization) {
        notes.extend(measured.note(steady, used, input.report.writes_in_passes()));
    }
    notes
}

/// That the drive worked on by itself; what was under way at the end takes a moment everywhere.
fn alone(device: &Seen<'_>) -> Option<String> {
    let (worked_on, whole) = (worked_on(device), device.now - device.meter.since);
    let is_long = worked_on.0 > 1_000_000 && worked_on.0 > whole.0 / 20;
    let (before, of_whole) = match device.host_end {
        Some(_) => ("rates and shares of busy time are", "the simulated time is"),
        None => ("rates are", "shares of busy time and the simulated time are"),
    };
    is_long.then(|| {
        format!(
            "the drive worked on by itself for {worked_on} after the last completion (programs, garbage collection, scrubbing, \
             healing, refresh): {before} of the time before, {of_whole} of the whole"
        )
    })
}

/// That what the drive programmed by itself behind the last completion (garbage, what goes down from a tier) shows in its write amplification.
fn collected_alone(device: &Seen<'_>) -> Option<String> {
    let waf = |written| write_amplification::ratio(written).filter(|&waf| waf > 0.0);
    let (all, before) = (waf(device.written())?, waf(write_amplification::until_last_completion(device))?);
    let words = "the drive programmed flash by itself after the last completion";
    (libm::log(all / before) > 0.01).then(|| format!("{words}: WAF is {all:.2} with that, and {before:.2} without"))
}

/// That a run, or jobs of it, were over before measuring began.
fn unmeasured(input: &ResultInput<'_>, device: &Seen<'_>) -> Option<String> {
    let nothing_at_all = device.completed > 0 && device.meter.since == device.now;
    if !input.ramped {
        return nothing_at_all.then(|| "nothing was measured: the run was over before its warm-up".to_owned());
    }
    let described = || input.report.options().jobs.iter().map(|(name, _)| name.as_str());
    let of_lane = |(lane, name): (&LaneMeter, _)| {
        let began_before = lane.since.is_some_and(|since| since <= device.meter.since);
        (began_before && lane.ops.iter().all(|op| op.latency.count() == 0)).then_some(name)
    };
    let alone = device.meter.lanes.is_empty();
    let jobs: Vec<&str> = if alone {
        described().filter(|_| nothing_at_all).collect()
    } else {
        device.meter.lanes.iter().zip(input.job_names.iter().map(String::as_str)).filter_map(of_lane).collect()
    };
    let whose = match jobs[..] {
        [] => return None,
        [job] => format!("job {job}"),
        _ => format!("jobs {}", jobs.join(", ")),
    };
    let problem = "nothing was measured: no request completed after the ramp_time (fio measures such a job whole)";
    Some(format!("{whose}: {problem}"))
}

fn performance(input: &ResultInput<'_>, requests: u64) -> Value {
    let events = input.device.map_or(0, |device| device.counters.events);
    let per_second = |amount: u64| if input.run_seconds > 0.0 { amount as f64 / input.run_seconds } else { 0.0 };
    let mut performance = json!({
        "prepare_seconds": input.prepare_seconds,
        "run_seconds": input.run_seconds,
        "requests_per_second": per_second(requests),
        "events": events,
    });
    if let Some(snapshot) = input.snapshot {
        performance["snapshot"] = json!({ "shape": snapshot.shape, "loaded": snapshot.loaded });
    }
    performance
}

/// Requests by what a cache in front of the drive said about them; empty without one.
fn hints(device: &Seen<'_>) -> Value {
    let meters = CacheHint::ALL.into_iter().zip(&device.meter.hints).filter(|(_, meter)| meter.latency.count() > 0);
    let entry = |meter: &HintMeter| {
        let mut entry = latency::summary_without_intervals(&meter.latency);
        entry["bytes"] = json!(meter.bytes);
        entry
    };
    Value::Object(meters.map(|(hint, meter)| (hint.name().to_owned(), entry(meter))).collect::<Map<_, _>>())
}

fn operations(device: &Seen<'_>) -> Value {
    let counters = device.counters;
    json!({
        "host_reads": counters.host_page_reads,
        "read_modify_write_reads": counters.read_modify_write_reads,
        "gc_reads": counters.gc_page_reads,
        "migration_reads": counters.migration_page_reads,
        "host_programs": counters.host_page_programs,
        "migration_programs": counters.migration_page_programs,
        "gc_programs": counters.gc_page_programs,
        "map_reads": counters.map_page_reads,
        "map_programs": counters.map_page_programs,
        "programs": counters.host_page_programs
            + counters.migration_page_programs
            + counters.map_page_programs
            + counters.gc_page_programs
            + counters.parity_page_programs,
        "erases": counters.group_erases,
    })
}

fn ftl_counters(device: &Seen<'_>) -> Value {
    let counters = device.ftl.counters();
    let mut told = json!({
        "host_units": counters.host_units,
        "migrated_units": counters.migrated_units,
        "map_units": counters.map_units,
        "gc_units": counters.gc_units,
        "healed_units": counters.healed_units,
        "padding_units": counters.padding_units,
        "rewritten_units": counters.rewritten_units,
        "parity_units": counters.parity_units,
        "rebuilt_units": counters.rebuilt_units,
        "trimmed_units": counters.trimmed_units,
        "mapped_units": device.ftl.mapped_units(),
        "logical_units": device.ftl.logical_units(),
        "moves_completed": counters.moves_completed,
        "moves_dropped_after_read": counters.moves_dropped_after_read,
        "moves_dropped_after_program": counters.moves_dropped_after_program,
        "gc_victims": counters.gc_victims,
        "gc_victim_valid_units": counters.gc_victim_valid_units,
        "refreshed_groups": counters.refreshed_groups,
        "leveled_groups": counters.leveled_groups,
        "leveled_units": counters.leveled_units,
        "host_holds": counters.host_holds,
        "programmed_units": counters.programmed_units(),
        "units_per_host_unit": (counters.host_units > 0).then(|| counters.write_amplification()),
    });
    if device.ftl.chooses_streams() {
        let units = |stream: Stream| counters.streams[stream.index()];
        let of_kind = |kind: u32| json!({ "kind": kind, "written": units(Stream::of_writes(kind)), "moved": units(Stream::of_moves(kind)) });
        if !device.ftl.homes().is_empty() {
            told["away_units"] = json!(counters.away_units);
        }
        let kinds = device.ftl.kinds() - u32::from(device.ftl.levels_wear());
        told["streams"] = (0..kinds).map(of_kind).collect();
    }
    told
}

/// Shares of the measured time; null where there is none.
fn utilisation(utilization: &Utilization) -> Value {
    if utilization.elapsed == Ns::ZERO {
        return Value::Null;
    }
    let elapsed = utilization.elapsed.0 as f64;
    let mut used = json!({
        "controller": utilization.processor.0 as f64 / elapsed,
        "write_stalls": utilization.write_stalls.0 as f64 / elapsed,
        "link": { "in": utilization.link_in.0 as f64 / elapsed, "out": utilization.link_out.0 as f64 / elapsed },
    });
    if let Some(busy) = utilization.dram.first() {
        used["dram"] = json!(busy.0 as f64 / elapsed);
    }
    if !utilization.cores.is_empty() {
        used["cores"] = utilization.cores.iter().map(|busy| json!(busy.0 as f64 / elapsed)).collect();
    }
    let media = [
        ("dies", &utilization.dies, "channels", &utilization.channels),
        ("banks", &utilization.banks, "bank_channels", &utilization.bank_channels),
    ];
    for (units_key, units, channels_key, channels) in media {
        if units.is_empty() {
            continue;
        }
        used[units_key] = busy_shares(units, elapsed);
        used[channels_key] = spread(channels.iter().map(|busy| busy.0 as f64 / elapsed));
    }
    used
}

/// Shares of the time in which dies or banks were busy, and with what.
fn busy_shares(units: &[DieLedger], elapsed: f64) -> Value {
    let count = units.len() as f64;
    // Years of many dies are more nanoseconds than 64 bits hold.
    let mut held = [0_u128; OCCUPANCIES];
    for die in units {
        held.iter_mut().zip(die).for_each(|(sum, &time)| *sum += u128::from(time));
    }
    let occupancy: Map<String, Value> = Occupancy::ALL
        .into_iter()
        .filter(|&occupancy| held[occupancy as usize] > 0)
        .map(|occupancy| (occupancy.name().to_owned(), json!(held[occupancy as usize] as f64 / count / elapsed)))
        .collect();
    let busy = |die: &DieLedger| 1.0 - die[Occupancy::Idle as usize] as f64 / elapsed;
    let mut shares = spread(units.iter().map(busy));
    shares["occupancy"] = Value::Object(occupancy);
    shares
}

fn spread(values: impl Iterator<Item = f64>) -> Value {
    let values: Vec<f64> = values.collect();
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    json!({ "mean": mean, "min": min, "max": max })
}

/// How often erases were suspended, and what it did to their blocks.
fn suspension(device: &Seen<'_>) -> Value {
    let ledger = &device.meter.suspensions;
    let (added_rber_mean, added_rber_max) = ledger.added_rber();
    let (erase_ns_mean, erase_ns_max) = ledger.took_ns();
    let behind_erase: Map<_, _> = Op::ALL
        .into_iter()
        .map(|op| (op, &device.meter.ops[op as usize]))
        .filter(|(_, meter)| meter.latency.count() > 0)
        .map(|(op, meter)| (op.name().to_owned(), json!(meter.behind_erase)))
        .collect();
    json!({
        "erases": ledger.erases(),
        "suspended_erases": ledger.suspended(),
        "suspensions": ledger.suspensions(),
        "suspensions_max": ledger.most(),
        "suspensions_per_erase_histogram": ledger.histogram().collect::<Vec<_>>(),
        "over_limit_erases": ledger.over_limit(),
        "excess_suspensions": ledger.excess(),
        "added_rber_mean": added_rber_mean,
        "added_rber_max": added_rber_max,
        "lost_ns": ledger.lost_ns(),
        "erase_ns_mean": erase_ns_mean,
        "erase_ns_max": erase_ns_max,
        "behind_erase": behind_erase,
    })
}

/// Erases per block since the drive was new, preparing included (every block of a group has the same).
fn wear(device: &Seen<'_>) -> Value {
    let ftl = device.ftl;
    let erases: Vec<u32> = (0..ftl.geometry().groups()).map(|group| ftl.group(BlockGroup(group)).erase_count).collect();
    let sum: u64 = erases.iter().map(|&count| u64::from(count)).sum();
    json!({
        "erases_min": erases.iter().min(),
        "erases_mean": sum as f64 / erases.len().max(1) as f64,
        "erases_max": erases.iter().max(),
    })
}
