//! The loader's clocks and timers: virtual time (docs/rules/sched-ext.md#loader).
//!
//! What must stay: times are ns, read and written in the structures of the C library; the host's
//! clock is never read for an answer. Free: how timers are kept.
//!
//! Tests by part: `the_clock_creeps_for_who_reads_it_without_end` (`Told::read`),
//! `times_are_read_as_they_are_written` (`timespec`, `nanoseconds`),
//! schedulers.rs::`a_loader_runs_in_virtual_time` (`clock`, `until`, `time_at`, `timer_create`,
//! `timer_set`, `expire`, `deadline`: "expired 3", "expires 120"; `proc_stat`: "busy 1").
//! `timeval_at` and `of_wall` have no test of their own.
//!
//! Callers: load/serve.rs (`clock`, `timer_create`, `timer_set`), load/waits.rs and load/futex.rs
//! (times of waits), load/paths.rs (`proc_stat`), load/threads.rs (`expire`, `deadline`).
//!
//! Tests: below, crates/cli/tests/all/schedulers.rs

use super::calls::{Answer, Call};
use super::rings;
use super::serve::Session;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;

/// What the clock on the wall says when the machine starts: 2026-01-01, 00:00 UTC.
const BOOT_NS: u64 = 1_767_225_600 * SECOND;
const SECOND: u64 = 1_000_000_000;

/// A timer with a descriptor: for the loader it is an event counter, which is read alike.
#[derive(Debug)]
pub(super) struct TimerFd {
    id: u64,
    counter: OwnedFd,
    wall: bool,
    /// When it expires next; None: it is not armed.
    at_ns: Option<u64>,
    interval_ns: u64,
}

impl TimerFd {
    /// Says when the timer expires next, ns of virtual time; None: not armed.
    pub(super) fn deadline(&self) -> Option<u64> {
        self.at_ns
    }

    /// Counts what has expired by now.
    pub(super) fn expire(&mut self, now_ns: u64) {
        let Some(at_ns) = self.at_ns.filter(|at_ns| *at_ns <= now_ns) else {
            return;
        };
        let further = (now_ns - at_ns).checked_div(self.interval_ns);
        let count = 1 + further.unwrap_or(0);
        self.at_ns = further.map(|_| at_ns + count * self.interval_ns);
        rings::add(&self.counter, count);
    }
}

/// So often the clock is read at one instant before it says a ns more.
const READS_A_NS: u64 = 1024;

/// What the clock says. A loader that waits until a time is past, and not until it has come, looks
/// at the clock again and again: time stands still for it. So the clock creeps, for who reads it
/// very often. It never goes back.
#[derive(Debug, Default)]
pub(super) struct Told {
    at_ns: u64,
    reads: u64,
    told_ns: u64,
}

impl Told {
    /// Reads the clock at an instant; its time never goes back.
    pub(super) fn read(&mut self, now_ns: u64) -> u64 {
        if self.at_ns != now_ns {
            (self.at_ns, self.reads) = (now_ns, 0);
        }
        self.reads += 1;
        self.told_ns = self.told_ns.max(now_ns + self.reads / READS_A_NS);
        self.told_ns
    }
}

/// The clocks that follow the wall's.
fn of_wall(clock: u64) -> bool {
    let clock = clock as libc::clockid_t;
    matches!(
        clock,
        libc::CLOCK_REALTIME
            | libc::CLOCK_REALTIME_COARSE
            | libc::CLOCK_REALTIME_ALARM
            | libc::CLOCK_TAI
    )
}

/// Seconds and nanoseconds, as `struct timespec` has them.
fn timespec(ns: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&(ns / SECOND).to_le_bytes());
    bytes[8..].copy_from_slice(&(ns % SECOND).to_le_bytes());
    bytes
}

/// The number of ns of two words; `parts`: of the second one in a second. None: not valid.
fn nanoseconds(bytes: &[u8], parts: u64) -> Option<u64> {
    let seconds = u64::from_le_bytes(*bytes.first_chunk()?);
    let rest = u64::from_le_bytes(*bytes.get(8..)?.first_chunk()?);
    // What is longer than the longest time never comes.
    let fits = seconds <= i64::MAX.cast_unsigned() && rest < parts;
    fits.then(|| {
        seconds
            .saturating_mul(SECOND)
            .saturating_add(rest * (SECOND / parts))
    })
}

