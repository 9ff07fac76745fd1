//! States of less power: what requests wait that find the drive in one, and what it draws meanwhile, worked out by hand.

use ninescope_engine::{Fetch, LinkCarries, Power, PowerConfig, PowerState, ProtocolConfig, StateTimes};
use ninescope_kernel::{Ns, Rate};
use ninescope_media::nand::CommandKind;
use ninescope_model::{Cause, Op, Request};

use crate::scenario::{
    COMMAND, Drive, ERASE, Outcome, READ, UNIT_READ, UNIT_TRANSFER, flush, mixed_requests, no_power, read, write,
};

/// What the drive draws at rest while it is awake [uW].
const AT_REST: u64 = 1_000_000;
/// The same in the first state, and in the second.
const LIGHT: u64 = 70_000;
const DEEP: u64 = 5_000;
/// When the first state is entered, and the second [ns].
const AFTER: u64 = 1_000_000;
const LATER: u64 = 20_000_000;
const ENTER: u64 = 50_000;
const LEAVE: u64 = 500_000;
const ENTER_DEEP: u64 = 2_000_000;
const LEAVE_DEEP: u64 = 22_000_000;

fn states() -> Vec<PowerState> {
    vec![
        PowerState { after: Ns(AFTER), enter: Ns(ENTER), leave: Ns(LEAVE), power: LIGHT },
        PowerState { after: Ns(LATER), enter: Ns(ENTER_DEEP), leave: Ns(LEAVE_DEEP), power: DEEP },
    ]
}

fn power(states: Vec<PowerState>) -> PowerConfig {
    PowerConfig { at_rest: AT_REST, states, ..no_power() }
}

/// A filled drive with these two states.
fn drive() -> Drive {
    Drive::with(|drive| {
        drive.prepared = (0..24).collect();
        drive.power = Some(power(states()));
    })
}

fn seen(run: &Outcome) -> &Power {
    run.device.seen().power.expect("power")
}

/// By state: how often, and how long [ns].
fn times(run: &Outcome) -> Vec<(u64, u64)> {
    let of = |times: &StateTimes| (times.entries, times.time.0);
    seen(run).times_in_states(run.device.now()).iter().map(of).collect()
}

fn fj(power: u64, time: u64) -> u128 {
    u128::from(power) * u128::from(time)
}

#[test]
fn reads_so_far_apart_take_their_service_and_the_way_out_of_the_state() {
    let gap = 10_000_000;
    let run = drive().run((1..=5).map(|number| read(number * gap, number)).collect());
    for number in 0..5 {
        assert_eq!(run.latency(number), LEAVE + UNIT_READ);
    }
    assert_eq!(
        run.parts(Op::Read),
        [(Cause::CommandArray, 5 * (COMMAND + READ)), (Cause::Transfer, 5 * UNIT_TRANSFER), (Cause::Waking, 5 * LEAVE)]
    );
    assert_eq!(run.counters().power_wakes, 5);
    // The first one comes when the drive has rested since it began, the others when it has since the one before was read.
    let in_state = (gap - AFTER - ENTER) + 4 * (gap - LEAVE - UNIT_READ - AFTER - ENTER);
    assert_eq!(times(&run), [(5, in_state), (0, 0)]);
    let elapsed = 5 * gap + LEAVE + UNIT_READ;
    assert_eq!(run.device.now(), Ns(elapsed));
    // It draws as much as ever until it is in, and from when something comes.
    let drawn = fj(AT_REST, elapsed - in_state) + fj(LIGHT, in_state);
    assert_eq!(seen(&run).spent_at_rest(Ns(elapsed)), drawn);
}

#[test]
fn after_a_longer_rest_it_is_in_the_deeper_state() {
    let run = drive().run(vec![read(100_000_000, 1)]);
    assert_eq!(run.latency(0), LEAVE_DEEP + UNIT_READ);
    let (light, deep) = (LATER - AFTER - ENTER, 100_000_000 - LATER - ENTER_DEEP);
    assert_eq!(times(&run), [(1, light), (1, deep)]);
    let elapsed = 100_000_000 + LEAVE_DEEP + UNIT_READ;
    let drawn = fj(AT_REST, elapsed - light - deep) + fj(LIGHT, light) + fj(DEEP, deep);
    assert_eq!(seen(&run).spent_at_rest(Ns(elapsed)), drawn);
}

#[test]
fn a_read_that_comes_on_the_way_in_waits_for_that_too() {
    for (at, wait) in
        [(AFTER, 0), (AFTER + 1, ENTER - 1 + LEAVE), (AFTER + 20_000, ENTER - 20_000 + LEAVE), (AFTER + ENTER, LEAVE)]
    {
        let run = drive().run(vec![read(at, 1)]);
        assert_eq!((run.latency(0), run.counters().power_wakes), (wait + UNIT_READ, u64::from(wait > 0)), "at {at}");
        assert_eq!(times(&run), [(u64::from(wait > 0), 0), (0, 0)]);
    }
}

