//! Queues: insert, move, walk, count. Each does what the kernel's function of that name does
//! (kernel/sched/ext.c; docs/rules/sched-ext.md#insert, docs/rules/sched-ext.md#queues); names of
//! older kernels go the same way.
//!
//! What must stay: what a program has written to tasks reaches the kernel before a call that moves
//! them (`write_back`). Free: how arguments are read; further calls as rows.
//!
//! Tests by part: schedulers.rs::`runs_are_the_same_twice_and_interpreted` (`create`, `insert`,
//! `move_to_local_flags`: fifo.bpf.c; `insert_vtime`, `insert_vtime_args`: vtime.bpf.c; `walk_new`,
//! `walk_next`, `walk_destroy`, `moved`, `move_fifo`: walk.bpf.c; `enq_flags`),
//! `calls_answer_as_a_kernel_does` (`reenqueue_local_later`, `reenqueue`),
//! schedulers.rs::`what_a_scheduler_does_wrong_is_named` (WALKS: `walk_new`; QUEUES: `create`).
//! `destroy` and `nr_queued` have none here: crates/sched-ext/tests/all/kernel.rs tries what they
//! call. `peek`, `pay_for`, `move_vtime`, `move_set_slice`, `move_set_vtime`, `nr_slots`, `cancel`,
//! and `move_to_local` and `reenqueue_local` of older kernels have no test of their own.
//!
//! Callers: kfuncs/mod.rs, by its `TABLES`; crates/foreign/src/instance.rs (`enq_flags`).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does,
//! crates/cli/tests/all/schedulers.rs::runs_are_the_same_twice_and_interpreted

use super::{Named, int, signed};
use crate::kernel::Running;
use wakeplace_bpf_vm::budget::{ENTRIES_PER_INSN, LATER, QUEUE_BYTES};
use wakeplace_bpf_vm::{Fault, Vm};
use wakeplace_sched_ext::consts::{SCX_DSQ_LOCAL, SCX_ENQ_CPU_SELECTED, SCX_ENQ_HEAD};

pub(super) const TABLE: &[Named] = &[
    ("scx_bpf_create_dsq", create),
    ("scx_bpf_destroy_dsq", destroy),
    ("scx_bpf_dsq_insert", insert),
    ("scx_bpf_dsq_insert___v2", insert),
    ("scx_bpf_dispatch", insert),
    ("scx_bpf_dsq_insert_vtime", insert_vtime),
    ("scx_bpf_dispatch_vtime", insert_vtime),
    ("__scx_bpf_dsq_insert_vtime", insert_vtime_args),
    ("scx_bpf_dsq_move_to_local", move_to_local),
    ("scx_bpf_dsq_move_to_local___v2", move_to_local_flags),
    ("scx_bpf_consume", move_to_local),
    ("scx_bpf_dsq_nr_queued", nr_queued),
    ("scx_bpf_dsq_peek", peek),
    ("bpf_iter_scx_dsq_new", walk_new),
    ("bpf_iter_scx_dsq_next", walk_next),
    ("bpf_iter_scx_dsq_destroy", walk_destroy),
    ("scx_bpf_dsq_move", move_fifo),
    ("scx_bpf_dispatch_from_dsq", move_fifo),
    ("scx_bpf_dsq_move_vtime", move_vtime),
    ("scx_bpf_dispatch_vtime_from_dsq", move_vtime),
    ("scx_bpf_dsq_move_set_slice", move_set_slice),
    ("scx_bpf_dispatch_from_dsq_set_slice", move_set_slice),
    ("scx_bpf_dsq_move_set_vtime", move_set_vtime),
    ("scx_bpf_dispatch_from_dsq_set_vtime", move_set_vtime),
    ("scx_bpf_reenqueue_local", reenqueue_local),
    ("scx_bpf_reenqueue_local___v2", reenqueue_local_later),
    ("scx_bpf_dsq_reenq", reenqueue),
    ("scx_bpf_dispatch_nr_slots", nr_slots),
    ("scx_bpf_dispatch_cancel", cancel),
];

type Result = std::result::Result<u64, Fault>;

