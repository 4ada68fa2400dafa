//! What programs see of the kernel: its structures in their memory, and what belongs to one
//! scheduler (timers, walks, trees).

use super::layout::{Layout, Place};
use super::running::UP_NS;
use crate::topology::last_level;
use std::collections::BTreeMap;
use std::sync::Arc;
use wakeplace_bpf_vm::{Btf, Fault, MapKind, Vm};
use wakeplace_platform::{CpuId, Platform};
use wakeplace_sched_ext::{CgroupId, DsqIter, TaskId};

/// Room before an object for what we know of it: its number.
const HEADER: u64 = 64;
/// Words of a callback's context.
const CONTEXT: u64 = 8 * 16;

/// A timer or a work item of the scheduler's.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    /// The field in a map's value.
    pub(crate) at: u64,
    /// The map that holds it, as programs know it.
    pub(crate) map: u64,
    pub(crate) callback: u64,
}

/// A variable of the kernel's that programs refer to by name.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    base: u64,
    /// Bytes from one CPU's to the next one's.
    stride: u64,
}

/// A task's fields that a program may write, as they were handed out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandedOut {
    pub(crate) task: TaskId,
    pub(crate) slice: u64,
    pub(crate) vtime: u64,
}

/// The state of one scheduler.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) layout: Arc<Layout>,
    /// Mirrors of tasks by their number; 0: none yet.
    pub(crate) tasks: Vec<u64>,
    /// The CPUs' idle tasks.
    pub(crate) idle: Vec<u64>,
    pub(crate) cgroups: Vec<u64>,
    /// What tasks of each cgroup point to.
    pub(crate) css_sets: Vec<u64>,
    pub(crate) idle_mask: u64,
    pub(crate) smt_mask: u64,
    pub(crate) online_mask: u64,
    pub(crate) possible_mask: u64,
    pub(crate) context: u64,
    /// Arguments of callbacks that are structures.
    pub(crate) arguments: u64,
    symbols: BTreeMap<String, Symbol>,
    pub(crate) timers: Vec<Timer>,
    /// Walks over queues; a program holds the number plus one.
    pub(crate) walks: Vec<Option<DsqIter>>,
    /// Nodes of lists and trees in their order, by the head's address.
    pub(crate) nodes: BTreeMap<u64, Vec<u64>>,
    pub(crate) random: u64,
    /// Masks of idle CPUs of single nodes.
    pub(crate) node_masks: BTreeMap<(i32, bool), u64>,
    /// The CPU that each CPU got last from `bpf_cpumask_any_distribute`.
    pub(crate) distributed: Vec<u32>,
    /// Types of the scheduler's object.
    pub(crate) types: Option<Arc<Btf>>,
    pub(crate) tick_ns: u64,
    /// What programs' clocks say when the run begins.
    pub(crate) up_ns: u64,
    pub(crate) handed_out: Vec<HandedOut>,
    capacities: Vec<u32>,
    priorities: Vec<u32>,
    /// Per CPU: the lowest and the highest frequency, kHz.
    frequencies: Vec<(u32, u32)>,
    /// CPUs in the order of the topology: what shares a node, a cache, a core stands together.
    pub(crate) by_topology: Vec<u32>,
    /// Per CPU: the first CPU of its last-level cache, and how many share it.
    caches: Vec<(u32, u32)>,
}

impl State {
    /// The structures that are there from the start.
    pub(crate) fn new(
        layout: Arc<Layout>,
        vm: &mut Vm,
        platform: &Platform,
    ) -> Result<Self, Fault> {
        let mask = layout.cpumask;
        let memory = &mut vm.memory;
        let mut state = Self {
            tasks: Vec::new(),
            idle: Vec::new(),
            cgroups: Vec::new(),
            css_sets: Vec::new(),
            idle_mask: memory.alloc(mask)?,
            smt_mask: memory.alloc(mask)?,
            online_mask: memory.alloc(mask)?,
            possible_mask: memory.alloc(mask)?,
            context: memory.alloc(CONTEXT)?,
            arguments: memory.alloc(4096)?,
            symbols: BTreeMap::new(),
            timers: Vec::new(),
            walks: Vec::new(),
            nodes: BTreeMap::new(),
            random: 1,
            node_masks: BTreeMap::new(),
            distributed: Vec::new(),
            types: None,
            tick_ns: 1_000_000_000 / u64::from(platform.tick_hz.max(1)),
            up_ns: UP_NS,
            handed_out: Vec::new(),
            capacities: platform.cpus.iter().map(|cpu| cpu.capacity).collect(),
            frequencies: frequencies(platform),
            priorities: platform.cpus.iter().map(|cpu| cpu.priority).collect(),
            by_topology: by_topology(platform),
            caches: caches(platform),
            layout,
        };
        for cpu in 0..vm.nr_cpus() {
            let word = u64::from(cpu / 64) * 8;
            for mask in [state.online_mask, state.possible_mask] {
                let bits = vm.memory.u64(mask + word);
                vm.memory.set_u64(mask + word, bits | 1 << (cpu % 64));
            }
            let idle = state.object(vm, state.layout.task.size, u32::MAX)?;
            state.describe_idle(vm, idle, cpu);
            state.idle.push(idle);
        }
        let rq = state.layout.rq.size;
        state.symbol(vm, "runqueues", rq).map_err(Fault::Call)?;
        state.cgroup(vm, CgroupId(0), None)?;
        Ok(state)
    }

