//! Reading drive descriptions: a preset or a file, on top of a base, with single values set on top.

use ninescope_model::named_keys::below_key;
use ninescope_model::suggestion;
use toml::{Table, Value};

use super::DriveConfig;
use super::diagnostics::{in_plain_words, location_of_line, nearest_location, with_nearest, with_suggestion};
use super::keys::drive_keys;
use super::loaded::{LoadedDrive, NO_BASE};
use crate::error::Error;
use crate::policies::policies_with;
use crate::presets::{Preset, preset, presets};

/// The description in `text`. A top-level `base = "preset"` makes it a change of that preset; each of
/// `sets` is `key.path=value` and is applied last.
///
/// # Errors
/// [`Error::Input`] with origin, line and key.
pub fn load_drive(origin: &str, text: &str, sets: &[String]) -> Result<LoadedDrive, Error> {
    let in_origin = |message: String| Error::Input(format!("{origin}: {message}"));
    let mut table: Table = toml::from_str(text).map_err(|error| in_origin(with_suggestion(&error.to_string())))?;
    let has_base = table.contains_key("base");
    let read = |table: &Table| {
        DriveConfig::deserialize_of_file(table)
            .map_err(|error| in_origin(if has_base { error } else { error.of_whole_drive() }.in_text(text)))
    };
    let mut summary = Summary { is_own: table.contains_key(SUMMARY), name: name_of(origin).to_owned(), of: None };
    if let Some(base) = table.remove("base") {
        let name = base.as_str().ok_or_else(|| in_origin("base must be the name of a preset".into()))?;
        let base = preset(name).ok_or_else(|| in_origin(unknown_base(name)))?;
        let mut merged = preset_table(base)?;
        if !summary.is_own {
            (summary.name, summary.of) = (name.to_owned(), Some(DriveConfig::of_preset(&merged)?));
        }
        forget_ratio_for_capacity(&mut merged, &table);
        let was = in_full(&DriveConfig::of_preset(&merged)?)?;
        merge(&mut merged, table);
        table = merged;
        let is = read(&table)?;
        forget_sources(&mut table, &was, &in_full(&is)?);
    } else if table.is_empty() {
        return Err(in_origin("the file is empty; `base = \"tlc\"` takes everything from a preset".into()));
    }
    if !sets.is_empty() {
        // With every default written out, so that one parameter of a default policy can be set alone.
        let config = read(&table)?;
        summary.of.get_or_insert_with(|| config.clone());
        table = in_full(&config)?;
    }
    apply_sets(&mut table, sets)?;
    let mut config = read(&table)?;
    if !sets.iter().any(|set| set.split('=').next().is_some_and(|key| key.trim() == SUMMARY)) {
        summary.put_on(&mut config)?;
    }
    let loaded = LoadedDrive { config, origin: origin.to_owned(), text: text.to_owned(), sets: sets.to_vec() };
    check_sources(&loaded)?;
    Ok(loaded)
}

/// A description with every default written out.
fn in_full(config: &DriveConfig) -> Result<Table, Error> {
    Table::try_from(config).map_err(|error| Error::Internal(error.to_string()))
}

/// Takes out of `table` the sources of values that were changed, unless the change brought sources of its own: where a value
/// came from says nothing of another one.
fn forget_sources(table: &mut Table, was: &Table, is: &Table) {
    let Some(Value::Table(before)) = was.get(SOURCES) else { return };
    let Some(Value::Table(sources)) = table.get_mut(SOURCES) else { return };
    sources.retain(|key, source| before.get(key) != Some(source) || value_at(was, key) == value_at(is, key));
}

/// The value of a key such as "nand.read".
fn value_at<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    let mut parts = key.split('.');
    let first = table.get(parts.next()?);
    parts.try_fold(first?, |at, part| at.get(part))
}

/// The key of what a drive's values were taken from.
const SOURCES: &str = "sources";

/// The key of a drive's summary.
const SUMMARY: &str = "summary";

/// What a drive's summary was written for.
struct Summary {
    /// The file has one of its own.
    is_own: bool,
    /// What it is a summary of.
    name: String,
    /// The drive that it was written for, if the description may have changed it.
    of: Option<DriveConfig>,
}

