//! Timers and work items, which live in values of maps (docs/guide/schedulers.md, "What its
//! programs see").
//!
//! What must stay: times are ns of virtual time, errors the kernel's negative numbers. Numbers of
//! timers are kernel/timers.rs'. Free: how arguments are read; further calls as rows.
//!
//! Tests by part: `calls_answer_as_a_kernel_does` (`init`, `set_callback`, `start`, with their
//! errors), schedulers.rs::`runs_are_the_same_twice_and_interpreted` with maps.bpf.c (a timer that
//! fires), schedulers.rs::`what_a_scheduler_does_wrong_is_named` with TIMERS (`start` without end).
//! `cancel` and `work` have no test of their own.
//!
//! Callers: kfuncs/mod.rs, by its `TABLES`; kfuncs/helper.rs for the numbers of helpers.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does,
//! crates/cli/tests/all/schedulers.rs::runs_are_the_same_twice_and_interpreted

use super::{Named, signed};
use crate::kernel::{Running, Timer};
use wakeplace_bpf_vm::budget::{ENTRIES_PER_INSN, LATER, TIMER_EVENTS};
use wakeplace_bpf_vm::{Fault, Vm};
use wakeplace_sched_ext::TimerId;
use wakeplace_sched_ext::consts::{EBUSY, EINVAL};

pub(super) const TABLE: &[Named] = &[
    ("bpf_wq_init", init),
    ("bpf_wq_set_callback", set_callback),
    ("bpf_wq_start", work),
    ("bpf_timer_cancel_async", cancel),
];

/// `BPF_F_TIMER_ABS`, `BPF_F_TIMER_CPU_PIN`.
const ABSOLUTE: u64 = 1;
const PINNED: u64 = 2;

type Result = std::result::Result<u64, Fault>;

/// `bpf_timer_init(timer, map, flags)`: once for each value of the map.
pub(super) fn init(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let [at, map, ..] = args;
    if running.state.timers.find(at).is_some() {
        return Ok(signed(-EBUSY));
    }
    let number = vm.map_number(map);
    let Some(found) = number.and_then(|number| vm.map(number)) else {
        return Ok(signed(-EINVAL));
    };
    let (entries, of) = (found.len(), found.key_of(at));
    vm.spend(entries / ENTRIES_PER_INSN)?;
    let Some((key, value)) = of else {
        return Ok(signed(-EINVAL)); // a kernel does not load such a program
    };
    let timer = Timer {
        map,
        key,
        value,
        callback: 0,
    };
    running.state.timers.init(&mut vm.memory, at, timer)?;
    Ok(0)
}

/// `bpf_timer_set_callback(timer, callback)`.
pub(super) fn set_callback(running: &mut Running<'_>, _: &mut Vm, args: [u64; 5]) -> Result {
    match running.state.timers.set_callback(args[0], args[1]) {
        true => Ok(0),
        false => Ok(signed(-EINVAL)),
    }
}

/// `bpf_timer_start(timer, nsecs, flags)`.
pub(super) fn start(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let [at, ns, flags, ..] = args;
    vm.spend(LATER)?;
    let Some(number) = running.state.timers.find(at) else {
        return Ok(signed(-EINVAL));
    };
    let up_ns = running.state.up_ns;
    let kernel = running.kernel()?;
    if kernel.nr_timer_events() >= TIMER_EVENTS {
        let what = format!("it starts timers anew before they are due, {TIMER_EVENTS} times");
        return Err(Fault::Call(what));
    }
    let at_ns = match flags & ABSOLUTE {
        0 => kernel.now_ns().saturating_add(ns),
        _ => ns.saturating_sub(up_ns).max(kernel.now_ns()),
    };
    kernel.timer_start(TimerId(number), at_ns, flags & PINNED != 0);
    Ok(0)
}

/// `bpf_timer_cancel(timer)`: 1 if it was armed.
pub(super) fn cancel(running: &mut Running<'_>, _: &mut Vm, args: [u64; 5]) -> Result {
    match running.state.timers.find(args[0]) {
        Some(number) => {
            let was = running.kernel()?.timer_cancel(TimerId(number));
            Ok(was.into())
        }
        None => Ok(signed(-EINVAL)),
    }
}

/// `bpf_wq_start(work, flags)`: a thread of the kernel's runs it as soon as it can.
fn work(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    start(running, vm, [args[0], 0, 0, 0, 0])
}
