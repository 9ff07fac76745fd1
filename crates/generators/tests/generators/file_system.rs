//! The personalities of filebench: their mixes against their own workload files, and what reaches the disk.

use ninescope_generators::{FileOperations, FileSystem, FileSystemConfig, Personality};
use ninescope_kernel::Ns;
use ninescope_model::units::Bytes;
use ninescope_model::{Arrival, Op, Request, Workload};

const MIB: u64 = 1 << 20;

fn config(personality: Personality) -> FileSystemConfig {
    let name = toml::Value::try_from(personality).expect("a name");
    let text = format!("personality = {name}\ndisk_size = \"4GiB\"\npage_cache = \"16MiB\"\nrate_ops = 1000.0\n");
    toml::from_str(&text).expect("a legal description")
}

fn run(config: &FileSystemConfig, seed: u64, count: usize) -> (Vec<Request>, FileOperations, u32) {
    let mut system = FileSystem::new(config.clone(), seed).expect("a legal description");
    let out = (0..count).map(|_| system.next_request().expect("room").expect("endless")).collect();
    (out, system.operations(), system.existing_files())
}

/// Whether `part` of `whole` is `share` up to one operation of a flow that is not over.
fn is_share(part: u64, whole: u64, share: f64) -> bool {
    (part as f64 - whole as f64 * share).abs() <= 1.0
}

#[test]
fn operations_come_in_the_shares_of_their_flow() {
    let (_, file, existing) = run(&config(Personality::FileServer), 1, 100_000);
    let loops = file.whole_reads;
    assert!(loops > 2000);
    for part in [file.creates, file.whole_writes, file.appends, file.deletes, file.stats] {
        assert!(is_share(part, loops, 1.0), "{file:?}");
    }
    assert!((7_999..=8_001).contains(&existing), "80 % of 10 000 files, one more or less: {existing}");

    let (_, mail, existing) = run(&config(Personality::VarMail), 1, 100_000);
    for part in [mail.whole_reads, mail.appends, mail.syncs] {
        assert!((part as f64 - 2.0 * mail.deletes as f64).abs() <= 2.0, "{mail:?}");
    }
    assert!(is_share(mail.creates, mail.deletes, 1.0) && (799..=800).contains(&existing));

    let (_, web, existing) = run(&config(Personality::WebServer), 1, 20_000);
    assert!((web.whole_reads as f64 - 10.0 * web.appends as f64).abs() <= 10.0, "{web:?}");
    assert_eq!((existing, web.creates, web.deletes), (1000, 0, 0));

    let (_, oltp, _) = run(&config(Personality::Oltp), 1, 200_000);
    assert!((oltp.random_reads as f64 - oltp.random_writes as f64).abs() <= 1000.0, "{oltp:?}");
    assert_eq!(oltp.log_writes, oltp.random_reads / 3200);
}

#[test]
fn bytes_are_those_of_the_sizes_that_are_drawn() {
    let (_, web, _) = run(&config(Personality::WebServer), 1, 200_000);
    // The files that happen to exist: 1000 draws with a relative deviation of (1 / 1.5)^0.5 each.
    let mean = web.read_bytes as f64 / web.whole_reads as f64;
    assert!((mean / 16_384.0 - 1.0).abs() < 4.0 * 0.8165 / 1000_f64.sqrt(), "mean file {mean}");
    // An append is even up to 16 KiB: half of it on average, with a deviation of 1 / 3^0.5.
    let append = web.written_bytes as f64 / web.appends as f64;
    let tolerance = 4.0 / 3_f64.sqrt() / (web.appends as f64).sqrt();
    assert!((append / 8_192.5 - 1.0).abs() < tolerance, "mean append {append}");

    let (_, file, _) = run(&config(Personality::FileServer), 1, 100_000);
    let per_loop = file.written_bytes as f64 / file.whole_writes as f64;
    let expected = 131_072.0 + 8_192.5;
    let tolerance = 4.0 * 0.8165 / (file.whole_writes as f64).sqrt();
    assert!((per_loop / expected - 1.0).abs() < tolerance, "written in a loop: {per_loop}");

    let (_, oltp, _) = run(&config(Personality::Oltp), 1, 50_000);
    assert_eq!(oltp.read_bytes, oltp.random_reads * 2048);
    assert_eq!(oltp.written_bytes, oltp.random_writes * 2048 + oltp.log_writes * 256 * 1024);
}

