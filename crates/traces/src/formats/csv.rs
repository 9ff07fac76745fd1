//! Text in columns of any order and unit, as a description says:
//! `csv:time=1[us],op=2,offset=3[B],size=4[B]`.
//!
//! The description is a list of `key=value`. A column is a number from 1 on or a name in the first line, followed by
//! its unit in brackets where it is one of `time` (s, ms, us, ns, filetime), `offset` and `size` (B, sector, KiB, MiB,
//! also with a number before it: 512B, 4KiB). Further keys: `device`, a column that tells volumes apart; `stream`, one of the
//! numbers of streams that the host names for writes; `read`,
//! `write`, `trim` and `flush`, the words of the operations where they are not the usual ones; `sep`, one of comma, semicolon,
//! tab, blanks; `header`, the number of lines to skip. Without `time` all requests have the same time, without `op` all
//! are reads. `COLUMN:UNIT` is the same as `COLUMN[UNIT]`, and a unit that the column's name says may be left out.

mod names;

pub(crate) use names::Header;

use std::fmt;
use std::str::FromStr;

use ninescope_model::Op;

use crate::fields::{decimal, integer, key_of};
use crate::record::TraceRecord;
use crate::text::excerpt;
use crate::{LineProblem, TraceError};

const NAME_BYTES: usize = 28;
const WORD_BYTES: usize = 8;
const COLUMN_MAX: u16 = 1000;

/// A short text without an address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word<const BYTES: usize> {
    bytes: [u8; BYTES],
    length: u8,
}

impl<const BYTES: usize> Word<BYTES> {
    fn new(text: &str) -> Result<Self, ColumnError> {
        if text.is_empty() || text.len() > BYTES {
            return Err(ColumnError(format!("`{text}` does not have 1 to {BYTES} bytes")));
        }
        let mut bytes = [0; BYTES];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Self { bytes, length: text.len() as u8 })
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl<const BYTES: usize> fmt::Display for Word<BYTES> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&String::from_utf8_lossy(self.as_bytes()))
    }
}

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// From 1 on.
    Number(u16),
    /// As the first line calls it.
    Name(Word<NAME_BYTES>),
}

impl FromStr for Column {
    type Err = ColumnError;

    fn from_str(text: &str) -> Result<Self, ColumnError> {
        if !text.bytes().all(|byte| byte.is_ascii_digit()) || text.is_empty() {
            return Word::new(text).map(Self::Name);
        }
        match text.parse() {
            Ok(number) if (1..=COLUMN_MAX).contains(&number) => Ok(Self::Number(number)),
            _ => Err(ColumnError(format!("column {text} is not one of 1 to {COLUMN_MAX}"))),
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Name(name) => write!(formatter, "{name}"),
        }
    }
}

/// A column and its unit, in nanoseconds or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Measured {
    column: Column,
    unit: u32,
}

impl Measured {
    fn parse(key: &str, text: &str, unit_of: fn(&str) -> Option<u32>, units: &str) -> Result<Self, ColumnError> {
        let bracketed = || text.strip_suffix(']').and_then(|text| text.split_once('['));
        let (name, unit) = if let Some((name, unit)) = bracketed().or_else(|| text.rsplit_once(':')) {
            (name, unit_of(unit).ok_or(("is no unit; write one of", unit)))
        } else {
            let how = "has no unit; write COLUMN:UNIT or COLUMN[UNIT], one of";
            (text, names::unit_of(text, key == "time").ok_or((how, text)))
        };
        let unit = unit.map_err(|(how, about)| ColumnError(format!("{key}: `{about}` {how} {units}")))?;
        if name.contains(['[', ']']) {
            // It would not read back.
            return Err(ColumnError(format!("{key}: `{name}` has a bracket; give the number of the column")));
        }
        Ok(Self { column: name.parse()?, unit })
    }
}

fn time_unit(unit: &str) -> Option<u32> {
    Some(match unit {
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" => 1_000,
        "filetime" | "100ns" => 100,
        "ns" => 1,
        _ => return None,
    })
}

fn byte_unit(unit: &str) -> Option<u32> {
    let digits = unit.bytes().take_while(u8::is_ascii_digit).count();
    let number: u32 = if digits == 0 { 1 } else { unit[..digits].parse().ok()? };
    let scale = match &unit[digits..] {
        "B" | "byte" | "bytes" => 1,
        "sector" | "sectors" => 512,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        _ => return None,
    };
    number.checked_mul(scale).filter(|&bytes| bytes > 0)
}

