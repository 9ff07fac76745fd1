//! The event queue: every resource owns one wake-up slot.
//!
//! A resource is anything that must decide something at a later time (a die, a channel, a link, a
//! timer). `schedule` moves its one wake-up, `cancel` clears it, so there are no stale events and the
//! queue never holds more entries than there are resources. Entries leave in the order of (time,
//! resource id); the caller numbers its resources so that this order is the one it wants.

mod indexed_heap;
mod tournament_tree;

use crate::Ns;

pub use indexed_heap::IndexedHeap;
pub use tournament_tree::TournamentTree;

crate::define_id! {
    /// Index of something that owns a wake-up slot.
    ResourceId
}

/// One wake-up slot per resource, ordered by time, then by resource id.
pub trait WakeQueue {
    /// A queue for resources `0..resources`, nothing scheduled.
    fn new(resources: usize) -> Self;
    /// Sets (or moves) the wake-up of `resource`. `at` is never `Ns::NEVER`.
    fn schedule(&mut self, resource: ResourceId, at: Ns);
    /// Clears the wake-up of `resource`; nothing happens when there is none.
    fn cancel(&mut self, resource: ResourceId);
    /// When `resource` wakes, `Ns::NEVER` when it does not.
    fn wake_time(&self, resource: ResourceId) -> Ns;
    /// The earliest wake-up without taking it.
    fn peek(&self) -> Option<(Ns, ResourceId)>;
    /// Takes the earliest wake-up and clears its slot.
    fn pop(&mut self) -> Option<(Ns, ResourceId)>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RandomStream;
    use std::collections::BTreeSet;

    /// Random operations on a queue and on a sorted set must agree at each step.
    fn agrees_with_a_sorted_set<Q: WakeQueue>() {
        for resources in [1, 2, 5, 64, 100] {
            let mut queue = Q::new(resources);
            let mut model: BTreeSet<(u64, u32)> = BTreeSet::new();
            let mut times = vec![u64::MAX; resources];
            let mut stream = RandomStream::new(3, "test", "queue");
            for _ in 0..5_000 {
                let resource = stream.below(resources as u64) as u32;
                match stream.below(4) {
                    0 => {
                        assert_eq!(queue.pop(), model.pop_first().map(|(t, r)| (Ns(t), ResourceId(r))));
                        times = vec![u64::MAX; resources];
                        for &(t, r) in &model {
                            times[r as usize] = t;
                        }
                    }
                    1 => {
                        queue.cancel(ResourceId(resource));
                        model.remove(&(times[resource as usize], resource));
                        times[resource as usize] = u64::MAX;
                    }
                    _ => {
                        let at = stream.below(50); // few distinct times: ties are common
                        queue.schedule(ResourceId(resource), Ns(at));
                        model.remove(&(times[resource as usize], resource));
                        model.insert((at, resource));
                        times[resource as usize] = at;
                    }
                }
                assert_eq!(queue.peek(), model.first().map(|&(t, r)| (Ns(t), ResourceId(r))));
                assert_eq!(queue.wake_time(ResourceId(resource)), Ns(times[resource as usize]));
            }
        }
    }

    #[test]
    fn the_indexed_heap_agrees_with_a_sorted_set() {
        agrees_with_a_sorted_set::<IndexedHeap>();
    }

    #[test]
    fn the_tournament_tree_agrees_with_a_sorted_set() {
        agrees_with_a_sorted_set::<TournamentTree>();
    }
}
