//! Calls of the loader: they come in, and answers go out. What a call is answered is not said here.
//! All of it goes over the wire to the loader's guard, which alone touches the loader
//! (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: nothing here decides an answer. What the wire says is not believed beyond its
//! type. Free: the form of messages, with wire.rs.
//!
//! Tests by part: `a_loader_runs_in_virtual_time` (`start`, `wait`, `respond`, `read`, `write`,
//! `threads`, `gone`, `counter`, `descriptor`), `a_process_that_shares_maps_is_refused` (`sharer`,
//! `file_id`), schedulers.rs::`a_loader_that_hangs_leaves_nothing_behind` (`doing`, `end`),
//! interception.rs::`what_goes_wrong_is_named_by_ptrace_too` (`signal`),
//! schedulers.rs::`runs_are_the_same_twice_and_interpreted` (`give`, `mapped`, `read_value`,
//! `enable`, `replace_clocks`), load/affinity.rs::`a_bound_thread_is_where_it_may_be` (`own`,
//! `transfer`: calls without a loader). `processor` changes times only. `ask`, `ask_file`, `said`,
//! `remote`, `seen` and `next_turn` are the way of all of them; `way` is asked at each start.
//! `error` and `failed` have no test of their own.
//!
//! Callers: load/threads.rs (`wait`, `respond`, `gone`), load/process.rs (`start`, `end`),
//! load/own.rs (`own`); load/serve.rs, load/bpf.rs and load/waits.rs by way of `Session`.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::a_loader_runs_in_virtual_time,
//! crates/cli/tests/all/wall.rs

use super::memory_file::file_id;
use crate::guard::{self, Way};
use crate::wire::{
    Arrival, Ask, Ended, Event as Came, FileId, MAX_BYTES, RawCall, Reply, Start, Wire,
};
use serde::de::DeserializeOwned;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::rc::Rc;
use std::time::Duration;
use wakeplace_bpf_vm::budget;

/// A system call that waits for its answer.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) raw: RawCall,
    pub(super) pid: u32,
    pub(super) number: libc::c_long,
    pub(super) args: [u64; 6],
    /// A thread of the loader's own process makes it.
    pub(super) of_loader: bool,
    /// The path that it names, if it names one.
    pub(super) path: Option<Rc<str>>,
    /// That path is one of the modelled machine's.
    pub(super) of_tree: bool,
    /// What its caller's memory held when it came.
    seen: Rc<[(u64, Vec<u8>)]>,
    /// When it came ([`Remote::turn`]).
    turn: u64,
    /// Where its caller's memory is looked at; None: it is this process's.
    remote: Option<Rc<Remote>>,
}

/// What becomes of a call.
#[derive(Debug)]
pub(super) enum Answer {
    /// It returns this; negative: an errno.
    Value(i64),
    /// It returns a descriptor of this file.
    File(OwnedFd),
    /// What the files of the modelled machine say.
    Tree,
    /// The host answers it.
    Host,
}

impl Answer {
    /// Makes an errno the answer to a call.
    pub(super) fn error(errno: i32) -> Self {
        Self::Value(-i64::from(errno))
    }

    /// That of a call which we have made for the caller.
    pub(super) fn of(result: io::Result<()>) -> Self {
        match result {
            Ok(()) => Self::Value(0),
            Err(error) => Self::failed(&error),
        }
    }

    /// The errno of one that failed.
    pub(super) fn failed(error: &io::Error) -> Self {
        Self::error(error.raw_os_error().unwrap_or(libc::EIO))
    }
}

/// What waiting brought.
pub(super) enum Event {
    Call(Call),
    /// All processes behind the filter have ended.
    Ended,
    /// Nothing, for so long.
    Silence,
    /// A call that its caller has given up.
    Nothing,
}

/// A loader and its guard, at the other end of a wire.
#[derive(Debug)]
pub(super) struct Remote {
    wire: RefCell<Wire>,
    /// Rises when what was seen of the loader may be so no longer: it goes on, or is written to.
    turn: Cell<u64>,
    files: RefCell<Files>,
}

/// Which files callers' descriptors are, by caller and number, as seen in one turn.
#[derive(Debug, Default)]
struct Files {
    turn: u64,
    seen: BTreeMap<(u32, u32), Option<FileId>>,
}