const TIME_UNITS: &str = "s, ms, us, ns, filetime";
const BYTE_UNITS: &str = "B, sector, KiB, MiB, or a number of them";
const SEPARATORS: [(&str, u8); 4] = [("comma", b','), ("semicolon", b';'), ("tab", b'\t'), ("blanks", b' ')];

/// What the columns of a text mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsvColumns {
    separator: u8,
    header: Option<u32>,
    time: Option<Measured>,
    op: Option<Column>,
    offset: Measured,
    size: Measured,
    device: Option<Column>,
    stream: Option<Column>,
    /// The words for reading, writing, trimming and flushing; the usual ones where none is named.
    words: [Option<Word<WORD_BYTES>>; 4],
}

/// What is wrong with a description of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnError(String);

impl fmt::Display for ColumnError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

const WORD_KEYS: [&str; 4] = ["read", "write", "trim", "flush"];

impl CsvColumns {
    /// An example of a description.
    pub const EXAMPLE: &'static str = "time=1[us],op=2,offset=3[B],size=4[B]";

    /// The columns that an option describes.
    ///
    /// # Errors
    /// What is wrong with the description, with the option's name.
    pub fn parse_option(text: &str) -> Result<Self, TraceError> {
        text.parse()
            .map_err(|error: ColumnError| TraceError::BadOption { option: "columns", problem: error.to_string() })
    }
}

impl FromStr for CsvColumns {
    type Err = ColumnError;

    fn from_str(text: &str) -> Result<Self, ColumnError> {
        let (mut separator, mut header, mut time, mut op) = (b',', None, None, None);
        let (mut offset, mut size, mut device, mut stream, mut words) = (None, None, None, None, [None; 4]);
        let mut seen = Vec::new();
        for part in text.split(',') {
            let (key, value) = part
                .split_once('=')
                .map(|(key, value)| (key.trim(), value.trim()))
                .ok_or_else(|| ColumnError(format!("`{part}` is not KEY=VALUE, as in `{}`", Self::EXAMPLE)))?;
            if seen.contains(&key) {
                return Err(ColumnError(format!("{key} is given twice")));
            }
            seen.push(key);
            match key {
                "time" => time = Some(Measured::parse(key, value, time_unit, TIME_UNITS)?),
                "offset" => offset = Some(Measured::parse(key, value, byte_unit, BYTE_UNITS)?),
                "size" => size = Some(Measured::parse(key, value, byte_unit, BYTE_UNITS)?),
                "op" => op = Some(value.parse()?),
                "device" => device = Some(value.parse()?),
                "stream" => stream = Some(value.parse()?),
                "sep" => {
                    let known = SEPARATORS.iter().find(|(name, _)| *name == value);
                    separator = known.map(|&(_, byte)| byte).ok_or_else(|| {
                        ColumnError(format!("sep: `{value}` is not one of comma, semicolon, tab, blanks"))
                    })?;
                }
                "header" => {
                    let lines = value.parse().map_err(|_| ColumnError(format!("header: `{value}` is no number")))?;
                    header = Some(lines);
                }
                _ => {
                    let index = WORD_KEYS.iter().position(|word| *word == key).ok_or_else(|| {
                        let keys = "time, op, offset, size, device, stream, read, write, trim, flush, sep, header";
                        ColumnError(format!("`{key}` is not one of {keys}"))
                    })?;
                    words[index] = Some(Word::new(value)?);
                }
            }
        }
        let missing = |key| move || ColumnError(format!("{key} is missing, as in `{}`", Self::EXAMPLE));
        let (offset, size) = (offset.ok_or_else(missing("offset"))?, size.ok_or_else(missing("size"))?);
        if op.is_none() && words.iter().any(Option::is_some) {
            return Err(missing("op")());
        }
        Ok(Self { separator, header, time, op, offset, size, device, stream, words })
    }
}

