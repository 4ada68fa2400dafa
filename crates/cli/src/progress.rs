//! Progress on standard error, never on standard output: a bar on a terminal, lines elsewhere.

use crate::args::Verbosity;
use crate::terminal::Terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use wakeplace_study::Progress;
use wakeplace_text::printable;

/// A run shorter than this shows no bar.
const BAR_AFTER: Duration = Duration::from_millis(500);
/// A run shorter than this writes no lines.
const LINES_AFTER: Duration = Duration::from_secs(2);

/// Follows the runs of one command.
pub(crate) struct Follower {
    terminal: Terminal,
    started: Instant,
    view: View,
}

enum View {
    Silent,
    Bar(ProgressBar, Option<Waiter>),
    /// Tenths that were reported.
    Lines(Mutex<usize>),
}

/// Shows the bar after a while unless the run ends first.
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
                bar.set_style(style());
                let waiter = Waiter::start(bar.clone());
                View::Bar(bar, waiter)
            }
            _ => View::Lines(Mutex::new(0)),
        };
        Self {
            terminal,
            started: now(),
            view,
        }
    }

    /// A run has finished; called from any thread.
    pub(crate) fn report(&self, progress: &Progress) {
        match &self.view {
            View::Silent => {}
            View::Bar(bar, _) => {
                bar.set_length(progress.total as u64);
                bar.set_message(printable(&progress.label).into_owned());
                // Threads report out of order: the bar never goes back.
                bar.set_position(bar.position().max(progress.done as u64));
            }
            View::Lines(shown) => self.line(shown, progress),
        }
    }

    fn line(&self, shown: &Mutex<usize>, progress: &Progress) {
        let Ok(mut shown) = shown.lock() else { return };
        let Progress { done, total, .. } = *progress;
        let tenths = done * 10 / total.max(1);
        if tenths > *shown && self.started.elapsed() >= LINES_AFTER {
            *shown = tenths;
            let seconds = self.started.elapsed().as_secs();
            let line = format!(
                "{:>3} % ({done} of {total} runs, {seconds} s)\n",
                tenths * 10
            );
            self.terminal.eprint(&line);
        }
    }

    /// Clears the bar; says how long it took with `-v`.
    pub(crate) fn finish(self) {
        if let View::Bar(bar, waiter) = self.view {
            if let Some(waiter) = waiter {
                waiter.stop();
            }
            bar.finish_and_clear();
        }
        let seconds = self.started.elapsed().as_secs_f64();
        self.terminal.detail(&format!("took {seconds:.2} s"));
    }
}

impl Waiter {
    /// None if there is no thread to be had: then there is no bar.
    fn start(bar: ProgressBar) -> Option<Self> {
        let (stop, stopped) = mpsc::channel();
        let wait = move || {
            if stopped.recv_timeout(BAR_AFTER) == Err(RecvTimeoutError::Timeout) {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.enable_steady_tick(Duration::from_millis(100));
            }
        };
        let thread = thread::Builder::new().spawn(wait).ok()?;
        Some(Self { stop, thread })
    }

    fn stop(self) {
        // The receiver is gone if the bar is shown already.
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:30.cyan} {pos}/{len} runs, {eta} left  {msg:.dim}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[allow(
    clippy::disallowed_methods,
    reason = "progress is shown in wall time, decides nothing"
)]
fn now() -> Instant {
    Instant::now()
}
