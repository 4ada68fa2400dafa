//! From the engine's events to those of a trace. There is one walk, whatever is written of it
//! (docs/rules/traces.md#trace-events).
//!
//! What must stay: events of one time stand in the kernel's order (wake-up before switch, move
//! before wake-up), on which readers rely; who left a CPU and who follows are one switch. Times are
//! ns. Free: what leaves the bytes of files as they are (ARCHITECTURE.md, "What a change may
//! touch"). Tests by part: `events_told_by_hand` (`run_start`, `run_stop`, `migrate`, `born`,
//! `cpu_power`, `frequency`, `timer_armed`, `task_exit`, `kernel_work`),
//! `an_interrupt_is_no_tasks_doing` (`woken`), `decisions_carry_the_average_run` (`decided`,
//! `reached`, `end`), `clusters_and_hotplug_have_tracks` (`cluster_power`, `count`),
//! `priorities_follow_the_phases` (`happened`), replay/exported.rs::`tasks_by_timers_come_back` and
//! replay/exported.rs::`tasks_that_wake_each_other_come_back` (timers and wake-ups of whole runs).
//! `read_energy` has no test of its own here: energy.rs tries what it reads. `take_all`, `take`,
//! `advance`, `settle`, `left_to_idle`, `move_to`, `idles`, `placement` and `wakeup` by all of
//! these.
//!
//! Callers: scribe.rs (`take_all`).
//!
//! Tests: crates/trace/tests/all/traces.rs, crates/trace/tests/all/replay/exported.rs

use super::energy::Energy;
use super::known::Known;
use super::sink::{Counter, Decision, Sinks};
use super::threads::LEADER;
use super::told::{Told, What};
use crate::event::{
    CLONE_THREAD_FLAGS, IDLE_EXIT, Kind, SOFTIRQ_HRTIMER, SOFTIRQ_SCHED, SOFTIRQ_TIMER, TaskState,
};
use wakeplace_engine::observe::{
    CpuPower, Happening, KernelWork, MigrateCause, Placement, PlacementKind, Stop, Waking,
};

/// Goes through what the engine told, and tells the sinks.
pub(super) struct Walk {
    pub(super) known: Known,
    pub(super) sinks: Sinks,
    pub(super) energy: Option<Energy>,
}

impl Walk {
    /// What happened next, in order. Nothing of it is left.
    pub(super) fn take_all(&mut self, batch: &mut Vec<Told>) {
        for told in batch.drain(..) {
            self.take(&told);
        }
    }

    /// What happened next.
    fn take(&mut self, told: &Told) {
        let time_ns = told.time_ns;
        self.advance(time_ns);
        match told.what {
            What::Happened(what) => self.happened(time_ns, &what),
            What::Counter { counter, value } => self.count(time_ns, counter, value.into()),
            What::Sample => self.read_energy(time_ns),
        }
    }

