//! Every kept input passes its check, and so do a fixed number of its mutations.
//!
//! What fails is written to `out/fuzzing`, so that it can be looked at and kept in `fuzz/regressions`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use ninescope_fuzzing::{TARGETS, Target, target};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The inputs kept in `fuzz/<kind>/<target>`, by name.
fn kept(kind: &str, target: &str) -> Vec<(String, Vec<u8>)> {
    let Ok(folder) = fs::read_dir(project().join("fuzz").join(kind).join(target)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let name = |path: &Path| path.file_name().expect("a file").to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), fs::read(path).expect("a kept input"))).collect()
}

thread_local! {
    /// Where and why the latest panic of this thread was.
    static LATEST_PANIC: RefCell<(String, String)> = RefCell::default();
}

/// Where and why the input fails its check; `None` where it passes.
fn failure(target: &Target, input: &[u8]) -> Option<(String, String)> {
    let failed = catch_unwind(AssertUnwindSafe(|| (target.check)(input))).is_err();
    failed.then(|| LATEST_PANIC.take())
}

/// Keeps a failed input and says where.
fn keep(target: &Target, name: &str, input: &[u8]) -> String {
    let folder = project().join("out/fuzzing");
    let path = folder.join(format!("{}-{name}", target.name));
    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, input));
    format!("{} ({written:?})", path.display())
}

/// How many mutations a test tries: a short fixed number, or as many as somebody asks for.
fn cases(few: u64) -> u64 {
    std::env::var("NINESCOPE_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(few)
}

/// Kept inputs, and mutations of them. Of failures in the same place the first one is told.
fn replay(name: &str, few: u64) {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, ToString::to_string);
        let _ = LATEST_PANIC.try_with(|latest| latest.replace((place, panic.to_string())));
        eprintln!("{panic}");
    }));
    let target = target(name);
    let corpus = kept("corpus", name);
    assert!(corpus.len() >= 3, "{name}: the corpus is in fuzz/corpus");
    let mut inputs = corpus;
    inputs.extend(kept("regressions", name));
    let seeds: Vec<Vec<u8>> = inputs.iter().map(|(_, input)| input.clone()).collect();
    let mutations = (0..cases(few)).map(|number| (format!("mutation-{number}"), target.case(&seeds, number)));
    let mut failures = BTreeMap::new();
    for (file, input) in inputs.into_iter().chain(mutations) {
        if let Some((place, why)) = failure(&target, &input) {
            failures.entry(place).or_insert_with(|| format!("{}\n{why}", keep(&target, &file, &input)));
        }
    }
    let told: Vec<String> = failures.into_values().collect();
    assert!(told.is_empty(), "{} kinds of failure of {name}:\n{}", told.len(), told.join("\n"));
}

#[test]
fn traces_give_requests_or_say_why_not() {
    replay("trace", 1_500);
}

#[test]
fn archives_give_requests_or_say_why_not() {
    replay("archive", 1_500);
}

#[test]
fn described_columns_give_requests_or_say_why_not() {
    replay("columns", 1_500);
}

#[test]
fn drives_run_to_the_end_or_are_refused() {
    replay("drive", 1_500);
}

#[test]
fn jobs_run_to_the_end_or_are_refused() {
    replay("job", 1_500);
}

#[test]
fn profiles_are_drawn_from_or_refused() {
    replay("profile", 1_500);
}

#[test]
fn requests_run_to_the_end_or_are_refused() {
    replay("request", 1_500);
}

#[test]
fn snapshots_hold_a_drive_that_works_or_are_refused() {
    replay("snapshot", 1_500);
}

#[test]
fn every_regression_is_told_of() {
    let notes = fs::read_to_string(project().join("fuzz/regressions/README.md")).expect("the notes");
    for target in TARGETS {
        for (name, _) in kept("regressions", target.name) {
            let file = format!("`{}/{name}`", target.name);
            assert!(notes.contains(&file), "{file} is not in fuzz/regressions/README.md");
        }
    }
}

#[test]
fn a_number_names_a_case() {
    for target in TARGETS {
        let corpus: Vec<Vec<u8>> = kept("corpus", target.name).into_iter().map(|(_, input)| input).collect();
        assert_eq!(target.case(&corpus, 7), target.case(&corpus, 7));
        assert!((0..20).any(|number| target.case(&corpus, number) != target.case(&corpus, 0)), "{}", target.name);
    }
}
