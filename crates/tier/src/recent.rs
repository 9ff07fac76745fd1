//! The table of recently used pages that tells hot ones from cold ones.
//!
//! As published for CDE: a page is hot if it is in an LRU table with as many entries as the storage-class memory has
//! page slots (the size is inferred). It is asked before an access is entered.

use ninescope_kernel::{IdTable, Links, NONE, RecencyList};

/// An LRU table of page numbers, each with how often it was used since it came in.
#[derive(Clone, Debug)]
pub struct RecentPages {
    /// By page: its entry.
    entry_of: IdTable<u32>,
    pages: Vec<u32>,
    uses: Vec<u32>,
    links: Vec<Links>,
    order: RecencyList,
}

impl RecentPages {
    /// An empty table of `entries` for `pages` pages.
    pub fn new(entries: u32, pages: u32) -> Self {
        let entries = entries as usize;
        Self {
            entry_of: IdTable::new(if entries == 0 { 0 } else { pages as usize }),
            pages: vec![NONE; entries],
            uses: vec![0; entries],
            links: vec![Links::default(); entries],
            order: RecencyList::default(),
        }
    }

    /// How often a page was used since it came into the table; 0 for one that is not in it.
    #[inline]
    pub fn uses(&self, page: u32) -> u32 {
        if page as usize >= self.entry_of.len() {
            return 0;
        }
        match self.entry_of.get(page as usize) {
            NONE => 0,
            entry => self.uses[entry as usize],
        }
    }

    /// Nothing was used.
    pub fn clear(&mut self) {
        for entry in 0..self.order.count() {
            self.entry_of.put(self.pages[entry as usize] as usize, NONE);
        }
        self.order = RecencyList::default();
        self.links.fill(Links::default());
    }

    /// Enters a use of a page; the one used longest ago makes room.
    pub fn used(&mut self, page: u32) {
        if self.pages.is_empty() {
            return;
        }
        let entry = self.entry_of.get(page as usize);
        if entry != NONE {
            self.order.touch(&mut self.links, entry);
            self.uses[entry as usize] = self.uses[entry as usize].saturating_add(1);
            return;
        }
        let entry = if self.order.count() < self.pages.len() as u32 {
            self.order.count()
        } else {
            let oldest = self.order.oldest().unwrap_or_default();
            self.order.remove(&mut self.links, oldest);
            self.entry_of.put(self.pages[oldest as usize] as usize, NONE);
            oldest
        };
        self.entry_of.put(page as usize, entry);
        self.pages[entry as usize] = page;
        self.uses[entry as usize] = 1;
        self.order.push_newest(&mut self.links, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_used_longest_ago_makes_room() {
        let mut recent = RecentPages::new(2, 10);
        for page in [3, 4, 3, 5] {
            recent.used(page);
        }
        assert_eq!((recent.uses(3), recent.uses(4), recent.uses(5)), (2, 0, 1));
        recent.used(4);
        assert_eq!((recent.uses(3), recent.uses(4), recent.uses(5)), (0, 1, 1), "4 begins anew");
    }

    #[test]
    fn what_is_cleared_begins_anew() {
        let mut recent = RecentPages::new(2, 10);
        for page in [3, 4, 5] {
            recent.used(page);
        }
        recent.clear();
        assert_eq!([3, 4, 5].map(|page| recent.uses(page)), [0, 0, 0]);
        for page in [7, 4, 8] {
            recent.used(page);
        }
        assert_eq!([7, 4, 8, 5].map(|page| recent.uses(page)), [0, 1, 1, 0]);
    }

    #[test]
    fn a_table_without_entries_knows_nothing() {
        let mut recent = RecentPages::new(0, 10);
        recent.used(3);
        assert_eq!(recent.uses(3), 0);
    }
}
