//! Block groups: units handed out in order, valid counts, and what forbids an erase.

use ninescope_engine::{Dropped, SimulationError, View};
use ninescope_kernel::Ns;
use ninescope_media::nand::FlashCommand;
use ninescope_model::{BlockGroup, Ppa};

use crate::Rule;
use crate::blocks::group_of_block;
use crate::die_sets::units_of_stripe;
use crate::rule::{Checked, require};
use crate::stripes::group_of;
use crate::wordlines::units_together;

/// The checker's own record of a group.
#[derive(Clone, Copy, Debug, Default)]
pub struct Group {
    /// Units handed out since the last erase.
    pub write_pointer: u32,
    /// When the first unit was that is programmed with the last one.
    pub begun: Ns,
    /// Units the map points at.
    pub valid: u32,
    /// Reads queued or running.
    pub readers: u32,
    /// Moves into it that have not ended.
    pub pending: u32,
    /// Its erase was issued.
    pub erasing: bool,
    /// Where it lies on several dies: by how many.
    erasing_dies: u32,
    /// What was to be programmed there stays in the controller.
    pub kept: bool,
    /// The drive is erased as a whole: it may be erased before it is full.
    given_up: bool,
}

/// All groups.
#[derive(Debug, Default)]
pub struct Groups {
    all: Vec<Group>,
    /// Units handed out over the whole run.
    pub handed_out: u64,
    /// Stripes of parity that became whole with them.
    pub whole_stripes: u64,
}

impl Groups {
    /// Takes over what preparing left.
    pub fn started(&mut self, view: &View<'_>) {
        let groups = (0..view.ftl.geometry().groups()).map(BlockGroup);
        self.all = groups
            .map(|group| Group {
                write_pointer: view.ftl.group(group).write_pointer,
                valid: view.ftl.valid_units(group),
                ..Group::default()
            })
            .collect();
    }

    /// The record of a group.
    pub fn get(&self, group: BlockGroup) -> &Group {
        &self.all[group.index()]
    }

    /// Units of a group were handed out up to and with the one at `last`. With `exactly` it was one.
    fn handed_out(&mut self, view: &View<'_>, last: Ppa, exactly: bool) -> Result<&mut Group, SimulationError> {
        let (id, offset) = view.ftl.geometry().group_and_offset(last);
        let together = units_together(view, id);
        let group = &mut self.all[id.index()];
        let next = group.write_pointer;
        if group.erasing || offset < next || (exactly && offset != next) {
            let what = format!(
                "group {id}: unit {offset} is handed out where {next} is next{}",
                if group.erasing { " and the group is being erased" } else { "" }
            );
            return Err(Rule::ProgramOrder.violated(view.now, what));
        }
        self.handed_out += u64::from(offset + 1 - next);
        let per_stripe = units_of_stripe(view.ftl.geometry());
        self.whole_stripes += u64::from((offset + 1) / per_stripe - next / per_stripe);
        group.write_pointer = offset + 1;
        if exactly && next.is_multiple_of(together) {
            group.begun = view.now;
        }
        Ok(group)
    }

    #[inline]
    pub fn written(&mut self, view: &View<'_>, old: Ppa, new: Ppa) -> Checked {
        self.handed_out(view, new, true)?.valid += 1;
        // Both may lie in one group: it is compared when both are counted.
        self.invalidated(view, old)?;
        self.compare_valid(view, new)
    }

    /// A unit of padding was handed out by itself.
    pub fn hole(&mut self, view: &View<'_>, place: Ppa) -> Checked {
        self.handed_out(view, place, true)?;
        self.compare_valid(view, place)
    }

    /// A unit lost its content's only claim to be kept; nothing for an unmapped one.
    #[inline]
    pub fn invalidated(&mut self, view: &View<'_>, old: Ppa) -> Checked {
        if old == Ppa::UNMAPPED {
            return Ok(());
        }
        require!(!view.ftl.is_valid(old), Mapping, view.now, "unit {old} is superseded and still valid");
        let id = view.ftl.geometry().group_and_offset(old).0;
        let group = &mut self.all[id.index()];
        require!(group.valid > 0, ValidCount, view.now, "group {id}: a unit of none becomes invalid");
        group.valid -= 1;
        self.compare_valid(view, old)
    }

