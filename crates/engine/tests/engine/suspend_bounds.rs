//! What holds of every suspended operation, whatever reads come: how often it stops, where, when it ends, and that its
//! stretches add up. A probe of its own adds them up from the events, beside the accounts of the engine.

use crate::scenario::{COMMAND, Drive, Listed, UNIT_READ, mixed_requests, policy_with, read, write};
use ninescope_engine::{Event, Probe, SimulationError, View, Watched};
use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, EraseLoops, FlashCommand};
use ninescope_model::{Arrival, DieId, Op, Ppa, Request};
use proptest::prelude::*;
use serde_json::{Value, json};

// ---- the probe -----------------------------------------------------------------------------------------

/// One program or erase.
#[derive(Clone, Debug)]
struct Operation {
    command: FlashCommand,
    /// When the present stretch of pulses began; `None` while it is parked [ns].
    running_since: Option<u64>,
    /// The finished stretches [ns].
    stretches: Vec<u64>,
    /// When it ended [ns].
    ended: u64,
}

impl Operation {
    fn suspensions(&self) -> u64 {
        self.stretches.len() as u64 - 1
    }

    fn pulse_time(&self) -> u64 {
        self.stretches.iter().sum()
    }

    /// Pulse time at each stop [ns].
    fn stops(&self) -> Vec<u64> {
        let stops = self.stretches.iter().scan(0, |done, stretch| {
            *done += stretch;
            Some(*done)
        });
        stops.take(self.stretches.len() - 1).collect()
    }

    fn stretch_ends(&mut self, now: u64) {
        let since = self.running_since.take().expect("what stops or ends has been running");
        self.stretches.push(now - since);
    }
}

/// Follows the operation of each die, and insists that nothing but reads of the host runs beside a parked one.
#[derive(Debug, Default)]
struct Stretches {
    on_die: Vec<Option<Operation>>,
    ended: Vec<Operation>,
    /// When host reads completed [ns].
    reads: Vec<u64>,
}

impl Stretches {
    fn for_dies(dies: u32) -> Self {
        Self { on_die: vec![None; dies as usize], ..Self::default() }
    }

    fn of(&mut self, die: DieId) -> &mut Operation {
        self.on_die[die.index()].as_mut().expect("an operation is on the die")
    }

    fn issued(&mut self, command: &FlashCommand, sent: u64) {
        let on_die = &mut self.on_die[command.die.index()];
        if command.kind == CommandKind::Read {
            let parked = on_die.as_ref().is_none_or(|operation| operation.running_since.is_none());
            assert!(parked, "a read beside an operation that runs");
            return;
        }
        assert!(on_die.is_none(), "a {:?} beside another operation", command.kind);
        *on_die = Some(Operation { command: *command, running_since: Some(sent), stretches: Vec::new(), ended: 0 });
    }

    fn ended(&mut self, command: &FlashCommand, now: u64) {
        if command.kind != CommandKind::Read {
            let mut operation = self.on_die[command.die.index()].take().expect("an operation is on the die");
            assert_eq!(operation.command, *command, "what was suspended is what ends");
            operation.stretch_ends(now);
            operation.ended = now;
            self.ended.push(operation);
        }
    }

    fn move_sensed(&self, view: &View<'_>, from: Ppa) {
        let geometry = view.ftl.geometry();
        let die = geometry.die_of_pool(geometry.pool_and_block(geometry.group_and_offset(from).0).0);
        assert!(self.on_die[die.index()].is_none(), "a move is read beside a parked operation");
    }

    fn of_kind(&self, kind: CommandKind) -> impl Iterator<Item = &Operation> {
        self.ended.iter().filter(move |operation| operation.command.kind == kind)
    }
}

impl Probe for Stretches {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        let now = view.now.0;
        match event {
            Event::CommandIssued { command, sent, .. } => self.issued(command, sent.0),
            Event::CommandEnded { command } => self.ended(command, now),
            Event::Suspended { die, .. } => self.of(die).stretch_ends(now),
            Event::Resumed { die } => self.of(die).running_since = Some(now),
            Event::MoveSensed { from, .. } => self.move_sensed(view, from),
            Event::Completed { request, .. } if request.op == Op::Read => self.reads.push(now),
            _ => {}
        }
        Ok(())
    }
}

