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

/// The store with what it is busy with.
#[derive(Clone, Debug)]
pub struct BackingStore {
    read: Ns,
    free_at: Vec<Ns>,
}

impl BackingStore {
    /// An idle store.
    pub fn new(config: &BackingStoreConfig) -> Self {
        Self { read: config.read, free_at: vec![Ns::ZERO; config.parallel.max(1) as usize] }
    }

    /// Asks for a unit at `now`: served in the order of asking. Returns when it is there.
    pub fn fetch(&mut self, now: Ns) -> Ns {
        let server = (0..self.free_at.len()).min_by_key(|&server| self.free_at[server]).unwrap_or(0);
        let begins = self.free_at[server].max(now);
        self.free_at[server] = begins + self.read;
        self.free_at[server]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_first_is_served_first_by_whoever_is_free() {
        let mut store = BackingStore::new(&BackingStoreConfig { read: Ns(10), parallel: 2 });
        assert_eq!([0, 1, 2, 30].map(|now| store.fetch(Ns(now))), [Ns(10), Ns(11), Ns(20), Ns(40)]);
    }
}
