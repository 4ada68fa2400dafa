//! Inputs made from others. Documents are changed as trees, so that most of them still pass the
//! parser and reach what comes after it.
//!
//! What must stay: the same stream gives the same input, so draws depend on the stream alone; an
//! input is at most `MAX_BYTES` long. Free: what is drawn and how often, `NUMBERS` and the texts:
//! kept inputs are files and stay as they are. Tests by part: `equal_seeds_make_equal_inputs`
//! (`mutate`, of runs), the tests `keep_the_promises` of mutations.rs (at least a tenth of what
//! `document` and `lines` make must load). What each of `change`, `other_word`, `other_number`,
//! `other_text`, `texts`, `change_list`, `change_table`, `nested`, `bytes`, `one_of` and `index`
//! draws has no test of its own: another draw is as good as long as it repeats.
//!
//! Callers: fuzz/tests/all/mutations.rs and fuzz/guided/src/lib.rs (`mutate`), words.rs
//! (`document`, `lines`, `other_number`, `index`, `one_of`). Rule: docs/internals/checks.md.
//!
//! Tests: fuzz/tests/all/mutations.rs

use crate::tree::{Form, Tree};
use crate::words;
use wakeplace_workload::Stream;

/// What an input of a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A TOML document.
    Toml,
    /// A JSON document.
    Json,
    /// A run as [`crate::case`] reads it.
    Case,
    /// Lines of text.
    Lines,
    /// Anything.
    Bytes,
}

/// Numbers at which something changes.
const NUMBERS: [&str; 30] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "31",
    "32",
    "63",
    "64",
    "99",
    "100",
    "101",
    "255",
    "256",
    "999",
    "1000",
    "1023",
    "1024",
    "1025",
    "65535",
    "1000000",
    "4294967295",
    "4294967296",
    "1000000000000000",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "0.5",
    "1e300",
];

/// Strings at which something changes.
const TEXTS: [&str; 14] = [
    "",
    " ",
    "a",
    "0",
    "-",
    "/",
    "../a",
    "a\nb",
    "\u{1b}[31ma",
    "\u{0}",
    "{cluster}",
    "=1+1",
    "ä€😀",
    "all",
];

/// Deepest nesting that is tried.
const DEEP: u64 = 300;

/// Longest input that is made, bytes.
pub const MAX_BYTES: usize = 64 << 10;

/// An input like `seed`, with parts of `donor`. The same stream gives the same input.
#[must_use]
pub fn mutate(shape: Shape, seed: &[u8], donor: &[u8], random: &mut Stream) -> Vec<u8> {
    // One change most of the time: what is refused for one reason hides the others.
    let changes = match random.below(3) {
        0 => 2 + random.below(3),
        _ => 1,
    };
    let mut changed = match shape {
        Shape::Toml => document(Form::Toml, seed, donor, changes, random),
        Shape::Json => document(Form::Json, seed, donor, changes, random),
        Shape::Case => Some(words::mutate(seed, donor, changes, random)),
        Shape::Lines => Some(lines(seed, donor, changes, random)),
        Shape::Bytes => None,
    }
    .unwrap_or_else(|| bytes(seed, donor, changes, random));
    changed.truncate(MAX_BYTES);
    changed
}

/// One of a list.
pub(crate) fn one_of<'a, T: ?Sized>(list: &[&'a T], random: &mut Stream) -> &'a T {
    list[random.below(list.len() as u64) as usize]
}

/// A position below `length`, which is above 0.
pub(crate) fn index(length: usize, random: &mut Stream) -> usize {
    random.below(length as u64) as usize
}

/// A document with some changes; None if `seed` is no document. Now and then bytes are changed too.
pub(crate) fn document(
    form: Form,
    seed: &[u8],
    donor: &[u8],
    changes: u64,
    random: &mut Stream,
) -> Option<Vec<u8>> {
    let mut tree = Tree::read(seed, form)?;
    let donor = Tree::read(donor, form);
    for _ in 0..changes {
        let at = index(tree.count(), random);
        let whole = tree.clone();
        if let Some(node) = tree.node(at) {
            change(node, &whole, donor.as_ref(), random);
        }
    }
    let text = tree.write(form).into_bytes();
    Some(match random.below(40) {
        0 => bytes(&text, &text, 1, random),
        _ => text,
    })
}

/// Changes the node itself, in a way that its kind allows: a word, a text, a list or a table.
/// `whole` is the document that it is in; `donor` is another one that values may come from.
fn change(node: &mut Tree, whole: &Tree, donor: Option<&Tree>, random: &mut Stream) {
    match node {
        Tree::Word(word) => *node = other_word(word, random),
        Tree::Text(text) => *node = other_text(text, whole, random),
        Tree::List(items) => change_list(items, random),
        Tree::Table(members) => change_table(members, whole, donor, random),
    }
}

/// What stands in place of a word: another word, the word as a text, or the word nested.
fn other_word(word: &str, random: &mut Stream) -> Tree {
    let word = match random.below(12) {
        0 => return Tree::Text(word.to_owned()),
        1 => one_of(&["true", "false"], random).to_owned(),
        2 => return nested(Tree::Word(word.to_owned()), random),
        _ => other_number(word, random),
    };
    Tree::Word(word)
}

/// What stands in place of a number: one near it, or one of `NUMBERS`, where something changes.
pub(crate) fn other_number(word: &str, random: &mut Stream) -> String {
    if let Ok(number) = word.parse::<i128>() {
        match random.below(8) {
            0 => return (number + 1).to_string(),
            1 => return (number - 1).to_string(),
            2 => return (number / 2).to_string(),
            3 => return number.saturating_mul(2).to_string(),
            4 => return number.saturating_mul(10).to_string(),
            5 => return (-number).to_string(),
            _ => {}
        }
    }
    one_of(&NUMBERS, random).to_owned()
}

