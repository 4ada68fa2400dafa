//! What a guard does for a run: message by message. Each message of `wire` has its answer here
//! (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: a run's message has one answer. A guard believes nothing of what a run asks that
//! its rights do not allow. Free: how callers are kept; a new message with its right.
//!
//! Tests by part: wall.rs::`nothing_of_a_loader_outlives_the_run` (`serve`, `end`, `drop`),
//! interception.rs::`results_do_not_depend_on_the_way` (`start`, `next`, `carry_out`, `arrival`,
//! `answer`, `caller`, `caller_of`, `known`),
//! interception.rs::`virtual_time_does_not_depend_on_the_way` (`asked_for`, `counter`,
//! `send_counter`, `threads`, `is_thread`, `gone`),
//! schedulers.rs::`a_loader_that_hangs_leaves_nothing_behind` (`is_over`, `has_ended`),
//! schedulers.rs::`a_loader_runs_in_virtual_time` (`replace_clocks`),
//! interception.rs::`what_goes_wrong_is_named_by_ptrace_too` (`signal`). `Rights` (`allow`) has no
//! test that is refused; `stay` changes times only. `doing`:
//! `what_a_silent_thread_does_is_named`.
//!
//! Callers: wall/keeper.rs (a process), wall/mod.rs (`on_thread`).
//!
//! Tests: below, crates/cli/tests/all/schedulers.rs::a_loader_runs_in_virtual_time,
//! crates/cli/tests/all/wall.rs::a_guard_that_is_killed_ends_the_run

use super::kin::{self, Kin};
use super::memory::{Caller, Opened};
use super::output::Output;
use super::process::{Beside, Calls, polled};
use super::tree::Tree;
use super::{Answer, Event as Came, checked, paths, spawn, vdso, way};
use crate::wire::{Arrival, Ask, Ended, Event, RawCall, Reply, Start, Wire};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// So often it is looked whether the loader has ended, if no call comes.
const LOOK: Duration = Duration::from_millis(100);
/// A thread that ends is gone after so long.
const GONE: Duration = Duration::from_secs(30);

/// What a run may have started.
#[derive(Clone, Debug)]
pub(crate) enum Rights {
    /// Any program: the run is of this process.
    Any,
    /// These programs with their arguments, and no other.
    These(Vec<(PathBuf, Vec<String>)>),
}

impl Rights {
    /// May this program be started with these arguments? A guard of a walled run starts what was
    /// named and nothing else.
    fn allow(&self, program: &Path, args: &[String]) -> bool {
        match self {
            Self::Any => true,
            Self::These(all) => (all.iter()).any(|(path, with)| path == program && with == args),
        }
    }
}

/// A loader that runs, and who guards it.
#[derive(Debug)]
pub(crate) struct Guard {
    wire: Wire,
    rights: Rights,
    /// The guard is a process: all that descends from it is the loader's.
    is_process: bool,
    loader: Option<Loader>,
}

#[derive(Debug)]
struct Loader {
    calls: Calls,
    leader: u32,
    /// The same, to look at its descriptors.
    process: Option<OwnedFd>,
    opened: Opened,
    output: Output,
    tree: Tree,
    kin: Kin,
    /// Calls that were handed out and have no answer, by number and caller. A run names one of
    /// these, and nobody else.
    open: BTreeMap<(u64, u32), RawCall>,
    near: Near,
    /// It was ended.
    over: bool,
}

/// Where a guard runs: on the processor of the run that waits for it. To wake it elsewhere takes
/// longer than what it does.
#[derive(Debug, Default)]
struct Near(Option<u32>);

impl Near {
    /// A processor that this thread may not use leaves it where it is.
    fn stay(&mut self, processor: u32) {
        if self.0.replace(processor) == Some(processor) || processor >= libc::CPU_SETSIZE as u32 {
            return;
        }
        // SAFETY: the set is of the size that is said, and the number within it.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(processor as usize, &mut set);
            libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
        }
    }
}

