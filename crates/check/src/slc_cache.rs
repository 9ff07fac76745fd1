//! Blocks of one bit in a cell: which they are, how many there may be, and what goes into them. Known from where units are put.

use ninescope_engine::View;
use ninescope_ftl::{SlcCacheConfig, WhenSlcFull};
use ninescope_media::nand::{CommandKind, FlashCommand, SLC_PAGE_TYPE};
use ninescope_model::{BlockGroup, Ppa};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// What is known of them.
#[derive(Debug)]
pub struct SlcCacheBook {
    rules: SlcCacheConfig,
    /// By group: it holds one bit in a cell.
    is_slc: Vec<bool>,
    /// By pool: how many do.
    in_use: Vec<u32>,
    /// Units that the host wrote to them since measuring began, and that were moved out of them.
    written: u64,
    folded: u64,
}

impl SlcCacheBook {
    /// Takes over what a drive was told; none where it has no such blocks.
    pub fn started(view: &View<'_>) -> Option<Self> {
        let geometry = view.ftl.geometry();
        let book = |rules: &SlcCacheConfig| Self {
            rules: *rules,
            is_slc: vec![false; geometry.groups() as usize],
            in_use: vec![0; geometry.pools() as usize],
            written: 0,
            folded: 0,
        };
        view.ftl.slc_rules().map(book)
    }

    /// Measuring begins.
    pub fn measuring_began(&mut self) {
        (self.written, self.folded) = (0, 0);
    }

    /// A unit that the host wrote got its place.
    pub fn written(&mut self, view: &View<'_>, new: Ppa, marks: &mut Marks) -> Checked {
        let (group, offset) = view.ftl.geometry().group_and_offset(new);
        if offset == 0 {
            self.opened_by_host(view, group, marks)?;
        }
        self.is_within(view, group, offset)?;
        self.written += u64::from(self.is_slc[group.index()]);
        Ok(())
    }

    /// The host begins to fill a group.
    fn opened_by_host(&mut self, view: &View<'_>, group: BlockGroup, marks: &mut Marks) -> Checked {
        let pool = view.ftl.geometry().pool_and_block(group).0;
        let SlcCacheConfig { fixed, borrowed, when_full, .. } = self.rules;
        let (in_use, is_slc) = (self.in_use[pool.index()], view.ftl.is_slc(group));
        // With the one that was opened there was one more.
        let (free, reserve) = (view.ftl.free_groups(pool), view.ftl.reserve_groups());
        let must = in_use < fixed && free >= reserve || when_full == WhenSlcFull::Wait && in_use > 0;
        let may = in_use < fixed || in_use < fixed + borrowed && free > reserve;
        require!(
            if is_slc { may } else { !must },
            SlcCache,
            view.now,
            "group {group}, which the host fills, holds one bit in a cell: {is_slc}; {in_use} of pool {pool} do, of {fixed} and \
             {borrowed}, and {free} are free"
        );
        self.is_slc[group.index()] = is_slc;
        if !is_slc {
            marks.hit(Mark::PastSlc);
            return Ok(());
        }
        self.in_use[pool.index()] += 1;
        marks.hit(if in_use < fixed { Mark::SlcFixed } else { Mark::SlcBorrowed });
        Ok(())
    }

    /// A unit that is moved got its place.
    pub fn moved(&mut self, view: &View<'_>, (from, to): (Ppa, Ppa), marks: &mut Marks) -> Checked {
        let geometry = view.ftl.geometry();
        let ((source, _), (group, _)) = (geometry.group_and_offset(from), geometry.group_and_offset(to));
        require!(
            !view.ftl.is_slc(group) && !self.is_slc[group.index()],
            SlcCache,
            view.now,
            "what is moved from {from} goes to group {group}, which holds one bit in a cell"
        );
        if self.is_slc[source.index()] {
            self.folded += 1;
            marks.hit(Mark::SlcFolded);
        }
        Ok(())
    }

    /// A unit lies where such a group has pages.
    fn is_within(&self, view: &View<'_>, group: BlockGroup, offset: u32) -> Checked {
        let geometry = view.ftl.geometry();
        let units = self.rules.pages * geometry.units_per_page() * geometry.frontier_planes;
        require!(
            !self.is_slc[group.index()] || offset < units,
            SlcCache,
            view.now,
            "unit {offset} of group {group} is written, which has {units} with one bit in a cell"
        );
        Ok(())
    }

    /// A command goes to its die: it says of its pages what they are.
    pub fn issued(&self, view: &View<'_>, command: &FlashCommand) -> Checked {
        let geometry = view.ftl.geometry();
        if command.kind == CommandKind::Erase {
            return Ok(());
        }
        let says = command.page_type == Some(SLC_PAGE_TYPE);
        for plane in command.addressed_planes() {
            let pool = geometry.pools_of_die(command.die).start + plane as u32 / geometry.frontier_planes;
            let group = BlockGroup(pool * geometry.blocks_per_plane + command.block[plane]);
            require!(
                says == self.is_slc[group.index()],
                SlcCache,
                view.now,
                "a {:?} of group {group} says that it holds one bit in a cell: {says}",
                command.kind
            );
        }
        Ok(())
    }

    /// A group was erased.
    pub fn erased(&mut self, view: &View<'_>, group: BlockGroup) {
        if std::mem::take(&mut self.is_slc[group.index()]) {
            self.in_use[view.ftl.geometry().pool_and_block(group).0.index()] -= 1;
        }
    }

    /// What the drive counts is what happened.
    pub fn sweep(&self, view: &View<'_>) -> Checked {
        let counters = view.ftl.counters();
        let (counted, seen) = ((counters.slc_units, counters.folded_units), (self.written, self.folded));
        require!(
            counted == seen,
            SlcCache,
            view.now,
            "units written to groups of one bit in a cell and moved out of them: {counted:?} are counted, {seen:?} were"
        );
        Ok(())
    }
}
