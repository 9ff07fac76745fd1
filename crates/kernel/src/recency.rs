//! Doubly linked lists through a table, in the order of use.

use crate::NONE;

/// The links of an entry.
#[derive(Clone, Copy, Debug)]
pub struct Links {
    newer: u32,
    older: u32,
}

impl Default for Links {
    fn default() -> Self {
        Self { newer: NONE, older: NONE }
    }
}

/// One list: its newest and oldest entry.
#[derive(Clone, Copy, Debug)]
pub struct RecencyList {
    newest: u32,
    oldest: u32,
    count: u32,
}

impl Default for RecencyList {
    fn default() -> Self {
        Self { newest: NONE, oldest: NONE, count: 0 }
    }
}

impl RecencyList {
    /// The entry used longest ago.
    pub fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// Entries.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The entry used right after `index`.
    pub fn newer_than(links: &[Links], index: u32) -> Option<u32> {
        let newer = links[index as usize].newer;
        (newer != NONE).then_some(newer)
    }

    /// Adds an entry that is in no list, as the newest.
    pub fn push_newest(&mut self, links: &mut [Links], index: u32) {
        links[index as usize] = Links { newer: NONE, older: self.newest };
        match self.newest {
            NONE => self.oldest = index,
            newest => links[newest as usize].newer = index,
        }
        self.newest = index;
        self.count += 1;
    }

    /// Removes an entry of this list.
    pub fn remove(&mut self, links: &mut [Links], index: u32) {
        let Links { newer, older } = std::mem::take(&mut links[index as usize]);
        match newer {
            NONE => self.newest = older,
            newer => links[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => links[older as usize].newer = newer,
        }
        self.count -= 1;
    }

    /// Makes an entry of this list the newest.
    #[inline]
    pub fn touch(&mut self, links: &mut [Links], index: u32) {
        if self.newest == index {
            return;
        }
        // One that is newer there is, so that only the oldest end may change but for the newest.
        let Links { newer, older } = links[index as usize];
        links[newer as usize].older = older;
        match older {
            NONE => self.oldest = newer,
            older => links[older as usize].newer = newer,
        }
        links[self.newest as usize].newer = index;
        links[index as usize] = Links { newer: NONE, older: self.newest };
        self.newest = index;
    }
}
