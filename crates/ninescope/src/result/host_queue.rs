//! The wait in the host: how much of the time it is, what the drive's queue was full of, which resource was busiest,
//! and whether the drive kept up with its arrivals at all.

use ninescope_engine::meter::{Backlog, Limited, Overload};
use ninescope_engine::{Seen, Utilization};
use ninescope_generators::JobConfig;
use ninescope_kernel::Ns;
use ninescope_model::units::BytesPerSecond;
use ninescope_model::{Cause, Op};
use serde_json::{Map, Value, json};

use super::WorkloadReport;
use super::latency::mean_parts;
use super::worked_on;
use crate::digits;

/// The load that arrivals are to be stretched to: a queue at a load of 1 would still grow, if slower.
const LOAD_KEPT_UP_WITH: f64 = 0.9;

/// Shares, holders and resources; `overload` is filled in by who knows the workload.
pub fn section(device: &Seen<'_>, utilization: &Utilization) -> Value {
    let meter = device.meter;
    let share = |op: Op| {
        let total = meter.ops[op as usize].attribution.total();
        (total.total() > 0).then(|| {
            let waited = total.of(Cause::HostQueue) as f64 / total.total() as f64;
            (op.name().to_owned(), json!(waited))
        })
    };
    let holders = |op: Op| {
        let commands = meter.queue_holders.commands[op as usize];
        let parts = &meter.queue_holders.parts[op as usize];
        (commands > 0).then(|| {
            let holder = json!({
                "commands": commands,
                "mean_ns": parts.total() as f64 / commands as f64,
                "parts_ns": mean_parts(parts, commands),
            });
            (op.name().to_owned(), holder)
        })
    };
    json!({
        "share": Op::ALL.into_iter().filter_map(share).collect::<Map<_, _>>(),
        "holders": Op::ALL.into_iter().filter_map(holders).collect::<Map<_, _>>(),
        "resources": resources(&utilization.busy(), utilization.elapsed.0),
        "overload": [],
        "undecided": [],
    })
}

/// What the limits of jobs held back, of each job that has one; nothing where none has.
pub fn limits(device: &Seen<'_>, names: &[String]) -> Option<Value> {
    let limited = (0..).zip(&device.meter.limited).filter(|(_, limited)| limited.taken_in > 0);
    let entry = |(lane, limited): (usize, &Limited)| {
        let mean = limited.wait.0 as f64 / limited.taken_in as f64;
        json!({ "job": names.get(lane), "taken_in": limited.taken_in, "held": limited.held, "mean_wait_ns": mean })
    };
    let limits: Vec<Value> = limited.map(entry).collect();
    (!limits.is_empty()).then(|| json!(limits))
}

/// Kinds of resources, in the order of [`Utilization::busy`].
const KINDS: [&str; 10] = [
    "die",
    "channel",
    "SCM bank",
    "SCM channel",
    "controller",
    "write buffer",
    "host link in",
    "host link out",
    "DRAM",
    "core",
];

/// The busiest of each kind of resource, busiest first: its share of the time, and that of its kind on average. None of
/// them where no time was measured.
fn resources(busy: &[Vec<u64>; 10], elapsed: u64) -> Vec<Value> {
    if elapsed == 0 {
        return Vec::new();
    }
    let elapsed = elapsed as f64;
    let of_kind = |(kind, busy): (&str, &Vec<u64>)| {
        let (index, &most) = busy.iter().enumerate().max_by_key(|(_, time)| **time)?;
        let (most, count) = (most as f64 / elapsed, busy.len());
        let mean = busy.iter().sum::<u64>() as f64 / elapsed / count as f64;
        let index = if count > 1 { json!(index) } else { Value::Null };
        Some((most, json!({"kind": kind, "index": index, "count": count, "busy": most, "mean": mean})))
    };
    let mut resources: Vec<(f64, Value)> = KINDS.into_iter().zip(busy).filter_map(of_kind).collect();
    resources.sort_by(|a, b| b.0.total_cmp(&a.0));
    resources.into_iter().map(|(_, resource)| resource).collect()
}

/// The same from `since` on to the last completions.
fn resources_since(since: Ns, device: &Seen<'_>, utilization: &Utilization) -> Vec<Value> {
    let Some((elapsed, times)) = device.meter.busy.since(since) else { return Vec::new() };
    let mut times = times.into_iter();
    let busy = utilization.busy().map(|of_run| times.by_ref().take(of_run.len()).collect());
    resources(&busy, elapsed)
}

