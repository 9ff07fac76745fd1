//! Numbers in notes: as many digits as count.

/// Digits that count.
const DIGITS: i32 = 3;

/// The unit of the last digit that counts, as (multiplier, divisor): one of them is 1, the other a whole power of ten, so that
/// what is rounded is the number with so many digits.
fn last_digit(value: f64) -> (f64, f64) {
    let digits = DIGITS - 1 - libm::log10(value).floor() as i32;
    if digits >= 0 { (10_f64.powi(digits), 1.0) } else { (1.0, 10_f64.powi(-digits)) }
}

fn rounded(value: f64, how: impl Fn(f64) -> f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    let (up, down) = last_digit(value);
    how(value * up / down) / up * down
}

/// A positive number rounded up to three digits.
pub fn up(value: f64) -> f64 {
    rounded(value, f64::ceil)
}

/// A positive number rounded down to three digits.
pub fn down(value: f64) -> f64 {
    rounded(value, f64::floor)
}

/// The nearest number of three digits.
pub fn nearest(value: f64) -> f64 {
    rounded(value, f64::round)
}

/// A number of more digits is a slip, or a float written out in full: nobody counts its digits.
const MOST_WRITTEN: usize = 21;

/// A text with the numbers in it that take more than a glance written with their power of ten: "1e99".
pub fn without_long_numbers(text: &str) -> String {
    text.split_inclusive([' ', '\n']).map(|word| shortened(word).unwrap_or_else(|| word.to_owned())).collect()
}

/// A word that is such a number, in short.
fn shortened(word: &str) -> Option<String> {
    let number = word.trim_end_matches([' ', '\n', ',', ';', ':', ')', '.']);
    let is_long = number.len() > MOST_WRITTEN && number.contains(|letter: char| letter.is_ascii_digit());
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b'-');
    let value: f64 = number.parse().ok().filter(|_| is_long && is_plain)?;
    Some(format!("{value:e}{}", &word[number.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_nobody_counts_the_digits_of_are_written_with_their_power() {
        let told = |value: f64| without_long_numbers(&format!("key: is {value}, and not\n{value}; at most 1"));
        for (value, short) in
            [(1e99, "1e99"), (-2.5e30, "-2.5e30"), (1e-99, "1e-99"), (f64::MAX, "1.7976931348623157e308")]
        {
            assert_eq!(told(value), format!("key: is {short}, and not\n{short}; at most 1"));
        }
        assert_eq!(told(u64::MAX as f64), "key: is 18446744073709552000, and not\n18446744073709552000; at most 1");
        assert_eq!(without_long_numbers("2026.toml: line 3\n  \"1e99\""), "2026.toml: line 3\n  \"1e99\"");
    }

    #[test]
    fn three_digits_count_wherever_the_point_is() {
        for (value, below, near, above) in [
            (1_234.5, "1230", "1230", "1240"),
            (1_237.0, "1230", "1240", "1240"),
            (0.000_123_9, "0.000123", "0.000124", "0.000124"),
            (84.388, "84.3", "84.4", "84.4"),
            (0.5, "0.5", "0.5", "0.5"),
            (999.6, "999", "1000", "1000"),
            (3e5, "300000", "300000", "300000"),
        ] {
            let written = [down(value), nearest(value), up(value)].map(|value| value.to_string());
            assert_eq!(written, [below, near, above], "{value}");
        }
        assert_eq!([down(0.0), nearest(0.0), up(0.0)].map(f64::to_bits), [0; 3]);
    }
}
