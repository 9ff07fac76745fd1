//! fio job files: `[global]` sections and jobs, in the options that have a meaning on a simulated drive.
//!
//! What changes nothing here (engines, file names, reporting) is listed in notes; what would change the workload and
//! is not simulated is refused, with its line. Sizes and times are fio's: k is 1024, and a bare time is seconds.

use std::path::Path;

use ninescope_engine::LANES_MAX;
use ninescope_model::units::{Bytes, Duration};
use ninescope_workload::{AccessPattern, JobConfig, RateProcess, SizeRange};

use super::LoadedJobs;
use super::diagnostics::suggestion;
use crate::error::Error;

/// Options that change nothing on a simulated drive.
const IGNORED: &[&str] = &[
    "ioengine",
    "direct",
    "buffered",
    "filename",
    "directory",
    "group_reporting",
    "thread",
    "invalidate",
    "randrepeat",
    "allrandrepeat",
    "random_generator",
    "refill_buffers",
    "scramble_buffers",
    "buffer_compress_percentage",
    "zero_buffers",
    "end_fsync",
    "fallocate",
    "create_on_open",
    "unlink",
    "overwrite",
    "name",
    "description",
    "per_job_logs",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "log_avg_msec",
    "lat_percentiles",
    "clat_percentiles",
    "percentile_list",
    "disable_clat",
    "disable_slat",
    "disable_lat",
    "gtod_reduce",
    "cpus_allowed",
    "cpus_allowed_policy",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "prio",
    "nice",
    "hipri",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
    "exitall",
    "unified_rw_reporting",
    "norandommap",
    "softrandommap",
    "new_group",
];

/// Options that would change the workload, and what to do instead.
const REFUSED: &[(&str, &str)] = &[
    ("randseed", "leave it out, and give --seed"),
    ("rate", "give rate_iops, the rate in requests"),
    ("include", "copy the file's options here"),
    ("thinktime", "requests of a job follow each other at once, or at the rate of rate_iops"),
    ("verify", "--check full verifies what every read returns"),
    ("rwmixcycle", "the mix is drawn by rwmixread alone"),
    ("sequence", "every sequential request follows the one before it"),
    ("read_iolog", "run the trace itself: ninescope run TRACE"),
    ("file_service_type", "there is one drive"),
    ("kb_base", "sizes are in units of 1024, which is fio's default"),
];

/// Options that are read.
const READ: &[&str] = &[
    "rw",
    "readwrite",
    "bs",
    "blocksize",
    "bssplit",
    "rwmixread",
    "rwmixwrite",
    "iodepth",
    "numjobs",
    "size",
    "offset",
    "io_size",
    "io_limit",
    "number_ios",
    "runtime",
    "timeout",
    "time_based",
    "rate_iops",
    "rate_process",
    "random_distribution",
    "percentage_random",
    "ba",
    "blockalign",
    "fsync",
    "fdatasync",
    "loops",
    "bsrange",
    "blocksize_range",
    "ramp_time",
    "startdelay",
    "start_delay",
    "stonewall",
    "wait_for_previous",
    "offset_increment",
];

/// One line `key=value`; a bare key has no value.
#[derive(Clone, Copy)]
struct Setting<'a> {
    line: usize,
    key: &'a str,
    value: &'a str,
}

struct Section<'a> {
    line: usize,
    name: &'a str,
    settings: Vec<Setting<'a>>,
}

/// What takes more than one option to know.
#[derive(Default)]
struct Limits {
    io_size: Option<u64>,
    number_ios: Option<u64>,
    runtime: Option<Duration>,
    time_based: bool,
    loops: u64,
    /// Of reads, writes and trims, [requests/s].
    rates: Option<[u64; 3]>,
}

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
    let jobs = sections.iter().map(|section| job(section, &mut notes)).collect::<Result<Vec<_>, _>>().map_err(at)?;
    let several = jobs.len() > 1 || jobs[0].numjobs > 1;
    let exits = sections.iter().flat_map(|section| &section.settings).find(|setting| setting.key == "exitall");
    if let Some(setting) = exits.filter(|_| several) {
        return Err(at((setting.line, "exitall: not supported; give every job a runtime".to_owned())));
    }
    let names: Vec<&str> = sections.iter().map(|section| section.name).collect();
    let mut loaded = LoadedJobs::of_sections(path, text, &names, jobs);
    loaded.notes = notes.sentences();
    Ok(loaded)
}

