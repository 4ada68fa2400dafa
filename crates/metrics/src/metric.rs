//! The names, units and meanings of all metrics of a run.

use std::collections::BTreeMap;

/// Which direction is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// Describes behaviour; neither direction is good in itself.
    Neither,
}

/// Definition of one metric, or of one metric per cluster, idle state or measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricDef {
    /// Name, ending in its unit (and the statistic); `{cluster}` stands for a cluster's name,
    /// `{state}` for an idle state's, `{time}` for what a workload calls a time that it measures,
    /// `{case}` for `case1` to `case8` of the wake-up cases, or `cases`, their sum.
    pub name: &'static str,
    /// Unit of the value, as printed.
    pub unit: &'static str,
    /// What it means, one line.
    pub doc: &'static str,
    /// Which direction is an improvement.
    pub better: Better,
}

impl MetricDef {
    /// `name` is this metric, or one of this pattern's.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let pattern = [CLUSTER, STATE, TIME, CASE]
            .into_iter()
            .find_map(|p| self.name.split_once(p));
        match pattern {
            None => self.name == name,
            Some((head, tail)) => name
                .strip_prefix(head)
                .and_then(|rest| rest.strip_suffix(tail))
                .is_some_and(|given| !given.is_empty() && (!self.is_of_cases() || a_case(given))),
        }
    }

    /// It counts wake-up cases, which are measured only if they are asked for.
    #[must_use]
    pub fn is_of_cases(&self) -> bool {
        self.name.contains(CASE)
    }

    /// The name for `cluster`; the name itself if it is no pattern.
    #[must_use]
    pub fn for_cluster(&self, cluster: &str) -> String {
        self.name.replace(CLUSTER, cluster)
    }

    /// The name for an idle state; the name itself if it is no pattern of states.
    #[must_use]
    pub fn for_state(&self, state: &str) -> String {
        self.name.replace(STATE, state)
    }
}

/// Placeholder of a cluster's name in a pattern.
const CLUSTER: &str = "{cluster}";
/// Placeholder of an idle state's name in a pattern.
const STATE: &str = "{state}";
/// Placeholder of the name of a measured time.
const TIME: &str = "{time}";
/// Placeholder of a wake-up case.
const CASE: &str = "{case}";

/// What may stand for it.
fn a_case(given: &str) -> bool {
    let number = given.strip_prefix("case").unwrap_or_default();
    given == "cases" || matches!(number.as_bytes(), [b'1'..=b'8'])
}

const fn def(
    name: &'static str,
    unit: &'static str,
    better: Better,
    doc: &'static str,
) -> MetricDef {
    MetricDef {
        name,
        unit,
        doc,
        better,
    }
}

use Better::{Higher, Lower, Neither};

macro_rules! time_doc {
    ($meaning:literal) => {
        concat!("Time that the workload measures, ", $meaning)
    };
}

/// A list of definitions, and after it those of measured times: each statistic in each unit.
macro_rules! metrics {
    ($($plain:expr,)*; $($statistic:literal => $meaning:literal,)*) => {
        /// Every metric of a run; patterns last, so that a plain name wins.
        pub const METRICS: &[MetricDef] = &[$($plain,)* $(
            def(concat!("{time}_", $statistic, "_us"), "us", Lower, time_doc!($meaning)),
            def(concat!("{time}_", $statistic, "_ms"), "ms", Lower, time_doc!($meaning)),
        )*];
    };
}

