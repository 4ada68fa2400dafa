//! Evaluations: what counts, the score by hand, and how a candidate fails
//! (docs/guide/evaluate.md).
//!
//! What must stay: expected scores are worked out by hand from the values in the test.

use super::blame::{Blame, Watch};
use super::cell::{Judged, judge_cell, stalled, unfinished};
use super::goal::{Goal, Ratio};
use super::{difference, over_seeds, part, score};
use crate::{Ask, Comparison, Evaluate, Origin, PolicyRuns};
use wakeplace_engine::observe::Stop;
use wakeplace_engine::{Observer, happen};
use wakeplace_metrics::RunMetrics;
use wakeplace_outcome::{Difference, EvaluatedCell, FailureKind};

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn goals_are_named() {
    for goal in Goal::all() {
        assert_eq!(Goal::parse(goal.name()), Ok(goal));
    }
    let metric = Goal::parse("jobs_per_min").unwrap();
    assert_eq!(
        (metric.name(), &metric),
        ("jobs_per_min", &Goal::Metric("jobs_per_min".into()))
    );
    let unknown = "unknown goal `enrgy`; expected energy, benchmark, latency, misses, or a metric; \
                   did you mean `energy`?";
    assert_eq!(Goal::parse("enrgy").unwrap_err(), unknown);
    let neither = Goal::parse("wakeups_total").unwrap_err();
    assert!(neither.contains("neither good nor bad"), "{neither}");
}

#[test]
fn a_cells_goals_are_what_it_measures() {
    let of =
        |goal: Goal, own: Option<&str>, has: &[&str]| goal.metric(own, |name| has.contains(&name));
    let both = ["cpu_energy_j", "cpu_energy_per_work_j"];
    assert_eq!(
        of(Goal::Energy, None, &both).unwrap(),
        "cpu_energy_per_work_j"
    );
    assert_eq!(
        of(Goal::Energy, None, &["cpu_energy_bogo"]).unwrap(),
        "cpu_energy_bogo"
    );
    assert_eq!(of(Goal::Energy, None, &[]), None);
    let missed = ["missed_periods_total", "missed_frames_total"];
    assert_eq!(
        of(Goal::Misses, None, &missed).unwrap(),
        "missed_frames_total"
    );
    assert_eq!(
        of(Goal::Benchmark, Some("runtime_s"), &["runtime_s"]).unwrap(),
        "runtime_s"
    );
    assert_eq!(of(Goal::Benchmark, Some("runtime_s"), &[]), None);
    // Energy counts once.
    assert_eq!(of(Goal::Benchmark, Some("energy_j"), &["energy_j"]), None);
}

/// Less is better of times, more of rates; to counts and us 1 is added: (9 + 1) / (4 + 1).
#[test]
fn ratios_by_hand() {
    let of = |metric: &str, base: f64, candidate: f64| Ratio::of(metric).value(base, candidate);
    assert_eq!(of("runtime_s", 3.0, 2.0), Some(1.5));
    assert_eq!(of("throughput_per_s", 2.0, 3.0), Some(1.5));
    assert_eq!(of("throughput_per_s", 2.0, 0.0), Some(0.0));
    assert_eq!(of("missed_frames_total", 9.0, 4.0), Some(2.0));
    assert_eq!(of("missed_frames_total", 0.0, 3.0), Some(0.25));
    assert_eq!(of("wake_latency_us_p99", 9.0, 0.0), Some(10.0));
    assert_eq!(of("throughput_per_s", 0.0, 3.0), None);
    assert_eq!(of("slack_us_min", -5.0, 3.0), None);
    assert_eq!(of("cpu_energy_j", 1.0, 0.0), None);
}

/// A cell of which only the goals matter.
fn cell(goals: &[(&str, &[f64])]) -> Judged {
    let goals = goals
        .iter()
        .map(|(name, ratios)| ((*name).to_owned(), ratios.to_vec()));
    Judged {
        shown: EvaluatedCell {
            platform: "board".into(),
            load: "load".into(),
            workload: "periodic".into(),
            duration_ns: 1_000_000_000,
            score: None,
            figures: Vec::new(),
        },
        goals: goals.collect(),
        fairness_pct: None,
        longest_wait_us: None,
        failed: None,
        warnings: Vec::new(),
    }
}

