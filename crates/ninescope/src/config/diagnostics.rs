//! Making errors in TOML point at their place and suggest what was meant.

/// The candidate closest to `word`, if it is close enough to be a slip of the hand.
pub fn suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let closest = candidates.into_iter().map(|candidate| (edit_distance(word, candidate), candidate)).min()?;
    (closest.0 <= 1 + word.len() / 4).then_some(closest.1)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// Adds "did you mean" to serde's "unknown field" and "unknown variant" messages.
pub fn with_suggestion(message: &str) -> String {
    for marker in ["unknown field `", "unknown variant `"] {
        let Some(start) = message.find(marker) else { continue };
        let rest = &message[start + marker.len()..];
        let Some((word, expected)) = rest.split_once('`') else { continue };
        let candidates: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        if let Some(meant) = suggestion(word, candidates) {
            return format!("{}\n  did you mean `{meant}`?", message.trim_end());
        }
    }
    message.trim_end().to_owned()
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
    fn a_slip_of_the_hand_gets_a_suggestion_and_nonsense_does_not() {
        let keys = ["channels", "planes_per_die", "page_size"];
        assert_eq!(suggestion("chanels", keys), Some("channels"));
        assert_eq!(suggestion("plnaes_per_die", keys), Some("planes_per_die"));
        assert_eq!(suggestion("temperature", keys), None);
        let message = with_suggestion("unknown field `pgae_size`, expected one of `channels`, `page_size`");
        assert!(message.ends_with("did you mean `page_size`?"), "{message}");
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
