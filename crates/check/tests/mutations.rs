//! The checker is worth what it catches: each deliberate fault of `mutations.toml` must make random worlds
//! fail by the name given there, and without one they must not fail.
//!
//! All faults go into one copy of the sources behind switches, so that it is built once. The copy is the whole
//! workspace and shares its target folder: what others wrote was compiled with the tests and is not again.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;

/// Worlds that are run with each fault, at most, but for those that fewer show.
const WORLDS: u64 = 500;
/// What is found behind so many worlds is looked for where it was found last.
const FOUND_SOON: u64 = 8;
/// Worlds that are run without: others run many more on the sources as they are.
const WORLDS_OF_THE_CONTROL: u64 = 60;

/// Part of the names of the faults that are run, where not all of them are: an environment variable.
const ONLY: &str = "NINESCOPE_ONLY";
/// Where the worlds that showed faults are written into `mutations.toml`: an environment variable.
const BLESS: &str = "NINESCOPE_BLESS";

/// The program of the copy: what is compiled of the copy lies beside what is compiled of the sources.
const PROGRAM: &str = "mutated-worlds";

/// Crates of the copy that take longer to optimise than the worlds take in them: what reads files and writes results.
const NOT_OPTIMISED: [&str; 3] = ["ninescope", "ninescope-generators", "ninescope-traces"];

/// The switch, added to the copy of the kernel.
const SWITCH: &str = r#"

/// Whether a deliberate fault is on.
pub fn mutation(name: &str) -> bool {
    static ON: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    ON.get_or_init(|| std::env::var("NINESCOPE_MUTATION").unwrap_or_default()) == name
}
"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutations {
    mutation: Vec<Mutation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutation {
    name: String,
    story: String,
    caught_as: String,
    /// A kept world that shows it, where few random ones do.
    replay: Option<String>,
    /// A random world that showed it, where none of the first ones does: it is tried before them.
    seed: Option<u64>,
    edit: Vec<Edit>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    file: PathBuf,
    before: String,
    after: String,
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// Leaves an equal file alone, so that it need not be compiled again.
fn copy_if_changed(content: &[u8], target: &Path) {
    if std::fs::read(target).ok().as_deref() != Some(content) {
        std::fs::write(target, content).expect("a writable target folder");
    }
}

/// A copy of the sources with every fault in it, each behind its switch. Files are written once, with all
/// their edits.
fn mutated_copy(mutations: &[Mutation]) -> PathBuf {
    let (source, copy) = (workspace(), workspace().join("target/mutants/source"));
    let mut edited: std::collections::BTreeMap<PathBuf, String> = std::collections::BTreeMap::new();
    let read = |file: &Path| std::fs::read_to_string(source.join(file)).expect("a source file that a mutation names");
    let kernel = Path::new("crates/kernel/src/lib.rs");
    edited.insert(kernel.to_owned(), read(kernel) + SWITCH);
    for mutation in mutations {
        let switch = format!("ninescope_kernel::mutation(\"{}\")", mutation.name);
        for edit in &mutation.edit {
            let text = edited.entry(edit.file.clone()).or_insert_with(|| read(&edit.file));
            assert_eq!(
                text.matches(&edit.before).count(),
                1,
                "mutation {}: its place in {} is gone or not unique:\n{}",
                mutation.name,
                edit.file.display(),
                edit.before
            );
            *text = text.replacen(&edit.before, &edit.after.replace("MUTATED", &switch), 1);
        }
    }
    let manifest = Path::new("crates/check/Cargo.toml");
    let renamed = format!("name = \"{PROGRAM}\"\npath = \"src/bin/worlds.rs\"\n");
    edited.insert(manifest.to_owned(), read(manifest).replacen("name = \"worlds\"\n", &renamed, 1));
    for entry in std::fs::read_dir(source.join("crates")).expect("the crates") {
        let name = entry.expect("an entry").file_name();
        let (from, to) = (Path::new("crates").join(&name), copy.join("crates").join(&name));
        for part in ["src", "benches"] {
            if source.join(&from).join(part).exists() {
                copy_sources(&source, &from.join(part), &to.join(part), &edited);
            }
        }
        let manifest = from.join("Cargo.toml");
        let content = edited.get(&manifest).cloned().unwrap_or_else(|| read(&manifest));
        copy_if_changed(content.as_bytes(), &to.join("Cargo.toml"));
    }
    forget_others(&copy.join("crates"), &source.join("crates"));
    // All members of the workspace have to be there.
    for folder in ["presets", "examples/own-policies"] {
        copy_sources(&source, Path::new(folder), &copy.join(folder), &edited);
    }
    for file in ["Cargo.toml", "Cargo.lock"] {
        copy_if_changed(&std::fs::read(source.join(file)).expect("the workspace's files"), &copy.join(file));
    }
    copy
}

fn copy_sources(root: &Path, from: &Path, to: &Path, edited: &std::collections::BTreeMap<PathBuf, String>) {
    std::fs::create_dir_all(to).expect("a writable target folder");
    for entry in std::fs::read_dir(root.join(from)).expect("a source folder") {
        let entry = entry.expect("an entry");
        let (file, target) = (from.join(entry.file_name()), to.join(entry.file_name()));
        if entry.file_type().expect("a file type").is_dir() {
            copy_sources(root, &file, &target, edited);
        } else {
            let content = edited.get(&file).map(|text| text.clone().into_bytes());
            let content = content.unwrap_or_else(|| std::fs::read(root.join(&file)).expect("a source file"));
            copy_if_changed(&content, &target);
        }
    }
    forget_others(to, &root.join(from));
}

/// Takes out of a folder what is not in another: sources that were renamed would be compiled beside themselves.
fn forget_others(folder: &Path, wanted: &Path) {
    for entry in std::fs::read_dir(folder).expect("a folder of the copy") {
        let entry = entry.expect("an entry");
        if wanted.join(entry.file_name()).exists() {
            continue;
        }
        let is_folder = entry.file_type().expect("a file type").is_dir();
        let gone = if is_folder { std::fs::remove_dir_all(entry.path()) } else { std::fs::remove_file(entry.path()) };
        gone.expect("a writable target folder");
    }
}

fn build(copy: &Path) -> PathBuf {
    let target = workspace().join("target");
    // Of the whole workspace, so that what others wrote has the features that it has in the tests.
    let output = Command::new(env!("CARGO"))
        .args(["build", "--workspace", "--quiet", "--offline", "--bin", PROGRAM])
        .args(
            NOT_OPTIMISED
                .iter()
                .flat_map(|name| ["--config".into(), format!("profile.dev.package.{name}.opt-level=0")]),
        )
        .env("CARGO_TARGET_DIR", &target)
        // A fault is the checker's to find, not that of an assertion on the way.
        .envs([
            ("CARGO_PROFILE_DEV_DEBUG", "0"),
            ("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS", "false"),
            ("CARGO_PROFILE_DEV_OVERFLOW_CHECKS", "false"),
        ])
        .env_remove("RUSTFLAGS")
        .env_remove("LLVM_PROFILE_FILE")
        .current_dir(copy)
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "the mutated sources do not compile:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    target.join("debug").join(PROGRAM)
}

/// The program of worlds with a fault on.
fn run(worlds: &Path, fault: &str, arguments: &[&str]) -> Output {
    Command::new(worlds).args(arguments).env("NINESCOPE_MUTATION", fault).output().expect("the worlds run")
}

/// Whether a program of worlds failed as a fault should: the line that says so.
fn named<'a>(output: &Output, words: &'a str, mutation: &Mutation) -> Option<&'a str> {
    let has_failed = output.status.code() == Some(1);
    words.lines().find(|line| has_failed && line.contains(&format!(": {}: ", mutation.caught_as)))
}

