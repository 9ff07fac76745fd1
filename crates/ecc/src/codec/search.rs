//! The errors' places: Chien's search for the roots of an error locator polynomial.

use super::Uncorrectable;
use super::field::Field;

/// A coefficient other than zero, times the power of the place that is looked at.
#[derive(Clone, Copy)]
struct Term {
    logarithm: u32,
    /// How much it falls from one place to the next: the index of the coefficient.
    step: u32,
}

/// The places (powers of x) below `length` at which errors lie. The locator's degree must be their number.
///
/// # Errors
/// Where fewer roots than that are places of the codeword.
pub fn error_places(field: &Field, locator: &[u32], length: u32) -> Result<Vec<u32>, Uncorrectable> {
    let mut locator = locator.to_vec();
    let mut places = Vec::with_capacity(locator.len() - 1);
    let mut terms = Vec::with_capacity(locator.len());
    set_terms(&mut terms, field, &locator, 0);
    for place in 0..length {
        if locator.len() == 1 {
            break;
        }
        // The terms are those of the locator at a^-place.
        if terms.iter().fold(locator[0], |sum, term| sum ^ field.power(term.logarithm)) == 0 {
            places.push(place);
            divide_by_factor(field, &mut locator, place);
            set_terms(&mut terms, field, &locator, place);
        }
        for term in &mut terms {
            let wrap = if term.logarithm < term.step { field.order() } else { 0 };
            term.logarithm = term.logarithm + wrap - term.step;
        }
    }
    if locator.len() == 1 { Ok(places) } else { Err(Uncorrectable) }
}

/// The terms of a polynomial at a^-place, without that of x^0.
fn set_terms(terms: &mut Vec<Term>, field: &Field, locator: &[u32], place: u32) {
    terms.clear();
    for (index, &coefficient) in locator.iter().enumerate().skip(1).filter(|(_, coefficient)| **coefficient != 0) {
        let order = u64::from(field.order());
        let fall = index as u64 * u64::from(place) % order;
        let logarithm = ((u64::from(field.logarithm(coefficient)) + order - fall) % order) as u32;
        terms.push(Term { logarithm, step: index as u32 });
    }
}

/// Divides a polynomial by 1 + a^place x, which divides it: what is left has fewer terms to look at.
fn divide_by_factor(field: &Field, locator: &mut Vec<u32>, place: u32) {
    let root = field.power(place);
    for index in 1..locator.len() {
        locator[index] ^= field.product(root, locator[index - 1]);
    }
    locator.pop();
}
