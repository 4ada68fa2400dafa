//! CPUs: idle ones, kicks, the kernel's choice, performance (docs/rules/sched-ext.md#idle,
//! docs/rules/sched-ext.md#cpuperf). Each answers as the kernel's function of that name does.
//!
//! What must stay: masks of idle CPUs that a program looks at are refreshed after each call that
//! claims one. Free: how arguments are read; further calls as rows.
//!
//! Tests by part: schedulers.rs::`runs_are_the_same_twice_and_interpreted` (`select_default`:
//! fifo.bpf.c; `kick`: walk.bpf.c), `calls_answer_as_a_kernel_does` (`cpu_rq`, `locked_rq`,
//! `rq_of`), schedulers.rs::`cids_leave_and_come_back` (`cpuperf_cap`, `cpuperf_cur`,
//! `cpuperf_set`, `cpu_curr`). No test here calls `test_and_clear`, `pick_idle`, `pick_any`,
//! `pick_idle_node`, `pick_any_node`, `select_and`, `select_and_args`:
//! crates/sched-ext/tests/all/idle.rs tries what stands behind them. `idle_mask`, `smt_mask`,
//! `node_mask`, `idle_mask_node`, `smt_mask_node`, `online_mask`, `possible_mask`, `check_idle`,
//! `refresh_idle`, `read_mask`, `nr_cpu_ids`, `nr_node_ids` and `cpu_node` have no test of their
//! own.
//!
//! Callers: kfuncs/mod.rs, by its `TABLES`; kfuncs/cids.rs for the forms with cids.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does,
//! crates/sched-ext/tests/all/idle.rs

use super::{Named, int, nothing, signed};
use crate::kernel::{Running, put, write_mask};
use wakeplace_bpf_vm::budget::LATER;
use wakeplace_bpf_vm::{Fault, Vm};
use wakeplace_sched_ext::ExitKind;

pub(super) const TABLE: &[Named] = &[
    ("scx_bpf_kick_cpu", kick),
    ("scx_bpf_test_and_clear_cpu_idle", test_and_clear),
    ("scx_bpf_pick_idle_cpu", pick_idle),
    ("scx_bpf_pick_idle_cpu_node", pick_idle_node),
    ("scx_bpf_pick_any_cpu", pick_any),
    ("scx_bpf_pick_any_cpu_node", pick_any_node),
    ("scx_bpf_get_idle_cpumask", idle_mask),
    ("scx_bpf_get_idle_cpumask_node", idle_mask_node),
    ("scx_bpf_get_idle_smtmask", smt_mask),
    ("scx_bpf_get_idle_smtmask_node", smt_mask_node),
    ("scx_bpf_put_idle_cpumask", nothing),
    ("scx_bpf_put_cpumask", nothing),
    ("scx_bpf_get_online_cpumask", online_mask),
    ("scx_bpf_get_possible_cpumask", possible_mask),
    ("scx_bpf_select_cpu_dfl", select_default),
    ("scx_bpf_select_cpu_and", select_and),
    ("__scx_bpf_select_cpu_and", select_and_args),
    ("scx_bpf_nr_cpu_ids", nr_cpu_ids),
    ("scx_bpf_nr_node_ids", nr_node_ids),
    ("scx_bpf_cpu_node", cpu_node),
    ("scx_bpf_cpu_rq", cpu_rq),
    ("scx_bpf_locked_rq", locked_rq),
    ("scx_bpf_cpu_curr", cpu_curr),
    ("scx_bpf_remote_curr", cpu_curr),
    ("scx_bpf_cpuperf_cap", cpuperf_cap),
    ("scx_bpf_cpuperf_cur", cpuperf_cur),
    ("scx_bpf_cpuperf_set", cpuperf_set),
];

type Result = std::result::Result<u64, Fault>;

/// A mask of a program's, as long as the machine needs.
pub(super) fn read_mask(vm: &Vm, at: u64) -> Vec<u64> {
    let words = u64::from(vm.nr_cpus()).div_ceil(64);
    (0..words)
        .map(|word| vm.memory.u64(at.wrapping_add(8 * word)))
        .collect()
}

impl Running<'_> {
    /// A program asks for masks of idle CPUs.
    fn check_idle(&mut self) {
        if let Some(kernel) = &mut self.kernel {
            kernel.tracks_idle();
        }
    }

    /// Idle CPUs have changed: so do the masks that programs look at.
    fn refresh_idle(&mut self, vm: &mut Vm) {
        if let Some(kernel) = &self.kernel {
            write_mask(vm, self.state.idle_mask, kernel.idle_cpumask(None));
            write_mask(vm, self.state.smt_mask, kernel.idle_smtmask(None));
        }
    }
}

