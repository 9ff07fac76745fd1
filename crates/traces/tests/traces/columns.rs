//! Tables whose first line says what their columns are.

use crate::common::{error_of, reader, requests, strict};
use ninescope_kernel::Ns;
use ninescope_model::{Lba, Op, Request};
use ninescope_traces::{TraceFormat, TraceOptions};
use proptest::prelude::*;

fn described(columns: &str) -> TraceOptions {
    TraceOptions { columns: Some(columns.parse().expect("a good description")), ..strict() }
}

#[test]
fn the_columns_of_the_issue_read_as_they_are() {
    let text = b"time_ns,op,lba_sector,sectors\n100,W,8,8\n150,read,16,1\n";
    let all = requests(text, strict()).expect("is good");
    let request =
        |ns, op, lba, sectors| Request { submitted: Ns(ns), op, lba: Lba(lba), sectors, ..Request::default() };
    assert_eq!(all, [request(0, Op::Write, 8, 8), request(50, Op::Read, 16, 1)]);
    let reader = reader(text, strict()).expect("is good");
    assert_eq!(reader.format().to_string(), "csv:time=time_ns[ns],op=op,offset=lba_sector[512B],size=sectors[512B]");
    assert_eq!(reader.health().skipped_lines, 0, "a line of names is no line that was skipped");
}

#[test]
fn a_header_that_says_all_comes_before_formats_that_the_rows_are_of_too() {
    // Rows of SPC, whose time would be in seconds.
    let rows = "0,8,4096,W,5\n0,16,4096,R,7\n";
    let spc = reader(rows.as_bytes(), strict()).expect("is good").format();
    assert_eq!(spc, TraceFormat::Spc);
    let all = requests(format!("unit,lba,bytes,op,time_us\n{rows}").as_bytes(), strict()).expect("is good");
    assert_eq!(all[1].submitted, Ns(2000));
    // Of names that leave something open the rows still say the format.
    let open = requests(format!("unit,lba,bytes,op,time\n{rows}").as_bytes(), TraceOptions::default());
    assert_eq!(open.expect("is spc")[1].submitted, Ns(2_000_000_000));
}

#[test]
fn what_names_or_rows_leave_open_is_said_with_the_option() {
    for (text, message) in [
        (
            &b"ts,op,lba,size\n1,R,8,8\n"[..],
            "memory:1: the columns are `ts`, `op`, `lba`, `size`: `ts` does not say its unit; `size` does not say its unit; say what they are with --columns time=ts:UNIT,op=op,offset=lba:512B,size=size:UNIT",
        ),
        (b"time_ns,op,lba,sectors\n1,0,8,8\n2,1,8,8\n", "the operation is unknown: `1,0,8,8`; --columns"),
        (
            b"time_ns,op,lba,sectors\n1,R,x,8\n",
            "no line below goes with them: the offset is not a whole number: `1,R,x,8`",
        ),
    ] {
        let error = error_of(text, strict());
        assert!(error.contains(message), "{error}");
    }
    let named = described("time=ts:us,op=op,offset=lba:sector,size=size:4KiB");
    let all = requests(b"ts,op,lba,size\n1,R,8,2\n", named).expect("is good");
    assert_eq!((all[0].lba, all[0].sectors), (Lba(8), 16));
    let error = error_of(b"ts,op,lba,size\n1,R,8,2\n", described("offset=lab:sector,size=size:B"));
    assert_eq!(
        error,
        "memory:1: columns: offset: the first line has no column `lab`; it has `ts`, `op`, `lba`, `size`"
    );
    let both = TraceOptions { format: Some(TraceFormat::Msr), ..described("offset=1:B,size=2:B") };
    assert!(error_of(b"1,2", both).starts_with("columns: they describe a text, and its format is said to be msr"));
    let same = TraceOptions { format: "csv:offset=1[B],size=2[B]".parse().ok(), ..described("offset=1:B,size=2:B") };
    assert_eq!(requests(b"512,512", same).expect("says the same").len(), 1);
}

#[test]
fn rows_that_are_no_requests_are_named_with_their_line() {
    let head = "time_ns,op,lba,sectors\n1,R,8,8\n";
    for (row, message) in [
        ("2,R,8", "memory:3: the size is missing: `2,R,8`"),
        ("2,R,8,0", "memory:3: the size is zero: `2,R,8,0`"),
        ("2,E,8,8", "memory:3: the operation is unknown: `2,E,8,8`"),
        ("2,R,-8,8", "memory:3: the offset is negative: `2,R,-8,8`"),
        ("2,R,8.5,8", "memory:3: the offset is not a whole number: `2,R,8.5,8`"),
    ] {
        assert_eq!(error_of(format!("{head}{row}\n").as_bytes(), strict()), message);
    }
    let only_names = error_of(b"time_ns,op,lba,sectors\n", strict());
    assert!(only_names.starts_with("memory: no request in 1 lines of csv"), "{only_names}");
}

