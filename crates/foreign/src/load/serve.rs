//! Answers the loader's calls until it has attached a scheduler.

use super::notify::{self, Answer, Call, Event, FileId};
use super::spawn::{self, Spawned};
use super::tree::Tree;
use super::{Attached, bpf};
use crate::ForeignError;
use crate::kernel::{Layout, State};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wakeplace_bpf_vm::{Btf, Vm};

/// A loader that makes no call for so long hangs.
const PATIENCE: Duration = Duration::from_secs(30);
/// ... and one that has not attached after so long.
const LONGEST: Duration = Duration::from_secs(300);

/// What a descriptor of the loader's stands for.
#[derive(Clone, Debug)]
pub(super) enum Object {
    Map(usize),
    Program(usize),
    /// A program that nothing here calls: tracing.
    Uncalled(String),
    Btf(Arc<Btf>),
    Link,
}

/// What is known while a loader runs.
pub(super) struct Session<'a> {
    pub(super) tree: &'a Tree,
    pub(super) release: &'a str,
    pub(super) kernel: Arc<Btf>,
    pub(super) layout: Arc<Layout>,
    pub(super) vm: Vm,
    /// Programs that refer to an arena, with its map.
    pub(super) arena_of: BTreeMap<usize, usize>,
    pub(super) state: State,
    /// Our files that the loader has, and what they stand for.
    pub(super) objects: BTreeMap<FileId, (Object, OwnedFd)>,
    /// Programs with their types.
    pub(super) types: Vec<u32>,
    /// The table of callbacks, by map, as it was last written.
    pub(super) tables: BTreeMap<usize, bpf::Table>,
    /// What was refused, by name.
    pub(super) refused: Vec<String>,
    /// Tracing programs that were attached.
    pub(super) uncalled: Vec<String>,
    pub(super) attached: Option<Attached>,
    /// The loader's process, as the host numbers it.
    pub(super) loader: u32,
    /// Where the sequence of "random" bytes stands.
    pub(super) random: u64,
}

impl Session<'_> {
    fn answer(&mut self, call: &Call) -> Answer {
        match call.number {
            libc::SYS_bpf => self.bpf(call),
            libc::SYS_perf_event_open => self.perf_event(call),
            libc::SYS_uname => self.uname(call),
            libc::SYS_sched_getaffinity => self.affinity(call),
            libc::SYS_sched_setaffinity => Answer::Value(0),
            // Who left the group would not end with it.
            libc::SYS_getpid | libc::SYS_gettid => self.pid(call),
            libc::SYS_kill | libc::SYS_tgkill => self.signal(call),
            libc::SYS_getrandom => self.random(call),
            libc::SYS_setsid | libc::SYS_setpgid => Answer::error(libc::EPERM),
            libc::SYS_epoll_ctl => match self.object(call, call.args[2] as u32) {
                Some(_) => Answer::Value(0),
                None => Answer::Host,
            },
            libc::SYS_ioctl => match self.object(call, call.args[0] as u32) {
                Some(_) => Answer::Value(0),
                None => Answer::Host,
            },
            libc::SYS_prlimit64 => match (call.args[1], call.args[2]) {
                (resource, new) if resource == u64::from(libc::RLIMIT_MEMLOCK) && new != 0 => {
                    Answer::Value(0)
                }
                _ => Answer::Host,
            },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_setrlimit => match call.args[0] {
                resource if resource == u64::from(libc::RLIMIT_MEMLOCK) => Answer::Value(0),
                _ => Answer::Host,
            },
            _ => self.path_call(call),
        }
    }

    /// Tracepoints can be opened, none is hit; there are no counters.
    fn perf_event(&mut self, call: &Call) -> Answer {
        const TRACEPOINT: u32 = 2;
        let kind = call
            .read(call.args[0], 4)
            .and_then(|kind| kind.first_chunk().copied());
        match kind.map(u32::from_le_bytes) {
            Some(TRACEPOINT) => self.give(Object::Link, 4096),
            _ => Answer::error(libc::ENOENT),
        }
    }

    /// What a descriptor of the loader's stands for, if it is one of ours.
    pub(super) fn object(&self, call: &Call, fd: u32) -> Option<&Object> {
        let id = call.file_id(fd)?;
        self.objects.get(&id).map(|(object, _)| object)
    }
}

