//! What a loader prints. It goes through a pipe that is always emptied, so that a loader never
//! waits; its end is kept, and all of it goes to a file if the user wants it
//! (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: the pipe is emptied at every look. What is kept is bounded; the file has all.
//! Free: how much of the end is kept.
//!
//! Tests by part: `the_end_is_kept` (`new`, `take`, `keep`, `last`),
//! crates/cli/tests/all/syscall_programs.rs::`a_program_gives_what_a_kernel_gives` (the file of
//! WAKEPLACE_LOADER_OUTPUT), schedulers.rs::`wrong_options_are_refused` (a file that cannot be
//! made).
//!
//! Callers: guard/serve.rs (`new`, `last`), guard/process.rs (`take`, at each look).
//!
//! Tests: below

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};

/// The file that gets what loaders print.
const FILE: &str = "WAKEPLACE_LOADER_OUTPUT";
/// What is kept of it, bytes.
const KEPT_BYTES: usize = 16 << 10;
/// What goes to the file of one loader's at most, bytes.
const FILE_BYTES: u64 = 64 << 20;
/// Written in its place from then on.
const CUT: &[u8] = b"\n[a loader printed more than 64 MiB: the rest is left out]\n";

/// The pipe's end that is read.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) pipe: File,
    last: Vec<u8>,
    file: Option<File>,
    written: u64,
}

impl Output {
    /// A new one, and the end that the loader writes to.
    pub(super) fn new() -> io::Result<(Self, OwnedFd)> {
        let open = |path| File::options().create(true).append(true).open(path);
        let file = std::env::var_os(FILE).map(open).transpose();
        let file =
            file.map_err(|error| io::Error::new(error.kind(), format!("{FILE}: {error}")))?;
        let (pipe, theirs) = io::pipe()?;
        let pipe = File::from(OwnedFd::from(pipe));
        // SAFETY: a plain system call on our descriptor.
        let done = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        super::checked(done.into())?;
        let output = Self {
            pipe,
            last: Vec::new(),
            file,
            written: 0,
        };
        Ok((output, theirs.into()))
    }

    /// Takes what is there. False: nobody writes any more.
    pub(super) fn take(&mut self) -> bool {
        let mut bytes = [0; 8192];
        loop {
            match self.pipe.read(&mut bytes) {
                Ok(0) => return false,
                Ok(count) => self.keep(&bytes[..count]),
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
        }
    }

    /// Keeps the end of what was printed.
    fn keep(&mut self, bytes: &[u8]) {
        if let Some(file) = &mut self.file {
            let room = FILE_BYTES.saturating_sub(self.written);
            let fits = &bytes[..bytes.len().min(room as usize)];
            // There is nobody to tell.
            let _ = file.write_all(fits);
            if room > 0 && room <= bytes.len() as u64 {
                let _ = file.write_all(CUT);
            }
            self.written += fits.len() as u64;
        }
        self.last.extend(bytes);
        let more = self.last.len().saturating_sub(KEPT_BYTES);
        self.last.drain(..more);
    }

    /// Gives the end of what the loader has printed.
    pub(super) fn last(&self) -> &[u8] {
        &self.last
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT_BYTES, Output};
    use std::fs::File;
    use std::io::Write as _;

    /// Goal: who prints without end fills no memory, does not wait, and its last words are kept.
    #[test]
    fn the_end_is_kept() {
        let (mut output, theirs) = Output::new().expect("a pipe");
        let mut theirs = File::from(theirs);
        for _ in 0..100 {
            theirs.write_all(&[b'x'; 4096]).expect("room");
            assert!(output.take());
        }
        theirs.write_all(b"the last words").expect("room");
        drop(theirs);
        assert!(!output.take());
        assert_eq!(output.last().len(), KEPT_BYTES);
        assert!(output.last().ends_with(b"xthe last words"));
    }
}
