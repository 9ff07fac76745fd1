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
    guides: Vec<u16>,
}

impl ErrorSampler {
    /// Counts in codewords of `bits`; those above `most` are told as `most + 1`. `most` is at most 65,000.
    pub fn new(bits: u32, most: u32) -> Self {
        let most = most.min(bits).min(65_000);
        let mut sampler = Self { bits, most, parts: Vec::new(), survival: Vec::new(), guides: Vec::new() };
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
        let mut entry = usize::from(self.guides[index * GUIDES + guide]);
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
            self.guides.push(entries.partition_point(|&survival| survival >= bound) as u16);
        }
        self.survival.push(0.0);
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
