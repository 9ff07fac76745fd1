//! What a drive draws: energies and powers of single operations, worked out by hand; and sums over counts of operations, in random
//! runs.

use ninescope_engine::{Energy, Peak, Power, PowerConfig};
use ninescope_kernel::Ns;
use ninescope_media::nand::CommandKind;
use ninescope_model::{Cause, OCCUPANCIES, Occupancy, Op};

use crate::scenario::{
    COMMAND, Drive, ERASE, Outcome, PROGRAM, RAMP, READ, RECOVER, UNIT_READ, UNIT_TRANSFER, eight_dies, flush,
    mixed_requests, no_power, policy_with, read, read_units, unit_of_each_die, write, write_units,
};

/// Powers [uW] and energies of a byte [fJ] that can be told apart in a sum.
const DIE_READ: u64 = 82_500;
const DIE_PROGRAM: u64 = 90_000;
const DIE_ERASE: u64 = 70_000;
const CHANNEL_BYTE: u64 = 40_000;
const CORE: u64 = 300_000;
const AT_REST: u64 = 1_000_000;
const UNIT_BYTES: u64 = 4_096;
const PAGE_BYTES: u64 = 16_384;

fn power() -> PowerConfig {
    PowerConfig {
        die: [DIE_READ, DIE_PROGRAM, DIE_ERASE],
        channel_byte: CHANNEL_BYTE,
        core: CORE,
        at_rest: AT_REST,
        window: Ns(1_000_000_000),
        ..no_power()
    }
}

/// A filled drive that draws power.
fn drive(power: PowerConfig) -> Drive {
    Drive::with(|drive| {
        drive.prepared = (0..24).collect();
        drive.power = Some(power);
    })
}

fn seen(run: &Outcome) -> &Power {
    run.device.seen().power.expect("power")
}

/// Of each occupancy that took anything [fJ].
fn lanes(energy: &[u128; OCCUPANCIES]) -> Vec<(Occupancy, u128)> {
    Occupancy::ALL.into_iter().zip(*energy).filter(|(_, energy)| *energy > 0).collect()
}

fn fj(power: u64, time: u64) -> u128 {
    u128::from(power) * u128::from(time)
}

#[test]
fn one_read_takes_its_sensing_and_its_bytes_and_the_drive_its_time() {
    let run = drive(power()).run(vec![read_units(0, 0, 2)]);
    let (latency, spent) = (run.latency(0), seen(&run).spent());
    let moved = u128::from(CHANNEL_BYTE * 2 * UNIT_BYTES);
    assert_eq!(lanes(&spent.dies), [(Occupancy::HostRead, fj(DIE_READ, READ))]);
    assert_eq!(lanes(&spent.channels), [(Occupancy::HostRead, moved)]);
    // The command cycles take nothing of their own.
    assert_eq!(latency, UNIT_READ + 1_000);
    assert_eq!(seen(&run).spent_at_rest(Ns(latency)), fj(AT_REST, latency));
    // 82.5 mW for 50 us are 4.125 uJ, 8 KiB at 40 pJ 0.327 uJ, 1 W for 52.1 us 52.1 uJ.
    let whole = 4_125_000_000 + 327_680_000 + 52_100_000_000;
    let peak = Peak { since: Ns::ZERO, window: Ns(latency), energy: whole };
    assert_eq!(seen(&run).peak(Ns(latency)), Some(peak));
}

#[test]
fn a_page_that_is_written_takes_its_bytes_and_its_program() {
    let run = drive(power()).run(vec![write_units(0, 0, 4), flush(10)]);
    let spent = seen(&run).spent();
    assert_eq!(lanes(&spent.dies), [(Occupancy::HostProgram, fj(DIE_PROGRAM, PROGRAM))]);
    assert_eq!(lanes(&spent.channels), [(Occupancy::HostProgram, u128::from(CHANNEL_BYTE * PAGE_BYTES))]);
    assert_eq!((spent.dram, spent.cores), (0, 0));
}

