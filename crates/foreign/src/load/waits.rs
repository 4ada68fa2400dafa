//! Calls that wait, for a time or for a descriptor, and what they become in virtual time
//! (docs/rules/sched-ext.md#loader).
//!
//! What must stay: times are virtual ns; results and errno are those of the calls. A wait that has
//! no virtual time is refused by name. Free: how waits are kept; further calls that wait.
//!
//! Tests by part: `a_loader_runs_in_virtual_time` (`sleep`, `poll`, `polled`, `epoll`,
//! `until_ready`, `incoming`, `can_wait`, `ready`, `after`, `milliseconds`, `clones`),
//! schedulers.rs::`what_a_loader_must_not_do_is_named` (`clones`, `forks`: a process while the
//! simulation runs), `a_loader_that_hangs_leaves_nothing_behind` (`reply_to_other`). `signals`,
//! `selected` and `patience_ns` have no test of their own.
//!
//! Callers: load/threads.rs (`reply`, `reply_to_other`, `ready`, `Waiting::answer`). A new kind of
//! wait is a row of `turn` and needs its call in guard/trapped.rs.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::a_loader_runs_in_virtual_time,
//! crates/cli/tests/all/interception.rs::virtual_time_does_not_depend_on_the_way

use super::calls::{Answer, Call};
use super::memory_file::fstat;
use super::rings;
use super::serve::Session;
use super::threads::Threads;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};

/// What becomes of a call of a thread.
pub(super) enum Reply {
    /// It is answered, and the thread goes on.
    Now(Answer),
    /// The thread waits.
    Waits(Box<Waiting>),
    /// Others have their turn first.
    Yields,
    /// It makes another thread.
    Clones,
    /// It ends.
    Ends,
}

/// A thread that waits in a call.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) call: Call,
    pub(super) what: What,
    /// When it is over, by the loader's clock.
    pub(super) until_ns: Option<u64>,
    /// What is zeroed in the caller's memory then: (address, bytes).
    pub(super) zero: Vec<(u64, u64)>,
    /// What the call returns then.
    pub(super) late: i64,
    /// The host cannot answer it: one of its descriptors stands for something else.
    pub(super) stands: bool,
}

/// What a thread waits for.
#[derive(Debug)]
pub(super) enum What {
    /// A wake-up at this address, as long as this is there; which bits it listens to.
    Futex { addr: u64, value: u32, bits: u32 },
    /// One of these descriptors, with its events. None at all: time alone.
    Files(Vec<(Watch, libc::c_short)>),
}

/// A descriptor that is waited for.
#[derive(Debug)]
pub(super) struct Watch {
    /// Ours, of the same file.
    pub(super) fd: OwnedFd,
    /// It stands for a ring buffer: the host cannot answer.
    pub(super) stands: bool,
    /// Where the caller's `poll` has the answer.
    pub(super) answer_at: u64,
}

impl Watch {
    /// One that the host can answer for, and whose answer goes nowhere.
    fn of(fd: OwnedFd) -> Self {
        Self {
            fd,
            stands: false,
            answer_at: 0,
        }
    }
}

impl Waiting {
    /// `late`: what the call returns when its time is over.
    pub(super) fn of(call: &Call, what: What, until_ns: Option<u64>, late: i64) -> Self {
        Self {
            call: call.clone(),
            what,
            until_ns,
            zero: Vec::new(),
            late,
            stands: false,
        }
    }

    /// The call can go on, since a descriptor is ready.
    pub(super) fn answer(&self) -> Answer {
        let What::Files(files) = &self.what else {
            return Answer::Host;
        };
        if !self.stands {
            return Answer::Host;
        }
        let mut ready = 0;
        for (watch, events) in files {
            let found = rings::found(&watch.fd, *events);
            ready += i64::from(found != 0);
            if !self.call.write(watch.answer_at, &found.to_le_bytes()) {
                return Answer::error(libc::EFAULT);
            }
        }
        Answer::Value(ready)
    }
}

