//! What was read and written of each namespace.

use ninescope_engine::Seen;
use ninescope_model::Op;
use serde_json::{Value, json};

use super::WorkloadReport;
use crate::config::NamespaceConfig;

/// An entry for each namespace of the drive; nothing where it has none.
pub fn section(
    device: &Seen<'_>,
    namespaces: &[NamespaceConfig],
    report: &WorkloadReport,
    names: &[String],
) -> Option<Value> {
    let meter = device.meter;
    // What says nothing of namespaces goes into the first one.
    let of_lane = |lane: usize| report.namespace_of_lane(lane).unwrap_or(1);
    let entry = |(number, namespace): (u32, &NamespaceConfig)| {
        let lanes: Vec<usize> = (0..meter.lanes.len().max(1)).filter(|&lane| of_lane(lane) == number).collect();
        let sum = |op: Op| {
            let of = |&lane: &usize| match meter.lanes.get(lane) {
                Some(lane) => (lane.ops[op as usize].latency.count(), lane.ops[op as usize].bytes),
                None => (meter.ops[op as usize].latency.count(), meter.ops[op as usize].bytes),
            };
            lanes.iter().map(of).fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
        };
        let requests: u64 = Op::ALL.into_iter().map(|op| sum(op).0).sum();
        json!({
            "namespace": number,
            "bytes": namespace.size.0,
            "jobs": lanes.iter().filter_map(|&lane| names.get(lane)).collect::<Vec<_>>(),
            "requests": requests,
            "bytes_read": sum(Op::Read).1,
            "bytes_written": sum(Op::Write).1,
            "bytes_trimmed": sum(Op::Trim).1,
        })
    };
    (!namespaces.is_empty()).then(|| (1..).zip(namespaces).map(entry).collect())
}
