//! Columns that say by their names what they are: `time_ns,op,lba_sector,sectors`.
//!
//! A name is taken apart into words (`startTime`, `Start time`, `start_time` are the same), its last ones may say the
//! unit. Nothing is guessed: where two columns may be the same thing, or a unit is not said, the header is refused with
//! what would settle it. A bare `offset` counts bytes beside a size in bytes, and a bare `size` beside such an offset, as
//! everywhere; beside sectors either may count them too.

use super::{Column, ColumnError, CsvColumns, Measured, SEPARATORS, Word, fields};

/// What a column may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Time,
    Op,
    Offset,
    Size,
    Device,
    Stream,
}

const KEYS: [(Role, &str); 6] = [
    (Role::Time, "time"),
    (Role::Op, "op"),
    (Role::Offset, "offset"),
    (Role::Size, "size"),
    (Role::Device, "device"),
    (Role::Stream, "stream"),
];

/// What the name says of the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// So many nanoseconds or bytes.
    Said(u32),
    /// Nothing, and it is bytes where nothing is against it.
    Bare,
    /// Nothing, and it may be anything.
    Unknown,
}

const TIME_UNITS: [(&str, u32); 17] = [
    ("ns", 1),
    ("nsec", 1),
    ("nanosecond", 1),
    ("nanoseconds", 1),
    ("us", 1_000),
    ("usec", 1_000),
    ("microsecond", 1_000),
    ("microseconds", 1_000),
    ("ms", 1_000_000),
    ("msec", 1_000_000),
    ("millisecond", 1_000_000),
    ("milliseconds", 1_000_000),
    ("s", 1_000_000_000),
    ("sec", 1_000_000_000),
    ("seconds", 1_000_000_000),
    ("filetime", 100),
    ("100ns", 100),
];
const TIMES: &[&str] = &[
    "time",
    "timestamp",
    "time_stamp",
    "ts",
    "t",
    "when",
    "start",
    "start_time",
    "arrival",
    "arrival_time",
    "issue",
    "issue_time",
    "issued",
    "submit",
    "submit_time",
    "submission_time",
    "submitted",
    "request_time",
    "io_time",
    "relative_time",
];
const BYTE_UNITS: [(&str, u32); 11] = [
    ("b", 1),
    ("byte", 1),
    ("bytes", 1),
    ("sector", 512),
    ("sectors", 512),
    ("512", 512),
    ("512b", 512),
    ("kib", 1 << 10),
    ("4k", 1 << 12),
    ("4kib", 1 << 12),
    ("mib", 1 << 20),
];
const SECTOR: Unit = Unit::Said(512);
const OFFSETS: &[&str] =
    &["offset", "off", "address", "addr", "position", "pos", "start_offset", "disk_offset", "start_address"];
/// Those that are of a sector whatever else they say.
const SECTORS: &[&str] = &[
    "lba",
    "slba",
    "start_lba",
    "starting_lba",
    "first_lba",
    "sector",
    "start_sector",
    "starting_sector",
    "first_sector",
    "sector_number",
    "sector_num",
    "sector_no",
    "sector_offset",
];
/// Those of blocks that are of any size.
const BLOCKS: &[&str] = &[
    "block",
    "blk",
    "blkno",
    "block_number",
    "block_no",
    "block_num",
    "block_id",
    "start_block",
    "lbn",
    "lpn",
    "page",
    "page_number",
];
const SIZES: &[&str] = &[
    "size",
    "length",
    "len",
    "request_size",
    "req_size",
    "io_size",
    "transfer_size",
    "xfer_size",
    "request_length",
    "io_length",
    "transfer_length",
    "data_length",
];
/// Those that count what their last word says.
const COUNTS: &[&str] = &["", "num", "n", "nr", "count", "number_of"];
const SECTOR_COUNTS: &[&str] = &["nsectors", "sector_count", "sectors_count"];
const BYTE_COUNTS: &[&str] = &["nbytes", "byte_count"];
const BLOCK_COUNTS: &[&str] = &[
    "blocks",
    "num_blocks",
    "nblocks",
    "nlb",
    "block_count",
    "number_of_blocks",
    "pages",
    "num_pages",
    "page_count",
    "count",
];
const OPS: &[&str] = &[
    "op",
    "operation",
    "opcode",
    "type",
    "io_type",
    "iotype",
    "request_type",
    "req_type",
    "op_type",
    "optype",
    "rw",
    "kind",
    "cmd",
    "command",
    "direction",
];
/// Those of columns that hold 0 or 1, with the words for reading and writing.
const FLAGS: [(&str, [&str; 2]); 4] =
    [("is_read", ["1", "0"]), ("isread", ["1", "0"]), ("is_write", ["0", "1"]), ("iswrite", ["0", "1"])];
