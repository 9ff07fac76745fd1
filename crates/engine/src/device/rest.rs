//! A drive that has nothing to do, and may go into states of less power until something comes.

use ninescope_kernel::{Ns, WakeQueue};

use super::Device;
use super::kind::Kind;
use crate::error::SimulationError;
use crate::probe::{Event, observe};

impl<K: Kind> Device<K> {
    /// Nothing is to be done at this instant any more.
    #[inline]
    pub(super) fn instant_is_over(&mut self) -> Result<(), SimulationError> {
        self.host.await_arrival(&mut self.run);
        if self.run.power.is_some() { self.drive_may_rest() } else { Ok(()) }
    }

    /// The drive begins to rest, if it has states for that and nothing is under way, or does not rest any more.
    #[inline(never)]
    fn drive_may_rest(&mut self) -> Result<(), SimulationError> {
        if !self.run.power.as_ref().is_some_and(|power| power.has_states()) {
            return Ok(());
        }
        let (now, under_way) = (self.run.now, self.is_at_work());
        let begins = self.run.power.as_mut().is_some_and(|power| power.instant_is_over(now, under_way));
        if begins {
            observe!(self, Event::RestBegan);
        }
        Ok(())
    }

    /// Whether a command of the host is inside, or a part of the drive works.
    fn is_at_work(&self) -> bool {
        let has_wake_up = |resource| self.run.queue.wake_time(resource) != Ns::NEVER;
        self.host.inside() > 0
            || self.flash.is_at_work(self.run.now)
            || self.reliability.as_ref().is_some_and(|part| !part.has_only_timers())
            || self.run.resources.at_work().any(has_wake_up)
    }

    /// A command of the host was taken in by a drive that draws power, and may have to leave a state before.
    #[inline(never)]
    pub(super) fn command_finds_power(&mut self) -> Result<(), SimulationError> {
        let now = self.run.now;
        let Some(until) = self.run.power.as_mut().and_then(|power| power.command_comes(now)) else { return Ok(()) };
        self.run.counters.power_wakes += 1;
        self.host.wakes_at(until);
        observe!(self, Event::Wakes { until });
        Ok(())
    }
}
