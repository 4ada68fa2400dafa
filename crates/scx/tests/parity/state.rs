// SPDX-License-Identifier: GPL-2.0-only
//! What the builds of the core work on: the same bytes once in this process's memory, and once in
//! that of each BPF object, which is mapped here.
//!
//! What must stay: `State` has the same layout in all builds; `same_near`, `same_touched` and
//! `same_whole` say how much is compared, `differences` names the fields. Free: how differences are
//! shown. Callers: builds.rs and main.rs. `zeroed` and `copy_of` make states; `bytes`, `same_cpu`
//! and `concerned` are parts of the comparison. Page: docs/internals/checks.md; docs/decisions/011.

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use wakeplace_policy_sys::sys;

/// Tasks of one state (`PARITY_TASKS`).
pub(crate) const TASKS: usize = 8;

/// Control groups that calls are about.
pub(crate) const GROUPS: usize = 4;

/// `struct parity_args` of parity.bpf.c.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Args {
    pub(crate) now_ns: u64,
    pub(crate) x: u64,
    pub(crate) y: u64,
    pub(crate) task: u32,
    /// Whose record is the waker's; `TASKS`: the idle task of the deciding CPU.
    pub(crate) waker: u32,
    pub(crate) cpu: u32,
    pub(crate) cpu2: u32,
    pub(crate) level: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) pad: u32,
}

/// `struct parity_state` of parity.bpf.c.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) ctx: sys::wp_ctx,
    pub(crate) tasks: [sys::wp_task; TASKS],
    pub(crate) request: sys::wp_request,
    pub(crate) decision: sys::wp_decision,
    pub(crate) balance: sys::wp_lb_env,
    pub(crate) step: sys::wp_pelt_step,
    pub(crate) walk: sys::wp_queue_walk,
    pub(crate) turn: sys::wp_idle_turn,
    pub(crate) groups: sys::wp_live_groups,
    pub(crate) members: [sys::wp_live_member; TASKS],
    pub(crate) args: Args,
    pub(crate) result: u64,
}

/// The bytes of a value.
fn bytes<T: ?Sized>(value: &T) -> &[u8] {
    // SAFETY: the core's structs are integers; all builds' copies began as the same zeroed bytes,
    // padding included, so every byte is initialised.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of_val(value)) }
}

/// A zero-filled state; 1.7 MB, so never on a stack.
pub(crate) fn zeroed() -> Box<State> {
    let layout = Layout::new::<State>();
    // SAFETY: the layout has a size; all-zero bytes are a valid value of a struct of integers, and
    // the allocation is handed to exactly one Box.
    unsafe {
        let memory = alloc_zeroed(layout).cast::<State>();
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        Box::from_raw(memory)
    }
}

/// Another one with the same bytes.
pub(crate) fn copy_of(state: &State) -> Box<State> {
    let mut copy = zeroed();
    // SAFETY: one State each, which do not overlap; a copy through a value would go over the stack.
    unsafe { std::ptr::copy_nonoverlapping(std::ptr::from_ref(state), &raw mut *copy, 1) };
    copy
}

impl State {
    /// A CPU is the same in both; so is one that neither has.
    pub(crate) fn same_cpu(&self, other: &Self, cpu: usize) -> bool {
        match (self.ctx.cpus.get(cpu), other.ctx.cpus.get(cpu)) {
            (Some(a), Some(b)) => bytes(a) == bytes(b),
            _ => true,
        }
    }

    /// The CPUs that a call was about, and the one it decided for.
    fn concerned(&self) -> [u32; 8] {
        [
            self.args.cpu,
            self.args.cpu2,
            self.tasks[self.args.task as usize % TASKS].cpu,
            self.request.this_cpu,
            self.request.prev_cpu,
            self.decision.cpu,
            self.balance.src_cpu,
            self.balance.dst_cpu,
        ]
    }
}

/// What a call answered, the tasks, the whole machine's figures and the CPUs that the call was
/// about are the same in both.
pub(crate) fn same_near(a: &State, b: &State) -> bool {
    let head = std::mem::offset_of!(sys::wp_ctx, topo);
    let tail = std::mem::offset_of!(sys::wp_ctx, serial_tick);
    a.result == b.result
        && bytes(&a.decision) == bytes(&b.decision)
        && bytes(&a.balance) == bytes(&b.balance)
        && bytes(&a.walk) == bytes(&b.walk)
        && bytes(&a.turn) == bytes(&b.turn)
        && bytes(&a.members) == bytes(&b.members)
        && bytes(&a.groups.group[..GROUPS]) == bytes(&b.groups.group[..GROUPS])
        && bytes(&a.tasks) == bytes(&b.tasks)
        && bytes(&a.ctx)[..head] == bytes(&b.ctx)[..head]
        && bytes(&a.ctx)[tail..] == bytes(&b.ctx)[tail..]
        && a.concerned().iter().all(|c| a.same_cpu(b, *c as usize))
}

/// All that one call may touch is the same in both: not the tables behind the domains' CPU lists.
pub(crate) fn same_touched(a: &State, b: &State) -> bool {
    let (cpus, groups) = (a.ctx.nr_cpus as usize, a.ctx.nr_groups as usize);
    let freq = a.ctx.nr_freq_doms as usize;
    same_near(a, b)
        && bytes(&a.ctx.cpus[..cpus]) == bytes(&b.ctx.cpus[..cpus])
        && bytes(&a.ctx.groups[..groups]) == bytes(&b.ctx.groups[..groups])
        && bytes(&a.ctx.freq_doms[..freq]) == bytes(&b.ctx.freq_doms[..freq])
}

/// Every byte is the same in both.
pub(crate) fn same_whole(a: &State, b: &State) -> bool {
    bytes(a) == bytes(b)
}

/// Paths and values of the fields that differ, at most `most`. Empty if only padding does.
pub(crate) fn differences(native: &State, kernel: &State, most: usize) -> Vec<String> {
    let (a, b) = (format!("{native:#?}"), format!("{kernel:#?}"));
    let mut path: Vec<String> = Vec::new();
    let mut index: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    for (a, b) in a.lines().zip(b.lines()) {
        let (a, b) = (a.trim_end_matches(','), b.trim_end_matches(','));
        let depth = (a.len() - a.trim_start().len()) / 4;
        let (name, value) = match a.trim().split_once(": ") {
            Some((name, value)) => (name.to_owned(), value),
            None => (String::new(), a.trim()),
        };
        path.truncate(depth);
        index.resize(depth + 2, 0);
        if value.starts_with(['}', ']', ')']) {
            continue;
        }
        index[depth + 1] = 0;
        path.push(if name.is_empty() {
            index[depth] += 1;
            format!("[{}]", index[depth] - 1)
        } else {
            name
        });
        if a != b && found.len() < most {
            let other = b
                .trim()
                .split_once(": ")
                .map_or(b.trim(), |(_, value)| value);
            let place = path[1..].join(".").replace(".[", "[");
            found.push(format!("{place}: native {value} bpf {other}"));
        }
    }
    found
}
