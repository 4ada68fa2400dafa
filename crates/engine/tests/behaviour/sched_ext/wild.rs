//! A scheduler that does at random whatever is allowed, loses nobody, and checks that the kernel
//! calls it in the order that docs/rules/sched-ext.md#tasks says.
//!
//! What must stay: whatever it does is allowed by the rules, it loses no task, and its asserts are
//! the order that the page says. Caller: storms.rs::`a_wild_scheduler_loses_nobody`; each callback
//! is called by the class. `known` keeps what is known of a task; `allowed`, `queue`, `kick` and
//! `shuffle` do the random things. `select_cpu`, `enqueue`, `dequeue`, `dispatch`, `tick`,
//! `yield_task`, `update_idle`, `cpu_release` and `timer` act at random; the others (`runnable`,
//! `running`, `stopping`, `quiescent`, `init_task`, `exit_task`, `enable`, `disable`,
//! `set_cpumask`, `set_weight`, `cgroup_move`, `cpu_acquire`) assert their order.

use crate::invariants::Random;
use std::collections::VecDeque;
use wakeplace_engine::sched_ext::consts::{
    SCX_DSQ_GLOBAL, SCX_DSQ_ITER_REV, SCX_DSQ_LOCAL, SCX_DSQ_LOCAL_ON, SCX_ENQ_HEAD,
    SCX_ENQ_PREEMPT, SCX_KICK_IDLE, SCX_KICK_PREEMPT, SCX_OPS_ENQ_LAST, SCX_OPS_KEEP_BUILTIN_IDLE,
    SCX_SLICE_INF, SCX_TASK_QUEUED,
};
use wakeplace_engine::sched_ext::{
    Callback, CgroupId, Exit, Kernel, OpsInfo, ReleaseReason, SchedExtOps, Started, TaskId,
    TimerId, test_cpu,
};

const FIFOS: [u64; 2] = [1, 2];
const BY_VTIME: [u64; 2] = [0x1000_0000_0001, 0x1000_0000_0002];
/// So often it makes sure that nobody is forgotten.
const TURN_NS: u64 = 1_000_000;

/// What it knows of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Known {
    there: bool,
    enabled: bool,
    runnable: bool,
    running: bool,
    /// Something of it has changed while it ran: it goes on, whatever its slice and its CPUs, and
    /// the kernel takes it away after that.
    changes: bool,
    cgroup: u32,
}

/// The scheduler.
pub(super) struct Wild {
    random: Random,
    flags: u64,
    kernel: (u16, u16),
    held: VecDeque<TaskId>,
    tasks: Vec<Known>,
    /// Per CPU: told to be idle; taken by another class.
    idle: Vec<bool>,
    released: Vec<bool>,
}

