//! Every counter rises in a scene whose value is worked out by hand: all counters of each scene, those that stay at zero
//! included. The last test fails when a counter is added that no scene makes rise.

use std::collections::BTreeSet;

use ninescope_ecc::policies::ecc_scheme::crc::Crc;
use ninescope_engine::WriteCompletion;
use ninescope_engine::reliability::code::CodeCounters;
use ninescope_engine::reliability::{NandCode, ReliabilityCounters};
use ninescope_kernel::Ns;
use ninescope_model::{Op, Parity, ParityOver, Source};
use serde_json::json;

use crate::reliability::die_failures::{ENCODED_PROGRAM, PAGE_CHECKED, overwritten, rebuilt};
use crate::reliability::drives::{
    CHECK, CLEAN, CORRECTABLE, CORRUPTED, Coded, LATER, bch, cache, clean, coded, crc, flush_read, never_corrected,
    old_data_is_lost,
};
use crate::scenario::{Drive, Outcome, policy_with, read, read_units, sectors, write, write_units};

/// A scene and what it must count: of the drive, and of its codes.
struct Scene {
    run: Outcome,
    expected: ReliabilityCounters,
    ecc: CodeCounters,
    edc: CodeCounters,
}

fn none() -> ReliabilityCounters {
    ReliabilityCounters::default()
}

fn idle() -> CodeCounters {
    CodeCounters::default()
}

/// One page that is good at a second attempt, another one that is behind it at the decoder, both again after that.
fn read_again() -> Scene {
    let drive = Drive::with(|drive| {
        drive.dies_per_channel = 2;
        drive.prepared = (0..8).collect();
    });
    let drive = drive.with_ecc(bch()).with_errors(never_corrected());
    let run = drive.with_retry(&json!({ "policy": "levels", "success": [1.0] })).run(vec![read(0, 0), read(0, 4)]);
    Scene {
        run,
        expected: ReliabilityCounters { retried_reads: 2, retries: 2, ecc_units_read: 2, ..none() },
        ecc: CodeCounters {
            codewords: 4,
            corrupted_codewords: 4,
            corrected_bits: 2 * u64::from(CORRECTABLE),
            failed_codewords: 2,
            // The second page arrives 1 us behind the first, whose decode takes 10; the second time 10 us behind.
            decoder_wait_ns: CORRUPTED - 1_000,
            decoder_busy_ns: 4 * CORRUPTED,
            ..idle()
        },
        edc: idle(),
    }
}

/// A partial write over what cannot be read, a read of what came of it, and a read that is given up.
fn lost_and_reported() -> Scene {
    let mut drive = old_data_is_lost(coded());
    drive.engine.write_completion = WriteCompletion::Program;
    let run = drive.run(vec![sectors(Op::Write, 0, 4, 4), read(LATER, 0), read(2 * LATER, 4)]);
    Scene {
        run,
        expected: ReliabilityCounters {
            failed_reads: 2,
            units_lost: 1,
            reads_reported: 2,
            ecc_units_read: 2,
            ..none()
        },
        ecc: CodeCounters {
            codewords: 3,
            corrupted_codewords: 2,
            failed_codewords: 2,
            encoded_codewords: 4,
            decoder_busy_ns: 2 * CORRUPTED + CLEAN,
            ..idle()
        },
        edc: idle(),
    }
}

/// Flushed and dirty data of one page move, and clean data of another.
fn moved_between_codes() -> Scene {
    let mut drive = cache();
    drive.prepared = (0..16).collect();
    drive.prepared_is_clean = false;
    drive.gc_trigger = policy_with(&json!({ "policy": "free-groups", "beyond_reserve": 9 }));
    let trim_units = |at: u64, unit: u64| sectors(Op::Trim, at, unit * 8, 4 * 8);
    let run = drive.run(vec![
        // Units 4 to 7 go under the detecting code, 12 to 15 do not.
        flush_read(read_units(0, 4, 4)),
        trim_units(LATER, 0),
        trim_units(LATER, 8),
        // A group of clean data, half of it garbage; with that of the second group it is a group's worth: that goes,
        // being the first of two with as much.
        clean(write_units(2 * LATER, 16, 8)),
        trim_units(3 * LATER, 16),
        // So does the group of clean data, when four more units are garbage; it is checked, and stays where it is.
        write_units(4 * LATER, 0, 4),
        write_units(4 * LATER, 8, 4),
        trim_units(5 * LATER, 0),
        read(6 * LATER, 4),
    ]);
    Scene {
        run,
        expected: ReliabilityCounters {
            ecc_units_read: 4,
            edc_units_read: 1,
            ecc_units_moved: 4,
            edc_units_moved: 4,
            units_moved_to_edc: 4,
            ..none()
        },
        ecc: CodeCounters {
            // Four flushed, twice four moved; encoded: four moved, and eight that were written.
            codewords: 4 + 8,
            encoded_codewords: 4 + 8,
            decoder_busy_ns: 12 * CLEAN,
            ..idle()
        },
        edc: CodeCounters { codewords: 4 + 1, encoded_codewords: 4 + 4 + 8, decoder_busy_ns: 5 * CHECK, ..idle() },
    }
}

