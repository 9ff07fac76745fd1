//! What random write areas of zones hold: the version that was written there last, until it is committed or its zone is reset.

use ninescope_engine::View;
use ninescope_model::{Lpa, Ppa};

use super::Oracle;
use super::content::Content;
use crate::requests::Inside;
use crate::rule::{Checked, require};

impl Oracle {
    /// A command wrote a whole unit into the area of its zone.
    pub fn written_into_area(&mut self, slot: u32, inside: &Inside, lpa: Lpa) {
        if !self.follows(lpa) {
            return;
        }
        self.leaves_area(lpa);
        let version = self.command(slot).version;
        let content = self.contents.create(lpa, |_, _| version);
        self.areas.insert(lpa.0, content);
        let all = self.history.all_sectors();
        self.history.written(lpa, all, version, inside.invocation, self.initial(lpa));
    }

    /// What an area holds of a unit, with a reference for who reads it.
    pub(super) fn in_area(&mut self, lpa: Lpa) -> Content {
        let content = self.areas.get(&lpa.0).copied().unwrap_or(Content::NONE);
        self.contents.share(content)
    }

    /// An area holds nothing of a unit any more.
    pub(super) fn leaves_area(&mut self, lpa: Lpa) {
        if let Some(content) = self.areas.remove(&lpa.0) {
            self.contents.release(content);
        }
    }

    /// A unit that an area held got a place.
    pub fn committed(&mut self, view: &View<'_>, lpa: Lpa, new: Ppa) -> Checked {
        if !self.follows(lpa) {
            return Ok(());
        }
        let content = self.areas.remove(&lpa.0);
        require!(content.is_some(), LostData, view.now, "unit {lpa} is committed to {new}, and no area holds it");
        self.contents.put(new, content.unwrap_or(Content::NONE));
        Ok(())
    }
}
