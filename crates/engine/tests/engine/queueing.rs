//! The timed driver against queueing theory: a die is a server, a page read a service.
//!
//! Where theory gives exact waits (Lindley's recursion, Little's law), nothing may differ by a nanosecond.
//! A closed form of a mean or a percentile is what millions of requests converge to: where the recursion gives
//! the waits of all of them, the first ones are simulated; where it does not, the run is long. Batch means are
//! printed. Each die has a channel of its own and the controller takes no time, so that a read is
//! nothing but a wait for its die and its service: command, array, transfer.

use crate::common::statistics::{Poisson, STUDENT_95, batch_half_width, mean};
use crate::common::{Bench, at, closed, flush, generated, open, read, slc, trim, write};
use ninescope_engine::{Device, Event, Probe, SimulationError, View, Watched};
use ninescope_kernel::{Ns, RandomStream};
use ninescope_media::nand::{CommandKind, DieState};
use ninescope_model::{Arrival, DieId, Lpa, Op, Request};
use ninescope_oracles::little::LittleSides;
use ninescope_oracles::queueing as oracle;

/// What a read of one 4 KiB unit takes on its die [ns]: 300 command and address, 45 604 array, 4 096 data.
const SERVICE: u64 = 50_000;
const UNIT_SECTORS: u64 = 8;

/// Requests that are simulated where the exact waits of all of them are known.
const SIMULATED: usize = 400_000;

/// `dies` dies of one plane, each on a channel of its own, whose unit reads take [`SERVICE`].
fn servers(dies: u32) -> Bench {
    let timing = slc(SERVICE - 300 - 4_096, 400_000);
    let mut bench = Bench { channels: dies, timing, ..Bench::tiny() };
    bench.engine.log_requests = false;
    bench
}

#[track_caller]
fn assert_within(name: &str, measured: f64, expected: f64, tolerance: f64) {
    let error = measured / expected - 1.0;
    println!("{name}: measured {measured:.5}, expected {expected:.5}, {:+.2} %", error * 100.0);
    assert!(error.abs() <= tolerance, "{name}: measured {measured}, expected {expected} within {tolerance}");
}

/// Prints the mean with the half-width of its 95 % interval.
fn print_batch_means(name: &str, waits: &[u32]) {
    let half_width = batch_half_width(waits, STUDENT_95);
    println!("{name}: batch means give {:.1} ns, half-width {half_width:.1} ns", mean(waits));
}

// ---- one die ------------------------------------------------------------------------------------------

/// Collects what each completed read waited beyond its service.
#[derive(Debug, Default)]
struct Waits(Vec<u32>);

impl Probe for Waits {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        if let Event::Completed { request, .. } = event {
            self.0.push((view.now - request.submitted - Ns(SERVICE)).0 as u32);
        }
        Ok(())
    }
}

/// What Poisson reads at one die wait: Lindley's recursion over all of them, which the simulated first ones follow to
/// the nanosecond. The recursion is quick, and what it converges to takes millions of requests.
fn md1_waits(rho: f64, requests: usize, seed: u64) -> Vec<u32> {
    let mut arrivals = Poisson::new(seed, SERVICE as f64 / rho);
    let times: Vec<(u64, u64)> = (0..requests).map(|_| (arrivals.next(), SERVICE)).collect();
    let exact: Vec<u32> =
        oracle::first_come_first_served_waits(1, &times).into_iter().map(|wait| wait as u32).collect();
    let simulated = simulated_md1_waits(rho, SIMULATED, seed);
    let differs = (0..SIMULATED).find(|&index| simulated[index] != exact[index]);
    assert_eq!(differs, None, "the request that Lindley's recursion says otherwise of, at rho {rho}");
    exact
}

