//! The scenes that provoke each hazard; `hazards.rs` says what must happen in them, and
//! `mechanisms.rs` counts them among the runs that together make every counter rise.

use ninescope_model::Op;

use super::{Drive, Outcome, flush, policy_with, read, sectors, trim, write, write_units};

/// A read of a unit in the open page, of one whose page is being programmed, and of one that is programmed.
pub fn read_of_an_in_flight_page() -> Outcome {
    Drive::default().run(vec![
        write(0, 0),
        read(10, 0),
        write_units(20, 1, 3), // fills the page: its program runs from here
        read(1_000, 3),
        read(1_000_000, 3),
    ])
}

/// Two units in one read, one of them never written.
pub fn unmapped_read() -> Outcome {
    let drive = Drive::with(|drive| {
        drive.prepared = vec![0];
        drive.engine.link_rate = ninescope_kernel::Rate(4_096_000_000);
    });
    drive.run(vec![read(0, 5)])
}

/// Garbage collection reads unit 7 from 0 to 51.1 us; the host overwrites it at 10 us.
pub fn overwrite_during_the_read_of_a_move() -> Outcome {
    Drive::before_collection().run(vec![write(0, 18), write(10_000, 7)])
}

/// The host deallocates unit 7 at 10 us instead.
pub fn trim_during_the_read_of_a_move() -> Outcome {
    Drive::before_collection().run(vec![write(0, 18), trim(10_000, 7)])
}

/// The page with the copy of unit 7 is programmed from 204.4 us on; the host overwrites the unit at 300 us.
pub fn overwrite_during_the_program_of_a_move() -> Outcome {
    Drive::before_collection().run(vec![write(0, 18), write(300_000, 7)])
}

/// The host deallocates unit 7 at 300 us instead.
pub fn trim_during_the_program_of_a_move() -> Outcome {
    Drive::before_collection().run(vec![write(0, 18), trim(300_000, 7)])
}

/// A host read of unit 7 is queued on group 0 while garbage collection empties it; then the unit is overwritten.
pub fn reader_of_a_group_to_be_erased() -> Outcome {
    Drive::before_collection().run(vec![write(0, 18), read(10_000, 7), write(20_000, 7)])
}

/// Two writes of unit 3 into one page, then a FLUSH.
pub fn two_writes_of_one_unit_in_one_page() -> Outcome {
    Drive::default().run(vec![write(0, 3), write(1, 3), flush(2)])
}

/// Half of unit 2 is written.
pub fn partial_write() -> Outcome {
    Drive::with(|drive| drive.prepared = (0..8).collect()).run(vec![sectors(Op::Write, 0, 20, 4)])
}

/// Half of a unit that lies in the open page, and half of one never written.
pub fn partial_writes_without_a_read() -> Outcome {
    Drive::default().run(vec![write(0, 0), sectors(Op::Write, 10, 4, 4), sectors(Op::Write, 20, 84, 4)])
}

/// Two dies. Die 0 is busy with a program when half of unit 0 is written, so the read for its other half
/// waits; meanwhile the whole unit is written to die 1 and programmed there.
pub fn partial_write_overtaken_by_another() -> Outcome {
    let drive = Drive::with(|drive| {
        drive.channels = 2;
        drive.logical_units = 48;
        drive.prepared = (0..48).collect();
    });
    drive.run(vec![write_units(0, 16, 4), sectors(Op::Write, 5, 0, 4), write_units(10, 0, 4)])
}

/// Five groups are free, four of them the host may fill: with the 33rd unit it has to wait for an erase.
pub fn write_without_a_free_page() -> Outcome {
    let drive = Drive::with(|drive| drive.prepared = (0..24).collect());
    drive.run((0..33).map(|unit| write(0, unit % 24)).collect())
}

/// One buffered page: the write after it waits for its program.
pub fn write_into_a_full_buffer() -> Outcome {
    let drive = Drive::with(|drive| drive.engine.buffered_pages = 1);
    drive.run(vec![write_units(0, 0, 4), write(10, 4)])
}

/// A read that arrives in the second erase loop, under a policy that stops at the ends of loops.
pub fn read_during_a_suspendable_erase() -> Outcome {
    erase_with_reads(&[1_500_000], true)
}

/// The erase of a group from time 0 on, and reads of units on the same die. The erase comes about because
/// the host overwrote all of group 0 before.
pub fn erase_with_reads(arrivals: &[u64], suspend: bool) -> Outcome {
    let mut drive = Drive::before_erase();
    if suspend {
        drive.engine.suspend = policy_with(&serde_json::json!({ "policy": "every-safe-point", "points_per_loop": 1 }));
    }
    let mut requests = vec![write(0, 16)];
    requests.extend(arrivals.iter().map(|&at| read(at, 20)));
    drive.run(requests)
}

/// A read that arrives in the second erase loop of a drive that has to begin the interrupted loop anew.
pub fn read_during_an_erase_that_restarts_its_loop() -> Outcome {
    let mut drive = Drive::with(|drive| drive.prepared = (0..24).chain(0..8).chain(8..16).collect());
    drive.engine.suspend = policy_with(&serde_json::json!({ "policy": "practical" }));
    drive.run(vec![write(0, 16), read(1_500_000, 20)])
}

/// Every scene by name.
pub fn all() -> Vec<(&'static str, Outcome)> {
    vec![
        ("read of an in-flight page", read_of_an_in_flight_page()),
        ("unmapped read", unmapped_read()),
        ("overwrite during the read of a move", overwrite_during_the_read_of_a_move()),
        ("trim during the read of a move", trim_during_the_read_of_a_move()),
        ("overwrite during the program of a move", overwrite_during_the_program_of_a_move()),
        ("trim during the program of a move", trim_during_the_program_of_a_move()),
        ("reader of a group to be erased", reader_of_a_group_to_be_erased()),
        ("two writes of one unit in one page", two_writes_of_one_unit_in_one_page()),
        ("partial write", partial_write()),
        ("partial writes without a read", partial_writes_without_a_read()),
        ("partial write overtaken by another", partial_write_overtaken_by_another()),
        ("write without a free page", write_without_a_free_page()),
        ("write into a full buffer", write_into_a_full_buffer()),
        ("read during a suspendable erase", read_during_a_suspendable_erase()),
        ("read during an erase that restarts its loop", read_during_an_erase_that_restarts_its_loop()),
    ]
}
