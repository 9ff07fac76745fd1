//! Reading the fields of one text line, left to right, without allocating.

use crate::LineProblem;

/// What separates the fields of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Comma,
    Blanks,
}

/// The fields of one line that are not read yet.
pub(super) struct Fields<'a> {
    line: &'a [u8],
    position: usize,
    separator: Separator,
}

impl<'a> Fields<'a> {
    /// The fields of `line`. A blank line and a comment are refused as such.
    pub fn new(line: &'a [u8], separator: Separator) -> Result<Self, LineProblem> {
        let mut fields = Self { line, position: 0, separator };
        fields.skip_blanks();
        match fields.peek() {
            None => Err(LineProblem::Blank),
            Some(b'#') => Err(LineProblem::Comment),
            Some(_) => Ok(fields),
        }
    }

    /// The next field as a whole number.
    #[inline]
    pub fn number(&mut self, field: &'static str) -> Result<u64, LineProblem> {
        self.skip_blanks();
        match self.peek() {
            Some(b'0'..=b'9') => {}
            Some(b'-') => return Err(LineProblem::Negative(field)),
            Some(b',') | None => return Err(LineProblem::Missing(field)),
            Some(_) => return Err(LineProblem::NotANumber(field)),
        }
        let mut value = 0_u64;
        while let Some(digit) = self.peek().map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
            let grown = value.checked_mul(10).and_then(|tens| tens.checked_add(u64::from(digit)));
            value = grown.ok_or(LineProblem::Overflow(field))?;
            self.position += 1;
        }
        self.end_field().map_err(|()| LineProblem::NotANumber(field))?;
        Ok(value)
    }

    /// The next field as text, without the blanks around it.
    #[inline]
    pub fn text(&mut self, field: &'static str) -> Result<&'a [u8], LineProblem> {
        let text = self.optional_text();
        if text.is_empty() { Err(LineProblem::Missing(field)) } else { Ok(text) }
    }

    /// The next field as text, which may be empty.
    #[inline]
    pub fn optional_text(&mut self) -> &'a [u8] {
        if self.separator == Separator::Blanks {
            self.skip_blanks();
            let rest = &self.line[self.position..];
            let length = rest.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'\r')).unwrap_or(rest.len());
            self.position += length;
            return &rest[..length];
        }
        let rest = &self.line[self.position..];
        let length = memchr::memchr(b',', rest).unwrap_or(rest.len());
        self.position += (length + 1).min(rest.len());
        rest[..length].trim_ascii()
    }

    /// The next field as a decimal number of units of `unit_ns` nanoseconds each [ns].
    #[inline]
    pub fn time(&mut self, field: &'static str, unit_ns: u64) -> Result<u64, LineProblem> {
        decimal(self.text(field)?, field, unit_ns)
    }

    /// What is not read yet.
    pub fn rest(&self) -> &'a [u8] {
        &self.line[self.position..]
    }

    /// Makes sure that nothing but blanks is left.
    pub fn end(&mut self) -> Result<(), LineProblem> {
        self.skip_blanks();
        self.peek().map_or(Ok(()), |_| Err(LineProblem::ExtraFields))
    }

    /// Steps over what ends a number: a separator or the end of the line.
    #[inline]
    fn end_field(&mut self) -> Result<(), ()> {
        let field_end = self.position;
        self.skip_blanks();
        match (self.peek(), self.separator) {
            (None, _) => Ok(()),
            (Some(b','), Separator::Comma) => {
                self.position += 1;
                Ok(())
            }
            (Some(_), Separator::Blanks) if self.position > field_end => Ok(()),
            _ => Err(()),
        }
    }

    #[inline]
    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.position += 1;
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.line.get(self.position).copied()
    }
}

/// `text` as a whole number.
pub(super) fn integer(text: &[u8], field: &'static str) -> Result<u64, LineProblem> {
    match text.first() {
        None => return Err(LineProblem::Missing(field)),
        Some(b'-') => return Err(LineProblem::Negative(field)),
        Some(_) => {}
    }
    text.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(LineProblem::NotANumber(field));
        }
        value.checked_mul(10).and_then(|tens| tens.checked_add(digit.into())).ok_or(LineProblem::Overflow(field))
    })
}

/// `text`, a decimal number without an exponent, times `unit`, which is at most 10^9. What is below the ninth
/// decimal place is cut off.
pub(super) fn decimal(text: &[u8], field: &'static str, unit: u64) -> Result<u64, LineProblem> {
    const PLACES: usize = 9;
    let point = memchr::memchr(b'.', text).unwrap_or(text.len());
    let fraction = &text[(point + 1).min(text.len())..];
    if !fraction.iter().all(u8::is_ascii_digit) || (point < text.len() && point == 0 && fraction.is_empty()) {
        return Err(LineProblem::NotANumber(field));
    }
    let whole = if point == 0 && !fraction.is_empty() { 0 } else { integer(&text[..point], field)? };
    let kept = &fraction[..fraction.len().min(PLACES)];
    let scale = 10_u64.pow(kept.len() as u32);
    let part = integer(if kept.is_empty() { b"0" } else { kept }, field)?;
    let part = u128::from(part) * u128::from(unit) / u128::from(scale);
    let whole = whole.checked_mul(unit).ok_or(LineProblem::Overflow(field))?;
    whole.checked_add(part as u64).ok_or(LineProblem::Overflow(field))
}

/// One number for a name: FNV-1a.
pub(super) fn key_of(name: &[u8]) -> u64 {
    name.iter().fold(0xcbf2_9ce4_8422_2325, |key, &byte| (key ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let time = |text: &str, unit| decimal(text.as_bytes(), "time", unit);
        assert_eq!(time("26.214000", 1_000_000), Ok(26_214_000));
        assert_eq!(time("1455592266.059000001", 1_000_000_000), Ok(1_455_592_266_059_000_001));
        assert_eq!((time("7", 1000), time("7.", 1000), time(".5", 1000)), (Ok(7000), Ok(7000), Ok(500)));
        assert_eq!(time("0.0000000019", 1_000_000_000), Ok(1));
        for wrong in [".", "1.2.3", "1e5", "x", "1.-2", "+1"] {
            assert_eq!(time(wrong, 1), Err(LineProblem::NotANumber("time")), "{wrong}");
        }
        assert_eq!(time("-0.5", 1), Err(LineProblem::Negative("time")));
        assert_eq!(time("", 1), Err(LineProblem::Missing("time")));
        assert_eq!(time("18446744073709551615.9", 1000), Err(LineProblem::Overflow("time")));
    }
}
