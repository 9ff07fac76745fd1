//! The first part of a run by itself: a drive is prepared, and saved.

use std::path::Path;
use std::time::{Duration as WallTime, Instant};

use ninescope_kernel::Ns;

use super::{Phase, SliceProgress};
use crate::error::Error;
use crate::plan::Plan;
use crate::prepare::Preparing;
use crate::request::RunRequest;
use crate::snapshot::{PreparedDrive, Shape};

/// The preparation of a drive by itself, without a run: to be saved.
#[derive(Debug)]
pub struct DrivePreparation {
    preparing: Preparing,
    shape: Shape,
    drive: Option<PreparedDrive>,
}

impl DrivePreparation {
    /// The preparation that the run of a request would begin with.
    ///
    /// # Errors
    /// [`Error::Input`] that names file, line or key, or when there is nothing to prepare.
    pub fn new(request: &RunRequest) -> Result<Self, Error> {
        let mut plan = Plan::new(request)?;
        if plan.nothing_to_prepare() {
            let problem = "nothing to prepare: the drive needs flash, and `prefill` another value than `none`";
            return Err(Error::Input(problem.to_owned()));
        }
        let shape = plan.shape();
        Ok(Self { preparing: plan.preparing()?, shape, drive: None })
    }

    /// Goes on for about `budget` of wall time.
    ///
    /// # Errors
    /// See [`Error`]; it is over then.
    pub fn advance(&mut self, budget: WallTime) -> Result<SliceProgress, Error> {
        let begin = Instant::now();
        while self.drive.is_none() && begin.elapsed() < budget {
            self.drive = self.preparing.step()?;
        }
        Ok(self.progress())
    }

    /// How far it is.
    pub fn progress(&self) -> SliceProgress {
        let (done, total) = self.preparing.progress();
        let finished = self.drive.is_some();
        SliceProgress { phase: Phase::Prepare, done, total: Some(total), simulated: Ns::ZERO, finished }
    }

    /// Saves the drive, once it is ready.
    ///
    /// # Errors
    /// [`Error::Input`] when the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        match &self.drive {
            Some(drive) => drive.save(&self.shape, path),
            None => Err(Error::Internal("the drive is not prepared yet".to_owned())),
        }
    }
}
