//! Making errors in TOML point at their place and suggest what was meant.

use ninescope_model::suggestion;

/// Makes serde's messages such that they can be read without knowing Rust, and adds "did you mean" to those of unknown
/// keys and names.
pub fn with_suggestion(message: &str) -> String {
    in_plain_words(&with_nearest(message, |word, known| suggestion(word, known.iter().copied()).map(str::to_owned)))
}

/// What is wrong with a text of TOML, in plain words, and below that its place: only what is no TOML is an error of parsing.
pub fn of_toml(text: &str, error: &toml::de::Error) -> String {
    let told = error.to_string();
    let place = told
        .strip_prefix("TOML parse error ")
        .and_then(|told| told.strip_suffix('\n').unwrap_or(told).strip_suffix(error.message()));
    match place.filter(|_| toml::from_str::<toml::Table>(text).is_ok()) {
        Some(place) => format!("{}\n  {}", with_suggestion(error.message()), place.trim_end()),
        None => with_suggestion(&told),
    }
}

/// A message of serde about a key or a name that is unknown, with what `nearest` says of it and what is known there.
pub fn with_nearest(message: &str, nearest: impl Fn(&str, &[&str]) -> Option<String>) -> String {
    for marker in ["unknown field `", "unknown variant `"] {
        let Some(start) = message.find(marker) else { continue };
        let rest = &message[start + marker.len()..];
        let Some((word, expected)) = rest.split_once('`') else { continue };
        let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        if let Some(meant) = nearest(word, &known) {
            return format!("{}\n  did you mean `{meant}`?", message.trim_end());
        }
    }
    message.trim_end().to_owned()
}

/// A message of serde without the names of Rust's types.
pub fn in_plain_words(message: &str) -> String {
    message.split('\n').map(plain_line).collect::<Vec<_>>().join("\n")
}

fn plain_line(line: &str) -> String {
    for marker in ["invalid type: ", "invalid value: ", "invalid length "] {
        let Some((before, told)) = line.split_once(marker) else { continue };
        // What is expected names no value, but a value may be any text.
        let Some((found, expected)) = told.rsplit_once(", expected ") else { continue };
        let found = if marker == "invalid length " { format!("a list of {found}") } else { value_in_words(found) };
        let wanted = kind_in_words(expected);
        // Of a number in place of a name no more is told.
        return if found == "unit variant" {
            format!("{before}{wanted} is wanted")
        } else {
            format!("{before}{wanted} is wanted, not {found}")
        };
    }
    let line =
        line.replace("unknown variant `", "unknown name `").replace("wanted string or table", "a name is wanted");
    match line.split_once("missing field `").and_then(|(before, told)| Some((before, told.split_once('`')?))) {
        Some((before, (key, rest))) => format!("{before}the key `{key}` is missing{rest}"),
        None => line,
    }
}

/// A value as it is written, of serde's description.
fn value_in_words(found: &str) -> String {
    for kind in ["string ", "integer ", "floating point ", "boolean ", "character "] {
        if let Some(value) = found.strip_prefix(kind) {
            return value.trim_matches('`').to_owned();
        }
    }
    match found {
        "sequence" | "tuple" | "tuple struct" => "a list",
        "map" | "struct" => "a table",
        "null" | "unit value" | "Option value" => "nothing",
        other => other,
    }
    .to_owned()
}

/// What serde expects.
fn kind_in_words(expected: &str) -> String {
    let whole = |most: &dyn std::fmt::Display| format!("a whole number of at most {most}");
    if let Some(length) = expected.strip_prefix("a tuple of size ").or(expected.strip_prefix("an array of length ")) {
        return format!("a list of {length}");
    }
    match expected {
        "u8" => whole(&u8::MAX),
        "u16" => whole(&u16::MAX),
        "u32" => whole(&u32::MAX),
        "u64" | "usize" | "i8" | "i16" | "i32" | "i64" => "a whole number".to_owned(),
        "a nonzero u32" => format!("a whole number from 1 to {}", u32::MAX),
        "a nonzero u64" | "a nonzero usize" => "a whole number from 1 on".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" | "string" | "str" | "a character" => "a text".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" | "map" => "a table".to_owned(),
        "path string" => "the name of a file".to_owned(),
        "string or table" | "string or map" | "string only" => "a name".to_owned(),
        _ if expected.starts_with("struct ") || expected.contains("tagged enum ") => "a table".to_owned(),
        _ if expected.contains("enum ") || expected.contains("identifier") => "a name".to_owned(),
        _ => expected.to_owned(),
    }
}

