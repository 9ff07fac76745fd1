//! Allocations that go by what dies have to do: to the nanosecond what queueing theory and a naive model say of servers that are
//! chosen so, and scenes by hand.

use crate::common::statistics::{Poisson, mean};
use crate::common::{Bench, Prefill, at, open, read, slc, write};
use ninescope_engine::{Event, Probe, SimulationError, View, Watched, WriteCompletion};
use ninescope_ftl::policies::PageAllocationConfig;
use ninescope_kernel::RandomStream;
use ninescope_model::{DieId, Lpa, Op, Request};
use ninescope_oracles::queueing as oracle;

/// What a program of a page takes on its die [ns]: 300 command and address, 4 096 data, 400 000 array.
const PROGRAM: u64 = 404_396;
/// What a read takes [ns].
const READ: u64 = 50_000;

/// Dies of one plane, each on a channel of its own, whose writes end at their programs. A page is a unit, and there are more pages than
/// any test writes.
fn servers(dies: u32, allocation: &str) -> Bench {
    let timing = slc(READ - 300 - 4_096, PROGRAM - 300 - 4_096);
    let policy = serde_json::from_value(serde_json::json!({ "policy": allocation })).expect("a policy");
    let mut bench = Bench {
        channels: dies,
        page_bytes: 4_096,
        unit_bytes: 4_096,
        blocks_per_plane: 512,
        pages_per_block: 128,
        page_allocation: policy,
        prefill: Prefill::Nothing,
        timing,
        ..Bench::tiny()
    };
    bench.engine.write_completion = WriteCompletion::Program;
    bench.engine.buffered_pages = 1_000;
    bench.engine.log_requests = false;
    bench
}

/// What each completed write waited beyond its program, by its address, and the dies that took them in turn.
#[derive(Debug, Default)]
struct Seen {
    waits: Vec<(u64, u64)>,
    dies: Vec<DieId>,
}

impl Probe for Seen {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        match event {
            Event::Completed { request, .. } if request.op == Op::Write => {
                self.waits.push((request.lba.0, (view.now - request.submitted).0 - PROGRAM));
            }
            Event::UnitWritten { new, .. } => {
                let geometry = view.ftl.geometry();
                self.dies.push(geometry.die_of_pool(geometry.pool_and_block(geometry.group_and_offset(new).0).0));
            }
            _ => {}
        }
        Ok(())
    }
}

fn seen(bench: &Bench, requests: Vec<Request>) -> Seen {
    let mut device = bench.device_with::<Watched>(open(requests), Box::new(Seen::default()));
    device.run().expect("the run ends well");
    let seen = device.probe::<Seen>();
    Seen { waits: seen.waits.clone(), dies: seen.dies.clone() }
}

/// Times at which writes arrive, number `n` for address `n`.
fn arrivals(rho: f64, dies: u32, count: u64) -> Vec<u64> {
    let mut poisson = Poisson::new(7, PROGRAM as f64 / rho / f64::from(dies));
    (0..count).map(|_| poisson.next()).collect()
}

/// What writes of pages one after the other wait that arrive at these times, in the order of their arrival.
fn waits(allocation: &str, dies: u32, times: &[u64]) -> Vec<u64> {
    let requests = times.iter().zip(0..).map(|(&time, page)| at(time, write(page * 8, 8))).collect();
    let mut waits = seen(&servers(dies, allocation), requests).waits;
    waits.sort_unstable();
    waits.into_iter().map(|(_, wait)| wait).collect()
}

#[test]
fn the_earliest_free_die_makes_of_all_dies_one_queue() {
    for (dies, rho) in [(2, 0.6), (4, 0.9)] {
        let times = arrivals(rho, dies, 30_000);
        let served: Vec<(u64, u64)> = times.iter().map(|&time| (time, PROGRAM)).collect();
        // Who goes to the server that is free first begins when he would in one queue before all of them.
        let exact = oracle::first_come_first_served_waits(dies as usize, &served);
        let measured = waits("earliest-free", dies, &times);
        assert_eq!(measured.iter().zip(&exact).position(|(one, other)| one != other), None, "{dies} dies at {rho}");
        let mean_of = |waits: &[u64]| waits.iter().sum::<u64>() as f64 / waits.len() as f64;
        let expected = oracle::mdc_mean_wait(dies, rho, PROGRAM as f64);
        assert!((mean_of(&measured) / expected - 1.0).abs() < 0.1, "{} {expected}", mean_of(&measured));
    }
}

