//! The kernel that callbacks get: kfuncs without `scx_bpf_` (docs/rules/sched-ext.md#kfuncs).
//! Called by crates/foreign/src/kfuncs for programs. What must stay: errno, results, texts, which
//! callback may call what: the kernel's. Free: how a call is handed on. Tests by part: the head of
//! crates/sched-ext/src/kernel.rs (a method without a comment is there);
//! idle.rs::`claims_and_masks`: `near`, `pick`, `select`; again.rs::`the_chosen_task_runs`:
//! `reenqueued`, `reenqueue_all`; refusals: engine's sched_ext/errors.rs; none: `idles`.
//!
//! Tests: crates/sched-ext/tests/all/kernel.rs, crates/sched-ext/tests/all/idle.rs

use super::dsq::DsqRef;
use super::record::Step;
use super::{Due, Effect, Scx};
use crate::consts::{
    EBUSY, EEXIST, EINVAL, ENOENT, SCX_DSQ_FLAG_BUILTIN, SCX_DSQ_ITER_REV, SCX_DSQ_LOCAL,
    SCX_DSQ_LOCAL_CPU_MASK, SCX_DSQ_LOCAL_ON, SCX_KICK_IDLE, SCX_KICK_PREEMPT, SCX_KICK_WAIT,
    SCX_OPS_TID_TO_TASK, SCX_PICK_IDLE_IN_NODE, SCX_REENQ_ANY, SCX_TASK_REENQ_KFUNC,
};
use crate::{
    Callback, CgroupId, CpuFacts, DsqIter, Events, Exit, ExitKind, Kernel, RqClock, TaskFacts,
    TaskId, TimerId,
};

/// `SCX_CPUPERF_ONE`.
const CPUPERF_ONE: u32 = 1024;

impl Scx {
    /// All tasks of a queue are enqueued again, after the callback that is under way. Not the one
    /// that its CPU has just chosen: a kernel looks at the queue when that has left it.
    pub(super) fn reenqueue_all(&mut self, queue: DsqRef) -> u32 {
        let cpu = self.dsqs.cpu_of(queue);
        let picked = cpu.and_then(|cpu| self.cpus[cpu as usize].picked);
        let tasks = self.dsqs.get(queue).tasks();
        let waiting: Vec<_> = tasks.filter(|task| Some(*task) != picked).collect();
        for task in &waiting {
            self.unlink(*task);
            let (task, reason) = (*task, SCX_TASK_REENQ_KFUNC);
            self.due.push_back(Due::Reenqueue { task, reason });
        }
        waiting.len() as u32
    }

    /// A queue whose tasks can be enqueued again: a CPU's, or one of the scheduler's.
    pub(super) fn reenqueued(&mut self, dsq: u64) -> Option<DsqRef> {
        if dsq & SCX_DSQ_LOCAL_ON == SCX_DSQ_LOCAL_ON {
            let cpu = (dsq & SCX_DSQ_LOCAL_CPU_MASK) as u32;
            let cpu = self.valid_cpu(cpu.cast_signed(), "")?;
            return Some(self.dsqs.local(cpu));
        }
        if dsq & SCX_DSQ_FLAG_BUILTIN != 0 {
            self.error(format!("DSQ {dsq:#x} not allowed for reenq"));
            return None;
        }
        let found = self.dsqs.user(dsq);
        if found.is_none() {
            self.error(format!("non-existent DSQ {dsq:#x}"));
        }
        found
    }

    /// A CPU of the node to look in first; Err: there is no such node.
    fn near(&mut self, node: Option<i32>) -> Result<u32, i32> {
        let Some(node) = node else {
            return Ok(self.this_cpu);
        };
        if !self.idle.is_per_node() {
            self.error("per-node idle tracking is disabled".to_owned());
            return Err(-EINVAL);
        }
        let of = |facts: &CpuFacts| facts.node.cast_signed() == node;
        match self.cpu_facts.iter().position(of) {
            Some(cpu) => Ok(cpu as u32),
            None => {
                self.error(format!("invalid node {node}"));
                Err(-EINVAL)
            }
        }
    }

    /// scx_bpf_pick_idle_cpu() and its kind; an error is a negative number.
    fn pick(&mut self, mask: &[u64], node: Option<i32>, flags: u64, any: bool) -> i32 {
        self.kfunc();
        if !any && !self.tracks_idle() {
            return -EBUSY;
        }
        let near = match self.near(node) {
            Ok(near) => near,
            Err(error) => return error,
        };
        let by = self.this_cpu;
        let mut cpu = match self.idle.enabled {
            true => self.idle.pick(by, mask, near, flags),
            false => -EBUSY,
        };
        if any && cpu < 0 && flags & SCX_PICK_IDLE_IN_NODE == 0 {
            cpu = self.idle.any(by, mask).map_or(-EBUSY, u32::cast_signed);
        }
        self.note(Step::Picked { cpu });
        cpu
    }

