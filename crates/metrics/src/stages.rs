//! What the tasks of chains spend their time on: running, or waiting for a CPU while somebody else
//! runs there (docs/guide/workloads.md#deadlines).
//!
//! A [`Watch`] hears of every thread, and tells the stretches of those that it follows. `frames.rs`
//! adds these to the [`Split`] of each frame that they hold up. Times are ns.
//!
//! What must stay: a stretch ends where the thread, its CPU's runner or its clock changes, so a
//! stretch has one of each. Who waits, waits for the one that runs on the CPU where it is queued or
//! ran last. Sums are integers. Free: what leaves every figure as it is (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part: `stretches_by_hand` (`happened`, `follow`, `end`,
//! `end_those`, `end_waits`, `change`, `wakes`), `a_split_takes_its_own_time` (`add`),
//! late_frames.rs::`a_dropped_frame_says_who_was_busy` (`is_awake`, `is_awake_since`),
//! late_frames.rs::`late_frames_are_split_by_hand` (`new`, `follow_first`, `cpu_names`, `khz`), all
//! (`slot`).
//!
//! Callers: frames.rs (`Watch`, `Split`, `Stretch`), late_frames.rs (`Times`).
//!
//! Tests: below, crates/metrics/src/late_frames.rs::late_frames_are_split_by_hand,
//! crates/metrics/src/late_frames.rs::a_dropped_frame_says_who_was_busy

use crate::wiring::Wiring;
use std::collections::BTreeMap;
use wakeplace_engine::{Happening, Observer};
use wakeplace_platform::Platform;
use wakeplace_workload::{Event, Workload};

/// What a thread spends a stretch of time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spent {
    /// It runs there, at this clock.
    Running { cpu: u32, khz: u32 },
    /// It could run, and that one does; None: nobody runs there.
    Waiting { behind: Option<u32> },
}

/// A piece of a thread's time in which nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) task: u32,
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    pub(crate) spent: Spent,
}

/// What a task spent of the time of frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Time that it ran, by CPU.
    pub running_ns: BTreeMap<u32, u64>,
    /// Clock times running time, kHz x ns.
    pub khz_ns: u128,
    /// Time that it could run and did not, by who ran then; None: nobody ran there.
    pub waiting_ns: BTreeMap<Option<u32>, u64>,
}

/// What tasks spent of one frame's time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// When the frame began.
    pub(crate) begin_ns: u64,
    /// Up to when it is complete; None: to the end of the run.
    pub(crate) until_ns: Option<u64>,
    pub(crate) tasks: BTreeMap<u32, Times>,
}

impl Split {
    /// Of a frame that begins then.
    pub(crate) fn new(begin_ns: u64) -> Self {
        Self {
            begin_ns,
            until_ns: None,
            tasks: BTreeMap::new(),
        }
    }

    /// Adds what of a stretch is in the frame's time.
    pub(crate) fn add(&mut self, it: &Stretch) {
        let ns = it.to_ns.saturating_sub(it.from_ns.max(self.begin_ns));
        if ns == 0 {
            return;
        }
        let times = self.tasks.entry(it.task).or_default();
        match it.spent {
            Spent::Running { cpu, khz } => {
                *times.running_ns.entry(cpu).or_default() += ns;
                times.khz_ns += u128::from(khz) * u128::from(ns);
            }
            Spent::Waiting { behind } => *times.waiting_ns.entry(behind).or_default() += ns,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Asleep,
    Waiting,
    Running,
}

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    state: State,
    cpu: u32,
    since_ns: u64,
    followed: bool,
}

/// Sees what threads do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    threads: Vec<Thread>,
    followed: Vec<u32>,
    /// Who runs, by CPU.
    runs: Vec<Option<u32>>,
    cpu_domain: Vec<usize>,
    /// Clocks of each domain, and which is set.
    clocks: Vec<(Vec<u32>, usize)>,
    /// What each CPU is called: its kind where a cluster holds several, else its cluster.
    cpu_names: Vec<String>,
    /// The scripts that begin frames.
    begins: Vec<bool>,
    /// Stretches that have ended and were not taken yet.
    pub(crate) ended: Vec<Stretch>,
}

/// The place of a thread or CPU in a list that grows with what is heard of.
fn slot<T: Clone + Default>(all: &mut Vec<T>, at: u32) -> &mut T {
    let at = at as usize;
    if at >= all.len() {
        all.resize(at + 1, T::default());
    }
    &mut all[at]
}

