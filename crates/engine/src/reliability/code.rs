//! A code of a medium with its decoders, and what its decodes came to.

use ninescope_ecc::{ErrorSampler, RberLevel, Scheme};
use ninescope_kernel::{Ns, RandomStream};
use ninescope_model::SECTOR_BYTES;
use serde::Serialize;

/// What was counted of a code since measuring began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CodeCounters {
    /// Codewords decoded.
    pub codewords: u64,
    /// Of these, codewords with errors.
    pub corrupted_codewords: u64,
    /// Bits corrected [bit].
    pub corrected_bits: u64,
    /// Codewords with more errors than the code corrects, which it noticed.
    pub failed_codewords: u64,
    /// Codewords with more errors than the code corrects that passed as good.
    pub undetected_codewords: u64,
    /// Codewords encoded.
    pub encoded_codewords: u64,
    /// Time that data waited for a decoder [ns].
    pub decoder_wait_ns: u64,
    /// Time that decoders worked [ns].
    pub decoder_busy_ns: u64,
}

/// What the decoder says of a page access. Masks have a bit per unit (NAND) or sector (SCM) of the access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// Codewords.
    pub codewords: u32,
    /// Codewords with errors.
    pub corrupted: u32,
    /// What did not decode.
    pub failed: u32,
    /// What is wrong and passed as good.
    pub undetected: u32,
    /// Errors of the worst codeword that has more than are corrected; else 0 [bit].
    pub worst: u32,
}

/// Sectors that an access asks for of the first and of the last of its units, one bit each; of those between it asks for
/// all, and of a unit that is both for what both say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Of the first unit.
    pub first: u32,
    /// Of the last one.
    pub last: u32,
}

impl Asked {
    /// Whole units.
    pub const ALL: Self = Self { first: u32::MAX, last: u32::MAX };
}

/// One code with its decoders.
#[derive(Debug)]
pub struct Code {
    scheme: Scheme,
    /// None where bits do not fail by themselves.
    sampler: Option<ErrorSampler>,
    /// A rate that is met exactly, not on the sampler's grid.
    exact: Option<(f64, RberLevel)>,
    /// Bytes of a unit (NAND) or sector (SCM) [B].
    unit_bytes: u32,
    stream: RandomStream,
    /// Random bytes that were drawn and not used.
    bytes: u64,
    bytes_left: u32,
    /// When each decoder is through with what it was given; those of a channel lie together [ns].
    free_at: Vec<Ns>,
    per_channel: usize,
    /// What its decodes came to.
    pub counters: CodeCounters,
}

impl Code {
    /// An idle code for data in units of `unit_bytes`, with decoders for each of `channels`. `errors_told` is up to which
    /// number errors are told exactly; `None` where bits do not fail by themselves. `purpose` names its random stream.
    pub fn new(
        scheme: &Scheme,
        unit_bytes: u32,
        channels: u32,
        errors_told: Option<u32>,
        seed: u64,
        purpose: &str,
    ) -> Self {
        let per_channel = scheme.decoders().max(1) as usize;
        let groups = if scheme.shared() { 1 } else { channels.max(1) as usize };
        Self {
            sampler: errors_told.map(|most| ErrorSampler::new(scheme.codeword_bits(), most.max(scheme.correctable()))),
            exact: None,
            unit_bytes,
            stream: RandomStream::new(seed, "ecc", purpose),
            bytes: 0,
            bytes_left: 0,
            free_at: vec![Ns::ZERO; groups * per_channel],
            per_channel,
            counters: CodeCounters::default(),
            scheme: *scheme,
        }
    }

    /// The code and what its codec takes.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Decoders there are [count].
    pub fn decoder_count(&self) -> usize {
        self.free_at.len()
    }

    /// Has a rate that will be asked for often met exactly.
    pub fn know_exactly(&mut self, rber: f64) {
        self.exact = self.sampler.as_mut().map(|sampler| (rber, sampler.exact(rber)));
    }

