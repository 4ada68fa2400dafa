//! One scheduler in one run: the callbacks, each of which runs a program. Which callbacks there
//! are, and in which order they come, is sched-ext's (docs/rules/sched-ext.md#tasks).
//!
//! A method without a comment is `SchedExtOps`'s (crates/sched-ext/src/ops.rs): it puts the
//! arguments in the form that the kernel gives programs, and runs the program of that name.
//!
//! What must stay: arguments and results as the kernel's callbacks have them. Free: how programs
//! are looked up and results are read.
//!
//! Tests by part: callbacks.rs::`of_a_ping_pong` (order and arguments, beside a kernel: `run`,
//! `enter`, `plain`, `flags`, `select_cpu`, `enqueue`, `dispatch`, `runnable`, `running`,
//! `stopping`, `quiescent`, `init`), callbacks.rs::`of_a_task_that_is_given_other_cpus`
//! (`set_cpumask`), schedulers.rs::`cids_leave_and_come_back` (`cmask`, `cpu`, `update_idle`,
//! `cpu_online`, `cpu_offline`, `init_cids`), `two_cpus_of_one_cid_end_it` (`init_cids`),
//! `a_loader_runs_in_virtual_time` (`loader`, `ask_for_loader`),
//! schedulers.rs::`runs_are_the_same_twice_and_interpreted` (`enable`: vtime.bpf.c; `timer`:
//! maps.bpf.c; `structure`, `status`). No scheduler of the tests (crates/foreign/tests/schedulers)
//! has `dequeue`, `tick`, `yield` (`yield_task`), `set_weight`, `cpu_acquire`, `cpu_release`,
//! `init_task`, `exit_task`, `disable`, `exit` or one of the callbacks of cgroups (`cgroup_init`,
//! `cgroup_exit`, `cgroup_prep_move`, `cgroup_move`, `cgroup_cancel_move`, `cgroup_set_weight`);
//! `text` serves `exit` alone. `int` has no test of its own.
//!
//! Callers: crates/sched-ext/src/class (callbacks); scheduler.rs (`new`).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::runs_are_the_same_twice_and_interpreted,
//! crates/cli/tests/all/callbacks.rs

use crate::kernel::{Running, State, put, write_mask};
use crate::load::{Attached, Process};
use crate::scheduler::version;
use std::collections::BTreeSet;
use wakeplace_bpf_vm::{Fault, Vm};
use wakeplace_sched_ext::{
    Callback, CgroupId, Exit, ExitKind, Kernel, OpsInfo, ReleaseReason, SchedExtOps, Started,
    TaskId, TimerId,
};

/// A scheduler with a state of its own.
#[derive(Debug)]
pub struct Instance {
    vm: Vm,
    state: State,
    programs: [Option<usize>; Callback::COUNT],
    info: OpsInfo,
    /// The loader, if it goes on beside the run.
    loader: Option<Process>,
    /// When it goes on, as the kernel has been asked for, ns.
    loader_at_ns: BTreeSet<u64>,
}

/// What a callback is given.
#[derive(Clone, Copy)]
enum Arg {
    Task(TaskId),
    /// A task, or the CPU's idle task.
    TaskOrNone(Option<TaskId>),
    Cgroup(CgroupId),
    Word(u64),
}

/// A negative number keeps its sign in 64 bits.
fn int(value: i32) -> Arg {
    Arg::Word(i64::from(value).cast_unsigned())
}

impl Instance {
    /// With what a loader has attached, and the loader if it goes on.
    pub(crate) fn new(mut attached: Attached, release: &str, loader: Option<Process>) -> Self {
        let table = attached.table;
        // Three numbers: a kernel is offered with no other (`OfferedKernel::new`).
        let [major, minor, _] = version(release).unwrap_or_default();
        let cids = &mut attached.state.cids;
        cids.in_callbacks = table.has_cids;
        cids.divide(table.cid_shard_size);
        let mut programs = [None; Callback::COUNT];
        for callback in Callback::ALL {
            let name = match callback {
                Callback::Timer | Callback::Loader => continue,
                callback => callback.name(),
            };
            programs[callback as usize] = table.programs.get(name).copied();
        }
        let there = |callback: &Callback| match callback {
            Callback::Timer => true,
            Callback::Loader => loader.is_some(),
            callback => programs[*callback as usize].is_some(),
        };
        Self {
            vm: attached.vm,
            state: attached.state,
            info: OpsInfo {
                name: table.name,
                flags: table.flags,
                timeout_ms: table.timeout_ms,
                dispatch_max_batch: table.dispatch_max_batch,
                sub_cgroup_id: table.sub_cgroup_id,
                kernel: (major, minor),
                callbacks: Callback::ALL.into_iter().filter(there).collect(),
            },
            programs,
            loader,
            loader_at_ns: BTreeSet::new(),
        }
    }

