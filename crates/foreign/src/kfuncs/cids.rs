//! CPUs in the order of the topology (cids, 7.1 and later), and calls that take them
//! (docs/rules/sched-ext.md#cids).
//!
//! What must stay: arguments and errors are those of the kernel's functions in 7.1. Free: how
//! arguments are read; further calls as rows.
//!
//! Tests by part: schedulers.rs::`two_cpus_of_one_cid_end_it` (`replace`, `error`),
//! `cids_leave_and_come_back` (`on_cpu`, `cpu_of`, `cid_of`, `nr_online`, `topology`,
//! `online_cmask`, `caps`, all rows that cids.bpf.c calls), `a_queue_of_no_cid_ends_it` (`queue`,
//! `cpu_of`). `invalid` and `no_child` have no test of their own.
//!
//! Callers: kfuncs/mod.rs, by its `TABLES`; kfuncs/queues.rs (`queue`).
//!
//! Tests: crates/cli/tests/all/schedulers.rs

use super::{Code, Named, cpus, int, signed};
use crate::kernel::{CMASK_HEADER, Place, Running, in_arena};
use wakeplace_bpf_vm::{Fault, Vm};
use wakeplace_sched_ext::ExitKind;
use wakeplace_sched_ext::consts::{EINVAL, ENODEV, SCX_DSQ_LOCAL_CPU_MASK, SCX_DSQ_LOCAL_ON};

pub(super) const TABLE: &[Named] = &[
    ("scx_bpf_nr_cids", |_, vm, _| Ok(vm.nr_cpus().into())),
    ("scx_bpf_nr_online_cids", nr_online),
    ("scx_bpf_cid_to_cpu", |running, _, a| {
        Ok(running.cpu_of(int(a[0])).map_or(invalid(), u64::from))
    }),
    ("scx_bpf_cpu_to_cid", |running, _, a| {
        Ok(running.cid_of(int(a[0])).map_or(invalid(), u64::from))
    }),
    ("scx_bpf_this_cid", |running, vm, _| {
        let cpu = vm.cpu.cast_signed();
        Ok(running.cid_of(cpu).map_or(invalid(), u64::from))
    }),
    ("scx_bpf_task_cid", |running, vm, a| {
        let cpu = super::tasks::task_cpu(running, vm, a)?;
        Ok(running.cid_of(int(cpu)).map_or(invalid(), u64::from))
    }),
    ("scx_bpf_cid_topo", topology),
    ("scx_bpf_cid_override", replace),
    ("scx_bpf_online_cmask", online_cmask),
    ("scx_bpf_kick_cid", |running, vm, a| {
        on_cpu(running, vm, a, cpus::kick, 0)
    }),
    ("scx_bpf_cid_curr", |running, vm, a| {
        on_cpu(running, vm, a, cpus::cpu_curr, 0)
    }),
    ("scx_bpf_cidperf_cap", |running, vm, a| {
        on_cpu(running, vm, a, cpus::cpuperf_cap, 1024)
    }),
    ("scx_bpf_cidperf_cur", |running, vm, a| {
        on_cpu(running, vm, a, cpus::cpuperf_cur, 1024)
    }),
    ("scx_bpf_cidperf_set", |running, vm, a| {
        on_cpu(running, vm, a, cpus::cpuperf_set, invalid())
    }),
    ("scx_bpf_sub_caps", caps),
    ("scx_bpf_sub_grant", no_child),
    ("scx_bpf_sub_revoke", no_child),
    ("scx_bpf_sub_kill_bstr", no_child),
    ("scx_bpf_sub_dispatch", |_, _, _| Ok(0)),
];

/// Calls that take or answer CPUs: a kernel does not load a program of a scheduler with cids that
/// has one of them.
pub(super) const TAKES_CPUS: &[&str] = &[
    "scx_bpf_kick_cpu",
    "scx_bpf_test_and_clear_cpu_idle",
    "scx_bpf_pick_idle_cpu",
    "scx_bpf_pick_idle_cpu_node",
    "scx_bpf_pick_any_cpu",
    "scx_bpf_pick_any_cpu_node",
    "scx_bpf_get_idle_cpumask",
    "scx_bpf_get_idle_cpumask_node",
    "scx_bpf_get_idle_smtmask",
    "scx_bpf_get_idle_smtmask_node",
    "scx_bpf_get_online_cpumask",
    "scx_bpf_get_possible_cpumask",
    "scx_bpf_select_cpu_dfl",
    "scx_bpf_select_cpu_and",
    "__scx_bpf_select_cpu_and",
    "scx_bpf_cpu_node",
    "scx_bpf_cpu_rq",
    "scx_bpf_cpu_curr",
    "scx_bpf_task_cpu",
    "scx_bpf_cpuperf_cap",
    "scx_bpf_cpuperf_cur",
    "scx_bpf_cpuperf_set",
];

type Result = std::result::Result<u64, Fault>;

/// -EINVAL as programs get it.
fn invalid() -> u64 {
    signed(-EINVAL)
}

