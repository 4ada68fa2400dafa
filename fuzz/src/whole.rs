//! From loaded inputs through the simulation to every form of output.
//!
//! What must stay: each form of output is made, and read again where that is possible; a run takes
//! `DURATION_NS`. Free: in which order forms are made. Tests by part:
//! kept.rs::`every_kept_input_keeps_the_promises` (`run`, `traced`, `reports`: kept inputs of
//! fuzz/corpus must be simulated) and the tests `keep_the_promises` of mutations.rs, which see a
//! panic of `run`, `scheduled`, `traced`, `logged`, `read_again`, `reports` or `page`, an empty
//! output or JSON that `report` refuses. `after_load`, `happened` and `iteration` have no test of
//! their own.
//!
//! Callers: targets.rs (`new`, `run`, `page`), bpf.rs (`scheduled`, `page`). Rule:
//! docs/internals/checks.md.
//!
//! Tests: fuzz/tests/all

use crate::{Reached, refused};
use std::path::Path;
use wakeplace_engine::observe::Both;
use wakeplace_engine::{Happening, Observer, Options, States};
use wakeplace_metrics::{Expectation, Window};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_report::{Format, Source, Style};
use wakeplace_study::{Comparison, Experiment, Scheduler, StudyError, trace_meter};
use wakeplace_trace::{RtAppLogs, Traces};
use wakeplace_workload::{LoadOptions, Spec, Workload};

/// Simulated time of each run, ns.
pub(crate) const DURATION_NS: u64 = 20_000_000;

/// Most iterations that are logged: a loop of nanoseconds has millions, a line on the disk each.
const MOST_LOGGED: u64 = 100_000;

/// Looks of the tables: of a wide terminal with colours, of a narrow one, of a file.
const STYLES: [Style; 3] = [
    Style {
        color: true,
        width: 120,
    },
    Style {
        color: false,
        width: 20,
    },
    Style {
        color: false,
        width: 0,
    },
];

/// Inputs that each have passed their loader.
pub(crate) struct Loaded {
    pub(crate) platform: Platform,
    pub(crate) workload: Spec,
    pub(crate) policies: Vec<Policy>,
    pub(crate) options: Options,
    pub(crate) seeds: Vec<u64>,
    pub(crate) expectations: Vec<Expectation>,
    pub(crate) oracle: bool,
}

impl Loaded {
    /// What `wakeplace sim` and `compare` run if nothing else is said.
    pub(crate) fn new(platform: Platform, workload: Spec, policies: Vec<Policy>) -> Self {
        Self {
            platform,
            workload,
            policies,
            options: Options {
                duration_ns: DURATION_NS,
                wakeup_cases: true,
                ..Options::default()
            },
            seeds: vec![1],
            expectations: Vec::new(),
            oracle: false,
        }
    }

    /// Simulates and writes every output.
    pub(crate) fn run(self) -> Reached {
        let experiment = Experiment {
            platform: self.platform,
            workload: self.workload,
            policies: self.policies,
            schedulers: Vec::new(),
            options: self.options,
            seeds: self.seeds,
            oracle: self.oracle,
            timeline: Some(Window {
                from_ns: 1_000_000,
                to_ns: DURATION_NS,
            }),
        };
        // All that can be refused is refused before a file is made.
        let result = match experiment.first_workload() {
            Err(error) => return after_load(&error),
            Ok(_) if experiment.policies.len() > 1 || experiment.seeds.len() > 1 => {
                experiment.run(1, &|_| {})
            }
            Ok(workload) => traced(&experiment, &workload),
        };
        match result {
            Ok(comparison) => {
                reports(&comparison, &self.expectations);
                Reached::Simulated
            }
            Err(error) => after_load(&error),
        }
    }
}

/// Runs a foreign scheduler and gives the result as JSON.
pub(crate) fn scheduled(platform: &Platform, scheduler: Scheduler) -> Result<String, StudyError> {
    let spec = Spec::parse("periodic:n=5,period=4ms,duty=30%", &LoadOptions::default());
    let experiment = Experiment {
        platform: platform.clone(),
        workload: spec.expect("a workload"),
        policies: Vec::new(),
        schedulers: vec![scheduler],
        options: Options {
            duration_ns: DURATION_NS,
            ..Options::default()
        },
        seeds: vec![1],
        oracle: false,
        timeline: None,
    };
    let comparison = experiment.run(1, &|_| {})?;
    Ok(wakeplace_report::comparison(
        &comparison,
        Format::Json,
        Style::default(),
    ))
}

