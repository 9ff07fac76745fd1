//! A sparse set of pages of [`PAGE_BYTES`](ninescope_model::PAGE_BYTES), for footprints and prefill.

use std::collections::BTreeMap;
use std::ops::Range;

const CHUNK_WORDS: usize = 64;
const CHUNK_PAGES: u64 = CHUNK_WORDS as u64 * 64;

type Chunk = [u64; CHUNK_WORDS];

/// A set of page indices: bitmaps of 4096 pages (16 MiB), each present once one of its pages is.
///
/// Memory is 512 bytes per 16 MiB of address space touched anywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageSet {
    chunks: BTreeMap<u64, Box<Chunk>>,
    len: u64,
}

impl PageSet {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Pages in the set.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the set has no page.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether `page` is in the set.
    pub fn contains(&self, page: u64) -> bool {
        self.chunks
            .get(&(page / CHUNK_PAGES))
            .is_some_and(|chunk| chunk[(page % CHUNK_PAGES / 64) as usize] >> (page % 64) & 1 == 1)
    }

    /// Adds `pages`.
    pub fn insert(&mut self, pages: Range<u64>) {
        let mut page = pages.start;
        while page < pages.end {
            let index = page / CHUNK_PAGES;
            let end = pages.end.min((index + 1) * CHUNK_PAGES);
            let chunk = self.chunks.entry(index).or_insert_with(|| Box::new([0; CHUNK_WORDS]));
            self.len += u64::from(set_bits(chunk, (page % CHUNK_PAGES) as u32, (end - page) as u32));
            page = end;
        }
    }

    /// The set as maximal runs of pages, in ascending order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let mut position = 0;
        std::iter::from_fn(move || {
            let start = self.next_member(position)?;
            position = self.next_gap(start);
            Some(start..position)
        })
    }

    /// The first page of the set at or after `from`.
    fn next_member(&self, from: u64) -> Option<u64> {
        let first_index = from / CHUNK_PAGES;
        self.chunks.range(first_index..).find_map(|(&index, chunk)| {
            let start = if index == first_index { from % CHUNK_PAGES } else { 0 };
            Some(index * CHUNK_PAGES + first_bit(chunk, start, 0)?)
        })
    }

    /// The first page at or after `from` that is not in the set.
    fn next_gap(&self, from: u64) -> u64 {
        let mut page = from;
        while let Some(chunk) = self.chunks.get(&(page / CHUNK_PAGES)) {
            let base = page - page % CHUNK_PAGES;
            if let Some(bit) = first_bit(chunk, page % CHUNK_PAGES, u64::MAX) {
                return base + bit;
            }
            page = base + CHUNK_PAGES;
        }
        page
    }
}

/// Sets `count` bits from `start`; returns how many were clear.
fn set_bits(chunk: &mut Chunk, start: u32, count: u32) -> u32 {
    let mut added = 0;
    let mut bit = start;
    while bit < start + count {
        let in_word = (64 - bit % 64).min(start + count - bit);
        let mask = (u64::MAX >> (64 - in_word)) << (bit % 64);
        let word = &mut chunk[(bit / 64) as usize];
        added += (mask & !*word).count_ones();
        *word |= mask;
        bit += in_word;
    }
    added
}

/// The first set bit of `chunk ^ flip` at or after `start`.
fn first_bit(chunk: &Chunk, start: u64, flip: u64) -> Option<u64> {
    let mut mask = u64::MAX << (start % 64);
    for (word_index, word) in chunk.iter().enumerate().skip((start / 64) as usize) {
        let word = (word ^ flip) & mask;
        if word != 0 {
            return Some(word_index as u64 * 64 + u64::from(word.trailing_zeros()));
        }
        mask = u64::MAX;
    }
    None
}

/// A set of pages that says how many of its pages lie before one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRanks {
    /// Each chunk, and how many pages lie before it.
    chunks: BTreeMap<u64, (u64, Box<Chunk>)>,
}

impl From<PageSet> for PageRanks {
    fn from(set: PageSet) -> Self {
        let mut before = 0;
        let with_count = |(index, chunk): (u64, Box<Chunk>)| {
            let entry = (index, (before, chunk));
            before += entry.1.1.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            entry
        };
        Self { chunks: set.chunks.into_iter().map(with_count).collect() }
    }
}

impl PageRanks {
    /// How many pages of the set lie before `page`; `None` when it is not in the set.
    pub fn rank(&self, page: u64) -> Option<u64> {
        let (before, chunk) = self.chunks.get(&(page / CHUNK_PAGES))?;
        let (word, bit) = ((page % CHUNK_PAGES / 64) as usize, page % 64);
        let is_in = chunk[word] >> bit & 1 == 1;
        let in_words: u32 = chunk[..word].iter().map(|word| word.count_ones()).sum();
        let in_word = (chunk[word] & ((1 << bit) - 1)).count_ones();
        is_in.then_some(before + u64::from(in_words + in_word))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn runs_merge_across_word_and_chunk_borders() {
        let mut set = PageSet::new();
        set.insert(4000..4200);
        set.insert(4200..4300);
        set.insert(1 << 40..(1 << 40) + 1);
        set.insert(5..5);
        assert_eq!(set.len(), 301);
        assert_eq!(set.ranges().collect::<Vec<_>>(), [4000..4300, 1 << 40..(1 << 40) + 1]);
        assert!(set.contains(4299) && !set.contains(4300) && !set.contains(1 << 50));
    }

    #[test]
    fn an_empty_set_has_no_ranges() {
        assert!(PageSet::new().is_empty() && PageSet::new().ranges().next().is_none());
    }

    proptest! {
        #[test]
        fn it_equals_a_plain_set(inserted in prop::collection::vec((0_u64..20_000, 0_u64..3_000), 0..20)) {
            let mut set = PageSet::new();
            let mut plain = BTreeSet::new();
            for (start, count) in inserted {
                set.insert(start..start + count);
                plain.extend(start..start + count);
            }
            prop_assert_eq!(set.len(), plain.len() as u64);
            let ranges: Vec<_> = set.ranges().collect();
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
            prop_assert!(ranges.into_iter().flatten().eq(plain.iter().copied()));
        }
    }
}
