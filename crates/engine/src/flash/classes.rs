//! What goes first in a queue of a die where the scheduler goes by the classes of the jobs that accesses are for.
//!
//! Programs of a pool stay in their order, in which the pages of a block are programmed.

use ninescope_kernel::NONE;
use ninescope_model::{DieId, UrgencyClass};

use super::Flash;
use super::tenants::host_of;
use crate::run::Run;
use crate::transaction::{QueueClass, TransactionStore};

/// How many classes there are.
const CLASSES: usize = 4;

impl Flash {
    /// Tenants are of these classes, by which dies go. Before anything runs.
    pub fn go_by_classes(&mut self, classes: Vec<UrgencyClass>) {
        self.classes = Some(classes.into());
    }

    /// The classes of tenants, where dies go by them.
    pub fn classes(&self) -> Option<&[UrgencyClass]> {
        self.classes.as_deref()
    }

    /// Puts what is to go first in a queue before what came earlier. Returns its class.
    #[inline(never)]
    pub(super) fn bring_forward<Q>(&mut self, run: &mut Run<Q>, die: DieId, queue: QueueClass) -> UrgencyClass {
        let (Some(classes), Some(tenants)) = (&self.classes, &run.transactions.tenants) else {
            return UrgencyClass::Urgent;
        };
        // By class: the first one that may go, and the one before it.
        let mut first = [None; CLASSES];
        let (mut previous, mut index, mut pools) = (NONE, self.dies[die.0].queue(queue).head(), 0_u32);
        while index != NONE && first.contains(&None) {
            let access = &run.transactions.slab[index];
            let pool = self.geometry.pool_and_block(self.geometry.locate(access.ppa()).group).0;
            let bit = 1 << self.geometry.first_plane_of_pool(pool);
            let may_go = queue == QueueClass::HostRead || pools & bit == 0;
            pools |= bit;
            // What the drive does by itself is of no tenant.
            let holder = usize::from(host_of(&run.transactions, tenants, index));
            let class = classes.get(holder).copied().unwrap_or(UrgencyClass::Urgent);
            if may_go && first[class as usize].is_none() {
                first[class as usize] = Some((previous, index));
            }
            (previous, index) = (index, access.next);
        }
        let chosen = self.dies.prefers(die.0, queue, &|class| first[class as usize].is_some());
        if let Some((before, index)) = first[chosen as usize].filter(|&(before, _)| before != NONE) {
            let (slab, link) = (&mut run.transactions.slab, TransactionStore::link);
            let waiting = self.dies[die.0].queue(queue);
            waiting.remove_after(slab, before, link);
            waiting.push_front(slab, index, link);
            run.counters.class_passes += 1;
        }
        chosen
    }

    /// What goes first in a queue is taken up.
    #[inline(never)]
    pub(super) fn take_by_class<Q>(&mut self, run: &mut Run<Q>, die: DieId, queue: QueueClass) {
        if matches!(queue, QueueClass::HostRead | QueueClass::HostProgram) {
            let class = self.bring_forward(run, die, queue);
            self.dies.taken(die.0, queue, class);
        }
    }
}
