//! How many bits of a codeword fail: counts drawn from the binomial law by inversion of its survival function.
//!
//! A draw compares one uniform number with S(k) = P[X > k]: it needs no logarithm, allocates nothing, and tells
//! probabilities of 1e-30 as exactly as those of one half, because S is stored relative to itself and the uniform
//! number has more digits the smaller it is. This module must not know why bits fail.

use ninescope_kernel::RandomStream;

use crate::tail;

/// Levels per octave of the raw bit error rate, as bits of the mantissa: a level's rate is the one asked for within
/// 2^-8 of it, less than any error model is sure of.
const MANTISSA_BITS: u32 = 7;
const DROPPED_BITS: u32 = f64::MANTISSA_DIGITS - 1 - MANTISSA_BITS;
/// The lowest rate that has a table; below it the law is computed in the draw.
const LOWEST: f64 = 1.0 / (1_u64 << 40) as f64;
/// The highest rate: a medium that errs in every second bit holds nothing.
const HIGHEST: f64 = 0.5;
/// Parts of [0, 1) for which the first count worth comparing is stored.
const GUIDES: usize = 32;
/// Parts of [0, 1) in most of which the count is the same throughout, as many as a byte tells apart.
const BYTES: usize = 256;
/// Marks a part in which it is not.
const UNSURE: u8 = u8::MAX;
/// Probabilities below this are never met: tables end there.
const LEAST: f64 = 1e-290;
/// Chances below this are nothing beside 1 in a double.
const NOTHING_BESIDE_ONE: f64 = 1e-18;

/// A raw bit error rate of which a sampler knows the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RberLevel(Level);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Level {
    /// A table.
    Table(u32),
    /// A rate so low that errors hardly happen, itself.
    Rare(f64),
}

/// One level's part of the survival table.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Its first entry, S(`first`).
    start: u32,
    /// Fewer errors than this never happen [count].
    first: u32,
}

/// Draws how many bits of a codeword of `bits` are wrong, where each is wrong by itself with the raw bit error rate.
#[derive(Clone, Debug)]
pub struct ErrorSampler {
    bits: u32,
    most: u32,
    parts: Vec<Part>,
    /// S(k) of each level for k from its `first` on, a zero behind the last.
    survival: Vec<f64>,
    /// For each level and each part of [0, 1): entries that all uniform numbers of that part lie below.
    guides: Vec<u32>,
    /// For each level and each byte: the count of all uniform numbers whose first eight digits it is, or `UNSURE`.
    sure: Vec<u8>,
}

impl ErrorSampler {
    /// Counts in codewords of `bits`; those above `most` are told as `most + 1`. Builds a table for each level,
    /// within about 10 ms.
    pub fn new(bits: u32, most: u32) -> Self {
        let most = most.min(bits);
        let mut sampler =
            Self { bits, most, parts: Vec::new(), survival: Vec::new(), guides: Vec::new(), sure: Vec::new() };
        let (lowest, highest) = (LOWEST.to_bits() >> DROPPED_BITS, HIGHEST.to_bits() >> DROPPED_BITS);
        for level in lowest..=highest {
            sampler.add(f64::from_bits(level << DROPPED_BITS));
        }
        sampler
    }

    /// The level nearest to a raw bit error rate, within 2^-8 of it. A rate beyond 0.5 is taken as 0.5.
    #[inline]
    pub fn level(&self, rber: f64) -> RberLevel {
        if rber < LOWEST {
            return RberLevel(Level::Rare(rber));
        }
        // Half of the first bit that is dropped rounds to the nearest level.
        let level = (rber.min(HIGHEST).to_bits() + (1 << (DROPPED_BITS - 1))) >> DROPPED_BITS;
        RberLevel(Level::Table((level - (LOWEST.to_bits() >> DROPPED_BITS)) as u32))
    }

