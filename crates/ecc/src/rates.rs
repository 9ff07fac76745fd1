//! How often a code fails, and which code fails rarely enough: rates of errors before and after correction.
//!
//! Raw bit error rates (RBER) are chances that one stored bit is wrong, each bit by itself. What is left of them is the
//! uncorrectable bit error rate (UBER), here P[more than t errors in a codeword] per bit of user data, and the
//! acceptable bit error rate (ABER) is the RBER at which a target UBER is just met. This module must not know what
//! makes bits fail.

use std::ops::RangeInclusive;

use crate::code::{Code, FIELD_DEGREES, longest};
use crate::error::CodeError;
use crate::tail;

/// The highest raw bit error rate: a medium that errs in every second bit holds nothing.
pub const RBER_MAX: f64 = 0.5;

/// The raw bit error rate, if it is one.
///
/// # Errors
/// For a rate outside of 0 to 0.5.
pub fn checked_rber(rber: f64) -> Result<f64, CodeError> {
    if (0.0..=RBER_MAX).contains(&rber) {
        return Ok(rber);
    }
    Err(CodeError::new("rber", format!("is {rber}, a raw bit error rate is from 0 to 0.5")))
}

/// The target of an uncorrectable bit error rate, if it is one.
///
/// # Errors
/// For a rate outside of 1e-300 to 1, both ends left out.
pub fn checked_uber(uber: f64) -> Result<f64, CodeError> {
    if uber > 1e-300 && uber < 1.0 {
        return Ok(uber);
    }
    Err(CodeError::new("uber", format!("is {uber}, a target lies between 1e-300 and 1")))
}

impl Code {
    /// ln P[a codeword has more errors than are corrected], for raw bit error rates up to [`RBER_MAX`].
    pub fn ln_failure(&self, rber: f64) -> f64 {
        tail::ln_above(self.codeword_bits(), self.correctable(), rber)
    }

    /// P[a codeword has more errors than are corrected].
    pub fn failure(&self, rber: f64) -> f64 {
        libm::exp(self.ln_failure(rber))
    }

    /// ln of the uncorrectable bit error rate: failures of a codeword per bit of its user data, k.
    pub fn ln_uber(&self, rber: f64) -> f64 {
        self.ln_failure(rber) - libm::log(f64::from(self.user_bits()))
    }

    /// The uncorrectable bit error rate.
    pub fn uber(&self, rber: f64) -> f64 {
        libm::exp(self.ln_uber(rber))
    }

    /// P[at least one of the codewords of a page has more errors than are corrected].
    pub fn page_failure(&self, rber: f64, codewords: u32) -> f64 {
        -libm::expm1(f64::from(codewords) * libm::log1p(-self.failure(rber)))
    }

    /// The acceptable bit error rate: the largest raw one whose UBER is at most the target, to the last digit.
    pub fn aber(&self, uber: f64) -> f64 {
        let target = libm::log(uber);
        let meets = |bits: u64| self.ln_uber(f64::from_bits(bits)) <= target;
        // Doubles of one sign are ordered as their bits are.
        let (mut met, mut missed) = (0, RBER_MAX.to_bits());
        if meets(missed) {
            return RBER_MAX;
        }
        while missed - met > 1 {
            let middle: u64 = met.midpoint(missed);
            if meets(middle) { met = middle } else { missed = middle }
        }
        f64::from_bits(met)
    }

    /// The BCH code that corrects the most errors at a code rate of at least `rate`; without `field_degree` of all
    /// fields the one in which it corrects the most.
    ///
    /// # Errors
    /// For a rate that is none or leaves no place for the parity of one error, and as [`Code::bch`].
    pub fn strongest_bch(user_bits: u32, rate: f64, field_degree: Option<u32>) -> Result<Self, CodeError> {
        if !(rate > 0.0 && rate < 1.0) {
            return Err(CodeError::new("rate", format!("is {rate}, a code rate lies between 0 and 1")));
        }
        // The smallest code tells what is wrong with user data or field.
        let smallest = Self::bch(user_bits, 1, field_degree)?;
        let strongest = degrees(field_degree).map(|degree| (most_at_rate(user_bits, degree, rate), degree));
        let (correctable, degree) = strongest.rev().max_by_key(|(most, _)| *most).unwrap_or_default();
        if correctable == 0 {
            let message = format!("is {rate}: with 1 error corrected the code rate is {:.6} already", smallest.rate());
            return Err(CodeError::new("rate", message));
        }
        Self::bch(user_bits, correctable, Some(degree))
    }

    /// The BCH code that corrects the fewest errors and still meets a target UBER at a raw bit error rate, if there is
    /// one. Its ABER is at least that rate.
    ///
    /// # Errors
    /// As [`Code::bch`] of one error.
    pub fn weakest_bch(
        user_bits: u32,
        field_degree: Option<u32>,
        rber: f64,
        uber: f64,
    ) -> Result<Option<Self>, CodeError> {
        Self::bch(user_bits, 1, field_degree)?;
        let target = libm::log(uber);
        let mut weakest = 1;
        for degree in degrees(field_degree) {
            let strongest = most_in_field(user_bits, degree);
            if strongest < weakest {
                continue;
            }
            let of = |correctable| Self::bch(user_bits, correctable, Some(degree));
            if of(strongest)?.ln_uber(rber) <= target {
                let meets = |correctable| of(correctable).is_ok_and(|code| code.ln_uber(rber) <= target);
                return of(first_that(weakest..=strongest, meets)).map(Some);
            }
            weakest = strongest + 1;
        }
        Ok(None)
    }
}

/// The fields to choose from.
fn degrees(field_degree: Option<u32>) -> RangeInclusive<u32> {
    field_degree.map_or(FIELD_DEGREES, |degree| degree..=degree)
}

/// Errors that the parity of a field's longest codeword may correct beside `user_bits`.
fn most_in_field(user_bits: u32, degree: u32) -> u32 {
    (longest(degree).saturating_sub(u64::from(user_bits)) / u64::from(degree)) as u32
}

/// Errors that are corrected at a code rate.
fn most_at_rate(user_bits: u32, degree: u32, rate: f64) -> u32 {
    // No binary fraction is 0.9: what is a whole number but for the last digit is that number.
    let parity = f64::from(user_bits) * (1.0 / rate - 1.0) * (1.0 + 1e-12);
    ((parity / f64::from(degree)) as u32).min(most_in_field(user_bits, degree))
}

/// The first of a range for which a condition holds, where it holds for the last and all from the first on.
fn first_that(range: RangeInclusive<u32>, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut least, mut most) = range.into_inner();
    while least < most {
        let middle = least.midpoint(most);
        if holds(middle) { most = middle } else { least = middle + 1 }
    }
    most
}
