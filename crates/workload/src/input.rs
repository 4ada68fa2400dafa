//! Reading workload files: capped, so that no input can fill the memory (ARCHITECTURE.md,
//! "Invariants": hostile input).
//!
//! Called for every file of a workload. The limit is `READ_LIMIT_BYTES`: a larger one is free. No
//! file is opened for writing.
//!
//! What must stay: no file and no pipe is read beyond `READ_LIMIT_BYTES`; `-` is standard input; a
//! file that cannot be read is an error with its name. Tests by part:
//! `an_endless_reader_is_refused_after_the_limit` (`read_capped`),
//! `a_missing_file_and_a_folder_are_read_errors` (`read`, `read_error`),
//! bad_input.rs::`standard_input_is_read_as_a_workload` (`standard_input`).
//!
//! Tests: below, crates/cli/tests/all/bad_input.rs
use crate::error::WorkloadError;
use std::fs::File;
use std::io::{self, IsTerminal as _, Read, StdinLock};

/// The most that is read of a workload file, bytes. The largest file in use (a generated LISA
/// workload) has some 100 KiB; rt-app itself reads at most 4096 bytes of standard input (rt-app
/// 55cb0c0 src/rt-app_parse_config.c, `JSON_FILE_BUF_SIZE`), which is not imitated.
pub const READ_LIMIT_BYTES: u64 = 16 << 20;

/// Reads a file, or standard input for `-`.
pub(crate) fn read(path: &str) -> Result<Vec<u8>, WorkloadError> {
    if path == "-" {
        let stdin = standard_input().map_err(|source| read_error(path, source))?;
        return read_capped(stdin, path);
    }
    let file = File::open(path).map_err(|source| read_error(path, source))?;
    read_capped(file, path)
}

/// Standard input, to be read to its end. Of a terminal nobody would know that it is waited for.
///
/// # Errors
/// It is a terminal.
pub fn standard_input() -> io::Result<StdinLock<'static>> {
    let stdin = io::stdin();
    match stdin.is_terminal() {
        true => Err(io::Error::other(
            "standard input is a terminal; give it a file or a pipe, as `- < FILE`",
        )),
        false => Ok(stdin.lock()),
    }
}

/// Reads to the end, but never more than one byte over the limit.
pub(crate) fn read_capped(reader: impl Read, path: &str) -> Result<Vec<u8>, WorkloadError> {
    let mut bytes = Vec::new();
    reader
        .take(READ_LIMIT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| read_error(path, source))?;
    if bytes.len() as u64 > READ_LIMIT_BYTES {
        return Err(WorkloadError::TooLarge {
            file: path.to_owned(),
            limit: READ_LIMIT_BYTES,
        });
    }
    Ok(bytes)
}

/// The file cannot be read, for the system's reason.
fn read_error(path: &str, source: io::Error) -> WorkloadError {
    WorkloadError::Read {
        file: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts what is taken from an endless reader.
    struct Endless(u64);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(b'[');
            self.0 += buffer.len() as u64;
            Ok(buffer.len())
        }
    }

    #[test]
    fn an_endless_reader_is_refused_after_the_limit() {
        let mut reader = Endless(0);
        let error = read_capped(&mut reader, "-").expect_err("endless");
        assert!(matches!(error, WorkloadError::TooLarge { .. }), "{error}");
        assert!(reader.0 <= READ_LIMIT_BYTES + 1, "{} bytes taken", reader.0);
    }

    #[test]
    fn a_missing_file_and_a_folder_are_read_errors() {
        for path in ["/nonexistent/a.json", "/"] {
            let error = read(path).expect_err("unreadable");
            assert!(error.to_string().starts_with(path), "{error}");
        }
    }
}
