//! What is to be looked at before time moves on.

use crate::BitTable;

/// Indices that were touched, taken in ascending order. That there are none, which is asked at every instant, is told without
/// looking through the table.
#[derive(Debug)]
pub struct Touched {
    bits: BitTable,
    /// Whether there may be some: not before something was touched, nor after none was found.
    any: bool,
}

impl Touched {
    /// None of `len` indices.
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self { bits: BitTable::new(len), any: false }
    }

    /// Touches an index, which may have been before.
    #[inline]
    pub fn touch(&mut self, index: u32) {
        self.any = true;
        self.bits.set(index as usize);
    }

    /// Takes the lowest index out.
    #[inline]
    pub fn take_next(&mut self) -> Option<u32> {
        if !self.any {
            return None;
        }
        let next = self.bits.next_set(0);
        match next {
            Some(index) => self.bits.clear(index),
            None => self.any = false,
        }
        next.map(|index| index as u32)
    }

    /// Whether there is one.
    #[inline]
    pub fn has_some(&self) -> bool {
        self.any && self.bits.next_set(0).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::RandomStream;

    #[test]
    fn what_is_touched_comes_once_in_ascending_order() {
        let (mut touched, mut model) = (Touched::new(130), BTreeSet::new());
        let mut random = RandomStream::new(1, "test", "touched");
        for _ in 0..20_000 {
            if random.below(2) == 0 {
                let index = random.below(130) as u32;
                touched.touch(index);
                model.insert(index);
            } else {
                assert_eq!(touched.has_some(), !model.is_empty());
                assert_eq!(touched.take_next(), model.pop_first());
            }
        }
    }
}
