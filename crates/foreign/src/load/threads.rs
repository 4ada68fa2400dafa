//! Threads of the loader run one at a time, each until it waits (docs/rules/sched-ext.md#loader).
//!
//! A thread that waits is one whose call has no answer yet. The next one is the one that could
//! first go on: equal loaders take equal turns.
//!
//! What must stay: turns go by virtual time, then by the order of waiting: equal loaders, equal
//! runs (`runs_with_a_loader_beside_them_are_the_same`). Free: how threads are kept.
//!
//! Tests by part: `a_loader_runs_in_virtual_time` (`run`, `event`, `take`, `take_new`, `next`,
//! `wake`, `wake_due`, `at_futex`, `wake_changed`, `deadline`, `look_at_files`, `somebody_new`,
//! `position`), `what_a_loader_must_not_do_is_named` (`Stop::Spins`),
//! `a_loader_that_hangs_leaves_nothing_behind` (`doing`, `others`). `requeue` has no test of its
//! own.
//!
//! Callers: load/process.rs (`run`, `others`, `wake_due`), load/futex.rs (`wake`, `requeue`).
//!
//! Tests: crates/cli/tests/all/schedulers.rs

use super::calls::{Answer, Call, Event};
use super::futex;
use super::serve::Session;
use super::waits::{Reply, Waiting, What, ready};
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

/// A thread that makes no call for so long, in the host's time, hangs.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// Most calls at one instant of virtual time, and how many of them a CPU of the machine is worth:
/// loaders read some hundred files of each. Who makes more waits for a time that never comes.
const MAX_CALLS: u64 = 1 << 16;
const MAX_CALLS_A_CPU: u64 = 1 << 11;

/// Why no thread runs any more.
pub(super) enum Stop {
    /// All of them wait; until then, by the loader's clock.
    Waits(Option<u64>),
    /// The scheduler has been attached. Who did it waits for the answer.
    Attached,
    /// The process has ended.
    Ended,
    /// One did not wait, and made no call; what it did.
    Hangs(String),
    /// One made calls without end.
    Spins,
    /// They took too long, by the host's clock.
    Late,
}

/// One thread.
#[derive(Debug)]
struct Thread {
    tid: u32,
    waits: Option<Waiting>,
    /// The how-manieth wait it is.
    since: u64,
}

/// The threads of a loader.
#[derive(Debug)]
pub(super) struct Threads {
    all: Vec<Thread>,
    /// Those that can go on, with the answers to their calls.
    ready: VecDeque<(Call, Answer)>,
    running: Option<u32>,
    /// The one that runs has made another, which has made no call yet.
    arriving: bool,
    /// Calls that came before that.
    early: VecDeque<Call>,
    waited: u64,
}

impl Threads {
    /// Of a process that has been started.
    pub(super) fn of(leader: u32) -> Self {
        let thread = Thread {
            tid: leader,
            waits: None,
            since: 0,
        };
        Self {
            all: vec![thread],
            ready: VecDeque::new(),
            running: Some(leader),
            arriving: false,
            early: VecDeque::new(),
            waited: 0,
        }
    }

