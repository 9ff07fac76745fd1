//! Partitions: planes that hold the units of some addresses, and of no others.
//!
//! Garbage collection moves units within their pool, so that all it takes is that a unit is written into a pool of its
//! partition. Who wants to have planes of his own, and which addresses are his, is not known here.

use std::ops::Range;

use ninescope_kernel::{BitTable, SectionReader, SectionWriter, Snapshot, SnapshotError};
use ninescope_model::{Geometry, Lpa, Pool};
use serde::{Deserialize, Serialize};

use crate::policies::page_allocation::Placement;
use crate::policies::{PageAllocation, PageAllocationConfig};

/// Planes and the addresses whose units lie there. Every pool and every unit belongs to one partition: those of the host, and those
/// of a map that lies on the media, which are numbered behind them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// Its pools, in ascending order.
    pub pools: Vec<u32>,
    /// Its units: ranges in ascending order.
    pub units: Vec<Range<u32>>,
}

impl Partition {
    /// How many units it is to hold.
    pub fn unit_count(&self) -> u32 {
        self.units.iter().map(|range| range.end - range.start).sum()
    }

    /// How many of them come before a unit: before the first one of the map those are the host's.
    pub fn unit_count_before(&self, end: u32) -> u32 {
        self.units.iter().map(|range| range.end.min(end).saturating_sub(range.start)).sum()
    }
}

/// Gives the `pages` of a map, each of which tells of so many units of the host, of whom there are `units`: each goes where the
/// first unit lies that it tells of.
pub fn give_map(partitions: &mut [Partition], units: u32, pages: u32, entries: u32) {
    if pages == 0 {
        return;
    }
    for partition in partitions {
        for number in 0..partition.units.len() {
            let Range { start, end } = partition.units[number];
            let (first, end) = (units + start.div_ceil(entries), units + end.div_ceil(entries).min(pages));
            match partition.units.last_mut() {
                Some(last) if number > 0 && last.end == first => last.end = end,
                _ if first < end => partition.units.push(first..end),
                _ => {}
            }
        }
    }
}

/// What is wrong with partitions of so many pools and units; `None` where every one of either belongs to one of them.
pub(crate) fn problem(partitions: &[Partition], pools: u32, units: u32) -> Option<String> {
    let mut all_pools: Vec<u32> = partitions.iter().flat_map(|partition| partition.pools.iter().copied()).collect();
    all_pools.sort_unstable();
    if !all_pools.into_iter().eq(0..pools) || partitions.iter().any(|partition| partition.pools.is_empty()) {
        return Some("a group of planes belongs to no partition, or to several".to_owned());
    }
    let mut ranges: Vec<&Range<u32>> = partitions.iter().flat_map(|partition| &partition.units).collect();
    ranges.sort_by_key(|range| range.start);
    let ends = std::iter::once(0).chain(ranges.iter().map(|range| range.end));
    let begins = ranges.iter().map(|range| range.start).chain(std::iter::once(units));
    let ascend = |partition: &Partition| partition.units.windows(2).all(|pair| pair[0].end <= pair[1].start);
    if !ends.eq(begins) || !partitions.iter().all(ascend) || ranges.iter().any(|range| range.is_empty()) {
        return Some("a unit belongs to no partition, or to several".to_owned());
    }
    None
}

/// A range of units of one partition.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    first: u32,
    end: u32,
    partition: u32,
    /// Units of the partition before this range.
    before: u32,
}

/// To which partition units and pools belong.
#[derive(Clone, Debug)]
pub struct Partitions {
    /// In the order of their units; they leave none out.
    stretches: Vec<Stretch>,
    of_pool: Vec<u32>,
    count: u32,
}

impl Partitions {
    fn new(partitions: &[Partition], pools: u32) -> Self {
        let mut of_pool = vec![0; pools as usize];
        let mut stretches = Vec::new();
        for (partition, index) in partitions.iter().zip(0..) {
            partition.pools.iter().for_each(|&pool| of_pool[pool as usize] = index);
            let mut before = 0;
            for &Range { start: first, end } in &partition.units {
                stretches.push(Stretch { first, end, partition: index, before });
                before += end - first;
            }
        }
        stretches.sort_by_key(|stretch| stretch.first);
        Self { stretches, of_pool, count: partitions.len() as u32 }
    }

