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
        let rest = &self.line[self.position..];
        let length = memchr::memchr(b',', rest).unwrap_or(rest.len());
        self.position += (length + 1).min(rest.len());
        let text = rest[..length].trim_ascii();
        if text.is_empty() { Err(LineProblem::Missing(field)) } else { Ok(text) }
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