fn simulated_md1_waits(rho: f64, requests: usize, seed: u64) -> Vec<u32> {
    let bench = servers(1);
    let units = u64::from(bench.logical_units());
    let mut arrivals = Poisson::new(seed, SERVICE as f64 / rho);
    let mut places = RandomStream::new(seed, "tests", "places");
    let mut left = requests;
    let workload = generated(Arrival::Open, move || {
        left = left.checked_sub(1)?;
        Some(at(arrivals.next(), read(places.below(units) * UNIT_SECTORS, UNIT_SECTORS as u32)))
    });
    let mut device = bench.device_with::<Watched>(workload, Box::new(Waits(Vec::with_capacity(requests))));
    device.run().expect("the run ends well");
    assert_eq!(device.probe::<Waits>().0.len(), requests);
    device.probe::<Waits>().0.clone()
}

#[test]
fn waits_of_poisson_reads_at_one_die_are_those_of_the_md1_queue() {
    for (rho, requests) in [(0.5, 2_000_000), (0.8, 4_000_000)] {
        let mut waits = md1_waits(rho, requests, 1);
        let service = SERVICE as f64;
        print_batch_means(&format!("rho {rho}"), &waits);
        assert_within(&format!("rho {rho} mean"), mean(&waits), oracle::md1_mean_wait(rho, service), 0.02);
        // Poisson arrivals find the die idle for a share 1 - rho of the time.
        let at_once = waits.iter().filter(|wait| **wait == 0).count() as f64 / requests as f64;
        assert_within(&format!("rho {rho} no wait"), at_once, 1.0 - rho, 0.02);
        waits.sort_unstable();
        for percent in [90, 99] {
            let rank = (requests * percent).div_ceil(100) - 1;
            let expected = oracle::md1_wait_percentile(rho, service, percent as f64 / 100.0);
            assert_within(&format!("rho {rho} p{percent}"), f64::from(waits[rank]), expected, 0.02);
        }
    }
}

/// The M/D/1 queue above and below a load of 1: below, it is stable however it fluctuates; above, ages at completion
/// grow with time at the rate rho - 1, wherever requests wait.
#[test]
fn the_md1_queue_falls_behind_above_a_load_of_one_and_by_that_load() {
    const REQUESTS: usize = 20_000;
    for queue_depth in [1, 32, 1024] {
        for (rho, seeds) in [(0.5, 1..3), (0.9, 1..16), (1.1, 1..6), (1.5, 1..3), (40.0, 1..3)] {
            for seed in seeds {
                let mut bench = servers(1);
                bench.engine.queue_depth = queue_depth;
                let mut arrivals = Poisson::new(seed, SERVICE as f64 / rho);
                let device = bench.run(open((0..REQUESTS).map(|_| at(arrivals.next(), read(0, 8))).collect()));
                let overload = device.meter().backlogs[0].overload();
                if rho < 1.0 {
                    assert_eq!(overload, None, "rho {rho}, seed {seed}");
                    continue;
                }
                let load = overload.and_then(|overload| overload.load).expect("a load above 1");
                // The rate of so many Poisson arrivals is known to 1 / sqrt(requests).
                assert_within(&format!("rho {rho} at depth {queue_depth}"), load, rho, 0.03);
            }
        }
    }
}

/// With one command inside at a time, who waits in the host takes the slot of the one that completes: as many commands
/// hold an awaited slot as requests wait, and what held it is the service alone.
#[test]
fn the_holders_of_awaited_slots_are_as_many_as_requests_that_wait_and_spent_their_time_on_the_service() {
    let mut bench = servers(1);
    (bench.engine.queue_depth, bench.engine.log_requests) = (1, true);
    let mut arrivals = Poisson::new(3, SERVICE as f64 / 0.8);
    let device = bench.run(open((0..5_000).map(|_| at(arrivals.next(), read(0, 8))).collect()));
    let waited = device.request_log().iter().filter(|entry| entry.host_queue > Ns::ZERO).count() as u64;
    let holders = &device.meter().queue_holders;
    assert!(waited > 3_000 && waited < 5_000, "{waited} waited");
    assert_eq!(holders.commands, [waited, 0, 0, 0]);
    assert_eq!(holders.parts[Op::Read as usize].total(), waited * SERVICE);
}

