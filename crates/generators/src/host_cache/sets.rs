//! The table of a set-associative cache: which block of the disk lies where, and in which state.

use std::ops::Range;

use super::{HostCacheLayout, InitialContent, Replacement};

/// The state of a place: bits that say what is known of its block. No bit: the place is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State(u8);

impl State {
    /// A block of the disk lies here.
    pub const VALID: Self = Self(1);
    /// It is newer than on the disk.
    pub const DIRTY: Self = Self(2);
    /// It is being written back.
    pub const CLEANING: Self = Self(4);
    /// The disk is being read for it.
    pub const PENDING: Self = Self(8);
    /// It was written while it was being written back.
    pub const REDIRTIED: Self = Self(16);
    /// Nobody touched it since the last look for fallow blocks.
    pub const IDLE: Self = Self(32);
    /// Nobody touched it for a whole fallow delay: it is due to be written back.
    pub const FALLOW: Self = Self(64);

    /// It was written while the disk was being read for it.
    pub const OVERTAKEN: Self = Self(128);

    /// Both.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This one without the other's bits.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether it has all bits of the other.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the block may make room.
    fn may_go(self) -> bool {
        self.has(Self::VALID) && !self.any(Self::DIRTY.with(Self::CLEANING).with(Self::PENDING))
    }

    /// Whether it can be written back.
    fn can_be_cleaned(self) -> bool {
        self.has(Self::DIRTY) && !self.has(Self::CLEANING)
    }

    fn is_due(self) -> bool {
        self.can_be_cleaned() && self.has(Self::FALLOW)
    }
}

/// What is counted of a set.
#[derive(Clone, Copy, Debug, Default)]
pub struct SetCounts {
    /// Free places.
    pub free: u16,
    /// Dirty blocks, those being written back included.
    pub dirty: u16,
    /// Blocks being written back.
    pub cleaning: u16,
    /// Dirty blocks that are due because they are fallow.
    pub due: u16,
    /// Where replacement goes on under FIFO, and where the search for blocks to write back does.
    next: u16,
    clean_next: u16,
    /// Ends of the list by use under LRU.
    newest: u16,
    oldest: u16,
}

const NO_WAY: u16 = u16::MAX;
const NO_BLOCK: u32 = u32::MAX;

/// The table. Places are numbered set by set.
#[derive(Debug)]
pub struct SetTable {
    layout: HostCacheLayout,
    /// The disk's block in each place.
    blocks: Vec<u32>,
    states: Vec<State>,
    sets: Vec<SetCounts>,
    /// Neighbours by use (newer, older) under LRU, empty under FIFO.
    links: Vec<(u16, u16)>,
    /// Dirty blocks in all sets, and blocks.
    dirty: u32,
    valid: u32,
}

impl SetTable {
    /// A table with its first content.
    pub fn new(layout: HostCacheLayout, replacement: Replacement, initial: InitialContent) -> Self {
        let places = layout.blocks() as usize;
        let ways = layout.ways as u16;
        let full = initial == InitialContent::Full;
        let set = SetCounts { free: if full { 0 } else { ways }, newest: 0, oldest: ways - 1, ..SetCounts::default() };
        let neighbours =
            |way: u16| (way.checked_sub(1).unwrap_or(NO_WAY), if way + 1 < ways { way + 1 } else { NO_WAY });
        let links = match replacement {
            Replacement::Fifo => Vec::new(),
            Replacement::Lru => (0..layout.sets).flat_map(|_| (0..ways).map(neighbours)).collect(),
        };
        Self {
            layout,
            // A full cache holds the disk's first blocks, each where its number says.
            blocks: if full { (0..layout.blocks()).collect() } else { vec![NO_BLOCK; places] },
            states: vec![if full { State::VALID } else { State::default() }; places],
            sets: vec![set; layout.sets as usize],
            links,
            dirty: 0,
            valid: if full { layout.blocks() } else { 0 },
        }
    }

    /// The set of a block of the disk.
    pub fn set_of_block(&self, block: u32) -> u32 {
        block / self.layout.ways % self.layout.sets
    }

    /// The set of a place.
    pub fn set_of_place(&self, place: u32) -> u32 {
        place / self.layout.ways
    }

    /// The places of a set.
    pub fn places(&self, set: u32) -> Range<u32> {
        set * self.layout.ways..(set + 1) * self.layout.ways
    }

    /// What is counted of a set.
    pub fn counts(&self, set: u32) -> &SetCounts {
        &self.sets[set as usize]
    }

    /// Dirty blocks.
    pub fn dirty(&self) -> u32 {
        self.dirty
    }

    /// Blocks of the disk that lie here.
    pub fn valid(&self) -> u32 {
        self.valid
    }

    /// The state of a place.
    pub fn state(&self, place: u32) -> State {
        self.states[place as usize]
    }

