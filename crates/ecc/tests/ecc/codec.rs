//! The real codec: what it encodes comes back, and what does not come back fails as often as theory says.

use ninescope_ecc::codec::{BchCodec, CrcCodec, Uncorrectable};
use ninescope_ecc::{Code, tail};
use ninescope_kernel::RandomStream;
use proptest::prelude::*;

/// A codeword and its places, user data first.
#[derive(Clone, PartialEq, Debug)]
struct Word {
    user: Vec<u8>,
    parity: Vec<u8>,
    user_bits: u32,
}

impl Word {
    fn flip(&mut self, bit: u32) {
        let (bytes, bit) =
            if bit < self.user_bits { (&mut self.user, bit) } else { (&mut self.parity, bit - self.user_bits) };
        bytes[bit as usize / 8] ^= 0x80 >> (bit % 8);
    }
}

/// A code with its codec.
struct Bench {
    code: Code,
    codec: BchCodec,
}

impl Bench {
    fn new(user_bits: u32, correctable: u32, field_degree: Option<u32>) -> Self {
        let code = Code::bch(user_bits, correctable, field_degree).expect("a code");
        let codec = BchCodec::new(&code).expect("a codec");
        Self { code, codec }
    }

    /// Bits that a codeword really has.
    fn bits(&self) -> u32 {
        self.code.user_bits() + self.codec.generator_degree()
    }

    fn word(&self, stream: &mut RandomStream) -> Word {
        let mut user: Vec<u8> = (0..self.codec.user_bytes()).map(|_| stream.bits() as u8).collect();
        let beyond = 8 * self.codec.user_bytes() as u32 - self.code.user_bits();
        *user.last_mut().expect("user data") &= 0xff << beyond;
        self.encoded(user)
    }

    fn encoded(&self, user: Vec<u8>) -> Word {
        let parity = self.codec.encode(&user);
        Word { user, parity, user_bits: self.code.user_bits() }
    }

    fn decode(&self, word: &Word) -> (Word, Result<u32, Uncorrectable>) {
        let mut word = word.clone();
        let result = self.codec.decode(&mut word.user, &mut word.parity);
        (word, result)
    }

    /// Flips so many different bits.
    fn corrupt(&self, word: &mut Word, errors: u32, stream: &mut RandomStream) {
        let mut places = Vec::new();
        while (places.len() as u32) < errors {
            let place = stream.below(u64::from(self.bits())) as u32;
            if !places.contains(&place) {
                word.flip(place);
                places.push(place);
            }
        }
    }
}

/// Whether a share of so many trials lies within five standard deviations of its expectation.
#[track_caller]
fn assert_share(count: u32, trials: u32, expected: f64) {
    let share = f64::from(count) / f64::from(trials);
    let deviation = (expected * (1.0 - expected) / f64::from(trials)).sqrt();
    assert!((share - expected).abs() <= 5.0 * deviation, "{share} instead of {expected}, +- {deviation}");
}

#[test]
fn every_pattern_that_a_small_code_corrects_is_corrected() {
    let bench = Bench::new(7, 2, Some(4));
    assert_eq!(bench.bits(), 15);
    for user in 0..128 {
        let word = bench.encoded(vec![user << 1]);
        assert_eq!(bench.decode(&word), (word.clone(), Ok(0)));
        for first in 0..15 {
            for second in 0..15 {
                let mut wrong = word.clone();
                wrong.flip(first);
                if second != first {
                    wrong.flip(second);
                }
                assert_eq!(bench.decode(&wrong), (word.clone(), Ok(1 + u32::from(second != first))));
            }
        }
    }
}

#[test]
fn a_word_is_a_multiple_of_the_generator() {
    // x^7 + ... of user data 0000001 is the generator's own parity: x^7 + x^6 + x^4 + 1, 1101 0001.
    let bench = Bench::new(7, 2, Some(4));
    assert_eq!(bench.codec.encode(&[0b0000_0010]), [0b1101_0001]);
    // The Hamming code of 7 bits: 1000 leaves x^6 mod x^3 + x + 1 = x^2 + 1.
    assert_eq!(Bench::new(4, 1, Some(3)).codec.encode(&[0b1000_0000]), [0b1010_0000]);
}

proptest! {
    #[test]
    fn what_is_encoded_comes_back(
        user_bits in 1_u32..3000, correctable in 1_u32..40, more in 0_u32..3, seed: u64, share in 0.0_f64..=1.0
    ) {
        let smallest = Code::bch(user_bits, correctable, None).expect("a code").field_degree().expect("a field");
        let bench = Bench::new(user_bits, correctable, Some(smallest + more));
        let mut stream = RandomStream::new(seed, "test", "codec");
        let word = bench.word(&mut stream);
        let errors = (f64::from(correctable) * share).round() as u32;
        let mut wrong = word.clone();
        bench.corrupt(&mut wrong, errors, &mut stream);
        prop_assert_eq!(bench.decode(&wrong), (word, Ok(errors)));
    }
}

#[test]
fn codes_of_a_sector_and_of_half_a_page_correct_all_they_promise_and_see_one_error_more() {
    for (user_bytes, correctable, bits) in [(512, 35, 4551), (8192, 428, 65_536 + 7242)] {
        let bench = Bench::new(8 * user_bytes, correctable, None);
        assert_eq!(bench.bits(), bits);
        let mut stream = RandomStream::new(1, "test", "codec");
        for errors in [0, 1, correctable - 1, correctable] {
            let word = bench.word(&mut stream);
            let mut wrong = word.clone();
            bench.corrupt(&mut wrong, errors, &mut stream);
            assert_eq!(bench.decode(&wrong), (word, Ok(errors)));
        }
        let mut wrong = bench.word(&mut stream);
        bench.corrupt(&mut wrong, correctable + 1, &mut stream);
        // Taken for fewer errors with a chance of 1e-49 and less.
        assert_eq!(bench.decode(&wrong), (wrong.clone(), Err(Uncorrectable)));
    }
}