const DEVICES: &[&str] = &[
    "device",
    "device_id",
    "dev",
    "disk",
    "disk_number",
    "disk_id",
    "volume",
    "volume_id",
    "lun",
    "tenant",
    "tenant_id",
    "namespace",
    "namespace_id",
    "nsid",
];
const STREAMS: &[&str] = &["stream", "stream_id", "placement_handle"];

/// What the first line of a text says about its columns.
#[derive(Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "a trace has one")]
pub(crate) enum Header {
    /// It names none.
    None,
    /// What each is.
    Clear(CsvColumns),
    /// It names columns, and not what all of them are; why, and what would settle it.
    Unclear(String),
}

impl Header {
    /// What `line` says.
    pub fn of(line: &[u8]) -> Self {
        for (_, separator) in SEPARATORS {
            let names: Vec<_> =
                fields(line, separator).map(|name| String::from_utf8_lossy(name).into_owned()).collect();
            let is_name = |name: &String| name.starts_with(|first: char| first.is_alphabetic() || first == '_');
            let roles = KEYS.iter().filter(|(role, _)| names.iter().any(|name| is_of(name, *role))).count();
            if names.len() < 2 || roles < 2 || !names.iter().all(is_name) {
                continue;
            }
            return match resolve(&names) {
                Ok(columns) => Self::Clear(CsvColumns { separator, ..columns }),
                Err(ColumnError(problem)) => Self::Unclear(problem),
            };
        }
        Self::None
    }
}

/// The unit that the name of a column says [ns or B].
pub(super) fn unit_of(name: &str, is_time: bool) -> Option<u32> {
    let wanted = if is_time { [Role::Time; 2] } else { [Role::Offset, Role::Size] };
    match meaning(name) {
        Some((role, Unit::Said(unit))) if wanted.contains(&role) => Some(unit),
        _ => None,
    }
}

fn is_of(name: &str, role: Role) -> bool {
    meaning(name).is_some_and(|(meant, _)| meant == role)
}

/// The words of a name in lower case, joined.
fn words(name: &str) -> String {
    let mut words = String::new();
    let mut before = '_';
    for character in name.chars() {
        let starts = character.is_uppercase() && before.is_lowercase();
        if (starts || !character.is_alphanumeric()) && !words.is_empty() && !words.ends_with('_') {
            words.push('_');
        }
        if character.is_alphanumeric() {
            words.extend(character.to_lowercase());
        }
        before = character;
    }
    words.trim_end_matches('_').to_owned()
}

/// What stands before the unit at the end of `words`, and the unit.
fn without_unit<'a>(words: &'a str, units: &[(&str, u32)]) -> Option<(&'a str, u32)> {
    let (before, last) = words.rsplit_once('_').unwrap_or(("", words));
    let unit = units.iter().find(|(name, _)| *name == last)?.1;
    Some((before.strip_suffix("_in").unwrap_or(before), unit))
}

/// What a column may be by its name.
fn meaning(name: &str) -> Option<(Role, Unit)> {
    let words = words(name);
    let words = words.as_str();
    let alone = [
        (TIMES, Role::Time, Unit::Unknown),
        (OPS, Role::Op, Unit::Unknown),
        (OFFSETS, Role::Offset, Unit::Bare),
        (SECTORS, Role::Offset, SECTOR),
        (BLOCKS, Role::Offset, Unit::Unknown),
        (SIZES, Role::Size, Unit::Bare),
        (SECTOR_COUNTS, Role::Size, SECTOR),
        (BYTE_COUNTS, Role::Size, Unit::Said(1)),
        (BLOCK_COUNTS, Role::Size, Unit::Unknown),
        (DEVICES, Role::Device, Unit::Unknown),
        (STREAMS, Role::Stream, Unit::Unknown),
    ];
    if let Some((_, role, unit)) = alone.iter().find(|(names, ..)| names.contains(&words)) {
        return Some((*role, *unit));
    }
    if FLAGS.iter().any(|(flag, _)| *flag == words) {
        return Some((Role::Op, Unit::Unknown));
    }
    if let Some((stem, unit)) = without_unit(words, &TIME_UNITS).filter(|(stem, _)| TIMES.contains(stem)) {
        debug_assert!(!stem.is_empty(), "no time has no name");
        return Some((Role::Time, Unit::Said(unit)));
    }
    if words == "byte_offset" || words == "start_byte" {
        return Some((Role::Offset, Unit::Said(1)));
    }
    let (stem, unit) = without_unit(words, &BYTE_UNITS)?;
    let is_offset = [OFFSETS, SECTORS, BLOCKS].iter().any(|names| names.contains(&stem));
    let is_count = words.ends_with('s') && COUNTS.contains(&stem);
    let is_size = is_count || [SIZES, BLOCK_COUNTS].iter().any(|names| names.contains(&stem));
    match (is_offset, is_size) {
        (true, _) => Some((Role::Offset, Unit::Said(unit))),
        (false, true) => Some((Role::Size, Unit::Said(unit))),
        (false, false) => None,
    }
}

