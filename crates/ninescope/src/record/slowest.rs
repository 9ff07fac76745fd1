//! The slowest requests of one operation: the K slowest so far, and no more.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ninescope_kernel::Ns;

use super::account::Account;

/// Stretches of dies that all of them list at most, and that one lists at most and at least.
const STRETCHES: usize = 1 << 16;
const STRETCHES_MAX: usize = 512;
const STRETCHES_MIN: usize = 32;

/// Latency, then the number: of equally slow requests the first submitted ranks higher.
type Rank = (Ns, Reverse<u64>);

/// The slowest requests so far.
#[derive(Debug)]
pub struct Slowest {
    most: usize,
    by_rank: BTreeMap<Rank, Account>,
}

impl Slowest {
    /// None so far, of at most `most`.
    pub fn new(most: usize) -> Self {
        Self { most, by_rank: BTreeMap::new() }
    }

    /// Whether anybody wants them.
    pub fn is_wanted(&self) -> bool {
        self.most > 0
    }

    /// How many stretches of dies one of them lists [count].
    pub fn stretches(&self) -> usize {
        (STRETCHES / self.most.max(1)).clamp(STRETCHES_MIN, STRETCHES_MAX)
    }

    /// Whether a request of this latency would be among them.
    pub fn takes(&self, latency: Ns, id: u64) -> bool {
        let least = self.by_rank.first_key_value();
        self.is_wanted()
            && (self.by_rank.len() < self.most || least.is_some_and(|(&rank, _)| rank < (latency, Reverse(id))))
    }

    /// Adds a request that [`Slowest::takes`] lets in.
    pub fn add(&mut self, account: Account) {
        self.by_rank.insert((account.latency(), Reverse(account.id)), account);
        if self.by_rank.len() > self.most {
            self.by_rank.pop_first();
        }
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.by_rank.clear();
    }

    /// All of them, slowest first.
    pub fn ranked(&self) -> Vec<&Account> {
        self.by_rank.values().rev().collect()
    }
}
