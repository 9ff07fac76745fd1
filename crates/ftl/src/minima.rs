//! The least of many numbers of which a few change at a time: a tree of minima, 64 to a node.
//!
//! A number that falls is told to the nodes above it as far as it is less than theirs, which is one comparison for most. The least of
//! a range is found in as many steps as the tree has levels, each a scan of what one node or two hold, and among equals it is the
//! first. What the numbers stand for is not known here.

use std::ops::Range;

/// Numbers to a node. They are compared many at a time.
const NODE: usize = 64;
/// Levels: with the third a scan of what is above a quarter of a million numbers is one of 64.
const LEVELS: usize = 3;

/// Numbers, and minima of them. Those that are not below `none` count for nothing.
#[derive(Clone, Debug)]
pub struct Minima<T> {
    /// The numbers, and above each level the least of each 64.
    levels: [Vec<T>; LEVELS],
    none: T,
}

impl<T: Copy + Ord> Minima<T> {
    /// So many numbers, none of which counts.
    pub fn new(count: usize, none: T) -> Self {
        let nodes = count.div_ceil(NODE);
        Self { levels: [vec![none; count], vec![none; nodes], vec![none; nodes.div_ceil(NODE)]], none }
    }

    /// A number.
    #[inline]
    pub fn get(&self, index: usize) -> T {
        self.levels[0][index]
    }

    /// A number that counts for nothing becomes another such.
    #[inline]
    pub fn change_aside(&mut self, index: usize, other: impl Fn(T) -> T) {
        let number = &mut self.levels[0][index];
        debug_assert!(*number >= self.none && other(*number) >= self.none, "it counts for nothing");
        *number = other(*number);
    }

    /// A number becomes a lesser one.
    #[inline]
    pub fn lower(&mut self, index: usize, less: impl Fn(T) -> T) {
        let number = &mut self.levels[0][index];
        debug_assert!(less(*number) <= *number, "it becomes less");
        *number = less(*number);
        let number = *number;
        if number < self.levels[1][index / NODE] {
            self.lower_above(index / NODE, number);
        }
    }

    fn lower_above(&mut self, node: usize, number: T) {
        self.levels[1][node] = number;
        let above = &mut self.levels[2][node / NODE];
        *above = number.min(*above);
    }

    /// A number becomes another.
    pub fn put(&mut self, index: usize, number: T) {
        let before = std::mem::replace(&mut self.levels[0][index], number);
        if number <= before {
            self.lower(index, |_| number);
        } else if before == self.levels[1][index / NODE] {
            self.look_again(1, index / NODE);
            self.look_again(2, index / NODE / NODE);
        }
    }

    /// A node of a level looks at all that it holds.
    fn look_again(&mut self, level: usize, node: usize) {
        let below = &self.levels[level - 1];
        let end = ((node + 1) * NODE).min(below.len());
        self.levels[level][node] = below[node * NODE..end].iter().copied().fold(self.none, T::min);
    }

    /// Where in a range the least number is that counts; the first place among equals.
    pub fn least(&self, range: Range<usize>) -> Option<usize> {
        self.least_of(0, range).map(|(index, _)| index)
    }

    fn least_of(&self, level: usize, range: Range<usize>) -> Option<(usize, T)> {
        let nodes = range.start.div_ceil(NODE)..range.end / NODE;
        if level + 1 == LEVELS || nodes.len() < 2 {
            return self.scanned(level, range);
        }
        let parts = [
            self.scanned(level, range.start..nodes.start * NODE),
            self.least_of(level + 1, nodes.clone()),
            self.scanned(level, nodes.end * NODE..range.end),
        ];
        let mut least = None;
        for (part, found) in parts.into_iter().enumerate() {
            let Some((index, number)) = found else { continue };
            if least.is_none_or(|(_, _, before)| number < before) {
                least = Some((part, index, number));
            }
        }
        let (part, index, number) = least?;
        if part != 1 {
            return Some((index, number));
        }
        self.first(level, index * NODE..(index + 1) * NODE, number)
    }

    fn scanned(&self, level: usize, range: Range<usize>) -> Option<(usize, T)> {
        let number = self.levels[level][range.clone()].iter().copied().min().filter(|&number| number < self.none)?;
        self.first(level, range, number)
    }

    fn first(&self, level: usize, range: Range<usize>, number: T) -> Option<(usize, T)> {
        let begin = range.start;
        self.levels[level][range].iter().position(|&other| other == number).map(|at| (begin + at, number))
    }
}

#[cfg(test)]
mod tests {
    use ninescope_kernel::RandomStream;

    use super::*;

    const NONE: u32 = 1 << 31;

    fn naive(numbers: &[u32], range: Range<usize>) -> Option<usize> {
        range.filter(|&index| numbers[index] < NONE).min_by_key(|&index| (numbers[index], index))
    }

    #[test]
    fn the_first_of_the_least_is_found_whatever_changed() {
        for (count, least, most) in [(1, 0, 3), (63, 0, 9), (64, 5, 5), (200, 0, 4), (4_097, 0, 40), (9_000, 0, 2)] {
            let mut stream = RandomStream::new(count as u64, "tests", "minima");
            let (mut minima, mut numbers) = (Minima::new(count, NONE), vec![NONE; count]);
            for step in 0..6_000 {
                let index = stream.below(count as u64) as usize;
                let number = least + stream.below(u64::from(most - least) + 1) as u32;
                match stream.below(4) {
                    0 if numbers[index] >= NONE => {
                        numbers[index] = NONE | number;
                        minima.change_aside(index, |_| NONE | number);
                    }
                    1 if numbers[index] & !NONE > 0 => {
                        numbers[index] -= 1;
                        minima.lower(index, |before| before - 1);
                    }
                    2 => {
                        numbers[index] = NONE | number;
                        minima.put(index, numbers[index]);
                    }
                    _ => {
                        numbers[index] = number;
                        minima.put(index, number);
                    }
                }
                let (one, other) = (stream.below(count as u64 + 1) as usize, stream.below(count as u64 + 1) as usize);
                let range = one.min(other)..one.max(other);
                assert_eq!(minima.least(range.clone()), naive(&numbers, range), "{count} numbers, step {step}");
                assert_eq!(minima.get(index), numbers[index]);
            }
            assert_eq!(minima.least(0..count), naive(&numbers, 0..count));
        }
    }
}