/// One column for each role, or why there is none.
pub(super) fn resolve(names: &[String]) -> Result<CsvColumns, ColumnError> {
    let mut problems = Vec::new();
    let mut place = |role: Role, is_needed: bool| {
        let found: Vec<_> = (0..names.len()).filter(|&index| is_of(&names[index], role)).collect();
        let key = KEYS.iter().find(|(known, _)| *known == role).map_or("", |(_, key)| key);
        match found[..] {
            [index] => return Some(index),
            [] if is_needed => problems.push(format!("none says that it is the {key}")),
            [] => {}
            _ => {
                let several: Vec<_> = found.iter().map(|&index| format!("`{}`", names[index])).collect();
                problems.push(format!("{} may each be the {key}", several.join(" and ")));
            }
        }
        None
    };
    let (time, op) = (place(Role::Time, true), place(Role::Op, true));
    let (offset, size) = (place(Role::Offset, true), place(Role::Size, true));
    let (device, stream) = (place(Role::Device, false), place(Role::Stream, false));
    let said =
        |index: Option<usize>| index.and_then(|index| meaning(&names[index])).map_or(Unit::Unknown, |(_, unit)| unit);
    let (offset_unit, size_unit) = (said(offset), said(size));
    let are_bytes = |unit| matches!(unit, Unit::Bare | Unit::Said(1));
    let in_bytes = are_bytes(offset_unit) && are_bytes(size_unit);
    let mut unit = |index: Option<usize>, unit: Unit| match unit {
        Unit::Said(unit) => Some(unit),
        Unit::Bare if in_bytes => Some(1),
        Unit::Bare | Unit::Unknown => {
            problems.extend(index.map(|index| format!("`{}` does not say its unit", names[index])));
            None
        }
    };
    let units = [unit(time, said(time)), unit(offset, offset_unit), unit(size, size_unit)];
    if !problems.is_empty() {
        return Err(ColumnError(unclear(names, &problems, [time, op, offset, size], units)));
    }
    let at = |index: Option<usize>| index.map(|index| column(names, index));
    let measured = |index, unit: Option<u32>| Some(Measured { column: at(index)?, unit: unit? });
    let flag = op.and_then(|index| FLAGS.iter().find(|(flag, _)| *flag == words(&names[index])));
    let word = |index: usize| flag.and_then(|(_, words)| Word::new(words[index]).ok());
    let missing = || ColumnError("offset and size are missing".to_owned());
    Ok(CsvColumns {
        separator: b',',
        header: Some(1),
        time: measured(time, units[0]),
        op: at(op),
        offset: measured(offset, units[1]).ok_or_else(missing)?,
        size: measured(size, units[2]).ok_or_else(missing)?,
        device: at(device),
        stream: at(stream),
        words: [word(0), word(1), None, None],
    })
}

/// A column by its name, or by its number where the name is none that a description can hold.
fn column(names: &[String], index: usize) -> Column {
    let name = &names[index];
    let is_plain = !name.contains([',', '=', ':', '[', ']', ' ']) && !name.bytes().all(|byte| byte.is_ascii_digit());
    let is_alone = names.iter().filter(|other| other.eq_ignore_ascii_case(name)).count() == 1;
    match Word::new(name) {
        Ok(word) if is_plain && is_alone => Column::Name(word),
        _ => Column::Number(index as u16 + 1),
    }
}

