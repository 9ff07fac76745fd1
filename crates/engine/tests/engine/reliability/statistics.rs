//! What is drawn against its law: outcomes of codewords, retries, corruption that passes. Seeds are fixed; bounds are
//! those that one run in ten thousand would cross.

use ninescope_ecc::EccSchemeConfig;
use ninescope_ecc::policies::ecc_scheme::bch::Bch;
use ninescope_ecc::policies::ecc_scheme::crc::Crc;
use ninescope_engine::reliability::code::CodeCounters;
use ninescope_engine::reliability::health::Ageing;
use ninescope_engine::reliability::read_ages::{AGES, CYCLES, ReadsOfClass};
use ninescope_engine::reliability::variation::VariationConfig;
use ninescope_engine::reliability::{NandCode, ReliabilityCounters};
use ninescope_engine::{NoProbe, Plain};
use ninescope_kernel::Ns;
use ninescope_model::{Arrival, Cause, Op};
use serde_json::json;

use crate::common::generated;
use crate::reliability::drives::{CORRUPTED, Coded, bch, coded, constant, crc, never_corrected};
use crate::scenario::{Drive, UNIT_READ, policy_with, read, read_units, write_units};

/// Four standard deviations: 6e-5.
const SIGMAS: f64 = 4.0;

/// What came of single reads of a unit, one after another.
struct Reads {
    code: CodeCounters,
    counted: ReliabilityCounters,
    /// Latencies with their counts [ns].
    latencies: Vec<(u64, u64)>,
    parts: ninescope_engine::meter::Parts,
}

fn reads(drive: &Drive, count: u64) -> Reads {
    let mut drive = drive.clone();
    drive.engine.log_requests = true;
    let mut left = count;
    let workload = generated(Arrival::Closed, move || {
        left = left.checked_sub(1)?;
        Some(read(0, left % 8))
    });
    let mut device = drive.device::<Plain>(Box::new(workload), NoProbe);
    device.run().expect("the run ends well");
    let mut times: Vec<u64> = device.request_log().iter().map(|entry| entry.latency.0).collect();
    times.sort_unstable();
    let latencies = times.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect();
    let part = device.seen().reliability.expect("a drive with codes");
    Reads {
        code: part.nand_code(NandCode::Ecc).expect("a code").counters,
        counted: *part.counters(),
        latencies,
        parts: device.meter().ops[Op::Read as usize].attribution.total(),
    }
}

/// P[k of n bits fail], for k up to `most`.
fn binomial(bits: u32, rber: f64, most: u32) -> Vec<f64> {
    let odds = rber / (1.0 - rber);
    let mut mass = libm::exp(f64::from(bits) * libm::log1p(-rber));
    (0..=most)
        .map(|k| {
            let this = mass;
            mass *= f64::from(bits - k) / f64::from(k + 1) * odds;
            this
        })
        .collect()
}

#[track_caller]
fn assert_near(measured: f64, expected: f64, deviation: f64, what: &str) {
    let sigmas = (measured - expected) / deviation;
    println!("{what}: {measured:.1}, expected {expected:.1}, {sigmas:+.2} standard deviations");
    assert!(sigmas.abs() < SIGMAS, "{what}: {measured} for {expected}, {sigmas:+.2} standard deviations");
}

#[test]
fn clean_corrected_failed_and_undetected_codewords_come_as_often_as_the_binomial_law_says() {
    // Two of 32,768 + 16 x 2 bits are corrected, of which one fails in the mean; a decoder takes a pattern beyond for one
    // within its reach with the share of syndromes that stand for such: (1 + n + n (n-1) / 2) / 2^32.
    const N: u64 = 400_000;
    let (bits, t) = (32_800_u32, 2_u32);
    for mean in [0.3, 1.0, 3.0] {
        let rber = mean / f64::from(bits);
        let drive = Drive { reliability: Default::default(), ..coded() };
        let drive = drive.with_ecc(Bch { correctable: t, ..bch() }).with_errors(constant(rber));
        let Reads { code, counted, .. } = reads(&drive, N);
        let law = binomial(bits, rber, t);
        let n = f64::from(bits);
        let passes = (1.0 + n + n * (n - 1.0) / 2.0) / libm::exp2(32.0);
        let beyond = 1.0 - law.iter().sum::<f64>();
        let expected = [law[0], law[1] + law[2], beyond * (1.0 - passes), beyond * passes];
        let clean = code.codewords - code.corrupted_codewords;
        let corrected = code.corrupted_codewords - code.failed_codewords - code.undetected_codewords;
        let counts = [clean, corrected, code.failed_codewords, code.undetected_codewords];
        assert_eq!(counts.iter().sum::<u64>(), N);
        let chi_square: f64 = counts
            .iter()
            .zip(expected)
            .map(|(&count, share)| (count as f64 - share * N as f64).powi(2) / (share * N as f64))
            .sum();
        println!("{mean} errors in the mean: {counts:?}, chi-square {chi_square:.2}");
        // Three degrees of freedom: 21.1 with a chance of 1e-4.
        assert!(chi_square < 21.1, "{mean} errors in the mean: {counts:?} for {expected:?}");
        let (first, second) = (law[1] + 2.0 * law[2], law[1] + 4.0 * law[2]);
        let deviation = ((second - first * first) * N as f64).sqrt();
        assert_near(code.corrected_bits as f64, first * N as f64, deviation, "corrected bits");
        // Every codeword is a read of its own.
        assert_eq!((counted.reads_reported, counted.reads_wrong), (code.failed_codewords, code.undetected_codewords));
    }
}