    #[inline]
    fn compare_valid(&self, view: &View<'_>, ppa: Ppa) -> Checked {
        let id = view.ftl.geometry().group_and_offset(ppa).0;
        let (said, seen) = (view.ftl.valid_units(id), self.all[id.index()].valid);
        require!(said == seen, ValidCount, view.now, "group {id}: {said} valid units are counted, {seen} were seen");
        Ok(())
    }

    pub fn padded(&mut self, view: &View<'_>, last: Ppa) -> Result<u32, SimulationError> {
        let before = self.get(view.ftl.geometry().group_and_offset(last).0).write_pointer;
        let units_per_page = units_together(view, view.ftl.geometry().group_and_offset(last).0);
        let group = self.handed_out(view, last, false)?;
        let (padded, page_end) = (group.write_pointer - before, group.write_pointer);
        // A zone that is finished is padded page after page, and so is what a merge has nothing for.
        let most = if view.ftl.zones().is_some() || view.ftl.block_map().is_some() {
            units_per_page
        } else {
            units_per_page - 1
        };
        if padded > most || !page_end.is_multiple_of(units_per_page) {
            let what = format!("{padded} units of padding end at unit {page_end} of a group");
            return Err(Rule::ProgramOrder.violated(view.now, what));
        }
        Ok(padded)
    }

    pub fn move_placed(&mut self, view: &View<'_>, to: Ppa) -> Checked {
        self.handed_out(view, to, true)?.pending += 1;
        Ok(())
    }

    pub fn move_ended(&mut self, view: &View<'_>, from: Ppa, to: Ppa, current: bool) -> Checked {
        let id = view.ftl.geometry().group_and_offset(to).0;
        let group = &mut self.all[id.index()];
        require!(group.pending > 0, EraseUnderMove, view.now, "group {id}: a move ended that was not under way");
        group.pending -= 1;
        if current {
            group.valid += 1;
            self.invalidated(view, from)?;
            self.compare_valid(view, to)?;
        }
        Ok(())
    }

    /// Units of a group whose zone is reset are forgotten before they are on their way to the media.
    pub fn dropped(&mut self, view: &View<'_>, dropped: &Dropped) -> Checked {
        let group = &mut self.all[dropped.group.index()];
        require!(
            group.valid == 0 && dropped.units <= group.write_pointer,
            Zones,
            view.now,
            "{dropped:?} of {} units, {} of them valid",
            group.write_pointer,
            group.valid
        );
        group.write_pointer -= dropped.units;
        Ok(())
    }

    /// A page of a group that failed got another place; `programmed`, or never to be programmed at the old one.
    pub fn page_rewritten(&mut self, view: &View<'_>, (from, to): (Ppa, Ppa), programmed: bool, moves: u32) -> Checked {
        let units = view.ftl.geometry().units_per_page();
        let begin = self.get(view.ftl.geometry().group_and_offset(to).0).write_pointer;
        let (other, offset) = view.ftl.geometry().group_and_offset(to);
        require!(offset == begin, ProgramOrder, view.now, "page {to} of group {other} is handed out, {begin} is next");
        self.handed_out(view, Ppa(to.0 + units - 1), false)?;
        let valid = (to.0..to.0 + units).filter(|&unit| view.ftl.is_valid(Ppa(unit))).count() as u32;
        let group = &mut self.all[other.index()];
        (group.valid, group.pending) = (group.valid + valid, group.pending + moves);
        let old = &mut self.all[view.ftl.geometry().group_and_offset(from).0.index()];
        require!(
            old.valid >= valid && old.pending >= moves,
            ValidCount,
            view.now,
            "page {from} takes {valid} valid units and {moves} moves along, its group has {} and {}",
            old.valid,
            old.pending
        );
        (old.valid, old.pending) = (old.valid - valid, old.pending - moves);
        if !programmed {
            old.write_pointer -= units;
            self.handed_out -= u64::from(units);
        }
        self.compare_valid(view, from)?;
        self.compare_valid(view, to)
    }

