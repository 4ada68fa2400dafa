//! What programs see of the kernel: its structures in their memory, and what belongs to one
//! scheduler (timers, walks, trees). See docs/guide/schedulers.md, "What its programs see". A field
//! of a pointer that is none reads as 0, as in the kernel.
//!
//! What must stay: addresses that programs keep (mirrors) stay while the task or cgroup lives;
//! equal runs have equal addresses. Free: which further fields are shown to programs.
//!
//! Tests by part: `a_field_of_a_wild_pointer_is_zero` (`get`, `get_in`),
//! `calls_answer_as_a_kernel_does` (`new`, `object`, `cgroup`, `cgroup_of`, `task_of`,
//! `begin_callback`, `describe_idle`), schedulers.rs::`runs_are_the_same_twice_and_interpreted`
//! (`mirror`, `is_handed_out`, `hand_out`, `shows`, `shown`, `put`, `put_in`, `put_wide`,
//! `get_wide`: vtime.bpf.c counts in fields of tasks). `forget` has no test of its own.
//!
//! Callers: kernel/running.rs around each callback, crates/foreign/src/instance.rs (`forget`,
//! `mirror`, `cgroup`), load/own.rs and scheduler.rs (`new`).
//!
//! Tests: below, crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does

use super::cids::Cids;
use super::layout::{Layout, Place};
use super::nodes::Nodes;
use super::running::UP_NS;
use super::symbols::{Symbol, caches, frequencies};
use super::timers::Timers;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wakeplace_bpf_vm::{Btf, Fault, MapKind, Vm};
use wakeplace_platform::Platform;
use wakeplace_sched_ext::{CgroupId, DsqIter, TaskFacts, TaskId};

/// Room before an object for what we know of it: its number.
const HEADER: u64 = 64;
/// Words of a callback's context.
const CONTEXT: u64 = 8 * 16;

/// A task's fields that a program may write, as they were handed out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandedOut {
    pub(crate) task: TaskId,
    pub(crate) slice: u64,
    pub(crate) vtime: u64,
}

/// A task as its mirror shows it.
#[derive(Clone, Debug, Default)]
struct Shown {
    /// As they were when they were written; `changes` 0: they were not.
    facts: TaskFacts,
    /// The callback that it was handed out to last.
    callback: u64,
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
    pub(super) symbols: BTreeMap<String, Symbol>,
    /// Two of these symbols, which callbacks and calls ask for all the time.
    pub(super) preempt_count_symbol: Option<Symbol>,
    pub(super) runqueues: Option<Symbol>,
    /// Of the CPU that the callback runs on (`State::set_preempt_count`).
    pub(super) preempt_count: u32,
    pub(crate) timers: Timers,
    /// Walks over queues, by the addresses of programs' iterators. They are on the stack: none is
    /// there in the next callback.
    pub(crate) walks: BTreeMap<u64, DsqIter>,
    /// Lists and trees.
    pub(crate) nodes: Nodes,
    /// Objects that may be in them (`bpf_obj_new`).
    pub(super) objects: BTreeSet<u64>,
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
    /// Per task: what its mirror shows of it, and which callback had it last.
    shown: Vec<Shown>,
    /// Counts callbacks; the first is 1.
    callback: u64,
    pub(super) capacities: Vec<u32>,
    pub(super) priorities: Vec<u32>,
    /// Per CPU: the lowest and the highest frequency, kHz.
    pub(super) frequencies: Vec<(u32, u32)>,
    /// CPUs in the order of the topology.
    pub(crate) cids: Cids,
    /// Where `set_cmask` finds a task's CPUs, in the arena; 0: not made yet.
    pub(crate) cmask: u64,
    /// ... and `scx_bpf_online_cmask` those of the machine.
    pub(crate) online_cmask: u64,
    /// Per CPU: the first CPU of its last-level cache, and how many share it.
    pub(super) caches: Vec<(u32, u32)>,
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
            preempt_count_symbol: None,
            preempt_count: 0,
            runqueues: None,
            timers: Timers::default(),
            walks: BTreeMap::new(),
            nodes: Nodes::default(),
            objects: BTreeSet::new(),
            random: 1,
            node_masks: BTreeMap::new(),
            distributed: Vec::new(),
            types: None,
            tick_ns: 1_000_000_000 / u64::from(platform.tick_hz.max(1)),
            up_ns: UP_NS,
            handed_out: Vec::new(),
            shown: Vec::new(),
            callback: 1,
            capacities: platform.cpus.iter().map(|cpu| cpu.capacity).collect(),
            frequencies: frequencies(platform),
            priorities: platform.cpus.iter().map(|cpu| cpu.priority).collect(),
            cids: Cids::of(platform),
            cmask: 0,
            online_cmask: 0,
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

    /// The idle task of a CPU, as programs read it.
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

    /// The task that a pointer of a program's stands for. None: it is no task of the run.
    pub(crate) fn task_of(&self, vm: &Vm, at: u64) -> Option<TaskId> {
        let number = vm.memory.u32(at.wrapping_sub(8));
        let known = self.tasks.get(number as usize).copied();
        (at != 0 && known == Some(at)).then_some(TaskId(number))
    }

