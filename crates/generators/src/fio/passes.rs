//! Where a job of fio ends and how it passes over its region, from all the options that say so.

use ninescope_model::Op;
use ninescope_model::units::Bytes;

use super::said::Said;
use crate::{AddressDistribution, EachPass, JobConfig};

/// Where it ends: the first of its requests, its bytes and its time; its time alone where it is `time_based`.
pub fn finish_ends(job: &mut JobConfig, said: &Said) {
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
pub fn passes_of_a_mix(job: &JobConfig, said: &Said) -> Option<u64> {
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
pub fn is_in_one_pass(job: &JobConfig, said: &Said) -> bool {
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
pub fn is_of_one_direction(job: &JobConfig) -> bool {
    let mixed = job.writes_are_paced() || (job.rwmixread > 0.0 && job.rwmixread < 100.0);
    job.rw.ops().len() == 1 || !mixed
}

/// Whether fio keeps a map of the blocks that came, or a shift register that knows them.
pub fn is_mapped(job: &JobConfig, said: &Said) -> bool {
    let uniform = job.rw.is_random() && job.random_distribution == AddressDistribution::Uniform;
    // Any use of blockalign turns the map off.
    let aligned = job.blockalign.is_some_and(|align| align != job.bs);
    uniform && (said.lfsr || !(said.norandommap || aligned))
}

/// Whether a pass of fio can be like the one before it: the numbers of `zipf` and `pareto` go on through all of them.
fn can_repeat(job: &JobConfig) -> bool {
    !job.rw.is_random() || !is_skewed(&job.random_distribution)
}

pub fn is_skewed(law: &AddressDistribution) -> bool {
    matches!(law, AddressDistribution::Zipf(_) | AddressDistribution::Pareto(_))
}
