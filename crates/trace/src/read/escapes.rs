//! Text in strings of JavaScript and JSON, as it was before it was put there: pages of systrace
//! have `var linuxPerfData = "# tracer: nop\n\`, JSON for trace viewers `"systemTraceEvents":
//! "..."` (docs/guide/traces-in.md, "Forms").
//!
//! What must stay: memory does not grow with the file; escapes of other kinds stay as they are, and
//! a quote is text here (`read/text.rs` ends at it). Free: what leaves the scripts of recordings as
//! they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `escapes_are_what_they_stand_for` (`read`, `escape`, `by_number`),
//! `pages_and_json_with_the_text_in_them` (whole files), both also `new` and `byte`; `unescaped` is
//! the test's own.
//!
//! Tests: below, crates/trace/tests/all/replay/forms.rs

use std::io::{self, BufRead, Read};

/// The bytes of `from` with each escape replaced by what it stands for; the rest of the file stays.
pub(super) struct Unescaped<R> {
    from: R,
    /// What the last escape stands for and there was no room for yet, last byte first.
    waiting: Vec<u8>,
}

impl<R: BufRead> Unescaped<R> {
    /// Reads on from the first character of the string.
    pub(super) fn new(from: R) -> Self {
        let waiting = Vec::new();
        Self { from, waiting }
    }

    /// The next byte of the file; `None` at its end.
    fn byte(&mut self) -> io::Result<Option<u8>> {
        let next = self.from.fill_buf()?.first().copied();
        if next.is_some() {
            self.from.consume(1);
        }
        Ok(next)
    }

    /// What stands behind a backslash; other escapes than those of line ends, quotes and characters
    /// by number stay as they are.
    fn escape(&mut self) -> io::Result<Vec<u8>> {
        let Some(sign) = self.byte()? else {
            return Ok(vec![b'\\']);
        };
        Ok(match sign {
            b'n' => vec![b'\n'],
            b't' => vec![b'\t'],
            b'r' => vec![b'\r'],
            b'"' | b'\'' | b'/' | b'\\' => vec![sign],
            // The string goes on in the next line.
            b'\n' | b'\r' => Vec::new(),
            b'u' => self.by_number()?,
            _ => vec![b'\\', sign],
        })
    }

    /// The character of four hexadecimal digits.
    fn by_number(&mut self) -> io::Result<Vec<u8>> {
        let mut digits = Vec::new();
        while digits.len() < 4 {
            let next = self.from.fill_buf()?.first().copied();
            let Some(digit) = next.filter(u8::is_ascii_hexdigit) else {
                break;
            };
            self.from.consume(1);
            digits.push(digit);
        }
        let text = String::from_utf8_lossy(&digits);
        let number = u32::from_str_radix(&text, 16).ok();
        let letter = number
            .filter(|_| digits.len() == 4)
            .and_then(char::from_u32);
        Ok(match letter {
            Some(letter) => letter.to_string().into_bytes(),
            None => format!("\\u{text}").into_bytes(),
        })
    }
}

impl<R: BufRead> Read for Unescaped<R> {
    /// Text with escapes resolved. A quote is text here: `read/text.rs` ends at it.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        while written < out.len() {
            if let Some(byte) = self.waiting.pop() {
                out[written] = byte;
                written += 1;
                continue;
            }
            let buffer = self.from.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            let plain = buffer.iter().position(|byte| *byte == b'\\');
            let plain = plain.unwrap_or(buffer.len()).min(out.len() - written);
            out[written..written + plain].copy_from_slice(&buffer[..plain]);
            let is_escape = buffer.get(plain) == Some(&b'\\');
            self.from.consume(plain);
            written += plain;
            if is_escape && written < out.len() {
                self.from.consume(1);
                self.waiting = self.escape()?;
                self.waiting.reverse();
            }
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::Unescaped;
    use std::io::{BufReader, Read};

    /// Read in pieces of every size, of a source that gives so many bytes at once.
    fn unescaped(text: &str, room: usize, piece: usize) -> String {
        let mut reader = Unescaped::new(BufReader::with_capacity(room, text.as_bytes()));
        let (mut all, mut buffer) = (Vec::new(), vec![0; piece]);
        loop {
            let read = reader.read(&mut buffer).expect("memory can be read");
            if read == 0 {
                return String::from_utf8(all).expect("text");
            }
            all.extend_from_slice(&buffer[..read]);
        }
    }

    #[test]
    fn escapes_are_what_they_stand_for() {
        for (text, expected) in [
            (r"a\nb\tc\rd", "a\nb\tc\rd"),
            (r#"\"\'\/\\n"#, "\"'/\\n"),
            ("one\\n\\\ntwo", "one\ntwo"),
            (r"\u003cidle\u003e \u00e4", "<idle> \u{e4}"),
            (r"\u12 \ud800 \x \", "\\u12 \\ud800 \\x \\"),
            ("plain", "plain"),
        ] {
            for (room, piece) in [(1, 1), (2, 3), (3, 2), (64, 1), (64, 64)] {
                assert_eq!(unescaped(text, room, piece), expected, "{room} {piece}");
            }
        }
    }
}
