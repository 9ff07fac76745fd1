//! A drive description that was read, which points at its mistakes.

use toml::{Table, Value};

use super::DriveConfig;
use super::diagnostics::{at_key, location};
use crate::error::Error;

/// What is said where something is missing in a drive of no base: somebody may have thought that a preset gives it.
pub(crate) const NO_BASE: &str =
    "a drive says everything itself, or begins with `base = \"tlc\"` (or another preset) and says what differs";

/// A drive description with what is needed to point at its mistakes.
#[derive(Clone, Debug)]
pub struct LoadedDrive {
    /// The description.
    pub config: DriveConfig,
    /// Where it came from: a file, or a preset's name.
    pub origin: String,
    pub(super) text: String,
    pub(super) sets: Vec<String>,
}

impl LoadedDrive {
    /// An error about the drive as a whole, with everything that made it.
    pub fn error(&self, message: &str) -> Error {
        let mut made_of = vec![self.origin.as_str()];
        made_of.extend(self.sets.iter().flat_map(|set| ["--set", set]));
        Error::Input(format!("{}: {message}", made_of.join(" ")))
    }

    /// An error about a table that is missing, and how to have it from a preset where there is no base.
    pub fn error_missing(&self, message: &str) -> Error {
        let has_base = toml::from_str::<Table>(&self.text).is_ok_and(|table| table.contains_key("base"));
        if has_base { self.error(message) } else { self.error(&format!("{message}; {NO_BASE}")) }
    }

    /// An error about the value of a key, with its line where the text has one, or with what set it.
    pub fn error_at(&self, key: &str, message: &str) -> Error {
        if let Some(set) = self.set_of(key) {
            return Error::Input(format!("--set {set}: {key} {message}"));
        }
        Error::Input(format!("{}: {}", self.origin, at_key(&self.text, key, message)))
    }

    /// An error about values that do not go together, each a key with what it is: at the first that was set, or else at
    /// the first that the text gives, so that nobody is blamed for a value that a preset or a default gave.
    pub fn error_between(&self, values: &[(&str, String)], message: &str) -> Error {
        let was_set = values.iter().position(|(key, _)| self.set_of(key).is_some());
        let is_written = || values.iter().position(|(key, _)| !location(&self.text, key).is_empty());
        let blamed = was_set.or_else(is_written).unwrap_or(0);
        let others = values.iter().enumerate().filter(|(index, _)| *index != blamed);
        let others: Vec<String> = others.map(|(_, (key, value))| format!("{key} is {value}")).collect();
        let (key, value) = &values[blamed];
        self.error_at(key, &format!("is {value}, and {}: {message}", others.join(", ")))
    }

    /// Where a key's value comes from, for whoever did not give it: " (from ...)", or nothing where it was given.
    pub fn whence(&self, key: &str) -> String {
        if self.set_of(key).is_some() {
            return String::new();
        }
        let is_written = !location(&self.text, key).is_empty();
        let base = toml::from_str::<Table>(&self.text).ok().and_then(|table| table.get("base").cloned());
        match base {
            Some(Value::String(base)) if !is_written => format!(" (from its base {base})"),
            _ if is_written && self.origin.starts_with("preset ") => format!(" (from {})", self.origin),
            _ => String::new(),
        }
    }

    /// The last of the changes that sets a key, or a table that holds it.
    pub(super) fn set_of(&self, key: &str) -> Option<&String> {
        self.sets.iter().rev().find(|set| {
            let path = set.split('=').next().unwrap_or_default().trim();
            key.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    }
}
