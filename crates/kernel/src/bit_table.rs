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

    /// Clears the bits from `start` up to, but not, `end`, a word at a time.
    pub fn clear_range(&mut self, start: usize, end: usize) {
        let mut index = start;
        while index < end {
            let from = index % 64;
            let count = (64 - from).min(end - index);
            self.words[index / 64] &= !((u64::MAX >> (64 - count)) << from);
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

    /// Sets the bits that are set in both of two tables of the same length, and clears all others.
    #[inline]
    pub fn copy_common(&mut self, one: &Self, other: &Self) {
        debug_assert!(self.len == one.len && self.len == other.len);
        for (word, (one, other)) in self.words.iter_mut().zip(one.words.iter().zip(&other.words)) {
            *word = one & other;
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

    /// The first set bit from `start` up to, but not, `end`: no word beyond is looked at.
    pub fn next_set_before(&self, start: usize, end: usize) -> Option<usize> {
        self.next_of(start, end, |word| word)
    }

    /// The first clear bit from `start` up to, but not, `end`: no word beyond is looked at.
    pub fn next_clear_before(&self, start: usize, end: usize) -> Option<usize> {
        self.next_of(start, end, |word| !word)
    }

    /// The first bit of a range that is set in what is made of its word.
    fn next_of(&self, start: usize, end: usize, made: impl Fn(u64) -> u64) -> Option<usize> {
        if start >= end {
            return None;
        }
        let mut word_index = start / 64;
        let mut word = made(self.words[word_index]) & (u64::MAX << (start % 64));
        while word == 0 {
            word_index += 1;
            if word_index * 64 >= end {
                return None;
            }
            word = made(self.words[word_index]);
        }
        let index = word_index * 64 + word.trailing_zeros() as usize;
        (index < end).then_some(index)
    }

    /// The first set bit at or after `start`, continuing from zero.
    #[inline]
    pub fn next_set_wrapping(&self, start: usize) -> Option<usize> {
        self.next_set(start).or_else(|| self.next_set(0))
    }

    /// Set bits from `start` up to, but not, `end`, a word at a time.
    pub fn count_range(&self, start: usize, end: usize) -> u32 {
        let (mut index, mut ones) = (start, 0);
        while index < end {
            let from = index % 64;
            let count = (64 - from).min(end - index);
            ones += (self.words[index / 64] >> from & u64::MAX >> (64 - count)).count_ones();
            index += count;
        }
        ones
    }

    /// Set bits in the whole table.
    pub fn count_ones(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

/// Words that are saved together.
const STRETCH: usize = 1024;

/// What a stretch of words is saved as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stretch {
    Clear,
    Set,
    /// Its words follow.
    Mixed,
}

impl Stretch {
    fn of(words: &[u64]) -> Self {
        match words.first() {
            Some(0) if words.iter().all(|&word| word == 0) => Self::Clear,
            Some(&u64::MAX) if words.iter().all(|&word| word == u64::MAX) => Self::Set,
            _ => Self::Mixed,
        }
    }
}

/// Stretches of equal bits take a byte, and clear ones no memory when they are read: a table is to be loaded while it
/// is new.
impl Snapshot for BitTable {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        for words in self.words.chunks(STRETCH) {
            let stretch = Stretch::of(words);
            to.u8(stretch as u8)?;
            if stretch == Stretch::Mixed {
                to.words(words)?;
            }
        }
        Ok(())
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        for words in self.words.chunks_mut(STRETCH) {
            match from.u8()? {
                kind if kind == Stretch::Clear as u8 => {}
                kind if kind == Stretch::Set as u8 => words.fill(u64::MAX),
                kind if kind == Stretch::Mixed as u8 => {
                    from.words(words)?;
                    must_hold(Stretch::of(words) == Stretch::Mixed, || "a mixed stretch of equal bits".to_owned())?;
                }
                kind => return Err(SnapshotError::Impossible(format!("a stretch of bits of kind {kind}"))),
            }
        }
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
                assert_eq!(whole.count_range(start, start + len), len as u32);
                assert_eq!(whole.count_range(start + len / 2, 300) as usize, len - len / 2);
                let mut all = BitTable::new(300);
                all.set_range(0, 300);
                all.clear_range(start, start + len);
                assert!((0..300).all(|index| all.get(index) != each.get(index)), "{len} cleared from {start} on");
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

    #[test]
    fn searches_of_a_range_are_those_of_the_table_up_to_its_end() {
        let mut bits = BitTable::new(300);
        for (start, end) in [(3, 4), (60, 70), (128, 192), (250, 300)] {
            bits.set_range(start, end);
        }
        for start in 0..300 {
            for end in (0..=300).step_by(7) {
                let before = |found: Option<usize>| found.filter(|&index| index < end);
                assert_eq!(bits.next_set_before(start, end), before(bits.next_set(start)), "{start}..{end}");
                assert_eq!(bits.next_clear_before(start, end), before(bits.next_clear(start)), "{start}..{end}");
            }
        }
    }

    #[test]
    fn tables_of_equal_bits_are_saved_in_few_bytes_and_read_back() {
        const LEN: usize = 5 * 64 * STRETCH + 7;
        for set in [0..0, 0..LEN, 100..64 * STRETCH, 64 * STRETCH..LEN - 1] {
            let mut bits = BitTable::new(LEN);
            bits.set_range(set.start, set.end);
            let (mut bytes, mut again) = (Vec::new(), BitTable::new(LEN));
            bits.save(&mut bytes).expect("memory takes everything");
            assert!(bytes.len() <= 6 + 8 * (STRETCH + 1), "{set:?}: {} bytes", bytes.len());
            again.load(&mut bytes.as_slice()).expect("what was saved");
            assert_eq!(again.words, bits.words, "{set:?}");
        }
    }

    #[test]
    fn stretches_that_no_table_is_saved_as_are_refused() {
        let refusal = |bytes: &[u8]| {
            let mut bytes = bytes;
            BitTable::new(70).load(&mut bytes).expect_err("it is refused").to_string()
        };
        assert!(refusal(&[3]).contains("of kind 3"));
        assert!(refusal(&[1]).contains("beyond the 70"));
        assert!(refusal(&[2; 10]).contains("end early"));
        assert!(refusal(&[&[2][..], &[0; 16]].concat()).contains("equal bits"));
    }
}