impl fmt::Display for CsvColumns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Measured { column, unit }) = self.time {
            let name = ["s", "ms", "us", "filetime", "ns"].into_iter().find(|name| time_unit(name) == Some(unit));
            write!(formatter, "time={column}[{}],", name.unwrap_or_default())?;
        }
        if let Some(op) = self.op {
            write!(formatter, "op={op},")?;
        }
        let (offset, size) = (self.offset, self.size);
        write!(formatter, "offset={}[{}B],size={}[{}B]", offset.column, offset.unit, size.column, size.unit)?;
        if let Some(device) = self.device {
            write!(formatter, ",device={device}")?;
        }
        if let Some(stream) = self.stream {
            write!(formatter, ",stream={stream}")?;
        }
        for (key, word) in WORD_KEYS.iter().zip(self.words) {
            word.map_or(Ok(()), |word| write!(formatter, ",{key}={word}"))?;
        }
        if let Some((name, _)) = SEPARATORS.iter().find(|(_, byte)| *byte == self.separator && *byte != b',') {
            write!(formatter, ",sep={name}")?;
        }
        self.header.map_or(Ok(()), |lines| write!(formatter, ",header={lines}"))
    }
}

/// The values of a request, in this order.
const VALUES: usize = 6;
const TIME: usize = 0;
const OP: usize = 1;
const OFFSET: usize = 2;
const SIZE: usize = 3;
const DEVICE: usize = 4;
const STREAM: usize = 5;

pub(crate) struct Parser {
    columns: CsvColumns,
    /// The number of each value's column, from 0 on.
    places: [Option<u16>; VALUES],
    /// Lines yet to be skipped.
    header: u32,
    /// The names of columns that are not read.
    unread: Vec<String>,
}

/// The lines of `start` that may name the columns, with their numbers from 1 on: the first with text that is no comment, and
/// the first one if it is a comment.
fn headers(start: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let lines = || start.split(|&byte| byte == b'\n').zip(1..).map(|(line, number)| (number, line.trim_ascii()));
    let text = lines().find(|(_, line)| line.first().is_some_and(|&first| first != b'#'));
    let comment =
        lines().find(|(_, line)| !line.is_empty()).and_then(|(number, line)| Some((number, line.strip_prefix(b"#")?)));
    text.into_iter().chain(comment)
}

/// The header of a text that names its columns so that nobody has to say what they are.
pub(crate) fn header_of(start: &[u8]) -> Header {
    let mut unclear = Header::None;
    for (_, line) in headers(start) {
        match Header::of(line) {
            Header::Clear(columns) => return Header::Clear(CsvColumns { header: None, ..columns }.numbered(start)),
            Header::Unclear(problem) => unclear = Header::Unclear(problem),
            Header::None => {}
        }
    }
    unclear
}

impl CsvColumns {
    /// The columns of a table whose names are known: those that are read, by their places from 0 on, and their description for a
    /// text that holds these alone, in that order and below one line of names. Without a description the names say it.
    ///
    /// # Errors
    /// What is wrong with the description or the names, with the option's name.
    pub fn of_table(names: &[String], description: Option<&str>) -> Result<(Self, Vec<usize>), TraceError> {
        let wrong = |error: ColumnError| {
            let problem = error.0.strip_prefix("columns: ").unwrap_or(&error.0).to_owned();
            TraceError::BadOption { option: "columns", problem }
        };
        let columns = description.map_or_else(|| names::resolve(names).map_err(wrong), Self::parse_option)?;
        let mut read = Vec::new();
        let mut taken = |key: &str, column: Column| -> Result<Column, ColumnError> {
            let place = match column {
                Column::Number(number) => Some(usize::from(number) - 1).filter(|&place| place < names.len()),
                Column::Name(name) => names.iter().position(|own| own.as_bytes().eq_ignore_ascii_case(name.as_bytes())),
            };
            let place = place.ok_or_else(|| absent(key, column, names.iter().map(String::as_bytes)))?;
            let at = read.iter().position(|&known| known == place).unwrap_or(read.len());
            if at == read.len() {
                read.push(place);
            }
            Ok(Column::Number(at as u16 + 1))
        };
        let mut again = columns;
        again.header = Some(1);
        again.separator = b',';
        let mut place =
            |key: &str, column: Option<Column>| column.map(|column| taken(key, column)).transpose().map_err(wrong);
        let time = place("time", columns.time.map(|time| time.column))?;
        again.time = columns.time.zip(time).map(|(time, column)| Measured { column, ..time });
        again.op = place("op", columns.op)?;
        again.offset.column = place("offset", Some(columns.offset.column))?.unwrap_or(columns.offset.column);
        again.size.column = place("size", Some(columns.size.column))?.unwrap_or(columns.size.column);
        again.device = place("device", columns.device)?;
        again.stream = place("stream", columns.stream)?;
        Ok((again, read))
    }

