//! C as far as places to break it need it: tokens with their brackets, functions, the extents of
//! operands. The core is plain C of one style; macros in its headers are not looked into, their
//! uses are (CONTRIBUTING.md, "Break it on purpose").
//!
//! What must stay: places are those of the text as it stands, so that a mutation is shown as a
//! diff. Free: how it is done, and words that no test or script reads. Tests by part:
//! `operands_end_at_weaker_operators` (`tokens`, `read`, `match_brackets`, `word`, `before`,
//! `pair`, `within`, `span`, `is_cast`, `binding`, `ends_operand`, `left`, `right`),
//! `functions_of_the_native_build_are_found` (`native_only`, `find_functions`, `function`),
//! points.rs::`operators_become_their_neighbours` (`postfix`, `begins_statement`, `is_label`,
//! `line`); `operand` is the test's own.
//!
//! Callers: points.rs (`is_cast`, `binding`, `right`, `postfix`, `begins_statement`).
//!
//! Tests: below

use std::ops::Range;

use anyhow::{Result, ensure};

use crate::lexer::{Language, blank};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or keyword.
    Word,
    /// An integer.
    Number,
    /// An operator or bracket.
    Sign,
}

/// One token, by its place in the text.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) at: Range<usize>,
}

/// A function that is defined in the file.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) returns_int: bool,
    /// The tokens between its braces.
    pub(super) body: Range<usize>,
}

/// A file, read.
#[derive(Clone, Debug)]
pub(super) struct Code {
    /// The file's name without its folder.
    pub(super) file: String,
    pub(super) text: String,
    pub(super) tokens: Vec<Token>,
    /// Of a bracket the position of the other one, of any other token its own.
    pair: Vec<usize>,
    /// The opening bracket that a token is in; of a token outside all, its own position.
    within: Vec<usize>,
    pub(super) functions: Vec<Function>,
}

/// Longest first.
const SIGNS: [&str; 22] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=",
];

/// Operators that take two operands, by how strongly they bind.
const BINDING: [(&str, u8); 18] = [
    ("*", 10),
    ("/", 10),
    ("%", 10),
    ("+", 9),
    ("-", 9),
    ("<<", 8),
    (">>", 8),
    ("<", 7),
    (">", 7),
    ("<=", 7),
    (">=", 7),
    ("==", 6),
    ("!=", 6),
    ("&", 5),
    ("^", 4),
    ("|", 3),
    ("&&", 2),
    ("||", 1),
];

const TYPES: [&str; 13] = [
    "u8", "u16", "u32", "u64", "s32", "s64", "int", "char", "void", "unsigned", "long", "const",
    "struct",
];

/// Parts of the files that the native build leaves out become spaces, and directives with them.
fn native_only(text: &str) -> String {
    let mut kept: Vec<bool> = Vec::new();
    let mut continues = false;
    let lines = text.split_inclusive('\n').map(|line| {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("#ifdef"), Some(name)) => kept.push(name != "WP_LIVE"),
            (Some("#ifndef"), Some(name)) => kept.push(name != "WP_EXPLAINS"),
            (Some("#else"), _) => {
                let last = kept.pop();
                kept.extend(last.map(|kept| !kept));
            }
            (Some("#endif"), _) => drop(kept.pop()),
            _ => {}
        }
        let directive = continues || line.starts_with('#');
        continues = directive && line.trim_end().ends_with('\\');
        match directive || kept.contains(&false) {
            true => line.replace(|c: char| c != '\n', " "),
            false => line.to_owned(),
        }
    });
    lines.collect()
}

/// The words of a C text, with their places.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let word = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let first = bytes[at];
        if first.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let (kind, length) = if word(first) {
            let length = bytes[at..].iter().take_while(|c| word(**c)).count();
            let number = first.is_ascii_digit();
            (if number { Kind::Number } else { Kind::Word }, length)
        } else {
            let sign = SIGNS.iter().find(|sign| text[at..].starts_with(**sign));
            (Kind::Sign, sign.map_or(1, |sign| sign.len()))
        };
        found.push(Token {
            kind,
            at: at..at + length,
        });
        at += length;
    }
    found
}

