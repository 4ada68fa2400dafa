//! What the traces of the recorded runs show beside the shares of run time: read from the file that
//! [`traced_run`] writes (docs/results/fidelity.md).
//!
//! What must stay: the form of the file that `traced_run` writes and `read` reads. Free: what
//! leaves the tables of pages as they are. Tests by part:
//! `shares_of_the_traces_are_the_recorded_ones` (`read`, `kernel_run`, `wakeups`, `run_ns`),
//! `stretches_are_releases_in_a_row` (`stretches`), `run_time_is_cut_to_the_window` (`run_us`).
//! `parse`, `switches` have no test of their own: the example recorded_traces runs them on traces
//! that are not in the repository.
//!
//! Callers: crates/fidelity/examples/recorded_traces.rs (`traced_run`), placement/truth.rs
//! (`kernel_run`).
//!
//! Tests: below

use super::super::agree::Wakeups;
use super::super::inside::{self, Counts, Inside};
use super::super::sets::TaskSpec;
use super::super::{SetRun, TaskRun, trace};
use super::data::{self, Recorded, Rules, Run};
use crate::Error;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use wakeplace_platform::Platform;
use wakeplace_price::cost::{self, Cost};
use wakeplace_trace::read::Line;

/// The file within the repository, and its text.
const FILE: (&str, &str) = (
    "crates/fidelity/data/recorded_traces.toml",
    include_str!("../../../data/recorded_traces.toml"),
);

