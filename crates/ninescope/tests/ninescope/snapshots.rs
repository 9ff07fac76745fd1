//! A drive from a snapshot is the drive that was prepared, and no other file is taken for it.

use std::path::{Path, PathBuf};

use crate::policy_cases::cases;
use crate::support::{Scratch, data, data_text, finished, input_error, result_of, tiny_request};
use ninescope::{DrivePreparation, Error, Plan, PreparedDrive, RunRequest, SNAPSHOT_FORMAT, Shape};
use ninescope_kernel::{RunDigest, Snapshot};
use serde_json::{Value, json};

fn request(prefill: &str, sets: &[&str]) -> Value {
    let mut request = tiny_request(sets);
    request["workload"]["addresses"] = json!("wrap"); // some drives are smaller than the trace
    request["prefill"] = json!(prefill);
    request
}

/// The smallest drive there may be, whose file is short.
const TINIEST: [&str; 3] = ["geometry.blocks_per_plane=6", "geometry.pages_per_block=4", "ftl.over_provisioning=2.0"];

fn plan(request: &Value) -> Plan {
    Plan::new(&RunRequest::from_json(&request.to_string()).expect("a request")).expect("a run")
}

fn shape(request: &Value) -> Shape {
    plan(request).shape()
}

fn prepared(request: &Value) -> (Shape, PreparedDrive) {
    let mut plan = plan(request);
    (plan.shape(), plan.prepare().expect("the tiny drive"))
}

/// The state of a translation layer.
fn state(drive: &PreparedDrive) -> Vec<u8> {
    let mut bytes = Vec::new();
    drive.ftl.save(&mut bytes).expect("a quiet drive");
    bytes
}

fn file_of(shape: &Shape, drive: &PreparedDrive) -> Vec<u8> {
    drive.write(shape, Vec::new()).expect("memory takes everything")
}

/// Why bytes are not the drive of a shape.
fn refusal(shape: &Shape, bytes: &[u8]) -> Option<String> {
    PreparedDrive::read(shape, bytes).err().map(|refusal| refusal.to_string())
}

/// A result without what depends on the machine, and what that says about the snapshot.
fn compared(request: &Value) -> (Value, Value) {
    let mut result = result_of(request).expect("the tiny run");
    let performance = result.as_object_mut().and_then(|result| result.remove("performance")).expect("it is there");
    (result, performance["snapshot"].clone())
}

