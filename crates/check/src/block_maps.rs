//! Maps of blocks: what each block holds, and what its pages make of it, from the pages alone that are written, copied and left empty.
//!
//! When a scheme merges is not known here: other tests hold that. What it may have at a time, what merges leave, and how many of which
//! kind there were is.

use std::collections::BTreeMap;

use ninescope_engine::View;
use ninescope_ftl::GroupState;
use ninescope_ftl::block_map::{BlockMapConfig, BlockScheme};
use ninescope_model::{BlockGroup, Lpa, Pool, Ppa};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// What a group is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It holds its logical block.
    Data,
    /// Pages that the host wrote since, of one logical block from its first page on.
    Sequential,
    /// The same in the order of coming.
    Log,
    /// Another group holds what it held.
    Left,
}

/// Who gave a group a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Host,
    Merge,
}

/// What is known of a group.
#[derive(Clone, Copy, Debug)]
struct Held {
    role: Role,
    /// The logical block of its first page that is not empty.
    block: Option<u32>,
    /// No page is of another one.
    of_one: bool,
    /// Each page is at its place.
    in_place: bool,
    pages: u32,
    /// Which of all groups it is that were opened.
    opened: u64,
    /// Which of all pages was its last one.
    written: u64,
}

/// Merges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Merges {
    switch: u64,
    partial: u64,
    full: u64,
}

/// The groups of a drive whose map is of blocks.
#[derive(Debug)]
pub struct BlockMapBook {
    config: BlockMapConfig,
    pages: u32,
    groups: BTreeMap<u32, Held>,
    /// By logical block: the group that holds it.
    homes: BTreeMap<u32, u32>,
    /// By logical block modulo the pools: its pool.
    pool_of: Vec<Option<Pool>>,
    seen: Merges,
    /// Groups opened and pages written so far.
    opened: u64,
    written: u64,
    /// Counting began while something was under way.
    began_later: bool,
}

impl BlockMapBook {
    /// Takes over what preparing left; none where the map is one of units.
    pub fn started(view: &View<'_>) -> Option<Self> {
        let map = view.ftl.block_map()?;
        let geometry = view.ftl.geometry();
        let mut book = Self {
            config: map.config,
            pages: geometry.units_per_group(),
            groups: BTreeMap::new(),
            homes: BTreeMap::new(),
            pool_of: vec![None; geometry.pools() as usize],
            seen: Merges::default(),
            opened: 0,
            written: 0,
            began_later: false,
        };
        let logs = map.pools.iter().flat_map(|pool| &pool.logs).map(|log| (log.group, Role::Log));
        let sequential = map.pools.iter().filter_map(|pool| pool.sequential).map(|log| (log.group, Role::Sequential));
        let roles: BTreeMap<u32, Role> = logs.chain(sequential).collect();
        for group in (0..geometry.groups()).map(BlockGroup) {
            for page in 0..view.ftl.group(group).write_pointer {
                let content = view.ftl.content(Ppa(geometry.first_unit(group).0 + page));
                let role = roles.get(&group.0).copied().unwrap_or(Role::Data);
                let held = book.groups.entry(group.0).or_insert_with(|| Held::new(role));
                held.gets(page, Some(content).filter(|content| *content != Lpa::NONE), book.pages);
            }
            if let Some(Held { role: Role::Data, block: Some(block), .. }) = book.groups.get(&group.0) {
                book.homes.insert(*block, group.0);
            }
        }
        Some(book)
    }

    /// Groups of a role in a pool that hold anything.
    fn count(&self, view: &View<'_>, pool: Pool, role: Role) -> u32 {
        let per_pool = view.ftl.geometry().blocks_per_plane;
        let groups = self.groups.range(pool.0 * per_pool..(pool.0 + 1) * per_pool);
        let of_role = groups.filter(|(_, held)| held.role == role);
        of_role.filter(|(group, _)| view.ftl.valid_units(BlockGroup(**group)) > 0).count() as u32
    }

