//! A thread of the workload: what the mechanics keep of it. What the kernel above keeps of it is
//! not here (ARCHITECTURE.md, "The engine's two halves").
//!
//! What must stay: totals are ns and go into results. A thread's number never changes. Free: what
//! leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `random_runs_obey_the_rules_1` (`State`, `totals_at`), measures.rs::`work_is_that_of_the_steps`
//! (`work`), forking.rs::`threads_are_made_named_and_counted` (`name`),
//! classes.rs::`io_waits_raise_the_frequency` (`is_in_io`),
//! scale.rs::`ten_thousand_tasks_on_eight_cpus` (`wait_ns` of who still waits). `new`, `of_script`,
//! `has_kernel_work`, `is_there` and `is_runnable` by the first one, too.
//!
//! Callers: report.rs (`totals_at`), mechanics/script/start.rs (`has_kernel_work`),
//! mechanics/script/sync/channel.rs (`has_kernel_work`), mechanics/script/sync/mod.rs
//! (`has_kernel_work`), kernel/model/change.rs, kernel/model/lines.rs and 2 more (`is_runnable`),
//! kernel/model/run.rs, kernel/tree/tasks.rs and 2 more (`is_in_io`).
//!
//! Tests: crates/engine/tests/behaviour/invariants.rs, crates/engine/tests/behaviour/measures.rs,
//! crates/engine/tests/behaviour/forking.rs, crates/engine/tests/behaviour/classes.rs,
//! crates/engine/tests/behaviour/scale.rs

use super::handover::Lines;
use super::script::progress::Progress;
use crate::ids::{CpuId, TaskId};
use crate::machine::FULL_SPEED;
use crate::observe::Iteration;
use crate::outcome::{TaskTotals, WaitsFor};
use crate::threads::thread_name;
use wakeplace_workload::TaskScript;

/// Where a thread stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Not created yet, or asleep.
    Sleeping,
    /// Chosen for a CPU that has not queued it yet.
    Arriving,
    /// Queued or executing.
    Runnable,
    /// Gone.
    Exited,
}

/// What a runnable thread does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Burn this much work (`machine::FULL_SPEED` units).
    Work(u64),
    /// Run until this time, ns.
    Until(u64),
    /// Be on the CPU for so long, ns, whatever its speed.
    Stall(u64),
}

/// A unit for a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Post {
    pub(crate) channel: u32,
    pub(crate) sync: bool,
}

/// What a thread goes on with when its action or its sleep is over, before its next step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pending {
    /// Nothing.
    #[default]
    Nothing,
    /// A `Run`, `Runtime` or `Stall` ends that began then, ns.
    Ran { since_ns: u64 },
    /// A sleep until this timer's expiry ends.
    Expired {
        timer: u32,
        due_ns: u64,
        period_ns: u64,
    },
    /// It has the lines of the channel that it gives a unit to.
    Give(Post),
    /// It has those of a channel that it takes a unit of.
    Take { channel: u32 },
    /// It has done the work of waking somebody who waits for a unit.
    Post(Post),
    /// It waited for room, the unit in its hands.
    Retry(Post),
    /// It was handed a unit of a channel that has a limit.
    Taken { channel: u32 },
    /// It wakes those in `Thread::to_wake`; `paid`: the work of waking the first is done.
    Wake { then: Then, paid: bool },
    /// It waited for a mutex.
    Lock { mutex: u32 },
    /// It waited for a condition; it takes this mutex again.
    Signalled { mutex: Option<u32> },
    /// It slept at the start line.
    Begin,
    /// It has done the work of making a thread of this script.
    Fork { script: u32 },
}

/// What a thread does once it has woken those it had to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Its next step.
    Step,
    /// It begins, after its delay.
    Begin,
    /// It sleeps until the condition is signalled, if that has not happened meanwhile.
    Await { condition: u32, mutex: Option<u32> },
}

