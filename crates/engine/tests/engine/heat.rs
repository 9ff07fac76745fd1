//! A drive that warms itself: how warm it is after a time, from when to when it is throttled, to the window, and what a load settles to,
//! by closed forms.

use ninescope_engine::{HeatConfig, HeatSeen, Power, PowerConfig, PowerState, ThrottleStep, ThrottleTimes};
use ninescope_kernel::Ns;
use ninescope_model::{Cause, Op, Request};
use ninescope_oracles::heat::{after, cycle, mean_until, time_until};

use crate::scenario::{
    COMMAND, Drive, Outcome, READ, UNIT_READ, UNIT_TRANSFER, eight_dies, mixed_requests, no_power, read,
    unit_of_each_die,
};

/// What the drive draws at rest [uW]: 40 K in the end.
const AT_REST: u64 = 4_000_000;
/// A die at work, which is next to nothing beside that.
const DIE: u64 = 1_000;
/// [C]
const AMBIENT: f64 = 25.0;
/// [K/W]
const RESISTANCE: f64 = 10.0;
/// [ns]
const TIME_CONSTANT: u64 = 10_000_000;
const WINDOW: u64 = 500_000;
/// Where it gets by what it draws at rest [C].
const WARM: f64 = 65.0;

fn millionths(celsius: f64) -> i64 {
    (celsius * 1e6).round() as i64
}

/// From a temperature on; each step above, until and with power for so many dies.
fn heat(begins_at: f64, steps: &[(f64, f64, u64)]) -> HeatConfig {
    let step = |&(above, until, dies): &(f64, f64, u64)| ThrottleStep {
        above: millionths(above),
        until: millionths(until),
        cap: AT_REST + dies * DIE,
    };
    HeatConfig {
        ambient: millionths(AMBIENT),
        resistance: (RESISTANCE * 1e6) as u64,
        time_constant: Ns(TIME_CONSTANT),
        begins_at: millionths(begins_at),
        window: Ns(WINDOW),
        throttle: steps.iter().map(step).collect(),
    }
}

fn power(heat: Option<HeatConfig>) -> PowerConfig {
    PowerConfig { die: [DIE; 3], at_rest: AT_REST, heat, ..no_power() }
}

/// Reads of all dies at each of these times.
fn all_dies_at(drive: &Drive, times: &[u64]) -> Vec<Request> {
    let units = unit_of_each_die(drive);
    times.iter().flat_map(|&at| units.iter().map(move |&unit| read(at, unit))).collect()
}

fn seen(run: &Outcome) -> &Power {
    run.device.seen().power.expect("power")
}

fn heat_of(run: &Outcome) -> HeatSeen {
    seen(run).heat(run.device.now()).expect("a drive that warms itself")
}

fn times(run: &Outcome) -> Vec<(u64, u64)> {
    heat_of(run).times.iter().map(|of: &ThrottleTimes| (of.entries, of.time.0)).collect()
}

/// Latencies of reads of all dies, of which so many have power at a time.
fn rounds(dies: u64) -> [u64; 8] {
    std::array::from_fn(|die| (die as u64 / dies + 1) * (COMMAND + READ) + UNIT_TRANSFER)
}

/// Those of the reads from this one on.
fn latencies(run: &Outcome, first: u64) -> [u64; 8] {
    std::array::from_fn(|die| run.latency(first + die as u64))
}

fn near(one: f64, other: f64, tolerance: f64) -> bool {
    (one - other).abs() < tolerance
}

// ---- how warm it is ---------------------------------------------------------------------------------

#[test]
fn what_it_draws_at_rest_warms_it_as_a_capacitor_is_charged() {
    for (begins_at, at) in [(AMBIENT, 50_000_000), (AMBIENT, 3_000_000), (90.0, 20_000_000), (WARM, 7_000_000)] {
        let run = eight_dies(PowerConfig { die: [0; 3], ..power(Some(heat(begins_at, &[]))) }).run(vec![read(at, 1)]);
        // The last window ends when the read comes.
        let (found, time) = (heat_of(&run), at as f64);
        let expected = after(begins_at, WARM, time, TIME_CONSTANT as f64);
        assert!(near(found.celsius, expected, 1e-6), "{found:?}, not {expected}, after {at} ns from {begins_at}");
        let mean = mean_until(begins_at, WARM, time, TIME_CONSTANT as f64);
        assert!(found.mean.is_some_and(|found| near(found, mean, 1e-6)), "{found:?}, not {mean} in the mean");
        let (highest, highest_at) = if begins_at > WARM { (begins_at, 0) } else { (found.celsius, at) };
        assert!(near(found.highest, highest, 1e-9), "{found:?}");
        // At where it stays it was so at any time.
        assert!(near(begins_at, WARM, 1e-9) || found.highest_at == Ns(highest_at), "{found:?}");
    }
}