metrics! {
    def(
        "energy_j",
        "J",
        Lower,
        "Energy of CPUs, clusters and the board: its constant power and what grows with work",
    ),
    def("cpu_energy_j", "J", Lower, "Energy of CPUs and clusters"),
    def(
        "work_energy_j",
        "J",
        Lower,
        "Energy that the board drew more while CPUs worked",
    ),
    def("cpu_power_w", "W", Lower, "Mean power of CPUs and clusters"),
    def(
        "cpu_energy_bogo",
        "bogo·s",
        Lower,
        "CPU and cluster energy in the platform's own unit",
    ),
    def(
        "wake_latency_us_mean",
        "us",
        Lower,
        "Time from due to first run, mean of all wake-ups",
    ),
    def(
        "wake_latency_us_p50",
        "us",
        Lower,
        "Time from due to first run, median",
    ),
    def(
        "wake_latency_us_p95",
        "us",
        Lower,
        "Time from due to first run, 95th percentile",
    ),
    def(
        "wake_latency_us_p99",
        "us",
        Lower,
        "Time from due to first run, 99th percentile",
    ),
    def(
        "wake_latency_us_max",
        "us",
        Lower,
        "Time from due to first run, longest",
    ),
    def(
        "slack_us_min",
        "us",
        Higher,
        "Least time left at a timer event; negative = late",
    ),
    def(
        "missed_periods_total",
        "count",
        Lower,
        "Timer events reached after their expiry; one that is never reached does not count",
    ),
    def("periods_total", "count", Neither, "Timer events reached"),
    def(
        "busy_cpus_mean",
        "cpus",
        Neither,
        "Mean number of CPUs that execute",
    ),
    def(
        "idle_residency_pct",
        "%",
        Higher,
        "CPU time in idle states deeper than a CPU's first",
    ),
    def(
        "package_idle_pct",
        "%",
        Higher,
        "Time in which no CPU of a package executes or changes its state, mean of packages",
    ),
    def(
        "idle_wakeups_per_s",
        "1/s",
        Lower,
        "Times a CPU left an idle state, all CPUs",
    ),
    def(
        "transition_pct",
        "%",
        Neither,
        "CPU time spent entering and leaving idle states",
    ),
    def(
        "idle_too_deep_pct",
        "%",
        Lower,
        "Idle periods shorter than the chosen state's min-residency",
    ),
    def(
        "idle_too_shallow_pct",
        "%",
        Lower,
        "Idle periods for which the next deeper state would have paid",
    ),
    def(
        "freq_changes_total",
        "count",
        Neither,
        "Changes of a frequency domain's operating point",
    ),
    def(
        "overutilized_pct",
        "%",
        Neither,
        "Share of time the overutilized flag was on",
    ),
    def(
        "wakeups_total",
        "count",
        Neither,
        "CPUs chosen for waking tasks",
    ),
    def("forks_total", "count", Neither, "CPUs chosen for new tasks"),
    def(
        "migrations_total",
        "count",
        Lower,
        "Moves of a task to another CPU, all causes",
    ),
    def(
        "migrations_wake_total",
        "count",
        Neither,
        "Moves by placement at wake-up",
    ),
    def(
        "migrations_balance_total",
        "count",
        Neither,
        "Moves by periodic or nohz balancing",
    ),
    def(
        "migrations_newidle_total",
        "count",
        Neither,
        "Pulls by a CPU about to go idle",
    ),
    def(
        "migrations_active_total",
        "count",
        Neither,
        "Pushes of a running task",
    ),
    def(
        "migrations_affinity_total",
        "count",
        Neither,
        "Moves since the allowed CPUs changed",
    ),
    def(
        "migrations_exec_total",
        "count",
        Neither,
        "Moves of tasks that run another program",
    ),
    def(
        "migrations_dispatch_total",
        "count",
        Neither,
        "Moves by a sched_ext scheduler's dispatches",
    ),
    def(
        "migrations_hotplug_total",
        "count",
        Neither,
        "Moves since the CPU left the machine",
    ),
    def(
        "runtime_s",
        "s",
        Lower,
        "Length of the run; where all tasks end: from their start to the last end, if reached",
    ),
    def(
        "task_run_s",
        "s",
        Neither,
        "Wall time tasks executed, all tasks",
    ),
    def(
        "throughput_per_s",
        "1/s",
        Higher,
        "What the workload counts, per second after its warm-up",
    ),
    def(
        "throughput_mb_per_s",
        "MB/s",
        Higher,
        "Payload that the workload moves, 10^6 bytes per second",
    ),
    def(
        "jobs_per_min",
        "1/min",
        Higher,
        "Jobs that the workload does, per minute",
    ),
    def(
        "jobs_per_min_per_task",
        "1/min",
        Higher,
        "The same for each of its tasks",
    ),
    def(
        "events_total",
        "count",
        Higher,
        "What the workload counts, after its warm-up",
    ),
    def(
        "events_per_program",
        "count",
        Higher,
        "The same for each program that a shell runs",
    ),
    def(
        "double_placements_total",
        "count",
        Lower,
        "Tasks sent to a CPU that looked idle while another was on its way there",
    ),
    def(
        "queue_lock_wait_pct",
        "%",
        Lower,
        "CPU time spent waiting for run queues' locks",
    ),
    def(
        "group_line_wait_pct",
        "%",
        Lower,
        "CPU time spent waiting for the cache lines of task groups' loads",
    ),
    def(
        "task_wait_s",
        "s",
        Lower,
        "Time tasks were runnable but not executing, all tasks",
    ),
    def(
        "temperature_c_max",
        "c",
        Lower,
        "Temperature of the warmest cluster, degrees Celsius (model.thermal)",
    ),
    def(
        "throttled_s",
        "s",
        Lower,
        "Time in which some cluster's frequency was capped for its heat (model.thermal)",
    ),
    def(
        "energy_over_optimal_pct",
        "%",
        Lower,
        "CPU energy above that of the best static placement found (--oracle)",
    ),
    def(
        "optimal_cpu_energy_j",
        "J",
        Neither,
        "CPU energy of the best static placement found (--oracle)",
    ),
    def(
        "optimal_cpu_energy_bogo",
        "bogo·s",
        Neither,
        "The same in the platform's own unit (--oracle)",
    ),
    def(
        "optimal_unproven_pct",
        "%",
        Neither,
        "So much of that energy a better placement could still save; 0: none can (--oracle)",
    ),
    def(
        "busy_{cluster}_pct",
        "%",
        Neither,
        "Share of the cluster's CPU time spent executing",
    ),
    def(
        "residency_{state}_pct",
        "%",
        Neither,
        "CPU time in this idle state, all CPUs",
    ),
    def(
        "wakeups_{cluster}_total",
        "count",
        Neither,
        "Waking tasks placed in the cluster",
    ),
    def(
        "wakeup_{case}_little_total",
        "count",
        Neither,
        "Placements of a wake-up case: the new CPU is little",
    ),
    def(
        "wakeup_{case}_big_total",
        "count",
        Neither,
        "Placements of a wake-up case: the new CPU is big",
    ),
    def(
        "wakeup_{case}_sis_total",
        "count",
        Neither,
        "Placements of a wake-up case: the fast path chose (select_idle_sibling)",
    ),
    def(
        "wakeup_{case}_figc_total",
        "count",
        Neither,
        "Placements of a wake-up case: the slow path chose (find_idlest_group)",
    ),
    def(
        "wakeup_{case}_ww_total",
        "count",
        Neither,
        "Placements of a wake-up case: the slow path chose, wake_wide was true",
    ),
    def(
        "wakeup_{case}_bw_total",
        "count",
        Neither,
        "Placements of a wake-up case: the slow path chose, a wake-up (else fork or exec)",
    ),
    def(
        "wakeup_{case}_other_total",
        "count",
        Neither,
        "Placements of a wake-up case: neither path chose: affinity, energy, another class",
    ),
    ;
    "min" => "shortest",
    "avg" => "mean",
    "max" => "longest",
    "p20" => "20th percentile",
    "p50" => "median",
    "p75" => "75th percentile",
    "p90" => "90th percentile",
    "p95" => "95th percentile",
    "p99" => "99th percentile",
    "p99_5" => "99.5th percentile",
    "p99_9" => "99.9th percentile",
}

