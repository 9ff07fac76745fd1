//! Queueing a transaction on its die.

use ninescope_kernel::{NONE, ResourceId, WakeQueue};
use ninescope_model::{BlockGroup, DieId, Ppa, Source};

use super::Flash;
use super::held::HeldPrograms;
use crate::firmware::{Decision, Step};
use crate::run::Run;
use crate::sched::Phase;
use crate::transaction::{QueueClass, Transaction};

impl Flash {
    /// Queues a transaction on its die, from which it is dispatched before time moves on if the die is free.
    #[inline]
    pub fn enqueue<Q: WakeQueue>(&mut self, run: &mut Run<Q>, transaction: Transaction) -> u32 {
        self.enqueue_in(run, self.group_of(transaction.ppa()), transaction)
    }

    /// The same of a page of parity, or of an erase of the blocks of a group on one of its dies.
    pub fn enqueue_in_set<Q: WakeQueue>(&mut self, run: &mut Run<Q>, mut transaction: Transaction) -> u32 {
        let place = self.geometry.locate(transaction.ppa());
        transaction.page = place.page;
        // What is found again, or read for it, has a turn as any access; parity has none.
        if transaction.class != QueueClass::Erase && !self.geometry.is_parity(transaction.ppa()) {
            self.give_turn(&mut transaction);
        }
        let index = run.transactions.insert(run.now, transaction);
        if run.firmware.is_some() && Self::is_decided_later(run, place.group, index) {
            return index;
        }
        self.join_die(run, self.geometry.die_of(transaction.ppa()), index, transaction);
        index
    }

    /// The same of an access to a group that is known.
    #[inline]
    pub fn enqueue_in<Q: WakeQueue>(
        &mut self,
        run: &mut Run<Q>,
        group: BlockGroup,
        mut transaction: Transaction,
    ) -> u32 {
        let die = self.die_in(group, transaction.ppa());
        transaction.page = self.geometry.page_in_group(group, transaction.ppa());
        if self.ftl.is_slc(group) {
            // Other pages than those of that number elsewhere: no command has both.
            transaction.page += self.geometry.pages_per_block;
        }
        self.give_turn(&mut transaction);
        let index = run.transactions.insert(run.now, transaction);
        if run.firmware.is_some() && Self::is_decided_later(run, group, index) {
            return index;
        }
        self.join_die(run, die, index, transaction);
        index
    }

    /// Where accesses of one turn go together, the place of this one's page is its turn.
    #[inline]
    fn give_turn(&mut self, access: &mut Transaction) {
        if let Some(turns) = &mut self.merging.turns {
            access.page = turns.of_access(access, self.ftl.content(access.ppa()), &self.geometry);
        }
    }

    /// It is decided when a transaction goes to its die, which takes a core of the firmware. Returns whether that takes time. Programs
    /// of one stripe that are sent together are one decision.
    #[inline(never)]
    fn is_decided_later<Q: WakeQueue>(run: &mut Run<Q>, group: BlockGroup, index: u32) -> bool {
        let takes_time = run.firmware.as_ref().is_some_and(|firmware| firmware.takes_time(Decision::Transaction));
        if takes_time {
            let Transaction { class, page, .. } = run.transactions.slab[index];
            let is_program = matches!(class, QueueClass::HostProgram | QueueClass::MoveProgram);
            let stripe = if is_program { (group, page) } else { (BlockGroup(NONE), NONE) };
            run.ask_firmware(Step::of_access(index, stripe, run.now));
        }
        takes_time
    }

    /// From now on what the host writes may go to blocks of one bit in a cell.
    pub fn begin_slc_cache(&mut self) {
        self.ftl.begin_slc_cache();
    }

    /// The same of a program of a frontier by its number, which may have to wait for the map first.
    #[inline]
    pub(super) fn enqueue_program<Q: WakeQueue>(
        &mut self,
        run: &mut Run<Q>,
        frontier: usize,
        program: Transaction,
    ) -> u32 {
        match &mut self.held {
            Some(held) if held.holds(&self.ftl, frontier, program.ppa()) => {
                let index = run.transactions.insert(run.now, program);
                held.hold(frontier, index, program.ppa());
                run.counters.held_programs += 1;
                index
            }
            _ => self.enqueue(run, program),
        }
    }

    /// Programs wait for entries of the map that are read beside what is written, or do not.
    pub fn programs_wait_for_map(&mut self, wait: bool) {
        self.held = HeldPrograms::new(wait, &self.ftl, self.programs.frontiers());
    }

    /// The entry of a unit that is written is being read.
    pub fn awaits_entry(&mut self, unit: u32) {
        if let Some(held) = &mut self.held {
            held.awaits(unit);
        }
    }

