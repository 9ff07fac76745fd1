//! Many worlds on many cores, and a table of what they met. The report does not depend on the cores.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use super::keys::{policy_name, value_at};
use super::{Failure, Outcome, World, generate, known_marks, run};

/// Which worlds.
#[derive(Clone, Debug)]
pub struct Hunt {
    /// The first seed.
    pub first_seed: u64,
    /// How many seeds.
    pub worlds: u64,
    /// Threads.
    pub threads: usize,
    /// Failures after which no new world is begun.
    pub failures_max: u64,
    /// Worlds whose drives have all of these keys alone; a key may be followed by `=` and the policy that it is to name.
    pub with: Vec<String>,
    /// The name of a failure after which no new world is begun, whatever else was met.
    pub until: Option<String>,
}

/// Whether the drive of a world has a key, which may have to name a policy.
fn has(world: &World, what: &str) -> bool {
    match what.split_once('=') {
        Some((key, name)) => policy_name(&world.drive, key).is_some_and(|named| named == name),
        None => value_at(&world.drive, what).is_some(),
    }
}

/// Where a mark was hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sighting {
    /// Worlds that hit it.
    pub worlds: u64,
    /// How often altogether.
    pub hits: u64,
    /// The first seed that did.
    pub first_seed: u64,
}

/// What a hunt met.
#[derive(Debug, Default)]
pub struct HuntReport {
    /// Worlds that were run to their end.
    pub worlds: u64,
    /// Their requests.
    pub requests: u64,
    /// Events of the engine.
    pub events: u64,
    /// Events that were checked.
    pub checked: u64,
    /// By mark.
    pub marks: BTreeMap<String, Sighting>,
    /// Worlds that failed.
    pub failures: Vec<(World, Failure)>,
}

impl Hunt {
    /// Runs the worlds. `progress` is told how many are done.
    pub fn run(&self, progress: &(dyn Fn(u64) + Sync)) -> HuntReport {
        let (next, done, failed) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let work = || {
            let mut results = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= self.worlds || failed.load(Ordering::Relaxed) >= self.failures_max {
                    return results;
                }
                let world = generate(self.first_seed.wrapping_add(index));
                if !self.with.iter().all(|what| has(&world, what)) {
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1);
                    continue;
                }
                let outcome = run(&world);
                if let Err(failure) = &outcome {
                    let looked_for = self.until.as_ref() == Some(&failure.name);
                    failed.fetch_add(if looked_for { self.failures_max } else { 1 }, Ordering::Relaxed);
                }
                let kept = outcome.is_err().then_some(world);
                results.push((index, kept, outcome));
                progress(done.fetch_add(1, Ordering::Relaxed) + 1);
            }
        };
        let mut results: Vec<(u64, Option<World>, Result<Outcome, Failure>)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads.max(1)).map(|_| scope.spawn(work)).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("worlds catch their panics")).collect()
        });
        results.sort_by_key(|(index, _, _)| *index);
        let mut report = HuntReport::default();
        for (index, world, outcome) in results {
            match (outcome, world) {
                (Ok(outcome), _) => report.add(self.first_seed.wrapping_add(index), &outcome),
                (Err(failure), Some(world)) => report.failures.push((world, failure)),
                (Err(_), None) => {}
            }
        }
        report
    }
}

impl HuntReport {
    /// Takes a world in.
    pub fn add(&mut self, seed: u64, outcome: &Outcome) {
        self.worlds += 1;
        self.requests += outcome.requests;
        self.events += outcome.events;
        self.checked += outcome.checked;
        for (mark, &hits) in outcome.marks.iter().filter(|(_, hits)| **hits > 0) {
            let sighting =
                self.marks.entry(mark.clone()).or_insert(Sighting { first_seed: seed, ..Sighting::default() });
            sighting.worlds += 1;
            sighting.hits += hits;
        }
    }

    /// Marks that nothing hit.
    pub fn missed(&self) -> Vec<String> {
        known_marks().into_iter().filter(|mark| !self.marks.contains_key(mark)).collect()
    }

    /// The table of marks: worlds that hit each, hits, the first seed, and the requests of its minimal test.
    pub fn table(&self, minimal: &BTreeMap<String, usize>) -> String {
        let mut text =
            String::from("| mark | worlds | hits | first seed | minimal test |\n|---|---:|---:|---:|---:|\n");
        for mark in known_marks() {
            let sighting = self.marks.get(&mark).copied().unwrap_or_default();
            let seed = if sighting.worlds > 0 { sighting.first_seed.to_string() } else { "never".to_owned() };
            let test = minimal.get(&mark).map_or_else(|| "-".to_owned(), |requests| format!("{requests} requests"));
            let _ = writeln!(text, "| `{mark}` | {} | {} | {seed} | {test} |", sighting.worlds, sighting.hits);
        }
        text
    }
}
