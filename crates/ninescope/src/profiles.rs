//! Profiles as files: reading them with their mistakes pointed out, and making them of traces. What is drawn from them
//! is a workload like any other.

use std::path::Path;

use ninescope_generators::profile::{PROFILE_VERSION, Profile, ProfileBuilder, ProfileWorkload};
use ninescope_model::Workload;
use ninescope_traces::TraceReader;
use toml::{Table, Value};

use crate::config::{nearest_location, with_suggestion};
use crate::error::Error;
use crate::traces::trace_options;

/// What stands above every profile that is written.
const HEADING: &str = "# A profile of ninescope: what a trace is like. `ninescope trace generate` draws one from it.\n";

/// The profile in `text`; `origin` is the file's name in messages.
///
/// # Errors
/// [`Error::Input`] with file, line and key.
pub fn parse_profile(origin: &str, text: &str) -> Result<Profile, Error> {
    let refused = |message: String| Error::Input(format!("{origin}: {message}"));
    // Before the keys, which are others in another version.
    match toml::from_str::<Table>(text).as_ref().map(|table| table.get("profile").map(Value::as_integer)) {
        Ok(None) => return Err(refused("not a profile: it has no key `profile`".to_owned())),
        Ok(Some(Some(version))) if version != i64::from(PROFILE_VERSION) => {
            let problem = format!("profile: version {version} is not {PROFILE_VERSION}, the one that is known");
            return Err(refused(problem + &nearest_location(text, "profile")));
        }
        _ => {}
    }
    let profile: Profile = toml::from_str(text).map_err(|error| refused(with_suggestion(&error.to_string())))?;
    profile.validate().map_err(|error| refused(format!("{error}{}", nearest_location(text, &error.key))))?;
    Ok(profile)
}

/// A profile as its file has it.
///
/// # Errors
/// [`Error::Internal`] when the text cannot be written.
pub fn profile_text(profile: &Profile) -> Result<String, Error> {
    let text = toml::to_string(profile).map_err(|error| Error::Internal(error.to_string()))?;
    Ok(format!("{HEADING}{text}"))
}

/// The profile of a trace as its file has it. `options_json` says how the trace is read; `source` says where the
/// numbers come from.
///
/// # Errors
/// [`Error::Input`] that names file and line.
pub fn profile_of_trace(path: &Path, options_json: &str, name: &str, source: Vec<String>) -> Result<String, Error> {
    let mut reader = TraceReader::open(path, trace_options(options_json)?)?;
    let mut builder = ProfileBuilder::new();
    while let Some(request) = reader.next_request()? {
        builder.add(&request);
    }
    profile_text(&builder.finish(name, source))
}

/// Requests drawn from the profile in `text`: as many as `requests` says, or as the original had.
///
/// # Errors
/// [`Error::Input`] with file, line and key.
pub fn drawn_from_profile(
    origin: &str,
    text: &str,
    requests: Option<u64>,
    seed: u64,
) -> Result<(Profile, ProfileWorkload), Error> {
    let profile = parse_profile(origin, text)?;
    let workload = ProfileWorkload::new(&profile, requests, seed)
        .map_err(|error| Error::Input(format!("{origin}: {error}{}", nearest_location(text, &error.key))))?;
    Ok((profile, workload))
}