#[test]
fn before_a_window_is_over_it_is_as_warm_as_it_began() {
    let found = heat_of(&eight_dies(power(Some(heat(80.0, &[(70.0, 60.0, 1)])))).run(vec![read(0, 1)]));
    assert_eq!((found.celsius, found.highest, found.mean), (80.0, 80.0, None));
    assert_eq!((found.begun, found.times), (0, vec![ThrottleTimes::default()]), "hot as it is, it was not measured");
}

#[test]
fn a_die_at_work_warms_it_by_its_energy() {
    // One watt for 50 us, which begins within a window and ends in it.
    let config = PowerConfig { die: [1_000_000; 3], at_rest: 0, ..power(Some(heat(AMBIENT, &[]))) };
    let run = eight_dies(config).run(vec![read(100_000, 1), read(WINDOW, 1)]);
    let mean = READ as f64 / WINDOW as f64;
    let expected = after(AMBIENT, AMBIENT + RESISTANCE * mean, WINDOW as f64, TIME_CONSTANT as f64);
    assert!(near(heat_of(&run).celsius, expected, 1e-9), "{:?}, not {expected}", heat_of(&run));
}

#[test]
fn a_state_of_less_power_cools_it() {
    let state = PowerState { after: Ns(5_000_000), enter: Ns::ZERO, leave: Ns::ZERO, power: 1_000_000 };
    let run =
        eight_dies(PowerConfig { states: vec![state], ..power(Some(heat(WARM, &[]))) }).run(vec![read(20_000_000, 1)]);
    // 1 W are 10 K.
    let expected = after(WARM, AMBIENT + 10.0, 15e6, TIME_CONSTANT as f64);
    assert!(near(heat_of(&run).celsius, expected, 1e-6), "{:?}, not {expected}", heat_of(&run));
}

// ---- a throttle -------------------------------------------------------------------------------------

/// The end of the window in which a temperature is passed.
fn window_of(from: f64, passed: f64) -> u64 {
    let time = time_until(from, WARM, passed, TIME_CONSTANT as f64);
    (time / WINDOW as f64).ceil() as u64 * WINDOW
}

#[test]
fn it_is_throttled_from_the_end_of_the_window_in_which_it_gets_too_warm() {
    // 10 ms ln(40 / 15) = 9.81 ms.
    let begins = window_of(AMBIENT, 50.0);
    assert_eq!(begins, 10_000_000);
    let drive = eight_dies(power(Some(heat(AMBIENT, &[(50.0, 45.0, 1)]))));
    let before = drive.run(all_dies_at(&drive, &[begins - 1]));
    assert_eq!((latencies(&before, 0), before.counters().power_waits), ([UNIT_READ; 8], 0));
    assert_eq!(before.counters().thermal_throttles, 1, "by the time the reads have ended");
    let run = drive.run(all_dies_at(&drive, &[begins]));
    assert_eq!(latencies(&run, 0), rounds(1));
    let waited: u64 = (0..8).map(|number| number * (COMMAND + READ)).sum();
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::DieThrottledByHeat, waited),
            (Cause::CommandArray, 8 * (COMMAND + READ)),
            (Cause::Transfer, 8 * UNIT_TRANSFER),
        ]
    );
    assert_eq!((run.counters().power_waits, run.counters().thermal_throttles), (7, 1));
    assert_eq!(times(&run), [(1, run.device.now().0 - begins)]);
}