/// Cells count alike, however many goals they have. Seed 1: sqrt(sqrt(4 x 1) x 2) = 2; seed 2:
/// sqrt(sqrt(4 x 4) x 4) = 4; both: sqrt(8). Energy alone, of one cell: sqrt(4 x 4).
#[test]
fn a_score_by_hand() {
    let cells = [
        cell(&[("energy", &[4.0, 4.0]), ("latency", &[1.0, 4.0])]),
        cell(&[("latency", &[2.0, 4.0])]),
        cell(&[]),
    ];
    let (all, interval) = score(&cells, 2);
    assert!(near(all.unwrap(), 8.0_f64.sqrt()), "{all:?}");
    // ln 2 and ln 4 differ by ln 2, so their deviation is ln 2 / sqrt 2; Student's t(1) is 12.706,
    // and the half width 12.706 x (ln 2 / sqrt 2) / sqrt 2 = 6.353 x ln 2.
    let half = 12.706_204_736 * 2.0_f64.ln() / 2.0;
    let (low, high) = interval.unwrap();
    assert!(near(low, (8.0_f64.sqrt().ln() - half).exp()), "{low}");
    assert!(
        (high / (8.0_f64.sqrt().ln() + half).exp() - 1.0).abs() < 1e-9,
        "{high}"
    );
    let energy = part(&Goal::Energy, &cells, 2).unwrap();
    assert!(near(energy.score, 4.0) && energy.cells == 1 && energy.ci95.is_none());
    let latency = part(&Goal::Latency, &cells, 2).unwrap();
    // Seed 1: sqrt 2; seed 2: 4.
    assert!(near(latency.score, (2.0_f64.sqrt() * 4.0).sqrt()) && latency.cells == 2);
    assert_eq!(part(&Goal::Misses, &cells, 2), None);
}

#[test]
fn seeds_that_vary_nothing_have_no_interval() {
    assert_eq!(over_seeds(&[1.5, 1.5]).1, None);
    assert_eq!(over_seeds(&[1.0, 1.0]), (Some(1.0), None));
    assert_eq!(over_seeds(&[1.5]).1, None);
    assert_eq!(over_seeds(&[1.5, 0.0]), (Some(0.0), None));
    assert_eq!(over_seeds(&[]), (None, None));
}

/// Goal: more is better where all of the interval lies beyond 1 %, worse on the other side; nothing
/// is told where it reaches into the margin, or without an interval.
#[test]
fn a_score_is_told_by_its_interval() {
    let of = |score: f64, ci95| difference((Some(score), ci95), 1.0);
    assert_eq!(of(1.05, Some((1.02, 1.08))), Some(Difference::Better));
    assert_eq!(of(0.95, Some((0.92, 0.98))), Some(Difference::Worse));
    assert_eq!(of(1.05, Some((1.005, 1.1))), Some(Difference::NotTold));
    assert_eq!(of(1.002, Some((0.995, 1.005))), Some(Difference::Same));
    assert_eq!(of(1.05, None), Some(Difference::Unknown));
    assert_eq!(difference((None, None), 1.0), None);
}

/// Runs of a policy, one per seed.
fn runs(policy: &str, seeds: &[&[(&str, f64)]]) -> PolicyRuns {
    let one = |values: &&[(&str, f64)]| RunMetrics::kept(values.iter().copied(), 1);
    PolicyRuns {
        policy: policy.to_owned(),
        overrides: Vec::new(),
        settings: Vec::new(),
        metrics: seeds.iter().map(one).collect(),
        reports: Vec::new(),
        timeline: None,
        details: None,
    }
}

/// A comparison of 1 s.
fn comparison(base: PolicyRuns, candidate: PolicyRuns) -> Comparison {
    Comparison {
        platform: "board".into(),
        platform_hash: String::new(),
        workload: "messaging".into(),
        workload_hash: String::new(),
        jitter: None,
        duration_ns: 1_000_000_000,
        seeds: vec![7, 8],
        settings: Vec::new(),
        options: Vec::new(),
        measured_by: vec!["runtime_s".into()],
        shown: Vec::new(),
        modelled_power: false,
        unlike_lengths: false,
        runs: vec![base, candidate],
        margin_pct: 1.0,
        states: Vec::new(),
        origin: Origin::default(),
        notes: Vec::new(),
        warnings: Vec::new(),
        stuck: Vec::new(),
        checks: Vec::new(),
    }
}

#[test]
fn what_the_candidate_did_not_get_done() {
    let done: &[(&str, f64)] = &[("runtime_s", 0.5), ("wake_latency_us_p99", 9.0)];
    let cut: &[(&str, f64)] = &[("wake_latency_us_p99", 9.0)];
    let of = comparison(runs("old", &[done, done]), runs("new", &[done, cut]));
    let metrics = [("benchmark".to_owned(), "runtime_s".to_owned())];
    let fault = unfinished(&metrics, &of, &of.runs[1]).unwrap();
    assert_eq!((fault.at, fault.kind), (1, FailureKind::Unfinished));
    assert_eq!(
        fault.reason,
        "new: not all tasks were done in 1 s, as they were under the base"
    );
    assert_eq!(unfinished(&metrics, &of, &of.runs[0]), None);
}

