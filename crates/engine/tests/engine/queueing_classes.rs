//! One die with two kinds of work against queueing theory: served in the order of arrival, reads first, and with
//! suspends that cost nothing. Arrivals are Poisson; a mean must lie within the interval that its own batch means give
//! for 99.9 %, and that interval must be narrow.
//!
//! The urgent class are host reads. For the other one there are two honest ways, and both are taken:
//!
//! * *Programs*: each host write is a page, and completes with its program. Erases take a nanosecond.
//! * *Erases*: a block is one page, so that each host write takes a free block and garbage collection erases, at the
//!   same instant, one of those overwritten before. Programs take a nanosecond. A write is thus the arrival of an erase.
//!
//! In both, a nanosecond in 400 000 is what theory does not know of. Command cycles and transfers take no time.

use std::collections::VecDeque;

use crate::common::statistics::{Poisson, STUDENT_99_9, batch_half_width, mean};
use crate::common::{Bench, Prefill, at, generated, read, slc, write};
use ninescope_engine::{Event, Probe, SimulationError, TransactionSchedulerConfig, View, Watched, WriteCompletion};
use ninescope_kernel::{Ns, RandomStream, Rate};
use ninescope_media::nand::EraseLoops;
use ninescope_model::{Arrival, Lpa, Op, Workload};
use ninescope_oracles::queueing::{self as oracle, ServiceClass};

/// Array time of a read [ns].
const READ: u64 = 50_000;
/// Array time of a program or an erase: eight reads [ns].
const LONG: u64 = 8 * READ;
const UNIT_SECTORS: u64 = 8;

fn policy<T: serde::de::DeserializeOwned>(description: serde_json::Value) -> T {
    serde_json::from_value(description).expect("a registered policy")
}

// ---- the die -------------------------------------------------------------------------------------------

/// What else there is but reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    Programs,
    Erases,
}

/// Units that are only read; those above are only written.
const READ_UNITS: u64 = 64;
const UNITS: u64 = 128;

/// A die whose reads take [`READ`] and whose programs or erases take [`LONG`], and nothing else any time to speak of.
fn die(other: Other) -> Bench {
    let mut bench = Bench {
        page_bytes: 4_096,
        pages_per_block: 1,
        blocks_per_plane: 4 * UNITS as u32,
        logical_percent: 25,
        // Two blocks of three that hold no data are free, and overwritten ones are never wanting: with each
        // block that is taken one is erased.
        gc_trigger: policy(serde_json::json!({ "policy": "free-groups", "beyond_reserve": 255 })),
        prefill: Prefill::Overwritten(300),
        ..Bench::tiny()
    };
    let (program, erase) = if other == Other::Programs { (LONG, 1) } else { (1, LONG) };
    bench.timing = slc(READ, program);
    // Pulses of a nanosecond: a program can be stopped at any time, as an erase can.
    bench.timing.program_pulses = program as u32;
    (bench.timing.erase_loop, bench.timing.erase_loops) = (Ns(erase), EraseLoops::Fixed(1));
    bench.timing.command_address = Ns::ZERO;
    bench.timing.channel_rate = Rate(0);
    (bench.timing.suspend_recover, bench.timing.resume_ramp) = (Ns::ZERO, Ns::ZERO);
    if other == Other::Programs {
        bench.engine.write_completion = WriteCompletion::Program;
    }
    (bench.engine.queue_depth, bench.engine.buffered_pages) = (1 << 16, 1 << 16);
    bench.engine.log_requests = false;
    bench
}

/// Reads and writes, each a Poisson stream, in the order of their times.
fn two_streams((read_load, other_load): (f64, f64), reads: u64, seed: u64) -> impl Workload + use<> {
    let mut read_times = Poisson::new(seed, READ as f64 / read_load);
    let mut write_times = Poisson::new(seed + 1_000, LONG as f64 / other_load);
    let mut places = RandomStream::new(seed, "tests", "places");
    let (mut next_read, mut next_write) = (read_times.next(), write_times.next());
    let (mut reads_left, mut written) = (reads, 0);
    generated(Arrival::Open, move || {
        if next_read <= next_write {
            reads_left = reads_left.checked_sub(1)?;
            let time = std::mem::replace(&mut next_read, read_times.next());
            return Some(at(time, read(places.below(READ_UNITS) * UNIT_SECTORS, UNIT_SECTORS as u32)));
        }
        // In turn, so that what is overwritten was programmed long ago.
        written += 1;
        let unit = READ_UNITS + written % (UNITS - READ_UNITS);
        let time = std::mem::replace(&mut next_write, write_times.next());
        Some(at(time, write(unit * UNIT_SECTORS, UNIT_SECTORS as u32)))
    })
}

