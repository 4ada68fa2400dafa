//! Values, arrays and objects (docs/guide/rt-app.md, "How a file is read").
//!
//! Called by `json::parse` for files of `rtapp`, `deadline.rs` and `limits.rs`. Depth is bounded as
//! json-c's (32), so recursion is, too. Order of members is the file's.
//!
//! What must stay: what json-c accepts, and the value that it makes of it: `010` is ten, whole
//! numbers saturate, words take either case; values of one text are counted and bounded. Free: what
//! leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages
//! that no test quotes. Tests by part: `numbers_are_decimal_and_saturate` (`number`),
//! `floats_are_told_from_integers` (`number_kind`, `number_ends`),
//! `words_take_either_case_and_strings_either_quote` (`word`, `null_or_nan`),
//! `comments_and_trailing_commas` (`array`, `object`),
//! `duplicate_keys_keep_the_first_place_and_the_last_value` (`insert`), `depth_ends_at_32_levels`
//! and `the_number_of_values_is_bounded` (`value`), `the_dialect_workgen` (`member`: a key without
//! a value), `every_file_is_read_as_rtapp_reads_it` (all of it). `parse`: all of these.
//!
//! Tests: crates/workload/src/json/tests.rs, crates/workload/tests/all/corpus.rs,
//! crates/workload/tests/all/rtapp_events.rs
use super::text::Text;
use super::{Kind, Member, Object, Value};
use crate::error::{Fault, FaultKind, Position};
use std::collections::BTreeMap;

/// Levels of values: json-c refuses a value that stands deeper (`JSON_TOKENER_DEFAULT_DEPTH`).
const MAX_LEVELS: usize = 32;

/// Values in one file; a bound on memory, far above any real file.
const MAX_VALUES: usize = 1_000_000;

/// A key that stands more than once in one object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Duplicate {
    pub(crate) key: String,
    pub(crate) first: Position,
    pub(crate) again: Position,
}

/// A text's first value and the duplicate keys in it.
#[derive(Debug, PartialEq)]
pub(crate) struct Document {
    pub(crate) root: Value,
    pub(crate) duplicates: Vec<Duplicate>,
    /// Keys without a value.
    pub(crate) valueless: Vec<Position>,
}

/// What is read besides json-c's dialect, as `doc/workgen` of rt-app rewrote it; the default is
/// nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extensions {
    /// All of several equal keys stay in their object.
    pub(crate) keep_duplicates: bool,
    /// Keys that begin with this word may stand without a value; it is then null.
    pub(crate) valueless: Option<&'static str>,
}

/// Reads the first value of a text; what follows is ignored, unless it begins a broken comment.
pub(crate) fn parse(bytes: &[u8], extensions: Extensions) -> Result<Document, Fault> {
    let mut reader = Reader {
        text: Text::new(bytes),
        extensions,
        values: 0,
        duplicates: Vec::new(),
        valueless: Vec::new(),
    };
    let root = reader.value(1)?;
    reader.text.skip_blanks()?;
    Ok(Document {
        root,
        duplicates: reader.duplicates,
        valueless: reader.valueless,
    })
}

struct Reader<'a> {
    text: Text<'a>,
    extensions: Extensions,
    values: usize,
    duplicates: Vec<Duplicate>,
    valueless: Vec<Position>,
}