/// What is wrong, with its line.
type Problem = (usize, String);

/// What there is to say about the jobs of a file.
#[derive(Default)]
struct Notes<'a> {
    ignored: Vec<&'a str>,
    rated: bool,
    random: bool,
}

impl Notes<'_> {
    fn sentences(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.rated {
            notes.push("requests arrive at rate_iops whatever the drive does; iodepth does not hold them back".into());
        }
        if !self.ignored.is_empty() {
            notes.push(format!("fio options that change nothing here: {}", self.ignored.join(", ")));
        }
        if self.random {
            notes.push("addresses are drawn anew each time, as with fio's norandommap".to_owned());
        }
        notes
    }
}

/// The job of a section.
fn job<'a>(section: &Section<'a>, notes: &mut Notes<'a>) -> Result<JobConfig, Problem> {
    let mut job = JobConfig { name: section.name.to_owned(), ..JobConfig::default() };
    let mut limits = Limits { loops: 1, ..Limits::default() };
    for setting in &section.settings {
        if !IGNORED.contains(&setting.key) {
            apply(setting, &mut job, &mut limits)
                .map_err(|message| (setting.line, format!("{}: {message}", setting.key)))?;
        } else if !notes.ignored.contains(&setting.key) {
            notes.ignored.push(setting.key);
        }
    }
    finish(&mut job, &limits).map_err(|message| (section.line, message))?;
    notes.rated |= job.rate_iops.is_some();
    notes.random |= job.rw.is_random() && !section.settings.iter().any(|setting| setting.key == "norandommap");
    Ok(job)
}

/// The job sections, each with what the global sections before it say.
fn sections(text: &str) -> Result<Vec<Section<'_>>, Problem> {
    let mut global: Vec<Setting<'_>> = Vec::new();
    let mut jobs: Vec<Section<'_>> = Vec::new();
    let mut inside: Option<bool> = None; // of the global section
    for (index, line) in text.lines().enumerate() {
        let (number, line) = (index + 1, line.trim());
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.strip_suffix(']').filter(|name| !name.trim().is_empty());
            let name = name.ok_or_else(|| (number, format!("`{line}` is no section")))?.trim();
            inside = Some(name == "global");
            if name != "global" {
                jobs.push(Section { line: number, name, settings: global.clone() });
            }
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let setting = Setting { line: number, key: key.trim(), value: value.trim() };
        if setting.value.contains("${") {
            return Err((
                number,
                format!("{}: variables of the environment are not read; write the value", setting.key),
            ));
        }
        match (inside, jobs.last_mut()) {
            (Some(true), _) => global.push(setting),
            (Some(false), Some(job)) => job.settings.push(setting),
            _ => return Err((number, format!("`{}` stands before the first section", setting.key))),
        }
    }
    Ok(jobs)
}

fn apply(setting: &Setting<'_>, job: &mut JobConfig, limits: &mut Limits) -> Result<(), String> {
    let value = setting.value;
    match setting.key {
        "rw" | "readwrite" => job.rw = pattern(value)?,
        "bs" | "blocksize" => sizes(value, job)?,
        "bssplit" => job.bssplit = Some(split(value)?),
        "bsrange" | "blocksize_range" => job.bsrange = Some(ranges(value)?),
        "rwmixread" => job.rwmixread = f64::from(percent(value)?),
        "rwmixwrite" => job.rwmixread = f64::from(100 - percent(value)?),
        "iodepth" => job.iodepth = number(value)?,
        "numjobs" => job.numjobs = copies(value)?,
        "offset_increment" => job.offset_increment = Some(Bytes(size(value)?)),
        "stonewall" | "wait_for_previous" => job.stonewall = flag(value)?,
        "startdelay" | "start_delay" => job.startdelay = Some(time(value)?).filter(|delay| delay.0 > 0),
        "ramp_time" => job.ramp_time = Some(time(value)?).filter(|ramp| ramp.0 > 0),
        "size" => (job.size, job.size_percent) = region(value)?,
        "offset" => job.offset = Bytes(size(value)?),
        "io_size" | "io_limit" => limits.io_size = Some(size(value)?),
        "number_ios" => limits.number_ios = Some(number(value)?),
        "runtime" | "timeout" => limits.runtime = Some(time(value)?),
        "time_based" => limits.time_based = flag(value)?,
        "rate_iops" => limits.rates = Some(rates(value)?),
        "rate_process" => {
            job.rate_process = match value {
                "linear" => RateProcess::Linear,
                "poisson" => RateProcess::Poisson,
                _ => return Err(format!("`{value}` is not linear or poisson")),
            }
        }
        "random_distribution" => job.random_distribution = distribution(value)?,
        "percentage_random" => job.percentage_random = percent(value)?,
        "ba" | "blockalign" => job.blockalign = Some(Bytes(size(value)?)),
        "fsync" | "fdatasync" => job.flush_every = Some(number(value)?).filter(|&every: &u64| every > 0),
        "loops" => limits.loops = number(value)?,
        other => return Err(refusal(other)),
    }
    Ok(())
}

