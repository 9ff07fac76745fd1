//! What host writes may take: free groups, as far as garbage collection leaves them, and room in the write buffer.

use std::collections::BTreeMap;

use ninescope_engine::{BufferLimits, BufferPartsConfig, Dropped, View};
use ninescope_ftl::GroupState;
use ninescope_media::nand::FlashCommand;
use ninescope_model::{BlockGroup, Pool, Ppa, Stream};

use crate::blocks::group_of_block;
use crate::die_sets::{data_dies, parity_die, set_of, units_of_stripe};
use crate::one_shot::OneShotBook;
use crate::rule::{Checked, require};
use crate::wordlines::program_of;

/// The checker's own record of a pool.
#[derive(Clone, Copy, Debug, Default)]
struct PoolSpace {
    free: u32,
    /// Host writes wait for garbage collection.
    held: bool,
}

/// Free groups of all pools, and filled pages of the host that wait for their program.
#[derive(Debug, Default)]
pub struct Space {
    pools: Vec<PoolSpace>,
    reserve: u32,
    /// Where collection is in the foreground: groups that are free when host writes begin to wait, and when they go on.
    marks: Option<(u32, u32)>,
    /// By die, or set of dies with parity.
    buffered: Vec<u32>,
    buffered_in_all: u32,
    limits: Option<BufferLimits>,
    /// Parts of the buffer, where tenants have any.
    parts: Option<Parts>,
    /// Waits for room in a part since measuring began.
    pub part_stalls: u64,
}

/// Parts of the buffer.
#[derive(Debug)]
struct Parts {
    rules: BufferPartsConfig,
    /// By part: filled pages.
    filled: Vec<u32>,
    /// By first unit of a page that is begun, or was not programmed to its end: who wrote into it first. None: the drive.
    begun_by: BTreeMap<u32, Option<u16>>,
}

impl Parts {
    fn of(&self, tenant: Option<u16>) -> usize {
        tenant.and_then(|tenant| self.rules.of_tenant.get(tenant as usize)).map_or(0, |&part| part as usize)
    }

    fn of_page(&self, page: u32) -> usize {
        self.of(self.begun_by.get(&page).copied().flatten())
    }

    fn is_full(&self, tenant: Option<u16>) -> bool {
        let part = self.of(tenant);
        self.filled[part] >= self.rules.pages[part]
    }

    fn page_filled(&mut self, page: u32) {
        let part = self.of_page(page);
        self.filled[part] += 1;
    }

    fn page_left(&mut self, page: u32) {
        let part = self.of_page(page);
        self.filled[part] -= 1;
    }
}

/// The die of a pool, or the set of dies that it lies on.
fn set_of_pool(view: &View<'_>, pool: Pool) -> usize {
    pool.index() / view.ftl.geometry().pools_per_die() as usize
}

impl Space {
    /// Takes over what preparing left. Nothing is on its way to the media.
    pub fn started(&mut self, view: &View<'_>, limits: BufferLimits, parts: Option<&BufferPartsConfig>) {
        let geometry = view.ftl.geometry();
        self.reserve = view.ftl.reserve_groups();
        self.marks = view.ftl.rules().gc_trigger.chosen().holds_host_at(self.reserve);
        let of = |pool| PoolSpace { free: view.ftl.free_groups(pool), held: view.ftl.holds_host(pool) };
        self.pools = (0..geometry.pools()).map(Pool).map(of).collect();
        self.buffered = vec![0; (geometry.pools() / geometry.pools_per_die().max(1)) as usize];
        (self.buffered_in_all, self.limits) = (0, Some(limits));
        self.parts = parts.map(|rules| Parts {
            rules: rules.clone(),
            filled: vec![0; rules.pages.len()],
            begun_by: BTreeMap::new(),
        });
    }

    /// A write of a tenant waits, for room in the buffer.
    pub fn waits_for_buffer(&mut self, tenant: u16) {
        self.part_stalls += u64::from(self.parts.as_ref().is_some_and(|parts| parts.is_full(Some(tenant))));
    }

    /// What the device counted is what was seen.
    pub fn compare(&self, view: &View<'_>) -> Checked {
        let (said, seen) = (view.counters.part_stalls, self.part_stalls);
        require!(said == seen, Ledger, view.now, "engine.part_stalls is {said}, {seen} were seen");
        Ok(())
    }

    fn pool(&mut self, view: &View<'_>, group: BlockGroup) -> &mut PoolSpace {
        &mut self.pools[view.ftl.geometry().pool_and_block(group).0.index()]
    }

    /// The number of free groups of a pool has changed.
    fn free_changed(&mut self, pool: Pool) {
        let record = &mut self.pools[pool.index()];
        record.held = self.marks.is_some_and(|(low, high)| record.free <= low || (record.held && record.free < high));
    }