/// What passes over a queue, or moves what is behind a place in it, costs by its length.
fn pay_for(running: &mut Running<'_>, vm: &mut Vm, dsq: u64) -> std::result::Result<(), Fault> {
    let nr_queued = running.kernel()?.dsq_nr_queued(dsq).max(0);
    vm.spend(u64::from(nr_queued.cast_unsigned()) / ENTRIES_PER_INSN)
}

/// `scx_bpf_create_dsq(dsq, node)`; a queue counts as memory until it is destroyed.
fn create(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    vm.spend(LATER)?;
    vm.memory.reserve(QUEUE_BYTES)?;
    let made = running.kernel()?.create_dsq(args[0], int(args[1]));
    if made != 0 {
        vm.memory.give_back(QUEUE_BYTES);
    }
    Ok(signed(made))
}

/// `scx_bpf_destroy_dsq(dsq)`; memory comes back only if the kernel let it go.
fn destroy(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let kernel = running.kernel()?;
    let was_there = kernel.dsq_nr_queued(args[0]) >= 0;
    kernel.destroy_dsq(args[0]);
    if was_there && kernel.dsq_nr_queued(args[0]) < 0 {
        vm.memory.give_back(QUEUE_BYTES);
    }
    Ok(0)
}

impl Running<'_> {
    /// Flags of the offered kernel's as the boundary has them.
    pub(crate) fn enq_flags(&self, theirs: u64) -> u64 {
        let layout = &self.state.layout;
        let mut ours = theirs & !(layout.enq_head | layout.enq_cpu_selected);
        if theirs & layout.enq_head != 0 {
            ours |= SCX_ENQ_HEAD;
        }
        if theirs & layout.enq_cpu_selected != 0 {
            ours |= SCX_ENQ_CPU_SELECTED;
        }
        ours
    }
}

/// scx_bpf_dsq_insert(): behind all others.
fn insert(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let [task, dsq, slice, flags, _] = args;
    let task = running.task_of(vm, task)?;
    let flags = running.enq_flags(flags);
    running.write_back(vm)?;
    let dsq = running.queue(dsq);
    pay_for(running, vm, dsq)?;
    let done = running.kernel()?.dsq_insert(task, dsq, slice, flags);
    running.changed(vm, task);
    Ok(done.into())
}

/// scx_bpf_dsq_insert_vtime(): by virtual time.
fn insert_vtime(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let [task, dsq, slice, vtime, flags] = args;
    let task = running.task_of(vm, task)?;
    let flags = running.enq_flags(flags);
    running.write_back(vm)?;
    let dsq = running.queue(dsq);
    pay_for(running, vm, dsq)?;
    let kernel = running.kernel()?;
    let done = kernel.dsq_insert_vtime(task, dsq, slice, vtime, flags);
    running.changed(vm, task);
    Ok(done.into())
}

/// `struct scx_bpf_dsq_insert_vtime_args`: four words.
fn insert_vtime_args(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let [dsq, slice, vtime, flags] =
        [0, 8, 16, 24].map(|at| vm.memory.u64(args[1].wrapping_add(at)));
    insert_vtime(running, vm, [args[0], dsq, slice, vtime, flags])
}

/// `scx_bpf_dsq_move_to_local(dsq)`, `scx_bpf_consume` of older kernels.
fn move_to_local(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    running.write_back(vm)?;
    pay_for(running, vm, args[0])?;
    Ok(running.kernel()?.dsq_move_to_local(args[0], 0).into())
}

/// Moves a task to the local queue as `move_to_local` does, with enqueue flags.
fn move_to_local_flags(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let flags = running.enq_flags(args[1]);
    running.write_back(vm)?;
    pay_for(running, vm, args[0])?;
    Ok(running.kernel()?.dsq_move_to_local(args[0], flags).into())
}

/// Tasks, or -ENOENT.
fn nr_queued(running: &mut Running<'_>, _: &mut Vm, args: [u64; 5]) -> Result {
    let dsq = running.queue(args[0]);
    Ok(signed(running.kernel()?.dsq_nr_queued(dsq)))
}

/// The first task's mirror; 0: none.
fn peek(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    match running.kernel()?.dsq_peek(args[0]) {
        Some(task) => running.task(vm, task),
        None => Ok(0),
    }
}

