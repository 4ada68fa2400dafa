//! What a run and the guard of its loader say to each other, over a socket: the length in a word of
//! 32 bits, whether a descriptor goes along in a byte, the message (postcard), and the descriptor
//! with a byte of its own (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: both ends are the same program, so forms may change; lengths are bounded before
//! memory is taken. A broken end is None or an error, never a panic. Free: the form and the set of
//! messages.
//!
//! Tests by part: `messages_go_together_in_order` (`send`, `send_later`, `receive`, `framed`),
//! crates/cli/tests/all/wall.rs::`results_and_traces_are_written_through_the_wall` (`ask`, a
//! descriptor that goes along). `new` has no test of its own.
//!
//! Callers: load/calls.rs (the run's end), guard/serve.rs (the guard's end), crates/cli/src/wall.rs
//! (files of a worker).
//!
//! Tests: below

use crate::guard::passing;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Most bytes of one message: as much as one call may hand over, and what goes with it.
const MAX_MESSAGE: u32 = (MAX_BYTES + (1 << 20)) as u32;
/// Most bytes that one call may hand over.
pub(crate) const MAX_BYTES: u64 = 64 << 20;

/// A system call that waits for its answer.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RawCall {
    /// The notification's number; 0: there is none.
    pub(crate) id: u64,
    pub(crate) pid: u32,
    pub(crate) number: i64,
    pub(crate) args: [u64; 6],
}

/// Which file it is: an inode's number alone is that of one file on each file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct FileId {
    pub(crate) major: u32,
    pub(crate) minor: u32,
    pub(crate) inode: u64,
}

/// A loader to be started, and the files that it is to find.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    /// Paths without the first slash, and their content.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// Folders without files.
    pub(crate) folders: Vec<String>,
}

/// What a run asks of the guard. Its comment says what comes back.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Ask {
    /// `Result<u32, (errno, text)>`: the leader's number.
    Start(Start),
    /// [`Event`]: the next call, after so many ms at most. The run waits on this processor.
    Next(u32, u32),
    /// Nothing: the call returns that.
    Answer(RawCall, Reply),
    /// `Option<Vec<u8>>`: bytes of the caller.
    Read(RawCall, u64, u64),
    /// `bool`: bytes to the caller.
    Write(RawCall, u64, Vec<u8>),
    /// `Option<FileId>`: which file a descriptor of the caller's is.
    FileId(RawCall, u32),
    /// `Option<u64>`: where the caller has mapped a file.
    Mapped(RawCall, FileId),
    /// `Option<Option<u64>>` and a descriptor: a copy of one of the caller's, and the number that
    /// an event counter has.
    Descriptor(RawCall, u32),
    /// `Option<u64>` and a descriptor: a new event counter with these flags, and its number.
    Counter(i32),
    /// `Vec<u32>`: the leader's threads.
    Threads,
    /// `bool`: waits until a thread that ends is gone.
    Gone(u32),
    /// `String`: what a thread does that makes no call.
    Doing(u32),
    /// Nothing: a signal for the loader, which the caller has asked for.
    Signal(RawCall, i32),
    /// `Result<(), String>`: the clocks of the caller become calls.
    Clocks(RawCall),
    /// `Result<(), String>`: a scheduler of that name is attached.
    Enable(String),
    /// `Option<String>`: which other process of the loader's can reach one of these files.
    Sharer(Vec<FileId>),
    /// [`Ended`]: the loader and all that it has started is ended.
    End,
}

/// What a call returns.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// This; negative: an errno.
    Value(i64),
    /// A descriptor of the file that goes along.
    File,
    /// What the files of the modelled machine say.
    Tree,
    /// What the host says.
    Host,
}

/// What waiting brought.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    Call(Arrival),
    /// The loader has ended.
    Ended,
    /// Nothing, for so long.
    Silence,
    /// A call that its caller has given up.
    Nothing,
}

