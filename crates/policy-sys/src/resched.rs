//! When a displaced fair task gives way (docs/rules/queues.md#lazy-preemption).
//!
//! What must stay: the answer is the core's (resched.c); nothing is decided here. Free: the
//! wrapping alone.
//!
//! Tests by part: `a_busy_cpu_is_marked_where_the_kernel_is_lazy` (`preempts_lazily`,
//! `resched_curr_lazy`).
//!
//! Callers: the engine, where a fair task is displaced.
//!
//! Tests: crates/policy-sys/tests/all/preempt_lazy.rs

use crate::core::Core;
use crate::sys;

/// How a CPU hears that its fair task is to give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resched {
    /// At once: another CPU is interrupted for it.
    Now,
    /// By a mark, which it sees when it next leaves the kernel for user mode, and at its tick.
    Lazy,
}

impl Core {
    /// Is the machine's kernel one of lazy preemption?
    #[must_use]
    pub fn preempts_lazily(&self) -> bool {
        // SAFETY: reads the context only.
        unsafe { sys::wp_dynamic_preempt_lazy(self.state()) != 0 }
    }

    /// A fair task of `cpu` is to give way to another: how does the CPU hear of it?
    #[inline]
    #[must_use]
    pub fn resched_curr_lazy(&self, cpu: u32) -> Resched {
        // SAFETY: reads the context only; the core masks the index.
        match unsafe { sys::wp_resched_curr_lazy(self.state(), cpu) } {
            sys::WP_RESCHED_LAZY => Resched::Lazy,
            _ => Resched::Now,
        }
    }
}
