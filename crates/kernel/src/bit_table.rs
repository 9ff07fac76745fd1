//! A flat table of bits with "next set bit" searches.

use crate::{SectionReader, SectionWriter, Snapshot, SnapshotError, must_hold, zeroed};

/// One bit per index, in 64-bit words.
#[derive(Clone, Debug)]
pub struct BitTable {
    words: Vec<u64>,
    len: usize,
}

impl BitTable {
    /// `len` bits, all clear.
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self { words: zeroed(len.div_ceil(64)), len }
    }

    /// Number of bits.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bits at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether bit `index` is set.
    #[inline]
    pub fn get(&self, index: usize) -> bool {
        self.words[index / 64] >> (index % 64) & 1 == 1
    }

    /// Sets bit `index`.
    #[inline]
    pub fn set(&mut self, index: usize) {
        self.words[index / 64] |= 1 << (index % 64);
    }

    /// Clears bit `index`.
    #[inline]
    pub fn clear(&mut self, index: usize) {
        self.words[index / 64] &= !(1 << (index % 64));
    }

    /// Sets the bits from `start` up to, but not, `end`, a word at a time.
    pub fn set_range(&mut self, start: usize, end: usize) {
        let mut index = start;
        while index < end {
            let from = index % 64;
            let count = (64 - from).min(end - index);
            self.words[index / 64] |= (u64::MAX >> (64 - count)) << from;
            index += count;
        }
    }

    /// Sets or clears bit `index`.
    #[inline]
    pub fn put(&mut self, index: usize, value: bool) {
        if value {
            self.set(index);
        } else {
            self.clear(index);
        }
    }

    /// `count` bits (a power of two, at most 32) from `start`, which is a multiple of `count`.
    #[inline]
    pub fn aligned_bits(&self, start: usize, count: u32) -> u32 {
        debug_assert!(count.is_power_of_two() && count <= 32 && start.is_multiple_of(count as usize));
        let mask = (1_u64 << count) - 1;
        (self.words[start / 64] >> (start % 64) & mask) as u32
    }

    /// The first set bit at or after `start`, without wrapping.
    #[inline]
    pub fn next_set(&self, start: usize) -> Option<usize> {
        if start >= self.len {
            return None;
        }
        let mut word_index = start / 64;
        let mut word = self.words[word_index] & (u64::MAX << (start % 64));
        loop {
            if word != 0 {
                return Some(word_index * 64 + word.trailing_zeros() as usize);
            }
            word_index += 1;
            word = *self.words.get(word_index)?;
        }
    }

    /// The first clear bit at or after `start`, without wrapping.
    #[inline]
    pub fn next_clear(&self, start: usize) -> Option<usize> {
        if start >= self.len {
            return None;
        }
        let mut word_index = start / 64;
        let mut word = !self.words[word_index] & (u64::MAX << (start % 64));
        while word == 0 {
            word_index += 1;
            word = !*self.words.get(word_index)?;
        }
        let index = word_index * 64 + word.trailing_zeros() as usize;
        (index < self.len).then_some(index)
    }

    /// The first set bit at or after `start`, continuing from zero.
    #[inline]
    pub fn next_set_wrapping(&self, start: usize) -> Option<usize> {
        self.next_set(start).or_else(|| self.next_set(0))
    }

    /// Set bits in the whole table.
    pub fn count_ones(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

impl Snapshot for BitTable {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        to.words(&self.words)
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        from.words(&mut self.words)?;
        let beyond =
            self.words.last().filter(|_| !self.len.is_multiple_of(64)).map_or(0, |last| last >> (self.len % 64));
        must_hold(beyond == 0, || format!("bits are set beyond the {} that there are", self.len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_what_its_bits_are_one_by_one() {
        for start in [0, 1, 63, 64, 100] {
            for len in [0, 1, 5, 63, 64, 65, 128, 150] {
                let (mut whole, mut each) = (BitTable::new(300), BitTable::new(300));
                whole.set_range(start, start + len);
                (start..start + len).for_each(|index| each.set(index));
                assert_eq!(whole.words, each.words, "{len} from {start} on");
            }
        }
    }

    #[test]
    fn searches_cross_word_borders_and_wrap() {
        let mut bits = BitTable::new(200);
        bits.set(3);
        bits.set(130);
        assert_eq!(bits.next_set(4), Some(130));
        assert_eq!(bits.next_set(131), None);
        assert_eq!(bits.next_set_wrapping(131), Some(3));
        assert_eq!(bits.aligned_bits(128, 4), 0b0100);
        assert_eq!(bits.count_ones(), 2);
        (0..200).filter(|&index| index != 150).for_each(|index| bits.set(index));
        assert_eq!((bits.next_clear(3), bits.next_clear(151)), (Some(150), None));
    }
}