/// Runs the loader until it has attached a scheduler; then it ends.
pub(super) fn serve(
    session: &mut Session<'_>,
    shown: &str,
    program: &Path,
    args: &[String],
) -> Result<Attached, ForeignError> {
    let mut output = tempfile::tempfile().map_err(ForeignError::host("a temporary file"))?;
    let Spawned {
        mut child,
        listener,
    } = spawn::spawn(program, args, &output)?;
    session.loader = child.id();
    let ended = follow(session, &listener);
    let shown = shown.to_owned();
    let status = spawn::end(&mut child);
    match ended {
        Ok(Outcome::Attached(attached)) => Ok(*attached),
        Ok(Outcome::Ended) => Err(ForeignError::Ended {
            program: shown,
            how: how(status),
            said: said(session, &mut output),
        }),
        Ok(Outcome::Silence) => Err(ForeignError::Hangs {
            program: shown,
            seconds: PATIENCE.as_secs(),
            said: said(session, &mut output),
        }),
        Err(error) => Err(error),
    }
}

enum Outcome {
    Attached(Box<Attached>),
    Ended,
    Silence,
}

fn follow(session: &mut Session<'_>, listener: &OwnedFd) -> Result<Outcome, ForeignError> {
    #[allow(clippy::disallowed_methods, reason = "the loader is of the real world")]
    let began = Instant::now();
    loop {
        if began.elapsed() > LONGEST {
            return Ok(Outcome::Silence);
        }
        let event = notify::wait(listener, PATIENCE);
        match event.map_err(ForeignError::host("calls of the scheduler's loader"))? {
            Event::Silence => return Ok(Outcome::Silence),
            Event::Nothing => {}
            Event::Ended => return Ok(Outcome::Ended),
            Event::Call(call) => {
                let answer = session.answer(&call);
                // It stays where it is, in the call that attaches.
                if let Some(attached) = session.attached.take() {
                    return Ok(Outcome::Attached(Box::new(attached)));
                }
                notify::respond(listener, &call, &answer);
            }
        }
    }
}

fn how(status: io::Result<ExitStatus>) -> String {
    match status {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("ended with exit code {code}"),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => "ended".to_owned(),
        },
        Err(_) => "ended".to_owned(),
    }
}

/// A line without the sequences that colour it in a terminal: ESC, `[`, parameters, a final letter
/// (ECMA-48 5.4).
fn without_escapes(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' || rest.next_if_eq(&'[').is_none() {
            out.push(c);
            continue;
        }
        while rest.next_if(|c| (' '..='?').contains(c)).is_some() {}
        rest.next_if(|c| ('@'..='~').contains(c));
    }
    out
}

/// What was refused, and the loader's last lines.
fn said(session: &Session<'_>, output: &mut File) -> String {
    let mut text = String::new();
    let _ = output.seek(SeekFrom::Start(0));
    let mut bytes = Vec::new();
    let _ = output.take(1 << 20).read_to_end(&mut bytes);
    for refused in &session.refused {
        text.push_str(&format!("; {refused}"));
    }
    let lines = String::from_utf8_lossy(&bytes);
    let lines: Vec<_> = lines
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = &lines[lines.len().saturating_sub(4)..];
    if !last.is_empty() {
        let last: Vec<_> = last
            .iter()
            .map(|line| wakeplace_text::printable(&without_escapes(line)).into_owned())
            .collect();
        text.push_str(&format!("; it said: {}", last.join(" / ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::without_escapes;

    #[test]
    fn colours_are_no_words() {
        let line = "\u{1b}[2m12:00\u{1b}[0m \u{1b}[1;31mERROR\u{1b}[0m no [map] here\u{1b}[";
        assert_eq!(without_escapes(line), "12:00 ERROR no [map] here");
        assert_eq!(without_escapes("\u{1b}c"), "\u{1b}c");
    }
}
