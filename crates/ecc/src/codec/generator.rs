//! Generator polynomials of binary BCH codes, and the remainders that encoding is.

use super::field::Field;

/// A polynomial over GF(2) that generates a code: all of its codewords are multiples of it.
#[derive(Clone, Debug)]
pub struct Generator {
    /// Its degree, the bits of parity.
    degree: u32,
    /// Remainders of each byte at the highest places, left-aligned words: `words` for each.
    remainders: Vec<u64>,
    words: usize,
}

impl Generator {
    /// The polynomial of least degree that has the powers 1 to 2 t of the primitive element as roots.
    pub fn new(field: &Field, correctable: u32) -> Self {
        let coefficients = coefficients(field, correctable);
        let degree = coefficients.len() as u32 - 1;
        let words = degree.div_ceil(64) as usize;
        // Left-aligned, without the leading coefficient: what is added when a bit leaves at the top.
        let mut generator = vec![0; words];
        for (place, _) in coefficients.iter().rev().skip(1).enumerate().filter(|(_, coefficient)| **coefficient) {
            generator[place / 64] |= 1 << (63 - place % 64);
        }
        let mut remainders = Vec::with_capacity(256 * words);
        for byte in 0..256 {
            let mut register = vec![0; words];
            (0..8).rev().for_each(|bit| push_bit(&mut register, &generator, byte >> bit & 1));
            remainders.extend(register);
        }
        Self { degree, remainders, words }
    }

    /// Bits of parity; at most m t.
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// The remainder of u(x) x^degree, left-aligned: the parity of `bits` of user data, highest bit first.
    pub fn remainder(&self, user: &[u8], bits: u32) -> Vec<u64> {
        let mut register = vec![0; self.words];
        let whole = bits as usize / 8;
        for &byte in &user[..whole] {
            self.push_byte(&mut register, byte);
        }
        // The remainder of one bit at the highest place is the generator without its leading coefficient.
        let generator = &self.remainders[self.words..2 * self.words];
        for bit in 0..bits % 8 {
            push_bit(&mut register, generator, u64::from(user[whole] >> (7 - bit) & 1));
        }
        register
    }

    fn push_byte(&self, register: &mut [u64], byte: u8) {
        let index = usize::from((register[0] >> 56) as u8 ^ byte);
        shift(register, 8);
        let remainder = &self.remainders[index * self.words..(index + 1) * self.words];
        register.iter_mut().zip(remainder).for_each(|(word, part)| *word ^= part);
    }
}

/// One step of the shift register with feedback.
fn push_bit(register: &mut [u64], generator: &[u64], bit: u64) {
    let leaves = register[0] >> 63 ^ bit;
    shift(register, 1);
    if leaves == 1 {
        register.iter_mut().zip(generator).for_each(|(word, part)| *word ^= part);
    }
}

fn shift(register: &mut [u64], bits: u32) {
    for index in 0..register.len() {
        let next = register.get(index + 1).map_or(0, |next| next >> (64 - bits));
        register[index] = register[index] << bits | next;
    }
}

/// Coefficients of the generator polynomial, that of x^0 first: the product of the minimal polynomials of the odd
/// powers up to 2 t - 1. Powers that share a cyclotomic coset share a minimal polynomial, which counts once.
fn coefficients(field: &Field, correctable: u32) -> Vec<bool> {
    let mut product = vec![true];
    let mut covered = vec![false; field.order() as usize];
    for odd in (1..2 * u64::from(correctable)).step_by(2) {
        let first = (odd % u64::from(field.order())) as u32;
        if covered[first as usize] {
            continue;
        }
        let mut coset = Vec::new();
        let mut power = first;
        while !std::mem::replace(&mut covered[power as usize], true) {
            coset.push(power);
            power = (2 * u64::from(power) % u64::from(field.order())) as u32;
        }
        product = times(&product, &minimal_polynomial(field, &coset));
    }
    product
}

/// The product of x - a^i over a coset: its coefficients lie in GF(2).
fn minimal_polynomial(field: &Field, coset: &[u32]) -> Vec<bool> {
    let mut polynomial = vec![1];
    for &exponent in coset {
        let root = field.power(exponent);
        polynomial.push(0);
        for index in (0..polynomial.len()).rev() {
            let below = if index == 0 { 0 } else { polynomial[index - 1] };
            polynomial[index] = below ^ field.product(polynomial[index], root);
        }
    }
    polynomial.into_iter().map(|coefficient| coefficient == 1).collect()
}

fn times(a: &[bool], b: &[bool]) -> Vec<bool> {
    let mut product = vec![false; a.len() + b.len() - 1];
    for (offset, _) in b.iter().enumerate().filter(|(_, coefficient)| **coefficient) {
        product[offset..].iter_mut().zip(a).for_each(|(sum, coefficient)| *sum ^= coefficient);
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The highest coefficient first, three of them an octal digit, as in printed tables.
    fn octal(degree: u32, correctable: u32) -> String {
        let coefficients = coefficients(&Field::new(degree), correctable);
        let number = coefficients.iter().rev().fold(0_u64, |number, &bit| number << 1 | u64::from(bit));
        format!("{number:o}")
    }

    /// Lin and Costello, "Error Control Coding", appendix C: generator polynomials of primitive BCH codes.
    #[test]
    fn generators_are_those_of_printed_tables() {
        for (degree, correctable, generator) in [
            (3, 1, "13"),
            (4, 1, "23"),
            (4, 2, "721"),  // x^8 + x^7 + x^6 + x^4 + 1
            (4, 3, "2467"), // x^10 + x^8 + x^5 + x^4 + x^2 + x + 1
            (5, 2, "3551"),
            (5, 3, "107657"),
            (5, 5, "5423325"),
            (6, 3, "1701317"),
            (7, 2, "41567"),
            (8, 2, "267543"),
            (8, 3, "156720665"),
            (9, 2, "1112711"),
        ] {
            assert_eq!(octal(degree, correctable), generator, "degree {degree}, {correctable} errors");
        }
    }

    /// Powers whose coset is short or was there before need fewer bits than m: at degree 17 two of the odd ones up to
    /// 2 428 - 1 come again (7242 instead of 7276 bits), at degree 14 the coset of 129 = 2^7 + 1 has 7 members.
    #[test]
    fn degrees_are_at_most_m_t_and_known_where_cosets_repeat() {
        for (degree, correctable, bits) in [(13, 35, 455), (17, 428, 7242), (17, 256, 4352), (14, 67, 66 * 14 + 7)] {
            assert_eq!(Generator::new(&Field::new(degree), correctable).degree(), bits, "{degree} {correctable}");
        }
    }
}
