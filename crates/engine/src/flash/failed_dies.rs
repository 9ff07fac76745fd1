//! Dies that fail: what lay on them is missing from then on, and a spare die takes their place on the channel.
//!
//! The spare has the number of the die that it stands for. Blocks that were full are empty on it, and a rebuild writes them again in
//! order; of blocks that were written in part it leaves out the pages that are missing, and goes on behind them.

use ninescope_ftl::GroupState;
use ninescope_kernel::{BitTable, NONE, Ns, WakeQueue};
use ninescope_model::{BlockGroup, DieId, Geometry, Ppa};

use super::Flash;
use super::programs::FirstWriter;
use crate::meter::LastingShare;
use crate::run::Run;
use crate::transaction::{PageToRebuild, QueueClass, Transaction, TransactionStore};

/// A die that is to fail, or has.
#[derive(Debug)]
struct FailedDie {
    die: DieId,
    /// When it is to fail.
    at: Ns,
    /// Its time has come, and it is to fail as soon as nothing of it is under way.
    is_due: bool,
    has_failed: bool,
    /// By plane, block and page: it lay on the die, and is nowhere else yet.
    missing: BitTable,
    /// Pages that a rebuild is to write again: up to here it has looked at them.
    cursor: usize,
}

/// All of them.
#[derive(Debug)]
pub struct FailedDies {
    all: Vec<FailedDie>,
    /// Pages of a plane.
    pages_per_plane: usize,
    pages_per_block: usize,
}

impl FailedDies {
    /// These dies fail at these times.
    fn new(dies: &[(DieId, Ns)], geometry: &Geometry) -> Self {
        let pages_per_block = geometry.pages_per_block as usize;
        let pages_per_plane = geometry.blocks_per_plane as usize * pages_per_block;
        let pages = pages_per_plane * geometry.planes_per_die as usize;
        let missing = || BitTable::new(pages);
        let failed = |&(die, at): &(DieId, Ns)| FailedDie {
            die,
            at,
            is_due: false,
            has_failed: false,
            missing: missing(),
            cursor: 0,
        };
        Self { all: dies.iter().map(failed).collect(), pages_per_plane, pages_per_block }
    }

    fn of(&self, die: DieId) -> Option<&FailedDie> {
        self.all.iter().find(|failed| failed.die == die)
    }

    fn number_of(&self, die: DieId) -> Option<usize> {
        self.all.iter().position(|failed| failed.die == die)
    }

    fn index(&self, plane: u32, block: u32, page: u32) -> usize {
        plane as usize * self.pages_per_plane + block as usize * self.pages_per_block + page as usize
    }

    /// The die, and the number of a page on it.
    fn page_of(&self, geometry: &Geometry, ppa: Ppa) -> (DieId, usize) {
        let place = geometry.locate(ppa);
        let (pool, block) = geometry.pool_and_block(place.group);
        let plane = geometry.first_plane_of_pool(pool) + place.plane_in_group;
        (geometry.die_of(ppa), self.index(plane, block, place.page))
    }
}

impl Flash {
    /// Dies fail at times. Before anything runs.
    pub fn dies_fail(&mut self, dies: &[(DieId, Ns)]) {
        self.failed_dies = (!dies.is_empty()).then(|| Box::new(FailedDies::new(dies, &self.geometry)));
    }