    /// The drive is about to be erased as a whole: nothing is on its way to its groups or from them.
    pub fn all_given_up(&mut self, view: &View<'_>) -> Checked {
        for (group, id) in self.all.iter_mut().zip(0..) {
            let programmed = view.ftl.group(BlockGroup(id)).programmed;
            require!(
                group.readers == 0 && group.pending == 0 && !group.erasing && programmed == group.write_pointer,
                DriveErase,
                view.now,
                "the drive is erased, and of group {id} {programmed} units are programmed: {group:?}"
            );
            group.given_up = group.write_pointer > 0;
        }
        Ok(())
    }

    /// A page of a group that failed has no other place.
    pub fn page_kept(&mut self, view: &View<'_>, page: Ppa, moves: u32) {
        let group = &mut self.all[view.ftl.geometry().group_and_offset(page).0.index()];
        (group.kept, group.pending) = (true, group.pending - moves);
    }

    #[inline]
    pub fn read_queued(&mut self, view: &View<'_>, ppa: Ppa) -> Checked {
        let id = group_of(view.ftl.geometry(), ppa);
        let group = &mut self.all[id.index()];
        require!(!group.erasing, EraseUnderRead, view.now, "{ppa} of group {id} is read while it is erased");
        group.readers += 1;
        Ok(())
    }

    /// A read that ended is repeated: it is as queued as before.
    pub fn read_repeats(&mut self, view: &View<'_>, ppa: Ppa) {
        self.all[group_of(view.ftl.geometry(), ppa).index()].readers += 1;
    }

    /// One that was to stay on is not queued any more.
    pub fn reader_leaves(&mut self, view: &View<'_>, ppa: Ppa) {
        self.all[group_of(view.ftl.geometry(), ppa).index()].readers -= 1;
    }

    /// A read command ended: one read of each group it addressed is over.
    #[inline]
    pub fn read_ended(&mut self, view: &View<'_>, command: &FlashCommand) -> Checked {
        for plane in command.addressed_planes() {
            let id = group_of_block(view.ftl.geometry(), command.die, plane, command.block[plane]);
            let group = &mut self.all[id.index()];
            require!(group.readers > 0, EraseUnderRead, view.now, "group {id}: a read ended that was not queued");
            group.readers -= 1;
        }
        Ok(())
    }

    /// The groups a command erases.
    fn groups_of<'a>(view: &'a View<'_>, command: &'a FlashCommand) -> impl Iterator<Item = BlockGroup> + 'a {
        let geometry = view.ftl.geometry();
        let first_planes = command.addressed_planes().filter(|plane| plane % geometry.frontier_planes as usize == 0);
        first_planes.map(|plane| group_of_block(geometry, command.die, plane, command.block[plane]))
    }

    pub fn erase_issued(&mut self, view: &View<'_>, command: &FlashCommand) -> Checked {
        let now = view.now;
        for id in Self::groups_of(view, command) {
            let full = view.ftl.capacity_of(id);
            let group = &mut self.all[id.index()];
            require!(
                group.valid == 0,
                EraseWithValidUnits,
                now,
                "group {id} is erased with {} valid units",
                group.valid
            );
            require!(group.readers == 0, EraseUnderRead, now, "group {id} is erased under {} reads", group.readers);
            let is_filled = group.write_pointer == full
                || view.ftl.zones().is_some()
                || view.ftl.block_map().is_some()
                || group.given_up;
            let goes_on = group.erasing_dies < view.ftl.geometry().stripe_dies();
            require!(
                group.pending == 0 && is_filled && goes_on,
                EraseUnderMove,
                now,
                "group {id} is erased with {} of {full} units handed out and {} moves into it under way{}",
                group.write_pointer,
                group.pending,
                if group.erasing { ", while it is erased" } else { "" }
            );
            group.erasing = true;
            group.erasing_dies += 1;
        }
        Ok(())
    }

    pub fn erased(&mut self, now: Ns, id: BlockGroup) -> Checked {
        let group = &mut self.all[id.index()];
        require!(
            group.erasing && group.valid == 0 && group.readers == 0,
            EraseWithValidUnits,
            now,
            "group {id} is free with {} valid units and {} reads; an erase was {}issued",
            group.valid,
            group.readers,
            if group.erasing { "" } else { "never " }
        );
        *group = Group::default();
        Ok(())
    }
}
