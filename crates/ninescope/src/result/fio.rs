//! The same figures in the shape of fio's JSON+ output, for tools that read that.

use std::collections::BTreeMap;

use ninescope_engine::meter::{Histogram, LaneOpMeter, Meter, Moments, OpMeter};
use ninescope_model::Op;
use serde_json::{Map, Value, json};

use super::{WorkloadReport, span};

/// Percentiles fio prints by default, and two nines beyond: percent and parts per billion.
const PERCENTILES: [(f64, u64); 19] = [
    (1.0, 10_000_000),
    (5.0, 50_000_000),
    (10.0, 100_000_000),
    (20.0, 200_000_000),
    (30.0, 300_000_000),
    (40.0, 400_000_000),
    (50.0, 500_000_000),
    (60.0, 600_000_000),
    (70.0, 700_000_000),
    (80.0, 800_000_000),
    (90.0, 900_000_000),
    (95.0, 950_000_000),
    (99.0, 990_000_000),
    (99.5, 995_000_000),
    (99.9, 999_000_000),
    (99.95, 999_500_000),
    (99.99, 999_900_000),
    (99.999, 999_990_000),
    (99.9999, 999_999_000),
];

/// The label of fio's last bucket [ns]: it holds all that is longer, and `fio_jsonplus_clat2csv` knows no other.
const LAST_BIN: u64 = 17_112_760_320;

/// fio's histogram has 64 buckets per octave (`PLAT_BITS` 6), ours 128: neighbours are merged.
fn fold_bin(upper_bound: u64) -> u64 {
    if upper_bound < 128 {
        return upper_bound;
    }
    let octave = 63 - u64::from(upper_bound.leading_zeros()) - 6;
    // The middle of the bucket, as fio labels it.
    (((upper_bound >> octave) << octave) + (1 << octave) / 2).min(LAST_BIN)
}

/// What fio says of every latency.
fn moments(moments: &Moments) -> Value {
    json!({
        "min": moments.min(),
        "max": moments.max(),
        "mean": moments.mean(),
        "stddev": moments.standard_deviation(),
        "N": moments.count(),
    })
}

/// The same with percentiles and bins, which fio leaves out where nothing was counted.
fn distribution(histogram: &Histogram) -> Value {
    let mut value = moments(histogram.moments());
    if histogram.count() == 0 {
        return value;
    }
    let percentile: Map<String, Value> = PERCENTILES
        .iter()
        .map(|&(percent, parts)| (format!("{percent:.6}"), json!(histogram.percentile(parts))))
        .collect();
    let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
    for (upper_bound, count) in histogram.nonempty() {
        *bins.entry(fold_bin(upper_bound)).or_default() += count;
    }
    let bins: Map<String, Value> = bins.into_iter().map(|(bin, count)| (bin.to_string(), json!(count))).collect();
    value["percentile"] = Value::Object(percentile);
    value["bins"] = Value::Object(bins);
    value
}

/// What one kind of command of a job did.
#[derive(Clone, Copy)]
struct Direction<'a> {
    latency: &'a Histogram,
    device_latency: &'a Histogram,
    host_queue: &'a Moments,
    bytes: u64,
}

impl Direction<'_> {
    fn value(&self, elapsed_ns: u64) -> Value {
        let seconds = elapsed_ns as f64 / 1e9;
        let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        let bytes_per_second = per_second(self.bytes as f64);
        json!({
            "io_bytes": self.bytes,
            "io_kbytes": self.bytes / 1024,
            "bw_bytes": bytes_per_second as u64,
            "bw": (bytes_per_second / 1024.0) as u64,
            "iops": per_second(self.latency.count() as f64),
            "runtime": milliseconds(elapsed_ns),
            "total_ios": self.latency.count(),
            "short_ios": 0,
            "drop_ios": 0,
            "slat_ns": moments(self.host_queue),
            "clat_ns": distribution(self.device_latency),
            "lat_ns": distribution(self.latency),
        })
    }
}

/// One entry for each job, or one that stands for the whole run; `described` has the name and the options of each. `slat`
/// is the wait in the host because the drive's queue was full, `clat` what the device took, `lat` both.
pub fn jobs(meter: &Meter, report: &WorkloadReport, elapsed_ns: u64, ends: span::Ends<'_>) -> Vec<Value> {
    let described = &report.options().jobs;
    let whole = ("ninescope".to_owned(), BTreeMap::new());
    if meter.lanes.is_empty() {
        let of = |meter: &OpMeter| -> Value {
            let OpMeter { latency, device_latency, host_queue, bytes, .. } = meter;
            Direction { latency, device_latency, host_queue, bytes: *bytes }.value(elapsed_ns)
        };
        return vec![job(described.first().unwrap_or(&whole), 0, &|op| of(&meter.ops[op as usize]), elapsed_ns)];
    }
    let mut group = 0;
    let mut entries = Vec::with_capacity(meter.lanes.len());
    for (index, (lane, described)) in meter.lanes.iter().zip(described).enumerate() {
        let elapsed_ns = ends.elapsed(lane, index).0;
        // A wall begins a group.
        group += usize::from(index > 0 && report.job_of_lane(index).is_some_and(|job| job.stonewall));
        let of = |meter: &LaneOpMeter| {
            let LaneOpMeter { latency, device_latency, host_queue, bytes } = meter;
            Direction { latency, device_latency, host_queue, bytes: *bytes }.value(elapsed_ns)
        };
        entries.push(job(described, group, &|op| of(&lane.ops[op as usize]), elapsed_ns));
    }
    entries
}

/// Whole ones; of what took any time at least one, so that rates can be made from it.
fn milliseconds(ns: u64) -> u64 {
    (ns / 1_000_000).max(u64::from(ns > 0))
}

fn job(
    (name, options): &(String, BTreeMap<String, String>),
    group: usize,
    direction: &dyn Fn(Op) -> Value,
    elapsed_ns: u64,
) -> Value {
    let flushes = direction(Op::Flush);
    json!({
        "jobname": name,
        "groupid": group,
        "error": 0,
        "elapsed": elapsed_ns.div_ceil(1_000_000_000),
        "job options": options,
        "read": direction(Op::Read),
        "write": direction(Op::Write),
        "trim": direction(Op::Trim),
        "sync": { "total_ios": flushes["total_ios"], "lat_ns": flushes["lat_ns"] },
        "job_runtime": milliseconds(elapsed_ns),
    })
}