    /// The level of a raw bit error rate, `None` where bits do not fail by themselves.
    pub fn level(&self, rber: f64) -> Option<RberLevel> {
        match self.exact {
            Some((known, level)) if known.to_bits() == rber.to_bits() => Some(level),
            _ => self.sampler.as_ref().map(|sampler| sampler.level(rber)),
        }
    }

    /// Whether codewords hold several units.
    #[inline]
    pub fn spans_units(&self) -> bool {
        self.scheme.user_bytes() > self.unit_bytes
    }

    /// The units of a page, a bit each, whose codewords hold some of `units`: what is read with them.
    pub fn whole_codewords(&self, units: u32) -> u32 {
        let span = (self.scheme.user_bytes() / self.unit_bytes).max(1);
        let of_codeword = ((1_u64 << span) - 1) as u32;
        let codewords = (0..u32::BITS / span).map(|codeword| of_codeword << (codeword * span));
        codewords.filter(|codeword| codeword & units != 0).fold(0, |whole, codeword| whole | codeword)
    }

    /// Whether more bytes cross the channel than the units that are asked for.
    pub fn moves_more(&self) -> bool {
        self.scheme.moves_parity() || self.spans_units()
    }

    /// Bytes that cross the channel for `units` of data: whole codewords, and their parity where it moves too [B].
    #[inline]
    pub fn channel_bytes(&self, units: u32) -> u32 {
        let bytes = units * self.unit_bytes;
        let codewords = self.scheme.codewords(bytes);
        let parity = if self.scheme.moves_parity() { codewords * self.scheme.parity_bytes() } else { 0 };
        bytes.max(codewords * self.scheme.user_bytes()) + parity
    }

    /// Time to encode `units` [ns].
    #[inline]
    pub fn encode(&mut self, units: u32) -> Ns {
        let codewords = self.scheme.codewords(units * self.unit_bytes);
        self.counters.encoded_codewords += u64::from(codewords);
        self.scheme.encode_time(codewords)
    }

    /// What of an access matters for the codewords that are decoded: all of its units, unless several codewords make a unit.
    #[inline]
    fn narrowed(&self, asked: Asked) -> Asked {
        if self.scheme.user_bytes() < self.unit_bytes { asked } else { Asked::ALL }
    }

    /// Whether one of the codewords of `units` holds a sector that is asked for.
    fn is_asked(&self, codeword: u32, units: u32, asked: Asked) -> bool {
        let user_bytes = self.scheme.user_bytes();
        let per_unit = self.unit_bytes / user_bytes;
        let (unit, first_byte) = (codeword / per_unit, codeword % per_unit * user_bytes);
        let from = first_byte / SECTOR_BYTES as u32;
        let end = (first_byte + user_bytes).div_ceil(SECTOR_BYTES as u32);
        let of_first = if unit == 0 { asked.first } else { u32::MAX };
        let of_last = if unit + 1 == units { asked.last } else { u32::MAX };
        let held = (((1_u64 << (end - from)) - 1) << from) as u32;
        held & of_first & of_last != 0
    }

    /// Of `injected` errors of `units`, those in codewords that are decoded when so much is asked for.
    pub fn injected_in(&self, injected: u32, units: u32, asked: Asked) -> u32 {
        let asked = self.narrowed(asked);
        if asked == Asked::ALL || injected & 1 == 0 || self.is_asked(0, units, asked) {
            return injected;
        }
        // Of the last unit, the codeword with its first sector is decoded in any case.
        injected & !1
    }

    /// Draws what the decoder finds in the codewords of `units` that hold what is `asked` for. A bit of `injected` says that
    /// a unit has one wrong bit beyond those that fail by themselves.
    #[inline]
    pub fn draw(&mut self, level: Option<RberLevel>, units: u32, injected: u32, asked: Asked) -> Decoded {
        let asked = self.narrowed(asked);
        let mut codewords = self.scheme.codewords(units * self.unit_bytes);
        if asked != Asked::ALL {
            codewords = (0..codewords).filter(|&codeword| self.is_asked(codeword, units, asked)).count() as u32;
        }
        let mut decoded = Decoded { codewords, ..Decoded::default() };
        if level.is_some() || injected != 0 {
            self.draw_errors(level, (units, asked), injected, &mut decoded);
        }
        self.counters.codewords += u64::from(codewords);
        self.counters.corrupted_codewords += u64::from(decoded.corrupted);
        decoded
    }

