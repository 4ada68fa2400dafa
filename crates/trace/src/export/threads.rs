//! Threads and CPUs as a trace names them (docs/guide/traces.md).
//!
//! What must stay: numbers follow the order of creation, from `LEADER` on; names are cut as the
//! kernel cuts them; priorities are the kernel's (docs/rules/traces.md#trace-events). Free: what
//! leaves the bytes of files as they are (ARCHITECTURE.md, "What a change may touch"). Tests by
//! part: `names_are_the_kernels` (`comm`), `events_told_by_hand` (`prio`, `pid`, `leader_comm`,
//! `idle_state`, `idle_task`), `priorities_follow_the_phases` (priorities that change), all also
//! `new`, `who` and `all`.
//!
//! Callers: known.rs (`leader_comm`, `idle_task`).
//!
//! Tests: below, crates/trace/tests/all/traces.rs

use crate::event::{TaskState, Who};
use wakeplace_engine::thread_name;
use wakeplace_platform::Platform;
use wakeplace_workload::{RealTime, TaskScript, Workload};

/// Number of the process that all threads of a workload belong to.
pub(crate) const LEADER: i32 = 1000;
/// Bytes of a kernel's task name.
const COMM_BYTES: usize = 15;
/// The idle task's priority: that of nice 0.
const IDLE_PRIO: i32 = 120;

/// A thread.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) comm: String,
    pub(crate) pid: i32,
    /// The kernel's.
    pub(crate) prio: i32,
    /// CPU it is on, or was on last.
    pub(crate) cpu: u32,
    /// Who woke it last: CPU, thread (None: an interrupt).
    pub(crate) woken_by: (u32, Option<u32>),
    /// A timer is to end its sleep.
    pub(crate) timer_armed: bool,
    /// A CPU was chosen for it, and it has not run since.
    pub(crate) waits: bool,
}

impl Thread {
    /// The thread of this number, of a script; `fork` is its count among those forked of it.
    pub(crate) fn new(number: usize, script: &TaskScript, fork: Option<u64>) -> Self {
        Self {
            comm: comm(&thread_name(script, fork)),
            pid: pid(number),
            prio: prio(script),
            cpu: 0,
            woken_by: (0, None),
            timer_armed: false,
            waits: false,
        }
    }

    /// Its name, number and priority.
    pub(crate) fn who(&self) -> Who<'_> {
        Who {
            comm: &self.comm,
            pid: self.pid,
            prio: self.prio,
        }
    }
}

/// Number of the thread that the engine knows by `number`.
pub(crate) fn pid(number: usize) -> i32 {
    i32::try_from(number).map_or(i32::MAX, |number| LEADER + 1 + number)
}

/// A task's name as the kernel keeps it: its first 15 bytes, and nothing that breaks a line.
pub(crate) fn comm(name: &str) -> String {
    let plain = |c: char| if c.is_control() { '?' } else { c };
    let mut kept = String::new();
    for c in name.chars().map(plain) {
        if kept.len() + c.len_utf8() > COMM_BYTES {
            break;
        }
        kept.push(c);
    }
    kept
}

/// The process's name: what the workload is called, without folder and arguments.
pub(crate) fn leader_comm(workload: &Workload) -> String {
    let name = workload.name.rsplit('/').next().unwrap_or_default();
    comm(name.split(':').next().unwrap_or_default())
}

/// The kernel's priority: 120 + nice, 99 - priority of RT tasks, -1 of deadline tasks.
fn prio(script: &TaskScript) -> i32 {
    match script.attributes.realtime {
        None => 120 + i32::from(script.nice),
        Some(RealTime::Fifo { priority } | RealTime::RoundRobin { priority }) => {
            99 - i32::from(priority)
        }
        Some(RealTime::Deadline { .. }) => -1,
    }
}

/// A CPU.
#[derive(Clone, Debug)]
pub(crate) struct Cpu {
    /// Name of its idle task.
    idle_comm: String,
    /// The thread it executes.
    pub(crate) running: Option<u32>,
    /// The thread that has just left it, and how; nobody has followed yet.
    pub(crate) left: Option<(u32, TaskState)>,
    /// Index of the idle state it is in.
    pub(crate) idle: Option<u32>,
    /// That index by the platform's.
    idle_index: Vec<u32>,
    /// Frequencies of its domain, kHz, by operating point.
    pub(crate) khz: Vec<u32>,
}

impl Cpu {
    /// The CPUs of a platform, as a trace describes them.
    pub(crate) fn all(platform: &Platform) -> Vec<Self> {
        let one = |number: u32| {
            let id = wakeplace_platform::CpuId(number);
            let mut idle_index = vec![0; platform.idle_states.len()];
            for (index, (state, _)) in (0..).zip(platform.idle_states_of(id)) {
                idle_index[state] = index;
            }
            let domain = &platform.freq_domains[platform.freq_domain_of(id)];
            Self {
                idle_comm: format!("swapper/{number}"),
                running: None,
                left: None,
                idle: None,
                idle_index,
                khz: domain.opps.iter().map(|opp| opp.khz).collect(),
            }
        };
        (0..platform.cpus.len() as u32).map(one).collect()
    }

    /// Its idle task.
    pub(crate) fn idle_task(&self) -> Who<'_> {
        Who {
            comm: &self.idle_comm,
            pid: 0,
            prio: IDLE_PRIO,
        }
    }

    /// The index that its idle states have among those of this CPU.
    pub(crate) fn idle_state(&self, state: u16) -> u32 {
        self.idle_index[usize::from(state)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_kernels() {
        assert_eq!(comm("thread0-0"), "thread0-0");
        // 16 bytes of a C string, the last one zero (docs/rules/rt-app.md#rt-app-log: names are
        // cut).
        assert_eq!(comm("a-very-long-name-indeed"), "a-very-long-nam");
        assert_eq!(comm("12345678901234ä"), "12345678901234");
        assert_eq!(comm("a\nb\tc"), "a?b?c");
    }
}
