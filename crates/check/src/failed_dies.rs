//! Dies that fail: what lay on them, worked out anew from the commands that they ran, and what is read and written of it after that.

use std::collections::{BTreeMap, BTreeSet};

use ninescope_engine::reliability::ReliabilityCounters;
use ninescope_engine::{Access, SimulationError, View};
use ninescope_ftl::GroupState;
use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, DieState, FlashCommand};
use ninescope_model::{DieId, Geometry, Ppa, Source};

use crate::blocks::{Blocks, group_of_block};
use crate::reliability::reliability;
use crate::rule::{Checked, require};

/// A page of a die: plane, block, page.
type Page = (usize, u32, u32);

/// A die that failed.
#[derive(Debug, Default)]
struct Failed {
    since: Ns,
    /// What lay on it and is nowhere else.
    missing: BTreeSet<Page>,
    /// Blocks that were full, so that they can be written again in order: plane and block.
    full: BTreeSet<(usize, u32)>,
    /// A rebuild looked at these and did not find them.
    lost: BTreeSet<Page>,
    ended: bool,
}

/// Dies that failed.
#[derive(Debug, Default)]
pub struct FailedDieBook {
    dies: BTreeMap<DieId, Failed>,
    /// Pages that are to be written again, whose stripe is read or was: whether something of them is lost, where that is known.
    found: BTreeMap<Ppa, Option<bool>>,
    /// Programs under way that write pages again, by their numbers.
    programs: BTreeSet<u32>,
    /// Those that ended since measuring began.
    programmed: u64,
    /// When the last of them was begun.
    last_begun: Option<Ns>,
    /// The last command that a die took up before the host was over: no die fails behind that.
    open_until: Ns,
    counts: ReliabilityCounters,
}

impl FailedDieBook {
    /// A book where dies may fail.
    pub fn started(view: &View<'_>) -> Option<Self> {
        let fails = view.reliability.is_some_and(|part| !part.die_failures().is_empty());
        fails.then(Self::default)
    }

    fn page_of(geometry: &Geometry, ppa: Ppa) -> (DieId, Page) {
        let place = geometry.locate(ppa);
        let (pool, block) = geometry.pool_and_block(place.group);
        let plane = (geometry.first_plane_of_pool(pool) + place.plane_in_group) as usize;
        (geometry.die_of(ppa), (plane, block, place.page))
    }

    /// Whether a page lay on a die that failed, and was not written again.
    pub fn is_missing(&self, die: DieId, page: Page) -> bool {
        self.dies.get(&die).is_some_and(|failed| failed.missing.contains(&page))
    }

    /// The time of a die has come long enough ago that it takes up nothing.
    fn is_due(&self, view: &View<'_>, die: DieId) -> bool {
        let mut failures = reliability(view).die_failures().iter();
        !self.dies.contains_key(&die) && failures.any(|&(of, at)| of == die && at < self.open_until)
    }

    /// A die fails.
    pub fn failed(&mut self, view: &View<'_>, die: DieId, blocks: &mut Blocks) -> Checked {
        let mut failures = reliability(view).die_failures().iter();
        require!(
            failures.any(|&(of, at)| of == die && at <= view.now) && !self.dies.contains_key(&die),
            FailedDie,
            view.now,
            "die {die} fails, which is not to, or not yet, or has"
        );
        require!(
            matches!(view.nand.state(die), DieState::Idle),
            FailedDie,
            view.now,
            "die {die} fails while it is {:?}",
            view.nand.state(die)
        );
        let geometry = view.ftl.geometry();
        let mut failed = Failed { since: view.now, ..Failed::default() };
        for plane in 0..geometry.planes_per_die as usize {
            for block in 0..geometry.blocks_per_plane {
                let pages = blocks.programmed_pages(die, plane, block);
                failed.missing.extend((0..pages).map(|page| (plane, block, page)));
                if pages == geometry.pages_per_block && geometry.parity.is_some() {
                    failed.full.insert((plane, block));
                    blocks.is_emptied(die, plane, block);
                }
            }
        }
        self.counts.die_failures += 1;
        self.dies.insert(die, failed);
        Ok(())
    }

