//! The BCH codec: systematic encoding by a shift register with feedback, decoding by syndromes, key equation and search.
//!
//! Bits are counted from the highest of the first byte on: user data first, then parity, as coefficients of falling
//! powers of x. Parity has the bits of the true generator polynomial; where that are fewer than m t, zeros follow.

use super::Uncorrectable;
use super::field::{CODEC_FIELD_DEGREES, Field};
use super::generator::Generator;
use super::key_equation::error_locator;
use super::search::error_places;
use crate::code::Code;
use crate::error::CodeError;

/// Encodes and decodes one BCH code.
#[derive(Clone, Debug)]
pub struct BchCodec {
    field: Field,
    generator: Generator,
    user_bits: u32,
    parity_bytes: usize,
    correctable: u32,
}

impl BchCodec {
    /// The codec of a code.
    ///
    /// # Errors
    /// For a code that is no BCH code, or whose field is larger than the codec's tables.
    pub fn new(code: &Code) -> Result<Self, CodeError> {
        let Some(degree) = code.field_degree() else {
            return Err(CodeError::new("policy", "has no codec of a field: only BCH codes do"));
        };
        if !CODEC_FIELD_DEGREES.contains(&degree) {
            let most = CODEC_FIELD_DEGREES.end();
            return Err(CodeError::new("field_degree", format!("is {degree}, the codec has tables up to {most}")));
        }
        let field = Field::new(degree);
        let generator = Generator::new(&field, code.correctable());
        let parity_bytes = code.parity_bytes() as usize;
        Ok(Self { field, generator, user_bits: code.user_bits(), parity_bytes, correctable: code.correctable() })
    }

    /// Bits of parity that the generator polynomial gives; the code counts m t, which may be a few more.
    pub fn generator_degree(&self) -> u32 {
        self.generator.degree()
    }

    /// Bytes that user data takes; bits of the last one beyond the code's are left alone.
    pub fn user_bytes(&self) -> usize {
        self.user_bits.div_ceil(8) as usize
    }

    /// Bytes that parity takes.
    pub fn parity_bytes(&self) -> usize {
        self.parity_bytes
    }

    /// The parity of user data.
    ///
    /// # Panics
    /// When there are fewer than [`Self::user_bytes`].
    pub fn encode(&self, user: &[u8]) -> Vec<u8> {
        let register = self.generator.remainder(user, self.user_bits);
        let mut parity: Vec<u8> = register.iter().flat_map(|word| word.to_be_bytes()).collect();
        parity.resize(self.parity_bytes, 0);
        parity
    }

    /// Corrects user data and parity in place, and tells how many bits were wrong. More errors than are corrected may
    /// pass as fewer: [`Code::undetected`] says how often.
    ///
    /// # Errors
    /// Where it is seen that there are more errors than are corrected; nothing is changed then.
    ///
    /// # Panics
    /// When there are fewer bytes than [`Self::user_bytes`] and [`Self::parity_bytes`].
    pub fn decode(&self, user: &mut [u8], parity: &mut [u8]) -> Result<u32, Uncorrectable> {
        let remainder = self.remainder(user, parity);
        if remainder.iter().all(|&word| word == 0) {
            return Ok(0);
        }
        let locator = error_locator(&self.field, &self.syndromes(&remainder)).ok_or(Uncorrectable)?;
        let places = error_places(&self.field, &locator, self.user_bits + self.generator.degree())?;
        for &place in &places {
            self.flip(user, parity, place);
        }
        Ok(places.len() as u32)
    }

    /// What is left of a received word when it is divided by the generator polynomial, left-aligned.
    fn remainder(&self, user: &[u8], parity: &[u8]) -> Vec<u64> {
        let mut register = self.generator.remainder(user, self.user_bits);
        for place in 0..self.generator.degree() as usize {
            let bit = u64::from(parity[place / 8] >> (7 - place % 8) & 1);
            register[place / 64] ^= bit << (63 - place % 64);
        }
        register
    }

    /// S(1) to S(2 t): a received word at the powers of the primitive element, which are those of its remainder.
    fn syndromes(&self, remainder: &[u64]) -> Vec<u32> {
        let mut syndromes = vec![0; 2 * self.correctable as usize];
        let order = self.field.order();
        let highest = self.generator.degree() - 1;
        for place in (0..=highest).filter(|place| remainder[*place as usize / 64] >> (63 - place % 64) & 1 == 1) {
            let locator = (highest - place) % order;
            let step = 2 * u64::from(locator) % u64::from(order);
            let mut exponent = locator;
            for syndrome in syndromes.iter_mut().step_by(2) {
                *syndrome ^= self.field.power(exponent);
                exponent += step as u32;
                if exponent >= order {
                    exponent -= order;
                }
            }
        }
        for index in (1..syndromes.len()).step_by(2) {
            let half = syndromes[index / 2];
            syndromes[index] = self.field.product(half, half);
        }
        syndromes
    }

    /// Flips the coefficient of x^place.
    fn flip(&self, user: &mut [u8], parity: &mut [u8], place: u32) {
        let parity_bits = self.generator.degree();
        let (bytes, bit) = if place < parity_bits {
            (parity, parity_bits - 1 - place)
        } else {
            (user, self.user_bits - 1 - (place - parity_bits))
        };
        bytes[bit as usize / 8] ^= 0x80 >> (bit % 8);
    }
}