impl Remote {
    /// Asks the guard, and waits for its answer.
    fn ask<T: DeserializeOwned>(&self, what: &Ask) -> io::Result<T> {
        Ok(self.wire.borrow_mut().ask(what)?.0)
    }

    /// What was asked once in a turn of the loader may be asked anew.
    fn next_turn(&self) {
        self.turn.set(self.turn.get() + 1);
    }

    /// Which file a descriptor of a caller's is: asked for once in a turn. None: there is none.
    fn file_id(&self, call: &Call, fd: u32) -> Option<FileId> {
        let mut files = self.files.borrow_mut();
        if files.turn != self.turn.get() {
            *files = Files {
                turn: self.turn.get(),
                seen: BTreeMap::new(),
            };
        }
        let ask = || self.ask(&Ask::FileId(call.raw, fd)).ok()?;
        *files.seen.entry((call.pid, fd)).or_insert_with(ask)
    }

    /// What comes back, with a descriptor.
    fn ask_file<T: DeserializeOwned>(&self, what: &Ask) -> io::Result<(T, Option<OwnedFd>)> {
        self.wire.borrow_mut().ask(what)
    }
}

/// Where calls come from.
#[derive(Debug)]
pub(super) enum Calls {
    Loader(Rc<Remote>),
    /// They are made here (`own`): which files were given for them.
    Own(RefCell<Vec<FileId>>),
}

impl Calls {
    /// Starts a loader; its number.
    pub(super) fn start(start: Start) -> io::Result<(Self, u32)> {
        let remote = Rc::new(Remote {
            wire: RefCell::new(crate::wall::guarded()?),
            turn: Cell::new(0),
            files: RefCell::default(),
        });
        let started: Result<u32, (Option<i32>, String)> = remote.ask(&Ask::Start(start))?;
        match started {
            Ok(leader) => Ok((Self::Loader(remote), leader)),
            Err((Some(errno), _)) => Err(io::Error::from_raw_os_error(errno)),
            Err((None, text)) => Err(io::Error::other(text)),
        }
    }

    /// ECHILD where there is no loader (fuzzing).
    fn remote(&self) -> io::Result<&Rc<Remote>> {
        match self {
            Self::Loader(remote) => Ok(remote),
            Self::Own(_) => Err(io::Error::from_raw_os_error(libc::ECHILD)),
        }
    }

    /// What the guard says; None where it says nothing, or there is none.
    fn said<T: DeserializeOwned>(&self, what: &Ask) -> Option<T> {
        self.remote().ok()?.ask(what).ok()
    }

    /// The next call of the loader or of a process of its; what happened instead, if none comes.
    pub(super) fn wait(&self, patience: Duration) -> io::Result<Event> {
        let Ok(remote) = self.remote() else {
            return Ok(Event::Ended);
        };
        let ms = u32::try_from(patience.as_millis()).unwrap_or(u32::MAX);
        remote.next_turn();
        Ok(match remote.ask(&Ask::Next(ms, processor()))? {
            Came::Call(arrival) => Event::Call(Call::of(arrival, remote)),
            Came::Ended => Event::Ended,
            Came::Silence => Event::Silence,
            Came::Nothing => Event::Nothing,
        })
    }

    /// Sends an answer. A caller that is gone meanwhile needs none.
    pub(super) fn respond(&self, call: &Call, answer: &Answer) {
        let Ok(remote) = self.remote() else { return };
        let (reply, file) = match answer {
            Answer::Value(value) => (Reply::Value(*value), None),
            Answer::File(file) => (Reply::File, Some(file.as_fd())),
            Answer::Tree => (Reply::Tree, None),
            Answer::Host => (Reply::Host, None),
        };
        remote.next_turn();
        let ask = Ask::Answer(call.raw, reply);
        let mut wire = remote.wire.borrow_mut();
        // Who waits for the next call learns that the guard is gone.
        let _ = match file {
            None => wire.send_later(&ask),
            Some(file) => wire.send(&ask, Some(file)),
        };
    }

