//! RT and deadline tasks: they run before fair ones, by priority and by deadline; budgets; moves.
//! Which CPU they go to is the core's (docs/rules/rt-and-deadline.md#rt-placement,
//! docs/rules/rt-and-deadline.md#rt-budgets).
//!
//! What must stay: deadline before RT, RT by priority, equals by arrival; the order of pushes and
//! pulls is part of a run. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part: `priorities_displace_fair_tasks_and_each_other` (pick),
//! `turns_among_equals` (slices), `rt_tasks_leave_50_ms_a_second` (grants),
//! `rt_tasks_go_where_tasks_matter_least` (push), `a_free_cpu_pulls_a_waiting_rt_task` (pull),
//! deadline_budgets.rs (charges). By function: `priorities_displace_fair_tasks_and_each_other`
//! (`class_preempts`, `class_schedule`, `class_start`, `class_put_back`, `class_enter`,
//! `class_exit`), `turns_among_equals` (`class_tick_preempts`, `class_keeps`),
//! `who_yields_goes_behind_its_equals` (`class_yields`), `rt_tasks_leave_50_ms_a_second`
//! (`rt_may_run`, `arm_rt_period`, `rt_period`), `a_deadline_task_has_its_bandwidth`
//! (`class_charge`, `throttle_if_empty`, `throttle_until_filled`, `replenish`),
//! deadline_budgets.rs::`a_budget_follows_the_clock` (`charge_budget`),
//! `rt_tasks_go_where_tasks_matter_least` (`select_class`, `class_facts`, `class_push`),
//! `a_free_cpu_pulls_a_waiting_rt_task` (`class_pull`, `class_move`, `class_carry`),
//! hotplug.rs::`random_schedules_lose_nothing_1` (`class_tasks`, `nr_class`). `nr_running` is read
//! by all of these.
//!
//! Callers: run.rs (`class_sleep`, `class_charge`, `charge_budget`, `class_put_back`,
//! `class_start`, `class_schedule`), class_change.rs (`class_enter`, `throttle_until_filled`,
//! `arm_rt_period`), queues.rs (`class_preempts`, `class_tick_preempts`, `class_yields`), wake.rs
//! (`class_join_woken`, `class_push`, `place_kind`), change.rs (`class_facts`, `class_exit`),
//! hotplug.rs (`class_move`, `class_tasks`).
//!
//! Tests: crates/engine/tests/behaviour/classes.rs,
//! crates/engine/tests/behaviour/deadline_budgets.rs

use super::Model;
use super::cpu::Message;
use super::event::Event;
use super::home::Home;
use crate::ids::{CpuId, TaskId};
use crate::mechanics::Mechanics;
use crate::mechanics::State;
use crate::observe::{MigrateCause, Observer};
use wakeplace_kernel_queues::{RT_MOST, is_rt};
use wakeplace_policy_sys::{Choice, ClassMove, EventResult, PlaceKind, Request};