/// What a reader looks at next, in this order, after what a workload is measured by.
pub const KEY_METRICS: [&str; 9] = [
    "energy_j",
    "cpu_energy_j",
    "work_energy_j",
    "cpu_energy_bogo",
    "energy_over_optimal_pct",
    "wake_latency_us_p50",
    "wake_latency_us_p99",
    "missed_periods_total",
    "migrations_total",
];

/// No metric has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown metric `{}`; expected a metric as {}{}",
    wakeplace_text::shorten(.name),
    KEY_METRICS.join(", "),
    wakeplace_text::did_you_mean(*.nearest)
)]
pub struct UnknownMetric {
    /// The name asked for.
    pub name: String,
    /// The defined name that was meant, if one is near; no pattern.
    pub nearest: Option<&'static str>,
}

/// The definition of a metric name.
///
/// A pattern accepts any cluster name; whether the platform has the cluster shows in the values.
///
/// # Errors
/// If there is no such metric: the nearest name.
pub fn find_metric(name: &str) -> Result<&'static MetricDef, UnknownMetric> {
    let found = METRICS.iter().find(|d| d.matches(name));
    found.ok_or_else(|| UnknownMetric {
        name: name.to_owned(),
        nearest: wakeplace_text::nearest(name, plain_names()),
    })
}

/// Names that are no pattern of others.
fn plain_names() -> impl Iterator<Item = &'static str> {
    let names = METRICS.iter().map(|def| def.name);
    names.filter(|name| !name.contains('{'))
}

/// A measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The number, in `unit`.
    pub value: f64,
    /// The unit its definition names.
    pub unit: &'static str,
}

/// Metrics by name. A metric that was not or cannot be measured is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(BTreeMap<String, Value>);

impl Values {
    /// Enters a value under a defined name.
    ///
    /// # Panics
    /// If the name is not in [`METRICS`] or was entered before.
    pub fn set(&mut self, name: &str, value: f64) {
        let def = find_metric(name).unwrap_or_else(|e| panic!("{e}"));
        let old = self.0.insert(
            name.to_owned(),
            Value {
                value,
                unit: def.unit,
            },
        );
        assert!(old.is_none(), "metric {name} was entered twice");
    }

    /// Enters a count.
    pub(crate) fn count(&mut self, name: &str, count: u64) {
        self.set(name, count as f64);
    }