impl Wild {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let flags = [SCX_OPS_KEEP_BUILTIN_IDLE, SCX_OPS_ENQ_LAST];
        let flags = flags.into_iter().filter(|_| random.one_in(2)).sum();
        let kernels = [(0, 0), (6, 12), (6, 17)];
        Self {
            flags,
            kernel: kernels[random.below(3) as usize],
            random,
            held: VecDeque::new(),
            tasks: Vec::new(),
            idle: Vec::new(),
            released: Vec::new(),
        }
    }

    fn known(&mut self, task: TaskId) -> &mut Known {
        if self.tasks.len() <= task.index() {
            self.tasks.resize(task.index() + 1, Known::default());
        }
        &mut self.tasks[task.index()]
    }

    fn one_of(&mut self, list: &[u64]) -> u64 {
        list[self.random.below(list.len() as u64) as usize]
    }

    fn slice(&mut self) -> u64 {
        match self.random.below(8) {
            0 => 0,
            1 => 1,
            2 => SCX_SLICE_INF,
            _ => self.random.spread(10_000, 20_000_000),
        }
    }

    /// A CPU that the task may use.
    fn allowed(&mut self, kernel: &dyn Kernel, task: TaskId) -> u64 {
        let nr = u64::from(kernel.nr_cpu_ids());
        let from = self.random.below(nr);
        let cpus = (0..nr).map(|at| (from + at) % nr);
        let mut allowed = cpus.filter(|cpu| test_cpu(kernel.task_cpus(task), *cpu as u32));
        allowed.next().expect("some CPU")
    }

    /// Puts a task somewhere, or holds it.
    fn queue(&mut self, kernel: &mut dyn Kernel, task: TaskId) {
        let slice = self.slice();
        let flags = match self.random.below(6) {
            0 => SCX_ENQ_PREEMPT,
            1 => SCX_ENQ_HEAD,
            _ => 0,
        };
        let done = match self.random.below(8) {
            0 => kernel.dsq_insert(task, SCX_DSQ_LOCAL, slice, flags),
            1 => kernel.dsq_insert(task, SCX_DSQ_GLOBAL, slice, flags),
            2 => {
                let cpu = self.allowed(kernel, task);
                let fixed = kernel.task(task).migration_disabled;
                assert!(!fixed);
                kernel.dsq_insert(task, SCX_DSQ_LOCAL_ON | cpu, slice, flags)
            }
            3 | 4 => kernel.dsq_insert(task, self.one_of(&FIFOS), slice, flags),
            5 | 6 => {
                let vtime = kernel
                    .task(task)
                    .dsq_vtime
                    .wrapping_add(self.random.below(1000));
                kernel.dsq_insert_vtime(task, self.one_of(&BY_VTIME), slice, vtime, 0)
            }
            _ => {
                self.held.push_back(task);
                return;
            }
        };
        assert!(done);
    }

    fn kick(&mut self, kernel: &mut dyn Kernel) {
        let cpu = self.random.below(kernel.nr_cpu_ids().into()) as i32;
        let flags = match self.random.below(3) {
            0 => SCX_KICK_IDLE,
            1 => SCX_KICK_PREEMPT,
            _ => 0,
        };
        kernel.kick_cpu(cpu, flags);
    }
}

impl SchedExtOps for Wild {
    fn info(&self) -> OpsInfo {
        OpsInfo {
            name: "wild".to_owned(),
            flags: self.flags,
            timeout_ms: 5_000,
            dispatch_max_batch: 8,
            sub_cgroup_id: 0,
            callbacks: Callback::ALL.into_iter().collect(),
            kernel: self.kernel,
        }
    }

    fn init(&mut self, kernel: &mut dyn Kernel) -> Result<i32, Exit> {
        for dsq in FIFOS.into_iter().chain(BY_VTIME) {
            assert_eq!(kernel.create_dsq(dsq, -1), 0);
            assert_eq!(kernel.create_dsq(dsq, -1), -17, "EEXIST");
        }
        self.idle = vec![true; kernel.nr_cpu_ids() as usize];
        self.released = vec![false; kernel.nr_cpu_ids() as usize];
        kernel.timer_start(TimerId(0), kernel.now_ns() + TURN_NS, false);
        Ok(0)
    }

    fn select_cpu(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        prev_cpu: i32,
        wake_flags: u64,
    ) -> Result<i32, Exit> {
        let known = *self.known(task);
        assert!(known.enabled && !known.runnable, "{task:?}: {known:?}");
        let tracks = self.flags & SCX_OPS_KEEP_BUILTIN_IDLE != 0;
        let cpu = match self.random.below(4) {
            0 if tracks => kernel.select_cpu_dfl(task, prev_cpu, wake_flags).0,
            1 => {
                let mask = kernel.task_cpus(task).to_vec();
                kernel.pick_any_cpu(&mask, None, 0)
            }
            2 => self.allowed(kernel, task) as i32,
            _ => prev_cpu,
        };
        if self.random.one_in(2) {
            let slice = self.slice();
            kernel.dsq_insert(task, SCX_DSQ_LOCAL, slice, 0);
        }
        Ok(cpu)
    }

    fn enqueue(&mut self, kernel: &mut dyn Kernel, task: TaskId, _flags: u64) -> Result<(), Exit> {
        let known = *self.known(task);
        assert!(known.runnable && !known.running, "{task:?}: {known:?}");
        assert!(!self.held.contains(&task));
        self.queue(kernel, task);
        if self.random.one_in(2) {
            self.kick(kernel);
        }
        Ok(())
    }