    /// `select_cpu_from_kfunc`.
    fn select(
        &mut self,
        task: TaskId,
        prev_cpu: i32,
        wake_flags: u64,
        within: Option<&[u64]>,
        flags: u64,
    ) -> i32 {
        self.kfunc();
        let Some(prev) = self.valid_cpu(prev_cpu, "") else {
            return -EINVAL;
        };
        if !self.tracks_idle() {
            return -EBUSY;
        }
        let entity = &self.tasks[task.index()];
        let fixed = entity.facts.nr_cpus_allowed == 1 || entity.facts.migration_disabled;
        let cpu = if fixed {
            let mask = within.unwrap_or(&entity.cpus);
            let allowed = crate::test_cpu(mask, prev);
            match allowed && self.idle.test_and_clear(prev) {
                true => prev_cpu,
                false => -EBUSY,
            }
        } else {
            self.select_dfl(task, prev_cpu, wake_flags, within, flags)
        };
        self.note(Step::Picked { cpu });
        cpu
    }

    /// `can_skip_idle_kick`.
    fn idles(&self, cpu: u32) -> bool {
        let c = &self.cpus[cpu as usize];
        c.curr.is_none() || c.in_balance
    }
}

impl Kernel for Scx {
    fn charge(&mut self, kfuncs: u64) {
        self.charge_kfuncs(kfuncs);
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn events(&self) -> Events {
        self.events
    }

    fn this_cpu(&self) -> u32 {
        self.this_cpu
    }

    fn locked_cpu(&self) -> Option<u32> {
        use Callback::{
            CgroupMove, CpuAcquire, CpuRelease, Dequeue, Disable, Dispatch, Enable, Enqueue,
            ExitTask, Quiescent, Runnable, Running, SetCpumask, SetWeight, Stopping, Tick,
            UpdateIdle, Yield,
        };
        match self.callback? {
            Dispatch | UpdateIdle | CpuAcquire | CpuRelease => Some(self.about_cpu),
            Enqueue | Dequeue | Tick | Runnable | Running | Stopping | Quiescent | Yield
            | SetWeight | SetCpumask | Enable | Disable | ExitTask | CgroupMove => {
                let task = self.about?;
                Some(self.tasks[task.index()].facts.cpu)
            }
            _ => None,
        }
    }

    fn current(&self) -> Option<TaskId> {
        self.cpus[self.this_cpu as usize].rq_curr()
    }

    fn in_interrupt(&self) -> bool {
        self.in_interrupt
    }

    fn create_dsq(&mut self, dsq: u64, node: i32) -> i32 {
        self.kfunc();
        let nodes = -1..self.nr_nodes.cast_signed();
        if dsq & SCX_DSQ_FLAG_BUILTIN != 0 || !nodes.contains(&node) {
            return -EINVAL;
        }
        if self.dsqs.create(dsq) { 0 } else { -EEXIST }
    }

    fn destroy_dsq(&mut self, dsq: u64) {
        self.kfunc();
        let Some(found) = self.dsqs.user(dsq) else {
            return;
        };
        if self.dsqs.get(found).len() > 0 {
            let nr = self.dsqs.get(found).len();
            let text = format!("attempting to destroy in-use dsq {dsq:#018x} (nr={nr})");
            return self.error(text);
        }
        self.dsqs.destroy(dsq);
    }

    fn dsq_insert(&mut self, task: TaskId, dsq: u64, slice_ns: u64, enq_flags: u64) -> bool {
        self.kfunc();
        self.insert(task, dsq, slice_ns, None, enq_flags)
    }

    fn dsq_insert_vtime(
        &mut self,
        task: TaskId,
        dsq: u64,
        slice_ns: u64,
        vtime: u64,
        enq_flags: u64,
    ) -> bool {
        self.kfunc();
        self.insert(task, dsq, slice_ns, Some(vtime), enq_flags)
    }

    fn dsq_move_to_local(&mut self, dsq: u64, enq_flags: u64) -> bool {
        self.kfunc();
        if !self.allowed("scx_bpf_dsq_move_to_local", &[Callback::Dispatch]) {
            return false;
        }
        let Some(enq_flags) = self.vet_enq_flags(SCX_DSQ_LOCAL, enq_flags) else {
            return false;
        };
        let cpu = self.this_cpu;
        self.flush(cpu);
        let Some(found) = self.dsqs.user(dsq) else {
            self.error(format!("invalid DSQ ID {dsq:#018x}"));
            return false;
        };
        let moved = self.consume(cpu, found, enq_flags);
        self.nr_dispatched += u32::from(moved);
        moved
    }

    fn dsq_nr_queued(&self, dsq: u64) -> i32 {
        let found = if dsq == SCX_DSQ_LOCAL {
            Some(self.dsqs.local(self.this_cpu))
        } else if dsq & SCX_DSQ_LOCAL_ON == SCX_DSQ_LOCAL_ON {
            let cpu = (dsq & SCX_DSQ_LOCAL_CPU_MASK) as u32;
            (cpu < self.nr_cpus()).then(|| self.dsqs.local(cpu))
        } else {
            self.dsqs.user(dsq)
        };
        found.map_or(-ENOENT, |found| self.dsqs.get(found).len() as i32)
    }

    fn dsq_peek(&mut self, dsq: u64) -> Option<TaskId> {
        self.kfunc();
        if dsq & SCX_DSQ_FLAG_BUILTIN != 0 {
            self.error(format!("peek disallowed on builtin DSQ {dsq:#x}"));
            return None;
        }
        let Some(found) = self.dsqs.user(dsq) else {
            self.error(format!("peek on non-existent DSQ {dsq:#x}"));
            return None;
        };
        self.dsqs.get(found).first()
    }

    fn dsq_iter_new(&mut self, dsq: u64, flags: u64) -> Result<DsqIter, i32> {
        self.kfunc();
        if flags & !SCX_DSQ_ITER_REV != 0 {
            return Err(-EINVAL);
        }
        let found = self.dsqs.user(dsq).ok_or(-ENOENT)?;
        Ok(self.dsqs.get(found).iter(flags & SCX_DSQ_ITER_REV != 0))
    }

    fn dsq_iter_next(&mut self, iter: &mut DsqIter) -> Option<TaskId> {
        self.kfunc();
        let found = self.dsqs.user(iter.dsq)?;
        self.dsqs.get(found).advance(iter)
    }

    fn dsq_move(
        &mut self,
        iter: &mut DsqIter,
        task: TaskId,
        dsq: u64,
        enq_flags: u64,
        vtime: bool,
    ) -> bool {
        self.kfunc();
        let Some(enq_flags) = self.vet_enq_flags(dsq, enq_flags) else {
            return false;
        };
        let (slice_ns, time) = (iter.slice_ns.take(), iter.vtime.take());
        let from = self.dsqs.user(iter.dsq);
        let place = self.tasks[task.index()].dsq;
        let Some((at, key)) = place.filter(|(at, _)| Some(*at) == from) else {
            return false; // somebody else got to it
        };
        if !self.dsqs.get(at).was_there(iter, key) {
            return false;
        }
        let to = self.find_dsq(dsq, self.this_cpu, task);
        // Its place was by its old time.
        self.unlink(task);
        let facts = &mut self.tasks[task.index()].facts;
        facts.dsq_vtime = time.unwrap_or(facts.dsq_vtime);
        facts.slice_ns = slice_ns.unwrap_or(facts.slice_ns);
        let by_vtime = if vtime { super::insert::ENQ_PRIQ } else { 0 };
        self.move_between(task, at, to, enq_flags | by_vtime);
        true
    }

    fn reenqueue_local(&mut self) -> u32 {
        self.kfunc();
        if !self.allowed("scx_bpf_reenqueue_local", &[Callback::CpuRelease]) {
            return 0;
        }
        self.reenqueue_all(self.dsqs.local(self.this_cpu))
    }

    fn dsq_reenq(&mut self, dsq: u64, reenq_flags: u64) {
        self.kfunc();
        if reenq_flags & !SCX_REENQ_ANY != 0 {
            self.error(format!("invalid SCX_REENQ flags {reenq_flags:#x}"));
            return;
        }
        // The local queue is that of the CPU that asks, whenever it is done.
        let dsq = match dsq {
            SCX_DSQ_LOCAL => SCX_DSQ_LOCAL_ON | u64::from(self.this_cpu),
            dsq => dsq,
        };
        let Some(queue) = self.reenqueued(dsq) else {
            return;
        };
        let due = &mut self.dsqs.get_mut(queue).again_due;
        if !std::mem::replace(due, true) {
            self.due.push_back(Due::ReenqueueAll { dsq });
        }
    }

    fn dispatch_nr_slots(&mut self) -> u32 {
        self.kfunc();
        match self.allowed("scx_bpf_dispatch_nr_slots", &[Callback::Dispatch]) {
            true => self.info.dispatch_max_batch - self.buffer.len() as u32,
            false => 0,
        }
    }

    fn dispatch_cancel(&mut self) {
        self.kfunc();
        let allowed = self.allowed("scx_bpf_dispatch_cancel", &[Callback::Dispatch]);
        if allowed && self.buffer.pop().is_none() {
            self.error("dispatch buffer underflow".to_owned());
        }
    }

    fn kick_cpu(&mut self, cpu: i32, flags: u64) {
        self.kfunc();
        let Some(number) = self.valid_cpu(cpu, "") else {
            return;
        };
        self.note(Step::Kicked { cpu, flags });
        if flags & SCX_KICK_IDLE != 0 {
            if flags & (SCX_KICK_PREEMPT | SCX_KICK_WAIT) != 0 {
                self.error("PREEMPT/WAIT cannot be used with SCX_KICK_IDLE".to_owned());
            }
            if !self.idles(number) {
                return;
            }
        }
        let by = self.this_cpu;
        // Others mean nothing.
        let flags = flags & (SCX_KICK_IDLE | SCX_KICK_PREEMPT | SCX_KICK_WAIT);
        if self.kicks.insert((number, by, flags)) {
            self.effects.push(Effect::Kick {
                cpu: number,
                by,
                flags,
            });
        }
    }

    fn test_and_clear_cpu_idle(&mut self, cpu: i32) -> bool {
        self.kfunc();
        if !self.tracks_idle() {
            return false;
        }
        let Some(number) = self.valid_cpu(cpu, "") else {
            return false;
        };
        let was = self.idle.test_and_clear(number);
        let cpu = if was { cpu } else { -EBUSY };
        self.note(Step::Picked { cpu });
        was
    }

    fn pick_idle_cpu(&mut self, mask: &[u64], node: Option<i32>, flags: u64) -> i32 {
        self.pick(mask, node, flags, false)
    }

    fn pick_any_cpu(&mut self, mask: &[u64], node: Option<i32>, flags: u64) -> i32 {
        self.pick(mask, node, flags, true)
    }

    fn tracks_idle(&mut self) -> bool {
        if !self.idle.enabled {
            self.error("built-in idle tracking is disabled".to_owned());
        }
        self.idle.enabled
    }

    fn idle_cpumask(&self, node: Option<i32>) -> &[u64] {
        self.idle.cpumask(node)
    }

    fn idle_smtmask(&self, node: Option<i32>) -> &[u64] {
        self.idle.smtmask(node)
    }

    fn select_cpu_dfl(&mut self, task: TaskId, prev_cpu: i32, wake_flags: u64) -> (i32, bool) {
        match self.select(task, prev_cpu, wake_flags, None, 0) {
            cpu if cpu >= 0 => (cpu, true),
            _ => (prev_cpu, false),
        }
    }

    fn select_cpu_and(
        &mut self,
        task: TaskId,
        prev_cpu: i32,
        wake_flags: u64,
        mask: &[u64],
        flags: u64,
    ) -> i32 {
        self.select(task, prev_cpu, wake_flags, Some(mask), flags)
    }

    fn nr_cpu_ids(&self) -> u32 {
        self.nr_cpus()
    }

    fn nr_node_ids(&self) -> u32 {
        self.nr_nodes
    }

    fn cpu(&self, cpu: u32) -> &CpuFacts {
        &self.cpu_facts[cpu as usize]
    }

    fn online_cpumask(&self) -> &[u64] {
        &self.idle.online
    }

    fn task_running(&self, task: TaskId) -> bool {
        let cpu = self.tasks[task.index()].facts.cpu;
        self.cpus[cpu as usize].rq_curr() == Some(task)
    }

    fn cpu_curr(&self, cpu: u32) -> Option<TaskId> {
        self.cpus[cpu as usize].rq_curr()
    }

    fn rq_clock(&self, cpu: u32) -> RqClock {
        self.cpus[cpu as usize].clock
    }

    fn cpu_nr_running(&self, cpu: u32) -> u32 {
        let c = &self.cpus[cpu as usize];
        c.nr + c.others
    }

    fn cpuperf_cap(&mut self, cpu: i32) -> u32 {
        self.kfunc();
        let number = self.valid_cpu(cpu, "");
        number.map_or(CPUPERF_ONE, |cpu| self.cpu_facts[cpu as usize].capacity)
    }

    fn cpuperf_cur(&mut self, cpu: i32) -> u32 {
        self.kfunc();
        let number = self.valid_cpu(cpu, "");
        number.map_or(CPUPERF_ONE, |cpu| self.cpus[cpu as usize].perf_cur)
    }

    fn cpuperf_set(&mut self, cpu: i32, perf: u32) {
        self.kfunc();
        if perf > CPUPERF_ONE {
            return self.error(format!("Invalid cpuperf target {perf} for CPU {cpu}"));
        }
        let Some(number) = self.valid_cpu(cpu, "") else {
            return;
        };
        if self.locked_cpu().is_some_and(|locked| locked != number) {
            return self.error(format!("Invalid target CPU {cpu}"));
        }
        self.effects.push(Effect::CpuPerf { cpu: number, perf });
    }

    fn task(&self, task: TaskId) -> &TaskFacts {
        &self.tasks[task.index()].facts
    }

    fn task_cpus(&self, task: TaskId) -> &[u64] {
        &self.tasks[task.index()].cpus
    }

    fn set_slice_ns(&mut self, task: TaskId, slice_ns: u64) {
        self.task_mut(task).facts.slice_ns = slice_ns;
    }

    fn set_dsq_vtime(&mut self, task: TaskId, vtime: u64) {
        self.task_mut(task).facts.dsq_vtime = vtime;
    }

    fn set_disallow(&mut self, task: TaskId, disallow: bool) {
        self.task_mut(task).disallow = disallow;
    }

    fn nr_tasks(&self) -> u32 {
        self.tasks.len() as u32
    }

    fn task_from_pid(&self, pid: i32) -> Option<TaskId> {
        let task = TaskId(u32::try_from(pid.checked_sub(FIRST_PID)?).ok()?);
        let entity = self.tasks.get(task.index())?;
        (entity.state != super::task::TaskState::None).then_some(task)
    }

    fn task_from_tid(&mut self, tid: i32) -> Option<TaskId> {
        self.kfunc();
        if self.info.flags & SCX_OPS_TID_TO_TASK == 0 {
            self.error("scx_bpf_tid_to_task() called without SCX_OPS_TID_TO_TASK".to_owned());
            return None;
        }
        self.task_from_pid(tid)
    }

    fn nr_cgroups(&self) -> u32 {
        1 + self.cgroup_weights.len() as u32
    }

    fn cgroup_weight(&self, cgroup: CgroupId) -> u32 {
        let below = (cgroup.0 as usize).checked_sub(1);
        let weight = below.and_then(|at| self.cgroup_weights.get(at));
        weight.copied().unwrap_or(100)
    }

    fn cgroup_parent(&self, cgroup: CgroupId) -> Option<CgroupId> {
        (cgroup != CgroupId(0)).then_some(CgroupId(0))
    }

    fn timer_start(&mut self, timer: TimerId, at_ns: u64, pinned: bool) {
        let at_ns = at_ns.max(self.now_ns + 1);
        self.timers.insert(timer.0, at_ns);
        self.nr_timer_events += 1;
        let cpu = self.this_cpu;
        self.effects.push(Effect::Timer {
            timer,
            at_ns,
            cpu,
            pinned,
        });
    }

    fn timer_cancel(&mut self, timer: TimerId) -> bool {
        self.timers.remove(&timer.0).is_some()
    }

    fn nr_timer_events(&self) -> u32 {
        self.nr_timer_events
    }

    fn loader_at(&mut self, at_ns: u64) {
        let at_ns = at_ns.max(self.now_ns + 1);
        self.effects.push(Effect::Loader { at_ns });
    }

    fn loader_on(&mut self, cpu: u32) {
        self.this_cpu = cpu.min(self.nr_cpus() - 1);
    }

    fn cpu_idle_ns(&self, cpu: u32) -> u64 {
        let cpu = &self.cpus[cpu as usize];
        let since = cpu.idle_since_ns.map(|since| self.now_ns - since);
        cpu.idle_ns + since.unwrap_or(0)
    }

    fn exit(&mut self, kind: ExitKind, code: i64, message: &str) {
        self.end(Exit {
            kind,
            code,
            message: message.to_owned(),
        });
    }

    fn exited(&self) -> bool {
        self.exit.is_some()
    }
}

/// The pid of the first task.
pub(super) const FIRST_PID: i32 = 1000;