    /// Enters one value of the pattern `pattern`, with `{cluster}` in it.
    pub(crate) fn set_cluster(&mut self, pattern: &str, cluster: &str, value: f64) {
        self.set(&pattern.replace(CLUSTER, cluster), value);
    }

    /// The number under `name`, if it was measured.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).map(|v| v.value)
    }

    /// All values in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }
}

#[cfg(test)]
mod tests {
    use super::{CASE, KEY_METRICS, METRICS, STATE, TIME, Values, find_metric};
    use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

    #[test]
    fn names_end_in_their_unit() {
        let statistics = ["mean", "p50", "p95", "p99", "max", "min"];
        for def in METRICS {
            let mut tokens: Vec<&str> = def.name.split('_').collect();
            if statistics.contains(tokens.last().unwrap()) && def.unit != "1/min" {
                tokens.pop();
            }
            let token = match def.unit {
                "J" => "j",
                "bogo·s" => "bogo",
                "%" => "pct",
                "count" if def.name.ends_with("_per_program") => "program",
                "count" => "total",
                "MB/s" => "s",
                "W" => "w",
                "1/min" => match def.name.strip_suffix("_per_task") {
                    Some(_) => "task",
                    None => "min",
                },
                "1/s" => {
                    assert!(def.name.ends_with("_per_s"), "{}", def.name);
                    "s"
                }
                unit => unit,
            };
            assert_eq!(tokens.last(), Some(&token), "{}", def.name);
        }
    }

    #[test]
    fn names_are_found_once() {
        for (i, def) in METRICS.iter().enumerate() {
            let name = def.for_cluster("big").replace(TIME, "latency");
            let name = name.replace(CASE, "case3").replace(STATE, "c6");
            let found: Vec<_> = METRICS.iter().filter(|d| d.matches(&name)).collect();
            assert_eq!(found, [&METRICS[i]], "{name}");
        }
    }

    /// What the built-in models are measured by has names here.
    #[test]
    fn all_models_are_read_by_known_metrics() {
        for model in Spec::catalogue() {
            assert!(find_metric(model.metric).is_ok(), "{}", model.name);
            // A shell needs a program.
            let argument = match model.name {
                "shell" => "shell:sysbench-cpu",
                name => name,
            };
            let spec = Spec::parse(argument, &LoadOptions::default()).expect(argument);
            let machine = MachineFacts {
                capacities: &[512, 1024],
            };
            let workload = spec.expand(1, machine).expect(model.name);
            let figures = workload.count.iter().flat_map(|count| &count.figures);
            let figures = figures.map(|figure| figure.metric.to_owned());
            let times = workload.series.iter().flat_map(|series| series.metrics());
            for name in figures.chain(times.map(|(name, _)| name)) {
                assert!(find_metric(&name).is_ok(), "{}: {name}", model.name);
            }
        }
    }

    #[test]
    fn patterns_need_a_cluster() {
        assert_eq!(find_metric("busy_little_pct").unwrap().unit, "%");
        assert_eq!(
            find_metric("wakeups_cpu-7_total").unwrap().name,
            "wakeups_{cluster}_total"
        );
        assert_eq!(find_metric("wakeups_total").unwrap().name, "wakeups_total");
        assert!(find_metric("busy__pct").is_err());
    }

    #[test]
    fn unknown_names_get_the_nearest() {
        let nearest = |name| find_metric(name).unwrap_err().nearest;
        assert_eq!(nearest("enrgy_j"), Some("energy_j"));
        assert_eq!(nearest("colour"), None);
        assert_eq!(
            find_metric("migration_total").unwrap_err().to_string(),
            "unknown metric `migration_total`; expected a metric as energy_j, cpu_energy_j, \
             work_energy_j, cpu_energy_bogo, energy_over_optimal_pct, wake_latency_us_p50, \
             wake_latency_us_p99, missed_periods_total, migrations_total; \
             did you mean `migrations_total`?"
        );
        assert!(KEY_METRICS.iter().all(|name| find_metric(name).is_ok()));
        assert_ne!(nearest("busy_{cluster}_pc"), Some("busy_{cluster}_pct"));
    }

    #[test]
    fn values_take_units_from_the_table_and_keep_name_order() {
        let mut values = Values::default();
        values.set("runtime_s", 2.0);
        values.set_cluster("busy_{cluster}_pct", "big", 50.0);
        let all: Vec<_> = values.iter().map(|(n, v)| (n, v.value, v.unit)).collect();
        assert_eq!(all, [("busy_big_pct", 50.0, "%"), ("runtime_s", 2.0, "s")]);
        assert_eq!(values.get("energy_j"), None);
    }

    #[test]
    #[should_panic(expected = "unknown metric `speed`")]
    fn undefined_names_are_refused() {
        Values::default().set("speed", 1.0);
    }
}