/// `message` with the line of `key` ("table.name") in `text` and a caret, where the key is written there, or the inline
/// table that holds it.
pub fn at_key(text: &str, key: &str, message: &str) -> String {
    // A key of a table at top level stands on a line of its own.
    let in_tables = with_holders(key).enumerate().filter(|(up, key)| *up == 0 || key.contains('.'));
    let line = in_tables.map(|(_, key)| location(text, key)).find(|line| !line.is_empty());
    format!("{key} {message}{}", line.unwrap_or_default())
}

/// The line of `key` in `text` with a caret, that of what holds it where the key is not written, or nothing.
pub fn nearest_location(text: &str, key: &str) -> String {
    with_holders(key).map(|key| location(text, key)).find(|line| !line.is_empty()).unwrap_or_default()
}

/// The key, its table, the table of that, and so on.
fn with_holders(key: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(key), |key| key.rsplit_once('.').map(|(table, _)| table))
}

/// The line of `key` in `text` with a caret, or nothing. A table of a list is written `jobs[1]`, as in `jobs[1].bs`.
pub fn location(text: &str, key: &str) -> String {
    let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
    let mut listed = Vec::new();
    let mut current = String::new();
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let is_header = trimmed.starts_with('[');
        if is_header {
            current = table_of(trimmed, &mut listed);
        }
        let is_key =
            current == table && trimmed.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='));
        if is_key || (is_header && current == key) {
            return pointed_at(index + 1, line);
        }
    }
    String::new()
}

/// A line of `text` with carets, by its number from 1.
pub fn location_of_line(text: &str, number: usize) -> String {
    text.lines().nth(number.wrapping_sub(1)).map_or_else(String::new, |line| pointed_at(number, line))
}

/// The table that a header begins. `listed` holds the lists of those before it, once for each of their tables.
fn table_of(header: &str, listed: &mut Vec<String>) -> String {
    let name = header.trim_start_matches('[').split(']').next().unwrap_or_default().trim();
    let tables_of = |list: &str, listed: &[String]| listed.iter().filter(|other| *other == list).count();
    let (outer, own) = name.rsplit_once('.').map_or((None, name), |(outer, own)| (Some(outer), own));
    let mut table = String::new();
    for part in outer.into_iter().flat_map(|outer| outer.split('.')) {
        table.push_str(part);
        let tables = tables_of(&table, listed);
        table = if tables > 0 { format!("{table}[{}].", tables - 1) } else { table + "." };
    }
    table.push_str(own);
    if !header.starts_with("[[") {
        return table;
    }
    let before = tables_of(&table, listed);
    listed.push(table.clone());
    format!("{table}[{before}]")
}

