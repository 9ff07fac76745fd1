//! A tournament over all resources: each inner node holds the earlier of its two children.

use super::{ResourceId, WakeQueue};
use crate::Ns;

/// A wake-up as a node of the tree holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    at: Ns,
    resource: u32,
}

/// Leaves are the resources in id order, padded to a power of two; ties go to the left child, which is the
/// lower id. Nodes hold whole entries, so that on the walk from leaf to root each comparison needs only the
/// sibling, whose address does not depend on the comparison before.
#[derive(Debug)]
pub struct TournamentTree {
    /// `nodes[1]` is the root, node `n` has children `2n` and `2n + 1`, leaves begin at `leaves`.
    nodes: Vec<Entry>,
    leaves: usize,
}

impl TournamentTree {
    /// Puts `at` into a leaf and plays the matches above it, as far as the change reaches.
    #[inline]
    fn replay(&mut self, resource: u32, at: Ns) {
        let mut node = self.leaves + resource as usize;
        let mut winner = Entry { at, resource };
        self.nodes[node] = winner;
        while node > 1 {
            let sibling = self.nodes[node ^ 1];
            // The left child wins ties: an even node is a left child.
            let sibling_wins = sibling.at < winner.at || (sibling.at == winner.at && node & 1 == 1);
            winner = if sibling_wins { sibling } else { winner };
            node /= 2;
            if self.nodes[node] == winner {
                break;
            }
            self.nodes[node] = winner;
        }
    }
}

impl WakeQueue for TournamentTree {
    fn new(resources: usize) -> Self {
        let leaves = resources.max(1).next_power_of_two();
        let nodes = (0..2 * leaves).map(|node| {
            // The leftmost leaf below the node: among equals (never, never) it wins.
            let mut leftmost = node.max(1);
            while leftmost < leaves {
                leftmost *= 2;
            }
            Entry { at: Ns::NEVER, resource: (leftmost - leaves) as u32 }
        });
        Self { nodes: nodes.collect(), leaves }
    }

    #[inline]
    fn schedule(&mut self, resource: ResourceId, at: Ns) {
        self.replay(resource.0, at);
    }

    #[inline]
    fn cancel(&mut self, resource: ResourceId) {
        if self.wake_time(resource) != Ns::NEVER {
            self.replay(resource.0, Ns::NEVER);
        }
    }

    #[inline]
    fn wake_time(&self, resource: ResourceId) -> Ns {
        self.nodes[self.leaves + resource.index()].at
    }

    #[inline]
    fn peek(&self) -> Option<(Ns, ResourceId)> {
        let root = self.nodes[1];
        (root.at != Ns::NEVER).then_some((root.at, ResourceId(root.resource)))
    }

    #[inline]
    fn pop(&mut self) -> Option<(Ns, ResourceId)> {
        let (at, winner) = self.peek()?;
        self.replay(winner.0, Ns::NEVER);
        Some((at, winner))
    }
}