/// How far inputs came that are each valid and do not go together; the error must have a message.
fn after_load(error: &dyn std::fmt::Display) -> Reached {
    refused(error);
    Reached::Loaded
}

/// Makes the only run, and writes every trace that can be taken down of it.
fn traced(experiment: &Experiment, workload: &Workload) -> Result<Comparison, StudyError> {
    let folder = tempfile::tempdir().expect("a folder for the traces");
    let platform = &experiment.platform;
    let mut traces = Traces::new(platform, workload, trace_meter(platform));
    let place = |name: &str| folder.path().join(name);
    traces.ftrace(&place("ftrace")).expect("a new file");
    let perfetto = traces.perfetto(&place("perfetto"), platform, workload);
    perfetto.expect("a new file");
    traces.parquet(&place("parquet")).expect("a new folder");
    let mut states = States::at(&[0, DURATION_NS / 2]);
    let mut iterations = Iterations(0);
    let mut watching = Both(&mut states, &mut iterations);
    let mut comparison = experiment.run_watched(&mut Both(&mut traces, &mut watching), &|_| {})?;
    comparison.states = states.taken();
    for (name, value) in comparison.runs[0].metrics[0].values.iter() {
        traces.metric(name, value.value, value.unit);
    }
    traces.publish().expect("traces that can be written");
    if iterations.0 <= MOST_LOGGED {
        logged(experiment, workload, &place("logs"))?;
    }
    read_again(&place("ftrace"), platform);
    read_again(&place("perfetto"), platform);
    Ok(comparison)
}

/// Counts what rt-app's logs would have lines of.
struct Iterations(u64);

impl Observer for Iterations {
    /// Counts passes, which the logs must have too.
    fn happened(&mut self, _: u64, what: &Happening) {
        if let Happening::Iteration { .. } = *what {
            self.iteration()
        }
    }
}

impl Iterations {
    /// One pass of an rt-app phase.
    fn iteration(&mut self) {
        self.0 += 1;
    }
}

/// Makes the run again with rt-app's logs, where its file wants them: a line for each iteration.
fn logged(experiment: &Experiment, workload: &Workload, folder: &Path) -> Result<(), StudyError> {
    let Some(log) = experiment.workload.rtapp_log() else {
        return Ok(());
    };
    std::fs::create_dir(folder).expect("a new folder");
    let written = match RtAppLogs::create(log, workload, folder) {
        Err(error) => Err(error),
        Ok(mut logs) => {
            experiment.run_watched(&mut logs, &|_| {})?;
            logs.publish()
        }
    };
    if let Err(error) = written {
        refused(&error);
    }
    Ok(())
}

/// Checks that what was exported is a recording, or is refused with a reason.
fn read_again(path: &Path, platform: &Platform) {
    let argument = format!("{}{}", wakeplace_trace::PREFIX, path.display());
    if let Err(error) = wakeplace_trace::load(&argument, Some(platform)) {
        refused(&error);
    }
}

/// Checks that every form of the result is written, and the expectations with it.
fn reports(comparison: &Comparison, expectations: &[Expectation]) {
    for style in STYLES {
        assert!(!wakeplace_report::comparison(comparison, Format::Human, style).is_empty());
    }
    for format in [Format::Csv, Format::Md] {
        let text = wakeplace_report::comparison(comparison, format, Style::default());
        assert!(!text.is_empty());
    }
    for format in [Format::Csv, Format::Json] {
        assert!(!wakeplace_report::wakeup_cases(comparison, format).is_empty());
    }
    let json = wakeplace_report::comparison(comparison, Format::Json, Style::default());
    page(&json);
    for expectation in expectations {
        for runs in &comparison.runs {
            let _ = expectation.judge(&comparison.runs[0].metrics, &runs.metrics);
        }
    }
}

/// Checks that `report` makes a page of our own JSON.
pub(crate) fn page(json: &str) {
    let whole = serde_json::from_str::<serde_json::Value>(json);
    assert!(whole.is_ok(), "our JSON is none: {whole:?}");
    let source = Source {
        name: "result.json",
        text: json,
    };
    let page = wakeplace_report::html(&[source]);
    assert!(page.is_ok(), "`report` refuses our own JSON: {page:?}");
}
