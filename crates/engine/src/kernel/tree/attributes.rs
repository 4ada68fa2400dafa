//! What scripts say of a task, in the kernel's numbers (docs/guide/kernel.md, "In a run").
//!
//! What must stay: numbers are those of sched_setattr(2) and of the kernel's masks; `level` orders
//! tasks as the kernel's classes do. Free: what leaves recorded runs as they are (ARCHITECTURE.md,
//! "What a change may touch"). Tests by part: `hints_are_told_when_they_change` (`of_script`,
//! `change`, `clamp`), `holders_are_lent_what_is_above_their_own` (`lent`, `level`),
//! `masks_have_a_bit_for_each_cpu` (`mask`). `set_realtime` has no test of its own here;
//! kernel_runs.rs::`no_kind_of_work_makes_it_warn` runs it where a tree is built. `fair` by the
//! first one; `plain` is the tests' own.
//!
//! Callers: tasks.rs (`lent`).
//!
//! Tests: below

use wakeplace_kernel_abi::Attr;
use wakeplace_workload::{Change, FairPolicy, PolicyChange, RealTime, TaskScript};

/// `SCHED_*` of include/uapi/linux/sched.h.
const OTHER: u32 = 0;
const FIFO: u32 = 1;
const RR: u32 = 2;
pub(crate) const BATCH: u32 = 3;
pub(crate) const IDLE: u32 = 5;
const DEADLINE: u32 = 6;
/// `SCHED_FLAG_UTIL_CLAMP_MIN`, `_MAX`.
const CLAMP_MIN: u32 = 0x20;
const CLAMP_MAX: u32 = 0x40;
/// The largest hint, and the one that takes a hint back.
const NO_MAX: u32 = 1024;

/// How a task of that script begins.
pub(super) fn of_script(script: &TaskScript) -> Attr {
    let mut attr = Attr {
        policy: fair(script.policy),
        nice: script.nice.into(),
        runtime: script.slice_ns.unwrap_or(0),
        ..Attr::default()
    };
    if let Some(realtime) = script.attributes.realtime {
        set_realtime(&mut attr, realtime);
    }
    clamp(&mut attr, script.uclamp_min, script.uclamp_max);
    attr
}

/// It has changed so. Returns true if something of it has.
pub(super) fn change(attr: &mut Attr, change: &Change) -> bool {
    let before = *attr;
    // What a call does not say of hints stays.
    attr.flags = 0;
    match change.policy {
        Some(PolicyChange::Fair(policy)) => {
            *attr = Attr {
                policy: fair(policy),
                nice: attr.nice,
                ..Attr::default()
            };
        }
        Some(PolicyChange::RealTime(realtime)) => set_realtime(attr, realtime),
        None => {}
    }
    if let Some(nice) = change.nice {
        attr.nice = nice.into();
    }
    if let Some(slice_ns) = change.slice_ns {
        attr.runtime = slice_ns;
    }
    clamp(attr, change.uclamp_min, change.uclamp_max);
    attr.flags != 0
        || Attr {
            flags: before.flags,
            ..*attr
        } != before
}

/// How much it matters: 0 for fair tasks, then RT tasks by priority, deadline tasks before all.
pub(super) fn level(attr: &Attr) -> u64 {
    match attr.policy {
        FIFO | RR => attr.priority.into(),
        DEADLINE => 1000,
        _ => 0,
    }
}

/// With what a waiter lends that matters more. A budget is not lent: its holder goes before all
/// RT tasks.
pub(super) fn lent(own: &Attr, donor: Option<&Attr>) -> Attr {
    match donor.filter(|donor| level(donor) > level(own)) {
        None => *own,
        Some(donor) => Attr {
            policy: FIFO,
            priority: donor
                .priority
                .clamp(1, 99)
                .max(if level(donor) >= 1000 { 99 } else { 1 }),
            ..Attr::default()
        },
    }
}

