//! Content that is no good, and the store behind a cache-oriented drive.
//!
//! What a read of the drive's own lost or spoiled is carried on as such: a host read that returns it must be told. The
//! store holds what clean writes wrote through and what flush reads brought, and forgets what is trimmed.

use ninescope_engine::View;
use ninescope_model::{Lpa, Ppa};

use super::content::{Content, NEVER_WRITTEN, SPOILED, Version};
use super::{Oracle, ReadUnit};
use crate::reliability::clean::CleanUnits;
use crate::reliability::damage::Damage;
use crate::rule::{Checked, require};
use crate::tier::TierBook;

impl Oracle {
    // ---- what is no good ---------------------------------------------------------------------------

    fn spoiled(&mut self, lpa: Lpa) -> Content {
        self.contents.create(lpa, |_, _| SPOILED)
    }

    /// What a move carries is no good.
    pub fn spoil_move(&mut self, record: u32, lpa: Lpa) {
        if self.follows(lpa) {
            let content = self.spoiled(lpa);
            let before = std::mem::replace(&mut self.moves[record as usize], content);
            self.contents.release(before);
        }
    }

    /// What completes a unit written in part is no good.
    pub fn spoil_merge(&mut self, slot: u32, lpa: Lpa) {
        if !self.follows(lpa) {
            return;
        }
        let content = self.spoiled(lpa);
        let merges = &mut self.command(slot).merges;
        let before = match merges.iter_mut().find(|(unit, _)| *unit == lpa) {
            Some((_, merged)) => std::mem::replace(merged, content),
            None => content,
        };
        self.contents.release(before);
    }

    /// Whether what lies at a place is no good.
    pub fn is_spoiled(&self, place: Ppa) -> bool {
        place != Ppa::UNMAPPED && self.any_spoiled(self.contents.at(place))
    }

    fn any_spoiled(&self, content: Content) -> bool {
        (0..self.sectors as usize).any(|sector| self.contents.version(content, sector) == SPOILED)
    }

    /// What is no good and would be read next is known to be so.
    pub fn spoiled_are_known(&self, view: &View<'_>, book: Option<&TierBook>, damage: &Damage) -> Checked {
        for lpa in (0..self.zeros.len() as u32).map(Lpa).filter(|&lpa| self.follows(lpa) && !damage.is_damaged(lpa)) {
            for sector in 0..self.sectors as usize {
                require!(
                    self.version_found(view, book, lpa, sector) != SPOILED,
                    UnreportedDamage,
                    view.now,
                    "sector {sector} of unit {lpa} is no good, and the unit is neither lost nor wrong"
                );
            }
        }
        Ok(())
    }

    // ---- the store behind --------------------------------------------------------------------------

    fn has_store(&self) -> bool {
        !self.behind.is_empty()
    }

    fn behind(&self, lpa: Lpa, sector: usize) -> Version {
        self.behind.get(lpa.index() * self.sectors as usize + sector).copied().unwrap_or(NEVER_WRITTEN)
    }

    /// The store holds versions of some sectors of a unit from now on.
    pub(super) fn put_behind(&mut self, lpa: Lpa, mask: u32, version: impl Fn(&Self, usize) -> Version) {
        for sector in (0..self.sectors as usize).filter(|sector| mask >> sector & 1 == 1) {
            let version = version(self, sector);
            if let Some(place) = self.behind.get_mut(lpa.index() * self.sectors as usize + sector) {
                *place = version;
            }
        }
    }

    /// What the command of a slot wrote of a unit lies behind the drive as well.
    pub fn written_through(&mut self, slot: u32, lpa: Lpa, mask: u32) {
        let version = self.command(slot).version;
        self.put_behind(lpa, mask, |_, _| version);
    }

    /// What the command of a slot read of a unit was written to the store. The unit must not have changed since it was
    /// read.
    pub fn flushed(&mut self, view: &View<'_>, slot: u32, lpa: Lpa) -> Checked {
        if !self.follows(lpa) || !self.has_store() {
            return Ok(());
        }
        let read = self.command(slot).reads.iter().find(|read| read.lpa == lpa).copied();
        let read = read.filter(|read| read.arrived && read.mask == self.history.all_sectors());
        let place = view.ftl.translate(lpa);
        let now = if place == Ppa::UNMAPPED { Content::NONE } else { self.contents.at(place) };
        let same = |read: &ReadUnit| {
            (0..self.sectors as usize).all(|sector| {
                let lies = self.contents.version(now, sector);
                lies == self.version_of(read, sector) || lies == SPOILED
            })
        };
        require!(
            place != Ppa::UNMAPPED && read.is_some_and(|read| same(&read)),
            CopyBehind,
            view.now,
            "unit {lpa} is taken as flushed by the read of slot {slot}, which did not read what lies at {place}: {read:?}"
        );
        if let Some(read) = read {
            self.put_behind(lpa, self.history.all_sectors(), |oracle, sector| oracle.version_of(&read, sector));
        }
        Ok(())
    }

    /// A content is what the store holds of its unit, unless it is no good.
    fn same_behind(&self, view: &View<'_>, lpa: Lpa, content: Content) -> Checked {
        for sector in (0..self.sectors as usize).filter(|_| self.has_store() && self.follows(lpa)) {
            let (own, behind) = (self.contents.version(content, sector), self.behind(lpa, sector));
            require!(
                own == behind || own == SPOILED,
                CopyBehind,
                view.now,
                "sector {sector} of unit {lpa} holds version {own} and is clean, behind the drive lies version {behind}"
            );
        }
        Ok(())
    }

    /// A unit is fetched because its copy at a place is no good: where that is the unit's still, it is the same content.
    pub fn fetched_behind(&self, view: &View<'_>, lpa: Lpa, from: Ppa) -> Checked {
        if view.ftl.translate(lpa) == from { self.same_behind(view, lpa, self.contents.at(from)) } else { Ok(()) }
    }

    fn content_behind(&mut self, lpa: Lpa) -> Content {
        let versions: Vec<Version> = (0..self.sectors as usize).map(|sector| self.behind(lpa, sector)).collect();
        self.contents.create(lpa, |_, sector| versions[sector])
    }

    /// A host read returns what was fetched of a unit.
    pub fn fetched_for_host(&mut self, slot: u32, lpa: Lpa) {
        if !self.follows(lpa) || !self.has_store() {
            return;
        }
        let content = self.content_behind(lpa);
        let read = self.command(slot).reads.iter_mut().find(|read| read.lpa == lpa);
        let before = match read {
            Some(read) => std::mem::replace(&mut read.content, content),
            None => content,
        };
        self.contents.release(before);
    }

    /// What was fetched of a unit got a place.
    pub fn healed(&mut self, view: &View<'_>, lpa: Lpa, (old, new): (Ppa, Ppa)) -> Checked {
        if !self.follows(lpa) {
            return Ok(());
        }
        let held = self.contents.at(old);
        self.same_behind(view, lpa, held)?;
        let content = if self.has_store() { self.content_behind(lpa) } else { self.contents.share(held) };
        self.contents.put(new, content);
        Ok(())
    }

    /// Every clean unit is what the store holds.
    pub fn clean_is_behind(&self, view: &View<'_>, clean: &CleanUnits) -> Checked {
        for lpa in (0..view.ftl.logical_units()).map(Lpa) {
            let place = view.ftl.translate(lpa);
            if place != Ppa::UNMAPPED && clean.is_clean(lpa) {
                self.same_behind(view, lpa, self.contents.at(place))?;
            }
        }
        Ok(())
    }
}