impl Running<'_> {
    /// An end by the kernel's word, if there is a kernel yet.
    fn error(&mut self, text: &str) {
        if let Some(kernel) = &mut self.kernel {
            kernel.exit(ExitKind::Error, 0, text);
        }
    }

    /// The CPU of a program's cid. None: there is none, and the scheduler has ended.
    pub(crate) fn cpu_of(&mut self, cid: i32) -> Option<u32> {
        let cpu = self.state.cids.cpu(cid);
        if cpu.is_none() {
            self.error(&format!("invalid cid {cid}"));
        }
        cpu
    }

    /// Gives the cid of a CPU, as `cpu_of` the other way round. None: there is none, and the
    /// scheduler has ended.
    fn cid_of(&mut self, cpu: i32) -> Option<u32> {
        let cid = self.state.cids.cid(cpu);
        if cid.is_none() {
            self.error(&format!("invalid CPU {cpu}"));
        }
        cid
    }

    /// A queue as a program names it: that of a CPU, if callbacks have cids by its cid.
    pub(crate) fn queue(&mut self, dsq: u64) -> u64 {
        let of_cpu = dsq & SCX_DSQ_LOCAL_ON == SCX_DSQ_LOCAL_ON;
        if !of_cpu || !self.state.cids.in_callbacks {
            return dsq;
        }
        // Another number than a CPU's where there is none: the class says so, too.
        let cpu = self.cpu_of((dsq & SCX_DSQ_LOCAL_CPU_MASK) as u32 as i32);
        dsq & !SCX_DSQ_LOCAL_CPU_MASK | cpu.map_or(SCX_DSQ_LOCAL_CPU_MASK, u64::from)
    }
}

/// A call with a CPU, for its cid; without one `none` is the result.
fn on_cpu(
    running: &mut Running<'_>,
    vm: &mut Vm,
    mut args: [u64; 5],
    call: Code,
    none: u64,
) -> Result {
    let Some(cpu) = running.cpu_of(int(args[0])) else {
        return Ok(none);
    };
    args[0] = cpu.into();
    call(running, vm, args)
}

/// CPUs that are online; before a run begins all of them.
fn nr_online(running: &mut Running<'_>, vm: &mut Vm, _: [u64; 5]) -> Result {
    Ok(match &running.kernel {
        Some(kernel) => {
            let words = kernel.online_cpumask().iter();
            words.map(|word| u64::from(word.count_ones())).sum()
        }
        None => vm.nr_cpus().into(),
    })
}

/// `scx_bpf_cid_topo(cid, out)`.
fn topology(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let place = match running.cpu_of(int(args[0])) {
        Some(_) => running.state.cids.place(int(args[0])),
        None => None,
    };
    for (word, at) in place.unwrap_or(Place::NONE).words().zip(0..) {
        let word = u64::from(word.cast_unsigned());
        vm.memory.store(args[1].wrapping_add(4 * at), 4, word)?;
    }
    Ok(0)
}

/// `scx_bpf_cid_override(cids by CPU, how many, starts of shards, how many)`, in `init_cids` only.
fn replace(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let most = u64::from(vm.nr_cpus());
    let read = |at: u64, count: u64| -> Vec<i32> {
        // One more than there may be says that there are too many.
        let count = (count & 0xffff_ffff).min(most + 1);
        let word = |index| vm.memory.u32(in_arena(at).wrapping_add(4 * index));
        (0..count).map(|index| word(index).cast_signed()).collect()
    };
    let (cids, shards) = (read(args[0], args[1]), read(args[2], args[3]));
    if !running.state.cids.may_be_replaced {
        running.error("scx_bpf_cid_override() is not called from ops.init_cids()");
    } else if let Err(wrong) = running.state.cids.replace(&cids, &shards) {
        running.error(&wrong);
    }
    Ok(0)
}

/// A mask of cids, which is written anew at each call.
fn online_cmask(running: &mut Running<'_>, vm: &mut Vm, _: [u64; 5]) -> Result {
    let online = running.kernel()?.online_cpumask().to_vec();
    let state = &mut running.state;
    state.online_cmask = state.cids.cmask(vm, state.online_cmask, &online)?;
    Ok(state.online_cmask)
}

/// `scx_bpf_sub_caps(cgroup, capabilities, out)`: the root scheduler has all of them on all CPUs.
fn caps(_: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    if args[0] != 0 {
        return Ok(signed(-ENODEV));
    }
    let out = in_arena(args[2]);
    let (first, count) = (vm.memory.u32(out), vm.memory.u32(out + 4));
    let room = u64::from(vm.memory.u32(out + 8));
    let nr_cids = vm.nr_cpus();
    let end = first.saturating_add(count).min(nr_cids);
    for cid in first.min(nr_cids)..end {
        let word = u64::from(cid / 64 - first / 64);
        if word < room {
            let at = out + CMASK_HEADER + 8 * word;
            vm.memory
                .store(at, 8, vm.memory.u64(at) | 1 << (cid % 64))?;
        }
    }
    Ok(0)
}

/// What is said to a child scheduler: there is none.
fn no_child(_: &mut Running<'_>, _: &mut Vm, _: [u64; 5]) -> Result {
    Ok(signed(-ENODEV))
}