    /// Runs a callback's program; 0 where the scheduler has none. Err: a fault ends the scheduler.
    fn run(
        &mut self,
        kernel: &mut dyn Kernel,
        callback: Callback,
        args: &[Arg],
    ) -> Result<u64, Exit> {
        let Some(program) = self.programs[callback as usize] else {
            return Ok(0);
        };
        let result = self.enter(kernel, |vm, running| {
            let context = running.state.context;
            for (at, arg) in args.iter().enumerate() {
                let word = match *arg {
                    Arg::Word(word) => word,
                    Arg::Task(task) => running.task(vm, task)?,
                    Arg::TaskOrNone(Some(task)) => running.task(vm, task)?,
                    Arg::TaskOrNone(None) => 0,
                    Arg::Cgroup(cgroup) => running.cgroup(vm, cgroup)?,
                };
                vm.memory.set_u64(context + 8 * at as u64, word);
            }
            vm.run(running, program, [context, 0, 0, 0, 0])
        });
        result.map_err(|fault| {
            let name = &self.vm.programs()[program].name;
            Exit::fault(format!(
                "program `{name}` (ops.{}): {fault}",
                callback.name()
            ))
        })
    }

    /// What stands around every call of a program.
    fn enter(
        &mut self,
        kernel: &mut dyn Kernel,
        call: impl FnOnce(&mut Vm, &mut Running<'_>) -> Result<u64, Fault>,
    ) -> Result<u64, Fault> {
        self.vm.cpu = kernel.this_cpu();
        let mut running = Running::begin(&mut self.state, &mut self.vm, Some(kernel));
        let result = call(&mut self.vm, &mut running);
        running.end(&mut self.vm);
        // It is woken by a record that it waits for.
        let new = std::mem::take(&mut self.vm.new_records);
        if new && self.loader.as_ref().is_some_and(Process::reads_rings) {
            let now_ns = kernel.now_ns();
            self.ask_for_loader(kernel, now_ns + 1);
        }
        result
    }

    /// The loader is to go on at that time.
    fn ask_for_loader(&mut self, kernel: &mut dyn Kernel, at_ns: u64) {
        if self.loader_at_ns.insert(at_ns) {
            kernel.loader_at(at_ns);
        }
    }

    /// A callback whose result nobody reads.
    fn plain(
        &mut self,
        kernel: &mut dyn Kernel,
        callback: Callback,
        args: &[Arg],
    ) -> Result<(), Exit> {
        self.run(kernel, callback, args).map(|_| ())
    }

    /// Enqueue flags in the numbers of the offered kernel, which differ from ours.
    fn flags(&self, ours: u64) -> Arg {
        use wakeplace_sched_ext::consts::{SCX_ENQ_CPU_SELECTED, SCX_ENQ_HEAD};
        let layout = &self.state.layout;
        let mut theirs = ours & !(SCX_ENQ_HEAD | SCX_ENQ_CPU_SELECTED);
        if ours & SCX_ENQ_HEAD != 0 {
            theirs |= layout.enq_head;
        }
        if ours & SCX_ENQ_CPU_SELECTED != 0 {
            theirs |= layout.enq_cpu_selected;
        }
        Arg::Word(theirs)
    }

    /// A zeroed structure for the callback's arguments.
    fn structure(&mut self, bytes: u64) -> u64 {
        let at = self.state.arguments;
        if let Ok(room) = self.vm.memory.bytes_mut(at, bytes.min(2048)) {
            room.fill(0);
        }
        at
    }

    /// A task's CPUs as a mask of cids.
    fn cmask(&mut self, cpus: &[u64]) -> Result<u64, Exit> {
        let state = &self.state;
        let made = state.cids.cmask(&mut self.vm, state.cmask, cpus);
        self.state.cmask = made.map_err(|fault| Exit::fault(fault.to_string()))?;
        Ok(self.state.cmask)
    }

    /// A CPU as the scheduler has it.
    fn cpu(&self, cpu: i32) -> Arg {
        int(self.state.cids.told(cpu))
    }

    /// Writes a C string of at most 1000 bytes at `at`, which is returned.
    fn text(&mut self, at: u64, text: &str) -> u64 {
        let bytes = &text.as_bytes()[..text.len().min(1000)];
        if let Ok(room) = self.vm.memory.bytes_mut(at, bytes.len() as u64 + 1) {
            room[..bytes.len()].copy_from_slice(bytes);
            room[bytes.len()] = 0;
        }
        at
    }
}

/// A program returns 32 bits: a CPU, or a negative errno.
fn status(result: u64) -> i32 {
    (result as u32).cast_signed()
}

type Done = Result<(), Exit>;

impl SchedExtOps for Instance {
    fn info(&self) -> OpsInfo {
        self.info.clone()
    }

