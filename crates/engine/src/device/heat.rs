//! A drive that warms itself, and may have less power while it is hot.

use super::Device;
use super::kind::Kind;
use crate::error::SimulationError;
use crate::flash::Flash;
use crate::probe::{Event, observe};

impl<K: Kind> Device<K> {
    /// What was drawn until now has warmed the drive: it may be throttled since the last window ended, or not any more.
    #[inline(never)]
    pub(super) fn drive_warms(&mut self) -> Result<(), SimulationError> {
        let now = self.run.now;
        let Some(power) = self.run.power.as_mut().filter(|power| power.has_throttle()) else { return Ok(()) };
        let (changed, begun) = power.warms(now);
        self.run.counters.thermal_throttles += begun;
        if let Some((step, since)) = changed {
            self.flash.throttle_changes(&self.run, step);
            observe!(self, Event::Throttled { step, since });
        }
        Ok(())
    }

    /// A window is over at whose end dies wait for power.
    #[inline(never)]
    pub(super) fn heat_woke(&mut self) -> Result<(), SimulationError> {
        self.drive_warms()?;
        Flash::await_measuring(&mut self.run);
        Ok(())
    }
}
