//! Progress on standard error, never on standard output: a bar on a terminal, lines elsewhere.
//!
//! Called by `follow` in `commands/simulate.rs` and by `sweep`, and from the threads that run.
//! Free: all words and times.
//!
//! What must stay: nothing of it is on standard output. Wall time is read here and decides nothing
//! of a result. The waiting thread has ended before the result is printed (`Waiter::stop`). `-q`
//! hides all of it. Tests by part: `nothing_is_left_before_anything_is_done` (`Lines::first`),
//! crates/cli/tests/all/help.rs::`nothing_but_the_result_is_on_standard_output` (`finish`, `-q` and
//! `-v`), crates/cli/tests/all/results.rs::`determinism_is_verified` (that standard error is what
//! it is with JSON). No test of its own: the bar and `line`.
//!
//! Tests: below, crates/cli/tests/all/help.rs::nothing_but_the_result_is_on_standard_output,
//! crates/cli/tests/all/results.rs::determinism_is_verified

use crate::args::Verbosity;
use crate::terminal::Terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use wakeplace_study::Progress;
use wakeplace_text::{count, printable};

/// A run shorter than this shows no bar.
const BAR_AFTER: Duration = Duration::from_millis(500);
/// A run shorter than this writes no lines.
const LINES_AFTER: Duration = Duration::from_secs(2);
/// While no run has finished a line says so each time this is over.
const FIRST_EVERY: Duration = Duration::from_secs(10);

/// Follows the runs of one command.
pub(crate) struct Follower {
    terminal: Terminal,
    started: Instant,
    view: View,
}

enum View {
    Silent,
    Bar(ProgressBar, Option<Waiter>),
    Lines(Arc<Lines>, Option<Waiter>),
}

/// What lines were written about.
#[derive(Default)]
struct Lines {
    /// Tenths that were reported.
    tenths: Mutex<usize>,
    done: AtomicUsize,
    total: AtomicUsize,
}

/// Says something after a while unless the runs end first.
struct Waiter {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Follower {
    /// Begins to follow.
    pub(crate) fn start(terminal: Terminal) -> Self {
        let view = match terminal.verbosity() {
            Verbosity::Quiet => View::Silent,
            _ if terminal.stderr_is_tty() => {
                let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
                bar.set_style(style(Stage::Preparing));
                let waiter = Waiter::of_bar(bar.clone());
                View::Bar(bar, waiter)
            }
            _ => {
                let lines = Arc::new(Lines::default());
                let waiter = Waiter::of_lines(terminal, lines.clone());
                View::Lines(lines, waiter)
            }
        };
        Self {
            terminal,
            started: now(),
            view,
        }
    }

    /// Runs begin, or one has finished; called from any thread.
    pub(crate) fn report(&self, progress: &Progress) {
        match &self.view {
            View::Silent => {}
            View::Bar(bar, _) => {
                bar.set_length(progress.total as u64);
                bar.set_message(printable(&progress.label).into_owned());
                // Threads report out of order: the bar never goes back.
                let done = bar.position().max(progress.done as u64);
                bar.set_style(style(match done {
                    0 => Stage::NoneDone,
                    _ => Stage::SomeDone,
                }));
                bar.set_position(done);
            }
            View::Lines(lines, _) => {
                lines.total.store(progress.total, Ordering::Relaxed);
                lines.done.fetch_max(progress.done, Ordering::Relaxed);
                self.line(&lines.tenths, progress);
            }
        }
    }

    /// A line now and then, where a bar cannot be drawn.
    fn line(&self, shown: &Mutex<usize>, progress: &Progress) {
        let Ok(mut shown) = shown.lock() else { return };
        let Progress { done, total, .. } = *progress;
        let tenths = done * 10 / total.max(1);
        if tenths > *shown && self.started.elapsed() >= LINES_AFTER {
            *shown = tenths;
            let seconds = self.started.elapsed().as_secs();
            let line = format!(
                "{:>3} % ({done} of {}, {seconds} s)\n",
                tenths * 10,
                count(total, "run")
            );
            self.terminal.eprint(&line);
        }
    }