/// A guard on a thread of this process. It ends with the other end of the socket.
pub(crate) fn on_thread(wire: Wire) -> io::Result<()> {
    let serve = move || Guard::new(wire, Rights::Any, false).serve();
    std::thread::Builder::new().spawn(serve).map(drop)
}

impl Guard {
    /// `is_process`: this guard is a process of its own, and ends as one.
    pub(crate) fn new(wire: Wire, rights: Rights, is_process: bool) -> Self {
        Self {
            wire,
            rights,
            is_process,
            loader: None,
        }
    }

    /// Until the run is gone. The loader ends with it.
    pub(crate) fn serve(mut self) {
        // What cannot be said has nobody who hears it.
        while let Ok(Some(ask)) = self.next() {
            if self.carry_out(ask).is_err() {
                break;
            }
        }
    }

    /// The next message. What the loader prints is taken meanwhile.
    fn next(&mut self) -> io::Result<Option<(Ask, Option<OwnedFd>)>> {
        let mut writes = true;
        while let Some(loader) = self.loader.as_mut().filter(|_| writes) {
            let output = &mut loader.output;
            let mut all = [
                polled(self.wire.socket.as_raw_fd(), libc::POLLIN),
                polled(output.pipe.as_raw_fd(), libc::POLLIN),
            ];
            // SAFETY: descriptors that live.
            unsafe { libc::poll(all.as_mut_ptr(), 2, -1) };
            if all[1].revents != 0 {
                writes = output.take();
            }
            if all[0].revents != 0 {
                break;
            }
        }
        self.wire.receive()
    }

    /// Does what the run asks, and says what came of it.
    fn carry_out(&mut self, (ask, file): (Ask, Option<OwnedFd>)) -> io::Result<()> {
        let Self { wire, loader, .. } = self;
        let loader = match (ask, loader) {
            (Ask::Start(start), _) => return self.start(&start),
            (ask, Some(loader)) => (ask, loader),
            (_, None) => return Err(io::Error::other("no loader was started")),
        };
        let (ask, loader) = loader;
        match ask {
            Ask::Start(_) => Ok(()),
            Ask::Next(ms, processor) => {
                loader.near.stay(processor);
                let patience = Duration::from_millis(ms.into());
                let event = loader.next(patience, wire.socket.as_raw_fd())?;
                wire.send(&event, None)
            }
            Ask::Answer(call, reply) => {
                let call = loader.known(&call)?;
                loader.open.remove(&(call.id, call.pid));
                loader.answer(&call, reply, file);
                Ok(())
            }
            Ask::Read(call, at, bytes) => wire.send(&loader.caller(&call)?.read(at, bytes), None),
            Ask::Write(call, at, bytes) => {
                wire.send(&loader.caller(&call)?.write(at, &bytes), None)
            }
            Ask::FileId(call, fd) => wire.send(&loader.caller(&call)?.file_id(fd), None),
            Ask::Mapped(call, file) => wire.send(&loader.caller(&call)?.mapped(file), None),
            Ask::Descriptor(call, fd) => {
                let call = loader.known(&call)?;
                let copy = loader.calls.descriptor(loader.process.as_ref(), &call, fd);
                // In the notification way the caller may have ended before the copy was made.
                let copy = copy.filter(|_| loader.calls.waits(&call));
                send_counter(wire, copy)
            }
            Ask::Counter(flags) => send_counter(wire, counter(flags).ok()),
            Ask::Threads => wire.send(&threads(loader.leader), None),
            Ask::Gone(tid) => wire.send(&gone(loader.leader, tid), None),
            Ask::Doing(tid) => wire.send(&doing(loader.leader, tid), None),
            Ask::Signal(call, signal) => {
                loader.signal(&loader.known(&call)?, signal);
                Ok(())
            }
            Ask::Clocks(call) => {
                let replaced = loader.replace_clocks(&loader.known(&call)?);
                wire.send(&replaced.map_err(|error| error.to_string()), None)
            }
            Ask::Enable(name) => {
                let enabled = loader.tree.enable(&name);
                wire.send(&enabled.map_err(|error| error.to_string()), None)
            }
            Ask::Sharer(files) => {
                let files = files.into_iter().collect();
                let sharer = loader.kin.sharer(loader.leader, &files);
                wire.send(&sharer, None)
            }
            Ask::End => wire.send(&loader.end(), None),
        }
    }

