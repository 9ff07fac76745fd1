//! Codes by themselves, without a drive: what `ninescope ecc` tables and notebooks plot. A code is described as in a
//! drive's `nand.ecc`, as JSON. This module must not know how anything is shown.

use ninescope_ecc::codec::{BchCodec, CrcCodec};
use ninescope_ecc::{CodeError, EccSchemeConfig, checked_rber, checked_uber};
use ninescope_media::scm::program_verify::curve::VerifyCurve;
use ninescope_model::units::Bytes;

use crate::config::with_suggestion;
use crate::error::Error;

pub use ninescope_ecc::{Code, Scheme};

impl From<CodeError> for Error {
    fn from(error: CodeError) -> Self {
        Self::Input(error.to_string())
    }
}

/// The most verify cycles that a choice goes through.
const VERIFY_CYCLES_MAX: u32 = 1000;

/// A code with its codec, from the JSON of an ECC scheme.
///
/// # Errors
/// [`Error::Input`] that names the key.
pub fn scheme(description_json: &str) -> Result<Scheme, Error> {
    let config: EccSchemeConfig = serde_json::from_str(description_json).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        Error::Input(format!("code: {}", with_suggestion(message)))
    })?;
    Ok(config.build()?)
}

/// The BCH code that corrects the most errors at a code rate; see [`Code::strongest_bch`].
///
/// # Errors
/// [`Error::Input`] that names the parameter.
pub fn strongest_bch(user_data: &str, rate: f64, field_degree: Option<u32>) -> Result<Code, Error> {
    Ok(Code::strongest_bch(user_bits(user_data)?, rate, field_degree)?)
}

/// The BCH code that corrects the fewest errors and meets a target UBER at a raw bit error rate, if there is one.
///
/// # Errors
/// [`Error::Input`] that names the parameter.
pub fn weakest_bch(user_data: &str, field_degree: Option<u32>, rber: f64, uber: f64) -> Result<Option<Code>, Error> {
    let (rber, uber) = (checked_rber(rber)?, checked_uber(uber)?);
    Ok(Code::weakest_bch(user_bits(user_data)?, field_degree, rber, uber)?)
}

/// A number of verify cycles, and the code that it leaves to be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointChoice {
    /// Verify cycles of a sector write [count].
    pub verify_cycles: u32,
    /// The raw bit error rate that is left after them.
    pub rber: f64,
    /// The weakest code for that, if there is one.
    pub code: Option<Code>,
}

/// Every way to share the work between verify-program and code: for 0 to `verify_cycles` cycles the weakest BCH code
/// that meets a target UBER. `rber` is the rate without verifying; cycles cut it as published (49 % at 20).
///
/// # Errors
/// [`Error::Input`] that names the parameter.
pub fn joint_choices(
    user_data: &str,
    field_degree: Option<u32>,
    rber: f64,
    uber: f64,
    verify_cycles: u32,
) -> Result<Vec<JointChoice>, Error> {
    if verify_cycles > VERIFY_CYCLES_MAX {
        return Err(Error::Input(format!("verify_cycles is {verify_cycles}, at most {VERIFY_CYCLES_MAX} are tried")));
    }
    let curve = VerifyCurve::default();
    let choice = |verify_cycles| {
        let left = rber * curve.factor(verify_cycles);
        weakest_bch(user_data, field_degree, left, uber).map(|code| JointChoice { verify_cycles, rber: left, code })
    };
    // The one that was given, and not what is left of it, is told where it is wrong.
    checked_rber(rber)?;
    (0..=verify_cycles).map(choice).collect()
}

/// Codewords of a scheme that cover so much user data ("16KiB").
///
/// # Errors
/// [`Error::Input`] for what is no size, or too much.
pub fn codewords(scheme: &Scheme, data: &str) -> Result<u32, Error> {
    let bytes: Bytes = data.parse().map_err(|error| Error::Input(format!("data: {error}")))?;
    let codewords = bytes.0.div_ceil(u64::from(scheme.user_bytes()));
    u32::try_from(codewords).map_err(|_| Error::Input(format!("data: {bytes} are {codewords} codewords, too many")))
}

/// What one function of a code is at many raw bit error rates.
///
/// # Errors
/// [`Error::Input`] for what is no rate.
pub fn at_rbers(rbers: &[f64], of: impl Fn(f64) -> f64) -> Result<Vec<f64>, Error> {
    rbers.iter().map(|&rber| Ok(of(checked_rber(rber)?))).collect()
}

/// Acceptable bit error rates of a code at many target UBERs.
///
/// # Errors
/// [`Error::Input`] for what is no target.
pub fn at_ubers(code: &Code, ubers: &[f64]) -> Result<Vec<f64>, Error> {
    ubers.iter().map(|&uber| Ok(code.aber(checked_uber(uber)?))).collect()
}

/// A real codec of a code, and the bytes of its codewords.
#[derive(Clone, Debug)]
pub struct Codec {
    kind: CodecKind,
    user_bytes: usize,
    parity_bytes: usize,
}

#[derive(Clone, Debug)]
enum CodecKind {
    Bch(Box<BchCodec>),
    Crc(CrcCodec),
}