/// A call that has come.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Arrival {
    pub(crate) call: RawCall,
    /// A thread of the loader's own process makes it.
    pub(crate) of_loader: bool,
    /// The path that it names, if it names one.
    pub(crate) path: Option<String>,
    /// That path is one of the modelled machine's.
    pub(crate) of_tree: bool,
    /// Memory of the caller that such calls are answered by, as (address, bytes).
    pub(crate) seen: Vec<(u64, Vec<u8>)>,
}

/// How a loader has ended.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ended {
    /// As wait(2) has it; None: nobody knows.
    pub(crate) status: Option<i32>,
    /// The end of what it has printed.
    pub(crate) said: Vec<u8>,
}

/// One end of the conversation.
#[derive(Debug)]
pub struct Wire {
    pub(crate) socket: UnixStream,
    /// Messages that go with the next one.
    later: Vec<u8>,
}

impl Wire {
    /// `later` keeps what goes with the next message.
    pub(crate) fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            later: Vec::new(),
        }
    }

    /// Sends a message together with the next one: nothing comes back before that.
    pub(crate) fn send_later<T: Serialize>(&mut self, what: &T) -> io::Result<()> {
        self.later = framed(std::mem::take(&mut self.later), what, false)?;
        Ok(())
    }

    /// Sends a message, and a descriptor with it.
    ///
    /// # Errors
    /// The other end is gone, or the message is too long.
    pub fn send<T: Serialize>(&mut self, what: &T, file: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let bytes = framed(std::mem::take(&mut self.later), what, file.is_some())?;
        self.socket.write_all(&bytes)?;
        match file {
            Some(file) => passing::send(self.socket.as_raw_fd(), file.as_raw_fd()),
            None => Ok(()),
        }
    }

    /// The next message, and the descriptor that came with it. None: the other end is closed.
    ///
    /// # Errors
    /// It cannot be read, or is no such message.
    pub fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Option<(T, Option<OwnedFd>)>> {
        let mut head = [0; 5];
        match self.socket.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        if length > MAX_MESSAGE {
            return Err(io::Error::other("a message that is too long"));
        }
        let mut bytes = vec![0; length as usize];
        self.socket.read_exact(&mut bytes)?;
        let what = postcard::from_bytes(&bytes).map_err(io::Error::other)?;
        let file = match head[4] {
            0 => None,
            _ => Some(passing::receive(self.socket.as_fd())?),
        };
        Ok(Some((what, file)))
    }

    /// Asks, and waits for what comes back.
    ///
    /// # Errors
    /// As for the two.
    pub fn ask<T: DeserializeOwned>(
        &mut self,
        what: &impl Serialize,
    ) -> io::Result<(T, Option<OwnedFd>)> {
        self.send(what, None)?;
        let answer = self.receive()?;
        answer.ok_or_else(|| io::Error::other("the other end is gone"))
    }
}

/// A message after others, as it goes over the socket.
fn framed<T: Serialize>(before: Vec<u8>, what: &T, with_file: bool) -> io::Result<Vec<u8>> {
    let begin = before.len();
    let mut bytes = before;
    bytes.extend([0, 0, 0, 0, with_file.into()]);
    let mut bytes = postcard::to_extend(what, bytes).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len() - begin - 5).unwrap_or(u32::MAX);
    if length > MAX_MESSAGE {
        return Err(io::Error::other("a message that is too long"));
    }
    bytes[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::Wire;
    use std::os::unix::net::UnixStream;

    /// Goal: messages that need no answer go with the next one, in order.
    #[test]
    fn messages_go_together_in_order() {
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        let (mut from, mut to) = (Wire::new(ours), Wire::new(theirs));
        to.socket.set_nonblocking(true).expect("a socket");
        from.send_later(&1_u32).expect("kept");
        from.send_later(&2_u32).expect("kept");
        assert!(to.receive::<u32>().is_err(), "nothing has come yet");
        from.send(&3_u32, None).expect("sent");
        for expected in [1, 2, 3] {
            let (number, _) = to.receive::<u32>().expect("read").expect("there");
            assert_eq!(number, expected);
        }
    }
}
