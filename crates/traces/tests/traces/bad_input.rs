//! What trace readers do with input that is broken, odd or out of order.

use crate::common::{TemporaryFile, drain, error_of, reader, requests, strict, vscsi_record};
use ninescope_kernel::Ns;
use ninescope_model::{Op, WorkloadError};
use ninescope_traces::{TraceFormat, TraceHealth, TraceOptions, TraceReader};

/// The times of the requests, and the reader's findings.
fn read(content: &[u8], options: TraceOptions) -> (Vec<u64>, TraceHealth) {
    let mut reader = reader(content, options).expect("opens");
    let requests = drain(&mut reader).expect("is readable");
    (requests.iter().map(|request| request.submitted.0).collect(), reader.health().clone())
}

#[test]
fn lines_that_are_no_requests_are_skipped_and_counted() {
    let trace = b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\
        # a remark\n\
        \n\
        10,hm,0,Write,0,512,1\r\n\
        11,hm,0,Write,0,0,1\n\
        12,hm,0,Write,-1,512,1\n\
        13,hm,0,Write,0,99999999999999999999,1\n\
        14,hm,0,Wri\n\
        15,hm,1,Read,1000,24,1";
    let (times, health) = read(trace, TraceOptions::default());
    assert_eq!(times, [0, 500]);
    assert_eq!((health.skipped_lines, health.broken_lines, health.unaligned, health.devices), (7, 5, 1, 2));
    let first = health.first_skipped.expect("the header is broken");
    assert_eq!((first.line, first.reason.as_str()), (1, "the timestamp is not a whole number"));
    assert!(first.text.starts_with("Timestamp,Hostname"));
}

#[test]
fn strict_names_file_line_and_reason() {
    let cases: [(&[u8], &str); 9] = [
        (b"time,host\n1,hm,0,Read,0,512,1", "memory:1: the timestamp is not a whole number: `time,host`"),
        (b"1,hm,0,Read,0,512,1\n\n2,hm,0,Read,0,0,1", "memory:3: the size is zero: `2,hm,0,Read,0,0,1`"),
        (b"1,hm,0,Read,0,512,1\n2,hm,0,Re", "memory:2: the operation is unknown: `2,hm,0,Re`"),
        (b"1,hm,0,Read,0,512,1\n2,hm,0,Read,0,51", "memory:2: the response time is missing: `2,hm,0,Read,0,51`"),
        (b"1,hm,0,Read,0,512,1\n2,hm,0,Read,-9,512,1", "memory:2: the offset is negative: `2,hm,0,Read,-9,512,1`"),
        (b"5 0 0 8 1\n4 0 0 8 1", "memory:2: the time lies before that of an earlier line: `4 ns`"),
        (b"5 0 0 8 1\n6 0 0 8 7", "memory:2: the operation is unknown: `6 0 0 8 7`"),
        (b"5 0 0 8 1\n6 0 0 99999999999 0", "memory:2: the size is too large: `6 0 0 99999999999 0`"),
        (b"5 0 0 8 1\n6 0 0 8 0 \x07\xff", "memory:2: there are too many fields: `6 0 0 8 0 \u{fffd}\u{fffd}`"),
    ];
    for (trace, message) in cases {
        assert_eq!(error_of(trace, strict()), message);
    }
    let clean = b"# remarks and blank lines are not broken\n\n5 0 0 8 1\r\n";
    assert_eq!(requests(clean, strict()).expect("nothing is broken").len(), 1);
}

#[test]
fn what_is_no_text_is_told_and_never_shown() {
    let noise: Vec<u8> = (0..=255).cycle().take(4000).collect();
    let utf16: Vec<u8> = "1,hm,0,Read,0,512,1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (content, kind) in [
        (&noise[..], "it is binary, not text"),
        (&utf16[..], "it is binary, not text"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "it is a PNG image"),
        (b"PK\x03\x04\x14\0\0\0", "it is a zip archive"),
    ] {
        let guessed = error_of(content, TraceOptions::default());
        assert!(
            guessed.starts_with(&format!("memory: {kind}, and no trace in a format that is known (msr,")),
            "{guessed}"
        );
        let named = TraceOptions { format: Some(TraceFormat::Msr), ..TraceOptions::default() };
        let named = error_of(content, named);
        assert_eq!(named, format!("memory: {kind}, and msr is a format of text"));
        let strict = error_of(content, TraceOptions { format: Some(TraceFormat::Msr), ..strict() });
        assert!(strict.is_ascii() && !strict.bytes().any(|byte| byte.is_ascii_control()), "{strict}");
    }
    // A letter of another encoding leaves a text what it is.
    let latin = b"1,hm,0,Read,0,512,1\n# caf\xe9 \x07\n2,hm,0,Read,0,512,1\n";
    assert_eq!(requests(latin, strict()).expect("only a remark is odd").len(), 2);
}

