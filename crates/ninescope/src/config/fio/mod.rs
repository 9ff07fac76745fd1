//! fio job files: `[global]` sections and jobs, run as fio would run them.
//!
//! `options.toml` says what becomes of each option: equal to fio, noted with its effect, or refused with its line.
//! `sections` reads the text, `values` what stands behind `=`, `files` lays the files of the jobs out on the drive.

mod files;
mod options;
mod sections;
#[cfg(test)]
mod tests;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ninescope_engine::LANES_MAX;
use ninescope_model::Op;
use ninescope_model::units::{Bytes, Duration};
use ninescope_workload::{AddressDistribution, EachPass, JobConfig, RateProcess, SizeRange};

use super::LoadedJobs;
use super::jobs::SectionOrigin;
use crate::error::Error;
use options::{Handling, handling};
use sections::{Section, Setting, sections};

/// What is wrong, with its line.
type Problem = (usize, String);

/// Reads a job file of fio.
///
/// # Errors
/// [`Error::Input`] with file, line and option.
pub fn parse_fio(path: &Path, text: &str) -> Result<LoadedJobs, Error> {
    let at = |(line, message): Problem| Error::Input(format!("{}: line {line}: {message}", path.display()));
    let sections = sections(text).map_err(at)?;
    if sections.is_empty() {
        return Err(Error::Input(format!("{}: the file has no job section, such as [job]", path.display())));
    }
    let mut notes = Notes::default();
    let jobs = sections
        .iter()
        .map(|section| job(section, notes.of(section.name)))
        .collect::<Result<Vec<_>, _>>()
        .map_err(at)?;
    let mut jobs: Vec<Vec<JobConfig>> = jobs
        .iter()
        .zip(&sections)
        .map(|(job, section)| job.copies(LANES_MAX).map_err(|error| at((section.line, error.to_string()))))
        .collect::<Result<_, _>>()?;
    let several = jobs.len() > 1 || jobs[0].len() > 1;
    let exits = sections.iter().find_map(|section| section.setting("exitall"));
    if let Some(setting) = exits.filter(|_| several) {
        return Err(at((setting.line, "exitall: not supported; give every job a runtime".to_owned())));
    }
    let files = files::lay_out(&sections, &mut jobs).map_err(at)?;
    let renamed = tell_apart(&mut jobs);
    let origins = sections.iter().map(origin).collect();
    let mut loaded = LoadedJobs::of_sections(path, text, origins, jobs);
    loaded.notes = files.into_iter().chain(renamed).chain(notes.sentences(sections.len())).collect();
    Ok(loaded)
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

/// Where the keys of a section's job come from, and what is written there.
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
        "rate_iops" => &["write_rate_iops"],
        _ => &[],
    }
}

/// What there is to say about the jobs of a file.
#[derive(Default)]
struct Notes {
    unchanged: Vec<(&'static str, Vec<String>)>,
    effects: BTreeMap<&'static str, (&'static str, Vec<String>)>,
    /// Sentences, each with the jobs that it is about.
    others: Vec<(String, Vec<String>)>,
    /// The job that is being read.
    job: String,
}

impl Notes {
    /// From here on about this job.
    fn of(&mut self, job: &str) -> &mut Self {
        job.clone_into(&mut self.job);
        self
    }

    /// Once, whatever number of jobs it is about.
    fn say(&mut self, sentence: String) {
        Self::add(&mut self.others, sentence, &self.job);
    }

    fn unchanged(&mut self, option: &'static str) {
        Self::add(&mut self.unchanged, option, &self.job);
    }

    fn effect(&mut self, option: &'static str, effect: &'static str) {
        let (_, jobs) = self.effects.entry(option).or_insert((effect, Vec::new()));
        jobs.push(self.job.clone());
    }

