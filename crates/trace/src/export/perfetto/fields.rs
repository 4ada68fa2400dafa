//! Protobuf written straight into memory, for what a trace has most of. A message's length stands
//! before it: room is left for it, and it is filled in afterwards (docs/guide/traces.md).
//!
//! What must stay: bytes are protobuf's; a message written by `short` is below 128 bytes, one by
//! `message` has a length of two bytes. Free: what leaves the bytes of files as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `whole_runs_read_back` (`varint`,
//! `number`, `text`, `stamp`, `short`), `decisions_carry_the_average_run` (`message`). `double` has
//! no test of its own. `new`, `set` and `unsigned` by the first one, too.
//!
//! Callers: tracks.rs (`double`).
//!
//! Tests: crates/trace/tests/all/traces.rs

use crate::export::bytes::{Bytes, Piece, ROOM};

/// A time as fields have it, made once for all that happens then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    time_ns: u64,
    varint: Piece<16>,
}

impl Stamp {
    /// The bytes of this time, ns.
    pub(super) fn new(time_ns: u64) -> Self {
        let varint = Piece::new(|out| out.varint(time_ns));
        Self { time_ns, varint }
    }

    /// It is this time now.
    #[inline]
    pub(super) fn set(&mut self, time_ns: u64) {
        if self.time_ns != time_ns {
            *self = Self::new(time_ns);
        }
    }
}

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const DELIMITED: u64 = 2;

impl Bytes<'_> {
    /// A number, 7 bits a byte, the lowest first.
    #[inline]
    pub(super) fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.push(value as u8);
    }

    /// A whole number; 32-bit ones below 0 as protobuf has them, in 64 bits.
    #[inline]
    pub(super) fn number(&mut self, field: u64, value: impl Into<i64>) {
        self.unsigned(field, value.into().cast_unsigned());
    }

    /// A field with a number that is not below 0.
    #[inline]
    pub(super) fn unsigned(&mut self, field: u64, value: u64) {
        self.varint(field << 3 | VARINT);
        self.varint(value);
    }

    /// A field with the present time.
    #[inline]
    pub(super) fn stamp(&mut self, field: u64, stamp: &Stamp) {
        self.varint(field << 3 | VARINT);
        self.piece(&stamp.varint);
    }

    /// A field with a real number.
    #[inline]
    pub(super) fn double(&mut self, field: u64, value: f64) {
        self.varint(field << 3 | FIXED64);
        self.append(&value.to_le_bytes());
    }

    /// A field with a text.
    #[inline]
    pub(super) fn text(&mut self, field: u64, text: &str) {
        self.varint(field << 3 | DELIMITED);
        self.varint(text.len() as u64);
        self.append(text.as_bytes());
    }

    /// A message of less than 128 bytes.
    #[inline]
    pub(super) fn short(&mut self, field: u64, fields: impl FnOnce(&mut Self)) {
        self.varint(field << 3 | DELIMITED);
        let at = self.used();
        self.push(0);
        fields(self);
        let length = self.used() - at - 1;
        assert!(length < 1 << 7, "a short message");
        self.put(at, length as u8);
    }

    /// A message of any length that there is room for; that takes two bytes, which readers must
    /// take for any.
    #[inline]
    pub(super) fn message(&mut self, field: u64, fields: impl FnOnce(&mut Self)) {
        const { assert!(ROOM < 1 << 14, "two bytes of length") };
        self.varint(field << 3 | DELIMITED);
        let at = self.used();
        self.append(&[0; 2]);
        fields(self);
        let length = self.used() - at - 2;
        self.put(at, length as u8 | 0x80);
        self.put(at + 1, (length >> 7) as u8);
    }
}
