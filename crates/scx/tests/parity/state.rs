// SPDX-License-Identifier: GPL-2.0-only
//! What both builds of the core work on: the same bytes once in this process's memory, once in
//! the BPF object's, which is mapped here.

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use wakeplace_policy_sys::sys;

/// Tasks of one state (`PARITY_TASKS`).
pub(crate) const TASKS: usize = 8;

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
    pub(crate) balance: sys::wp_balance,
    pub(crate) step: sys::wp_pelt_step,
    pub(crate) args: Args,
    pub(crate) result: u64,
}

/// The bytes of a value.
fn bytes<T>(value: &T) -> &[u8] {
    // SAFETY: the core's structs are integers; both builds' copies began as the same zeroed bytes,
    // padding included, so every byte is initialised.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}

fn same<T>(a: &[T], b: &[T]) -> bool {
    a.iter().zip(b).all(|(a, b)| bytes(a) == bytes(b))
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

/// The part of a context that calls change: not the tables behind the domains' CPU lists.
fn same_ctx(a: &sys::wp_ctx, b: &sys::wp_ctx) -> bool {
    let head = std::mem::offset_of!(sys::wp_ctx, topo);
    let tail = std::mem::offset_of!(sys::wp_ctx, serial_tick);
    let (cpus, groups) = (a.nr_cpus as usize, a.nr_groups as usize);
    let freq = a.nr_freq_doms as usize;
    bytes(a)[..head] == bytes(b)[..head]
        && bytes(a)[tail..] == bytes(b)[tail..]
        && same(&a.cpus[..cpus], &b.cpus[..cpus])
        && same(&a.groups[..groups], &b.groups[..groups])
        && same(&a.freq_doms[..freq], &b.freq_doms[..freq])
}

/// All that one call may touch is the same in both.
pub(crate) fn same_touched(a: &State, b: &State) -> bool {
    a.result == b.result
        && bytes(&a.decision) == bytes(&b.decision)
        && bytes(&a.balance) == bytes(&b.balance)
        && same(&a.tasks, &b.tasks)
        && same_ctx(&a.ctx, &b.ctx)
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