    /// A job among those that the same is said of.
    fn add<T: PartialEq>(said: &mut Vec<(T, Vec<String>)>, what: T, job: &str) {
        match said.iter_mut().find(|(other, _)| *other == what) {
            Some((_, jobs)) if jobs.last().is_some_and(|last| last == job) => {}
            Some((_, jobs)) => jobs.push(job.to_owned()),
            None => said.push((what, vec![job.to_owned()])),
        }
    }

    /// Of a file of so many jobs: what is about some of them names those.
    fn sentences(self, jobs_in_all: usize) -> Vec<String> {
        let named = |sentence: &str, jobs: &[String]| match jobs {
            all if all.len() == jobs_in_all => sentence.to_owned(),
            [job] => format!("job {job}: {sentence}"),
            some => format!("jobs {}: {sentence}", some.join(", ")),
        };
        let mut notes: Vec<String> = self.others.iter().map(|(sentence, jobs)| named(sentence, jobs)).collect();
        // Options of one effect and of the same jobs share a sentence.
        let mut by_effect: BTreeMap<(&str, Vec<String>), Vec<&str>> = BTreeMap::new();
        for (option, of) in self.effects {
            by_effect.entry(of).or_default().push(option);
        }
        let effects =
            by_effect.iter().map(|((effect, jobs), options)| (format!("{}: {effect}", options.join(", ")), jobs));
        notes.extend(effects.map(|(sentence, jobs)| named(&sentence, jobs)));
        let mut unchanged: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
        for (option, jobs) in self.unchanged {
            match unchanged.iter_mut().find(|(of, _)| *of == jobs) {
                Some((_, options)) => options.push(option),
                None => unchanged.push((jobs, vec![option])),
            }
        }
        let unchanged = unchanged.iter().map(|(jobs, options)| (jobs, options.join(", ")));
        notes.extend(
            unchanged.map(|(jobs, names)| named(&format!("fio options that change nothing here: {names}"), jobs)),
        );
        notes
    }
}

/// What takes more than one option to know.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each is an option of fio
struct Said {
    /// One size, of all directions or of each.
    bs: Option<SizeRange>,
    range: Option<SizeRange>,
    iodepth: u32,
    io_size: Option<u64>,
    number_ios: Option<u64>,
    runtime: Option<Duration>,
    time_based: bool,
    loops: u64,
    /// Of reads, writes and trims, [requests/s].
    rates: Option<[u64; 3]>,
    /// How many of the reads, writes and trims jump [percent].
    jumps: Option<[u8; 3]>,
    norandommap: bool,
    lfsr: bool,
    /// Passes draw other numbers than the first.
    anew: bool,
    /// Each request is over when it is submitted.
    synchronous: bool,
    /// The smallest request of all directions, whether there are any of them or not.
    smallest: Bytes,
    thinking: Thinking,
}

/// The rests of a job.
#[derive(Default)]
struct Thinking {
    time: Option<Duration>,
    blocks: Option<u64>,
    /// What is issued is counted, not what completes.
    at_issue: bool,
}

/// The job of a section.
fn job(section: &Section<'_>, notes: &mut Notes) -> Result<JobConfig, Problem> {
    let mut job = JobConfig { name: section.name.to_owned(), ..JobConfig::default() };
    let mut said = Said { iodepth: 1, loops: 1, ..Said::default() };
    // As in fio, what is said last holds; that an option exists is asked of each line.
    for setting in &section.settings {
        let wrong = |message: String| (setting.line, format!("{}: {message}", setting.written));
        let handling = handling(setting.key).map_err(wrong)?.1;
        if section.setting(setting.key).is_some_and(|last| last.line != setting.line) {
            continue;
        }
        match handling {
            Handling::Unchanged {} => notes.unchanged(setting.key),
            off if off.is_off(setting.value) => notes.unchanged(setting.key),
            Handling::Refused { instead, .. } => return Err(wrong(format!("not supported; {instead}"))),
            Handling::Noted { effect, .. } => {
                notes.effect(setting.key, effect);
                apply(section, setting, &mut job, &mut said).map_err(wrong)?;
            }
            Handling::Equal {} => apply(section, setting, &mut job, &mut said).map_err(wrong)?,
        }
    }
    let wrong = |message| (section.line, message);
    finish_sizes(&mut job, &mut said).map_err(wrong)?;
    finish_jumps(section, &mut job, &said)?;
    finish_pace(section, &mut job, &mut said, notes)?;
    finish_ends(&mut job, &said);
    say_where_a_mix_ends(&job, &said, notes);
    if said.time_based && job.duration.is_none() {
        notes.say("time_based does nothing without runtime, as in fio".to_owned());
    }
    if job.ramp_time.is_some() && job.requests.is_some() && said.number_ios.is_some() {
        let here = "number_ios counts what is submitted during ramp_time too; fio counts from the end of ramp_time on";
        notes.say(here.to_owned());
    }
    finish_map(&mut job, &said, notes);
    say_what_a_mix_changes(section, &job, notes);
    say_what_ends_beyond(section, &job, &said, notes);
    Ok(job)
}

