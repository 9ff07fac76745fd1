//! The store behind a cache-oriented drive, from which clean data can be fetched again.

use ninescope_kernel::Ns;

/// What is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackingStoreConfig {
    /// Reading a unit [ns].
    pub read: Ns,
    /// Reads that it serves side by side [count].
    pub parallel: u32,
}

/// Who asks for a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// A host command or a move, which waits for it.
    Wanted,
    /// The scrubber, which has time.
    Ahead,
}

/// The store with what it is busy with.
#[derive(Clone, Debug)]
pub struct BackingStore {
    read: Ns,
    /// By server: when it is through with what is waited for, and with everything [ns].
    free_at: Vec<[Ns; 2]>,
}

impl BackingStore {
    /// An idle store.
    pub fn new(config: &BackingStoreConfig) -> Self {
        Self { read: config.read, free_at: vec![[Ns::ZERO; 2]; config.parallel.max(1) as usize] }
    }

    /// Reading a unit [ns].
    pub fn read_time(&self) -> Ns {
        self.read
    }

    /// Reads that it serves side by side [count].
    pub fn parallel(&self) -> u32 {
        self.free_at.len() as u32
    }

    /// Asks for a unit at `now`. Returns when it is there. What is waited for is served in the order of asking, before what
    /// the scrubber asks for; what that was promised already stays as it is.
    pub fn fetch(&mut self, now: Ns, by: Fetch) -> Ns {
        let queue = by as usize;
        let server = (0..self.free_at.len()).min_by_key(|&server| self.free_at[server][queue]).unwrap_or(0);
        let free_at = &mut self.free_at[server];
        for through in &mut free_at[queue..] {
            *through = (*through).max(now) + self.read;
        }
        free_at[queue]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(parallel: u32) -> BackingStore {
        BackingStore::new(&BackingStoreConfig { read: Ns(10), parallel })
    }

    #[test]
    fn who_asks_first_is_served_first_by_whoever_is_free() {
        let mut store = store(2);
        let there = [0, 1, 2, 30].map(|now| store.fetch(Ns(now), Fetch::Wanted));
        assert_eq!(there, [Ns(10), Ns(11), Ns(20), Ns(40)]);
    }

    #[test]
    fn what_is_waited_for_goes_before_what_is_fetched_ahead() {
        let mut store = store(1);
        assert_eq!([0, 0].map(|now| store.fetch(Ns(now), Fetch::Ahead)), [Ns(10), Ns(20)]);
        assert_eq!(store.fetch(Ns(5), Fetch::Wanted), Ns(15));
        assert_eq!(store.fetch(Ns(5), Fetch::Ahead), Ns(40), "behind two of its own and one that went before");
    }
}
