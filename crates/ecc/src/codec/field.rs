//! The finite fields GF(2^m), by tables of powers and logarithms.

use std::ops::RangeInclusive;

/// Degrees of the fields a codec has tables for: the largest takes 12 MiB.
pub const CODEC_FIELD_DEGREES: RangeInclusive<u32> = 3..=20;

/// A primitive polynomial for each degree, bit i for the coefficient of x^i: those in the tables of Lin and Costello,
/// "Error Control Coding", appendix A, from which published generator polynomials are computed.
const PRIMITIVE: [u32; 18] = [
    0xb, 0x13, 0x25, 0x43, 0x89, 0x11d, 0x211, 0x409, 0x805, 0x1053, 0x201b, 0x4443, 0x8003, 0x1_100b, 0x2_0009,
    0x4_0081, 0x8_0027, 0x10_0009,
];

/// A field GF(2^m). Its elements are polynomials over GF(2), bit i for the coefficient of x^i.
#[derive(Clone, Debug)]
pub struct Field {
    /// The order of its multiplicative group, 2^m - 1.
    order: u32,
    /// Powers of the primitive element, twice around, so that a sum of two logarithms needs no reduction.
    powers: Vec<u32>,
    /// Logarithms; that of zero is never asked for.
    logarithms: Vec<u32>,
}

impl Field {
    /// The field of a degree within [`CODEC_FIELD_DEGREES`].
    pub fn new(degree: u32) -> Self {
        let polynomial = PRIMITIVE[(degree - CODEC_FIELD_DEGREES.start()) as usize];
        let order = (1_u32 << degree) - 1;
        let mut powers = Vec::with_capacity(2 * order as usize);
        let mut logarithms = vec![0; order as usize + 1];
        let mut element = 1_u32;
        for exponent in 0..order {
            powers.push(element);
            logarithms[element as usize] = exponent;
            element <<= 1;
            if element > order {
                element ^= polynomial;
            }
        }
        powers.extend_from_within(..);
        Self { order, powers, logarithms }
    }

    /// The order of the multiplicative group, 2^m - 1.
    pub fn order(&self) -> u32 {
        self.order
    }

    /// A power of the primitive element, with an exponent below twice the order.
    #[inline]
    pub fn power(&self, exponent: u32) -> u32 {
        self.powers[exponent as usize]
    }

    /// The logarithm of an element other than zero.
    #[inline]
    pub fn logarithm(&self, element: u32) -> u32 {
        self.logarithms[element as usize]
    }

    /// A product.
    #[inline]
    pub fn product(&self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 { 0 } else { self.power(self.logarithm(a) + self.logarithm(b)) }
    }

    /// a / b, for b other than zero.
    #[inline]
    pub fn quotient(&self, a: u32, b: u32) -> u32 {
        if a == 0 { 0 } else { self.power(self.logarithm(a) + self.order - self.logarithm(b)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_but_zero_is_a_power_once() {
        for degree in CODEC_FIELD_DEGREES {
            let field = Field::new(degree);
            let mut seen = vec![false; field.order() as usize + 1];
            for exponent in 0..field.order() {
                let element = field.power(exponent);
                assert!(element != 0 && !std::mem::replace(&mut seen[element as usize], true), "degree {degree}");
                assert_eq!(field.logarithm(element), exponent);
            }
        }
    }

    /// Multiplication by shifts and reductions, without tables.
    fn naive_product(mut a: u32, mut b: u32, degree: u32) -> u32 {
        let mut product = 0;
        while b > 0 {
            if b & 1 == 1 {
                product ^= a;
            }
            a <<= 1;
            if a >> degree == 1 {
                a ^= PRIMITIVE[degree as usize - 3];
            }
            b >>= 1;
        }
        product
    }

    #[test]
    fn products_are_those_of_polynomials() {
        for degree in [3, 8, 13, 17] {
            let field = Field::new(degree);
            let step = (field.order() / 61).max(1) as usize;
            for a in (0..=field.order()).step_by(step) {
                for b in (0..=field.order()).step_by(step) {
                    let product = field.product(a, b);
                    assert_eq!(product, naive_product(a, b, degree));
                    assert!(b == 0 || field.quotient(product, b) == a);
                }
            }
        }
    }
}
