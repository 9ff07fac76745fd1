//! Decoders: each works on one access at a time, first come first served, as long as its codewords take.

use std::collections::BTreeSet;

use ninescope_engine::View;
use ninescope_engine::reliability::NandCode;
use ninescope_engine::reliability::code::{Code, CodeCounters};
use ninescope_kernel::Ns;
use ninescope_model::{SECTOR_BYTES, Source};

use crate::rule::{Checked, require};

/// What a decoder did with an access.
#[derive(Clone, Copy, Debug)]
pub struct Decoding {
    pub source: Source,
    /// Of flash; of no meaning for sectors.
    pub code: NandCode,
    pub attempt: u32,
    pub arrived: Ns,
    pub begins: Ns,
    pub until: Ns,
    pub codewords: u32,
    pub corrupted: u32,
    /// Bits of units or sectors.
    pub failed: u32,
    pub undetected: u32,
}

/// Decoders that share a queue.
#[derive(Clone, Debug)]
struct Group {
    free_at: Vec<Ns>,
    last_arrival: Ns,
}

/// Between the fewest and the most of something: a mask of units does not tell how many of their codewords it was.
#[derive(Clone, Copy, Debug, Default)]
struct Bounds {
    least: u64,
    most: u64,
}

impl Bounds {
    fn holds(self, counted: u64) -> bool {
        (self.least..=self.most).contains(&counted)
    }
}

/// The decoders of a code, and what was seen of it since measuring began.
#[derive(Clone, Debug)]
pub struct Decoders {
    groups: Vec<Group>,
    shared: bool,
    wait: u64,
    busy: u64,
    codewords: u64,
    corrupted: u64,
    encoded: u64,
    failed: Bounds,
    undetected: Bounds,
    /// Bytes of a unit or sector.
    unit_bytes: u32,
}

impl Decoders {
    /// Those of a code on so many channels.
    pub fn of(code: &Code, channels: u32, unit_bytes: u32) -> Self {
        let scheme = code.scheme();
        let groups = if scheme.shared() { 1 } else { channels };
        let group = Group { free_at: vec![Ns::ZERO; scheme.decoders() as usize], last_arrival: Ns::ZERO };
        Self {
            groups: vec![group; groups as usize],
            shared: scheme.shared(),
            wait: 0,
            busy: 0,
            codewords: 0,
            corrupted: 0,
            encoded: 0,
            failed: Bounds::default(),
            undetected: Bounds::default(),
            unit_bytes,
        }
    }

    /// An access that came over a channel is decoded, which takes `more` than its codewords. `units` is where those lie
    /// that were asked for, with their sectors that were, empty where that is not known; `measured` whether it was sensed
    /// since measuring began.
    pub fn take(
        &mut self,
        view: &View<'_>,
        code: &Code,
        channel: u32,
        decoding: &Decoding,
        (units, more, measured): (&[(u32, u32)], Ns, bool),
    ) -> Checked {
        let Decoding { arrived, begins, until, codewords, corrupted, failed, undetected, .. } = *decoding;
        let scheme = code.scheme();
        let expected = if units.is_empty() { codewords } else { self.codewords_of(code, units) };
        require!(
            codewords == expected && corrupted <= codewords && (failed | undetected == 0 || corrupted > 0),
            DecoderDoubleBooked,
            view.now,
            "{units:?} units are decoded as {decoding:?}, they have {expected} codewords"
        );
        let group = &mut self.groups[if self.shared { 0 } else { channel as usize }];
        let last = std::mem::replace(&mut group.last_arrival, arrived);
        let decoder = group.free_at.iter_mut().min().expect("a code has decoders");
        let (free_at, time) = (*decoder, scheme.decode_time(codewords, corrupted) + more);
        require!(
            arrived >= last && begins == arrived.max(free_at) && until == begins + time,
            DecoderDoubleBooked,
            view.now,
            "what arrived at {arrived} is decoded from {begins} until {until}; the one before arrived at {last}, a decoder \
             is free at {free_at}, {codewords} codewords of which {corrupted} have errors take {time}"
        );
        *decoder = until;
        self.wait += (begins - arrived).0;
        self.busy += (until - begins).0;
        if measured {
            self.count(code, decoding, units);
        }
        Ok(())
    }

