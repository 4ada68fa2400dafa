//! Text put together without the formatter, which takes most of the time of a line.

/// Text that grows.
#[derive(Debug, Default)]
pub(super) struct Line(Vec<u8>);

/// The most digits of a number of 64 bits.
const DIGITS: usize = 20;
/// The same in hexadecimal.
const HEX_DIGITS: usize = 16;
/// What fills a line; no filling is wider.
const SPACES: &[u8; 16] = b"                ";
const ZEROS: &[u8; 16] = b"0000000000000000";
/// All numbers of two digits.
const PAIRS: [[u8; 2]; 100] = pairs();

impl Line {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    #[inline]
    pub(super) fn append(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.append(text.as_bytes())
    }

    /// At least `width` characters wide, to the right.
    pub(super) fn text_right_aligned(&mut self, text: &str, width: usize) -> &mut Self {
        let characters = match text.is_ascii() {
            true => text.len(),
            false => text.chars().count(),
        };
        self.fill(SPACES, width.saturating_sub(characters))
            .text(text)
    }

    #[inline]
    pub(super) fn number(&mut self, value: u64) -> &mut Self {
        let mut room = [0; DIGITS];
        let from = digits(value, &mut room);
        self.append(&room[from..])
    }

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
        let before = self.0.len();
        self.number(value);
        let used = self.0.len() - before;
        self.fill(SPACES, width.saturating_sub(used))
    }

    pub(super) fn hex(&mut self, value: u64) -> &mut Self {
        self.hex_padded(value, 1)
    }

    /// At least `width` digits, of which there are at most 16.
    pub(super) fn hex_padded(&mut self, value: u64, width: usize) -> &mut Self {
        let mut room = [0; HEX_DIGITS];
        for (at, digit) in room.iter_mut().rev().enumerate() {
            *digit = b"0123456789abcdef"[(value >> (4 * at)) as usize % 16];
        }
        let leading = value.leading_zeros() as usize / 4;
        let from = leading.min(HEX_DIGITS.saturating_sub(width));
        self.append(&room[from..])
    }

    #[inline]
    fn padded(&mut self, value: u64, with: &[u8; 16], width: usize) -> &mut Self {
        let mut room = [0; DIGITS];
        let from = digits(value, &mut room);
        let width = width.saturating_sub(DIGITS - from);
        self.fill(with, width).append(&room[from..])
    }

    #[inline]
    fn fill(&mut self, with: &[u8; 16], count: usize) -> &mut Self {
        self.append(&with[..count])
    }
}

const fn pairs() -> [[u8; 2]; 100] {
    let mut all = [[0; 2]; 100];
    let mut value = 0;
    while value < all.len() {
        all[value] = [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8];
        value += 1;
    }
    all
}

/// Writes a number to the end of the room; returns where it begins.
#[inline]
fn digits(mut value: u64, room: &mut [u8; DIGITS]) -> usize {
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

#[cfg(test)]
mod tests {
    use super::Line;

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
            let mut line = Line::default();
            line.number(value).text("|").zero_padded(value, 3).text("|");
            line.right_aligned(value, 5)
                .text("|")
                .left_aligned(value, 7);
            line.text("|").hex(value);
            let text = String::from_utf8(line.bytes().to_vec()).expect("text");
            assert_eq!(
                text,
                format!("{value}|{value:03}|{value:5}|{value:<7}|{value:x}")
            );
            for width in 1..=16 {
                let mut line = Line::default();
                line.hex_padded(value, width);
                assert_eq!(line.bytes(), format!("{value:0width$x}").as_bytes());
            }
        }
        let mut line = Line::default();
        line.signed(-1).signed(i32::MIN).signed(120).text("|");
        line.text_right_aligned("\u{e4}b", 4)
            .text_right_aligned("<idle>", 3);
        let text = String::from_utf8(line.bytes().to_vec()).expect("text");
        assert_eq!(text, "-1-2147483648120|  \u{e4}b<idle>");
    }
}