    /// All pages of a logical block lie in a group, but for those that were written later, so that it holds it without a copy.
    fn holds_all(&self, view: &View<'_>, block: u32, group: u32) -> bool {
        let end = ((block + 1) * self.pages).min(view.ftl.logical_units());
        let opened = self.groups[&group].opened;
        (block * self.pages..end).all(|unit| {
            let place = view.ftl.translate(Lpa(unit));
            let later = |group: u32| {
                // What nothing is known of yet is written now.
                self.groups.get(&group).is_none_or(|held| held.role == Role::Log || held.opened >= opened)
            };
            place == Ppa::UNMAPPED || later(view.ftl.geometry().group_and_offset(place).0.0)
        })
    }

    /// A log that is the beginning of its logical block, the one before all others, takes the place of what held that without a
    /// copy. False where it cannot.
    fn was_whole(&mut self, view: &View<'_>, group: u32) -> bool {
        let Some(block) = self.groups[&group].block else { return false };
        let whole = self.holds_all(view, block, group);
        if whole {
            self.seen.switch += 1;
            self.takes_place(block, group);
        }
        whole
    }

    /// The oldest log that is the beginning of a logical block, and not to be erased.
    fn beginning_of(&self, view: &View<'_>, block: u32) -> Option<u32> {
        let logs = self.groups.iter().filter(|(_, held)| held.is_beginning() && held.block == Some(block));
        let stays = logs.filter(|(group, _)| !is_left(view, **group));
        stays.min_by_key(|(_, held)| held.opened).map(|(group, _)| *group)
    }

    /// A group takes the place of the one that held a logical block, and of its logs.
    fn takes_place(&mut self, block: u32, group: u32) {
        let opened = self.groups[&group].opened;
        let own_log = self.config.scheme == BlockScheme::Bast;
        for (&other, held) in &mut self.groups {
            let is_own = held.of_one && held.block == Some(block) && (held.role != Role::Log || own_log);
            if other != group && is_own && (held.opened < opened || held.role == Role::Data) {
                held.role = Role::Left;
            }
        }
        if let Some(held) = self.groups.get_mut(&group) {
            held.role = Role::Data;
        }
        self.homes.insert(block, group);
    }

    /// The host wrote a page of a logical block there.
    pub fn written(&mut self, view: &View<'_>, lpa: Lpa, place: Ppa, marks: &mut Marks) -> Checked {
        self.gets(view, place, Some(lpa), From::Host, marks)
    }

    /// A merge put a page there.
    pub fn moved(&mut self, view: &View<'_>, lpa: Lpa, place: Ppa, marks: &mut Marks) -> Checked {
        self.gets(view, place, Some(lpa), From::Merge, marks)
    }

    /// A merge left a page empty.
    pub fn padded(&mut self, view: &View<'_>, place: Ppa, marks: &mut Marks) -> Checked {
        self.gets(view, place, None, From::Merge, marks)
    }

    fn gets(&mut self, view: &View<'_>, place: Ppa, lpa: Option<Lpa>, from: From, marks: &mut Marks) -> Checked {
        let (BlockGroup(group), offset) = view.ftl.geometry().group_and_offset(place);
        let before = self.groups.get(&group).copied();
        let role = match before {
            Some(held) => held.role,
            None if from == From::Merge => Role::Data,
            None => self.opened_by_host(view, lpa),
        };
        let mut held = before.unwrap_or_else(|| {
            self.opened += 1;
            Held { opened: self.opened, ..Held::new(role) }
        });
        let was_known = held.block.is_some();
        self.written += 1;
        held.written = self.written;
        held.gets(offset, lpa, self.pages);
        if let (None, Role::Log | Role::Sequential, Some(block)) = (before, role, held.block)
            && let Some(log) = self.beginning_of(view, block)
        {
            // A second one of a logical block begins when the first has become its data.
            self.groups.insert(group, held);
            let whole = self.config.scheme == BlockScheme::Fast && role == Role::Log || self.was_whole(view, log);
            self.agrees(view, group, whole, "is the second log of its logical block")?;
        }
        self.groups.insert(group, held);
        if let Some(lpa) = lpa {
            self.lies_in_its_pool(view, lpa, group)?;
        }
        if from == From::Merge && matches!(role, Role::Log | Role::Sequential) {
            // It is filled up from the group whose place it takes.
            self.seen.partial += 1;
            marks.hit(Mark::PartialMerge);
            let begins =
                held.in_place && held.of_one && (role == Role::Sequential || self.config.scheme == BlockScheme::Bast);
            self.agrees(view, group, begins, "is filled up from another one")?;
            self.takes_place(held.block.unwrap_or_default(), group);
        }
        if let (Role::Data, Some(block), false) = (role, held.block, was_known) {
            // A page of the host begins a group where nothing holds its logical block, or where there are no logs.
            let merges = match self.config.scheme {
                BlockScheme::Block => self.is_held(view, block),
                BlockScheme::Bast | BlockScheme::Fast => from == From::Merge || before.is_some(),
            };
            if merges {
                self.seen.full += 1;
                marks.hit(Mark::FullMerge);
                self.takes_place(block, group);
            } else {
                self.homes.insert(block, group);
            }
        }
        let is_full = held.pages == self.pages;
        if is_full && held.in_place && from == From::Host && self.groups[&group].role != Role::Data {
            self.seen.switch += 1;
            marks.hit(Mark::SwitchMerge);
            self.takes_place(held.block.unwrap_or_default(), group);
        }
        self.is_allowed(view, group)
    }