/// Corrected bits of reads of the first page of group 0 alone, of the second one alone, and how many reads there were of each.
fn corrected_by_page(drive: &Drive, count: u64) -> [f64; 2] {
    [0, 4].map(|first| {
        let run = drive.clone().run((0..count).map(|index| read(index * 200_000, first + index % 4)).collect());
        assert_eq!(run.reliable().failed_reads, 0, "nothing is beyond the code");
        run.code(NandCode::Ecc).corrected_bits as f64
    })
}

#[test]
fn bits_of_pages_fail_as_often_as_the_factors_of_page_and_block_say() {
    // A codeword has 12 wrong bits in the mean; the pages of a block 0.5 and 1.5 times as many, so that all have 12 still.
    const N: u64 = 20_000;
    let rber = 12.0 / 33_536.0;
    for blocks in [0.0, 0.2] {
        let mut drive = coded().with_errors(constant(rber));
        drive.reliability.nand.variation =
            Some(VariationConfig { pages: vec![0.5, 1.5], slc_pages: Vec::new(), blocks });
        let corrected = corrected_by_page(&drive, N);
        let of_block = drive.run(Vec::new()).reliability().variation().expect("factors").of_block(0);
        assert_eq!((of_block - 1.0).abs() < 1e-12, blocks < 1e-12, "{of_block}");
        for (corrected, factor) in corrected.into_iter().zip([0.5, 1.5]) {
            let expected = N as f64 * 12.0 * factor * of_block;
            assert_near(corrected, expected, expected.sqrt(), &format!("a factor of {factor} x {of_block}"));
        }
        let mean = corrected.iter().sum::<f64>() / (2.0 * N as f64);
        let expected = 12.0 * of_block;
        assert_near(mean, expected, (expected / (2.0 * N as f64)).sqrt(), "the mean of all pages");
    }
}

#[test]
fn pages_without_errors_of_their_own_are_read_beside_those_that_nothing_brings_back() {
    for (pages, failed) in [([0.0, 1.0], [0, 4]), ([1.0, 0.0], [4, 0])] {
        let mut drive = coded().with_errors(never_corrected());
        drive.reliability.nand.variation = Some(VariationConfig { pages: pages.to_vec(), ..Default::default() });
        for (first, failed) in [0, 4].into_iter().zip(failed) {
            let run = drive.clone().run((0..4).map(|index| read(index * 1_000_000, first + index)).collect());
            assert_eq!(run.reliable().reads_reported, failed, "units {first} on with factors {pages:?}");
        }
    }
}