/// Eight clean units and four dirty ones with a wrong bit each: one is met by the host, twice at once, one is corrected,
/// four are moved, and three are erased.
fn corruption_met() -> Scene {
    let mut drive = cache().all_corrupt_at(LATER);
    drive.gc_trigger = policy_with(&json!({ "policy": "free-groups", "beyond_reserve": 9 }));
    let run = drive.run(vec![
        write_units(0, 8, 4),
        read(2 * LATER, 0),
        read(2 * LATER + 1, 0),
        read(3 * LATER, 8),
        // The first group holds units 4 to 7 then, the one of dirty data 8 to 11: garbage for one group. The first goes.
        sectors(Op::Trim, 4 * LATER, 8, 3 * 8),
        write_units(5 * LATER, 12, 4),
        sectors(Op::Trim, 6 * LATER, 12 * 8, 4 * 8),
    ]);
    Scene {
        run,
        expected: ReliabilityCounters {
            ecc_units_read: 1,
            edc_units_read: 2,
            corruptions: 12,
            corruptions_under_edc: 8,
            corruptions_corrected: 1,
            corruptions_met_by_host: 1,
            corruptions_met_by_moves: 4,
            corruptions_erased: 3,
            refetched: 2,
            refetched_for_moves: 4,
            heals_dropped: 1,
            edc_units_moved: 4,
            ..none()
        },
        ecc: CodeCounters {
            codewords: 1,
            corrupted_codewords: 1,
            corrected_bits: 1,
            encoded_codewords: 4 + 4,
            decoder_busy_ns: CORRUPTED,
            ..idle()
        },
        edc: CodeCounters {
            codewords: 6,
            corrupted_codewords: 6,
            failed_codewords: 6,
            encoded_codewords: 4,
            decoder_busy_ns: 6 * CHECK,
            ..idle()
        },
    }
}

/// Two passes of the scrubber, the first of which finds two pages of corrupt units.
fn scrubbed() -> Scene {
    let mut drive = cache().all_corrupt_at(0);
    let policy = json!({ "policy": "periodic", "period": "10s", "first": "0s", "pages_in_flight": 1 });
    drive.reliability.scrub = Some(policy_with(&policy));
    let run = drive.run(vec![read(11 * LATER, 23)]);
    Scene {
        run,
        expected: ReliabilityCounters {
            corruptions: 8,
            corruptions_under_edc: 8,
            corruptions_met_by_scrub: 8,
            prefetched: 8,
            scrub_page_reads: 2 + 2,
            scrub_passes: 2,
            ..none()
        },
        ecc: idle(),
        edc: CodeCounters {
            codewords: 16,
            corrupted_codewords: 8,
            failed_codewords: 8,
            encoded_codewords: 8,
            decoder_busy_ns: 16 * CHECK,
            ..idle()
        },
    }
}

/// A group that is read ten times, and all groups when they are old.
fn refreshed() -> Scene {
    let mut drive = Drive::with(|drive| drive.prepared = (0..16).collect()).with_ecc(bch());
    let limits = json!({ "policy": "limits", "reads": 10, "retention": "1h", "period": "40min" });
    drive.reliability.refresh = Some(policy_with(&limits));
    // The ages are looked at at 40 and 80 minutes: group 1 is older than an hour then, group 0 is new since the tenth
    // second.
    let hour = 3_600 * LATER;
    let reads = (1..=10).map(|index| read(index * LATER, 0)).chain([read(hour / 2 * 3 - LATER, 8)]);
    let mut requests: Vec<_> = reads.collect();
    requests[9] = read(hour / 2, 0);
    let run = drive.run(requests);
    Scene {
        run,
        expected: ReliabilityCounters {
            ecc_units_read: 11,
            ecc_units_moved: 16,
            refreshes_by_reads: 1,
            refreshes_by_age: 1,
            ..none()
        },
        ecc: CodeCounters { codewords: 11 + 16, encoded_codewords: 16, decoder_busy_ns: 27 * CLEAN, ..idle() },
        edc: idle(),
    }
}

