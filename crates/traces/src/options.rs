//! How a trace is to be read.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::formats::csv::CsvColumns;
use super::{AddressMap, TraceFormat};
use crate::TraceError;

/// How a trace is to be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TraceOptions {
    /// The format; `None`: told from the content.
    pub format: Option<TraceFormat>,
    /// What the columns of a text are, in place of `format`.
    #[serde(with = "columns")]
    pub columns: Option<CsvColumns>,
    /// Whether a broken line or one out of time order is an error, instead of skipped or mended and counted.
    pub strict: bool,
    /// How far a request may be out of order in time and still be put right [requests].
    pub reorder_window: usize,
    /// What gaps between requests are multiplied by; positive.
    pub time_scale: f64,
    /// How often the trace is read. Each pass starts one mean gap after the last request of the one before.
    pub loop_count: u32,
    /// At most this many requests, over all passes.
    pub requests: Option<u64>,
    /// Whether time stamps are dropped and requests submitted as slots free.
    pub closed_loop: bool,
    /// Whether discards are requests too, instead of commands that are skipped.
    pub trims: bool,
    /// The stream that the host names for writes of which the trace says nothing; 0 for none.
    pub stream: u8,
    /// The volumes to read, by name; all when empty.
    pub volume: Vec<String>,
    /// Where the addresses lie on the drive.
    #[serde(skip)]
    pub map: AddressMap,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self {
            format: None,
            columns: None,
            strict: false,
            reorder_window: 1024,
            time_scale: 1.0,
            loop_count: 1,
            requests: None,
            closed_loop: false,
            trims: false,
            stream: 0,
            volume: Vec::new(),
            map: AddressMap::default(),
        }
    }
}

impl TraceOptions {
    /// Whether every option has a meaning.
    ///
    /// # Errors
    /// Names the option that has none.
    pub fn validate(&self) -> Result<(), TraceError> {
        if !(self.time_scale.is_finite() && self.time_scale > 0.0) {
            let problem = format!("{} is not a positive number", self.time_scale);
            return Err(TraceError::BadOption { option: "time_scale", problem });
        }
        if self.loop_count == 0 {
            let problem = "a trace is read at least once".to_owned();
            return Err(TraceError::BadOption { option: "loop", problem });
        }
        // The format that was found in a first pass is that of the columns.
        if let Some(format) =
            self.format.filter(|&format| self.columns.is_some_and(|own| format != TraceFormat::Csv(own)))
        {
            let problem =
                format!("they describe a text, and its format is said to be {format}; leave one of the two away");
            return Err(TraceError::BadOption { option: "columns", problem });
        }
        Ok(())
    }

    /// The same for looking at the trace itself, as stamped, once.
    pub(super) fn for_one_pass(&self) -> Self {
        Self { time_scale: 1.0, loop_count: 1, closed_loop: false, ..self.clone() }
    }
}

/// Columns as the text that describes them.
mod columns {
    use super::{CsvColumns, Deserialize, Deserializer, Serializer};

    #[allow(clippy::ref_option, reason = "as serde calls it")]
    pub fn serialize<S: Serializer>(columns: &Option<CsvColumns>, serializer: S) -> Result<S::Ok, S::Error> {
        match columns {
            Some(columns) => serializer.collect_str(columns),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<CsvColumns>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        let parse = |text: String| CsvColumns::parse_option(&text).map_err(serde::de::Error::custom);
        text.map(parse).transpose()
    }
}