#[test]
fn requests_lie_on_the_disk_in_the_order_of_their_times() {
    for personality in [Personality::FileServer, Personality::WebServer, Personality::VarMail, Personality::Oltp] {
        let (out, _, _) = run(&config(personality), 7, 50_000);
        assert!(out.is_sorted_by_key(|request| request.submitted) && out[49_999].submitted > Ns::ZERO);
        assert!(out.iter().all(|request| request.end() <= 4096 * MIB / 512), "{personality:?}");
        let longest = if personality == Personality::Oltp { 512 } else { 2048 };
        assert!(out.iter().all(|request| request.sectors <= longest && request.sectors.is_multiple_of(8)));
        assert!(out.iter().all(|request| (request.sectors == 0) == (request.op == Op::Flush)));
        let flushes = out.iter().filter(|request| request.op == Op::Flush).count();
        assert_eq!(flushes > 0, personality == Personality::VarMail, "{personality:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_requests_and_another_one_others() {
    let config = config(Personality::FileServer);
    assert_eq!(run(&config, 3, 20_000).0, run(&config, 3, 20_000).0);
    assert_ne!(run(&config, 3, 20_000).0, run(&config, 4, 20_000).0);
}

#[test]
fn a_page_cache_that_holds_the_files_leaves_only_writes() {
    let reads = |page_cache: u64| {
        let config = FileSystemConfig { page_cache: Bytes(page_cache * MIB), ..config(Personality::VarMail) };
        let (out, _, _) = run(&config, 1, 60_000);
        let reads = |part: &[Request]| part.iter().filter(|request| request.op == Op::Read).count() as f64;
        reads(&out[30_000..]) / 30_000.0
    };
    let (large, small) = (reads(256), reads(4));
    assert!(large < 0.001, "with room for all files: {large}");
    assert!(small > 0.2, "with room for a fifth of them: {small}");
}

#[test]
fn a_warm_page_cache_holds_the_files_from_the_beginning() {
    let reads = |warm: bool, page_cache: u64| {
        let size = Bytes(page_cache * MIB);
        let config = FileSystemConfig { warm, page_cache: size, ..config(Personality::VarMail) };
        run(&config, 1, 60_000).0.iter().filter(|request| request.op == Op::Read).count()
    };
    assert!(reads(false, 256) > 100, "files that are there are read for the first time");
    assert_eq!(reads(true, 256), 0);
    assert!(reads(true, 4) > 5_000, "what does not fit is not there");
}

#[test]
fn blocks_of_deleted_files_are_discarded_where_that_is_asked_for() {
    let trims = |discard: bool| {
        let config = FileSystemConfig { discard, ..config(Personality::FileServer) };
        run(&config, 1, 20_000).0.iter().filter(|request| request.op == Op::Trim).count()
    };
    assert!(trims(true) > 1000);
    assert_eq!(trims(false), 0);
}

#[test]
fn a_closed_loop_has_no_times_but_the_same_operations() {
    let config = FileSystemConfig { rate_ops: None, ..config(Personality::VarMail) };
    let system = FileSystem::new(config.clone(), 1).expect("legal");
    assert_eq!(system.arrival(), Arrival::Closed);
    assert!(run(&config, 1, 5000).0.iter().all(|request| request.submitted == Ns::ZERO));
}

#[test]
fn what_has_no_meaning_is_refused_with_its_key() {
    let problem = |config: FileSystemConfig| config.validate().expect_err("must be refused").to_string();
    let mail = || config(Personality::VarMail);
    for (key, config) in [
        ("file_system.files", FileSystemConfig { files: Some(0), ..mail() }),
        ("file_system.preallocated", FileSystemConfig { preallocated: Some(101), ..mail() }),
        ("file_system.gamma", FileSystemConfig { gamma: Some(0.5), ..mail() }),
        ("file_system.io_size", FileSystemConfig { io_size: Some(Bytes(0)), ..mail() }),
        ("file_system.page_cache", FileSystemConfig { page_cache: Bytes(4096), ..mail() }),
        ("file_system.dirty_background", FileSystemConfig { dirty_background: 0, ..mail() }),
        ("file_system.rate_ops", FileSystemConfig { rate_ops: Some(0.0), ..mail() }),
        ("file_system.iodepth", FileSystemConfig { iodepth: 0, ..mail() }),
        ("file_system.disk_size", FileSystemConfig { disk_size: Bytes(64 * MIB), ..mail() }),
    ] {
        assert!(problem(config.clone()).starts_with(key), "{}", problem(config));
    }
}

#[test]
fn a_workload_that_never_asks_the_disk_is_an_error_and_not_an_endless_loop() {
    let mut config = config(Personality::WebServer);
    config.page_cache = Bytes(1 << 30);
    config.log_size = Bytes(MIB);
    config.rate_ops = Some(1e9); // nothing is dirty for 30 s
    let mut system = FileSystem::new(config, 1).expect("legal");
    let error = loop {
        match system.next_request() {
            Ok(request) => assert!(request.is_some()),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.starts_with("file_system.page_cache: holds everything"), "{error}");
}