    /// When each of them does, by number.
    pub fn die_failures(&self) -> impl Iterator<Item = Ns> + '_ {
        self.failed_dies.iter().flat_map(|failed| failed.all.iter().map(|failed| failed.at))
    }

    /// The number of a die among those that fail.
    pub fn number_of_failed(&self, die: DieId) -> usize {
        self.failed_dies.as_ref().and_then(|dies| dies.number_of(die)).unwrap_or(0)
    }

    /// The die of such a number.
    pub fn failed_die(&self, number: usize) -> DieId {
        self.failed_dies.as_ref().map_or(DieId(0), |dies| dies.all[number].die)
    }

    /// Whether a page lay on a die that failed, and was not written again.
    #[inline]
    pub fn is_missing(&self, ppa: Ppa) -> bool {
        self.failed_dies.is_some() && self.lay_on_failed_die(ppa)
    }

    #[inline(never)]
    fn lay_on_failed_die(&self, ppa: Ppa) -> bool {
        let Some(dies) = &self.failed_dies else { return false };
        let (die, index) = dies.page_of(&self.geometry, ppa);
        dies.of(die).is_some_and(|failed| failed.has_failed && failed.missing.get(index))
    }

    /// The time of a die has come: it fails when what it works on, or has put aside, has ended.
    pub fn die_is_due<Q: WakeQueue>(&mut self, run: &mut Run<Q>, number: usize) {
        let Some(dies) = &mut self.failed_dies else { return };
        dies.all[number].is_due = true;
        let die = dies.all[number].die;
        self.dies.touch(die.0);
        // The transfer may be to end without an event.
        self.dies.wake_after_data_out(run, die.0);
    }

    /// Whether a die is to fail next.
    #[inline]
    pub fn is_to_fail(&self, die: DieId) -> bool {
        self.failed_dies.is_some() && self.is_due(die)
    }

    #[inline(never)]
    fn is_due(&self, die: DieId) -> bool {
        let failed = self.failed_dies.as_ref().and_then(|dies| dies.of(die));
        failed.is_some_and(|failed| failed.is_due && !failed.has_failed)
    }

    /// A die fails, which is free and has put nothing aside: what it holds is missing, and the spare has its place. Returns the
    /// reads that waited on it for what is missing; their waits are over.
    pub fn fail_die<Q: WakeQueue>(&mut self, run: &mut Run<Q>, die: DieId) -> Vec<u32> {
        let geometry = self.geometry;
        let Some(dies) = &mut self.failed_dies else { return Vec::new() };
        let Some(number) = dies.number_of(die) else { return Vec::new() };
        for plane in 0..geometry.planes_per_die {
            for block in 0..geometry.blocks_per_plane {
                let first = dies.index(plane, block, 0);
                let pages = self.nand.programmed_pages(die, plane, block);
                dies.all[number].missing.set_range(first, first + pages as usize);
                if pages == geometry.pages_per_block && geometry.parity.is_some() {
                    let erases = self.nand.erase_count(die, plane, block);
                    self.nand.set_programmed_pages(die, plane, block, 0, erases);
                }
            }
        }
        dies.all[number].has_failed = true;
        let mut reads = Vec::new();
        for class in [QueueClass::HostRead, QueueClass::MoveRead, QueueClass::IdleRead] {
            self.take_missing_reads(run, die, class, &mut reads);
        }
        reads
    }

    /// Takes reads of what is missing out of a queue.
    fn take_missing_reads<Q: WakeQueue>(
        &mut self,
        run: &mut Run<Q>,
        die: DieId,
        class: QueueClass,
        reads: &mut Vec<u32>,
    ) {
        let (mut previous, mut index) = (NONE, self.dies[die.0].queue(class).head());
        while index != NONE {
            let Transaction { next, tracked, .. } = run.transactions.slab[index];
            if self.is_missing(run.transactions.slab[index].ppa()) {
                let slab = &mut run.transactions.slab;
                self.dies[die.0].queue(class).remove_after(slab, previous, TransactionStore::link);
                if tracked {
                    self.dies.end_wait(run, die.0, index);
                    run.transactions.was_not_read(index, run.now);
                }
                reads.push(index);
            } else {
                previous = index;
            }
            index = next;
        }
        self.dies[die.0].taken_from(class);
    }

    /// A read of what is missing goes to no die.
    pub fn read_of_missing<Q: WakeQueue>(&mut self, run: &mut Run<Q>, mut read: Transaction) -> u32 {
        let place = self.geometry.locate(read.ppa());
        read.page = place.page;
        let index = run.transactions.insert(run.now, read);
        if read.tracked || read.class == QueueClass::HostRead {
            run.transactions.goes_to_no_die(index, run.now);
        }
        index
    }

    /// A die has erased blocks: nothing of them is missing any more. Returns how many pages were.
    #[cold]
    pub fn missing_erased(&mut self, die: DieId, plane: u32, block: u32) -> u32 {
        let Some(dies) = &mut self.failed_dies else { return 0 };
        let (first, pages) = (dies.index(plane, block, 0), dies.pages_per_block);
        let Some(number) = dies.number_of(die) else { return 0 };
        let missing = &mut dies.all[number].missing;
        let count = missing.count_range(first, first + pages);
        missing.clear_range(first, first + pages);
        count
    }

    /// Whether any die may fail.
    #[inline]
    pub fn dies_may_fail(&self) -> bool {
        self.failed_dies.is_some()
    }

    // ---- rebuild -------------------------------------------------------------------------------------

    /// The next page of dies that failed that is to be written again. What is erased, or about to be, is passed over, and blocks
    /// that were written in part when their die failed, because pages are programmed in order.
    pub fn page_to_rebuild(&mut self) -> Option<PageToRebuild> {
        let geometry = self.geometry;
        let pages_per_pool = geometry.blocks_per_plane as usize * geometry.pages_per_block as usize;
        let planes = geometry.frontier_planes as usize;
        let dies = self.failed_dies.as_mut()?;
        let (pages_per_block, pages_per_plane) = (dies.pages_per_block, dies.pages_per_plane);
        for (number, failed) in dies.all.iter_mut().enumerate().filter(|(_, failed)| failed.has_failed) {
            // Pool by pool, page by page, the planes of a page side by side.
            let pools = geometry.planes_per_die as usize / planes;
            while failed.cursor < pools * pages_per_pool * planes {
                let (rows, plane_in_group) = (failed.cursor / planes, failed.cursor % planes);
                let (pool_of_die, row) = (rows / pages_per_pool, rows % pages_per_pool);
                let (block, page) = (row / pages_per_block, row % pages_per_block);
                let plane = pool_of_die * planes + plane_in_group;
                let index = plane * pages_per_plane + row;
                let written = self.nand.programmed_pages(failed.die, plane as u32, block as u32);
                let set = geometry.set_of_die(failed.die);
                let pool = set * geometry.pools_per_die() + pool_of_die as u32;
                let group = BlockGroup(pool * geometry.blocks_per_plane + block as u32);
                let holds = matches!(self.ftl.group(group).state, GroupState::Open | GroupState::Closed);
                if failed.missing.get(index) && holds && written <= page as u32 {
                    let ppa = geometry.page_on_die(group, (page as u32, plane_in_group as u32), failed.die);
                    return Some(PageToRebuild { number, ppa });
                }
                failed.cursor += 1;
            }
        }
        None
    }

    /// It is read to be written again: the one behind it is the next.
    pub fn begin_to_rebuild(&mut self, page: PageToRebuild) {
        if let Some(dies) = &mut self.failed_dies {
            dies.all[page.number].cursor += 1;
        }
    }

    /// A page that was found again goes to the spare. Returns the access.
    pub fn write_rebuilt<Q: WakeQueue>(&mut self, run: &mut Run<Q>, ppa: Ppa) -> u32 {
        let units = self.geometry.units_per_page() as u8;
        let index = self.enqueue_in_set(run, Transaction::rebuild_program(ppa, units));
        // It is nobody's own.
        run.transactions.filled_by(index, LastingShare::NONE);
        if run.transactions.tenants.is_some() {
            self.program_counts_for(run, index, FirstWriter::NONE);
        }
        index
    }

    /// A page was programmed on the spare; `found`: it holds again what it held.
    pub fn page_is_back(&mut self, ppa: Ppa, found: bool) {
        let geometry = self.geometry;
        self.ftl.count_rebuilt(geometry.units_per_page());
        if !found {
            return;
        }
        let Some(dies) = &mut self.failed_dies else { return };
        let (die, index) = dies.page_of(&geometry, ppa);
        if let Some(number) = dies.number_of(die) {
            dies.all[number].missing.clear(index);
        }
    }
}