    /// Starts the loader that the run asks for.
    fn start(&mut self, start: &Start) -> io::Result<()> {
        let program = PathBuf::from(&start.program);
        let allowed = self.loader.is_none() && self.rights.allow(&program, &start.args);
        let started = match allowed {
            true => Loader::start(&program, start, self.is_process),
            false => Err(io::ErrorKind::PermissionDenied.into()),
        };
        let answer = match &started {
            Ok(loader) => Ok(loader.leader),
            Err(error) => Err((error.raw_os_error(), error.to_string())),
        };
        self.loader = started.ok();
        self.wire.send(&answer, None)
    }
}

impl Loader {
    /// Starts the loader, with its folder of files and a pipe for what it prints.
    fn start(program: &Path, start: &Start, is_process: bool) -> io::Result<Self> {
        spawn::allow_descriptors();
        let way = way::chosen().map_err(io::Error::other)?;
        let tree = Tree::new(&std::env::temp_dir(), start)?;
        let (output, theirs) = Output::new()?;
        let (calls, leader) = spawn::spawn(program, &start.args, theirs, way.way)?;
        Ok(Self {
            calls,
            leader,
            process: super::pidfd(leader).ok(),
            opened: Opened::default(),
            output,
            tree,
            kin: Kin::of(match is_process {
                true => std::process::id(),
                false => leader,
            }),
            open: BTreeMap::new(),
            near: Near::default(),
            over: false,
        })
    }

    /// A call that was handed out, as it came.
    fn known(&self, named: &RawCall) -> io::Result<RawCall> {
        let known = self.open.get(&(named.id, named.pid)).copied();
        known.ok_or_else(|| io::ErrorKind::PermissionDenied.into())
    }