fn apply(section: &Section<'_>, setting: &Setting<'_>, job: &mut JobConfig, said: &mut Said) -> Result<(), String> {
    use values::{copies, distribution, flag, number, one_file, pattern, percent, ranges, rates, region, size, sizes};
    let value = setting.value;
    match setting.key {
        "rw" => job.rw = pattern(value)?,
        "bs" => said.bs = Some(sizes(&section.by_direction("bs", str::to_owned))?),
        "bssplit" => job.bssplit = Some(values::split(&section.by_direction("bssplit", |size| format!("{size}/100")))?),
        "bsrange" => said.range = Some(ranges(&section.by_direction("bsrange", |size| format!("{size}-{size}")))?),
        "rwmixread" => job.rwmixread = f64::from(percent(value)?),
        "rwmixwrite" => job.rwmixread = f64::from(100 - percent(value)?),
        "iodepth" => said.iodepth = number(value)?,
        "numjobs" => job.numjobs = copies(value)?,
        "nrfiles" => one_file(value)?,
        "offset_increment" => job.offset_increment = Some(Bytes(size(value)?)),
        "stonewall" => job.stonewall = flag(value)?,
        "startdelay" => job.startdelay = Some(values::time(value)?).filter(|delay| delay.0 > 0),
        "ramp_time" => job.ramp_time = Some(values::time(value)?).filter(|ramp| ramp.0 > 0),
        "size" => (job.size, job.size_percent) = region(value)?,
        "offset" => (job.offset, job.offset_percent) = values::begin(value)?,
        "io_size" => said.io_size = Some(size(value)?).filter(|&bytes| bytes > 0),
        "number_ios" => said.number_ios = Some(number(value)?).filter(|&requests| requests > 0),
        "runtime" => said.runtime = Some(values::time(value)?),
        "time_based" => said.time_based = flag(value)?,
        "rate_iops" => said.rates = Some(rates(value)?),
        "rate_process" => {
            job.rate_process = match value {
                "linear" => RateProcess::Linear,
                "poisson" => RateProcess::Poisson,
                _ => return Err(format!("`{value}` is not linear or poisson")),
            }
        }
        "thinktime" => said.thinking.time = Some(values::thinking(value)?).filter(|time| time.0 > 0),
        "thinktime_blocks" => said.thinking.blocks = Some(number(value)?),
        "thinktime_blocks_type" => {
            said.thinking.at_issue = match value {
                "complete" => false,
                "issue" => true,
                _ => return Err(format!("`{value}` is not complete or issue")),
            }
        }
        "random_distribution" => job.random_distribution = distribution(value)?,
        "random_generator" => {
            said.lfsr = match value {
                "lfsr" => true,
                "tausworthe" | "tausworthe64" => false,
                _ => return Err(format!("`{value}` is not tausworthe, tausworthe64 or lfsr")),
            }
        }
        "randrepeat" => said.anew = !matches!(value, "" | "true"),
        "norandommap" => said.norandommap = flag(value)?,
        "percentage_random" => said.jumps = Some(values::shares(value)?),
        "blockalign" => job.blockalign = Some(Bytes(size(value)?)),
        "fsync" | "fdatasync" => job.flush_every = Some(number(value)?).filter(|&every: &u64| every > 0),
        "loops" => said.loops = number::<u64>(value)?.max(1),
        // Those that say where a job works and how it submits, and those that are noted alone.
        _ => {}
    }
    Ok(())
}