    fn wanted(&self) -> [(&'static str, Option<Column>); VALUES] {
        [
            ("time", self.time.map(|time| time.column)),
            ("op", self.op),
            ("offset", Some(self.offset.column)),
            ("size", Some(self.size.column)),
            ("device", self.device),
            ("stream", self.stream),
        ]
    }

    /// The same with the number of lines to skip, where no column is given by its name.
    fn numbered(self, start: &[u8]) -> Self {
        let has_names = self.wanted().iter().any(|(_, column)| matches!(column, Some(Column::Name(_))));
        let skipped =
            headers(start).find(|(_, line)| matches!(Header::of(line), Header::Clear(_))).map(|(number, _)| number);
        Self { header: skipped.filter(|&lines| !has_names || lines > 1), ..self }
    }

    /// The place of each value's column by a line of names, and whether one is given by its name.
    fn places(&self, line: &[u8]) -> Result<([Option<u16>; VALUES], bool), ColumnError> {
        let mut has_names = false;
        let mut places = [None; VALUES];
        for (place, (key, column)) in places.iter_mut().zip(self.wanted()) {
            *place = match column {
                None => None,
                Some(Column::Number(number)) => Some(number - 1),
                Some(Column::Name(name)) => {
                    has_names = true;
                    let is_it = |field: &[u8]| field.eq_ignore_ascii_case(name.as_bytes());
                    let found = fields(line, self.separator).take(COLUMN_MAX.into()).position(is_it);
                    Some(found.ok_or_else(|| absent(key, Column::Name(name), fields(line, self.separator)))? as u16)
                }
            };
        }
        Ok((places, has_names))
    }
}

/// The error for a column that a line of names does not have.
fn absent<'a>(key: &str, column: Column, names: impl Iterator<Item = &'a [u8]>) -> ColumnError {
    const SHOWN: usize = 24;
    let names: Vec<_> = names.take(SHOWN).map(|name| format!("`{}`", excerpt(name))).collect();
    ColumnError(format!("columns: {key}: the first line has no column `{column}`; it has {}", names.join(", ")))
}

impl Parser {
    /// A parser for content that begins with `start`, whose first line names columns that are given by name.
    pub fn new(columns: CsvColumns, start: &[u8]) -> Result<Self, ColumnError> {
        let mut problem = None;
        for (number, line) in headers(start).chain(std::iter::once((1, &b""[..]))) {
            match columns.places(line) {
                Ok((places, has_names)) => {
                    let header = columns.header.unwrap_or(0).max(if has_names { number } else { 0 });
                    let is_read = |index: usize| places.contains(&Some(index as u16));
                    let names =
                        fields(line, columns.separator).enumerate().filter(|(index, _)| header > 0 && !is_read(*index));
                    let unread = names.map(|(_, name)| excerpt(name)).filter(|name| !name.is_empty()).collect();
                    return Ok(Self { columns, places, header, unread });
                }
                Err(error) => problem = problem.or(Some(error)),
            }
        }
        Err(problem.unwrap_or_else(|| ColumnError("the text is empty".to_owned())))
    }

    /// The same for lines that stand below the names.
    pub fn below_header(self) -> Self {
        Self { header: 0, ..self }
    }

    /// What the columns do not say, and which are not read.
    pub fn remarks(&self) -> Vec<String> {
        const SHOWN: usize = 24;
        let mut remarks = Vec::new();
        if self.columns.time.is_none() {
            remarks.push("no column is the time: all requests come at once".to_owned());
        }
        if self.columns.op.is_none() {
            remarks.push("no column is the operation: all requests are taken as reads".to_owned());
        }
        if !self.unread.is_empty() {
            let more = self.unread.len().saturating_sub(SHOWN);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            remarks.push(format!(
                "columns that are not read: {}{more}",
                self.unread[..self.unread.len().min(SHOWN)].join(", ")
            ));
        }
        remarks
    }

