//! Protobuf written straight into a buffer, for what a trace has most of. A message's length stands
//! before it: room is left for it, and it is filled in afterwards.

/// Writes fields.
pub(super) struct Bytes<'a>(pub(super) &'a mut Vec<u8>);

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const DELIMITED: u64 = 2;

impl Bytes<'_> {
    pub(super) fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A whole number; 32-bit ones below 0 as protobuf has them, in 64 bits.
    pub(super) fn number(&mut self, field: u64, value: impl Into<i64>) {
        self.unsigned(field, value.into().cast_unsigned());
    }

    pub(super) fn unsigned(&mut self, field: u64, value: u64) {
        self.varint(field << 3 | VARINT);
        self.varint(value);
    }

    pub(super) fn double(&mut self, field: u64, value: f64) {
        self.varint(field << 3 | FIXED64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn text(&mut self, field: u64, text: &str) {
        self.varint(field << 3 | DELIMITED);
        self.varint(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    /// A message of less than 16 KiB; its length takes two bytes, which readers must take for any.
    pub(super) fn message(&mut self, field: u64, fields: impl FnOnce(&mut Bytes<'_>)) {
        self.varint(field << 3 | DELIMITED);
        let at = self.0.len();
        self.0.extend_from_slice(&[0; 2]);
        fields(&mut Bytes(self.0));
        let length = self.0.len() - at - 2;
        assert!(length < 1 << 14, "a small message");
        self.0[at] = length as u8 | 0x80;
        self.0[at + 1] = (length >> 7) as u8;
    }
}