/// All runs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Traces {
    #[serde(rename = "run")]
    runs: Vec<Traced>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Traced {
    rules: Rules,
    set: String,
    repeat: u32,
    cpu_energy_j: f64,
    mean_khz: Vec<f64>,
    freq_changes: u64,
    stretches: u64,
    moves: u64,
    /// A second, of all CPUs and threads.
    switches: f64,
    tasks: Vec<TracedTask>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct TracedTask {
    /// CPU of its first run in the trace.
    first_cpu: u32,
    /// Run time in the window by CPU.
    run_us: BTreeMap<String, u64>,
    /// First release, number of releases, the CPU on which these jobs began.
    wakeups: Vec<[u64; 3]>,
}

impl TracedTask {
    /// By release, from stretches `[first, count, cpu]`.
    fn wakeups(&self) -> Wakeups {
        let mut all = Wakeups::new();
        for [first, count, cpu] in &self.wakeups {
            all.extend((*first..first + count).map(|release| (release, *cpu as u32)));
        }
        all
    }

    /// By CPU; the file has us.
    fn run_ns(&self) -> Result<BTreeMap<u32, u64>, String> {
        let pairs = self.run_us.iter().map(|(cpu, us)| {
            let wrong = || format!("run_us: `{cpu}` is no CPU");
            Ok((cpu.parse().map_err(|_| wrong())?, us * 1000))
        });
        pairs.collect()
    }
}

impl Traces {
    /// Reads the file.
    pub(crate) fn read() -> Result<Self, Error> {
        let (name, text) = FILE;
        toml::from_str(text).map_err(|error| Error::Input(format!("{name}: {error}")))
    }

    /// What the kernel did in a recorded run.
    pub(crate) fn kernel_run(&self, run: &Run, set: &data::RecordedSet) -> Result<SetRun, Error> {
        let wrong = |what: &str| {
            let (file, _) = FILE;
            Error::Input(format!("{file}: run {}: {what}", run.place()))
        };
        let same = |traced: &&Traced| run.is(traced.rules, &traced.set, traced.repeat);
        let traced = self.runs.iter().find(same);
        let traced = traced.ok_or_else(|| wrong("it is not there"))?;
        if traced.tasks.len() != set.tasks.len() {
            return Err(wrong("expected as many tasks as the set has"));
        }
        let mut tasks = Vec::new();
        for (at, task) in traced.tasks.iter().enumerate() {
            tasks.push(TaskRun {
                wakeups: task.wakeups(),
                run_ns: task.run_ns().map_err(|error| wrong(&error))?,
                job_ns: Some(run.job_ns(set, at)),
                first_cpu: Some(task.first_cpu),
            });
        }
        Ok(SetRun {
            tasks,
            reasons: Vec::new(),
            cost: Cost::new(Some(traced.cpu_energy_j), Vec::new()),
            inside: Inside {
                mean_khz: traced.mean_khz.iter().copied().map(Some).collect(),
                freq_changes: traced.freq_changes,
                stretches: traced.stretches,
                moves: traced.moves,
                counts: Counts {
                    switches: Some(traced.switches),
                    ..Counts::default()
                },
            },
        })
    }
}

/// What the log of a recorded run says.
struct Log {
    start_ns: u64,
    window_ns: Range<u64>,
    tids: Vec<i32>,
    /// By CPU, when the window begins.
    khz: Vec<u32>,
}

impl Log {
    /// The window and its events, of a recording's text. None: it is of another form.
    fn parse(text: &str) -> Option<Self> {
        let after = |line: &str, word: &str| {
            let mut words = line.split_whitespace().skip_while(|own| *own != word);
            words.nth(1).map(str::to_owned)
        };
        let first = text.lines().next()?;
        let begin_ns = after(first, "window_ns")?.parse().ok()?;
        let end_ns = first
            .split_whitespace()
            .skip_while(|word| *word != "window_ns");
        let tids = text.lines().filter_map(|line| after(line, "tid"));
        let khz = text
            .lines()
            .filter_map(|line| after(line, "freq_at_window_start"));
        Some(Self {
            start_ns: after(first, "start_ns")?.parse().ok()?,
            window_ns: begin_ns..end_ns.into_iter().nth(2)?.parse().ok()?,
            tids: tids.map(|tid| tid.parse().ok()).collect::<Option<_>>()?,
            khz: khz.map(|khz| khz.parse().ok()).collect::<Option<_>>()?,
        })
    }
}

/// One run of that file, from the log and the trace of a recorded run: `rules` is eas or cas.
///
/// # Errors
/// There is no such run, or its log or trace cannot be read.
pub fn traced_run(
    rules: &str,
    set: &str,
    repeat: u32,
    log: &str,
    trace: &str,
) -> Result<String, Error> {
    let recorded: Recorded = data::recorded()?;
    let wrong = |what: &str| Error::Input(format!("{rules} {set} {repeat}: {what}"));
    let platform = Platform::load(&recorded.platform).map_err(Error::input)?;
    let of_set = recorded.sets.iter().find(|own| own.name == set);
    let specs = of_set
        .ok_or_else(|| wrong("there is no such set"))?
        .to_simulate()
        .tasks;
    let log = Log::parse(log).filter(|log| log.tids.len() == specs.len());
    let log = log.ok_or_else(|| wrong("its log is none of this set"))?;
    let tasks: Vec<(&TaskSpec, i32)> = specs.iter().zip(log.tids.iter().copied()).collect();
    let traced = trace::wakeups(trace, log.start_ns, &log.window_ns, &tasks);
    let domains = platform.freq_domains.iter();
    let khz: Vec<Option<u32>> = domains
        .map(|domain| log.khz.get(domain.cpus.first()?.index()).copied())
        .collect();
    let inside = inside::of_trace(trace, &platform, &log.window_ns, &log.tids, &khz);
    let opps = khz.iter().enumerate();
    let mut opps: Vec<Option<u16>> = opps
        .map(|(domain, khz)| cost::opp(&platform, domain, (*khz)?.into()))
        .collect();
    let energy_j = cost::of_trace(
        trace,
        &cost::Guest::of(&platform),
        &log.window_ns,
        &mut opps,
    )
    .ok_or_else(|| wrong("its trace says too little of frequencies"))?;
    let mean_khz: Option<Vec<String>> = inside
        .mean_khz
        .iter()
        .map(|khz| khz.map(|khz| format!("{khz:.0}.0")))
        .collect();
    let seconds = (log.window_ns.end - log.window_ns.start) as f64 / 1e9;
    let mut text = format!(
        "[[run]]\nrules = \"{rules}\"\nset = \"{set}\"\nrepeat = {repeat}\n\
         cpu_energy_j = {energy_j:.4}\nmean_khz = [{}]\nfreq_changes = {}\nstretches = {}\n\
         moves = {}\nswitches = {:.1}\ntasks = [\n",
        mean_khz.ok_or_else(|| wrong("no frequencies"))?.join(", "),
        inside.freq_changes,
        inside.stretches,
        inside.moves,
        switches(trace, &log.window_ns) as f64 / seconds,
    );
    for (at, tid) in log.tids.iter().enumerate() {
        let first = traced.first_cpus[at].ok_or_else(|| wrong("a task that does not run"))?;
        let _ = writeln!(
            text,
            "  {{ first_cpu = {first}, run_us = {{ {} }}, wakeups = [\n    {}] }},",
            run_us(trace, &log.window_ns, *tid),
            stretches(&traced.wakeups[at]),
        );
    }
    text.push_str("]\n");
    Ok(text)
}

/// Context switches in the window.
fn switches(trace: &str, window_ns: &Range<u64>) -> usize {
    let lines = trace.lines().filter_map(Line::parse);
    let inside = |line: &Line<'_>| line.name == "sched_switch" && window_ns.contains(&line.time_ns);
    lines.filter(inside).count()
}

/// A task's run time in the window by CPU. One that runs when the trace begins has run before.
fn run_us(trace: &str, window_ns: &Range<u64>, tid: i32) -> String {
    let mut by_cpu: BTreeMap<u32, u64> = BTreeMap::new();
    let mut since: Option<(u32, u64)> = None;
    let mut seen = false;
    let mut add = |cpu: u32, from_ns: u64, to_ns: u64| {
        let from_ns = from_ns.max(window_ns.start);
        *by_cpu.entry(cpu).or_default() += to_ns.min(window_ns.end).saturating_sub(from_ns);
    };
    for line in trace.lines().filter_map(Line::parse) {
        if line.name != "sched_switch" {
            continue;
        }
        if line.number("prev_pid") == Some(tid) {
            match since.take() {
                Some((cpu, from_ns)) => add(cpu, from_ns, line.time_ns),
                None if !seen => add(line.context.cpu, 0, line.time_ns),
                None => {}
            }
            seen = true;
        }
        if line.number("next_pid") == Some(tid) {
            since = Some((line.context.cpu, line.time_ns));
            seen = true;
        }
    }
    if let Some((cpu, from_ns)) = since {
        add(cpu, from_ns, u64::MAX);
    }
    by_cpu.retain(|_, ns| *ns > 0);
    let pairs = by_cpu
        .iter()
        .map(|(cpu, ns)| format!("{cpu} = {}", ns / 1000));
    pairs.collect::<Vec<_>>().join(", ")
}

/// Releases in a row whose jobs began on one CPU.
fn stretches(wakeups: &Wakeups) -> String {
    let mut all: Vec<[u64; 3]> = Vec::new();
    for (release, cpu) in wakeups {
        match all.last_mut() {
            Some([first, count, last])
                if *first + *count == *release && *last == u64::from(*cpu) =>
            {
                *count += 1;
            }
            _ => all.push([*release, 1, u64::from(*cpu)]),
        }
    }
    let shown = all
        .iter()
        .map(|[first, count, cpu]| format!("[{first}, {count}, {cpu}]"));
    let shown: Vec<String> = shown.collect();
    // A line of the file has room for two.
    let parts: Vec<String> = shown.chunks(2).map(|pair| pair.join(", ")).collect();
    parts.join(",\n    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: figures that were taken from the traces by two programs agree: each task's shares of
    /// run time here, and those that whoever recorded the runs had computed.
    #[test]
    fn shares_of_the_traces_are_the_recorded_ones() {
        let recorded = data::recorded().expect("valid");
        let traces = Traces::read().expect("valid");
        let platform = Platform::load(&recorded.platform).expect("built in");
        let clusters = super::super::Clusters::of(&platform);
        let mut runs = 0;
        for rules in Rules::ALL {
            for set in &recorded.sets {
                for run in recorded.repeats(rules, &set.name) {
                    let kernel = traces.kernel_run(run, set).expect("there");
                    for (task, own) in kernel.tasks.iter().zip(&run.tasks) {
                        let expected = own.percent(&clusters.names);
                        let found = task.shares(&clusters);
                        let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
                        assert!(apart.fold(0.0, f64::max) < 0.1, "{found:?} {expected:?}");
                        // 10 s of 16 ms, each release a wake-up, but for a late job.
                        assert!((600..=626).contains(&task.wakeups.len()));
                    }
                    runs += 1;
                }
            }
        }
        assert_eq!(runs, 18);
    }

    #[test]
    fn stretches_are_releases_in_a_row() {
        let wakeups = Wakeups::from([(3, 1), (4, 1), (6, 1), (7, 0)]);
        assert_eq!(stretches(&wakeups), "[3, 2, 1], [6, 1, 1],\n    [7, 1, 0]");
    }

    #[test]
    fn run_time_is_cut_to_the_window() {
        let line = |us: u32, prev: u32, next: u32| {
            format!(
                " x-1 [003] d..2. 1.{us:06}: sched_switch: prev_comm=a prev_pid={prev} \
                 prev_state=S ==> next_comm=b next_pid={next}\n"
            )
        };
        let trace = [line(100, 7, 0), line(300, 0, 7), line(900, 7, 0)].concat();
        let window_ns = 1_000_050_000..1_000_500_000;
        assert_eq!(run_us(&trace, &window_ns, 7), "3 = 250");
    }
}
