//! What the process of a run says to the one that waits for it: batches of messages, each batch
//! after its length in a word of 32 bits.

use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use wakeplace_engine::{Happening, RunReport};

/// A batch is sent when it has as many bytes.
const BATCH: usize = 64 << 10;
/// Most bytes of a batch: one message may exceed a full one.
const MAX_BATCH: u32 = 256 << 20;

/// A message.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// Something happened at this time, ns.
    Told(u64, Happening),
    /// The run is over.
    Ended(Box<RunReport>),
    /// The run cannot begin: why.
    Failed(String),
}

/// The end that sends.
#[derive(Debug)]
pub(crate) struct Sender<W> {
    to: W,
    batch: Vec<u8>,
}

impl<W: Write> Sender<W> {
    pub(crate) fn new(to: W) -> Self {
        Self {
            to,
            batch: Vec::with_capacity(2 * BATCH),
        }
    }

    /// Sends a message, with others if there are not enough yet.
    pub(crate) fn send(&mut self, message: &Message) -> io::Result<()> {
        let batch = std::mem::take(&mut self.batch);
        self.batch = postcard::to_extend(message, batch).map_err(io::Error::other)?;
        match self.batch.len() < BATCH {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Sends what is left.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let length = u32::try_from(self.batch.len()).map_err(io::Error::other)?;
        self.to.write_all(&length.to_le_bytes())?;
        self.to.write_all(&self.batch)?;
        self.batch.clear();
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
    use super::{Message, Sender, receive};
    use wakeplace_engine::{Happening, RunReport};

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
            sender.send(&Message::Told(at, told)).expect("a vector");
        }
        let report = RunReport {
            end_ns: 7,
            ..RunReport::default()
        };
        sender
            .send(&Message::Ended(Box::new(report.clone())))
            .expect("a vector");
        sender.flush().expect("a vector");
        let (mut next, mut ended) = (0, None);
        receive(sender.to.as_slice(), |message| {
            match message {
                Message::Told(at, told) => {
                    let cpu = (at % 7) as u32;
                    assert_eq!(
                        (at, &told),
                        (
                            next,
                            &Happening::Hotplug {
                                cpu,
                                online: at % 2 == 0
                            }
                        )
                    );
                    next += 1;
                }
                Message::Ended(report) => ended = Some(*report),
                Message::Failed(why) => panic!("{why}"),
            }
            true
        })
        .expect("well formed");
        assert_eq!((next, ended), (50_000, Some(report)));
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
