//! Whom the requests of each job waited for, where several jobs share a drive.

use ninescope_engine::meter::{BehindBand, BehindSum, LaneMeter, LaneOpMeter, Parts, SPLIT, Waits};
use ninescope_kernel::Ns;
use ninescope_model::{Cause, Op};
use serde_json::{Map, Value, json};

use super::latency::{BANDS, mean_parts};

/// Causes of waits for what a die does for nobody in particular.
const OF_DRIVE: [Cause; 5] =
    [Cause::DieSuspendOverhead, Cause::DieScrub, Cause::DieWearLeveling, Cause::DieParity, Cause::DieRebuild];

/// The requests that are slower than all but a hundredth.
const TAIL: [(&str, u64); 2] = [("p99", 990_000_000), ("max", 1_000_000_000)];

/// Of each operation of a job: where its time went and whom it waited for, in the mean, in the slowest hundredth, and by band.
pub fn section(lane: &LaneMeter, names: &[String]) -> Value {
    let filled = Op::ALL.into_iter().filter(|&op| lane.ops[op as usize].latency.count() > 0);
    Value::Object(filled.map(|op| (op.name().to_owned(), of_op(&lane.ops[op as usize], names))).collect())
}

fn of_op(meter: &LaneOpMeter, names: &[String]) -> Value {
    let mut entry = entry(&meter.behind.total(), names);
    let tail = meter.behind.bands(&meter.latency, &TAIL).pop();
    entry["beyond_p99"] = json!(tail.filter(|tail| tail.sum.count > 0).map(|tail| band(&tail, names)));
    let bands = meter.behind.bands(&meter.latency, &BANDS);
    entry["bands"] = bands.iter().filter(|of| of.sum.count > 0).map(|of| band(of, names)).collect();
    entry
}

fn band(band: &BehindBand, names: &[String]) -> Value {
    let mut entry = entry(&band.sum, names);
    entry["band"] = json!(band.range.name);
    entry["lower_ns"] = json!(band.range.lower_ns);
    entry["upper_ns"] = json!(band.range.upper_ns);
    entry
}

/// Means over the requests of a sum; who was not waited for is left out.
fn entry(BehindSum { count, parts, behind }: &BehindSum, names: &[String]) -> Value {
    let of_job = |(name, waits): (&String, &Waits)| {
        let means = mean_parts(&parts_of(waits), *count);
        (!means.is_empty()).then(|| (name.clone(), Value::Object(means)))
    };
    let mut of_drive = behind.last().map(parts_of).unwrap_or_default();
    for cause in OF_DRIVE {
        of_drive.add(cause, Ns(parts.of(cause)));
    }
    json!({
        "count": count,
        "mean_ns": parts.total() as f64 / *count as f64,
        "parts_ns": mean_parts(parts, *count),
        "behind_ns": names.iter().zip(behind).filter_map(of_job).collect::<Map<_, _>>(),
        "behind_drive_ns": mean_parts(&of_drive, *count),
    })
}

/// Waits by cause, as parts.
fn parts_of(waits: &Waits) -> Parts {
    let mut parts = Parts::default();
    SPLIT.iter().zip(waits).for_each(|(&cause, wait)| parts.add(cause, Ns(*wait)));
    parts
}
