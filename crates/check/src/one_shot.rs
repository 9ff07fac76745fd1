//! Wordlines whose pages are programmed in one go: each once, as a whole and in all planes of its frontier, in the time that its pages
//! take to come; padded only for somebody who waits, and never by more than the rest of it.

use std::collections::BTreeMap;

use ninescope_engine::View;
use ninescope_kernel::Ns;
use ninescope_media::nand::FlashCommand;
use ninescope_model::{Geometry, Op, Pool, Ppa, Request};

use crate::blocks::group_of_block;
use crate::groups::Groups;
use crate::rule::{Checked, require};
use crate::wordlines::{pages_at, pages_of, units_together};

/// Who may wait for what is in a wordline of the host's.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// A FLUSH is inside, or a write that ends with its program.
    pub host: bool,
    /// The drive is to be erased as a whole.
    pub erase: bool,
}

/// What is known of wordlines.
#[derive(Debug)]
pub struct OneShotBook {
    /// What is partly filled is padded when it is so old.
    page_timeout: Option<Ns>,
    /// Every write waits for its program.
    at_program: bool,
    /// By the first unit of a wordline that was padded and is not programmed: the first unit of padding.
    padded: BTreeMap<u32, u32>,
    counts: Counts,
}

/// Since measuring began.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    programs: u64,
    pages_of_padding: u64,
}

impl OneShotBook {
    /// Nothing where pages are programmed by themselves.
    pub fn started(view: &View<'_>, page_timeout: Option<Ns>, at_program: bool) -> Option<Self> {
        let is_one = view.ftl.geometry().pages_per_program > 1;
        is_one.then(|| Self { page_timeout, at_program, padded: BTreeMap::new(), counts: Counts::default() })
    }

    /// Whether a command that is inside waits for what was written.
    pub fn makes_wait(&self, request: &Request) -> bool {
        request.op == Op::Flush || request.op == Op::Write && (self.at_program || request.fua)
    }

    /// Whether programs of a command are of whole wordlines.
    fn is_of_wordlines(view: &View<'_>, command: &FlashCommand) -> bool {
        pages_of(view, command) > 1
    }

    /// The first unit of a wordline of a plane of a command.
    fn first_unit(geometry: &Geometry, command: &FlashCommand, plane: usize) -> u32 {
        let group = group_of_block(geometry, command.die, plane, command.block[plane]);
        geometry.first_unit(group).0 + command.page[plane] * geometry.frontier_planes * geometry.units_per_page()
    }

    /// The channel was granted to a command, which has sent all by then.
    pub fn issued(view: &View<'_>, command: &FlashCommand, sent: Ns, groups: &Groups) -> Checked {
        if !Self::is_of_wordlines(view, command) {
            return Ok(());
        }
        let (geometry, timing) = (view.ftl.geometry(), view.nand.timing());
        let (now, die, pages) = (view.now, command.die, geometry.pages_per_program);
        let mut expected = u64::from(pages - 1) * timing.program_load.0;
        for plane in command.addressed_planes() {
            let (block, page) = (command.block[plane], command.page[plane]);
            let pool = plane as u32 / geometry.frontier_planes;
            let together = pool * geometry.frontier_planes..(pool + 1) * geometry.frontier_planes;
            let all = together.into_iter().all(|other| {
                let at = (command.block[other as usize & 3], command.page[other as usize & 3]);
                command.planes >> other & 1 == 1 && at == (block, page)
            });
            require!(
                all && page.is_multiple_of(pages),
                OneShot,
                now,
                "die {die}: a program of page {page} of block {block} in plane {plane}, of wordlines of {pages} pages, in planes {:#b}",
                command.planes
            );
            let group = group_of_block(geometry, die, plane, block);
            let (full, filled) = (units_together(view, group), groups.get(group).write_pointer);
            let begin = page * geometry.frontier_planes * geometry.units_per_page();
            require!(
                filled >= begin + full,
                OneShot,
                now,
                "die {die}: the wordline of page {page} of group {group} is programmed, of which {filled} units are filled"
            );
            let burst = view.nand.data_time(u64::from(command.bytes[plane] / pages)).0;
            expected += u64::from(pages) * (timing.command_address.0 + burst);
        }
        require!(
            (sent - now).0 == expected,
            OneShot,
            now,
            "die {die}: wordlines of {pages} pages are sent until {sent}, for which they take {expected} ns"
        );
        Ok(())
    }

    /// A command ended.
    pub fn ended(&mut self, view: &View<'_>, command: &FlashCommand) {
        if !Self::is_of_wordlines(view, command) {
            return;
        }
        self.counts.programs += 1;
        for plane in command.addressed_planes() {
            self.padded.remove(&Self::first_unit(view.ftl.geometry(), command, plane));
        }
    }

    /// Pages of a plane of a program that hold anything but padding.
    pub fn pages_held(&self, view: &View<'_>, command: &FlashCommand, plane: usize) -> u32 {
        let geometry = view.ftl.geometry();
        let first = Self::first_unit(geometry, command, plane);
        let begin = first + plane as u32 % geometry.frontier_planes * geometry.units_per_page();
        let pages = (0..pages_of(view, command))
            .map(|page| begin + page * geometry.frontier_planes * geometry.units_per_page());
        let padded_from = self.padded.get(&first).copied().unwrap_or(u32::MAX);
        pages.filter(|&page| page < padded_from).count() as u32
    }

    /// The rest of a wordline was padded, so many units. Returns how many of its pages are nothing else.
    pub fn padded(
        &mut self,
        view: &View<'_>,
        (last, units): (Ppa, u32),
        groups: &Groups,
        waiting: Waiting,
    ) -> Result<u32, ninescope_engine::SimulationError> {
        let geometry = view.ftl.geometry();
        let (group, offset) = geometry.group_and_offset(last);
        if pages_at(view, group) == 1 {
            return Ok(0);
        }
        let (first, pages) = (last.0 + 1 - units_together(view, group), units / geometry.units_per_page());
        let pool: Pool = geometry.pool_and_block(group).0;
        let is_awaited = if view.ftl.stream_of(last).is_of_moves() {
            view.ftl.gc_is_urgent(pool) || view.ftl.refresh_waits(pool) || waiting.erase
        } else {
            let begun = groups.get(group).begun;
            let is_due = self.page_timeout.is_some_and(|timeout| begun + timeout == view.now);
            waiting.host || waiting.erase || is_due
        };
        require!(
            is_awaited,
            OneShot,
            view.now,
            "{units} units of padding end at unit {offset} of group {group}, of {:?} begun at {}, and nobody waits for its wordline: {waiting:?}",
            view.ftl.stream_of(last),
            groups.get(group).begun
        );
        self.padded.insert(first, last.0 + 1 - units);
        self.counts.pages_of_padding += u64::from(pages);
        Ok(pages)
    }

    pub fn measuring_began(&mut self) {
        self.counts = Counts::default();
    }

    /// What the device counted is what was seen.
    pub fn compare(&self, view: &View<'_>) -> Checked {
        let (said, seen) = (view.counters, self.counts);
        let said = (said.one_shot_programs, said.wordline_padding_pages);
        let seen = (seen.programs, seen.pages_of_padding);
        require!(
            said == seen,
            Ledger,
            view.now,
            "engine.one_shot_programs and engine.wordline_padding_pages are {said:?}, {seen:?} were seen"
        );
        Ok(())
    }
}
