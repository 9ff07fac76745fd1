//! A 4-ary heap of resources that knows where each resource stands.

use super::{ResourceId, WakeQueue};
use crate::Ns;

const ARITY: usize = 4;
const ABSENT: u32 = u32::MAX;

/// The heap holds only scheduled resources; `positions` makes moving and cancelling logarithmic.
#[derive(Debug)]
pub struct IndexedHeap {
    heap: Vec<(Ns, u32)>,
    positions: Vec<u32>,
}

impl IndexedHeap {
    #[inline]
    fn place(&mut self, position: usize, entry: (Ns, u32)) {
        self.heap[position] = entry;
        self.positions[entry.1 as usize] = position as u32;
    }

    fn sift_up(&mut self, mut position: usize, entry: (Ns, u32)) {
        while position > 0 {
            let parent = (position - 1) / ARITY;
            if self.heap[parent] <= entry {
                break;
            }
            self.place(position, self.heap[parent]);
            position = parent;
        }
        self.place(position, entry);
    }

    fn sift_down(&mut self, mut position: usize, entry: (Ns, u32)) {
        loop {
            let first_child = position * ARITY + 1;
            let last_child = (first_child + ARITY).min(self.heap.len());
            let Some(child) = (first_child..last_child).min_by_key(|&child| self.heap[child]) else { break };
            if entry <= self.heap[child] {
                break;
            }
            self.place(position, self.heap[child]);
            position = child;
        }
        self.place(position, entry);
    }

    fn settle(&mut self, position: usize, entry: (Ns, u32)) {
        if position > 0 && entry < self.heap[(position - 1) / ARITY] {
            self.sift_up(position, entry);
        } else {
            self.sift_down(position, entry);
        }
    }
}

impl WakeQueue for IndexedHeap {
    fn new(resources: usize) -> Self {
        Self { heap: Vec::with_capacity(resources), positions: vec![ABSENT; resources.max(1)] }
    }

    #[inline]
    fn schedule(&mut self, resource: ResourceId, at: Ns) {
        let entry = (at, resource.0);
        let position = self.positions[resource.index()];
        if position == ABSENT {
            self.heap.push(entry);
            self.sift_up(self.heap.len() - 1, entry);
        } else {
            self.settle(position as usize, entry);
        }
    }

    #[inline]
    fn cancel(&mut self, resource: ResourceId) {
        let position = self.positions[resource.index()];
        if position == ABSENT {
            return;
        }
        self.positions[resource.index()] = ABSENT;
        let Some(last) = self.heap.pop() else { return };
        if last.1 != resource.0 {
            self.settle(position as usize, last);
        }
    }

    #[inline]
    fn wake_time(&self, resource: ResourceId) -> Ns {
        match self.positions[resource.index()] {
            ABSENT => Ns::NEVER,
            position => self.heap[position as usize].0,
        }
    }

    #[inline]
    fn peek(&self) -> Option<(Ns, ResourceId)> {
        self.heap.first().map(|&(at, resource)| (at, ResourceId(resource)))
    }

    #[inline]
    fn pop(&mut self) -> Option<(Ns, ResourceId)> {
        let (at, resource) = self.peek()?;
        self.cancel(resource);
        Some((at, resource))
    }
}
