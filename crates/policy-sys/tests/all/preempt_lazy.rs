//! When a displaced fair task gives way: docs/rules/queues.md#lazy-preemption.
//!
//! What must stay: who is marked lazily is the kernel's, by its preemption model. It covers
//! policy/src/runqueue/resched.c and crates/policy-sys/src/resched.rs. Free: how the cases are
//! listed.
//! Tests by part: `a_busy_cpu_is_marked_where_the_kernel_is_lazy` (`wp_resched_curr_lazy`,
//! `wp_dynamic_preempt_lazy`).
//! Helpers, and who fails with them: `told` (`a_busy_cpu_is_marked_where_the_kernel_is_lazy`).

use crate::common;

use common::{cluster, core, machine, make_busy};
use wakeplace_policy_sys::Resched;

/// How a busy CPU and an idle one hear of it, on a machine with and without ARCH_HAS_PREEMPT_LAZY.
fn told(era: &str, settings: &[(&str, &str)]) -> [[Resched; 2]; 2] {
    [true, false].map(|has_preempt_lazy| {
        let mut facts = machine(&[cluster(2, 1024)]);
        facts.has_preempt_lazy = has_preempt_lazy;
        let mut core = core(&facts, era, settings);
        make_busy(&mut core, 0);
        [0, 1].map(|cpu| core.resched_curr_lazy(cpu))
    })
}

/// Goal: `auto`, the default of 7.3's configuration, marks a busy CPU where the architecture has
/// PREEMPT_LAZY; an idle one is told at once. No era has it by default.
/// Source: docs/rules/queues.md#lazy-preemption: kernel/Kconfig.preempt and __resched_curr() of
/// 7.3.4 and 6.18.15.
#[test]
fn a_busy_cpu_is_marked_where_the_kernel_is_lazy() {
    use Resched::{Lazy, Now};
    let (auto, lazy) = ([("preempt", "auto")], [("preempt", "lazy")]);
    assert_eq!(told("linux-7.3", &auto), [[Lazy, Now], [Now, Now]]);
    for era in [
        "linux-7.3",
        "linux-6.18",
        "linux-6.12",
        "linux-6.1",
        "linux-4.17",
    ] {
        assert_eq!(told(era, &[]), [[Now, Now]; 2], "{era}");
        assert_eq!(told(era, &lazy), [[Lazy, Now]; 2], "{era}");
    }
}