/// Random worlds until one fails as a fault should, or a kept one, with the fault on.
fn run_with(worlds: &Path, mutation: &Mutation) -> Output {
    if let Some(file) = &mutation.replay {
        let file = workspace().join("crates/check/worlds").join(file);
        return run(worlds, &mutation.name, &["--replay", &file.to_string_lossy()]);
    }
    let hunt = |count: u64, seed: u64| {
        let (count, seed) = (count.to_string(), seed.to_string());
        run(worlds, &mutation.name, &["--count", &count, "--seed", &seed, "--no-keep", "--until", &mutation.caught_as])
    };
    let Some(seed) = mutation.seed else { return hunt(WORLDS, 1) };
    let there = hunt(1, seed);
    if named(&there, &String::from_utf8_lossy(&there.stdout), mutation).is_some() {
        return there;
    }
    // What is drawn has changed since.
    hunt(WORLDS.max(2 * seed), 1)
}

/// The text of `mutations.toml` with the worlds in which faults were found.
fn with_seeds(text: &str, found: &[(String, u64)]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (name, seed) in found {
        let head = lines.iter().position(|line| *line == format!("name = \"{name}\"")).expect("a fault of this name");
        let is_of = |line: &String, key: &str| line.starts_with(key);
        let key = head
            + lines[head..].iter().position(|line| is_of(line, "caught_as = ")).expect("it is caught as something");
        if is_of(&lines[key + 1], "seed = ") {
            lines.remove(key + 1);
        }
        if *seed > FOUND_SOON {
            lines.insert(key + 1, format!("seed = {seed}"));
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn every_deliberate_fault_is_caught_and_named() {
    let text = include_str!("../mutations.toml");
    let mutations = toml::from_str::<Mutations>(text).expect("mutations.toml").mutation;
    assert!(mutations.len() >= 7);
    let worlds = build(&mutated_copy(&mutations));
    let control = run(&worlds, "", &["--count", &WORLDS_OF_THE_CONTROL.to_string(), "--seed", "1", "--no-keep"]);
    let words = String::from_utf8_lossy(&control.stdout);
    assert!(control.status.success(), "the copy fails although no fault is on:\n{words}");
    let (mut escaped, mut found) = (Vec::new(), Vec::new());
    let wanted = std::env::var(ONLY).unwrap_or_default();
    for mutation in mutations.iter().filter(|mutation| mutation.name.contains(&wanted)) {
        let output = run_with(&worlds, mutation);
        let words = String::from_utf8_lossy(&output.stdout);
        let named = named(&output, &words, mutation);
        println!("{}: {}\n  {}", mutation.name, mutation.story, named.unwrap_or("NOT CAUGHT BY THIS NAME"));
        match named {
            None => escaped.push(format!("{} (expected {}):\n{words}", mutation.name, mutation.caught_as)),
            Some(line) => {
                let seed = line.strip_prefix("seed ").and_then(|rest| rest.split(':').next()?.parse().ok());
                found.extend(seed.map(|seed| (mutation.name.clone(), seed)));
            }
        }
    }
    if std::env::var(BLESS).is_ok() {
        std::fs::write(workspace().join("crates/check/mutations.toml"), with_seeds(text, &found))
            .expect("a writable file");
    }
    assert!(escaped.is_empty(), "faults that were not caught by name:\n{}", escaped.join("\n"));
}