/// A line of a file with a caret under each letter.
fn pointed_at(number: usize, line: &str) -> String {
    let trimmed = line.trim_start();
    let column = line.len() - trimmed.len() + 1;
    let margin = " ".repeat(number.to_string().len());
    let carets = format!("{}{}", " ".repeat(column - 1), "^".repeat(trimmed.trim_end().len().max(1)));
    format!("\n  at line {number}, column {column}\n{margin} |\n{number} | {line}\n{margin} | {carets}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_hand_gets_a_suggestion() {
        let message = with_suggestion("unknown field `pgae_size`, expected one of `channels`, `page_size`");
        assert!(message.ends_with("did you mean `page_size`?"), "{message}");
    }

    #[test]
    fn types_are_told_without_the_names_that_rust_has_for_them() {
        #[derive(Debug, serde::Deserialize)]
        #[allow(dead_code)] // only read
        struct Inner {
            deep: Option<u8>,
        }
        #[derive(Debug, serde::Deserialize)]
        #[allow(dead_code)]
        struct Keys {
            count: Option<u64>,
            small: Option<u32>,
            some: Option<std::num::NonZeroU32>,
            share: Option<f64>,
            flag: Option<bool>,
            name: Option<String>,
            list: Option<Vec<u64>>,
            pair: Option<(u64, u64)>,
            table: Option<Inner>,
            map: Option<std::collections::BTreeMap<String, String>>,
            file: Option<std::path::PathBuf>,
            #[serde(default)]
            order: crate::config::PulseOrderConfig,
        }
        let cases = [
            ("count = 'x'", "a whole number is wanted, not \"x\""),
            ("count = ', expected u8'", "a whole number is wanted, not \", expected u8\""),
            ("count = 1.5", "a whole number is wanted, not 1.5"),
            ("count = -1", "a whole number is wanted, not -1"),
            ("small = 5000000000", "a whole number of at most 4294967295 is wanted, not 5000000000"),
            ("some = 0", "a whole number from 1 to 4294967295 is wanted, not 0"),
            ("share = 'half'", "a number is wanted, not \"half\""),
            ("flag = 1", "true or false is wanted, not 1"),
            ("name = 1", "a text is wanted, not 1"),
            ("list = 1", "a list is wanted, not 1"),
            ("pair = [1]", "a list of 2 is wanted, not a list of 1"),
            ("table = []", "a table is wanted, not a list of 0"),
            ("table = 1", "a table is wanted, not 1"),
            ("map = true", "a table is wanted, not true"),
            ("file = 1", "the name of a file is wanted, not 1"),
            ("name = {}", "a text is wanted, not a table"),
            ("order = 3", "a name is wanted"),
            ("order = 'turned'", "unknown name `turned`, expected `together` or `in-turn`"),
        ];
        for (text, told) in cases {
            let error = toml::from_str::<Keys>(text).expect_err(text).to_string();
            let message = with_suggestion(&error);
            assert!(message.lines().any(|line| line == told), "{text}: {message}");
        }
        assert_eq!(with_suggestion("nand: missing field `read`"), "nand: the key `read` is missing");
    }

    #[test]
    fn only_what_is_no_toml_is_an_error_of_parsing() {
        let told = |text: &str| {
            let error = toml::from_str::<ninescope_generators::JobConfig>(text).expect_err(text);
            of_toml(text, &error)
        };
        for (text, problem) in [("rw = 'read'\nbss = '4k'", "unknown field `bss`"), ("\niodepth = 'x'", "is wanted")] {
            let told = told(text);
            assert!(told.contains("\n  at line 2, column "), "{told}");
            assert!(told.lines().next().is_some_and(|first| first.contains(problem)), "{told}");
        }
        assert!(told("rw = read").starts_with("TOML parse error at line 1, column 6"), "{}", told("rw = read"));
    }

    #[test]
    fn a_key_is_found_in_its_own_table() {
        let text = "[a]\nx = 1\n[b]\n  x = 2 # two\n";
        let message = at_key(text, "b.x", "is too small");
        assert!(message.contains("line 4, column 3") && message.contains("x = 2 # two"), "{message}");
        assert_eq!(at_key(text, "c.x", "is missing"), "c.x is missing");
    }

    #[test]
    fn tables_of_a_list_are_counted_and_a_table_is_its_header() {
        let text = "[[jobs]]\nx = 1\n[other]\nx = 2\n[[jobs]]\n  x = 3\n";
        assert!(location(text, "jobs[0].x").contains("line 2,"));
        assert!(location(text, "jobs[1].x").contains("line 6, column 3"));
        assert!(location(text, "jobs[1]").contains("line 5,") && location(text, "other").contains("line 3,"));
        assert_eq!(location(text, "jobs[2].x"), "");
        let nested = "[[a]]\n[[a.b]]\nx = 1\n[[a.b]]\n[[a]]\ny = 2\n[[a.b]]\nx = 3\n[a.c]\n";
        assert!(location(nested, "a[0].b[0].x").contains("line 3,") && location(nested, "a[1].c").contains("line 9,"));
        assert!(
            location(nested, "a[0].b[1]").contains("line 4,") && location(nested, "a[1].b[0].x").contains("line 8,")
        );
        assert!(nearest_location(nested, "a[0].b[1].x").contains("line 4,"));
        assert_eq!(nearest_location(nested, "z"), "");
    }
}