/// `scx_bpf_kick_cpu(cpu, flags)`.
pub(super) fn kick(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    running.write_back(vm)?;
    vm.spend(LATER)?;
    running.kernel()?.kick_cpu(int(args[0]), args[1]);
    Ok(0)
}

/// `scx_bpf_test_and_clear_cpu_idle(cpu)`.
fn test_and_clear(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let was = running.kernel()?.test_and_clear_cpu_idle(int(args[0]));
    running.refresh_idle(vm);
    Ok(was.into())
}

/// `scx_bpf_pick_idle_cpu(mask, flags)`: a CPU, or -EBUSY.
fn pick_idle(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let mask = read_mask(vm, args[0]);
    let cpu = running.kernel()?.pick_idle_cpu(&mask, None, args[1]);
    running.refresh_idle(vm);
    Ok(signed(cpu))
}

/// Picks an idle CPU of the mask, from a node on: `(mask, node, flags)`.
fn pick_idle_node(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let mask = read_mask(vm, args[0]);
    let cpu = running
        .kernel()?
        .pick_idle_cpu(&mask, Some(int(args[1])), args[2]);
    running.refresh_idle(vm);
    Ok(signed(cpu))
}

/// `scx_bpf_pick_any_cpu(mask, flags)`: any of the mask if none is idle.
fn pick_any(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let mask = read_mask(vm, args[0]);
    let cpu = running.kernel()?.pick_any_cpu(&mask, None, args[1]);
    running.refresh_idle(vm);
    Ok(signed(cpu))
}

/// Picks an idle CPU or else any of the mask, from a node on: `(mask, node, flags)`.
fn pick_any_node(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let mask = read_mask(vm, args[0]);
    let cpu = running
        .kernel()?
        .pick_any_cpu(&mask, Some(int(args[1])), args[2]);
    running.refresh_idle(vm);
    Ok(signed(cpu))
}

/// Without masks of the kernel's the scheduler ends, and the mask is empty.
fn idle_mask(running: &mut Running<'_>, vm: &mut Vm, _: [u64; 5]) -> Result {
    running.check_idle();
    running.refresh_idle(vm);
    Ok(running.state.idle_mask)
}

/// `scx_bpf_get_idle_smtmask()`.
fn smt_mask(running: &mut Running<'_>, vm: &mut Vm, _: [u64; 5]) -> Result {
    running.check_idle();
    running.refresh_idle(vm);
    Ok(running.state.smt_mask)
}

/// Of one node: a mask that lives as long as the scheduler.
fn node_mask(running: &mut Running<'_>, vm: &mut Vm, node: u64, smt: bool) -> Result {
    // Of all that are none, one.
    let nodes = 0..running.kernel()?.nr_node_ids().cast_signed();
    let node = Some(int(node))
        .filter(|node| nodes.contains(node))
        .unwrap_or(-1);
    let at = match running.state.node_masks.get(&(node, smt)) {
        Some(at) => *at,
        None => {
            let at = vm.memory.alloc(running.state.layout.cpumask)?;
            running.state.node_masks.insert((node, smt), at);
            at
        }
    };
    let kernel = running.kernel()?;
    let mask = match smt {
        true => kernel.idle_smtmask(Some(node)),
        false => kernel.idle_cpumask(Some(node)),
    };
    write_mask(vm, at, mask);
    Ok(at)
}

/// `scx_bpf_get_idle_cpumask_node(node)`.
fn idle_mask_node(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    node_mask(running, vm, args[0], false)
}

/// `scx_bpf_get_idle_smtmask_node(node)`.
fn smt_mask_node(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    node_mask(running, vm, args[0], true)
}

/// `scx_bpf_get_online_cpumask()`: written anew at each call.
fn online_mask(running: &mut Running<'_>, vm: &mut Vm, _: [u64; 5]) -> Result {
    let at = running.state.online_mask;
    if let Some(kernel) = &running.kernel {
        write_mask(vm, at, kernel.online_cpumask());
    }
    Ok(at)
}

/// `scx_bpf_get_possible_cpumask()`: it never changes.
fn possible_mask(running: &mut Running<'_>, _: &mut Vm, _: [u64; 5]) -> Result {
    Ok(running.state.possible_mask)
}

/// `scx_bpf_select_cpu_dfl(task, prev, flags, is_idle)`; the last is an address of a byte.
fn select_default(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let [task, prev, flags, is_idle, _] = args;
    let task = running.task_of(vm, task)?;
    let (cpu, idle) = running.kernel()?.select_cpu_dfl(task, int(prev), flags);
    running.refresh_idle(vm);
    vm.memory.store(is_idle, 1, idle.into())?;
    Ok(signed(cpu))
}