    /// A structure with our number before it.
    fn object(&self, vm: &mut Vm, size: u64, number: u32) -> Result<u64, Fault> {
        let at = vm.memory.alloc(HEADER + size)? + HEADER;
        vm.memory.set_u32(at - 8, number);
        Ok(at)
    }

    fn describe_idle(&self, vm: &mut Vm, at: u64, cpu: u32) {
        let fields = &self.layout.task;
        put(
            vm,
            at,
            fields.flags,
            u64::from(wakeplace_sched_ext::consts::PF_IDLE),
        );
        put(vm, at, fields.cpu, u64::from(cpu));
        put(vm, at, fields.prio, 120);
        put(vm, at, fields.static_prio, 120);
        put(vm, at, fields.nr_cpus_allowed, 1);
        if let (Some(pointer), Some(mask)) = (fields.cpus_ptr, fields.cpus_mask) {
            vm.memory.set_u64(at + pointer.offset, at + mask.offset);
            vm.memory
                .set_u64(at + mask.offset + u64::from(cpu / 64) * 8, 1 << (cpu % 64));
        }
        if let Some(comm) = fields.comm
            && let Ok(bytes) = vm.memory.bytes_mut(at + comm.offset, 7)
        {
            bytes.copy_from_slice(b"swapper");
        }
    }

    /// The task that a pointer of a program's stands for.
    pub(crate) fn task_of(&self, vm: &Vm, at: u64) -> Option<TaskId> {
        let number = vm.memory.u32(at.wrapping_sub(8));
        let known = self.tasks.get(number as usize).copied();
        (at != 0 && known == Some(at)).then_some(TaskId(number))
    }

    /// Where a task's mirror is; made if there is none.
    pub(crate) fn mirror(&mut self, vm: &mut Vm, task: TaskId) -> Result<u64, Fault> {
        if let Some(at) = self.tasks.get(task.index()).filter(|at| **at != 0) {
            return Ok(*at);
        }
        let at = self.object(vm, self.layout.task.size, task.0)?;
        if self.tasks.len() <= task.index() {
            self.tasks.resize(task.index() + 1, 0);
        }
        self.tasks[task.index()] = at;
        let fields = &self.layout.task;
        if let (Some(pointer), Some(mask)) = (fields.cpus_ptr, fields.cpus_mask) {
            vm.memory.set_u64(at + pointer.offset, at + mask.offset);
        }
        for place in [fields.real_parent, fields.parent, fields.group_leader] {
            put(vm, at, place, at);
        }
        Ok(at)
    }

    /// A task is gone: its mirror, and what maps keep for it.
    pub(crate) fn forget(&mut self, vm: &mut Vm, task: TaskId) {
        let Some(at) = self.tasks.get_mut(task.index()).map(std::mem::take) else {
            return;
        };
        if at == 0 {
            return;
        }
        for number in 0..vm.maps().len() {
            if let Some((map, memory)) = vm.map_mut(number)
                && map.spec.kind == MapKind::TaskStorage
            {
                map.storage_delete(memory, at);
            }
        }
        vm.memory.free(at - HEADER, HEADER + self.layout.task.size);
    }

    /// The cgroup that a pointer stands for.
    pub(crate) fn cgroup_of(&self, at: u64) -> Option<CgroupId> {
        let number = self
            .cgroups
            .iter()
            .position(|known| *known == at && at != 0);
        number.map(|number| CgroupId(number as u32))
    }

