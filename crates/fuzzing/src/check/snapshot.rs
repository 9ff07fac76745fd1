//! Snapshots of prepared drives.

use ninescope::{PreparedDrive, Refusal};
use ninescope_ftl::{Ftl, InstantDriver};
use ninescope_kernel::{RandomStream, Snapshot};
use ninescope_model::{Lpa, Ppa};

/// The most units of a drive that is made, and units that are written to it.
const UNITS_MAX: u32 = 1 << 14;
const WRITES: u32 = 100;

/// A snapshot is refused with a reason, or holds a drive that reads back as it is written, takes writes and loses
/// nothing.
///
/// # Panics
/// When none of these holds.
pub fn snapshot(input: &[u8]) {
    let shape = match PreparedDrive::read_shape(input) {
        Ok(shape) => shape,
        Err(refusal) => return says_why(&refusal),
    };
    let geometry = &shape.ftl.geometry;
    let refused = shape.ftl.victim_selection.chosen().problem(geometry).is_some();
    if geometry.units() > UNITS_MAX || geometry.groups() > UNITS_MAX || refused {
        return;
    }
    let mut drive = match PreparedDrive::read(&shape, input) {
        Ok(drive) => drive,
        Err(refusal) => return says_why(&refusal),
    };
    let written = drive.write(&shape, Vec::new()).expect("what was read can be written");
    let again = PreparedDrive::read(&shape, written.as_slice()).expect("what was written can be read");
    assert_eq!(state(&again.ftl), state(&drive.ftl), "what was written reads otherwise");
    assert_eq!((again.written, &again.steady), (drive.written, &drive.steady));
    takes_writes(&mut drive.ftl);
}

fn says_why(refusal: &Refusal) {
    assert!(!refusal.to_string().trim().is_empty(), "a refusal says why");
}

fn state(ftl: &Ftl) -> Vec<u8> {
    let mut bytes = Vec::new();
    ftl.save(&mut bytes).expect("a drive that was read is quiet");
    bytes
}

/// Content that no drive came to by itself may leave no space; what it holds stays where the map says.
fn takes_writes(ftl: &mut Ftl) {
    let mut stream = RandomStream::new(1, "fuzzing", "writes");
    let units = ftl.logical_units();
    let mut driver = InstantDriver::new(ftl);
    for _ in 0..WRITES {
        if driver.write(Lpa(stream.below(u64::from(units)) as u32)).is_err() {
            break;
        }
    }
    for unit in (0..units).map(Lpa) {
        let place = ftl.translate(unit);
        assert!(place == Ppa::UNMAPPED || (ftl.is_valid(place) && ftl.content(place) == unit), "unit {unit}");
    }
}