impl Summary {
    /// Leaves the summary to a drive that is as its summary says, and gives another to one that was changed.
    fn put_on(&self, config: &mut DriveConfig) -> Result<(), Error> {
        let Some(of) = &self.of else { return Ok(()) };
        let (was, is) = (in_full(of)?, in_full(config)?);
        let mut changed: Vec<&str> = was.keys().chain(is.keys()).map(String::as_str).collect();
        changed.sort_unstable();
        changed.dedup();
        changed.retain(|&key| ![SUMMARY, SOURCES].contains(&key) && was.get(key) != is.get(key));
        if !changed.is_empty() {
            let changed = changed.join(", ");
            config.summary = format!("{}, with changes in {changed}", self.name);
            if let Some(source) = config.sources.get_mut(SUMMARY) {
                *source = format!("before changes in {changed}: {source}");
            }
        }
        Ok(())
    }
}

/// What a drive is called that comes from a file or a preset.
fn name_of(origin: &str) -> &str {
    let path = std::path::Path::new(origin.strip_prefix("preset ").unwrap_or(origin));
    path.file_stem().and_then(std::ffi::OsStr::to_str).unwrap_or(origin)
}

/// A preset with everything it takes from its own base. Presets do not name each other in a circle: a test loads
/// all of them.
fn preset_table(of: &Preset) -> Result<Table, Error> {
    let mut table: Table = toml::from_str(of.toml).map_err(|error| Error::Internal(error.to_string()))?;
    let Some(base) = table.remove("base") else { return Ok(table) };
    let base = base.as_str().and_then(preset);
    let base = base.ok_or_else(|| Error::Internal(format!("preset {} has an unknown base", of.name)))?;
    let mut merged = preset_table(base)?;
    merge(&mut merged, table);
    Ok(merged)
}

/// What is wrong with which key.
struct KeyError {
    /// "table.name", empty for the whole.
    key: String,
    /// With the key.
    message: String,
}

impl KeyError {
    /// A key that others need is not there.
    fn is_missing(&self) -> bool {
        self.message.ends_with(" is missing")
    }

    /// What is missing in a drive of no base may be what somebody thought a preset would give.
    fn of_whole_drive(mut self) -> Self {
        if self.is_missing() {
            self.message = format!("{}; {NO_BASE}", self.message);
        }
        self
    }

    /// In words, with the line of the key where `text` has one, or of what holds it.
    fn in_text(&self, text: &str) -> String {
        format!("{}{}", self.message, nearest_location(text, self.key.split('[').next().unwrap_or_default()))
    }
}

/// Refuses a key of the table [sources] that is none of a drive.
fn check_sources(drive: &LoadedDrive) -> Result<(), Error> {
    let (sources, text) = (&drive.config.sources, &drive.text);
    let known = if sources.is_empty() { &[] } else { drive_keys() };
    let Some(unknown) = sources.keys().find(|key| !known.contains(key)) else { return Ok(()) };
    let meant = suggestion(unknown, known.iter().map(String::as_str)).map(str::to_owned);
    let meant = meant.or_else(|| elsewhere(unknown, known));
    let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    let is_key = |line: &str| {
        line.trim_start()
            .trim_start_matches(['"', '\''])
            .strip_prefix(unknown)
            .is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with('='))
    };
    let line = text.lines().position(is_key).map(|index| location_of_line(text, index + 1)).unwrap_or_default();
    let set = drive.set_of(&format!("sources.{unknown}")).map(|set| format!("--set {set}"));
    let origin = set.as_ref().unwrap_or(&drive.origin);
    Err(Error::Input(format!("{origin}: sources: no key of a drive is called `{unknown}`{meant}{line}")))
}

/// The keys of other tables that are called `word`, or with all their tables so (`nand_read`).
fn elsewhere(word: &str, known: &[String]) -> Option<String> {
    let is_it =
        |key: &&String| key.contains('.') && (key.rsplit('.').next() == Some(word) || key.replace('.', "_") == word);
    let mut found: Vec<&str> = known.iter().filter(is_it).map(String::as_str).collect();
    // The uppermost: parameters of policies are called alike.
    let least = found.iter().map(|key| key.matches('.').count()).min()?;
    found.retain(|key| key.matches('.').count() == least);
    Some(found.join("` or `"))
}

