//! What the process of a run says to the one that waits for it: batches of messages, each batch
//! after its length in a word of 32 bits. A message has the time since the one before it
//! (docs/guide/kernel.md, "In a run").
//!
//! What must stay: both ends are one program, so the form is free. Lengths are bounded before
//! memory is taken (`nonsense_is_refused`). Free: the form of batches, and how large one is.
//!
//! Tests by part: `messages_arrive_in_order` (`new`, `send`, `tell`, `flush`, `put`, `receive`,
//! `try_push`, `finalize`), `nonsense_is_refused` (`receive`).
//!
//! Callers: process.rs.
//!
//! Tests: below

use postcard::ser_flavors::Flavor;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use wakeplace_engine::{RunReport, Telling};

/// A batch is sent when it has as many bytes.
const BATCH: usize = 256 << 10;
/// Most messages have fewer bytes: they are written without asking for room.
const ROOM: usize = 4 << 10;
/// Most bytes of a batch: one message may exceed a full one.
const MAX_BATCH: u32 = 256 << 20;

/// A message.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// Something happened so long after what was told before, ns.
    Told(u64, Telling),
    /// The run is over.
    Ended(Box<RunReport>),
    /// The run cannot begin: why.
    Failed(String),
}

/// Bytes one after the other into room that is there: a message is a few numbers, for which a call
/// of memcpy each would take longer than the rest.
struct Bytes<'a> {
    to: &'a mut [u8],
    len: usize,
}

impl Flavor for Bytes<'_> {
    type Output = usize;

    /// A byte into the batch; full: the batch has no more room.
    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        let place = self.to.get_mut(self.len);
        *place.ok_or(postcard::Error::SerializeBufferFull)? = byte;
        self.len += 1;
        Ok(())
    }

    /// Bytes written.
    fn finalize(self) -> postcard::Result<usize> {
        Ok(self.len)
    }
}

/// The end that sends.
#[derive(Debug)]
pub(crate) struct Sender<W> {
    to: W,
    /// As long as a batch can be; the first `len` bytes are used.
    batch: Vec<u8>,
    len: usize,
    /// Time of what was told last, ns.
    told_ns: u64,
}

impl<W: Write> Sender<W> {
    /// Nothing told yet; times begin at 0.
    pub(crate) fn new(to: W) -> Self {
        Self {
            to,
            batch: vec![0; BATCH + ROOM],
            len: 0,
            told_ns: 0,
        }
    }

    /// Says that something happened at a time, ns.
    pub(crate) fn tell(&mut self, time_ns: u64, what: Telling) -> io::Result<()> {
        let since = time_ns - self.told_ns;
        self.told_ns = time_ns;
        self.send(&Message::Told(since, what))
    }

    /// Sends a message, with others if there are not enough yet.
    pub(crate) fn send(&mut self, message: &Message) -> io::Result<()> {
        let to = Bytes {
            to: &mut self.batch[self.len..],
            len: 0,
        };
        match postcard::serialize_with_flavor(message, to) {
            Ok(bytes) => self.len += bytes,
            Err(_) => {
                self.flush()?;
                let long = postcard::to_stdvec(message).map_err(io::Error::other)?;
                self.put(&long)?;
            }
        }
        match self.len < BATCH {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Sends what is left.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let batch = std::mem::take(&mut self.batch);
        let sent = self.put(&batch[..self.len]);
        (self.batch, self.len) = (batch, 0);
        sent
    }

    /// Writes one batch after its length.
    fn put(&mut self, batch: &[u8]) -> io::Result<()> {
        let length = u32::try_from(batch.len()).map_err(io::Error::other)?;
        self.to.write_all(&length.to_le_bytes())?;
        self.to.write_all(batch)?;
        self.to.flush()
    }
}

/// Hands each message to `take` until there are no more; `take` returns false to stop.
pub(crate) fn receive(
    mut from: impl Read,
    mut take: impl FnMut(Message) -> bool,
) -> io::Result<()> {
    let mut batch = Vec::new();
    loop {
        let mut length = [0; 4];
        match from.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        }
        let length = u32::from_le_bytes(length);
        if length > MAX_BATCH {
            return Err(io::ErrorKind::InvalidData.into());
        }
        batch.resize(length as usize, 0);
        from.read_exact(&mut batch)?;
        let mut rest = batch.as_slice();
        while !rest.is_empty() {
            let (message, after) = postcard::take_from_bytes(rest).map_err(io::Error::other)?;
            rest = after;
            if !take(message) {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BATCH, Message, Sender, receive};
    use wakeplace_engine::{Happening, RunReport, Telling};

    /// Goal: what is sent arrives whole and in order, over many batches.
    #[test]
    fn messages_arrive_in_order() {
        let mut sender = Sender::new(Vec::new());
        for at in 0..50_000 {
            let cpu = (at % 7) as u32;
            let told = Happening::Hotplug {
                cpu,
                online: at % 2 == 0,
            };
            let told = Telling::Happened(told);
            sender.tell(3 * at, told).expect("a vector");
        }
        // Longer than a batch.
        let failed = Message::Failed("x".repeat(3 * BATCH));
        sender.send(&failed).expect("a vector");
        let report = RunReport {
            end_ns: 7,
            ..RunReport::default()
        };
        sender
            .send(&Message::Ended(Box::new(report.clone())))
            .expect("a vector");
        sender.flush().expect("a vector");
        let (mut next, mut now, mut long, mut ended) = (0, 0, 0, None);
        receive(sender.to.as_slice(), |message| {
            match message {
                Message::Told(since, told) => {
                    now += since;
                    let expected = Happening::Hotplug {
                        cpu: (next % 7) as u32,
                        online: next % 2 == 0,
                    };
                    let expected = Telling::Happened(expected);
                    assert_eq!((now, &told), (3 * next, &expected));
                    next += 1;
                }
                Message::Ended(report) => ended = Some(*report),
                Message::Failed(why) => long = why.len(),
            }
            true
        })
        .expect("well formed");
        assert_eq!((next, long, ended), (50_000, 3 * BATCH, Some(report)));
    }

    /// Goal: bytes that are no messages are an error, however long they say they are.
    #[test]
    fn nonsense_is_refused() {
        for bytes in [
            &[255; 4][..],
            &[4, 0, 0, 0, 255, 255, 255, 255],
            &[9, 0, 0, 0, 1],
        ] {
            assert!(receive(bytes, |_| true).is_err(), "{bytes:?}");
        }
        assert!(receive(&[][..], |_| true).is_ok());
    }
}