/// A walk is known by its iterator's address. What is in the iterator says nothing.
fn walk_new(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let [iterator, dsq, flags, ..] = args;
    vm.spend(LATER)?;
    vm.memory.store(iterator, 8, 0)?;
    running.state.walks.remove(&iterator);
    match running.kernel()?.dsq_iter_new(dsq, flags) {
        Ok(walk) => {
            running.state.walks.insert(iterator, walk);
            Ok(0)
        }
        Err(errno) => Ok(signed(errno)),
    }
}

/// bpf_iter_scx_dsq_next(): the next task of the walk, 0 at its end.
fn walk_next(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let Some(mut walk) = running.state.walks.get(&args[0]).copied() else {
        return Ok(0);
    };
    pay_for(running, vm, walk.dsq)?;
    let next = running.kernel()?.dsq_iter_next(&mut walk);
    running.state.walks.insert(args[0], walk);
    match next {
        Some(task) => running.task(vm, task),
        None => Ok(0),
    }
}

/// The walk is over; its iterator's address may be used again.
fn walk_destroy(running: &mut Running<'_>, _: &mut Vm, args: [u64; 5]) -> Result {
    running.state.walks.remove(&args[0]);
    Ok(0)
}

/// Moves the task of a walk to another queue; 0: it is not there any more.
fn moved(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5], vtime: bool) -> Result {
    let [iterator, task, dsq, flags, _] = args;
    let task = running.task_of(vm, task)?;
    let flags = running.enq_flags(flags);
    let Some(mut walk) = running.state.walks.get(&iterator).copied() else {
        return Ok(0);
    };
    running.write_back(vm)?;
    let dsq = running.queue(dsq);
    pay_for(running, vm, walk.dsq)?;
    pay_for(running, vm, dsq)?;
    let done = running
        .kernel()?
        .dsq_move(&mut walk, task, dsq, flags, vtime);
    running.state.walks.insert(iterator, walk);
    running.changed(vm, task);
    Ok(done.into())
}

/// `scx_bpf_dsq_move()` and its kind: to the end.
fn move_fifo(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    moved(running, vm, args, false)
}

/// Moves a task of a walk to another queue, by virtual time.
fn move_vtime(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    moved(running, vm, args, true)
}

/// The next move of this walk sets the slice, ns.
fn move_set_slice(running: &mut Running<'_>, _: &mut Vm, args: [u64; 5]) -> Result {
    if let Some(walk) = running.state.walks.get_mut(&args[0]) {
        walk.slice_ns = Some(args[1]);
    }
    Ok(0)
}

/// The next move of this walk sets the virtual time.
fn move_set_vtime(running: &mut Running<'_>, _: &mut Vm, args: [u64; 5]) -> Result {
    if let Some(walk) = running.state.walks.get_mut(&args[0]) {
        walk.vtime = Some(args[1]);
    }
    Ok(0)
}

/// Up to 6.18: at once, and how many they were.
fn reenqueue_local(running: &mut Running<'_>, vm: &mut Vm, _: [u64; 5]) -> Result {
    running.write_back(vm)?;
    Ok(running.kernel()?.reenqueue_local().into())
}

/// From 6.19 on: from anywhere, done later, and nothing is returned.
fn reenqueue_local_later(running: &mut Running<'_>, vm: &mut Vm, _: [u64; 5]) -> Result {
    running.write_back(vm)?;
    running.kernel()?.dsq_reenq(SCX_DSQ_LOCAL, 0);
    Ok(0)
}

/// `scx_bpf_dsq_reenq(dsq, flags)`, after the callback.
fn reenqueue(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    running.write_back(vm)?;
    let dsq = running.queue(args[0]);
    running.kernel()?.dsq_reenq(dsq, args[1]);
    Ok(0)
}

/// Free places of the buffer of dispatches.
fn nr_slots(running: &mut Running<'_>, _: &mut Vm, _: [u64; 5]) -> Result {
    Ok(running.kernel()?.dispatch_nr_slots().into())
}

/// Forgets the last entry of that buffer.
fn cancel(running: &mut Running<'_>, _: &mut Vm, _: [u64; 5]) -> Result {
    running.kernel()?.dispatch_cancel();
    Ok(0)
}
