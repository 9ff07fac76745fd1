//! Drives of storage-class memory, alone, above flash and above slower memory, against times and placements worked
//! out by hand: one Markdown file of `tests/scenarios` per placement, which explains its own calculation.
//!
//! A file holds the drive as a TOML block, the requests and their latencies as the table under `## Requests`, what
//! moves between the media and when under `## Moves`, and what is where in the end under `## Slots` and `## Counters`.
//! Everything in the tables is checked; the prose between them says how it was found.

use std::path::PathBuf;

use ninescope::{Plan, RunRequest};
use ninescope_engine::{Device, Event, Probe, SimulationError, View, Watched};
use ninescope_kernel::Ns;
use ninescope_model::{Arrival, Lba, Op, Request};
use ninescope_tier::SlotState;
use serde_json::{Value, json};

/// The rows of a table, its head left out, each as its trimmed cells.
type Rows = Vec<Vec<String>>;

/// A scenario file.
struct Scenario {
    name: String,
    drive: String,
    /// Number, time [ns], operation, first sector as page.sector, sectors, latency [ns].
    requests: Rows,
    /// Time [ns], what, page.
    moves: Rows,
    /// Page, valid sectors, dirty sectors.
    slots: Rows,
    /// Counter, value.
    counters: Rows,
}

/// The first fenced block of a language.
fn block(text: &str, language: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("```{language}\n"))?;
    Some(rest.split_once("\n```")?.0.to_owned())
}

/// The tables below a heading, up to the next heading of its rank, one after another.
fn tables(text: &str, heading: &str) -> Rows {
    let below = text.split_once(&format!("\n## {heading}\n")).map_or("", |(_, below)| below);
    let section = below.split("\n## ").next().unwrap_or_default();
    let is_rule = |line: &str| line.starts_with("| ---");
    let lines: Vec<&str> = section.lines().filter(|line| line.starts_with('|')).collect();
    // The line above a rule is the head of a table.
    let heads: Vec<usize> = (1..lines.len()).filter(|&line| is_rule(lines[line])).map(|line| line - 1).collect();
    let rows = lines.iter().enumerate().filter(|(line, text)| !heads.contains(line) && !is_rule(text));
    rows.map(|(_, line)| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// A number with its thousands set apart.
fn number(cell: &str) -> u64 {
    let digits: String = cell.chars().filter(|letter| !matches!(letter, '_' | ' ' | ',')).collect();
    digits.parse().unwrap_or_else(|_| panic!("`{cell}` is no number"))
}

/// Sectors as `0-3, 7`; `none` for none.
fn mask(cell: &str) -> u32 {
    let range = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        (number(from)..=number(to)).fold(0, |mask, sector| mask | 1_u32 << sector)
    };
    if cell == "none" { 0 } else { cell.split(',').fold(0, |mask, part| mask | range(part)) }
}

impl Scenario {
    fn load(path: &PathBuf) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let text = std::fs::read_to_string(path).expect("a scenario file");
        let drive = block(&text, "toml").unwrap_or_else(|| panic!("{name} describes a drive"));
        let table = |heading| tables(&text, heading);
        Self {
            drive,
            requests: table("Requests"),
            moves: table("Moves"),
            slots: table("Slots"),
            counters: table("Counters"),
            name,
        }
    }

    fn request(&self, row: &[String], sectors_per_page: u64) -> Request {
        let op = match row[2].as_str() {
            "read" => Op::Read,
            "write" => Op::Write,
            "trim" => Op::Trim,
            "flush" => Op::Flush,
            other => panic!("{}: `{other}` is no operation", self.name),
        };
        let lba = match row[3].split_once('.') {
            Some((page, sector)) => number(page) * sectors_per_page + number(sector),
            None => 0,
        };
        Request {
            submitted: Ns(number(&row[1])),
            lba: Lba(lba),
            sectors: number(&row[4]) as u32,
            op,
            ..Request::default()
        }
    }

    fn run(&self) -> Device<Watched> {
        let request = json!({
            "drive": { "toml": self.drive }, "prefill": "full", "log_requests": true, "seed": 1,
        });
        let run = RunRequest::from_json(&request.to_string()).expect("a legal request");
        let table: toml::Table = self.drive.parse().expect("TOML");
        let sectors_per_page = match table["scm"]["slot_size"].as_str() {
            Some("4KiB") => 8,
            Some("16KiB") => 32,
            other => panic!("{}: slots of {other:?}", self.name),
        };
        let requests = self.requests.iter().map(|row| self.request(row, sectors_per_page)).collect();
        let plan = Plan::of_requests(&run, requests, Arrival::Open, 8).expect("a legal drive");
        let mut device = plan.into_device::<Watched>(Box::new(Moves::default())).expect("a prepared drive");
        device.run().unwrap_or_else(|error| panic!("{}: {error}", self.name));
        device
    }
}