fn watch(drive: &Drive, requests: Vec<Request>) -> Stretches {
    let probe = Stretches::for_dies(drive.geometry().dies());
    let mut device = drive.device::<Watched>(Listed::boxed(requests, Arrival::Open), Box::new(probe));
    device.run().expect("the run comes to its end");
    let Stretches { on_die, ended, reads } = device.probe::<Stretches>();
    assert!(on_die.iter().all(Option::is_none), "every operation ends");
    Stretches { on_die: Vec::new(), ended: ended.clone(), reads: reads.clone() }
}

// ---- one erase and many reads ----------------------------------------------------------------------------

/// The part and its policy.
#[derive(Clone, Copy, Debug)]
struct Part {
    points: u32,
    loops: u32,
    loop_time: u64,
    recover: u64,
    ramp: u64,
}

impl Part {
    fn erase_time(&self) -> u64 {
        u64::from(self.loops) * self.loop_time
    }

    /// A drive whose first write of a unit starts an erase.
    fn drive(&self, suspend: &Value) -> Drive {
        let mut drive = Drive::before_erase();
        (drive.timing.erase_loops, drive.timing.erase_loop) = (EraseLoops::Fixed(self.loops), Ns(self.loop_time));
        (drive.timing.suspend_recover, drive.timing.resume_ramp) = (Ns(self.recover), Ns(self.ramp));
        drive.engine.suspend = policy_with(suspend);
        drive
    }

    /// Policies that bound the suspensions of a loop: description, P/E cycles of the blocks, the bound N.
    fn bounded(&self) -> [(Value, u32, u32); 4] {
        let more = 2 * self.points + 1;
        let by_wear = json!({ "policy": "safe-points-by-wear", "young_points": more, "worn_points": self.points });
        [
            (json!({ "policy": "between-loops" }), 0, 1),
            (json!({ "policy": "every-safe-point", "points_per_loop": self.points }), 0, self.points),
            (by_wear.clone(), 0, more),
            (by_wear, 1_000, self.points),
        ]
    }

    /// The erase, begun at time 0, under reads at these times.
    fn erase(&self, suspend: &Value, worn_by: u32, arrivals: &[u64]) -> (Operation, Vec<u64>) {
        let drive = Drive { worn_by, ..self.drive(suspend) };
        let requests = [write(0, 16)].into_iter().chain(arrivals.iter().map(|&at| read(at, 20))).collect();
        let Stretches { ended, reads, .. } = watch(&drive, requests);
        assert_eq!(ended.len(), 1, "one erase, nothing programmed");
        assert_eq!(reads.len(), arrivals.len());
        (ended[0].clone(), reads)
    }
}

fn parts() -> impl Strategy<Value = Part> {
    (1_u32..=12, 1_u32..=5, 50_000_u64..2_000_000, 0_u64..150_000, 0_u64..100_000)
        .prop_map(|(points, loops, loop_time, recover, ramp)| Part { points, loops, loop_time, recover, ramp })
}

/// Times of reads: in bursts of up to twelve, up to 300 us apart.
fn bursts() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec((1_u64..300_000, 1_usize..12), 1..250).prop_map(|bursts| {
        let times = bursts.into_iter().scan(0, |now, (pause, count)| {
            *now += pause;
            Some(std::iter::repeat_n(*now, count))
        });
        times.flatten().collect()
    })
}

