//! Events of a trace in the kernel's vocabulary, as its tracepoints have them
//! (docs/guide/traces.md, "The kernel's events").
//!
//! What must stay: numbers and letters are the kernel's (include/linux/sched.h,
//! docs/rules/traces.md#trace-events); `export` writes and `read` finds an event by the same names;
//! an event that is added is added in every form. Free: what leaves the scripts of recordings as
//! they are (ARCHITECTURE.md, "What a change may touch"). Tests by part: `states_are_the_kernels`
//! (`STATES`, `of_letters`, `of_number`), `whole_runs_read_back` (the events, in both forms),
//! replay/forms.rs::`raw_fields_say_the_same` (`left_with`), the first also `number`, `letters` and
//! `row`.
//!
//! Callers: read/fields.rs (`left_with`, `of_letters`), export/ftrace.rs (`letters`), read/order.rs
//! (`of_number`), read/perfetto.rs (`left_with`).
//!
//! Tests: below, crates/trace/tests/all/traces.rs::whole_runs_read_back,
//! crates/trace/tests/all/replay/forms.rs

/// A task as an event names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who<'a> {
    /// Name, at most 15 bytes; `swapper/N` for the idle task of CPU N.
    pub comm: &'a str,
    /// Number of the thread; 0: the idle task.
    pub pid: i32,
    /// The kernel's: 120 + nice, 99 - priority for RT, -1 for deadline tasks.
    pub prio: i32,
}

/// As what a task left its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// Still runnable: it gave the CPU up by itself, or it is the idle task.
    Runnable,
    /// Still runnable: it was made to leave.
    Preempted,
    /// It sleeps.
    Interruptible,
    /// It waits for a device.
    Uninterruptible,
    /// Stopped by a signal.
    Stopped,
    /// Stopped by a debugger.
    Traced,
    /// It has ended.
    Dead,
    /// It has ended, and its parent does not know yet.
    Zombie,
    /// A kernel thread that is put aside.
    Parked,
    /// A kernel thread that waits and is not counted as load.
    Idle,
}

/// States with their numbers and letters in `sched_switch`, in the order of `TaskState`.
const STATES: [(TaskState, i64, &str); 10] = [
    (TaskState::Runnable, 0, "R"),
    (TaskState::Preempted, 256, "R+"),
    (TaskState::Interruptible, 1, "S"),
    (TaskState::Uninterruptible, 2, "D"),
    (TaskState::Stopped, 4, "T"),
    (TaskState::Traced, 8, "t"),
    (TaskState::Dead, 16, "X"),
    (TaskState::Zombie, 32, "Z"),
    (TaskState::Parked, 64, "P"),
    (TaskState::Idle, 128, "I"),
];

impl TaskState {
    /// `prev_state` as a number.
    #[must_use]
    pub fn number(self) -> i64 {
        self.row().1
    }

    /// `prev_state` as it is printed.
    #[must_use]
    pub fn letters(self) -> &'static str {
        self.row().2
    }

    /// The state with its number and letters.
    fn row(self) -> &'static (TaskState, i64, &'static str) {
        &STATES[self as usize]
    }

    /// The state of a number; None: several at once, or none of these.
    #[must_use]
    pub fn of_number(number: i64) -> Option<Self> {
        let row = STATES.iter().find(|(_, n, _)| *n == number);
        row.map(|(state, ..)| *state)
    }

    /// As what a task left whose state is this number, also one with several bits or newer ones:
    /// then it sleeps, unless the bits of a preemption or of an end are among them.
    #[must_use]
    pub fn left_with(number: i64) -> Self {
        Self::of_number(number).unwrap_or(match number {
            _ if number & 0x100 != 0 => Self::Preempted,
            _ if number & 0x30 != 0 => Self::Dead,
            _ if number & 2 != 0 => Self::Uninterruptible,
            _ => Self::Interruptible,
        })
    }

    /// The state that is printed so.
    #[must_use]
    pub fn of_letters(letters: &str) -> Option<Self> {
        let row = STATES.iter().find(|(.., l)| *l == letters);
        row.map(|(state, ..)| *state)
    }
}

/// In whose context something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context<'a> {
    /// The CPU.
    pub cpu: u32,
    /// The task that did it; 0: no task.
    pub pid: i32,
    /// Its name.
    pub comm: &'a str,
    /// It was an interrupt that did it.
    pub interrupt: bool,
}

