//! fio job files: a `[global]` section and one job, in the options that have a meaning on a simulated drive.
//!
//! What changes nothing here (engines, file names, reporting) is listed in notes; what would change the workload and
//! is not simulated is refused, with its line. Sizes and times are fio's: k is 1024, and a bare time is seconds.

use std::path::Path;

use ninescope_model::units::{Bytes, Duration};
use ninescope_workload::{AccessPattern, JobConfig, RateProcess};

use super::diagnostics::suggestion;
use crate::error::Error;

/// A job file, read.
#[derive(Clone, Debug, PartialEq)]
pub struct FioJob {
    /// The job.
    pub config: JobConfig,
    /// What was ignored, and what is meant otherwise than in fio.
    pub notes: Vec<String>,
}

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
    "stonewall",
    "wait_for_previous",
    "startdelay",
    "unified_rw_reporting",
    "norandommap",
    "softrandommap",
    "offset_increment",
    "new_group",
];

/// Options that would change the workload, and what to do instead.
const REFUSED: &[(&str, &str)] = &[
    ("bsrange", "list the sizes with bssplit"),
    ("ramp_time", "leave it out, and give --warmup with a number or share of the requests"),
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
}

/// Reads a job file of fio.
///
/// # Errors
/// [`Error::Input`] with file, line and option.
pub fn parse_fio(path: &Path, text: &str) -> Result<FioJob, Error> {
    let at = |line: usize, message: &str| Error::Input(format!("{}: line {line}: {message}", path.display()));
    let jobs = sections(text).map_err(|(line, message)| at(line, &message))?;
    let job = match jobs.as_slice() {
        [] => return Err(Error::Input(format!("{}: the file has no job section, such as [job]", path.display()))),
        [job] => job,
        [first, second, ..] => {
            return Err(at(
                second.line,
                &format!(
                    "[{}] is a second job after [{}], and several jobs at once are not supported yet",
                    second.name, first.name
                ),
            ));
        }
    };
    let mut reading =
        FioJob { config: JobConfig { name: job.name.to_owned(), ..JobConfig::default() }, notes: Vec::new() };
    let mut limits = Limits { loops: 1, ..Limits::default() };
    let mut ignored: Vec<&str> = Vec::new();
    for setting in &job.settings {
        if IGNORED.contains(&setting.key) {
            if !ignored.contains(&setting.key) {
                ignored.push(setting.key);
            }
            continue;
        }
        apply(setting, &mut reading.config, &mut limits)
            .map_err(|message| at(setting.line, &format!("{}: {message}", setting.key)))?;
    }
    finish(&mut reading, &limits).map_err(|message| at(job.line, &message))?;
    if !ignored.is_empty() {
        reading.notes.push(format!("fio options that change nothing here: {}", ignored.join(", ")));
    }
    if reading.config.rw.is_random() && !ignored.contains(&"norandommap") {
        reading.notes.push("addresses are drawn anew each time, as with fio's norandommap".to_owned());
    }
    Ok(reading)
}

/// The job sections, each with what the global sections before it say.
fn sections(text: &str) -> Result<Vec<Section<'_>>, (usize, String)> {
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
        "rwmixread" => job.rwmixread = percent(value)?,
        "rwmixwrite" => job.rwmixread = 100 - percent(value)?,
        "iodepth" => job.iodepth = number(value)?,
        "numjobs" if number::<u32>(value)? == 1 => {}
        "numjobs" => return Err("several jobs at once are not supported yet; a larger iodepth comes near".to_owned()),
        "size" => job.size = Some(Bytes(size(value)?)),
        "offset" => job.offset = Bytes(size(value)?),
        "io_size" | "io_limit" => limits.io_size = Some(size(value)?),
        "number_ios" => limits.number_ios = Some(number(value)?),
        "runtime" | "timeout" => limits.runtime = Some(time(value)?),
        "time_based" => limits.time_based = flag(value)?,
        "rate_iops" => job.rate_iops = Some(number::<u64>(value)? as f64),
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