    /// Clears the bar; says how long it took with `-v`.
    pub(crate) fn finish(self) {
        let (bar, waiter) = match self.view {
            View::Silent => (None, None),
            View::Bar(bar, waiter) => (Some(bar), waiter),
            View::Lines(_, waiter) => (None, waiter),
        };
        waiter.into_iter().for_each(Waiter::stop);
        bar.inspect(ProgressBar::finish_and_clear);
        let seconds = self.started.elapsed().as_secs_f64();
        self.terminal.detail(&format!("took {seconds:.2} s"));
    }
}

/// A run has finished: lines about tenths follow.
#[derive(Debug, PartialEq, Eq)]
struct SomeDone;

impl Lines {
    /// That nothing is done after this time.
    fn first(&self, waited: Duration) -> Result<String, SomeDone> {
        let seconds = waited.as_secs();
        match (
            self.done.load(Ordering::Relaxed),
            self.total.load(Ordering::Relaxed),
        ) {
            (0, 0) => Ok(format!("preparing runs, {seconds} s\n")),
            (0, total) => Ok(format!("0 of {}, {seconds} s\n", count(total, "run"))),
            _ => Err(SomeDone),
        }
    }
}

impl Waiter {
    /// Shows the bar.
    fn of_bar(bar: ProgressBar) -> Option<Self> {
        Self::start(move |stopped| {
            if stopped.recv_timeout(BAR_AFTER) == Err(RecvTimeoutError::Timeout) {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.enable_steady_tick(Duration::from_millis(100));
            }
        })
    }

    /// Says that no run has finished, until one has.
    fn of_lines(terminal: Terminal, lines: Arc<Lines>) -> Option<Self> {
        Self::start(move |stopped| {
            let mut waited = Duration::ZERO;
            while stopped.recv_timeout(FIRST_EVERY) == Err(RecvTimeoutError::Timeout) {
                waited += FIRST_EVERY;
                match lines.first(waited) {
                    Ok(line) => terminal.eprint(&line),
                    Err(SomeDone) => return,
                }
            }
        })
    }

    /// None if there is no thread to be had: then it says nothing.
    fn start(wait: impl FnOnce(Receiver<()>) + Send + 'static) -> Option<Self> {
        let (stop, stopped) = mpsc::channel();
        let wait = move || wait(stopped);
        let thread = thread::Builder::new().spawn(wait).ok()?;
        Some(Self { stop, thread })
    }

    /// Ends the waiting thread and waits for it, so that no line of it comes behind the result.
    fn stop(self) {
        // The receiver is gone if the bar is shown, or a run has finished.
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

/// What a bar can say.
#[derive(Clone, Copy)]
enum Stage {
    /// Nobody knows how many runs there are.
    Preparing,
    /// How long it takes is not known before one is done.
    NoneDone,
    SomeDone,
}

/// How the bar looks at a stage. A template that is not understood leaves the plain bar.
fn style(stage: Stage) -> ProgressStyle {
    let template = match stage {
        Stage::Preparing => "preparing runs, {elapsed}",
        Stage::NoneDone => "{bar:30.cyan} {pos}/{len} runs, {elapsed}",
        Stage::SomeDone => "{bar:30.cyan} {pos}/{len} runs, {eta} left  {msg:.dim}",
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Wall time, for what is shown; no result depends on it.
#[allow(
    clippy::disallowed_methods,
    reason = "progress is shown in wall time, decides nothing"
)]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::{Lines, Ordering, SomeDone};
    use std::time::Duration;

    /// Goal: before a run is done a line says how many there are and how long it takes, and none
    /// afterwards.
    #[test]
    fn nothing_is_left_before_anything_is_done() {
        let lines = Lines::default();
        let after = |seconds| lines.first(Duration::from_secs(seconds));
        assert_eq!(after(10).as_deref(), Ok("preparing runs, 10 s\n"));
        lines.total.store(40, Ordering::Relaxed);
        assert_eq!(after(20).as_deref(), Ok("0 of 40 runs, 20 s\n"));
        lines.done.store(1, Ordering::Relaxed);
        assert_eq!(after(30), Err(SomeDone));
    }
}
