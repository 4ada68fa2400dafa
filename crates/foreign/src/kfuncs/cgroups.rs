//! Walks over cgroups (`struct bpf_iter_css`, kernel/bpf/cgroup_iter.c; docs/guide/schedulers.md,
//! "What its programs see").
//!
//! What must stay: the order of a walk is the kernel's for each of its three orders; the tree is a
//! root with children. Free: how a walk is kept between two calls.
//!
//! Tests by part: `calls_answer_as_a_kernel_does` (`new`, `next`, `step`, `child`, `leftmost`:
//! calls.bpf.c walks a root and two children in each order, and in an unknown one). Groups below
//! groups have no test.
//!
//! Callers: kfuncs/mod.rs, by its `TABLES`.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does

use super::{Named, nothing, signed};
use crate::kernel::Running;
use wakeplace_bpf_vm::budget::ENTRIES_PER_INSN;
use wakeplace_bpf_vm::{Fault, Vm};
use wakeplace_sched_ext::consts::EINVAL;
use wakeplace_sched_ext::{CgroupId, Kernel};

pub(super) const TABLE: &[Named] = &[
    ("bpf_iter_css_new", new),
    ("bpf_iter_css_next", next),
    ("bpf_iter_css_destroy", nothing),
];

type Result = std::result::Result<u64, Fault>;

/// `enum bpf_cgroup_iter_order`.
const PRE: u64 = 2;
const POST: u64 = 3;
const UP: u64 = 4;
const CHILDREN: u64 = 5;

/// `bpf_iter_css_new(it, start, order)`. Kept, as in `struct bpf_iter_css_kern`: where it starts,
/// where it is, the order.
fn new(_: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let [iterator, start, order, ..] = args;
    let order = order & 0xffff_ffff;
    let is_known = matches!(order, PRE | POST | UP | CHILDREN);
    let start = if is_known { start } else { 0 };
    for (at, word) in [(0, start), (8, 0), (16, order)] {
        vm.memory.store(iterator.wrapping_add(at), 8, word)?;
    }
    Ok(if is_known { 0 } else { signed(-EINVAL) })
}

/// bpf_iter_css_next(): the next group of the walk, 0 at its end.
fn next(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let iterator = args[0];
    let [start, at, order] = [0, 8, 16].map(|word| vm.memory.u64(iterator.wrapping_add(word)));
    let css = running.state.layout.cgroup.css;
    let css = css.map_or(0, |field| field.offset);
    let Some(start) = running.state.cgroup_of(vm, start.wrapping_sub(css)) else {
        return Ok(0);
    };
    let at = running.state.cgroup_of(vm, at.wrapping_sub(css));
    vm.spend(u64::from(running.kernel()?.nr_cgroups()) / ENTRIES_PER_INSN)?;
    let found = step(running.kernel()?, start, at, order);
    let to = match found {
        Some(cgroup) => running.cgroup(vm, cgroup)? + css,
        None => 0,
    };
    vm.memory.store(iterator.wrapping_add(8), 8, to)?;
    Ok(to)
}

/// The one after `at`; None: the walk begins.
fn step(
    kernel: &dyn Kernel,
    start: CgroupId,
    at: Option<CgroupId>,
    order: u64,
) -> Option<CgroupId> {
    match (order, at) {
        (PRE | UP, None) => Some(start),
        (UP, Some(at)) => kernel.cgroup_parent(at),
        (CHILDREN, at) => child(kernel, start, at),
        (PRE, Some(at)) => child(kernel, at, None).or_else(|| {
            let mut at = at;
            while at != start {
                let above = kernel.cgroup_parent(at)?;
                if let Some(sibling) = child(kernel, above, Some(at)) {
                    return Some(sibling);
                }
                at = above;
            }
            None
        }),
        (POST, None) => Some(leftmost(kernel, start)),
        (POST, Some(at)) if at == start => None,
        (POST, Some(at)) => {
            let above = kernel.cgroup_parent(at)?;
            let sibling = child(kernel, above, Some(at));
            Some(sibling.map_or(above, |sibling| leftmost(kernel, sibling)))
        }
        _ => None,
    }
}

/// The child after `last`: children stand in the order in which they were made. None: there is
/// none.
fn child(kernel: &dyn Kernel, of: CgroupId, last: Option<CgroupId>) -> Option<CgroupId> {
    let from = last.map_or(0, |last| last.0 + 1);
    let mut all = (from..kernel.nr_cgroups()).map(CgroupId);
    all.find(|cgroup| kernel.cgroup_parent(*cgroup) == Some(of))
}

/// The deepest of first children.
fn leftmost(kernel: &dyn Kernel, of: CgroupId) -> CgroupId {
    let mut at = of;
    while let Some(first) = child(kernel, at, None) {
        at = first;
    }
    at
}