    /// A level of exactly this raw bit error rate: a table of its own.
    pub fn exact(&mut self, rber: f64) -> RberLevel {
        if rber < LOWEST {
            return RberLevel(Level::Rare(rber));
        }
        self.add(rber.min(HIGHEST));
        RberLevel(Level::Table(self.parts.len() as u32 - 1))
    }

    /// Wrong bits of one codeword. Takes one number from the stream, more only where it is below 2^-32.
    #[inline]
    pub fn draw(&self, level: RberLevel, stream: &mut RandomStream) -> u32 {
        self.count(level, uniform(stream))
    }

    /// The count that follows from the first eight digits of a uniform number, if they settle it, which they nearly
    /// always do: one random number serves eight codewords. Where they do not, [`Self::draw_within`] draws the rest.
    #[inline]
    pub fn count_of_byte(&self, level: RberLevel, byte: u8) -> Option<u32> {
        let count = match level.0 {
            Level::Table(index) => self.sure[index as usize * BYTES + usize::from(byte)],
            // Errors are rarer than a byte tells.
            Level::Rare(rber) => {
                let settled = byte > 0 && f64::from(self.bits) * rber * (BYTES as f64) < 1.0;
                if settled { 0 } else { UNSURE }
            }
        };
        (count != UNSURE).then_some(u32::from(count))
    }

    /// Wrong bits of one codeword, given the first eight digits of its uniform number.
    pub fn draw_within(&self, level: RberLevel, byte: u8, stream: &mut RandomStream) -> u32 {
        self.count(level, (f64::from(byte) + uniform(stream)) / BYTES as f64)
    }

    /// The count of a uniform number: how many k there are with `uniform < S(k)`.
    #[inline]
    fn count(&self, level: RberLevel, uniform: f64) -> u32 {
        match level.0 {
            Level::Table(index) => self.count_by_table(index as usize, uniform),
            Level::Rare(rber) => self.count_of_rare(rber, uniform),
        }
    }

    #[inline]
    fn count_by_table(&self, index: usize, uniform: f64) -> u32 {
        let part = self.parts[index];
        let entries = &self.survival[part.start as usize..];
        let guide = ((uniform * GUIDES as f64) as usize).min(GUIDES - 1);
        let mut entry = self.guides[index * GUIDES + guide] as usize;
        // Most parts hold at most two steps: no branch depends on them, so that none is mispredicted.
        entry += usize::from(uniform < entries[entry]);
        entry += usize::from(uniform < entries[entry]);
        while uniform < entries[entry] {
            entry += 1;
        }
        part.first + entry as u32
    }

    /// The law of a rate below `LOWEST`, where np is far below 1: P[X > k] is its first term, C(n, k+1) p^(k+1), less
    /// a part of the second; what is left out is of order (np)^2 beside it.
    #[inline]
    fn count_of_rare(&self, rber: f64, uniform: f64) -> u32 {
        // P[X > 0] <= np.
        if uniform >= f64::from(self.bits) * rber { 0 } else { self.count_of_rare_beyond(rber, uniform) }
    }

    #[cold]
    fn count_of_rare_beyond(&self, rber: f64, uniform: f64) -> u32 {
        (0..=self.most).find(|&k| uniform >= rare_survival(self.bits, k, rber)).unwrap_or(self.most + 1)
    }

    /// P[X > k] under a level's law, for k up to `most`.
    pub fn survival(&self, level: RberLevel, k: u32) -> f64 {
        let index = match level.0 {
            Level::Table(index) => index as usize,
            Level::Rare(rber) => return rare_survival(self.bits, k, rber),
        };
        let part = self.parts[index];
        let Some(entry) = k.checked_sub(part.first) else { return 1.0 };
        let end = self.parts.get(index + 1).map_or(self.survival.len(), |next| next.start as usize);
        let entries = &self.survival[part.start as usize..end];
        entries.get(entry as usize).copied().unwrap_or(0.0)
    }

