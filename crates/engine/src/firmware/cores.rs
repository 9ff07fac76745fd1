//! Cores and the steps that wait for them.

use std::collections::VecDeque;

use ninescope_kernel::Ns;
use ninescope_model::BlockGroup;

use super::{Dealing, FirmwareConfig, Step};

/// A core, and the step that it is at.
#[derive(Clone, Copy, Debug, Default)]
struct Core {
    /// With its place in the order of beginnings.
    present: Option<(Step, u64)>,
    /// When it ends, or the last one did.
    until: Ns,
    /// Time in use since measuring began, that of the present step whole [ns].
    busy: Ns,
}

/// All cores of a drive.
#[derive(Debug)]
pub(super) struct Cores {
    /// Steps that wait, first asked first: for any core, or for each of them.
    queues: Vec<VecDeque<Step>>,
    all: Vec<Core>,
    begun: u64,
}

impl Cores {
    /// Cores at rest.
    pub fn new(config: &FirmwareConfig) -> Self {
        let queues = if config.dealing == Dealing::Shared { 1 } else { config.cores };
        Self {
            queues: vec![VecDeque::new(); queues as usize],
            all: vec![Core::default(); config.cores as usize],
            begun: 0,
        }
    }

    /// A step waits for its core, behind those that do.
    pub fn push(&mut self, step: Step) {
        let queue = step.decision.role() as usize % self.queues.len();
        let queue = &mut self.queues[queue];
        if !queue.back_mut().is_some_and(|last| last.takes_in(&step)) {
            queue.push_back(step);
        }
    }

    /// The next step that has ended, of several that end at one instant the one that began first.
    pub fn next_ended(&mut self, now: Ns) -> Option<Step> {
        let ended = self.all.iter_mut().filter(|core| core.until <= now && core.present.is_some());
        let first = ended.min_by_key(|core| core.present.map(|(_, order)| order))?;
        first.present.take().map(|(step, _)| step)
    }

    /// The next step that a core takes up, which takes as long as `time` says: the first that waits for a free one, by number of the
    /// core where each has its own.
    pub fn next_begun(&mut self, now: Ns, time: impl Fn(&Step) -> Ns) -> Option<(Step, u32, Ns)> {
        let own = self.queues.len() > 1;
        for (index, core) in self.all.iter_mut().enumerate() {
            let queue = &mut self.queues[if own { index } else { 0 }];
            if core.present.is_some() {
                continue;
            }
            let Some(step) = queue.pop_front() else { continue };
            let time = time(&step);
            *core = Core { present: Some((step, self.begun)), until: now + time, busy: core.busy + time };
            self.begun += 1;
            return Some((step, index as u32, core.until));
        }
        None
    }

    /// Steps about programs of a group are taken back in the order in which they were asked for, and `take` is told of each: those that
    /// wait are asked for no more, and of those that cores are at nothing comes.
    pub fn take_back(&mut self, group: BlockGroup, mut take: impl FnMut(&Step)) {
        let is_of = |step: &Step| step.stripe.0 == group && step.count > 0;
        let mut at_work: Vec<&mut (Step, u64)> =
            self.all.iter_mut().filter_map(|core| core.present.as_mut()).filter(|(step, _)| is_of(step)).collect();
        at_work.sort_by_key(|(_, order)| *order);
        for (step, _) in at_work {
            take(step);
            step.count = 0;
        }
        for queue in &mut self.queues {
            queue.iter().filter(|step| is_of(step)).for_each(&mut take);
            queue.retain(|step| !is_of(step));
        }
    }

    /// When the next step ends.
    pub fn next_end(&self) -> Option<Ns> {
        self.all.iter().filter(|core| core.present.is_some()).map(|core| core.until).min()
    }

    /// How many steps wait or are under way.
    pub fn under_way(&self) -> usize {
        let at_work = self.all.iter().filter(|core| core.present.is_some()).count();
        at_work + self.queues.iter().map(VecDeque::len).sum::<usize>()
    }

    /// Counts from `now` on: what is left of a step belongs to the measured time.
    pub fn begin_measuring(&mut self, now: Ns) {
        self.all.iter_mut().for_each(|core| core.busy = core.until.saturating_since(now));
    }

    /// How long each core was busy until `now`.
    pub fn busy_until(&self, now: Ns) -> impl Iterator<Item = Ns> + '_ {
        self.all.iter().map(move |core| core.busy.saturating_since(core.until.saturating_since(now)))
    }
}