#[test]
fn summaries_name_what_is_not_read() {
    let reader = reader(b"time_ns,op,lba,sectors,latency_us,note\n1,R,8,8,5,x\n", strict()).expect("is good");
    assert_eq!(reader.remarks(), ["columns that are not read: latency_us, note"]);
    let reader = crate::common::reader(b"8 8 0 0\n16 8 0 1\n", strict()).expect("is ARC's");
    assert_eq!(reader.format(), TraceFormat::Arc);
    assert!(reader.remarks()[0].contains("no line has a time or an operation"));
}

/// Names of columns in their units, and what writes a request in them.
type Column = (&'static str, fn(&Request) -> String);

const TIMES: [Column; 2] = [
    ("time_ns", |request| request.submitted.0.to_string()),
    ("Timestamp (us)", |request| format!("{}.{:03}", request.submitted.0 / 1000, request.submitted.0 % 1000)),
];
const OPS: [Column; 3] = [
    ("op", |request| if request.op == Op::Read { "R" } else { "W" }.to_owned()),
    ("IoType", |request| if request.op == Op::Read { "Read" } else { "WRITE" }.to_owned()),
    ("is_read", |request| if request.op == Op::Read { "1" } else { "False" }.to_owned()),
];
const OFFSETS: [Column; 3] = [
    ("lba", |request| request.lba.0.to_string()),
    ("start_sector", |request| request.lba.0.to_string()),
    ("offset_bytes", |request| (request.lba.0 * 512).to_string()),
];
const SIZES: [Column; 3] = [
    ("sectors", |request| request.sectors.to_string()),
    ("Length in bytes", |request| (u64::from(request.sectors) * 512).to_string()),
    ("num_sectors", |request| request.sectors.to_string()),
];

proptest! {
    #[test]
    fn a_table_reads_back_whatever_its_order(
        drawn in prop::collection::vec((0_u64..1 << 40, 0_u64..1 << 40, 1_u32..100_000, any::<bool>()), 1..40),
        order in Just(vec![0_usize, 1, 2, 3, 4]).prop_shuffle(),
        (time, op, offset, size) in (0_usize..2, 0_usize..3, 0_usize..3, 0_usize..3),
        separator in 0_usize..3,
    ) {
        let mut time_ns = 0;
        let all: Vec<_> = drawn.iter().enumerate().map(|(at, &(gap, lba, sectors, is_read))| {
            time_ns += if at == 0 { 0 } else { gap };
            let op = if is_read { Op::Read } else { Op::Write };
            Request { submitted: Ns(time_ns), lba: Lba(lba), sectors, op, ..Request::default() }
        }).collect();
        let extra: Column = ("latency_us", |_| "7".to_owned());
        let columns = [TIMES[time], OPS[op], OFFSETS[offset], SIZES[size], extra];
        let separator = [",", ";", "\t"][separator];
        let row = |cell: &dyn Fn(&Column) -> String| {
            order.iter().map(|&at| cell(&columns[at])).collect::<Vec<_>>().join(separator) + "\n"
        };
        let mut text = row(&|column| column.0.to_owned());
        for request in &all {
            text += &row(&|column| column.1(request));
        }
        let mut reader = reader(text.as_bytes(), strict()).expect("is told");
        prop_assert_eq!(crate::common::drain(&mut reader).expect("is good"), all);
        prop_assert_eq!(reader.remarks(), vec!["columns that are not read: latency_us".to_owned()]);
        // What the format is called is a description that reads the same.
        let again: TraceFormat = reader.format().to_string().parse().expect("is one");
        prop_assert_eq!(again, reader.format());
    }

    #[test]
    fn any_header_is_read_or_refused(words in prop::collection::vec("[a-zA-Z_ ()#0-9]{0,12}|time_ns|op|lba|sectors|size|ts", 0..8)) {
        let text = format!("{}\n1,R,8,8\n2,W,16,8\n", words.join(","));
        if let Ok(mut reader) = reader(text.as_bytes(), TraceOptions::default()) {
            let _ = crate::common::drain(&mut reader);
        }
    }
}