    /// Gives the address of a task's mirror; made if there is none.
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

    /// A program is about to be entered from outside.
    pub(crate) fn begin_callback(&mut self, vm: &mut Vm, in_interrupt: bool) {
        self.handed_out.clear();
        self.walks.clear();
        self.callback += 1;
        self.set_preempt_count(vm, in_interrupt);
    }

    /// The callback has this task already.
    pub(crate) fn is_handed_out(&self, task: TaskId) -> bool {
        let shown = self.shown.get(task.index());
        shown.is_some_and(|shown| shown.callback == self.callback)
    }

    /// The callback has it from now on. Its facts have been shown.
    pub(crate) fn hand_out(&mut self, task: HandedOut) {
        self.shown[task.task.index()].callback = self.callback;
        self.handed_out.push(task);
    }

    /// Its mirror shows what seldom changes of a task.
    pub(crate) fn shows(&self, task: TaskId, facts: &TaskFacts) -> bool {
        let shown = self.shown.get(task.index());
        let shown = shown.filter(|shown| shown.facts.changes == facts.changes);
        let same = |shown: &Shown| shown.facts.seldom_changing() == facts.seldom_changing();
        debug_assert!(shown.is_none_or(same), "a change that was not counted");
        shown.is_some()
    }

    /// It does now.
    pub(crate) fn shown(&mut self, task: TaskId, facts: &TaskFacts) {
        if self.shown.len() <= task.index() {
            self.shown.resize_with(task.index() + 1, Shown::default);
        }
        self.shown[task.index()].facts.clone_from(facts);
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
        // Others may point to it: their parent, their leader.
        self.shown.clear();
    }

    /// The cgroup that a pointer stands for. None: it is no cgroup.
    pub(crate) fn cgroup_of(&self, vm: &Vm, at: u64) -> Option<CgroupId> {
        let number = vm.memory.u32(at.wrapping_sub(8));
        let known = self.cgroups.get(number as usize).copied();
        (at != 0 && known == Some(at)).then_some(CgroupId(number))
    }

    /// Gives the address of a cgroup's mirror; made if there is none. `parent` is the cgroup above
    /// it and must have a mirror already, which the new one points to: `Running::cgroup` sees to
    /// that. Without a parent it is a root.
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

/// Writes a value as `put` does, into a field that is `N` bytes wide in the kernels of today,
/// without a jump by its width, which a processor foresees badly.
#[inline]
pub(super) fn put_wide<const N: usize>(bytes: &mut [u8], place: Place, value: u64) {
    let Some(field) = place else { return };
    let at = field.offset as usize;
    match bytes.get_mut(at..at + N) {
        Some(to) if field.size == N as u64 => to.copy_from_slice(&value.to_le_bytes()[..N]),
        _ => put_in(bytes, place, value),
    }
}

/// Reads a field that `put_wide` writes; 0 if the kernel does not have it.
#[inline]
pub(super) fn get_wide<const N: usize>(bytes: &[u8], place: Place) -> u64 {
    let Some(field) = place else { return 0 };
    let at = field.offset as usize;
    match bytes.get(at..at + N) {
        Some(from) if field.size == N as u64 => {
            let mut word = [0; 8];
            word[..N].copy_from_slice(from);
            u64::from_le_bytes(word)
        }
        _ => get_in(bytes, place),
    }
}

/// Writes a field in a structure's bytes: whoever writes many looks for the structure once.
#[inline(never)]
pub(super) fn put_in(bytes: &mut [u8], place: Place, value: u64) {
    let Some(field) = place else { return };
    let to = bytes.get_mut(field.offset as usize..).unwrap_or_default();
    let word = value.to_le_bytes();
    // One instruction each: a copy of so many bytes as a variable says is a call.
    match (field.size, to) {
        (1, [a, ..]) => *a = word[0],
        (2, [a, b, ..]) => [*a, *b] = [word[0], word[1]],
        (4, to) if to.len() >= 4 => to[..4].copy_from_slice(&word[..4]),
        (8, to) if to.len() >= 8 => to[..8].copy_from_slice(&word),
        (size, to) => {
            let size = (size.min(8) as usize).min(to.len());
            to[..size].copy_from_slice(&word[..size]);
        }
    }
}

/// Reads one in a structure's bytes.
#[inline(never)]
pub(super) fn get_in(bytes: &[u8], place: Place) -> u64 {
    let Some(field) = place else { return 0 };
    match (
        field.size,
        bytes.get(field.offset as usize..).unwrap_or_default(),
    ) {
        (1, [a, ..]) => u64::from(*a),
        (4, &[a, b, c, d, ..]) => u64::from(u32::from_le_bytes([a, b, c, d])),
        (8, &[a, b, c, d, e, f, g, h, ..]) => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        (size, from) => {
            let mut word = [0; 8];
            let size = (size.min(8) as usize).min(from.len());
            word[..size].copy_from_slice(&from[..size]);
            u64::from_le_bytes(word)
        }
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
