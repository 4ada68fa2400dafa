//! The string of JSON for trace viewers that has ftrace's text: `"systemTraceEvents": "..."` of the
//! outermost object. Other strings may have lines of such text, too: remarks of whoever drew the
//! picture (docs/guide/traces-in.md, "Forms").
//!
//! What must stay: only the string of the outermost object's key is taken; memory does not grow
//! with the file, and what is behind the string is not read. Free: what leaves the scripts of
//! recordings as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `the_string_is_found_by_its_key` (`find`, `is_key`, `read`),
//! `pages_and_json_with_the_text_in_them` (whole files), the first also `new`, `peek`, `byte` and
//! `skip_blanks`; `string` is the test's own.
//!
//! Tests: below, crates/trace/tests/all/replay/forms.rs

use std::io::{self, BufRead, Read};

/// The key, in the outermost object.
const KEY: &[u8] = b"systemTraceEvents";

/// The bytes of that string, escapes as they stand; nothing if the file has none.
pub(super) struct SystemEvents<R> {
    from: R,
    at: Place,
    /// The next byte stands behind a backslash.
    escaped: bool,
}

/// Where the reader is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Before,
    /// In the string that ends with this quote.
    Within(u8),
    Behind,
}

impl<R: BufRead> SystemEvents<R> {
    /// At the beginning of the file.
    pub(super) fn new(from: R) -> Self {
        Self {
            from,
            at: Place::Before,
            escaped: false,
        }
    }

    /// The next byte, which stays; `None` at the end.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.from.fill_buf()?.first().copied())
    }

    /// The next byte, which is taken.
    fn byte(&mut self) -> io::Result<Option<u8>> {
        let next = self.peek()?;
        self.from.consume(usize::from(next.is_some()));
        Ok(next)
    }

    /// Goes to the next character that is no blank.
    fn skip_blanks(&mut self) -> io::Result<()> {
        while self.peek()?.is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.byte()?;
        }
        Ok(())
    }

    /// Passes over a string whose opening quote was taken; whether it is the key.
    fn is_key(&mut self, quote: u8) -> io::Result<bool> {
        let mut length = 0;
        let mut same = true;
        while let Some(byte) = self.byte()?.filter(|byte| *byte != quote) {
            same &= KEY.get(length) == Some(&byte);
            length += 1;
            if byte == b'\\' {
                self.byte()?;
            }
        }
        Ok(same && length == KEY.len())
    }

    /// Goes to the string.
    fn find(&mut self) -> io::Result<Place> {
        let mut depth = 0_usize;
        while let Some(byte) = self.byte()? {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                b'"' | b'\'' => {
                    let is_key = self.is_key(byte)? && depth == 1;
                    self.skip_blanks()?;
                    if !is_key || self.peek()? != Some(b':') {
                        continue;
                    }
                    self.byte()?;
                    self.skip_blanks()?;
                    if let Some(quote @ (b'"' | b'\'')) = self.peek()? {
                        self.byte()?;
                        return Ok(Place::Within(quote));
                    }
                }
                _ => {}
            }
        }
        Ok(Place::Behind)
    }
}

impl<R: BufRead> Read for SystemEvents<R> {
    /// Text of the string up to its quote; nothing if the file has no such string.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == Place::Before {
            self.at = self.find()?;
        }
        let Place::Within(quote) = self.at else {
            return Ok(0);
        };
        let buffer = self.from.fill_buf()?;
        let mut taken = 0;
        for byte in buffer.iter().take(out.len()) {
            if *byte == quote && !self.escaped {
                self.at = Place::Behind;
                break;
            }
            self.escaped = *byte == b'\\' && !self.escaped;
            out[taken] = *byte;
            taken += 1;
        }
        self.from.consume(taken);
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::SystemEvents;
    use std::io::{BufReader, Read};

    fn string(json: &str, room: usize) -> String {
        let mut text = String::new();
        let mut reader = SystemEvents::new(BufReader::with_capacity(room, json.as_bytes()));
        reader
            .read_to_string(&mut text)
            .expect("memory can be read");
        text
    }

    /// Goal: one string is taken, whole, and no other; it may be cut off.
    #[test]
    fn the_string_is_found_by_its_key() {
        for (json, expected) in [
            (
                r#"{"systemTraceEvents":"a\n\"b\"\\","x":"y"}"#,
                r#"a\n\"b\"\\"#,
            ),
            (
                r#"{"traceEvents":[{"a":"}"}], "systemTraceEvents" : "b"}"#,
                "b",
            ),
            (
                r#"{"x":"\"systemTraceEvents\":","systemTraceEvents":"cut"#,
                "cut",
            ),
            (
                r#"{"args":{"systemTraceEvents":"a"},"x":"systemTraceEvents"}"#,
                "",
            ),
            (r#"{"systemTraceEvents":{"a":"b"},"c":"d"}"#, ""),
            (r#"{"systemTraceEvents2":"a","systemTrace":"b"}"#, ""),
            (r#"[{"ph":"X","systemTraceEvents":"a"}]"#, ""),
            ("", ""),
        ] {
            for room in [1, 3, 64] {
                assert_eq!(string(json, room), expected, "{json}");
            }
        }
    }
}