    /// What a group becomes whose first page the host writes.
    fn opened_by_host(&mut self, view: &View<'_>, lpa: Option<Lpa>) -> Role {
        let Some(lpa) = lpa else { return Role::Data };
        let (block, offset) = (lpa.0 / self.pages, lpa.0 % self.pages);
        if !self.is_held(view, block)
            && let Some(log) = self.beginning_of(view, block)
        {
            // The log had nothing to be filled up with, and is what holds it from now on.
            self.was_whole(view, log);
        }
        let is_held = self.is_held(view, block);
        match self.config.scheme {
            BlockScheme::Block => Role::Data,
            _ if offset == 0 && !is_held => Role::Data,
            BlockScheme::Fast if offset == 0 => Role::Sequential,
            _ => Role::Log,
        }
    }

    /// A group holds a logical block, and is not to be erased, as one is of which nothing was left to merge.
    fn is_held(&self, view: &View<'_>, block: u32) -> bool {
        // Of one page each is merged as it is written.
        self.homes.get(&block).is_some_and(|home| self.pages == 1 || !is_left(view, *home))
    }

    /// Logical blocks go to the pools in turn.
    fn lies_in_its_pool(&mut self, view: &View<'_>, lpa: Lpa, group: u32) -> Checked {
        let pool = pool_of(view, group);
        let turn = (lpa.0 / self.pages) as usize % self.pool_of.len();
        let is_others = self.pool_of.iter().enumerate().any(|(other, of)| *of == Some(pool) && other != turn);
        let known = *self.pool_of[turn].get_or_insert(pool);
        require!(
            known == pool && !is_others,
            BlockMap,
            view.now,
            "unit {lpa} lies in pool {pool}, logical blocks go to {:?} in turn",
            self.pool_of
        );
        Ok(())
    }

    fn agrees(&self, view: &View<'_>, group: u32, is_right: bool, what: &str) -> Checked {
        require!(
            is_right,
            BlockMap,
            view.now,
            "group {group} {what}: {:?} under {:?}",
            self.groups[&group],
            self.config
        );
        Ok(())
    }

    /// A group holds what one of its role may, and there are no more of these than may be.
    fn is_allowed(&mut self, view: &View<'_>, group: u32) -> Checked {
        let (held, pool) = (self.groups[&group], pool_of(view, group));
        let logs = self.config.log_blocks;
        let (holds, most) = match (held.role, self.config.scheme) {
            (Role::Data, _) => (held.in_place && held.of_one, u32::MAX),
            (Role::Log, BlockScheme::Bast) => (held.of_one, logs),
            (Role::Log, BlockScheme::Fast) => (true, logs.saturating_sub(1)),
            (Role::Sequential, BlockScheme::Fast) => (held.in_place && held.of_one, 1),
            _ => (false, 0),
        };
        self.agrees(view, group, holds, "holds what it may not")?;
        if self.count(view, pool, held.role) > most {
            // One that had all of its logical block took the place of its data without a copy.
            self.some_were_whole(view, (pool, held.role), group, most);
        }
        let count = self.count(view, pool, held.role);
        self.agrees(view, group, count <= most, &format!("is one of {count} in pool {pool}"))
    }