    /// Who made a call that was handed out; an error if that is gone.
    fn caller(&self, named: &RawCall) -> io::Result<Caller<'_>> {
        Ok(Caller {
            call: self.known(named)?,
            calls: &self.calls,
            opened: &self.opened,
        })
    }

    /// Who made a call that has just come, or whose answer goes out.
    fn caller_of(&self, call: RawCall) -> Caller<'_> {
        Caller {
            call,
            calls: &self.calls,
            opened: &self.opened,
        }
    }

    /// The next call. A loader that has ended makes none, though processes of its own may live.
    fn next(&mut self, patience: Duration, run: i32) -> io::Result<Event> {
        let mut silent = Duration::ZERO;
        loop {
            let mut beside = Beside {
                output: &mut self.output,
                run,
            };
            match self.calls.wait(LOOK.min(patience), &mut beside)? {
                Came::Silence if is_over(self.leader) => return Ok(Event::Ended),
                Came::Silence if silent + LOOK < patience => silent += LOOK,
                Came::Silence => return Ok(Event::Silence),
                Came::Ended => return Ok(Event::Ended),
                Came::Nothing => return Ok(Event::Nothing),
                Came::Call(call) => {
                    self.open.insert((call.id, call.pid), call);
                    return Ok(Event::Call(self.arrival(call)));
                }
            }
        }
    }

    /// A call with what the run needs to know of its caller.
    fn arrival(&self, call: RawCall) -> Arrival {
        let path = paths::path_of(&self.caller_of(call));
        let seen = asked_for(&call).into_iter();
        let seen = seen.filter_map(|(at, len)| Some((at, self.caller_of(call).read(at, len)?)));
        Arrival {
            call,
            seen: seen.collect(),
            of_loader: is_thread(self.leader, call.pid),
            of_tree: path
                .as_ref()
                .is_some_and(|path| self.tree.answers(path).is_some()),
            path,
        }
    }

    /// The answer goes to the caller, with a file if it has one.
    fn answer(&self, call: &RawCall, reply: Reply, file: Option<OwnedFd>) {
        let answer = match (reply, file) {
            (Reply::Value(value), _) => Answer::Value(value),
            (Reply::Host, _) => Answer::Host,
            (Reply::File, Some(file)) => Answer::File(file),
            (Reply::File, None) => Answer::error(libc::EBADF),
            (Reply::Tree, _) => {
                paths::answer(&self.caller_of(*call), &self.tree, self.process.as_ref())
            }
        };
        self.calls.respond(call, &answer);
    }

    /// One that is not there any more needs none.
    fn signal(&self, call: &RawCall, signal: i32) {
        if !self.calls.waits(call) {
            return;
        }
        let leader = self.leader.cast_signed();
        // SAFETY: our child, which waits for an answer; a signal touches no memory of ours. Other
        // threads may be stopped: the one that has asked for it gets it.
        unsafe {
            let caller = call.pid.cast_signed();
            if libc::syscall(libc::SYS_tgkill, leader, caller, signal) < 0 {
                libc::kill(leader, signal);
            }
        }
    }

    /// Only while the caller waits: its number could be another's.
    fn replace_clocks(&self, call: &RawCall) -> io::Result<()> {
        match self.calls.waits(call) {
            true => vdso::replace(call.pid),
            false => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        }
    }

    /// Ends the loader with all that it has started; how it ended.
    fn end(&mut self) -> Ended {
        let status = match std::mem::replace(&mut self.over, true) {
            true => None,
            false => self.calls.end().ok().map(|status| status.into_raw()),
        };
        self.kin.end();
        self.output.take();
        Ended {
            status,
            said: self.output.last().to_vec(),
        }
    }
}

impl Drop for Loader {
    /// However a guard ends, its loader ends too.
    fn drop(&mut self) {
        self.end();
    }
}

/// Most bytes of what `bpf` is told.
const ATTR_BYTES: u64 = 160;
/// Of `timespec`.
const TIME_BYTES: u64 = 16;

/// Memory by which calls that loaders make all the time are answered, as (address, bytes): it need
/// not be asked for.
fn asked_for(call: &RawCall) -> Vec<(u64, u64)> {
    let [first, second, third, fourth, ..] = call.args;
    let mut all = match call.number {
        // The operations that wait, of which bit 7 says whose the futex is, and bit 8 the clock.
        libc::SYS_futex if matches!(second & 0x7f, 0 | 9) => {
            vec![(first, 4), (fourth, TIME_BYTES)]
        }
        libc::SYS_nanosleep => vec![(first, TIME_BYTES)],
        libc::SYS_clock_nanosleep => vec![(third, TIME_BYTES)],
        libc::SYS_bpf => vec![(second, third.min(ATTR_BYTES))],
        _ => Vec::new(),
    };
    all.retain(|(at, len)| *at != 0 && *len != 0);
    all
}

/// A new event counter (eventfd), which goes to the run.
fn counter(flags: i32) -> io::Result<OwnedFd> {
    // SAFETY: a new descriptor, which nobody else has.
    unsafe {
        let fd = checked(libc::eventfd(0, flags | libc::EFD_CLOEXEC).into())?;
        Ok(OwnedFd::from_raw_fd(fd as i32))
    }
}

