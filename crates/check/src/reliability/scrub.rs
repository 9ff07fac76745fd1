//! The scrubber: what a pass must read, and what it may.

use std::collections::BTreeSet;

use ninescope_engine::View;
use ninescope_engine::reliability::NandCode;
use ninescope_ftl::GroupState;
use ninescope_kernel::Ns;
use ninescope_model::{BlockGroup, Ppa};

use super::reliability;
use crate::rule::{Checked, require};

/// A page in one of its lives.
type Page = (u32, u32);

/// The passes of the scrubber.
#[derive(Debug, Default)]
pub struct Scrub {
    /// When the present pass began [ns].
    running: Option<Ns>,
    /// When the last one began [ns].
    before: Option<Ns>,
    /// Pages that it must read.
    left: BTreeSet<Page>,
    /// Page reads under way that are not decoded.
    reads: u32,
    /// When those that are will be with the scrubber [ns].
    arrive: Vec<Ns>,
    /// Since measuring began.
    pub page_reads: u64,
    pub passes: u64,
}

fn life(view: &View<'_>, group: BlockGroup) -> u32 {
    view.ftl.group(group).erase_count
}

/// Whether a group is one that the scrubber is there for.
fn is_looked_after(view: &View<'_>, group: BlockGroup) -> bool {
    let first = view.ftl.geometry().first_unit(group);
    let detects = reliability(view).nand_code(NandCode::Edc).is_some();
    !detects || super::code_of(view, first) == NandCode::Edc
}

impl Scrub {
    /// A pass begins: what is on the media and holds something is to be read.
    pub fn pass_began(&mut self, view: &View<'_>) -> Checked {
        let now = view.now;
        let period = reliability(view).scrub().map_or(Ns::ZERO, ninescope_engine::policies::scrub::ScrubPolicy::period);
        let first =
            reliability(view).scrub().map_or(Ns::ZERO, ninescope_engine::policies::scrub::ScrubPolicy::first_pass);
        let in_time = self.before.map_or(now == first, |before| now >= before + period);
        require!(
            self.running.is_none() && in_time && self.reads == 0,
            ScrubCoverage,
            now,
            "a pass begins; one began at {:?}, {:?} is under way, the period is {period}",
            self.before,
            self.running
        );
        (self.running, self.before) = (Some(now), Some(now));
        let geometry = view.ftl.geometry();
        let per_page = geometry.units_per_page();
        self.left.clear();
        for group in (0..geometry.groups()).map(BlockGroup).filter(|&group| is_looked_after(view, group)) {
            let first = geometry.first_unit(group).0;
            let end = first + view.ftl.group(group).programmed;
            for page in (first..end).step_by(per_page as usize) {
                if holds_something(view, page) {
                    self.left.insert((page, life(view, group)));
                }
            }
        }
        Ok(())
    }

    /// A page read of the scrubber is queued.
    pub fn queued(&mut self, view: &View<'_>, ppa: Ppa) -> Checked {
        self.page_reads += 1;
        self.reads += 1;
        let geometry = view.ftl.geometry();
        let group = geometry.group_and_offset(ppa).0;
        self.left.remove(&(geometry.first_unit_of_page(ppa).0, life(view, group)));
        self.arrive.retain(|&at| at > view.now);
        let under_way = self.reads + self.arrive.len() as u32;
        let most = reliability(view).scrub().map_or(0, ninescope_engine::policies::scrub::ScrubPolicy::pages_in_flight);
        require!(
            self.running.is_some() && under_way <= most,
            ScrubCoverage,
            view.now,
            "page {ppa} is read by the scrubber, whose pass is {:?} with {under_way} of {most} reads under way",
            self.running
        );
        Ok(())
    }

    /// A page of the scrubber is in its register.
    pub fn sensed(view: &View<'_>, ppa: Ppa) -> Checked {
        let group = view.ftl.geometry().group_and_offset(ppa).0;
        require!(
            is_looked_after(view, group),
            ScrubCoverage,
            view.now,
            "page {ppa} is scrubbed, whose group is not under the detecting code"
        );
        Ok(())
    }

    /// What it read is decoded then, for better or worse.
    pub fn arrives(&mut self, at: Ns) {
        self.reads = self.reads.saturating_sub(1);
        self.arrive.push(at);
    }

    /// A pass is over: what it did not read is gone, or being moved.
    pub fn pass_ended(&mut self, view: &View<'_>) -> Checked {
        self.passes += 1;
        let began = self.running.take();
        require!(began.is_some(), ScrubCoverage, view.now, "a pass of the scrubber ends that never began");
        for (page, of_life) in std::mem::take(&mut self.left) {
            let group = view.ftl.geometry().group_and_offset(Ppa(page)).0;
            let moves_on = view.ftl.group(group).state == GroupState::Draining;
            let is_there = life(view, group) == of_life && !moves_on && holds_something(view, page);
            require!(
                !is_there,
                ScrubCoverage,
                view.now,
                "the pass that began at {began:?} ends, and page {page} was not read"
            );
        }
        Ok(())
    }

    pub fn measuring_began(&mut self) {
        (self.page_reads, self.passes) = (0, 0);
    }
}

fn holds_something(view: &View<'_>, page: u32) -> bool {
    (page..page + view.ftl.geometry().units_per_page()).any(|unit| view.ftl.is_valid(Ppa(unit)))
}
