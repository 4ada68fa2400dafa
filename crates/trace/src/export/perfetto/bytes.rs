//! Protobuf written straight into memory, for what a trace has most of: one element at a time. A
//! message's length stands before it: room is left for it, and it is filled in afterwards.

/// Bytes of the longest element, generously: an event has at most two names of 15 bytes and seven
/// numbers, a decision twelve numbers, each of at most 11 bytes with its key.
const ROOM: usize = 512;

/// Elements that wait to be written.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    /// What is beyond `used` is room.
    bytes: Vec<u8>,
    used: usize,
}

impl Chunk {
    /// Appends an element; returns its length.
    #[inline]
    pub(super) fn element(&mut self, write: impl FnOnce(&mut Bytes<'_>)) -> usize {
        if self.bytes.len() < self.used + ROOM {
            self.bytes.resize(2 * self.bytes.len() + ROOM, 0);
        }
        let room = self.bytes[self.used..].first_chunk_mut();
        let room = room.expect("as much as was just made");
        let mut element = Bytes { room, used: 0 };
        write(&mut element);
        let used = element.used;
        self.used += used;
        used
    }

    /// Appends what was made elsewhere.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.bytes.truncate(self.used);
        self.bytes.extend_from_slice(bytes);
        self.used = self.bytes.len();
    }

    pub(super) fn written(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    pub(super) fn clear(&mut self) {
        self.used = 0;
    }
}

/// An element being written.
pub(super) struct Bytes<'a> {
    room: &'a mut [u8; ROOM],
    used: usize,
}

/// Bytes that elements share, with room behind them: copying a whole number of words is a few
/// instructions, copying so many bytes is a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<const N: usize> {
    bytes: [u8; N],
    used: usize,
}

impl<const N: usize> Piece<N> {
    /// At most N bytes, as they are written.
    pub(super) fn new(write: impl FnOnce(&mut Bytes<'_>)) -> Self {
        let mut room = [0; ROOM];
        let mut element = Bytes {
            room: &mut room,
            used: 0,
        };
        write(&mut element);
        let used = element.used;
        assert!(used <= N, "{used} bytes in a piece of {N}");
        let mut bytes = [0; N];
        bytes[..used].copy_from_slice(&room[..used]);
        Self { bytes, used }
    }
}

/// A time as fields have it, made once for all that happens then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    time_ns: u64,
    varint: Piece<16>,
}

impl Stamp {
    pub(super) fn new(time_ns: u64) -> Self {
        let mut bytes = [0; 16];
        let (mut rest, mut used) = (time_ns, 0);
        while rest >= 0x80 {
            bytes[used] = rest as u8 | 0x80;
            (rest, used) = (rest >> 7, used + 1);
        }
        bytes[used] = rest as u8;
        let used = used + 1;
        let varint = Piece { bytes, used };
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
    #[inline]
    fn push(&mut self, byte: u8) {
        self.room[self.used] = byte;
        self.used += 1;
    }

    #[inline]
    fn append(&mut self, bytes: &[u8]) {
        self.room[self.used..self.used + bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
    }

    #[inline]
    pub(super) fn piece<const N: usize>(&mut self, piece: &Piece<N>) {
        self.room[self.used..self.used + N].copy_from_slice(&piece.bytes);
        self.used += piece.used;
    }

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

    #[inline]
    pub(super) fn unsigned(&mut self, field: u64, value: u64) {
        self.varint(field << 3 | VARINT);
        self.varint(value);
    }

    #[inline]
    pub(super) fn stamp(&mut self, field: u64, stamp: &Stamp) {
        self.varint(field << 3 | VARINT);
        self.piece(&stamp.varint);
    }

    #[inline]
    pub(super) fn double(&mut self, field: u64, value: f64) {
        self.varint(field << 3 | FIXED64);
        self.append(&value.to_le_bytes());
    }

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
        let at = self.used;
        self.push(0);
        fields(self);
        let length = self.used - at - 1;
        assert!(length < 1 << 7, "a short message");
        self.room[at] = length as u8;
    }

    /// A message of any length that there is room for; that takes two bytes, which readers must
    /// take for any.
    #[inline]
    pub(super) fn message(&mut self, field: u64, fields: impl FnOnce(&mut Self)) {
        const { assert!(ROOM < 1 << 14, "two bytes of length") };
        self.varint(field << 3 | DELIMITED);
        let at = self.used;
        self.append(&[0; 2]);
        fields(self);
        let length = self.used - at - 2;
        self.room[at] = length as u8 | 0x80;
        self.room[at + 1] = (length >> 7) as u8;
    }
}
