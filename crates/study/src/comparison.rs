//! What an experiment found.

mod ignored;

use ignored::ignored;
use wakeplace_engine::{Ended, MachineState, RunReport, Waiting, WaitsFor};
use wakeplace_metrics::{RunMetrics, Timeline, independent};
use wakeplace_workload::Workload;

/// The runs of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Name of the platform.
    pub platform: String,
    /// Hash of all that the platform consists of.
    pub platform_hash: String,
    /// The workload as typed.
    pub workload: String,
    /// Hash of all that the workload consists of, before a seed and a machine are known.
    pub workload_hash: String,
    /// What was drawn beside what the workload draws; None: nothing.
    pub jitter: Option<String>,
    /// Simulated time asked for, ns.
    pub duration_ns: u64,
    /// Seeds, in the order of the runs.
    pub seeds: Vec<u64>,
    /// Switches of the machine's model that are not at their default, key and value.
    pub settings: Vec<(String, String)>,
    /// All switches of the machine's model, key and value.
    pub options: Vec<(String, String)>,
    /// Metrics that the workload is measured by, the one it is read by first.
    pub measured_by: Vec<String>,
    /// Per policy, the base first.
    pub runs: Vec<PolicyRuns>,
    /// Below this a difference does not matter, percent.
    pub margin_pct: f64,
    /// What everything was at the times asked for; of one run only.
    pub states: Vec<MachineState>,
    /// How to repeat it; filled in by who ran it.
    pub origin: Origin,
    /// How runs ended that did not simply fill their time: a line each.
    pub notes: Vec<String>,
    /// What a reader should know before believing the figures: a sentence each, with a remedy.
    pub warnings: Vec<String>,
}

/// Where a result comes from. Empty: nobody said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// A command that gives it again.
    pub command: String,
    /// Commit of the program that ran it.
    pub commit: String,
}

/// The runs of one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyRuns {
    /// Its name as typed.
    pub policy: String,
    /// Parameters changed from what the name gives, key and value.
    pub overrides: Vec<(String, String)>,
    /// All parameters in force, key and value.
    pub settings: Vec<(String, String)>,
    /// Metrics, one per seed.
    pub metrics: Vec<RunMetrics>,
    /// Facts, one per seed.
    pub reports: Vec<RunReport>,
    /// What ran where in a part of the first seed's run, if it was asked for.
    pub timeline: Option<Timeline>,
}

/// What each warning of a run that could go no further says, and no other.
const ENDED: &str = ": the run ended at ";

impl Comparison {
    /// Why the first run that could go no further could not, by its warning.
    #[must_use]
    pub fn why_stuck(&self) -> Option<&str> {
        let mut warnings = self.warnings.iter().map(String::as_str);
        warnings.find(|warning| warning.contains(ENDED))
    }
}

/// What a reader should know of these runs.
pub(crate) fn warnings(runs: &[PolicyRuns], workloads: &[Workload], seeds: &[u64]) -> Vec<String> {
    let mut all = Vec::new();
    if runs.len() > 1 {
        all.extend(one_seed(seeds));
    }
    all.extend(seeds_vary_nothing(runs, workloads));
    all.extend(oddities(runs, workloads));
    all.extend(unmeasured(runs));
    all
}

/// One seed tells nothing about chance.
pub(crate) fn one_seed(seeds: &[u64]) -> Option<String> {
    let [seed] = seeds else { return None };
    Some(format!(
        "one seed ({seed}) shows no spread, so no difference can be told from chance; \
         use `--seeds 10`"
    ))
}

/// Every seed gave the same run: there is no chance to speak of.
fn seeds_vary_nothing(runs: &[PolicyRuns], workloads: &[Workload]) -> Option<String> {
    let same = |run: &PolicyRuns| run.metrics.len() > 1 && independent(&run.metrics).len() == 1;
    if runs.is_empty() || !runs.iter().all(same) {
        return None;
    }
    let same_scripts = workloads.windows(2).all(|pair| pair[0] == pair[1]);
    let remedy = match same_scripts {
        true => {
            "to vary it, `--jitter start=5ms,run=5%` draws starts and run times of recordings \
                 and rt-app files from the seed"
        }
        false => "what the seeds draw makes no difference here",
    };
    Some(format!(
        "the {} seeds give the same run, event by event: it counts as one, without an interval; \
         {remedy}",
        runs[0].metrics.len()
    ))
}

/// What is odd about the runs themselves.
pub(crate) fn oddities(runs: &[PolicyRuns], workloads: &[Workload]) -> Vec<String> {
    let of_one = |run| {
        let ends = stuck(run, workloads).into_iter();
        ends.chain(ejected(run))
            .chain(deadlock(run, workloads))
            .chain(too_many(run, workloads))
            .chain(missed(run))
            .chain(uncounted(run, workloads))
            .chain(untimed(run, workloads))
            .chain(ignored(run, workloads))
    };
    runs.iter().flat_map(of_one).chain(same(runs)).collect()
}