    /// With cids the answer is one; a cid that there is not ends the scheduler.
    fn select_cpu(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        prev_cpu: i32,
        wake_flags: u64,
    ) -> Result<i32, Exit> {
        let args = [Arg::Task(task), self.cpu(prev_cpu), Arg::Word(wake_flags)];
        let chosen = self.run(kernel, Callback::SelectCpu, &args).map(status)?;
        let cids = &self.state.cids;
        match cids.in_callbacks && chosen >= 0 {
            true => {
                let unknown = || Exit::new(ExitKind::Error, format!("invalid cid {chosen}"));
                cids.cpu(chosen).map(u32::cast_signed).ok_or_else(unknown)
            }
            false => Ok(chosen),
        }
    }

    fn enqueue(&mut self, kernel: &mut dyn Kernel, task: TaskId, enq_flags: u64) -> Done {
        let args = [Arg::Task(task), self.flags(enq_flags)];
        self.plain(kernel, Callback::Enqueue, &args)
    }

    fn dequeue(&mut self, kernel: &mut dyn Kernel, task: TaskId, deq_flags: u64) -> Done {
        let args = [Arg::Task(task), Arg::Word(deq_flags)];
        self.plain(kernel, Callback::Dequeue, &args)
    }

    fn dispatch(&mut self, kernel: &mut dyn Kernel, cpu: i32, prev: Option<TaskId>) -> Done {
        let args = [self.cpu(cpu), Arg::TaskOrNone(prev)];
        self.plain(kernel, Callback::Dispatch, &args)
    }

    /// `utime` has gone up before (docs/rules/sched-ext.md#rq-clocks). Whether the slice is over is
    /// asked afterwards: the program may change it (docs/rules/sched-ext.md#slices).
    fn tick(&mut self, kernel: &mut dyn Kernel, task: TaskId) -> Done {
        self.plain(kernel, Callback::Tick, &[Arg::Task(task)])
    }

    fn runnable(&mut self, kernel: &mut dyn Kernel, task: TaskId, enq_flags: u64) -> Done {
        let args = [Arg::Task(task), self.flags(enq_flags)];
        self.plain(kernel, Callback::Runnable, &args)
    }

    fn running(&mut self, kernel: &mut dyn Kernel, task: TaskId) -> Done {
        self.plain(kernel, Callback::Running, &[Arg::Task(task)])
    }

    fn stopping(&mut self, kernel: &mut dyn Kernel, task: TaskId, runnable: bool) -> Done {
        let args = [Arg::Task(task), Arg::Word(runnable.into())];
        self.plain(kernel, Callback::Stopping, &args)
    }

    fn quiescent(&mut self, kernel: &mut dyn Kernel, task: TaskId, deq_flags: u64) -> Done {
        let args = [Arg::Task(task), Arg::Word(deq_flags)];
        self.plain(kernel, Callback::Quiescent, &args)
    }

    fn yield_task(
        &mut self,
        kernel: &mut dyn Kernel,
        from: TaskId,
        to: Option<TaskId>,
    ) -> Result<bool, Exit> {
        let args = [Arg::Task(from), Arg::TaskOrNone(to)];
        self.run(kernel, Callback::Yield, &args)
            .map(|result| result & 1 != 0)
    }

    fn set_weight(&mut self, kernel: &mut dyn Kernel, task: TaskId, weight: u32) -> Done {
        let args = [Arg::Task(task), Arg::Word(weight.into())];
        self.plain(kernel, Callback::SetWeight, &args)
    }

