//! Job files of fio: `[global]` sections and jobs, run as fio would run them.
//!
//! `options.toml` says what becomes of each option: equal to fio, noted with its effect, or refused with its line.
//! `sections` reads the text, `values` what stands behind `=`, `job` makes the job of a section, of which `passes` says
//! where it ends and `unlike` where fio does otherwise; `files` lays the files of the jobs out on the drive.

mod files;
mod job;
mod notes;
mod options;
mod passes;
mod said;
mod sections;
#[cfg(test)]
mod tests;
mod unlike;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use ninescope_model::LANES_MAX;

use crate::JobConfig;
use notes::Notes;
use sections::{Section, Setting, sections};

/// What is wrong, with its line.
type Problem = (usize, String);

/// A job file of fio.
#[derive(Clone, Debug, PartialEq)]
pub struct FioFile {
    /// The jobs, section by section.
    pub sections: Vec<FioSection>,
    /// What was ignored, and what is meant otherwise than in the file's own words.
    pub notes: Vec<String>,
}

/// A job section of a file of fio.
#[derive(Clone, Debug, PartialEq)]
pub struct FioSection {
    /// What it stands for: its job, and the copies of that.
    pub jobs: Vec<JobConfig>,
    /// Where their keys come from.
    pub origin: SectionOrigin,
}

/// Where the keys of a section's jobs come from, and what is written there.
#[derive(Clone, Debug, PartialEq)]
pub struct SectionOrigin {
    /// The section's name.
    pub name: String,
    /// The line of its header, from 1.
    pub line: usize,
    /// The lines that decide the keys of the job, from 1.
    pub lines: BTreeMap<&'static str, usize>,
    /// What the global sections say, and the section itself, as written.
    pub global: BTreeMap<String, String>,
    /// What the section says itself, as written.
    pub own: BTreeMap<String, String>,
}

/// What is wrong with a job file of fio.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioError {
    /// Where, from 1; none where it is about the file.
    pub line: Option<usize>,
    /// What is wrong, with the option.
    pub problem: String,
}

impl From<Problem> for FioError {
    fn from((line, problem): Problem) -> Self {
        Self { line: Some(line), problem }
    }
}

impl fmt::Display for FioError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "line {line}: {}", self.problem),
            None => formatter.write_str(&self.problem),
        }
    }
}

/// Reads a job file of fio.
///
/// # Errors
/// With line and option.
pub fn read(text: &str) -> Result<FioFile, FioError> {
    let sections = sections(text)?;
    if sections.is_empty() {
        return Err(FioError { line: None, problem: "the file has no job section, such as [job]".to_owned() });
    }
    let mut notes = Notes::default();
    let named = names_told_apart(&sections);
    let described = sections.iter().zip(&named).map(|(section, name)| job::job(section, notes.of(name)));
    let described = described.collect::<Result<Vec<_>, _>>()?;
    let mut jobs = Vec::new();
    for (job, section) in described.iter().zip(&sections) {
        jobs.push(job.copies(LANES_MAX).map_err(|error| (section.line, error.to_string()))?);
    }
    let several = jobs.len() > 1 || jobs[0].len() > 1;
    let exits = sections.iter().find_map(|section| section.setting("exitall"));
    if let Some(setting) = exits.filter(|_| several) {
        return Err((setting.line, "exitall: not supported; give every job a runtime".to_owned()).into());
    }
    let files = files::lay_out(&sections, &mut jobs)?;
    let renamed = tell_apart(&mut jobs);
    let notes = files.into_iter().chain(renamed).chain(notes.sentences(sections.len())).collect();
    let with_jobs = |(section, jobs): (&Section<'_>, Vec<JobConfig>)| FioSection { jobs, origin: origin(section) };
    Ok(FioFile { sections: sections.iter().zip(jobs).map(with_jobs).collect(), notes })
}

/// What notes call each section: as [`tell_apart`] calls its job where that is one alone.
fn names_told_apart(sections: &[Section<'_>]) -> Vec<String> {
    let of_file: BTreeSet<&str> = sections.iter().map(|section| section.name).collect();
    let mut taken = BTreeSet::new();
    let mut named = Vec::new();
    for Section { name, .. } in sections {
        let others = (2..).map(|number| format!("{name}-{number}")).filter(|other| !of_file.contains(other.as_str()));
        let free = std::iter::once((*name).to_owned()).chain(others).find(|name| taken.insert(name.clone()));
        named.push(free.unwrap_or_default());
    }
    named
}

/// Gives jobs of one name, which fio takes, names of their own: random numbers depend on them. Returns what is to be said.
fn tell_apart(jobs: &mut [Vec<JobConfig>]) -> Option<String> {
    let mut taken: BTreeSet<String> = jobs.iter().flatten().map(|job| job.name.clone()).collect();
    let (mut seen, mut said) = (BTreeSet::new(), Vec::new());
    for job in jobs.iter_mut().flatten().filter(|job| !seen.insert(job.name.clone())) {
        let mut names = (2..).map(|number| format!("{}-{number}", job.name));
        let Some(name) = names.find(|name| !taken.contains(name)) else { continue };
        said.push(format!("another job `{}` is called `{name}` here", job.name));
        taken.insert(name.clone());
        job.name = name;
    }
    (!said.is_empty()).then(|| said.join("; "))
}

/// Where the keys of a section's jobs come from.
fn origin(section: &Section<'_>) -> SectionOrigin {
    let mut lines = BTreeMap::new();
    for setting in &section.settings {
        for key in keys_of(setting.key) {
            lines.insert(*key, setting.line);
        }
        lines.insert(setting.key, setting.line);
    }
    let written = |settings: &[Setting<'_>]| -> BTreeMap<String, String> {
        settings.iter().map(|setting| (setting.written.to_owned(), setting.value.to_owned())).collect()
    };
    let (global, own) = section.settings.split_at(section.global);
    let (global, own) = (written(global), written(own));
    SectionOrigin { name: section.name.to_owned(), line: section.line, lines, global, own }
}

/// The keys of a [`JobConfig`] that an option decides, where they are called otherwise.
fn keys_of(option: &str) -> &'static [&'static str] {
    match option {
        "bsrange" | "bssplit" => &["bs"],
        "size" => &["size_percent"],
        "offset" => &["offset_percent"],
        "runtime" => &["duration"],
        "number_ios" | "loops" => &["requests"],
        "randrepeat" => &["each_pass"],
        "fsync" | "fdatasync" => &["flush_every"],
        "sync" | "writefua" => &["fua"],
        "rate_iops" => &["write_rate_iops"],
        "rate" => &["write_rate", "rate_iops", "write_rate_iops"],
        _ => &[],
    }
}