    fn opened(&mut self, view: &View<'_>, group: BlockGroup) {
        self.pool(view, group).free -= 1;
        self.free_changed(view.ftl.geometry().pool_and_block(group).0);
    }

    /// A unit of a stream of the host got a place, which a tenant wrote, or the drive.
    #[inline]
    pub fn host_unit(&mut self, view: &View<'_>, place: Ppa, tenant: Option<u16>) -> Checked {
        self.unit(view, place, tenant, true)
    }

    /// The same of a unit of a zone that was committed. Of a zone that is finished a stripe that is begun is filled whatever room
    /// there is.
    pub fn committed(&mut self, view: &View<'_>, place: Ppa, tenant: u16, is_finished: bool) -> Checked {
        let geometry = view.ftl.geometry();
        let is_begun = !geometry.group_and_offset(place).1.is_multiple_of(units_of_stripe(geometry));
        self.unit(view, place, Some(tenant), !(is_finished && is_begun))
    }

    fn unit(&mut self, view: &View<'_>, place: Ppa, tenant: Option<u16>, needs_room: bool) -> Checked {
        let geometry = view.ftl.geometry();
        let (group, offset) = geometry.group_and_offset(place);
        let pool = geometry.pool_and_block(group).0;
        let die = set_of_pool(view, pool);
        let (of_die, in_all) = (self.buffered[die], self.buffered_in_all);
        require!(
            !needs_room || self.limits.is_none_or(|limits| of_die < limits.of_die && in_all < limits.of_all),
            Space,
            view.now,
            "unit {place} goes to die {die}, for which {of_die} pages are in the write buffer, of {in_all} in all; {:?}",
            self.limits
        );
        if offset == 0 {
            let PoolSpace { free, held } = self.pools[pool.index()];
            require!(
                free > self.reserve && !held,
                Space,
                view.now,
                "a host write opens group {group} where {free} are free in pool {pool}, {} are the reserve{}",
                self.reserve,
                if held { ", and host writes wait for garbage collection" } else { "" }
            );
            self.opened(view, group);
        }
        let page = program_of(view, place);
        if let Some(parts) = &mut self.parts {
            require!(
                !parts.is_full(tenant),
                Space,
                view.now,
                "unit {place} of tenant {tenant:?} goes into a part of the write buffer that is full: {parts:?}"
            );
            parts.begun_by.entry(page).or_insert(tenant);
        }
        if (offset + 1).is_multiple_of(geometry.units_per_page()) {
            self.page_filled(die, page);
        }
        Ok(())
    }

    fn page_filled(&mut self, die: usize, page: u32) {
        self.buffered[die] += 1;
        self.buffered_in_all += 1;
        if let Some(parts) = &mut self.parts {
            parts.page_filled(page);
        }
    }

    /// A move got a place.
    pub fn move_unit(&mut self, view: &View<'_>, place: Ppa) {
        let (group, offset) = view.ftl.geometry().group_and_offset(place);
        if offset == 0 {
            self.opened(view, group);
        }
    }

    /// An open page was filled up with so many units of padding, `whole` pages behind it among them: one of the host goes into the buffer
    /// whether or not that has room. Pages of nothing but padding do not.
    pub fn padded(&mut self, view: &View<'_>, last: Ppa, units: u32, whole: u32) {
        let geometry = view.ftl.geometry();
        let behind = whole * geometry.units_per_page();
        if !view.ftl.stream_of(last).is_of_moves() && units > behind {
            let pool = geometry.pool_and_block(geometry.group_and_offset(last).0).0;
            self.page_filled(set_of_pool(view, pool), program_of(view, Ppa(last.0 - behind)));
        }
    }

    /// Padding of a zone, or of a merge, may begin a group.
    pub fn zone_padded(&mut self, view: &View<'_>, last: Ppa, units: u32) {
        let (group, offset) = view.ftl.geometry().group_and_offset(last);
        if offset + 1 == units {
            self.opened(view, group);
        }
    }

    /// Of a group whose zone is reset, pages are in the buffer no more; it is free where it is not to be erased.
    pub fn dropped(&mut self, view: &View<'_>, dropped: &Dropped) {
        let pool = view.ftl.geometry().pool_and_block(dropped.group).0;
        self.buffered[set_of_pool(view, pool)] -= dropped.pages;
        self.buffered_in_all -= dropped.pages;
        if !dropped.erase {
            self.pool(view, dropped.group).free += 1;
        }
    }

    /// A page whose group failed goes to another one; where its program has ended it is in the buffer again.
    pub fn page_rewritten(&mut self, view: &View<'_>, (from, to): (Ppa, Ppa), programmed: bool) {
        let (group, offset) = view.ftl.geometry().group_and_offset(to);
        if offset == 0 {
            self.opened(view, group);
        }
        if let Some(parts) = &mut self.parts
            && let Some(tenant) = parts.begun_by.remove(&from.0)
        {
            parts.begun_by.insert(to.0, tenant);
        }
        if programmed && !view.ftl.stream_of(to).is_of_moves() {
            let geometry = view.ftl.geometry();
            self.page_filled(set_of_pool(view, geometry.pool_and_block(group).0), to.0);
        }
    }

