//! Whether bytes are text, and how they are shown in messages.

/// The longest excerpt of a line that is kept for messages [bytes].
pub(super) const EXCERPT_BYTES: usize = 80;

/// More than so many bytes that are in no text, and than one in so many, are not astray.
const ASTRAY_MAX: usize = 2;
const ASTRAY_SHARE: usize = 20;

/// Whether bytes are no text: a letter of another encoding, or a byte that went astray, leave it text.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let is_strange = |byte: &&u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    bytes.contains(&0) || bytes.iter().filter(is_strange).count() > ASTRAY_MAX + bytes.len() / ASTRAY_SHARE
}

/// The beginning of a line as printable text; what is no text is not shown.
pub(super) fn excerpt(line: &[u8]) -> String {
    let shown = &line[..line.len().min(EXCERPT_BYTES)];
    if is_binary(shown) {
        return "(binary data)".to_owned();
    }
    let mut text: String = String::from_utf8_lossy(shown).trim().chars().map(printable).collect();
    if line.len() > EXCERPT_BYTES {
        text.push_str("...");
    }
    text
}

fn printable(character: char) -> char {
    match character {
        '\t' => ' ',
        _ if character.is_control() => '\u{fffd}',
        _ => character,
    }
}
