//! Refresh: groups that are due are asked for once in each of their lives, and emptied.

use ninescope_engine::View;
use ninescope_engine::policies::refresh::RefreshReason;
use ninescope_ftl::GroupState;
use ninescope_kernel::Ns;
use ninescope_model::{BlockGroup, Ppa};

use super::rates::{self, Since};
use super::reliability;
use crate::rule::{Checked, require};
use crate::stripes::group_of;

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Page reads since the erase.
    reads: u32,
    /// When its first page was programmed [ns].
    programmed: Option<Ns>,
    /// Some of it was there at the start: how old that was is not told.
    was_there: bool,
    /// Reads that did not decode and will be counted once more, when they are queued again.
    repeats: u32,
    asked: bool,
}

/// The checker's own book of reads and ages.
#[derive(Debug, Default)]
pub struct Refresh {
    groups: Vec<Group>,
    /// Since measuring began.
    pub by_reads: u64,
    pub by_age: u64,
    pub by_rate: u64,
}

/// Whether garbage collection could choose a group.
fn is_candidate(view: &View<'_>, group: BlockGroup) -> bool {
    let record = view.ftl.group(group);
    record.state == GroupState::Closed
        && record.pending == 0
        && record.programmed == view.ftl.geometry().units_per_group()
}

impl Refresh {
    pub fn started(&mut self, view: &View<'_>) {
        let groups = (0..view.ftl.geometry().groups()).map(BlockGroup);
        let of = |group| {
            let record = view.ftl.group(group);
            Group { reads: record.reads_since_erase, was_there: record.programmed > 0, ..Group::default() }
        };
        self.groups = groups.map(of).collect();
    }

    fn group(&mut self, view: &View<'_>, ppa: Ppa) -> (BlockGroup, &mut Group) {
        let id = group_of(view.ftl.geometry(), ppa);
        (id, &mut self.groups[id.index()])
    }

    /// A page read is queued.
    pub fn read(&mut self, view: &View<'_>, ppa: Ppa) -> Checked {
        let (id, group) = self.group(view, ppa);
        group.reads += 1;
        let said = view.ftl.group(id).reads_since_erase;
        require!(
            (group.reads..=group.reads + group.repeats).contains(&said),
            Refresh,
            view.now,
            "{said} reads of group {id} are counted, {} were seen and {} are being repeated",
            group.reads,
            group.repeats
        );
        let due = reliability(view).refresh().is_some_and(|refresh| refresh.is_due_by_reads(said));
        // The device asks before it tells of the read. What failed is emptied anyway.
        let failed = view.ftl.group(id).failed;
        require!(
            !due || failed || group.asked || !is_candidate(view, id),
            Refresh,
            view.now,
            "group {id} was read {said} times, and its refresh is not asked for"
        );
        Ok(())
    }

    /// A page that was read did not decode, and will be read again.
    pub fn repeats(&mut self, view: &View<'_>, ppa: Ppa) {
        self.group(view, ppa).1.repeats += 1;
    }

    /// It is.
    pub fn repeated(&mut self, view: &View<'_>, ppa: Ppa) {
        let group = self.group(view, ppa).1;
        (group.reads, group.repeats) = (group.reads + 1, group.repeats.saturating_sub(1));
    }

    /// The refresh of a group is asked for.
    pub fn asked(&mut self, view: &View<'_>, id: BlockGroup, reason: RefreshReason) -> Checked {
        let since = self.since_group(id);
        let group = &mut self.groups[id.index()];
        let reads = view.ftl.group(id).reads_since_erase;
        let due = reliability(view).refresh().is_some_and(|refresh| match (reason, group.programmed) {
            (RefreshReason::Reads, _) => refresh.is_due_by_reads(reads),
            (RefreshReason::Age, Some(programmed)) if !group.was_there => refresh.is_due_by_age(view.now - programmed),
            (RefreshReason::Age, _) => group.was_there,
            (RefreshReason::Rate, _) => {
                rates::of_group(view, id, since).is_some_and(|most| refresh.is_due_by_rate(most))
            }
        });
        require!(
            due && !group.asked && is_candidate(view, id),
            Refresh,
            view.now,
            "the refresh of group {id} is asked for ({reason:?}), which is {group:?}"
        );
        group.asked = true;
        *match reason {
            RefreshReason::Reads => &mut self.by_reads,
            RefreshReason::Age => &mut self.by_age,
            RefreshReason::Rate => &mut self.by_rate,
        } += 1;
        Ok(())
    }

    /// The first page of a group was programmed.
    pub fn programmed(&mut self, view: &View<'_>, id: BlockGroup) {
        let group = &mut self.groups[id.index()];
        group.programmed.get_or_insert(view.now);
    }

    /// Since when there is what a group holds.
    pub(super) fn since(&self, view: &View<'_>, ppa: Ppa) -> Since {
        self.since_group(group_of(view.ftl.geometry(), ppa))
    }

    fn since_group(&self, id: BlockGroup) -> Since {
        let group = &self.groups[id.index()];
        match group.programmed {
            Some(programmed) if !group.was_there => Since::Then(programmed),
            _ => Since::TheStart,
        }
    }

    pub fn erased(&mut self, id: BlockGroup) {
        self.groups[id.index()] = Group::default();
    }

    pub fn measuring_began(&mut self) {
        (self.by_reads, self.by_age, self.by_rate) = (0, 0, 0);
    }

    /// At the end what was asked for is done, unless the drive takes no more writes.
    pub fn finished(&self, view: &View<'_>) -> Checked {
        if view.ftl.is_read_only() {
            return Ok(());
        }
        for (id, group) in self.groups.iter().enumerate() {
            let valid = view.ftl.valid_units(BlockGroup(id as u32));
            require!(
                !group.asked || valid == 0,
                Refresh,
                view.now,
                "group {id} was to be refreshed and holds {valid} units at the end"
            );
        }
        Ok(())
    }
}
