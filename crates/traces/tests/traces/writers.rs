//! What is written reads back as it was.

use std::io;

use crate::common::{requests, strict};
use ninescope_kernel::Ns;
use ninescope_model::{Lba, Op, Request};
use ninescope_traces::{Compression, TraceOptions, TraceWriter, WriteReport, WrittenFormat, checked_request};
use proptest::prelude::*;

/// Requests in order of time, the first at zero; times are multiples of `unit_ns`.
fn any_requests(unit_ns: u64, ops: &'static [Op]) -> impl Strategy<Value = Vec<Request>> {
    let request = (0_u64..5_000, 0_u64..1 << 50, 1_u32..=1 << 21, 0..ops.len());
    prop::collection::vec(request, 1..200).prop_map(move |drawn| {
        let first_gap = drawn[0].0;
        let mut time = 0;
        let place = |(gap, lba, sectors, op): (u64, u64, u32, usize)| {
            time += gap * unit_ns;
            let (lba, sectors) = if ops[op] == Op::Flush { (0, 0) } else { (lba, sectors) };
            Request {
                submitted: Ns(time - first_gap * unit_ns),
                lba: Lba(lba),
                sectors,
                op: ops[op],
                ..Request::default()
            }
        };
        drawn.into_iter().map(place).collect()
    })
}

fn compression() -> impl Strategy<Value = Compression> {
    prop_oneof![Just(Compression::None), Just(Compression::Gzip), Just(Compression::Zstd)]
}

/// The trace of `all`, taken from the writer in pieces.
fn written(format: WrittenFormat, how: Compression, all: &[Request]) -> io::Result<(Vec<u8>, WriteReport)> {
    let mut writer = TraceWriter::new(format, how)?;
    let mut content = Vec::new();
    for piece in all.chunks(7) {
        for request in piece {
            writer.add(request)?;
        }
        content.extend(writer.take());
    }
    let report = writer.report();
    content.extend(writer.finish()?);
    Ok((content, report))
}

/// What fio 3 takes from an I/O log: `microseconds file action offset length`, file actions without the last two.
fn read_fio(text: &str) -> Vec<Request> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("fio version 3 iolog"));
    let mut state = "";
    let mut found = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<u64>().expect("a number");
        match (state, words[2], words.len()) {
            ("", "add", 3) => state = "added",
            ("added", "open", 3) => state = "open",
            ("open", "close", 3) => state = "closed",
            ("open", action, 5) => {
                let ops = ["read", "write", "trim", "sync"];
                let op = Op::ALL[ops.iter().position(|&known| known == action).expect("an action")];
                let sectors = u32::try_from(number(4) / 512).expect("fits");
                found.push(Request {
                    submitted: Ns(number(0) * 1000),
                    lba: Lba(number(3) / 512),
                    sectors,
                    op,
                    ..Request::default()
                });
            }
            _ => panic!("after {state}: {line}"),
        }
    }
    assert_eq!(state, "closed");
    found
}

const READ_AND_WRITE: &[Op] = &[Op::Read, Op::Write];

proptest! {
    #[test]
    fn msr_reads_back(all in any_requests(100, READ_AND_WRITE), how in compression()) {
        let (content, report) = written(WrittenFormat::Msr, how, &all).expect("memory");
        prop_assert_eq!(report, WriteReport { requests: all.len() as u64, left_out: 0, rounded: 0 });
        prop_assert_eq!(requests(&content, strict()).expect("is good"), all);
    }

    #[test]
    fn mqsim_reads_back(all in any_requests(1, READ_AND_WRITE), how in compression()) {
        let (content, report) = written(WrittenFormat::MqSim, how, &all).expect("memory");
        prop_assert_eq!(report, WriteReport { requests: all.len() as u64, left_out: 0, rounded: 0 });
        prop_assert_eq!(requests(&content, strict()).expect("is good"), all);
    }

    #[test]
    fn fio_reads_back(all in any_requests(1000, &Op::ALL)) {
        let (content, report) = written(WrittenFormat::Fio, Compression::None, &all).expect("memory");
        prop_assert_eq!(report, WriteReport { requests: all.len() as u64, left_out: 0, rounded: 0 });
        let with_trims = TraceOptions { trims: true, ..strict() };
        prop_assert_eq!(requests(&content, with_trims).expect("is good"), all.clone());
        prop_assert_eq!(read_fio(&String::from_utf8(content).expect("text")), all);
    }

    #[test]
    fn rows_read_back(all in any_requests(1, &Op::ALL), how in compression()) {
        let (content, report) = written(WrittenFormat::Rows, how, &all).expect("memory");
        prop_assert_eq!(report, WriteReport { requests: all.len() as u64, left_out: 0, rounded: 0 });
        let with_trims = TraceOptions { trims: true, ..strict() };
        prop_assert_eq!(requests(&content, with_trims).expect("is good"), all);
    }

    #[test]
    fn what_a_format_cannot_say_is_counted(all in any_requests(1, &Op::ALL)) {
        for format in WrittenFormat::ALL {
            let (_, report) = written(format, Compression::None, &all).expect("memory");
            let (known, others): (Vec<&Request>, Vec<&Request>) = all.iter().partition(|request| format.knows(request.op));
            let is_cut = |request: &&&Request| !request.submitted.0.is_multiple_of(format.time_unit_ns());
            prop_assert_eq!(report.requests, known.len() as u64);
            prop_assert_eq!(report.left_out, others.len() as u64);
            prop_assert_eq!(report.rounded, known.iter().filter(is_cut).count() as u64);
        }
    }
}

#[test]
fn rows_that_no_request_can_be_are_named() {
    assert_eq!(checked_request(5, 1, 7, 8).map(|request| request.op), Ok(Op::Write));
    assert!(checked_request(5, 3, 0, 0).is_ok(), "a flush has no size");
    for (row, problem) in [
        ((0, 4, 0, 8), "4 is not an operation"),
        ((u64::MAX, 0, 0, 8), "beyond 73 years"),
        ((0, 0, 0, 0), "the size is zero"),
        ((0, 0, 0, 1 << 22), "4194304 sectors are more than 2097152"),
        ((0, 0, u64::MAX, 8), "is too large"),
    ] {
        let refused = checked_request(row.0, row.1, row.2, row.3).expect_err("refused");
        assert!(refused.contains(problem), "{refused}");
    }
}
