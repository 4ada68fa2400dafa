//! Follows every task and CPU, and writes down what tasks did (docs/guide/traces-in.md).
//! What must stay: times are ns; odd events are counted, no errors (`Odd`). Tests by part:
//! `a_recording_by_hand` (`switch`, `event`, `task`, `enter`, `leave`, `end`),
//! `work_is_scaled_by_capacity_and_frequency` (`account`, `speed`),
//! exported.rs::`tasks_by_timers_come_back` (`flush`, `costs`), gaps.rs (`new_task`, `gap`),
//! `odd_recordings_have_a_defined_result` (`has_ended`, `seen_cpus`).
//!
//! Tests: crates/trace/tests/all/replay

mod frames;
mod gaps;
mod kernel;
mod wakes;

pub(super) use frames::{Frames, Seen};
pub(super) use gaps::Odd;

use super::machine::{Costs, FULL_SPEED, Machine};
use crate::event::{Context, Event, Kind, TaskState, Who};
use crate::read::{Marked, Ordered};
use std::collections::BTreeMap;

/// Most steps of all tasks together, and most tasks: some 10 minutes of a busy machine of 8 CPUs.
const MAX_STEPS: usize = 8_000_000;
const MAX_TASKS: usize = 50_000;
/// What follows so soon, ns, belongs to what came before: wake-up to idle state, softirq to tick.
const JUST_LEFT_NS: u64 = 20_000;
/// Most CPUs.
const MAX_CPUS: u32 = 1024;

/// Work, ns, of a task still at work when the recording ends, so that it does not sleep before.
const UNFINISHED_NS: u64 = 1_000_000;

/// What a task did, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Work, ns on a CPU of capacity 1024 at its highest frequency.
    Run(u64),
    /// Slept until this time, which nothing in the recording caused.
    At(u64),
    /// Waited so long for a device.
    Io(u64),
    /// Slept until a task woke it.
    Await,
    /// Woke this task, saying (true) that it would sleep soon.
    Wake(u32, bool),
    /// Made this task.
    Fork(u32),
    /// Began its frame of this number.
    Frame(u32),
    /// Was done with a frame of this task, by number.
    Done(u32, u32),
}

/// What a task is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has not been seen before, or is new.
    Unseen,
    Running(u32),
    Runnable,
    Sleeping {
        since_ns: u64,
        device: bool,
    },
    /// It ran when events were lost: it may do anything since.
    Lost,
    Ended,
}

/// A task.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) pid: i32,
    pub(super) comm: String,
    pub(super) prio: i32,
    pub(super) steps: Vec<Step>,
    /// It was made in the recording, by a task of it or not.
    pub(super) made: Option<Made>,
    state: State,
    last_cpu: Option<u32>,
    /// When it was woken last.
    woken_ns: Option<u64>,
    /// Of which process its frames are, and as what they began.
    pub(super) process: i32,
    pub(super) frames: Vec<Seen>,
    slices: frames::Slices,
    /// Work since the last step, and what of it the simulator adds by itself.
    gross: u64,
    overhead: u64,
}

impl Task {
    /// It ended in the recording.
    pub(super) fn has_ended(&self) -> bool {
        self.state == State::Ended
    }
}

/// By whom a task was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    ByTask,
    ByNobody,
}

/// Who runs on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Current {
    Unknown,
    Idle,
    Task(u32),
}

#[derive(Clone, Copy, Debug)]
struct Cpu {
    current: Current,
    accounted_ns: u64,
    /// Events before this time are missing. None: the CPU is seen from the beginning.
    gap_ns: Option<u64>,
    khz: Option<u64>,
    /// Its idle states are recorded.
    idle_shown: bool,
    /// The idle state it is in, and since when.
    idle_state: Option<u32>,
    idle_since_ns: u64,
    /// When it last left an idle state, and how long that took.
    left_idle: Option<(u64, u64)>,
    /// Kernel work without a task: units, and since when.
    kernel: (u64, u64),
    /// The last wake-up from outside: when it came and when it was due.
    outside: Option<(u64, u64)>,
    /// The timer whose interrupt it takes: when, and how late (None: armed before the recording).
    timer: Option<(u64, Option<u64>)>,
    /// When somebody said here that it would sleep soon after the wake-up that follows.
    sync_ns: Option<u64>,
    /// When its last tick found timers due.
    ticked_ns: Option<u64>,
}

impl Cpu {
    /// It runs a task, or an interrupt has woken it; without `cpu_idle` only tasks show.
    fn executes(&self) -> bool {
        matches!(self.current, Current::Task(_)) || self.idle_shown && self.idle_state.is_none()
    }
}

