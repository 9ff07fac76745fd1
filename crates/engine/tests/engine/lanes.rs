//! Several workloads at the same time: each keeps its depth and its rate, has its turn, begins and ends when it is to.
//!
//! Each die has a channel of its own and the controller takes no time, so that a read of a free die takes [`SERVICE`].

use crate::common::{Bench, at, closed, flush, open, read, slc};
use ninescope_engine::reliability::{Reliability, ReliabilityConfig};
use ninescope_engine::{
    Device, Event, Kind, LaneConfig, NoProbe, OnHeap, Probe, RunLimits, SimulationError, Think, View, Watched,
};
use ninescope_kernel::{Ns, RandomStream};
use ninescope_model::{DieId, Lpa, Request};
use ninescope_oracles::little::LittleSides;

const SERVICE: u64 = 50_000;
const UNIT_SECTORS: u64 = 8;

fn servers(dies: u32) -> Bench {
    Bench { channels: dies, timing: slc(SERVICE - 300 - 4_096, 400_000), ..Bench::tiny() }
}

/// Reads of units that lie on these dies, each unit once and then again from the beginning.
fn reads_of(bench: &Bench, dies: &[u32], count: usize) -> Vec<Request> {
    let ftl = bench.ftl();
    let on_die = |unit: &u32| dies.contains(&bench.die_of(&ftl, Lpa(*unit)).0);
    let units: Vec<u32> = (0..bench.logical_units()).filter(on_die).collect();
    let unit = |index: usize| u64::from(units[index % units.len()]);
    (0..count).map(|index| read(unit(index) * UNIT_SECTORS, UNIT_SECTORS as u32)).collect()
}

fn lane(requests: Vec<Request>, depth: u32) -> LaneConfig {
    LaneConfig::new(Box::new(closed(requests)), depth)
}

fn arriving(requests: Vec<Request>, gap: u64) -> LaneConfig {
    let timed = |(index, request)| at(index as u64 * gap, request);
    LaneConfig::new(Box::new(open(requests.into_iter().enumerate().map(timed).collect())), 1)
}

/// When each command of each lane was submitted and completed, in the order of completion.
#[derive(Debug, Default)]
struct Times {
    lane_of_slot: Vec<u16>,
    lanes: Vec<Vec<(u64, u64)>>,
    fetched: Vec<u16>,
    inside: Vec<u32>,
    inside_max: Vec<u32>,
}

impl Probe for Times {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        match event {
            Event::Started { lane_depths, .. } => {
                self.lanes.resize(lane_depths.len(), Vec::new());
                self.inside.resize(lane_depths.len(), 0);
                self.inside_max.resize(lane_depths.len(), 0);
            }
            Event::Fetched { slot, lane, .. } => {
                self.lane_of_slot.resize(self.lane_of_slot.len().max(slot as usize + 1), 0);
                self.lane_of_slot[slot as usize] = lane;
                self.fetched.push(lane);
                let lane = lane as usize;
                self.inside[lane] += 1;
                self.inside_max[lane] = self.inside_max[lane].max(self.inside[lane]);
            }
            Event::Completed { slot, request, .. } => {
                let lane = self.lane_of_slot[slot as usize] as usize;
                self.inside[lane] -= 1;
                self.lanes[lane].push((request.submitted.0, view.now.0));
            }
            _ => {}
        }
        Ok(())
    }
}

fn run_on<K: Kind>(bench: &Bench, lanes: Vec<LaneConfig>, probe: K::Probe) -> Device<K> {
    let ftl = bench.ftl();
    let nand = bench.nand(&ftl);
    let mut device = Device::with_lanes(&bench.engine, &bench.limits, ftl, nand, lanes, probe);
    device.run().expect("the run ends well");
    device
}

fn run(bench: &Bench, lanes: Vec<LaneConfig>) -> Device<Watched> {
    run_on::<Watched>(bench, lanes, Box::new(Times::default()))
}

