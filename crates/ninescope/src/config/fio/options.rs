//! What becomes of each option of fio: the table `options.toml`, which the docs and the comparison with fio read too.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::config::diagnostics::suggestion;

/// What becomes of an option.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "is", rename_all = "lowercase")]
pub enum Handling {
    /// What is issued is what fio issues.
    Equal {},
    /// It changes nothing in what fio issues.
    Unchanged {},
    /// It is taken, with an effect that fio's does not have, or without one that fio's has.
    Noted { effect: String },
    /// The file is refused.
    Refused {
        instead: String,
        /// The value that asks for nothing, and is taken.
        off: Option<String>,
    },
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    also: Vec<String>,
    #[serde(flatten)]
    handling: Handling,
}

/// Options by name, the other names of each among them: its own name, and what becomes of it.
type Options = BTreeMap<String, (String, Handling)>;

fn options() -> &'static Options {
    static OPTIONS: OnceLock<Options> = OnceLock::new();
    OPTIONS.get_or_init(|| {
        // A test reads it; a table that cannot be read knows no option.
        let groups: BTreeMap<String, BTreeMap<String, Entry>> =
            toml::from_str(include_str!("options.toml")).unwrap_or_default();
        let mut options = Options::new();
        for (name, entry) in groups.into_values().flatten() {
            for name_of in entry.also.into_iter().chain([name.clone()]) {
                options.insert(name_of, (name.clone(), entry.handling.clone()));
            }
        }
        options
    })
}

/// An option's own name and what becomes of it; where fio has no such option, what is to be said.
pub fn handling(name: &str) -> Result<(&'static str, &'static Handling), String> {
    if let Some((own, handling)) = options().get(name) {
        return Ok((own, handling));
    }
    let meant = suggestion(name, options().keys().map(String::as_str));
    let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    Err(format!("{name}: fio has no such option{meant}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_the_table_is_read() {
        let table: toml::Table = toml::from_str(include_str!("options.toml")).expect("is TOML");
        let names: Vec<&String> =
            table.values().filter_map(toml::Value::as_table).flat_map(toml::Table::keys).collect();
        assert!(names.len() > 200, "{}", names.len());
        for name in names {
            assert_eq!(handling(name).map(|(own, _)| own), Ok(name.as_str()));
        }
        assert_eq!(handling("io_limit").map(|(own, _)| own), Ok("io_size"));
        assert!(handling("iodept").is_err_and(|message| message.contains("did you mean `iodepth`")));
    }
}