/// As in fio: a range or a split says the sizes, wherever `bs` stands.
fn finish_sizes(job: &mut JobConfig, said: &mut Said) -> Result<(), String> {
    if job.bssplit.is_some() && said.range.is_some() {
        return Err("bsrange: bssplit says already which sizes there are".to_owned());
    }
    if job.bssplit.is_none() {
        job.bsrange = said.range.clone().or_else(|| said.bs.clone());
    }
    said.smallest = job.smallest();
    if let Some(size) = only_size_of_split(job) {
        (job.bs, job.bssplit) = (size, None);
    }
    if let Some(size) = job.bsrange.as_ref().and_then(|range| range.only_size(job.rw.ops())) {
        (job.bs, job.bsrange) = (size, None);
    }
    Ok(())
}

/// How many requests jump: one share for all directions that there are.
fn finish_jumps(section: &Section<'_>, job: &mut JobConfig, said: &Said) -> Result<(), Problem> {
    let Some(shares) = said.jumps else { return Ok(()) };
    let of: Vec<u8> = job.rw.ops().iter().map(|&op| shares[op as usize]).collect();
    if let [reads, writes] = of[..]
        && reads != writes
    {
        let line = section.setting("percentage_random").map_or(section.line, |setting| setting.line);
        let problem = format!(
            "percentage_random: {reads} for reads and {writes} for writes is not supported: one share holds for all \
             requests of a job; give a job for each direction"
        );
        return Err((line, problem));
    }
    job.percentage_random = of.first().copied().unwrap_or(100);
    Ok(())
}

/// The size of a split that has one alone, such as 4k/100.
fn only_size_of_split(job: &JobConfig) -> Option<Bytes> {
    job.bssplit.as_ref()?;
    // Of sizes that do not differ the mean is the size.
    let mut sizes = job.rw.ops().iter().map(|&op| job.mean_bytes(op) as u64);
    let first = sizes.next().filter(|_| !job.sizes_of_an_op_differ())?;
    sizes.all(|size| size == first).then_some(Bytes(first))
}

/// Depth, rates and rests.
fn finish_pace(section: &Section<'_>, job: &mut JobConfig, said: &mut Said, notes: &mut Notes) -> Result<(), Problem> {
    let line = |key: &str| section.setting(key).map_or(section.line, |setting| setting.line);
    let wrong = |key: &'static str| move |message: String| (line(key), format!("{key}: {message}"));
    let engine = section.value("ioengine").unwrap_or("psync");
    let synchronous = values::is_synchronous(engine).map_err(wrong("ioengine"))?;
    job.iodepth = said.iodepth;
    said.synchronous = synchronous || (engine == "null" && said.iodepth == 1);
    if synchronous && said.iodepth > 1 {
        let default = if section.setting("ioengine").is_none() { ", fio's default," } else { "" };
        notes.say(format!("ioengine {engine}{default} is synchronous: iodepth {} comes to 1", said.iodepth));
        job.iodepth = 1;
    }
    set_rates(job, said).map_err(wrong("rate_iops"))?;
    let Thinking { time, blocks, at_issue } = said.thinking;
    if time.is_some() {
        if section.setting("ramp_time").is_some() {
            notes.say(
                "thinktime rests during ramp_time too; fio 3.33 makes up for those rests when it begins to measure"
                    .to_owned(),
            );
        }
        if job.iodepth == 1 {
            notes.say(RESTED_AT_THE_END.to_owned());
        }
        (job.thinktime, job.thinktime_blocks) = (time, blocks);
        if at_issue && job.iodepth > 1 {
            let problem = "`issue` is not supported with a depth of more than 1";
            return Err(wrong("thinktime_blocks_type")(problem.to_owned()));
        }
    }
    Ok(())
}

