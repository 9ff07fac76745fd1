//! Drives of two media against an accumulator: at queue depth 1, with one bank and one die, the latency of every
//! request is the sum of the times of what it waits for, to the nanosecond. With foreground migration requests follow
//! each other closely; else each comes when what the last one left to do in the background is done.
//!
//! The model in `naive_tier` follows the published pseudo-code (of CDE, WB, WO-DM, RWB-DM and NV-WB) with lists and
//! maps, and knows nothing of the engine. Two media work at the same time where the drive may begin two things at once:
//! where a page that leaves is completed from flash, its slot and flash are read side by side, and while the victim's
//! slot is read for a page that is coming up, flash or the slower memory reads that page. There the longer time counts;
//! everything else is a plain sum, and with `foreground-reads` what completes a page that leaves is read after its
//! slot. Requests of several pages have no such sum and are not compared: one page's eviction overlaps with the next
//! one's access. They come in the `scenarios` of the `ninescope` crate.

use crate::common::tiered::{TierBench, placement, slots_in_use};
use crate::common::{Bench, at, closed, open, request};
use crate::naive_tier::{Below, Kind, NaiveTier, Times};
use ninescope_engine::{Device, EngineConfig, WriteCompletion};
use ninescope_kernel::{Ns, RandomStream, Rate};
use ninescope_media::scm::{CopyPath, PulseOrder, ScmTiming};
use ninescope_model::{Op, Request};
use ninescope_tier::PlacementConfig;

const SECTORS: u32 = 32;
/// Pages that requests go to; the drive has more.
const PAGES: u32 = 90;
const SLOTS: u32 = 20;
const REQUESTS: usize = 6_000;

/// Times that are no multiples of each other, so that sums tell what is in them.
const UPPER: ScmTiming = ScmTiming {
    read: Ns(103),
    set: Ns(211),
    reset: Ns(157),
    pulse_order: PulseOrder::Together,
    command_address: Ns(7),
    channel_rate: Rate(1_280_000_000),
    copies: CopyPath::ThroughController,
};

/// The memory below.
const LOWER: ScmTiming = ScmTiming { read: Ns(1009), set: Ns(1301), reset: Ns(907), command_address: Ns(11), ..UPPER };

/// Flash of 2048 blocks of 16 pages, so that nothing is collected; it reads a page in 85 us or, where that is what is
/// to be told apart, faster than SCM reads a slot.
fn flash(read: u64) -> Bench {
    Bench {
        planes: 1,
        blocks_per_plane: 2048,
        pages_per_block: 16,
        page_bytes: SECTORS * 512,
        unit_bytes: SECTORS * 512,
        logical_percent: 1,
        timing: crate::common::slc(read, 660_007),
        engine: EngineConfig { write_completion: WriteCompletion::Program, ..Bench::tiny().engine },
        ..Bench::tiny()
    }
}

/// A drive with this placement above `flash`, or above the slower memory.
fn bench(placement: &PlacementConfig, flash: &Bench) -> TierBench {
    let round = TierBench::round(&serde_json::json!({ "policy": "wb" }));
    TierBench {
        placement: placement.clone(),
        slots: (SLOTS, PAGES),
        times: (UPPER, LOWER),
        flash: flash.clone(),
        ..round
    }
}

/// Requests within a page: half of them in a corner, some of whole pages, a few TRIMs.
fn requests(seed: u64, reads: u64) -> Vec<Request> {
    let mut stream = RandomStream::new(seed, "tests", "accumulator");
    let mut one = || {
        let pages = if stream.below(2) == 0 { 12 } else { u64::from(PAGES) };
        let page = stream.below(pages) * u64::from(SECTORS);
        let sectors = if stream.below(4) == 0 { u64::from(SECTORS) } else { 1 + stream.below(u64::from(SECTORS)) };
        let first = stream.below(u64::from(SECTORS) - sectors + 1);
        match stream.below(100) {
            0..2 => request(Op::Trim, page, SECTORS),
            draw if draw < reads => request(Op::Read, page + first, sectors as u32),
            _ => request(Op::Write, page + first, sectors as u32),
        }
    };
    (0..REQUESTS).map(|_| one()).collect()
}