/// The kernel's `SCHED_*` number of a fair policy.
fn fair(policy: FairPolicy) -> u32 {
    match policy {
        FairPolicy::Other => OTHER,
        FairPolicy::Batch => BATCH,
        FairPolicy::Idle => IDLE,
    }
}

/// Policy, priority and budget as sched_setattr(2) has them.
fn set_realtime(attr: &mut Attr, realtime: RealTime) {
    (attr.runtime, attr.deadline, attr.period) = (0, 0, 0);
    match realtime {
        RealTime::Fifo { priority } => (attr.policy, attr.priority) = (FIFO, priority.into()),
        RealTime::RoundRobin { priority } => (attr.policy, attr.priority) = (RR, priority.into()),
        RealTime::Deadline {
            runtime_ns,
            deadline_ns,
            period_ns,
        } => {
            (attr.policy, attr.priority) = (DEADLINE, 0);
            (attr.runtime, attr.deadline, attr.period) = (runtime_ns, deadline_ns, period_ns);
        }
    }
}

/// Performance hints as sched_setattr(2) has them.
fn clamp(attr: &mut Attr, min: Option<u16>, max: Option<u16>) {
    if let Some(min) = min {
        attr.flags |= CLAMP_MIN;
        attr.util_min = min.into();
    }
    if let Some(max) = max {
        attr.flags |= CLAMP_MAX;
        attr.util_max = u32::from(max).min(NO_MAX);
    }
}

/// CPUs as the kernel takes them, 64 a word.
pub(super) fn mask(cpus: Option<&[u32]>, nr_cpus: u32) -> Vec<u64> {
    let mut mask = vec![0; (nr_cpus as usize).div_ceil(64)];
    let mut add = |cpu: u32| mask[cpu as usize / 64] |= 1 << (cpu % 64);
    match cpus {
        Some(cpus) => cpus
            .iter()
            .filter(|cpu| **cpu < nr_cpus)
            .for_each(|cpu| add(*cpu)),
        None => (0..nr_cpus).for_each(add),
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::{DEADLINE, FIFO, change, lent, level, mask, of_script};
    use wakeplace_kernel_abi::Attr;
    use wakeplace_workload::{Change, Loops, TaskScript};

    fn plain() -> Attr {
        of_script(&TaskScript::new("t", Loops::Forever, Vec::new()))
    }

    /// Goal: hints are told when they change and only then: a call without the flag leaves them.
    #[test]
    fn hints_are_told_when_they_change() {
        let mut attr = plain();
        assert_eq!(attr.flags, 0);
        let hint = Change {
            uclamp_min: Some(300),
            ..Change::default()
        };
        assert!(change(&mut attr, &hint));
        assert_eq!((attr.flags, attr.util_min), (0x20, 300));
        let nice = Change {
            nice: Some(5),
            ..Change::default()
        };
        assert!(change(&mut attr, &nice));
        assert_eq!((attr.flags, attr.nice), (0, 5));
        assert!(!change(&mut attr, &nice));
    }

    /// Goal: a holder has what the waiter has, if that is more; a budget becomes the highest RT
    /// priority.
    #[test]
    fn holders_are_lent_what_is_above_their_own() {
        let rt = |priority| Attr {
            policy: FIFO,
            priority,
            ..Attr::default()
        };
        assert_eq!(lent(&plain(), Some(&rt(7))), rt(7));
        assert_eq!(lent(&rt(9), Some(&rt(7))), rt(9));
        assert_eq!(lent(&plain(), None), plain());
        let budget = Attr {
            policy: DEADLINE,
            runtime: 1,
            ..Attr::default()
        };
        assert_eq!(lent(&rt(9), Some(&budget)), rt(99));
        assert!(level(&budget) > level(&rt(99)));
    }

    #[test]
    fn masks_have_a_bit_for_each_cpu() {
        assert_eq!(mask(Some(&[0, 65]), 80), [1, 2]);
        assert_eq!(mask(None, 3), [7]);
    }
}