    fn dequeue(&mut self, _: &mut dyn Kernel, task: TaskId, _flags: u64) -> Result<(), Exit> {
        self.held.retain(|held| *held != task);
        Ok(())
    }

    fn dispatch(
        &mut self,
        kernel: &mut dyn Kernel,
        cpu: i32,
        prev: Option<TaskId>,
    ) -> Result<(), Exit> {
        assert_eq!(cpu.cast_unsigned(), kernel.this_cpu());
        assert!(!self.released[cpu as usize], "CPU {cpu} is not ours");
        if let Some(prev) = prev {
            let queued = kernel.task(prev).scx_flags & SCX_TASK_QUEUED != 0;
            assert_eq!(self.known(prev).runnable, queued);
        }
        while kernel.dispatch_nr_slots() > 2
            && let Some(task) = self.held.pop_front()
        {
            let to = self.allowed(kernel, task);
            let slice = self.slice();
            kernel.dsq_insert(task, SCX_DSQ_LOCAL_ON | to, slice, 0);
            if self.random.one_in(8) {
                kernel.dispatch_cancel();
                kernel.dsq_insert(task, SCX_DSQ_GLOBAL, slice, 0);
            }
        }
        let all = [FIFOS, BY_VTIME].concat();
        let first = self.random.below(4) as usize;
        for at in 0..4 {
            let dsq = all[(first + at) % 4];
            if self.random.one_in(3) {
                self.shuffle(kernel, dsq);
            }
            if kernel.dsq_move_to_local(dsq, 0) && self.random.one_in(2) {
                break;
            }
        }
        Ok(())
    }

    fn tick(&mut self, kernel: &mut dyn Kernel, task: TaskId) -> Result<(), Exit> {
        assert!(self.known(task).running);
        if self.random.one_in(4) || kernel.task(task).slice_ns == SCX_SLICE_INF {
            kernel.set_slice_ns(task, 0);
        }
        Ok(())
    }

    fn runnable(&mut self, _: &mut dyn Kernel, task: TaskId, _flags: u64) -> Result<(), Exit> {
        let known = self.known(task);
        assert!(known.enabled && !known.runnable, "{task:?}: {known:?}");
        known.runnable = true;
        Ok(())
    }

    fn running(&mut self, kernel: &mut dyn Kernel, task: TaskId) -> Result<(), Exit> {
        let cpu = kernel.task(task).cpu;
        assert_eq!(kernel.cpu_curr(cpu), Some(task));
        if !self.known(task).changes {
            assert!(test_cpu(kernel.task_cpus(task), cpu), "CPU {cpu}");
            assert!(kernel.task(task).slice_ns > 0);
        }
        assert!(!self.idle[cpu as usize], "CPU {cpu} idles");
        let known = self.known(task);
        assert!(known.runnable && !known.running, "{task:?}: {known:?}");
        known.running = true;
        Ok(())
    }

    fn stopping(&mut self, _: &mut dyn Kernel, task: TaskId, _runnable: bool) -> Result<(), Exit> {
        let known = self.known(task);
        assert!(known.running, "{task:?}: {known:?}");
        (known.running, known.changes) = (false, false);
        Ok(())
    }

    fn quiescent(&mut self, _: &mut dyn Kernel, task: TaskId, _flags: u64) -> Result<(), Exit> {
        let known = self.known(task);
        assert!(known.runnable && !known.running, "{task:?}: {known:?}");
        known.runnable = false;
        Ok(())
    }

    fn yield_task(
        &mut self,
        kernel: &mut dyn Kernel,
        from: TaskId,
        _to: Option<TaskId>,
    ) -> Result<bool, Exit> {
        assert!(self.known(from).running);
        if self.random.one_in(2) {
            kernel.set_slice_ns(from, 0);
        }
        Ok(false)
    }

    fn set_cpumask(&mut self, _: &mut dyn Kernel, task: TaskId) -> Result<(), Exit> {
        self.known(task).changes = true;
        Ok(())
    }

    fn set_weight(&mut self, _: &mut dyn Kernel, task: TaskId, _weight: u32) -> Result<(), Exit> {
        self.known(task).changes = true;
        Ok(())
    }

