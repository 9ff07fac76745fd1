//! Reads, programs and erases that take what the layer of their page and the wear of their block say: scenes worked out by hand from
//! the constants of `scenario`, in whatever goes by how long a command takes.

use crate::scenario::{
    COMMAND, Drive, ERASE, ERASE_LOOP, PROGRAM, RAMP, READ, RECOVER, UNIT_READ, UNIT_TRANSFER, no_power, policy_with,
    read, write, write_units,
};
use ninescope_engine::{PowerConfig, WriteCompletion};
use ninescope_kernel::Ns;
use ninescope_media::nand::CommandKind;
use ninescope_media::{TimeFactors, WearFactors};
use ninescope_model::Occupancy;

const ONE: u32 = 1_000_000;
/// A page of the default drive on the channel [ns].
const PAGE_TRANSFER: u64 = 4 * UNIT_TRANSFER;

fn row(cycles: u32, program: u32, erase: u32) -> WearFactors {
    WearFactors { cycles, program, erase }
}

/// Programs get faster and erases slower by half within 1,000 cycles.
fn wearing() -> TimeFactors {
    TimeFactors { wear: vec![row(0, ONE, ONE), row(1_000, 500_000, 1_500_000)], ..TimeFactors::default() }
}

#[test]
fn pages_are_read_and_programmed_in_the_time_of_their_layer() {
    // A block of two pages has two layers: the first one reads in half again of the time, and programs in three quarters.
    let drive = Drive::with(|drive| {
        drive.prepared = (0..8).collect();
        drive.engine.write_completion = WriteCompletion::Program;
        drive.timing.times = TimeFactors {
            read_layers: vec![1_500_000, ONE],
            program_layers: vec![750_000, 1_250_000],
            ..TimeFactors::default()
        };
    });
    let run =
        drive.run(vec![read(0, 0), read(10_000_000, 4), write_units(20_000_000, 8, 4), write_units(30_000_000, 12, 4)]);
    assert_eq!([0, 1].map(|id| run.latency(id)), [UNIT_READ + READ / 2, UNIT_READ]);
    let program = COMMAND + PAGE_TRANSFER + PROGRAM;
    assert_eq!([2, 3].map(|id| run.latency(id)), [program - PROGRAM / 4, program + PROGRAM / 4]);
    // The mean over the block is that of its layers: 1.
    assert_eq!(run.latency(2) + run.latency(3), 2 * program);
}

#[test]
fn a_drive_of_so_many_cycles_erases_and_programs_as_the_line_says() {
    // At 400 cycles 0.8 of a program, and 1.2 of an erase.
    for (cycles, program, erase) in
        [(0, PROGRAM, ERASE), (400, PROGRAM * 8 / 10, ERASE * 12 / 10), (5_000, PROGRAM / 2, ERASE * 3 / 2)]
    {
        let mut drive = Drive::before_erase();
        (drive.worn_by, drive.timing.times) = (cycles, wearing());
        let mut run = drive.run(vec![write(0, 16)]);
        assert_eq!(run.ended(CommandKind::Erase), [COMMAND + erase], "{cycles} cycles");
        assert_eq!(run.device.utilization().dies[0][Occupancy::Erase as usize], COMMAND + erase);
        let mut drive = Drive::with(|drive| {
            drive.prepared = (0..8).collect();
            drive.engine.write_completion = WriteCompletion::Program;
        });
        // The blocks that are written next were never erased but by what is behind the drive.
        (drive.worn_by, drive.timing.times) = (cycles, wearing());
        let run = drive.run(vec![read(0, 0), write_units(1_000_000, 8, 4)]);
        assert_eq!(run.latency(0), UNIT_READ, "reads do not depend on wear");
        assert_eq!(run.latency(1), COMMAND + PAGE_TRANSFER + program, "{cycles} cycles");
    }
}

#[test]
fn an_erase_that_takes_longer_stops_later_and_has_the_rest_of_its_own_time_left() {
    // Loops of 1.5 ms in the place of 1 ms: a read of 1.6 ms stops it at the end of the second one.
    let mut drive = Drive::before_erase();
    (drive.worn_by, drive.timing.times) = (1_000, wearing());
    drive.engine.suspend = policy_with(&serde_json::json!({ "policy": "every-safe-point", "points_per_loop": 1 }));
    let long = ERASE_LOOP * 3 / 2;
    let run = drive.run(vec![write(0, 16), read(long + 100_000, 20)]);
    let stop = COMMAND + 2 * long;
    assert_eq!(run.issued(CommandKind::Read)[0].0, stop + RECOVER);
    assert_eq!(run.completed_at(1), stop + RECOVER + UNIT_READ);
    assert_eq!(run.ended(CommandKind::Erase), [stop + RECOVER + UNIT_READ + RAMP + long]);
    assert_eq!(run.counters().suspends, 1);
}

#[test]
fn an_erase_that_takes_longer_takes_energy_for_longer() {
    const ERASE_POWER: u64 = 70_000;
    let power = PowerConfig { die: [0, 0, ERASE_POWER], window: Ns(1_000_000_000), ..no_power() };
    for (cycles, erase) in [(0, ERASE), (1_000, ERASE * 3 / 2)] {
        let mut drive = Drive::before_erase();
        (drive.worn_by, drive.timing.times, drive.power) = (cycles, wearing(), Some(power.clone()));
        let run = drive.run(vec![write(0, 16)]);
        let spent = run.device.seen().power.expect("power").spent().dies;
        assert_eq!(spent[Occupancy::Erase as usize], u128::from(ERASE_POWER) * u128::from(erase));
    }
}