/// The statistical model says: a codeword comes back if and only if it has at most t errors.
#[test]
fn codewords_fail_as_often_as_the_binomial_tail_says() {
    for (user_bits, correctable, rber, trials) in
        [(4096, 35, 0.007, 4000), (4096, 3, 4e-4, 20_000), (16, 3, 0.08, 20_000)]
    {
        let bench = Bench::new(user_bits, correctable, None);
        let mut stream = RandomStream::new(3, "test", "channel");
        let (mut lost, mut beyond) = (0, 0);
        for _ in 0..trials {
            let word = bench.word(&mut stream);
            let mut wrong = word.clone();
            let flipped: Vec<u32> = (0..bench.bits()).filter(|_| stream.unit() < rber).collect();
            for &bit in &flipped {
                wrong.flip(bit);
            }
            let (corrected, _) = bench.decode(&wrong);
            lost += u32::from(corrected != word);
            beyond += u32::from(flipped.len() as u32 > correctable);
        }
        assert_eq!(lost, beyond);
        let expected = libm::exp(tail::ln_above(bench.bits(), correctable, rber));
        assert!((0.05..0.5).contains(&expected), "{expected} can be seen");
        assert_share(lost, trials, expected);
    }
}

/// Of all words of n bits, 2^k sum C(n, s) / 2^n lie within t of a codeword, exactly.
#[test]
fn words_of_nothing_are_taken_for_codewords_as_often_as_theory_says() {
    for (user_bits, correctable, degree) in [(16, 3, 5), (7, 2, 4), (4, 1, 3), (4096, 1, 13), (4096, 2, 13)] {
        let bench = Bench::new(user_bits, correctable, Some(degree));
        assert_eq!(bench.codec.generator_degree(), degree * correctable);
        let mut stream = RandomStream::new(5, "test", "words");
        let trials = 20_000;
        let mut taken = 0;
        for _ in 0..trials {
            let mut word = bench.word(&mut stream);
            (0..bench.bits()).filter(|_| stream.bits() >> 63 == 1).for_each(|bit| word.flip(bit));
            taken += u32::from(bench.decode(&word).1.is_ok());
        }
        assert_share(taken, trials, bench.code.undetected().min(1.0));
    }
}

/// What the simulator draws with: a codeword of more than t errors passes with the same chance, however many there are.
#[test]
fn errors_beyond_the_code_are_miscorrected_as_often_as_theory_says() {
    for (correctable, errors) in [(1, 3), (1, 4), (2, 4), (2, 7), (3, 6), (3, 20)] {
        let bench = Bench::new(4096, correctable, Some(13));
        let mut stream = RandomStream::new(7, "test", "beyond");
        let trials = 10_000;
        let mut taken = 0;
        for _ in 0..trials {
            let word = bench.word(&mut stream);
            let mut wrong = word.clone();
            bench.corrupt(&mut wrong, errors, &mut stream);
            let (corrected, result) = bench.decode(&wrong);
            assert_ne!(corrected, word, "more than t errors never come back");
            taken += u32::from(result.is_ok());
        }
        assert_share(taken, trials, bench.code.undetected());
    }
}

#[test]
fn what_is_no_bch_code_or_has_too_large_a_field_has_no_codec() {
    let error = BchCodec::new(&Code::crc(64, 32).expect("a code")).expect_err("no codec");
    assert_eq!(error.key, "policy");
    let error = BchCodec::new(&Code::bch(4096, 2, Some(21)).expect("a code")).expect_err("no codec");
    assert!(error.key == "field_degree" && error.message.contains("up to 20"), "{error}");
}

#[test]
fn a_checksum_is_the_one_of_ethernet_and_sees_few_errors_always() {
    // The check value of CRC-32 in the catalogue of parametrised CRC algorithms.
    assert_eq!(CrcCodec.encode(b"123456789"), 0xcbf4_3926);
    let mut stream = RandomStream::new(9, "test", "checksum");
    let mut user: Vec<u8> = (0..4096).map(|_| stream.bits() as u8).collect();
    let checksum = CrcCodec.encode(&user);
    for errors in (1..=3).cycle().take(3000) {
        let before = user.clone();
        (0..errors).for_each(|_| user[stream.below(4096) as usize] ^= 1 << stream.below(8));
        assert_eq!(CrcCodec.passes(&user, checksum), user == before);
        user = before;
    }
}

/// 2^-32 cannot be seen in a test; parts of a linear check pass with the same law, one half per bit.
#[test]
fn bits_of_a_checksum_agree_by_chance() {
    let mut stream = RandomStream::new(11, "test", "checksum");
    let mut user = vec![0_u8; 4096];
    let checksum = CrcCodec.encode(&user);
    for (mask, chance) in [(0xff, 1.0 / 256.0), (0xfff0_0000, 1.0 / 4096.0)] {
        let trials = 200_000;
        let mut passed = 0;
        for _ in 0..trials {
            // Errors on top of errors are errors too.
            (0..5).for_each(|_| user[stream.below(4096) as usize] ^= 1 << stream.below(8));
            passed += u32::from((CrcCodec.encode(&user) ^ checksum) & mask == 0);
        }
        assert_share(passed, trials, chance);
    }
}
