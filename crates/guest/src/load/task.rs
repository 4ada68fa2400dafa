//! One thread of a job: carries its script out. The steps are `job.rs`' types, which the lab writes
//! (docs/guide/lab.md).
//!
//! What must stay: a job is booked when it ends; what the window counts goes into the report that
//! crates/lab and fidelity read. Free: how a step is written.
//!
//! Tests by part (load/tests.rs): `a_periodic_task_has_a_job_in_every_period` (`script`, `step`,
//! `timer`, `end_job`, `finish`, `woke`), `an_overloaded_timer_is_late_and_works_its_backlog_off`
//! (`end_job`: late jobs), `tasks_hand_over_by_events` (`step`),
//! `forked_tasks_run_and_a_task_ends_with_its_loops` (`fork`, `start`, `body`, `more`),
//! `phases_bind_a_task_to_their_cpus` (`enter`), `a_cpu_that_is_not_there_is_the_machines_fault`
//! (`set_up`), `a_delayed_task_begins_later` (`sleep_until`),
//! programs.rs::`load_runs_a_job_file_and_reports_each_task` (`busy_until`, `stopped`, `whole_ns`).
//! `fail` has no test of its own.
//!
//! Callers: load/mod.rs (`start`).
//!
//! Tests: crates/guest/src/load/tests.rs,
//! crates/guest/tests/programs.rs::load_runs_a_job_file_and_reports_each_task

use std::sync::Arc;

use super::meter::Meter;
use super::result::TaskResult;
use super::shared::{Shared, Stage, Times};
use crate::cpus::RATE_BITS;
use crate::error::GuestError;
use crate::job::{Loops, Op, Phase, Task};
use crate::steady::lock;
use crate::sys;

/// More threads are not started, however long a job forks.
const THREADS_MAX: usize = 10_000;

/// Starts a thread of a task. It sets itself up, then waits at the gate.
pub(super) fn start(shared: &Arc<Shared>, index: usize) -> Result<(), GuestError> {
    let own = Arc::clone(shared);
    let name = &shared.job.tasks[index].name;
    shared.roll.spawn(name, move || body(&own, index))
}

/// A thread from its start to its end: it sets itself up, waits for all, and carries its script
/// out.
fn body(shared: &Arc<Shared>, index: usize) {
    let task = &shared.job.tasks[index];
    let set_up = set_up(shared, task);
    let failed = set_up.is_err();
    if let (true, Err(what)) = (task.forked, &set_up) {
        shared.fail(what.clone());
    }
    shared.gate.arrive(set_up);
    let times = shared.gate.pass();
    if failed {
        return;
    }
    let mut runner = Runner {
        shared,
        task,
        times,
        meter: Meter::new(&shared.cpus, &shared.stage),
        affinity: task.affinity.as_ref().unwrap_or(&shared.allowed),
        nice: task.nice,
        job_open: false,
        job_scaled_at: 0,
        jobs_scaled: 0,
        result: TaskResult {
            name: task.name.clone(),
            task: u32::try_from(index).unwrap_or(u32::MAX),
            tid: sys::thread_id(),
            ..TaskResult::default()
        },
    };
    runner.sleep_until(times.start_ns + task.delay_ns);
    runner.script();
    let result = runner.finish();
    lock(&shared.results).push(result);
}

/// Scheduling attributes, set by the thread itself: a forked one has inherited another's.
fn set_up(shared: &Shared, task: &Task) -> Result<(), String> {
    let cpus = task.affinity.as_ref().unwrap_or(&shared.allowed);
    let failed = |what: String, error| format!("task {}: {what}: {error}", task.name);
    sys::set_timer_slack_min();
    sys::set_affinity(0, cpus).map_err(|e| failed(format!("affinity {cpus:?}"), e))?;
    sys::set_policy(0, task.policy).map_err(|e| failed(format!("policy {:?}", task.policy), e))?;
    sys::set_nice(0, task.nice).map_err(|e| failed(format!("nice {}", task.nice), e))
}

struct Runner<'a> {
    shared: &'a Arc<Shared>,
    task: &'a Task,
    times: Times,
    meter: Meter<'a>,
    /// What is set now.
    affinity: &'a [u32],
    nice: i8,
    /// It ran since its last pause.
    job_open: bool,
    /// The meter's scaled time at the last pause.
    job_scaled_at: u128,
    /// Sum over the jobs counted, 2^-20 ns.
    jobs_scaled: u128,
    result: TaskResult,
}

impl<'a> Runner<'a> {
    /// The run is over: nothing goes on.
    fn stopped(&self) -> bool {
        self.shared.stage.is(Stage::Stop)
    }

    /// All passes of the script.
    fn script(&mut self) {
        let task = self.task;
        let mut passes = 0;
        while more(task.loops, passes) {
            for phase in &task.phases {
                let mut repeats = 0;
                while more(phase.loops, repeats) {
                    self.enter(phase);
                    for &op in &phase.ops {
                        if self.stopped() {
                            return;
                        }
                        self.step(op);
                    }
                    repeats += 1;
                }
            }
            if self.stopped() {
                return;
            }
            passes += 1;
        }
    }

    /// Affinity and nice value of a phase, where they are not set already.
    fn enter(&mut self, phase: &'a Phase) {
        let shared = self.shared;
        let wanted = phase.affinity.as_ref().or(self.task.affinity.as_ref());
        let wanted = wanted.unwrap_or(&shared.allowed);
        if wanted.as_slice() != self.affinity {
            self.meter.settle();
            if let Err(error) = sys::set_affinity(0, wanted) {
                self.fail(&format!("affinity {wanted:?}: {error}"));
            }
            self.affinity = wanted;
            self.meter.look();
        }
        let nice = phase.nice.unwrap_or(self.nice);
        if nice != self.nice {
            if let Err(error) = sys::set_nice(0, nice) {
                self.fail(&format!("nice {nice}: {error}"));
            }
            self.nice = nice;
        }
    }

