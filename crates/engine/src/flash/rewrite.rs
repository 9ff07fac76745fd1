//! Pages that are programmed again elsewhere, because a program of their block failed.
//!
//! Why it failed, and what waits for the pages, is not known here.

use ninescope_ftl::Rewritten;
use ninescope_kernel::{NONE, WakeQueue};
use ninescope_model::{BlockGroup, Pool, Ppa, Stream};

use super::Flash;
use crate::run::Run;
use crate::transaction::{QueueClass, Transaction, TransactionStore, UnitRecord};

impl Flash {
    /// Whether blocks break.
    #[inline]
    pub fn blocks_break(&self) -> bool {
        self.blocks_break
    }

    /// Whether the drive takes no more writes.
    pub fn is_read_only(&self) -> bool {
        self.ftl.is_read_only()
    }

    /// The pool that lacks groups, the first time that this is asked after the drive takes no more writes. Who waits goes on.
    pub fn newly_read_only(&mut self) -> Option<Pool> {
        let pool = self.ftl.read_only_pool().filter(|_| !self.read_only_told)?;
        self.read_only_told = true;
        self.line.may_go_on();
        Some(pool)
    }

    /// Whether the program of a page that ended failed.
    pub fn program_failed(&mut self, page: Ppa) -> bool {
        self.ftl.program_failed(page)
    }

    /// A page of the media is used up, whatever came of its program.
    pub fn page_used_up(&mut self, page: Ppa) {
        let (group, offset) = self.geometry.group_and_offset(page);
        self.ftl.programmed(group, offset + self.geometry.units_per_page());
    }

    /// Takes the programs of a group that wait for their die out of its queue, in order, and behind them those that the firmware has not
    /// given to it yet.
    pub fn take_queued_programs<Q>(&mut self, run: &mut Run<Q>, group: BlockGroup, class: QueueClass) -> Vec<u32> {
        let die = self.geometry.die_of_pool(self.geometry.pool_and_block(group).0);
        let mut taken = Vec::new();
        let (mut previous, mut index) = (NONE, self.dies[die.0].queue(class).head());
        while index != NONE {
            let Transaction { next, .. } = run.transactions.slab[index];
            if self.group_of(run.transactions.slab[index].ppa()) == group {
                let slab = &mut run.transactions.slab;
                self.dies[die.0].queue(class).remove_after(slab, previous, TransactionStore::link);
                self.dies.forget_wait(die.0, index);
                taken.push(index);
            } else {
                previous = index;
            }
            index = next;
        }
        self.dies[die.0].taken_from(class);
        if let Some(firmware) = &mut run.firmware {
            taken.extend(firmware.take_back(group));
        }
        taken
    }

    /// No more of a group is handed out: a program of it failed.
    pub fn group_failed(&mut self, group: BlockGroup) {
        self.ftl.group_failed(group);
    }

    /// What was to be programmed in it has its place elsewhere: it is emptied.
    pub fn empty_failed(&mut self, group: BlockGroup) {
        self.ftl.empty_failed(group);
        self.collection.touch(self.geometry.pool_and_block(group).0);
    }

    /// Gives a page of a group that failed another place, and queues its program there. Where none is free the drive takes no
    /// more writes.
    pub fn program_again<Q: WakeQueue>(
        &mut self,
        run: &mut Run<Q>,
        index: u32,
        stream: Stream,
        programmed: bool,
    ) -> Option<Rewritten> {
        let old = run.transactions.slab[index];
        let moves = if stream.is_of_moves() { run.transactions.records_of(index) } else { 0 };
        let pool = self.pool_of(old.ppa());
        let Some(rewritten) = self.ftl.rewrite(stream, old.ppa(), programmed, moves) else {
            self.ftl.turn_read_only(pool);
            return None;
        };
        let last = Ppa(rewritten.to.0 + self.geometry.units_per_page() - 1);
        let plane = self.geometry.locate(last).plane_in_group;
        let planes = self.geometry.frontier_planes;
        self.programs.stripe_mut(pool, stream).first_page = (plane + 1) % planes;
        if rewritten.opened {
            self.collection.touch(pool);
        }
        let failing = run.now - run.queued_first(index);
        let again = if stream.is_of_moves() {
            Transaction::move_program(rewritten.to, old.units, old.records())
        } else {
            Transaction::host_program(rewritten.to, old.units, old.records(), old.flush_epoch(), old.source)
        };
        let queued = self.enqueue(run, again);
        run.transactions.program_follows(queued, index, failing);
        self.program_is_of_part(queued, self.part_of_program(index));
        run.transactions.slab.remove(index);
        run.counters.pages_programmed_again += 1;
        Some(rewritten)
    }

    /// A page has no place to be programmed again: what is written of it stays in the controller.
    pub fn keep_page<Q>(&mut self, run: &mut Run<Q>, page: Ppa, moves: u32) {
        self.ftl.keep_in_controller(page, moves);
        run.counters.pages_kept += 1;
        self.keeps_pages = true;
    }

    /// Whether there are such pages.
    pub fn keeps_pages(&self) -> bool {
        self.keeps_pages
    }

    /// A unit that was to be moved finds no place: the drive takes no more writes, and the unit stays where it is.
    pub fn give_move_up(&mut self, pool: Pool, record: &UnitRecord) {
        self.ftl.give_move_up(pool, record.kind.into());
    }

    /// The commands of FLUSH that wait for programs.
    pub fn waiting_flushes(&self) -> Vec<u32> {
        self.flushes.waiting()
    }
}