    /// Where a cgroup's mirror is; made if there is none.
    pub(crate) fn cgroup(
        &mut self,
        vm: &mut Vm,
        cgroup: CgroupId,
        parent: Option<CgroupId>,
    ) -> Result<u64, Fault> {
        let number = cgroup.0 as usize;
        if let Some(at) = self.cgroups.get(number).filter(|at| **at != 0) {
            return Ok(*at);
        }
        // `ancestors` is an array at the end.
        let at = self.object(vm, self.layout.cgroup.size + 64, cgroup.0)?;
        let node = vm.memory.alloc(self.layout.kernfs.size)?;
        let fields = &self.layout.cgroup;
        put(vm, node, self.layout.kernfs.id, u64::from(cgroup.0) + 1);
        put(vm, at, fields.kn, node);
        put(vm, at, fields.css_cgroup, at);
        put(vm, at, fields.css_id, u64::from(cgroup.0) + 1);
        let above = parent
            .and_then(|parent| self.cgroups.get(parent.0 as usize))
            .copied();
        if let (Some(above), Some(css)) = (above, fields.css) {
            put(vm, at, fields.css_parent, above + css.offset);
            put(vm, at, fields.level, 1);
        }
        let css_set = vm.memory.alloc(self.layout.css_set.size)?;
        put(vm, css_set, self.layout.css_set.dfl_cgrp, at);
        for (all, one) in [(&mut self.cgroups, at), (&mut self.css_sets, css_set)] {
            if all.len() <= number {
                all.resize(number + 1, 0);
            }
            all[number] = one;
        }
        Ok(at)
    }

    /// A variable of the kernel's: room for each CPU's, with what is known of it.
    pub(crate) fn symbol(&mut self, vm: &mut Vm, name: &str, size: u64) -> Result<u64, String> {
        if let Some(symbol) = self.symbols.get(name) {
            return Ok(symbol.base);
        }
        let stride = size.max(8).next_multiple_of(64);
        let nr_cpus = u64::from(vm.nr_cpus());
        let base = vm
            .memory
            .alloc(stride * nr_cpus)
            .map_err(|fault| fault.to_string())?;
        let known = self.fill(vm, name, Symbol { base, stride })?;
        if !known {
            return Err(format!("the kernel's variable `{name}` is not offered"));
        }
        self.symbols
            .insert(name.to_owned(), Symbol { base, stride });
        Ok(base)
    }