impl Session<'_> {
    /// A `struct timespec` of the caller, ns.
    pub(super) fn time_at(&self, call: &Call, at: u64) -> Result<u64, Answer> {
        let bytes = call.read(at, 16).ok_or(Answer::error(libc::EFAULT))?;
        nanoseconds(&bytes, SECOND).ok_or(Answer::error(libc::EINVAL))
    }

    /// A `struct timeval` of the caller, ns.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn timeval_at(&self, call: &Call, at: u64) -> Result<u64, Answer> {
        let bytes = call.read(at, 16).ok_or(Answer::error(libc::EFAULT))?;
        nanoseconds(&bytes, 1_000_000).ok_or(Answer::error(libc::EINVAL))
    }

    /// Says when a time of one of the loader's clocks has come, by `clock_ns`.
    pub(super) fn until(&self, clock: u64, absolute: bool, ns: u64) -> u64 {
        match (absolute, of_wall(clock)) {
            (true, true) => ns.saturating_sub(BOOT_NS),
            (true, false) => ns,
            (false, _) => self.known.clock_ns.saturating_add(ns),
        }
    }

    /// Calls that ask for the time.
    pub(super) fn clock(&mut self, call: &Call) -> Answer {
        let [a, b, ..] = call.args;
        let now_ns = self.known.told.read(self.known.clock_ns);
        let wall_ns = BOOT_NS + now_ns;
        let written = |at: u64, bytes: &[u8]| match at == 0 || call.write(at, bytes) {
            true => Answer::Value(0),
            false => Answer::error(libc::EFAULT),
        };
        match call.number {
            libc::SYS_clock_getres => written(b, &timespec(1)),
            libc::SYS_clock_gettime => match a as libc::clockid_t {
                // The loader takes no time of a CPU.
                libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => {
                    written(b, &timespec(0))
                }
                0..=11 if of_wall(a) => written(b, &timespec(wall_ns)),
                0..=11 => written(b, &timespec(now_ns)),
                _ => Answer::error(libc::EINVAL),
            },
            libc::SYS_gettimeofday => {
                let mut bytes = timespec(wall_ns);
                bytes[8..].copy_from_slice(&(wall_ns % SECOND / 1000).to_le_bytes());
                written(a, &bytes)
            }
            // `time`: the answer and what is written are one.
            _ => {
                let seconds = wall_ns / SECOND;
                match written(a, &seconds.to_le_bytes()) {
                    Answer::Value(_) => Answer::Value(seconds.cast_signed()),
                    error => error,
                }
            }
        }
    }

    /// Makes a timer in virtual time and gives its descriptor (`timerfd_create`).
    pub(super) fn timer_create(&mut self, call: &Call) -> Answer {
        let flags = call.args[1] as i32 & libc::TFD_NONBLOCK;
        let made = self.calls.counter(flags);
        let made = made.and_then(|(counter, id)| Some((counter.try_clone().ok()?, counter, id)));
        let Some((counter, theirs, id)) = made else {
            return Answer::error(libc::ENOMEM);
        };
        self.known.timers.push(TimerFd {
            id,
            counter,
            wall: of_wall(call.args[0]),
            at_ns: None,
            interval_ns: 0,
        });
        Answer::File(theirs)
    }

    /// `timerfd_settime(fd, flags, new, old)`, `timerfd_gettime(fd, now)`.
    pub(super) fn timer_set(&mut self, call: &Call) -> Answer {
        let [fd, flags, new, old, ..] = call.args;
        let (sets, to) = match call.number {
            libc::SYS_timerfd_gettime => (false, flags),
            _ => (true, old),
        };
        let found = self.calls.descriptor(call, fd as u32);
        let id = found.and_then(|(_, id)| id);
        let timers = &self.known.timers;
        let Some(at) = timers.iter().position(|timer| Some(timer.id) == id) else {
            return Answer::error(libc::EINVAL);
        };
        let now_ns = self.known.clock_ns;
        let timer = &timers[at];
        let mut before = timespec(timer.interval_ns).to_vec();
        before.extend(timespec(
            timer.at_ns.map_or(0, |at_ns| at_ns.saturating_sub(now_ns)),
        ));
        if to != 0 && !call.write(to, &before) {
            return Answer::error(libc::EFAULT);
        }
        if !sets {
            return Answer::Value(0);
        }
        let (interval_ns, first_ns) = match (self.time_at(call, new), self.time_at(call, new + 16))
        {
            (Ok(interval_ns), Ok(first_ns)) => (interval_ns, first_ns),
            (Err(error), _) | (_, Err(error)) => return error,
        };
        // `TFD_TIMER_ABSTIME` is 1.
        let clock = match timer.wall {
            true => libc::CLOCK_REALTIME,
            false => libc::CLOCK_MONOTONIC,
        };
        let until = self.until(clock as u64, flags & 1 != 0, first_ns);
        let timer = &mut self.known.timers[at];
        timer.at_ns = (first_ns != 0).then_some(until);
        timer.interval_ns = interval_ns;
        rings::set(&timer.counter, 0);
        timer.expire(now_ns);
        Answer::Value(0)
    }
}