/// Why an option is not read.
fn refusal(key: &str) -> String {
    if let Some((_, instead)) = REFUSED.iter().find(|(name, _)| *name == key) {
        return format!("not supported; {instead}");
    }
    let known = READ.iter().chain(IGNORED).copied();
    let meant = suggestion(key, known).map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    format!("this option is not supported{meant}")
}

/// What takes more than one option to know: rates by what the job does, and where it ends.
fn finish(job: &mut JobConfig, limits: &Limits) -> Result<(), String> {
    let (first, last) = (job.rw.ops()[0], job.rw.ops()[job.rw.ops().len() - 1]);
    if let Some(rates) = limits.rates {
        job.rate_iops = Some(rates[first as usize] as f64);
        // Reads and writes of a mixed job are held to a rate each.
        job.write_rate_iops = (first != last).then_some(rates[last as usize] as f64);
    }
    if job.numjobs == 1 {
        job.offset_increment = None;
    }
    let reads = job.read_share();
    let mean = job.mean_bytes(first) * reads + job.mean_bytes(last) * (1.0 - reads);
    job.duration = limits.runtime.filter(|runtime| runtime.0 > 0);
    let until_time = limits.time_based && job.duration.is_some();
    let counted = limits.number_ios.is_some() || limits.io_size.is_some();
    if job.size_percent.is_some() && !until_time && !counted && (limits.loops > 1 || job.duration.is_some()) {
        let key = if limits.loops > 1 { "loops" } else { "runtime" };
        return Err(format!(
            "{key}: how many requests a share of the drive takes is not known here; give time_based, number_ios, io_size or a size in bytes"
        ));
    }
    let pass = limits.io_size.or(job.size.map(|size| size.0));
    job.requests = match (limits.number_ios, pass) {
        _ if until_time => None,
        (Some(requests), _) => Some(requests.saturating_mul(limits.loops)),
        (None, Some(bytes)) if limits.io_size.is_some() || limits.loops > 1 || job.duration.is_some() => {
            Some(((bytes as f64 / mean) as u64).max(1).saturating_mul(limits.loops))
        }
        (None, None) if limits.loops > 1 => return Err("loops: how long one is has to be said by size".to_owned()),
        (None, _) => None,
    };
    Ok(())
}

fn pattern(value: &str) -> Result<AccessPattern, String> {
    Ok(match value {
        "read" => AccessPattern::Read,
        "write" => AccessPattern::Write,
        "trim" => AccessPattern::Trim,
        "randread" => AccessPattern::RandRead,
        "randwrite" => AccessPattern::RandWrite,
        "randtrim" => AccessPattern::RandTrim,
        "rw" | "readwrite" => AccessPattern::Rw,
        "randrw" => AccessPattern::RandRw,
        _ => return Err(format!("`{value}` is not read, write, trim, randread, randwrite, randtrim, rw or randrw")),
    })
}

/// `bs=4k`, or one for each direction.
fn sizes(value: &str, job: &mut JobConfig) -> Result<(), String> {
    if value.contains(',') {
        let alike: Vec<String> = value.split(',').map(|size| format!("{size}-{size}")).collect();
        job.bsrange = Some(ranges(&alike.join(","))?);
    } else {
        job.bs = Bytes(size(value)?);
        job.bsrange = None;
    }
    Ok(())
}