/// All groups when too many of their bits are expected to fail: the tenth power of an age that grows from 72 to 78 minutes.
fn expected_to_fail() -> Scene {
    let mut drive = old_data_is_lost(Drive::with(|drive| drive.prepared = (0..16).collect()).with_ecc(bch()));
    drive.reliability.nand.initial_age = Ns(72 * 60 * LATER);
    let policy = json!({ "policy": "expected-errors", "rber": 2e-13, "period": "3min" });
    drive.reliability.refresh = Some(policy_with(&policy));
    let run = drive.run(vec![read(0, 0), read(7 * 60 * LATER, 8)]);
    Scene {
        run,
        expected: ReliabilityCounters { ecc_units_read: 2, ecc_units_moved: 16, refreshes_by_rate: 2, ..none() },
        ecc: CodeCounters { codewords: 2 + 16, encoded_codewords: 16, decoder_busy_ns: 18 * CLEAN, ..idle() },
        edc: idle(),
    }
}

/// Checksums of one bit over what is corrupt: what passes is wrong, and what is merged with it is from then on.
fn wrong() -> Scene {
    let drive = Drive { reliability: Default::default(), ..cache() }.with_ecc(bch());
    let drive = drive.with_edc(Crc { width: 1, ..crc() }).all_corrupt_at(0);
    let merges = (0..8).map(|unit| sectors(Op::Write, unit * LATER, unit * 8, 4));
    let reads = (0..8).map(|unit| read((10 + unit) * LATER, unit));
    let run = drive.run(merges.chain(reads).collect());
    // A coin is tossed for each unit that is read for merging; the eight are read from their new pages.
    let of_merges = |decode: &&crate::scenario::Decode| decode.source == Source::ReadModifyWrite;
    let passed = run.decodes().iter().filter(of_merges).filter(|decode| decode.undetected != 0).count() as u64;
    assert!((1..8).contains(&passed));
    Scene {
        run,
        expected: ReliabilityCounters {
            units_wrong: passed,
            reads_wrong: passed,
            ecc_units_read: 8,
            corruptions: 8,
            corruptions_under_edc: 8,
            corruptions_met_by_host: 8 - passed,
            refetched: 8 - passed,
            ..none()
        },
        ecc: CodeCounters { codewords: 8, encoded_codewords: 8, decoder_busy_ns: 8 * CLEAN, ..idle() },
        edc: CodeCounters {
            codewords: 8,
            corrupted_codewords: 8,
            failed_codewords: 8 - passed,
            undetected_codewords: passed,
            decoder_busy_ns: 8 * CHECK,
            ..idle()
        },
    }
}

/// Three dies with parity over them, nothing of which can be read: of a whole stripe everything is lost, and what lies in one that is
/// not full is what the controller holds of it.
fn found_by_parity() -> Scene {
    let drive = Drive::with(|drive| {
        drive.channels = 3;
        drive.parity = Some(Parity { stripe: 3, over: ParityOver::Channels });
        drive.prepared = (0..12).collect();
    });
    let run = drive.with_ecc(bch()).with_errors(never_corrected()).run(vec![read(0, 0), read(LATER, 8)]);
    Scene {
        run,
        expected: ReliabilityCounters {
            degraded_reads: 2,
            stripe_page_reads: 2,
            units_rebuilt: 1,
            // Both pages that were read for the first, and that one.
            failed_reads: 3,
            reads_reported: 1,
            ecc_units_read: 2,
            ..none()
        },
        ecc: CodeCounters {
            codewords: 4,
            corrupted_codewords: 4,
            failed_codewords: 4,
            decoder_busy_ns: 4 * CORRUPTED,
            ..idle()
        },
        edc: idle(),
    }
}

/// One of three dies fails, and its two pages of a full group are written again; one read of another die.
fn die_rebuilt() -> Scene {
    let time = 2 * (PAGE_CHECKED + ENCODED_PROGRAM);
    Scene {
        run: rebuilt(&[(0, 0)], 0),
        expected: ReliabilityCounters {
            die_failures: 1,
            missing_page_reads: 2,
            pages_rebuilt: 2,
            rebuild_page_reads: 4,
            dies_rebuilt: 1,
            rebuild_ns: time,
            ecc_units_read: 1,
            ..none()
        },
        ecc: CodeCounters { codewords: 17, encoded_codewords: 8, decoder_busy_ns: 17 * CHECK, ..idle() },
        edc: idle(),
    }
}