/// How long each read and each program or erase was in the system, in the order of arrival [ns].
#[derive(Debug)]
struct Sojourns {
    other: Other,
    /// When reads came.
    read_times: Vec<u64>,
    reads: Vec<u32>,
    others: Vec<u32>,
    /// When the erases came that have not ended.
    erases: VecDeque<u64>,
}

impl Probe for Sojourns {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        match event {
            Event::Completed { request, .. } if request.op == Op::Read => {
                self.read_times.push(request.submitted.0);
                self.reads.push((view.now - request.submitted).0 as u32);
            }
            Event::Completed { request, .. } if self.other == Other::Programs => {
                self.others.push((view.now - request.submitted).0 as u32);
            }
            Event::UnitWritten { .. } if self.other == Other::Erases => self.erases.push_back(view.now.0),
            Event::Erased { .. } if self.other == Other::Erases => {
                let came = self.erases.pop_front().expect("no more erases than writes");
                self.others.push((view.now.0 - came) as u32);
            }
            _ => {}
        }
        Ok(())
    }
}

/// What [`two_streams`] meets on a die.
fn sojourns(bench: &Bench, other: Other, workload: impl Workload + 'static) -> Sojourns {
    let probe =
        Sojourns { other, read_times: Vec::new(), reads: Vec::new(), others: Vec::new(), erases: VecDeque::new() };
    let mut device = bench.device_with::<Watched>(workload, Box::new(probe));
    device.run().expect("the run ends well");
    let Sojourns { read_times, reads, others, erases, .. } = device.probe::<Sojourns>();
    assert!(erases.is_empty(), "each write has its erase");
    let counters = device.counters();
    assert_eq!((counters.gc_page_reads, counters.allocation_stalls, counters.buffer_stalls), (0, 0, 0));
    let (read_times, reads, others) = (read_times.clone(), reads.clone(), others.clone());
    Sojourns { other, read_times, reads, others, erases: VecDeque::new() }
}

// ---- comparing -----------------------------------------------------------------------------------------

/// The classes of theory, in nanoseconds.
fn classes((read_load, other_load): (f64, f64)) -> [ServiceClass; 2] {
    let class = |load: f64, service: u64| ServiceClass::constant(load / service as f64, service as f64);
    [class(read_load, READ), class(other_load, LONG)]
}

/// The mean is the expected one within its 99.9 % interval, whose half-width is less than 5 % of it.
#[track_caller]
fn assert_mean(name: &str, times: &[u32], expected: f64) {
    let (measured, half_width) = (mean(times), batch_half_width(times, STUDENT_99_9));
    let error = (measured / expected - 1.0) * 100.0;
    println!("{name}: measured {measured:.0} +- {half_width:.0}, expected {expected:.0}, {error:+.2} %");
    assert!(half_width < 0.05 * expected, "{name}: {} samples give only +- {half_width}", times.len());
    assert!((measured - expected).abs() <= half_width, "{name}: {measured} +- {half_width}, expected {expected}");
}

/// Less `service` each.
fn waits(sojourns: &[u32], service: u64) -> Vec<u32> {
    sojourns.iter().map(|sojourn| sojourn - service as u32).collect()
}

/// Load of the reads and of the rest, and how many reads are drawn. The first are those of the published values: reads
/// .3 at 1, others .05 at 8.
const LOADS: [((f64, f64), u64); 2] = [((0.3, 0.4), 1_200_000), ((0.5, 0.3), 1_800_000)];

/// Runs a die that `change` sets up with both kinds of other work at all loads, with one in `of` of the reads.
fn for_both(of: u64, change: impl Fn(&mut Bench), check: impl Fn(&str, (f64, f64), &Sojourns)) {
    for other in [Other::Programs, Other::Erases] {
        for (seed, (loads, reads)) in (1..).zip(LOADS) {
            let mut bench = die(other);
            change(&mut bench);
            let name = format!("reads {} and {other:?} {}", loads.0, loads.1);
            let seed = if other == Other::Programs { seed } else { 10 + seed };
            let workload = two_streams(loads, reads / of, seed);
            check(&name, loads, &sojourns(&bench, other, workload));
        }
    }
}

// ---- what must hold ------------------------------------------------------------------------------------

#[test]
fn in_the_order_of_arrival_both_classes_wait_as_the_mg1_mixture_says() {
    let fifo = |bench: &mut Bench| bench.engine.scheduler = policy(serde_json::json!({ "policy": "fifo" }));
    for_both(1, fifo, |name, loads, seen| {
        // Poisson arrivals of both kinds find the same queue.
        let expected = oracle::mg1_mean_wait(&classes(loads));
        assert_mean(&format!("{name}: wait of reads"), &waits(&seen.reads, READ), expected);
        assert_mean(&format!("{name}: wait of the others"), &waits(&seen.others, LONG), expected);
    });
}