/// Follows the events.
pub(super) struct Tracker {
    machine: Machine,
    /// Nothing is known of the machine: it grows with the CPUs that are seen.
    grows: bool,
    cpus: Vec<Cpu>,
    pub(super) tasks: Vec<Task>,
    by_pid: BTreeMap<i32, u32>,
    /// When each timer is due, on its own clock.
    timers: BTreeMap<u64, u64>,
    steps: usize,
    pub(super) first_ns: Option<u64>,
    pub(super) last_ns: u64,
    /// When the last task was made that no task of the recording made.
    pub(super) all_made_ns: Option<u64>,
    /// Who made it.
    maker: Option<i32>,
    /// A task was seen that was there before the recording: it has begun.
    has_begun: bool,
    pub(super) odd: Odd,
    pub(super) frames: Frames,
    /// A wake-up was recorded: without one it is not known when tasks were due.
    pub(super) has_wakeups: bool,
    /// Time of all tasks on CPUs, ns.
    pub(super) ran_ns: u64,
    highest_cpu: u32,
}

impl Tracker {
    pub(super) fn new(machine: Option<Machine>) -> Self {
        Self {
            grows: machine.is_none(),
            machine: machine.unwrap_or_else(|| Machine::stated(std::iter::empty())),
            cpus: Vec::new(),
            tasks: Vec::new(),
            by_pid: BTreeMap::new(),
            timers: BTreeMap::new(),
            steps: 0,
            first_ns: None,
            last_ns: 0,
            all_made_ns: None,
            maker: None,
            has_begun: false,
            odd: Odd::default(),
            frames: Frames::default(),
            has_wakeups: false,
            ran_ns: 0,
            highest_cpu: 0,
        }
    }

    fn costs(&self) -> Costs {
        self.machine.costs
    }

    /// The CPU's place; one that the machine lacks is of the largest kind.
    fn cpu(&mut self, cpu: u32) -> Result<usize, String> {
        if cpu >= MAX_CPUS {
            return Err(format!("CPU {cpu}; at most {MAX_CPUS} CPUs are modelled"));
        }
        let index = cpu as usize;
        if index >= self.machine.nr_cpus() {
            if !self.grows {
                let most = self.machine.nr_cpus();
                return Err(format!("CPU {cpu}, though the machine has {most}"));
            }
            let count = index + 1;
            self.machine = Machine::stated((0..count).map(|_| (None, None)));
        }
        self.highest_cpu = self.highest_cpu.max(cpu);
        let from = self.first_ns.unwrap_or(0);
        while self.cpus.len() < self.machine.nr_cpus() {
            self.cpus.push(Cpu {
                current: Current::Unknown,
                accounted_ns: from,
                gap_ns: None,
                khz: None,
                idle_shown: false,
                idle_state: None,
                idle_since_ns: 0,
                left_idle: None,
                kernel: (0, 0),
                outside: None,
                timer: None,
                ticked_ns: None,
                sync_ns: None,
            });
        }
        Ok(index)
    }

    fn speed(&self, cpu: usize) -> u64 {
        let threads = self.machine.threads(cpu).iter();
        let busy = |cpu: &&u32| {
            let own = self.cpus.get(**cpu as usize);
            own.is_some_and(Cpu::executes)
        };
        self.machine
            .speed(cpu, self.cpus[cpu].khz, threads.filter(busy).count())
    }

    /// Brings the work of what runs on a CPU up to now; that of its core's other threads too.
    fn account(&mut self, cpu: usize, now: u64) {
        for at in 0..self.machine.threads(cpu).len() {
            let other = self.machine.threads(cpu)[at] as usize;
            if other < self.cpus.len() {
                self.account_one(other, now);
            }
        }
    }

    fn account_one(&mut self, cpu: usize, now: u64) {
        let speed = self.speed(cpu);
        let (tick_ns, tick) = (self.machine.tick_ns, self.costs().tick);
        let own = &mut self.cpus[cpu];
        let from = std::mem::replace(&mut own.accounted_ns, now);
        let Current::Task(task) = own.current else {
            return;
        };
        self.ran_ns += now - from;
        let task = &mut self.tasks[task as usize];
        task.gross = task
            .gross
            .saturating_add((now - from).saturating_mul(speed));
        let ticks_until = |time: u64| time.checked_div(tick_ns).unwrap_or(0);
        task.overhead += (ticks_until(now) - ticks_until(from)) * tick;
    }

    /// The task of a number, made if it was not seen.
    fn task(&mut self, who: &Who<'_>) -> Result<u32, String> {
        if let Some(index) = self.by_pid.get(&who.pid) {
            let task = &mut self.tasks[*index as usize];
            if task.state != State::Ended {
                if task.comm.is_empty() {
                    who.comm.clone_into(&mut task.comm);
                }
                task.prio = who.prio;
                return Ok(*index);
            }
        }
        self.has_begun = true;
        self.add(who, None)
    }

