//! Moves that end late: their source may have been erased and filled again meanwhile.

use ninescope_ftl::{Ftl, FtlConfig, GcStep};
use ninescope_model::{Geometry, Lpa, Pool, Ppa};

const POOL: Pool = Pool(0);

/// One pool of eight groups of two units that collects whenever there is anything to gain.
fn drive() -> Ftl {
    Ftl::new(&FtlConfig {
        logical_units: 6,
        reserve_groups: 1,
        gc_trigger: serde_json::from_str(r#"{"policy": "free-groups", "beyond_reserve": 4}"#).expect("a policy"),
        seed: 1,
        ..FtlConfig::bare(Geometry::checked(1, 1, 1, 1, 8, 2, 4096, 4096, 1).expect("a legal geometry"))
    })
    .expect("enough spare blocks")
}

fn write(ftl: &mut Ftl, lpa: u32) -> Ppa {
    let placed = ftl.write(Lpa(lpa)).expect("there is space");
    let (group, offset) = ftl.geometry().group_and_offset(placed.new);
    ftl.programmed(group, offset + 1);
    placed.new
}

/// Collects at once all there is to collect.
fn collect(ftl: &mut Ftl) {
    loop {
        match ftl.gc_next(POOL, false) {
            GcStep::Erase(group) => ftl.erased(group),
            GcStep::MovePage { first: from, .. } => {
                let lpa = ftl.content(from);
                let placed = ftl.place_move(POOL, lpa, from).expect("there is space for moves");
                ftl.moved(lpa, ftl.residence(from), placed.new);
            }
            GcStep::Wait | GcStep::Nothing | GcStep::Retired(_) | GcStep::Padded(_) => return,
        }
    }
}

#[test]
fn a_late_move_does_not_bring_old_content_back() {
    let mut ftl = drive();
    let source = write(&mut ftl, 0);
    for lpa in [1, 1, 2, 2, 3] {
        write(&mut ftl, lpa);
    }
    assert_eq!(ftl.gc_next(POOL, false), GcStep::MovePage { first: source, mask: 1 });
    let taken_from = ftl.residence(source);
    assert!(ftl.move_is_current(Lpa(0), taken_from, 0));
    let target = ftl.place_move(POOL, Lpa(0), source).expect("there is space for moves").new;
    // While the copy waits for its program, the host writes unit 0 until it comes to lie where it was moved from.
    let mut newest = write(&mut ftl, 0);
    for _ in 0..100 {
        if newest == source {
            break;
        }
        collect(&mut ftl);
        newest = write(&mut ftl, 0);
    }
    assert_eq!(newest, source, "the scene is set");
    assert!(!ftl.moved(Lpa(0), taken_from, target), "the move is dropped");
    assert_eq!(ftl.translate(Lpa(0)), newest, "the map points at a copy of what was overwritten long ago");
}