#[test]
fn a_value_that_cannot_be_is_said_of_the_nearest_format() {
    for (trace, words) in [
        (&b"1,h,0,Read,-4096,4096,1\n"[..], "as msr, the offset is negative"),
        (b"1,h,0,Read,18446744073709551615,4096,1\n", "as msr, the address is too large"),
        (b"time,host\n1,h,0,Read,0,99999999999999999999999,1\n", "as msr, the size is too large"),
        (b"5 0 0 0 1\n", "the size is zero"),
    ] {
        let message = error_of(trace, TraceOptions::default());
        assert!(message.contains("reads as no known format") && message.contains(words), "{message}");
    }
    assert!(error_of(b"some prose\n", TraceOptions::default()).ends_with("it begins with `some prose`"));
}

#[test]
fn traces_without_a_request_are_errors() {
    let any = TraceOptions::default;
    let mqsim = || TraceOptions { format: Some(TraceFormat::MqSim), ..any() };
    assert_eq!(error_of(b"", any()), "memory: the trace is empty");
    let blank = error_of(b"\n \n", any());
    assert!(blank.starts_with("memory: reads as no known format (msr, "), "{blank}");
    assert!(blank.ends_with("; all lines are blank"), "{blank}");
    let unknown = error_of(b"\nhello\nworld\n", any());
    assert!(unknown.ends_with("; it begins with `hello`"), "{unknown}");
    let none = error_of(b"1 0 0 0 1\n1,hm,0,Read,0,512,1\n", mqsim());
    assert_eq!(none, "memory: no request in 2 lines of mqsim; 1 is broken: the size is zero: `1 0 0 0 1`");
    let other = error_of(&vscsi_record(0x12, 512, 0, 1), any());
    assert_eq!(other, "memory: no request in 1 lines of vscsi; none is broken");
    let absent = TraceReader::open("no/such/trace.csv".as_ref(), any()).err().expect("there is no file").to_string();
    assert!(absent.starts_with("no/such/trace.csv: "), "{absent}");
    let directory = TraceReader::open(&std::env::temp_dir(), any()).err().expect("is a directory").to_string();
    assert!(directory.contains("directory"), "{directory}");
}

#[test]
fn vscsi_skips_other_commands_and_refuses_a_cut_record() {
    let mut trace = Vec::new();
    for (command, bytes, lba, microseconds) in [(0x12, 36, 0, 5), (0x28, 1024, 8, 7), (0xaa, 512, 9, 9)] {
        trace.extend(vscsi_record(command, bytes, lba, microseconds));
    }
    let whole = requests(&trace, strict()).expect("other commands are not broken");
    assert_eq!((whole[0].op, whole[0].lba.0, whole[0].sectors), (Op::Read, 8, 2));
    assert_eq!((whole[1].op, whole[1].submitted), (Op::Write, Ns(2000)));

    trace.truncate(trace.len() - 1);
    let (times, health) = read(&trace, TraceOptions::default());
    assert_eq!((times.len(), health.skipped_lines, health.other_commands, health.broken_lines), (1, 2, 1, 1));
    assert_eq!(health.first_skipped.expect("the last one").line, 3);
    assert!(error_of(&trace, strict()).starts_with("memory: record 3: the record is truncated: `00000000"));
}

#[test]
fn requests_out_of_order_are_put_right_within_the_window_and_clamped_beyond() {
    let trace = b"100 0 0 8 1\n120 0 1 8 1\n110 0 2 8 1\n130 0 3 8 1\n140 0 4 8 1\n101 0 5 8 1\n";
    let window = |reorder_window| TraceOptions { reorder_window, ..TraceOptions::default() };
    let (times, health) = read(trace, window(1024));
    assert_eq!((times, health.reordered, health.clamped), (vec![0, 1, 10, 20, 30, 40], 2, 0));
    let (times, health) = read(trace, window(1));
    assert_eq!((times, health.reordered, health.clamped), (vec![0, 10, 20, 30, 30, 40], 1, 1));
}

#[test]
fn a_line_longer_than_the_buffer_is_one_broken_line() {
    let mut trace = b"5 0 0 8 1\n".to_vec();
    trace.extend(std::iter::repeat_n(b'7', 1_000_000));
    trace.extend(b"\n6 0 0 8 1\n");
    let (times, health) = read(&trace, TraceOptions::default());
    assert_eq!((times, health.skipped_lines), (vec![0, 1], 1));
    let first = health.first_skipped.expect("the long one");
    assert_eq!((first.line, first.reason.as_str(), first.text.len()), (2, "the line is too long", 83));
}