/// One thread.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) state: State,
    pub(crate) action: Option<Action>,
    /// Kernel work to do before its own (switch, cache refill), work units.
    pub(crate) overhead: u64,
    /// Waiting in the kernel to do before that, ns, whatever the CPU's speed.
    pub(crate) kernel_wait_ns: u64,
    /// What of it is in which CPU's cache.
    pub(super) lines: Lines,
    /// When its sleep ends or ended.
    pub(crate) due_ns: u64,
    /// It woke and has not run since.
    pub(crate) fresh: bool,
    pub(crate) runnable_since_ns: u64,
    pub(crate) totals: TaskTotals,
    /// Work of its steps that is done (`machine::FULL_SPEED` units).
    pub(crate) work: u128,
    /// It is past the start line, where all wait until the last one is created.
    pub(crate) started: bool,
    /// When it was created, ns.
    pub(crate) born_ns: u64,
    /// It ends as soon as whoever waits for its end is told.
    pub(crate) ends: bool,
    /// Index of its script; the parent of all has none.
    pub(crate) script: u32,
    /// Its script says that all its sleeps wait for devices.
    pub(crate) io_wait: bool,
    /// Which one of its script's threads, if it was forked.
    pub(crate) number: Option<u64>,
    /// Its own copies of its script's timers begin there.
    pub(crate) timer_base: Option<u32>,
    pub(crate) progress: Progress,
    pub(crate) pending: Pending,
    /// What it sleeps for, if not for time.
    pub(crate) waits: Option<WaitsFor>,
    /// It waits for a condition but does not sleep yet.
    pub(crate) listening: bool,
    /// Its sleep waits for a device.
    pub(crate) in_io: bool,
    /// Those it is about to wake and whether it says that it will sleep soon, the last one first.
    pub(crate) to_wake: Vec<(TaskId, bool)>,
    /// Once it has woken the next holder of a mutex: who held it, and may have been lent priority.
    pub(crate) lent_to: Option<TaskId>,
    /// When its last `Mark` was, ns.
    pub(crate) mark_ns: u64,
    /// When whoever woke it last began to, ns.
    pub(crate) stamp_ns: u64,
    /// When its last timer, sleep or delay was due, ns, until a frame begins with that. A timer
    /// event that a rest made late has none of its own.
    pub(crate) frame_due_ns: Option<u64>,
    /// For which chains it has worked since their last `FrameEnd`, a bit each.
    pub(crate) worked_for: u64,
    /// How long it has slept by `Sleep` since its last timer event, ns.
    pub(crate) rested_ns: u64,
    /// How long its last `Sleep` is, ns, in recordings also the wait for a timer; the largest
    /// number: it is the delay before its first step.
    pub(crate) rest_ns: u64,
    /// When that ends, ns.
    pub(crate) rest_end_ns: u64,
    /// When it began the step that wakes others, ns.
    pub(crate) began_ns: u64,
    /// The number it claimed last.
    pub(crate) claimed: u64,
    /// The CPU of its last `Lock` of one mutex per CPU.
    pub(crate) lock_cpu: Option<CpuId>,
    /// The pass over a phase that is under way.
    pub(crate) pass: Iteration,
}

impl Thread {
    /// A thread that has not begun.
    pub(crate) fn new() -> Self {
        Self {
            state: State::Sleeping,
            action: None,
            overhead: 0,
            kernel_wait_ns: 0,
            lines: Lines::default(),
            due_ns: 0,
            fresh: false,
            runnable_since_ns: 0,
            totals: TaskTotals::default(),
            work: 0,
            started: false,
            born_ns: 0,
            ends: false,
            script: u32::MAX,
            io_wait: false,
            number: None,
            timer_base: None,
            progress: Progress::default(),
            pending: Pending::Nothing,
            waits: None,
            listening: false,
            in_io: false,
            to_wake: Vec::new(),
            lent_to: None,
            mark_ns: 0,
            stamp_ns: 0,
            frame_due_ns: None,
            worked_for: 0,
            rested_ns: 0,
            rest_ns: 0,
            rest_end_ns: 0,
            began_ns: 0,
            claimed: 0,
            lock_cpu: None,
            pass: Iteration::default(),
        }
    }

    /// A thread that follows a script.
    pub(crate) fn of_script(script: &TaskScript, index: u32) -> Self {
        Self {
            script: index,
            io_wait: script.attributes.io_wait,
            ..Self::new()
        }
    }

    /// Its first step comes after a delay, if `due_ns` is to come: until then it takes part in
    /// nothing, and a frame can begin with it.
    pub(crate) fn begins_at(&mut self, now_ns: u64, due_ns: u64) {
        if due_ns > now_ns {
            self.frame_due_ns = Some(due_ns);
            (self.rest_ns, self.rest_end_ns) = (u64::MAX, due_ns);
        }
    }

    /// The thread's name: its script's, of a forked one with its number among its equals.
    pub(crate) fn name(&self, scripts: &[TaskScript]) -> String {
        thread_name(&scripts[self.script as usize], self.number)
    }

    /// The kernel goes on before it does.
    pub(crate) fn has_kernel_work(&self) -> bool {
        self.overhead | self.kernel_wait_ns > 0
    }

    /// Whether the thread has not ended.
    pub(crate) fn is_there(&self) -> bool {
        self.state != State::Exited
    }

    /// Whether the thread is queued or executing.
    pub(crate) fn is_runnable(&self) -> bool {
        self.state == State::Runnable
    }

    /// What it did, up to the end of the run.
    pub(crate) fn totals_at(&self, now_ns: u64, executing: bool) -> TaskTotals {
        let waits = self.is_runnable() && !executing;
        let open = if waits {
            now_ns - self.runnable_since_ns
        } else {
            0
        };
        TaskTotals {
            wait_ns: self.totals.wait_ns + open,
            longest_wait_ns: self.totals.longest_wait_ns.max(open),
            work_ns: (self.work / u128::from(FULL_SPEED)) as u64,
            ..self.totals
        }
    }

    /// Whether the thread's sleep ends with a device, and the kernel is told so: iowait.
    #[inline]
    pub(crate) fn is_in_io(&self) -> bool {
        self.in_io || self.io_wait
    }
}