/// The only file in a folder.
fn only_file(folder: &Path) -> PathBuf {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

fn folder(scratch: &Scratch) -> PathBuf {
    scratch.file("marker", "").with_file_name("snapshots")
}

#[test]
fn a_run_from_a_snapshot_is_the_run_itself() {
    let scratch = Scratch::new("snapshot-run");
    for prefill in ["footprint", "full", "raw", "steady", "steady-uniform"] {
        let folder = folder(&scratch).join(prefill);
        let plain = request(prefill, &[]);
        let (without, nothing) = compared(&plain);
        assert!(nothing.is_null());
        let mut request = plain;
        request["snapshots"] = json!(folder);
        let (first, saved) = compared(&request);
        let (second, loaded) = compared(&request);
        assert_eq!(first, without, "{prefill}");
        assert_eq!(second, without, "{prefill}");
        let shape = shape(&request).hash().expect("a hash");
        assert_eq!(saved, json!({ "shape": shape, "loaded": false }));
        assert_eq!(loaded, json!({ "shape": shape, "loaded": true }));
        assert_eq!(only_file(&folder).file_name().expect("a name").to_string_lossy(), format!("{shape}.snapshot"));
    }
}

/// What was filled in order is said by the order: a file does not grow with the drive as its tables do.
#[test]
fn a_fill_of_a_large_drive_is_saved_in_few_bytes_and_runs_the_same() {
    const GIB: u64 = 1 << 30;
    let scratch = Scratch::new("snapshot-fill");
    let bytes_of = |blocks: u32, least: u64| {
        let folder = folder(&scratch).join(blocks.to_string());
        let mut request = json!({
            "drive": { "preset": "tlc" },
            "set": [format!("geometry.blocks_per_plane={blocks}")],
            "workload": { "job": { "rw": "randrw", "bs": "4k", "iodepth": 8 } },
            "requests": 500,
            "seed": 1,
            "prefill": "full",
        });
        assert!(u64::from(shape(&request).ftl.logical_units) * 4096 > least, "{blocks} blocks are no such drive");
        let (without, _) = compared(&request);
        request["snapshots"] = json!(folder);
        let (saving, saved) = compared(&request);
        let (loading, loaded) = compared(&request);
        assert_eq!((&saved["loaded"], &loaded["loaded"]), (&json!(false), &json!(true)));
        assert_eq!((&saving["digest"], &loading["digest"]), (&without["digest"], &without["digest"]));
        assert!(saving == without && loading == without, "another result");
        std::fs::metadata(only_file(&folder)).expect("a file").len()
    };
    let (small, large) = (bytes_of(64, 25 * GIB), bytes_of(512, 200 * GIB));
    assert!(small < 4_000 && large < 2 * small, "{small} bytes of 30 GiB, {large} of 240 GiB");
}

#[test]
fn every_policy_goes_on_from_a_snapshot_as_if_it_had_prepared() {
    for (case, setting) in cases().into_iter().filter(|(case, setting)| setting.has_flash(case)) {
        let mut request = setting.request(&case);
        request["workload"]["addresses"] = json!("wrap");
        // Blocks that bear few cycles do not live to be worn in.
        request["prefill"] = json!(if ["nand.wear_out", "nand.erase"].iter().any(|of| case.starts_with(of)) {
            "full"
        } else {
            "steady"
        });
        let (shape, drive) = prepared(&request);
        let again = PreparedDrive::read(&shape, &*file_of(&shape, &drive)).expect("what was written");
        assert_eq!(state(&again), state(&drive), "{case}");
        assert_eq!((again.written, &again.steady), (drive.written, &drive.steady), "{case}");
    }
}

#[test]
fn no_changed_byte_passes() {
    let (shape, drive) = prepared(&request("steady", &TINIEST));
    let bytes = file_of(&shape, &drive);
    assert!(bytes.len() > 800 && refusal(&shape, &bytes).is_none(), "{} bytes", bytes.len());
    for position in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[position] ^= change;
            let why = refusal(&shape, &changed);
            assert!(why.is_some_and(|why| !why.is_empty()), "byte {position} ^ {change:#x} passes");
        }
    }
}

#[test]
fn no_piece_of_a_file_passes() {
    let (shape, drive) = prepared(&request("full", &TINIEST));
    let bytes = file_of(&shape, &drive);
    for length in 0..bytes.len() {
        let why = refusal(&shape, &bytes[..length]).unwrap_or_else(|| panic!("{length} bytes of it pass"));
        let words = if length < 8 { "not a snapshot" } else { "cut off" };
        assert!(why.contains(words), "{length}: {why}");
    }
    let longer = [bytes.as_slice(), b"x"].concat();
    assert_eq!(refusal(&shape, &longer).as_deref(), Some("damaged: something follows its end"));
    assert_eq!(refusal(&shape, &[0; 64]).as_deref(), Some("not a snapshot of ninescope"));
}

#[test]
fn a_file_of_another_format_says_which() {
    let (shape, drive) = prepared(&request("full", &[]));
    let mut bytes = file_of(&shape, &drive);
    bytes[8..12].copy_from_slice(&7_u32.to_le_bytes());
    let check = crc32fast::hash(&bytes[..12]).to_le_bytes();
    bytes[12..16].copy_from_slice(&check);
    let why = refusal(&shape, &bytes).expect("it is refused");
    assert!(why.contains("format 7") && why.contains(&format!("format {SNAPSHOT_FORMAT}")), "{why}");
}