/// A task that never lets time pass ends the run.
fn stuck(run: &PolicyRuns, workloads: &[Workload]) -> Option<String> {
    let both = run.reports.iter().zip(workloads);
    let stuck = both.filter_map(|(report, workload)| match report.ended {
        Ended::ZeroTimeLoop { task } => Some((thread(report, workload, task), report.end_ns)),
        _ => None,
    });
    stuck.take(1).last().map(|(task, end_ns)| {
        format!(
            "{}: the run ended at {end_ns} ns since task `{task}` repeats steps that take no time; \
             give it something that does (`run`, `sleep` or a timer)",
            run.policy
        )
    })
}

/// A sched_ext scheduler that ends takes the run with it.
fn ejected(run: &PolicyRuns) -> Option<String> {
    let ends = run.reports.iter().filter_map(|report| match &report.ended {
        Ended::Scheduler { exit } => Some((report, exit)),
        _ => None,
    });
    ends.take(1).last().map(|(report, exit)| {
        let name = report.sched_ext.as_ref().map_or("", |ext| &ext.name);
        format!(
            "{}: the run ended at {} ns since the scheduler `{name}` did: {exit}",
            run.policy, report.end_ns
        )
    })
}

/// Tasks named of a run in which all wait.
const WAITS_NAMED: usize = 3;

/// Tasks that wait for each other for ever end the run.
fn deadlock(run: &PolicyRuns, workloads: &[Workload]) -> Option<String> {
    let both = run.reports.iter().zip(workloads);
    let (report, workload, waits) = both
        .filter_map(|(report, workload)| match &report.ended {
            Ended::Deadlock { waits } => Some((report, workload, waits)),
            _ => None,
        })
        .next()?;
    let name = |waiting: &Waiting| {
        let task = thread(report, workload, waiting.task);
        format!("`{task}` for {}", awaited(report, workload, &waiting.waits))
    };
    let named: Vec<String> = waits.iter().take(WAITS_NAMED).map(name).collect();
    let more = match waits.len().saturating_sub(WAITS_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "{}: the run ended at {} ns since every task that is left waits for one that never comes: \
         {}{more}; {}",
        run.policy,
        report.end_ns,
        named.join(", "),
        remedy(waits)
    ))
}

/// The name of a run's thread.
fn thread<'a>(report: &'a RunReport, workload: &'a Workload, task: u32) -> &'a str {
    let script = || workload.tasks.get(task as usize).map(|t| t.name.as_str());
    let own = report.threads.get(task as usize).map(|t| t.name.as_str());
    own.or_else(script).unwrap_or("unknown")
}

/// What a task waits for.
fn awaited(report: &RunReport, workload: &Workload, waits: &WaitsFor) -> String {
    let shared = &workload.shared;
    let name = |name: Option<&String>| format!("`{}`", name.map_or("", String::as_str));
    match *waits {
        WaitsFor::Unit { channel } => name(shared.channels.get(channel as usize).map(|c| &c.name)),
        WaitsFor::Room { channel } => {
            let channel = name(shared.channels.get(channel as usize).map(|c| &c.name));
            format!("room in {channel}")
        }
        WaitsFor::Mutex { mutex, holder } => {
            let mutex = name(shared.mutexes.get(mutex as usize).map(|m| &m.name));
            match holder {
                Some(task) => format!(
                    "mutex {mutex}, held by `{}`",
                    thread(report, workload, task)
                ),
                None => format!("mutex {mutex}"),
            }
        }
        WaitsFor::Condition { condition } => {
            let condition = shared.conditions.get(condition as usize);
            format!("condition {}", name(condition.map(|c| &c.name)))
        }
        WaitsFor::Barrier {
            barrier,
            came,
            parties,
        } => {
            let barrier = name(shared.barriers.get(barrier as usize).map(|b| &b.name));
            format!("barrier {barrier}, where {came} of {parties} are")
        }
    }
}

/// What would let them go on.
fn remedy(waits: &[Waiting]) -> &'static str {
    let units = waits
        .iter()
        .all(|w| matches!(w.waits, WaitsFor::Unit { .. }));
    if units {
        "let somebody post"
    } else {
        "let somebody post, take, unlock, signal or join them"
    }
}