#[test]
fn closed_jobs_on_dies_of_their_own_run_as_if_alone() {
    let bench = servers(4);
    let (first, second) = (reads_of(&bench, &[0, 1], 500), reads_of(&bench, &[2, 3], 700));
    let alone = [&first, &second].map(|requests| run(&bench, vec![lane(requests.clone(), 1)]));
    let together = run(&bench, vec![lane(first, 1), lane(second, 1)]);
    for (index, alone) in alone.iter().enumerate() {
        assert_eq!(together.probe::<Times>().lanes[index], alone.probe::<Times>().lanes[0]);
        let metered = &together.meter().lanes[index];
        assert_eq!(metered.ops[0].latency.count(), alone.meter().ops[0].latency.count());
        assert_eq!(metered.elapsed(), alone.now(), "as many requests in the same time: the same IOPS");
        assert_eq!(metered.elapsed().0, metered.ops[0].latency.count() * SERVICE);
    }
    assert!(alone[0].meter().lanes.is_empty(), "a workload alone is not metered twice");
}

/// When a job of `count` reads of one die submitted, resting for `rest` after every `every` completions.
fn submissions(count: usize, depth: u32, rest: u64, every: u64, duration: Option<Ns>) -> (Vec<u64>, Ns) {
    let bench = servers(1);
    let think = Some(Think { time: Ns(rest), every });
    let device = run(&bench, vec![LaneConfig { think, duration, ..lane(reads_of(&bench, &[0], count), depth) }]);
    (device.probe::<Times>().lanes[0].iter().map(|&(submitted, _)| submitted).collect(), device.now())
}

#[test]
fn a_job_that_thinks_rests_after_so_many_completions() {
    let rest = 7 * SERVICE;
    let (alone, end) = submissions(5, 1, rest, 1, None);
    assert_eq!(alone, (0..5).map(|index| index * (SERVICE + rest)).collect::<Vec<_>>());
    assert_eq!(end.0, 5 * SERVICE + 4 * rest, "it does not think when it is over");
    let (pairs, _) = submissions(6, 1, rest, 2, None);
    let round = 2 * SERVICE + rest;
    assert_eq!(pairs, [0, SERVICE, round, round + SERVICE, 2 * round, 2 * round + SERVICE]);
    // The first completion makes the rest due; the other three in flight count for the next one, which is due as soon
    // as another command is in: fio's docs say that thinktime caps the depth.
    let (deep, _) = submissions(7, 4, rest, 1, None);
    let first = 4 * SERVICE + rest;
    assert_eq!(deep, [0, 0, 0, 0, first, first + SERVICE + rest, first + 2 * (SERVICE + rest)]);
}

#[test]
fn a_job_that_thinks_ends_on_time() {
    let (within, end) = submissions(100, 1, 10 * SERVICE, 1, Some(Ns(13 * SERVICE)));
    assert_eq!(within, [0, 11 * SERVICE]);
    assert_eq!(end.0, 13 * SERVICE, "and what waits for it is told then");
}

#[test]
fn an_open_job_keeps_its_rate_whatever_a_closed_one_does() {
    let bench = servers(1);
    let (gap, count) = (4 * SERVICE, 300);
    for depth in [1, 4, 32] {
        let lanes = vec![lane(reads_of(&bench, &[0], 3_000), depth), arriving(reads_of(&bench, &[0], count), gap)];
        let device = run(&bench, lanes);
        let submitted: Vec<u64> = device.probe::<Times>().lanes[1].iter().map(|&(submitted, _)| submitted).collect();
        assert_eq!(submitted, (0..count as u64).map(|index| index * gap).collect::<Vec<_>>(), "depth {depth}");
        let metered = &device.meter().lanes[1];
        let rate = metered.ops[0].latency.count() as f64 / (metered.elapsed().0 as f64 / 1e9);
        let wanted = 1e9 / gap as f64;
        // The last request is waited for: behind at most all that is inside.
        assert!(rate <= wanted * 1.005 && rate > wanted * (1.0 - f64::from(depth + 2) / 300.0), "{rate}, {wanted}");
    }
}

