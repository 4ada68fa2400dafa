// SPDX-License-Identifier: GPL-2.0-only
//! One line each way, in bounded memory and bounded time, whatever the other end does; and the
//! threads that serve a bounded number of clients (docs/guide/live.md, "Steer").
//!
//! What must stay: a client costs bounded memory, time and threads; `a_gigabyte_is_refused` tries
//! it. Free: the bounds' sizes, if docs/guide/live.md follows.
//!
//! Tests by part: `a_gigabyte_is_refused` (`Lines`, `next`, `send`),
//! control/tests.rs::`a_client_that_says_nothing_is_sent_away_and_keeps_nobody_waiting` (`left`,
//! `now`: patience), control/tests.rs::`a_hundred_clients_are_served_or_told_to_come_again`
//! (`listen`, `Place`),
//! control/tests.rs::`the_end_takes_the_socket_away_and_a_busy_main_loop_is_not_waited_for`
//! (`Listening`, `start`, `drop`). `new` and `refusal` have no test of their own.
//!
//! Callers: control.rs and stats.rs (servers), client.rs (`Lines`, `send`).
//!
//! Tests: crates/scx/src/stats/tests.rs::a_gigabyte_is_refused, scripts/live/guest.sh

use crate::control::socket::{Socket, SocketError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Longest request, bytes.
pub(crate) const MAX_REQUEST: usize = 64 * 1024;
/// A client has this long to state its request, and as long again to take the answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);
/// Clients at once.
pub(crate) const MAX_CLIENTS: usize = 16;
/// After a failed accept (no descriptors left, say), before the next.
const PAUSE: Duration = Duration::from_millis(100);

/// Wall time: only for patience with clients.
#[allow(
    clippy::disallowed_methods,
    reason = "time-outs of real clients; nothing is decided by it"
)]
fn now() -> Instant {
    Instant::now()
}

/// What is left until then, at least something: a time-out of 0 would mean for ever.
fn left(until: Instant) -> io::Result<Duration> {
    match until.checked_duration_since(now()) {
        Some(left) if !left.is_zero() => Ok(left),
        _ => Err(ErrorKind::TimedOut.into()),
    }
}

/// Reads lines of one client, never more than one line and one block ahead.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    stream: &'a UnixStream,
    buffer: Vec<u8>,
    max: usize,
}

impl<'a> Lines<'a> {
    /// At most `max` bytes a line.
    pub(crate) fn new(stream: &'a UnixStream, max: usize) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
            max,
        }
    }

    /// The next line; `None` at the end of the stream.
    ///
    /// # Errors
    /// `TimedOut` if it is not there in time, `InvalidData` if it is too long.
    pub(crate) fn next(&mut self, patience: Duration) -> io::Result<Option<Vec<u8>>> {
        let until = now() + patience;
        let mut block = [0; 4096];
        let mut seen = 0;
        loop {
            if let Some(at) = self.buffer[seen..].iter().position(|b| *b == b'\n') {
                let rest = self.buffer.split_off(seen + at + 1);
                return Ok(Some(std::mem::replace(&mut self.buffer, rest)));
            }
            seen = self.buffer.len();
            if seen >= self.max {
                let text = format!("longer than {} bytes", self.max);
                return Err(io::Error::new(ErrorKind::InvalidData, text));
            }
            self.stream.set_read_timeout(Some(left(until)?))?;
            match self.stream.read(&mut block) {
                Ok(0) if seen == 0 => return Ok(None),
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(n) => self.buffer.extend_from_slice(&block[..n]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Err(ErrorKind::TimedOut.into());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Sends one line to the other end, with a time limit.
pub(crate) fn send(stream: &UnixStream, line: &[u8], patience: Duration) -> io::Result<()> {
    let until = now() + patience;
    let mut rest = line;
    let mut stream = stream;
    while !rest.is_empty() {
        stream.set_write_timeout(Some(left(until)?))?;
        match stream.write(rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(n) => rest = &rest[n..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What a server does with its clients.
pub(crate) trait Service: Send + Sync + 'static {
    /// A client that may speak. Whatever it does, this returns, or waits for its next request.
    fn serve(&self, stream: &UnixStream);
    /// The line that tells a client why it is not heard.
    fn refusal(&self, why: &str) -> Vec<u8>;
}

/// A socket and the threads behind it; dropped, it listens no more.
#[derive(Debug)]
pub(crate) struct Listening {
    end: Arc<AtomicBool>,
    path: PathBuf,
    thread: Option<JoinHandle<()>>,
}

impl Listening {
    /// Serves a socket on a thread of its own until this is dropped.
    pub(crate) fn start(socket: Socket, service: impl Service) -> Result<Self, SocketError> {
        let end = Arc::new(AtomicBool::new(false));
        let path = socket.path.clone();
        let seen = Arc::clone(&end);
        let service = Arc::new(service);
        let thread = thread::Builder::new()
            .name("listen".to_owned())
            .spawn(move || listen(&socket, &service, &seen))
            .map_err(|error| SocketError::Io {
                path: path.clone(),
                error,
            })?;
        Ok(Self {
            end,
            path,
            thread: Some(thread),
        })
    }
}

impl Drop for Listening {
    /// Ends the thread, which waits for a client: this connects.
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        // The thread waits for a client: this is one. If the file is gone, the thread ends with
        // the process.
        if UnixStream::connect(&self.path).is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

/// One client less when it is dropped, also by a panic.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    /// Counts one client fewer.
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Takes clients; those that may not, or are too many, are told why.
fn listen<S: Service>(socket: &Socket, service: &Arc<S>, end: &AtomicBool) {
    let clients = Arc::new(AtomicUsize::new(0));
    while !end.load(Ordering::Relaxed) {
        let Ok((stream, _)) = socket.listener.accept() else {
            thread::sleep(PAUSE);
            continue;
        };
        let why = socket.objection(&stream).or_else(|| {
            let many = clients.load(Ordering::Relaxed) >= MAX_CLIENTS;
            many.then(|| format!("{MAX_CLIENTS} clients are being served; try again"))
        });
        if let Some(why) = why {
            // Fits into the socket's buffer: waits for nobody.
            let _ = send(&stream, &service.refusal(&why), PATIENCE);
            continue;
        }
        clients.fetch_add(1, Ordering::Relaxed);
        let place = Place(Arc::clone(&clients));
        let service = Arc::clone(service);
        let client = move || {
            let _place = place;
            service.serve(&stream);
        };
        // Without a thread for it the client sees its connection closed.
        let _ = thread::Builder::new()
            .name("client".to_owned())
            .spawn(client);
    }
}
