//! One callback in progress: programs on one side, the simulated kernel on the other. What a
//! program reads of the kernel must be as if the kernel had just written it: facts are written
//! before it runs, and taken back after (docs/guide/schedulers.md, "What its programs see").
//!
//! What must stay: written before it runs, taken back after, and around each call that changes
//! tasks; order of tasks is that in which the callback got them. Free: how changes are noticed, as
//! long as nothing is written back twice.
//!
//! Tests by part: `calls_answer_as_a_kernel_does` (`begin`, `end`, `current`, `cgroup`, `task_of`,
//! `clock_ns`, `give_up_retired`), schedulers.rs::`runs_are_the_same_twice_and_interpreted`
//! (`call`, `task`, `show`, `hand_out`, `write_back`, `tell`, `changed`: vtime.bpf.c; `kernel`),
//! schedulers.rs::`what_a_scheduler_does_wrong_is_named` (`task_of` with RUNNING: no task),
//! schedulers.rs::`cids_leave_and_come_back` (`cpu_curr`),
//! callbacks.rs::`of_a_ping_pong_whose_tasks_are_current_to_the_end` (`cpu_curr`). `related` and
//! `write_mask` have no test of their own.
//!
//! Callers: crates/foreign/src/instance.rs and load/program.rs (`begin`, `end`), all of kfuncs/.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does,
//! crates/cli/tests/all/callbacks.rs

use super::state::{HandedOut, State, get_wide, put, put_in, put_wide};
use crate::kfuncs;
use wakeplace_bpf_vm::budget::ENTRIES_PER_INSN;
use wakeplace_bpf_vm::{Env, Fault, Vm};
use wakeplace_sched_ext::{CgroupId, Kernel, TaskFacts, TaskId};

/// What a program's clocks say when a loader begins, ns: a machine has been up for a while when a
/// scheduler is loaded, and programs take a time near 0 for one that was never noted.
pub(crate) const UP_NS: u64 = 1_000_000_000_000;

/// The state of the scheduler and the kernel; before it is attached there is none.
pub(crate) struct Running<'a> {
    pub(crate) state: &'a mut State,
    pub(crate) kernel: Option<&'a mut dyn Kernel>,
    /// kfuncs called so far that nobody has paid for.
    pub(crate) kfuncs: u64,
}

impl Env for Running<'_> {
    /// Calls of a program come here from the machine (`Vm`), by their number.
    fn call(&mut self, vm: &mut Vm, call: u32, args: [u64; 5]) -> Result<u64, Fault> {
        kfuncs::call(self, vm, call, args)
    }
}

impl<'a> Running<'a> {
    /// A program is about to be entered from outside.
    pub(crate) fn begin(
        state: &'a mut State,
        vm: &mut Vm,
        mut kernel: Option<&'a mut dyn Kernel>,
    ) -> Self {
        let in_interrupt = match &mut kernel {
            Some(kernel) => {
                kernel.charge(0);
                kernel.in_interrupt()
            }
            None => false,
        };
        state.begin_callback(vm, in_interrupt);
        Self {
            state,
            kernel,
            kfuncs: 0,
        }
    }

    /// A helper has deleted elements of maps.
    #[cold]
    pub(crate) fn give_up_retired(&mut self, vm: &mut Vm) -> Result<(), Fault> {
        let kernel = self.kernel.as_deref_mut();
        self.state.give_up_retired(vm, kernel)
    }

    /// It is over: the kernel hears of what it has written and called.
    pub(crate) fn end(mut self, vm: &mut Vm) {
        self.tell(vm);
        // Before a scheduler is attached there is nobody who could pay.
        if let Some(kernel) = self.kernel {
            kernel.charge(self.kfuncs);
        }
    }

    /// Gives the simulated kernel that the callback runs in.
    pub(crate) fn kernel(&mut self) -> Result<&mut (dyn Kernel + 'a), Fault> {
        let early = || Fault::Call("it asks the kernel before it is attached".to_owned());
        self.kernel.as_deref_mut().ok_or_else(early)
    }

    /// What a program's clocks say.
    pub(crate) fn clock_ns(&self) -> u64 {
        let run_ns = self.kernel.as_ref().map_or(0, |kernel| kernel.now_ns());
        self.state.up_ns + run_ns
    }