/// Descriptors that can be ready or not: all but files, folders and devices.
pub(super) fn can_wait(fd: &OwnedFd) -> bool {
    let Ok(found) = fstat(fd.as_fd()) else {
        return false;
    };
    let kind = found.st_mode & libc::S_IFMT;
    ![libc::S_IFREG, libc::S_IFDIR, libc::S_IFBLK, libc::S_IFCHR].contains(&kind)
}

/// Is one of them ready now?
pub(super) fn ready(files: &[(Watch, libc::c_short)]) -> bool {
    files
        .iter()
        .any(|(watch, events)| rings::found(&watch.fd, *events) != 0)
}

impl Session<'_> {
    /// A copy of a descriptor of the caller's.
    pub(super) fn descriptor(&self, call: &Call, fd: u32) -> Option<OwnedFd> {
        self.calls.descriptor(call, fd).map(|(fd, _)| fd)
    }

    /// What becomes of a call.
    pub(super) fn reply(&mut self, call: &Call, threads: &mut Threads) -> Reply {
        let waits = |waits: Result<Reply, Answer>| waits.unwrap_or_else(Reply::Now);
        match turn(call.number) {
            Turn::Sleep => waits(self.sleep(call)),
            Turn::Futex => waits(self.futex(call, threads)),
            Turn::Poll => waits(self.poll(call)),
            Turn::Epoll => waits(self.epoll(call)),
            Turn::Incoming => self.incoming(call),
            Turn::Signal => self.signals(call, None),
            Turn::TimedSignal => match call.args[2] {
                0 => self.signals(call, None),
                at => match self.time_at(call, at) {
                    Ok(ns) => self.signals(call, Some(ns)),
                    Err(error) => Reply::Now(error),
                },
            },
            Turn::Yield => Reply::Yields,
            Turn::End => Reply::Ends,
            Turn::Clone => self.clones(call),
            #[cfg(target_arch = "x86_64")]
            Turn::Fork => Reply::Now(self.forks()),
            Turn::Keeps => Reply::Now(self.answer(call)),
        }
    }

    /// Answers a wait of a process that the loader has started: it waits in the host's time.
    pub(super) fn reply_to_other(&mut self, call: &Call) -> Answer {
        match turn(call.number) {
            Turn::Keeps => self.answer(call),
            _ => Answer::Host,
        }
    }

    /// `clock_nanosleep(clock, flags, time, left)`, `nanosleep(time, left)`.
    fn sleep(&self, call: &Call) -> Result<Reply, Answer> {
        let [a, b, c, ..] = call.args;
        let (clock, absolute, at) = match call.number {
            libc::SYS_nanosleep => (libc::CLOCK_MONOTONIC as u64, false, a),
            _ => (a, b & libc::TIMER_ABSTIME as u64 != 0, c),
        };
        let until = self.until(clock, absolute, self.time_at(call, at)?);
        let time = What::Files(Vec::new());
        Ok(match until <= self.known.clock_ns {
            true => Reply::Now(Answer::Value(0)),
            false => Reply::Waits(Box::new(Waiting::of(call, time, Some(until), 0))),
        })
    }

    /// `poll`, `ppoll`, `select`, `pselect6`.
    fn poll(&mut self, call: &Call) -> Result<Reply, Answer> {
        let [a, b, c, d, e, _] = call.args;
        let selects = match call.number {
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select => true,
            number => number == libc::SYS_pselect6,
        };
        let after_ns = match call.number {
            libc::SYS_ppoll if c == 0 => None,
            libc::SYS_ppoll => Some(self.time_at(call, c)?),
            libc::SYS_pselect6 if e == 0 => None,
            libc::SYS_pselect6 => Some(self.time_at(call, e)?),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select if e == 0 => None,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select => Some(self.timeval_at(call, e)?),
            _ => milliseconds(c),
        };
        let (files, zero) = match selects {
            true => self.selected(call, a, [b, c, d])?,
            false => self.polled(call, a, b)?,
        };
        Ok(self.until_ready(call, files, after_ns, zero))
    }

    /// The descriptors of a `struct pollfd` list, and where their answers are.
    fn polled(&mut self, call: &Call, at: u64, count: u64) -> Result<Watched, Answer> {
        let bytes = call.read(at, count.min(1 << 16) * 8);
        let bytes = bytes.ok_or(Answer::error(libc::EFAULT))?;
        let mut watched = Watched::default();
        for (index, entry) in (0_u64..).zip(bytes.as_chunks::<8>().0) {
            let fd = i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
            let events = i16::from_le_bytes([entry[4], entry[5]]);
            let answer_at = at + 8 * index + 6;
            watched.1.push((answer_at, 2));
            if fd >= 0 {
                // One that is not open is an answer, which the host gives.
                let open = self.watched(call, fd.cast_unsigned(), answer_at);
                let open = open.ok_or(Answer::Host)?;
                watched.0.push((open, events));
            }
        }
        Ok(watched)
    }

    /// The descriptors of three `fd_set`s.
    fn selected(&mut self, call: &Call, count: u64, sets: [u64; 3]) -> Result<Watched, Answer> {
        let bytes = count.min(1024).div_ceil(64) * 8;
        let events = [libc::POLLIN, libc::POLLOUT, libc::POLLPRI];
        let mut watched = Watched::default();
        for (set, events) in sets.into_iter().zip(events).filter(|(set, _)| *set != 0) {
            let found = call.read(set, bytes).ok_or(Answer::error(libc::EFAULT))?;
            watched.1.push((set, bytes));
            let listed = |fd: &u64| found[*fd as usize / 8] >> (fd % 8) & 1 != 0;
            for fd in (0..count.min(1024)).filter(listed) {
                let open = self.watched(call, fd as u32, 0).ok_or(Answer::Host)?;
                if open.stands {
                    return Err(self.refuse("select(2) on a ring buffer is not offered"));
                }
                watched.0.push((open, events));
            }
        }
        Ok(watched)
    }

    /// `epoll_wait(set, events, room, timeout)` and its like.
    fn epoll(&mut self, call: &Call) -> Result<Reply, Answer> {
        let after_ns = match (call.number, call.args[3]) {
            (libc::SYS_epoll_pwait2, 0) => None,
            (libc::SYS_epoll_pwait2, at) => Some(self.time_at(call, at)?),
            (_, timeout) => milliseconds(timeout),
        };
        let set = self
            .descriptor(call, call.args[0] as u32)
            .ok_or(Answer::Host)?;
        let files = vec![(Watch::of(set), libc::POLLIN)];
        Ok(self.until_ready(call, files, after_ns, Vec::new()))
    }

    /// So much later than now, by the loader's clock.
    fn after(&self, ns: Option<u64>) -> Option<u64> {
        ns.map(|ns| self.known.clock_ns.saturating_add(ns))
    }

    /// A wait for descriptors: answered at once if one is ready, else until one is or the time
    /// ends.
    fn until_ready(
        &self,
        call: &Call,
        files: Vec<(Watch, libc::c_short)>,
        after_ns: Option<u64>,
        zero: Vec<(u64, u64)>,
    ) -> Reply {
        self.known.count_records(self.vm);
        let until = self.after(after_ns);
        let stands = files.iter().any(|(watch, _)| watch.stands);
        let at_once = after_ns == Some(0) || ready(&files);
        let mut waiting = Waiting::of(call, What::Files(files), until, 0);
        waiting.zero = zero;
        waiting.stands = stands;
        match at_once {
            true => Reply::Now(waiting.answer()),
            false => Reply::Waits(Box::new(waiting)),
        }
    }

    /// Calls that wait for something to read, unless it is a file.
    fn incoming(&self, call: &Call) -> Reply {
        let Some(fd) = self.descriptor(call, call.args[0] as u32) else {
            return Reply::Now(Answer::Host);
        };
        let at_once = match call.number {
            libc::SYS_recvfrom => call.args[3],
            libc::SYS_recvmsg => call.args[2],
            _ => 0,
        } & libc::MSG_DONTWAIT as u64;
        // SAFETY: our descriptor.
        let flags = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) };
        if !can_wait(&fd) || at_once != 0 || flags & libc::O_NONBLOCK != 0 {
            return Reply::Now(Answer::Host);
        }
        let until = self.after(patience_ns(&fd));
        let files = vec![(Watch::of(fd), libc::POLLIN)];
        match ready(&files) {
            true => Reply::Now(Answer::Host),
            false => {
                let late = -i64::from(libc::EAGAIN);
                Reply::Waits(Box::new(Waiting::of(call, What::Files(files), until, late)))
            }
        }
    }

    /// Signals: none comes from outside.
    fn signals(&self, call: &Call, after_ns: Option<u64>) -> Reply {
        let until = self.after(after_ns);
        let late = -i64::from(libc::EAGAIN);
        Reply::Waits(Box::new(Waiting::of(
            call,
            What::Files(Vec::new()),
            until,
            late,
        )))
    }

    /// `clone(flags, ...)`, `clone3(arguments, bytes)`.
    fn clones(&mut self, call: &Call) -> Reply {
        let flags = match call.number {
            libc::SYS_clone3 => call
                .read(call.args[0], 8)
                .and_then(|bytes| bytes.first_chunk().copied())
                .map_or(0, u64::from_le_bytes),
            _ => call.args[0],
        };
        match flags & libc::CLONE_THREAD as u64 {
            0 => Reply::Now(self.forks()),
            _ => Reply::Clones,
        }
    }

    /// Before the simulation a loader may start processes; within it not.
    fn forks(&mut self) -> Answer {
        if self.sim.is_some() {
            return self.refuse("to start a process while the simulation runs is not offered");
        }
        self.known.forked = true;
        Answer::Host
    }
}

