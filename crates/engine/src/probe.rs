//! Observation: a generic probe that sees what the device does, compiled away where there is none.

use ninescope_ftl::Ftl;
use ninescope_kernel::Ns;
use ninescope_media::nand::{FlashCommand, Nand};
use ninescope_model::{BlockGroup, Lpa, Ppa, Request};

use crate::SimulationError;

/// What a probe may look at.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Simulated time.
    pub now: Ns,
    /// The translation layer.
    pub ftl: &'a Ftl,
    /// The media.
    pub nand: &'a Nand,
}

/// The view of a device, field by field, so that the probe itself can be borrowed beside it.
macro_rules! view_of {
    ($device:expr) => {
        $crate::probe::View { now: $device.now, ftl: &$device.ftl, nand: &$device.nand }
    };
}
pub(crate) use view_of;

/// Called at each step that changes what the device holds. An error ends the run.
pub trait Probe {
    /// A flash command was issued (its channel phase begins).
    ///
    /// # Errors
    /// What the probe found wrong.
    fn command_issued(&mut self, _view: View<'_>, _command: &FlashCommand) -> Result<(), SimulationError> {
        Ok(())
    }

    /// The array phase of a command ended.
    ///
    /// # Errors
    /// What the probe found wrong.
    fn command_ended(&mut self, _view: View<'_>, _command: &FlashCommand) -> Result<(), SimulationError> {
        Ok(())
    }

    /// The map of `lpa` changed from `old` to `new` (either may be unmapped).
    ///
    /// # Errors
    /// What the probe found wrong.
    fn map_updated(&mut self, _view: View<'_>, _lpa: Lpa, _old: Ppa, _new: Ppa) -> Result<(), SimulationError> {
        Ok(())
    }

    /// A group was erased.
    ///
    /// # Errors
    /// What the probe found wrong.
    fn erased(&mut self, _view: View<'_>, _group: BlockGroup) -> Result<(), SimulationError> {
        Ok(())
    }

    /// A host command completed.
    ///
    /// # Errors
    /// What the probe found wrong.
    fn completed(&mut self, _view: View<'_>, _id: u64, _request: &Request) -> Result<(), SimulationError> {
        Ok(())
    }
}

/// No observation, no cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {}
