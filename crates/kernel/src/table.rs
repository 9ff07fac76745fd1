//! Large tables on huge pages, so that random accesses do not pay for address translation.
//!
//! Where a table begins with zeros the system gives its memory as it is touched: what a run does not use of a large drive
//! costs neither time nor memory.

use std::marker::PhantomData;

/// A table of `len` zeros (the default of a number), which takes memory where it is touched. Where the system can (Linux), that
/// is advised to be on huge pages: on a drive of 64 GiB a random lookup then costs one cache miss instead of a cache miss and a
/// page walk.
pub fn zeroed<T: Clone + Default>(len: usize) -> Vec<T> {
    let table = vec![T::default(); len];
    advise_huge_pages(&table);
    table
}

/// A table of `len` identifiers, none of which is there at first: `u32::MAX` is none. It takes memory where it is touched.
#[derive(Clone, Debug)]
pub struct IdTable<I> {
    /// Complements, so that memory of zeros holds none.
    words: Vec<u32>,
    of: PhantomData<I>,
}

impl<I: Copy + From<u32> + Into<u32>> IdTable<I> {
    /// A table without any identifier.
    pub fn new(len: usize) -> Self {
        Self { words: zeroed(len), of: PhantomData }
    }

    /// The same of one that is written and read in stretches: on small pages, so that a stretch takes no more memory than it
    /// fills. A stretch is looked up once, not each of its places.
    pub fn of_stretches(len: usize) -> Self {
        Self { words: vec![0; len], of: PhantomData }
    }

    /// Places in it.
    #[inline]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether it has no place.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The identifier at a place.
    ///
    /// # Panics
    /// Beyond the table.
    #[inline]
    pub fn get(&self, index: usize) -> I {
        I::from(!self.words[index])
    }

    /// Puts an identifier at a place.
    ///
    /// # Panics
    /// Beyond the table.
    #[inline]
    pub fn put(&mut self, index: usize, id: I) {
        self.words[index] = !id.into();
    }

    /// The same; returns what was there.
    ///
    /// # Panics
    /// Beyond the table.
    #[inline]
    pub fn replace(&mut self, index: usize, id: I) -> I {
        I::from(!std::mem::replace(&mut self.words[index], !id.into()))
    }

    /// All of them in order.
    pub fn iter(&self) -> impl Iterator<Item = I> {
        self.words.iter().map(|word| I::from(!word))
    }

    /// The memory itself, for what hints at it and fills it.
    #[inline]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The same, to be filled with complements of identifiers.
    pub fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words
    }
}

#[cfg(target_os = "linux")]
fn advise_huge_pages<T>(table: &Vec<T>) {
    const HUGE_PAGE_BYTES: usize = 2 << 20;
    let begin = (table.as_ptr() as usize).next_multiple_of(HUGE_PAGE_BYTES);
    let end = table.as_ptr() as usize + table.capacity() * size_of::<T>();
    let len = end.saturating_sub(begin) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    if len == 0 {
        return;
    }
    // SAFETY: the range lies within one live allocation, and the advice changes no content. Its failure
    // (a kernel without huge pages) costs speed only.
    #[allow(unsafe_code)]
    unsafe {
        libc::madvise(begin as *mut libc::c_void, len, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages<T>(_table: &Vec<T>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_not_there_until_they_are_put() {
        let mut ids = IdTable::<u32>::new(3);
        assert!(ids.len() == 3 && !ids.is_empty() && ids.iter().all(|id| id == u32::MAX));
        ids.put(1, 0);
        assert_eq!((ids.replace(1, 7), ids.get(1), ids.replace(0, 9)), (0, 7, u32::MAX));
        ids.words_mut()[2] = !5;
        assert_eq!(ids.iter().collect::<Vec<u32>>(), [9, 7, 5]);
    }

    /// Pages of memory that this process has touched.
    #[cfg(target_os = "linux")]
    fn resident_pages() -> u64 {
        let statm = std::fs::read_to_string("/proc/self/statm").expect("the memory of this process");
        statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number of pages")
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_of_a_table_of_nothing_is_not_touched() {
        const BYTES: usize = 1 << 30;
        let before = resident_pages();
        let mut ids = IdTable::<u32>::new(BYTES / 4);
        assert!(ids.get(BYTES / 8) == u32::MAX && ids.replace(BYTES / 16, 1) == u32::MAX);
        assert!((resident_pages() - before) * 4096 < BYTES as u64 / 8, "two places of 1 GiB were touched");
    }
}