/// Two of them fail at once: of each of four pages the stripe has one left, the other is given up.
fn two_dies() -> Scene {
    let page = PAGE_CHECKED + ENCODED_PROGRAM;
    Scene {
        run: rebuilt(&[(0, 0), (1, 0)], 0),
        expected: ReliabilityCounters {
            die_failures: 2,
            missing_page_reads: 8,
            failed_reads: 4,
            rebuild_page_reads: 8,
            rebuild_pages_lost: 4,
            dies_rebuilt: 2,
            // One die after the other.
            rebuild_ns: 2 * page + 4 * page,
            ecc_units_read: 1,
            ..none()
        },
        ecc: CodeCounters { codewords: 17, encoded_codewords: 16, decoder_busy_ns: 17 * CHECK, ..idle() },
        edc: idle(),
    }
}

/// A die without parity, all of whose four pages are overwritten.
fn missing_erased() -> Scene {
    Scene {
        run: overwritten(),
        expected: ReliabilityCounters { die_failures: 1, missing_pages_erased: 4, ..none() },
        ecc: CodeCounters { encoded_codewords: 96, ..idle() },
        edc: idle(),
    }
}

fn scenes() -> Vec<(&'static str, Scene)> {
    vec![
        ("read again", read_again()),
        ("lost and reported", lost_and_reported()),
        ("found by parity", found_by_parity()),
        ("die rebuilt", die_rebuilt()),
        ("two dies", two_dies()),
        ("missing erased", missing_erased()),
        ("moved between codes", moved_between_codes()),
        ("corruption met", corruption_met()),
        ("scrubbed", scrubbed()),
        ("refreshed", refreshed()),
        ("expected to fail", expected_to_fail()),
        ("wrong", wrong()),
    ]
}

#[test]
fn scenes_count_what_was_worked_out() {
    for (name, Scene { run, expected, ecc, edc }) in scenes() {
        assert_eq!(run.reliable(), expected, "{name}");
        assert_eq!(run.code(NandCode::Ecc), ecc, "{name}: the correcting code");
        if let Some(code) = run.reliability().nand_code(NandCode::Edc) {
            assert_eq!(code.counters, edc, "{name}: the detecting code");
        }
    }
}

#[test]
fn corruption_is_met_once_or_there_still() {
    for (name, Scene { run, .. }) in scenes() {
        let counted = run.reliable();
        let units = (0..run.device.ftl().geometry().units()).map(ninescope_model::Ppa);
        let there = units.filter(|&ppa| run.reliability().is_corrupt(ppa)).count() as u64;
        let met = counted.corruptions_corrected
            + counted.corruptions_met_by_host
            + counted.corruptions_met_by_moves
            + counted.corruptions_met_by_scrub;
        // What is there still may have been met already.
        assert!(met + counted.corruptions_erased <= counted.corruptions, "{name}");
        assert!(counted.corruptions <= met + counted.corruptions_erased + there, "{name}");
    }
}

