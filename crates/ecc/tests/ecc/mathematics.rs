//! Codes as mathematics, against published tables and exact rational arithmetic.

use ninescope_ecc::{Code, tail};
use proptest::prelude::*;

/// One sector of storage-class memory, and half a page of flash.
const SECTOR: u32 = 8 * 512;
const HALF_PAGE: u32 = 8 * 8192;

fn bch(user_bits: u32, correctable: u32) -> Code {
    Code::bch(user_bits, correctable, None).expect("a code")
}

#[track_caller]
fn assert_near(measured: f64, expected: f64, tolerance: f64) {
    assert!((measured / expected - 1.0).abs() <= tolerance, "{measured:e} instead of {expected:e}");
}

#[test]
fn the_strongest_codes_of_rate_nine_tenths_are_those_published() {
    for (bytes, correctable) in [
        (128, 10),
        (256, 18),
        (512, 35),
        (1024, 65),
        (2048, 121),
        (4096, 227),
        (8192, 428),
        (16_384, 809),
        (32_768, 1533),
    ] {
        let code = Code::strongest_bch(8 * bytes, 0.9, None).expect("a code");
        assert_eq!(code.correctable(), correctable, "{bytes} B");
        assert!(code.rate() >= 0.9 && bch(8 * bytes, correctable + 1).rate() < 0.9);
    }
    let (sector, half_page) = (bch(SECTOR, 35), bch(HALF_PAGE, 428));
    assert_eq!((sector.field_degree(), sector.codeword_bits()), (Some(13), 4551));
    assert_eq!((half_page.field_degree(), half_page.codeword_bits()), (Some(17), 72_812));
    assert_eq!((sector.parity_bytes(), half_page.parity_bytes()), (57, 910));
    assert_near(sector.rate(), 0.90002, 1e-5);
    assert_near(half_page.rate(), 0.90007, 1e-5);
}

#[test]
fn a_rate_that_a_whole_number_of_errors_meets_exactly_is_met() {
    // 8192 bits at rate 4/5 leave 2048 bits: 128 errors in the field of degree 16, to the bit.
    let code = Code::strongest_bch(8192, 0.8, Some(16)).expect("a code");
    assert_eq!((code.correctable(), code.codeword_bits()), (128, 10_240));
}

#[test]
fn where_user_data_nearly_fills_a_field_the_next_one_corrects_more() {
    // 1000 B: 2^13 - 1 - 8000 leave 191 bits, 14 errors; degree 14 has place for the 888 bits of rate 9/10, 63 errors.
    let code = Code::strongest_bch(8000, 0.9, None).expect("a code");
    assert_eq!((code.field_degree(), code.correctable()), (Some(14), 63));
    assert_eq!(Code::strongest_bch(8000, 0.9, Some(13)).expect("a code").correctable(), 14);
}

#[test]
fn a_rate_without_place_for_one_error_is_refused() {
    for (rate, words) in [(0.999, "0.996836"), (1.0, "between 0 and 1"), (0.0, "between"), (f64::NAN, "between")] {
        let error = Code::strongest_bch(SECTOR, rate, None).expect_err("no code");
        assert!(error.key == "rate" && error.message.contains(words), "{error}");
    }
}

/// Table of the acceptable bit error rate, worked out from the definition for the codes of a hybrid drive and of
/// `FlexECC`, with another program.
#[test]
fn acceptable_bit_error_rates_are_those_of_the_table() {
    let table = [
        (1e-13, [6.97e-9, 1.73e-4, 8.42e-4, 2.28e-3], [1.46e-5, 8.01e-4, 1.90e-3, 4.42e-3]),
        (1e-15, [6.97e-10, 1.12e-4, 6.51e-4, 1.92e-3], [9.33e-6, 7.32e-4, 1.78e-3, 4.25e-3]),
        (1e-16, [2.20e-10, 8.98e-5, 5.75e-4, 1.77e-3], [7.49e-6, 7.01e-4, 1.73e-3, 4.17e-3]),
        (1e-17, [6.97e-11, 7.24e-5, 5.09e-4, 1.63e-3], [6.03e-6, 6.73e-4, 1.69e-3, 4.10e-3]),
    ];
    for (uber, sector, half_page) in table {
        for (correctable, aber) in [1, 10, 20, 35].into_iter().zip(sector) {
            assert_near(bch_in(SECTOR, correctable, 13).aber(uber), aber, 0.005);
        }
        for (correctable, aber) in [10, 100, 200, 428].into_iter().zip(half_page) {
            assert_near(bch_in(HALF_PAGE, correctable, 17).aber(uber), aber, 0.005);
        }
    }
    assert!(bch(HALF_PAGE, 428).aber(1e-15) > bch(SECTOR, 35).aber(1e-15), "more user data, more errors");
}

