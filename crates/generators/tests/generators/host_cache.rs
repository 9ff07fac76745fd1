//! The host cache against hand-computed sequences, exact hit ratios, and a naive model of the same rules.

use ninescope_generators::host_cache::{InitialContent, Replacement};
use ninescope_generators::{HostCache, HostCacheConfig};
use ninescope_kernel::{Ns, RandomStream, Zipf};
use ninescope_model::units::{Bytes, Duration};
use ninescope_model::{Arrival, CacheHint, HostCacheStatistics, Lba, Op, Request, Workload, WorkloadError};
use ninescope_oracles::caches::{che_lru, gelenbe_fifo, king_lru, zipf};
use proptest::prelude::*;

use crate::naive_cache::{NaiveCache, Told};

const BLOCK: u64 = 4096;
const SECTORS: u64 = BLOCK / 512;
const MS: u64 = 1_000_000;

/// Disk requests of a list.
struct Disk {
    requests: std::vec::IntoIter<Request>,
    arrival: Arrival,
}

impl Workload for Disk {
    fn arrival(&self) -> Arrival {
        self.arrival
    }

    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        Ok(self.requests.next())
    }
}

fn config(ways: u32, sets: u32) -> HostCacheConfig {
    HostCacheConfig { size: Some(Bytes(u64::from(ways * sets) * BLOCK)), ways, ..HostCacheConfig::default() }
}

fn run_as(config: &HostCacheConfig, requests: &[Request], arrival: Arrival) -> (Vec<Request>, HostCacheStatistics) {
    let listed: Vec<Request> = requests.into();
    let disk = Disk { requests: listed.into_iter(), arrival };
    let mut cache = HostCache::new(config.clone(), 1 << 40, Box::new(disk)).expect("a legal cache");
    let mut out = Vec::new();
    while let Some(request) = cache.next_request().expect("a list has no errors") {
        out.push(request);
    }
    (out, *cache.host_cache().expect("a cache has statistics"))
}

fn run(config: &HostCacheConfig, requests: &[Request]) -> (Vec<Request>, HostCacheStatistics) {
    run_as(config, requests, Arrival::Open)
}

/// A request for whole blocks.
fn blocks(at: u64, op: Op, block: u64, count: u64) -> Request {
    let sectors = (count * SECTORS) as u32;
    Request { submitted: Ns(at), lba: Lba(block * SECTORS), sectors, op, ..Request::default() }
}

/// What came out, as (time [ms], hint, place).
fn told(out: &[Request]) -> Vec<(u64, &'static str, u64)> {
    let name = |request: &Request| {
        if request.remark.hint() == CacheHint::None { request.op.name() } else { request.remark.hint().name() }
    };
    out.iter().map(|request| (request.submitted.0 / MS, name(request), request.lba.0 / SECTORS)).collect()
}

/// Two sets of four ways: blocks 0..4, 8..12 and so on share set 0. One block of a set may be dirty.
fn small() -> HostCacheConfig {
    HostCacheConfig {
        dirty_threshold: 25,
        fallow_delay: Duration(1000 * MS),
        disk_read_latency: Duration(5 * MS),
        disk_write_latency: Duration(10 * MS),
        ..config(4, 2)
    }
}

#[test]
fn a_dozen_requests_by_hand() {
    let (read, write) = (Op::Read, Op::Write);
    let requests = [
        blocks(0, read, 0, 1),         // miss, into place 0
        blocks(2 * MS, read, 0, 1),    // on its way: asks nobody
        blocks(6 * MS, read, 0, 1),    // hit
        blocks(10 * MS, write, 1, 2),  // places 1 and 2: over the threshold of one, block 1 goes first
        blocks(12 * MS, write, 1, 1),  // written while it is being written back
        blocks(14 * MS, write, 4, 1),  // set 1, place 4
        blocks(40 * MS, read, 8, 1),   // set 0, the last free place, 3
        blocks(50 * MS, read, 9, 1),   // set 0 is full: first in is place 0
        blocks(60 * MS, read, 0, 1),   // it is gone; place 1 is dirty, place 2 goes
        blocks(70 * MS, read, 4, 1),   // hit
        blocks(600 * MS, read, 4, 1),  // hit: set 1 is looked at after 1 s, 2 s, ...
        blocks(4000 * MS, read, 4, 1), // hit; set 0 was looked at after 0.5 s, 1.5 s, ...
    ];
    let (out, statistics) = run(&small(), &requests);
    let expected = [
        (5, "clean_write", 0),
        (6, "host_read", 0),
        (10, "dirty_write", 1),
        (10, "dirty_write", 2),
        (10, "flush_read", 1),
        (12, "dirty_write", 1),
        (14, "dirty_write", 4),
        (20, "flush_read", 2), // block 1 is still dirty, and there is one too many
        (45, "clean_write", 3),
        (55, "clean_write", 0),
        (65, "clean_write", 2),
        (70, "host_read", 4),
        (600, "host_read", 4),
        (1500, "flush_read", 1),
        (2000, "flush_read", 4),
        (4000, "host_read", 4),
    ];
    assert_eq!(told(&out), expected.to_vec());
    assert_eq!(statistics.joined_reads, 1);
}

