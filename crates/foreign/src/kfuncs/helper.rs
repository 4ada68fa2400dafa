//! Helpers that need the kernel (docs/guide/schedulers.md, "What its programs see").
//!
//! What must stay: numbers of helpers are the kernel's (include/uapi/linux/bpf.h); nothing here
//! reads the host. Free: how a helper does its work; further ones by number.
//!
//! Tests by part: `calls_answer_as_a_kernel_does` (`code`, `now`, `per_cpu`). `random`, `pid_tgid`,
//! `comm`, `cgroup_id`, `node` and `jiffies` have no test of their own: schedulers of the kernel's
//! tree run some of them.
//!
//! Callers: kfuncs/mod.rs (`code`), for helpers that crates/bpf-vm does not know.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does,
//! xtask/src/tries/kernel_schedulers.rs

use super::{Code, cpus, timers};
use crate::kernel::{Running, get};
use wakeplace_bpf_vm::{Fault, Vm, helpers};

type Result = std::result::Result<u64, Fault>;

/// By the kernel's number; None: it is none of these.
pub(super) fn code(number: u32) -> Option<Code> {
    Some(match number {
        5 | 125 | 160 | 208 => now,
        7 => random,
        helpers::CPU_ID => |_, vm, _| Ok(vm.cpu.into()),
        14 => pid_tgid,
        15 => |_, _, _| Ok(0),
        16 => comm,
        35 | 158 => |running, vm, _| running.current(vm),
        42 => node,
        80 => cgroup_id,
        118 => jiffies,
        153 => |running, vm, a| per_cpu(running, vm, a[0], a[1] as u32),
        154 => |running, vm, a| {
            let cpu = vm.cpu;
            per_cpu(running, vm, a[0], cpu)
        },
        169 => timers::init,
        170 => timers::set_callback,
        171 => timers::start,
        172 => timers::cancel,
        _ => return None,
    })
}

/// `bpf_per_cpu_ptr`. A run queue is brought up to date first.
fn per_cpu(running: &mut Running<'_>, vm: &mut Vm, base: u64, cpu: u32) -> Result {
    let is_rq = base == running.state.rq(0, vm.nr_cpus());
    match is_rq && running.kernel.is_some() {
        true => cpus::rq_of(running, vm, cpu),
        false => Ok(running.state.per_cpu(base, cpu.into(), vm.nr_cpus())),
    }
}

/// ns of virtual time.
fn now(running: &mut Running<'_>, _: &mut Vm, _: [u64; 5]) -> Result {
    Ok(running.clock_ns())
}

/// A fixed sequence: equal runs draw equal numbers (PCG's multiplier).
fn random(running: &mut Running<'_>, _: &mut Vm, _: [u64; 5]) -> Result {
    let state = &mut running.state.random;
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    Ok((*state >> 32) & 0xffff_ffff)
}

/// Thread group in the upper half, as `bpf_get_current_pid_tgid()`.
fn pid_tgid(running: &mut Running<'_>, vm: &mut Vm, _: [u64; 5]) -> Result {
    let current = running.current(vm)?;
    let fields = &running.state.layout.task;
    Ok(get(vm, current, fields.tgid) << 32 | get(vm, current, fields.pid))
}

/// bpf_get_current_comm(): the name of the current task, cut to the room.
fn comm(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let current = running.current(vm)?;
    let at = running
        .state
        .layout
        .task
        .comm
        .map_or(0, |field| field.offset);
    let room = (args[1] & 0xffff_ffff).min(16);
    let name = vm
        .memory
        .bytes(current + at, room)
        .unwrap_or_default()
        .to_vec();
    vm.memory.bytes_mut(args[0], room)?.copy_from_slice(&name);
    Ok(0)
}

/// Gives the current task's cgroup, as `kernfs_node::id` of the mirror says; without a current
/// task, the root's.
fn cgroup_id(running: &mut Running<'_>, _: &mut Vm, _: [u64; 5]) -> Result {
    let kernel = running.kernel.as_ref();
    let task = kernel.and_then(|kernel| Some(kernel.task(kernel.current()?)));
    Ok(1 + task.map_or(0, |task| u64::from(task.cgroup.0)))
}

/// The node of the CPU that runs the program; 0 before a run.
fn node(running: &mut Running<'_>, vm: &mut Vm, _: [u64; 5]) -> Result {
    let cpu = vm.cpu;
    Ok(running
        .kernel
        .as_ref()
        .map_or(0, |kernel| kernel.cpu(cpu).node)
        .into())
}

/// By the tick of the machine.
fn jiffies(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let tick_ns = running.state.tick_ns.max(1);
    Ok(now(running, vm, args)? / tick_ns)
}