    fn set_cpumask(&mut self, kernel: &mut dyn Kernel, task: TaskId) -> Done {
        let at = match self.state.cids.in_callbacks {
            true => self.cmask(kernel.task_cpus(task))?,
            false => {
                let at = self.structure(self.state.layout.cpumask);
                write_mask(&mut self.vm, at, kernel.task_cpus(task));
                at
            }
        };
        self.plain(
            kernel,
            Callback::SetCpumask,
            &[Arg::Task(task), Arg::Word(at)],
        )
    }

    fn update_idle(&mut self, kernel: &mut dyn Kernel, cpu: i32, idle: bool) -> Done {
        self.plain(
            kernel,
            Callback::UpdateIdle,
            &[self.cpu(cpu), Arg::Word(idle.into())],
        )
    }

    fn cpu_acquire(&mut self, kernel: &mut dyn Kernel, cpu: i32) -> Done {
        self.plain(kernel, Callback::CpuAcquire, &[self.cpu(cpu), Arg::Word(0)])
    }

    fn cpu_release(
        &mut self,
        kernel: &mut dyn Kernel,
        cpu: i32,
        reason: ReleaseReason,
        task: Option<TaskId>,
    ) -> Done {
        let fields = self.state.layout.release.clone();
        let at = self.structure(fields.size);
        put(&mut self.vm, at, fields.reason, reason as u64);
        let by = match task {
            Some(task) => self.state.mirror(&mut self.vm, task),
            None => Ok(0),
        };
        let by = by.map_err(|fault| Exit::fault(fault.to_string()))?;
        put(&mut self.vm, at, fields.task, by);
        self.plain(
            kernel,
            Callback::CpuRelease,
            &[self.cpu(cpu), Arg::Word(at)],
        )
    }

    fn init_task(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        started: Started,
        cgroup: CgroupId,
    ) -> Result<i32, Exit> {
        let fields = self.state.layout.init_task.clone();
        let at = self.structure(fields.size);
        put(
            &mut self.vm,
            at,
            fields.fork,
            (started == Started::Forked).into(),
        );
        let parent = kernel.cgroup_parent(cgroup);
        let group = self.state.cgroup(&mut self.vm, cgroup, parent);
        let group = group.map_err(|fault| Exit::fault(fault.to_string()))?;
        put(&mut self.vm, at, fields.cgroup, group);
        let args = [Arg::Task(task), Arg::Word(at)];
        self.run(kernel, Callback::InitTask, &args).map(status)
    }

    /// Its mirror and what maps keep of it go after the callback.
    fn exit_task(&mut self, kernel: &mut dyn Kernel, task: TaskId, cancelled: bool) -> Done {
        let fields = self.state.layout.exit_task.clone();
        let at = self.structure(fields.size);
        put(&mut self.vm, at, fields.cancelled, cancelled.into());
        let args = [Arg::Task(task), Arg::Word(at)];
        let done = self.plain(kernel, Callback::ExitTask, &args);
        self.state.forget(&mut self.vm, task);
        let given_up = self.state.give_up_retired(&mut self.vm, Some(kernel));
        done.and(given_up.map_err(|fault| Exit::fault(fault.to_string())))
    }

    fn enable(&mut self, kernel: &mut dyn Kernel, task: TaskId) -> Done {
        self.plain(kernel, Callback::Enable, &[Arg::Task(task)])
    }

    fn disable(&mut self, kernel: &mut dyn Kernel, task: TaskId) -> Done {
        self.plain(kernel, Callback::Disable, &[Arg::Task(task)])
    }

    fn cgroup_init(
        &mut self,
        kernel: &mut dyn Kernel,
        cgroup: CgroupId,
        weight: u32,
    ) -> Result<i32, Exit> {
        let fields = self.state.layout.cgroup_init.clone();
        let at = self.structure(256);
        if let Some(fields) = fields {
            put(&mut self.vm, at, fields.weight, weight.into());
        }
        let args = [Arg::Cgroup(cgroup), Arg::Word(at)];
        self.run(kernel, Callback::CgroupInit, &args).map(status)
    }

    fn cgroup_exit(&mut self, kernel: &mut dyn Kernel, cgroup: CgroupId) -> Done {
        self.plain(kernel, Callback::CgroupExit, &[Arg::Cgroup(cgroup)])
    }

