//! Traces of several volumes, and addresses that do not fit.

use std::collections::BTreeMap;

use crate::common::{TemporaryFile, error_of, requests};
use ninescope_traces::{AddressMap, TraceFormat, TraceOptions, TraceSummary};

const MIB: u64 = 1 << 20;
const TWO: &[u8] =
    b"1,hm,0,Write,0,4096,1\n2,hm,1,Write,4096,4096,1\n3,hm,0,Read,2097152,4096,1\n4,src1,1,Read,0,512,1\n";

fn scan(options: &TraceOptions) -> TraceSummary {
    scan_of(TWO, options)
}

fn scan_of(content: &[u8], options: &TraceOptions) -> TraceSummary {
    let file = TemporaryFile::new("volumes", content);
    TraceSummary::scan(&file.0, options).expect("is good")
}

fn sectors(options: TraceOptions) -> Vec<u64> {
    requests(TWO, options).expect("is good").iter().map(|request| request.lba.0).collect()
}

#[test]
fn volumes_are_counted_by_name() {
    let summary = scan(&TraceOptions::default());
    let volumes: Vec<_> =
        summary.volumes.iter().map(|volume| (volume.name.as_str(), volume.requests, volume.max_address)).collect();
    assert_eq!(volumes, [("hm_0", 2, 2 * MIB + 4096), ("hm_1", 1, 8192), ("src1_1", 1, 512)]);
    assert_eq!((summary.devices, summary.requests), (3, 4));
}

#[test]
fn volumes_lie_one_after_the_other_or_where_the_map_says() {
    let volumes = scan(&TraceOptions::default()).volumes;
    assert_eq!(sectors(TraceOptions::default()), [0, 8, 4096, 0], "merged");
    let map = AddressMap::in_order(&volumes).expect("fits");
    let placed = TraceOptions { map, ..TraceOptions::default() };
    let mib = 2048;
    assert_eq!(sectors(placed.clone()), [0, 3 * mib + 8, 4096, 4 * mib]);
    let bases: Vec<_> = scan(&placed).volumes.iter().map(|volume| volume.base / MIB).collect();
    assert_eq!(bases, [0, 3, 4]);

    let at = |entries: &[(&str, u64)]| {
        let bases: BTreeMap<_, _> = entries.iter().map(|&(name, base)| (name.to_owned(), base)).collect();
        AddressMap::at(&volumes, &bases)
    };
    let map = at(&[("hm_0", 8 * MIB), ("hm_1", 0), ("src1_1", 4096)]).expect("all have a place");
    assert_eq!(sectors(TraceOptions { map, ..TraceOptions::default() }), [8 * mib, 8, 8 * mib + 4096, 8]);
    assert_eq!(at(&[("hm_0", 0)]).expect_err("one is absent"), "volume `hm_1` has no place");
    let unknown = at(&[("hm_9", 0)]).expect_err("there is none");
    assert_eq!(unknown, "the trace has no volume `hm_9`; it has `hm_0`, `hm_1`, `src1_1`");
    assert!(at(&[("hm_0", 5), ("hm_1", 0), ("src1_1", 0)]).expect_err("is odd").contains("multiple of 4 KiB"));
}

#[test]
fn one_volume_alone_is_read() {
    let only = |name: &str| TraceOptions { volume: vec![name.to_owned()], ..TraceOptions::default() };
    assert_eq!(sectors(only("hm_1")), [8]);
    let summary = scan(&only("hm_0"));
    assert_eq!((summary.requests, summary.devices, summary.skipped_lines), (2, 3, 0));
    let missing = "memory: there is no volume `hm_2`; the trace has `hm_0`, `hm_1`, `src1_1`";
    assert_eq!(error_of(TWO, only("hm_2")), missing);
    // Beside one that there is, it is not passed over.
    let both = TraceOptions { volume: vec!["hm_1".to_owned(), "hm_2".to_owned()], ..TraceOptions::default() };
    assert_eq!(error_of(TWO, both), missing);
}