/// Each goes where fewest are, among equals in turn: by hand.
fn shortest_queue(dies: usize, times: &[u64]) -> Vec<u64> {
    let (mut ends, mut turn) = (vec![Vec::<u64>::new(); dies], 0);
    let wait_of = |&time: &u64| {
        for queue in &mut ends {
            queue.retain(|&end| end > time);
        }
        let chosen = (0..dies).map(|at| (turn + at) % dies).min_by_key(|&die| ends[die].len()).expect("a die");
        turn = (chosen + 1) % dies;
        let begins = ends[chosen].last().copied().unwrap_or(time).max(time);
        ends[chosen].push(begins + PROGRAM);
        begins - time
    };
    times.iter().map(wait_of).collect()
}

#[test]
fn the_least_queue_is_the_shortest_queue_joined() {
    for (dies, rho) in [(2, 0.6), (4, 0.9)] {
        let times = arrivals(rho, dies, 30_000);
        let exact = shortest_queue(dies as usize, &times);
        let measured = waits("least-queue", dies, &times);
        assert_eq!(measured.iter().zip(&exact).position(|(one, other)| one != other), None, "{dies} dies at {rho}");
    }
}

#[test]
fn who_knows_more_waits_less() {
    let (dies, rho) = (4, 0.9);
    let times = arrivals(rho, dies, 30_000);
    let mean_of = |waits: Vec<u64>| mean(&waits.into_iter().map(|wait| wait as u32).collect::<Vec<_>>());
    let [earliest, least] = ["earliest-free", "least-queue"].map(|name| mean_of(waits(name, dies, &times)));
    // At random addresses each die has a queue of its own.
    let bench = servers(dies, "static");
    let units = u64::from(bench.logical_units());
    let mut places = RandomStream::new(3, "tests", "places");
    let requests = times.iter().map(|&time| at(time, write(places.below(units) * 8, 8))).collect();
    let random = mean_of(seen(&bench, requests).waits.into_iter().map(|(_, wait)| wait).collect());
    // Programs take the same time each, so that the shortest queue in turn is the one that ends first.
    assert!(earliest <= least && least * 2.0 < random, "{earliest} {least} {random}");
}

/// Two dies with what was prepared on each, and the addresses of some units of die 0.
fn two_dies(allocation: &str) -> (Bench, Vec<u64>) {
    let bench = Bench { prefill: Prefill::Sequential, ..servers(2, allocation) };
    let ftl = bench.ftl();
    let of_first = (0..bench.logical_units()).filter(|&unit| bench.die_of(&ftl, Lpa(unit)) == DieId(0));
    let addresses = of_first.take(3).map(|unit| u64::from(unit) * 8).collect();
    (bench, addresses)
}

/// Three reads wait for die 0, and pages are written a moment later.
fn dies_of_writes_beside_reads(allocation: &str, writes: u64) -> Vec<u32> {
    let (bench, addresses) = two_dies(allocation);
    let reads = addresses.into_iter().map(|address| read(address, 8));
    let far = u64::from(bench.logical_units()) / 2;
    let writes = (0..writes).map(|page| at(1_000, write((far + page) * 8, 8)));
    seen(&bench, reads.chain(writes).collect()).dies.into_iter().map(|die| die.0).collect()
}

#[test]
fn reads_count_as_what_a_die_has_to_do() {
    // Die 0 has three reads, of which one runs: die 1 takes pages until it has as many. Then they take turns, die 0 first.
    assert_eq!(dies_of_writes_beside_reads("least-queue", 7), [1, 1, 1, 0, 1, 0, 1]);
    // Three reads take 150 us, a program 404 us: the second page goes to die 0 (free at 150 us), the third to die 1 (at 405 us) before
    // die 0 (at 554 us), and so on in turn.
    assert_eq!(dies_of_writes_beside_reads("earliest-free", 5), [1, 0, 1, 0, 1]);
    // Pools in turn, and addresses, know nothing of that.
    assert_eq!(dies_of_writes_beside_reads("round-robin", 4), [0, 1, 0, 1]);
}

#[test]
fn an_allocation_by_load_prepares_a_drive_in_turn() {
    let ftl_of = |allocation| Bench { prefill: Prefill::Overwritten(500), ..servers(4, allocation) }.ftl();
    let others = ftl_of("round-robin");
    for allocation in ["least-queue", "earliest-free"] {
        let ftl = ftl_of(allocation);
        for unit in (0..ftl.logical_units()).map(Lpa) {
            assert_eq!(ftl.translate(unit), others.translate(unit), "{allocation} {unit}");
        }
    }
}

#[test]
fn a_registry_knows_which_allocations_ask_for_loads() {
    let asks: Vec<&str> = PageAllocationConfig::all()
        .iter()
        .filter(|config| config.chosen().load().is_some())
        .map(PageAllocationConfig::name)
        .collect();
    assert_eq!(asks, ["least-queue", "earliest-free"]);
}