/// Of the directions that there are.
fn set_rates(job: &mut JobConfig, said: &Said) -> Result<(), String> {
    let Some(rates) = said.rates else { return Ok(()) };
    let of: Vec<u64> = job.rw.ops().iter().map(|&op| rates[op as usize]).collect();
    match of[..] {
        [rate] if rate > 0 => job.rate_iops = Some(rate as f64),
        // Reads and writes of a mixed job are held to a rate each.
        [reads, writes] if reads > 0 && writes > 0 => {
            (job.rate_iops, job.write_rate_iops) = (Some(reads as f64), Some(writes as f64));
        }
        [reads, writes] if reads > 0 || writes > 0 => {
            return Err(format!(
                "{reads} for reads and {writes} for writes: a rate of 0, which leaves a direction of a mixed job free, \
                 is not supported; give a job for each direction"
            ));
        }
        _ => return Ok(()),
    }
    // fio makes a linear rate one of bytes: so many requests of the smallest size. A Poisson process counts requests.
    job.rate_by_bytes = job.sizes_of_an_op_differ() && job.rate_process == RateProcess::Linear;
    Ok(())
}

/// Where it ends: the first of its requests, its bytes and its time; its time alone where it is `time_based`.
fn finish_ends(job: &mut JobConfig, said: &Said) {
    if job.numjobs == 1 {
        job.offset_increment = None;
    }
    job.duration = said.runtime.filter(|runtime| runtime.0 > 0);
    if said.time_based && job.duration.is_some() {
        // Such a job is one pass, but a shift register begins the same order again.
        let again = said.lfsr && job.rw.ops().len() == 1 && can_repeat(job);
        job.each_pass = again.then_some(EachPass::Same);
        return;
    }
    job.requests = said.number_ios.map(|requests| requests.saturating_mul(said.loops));
    let Some(bytes) = bytes_in_all(job, said) else {
        // How long the region is, the drive alone knows.
        if said.loops > 1 || job.has_an_end() {
            job.passes = Some(said.loops);
            job.each_pass = (said.loops > 1).then(|| law_of_passes(job, said));
        }
        return;
    };
    let plain = said.io_size.is_none() && said.number_ios.is_none() && said.loops == 1 && job.duration.is_none();
    if plain && !job.sizes_differ() && job.blockalign.is_none() && bytes.is_multiple_of(job.bs.0) {
        return; // The region once.
    }
    if job.sizes_differ() {
        job.io_size = Some(Bytes(bytes));
        return;
    }
    // fio issues the last request whole.
    let in_all = bytes.div_ceil(job.bs.0);
    job.requests = Some(job.requests.map_or(in_all, |requests| requests.min(in_all)));
}

/// How its passes follow each other.
fn law_of_passes(job: &JobConfig, said: &Said) -> EachPass {
    if said.anew || !can_repeat(job) { EachPass::Anew } else { EachPass::Same }
}

