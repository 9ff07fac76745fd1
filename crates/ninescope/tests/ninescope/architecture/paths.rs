//! What a source file of a crate names of other files of that crate: `crate::`, `super::` and `self::`, lists in braces taken
//! apart, and names that a module shows of another followed to where they lie.

use std::collections::{BTreeMap, BTreeSet};

/// The place of a module within its crate: nothing for the crate's root, `["flash", "line"]` for `flash/line.rs`.
pub type Place = Vec<String>;

/// A path as it is written, one word each.
type Words = Vec<String>;

/// Every module of a crate with its code, by place.
pub struct Modules {
    codes: BTreeMap<Place, String>,
    /// What the `use` lines of a module bring in, by the name under which they do.
    brought_in: BTreeMap<Place, BTreeMap<String, Words>>,
}

impl Modules {
    pub fn new(codes: BTreeMap<Place, String>) -> Self {
        let brought_in = codes.iter().map(|(place, code)| (place.clone(), uses_of(code))).collect();
        Self { codes, brought_in }
    }

    /// Every module with the others that it names.
    pub fn arrows(&self) -> BTreeMap<Place, BTreeSet<Place>> {
        let named = |(place, code): (&Place, &String)| {
            let others = paths_of(code).into_iter().map(|path| self.resolve(place, &path, 0));
            (place.clone(), others.filter(|other| other != place).collect())
        };
        self.codes.iter().map(named).collect()
    }

    /// The module in which lies what a path names that stands in another. What is of another crate lies where it is brought in.
    fn resolve(&self, within: &Place, path: &[String], depth: usize) -> Place {
        let mut place = within.clone();
        let mut words = path.iter().peekable();
        while let Some(word) = words.next_if(|word| ["crate", "super", "self"].contains(&word.as_str())) {
            match word.as_str() {
                "crate" => place.clear(),
                "super" => drop(place.pop()),
                _ => {}
            }
        }
        while let Some(word) = words.next() {
            let inner: Place = place.iter().chain([word]).cloned().collect();
            if self.codes.contains_key(&inner) {
                place = inner;
                continue;
            }
            let Some(shown) = self.brought_in[&place].get(word).filter(|_| depth < 5) else { return place };
            let full: Words = shown.iter().chain(words).cloned().collect();
            return self.resolve(&place, &full, depth + 1);
        }
        place
    }
}

/// Names, `::`, braces, commas, and a dot for everything else; comments are left out.
fn tokens(code: &str) -> Vec<String> {
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code: Vec<char> = lines.collect::<Vec<_>>().join("\n").chars().collect();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < code.len() {
        let begin = at;
        while at < code.len() && (code[at].is_alphanumeric() || code[at] == '_') {
            at += 1;
        }
        if at > begin {
            tokens.push(code[begin..at].iter().collect());
        } else if code[at..].starts_with(&[':', ':']) {
            tokens.push("::".to_owned());
            at += 2;
        } else {
            let known = ['{', '}', ','].contains(&code[at]);
            if !code[at].is_whitespace() {
                tokens.push(if known { code[at].to_string() } else { ".".to_owned() });
            }
            at += 1;
        }
    }
    tokens
}

/// Takes a tree of paths apart that begins there; returns where it ends.
fn take_apart(tokens: &[String], mut at: usize, before: &Words, found: &mut Vec<(Words, String)>) -> usize {
    let mut path = before.clone();
    let is_name = |token: &String| token.chars().all(|character| character.is_alphanumeric() || character == '_');
    while let Some(token) = tokens.get(at).filter(|token| is_name(token)) {
        path.push(token.clone());
        at += 1;
        if tokens.get(at).is_none_or(|token| token != "::") {
            break;
        }
        at += 1;
        if tokens.get(at).is_some_and(|token| token == "{") {
            at += 1;
            while tokens.get(at).is_some_and(|token| token != "}") {
                at = take_apart(tokens, at, &path, found);
                at += usize::from(tokens.get(at).is_some_and(|token| token != "}"));
            }
            return at + 1;
        }
    }
    let named_anew = tokens.get(at).is_some_and(|token| token == "as");
    let name = if named_anew { tokens.get(at + 1) } else { path.last() };
    found.push((path.clone(), name.cloned().unwrap_or_default()));
    at + 2 * usize::from(named_anew)
}

/// Every path of a code that begins in its crate.
fn paths_of(code: &str) -> Vec<Words> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let begins = ["crate", "super", "self"].contains(&tokens[at].as_str())
            && tokens.get(at + 1).is_some_and(|next| next == "::")
            && (at == 0 || tokens[at - 1] != "::");
        if begins {
            take_apart(&tokens, at, &Words::new(), &mut found);
        }
    }
    found.into_iter().map(|(path, _)| path).collect()
}

/// What the `use` lines of a code bring in, by name.
fn uses_of(code: &str) -> BTreeMap<String, Words> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if tokens[at] == "use" {
            take_apart(&tokens, at + 1, &Words::new(), &mut found);
        }
    }
    found.into_iter().map(|(path, name)| (name, path)).collect()
}

#[test]
fn a_path_is_found_wherever_it_is_written() {
    let code = "use crate::meter::{Parts, inner::{One, Two as Other}};\n// crate::nobody\nlet x = super::run::now();\n\
                use crate::{\n    host::{Host, Lane},\n    flash,\n};";
    let found: Vec<String> = paths_of(code).iter().map(|path| path.join("::")).collect();
    let expected = [
        "crate::meter::Parts",
        "crate::meter::inner::One",
        "crate::meter::inner::Two",
        "super::run::now",
        "crate::host::Host",
        "crate::host::Lane",
        "crate::flash",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_name_is_followed_to_the_file_in_which_it_lies() {
    let place = |text: &str| -> Place { text.split_whitespace().map(str::to_owned).collect() };
    let modules = Modules::new(BTreeMap::from([
        (place(""), "mod room;\npub use room::shelf::Book;\nuse std::fmt;".to_owned()),
        (place("room"), "mod shelf;\nmod desk;\nmod lamp;\nuse desk::Pen as Quill;\nstruct Key;".to_owned()),
        (place("room shelf"), "use super::desk;\nuse std::fmt;".to_owned()),
        (place("room desk"), "use super::{Key, lamp::Light};\nuse crate::Book;".to_owned()),
        (place("room lamp"), "use crate::room::Quill;\nuse super::super::room;".to_owned()),
    ]));
    let arrows = modules.arrows();
    let of = |from: &str| arrows[&place(from)].iter().map(|to| to.join(" ")).collect::<Vec<_>>();
    assert_eq!(of("room shelf"), ["room desk"]);
    assert_eq!(of("room desk"), ["room", "room lamp", "room shelf"]);
    assert_eq!(of("room lamp"), ["room", "room desk"]);
}
