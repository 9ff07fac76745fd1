//! The same figures in the shape of fio's JSON+ output, for tools that read that.

use std::collections::BTreeMap;

use ninescope_engine::meter::{Histogram, LaneMeter, LaneOpMeter, Meter, OpMeter};
use ninescope_model::Op;
use serde_json::{Map, Value, json};

/// Percentiles fio prints by default, and the nines beyond.
const PERCENTILES: [(f64, u64); 15] = [
    (1.0, 10_000_000),
    (5.0, 50_000_000),
    (10.0, 100_000_000),
    (20.0, 200_000_000),
    (30.0, 300_000_000),
    (50.0, 500_000_000),
    (70.0, 700_000_000),
    (90.0, 900_000_000),
    (95.0, 950_000_000),
    (99.0, 990_000_000),
    (99.5, 995_000_000),
    (99.9, 999_000_000),
    (99.99, 999_900_000),
    (99.999, 999_990_000),
    (99.9999, 999_999_000),
];

/// fio's histogram has 64 buckets per octave (`PLAT_BITS` 6), ours 128: neighbours are merged.
fn fold_bin(upper_bound: u64) -> u64 {
    if upper_bound < 128 {
        return upper_bound;
    }
    let octave = 63 - u64::from(upper_bound.leading_zeros()) - 6;
    // The middle of the bucket, as fio labels it.
    ((upper_bound >> octave) << octave) + (1 << octave) / 2
}

fn distribution(histogram: &Histogram) -> Value {
    let percentile: Map<String, Value> = PERCENTILES
        .iter()
        .map(|&(percent, parts)| (format!("{percent:.6}"), json!(histogram.percentile(parts))))
        .collect();
    let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
    for (upper_bound, count) in histogram.nonempty() {
        *bins.entry(fold_bin(upper_bound)).or_default() += count;
    }
    let bins: Map<String, Value> = bins.into_iter().map(|(bin, count)| (bin.to_string(), json!(count))).collect();
    json!({
        "min": histogram.min(),
        "max": histogram.max(),
        "mean": histogram.mean(),
        "N": histogram.count(),
        "percentile": percentile,
        "bins": bins,
    })
}

/// What one kind of command of a job did.
#[derive(Clone, Copy)]
struct Direction<'a> {
    latency: &'a Histogram,
    device_latency: &'a Histogram,
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
            "runtime": elapsed_ns / 1_000_000,
            "total_ios": self.latency.count(),
            "short_ios": 0,
            "drop_ios": 0,
            "clat_ns": distribution(self.device_latency),
            "lat_ns": distribution(self.latency),
        })
    }
}

/// One entry for each job, or one that stands for the whole run. `clat` is what the device took, `lat` includes the
/// host's queue.
pub fn jobs(meter: &Meter, names: &[String], elapsed_ns: u64) -> Vec<Value> {
    if meter.lanes.is_empty() {
        let of = |meter: &OpMeter| -> Value {
            let OpMeter { latency, device_latency, bytes, .. } = meter;
            Direction { latency, device_latency, bytes: *bytes }.value(elapsed_ns)
        };
        return vec![job("ninescope", &|op| of(&meter.ops[op as usize]), elapsed_ns)];
    }
    let lane = |(lane, name): (&LaneMeter, &String)| {
        let elapsed_ns = lane.elapsed().0;
        let of = |meter: &LaneOpMeter| {
            let LaneOpMeter { latency, device_latency, bytes } = meter;
            Direction { latency, device_latency, bytes: *bytes }.value(elapsed_ns)
        };
        job(name, &|op| of(&lane.ops[op as usize]), elapsed_ns)
    };
    meter.lanes.iter().zip(names).map(lane).collect()
}

fn job(name: &str, direction: &dyn Fn(Op) -> Value, elapsed_ns: u64) -> Value {
    json!({
        "jobname": name,
        "groupid": 0,
        "error": 0,
        "elapsed": elapsed_ns.div_ceil(1_000_000_000),
        "read": direction(Op::Read),
        "write": direction(Op::Write),
        "trim": direction(Op::Trim),
        "job_runtime": elapsed_ns / 1_000_000,
    })
}