impl Codec {
    /// The codec of a BCH code, or of a CRC of 32 bits.
    ///
    /// # Errors
    /// [`Error::Input`] for other codes.
    pub fn new(scheme: &Scheme) -> Result<Self, Error> {
        let code = scheme.code();
        let is_check = code.correctable() == 0;
        if is_check && code.parity_bits() != 32 {
            let width = code.parity_bits();
            return Err(Error::Input(format!("width is {width}: bytes are checked with 32 bits only")));
        }
        let kind = if is_check { CodecKind::Crc(CrcCodec) } else { CodecKind::Bch(Box::new(BchCodec::new(code)?)) };
        let (user_bytes, parity_bytes) = (scheme.user_bytes() as usize, scheme.parity_bytes() as usize);
        Ok(Self { kind, user_bytes, parity_bytes })
    }

    /// The parity of the user data of a codeword.
    ///
    /// # Errors
    /// [`Error::Input`] for another number of bytes.
    pub fn encode(&self, user: &[u8]) -> Result<Vec<u8>, Error> {
        checked_length("user data", user, self.user_bytes)?;
        Ok(match &self.kind {
            CodecKind::Bch(codec) => codec.encode(user),
            CodecKind::Crc(codec) => codec.encode(user).to_be_bytes().to_vec(),
        })
    }

    /// Corrects a codeword in place, and tells how many bits were wrong; nothing where it holds more errors than are
    /// corrected, and that was seen.
    ///
    /// # Errors
    /// [`Error::Input`] for another number of bytes.
    pub fn decode(&self, user: &mut [u8], parity: &mut [u8]) -> Result<Option<u32>, Error> {
        checked_length("user data", user, self.user_bytes)?;
        checked_length("parity", parity, self.parity_bytes)?;
        Ok(match &self.kind {
            CodecKind::Bch(codec) => codec.decode(user, parity).ok(),
            CodecKind::Crc(codec) => (codec.encode(user).to_be_bytes() == *parity).then_some(0),
        })
    }
}

fn checked_length(what: &str, bytes: &[u8], expected: usize) -> Result<(), Error> {
    if bytes.len() == expected {
        return Ok(());
    }
    Err(Error::Input(format!("{what} of {} B, a codeword holds {expected} B", bytes.len())))
}

fn user_bits(user_data: &str) -> Result<u32, Error> {
    let bytes: Bytes = user_data.parse().map_err(|error| Error::Input(format!("user_data: {error}")))?;
    // What does not fit is more than any code is made for, and refused as such.
    Ok(bytes.0.checked_mul(8).and_then(|bits| u32::try_from(bits).ok()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_that_of_a_drive_and_a_slip_is_answered() {
        let json = r#"{"policy": "bch", "user_data": "512B", "correctable": 35}"#;
        assert_eq!(scheme(json).expect("a code").codeword_bits(), 4551);
        for (json, words) in [
            (r#"{"policy": "bch", "user_dat": "512B"}"#, "did you mean `user_data`?"),
            (r#"{"policy": "bhc"}"#, "did you mean `bch`?"),
            (r#"{"policy": "bch", "user_data": "512X"}"#, "512X"),
            (r#"{"policy": "bch", "correctable": 0}"#, "correctable is 0"),
        ] {
            let error = scheme(json).expect_err(json).to_string();
            assert!(error.contains(words) && !error.contains("line"), "{error}");
        }
    }

    /// Half of the errors after 20 cycles: a code of rate 9/10 may correct 25 errors instead of 35.
    #[test]
    fn verify_cycles_spare_parity() {
        let rber = strongest_bch("512B", 0.9, None).expect("a code").aber(1e-15);
        let choices = joint_choices("512B", None, rber, 1e-15, 20).expect("good numbers");
        let correctable = |cycles: usize| choices[cycles].code.expect("a code").correctable();
        assert_eq!((choices.len(), correctable(0), correctable(20)), (21, 35, 25));
        assert!(choices.windows(2).all(|pair| pair[0].rber > pair[1].rber));
        for (rber, uber, words) in [(0.7, 1e-15, "rber is 0.7"), (1e-3, 0.0, "uber is 0")] {
            let error = joint_choices("512B", None, rber, uber, 1).expect_err("no rate").to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn codewords_cover_what_they_are_asked_to() {
        let sector = scheme(r#"{"policy": "bch", "user_data": "512B"}"#).expect("a code");
        assert_eq!(codewords(&sector, "16KiB").expect("a size"), 32);
        assert_eq!(codewords(&sector, "513").expect("a size"), 2);
        for (data, words) in [("16X", "data: `16X`"), ("4096TiB", "too many")] {
            let error = codewords(&sector, data).expect_err(data).to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_codec_takes_codewords_of_its_length() {
        let codec = Codec::new(&scheme(r#"{"policy": "crc", "user_data": "16B"}"#).expect("a code")).expect("a codec");
        let mut user = [7; 16];
        let mut parity = codec.encode(&user).expect("parity");
        assert_eq!(codec.decode(&mut user, &mut parity).expect("bytes"), Some(0));
        user[3] ^= 1;
        assert_eq!(codec.decode(&mut user, &mut parity).expect("bytes"), None);
        assert!(codec.encode(&[0; 15]).expect_err("too short").to_string().contains("15 B, a codeword holds 16 B"));
        let narrow = scheme(r#"{"policy": "crc", "width": 16}"#).expect("a code");
        assert!(Codec::new(&narrow).expect_err("no codec").to_string().contains("width is 16"));
        let ldpc = scheme(r#"{"policy": "ldpc"}"#).expect("a code");
        assert!(Codec::new(&ldpc).is_err());
    }
}