    /// Noted for the report; the run goes on.
    fn fail(&self, what: &str) {
        self.shared.fail(format!("task {}: {what}", self.task.name));
    }

    /// Carries out one step of the script; what cannot be done is noted (`fail`).
    fn step(&mut self, op: Op) {
        match op {
            Op::Run { work_ns } => {
                self.job_open = true;
                self.meter.work(work_ns);
            }
            Op::Runtime { wall_ns } => self.busy_until(sys::now_ns() + wall_ns),
            Op::Busy => self.busy_until(u64::MAX),
            Op::Sleep { duration_ns } => {
                let now_ns = self.end_job(None);
                self.sleep_until(now_ns + duration_ns);
            }
            Op::Timer { timer, period_ns } => self.timer(timer as usize, period_ns),
            Op::Yield => {
                self.meter.settle();
                std::thread::yield_now();
            }
            Op::Wait { event } => {
                self.end_job(None);
                let waited = self.shared.events[event as usize].wait(self.times.stop_ns);
                self.woke(waited);
            }
            Op::Signal { event } => self.shared.events[event as usize].signal(),
            Op::Fork { task } => self.fork(task as usize),
        }
    }

    /// Works until then, or (`u64::MAX`) the end.
    fn busy_until(&mut self, time_ns: u64) {
        self.job_open = true;
        self.meter.settle();
        while !self.stopped() && (time_ns == u64::MAX || sys::now_ns() < time_ns) {
            self.meter.busy_slice();
        }
    }

    /// Ends the job that is under way, and sleeps until the timer's expiry.
    fn timer(&mut self, timer: usize, period_ns: u64) {
        let expiry_ns =
            lock(&self.shared.timers[timer]).advance(sys::now_ns(), self.times.start_ns, period_ns);
        self.end_job(Some(expiry_ns));
        self.sleep_until(expiry_ns);
    }

    /// Books the job that ends here, if one does; the time is now.
    fn end_job(&mut self, due_ns: Option<u64>) -> u64 {
        self.meter.settle();
        let now_ns = sys::now_ns();
        let scaled = self.meter.scaled - self.job_scaled_at;
        self.job_scaled_at = self.meter.scaled;
        let ran = std::mem::take(&mut self.job_open);
        if !ran || !self.times.measured(due_ns.unwrap_or(now_ns)) {
            return now_ns;
        }
        let result = &mut self.result;
        let scaled_ns = whole_ns(scaled);
        result.job_scaled_ns_min = match result.jobs {
            0 => scaled_ns,
            _ => result.job_scaled_ns_min.min(scaled_ns),
        };
        result.job_scaled_ns_max = result.job_scaled_ns_max.max(scaled_ns);
        self.jobs_scaled += scaled;
        result.jobs += 1;
        let lateness_ns = now_ns.saturating_sub(due_ns.unwrap_or(now_ns));
        if lateness_ns > 0 {
            result.late_jobs += 1;
            result.lateness_ns_max = result.lateness_ns_max.max(lateness_ns);
        }
        now_ns
    }

    /// Sleeps, but not beyond the end of the run.
    fn sleep_until(&mut self, time_ns: u64) {
        let until_ns = time_ns.min(self.times.stop_ns);
        let sleeps = until_ns > sys::now_ns();
        if sleeps {
            sys::sleep_until_ns(until_ns);
        }
        self.woke(sleeps);
    }

    /// A real sleep, not a wait that was over already: counted in the window.
    fn woke(&mut self, paused: bool) {
        if paused {
            self.meter.look();
            self.result.wakeups += u64::from(self.shared.stage.is(Stage::Window));
        }
    }

    /// Starts one more thread of the job.
    fn fork(&mut self, task: usize) {
        let started = if self.shared.roll.len() < THREADS_MAX {
            start(self.shared, task).map_err(|error| error.to_string())
        } else {
            Err(format!("{THREADS_MAX} threads were started already"))
        };
        if let Err(what) = started {
            self.fail(&format!("fork: {what}"));
        }
    }

    /// What the thread got in the window.
    fn finish(mut self) -> TaskResult {
        self.meter.settle();
        let cpu_ns = self.meter.cpu_ns();
        let usage = self.meter.window;
        let total_ns: u64 = usage.cpu_run_ns.values().sum();
        let share = |(&cpu, &ns): (&u32, &u64)| (cpu, ns as f64 / total_ns.max(1) as f64);
        let mean = self.jobs_scaled / u128::from(self.result.jobs.max(1));
        TaskResult {
            cpu_ns,
            cpu_ns_window: total_ns,
            run_share: usage.cpu_run_ns.iter().map(share).collect(),
            scaled_ns_window: whole_ns(usage.scaled),
            job_scaled_ns_mean: whole_ns(mean),
            cpu_changes: usage.cpu_changes,
            cpu_run_ns: usage.cpu_run_ns,
            ..self.result
        }
    }
}

/// Is there a repetition left?
fn more(loops: Loops, done: u64) -> bool {
    match loops {
        Loops::Forever => true,
        Loops::Times(n) => done < n,
    }
}

/// Gives whole ns of a count of 2^-20 ns.
fn whole_ns(scaled: u128) -> u64 {
    u64::try_from(scaled >> RATE_BITS).unwrap_or(u64::MAX)
}
