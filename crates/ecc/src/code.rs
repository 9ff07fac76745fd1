//! What a code is: how many bits it adds to how many, and how many errors it corrects.
//!
//! This module must not know how long anything takes.

use std::ops::RangeInclusive;

use crate::error::CodeError;
use crate::tail;

/// Degrees m of the fields GF(2^m) that a BCH code may use: its codewords have up to 2^m - 1 bits.
pub const FIELD_DEGREES: RangeInclusive<u32> = 3..=24;

/// The longest user data of a codeword, 1 MiB [bits].
const USER_BITS_MAX: u32 = 1 << 23;

/// What kind of parity a codeword holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    None,
    Crc,
    Bch { field_degree: u32 },
    Ldpc,
}

/// A systematic block code: `user_bits` are followed by `parity_bits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    kind: Kind,
    user_bits: u32,
    parity_bits: u32,
    correctable: u32,
}

impl Code {
    /// No code at all: nothing is added, nothing is seen.
    ///
    /// # Errors
    /// For user data of no bits, or of more than a code is made for.
    pub fn none(user_bits: u32) -> Result<Self, CodeError> {
        Ok(Self { kind: Kind::None, user_bits: checked_user_bits(user_bits)?, parity_bits: 0, correctable: 0 })
    }

    /// A cyclic redundancy check of `width` bits: it detects and does not correct.
    ///
    /// # Errors
    /// For user data of no bits or too many, and for a width that is not 1 to 64.
    pub fn crc(user_bits: u32, width: u32) -> Result<Self, CodeError> {
        if !(1..=64).contains(&width) {
            return Err(CodeError::new("width", format!("is {width}, it must be from 1 to 64 bits")));
        }
        Ok(Self { kind: Kind::Crc, user_bits: checked_user_bits(user_bits)?, parity_bits: width, correctable: 0 })
    }

    /// A shortened binary BCH code over GF(2^m) that corrects `correctable` errors (t), with `m * t` bits of parity.
    /// The degree of the true generator polynomial may be a little less: papers, and hardware with a fixed layout,
    /// count m t. Without `field_degree` the smallest field in which the codeword fits.
    ///
    /// # Errors
    /// Where the codeword does not fit in the field, with the numbers and the smallest field that would do.
    pub fn bch(user_bits: u32, correctable: u32, field_degree: Option<u32>) -> Result<Self, CodeError> {
        let user_bits = checked_user_bits(user_bits)?;
        if correctable == 0 {
            return Err(CodeError::new("correctable", "is 0, a BCH code corrects at least 1 error"));
        }
        let smallest = FIELD_DEGREES.into_iter().find(|&degree| fits(user_bits, correctable, degree));
        let field_degree = match field_degree {
            Some(degree) if !FIELD_DEGREES.contains(&degree) => return Err(no_such_field(degree)),
            Some(degree) if !fits(user_bits, correctable, degree) => {
                return Err(beyond_field(user_bits, correctable, degree, smallest));
            }
            Some(degree) => degree,
            None => smallest.ok_or_else(|| beyond_field(user_bits, correctable, *FIELD_DEGREES.end(), None))?,
        };
        let parity_bits = field_degree * correctable;
        Ok(Self { kind: Kind::Bch { field_degree }, user_bits, parity_bits, correctable })
    }

    /// A low-density parity-check code with hard decisions, taken as one that corrects up to a threshold of errors.
    ///
    /// # Errors
    /// For user data of no bits or too many, for no parity, and for a threshold beyond the Hamming bound's reach: a
    /// codeword cannot be told from one with more errors than half of its parity bits.
    pub fn ldpc(user_bits: u32, parity_bits: u32, correctable: u32) -> Result<Self, CodeError> {
        let user_bits = checked_user_bits(user_bits)?;
        if !(1..=USER_BITS_MAX).contains(&parity_bits) {
            return Err(CodeError::new(
                "parity",
                "is none or more than a codeword holds, it must be from 1 B to 1 MiB",
            ));
        }
        // The Singleton bound: 2 t <= n - k for any block code.
        if correctable == 0 || 2 * u64::from(correctable) > u64::from(parity_bits) {
            let most = parity_bits / 2;
            let message = format!("is {correctable}, with {parity_bits} bits of `parity` it must be from 1 to {most}");
            return Err(CodeError::new("correctable", message));
        }
        Ok(Self { kind: Kind::Ldpc, user_bits, parity_bits, correctable })
    }

