//! A code of a medium with its decoders, and what its decodes came to.

use ninescope_ecc::{ErrorSampler, RberLevel, Scheme};
use ninescope_kernel::{Ns, RandomStream};
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
            scheme: scheme.clone(),
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

    /// Whether more bytes cross the channel than the units that are asked for.
    pub fn moves_more(&self) -> bool {
        self.scheme.moves_parity() || self.scheme.user_bytes() > self.unit_bytes
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

    /// Draws what the decoder finds in `units`. A bit of `injected` says that a unit has one wrong bit beyond those that
    /// fail by themselves.
    #[inline]
    pub fn draw(&mut self, level: Option<RberLevel>, units: u32, injected: u32) -> Decoded {
        let codewords = self.scheme.codewords(units * self.unit_bytes);
        let mut decoded = Decoded { codewords, ..Decoded::default() };
        if level.is_some() || injected != 0 {
            self.draw_errors(level, units, injected, &mut decoded);
        }
        self.counters.codewords += u64::from(codewords);
        self.counters.corrupted_codewords += u64::from(decoded.corrupted);
        decoded
    }

    fn draw_errors(&mut self, level: Option<RberLevel>, units: u32, injected: u32, decoded: &mut Decoded) {
        let correctable = self.scheme.correctable();
        let (mut corrupted, mut corrected_bits) = (0, 0);
        for codeword in 0..decoded.codewords {
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
        let decoder = match decoders {
            [decoder] => decoder,
            _ => {
                let least = (0..decoders.len()).min_by_key(|&index| decoders[index]).unwrap_or(0);
                &mut decoders[least]
            }
        };
        let begins = (*decoder).max(arrives);
        *decoder = begins + time;
        self.counters.decoder_wait_ns += (begins - arrives).0;
        self.counters.decoder_busy_ns += time.0;
        begins
    }
}
