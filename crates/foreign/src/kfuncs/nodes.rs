//! Lists and trees of objects that programs make (docs/guide/schedulers.md, "What its programs
//! see"). What lists and trees hold is `kernel/nodes.rs`', which has tests of its own; trees are
//! tried with scx_flatcg.
//!
//! What must stay: order and results as kernel/bpf/helpers.c has them; each call pays for what it
//! passes over. Free: how arguments are read; further calls as rows.
//!
//! Tests by part: `what_a_scheduler_does_wrong_is_named` with LISTS (`push`, `place`, `pay_for`).
//! `tree_add`, `tree_remove`, `pop` and `end` have no test in this repository: scx_flatcg of the
//! kernel's tree runs them (xtask/src/tries/kernel_schedulers.rs).
//!
//! Callers: kfuncs/mod.rs, by its `TABLES`.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::what_a_scheduler_does_wrong_is_named,
//! xtask/src/tries/kernel_schedulers.rs

use super::Named;
use crate::kernel::Running;
use wakeplace_bpf_vm::budget::ENTRIES_PER_INSN;
use wakeplace_bpf_vm::{Fault, Vm};

pub(super) const TABLE: &[Named] = &[
    ("bpf_rbtree_add", tree_add),
    ("bpf_rbtree_first", |running, _, a| {
        Ok(end(running, a[0], false))
    }),
    ("bpf_rbtree_remove", tree_remove),
    ("bpf_list_push_front", |running, vm, a| {
        push(running, vm, a, true)
    }),
    ("bpf_list_push_back", |running, vm, a| {
        push(running, vm, a, false)
    }),
    ("bpf_list_pop_front", |running, vm, a| {
        Ok(pop(running, vm, a[0], false))
    }),
    ("bpf_list_pop_back", |running, vm, a| {
        Ok(pop(running, vm, a[0], true))
    }),
    ("bpf_list_front", |running, _, a| {
        Ok(end(running, a[0], false))
    }),
    ("bpf_list_back", |running, _, a| {
        Ok(end(running, a[0], true))
    }),
];

type Result = std::result::Result<u64, Fault>;

/// What passes over a tree or moves what is in it costs by its length.
fn pay_for(running: &Running<'_>, vm: &mut Vm, root: u64) -> std::result::Result<(), Fault> {
    vm.spend(running.state.nodes.len(root) / ENTRIES_PER_INSN)
}

/// `bpf_rbtree_add(root, node, less)`: equal ones keep their order.
fn tree_add(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let [root, node, less, ..] = args;
    pay_for(running, vm, root)?;
    let (mut from, mut to) = (0, running.state.nodes.len(root));
    while from < to {
        let middle = u64::midpoint(from, to);
        // The callback may have changed the tree.
        let Some(there) = running.state.nodes.get(root, middle) else {
            break;
        };
        match vm.call(running, less, [node, there, 0, 0, 0])? & 1 {
            0 => from = middle + 1,
            _ => to = middle,
        }
    }
    let nodes = &mut running.state.nodes;
    nodes.insert(&mut vm.memory, root, from, node)?;
    Ok(0)
}

/// The node that was taken out; 0: it is not in this tree.
fn tree_remove(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    pay_for(running, vm, args[0])?;
    let nodes = &mut running.state.nodes;
    let at = nodes.find(args[0], args[1]);
    let node = at.and_then(|at| nodes.remove(&mut vm.memory, args[0], at));
    Ok(node.unwrap_or(0))
}

/// The place of the first or the last node.
fn place(running: &Running<'_>, head: u64, back: bool) -> u64 {
    let last = || running.state.nodes.len(head).saturating_sub(1);
    if back { last() } else { 0 }
}

/// The node at one end without taking it; 0: none.
fn end(running: &Running<'_>, head: u64, back: bool) -> u64 {
    let node = running.state.nodes.get(head, place(running, head, back));
    node.unwrap_or(0)
}

/// At the front or the back; 0 as the kernel returns.
fn push(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5], front: bool) -> Result {
    let at = if front { 0 } else { u64::MAX };
    let nodes = &mut running.state.nodes;
    nodes.insert(&mut vm.memory, args[0], at, args[1])?;
    Ok(0)
}

/// Takes the node at one end; 0: none.
fn pop(running: &mut Running<'_>, vm: &mut Vm, head: u64, back: bool) -> u64 {
    let at = place(running, head, back);
    let node = running.state.nodes.remove(&mut vm.memory, head, at);
    node.unwrap_or(0)
}