#[test]
fn a_drive_that_scrubs_is_through_although_a_job_never_begins() {
    let scrub = serde_json::json!({ "policy": "periodic", "period": "1ms" });
    let reliability = ReliabilityConfig {
        scrub: Some(serde_json::from_value(scrub).expect("a policy")),
        ..ReliabilityConfig::default()
    };
    let limits = [
        RunLimits { requests: Some(100), ..RunLimits::default() },
        RunLimits { duration: Some(Ns(100 * SERVICE)), ..RunLimits::default() },
    ];
    let long = Ns(1_000_000_000_000);
    for (limits, begins, stage) in limits.iter().flat_map(|limits| [(limits, Ns::ZERO, 1), (limits, long, 0)]) {
        let bench = Bench { limits: *limits, ..servers(1) };
        let later = LaneConfig { begins, stage, ..lane(reads_of(&bench, &[0], 10), 1) };
        let lanes = vec![lane(reads_of(&bench, &[0], 200), 1), later];
        let ftl = bench.ftl();
        let nand = bench.nand(&ftl);
        let mut device: Device = Device::with_lanes(&bench.engine, &bench.limits, ftl, nand, lanes, NoProbe);
        device.set_reliability(&reliability);
        assert!(device.run_slice(1_000_000).expect("the run goes well").finished, "{limits:?}, {begins}, {stage}");
        assert!(device.seen().reliability.is_some_and(Reliability::host_ended), "a host that is over");
        let ended = device.seen().latest_completion;
        assert!(device.now() < ended + Ns(10 * SERVICE), "{limits:?}, {begins}, {stage}");
    }
}

#[test]
fn each_lane_has_its_turn_where_the_drive_is_full() {
    let mut bench = servers(1);
    bench.engine.queue_depth = 1;
    let device = run(&bench, (0..3).map(|_| lane(reads_of(&bench, &[0], 50), 8)).collect());
    let turns: Vec<u16> = (0..150).map(|index| index % 3).collect();
    assert_eq!(device.probe::<Times>().fetched, turns);
}

#[test]
fn depths_hold_by_lane_and_littles_law_does_in_each() {
    let mut stream = RandomStream::new(5, "tests", "lanes");
    for queue_depth in [3, 9, 64] {
        let mut bench = servers(4);
        bench.engine.queue_depth = queue_depth;
        let some = |stream: &mut RandomStream, count: usize| {
            let all = reads_of(&bench, &[0, 1, 2, 3], 97);
            (0..count).map(|_| all[stream.below(97) as usize]).chain([flush()]).collect::<Vec<_>>()
        };
        let lanes = |stream: &mut RandomStream| {
            vec![lane(some(stream, 400), 2), lane(some(stream, 900), 5), arriving(some(stream, 200), 30_000)]
        };
        let device = run(&bench, lanes(&mut stream.clone()));
        let again = run_on::<OnHeap>(&bench, lanes(&mut stream), NoProbe);
        assert_eq!(device.digest(), again.digest(), "with any wake-up queue");
        let times = device.probe::<Times>();
        assert_eq!(times.inside_max[..2], [2.min(queue_depth), 5.min(queue_depth)]);
        assert!(times.inside_max[2] <= queue_depth);
        for (lane, metered) in times.lanes.iter().zip(&device.meter().lanes) {
            let sides = LittleSides::of(lane);
            let sum: u128 = metered.ops.iter().map(|op| op.latency.sum()).sum();
            assert_eq!((sum, sum), (sides.sum_of_times, sides.integral_of_number));
        }
        let all: u64 = device.meter().ops.iter().map(|op| op.latency.count()).sum();
        assert_eq!(all, 401 + 901 + 201);
        assert_eq!(times.lanes.iter().map(Vec::len).collect::<Vec<_>>(), [401, 901, 201]);
    }
}

#[test]
fn a_lane_begins_at_its_time_and_its_duration_counts_from_there() {
    let bench = servers(2);
    let delay = 123_456;
    let mut late = lane(reads_of(&bench, &[0], 100), 1);
    late.begins = Ns(delay);
    late.duration = Some(Ns(10 * SERVICE));
    let mut later = arriving(reads_of(&bench, &[1], 100), 2 * SERVICE);
    later.begins = Ns(2 * delay);
    later.duration = Some(Ns(10 * SERVICE));
    let device = run(&bench, vec![late, later]);
    let begins =
        |lane: usize| device.probe::<Times>().lanes[lane].iter().map(|&(submitted, _)| submitted).collect::<Vec<_>>();
    assert_eq!(begins(0), (0..10).map(|index| delay + index * SERVICE).collect::<Vec<_>>());
    assert_eq!(begins(1), (0..5).map(|index| 2 * delay + index * 2 * SERVICE).collect::<Vec<_>>());
    assert_eq!(device.meter().lanes[0].since, Some(Ns(delay)));
}