    /// A die takes up a command: one that works, and no read of what is missing.
    pub fn dispatched(&mut self, view: &View<'_>, command: &FlashCommand, accesses: &[Access]) -> Checked {
        if !reliability(view).host_ended() {
            self.open_until = view.now;
        }
        require!(
            !self.is_due(view, command.die),
            FailedDie,
            view.now,
            "die {} takes up page {}, and was to fail before",
            command.die,
            command.first_page()
        );
        for (plane, access) in command.addressed_planes().zip(accesses) {
            let page = (plane, command.block[plane], command.page[plane]);
            let missing = self.is_missing(command.die, page);
            match (command.kind, access.source) {
                (CommandKind::Read, _) => require!(
                    !missing,
                    FailedDie,
                    view.now,
                    "die {} reads page {page:?}, which lay on the one that failed",
                    command.die
                ),
                (CommandKind::Program, Source::Rebuild) => {
                    require!(
                        missing && self.found.get(&access.ppa).is_some_and(Option::is_some),
                        FailedDie,
                        view.now,
                        "die {} programs page {page:?} again, which is not missing, or was not found",
                        command.die
                    );
                    self.programs.insert(access.transaction);
                }
                (CommandKind::Program, _) => require!(
                    !missing,
                    FailedDie,
                    view.now,
                    "die {} programs page {page:?}, which is missing",
                    command.die
                ),
                (CommandKind::Erase, _) => {}
            }
        }
        Ok(())
    }

    /// A command ended. Returns which of its planes were written again, a bit each.
    pub fn ended_planes(&mut self, command: &FlashCommand) -> u8 {
        if command.kind != CommandKind::Program {
            return 0;
        }
        let mut planes = 0;
        for plane in command.addressed_planes().filter(|&plane| self.programs.remove(&command.transaction[plane])) {
            planes |= 1 << plane;
            self.programmed += 1;
        }
        planes
    }

    /// An access is said to be of what is missing. Returns since when its die has failed.
    pub fn read(&mut self, view: &View<'_>, access: &Access) -> Result<Ns, SimulationError> {
        let (die, page) = Self::page_of(view.ftl.geometry(), access.ppa);
        require!(
            self.is_missing(die, page),
            FailedDie,
            view.now,
            "{} is taken as missing, which is on die {die}",
            access.ppa
        );
        self.counts.missing_page_reads += 1;
        if access.source == Source::Rebuild {
            self.begun(view, access.ppa)?;
        }
        Ok(self.dies.get(&die).map_or(Ns::ZERO, |failed| failed.since))
    }

    /// A page is about to be written again: not too soon, and not beside too many others.
    fn begun(&mut self, view: &View<'_>, ppa: Ppa) -> Checked {
        let config = reliability(view).die_rebuild();
        let next = self.last_begun.map_or(Ns::ZERO, |last| last + config.page_interval);
        let (die, (plane, block, _)) = Self::page_of(view.ftl.geometry(), ppa);
        let full = self.dies.get(&die).is_some_and(|failed| failed.full.contains(&(plane, block)));
        require!(
            full && view.now >= next && self.found.len() < config.pages_in_flight as usize,
            FailedDie,
            view.now,
            "{ppa} is read to be written again, before {next}, or beside {:?}, or its block was not full",
            self.found
        );
        self.last_begun = Some(view.now);
        self.found.insert(ppa, None);
        Ok(())
    }

    /// So many pages of the stripe of a page that is to be written again are read.
    pub fn stripe_is_read(&mut self, pages: u32) {
        self.counts.rebuild_page_reads += u64::from(pages);
    }

    /// The stripe of such a page is there, and something of it is lost, or passes as good and is wrong.
    pub fn stripe_is_there(&mut self, ppa: Ppa, lost: bool) {
        self.found.insert(ppa, Some(lost));
    }