/// What stands in place of a text: the text changed, another one of `whole`, or one of `TEXTS`.
fn other_text(text: &str, whole: &Tree, random: &mut Stream) -> Tree {
    Tree::Text(match random.below(8) {
        0 | 1 => one_of(&TEXTS, random).to_owned(),
        2 => text.repeat(2 + index(40, random)),
        3 => format!("{text}{}", one_of(&TEXTS, random)),
        // Another string of the same document: names that clash, and that mean something else.
        4 | 5 => {
            let mut all = Vec::new();
            texts(whole, &mut all);
            all[index(all.len(), random)].to_owned()
        }
        6 if !text.is_empty() => {
            let mut characters: Vec<char> = text.chars().collect();
            characters.remove(index(characters.len(), random));
            characters.into_iter().collect()
        }
        _ => words::digits_changed(text, random),
    })
}

/// Collects all texts below a node into `all`, in their order.
fn texts<'a>(tree: &'a Tree, all: &mut Vec<&'a str>) {
    match tree {
        Tree::Word(_) => {}
        Tree::Text(text) => all.push(text),
        Tree::List(items) => items.iter().for_each(|item| texts(item, all)),
        Tree::Table(members) => members.iter().for_each(|(_, value)| texts(value, all)),
    }
}

/// Changes a list: a member goes, doubles, moves or is nested, or all go.
fn change_list(items: &mut Vec<Tree>, random: &mut Stream) {
    if items.is_empty() {
        items.push(Tree::Word(one_of(&NUMBERS, random).to_owned()));
        return;
    }
    let at = index(items.len(), random);
    match random.below(7) {
        0 => items.clear(),
        1 | 2 => drop(items.remove(at)),
        3 => items.insert(at, items[at].clone()),
        4 => items.swap(0, at),
        5 => {
            let copies = vec![items[at].clone(); 2 + index(40, random)];
            items.extend(copies);
        }
        _ => items[at] = nested(items[at].clone(), random),
    }
}

/// Changes a table: a member goes, doubles, moves, or gets another name or the donor's value.
fn change_table(
    members: &mut Vec<(String, Tree)>,
    whole: &Tree,
    donor: Option<&Tree>,
    random: &mut Stream,
) {
    if members.is_empty() {
        members.push((one_of(&TEXTS, random).to_owned(), Tree::Text(String::new())));
        return;
    }
    let at = index(members.len(), random);
    match random.below(8) {
        0 | 1 => drop(members.remove(at)),
        2 => {
            let again = members[at].clone();
            members.push(again);
        }
        3 => members[at].0 = one_of(&TEXTS, random).to_owned(),
        4 => {
            // The same contents under another name, as two tasks or two states have them.
            let copy = members[at].1.clone();
            let name = words::digits_changed(&format!("{}1", members[at].0), random);
            members.push((name, copy));
        }
        5 => {
            let moved = members.remove(at);
            members.insert(0, moved);
        }
        _ => {
            // What another document, or another place of this one, has under this key.
            let mut found = Vec::new();
            donor.unwrap_or(whole).under(&members[at].0, &mut found);
            if !found.is_empty() {
                members[at].1 = found[index(found.len(), random)].clone();
            }
        }
    }
}

/// The tree inside of lists and tables, up to `DEEP` levels, mostly few.
fn nested(tree: Tree, random: &mut Stream) -> Tree {
    let most = random.below(DEEP);
    let depth = 1 + random.below(1 + most);
    (0..depth).fold(tree, |inner, _| match random.below(2) {
        0 => Tree::List(vec![inner]),
        _ => Tree::Table(vec![("a".to_owned(), inner)]),
    })
}

/// A text whose lines are dropped, doubled, moved, taken from `donor`, or have other numbers.
pub(crate) fn lines(seed: &[u8], donor: &[u8], changes: u64, random: &mut Stream) -> Vec<u8> {
    let split = |bytes: &[u8]| -> Vec<Vec<u8>> {
        bytes
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect()
    };
    let mut all = split(seed);
    let others = split(donor);
    for _ in 0..changes {
        let at = index(all.len(), random);
        match random.below(7) {
            0 if all.len() > 1 => drop(all.remove(at)),
            1 => all.insert(at, all[at].clone()),
            2 => all.swap(0, at),
            3 => all.insert(at, others[index(others.len(), random)].clone()),
            4 => all[at] = bytes(&all[at], &all[at], 1, random),
            _ => {
                let line = String::from_utf8_lossy(&all[at]).into_owned();
                all[at] = words::digits_changed(&line, random).into_bytes();
            }
        }
    }
    all.join(&b'\n')
}

/// An input whose bytes are changed, dropped, doubled, or taken from `donor`.
pub(crate) fn bytes(seed: &[u8], donor: &[u8], changes: u64, random: &mut Stream) -> Vec<u8> {
    let mut all = seed.to_vec();
    for _ in 0..changes {
        if all.is_empty() {
            all.push(random.below(256) as u8);
            continue;
        }
        let at = index(all.len(), random);
        let until = at + index((all.len() - at).min(64), random);
        match random.below(6) {
            0 => all[at] = random.below(256) as u8,
            1 => all[at] ^= 1 << random.below(8),
            2 => drop(all.drain(at..until)),
            3 => all.truncate(at),
            4 => {
                let part = all[at..until].to_vec();
                all.splice(at..at, part);
            }
            _ if donor.is_empty() => all[at] = 0,
            _ => {
                let from = index(donor.len(), random);
                let part = donor[from..(from + 64).min(donor.len())].to_vec();
                all.splice(at..until, part);
            }
        }
    }
    all
}