    fn cgroup_prep_move(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        from: CgroupId,
        to: CgroupId,
    ) -> Result<i32, Exit> {
        let args = [Arg::Task(task), Arg::Cgroup(from), Arg::Cgroup(to)];
        self.run(kernel, Callback::CgroupPrepMove, &args)
            .map(status)
    }

    fn cgroup_move(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        from: CgroupId,
        to: CgroupId,
    ) -> Done {
        let args = [Arg::Task(task), Arg::Cgroup(from), Arg::Cgroup(to)];
        self.plain(kernel, Callback::CgroupMove, &args)
    }

    fn cgroup_cancel_move(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        from: CgroupId,
        to: CgroupId,
    ) -> Done {
        let args = [Arg::Task(task), Arg::Cgroup(from), Arg::Cgroup(to)];
        self.plain(kernel, Callback::CgroupCancelMove, &args)
    }

    fn cgroup_set_weight(
        &mut self,
        kernel: &mut dyn Kernel,
        cgroup: CgroupId,
        weight: u32,
    ) -> Done {
        let args = [Arg::Cgroup(cgroup), Arg::Word(weight.into())];
        self.plain(kernel, Callback::CgroupSetWeight, &args)
    }

    fn cpu_online(&mut self, kernel: &mut dyn Kernel, cpu: i32) -> Done {
        self.plain(kernel, Callback::CpuOnline, &[self.cpu(cpu)])
    }

    fn cpu_offline(&mut self, kernel: &mut dyn Kernel, cpu: i32) -> Done {
        self.plain(kernel, Callback::CpuOffline, &[self.cpu(cpu)])
    }

    /// Only in this callback may the scheduler number CPUs anew.
    fn init_cids(&mut self, kernel: &mut dyn Kernel) -> Result<i32, Exit> {
        self.state.cids.may_be_replaced = true;
        let result = self.run(kernel, Callback::InitCids, &[]).map(status);
        self.state.cids.may_be_replaced = false;
        result
    }

    fn init(&mut self, kernel: &mut dyn Kernel) -> Result<i32, Exit> {
        self.run(kernel, Callback::Init, &[]).map(status)
    }

    fn exit(&mut self, kernel: &mut dyn Kernel, exit: &Exit) -> Done {
        let fields = self.state.layout.exit_info.clone();
        let at = self.structure(2048);
        put(&mut self.vm, at, fields.kind, exit.kind as u64);
        put(
            &mut self.vm,
            at,
            fields.exit_code,
            exit.code.cast_unsigned(),
        );
        let reason = self.text(at + 512, exit.kind.reason());
        let message = self.text(at + 1024, &exit.message);
        put(&mut self.vm, at, fields.reason, reason);
        put(&mut self.vm, at, fields.msg, message);
        put(&mut self.vm, at, fields.dump, at + 2040);
        self.plain(kernel, Callback::Exit, &[Arg::Word(at)])
    }

    /// Virtual time is the loader's clock less the time at which it was started.
    fn loader(&mut self, kernel: &mut dyn Kernel) -> Done {
        let Some(loader) = &mut self.loader else {
            return Ok(());
        };
        let now_ns = kernel.now_ns();
        self.loader_at_ns = self.loader_at_ns.split_off(&(now_ns + 1));
        let next = loader.go_on(&mut self.vm, &mut self.state, kernel)?;
        self.vm.new_records = false;
        if let Some(next_ns) = next {
            let at_ns = next_ns.saturating_sub(self.state.up_ns);
            self.ask_for_loader(kernel, at_ns.max(now_ns + 1));
        }
        Ok(())
    }

    /// A timer whose map element is gone does not fire.
    fn timer(&mut self, kernel: &mut dyn Kernel, timer: TimerId) -> Done {
        let Some(timer) = self.state.timers.get(timer.0).cloned() else {
            return Ok(()); // its element was deleted when it was on its way
        };
        let bytes = timer.key.len() as u64;
        let key_at = self.structure(bytes);
        if let Ok(room) = self.vm.memory.bytes_mut(key_at, bytes) {
            room.copy_from_slice(&timer.key);
        }
        let args = [timer.map, key_at, timer.value, 0, 0];
        let result = self.enter(kernel, |vm, running| {
            vm.run_function(running, timer.callback, args)
        });
        result
            .map(|_| ())
            .map_err(|fault| Exit::fault(format!("a timer's callback: {fault}")))
    }
}