    /// Writes what a variable holds on each CPU. False: there is no such variable here.
    fn fill(&self, vm: &mut Vm, name: &str, symbol: Symbol) -> Result<bool, String> {
        let at = |cpu: usize| symbol.base + cpu as u64 * symbol.stride;
        let cpus = 0..vm.nr_cpus() as usize;
        let mut each = |of: &dyn Fn(usize) -> u64| {
            cpus.clone()
                .for_each(|cpu| vm.memory.set_u64(at(cpu), of(cpu)));
        };
        match name {
            "cpu_scale" => each(&|cpu| self.capacities[cpu].into()),
            "sched_core_priority" => each(&|cpu| self.priorities[cpu].into()),
            // As update_top_cache_domain: by the first CPU of the cache.
            "sd_llc_id" => each(&|cpu| self.caches[cpu].0.into()),
            "sd_llc_size" => each(&|cpu| self.caches[cpu].1.into()),
            "cpu_number" => each(&|cpu| cpu as u64),
            // Of the frequency scx_bpf_cpuperf_cur tells; who reads this is warned.
            "arch_freq_scale" => each(&|_| 1024),
            "nr_cpu_ids" => vm.memory.set_u64(symbol.base, u64::from(vm.nr_cpus())),
            "runqueues" => cpus.for_each(|cpu| {
                let fields = &self.layout.rq;
                let idle = self.idle.get(cpu).copied().unwrap_or(0);
                put(vm, at(cpu), fields.cpu, cpu as u64);
                put(vm, at(cpu), fields.idle, idle);
                put(vm, at(cpu), fields.curr, idle);
            }),
            "cpufreq_cpu_data" => {
                for cpu in cpus {
                    let policy = self.cpufreq_policy(vm, cpu);
                    let policy = policy.map_err(|fault| fault.to_string())?;
                    vm.memory.set_u64(at(cpu), policy);
                }
            }
            // Written before every callback.
            "__preempt_count" => {}
            // No pressure, no tick that is stopped: zero is the truth.
            "hw_pressure" | "thermal_pressure" | "cpufreq_pressure" | "tick_cpu_sched" => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Programs refer to this variable.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.symbols.contains_key(name)
    }

    /// A CPU's own copy of a variable; 0: there is none.
    pub(crate) fn per_cpu(&self, base: u64, cpu: u64, nr_cpus: u32) -> u64 {
        let symbol = self.symbols.values().find(|symbol| symbol.base == base);
        match symbol {
            Some(symbol) if cpu < u64::from(nr_cpus) => base + cpu * symbol.stride,
            _ => 0,
        }
    }

    /// What a CPU's frequencies are, as cpufreq has them.
    fn cpufreq_policy(&self, vm: &mut Vm, cpu: usize) -> Result<u64, Fault> {
        let fields = &self.layout.cpufreq;
        let at = vm.memory.alloc(fields.size)?;
        let (lowest, highest) = self.frequencies[cpu];
        put(vm, at, fields.cpu, cpu as u64);
        for (place, khz) in [
            (fields.min, lowest),
            (fields.lowest, lowest),
            (fields.max, highest),
            (fields.highest, highest),
            (fields.cur, highest),
        ] {
            put(vm, at, place, u64::from(khz));
        }
        Ok(at)
    }

    /// Where a callback runs, as `__preempt_count` says it (include/linux/preempt.h): with the run
    /// queue locked, or in an interrupt.
    pub(crate) fn set_preempt_count(&self, vm: &mut Vm, in_interrupt: bool) {
        const HARDIRQ: u64 = 1 << 16;
        if let Some(symbol) = self.symbols.get("__preempt_count") {
            let at = symbol.base + u64::from(vm.cpu) * symbol.stride;
            vm.memory
                .set_u64(at, if in_interrupt { HARDIRQ | 1 } else { 1 });
        }
    }

    /// A CPU's run queue.
    pub(crate) fn rq(&self, cpu: u64, nr_cpus: u32) -> u64 {
        let base = self
            .symbols
            .get("runqueues")
            .map_or(0, |symbol| symbol.base);
        self.per_cpu(base, cpu, nr_cpus)
    }
}

/// The first CPU of each CPU's last-level cache, and how many share it.
fn caches(platform: &Platform) -> Vec<(u32, u32)> {
    let of = |cpu: u32| match last_level(platform, CpuId(cpu)) {
        Some((_, [first, rest @ ..])) => (first.0, 1 + rest.len() as u32),
        _ => (cpu, 1),
    };
    (0..platform.cpus.len() as u32).map(of).collect()
}

fn frequencies(platform: &Platform) -> Vec<(u32, u32)> {
    let of = |cpu: u32| {
        let cpu = CpuId(cpu);
        let opps = &platform.freq_domains[platform.freq_domain_of(cpu)].opps;
        let khz = |opp: Option<&wakeplace_platform::Opp>| opp.map_or(0, |opp| opp.khz);
        (khz(opps.first()), khz(opps.last()))
    };
    (0..platform.cpus.len() as u32).map(of).collect()
}

fn by_topology(platform: &Platform) -> Vec<u32> {
    let caches = caches(platform);
    let mut all: Vec<u32> = (0..platform.cpus.len() as u32).collect();
    all.sort_by_key(|at| {
        let cpu = &platform.cpus[*at as usize];
        (cpu.node, caches[*at as usize].0, cpu.core, *at)
    });
    all
}

/// Writes a field of an object of ours, if the kernel has it.
#[inline]
pub(crate) fn put(vm: &mut Vm, at: u64, place: Place, value: u64) {
    if let Some(field) = place {
        let stored = vm
            .memory
            .store(at.wrapping_add(field.offset), field.size.min(8), value);
        debug_assert!(stored.is_ok(), "a field of the kernel's");
    }
}

/// Reads one; 0 if the kernel does not have it.
#[inline]
pub(crate) fn get(vm: &Vm, at: u64, place: Place) -> u64 {
    place.map_or(0, |field| {
        vm.memory
            .load(at.wrapping_add(field.offset), field.size.min(8))
    })
}

#[cfg(test)]
mod tests {
    use super::get;
    use wakeplace_bpf_vm::Vm;
    use wakeplace_bpf_vm::btf::Field;

    /// Goal: a pointer just below the end of all addresses is a wild one, no overflow.
    #[test]
    fn a_field_of_a_wild_pointer_is_zero() {
        let vm = Vm::new(1).expect("room");
        let field = Field {
            offset: 64,
            size: 4,
            ty: 0,
        };
        assert_eq!(get(&vm, u64::MAX - 7, Some(field)), 0);
    }
}