#[test]
fn attempts_grow_with_cycles_and_age_as_their_table_says() {
    // One attempt when new and fresh, two when worn or old, three when both: a quarter of the way in time and half of it in cycles
    // there are parts of 3/8, 1/8 + 3/8 and 1/8.
    const N: u64 = 20_000;
    const DAY: u64 = 86_400_000_000_000;
    let table = json!({ "policy": "table", "retention": ["0s", "100d"], "rows": [
        { "cycles": 0, "shares": [[1.0], [0.0, 1.0]] },
        { "cycles": 1000, "shares": [[0.0, 1.0], [0.0, 0.0, 1.0]] },
    ] });
    for (cycles, days, warm, shares) in [
        (0, 0, None, [1.0, 0.0, 0.0_f64]),
        (0, 100, None, [0.0, 1.0, 0.0]),
        (1_000, 200, None, [0.0, 0.0, 1.0]),
        (500, 25, None, [0.375, 0.5, 0.125]),
        // Five days in the warm are 25.
        (500, 5, Some(Ageing { initial: Ns(25 * DAY), factor: 5.0 }), [0.375, 0.5, 0.125]),
    ] {
        let mut drive = coded().with_errors(never_corrected()).with_retry(&table);
        let nand = &mut drive.reliability.nand;
        (nand.initial_cycles, nand.initial_age, nand.ageing) = (cycles, Ns(days * DAY), warm);
        let Reads { counted, latencies, .. } = reads(&drive, N);
        let mean = shares[0] + 2.0 * shares[1] + 3.0 * shares[2];
        let square: f64 = shares[0] + 4.0 * shares[1] + 9.0 * shares[2];
        // The run takes some seconds of those days.
        let deviation = ((square - mean * mean).max(1e-6) * N as f64).sqrt();
        assert_near(counted.retries as f64, mean * N as f64, deviation, &format!("{cycles} cycles, {days} days"));
        assert_eq!((counted.retried_reads, counted.failed_reads), (N, 0));
        // Each attempt is one sense.
        let attempt = UNIT_READ + CORRUPTED;
        let times: Vec<u64> =
            shares.iter().zip(2..).filter(|(share, _)| **share > 0.0).map(|(_, n)| n * attempt).collect();
        let seen: Vec<u64> = latencies.iter().filter(|(_, count)| *count > 20).map(|(time, _)| *time).collect();
        assert_eq!(seen, times, "{cycles} cycles, {days} days");
    }
}

/// A class by its number: how many took so many attempts, how many did not decode, and the sum of what they are classed by.
type ToldOfClass = (usize, Vec<(usize, u64)>, u64, u128);

/// The classes that have reads.
fn classes(all: &[ReadsOfClass]) -> Vec<ToldOfClass> {
    let of = |class: &ReadsOfClass| {
        let attempts = class.by_attempts.iter().copied().enumerate().filter(|&(_, reads)| reads > 0);
        (attempts.collect(), class.undecoded, class.sum)
    };
    let told = all
        .iter()
        .map(of)
        .enumerate()
        .filter(|(_, (attempts, ..)): &(usize, (Vec<_>, u64, u128))| !attempts.is_empty());
    told.map(|(number, (attempts, undecoded, sum))| (number, attempts, undecoded, sum)).collect()
}

#[test]
fn reads_of_two_ages_are_told_apart_and_take_what_the_table_says() {
    // One attempt for what is new, two for what is 100 days old and more, on a drive with 700 cycles behind it. Units 0 to 7 are old,
    // 8 to 15 are written in the run and read 2 s later: classes 1 (1 s to 1 min), 7 (90 to 180 d) and 5 (500 to 1,000 cycles).
    const DAY: u64 = 86_400_000_000_000;
    const LATER: u64 = 2_000_000_000;
    let table = json!({ "policy": "table", "retention": ["0s", "100d"], "rows": [
        { "cycles": 0, "shares": [[1.0], [0.0, 1.0]] },
    ] });
    let reads = [0, 8, 1, 4, 9, 6, 12];
    for warm_up in [0, 5] {
        let mut drive = coded().with_errors(never_corrected()).with_retry(&table);
        (drive.reliability.nand.initial_cycles, drive.reliability.nand.initial_age) = (700, Ns(100 * DAY));
        drive.limits.warmup_requests = warm_up;
        let writes = [write_units(0, 8, 4), write_units(1, 12, 4)];
        let reads = reads.iter().zip(0..).map(|(&unit, number)| read(LATER + number * 10_000_000, unit));
        let run = drive.run(writes.into_iter().chain(reads).collect());
        // Two writes and the first three reads are warm-up, or nothing is.
        let (new, old) = if warm_up == 0 { (3, 4) } else { (2, 2) };
        let told = run.reliability().reads_by_age();
        let by_age = classes(&told.by_age);
        assert_eq!(by_age.len(), 2, "{by_age:?}");
        assert_eq!((by_age[0].0, &by_age[0].1, by_age[0].2), (1, &vec![(1, new)], 0));
        assert_eq!((by_age[1].0, &by_age[1].1, by_age[1].2), (7, &vec![(2, old)], 0));
        // Ages from 100 days on, less than 3 s apart.
        let (sum, least) = (by_age[1].3, u128::from(old) * u128::from(100 * DAY + LATER));
        assert!((least..least + u128::from(old) * 1_000_000_000).contains(&sum), "{sum}");
        assert_eq!(classes(&told.by_wear), [(5, vec![(1, new), (2, old)], 0, u128::from(new + old) * 700)]);
        assert_eq!((told.by_age[7].reads(), told.by_age[7].retries()), (old, 2 * old));
    }
}