    /// Length of a codeword [bits].
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The highest count that is told as itself.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// Adds the table of a rate.
    fn add(&mut self, rber: f64) {
        let start = self.survival.len();
        let first = push_survival(&mut self.survival, self.bits, self.most, rber);
        self.parts.push(Part { start: start as u32, first });
        let entries = &self.survival[start..];
        for guide in 1..=GUIDES {
            let bound = guide as f64 / GUIDES as f64;
            self.guides.push(entries.partition_point(|&survival| survival >= bound) as u32);
        }
        self.survival.push(0.0);
        self.add_bytes();
    }

    /// Which counts the last table's bytes settle.
    fn add_bytes(&mut self) {
        let index = self.parts.len() - 1;
        let mut above = self.count_by_table(index, 1.0);
        let start = self.sure.len();
        self.sure.resize(start + BYTES, UNSURE);
        for byte in (0..BYTES).rev() {
            let count = self.count_by_table(index, byte as f64 / BYTES as f64);
            if count == above && count < u32::from(UNSURE) {
                self.sure[start + byte] = count as u8;
            }
            above = count;
        }
    }
}

/// A uniform number in (0, 1], with at least 32 digits after its leading zeros.
#[inline]
fn uniform(stream: &mut RandomStream) -> f64 {
    const UNIT: f64 = 1.0 / (1_u64 << 63) as f64;
    let digits = (stream.bits() >> 1).cast_signed();
    if digits >= 1 << 32 { digits as f64 * UNIT } else { small_uniform(digits, stream) }
}

/// A uniform number of which the first digits are few: more are drawn until there are enough.
#[cold]
fn small_uniform(digits: i64, stream: &mut RandomStream) -> f64 {
    const UNIT: f64 = 1.0 / (1_u64 << 63) as f64;
    let (mut digits, mut scale) = (digits as f64, UNIT);
    // Sixteen times 63 zeros are less than any double: the stream would be broken.
    for _ in 0..16 {
        scale *= UNIT;
        digits = digits / UNIT + ((stream.bits() >> 1).cast_signed()) as f64;
        if digits >= 4_294_967_296.0 {
            break;
        }
    }
    digits * scale
}

/// P[X > k] where np is far below 1.
fn rare_survival(bits: u32, k: u32, rber: f64) -> f64 {
    let (n, errors) = (f64::from(bits), f64::from(k + 1));
    let leading: f64 = (0..=k).map(|taken| (n - f64::from(taken)) / f64::from(taken + 1) * rber).product();
    leading * (1.0 - errors * (n - errors) / (errors + 1.0) * rber)
}

/// Appends S(k) for k from the returned one up to `most`, or up to where it is no number any more.
fn push_survival(table: &mut Vec<f64>, bits: u32, most: u32, rber: f64) -> u32 {
    let start = table.len();
    let last = last_worth_a_place(bits, most, rber);
    let mut survival = libm::exp(tail::ln_above(bits, last, rber));
    let mut mass = libm::exp(tail::ln_mass(bits, last, rber));
    let odds = (1.0 - rber) / rber;
    let mut k = last;
    // From the far end on: what is added is never less than what is there already, until near the mean.
    while survival < 1.0 - NOTHING_BESIDE_ONE {
        table.push(survival);
        if k == 0 {
            table[start..].reverse();
            return 0;
        }
        survival = (survival + mass).min(1.0);
        mass *= f64::from(k) / f64::from(bits - k + 1) * odds;
        k -= 1;
        if mass < NOTHING_BESIDE_ONE && survival > 0.5 {
            break;
        }
    }
    table[start..].reverse();
    k + 1
}

