//! What one choice of a victim takes, for each policy, on a pool of few block groups and on one of many.
//!
//! The policy is asked through another one, which is added to the registry and looks at the clock before and after each choice. Of all
//! choices the middle one counts, whatever else the machine does meanwhile; what reading the clock takes is left out. What a policy does when units become invalid is not in it: that is in what a write of the host takes.

use std::hint::black_box;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ninescope_ftl::policies::VictimSelectionConfig;
use ninescope_ftl::policies::victim_selection::{Candidate, CandidateView, VictimSelection, VictimSelectionParameters};
use ninescope_kernel::Snapshot;
use ninescope_model::{BlockGroup, Geometry, Pool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::figures::Figures;
use crate::untimed::overwritten_for_a_while;

/// What each choice took [ns].
static TOOK: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// A policy whose choices are timed.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Timed {
    of: VictimSelectionConfig,
}

impl VictimSelectionParameters for Timed {
    fn build(&self, geometry: &Geometry, seed: u64) -> Box<dyn VictimSelection> {
        Box::new(TimedSelection(self.of.chosen().build(geometry, seed)))
    }

    fn follows_candidates(&self) -> bool {
        self.of.chosen().follows_candidates()
    }
}

#[derive(Debug)]
struct TimedSelection(Box<dyn VictimSelection>);

impl VictimSelection for TimedSelection {
    fn select(&mut self, view: &CandidateView<'_>) -> Option<u32> {
        let begin = Instant::now();
        let chosen = black_box(self.0.select(view));
        add(begin.elapsed());
        chosen
    }

    fn closed(&mut self, pool: Pool, group: BlockGroup) {
        self.0.closed(pool, group);
    }

    fn taken(&mut self, pool: Pool, group: BlockGroup) {
        self.0.taken(pool, group);
    }

    fn joined(&mut self, candidate: Candidate) {
        self.0.joined(candidate);
    }

    fn left(&mut self, group: BlockGroup) {
        self.0.left(group);
    }

    fn invalidated(&mut self, group: BlockGroup) {
        self.0.invalidated(group);
    }
}

impl Snapshot for TimedSelection {}

fn add(took: Duration) {
    TOOK.lock().expect("nobody panics with it").push(took.as_nanos() as u64);
}

/// The middle one of what was added since the last call [ns].
fn middle() -> f64 {
    let mut took = std::mem::take(&mut *TOOK.lock().expect("nobody panics with it"));
    took.sort_unstable();
    took.get(took.len() / 2).map_or(0.0, |&took| took as f64)
}

/// Prints a row for each policy.
pub fn choices(figures: &mut Figures) {
    const UNITS: u32 = 16;
    VictimSelectionConfig::add::<Timed>("timed");
    let sizes: &[u32] = if crate::is_tried() { &[64] } else { &[1_024, 65_536] };
    let heads: Vec<String> = sizes.iter().map(|groups| format!("{groups:>12} groups")).collect();
    println!("\none choice, one pool of groups of {UNITS} units   {}", heads.join(""));
    let clock = clock();
    for (victim, _) in VictimSelectionConfig::LIST {
        let took: Vec<f64> = sizes.iter().map(|&groups| choice_of(victim, groups, UNITS) - clock).collect();
        let told: Vec<String> = took.iter().map(|took| format!("{took:>16.0} ns")).collect();
        println!("  {victim:<40} {}", told.join(""));
        for (groups, took) in sizes.iter().zip(&took) {
            figures.keep(format!("choice of a victim, {victim}, {groups} groups [ns]"), took.max(0.1));
        }
    }
}

/// What looking at the clock takes by itself.
fn clock() -> f64 {
    for _ in 0..100_000 {
        let begin = Instant::now();
        add(black_box(begin).elapsed());
    }
    middle()
}

fn choice_of(victim: &str, groups: u32, units_per_group: u32) -> f64 {
    // What was chosen until then does not count.
    let policy: Value = json!({ "policy": "timed", "of": { "policy": victim } });
    overwritten_for_a_while(policy, groups, units_per_group, || {
        middle();
    });
    middle()
}
