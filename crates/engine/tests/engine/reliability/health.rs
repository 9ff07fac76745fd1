//! The raw bit error rate of groups: how long an answer of the model is kept, and what wears cells beyond cycles.

use ninescope_engine::reliability::health::{Ageing, GroupAges, GroupHealth};
use ninescope_engine::{SuspendPolicyConfig, reliability::NandCode};
use ninescope_kernel::Ns;
use ninescope_media::health::{ErrorModel, ErrorModelConfig, Health, LimitByWear, SuspendLimit, WearPoint};
use ninescope_model::BlockGroup;
use serde_json::json;

use crate::reliability::drives::{Coded, LATER, bch, old_data_is_lost};
use crate::scenario::{Drive, Outcome, policy_with, read, write, write_units};

const GROUP: BlockGroup = BlockGroup(0);

/// A rate that is the reads, or the nanoseconds, themselves.
#[derive(Debug)]
struct Itself {
    of_reads: bool,
}

impl ErrorModel for Itself {
    fn rber(&self, health: &Health) -> f64 {
        if self.of_reads { f64::from(health.reads) } else { health.retention.0 as f64 }
    }
}

#[test]
fn an_answer_is_kept_until_reads_have_grown_by_a_64th() {
    let mut health = GroupHealth::new(Box::new(Itself { of_reads: true }), 1);
    let (mut asked, mut known) = (0, 0.0);
    for reads in 1..1_000_000 {
        if health.levels(GROUP, Ns::ZERO, reads).is_none() {
            known = health.rber(GROUP, Ns::ZERO, reads, 0);
            health.keep(GROUP, Ns(1), reads, (known, [None; 2]));
            assert_eq!(health.kept_rber(GROUP, Ns::ZERO, reads), Some(known));
            asked += 1;
        }
        let now = health.rber(GROUP, Ns::ZERO, reads, 0);
        assert!(known <= now && now <= known * (1.0 + 1.0 / 64.0), "{known} for {now}");
    }
    // 64 reads one by one, then powers of 65/64: ln (1e6 / 64) / ln (65 / 64) = 623.
    assert!(asked < 64 + 700, "asked {asked} times");
}

#[test]
fn an_answer_is_kept_until_the_data_is_older_by_a_64th() {
    // No model tells milliseconds apart.
    let mut health = GroupHealth::new(Box::new(Itself { of_reads: false }), 1);
    let programmed = Ns(5_000_000_000);
    let mut ages = GroupAges::new(1, Ns::ZERO, None);
    ages.programmed(GROUP, programmed);
    let (mut known, mut age) = (0.0, 64_000_000_u64);
    while age < 1 << 55 {
        let now = programmed + Ns(age);
        assert_eq!(ages.age(GROUP, now), Ns(age));
        if health.levels(GROUP, now, 0).is_none() {
            known = health.rber(GROUP, Ns(age), 0, 0);
            health.keep(GROUP, ages.grows_until(GROUP, now), 0, (known, [None; 2]));
        }
        let rber = health.rber(GROUP, Ns(age), 0, 0);
        assert!(known <= rber && rber < known * (1.0 + 1.0 / 64.0), "{known} for {rber}");
        age += age / 1_000;
    }
}

#[test]
fn new_data_and_an_erase_void_an_answer() {
    let mut health = GroupHealth::new(Box::new(Itself { of_reads: true }), 1);
    let keep = |health: &mut GroupHealth| health.keep(GROUP, Ns(1 << 44), 1 << 20, (0.0, [None; 2]));
    keep(&mut health);
    assert!(health.levels(GROUP, Ns::ZERO, 1 << 20).is_some());
    health.forget(GROUP);
    assert!(health.levels(GROUP, Ns::ZERO, 0).is_none());
    keep(&mut health);
    health.erased(GROUP, 3);
    assert!(health.levels(GROUP, Ns::ZERO, 0).is_none());
    assert_eq!(health.suspensions(GROUP), 3);
}

#[test]
fn prepared_data_has_its_age_and_new_data_its_own() {
    let mut ages = GroupAges::new(2, Ns(1_000), None);
    assert_eq!(ages.age(GROUP, Ns(5)), Ns(1_005));
    ages.programmed(GROUP, Ns(7));
    assert_eq!((ages.age(GROUP, Ns(10)), ages.age(BlockGroup(1), Ns(10))), (Ns(3), Ns(1_010)));
}

