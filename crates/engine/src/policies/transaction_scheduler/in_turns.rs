//! Reads first, and collection in turns with writes: as `reads-first`, but where host writes wait for garbage collection it goes before
//! their programs for `moves` accesses at a time only, and then one of theirs goes. Collection is cut into parts, as in partial
//! collection for real-time systems (Chang, Kuo and Lo, 2004), and a full write buffer gets room before the victim is empty.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DieView, TransactionScheduler, TransactionSchedulerParameters};
use crate::transaction::QueueClass::{self, Erase, HostProgram, HostRead, MoveProgram, MoveRead};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InTurns {
    /// Accesses of garbage collection that a die takes one after another while a program of the host waits.
    pub moves: NonZeroU32,
}

impl Default for InTurns {
    fn default() -> Self {
        Self { moves: NonZeroU32::new(4).expect("four is not zero") }
    }
}

impl TransactionSchedulerParameters for InTurns {
    fn build(&self) -> Box<dyn TransactionScheduler> {
        Box::new(InTurnsScheduler { parameters: *self, taken: Vec::new() })
    }
}

/// The policy with what each die has taken.
#[derive(Debug)]
struct InTurnsScheduler {
    parameters: InTurns,
    /// By die: accesses of garbage collection since the last program of the host.
    taken: Vec<u32>,
}

impl TransactionScheduler for InTurnsScheduler {
    fn dies(&mut self, count: u32) {
        self.taken = vec![0; count as usize];
    }

    fn pick(&mut self, view: &DieView) -> Option<QueueClass> {
        if view.has(HostRead) {
            return Some(HostRead);
        }
        let taken = &mut self.taken[view.die as usize];
        let collection = view.first_of(&[Erase, MoveProgram, MoveRead]);
        let host_first = !view.gc_is_urgent || *taken >= self.parameters.moves.get() || collection.is_none();
        if host_first && view.has(HostProgram) {
            *taken = 0;
            return Some(HostProgram);
        }
        *taken = if view.has(HostProgram) { *taken + 1 } else { 0 };
        collection
    }
}

#[cfg(test)]
mod tests {
    use ninescope_kernel::{Fifo, Slab};

    use super::*;
    use crate::transaction::{CLASSES, Transaction};

    #[test]
    fn a_program_goes_after_so_many_moves_of_its_die() {
        let mut scheduler = InTurns { moves: NonZeroU32::new(2).expect("two") }.build();
        scheduler.dies(2);
        let (queues, transactions) = ([Fifo::default(); CLASSES], Slab::<Transaction>::with_capacity(0));
        let mut pick = |die: u32, classes: &[QueueClass], gc_is_urgent: bool| {
            let waiting = classes.iter().map(|class| 1 << *class as u8).sum();
            let view = DieView { die, waiting, gc_is_urgent, queues: &queues, transactions: &transactions };
            scheduler.pick(&view).expect("something waits")
        };
        let both = [HostProgram, MoveRead];
        for _ in 0..3 {
            let order = [(); 3].map(|()| pick(0, &both, true));
            assert_eq!(order, [MoveRead, MoveRead, HostProgram]);
        }
        // Each die counts for itself, reads go before both, and moves that keep nobody waiting are not counted.
        assert_eq!([pick(0, &both, true), pick(1, &both, true), pick(0, &both, true)], [MoveRead; 3]);
        assert_eq!(pick(0, &[HostRead, HostProgram, Erase], true), HostRead);
        assert_eq!([pick(0, &both, true), pick(1, &both, false)], [HostProgram; 2]);
        assert_eq!([pick(1, &[MoveRead], true), pick(1, &[Erase, MoveProgram], true)], [MoveRead, Erase]);
        assert_eq!([(); 3].map(|()| pick(1, &both, true)), [MoveRead, MoveRead, HostProgram]);
    }
}
