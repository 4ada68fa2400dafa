//! New tasks: the first one, and those that others make. Where it goes is the core's answer
//! (docs/rules/wake-ups.md#slow-path); its first signals are docs/rules/signals.md#new-task.
//!
//! What must stay: the record is complete before the core is asked, and the child has its place
//! before it is queued. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part: creation.rs::`the_parent_is_placed` (first task),
//! forking.rs::`threads_have_the_flips_of_their_maker` (record),
//! forking.rs::`exec_moves_the_running_task` (exec). By function: `the_parent_is_placed`
//! (`start_first`), `threads_are_made_named_and_counted` (`make_task`, `place_fork`),
//! `exec_moves_the_running_task` (`place_exec`).
//!
//! Callers: interface.rs (`start_first`, `make_task`, `place_fork`, `place_exec`).
//!
//! Tests: crates/engine/tests/behaviour/forking.rs, crates/engine/tests/behaviour/creation.rs

use super::Model;
use super::class_state::ClassState;
use super::home::Home;
use super::task::{TaskState, core_task};
use crate::ids::{CpuId, TaskId};
use crate::mechanics::Mechanics;
use crate::observe::{MigrateCause, Observer, PlacementKind};
use wakeplace_policy_sys::{PlaceKind, Request, Waker};

impl Model<'_> {
    /// The first task begins to run.
    pub(super) fn start_first<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        first: TaskId,
        cpu: CpuId,
    ) {
        for task in (0..=m.threads().shell().0).map(TaskId) {
            self.core.task_init(&mut self.tasks[task]);
        }
        for task in (0..m.threads().parent().0).map(TaskId) {
            self.hint(task);
        }
        let cpu = self.start_cpu(m, first, cpu);
        self.core.task_new(&mut self.tasks[first], cpu.0, m.now());
        self.start_ext(first);
        self.activate_task(m, first, cpu, true);
        self.kick(m, cpu, cpu);
    }

    /// A new task as it is before it is forked.
    pub(super) fn make_task<O: Observer>(
        &mut self,
        m: &Mechanics<'_, O>,
        child: TaskId,
        script: u32,
        cpu: CpuId,
    ) {
        let template = &self.own[TaskId(script)];
        let task = m.threads().script(script);
        let mut state = TaskState::of_script(task);
        state.group = template.group;
        let cpus = task.cpus.as_deref();
        let mut record = core_task(&state, child.0, cpu, cpus, self.machine.nr_cpus);
        record.raw_mut().group_idle = u32::from(self.is_idle_group(record.group()));
        self.core.task_init(&mut record);
        if self.classes.has_classes() {
            let class = |kind| ClassState::new(kind, &self.classes.params);
            self.classes.states.push(state.realtime.map(class));
        }
        self.home.add_task(&state, task.slice_ns, record.group());
        if let Some(ext) = self.home.sched_ext() {
            let name = m.threads().name(child);
            let leader = Some(m.threads().parent());
            ext.add_thread(&state, &name, false, leader, &record);
        }
        self.own.0.push(state);
        self.tasks.0.push(record);
        self.hint(child);
    }

    /// The running task `parent` makes a task, which gets a CPU.
    pub(super) fn place_fork<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        child: TaskId,
        parent: TaskId,
    ) {
        let here = self.cpu_of(parent);
        let [of_child, of_parent] = (self.tasks)
            .get_disjoint_mut([child.index(), parent.index()])
            .expect("nobody forks itself");
        of_child.forked_by(of_parent);
        let ask = Request {
            now_ns: m.now(),
            kind: PlaceKind::Fork,
            this_cpu: here.0,
            prev_cpu: here.0,
            sync: false,
            waker: Waker::Task(parent.index()),
            waker_load: self.waker_load(parent),
        };
        self.fork_ext(m, child, parent);
        self.show_situation(m, child, &ask);
        let choice = self.answer(m, child, &ask);
        let cpu = CpuId(choice.cpu);
        self.task_fork(m, child, parent, here, cpu);
        if self.classes.is_class(child) {
            self.home.detach_task(child, cpu);
        }
        self.note_choice(m, child, Some(parent), &ask, choice, PlacementKind::Fork);
        self.core.thread_begins(&self.tasks[child]);
        self.core.task_new(&mut self.tasks[child], cpu.0, m.now());
        self.activate_task(m, child, cpu, true);
        self.wait_for_line(m, cpu, here, child);
        self.wakeup_preempt(m, child, cpu, here);
    }

    /// The kernel places a task that runs another program anew. It asks no class but the fair one,
    /// and no sched_ext scheduler. Returns true if the task was moved.
    pub(super) fn place_exec<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
    ) -> bool {
        if !self.home.places_on_exec() || self.classes.is_class(task) {
            return false;
        }
        m.account(self, cpu);
        let ask = Request {
            now_ns: m.now(),
            kind: PlaceKind::Exec,
            this_cpu: cpu.0,
            prev_cpu: cpu.0,
            sync: false,
            waker: Waker::Idle, // nobody wakes it
            waker_load: self.waker_load(task),
        };
        let choice = self.answer(m, task, &ask);
        self.note_choice(m, task, Some(task), &ask, choice, PlacementKind::Exec);
        if choice.cpu == cpu.0 {
            return false;
        }
        self.move_task(m, task, CpuId(choice.cpu), MigrateCause::Exec);
        self.wakeup_preempt(m, task, CpuId(choice.cpu), cpu);
        true
    }
}