impl Code {
    /// Reads a file.
    ///
    /// # Errors
    /// Brackets that do not match, or letters other than ASCII.
    pub(super) fn read(file: &str, text: &str) -> Result<Self> {
        ensure!(text.is_ascii(), "{file}: not all of it is ASCII");
        let plain = blank(&native_only(text), Language::C);
        let tokens = tokens(&plain);
        let mut code = Self {
            file: file.to_owned(),
            text: text.to_owned(),
            pair: (0..tokens.len()).collect(),
            within: (0..tokens.len()).collect(),
            tokens,
            functions: Vec::new(),
        };
        code.match_brackets()?;
        code.find_functions();
        Ok(code)
    }

    /// Which bracket closes which.
    fn match_brackets(&mut self) -> Result<()> {
        let mut open: Vec<usize> = Vec::new();
        for i in 0..self.tokens.len() {
            let close = matches!(self.word(i), ")" | "]" | "}");
            if close {
                let first = open.pop();
                ensure!(first.is_some(), "{}: a bracket too many", self.file);
                let first = first.unwrap_or(i);
                (self.pair[i], self.pair[first]) = (first, i);
            }
            self.within[i] = open.last().copied().unwrap_or(i);
            if matches!(self.word(i), "(" | "[" | "{") {
                open.push(i);
            }
        }
        ensure!(open.is_empty(), "{}: a bracket is not closed", self.file);
        Ok(())
    }

    /// Where functions begin and end.
    fn find_functions(&mut self) {
        let mut head = 0;
        let mut i = 0;
        while i < self.tokens.len() {
            let last = self.pair[i];
            if self.word(i) == "{" {
                if let Some(function) = self.function(head, i) {
                    self.functions.push(function);
                }
                head = last + 1;
            } else if self.word(i) == ";" {
                head = i + 1;
            }
            i = last.max(i) + 1;
        }
    }

    /// The function whose head begins at `head` and whose body at `brace`; `None` if that is the
    /// body of a type or the values of an array.
    fn function(&self, head: usize, brace: usize) -> Option<Function> {
        let close = brace.checked_sub(1).filter(|i| self.word(*i) == ")")?;
        let name = self.pair[close].checked_sub(1).filter(|i| *i >= head)?;
        let types = head..name;
        Some(Function {
            name: self.word(name).to_owned(),
            returns_int: types.clone().any(|i| self.word(i) == "int")
                && !types.clone().any(|i| self.word(i) == "*"),
            body: brace + 1..self.pair[brace],
        })
    }

    /// The text of a token.
    pub(super) fn word(&self, i: usize) -> &str {
        self.tokens
            .get(i)
            .map_or("", |token| &self.text[token.at.clone()])
    }

    /// The text of the token before, if there is one.
    pub(super) fn before(&self, i: usize) -> &str {
        i.checked_sub(1).map_or("", |i| self.word(i))
    }

    /// The other bracket.
    pub(super) fn pair(&self, i: usize) -> usize {
        self.pair[i]
    }

    /// The opening bracket that a token is in.
    pub(super) fn within(&self, i: usize) -> usize {
        self.within[i]
    }

    /// The characters of a range of tokens that is not empty.
    pub(super) fn span(&self, tokens: &Range<usize>) -> Range<usize> {
        self.tokens[tokens.start].at.start..self.tokens[tokens.end - 1].at.end
    }

    /// Is it an opening parenthesis of a cast?
    pub(super) fn is_cast(&self, open: usize) -> bool {
        let inside = open + 1..self.pair[open];
        let mut words = inside.filter(|i| self.word(*i) != "*");
        let named = |i: usize| self.before(i) == "struct";
        self.word(open) == "("
            && self.pair[open] > open + 1
            && words.all(|i| TYPES.contains(&self.word(i)) || named(i))
    }

    /// How strongly an operator with two operands binds; `None` for any other token.
    pub(super) fn binding(&self, i: usize) -> Option<u8> {
        let sign = self.word(i);
        let (_, strength) = BINDING.iter().find(|(name, _)| *name == sign)?;
        let previous = i.checked_sub(1)?;
        let operand = match self.word(previous) {
            ")" => !self.is_cast(self.pair[previous]),
            "]" => true,
            "return" | "case" | "else" => false,
            _ => self.tokens[previous].kind != Kind::Sign,
        };
        operand.then_some(*strength)
    }

    /// Nothing of an operand goes beyond this token.
    fn ends_operand(&self, i: usize) -> bool {
        matches!(
            self.word(i),
            ";" | "," | "?" | ":" | "=" | "{" | "}" | "return" | "case" | "else"
        ) || (self.word(i).len() > 1
            && self.word(i).ends_with('=')
            && self.binding(i).is_none()
            && self.tokens[i].kind == Kind::Sign)
    }

