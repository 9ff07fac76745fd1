//! Queueing a transaction on its die.

use ninescope_kernel::{NONE, Ns, WakeQueue};
use ninescope_model::DieId;

use super::DiePhase;
use crate::device::Device;
use crate::kind::Kind;
use crate::transaction::{QueueClass, Transaction};

impl<K: Kind> Device<K> {
    /// Queues a transaction on a die, from which it is dispatched before time moves on if the die is free.
    #[inline]
    pub(crate) fn enqueue(&mut self, die: DieId, transaction: Transaction) -> u32 {
        let now = self.now;
        let class = transaction.class;
        let index = self.transactions.insert(now, transaction);
        self.free_after_data_out(die);
        if transaction.tracked || class == QueueClass::HostRead {
            self.join_share(die, index);
        }
        let unit = &mut self.dies[die.index()];
        if transaction.tracked {
            let track = &mut self.transactions.tracks[index as usize];
            track.mark = now;
            // On an idle die it is issued at this instant, unless something else is: see `dispatch`.
            track.snapshot_taken = unit.phase != DiePhase::Free || unit.waiting != 0;
            if track.snapshot_taken {
                let ledger = unit.ledger.read(now);
                self.transactions.begin_wait(&self.own_parts, index, now, ledger);
            } else {
                unit.unsnapped = index;
            }
        }
        self.join_queue(die, class, index);
        index
    }

    /// Queues a transaction once more.
    pub(crate) fn requeue(&mut self, die: DieId, index: u32) {
        let transaction = &mut self.transactions.slab[index];
        (transaction.queued, transaction.next) = (self.now, NONE);
        let class = transaction.class;
        self.free_after_data_out(die);
        self.join_queue(die, class, index);
    }

    #[inline]
    fn join_queue(&mut self, die: DieId, class: QueueClass, index: u32) {
        let unit = &mut self.dies[die.index()];
        self.transactions.push(&mut unit.queues[class as usize], index);
        unit.waiting |= 1 << class as u8;
        match unit.phase {
            DiePhase::Free => self.touched.set(die.index()),
            // The transfer was to end without an event, because nothing waited.
            DiePhase::DataOut => self.queue.schedule(self.resources.die(die), unit.data_out_end),
            DiePhase::Array if class == QueueClass::HostRead => self.consider_suspend(die),
            _ => {}
        }
    }

    /// A die whose data transfer ended without an event is free.
    #[inline]
    pub(crate) fn free_after_data_out(&mut self, die: DieId) {
        let unit = &mut self.dies[die.index()];
        if unit.phase == DiePhase::DataOut
            && unit.data_out_end <= self.now
            && self.queue.wake_time(self.resources.die(die)) == Ns::NEVER
        {
            unit.phase = DiePhase::Free;
        }
    }
}