/// Four dies that begin and complete together: each instant leaves four slots, and every request that waited takes one.
#[test]
fn commands_that_complete_at_one_instant_hold_as_many_slots_as_requests_wait_for_them() {
    let mut bench = servers(4);
    (bench.engine.queue_depth, bench.engine.log_requests) = (4, true);
    let units = units_by_die(&bench);
    let of_die = |number: usize| u64::from(units[number % 4][0]) * UNIT_SECTORS;
    // Four at once, then 4 + 4 + 2 that wait from 1 ns on.
    let requests = (0..14).map(|number| at(u64::from(number >= 4), read(of_die(number), UNIT_SECTORS as u32)));
    let device = bench.run(open(requests.collect()));
    let waited = device.request_log().iter().filter(|entry| entry.host_queue > Ns::ZERO).count() as u64;
    let holders = &device.meter().queue_holders;
    assert_eq!(waited, 10);
    assert_eq!(holders.commands, [waited, 0, 0, 0]);
    assert_eq!(holders.parts[Op::Read as usize].total(), waited * SERVICE);
}

/// Submission times and measured waits, in the order of submission.
fn logged_waits(device: &Device) -> Vec<(u64, u64)> {
    let mut log: Vec<_> = device.request_log().iter().collect();
    log.sort_by_key(|entry| entry.id);
    log.iter().map(|entry| (entry.submitted.0, entry.latency.0 - SERVICE)).collect()
}

#[test]
fn every_wait_at_one_die_follows_lindleys_recursion_to_the_nanosecond() {
    // With one command inside the device at a time, waits lie in the host's queue instead: the same sum.
    for queue_depth in [1, 4, 1024] {
        for rho in [0.5, 0.8, 0.99] {
            let mut bench = servers(1);
            bench.engine.log_requests = true;
            bench.engine.queue_depth = queue_depth;
            let mut arrivals = Poisson::new(7, SERVICE as f64 / rho);
            let mut places = RandomStream::new(7, "tests", "places");
            let units = u64::from(bench.logical_units());
            let requests: Vec<Request> =
                (0..50_000).map(|_| at(arrivals.next(), read(places.below(units) * 8, 8))).collect();
            let times: Vec<(u64, u64)> = requests.iter().map(|request| (request.submitted.0, SERVICE)).collect();
            let device = bench.run(open(requests));
            let measured = logged_waits(&device);
            let expected = oracle::first_come_first_served_waits(1, &times);
            assert_eq!(measured.len(), expected.len());
            for (index, (measured, expected)) in measured.iter().zip(&expected).enumerate() {
                assert_eq!((measured.0, measured.1), (times[index].0, *expected), "request {index} at rho {rho}");
            }
        }
    }
}

#[test]
fn simultaneous_arrivals_and_arrivals_at_an_end_of_service_are_served_in_order() {
    let mut bench = servers(1);
    bench.engine.log_requests = true;
    let times = [0, 0, 50_000, 50_000, 100_000, 200_000, 250_000, 299_999, 300_000, 300_001, 1_000_000, 1_050_000];
    let device = bench.run(open(times.iter().map(|&time| at(time, read(0, 8))).collect()));
    let waits: Vec<u64> = logged_waits(&device).iter().map(|entry| entry.1).collect();
    // By hand: each begins at the later of its arrival and the end of the one before.
    assert_eq!(waits, [0, 50_000, 50_000, 100_000, 100_000, 50_000, 50_000, 50_001, 100_000, 149_999, 0, 0]);
}

// ---- several dies -------------------------------------------------------------------------------------

/// The units on each die.
fn units_by_die(bench: &Bench) -> Vec<Vec<u32>> {
    let ftl = bench.ftl();
    let mut units = vec![Vec::new(); bench.geometry().dies() as usize];
    for unit in 0..bench.logical_units() {
        units[bench.die_of(&ftl, Lpa(unit)).index()].push(unit);
    }
    units
}

