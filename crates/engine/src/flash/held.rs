//! Programs that wait for the map: of what was written while the page that tells of it was read.
//!
//! Knows which units wait and which programs stand behind which in a block; nothing of how a map is cached.

use std::collections::VecDeque;

use ninescope_ftl::Ftl;
use ninescope_kernel::BitTable;
use ninescope_model::Ppa;

/// Programs that are not on their dies yet.
#[derive(Debug)]
pub(super) struct HeldPrograms {
    /// By unit: its entry is being read.
    awaited: BitTable,
    /// Units that a page of the map tells of.
    entries: u32,
    /// By number of a frontier: programs that wait, and those behind them, since blocks are programmed in order; each with
    /// its first unit.
    lines: Vec<VecDeque<(u32, Ppa)>>,
}

impl HeldPrograms {
    /// None yet; nothing where programs do not wait.
    pub fn new(wait: bool, ftl: &Ftl, frontiers: usize) -> Option<Box<Self>> {
        (wait && ftl.translation_entries() > 0).then(|| {
            Box::new(Self {
                awaited: BitTable::new(ftl.logical_units() as usize),
                entries: ftl.translation_entries(),
                lines: vec![VecDeque::new(); frontiers],
            })
        })
    }

    /// The entry of a unit that is written is being read.
    pub fn awaits(&mut self, unit: u32) {
        self.awaited.set(unit as usize);
    }

    /// Whether the program of a page waits, or one before it does.
    pub fn holds(&self, ftl: &Ftl, frontier: usize, page: Ppa) -> bool {
        !self.lines[frontier].is_empty() || self.waits(ftl, page)
    }

    /// Whether the entry of any unit of a page is being read.
    fn waits(&self, ftl: &Ftl, page: Ppa) -> bool {
        let units = (page.0..page.0 + ftl.geometry().units_per_page()).map(|unit| ftl.content(Ppa(unit)));
        units.filter(|unit| unit.index() < self.awaited.len()).any(|unit| self.awaited.get(unit.index()))
    }

    /// A program waits, behind those that do in its blocks.
    pub fn hold(&mut self, frontier: usize, program: u32, page: Ppa) {
        self.lines[frontier].push_back((program, page));
    }

    /// A page of the map is there.
    pub fn came(&mut self, page: u32) {
        let (first, end) = (page * self.entries, (page + 1) * self.entries);
        self.awaited.clear_range(first as usize, (end as usize).min(self.awaited.len()));
    }

    /// A program that need not wait any more.
    pub fn next_free(&mut self, ftl: &Ftl) -> Option<u32> {
        let is_free = |line: &VecDeque<(u32, Ppa)>| line.front().is_some_and(|(_, page)| !self.waits(ftl, *page));
        let line = self.lines.iter().position(is_free)?;
        self.lines[line].pop_front().map(|(program, _)| program)
    }
}