/// A task that forks more threads than there may be ends the run.
fn too_many(run: &PolicyRuns, workloads: &[Workload]) -> Option<String> {
    let both = run.reports.iter().zip(workloads);
    let mut ends = both.filter_map(|(report, workload)| match report.ended {
        Ended::ForkLimit {
            task,
            script,
            limit,
        } => Some((report, workload, task, script, limit)),
        _ => None,
    });
    ends.next().map(|(report, workload, task, script, limit)| {
        let forked = workload
            .tasks
            .get(script as usize)
            .map_or("", |t| t.name.as_str());
        format!(
            "{}: the run ended at {} ns since task `{}` forks one more `{forked}` than the {limit} \
             that there can be; let it fork less often",
            run.policy,
            report.end_ns,
            thread(report, workload, task)
        )
    })
}

/// A run that its workload's warm-up outlasts counts nothing.
fn uncounted(run: &PolicyRuns, workloads: &[Workload]) -> Option<String> {
    let both = run.reports.iter().zip(workloads);
    let mut counts = both.filter_map(|(report, workload)| {
        let none = report.counted.is_none() && report.ended == Ended::Duration;
        workload.count.as_ref().filter(|_| none)
    });
    counts.next().map(|count| {
        if count.warm_up_ns == 0 {
            return format!(
                "{}: nothing was counted: the run ended before its tasks had begun; use a longer \
                 `--duration`",
                run.policy
            );
        }
        format!(
            "{}: no throughput: the run ends within the warm-up of {}; use a longer `--duration` \
             or a shorter `warmup`",
            run.policy,
            time(count.warm_up_ns)
        )
    })
}

/// A time that the workload is to measure has no value.
fn untimed(run: &PolicyRuns, workloads: &[Workload]) -> Option<String> {
    let both = run.metrics.iter().zip(workloads);
    let mut missing = both.filter_map(|(metrics, workload)| {
        let has = |name: &str| metrics.values.get(name).is_some();
        let mut empty = workload.series.iter().filter(|series| {
            let mut names = series.metrics();
            names.next().is_some_and(|(name, _)| !has(&name))
        });
        empty.next().map(|series| &series.name)
    });
    missing.next().map(|name| {
        format!(
            "{}: no `{name}` was measured: the run was over before; use a longer `--duration`",
            run.policy
        )
    })
}

/// How runs of tasks that come to an end ended; nothing for tasks that go on for ever.
pub(crate) fn endings(
    runs: &[PolicyRuns],
    workloads: &[Workload],
    duration_ns: u64,
) -> Vec<String> {
    let one = |run: &PolicyRuns| {
        let parts = done(run)
            .into_iter()
            .chain(cut(run, workloads, duration_ns));
        let said = parts.collect::<Vec<_>>().join("; ");
        (!said.is_empty()).then(|| match runs.len() {
            1 => said,
            _ => format!("{}: {said}", run.policy),
        })
    };
    runs.iter().filter_map(one).collect()
}

/// When all tasks were done, if they ever were.
fn done(run: &PolicyRuns) -> Option<String> {
    let done = |report: &&RunReport| report.ended == Ended::AllTasksExited;
    let ends = || run.reports.iter().filter(done).map(|report| report.end_ns);
    let (first, last) = (time(ends().min()?), time(ends().max()?));
    let span = if first == last {
        first
    } else {
        format!("{first} to {last}")
    };
    Some(format!("ended at {span}: all tasks were done"))
}

/// How many runs the duration cut before all tasks were done.
fn cut(run: &PolicyRuns, workloads: &[Workload], duration_ns: u64) -> Option<String> {
    let is_cut = |(report, workload): &(&RunReport, &Workload)| {
        report.ended == Ended::Duration
            && workload.comes_to_an_end()
            && !workload.name.starts_with(wakeplace_trace::PREFIX) // its tasks sleep on
    };
    let cut = run.reports.iter().zip(workloads).filter(is_cut).count();
    let of = match run.reports.len() {
        1 => String::new(),
        all => format!(" in {cut} of {all} runs"),
    };
    let end = time(duration_ns);
    (cut > 0)
        .then(|| format!("cut at {end}{of}: not all tasks were done; use a longer `--duration`"))
}

fn time(ns: u64) -> String {
    const NS_PER_S: u64 = 1_000_000_000;
    if ns >= NS_PER_S {
        format!("{:.2} s", ns as f64 / 1e9)
    } else {
        format!("{:.2} ms", ns as f64 / 1e6)
    }
}

impl PolicyRuns {
    /// All tasks came to their end, in every run.
    #[must_use]
    pub fn all_tasks_ended(&self) -> bool {
        let ended = |report: &RunReport| report.ended == Ended::AllTasksExited;
        !self.reports.is_empty() && self.reports.iter().all(ended)
    }

    /// A run ended since a task repeats steps that take no time, since all wait for ever, or since
    /// a sched_ext scheduler ended.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        self.reports.iter().any(Self::stuck)
    }

    /// A run could go no further.
    pub(crate) fn stuck(report: &RunReport) -> bool {
        matches!(
            report.ended,
            Ended::ZeroTimeLoop { .. }
                | Ended::Deadlock { .. }
                | Ended::ForkLimit { .. }
                | Ended::Scheduler { .. }
        )
    }
}