/// A die with equal probability, then a unit on it.
fn draw(units: &[Vec<u32>], stream: &mut RandomStream) -> (usize, Request) {
    let die = stream.below(units.len() as u64) as usize;
    let unit = units[die][stream.below(units[die].len() as u64) as usize];
    (die, read(u64::from(unit) * UNIT_SECTORS, UNIT_SECTORS as u32))
}

#[test]
fn reads_of_random_dies_wait_as_at_independent_queues() {
    let mut bench = servers(8);
    bench.engine.log_requests = true;
    let units = units_by_die(&bench);
    let rho = 0.6;
    let mut arrivals = Poisson::new(3, SERVICE as f64 / rho / 8.0);
    let mut stream = RandomStream::new(3, "tests", "dies");
    let mut by_die = vec![Vec::new(); 8];
    let mut requests: Vec<Request> = (0..800_000)
        .map(|index| {
            let (die, request) = draw(&units, &mut stream);
            let time = arrivals.next();
            by_die[die].push((index, time));
            at(time, request)
        })
        .collect();
    let mut waits = vec![0_u32; requests.len()];
    requests.truncate(SIMULATED);
    let device = bench.run(open(requests));
    let measured = logged_waits(&device);
    assert_eq!(measured.len(), SIMULATED);
    for (die, submitted) in by_die.iter().enumerate() {
        let times: Vec<(u64, u64)> = submitted.iter().map(|&(_, time)| (time, SERVICE)).collect();
        let expected = oracle::first_come_first_served_waits(1, &times);
        for ((index, time), expected) in submitted.iter().zip(expected) {
            waits[*index] = expected as u32;
            if let Some(measured) = measured.get(*index) {
                assert_eq!(*measured, (*time, expected), "request {index} on die {die}");
            }
        }
    }
    print_batch_means("8 dies", &waits);
    assert_within("8 dies mean", mean(&waits), oracle::md1_mean_wait(rho, SERVICE as f64), 0.02);
}

#[test]
fn a_batch_keeps_as_many_dies_busy_as_different_ones_it_names() {
    for (dies, batch) in [(8_u32, 8_u32), (8, 3), (32, 64)] {
        let mut bench = servers(dies);
        bench.engine.log_requests = true;
        let units = units_by_die(&bench);
        let mut stream = RandomStream::new(u64::from(batch), "tests", "batches");
        let (batches, simulated) = (20_000_u64, 4_000_u64);
        // Far enough apart that each batch finds the drive idle.
        let period = u64::from(batch + 1) * SERVICE;
        let (mut distinct_sum, mut simulated_sum) = (0_u64, 0_u64);
        let mut requests = Vec::new();
        for index in 0..batches {
            let mut named = vec![false; dies as usize];
            for _ in 0..batch {
                let (die, request) = draw(&units, &mut stream);
                named[die] = true;
                if index < simulated {
                    requests.push(at(index * period, request));
                }
            }
            let distinct = named.iter().filter(|named| **named).count() as u64;
            distinct_sum += distinct;
            if index < simulated {
                simulated_sum += distinct;
            }
        }
        let first: Vec<Request> = requests[..batch as usize].to_vec();
        let device = bench.run(open(requests));
        // A request that does not wait is the one its die begins with.
        let busy = logged_waits(&device).iter().filter(|entry| entry.1 == 0).count() as u64;
        assert_eq!(busy, simulated_sum);
        let expected = oracle::batch_busy_dies(dies, batch);
        let mean = distinct_sum as f64 / batches as f64;
        assert_within(&format!("{batch} reads over {dies} dies"), mean, expected, 0.005);

        // The first batch as the media show it: submitted, nothing ended.
        let ftl = bench.ftl();
        let mut named = vec![false; dies as usize];
        let unit_of = |request: &Request| Lpa((request.lba.0 / UNIT_SECTORS) as u32);
        for request in &first {
            named[bench.die_of(&ftl, unit_of(request)).index()] = true;
        }
        let mut device = bench.device(open(first));
        device.run_slice(0).expect("no error");
        for (die, named) in named.iter().enumerate() {
            assert_eq!(device.nand().state(DieId(die as u32)) == DieState::Busy, *named, "die {die}");
        }
    }
}