#[test]
fn a_core_takes_its_time_for_each_command() {
    let mut drive = drive(PowerConfig { command_cost: Ns(700), ..power() });
    drive.engine.command_cost = Ns(700);
    let run = drive.run(vec![read(0, 0), read(10, 4), read(200_000, 8)]);
    assert_eq!(seen(&run).spent().cores, 3 * fj(CORE, 700));
}

/// An erase from the start, which a read stops.
fn suspended_erase(power: PowerConfig) -> Outcome {
    let mut drive = Drive::before_erase();
    drive.engine.suspend = policy_with(&serde_json::json!({ "policy": "between-loops" }));
    drive.power = Some(power);
    drive.run(vec![write(0, 16), read(1_500_000, 20)])
}

#[test]
fn a_suspended_erase_takes_its_pulses_once_and_its_voltages_beside() {
    for (die_suspend, of_voltages) in [(None, DIE_ERASE), (Some(5_000), 5_000)] {
        let run = suspended_erase(PowerConfig { die_suspend, ..power() });
        assert_eq!(run.counters().suspends, 1);
        let spent = lanes(&seen(&run).spent().dies);
        let of = |occupancy| spent.iter().find(|(other, _)| *other == occupancy).map(|(_, energy)| *energy);
        assert_eq!(of(Occupancy::Erase), Some(fj(DIE_ERASE, ERASE)));
        assert_eq!(of(Occupancy::SuspendOverhead), Some(fj(of_voltages, RECOVER + RAMP)));
        assert_eq!(of(Occupancy::HostRead), Some(fj(DIE_READ, READ)));
    }
}

#[test]
fn most_is_drawn_while_most_dies_work() {
    // Two reads on one die follow each other; the second sensing alone has a window of its own.
    let window = Ns(READ);
    let run = drive(PowerConfig { window, at_rest: 0, channel_byte: 0, ..power() }).run(vec![read(0, 0), read(0, 0)]);
    let peak = seen(&run).peak(Ns(run.completed_at(1))).expect("windows are over");
    // The command cycles are all that is missing in the first one.
    assert_eq!(peak.energy, fj(DIE_READ, READ - COMMAND));
    assert_eq!((peak.since, peak.window), (Ns::ZERO, window));
    // On two dies twice as much is drawn.
    let mut drive = drive(PowerConfig { window, at_rest: 0, channel_byte: 0, ..power() });
    drive.channels = 2;
    drive.logical_units *= 2;
    drive.prepared = (0..48).collect();
    let run = drive.run((0..48).map(|unit| read(0, unit)).collect());
    let peak = seen(&run).peak(run.device.now()).expect("windows are over");
    assert!(peak.energy > fj(DIE_READ, READ) && peak.energy <= 2 * fj(DIE_READ, READ), "{peak:?}");
}

#[test]
fn energy_is_the_sum_over_operations() {
    for seed in 1..=5 {
        let mut drive = Drive::busy();
        drive.engine.suspend = policy_with(&serde_json::json!({ "policy": "immediate" }));
        drive.power = Some(PowerConfig { die_suspend: Some(0), ..power() });
        let run = drive.run(mixed_requests(seed, 3_000, drive.logical_units, 20_000, 50));
        let commands = |kind| run.ended(kind).len() as u64;
        let spent: &Energy = seen(&run).spent();
        let whole: u128 = spent.dies.iter().sum();
        let by_count = fj(DIE_READ, commands(CommandKind::Read) * READ)
            + fj(DIE_PROGRAM, commands(CommandKind::Program) * PROGRAM)
            + fj(DIE_ERASE, commands(CommandKind::Erase) * ERASE);
        assert_eq!(whole, by_count, "seed {seed}");
        assert!(run.counters().suspends > 0 && commands(CommandKind::Erase) > 0, "seed {seed}: {:?}", run.counters());
        let moved: u64 = [CommandKind::Read, CommandKind::Program]
            .into_iter()
            .flat_map(|kind| run.issued(kind))
            .map(|(_, command)| command.addressed_planes().map(|plane| u64::from(command.bytes[plane])).sum::<u64>())
            .sum();
        assert_eq!(spent.channels.iter().sum::<u128>(), u128::from(CHANNEL_BYTE * moved), "seed {seed}");
    }
}