    fn add(&mut self, who: &Who<'_>, made: Option<Made>) -> Result<u32, String> {
        if self.tasks.len() >= MAX_TASKS {
            return Err(format!(
                "more than {MAX_TASKS} tasks; record for a shorter time"
            ));
        }
        let index = self.tasks.len() as u32;
        self.tasks.push(Task {
            pid: who.pid,
            comm: who.comm.to_owned(),
            prio: who.prio,
            steps: Vec::new(),
            made,
            state: State::Unseen,
            last_cpu: None,
            woken_ns: None,
            process: 0,
            frames: Vec::new(),
            slices: frames::Slices::default(),
            gross: 0,
            overhead: 0,
        });
        self.by_pid.insert(who.pid, index);
        Ok(index)
    }

    fn push(&mut self, task: u32, step: Step) -> Result<(), String> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(format!(
                "more than {MAX_STEPS} steps of its tasks; record for a shorter time"
            ));
        }
        self.tasks[task as usize].steps.push(step);
        Ok(())
    }

    /// Writes down the work since the last step, less what the simulator adds by itself.
    fn flush(&mut self, task: u32) -> Result<(), String> {
        let own = &mut self.tasks[task as usize];
        let net = own.gross.saturating_sub(own.overhead);
        // What was not covered is taken off the next time.
        own.overhead = own.overhead.saturating_sub(own.gross);
        own.gross = 0;
        // Whole ns: a step ends with the ns in which its work is done; the idle rest is left out.
        match net / FULL_SPEED {
            0 => Ok(()),
            work_ns => self.push(task, Step::Run(work_ns)),
        }
    }

    /// A CPU goes from one task to another.
    fn switch(
        &mut self,
        now: u64,
        cpu: usize,
        (prev, left, next): (&Who<'_>, TaskState, &Who<'_>),
    ) -> Result<(), String> {
        if self.cpus[cpu].current == Current::Unknown && prev.pid > 0 {
            let task = self.task(prev)?;
            if self.may_have_run_here(cpu, task) {
                self.runs_from_the_start(cpu, task)?;
            }
        }
        let other = match self.cpus[cpu].current {
            Current::Task(running) => prev.pid >= 0 && self.tasks[running as usize].pid != prev.pid,
            Current::Idle => prev.pid > 0,
            Current::Unknown => false,
        };
        if other {
            self.leaves_unseen(now, cpu, (prev, left))?;
        }
        self.account(cpu, now);
        self.cpus[cpu].timer = None; // no interrupt switches
        self.cpus[cpu].sync_ns = None;
        let current = self.cpus[cpu].current;
        self.cpus[cpu].current = Current::Idle;
        if let Current::Task(running) = current {
            self.leave(now, running, left)?;
        }
        if next.pid > 0 {
            self.enter(now, cpu, prev.pid, next)?;
        }
        Ok(())
    }

    fn leave(&mut self, now: u64, task: u32, left: TaskState) -> Result<(), String> {
        self.tasks[task as usize].state = match left {
            TaskState::Runnable | TaskState::Preempted => State::Runnable,
            TaskState::Dead | TaskState::Zombie => {
                self.flush(task)?;
                self.forget_slices(task);
                State::Ended
            }
            other => {
                self.flush(task)?;
                State::Sleeping {
                    since_ns: now,
                    device: other == TaskState::Uninterruptible,
                }
            }
        };
        Ok(())
    }

    /// The task runs on a CPU from now on; what cannot have been so is counted.
    fn enter(&mut self, now: u64, cpu: usize, prev: i32, next: &Who<'_>) -> Result<(), String> {
        let task = self.task(next)?;
        match self.tasks[task as usize].state {
            State::Sleeping { .. } => {
                self.odd.unexplained += 1;
                self.woken_by_nobody(now, task)?;
            }
            // It was on another CPU by what is known: events are lost.
            State::Running(other) if other as usize != cpu => {
                self.odd.gaps += 1;
                self.account(other as usize, now);
                self.cpus[other as usize].current = Current::Unknown;
            }
            State::Unseen if self.shows_late(now, task) => {
                self.odd.unexplained += 1;
                self.woken_by_nobody(now, task)?;
            }
            _ => {}
        }
        let costs = self.costs();
        let from = self.tasks[task as usize].last_cpu.replace(cpu as u32);
        let mut overhead = self.kernel_work(cpu, now);
        if prev != next.pid {
            overhead += costs.context_switch;
        }
        if let Some(from) = from.filter(|from| *from as usize != cpu) {
            overhead += self.machine.move_cost(from as usize, cpu);
        }
        let own = &mut self.tasks[task as usize];
        own.overhead += overhead;
        own.state = State::Running(cpu as u32);
        self.cpus[cpu].current = Current::Task(task);
        Ok(())
    }

    /// A task is made.
    fn new_task(
        &mut self,
        now: u64,
        cpu: usize,
        context: &Context<'_>,
        who: &Who<'_>,
    ) -> Result<(), String> {
        let known = self.by_pid.get(&who.pid).copied();
        let alive = known.filter(|task| self.tasks[*task as usize].state != State::Ended);
        if alive.is_some() {
            return Ok(());
        }
        if self.has_begun {
            self.learn(cpu, context)?;
        }
        let maker = self.by_pid.get(&context.pid).copied();
        let maker = maker.filter(|task| self.cpus[cpu].current == Current::Task(*task));
        let Some(maker) = maker.filter(|_| context.pid > 0) else {
            if self.has_begun {
                // Others are at work: it is none of those that the recording begins with.
                let task = self.add(who, None)?;
                self.tasks[task as usize].state = State::Runnable;
                return self.woken_by_nobody(now, task);
            }
            // The next is made, or the tasks begin, when this much work is done.
            let fork = self.costs().fork.div_ceil(self.speed(cpu));
            self.all_made_ns = Some(now + fork);
            self.maker = Some(context.pid);
            return self.add(who, Some(Made::ByNobody)).map(drop);
        };
        let task = self.add(who, Some(Made::ByTask))?;
        self.tasks[task as usize].woken_ns = Some(now);
        self.account(cpu, now);
        self.tasks[maker as usize].overhead += self.machine.costs.fork;
        self.flush(maker)?;
        self.push(maker, Step::Fork(task))
    }

    /// CPUs up to the highest that was seen.
    pub(super) fn seen_cpus(&self) -> u32 {
        self.highest_cpu + 1
    }

    /// The recording has ended: what runs has run until now.
    pub(super) fn end(&mut self) {
        for cpu in 0..self.cpus.len() {
            self.account_one(cpu, self.last_ns);
        }
        for task in 0..self.tasks.len() as u32 {
            // Who runs or waits to run has more to do.
            let own = &mut self.tasks[task as usize];
            if matches!(own.state, State::Running(_) | State::Runnable) {
                own.gross = own.gross.saturating_add(UNFINISHED_NS * FULL_SPEED);
            }
            // No more steps than the limit: this one is beyond it at most by one per task.
            let _ = self.flush(task);
        }
    }
}