/// Where the job ends, from all the options that say so.
fn finish(reading: &mut FioJob, limits: &Limits) -> Result<(), String> {
    let job = &mut reading.config;
    if job.rate_iops.is_some() && job.rw.ops().len() > 1 {
        return Err("rate_iops: fio holds reads and writes of a mixed job to a rate each, which is not supported; \
                    a job in TOML takes the rate of both together"
            .to_owned());
    }
    if job.rate_iops.is_some() {
        reading
            .notes
            .push("requests arrive at rate_iops whatever the drive does; iodepth does not hold them back".into());
    }
    let reads = if job.rw.ops().len() == 1 { 1.0 } else { f64::from(job.rwmixread) / 100.0 };
    let (first, last) = (job.rw.ops()[0], job.rw.ops()[job.rw.ops().len() - 1]);
    let mean = job.mean_bytes(first) * reads + job.mean_bytes(last) * (1.0 - reads);
    let pass = limits.io_size.or(job.size.map(|size| size.0));
    job.duration = limits.runtime.filter(|runtime| runtime.0 > 0);
    job.requests = match (limits.number_ios, pass) {
        _ if limits.time_based && job.duration.is_some() => None,
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
        job.bssplit = Some(split(value)?);
    } else {
        job.bs = Bytes(size(value)?);
    }
    Ok(())
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
        "%" => return Err(format!("`{value}`: shares of the drive are not supported; write the size")),
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

    fn read(text: &str) -> Result<FioJob, String> {
        parse_fio(Path::new("a.fio"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_job_takes_what_the_global_section_says_and_changes_it() {
        let text = "; a comment\n[global]\nioengine=libaio\ndirect=1\nbs=4k\niodepth=8\n\n[mix]\nrw=randrw\nrwmixwrite=30\n\
            iodepth = 32\nsize=64m\nio_size=1g\nruntime=5\nrandom_distribution=zipf\nfsync=10\ngroup_reporting\n";
        let FioJob { config, notes } = read(text).expect("is legal");
        let expected = JobConfig {
            name: "mix".to_owned(),
            rw: AccessPattern::RandRw,
            rwmixread: 70,
            iodepth: 32,
            size: Some(Bytes(64 << 20)),
            requests: Some(1 << 18),
            duration: Some(Duration(5_000_000_000)),
            random_distribution: ninescope_workload::AddressDistribution::Zipf(1.1),
            flush_every: Some(10),
            ..JobConfig::default()
        };
        assert_eq!(config, expected);
        assert!(notes.iter().any(|note| note.contains("ioengine, direct, group_reporting")), "{notes:?}");
        assert!(notes.iter().any(|note| note.contains("norandommap")), "{notes:?}");
    }

    #[test]
    fn sizes_by_direction_and_ends_are_as_in_fio() {
        let job = |text: &str| read(&format!("[a]\n{text}")).expect(text).config;
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
    fn what_is_not_supported_is_named_with_its_line() {
        for (text, words) in [
            ("[a]\nrw=randread\nthinktime=5\n", vec!["a.fio", "line 3", "thinktime"]),
            ("[a]\nrw=randread\niodept=5\n", vec!["line 3", "did you mean `iodepth`"]),
            ("[a]\nbsrange=4k-8k\n", vec!["line 2", "bssplit"]),
            ("[a]\nramp_time=5\n", vec!["--warmup"]),
            ("[a]\nrw=sideways\n", vec!["line 2", "sideways", "randrw"]),
            ("[a]\nbs=4ki\n", vec!["line 2", "power of 1000"]),
            ("[a]\nsize=10%\n", vec!["shares of the drive"]),
            ("[a]\nsize=${SIZE}\n", vec!["line 2", "environment"]),
            ("[a]\n[b]\n", vec!["line 2", "[b]", "[a]", "several jobs"]),
            ("[a]\nnumjobs=2\n", vec!["line 2", "several jobs"]),
            ("[a]\nrw=randrw\nrate_iops=5\n", vec!["line 1", "rate_iops"]),
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