fn times(placement: &PlacementConfig, flash: &Bench) -> Times {
    let page = u64::from(SECTORS);
    let transfer = page * 512; // 1 ns per byte
    let access = |timing: &ScmTiming, array: Ns| (timing.command_address.0, array.0 + 400);
    let write = |timing: &ScmTiming| access(timing, timing.set.max(timing.reset));
    let below = if matches!(placement, PlacementConfig::NvWb(_)) {
        Below::Memory { read: access(&LOWER, LOWER.read), write: write(&LOWER) }
    } else {
        let command = flash.timing.command_address.0;
        Below::Flash {
            read: command + flash.timing.read[0].0 + transfer,
            program: command + transfer + flash.timing.program[0].0,
        }
    };
    Times { read: access(&UPPER, UPPER.read), write: write(&UPPER), below }
}

/// How requests follow each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// When the last one has completed.
    Closely,
    /// When all that the last one left to do is done.
    Slowly,
}

/// Compares every latency, and in the end every slot and counter.
fn check(description: &serde_json::Value, flash: &Bench, seed: u64, reads: u64) -> Device {
    check_at(Pace::Closely, description, flash, seed, reads)
}

fn check_at(pace: Pace, description: &serde_json::Value, flash: &Bench, seed: u64, reads: u64) -> Device {
    let placement = placement(description);
    let requests = requests(seed, reads);
    let mut model = NaiveTier::new(&placement, SLOTS, SECTORS, PAGES, times(&placement, flash));
    let expected: Vec<u64> = requests
        .iter()
        .map(|request| {
            let page = (request.lba.0 / u64::from(SECTORS)) as u32;
            let first = (request.lba.0 % u64::from(SECTORS)) as u32;
            let mask = ((1_u64 << request.sectors) - 1) << first;
            let kind = match request.op {
                Op::Read => Kind::Read,
                Op::Write => Kind::Write,
                _ => Kind::Trim,
            };
            model.serve(kind, page, mask as u32)
        })
        .collect();
    let bench = bench(&placement, flash);
    let device = match pace {
        Pace::Closely => bench.run(closed(requests.clone())),
        Pace::Slowly => bench.run(open(spaced(&requests))),
    };
    for (index, entry) in device.request_log().iter().enumerate() {
        assert_eq!(entry.latency.0, expected[index], "request {index}, {:?}, of {description}", requests[index]);
    }
    assert_eq!(device.request_log().len(), REQUESTS);
    assert_eq!(device.ftl().counters().gc_units, 0, "flash is too small for the test");
    assert_eq!(slots_in_use(&device), model.slots(), "{description}");
    let counters = device.seen().tier.expect("two media").tier().counters();
    assert_eq!((counters.evicted_clean, counters.evicted_dirty), (model.dropped, model.copied_down), "{description}");
    device
}

/// The same requests, so far from each other that nothing is left to do when the next one comes.
fn spaced(requests: &[Request]) -> Vec<Request> {
    const APART: u64 = 100_000_000;
    requests.iter().enumerate().map(|(index, &request)| at(index as u64 * APART, request)).collect()
}

/// Under each way to migrate, where nothing is left to do when a request comes.
fn check_modes(placement: &serde_json::Value, flash: &Bench, seed: u64) {
    for migration in ["background", "foreground-reads", "foreground"] {
        let mut placement = placement.clone();
        placement["migration"] = migration.into();
        check_at(Pace::Slowly, &placement, flash, seed, 50);
    }
}

/// Under each placement, with a flash that is slow and one that is faster than a slot.
fn check_all(placements: &[serde_json::Value]) {
    for (index, placement) in placements.iter().enumerate() {
        for read in [85_001, 1_003] {
            check_modes(placement, &flash(read), index as u64);
            for reads in [30, 70] {
                let device = check(placement, &flash(read), index as u64, reads);
                let evicted = device.seen().tier.map(|part| part.tier().counters().evicted_dirty);
                assert!(evicted > Some(100), "{evicted:?} evictions under {placement}");
            }
        }
    }
}