#[test]
fn reads_first_makes_both_classes_wait_as_cobham_says() {
    let reads_first = |bench: &mut Bench| bench.engine.scheduler = TransactionSchedulerConfig::default();
    for_both(1, reads_first, |name, loads, seen| {
        let expected = oracle::cobham(&classes(loads));
        assert_mean(&format!("{name}: wait of reads"), &waits(&seen.reads, READ), expected[0]);
        assert_mean(&format!("{name}: wait of the others"), &waits(&seen.others, LONG), expected[1]);
    });
}

#[test]
fn suspends_at_no_cost_are_preemptive_resume_priority() {
    let suspends = |bench: &mut Bench| {
        bench.engine.suspend = policy(serde_json::json!({ "policy": "immediate", "programs": true }));
    };
    // Times in the system vary less than waits: half of the reads give the same half-width of less than 5 %.
    for_both(2, suspends, |name, loads, seen| {
        let expected = oracle::preemptive_resume(&classes(loads));
        assert_mean(&format!("{name}: time of reads"), &seen.reads, expected[0]);
        assert_mean(&format!("{name}: time of the others"), &seen.others, expected[1]);
        assert_reads_wait_for_each_other_alone(name, seen);
    });
}

/// Not only in the mean.
fn assert_reads_wait_for_each_other_alone(name: &str, seen: &Sojourns) {
    let arrivals: Vec<(u64, u64)> = seen.read_times.iter().map(|&time| (time, READ)).collect();
    let alone = oracle::first_come_first_served_waits(1, &arrivals);
    for (index, (wait, alone)) in waits(&seen.reads, READ).into_iter().zip(alone).enumerate() {
        // What takes a nanosecond is not suspended, and what goes on does one at least: a busy period of reads
        // begins that much later.
        let late = u64::from(wait) - alone;
        assert!(late <= 1, "{name}: read {index} waits {late} ns for others");
    }
}

// ---- reads of two lengths ------------------------------------------------------------------------------

/// Array time of the pages that a wordline holds first and second [ns].
const PAGE_TYPES: [u64; 2] = [20_000, 200_000];

/// The units whose pages are of each type, on a die that takes nothing but array time.
fn two_page_types() -> (Bench, [Vec<u64>; 2]) {
    let mut bench = Bench::tiny();
    bench.timing.read = PAGE_TYPES.map(Ns).to_vec();
    bench.timing.program = vec![Ns(400_000); 2];
    (bench.timing.command_address, bench.timing.channel_rate) = (Ns::ZERO, Rate(0));
    bench.engine.log_requests = true;
    let (ftl, geometry) = (bench.ftl(), bench.geometry());
    let mut units = [Vec::new(), Vec::new()];
    for unit in 0..bench.logical_units() {
        units[geometry.locate(ftl.translate(Lpa(unit))).page as usize % 2].push(u64::from(unit));
    }
    (bench, units)
}

#[test]
fn fast_and_slow_pages_make_reads_wait_as_the_mg1_mixture_says() {
    // Nine of ten reads take 1, the tenth takes 10: E[S] = 1.9, E[S^2] = 10.9. Published: 1.22932 and 6.69298.
    for (load, published, requests) in [(0.3, 1.229_32, 700_000), (0.7, 6.692_98, 2_500_000)] {
        let (bench, units) = two_page_types();
        let unit_time = PAGE_TYPES[0] as f64;
        let mut arrivals = Poisson::new(2, 1.9 * unit_time / load);
        let mut stream = RandomStream::new(2, "tests", "types");
        let mut services = Vec::with_capacity(requests);
        let mut list: Vec<_> = (0..requests)
            .map(|_| {
                let page_type = usize::from(stream.below(10) == 0);
                let unit = units[page_type][stream.below(units[page_type].len() as u64) as usize];
                let time = arrivals.next();
                services.push((time, PAGE_TYPES[page_type]));
                at(time, read(unit * UNIT_SECTORS, UNIT_SECTORS as u32))
            })
            .collect();
        // All of them wait as the recursion says: of so many that their mean is known, the first are simulated.
        list.truncate(300_000);
        let simulated = list.len();
        let device = bench.run(crate::common::open(list));
        assert_eq!(device.request_log().iter().count(), simulated);
        let exact = oracle::first_come_first_served_waits(1, &services);
        let differs = device.request_log().iter().find(|entry| {
            let id = entry.id as usize;
            exact[id] != entry.latency.0 - services[id].1
        });
        assert!(differs.is_none(), "Lindley's recursion says otherwise: {differs:?}");
        let exact: Vec<u32> = exact.into_iter().map(|wait| wait as u32).collect();
        assert_mean(&format!("load {load}"), &exact, published * unit_time);
    }
}