#[test]
fn where_it_is_warm_an_hour_is_several_and_the_clock_goes_on_as_ever() {
    // A thousand hours of before count for 250, and each of the run for three.
    let ageing = Ageing { initial: Ns(250), factor: 3.0 };
    let mut ages = GroupAges::new(2, Ns(1_000), Some(ageing));
    ages.programmed(GROUP, Ns(7));
    assert_eq!((ages.retention(GROUP, Ns(10)), ages.retention(BlockGroup(1), Ns(10))), (Ns(9), Ns(280)));
    assert_eq!((ages.age(GROUP, Ns(10)), ages.age(BlockGroup(1), Ns(10))), (Ns(3), Ns(1_010)));
    // Of data that is 64 s old by the clock a 64th is a second of it, and 3 s of its retention.
    assert_eq!(ages.grows_until(GROUP, Ns(64_000_000_007)), Ns(65_000_000_007));
    // Beyond what time there is, it stays.
    let hot = Ageing { initial: Ns::NEVER, factor: 1e20 };
    assert_eq!(GroupAges::new(1, Ns::ZERO, Some(hot)).retention(GROUP, Ns(1)), Ns::NEVER);
}

#[test]
fn data_that_is_warm_while_it_is_read_again_and_again_is_lost_sooner() {
    // What is written in the run is ruined at an age of a day, the tenth power of which is 1: by the clock it is a second old.
    let lost = |ageing: Option<Ageing>| {
        let mut drive = old_data_is_lost(Drive::with(|_| {}).with_ecc(bch()));
        drive.reliability.nand.ageing = ageing;
        let run = drive.run(vec![write_units(0, 0, 8), read(LATER, 0), read(LATER, 4)]);
        run.reliable().reads_reported
    };
    let day = 86_400.0;
    for (ageing, expected) in [(None, 0), (Some(1.0), 0), (Some(day), 2)] {
        let ageing = ageing.map(|factor| Ageing { initial: Ns::ZERO, factor });
        assert_eq!(lost(ageing), expected, "{ageing:?}");
    }
}

/// The erase of group 0 with so many reads in it, each of which suspends it, on a drive whose erases bear one suspension
/// per loop, three in all; then group 0 is filled with units 0 to 7 again, and read.
fn erase_suspended(reads: u64, limit: f64, model: f64) -> Outcome {
    let mut drive = Drive::before_erase().with_ecc(bch()).with_errors(policy_with::<ErrorModelConfig>(&json!({
        "policy": "power-law", "floor": 0.0, "cycles_factor": 0.0, "retention_factor": 0.0, "reads_factor": 0.0,
        "suspensions_factor": model, "suspensions_exponent": 1.0,
    })));
    let point = |cycles| WearPoint { cycles, per_loop: 1 };
    let by_wear = LimitByWear::new(point(1), point(2)).expect("a limit");
    drive.suspend_limit = Some(SuspendLimit::new(by_wear, limit, 1.0).expect("a law"));
    drive.engine.suspend = policy_with::<SuspendPolicyConfig>(&json!({ "policy": "immediate" }));
    // Each read finds the erase at work again: it takes 151.1 us from the stop to the end of the ramp.
    let mut requests = vec![write(0, 16)];
    requests.extend((1..=reads).map(|index| read(index * 250_000, 20)));
    // Seven units are left in the group that the first write opened, and two groups are free before group 0.
    requests.push(write_units(LATER, 16, 7));
    requests.extend((0..2).map(|index| write_units(2 * LATER + index, 8, 8)));
    requests.push(write_units(3 * LATER, 0, 8));
    requests.extend((0..8).map(|unit| read(4 * LATER + unit * 1_000_000, unit)));
    requests.push(read(5 * LATER, 16));
    let run = drive.run(requests);
    assert_eq!(run.counters().suspends, reads);
    let group = |unit: u32| run.device.ftl().geometry().group_and_offset(run.place_of(unit)).0;
    assert!((0..8).all(|unit| group(unit) == GROUP) && group(16) != GROUP, "units 0 to 7 fill group 0");
    run
}

#[test]
fn data_in_a_group_whose_erase_was_suspended_too_often_fails() {
    // Three suspensions are borne; each one more ruins every second bit, by the model's law or by that of the limit.
    for (limit, model) in [(0.0, 0.5), (0.5, 0.0)] {
        for (reads, failed) in [(3, 0), (4, 8)] {
            let run = erase_suspended(reads, limit, model);
            assert_eq!(run.reliable().reads_reported, failed, "{reads} suspensions under {limit} and {model}");
        }
    }
    // As many errors as there are suspensions beyond: 2e-4 of 33,536 bits for each, in each of 8 codewords.
    let run = erase_suspended(8, 1e-4, 1e-4);
    let expected = 2e-4 * 5.0 * 33_536.0 * 8.0;
    let corrected = run.code(NandCode::Ecc).corrected_bits as f64;
    assert!((corrected - expected).abs() < 4.0 * f64::sqrt(expected), "{corrected} for {expected}");
}
