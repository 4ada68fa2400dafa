//! A thread's scheduling attributes change while it lives: by its phases, and by what is lent to
//! it. As in the kernel it leaves its queue, changes, and joins it again. What is lent never
//! changes what the thread itself has: when the loan ends, that is in force again
//! (docs/guide/rt-app.md, "Attributes").
//!
//! What must stay: off the queue, change, on the queue again, in this order, so that sums of
//! weights and signals leave and come with the task. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `a_policy_holds_from_its_phase_on`,
//! `a_group_holds_from_its_phase_on`, `hints_hold_from_their_phase_on`. By function:
//! `a_policy_holds_from_its_phase_on` (`change_attributes`, `change_policy`, `take_off`,
//! `take_off_fair`, `take_off_class`, `put_on`, `join_changed`, `schedule_changed`),
//! `a_group_holds_from_its_phase_on` (`change_group`), `hints_hold_from_their_phase_on` (`hint`),
//! `an_idle_task_has_a_small_share` (`weigh_anew`),
//! sync.rs::`a_holder_is_lent_the_priority_of_its_waiter` (`borrow_class`, `change_loan`),
//! storm.rs::`random_steps_obey_the_rules` (`set_affinity`, `drop_delayed`). `prio` and `tell_prio`
//! by crates/trace/tests/all/traces.rs::`priorities_follow_the_phases`.
//!
//! Callers: interface.rs (`change_attributes`, `borrow_class`, `schedule_changed`).
//!
//! Tests: crates/engine/tests/behaviour/changes.rs,
//! crates/engine/tests/behaviour/sync.rs::a_holder_is_lent_the_priority_of_its_waiter

use super::Model;
use super::class_state::ClassState;
use super::home::Home;
use crate::ids::{CpuId, TaskId};
use crate::mechanics::Mechanics;
use crate::observe::{Happening, MigrateCause, Observer};
use wakeplace_kernel_queues::task_weight;
use wakeplace_policy_sys::ClassMove;
use wakeplace_workload::{Change, FairPolicy, PolicyChange, RealTime};

/// Where a thread was when it left its queue for a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It ran.
    Running,
    /// It waited for its CPU.
    Queued,
    /// It sleeps, or is on its way to a CPU.
    Away,
}

/// A thread that has left its queue.
#[derive(Debug)]
struct Off {
    place: Place,
    was_fair: bool,
}