    /// One thing that happened becomes the events that a kernel would have traced.
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        if let Some(energy) = &mut self.energy {
            energy.meter.happened(time_ns, what);
        }
        match *what {
            Happening::CpuPower { cpu, power } => self.cpu_power(cpu, power),
            Happening::ClusterPower { cluster, state } => {
                self.cluster_power(time_ns, cluster, state);
            }
            Happening::Frequency { domain, opp } => self.frequency(domain, opp),
            Happening::Placement(ref placement) => self.placement(placement),
            Happening::KernelWork { cpu, work } => self.kernel_work(cpu, work),
            Happening::TimerArmed { task, cpu, due_ns } => self.timer_armed(task, cpu, due_ns),
            Happening::Woken(ref waking) => self.woken(time_ns, waking),
            Happening::Wakeup { task, cpu, .. } => self.wakeup(task, cpu),
            Happening::RunStart { cpu, task, .. } => self.run_start(cpu, task),
            Happening::RunStop {
                cpu, task, stop, ..
            } => self.run_stop(cpu, task, stop),
            Happening::Migrate {
                task,
                from_cpu,
                to_cpu,
                cause,
            } => {
                // Who pulls does so on its own CPU, who pushes on the task's.
                let by = match cause {
                    MigrateCause::Balance | MigrateCause::NewIdle => to_cpu,
                    _ => from_cpu,
                };
                self.migrate(task, to_cpu, by);
            }
            Happening::Forked { task, script } => self.known.forked(task, script),
            Happening::TaskExit { task } => self.task_exit(task),
            Happening::Priority { task, prio } => self.known.threads[task as usize].prio = prio,
            Happening::Thermal {
                cluster, millic, ..
            } => {
                let degrees = f64::from(millic) / 1000.0;
                self.count(time_ns, Counter::Temperature(cluster), degrees);
            }
            Happening::Finish => self.end(time_ns),
            _ => {}
        }
    }

    /// The clock goes on: who has left a CPU has left it to its idle task.
    fn advance(&mut self, time_ns: u64) {
        if time_ns == self.known.now_ns {
            return;
        }
        while let Some(cpu) = self.known.leaving.first().copied() {
            self.left_to_idle(cpu);
        }
        self.known.now_ns = time_ns;
    }

    /// If a thread has just left the CPU, its idle task follows.
    fn left_to_idle(&mut self, cpu: u32) {
        if let Some(left) = self.known.take_left(cpu) {
            let event = self.known.switch(cpu, Some(left), None);
            self.sinks.tell(&event);
        }
    }

    /// If the thread has just left a CPU, that is over before the next thing happens to it.
    fn settle(&mut self, task: u32) {
        if let Some(cpu) = self.known.just_left(task) {
            self.left_to_idle(cpu);
        }
    }

    /// The thread is elsewhere from now on. `by`: whose doing that is; None: that of the CPU.
    fn move_to(&mut self, task: u32, to: u32, by: Move) {
        if self.known.thread(task).cpu == to {
            return;
        }
        let context = match by {
            Move::Waker(cpu, waker) => self.known.by(cpu, waker),
            Move::Cpu(cpu) => self.known.on_cpu(cpu),
        };
        let event = self.known.migration(task, to, context);
        self.sinks.tell(&event);
        self.known.threads[task as usize].cpu = to;
    }

    /// A quantity has this value from now on.
    fn count(&mut self, time_ns: u64, counter: Counter, value: f64) {
        self.sinks
            .each(|sink| sink.counter(time_ns, counter, value));
    }

    /// Energy of each cluster since the start, and its mean power since the reading before.
    fn read_energy(&mut self, time_ns: u64) {
        let Some(energy) = &mut self.energy else {
            return;
        };
        for (counter, value) in energy.read(time_ns) {
            self.sinks
                .each(|sink| sink.counter(time_ns, counter, value));
        }
    }

    /// A new thread: made, named, and on its way to its first CPU.
    fn born(&mut self, placement: &Placement) {
        let known = &mut self.known;
        known.threads[placement.task as usize].cpu = placement.cpu;
        let (pid, name) = {
            let thread = known.thread(placement.task);
            (thread.pid, thread.comm.as_str())
        };
        let maker = match placement.waker {
            Some(waker) => known.by(placement.waker_cpu, Some(waker)),
            None => known.by_leader(placement.waker_cpu),
        };
        let made = Kind::NewTask {
            pid,
            comm: maker.comm,
            clone_flags: CLONE_THREAD_FLAGS,
        };
        let named = Kind::Rename {
            pid,
            old: maker.comm,
            new: name,
        };
        let woken = Kind::WakeupNew {
            task: known.thread(placement.task).who(),
            target_cpu: placement.cpu,
        };
        self.sinks.each(|sink| sink.thread(pid, name));
        for kind in [made, named, woken] {
            self.sinks.tell(&known.event(maker, kind));
        }
    }

    /// A CPU was chosen: the thread waits for it, unless it runs already.
    fn decided(&mut self, placement: &Placement) {
        self.reached(placement.task);
        let (known, now) = (&self.known, self.known.now_ns);
        let thread = known.thread(placement.task);
        let waker = placement.waker.map_or(0, |w| known.thread(w).pid);
        let decision = Decision {
            pid: thread.pid,
            comm: &thread.comm,
            placement,
            waker,
        };
        self.sinks.each(|sink| sink.decision(now, &decision));
        self.known.threads[placement.task as usize].waits = true;
        if placement.kind == PlacementKind::Exec {
            self.reached(placement.task);
        }
    }

    /// The thread runs on the CPU that was chosen for it.
    fn reached(&mut self, task: u32) {
        let thread = &mut self.known.threads[task as usize];
        if std::mem::take(&mut thread.waits) {
            let (now, pid) = (self.known.now_ns, thread.pid);
            self.sinks.each(|sink| sink.decision_over(now, pid));
        }
    }

    /// The CPU enters an idle state (None: it leaves the one it is in).
    fn idles(&mut self, cpu: u32, state: Option<u32>) {
        let was = std::mem::replace(&mut self.known.cpu_mut(cpu).idle, state);
        if was == state {
            return;
        }
        let entered = state.map(|state| Kind::Idle { state, cpu });
        let left = was.map(|_| Kind::Idle {
            state: IDLE_EXIT,
            cpu,
        });
        for kind in left.into_iter().chain(entered) {
            let event = self.known.event(self.known.on_cpu(cpu), kind);
            self.sinks.tell(&event);
        }
    }
}

