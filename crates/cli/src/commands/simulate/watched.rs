//! What is taken down of the only run of `sim`, beside what is measured: traces, rt-app's logs, the
//! state at some times (docs/guide/traces.md).
//!
//! What must stay: what is of one run is refused where there are several, before anything runs.
//! What is taken down changes no result. Tests by part:
//! crates/cli/tests/all/traces.rs::`all_forms_of_one_run` (`watch`),
//! traces.rs::`the_option_of_before_is_still_understood` (`logged`),
//! traces.rs::`several_seeds_are_refused` and traces.rs::`one_seed_is_one_run` (`of_one_run`),
//! crates/cli/tests/all/results.rs::`the_state_at_some_times` and
//! results.rs::`a_state_that_cannot_be_shown_is_refused` (`dumped`).
//!
//! Tests: crates/cli/tests/all/traces.rs, crates/cli/tests/all/results.rs

use super::follow;
use crate::args::FormatName;
use crate::export::{A_FOLDER, Asked};
use crate::failure::Failure;
use crate::interrupt;
use crate::terminal::Terminal;
use crate::text;
use std::path::Path;
use wakeplace_engine::observe::Both;
use wakeplace_engine::{Observer, States};
use wakeplace_study::{Comparison, Experiment};
use wakeplace_trace::{LogError, RtAppLogs, Traces};

/// What is taken down of the only run, beside what is measured.
#[derive(Clone, Copy)]
pub(super) enum Watched<'a> {
    /// Nothing.
    Plain,
    /// rt-app's logs, to this folder.
    Logs(&'a Path),
    /// The state at these times, ns.
    States(&'a [u64]),
}

/// Refuses what is of one run where there are several.
pub(super) fn of_one_run(
    runs: usize,
    watched: &Watched<'_>,
    asked: Option<&Asked<'_>>,
) -> Result<(), Failure> {
    let option = match watched {
        Watched::Plain => asked.and_then(Asked::of_one_run),
        Watched::Logs(_) => Some("--export-rtapp-log"),
        Watched::States(_) => Some("--dump-state"),
    };
    match option.filter(|_| runs > 1) {
        None => Ok(()),
        Some(option) => Err(Failure::Input(format!(
            "{option}: it is of one run, and --seeds asks for {runs}; expected one seed"
        ))),
    }
}

/// Runs the only run while `observer` watches, and what takes traces down, if anything does.
pub(super) fn watch(
    experiment: &Experiment,
    traces: Option<&mut Traces>,
    observer: Option<&mut dyn Observer>,
    terminal: Terminal,
) -> Result<Comparison, Failure> {
    follow(terminal, |progress| match (traces, observer) {
        (Some(traces), Some(observer)) => {
            experiment.run_watched(&mut Both(traces, observer), progress)
        }
        (Some(traces), None) => experiment.run_watched(traces, progress),
        (None, Some(observer)) => experiment.run_watched(observer, progress),
        (None, None) => experiment.run(1, progress),
    })
}

/// Runs the only run and writes rt-app's logs of it.
pub(super) fn logged(
    experiment: &Experiment,
    folder: &Path,
    traces: Option<&mut Traces>,
    terminal: Terminal,
) -> Result<Comparison, Failure> {
    let Some(log) = experiment.workload.rtapp_log() else {
        return Err(Failure::Input(format!(
            "--export-rtapp-log: workload `{}` logs nothing; expected an rt-app file with `global` \
             and without `\"log_size\":\"disable\"`",
            experiment.workload.name
        )));
    };
    let workload = experiment.first_workload().map_err(Failure::input)?;
    let cannot = |error| match error {
        LogError::Write(error) => Failure::writing("--export-rtapp-log", &error, A_FOLDER),
        named => Failure::input(named),
    };
    interrupt::watch()?;
    let mut logs = RtAppLogs::create(log, &workload, folder).map_err(cannot)?;
    let comparison = watch(experiment, traces, Some(&mut logs), terminal)?;
    let files = logs.publish().map_err(cannot)?;
    terminal.detail(&format!("{files} log files in {}", folder.display()));
    Ok(comparison)
}

/// Runs the only run and takes the state at some times, all of which must be before its end.
pub(super) fn dumped(
    experiment: &Experiment,
    times: &[u64],
    form: FormatName,
    traces: Option<&mut Traces>,
    terminal: Terminal,
) -> Result<Comparison, Failure> {
    if !matches!(form, FormatName::Human | FormatName::Json) {
        return Err(Failure::Input(
            "--dump-state: the result has no place for it; expected --format human or json"
                .to_owned(),
        ));
    }
    let beyond = |at: u64, end: u64, what: &str| {
        let (at, end) = (text::time(at), text::time(end));
        Failure::Input(format!(
            "--dump-state {at}: {what} {end}; expected times up to that"
        ))
    };
    let duration_ns = experiment.options.duration_ns;
    if let Some(at) = times.iter().find(|at| **at > duration_ns) {
        return Err(beyond(*at, duration_ns, "the run takes"));
    }
    let mut states = States::at(times);
    let mut comparison = watch(experiment, traces, Some(&mut states), terminal)?;
    if let Some(at) = states.missed_ns() {
        let ends = comparison.runs.iter().flat_map(|runs| &runs.reports);
        let end_ns = ends.map(|report| report.end_ns).max().unwrap_or(0);
        return Err(beyond(at, end_ns, "the run was over at"));
    }
    comparison.states = states.taken();
    Ok(comparison)
}