#[test]
fn what_preparing_depends_on_is_in_the_shape() {
    const ROOMY: &str = "geometry.blocks_per_plane=16";
    let wanted = request("full", &[ROOMY]);
    let (shape, drive) = prepared(&wanted);
    let bytes = file_of(&shape, &drive);
    for (set, words) in [
        ("geometry.channels=1", "ftl.geometry.channels is 2 there and 1 here"),
        ("geometry.blocks_per_plane=32", "ftl.geometry.blocks_per_plane"),
        ("ftl.over_provisioning=0.5", "ftl.logical_units"),
        ("ftl.mapping_unit=16KiB", "ftl.geometry.mapping_unit"),
        ("ftl.superblock={dies=2}", "ftl.geometry.superblock"),
        ("ftl.gc_reserve_blocks=2", "ftl.reserve_groups"),
        ("ftl.victim=fifo", "ftl.victim_selection.policy"),
        ("ftl.page_allocation=static", "ftl.page_allocation.policy"),
        ("ftl.free_block_choice=least-worn", "ftl.free_block_choice.policy"),
        ("ftl.gc_trigger={policy=\"free-groups\",beyond_reserve=2}", "ftl.gc_trigger.beyond_reserve"),
    ] {
        let why = refusal(&self::shape(&request("full", &[ROOMY, set])), &bytes).expect(set);
        assert!(why.starts_with("a snapshot of another drive: ") && why.contains(words), "{set}: {why}");
    }
    let mut seeded = wanted.clone();
    seeded["seed"] = json!(9);
    let why = refusal(&self::shape(&seeded), &bytes).expect("another seed");
    assert!(why.contains("ftl.seed is 1 there and 9 here"), "{why}");
    let why = refusal(&self::shape(&request("raw", &[ROOMY])), &bytes).expect("another recipe");
    assert!(why.contains("prefill is \"full\" there and \"raw\" here"), "{why}");
    let mut shuffled = wanted.clone();
    shuffled["prefill_order"] = json!("random");
    let why = refusal(&self::shape(&shuffled), &bytes).expect("another order");
    assert!(why.contains("recipe.fill_order is null there and \"random\" here"), "{why}");
}

#[test]
fn a_footprint_is_part_of_the_shape() {
    let of_job = |size: &str, rw: &str| {
        let mut request = request("footprint", &[]);
        request["workload"] = json!({ "job": { "rw": rw, "size": size, "requests": 10 } });
        shape(&request).hash().expect("a hash")
    };
    assert_eq!(of_job("1MiB", "randread"), of_job("1MiB", "read"), "the same units are read");
    assert_ne!(of_job("1MiB", "randread"), of_job("2MiB", "randread"));
    let steady = |workload: Value| {
        let mut request = request("steady-uniform", &[]);
        request["workload"] = workload;
        shape(&request).hash().expect("a hash")
    };
    let job = json!({ "job": { "rw": "read", "size": "1MiB", "requests": 10 } });
    assert_eq!(steady(job), steady(json!({ "trace": data("tiny.csv") })), "a full drive is full whoever reads it");
}

/// What never reaches preparing: drives that differ in these alone share a snapshot.
const NOT_IN_THE_SHAPE: [&str; 23] = [
    "nand.read=99us",
    "nand.program=999us",
    "nand.program_pulses=7",
    "nand.erase_loop=9ms",
    "nand.erase_loops=5",
    "nand.command_address=3us",
    "nand.suspend_recover=10us",
    "nand.resume_ramp=10us",
    "nand.read_any_block=true",
    "nand.endurance_cycles=10",
    "nand.initial_cycles=700",
    "nand.channel_rate=123MB/s",
    "nand.errors=constant",
    "nand.initial_age=30d",
    "nand.ecc=bch",
    "controller.queue_depth=3",
    "controller.link_rate=99MB/s",
    "controller.command_cost=9us",
    "controller.write_completion=program",
    "scheduler.multi_plane=false",
    "scheduler.suspend=every-safe-point",
    "ftl.gc_pages_in_flight=1",
    "ftl.gc_copybacks=2",
];