/// By whom a thread is moved.
enum Move {
    /// By who woke it, on this CPU.
    Waker(u32, Option<u32>),
    /// By what runs on this CPU.
    Cpu(u32),
}

/// What is told, one by one; the clock has gone on already.
impl Walk {
    /// A CPU enters or leaves an idle state.
    fn cpu_power(&mut self, cpu: u32, power: CpuPower) {
        let state = match power {
            CpuPower::Busy => None,
            CpuPower::Transition { state } | CpuPower::Idle { state } => {
                self.left_to_idle(cpu);
                Some(self.known.cpu(cpu).idle_state(state))
            }
        };
        self.idles(cpu, state);
    }

    /// A cluster's own idle state, as a quantity; -1: it is powered.
    fn cluster_power(&mut self, time_ns: u64, cluster: u32, state: Option<u16>) {
        if let Some(first) = self.known.clusters[cluster as usize] {
            let index = |state| f64::from(self.known.cpu(first).idle_state(state));
            let value = state.map_or(-1.0, index);
            self.count(time_ns, Counter::ClusterIdle(cluster), value);
        }
    }

    /// All CPUs of the domain have this clock, kHz.
    fn frequency(&mut self, domain: u32, opp: u16) {
        let known = &self.known;
        let cpus = &known.domains[domain as usize];
        for cpu in cpus.iter().copied() {
            let khz = known.cpu(cpu).khz[usize::from(opp)];
            let kind = Kind::Frequency { khz, cpu };
            self.sinks.tell(&known.event(known.on_cpu(cpus[0]), kind));
        }
    }

    /// A CPU was chosen; a fork first makes the thread.
    fn placement(&mut self, placement: &Placement) {
        if placement.kind == PlacementKind::Fork {
            self.born(placement);
        }
        self.decided(placement);
    }

    /// An interrupt's work, as a softirq.
    fn kernel_work(&mut self, cpu: u32, work: KernelWork) {
        let vec = match work {
            KernelWork::IdleTick => SOFTIRQ_TIMER,
            KernelWork::SliceEnd => SOFTIRQ_HRTIMER,
            KernelWork::Balance => SOFTIRQ_SCHED,
        };
        let event = self
            .known
            .event(self.known.on_cpu(cpu), Kind::Softirq { vec });
        self.sinks.tell(&event);
    }

    /// The timer of a sleep is started.
    fn timer_armed(&mut self, task: u32, cpu: u32, due_ns: u64) {
        self.known.threads[task as usize].timer_armed = true;
        let (timer, expires_ns) = (self.known.timer(task), due_ns);
        let start = Kind::TimerStart { timer, expires_ns };
        // The thread itself before it sleeps, or, for those that wait for each other at the start,
        // who makes them.
        let context = match self.known.just_left(task) {
            Some(cpu) => self.known.by(cpu, Some(task)),
            None => self.known.by_leader(cpu),
        };
        self.sinks.tell(&self.known.event(context, start));
    }