/// `scx_bpf_select_cpu_and(task, prev, wake flags, mask, flags)`.
fn select_and(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let [task, prev, wake_flags, mask, flags] = args;
    let (task, mask) = (running.task_of(vm, task)?, read_mask(vm, mask));
    let kernel = running.kernel()?;
    let cpu = kernel.select_cpu_and(task, int(prev), wake_flags, &mask, flags);
    running.refresh_idle(vm);
    Ok(signed(cpu))
}

/// `struct scx_bpf_select_cpu_and_args`: the previous CPU, two words of flags.
fn select_and_args(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let [task, mask, more, ..] = args;
    let [prev, wake_flags, flags] = [0, 8, 16].map(|at| vm.memory.u64(more.wrapping_add(at)));
    select_and(running, vm, [task, prev, wake_flags, mask, flags])
}

/// Highest CPU number + 1.
fn nr_cpu_ids(_: &mut Running<'_>, vm: &mut Vm, _: [u64; 5]) -> Result {
    Ok(vm.nr_cpus().into())
}

/// Highest node number + 1.
fn nr_node_ids(running: &mut Running<'_>, _: &mut Vm, _: [u64; 5]) -> Result {
    Ok(running.kernel()?.nr_node_ids().into())
}

/// The CPU's node; -1: there is no such CPU.
fn cpu_node(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let cpu = int(args[0]).cast_unsigned();
    match cpu < vm.nr_cpus() {
        true => Ok(running.kernel()?.cpu(cpu).node.into()),
        false => Ok(signed(-1)), // NUMA_NO_NODE
    }
}

/// A CPU's run queue as it is now; 0: there is no such CPU.
pub(super) fn rq_of(running: &mut Running<'_>, vm: &mut Vm, cpu: u32) -> Result {
    let at = running.state.rq(u64::from(cpu), vm.nr_cpus());
    if at == 0 {
        return Ok(0);
    }
    let curr = running.cpu_curr(vm, cpu)?;
    let nr_running = running.kernel()?.cpu_nr_running(cpu);
    let clock = running.kernel()?.rq_clock(cpu);
    let up_ns = running.state.up_ns;
    let fields = &running.state.layout.rq;
    put(vm, at, fields.clock, up_ns + clock.clock_ns);
    put(vm, at, fields.clock_task, up_ns + clock.clock_task_ns);
    put(vm, at, fields.clock_pelt, up_ns + clock.clock_pelt_ns);
    put(vm, at, fields.lost_idle_time, clock.lost_idle_ns);
    put(vm, at, fields.curr, curr);
    put(vm, at, fields.nr_running, nr_running.into());
    put(vm, at, fields.scx_nr_running, nr_running.into());
    Ok(at)
}

/// `scx_bpf_cpu_rq(cpu)`.
fn cpu_rq(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    rq_of(running, vm, int(args[0]).cast_unsigned())
}

/// The run queue that is locked: the task's, or the one that the callback is about. Where none is
/// the scheduler ends.
fn locked_rq(running: &mut Running<'_>, vm: &mut Vm, _: [u64; 5]) -> Result {
    let kernel = running.kernel()?;
    if let Some(cpu) = kernel.locked_cpu() {
        return rq_of(running, vm, cpu);
    }
    let what = "accessing rq without holding rq lock";
    kernel.exit(ExitKind::Error, 0, what);
    Ok(0)
}

/// `scx_bpf_cpu_curr(cpu)`: the task's mirror; 0: there is no such CPU.
pub(super) fn cpu_curr(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let cpu = int(args[0]).cast_unsigned();
    match cpu < vm.nr_cpus() {
        true => running.cpu_curr(vm, cpu),
        false => Ok(0),
    }
}

/// Gives a CPU's capacity, of 1024.
pub(super) fn cpuperf_cap(running: &mut Running<'_>, _: &mut Vm, args: [u64; 5]) -> Result {
    Ok(running.kernel()?.cpuperf_cap(int(args[0])).into())
}

/// Gives a CPU's current performance, of 1024.
pub(super) fn cpuperf_cur(running: &mut Running<'_>, _: &mut Vm, args: [u64; 5]) -> Result {
    Ok(running.kernel()?.cpuperf_cur(int(args[0])).into())
}

/// `(cpu, performance)`, of 1024; it takes effect after the callback.
pub(super) fn cpuperf_set(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    vm.spend(LATER)?;
    running.kernel()?.cpuperf_set(int(args[0]), args[1] as u32);
    Ok(0)
}