#[test]
fn what_preparing_does_not_depend_on_shares_a_snapshot() {
    let scratch = Scratch::new("snapshot-shared");
    let folder = folder(&scratch);
    let mut first = request("steady", &[]);
    first["snapshots"] = json!(folder);
    assert_eq!(compared(&first).1["loaded"], json!(false));
    let mut digests = std::collections::BTreeSet::new();
    for set in NOT_IN_THE_SHAPE {
        // Bits that fail need a code, or nothing comes of them.
        let sets: Vec<&str> = if set.starts_with("nand.errors") { vec!["nand.ecc=bch", set] } else { vec![set] };
        let plain = request("steady", &sets);
        let mut request = plain.clone();
        request["snapshots"] = json!(folder);
        let (with, snapshot) = compared(&request);
        assert_eq!(snapshot["loaded"], json!(true), "{set}");
        assert_eq!(with, compared(&plain).0, "{set}");
        digests.insert(with["digest"].to_string());
    }
    only_file(&folder);
    assert!(digests.len() > 10, "the runs differ: {}", digests.len());
}

#[test]
fn a_damaged_file_in_a_folder_is_told_prepared_anew_and_replaced() {
    let scratch = Scratch::new("snapshot-damaged");
    let folder = folder(&scratch);
    let mut request = request("steady", &[]);
    let (without, _) = compared(&request);
    request["snapshots"] = json!(folder);
    compared(&request);
    let file = only_file(&folder);
    let good = std::fs::read(&file).expect("the snapshot");
    let foreign = {
        let (shape, drive) = prepared(&self::request("full", &[]));
        file_of(&shape, &drive)
    };
    for (bytes, words) in [
        (good[..good.len() / 2].to_vec(), "cut off"),
        (b"something else".to_vec(), "not a snapshot"),
        (foreign, "another drive"),
        (Vec::new(), "not a snapshot"),
    ] {
        std::fs::write(&file, bytes).expect("it can be written");
        let mut simulation = finished(&request).expect("the run");
        let report = simulation.snapshot().expect("a report").clone();
        assert!(!report.loaded && report.saved && report.path == file, "{report:?}");
        assert!(report.problem.is_some_and(|problem| problem.contains(words)), "{words}");
        let mut result: Value = serde_json::from_str(&simulation.result_json(true).expect("a result")).expect("JSON");
        result.as_object_mut().expect("an object").remove("performance");
        assert_eq!(result, without);
        assert_eq!(std::fs::read(only_file(&folder)).expect("the snapshot"), good);
    }
}

#[test]
fn a_snapshot_that_cannot_be_kept_does_not_end_the_run() {
    let scratch = Scratch::new("snapshot-unkept");
    let folder = folder(&scratch);
    let mut request = request("full", &[]);
    let (without, _) = compared(&request);
    request["snapshots"] = json!(folder);
    // A directory has its name.
    let name = format!("{}.snapshot", shape(&request).hash().expect("a hash"));
    std::fs::create_dir_all(folder.join(name).join("inside")).expect("a folder");
    let simulation = finished(&request).expect("the run");
    let report = simulation.snapshot().expect("a report").clone();
    assert!(!report.loaded && !report.saved, "{report:?}");
    assert!(report.problem.is_some_and(|problem| problem.contains("cannot write")));
    only_file(&folder); // and nothing half-written
    assert_eq!(compared(&request).0, without);
}

#[test]
fn what_a_killed_process_left_is_removed_a_day_later() {
    let scratch = Scratch::new("snapshot-parts");
    let folder = folder(&scratch);
    std::fs::create_dir_all(&folder).expect("a folder");
    let write = |name: &str, days: u64| {
        let path = folder.join(name);
        let file = std::fs::File::create(&path).expect("a file");
        let then = std::time::SystemTime::now() - std::time::Duration::from_secs(days * 24 * 3600 + 60);
        file.set_modified(then).expect("a time");
        path
    };
    let (old, new, other) =
        (write(".a.snapshot.1-0.part", 1), write(".a.snapshot.2-0.part", 0), write(".other.part", 9));
    let mut request = request("full", &[]);
    request["snapshots"] = json!(folder);
    compared(&request);
    assert!(!old.exists() && new.exists() && other.exists());
}

