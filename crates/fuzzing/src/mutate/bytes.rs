//! Changes of bytes, of lines, and of the numbers in a line.

use std::ops::Range;

use super::Rng;

/// Numbers at which something may change its mind.
pub const NUMBERS: [&str; 40] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "8",
    "16",
    "31",
    "32",
    "33",
    "63",
    "64",
    "100",
    "127",
    "128",
    "255",
    "256",
    "511",
    "512",
    "513",
    "4095",
    "4096",
    "65535",
    "65536",
    "1000000",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "3600000000000",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999",
    "-1",
    "0.5",
    "1e308",
    "1.7976931348623157e308",
];

/// A changed trace: text or fixed-length records.
pub fn trace(rng: &mut Rng, input: &[u8], other: &[u8]) -> Vec<u8> {
    match rng.below(4) {
        0 => bits(rng, input),
        1 => lines(rng, input, other),
        2 => number(rng, input).unwrap_or_else(|| words(rng, input)),
        _ => splice(rng, input, other),
    }
}

/// One change of text that has lines and numbers.
pub fn text(rng: &mut Rng, input: &[u8], other: &[u8]) -> Vec<u8> {
    match rng.below(8) {
        0 => bits(rng, input),
        1 | 2 => lines(rng, input, other),
        3 => splice(rng, input, other),
        _ => number(rng, input).unwrap_or_else(|| bits(rng, input)),
    }
}

/// Some bytes flipped, removed, doubled or replaced, or the end cut off.
pub fn bits(rng: &mut Rng, input: &[u8]) -> Vec<u8> {
    let mut output = input.to_vec();
    for _ in 0..=rng.below(4) {
        let at = rng.below(output.len());
        match rng.below(6) {
            _ if output.is_empty() => output.push(rng.bits() as u8),
            0 => output[at] ^= 1 << rng.below(8),
            1 => output[at] = *rng.pick(&[0, 1, b'\n', b'\r', b'-', b'.', b'"', b'#', b' ', b'9', 0x7f, 0x80, 0xff]),
            2 => drop(output.remove(at)),
            3 => output.insert(at, rng.bits() as u8),
            4 => output.truncate(at),
            _ => output[at] = rng.bits() as u8,
        }
    }
    output
}

/// A 1, 2, 4 or 8 byte word replaced by one at a border, as binary records hold them.
fn words(rng: &mut Rng, input: &[u8]) -> Vec<u8> {
    let mut output = input.to_vec();
    let bytes = 1 << rng.below(4);
    let at = rng.below(output.len().saturating_sub(bytes - 1)) / bytes * bytes;
    let value =
        *rng.pick(&[0, 1, u64::MAX, u64::MAX >> 1, 1 << 63, 1 << 31, u64::from(u32::MAX), 1 << 55, 0x0128, 512]);
    let value = value.wrapping_sub(rng.below(2) as u64);
    for (byte, new) in output.iter_mut().skip(at).take(bytes).zip(value.to_le_bytes()) {
        *byte = new;
    }
    output
}

/// A line doubled, removed, moved, or taken from `other`.
pub fn lines(rng: &mut Rng, input: &[u8], other: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = input.split_inclusive(|&byte| byte == b'\n').collect();
    if lines.is_empty() {
        return other.to_vec();
    }
    let (from, to) = (rng.below(lines.len()), rng.below(lines.len()));
    match rng.below(4) {
        0 => lines.insert(to, lines[from]),
        1 => drop(lines.remove(from)),
        2 => lines.swap(from, to),
        _ => {
            let others: Vec<&[u8]> = other.split_inclusive(|&byte| byte == b'\n').collect();
            if !others.is_empty() {
                lines.insert(to, others[rng.below(others.len())]);
            }
        }
    }
    lines.concat()
}

/// A number replaced by another; `None` where there is none.
pub fn number(rng: &mut Rng, input: &[u8]) -> Option<Vec<u8>> {
    let numbers = digits(input);
    if numbers.is_empty() {
        return None;
    }
    let place = rng.pick(&numbers).clone();
    let old: Option<u64> = std::str::from_utf8(&input[place.clone()]).ok().and_then(|digits| digits.parse().ok());
    let new = changed_number(rng, old);
    Some([&input[..place.start], new.as_bytes(), &input[place.end..]].concat())
}

/// A number near the old one, or at a border.
pub fn changed_number(rng: &mut Rng, old: Option<u64>) -> String {
    match (rng.below(6), old) {
        (0, Some(old)) => old.wrapping_add(1).to_string(),
        (1, Some(old)) => old.wrapping_sub(1).to_string(),
        (2, Some(old)) => old.saturating_mul(1 << rng.below(33)).to_string(),
        (3, Some(old)) => (old >> rng.below(33)).to_string(),
        _ => (*rng.pick(&NUMBERS)).to_owned(),
    }
}

/// Where the runs of digits are.
fn digits(input: &[u8]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = None;
    for (at, byte) in input.iter().chain([&b'\n']).enumerate() {
        match (byte.is_ascii_digit(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                runs.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    runs
}

/// The beginning of one input and the end of another.
pub fn splice(rng: &mut Rng, input: &[u8], other: &[u8]) -> Vec<u8> {
    let (head, tail) = (rng.below(input.len() + 1), rng.below(other.len() + 1));
    [&input[..head], &other[tail..]].concat()
}
