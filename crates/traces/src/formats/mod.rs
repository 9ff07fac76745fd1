//! The trace formats. One format is one file here and one line in the registry below.
//!
//! A file says in its head where the format is described, gives an example line, and holds a parser. What the
//! registry lists can be named (`--format`), is told from content, is fuzzed, and stands in `docs/traces.md`.

mod cache;
pub(super) mod csv;
mod head;

pub(super) use head::Head;

use super::record::TraceRecord;
use crate::LineProblem;

/// Makes requests of the lines or records of one format.
pub(super) trait FormatParser: Sized {
    /// What a binary format's record is at least [bytes]; `None`: the format is text.
    const RECORD_BYTES: Option<usize> = None;

    /// A parser for content that begins with `start`.
    fn new(start: &[u8]) -> Self;

    /// The request on a line, or in a record.
    fn parse(&mut self, content: &[u8]) -> Result<TraceRecord, LineProblem>;

    /// The length of the next record, which begins with `header`; that is as long as a record is at least.
    fn record_bytes(&self, header: &[u8]) -> usize {
        header.len()
    }

    /// How many of the first lines or records can be of this format. 0 for a format that is surely another one.
    fn matches(head: &Head<'_>) -> usize {
        head.count(&mut Self::new(head.start))
    }

    /// What `content`, whose request is of volume `device`, calls the volume.
    fn volume(_content: &[u8], device: u64) -> String {
        device.to_string()
    }

    /// What traces in this format do not say, and what is assumed instead.
    fn assumes() -> &'static [&'static str] {
        &[]
    }
}

macro_rules! trace_formats {
    ($($name:literal $(| $alias:literal)* => $variant:ident($module:ident), $summary:literal, $example:expr;)+) => {
        $(pub(super) mod $module;)+

        /// A format of request logs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        #[allow(clippy::large_enum_variant)] // a trace has one
        pub enum TraceFormat {
            $(#[doc = $summary] $variant,)+
            /// Text in columns, as the description says.
            Csv(csv::CsvColumns),
        }

        impl TraceFormat {
            /// All formats that have a fixed meaning, which are those that can be told from content.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];
            /// The names, other names, contents and an example line of all of them. Binary formats have no line.
            pub const LIST: &'static [(&'static str, &'static [&'static str], &'static str, Option<&'static str>)] =
                &[$(($name, &[$($alias),*], $summary, $example),)+];

            /// The name in configurations.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Csv(_) => "csv",
                }
            }

            /// How many of the first lines or records can be of this format.
            pub(super) fn matches(self, head: &Head<'_>) -> usize {
                match self {
                    $(Self::$variant => <$module::Parser as FormatParser>::matches(head),)+
                    Self::Csv(_) => 0,
                }
            }

            /// What a binary format's record is at least [bytes]; `None`: the format is text.
            pub(super) fn record_bytes(self) -> Option<usize> {
                match self {
                    $(Self::$variant => <$module::Parser as FormatParser>::RECORD_BYTES,)+
                    Self::Csv(_) => None,
                }
            }
        }

        /// A parser of any format.
        #[allow(clippy::large_enum_variant)] // a trace has one
        pub(super) enum AnyParser {
            $($variant($module::Parser),)+
            Csv(csv::Parser),
        }

        impl AnyParser {
            /// A parser of `format` for content that begins with `start`.
            pub fn new(format: TraceFormat, start: &[u8]) -> Result<Self, csv::ColumnError> {
                Ok(match format {
                    $(TraceFormat::$variant => Self::$variant(FormatParser::new(start)),)+
                    TraceFormat::Csv(columns) => Self::Csv(csv::Parser::new(columns, start)?),
                })
            }

            /// The request on a line, or in a record.
            #[inline]
            pub fn parse(&mut self, content: &[u8]) -> Result<TraceRecord, LineProblem> {
                match self {
                    $(Self::$variant(parser) => parser.parse(content),)+
                    Self::Csv(parser) => parser.parse(content),
                }
            }

            /// The length of the next record, which begins with `header`.
            pub fn record_bytes(&self, header: &[u8]) -> usize {
                match self {
                    $(Self::$variant(parser) => parser.record_bytes(header),)+
                    Self::Csv(_) => header.len(),
                }
            }

            /// What `content`, whose request is of volume `device`, calls the volume.
            pub fn volume(&self, content: &[u8], device: u64) -> String {
                match self {
                    $(Self::$variant(_) => <$module::Parser as FormatParser>::volume(content, device),)+
                    Self::Csv(parser) => parser.volume(content, device),
                }
            }

            /// What the trace does not say and is assumed, and what of it is not read.
            pub fn remarks(&self) -> Vec<String> {
                let assumed = match self {
                    $(Self::$variant(_) => <$module::Parser as FormatParser>::assumes(),)+
                    Self::Csv(parser) => return parser.remarks(),
                };
                assumed.iter().map(|&text| text.to_owned()).collect()
            }
        }
    };
}

