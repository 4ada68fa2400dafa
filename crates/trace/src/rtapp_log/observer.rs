//! Collects iterations (docs/guide/rt-app.md, "Logs"). Columns and rounding are rt-app's.
//!
//! What must stay: listening changes no run; columns are rt-app's
//! (docs/rules/rt-app.md#rt-app-log); lines stand in the order of the ends of iterations, a file
//! for each thread, also without a line; the index counts threads. Free: what leaves the bytes of
//! files as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `each_thread_has_its_file` (`start`, `line`, `forked`, `iteration`),
//! `slack_is_the_last_or_the_sum` (`line`). `keep_first` has no test of its own. `create`,
//! `names_of`, `start_of_name`, `happened` and `publish` by the first one.
//!
//! Tests: crates/trace/src/rtapp_log/observer/tests.rs
use super::files::{Files, LogError};
use super::line::{HEADER, Line};
use std::path::Path;
use wakeplace_engine::observe::{Happening, Iteration, Observer};
use wakeplace_files::{Names, Part};
use wakeplace_workload::{RtAppLog, Workload};

/// A thread that logs.
#[derive(Clone, Copy, Debug)]
struct Thread {
    /// As rt-app counts them, in order of creation.
    index: u32,
    /// Index in `Workload::tasks`.
    script: usize,
    file: usize,
}

/// What the names of a script's logs begin with.
fn start_of_name(log: &RtAppLog, script: usize) -> String {
    format!("{}-{}", log.basename, log.threads[script].name)
}

/// Names of the logs of such a run: those of forked threads end in two numbers.
fn names_of(log: &RtAppLog) -> Names {
    let text = |text: &str| Part::Text(text.to_owned());
    let of_script = |script| {
        let start = Part::Text(start_of_name(log, script));
        let fork = [
            text("-"),
            Part::Number,
            text("-"),
            Part::Number,
            text(".log"),
        ];
        let fork = [start.clone()].into_iter().chain(fork).collect();
        [vec![start, text(".log")], fork]
    };
    Names((0..log.threads.len()).flat_map(of_script).collect())
}

/// Writes the logs of one run: attach it, then `publish`. What cannot be written stops the logs,
/// not the run.
#[derive(Debug)]
pub struct RtAppLogs {
    log: RtAppLog,
    files: Files,
    /// By number of the task; None: a script whose threads are forked.
    threads: Vec<Option<Thread>>,
    /// Threads forked so far, by script.
    forks: Vec<u32>,
    /// Threads that exist.
    count: u32,
    failed: Option<LogError>,
}

impl RtAppLogs {
    /// Logs of a run of `workload`, which will be all that is in `folder`; `log` is
    /// `Spec::rtapp_log` of the same file.
    ///
    /// # Errors
    /// The folder cannot be written or holds something else, or a thread's name is no file's.
    pub fn create(log: RtAppLog, workload: &Workload, folder: &Path) -> Result<Self, LogError> {
        let mut logs = Self {
            forks: vec![0; workload.tasks.len()],
            threads: Vec::with_capacity(workload.tasks.len()),
            files: Files::create(folder, names_of(&log))?,
            count: 0,
            failed: None,
            log,
        };
        for (script, task) in workload.tasks.iter().enumerate() {
            match task.forks {
                Some(_) => logs.threads.push(None),
                None => logs.start(script, None)?,
            }
        }
        Ok(logs)
    }

    /// Moves the files to their place.
    ///
    /// # Errors
    /// The first thing that could not be written, during the run or now.
    pub fn publish(self) -> Result<usize, LogError> {
        match self.failed {
            Some(error) => Err(error),
            None => self.files.publish(),
        }
    }

    /// A thread begins; `fork` is its count among those forked of its script.
    fn start(&mut self, script: usize, fork: Option<u32>) -> Result<(), LogError> {
        let index = self.count;
        self.count += 1;
        let start = start_of_name(&self.log, script);
        let file = self.files.add(match fork {
            None => format!("{start}.log"),
            Some(fork) => format!("{start}-{index}-{fork:04}.log"),
        })?;
        self.files.append(file, HEADER)?;
        self.threads.push(Some(Thread {
            index,
            script,
            file,
        }));
        Ok(())
    }

    /// One iteration as rt-app logs it.
    fn line(&self, end_ns: u64, thread: Thread, iteration: &Iteration) -> Line {
        let phases = &self.log.threads[thread.script].phases;
        let sums = phases.get(iteration.phase as usize).copied();
        let sums = sums.unwrap_or_default();
        Line {
            index: thread.index,
            perf: sums.perf,
            run_ns: iteration.run_ns,
            start_ns: iteration.start_ns,
            end_ns,
            slack_ns: match self.log.cumulative_slack {
                true => iteration.slack_sum_ns,
                false => iteration.slack_ns,
            },
            duration_us: sums.duration_us,
            period_us: sums.period_us,
            wake_latency_ns: iteration.wake_latency_ns,
        }
    }

    /// Keeps the first error, which `publish` tells.
    fn keep_first(&mut self, result: Result<(), LogError>) {
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }
}

impl Observer for RtAppLogs {
    /// Ends of iterations, and forks.
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::Iteration {
                task,
                ref iteration,
            } => self.iteration(time_ns, task, iteration),
            Happening::Forked { task, script } => self.forked(task, script),
            _ => {}
        }
    }
}

impl RtAppLogs {
    /// A line for the thread; nothing after an error.
    fn iteration(&mut self, time_ns: u64, task: u32, iteration: &Iteration) {
        let thread = self.threads.get(task as usize).copied().flatten();
        if let (Some(thread), None) = (thread, &self.failed) {
            let line = self.line(time_ns, thread, iteration).to_string();
            let appended = self.files.append(thread.file, &line);
            self.keep_first(appended);
        }
    }

    /// A thread more, with a file of its own.
    fn forked(&mut self, task: u32, script: u32) {
        let script = script as usize;
        if self.failed.is_some() || task as usize != self.threads.len() {
            return;
        }
        let fork = self.forks[script];
        self.forks[script] += 1;
        let started = self.start(script, Some(fork));
        self.keep_first(started);
    }
}

#[cfg(test)]
mod tests;
