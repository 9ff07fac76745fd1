//! Windowed greedy: among the `window` groups of a pool that were filled first, the one with the fewest valid units, and the one
//! filled first among equals (Hu, Eleftheriou, Haas, Iliadis and Pletka, "Write amplification analysis in flash-based solid state
//! drives", SYSTOR 2009). A window of one group is FIFO, one of all groups is greedy but for ties.

use std::collections::VecDeque;

use ninescope_kernel::{NONE, Snapshot};
use ninescope_model::{BlockGroup, Geometry, Pool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Candidate, CandidateView, VictimSelection, VictimSelectionParameters};
use crate::minima::Minima;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WindowedGreedy {
    /// Groups of a pool, those filled first, among which the victim is.
    pub window: std::num::NonZeroU32,
}

impl Default for WindowedGreedy {
    fn default() -> Self {
        Self { window: std::num::NonZeroU32::new(64).expect("sixty-four is not zero") }
    }
}

impl VictimSelectionParameters for WindowedGreedy {
    fn build(&self, geometry: &Geometry, _seed: u64) -> Box<dyn VictimSelection> {
        Box::new(WindowedGreedySelection::new(*self, geometry))
    }

    fn follows_candidates(&self) -> bool {
        true
    }
}

/// What a valid unit weighs in the key of a group; the order of filling decides below it.
const UNIT: u64 = 1 << 40;
/// The key of a place of the window that holds no candidate.
const NO_CANDIDATE: u64 = u64::MAX;

/// The filled groups of each pool: those of the window at places of their own, the others behind them, oldest first.
#[derive(Debug)]
pub struct WindowedGreedySelection {
    /// Places of the window of a pool.
    window: u32,
    /// By pool: filled groups that are not in the window.
    behind: Vec<VecDeque<u32>>,
    /// By pool: places that nobody has.
    empty: Vec<Vec<u32>>,
    /// By place: valid units and the order of filling.
    keys: Minima<u64>,
    group_at: Vec<u32>,
    /// By group: its place, `NONE` outside of the window.
    place_of: Vec<u32>,
    /// By group: how many groups were filled before it, in these bits.
    filled_as: Vec<u64>,
    filled: u64,
}

impl WindowedGreedySelection {
    fn new(parameters: WindowedGreedy, geometry: &Geometry) -> Self {
        let window = parameters.window.get().min(geometry.blocks_per_plane);
        let (pools, groups) = (geometry.pools(), geometry.groups() as usize);
        let places = (pools * window) as usize;
        Self {
            window,
            behind: vec![VecDeque::with_capacity(geometry.blocks_per_plane as usize); pools as usize],
            empty: (0..pools).map(|pool| (pool * window..(pool + 1) * window).rev().collect()).collect(),
            keys: Minima::new(places, NO_CANDIDATE),
            group_at: vec![NONE; places],
            place_of: vec![NONE; groups],
            filled_as: vec![0; groups],
            filled: 0,
        }
    }

    fn key(&self, group: u32, valid: Option<u32>) -> u64 {
        valid.map_or(NO_CANDIDATE, |valid| u64::from(valid) * UNIT + self.filled_as[group as usize])
    }

    /// The oldest groups take the places that are empty.
    fn fill(&mut self, view: &CandidateView<'_>) {
        let pool = view.pool.index();
        while !self.empty[pool].is_empty() {
            let Some(group) = self.behind[pool].pop_front() else { return };
            let place = self.empty[pool].pop().expect("there is one");
            self.group_at[place as usize] = group;
            self.place_of[group as usize] = place;
            self.keys.put(place as usize, self.key(group, view.valid_units(group - view.first)));
        }
    }

    fn clear(&mut self, pool: Pool, place: u32) {
        self.keys.put(place as usize, NO_CANDIDATE);
        self.empty[pool.index()].push(place);
        let group = std::mem::replace(&mut self.group_at[place as usize], NONE);
        self.place_of[group as usize] = NONE;
    }
}

impl VictimSelection for WindowedGreedySelection {
    fn select(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        self.fill(view);
        let begin = (view.pool.0 * self.window) as usize;
        let Some(place) = self.keys.least(begin..begin + self.window as usize) else {
            // Programs into all that is in the window, or moves, are still under way: the oldest behind it.
            let behind = &mut self.behind[view.pool.index()];
            let position = behind.iter().position(|&group| view.valid_units(group - view.first).is_some())?;
            return behind.remove(position).map(|group| group - view.first);
        };
        let group = self.group_at[place];
        self.clear(view.pool, place as u32);
        Some(group - view.first)
    }

    fn closed(&mut self, pool: Pool, group: BlockGroup) {
        self.filled_as[group.index()] = self.filled % UNIT;
        self.filled += 1;
        self.behind[pool.index()].push_back(group.0);
    }

    fn taken(&mut self, pool: Pool, group: BlockGroup) {
        match self.place_of[group.index()] {
            NONE => self.behind[pool.index()].retain(|&filled| filled != group.0),
            place => self.clear(pool, place),
        }
    }

    fn joined(&mut self, candidate: Candidate) {
        let group = candidate.group;
        if self.place_of[group.index()] != NONE {
            let key = self.key(group.0, Some(candidate.valid));
            self.keys.put(self.place_of[group.index()] as usize, key);
        }
    }

    fn invalidated(&mut self, group: BlockGroup) {
        let place = self.place_of[group.index()];
        if place != NONE && self.keys.get(place as usize) != NO_CANDIDATE {
            self.keys.lower(place as usize, |key| key - UNIT);
        }
    }
}

/// What is in the window, and what is behind it, follows from the order of filling.
impl Snapshot for WindowedGreedySelection {}
