//! The table of all metrics. A name that is there stays: results, studies and `--expect` have it
//! (docs/guide/results.md, "What a result holds").
//!
//! A new metric is one line here and a `set` where it is measured.
//!
//! What must stay: names, units and directions. The order is that of lists; patterns come last, so
//! that a plain name wins. Free: what leaves every figure as it is (ARCHITECTURE.md, "What a change
//! may touch"). Tests by part: `names_end_in_their_unit` and `names_are_found_once` (the table),
//! `all_models_are_read_by_known_metrics` (`@measured`),
//! collector/tests.rs::`every_plain_metric_is_reported_or_excluded_by_the_platform` (a line without
//! a `set`), all (`def`).
//!
//! Tests: crates/metrics/src/metric/tests.rs, crates/metrics/src/collector/tests.rs

use super::Better::{self, Higher, Lower, Neither};
use super::MetricDef;

/// A line of the table; `unit` is how people see it.
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

macro_rules! time_doc {
    ($meaning:literal) => {
        concat!("Time that the workload measures, ", $meaning)
    };
}

/// A list of definitions, and after it those of measured times: each statistic in each unit.
macro_rules! metrics {
    (
        $($name:literal, $unit:literal, $better:ident, $doc:literal;)*
        @measured
        $($statistic:literal => $meaning:literal,)*
    ) => {
        /// Every metric of a run; patterns last, so that a plain name wins.
        pub const METRICS: &[MetricDef] = &[$(def($name, $unit, $better, $doc),)* $(
            def(concat!("{time}_", $statistic, "_us"), "us", Lower, time_doc!($meaning)),
            def(concat!("{time}_", $statistic, "_ms"), "ms", Lower, time_doc!($meaning)),
        )*];
    };
}

