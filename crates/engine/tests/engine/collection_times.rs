//! Triggers of garbage collection that go by time: a die that rests, a need that is put off. Times are computed by hand from the
//! constants of `scenario`.
//!
//! Of the drive before an erase groups 0 and 1 hold nothing valid, three groups are free, and one is the reserve.

use crate::scenario::{COMMAND, Drive, ERASE, Outcome, UNIT_READ, mixed_requests, policy, policy_with, read, write};
use ninescope_media::nand::CommandKind;
use ninescope_model::Request;
use serde_json::json;

fn run(trigger: &serde_json::Value, requests: Vec<Request>) -> Outcome {
    let mut drive = Drive::before_erase();
    drive.gc_trigger = policy_with(trigger);
    drive.engine.scheduler = policy("fifo");
    drive.run(requests)
}

fn erases(run: &Outcome) -> Vec<u64> {
    run.issued(CommandKind::Erase).iter().map(|(at, _)| *at).collect()
}

#[test]
fn a_die_that_rests_collects_until_enough_is_free() {
    // From two free groups on it is needed; at rest until four are free, which one group is short of, or both.
    for (gain, expected) in [(1, vec![]), (2, vec![0]), (3, vec![0, COMMAND + ERASE])] {
        let idle = json!({ "policy": "idle", "beyond_reserve": 1, "gain": gain, "after": "70us" });
        let run = run(&idle, vec![read(0, 16), read(20_000_000, 17)]);
        let begins: Vec<u64> = expected.iter().map(|later| UNIT_READ + 70_000 + later).collect();
        assert_eq!(erases(&run), begins, "a gain of {gain}");
        assert_eq!(
            run.counters().die_rests,
            1,
            "what it does for itself is rest, and after the last request nothing matters"
        );
        assert_eq!(run.latency(1), UNIT_READ);
    }
}

pub fn rest_before_the_first_request() -> Outcome {
    let idle = json!({ "policy": "idle", "beyond_reserve": 1, "gain": 2, "after": "70us" });
    run(&idle, vec![read(500_000, 16)])
}

#[test]
fn a_die_rests_from_the_beginning_and_never_while_requests_come_in_time() {
    let idle = json!({ "policy": "idle", "beyond_reserve": 1, "gain": 2, "after": "70us" });
    let late = rest_before_the_first_request();
    assert_eq!((erases(&late), late.latency(0)), (vec![70_000], 70_000 + COMMAND + ERASE + UNIT_READ - 500_000));
    // Each comes when the die has had nothing to do for 68.9 us.
    let often = run(&idle, (0..40).map(|number| read(number * 120_000, 16 + number % 8)).collect());
    assert_eq!((erases(&often), often.counters().die_rests), (vec![], 0));
}

fn deadline(postponed: &str) -> serde_json::Value {
    json!({ "policy": "deadline", "beyond_reserve": 2, "postponed": postponed })
}

fn busy_with_reads() -> Vec<Request> {
    let reads = (0..60).map(|number| read(number * 50_000, 16 + number % 8));
    std::iter::once(write(0, 0)).chain(reads).collect()
}

pub fn put_off_until_it_is_overdue() -> Outcome {
    run(&deadline("200us"), busy_with_reads())
}

#[test]
fn what_is_needed_waits_for_the_die_and_no_longer_than_its_deadline() {
    // The write opens a group, and three are free: collection is wanted from the beginning, and its time is over at 200 us. A read
    // comes each 50 us and takes 51.1 us, so that the die always has one. That which is begun at 204.4 us goes before it, and the
    // next one comes after it.
    let busy = busy_with_reads();
    let run_of = |postponed| run(&deadline(postponed), busy.clone());
    let in_time = put_off_until_it_is_overdue();
    assert_eq!((erases(&in_time)[0], in_time.counters().overdue_collections), (5 * UNIT_READ, 1));
    // All of them are through before it is over: it takes the first moment without a read, and there is none before the end.
    let never = run_of("1s");
    assert_eq!((erases(&never), never.counters().overdue_collections), (vec![], 0));
    // A die that has nothing to do is not waited for.
    let at_rest = run(&deadline("1s"), vec![write(0, 0), read(0, 16), read(20_000_000, 17)]);
    assert_eq!((erases(&at_rest), at_rest.counters().overdue_collections), (vec![UNIT_READ], 0));
}

#[test]
fn both_go_on_under_lasting_writes() {
    for trigger in [
        json!({ "policy": "idle", "after": "1ms", "gain": 2 }),
        json!({ "policy": "deadline", "beyond_reserve": 2, "postponed": "3ms" }),
        json!({ "policy": "watermarks", "beyond_reserve": 1, "gain": 2 }),
    ] {
        let mut drive = Drive::busy();
        drive.gc_trigger = policy_with(&trigger);
        let run = drive.run(mixed_requests(1, 20_000, drive.logical_units, 10_000, 30));
        assert!(run.ftl().erased_groups > 100, "{trigger}: {:?}", run.ftl());
        assert_eq!(run.counters().overdue_collections > 0, trigger["policy"] == "deadline", "{:?}", run.counters());
    }
}