#[test]
fn reads_that_no_attempt_makes_good_are_told_in_their_class() {
    let mut drive =
        coded().with_errors(never_corrected()).with_retry(&json!({ "policy": "levels", "success": [0.0, 0.0] }));
    drive.reliability.nand.initial_age = Ns(3_600_000_000_000);
    let run = drive.run((0..3).map(|number| read(number * 10_000_000, number)).collect());
    // An hour and some microseconds; of no cycles.
    let told = run.reliability().reads_by_age();
    let of_hours: Vec<_> =
        classes(&told.by_age).into_iter().map(|(class, attempts, bad, _)| (class, attempts, bad)).collect();
    assert_eq!(of_hours, [(3, vec![(2, 3)], 3)]);
    assert_eq!(classes(&told.by_wear), [(0, vec![(2, 3)], 3, 0)]);
}

#[test]
fn classes_of_age_and_wear_begin_where_they_say() {
    assert!(AGES.is_sorted() && CYCLES.is_sorted());
    assert_eq!((AGES[0], CYCLES[0]), (Ns(0), 0));
    assert_eq!((AGES[4], AGES[9]), (Ns(86_400_000_000_000), Ns(365 * 86_400_000_000_000)));
}

#[test]
fn codewords_of_a_page_fail_by_themselves() {
    // Four codewords to a read, three of which decode or not whatever the fourth does.
    const N: u64 = 100_000;
    let (bits, t, mean) = (32_800_u32, 2_u32, 1.0);
    let rber = mean / f64::from(bits);
    let drive = Drive { reliability: Default::default(), ..coded() };
    let drive = drive.with_ecc(Bch { correctable: t, ..bch() }).with_errors(constant(rber));
    let run = drive.run((0..N).map(|index| read_units(index * 200_000, 0, 4)).collect());
    let law = binomial(bits, rber, t);
    let good: f64 = law.iter().sum();
    let n = f64::from(bits);
    let fails = (1.0 - good) * (1.0 - (1.0 + n + n * (n - 1.0) / 2.0) / libm::exp2(32.0));
    // 1 - (1 - P)^4 of the pages.
    let page = 1.0 - (1.0 - fails).powi(4);
    let deviation = (N as f64 * page * (1.0 - page)).sqrt();
    assert_near(run.reliable().failed_reads as f64, N as f64 * page, deviation, "pages");
    // And each of the four as often as the others.
    for unit in 0..4 {
        let failed = run.decodes().iter().filter(|decode| decode.failed >> unit & 1 == 1).count();
        let deviation = (N as f64 * fails * (1.0 - fails)).sqrt();
        assert_near(failed as f64, N as f64 * fails, deviation, &format!("unit {unit}"));
    }
}

#[test]
fn retries_cost_what_their_closed_form_says() {
    // q0 = 1: no page decodes. Then levels that fail with 0.6, 0.3 and 0.8.
    const N: u64 = 40_000;
    let drive = coded().with_errors(never_corrected());
    let drive = drive.with_retry(&json!({ "policy": "levels", "success": [0.4, 0.7, 0.2] }));
    let Reads { counted, latencies, parts, .. } = reads(&drive, N);
    let fails = [1.0, 0.6, 0.3, 0.8];
    // E[senses] = 1 + q0 + q0 q1 + q0 q1 q2.
    let senses = 1.0 + fails[0] + fails[0] * fails[1] + fails[0] * fails[1] * fails[2];
    // The latencies are so many attempts, with these chances: the last one is that of four senses, good or not.
    let chances = [0.4, 0.6 * 0.7, 0.6 * 0.3];
    let mean_square: f64 = [2.0, 3.0, 4.0].iter().zip(chances).map(|(senses, chance)| senses * senses * chance).sum();
    let deviation = ((mean_square - senses * senses) * N as f64).sqrt();
    assert_near((N + counted.retries) as f64, senses * N as f64, deviation, "senses");
    assert_eq!(counted.retried_reads, N);
    let attempt = UNIT_READ + CORRUPTED;
    assert_eq!(latencies.iter().map(|(time, _)| *time).collect::<Vec<_>>(), [2, 3, 4].map(|senses| senses * attempt));
    for ((_, count), chance) in latencies.iter().zip(chances) {
        let deviation = (N as f64 * chance * (1.0 - chance)).sqrt();
        assert_near(*count as f64, N as f64 * chance, deviation, "reads of so many senses");
    }
    let given_up = 0.6 * 0.3 * 0.8;
    let deviation = (N as f64 * given_up * (1.0 - given_up)).sqrt();
    assert_near(counted.reads_reported as f64, N as f64 * given_up, deviation, "reads given up");
    assert_eq!(parts.of(Cause::Retry), counted.retries * attempt);
}