/// The lanes whose arrivals were not kept up with, by number.
fn overloaded(device: &Seen<'_>) -> impl Iterator<Item = (usize, Overload)> {
    let lanes = device.meter.backlogs.iter().enumerate();
    lanes.filter_map(|(lane, backlog)| Some((lane, backlog.overload()?)))
}

/// Requests that arrived and that completed per second while they fell behind; `None`: they arrived at one instant. Of a
/// job with a fixed rate the arrivals are known, of all others they are counted.
fn rates(overload: &Overload, job: Option<&JobConfig>) -> Option<(f64, f64)> {
    let (counted, load) = overload.arrivals_per_second.zip(overload.load)?;
    let arrived = job.and_then(JobConfig::arrivals_per_second).unwrap_or(counted);
    Some((arrived, arrived / load))
}

/// What the gaps between arrivals would have to be multiplied by to bring a load to [`LOAD_KEPT_UP_WITH`], rounded up to
/// three digits.
fn stretch(load: f64) -> f64 {
    digits::up(load / LOAD_KEPT_UP_WITH)
}

/// The keys of a job's rates with what would bring a load to [`LOAD_KEPT_UP_WITH`], rounded down to three digits; that of
/// its writes second where they have one of their own.
fn rates_kept_up_with(load: f64, job: &JobConfig) -> Vec<(&'static str, f64)> {
    let in_bytes = |rate: BytesPerSecond| rate.0 as f64;
    let rates = [
        ("rate_iops", job.rate_iops),
        ("write_rate_iops", job.write_rate_iops),
        ("rate", job.rate.map(in_bytes)),
        ("write_rate", job.write_rate.map(in_bytes)),
    ];
    let lowered =
        |(key, rate): (&'static str, Option<f64>)| Some((key, digits::down(rate? * LOAD_KEPT_UP_WITH / load)));
    rates.into_iter().filter_map(lowered).collect()
}

/// The load by what the drive is done with: requests complete in its buffer, and what it worked on by itself after the last
/// one, programs and collections, belongs to them.
fn load_with_debt(overload: &Overload, device: &Seen<'_>) -> Option<f64> {
    let took = (overload.until.saturating_since(overload.since) + overload.age).0.max(1) as f64;
    overload.load.map(|load| load * (1.0 + worked_on(device).0 as f64 / took))
}

/// One entry for each lane that was not kept up with.
pub fn overload(device: &Seen<'_>, utilization: &Utilization, report: &WorkloadReport, job_names: &[String]) -> Value {
    let entry = |(lane, overload): (usize, Overload)| {
        let load = load_with_debt(&overload, device);
        let scale = load.zip(report.time_scale()).map(|(load, now)| stretch(load * now));
        let job = report.job_of_lane(lane);
        let rates = rates(&overload, job);
        let lower = load.zip(job).map_or_else(Vec::new, |(load, job)| rates_kept_up_with(load, job));
        let lower = |key: &str| lower.iter().find(|(of, _)| *of == key).map(|(_, rate)| *rate);
        json!({
            "job": job_names.get(lane),
            "load": overload.load,
            "arrivals_per_second": rates.map(|(arrivals, _)| arrivals),
            "completions_per_second": rates.map(|(_, completions)| completions),
            "since_ns": overload.since.0,
            "until_ns": overload.until.0,
            "age_ns": overload.age.0,
            "time_scale": scale,
            "rate_iops": lower("rate_iops"),
            "write_rate_iops": lower("write_rate_iops"),
            "rate": lower("rate"),
            "write_rate": lower("write_rate"),
            "resources": resources_since(overload.since, device, utilization),
        })
    };
    overloaded(device).map(entry).collect()
}

/// One entry for each lane of which the run is too short to say whether it was kept up with.
pub fn undecided(device: &Seen<'_>, job_names: &[String]) -> Value {
    let lanes = device.meter.backlogs.iter().enumerate();
    let entry = |(lane, backlog): (usize, &Backlog)| {
        let left = backlog.undecided()?;
        Some(json!({"job": job_names.get(lane), "arrivals_ns": left.arrivals.0, "drain_ns": left.drain.0}))
    };
    lanes.filter_map(entry).collect()
}

/// What is said of them, with the options that change it.
pub fn overload_notes(device: &Seen<'_>, report: &WorkloadReport, job_names: &[String]) -> Vec<String> {
    let note = |(lane, overload): (usize, Overload)| {
        let whose = job_names.get(lane).map_or_else(String::new, |name| format!("job {name}: "));
        let [since, until, age] = [overload.since, overload.until, overload.age].map(span);
        let job = report.job_of_lane(lane);
        let with_debt = load_with_debt(&overload, device);
        let (how, factor) = match overload.load.zip(rates(&overload, job)) {
            Some((load, (arrivals, completions))) => (
                format!(
                    "requests arrive {} times as fast as they complete ({} and {} per second), from {since} to the last \
                     at {until}",
                    three_digits(load),
                    three_digits(arrivals),
                    three_digits(completions)
                ),
                with_debt.map(|load| stretch(load * report.time_scale().unwrap_or(1.0))),
            ),
            None => (format!("all requests from {since} on arrive at once"), None),
        };
        let percent = LOAD_KEPT_UP_WITH * 100.0;
        let lower = with_debt.zip(job).map_or_else(Vec::new, |(load, job)| rates_kept_up_with(load, job));
        let beside = if job_names.len() > 1 { " with the other jobs as they were" } else { "" };
        let way_out = match (report.time_scale(), lower.as_slice(), factor) {
            (Some(_), _, Some(factor)) => format!(
                "--time-scale {factor} would bring the load to {percent:.0} % on average (more is wanted where requests come in \
                 bursts), --closed-loop keeps a queue depth in place of the times"
            ),
            (Some(_), _, None) => "--closed-loop keeps a queue depth in place of the times".to_owned(),
            (None, [(first, _), ..], _) => format!(
                "{} would bring the load to {percent:.0} %{beside}, without {first} iodepth is kept",
                lower.iter().map(|(key, rate)| format!("{key}={rate}")).collect::<Vec<_>>().join(" and ")
            ),
            (None, [], Some(factor)) => {
                format!("requests {factor} times as far apart would bring the load to {percent:.0} %")
            }
            (None, [], None) => "a job without rate_iops keeps its iodepth".to_owned(),
        };
        format!(
            "{whose}the drive does not keep up: {how}, which was {age} old when it completed; latencies tell how long \
             this went on, not what the drive takes: {way_out}"
        )
    };
    overloaded(device).map(note).collect()
}

/// A time with the unit that fits it.
fn span(time: Ns) -> String {
    let (size, unit) = match time.0 {
        0..1_000 => (1.0, "ns"),
        1_000..1_000_000 => (1e3, "us"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let value = time.0 as f64 / size;
    if size > 1e8 && value >= 1e3 { format!("{value:.0} {unit}") } else { format!("{} {unit}", three_digits(value)) }
}

/// Three digits that count, with a prefix for thousands where they need one.
fn three_digits(value: f64) -> String {
    let (scaled, prefix) = [(1e9, " G"), (1e6, " M"), (1e3, " k")]
        .into_iter()
        .find(|(size, _)| value >= *size)
        .map_or((value, ""), |(size, prefix)| (value / size, prefix));
    let decimals = if scaled < 10.0 { 2 } else { usize::from(scaled < 100.0) };
    format!("{scaled:.decimals$}{prefix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_scale_is_rounded_up_to_three_digits() {
        // 0.9 is what a load of 1 is brought to.
        let of_traces = [(1.1, 1.23), (0.9, 1.0), (9.0, 10.0), (99.0, 110.0), (1_234.0, 1_380.0), (3e5, 334_000.0)];
        // Where the times were already scaled down: 275,000 * 1e-9.
        for (load, scale) in of_traces.into_iter().chain([(2.75e-4, 3.06e-4), (0.0567, 0.063), (0.45, 0.5)]) {
            assert!((stretch(load) / scale - 1.0).abs() < 1e-9, "{load}: {}", stretch(load));
        }
        assert_eq!(
            [5, 5_609, 297_176_000, 90_000_000_000_000].map(|ns| span(Ns(ns))),
            ["5.00 ns", "5.61 us", "297 ms", "90000 s"]
        );
        assert_eq!(["1.10", "35.2", "999", "12.3 k", "21.9 M"].map(str::to_owned), {
            [1.1, 35.17, 999.2, 12_345.0, 21_900_000.0].map(three_digits)
        });
    }
}