/// The largest k up to `most` with a P[X > k] worth a place in a table.
fn last_worth_a_place(bits: u32, most: u32, rber: f64) -> u32 {
    let least = libm::log(LEAST);
    let is_worth = |k: u32| tail::ln_above(bits, k, rber) >= least;
    if is_worth(most) {
        return most;
    }
    let (mut worth, mut beyond) = (0, most);
    while beyond - worth > 1 {
        let middle = worth.midpoint(beyond);
        if is_worth(middle) { worth = middle } else { beyond = middle }
    }
    worth
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> RandomStream {
        RandomStream::new(7, "test", "errors")
    }

    /// S(k) from the logarithm of the tail.
    fn theory(bits: u32, k: u32, rber: f64) -> f64 {
        libm::exp(tail::ln_above(bits, k, rber))
    }

    fn assert_near(measured: f64, expected: f64, tolerance: f64, what: &str) {
        assert!((measured - expected).abs() <= tolerance * expected, "{what}: {measured:e} instead of {expected:e}");
    }

    #[test]
    fn tables_hold_the_law_of_exact_levels() {
        for (bits, most, rber) in [
            (4551, 35, 1e-3),
            (4551, 35, 3e-12),
            (72_812, 428, 4.25e-3),
            (72_812, 428, 1e-4),
            (8752, 40, 0.02),
            (16, 3, 0.5),
        ] {
            let mut sampler = ErrorSampler::new(bits, most);
            let level = sampler.exact(rber);
            for k in 0..=most {
                let expected = theory(bits, k, rber);
                if expected > 1e-285 {
                    assert_near(sampler.survival(level, k), expected, 1e-10, &format!("{bits} {rber:e} {k}"));
                }
            }
        }
    }

    #[test]
    fn drawn_counts_follow_the_binomial_law() {
        for (bits, most, rber) in [
            (4551, 35, 1e-4),
            (4551, 35, 1e-3),
            (4551, 35, 8e-3),
            (8752, 40, 4.6e-3),
            (72_812, 428, 4e-3),
            (32_800, 0, 2e-5),
        ] {
            let mut sampler = ErrorSampler::new(bits, most);
            let level = sampler.exact(rber);
            let draws = 400_000;
            let mut counts = vec![0_u32; most as usize + 2];
            let mut stream = stream();
            (0..draws).for_each(|_| counts[sampler.draw(level, &mut stream) as usize] += 1);
            let mass =
                |k: u32| if k > most { theory(bits, most, rber) } else { libm::exp(tail::ln_mass(bits, k, rber)) };
            let expected: Vec<f64> = (0..=most + 1).map(|k| mass(k) * f64::from(draws)).collect();
            let (chi_square, degrees) = chi_square(&counts, &expected);
            // Its mean is the number of degrees, its variance twice that; a short law has a longer tail.
            let limit = f64::from(degrees) + 5.0 * (2.0 * f64::from(degrees)).sqrt() + 12.0;
            assert!(chi_square < limit, "n = {bits}, RBER {rber}: {chi_square} of {degrees} degrees");
        }
    }

    /// The chi-square statistic and its degrees of freedom; neighbours expected fewer than 10 times are put together.
    fn chi_square(counts: &[u32], expected: &[f64]) -> (f64, u32) {
        let (mut sum, mut cells) = (0.0, 0);
        let (mut count, mut expectation) = (0.0, 0.0);
        for (&drawn, &share) in counts.iter().zip(expected) {
            count += f64::from(drawn);
            expectation += share;
            if expectation >= 10.0 {
                sum += (count - expectation) * (count - expectation) / expectation;
                cells += 1;
                (count, expectation) = (0.0, 0.0);
            }
        }
        assert!(cells >= 2, "more than one cell");
        (sum, cells - 1)
    }

    /// Importance: uniform numbers below 1e-20 only. Of those, the share with more than k errors is S(k) / 1e-20.
    #[test]
    fn the_far_tail_follows_the_law() {
        const CONDITION: f64 = 1e-20;
        for (bits, most, rber) in [(4551, 60, 1e-3), (72_812, 600, 3e-3), (8752, 40, 1e-9), (4551, 35, 1e-14)] {
            let mut sampler = ErrorSampler::new(bits, most);
            let level = sampler.exact(rber);
            let draws = 200_000;
            let mut stream = stream();
            let mut counts = vec![0_u32; most as usize + 2];
            (0..draws).for_each(|_| counts[sampler.count(level, CONDITION * uniform(&mut stream)) as usize] += 1);
            let mut tested = 0;
            for k in 0..most {
                let expected = theory(bits, k, rber) / CONDITION;
                let above: u32 = counts[k as usize + 1..].iter().sum();
                if (1e-3..0.999).contains(&expected) {
                    let deviation = (expected * (1.0 - expected) * f64::from(draws)).sqrt();
                    assert!(
                        (f64::from(above) - expected * f64::from(draws)).abs() < 5.0 * deviation,
                        "{bits} {rber:e} {k}"
                    );
                    tested += 1;
                }
            }
            assert!(tested >= 1, "{bits} {rber:e}");
        }
    }

    #[test]
    fn a_level_is_the_law_of_a_rate_within_2_to_the_minus_8() {
        let (bits, most) = (8752, 40);
        let sampler = ErrorSampler::new(bits, most);
        let mut stream = stream();
        let step = libm::exp2(-8.0);
        for _ in 0..3000 {
            let rber = libm::exp2(-1.0 - 38.9 * stream.unit());
            let level = sampler.level(rber);
            for k in [0, 1, 5, most] {
                let survival = sampler.survival(level, k);
                let least = theory(bits, k, rber * (1.0 - step));
                let most = theory(bits, k, (rber * (1.0 + step)).min(HIGHEST));
                let told = least * (1.0 - 1e-9) <= survival && survival <= most * (1.0 + 1e-9);
                assert!(told || most < LEAST, "{rber:e} {k}: {survival:e} not in {least:e}..{most:e}");
            }
        }
    }

    #[test]
    fn a_rate_on_the_grid_is_its_own_level() {
        let mut sampler = ErrorSampler::new(4551, 35);
        for rber in [LOWEST, 3.0 * LOWEST, 1.0 / 1024.0, 0.25, 0.4375, 0.5] {
            let (grid, exact) = (sampler.level(rber), sampler.exact(rber));
            for k in 0..=35 {
                assert!(sampler.survival(grid, k).to_bits() == sampler.survival(exact, k).to_bits(), "{rber} {k}");
            }
        }
    }

    #[test]
    fn more_of_either_number_never_gives_a_different_order() {
        let sampler = ErrorSampler::new(8752, 40);
        let mut stream = stream();
        for _ in 0..20_000 {
            let uniform = libm::exp2(-80.0 * stream.unit() * stream.unit());
            let rber = libm::exp2(-1.0 - 50.0 * stream.unit());
            let count = sampler.count(sampler.level(rber), uniform);
            assert!(sampler.count(sampler.level(rber), uniform * 0.9) >= count, "a smaller number: more errors");
            assert!(sampler.count(sampler.level(rber * 1.1), uniform) >= count, "a higher rate: more errors");
        }
    }

    #[test]
    fn rare_errors_have_the_binomial_law_too() {
        let mut sampler = ErrorSampler::new(72_812, 428);
        for rber in [9e-13, 1e-15, 1e-20, 1e-60] {
            let level = sampler.exact(rber);
            assert_eq!(level, sampler.level(rber), "no table");
            for k in 0..4 {
                let expected = theory(72_812, k, rber);
                assert_near(sampler.survival(level, k), expected, 1e-11, &format!("{rber:e} {k}"));
                assert_eq!(sampler.count(level, expected * 1.001), k, "{rber:e}");
                assert_eq!(sampler.count(level, expected * 0.999), k + 1, "{rber:e}");
            }
        }
    }

    #[test]
    fn without_errors_nothing_is_drawn_wrong_and_beyond_one_half_nothing_changes() {
        let sampler = ErrorSampler::new(4551, 35);
        let mut stream = stream();
        for _ in 0..1000 {
            assert_eq!(sampler.draw(sampler.level(0.0), &mut stream), 0);
            assert_eq!(sampler.draw(sampler.level(0.5), &mut stream), 36, "2275 and more");
        }
        assert_eq!(sampler.level(0.7), sampler.level(0.5));
        assert_eq!(sampler.level(f64::NAN), sampler.level(0.5));
    }

    #[test]
    fn counts_above_the_most_are_told_as_one_more() {
        let mut sampler = ErrorSampler::new(32_800, 0);
        let level = sampler.exact(1e-4);
        let mut stream = stream();
        let wrong: u32 = (0..100_000).map(|_| sampler.draw(level, &mut stream)).sum();
        // 1 - exp(-3.28) = 0.9624.
        assert!((f64::from(wrong) / 1e5 - 0.9624).abs() < 0.003, "{wrong}");
        // No more bits than there are.
        assert_eq!(ErrorSampler::new(4, 35).most(), 4);
    }

    #[test]
    fn small_uniform_numbers_have_more_digits() {
        let mut stream = stream();
        for _ in 0..100 {
            let small = small_uniform(3, &mut stream) * libm::exp2(63.0);
            assert!((3.0..4.0).contains(&small) && small.fract() > 0.0, "{small}");
            assert!(small_uniform(0, &mut stream) < libm::exp2(-63.0));
        }
        let draws = 200_000;
        let mean = (0..draws).map(|_| uniform(&mut stream)).sum::<f64>() / f64::from(draws);
        assert!((mean - 0.5).abs() < 0.004, "{mean}");
    }

    /// A draw is the number of tails that its uniform number lies below, each computed by itself.
    #[test]
    fn draws_are_what_the_stream_and_the_tails_say() {
        for (bits, most, rber) in [(8752, 40, 1e-4), (8752, 40, 4e-3), (72_812, 428, 1e-3), (4551, 35, 1e-13)] {
            let mut sampler = ErrorSampler::new(bits, most);
            let level = sampler.exact(rber);
            let tails: Vec<f64> = (0..=most).map(|k| theory(bits, k, rber)).collect();
            let (mut drawing, mut telling) = (stream(), stream());
            for _ in 0..3000 {
                let uniform = uniform(&mut telling);
                let expected = tails.iter().filter(|&&tail| uniform < tail).count() as u32;
                assert_eq!(sampler.draw(level, &mut drawing), expected);
            }
        }
    }

    #[test]
    fn draws_are_the_same_everywhere() {
        let sampler = ErrorSampler::new(8752, 40);
        let mut stream = stream();
        let mut draw =
            |rber: f64| -> Vec<u32> { (0..16).map(|_| sampler.draw(sampler.level(rber), &mut stream)).collect() };
        assert_eq!(draw(1e-4), [1, 0, 0, 2, 2, 1, 0, 3, 1, 1, 1, 0, 0, 2, 1, 1]);
        assert_eq!(draw(1e-3), [8, 10, 13, 9, 6, 7, 8, 8, 11, 9, 7, 2, 6, 6, 5, 14]);
        assert_eq!(draw(4e-3), [36, 32, 22, 40, 41, 41, 36, 36, 31, 37, 32, 41, 32, 33, 40, 37]);
    }

    #[test]
    fn a_byte_settles_a_count_only_where_all_numbers_that_begin_with_it_have_it() {
        for (bits, most) in [(8_752, 40), (36_352, 288), (72_812, 428), (511, 1)] {
            let mut sampler = ErrorSampler::new(bits, most);
            for rber in [1e-13, 1e-7, 1e-4, 1e-3, 4e-3, 0.2, 0.5] {
                for level in [sampler.level(rber), sampler.exact(rber)] {
                    let mut settled = 0;
                    for byte in 0..=u8::MAX {
                        let Some(count) = sampler.count_of_byte(level, byte) else { continue };
                        settled += 1;
                        for within in [1e-300, 1e-9, 0.3, 0.999_999_9, 1.0] {
                            let uniform = (f64::from(byte) + within) / 256.0;
                            let counted = sampler.count(level, uniform);
                            assert_eq!(counted, count, "n {bits} rber {rber} byte {byte} + {within}");
                        }
                    }
                    assert!(settled > 100 || rber >= 1e-3, "n {bits} rber {rber}: {settled} bytes settle their count");
                }
            }
        }
    }
}