    /// A task's mirror, up to date.
    pub(crate) fn task(&mut self, vm: &mut Vm, task: TaskId) -> Result<u64, Fault> {
        let at = self.state.mirror(vm, task)?;
        let Some(kernel) = self.kernel.as_deref() else {
            return Ok(at);
        };
        if self.state.is_handed_out(task) {
            return Ok(at);
        }
        let facts = kernel.task(task);
        if !self.state.shows(task, facts) {
            let relatives = [facts.real_parent, facts.group_leader];
            let cgroup = facts.cgroup;
            show(vm, self.state, facts, at);
            if let Some(mask) = self.state.layout.task.cpus_mask {
                write_mask(vm, at + mask.offset, kernel.task_cpus(task));
            }
            self.related(vm, task, at, relatives)?;
            self.cgroup(vm, cgroup)?;
            let css_set = self.state.css_sets[cgroup.0 as usize];
            put(vm, at, self.state.layout.task.cgroups, css_set);
            if let Some(kernel) = self.kernel.as_deref() {
                self.state.shown(task, kernel.task(task));
            }
        }
        if let Some(kernel) = self.kernel.as_deref() {
            hand_out(vm, self.state, kernel, task, at);
        }
        Ok(at)
    }

    /// Whom a task points to; itself if nobody else.
    fn related(
        &mut self,
        vm: &mut Vm,
        task: TaskId,
        at: u64,
        relatives: [Option<TaskId>; 2],
    ) -> Result<(), Fault> {
        let fields = &self.state.layout.task;
        let places = [fields.real_parent, fields.group_leader];
        for (relative, place) in relatives.into_iter().zip(places) {
            let to = match relative.filter(|relative| *relative != task) {
                Some(relative) => self.state.mirror(vm, relative)?,
                None => at,
            };
            put(vm, at, place, to);
        }
        Ok(())
    }

    /// The task that a program means.
    pub(crate) fn task_of(&self, vm: &Vm, at: u64) -> Result<TaskId, Fault> {
        let none = || Fault::Call(format!("a task was expected, {at:#x} is none"));
        self.state.task_of(vm, at).ok_or_else(none)
    }

    /// The task on whose behalf it runs.
    pub(crate) fn current(&mut self, vm: &mut Vm) -> Result<u64, Fault> {
        match self.kernel.as_ref().and_then(|kernel| kernel.current()) {
            Some(task) => self.task(vm, task),
            None => {
                let at = self.state.idle[vm.cpu as usize];
                let place = self.state.layout.task.preempt_count;
                put(vm, at, place, self.state.preempt_count.into());
                Ok(at)
            }
        }
    }

    /// The task that a CPU executes.
    pub(crate) fn cpu_curr(&mut self, vm: &mut Vm, cpu: u32) -> Result<u64, Fault> {
        match self.kernel()?.cpu_curr(cpu) {
            Some(task) => self.task(vm, task),
            None => Ok(self.state.idle[cpu as usize]),
        }
    }

    /// A cgroup's mirror, made if there is none yet.
    pub(crate) fn cgroup(&mut self, vm: &mut Vm, cgroup: CgroupId) -> Result<u64, Fault> {
        let parent = match &self.kernel {
            Some(kernel) => kernel.cgroup_parent(cgroup),
            None => None,
        };
        if let Some(parent) = parent {
            self.state.cgroup(vm, parent, None)?;
        }
        self.state.cgroup(vm, cgroup, parent)
    }

    /// A call is about to change tasks: the kernel hears first of what the program has written into
    /// them.
    pub(crate) fn write_back(&mut self, vm: &mut Vm) -> Result<(), Fault> {
        vm.spend(self.state.handed_out.len() as u64 / ENTRIES_PER_INSN)?;
        self.tell(vm);
        Ok(())
    }

    /// Tells the kernel what the program has written into tasks.
    fn tell(&mut self, vm: &Vm) {
        let Some(kernel) = self.kernel.as_deref_mut() else {
            return;
        };
        let fields = &self.state.layout.task;
        let tasks = &self.state.tasks;
        for out in &mut self.state.handed_out {
            let at = tasks[out.task.index()];
            let Some(bytes) = vm.memory.bytes(at, fields.size) else {
                continue;
            };
            let slice = get_wide::<8>(bytes, fields.slice);
            let vtime = get_wide::<8>(bytes, fields.vtime);
            if slice != out.slice {
                kernel.set_slice_ns(out.task, slice);
                out.slice = slice;
            }
            if vtime != out.vtime {
                kernel.set_dsq_vtime(out.task, vtime);
                out.vtime = vtime;
            }
            if get_wide::<1>(bytes, fields.disallow) != 0 {
                kernel.set_disallow(out.task, true);
            }
        }
    }

