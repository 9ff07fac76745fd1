//! The rebuild of dies that failed: how fast it goes, and which pages are under way.

use std::collections::VecDeque;

use ninescope_kernel::{NONE, Ns};
use ninescope_model::DieId;

use super::Reliability;
use super::code::Decoded;
use super::sense::{Afterwards, Ground};
use crate::transaction::PageToRebuild;

/// How dies that failed are rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DieRebuildConfig {
    /// From the begin of a page to that of the next one, at least [ns].
    pub page_interval: Ns,
    /// Pages that may be under way.
    pub pages_in_flight: u32,
}

impl Default for DieRebuildConfig {
    fn default() -> Self {
        Self { page_interval: Ns::ZERO, pages_in_flight: 1 }
    }
}

/// What the rebuild does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RebuildStep {
    /// It begins with a page.
    Begin,
    /// It waits for pages that are under way, or for the time that it waits for already.
    Wait,
    /// It goes on then.
    At(Ns),
}

/// How far a page under way is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageStage {
    /// The rest of its stripe is read, by an access of this number.
    Read(u32),
    /// It is in the controller.
    There,
    /// It is programmed, by an access of this number.
    Programmed(u32),
}

#[derive(Clone, Copy, Debug)]
struct PageUnderWay {
    page: PageToRebuild,
    stage: PageStage,
    lost: bool,
}

/// What is under way.
#[derive(Debug, Default)]
pub(super) struct DieRebuild {
    config: DieRebuildConfig,
    failures: Vec<(DieId, Ns)>,
    /// In the order in which they are programmed.
    under_way: VecDeque<PageUnderWay>,
    /// When the next one may begin.
    next: Ns,
    /// A wake-up for that is noted.
    is_noted: bool,
    /// Dies whose rebuild has begun, and when they failed.
    begun: Vec<(usize, Ns)>,
    /// Of dies with lower numbers nothing is left to begin with.
    looked_past: usize,
}

impl DieRebuild {
    pub(super) fn new(config: DieRebuildConfig, failures: &[(DieId, Ns)]) -> Self {
        Self { config, failures: failures.to_vec(), ..Self::default() }
    }
}

impl Reliability {
    /// How dies that failed are rebuilt.
    pub fn die_rebuild(&self) -> DieRebuildConfig {
        self.die_rebuild.config
    }

    /// Dies that fail, each at a time.
    pub fn die_failures(&self) -> &[(DieId, Ns)] {
        &self.die_rebuild.failures
    }

    /// What lay on a die that failed is read: no decoder is asked, all of it is lost as far as the die goes; of what would be read
    /// `again`, all that did not decode.
    pub(crate) fn sense_missing(&mut self, ground: Ground<'_>, index: u32, again: bool) -> Afterwards {
        self.counters.missing_page_reads += 1;
        let transaction = ground.transactions.slab[index];
        let all = ((1_u64 << transaction.units) - 1) as u32;
        let decoded = if again || transaction.attempts > 0 {
            let Decoded { failed, undetected, .. } = self.sensed(index).decoded;
            Decoded { failed, undetected, ..Decoded::default() }
        } else {
            Decoded { failed: all, ..Decoded::default() }
        };
        self.nothing_was_sensed(ground, index, decoded);
        if self.will_be_rebuilt(&transaction, index) { Afterwards::Rebuilt } else { Afterwards::Nothing }
    }

    /// A die failed.
    pub(crate) fn die_failed(&mut self, number: usize, now: Ns) {
        self.counters.die_failures += 1;
        self.die_rebuild.begun.push((number, now));
        self.die_rebuild.looked_past = 0;
    }

    /// Pages were erased that had not been written again.
    pub(crate) fn missing_erased(&mut self, pages: u32) {
        self.counters.missing_pages_erased += u64::from(pages);
    }

    /// What the rebuild does next.
    pub(crate) fn next_rebuild(&mut self, now: Ns) -> RebuildStep {
        let DieRebuild { config, under_way, next, is_noted, .. } = &mut self.die_rebuild;
        if under_way.len() >= config.pages_in_flight as usize || *is_noted {
            return RebuildStep::Wait;
        }
        if *next > now {
            *is_noted = true;
            return RebuildStep::At(*next);
        }
        RebuildStep::Begin
    }

    /// Of dies before that number nothing is left to begin with.
    pub(crate) fn looked_past(&mut self, number: usize) {
        self.die_rebuild.looked_past = number;
    }

    /// The time between two pages is over.
    pub(crate) fn rebuild_time_came(&mut self) {
        self.die_rebuild.is_noted = false;
    }

    /// A page begins, which an access reads.
    pub(crate) fn rebuild_page_begins(&mut self, now: Ns, access: u32, page: PageToRebuild) {
        let rebuild = &mut self.die_rebuild;
        rebuild.next = now + rebuild.config.page_interval;
        rebuild.under_way.push_back(PageUnderWay { page, stage: PageStage::Read(access), lost: false });
    }

    /// The rest of its stripe has been read.
    pub(crate) fn rebuild_page_read(&mut self, access: u32, lost: bool) {
        let mut under_way = self.die_rebuild.under_way.iter_mut();
        if let Some(page) = under_way.find(|page| page.stage == PageStage::Read(access)) {
            (page.stage, page.lost) = (PageStage::There, lost);
        }
    }

    /// The next page that is to be programmed: those that began before it are, or were.
    pub(crate) fn next_to_program(&mut self) -> Option<PageToRebuild> {
        let mut open = self.die_rebuild.under_way.iter_mut();
        let first = open.find(|page| !matches!(page.stage, PageStage::Programmed(_)))?;
        if first.stage != PageStage::There {
            return None;
        }
        first.stage = PageStage::Programmed(NONE);
        Some(first.page)
    }

    /// It is, by an access.
    pub(crate) fn rebuild_programs(&mut self, access: u32) {
        let mut under_way = self.die_rebuild.under_way.iter_mut();
        if let Some(page) = under_way.find(|page| page.stage == PageStage::Programmed(NONE)) {
            page.stage = PageStage::Programmed(access);
        }
    }

    /// A page is on the die that stands for the one that failed. Returns whether some of it was lost.
    pub(crate) fn rebuild_page_programmed(&mut self, access: u32) -> bool {
        let under_way = &mut self.die_rebuild.under_way;
        let position = under_way.iter().position(|page| page.stage == PageStage::Programmed(access));
        let lost = position.and_then(|position| under_way.remove(position)).is_some_and(|page| page.lost);
        self.counters.pages_rebuilt += u64::from(!lost);
        self.counters.rebuild_pages_lost += u64::from(lost);
        lost
    }

    /// Dies of which nothing is left to be written again.
    pub(crate) fn end_rebuilds(&mut self, now: Ns) -> Vec<usize> {
        let DieRebuild { under_way, begun, looked_past, .. } = &mut self.die_rebuild;
        let (mut ended, mut time) = (Vec::new(), 0);
        begun.retain(|&(number, since)| {
            let goes_on = number >= *looked_past || under_way.iter().any(|page| page.page.number == number);
            if !goes_on {
                ended.push(number);
                time += (now - since).0;
            }
            goes_on
        });
        self.counters.dies_rebuilt += ended.len() as u64;
        self.counters.rebuild_ns += time;
        ended
    }
}