#[test]
fn a_stage_begins_when_everything_before_it_is_over() {
    let bench = servers(2);
    let staged = |count, dies: &[u32], stage| LaneConfig { stage, ..lane(reads_of(&bench, dies, count), 1) };
    let mut last = staged(5, &[0], 2);
    last.begins = Ns(40 * SERVICE);
    let lanes = vec![staged(10, &[0], 0), staged(20, &[1], 0), staged(5, &[0], 1), staged(7, &[1], 1), last];
    let device = run(&bench, lanes);
    let first = |lane: usize| device.probe::<Times>().lanes[lane][0].0;
    assert_eq!([0, 1, 2, 3, 4].map(first), [0, 0, 20 * SERVICE, 20 * SERVICE, 40 * SERVICE]);
    // An open workload that its duration ends is over with its last completion.
    let mut rated = arriving(reads_of(&bench, &[0], 50), 3 * SERVICE);
    rated.duration = Some(Ns(10 * SERVICE));
    let device = run(&bench, vec![rated, staged(1, &[0], 1)]);
    assert_eq!(device.probe::<Times>().lanes[1], [(10 * SERVICE, 11 * SERVICE)]);
    assert_eq!(device.probe::<Times>().lanes[0].len(), 4);
}

#[test]
fn the_limits_of_the_run_are_those_of_all_lanes_together() {
    let mut bench = servers(2);
    let lanes = || {
        let mut never = lane(reads_of(&bench, &[0], 10), 1);
        never.begins = Ns(1 << 50);
        vec![lane(reads_of(&bench, &[0], 100), 1), arriving(reads_of(&bench, &[1], 100), SERVICE), never]
    };
    let all = lanes();
    bench.limits = RunLimits { requests: Some(31), ..bench.limits };
    let device = run(&bench, all);
    assert_eq!(device.completed(), 31);
    assert_eq!(device.now(), Ns(16 * SERVICE), "nothing waits for a lane that would have begun later");
    let mut bench = servers(2);
    let lanes = vec![lane(reads_of(&bench, &[0], 100), 1), arriving(reads_of(&bench, &[1], 100), SERVICE)];
    bench.limits = RunLimits { duration: Some(Ns(7 * SERVICE)), ..bench.limits };
    let device = run(&bench, lanes);
    assert_eq!(device.probe::<Times>().lanes.iter().map(Vec::len).collect::<Vec<_>>(), [7, 7]);
}

#[test]
fn measuring_begins_at_its_time() {
    for several in [false, true] {
        let mut bench = servers(2);
        bench.limits = RunLimits { warmup_time: Some(Ns(10 * SERVICE + 1)), ..bench.limits };
        let mut lanes = vec![lane(reads_of(&bench, &[0], 30), 1)];
        lanes.extend(several.then(|| {
            let late = lane(reads_of(&bench, &[1], 3), 1);
            LaneConfig { begins: Ns(12 * SERVICE), ..late }
        }));
        let device = run(&bench, lanes);
        assert_eq!(device.meter().since, Ns(10 * SERVICE + 1));
        let late = 3 * u64::from(several);
        assert_eq!(device.meter().ops[0].latency.count(), 20 + late, "those that complete later");
        if let [first, second] = &device.meter().lanes[..] {
            assert_eq!((first.since, second.since), (Some(Ns(10 * SERVICE + 1)), Some(Ns(12 * SERVICE))));
            assert_eq!(second.elapsed().0, 3 * SERVICE);
        }
    }
}

#[test]
fn a_stage_behind_work_without_media_begins_in_the_same_instant() {
    let bench = servers(1);
    let first = lane(vec![flush(); 3], 1);
    let second = LaneConfig { stage: 1, ..lane(reads_of(&bench, &[0], 1), 1) };
    let device = run(&bench, vec![first, second]);
    assert_eq!(device.probe::<Times>().lanes[1], [(0, SERVICE)]);
    assert_eq!(bench.die_of(&bench.ftl(), Lpa(0)), DieId(0));
}