    /// A page is on the die that stands for the one that failed, but for what is lost.
    pub fn rebuilt(&mut self, view: &View<'_>, ppa: Ppa, lost: bool, blocks: &Blocks) -> Checked {
        let (die, page) = Self::page_of(view.ftl.geometry(), ppa);
        let found = self.found.remove(&ppa);
        require!(
            found == Some(Some(lost)) && blocks.pages_on_die(die, page.0, page.1) > page.2,
            FailedDie,
            view.now,
            "{ppa} is said to be written again (lost: {lost}), by its stripe it is {found:?}"
        );
        let failed = self.dies.entry(die).or_default();
        if lost {
            failed.lost.insert(page);
            self.counts.rebuild_pages_lost += 1;
        } else {
            failed.missing.remove(&page);
            self.counts.pages_rebuilt += 1;
        }
        Ok(())
    }

    /// Nothing is left of a die to be written again.
    pub fn ended(&mut self, view: &View<'_>, die: DieId) -> Checked {
        let geometry = view.ftl.geometry();
        let Some(failed) = self.dies.get_mut(&die).filter(|failed| !failed.ended) else {
            let what = format!("die {die} is said to be rebuilt, which did not fail, or was before");
            return Err(crate::Rule::FailedDie.violated(view.now, what));
        };
        let is_left = |&&(plane, block, page): &&Page| {
            let group = group_of_block(geometry, die, plane, block);
            let holds = matches!(view.ftl.group(group).state, GroupState::Open | GroupState::Closed);
            holds && failed.full.contains(&(plane, block)) && !failed.lost.contains(&(plane, block, page))
        };
        let left = failed.missing.iter().find(is_left).copied();
        require!(left.is_none(), FailedDie, view.now, "die {die} is rebuilt, and {left:?} is missing still");
        failed.ended = true;
        self.counts.dies_rebuilt += 1;
        self.counts.rebuild_ns += (view.now - failed.since).0;
        Ok(())
    }

    /// Blocks were erased: nothing of them is missing any more.
    pub fn erased(&mut self, command: &FlashCommand) {
        let Some(failed) = self.dies.get_mut(&command.die) else { return };
        for plane in command.addressed_planes() {
            let block = command.block[plane];
            let before = failed.missing.len();
            failed.missing.retain(|&(of, in_block, _)| (of, in_block) != (plane, block));
            failed.lost.retain(|&(of, in_block, _)| (of, in_block) != (plane, block));
            failed.full.remove(&(plane, block));
            self.counts.missing_pages_erased += (before - failed.missing.len()) as u64;
        }
    }

    pub fn measuring_began(&mut self) {
        self.counts = ReliabilityCounters::default();
        self.programmed = 0;
    }

    /// What is counted is what was seen.
    pub fn finished(&self, view: &View<'_>) -> Checked {
        let (said, seen) = (reliability(view).counters(), &self.counts);
        for (name, said, seen) in [
            ("die_failures", said.die_failures, seen.die_failures),
            ("missing_page_reads", said.missing_page_reads, seen.missing_page_reads),
            ("pages_rebuilt", said.pages_rebuilt, seen.pages_rebuilt),
            ("rebuild_page_reads", said.rebuild_page_reads, seen.rebuild_page_reads),
            ("rebuild_pages_lost", said.rebuild_pages_lost, seen.rebuild_pages_lost),
            ("missing_pages_erased", said.missing_pages_erased, seen.missing_pages_erased),
            ("dies_rebuilt", said.dies_rebuilt, seen.dies_rebuilt),
            ("rebuild_ns", said.rebuild_ns, seen.rebuild_ns),
        ] {
            require!(said == seen, Ledger, view.now, "reliability.{name} is {said}, {seen} were seen");
        }
        let (said, units) = (view.counters.rebuild_page_programs, view.ftl.counters().rebuilt_units);
        require!(
            said == self.programmed && units == said * u64::from(view.ftl.geometry().units_per_page()),
            Ledger,
            view.now,
            "engine.rebuild_page_programs is {said} and ftl.rebuilt_units is {units}, {} pages were seen",
            self.programmed
        );
        require!(self.found.is_empty(), Leftover, view.now, "pages were never written again: {:?}", self.found);
        Ok(())
    }
}
