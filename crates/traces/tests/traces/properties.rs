//! Properties of the trace readers on arbitrary input.

use std::fmt::Write;

use crate::common::{drain, reader, requests, strict, vscsi_record};
use ninescope_kernel::Ns;
use ninescope_model::{Lba, Op, Request, Workload};
use ninescope_traces::{TraceError, TraceFormat, TraceOptions};
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
            Request { submitted: Ns(time - first_gap * tick_ns), lba: Lba(lba), sectors, op, ..Request::default() }
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

/// A format, what its times are multiples of [ns], and what makes a trace of requests.
type Writer = (TraceFormat, u64, fn(&Request) -> Vec<u8>);

fn letter(request: &Request) -> char {
    if request.op == Op::Read { 'R' } else { 'W' }
}

/// (time [ns], sector, offset [B], sectors, bytes, 1 for a read)
fn parts(request: &Request) -> (u64, u64, u64, u64, u64, u8) {
    let (lba, sectors) = (request.lba.0, u64::from(request.sectors));
    (request.submitted.0, lba, lba * 512, sectors, sectors * 512, u8::from(request.op == Op::Read))
}

/// Seconds with nine decimal places.
fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// Milliseconds with six decimal places.
fn milliseconds(ns: u64) -> String {
    format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000)
}

const WRITERS: [Writer; 17] = [
    (TraceFormat::MsrShort, 100, |request| {
        let (ns, _, offset, _, bytes, is_read) = parts(request);
        let kind = if is_read == 1 { "Read" } else { "Write" };
        format!("{} \t{kind}\t{offset}\t{bytes}\n", 128_166_372_003_061_629 + ns / 100).into_bytes()
    }),
    (TraceFormat::MqSimBytes, 1, |request| {
        let (ns, _, offset, sectors, _, is_read) = parts(request);
        format!("{ns} 0 {offset} {sectors} {is_read}\n").into_bytes()
    }),
    (TraceFormat::DiskSim, 1, |request| {
        let (ns, lba, _, sectors, _, is_read) = parts(request);
        format!("{} 0 {lba} {sectors} {is_read:x}\n", milliseconds(ns)).into_bytes()
    }),
    (TraceFormat::Spc, 1, |request| {
        let (ns, lba, _, _, bytes, _) = parts(request);
        format!("0,{lba},{bytes},{},{}\n", letter(request), seconds(ns)).into_bytes()
    }),
    (TraceFormat::Blkparse, 1, |request| {
        let (ns, lba, _, sectors, ..) = parts(request);
        format!("  8,16 1 9 {} 77 D {}S {lba} + {sectors} [fio]\n", seconds(ns), letter(request)).into_bytes()
    }),
    (TraceFormat::Ftrace, 1000, |request| {
        let (ns, lba, _, sectors, bytes, _) = parts(request);
        let stamp = format!("{}.{:06}", ns / 1_000_000_000, ns % 1_000_000_000 / 1000);
        let flags = letter(request);
        format!(" fio-7 [000] ..... {stamp}: block_rq_issue: 8,0 {flags} {bytes} () {lba} + {sectors} [fio]\n")
            .into_bytes()
    }),
    (TraceFormat::Wiscsee, 1, |request| {
        let (ns, _, offset, _, bytes, is_read) = parts(request);
        let kind = if is_read == 1 { "read" } else { "write" };
        format!("909 D {kind} {offset} {bytes} {} 0.1 False\n", seconds(ns)).into_bytes()
    }),
    (TraceFormat::Fiu, 1, |request| {
        let (ns, lba, _, sectors, ..) = parts(request);
        format!("{ns} 4892 syslogd {lba} {sectors} {} 6 0 531e\n", letter(request)).into_bytes()
    }),
    (TraceFormat::Systor17, 1, |request| {
        let (ns, _, offset, _, bytes, _) = parts(request);
        format!("14{},0.1,{},3,{offset},{bytes}\n", seconds(55_592_266_000_000_000 + ns), letter(request)).into_bytes()
    }),
    (TraceFormat::Alibaba, 1000, |request| {
        let (ns, _, offset, _, bytes, _) = parts(request);
        format!("419,{},{offset},{bytes},{}\n", letter(request), 1_577_808_144_360_767 + ns / 1000).into_bytes()
    }),
    (TraceFormat::Tencent, 1_000_000_000, |request| {
        let (ns, lba, _, sectors, _, is_read) = parts(request);
        format!("{},{lba},{sectors},{},1063\n", 1_538_323_199 + ns / 1_000_000_000, 1 - is_read).into_bytes()
    }),
    (TraceFormat::Vscsi, 1000, |request| {
        let (ns, lba, _, _, bytes, is_read) = parts(request);
        vscsi_record(if is_read == 1 { 0x28 } else { 0x2a }, bytes as u32, lba, ns / 1000)
    }),
    (TraceFormat::Vscsi2, 1000, |request| {
        let (ns, lba, _, _, bytes, is_read) = parts(request);
        let command: u16 = if is_read == 1 { 0x88 } else { 0x8a };
        [[command, 0x200].map(u16::to_le_bytes).concat(), [7, bytes as u32, 1].map(u32::to_le_bytes).concat()]
            .into_iter()
            .chain([lba, ns / 1000, 99].map(|number| number.to_le_bytes().to_vec()))
            .collect::<Vec<_>>()
            .concat()
    }),
    (TraceFormat::OracleGeneralOpNs, 1_000_000_000, |request| {
        let (ns, lba, _, _, bytes, is_read) = parts(request);
        let seconds = (ns / 1_000_000_000) as u32;
        let op = if is_read == 1 { 1 } else { 13 };
        [&seconds.to_le_bytes()[..], &lba.to_le_bytes(), &(bytes as u32).to_le_bytes(), &[op, 3, 0], &[0xff; 8]]
            .concat()
    }),
    (TraceFormat::Blktrace, 1, |request| {
        let (ns, lba, _, _, bytes, is_read) = parts(request);
        let action: u32 = 7 | 1 << (if is_read == 1 { 16 } else { 17 });
        let words = [0x6561_7407_u32, 1].map(u32::to_le_bytes).concat();
        let address = [ns, lba].map(u64::to_le_bytes).concat();
        [words, address, [bytes as u32, action, 9, 8 << 20, 0, 3 << 16].map(u32::to_le_bytes).concat(), b"abc".to_vec()]
            .concat()
    }),
    (TraceFormat::OracleGeneral, 1_000_000_000, |request| {
        let (ns, lba, _, _, bytes, _) = parts(request);
        let seconds = (ns / 1_000_000_000) as u32;
        [&seconds.to_le_bytes()[..], &lba.to_le_bytes(), &(bytes as u32).to_le_bytes(), &(-1_i64).to_le_bytes()]
            .concat()
    }),
    (TraceFormat::Umass, 1, |request| {
        let (ns, lba, _, sectors, _, is_read) = parts(request);
        format!("{}\t0\t{lba}\t{}\t{is_read}\n", milliseconds(ns), sectors.div_ceil(8)).into_bytes()
    }),
];

