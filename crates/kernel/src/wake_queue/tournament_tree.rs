//! A tournament over all resources: each inner node holds the earlier of its two children.

use super::{ResourceId, WakeQueue};
use crate::Ns;

/// Leaves are the resources in id order, padded to a power of two; ties go to the left child, which
/// is the lower id. A change costs one walk from leaf to root.
#[derive(Debug)]
pub struct TournamentTree {
    /// `times[r]`: wake-up of resource `r`, `Ns::NEVER` when none.
    times: Vec<Ns>,
    /// `winners[node]` for inner nodes `1..leaves`; node `n` has children `2n` and `2n + 1`.
    winners: Vec<u32>,
    leaves: usize,
}

impl TournamentTree {
    #[inline]
    fn winner_of_child(&self, child: usize) -> u32 {
        if child >= self.leaves { (child - self.leaves) as u32 } else { self.winners[child] }
    }

    #[inline]
    fn replay(&mut self, resource: u32) {
        let mut node = (self.leaves + resource as usize) / 2;
        while node >= 1 {
            let left = self.winner_of_child(2 * node);
            let right = self.winner_of_child(2 * node + 1);
            let right_is_earlier = self.times[right as usize] < self.times[left as usize];
            self.winners[node] = if right_is_earlier { right } else { left };
            node /= 2;
        }
    }

    #[inline]
    fn root(&self) -> u32 {
        if self.leaves == 1 { 0 } else { self.winners[1] }
    }
}

impl WakeQueue for TournamentTree {
    fn new(resources: usize) -> Self {
        let leaves = resources.max(1).next_power_of_two();
        let mut tree = Self { times: vec![Ns::NEVER; leaves], winners: vec![0; leaves], leaves };
        (0..leaves as u32).step_by(2).for_each(|leaf| tree.replay(leaf));
        tree
    }

    #[inline]
    fn schedule(&mut self, resource: ResourceId, at: Ns) {
        self.times[resource.index()] = at;
        self.replay(resource.0);
    }

    #[inline]
    fn cancel(&mut self, resource: ResourceId) {
        if self.times[resource.index()] != Ns::NEVER {
            self.schedule(resource, Ns::NEVER);
        }
    }

    #[inline]
    fn wake_time(&self, resource: ResourceId) -> Ns {
        self.times[resource.index()]
    }

    #[inline]
    fn peek(&self) -> Option<(Ns, ResourceId)> {
        let winner = self.root();
        let at = self.times[winner as usize];
        (at != Ns::NEVER).then_some((at, ResourceId(winner)))
    }

    #[inline]
    fn pop(&mut self) -> Option<(Ns, ResourceId)> {
        let (at, winner) = self.peek()?;
        self.schedule(winner, Ns::NEVER);
        Some((at, winner))
    }
}