impl Reader<'_> {
    /// Reads a value at that level (the root is level 1). Recursion ends at `MAX_LEVELS`.
    fn value(&mut self, level: usize) -> Result<Value, Fault> {
        self.text.skip_blanks()?;
        let at = self.text.at();
        if level > MAX_LEVELS {
            let message = format!("not JSON as json-c reads it: deeper than {MAX_LEVELS} levels");
            return Err(Fault::new(at, FaultKind::Syntax, message));
        }
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(Fault::unusable(
                at,
                format!("more than {MAX_VALUES} values"),
            ));
        }
        let kind = match self.text.peek() {
            Some(b'{') => self.object(level)?,
            Some(b'[') => self.array(level)?,
            Some(b'"' | b'\'') => Kind::Text(self.text.take_string()?),
            Some(b'-' | b'0'..=b'9') => self.number(level)?,
            Some(b't' | b'T') => self.word("true", Kind::Bool(true))?,
            Some(b'f' | b'F') => self.word("false", Kind::Bool(false))?,
            Some(b'i' | b'I') => self.word("Infinity", Kind::Float(f64::INFINITY))?,
            Some(b'n' | b'N') => self.null_or_nan()?,
            _ => return Err(self.text.fault("a value")),
        };
        Ok(Value { at, kind })
    }

    /// The rest of a word, and the value that it stands for.
    fn word(&mut self, word: &str, kind: Kind) -> Result<Kind, Fault> {
        self.text.take_word(word)?;
        Ok(kind)
    }

    /// Behind an `n`: `null` or `NaN`.
    fn null_or_nan(&mut self) -> Result<Kind, Fault> {
        self.text.take();
        match self.text.peek() {
            Some(b'a' | b'A') => self.word("aN", Kind::Float(f64::NAN)),
            _ => self.word("ull", Kind::Null),
        }
    }

    /// From `[` to `]`.
    fn array(&mut self, level: usize) -> Result<Kind, Fault> {
        self.text.take();
        let mut values = Vec::new();
        loop {
            self.text.skip_blanks()?;
            if self.text.peek() == Some(b']') {
                break;
            }
            values.push(self.value(level + 1)?);
            self.text.skip_blanks()?;
            match self.text.peek() {
                Some(b',') => self.text.take(),
                Some(b']') => break,
                _ => return Err(self.text.fault("`,` or `]`")),
            };
        }
        self.text.take();
        Ok(Kind::Array(values))
    }

    /// From `{` to `}`; `insert` says what becomes of equal keys.
    fn object(&mut self, level: usize) -> Result<Kind, Fault> {
        self.text.take();
        let mut object = Object::default();
        let mut index = BTreeMap::new();
        loop {
            self.text.skip_blanks()?;
            if self.text.peek() == Some(b'}') {
                break;
            }
            let member = self.member(level)?;
            self.insert(&mut object, &mut index, member);
            self.text.skip_blanks()?;
            match self.text.peek() {
                Some(b',') => self.text.take(),
                Some(b'}') => break,
                _ => return Err(self.text.fault("`,` or `}`")),
            };
        }
        self.text.take();
        Ok(Kind::Object(object))
    }

    /// A key with its value.
    fn member(&mut self, level: usize) -> Result<Member, Fault> {
        let at = self.text.at();
        let Some(b'"' | b'\'') = self.text.peek() else {
            return Err(self.text.fault("a key in quotes, or `}`"));
        };
        let key = self.text.take_string()?;
        self.text.skip_blanks()?;
        let may_lack = |word: &str| key.starts_with(word);
        match self.text.peek() {
            Some(b':') => self.text.take(),
            Some(b',' | b'}') if self.extensions.valueless.is_some_and(may_lack) => {
                self.valueless.push(at);
                let kind = Kind::Null;
                let value = Value { at, kind };
                return Ok(Member { key, at, value });
            }
            _ => {
                let expected = format!("`:` and a value after the key \"{key}\"");
                return Err(self.text.fault(&expected));
            }
        };
        let value = self.value(level + 1)?;
        Ok(Member { key, at, value })
    }

    /// Keeps the place of the first of equal keys and the value of the last.
    fn insert(&mut self, object: &mut Object, index: &mut BTreeMap<String, usize>, new: Member) {
        match index.get(&new.key) {
            Some(&place) => {
                let old = &mut object.members[place];
                self.duplicates.push(Duplicate {
                    key: new.key.clone(),
                    first: old.at,
                    again: new.at,
                });
                match self.extensions.keep_duplicates {
                    true => object.members.push(new),
                    false => *old = new,
                }
            }
            None => {
                index.insert(new.key.clone(), object.members.len());
                object.members.push(new);
            }
        }
    }

    /// A number: which characters belong to it, and what may follow, is json-c's own rule.
    fn number(&mut self, level: usize) -> Result<Kind, Fault> {
        let at = self.text.at();
        let mut digits = String::new();
        let (mut float, mut exponent, mut minus, mut plus) = (false, false, true, false);
        while let Some(byte) = self.text.peek() {
            let belongs = match byte {
                b'0'..=b'9' => true,
                b'e' | b'E' => !exponent,
                b'-' => minus,
                b'+' => plus,
                b'.' => !float,
                _ => false,
            };
            if !belongs {
                break;
            }
            let point = matches!(byte, b'.' | b'e' | b'E');
            (minus, plus) = (point, point);
            float |= point;
            exponent |= matches!(byte, b'e' | b'E');
            digits.push(char::from(byte));
            self.text.take();
        }
        self.number_ends(level)?;
        if digits == "-" && matches!(self.text.peek(), Some(b'i' | b'I')) {
            return self.word("Infinity", Kind::Float(f64::NEG_INFINITY));
        }
        number_kind(&digits, float).ok_or_else(|| {
            Fault::new(
                at,
                FaultKind::Syntax,
                format!("not JSON: `{digits}` is no number"),
            )
            .expected("a number such as 16000")
        })
    }

    /// Behind a number only what json-c lets stand there.
    fn number_ends(&self, level: usize) -> Result<(), Fault> {
        match self.text.peek() {
            None | Some(b',' | b']' | b'}' | b'/' | b'i' | b'I' | b' ' | b'\t' | b'\n' | b'\r') => {
                Ok(())
            }
            Some(_) if level == 1 => Ok(()),
            Some(_) => Err(self.text.fault("the number to end (decimal digits only)")),
        }
    }
}

/// The value of a number; json-c cuts off a dangling exponent, and integers saturate.
fn number_kind(digits: &str, float: bool) -> Option<Kind> {
    if float {
        let kept = digits.trim_end_matches(['e', 'E', '-', '+']);
        return kept.parse().ok().map(Kind::Float);
    }
    let (negative, magnitude) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits),
    };
    if magnitude.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for digit in magnitude.bytes() {
        value = (value * 10 + i64::from(digit - b'0')).min(1 << 32);
    }
    let value = if negative { -value } else { value };
    let int = i32::try_from(value).unwrap_or(if negative { i32::MIN } else { i32::MAX });
    Some(Kind::Int(int))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