impl Watch {
    /// Follows the first tasks of chains from the start.
    pub(crate) fn new(platform: &Platform, workload: &Workload) -> Self {
        let groups = match platform.cpu_kinds() {
            kinds if kinds.is_empty() => platform.cpu_groups(),
            kinds => kinds,
        };
        let mut cpu_names = vec![String::new(); platform.cpus.len()];
        for group in &groups {
            for cpu in &group.cpus {
                cpu_names[cpu.index()].clone_from(&group.name);
            }
        }
        let clocks = platform.freq_domains.iter();
        let clocks = clocks.map(|domain| (domain.opps.iter().map(|opp| opp.khz).collect(), 0));
        let begins = workload.tasks.iter().map(|script| {
            let mut events = script.phases.iter().flat_map(|phase| &phase.events);
            events.any(|event| matches!(event, Event::FrameBegin { .. }))
        });
        let mut this = Self {
            cpu_domain: Wiring::new(platform).cpu_domain,
            clocks: clocks.collect(),
            cpu_names,
            begins: begins.collect(),
            ..Self::default()
        };
        for task in (0..).take(this.begins.len()) {
            this.follow_first(task, task);
        }
        this
    }

    /// Follows a thread whose script begins frames.
    fn follow_first(&mut self, task: u32, script: u32) {
        if self.begins.get(script as usize) == Some(&true) {
            self.follow(task);
        }
    }

    /// What each CPU is called.
    pub(crate) fn cpu_names(&self) -> &[String] {
        &self.cpu_names
    }

    /// The thread runs or could run.
    pub(crate) fn is_awake(&self, task: u32) -> bool {
        let thread = self.threads.get(task as usize);
        thread.is_some_and(|thread| thread.state != State::Asleep)
    }

    /// The same, or it has done so after that time.
    pub(crate) fn is_awake_since(&self, task: u32, time_ns: u64) -> bool {
        let thread = self.threads.get(task as usize);
        self.is_awake(task) || thread.is_some_and(|thread| thread.since_ns > time_ns)
    }

    /// Tells the thread's stretches from now on.
    pub(crate) fn follow(&mut self, task: u32) {
        let thread = slot(&mut self.threads, task);
        if !thread.followed {
            thread.followed = true;
            self.followed.push(task);
        }
    }

    /// The clock of a CPU.
    fn khz(&self, cpu: u32) -> u32 {
        let domain = self.cpu_domain.get(cpu as usize);
        let clocks = domain.and_then(|domain| self.clocks.get(*domain));
        clocks.map_or(0, |(khz, now)| khz.get(*now).copied().unwrap_or(0))
    }

    /// What the thread does so far is a stretch, and it goes on.
    fn end(&mut self, time_ns: u64, task: u32) {
        let was = *slot(&mut self.threads, task);
        // Who is followed from within a stretch is told from its begin.
        if !was.followed {
            return;
        }
        let spent = match was.state {
            // It sleeps since when it did.
            State::Asleep => return,
            State::Running => Spent::Running {
                cpu: was.cpu,
                khz: self.khz(was.cpu),
            },
            State::Waiting => Spent::Waiting {
                behind: self.runs.get(was.cpu as usize).copied().flatten(),
            },
        };
        slot(&mut self.threads, task).since_ns = time_ns;
        if time_ns > was.since_ns {
            self.ended.push(Stretch {
                task,
                from_ns: was.since_ns,
                to_ns: time_ns,
                spent,
            });
        }
    }

    /// Ends the stretches of those for whom that holds.
    fn end_those(&mut self, time_ns: u64, which: impl Fn(&Self, Thread) -> bool) {
        for at in 0..self.followed.len() {
            let task = self.followed[at];
            if which(self, self.threads[task as usize]) {
                self.end(time_ns, task);
            }
        }
    }

    /// Another one runs there from now on.
    fn end_waits(&mut self, time_ns: u64, cpu: u32) {
        self.end_those(time_ns, |_, thread| {
            thread.state == State::Waiting && thread.cpu == cpu
        });
    }

    /// The thread does something else from now on, or does it there.
    fn change(&mut self, time_ns: u64, task: u32, state: State, cpu: u32) {
        self.end(time_ns, task);
        let thread = slot(&mut self.threads, task);
        thread.state = state;
        thread.cpu = cpu;
        thread.since_ns = time_ns;
    }

    /// Who sleeps waits for a CPU from now on.
    fn wakes(&mut self, time_ns: u64, task: u32, cpu: Option<u32>) {
        let was = *slot(&mut self.threads, task);
        let state = match was.state {
            State::Asleep => State::Waiting,
            other => other,
        };
        // Where a running thread is, its own events say.
        let cpu = cpu.filter(|_| state == State::Waiting).unwrap_or(was.cpu);
        self.change(time_ns, task, state, cpu);
    }
}

