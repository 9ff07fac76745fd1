//! The state of one pool: its free groups, its frontiers and its garbage collection.

use std::collections::VecDeque;

use ninescope_kernel::NONE;
use ninescope_model::Stream;

/// Streams that a pool may keep a frontier for: host and garbage collection, of each kind of data.
pub const STREAMS_MAX: usize = 2 * Stream::KINDS_MAX as usize;

/// The open group of one stream.
#[derive(Clone, Copy, Debug)]
pub struct Frontier {
    /// The group, `NONE` when the next write opens one.
    pub group: u32,
    /// The next unit offset in it.
    pub next: u32,
}

impl Default for Frontier {
    fn default() -> Self {
        Self { group: NONE, next: 0 }
    }
}

/// The victim whose units are being handed out.
#[derive(Clone, Copy, Debug)]
pub struct Collection {
    /// The victim.
    pub group: u32,
    /// The next unit offset to look at.
    pub cursor: u32,
    /// It was chosen to fill a page of moves, whatever it holds: what is left of it is collected only
    /// where that is worth it.
    pub to_fill: bool,
    /// It is refreshed: it is emptied whether or not its space is needed.
    pub to_refresh: bool,
}

/// State of one pool.
#[allow(clippy::struct_excessive_bools)] // facts of their own, each asked by the trigger
#[derive(Clone, Debug)]
pub struct PoolRecord {
    /// Erased groups in the order in which they became free.
    pub free: VecDeque<u32>,
    /// One frontier per stream, those that there are first.
    pub frontiers: [Frontier; STREAMS_MAX],
    /// The victim being handed out, if any.
    pub collection: Option<Collection>,
    /// Groups to be emptied whatever they hold, each with its erases so far when that was asked.
    pub refresh: VecDeque<(u32, u32)>,
    /// Victims handed out completely whose moves have not all ended.
    pub draining: Vec<u32>,
    /// Those of them that are retired then, and free nothing.
    pub leaving: u32,
    /// Groups whose erase was asked for and has not ended.
    pub erasing: u32,
    /// Units handed out to be moved that were neither placed nor dropped.
    pub handed_out: u32,
    /// The same by kind, where what is moved stays with its kind whatever space there is.
    pub handed_out_of: Option<Box<[u32; Stream::KINDS_MAX as usize]>>,
    /// Host writes open no group: they wait for garbage collection, although groups beyond the reserve are free.
    pub holds_host: bool,
    /// Collection was needed when that was asked last, and there were victims.
    pub collecting: bool,
    /// The driver says that the die rests.
    pub resting: bool,
    /// The driver says that collection was put off for long enough, as it was where there is no time.
    pub overdue: bool,
}

impl PoolRecord {
    /// A pool whose groups `first..first + count` are all free; kinds may be `isolated` from each other for good.
    pub fn new(first: u32, count: u32, isolated: bool) -> Self {
        Self {
            free: (first..first + count).collect(),
            frontiers: [Frontier::default(); STREAMS_MAX],
            collection: None,
            refresh: VecDeque::with_capacity(8),
            draining: Vec::with_capacity(8),
            leaving: 0,
            erasing: 0,
            handed_out: 0,
            handed_out_of: isolated.then(Default::default),
            holds_host: false,
            collecting: false,
            resting: false,
            overdue: true,
        }
    }

    /// Groups that are free or will be when what was handed out has ended.
    pub fn free_in_prospect(&self) -> u32 {
        self.free.len() as u32 + self.erasing + self.draining.len() as u32 - self.leaving
    }

    /// Whether nothing is collected, refreshed, erased or waited for.
    pub fn collects_nothing(&self) -> bool {
        let collects = self.collection.is_some() || !self.draining.is_empty() || !self.refresh.is_empty();
        !(collects || self.erasing > 0 || self.handed_out > 0 || self.holds_host)
    }

    /// Whether a group is to be refreshed.
    pub fn has_refresh(&self) -> bool {
        !self.refresh.is_empty() || self.collection.is_some_and(|collection| collection.to_refresh)
    }

    /// Units that the open page of moves still takes, or the open wordline, which has so many; all of them where none is partly filled.
    /// Moves that fill it go to [`Stream::GC`].
    pub fn rest_of_open_page(&self, units_per_page: u32) -> u32 {
        let frontier = self.frontiers[Stream::GC.index()];
        units_per_page - if frontier.group == NONE { 0 } else { frontier.next % units_per_page }
    }

    /// Units that moves may still take, beyond those handed out already. Of the free groups it counts those
    /// that the host cannot take before the moves are placed.
    ///
    /// Where kinds of data are kept apart, what their frontiers take comes on top: all moves may turn out to be of the first.
    ///
    /// `kept` of the reserve are for when a block breaks; they are taken where nothing else will ever be free.
    /// Where kinds stay apart for good, it is what moves of a `kind` may take beyond the groups that those of others will open.
    pub fn space_for_moves(&self, units_per_group: u32, reserve: u32, kept: u32, kind: u32) -> u32 {
        let waits = self.open_units(if self.handed_out_of.is_some() { kind } else { 0 }, units_per_group) > 0
            || self.erasing > 0
            || !self.draining.is_empty()
            || self.handed_out > 0;
        let free = reserve.min(self.free.len() as u32).saturating_sub(if waits { kept } else { 0 });
        let Some(handed_out_of) = &self.handed_out_of else {
            let space = self.open_units(0, units_per_group) + free * units_per_group;
            return space.saturating_sub(self.handed_out);
        };
        let opened_by = |other: u32| {
            let beyond = handed_out_of[other as usize].saturating_sub(self.open_units(other, units_per_group));
            beyond.div_ceil(units_per_group)
        };
        let opened: u32 = (0..Stream::KINDS_MAX).filter(|&other| other != kind).map(opened_by).sum();
        let space = self.open_units(kind, units_per_group) + free.saturating_sub(opened) * units_per_group;
        space.saturating_sub(handed_out_of[kind as usize])
    }

    /// Units that the open group of the moves of a kind still takes.
    fn open_units(&self, kind: u32, units_per_group: u32) -> u32 {
        let frontier = self.frontiers[Stream::of_moves(kind).index()];
        if frontier.group == NONE { 0 } else { units_per_group - frontier.next }
    }

    /// Units are handed out to be moved, all of a kind where that is of consequence.
    #[inline]
    pub fn hands_out(&mut self, units: u32, kind: u32) {
        self.handed_out += units;
        if let Some(handed_out_of) = &mut self.handed_out_of {
            handed_out_of[kind as usize] += units;
        }
    }

    /// Units that were handed out are placed or dropped.
    #[inline]
    pub fn takes_back(&mut self, units: u32, kind: u32) {
        self.handed_out -= units;
        if let Some(handed_out_of) = &mut self.handed_out_of {
            handed_out_of[kind as usize] -= units;
        }
    }

    /// Whether moves may go to a stream of a kind that is kept apart, so that they fill pages and groups of their own. They may not while
    /// space is short, nor make it short: two open pages that wait for each other's victims would have to be padded, and
    /// padding could take more than the victims give.
    pub fn takes_apart(&self, stream: Stream, reserve: u32) -> bool {
        let is_open = self.frontiers[stream.index()].group != NONE;
        self.free.len() as u32 > reserve + u32::from(!is_open)
    }
}