/// What a call is to the turns that threads take.
enum Turn {
    Sleep,
    Futex,
    Poll,
    Epoll,
    Incoming,
    Signal,
    TimedSignal,
    Yield,
    End,
    Clone,
    #[cfg(target_arch = "x86_64")]
    Fork,
    /// The caller goes on.
    Keeps,
}

/// Which kind of wait a call is.
fn turn(number: libc::c_long) -> Turn {
    match number {
        libc::SYS_clock_nanosleep | libc::SYS_nanosleep => Turn::Sleep,
        libc::SYS_futex => Turn::Futex,
        libc::SYS_ppoll | libc::SYS_pselect6 => Turn::Poll,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_poll | libc::SYS_select => Turn::Poll,
        libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => Turn::Epoll,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_epoll_wait => Turn::Epoll,
        libc::SYS_read
        | libc::SYS_readv
        | libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_accept
        | libc::SYS_accept4 => Turn::Incoming,
        libc::SYS_rt_sigsuspend => Turn::Signal,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_pause => Turn::Signal,
        libc::SYS_rt_sigtimedwait => Turn::TimedSignal,
        libc::SYS_sched_yield => Turn::Yield,
        libc::SYS_exit => Turn::End,
        libc::SYS_clone | libc::SYS_clone3 => Turn::Clone,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_fork | libc::SYS_vfork => Turn::Fork,
        _ => Turn::Keeps,
    }
}

/// Descriptors with their events, and what is zeroed if none is ready.
type Watched = (Vec<(Watch, libc::c_short)>, Vec<(u64, u64)>);

/// A timeout in ms; negative: none.
fn milliseconds(timeout: u64) -> Option<u64> {
    let timeout = (timeout as u32).cast_signed();
    u64::try_from(timeout).ok().map(|ms| ms * 1_000_000)
}

/// How long a socket waits for what comes in (`SO_RCVTIMEO`). None: without an end.
fn patience_ns(fd: &OwnedFd) -> Option<u64> {
    let mut time = libc::timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    let mut bytes = size_of::<libc::timeval>() as libc::socklen_t;
    // SAFETY: the structure is as large as is said.
    let found = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVTIMEO,
            (&raw mut time).cast(),
            &raw mut bytes,
        )
    };
    let ns = time.tv_sec.saturating_mul(1_000_000_000) + time.tv_usec * 1000;
    (found == 0 && ns > 0).then_some(ns.cast_unsigned())
}