#[test]
fn what_comes_while_it_wakes_waits_for_the_rest_of_that() {
    let run = drive().run(vec![read(10_000_000, 1), read(10_200_000, 9), read(10_600_000, 17)]);
    assert_eq!((run.latency(0), run.counters().power_wakes), (LEAVE + UNIT_READ, 1));
    // The second one leaves its die behind the first, the third behind both.
    let of = |cause| run.parts(Op::Read).into_iter().find(|(other, _)| *other == cause).map(|(_, time)| time);
    assert_eq!(of(Cause::Waking), Some(LEAVE + (LEAVE - 200_000)));
    assert_eq!(run.latency(1), LEAVE - 200_000 + 2 * UNIT_READ);
}

#[test]
fn the_most_is_drawn_in_a_window_without_a_state() {
    let run = drive().run(vec![read(5_500_000, 1)]);
    let peak = seen(&run).peak(run.device.now()).expect("windows are over");
    // The one before the state.
    assert_eq!((peak.since, peak.energy), (Ns::ZERO, fj(AT_REST, 1_000_000)));
    let mut drive = drive();
    drive.power = Some(PowerConfig { window: Ns(5_000_000), ..power(states()) });
    let peak = seen(&drive.run(vec![read(5_500_000, 1)])).peak(run.device.now()).expect("a window is over");
    let in_state = 5_000_000 - AFTER - ENTER;
    assert_eq!(peak.energy, fj(AT_REST, AFTER + ENTER) + fj(LIGHT, in_state));
}

#[test]
fn a_drive_that_erases_does_not_rest() {
    let mut drive = Drive::before_erase();
    drive.power = Some(power(states()));
    let run = drive.run(vec![write(0, 16), flush(0), read(2_900_000, 20), read(10_000_000, 20)]);
    let erased = run.ended(CommandKind::Erase);
    assert!(erased.len() == 1 && erased[0] > ERASE, "{erased:?}");
    // The first one finds it at work, for longer than it may rest.
    assert_eq!(run.counters().power_wakes, 1);
    assert_eq!(run.latency(3), LEAVE + UNIT_READ);
}

#[test]
fn what_it_does_by_itself_ends_a_state_and_waits_for_nothing() {
    let timeout = 5_000_000;
    let mut drive = drive();
    drive.engine.page_timeout = Some(Ns(timeout));
    let run = drive.run(vec![write(0, 1)]);
    let programs = run.issued(CommandKind::Program);
    assert_eq!(programs.first().map(|(at, _)| *at), Some(timeout));
    assert_eq!((times(&run), run.counters().power_wakes), (vec![(1, timeout - AFTER - ENTER), (0, 0)], 0));
}

/// What a single read takes on a drive with such a protocol, without states and with them.
fn beside(protocol: ProtocolConfig, link_rate: Rate, at: u64) -> ([u64; 2], Vec<(Cause, u64)>) {
    let of = |states| {
        let mut drive = drive();
        drive.engine.protocol = protocol;
        drive.engine.command_cost = Ns(700);
        drive.engine.link_rate = link_rate;
        drive.power = Some(power(states));
        drive.run(vec![read(at, 1), read(at, 9)])
    };
    let (without, with) = (of(Vec::new()), of(states()));
    let mut parts = with.parts(Op::Read);
    parts.retain(|part| !without.parts(Op::Read).contains(part));
    ([without.latency(0), with.latency(0)], parts)
}

#[test]
fn the_wait_comes_before_all_that_is_done_for_a_command() {
    let fetched = ProtocolConfig {
        fetch: Some(Fetch { time: Ns(1_300), entries: 4, in_flight: 1 }),
        ..ProtocolConfig::default()
    };
    let sent = ProtocolConfig { link_carries: LinkCarries::Commands, ..ProtocolConfig::default() };
    for protocol in [ProtocolConfig::default(), fetched, sent] {
        for (at, wait) in [(AFTER + 20_000, ENTER - 20_000 + LEAVE), (10_000_000, LEAVE)] {
            let ([without, with], others) = beside(protocol, Rate(1_000_000_000), at);
            assert_eq!(with, without + wait, "{protocol:?}");
            assert_eq!(others, [(Cause::Waking, 2 * wait)], "of two commands at a time; {protocol:?}");
        }
    }
}

#[test]
fn states_that_are_never_entered_change_nothing() {
    let requests: Vec<Request> = mixed_requests(7, 2_000, Drive::busy().logical_units, 1_000_000, 50);
    let run = |states| {
        let mut drive = Drive::busy();
        drive.power = Some(power(states));
        drive.run(requests.clone())
    };
    let far = PowerState { after: Ns(60_000_000_000), ..states()[0] };
    let (free, without) = (run(vec![far]), run(Vec::new()));
    assert_eq!((free.device.digest(), free.counters().power_wakes), (without.device.digest(), 0));
    // The host leaves it in peace for as long every few requests: a millisecond is the mean.
    let near = PowerState { after: Ns(30_000), ..states()[0] };
    let with = run(vec![near]);
    assert!(with.counters().power_wakes > 10, "{:?}", with.counters());
    assert!(times(&with)[0].0 >= with.counters().power_wakes);
}
