//! Clean data kept apart: which units have another copy, and that groups of a clean stream hold no others.

use ninescope_engine::View;
use ninescope_model::{Lpa, Ppa};

use crate::rule::{Checked, require};

/// The checker's own book of clean units, by the hints of the host.
#[derive(Debug)]
pub struct CleanUnits {
    clean: Vec<bool>,
}

impl CleanUnits {
    /// Of a drive that tells clean data from dirty data; what preparing wrote is as the drive says.
    pub fn started(view: &View<'_>) -> Option<Self> {
        let units = (0..view.ftl.logical_units()).map(Lpa);
        view.ftl.knows_clean().then(|| Self { clean: units.map(|lpa| view.ftl.is_clean(lpa)).collect() })
    }

    pub fn is_clean(&self, lpa: Lpa) -> bool {
        self.clean[lpa.index()]
    }

    /// A unit got a place from the host. It is clean if all of it is: of one written in part the rest was, or there was
    /// none.
    pub fn written(&mut self, view: &View<'_>, lpa: Lpa, new: Ppa, (clean, whole): (bool, bool), old: Ppa) -> Checked {
        let rest = whole || old == Ppa::UNMAPPED || self.is_clean(lpa);
        self.clean[lpa.index()] = clean && rest;
        self.agrees(view, lpa)?;
        self.lies_apart(view, lpa, new)
    }

    /// What was fetched of a unit got a place: it is clean, or it could not have been fetched.
    pub fn healed(&self, view: &View<'_>, lpa: Lpa, new: Ppa) -> Checked {
        require!(
            self.is_clean(lpa),
            DirtyUnderDetection,
            view.now,
            "unit {lpa} is fetched from behind the drive, where it is not"
        );
        self.lies_apart(view, lpa, new)
    }

    /// A unit was flushed: the store behind the drive has it.
    pub fn flushed(&mut self, view: &View<'_>, lpa: Lpa) -> Checked {
        self.clean[lpa.index()] = true;
        self.agrees(view, lpa)
    }

    fn agrees(&self, view: &View<'_>, lpa: Lpa) -> Checked {
        let (said, seen) = (view.ftl.is_clean(lpa), self.is_clean(lpa));
        let word = |clean| if clean { "clean" } else { "dirty" };
        require!(
            said == seen,
            DirtyUnderDetection,
            view.now,
            "unit {lpa} is said to be {}, it is {}",
            word(said),
            word(seen)
        );
        Ok(())
    }

    /// A unit that is moved goes where its kind goes; a clean one may go among dirty ones where there is no room.
    pub fn moved(&self, view: &View<'_>, lpa: Lpa, to: Ppa) -> Checked {
        if self.is_clean(lpa) { Ok(()) } else { self.lies_apart(view, lpa, to) }
    }

    /// A unit that is placed goes where its kind goes.
    fn lies_apart(&self, view: &View<'_>, lpa: Lpa, place: Ppa) -> Checked {
        let (stream, clean) = (view.ftl.stream_of(place), self.is_clean(lpa));
        require!(
            stream.is_apart() == clean,
            DirtyUnderDetection,
            view.now,
            "unit {lpa} is placed at {place} in a group of stream {stream}, and is {}clean",
            if clean { "" } else { "not " }
        );
        Ok(())
    }

    /// Every unit that is mapped is as clean as the drive thinks, and none that is dirty lies among clean ones.
    pub fn sweep(&self, view: &View<'_>) -> Checked {
        for lpa in (0..view.ftl.logical_units()).map(Lpa) {
            let place = view.ftl.translate(lpa);
            if place == Ppa::UNMAPPED {
                continue;
            }
            self.agrees(view, lpa)?;
            let apart = view.ftl.stream_of(place).is_apart();
            require!(
                !apart || self.is_clean(lpa),
                DirtyUnderDetection,
                view.now,
                "unit {lpa} is dirty and lies at {place} in a group of clean data"
            );
        }
        Ok(())
    }
}