/// Something like a line of a trace.
fn any_line() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{1,21},[a-z]{0,3},[0-9]{1,2},(Read|Write|Trim),-?[0-9]{1,21},[0-9]{1,12},[0-9]{0,6}\r?",
        "[0-9]{1,21} [0-9]{1,2} [0-9]{1,21}[ \t][0-9]{1,12} [0-9]",
        "[0-9]{1,12}(\\.[0-9]{0,9})? [0-9] [0-9]{1,21} [0-9]{1,9} [0-9a-f]{1,2}",
        "(8,16|CPU0) [0-9] [0-9] [0-9]{1,9}\\.[0-9]{0,9} 7 [DQC] (R|WS|D|FN) [0-9]{1,21} \\+ [0-9]{1,9} \\[x\\]",
        "x-1 \\[0\\] \\. [0-9]{1,9}\\.[0-9]{0,9}: block_rq_issue: 8,0 W [0-9]{1,9} \\([0-9 ]{0,5}\\)? [0-9]{1,21} \\+ [0-9]{1,9} \\[x\\]",
        "(fio version [0-9] iolog|[0-9]{1,9} f (read|wait|trim) [0-9]{1,21} [0-9]{1,9}|f (read|wait) [0-9]{1,21} [0-9]{0,9})",
        "[0-9]{1,3},(R|W|[0-9]{1,21}),[0-9]{1,21},(R|w|[0-9]{1,12}),[0-9]{1,12}(\\.[0-9]{0,9})?",
        "[0-9]{1,21} (Read|Write) [0-9]{1,2}\\.[0-9]{0,9}E[-+]?[0-9]{1,3} [0-9]{1,9}",
        "[-0-9, #a-z]{0,40}",
    ]
}

