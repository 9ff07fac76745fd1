//! Dies that go by the classes of jobs (`scheduler.transactions = "by-class"`).
//!
//! One die on a channel that moves 1 B/ns: a read of a unit takes 300 ns, 50 us and 4,096 ns.

use crate::common::{Bench, at, closed, open, read, slc, write};
use ninescope_engine::{Device, LaneConfig, NoProbe, Plain};
use ninescope_model::{Request, Turns, UrgencyClass};

const UNIT_SECTORS: u64 = 8;
const UNIT_READ: u64 = 300 + 50_000 + 4_096;

fn bench(policy: &str) -> Bench {
    let mut bench = Bench { timing: slc(50_000, 400_000), ..Bench::tiny() };
    bench.engine.scheduler = serde_json::from_str(policy).expect("a policy");
    bench
}

fn by_class() -> Bench {
    bench(r#"{"policy":"by-class"}"#)
}

fn run(bench: &Bench, lanes: Vec<LaneConfig>) -> Device {
    let ftl = bench.ftl();
    let nand = bench.nand(&ftl);
    let mut device = Device::<Plain>::with_lanes(&bench.engine, &bench.limits, ftl, nand, lanes, NoProbe);
    device.run().expect("the run ends well");
    device
}

/// Reads of one unit, so many of which are kept in flight.
fn reader(class: UrgencyClass, depth: u32, count: usize) -> LaneConfig {
    let turns = Turns { class, weight: None };
    LaneConfig { turns, ..LaneConfig::new(Box::new(closed(vec![read(8 * UNIT_SECTORS, 8); count])), depth) }
}

fn arriving(class: UrgencyClass, requests: Vec<(u64, Request)>) -> LaneConfig {
    let timed = requests.into_iter().map(|(time, request)| at(time, request)).collect();
    LaneConfig { turns: Turns { class, weight: None }, ..LaneConfig::new(Box::new(open(timed)), 1) }
}

fn latencies(device: &Device, lane: u16) -> Vec<u64> {
    device.request_log().iter().filter(|entry| entry.lane == lane).map(|entry| entry.latency.0).collect()
}

#[test]
fn an_urgent_read_waits_for_the_one_that_runs_alone() {
    // Eight wait on the die when it comes.
    let lanes = || {
        let urgent = arriving(UrgencyClass::Urgent, vec![(1_000, read(64 * UNIT_SECTORS, 8))]);
        vec![reader(UrgencyClass::High, 8, 8), urgent]
    };
    let device = run(&by_class(), lanes());
    assert_eq!(latencies(&device, 1), [2 * UNIT_READ - 1_000]);
    assert_eq!(device.counters().class_passes, 1);
    let in_order = run(&bench(r#"{"policy":"reads-first"}"#), lanes());
    assert_eq!(latencies(&in_order, 1), [9 * UNIT_READ - 1_000]);
    assert_eq!(in_order.counters().class_passes, 0);
}

#[test]
fn a_round_has_as_many_reads_of_each_class_as_its_weight() {
    let classes = [UrgencyClass::Low, UrgencyClass::High, UrgencyClass::Medium];
    let shares = |bench: &Bench| {
        let device = run(bench, classes.map(|class| reader(class, 8, 700)).into());
        let first = &device.request_log()[..700];
        [0, 1, 2].map(|lane| first.iter().filter(|entry| entry.lane == lane).count())
    };
    assert_eq!(shares(&by_class()), [100, 400, 200]);
    assert_eq!(shares(&bench(r#"{"policy":"by-class","high":5,"medium":1,"low":1}"#)), [100, 500, 100]);
}

#[test]
fn nobody_waits_for_a_class_that_has_nothing() {
    let device = run(&by_class(), vec![reader(UrgencyClass::Low, 4, 100), reader(UrgencyClass::Low, 4, 100)]);
    assert_eq!((device.now().0, device.counters().class_passes), (200 * UNIT_READ, 0));
}

#[test]
fn programs_of_a_plane_stay_in_their_order() {
    // Pages of one block are programmed in order, whoever wrote them: the urgent one is the last.
    let pages = |from: u64, count: u64| (from..from + count).map(|page| (0, write(page * 32, 32))).collect();
    let lanes = vec![arriving(UrgencyClass::Low, pages(0, 3)), arriving(UrgencyClass::Urgent, pages(3, 1))];
    let mut bench = by_class();
    bench.engine.write_completion = ninescope_engine::WriteCompletion::Program;
    let device = run(&bench, lanes);
    assert_eq!(device.counters().class_passes, 0);
    assert_eq!(device.counters().host_page_programs, 4);
}