/// `state` of `cpu_idle` when the CPU leaves its idle state.
pub const IDLE_EXIT: u32 = u32::MAX;
/// `vec` of `softirq_entry`: timers that a tick found due.
pub const SOFTIRQ_TIMER: u32 = 1;
/// `vec` of `softirq_entry`: balancing.
pub const SOFTIRQ_SCHED: u32 = 7;
/// `vec` of `softirq_entry`: high-resolution timers.
pub const SOFTIRQ_HRTIMER: u32 = 8;
/// What the kernel calls the numbers of `softirq_entry`.
pub const SOFTIRQS: [&str; 10] = [
    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
];

/// What a probe of `__wake_up_sync_key` is called here; of other names those with these words in
/// them are taken for it.
pub const SYNC_WAKE: &str = "wake_up_sync";

/// `clone_flags` of a thread of the same process: CLONE_VM, FS, FILES, SIGHAND, THREAD.
pub const CLONE_THREAD_FLAGS: u64 = 0x0001_0f00;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// `sched_switch`.
    Switch {
        /// Who leaves.
        prev: Who<'a>,
        /// How.
        prev_state: TaskState,
        /// Who runs from now on.
        next: Who<'a>,
    },
    /// `sched_waking`: somebody wakes a sleeper; `target_cpu` is the CPU it ran on.
    Waking {
        /// The sleeper.
        task: Who<'a>,
        /// CPU.
        target_cpu: u32,
    },
    /// `sched_wakeup`: a CPU is chosen and it is runnable there.
    Wakeup {
        /// The sleeper.
        task: Who<'a>,
        /// CPU.
        target_cpu: u32,
    },
    /// `sched_wakeup_new`: the same for a new task.
    WakeupNew {
        /// The new task.
        task: Who<'a>,
        /// CPU.
        target_cpu: u32,
    },
    /// `sched_migrate_task`.
    Migrate {
        /// Who moves.
        task: Who<'a>,
        /// From where.
        orig_cpu: u32,
        /// To where.
        dest_cpu: u32,
    },
    /// `cpu_frequency`.
    Frequency {
        /// From now on, kHz.
        khz: u32,
        /// CPU; each of a domain has its own event.
        cpu: u32,
    },
    /// `cpu_idle`.
    Idle {
        /// Index of the state among those of the CPU; `IDLE_EXIT`: it leaves.
        state: u32,
        /// CPU.
        cpu: u32,
    },
    /// `hrtimer_start`: a high-resolution timer is armed. Of a simulated run these are the timers
    /// that end sleeps.
    TimerStart {
        /// Its address, by which it is known.
        timer: u64,
        /// When it is due at the latest, ns on its own clock.
        expires_ns: u64,
    },
    /// `hrtimer_expire_entry`: the timer's interrupt has come; what it does follows.
    TimerExpire {
        /// Its address.
        timer: u64,
        /// What its own clock says now, ns.
        now_ns: u64,
    },
    /// `hrtimer_expire_exit`: what it did is done.
    TimerDone {
        /// Its address.
        timer: u64,
    },
    /// `softirq_entry`: a CPU begins work that an interrupt left it.
    Softirq {
        /// Which, as `SOFTIRQ_TIMER` and the others.
        vec: u32,
    },
    /// A probe of `__wake_up_sync_key`: who wakes next on this CPU says that it will sleep soon.
    SyncWake,
    /// `task_newtask`.
    NewTask {
        /// Number of the new one.
        pid: i32,
        /// Its name: its maker's.
        comm: &'a str,
        /// As clone(2) has them.
        clone_flags: u64,
    },
    /// `task_rename`.
    Rename {
        /// Whose name.
        pid: i32,
        /// Until now.
        old: &'a str,
        /// From now on.
        new: &'a str,
    },
    /// `sched_process_exit`: a thread ends.
    Exit {
        /// Which.
        task: Who<'a>,
        /// Of which process.
        tgid: i32,
    },
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// When, ns.
    pub time_ns: u64,
    /// Where.
    pub context: Context<'a>,
    /// What.
    pub kind: Kind<'a>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: numbers and letters of docs/rules/traces.md#trace-events.
    #[test]
    fn states_are_the_kernels() {
        let numbers = [("S", 1), ("D", 2), ("T", 4), ("t", 8), ("X", 16), ("Z", 32)];
        let others = [("P", 64), ("I", 128), ("R", 0), ("R+", 256)];
        for (letters, number) in numbers.into_iter().chain(others) {
            let state = TaskState::of_letters(letters).expect("a state");
            assert_eq!((state.number(), state.letters()), (number, letters));
            assert_eq!(state.row().0, state);
            assert_eq!(TaskState::of_number(number), Some(state));
        }
        assert_eq!(TaskState::of_number(3), None);
    }
}