#[test]
fn addresses_wrap_or_close_up() {
    let summary = scan(&TraceOptions::default());
    let wrapped = TraceOptions { map: AddressMap::default().wrapped(4100), ..TraceOptions::default() };
    assert_eq!(sectors(wrapped), [0, 8, 4092, 0], "the third would reach beyond the end");
    let small = TraceOptions { map: AddressMap::default().wrapped(4), ..TraceOptions::default() };
    assert_eq!(sectors(small), [0], "three do not fit at all");
    let map = AddressMap::default().compacted(summary.touched_pages.into());
    assert_eq!(sectors(TraceOptions { map, ..TraceOptions::default() }), [0, 8, 16, 0]);
}

#[test]
fn discards_are_requests_only_when_asked_for() {
    let trace = b"fio version 3 iolog\n0 x trim 0 4096\n1 x write 0 4096\n";
    let count = |trims| requests(trace, TraceOptions { trims, ..TraceOptions::default() }).map(|all| all.len()).ok();
    assert_eq!((count(false), count(true)), (Some(1), Some(2)));
}

#[test]
fn discards_that_are_left_out_are_counted_apart() {
    let trace = b"fio version 3 iolog\n0 x read 0 512\n1 x trim 0 512\n2 y trim 0 512\n3 y write 0 0\n";
    let health = |options: TraceOptions| {
        let summary = scan_of(trace, &options);
        (summary.requests, summary.skipped_lines, summary.broken_lines, summary.skipped_discards)
    };
    assert_eq!(health(TraceOptions::default()), (1, 4, 1, 2), "the header is one of the four");
    assert_eq!(health(TraceOptions { trims: true, ..TraceOptions::default() }), (3, 2, 1, 0));
    let only = TraceOptions { volume: vec!["x".to_owned()], ..TraceOptions::default() };
    assert_eq!(health(only), (1, 3, 1, 1), "of a volume that is not read nothing is left out");
    let message = error_of(b"fio version 3 iolog\n0 x trim 0 4096\n1 x trim 8192 4096\n", TraceOptions::default());
    assert_eq!(message, "memory: no request in 3 lines of fio; none is broken; discards (--trims takes them): 2");
}

#[test]
fn what_can_be_two_formats_is_not_guessed() {
    let message = error_of(b"26.214 0 303574 8 1\n27.5 0 16 8 0\n", TraceOptions::default());
    let expected = "memory: reads as disksim (2 times) and as umass (2 times); name the format with --format";
    assert_eq!(message, expected);
    let mixed = error_of(b"1,hm,0,Read,0,512,1\n2,hm,0,Read,0,512,1\n5 0 0 8 1\n", TraceOptions::default());
    assert_eq!(mixed, "memory: reads as msr (2 times) and as mqsim (1 times); name the format with --format");
    let absent = error_of(
        b"a,b\n1,2\n",
        TraceOptions { format: "csv:offset=place[B],size=b[B]".parse().ok(), ..TraceOptions::default() },
    );
    assert_eq!(absent, "memory:1: columns: offset: the first line has no column `place`; it has `a`, `b`");
}

#[test]
fn requests_that_follow_each_other_show_the_unit() {
    let rows = |size: u64, step: u64| -> Vec<u8> {
        (0..64_u64).flat_map(|n| format!("{n}.5 0 {} {size} 1\n", n * step).into_bytes()).collect()
    };
    let format =
        |content: &[u8]| crate::common::reader(content, TraceOptions::default()).map(|reader| reader.format()).ok();
    assert_eq!(format(&rows(8, 8)), Some(TraceFormat::DiskSim));
    assert_eq!(format(&rows(2, 16)), Some(TraceFormat::Umass));
    assert_eq!(format(&rows(8, 1000)), None);
}

#[test]
fn every_example_line_is_told_from_content() {
    for (format, (name, _, _, example)) in TraceFormat::ALL.iter().zip(TraceFormat::LIST) {
        assert_eq!(name.parse::<TraceFormat>().ok(), Some(*format));
        let is_shared = matches!(*name, "disksim" | "umass" | "mqsim-bytes");
        let Some(example) = example.filter(|_| !is_shared) else { continue };
        let content =
            if *name == "fio" { format!("{example}\n0 /dev/sdb read 0 512\n") } else { (*example).to_owned() };
        let reader = crate::common::reader(content.as_bytes(), TraceOptions::default());
        assert_eq!(reader.unwrap_or_else(|error| panic!("{name}: {error}")).format(), *format, "{name}");
    }
}