    #[inline]
    fn stretch(&self, lpa: Lpa) -> &Stretch {
        let behind = self.stretches.partition_point(|stretch| stretch.first <= lpa.0);
        &self.stretches[behind - 1]
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The partition of a unit of the host.
    #[inline]
    pub fn of_unit(&self, lpa: Lpa) -> u32 {
        self.stretch(lpa).partition
    }

    /// The first unit behind this one that may be of another partition.
    #[inline]
    pub fn end_of(&self, lpa: Lpa) -> u32 {
        self.stretch(lpa).end
    }

    /// The partition of a pool.
    #[inline]
    pub fn of_pool(&self, pool: Pool) -> u32 {
        self.of_pool[pool.index()]
    }
}

/// What one partition decides by itself.
#[derive(Debug)]
struct Part {
    policy: Box<dyn PageAllocation>,
    /// The stripe positions of its pools.
    positions: BitTable,
    /// Those of them that take a write now, as far as that was asked.
    accepting: BitTable,
    /// The stripe position from which on the next page of the map looks for its place.
    map_turn: u32,
    /// Units of the host that it was given a place for.
    host_units: u64,
    /// Pages of the map that it was given a place for.
    map_units: u64,
    /// Units that were programmed in its pools when counting began.
    programmed_before: u64,
}

/// Where units go on a drive of several partitions: in each the same policy, among its pools, by the units that it has.
#[derive(Debug)]
pub(crate) struct PartitionedAllocation {
    /// As they were told.
    pub list: Vec<Partition>,
    pub partitions: Partitions,
    parts: Vec<Part>,
    /// By stripe position.
    of_position: Vec<u32>,
}

impl PartitionedAllocation {
    /// None where the drive is one partition. `pool_at` are the pools by stripe position.
    pub fn new(
        partitions: &[Partition],
        policy: &PageAllocationConfig,
        geometry: &Geometry,
        pool_at: &[u32],
    ) -> Option<Box<Self>> {
        if partitions.is_empty() {
            return None;
        }
        let known = Partitions::new(partitions, geometry.pools());
        let of_position: Vec<u32> = pool_at.iter().map(|&pool| known.of_pool(Pool(pool))).collect();
        let part = |index: u32| {
            let own: Vec<u32> = (0..geometry.pools()).filter(|&at| of_position[at as usize] == index).collect();
            let mut positions = BitTable::new(of_position.len());
            for &position in &own {
                positions.set(position as usize);
            }
            let policy = policy.build(geometry, &own);
            let accepting = positions.clone();
            Part { policy, accepting, positions, map_turn: 0, host_units: 0, map_units: 0, programmed_before: 0 }
        };
        let parts = (0..known.count()).map(part).collect();
        Some(Box::new(Self { list: partitions.to_vec(), partitions: known, parts, of_position }))
    }

    /// The stripe position that takes a unit of the host.
    #[inline]
    pub fn choose(&mut self, lpa: Lpa, accepting: &BitTable) -> Option<u32> {
        let stretch = *self.partitions.stretch(lpa);
        let part = &mut self.parts[stretch.partition as usize];
        part.accepting.copy_common(accepting, &part.positions);
        // A policy that goes by the address deals out what the partition has.
        let position = part.policy.choose(Lpa(stretch.before + (lpa.0 - stretch.first)), &part.accepting)?;
        part.host_units += 1;
        Some(position)
    }

    /// The stripe position that takes a page of the map.
    pub fn choose_for_map(&mut self, unit: Lpa, accepting: &BitTable) -> Option<u32> {
        let Part { accepting: own, positions, map_turn, map_units, .. } =
            &mut self.parts[self.partitions.of_unit(unit) as usize];
        own.copy_common(accepting, positions);
        let position = own.next_set(*map_turn as usize).or_else(|| own.next_set(0))? as u32;
        *map_units += 1;
        Some(position)
    }

    /// The next page of the map looks for its place from a stripe position on.
    pub fn map_turn_is(&mut self, unit: Lpa, position: u32) {
        self.parts[self.partitions.of_unit(unit) as usize].map_turn = position;
    }

    /// The same as on a drive that was just prepared.
    pub fn begin_map_turns(&mut self) {
        self.parts.iter_mut().for_each(|part| part.map_turn = 0);
    }

    /// Whether the next choice for a unit compares loads.
    pub fn asks_for_loads(&self, lpa: Lpa) -> bool {
        self.parts[self.partitions.of_unit(lpa) as usize].policy.asks_for_loads()
    }

    /// Told the load of the die of a stripe position.
    pub fn load_is(&mut self, position: u32, load: u64) {
        let part = self.of_position[position as usize];
        self.parts[part as usize].policy.load_is(position, load);
    }

    /// Told where a unit went.
    #[inline]
    pub fn placed(&mut self, placement: Placement) {
        let part = self.of_position[placement.position as usize];
        self.parts[part as usize].policy.placed(placement);
    }

    /// A unit that was given a place was not written by the host.
    pub fn not_of_host(&mut self, lpa: Lpa) {
        self.parts[self.partitions.of_unit(lpa) as usize].host_units -= 1;
    }

    /// Whether there is a set bit among the positions of a unit's partition.
    pub fn has_any(&self, lpa: Lpa, table: &BitTable) -> bool {
        let positions = &self.parts[self.partitions.of_unit(lpa) as usize].positions;
        let mut of_part = std::iter::successors(positions.next_set(0), |&at| positions.next_set(at + 1));
        of_part.any(|position| table.get(position))
    }

    /// Counts from here on. `programmed` are the units programmed in each partition so far.
    pub fn clear_counts(&mut self, programmed: &[u64]) {
        for (part, &programmed) in self.parts.iter_mut().zip(programmed) {
            (part.host_units, part.map_units, part.programmed_before) = (0, 0, programmed);
        }
    }

    /// Units that the host wrote into a partition since counting began, and those that were programmed there, of `programmed` in all.
    pub fn counts(&self, partition: u32, programmed: u64) -> (u64, u64) {
        let part = &self.parts[partition as usize];
        (part.host_units, programmed - part.programmed_before)
    }

    /// Pages of the map that were written into a partition since counting began.
    pub fn map_units(&self, partition: u32) -> u64 {
        self.parts[partition as usize].map_units
    }
}

impl Snapshot for PartitionedAllocation {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        self.parts.iter().try_for_each(|part| part.policy.save(to))
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        self.parts.iter_mut().try_for_each(|part| part.policy.load(from))
    }
}