    /// The events of a wake-up, and before it those of what woke the task.
    fn woken(&mut self, time_ns: u64, waking: &Waking) {
        self.settle(waking.task);
        let armed = std::mem::take(&mut self.known.threads[waking.task as usize].timer_armed);
        let by_timer = armed && waking.waker.is_none();
        let (timer, now_ns) = (self.known.timer(waking.task), time_ns);
        if by_timer {
            let context = self.known.by(waking.cpu, None);
            let expire = Kind::TimerExpire { timer, now_ns };
            self.sinks.tell(&self.known.event(context, expire));
        }
        self.known.threads[waking.task as usize].woken_by = (waking.cpu, waking.waker);
        if waking.sync && waking.waker.is_some() {
            let context = self.known.by(waking.cpu, waking.waker);
            self.sinks.tell(&self.known.event(context, Kind::SyncWake));
        }
        let thread = self.known.thread(waking.task);
        let kind = Kind::Waking {
            task: thread.who(),
            target_cpu: thread.cpu,
        };
        let context = self.known.by(waking.cpu, waking.waker);
        self.sinks.tell(&self.known.event(context, kind));
        if by_timer {
            let done = self.known.by(waking.cpu, None);
            self.sinks
                .tell(&self.known.event(done, Kind::TimerDone { timer }));
        }
    }

    /// The task is in its queue.
    fn wakeup(&mut self, task: u32, target_cpu: u32) {
        let (cpu, waker) = self.known.thread(task).woken_by;
        // The kernel moves it before it is runnable.
        self.move_to(task, target_cpu, Move::Waker(cpu, waker));
        let kind = Kind::Wakeup {
            task: self.known.thread(task).who(),
            target_cpu,
        };
        let event = self.known.event(self.known.by(cpu, waker), kind);
        self.sinks.tell(&event);
    }

    /// A CPU goes to a task.
    fn run_start(&mut self, cpu: u32, task: u32) {
        self.reached(task);
        if self.known.just_left(task) == Some(cpu) {
            self.known.take_left(cpu); // it was picked again
        } else {
            self.settle(task);
            self.move_to(task, cpu, Move::Cpu(cpu));
            let prev = self.known.take_left(cpu);
            let event = self.known.switch(cpu, prev, Some(task));
            self.sinks.tell(&event);
        }
        self.known.cpu_mut(cpu).running = Some(task);
    }

    /// A CPU leaves a task; to whom it goes shows later.
    fn run_stop(&mut self, cpu: u32, task: u32, stop: Stop) {
        let state = match stop {
            Stop::Preempted => TaskState::Preempted,
            Stop::Yields => TaskState::Runnable,
            Stop::Sleeps => TaskState::Interruptible,
            Stop::Waits => TaskState::Uninterruptible,
            Stop::Exits => TaskState::Dead,
        };
        let at = self.known.cpu_mut(cpu);
        at.running = None;
        at.left = Some((task, state));
        self.known.leaving.push(cpu);
    }

    /// A thread is moved by what CPU `by` does.
    fn migrate(&mut self, task: u32, to: u32, by: u32) {
        self.settle(task);
        self.move_to(task, to, Move::Cpu(by));
    }

    /// A thread has ended.
    fn task_exit(&mut self, task: u32) {
        let thread = self.known.thread(task);
        let kind = Kind::Exit {
            task: thread.who(),
            tgid: LEADER,
        };
        let event = self
            .known
            .event(self.known.by(thread.cpu, Some(task)), kind);
        self.sinks.tell(&event);
        self.reached(task);
    }

    /// The run is over: what is open ends now.
    fn end(&mut self, time_ns: u64) {
        while let Some(cpu) = self.known.leaving.first().copied() {
            self.left_to_idle(cpu);
        }
        for task in 0..self.known.threads.len() as u32 {
            self.reached(task);
        }
        self.read_energy(time_ns);
    }
}