fn bch_in(user_bits: u32, correctable: u32, field_degree: u32) -> Code {
    Code::bch(user_bits, correctable, Some(field_degree)).expect("a code")
}

#[test]
fn an_acceptable_rate_meets_its_target_and_the_next_double_does_not() {
    let code = bch(SECTOR, 35);
    for uber in [1e-5, 1e-15, 1e-100, 1e-290] {
        let (aber, target) = (code.aber(uber), libm::log(uber));
        assert_near(code.uber(aber), uber, 1e-10);
        assert!(code.ln_uber(aber) <= target && code.ln_uber(aber.next_up()) > target);
    }
    // A target that even coin flips meet.
    assert_near(Code::none(8).expect("a code").aber(0.9), 0.5, 0.0);
}

/// P[X > t] by sums of whole numbers of arbitrary length, divided at the end (another program, 17 digits).
#[test]
fn tails_are_those_of_exact_rational_arithmetic() {
    let power = |exponent: i32| 2.0_f64.powi(exponent);
    let exact = [
        (4551, 35, power(-20), 2.077_867_204_256_712_5e-127),
        (4551, 35, power(-9), 6.474_623_035_183_76e-12),
        (4551, 35, power(-7), 0.492_615_069_921_290_9),
        (4551, 35, power(-6), 0.999_998_619_372_478_9),
        (8752, 40, power(-24), 7.038_525_355_762_851e-185),
        (9088, 72, power(-10), 4.674_546_028_021_564e-41),
        (100, 3, power(-60), 2.219_334_699_742_017e-66),
        (4109, 1, power(-30), 7.320_415_522_587_546e-12),
        (72_812, 428, power(-10), 3.587_148_619_903_697e-182),
        (72_812, 428, power(-8), 8.011_008_301_208_414e-16),
        (15, 2, power(-2), 0.763_912_188_820_540_9),
        (1000, 0, power(-50), 8.881_784_196_997_312e-13),
        (2000, 60, power(-18), 5.269_642_981_822_999_6e-214),
    ];
    for (bits, most, rber, expected) in exact {
        assert_near(libm::exp(tail::ln_above(bits, most, rber)), expected, 2e-12);
    }
    // All 32 of 32 bits, each with 2^-33: 2^-1056 is less than any double.
    assert_near(tail::ln_above(32, 31, power(-33)), -1056.0 * std::f64::consts::LN_2, 1e-15);
}

/// Published with the incomplete beta function, to seven digits.
#[test]
fn failures_of_codewords_and_pages_are_the_incomplete_beta_function() {
    for (bits, correctable, rber, failure) in [
        (9088, 72, 1e-3, 2.143_832e-40),
        (9088, 72, 2e-3, 2.817_906e-22),
        (9088, 72, 3e-3, 2.851_511e-13),
        (9088, 72, 4e-3, 5.458_617e-8),
        (36_352, 288, 5e-3, 1.241_920e-13),
    ] {
        assert_near(libm::exp(tail::ln_above(bits, correctable, rber)), failure, 1e-6);
    }
    // 1 KiB and 64 errors in the field of degree 14 are as long.
    let code = bch(8192, 64);
    assert_eq!(code.codeword_bits(), 9088);
    let page = code.page_failure(4e-3, 4);
    assert_near(page, 1.0 - (1.0 - code.failure(4e-3)).powi(4), 1e-9);
    // 4 x 5.458617e-8, less the pairs.
    assert_near(-libm::expm1(4.0 * libm::log1p(-5.458_617e-8)), 2.183_446e-7, 1e-6);
    // Where 1 - (1 - P)^4 would be 0 in doubles.
    assert_near(bch(8192, 72).page_failure(1e-3, 4), 4.0 * bch(8192, 72).failure(1e-3), 1e-12);
    assert!(code.page_failure(1e-3, 0) <= 0.0 && code.page_failure(0.5, 4) >= 1.0);
}