    /// The codewords that hold something of the sectors of `units`: those divide a codeword, or a codeword divides them.
    pub fn codewords_of(&self, code: &Code, units: &[(u32, u32)]) -> u32 {
        let user_bytes = code.scheme().user_bytes();
        // By the bytes that a codeword holds, counted over units.
        let codewords = units.iter().flat_map(|&(unit, sectors)| {
            let first = u64::from(unit) * u64::from(self.unit_bytes);
            let held = self.unit_bytes / SECTOR_BYTES as u32;
            (0..held).filter(move |sector| sectors >> sector & 1 == 1).flat_map(move |sector| {
                let from = first + u64::from(sector) * SECTOR_BYTES;
                from / u64::from(user_bytes)..=(from + SECTOR_BYTES - 1) / u64::from(user_bytes)
            })
        });
        codewords.collect::<BTreeSet<u64>>().len() as u32
    }

    fn count(&mut self, code: &Code, decoding: &Decoding, units: &[(u32, u32)]) {
        let Decoding { codewords, corrupted, failed, undetected, attempt, .. } = *decoding;
        self.codewords += u64::from(codewords);
        self.corrupted += u64::from(corrupted);
        let user_bytes = code.scheme().user_bytes();
        let of_unit = u64::from((self.unit_bytes / user_bytes).max(1));
        if attempt > 0 {
            // The worst codeword speaks for all; what passed as good the first time was counted then.
            let again = u64::from(failed != 0);
            (self.failed.least, self.failed.most) = (self.failed.least + again, self.failed.most + again);
            return;
        }
        // Units of one codeword fail together; where it is not known which they are, they may be of as many.
        let per_codeword = user_bytes.div_ceil(self.unit_bytes);
        let bounds_of = |mask: u32| {
            let all = u64::from(mask.count_ones());
            let chosen = units.iter().enumerate().filter(|(number, _)| mask >> number & 1 == 1);
            let chosen: Vec<(u32, u32)> = chosen.map(|(_, &unit)| unit).collect();
            match (units.is_empty(), per_codeword) {
                (true, _) => (all.div_ceil(per_codeword.into()), all * of_unit),
                (_, 1) => (all, all * of_unit),
                _ => [self.codewords_of(code, &chosen); 2].map(u64::from).into(),
            }
        };
        let (failed_units, undetected_units) = (bounds_of(failed), bounds_of(undetected));
        // What fails in one codeword and passes in another has failed.
        let passed_within = u64::from(failed.count_ones()) * (of_unit - 1);
        for (bounds, (least, most)) in [
            (&mut self.failed, failed_units),
            (&mut self.undetected, (undetected_units.0, undetected_units.1 + passed_within)),
        ] {
            bounds.least += least;
            bounds.most += most.min(u64::from(corrupted));
        }
    }

    /// Units are encoded. Returns how long that takes.
    pub fn encode(&mut self, code: &Code, units: u32) -> Ns {
        let codewords = code.scheme().codewords(units * self.unit_bytes);
        self.encoded += u64::from(codewords);
        code.scheme().encode_time(codewords)
    }

    pub fn measuring_began(&mut self) {
        (self.wait, self.busy, self.codewords, self.corrupted, self.encoded) = Default::default();
        (self.failed, self.undetected) = Default::default();
    }

    /// What the code counted is what was seen.
    pub fn compare(&self, view: &View<'_>, name: &str, counted: &CodeCounters) -> Checked {
        for (counter, counted, seen) in [
            ("codewords", counted.codewords, self.codewords),
            ("corrupted_codewords", counted.corrupted_codewords, self.corrupted),
            ("encoded_codewords", counted.encoded_codewords, self.encoded),
            ("decoder_wait_ns", counted.decoder_wait_ns, self.wait),
            ("decoder_busy_ns", counted.decoder_busy_ns, self.busy),
        ] {
            require!(counted == seen, Ledger, view.now, "{name}.{counter} is {counted}, {seen} were seen");
        }
        for (counter, counted, seen) in [
            ("failed_codewords", counted.failed_codewords, self.failed),
            ("undetected_codewords", counted.undetected_codewords, self.undetected),
        ] {
            require!(seen.holds(counted), Ledger, view.now, "{name}.{counter} is {counted}, seen were {seen:?}");
        }
        Ok(())
    }
}

/// Codewords cross the channel whole, with their parity where that moves too. Does not judge units that are not known.
pub fn moves_whole_codewords(now: Ns, (own, code): (&Decoders, &Code), units: &[u32], bytes: u32) -> Checked {
    let scheme = code.scheme();
    let of_codeword = scheme.user_bytes() + if scheme.moves_parity() { scheme.parity_bytes() } else { 0 };
    let whole: Vec<_> = units.iter().map(|&unit| (unit, u32::MAX)).collect();
    let expected = own.codewords_of(code, &whole) * of_codeword;
    require!(
        units.is_empty() || bytes == expected,
        PageDecoded,
        now,
        "{bytes} B cross the channel for units {units:?}, whose codewords have {expected} B"
    );
    Ok(())
}