/// The message for columns that do not all say what they are.
fn unclear(names: &[String], problems: &[String], found: [Option<usize>; 4], units: [Option<u32>; 3]) -> String {
    const SHOWN: usize = 24;
    let mut shown: Vec<_> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        shown.push(format!("{} more", names.len() - SHOWN));
    }
    let column = |index: Option<usize>| index.map_or("COLUMN".to_owned(), |index| column(names, index).to_string());
    let time_unit = |unit: u32| {
        let name = TIME_UNITS.iter().find(|(_, ns)| *ns == unit).map_or("ns", |(name, _)| name);
        name.to_owned()
    };
    let units = [
        units[0].map_or("UNIT".to_owned(), time_unit),
        units[1].map_or("UNIT".to_owned(), |bytes| format!("{bytes}B")),
        units[2].map_or("UNIT".to_owned(), |bytes| format!("{bytes}B")),
    ];
    format!(
        "the columns are {}: {}; say what they are with --columns time={}:{},op={},offset={}:{},size={}:{} (units: s, ms, us, ns; \
         B, sector, 4KiB)",
        shown.join(", "),
        problems.join("; "),
        column(found[0]),
        units[0],
        column(found[1]),
        column(found[2]),
        units[1],
        column(found[3]),
        units[2],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(header: &str) -> Result<String, String> {
        match Header::of(header.as_bytes()) {
            Header::Clear(columns) => Ok(columns.to_string()),
            Header::Unclear(problem) => Err(problem),
            Header::None => Err("none".to_owned()),
        }
    }

    #[test]
    fn names_that_say_what_they_are_need_no_description() {
        for (header, columns) in [
            (
                "time_ns,op,lba_sector,sectors",
                "time=time_ns[ns],op=op,offset=lba_sector[512B],size=sectors[512B],header=1",
            ),
            ("size;OFFSET;rw;ts_us", "time=ts_us[us],op=rw,offset=OFFSET[1B],size=size[1B],sep=semicolon,header=1"),
            (
                "lba\tbytes\tSubmitTimeMs\tcommand",
                "time=SubmitTimeMs[ms],op=command,offset=lba[512B],size=bytes[1B],sep=tab,header=1",
            ),
            (
                "\"Timestamp (s)\",\"is_write\",start_sector,num_sectors,tenant,stream",
                "time=1[s],op=is_write,offset=start_sector[512B],size=num_sectors[512B],device=tenant,stream=stream,read=0,write=1,header=1",
            ),
            (
                "time_in_seconds type block_4k len_bytes",
                "time=time_in_seconds[s],op=type,offset=block_4k[4096B],size=len_bytes[1B],sep=blanks,header=1",
            ),
            (
                "submitted_ns,op,lba,sectors,latency_ns",
                "time=submitted_ns[ns],op=op,offset=lba[512B],size=sectors[512B],header=1",
            ),
        ] {
            let found = described(header);
            assert_eq!(found, Ok(columns.to_owned()), "{header}");
            assert_eq!(columns.parse::<CsvColumns>().map(|columns| columns.to_string()), Ok(columns.to_owned()));
        }
    }

    #[test]
    fn what_the_names_leave_open_is_said_with_what_would_settle_it() {
        for (header, problem, settles) in [
            ("ts,op,offset,size", "`ts` does not say its unit", "time=ts:UNIT,op=op,offset=offset:1B,size=size:1B"),
            (
                "time_us,op,lba,size",
                "`size` does not say its unit",
                "time=time_us:us,op=op,offset=lba:512B,size=size:UNIT",
            ),
            ("time_us,op,offset,sectors", "`offset` does not say its unit", "offset=offset:UNIT,size=sectors:512B"),
            (
                "time_us,op,page,pages",
                "`page` does not say its unit; `pages` does not",
                "offset=page:UNIT,size=pages:UNIT",
            ),
            ("time_us,time_ns,op,lba,bytes", "`time_us` and `time_ns` may each be the time", "time=COLUMN:UNIT"),
            ("time_us,lba,bytes", "none says that it is the op", "op=COLUMN"),
            ("op,lba,bytes", "none says that it is the time", "time=COLUMN:UNIT"),
        ] {
            let message = described(header).expect_err(header);
            assert!(message.starts_with("the columns are `"), "{message}");
            assert!(message.contains(problem) && message.contains(settles), "{header}: {message}");
        }
    }

    #[test]
    fn what_names_no_columns_is_no_header() {
        for line in ["", "1,W,2,3", "some prose", "0 0 8 8 1", "time", "Read Write", "op,1,size"] {
            assert_eq!(Header::of(line.as_bytes()), Header::None, "{line}");
        }
    }

    #[test]
    fn a_name_says_its_unit_wherever_it_is_asked() {
        assert_eq!((unit_of("time_us", true), unit_of("ts", true), unit_of("lba", true)), (Some(1000), None, None));
        assert_eq!(
            (unit_of("lba", false), unit_of("size", false), unit_of("len_4k", false)),
            (Some(512), None, Some(4096))
        );
    }
}
