//! Pages of a map in flash under a code: they are decoded as data is, read again as data is, and found again where nothing
//! makes them good.

use ninescope_engine::mapping::MapCounters;
use ninescope_model::{Cause, Op};
use serde_json::json;

use crate::reliability::drives::{CLEAN, CORRUPTED, Coded, LATER, bch, never_corrected, old_data_is_lost};
use crate::scenario::{Drive, Outcome, UNIT_READ, flush, policy_with, read, trim};

/// Finding a page of the map again [ns].
const REBUILD: u64 = 3_000_000;

/// The default drive with more blocks and eight units of data, whose map is one page that lies in flash under the correcting code.
fn mapped() -> Drive {
    Drive::with(|drive| {
        (drive.blocks, drive.prepared) = (16, (0..8).collect());
        drive.map = policy_with(&json!({ "policy": "entries", "size": "1KiB", "rebuild_time": "3ms" }));
    })
    .with_ecc(bch())
}

fn map(run: &Outcome) -> MapCounters {
    *run.device.seen().mapping.expect("a map in flash").counters()
}

fn mapping_read(run: &Outcome) -> u64 {
    run.parts(Op::Read).into_iter().filter(|(cause, _)| *cause == Cause::MappingRead).map(|(_, time)| time).sum()
}

#[test]
fn a_miss_senses_moves_and_decodes_the_page_of_the_map() {
    let run = mapped().run(vec![read(0, 5), read(LATER, 5)]);
    let well = UNIT_READ + CLEAN;
    assert_eq!(([0, 1].map(|id| run.latency(id)), mapping_read(&run)), ([2 * well, well], well));
    assert_eq!((map(&run).pages_fetched, map(&run).pages_rebuilt), (1, 0));
}

#[test]
fn a_page_of_the_map_is_read_again_as_data_is() {
    let drive = mapped().with_errors(never_corrected());
    let run = drive.with_retry(&json!({ "policy": "levels", "success": [1.0] })).run(vec![read(0, 20)]);
    // Nothing lies at unit 20, which is known when the map is.
    assert_eq!(run.latency(0), 2 * (UNIT_READ + CORRUPTED));
    assert_eq!((run.reliable().retried_reads, run.reliable().failed_reads, map(&run).pages_rebuilt), (1, 0, 0));
}

#[test]
fn what_cannot_be_read_of_the_map_is_found_again_and_written_anew() {
    let run = old_data_is_lost(mapped()).run(vec![read(0, 20), read(LATER, 21)]);
    let lost = UNIT_READ + CORRUPTED + REBUILD;
    // It was written anew, and is in the controller still, in a page that is not full.
    assert_eq!(([0, 1].map(|id| run.latency(id)), mapping_read(&run)), ([lost, 0], lost));
    assert_eq!((run.reliable().failed_reads, run.reliable().reads_reported), (1, 0), "nothing of the host's is lost");
    let counted = map(&run);
    assert_eq!((counted.pages_rebuilt, counted.pages_written, counted.pages_read_to_update), (1, 1, 0));
}

#[test]
fn a_page_of_the_map_that_is_read_to_be_written_is_found_again_first() {
    // What a TRIM changes is not in memory: the page is read, and written with the rest of it.
    let run = old_data_is_lost(mapped()).run(vec![trim(0, 5), read(LATER, 21)]);
    let counted = map(&run);
    assert_eq!((counted.pages_read_to_update, counted.pages_rebuilt, counted.pages_written), (1, 1, 1));
    assert_eq!((run.latency(0), run.latency(1), run.reliable().failed_reads), (0, 0, 1));
}

#[test]
fn a_page_of_the_map_is_refreshed_with_its_block_and_found_again_where_the_move_loses_it() {
    // Blocks of one page of one unit: one holds unit 0, and one the map.
    let mut drive = old_data_is_lost(mapped());
    (drive.page_bytes, drive.pages, drive.blocks, drive.prepared) = (4_096, 1, 40, vec![0]);
    let limits = json!({ "policy": "limits", "reads": null, "retention": "30d", "period": "1s" });
    drive.reliability.refresh = Some(policy_with(&limits));
    let run = drive.run(vec![flush(0), flush(4 * LATER)]);
    let counted = run.reliable();
    assert_eq!((counted.refreshes_by_age, run.ftl().refreshed_groups, counted.units_lost), (2, 2, 1));
    // The move of the map and the read to write what the move of unit 0 changed of it.
    assert_eq!((counted.failed_reads, map(&run).pages_rebuilt), (3, 2));
}