#[test]
fn threads_that_share_a_folder_do_each_other_no_harm() {
    let scratch = Scratch::new("snapshot-threads");
    let folder = folder(&scratch);
    let (without, _) = compared(&request("steady", &[]));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut request = request("steady", &[]);
                request["snapshots"] = json!(folder);
                for _ in 0..5 {
                    let mut simulation = finished(&request).expect("the run");
                    let report = simulation.snapshot().expect("a report");
                    assert!(report.problem.is_none() && (report.loaded || report.saved), "{report:?}");
                    let text = simulation.result_json(true).expect("a result");
                    let result: Value = serde_json::from_str(&text).expect("JSON");
                    assert_eq!(result["digest"], without["digest"]);
                }
            });
        }
    });
    only_file(&folder);
}

#[test]
fn a_file_that_is_named_must_be_the_drive() {
    let scratch = Scratch::new("snapshot-named");
    let plain = request("steady", &[]);
    let asked = RunRequest::from_json(&plain.to_string()).expect("a request");
    let mut preparation = DrivePreparation::new(&asked).expect("a drive to prepare");
    let file = scratch.file("worn.snapshot", "an earlier file");
    assert!(matches!(preparation.save(&file), Err(Error::Internal(_))), "not before it is ready");
    while !preparation.advance(std::time::Duration::from_millis(1)).expect("the tiny drive").finished {}
    preparation.save(&file).expect("a writable file");
    let from = |mut request: Value| {
        request["from_snapshot"] = json!(file);
        request
    };
    let (with, snapshot) = compared(&from(plain.clone()));
    assert_eq!(with, compared(&plain).0);
    assert_eq!(snapshot["loaded"], json!(true));
    for (request, words) in [
        (request("full", &[]), "worn.snapshot: a snapshot of another drive: prefill is \"steady\" there"),
        (request("steady", &["geometry.blocks_per_plane=32"]), "ftl.geometry.blocks_per_plane is"),
        (request("none", &[]), "worn.snapshot: nothing is prepared for this run"),
    ] {
        let message = input_error(&from(request));
        assert!(message.contains(words), "{message}");
    }
    let mut both = from(plain.clone());
    both["snapshots"] = json!(folder(&scratch));
    assert!(input_error(&both).contains("not both"));
    let mut absent = plain;
    absent["from_snapshot"] = json!(file.with_file_name("no.snapshot"));
    assert!(input_error(&absent).contains("no.snapshot: No such file"));
}

#[test]
fn a_folder_that_cannot_be_is_refused_before_anything_is_prepared() {
    let scratch = Scratch::new("snapshot-no-folder");
    let mut request = request("steady", &[]);
    request["snapshots"] = json!(scratch.file("file", "").join("below"));
    let message = input_error(&request);
    assert!(message.starts_with("snapshots: cannot use ") && message.contains("file"), "{message}");
    request["snapshots"] = json!("");
    assert!(input_error(&request).contains("empty"));
}

#[test]
fn what_needs_no_preparing_has_no_snapshot() {
    let scratch = Scratch::new("snapshot-nothing");
    let folder = folder(&scratch);
    let mut none = request("none", &[]);
    none["snapshots"] = json!(folder);
    let mut scm = request("full", &[]);
    scm["drive"] = json!({ "file": data("tiny-scm.toml") });
    scm["snapshots"] = json!(folder);
    for request in [none, scm] {
        assert!(compared(&request).1.is_null());
        assert!(!folder.exists());
        let asked = RunRequest::from_json(&request.to_string()).expect("a request");
        assert!(matches!(DrivePreparation::new(&asked), Err(Error::Input(message)) if message.contains("nothing")));
    }
}

