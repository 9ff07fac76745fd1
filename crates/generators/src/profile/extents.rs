//! Extents of sectors that do not overlap, and where requests ended.

use std::collections::{BTreeMap, VecDeque};

use ninescope_model::{Op, PAGE_BYTES, SECTOR_BYTES};

/// Sectors of a page.
pub(super) const PAGE_SECTORS: u64 = PAGE_BYTES / SECTOR_BYTES;

/// The least pages of each class of sizes.
pub(super) const SIZE_CLASSES: [u64; 5] = [1, 2, 4, 16, 64];

/// Ends of requests that are remembered for each operation: streams that may be under way at a time.
const ENDS_MAX: usize = 32;

/// The class of a length, as a place in [`SIZE_CLASSES`].
pub(super) fn size_class(sectors: u64) -> usize {
    let pages = sectors.div_ceil(PAGE_SECTORS);
    SIZE_CLASSES.partition_point(|&least| least <= pages).max(1) - 1
}

/// A stretch of sectors within a request: in one extent, or in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub start: u64,
    pub end: u64,
    /// The extent's number.
    pub known: Option<u32>,
}

/// Numbered extents.
#[derive(Default)]
pub(super) struct Extents {
    /// End and number by first sector.
    map: BTreeMap<u64, (u64, u32)>,
}

impl Extents {
    /// The request from `start` to `end` in pieces, in the order of addresses.
    pub fn split(&self, start: u64, end: u64, pieces: &mut Vec<Piece>) {
        pieces.clear();
        let mut at = start;
        let first = self.map.range(..start).next_back().filter(|(_, extent)| extent.0 > start);
        for (&from, &(to, number)) in first.into_iter().chain(self.map.range(start..end)) {
            if at < from {
                pieces.push(Piece { start: at, end: from, known: None });
            }
            pieces.push(Piece { start: from.max(at), end: to.min(end), known: Some(number) });
            at = to.min(end);
        }
        if at < end {
            pieces.push(Piece { start: at, end, known: None });
        }
    }

    /// Adds an extent where there is none.
    pub fn insert(&mut self, start: u64, end: u64, number: u32) {
        self.map.insert(start, (end, number));
    }

    /// Gives an extent another number. What found no room of its own is none, and stays without.
    pub fn renumber(&mut self, start: u64, end: u64, number: u32) {
        if let Some(extent) = self.map.get_mut(&start).filter(|extent| extent.0 == end) {
            extent.1 = number;
        }
    }

    /// Sectors from `start` on that are in no extent, at most `limit`.
    pub fn room(&self, start: u64, limit: u64) -> u64 {
        if self.map.range(..=start).next_back().is_some_and(|(_, extent)| extent.0 > start) {
            return 0;
        }
        let next = self.map.range(start..).next().map_or(u64::MAX, |(&next, _)| next);
        limit.min(next - start)
    }

    /// The extent nearest to a new one, the sectors between them, and whether the new one lies behind it.
    pub fn nearest(&self, start: u64, end: u64) -> Option<(u32, u64, bool)> {
        let before =
            self.map.range(..start).next_back().map(|(_, &(to, number))| (number, start - to.min(start), true));
        let after = self.map.range(end..).next().map(|(&from, &(_, number))| (number, from - end, false));
        before.into_iter().chain(after).min_by_key(|&(_, distance, _)| distance)
    }

    /// The number of the extent that begins at `start`.
    pub fn beginning_at(&self, start: u64) -> Option<u32> {
        self.map.get(&start).map(|extent| extent.1)
    }

    /// The number of the extent that ends at `end`.
    pub fn ending_at(&self, end: u64) -> Option<u32> {
        self.map.range(..end).next_back().filter(|(_, extent)| extent.0 == end).map(|(_, extent)| extent.1)
    }

    /// 4 KiB pages that the extents touch.
    pub fn pages(&self) -> u64 {
        let (mut pages, mut counted) = (0, 0);
        for (&start, &(end, _)) in &self.map {
            let (first, last) = ((start / PAGE_SECTORS).max(counted), end.div_ceil(PAGE_SECTORS));
            pages += last.saturating_sub(first);
            counted = counted.max(last);
        }
        pages
    }
}

/// Where requests ended and nothing went on yet, by operation.
#[derive(Default)]
pub(super) struct Ends {
    of: [VecDeque<u64>; Op::ALL.len()],
}

impl Ends {
    /// Those of an operation, the latest first.
    pub fn latest(&self, op: Op) -> impl Iterator<Item = u64> + '_ {
        self.of[op as usize].iter().rev().copied()
    }

    /// A request begins at `start` and ends at `end`: a stream goes on, or a new one begins.
    pub fn go_on(&mut self, op: Op, start: u64, end: u64) {
        let ends = &mut self.of[op as usize];
        if let Some(position) = ends.iter().rposition(|&known| known == start) {
            ends.remove(position);
        } else if ends.len() == ENDS_MAX {
            ends.pop_front();
        }
        ends.push_back(end);
    }
}
