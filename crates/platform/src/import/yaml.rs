//! A YAML document as a tree, from the events of `saphyr-parser`. Tags are left out. Aliases are
//! written out in full, so there is a limit on what they add: nine lines of aliases can stand for a
//! billion values (docs/guide/import.md, "What is read"). The tree's size is bounded by the file's.
//!
//! Called by `lisa.rs`. Keys of a map are in the order of the alphabet.
//!
//! What must stay: depth and copies are bounded (`MAX_DEPTH`, `MAX_COPIED_BYTES`), as a file may
//! come from anybody; a back reference is nothing, as LISA's objects point at their parents; places
//! count from 1. Free: what leaves the files of imports as they are (ARCHITECTURE.md, "What a
//! change may touch"), and words of messages that no test quotes. Tests by part:
//! `the_forms_of_plat_info` (`read`, `scalar`), `anchors_aliases_and_merged_maps` (`alias`,
//! `merge`), `what_is_no_yaml_is_refused_with_its_place` (`wrong`),
//! `levels_are_limited_through_aliases_too` (`begin`, `add`), `copies_are_limited` (`copy`),
//! `damaged_documents` (every byte), mod.rs::`parts_of_a_plat_info_that_are_pickled`
//! (`is_written_out`), mod.rs::`capacities_of_an_energy_model_may_be_fractions` (`whole`),
//! `the_forms_of_plat_info` (`get`, `text`, `number`, `list`, `take`, `end`),
//! `levels_are_limited_through_aliases_too` (`too_deep`).
//!
//! Tests: crates/platform/src/import/yaml/tests.rs, crates/platform/tests/all/import/mod.rs,
//! crates/platform/tests/all/import/hostile.rs

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};
use std::collections::BTreeMap;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Yaml {
    Scalar(String),
    List(Vec<Yaml>),
    Map(BTreeMap<String, Yaml>),
    Nothing,
}

impl Yaml {
    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Yaml> {
        match self {
            Self::Map(entries) => entries.get(key),
            _ => None,
        }
    }

    /// The text of a plain value; `None` for a list or map.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number of digits only.
    pub(super) fn number(&self) -> Option<u64> {
        crate::sysfs::number(self.text()?)
    }

    /// A number without its decimals: `446.0` is 446.
    pub(super) fn whole(&self) -> Option<u64> {
        let text = self.text()?;
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        crate::sysfs::number(decimals).and_then(|_| crate::sysfs::number(whole))
    }

    /// Lists and maps of plain values all through. Not so are the objects and pickles of Python
    /// programs, which YAML can hold, too: a pickle is one text, an object has `args` or `state`.
    pub(super) fn is_written_out(&self) -> bool {
        const OF_OBJECTS: [&str; 6] = ["args", "kwds", "state", "listitems", "dictitems", NO_TEXT];
        let plain = |value: &Yaml| matches!(value, Self::Scalar(_)) || value.is_written_out();
        match self {
            Self::Scalar(_) => false,
            Self::Nothing => true,
            Self::List(items) => {
                let mut items = items.iter();
                items.all(|item| !matches!(item, Self::Map(_)) && plain(item))
            }
            Self::Map(map) => {
                map.values().all(plain) && !OF_OBJECTS.iter().any(|key| map.contains_key(*key))
            }
        }
    }

    /// The values of a list; `None` for anything else.
    pub(super) fn list(&self) -> Option<&[Yaml]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }
}

/// What is wrong, and where (both from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct YamlError {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) problem: String,
}

/// Deepest nesting, that of aliases included: what walks the tree calls itself.
const MAX_DEPTH: usize = 32;

/// Most bytes of memory, about, of the copies for anchors and aliases.
const MAX_COPIED_BYTES: usize = 16 << 20;

/// Stands for all entries of a map whose keys are no texts; nothing that is read has such.
const NO_TEXT: &str = "? ";

/// The key whose maps are taken into the map that has it, as of YAML 1.1.
const MERGE: &str = "<<";

/// Reads a document.
pub(super) fn read(text: &str) -> Result<Yaml, YamlError> {
    let mut tree = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| wrong(text, *error.marker(), error.info()))?;
        tree.take(event)
            .map_err(|problem| wrong(text, span.start, &problem))?;
    }
    Ok(tree.root.unwrap_or(Yaml::Nothing))
}

/// What is found at the end of a file is said of its last line, not of one that is not there.
fn wrong(text: &str, at: Marker, problem: &str) -> YamlError {
    let last = text.lines().count().max(1);
    let (line, column) = match at.line() > last {
        true => (last, text.lines().last().unwrap_or("").chars().count()),
        false => (at.line(), at.col()),
    };
    YamlError {
        line,
        column: column + 1,
        problem: problem.to_owned(),
    }
}

/// A value with what it takes to write it out once more.
#[derive(Clone, Debug)]
struct Node {
    value: Yaml,
    /// Levels below it.
    height: usize,
    /// Its memory, about.
    bytes: usize,
}

/// A collection that is not yet at its end.
struct Open {
    anchor: usize,
    height: usize,
    bytes: usize,
    kind: Kind,
}