#[test]
fn a_drive_that_tells_what_it_draws_does_what_it_did() {
    let requests = || mixed_requests(3, 2_000, Drive::busy().logical_units, 20_000, 50);
    let digest = |power| {
        let mut drive = Drive::busy();
        drive.power = power;
        drive.run(requests()).device.digest()
    };
    assert_eq!(digest(Some(power())), digest(None));
}

// ---- a cap ------------------------------------------------------------------------------------------

/// Eight dies on as many channels, of which so many may read at a time.
fn capped(reading: u64) -> Drive {
    let power = PowerConfig { cap: Some(AT_REST + reading * DIE_READ), die: [DIE_READ; 3], ..power() };
    eight_dies(power)
}

#[test]
fn power_for_one_die_makes_reads_of_several_follow_each_other() {
    let drive = capped(1);
    let units = unit_of_each_die(&drive);
    let run = drive.run(units.iter().map(|&unit| read(0, unit)).collect());
    let latency = |number: u64| (number + 1) * (COMMAND + READ) + UNIT_TRANSFER;
    for number in 0..8 {
        assert_eq!(run.latency(number), latency(number), "the data of each leave beside the sensing of the next");
    }
    let waited: u64 = (0..8).map(|number| number * (COMMAND + READ)).sum();
    assert_eq!(
        run.parts(Op::Read),
        [
            (Cause::DieWaitingForPower, waited),
            (Cause::CommandArray, 8 * (COMMAND + READ)),
            (Cause::Transfer, 8 * UNIT_TRANSFER),
        ]
    );
    assert_eq!(run.counters().power_waits, 7);
}

#[test]
fn with_power_for_so_many_dies_as_many_read_at_a_time() {
    for reading in [2, 3, 8, 9] {
        let drive = capped(reading);
        let units = unit_of_each_die(&drive);
        let run = drive.run(units.iter().map(|&unit| read(0, unit)).collect());
        for number in 0..8 {
            let round = number / reading + 1;
            assert_eq!(run.latency(number), round * (COMMAND + READ) + UNIT_TRANSFER, "{reading} at a time");
        }
        assert_eq!(run.counters().power_waits, 8_u64.saturating_sub(reading));
    }
}

#[test]
fn a_suspended_erase_gives_its_power_to_the_read() {
    let mut drive = Drive::before_erase();
    drive.engine.suspend = policy_with(&serde_json::json!({ "policy": "between-loops" }));
    // Of one die alone nothing changes.
    let requests = || vec![write(0, 16), read(1_500_000, 20)];
    let free = drive.run(requests());
    let most = DIE_PROGRAM;
    drive.power = Some(PowerConfig { cap: Some(AT_REST + most), ..power() });
    let run = drive.run(requests());
    assert_eq!((run.counters().suspends, run.counters().power_waits), (1, 0));
    assert_eq!(run.device.digest(), free.device.digest());
}

#[test]
fn a_cap_that_nobody_reaches_changes_nothing() {
    let requests = || mixed_requests(5, 2_000, Drive::busy().logical_units, 20_000, 50);
    let run = |cap: Option<u64>| {
        let mut drive = Drive::busy();
        drive.power = Some(PowerConfig { cap, ..power() });
        drive.run(requests())
    };
    let free = run(None);
    let enough = run(Some(AT_REST + 4 * DIE_PROGRAM));
    assert_eq!((enough.device.digest(), enough.counters().power_waits), (free.device.digest(), 0));
    let short = run(Some(AT_REST + DIE_PROGRAM));
    assert!(short.counters().power_waits > 100, "{:?}", short.counters());
    assert!(short.device.now() > free.device.now());
}