/// How many bytes its requests come to, where that is known, and how it passes over its region as often as that takes.
///
/// fio begins passes until there were `loops` of them and `io_size` has no room for another request, and ends within a
/// pass at `io_size` times `loops`.
fn bytes_in_all(job: &mut JobConfig, said: &Said) -> Option<u64> {
    let law = law_of_passes(job, said);
    let in_one = is_in_one_pass(job, said);
    let Some(Bytes(size)) = job.size else {
        // Of a share of the drive, or all of it.
        job.each_pass = said.io_size.filter(|_| !in_one).map(|_| law);
        return said.io_size.map(|bytes| bytes.saturating_mul(said.loops));
    };
    let (least, most) = job.sizes_of_all();
    // Requests of one size are whole. Where they come one beside another, the last of them lies within the region.
    let within = if least == most { size - size % most.0 } else { size }.max(most.0.min(size)).max(1);
    let mut pass = match covers(job, said) {
        true => within,
        false if least == most => size.next_multiple_of(most.0),
        false => size,
    };
    let in_all = size.min(pass);
    let sequential_mix = job.rw.ops().len() > 1 && !job.rw.is_random();
    if said.synchronous && (in_one || sequential_mix) {
        let most = said.io_size.unwrap_or(in_all).saturating_mul(said.loops);
        return Some(passes_of_a_mix(job, said).map_or(most, |bytes| bytes.min(most)));
    }
    let longer = said.io_size.filter(|&bytes| in_one && bytes > size);
    if let Some(bytes) = longer {
        pass = if least == most { bytes.next_multiple_of(most.0) } else { bytes };
    }
    let bytes = match said.io_size {
        None => in_all.saturating_mul(said.loops),
        Some(bytes) => {
            let passes = (bytes.saturating_add(1)).saturating_sub(most.0).div_ceil(pass).max(said.loops);
            bytes.saturating_mul(said.loops).min(pass.saturating_mul(passes))
        }
    };
    if bytes > pass {
        job.each_pass = Some(law);
        job.pass_size = (pass != within).then_some(Bytes(pass));
    }
    Some(bytes)
}

/// How many bytes the passes of a sequential mix come to on average, where `loops` and `io_size` end it behind one of them:
/// with one request in flight each pass ends where one direction has reached the region's end, and none begins once
/// `io_size` is reached.
fn passes_of_a_mix(job: &JobConfig, said: &Said) -> Option<u64> {
    let (Some(Bytes(size)), Some(io_size)) = (job.size, said.io_size) else { return None };
    let sequential_mix = !job.rw.is_random() && !is_of_one_direction(job);
    if !said.synchronous || !sequential_mix || said.loops < 2 || said.time_based {
        return None;
    }
    let reads = job.read_share();
    let pass = size as f64 / reads.max(1.0 - reads);
    let passes = libm::ceil(io_size as f64 / pass).max(said.loops as f64);
    let bytes = (passes * pass) as u64;
    (bytes < io_size.saturating_mul(said.loops)).then_some(bytes)
}

/// Whether random requests beyond `size` belong to one pass. A map that is full ends a pass of fio, and so does a shift
/// register that is through; without one bytes do, which fio counts where requests are in flight: of reads `size`, of the
/// others with `norandommap` `io_size`.
fn is_in_one_pass(job: &JobConfig, said: &Said) -> bool {
    let mapped = is_mapped(job, said) && job.percentage_random == 100;
    let reads_alone = job.rw.ops() == [Op::Read];
    let in_flight = said.norandommap && !reads_alone && !said.lfsr;
    job.rw.is_random() && if said.synchronous { !mapped } else { in_flight }
}

/// Whether a pass of fio ends where the region is full; otherwise when its requests come to the region's length.
fn covers(job: &JobConfig, said: &Said) -> bool {
    let mapped = is_mapped(job, said) && job.percentage_random == 100;
    if job.rw.is_random() { mapped } else { is_of_one_direction(job) }
}

/// Whether there are requests of one direction alone.
fn is_of_one_direction(job: &JobConfig) -> bool {
    let mixed = job.write_rate_iops.is_some() || (job.rwmixread > 0.0 && job.rwmixread < 100.0);
    job.rw.ops().len() == 1 || !mixed
}

/// Whether fio keeps a map of the blocks that came, or a shift register that knows them.
fn is_mapped(job: &JobConfig, said: &Said) -> bool {
    let uniform = job.rw.is_random() && job.random_distribution == AddressDistribution::Uniform;
    // Any use of blockalign turns the map off.
    let aligned = job.blockalign.is_some_and(|align| align != job.bs);
    uniform && (said.lfsr || !(said.norandommap || aligned))
}

