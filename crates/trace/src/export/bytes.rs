//! Elements written straight into memory, one at a time. There is room for the longest before it is
//! begun, so that nothing in it asks for more (docs/guide/traces.md).
//!
//! What must stay: an element has room for the longest one (`ROOM`) before it is begun, and nothing
//! but that is checked: this takes most of the time of a trace. What `words` writes behind an
//! element the next one overwrites. Free: what leaves the bytes of files as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `fields_are_as_the_kernel_prints_them` (`element`, `piece`, `words`), `whole_runs_read_back`
//! (`append`, `written`, `clear`). `new`, `used`, `push` and `put` are what these are made of.
//!
//! Callers: many files (`piece`).
//!
//! Tests: crates/trace/tests/all/traces.rs::whole_runs_read_back,
//! crates/trace/src/export/ftrace.rs::fields_are_as_the_kernel_prints_them

/// Bytes of the longest element, generously: an event has at most two names of 15 bytes and seven
/// numbers, a decision twelve numbers. In protobuf a number takes at most 11 bytes with its key, in
/// text at most 36 with what stands before it.
pub(super) const ROOM: usize = 512;

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

    /// What was appended since the last `clear`.
    #[inline]
    pub(super) fn written(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    /// Forgets what was appended and keeps the memory.
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

impl Bytes<'_> {
    /// Bytes of this element so far.
    #[inline]
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// One byte more. There is room: the longest element fits.
    #[inline]
    pub(super) fn push(&mut self, byte: u8) {
        self.room[self.used] = byte;
        self.used += 1;
    }

    /// These bytes more.
    #[inline]
    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.room[self.used..self.used + bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
    }

    /// What was made before, once for many elements.
    #[inline]
    pub(super) fn piece<const N: usize>(&mut self, piece: &Piece<N>) {
        self.words(&piece.bytes, piece.used);
    }

    /// The first bytes of these; the others are overwritten by what follows.
    #[inline]
    pub(super) fn words<const N: usize>(&mut self, bytes: &[u8; N], used: usize) {
        self.room[self.used..self.used + N].copy_from_slice(bytes);
        self.used += used;
    }

    /// Writes over what was written before.
    #[inline]
    pub(super) fn put(&mut self, at: usize, byte: u8) {
        self.room[at] = byte;
    }
}
