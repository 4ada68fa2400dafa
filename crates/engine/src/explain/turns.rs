//! The era's queue on a tree's queue: does a task that has joined displace the one that runs, what
//! is noted of it, and who is next (docs/rules/README.md#signal-by-signal)?
//!
//! What must stay: what is compared is what the kernel's function writes; the queue's rules are in
//! `wakeplace_kernel_queues`. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part, where a tree is built: `the_cores_signals_are_the_kernels`
//! (`preempts`, `picked`, `queued`, `marks`, `look`, `who`: each answer is compared with the
//! kernel's). A difference is a figure of the kind's name.
//!
//! Callers: on_signals.rs (`picked`, `preempts`).
//!
//! Tests: crates/cli/tests/all/kernel_diff.rs::the_cores_signals_are_the_kernels,
//! crates/cli/tests/all/kernel_diff.rs::a_broken_signal_is_found

use super::on_signals::{Figure, wide};
use crate::kernel::tree;
use wakeplace_kernel_abi::turns::{self, DELAYED, Entity, Turn};
use wakeplace_kernel_queues::FairParams;
use wakeplace_kernel_queues::on_state::{Look, Marks, Queued};
use wakeplace_workload::FairPolicy;

fn queued(params: &FairParams, entity: &Entity) -> Queued {
    let protection = match params.protects_vruntime() {
        true => entity.vprot,
        false => entity.vlag.cast_unsigned(),
    };
    Queued {
        task: entity.task,
        nice: entity.nice as i8,
        policy: match entity.policy {
            tree::BATCH => FairPolicy::Batch,
            tree::IDLE => FairPolicy::Idle,
            _ => FairPolicy::Other,
        },
        own_slice_ns: (entity.slice_ns > 0).then_some(entity.slice_ns),
        vruntime: entity.vruntime,
        deadline: entity.deadline,
        protection,
        delayed: entity.flags & DELAYED != 0,
        is_new: false,
    }
}

fn marks(of: turns::Marks) -> Marks {
    Marks {
        resched: of.resched,
        next: of.next,
        last: of.last,
        skip: of.skip,
    }
}

/// A task's number; of nobody one that no task has.
fn who(of: Option<u32>) -> u64 {
    of.map_or(u64::MAX, u64::from)
}

/// The queue of which the tree told; None: it has no running task where it says so.
fn look<'a>(told: &Turn, all: &'a [Queued], exec_ns: u64) -> Option<Look<'a>> {
    let (running, waiting) = match told.runs {
        true => all.split_first().map(|(first, rest)| (Some(first), rest))?,
        false => (None, all),
    };
    Some(Look {
        running,
        waiting,
        exec_ns,
        before: marks(told.before),
    })
}

/// Who is next. None: the tree told no such queue.
pub(super) fn picked(params: &FairParams, told: &Turn) -> Option<[Figure; 1]> {
    let all: Vec<_> = (told.entities.iter().map(|of| queued(params, of))).collect();
    let look = look(told, &all, told.exec_ns)?;
    let running = who(look.running.map(|of| of.task));
    let picked = who(params.pick(&look));
    Some([wide("task", running, told.task.into(), picked)])
}

/// What came of a wake-up: all figures. None: the tree told no such queue.
pub(super) fn preempts(params: &FairParams, told: &Turn) -> Option<[Figure; 7]> {
    let mut all: Vec<_> = (told.entities.iter().map(|of| queued(params, of))).collect();
    if let Some(woken) = all.iter_mut().find(|of| of.task == told.task) {
        woken.is_new = told.fork;
    }
    // Where policies decide the kernel has not looked at the time.
    let looked = told.running.vruntime != told.entities.first()?.vruntime;
    let look = look(told, &all, if looked { told.exec_ns } else { 0 })?;
    let turned = params.wakeup_preempt(&look, told.task, told.sync)?;
    let (was, is, own) = (all[0], queued(params, &told.running), turned.running);
    let (before, after, marks) = (told.before, told.after, turned.marks);
    Some([
        wide(
            "need_resched",
            before.resched.into(),
            after.resched.into(),
            marks.resched.into(),
        ),
        wide("next", who(before.next), who(after.next), who(marks.next)),
        wide("last", who(before.last), who(after.last), who(marks.last)),
        wide("vruntime", was.vruntime, is.vruntime, own.vruntime),
        wide("deadline", was.deadline, is.deadline, own.deadline),
        wide("protection", was.protection, is.protection, own.protection),
        wide(
            "nr_queued",
            all.len() as u64,
            told.nr_after.into(),
            turned.nr_queued as u64,
        ),
    ])
}