/// Whether a pass of fio can be like the one before it: the numbers of `zipf` and `pareto` go on through all of them.
fn can_repeat(job: &JobConfig) -> bool {
    !job.rw.is_random() || !is_skewed(&job.random_distribution)
}

fn is_skewed(law: &AddressDistribution) -> bool {
    matches!(law, AddressDistribution::Zipf(_) | AddressDistribution::Pareto(_))
}

/// What fio's map does to requests of several sizes. None is cut to less than a block of the map, which is the smallest of
/// all directions; how many more that makes is for fio to say.
fn cut_by_a_map(job: &JobConfig, said: &Said) -> String {
    let most = job.mean_request() / said.smallest.0 as f64;
    format!(
        "requests have several sizes; fio cuts them to what its map has left, and so issues more of them, with these sizes \
         up to {most:.1} times as many (198 in place of 171 for 1 MiB of 4k and 8k)"
    )
}

/// Where the rests of fio count that are followed by nothing.
const RESTED_AT_THE_END: &str = "thinktime: with one request in flight fio also rests behind the last one, where thinktime_blocks \
                                 divides their number, and to the end of a rest beyond the runtime, and counts that in its \
                                 rates: 201 ms in place of 100 for 10 requests with 100 ms behind each 5";
/// The same of sizes that are one of each direction.
const ENDED_BY_A_MAP: &str = "reads and writes have sizes of their own; fio ends such a job early, when its map is full \
                              (2,160 requests in place of 3,151 for 16 MiB of 70 % reads of 4k and writes of 8k)";

/// The same of requests that are larger than those of another direction, whether there are any of that one or not.
const ENDED_BY_A_FINER_MAP: &str = "fio ends such a job early: its random map has blocks of the smallest size of all \
                                    directions, also of one that is not used, and the first address behind which none \
                                    is free ends the job, after 72 % of its requests in the mean (396 in place of 512 \
                                    for `rw=randwrite bs=4k,8k size=4m`); with norandommap both issue the same";
/// The same of a shift register.
const ENDED_BY_A_REGISTER: &str = "fio ends a job of lfsr at its first address beyond the file, often at once, where \
                                   requests are larger than the smallest size of all directions, also of one that is \
                                   not used";

/// What fio does to skewed addresses of more than the smallest size.
const ENDED_BEYOND_THE_FILE: &str = "fio ends a job of zipf or pareto with blockalign, or with a size per direction, at its \
                                     first address beyond the file, often at once";
/// The same of a mix.
const LEFT_OUT_BEYOND_THE_FILE: &str = "of a mix of zipf or pareto with blockalign, or with a size per direction, fio \
                                        leaves out the requests whose address lies beyond the file, most of the larger \
                                        ones";

/// What fio does at the end of a region that is no multiple of the requests.
const ENDED_AT_A_PART: &str = "size is no multiple of bs: fio ends such a job, or its pass, at the first request that would \
                               reach beyond size, and here it goes on";
/// The same where requests follow each other in a file that is longer.
const REACHES_BEYOND: &str = "size is no multiple of bs: where the file reaches further, as a device does, fio also issues the \
                              request that begins within size and ends beyond it; here all lie within size";

