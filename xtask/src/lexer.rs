//! As much of Rust's and C's lexical rules as is needed to look at code alone: comments and the
//! contents of strings become spaces, everything else and every line break stays where it is
//! (CONTRIBUTING.md, "Rules that a check enforces").
//!
//! What must stay: lines and columns of what is kept; rules count on them. Free: how it is done,
//! and words that no test or script reads. Tests by part: `comments_and_strings_go_and_lines_stay`
//! (`blank`, `step`, `keep`, `hide`, `peek`, `block_comment`, `quoted`),
//! `rust_lifetimes_stay_and_character_literals_go` (`apostrophe`),
//! `raw_strings_go_and_raw_names_stay` (`raw_string`, `inside_word`), `a_word_is_not_a_part_of_one`
//! (`has_word`).
//!
//! Callers: arrows/sources.rs (`has_word`), mutants/code.rs (`blank`), repo.rs (`blank`),
//! tidy/lines.rs (`has_word`).
//!
//! Tests: below

/// The two languages that the rules read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Rust: nested comments, raw strings, lifetimes.
    Rust,
    /// C11.
    C,
}

/// The text with comments, strings and character literals blanked out.
#[must_use]
pub fn blank(text: &str, language: Language) -> String {
    let mut scanner = Scanner {
        chars: text.chars().collect(),
        at: 0,
        out: String::new(),
        language,
    };
    while scanner.at < scanner.chars.len() {
        scanner.step();
    }
    scanner.out
}

struct Scanner {
    chars: Vec<char>,
    at: usize,
    out: String,
    language: Language,
}

impl Scanner {
    /// A zero beyond the end.
    fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or('\0')
    }

    /// The character stays.
    fn keep(&mut self) {
        self.out.push(self.chars[self.at]);
        self.at += 1;
    }

    /// Blanks `count` characters, never past the end.
    fn hide(&mut self, count: usize) {
        for _ in 0..count.min(self.chars.len() - self.at) {
            self.out.push(if self.chars[self.at] == '\n' {
                '\n'
            } else {
                ' '
            });
            self.at += 1;
        }
    }

    /// One comment, literal or character.
    fn step(&mut self) {
        match (self.peek(0), self.peek(1)) {
            ('/', '/') => {
                while self.at < self.chars.len() && self.peek(0) != '\n' {
                    self.hide(1);
                }
            }
            ('/', '*') => self.block_comment(),
            ('"', _) => self.quoted('"'),
            ('\'', _) => self.apostrophe(),
            ('r', '"' | '#') if self.language == Language::Rust && !self.inside_word() => {
                self.raw_string();
            }
            _ => self.keep(),
        }
    }

    /// Whether the character before this one belongs to the same word (`br"…"` counts as a start).
    fn inside_word(&self) -> bool {
        let before = |back| self.at.checked_sub(back).map_or(' ', |at| self.chars[at]);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        is_word(before(1)) && (before(1) != 'b' || is_word(before(2)))
    }

    /// A comment of several lines; Rust's nest.
    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.chars.len() {
            match (self.peek(0), self.peek(1)) {
                ('/', '*') if depth == 0 || self.language == Language::Rust => {
                    depth += 1;
                    self.hide(2);
                }
                ('*', '/') => {
                    depth -= 1;
                    self.hide(2);
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.hide(1),
            }
        }
    }

    /// A string or character literal with backslash escapes.
    fn quoted(&mut self, quote: char) {
        self.hide(1);
        while self.at < self.chars.len() {
            match self.peek(0) {
                '\\' => self.hide(2),
                c if c == quote => return self.hide(1),
                _ => self.hide(1),
            }
        }
    }

    /// A character literal, or in Rust perhaps a lifetime.
    fn apostrophe(&mut self) {
        let literal = self.language == Language::C || self.peek(1) == '\\' || self.peek(2) == '\'';
        if literal {
            self.quoted('\'');
        } else {
            self.keep();
        }
    }

    /// `r"…"`, `r#"…"#`; `r#name` is an identifier and stays.
    fn raw_string(&mut self) {
        let mut hashes = 0;
        while self.peek(1 + hashes) == '#' {
            hashes += 1;
        }
        if self.peek(1 + hashes) != '"' {
            return self.keep();
        }
        self.hide(2 + hashes);
        while self.at < self.chars.len() {
            if self.peek(0) == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == '#') {
                return self.hide(1 + hashes);
            }
            self.hide(1);
        }
    }
}

/// Whether `word` stands in `line` on its own, not as a part of a longer word.
#[must_use]
pub fn has_word(line: &str, word: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let joins_before = is_word(word.chars().next()) && is_word(line[..at].chars().next_back());
        let after = line[at + word.len()..].chars().next();
        let joins_after = is_word(word.chars().next_back()) && is_word(after);
        !joins_before && !joins_after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_go_and_lines_stay() {
        let text = "a /* x\ny */ b // c\n\"q\\\"{\" d";
        assert_eq!(blank(text, Language::C), "a     \n     b     \n       d");
        let nested = "a /* /* */ { */ b";
        assert_eq!(
            blank(nested, Language::Rust)
                .split_whitespace()
                .collect::<Vec<_>>(),
            ["a", "b"]
        );
    }

    #[test]
    fn rust_lifetimes_stay_and_character_literals_go() {
        assert_eq!(
            blank("fn f<'a>(c: &'a str) { '{' }", Language::Rust),
            "fn f<'a>(c: &'a str) {     }"
        );
        assert_eq!(blank(r"'\'' x", Language::Rust), "     x");
    }

    #[test]
    fn raw_strings_go_and_raw_names_stay() {
        assert_eq!(
            blank("r#\"{\"\"# r#fn br\"}\" var\"{\"", Language::Rust),
            "        r#fn b     var   "
        );
    }

    #[test]
    fn a_word_is_not_a_part_of_one() {
        assert!(has_word("a fs::read", "fs"));
        assert!(!has_word("offs", "fs"));
        assert!(has_word("x.call!(", "call!("));
    }
}