#[test]
fn a_closed_loop_over_random_dies_lies_between_the_product_form_and_full_use() {
    for (dies, depth) in [(8, 2), (8, 8), (8, 32), (32, 32)] {
        let mut bench = servers(dies);
        bench.limits.closed_queue_depth = depth;
        let units = units_by_die(&bench);
        let mut stream = RandomStream::new(11, "tests", "closed");
        let count = 400_000;
        let requests: Vec<Request> = (0..count).map(|_| draw(&units, &mut stream).1).collect();
        let device = bench.run(closed(requests));
        let throughput = f64::from(count) / device.now().0 as f64;
        let (low, high) = oracle::closed_deterministic_bounds(dies, 1.0 / SERVICE as f64, depth);
        println!("{dies} dies, depth {depth}: {:.4} of {:.4} to {:.4}", throughput / high, low / high, 1.0);
        assert!(low < throughput && throughput < high, "{dies} dies, depth {depth}: {low} < {throughput} < {high}");
    }
}

#[test]
fn a_closed_loop_on_one_die_or_of_one_request_never_idles_nor_overlaps() {
    for (dies, depth) in [(1, 1), (1, 16), (8, 1)] {
        let mut bench = servers(dies);
        bench.limits.closed_queue_depth = depth;
        let units = units_by_die(&bench);
        let mut stream = RandomStream::new(12, "tests", "closed");
        let device = bench.run(closed((0..10_000).map(|_| draw(&units, &mut stream).1).collect()));
        assert_eq!(device.now(), Ns(10_000 * SERVICE), "{dies} dies, depth {depth}");
    }
}

// ---- requests of several pages ------------------------------------------------------------------------

/// When each page read was issued.
#[derive(Debug, Default)]
struct Issues(Vec<u64>);

impl Probe for Issues {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        let Event::CommandIssued { command, .. } = event else { return Ok(()) };
        assert_eq!((command.kind, command.plane_count()), (CommandKind::Read, 1));
        self.0.push(view.now.0);
        Ok(())
    }
}

/// Mean wait of a page in services, for requests of `sizes` pages with equal probability: of Lindley's recursion over
/// all pages, which the simulated first ones follow.
fn mean_page_wait(sizes: &[u64], rho: f64, requests: u64) -> f64 {
    // Pages of one unit, so that a request of n units reads n pages.
    let mut bench = Bench { page_bytes: 4_096, blocks_per_plane: 32, ..servers(1) };
    bench.engine.multi_plane = false;
    let units = u64::from(bench.logical_units());
    let mean_size = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
    let mut arrivals = Poisson::new(5, SERVICE as f64 * mean_size / rho);
    let mut stream = RandomStream::new(5, "tests", "sizes");
    let mut submitted = Vec::new();
    let mut list: Vec<Request> = (0..requests)
        .map(|_| {
            let pages = sizes[stream.below(sizes.len() as u64) as usize];
            let time = arrivals.next();
            submitted.extend((0..pages).map(|_| (time, SERVICE)));
            at(time, read(stream.below(units - pages) * UNIT_SECTORS, (pages * UNIT_SECTORS) as u32))
        })
        .collect();
    list.truncate(SIMULATED / 4);
    let pages = list.iter().map(|request| u64::from(request.sectors) / UNIT_SECTORS).sum::<u64>() as usize;
    let mut device = bench.device_with::<Watched>(open(list), Box::new(Issues::default()));
    device.run().expect("the run ends well");
    let issued = &device.probe::<Issues>().0;
    assert_eq!(issued.len(), pages, "a request of n pages is n page reads");
    // Pages are served in the order in which they came.
    let expected = oracle::first_come_first_served_waits(1, &submitted);
    let differs = (0..pages).find(|&page| issued[page] - submitted[page].0 != expected[page]);
    assert_eq!(differs, None, "the page that Lindley's recursion says otherwise of");
    expected.iter().sum::<u64>() as f64 / expected.len() as f64 / SERVICE as f64
}