#[test]
fn those_who_wait_go_on_at_the_end_of_the_window_in_which_it_is_cool_enough() {
    // It cools from 100 C: 10 ms ln(35 / 10) = 12.53 ms.
    let ends = window_of(100.0, 75.0);
    assert_eq!(ends, 13_000_000);
    let drive = eight_dies(power(Some(heat(100.0, &[(80.0, 75.0, 1)]))));
    let run = drive.run(all_dies_at(&drive, &[ends - 60_000]));
    let mut expected = [60_000 + UNIT_READ; 8];
    expected[..2].copy_from_slice(&[UNIT_READ, COMMAND + READ + UNIT_READ]);
    assert_eq!(latencies(&run, 0), expected, "the second one is under way, the others wait");
    let of = |cause| run.parts(Op::Read).into_iter().find(|(other, _)| *other == cause).map(|(_, time)| time);
    assert_eq!(of(Cause::DieThrottledByHeat), Some(COMMAND + READ + 6 * 60_000));
    assert_eq!(of(Cause::DieWaitingForPower), None);
    // It was measured first at the end of the first window.
    assert_eq!((times(&run), run.counters().thermal_throttles), (vec![(1, ends - WINDOW)], 1));
    assert_eq!((heat_of(&run).highest, heat_of(&run).highest_at), (100.0, Ns::ZERO));
    assert_eq!(run.device.now(), Ns(ends + UNIT_READ), "nothing is waited for behind that");
}

#[test]
fn commands_under_way_are_not_stopped() {
    let begins = window_of(AMBIENT, 50.0);
    let drive = eight_dies(power(Some(heat(AMBIENT, &[(50.0, 45.0, 1)]))));
    // All eight are, and the next read of each die goes when its data have left, one at a time.
    let run = drive.run(all_dies_at(&drive, &[begins - 10_000, begins]));
    assert_eq!(latencies(&run, 0), [UNIT_READ; 8]);
    let left = UNIT_READ - 10_000;
    assert_eq!(latencies(&run, 8), rounds(1).map(|latency| latency + left));
}

#[test]
fn a_second_step_leaves_less_power() {
    let steps = [(50.0, 45.0, 4), (60.0, 55.0, 1)];
    let (light, heavy) = (window_of(AMBIENT, 50.0), window_of(AMBIENT, 60.0));
    assert_eq!((light, heavy), (10_000_000, 21_000_000));
    let drive = eight_dies(power(Some(heat(AMBIENT, &steps))));
    let run = drive.run(all_dies_at(&drive, &[light - 1_000_000, light + 5_000_000, heavy]));
    assert_eq!(latencies(&run, 0), [UNIT_READ; 8]);
    assert_eq!(latencies(&run, 8), rounds(4));
    assert_eq!(latencies(&run, 16), rounds(1));
    assert_eq!(times(&run), [(1, heavy - light), (1, run.device.now().0 - heavy)]);
    assert_eq!(run.counters().thermal_throttles, 1, "it is throttled all the time");
}

#[test]
fn the_lower_of_two_caps_holds_and_each_wait_has_its_reason() {
    let begins = window_of(AMBIENT, 50.0);
    let capped = PowerConfig { cap: Some(AT_REST + 4 * DIE), ..power(Some(heat(AMBIENT, &[(50.0, 45.0, 1)]))) };
    let drive = eight_dies(capped);
    // The second four wait for power as ever, until it is hot: the first of them goes alone then.
    let run = drive.run(all_dies_at(&drive, &[begins - 20_000]));
    let first = COMMAND + READ;
    assert_eq!(latencies(&run, 0), [1, 1, 1, 1, 2, 3, 4, 5].map(|round| round * first + UNIT_TRANSFER));
    let of = |cause| run.parts(Op::Read).into_iter().find(|(other, _)| *other == cause).map(|(_, time)| time);
    assert_eq!(of(Cause::DieWaitingForPower), Some(4 * 20_000));
    assert_eq!(of(Cause::DieThrottledByHeat), Some((1 + 2 + 3 + 4) * first - 4 * 20_000));
}

// ---- a load -----------------------------------------------------------------------------------------

/// Random reads that keep all dies at work, each of which draws 1 W, as the drive does at rest; and the mean power of it [W].
fn loaded(cap: Option<u64>, heat: Option<HeatConfig>) -> (Outcome, f64) {
    let config = PowerConfig { die: [1_000_000; 3], at_rest: 1_000_000, cap, ..power(heat) };
    let mut drive = eight_dies(config);
    drive.engine.merge_window = 0;
    let units = unit_of_each_die(&drive);
    let run = drive.run((0..14_000).map(|number| read(0, units[number % 8])).collect());
    let (now, power) = (run.device.now(), seen(&run));
    let energy = power.spent().sum() + power.spent_at_rest(now);
    (run, energy as f64 / now.0 as f64 / 1e6)
}

