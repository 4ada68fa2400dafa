//! What a decision was about: sizes of the task, its previous CPU and the waker's, and which way
//! the choice went (`policy/src/explain/wakeup_case.c`).
//!
//! What must stay: cases 1..=8 are numbered as the published figures number them; what is counted
//! changes no decision. Free: how bits are read.
//!
//! Tests by part: asym_switches.rs: `eight_cases_on_tc2` (`wakeup_case`, `index`, `fast`, `slow`),
//! `more_than_two_sizes` (`cpu_big`); crates/cli/tests/all/wakeup_cases.rs:
//! `invariants_of_the_published_tables` (`wide`, `wake`).
//!
//! Callers: the engine's wake-ups, if somebody exports the table; crates/metrics counts.
//!
//! Tests: crates/policy-sys/tests/all/asym_switches.rs, crates/cli/tests/all/wakeup_cases.rs

use crate::core::{Choice, Core, Request};
use crate::sys;
use crate::task::Task;

/// One decision as the core saw it. "Big" are the CPUs of the biggest capacity, within an eighth;
/// a big task fits no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WakeupCase(u32);

impl WakeupCase {
    /// Number of cases.
    pub const COUNT: usize = 8;

    /// The case's number less 1: 4 for a big task, 2 for a big previous CPU, 1 for a waker on a big
    /// CPU (docs/rules/capacity-aware.md#wakeup-cases).
    #[must_use]
    pub fn index(self) -> usize {
        let sizes = sys::WP_CASE_TASK_BIG | sys::WP_CASE_PREV_BIG | sys::WP_CASE_WAKER_BIG;
        (self.0 & sizes) as usize
    }

    /// One bit of the core's word (`WP_CASE_*`).
    fn has(self, bit: u32) -> bool {
        self.0 & bit != 0
    }

    /// The chosen CPU is big.
    #[must_use]
    pub fn cpu_big(self) -> bool {
        self.has(sys::WP_CASE_CPU_BIG)
    }

    /// The idle search around one target chose it.
    #[must_use]
    pub fn fast(self) -> bool {
        self.has(sys::WP_CASE_FAST)
    }

    /// The search for the idlest group and CPU chose it.
    #[must_use]
    pub fn slow(self) -> bool {
        self.has(sys::WP_CASE_SLOW)
    }

    /// The M:N rule kept waker and wakee apart.
    #[must_use]
    pub fn wide(self) -> bool {
        self.has(sys::WP_CASE_WIDE)
    }

    /// A wake-up; else a fork or an exec.
    #[must_use]
    pub fn wake(self) -> bool {
        self.has(sys::WP_CASE_WAKE)
    }
}

impl Core {
    /// The case of the last decision, `choice` on `ask`, before the task is moved. Changes nothing.
    #[must_use]
    pub fn wakeup_case(&mut self, task: &Task, ask: &Request, choice: Choice) -> WakeupCase {
        let req = sys::wp_request {
            now_ns: ask.now_ns,
            kind: ask.kind.number(),
            this_cpu: ask.this_cpu,
            prev_cpu: ask.prev_cpu,
            ..Default::default()
        };
        let decision = &raw const *self.decision();
        let ctx = self.ctx_mut();
        // SAFETY: all pointers are live and distinct objects for the call; the core masks indices,
        // writes to none of them and keeps none.
        WakeupCase(unsafe {
            sys::wp_wakeup_case(ctx, &raw const task.0, &raw const req, decision, choice.cpu)
        })
    }
}

// The numbers of the cases are bits of the core.
const _: () = assert!(
    sys::WP_CASE_WAKER_BIG == 1 && sys::WP_CASE_PREV_BIG == 2 && sys::WP_CASE_TASK_BIG == 4
);
