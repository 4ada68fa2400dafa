//! Lists and trees of objects that programs make.

use super::Named;
use crate::kernel::Running;
use wakeplace_bpf_vm::{Fault, Vm};

pub(super) const TABLE: &[Named] = &[
    ("bpf_rbtree_add", tree_add),
    ("bpf_rbtree_first", |running, _, a| {
        Ok(end(running, a[0], false))
    }),
    ("bpf_rbtree_remove", tree_remove),
    ("bpf_list_push_front", |running, _, a| {
        Ok(push(running, a, true))
    }),
    ("bpf_list_push_back", |running, _, a| {
        Ok(push(running, a, false))
    }),
    ("bpf_list_pop_front", |running, _, a| {
        Ok(pop(running, a[0], false))
    }),
    ("bpf_list_pop_back", |running, _, a| {
        Ok(pop(running, a[0], true))
    }),
    ("bpf_list_front", |running, _, a| {
        Ok(end(running, a[0], false))
    }),
    ("bpf_list_back", |running, _, a| {
        Ok(end(running, a[0], true))
    }),
];

/// `bpf_rbtree_add(root, node, less)`: equal ones keep their order.
fn tree_add(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result<u64, Fault> {
    let [root, node, less, ..] = args;
    vm.spend(running.state.nodes.get(&root).map_or(0, Vec::len) as u64)?;
    let nodes = running.state.nodes.entry(root).or_default().clone();
    let (mut from, mut to) = (0, nodes.len());
    while from < to {
        let middle = usize::midpoint(from, to);
        match vm.call(running, less, [node, nodes[middle], 0, 0, 0])? & 1 {
            0 => from = middle + 1,
            _ => to = middle,
        }
    }
    running
        .state
        .nodes
        .entry(root)
        .or_default()
        .insert(from, node);
    Ok(0)
}

fn tree_remove(running: &mut Running<'_>, _: &mut Vm, args: [u64; 5]) -> Result<u64, Fault> {
    let nodes = running.state.nodes.entry(args[0]).or_default();
    let at = nodes.iter().position(|node| *node == args[1]);
    Ok(at.map_or(0, |at| nodes.remove(at)))
}

fn end(running: &Running<'_>, head: u64, back: bool) -> u64 {
    let nodes = running
        .state
        .nodes
        .get(&head)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let node = if back { nodes.last() } else { nodes.first() };
    node.copied().unwrap_or(0)
}

fn push(running: &mut Running<'_>, args: [u64; 5], front: bool) -> u64 {
    let nodes = running.state.nodes.entry(args[0]).or_default();
    let at = if front { 0 } else { nodes.len() };
    nodes.insert(at, args[1]);
    0
}

fn pop(running: &mut Running<'_>, head: u64, back: bool) -> u64 {
    let nodes = running.state.nodes.entry(head).or_default();
    match (nodes.is_empty(), back) {
        (true, _) => 0,
        (false, true) => nodes.pop().unwrap_or(0),
        (false, false) => nodes.remove(0),
    }
}