#[test]
fn a_byte_order_mark_is_no_fault() {
    assert_eq!(requests(b"\xef\xbb\xbf5 0 0 8 1\n6 0 0 8 1", strict()).map(|all| all.len()).ok(), Some(2));
}

fn gzip(content: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).and_then(|()| encoder.finish()).expect("memory takes all")
}

fn zstandard(content: &[u8]) -> Vec<u8> {
    zstd::encode_all(content, 3).expect("memory takes all")
}

fn bzip2(content: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    encoder.write_all(content).and_then(|()| encoder.finish()).expect("memory takes all")
}

fn xz(content: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).expect("the preset is one");
    encoder.write_all(content).and_then(|()| encoder.finish()).expect("memory takes all")
}

/// A trace that does not compress to nothing.
fn long_trace() -> Vec<u8> {
    (0..20_000_u64).flat_map(|n| format!("{} 0 {} 8 1\n", n * 10, n * n % 1_000_003).into_bytes()).collect()
}

#[test]
fn archives_are_known_by_their_content_and_may_have_several_parts() {
    let trace = long_trace();
    let (first, second) = trace.split_at(trace.len() / 2 + 3);
    let plain = requests(&trace, TraceOptions::default()).expect("is good");
    for compress in [gzip, zstandard, bzip2, xz] {
        assert_eq!(requests(&compress(&trace), strict()).expect("is good"), plain);
        let parts = [compress(first), compress(second)].concat();
        assert_eq!(requests(&parts, strict()).expect("is good"), plain);
    }
    // A skippable zstd frame of three bytes, as parallel compressors write them.
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstandard(&trace)].concat();
    assert_eq!(requests(&skippable, strict()).expect("is good"), plain);
}

#[test]
fn a_cut_archive_is_an_error_that_names_the_file() {
    let trace = long_trace();
    let all = [(gzip as fn(&[u8]) -> Vec<u8>, "gzip"), (zstandard, "zstd"), (bzip2, "bzip2"), (xz, "xz")];
    for (compress, name) in all {
        let archive = compress(&trace);
        for length in [archive.len() / 2, archive.len() - 1] {
            let file = TemporaryFile::new(&format!("cut-{name}-{length}"), &archive[..length]);
            let opened = TraceReader::open(&file.0, TraceOptions::default()).map_err(WorkloadError::new);
            let end = opened.and_then(|mut reader| drain(&mut reader));
            let message = end.expect_err("the archive is cut").to_string();
            let begin = format!("{}: the {name} archive is truncated", file.0.display());
            assert!(message.starts_with(&begin), "{message}");
        }
        let mut damaged = archive;
        let middle = damaged.len() / 2;
        damaged[middle..middle + 8].fill(0xff);
        let message = error_of(&damaged, TraceOptions::default());
        assert!(message.contains("damaged") || message.contains("truncated"), "{message}");
    }
}

#[test]
fn options_without_a_meaning_are_named() {
    for time_scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = TraceOptions { time_scale, ..TraceOptions::default() };
        assert!(error_of(b"5 0 0 8 1", options).starts_with("time_scale: "));
    }
    let no_pass = TraceOptions { loop_count: 0, ..TraceOptions::default() };
    assert!(error_of(b"5 0 0 8 1", no_pass).starts_with("loop: "));
    let twice = TraceOptions { loop_count: 2, ..TraceOptions::default() };
    assert!(error_of(b"5 0 0 8 1", twice).starts_with("memory: cannot be read again"));
    let message = "csv".parse::<TraceFormat>().expect_err("is no format").to_string();
    assert!(message.starts_with("format: `csv` is not a trace format; write one of msr, "), "{message}");
}

#[test]
fn an_overflowing_time_is_an_error() {
    let options = TraceOptions { time_scale: 3.0, ..TraceOptions::default() };
    let message = error_of(b"0 0 0 8 1\n18446744073709551615 0 0 8 1\n", options);
    assert!(message.starts_with("memory:2: the time stamp overflows"), "{message}");
    let year_100 = b"0 0 0 8 1\n3155760000000000000 0 0 8 1\n";
    let message = error_of(year_100, TraceOptions::default());
    assert!(message.starts_with("memory:2: the time stamp overflows"), "what comes after it must fit too: {message}");
    let shorter = TraceOptions { time_scale: 0.5, ..TraceOptions::default() };
    assert_eq!(requests(year_100, shorter).expect("50 years").len(), 2);
}

#[test]
fn a_request_beyond_a_gibibyte_is_a_broken_line() {
    let largest = b"0 0 0 2097152 1\n0 0 0 2097153 1\n";
    let (times, health) = read(largest, TraceOptions::default());
    assert_eq!((times.len(), health.broken_lines), (1, 1));
    assert_eq!(health.first_skipped.map(|first| first.reason).as_deref(), Some("the size is too large"));
}