trace_formats! {
    "msr" => Msr(msr), "MSR Cambridge CSV (SNIA IOTTA 388)", Some(msr::EXAMPLE);
    "msr-short" | "caso" => MsrShort(msr_short), "MSR rows cut to four blank-separated columns", Some(msr_short::EXAMPLE);
    "mqsim" | "ssdsim" => MqSim(mqsim), "MQSim and SSDSim text", Some(mqsim::EXAMPLE);
    "mqsim-bytes" => MqSimBytes(mqsim_bytes), "MQSim text with offsets in bytes", Some(mqsim_bytes::EXAMPLE);
    "disksim" => DiskSim(disksim), "DiskSim ASCII", Some(disksim::EXAMPLE);
    "umass" => Umass(umass), "UMass traces as FlashSim reads them: sizes in 4 KiB", Some(umass::EXAMPLE);
    "spc" => Spc(spc), "SPC-1 (UMass repository)", Some(spc::EXAMPLE);
    "blkparse" => Blkparse(blkparse), "text of blkparse", Some(blkparse::EXAMPLE);
    "blktrace" => Blktrace(blktrace), "binary of blktrace, versions 7 and 8", None;
    "ftrace" => Ftrace(ftrace), "block events of ftrace", Some(ftrace::EXAMPLE);
    "wiscsee" => Wiscsee(wiscsee), "WiscSee event lists", Some(wiscsee::EXAMPLE);
    "fio" | "fio-v2" | "fio-v3" => Fio(fio), "iologs of fio, versions 2 and 3", Some(fio::EXAMPLE);
    "fiu" => Fiu(fiu), "FIU", Some(fiu::EXAMPLE);
    "srt" => Srt(srt), "SRT of HP Labs (cello), versions 1 to 4", None;
    "srt-text" => SrtText(srt_text), "text of SRT version 7, as dssrt2txt prints it", Some(srt_text::EXAMPLE);
    "arc" => Arc(arc), "traces of the paper on ARC (.lis)", Some(arc::EXAMPLE);
    "systor17" => Systor17(systor17), "SYSTOR'17", Some(systor17::EXAMPLE);
    "alibaba" => Alibaba(alibaba), "Alibaba block traces", Some(alibaba::EXAMPLE);
    "tencent" => Tencent(tencent), "Tencent CBS", Some(tencent::EXAMPLE);
    "oracleGeneral" | "oraclegeneral" | "oracleGeneralBin" => OracleGeneral(oracle_general), "binary oracleGeneral of libCacheSim", None;
    "oracleGeneralOpNS" => OracleGeneralOpNs(oracle_general_op_ns), "binary oracleGeneralOpNS of libCacheSim, with operations", None;
    "oracleSysTwrNS" => OracleSysTwrNs(oracle_sys_twr_ns), "binary oracleSysTwrNS of libCacheSim (Twitter)", None;
    "twr" => Twr(twr), "binary twr of libCacheSim (Twitter)", None;
    "twrNS" => TwrNs(twr_ns), "binary twrNS of libCacheSim (Twitter)", None;
    "standardIQI" => StandardIqi(standard_iqi), "binary standardIQI of libCacheSim", None;
    "lcs" => Lcs(lcs), "lcs of libCacheSim, versions 1 to 8", None;
    "rows" => Rows(rows), "binary rows of ninescope, which Parquet is copied to", None;
    "vscsi" => Vscsi(vscsi), "binary vSCSI version 1 (VMware, CloudPhysics)", None;
    "vscsi2" => Vscsi2(vscsi2), "binary vSCSI version 2 (VMware, CloudPhysics)", None;
}

/// What the tests of formats with one request on a line have in common.
#[cfg(test)]
mod testing {
    use ninescope_model::Op;

    use super::FormatParser;
    use crate::LineProblem;

    /// Time [ns], device, sector, sectors and operation.
    pub type Row = (u64, u64, u64, u32, Op);

    pub fn assert_rows(parser: &mut impl FormatParser, cases: &[(&str, Row)]) {
        for &(line, expected) in cases {
            let record = parser.parse(line.as_bytes()).unwrap_or_else(|problem| panic!("{line}: {problem}"));
            assert_eq!((record.time_ns, record.device, record.lba, record.sectors, record.op), expected, "{line}");
        }
    }

    pub fn assert_problems(parser: &mut impl FormatParser, cases: &[(&str, LineProblem)]) {
        for &(line, problem) in cases {
            assert_eq!(parser.parse(line.as_bytes()), Err(problem), "{line}");
        }
    }
}