    /// A page has no other place: it is in the buffer no more.
    pub fn page_kept(&mut self, view: &View<'_>, page: Ppa, buffered: bool) {
        if buffered && !view.ftl.stream_of(page).is_of_moves() {
            let geometry = view.ftl.geometry();
            let pool = geometry.pool_and_block(geometry.group_and_offset(page).0).0;
            self.buffered[set_of_pool(view, pool)] -= 1;
            self.buffered_in_all -= 1;
            if let Some(parts) = &mut self.parts {
                parts.page_left(page.0);
            }
        }
    }

    /// A program ended: pages of the host are in the buffer no more.
    pub fn programmed(&mut self, view: &View<'_>, command: &FlashCommand, wordlines: Option<&OneShotBook>) -> Checked {
        for plane in command.addressed_planes() {
            let pages = wordlines.map_or(1, |book| book.pages_held(view, command, plane));
            let group = group_of_block(view.ftl.geometry(), command.die, plane, command.block[plane]);
            let is_parity = parity_die(view.ftl.geometry(), group) == Some(command.die);
            if Stream(u32::from(view.ftl.group(group).stream)).is_of_moves() || is_parity {
                continue;
            }
            let of_die = &mut self.buffered[set_of(view.ftl.geometry(), command.die) as usize];
            require!(*of_die >= pages, Space, view.now, "die {} programs a page that is in no buffer", command.die);
            *of_die -= pages;
            self.buffered_in_all -= pages;
            if let Some(parts) = &mut self.parts {
                let geometry = view.ftl.geometry();
                // Pages of one number go round the dies of a set that hold data.
                let dies = data_dies(geometry, group);
                let member = dies.iter().position(|&die| die == command.die).unwrap_or_default();
                let row = command.page[plane] * dies.len() as u32 + member as u32;
                let number = row * geometry.frontier_planes + plane as u32 % geometry.frontier_planes;
                for _ in 0..pages {
                    parts.page_left(geometry.first_unit(group).0 + number * geometry.units_per_page());
                }
            }
        }
        Ok(())
    }

    /// A group is free.
    pub fn erased(&mut self, view: &View<'_>, group: BlockGroup) {
        self.pool(view, group).free += 1;
        let geometry = view.ftl.geometry();
        self.free_changed(geometry.pool_and_block(group).0);
        if let Some(parts) = &mut self.parts {
            let (first, units) = (geometry.first_unit(group).0, geometry.units_per_group());
            let gone: Vec<u32> = parts.begun_by.range(first..first + units).map(|(&page, _)| page).collect();
            for page in gone {
                parts.begun_by.remove(&page);
            }
        }
    }

    /// Host writes of a pool go on, although garbage collection did not gain what they waited for: they did wait, and it finds
    /// less than a group's worth of what is invalid in what it may empty. Where something is kept apart it may rest before.
    pub fn released(&mut self, view: &View<'_>, pool: Pool) -> Checked {
        let geometry = view.ftl.geometry();
        let units = geometry.units_per_group();
        let groups = (pool.0 * geometry.blocks_per_plane..).take(geometry.blocks_per_plane as usize).map(BlockGroup);
        let gained = |group: BlockGroup| {
            let record = view.ftl.group(group);
            let is_filled = record.pending == 0 && record.programmed == units;
            if record.failed {
                return 0;
            }
            match record.state {
                GroupState::Closed if is_filled => units - view.ftl.valid_units(group),
                GroupState::Collecting => units - view.ftl.valid_units(group),
                GroupState::Erasing => units,
                _ => 0,
            }
        };
        let held = std::mem::replace(&mut self.pools[pool.index()].held, false);
        let to_gain: u32 = groups.map(gained).sum();
        require!(
            held && (to_gain < units || view.ftl.keeps_apart() || view.ftl.is_read_only()),
            Space,
            view.now,
            "host writes of pool {pool} are told to wait no more: {}, and garbage collection may gain {to_gain} units",
            if held { "they waited" } else { "they did not wait" }
        );
        Ok(())
    }

    /// The device says the same of all pools.
    pub fn sweep(&self, view: &View<'_>) -> Checked {
        for (pool, own) in self.pools.iter().enumerate() {
            let id = Pool(pool as u32);
            let said = (view.ftl.free_groups(id), view.ftl.holds_host(id));
            require!(
                said == (own.free, own.held),
                Space,
                view.now,
                "pool {pool}: free groups and whether host writes wait are said to be {said:?}, they are {own:?}"
            );
        }
        Ok(())
    }
}