    /// The place of a block of the disk.
    #[inline]
    pub fn find(&self, block: u32) -> Option<u32> {
        let places = self.places(self.set_of_block(block));
        let blocks = &self.blocks[places.start as usize..places.end as usize];
        blocks.iter().position(|&held| held == block).map(|way| places.start + way as u32)
    }

    /// Changes a state and everything that is counted about it.
    pub fn set_state(&mut self, place: u32, new: State) {
        let old = std::mem::replace(&mut self.states[place as usize], new);
        let change = |count: &mut u16, was: bool, is: bool| *count = *count + u16::from(is) - u16::from(was);
        let set = &mut self.sets[(place / self.layout.ways) as usize];
        change(&mut set.free, old == State::default(), new == State::default());
        change(&mut set.dirty, old.has(State::DIRTY), new.has(State::DIRTY));
        change(&mut set.cleaning, old.has(State::CLEANING), new.has(State::CLEANING));
        change(&mut set.due, old.is_due(), new.is_due());
        self.dirty = self.dirty + u32::from(new.has(State::DIRTY)) - u32::from(old.has(State::DIRTY));
        self.valid = self.valid + u32::from(new.has(State::VALID)) - u32::from(old.has(State::VALID));
    }

    /// Puts a block of the disk into a place.
    pub fn fill(&mut self, place: u32, block: u32, state: State) {
        self.blocks[place as usize] = block;
        self.set_state(place, state);
        self.touch(place);
    }

    /// Forgets the block of a place. What is under way for it comes to its end before the place is free.
    pub fn forget(&mut self, place: u32) {
        self.blocks[place as usize] = NO_BLOCK;
        let under_way = State::CLEANING.with(State::PENDING);
        let rest = self.state(place).without(State(u8::MAX).without(under_way));
        self.set_state(place, rest);
    }

    /// The block of a place was read or written.
    #[inline]
    pub fn touch(&mut self, place: u32) {
        let state = self.state(place);
        if state.any(State::IDLE.with(State::FALLOW)) {
            self.set_state(place, state.without(State::IDLE.with(State::FALLOW)));
        }
        if !self.links.is_empty() {
            self.make_newest(place);
        }
    }

    /// A place for a block in a set: a free one, or that of the block that must go; whether one had to. The place is
    /// not changed. `None` where every block of the set is dirty or under way.
    pub fn make_room(&mut self, set: u32) -> Option<(u32, bool)> {
        if self.sets[set as usize].free > 0 {
            let mut places = self.places(set);
            return places.find(|&place| self.state(place) == State::default()).map(|place| (place, false));
        }
        let place = self.first_in_order(set, self.sets[set as usize].next, State::may_go)?;
        self.sets[set as usize].next = self.way_after(place);
        Some((place, true))
    }

    /// The block of a set to write back next; fallow ones first.
    pub fn next_to_clean(&mut self, set: u32) -> Option<u32> {
        let wanted = if self.sets[set as usize].due > 0 { State::is_due } else { State::can_be_cleaned };
        let place = self.first_in_order(set, self.sets[set as usize].clean_next, wanted)?;
        self.sets[set as usize].clean_next = self.way_after(place);
        Some(place)
    }

    fn way_after(&self, place: u32) -> u16 {
        ((place % self.layout.ways + 1) % self.layout.ways) as u16
    }

    /// The first place of a set, in the order of replacement, whose state is `wanted`.
    fn first_in_order(&self, set: u32, from: u16, wanted: impl Fn(State) -> bool) -> Option<u32> {
        let places = self.places(set);
        if self.links.is_empty() {
            let middle = places.start + u32::from(from);
            return (middle..places.end).chain(places.start..middle).find(|&place| wanted(self.state(place)));
        }
        let mut way = self.sets[set as usize].oldest;
        while way != NO_WAY {
            let place = places.start + u32::from(way);
            if wanted(self.state(place)) {
                return Some(place);
            }
            way = self.links[place as usize].0;
        }
        None
    }

    /// Moves a place to the newest end of its set's list.
    fn make_newest(&mut self, place: u32) {
        let set = (place / self.layout.ways) as usize;
        let first = set * self.layout.ways as usize;
        let way = (place % self.layout.ways) as u16;
        if self.sets[set].newest == way {
            return;
        }
        let (newer, older) = self.links[place as usize];
        self.links[first + usize::from(newer)].1 = older;
        match older {
            NO_WAY => self.sets[set].oldest = newer,
            _ => self.links[first + usize::from(older)].0 = newer,
        }
        let newest = std::mem::replace(&mut self.sets[set].newest, way);
        self.links[first + usize::from(newest)].0 = way;
        self.links[place as usize] = (NO_WAY, newest);
    }
}
