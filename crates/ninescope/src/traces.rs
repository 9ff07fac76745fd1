//! Traces by themselves, without a drive: how they are read and what they hold, to and from JSON.

use std::path::Path;

use ninescope_traces::{CsvColumns, TraceOptions, TraceReader, TraceStatistics, WriteReport};

use crate::config::with_suggestion;
use crate::error::Error;

/// What is wrong with an option, without the place in a JSON text that the caller did not write.
fn option_problem(message: &str) -> String {
    let message = message.rsplit_once(" at line ").map_or(message, |(message, _)| message);
    let message = with_suggestion(message);
    if ["format: ", "columns: "].iter().any(|key| message.starts_with(key)) {
        message
    } else {
        format!("trace options: {message}")
    }
}

/// What a trace contains, as the JSON of `trace stat`. `options_json` holds [`TraceOptions`].
///
/// # Errors
/// [`Error::Input`] that names file and line.
pub fn trace_stat_json(path: &Path, options_json: &str) -> Result<String, Error> {
    let options = trace_options(options_json)?;
    let statistics = TraceStatistics::scan(path, &options)?;
    serde_json::to_string(&statistics).map_err(|error| Error::Internal(error.to_string()))
}

/// How a trace is to be read, from JSON.
///
/// # Errors
/// [`Error::Input`] that names the option.
pub fn trace_options(json: &str) -> Result<TraceOptions, Error> {
    let options: TraceOptions =
        serde_json::from_str(json).map_err(|error| Error::Input(option_problem(&error.to_string())))?;
    options.validate()?;
    Ok(options)
}

/// What a reader skipped and mended so far, and the trace's format, as JSON.
///
/// # Errors
/// [`Error::Internal`] when the text cannot be written.
pub fn trace_health_json(reader: &TraceReader) -> Result<String, Error> {
    let mut health = serde_json::to_value(reader.health()).map_err(|error| Error::Internal(error.to_string()))?;
    health["format"] = reader.format().name().into();
    health["remarks"] = reader.remarks().into();
    Ok(health.to_string())
}

/// Which columns of a table of requests are read, by their places, and how a text of these alone is described.
///
/// # Errors
/// [`Error::Input`] with what is wrong with the names or the description.
pub fn trace_columns(names: &[String], description: Option<&str>) -> Result<(String, Vec<usize>), Error> {
    let (columns, read) = CsvColumns::of_table(names, description)?;
    Ok((columns.to_string(), read))
}

/// What became of written requests, as JSON.
///
/// # Errors
/// [`Error::Internal`] when the text cannot be written.
pub fn write_report_json(report: WriteReport) -> Result<String, Error> {
    serde_json::to_string(&report).map_err(|error| Error::Internal(error.to_string()))
}
