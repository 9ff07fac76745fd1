//! What is known by page: rewrite intervals, popularity, reuse. Exact up to a number of pages, beyond it from a
//! sample of the pages, so that memory is bounded.
//!
//! The sample is that of SHARDS (Waldspurger et al., "Efficient MRC Construction with SHARDS", FAST 2015): a page is
//! in it if its hash says so, and then with all its accesses. Where the sample outgrows the bound, half of its pages
//! leave it; each access counted from then on stands for twice as many, at twice the distance.

use ninescope_kernel::{Ns, mixed};

use super::log_histogram::{LogHistogram, Quantiles};
use super::lru_stack::LruStack;
use super::popularity::Popularity;
use super::reuse::{ReuseCounts, ReuseCurve};
use crate::page_map::PageMap;

#[derive(Clone, Copy, Default)]
struct PageState {
    reads: u64,
    writes: u64,
    last_write: Ns,
}

/// The pages of a trace under way.
pub(super) struct Pages {
    limit: usize,
    /// A page is in the sample if as many of the lowest bits of its hash are zero.
    halvings: u32,
    map: PageMap,
    states: Vec<PageState>,
    lru: LruStack,
    reuse: ReuseCounts,
    intervals: LogHistogram,
    /// Page accesses, of all pages.
    accesses: u64,
}

/// What is known by page.
pub(super) struct PageResults {
    pub tracked: u64,
    pub sampled_share: f64,
    pub rewrite_interval: Quantiles,
    pub read_popularity: Popularity,
    pub write_popularity: Popularity,
    pub reuse: ReuseCurve,
}

impl Pages {
    /// Follows up to `limit` pages.
    pub fn new(limit: usize) -> Self {
        Self {
            limit: limit.max(1),
            halvings: 0,
            map: PageMap::new(),
            states: Vec::new(),
            lru: LruStack::default(),
            reuse: ReuseCounts::new(),
            intervals: LogHistogram::new(),
            accesses: 0,
        }
    }

    /// Takes one access.
    #[inline]
    pub fn access(&mut self, page: u64, is_write: bool, time: Ns) {
        self.accesses += 1;
        if !self.is_sampled(page) {
            return;
        }
        let (number, is_new) = self.map.number(page);
        if is_new {
            self.states.push(PageState::default());
        }
        let weight = 1 << self.halvings;
        let distance = self.lru.touch(number).map(|distance| distance << self.halvings);
        self.reuse.add(distance, weight);
        let state = &mut self.states[number];
        if is_write {
            if state.writes > 0 {
                self.intervals.add(time.0 - state.last_write.0, weight);
            }
            state.writes += 1;
            state.last_write = time;
        } else {
            state.reads += 1;
        }
        if is_new && self.map.len() > self.limit {
            self.halve();
        }
    }

    pub fn finish(self) -> PageResults {
        PageResults {
            tracked: self.map.len() as u64,
            sampled_share: 1.0 / (1_u64 << self.halvings) as f64,
            rewrite_interval: self.intervals.quantiles(),
            read_popularity: Popularity::of(self.states.iter().map(|state| state.reads)),
            write_popularity: Popularity::of(self.states.iter().map(|state| state.writes)),
            reuse: self.reuse.curve(self.accesses),
        }
    }

    #[inline]
    fn is_sampled(&self, page: u64) -> bool {
        self.halvings == 0 || mixed(page) & ((1 << self.halvings) - 1) == 0
    }

    #[cold]
    fn halve(&mut self) {
        while self.map.len() > self.limit && self.halvings < u64::BITS / 2 {
            self.halvings += 1;
            let pages = self.map.pages();
            let kept: Vec<usize> = (0..pages.len()).filter(|&number| self.is_sampled(pages[number])).collect();
            self.states = kept.iter().map(|&number| self.states[number]).collect();
            self.lru.keep(&kept);
            self.map.keep(&kept);
        }
    }
}