#[test]
fn drives_of_two_media_and_behind_a_cache_are_kept_too() {
    let scratch = Scratch::new("snapshot-kinds");
    let mut tier = request("full", &["tier.placement=wo-dm"]);
    tier["drive"] = json!({ "file": data("tiny-tier.toml") });
    let mut cached = request("full", &["ftl.streams=clean-apart"]);
    cached["drive"] = json!({ "file": data("tiny-coded.toml") });
    cached["workload"]["host_cache"] = json!(data("tiny-cache.toml"));
    for (name, plain) in [("tier", tier), ("cached", cached)] {
        let mut request = plain.clone();
        request["snapshots"] = json!(folder(&scratch).join(name));
        let without = compared(&plain).0;
        assert_eq!(compared(&request).0, without, "{name}");
        let (with, snapshot) = compared(&request);
        assert_eq!(snapshot["loaded"], json!(true), "{name}");
        assert_eq!(with, without, "{name}");
    }
}

const PREPARED: &str = "prepared.txt";

/// Golden: what a shape is prepared to. `NINESCOPE_BLESS=1 cargo test -p ninescope --test ninescope snapshots` renews it, once the
/// format was raised: files that were written before must not be taken for what is prepared now.
#[test]
fn a_shape_is_prepared_to_the_same_drive_as_ever() {
    use std::fmt::Write;

    let mut now = format!("format {SNAPSHOT_FORMAT}\n");
    let cases = [
        ("footprint", "ftl.victim=greedy"),
        ("full", "ftl.victim=greedy"),
        ("raw", "ftl.victim=greedy"),
        ("steady-uniform", "ftl.victim=greedy"),
        ("steady-uniform", "ftl.victim=fifo"),
        ("steady-composed", "ftl.victim=greedy"),
        ("steady-composed", "ftl.victim=fifo"),
        ("steady-composed", "ftl.page_allocation=static"),
        ("steady-uniform", "ftl.victim=random"),
        ("steady-uniform", "ftl.victim=d-choices"),
        ("steady-uniform", "ftl.page_allocation=static"),
        ("steady-uniform", "ftl.free_block_choice=least-worn"),
        ("steady-uniform", "ftl.frontier_planes=1"),
        ("steady-uniform", "ftl.mapping_unit=512B"),
        ("steady", "ftl.victim=greedy"),
        ("steady", "ftl.mapping_unit=16KiB"),
        ("steady-uniform", "ftl.victim=random-invalid"),
    ];
    for (prefill, set) in cases {
        let mut digest = RunDigest::default();
        for byte in state(&prepared(&request(prefill, &[set])).1) {
            digest.word(u64::from(byte));
        }
        writeln!(now, "{prefill} {set} {}", digest.to_hex()).expect("a string grows");
    }
    let before = std::fs::read_to_string(data(PREPARED)).unwrap_or_default();
    if std::env::var_os("NINESCOPE_BLESS").is_some() && before != now {
        let same_format = before.lines().next() == now.lines().next();
        assert!(!same_format, "raise FORMAT in crates/ninescope/src/snapshot/shape.rs first");
        std::fs::write(data(PREPARED), &now).expect("tests/data can be written");
    }
    assert_eq!(data_text(PREPARED), now, "what is prepared changed: raise FORMAT, then renew with NINESCOPE_BLESS=1");
}

/// A coded drive whose bits fail by a law of age alone, and whose code corrects them all.
fn ageing_request(sets: &[&str]) -> Value {
    let errors = r#"nand.errors={policy="power-law",floor=0.0,cycles_factor=0.0,reads_factor=0.0,retention_factor=2e-4,retention_cycles_exponent=0.0,retention_exponent=1.0}"#;
    let sets: Vec<&str> = [errors, "nand.ecc.correctable=60"].iter().chain(sets).copied().collect();
    let mut request = request("full", &sets);
    request["drive"] = json!({ "toml": data_text("tiny-coded.toml").replace("initial_age = \"30d\"\n", "") });
    request
}

