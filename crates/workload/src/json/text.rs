//! The characters of a JSON text: where we are, blanks, comments and strings
//! (docs/rules/rt-app.md#rt-app-json).
//!
//! Called by `json/reader.rs`. Lines and columns count from 1, a column is a character. Bytes that
//! are no UTF-8 pass as json-c lets them.
//!
//! What must stay: lines and columns count from 1 and a column is a character, as every message of
//! a file has them; either quote ends its own kind of string only; comments are blanks. Free: what
//! leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages
//! that no test quotes. Tests by part: `places_count_characters_from_one` (`take`, `fault`),
//! `comments_and_trailing_commas` (`skip_blanks`, `skip_comment`),
//! `words_take_either_case_and_strings_either_quote` (`take_word`, `take_string`, `take_escape`,
//! `take_unicode`), `every_file_is_read_as_rtapp_reads_it` (json-c's dialect). `new`, `at`, `rest`,
//! `peek`: all of these; `take_hex4` with `take_unicode`.
//!
//! Tests: crates/workload/src/json/tests.rs, crates/workload/tests/all/corpus.rs
use crate::error::{Fault, FaultKind, Position};

/// Bytes with a place. json-c works on bytes too: it does not ask whether a text is valid UTF-8.
pub(crate) struct Text<'a> {
    bytes: &'a [u8],
    next: usize,
    at: Position,
}

impl<'a> Text<'a> {
    /// At the first character of the text.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            next: 0,
            at: Position { line: 1, column: 1 },
        }
    }

    /// The place of the next character.
    pub(super) fn at(&self) -> Position {
        self.at
    }

    /// What is left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.next..]
    }

    /// The next byte; `None` at the end.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.next).copied()
    }

    /// Takes one byte; a column is a character, so the later bytes of one do not count.
    pub(crate) fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.next += 1;
        if byte == b'\n' {
            self.at = Position {
                line: self.at.line.saturating_add(1),
                column: 1,
            };
        } else if byte & 0b1100_0000 != 0b1000_0000 {
            self.at.column = self.at.column.saturating_add(1);
        }
        Some(byte)
    }

    /// A fault at the present place.
    pub(super) fn fault(&self, expected: &str) -> Fault {
        let found = match self.peek() {
            None => "the text ends".to_owned(),
            Some(byte @ 0x21..=0x7e) => format!("`{}`", char::from(byte)),
            Some(0xef) if self.next == 0 => "a byte order mark".to_owned(),
            Some(byte) => format!("byte 0x{byte:02x}"),
        };
        Fault::new(self.at, FaultKind::Syntax, format!("not JSON: {found}")).expected(expected)
    }

    /// Skips blanks, `/* */` and `//`. `#` begins no comment in json-c.
    pub(crate) fn skip_blanks(&mut self) -> Result<(), Fault> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => {
                    self.take();
                }
                Some(b'/') => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    /// From `//` to the line's end, or from `/*` to `*/`.
    fn skip_comment(&mut self) -> Result<(), Fault> {
        let start = self.at;
        self.take();
        match self.take() {
            Some(b'/') => {
                while !matches!(self.peek(), None | Some(b'\n' | 0)) {
                    self.take();
                }
                Ok(())
            }
            Some(b'*') => {
                let mut last = 0;
                while let Some(byte) = self.take() {
                    match (last, byte) {
                        (b'*', b'/') => return Ok(()),
                        (_, 0) => break,
                        _ => last = byte,
                    }
                }
                let message = "not JSON: the comment that begins here has no end";
                Err(Fault::new(start, FaultKind::Syntax, message).expected("`*/`"))
            }
            _ => {
                let message = "not JSON: `/` begins no comment";
                Err(Fault::new(start, FaultKind::Syntax, message).expected("`//` or `/*`"))
            }
        }
    }

    /// Takes a word, letters of either case (`TRUE` is true to json-c).
    pub(super) fn take_word(&mut self, word: &str) -> Result<(), Fault> {
        for expected in word.bytes() {
            match self.peek() {
                Some(byte) if byte.eq_ignore_ascii_case(&expected) => self.take(),
                _ => return Err(self.fault(&format!("`{word}`"))),
            };
        }
        Ok(())
    }

    /// Takes a string in either sort of quotes; control characters stand for themselves.
    pub(super) fn take_string(&mut self) -> Result<String, Fault> {
        let start = self.at;
        let quote = self.take();
        let mut bytes = Vec::new();
        loop {
            match self.peek() {
                None | Some(0) => {
                    let message = "not JSON: the string that begins here has no end";
                    return Err(
                        Fault::new(start, FaultKind::Syntax, message).expected("a closing quote")
                    );
                }
                byte if byte == quote => {
                    self.take();
                    break;
                }
                Some(b'\\') => {
                    self.take();
                    self.take_escape(&mut bytes)?;
                }
                Some(byte) => {
                    bytes.push(byte);
                    self.take();
                }
            }
        }
        Ok(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }

    /// What stands behind a backslash.
    fn take_escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), Fault> {
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 0x08,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'f') => 0x0c,
            Some(b'u') => {
                self.take();
                let character = self.take_unicode()?;
                let mut buffer = [0; 4];
                bytes.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
                return Ok(());
            }
            _ => return Err(self.fault("one of \" \\ / b f n r t u after a backslash")),
        };
        self.take();
        bytes.push(plain);
        Ok(())
    }

    /// Four hex digits, or a pair of surrogates; a lone surrogate becomes U+FFFD as in json-c.
    fn take_unicode(&mut self) -> Result<char, Fault> {
        let first = self.take_hex4()?;
        if !(0xd800..0xdc00).contains(&first) || !self.bytes[self.next..].starts_with(b"\\u") {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let before = (self.next, self.at);
        self.take();
        self.take();
        let second = self.take_hex4()?;
        if (0xdc00..0xe000).contains(&second) {
            let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        (self.next, self.at) = before;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    /// The number of four hexadecimal digits behind `\u`.
    fn take_hex4(&mut self) -> Result<u32, Fault> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.fault("four hexadecimal digits after `\\u`"));
            };
            code = code * 16 + digit;
            self.take();
        }
        Ok(code)
    }
}