impl Model<'_> {
    /// CPUs that the running task may use; None: all. Returns true if it is off the CPU now: the
    /// caller schedules.
    pub(super) fn set_affinity<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        cpus: Option<&[u32]>,
    ) -> bool {
        self.tasks[task].set_allowed(cpus, self.machine.nr_cpus);
        self.allow_ext(m, task);
        let here = self.cpu_of(task);
        if self.tasks[task].may_use(here.0) {
            return false;
        }
        let to = CpuId(self.core.first_allowed(&self.tasks[task], cpu.0));
        self.move_task(m, task, to, MigrateCause::Affinity);
        self.wakeup_preempt(m, task, to, cpu);
        true
    }

    /// What a phase changes of the running task. Returns true if the task is off the CPU now: the
    /// caller schedules.
    pub(super) fn change_attributes<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        change: &Change,
    ) -> bool {
        let before = self.prio(task);
        if let Some(nice) = change.nice {
            self.set_nice(m, cpu, task, nice);
            self.wait_for_line(m, cpu, cpu, task);
        }
        if let Some(slice_ns) = change.slice_ns {
            let own = (slice_ns > 0).then_some(slice_ns);
            self.home.set_own_slice(task, cpu, own);
        }
        if change.uclamp_min.is_some() || change.uclamp_max.is_some() {
            let [min, max] = self.own[task].uclamp;
            let hints = [change.uclamp_min.or(min), change.uclamp_max.or(max)];
            self.own[task].uclamp = hints;
            self.hint(task);
        }
        let moved = change
            .group
            .is_some_and(|group| self.change_group(m, task, group, cpu));
        let policy = change.policy;
        let turned = policy.is_some_and(|to| self.change_policy(m, task, to, cpu));
        self.tell_prio(m, task, before);
        moved || turned
    }

    /// The task's priority as the kernel numbers it.
    fn prio(&self, task: TaskId) -> i32 {
        match self.classes.class_of(task).map(|state| &state.task) {
            None => 120 + i32::from(self.own[task].nice),
            Some(class) if class.is_deadline() => -1,
            Some(class) => 99 - class.raw().priority as i32, // 1..=99
        }
    }

    /// Observers hear of a priority only if it differs from `before`, in the kernel's numbers
    /// (0..139; deadline -1).
    fn tell_prio<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId, before: i32) {
        let now = self.prio(task);
        if now != before && m.visible(task) {
            let task = m.shown(task);
            m.tell(Happening::Priority { task, prio: now });
        }
    }

    /// The hints of a task: its own, else what the kernel gives its class, within the bounds of its
    /// group.
    pub(super) fn hint(&mut self, task: TaskId) {
        let thread = &self.own[task];
        let [min, max] = thread.uclamp;
        let rt = !matches!(thread.realtime, None | Some(RealTime::Deadline { .. }));
        let least = if rt { 1024 } else { 0 };
        let own = [min.map_or(least, u32::from), max.map_or(1024, u32::from)];
        let group = thread.group.map(|group| group as usize);
        let [min, max] = self.core.restrict_uclamp(group, own);
        let raw = self.tasks[task].raw();
        if (raw.uclamp_min, raw.uclamp_max) != (min, max) {
            self.core.task_set_uclamp(&mut self.tasks[task], min, max);
        }
    }

    /// The task moves to another group; false: it is there already.
    fn change_group<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        group: Option<u32>,
        by: CpuId,
    ) -> bool {
        if self.own[task].group == group {
            return false;
        }
        if self.classes.is_class(task) {
            self.own[task].group = group; // counts when it is fair again
            self.hint(task);
            return false;
        }
        let off = self.take_off(m, task, true, by);
        self.own[task].group = group;
        self.hint(task);
        self.put_on(m, task, &off, by);
        off.place == Place::Running
    }

    /// The task gets another policy; false: it has that one already.
    fn change_policy<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        to: PolicyChange,
        by: CpuId,
    ) -> bool {
        let thread = &self.own[task];
        let (policy, realtime) = match to {
            PolicyChange::Fair(policy) => (policy, None),
            PolicyChange::RealTime(kind) => (thread.policy, Some(kind)),
        };
        if (policy, realtime) == (thread.policy, thread.realtime) {
            return false;
        }
        let off = self.take_off(m, task, realtime.is_some(), by);
        let thread = &mut self.own[task];
        (thread.policy, thread.realtime) = (policy, realtime);
        self.hint(task);
        if self.classes.has_classes() {
            let own = realtime.map(|kind| self.classes.new_class(kind));
            self.classes.set_own_class(task, own);
        }
        self.put_on(m, task, &off, by);
        off.place == Place::Running
    }

    /// `holder` runs in the class of `donor` if that is above its own. Returns true if something
    /// changed.
    pub(super) fn borrow_class<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        holder: TaskId,
        donor: Option<TaskId>,
        by: CpuId,
    ) -> bool {
        let own = self.classes.own_level(holder);
        let lender = donor.filter(|donor| self.classes.level(*donor) > own);
        let level = lender.map_or(own, |donor| self.classes.level(donor));
        if level == self.classes.level(holder) {
            return false;
        }
        let donated = lender.and_then(|donor| self.classes.class_of(donor).map(ClassState::lend));
        self.change_loan(m, holder, donated, by);
        true
    }

    /// A holder of mutexes is lent another class, or (None) has only its own again.
    fn change_loan<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        holder: TaskId,
        lent: Option<ClassState>,
        by: CpuId,
    ) {
        let (before, prio) = (self.classes.level(holder), self.prio(holder));
        let off = self.take_off(m, holder, lent.is_some(), by);
        self.classes.set_loan(holder, lent);
        self.put_on(m, holder, &off, by);
        self.tell_prio(m, holder, prio);
        let cpu = self.cpu_of(holder);
        match off.place {
            Place::Away => {}
            Place::Queued => {
                self.try_preempt(m, holder, cpu, by);
            }
            Place::Running if cpu == by => {} // whoever released the mutex schedules
            Place::Running => {
                let rises = self.classes.level(holder) > before;
                if !rises || !self.goes_on_in_class(m, holder, cpu) {
                    self.schedule_changed(m, cpu, holder);
                }
            }
        }
    }

    /// The task has just left the CPU for a change, and the CPU looks whom it runs now.
    pub(super) fn schedule_changed<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
    ) {
        self.cpus[cpu].changed = Some(task);
        self.schedule_cpu(m, cpu);
        self.cpus[cpu].changed = None;
    }

    /// `by` takes a thread off its queue, whatever that is, and waits for the line of the group
    /// that it is still in. `parts`: it leaves the fair class or its group, and what it has
    /// contributed to their load goes with it.
    fn take_off<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        parts: bool,
        by: CpuId,
    ) -> Off {
        let cpu = self.cpu_of(task);
        let fair = !self.classes.is_class(task);
        let place = match (m.thread(task).is_runnable(), fair) {
            (true, true) => self.take_off_fair(m, task, cpu, parts),
            (true, false) => self.take_off_class(m, task, cpu),
            (false, _) => Place::Away,
        };
        if place == Place::Away && fair {
            self.drop_delayed(m, task, cpu);
            self.home.detach_task(task, cpu);
            if parts {
                self.core
                    .migrate_sleeping(&mut self.tasks[task], cpu.0, m.now());
            }
        }
        self.wait_for_line(m, cpu, by, task);
        Off {
            place,
            was_fair: fair,
        }
    }

    /// Takes a fair task off its queue and says where it was, for `put_on`.
    fn take_off_fair<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        parts: bool,
    ) -> Place {
        self.fetch_from_limbo(m, task);
        m.account(self, cpu);
        let running = m.current(cpu) == Some(task);
        let left = self.core.dequeue_move(&mut self.tasks[task], m.now());
        if running {
            self.end_stretch(m, cpu, false);
        }
        self.remove(m, task, cpu, !running);
        self.home.detach_task(task, cpu);
        self.count_running(cpu);
        self.after_core(m, cpu, left);
        if parts {
            let record = &mut self.tasks[task];
            let parted = self.core.migrate_queued(record, cpu.0, m.now());
            self.after_core(m, cpu, parted);
        }
        if running {
            Place::Running
        } else {
            Place::Queued
        }
    }

    /// Takes an RT or deadline task off its queue and says where it was, for `put_on`.
    fn take_off_class<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) -> Place {
        m.account(self, cpu);
        let running = m.current(cpu) == Some(task);
        if self.classes.is_throttled(task) {
            self.forget_throttled(m, task, cpu);
            return Place::Queued;
        }
        let left = self.class_exit(m, task, cpu, ClassMove::Move);
        if running {
            self.end_stretch(m, cpu, false);
        }
        self.class_facts(cpu);
        self.after_core(m, cpu, left);
        if running {
            Place::Running
        } else {
            Place::Queued
        }
    }

    /// `by` puts it onto the queue of its class on its CPU, and waits for the line of the group
    /// that it is in now.
    fn put_on<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        off: &Off,
        by: CpuId,
    ) {
        self.join_changed(m, task, off);
        self.wait_for_line(m, self.cpu_of(task), by, task);
    }

    /// It joins the queue of its class, or will when it wakes.
    fn join_changed<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId, off: &Off) {
        let cpu = self.cpu_of(task);
        let fair = !self.classes.is_class(task);
        let thread = &self.own[task];
        let group = thread.group.filter(|_| fair).map(|group| group as usize);
        self.tasks[task].set_group(group);
        self.tasks[task].raw_mut().group_idle = u32::from(self.is_idle_group(group));
        self.home.set_task_group(task, group);
        if fair {
            self.weigh_anew(m, task); // a scheduler that gets the task is told this weight
        }
        self.change_ext(m, task);
        if fair {
            let new = !off.was_fair && off.place != Place::Away;
            let (home, services) = self.ask_home(m.now());
            home.attach_task(services, task, cpu, new);
        }
        if off.place == Place::Away {
            self.classes.forget_refill(task); // it is found out anew when it wakes
            return;
        }
        if !fair {
            return self.class_join_changed(m, task, cpu);
        }
        let joined = self
            .core
            .enqueue_moved(&mut self.tasks[task], cpu.0, m.now());
        self.insert(m, task, cpu, false);
        self.count_running(cpu);
        self.after_core(m, cpu, joined);
        self.throttle_joined(m, task, cpu);
        self.carry_ext_moves(m);
        self.pay_ext(m);
    }

    /// Weight and policy in the fair class as its nice value and policy say now. Off the queue.
    fn weigh_anew<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId) {
        let thread = &mut self.own[task];
        let (nice, policy) = (thread.nice, thread.policy);
        let weight = task_weight(nice, policy);
        self.home.set_load_weight(task, nice, policy);
        let record = &mut self.tasks[task];
        record.raw_mut().idle_policy = u32::from(policy == FairPolicy::Idle);
        if record.weight() != weight {
            self.core.task_set_weight(record, weight, m.now());
        }
    }

    /// A sleeper that its queue still keeps leaves it.
    fn drop_delayed<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId, cpu: CpuId) {
        let (home, services) = self.ask_home(m.now());
        if home.drop_delayed(services, task, cpu) {
            self.let_sleeper_go(m, task, cpu);
        }
    }
}
