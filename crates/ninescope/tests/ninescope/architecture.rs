//! The rooms of the house and the arrows between them hold: who may use whom, and which words and tools do not
//! belong in which room.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

mod paths;

use paths::{Modules, Place};

/// The crates by storey. A crate uses only crates of storeys below its own, so that siblings stay apart.
const STOREYS: [&[&str]; 8] = [
    &["kernel"],
    &["model"],
    &["media", "ecc", "ftl"],
    &["tier"],
    &["engine", "traces", "generators"],
    &["ninescope"],
    &["check"],
    &["python", "fuzzing"],
];
/// The modules of a crate by storey, for crates whose modules have an order. A module uses only modules of storeys below its
/// own, so that siblings stay apart and none goes round in circles.
const MODULES: [(&str, &[&[&str]]); 2] = [
    (
        "engine",
        &[
            &["error", "counters", "resources", "meter"],
            &["transaction"],
            &["policies", "firmware", "power"],
            &["run"],
            &["sched"],
            &["config"],
            // The owners, each with fields that nobody else sees.
            &["host", "flash", "scm", "tier", "reliability", "mapping", "dram"],
            &["probe"],
            &["device"],
        ],
    ),
    (
        "ninescope",
        &[
            &["digits", "version"],
            &["error"],
            &["presets", "policies", "steadiness", "record"],
            &["config"],
            &["schema", "traces", "codes", "endurance"],
            &["profiles", "assembly"],
            &["precondition"],
            &["snapshot"],
            &["request", "prepare"],
            &["result"],
            &["plan"],
            &["simulation"],
        ],
    ),
];
/// Used by tests alone, and by nobody else.
const FOR_TESTS: [&str; 1] = ["oracles"];

fn crates_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/").to_owned()
}

fn storey_in(storeys: &[&[&str]], name: &str) -> Option<usize> {
    storeys.iter().position(|storey| storey.contains(&name))
}

fn storey(name: &str) -> usize {
    storey_in(&STOREYS, name)
        .unwrap_or_else(|| panic!("crate {name} has no storey: ARCHITECTURE.md says where a crate belongs"))
}

/// The folder of a workspace package: `ninescope-ftl` lives in `ftl`.
fn folder_of(package: &str) -> &str {
    package.strip_prefix("ninescope-").unwrap_or(package)
}

/// Every crate with the workspace crates it uses, those of its tests left out.
fn arrows() -> BTreeMap<String, Vec<String>> {
    let mut arrows = BTreeMap::new();
    for entry in fs::read_dir(crates_folder()).expect("crates/ can be listed") {
        let folder = entry.expect("an entry").path();
        let Ok(text) = fs::read_to_string(folder.join("Cargo.toml")) else { continue };
        let manifest: toml::Table = toml::from_str(&text).expect("a manifest");
        let mut used = Vec::new();
        for section in ["dependencies", "build-dependencies"] {
            let dependencies = manifest.get(section).and_then(toml::Value::as_table);
            let names = dependencies.into_iter().flat_map(toml::Table::keys);
            used.extend(names.filter(|name| name.starts_with("ninescope")).map(|name| folder_of(name).to_owned()));
        }
        assert!(
            !manifest.contains_key("target"),
            "{}: dependencies by target are not looked at here",
            folder.display()
        );
        let name = folder.file_name().expect("a folder").to_string_lossy().into_owned();
        assert_eq!(folder_of(manifest["package"]["name"].as_str().expect("a name")), name);
        arrows.insert(name, used);
    }
    assert!(arrows.len() >= 13, "{arrows:?}");
    arrows
}

/// Every source file of a crate with its text, the tests beside the code left out.
fn sources(name: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut folders = vec![crates_folder().join(name).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a source folder can be listed") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a source file is text");
                let code = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
                files.push((path, code));
            }
        }
    }
    assert!(!files.is_empty(), "{name} has sources");
    files
}

/// Whether `word` stands alone in a line, outside of comments.
fn uses_word(line: &str, word: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    code.split(|character: char| !character.is_alphanumeric() && character != '_').any(|token| token == word)
}

fn assert_word_is_absent(crates: &[&str], word: &str, reason: &str) {
    for (path, text) in crates.iter().flat_map(|name| sources(name)) {
        for (number, line) in text.lines().enumerate() {
            assert!(!uses_word(line, word), "{}:{}: {reason}\n{line}", path.display(), number + 1);
        }
    }
}

/// Crates of a list that exist already.
fn existing<'a>(names: &[&'a str]) -> Vec<&'a str> {
    names.iter().copied().filter(|name| crates_folder().join(name).exists()).collect()
}

#[test]
fn every_crate_uses_only_crates_of_storeys_below() {
    for (name, used) in arrows() {
        if FOR_TESTS.contains(&name.as_str()) {
            assert!(used.is_empty(), "{name} holds theory and uses {used:?}");
            continue;
        }
        for other in used {
            assert!(!FOR_TESTS.contains(&other.as_str()), "{name} uses {other} outside of its tests");
            assert!(storey(&other) < storey(&name), "{name} must not use {other}");
        }
    }
}

#[test]
fn every_module_uses_only_modules_of_storeys_below() {
    for (name, storeys) in MODULES {
        let mut seen = BTreeMap::new();
        for (from, others) in arrows_of_files(name) {
            let Some(module) = from.first().cloned() else { continue };
            let own = storey_in(storeys, &module).unwrap_or_else(|| panic!("{name}: module {module} has no storey"));
            for other in others.iter().map(|other| other.first()).filter(|other| *other != Some(&module)) {
                let other = other.unwrap_or_else(|| panic!("{name}: {from:?} must not use the crate's root"));
                let of_other = storey_in(storeys, other).unwrap_or_else(|| panic!("{name}: {other} has no storey"));
                assert!(of_other < own, "{name}: {} must not use {other}", from.join("/"));
            }
            seen.insert(module, own);
        }
        let listed = storeys.iter().map(|storey| storey.len()).sum::<usize>();
        assert_eq!(seen.len(), listed, "{name}: a module that is listed is there: {seen:?}");
    }
}