#[test]
fn retries_of_pages_that_seldom_fail_cost_their_share() {
    // q0 is the chance that a codeword has more errors than are corrected, and is found to.
    const N: u64 = 400_000;
    let (bits, t) = (32_800_u32, 2_u32);
    let rber = 1.0 / f64::from(bits);
    let drive = Drive { reliability: Default::default(), ..coded() };
    let drive = drive.with_ecc(Bch { correctable: t, ..bch() }).with_errors(constant(rber));
    let drive = drive.with_retry(&json!({ "policy": "levels", "success": [0.5, 0.5] }));
    let Reads { counted, parts, .. } = reads(&drive, N);
    let n = f64::from(bits);
    let passes = (1.0 + n + n * (n - 1.0) / 2.0) / libm::exp2(32.0);
    let first = (1.0 - binomial(bits, rber, t).iter().sum::<f64>()) * (1.0 - passes);
    assert_near(
        counted.retried_reads as f64,
        first * N as f64,
        (first * (1.0 - first) * N as f64).sqrt(),
        "reads retried",
    );
    // One attempt or two, alike: 1.5 in the mean, with a variance of q0 x 2.5 - (q0 x 1.5)^2.
    let deviation = ((2.5 * first - (1.5 * first).powi(2)) * N as f64).sqrt();
    assert_near(counted.retries as f64, 1.5 * first * N as f64, deviation, "attempts");
    assert_eq!(parts.of(Cause::Retry), counted.retries * (UNIT_READ + CORRUPTED));
}

#[test]
fn a_checksum_of_eight_bits_misses_one_in_256() {
    const N: u64 = 400_000;
    for width in [4, 8] {
        let mut drive = Drive { reliability: Default::default(), ..coded() };
        let code = Crc { width, ..crc() };
        drive.reliability.nand.ecc = Some(EccSchemeConfig::Crc(code).build().expect("a code"));
        let Reads { code, counted, .. } = reads(&drive.with_errors(constant(0.02)), N);
        assert_eq!(code.corrupted_codewords, N, "each of 32,772 bits fails with one in fifty");
        let share = libm::exp2(-f64::from(width));
        let deviation = (N as f64 * share * (1.0 - share)).sqrt();
        assert_near(code.undetected_codewords as f64, N as f64 * share, deviation, &format!("{width} bits"));
        assert_eq!((counted.reads_wrong, counted.reads_reported), (code.undetected_codewords, code.failed_codewords));
    }
}

#[test]
fn errors_that_grow_with_reads_grow_as_their_model_says() {
    // 1e-9 for each read of a group that was erased once, so that the n-th read finds n 1e-9 x 33,536 bits in the mean;
    // the sum over n of a run of reads, less what the grid of rates and the steps of 1/64 leave out.
    const N: u64 = 200_000;
    let drive = coded().with_errors(policy_with(&json!({
        "policy": "power-law", "floor": 0.0, "cycles_factor": 0.0, "retention_factor": 0.0,
        "reads_factor": 1e-9, "reads_cycles_exponent": 1.0, "reads_exponent": 1.0,
    })));
    let mut drive = drive;
    drive.reliability.nand.initial_cycles = 1;
    let Reads { code, .. } = reads(&drive, N);
    let expected = 33_536.0 * 1e-9 * (N as f64 * (N as f64 + 1.0) / 2.0);
    let deviation = expected.sqrt();
    let error = (code.corrected_bits as f64 - expected) / expected;
    println!("{} bits, expected {expected:.0}: {:+.3} %", code.corrected_bits, 100.0 * error);
    // A step lags by half a 64th in the mean, and the grid is off by a 256th at most, either way.
    assert!(error < 4.0 * deviation / expected + 1.0 / 256.0 && error > -1.0 / 64.0 - 1.0 / 256.0, "{error}");
}
