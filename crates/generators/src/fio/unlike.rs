//! Where fio issues other requests than are issued here, which a note says of each job that it is about.

use ninescope_model::units::Bytes;

use super::notes::Notes;
use super::passes::{is_in_one_pass, is_mapped, is_of_one_direction, is_skewed, passes_of_a_mix};
use super::said::Said;
use super::sections::Section;
use crate::JobConfig;

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
pub const RESTED_AT_THE_END: &str = "thinktime: with one request in flight fio also rests behind the last one, where thinktime_blocks \
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
/// The same of a job that goes on behind its region.
const REPEATED_WITHIN_A_MAP: &str = "fio ends each pass of such a job early, at the first address behind which its random map \
                                     has no block free, and the next pass is the same: as many requests as here fall on a \
                                     part of the places, on each the more often (396 of 512 for `rw=randwrite bs=4k,8k \
                                     size=4m time_based`, 361 of 911 for `rw=randrw bs=4k,16k`); with norandommap both \
                                     issue the same";
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
pub fn finish_map(job: &mut JobConfig, said: &Said, notes: &mut Notes) {
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
            (false, true) if goes_on(job, said) => {
                format!("reads and writes have sizes of their own; {REPEATED_WITHIN_A_MAP}")
            }
            (false, true) => ENDED_BY_A_MAP.to_owned(),
            (false, false) => "some do not jump".to_owned(),
        };
        notes.say(format!("addresses are drawn anew each time, as with norandommap: {why}"));
    }
}

/// What is about the mix of a job, or about one that it has not.
pub fn say_what_a_mix_changes(section: &Section<'_>, job: &JobConfig, notes: &mut Notes) {
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

/// A flush that is due where a pass ends.
pub fn say_what_flushes_at_ends(section: &Section<'_>, job: &JobConfig, said: &Said, notes: &mut Notes) {
    let beyond = said.io_size.zip(job.size).is_some_and(|(io_size, size)| io_size > size.0);
    let several = said.loops > 1 || said.time_based || beyond;
    if job.flush_every.is_none() || !several || is_in_one_pass(job, said) {
        return;
    }
    for key in ["fsync", "fdatasync"].into_iter().filter(|key| section.setting(key).is_some()) {
        notes.say(format!(
            "{key}: of a flush that is due where a pass ends there is one; fio issues it twice, or with several requests in \
             flight not at all"
        ));
    }
}

/// The passes of a sequential mix end by chance.
pub fn say_where_a_mix_ends(job: &JobConfig, said: &Said, notes: &mut Notes) {
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
    if !mapped || job.rw.ops().iter().all(|&op| job.least_bytes(op) == said.smallest) {
        return;
    }
    if said.lfsr {
        notes.say(ENDED_BY_A_REGISTER.to_owned());
    } else if job.sizes_of_an_op_differ() || !job.sizes_differ() {
        let what = if goes_on(job, said) { REPEATED_WITHIN_A_MAP } else { ENDED_BY_A_FINER_MAP };
        notes.say(what.to_owned());
    }
}

/// Whether a pass that is over is followed by another until the time or `io_size` is reached.
fn goes_on(job: &JobConfig, said: &Said) -> bool {
    let beyond = said.io_size.zip(job.size).is_some_and(|(bytes, Bytes(size))| bytes > size);
    beyond || said.time_based && job.duration.is_some()
}

/// Of requests of one size, a whole number of which does not come to the region's length.
pub fn say_what_ends_beyond(section: &Section<'_>, job: &JobConfig, said: &Said, notes: &mut Notes) {
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