    /// The kernel has changed a task: slice and virtual time are read anew.
    pub(crate) fn changed(&mut self, vm: &mut Vm, task: TaskId) {
        let Some(kernel) = self.kernel.as_deref() else {
            return;
        };
        let (slice, vtime) = (kernel.task(task).slice_ns, kernel.task(task).dsq_vtime);
        let at = self.state.tasks[task.index()];
        put(vm, at, self.state.layout.task.slice, slice);
        put(vm, at, self.state.layout.task.vtime, vtime);
        for out in self
            .state
            .handed_out
            .iter_mut()
            .filter(|out| out.task == task)
        {
            (out.slice, out.vtime) = (slice, vtime);
        }
    }
}

/// Writes what of a task seldom changes (`State::shows`).
fn show(vm: &mut Vm, state: &State, facts: &TaskFacts, at: u64) {
    let fields = &state.layout.task;
    let signed = |value: i32| u64::from(value.cast_unsigned());
    let start_ns = state.up_ns + facts.start_time_ns;
    let Ok(bytes) = vm.memory.bytes_mut(at, fields.size) else {
        return;
    };
    for (place, value) in [
        (fields.weight, facts.weight.into()),
        (fields.pid, signed(facts.pid)),
        (fields.tgid, signed(facts.tgid)),
        (fields.tid, signed(facts.pid)),
        (fields.flags, facts.flags.into()),
        (fields.policy, facts.policy.into()),
        (fields.static_prio, signed(facts.static_prio)),
        (fields.normal_prio, signed(facts.prio)),
        (fields.prio, signed(facts.prio)),
        // Not null for a program; there is nothing behind it.
        (fields.mm, u64::from(facts.has_mm) * at),
        (fields.nr_cpus_allowed, facts.nr_cpus_allowed.into()),
        (fields.migration_disabled, facts.migration_disabled.into()),
        (fields.start_time, start_ns),
        (fields.start_boottime, start_ns),
    ] {
        put_in(bytes, place, value);
    }
    if let Some(comm) = fields.comm
        && let Some(to) = bytes
            .get_mut(comm.offset as usize..)
            .and_then(<[u8]>::first_chunk_mut)
    {
        *to = facts.comm;
    }
}

/// Writes the rest, and notes that the callback has the task.
fn hand_out(vm: &mut Vm, state: &mut State, kernel: &dyn Kernel, task: TaskId, at: u64) {
    let facts = kernel.task(task);
    let fields = &state.layout.task;
    let Ok(bytes) = vm.memory.bytes_mut(at, fields.size) else {
        return;
    };
    put_wide::<8>(bytes, fields.slice, facts.slice_ns);
    put_wide::<8>(bytes, fields.vtime, facts.dsq_vtime);
    put_wide::<8>(bytes, fields.sum_exec_runtime, facts.sum_exec_runtime_ns);
    put_wide::<8>(bytes, fields.utime, facts.ticks * state.tick_ns);
    put_wide::<8>(bytes, fields.nvcsw, facts.nvcsw);
    put_wide::<8>(bytes, fields.nivcsw, facts.nivcsw);
    put_wide::<4>(bytes, fields.scx_flags, facts.scx_flags.into());
    put_wide::<4>(bytes, fields.cpu, facts.cpu.into());
    put_wide::<4>(bytes, fields.recent_cpu, facts.cpu.into());
    put_wide::<4>(bytes, fields.wake_cpu, facts.wake_cpu.into());
    put_wide::<4>(bytes, fields.on_cpu, facts.on_cpu.into());
    put_wide::<4>(bytes, fields.on_rq, facts.on_rq.into());
    put_wide::<4>(bytes, fields.state, facts.state.into());
    if fields.preempt_count.is_some() {
        let is_current = kernel.current() == Some(task);
        let count = if is_current { state.preempt_count } else { 0 };
        put_wide::<4>(bytes, fields.preempt_count, count.into());
    }
    state.hand_out(HandedOut {
        task,
        slice: facts.slice_ns,
        vtime: facts.dsq_vtime,
    });
}

/// Writes a mask of CPUs.
pub(crate) fn write_mask(vm: &mut Vm, at: u64, mask: &[u64]) {
    for (word, bits) in mask.iter().enumerate() {
        vm.memory.set_u64(at + 8 * word as u64, *bits);
    }
}
