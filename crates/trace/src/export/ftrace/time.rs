//! The time of a line, made once for all that happens then (docs/guide/traces.md).
//!
//! What must stay: bytes are those of the formatter: seconds on five places, a point, nine digits;
//! a time may go back. Free: what leaves the bytes of files as they are (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part: `times_are_written_as_the_formatter_does` (`set`, `write`,
//! `rest`), the same also `new`.
//!
//! Tests: below

use super::line::{Line, PAIRS};
use crate::export::bytes::{Bytes, Piece};

const NS_PER_SECOND: u64 = 1_000_000_000;

/// A time with what stands around it: seconds on five places and nine digits of a second.
#[derive(Debug)]
pub(super) struct Time {
    time_ns: u64,
    second: u64,
    /// Up to the point, which is behind at most 11 digits.
    whole: Piece<16>,
    /// What follows.
    rest: [u8; REST],
}

/// Nine digits and what separates them from the event.
const REST: usize = 11;

impl Time {
    /// The text of this time, ns.
    pub(super) fn new(time_ns: u64) -> Self {
        let second = time_ns / NS_PER_SECOND;
        let whole = Piece::new(|out| {
            Line(out).text("] ").right_aligned(second, 5).text(".");
        });
        Self {
            time_ns,
            second,
            whole,
            rest: rest(time_ns % NS_PER_SECOND),
        }
    }

    /// It is this time now.
    #[inline]
    pub(super) fn set(&mut self, time_ns: u64) {
        if time_ns == self.time_ns {
            return;
        }
        let since_ns = time_ns.wrapping_sub(self.second * NS_PER_SECOND);
        if since_ns < NS_PER_SECOND {
            (self.time_ns, self.rest) = (time_ns, rest(since_ns));
        } else {
            *self = Self::new(time_ns);
        }
    }

    /// Appends the text.
    #[inline]
    pub(super) fn write(&self, out: &mut Bytes<'_>) {
        out.piece(&self.whole);
        out.words(&self.rest, REST);
    }
}

/// Nine digits of what is less than a second, and what stands behind.
#[inline]
fn rest(mut ns: u64) -> [u8; REST] {
    let mut room = *b"000000000: ";
    for at in [7, 5, 3, 1] {
        room[at..at + 2].copy_from_slice(&PAIRS[(ns % 100) as usize]);
        ns /= 100;
    }
    room[0] += ns as u8;
    room
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::bytes::Chunk;

    /// Goal: the formatter's characters, also when a second is over, and back.
    #[test]
    fn times_are_written_as_the_formatter_does() {
        let mut time = Time::new(0);
        for time_ns in [
            0,
            7,
            123_456_789,
            999_999_999,
            1_000_000_000,
            12_345_000_000_001,
            5,
            u64::MAX,
        ] {
            time.set(time_ns);
            let mut chunk = Chunk::default();
            chunk.element(|out| time.write(out));
            let (second, ns) = (time_ns / NS_PER_SECOND, time_ns % NS_PER_SECOND);
            let text = format!("] {second:5}.{ns:09}: ");
            assert_eq!(chunk.written(), text.as_bytes());
        }
    }
}