#[test]
fn wb_takes_the_sum() {
    let wb = |extra: serde_json::Value| {
        let mut placement = serde_json::json!({ "policy": "wb", "migration": "foreground" });
        for (key, value) in extra.as_object().expect("keys") {
            placement[key] = value.clone();
        }
        placement
    };
    check_all(&[
        wb(serde_json::json!({})),
        wb(serde_json::json!({ "copy_reads": false })),
        wb(serde_json::json!({ "evict_free": 0.2, "evict_stop": 0.2 })),
        wb(serde_json::json!({ "fetch_on_write": true })),
        wb(serde_json::json!({ "fetch_on_write": true, "evict_free": 0.1, "evict_stop": 0.1, "copy_reads": false })),
    ]);
}

#[test]
fn wo_dm_takes_the_sum() {
    let with = |victim: &str, free: f64, uses: u32| {
        serde_json::json!({
            "policy": "wo-dm", "migration": "foreground", "victim": victim,
            "evict_free": free, "evict_stop": free, "hot_uses": uses,
        })
    };
    check_all(&[
        with("lru", 0.08, 1),
        with("lru", 0.0, 2),
        with("sequential-first", 0.2, 1),
        with("sequential-first", 0.0, 1),
    ]);
}

#[test]
fn rewritten_takes_the_sum() {
    let with = |recent: f64, free: f64| {
        serde_json::json!({
            "policy": "rewritten", "migration": "foreground", "recent_writes": recent, "evict_free": free, "evict_stop": free,
        })
    };
    check_all(&[with(4.0, 0.0), with(2.0, 0.2), with(3.0, 0.08)]);
}

#[test]
fn rwb_dm_takes_the_sum() {
    let with = |moves: &str, keep: bool, free: f64, victim: &str| {
        serde_json::json!({
            "policy": "rwb-dm", "migration": "foreground", "moves": moves, "keep_copy": keep,
            "evict_free": free, "evict_stop": free, "victim": victim, "hot_entries": 2.0,
        })
    };
    check_all(&[
        with("hot-and-random", true, 0.08, "lru"),
        with("hot-and-random", false, 0.2, "lru"),
        with("hot-or-random", true, 0.0, "lru"),
        with("hot-or-random", false, 0.08, "sequential-first"),
        with("hot-or-random", false, 0.0, "lru"),
    ]);
}

#[test]
fn nv_wb_takes_the_sum() {
    for (seed, free) in [0.0, 0.01, 0.2].into_iter().enumerate() {
        for (fetch, write_back) in
            [(false, "dirty-sectors"), (false, "whole-pages"), (true, "dirty-sectors"), (true, "whole-pages")]
        {
            let placement = serde_json::json!({
                "policy": "nv-wb", "migration": "foreground", "evict_free": free, "evict_stop": free,
                "fetch_on_write": fetch, "write_back": write_back,
            });
            check_modes(&placement, &flash(85_001), seed as u64);
            for reads in [30, 70] {
                check(&placement, &flash(85_001), seed as u64, reads);
            }
        }
    }
}

/// Waiting for less takes no longer: request by request where nothing is left over from the last one and slots are kept
/// free, and over a run of requests that follow each other closely.
#[test]
fn who_waits_for_less_is_served_sooner() {
    for (policy, fetch) in [("wb", true), ("wo-dm", false), ("rwb-dm", false), ("nv-wb", true)] {
        let latencies = |migration: &str, pace: Pace| {
            let mut description = serde_json::json!({
                "policy": policy, "migration": migration, "evict_free": 0.2, "evict_stop": 0.2,
            });
            if fetch {
                description["fetch_on_write"] = true.into();
            }
            let placement = placement(&description);
            let bench = bench(&placement, &flash(85_001));
            let requests = requests(3, 40);
            let device = match pace {
                Pace::Closely => bench.run(closed(requests)),
                Pace::Slowly => bench.run(open(spaced(&requests))),
            };
            device.request_log().iter().map(|entry| entry.latency.0).collect::<Vec<u64>>()
        };
        let modes = ["background", "foreground-reads", "foreground"];
        let [background, reads, foreground] = modes.map(|migration| latencies(migration, Pace::Slowly));
        for index in 0..REQUESTS {
            let three = [background[index], reads[index], foreground[index]];
            assert!(three.is_sorted(), "request {index} of {policy}: {three:?}");
        }
        let sums = modes.map(|migration| latencies(migration, Pace::Closely).iter().sum::<u64>());
        assert!(sums.is_sorted() && sums[0] < sums[1] && sums[1] < sums[2], "{policy}: {sums:?}");
    }
}