impl Model<'_> {
    /// May RT tasks run on `cpu` now?
    fn rt_may_run(&self, cpu: CpuId) -> bool {
        let c = &self.cpus[cpu];
        !c.classes.rt_throttled || self.classes.params.server && self.home.nr_running(cpu) == 0
    }

    /// Tasks that a CPU has and that may run, of all classes.
    pub(super) fn nr_running(&self, cpu: CpuId) -> usize {
        let c = &self.cpus[cpu];
        let mut nr = self.home.nr_queued(cpu);
        if c.classes.nr() > 0 {
            let rt = self.rt_may_run(cpu);
            let ready = c.classes.waiting().filter(|(l, _)| rt || !is_rt(*l));
            nr += ready.count() + usize::from(c.classes.running.is_some());
        }
        nr
    }

    /// Tells the core what this CPU's first task of these classes is.
    pub(super) fn class_facts(&mut self, cpu: CpuId) {
        let queue = &self.cpus[cpu].classes;
        let running = queue.running.map(|task| (self.classes.level(task), task));
        let first = queue.waiting().next().max(running);
        let pinned = running.is_some_and(|(_, t)| self.tasks[t].raw().nr_allowed == 1);
        // Where RT tasks have to wait none more should go.
        let least = if self.rt_may_run(cpu) { 0 } else { RT_MOST };
        let facts = &mut self.core.cpu_mut(cpu.0).queue.classes;
        facts.level = first.map_or(0, |(level, _)| level).max(least);
        facts.curr_pinned = u32::from(pinned);
        self.count_ext_others(cpu);
        self.count_running(cpu);
    }

    /// Where a task above the fair class goes; None for others.
    pub(super) fn select_class(&mut self, task: TaskId, ask: &Request) -> Option<Choice> {
        let state = self.classes.states.get(task.index())?.as_ref()?;
        Some(self.core.select_class(&self.tasks[task], &state.task, ask))
    }

    /// It joins the queue of `cpu`, woken or new.
    pub(super) fn class_join_woken<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) {
        m.account(self, cpu);
        let io = m.takes_io_wait(task);
        m.set_state(task, State::Runnable);
        self.arm_rt_period(m);
        if !self.classes.begin_job(task, m.now()) {
            return self.throttle_until_filled(m, task);
        }
        let why = if io { ClassMove::Io } else { ClassMove::Sleep };
        self.class_enter(m, task, cpu, why);
        self.core.woken(cpu.0, m.now());
    }

    /// On `cpu` it becomes one of those that may run.
    pub(super) fn class_enter<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        why: ClassMove,
    ) {
        let state = self.classes.states[task.index()].as_mut();
        let state = state.expect("asked of RT and deadline tasks only");
        let record = &mut self.tasks[task];
        record.raw_mut().cpu = cpu.0;
        let result = self.core.class_join(record, &mut state.task, m.now(), why);
        let level = state.task.level();
        self.cpus[cpu].classes.insert(level, task);
        self.class_facts(cpu);
        self.after_core(m, cpu, result);
    }

    /// The running one leaves the queue of `cpu`.
    pub(super) fn class_exit<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        why: ClassMove,
    ) -> EventResult {
        let state = self.classes.states[task.index()].as_mut();
        let state = state.expect("asked of RT and deadline tasks only");
        let record = &mut self.tasks[task];
        let result = self.core.class_leave(record, &mut state.task, m.now(), why);
        let queue = &mut self.cpus[cpu].classes;
        if queue.running == Some(task) {
            queue.running = None;
        } else {
            queue.remove(task);
        }
        result
    }

    /// The running task falls asleep or ends.
    pub(super) fn class_sleep<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) {
        let result = self.class_exit(m, task, cpu, ClassMove::Sleep);
        self.after_core(m, cpu, result);
        m.set_state(task, State::Sleeping);
        self.own[task].off_cpu_ns = m.now() + self.costs.switch_out_ns;
        self.end_stretch(m, cpu, true);
        self.class_facts(cpu);
    }

    /// Its budget is empty: it waits for the next period on no queue.
    pub(super) fn throttle_until_filled<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
    ) {
        let now = m.now();
        let state = self.classes.state(task);
        let at = state.next_period_ns().max(now);
        state.throttled_until_ns = Some(at);
        m.push(at, Event::Replenish { task });
    }

    /// A period begins: a new budget and a later deadline.
    pub(super) fn replenish<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId) {
        let now = m.now();
        let state = self.classes.states[task.index()].as_mut();
        // It may have changed its policy meanwhile.
        let Some(state) = state.filter(|s| s.throttled_until_ns.is_some_and(|at| at <= now)) else {
            return;
        };
        state.throttled_until_ns = None;
        let raw = state.task.raw_mut();
        while state.budget_ns <= 0 {
            state.budget_ns += raw.dl_runtime_ns.cast_signed();
            raw.deadline_ns += raw.dl_period_ns;
        }
        if raw.deadline_ns <= now {
            state.begin_period(now);
        }
        let mut cpu = self.cpu_of(task);
        m.account(self, cpu);
        self.class_enter(m, task, cpu, ClassMove::Throttle);
        if !m.is_online(cpu) {
            let to = self.fallback(m, task, cpu);
            self.class_carry(m, task, cpu, to, MigrateCause::Hotplug);
            cpu = to;
        }
        self.interrupt_with(m, cpu, Message::Reschedule);
        self.class_push(m, cpu);
    }

    /// Time that the running task of `cpu` has run.
    pub(super) fn class_charge(&mut self, now_ns: u64, task: TaskId, cpu: CpuId, delta_ns: u64) {
        let rt = is_rt(self.classes.level(task));
        let state = self.classes.state(task);
        if state.task.is_deadline() {
            let used_ns = self.core.dl_scaled_delta_exec(cpu.0, delta_ns);
            state.budget_ns -= used_ns.cast_signed();
        }
        if let Some(turn) = &mut state.turn_ns {
            *turn = turn.saturating_sub(delta_ns);
        }
        if rt {
            self.cpus[cpu].classes.charge_rt(delta_ns);
        }
        self.core.ran_other(cpu.0, now_ns, delta_ns);
    }

    /// The clock of `cpu` changes: up to now its task used up its budget at the old one.
    pub(super) fn charge_budget<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let running = self.cpus[cpu].classes.running;
        if running.is_some_and(|task| self.classes.budget_left_ns(task).is_some()) {
            m.account(self, cpu);
        }
    }

    /// Does `task`, just queued, displace the running one? None: both are fair.
    pub(super) fn class_preempts(&self, task: TaskId, running: TaskId, cpu: CpuId) -> Option<bool> {
        let (new, old) = (self.classes.level(task), self.classes.level(running));
        if new == 0 && old == 0 {
            return None;
        }
        let may = |level: u64| level == 0 || !is_rt(level) || self.rt_may_run(cpu);
        Some(may(new) && (new > old || !may(old)))
    }

    /// The tick of a CPU that runs such a task. Returns true if its turn is over.
    pub(super) fn class_tick_preempts(&mut self, task: TaskId, cpu: CpuId) -> bool {
        let params = self.classes.params;
        let queue = &mut self.cpus[cpu].classes;
        if params.grant_ns < params.period_ns && queue.rt_used_ns > params.grant_ns {
            queue.rt_throttled = true;
            self.class_facts(cpu);
        }
        let turn_over = self.classes.state(task).turn_ns == Some(0);
        turn_over || is_rt(self.classes.level(task)) && !self.rt_may_run(cpu)
    }

    /// The timer of the grants starts with the first RT task.
    pub(super) fn arm_rt_period<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        let params = self.classes.params;
        if !self.classes.rt_period_armed && params.grant_ns < params.period_ns {
            self.classes.rt_period_armed = true;
            m.push(m.now() + params.period_ns, Event::RtPeriod);
        }
    }

    /// A period of the RT grants begins.
    pub(super) fn rt_period<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        m.push(m.now() + self.classes.params.period_ns, Event::RtPeriod);
        for cpu in self.machine.cpus() {
            m.account(self, cpu);
            if self.cpus[cpu].classes.grant(self.classes.params.grant_ns) {
                self.class_facts(cpu);
                if self.cpus[cpu].classes.first(true).is_some() {
                    self.interrupt_with(m, cpu, Message::Reschedule);
                }
            }
        }
    }

    /// The running task of `cpu` is put back, if it is of these classes.
    pub(super) fn class_put_back<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) {
        let result = self.core.class_stop(&mut self.tasks[task], m.now());
        self.after_core(m, cpu, result);
        self.end_stretch(m, cpu, false);
        let turn_ns = self.classes.params.turn_ns;
        let state = self.classes.state(task);
        let level = state.task.level();
        let turn_over = state.turn_ns == Some(0);
        if turn_over {
            state.turn_ns = Some(turn_ns);
        }
        let last = std::mem::take(&mut state.yields) | turn_over;
        let queue = &mut self.cpus[cpu].classes;
        queue.running = None;
        if last {
            queue.insert(level, task);
        } else {
            queue.insert_first(level, task);
        }
    }

    /// The running one yields: an RT task goes behind its equals, a deadline task gives up what is
    /// left of its budget. Returns false if there is nobody to go behind.
    pub(super) fn class_yields(&mut self, task: TaskId, cpu: CpuId) -> bool {
        let level = self.classes.level(task);
        let equal = (self.cpus[cpu].classes.waiting()).any(|(other, _)| other == level);
        let state = self.classes.state(task);
        if state.task.is_deadline() && !state.lent {
            state.budget_ns = 0;
            return true;
        }
        state.yields = equal;
        equal
    }

    /// The task of these classes begins to execute on its CPU.
    pub(super) fn class_start<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) -> EventResult {
        let state = self.classes.states[task.index()].as_mut();
        let state = state.expect("asked of RT and deadline tasks only");
        let record = &mut self.tasks[task];
        let result = self.core.class_run(record, &state.task, m.now());
        self.cpus[cpu].classes.running = Some(task);
        self.class_facts(cpu);
        result
    }

    /// Does the running task go on before all that wait? Its turn is renewed if nobody wants it.
    fn class_keeps(&mut self, task: TaskId, cpu: CpuId) -> bool {
        let level = self.classes.level(task);
        let rt = self.rt_may_run(cpu);
        if is_rt(level) && !rt {
            return false;
        }
        let first = self.cpus[cpu].classes.first(rt).map_or(0, |(l, _)| l);
        let turn_ns = self.classes.params.turn_ns;
        let state = self.classes.state(task);
        if first > level || first == level && (state.turn_ns == Some(0) || state.yields) {
            return false;
        }
        if state.turn_ns == Some(0) {
            state.turn_ns = Some(turn_ns);
        }
        true
    }

    /// A CPU picks: these classes first. True: it has its task.
    #[inline]
    pub(super) fn class_schedule<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        previous: Option<TaskId>,
    ) -> bool {
        let ran = previous.filter(|task| self.classes.is_class(*task));
        if let Some(task) = ran
            && !self.throttle_if_empty(m, task, cpu)
        {
            if self.class_keeps(task, cpu) {
                m.program(self, cpu);
                return true;
            }
            self.put_back(m, cpu);
        }
        if ran.is_some() || previous.is_none() {
            self.class_facts(cpu);
            self.class_pull(m, cpu);
        }
        let rt = self.rt_may_run(cpu);
        let Some((_, next)) = self.cpus[cpu].classes.first(rt) else {
            return false;
        };
        let displaces = m.current(cpu).is_some();
        if displaces {
            self.home.begin_put(cpu);
        }
        self.displace_ext(cpu, next);
        if displaces {
            self.put_back(m, cpu);
        }
        self.cpus[cpu].classes.remove(next);
        self.start_task(m, cpu, next, previous);
        self.class_push(m, cpu);
        true
    }

    /// A deadline task whose budget is empty leaves its queue. True: it did.
    fn throttle_if_empty<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) -> bool {
        let state = self.classes.state(task);
        if !state.task.is_deadline() || state.budget_ns > 0 || state.is_governor() {
            return false;
        }
        let result = self.class_exit(m, task, cpu, ClassMove::Throttle);
        self.after_core(m, cpu, result);
        self.end_stretch(m, cpu, false);
        self.throttle_until_filled(m, task);
        true
    }

    /// Those that wait and would run elsewhere at once go there, the most important first.
    pub(super) fn class_push<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let waiting: Vec<_> = self.cpus[cpu].classes.waiting().collect();
        for (_, task) in waiting {
            let Some(state) = &self.classes.states[task.index()] else {
                continue;
            };
            let record = &self.tasks[task];
            if record.raw().nr_allowed == 1 {
                continue;
            }
            let running = m.current(cpu);
            if running.is_none_or(|r| self.class_preempts(task, r, cpu) == Some(true)) {
                continue; // it is about to run here
            }
            match self.core.class_push_cpu(record, &state.task) {
                Some(to) if to != cpu.0 => {
                    self.class_move(m, task, CpuId(to), MigrateCause::Active, cpu)
                }
                _ => {}
            }
        }
    }

    /// The tasks of `cpu` matter less than before: it takes one that waits elsewhere.
    fn class_pull<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        if !self.classes.offers && !self.cpus.iter().any(|c| c.classes.waits()) {
            return;
        }
        self.classes.offers = false;
        let mut any = false;
        for from in self.machine.cpus() {
            let waiting = self.cpus[from].classes.waiting();
            let mut movable = waiting.filter(|(_, task)| self.tasks[*task].may_use(cpu.0));
            let level = movable.next().map_or(0, |(level, _)| level);
            any |= level > 0 && from != cpu;
            self.classes.offers |= level > 0;
            self.core.cpu_mut(from.0).queue.classes.next_level = level;
        }
        if !any {
            return;
        }
        if let Some(from) = self.core.class_pull_cpu(cpu.0) {
            let level = self.core.cpu(from).queue.classes.next_level;
            let mut waiting = self.cpus[CpuId(from)].classes.waiting();
            let task = waiting.find(|(l, t)| *l == level && self.tasks[*t].may_use(cpu.0));
            drop(waiting);
            if let Some((_, task)) = task {
                self.class_carry(m, task, CpuId(from), cpu, MigrateCause::Balance);
            }
        }
    }

    /// Moves a queued task; `by` is the CPU on which this is found out.
    pub(super) fn class_move<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        to: CpuId,
        cause: MigrateCause,
        by: CpuId,
    ) {
        let from = self.cpu_of(task);
        self.class_carry(m, task, from, to, cause);
        self.try_preempt(m, task, to, by);
    }

    /// Moves a waiting task of these classes to another CPU's queue.
    pub(super) fn class_carry<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        from: CpuId,
        to: CpuId,
        cause: MigrateCause,
    ) {
        m.account(self, from);
        m.account(self, to);
        let running = m.current(from) == Some(task);
        let left = self.class_exit(m, task, from, ClassMove::Move);
        if running {
            self.end_stretch(m, from, false);
        }
        self.class_facts(from);
        self.after_core(m, from, left);
        self.class_enter(m, task, to, ClassMove::Move);
        m.refill_caches(task, from, to);
        m.tell_migrate(task, from, to, cause);
    }

    /// Those of a CPU, the running one first.
    pub(super) fn class_tasks(&self, cpu: CpuId) -> Vec<TaskId> {
        let queue = &self.cpus[cpu].classes;
        let waiting = queue.waiting().map(|(_, task)| task);
        queue.running.into_iter().chain(waiting).collect()
    }

    /// Queued and throttled tasks of these classes, for the count at the end.
    pub(super) fn nr_class(&self) -> usize {
        let queued: usize = self.cpus.iter().map(|c| c.classes.nr()).sum();
        let states = self.classes.states.iter().flatten();
        queued + states.filter(|s| s.throttled_until_ns.is_some()).count()
    }

    /// How a wake-up is asked for.
    pub(super) fn place_kind(&self, task: TaskId) -> PlaceKind {
        match self.own[task].wake_here {
            true => PlaceKind::WakeHere,
            false => PlaceKind::Wake,
        }
    }
}
