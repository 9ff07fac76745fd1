//! Getting a drive ready, step by step: from a snapshot where there is one, by preconditioning it otherwise. What is
//! preconditioned is kept where a folder of snapshots was named. Which run the drive is for is not known here.

use ninescope_ftl::{Ftl, FtlConfig, FtlError};

use crate::error::Error;
use crate::precondition::Preconditioning;
use crate::snapshot::{PreparedDrive, Shape, SnapshotPlace, SnapshotReport, Snapshots};

/// Units written between two looks at the clock.
const STEP_UNITS: u32 = 200_000;

/// A drive on its way to being ready.
#[derive(Debug)]
pub struct Preparing {
    config: FtlConfig,
    /// Made when it is known that the drive has to be preconditioned: two would take twice the memory.
    ftl: Option<Ftl>,
    preconditioning: Preconditioning,
    snapshots: Option<Snapshots>,
    looked: bool,
}

impl Preparing {
    /// The preparation of a drive of this shape: by a preconditioning, or from where its snapshot may be. A drive without
    /// flash has nothing to prepare.
    ///
    /// # Errors
    /// [`Error::Input`] when its snapshot cannot be there.
    pub fn new(
        shape: Shape,
        preconditioning: Preconditioning,
        place: Option<SnapshotPlace>,
        has_flash: bool,
    ) -> Result<Self, Error> {
        let nothing = preconditioning.total() == 0;
        let config = shape.ftl.clone();
        let snapshots = match place {
            Some(SnapshotPlace::File(path)) if nothing => {
                let problem = "nothing is prepared for this run: it needs another --prefill, or a drive with flash";
                return Err(Error::Input(format!("{}: {problem}", path.display())));
            }
            Some(place) if !nothing => Some(Snapshots::new(place, shape)?),
            _ => None,
        };
        let ftl = (!has_flash).then(Ftl::absent);
        Ok(Self { config, ftl, preconditioning, snapshots, looked: false })
    }

    /// Goes on; returns the drive when it is ready.
    ///
    /// # Errors
    /// [`Error::Input`] when the snapshot that was named cannot be used, [`Error::Internal`] when a checked
    /// configuration cannot be prepared.
    pub fn step(&mut self) -> Result<Option<PreparedDrive>, Error> {
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
        if !self.preconditioning.advance(&mut ftl, STEP_UNITS)? {
            self.ftl = Some(ftl);
            return Ok(None);
        }
        let (steady, written) = (self.preconditioning.steady_state(), self.preconditioning.written());
        let drive = PreparedDrive { ftl, steady, written, shelves: Vec::new() };
        if let Some(snapshots) = &mut self.snapshots {
            snapshots.keep(&drive);
        }
        Ok(Some(drive))
    }

    /// Units written so far, and how many it will be at most.
    pub fn progress(&self) -> (u64, u64) {
        (self.preconditioning.written(), self.preconditioning.total())
    }

    /// What became of the snapshot, where one was asked for.
    pub fn report(&self) -> Option<&SnapshotReport> {
        self.snapshots.as_ref().map(Snapshots::report)
    }
}
