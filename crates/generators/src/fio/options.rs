//! What becomes of each option of fio: the table `options.toml`, which the docs and the comparison with fio read too.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use ninescope_model::suggestion;
use serde::Deserialize;

use super::values::{size, time};

/// What becomes of an option.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "is", rename_all = "lowercase")]
pub enum Handling {
    /// What is issued is what fio issues.
    Equal {},
    /// It changes nothing in what fio issues.
    Unchanged {},
    /// It is taken, with an effect that fio's does not have, or without one that fio's has.
    Noted {
        effect: String,
        #[serde(default)]
        off: Vec<String>,
    },
    /// The file is refused.
    Refused {
        instead: String,
        #[serde(default)]
        off: Vec<String>,
    },
}

impl Handling {
    /// Whether a value asks for nothing, so that fio issues the same with and without it.
    pub fn is_off(&self, value: &str) -> bool {
        let (Self::Noted { off, .. } | Self::Refused { off, .. }) = self else { return false };
        off.iter().any(|off| off == value || (off == "0" && is_nothing(value)))
    }
}

/// Of each direction: no size, no count, no time.
fn is_nothing(value: &str) -> bool {
    let nothing = |part: &str| size(part) == Ok(0) || time(part).is_ok_and(|time| time.0 == 0);
    value.split(',').all(|part| nothing(part.trim()))
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
    Err(format!("{name}: fio has no such option (those of single engines are not read){meant}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_many_spellings() {
        let is_off = |name: &str, value: &str| handling(name).expect(name).1.is_off(value);
        for nothing in ["0", "0k", "0,0", "0, 0m"] {
            assert!(is_off("rate", nothing), "{nothing}");
        }
        assert!(is_off("latency_target", "0us") && is_off("sync", "none") && is_off("buffered", "0"));
        for something in ["", "1", "0,1", "0,", "none", "k", "00x"] {
            assert!(!is_off("rate", something), "{something}");
        }
        assert!(!is_off("sync", "dsync") && !is_off("direct", "0") && !is_off("size", "0"));
    }

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
