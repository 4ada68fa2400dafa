//! CPUs in the order of the topology (7.1 and later: cids), and calls that take them.

use super::{Named, cpus, int, signed};
use crate::kernel::Running;
use wakeplace_bpf_vm::{Fault, Vm};
use wakeplace_sched_ext::consts::EINVAL;

pub(super) const TABLE: &[Named] = &[
    ("scx_bpf_nr_cids", |_, vm, _| Ok(vm.nr_cpus().into())),
    ("scx_bpf_nr_online_cids", nr_online),
    ("scx_bpf_cid_to_cpu", |running, vm, a| {
        Ok(signed(to_cpu(running, vm, a[0])))
    }),
    ("scx_bpf_cpu_to_cid", |running, vm, a| {
        Ok(signed(to_cid(running, vm, a[0])))
    }),
    ("scx_bpf_this_cid", |running, vm, _| {
        let cpu = vm.cpu;
        Ok(signed(to_cid(running, vm, cpu.into())))
    }),
    ("scx_bpf_task_cid", |running, vm, a| {
        let cpu = super::tasks::task_cpu(running, vm, a)?;
        Ok(signed(to_cid(running, vm, cpu)))
    }),
    ("scx_bpf_kick_cid", |running, vm, a| {
        on_cpu(running, vm, a, cpus::kick)
    }),
    ("scx_bpf_cid_curr", |running, vm, a| {
        on_cpu(running, vm, a, cpus::cpu_curr)
    }),
    ("scx_bpf_cidperf_cap", |running, vm, a| {
        on_cpu(running, vm, a, cpus::cpuperf_cap)
    }),
    ("scx_bpf_cidperf_cur", |running, vm, a| {
        on_cpu(running, vm, a, cpus::cpuperf_cur)
    }),
    ("scx_bpf_cidperf_set", |running, vm, a| {
        on_cpu(running, vm, a, cpus::cpuperf_set)
    }),
];

fn to_cpu(running: &Running<'_>, _: &Vm, cid: u64) -> i32 {
    let cpu = running.state.by_topology.get(cid as u32 as usize);
    cpu.map_or(-EINVAL, |cpu| cpu.cast_signed())
}

fn to_cid(running: &Running<'_>, _: &Vm, cpu: u64) -> i32 {
    let all = &running.state.by_topology;
    let cid = all.iter().position(|known| *known == cpu as u32);
    cid.map_or(-EINVAL, |cid| cid as i32)
}

/// A call with a CPU, for its cid.
fn on_cpu(
    running: &mut Running<'_>,
    vm: &mut Vm,
    mut args: [u64; 5],
    call: super::Code,
) -> Result<u64, Fault> {
    args[0] = signed(to_cpu(running, vm, u64::from(int(args[0]).cast_unsigned())));
    call(running, vm, args)
}

fn nr_online(running: &mut Running<'_>, vm: &mut Vm, _: [u64; 5]) -> Result<u64, Fault> {
    Ok(match &running.kernel {
        Some(kernel) => {
            let words = kernel.online_cpumask().iter();
            words.map(|word| u64::from(word.count_ones())).sum()
        }
        None => vm.nr_cpus().into(),
    })
}