    /// Which file a descriptor of the caller's is.
    pub(super) fn file_id(&self, call: &Call, fd: u32) -> Option<FileId> {
        match self {
            Self::Own(given) => given.borrow().get((fd as usize).checked_sub(1)?).copied(),
            Self::Loader(remote) => remote.file_id(call, fd),
        }
    }

    /// Gives a caller here a file; its number.
    pub(super) fn give(&self, file: &OwnedFd) -> Option<i64> {
        let Self::Own(given) = self else {
            return None;
        };
        let mut given = given.borrow_mut();
        given.push(file_id(file.as_fd()).ok()?);
        Some(given.len() as i64)
    }

    /// A copy of a descriptor of the caller's, who waits for its answer, and the number that it has
    /// if it is an event counter.
    pub(super) fn descriptor(&self, call: &Call, fd: u32) -> Option<(OwnedFd, Option<u64>)> {
        let ask = Ask::Descriptor(call.raw, fd);
        let (number, copy) = self.remote().ok()?.ask_file::<Option<_>>(&ask).ok()?;
        Some((copy?, number?))
    }

    /// A new event counter, and its number.
    pub(super) fn counter(&self, flags: i32) -> Option<(OwnedFd, u64)> {
        let ask = Ask::Counter(flags);
        let (number, file) = (self.remote().ok()?)
            .ask_file::<Option<Option<_>>>(&ask)
            .ok()?;
        Some((file?, number??))
    }

    /// The threads of the loader's process.
    pub(super) fn threads(&self) -> Vec<u32> {
        self.said(&Ask::Threads).unwrap_or_default()
    }

    /// Waits until a thread that ends is gone.
    pub(super) fn gone(&self, tid: u32) -> io::Result<()> {
        match self.remote()?.ask(&Ask::Gone(tid))? {
            true => Ok(()),
            false => Err(io::Error::other("a thread that ends does not")),
        }
    }

    /// What a thread does that makes no call.
    pub(super) fn doing(&self, tid: u32) -> String {
        self.said(&Ask::Doing(tid)).unwrap_or_default()
    }

    /// A signal for the loader, which the caller has asked for.
    pub(super) fn signal(&self, call: &Call, signal: i32) {
        if let Ok(remote) = self.remote() {
            // Who waits for the next call learns that the guard is gone.
            let ask = Ask::Signal(call.raw, signal);
            let _ = remote.wire.borrow_mut().send(&ask, None);
        }
    }

    /// The clocks of the caller become calls.
    pub(super) fn replace_clocks(&self, call: &Call) -> Result<(), String> {
        let replaced = self.said::<Result<(), String>>(&Ask::Clocks(call.raw));
        replaced.unwrap_or_else(|| Err("the loader's guard is gone".to_owned()))
    }

    /// A scheduler of that name is attached.
    pub(super) fn enable(&self, name: &str) -> io::Result<()> {
        let ask = Ask::Enable(name.to_owned());
        let enabled: Result<(), String> = self.remote()?.ask(&ask)?;
        enabled.map_err(io::Error::other)
    }

    /// The name of another process of the loader's that can reach one of these files. None: there
    /// is none.
    pub(super) fn sharer(&self, files: impl Iterator<Item = FileId>) -> Option<String> {
        self.said::<Option<_>>(&Ask::Sharer(files.collect()))?
    }

    /// Ends the process and all that it has started, and says how it ended and what it said last; a
    /// process that has ended already keeps its exit code.
    pub(super) fn end(&self) -> Ended {
        self.said(&Ask::End).unwrap_or_default()
    }
}

impl Call {
    /// Makes a call as the guard has handed it over, with what it has read of the caller.
    fn of(arrival: Arrival, remote: &Rc<Remote>) -> Self {
        Self {
            pid: arrival.call.pid,
            number: arrival.call.number,
            args: arrival.call.args,
            raw: arrival.call,
            of_loader: arrival.of_loader,
            path: arrival.path.map(Rc::from),
            of_tree: arrival.of_tree,
            seen: arrival.seen.into(),
            turn: remote.turn.get(),
            remote: Some(remote.clone()),
        }
    }