    /// Where the operand before an operator of that strength begins.
    pub(super) fn left(&self, operator: usize, strength: u8) -> usize {
        let mut start = operator;
        while start > 0 {
            let i = start - 1;
            let weaker = self.binding(i).is_some_and(|other| other < strength);
            if weaker || matches!(self.word(i), "(" | "[") || self.ends_operand(i) {
                break;
            }
            start = if matches!(self.word(i), ")" | "]") {
                self.pair[i]
            } else {
                i
            };
        }
        start
    }

    /// Where the operand after an operator of that strength ends.
    pub(super) fn right(&self, operator: usize, strength: u8) -> usize {
        let mut end = operator + 1;
        while end < self.tokens.len() {
            let weaker = self.binding(end).is_some_and(|other| other <= strength);
            if weaker || matches!(self.word(end), ")" | "]") || self.ends_operand(end) {
                break;
            }
            end = self.pair[end].max(end) + 1;
        }
        end
    }

    /// Where what begins at `start` with a name ends: `a->b[i]`, `f(x)`, `*WP_AT(a, i)`.
    pub(super) fn postfix(&self, start: usize) -> Option<usize> {
        let mut i = start;
        while self.word(i) == "*" {
            i += 1;
        }
        if self.tokens.get(i)?.kind != Kind::Word {
            return None;
        }
        i += 1;
        loop {
            i = match self.word(i) {
                "->" | "." => i + 2,
                "(" | "[" => self.pair[i] + 1,
                _ => return Some(i),
            };
        }
    }

    /// Does a statement begin there?
    pub(super) fn begins_statement(&self, i: usize) -> bool {
        let outer = self.within[i];
        if self.word(outer) != "{" || matches!(self.before(outer), "=" | ",") {
            return false;
        }
        match self.before(i) {
            ";" | "{" | "}" | "else" => true,
            ":" => self.is_label(i - 1),
            ")" => {
                let open = self.pair[i - 1];
                matches!(
                    self.before(open),
                    "if" | "for" | "while" | "switch" | "WP_FOR"
                )
            }
            _ => false,
        }
    }

    /// Is it the colon of a label, not that of `a ? b : c`?
    fn is_label(&self, colon: usize) -> bool {
        let before = (0..colon).rev().map(|i| self.word(i));
        let mut before =
            before.filter(|word| matches!(*word, "case" | "default" | "?" | ";" | "{" | "}"));
        matches!(before.next(), Some("case" | "default"))
    }

    /// The line of a token, from 1.
    pub(super) fn line(&self, i: usize) -> usize {
        let before = &self.text[..self.tokens[i].at.start];
        before.matches('\n').count() + 1
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    const TEXT: &str = "\
#define A 1 + \\
	2
struct s { int a; };
static const u32 t[2] = { 1, 2 };
#ifdef WP_LIVE
int gone(void) { return 1; }
#else
WP_FN int f(const struct s *s WP_NONNULL, u32 b)
{
	return (u32)s->a + g(b, 1) * 2 < -b && !b ? 1 : 0;
}
#endif
";

    fn operand(code: &Code, sign: &str) -> (String, String) {
        let at = (0..code.tokens.len())
            .find(|i| code.word(*i) == sign)
            .unwrap();
        let strength = code.binding(at).unwrap();
        let left = code.span(&(code.left(at, strength)..at));
        let right = code.span(&(at + 1..code.right(at, strength)));
        (code.text[left].to_owned(), code.text[right].to_owned())
    }

    #[test]
    fn operands_end_at_weaker_operators() {
        let code = Code::read("x.c", TEXT).unwrap();
        for (sign, left, right) in [
            ("+", "(u32)s->a", "g(b, 1) * 2"),
            ("<", "(u32)s->a + g(b, 1) * 2", "-b"),
            ("&&", "(u32)s->a + g(b, 1) * 2 < -b", "!b"),
        ] {
            assert_eq!(operand(&code, sign), (left.to_owned(), right.to_owned()));
        }
    }

    #[test]
    fn functions_of_the_native_build_are_found() {
        let code = Code::read("x.c", TEXT).unwrap();
        let [f] = &code.functions[..] else {
            panic!("{:?}", code.functions)
        };
        assert_eq!((f.name.as_str(), f.returns_int), ("f", true));
        assert_eq!(code.line(f.body.start), 10);
    }
}
