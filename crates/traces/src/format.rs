//! The formats' names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::TraceFormat;
use super::formats::csv::CsvColumns;
use crate::TraceError;

impl TraceFormat {
    /// The names in one phrase, for messages.
    pub(super) fn names() -> String {
        let names: Vec<_> = Self::LIST.iter().map(|(name, ..)| *name).collect();
        names.join(", ")
    }
}

impl fmt::Display for TraceFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Csv(columns) => write!(formatter, "csv:{columns}"),
            named => formatter.write_str(named.name()),
        }
    }
}

impl FromStr for TraceFormat {
    type Err = TraceError;

    fn from_str(name: &str) -> Result<Self, TraceError> {
        let wrong = |problem| TraceError::BadOption { option: "format", problem };
        if let Some(columns) = name.strip_prefix("csv:") {
            return columns.parse::<CsvColumns>().map(Self::Csv).map_err(|error| wrong(format!("csv: {error}")));
        }
        let is_it = |(own, aliases, ..): &(&str, &[&str], _, _)| *own == name || aliases.contains(&name);
        Self::LIST.iter().position(is_it).map(|index| Self::ALL[index]).ok_or_else(|| {
            wrong(format!(
                "`{name}` is not a trace format; write one of {}, or csv:COLUMNS as in `csv:{}`",
                Self::names(),
                CsvColumns::EXAMPLE
            ))
        })
    }
}

impl Serialize for TraceFormat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TraceFormat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}