/// Half of 1 s are 500,000 us. A wait that the base has, too, is the load's.
#[test]
fn a_wait_of_half_the_run_is_a_stall() {
    let wait = |us: f64| [("task_wait_us_max", us)];
    let (short, long) = (wait(499_999.0), wait(500_000.0));
    let of = |base: &[(&str, f64)], second: &[(&str, f64)]| {
        let own = runs("new", &[&short, second]);
        let all = comparison(runs("old", &[&short, base]), own);
        stalled(&all, &all.runs[0], &all.runs[1]).map(|fault| (fault.at, fault.kind))
    };
    assert_eq!(of(&short, &long), Some((1, FailureKind::Stall)));
    assert_eq!(of(&short, &short), None);
    assert_eq!(of(&long, &long), None);
}

/// Task 0 waits from 10 to 40 on CPU 3; task 1 is preempted at 20 on CPU 5 and waits to the end,
/// at 90.
#[test]
fn waits_by_hand() {
    let found = |blame: Blame| {
        let mut watch = Watch::new(blame);
        let w = &mut watch;
        happen!(w, 10 => Wakeup { task: 0, cpu: 3, due_ns: 10 });
        let stop = Stop::Preempted;
        happen!(w, 20 => RunStop { cpu: 5, task: 1, ran_ns: 20, stop });
        happen!(w, 40 => RunStart { cpu: 3, task: 0, wake_latency_ns: None });
        let stop = Stop::Sleeps;
        happen!(w, 50 => RunStop { cpu: 3, task: 0, ran_ns: 10, stop });
        happen!(w, 90 => Finish);
        format!("{:?}", watch.found())
    };
    let first = "Some(Seen { task: 0, cpu: Some(3), time_ns: 10, waits_ns: Some(30) })";
    let second = "Some(Seen { task: 1, cpu: Some(5), time_ns: 20, waits_ns: Some(70) })";
    assert_eq!(found(Blame::Wait(30)), first);
    assert_eq!(found(Blame::Wait(31)), second);
    assert_eq!(found(Blame::Longest), second);
    assert_eq!(found(Blame::Wait(71)), "None");
}

const BATTERY: &str = "small";

#[test]
fn a_candidate_that_is_the_base_is_refused() {
    let of = |ask: Ask| Evaluate::of(&ask, 0).map(|_| ()).unwrap_err().to_string();
    let same = Ask::default()
        .with("policy", "linux-7.3")
        .with("battery", BATTERY);
    let said = "the candidate `linux-7.3` is the base; expected another candidate, or another \
                --base";
    assert_eq!(of(same), said);
    // Other words for the same parameters: `busy_factor` is 16 (SD_INIT, kernel/sched/topology.c).
    let check = |candidate: &str| {
        let ask = Ask::default()
            .with("policy", candidate)
            .with("platform", "hikey960");
        let asked = Evaluate::of(&ask, 0).unwrap();
        let cells = asked.battery.cells(&asked.request).unwrap();
        asked.check(&cells).map_err(|error| error.to_string())
    };
    let said = check("linux-7.3:busy_factor=16").unwrap_err();
    assert!(
        said.contains("`linux-7.3:busy_factor=16` is the base;"),
        "{said}"
    );
    assert_eq!(check("linux-7.3:busy_factor=8"), Ok(()));
    let battery = Ask::default()
        .with("policy", "wakeplace")
        .with("battery", "smal");
    assert!(of(battery).contains("did you mean `small`?"));
    let goal = Ask::default()
        .with("policy", "wakeplace")
        .with("goal", "latencies");
    assert!(of(goal).starts_with("goal: unknown goal `latencies`"));
    assert!(of(Ask::default()).starts_with("no policy given"));
}

/// A whole cell: both goals by hand, the fairness beside them.
#[test]
fn a_cell_has_its_goals_and_what_is_beside_them() {
    let values = |runtime: f64, fairness: f64| [("runtime_s", runtime), ("fairness_pct", fairness)];
    let (a, b) = (values(2.0, 90.0), values(1.0, 80.0));
    let of = comparison(runs("old", &[&a, &a]), runs("new", &[&b, &a]));
    let ask = Ask::default().with("policy", "wakeplace");
    let asked = Evaluate::of(&ask, 0).unwrap();
    let cell = asked.battery.cells(&asked.request).unwrap().swap_remove(0);
    let judged = judge_cell(("load", &cell.experiment), &of, &Goal::all()).unwrap();
    // 2 / 1 with the first seed, 2 / 2 with the second.
    assert_eq!(judged.goals, [("benchmark".to_owned(), vec![2.0, 1.0])]);
    assert!(near(judged.shown.score.unwrap(), 2.0_f64.sqrt()));
    let metrics: Vec<&str> = judged
        .shown
        .figures
        .iter()
        .map(|f| f.metric.as_str())
        .collect();
    assert_eq!(metrics, ["runtime_s", "fairness_pct", "task_wait_us_max"]);
    let fairness = judged.fairness_pct.unwrap();
    assert_eq!((fairness.base, fairness.candidate), (90.0, 85.0));
}
