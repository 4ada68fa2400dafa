//! A queue that is asked whether a task displaces the one that runs, or who is next, and what came
//! of it, as `crates/kernel-shim/shim/wakeplace.h` has it.
//!
//! What must stay: fields and their order are the header's; the running task, if one runs, is the
//! first entity. May change: comments; a field only together with the header and the shim's
//! turns.c.
//!
//! Tests by part: crates/kernel-tree/src/kernel/tests.rs: `structs_are_laid_out_as_in_the_header`;
//! crates/cli/tests/all/kernel_diff.rs: `the_cores_signals_are_the_kernels` (`new`).
//!
//! Callers: crates/kernel-tree makes them; crates/engine/src/explain/turns.rs reads.
//!
//! Tests: crates/kernel-tree/src/kernel/tests.rs::structs_are_laid_out_as_in_the_header

use crate::abi::{Row, row};
use serde::{Deserialize, Serialize};

/// Bit of [`Entity::flags`]: it sleeps, and its queue keeps it.
pub const DELAYED: u32 = 1;

/// A task in the queue of a CPU: `struct sched_entity`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the kernel's own words")]
pub struct Entity {
    pub task: u32,
    pub policy: u32,
    pub nice: i32,
    pub flags: u32,
    pub vruntime: u64,
    pub deadline: u64,
    /// Its own; 0: it has none.
    pub slice_ns: u64,
    pub vlag: i64,
    pub vprot: u64,
}

#[repr(C)]
#[allow(missing_docs, reason = "wakeplace.h says what each field is")]
pub struct RawTurn {
    pub kind: u32,
    pub cpu: u32,
    pub task: u32,
    pub runs: u32,
    pub sync: u32,
    pub fork: u32,
    pub resched: u32,
    pub next: u32,
    pub last: u32,
    pub skip: u32,
    pub nr_entities: u32,
    pub unused: u32,
    pub exec_ns: u64,
    pub tick_ns: u64,
    pub entities: *const Entity,
    pub resched_after: u32,
    pub next_after: u32,
    pub last_after: u32,
    pub nr_after: u32,
    pub after: Entity,
}

/// What a queue is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Question {
    /// A task has joined: does it displace the one that runs?
    #[default]
    Preempt,
    /// Who is next? Of the queue after it nothing is told.
    Pick,
}

/// A queue that is asked whose turn it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// What it is asked.
    pub question: Question,
    /// Of which CPU.
    pub cpu: u32,
    /// Who has joined; who is next.
    pub task: u32,
    /// The first entity is the running one.
    pub runs: bool,
    /// Its waker will sleep.
    pub sync: bool,
    /// It is new.
    pub fork: bool,
    /// The tick, ns.
    pub tick_ns: u64,
    /// What the running task's vruntime lacks, ns.
    pub exec_ns: u64,
    /// All that is queued, the running task first, if one runs, then by deadline or vruntime.
    pub entities: Vec<Entity>,
    /// The queue before.
    pub before: Marks,
    /// The queue after.
    pub after: Marks,
    /// The running task after.
    pub running: Entity,
    /// So many are queued after.
    pub nr_after: u32,
}

/// What a queue notes of whose turn it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// The running task is to give way.
    pub resched: bool,
    /// `cfs_rq->next`.
    pub next: Option<u32>,
    /// `cfs_rq->last`, to 6.5.
    pub last: Option<u32>,
    /// `cfs_rq->skip`, to 6.5.
    pub skip: Option<u32>,
}

impl Turn {
    /// `entities`: what `raw` points to.
    #[must_use]
    pub fn new(raw: &RawTurn, entities: &[Entity]) -> Self {
        let task = |number: u32| (number != crate::abi::NONE).then_some(number);
        Self {
            question: match raw.kind {
                0 => Question::Preempt,
                _ => Question::Pick,
            },
            cpu: raw.cpu,
            task: raw.task,
            runs: raw.runs != 0,
            sync: raw.sync != 0,
            fork: raw.fork != 0,
            tick_ns: raw.tick_ns,
            exec_ns: raw.exec_ns,
            entities: entities.to_vec(),
            before: Marks {
                resched: raw.resched != 0,
                next: task(raw.next),
                last: task(raw.last),
                skip: task(raw.skip),
            },
            after: Marks {
                resched: raw.resched_after != 0,
                next: task(raw.next_after),
                last: task(raw.last_after),
                skip: None,
            },
            running: raw.after,
            nr_after: raw.nr_after,
        }
    }
}

/// Those of what a wake-up or a pick tells.
pub(crate) fn layout() -> Vec<Row> {
    vec![
        row!("wpk_entity", "vprot", Entity, vprot),
        row!("wpk_entity", "vruntime", Entity, vruntime),
        row!("wpk_entity", "deadline", Entity, deadline),
        row!("wpk_entity", "vlag", Entity, vlag),
        row!("wpk_turn", "task", RawTurn, task),
        row!("wpk_turn", "runs", RawTurn, runs),
        row!("wpk_turn", "sync", RawTurn, sync),
        row!("wpk_turn", "fork", RawTurn, fork),
        row!("wpk_turn", "resched", RawTurn, resched),
        row!("wpk_turn", "next", RawTurn, next),
        row!("wpk_turn", "last", RawTurn, last),
        row!("wpk_turn", "skip", RawTurn, skip),
        row!("wpk_turn", "nr_entities", RawTurn, nr_entities),
        row!("wpk_turn", "exec_ns", RawTurn, exec_ns),
        row!("wpk_turn", "entities", RawTurn, entities),
        row!("wpk_turn", "resched_after", RawTurn, resched_after),
        row!("wpk_turn", "next_after", RawTurn, next_after),
        row!("wpk_turn", "nr_after", RawTurn, nr_after),
        row!("wpk_turn", "after", RawTurn, after),
    ]
}