/// What a key that is `typed` with its tables, and that its table does not have, may mean: one of its own that is near,
/// or one of another table. Beside the keys of a drive, a file has `others` on top.
fn nearest_key(typed: &str, word: &str, known: &[&str], others: &[&str]) -> Option<String> {
    let keys: Vec<String> = drive_keys().iter().filter(|key| *key != typed).cloned().collect();
    let others = if typed == word { others } else { &[] };
    let near = || suggestion(word, known.iter().chain(others).copied()).map(str::to_owned);
    let near_elsewhere = || {
        let names = keys.iter().filter_map(|key| key.rsplit('.').next());
        let spelled = keys.iter().map(|key| key.replace('.', "_")).collect::<Vec<_>>();
        let meant = suggestion(word, names.chain(spelled.iter().map(String::as_str)))?;
        elsewhere(meant, &keys)
    };
    elsewhere(word, &keys).or_else(near).or_else(near_elsewhere)
}

/// What is wrong with a parameter that other policies have than the one that `drive` chooses.
fn of_another_policy(drive: &Value, key: &str) -> Option<String> {
    let (registry, parameter) = key.rsplit_once('.')?;
    let policy = registry.split('.').try_fold(drive, |table, key| table.get(key))?;
    let chosen = policy.as_str().or_else(|| policy.get("policy")?.as_str())?;
    let others = policies_with(registry, parameter);
    let is_of_others = !others.is_empty() && !others.contains(&chosen);
    is_of_others.then(|| format!("{key}: `{parameter}` is a parameter of {}, not of {chosen}", others.join(" and ")))
}

/// What is wrong with a table of parameters that chooses no policy, of which some policies have the first.
fn without_policy(drive: &Value, registry: &str) -> Option<String> {
    let table = registry.split('.').try_fold(drive, |table, key| table.get(key))?.as_table()?;
    let (parameter, _) = table.iter().next()?;
    let with = policies_with(registry, parameter);
    let names = with.join("` or `");
    (!with.is_empty())
        .then(|| format!("{registry}.{parameter}: is a parameter of `{names}`: give {registry}.policy, too"))
}

impl DriveConfig {
    /// Of a preset's table.
    fn of_preset(table: &Table) -> Result<Self, Error> {
        Self::deserialize_named(table).map_err(|error| Error::Internal(error.message))
    }

    /// Of a file, in which `base` is a key as well: it is read before the others are.
    fn deserialize_of_file(table: &Table) -> Result<Self, KeyError> {
        Self::deserialize_beside(table, &["base"])
    }

    fn deserialize_named(table: &Table) -> Result<Self, KeyError> {
        Self::deserialize_beside(table, &[])
    }

    fn deserialize_beside(table: &Table, others: &[&str]) -> Result<Self, KeyError> {
        let drive = Value::Table(table.clone());
        serde_path_to_error::deserialize(drive.clone()).map_err(|error| {
            let path = error.path().to_string();
            // The lines after the first repeat the path.
            let inner = error.inner().to_string();
            let message = below_key(&path, inner.lines().next().unwrap_or_default());
            let key = message.split(": ").next().filter(|key| key.starts_with(&path)).unwrap_or(&path);
            let policy = if message.contains("unknown field `") {
                of_another_policy(&drive, key)
            } else if message.contains("missing field `policy`") {
                without_policy(&drive, key)
            } else {
                None
            };
            // Names of a value are no keys: of these one of the others may be meant, and no key that is like it.
            let is_name = message.contains("unknown variant `");
            let nearest = || {
                with_nearest(&message, |word, known| {
                    if is_name {
                        suggestion(word, known.iter().copied()).map(str::to_owned)
                    } else {
                        nearest_key(key, word, known, others)
                    }
                })
            };
            KeyError {
                key: if path == "." { String::new() } else { key.to_owned() },
                message: in_plain_words(&policy.unwrap_or_else(nearest)),
            }
        })
    }
}

/// What is wrong with a base that there is not. A drive is one text, which names no other files.
fn unknown_base(name: &str) -> String {
    if name.contains(['/', '\\']) || std::path::Path::new(name).extension().is_some_and(|ending| ending == "toml") {
        let names: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
        return format!(
            "base: `{name}` is a file, and a base is one of the presets: {}; to change a drive of your own, give its \
             file and each change with --set",
            names.join(", ")
        );
    }
    unknown_preset(name)
}

pub(crate) fn unknown_preset(name: &str) -> String {
    let names: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
    let meant = suggestion(name, names.iter().copied()).map(|meant| format!(" Did you mean `{meant}`?"));
    format!("there is no preset `{name}`; there are {}.{}", names.join(", "), meant.unwrap_or_default())
}