/// Sends a descriptor with the number that it has if it is an event counter: all of them have one
/// inode (`eventfd-id`, proc(5)).
fn send_counter(wire: &mut Wire, fd: Option<OwnedFd>) -> io::Result<()> {
    let id = |fd: BorrowedFd<'_>| {
        let path = format!("/proc/self/fdinfo/{}", fd.as_raw_fd());
        let text = fs::read_to_string(path).ok()?;
        let mut lines = text.lines();
        let line = lines.find_map(|line| line.strip_prefix("eventfd-id:"))?;
        line.trim().parse::<u64>().ok()
    };
    let known = fd.as_ref().map(|fd| id(fd.as_fd()));
    wire.send(&known, fd.as_ref().map(|fd| fd.as_fd()))
}

/// Of a process, by number; none if it is gone.
fn threads(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task"));
    let names = tasks.into_iter().flatten().flatten();
    (names.filter_map(|task| task.file_name().to_str()?.parse().ok())).collect()
}

/// Is it a thread of a process?
fn is_thread(process: u32, tid: u32) -> bool {
    let [process, tid] = [process, tid].map(u32::cast_signed);
    // SAFETY: signal 0 is sent to nobody; the kernel says whether it could be.
    unsafe { libc::syscall(libc::SYS_tgkill, process, tid, 0) == 0 }
}

/// Has a process no thread that lives?
fn is_over(process: u32) -> bool {
    threads(process)
        .into_iter()
        .all(|tid| has_ended(process, tid))
}

/// Is a thread gone, or has it ended and nobody has asked how?
fn has_ended(process: u32, tid: u32) -> bool {
    kin::is_over(&format!("/proc/{process}/task/{tid}/stat"))
}

/// Waits until a thread that ends is gone.
fn gone(process: u32, tid: u32) -> bool {
    #[allow(clippy::disallowed_methods, reason = "the loader is of the real world")]
    let began = Instant::now();
    while !has_ended(process, tid) {
        if began.elapsed() > GONE {
            return false;
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    true
}

/// For the message about a loader that hangs: the call in which a thread is.
fn doing(process: u32, tid: u32) -> String {
    let place = format!("/proc/{process}/task/{tid}/syscall");
    let text = fs::read_to_string(place).unwrap_or_default();
    match text.split(' ').next().map(str::parse::<u32>) {
        Some(Ok(number)) => format!("waits in system call {number}, which has no virtual time"),
        _ => "computes without end".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::doing;
    use std::io::Read as _;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// The running thread's number.
    fn own_number() -> u32 {
        let own = std::fs::read_link("/proc/thread-self").expect("a link to PROCESS/task/THREAD");
        let name = own.file_name().and_then(|name| name.to_str());
        name.and_then(|name| name.parse().ok()).expect("a number")
    }

    /// Whether this is said of a thread of this process within 10 s: it has to get there first.
    fn is_said(thread: u32, expected: &str) -> bool {
        (0..1000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            doing(std::process::id(), thread) == expected
        })
    }

    /// Goal: of a loader's thread that makes no call it is said in which one it waits, or that it
    /// computes. One thread reads from a pipe into which nobody writes, another one goes round.
    #[test]
    fn what_a_silent_thread_does_is_named() {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let (tell, told) = channel();
        let is_over = AtomicBool::new(false);
        let (waits, computes) = std::thread::scope(|scope| {
            let own = tell.clone();
            scope.spawn(move || {
                own.send(own_number()).expect("somebody listens");
                let _ = reader.read(&mut [0]);
            });
            let call = libc::SYS_read;
            let waiting = format!("waits in system call {call}, which has no virtual time");
            let waits = is_said(told.recv().expect("a thread"), &waiting);
            let is_over = &is_over;
            scope.spawn(move || {
                tell.send(own_number()).expect("somebody listens");
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let computes = is_said(told.recv().expect("a thread"), "computes without end");
            is_over.store(true, Ordering::Relaxed);
            drop(writer);
            (waits, computes)
        });
        assert!(waits && computes, "waits: {waits}, computes: {computes}");
    }
}
