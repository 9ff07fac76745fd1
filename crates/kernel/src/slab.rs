//! A fixed-capacity store of records addressed by `u32`, with constant-time insert and remove.

/// Records of one type in one allocation. Removing makes the slot free for the next insert
/// (last freed, first used: the warmest cache line).
#[derive(Debug)]
pub struct Slab<T> {
    slots: Vec<T>,
    free: Vec<u32>,
    live: u32,
}

impl<T: Default + Clone> Slab<T> {
    /// A slab that holds `capacity` records before it grows.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { slots: Vec::with_capacity(capacity), free: Vec::with_capacity(capacity), live: 0 }
    }

    /// Stores `record` and returns its index. Allocates only beyond the highest number of records so far.
    #[inline]
    pub fn insert(&mut self, record: T) -> u32 {
        self.live += 1;
        if let Some(index) = self.free.pop() {
            self.slots[index as usize] = record;
            return index;
        }
        self.slots.push(record);
        (self.slots.len() - 1) as u32
    }

    /// Takes the record out; the index may be handed out again.
    #[inline]
    pub fn remove(&mut self, index: u32) {
        debug_assert!(self.live > 0, "remove from an empty slab");
        self.live -= 1;
        self.free.push(index);
    }

    /// Records that are stored now.
    #[inline]
    pub fn len(&self) -> u32 {
        self.live
    }

    /// Whether nothing is stored.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Records it holds before it grows.
    pub fn capacity(&self) -> usize {
        self.slots.capacity()
    }

    /// Slots ever used: what side tables indexed like this slab must hold.
    #[inline]
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.slots[index as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.slots[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_slot_is_used_again_before_the_slab_grows() {
        let mut slab = Slab::with_capacity(2);
        let (a, b) = (slab.insert(10_u64), slab.insert(20));
        slab.remove(a);
        let c = slab.insert(30);
        assert_eq!((c, slab[b], slab[c], slab.len(), slab.slot_count()), (a, 20, 30, 2, 2));
    }
}
