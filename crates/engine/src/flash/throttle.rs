//! Host writes that are held back while little is free: when the next one of each line may be placed.
//!
//! What waits, and for how long it did, is the line's business; how long it is to be, the policy's.

use ninescope_ftl::Placed;
use ninescope_kernel::{Ns, WakeQueue};
use ninescope_model::Lpa;

use super::Flash;
use crate::policies::write_throttle::{WriteThrottle, WriteThrottleConfig};
use crate::run::Run;

/// The gates of all lines.
#[derive(Debug)]
pub(super) struct Throttle {
    /// As it was configured.
    config: WriteThrottleConfig,
    policy: Box<dyn WriteThrottle>,
    /// By line: when the next unit of the host may be placed.
    open_at: Vec<Ns>,
}

impl Throttle {
    /// Open gates, where the policy holds anything back.
    pub fn new(config: &WriteThrottleConfig, lines: u32) -> Option<Box<Self>> {
        let policy = config.chosen().build()?;
        Some(Box::new(Self { config: config.clone(), policy, open_at: vec![Ns::ZERO; lines as usize] }))
    }
}

impl Flash {
    /// What holds host writes back, where something does.
    pub fn throttle_config(&self) -> Option<&WriteThrottleConfig> {
        self.throttle.as_ref().map(|throttle| &throttle.config)
    }

    /// Whether a unit of the host is held back now.
    #[inline]
    pub(super) fn is_held_back(&self, unit: u32, now: Ns) -> bool {
        match &self.throttle {
            None => false,
            Some(throttle) => throttle.open_at[self.line_of(unit)] > now,
        }
    }

    /// The same of a unit whose turn it is: it is tried again when its gate opens.
    #[inline]
    pub fn holds_back<Q: WakeQueue>(&self, run: &mut Run<Q>, unit: u32) -> bool {
        let is_held = self.is_held_back(unit, run.now);
        if is_held {
            self.wake_at_gate(run, unit);
        }
        is_held
    }

    #[cold]
    fn wake_at_gate<Q: WakeQueue>(&self, run: &mut Run<Q>, unit: u32) {
        let Some(throttle) = &self.throttle else { return };
        let (open_at, timer) = (throttle.open_at[self.line_of(unit)], run.resources.throttle());
        if open_at < run.queue.wake_time(timer) {
            run.queue.schedule(timer, open_at);
        }
    }

    /// A unit of the host got its place: the next one may be after a while.
    #[inline]
    pub fn unit_was_let_in<Q>(&mut self, run: &mut Run<Q>, lpa: Lpa, placed: &Placed) {
        if self.throttle.is_some() {
            self.close_gate(run, lpa, placed);
        }
    }

    #[cold]
    fn close_gate<Q>(&mut self, run: &mut Run<Q>, lpa: Lpa, placed: &Placed) {
        let line = self.line_of(lpa.0);
        let Some(throttle) = &mut self.throttle else { return };
        let free = self.ftl.free_groups(placed.pool).saturating_sub(self.ftl.reserve_groups());
        let gap = throttle.policy.gap(free);
        throttle.open_at[line] = run.now + gap;
        run.counters.throttled_units += u64::from(gap > Ns::ZERO);
    }

    /// A gate has opened: who waits tries again.
    pub fn gate_opens(&mut self) {
        self.line.may_go_on();
    }
}
