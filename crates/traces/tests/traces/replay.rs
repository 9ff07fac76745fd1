//! How a trace is replayed: loops, limits, time scale, closed loop, and its summary.

use crate::common::{TemporaryFile, drain, requests};
use ninescope_model::{Arrival, Workload};
use ninescope_traces::{TraceFormat, TraceOptions, TraceReader, TraceSummary};

const TRACE: &[u8] = b"1000 0 0 8 0\n1010 1 8 16 1\n# remark\n1040 0 100 1 0\nbroken\n";

fn replay(options: TraceOptions) -> (Vec<(u64, u64)>, TraceReader) {
    let name = format!("replay-{}-{}-{:?}", options.loop_count, options.time_scale, options.requests);
    let file = TemporaryFile::new(&name, TRACE);
    let mut reader = TraceReader::open(&file.0, options).expect("opens");
    let requests = drain(&mut reader).expect("is readable");
    (requests.iter().map(|request| (request.submitted.0, request.lba.0)).collect(), reader)
}

#[test]
fn each_pass_begins_a_mean_gap_after_the_last_request() {
    let (passes, reader) = replay(TraceOptions { loop_count: 2, ..TraceOptions::default() });
    assert_eq!(passes, [(0, 0), (10, 8), (40, 100), (60, 0), (70, 8), (100, 100)]);
    assert_eq!((reader.health().skipped_lines, reader.health().broken_lines), (2, 1), "counted once");
    let (slow, _) = replay(TraceOptions { loop_count: 2, time_scale: 0.25, ..TraceOptions::default() });
    assert_eq!(slow.iter().map(|&(time, _)| time).collect::<Vec<_>>(), [0, 3, 10, 15, 18, 25]);
}

#[test]
fn the_limit_counts_over_all_passes() {
    let (some, _) = replay(TraceOptions { loop_count: 9, requests: Some(4), ..TraceOptions::default() });
    assert_eq!(some.len(), 4);
    assert_eq!(replay(TraceOptions { requests: Some(0), ..TraceOptions::default() }).0, []);
}

#[test]
fn a_closed_loop_has_no_times() {
    let options = TraceOptions { closed_loop: true, ..TraceOptions::default() };
    let (all, reader) = replay(options.clone());
    assert_eq!((reader.arrival(), all), (Arrival::Closed, vec![(0, 0), (0, 8), (0, 100)]));
    assert_eq!(requests(TRACE, options).map(|all| all.len()).ok(), Some(3));
}

#[test]
fn a_rewound_trace_is_the_same_again() {
    let file = TemporaryFile::new("rewind", TRACE);
    let mut reader = TraceReader::open(&file.0, TraceOptions::default()).expect("opens");
    let first = drain(&mut reader).expect("is readable");
    assert!(reader.next_request().expect("stays at its end").is_none());
    reader.rewind().expect("is a file");
    assert_eq!(drain(&mut reader).expect("is readable"), first);
}

#[test]
fn a_summary_counts_pages_and_hashes_requests() {
    let file = TemporaryFile::new("summary", TRACE);
    let looped = TraceOptions { loop_count: 7, time_scale: 3.0, closed_loop: true, ..TraceOptions::default() };
    let summary = TraceSummary::scan(&file.0, &looped).expect("is readable");
    assert_eq!((summary.requests, summary.reads, summary.writes, summary.trims), (3, 1, 2, 0));
    assert_eq!((summary.read_bytes, summary.write_bytes), (16 * 512, 9 * 512));
    assert_eq!((summary.footprint_bytes, summary.written_footprint_bytes), (4 * 4096, 2 * 4096));
    assert_eq!((summary.duration_ns, summary.max_address, summary.devices), (40, 101 * 512, 2));
    assert_eq!((summary.format, summary.skipped_lines), (TraceFormat::MqSim, 2));
    assert!((summary.sequential_share - 1.0 / 3.0).abs() < 1e-12 && summary.rewrite_ratio.abs() < 1e-12);
    assert!(summary.read_pages.ranges().eq(std::iter::once(1..3)));

    let shorter = TraceSummary::scan(&file.0, &TraceOptions { requests: Some(2), ..looped }).expect("is readable");
    assert!(shorter.requests == 2 && shorter.hash != summary.hash);
    let json = serde_json::to_value(&summary).expect("is plain data");
    assert_eq!(json["format"], "mqsim");
    assert_eq!(json["first_skipped"]["line"], 5);
    assert!(json.get("read_pages").is_none());
}
