//! What a misspelt word was meant to be.

/// What names go by elsewhere, and here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("cflru", "clean-first"),
    ("dftl", "entries"),
    ("page-level", "ideal"),
    ("rga", "d-choices"),
    ("rr", "round-robin"),
    ("write-back", "wb"),
    ("wrr", "weighted-round-robin"),
];

/// The candidate that `word` is another name of, or the one closest to it, if it is close enough to be a slip of the hand.
pub fn suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let spelled = word.to_ascii_lowercase().replace('_', "-");
    let meant = ELSEWHERE.iter().find(|(elsewhere, _)| *elsewhere == spelled).map(|(_, name)| *name);
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(name) = candidates.iter().copied().find(|name| Some(*name) == meant) {
        return Some(name);
    }
    // A single letter is no slip of a word, and what was typed is no news to whoever typed it.
    let is_near = |candidate: &&str| {
        let letters = word.chars().count().max(candidate.chars().count());
        let cost = edit_cost(word, candidate, &ALIKE);
        word.len() > 1 && (1..letters).contains(&cost) && cost <= 1 + word.len() / 4
    };
    candidates.into_iter().filter(is_near).min_by_key(|candidate| (edit_cost(word, candidate, &BY_HAND), *candidate))
}

/// What it costs to turn one word into another, letter by letter.
struct EditCosts {
    missing: usize,
    surplus: usize,
    replaced: usize,
    swapped: usize,
}

/// For how far words are apart.
const ALIKE: EditCosts = EditCosts { missing: 1, surplus: 1, replaced: 1, swapped: 1 };
/// For which of several near words was meant: whoever types fast or shortens a word leaves letters out and swaps them;
/// another letter is another word more often.
const BY_HAND: EditCosts = EditCosts { missing: 2, surplus: 3, replaced: 5, swapped: 2 };

/// What insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` cost at least.
fn edit_cost(a: &str, b: &str, costs: &EditCosts) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).map(|letters| letters * costs.missing).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i * costs.surplus];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + if a[i - 1] == b[j - 1] { 0 } else { costs.replaced };
            let mut least = replace.min(rows[i - 1][j] + costs.surplus).min(row[j - 1] + costs.missing);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + costs.swapped);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_something_has_elsewhere_is_understood_where_it_is_known() {
        assert_eq!(suggestion("CFLRU", ["lru", "clean-first"]), Some("clean-first"));
        assert_eq!(suggestion("cflru", ["lru", "fifo"]), Some("lru"), "where it is not, the nearest is meant");
    }

    #[test]
    fn a_slip_of_the_hand_gets_a_suggestion_and_nonsense_does_not() {
        let keys = ["channels", "planes_per_die", "page_size"];
        assert_eq!(suggestion("chanels", keys), Some("channels"));
        assert_eq!(suggestion("plnaes_per_die", keys), Some("planes_per_die"));
        assert_eq!(suggestion("temperature", keys), None);
        // Letters that differ altogether, one letter alone, and the word itself.
        assert_eq!(
            (suggestion("x", ["d", "rw"]), suggestion("a", ["at"]), suggestion("rw", ["rw"])),
            (None, None, None)
        );
        // Missing letters rather than another one: both are near.
        assert_eq!(suggestion("randrd", ["randrw", "randread", "read"]), Some("randread"));
        assert_eq!(suggestion("wirte", ["write", "read"]), Some("write"));
    }
}