#[test]
fn a_drive_from_a_shelf_is_one_whose_data_was_as_old_at_the_start() {
    let scratch = Scratch::new("snapshot-shelf");
    let fresh = scratch.file("fresh.snapshot", "");
    let (shape, drive) = prepared(&ageing_request(&[]));
    drive.save(&shape, &fresh).expect("a file");
    let shelved = |from: &Path, name: &str, time: &str, celsius: Option<f64>| {
        let to = fresh.with_file_name(name);
        ninescope::shelve_snapshot(from, &to, time, celsius).expect("a shelf");
        to
    };
    let run = |file: &Path, sets: &[&str]| {
        let mut request = ageing_request(sets);
        request["from_snapshot"] = json!(file);
        let (result, _) = compared(&request);
        (result["digest"].clone(), result["reliability"]["codes"]["nand"]["corrected_bits"].as_u64().expect("a count"))
    };
    let week = shelved(&fresh, "week.snapshot", "7d", None);
    let old = run(&fresh, &["nand.initial_age=7d"]);
    assert_eq!(run(&week, &[]), old);
    assert!(run(&fresh, &[]) != old && old.1 > 1_000, "age does something: {old:?}");
    // What a drive was before is added, and so are two shelves.
    let twice = shelved(&week, "twice.snapshot", "3d", None);
    assert_eq!(run(&twice, &[]), run(&fresh, &["nand.initial_age=10d"]));
    assert_eq!(run(&week, &["nand.initial_age=3d"]), run(&fresh, &["nand.initial_age=10d"]));
    // A bake is as much older as Arrhenius says: as if it had been stored so warm.
    let baked = shelved(&fresh, "baked.snapshot", "7h", Some(66.0));
    let warm = ["nand.temperature={running=40.0}"];
    let stored = ["nand.initial_age=7h", "nand.temperature={running=40.0,stored=66.0}"];
    let bits = run(&baked, &warm);
    assert_eq!(bits, run(&fresh, &stored));
    // The bits that fail grow by age: 7 h x 22.76 are 6.64 days instead of 7.
    let expected = old.1 as f64 * 22.76 / 24.0;
    assert!((bits.1 as f64 / expected - 1.0).abs() < 0.05, "{bits:?} for {expected}");
    let notes = {
        let mut request = ageing_request(&warm);
        request["from_snapshot"] = json!(baked);
        compared(&request).0["notes"].to_string()
    };
    assert!(notes.contains("lay without power for 7h at 66 C"), "{notes}");
}

#[test]
fn what_shelves_cannot_do_is_refused_by_option_or_file() {
    let scratch = Scratch::new("snapshot-shelf-refused");
    let fresh = scratch.file("fresh.snapshot", "");
    let (shape, drive) = prepared(&ageing_request(&[]));
    drive.save(&shape, &fresh).expect("a file");
    let to = fresh.with_file_name("old.snapshot");
    for (time, celsius, wanted) in [
        ("0s", None, "--for 0s"),
        ("long", None, "--for long"),
        ("101y", None, "--for 101y"),
        ("36501d", None, "100 years at most"),
        ("1d", Some(151.0), "--at 151"),
        ("1d", Some(f64::NAN), "--at NaN"),
    ] {
        let error = ninescope::shelve_snapshot(&fresh, &to, time, celsius).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
        assert!(!to.exists());
    }
    let other = scratch.file("other.snapshot", "no drive");
    let error = ninescope::shelve_snapshot(&other, &to, "1d", None).expect_err("no snapshot").to_string();
    assert!(error.contains("other.snapshot: not a snapshot"), "{error}");
    // A temperature says nothing to a drive that has none.
    ninescope::shelve_snapshot(&fresh, &to, "1d", Some(30.0)).expect("a shelf");
    let mut request = ageing_request(&[]);
    request["from_snapshot"] = json!(to);
    let message = input_error(&request);
    assert!(message.contains("30 degrees Celsius") && message.contains("give nand.temperature"), "{message}");
    // No run finds it by its shape.
    let folder = folder(&scratch);
    let mut request = ageing_request(&[]);
    request["snapshots"] = json!(folder);
    let (first, _) = compared(&request);
    let kept = only_file(&folder);
    std::fs::copy(&to, &kept).expect("a copy");
    let (second, said) = compared(&request);
    assert_eq!((first, &said["loaded"]), (second, &json!(false)), "it was prepared anew");
}
