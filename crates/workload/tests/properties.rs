//! Properties of the trace readers on arbitrary input.

mod common;

use std::fmt::Write;

use common::{reader, requests, strict};
use ninescope_kernel::Ns;
use ninescope_model::{Lba, Op, Request};
use ninescope_workload::{TraceFormat, TraceOptions, Workload};
use proptest::prelude::*;

/// Requests in order of time, the first at zero; times are multiples of `tick_ns`.
fn any_requests(tick_ns: u64) -> impl Strategy<Value = Vec<Request>> {
    let request = (0_u64..5_000, 0_u64..1 << 40, 1_u32..100_000, any::<bool>());
    prop::collection::vec(request, 1..50).prop_map(move |drawn| {
        let first_gap = drawn[0].0;
        let mut time = 0;
        let place = |(gap, lba, sectors, is_read)| {
            time += gap * tick_ns;
            let op = if is_read { Op::Read } else { Op::Write };
            Request { submitted: Ns(time - first_gap * tick_ns), lba: Lba(lba), sectors, op }
        };
        drawn.into_iter().map(place).collect()
    })
}

fn write_msr(requests: &[Request]) -> String {
    requests.iter().fold(String::new(), |mut text, request| {
        let ticks = 128_166_372_003_061_629 + request.submitted.0 / 100;
        let kind = if request.op == Op::Read { "Read" } else { "Write" };
        let (offset, bytes) = (request.lba.0 * 512, u64::from(request.sectors) * 512);
        let _ = writeln!(text, "{ticks},host,3,{kind},{offset},{bytes},41286");
        text
    })
}

fn write_mqsim(requests: &[Request]) -> String {
    requests.iter().fold(String::new(), |mut text, request| {
        let (time, lba) = (request.submitted.0 + 7, request.lba.0);
        let _ = writeln!(text, "{time} 0 {lba} {} {}", request.sectors, u8::from(request.op == Op::Read));
        text
    })
}

/// Something like a line of a trace.
fn any_line() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{1,21},[a-z]{0,3},[0-9]{1,2},(Read|Write|Trim),-?[0-9]{1,21},[0-9]{1,12},[0-9]{0,6}\r?",
        "[0-9]{1,21} [0-9]{1,2} [0-9]{1,21}[ \t][0-9]{1,12} [0-9]",
        "[-0-9, #a-z]{0,40}",
    ]
}

fn never_panics(content: &[u8]) -> Result<(), TestCaseError> {
    let formats = [None, Some(TraceFormat::Msr), Some(TraceFormat::MqSim), Some(TraceFormat::Vscsi)];
    for (format, is_strict) in formats.into_iter().flat_map(|format| [(format, false), (format, true)]) {
        let options = TraceOptions { format, strict: is_strict, reorder_window: 4, ..TraceOptions::default() };
        let Ok(mut reader) = reader(content, options) else { continue };
        let mut previous = Ns::ZERO;
        while let Ok(Some(request)) = reader.next_request() {
            prop_assert!(request.submitted >= previous && request.sectors > 0);
            previous = request.submitted;
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn an_msr_trace_reads_back(all in any_requests(100)) {
        prop_assert_eq!(requests(write_msr(&all).as_bytes(), strict()).expect("is good"), all);
    }

    #[test]
    fn an_mqsim_trace_reads_back(all in any_requests(1)) {
        prop_assert_eq!(requests(write_mqsim(&all).as_bytes(), strict()).expect("is good"), all);
    }

    #[test]
    fn arbitrary_bytes_never_panic(content: Vec<u8>) {
        never_panics(&content)?;
    }

    #[test]
    fn arbitrary_bytes_behind_any_magic_never_panic(content: Vec<u8>, kind in 0_usize..3) {
        let magic: [&[u8]; 3] = [&[0x1f, 0x8b, 0x08, 0], &[0x28, 0xb5, 0x2f, 0xfd], &[0x50, 0x2a, 0x4d, 0x18]];
        never_panics(&[magic[kind], &content].concat())?;
    }

    #[test]
    fn odd_lines_never_panic(lines in prop::collection::vec(any_line(), 0..30)) {
        never_panics(lines.join("\n").as_bytes())?;
    }
}