fn never_panics(content: &[u8]) -> Result<(), TestCaseError> {
    let described = "csv:time=1[us],op=2,offset=3[B],size=4[B]".parse().ok();
    let formats = TraceFormat::ALL.iter().copied().map(Some).chain([None, described]);
    for (format, is_strict) in formats.flat_map(|format| [(format, false), (format, true)]) {
        let options = TraceOptions { format, strict: is_strict, reorder_window: 4, ..TraceOptions::default() };
        let Ok(mut reader) = reader(content, options) else { continue };
        let mut previous = Ns::ZERO;
        while let Ok(Some(request)) = reader.next_request() {
            prop_assert!(request.submitted >= previous && (request.sectors > 0 || request.op == Op::Flush));
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
    fn every_format_reads_back(all in any_requests(1_000_000_000)) {
        for (format, _, write) in WRITERS {
            let mut expected = all.clone();
            for request in &mut expected {
                if format == TraceFormat::OracleGeneral {
                    request.op = Op::Read;
                }
                if format == TraceFormat::Umass {
                    request.sectors = request.sectors.next_multiple_of(8);
                }
            }
            let content: Vec<u8> = expected.iter().flat_map(write).collect();
            let named = TraceOptions { format: Some(format), ..strict() };
            prop_assert_eq!(requests(&content, named).expect("is good"), expected.clone(), "{}", format);
            // Two formats have the same columns, and what begins where is chance here.
            if !matches!(format, TraceFormat::DiskSim | TraceFormat::Umass | TraceFormat::MqSimBytes) {
                prop_assert!(is_told(&content, format, &expected), "{}", format);
            }
        }
    }

    #[test]
    fn times_read_back_to_the_format_s_own_resolution(gap in 0_u64..5_000_000_000_000) {
        for (format, tick_ns, write) in WRITERS {
            let request = |ns: u64| Request { submitted: Ns(ns), lba: Lba(8), sectors: 8, op: Op::Read, ..Request::default() };
            let gap = gap / tick_ns * tick_ns;
            let content = [write(&request(0)), write(&request(gap))].concat();
            let read = requests(&content, TraceOptions { format: Some(format), ..strict() }).expect("is good");
            prop_assert_eq!(read[1].submitted, Ns(gap), "{}", format);
        }
    }

    #[test]
    fn fio_iologs_and_described_columns_read_back(all in any_requests(1000)) {
        let (mut fio, mut columns) = ("fio version 3 iolog\n0 /dev/x add\n".to_owned(), String::new());
        for request in &all {
            let (ns, lba, offset, _, bytes, is_read) = parts(request);
            let word = if is_read == 1 { "read" } else { "write" };
            let _ = writeln!(fio, "{} /dev/x {word} {offset} {bytes}", ns / 1000);
            let _ = writeln!(columns, "{bytes};{lba};{word};{}", ns / 1000);
        }
        prop_assert_eq!(requests(fio.as_bytes(), strict()).expect("is good"), all.clone());
        let format = "csv:time=4[us],op=3,offset=2[sector],size=1[B],sep=semicolon".parse().ok();
        let described = TraceOptions { format, ..strict() };
        prop_assert_eq!(requests(columns.as_bytes(), described).expect("is good"), all);
    }

    #[test]
    fn arbitrary_bytes_never_panic(content: Vec<u8>) {
        never_panics(&content)?;
    }

    #[test]
    fn arbitrary_bytes_behind_any_magic_never_panic(content: Vec<u8>, kind in 0_usize..5) {
        let magic: [&[u8]; 5] = [
            &[0x1f, 0x8b, 0x08, 0],
            &[0x28, 0xb5, 0x2f, 0xfd],
            &[0x50, 0x2a, 0x4d, 0x18],
            b"BZh9",
            b"\xfd7zXZ\0",
        ];
        never_panics(&[magic[kind], &content].concat())?;
    }

    #[test]
    fn odd_lines_never_panic(lines in prop::collection::vec(any_line(), 0..30)) {
        never_panics(lines.join("\n").as_bytes())?;
    }
}

/// So few records of one binary format may happen to be one of another.
const FEW_RECORDS: usize = 3;

/// Whether a trace is told from its content; or, of few binary records, is refused as that of two formats, of which it
/// names the right one.
fn is_told(content: &[u8], format: TraceFormat, expected: &[Request]) -> bool {
    let is_binary = matches!(
        format,
        TraceFormat::OracleGeneral | TraceFormat::OracleGeneralOpNs | TraceFormat::Vscsi | TraceFormat::Vscsi2
    );
    match reader(content, strict()) {
        Ok(mut reader) => drain(&mut reader).is_ok_and(|found| found == expected),
        Err(TraceError::AmbiguousFormat { candidates, .. }) => {
            is_binary && expected.len() <= FEW_RECORDS && candidates.contains(&format.to_string())
        }
        Err(_) => false,
    }
}

/// Found by the property above: 48 bytes are two records of oracleGeneral, and begin with 32 that could be one of vscsi.
#[test]
fn two_records_that_could_be_of_two_formats_are_refused_with_both_names() {
    let request = |seconds: u64, lba, sectors| Request {
        submitted: Ns(seconds * 1_000_000_000),
        lba: Lba(lba),
        sectors,
        op: Op::Read,
        ..Request::default()
    };
    let all = [request(0, 3206, 43_392), request(2_880, 795_728_914_051, 783)];
    let (_, _, write) = WRITERS.iter().find(|writer| writer.0 == TraceFormat::OracleGeneral).expect("it is written");
    let content: Vec<u8> = all.iter().flat_map(write).collect();
    let error = requests(&content, strict()).expect_err("nobody can know").to_string();
    assert!(
        ["oracleGeneral (2 times)", "vscsi (1 times)", "--format"].iter().all(|word| error.contains(word)),
        "{error}"
    );
    let named = TraceOptions { format: Some(TraceFormat::OracleGeneral), ..strict() };
    assert_eq!(requests(&content, named).expect("is good"), all);
    assert!(is_told(&content, TraceFormat::OracleGeneral, &all));
}
