//! When the host is told of completions that are gathered.

use std::collections::BTreeMap;

use ninescope_engine::meter::Parts;
use ninescope_engine::{Coalescing, SimulationError};
use ninescope_kernel::Ns;
use ninescope_model::Cause;

use crate::rule::{Checked, require};

/// Completions of a queue of which the host was not told.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    first: Ns,
    count: u32,
}

/// What all queues have gathered.
#[derive(Debug, Default)]
pub struct Interrupts {
    config: Option<Coalescing>,
    /// By queue.
    waiting: BTreeMap<u32, Waiting>,
    /// By slot: when its command completed.
    at: BTreeMap<u32, Ns>,
    /// Completions that the latest interrupts are about and that were not told of, and when those were.
    to_tell: u32,
    raised_at: Ns,
}

impl Interrupts {
    pub fn started(&mut self, config: Option<Coalescing>) {
        self.config = config;
    }

    /// Whether there are any.
    pub fn are_raised(&self) -> bool {
        self.config.is_some()
    }

    /// A command is done. Nothing of its queue waits for longer than it may.
    pub fn gathered(&mut self, now: Ns, (slot, queue): (u32, u32)) -> Checked {
        let Some(Coalescing { completions, time }) = self.config else {
            return Err(crate::Rule::Interrupts.violated(now, format!("slot {slot} is gathered where none are")));
        };
        let waiting = self.waiting.entry(queue).or_insert(Waiting { first: now, count: 0 });
        waiting.count += 1;
        let Waiting { first, count } = *waiting;
        require!(
            count <= completions && now <= first + time,
            Interrupts,
            now,
            "{count} completions of queue {queue} wait since {first}"
        );
        self.at.insert(slot, now);
        Ok(())
    }

    /// The host is told of so many commands of a queue.
    pub fn raised(&mut self, now: Ns, (queue, told): (u32, u32)) -> Checked {
        let waiting = self.waiting.remove(&queue);
        let due = |waiting: Waiting| {
            let config = self.config?;
            let is_due = waiting.count == config.completions || now == waiting.first + config.time;
            Some(is_due && waiting.count == told)
        };
        require!(
            waiting.and_then(due) == Some(true) && (self.to_tell == 0 || now == self.raised_at),
            Interrupts,
            now,
            "an interrupt of queue {queue} tells of {told} completions, there wait {waiting:?}"
        );
        self.to_tell += told;
        self.raised_at = now;
        Ok(())
    }

    /// The host is told of a command. Returns whether that was gathered.
    pub fn told(&mut self, now: Ns, (slot, id): (u32, u64), parts: &Parts) -> Result<bool, SimulationError> {
        let done = self.at.remove(&slot);
        require!(
            done.is_some() == self.config.is_some(),
            Interrupts,
            now,
            "the host is told of command {id}, which was done at {done:?}"
        );
        let waited = done.map_or(Ns::ZERO, |at| now - at);
        let said = parts.of(Cause::Interrupt);
        let by_one = done.is_none() || (self.to_tell > 0 && now == self.raised_at);
        require!(
            said == waited.0 && by_one,
            Interrupts,
            now,
            "command {id} waited {waited} for an interrupt, its parts say {said} ns"
        );
        self.to_tell -= u32::from(done.is_some());
        Ok(done.is_some())
    }

    pub fn finished(&self, now: Ns) -> Checked {
        let left = self.waiting.len() + self.at.len() + self.to_tell as usize;
        require!(left == 0, Leftover, now, "the host was never told of {:?}", self.at);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_within_ten() -> Interrupts {
        let mut interrupts = Interrupts::default();
        interrupts.started(Some(Coalescing { completions: 2, time: Ns(10) }));
        interrupts
    }

    #[test]
    fn interrupts_that_are_early_late_or_of_others_are_seen() {
        let told = |second: Option<u64>, (at, count): (u64, u32)| {
            let mut interrupts = two_within_ten();
            interrupts.gathered(Ns(5), (0, 7)).expect("the first");
            second.map_or(Ok(()), |second| interrupts.gathered(Ns(second), (1, 7)))?;
            interrupts.raised(Ns(at), (7, count))
        };
        assert!(told(None, (15, 1)).is_ok() && told(Some(8), (8, 2)).is_ok());
        assert!(told(None, (14, 1)).is_err() && told(None, (16, 1)).is_err(), "too early, too late");
        assert!(told(Some(8), (8, 1)).is_err() && told(Some(16), (16, 2)).is_err());
    }

    #[test]
    fn a_wait_that_is_another_is_seen() {
        let told = |waited: u64| {
            let mut interrupts = two_within_ten();
            interrupts.gathered(Ns(5), (0, 7)).expect("the first");
            interrupts.raised(Ns(15), (7, 1)).expect("it is due");
            let mut parts = Parts::default();
            parts.add(Cause::Interrupt, Ns(waited));
            interrupts.told(Ns(15), (0, 0), &parts).is_ok()
        };
        assert!(told(10) && !told(9));
    }
}
