//! Static wear levelling: which group makes way, worked out anew after each erase by looking at all groups, and where its data goes.

use ninescope_engine::{Event, View};
use ninescope_ftl::GroupState;
use ninescope_ftl::policies::WearLevelingConfig;
use ninescope_model::{BlockGroup, Pool, Ppa, Stream};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// What is known of a drive whose wear is levelled.
#[derive(Debug)]
pub struct LevelingBook {
    /// By pool: erases of the most worn group there has been.
    most: Vec<u32>,
    /// By pool: the group that makes way.
    under_way: Vec<Option<BlockGroup>>,
    /// After an erase: the group that has to be chosen with the next event, or none.
    #[allow(clippy::option_option)] // nothing is known, or that nothing is chosen
    due: Option<Option<BlockGroup>>,
}

/// The groups of a pool.
fn groups_of(view: &View<'_>, pool: Pool) -> impl Iterator<Item = BlockGroup> + use<> {
    let blocks = view.ftl.geometry().blocks_per_plane;
    (pool.0 * blocks..(pool.0 + 1) * blocks).map(BlockGroup)
}

fn is_candidate(view: &View<'_>, group: BlockGroup) -> bool {
    let record = view.ftl.group(group);
    let whole = view.ftl.geometry().units_per_group();
    record.state == GroupState::Closed && record.pending == 0 && record.programmed == whole && !record.failed
}

impl LevelingBook {
    /// Takes over what preparing left; none where wear is not levelled.
    pub fn started(view: &View<'_>) -> Option<Self> {
        let pools = || (0..view.ftl.geometry().pools()).map(Pool);
        let erases = |group| view.ftl.group(group).erase_count;
        view.ftl.levels_wear().then(|| Self {
            most: pools().map(|pool| groups_of(view, pool).map(erases).max().unwrap_or(0)).collect(),
            under_way: pools().map(|pool| view.ftl.leveled_group(pool)).collect(),
            due: None,
        })
    }

    /// By a threshold: the least worn candidate that was filled so long ago, if it is so far behind.
    fn by_threshold(&self, view: &View<'_>, pool: Pool, cycles: u32) -> Option<BlockGroup> {
        let (groups, filled) = (view.ftl.geometry().groups(), view.ftl.closed_groups());
        let lies_still = |group: &BlockGroup| {
            filled.wrapping_sub(view.ftl.group(*group).closed_sequence) > groups && is_candidate(view, *group)
        };
        let erases = |group: &BlockGroup| view.ftl.group(*group).erase_count;
        let least = groups_of(view, pool).filter(lies_still).min_by_key(|group| (erases(group), group.0))?;
        (self.most[pool.index()] - erases(&least) >= cycles).then_some(least)
    }

    fn erased(&mut self, view: &View<'_>, group: BlockGroup) {
        let pool = view.ftl.geometry().pool_and_block(group).0;
        let most = &mut self.most[pool.index()];
        *most = view.ftl.group(group).erase_count.max(*most);
        self.gone(view, group);
        if self.under_way[pool.index()].is_some() || view.ftl.is_read_only() {
            self.due = Some(None);
        } else if let WearLevelingConfig::Threshold(told) = &view.ftl.rules().wear_leveling {
            self.due = Some(self.by_threshold(view, pool, told.cycles));
        }
    }

    /// A group that made way is free, or retired.
    fn gone(&mut self, view: &View<'_>, group: BlockGroup) {
        let under_way = &mut self.under_way[view.ftl.geometry().pool_and_block(group).0.index()];
        if *under_way == Some(group) {
            *under_way = None;
        }
    }

    fn chosen(&mut self, view: &View<'_>, group: BlockGroup) -> Checked {
        let pool = view.ftl.geometry().pool_and_block(group).0;
        let before = self.under_way[pool.index()].replace(group);
        let (erases, most) = (view.ftl.group(group).erase_count, self.most[pool.index()]);
        let behind = match &view.ftl.rules().wear_leveling {
            WearLevelingConfig::None(_) => u32::MAX,
            // One's own has a rule that nobody here knows.
            WearLevelingConfig::Added(_) => 0,
            WearLevelingConfig::Threshold(told) => told.cycles,
            WearLevelingConfig::DualPool(told) => told.cycles + 1,
        };
        require!(
            before.is_none() && is_candidate(view, group) && most - erases >= behind,
            WearLeveling,
            view.now,
            "group {group} makes way with {erases} erases where the most worn has {most}, {before:?} was under way: {:?}",
            view.ftl.rules().wear_leveling
        );
        Ok(())
    }

    /// A unit that is moved got its place.
    fn moved(&self, view: &View<'_>, (from, to): (Ppa, Ppa), marks: &mut Marks) -> Checked {
        let geometry = view.ftl.geometry();
        let (group, offset) = geometry.group_and_offset(to);
        let pool = geometry.pool_and_block(group).0;
        let levels = self.under_way[pool.index()] == Some(geometry.group_and_offset(from).0);
        let own = view.ftl.stream_of(to) == view.ftl.leveling_stream();
        let is_short =
            view.ftl.stream_of(to) == Stream::GC && view.ftl.free_groups(pool) <= view.ftl.reserve_groups() + 1;
        require!(
            levels == own || levels && is_short,
            WearLeveling,
            view.now,
            "a unit of {from} is moved to {to}, in the stream of levelling: {own}, for that: {levels}"
        );
        if own {
            marks.hit(Mark::Leveled);
        }
        let erases = |group: BlockGroup| view.ftl.group(group).erase_count;
        let worn = erases(group);
        require!(
            !own || offset > 0 || view.ftl.free_list(pool).all(|other| erases(other) <= worn),
            WearLeveling,
            view.now,
            "data that lies still goes to group {group}, erased {worn} times, and a more worn one is free"
        );
        Ok(())
    }

    /// Something happened.
    pub fn sees(&mut self, view: &View<'_>, event: &Event<'_>, marks: &mut Marks) -> Checked {
        let chosen = match *event {
            Event::LevelingChosen { group } => Some(group),
            _ => None,
        };
        if let Some(due) = self.due.take() {
            require!(
                chosen == due,
                WearLeveling,
                view.now,
                "after an erase {due:?} has to make way, and {chosen:?} does: {:?}",
                view.ftl.rules().wear_leveling
            );
        }
        match *event {
            Event::LevelingChosen { group } => self.chosen(view, group),
            Event::Erased { group } => {
                self.erased(view, group);
                Ok(())
            }
            Event::EraseBroke { group, .. } | Event::GroupRetired { group } => {
                self.gone(view, group);
                Ok(())
            }
            Event::MovePlaced { from, to, .. } | Event::MoveCopied { from, to, .. } => {
                self.moved(view, (from, to), marks)
            }
            _ => Ok(()),
        }
    }
}