/// A `bsrange` with fio's units.
fn ranges(value: &str) -> Result<SizeRange, String> {
    let range = |range: &str| -> Result<String, String> {
        let (least, most) = range.split_once('-').ok_or_else(|| format!("`{range}` is not a range such as 4k-16k"))?;
        Ok(format!("{}-{}", size(least)?, size(most)?))
    };
    let text = value.split(',').map(range).collect::<Result<Vec<_>, _>>()?.join(",");
    text.parse().map_err(|error: ninescope_workload::JobError| error.problem)
}

/// Rates of reads, writes and trims; a direction that is left out is like the one before it.
fn rates(value: &str) -> Result<[u64; 3], String> {
    let mut rates = value.split(',').map(|rate| number(rate.trim())).collect::<Result<Vec<u64>, _>>()?;
    if rates.len() > 3 {
        return Err(format!("`{value}`: there are three directions: reads, writes, trims"));
    }
    if rates.contains(&0) {
        return Err(format!("`{value}`: a rate of 0, which leaves a direction free, is not supported"));
    }
    while rates.len() < 3 {
        rates.extend(rates.last().copied());
    }
    rates.try_into().map_err(|_| "no rates".to_owned())
}

/// How many jobs a section stands for.
fn copies(value: &str) -> Result<u32, String> {
    let jobs: u32 = number(value)?;
    if jobs == 0 || jobs as usize > LANES_MAX {
        return Err(format!("{jobs} jobs cannot run at the same time, only 1 to {LANES_MAX}"));
    }
    Ok(jobs)
}

/// A size in bytes, or in percent of the drive.
fn region(value: &str) -> Result<(Option<Bytes>, Option<f64>), String> {
    let Some(percent) = value.strip_suffix('%') else { return Ok((Some(Bytes(size(value)?)), None)) };
    match number::<u8>(percent.trim())? {
        percent @ 1..=100 => Ok((None, Some(f64::from(percent)))),
        _ => Err(format!("`{value}` is not a share of the drive (1% to 100%)")),
    }
}

/// A `bssplit` with fio's units.
fn split(value: &str) -> Result<ninescope_workload::SizeSplit, String> {
    let entry = |entry: &str| -> Result<String, String> {
        let (bytes, share) = entry.split_once('/').unwrap_or((entry, ""));
        Ok(format!("{}/{share}", size(bytes)?))
    };
    let list = |list: &str| list.split(':').map(entry).collect::<Result<Vec<_>, _>>().map(|list| list.join(":"));
    let text = value.split(',').map(list).collect::<Result<Vec<_>, _>>()?.join(",");
    text.parse().map_err(|error: ninescope_workload::JobError| error.problem)
}

fn distribution(value: &str) -> Result<ninescope_workload::AddressDistribution, String> {
    let text = match value {
        "zipf" => "zipf:1.1",
        "pareto" => "pareto:0.2",
        other => other,
    };
    text.parse().map_err(|error: ninescope_workload::JobError| error.problem)
}

fn number<T: std::str::FromStr>(value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("`{value}` is not a whole number in range"))
}

fn percent(value: &str) -> Result<u8, String> {
    number(value)
        .ok()
        .filter(|&percent| percent <= 100)
        .ok_or_else(|| format!("`{value}` is not a percentage (0 to 100)"))
}

fn flag(value: &str) -> Result<bool, String> {
    match value {
        "" | "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(format!("`{value}` is not 0 or 1")),
    }
}

/// A size with fio's suffixes: k, m, g, t, with or without b, in units of 1024.
fn size(value: &str) -> Result<u64, String> {
    let value = value.trim().to_ascii_lowercase();
    let digits = value.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(value.len());
    let power = match &value[digits..] {
        "" | "b" => 0,
        "k" | "kb" => 1,
        "m" | "mb" => 2,
        "g" | "gb" => 3,
        "t" | "tb" => 4,
        "%" => return Err(format!("`{value}`: a share of the drive is read for size alone; write the bytes")),
        suffix if suffix.contains('i') => {
            return Err(format!("`{value}`: fio takes {suffix} for a power of 1000; write k, m or g"));
        }
        _ => return Err(format!("`{value}` is not a size such as 4k")),
    };
    let number: u64 = number(&value[..digits])?;
    number.checked_mul(1 << (10 * power)).ok_or_else(|| format!("`{value}` is too large"))
}

