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

/// What moves data, or takes it away: fio counts what flushes take apart.
const MOVING: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

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
    /// Commands that were done; fio counts no others.
    done: u64,
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
            "iops": per_second(self.done as f64),
            "runtime": if self.latency.count() > 0 { milliseconds(elapsed_ns) } else { 0 },
            "total_ios": self.done,
            "short_ios": 0,
            "drop_ios": 0,
            "slat_ns": moments(self.host_queue),
            "clat_ns": distribution(self.device_latency),
            "lat_ns": distribution(self.latency),
        })
    }
}

/// Ends of the ranges of latency that fio counts, in each of its units; the last of milliseconds has none.
const RANGES: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1_000, 2_000];

/// The share of the latencies in each range [%], in nanoseconds, microseconds and milliseconds, as fio counts them: what is
/// less than an end and no less than the one before. A bucket of the histogram is counted where its upper end lies.
fn latency_shares(histograms: &[&Histogram]) -> [Map<String, Value>; 3] {
    let total: u64 = histograms.iter().map(|histogram| histogram.count()).sum();
    let mut shares = [(1_u64, 10), (1_000, 10), (1_000_000, 11)]
        .map(|(unit, ends)| RANGES[..ends].iter().map(|&end| (end * unit, end.to_string(), 0_u64)).collect::<Vec<_>>());
    let mut beyond = 0;
    for (upper, count) in histograms.iter().flat_map(|histogram| histogram.nonempty()) {
        match shares.iter_mut().flatten().find(|(end, ..)| upper < *end) {
            Some((.., counted)) => *counted += count,
            None => beyond += count,
        }
    }
    let percent = |count: u64| json!(count as f64 * 100.0 / total.max(1) as f64);
    let mut shares =
        shares.map(|unit| unit.into_iter().map(|(_, name, count)| (name, percent(count))).collect::<Map<_, _>>());
    shares[2].insert(format!(">={}", RANGES[10]), percent(beyond));
    shares
}

/// One entry for each job, or one that stands for the whole run; `described` has the name and the options of each. `slat`
/// is the wait in the host because the drive's queue was full, `clat` what the device took, `lat` both.
pub fn jobs(meter: &Meter, report: &WorkloadReport, elapsed_ns: u64, ends: span::Ends<'_>) -> Vec<Value> {
    let described = &report.options().jobs;
    let whole = ("ninescope".to_owned(), BTreeMap::new());
    if meter.lanes.is_empty() {
        let of = |meter: &OpMeter| -> Value {
            let OpMeter { latency, device_latency, host_queue, bytes, .. } = meter;
            Direction { latency, device_latency, host_queue, bytes: *bytes, done: meter.done() }.value(elapsed_ns)
        };
        return vec![job(
            described.first().unwrap_or(&whole),
            0,
            &|op| of(&meter.ops[op as usize]),
            &MOVING.map(|op| &meter.ops[op as usize].latency),
            elapsed_ns,
        )];
    }
    let mut group = 0;
    let mut entries = Vec::with_capacity(meter.lanes.len());
    for (index, (lane, described)) in meter.lanes.iter().zip(described).enumerate() {
        let elapsed_ns = ends.elapsed(lane, index).0;
        // A wall begins a group.
        group += usize::from(index > 0 && report.job_of_lane(index).is_some_and(|job| job.stonewall));
        let of = |meter: &LaneOpMeter| {
            let LaneOpMeter { latency, device_latency, host_queue, bytes, .. } = meter;
            Direction { latency, device_latency, host_queue, bytes: *bytes, done: meter.done() }.value(elapsed_ns)
        };
        entries.push(job(
            described,
            group,
            &|op| of(&lane.ops[op as usize]),
            &MOVING.map(|op| &lane.ops[op as usize].latency),
            elapsed_ns,
        ));
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
    latencies: &[&Histogram],
    elapsed_ns: u64,
) -> Value {
    let flushes = direction(Op::Flush);
    let [ns, us, ms] = latency_shares(latencies);
    let mut entry = json!({
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
        "latency_ns": ns,
        "latency_us": us,
        "latency_ms": ms,
    });
    if let Some(description) = options.get("description") {
        entry["desc"] = json!(description);
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_shared_out_among_the_ranges_of_fio() {
        let (mut reads, mut writes) = (Histogram::default(), Histogram::default());
        for latency in [1, 3, 60, 60, 1_600, 240_000] {
            reads.record(latency);
        }
        for latency in [990_000, 1_200_000, 1_990_000_000, 3_000_000_000] {
            writes.record(latency);
        }
        let [ns, us, ms] = latency_shares(&[&reads, &writes]);
        let filled = |unit: &Map<String, Value>| -> Vec<(String, f64)> {
            let shares = unit.iter().map(|(name, share)| (name.clone(), share.as_f64().expect("a share")));
            let mut filled: Vec<_> = shares.filter(|(_, share)| *share > 0.0).collect();
            filled.sort_by(|one, other| one.0.cmp(&other.0));
            filled
        };
        let named =
            |shares: &[(&str, f64)]| shares.iter().map(|&(name, share)| (name.to_owned(), share)).collect::<Vec<_>>();
        assert_eq!(filled(&ns), named(&[("100", 20.0), ("2", 10.0), ("4", 10.0)]));
        assert_eq!(filled(&us), named(&[("1000", 10.0), ("2", 10.0), ("250", 10.0)]));
        assert_eq!(filled(&ms), named(&[("2", 10.0), ("2000", 10.0), (">=2000", 10.0)]));
        assert_eq!((ns.len(), us.len(), ms.len()), (10, 10, 12));
        assert!(latency_shares(&[]).iter().flat_map(Map::values).all(|share| share == 0.0));
    }
}
