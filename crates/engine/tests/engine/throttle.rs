//! Host writes that are held back while little is free. Times are computed by hand from the constants of `scenario`.
//!
//! Of the drive before an erase three groups are free, and one is the reserve. The first write of a unit opens one, so that one is
//! free beyond the reserve until the erase of group 0 ends, 3.0001 ms later.

use crate::scenario::{Drive, Outcome, mixed_requests, policy_with, write, write_units};
use ninescope_model::{Cause, Op, Request};
use serde_json::json;

fn run(throttle: &serde_json::Value, requests: Vec<Request>) -> Outcome {
    let mut drive = Drive::before_erase();
    drive.engine.throttle = policy_with(throttle);
    drive.run(requests)
}

fn latencies(run: &Outcome, count: u64) -> Vec<u64> {
    (0..count).map(|id| run.latency(id)).collect()
}

pub fn six_writes_that_are_held_back() -> Outcome {
    // Of four groups three are missing, then two: 300 us, and 200 us.
    let throttle = json!({ "policy": "proportional", "below": 4, "gap": "400us" });
    run(&throttle, vec![write(0, 0), write(0, 1), write(0, 2), write(0, 3), write(4_000_000, 4), write(4_000_000, 5)])
}

#[test]
fn the_less_is_free_the_longer_after_each_other_writes_are_placed() {
    let run = six_writes_that_are_held_back();
    assert_eq!(latencies(&run, 6), [0, 300_000, 600_000, 900_000, 0, 200_000]);
    assert_eq!(run.parts(Op::Write), [(Cause::AllocationStall, 2_000_000)]);
    assert_eq!((run.counters().throttled_units, run.counters().allocation_stalls), (6, 4));
    assert_eq!(run.counters().buffer_stalls, 0);
}

#[test]
fn units_of_one_write_are_held_back_each() {
    let throttle = json!({ "policy": "proportional", "below": 4, "gap": "400us" });
    let run = run(&throttle, vec![write_units(0, 0, 4), write(50_000, 8)]);
    assert_eq!(latencies(&run, 2), [900_000, 1_150_000], "the second one waits in line");
}

#[test]
fn nothing_is_held_back_where_enough_is_free_or_nobody_comes() {
    for (throttle, throttled) in [
        (json!({ "policy": "stop-and-go" }), 0),
        (json!({ "policy": "proportional", "below": 1, "gap": "400us" }), 0),
        // The gap is over when the next one comes.
        (json!({ "policy": "proportional", "below": 2, "gap": "400us" }), 4),
    ] {
        let run = run(&throttle, (0..4).map(|number| write(number * 200_000, number)).collect());
        assert_eq!((latencies(&run, 4), run.counters().throttled_units), (vec![0; 4], throttled), "{throttle}");
    }
}

#[test]
fn writes_that_slow_down_stop_for_less_long() {
    let run_of = |throttle: serde_json::Value| {
        let mut drive = Drive::busy();
        drive.gc_trigger = policy_with(&json!({ "policy": "free-groups", "beyond_reserve": 3 }));
        drive.engine.throttle = policy_with(&throttle);
        drive.run(mixed_requests(1, 20_000, drive.logical_units, 10_000, 30))
    };
    let held = run_of(json!({ "policy": "proportional", "below": 3, "gap": "100us" }));
    let free = run_of(json!({ "policy": "stop-and-go" }));
    assert!(held.counters().throttled_units > 1_000 && free.counters().throttled_units == 0);
    assert!(held.ftl().erased_groups > 100 && free.ftl().erased_groups > 100);
}
