//! What jobs say that changes nothing on their drive: of that a note tells, because one job file goes to drives with and without it.

use ninescope_generators::JobConfig;
use ninescope_model::Op;

use crate::assembly::Assembly;

/// What of the jobs' words changes nothing, one line for each kind of it.
pub(super) fn notes(jobs: &[JobConfig], several: bool, assembly: &Assembly) -> Vec<String> {
    [of_turns(jobs, several, assembly), of_queues(jobs, several, assembly), of_streams(jobs, assembly)]
        .into_iter()
        .flatten()
        .collect()
}

/// Weights and classes.
fn of_turns(jobs: &[JobConfig], several: bool, assembly: &Assembly) -> Option<String> {
    let engine = &assembly.engine;
    // Classes count in dies, too, and weights where commands are taken in alone.
    let of_weights = several && engine.arbitration.chosen().knows_weights();
    let of_classes = of_weights || several && engine.scheduler.chosen().knows_classes();
    let unheard = |job: &&JobConfig| job.weight.is_some() && !of_weights || job.priority.is_some() && !of_classes;
    let job = jobs.iter().find(unheard)?;
    let why = if several {
        "of a drive whose scheduler.arbitration is round-robin, where all take turns"
    } else {
        "of a job that has the drive for itself"
    };
    Some(format!("`weight` and `priority` (job {}) change nothing {why}", job.name))
}

/// Queues of a job that has the drive for itself: they are turns, which nobody else takes, unless they bound something.
fn of_queues(jobs: &[JobConfig], several: bool, assembly: &Assembly) -> Option<String> {
    let protocol = &assembly.engine.protocol;
    let unheard = |job: &&JobConfig| {
        let bound = protocol.queue_entries.is_some() || protocol.fetch.is_some();
        job.queues.is_some_and(|queues| queues > 1)
            && !bound
            && job.commands_per_queue.or(protocol.commands_per_queue).is_none()
    };
    let job = jobs.iter().find(unheard).filter(|_| !several)?;
    Some(format!(
        "`queues` (job {}) changes nothing of a job that has the drive for itself, whose queues have no bound \
         (controller.queue_entries, controller.commands_per_queue) and no fetch (controller.fetch_time)",
        job.name
    ))
}

/// Streams that the host names.
fn of_streams(jobs: &[JobConfig], assembly: &Assembly) -> Option<String> {
    let names = |job: &&JobConfig| job.stream > 0;
    let called = |job: &JobConfig| format!("job {}", job.name);
    if let Some(job) = jobs.iter().filter(names).find(|job| !job.rw.ops().contains(&Op::Write)) {
        return Some(format!("`stream` ({}) changes nothing of a job that writes nothing", called(job)));
    }
    jobs.iter().filter(names).find_map(|job| of_stream(job.stream, &called(job), assembly))
}

/// The stream that one job or trace names, which is called so.
pub(super) fn of_stream(stream: u8, called: &str, assembly: &Assembly) -> Option<String> {
    let choice = &assembly.ftl.stream_choice;
    let says = |why: &str| Some(format!("`stream` ({called}) changes nothing {why}"));
    if stream == 0 {
        return None;
    }
    if assembly.timing.is_none() {
        return says("on a drive without flash");
    }
    if assembly.tier.is_some() {
        return says("under a memory above flash (tier.placement), which writes down by itself");
    }
    if !choice.is_named_by_host() {
        return says(&format!("on a drive whose ftl.streams is {}: `hinted` and `fdp` hear it", choice.name()));
    }
    let kinds = choice.kinds().0;
    (u32::from(stream) >= kinds).then(|| {
        format!(
            "`stream` of {called} is {stream}, and ftl.streams has 0 to {}: `hinted` takes the last one for it, `fdp` the first",
            kinds - 1
        )
    })
}