    /// Lets threads run until none can, or it is too late by the host's clock.
    pub(super) fn run(&mut self, session: &mut Session<'_>, latest: Instant) -> io::Result<Stop> {
        let mut calls = 0;
        loop {
            #[allow(clippy::disallowed_methods, reason = "the loader is of the real world")]
            let left = latest.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Stop::Late);
            }
            if self.running.is_none() && !self.next(session) {
                return Ok(Stop::Waits(self.deadline(session)));
            }
            match self.event(session, left.min(PATIENCE))? {
                Event::Ended => return Ok(Stop::Ended),
                Event::Silence if left < PATIENCE => {}
                Event::Silence => return Ok(Stop::Hangs(self.doing(session))),
                Event::Nothing => {}
                Event::Call(call) => {
                    self.take(session, &call)?;
                    calls += 1;
                }
            }
            if session.known.attached.is_some() {
                return Ok(Stop::Attached);
            }
            if calls > MAX_CALLS.max(MAX_CALLS_A_CPU * u64::from(session.vm.nr_cpus())) {
                return Ok(Stop::Spins);
            }
        }
    }

    /// While all of them wait: answers a call of another process. None: the last one has ended.
    pub(super) fn others(
        &mut self,
        session: &mut Session<'_>,
        patience: Duration,
    ) -> io::Result<Option<bool>> {
        match session.calls.wait(patience)? {
            Event::Ended => return Ok(None),
            Event::Call(call) => self.take(session, &call)?,
            Event::Silence | Event::Nothing => return Ok(Some(false)),
        }
        Ok(Some(true))
    }

    /// The next call. While a new thread is on its way its first one is: where it stands in the
    /// order must not depend on the host.
    fn event(&mut self, session: &Session<'_>, patience: Duration) -> io::Result<Event> {
        if !self.arriving {
            if let Some(call) = self.early.pop_front() {
                return Ok(Event::Call(call));
            }
            return session.calls.wait(patience);
        }
        match session.calls.wait(patience)? {
            Event::Call(call) if self.position(call.pid).is_some() => {
                self.early.push_back(call);
                // It is back from making it: there is one, or none could be made.
                self.arriving = self.somebody_new(session);
                Ok(Event::Nothing)
            }
            other => Ok(other),
        }
    }

    /// Gives the thread's position among those known. None: it is not known.
    fn position(&self, tid: u32) -> Option<usize> {
        self.all.iter().position(|thread| thread.tid == tid)
    }

    /// Has the process a thread that has made no call yet?
    fn somebody_new(&self, session: &Session<'_>) -> bool {
        let threads = session.calls.threads();
        threads.into_iter().any(|tid| self.position(tid).is_none())
    }

    /// A call of a thread: answered at once, or the thread waits in virtual time.
    fn take(&mut self, session: &mut Session<'_>, call: &Call) -> io::Result<()> {
        let Some(at) = self.position(call.pid) else {
            self.take_new(session, call);
            return Ok(());
        };
        match session.reply(call, self) {
            // It goes on with the simulation.
            Reply::Now(answer) if session.known.attached.is_some() => {
                self.ready.push_front((call.clone(), answer));
                self.running = None;
            }
            Reply::Now(answer) => session.calls.respond(call, &answer),
            Reply::Waits(waiting) => {
                self.waited += 1;
                self.all[at].waits = Some(*waiting);
                self.all[at].since = self.waited;
                self.running = None;
            }
            Reply::Yields => {
                self.ready.push_back((call.clone(), Answer::Value(0)));
                self.running = None;
            }
            Reply::Clones => {
                session.calls.respond(call, &Answer::Host);
                self.arriving = true;
            }
            Reply::Ends => {
                session.calls.respond(call, &Answer::Host);
                session.calls.gone(call.pid)?;
                self.all.remove(at);
                self.running = None;
                self.wake_changed();
            }
        }
        Ok(())
    }

    /// A call of one that is not known: a new thread, or another process.
    fn take_new(&mut self, session: &mut Session<'_>, call: &Call) {
        if !call.of_loader {
            let mut answer = session.reply_to_other(call);
            if session.known.attached.take().is_some() {
                answer =
                    session.refuse("a scheduler that another process than the loader attaches");
            }
            return session.calls.respond(call, &answer);
        }
        self.all.push(Thread {
            tid: call.pid,
            waits: None,
            since: 0,
        });
        self.arriving = false;
        let answer = session.answer(call);
        self.ready.push_back((call.clone(), answer));
    }

    /// Gives the next thread its turn. False: all of them wait.
    fn next(&mut self, session: &Session<'_>) -> bool {
        if self.ready.is_empty() {
            session.known.count_records(session.vm);
            self.look_at_files();
        }
        let Some((call, answer)) = self.ready.pop_front() else {
            return false;
        };
        self.running = Some(call.pid);
        session.calls.respond(&call, &answer);
        true
    }

    /// Threads whose descriptors are ready can go on: the host's kernel answers.
    fn look_at_files(&mut self) {
        for thread in &mut self.all {
            let is_ready = |waiting: &mut Waiting| match &waiting.what {
                What::Files(files) => ready(files),
                What::Futex { .. } => false,
            };
            if let Some(waiting) = thread.waits.take_if(is_ready) {
                let answer = waiting.answer();
                self.ready.push_back((waiting.call, answer));
            }
        }
    }

    /// Says when the first of the waiting threads goes on. None: none waits for a time.
    fn deadline(&self, session: &Session<'_>) -> Option<u64> {
        let waits = self.all.iter().filter_map(|thread| thread.waits.as_ref());
        let timers = session.known.timers.iter();
        let timers = timers.filter_map(super::clocks::TimerFd::deadline);
        waits.filter_map(|waits| waits.until_ns).chain(timers).min()
    }

    /// It is that late: who has waited for it goes on, the earliest first.
    pub(super) fn wake_due(&mut self, session: &mut Session<'_>) {
        let now_ns = session.known.clock_ns;
        session
            .known
            .timers
            .iter_mut()
            .for_each(|timer| timer.expire(now_ns));
        let due = |thread: &Thread| {
            let until_ns = thread.waits.as_ref().and_then(|waits| waits.until_ns)?;
            (until_ns <= now_ns).then_some((until_ns, thread.since, thread.tid))
        };
        let mut late: Vec<_> = self.all.iter().filter_map(due).collect();
        late.sort_unstable();
        for (_, _, tid) in late {
            let at = self.position(tid);
            let Some(waiting) = at.and_then(|at| self.all[at].waits.take()) else {
                continue;
            };
            for (addr, bytes) in &waiting.zero {
                waiting.call.write(*addr, &vec![0; *bytes as usize]);
            }
            self.ready
                .push_back((waiting.call, Answer::Value(waiting.late)));
        }
    }

    /// Wakes up to `count` threads that wait at an address, in the order in which they came.
    pub(super) fn wake(&mut self, addr: u64, count: usize, bits: u32) -> usize {
        let found = self.at_futex(addr, bits);
        let woken = found.iter().take(count);
        for at in woken.clone() {
            if let Some(waiting) = self.all[*at].waits.take() {
                self.ready.push_back((waiting.call, Answer::Value(0)));
            }
        }
        woken.len()
    }

    /// Lets up to `count` of them wait at another address.
    pub(super) fn requeue(&mut self, from: u64, to: u64, count: usize) -> usize {
        let found = self.at_futex(from, u32::MAX);
        let moved = found.iter().take(count);
        for at in moved.clone() {
            if let Some(waiting) = &mut self.all[*at].waits
                && let What::Futex { addr, value, .. } = &mut waiting.what
            {
                *addr = to;
                *value = futex::word(&waiting.call, to).unwrap_or(0);
            }
        }
        moved.len()
    }

    /// Threads that wait at an address, in the order in which they came.
    fn at_futex(&self, at: u64, which: u32) -> Vec<usize> {
        let waits_there = |thread: &Thread| match thread.waits.as_ref().map(|waits| &waits.what) {
            Some(What::Futex { addr, bits, .. }) => *addr == at && bits & which != 0,
            _ => false,
        };
        let mut found: Vec<_> = (0..self.all.len())
            .filter(|at| waits_there(&self.all[*at]))
            .collect();
        found.sort_unstable_by_key(|at| self.all[*at].since);
        found
    }

    /// A thread that ends has the kernel write a word that others wait for.
    fn wake_changed(&mut self) {
        for thread in &mut self.all {
            let changed = |waiting: &mut Waiting| match waiting.what {
                What::Futex { addr, value, .. } => {
                    futex::word(&waiting.call, addr).is_some_and(|found| found != value)
                }
                What::Files(_) => false,
            };
            if let Some(waiting) = thread.waits.take_if(changed) {
                self.ready.push_back((waiting.call, Answer::Value(0)));
            }
        }
    }

    /// What the thread does whose turn it is.
    fn doing(&self, session: &Session<'_>) -> String {
        let tid = self.running.unwrap_or(session.known.loader);
        session.calls.doing(tid)
    }
}