#[test]
fn pages_of_large_requests_wait_as_batch_arrivals() {
    // Four pages each: E[X] = 12. The published mean wait at load .6 is 4.5 services.
    let four = mean_page_wait(&[4], 0.6, 500_000);
    assert_within("X = 4", four, oracle::batch_md1_page_wait(0.15, 4.0, 12.0, 1.0), 0.02);
    assert_within("X = 4, published", four, 4.5, 0.02);
    // One page or seven: E[X] = 4, E[X] = 21.
    let mixed = mean_page_wait(&[1, 7], 0.6, 1_000_000);
    assert_within("X = 1 or 7", mixed, oracle::batch_md1_page_wait(0.15, 4.0, 21.0, 1.0), 0.02);
}

// ---- Little's law -------------------------------------------------------------------------------------

/// Two channels of two dies of two planes in use, with garbage collection.
fn busy_drive() -> Bench {
    let mut bench = Bench::tiny().busy();
    bench.engine.command_cost = Ns(700);
    bench.engine.link_rate = ninescope_kernel::Rate(3_000_000_000);
    bench
}

/// Reads, writes of any alignment, trims and flushes at random times, some at the same time.
fn mixed_requests(bench: &Bench, count: u32, mean_gap: f64) -> Vec<Request> {
    let mut stream = RandomStream::new(21, "tests", "mixed");
    let mut arrivals = Poisson::new(21, mean_gap);
    let sectors = bench.logical_sectors();
    let mut time = 0;
    (0..count)
        .map(|_| {
            if stream.below(4) != 0 {
                time = arrivals.next();
            }
            let length = 1 + stream.below(64);
            let lba = stream.below(sectors - length);
            let request = match stream.below(20) {
                0 => trim(lba, length as u32),
                1 => flush(),
                2..=9 => write(lba, length as u32),
                _ => read(lba, length as u32),
            };
            at(time, request)
        })
        .collect()
}

#[test]
fn the_sum_of_latencies_equals_the_integral_of_the_number_in_the_system() {
    for (queue_depth, arrival) in
        [(1024, Arrival::Open), (4, Arrival::Open), (1, Arrival::Open), (32, Arrival::Closed), (1, Arrival::Closed)]
    {
        let mut bench = busy_drive();
        bench.engine.queue_depth = queue_depth;
        bench.limits.closed_queue_depth = queue_depth;
        let requests = mixed_requests(&bench, 40_000, 200_000.0);
        let device =
            bench.run(if arrival == Arrival::Open { open(requests.clone()) } else { closed(requests.clone()) });
        assert!(device.counters().group_erases > 100, "garbage collection was at work");
        let times: Vec<(u64, u64)> =
            device.request_log().iter().map(|entry| (entry.submitted.0, entry.submitted.0 + entry.latency.0)).collect();
        assert_eq!(times.len(), requests.len());
        let sides = LittleSides::of(&times);
        let meter = device.meter();
        assert_eq!(meter.latency_sum, sides.integral_of_number, "depth {queue_depth}, {arrival:?}");
        let by_operation: u128 = meter.ops.iter().map(|op| op.latency.sum()).sum();
        assert_eq!(by_operation, meter.latency_sum);
        if arrival == Arrival::Open {
            let mut log: Vec<_> = device.request_log().iter().collect();
            log.sort_by_key(|entry| entry.id);
            let submitted = log.iter().zip(&requests).all(|(entry, request)| entry.submitted == request.submitted);
            assert!(submitted, "the log has the time stamps of the workload");
        } else {
            // As many as the depth are inside until the last one is submitted.
            let last = times.iter().map(|time| time.0).max().expect("requests");
            let until_then: u128 = times.iter().map(|time| u128::from(time.1.min(last) - time.0)).sum();
            assert_eq!(until_then, u128::from(queue_depth) * u128::from(last));
        }
    }
}
