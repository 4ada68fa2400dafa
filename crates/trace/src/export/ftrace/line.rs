//! Text put together without the formatter, which takes most of the time of a line
//! (docs/guide/traces.md).
//!
//! What must stay: bytes are those of Rust's formatter; no filling is wider than 16. Free: what
//! leaves the bytes of files as they are (ARCHITECTURE.md, "What a change may touch"). Tests by
//! part: `numbers_are_written_as_the_formatter_does` (all of `Line`, `digits`, `hex_digits`). Of
//! `Line` these are `text`, `text_right_aligned`, `number`, `signed`, `zero_padded`,
//! `right_aligned`, `left_aligned`, `hex`, `hex_padded`, `padded`, `fill`, and `pairs`; `written`
//! is the test's own.
//!
//! Callers: export/ftrace.rs (`text_right_aligned`, `zero_padded`, `left_aligned`, `hex_padded`),
//! time.rs (`right_aligned`).
//!
//! Tests: below

use crate::export::bytes::Bytes;

/// Text being written.
pub(super) struct Line<'a, 'b>(pub(super) &'a mut Bytes<'b>);

/// The most digits of a number of 64 bits.
const DIGITS: usize = 20;
/// The same in hexadecimal.
const HEX_DIGITS: usize = 16;
/// What fills a line; no filling is wider.
const SPACES: &[u8; 16] = b"                ";
const ZEROS: &[u8; 16] = b"0000000000000000";
/// All numbers of two digits.
pub(super) const PAIRS: [[u8; 2]; 100] = pairs(b"0123456789");
/// The same in hexadecimal.
const HEX_PAIRS: [[u8; 2]; 256] = pairs(b"0123456789abcdef");

impl Line<'_, '_> {
    /// These characters.
    #[inline]
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.0.append(text.as_bytes());
        self
    }

    /// At least `width` characters wide, to the right.
    pub(super) fn text_right_aligned(&mut self, text: &str, width: usize) -> &mut Self {
        self.fill(SPACES, width.saturating_sub(text.chars().count()));
        self.text(text)
    }

    /// The number in decimal digits.
    #[inline]
    pub(super) fn number(&mut self, value: u64) -> &mut Self {
        let mut room = [0; 2 * DIGITS];
        let from = digits(value, &mut room);
        // As many bytes as there may be digits: a copy of fixed length is no call.
        let all = room[from..].first_chunk::<DIGITS>();
        let all = all.expect("room for as many behind the last");
        self.0.words(all, DIGITS - from);
        self
    }

    /// The same with a sign, if it is below 0.
    #[inline]
    pub(super) fn signed(&mut self, value: i32) -> &mut Self {
        if value < 0 {
            self.0.push(b'-');
        }
        self.number(value.unsigned_abs().into())
    }

    /// At least `width` digits.
    pub(super) fn zero_padded(&mut self, value: u64, width: usize) -> &mut Self {
        self.padded(value, ZEROS, width)
    }

    /// At least `width` characters wide, to the right.
    pub(super) fn right_aligned(&mut self, value: u64, width: usize) -> &mut Self {
        self.padded(value, SPACES, width)
    }

    /// The same to the left.
    pub(super) fn left_aligned(&mut self, value: u64, width: usize) -> &mut Self {
        let before = self.0.used();
        self.number(value);
        let used = self.0.used() - before;
        self.fill(SPACES, width.saturating_sub(used))
    }

    /// The number in hexadecimal digits, without zeros before it.
    pub(super) fn hex(&mut self, value: u64) -> &mut Self {
        let leading = value.leading_zeros() as usize / 4;
        let from = leading.min(HEX_DIGITS - 1);
        self.0.append(&hex_digits(value)[from..]);
        self
    }

    /// All 16 digits.
    #[inline]
    pub(super) fn hex_padded(&mut self, value: u64) -> &mut Self {
        self.0.words(&hex_digits(value), HEX_DIGITS);
        self
    }

    /// Filled up to `width` from the left with this character.
    fn padded(&mut self, value: u64, with: &[u8; 16], width: usize) -> &mut Self {
        let mut room = [0; 2 * DIGITS];
        let from = digits(value, &mut room);
        self.fill(with, width.saturating_sub(DIGITS - from));
        self.0.append(&room[from..DIGITS]);
        self
    }

    /// So many of this character, at most 16.
    fn fill(&mut self, with: &[u8; 16], count: usize) -> &mut Self {
        self.0.append(&with[..count]);
        self
    }
}

/// All numbers of two of these digits.
const fn pairs<const BASE: usize, const ALL: usize>(digits: &[u8; BASE]) -> [[u8; 2]; ALL] {
    let mut all = [[0; 2]; ALL];
    let mut value = 0;
    while value < ALL {
        all[value] = [digits[value / BASE], digits[value % BASE]];
        value += 1;
    }
    all
}

/// Writes a number to the end of the first half of the room; returns where it begins.
#[inline]
fn digits(mut value: u64, room: &mut [u8; 2 * DIGITS]) -> usize {
    let mut at = DIGITS;
    while value >= 10 {
        at -= 2;
        room[at..at + 2].copy_from_slice(&PAIRS[(value % 100) as usize]);
        value /= 100;
        if value == 0 {
            return at;
        }
    }
    at -= 1;
    room[at] = b'0' + value as u8;
    at
}

/// All 16 hexadecimal digits.
#[inline]
fn hex_digits(value: u64) -> [u8; HEX_DIGITS] {
    let mut room = [0; HEX_DIGITS];
    let (pairs, _) = room.as_chunks_mut::<2>();
    for (pair, byte) in pairs.iter_mut().zip(value.to_be_bytes()) {
        *pair = HEX_PAIRS[usize::from(byte)];
    }
    room
}

#[cfg(test)]
mod tests {
    use super::Line;
    use crate::export::bytes::Chunk;

    fn written(write: impl FnOnce(&mut Line<'_, '_>)) -> String {
        let mut chunk = Chunk::default();
        chunk.element(|out| write(&mut Line(out)));
        String::from_utf8(chunk.written().to_vec()).expect("text")
    }

    /// Goal: the same characters as the formatter's.
    #[test]
    fn numbers_are_written_as_the_formatter_does() {
        for value in [
            0,
            7,
            10,
            999,
            1000,
            123_456_789,
            u64::from(u32::MAX),
            u64::MAX,
        ] {
            let text = written(|line| {
                line.number(value).text("|").zero_padded(value, 3).text("|");
                line.right_aligned(value, 5)
                    .text("|")
                    .left_aligned(value, 7);
                line.text("|").hex(value).text("|").hex_padded(value);
            });
            assert_eq!(
                text,
                format!("{value}|{value:03}|{value:5}|{value:<7}|{value:x}|{value:016x}")
            );
        }
        let text = written(|line| {
            line.signed(-1).signed(i32::MIN).signed(120).text("|");
            line.text_right_aligned("\u{e4}b", 4)
                .text_right_aligned("<idle>", 3);
        });
        assert_eq!(text, "-1-2147483648120|  \u{e4}b<idle>");
    }
}