/// Every file of a crate with the others of it that it names.
fn arrows_of_files(name: &str) -> BTreeMap<Place, BTreeSet<Place>> {
    let within = crates_folder().join(name).join("src");
    let place_of = |path: &Path| -> Place {
        let words = path.strip_prefix(&within).expect("a source of the crate").with_extension("");
        let words = words.iter().map(|word| word.to_string_lossy().into_owned());
        words.filter(|word| !["mod", "lib", "main"].contains(&word.as_str())).collect()
    };
    let programs = within.join("bin");
    let files = sources(name).into_iter().filter(|(path, _)| !path.starts_with(&programs));
    Modules::new(files.map(|(path, code)| (place_of(&path), code)).collect()).arrows()
}

/// Every folder of a crate with the arrows among the files and folders that lie beside each other in it. A file that names what
/// the module has that it lies in, or that has it, is in one room with it.
fn arrows_by_folder(name: &str) -> BTreeMap<Place, BTreeMap<String, BTreeSet<String>>> {
    let mut folders = BTreeMap::<Place, BTreeMap<String, BTreeSet<String>>>::new();
    for (from, others) in arrows_of_files(name) {
        for to in others {
            let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
            if let (Some(own), Some(other)) = (from.get(common), to.get(common)) {
                let beside = folders.entry(from[..common].to_vec()).or_default();
                beside.entry(own.clone()).or_default().insert(other.clone());
            }
        }
    }
    folders
}

/// Takes modules away that use none of those that are left, as long as there are any; those of circles stay.
fn circles(mut used: BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    loop {
        let left: BTreeSet<String> = used.keys().cloned().collect();
        let before = used.len();
        used.retain(|_, others| !others.is_disjoint(&left));
        if used.len() == before {
            return used;
        }
    }
}

#[test]
fn nothing_that_lies_side_by_side_uses_each_other_in_circles() {
    let mut found = Vec::new();
    for name in arrows().into_keys() {
        for (folder, beside) in arrows_by_folder(&name) {
            let round = circles(beside);
            if !round.is_empty() {
                found.push(format!("{name}/{}: {round:?}", folder.join("/")));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    let arrow = |from: &str, to: &[&str]| (from.to_owned(), to.iter().map(|&name| name.to_owned()).collect());
    let found =
        circles(BTreeMap::from([arrow("a", &["b"]), arrow("b", &["c"]), arrow("c", &["b", "d"]), arrow("d", &[])]));
    assert_eq!(found.into_keys().collect::<Vec<_>>(), ["a", "b", "c"], "what leads into a circle stays, too");
}

#[test]
fn media_knows_no_logical_address() {
    assert_word_is_absent(&["media"], "Lpa", "media receives physical commands only");
    assert_word_is_absent(&["media"], "Lba", "media receives physical commands only");
}

#[test]
fn codes_know_no_address() {
    for word in ["Lpa", "Lba", "Ppa"] {
        assert_word_is_absent(&["ecc"], word, "a code sees bits, not where they lie");
    }
}

#[test]
fn whoever_gives_requests_knows_no_drive() {
    for name in ["traces", "generators"] {
        assert_eq!(arrows()[name], ["kernel", "model"], "{name} gives requests, and only that");
    }
}

#[test]
fn the_translation_layer_and_the_tiers_know_no_time() {
    assert_word_is_absent(&existing(&["ftl", "tier"]), "Ns", "time belongs to the engine");
}

#[test]
fn nothing_iterates_in_random_order() {
    let all = arrows();
    let names: Vec<&str> = all.keys().map(String::as_str).collect();
    for word in ["HashMap", "HashSet", "RandomState"] {
        assert_word_is_absent(&names, word, "its order differs from run to run");
    }
}

#[test]
fn only_the_kernel_allows_unsafe_code() {
    for name in arrows().into_keys().filter(|name| name != "kernel") {
        for (path, text) in sources(&name) {
            assert!(!text.contains("allow(unsafe_code") && !text.contains("expect(unsafe_code"), "{}", path.display());
        }
        let manifest = fs::read_to_string(crates_folder().join(&name).join("Cargo.toml")).expect("a manifest");
        let manifest: toml::Table = toml::from_str(&manifest).expect("a manifest");
        let inherits = manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool);
        assert_eq!(inherits, Some(true), "{name} has the workspace's lints");
    }
    let workspace = fs::read_to_string(crates_folder().join("../Cargo.toml")).expect("the workspace's manifest");
    let workspace: toml::Table = toml::from_str(&workspace).expect("a manifest");
    assert_eq!(workspace["workspace"]["lints"]["rust"]["unsafe_code"].as_str(), Some("deny"));
}

#[test]
fn no_wall_clock_reaches_a_simulation() {
    // Only the library measures how long a run took, for the caller.
    for (name, _) in arrows().into_iter().filter(|(name, _)| !["ninescope", "python"].contains(&name.as_str())) {
        for word in ["Instant", "SystemTime"] {
            assert_word_is_absent(&[name.as_str()], word, "a simulation knows simulated time only");
        }
    }
}

#[test]
fn a_word_counts_only_where_it_stands_alone_in_code() {
    assert!(uses_word("let x: Ns = y;", "Ns") && uses_word("Vec<Ns>", "Ns"));
    assert!(!uses_word("let Nsx = 1; // Ns", "Ns") && !uses_word("answer_Ns", "Ns"));
}