#[test]
fn what_a_write_overtakes_is_not_written_again() {
    let requests = [blocks(0, Op::Read, 0, 1), blocks(MS, Op::Write, 0, 1), blocks(9 * MS, Op::Read, 0, 1)];
    let (out, statistics) = run(&small(), &requests);
    assert_eq!(told(&out), vec![(1, "dirty_write", 0), (9, "host_read", 0)]);
    assert_eq!((statistics.overtaken_reads, statistics.clean_writes, statistics.disk_reads), (1, 0, 1));
}

#[test]
fn parts_of_blocks_go_past_the_cache_and_take_cached_blocks_with_them() {
    let part = |at: u64, op| Request { lba: Lba(SECTORS + 1), sectors: 2, ..blocks(at * MS, op, 0, 1) };
    let requests = [blocks(0, Op::Write, 1, 1), part(1, Op::Read), blocks(2 * MS, Op::Write, 1, 1), part(3, Op::Write)];
    let (out, statistics) = run(&HostCacheConfig { trim: true, ..small() }, &requests);
    let pair = |at: u64| [(at, "dirty_write", 0), (at + 1, "flush_read", 0), (at + 1, "trim", 0)];
    assert_eq!(told(&out), [pair(0), pair(2)].concat());
    assert_eq!((statistics.uncached_reads, statistics.uncached_writes, statistics.valid_blocks), (1, 1, 0));
}

#[test]
fn a_set_that_cannot_be_written_back_in_time_sends_writes_past_the_cache() {
    let config = HostCacheConfig { clean_ios_set: 1, ..small() };
    let writes: Vec<Request> = (0..6).map(|index| blocks(index, Op::Write, index % 4 + index / 4 * 8, 1)).collect();
    let (out, statistics) = run(&config, &writes);
    assert_eq!(statistics.uncached_writes, 2, "blocks 8 and 9 find a set of four dirty blocks");
    assert_eq!(statistics.dirty_blocks_max, 4);
    assert_eq!(told(&out).iter().filter(|(_, what, _)| *what == "dirty_write").count(), 4);
}

#[test]
fn flushes_and_discards_reach_the_drive_only_where_that_is_asked_for() {
    let flush = Request { submitted: Ns(MS), op: Op::Flush, ..Request::default() };
    let requests = [blocks(0, Op::Write, 0, 2), flush, blocks(2 * MS, Op::Trim, 0, 1)];
    let quiet = told(&run(&small(), &requests).0);
    assert!(quiet.iter().all(|(_, what, _)| !matches!(*what, "flush" | "trim")), "{quiet:?}");
    let loud = told(&run(&HostCacheConfig { flush: true, trim: true, ..small() }, &requests).0);
    assert_eq!(loud.iter().filter(|(_, what, _)| matches!(*what, "flush" | "trim")).count(), 2, "{loud:?}");
}

#[test]
fn a_closed_loop_has_the_clock_of_its_nominal_rate() {
    let config = HostCacheConfig { nominal_iops: 100.0, ..small() };
    let open: Vec<Request> = (0..40).map(|index| blocks(index * 10 * MS, Op::Write, index % 5, 1)).collect();
    let closed: Vec<Request> = open.iter().map(|request| Request { submitted: Ns::ZERO, ..*request }).collect();
    let (opened, _) = run_as(&config, &open, Arrival::Open);
    let (out, statistics) = run_as(&config, &closed, Arrival::Closed);
    assert!(statistics.flush_reads > 0 && out.iter().all(|request| request.submitted == Ns::ZERO));
    let untimed: Vec<Request> = opened.iter().map(|request| Request { submitted: Ns::ZERO, ..*request }).collect();
    assert_eq!(out, untimed);
}

