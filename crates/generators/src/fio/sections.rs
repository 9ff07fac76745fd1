//! The sections of a job file: each job with what the global sections before it say.

use super::Problem;
use super::options::handling;

/// One line `key=value`; a bare key has no value.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// Its line, from 1.
    pub line: usize,
    /// The option, by its own name.
    pub key: &'static str,
    /// As it is written.
    pub written: &'a str,
    pub value: &'a str,
}

/// A job.
pub struct Section<'a> {
    /// Its header's line, from 1.
    pub line: usize,
    pub name: &'a str,
    /// What the global sections before it say, then what it says itself; what comes last holds.
    pub settings: Vec<Setting<'a>>,
    /// How many of the settings are global.
    pub global: usize,
}

impl<'a> Section<'a> {
    /// The setting of an option that holds.
    pub fn setting(&self, key: &str) -> Option<&Setting<'a>> {
        self.settings.iter().rev().find(|setting| setting.key == key)
    }

    /// The value of an option that holds.
    pub fn value(&self, key: &str) -> Option<&'a str> {
        self.setting(key).map(|setting| setting.value)
    }

    /// The value of an option that says sizes, by direction after commas: what is left out is as the lines before say, and
    /// where these say nothing, of the size that `bs` says, written as `of_size` writes it.
    pub fn by_direction(&self, key: &str, of_size: impl Fn(&str) -> String) -> String {
        let value = self.value(key).unwrap_or_default();
        let parts = value.split(',').count();
        if parts > 3 || value.split(',').all(|part| !part.trim().is_empty()) {
            return value.to_owned();
        }
        let sizes = self.filled("bs", ["4k"; 3].map(str::to_owned));
        self.filled(key, sizes.map(|size| of_size(&size))).join(",")
    }

    /// The values of an option by direction, in the place of those `before`.
    fn filled(&self, key: &str, mut before: [String; 3]) -> [String; 3] {
        for setting in self.settings.iter().filter(|setting| setting.key == key) {
            let parts: Vec<&str> = setting.value.split(',').map(str::trim).collect();
            // A last value holds for the directions behind it too.
            let values = parts.iter().chain(std::iter::repeat(parts.last().unwrap_or(&"")));
            for (direction, value) in before.iter_mut().zip(values).filter(|(_, value)| !value.is_empty()) {
                (*value).clone_into(direction);
            }
        }
        before
    }
}

/// The jobs of a file.
pub fn sections(text: &str) -> Result<Vec<Section<'_>>, Problem> {
    let mut global: Vec<Setting<'_>> = Vec::new();
    let mut jobs: Vec<Section<'_>> = Vec::new();
    let mut inside: Option<bool> = None; // of the global section
    for (index, line) in text.lines().enumerate() {
        // A comment may stand behind anything.
        let (number, line) = (index + 1, line.split(['#', ';']).next().unwrap_or_default().trim());
        if line.is_empty() {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.strip_suffix(']').filter(|name| !name.trim().is_empty());
            let name = name.ok_or_else(|| (number, format!("`{line}` is no section")))?.trim();
            inside = Some(name == "global");
            if name != "global" {
                jobs.push(Section { line: number, name, settings: global.clone(), global: global.len() });
            }
            continue;
        }
        let setting = setting(number, line)?;
        match (inside, jobs.last_mut()) {
            (Some(true), _) => global.push(setting),
            (Some(false), Some(job)) => job.settings.push(setting),
            _ => return Err((number, format!("`{}` stands before the first section", setting.written))),
        }
    }
    Ok(jobs)
}

/// Options that fio takes without a value.
#[rustfmt::skip]
const ALONE: [&str; 24] = [
    "bs_unaligned", "norandommap", "time_based", "stonewall", "exitall", "exitall_on_error", "group_reporting",
    "new_group", "thread", "replay_skip", "verify_only", "verify_pattern", "verify_async_cpus", "zero_buffers",
    "refill_buffers", "buffer_pattern", "cpus_allowed", "numa_cpu_nodes", "write_bw_log", "write_lat_log",
    "write_hist_log", "write_iops_log", "log_compression_cpus", "ignore_error",
];

/// Options whose values are texts, in which blanks are blanks.
const OF_TEXT: [&str; 3] = ["filename", "directory", "description"];

/// Whether a part of a value, as it stands behind `=`, begins with a blank and is more than digits.
fn has_blank_before_more_than_a_number(value: &str) -> bool {
    let is_more = |part: &str| part.trim().bytes().any(|byte| !byte.is_ascii_digit());
    value.trim_end().split([',', ':', '/']).any(|part| part.starts_with(char::is_whitespace) && is_more(part))
}

fn setting(number: usize, line: &str) -> Result<Setting<'_>, Problem> {
    let (written, given) = line.split_once('=').map_or((line, None), |(written, value)| (written, Some(value)));
    let (written, value) = (written.trim(), given.unwrap_or_default().trim());
    if let Some((word, _)) = line.split_once(char::is_whitespace).filter(|(word, _)| *word == "include") {
        let problem = format!("{word}: not supported; copy the file's options here");
        return Err((number, problem));
    }
    let (key, handling) = handling(written).map_err(|problem| (number, problem))?;
    if value.is_empty() && (given.is_some() || !ALONE.contains(&key)) {
        return Err((number, format!("{written}: fio wants a value")));
    }
    if value.contains('$') {
        return Err((number, format!("{written}: the variables of `{value}` are not read; write the value")));
    }
    if !OF_TEXT.contains(&key) && !handling.is_off(value) && given.is_some_and(has_blank_before_more_than_a_number) {
        let without: String = value.split_whitespace().collect();
        let problem = format!(
            "`{line}`: of what begins with a blank fio reads the bare number, without its unit, or nothing at all; write \
             `{written}={without}`"
        );
        return Err((number, problem));
    }
    Ok(Setting { line: number, key, written, value })
}