#[test]
fn the_weakest_code_is_the_first_whose_acceptable_rate_suffices() {
    for (bits, rber, uber) in
        [(SECTOR, 1e-3, 1e-15), (SECTOR, 1e-9, 1e-13), (HALF_PAGE, 2e-3, 1e-15), (8000, 6e-4, 1e-15), (8, 0.01, 1e-9)]
    {
        let weakest = Code::weakest_bch(bits, None, rber, uber).expect("good numbers").expect("a code");
        let first = (1..1000).find(|&t| bch(bits, t).aber(uber) >= rber).expect("a code");
        assert_eq!(weakest, bch(bits, first), "{bits} bits at {rber}");
    }
    // Half of all bits wrong: no code of m t bits of parity.
    assert_eq!(Code::weakest_bch(SECTOR, None, 0.4, 1e-15), Ok(None));
    assert_eq!(Code::weakest_bch(SECTOR, Some(12), 1e-3, 1e-15).expect_err("no field").key, "field_degree");
}

/// What verify-program saves: a rate 49 % lower needs so many errors corrected less (UBER 1e-15, one sector).
#[test]
fn a_rate_cut_by_verify_program_needs_a_weaker_code() {
    for (before, after) in [(35, 25), (30, 22), (25, 19), (20, 15), (15, 12), (10, 9), (5, 5)] {
        let rber = 0.51 * bch(SECTOR, before).aber(1e-15);
        let weakest = Code::weakest_bch(SECTOR, None, rber, 1e-15).expect("good numbers").expect("a code");
        assert_eq!(weakest.correctable(), after, "{before}");
    }
}

#[test]
fn errors_beyond_the_code_pass_as_theory_says() {
    assert_near(Code::crc(8 * 4096, 32).expect("a code").undetected(), 1.0 / 4_294_967_296.0, 0.0);
    // (1 + n) / 2^13 of a shortened Hamming code, n = 4109.
    assert_near(bch(SECTOR, 1).undetected(), 4110.0 / 8192.0, 1e-12);
    // (1 + 31 + 31 30 / 2 + 31 30 29 / 6) / 2^15 and a perfect code, the Hamming code of 7 bits.
    assert_near(bch_in(16, 3, 5).undetected(), 4992.0 / 32_768.0, 1e-12);
    assert_near(bch_in(4, 1, 3).undetected(), 1.0, 1e-12);
    // n^35 / 35! / 2^455, from Stirling's formula: 35 ln 4551 - ln 35! - 455 ln 2 = -113 or so.
    let ln = libm::log(bch(SECTOR, 35).undetected());
    assert!((-113.0..-112.0).contains(&ln), "{ln}");
    assert_near(Code::none(8).expect("a code").undetected(), 1.0, 0.0);
}

proptest! {
    #[test]
    fn both_tails_are_one(bits in 1_u32..5000, most in 0_u32..5000, rber in 1e-12_f64..0.5) {
        let sum = libm::exp(tail::ln_above(bits, most, rber)) + libm::exp(tail::ln_at_most(bits, most, rber));
        prop_assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    }

    #[test]
    fn a_tail_loses_one_term_at_a_step(bits in 2_u32..20_000, share in 0.0_f64..1.0, exponent in -12.0_f64..-0.31) {
        let most = (f64::from(bits - 1) * share) as u32;
        let rber = libm::pow(10.0, exponent);
        let (here, next) = (tail::ln_above(bits, most, rber), tail::ln_above(bits, most + 1, rber));
        let term = tail::ln_mass(bits, most + 1, rber);
        prop_assert!(here >= next && here >= term);
        // exp of differences, so that the far tail is compared as sharply as the near one.
        let sum = libm::exp(next - here) + libm::exp(term - here);
        prop_assert!((sum - 1.0).abs() < 1e-9, "{sum} at {bits} {most} {rber:e}");
    }
}