/// The hit ratio of reads drawn by Zipf's law from `items` blocks, in one set of `slots`.
fn measured(replacement: Replacement, items: u64, exponent: f64, slots: u32, reads: u64) -> f64 {
    let config = HostCacheConfig { replacement, disk_read_latency: Duration(0), ..config(slots, 1) };
    let law = Zipf::new(items, exponent);
    let mut stream = RandomStream::new(5, "host cache", "reads");
    let requests: Vec<Request> = (0..reads).map(|index| blocks(index, Op::Read, law.draw(&mut stream), 1)).collect();
    let (_, statistics) = run(&config, &requests);
    statistics.read_hits as f64 / statistics.reads as f64
}

#[test]
fn hit_ratios_of_few_blocks_are_exact() {
    for exponent in [0.0, 0.8, 1.2] {
        for slots in [1, 2, 3, 5] {
            let popularity = zipf(7, exponent);
            let exact = [
                (Replacement::Lru, king_lru(&popularity, slots as usize)),
                (Replacement::Fifo, gelenbe_fifo(&popularity, slots as usize)),
            ];
            for (replacement, exact) in exact {
                let hits = measured(replacement, 7, exponent, slots, 200_000);
                // Four standard deviations of independent draws, twice as many for correlated hits.
                assert!((hits - exact).abs() < 0.009, "{replacement:?} {exponent} {slots}: {hits} and {exact}");
            }
        }
    }
}

#[test]
fn hit_ratios_of_many_blocks_are_those_of_che() {
    for (exponent, slots) in [(0.8, 512), (1.0, 512), (1.0, 2048)] {
        let expected = che_lru(&zipf(10_000, exponent), slots as usize);
        let hits = measured(Replacement::Lru, 10_000, exponent, slots, 400_000);
        assert!((hits - expected).abs() < 0.01, "{exponent} {slots}: {hits} and {expected}");
    }
}

#[test]
fn a_full_cache_holds_the_first_blocks_of_the_disk() {
    let config = HostCacheConfig { initial: InitialContent::Full, ..config(4, 2) };
    let (out, statistics) = run(&config, &[blocks(0, Op::Read, 0, 9)]);
    let places: Vec<u64> = told(&out[..8]).iter().map(|&(_, _, place)| place).collect();
    assert_eq!(places, (0..8).collect::<Vec<u64>>());
    assert_eq!((statistics.read_hits, statistics.disk_reads, statistics.evictions), (8, 1, 1));
}

#[test]
fn what_has_no_meaning_is_refused_with_its_key() {
    let problem = |config: HostCacheConfig| config.validate(1 << 30).expect_err("must be refused").to_string();
    let good = || config(512, 4);
    let size = |bytes: u64| problem(HostCacheConfig { size: Some(Bytes(bytes)), ..good() });
    assert!(size(2 << 30).starts_with("host_cache.size: 2GiB is more than the drive"), "{}", size(2 << 30));
    assert!(size(0).starts_with("host_cache.size: 0 "), "{}", size(0));
    assert!(size(3 << 20).contains("not a multiple of a set of 512 blocks of 4KiB (2MiB)"), "{}", size(3 << 20));
    for (key, config) in [
        ("host_cache.block", HostCacheConfig { block: Bytes(1000), ..good() }),
        ("host_cache.ways", HostCacheConfig { ways: 0, ..good() }),
        ("host_cache.ways", HostCacheConfig { ways: 65_535, block: Bytes(1 << 20), size: None, ..good() }),
        ("host_cache.dirty_threshold", HostCacheConfig { dirty_threshold: 101, ..good() }),
        ("host_cache.clean_ios_set", HostCacheConfig { clean_ios_set: 0, ..good() }),
        ("host_cache.clean_ios_total", HostCacheConfig { clean_ios_total: 70_000, ..good() }),
        ("host_cache.fallow_delay", HostCacheConfig { fallow_delay: Duration(u64::MAX), ..good() }),
        ("host_cache.nominal_iops", HostCacheConfig { nominal_iops: f64::NAN, ..good() }),
    ] {
        assert!(problem(config.clone()).starts_with(key), "{}", problem(config));
    }
}