impl Observer for Watch {
    /// Stretches that end with it are in `ended` then.
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::RunStart { cpu, task, .. } => {
                self.end_waits(time_ns, cpu);
                self.change(time_ns, task, State::Running, cpu);
                *slot(&mut self.runs, cpu) = Some(task);
            }
            Happening::RunStop {
                cpu, task, stop, ..
            } => {
                self.end_waits(time_ns, cpu);
                let state = match stop.sleeps() {
                    true => State::Asleep,
                    false => State::Waiting,
                };
                self.change(time_ns, task, state, cpu);
                *slot(&mut self.runs, cpu) = None;
            }
            Happening::Woken(ref it) => self.wakes(time_ns, it.task, None),
            Happening::Placement(ref it) => self.wakes(time_ns, it.task, Some(it.cpu)),
            Happening::Migrate { task, to_cpu, .. } => {
                let state = slot(&mut self.threads, task).state;
                self.change(time_ns, task, state, to_cpu);
            }
            Happening::Frequency { domain, opp } => {
                self.end_those(time_ns, |this, thread| {
                    thread.state == State::Running
                        && this.cpu_domain.get(thread.cpu as usize) == Some(&(domain as usize))
                });
                if let Some((_, now)) = self.clocks.get_mut(domain as usize) {
                    *now = usize::from(opp);
                }
            }
            Happening::Forked { task, script } => self.follow_first(task, script),
            Happening::FrameBegin { .. } | Happening::FrameEnd { .. } | Happening::Finish => {
                self.end_those(time_ns, |_, _| true);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Spent, Split, Stretch, Watch};
    use wakeplace_engine::observe::{MigrateCause, Stop, Waking};
    use wakeplace_engine::{Observer, happen};

    fn stretch(task: u32, from_ns: u64, to_ns: u64, spent: Spent) -> Stretch {
        Stretch {
            task,
            from_ns,
            to_ns,
            spent,
        }
    }

    /// Goal: task 1 is woken at 10 on CPU 0, where 9 runs; at 14 task 8 follows it, at 20 task 1
    /// runs, at 23 it is put on CPU 2 and waits there for nobody until 25. It sleeps from 30 on,
    /// and what it does asleep is no stretch.
    #[test]
    fn stretches_by_hand() {
        let mut watch = Watch::default();
        let stopped = |watch: &mut Watch, at: u64, (task, cpu, stop): (u32, u32, Stop)| {
            happen!(watch, at => RunStop { cpu, task, ran_ns: 0, stop });
        };
        let starts = |watch: &mut Watch, at: u64, task: u32, cpu: u32| {
            happen!(watch, at => RunStart { cpu, task, wake_latency_ns: None });
        };
        watch.follow(1);
        starts(&mut watch, 0, 9, 0);
        let waking = Waking {
            task: 1,
            waker: None,
            cpu: 3,
            sync: false,
        };
        happen!(watch, 10 => Woken(waking));
        stopped(&mut watch, 14, (9, 0, Stop::Sleeps));
        starts(&mut watch, 14, 8, 0);
        stopped(&mut watch, 20, (8, 0, Stop::Preempted));
        starts(&mut watch, 20, 1, 0);
        stopped(&mut watch, 23, (1, 0, Stop::Preempted));
        let (task, from_cpu, to_cpu, cause) = (1, 0, 2, MigrateCause::Balance);
        happen!(watch, 23 => Migrate { task, from_cpu, to_cpu, cause });
        starts(&mut watch, 23, 8, 0);
        starts(&mut watch, 25, 1, 2);
        stopped(&mut watch, 30, (1, 2, Stop::Sleeps));
        happen!(watch, 40 => Finish);
        let waits = |behind| Spent::Waiting { behind };
        let runs = |cpu| Spent::Running { cpu, khz: 0 };
        let expected = [
            stretch(1, 10, 14, waits(Some(9))),
            stretch(1, 14, 20, waits(Some(8))),
            stretch(1, 20, 23, runs(0)),
            stretch(1, 23, 25, waits(None)),
            stretch(1, 25, 30, runs(2)),
        ];
        assert_eq!(watch.ended, expected);
    }

    /// Goal: a frame that begins at 10 has 4 of a stretch from 6 to 14, all of one from 14 to 20,
    /// and nothing of one that ended before. 4 ns at 500 and 6 at 1000 kHz are 8000 kHz ns.
    #[test]
    fn a_split_takes_its_own_time() {
        let mut split = Split::new(10);
        for (from, to, khz) in [(2, 6, 700), (6, 14, 500), (14, 20, 1000)] {
            split.add(&stretch(3, from, to, Spent::Running { cpu: 1, khz }));
        }
        split.add(&stretch(3, 20, 23, Spent::Waiting { behind: Some(4) }));
        let times = &split.tasks[&3];
        assert_eq!(times.running_ns.get(&1), Some(&10));
        assert_eq!(times.khz_ns, 8000);
        assert_eq!(times.waiting_ns.get(&Some(4)), Some(&3));
    }
}