metrics! {
    "energy_j", "J", Lower,
        "Energy of CPUs, clusters and the board: its constant power and what grows with work";
    "cpu_energy_j", "J", Lower, "Energy of CPUs and clusters";
    "work_energy_j", "J", Lower, "Energy that the board drew more while CPUs worked";
    "cpu_energy_per_work_j", "J", Lower,
        "Energy of CPUs and clusters for each second of work (task_work_s)";
    "cpu_power_w", "W", Lower, "Mean power of CPUs and clusters";
    "cpu_energy_bogo", "bogo·s", Lower, "CPU and cluster energy in the platform's own unit";
    "wake_latency_us_mean", "us", Lower, "Time from due to first run, mean of all wake-ups";
    "wake_latency_us_p50", "us", Lower, "Time from due to first run, median";
    "wake_latency_us_p95", "us", Lower, "Time from due to first run, 95th percentile";
    "wake_latency_us_p99", "us", Lower, "Time from due to first run, 99th percentile";
    "wake_latency_us_max", "us", Lower, "Time from due to first run, longest";
    "slack_us_min", "us", Higher, "Least time left at a timer event; negative = late";
    "missed_periods_total", "count", Lower,
        "Timer events reached after their expiry; one that is never reached does not count";
    "periods_total", "count", Neither,
        "Timer events reached, without those that a rest of a period or longer made late";
    "frames_total", "count", Neither,
        "Frames of chains whose deadline came";
    "missed_frames_total", "count", Lower,
        "Frames of chains that were not done by their deadline: late or dropped";
    "missed_frames_pct", "%", Lower, "Missed frames of all frames whose deadline came";
    "late_frames_total", "count", Lower, "Missed frames that were done, after their deadline";
    "dropped_frames_total", "count", Lower,
        "Missed frames that were never done: lost, or still under way when the run ended";
    "missed_frames_streak_total", "count", Lower, "Longest streak of missed frames of one chain";
    "frame_lateness_us_p50", "us", Lower,
        "Time from a frame's deadline to its end, median of those done; negative = early";
    "frame_lateness_us_p95", "us", Lower,
        "Time from a frame's deadline to its end, 95th percentile of those done";
    "frame_lateness_us_p99", "us", Lower,
        "Time from a frame's deadline to its end, 99th percentile of those done";
    "frame_lateness_us_max", "us", Lower,
        "Time from a frame's deadline to its end, the latest of those done";
    "busy_cpus_mean", "cpus", Neither, "Mean number of CPUs that execute";
    "idle_residency_pct", "%", Higher,
        "CPU time in idle states deeper than a CPU's first that does not poll";
    "package_idle_pct", "%", Higher,
        "Time in which no CPU of a package executes or changes its state, mean of packages";
    "idle_wakeups_per_s", "1/s", Lower, "Times a CPU left an idle state, all CPUs";
    "transition_pct", "%", Neither, "CPU time spent entering and leaving idle states";
    "idle_too_deep_pct", "%", Lower, "Idle periods shorter than the chosen state's min-residency";
    "idle_too_shallow_pct", "%", Lower,
        "Idle periods for which the next deeper state would have paid";
    "freq_changes_total", "count", Neither, "Changes of a frequency domain's operating point";
    "overutilized_pct", "%", Neither, "Share of time the overutilized flag was on";
    "wakeups_total", "count", Neither, "CPUs chosen for waking tasks";
    "forks_total", "count", Neither, "CPUs chosen for new tasks";
    "migrations_total", "count", Lower, "Moves of a task to another CPU, all causes";
    "migrations_wake_total", "count", Neither, "Moves by placement at wake-up";
    "migrations_balance_total", "count", Neither, "Moves by periodic or nohz balancing";
    "migrations_newidle_total", "count", Neither, "Pulls by a CPU about to go idle";
    "migrations_active_total", "count", Neither, "Pushes of a running task";
    "migrations_affinity_total", "count", Neither, "Moves since the allowed CPUs changed";
    "migrations_exec_total", "count", Neither, "Moves of tasks that run another program";
    "migrations_dispatch_total", "count", Neither, "Moves by a sched_ext scheduler's dispatches";
    "migrations_hotplug_total", "count", Neither, "Moves since the CPU left the machine";
    "runtime_s", "s", Lower,
        "Length of the run; where all tasks end: from their start to the last end, if reached";
    "task_run_s", "s", Neither, "Wall time tasks executed, all tasks";
    "task_work_s", "s", Higher,
        "Work that tasks got done, all tasks, as time of the fastest CPU at its highest clock";
    "throughput_per_s", "1/s", Higher, "What the workload counts, per second after its warm-up";
    "throughput_mb_per_s", "MB/s", Higher, "Payload that the workload moves, 10^6 bytes per second";
    "jobs_per_min", "1/min", Higher, "Jobs that the workload does, per minute";
    "jobs_per_min_per_task", "1/min", Higher, "The same for each of its tasks";
    "events_total", "count", Higher, "What the workload counts, after its warm-up";
    "events_per_program", "count", Higher, "The same for each program that a shell runs";
    "double_placements_total", "count", Lower,
        "Tasks sent to a CPU that looked idle while another was on its way there";
    "queue_lock_wait_pct", "%", Lower, "CPU time spent waiting for run queues' locks";
    "group_line_wait_pct", "%", Lower,
        "CPU time spent waiting for the cache lines of task groups' loads";
    "group_periods_total", "count", Neither,
        "Periods of task groups with cpu.max (nr_periods of cpu.stat), all groups";
    "group_throttled_periods_total", "count", Lower,
        "... in which a group used up its quota (nr_throttled)";
    "group_throttled_s", "s", Lower, "Time groups were throttled, the sum of all CPUs";
    "group_bursts_total", "count", Neither,
        "Periods in which a group ran more than its quota (nr_bursts)";
    "group_burst_s", "s", Neither, "... how much more (burst_usec)";
    "task_wait_s", "s", Lower, "Time tasks were runnable but not executing, all tasks";
    "task_wait_us_max", "us", Lower,
        "Longest time at a stretch that a task was runnable but not executing";
    "fairness_pct", "%", Higher,
        "How alike tasks are in the share of its runnable time that each executed (Jain's index)";
    "temperature_c_max", "c", Lower,
        "Temperature of the warmest cluster, degrees Celsius (model.thermal)";
    "throttled_s", "s", Lower,
        "Time in which some cluster's frequency was capped for its heat (model.thermal)";
    "energy_over_optimal_pct", "%", Lower,
        "CPU energy above that of the best static placement found (--oracle)";
    "optimal_cpu_energy_j", "J", Neither,
        "CPU energy of the best static placement found (--oracle)";
    "optimal_cpu_energy_bogo", "bogo·s", Neither, "The same in the platform's own unit (--oracle)";
    "optimal_unproven_pct", "%", Neither,
        "So much of that energy a better placement could still save; 0: none can (--oracle)";
    "busy_{cluster}_pct", "%", Neither,
        "Share of the CPU time of a cluster or kind of CPU spent executing";
    "residency_{state}_pct", "%", Neither, "CPU time in this idle state, all CPUs";
    "wakeups_{cluster}_total", "count", Neither,
        "Waking tasks placed in a cluster or on a kind of CPU";
    "frames_of_{chain}_total", "count", Neither,
        "Frames of this chain, of one alone as well";
    "missed_frames_of_{chain}_total", "count", Lower,
        "Missed frames of this chain, of one alone as well";
    "dropped_frames_of_{chain}_total", "count", Lower,
        "Dropped frames of this chain, of one alone as well";
    "periods_of_{group}_total", "count", Neither,
        "Periods of this task group; where several have cpu.max. `/` in its name is `_` here";
    "throttled_periods_of_{group}_total", "count", Lower,
        "Periods in which this task group used up its quota; where several have cpu.max";
    "wakeup_{case}_little_total", "count", Neither,
        "Placements of a wake-up case: the new CPU is little";
    "wakeup_{case}_big_total", "count", Neither, "Placements of a wake-up case: the new CPU is big";
    "wakeup_{case}_sis_total", "count", Neither,
        "Placements of a wake-up case: the fast path chose (select_idle_sibling)";
    "wakeup_{case}_figc_total", "count", Neither,
        "Placements of a wake-up case: the slow path chose (find_idlest_group)";
    "wakeup_{case}_ww_total", "count", Neither,
        "Placements of a wake-up case: the slow path chose, wake_wide was true";
    "wakeup_{case}_bw_total", "count", Neither,
        "Placements of a wake-up case: the slow path chose, a wake-up (else fork or exec)";
    "wakeup_{case}_other_total", "count", Neither,
        "Placements of a wake-up case: neither path chose: affinity, energy, another class";
    @measured
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