/// No more than N suspensions in a loop, N n - 1 in all (a stop at the very end is an end), each at a safe point.
fn assert_bounded(operation: &Operation, part: &Part, points: u32, name: &Value) {
    let (points, total) = (u64::from(points), part.erase_time());
    let count = points * u64::from(part.loops);
    assert!(operation.suspensions() < count, "{name}: {} of {count} suspensions", operation.suspensions());
    let stops = operation.stops();
    for index in 0..u64::from(part.loops) {
        let within = index * part.loop_time + 1..=(index + 1) * part.loop_time;
        let in_loop = stops.iter().filter(|stop| within.contains(stop)).count() as u64;
        assert!(in_loop <= points, "{name}: {in_loop} suspensions in loop {index}");
    }
    let on_grid = |stop: &u64| (1..count).any(|point| total * point / count == *stop);
    assert!(stops.iter().all(on_grid), "{name}: {stops:?} are not safe points");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_erase_is_suspended_more_often_than_it_has_safe_points(part in parts(), arrivals in bursts()) {
        for (suspend, worn_by, points) in part.bounded() {
            let (operation, _) = part.erase(&suspend, worn_by, &arrivals);
            assert_bounded(&operation, &part, points, &suspend);
        }
    }

    #[test]
    fn an_erase_takes_its_pulses_its_suspensions_and_the_reads_beside_it_and_nothing_else(
        part in parts(), arrivals in bursts(),
    ) {
        let immediate = (json!({ "policy": "immediate" }), 0, 0);
        let none = (json!({ "policy": "none" }), 0, 0);
        for (suspend, worn_by, _) in part.bounded().into_iter().chain([immediate, none]) {
            let (operation, reads) = part.erase(&suspend, worn_by, &arrivals);
            prop_assert_eq!(operation.pulse_time(), part.erase_time(), "{}", suspend);
            // A die with a parked erase recovers, reads or ramps up: it never waits for a read to come.
            let beside = reads.iter().filter(|&&at| at <= operation.ended).count() as u64;
            let suspended = operation.suspensions() * (part.recover + part.ramp) + beside * UNIT_READ;
            prop_assert_eq!(operation.ended, COMMAND + part.erase_time() + suspended, "{}", suspend);
        }
    }

    #[test]
    fn under_saturating_reads_the_erase_ends_when_theory_says_under_every_bounded_policy(
        part in parts(), slack in 10_000_u64..60_000,
    ) {
        // One read each `gap`, so that the die keeps up with them: of the time T until the erase ends they take
        // no more than T (service / gap) and one service, and what remains is pulses and at most N n - 1 suspensions.
        let gap = UNIT_READ + slack;
        for (suspend, worn_by, points) in part.bounded() {
            let most = u64::from(points * part.loops) - 1;
            let work = COMMAND + part.erase_time() + most * (part.recover + part.ramp) + UNIT_READ;
            let bound = work * gap / slack;
            let arrivals: Vec<u64> = (1..=bound / gap + 2).map(|index| index * gap).collect();
            let (operation, _) = part.erase(&suspend, worn_by, &arrivals);
            assert_bounded(&operation, &part, points, &suspend);
            prop_assert!(operation.ended <= bound, "{}: ended at {}, bound {}", suspend, operation.ended, bound);
            prop_assert!(operation.ended < *arrivals.last().expect("reads"), "while reads still come");
        }
    }

    #[test]
    fn immediate_suspends_make_no_progress_while_each_ramp_meets_a_read(
        part in parts(), ramp in 2_000_u64..100_000, share in 0_u64..1_000, reads in 2_u64..600,
    ) {
        // When the last waiting read has left, the next one comes within gap - service, which is less than the
        // ramp: it waits when pulses go on, and they stop after the nanosecond that every stretch has to do.
        let part = Part { ramp, loops: 5, loop_time: 100_000, ..part };
        let gap = UNIT_READ + 1 + share * (ramp - 2) / 1_000;
        let first = 20_000;
        let arrivals: Vec<u64> = (0..reads).map(|index| first + index * gap).collect();
        let (operation, served) = part.erase(&json!({ "policy": "immediate" }), 0, &arrivals);
        prop_assert!(operation.ended > *served.last().expect("reads"), "it ends when the reads have ended");
        let (last, before) = operation.stretches.split_last().expect("stretches");
        prop_assert_eq!(before[0], first - COMMAND);
        prop_assert!(before[1..].iter().all(|&stretch| stretch == 1), "{:?}", before);
        prop_assert_eq!(*last, part.erase_time() - (first - COMMAND) - (before.len() as u64 - 1));
    }
}