    /// One that this process makes.
    pub(super) fn own(number: libc::c_long, args: [u64; 6]) -> Self {
        Self {
            raw: RawCall::default(),
            pid: std::process::id(),
            number,
            args,
            of_loader: true,
            path: None,
            of_tree: false,
            seen: Rc::default(),
            turn: 0,
            remote: None,
        }
    }

    /// Bytes of the caller; None: they are not there.
    pub(super) fn read(&self, addr: u64, len: u64) -> Option<Vec<u8>> {
        if len > MAX_BYTES {
            return None;
        }
        match &self.remote {
            None => own_memory::read(addr, len as usize),
            Some(_) if len == 0 => Some(Vec::new()),
            Some(remote) => match self.seen(remote, addr, len) {
                None => remote.ask(&Ask::Read(self.raw, addr, len)).ok()?,
                seen => seen,
            },
        }
    }

    /// Bytes that came with the call, while nothing of the loader has gone on.
    fn seen(&self, remote: &Remote, addr: u64, len: u64) -> Option<Vec<u8>> {
        let mut all = self.seen.iter().filter(|_| self.turn == remote.turn.get());
        all.find_map(|(at, bytes)| {
            let from = usize::try_from(addr.checked_sub(*at)?).ok()?;
            let to = from.checked_add(usize::try_from(len).ok()?)?;
            bytes.get(from..to).map(<[u8]>::to_vec)
        })
    }

    /// Reads the caller's memory as `read` does where it may be longer: a value of a map has the
    /// map's room. None: not all of it is there.
    pub(super) fn read_value(&self, addr: u64, len: u64) -> Option<Vec<u8>> {
        if len > budget::BYTES {
            return None;
        }
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < len {
            let at = addr.checked_add(bytes.len() as u64)?;
            bytes.extend(self.read(at, (len - bytes.len() as u64).min(MAX_BYTES))?);
        }
        Some(bytes)
    }

    /// Writes to the caller; false: not all of it could be written.
    pub(super) fn write(&self, addr: u64, bytes: &[u8]) -> bool {
        match &self.remote {
            None => own_memory::write(addr, bytes),
            Some(_) if bytes.is_empty() => true,
            Some(remote) => {
                let ask = Ask::Write(self.raw, addr, bytes.to_vec());
                remote.next_turn();
                remote.ask(&ask).unwrap_or(false)
            }
        }
    }

    /// Gives the address where the caller has mapped a file. None: it has not.
    pub(super) fn mapped(&self, file: FileId) -> Option<u64> {
        self.remote
            .as_ref()?
            .ask(&Ask::Mapped(self.raw, file))
            .ok()?
    }
}

/// The one that this thread runs on.
fn processor() -> u32 {
    // SAFETY: a plain call.
    unsafe { libc::sched_getcpu() }.cast_unsigned()
}

/// Can loaders be started here, and how do their calls come in?
pub(super) fn way() -> Result<Way, crate::ForeignError> {
    Ok(guard::chosen()?.way)
}

/// The memory of this process, of which any part may be missing.
mod own_memory {
    /// Copies between this process and memory of another one; false: not all of it is there.
    fn transfer(addr: u64, ours: *mut u8, len: usize, read: bool) -> bool {
        let local = libc::iovec {
            iov_base: ours.cast(),
            iov_len: len,
        };
        let there = libc::iovec {
            iov_base: addr as usize as *mut _,
            iov_len: len,
        };
        let pid = std::process::id().cast_signed();
        // SAFETY: `ours` is valid for `len` bytes; the kernel checks the other side.
        let copied = unsafe {
            match read {
                true => libc::process_vm_readv(pid, &raw const local, 1, &raw const there, 1, 0),
                false => libc::process_vm_writev(pid, &raw const local, 1, &raw const there, 1, 0),
            }
        };
        len == 0 || usize::try_from(copied).is_ok_and(|copied| copied == len)
    }

    /// None: not all of it is there.
    pub(super) fn read(addr: u64, len: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; len];
        transfer(addr, bytes.as_mut_ptr(), len, true).then_some(bytes)
    }

    /// False: not all of it is there.
    pub(super) fn write(addr: u64, bytes: &[u8]) -> bool {
        transfer(addr, bytes.as_ptr().cast_mut(), bytes.len(), false)
    }
}