    /// User data of a codeword, k [bits].
    pub fn user_bits(&self) -> u32 {
        self.user_bits
    }

    /// Parity of a codeword [bits].
    pub fn parity_bits(&self) -> u32 {
        self.parity_bits
    }

    /// Parity of a codeword, rounded up [bytes].
    pub fn parity_bytes(&self) -> u32 {
        self.parity_bits.div_ceil(8)
    }

    /// Length of a codeword, n [bits].
    pub fn codeword_bits(&self) -> u32 {
        self.user_bits + self.parity_bits
    }

    /// Errors that are corrected in a codeword, t [bits]; 0 for a code that only detects.
    pub fn correctable(&self) -> u32 {
        self.correctable
    }

    /// Degree m of a BCH code's field.
    pub fn field_degree(&self) -> Option<u32> {
        match self.kind {
            Kind::Bch { field_degree } => Some(field_degree),
            Kind::None | Kind::Crc | Kind::Ldpc => None,
        }
    }

    /// Code rate k / n.
    pub fn rate(&self) -> f64 {
        f64::from(self.user_bits) / f64::from(self.codeword_bits())
    }

    /// The chance that a codeword with more errors than are corrected passes as good.
    ///
    /// A pattern of errors beyond the code's reach is taken as one that leads to any of the 2^(n-k) syndromes alike.
    /// A CRC then passes with 2^-width. A BCH decoder takes every syndrome of a pattern of up to t errors as that
    /// pattern, and so miscorrects with the sum of C(n, s) over s <= t, divided by 2^(m t) (Kim and Lee, "Probability
    /// of undetected error for binary BCH codes", give the bounds). An LDPC decoder that converges to a wrong word is
    /// so rare that none is modelled. Without a code every error passes.
    pub fn undetected(&self) -> f64 {
        match self.kind {
            Kind::None => 1.0,
            Kind::Crc => libm::exp2(-f64::from(self.parity_bits)),
            Kind::Bch { .. } => {
                // The sum of C(n, s) is the lower tail of n fair coins, times 2^n.
                let patterns = tail::ln_at_most(self.codeword_bits(), self.correctable, 0.5);
                let bits = f64::from(self.codeword_bits()) - f64::from(self.parity_bits);
                libm::exp(patterns + bits * std::f64::consts::LN_2).min(1.0)
            }
            Kind::Ldpc => 0.0,
        }
    }
}

fn checked_user_bits(user_bits: u32) -> Result<u32, CodeError> {
    match user_bits {
        0 => Err(CodeError::new("user_data", "is 0, a codeword holds at least 1 B")),
        1..=USER_BITS_MAX => Ok(user_bits),
        // The number itself may be what was left of a larger one.
        _ => Err(CodeError::new("user_data", "is more than a codeword holds, at most 1 MiB")),
    }
}

/// The longest codeword in a field of this degree [bits].
pub(crate) fn longest(field_degree: u32) -> u64 {
    (1 << field_degree) - 1
}

fn fits(user_bits: u32, correctable: u32, field_degree: u32) -> bool {
    u64::from(user_bits) + u64::from(field_degree) * u64::from(correctable) <= longest(field_degree)
}

fn no_such_field(degree: u32) -> CodeError {
    let (least, most) = (FIELD_DEGREES.start(), FIELD_DEGREES.end());
    CodeError::new("field_degree", format!("is {degree}, it must be from {least} to {most}"))
}

/// The numbers of a codeword that a field of `degree` does not hold. The key is the one to change: the number of
/// errors where parity alone fills the field, or no field would do.
fn beyond_field(user_bits: u32, correctable: u32, degree: u32, smallest: Option<u32>) -> CodeError {
    let parity = u64::from(degree) * u64::from(correctable);
    let bits = u64::from(user_bits) + parity;
    let most = longest(degree);
    let remedy = match smallest {
        Some(smallest) => format!("the smallest field that holds it has degree {smallest}"),
        None => format!("and degree {} is the largest", FIELD_DEGREES.end()),
    };
    let numbers = format!(
        "{user_bits} bits of user data and {degree} x {correctable} = {parity} of parity make a codeword of {bits} \
         bits, longer than 2^{degree} - 1 = {most}"
    );
    if parity > most || smallest.is_none() {
        CodeError::new(
            "correctable",
            format!("is {correctable}, beyond the field of degree {degree}: {numbers}; {remedy}"),
        )
    } else {
        CodeError::new("field_degree", format!("is {degree}, too small: {numbers}; {remedy}"))
    }
}