#[test]
fn a_parked_erase_waits_while_reads_come_faster_than_they_are_served() {
    // It is resumed when no read waits. With a read each 40 us, which takes 51.1 us, one always does. The burst ends
    // before the policies' patience of 64 ms does.
    let part = Part { points: 10, loops: 3, loop_time: 1_000_000, recover: 30_000, ramp: 20_000 };
    let arrivals: Vec<u64> = (1..=1_200).map(|index| index * 40_000).collect();
    for (suspend, worn_by, points) in part.bounded() {
        let (operation, reads) = part.erase(&suspend, worn_by, &arrivals);
        assert_eq!(operation.suspensions(), 1, "{suspend}");
        // The first of them, at 40 us, has it stopped at its first safe point; the rest of its pulses follows the last.
        let left = part.erase_time() - part.erase_time() / u64::from(points * part.loops);
        assert_eq!(operation.ended, reads.last().expect("reads") + part.ramp + left, "{suspend}");
    }
}

#[test]
fn reads_that_never_cease_hold_no_erase_up_for_longer_than_its_suspensions_last() {
    let part = Part { points: 10, loops: 3, loop_time: 1_000_000, recover: 30_000, ramp: 20_000 };
    let parked_max = 500_000;
    for (mut suspend, worn_by, points) in part.bounded() {
        suspend["parked_max"] = json!("500us");
        let most = u64::from(points * part.loops) - 1;
        // The read that runs when patience ends is finished.
        let one_suspension = part.recover + parked_max + UNIT_READ + part.ramp;
        let bound = COMMAND + part.erase_time() + most * one_suspension;
        let arrivals: Vec<u64> = (1..=bound / 40_000 + 2).map(|index| index * 40_000).collect();
        let (operation, _) = part.erase(&suspend, worn_by, &arrivals);
        assert_bounded(&operation, &part, points, &suspend);
        assert!(operation.suspensions() > 1 && operation.ended <= bound, "{suspend}: {}", operation.ended);
        assert!(operation.ended < *arrivals.last().expect("reads"), "while reads still come");
    }
}

// ---- everything at once ------------------------------------------------------------------------------------

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn under_random_work_the_stretches_of_each_operation_add_up_to_its_time(
        seed in 0_u64..1_000, loops in 1_u32..6, loop_time in 1_u64..2_000_000, pulses in 2_u32..50, points in 1_u32..31,
        gap in 5_000_u64..60_000,
    ) {
        let policies = [
            json!({ "policy": "none" }),
            json!({ "policy": "immediate", "programs": true }),
            json!({ "policy": "between-loops", "programs": true }),
            json!({ "policy": "every-safe-point", "points_per_loop": points, "programs": true }),
            json!({ "policy": "safe-points-by-wear", "young_points": points, "worn_points": 1, "programs": true }),
        ];
        for suspend in policies {
            let mut drive = Drive::busy();
            (drive.timing.erase_loops, drive.timing.erase_loop) = (EraseLoops::Fixed(loops), Ns(loop_time));
            (drive.timing.program_pulses, drive.timing.program) = (pulses, vec![Ns(399_989), Ns(700_001)]);
            drive.timing.read = vec![Ns(50_000), Ns(61_000)];
            drive.engine.suspend = policy_with(&suspend);
            let seen = watch(&drive, mixed_requests(seed, 1_500, drive.logical_units, gap, 60));
            for erase in seen.of_kind(CommandKind::Erase) {
                prop_assert_eq!(erase.pulse_time(), u64::from(loops) * loop_time, "{}", suspend);
            }
            for program in seen.of_kind(CommandKind::Program) {
                let time = [399_989, 700_001][program.command.first_page() as usize % 2];
                prop_assert_eq!(program.pulse_time(), time, "{}", suspend);
                prop_assert!(program.suspensions() < u64::from(pulses), "a stop at the end is an end");
            }
            prop_assert!([CommandKind::Program, CommandKind::Erase].iter().all(|&kind| seen.of_kind(kind).count() > 5));
            let suspensions: u64 = seen.ended.iter().map(Operation::suspensions).sum();
            prop_assert_eq!(suspensions > 0, suspend["policy"] != "none", "{}", suspend);
        }
    }
}