#[test]
fn a_throttle_has_it_go_to_and_fro_between_two_temperatures() {
    const TWO_DIES: u64 = 3_000_000;
    let (above, until) = (75.0, 65.0);
    let step = ThrottleStep { above: millionths(above), until: millionths(until), cap: TWO_DIES };
    let throttle = HeatConfig { window: Ns(50_000), throttle: vec![step], ..heat(AMBIENT, &[]) };
    // What it draws all of the time as one or the other.
    let (hot, cool) = (loaded(None, None).1, loaded(Some(TWO_DIES), None).1);
    assert!(hot > 8.5 && near(cool, 3.0, 0.02), "{hot} W and {cool} W");
    let leads_to = |power: f64| AMBIENT + RESISTANCE * power;
    let time = TIME_CONSTANT as f64;
    let (up, down) = cycle((above, until), (leads_to(hot), leads_to(cool)), time);
    let first = time_until(AMBIENT, leads_to(hot), above, time);

    let (run, drawn) = loaded(None, Some(throttle));
    let (found, elapsed) = (heat_of(&run), run.device.now().0 as f64);
    let settled = elapsed - first;
    assert!(settled > 10.0 * (up + down), "{} cycles", settled / (up + down));
    // It begins with the way down.
    let cycles = settled / (up + down);
    assert!((0.95 * cycles..1.05 * cycles + 1.0).contains(&(found.begun as f64)), "{} of {cycles}", found.begun);
    let share = found.times[0].time.0 as f64 / settled;
    let expected = down / (up + down);
    assert!(near(share, expected, 0.03), "throttled for {share}, not {expected} of the time");
    let mean = (first * hot + settled * (expected * cool + (1.0 - expected) * hot)) / elapsed;
    assert!(near(drawn / mean, 1.0, 0.03), "{drawn} W, not {mean} W");
    // In a window, and while reads under way end, it gets warmer and cooler by so much at most.
    let beyond = (leads_to(hot) - above) * 2.0 * 50_000.0 / time;
    assert!(found.highest > above && found.highest < above + beyond, "{found:?}");
    // What was drawn and did not warm it has gone to the air.
    let warmer = (found.celsius - AMBIENT) * time / elapsed;
    let mean = AMBIENT + RESISTANCE * drawn - warmer;
    assert!(found.mean.is_some_and(|found| near(found, mean, 0.05)), "{found:?}, not {mean} C in the mean");
    // The rate in the mean is that of the power in the mean: each read takes 50 uJ beside what it draws at rest.
    let reads = 14_000.0 / (elapsed / 1e9);
    assert!(near(reads, (drawn - 1.0) / 50e-6, 1.0), "{reads} a second at {drawn} W");
    let long_run = (share * cool + (1.0 - share) * hot, (until - AMBIENT) / RESISTANCE, (above - AMBIENT) / RESISTANCE);
    assert!(long_run.1 < long_run.0 && long_run.0 < long_run.2, "{long_run:?}");
}

#[test]
fn a_throttle_that_is_not_reached_changes_nothing() {
    let requests: Vec<Request> = mixed_requests(7, 2_000, Drive::busy().logical_units, 20_000, 50);
    let digest = |heat: Option<HeatConfig>| {
        let mut drive = Drive::busy();
        drive.power = Some(power(heat));
        let run = drive.run(requests.clone());
        assert_eq!((run.counters().thermal_throttles, run.counters().power_waits), (0, 0));
        run.device.digest()
    };
    let free = digest(None);
    assert_eq!(digest(Some(heat(AMBIENT, &[]))), free);
    assert_eq!(digest(Some(heat(AMBIENT, &[(70.0, 60.0, 1)]))), free);
}

#[test]
fn all_work_ends_in_spite_of_a_throttle() {
    for seed in 1..=5 {
        let requests = mixed_requests(seed, 2_000, Drive::busy().logical_units, 20_000, 50);
        let mut drive = Drive::busy();
        let throttle = HeatConfig { window: Ns(20_000), ..heat(60.0, &[(62.0, 61.0, 2), (63.0, 62.5, 1)]) };
        drive.power = Some(power(Some(throttle)));
        let run = drive.run(requests);
        assert!(run.counters().thermal_throttles > 0, "seed {seed}: {:?}", heat_of(&run));
        assert!(run.counters().power_waits > 0, "seed {seed}");
    }
}