/// A time with fio's suffixes; bare it is seconds.
fn time(value: &str) -> Result<Duration, String> {
    let digits = value.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(value.len());
    let unit: u64 = match &value[digits..] {
        "us" => 1_000,
        "ms" => 1_000_000,
        "" | "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(format!("`{value}` is not a time such as 60, 60s or 5m")),
    };
    let number: u64 = number(&value[..digits])?;
    number.checked_mul(unit).map(Duration).ok_or_else(|| format!("`{value}` is too long"))
}

#[cfg(test)]
mod tests {
    use ninescope_model::Op;

    use super::*;

    fn read(text: &str) -> Result<LoadedJobs, String> {
        parse_fio(Path::new("a.fio"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_job_takes_what_the_global_section_says_and_changes_it() {
        let text = "; a comment\n[global]\nioengine=libaio\ndirect=1\nbs=4k\niodepth=8\n\n[mix]\nrw=randrw\nrwmixwrite=30\n\
            iodepth = 32\nsize=64m\nio_size=1g\nruntime=5\nrandom_distribution=zipf\nfsync=10\ngroup_reporting\n";
        let LoadedJobs { jobs, notes, .. } = read(text).expect("is legal");
        let expected = JobConfig {
            name: "mix".to_owned(),
            rw: AccessPattern::RandRw,
            rwmixread: 70.0,
            iodepth: 32,
            size: Some(Bytes(64 << 20)),
            requests: Some(1 << 18),
            duration: Some(Duration(5_000_000_000)),
            random_distribution: ninescope_workload::AddressDistribution::Zipf(1.1),
            flush_every: Some(10),
            ..JobConfig::default()
        };
        assert_eq!(jobs, [expected]);
        assert!(notes.iter().any(|note| note.contains("ioengine, direct, group_reporting")), "{notes:?}");
        assert!(notes.iter().any(|note| note.contains("norandommap")), "{notes:?}");
    }

    #[test]
    fn sizes_by_direction_and_ends_are_as_in_fio() {
        let job = |text: &str| read(&format!("[a]\n{text}")).expect(text).jobs.remove(0);
        let two = job("rw=randrw\nbs=4k,8k");
        assert_eq!((two.mean_bytes(Op::Read) as u64, two.mean_bytes(Op::Write) as u64), (4096, 8192));
        let based = job("rw=read\nsize=1m\nruntime=2m\ntime_based");
        assert_eq!((based.requests, based.duration), (None, Some(Duration(120_000_000_000))));
        assert_eq!(job("rw=read\nsize=1m\nruntime=60").requests, Some(256));
        assert_eq!(job("rw=read\nsize=1m\nloops=3").requests, Some(768));
        assert_eq!(job("rw=read\nnumber_ios=10").requests, Some(10));
        assert_eq!(job("rw=read\nsize=1m").requests, None);
    }

    #[test]
    fn sections_are_jobs_that_share_what_is_global_before_them() {
        let text = "[global]\nbs=8k\nexitall\n[a]\nrw=randread\nnorandommap\n[global]\niodepth=4\n[b]\nrw=write\nnumjobs=3\n\
            offset_increment=1m\nstonewall\nstartdelay=2\nbsrange=4k-16k,8k-8k\n";
        let LoadedJobs { jobs, notes, .. } = read(&text.replace("exitall\n", "")).expect("is legal");
        let [a, b] = &jobs[..] else { panic!("two jobs: {jobs:?}") };
        assert_eq!((a.name.as_str(), a.bs.0, a.iodepth, a.stonewall, a.startdelay), ("a", 8192, 1, false, None));
        assert_eq!((b.name.as_str(), b.iodepth, b.numjobs, b.stonewall), ("b", 4, 3, true));
        assert_eq!((b.startdelay, b.offset_increment), (Some(Duration(2_000_000_000)), Some(Bytes(1 << 20))));
        assert_eq!((b.mean_bytes(Op::Read) as u64, b.mean_bytes(Op::Write) as u64), (10_240, 8192));
        assert_eq!(notes, ["fio options that change nothing here: norandommap"]);
        let alone = read("[a]\nexitall\noffset_increment=1m\n").expect("one job exits alone");
        assert_eq!(alone.jobs[0].offset_increment, None);
    }

    #[test]
    fn rates_are_held_by_direction_and_shares_are_of_the_drive() {
        let job = |text: &str| read(&format!("[a]\n{text}")).expect(text).jobs.remove(0);
        let rates = |text: &str| (job(text).rate_iops, job(text).write_rate_iops);
        assert_eq!(rates("rw=randrw\nrate_iops=500"), (Some(500.0), Some(500.0)));
        assert_eq!(rates("rw=rw\nrate_iops=500,20"), (Some(500.0), Some(20.0)));
        assert_eq!(rates("rw=write\nrate_iops=500,20"), (Some(20.0), None));
        assert_eq!(rates("rw=randtrim\nrate_iops=500,20,7"), (Some(7.0), None));
        let share = job("rw=randread\nsize=25%\nruntime=5\ntime_based\nramp_time=2");
        assert_eq!((share.size, share.size_percent, share.requests), (None, Some(25.0), None));
        assert_eq!((share.duration, share.ramp_time), (Some(Duration(5_000_000_000)), Some(Duration(2_000_000_000))));
        assert_eq!(job("size=25%\nsize=1m").size_percent, None, "what is said last holds");
        assert_eq!(job("bs=4k,8k\nbs=16k").mean_bytes(Op::Write) as u64, 16_384);
    }

    #[test]
    fn what_is_not_supported_is_named_with_its_line() {
        for (text, words) in [
            ("[a]\nrw=randread\nthinktime=5\n", vec!["a.fio", "line 3", "thinktime"]),
            ("[a]\nrw=randread\niodept=5\n", vec!["line 3", "did you mean `iodepth`"]),
            ("[a]\nbsrange=4k-10k\n", vec!["line 2", "bsrange", "10KiB is not a multiple of 4KiB"]),
            ("[a]\nbsrange=4k\n", vec!["line 2", "is not a range"]),
            ("[a]\nramp_time=5x\n", vec!["line 2", "5x"]),
            ("[a]\nrandom_distribution=zoned:60/10:40/90,50/50:50/50\n", vec!["line 2", "each direction"]),
            ("[a]\nstartdelay=1-5\n", vec!["line 2", "startdelay", "1-5"]),
            ("[a]\nrw=sideways\n", vec!["line 2", "sideways", "randrw"]),
            ("[a]\nbs=4ki\n", vec!["line 2", "power of 1000"]),
            ("[a]\nsize=0%\n", vec!["line 2", "share of the drive"]),
            ("[a]\noffset=10%\n", vec!["line 2", "for size alone"]),
            ("[a]\nsize=10%\nruntime=5\n", vec!["line 1", "runtime", "time_based"]),
            ("[a]\nsize=10%\nloops=5\n", vec!["line 1", "loops"]),
            ("[a]\nsize=${SIZE}\n", vec!["line 2", "environment"]),
            ("[a]\n[b]\nthinktime=1\n", vec!["line 3", "thinktime"]),
            ("[global]\nexitall\n[a]\n[b]\n", vec!["line 2", "exitall", "runtime"]),
            ("[a]\nnumjobs=0\n", vec!["line 2", "numjobs", "1 to 256"]),
            ("[a]\nnumjobs=257\n", vec!["line 2", "1 to 256"]),
            ("[a]\nrw=randrw\nrate_iops=5,0\n", vec!["line 3", "rate_iops", "rate of 0"]),
            ("[a]\nrate_iops=1,2,3,4\n", vec!["line 2", "three directions"]),
            ("[a]\nruntime=99999999999d\n", vec!["too long"]),
            ("rw=read\n", vec!["line 1", "before the first section"]),
            ("[a\n", vec!["line 1", "no section"]),
            ("[global]\nrw=read\n", vec!["no job section"]),
            ("", vec!["no job section"]),
        ] {
            let error = read(text).expect_err(text);
            for word in words {
                assert!(error.contains(word), "{error}");
            }
        }
    }
}