    pub fn parse(&mut self, line: &[u8]) -> Result<TraceRecord, LineProblem> {
        if self.header > 0 {
            self.header -= 1;
            return Err(LineProblem::Head);
        }
        match line.trim_ascii().first() {
            None => return Err(LineProblem::Blank),
            Some(b'#') => return Err(LineProblem::Comment),
            Some(_) => {}
        }
        let values = self.values(line);
        let value =
            |index: usize, name| values[index].filter(|text| !text.is_empty()).ok_or(LineProblem::Missing(name));
        let time_ns = match self.columns.time {
            Some(time) => decimal(value(TIME, "time")?, "time", time.unit.into())?,
            None => 0,
        };
        let op = if self.columns.op.is_some() { self.operation(value(OP, "operation")?)? } else { Op::Read };
        if op == Op::Flush {
            let device = if self.columns.device.is_some() { key_of(value(DEVICE, "device")?) } else { 0 };
            return TraceRecord::from_sectors(time_ns, device, 0, 0, op);
        }
        let measure = |index, name, unit: u32| {
            integer(value(index, name)?, name)?.checked_mul(unit.into()).ok_or(LineProblem::Overflow(name))
        };
        let offset = measure(OFFSET, "offset", self.columns.offset.unit)?;
        let bytes = measure(SIZE, "size", self.columns.size.unit)?;
        let device = if self.columns.device.is_some() { key_of(value(DEVICE, "device")?) } else { 0 };
        let stream = match self.columns.stream {
            Some(_) => integer(value(STREAM, "stream")?, "stream")?,
            None => 0,
        };
        let stream = u8::try_from(stream).map_err(|_| LineProblem::Overflow("stream"))?;
        Ok(TraceRecord { stream, ..TraceRecord::from_bytes(time_ns, device, offset, bytes, op)? })
    }

    pub fn volume(&self, line: &[u8], _device: u64) -> String {
        let name = self.values(line)[DEVICE].unwrap_or(b"0");
        String::from_utf8_lossy(name).into_owned()
    }

    fn values<'a>(&self, line: &'a [u8]) -> [Option<&'a [u8]>; VALUES] {
        let mut values = [None; VALUES];
        let last = self.places.iter().flatten().max().copied().unwrap_or(0);
        for (index, field) in fields(line, self.columns.separator).take(usize::from(last) + 1).enumerate() {
            for (value, place) in values.iter_mut().zip(self.places) {
                if place.is_some_and(|place| usize::from(place) == index) {
                    *value = Some(field);
                }
            }
        }
        values
    }

    fn operation(&self, text: &[u8]) -> Result<Op, LineProblem> {
        const USUAL: [&[&str]; 4] = [
            &["r", "read", "rd"],
            &["w", "write", "wr"],
            &["d", "discard", "trim", "unmap"],
            &["f", "flush", "sync", "fsync", "fdatasync"],
        ];
        let is_any = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()));
        let named = self.columns.words.iter().any(Option::is_some);
        let is = |index: usize| match self.columns.words[index] {
            Some(word) => is_word(text, word.as_bytes()),
            None => !named && is_any(USUAL[index]),
        };
        let index = (0..4).find(|&index| is(index)).ok_or(LineProblem::UnknownOperation)?;
        Ok([Op::Read, Op::Write, Op::Trim, Op::Flush][index])
    }
}

/// Whether `text` is the word of an operation; a flag may be written as `true` and `false` too.
fn is_word(text: &[u8], word: &[u8]) -> bool {
    text == word
        || match word {
            b"0" => text.eq_ignore_ascii_case(b"false"),
            b"1" => text.eq_ignore_ascii_case(b"true"),
            _ => false,
        }
}