    /// Logs of a pool that hold all there is of their logical block take the place of what held it, besides one.
    fn some_were_whole(&mut self, view: &View<'_>, (pool, role): (Pool, Role), but: u32, most: u32) {
        let per_pool = view.ftl.geometry().blocks_per_plane;
        let groups = self.groups.range(pool.0 * per_pool..(pool.0 + 1) * per_pool);
        let logs = groups.filter(|(group, held)| **group != but && held.is_beginning());
        // That which was written longest ago makes way, and no more do than have to.
        let mut logs: Vec<(u64, u32)> = logs.map(|(group, held)| (held.written, *group)).collect();
        logs.sort_unstable();
        for (_, log) in logs {
            if self.count(view, pool, role) <= most {
                break;
            }
            self.was_whole(view, log);
        }
    }

    /// A group is free.
    pub fn erased(&mut self, view: &View<'_>, BlockGroup(group): BlockGroup) -> Checked {
        let Some(held) = self.groups.remove(&group) else { return Ok(()) };
        let Some(block) = held.block.filter(|block| self.homes.get(block) == Some(&group)) else { return Ok(()) };
        self.homes.remove(&block);
        if let Some(log) = self.beginning_of(view, block) {
            let whole = self.was_whole(view, log);
            self.agrees(view, log, whole, "has not all that the erased one had")?;
        }
        Ok(())
    }

    pub fn measuring_began(&mut self, view: &View<'_>) {
        let merges = view.ftl.block_map().is_some_and(|map| map.pools.iter().any(|pool| pool.merge.is_some()));
        let leaves = self.groups.values().any(|held| held.role == Role::Left);
        (self.seen, self.began_later) = (Merges::default(), merges || leaves);
    }

    /// The device says the same of which group holds what.
    pub fn sweep(&self, view: &View<'_>) -> Checked {
        let Some(map) = view.ftl.block_map() else { return Ok(()) };
        for (block, &said) in (0..).zip(&map.data) {
            let seen = self.homes.get(&block);
            let pool = self.pool_of[block as usize % self.pool_of.len()];
            let merges = pool.is_some_and(|pool| map.pools[pool.index()].merge.is_some());
            let is_there = self.groups.contains_key(&said);
            require!(
                merges || !is_there || seen == Some(&said) || self.groups[&said].is_beginning(),
                BlockMap,
                view.now,
                "logical block {block} is said to lie in group {said}, it lies in {seen:?}"
            );
        }
        Ok(())
    }

    /// The device counts what was seen.
    pub fn finished(&self, view: &View<'_>) -> Checked {
        let counters = view.ftl.counters();
        let said =
            Merges { switch: counters.switch_merges, partial: counters.partial_merges, full: counters.full_merges };
        // One that was under way in each pool may be of before.
        let most = if self.began_later { self.pool_of.len() as u64 } else { 0 };
        let close = |said: u64, seen: u64| said.abs_diff(seen) <= most;
        require!(
            close(said.switch, self.seen.switch)
                && close(said.partial, self.seen.partial)
                && close(said.full, self.seen.full),
            BlockMap,
            view.now,
            "{said:?} are counted, {:?} were seen",
            self.seen
        );
        Ok(())
    }
}

impl Held {
    fn new(role: Role) -> Self {
        Self { role, block: None, of_one: true, in_place: true, pages: 0, opened: 0, written: 0 }
    }

    /// A page holds a unit, or nothing.
    fn gets(&mut self, page: u32, lpa: Option<Lpa>, pages: u32) {
        self.pages = page + 1;
        if let Some(Lpa(unit)) = lpa {
            let block = *self.block.get_or_insert(unit / pages);
            self.of_one &= unit / pages == block;
            self.in_place &= unit % pages == page;
        }
    }

    /// It is a log, and what it has is the beginning of its logical block.
    fn is_beginning(&self) -> bool {
        matches!(self.role, Role::Log | Role::Sequential) && self.in_place && self.of_one
    }
}

/// A group is to be erased.
fn is_left(view: &View<'_>, group: u32) -> bool {
    matches!(view.ftl.group(BlockGroup(group)).state, GroupState::Draining | GroupState::Erasing)
}

fn pool_of(view: &View<'_>, group: u32) -> Pool {
    view.ftl.geometry().pool_and_block(BlockGroup(group)).0
}
