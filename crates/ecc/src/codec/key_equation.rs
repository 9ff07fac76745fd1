//! The key equation: the error locator polynomial of given syndromes, by Berlekamp and Massey's algorithm.

use super::field::Field;

/// The error locator polynomial of the syndromes S(1), S(2), …, the coefficient of x^0 first, or nothing where it
/// would have a degree above half their number. Its roots are the inverses of the errors' locators.
///
/// Syndromes of a binary code have S(2 i) = S(i)^2, which makes every other discrepancy zero: a step takes two.
pub fn error_locator(field: &Field, syndromes: &[u32]) -> Option<Vec<u32>> {
    let most = syndromes.len() / 2;
    let mut locator = vec![0; most + 1];
    let mut before = vec![0; most + 1];
    (locator[0], before[0]) = (1, 1);
    let (mut length, mut gap, mut divisor) = (0, 1, 1);
    for step in (0..syndromes.len()).step_by(2) {
        let discrepancy = (1..=length)
            .fold(syndromes[step], |sum, index| sum ^ field.product(locator[index], syndromes[step - index]));
        if discrepancy != 0 {
            let factor = field.quotient(discrepancy, divisor);
            let kept = (2 * length <= step).then(|| locator.clone());
            for index in gap..=most {
                locator[index] ^= field.product(factor, before[index - gap]);
            }
            if let Some(kept) = kept {
                length = step + 1 - length;
                (before, divisor, gap) = (kept, discrepancy, 0);
            }
        }
        gap += 2;
        if length > most {
            return None;
        }
    }
    let degree = locator.iter().rposition(|&coefficient| coefficient != 0)?;
    (degree == length).then(|| {
        locator.truncate(degree + 1);
        locator
    })
}
