//! Iterators: numbers, tasks. Only real schedulers use these (docs/guide/schedulers.md, "What its
//! programs see").
//!
//! What must stay: state is kept in the program's own iterator, as large as the kernel's. Tasks
//! come by number. Free: how state is laid out within the iterator.
//!
//! Tests by part: none in this repository for `num_new`, `num_next`, `task_new`, `task_next`:
//! schedulers of the kernel's tree run some of them.
//!
//! Callers: kfuncs/mod.rs, by its `TABLES`.
//!
//! Tests: xtask/src/tries/kernel_schedulers.rs

use super::{Named, int, nothing, signed};
use crate::kernel::Running;
use wakeplace_bpf_vm::budget::ENTRIES_PER_INSN;
use wakeplace_bpf_vm::{Fault, Vm};
use wakeplace_sched_ext::TaskId;
use wakeplace_sched_ext::consts::EINVAL;

pub(super) const TABLE: &[Named] = &[
    ("bpf_iter_num_new", num_new),
    ("bpf_iter_num_next", num_next),
    ("bpf_iter_num_destroy", nothing),
    ("bpf_iter_task_new", task_new),
    ("bpf_iter_task_next", task_next),
    ("bpf_iter_task_destroy", nothing),
];

type Result = std::result::Result<u64, Fault>;

/// `struct bpf_iter_num_kern`: the number before the next one, and the end; both of 32 bits.
fn num_new(_: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let [iterator, start, end, ..] = args;
    let (start, end) = (int(start), int(end));
    let is_valid = start <= end && i64::from(end) - i64::from(start) <= 8 << 20;
    let (from, to) = if is_valid {
        (start.wrapping_sub(1), end)
    } else {
        (0, 0)
    };
    vm.memory.store(iterator, 4, from.cast_unsigned().into())?;
    vm.memory
        .store(iterator.wrapping_add(4), 4, to.cast_unsigned().into())?;
    Ok(if is_valid { 0 } else { signed(-EINVAL) })
}

/// The address of the next number, which is in the iterator; 0 at the end.
fn num_next(_: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let at = args[0];
    let (current, end) = (
        int(vm.memory.load(at, 4)),
        int(vm.memory.load(at.wrapping_add(4), 4)),
    );
    let next = current.wrapping_add(1);
    if next >= end {
        vm.memory.store(at, 8, 0)?;
        return Ok(0);
    }
    vm.memory.store(at, 4, next.cast_unsigned().into())?;
    Ok(at)
}

/// Flags of `bpf_iter_task_new`: all leaders, all threads, or the threads of one process.
const ALL_PROCS: u64 = 0;
const PROC_THREADS: u64 = 2;

/// Kept: the next task, the kind of the walk, the leader's pid.
fn task_new(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let [iterator, task, flags, ..] = args;
    let tgid = match running.state.task_of(vm, task) {
        Some(task) => running.kernel()?.task(task).tgid,
        None => 0,
    };
    vm.memory.store(iterator, 4, 0)?;
    vm.memory.store(iterator.wrapping_add(4), 4, flags)?;
    vm.memory
        .store(iterator.wrapping_add(8), 4, tgid.cast_unsigned().into())?;
    Ok(0)
}

/// bpf_iter_task_next(): the next task of the walk, 0 at its end.
fn task_next(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let iterator = args[0];
    let flags = vm.memory.load(iterator.wrapping_add(4), 4);
    let tgid = int(vm.memory.load(iterator.wrapping_add(8), 4));
    let first = vm.memory.u32(iterator);
    let mut at = first;
    let found = loop {
        let kernel = running.kernel()?;
        if at >= kernel.nr_tasks() {
            break None;
        }
        let task = TaskId(at);
        at += 1;
        let facts = kernel.task(task);
        let wanted = match flags & 3 {
            ALL_PROCS => facts.pid == facts.tgid,
            PROC_THREADS => facts.tgid == tgid,
            _ => true,
        };
        let pid = facts.pid;
        if wanted && kernel.task_from_pid(pid) == Some(task) {
            break Some(task);
        }
    };
    vm.spend(u64::from(at.saturating_sub(first)) / ENTRIES_PER_INSN)?;
    vm.memory.store(iterator, 4, at.into())?;
    match found {
        Some(task) => running.task(vm, task),
        None => Ok(0),
    }
}