/// `/proc/stat` of the modelled machine: what is not idle is user time, in hundredths of a second.
pub(super) fn proc_stat(session: &Session<'_>) -> io::Result<OwnedFd> {
    use std::io::Seek as _;
    let ticks = |ns: u64| ns / (SECOND / 100);
    let up_ns = session.known.clock_ns;
    let idle = |cpu: u32| match &session.sim {
        // Before the simulation began nothing ran.
        Some(sim) => up_ns - sim.now_ns() + sim.cpu_idle_ns(cpu),
        None => up_ns,
    };
    let line = |name: String, busy: u64, idle: u64| {
        format!("{name} {} 0 0 {} 0 0 0 0 0 0\n", ticks(busy), ticks(idle))
    };
    let all: Vec<_> = (0..session.vm.nr_cpus()).map(idle).collect();
    let sum = all.iter().sum();
    let mut text = line("cpu ".to_owned(), up_ns * all.len() as u64 - sum, sum);
    for (cpu, idle) in all.iter().enumerate() {
        text.push_str(&line(format!("cpu{cpu}"), up_ns - idle, *idle));
    }
    text.push_str("intr 0\nctxt 0\n");
    text.push_str(&format!("btime {}\n", BOOT_NS / SECOND));
    text.push_str("processes 0\nprocs_running 1\nprocs_blocked 0\n");
    let mut file = std::fs::File::from(super::memory_file::memory_file(0)?);
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::{Told, nanoseconds, timespec};

    /// Goal: who reads the clock until a time is past gets there, and nobody sees it go back: by
    /// the rule a ns more each 1024 reads at one instant.
    #[test]
    fn the_clock_creeps_for_who_reads_it_without_end() {
        let mut told = Told::default();
        let first: Vec<u64> = (0..1023).map(|_| told.read(50)).collect();
        assert_eq!(first, [50; 1023]);
        assert_eq!((told.read(50), told.read(50)), (51, 51));
        assert_eq!((1026..=2048).map(|_| told.read(50)).last(), Some(52));
        assert_eq!((told.read(51), told.read(52), told.read(60)), (52, 52, 60));
    }

    #[test]
    fn times_are_read_as_they_are_written() {
        assert_eq!(
            nanoseconds(&timespec(2_000_000_001), 1_000_000_000),
            Some(2_000_000_001)
        );
        let micro = timespec(1_000_000_500);
        assert_eq!(nanoseconds(&micro, 1_000_000), Some(1_000_500_000));
        let mut wrong = timespec(0);
        wrong[8..].copy_from_slice(&1_000_000_000_u64.to_le_bytes());
        assert_eq!(nanoseconds(&wrong, 1_000_000_000), None);
        wrong[..8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(nanoseconds(&wrong, 1_000_000_000), None);
    }
}
