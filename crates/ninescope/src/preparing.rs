//! Getting a prepared drive, step by step: from a snapshot where there is one, by preparing it otherwise.

use std::path::Path;
use std::time::{Duration as WallTime, Instant};

use ninescope_ftl::{Ftl, FtlConfig, FtlError};
use ninescope_kernel::Ns;

use crate::error::Error;
use crate::plan::Plan;
use crate::prepare::Preparation;
use crate::request::RunRequest;
use crate::simulation::{Phase, SliceProgress};
use crate::snapshot::{PreparedDrive, Shape, SnapshotPlace, SnapshotReport, Snapshots};

/// Units prepared between two looks at the clock.
const STEP_UNITS: u32 = 200_000;

/// A drive on its way to being ready.
#[derive(Debug)]
pub(crate) struct Preparing {
    config: FtlConfig,
    /// Made when it is known that the drive has to be prepared: two would take twice the memory.
    ftl: Option<Ftl>,
    preparation: Preparation,
    snapshots: Option<Snapshots>,
    looked: bool,
}

impl Preparing {
    /// The preparation of a plan, which has none left then.
    ///
    /// # Errors
    /// [`Error::Input`] when its snapshot cannot be there.
    pub(crate) fn of_plan(plan: &mut Plan) -> Result<Self, Error> {
        let shape = plan.shape();
        let nothing = plan.preparation.total() == 0;
        let snapshots = match plan.snapshot_place.take() {
            Some(SnapshotPlace::File(path)) if nothing => {
                let problem = "nothing is prepared for this run: it needs another --prefill, or a drive with flash";
                return Err(Error::Input(format!("{}: {problem}", path.display())));
            }
            Some(place) if !nothing => Some(Snapshots::new(place, shape)?),
            _ => None,
        };
        Ok(Self {
            config: plan.assembly.ftl.clone(),
            ftl: plan.assembly.timing.is_none().then(Ftl::absent),
            preparation: std::mem::replace(&mut plan.preparation, Preparation::of_nothing()),
            snapshots,
            looked: false,
        })
    }

    /// Goes on; returns the drive when it is ready.
    ///
    /// # Errors
    /// [`Error::Input`] when the snapshot that was named cannot be used, [`Error::Internal`] when a checked
    /// configuration cannot be prepared.
    pub(crate) fn step(&mut self) -> Result<Option<PreparedDrive>, Error> {
        if !std::mem::replace(&mut self.looked, true)
            && let Some(snapshots) = &mut self.snapshots
            && let Some(drive) = snapshots.find()?
        {
            return Ok(Some(drive));
        }
        let internal = |error: FtlError| Error::Internal(error.to_string());
        let mut ftl = match self.ftl.take() {
            Some(ftl) => ftl,
            None => Ftl::new(&self.config).map_err(internal)?,
        };
        if !self.preparation.advance(&mut ftl, STEP_UNITS)? {
            self.ftl = Some(ftl);
            return Ok(None);
        }
        let (steady, written) = (self.preparation.steady_state(), self.preparation.written());
        let drive = PreparedDrive { ftl, steady, written };
        if let Some(snapshots) = &mut self.snapshots {
            snapshots.keep(&drive);
        }
        Ok(Some(drive))
    }

    /// Units written so far, and how many it will be at most.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.preparation.written(), self.preparation.total())
    }

    /// What became of the snapshot, where one was asked for.
    pub(crate) fn report(&self) -> Option<&SnapshotReport> {
        self.snapshots.as_ref().map(Snapshots::report)
    }
}

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
        if plan.preparation.total() == 0 {
            let problem = "nothing to prepare: the drive needs flash, and `prefill` another value than `none`";
            return Err(Error::Input(problem.to_owned()));
        }
        let shape = plan.shape();
        Ok(Self { preparing: Preparing::of_plan(&mut plan)?, shape, drive: None })
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
