//! Random worlds in `make test`: a fixed number of new ones, all that ever failed, and for each mark the
//! smallest world that hits it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ninescope_check::worlds::{Hunt, World, decides_otherwise, generate, run, situations};

/// Worlds of every run of the tests. `make worlds N=... SEED=...` runs others.
const WORLDS: u64 = 400;
/// Marks that these worlds may miss, of some three hundred.
const RARE_MARKS_MISSED: usize = 5;
/// Worlds in which each policy must decide something that another of its registry decides otherwise.
const LOOKED_AT: u64 = 600;
/// Those of them in which policies were first found to do so, which are tried first: the rarest shows in one of a thousand.
const SHOW_POLICIES: [u64; 47] = [
    3617, 3420, 1878, 1829, 1588, 1033, 700, 435, 390, 382, 238, 201, 171, 160, 150, 146, 145, 132, 123, 110, 98, 91,
    74, 73, 62, 60, 59, 57, 51, 46, 41, 34, 33, 29, 24, 23, 22, 18, 15, 10, 9, 7, 6, 4, 3, 1, 0,
];

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("worlds").join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder of kept worlds");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

fn read(file: &Path) -> World {
    World::read(file).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn random_worlds_break_no_invariant_and_meet_every_mark() {
    let hunt = Hunt { first_seed: 1, worlds: WORLDS, threads: 2, failures_max: 5, with: Vec::new(), until: None };
    let report = hunt.run(&|_| {});
    for (world, failure) in &report.failures {
        println!("seed {}: {}: {}", world.seed, failure.name, failure.message);
        println!("  to shrink and keep it: make worlds N=1 SEED={}", world.seed);
    }
    assert!(report.failures.is_empty(), "{} of {WORLDS} worlds failed", report.failures.len());
    assert_eq!(report.worlds, WORLDS);
    let missed = report.missed();
    let (policies, rare): (Vec<_>, Vec<_>) = missed.iter().partition(|mark| mark.contains('='));
    assert!(policies.is_empty(), "policies that no world ran: {policies:?}");
    // What one world in hundreds meets may be missed when another policy joins; its minimal world meets it in any case.
    assert!(rare.len() <= RARE_MARKS_MISSED, "marks that no world hit: {rare:?}");
    let minimal: BTreeMap<String, usize> =
        files("marks").iter().map(|file| read(file)).map(|world| (world.about, world.requests.len())).collect();
    println!("{}", report.table(&minimal));
}

#[test]
fn worlds_that_once_failed_run_well() {
    let mut kept = files("failed");
    assert!(kept.len() >= 7, "kept worlds are not thrown away");
    // Those made for a deliberate fault that random ones do not meet.
    kept.append(&mut files("faults"));
    for file in kept {
        let world = read(&file);
        assert!(!world.about.is_empty(), "{} says what it broke", file.display());
        if let Err(failure) = run(&world) {
            panic!("{}: {}: {}", file.display(), failure.name, failure.message);
        }
    }
}

#[test]
fn every_mark_has_a_minimal_world_that_hits_it() {
    let marks = situations();
    let mut tested = BTreeSet::new();
    for file in files("marks") {
        let world = read(&file);
        let outcome = run(&world).unwrap_or_else(|failure| panic!("{}: {}", file.display(), failure.message));
        let hits = outcome.marks.get(&world.about).copied().unwrap_or(0);
        assert!(hits > 0, "{} does not hit `{}` any more", file.display(), world.about);
        tested.insert(world.about);
    }
    let untested: Vec<&String> = marks.difference(&tested).collect();
    assert!(
        untested.is_empty(),
        "marks without a minimal world: {untested:?}; `make minimal-worlds` finds and writes them"
    );
}

#[test]
fn a_seed_is_a_world_and_a_world_is_a_file() {
    let world = generate(7);
    assert_eq!(world, generate(7));
    assert_ne!(world, generate(8));
    let file = std::env::temp_dir().join(format!("ninescope-world-{}.toml", std::process::id()));
    world.write(&file).expect("a writable folder for temporary files");
    let again = read(&file);
    std::fs::remove_file(&file).expect("the file is there");
    assert_eq!(world, again);
    assert_eq!(run(&world), run(&again));
}

#[test]
fn every_policy_joins_by_itself_and_decides_otherwise_than_another() {
    let policies = ninescope::policies();
    let names = policies.iter().flat_map(|(key, list)| list.iter().map(move |(name, _)| (*key, *name)));
    let mut left: BTreeSet<(&str, &str)> = names.collect();
    let others = (0..LOOKED_AT).filter(|seed| !SHOW_POLICIES.contains(seed));
    for seed in SHOW_POLICIES.into_iter().chain(others) {
        let world = generate(seed);
        let Ok(outcome) = run(&world) else { continue };
        left.retain(|(key, name)| {
            let ran = outcome.marks.contains_key(&format!("{key} = {name}"));
            !(ran && decides_otherwise(&world, &outcome, key))
        });
        if left.is_empty() {
            return;
        }
    }
    panic!("in {LOOKED_AT} worlds these decided nothing that others of their registry do not: {left:?}");
}

#[test]
fn a_report_does_not_depend_on_the_threads() {
    let report = |threads| {
        Hunt { first_seed: 100, worlds: 24, threads, failures_max: 5, with: Vec::new(), until: None }.run(&|_| {})
    };
    let (one, three) = (report(1), report(3));
    assert_eq!((one.requests, one.events, &one.marks), (three.requests, three.events, &three.marks));
}

#[test]
fn a_hunt_runs_the_worlds_that_have_what_it_is_after() {
    let hunt = |with: &[&str]| {
        let with = with.iter().map(|what| (*what).to_owned()).collect();
        Hunt { first_seed: 100, worlds: 60, threads: 2, failures_max: 5, with, until: None }.run(&|_| {})
    };
    let (all, of_flash, of_none) = (hunt(&[]), hunt(&["nand"]), hunt(&["nand", "nand.no_such_key"]));
    let (levelled, not) = (hunt(&["ftl.wear_leveling=threshold"]), hunt(&["ftl.wear_leveling=none"]));
    assert_eq!((all.worlds, of_none.worlds), (60, 0));
    assert!((1..60).contains(&of_flash.worlds), "{} worlds", of_flash.worlds);
    assert!(levelled.worlds > 0 && levelled.worlds + not.worlds < 60, "{} worlds", levelled.worlds);
    assert_eq!(levelled.marks.get("ftl.wear_leveling = threshold").map(|seen| seen.worlds), Some(levelled.worlds));
}

#[test]
fn a_file_that_is_no_world_is_refused_by_name() {
    let file = std::env::temp_dir().join(format!("ninescope-no-world-{}.toml", std::process::id()));
    for (text, words) in [
        ("seed = 1\n", "missing field"),
        ("seed = 1\nsead = 2\n", "unknown field `sead`"),
        ("requests = [\"0 reed 0 1\"]\nseed = 1\n", "`0 reed 0 1` is not"),
        ("requests = [\"0 flush 0 1\"]\nseed = 1\n", "`0 flush 0 1` is not"),
        ("requests = [\"0 read 0 0\"]\nseed = 1\n", "`0 read 0 0` is not"),
        ("requests = [\"-1 read 0 1\"]\nseed = 1\n", "`-1 read 0 1` is not"),
    ] {
        std::fs::write(&file, text).expect("a writable folder for temporary files");
        let message = World::read(&file).expect_err(text).to_string();
        assert!(message.contains(words) && message.contains("no-world"), "{text}: {message}");
    }
    std::fs::remove_file(&file).expect("the file is there");
}