/// Whether random addresses come once before any comes again.
fn finish_map(job: &mut JobConfig, said: &Said, notes: &mut Notes) {
    let aligned = job.blockalign.is_some_and(|align| align != job.bs);
    if is_skewed(&job.random_distribution) && job.rw.is_random() {
        // fio draws multiples of the smallest size of all directions, and takes them for multiples of the alignment.
        let coarser = job.rw.ops().iter().any(|&op| job.blockalign.unwrap_or(job.least_bytes(op)) > said.smallest);
        if aligned || coarser {
            let what = if job.rw.ops().len() > 1 { LEFT_OUT_BEYOND_THE_FILE } else { ENDED_BEYOND_THE_FILE };
            notes.say(what.to_owned());
        }
    }
    let wanted = is_mapped(job, said);
    say_what_ends_early(job, said, notes);
    job.random_map = wanted && job.can_be_mapped();
    if wanted && !job.random_map {
        let why = match (job.sizes_of_an_op_differ(), job.sizes_differ()) {
            (true, _) => cut_by_a_map(job, said),
            (false, true) if said.time_based && job.duration.is_some() => {
                "reads and writes have sizes of their own".to_owned()
            }
            (false, true) => ENDED_BY_A_MAP.to_owned(),
            (false, false) => "some do not jump".to_owned(),
        };
        notes.say(format!("addresses are drawn anew each time, as with norandommap: {why}"));
    }
}

/// What is about the mix of a job, or about one that it has not.
fn say_what_a_mix_changes(section: &Section<'_>, job: &JobConfig, notes: &mut Notes) {
    let given = |keys: [&'static str; 2]| keys.into_iter().filter(|key| section.setting(key).is_some());
    if let [op] = job.rw.ops() {
        for key in given(["rwmixread", "rwmixwrite"]) {
            notes.say(format!("{key} says nothing of a job of {}s alone, as in fio", op.name()));
        }
    }
    // Each read that comes while as many writes were made is followed by one.
    let writes = 1.0 - job.read_share();
    let Some(every) = job.flush_every.filter(|_| !is_of_one_direction(job) && writes > 0.0) else { return };
    for key in given(["fsync", "fdatasync"]) {
        let more = 1.0 / writes;
        notes.say(format!(
            "{key}: one flush follows every {every} writes, as in fio from 3.38 on; before, fio repeats it after each read until \
             the next write, which makes {more:.1} times as many flushes in the mean"
        ));
    }
}

/// The passes of a sequential mix end by chance.
fn say_where_a_mix_ends(job: &JobConfig, said: &Said, notes: &mut Notes) {
    if passes_of_a_mix(job, said).is_some() {
        notes.say(
            "io_size and loops of a sequential mix: fio ends with the pass in which io_size is reached, and each pass where one \
             direction is through, which is chance; so many bytes are made here as that comes to on average, some 5 % beside \
             those of a single run of fio"
                .to_owned(),
        );
    }
}

/// fio draws places of each direction's own size, and looks for them in a map whose blocks have the smallest of all.
fn say_what_ends_early(job: &JobConfig, said: &Said, notes: &mut Notes) {
    let mapped = is_mapped(job, said) && job.percentage_random == 100;
    if said.time_based && job.duration.is_some() {
        return; // It begins anew.
    }
    if !mapped || job.rw.ops().iter().all(|&op| job.least_bytes(op) == said.smallest) {
        return;
    }
    if said.lfsr {
        notes.say(ENDED_BY_A_REGISTER.to_owned());
    } else if job.sizes_of_an_op_differ() || !job.sizes_differ() {
        notes.say(ENDED_BY_A_FINER_MAP.to_owned());
    }
}

/// Of requests of one size, a whole number of which does not come to the region's length.
fn say_what_ends_beyond(section: &Section<'_>, job: &JobConfig, said: &Said, notes: &mut Notes) {
    let Some(Bytes(size)) = job.size else { return };
    if job.sizes_differ() || size.is_multiple_of(job.bs.0) {
        return;
    }
    let reaches_the_end = said.io_size.is_none_or(|bytes| bytes > size - size % job.bs.0);
    let may_be_longer = section.setting("filename").is_some() && section.value("ioengine") != Some("null");
    if job.rw.is_random() {
        // Skewed addresses are drawn of one place more than there are, the others go on from the last place.
        if is_skewed(&job.random_distribution) || job.percentage_random < 100 {
            notes.say(ENDED_AT_A_PART.to_owned());
        }
    } else if is_of_one_direction(job) && reaches_the_end && may_be_longer {
        notes.say(REACHES_BEYOND.to_owned());
    }
}
