//! The kernel's choice of an idle CPU: docs/rules/sched-ext.md#idle, on two caches of two cores of
//! two threads.
//!
//! What must stay: order of choice is the page's; versions are named where they differ. Free: which
//! CPUs are busy, if the choice is of the same kind.
//! Tests by part (in crates/sched-ext/src): class/idle.rs:
//! `whole_cores_come_first_and_near_ones_before_far_ones` (order), `caches_count_from_6_13_on`
//! (kernels), `a_waker_that_sleeps_soon_is_near` (sync), `claims_and_masks` (`test_and_clear`,
//! `pick`), `own_tracking_turns_it_off` (`of_node`).

use crate::kernel::{ask, asking, eight_cpus};
use wakeplace_sched_ext::consts::{SCX_PICK_IDLE_CORE, SCX_WAKE_SYNC};
use wakeplace_sched_ext::{Callback, Callbacks, CpuFacts, ExitKind, OpsInfo};

const ALL: u64 = 0xff;
const EBUSY: i32 = -16;

/// Goal: the previous CPU while its core idles; then a wholly idle core of its cache, then of
/// another one; then idle threads in the same order; at last none. Of several the next one after
/// the last choice.
#[test]
fn whole_cores_come_first_and_near_ones_before_far_ones() {
    let exit = ask(eight_cpus(), asking(), ALL, |kernel, task| {
        assert_eq!(kernel.idle_smtmask(None), [ALL]);
        let mut chosen = Vec::new();
        while let (cpu, true) = kernel.select_cpu_dfl(task, 0, 0) {
            chosen.push(cpu);
        }
        // 0: its own. 2: the other core here. 4, 6: cores there. After 6 comes 1, by wrapping,
        // then 3; there 5, 7.
        assert_eq!(chosen, [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(kernel.idle_cpumask(None), [0]);
        assert_eq!(kernel.select_cpu_dfl(task, 3, 0), (3, false));
    });
    assert_eq!(exit, None);
}

/// Goal: 6.12 does not look at caches: it takes the next idle CPU after its last choice, wherever
/// that is. Without threads, since whole cores go first.
#[test]
fn caches_count_from_6_13_on() {
    let flat: Vec<CpuFacts> = (eight_cpus().into_iter().zip(0..))
        .map(|(facts, core)| CpuFacts { core, ..facts })
        .collect();
    for (version, expected) in [((6, 12), 4), ((6, 13), 0)] {
        let info = OpsInfo {
            kernel: version,
            ..asking()
        };
        ask(flat.clone(), info, ALL, |kernel, task| {
            assert_eq!(kernel.pick_idle_cpu(&[0b1000], None, 0), 3);
            let (cpu, idle) = kernel.select_cpu_dfl(task, 3, 0);
            assert_eq!((cpu, idle), (expected, true), "{version:?}");
        });
    }
}

/// Goal: a synchronous waker keeps the task where its data is: on an idle previous CPU of the same
/// cache, else on the waker's own.
#[test]
fn a_waker_that_sleeps_soon_is_near() {
    ask(eight_cpus(), asking(), ALL, |kernel, task| {
        assert_eq!(kernel.this_cpu(), 0);
        let mut sync = |prev| kernel.select_cpu_dfl(task, prev, SCX_WAKE_SYNC);
        assert_eq!(sync(3), (3, true), "it shares the cache and idles");
        assert_eq!(sync(3), (0, true), "it does not idle any more");
        assert_eq!(sync(5), (0, true), "another cache");
    });
}

/// Goal: claims of threads of a core; what is not allowed is not chosen.
#[test]
fn claims_and_masks() {
    let exit = ask(eight_cpus(), asking(), 0b0110_0000, |kernel, task| {
        assert!(kernel.test_and_clear_cpu_idle(5));
        assert!(!kernel.test_and_clear_cpu_idle(5));
        assert_eq!(kernel.idle_smtmask(None), [0b1100_1111]);
        assert_eq!(kernel.select_cpu_and(task, 5, 0, &[0b1111], 0), EBUSY);
        assert_eq!(kernel.select_cpu_and(task, 5, 0, &[ALL], 0), 6);
        assert_eq!(kernel.select_cpu_dfl(task, 5, 0), (5, false));
        let core = SCX_PICK_IDLE_CORE;
        assert_eq!(kernel.pick_idle_cpu(&[0b1011_0000], None, core), EBUSY);
        assert_eq!(kernel.pick_idle_cpu(&[0b1011_0000], None, 0), 7);
        assert_eq!(kernel.pick_any_cpu(&[0b0010_0000], None, 0), 5);
        assert_eq!(kernel.pick_any_cpu(&[], None, 0), EBUSY);
        // Masks may be longer than the machine.
        assert_eq!(kernel.pick_any_cpu(&[0, ALL], None, 0), EBUSY);
    });
    assert_eq!(exit, None);
}

/// Goal: with a callback for it the kernel does not track idle CPUs, and says so.
#[test]
fn own_tracking_turns_it_off() {
    let info = OpsInfo {
        callbacks: Callbacks::NONE.with(Callback::UpdateIdle),
        ..asking()
    };
    let exit = ask(eight_cpus(), info, ALL, |kernel, task| {
        assert_eq!(kernel.idle_cpumask(None), [0]);
        // Whether or not it has one of them idle, any CPU can be had.
        assert_eq!(kernel.pick_any_cpu(&[0b100], None, 0), 2);
        assert!(!kernel.exited());
        assert!(!kernel.tracks_idle());
        assert!(kernel.exited(), "the masks are not to be had");
        assert_eq!(kernel.select_cpu_dfl(task, 2, 0), (2, false));
    });
    let exit = exit.expect("an error");
    assert_eq!(exit.kind, ExitKind::Error);
    assert_eq!(exit.message, "built-in idle tracking is disabled");
}
