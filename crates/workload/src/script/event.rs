//! The steps of a task, with their kinds of timer and what a measured time begins with
//! (docs/guide/rt-app.md, "Events").
//!
//! Made by `rtapp`, `models` and recordings; executed by the engine (`mechanics/script/steps.rs`)
//! and by the player of the tests.
//!
//! What must stay: what each step means, as its comment says it: results follow from it. Times are
//! ns, work is ns on the calibration CPU; a step has no name, only an index. Free: what leaves
//! scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no
//! test quotes. Tests by part: `random_steps_obey_the_rules` (all kinds of steps),
//! `timers_are_private_if_unique_and_absolute_if_one_event_is` (`TimerMode`), `samples_are_exact`
//! and `one_signal_has_one_stamp` (`Since`), `a_timer_with_overruns_leaves_out_what_it_missed`
//! (`TimerMode::Overrun`), `a_sysbench_threads_event_keeps_the_mutex_of_its_number`
//! (`Pick::Claimed`), `current_schbench_does_requests_under_a_lock_per_cpu` (`Pick::Cpu`).
//!
//! Tests: crates/engine/tests/behaviour/storm.rs, crates/engine/tests/behaviour/measures.rs,
//! crates/workload/tests/all/rtapp_files.rs, crates/workload/tests/all/benchmark_models.rs,
//! crates/workload/tests/all/schbench_tbench.rs

/// rt-app's two kinds of timer (docs/rules/rt-app.md#rt-app-events).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerMode {
    /// A late expiry moves the grid to now.
    Relative,
    /// A late expiry keeps the grid: late periods run back to back.
    Absolute,
    /// A late expiry keeps the grid, and those that passed meanwhile are left out (POSIX interval
    /// timers with their overrun count; cyclictest).
    Overrun,
}

/// Which one of several like things a step means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// This one.
    This,
    /// By the number that the thread claimed last: this one and the `of - 1` after it, in turn.
    Claimed {
        /// How many there are, > 0.
        of: u32,
    },
    /// By the CPU that the thread executes on when the step begins; the thread uses the same one
    /// until its next `Lock`.
    Cpu {
        /// How many there are, > 0.
        of: u32,
    },
}

/// Where a measured time begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// At the thread's last `Event::Mark`.
    Mark,
    /// When whoever woke the thread last began to do so (all that one `Signal` wakes have the same
    /// time), or when its timer or sleep was due, also if it came too late to sleep. A unit of a
    /// channel that it took without sleeping counts as a wake-up when the channel was last given
    /// one.
    Wake,
}

/// A recorded task that is there at the end of the recording sleeps on: an hour, which no run comes
/// near, ns.
pub const SLEEPS_ON_NS: u64 = 3_600_000_000_000;

/// One step of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// CPU work: time it takes on the calibration CPU at its highest frequency, ns.
    Run {
        /// Work, ns.
        work_ns: u64,
    },
    /// Run until this much wall time has passed since the event began, ns (preemption counts).
    Runtime {
        /// Wall time, ns.
        wall_ns: u64,
    },
    /// CPU time that neither capacity nor frequency shortens: waits for memory. Longer by distance
    /// if the memory is on another node (`Phase::memory_nodes`).
    Stall {
        /// On the CPU, ns.
        cpu_ns: u64,
    },
    /// Sleep relative to now, ns.
    Sleep {
        /// Duration, ns.
        duration_ns: u64,
    },
    /// Sleep until a device is done: as `Sleep`, but in iowait.
    Io {
        /// Duration, ns.
        duration_ns: u64,
    },
    /// Periodic timer: next += period; sleep until then.
    Timer {
        /// Index into `Workload::timers`.
        timer: u32,
        /// Period, ns.
        period_ns: u64,
    },
    /// sched_yield: let the others of this CPU run first.
    Yield,
    /// Give one unit to a channel: its first waiter takes it and wakes. Nobody waits: it is kept.
    /// A channel with a limit that is full: sleep until it has drained, then try again.
    Post {
        /// Index into `Workload::channels`.
        channel: u32,
        /// The task says that it will sleep soon.
        sync: bool,
    },
    /// Take one unit of a channel; sleep until there is one. First come, first served.
    Wait {
        /// Index into `Workload::channels`.
        channel: u32,
    },
    /// Take a mutex. Held: sleep until the holder wakes this one, then try again; another may have
    /// been faster (a futex's way). A thread that locks its own mutex sleeps for good.
    Lock {
        /// Index into `Workload::mutexes`.
        mutex: u32,
        /// Which of them.
        pick: Pick,
    },
    /// Release a mutex, whoever holds it; wake its first waiter. Nobody holds it: nothing.
    Unlock {
        /// Index into `Workload::mutexes`.
        mutex: u32,
        /// Which of them.
        pick: Pick,
    },
    /// Wake the first task that waits for a condition, or all. Nobody waits: nothing.
    Signal {
        /// Index into `Workload::conditions`.
        condition: u32,
        /// All instead of the first.
        all: bool,
    },
    /// Release the mutex, if one is named, as `Unlock` does, sleep until the condition is
    /// signalled, and take the mutex again as `Lock` does.
    Await {
        /// Index into `Workload::conditions`.
        condition: u32,
        /// Index into `Workload::mutexes`.
        mutex: Option<u32>,
    },
    /// Sleep until all parties of a barrier are there; the last one wakes the others, and the
    /// barrier begins anew.
    Barrier {
        /// Index into `Workload::barriers`.
        barrier: u32,
    },
    /// Start a thread. It does not wait at the start line.
    Fork {
        /// Index into `Workload::tasks`, of one with `forks`.
        task: u32,
    },
    /// Run another program: the kernel chooses a CPU for the task (exec balancing).
    Exec,
    /// Take the next number of a counter, 0 first; at its limit the thread ends instead.
    Claim {
        /// Index into `Workload::counters`.
        counter: u32,
    },
    /// The thread ends if so much time has passed since its `TaskScript::zero`.
    ExitAfter {
        /// Since then, ns.
        since_start_ns: u64,
    },
    /// A measured time begins here.
    Mark,
    /// The time since then is one value of a series, if its warm-up is over.
    Sample {
        /// Index into `Workload::series`.
        series: u32,
        /// Since when.
        since: Since,
    },
    /// A frame of a chain begins, when the thread's last timer or sleep was due. Once for each of
    /// these: a second one before the next says nothing.
    FrameBegin {
        /// Index into `Workload::chains`.
        chain: u32,
    },
    /// The frame that the thread works on is done, if it has worked since the last one.
    FrameEnd {
        /// Index into `Workload::chains`.
        chain: u32,
    },
    /// So much of what the workload is measured by is done.
    Count {
        /// Units of `Workload::count`.
        units: u64,
    },
}