prop_compose! {
    /// Few blocks, short latencies and close requests, so that everything meets everything.
    fn caches()(
        ways in 1_u32..6,
        sets in 1_u32..4,
        lru: bool,
        full: bool,
        trim: bool,
        dirty_threshold in prop::sample::select(vec![0_u8, 20, 40, 100]),
        fallow in prop::sample::select(vec![0_u64, 30, 200]),
        (clean_ios_set, clean_ios_total) in (1_u32..3, 1_u32..4),
        (read, write) in (0_u64..20, 0_u64..20),
    ) -> HostCacheConfig {
        HostCacheConfig {
            replacement: if lru { Replacement::Lru } else { Replacement::Fifo },
            initial: if full { InitialContent::Full } else { InitialContent::Empty },
            dirty_threshold,
            fallow_delay: Duration(fallow),
            clean_ios_set,
            clean_ios_total,
            disk_read_latency: Duration(read),
            disk_write_latency: Duration(write),
            trim,
            ..config(ways, sets)
        }
    }
}

prop_compose! {
    fn disk_requests()(
        drawn in prop::collection::vec((0_u64..12, 0_u8..10, 0_u64..20, 1_u64..5, 0_u8..8), 1..120),
    ) -> Vec<Request> {
        let mut now = 0;
        drawn.into_iter().map(|(gap, op, block, count, part)| {
            now += gap;
            let op = match op {
                0 => Op::Trim,
                1..=4 => Op::Read,
                _ => Op::Write,
            };
            let mut request = blocks(now, op, block, count);
            if part == 0 {
                request.lba.0 += 3; // begins and ends within a block
            }
            request
        }).collect()
    }
}

fn as_told(out: &[Request]) -> Vec<Told> {
    out.iter()
        .map(|request| (request.submitted.0, request.op, request.remark.hint(), request.lba.0 / SECTORS))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_naive_model_of_the_same_rules_does_the_same(config in caches(), requests in disk_requests()) {
        let mut naive = NaiveCache::new(&config);
        naive.run(&requests);
        let (out, _) = run(&config, &requests);
        prop_assert_eq!(as_told(&out), naive.out);
    }

    #[test]
    fn times_are_sorted_and_dirty_data_leaves_only_after_a_flush_read(
        config in caches(),
        requests in disk_requests(),
    ) {
        let (out, statistics) = run(&HostCacheConfig { trim: true, ..config.clone() }, &requests);
        prop_assert!(out.is_sorted_by_key(|request| request.submitted));
        prop_assert_eq!(statistics.flush_reads + statistics.uncached_writes, statistics.disk_writes);
        // Without discards by the host, a place gets new data only after its dirty data was read for the disk.
        let kept: Vec<Request> = requests.into_iter().filter(|request| request.op != Op::Trim).collect();
        let (out, _) = run(&HostCacheConfig { trim: true, ..config }, &kept);
        let mut dirty = [false; 64];
        for request in &out {
            let place = (request.lba.0 / SECTORS) as usize;
            match (request.op, request.remark.hint()) {
                (_, CacheHint::DirtyWrite) => dirty[place] = true,
                (_, CacheHint::FlushRead) => dirty[place] = false,
                (Op::Trim, _) | (_, CacheHint::CleanWrite) => prop_assert!(!dirty[place], "{:?}", request),
                _ => {}
            }
        }
    }

    #[test]
    fn with_a_quick_disk_no_set_is_dirtier_than_its_threshold(config in caches(), requests in disk_requests()) {
        let most = u64::from(config.ways * u32::from(config.dirty_threshold) / 100);
        let quick = HostCacheConfig { disk_write_latency: Duration(0), clean_ios_total: 8, ..config.clone() };
        let (_, statistics) = run(&quick, &requests);
        // One block above it is on its way to the disk at the very moment of its write.
        prop_assert!(statistics.dirty_blocks_max <= (most + 1) * statistics.sets, "{:?}", statistics);
        let (_, slow) = run(&config, &requests);
        prop_assert!(slow.dirty_blocks_max <= slow.blocks);
    }
}