    /// A page of the map is there: programs that waited for it go to their dies.
    pub fn entries_came<Q: WakeQueue>(&mut self, run: &mut Run<Q>, page: u32) {
        let Some(held) = &mut self.held else { return };
        held.came(page);
        while let Some(program) = self.held.as_mut().and_then(|held| held.next_free(&self.ftl)) {
            self.goes_on(run, program);
        }
    }

    /// A program that was held goes to its die, which is decided now.
    fn goes_on<Q: WakeQueue>(&mut self, run: &mut Run<Q>, index: u32) {
        let mut program = run.transactions.slab[index];
        let place = self.geometry.locate(program.ppa());
        program.page = place.page;
        self.give_turn(&mut program);
        run.transactions.slab[index].page = program.page;
        if run.firmware.is_none() || !Self::is_decided_later(run, place.group, index) {
            self.is_decided(run, index);
        }
    }

    /// What was decided goes to its die.
    pub fn is_decided<Q: WakeQueue>(&mut self, run: &mut Run<Q>, index: u32) {
        run.transactions.slab[index].queued = run.now;
        let transaction = run.transactions.slab[index];
        self.join_die(run, self.geometry.die_of(transaction.ppa()), index, transaction);
    }

    #[inline]
    fn join_die<Q: WakeQueue>(&mut self, run: &mut Run<Q>, die: DieId, index: u32, transaction: Transaction) {
        let Transaction { class, tracked, .. } = transaction;
        self.dies.free_after_data_out(run, die.0);
        if self.collection.is_timed() {
            self.rest_ends(run, die, class);
        }
        if self.planes.is_some() {
            self.join_plane(run, die, index, &transaction);
        } else {
            if tracked || class == QueueClass::HostRead {
                let command = Self::command_with_shares(run, &transaction);
                run.transactions.join_share(index, command, self.die_and_channel(die));
            }
            self.dies.enqueue(run, die.0, index, class, tracked);
        }
        self.suspend_for(run, die, class);
    }

    /// A page access that joined its die's queue last goes before those of other sources. Returns whether any waited there.
    pub fn goes_first<Q: WakeQueue>(&mut self, run: &mut Run<Q>, index: u32) -> bool {
        let transaction = run.transactions.slab[index];
        let die = self.die_in(self.group_of(transaction.ppa()), transaction.ppa());
        self.dies.goes_first(run, die.0, index, transaction.class)
    }

    /// Queues a page access once more, behind what waits on its die. It still counts as a reader of its group.
    pub fn read_again<Q: WakeQueue>(&mut self, run: &mut Run<Q>, index: u32) {
        let transaction = &mut run.transactions.slab[index];
        transaction.attempts += 1;
        transaction.tracked = false;
        (transaction.queued, transaction.next) = (run.now, NONE);
        let (ppa, class) = (transaction.ppa(), transaction.class);
        let is_parity = self.geometry.is_parity(ppa);
        let group = if is_parity { self.geometry.locate(ppa).group } else { self.group_of(ppa) };
        let die = self.die_in(group, ppa);
        self.ftl.read_again(group);
        self.dies.free_after_data_out(run, die.0);
        if self.collection.is_timed() {
            self.rest_ends(run, die, class);
        }
        self.dies.join_queue(run, die.0, index, class);
        self.suspend_for(run, die, class);
    }

    /// A read of the host was queued on a die: an operation that is under way may make room for it.
    #[inline]
    fn suspend_for<Q: WakeQueue>(&mut self, run: &mut Run<Q>, die: DieId, class: QueueClass) {
        if class == QueueClass::HostRead && self.dies[die.0].phase() == Phase::Array {
            self.consider_suspend(run, die);
        }
    }

    /// The die of a unit of a group.
    #[inline]
    fn die_in(&self, group: BlockGroup, ppa: Ppa) -> DieId {
        if self.geometry.spans_dies() {
            return self.geometry.die_of(ppa);
        }
        self.geometry.die_of_pool(self.geometry.pool_and_block(group).0)
    }

    /// The wake-ups of a die and of its channel, in which a command has shares.
    #[inline]
    pub(super) fn die_and_channel(&self, die: DieId) -> [ResourceId; 2] {
        [self.dies.resource(die.0), self.dies.bus_resource(self.geometry.channel_of_die(die).0)]
    }

    /// The command whose part a transaction is, if that may wait for other parts; `NONE` for none.
    #[inline]
    pub(super) fn command_with_shares<Q>(run: &Run<Q>, transaction: &Transaction) -> u32 {
        match (transaction.class, transaction.source) {
            (QueueClass::HostRead, Source::Host) => transaction.command(),
            (QueueClass::HostRead, Source::Mapping | Source::Parity) => NONE,
            (QueueClass::HostRead, _) => run.transactions.units[transaction.records()].parent,
            // One that nobody waits for the end of, out of a write buffer, does not get here: see `written_last`.
            (QueueClass::HostProgram, Source::Host) => run.transactions.parent_of_program(transaction.records()),
            _ => NONE,
        }
    }
}