enum Kind {
    List(Vec<Yaml>),
    Map {
        entries: BTreeMap<String, Yaml>,
        /// Maps of the key `<<`, in the order in which they count.
        merged: Vec<Yaml>,
        /// The key whose value comes next.
        key: Option<String>,
    },
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    /// Values that have an anchor, by its number; those that are not at their end are not here.
    anchored: BTreeMap<usize, Node>,
    /// What was copied for anchors and aliases.
    copied_bytes: usize,
    documents: usize,
    root: Option<Yaml>,
}

impl Builder {
    /// One event of the parser: a value begins, ends, or is there.
    fn take(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err("a second document".to_owned());
                }
            }
            Event::Scalar(text, style, anchor, _) => self.add(scalar(&text, style), anchor)?,
            Event::Alias(anchor) => {
                let node = self.alias(anchor)?;
                self.add(node, 0)?;
            }
            Event::SequenceStart(anchor, _) => self.begin(anchor, Kind::List(Vec::new()))?,
            Event::MappingStart(anchor, _) => {
                let kind = Kind::Map {
                    entries: BTreeMap::new(),
                    merged: Vec::new(),
                    key: None,
                };
                self.begin(anchor, kind)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end()?,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    /// The value of an anchor, once more.
    /// Inside of the value that it stands for it is nothing: objects that LISA writes point back at
    /// their parents.
    fn alias(&mut self, anchor: usize) -> Result<Node, String> {
        let Some(node) = self.anchored.get(&anchor) else {
            return Ok(Node {
                value: Yaml::Nothing,
                height: 0,
                bytes: size_of::<Node>(),
            });
        };
        copy(node, &mut self.copied_bytes)
    }

    /// A list or map begins; too many in each other are refused.
    fn begin(&mut self, anchor: usize, kind: Kind) -> Result<(), String> {
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep());
        }
        self.open.push(Open {
            anchor,
            height: 0,
            bytes: size_of::<Node>(),
            kind,
        });
        Ok(())
    }

    /// The innermost list or map ends, and becomes a value of the one around it.
    fn end(&mut self) -> Result<(), String> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let value = match open.kind {
            Kind::List(items) => Yaml::List(items),
            Kind::Map {
                mut entries,
                merged,
                ..
            } => {
                for map in merged {
                    merge(&mut entries, map)?;
                }
                Yaml::Map(entries)
            }
        };
        let node = Node {
            value,
            height: open.height + 1,
            bytes: open.bytes,
        };
        self.add(node, open.anchor)
    }

    /// Puts a value into what is open.
    fn add(&mut self, node: Node, anchor: usize) -> Result<(), String> {
        if self.open.len() + node.height > MAX_DEPTH {
            return Err(too_deep());
        }
        if anchor > 0 {
            let kept = copy(&node, &mut self.copied_bytes)?;
            self.anchored.insert(anchor, kept);
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node.value);
            return Ok(());
        };
        open.height = open.height.max(node.height);
        open.bytes = open.bytes.saturating_add(node.bytes);
        match &mut open.kind {
            Kind::List(items) => items.push(node.value),
            Kind::Map {
                entries,
                merged,
                key,
            } => match (key.take(), node.value) {
                (None, Yaml::Scalar(text)) => *key = Some(text),
                (None, Yaml::Nothing) => *key = Some(String::new()),
                (None, _) => *key = Some(NO_TEXT.to_owned()),
                (Some(key), _) if key == NO_TEXT => {
                    entries.insert(key, Yaml::Nothing);
                }
                (Some(key), value) if key == MERGE => merged.push(value),
                (Some(key), value) => {
                    if entries.contains_key(&key) {
                        let key = wakeplace_text::shorten(&key);
                        return Err(format!("`{key}` for the second time"));
                    }
                    entries.insert(key, value);
                }
            },
        }
        Ok(())
    }
}

/// A copy, which counts.
fn copy(node: &Node, copied_bytes: &mut usize) -> Result<Node, String> {
    *copied_bytes = copied_bytes.saturating_add(node.bytes);
    if *copied_bytes > MAX_COPIED_BYTES {
        let most = MAX_COPIED_BYTES >> 20;
        return Err(format!("anchors and aliases for more than {most} MiB"));
    }
    Ok(node.clone())
}

/// Adds the entries of a map, or of a list of maps, whose keys are not there yet.
fn merge(entries: &mut BTreeMap<String, Yaml>, from: Yaml) -> Result<(), String> {
    match from {
        Yaml::Map(map) => {
            for (key, value) in map {
                entries.entry(key).or_insert(value);
            }
            Ok(())
        }
        Yaml::List(maps) => maps.into_iter().try_for_each(|map| merge(entries, map)),
        _ => Err(format!("`{MERGE}` of what is no map")),
    }
}

/// A plain value; an unquoted `~`, `null` or nothing is no value.
fn scalar(text: &str, style: ScalarStyle) -> Node {
    let nothing = style == ScalarStyle::Plain && matches!(text, "" | "~" | "null");
    Node {
        value: match nothing {
            true => Yaml::Nothing,
            false => Yaml::Scalar(text.to_owned()),
        },
        height: 0,
        bytes: size_of::<Node>() + text.len(),
    }
}

/// What is said of a file that is nested too far.
fn too_deep() -> String {
    format!("more than {MAX_DEPTH} levels")
}

#[cfg(test)]
mod tests;