/// What moves between the media, as (time [ns], what, page).
#[derive(Default)]
struct Moves(Vec<(u64, &'static str, u32)>);

impl Probe for Moves {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        let (what, page) = match event {
            Event::SlotTaken { page, .. } => ("takes a slot", page),
            Event::PageLeft { page, .. } => ("leaves its slot", page),
            Event::EvictionPlaced { lpa, .. } => ("goes to flash", lpa.0),
            Event::UnitSuperseded { lpa, .. } => ("is forgotten by flash", lpa.0),
            _ => return Ok(()),
        };
        self.0.push((view.now.0, what, page));
        Ok(())
    }
}

/// What the counters say, those of the tier by their names and those of the memory behind `scm.` or `storage_scm.`.
fn counters(device: &Device<Watched>) -> Value {
    let seen = device.seen();
    let tier = seen.tier.map(|part| *part.tier().counters()).unwrap_or_default();
    let mut all = serde_json::to_value(tier).expect("numbers");
    all["scm"] = serde_json::to_value(device.scm().counters(0)).expect("numbers");
    all["storage_scm"] = serde_json::to_value(device.scm().counters(1)).expect("numbers");
    all
}

/// Every slot in use as (page, valid, dirty), by page.
fn slots(device: &Device<Watched>) -> Vec<(u32, u32, u32)> {
    let seen = device.seen();
    let Some(part) = seen.tier else { return Vec::new() };
    let residency = part.tier().residency();
    let used = (0..residency.slots()).map(|slot| residency.slot(slot)).filter(|slot| slot.state != SlotState::Free);
    let mut used: Vec<_> = used.map(|slot| (slot.page, slot.valid, slot.dirty)).collect();
    used.sort_unstable();
    used
}

/// Runs a file and compares everything it says. Returns how many requests it has.
fn check(path: &PathBuf) -> usize {
    let scenario = Scenario::load(path);
    let name = &scenario.name;
    let device = scenario.run();
    let mut log: Vec<_> = device.request_log().iter().map(|entry| (entry.id, entry.latency.0)).collect();
    log.sort_unstable();
    let expected: Vec<_> = scenario.requests.iter().map(|row| (number(&row[0]) - 1, number(&row[5]))).collect();
    for (got, wanted) in log.iter().zip(&expected) {
        assert_eq!(got, wanted, "{name}: (request from 0, latency [ns])");
    }
    assert_eq!(log.len(), expected.len(), "{name}: requests");
    let wanted = scenario.moves.iter().map(|row| (number(&row[0]), row[1].as_str(), number(&row[2]) as u32));
    let moved = &device.probe::<Moves>().0;
    for (got, wanted) in moved.iter().zip(wanted) {
        assert_eq!(*got, wanted, "{name}: (time [ns], what, page)");
    }
    assert_eq!(moved.len(), scenario.moves.len(), "{name}: moves {moved:?}");
    let wanted: Vec<_> =
        scenario.slots.iter().map(|row| (number(&row[0]) as u32, mask(&row[1]), mask(&row[2]))).collect();
    assert_eq!(slots(&device), wanted, "{name}: (page, valid, dirty)");
    let counted = counters(&device);
    for row in &scenario.counters {
        let value = row[0].trim_matches('`').split('.').fold(&counted, |value, key| &value[key]);
        assert_eq!(value.as_u64(), Some(number(&row[1])), "{name}: {}", row[0]);
    }
    scenario.requests.len()
}

#[test]
fn scenarios_worked_out_by_hand_come_out_to_the_nanosecond() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let files = std::fs::read_dir(folder).expect("the folder of scenarios");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let failed: Vec<_> =
        files.iter().filter(|file| std::panic::catch_unwind(|| assert!(check(file) >= 10)).is_err()).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert!(files.len() >= 7, "one file for each placement");
}