/// Periods missed: the machine is too small for the workload under this policy.
fn missed(run: &PolicyRuns) -> Option<String> {
    let total = |metric: &str| {
        run.metrics
            .iter()
            .filter_map(|m| m.values.get(metric))
            .fold(0.0, |sum, value| sum + value)
    };
    let (missed, periods) = (total("missed_periods_total"), total("periods_total"));
    (missed > 0.0 && missed * 100.0 > periods).then(|| {
        format!(
            "{}: {:.1} % of all periods were missed; less work was done than asked for, so look \
             at the latencies before the energy, or lighten the workload",
            run.policy,
            missed / periods * 100.0
        )
    })
}

fn unmeasured(runs: &[PolicyRuns]) -> Option<String> {
    let none = runs.iter().flat_map(|r| &r.metrics).all(|m| {
        let has = |metric: &str| m.values.get(metric).is_some();
        !has("energy_j") && !has("cpu_energy_j") && !has("cpu_energy_bogo")
    });
    none.then(|| {
        "the platform file has no power figures, so there is no energy; `wakeplace platform list` \
         shows those that have"
            .to_owned()
    })
}

/// Policies whose runs are the same event by event.
fn same(runs: &[PolicyRuns]) -> Option<String> {
    let (base, others) = runs.split_first()?;
    let hashes = |run: &PolicyRuns| -> Vec<u64> {
        run.reports.iter().map(|report| report.event_hash).collect()
    };
    let same: Vec<&str> = others
        .iter()
        .filter(|other| hashes(other) == hashes(base))
        .map(|other| other.policy.as_str())
        .collect();
    (!same.is_empty()).then(|| {
        format!(
            "{} made the same decisions as {} in every run: under these settings nothing led them \
             to decide differently",
            same.join(" and "),
            base.policy
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{PolicyRuns, oddities};
    use wakeplace_engine::sched_ext::{Exit, ExitKind};
    use wakeplace_engine::{Ended, RunReport, SchedExtReport, Waiting, WaitsFor};
    use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

    fn ended(ended: Ended) -> PolicyRuns {
        let report = RunReport {
            events_by_kind: Default::default(),
            end_ns: 1_234_567,
            ended,
            events: 0,
            event_hash: 0,
            start_ns: None,
            energy_active: false,
            counted: None,
            lock_wait_ns: None,
            line_wait_ns: None,
            double_placements: None,
            tasks: Vec::new(),
            threads: Vec::new(),
            sched_ext: None,
            reasons: Vec::new(),
        };
        PolicyRuns {
            policy: "linux-4.17".to_owned(),
            overrides: Vec::new(),
            settings: Vec::new(),
            metrics: Vec::new(),
            reports: vec![report],
            timeline: None,
        }
    }

    fn said(run: PolicyRuns) -> (String, bool) {
        let spec = Spec::parse("context-switch:pairs=2", &LoadOptions::default()).unwrap();
        let workload = spec.expand(1, MachineFacts::alike(4)).unwrap();
        let stuck = run.is_stuck();
        (oddities(&[run], &[workload]).join("\n"), stuck)
    }

    #[test]
    fn who_waits_for_what_is_named() {
        let unit = |(task, channel)| Waiting {
            task,
            waits: WaitsFor::Unit { channel },
        };
        let waits = [(0, 1), (1, 0), (2, 3), (3, 2)].map(unit).to_vec();
        let (text, stuck) = said(ended(Ended::Deadlock { waits }));
        assert!(stuck && text.contains(super::ENDED), "exit code 1");
        for part in [
            "linux-4.17: the run ended at 1234567 ns",
            "`parent-0` for `pair 0 to parent`, `child-0` for `pair 0 to child`",
            "and 1 more",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_scheduler_that_ends_is_named_with_its_error() {
        let exit = Exit::new(ExitKind::Error, "non-existent DSQ 0x9");
        let mut run = ended(Ended::Scheduler { exit });
        run.reports[0].sched_ext = Some(SchedExtReport {
            name: "mine".to_owned(),
            callbacks: Vec::new(),
            callback_ns: 0,
            kfunc_ns: 0,
            longest_wait: None,
        });
        let (text, stuck) = said(run);
        assert!(stuck && text.contains(super::ENDED), "exit code 1");
        let expected = "linux-4.17: the run ended at 1234567 ns since the scheduler `mine` did: \
                        runtime error (non-existent DSQ 0x9)";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn a_run_within_the_warm_up_says_why_it_has_no_throughput() {
        let (text, stuck) = said(ended(Ended::Duration));
        assert!(!stuck);
        assert!(text.contains("the warm-up of 500.00 ms"), "{text}");
    }
}