/// A capacity of SCM that is given replaces a ratio that was inherited, as a ratio replaces any capacity.
fn forget_ratio_for_capacity(base: &mut Table, change: &Table) {
    let gives = |section: &str, key: &str| {
        change.get(section).and_then(Value::as_table).is_some_and(|table| table.contains_key(key))
    };
    if gives("scm", "capacity") && !gives("tier", "scm_ratio") {
        forget_ratio(base);
    }
}

fn forget_ratio(drive: &mut Table) {
    if let Some(tier) = drive.get_mut("tier").and_then(Value::as_table_mut) {
        tier.remove("scm_ratio");
    }
}

fn merge(base: &mut Table, change: Table) {
    for (key, value) in change {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(change)) if !change.contains_key("policy") => merge(inner, change),
            (_, value) => drop(base.insert(key, value)),
        }
    }
}

/// A policy that is chosen by its name alone keeps the parameters that it has, and none that other policies have.
fn forget_parameters_of_others(policy: &mut Table, registry: &str) {
    let Some(chosen) = policy.get("policy").and_then(Value::as_str).map(str::to_owned) else { return };
    policy.retain(|key, _| {
        let of = policies_with(registry, key);
        key == "policy" || of.is_empty() || of.contains(&chosen.as_str())
    });
}

/// Sets one value after the other. What lacks a key waits for those after it, which may bring it: a table such as [dram] is
/// right with all of its keys alone.
fn apply_sets(table: &mut Table, sets: &[String]) -> Result<(), Error> {
    let in_set = |set: &str, error: &KeyError| Error::Input(format!("--set {set}: {}", error.message));
    let mut was = table.clone();
    let mut lacking: Option<(&str, KeyError)> = None;
    for (set, index) in sets.iter().zip(1..) {
        apply_set(table, set)?;
        match DriveConfig::deserialize_named(table) {
            Ok(is) => {
                forget_sources(table, &was, &in_full(&is)?);
                was.clone_from(table);
                lacking = None;
            }
            Err(error) if !error.is_missing() => {
                // It may have been hidden behind what was missing.
                let mut hidden = sets[..index].iter().rev().filter(|_| lacking.is_some());
                let at_fault = hidden.find(|set| top_table(set) == top_table(&error.key)).unwrap_or(set);
                return Err(in_set(at_fault, &error));
            }
            // Of several that lack the same, the first one began it.
            Err(error) if lacking.as_ref().is_some_and(|(_, before)| before.message == error.message) => {}
            Err(error) => lacking = Some((set, error)),
        }
    }
    lacking.map_or(Ok(()), |(set, error)| Err(in_set(set, &error)))
}

/// The first of the tables that a key, or what sets it, names.
fn top_table(key: &str) -> &str {
    key.split(['.', '=', '[']).next().unwrap_or_default().trim()
}

/// Sets one value: a TOML value, or a string that needs no quotes ("45us", "fifo").
fn apply_set(table: &mut Table, set: &str) -> Result<(), Error> {
    let bad = |message: &str| Error::Input(format!("--set {set}: {message}"));
    let (path, text) =
        set.split_once('=').ok_or_else(|| bad("must be key=value, such as ftl.over_provisioning=0.1"))?;
    let value = toml::from_str::<Table>(&format!("value = {text}")).ok().and_then(|mut table| table.remove("value"));
    if value.is_none() && text.trim_start().starts_with(['[', '{']) {
        return Err(bad("is no list or table of TOML; texts within are quoted, as in [\"45us\", \"60us\"]"));
    }
    let value = value.unwrap_or_else(|| Value::String(text.trim().to_owned()));
    let mut keys: Vec<&str> = path.trim().split('.').collect();
    let last = keys.pop().filter(|last| !last.is_empty()).ok_or_else(|| bad("the key is empty"))?;
    let mut inner = &mut *table;
    for key in keys {
        let entry = inner.entry(key).or_insert_with(|| Value::Table(Table::new()));
        // A policy given by its name alone becomes a table when a parameter is set.
        if let Value::String(policy) = entry {
            *entry = Value::Table(Table::from_iter([("policy".to_owned(), Value::String(policy.clone()))]));
        }
        inner = entry.as_table_mut().ok_or_else(|| bad(&format!("`{key}` holds a value, not a table")))?;
    }
    inner.insert(last.to_owned(), value);
    if let Some(registry) = path.trim().strip_suffix(".policy") {
        forget_parameters_of_others(inner, registry);
    }
    if path.trim() == "scm.capacity" {
        forget_ratio(table);
    }
    Ok(())
}