/// The fields of a line without the blanks and quotation marks around them.
fn fields(line: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let is_blanks = separator == b' ';
    let is_end = move |byte: &u8| if is_blanks { byte.is_ascii_whitespace() } else { *byte == separator };
    line.split(is_end).filter(move |field| !is_blanks || !field.is_empty()).map(|field| {
        let field = field.trim_ascii();
        field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parser(columns: &str, start: &str) -> Result<Parser, ColumnError> {
        Parser::new(columns.parse()?, start.as_bytes())
    }

    fn read(columns: &str, line: &str) -> Result<(u64, u64, u32, Op), LineProblem> {
        let record = parser(columns, line).expect("a good description").parse(line.as_bytes())?;
        Ok((record.time_ns, record.lba, record.sectors, record.op))
    }

    #[test]
    fn columns_are_read_by_number_and_unit() {
        assert_eq!(read(CsvColumns::EXAMPLE, "7.5,W,1024,512"), Ok((7500, 2, 1, Op::Write)));
        let columns = "size=1[4KiB],offset=3[sector],time=4[s],op=2,read=1,write=0,sep=blanks";
        assert_eq!(read(columns, " 2  1\t16 3"), Ok((3_000_000_000, 16, 16, Op::Read)));
        assert_eq!(read("offset=2[B],size=1[B],sep=semicolon", "\"512\";0"), Ok((0, 0, 1, Op::Read)));
    }

    #[test]
    fn columns_are_found_by_name() {
        let text = "when,what,where,length\n5,read,0,512\n";
        let mut parser = parser("time=When[ms],op=what,offset=where[B],size=length[B]", text).expect("good");
        assert_eq!(parser.parse(b"when,what,where,length"), Err(LineProblem::Head));
        assert_eq!(parser.parse(b"5,read,0,512").map(|record| record.time_ns), Ok(5_000_000));
        let absent = Parser::new("offset=place[B],size=1[B]".parse().expect("good"), text.as_bytes());
        let problem = "columns: offset: the first line has no column `place`; it has `when`, `what`, `where`, `length`";
        assert_eq!(absent.err(), Some(ColumnError(problem.to_owned())));
    }

    #[test]
    fn units_may_follow_a_colon_or_stand_in_the_name() {
        let text = "ts,kind,lba,len_bytes\n5,F,,\n5,D,8,8192\n";
        let mut parser = parser("time=ts:us,op=kind,offset=lba:sectors,size=len_bytes", text).expect("good");
        assert_eq!(parser.parse(b"ts,kind,lba,len_bytes"), Err(LineProblem::Head));
        let flush = parser.parse(b"5,F,,").expect("a flush has no place");
        assert_eq!((flush.op, flush.sectors, flush.time_ns), (Op::Flush, 0, 5000));
        let trim = parser.parse(b"5,D,8,8192").expect("good");
        assert_eq!((trim.op, trim.lba, trim.sectors), (Op::Trim, 8, 16));
        assert_eq!(read("op=2,offset=3:4KiB,size=1:sector", "2,w,1"), Ok((0, 8, 2, Op::Write)));
    }

    #[test]
    fn a_header_may_stand_below_comments_or_be_one() {
        for (text, lines) in [
            ("# made by hand\n\ntime_us,op,lba,sectors,latency\n7,W,8,8,3\n", 3),
            ("# time_us,op,lba,sectors,latency\n7,W,8,8,3\n", 1),
            ("time_us,op,lba,sectors,latency\n7,W,8,8,3\n", 1),
            ("\"time (us)\",op,lba,sectors,latency\n7,W,8,8,3\n", 1),
        ] {
            let Header::Clear(columns) = header_of(text.as_bytes()) else { panic!("{text}") };
            let mut parser = Parser::new(columns, text.as_bytes()).expect("good");
            let parsed: Vec<_> = text.lines().map(|line| parser.parse(line.as_bytes())).collect();
            assert!(parsed[..lines].iter().all(|line| *line == Err(LineProblem::Head)), "{text}: {parsed:?}");
            let record = parsed[lines].expect("good");
            assert_eq!((record.time_ns, record.op, record.lba, record.sectors), (7000, Op::Write, 8, 8));
            assert_eq!(parser.remarks(), ["columns that are not read: latency"]);
            assert_eq!(columns.to_string().parse(), Ok(columns), "{columns}");
        }
    }

    #[test]
    fn the_columns_of_a_table_are_counted_among_those_that_are_read() {
        let names: Vec<_> = ["id", "ts_us", "note", "sectors", "lba", "op"].map(str::to_owned).into();
        let of =
            |description| CsvColumns::of_table(&names, description).map(|(columns, read)| (columns.to_string(), read));
        let by_names = ("time=1[us],op=2,offset=3[512B],size=4[512B],header=1".to_owned(), vec![1, 5, 4, 3]);
        assert_eq!(of(None).map_err(|error| error.to_string()), Ok(by_names));
        let described = of(Some("offset=LBA:4KiB,size=4:B,device=note,op=op")).map_err(|error| error.to_string());
        assert_eq!(described, Ok(("op=1,offset=2[4096B],size=3[1B],device=4,header=1".to_owned(), vec![5, 4, 3, 2])));
        for (description, problem) in [
            (
                "offset=where:B,size=4:B",
                "columns: offset: the first line has no column `where`; it has `id`, `ts_us`, `note`,",
            ),
            ("offset=7:B,size=4:B", "columns: offset: the first line has no column `7`; it has `id`"),
            ("offset=7,size=4:B", "columns: offset: `7` has no unit"),
        ] {
            let error = of(Some(description)).expect_err(description).to_string();
            assert!(error.starts_with(problem), "{error}");
        }
        let error = CsvColumns::of_table(&["a".to_owned()], None).expect_err("says nothing").to_string();
        assert!(error.starts_with("columns: the columns are `a`: none says that it is the time"), "{error}");
    }

    #[test]
    fn what_columns_do_not_say_is_told() {
        let parser = parser("offset=2:B,size=3:B", "7,8,512").expect("good");
        let told = [
            "no column is the time: all requests come at once",
            "no column is the operation: all requests are taken as reads",
        ];
        assert_eq!(parser.remarks(), told);
    }

    #[test]
    fn a_flag_may_be_a_word() {
        let columns = "op=1,offset=2:B,size=3:B,read=0,write=1";
        for (text, op) in [("0", Op::Read), ("False", Op::Read), ("1", Op::Write), ("true", Op::Write)] {
            assert_eq!(read(columns, &format!("{text},0,512")).map(|(.., op)| op), Ok(op));
        }
    }

    #[test]
    fn a_description_reads_back() {
        for text in [
            "time=1[us],op=2,offset=3[1B],size=4[4096B]",
            "time=when[filetime],op=2,offset=3[512B],size=4[1B],device=5,stream=6,read=1,write=0,sep=blanks,header=2",
        ] {
            assert_eq!(text.parse::<CsvColumns>().map(|columns| columns.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_wrong_with_a_description_is_named() {
        for (text, message) in [
            ("", "`` is not KEY=VALUE"),
            ("time=1[us]", "offset is missing"),
            ("offset=1[B]", "size is missing"),
            ("offset=1,size=2[B]", "offset: `1` has no unit"),
            ("offset=1[ms],size=2[B]", "offset: `ms` is no unit"),
            ("offset=1[0B],size=2[B]", "offset: `0B` is no unit"),
            ("time=1[B],offset=1[B],size=2[B]", "time: `B` is no unit"),
            ("offset=0[B],size=2[B]", "column 0 is not"),
            ("offset=1[B],size=2[B],size=3[B]", "size is given twice"),
            ("offset=1[B],size=2[B],sep=dash", "sep: `dash`"),
            ("offset=1[B],size=2[B],colour=3", "`colour` is not one of"),
            ("offset=1[B],size=2[B],read=1", "op is missing"),
            ("offset=1[B],size=2[B],header=-1", "header: `-1`"),
            ("offset=a name that is longer than what is kept of one[B],size=2[B]", "does not have 1 to 28 bytes"),
            ("time=ts,offset=1:B,size=2:B", "time: `ts` has no unit; write COLUMN:UNIT"),
            ("time=lba,offset=1:B,size=2:B", "time: `lba` has no unit"),
            ("offset=1:B,size=length[4K", "size: `length[4K` has a bracket; give the number"),
            ("offset=lba:furlong,size=2:B", "offset: `furlong` is no unit"),
        ] {
            let error = text.parse::<CsvColumns>().expect_err(text).to_string();
            assert!(error.starts_with(message) || error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_line_is_named() {
        for (line, problem) in [
            ("", LineProblem::Blank),
            ("# time", LineProblem::Comment),
            ("1,W,5", LineProblem::Missing("size")),
            ("1,W,,512", LineProblem::Missing("offset")),
            ("1,W,-5,512", LineProblem::Negative("offset")),
            ("x,W,5,512", LineProblem::NotANumber("time")),
            ("1,X,5,512", LineProblem::UnknownOperation),
            ("1,W,5,0", LineProblem::ZeroSize),
            ("1,W,18446744073709551615,512", LineProblem::Overflow("address")),
        ] {
            assert_eq!(read(CsvColumns::EXAMPLE, line), Err(problem), "{line}");
        }
        let named = "op=1,offset=2[B],size=3[B],read=0,write=1";
        assert_eq!(read(named, "read,0,512"), Err(LineProblem::UnknownOperation));
    }
}