impl Ordered for Tracker {
    fn gap(&mut self, time_ns: u64, cpu: u32) -> Result<(), String> {
        self.first_ns.get_or_insert(time_ns);
        let cpu = self.cpu(cpu)?;
        self.lose(time_ns, cpu);
        Ok(())
    }

    fn marked(&mut self, it: &Marked) -> Result<(), String> {
        self.mark(it)
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        let now = event.time_ns;
        self.first_ns.get_or_insert(now);
        self.last_ns = now;
        let context = &event.context;
        let cpu = self.cpu(context.cpu)?;
        self.has_wakeups |= matches!(event.kind, Kind::Waking { .. } | Kind::Wakeup { .. });
        match event.kind {
            Kind::Switch {
                prev,
                prev_state,
                next,
            } => self.switch(now, cpu, (&prev, prev_state, &next)),
            Kind::Waking { task, .. } | Kind::Wakeup { task, .. } if task.pid > 0 => {
                self.learn(cpu, context)?;
                self.wake(now, cpu, context, &task)
            }
            Kind::WakeupNew { task, .. } if task.pid > 0 => self.new_task(now, cpu, context, &task),
            Kind::NewTask { pid, comm, .. } if pid > 0 => {
                let prio = 120;
                self.new_task(now, cpu, context, &Who { comm, pid, prio })
            }
            Kind::Rename { pid, new, .. } => {
                if let Some(task) = self.by_pid.get(&pid) {
                    new.clone_into(&mut self.tasks[*task as usize].comm);
                }
                Ok(())
            }
            Kind::Migrate {
                task,
                orig_cpu,
                dest_cpu,
            } if task.pid > 0 => self.moved(&task, orig_cpu, dest_cpu),
            Kind::SyncWake => {
                self.cpus[cpu].sync_ns = Some(now);
                Ok(())
            }
            Kind::Softirq { vec } => {
                self.softirq(now, cpu, vec);
                Ok(())
            }
            Kind::TimerStart { timer, expires_ns } => {
                self.timer_start(now, context.pid, timer, expires_ns);
                Ok(())
            }
            Kind::TimerExpire { timer, now_ns } => {
                self.timer_expire(now, cpu, timer, now_ns);
                Ok(())
            }
            Kind::TimerDone { .. } => {
                self.cpus[cpu].timer = None;
                Ok(())
            }
            Kind::Frequency { khz, cpu } => self.frequency(now, cpu, khz),
            Kind::Idle { state, cpu } => self.idle(now, cpu, state),
            _ => Ok(()),
        }
    }
}
