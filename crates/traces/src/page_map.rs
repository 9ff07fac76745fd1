//! Numbers for pages in the order in which they are first seen: a hash table with a fixed hash, so that equal
//! input takes equal steps on every machine.

use ninescope_kernel::mixed;

const EMPTY: u32 = u32::MAX;
const FIRST_BITS: u32 = 10;

/// From pages to numbers `0..len`.
pub(crate) struct PageMap {
    /// The page of each number.
    pages: Vec<u64>,
    /// Numbers by hash; linear probing.
    slots: Vec<u32>,
    bits: u32,
}

impl PageMap {
    pub fn new() -> Self {
        Self { pages: Vec::new(), slots: vec![EMPTY; 1 << FIRST_BITS], bits: FIRST_BITS }
    }

    /// How many pages have a number.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// The pages in the order of their numbers.
    pub fn pages(&self) -> &[u64] {
        &self.pages
    }

    /// The number of `page`, and whether it is new.
    #[inline]
    pub fn number(&mut self, page: u64) -> (usize, bool) {
        if self.pages.len() * 4 >= self.slots.len() * 3 {
            self.rebuild(self.bits + 1);
        }
        let slot = self.slot_of(page);
        let known = self.slots[slot];
        if known != EMPTY {
            return (known as usize, false);
        }
        let number = self.pages.len();
        self.slots[slot] = number as u32;
        self.pages.push(page);
        (number, true)
    }

    /// Keeps the pages whose number is in `kept` (ascending); they are numbered anew in that order.
    pub fn keep(&mut self, kept: &[usize]) {
        for (new, &old) in kept.iter().enumerate() {
            self.pages[new] = self.pages[old];
        }
        self.pages.truncate(kept.len());
        self.rebuild(self.bits);
    }

    /// The slot that holds `page`, or the free one where it belongs.
    #[inline]
    fn slot_of(&self, page: u64) -> usize {
        let mask = self.slots.len() - 1;
        // The lowest bits decide about samples and would be equal for all pages of one.
        let mut slot = (mixed(page) >> (u64::BITS - self.bits)) as usize;
        while self.slots[slot] != EMPTY && self.pages[self.slots[slot] as usize] != page {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[cold]
    fn rebuild(&mut self, bits: u32) {
        self.bits = bits;
        self.slots.clear();
        self.slots.resize(1 << bits, EMPTY);
        for number in 0..self.pages.len() {
            let slot = self.slot_of(self.pages[number]);
            self.slots[slot] = number as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_equals_a_plain_map(pages in prop::collection::vec(0_u64..3_000, 0..5_000)) {
            let (mut map, mut plain) = (PageMap::new(), BTreeMap::new());
            for &page in &pages {
                let next = plain.len();
                let expected = *plain.entry(page).or_insert(next);
                prop_assert_eq!(map.number(page), (expected, expected == next));
            }
            let kept: Vec<usize> = (0..map.len()).filter(|number| number % 3 == 1).collect();
            let expected: Vec<u64> = kept.iter().map(|&number| map.pages()[number]).collect();
            map.keep(&kept);
            for (number, &page) in expected.iter().enumerate() {
                prop_assert_eq!(map.number(page), (number, false));
            }
            prop_assert_eq!(map.len(), expected.len());
        }
    }
}
