//! The job of a section: each option in the words of a [`JobConfig`], and what takes several options to know.

use ninescope_model::Op;
use ninescope_model::units::{Bytes, BytesPerSecond};

use super::Problem;
use super::notes::Notes;
use super::options::{Handling, handling};
use super::passes::finish_ends;
use super::said::{Said, Thinking};
use super::sections::{Section, Setting};
use super::unlike::{
    RESTED_AT_THE_END, finish_map, say_what_a_mix_changes, say_what_ends_beyond, say_what_flushes_at_ends,
    say_where_a_mix_ends,
};
use super::values;
use crate::{JobConfig, RateProcess};

/// The job of a section.
pub fn job(section: &Section<'_>, notes: &mut Notes) -> Result<JobConfig, Problem> {
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
                let without_a_rate = setting.key == "rate_process" && section.setting("rate_iops").is_none();
                if without_a_rate && section.setting("rate").is_none() {
                    notes.say("rate_process says nothing of a job without a rate, as in fio".to_owned());
                    continue;
                }
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
    say_what_flushes_at_ends(section, &job, &said, notes);
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
        "rate" => said.byte_rates = Some(rates(value)?),
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
        "sync" => job.fua = values::synchronous_writes(value)?,
        "writefua" => job.fua = f64::from(u8::from(flag(value)?)),
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
    set_byte_rates(job, said).map_err(wrong("rate"))?;
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

/// A rate of the first direction that there is, and of the second: reads and writes of a mixed job are held to one each.
fn rates_of(job: &JobConfig, rates: Option<[u64; 3]>) -> Result<Option<(u64, Option<u64>)>, String> {
    let Some(rates) = rates else { return Ok(None) };
    let of: Vec<u64> = job.rw.ops().iter().map(|&op| rates[op as usize]).collect();
    match of[..] {
        [rate] if rate > 0 => Ok(Some((rate, None))),
        [reads, writes] if reads > 0 && writes > 0 => Ok(Some((reads, Some(writes)))),
        [reads, writes] if reads > 0 || writes > 0 => Err(format!(
            "{reads} for reads and {writes} for writes: a rate of 0, which leaves a direction of a mixed job free, \
             is not supported; give a job for each direction"
        )),
        _ => Ok(None),
    }
}

fn set_rates(job: &mut JobConfig, said: &Said) -> Result<(), String> {
    let Some((rate, of_writes)) = rates_of(job, said.rates)? else { return Ok(()) };
    (job.rate_iops, job.write_rate_iops) = (Some(rate as f64), of_writes.map(|rate| rate as f64));
    // fio makes a linear rate one of bytes: so many requests of the smallest size. A Poisson process counts requests.
    job.rate_by_bytes = job.sizes_of_an_op_differ() && job.rate_process == RateProcess::Linear;
    Ok(())
}

/// Rates in bytes, which a Poisson process of fio takes for requests of the smallest size.
fn set_byte_rates(job: &mut JobConfig, said: &Said) -> Result<(), String> {
    let Some((rate, of_writes)) = rates_of(job, said.byte_rates)? else { return Ok(()) };
    if job.rate_iops.is_some() {
        return Err("rate_iops says already when requests arrive, and fio takes one of both".to_owned());
    }
    if job.rate_process == RateProcess::Linear {
        (job.rate, job.write_rate) = (Some(BytesPerSecond(rate)), of_writes.map(BytesPerSecond));
        return Ok(());
    }
    let requests = |rate: u64, op: Op| {
        let least = job.least_bytes(op);
        let requests = rate / least.0.max(1);
        let too_low =
            || format!("{rate} bytes per second are less than one request of {least}, which fio does not take");
        if requests > 0 { Ok(requests as f64) } else { Err(too_low()) }
    };
    let of_first = requests(rate, job.rw.ops()[0])?;
    let of_writes = of_writes.map(|rate| requests(rate, Op::Write)).transpose()?;
    (job.rate_iops, job.write_rate_iops) = (Some(of_first), of_writes);
    Ok(())
}
