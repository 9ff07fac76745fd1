//! Static wear levelling: groups whose data lies still are emptied, and where it goes.
//!
//! Which groups these are is the policy's decision. They are emptied as groups that are refreshed are, after what makes space, one at a
//! time in each pool; what they held goes to a stream of its own, whose groups are the most worn of those that are free.

use ninescope_kernel::{NONE, SectionReader, SectionWriter, SnapshotError};
use ninescope_model::{BlockGroup, Pool, Ppa, Stream};

use super::Ftl;
use crate::block::GroupState;
use crate::policies::CandidateView;
use crate::policies::wear_leveling::{Erased, WearLeveling};

/// The policy, and what it has under way.
#[derive(Debug)]
pub(super) struct Leveling {
    policy: Box<dyn WearLeveling>,
    /// What takes the units that it moves.
    pub stream: Stream,
    /// By pool: the group that is emptied, `NONE` for none.
    under_way: Vec<u32>,
}

impl Leveling {
    pub fn new(policy: Box<dyn WearLeveling>, stream: Stream, pools: u32) -> Self {
        Self { policy, stream, under_way: vec![NONE; pools as usize] }
    }

    pub fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        to.begin("leveling")?;
        self.policy.save(to)
    }
}

impl Ftl {
    /// Whether static wear levelling moves data that lies still.
    #[inline]
    pub fn levels_wear(&self) -> bool {
        self.leveling.is_some()
    }

    /// The group of a pool that is emptied, or will be, for wear to be level.
    pub fn leveled_group(&self, pool: Pool) -> Option<BlockGroup> {
        let group = self.leveling.as_ref()?.under_way[pool.index()];
        (group != NONE).then_some(BlockGroup(group))
    }

    /// The stream that takes what is moved for wear to be level; the first one of moves where it is not levelled.
    pub fn leveling_stream(&self) -> Stream {
        self.leveling.as_ref().map_or(Stream::GC, |leveling| leveling.stream)
    }

    /// Groups filled so far in the drive, modulo 2^32.
    pub fn closed_groups(&self) -> u32 {
        self.closed_groups
    }

    /// The stream that takes a unit which is moved for wear to be level; none for others.
    #[inline]
    pub(super) fn stream_of_leveling(&self, pool: Pool, from: Ppa) -> Option<Stream> {
        let leveling = self.leveling.as_ref()?;
        let group = self.geometry.group_and_offset(from).0;
        (leveling.under_way[pool.index()] == group.0).then_some(leveling.stream)
    }

    /// The stream of a place as the choice of streams knows it: what was moved for wear to be level is of the first kind there.
    #[inline]
    pub fn stream_of_data(&self, ppa: Ppa) -> Stream {
        let stream = self.stream_of(ppa);
        match &self.leveling {
            Some(leveling) if leveling.stream == stream => Stream::GC,
            _ => stream,
        }
    }

    /// Of free groups, the most worn one, where that is what a stream takes: its position.
    pub(super) fn most_worn_free(&self, pool: Pool, stream: Stream) -> Option<usize> {
        self.leveling.as_ref().filter(|leveling| leveling.stream == stream)?;
        let erases = |group: u32| self.groups[group as usize].erase_count;
        let free = self.pools[pool.index()].free.iter().enumerate();
        free.max_by_key(|&(position, &group)| (erases(group), std::cmp::Reverse(position)))
            .map(|(position, _)| position)
    }

    /// A group was erased, and is free: another one may have to make way.
    #[cold]
    pub(super) fn level_wear(&mut self, pool: Pool, group: BlockGroup) {
        let erases = self.groups[group.index()].erase_count;
        let read_only = self.is_read_only();
        let Some(leveling) = &mut self.leveling else { return };
        leveling.policy.erased(Erased { pool, group, erases });
        let under_way = &mut leveling.under_way[pool.index()];
        if *under_way == group.0 {
            *under_way = NONE;
        }
        if *under_way != NONE || read_only {
            return;
        }
        let view = CandidateView::of(pool, &self.geometry, (&self.valid_counts, &self.groups), self.closed_groups);
        if let Some(index) = leveling.policy.choose(&view) {
            let chosen = view.group(index);
            *under_way = chosen.0;
            self.pools[pool.index()].refresh.push_back((chosen.0, self.groups[chosen.index()].erase_count));
        }
    }

    /// A group that is retired is levelled no more.
    pub(super) fn level_without(&mut self, group: BlockGroup) {
        let pool = self.geometry.pool_and_block(group).0;
        if let Some(leveling) = &mut self.leveling {
            leveling.policy.retired(group);
            let under_way = &mut leveling.under_way[pool.index()];
            if *under_way == group.0 {
                *under_way = NONE;
            }
        }
    }

    /// A group is, or is no more, one that may be chosen.
    pub(super) fn tell_leveling_of_candidate(&mut self, group: BlockGroup, is_one: bool) {
        if let Some(leveling) = &mut self.leveling {
            if is_one { leveling.policy.joined(group) } else { leveling.policy.left(group) }
        }
    }

    /// A group was filled.
    #[cold]
    pub(super) fn tell_leveling_of_filled(&mut self, pool: Pool, group: BlockGroup) {
        let sequence = self.groups[group.index()].closed_sequence;
        if let Some(leveling) = &mut self.leveling {
            leveling.policy.filled(pool, group, sequence);
        }
    }

    /// Takes over what a drive that was used holds, and what the policy remembers of it.
    pub(super) fn load_leveling(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        let closed = self.closed_by_age();
        let Some(leveling) = &mut self.leveling else { return Ok(()) };
        for (number, record) in self.groups.iter().enumerate() {
            let group = BlockGroup(number as u32);
            let pool = self.geometry.pool_and_block(group).0;
            leveling.policy.starts_with(Erased { pool, group, erases: record.erase_count });
            if record.state == GroupState::Retired {
                leveling.policy.retired(group);
            }
        }
        for group in closed {
            let (pool, sequence) = (self.geometry.pool_and_block(group).0, self.groups[group.index()].closed_sequence);
            leveling.policy.filled(pool, group, sequence);
        }
        from.begin("leveling")?;
        leveling.policy.load(from)
    }
}
