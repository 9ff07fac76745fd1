//! Stack distances under LRU: how many other pages were touched since a page was touched last (Mattson et al.,
//! IBM Systems Journal 9(2), 1970), counted with a Fenwick tree over times (Bennett and Kruskal, IBM Journal of
//! Research and Development 19(4), 1975). A cache of more pages than that holds the page still.

const CAPACITY_MIN: usize = 1024;

/// The pages, by their numbers, in the order of their latest touch.
pub struct LruStack {
    /// When each page was touched last: a position from 1 on.
    latest: Vec<u32>,
    /// Fenwick tree over positions: 1 where a page was touched last, else 0.
    tree: Vec<u32>,
    next_position: usize,
}

impl Default for LruStack {
    /// No page was touched yet.
    fn default() -> Self {
        Self { latest: Vec::new(), tree: vec![0; CAPACITY_MIN + 1], next_position: 1 }
    }
}

impl LruStack {
    /// Touches a page; numbers are given without gaps. Returns how many others were touched since its last
    /// touch, `None` for the first one.
    #[inline]
    pub fn touch(&mut self, number: usize) -> Option<u64> {
        if self.next_position == self.tree.len() {
            self.renumber();
        }
        let distance = if let Some(&position) = self.latest.get(number) {
            let newer = self.latest.len() - self.count_up_to(position as usize);
            self.unmark(position as usize);
            self.latest[number] = self.next_position as u32;
            Some(newer as u64)
        } else {
            self.latest.push(self.next_position as u32);
            None
        };
        self.mark(self.next_position);
        self.next_position += 1;
        distance
    }

    /// Keeps the pages whose number is in `kept` (ascending); they are numbered anew in that order.
    pub fn keep(&mut self, kept: &[usize]) {
        self.latest = kept.iter().map(|&number| self.latest[number]).collect();
        self.renumber();
    }

    /// Gives the pages the first positions, in their order, and as many free ones after them.
    #[cold]
    fn renumber(&mut self) {
        let mut by_time: Vec<(u32, u32)> = self.latest.iter().copied().zip(0..).collect();
        by_time.sort_unstable();
        for (position, &(_, number)) in (1..).zip(&by_time) {
            self.latest[number as usize] = position;
        }
        let capacity = (by_time.len() * 2).max(CAPACITY_MIN);
        self.tree.clear();
        self.tree.resize(capacity + 1, 0);
        self.tree[1..=by_time.len()].fill(1);
        for position in 1..=capacity {
            let parent = position + lowest_bit(position);
            if parent <= capacity {
                self.tree[parent] += self.tree[position];
            }
        }
        self.next_position = by_time.len() + 1;
    }

    #[inline]
    fn mark(&mut self, mut position: usize) {
        while position < self.tree.len() {
            self.tree[position] += 1;
            position += lowest_bit(position);
        }
    }

    #[inline]
    fn unmark(&mut self, mut position: usize) {
        while position < self.tree.len() {
            self.tree[position] -= 1;
            position += lowest_bit(position);
        }
    }

    /// Pages last touched at or before `position`.
    #[inline]
    fn count_up_to(&self, mut position: usize) -> usize {
        let mut count = 0;
        while position > 0 {
            count += self.tree[position] as usize;
            position -= lowest_bit(position);
        }
        count
    }
}

#[inline]
fn lowest_bit(position: usize) -> usize {
    position & position.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The stack itself: a list of pages, the latest first.
    fn naive(stack: &mut Vec<usize>, number: usize) -> Option<u64> {
        let depth = stack.iter().position(|&other| other == number);
        depth.map(|depth| stack.remove(depth));
        stack.insert(0, number);
        depth.map(|depth| depth as u64)
    }

    proptest! {
        #[test]
        fn it_equals_a_list(touches in prop::collection::vec(0_usize..1_000, 0..4_000), is_hot: bool) {
            let (mut lru, mut stack, mut numbers) = (LruStack::default(), Vec::new(), Vec::new());
            for touched in touches {
                let page = if is_hot { touched % 20 } else { touched };
                let number = numbers.iter().position(|&known| known == page).unwrap_or_else(|| {
                    numbers.push(page);
                    numbers.len() - 1
                });
                prop_assert_eq!(lru.touch(number), naive(&mut stack, number));
            }
        }
    }

    #[test]
    fn pages_that_are_not_kept_leave_no_trace() {
        let mut lru = LruStack::default();
        for number in [0, 1, 2, 3, 1] {
            lru.touch(number);
        }
        lru.keep(&[0, 1, 3]);
        assert_eq!([0, 2, 1, 3].map(|number| lru.touch(number)), [Some(2), Some(2), Some(2), None]);
    }
}
