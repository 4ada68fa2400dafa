//! Asking for a wake-up, for the tests of the fast path.
//! Rule: docs/rules/wake-ups.md.
//!
//! What must stay: `wake` is no synchronous wake-up and has no waking task; `wake_sync` has one
//! that is alone on its CPU. Free: new helpers; a name, with all its users. Callers: wake_7_3.rs,
//! wake_asym_7_3.rs, policy_matrix.rs and others; `seen` makes the pair (CPU, reason) that they
//! compare.

use super::{ask, sleeper};
use wakeplace_policy_sys::{Choice, Core, PlaceKind, Reason, Request, Task, Waker};

pub(crate) fn wake(core: &mut Core, task: &Task, this_cpu: u32) -> (u32, Reason) {
    let request = ask(PlaceKind::Wake, this_cpu, task.cpu());
    seen(core.select_cpu(&mut [task.clone()], 0, &request))
}

pub(crate) fn seen(choice: Choice) -> (u32, Reason) {
    (choice.cpu, choice.reason)
}

/// A synchronous wake-up by a task alone on `this_cpu`, which makes that CPU the target
/// (docs/rules/wake-ups.md#wake-affine).
pub(crate) fn wake_sync(core: &mut Core, task: &Task, this_cpu: u32) -> (u32, Reason) {
    let waker = sleeper(core, 2, this_cpu, 0, 0);
    let request = Request {
        sync: true,
        waker: Waker::Task(1),
        ..ask(PlaceKind::Wake, this_cpu, task.cpu())
    };
    seen(core.select_cpu(&mut [task.clone(), waker], 0, &request))
}