/// All counters by name. Naming the fields makes a new one fail to compile here.
fn fields(counters: &ReliabilityCounters) -> [(&'static str, u64); 39] {
    let ReliabilityCounters {
        retried_reads,
        retries,
        failed_reads,
        degraded_reads,
        stripe_page_reads,
        units_rebuilt,
        die_failures,
        missing_page_reads,
        pages_rebuilt,
        rebuild_page_reads,
        rebuild_pages_lost,
        missing_pages_erased,
        dies_rebuilt,
        rebuild_ns,
        units_lost,
        units_wrong,
        reads_reported,
        reads_wrong,
        ecc_units_read,
        edc_units_read,
        ecc_units_moved,
        edc_units_moved,
        units_moved_to_edc,
        corruptions,
        corruptions_under_edc,
        corruptions_corrected,
        corruptions_met_by_host,
        corruptions_met_by_moves,
        corruptions_met_by_scrub,
        corruptions_erased,
        refetched,
        refetched_for_moves,
        prefetched,
        heals_dropped,
        scrub_page_reads,
        scrub_passes,
        refreshes_by_reads,
        refreshes_by_age,
        refreshes_by_rate,
    } = *counters;
    [
        ("retried_reads", retried_reads),
        ("retries", retries),
        ("failed_reads", failed_reads),
        ("degraded_reads", degraded_reads),
        ("stripe_page_reads", stripe_page_reads),
        ("units_rebuilt", units_rebuilt),
        ("die_failures", die_failures),
        ("missing_page_reads", missing_page_reads),
        ("pages_rebuilt", pages_rebuilt),
        ("rebuild_page_reads", rebuild_page_reads),
        ("rebuild_pages_lost", rebuild_pages_lost),
        ("missing_pages_erased", missing_pages_erased),
        ("dies_rebuilt", dies_rebuilt),
        ("rebuild_ns", rebuild_ns),
        ("units_lost", units_lost),
        ("units_wrong", units_wrong),
        ("reads_reported", reads_reported),
        ("reads_wrong", reads_wrong),
        ("ecc_units_read", ecc_units_read),
        ("edc_units_read", edc_units_read),
        ("ecc_units_moved", ecc_units_moved),
        ("edc_units_moved", edc_units_moved),
        ("units_moved_to_edc", units_moved_to_edc),
        ("corruptions", corruptions),
        ("corruptions_under_edc", corruptions_under_edc),
        ("corruptions_corrected", corruptions_corrected),
        ("corruptions_met_by_host", corruptions_met_by_host),
        ("corruptions_met_by_moves", corruptions_met_by_moves),
        ("corruptions_met_by_scrub", corruptions_met_by_scrub),
        ("corruptions_erased", corruptions_erased),
        ("refetched", refetched),
        ("refetched_for_moves", refetched_for_moves),
        ("prefetched", prefetched),
        ("heals_dropped", heals_dropped),
        ("scrub_page_reads", scrub_page_reads),
        ("scrub_passes", scrub_passes),
        ("refreshes_by_reads", refreshes_by_reads),
        ("refreshes_by_age", refreshes_by_age),
        ("refreshes_by_rate", refreshes_by_rate),
    ]
}

fn fields_of_code(counters: &CodeCounters) -> [(&'static str, u64); 8] {
    let CodeCounters {
        codewords,
        corrupted_codewords,
        corrected_bits,
        failed_codewords,
        undetected_codewords,
        encoded_codewords,
        decoder_wait_ns,
        decoder_busy_ns,
    } = *counters;
    [
        ("codewords", codewords),
        ("corrupted_codewords", corrupted_codewords),
        ("corrected_bits", corrected_bits),
        ("failed_codewords", failed_codewords),
        ("undetected_codewords", undetected_codewords),
        ("encoded_codewords", encoded_codewords),
        ("decoder_wait_ns", decoder_wait_ns),
        ("decoder_busy_ns", decoder_busy_ns),
    ]
}

#[test]
fn every_counter_rises_in_some_scene() {
    let mut silent: BTreeSet<&str> =
        fields(&none()).into_iter().chain(fields_of_code(&idle())).map(|(name, _)| name).collect();
    // Those of the translation layer that rise in drives with codes alone, see `mechanisms`.
    silent.extend(["healed_units", "refreshed_groups"]);
    for (_, Scene { run, ecc, edc, .. }) in scenes() {
        let counted = run.reliable();
        let of_ftl = [("healed_units", run.ftl().healed_units), ("refreshed_groups", run.ftl().refreshed_groups)];
        let risen = fields(&counted).into_iter().chain(of_ftl).chain(fields_of_code(&ecc)).chain(fields_of_code(&edc));
        for (name, _) in risen.filter(|&(_, count)| count > 0) {
            silent.remove(name);
        }
    }
    assert!(silent.is_empty(), "no scene makes these counters rise: {silent:?}");
}

#[test]
fn an_idle_drive_with_codes_counts_nothing() {
    for drive in [coded(), cache()] {
        let run = drive.run(vec![]);
        assert_eq!((run.reliable(), run.code(NandCode::Ecc)), (none(), idle()));
    }
}

#[test]
fn a_warm_up_is_not_counted_but_for_corruption() {
    let mut drive = cache().all_corrupt_at(0);
    drive.limits.warmup_requests = 2;
    let run = drive.run(vec![read(0, 0), write(LATER, 9), read(2 * LATER, 1)]);
    let counted = run.reliable();
    assert_eq!((counted.edc_units_read, counted.refetched, run.code(NandCode::Edc).codewords), (1, 1, 1));
    assert_eq!((counted.corruptions, counted.corruptions_met_by_host), (8, 2), "the ledger is that of the run");
}
