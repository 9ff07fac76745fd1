//! Places of the drive's queue: whose commands held them while a request waited for one.

use ninescope_engine::meter::{REMEMBERED, SPLIT, Waits};
use ninescope_kernel::Ns;
use ninescope_model::Cause;

use crate::cache_holders::share_out;
use crate::rule::{Checked, require};

/// By command inside: its tenant, and what it waited for its place behind each holder; not known where that lies too far back, or
/// a limit held it as well.
type Entry = (u16, Option<Vec<u64>>);

/// Who holds places, from each change to the next one.
#[derive(Debug, Default)]
pub struct Places {
    /// By tenant, and the drive behind them, which holds none.
    held: Vec<u64>,
    /// When something changed, with places times time of each tenant up to then [ns].
    past: Vec<(Ns, Vec<u64>)>,
    /// The same with what was held from then on.
    held_from: Vec<Vec<u64>>,
    entries: Vec<Entry>,
    /// By tenant: it has a limit.
    limited: Vec<bool>,
}

impl Places {
    pub fn started(&mut self, limited: Vec<bool>) {
        let tenants = limited.len();
        if tenants > 1 {
            *self = Self { held: vec![0; tenants], limited, ..Self::default() };
            self.changed(Ns::ZERO);
        }
    }

    fn changed(&mut self, now: Ns) {
        let sums = self.sums_at(now);
        self.past.push((now, sums));
        self.held_from.push(self.held.clone());
    }

    fn sums_at(&self, at: Ns) -> Vec<u64> {
        let Some(last) = self.past.partition_point(|(change, _)| *change <= at).checked_sub(1) else {
            return vec![0; self.held.len()];
        };
        let ((since, sums), held) = (&self.past[last], &self.held_from[last]);
        sums.iter().zip(held).map(|(sum, held)| sum + held * (at - *since).0).collect()
    }

    /// A command of a tenant is taken in, which the host submitted then, and which for so long waited for its own queue alone.
    pub fn fetched(&mut self, now: Ns, slot: u32, (lane, held): (u16, Ns), submitted: Ns) {
        if self.held.is_empty() {
            return;
        }
        let from = submitted + held;
        let changes = self.past.len() - self.past.partition_point(|(change, _)| *change <= from);
        let is_known = !self.limited[lane as usize] && (changes + 2) * (self.held.len() + 1) <= REMEMBERED;
        let waits = is_known.then(|| {
            let mut shares = self.shares((from, now), lane);
            shares[lane as usize] += held.0;
            shares
        });
        self.entries.resize_with(self.entries.len().max(slot as usize + 1), Entry::default);
        self.entries[slot as usize] = (lane, waits);
        self.held[lane as usize] += 1;
        self.changed(now);
    }

    fn shares(&self, (from, until): (Ns, Ns), own: u16) -> Vec<u64> {
        let (before, behind) = (self.sums_at(from), self.sums_at(until));
        let held: Vec<u128> = behind.iter().zip(before).map(|(behind, before)| u128::from(behind - before)).collect();
        share_out(&held, until - from, own)
    }

    /// A command leaves its place.
    pub fn left(&mut self, now: Ns, slot: u32) {
        if !self.held.is_empty() {
            let lane = self.entries[slot as usize].0;
            self.held[lane as usize] -= 1;
            self.changed(now);
        }
    }

    /// The host is told of a command: behind whom it is said to have waited for its place.
    pub fn told(&self, now: Ns, (slot, id): (u32, u64), behind: &[Waits]) -> Checked {
        let Some((_, Some(expected))) = self.entries.get(slot as usize).filter(|_| !self.held.is_empty()) else {
            return Ok(());
        };
        let at = SPLIT.iter().position(|cause| *cause == Cause::HostQueue).unwrap_or_default();
        let said: Vec<u64> = behind.iter().take(expected.len()).map(|waits| waits[at]).collect();
        require!(
            said == *expected,
            Tenants,
            now,
            "request {id} waited for its place behind the tenants for {said:?} ns, by the places that they held for {expected:?} ns"
        );
        Ok(())
    }
}