    fn draw_errors(
        &mut self,
        level: Option<RberLevel>,
        (units, asked): (u32, Asked),
        injected: u32,
        decoded: &mut Decoded,
    ) {
        let correctable = self.scheme.correctable();
        let (mut corrupted, mut corrected_bits) = (0, 0);
        for codeword in 0..self.scheme.codewords(units * self.unit_bytes) {
            if asked != Asked::ALL && !self.is_asked(codeword, units, asked) {
                continue;
            }
            let mut errors = level.map_or(0, |level| self.draw_codeword(level));
            if injected != 0 {
                errors += self.injected_errors(codeword, injected & self.units_of(codeword, units));
            }
            corrupted += u32::from(errors > 0);
            if errors <= correctable {
                corrected_bits += errors;
            } else {
                self.draw_beyond(errors, self.units_of(codeword, units), decoded);
            }
        }
        decoded.corrupted = corrupted;
        self.counters.corrected_bits += u64::from(corrected_bits);
        // What is refused for one codeword is not passed on for another.
        decoded.undetected &= !decoded.failed;
    }

    /// Wrong bits of a codeword.
    #[inline]
    fn draw_codeword(&mut self, level: RberLevel) -> u32 {
        let Some(sampler) = &self.sampler else { return 0 };
        if self.bytes_left == 0 {
            (self.bytes, self.bytes_left) = (self.stream.bits(), 8);
        }
        let byte = self.bytes as u8;
        self.bytes >>= 8;
        self.bytes_left -= 1;
        sampler.count_of_byte(level, byte).unwrap_or_else(|| sampler.draw_within(level, byte, &mut self.stream))
    }

    /// A codeword of `units` has more errors than are corrected: nearly always the decoder notices.
    #[cold]
    fn draw_beyond(&mut self, errors: u32, units: u32, decoded: &mut Decoded) {
        decoded.worst = decoded.worst.max(errors);
        if self.stream.unit() < self.scheme.undetected() {
            decoded.undetected |= units;
            self.counters.undetected_codewords += 1;
        } else {
            decoded.failed |= units;
            self.counters.failed_codewords += 1;
        }
    }

    /// The units that a codeword holds data of.
    #[inline]
    fn units_of(&self, codeword: u32, units: u32) -> u32 {
        let user_bytes = self.scheme.user_bytes();
        let first = codeword * user_bytes / self.unit_bytes;
        let end = ((codeword + 1) * user_bytes).div_ceil(self.unit_bytes).min(units);
        (((1_u64 << (end - first)) - 1) << first) as u32
    }

    /// An injected error of a unit lies in the first codeword of the unit.
    fn injected_errors(&self, codeword: u32, injected: u32) -> u32 {
        let per_unit = (self.unit_bytes / self.scheme.user_bytes()).max(1);
        if codeword.is_multiple_of(per_unit) { injected.count_ones() } else { 0 }
    }

    /// Gives data that `arrives` from `channel` to the decoder that is free first. Returns when it begins [ns].
    #[inline]
    pub fn take_decoder(&mut self, channel: usize, arrives: Ns, time: Ns) -> Ns {
        let first = if self.scheme.shared() { 0 } else { channel * self.per_channel };
        let decoders = &mut self.free_at[first..first + self.per_channel];
        let decoder = if let [decoder] = decoders {
            decoder
        } else {
            let least = (0..decoders.len()).min_by_key(|&index| decoders[index]).unwrap_or(0);
            &mut decoders[least]
        };
        let begins = (*decoder).max(arrives);
        *decoder = begins + time;
        self.counters.decoder_wait_ns += (begins - arrives).0;
        self.counters.decoder_busy_ns += time.0;
        begins
    }
}