    fn update_idle(&mut self, kernel: &mut dyn Kernel, cpu: i32, idle: bool) -> Result<(), Exit> {
        let was = std::mem::replace(&mut self.idle[cpu as usize], idle);
        assert_ne!(was, idle, "CPU {cpu}: no change");
        if self.random.one_in(3) {
            kernel.cpuperf_set(cpu, self.random.below(1025) as u32);
        }
        Ok(())
    }

    fn cpu_acquire(&mut self, _: &mut dyn Kernel, cpu: i32) -> Result<(), Exit> {
        assert!(std::mem::take(&mut self.released[cpu as usize]));
        Ok(())
    }

    fn cpu_release(
        &mut self,
        kernel: &mut dyn Kernel,
        cpu: i32,
        _reason: ReleaseReason,
        task: Option<TaskId>,
    ) -> Result<(), Exit> {
        assert!(!std::mem::replace(&mut self.released[cpu as usize], true));
        assert!(task.is_some());
        if self.random.one_in(2) {
            kernel.reenqueue_local();
        }
        Ok(())
    }

    fn init_task(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        _started: Started,
        cgroup: CgroupId,
    ) -> Result<i32, Exit> {
        assert!(cgroup.0 < kernel.nr_cgroups());
        let known = self.known(task);
        assert_eq!(*known, Known::default());
        (known.there, known.cgroup) = (true, cgroup.0);
        Ok(0)
    }

    fn exit_task(&mut self, _: &mut dyn Kernel, task: TaskId, _: bool) -> Result<(), Exit> {
        let known = self.known(task);
        assert!(
            known.there && !known.enabled && !known.runnable,
            "{known:?}"
        );
        *known = Known::default();
        Ok(())
    }

    fn enable(&mut self, _: &mut dyn Kernel, task: TaskId) -> Result<(), Exit> {
        let known = self.known(task);
        assert!(known.there && !known.enabled, "{known:?}");
        known.enabled = true;
        Ok(())
    }

    fn disable(&mut self, _: &mut dyn Kernel, task: TaskId) -> Result<(), Exit> {
        let known = self.known(task);
        assert!(known.enabled && !known.runnable, "{task:?}: {known:?}");
        known.enabled = false;
        Ok(())
    }

    fn cgroup_move(
        &mut self,
        _: &mut dyn Kernel,
        task: TaskId,
        from: CgroupId,
        to: CgroupId,
    ) -> Result<(), Exit> {
        let known = self.known(task);
        assert_eq!(std::mem::replace(&mut known.cgroup, to.0), from.0);
        known.changes = true;
        Ok(())
    }

    fn timer(&mut self, kernel: &mut dyn Kernel, timer: TimerId) -> Result<(), Exit> {
        for cpu in 0..kernel.nr_cpu_ids() {
            kernel.kick_cpu(cpu.cast_signed(), SCX_KICK_IDLE);
        }
        let pinned = self.random.one_in(2);
        kernel.timer_start(timer, kernel.now_ns() + TURN_NS, pinned);
        Ok(())
    }
}

impl Wild {
    /// Some tasks of a queue go to others.
    fn shuffle(&mut self, kernel: &mut dyn Kernel, dsq: u64) {
        let flags = if self.random.one_in(2) {
            SCX_DSQ_ITER_REV
        } else {
            0
        };
        let mut iter = kernel.dsq_iter_new(dsq, flags).expect("a queue of ours");
        while let Some(task) = kernel.dsq_iter_next(&mut iter) {
            match self.random.below(6) {
                0 => {
                    iter.slice_ns = Some(self.random.spread(1, 5_000_000));
                    assert!(kernel.dsq_move(&mut iter, task, FIFOS[0], 0, false));
                }
                1 => {
                    iter.vtime = Some(self.random.below(1 << 40));
                    assert!(kernel.dsq_move(&mut iter, task, BY_VTIME[1], 0, true));
                }
                2 => {
                    let cpu = self.allowed(kernel, task);
                    kernel.dsq_move(&mut iter, task, SCX_DSQ_LOCAL_ON | cpu, 0, false);
                }
                _ => {}
            }
        }
    }
}
