//! Objects that programs make, the arena, and what only a real kernel has to count or lock
//! (docs/guide/schedulers.md, "What its programs see").
//!
//! What must stay: memory that a program takes counts against its budget. Free: how arguments are
//! read; further calls as rows.
//!
//! Tests by part: schedulers.rs::`runs_are_the_same_twice_and_interpreted` with arena.bpf.c
//! (`arena_alloc`), schedulers.rs::`what_a_scheduler_does_wrong_is_named` with ARENA
//! (`arena_alloc`, `pay_for_pages`), kernel/objects.rs::`an_object_goes_with_its_last_holder` (what
//! `acquire` calls). `new`, `release`, `arena_free` and `arena_reserve` have no test of their own.
//!
//! Callers: kfuncs/mod.rs, by its `TABLES`; kfuncs/cpumask.rs (`acquire`, `release`).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::runs_are_the_same_twice_and_interpreted,
//! xtask/src/tries/kernel_schedulers.rs

use super::{Named, nothing, same};
use crate::kernel::{self, MAX_OBJECT, Running};
use wakeplace_bpf_vm::{Fault, Vm, budget};

pub(super) const TABLE: &[Named] = &[
    ("bpf_obj_new", new),
    ("bpf_obj_drop", release),
    ("bpf_refcount_acquire", acquire),
    ("bpf_arena_alloc_pages", arena_alloc),
    ("bpf_arena_free_pages", arena_free),
    ("bpf_arena_reserve_pages", arena_reserve),
    ("bpf_rcu_read_lock", nothing),
    ("bpf_rcu_read_unlock", nothing),
    ("bpf_preempt_disable", nothing),
    ("bpf_preempt_enable", nothing),
    ("bpf_local_irq_save", nothing),
    ("bpf_local_irq_restore", nothing),
    ("bpf_res_spin_lock", nothing),
    ("bpf_res_spin_unlock", nothing),
    ("bpf_res_spin_lock_irqsave", nothing),
    ("bpf_res_spin_unlock_irqrestore", nothing),
    ("bpf_rdonly_cast", same),
    ("bpf_cast_to_kern_ctx", same),
];

type Result = std::result::Result<u64, Fault>;

/// `bpf_obj_new`: of a type of the program's own.
fn new(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let types = running.state.types.as_ref();
    let bytes = types.map_or(0, |types| types.size(args[0] as u32));
    if bytes == 0 || bytes >= MAX_OBJECT {
        let what = format!(
            "bpf_obj_new of a type that its object does not have, {}",
            args[0]
        );
        return Err(Fault::Call(what));
    }
    running.state.new_object(vm, bytes)
}

/// One holder more; returns the object.
pub(super) fn acquire(_: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    kernel::acquire(vm, args[0])?;
    Ok(args[0])
}

/// Takes one holder from an object.
pub(super) fn release(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    running.state.release(vm, args[0])?;
    Ok(0)
}

/// `bpf_arena_alloc_pages(map, address, count, node, flags)`.
fn arena_alloc(_: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let count = pay_for_pages(vm, args[2])?;
    Ok(vm.arena.alloc(&mut vm.memory, args[1], count))
}

/// `bpf_arena_free_pages(map, address, count)`.
fn arena_free(_: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let count = pay_for_pages(vm, args[2])?;
    vm.arena.free(args[1], count);
    Ok(0)
}

/// So many pages are handed out or taken back, of those that are in use some are passed.
fn pay_for_pages(vm: &mut Vm, count: u64) -> Result {
    let count = count & 0xffff_ffff;
    let passed = vm.arena.nr_used() / budget::ENTRIES_PER_INSN;
    vm.spend(count * budget::PAGE + passed)?;
    Ok(count)
}

/// `bpf_arena_reserve_pages(map, address, count)`.
fn arena_reserve(_: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let count = pay_for_pages(vm, args[2])?;
    match vm.arena.reserve(args[1], count) {
        true => Ok(0),
        false => Ok(super::signed(-wakeplace_sched_ext::consts::EBUSY)),
    }
}
