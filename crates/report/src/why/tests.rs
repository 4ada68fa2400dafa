//! Why a policy drew more or less (docs/guide/results.md, "Why a difference").
//!
//! What must stay: figures are worked by hand from the results below.
//! Tests by part (in crates/report/src): why.rs: `the_three_parts_add_up` (`of`, `split`, `parts`,
//! `change`), `who_moved_is_named` (`moved`, `by_task`), `clusters_head_their_policies` (`table`,
//! `heads`, `figures`); why/said.rs: `the_largest_is_said` (`text`, `of_group`, `of_states`,
//! `amount`), `lines_have_a_fitting_unit` (`lines`, `seconds`).
//! Helpers, and who fails with them: `result`, `run`, `two`, `one` (all tests).

use super::said::lines;
use super::{of, parts, table};
use crate::{Format, Style};
use serde_json::{Value, json};
use wakeplace_outcome::{BusyTime, Comparison, Why};

/// A run: of little and big busy time in s, clock in MHz and energy in J; energy of idle states;
/// share of the time in which the CPUs of little idle and big itself is off; times of tasks.
fn run(little: [f64; 3], big: [f64; 3], idle: f64, shares: [f64; 2], tasks: &Value) -> Value {
    let busy =
        |[s, mhz, energy]: [f64; 3]| json!({"s": s, "khz_mean": mhz * 1000.0, "energy": energy});
    json!({
        "platform": "board", "workload": "load", "policy": "old", "seeds": [1], "metrics": {},
        "details": {
            "energy": { "unit": "J", "cluster_state_energy_s": [
                ["little", "busy", little[2], little[0]], ["little", "idle WFI", idle, 1.0],
                ["big", "busy", big[2], big[0]],
            ] },
            "residency": [
                {"cluster": "little", "cpus": 4, "busy_pct": 0.0, "idle_pct": {"WFI": shares[0]},
                 "cluster_idle_pct": {}, "busy": busy(little)},
                {"cluster": "big", "cpus": 2, "busy_pct": 0.0, "idle_pct": {},
                 "cluster_idle_pct": {"off": shares[1]}, "busy": busy(big)},
            ],
            "task_group_run_s": tasks,
        },
    })
}

fn result(base: Value, mut change: Value, margin_pct: f64) -> Comparison {
    change["policy"] = json!("new");
    let value = json!({"schema_version": 2, "duration_ns": 1, "margin_pct": margin_pct,
                       "runs": [base, change]});
    serde_json::from_value(value).expect("a result")
}

/// By hand: little is busy for 1 s instead of 2 at 0.5 W; big for 1.12 s at 2.5 W instead of 1 s at
/// 2 W, at 1210 MHz instead of 1000; idle states draw 0.9 J instead of 0.3.
fn two(margin_pct: f64) -> Comparison {
    let tasks = json!([
        ["bg", "little", 1.0],
        ["ui", "little", 1.0],
        ["ui", "big", 0.2],
        ["render", "big", 0.5],
    ]);
    let base = run(
        [2.0, 1000.0, 1.0],
        [1.0, 1000.0, 2.0],
        0.3,
        [70.0, 50.0],
        &tasks,
    );
    let tasks = json!([
        ["bg", "little", 1.2],
        ["render", "little", 0.8],
        ["ui", "little", 0.4],
        ["ui", "big", 0.5],
    ]);
    let change = run(
        [1.0, 1000.0, 0.5],
        [1.12, 1210.0, 2.8],
        0.9,
        [60.0, 20.0],
        &tasks,
    );
    result(base, change, margin_pct)
}

fn one(result: &Comparison) -> Why {
    let mut all = of(result);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// 3.3 -> 4.2 J. By time: -1 s x 0.5 W and 0.12 s x 2.25 W; by power: 1.06 s x 0.5 W; rest: 0.6 J.
#[test]
fn the_three_parts_add_up() {
    let why = one(&two(1.0));
    let energy = why.energy.expect("powers");
    let near = |found: f64, expected: f64| {
        assert!((found - expected).abs() < 1e-9, "{found}, {expected}");
    };
    near(energy.busy_time, -0.23);
    near(energy.busy_power, 0.53);
    near(energy.rest, 0.6);
    near(energy.change - energy.base, 0.9);
    let big = &why.groups[1];
    assert_eq!((big.group.as_str(), big.busy_s), ("big", (1.0, 1.12)));
    assert_eq!(why.groups[0].idle_pct, (70.0, 60.0));
    // Busy time that only one side has is drawn with its power: 2 s x 1.5 W.
    let busy = |s: f64, energy: f64| BusyTime {
        s,
        khz_mean: None,
        energy: Some(energy),
    };
    assert_eq!(parts(&busy(0.0, 0.0), &busy(2.0, 3.0)), Some((3.0, 0.0)));
    assert_eq!(parts(&busy(2.0, 3.0), &busy(0.0, 0.0)), Some((-3.0, 0.0)));
    // A run that got stuck, other clusters, and a result of before are not compared.
    let mut stuck = two(1.0);
    stuck.runs[1].complete = false;
    let mut other = two(1.0);
    let details = other.runs[1].details.as_mut().expect("details");
    details.residency.remove(0);
    let mut before = two(1.0);
    let details = before.runs[0].details.as_mut().expect("details");
    details.residency[0].busy = None;
    for result in [stuck, other, before] {
        assert!(of(&result).is_empty());
    }
}

/// Big has 0.27 + 0.53 J, the rest 0.6 J; little has 0.5 J, which is the third. Big itself lost
/// 30 % of two CPUs' time, CPUs of little 10 % of four's.
#[test]
fn the_largest_is_said() {
    let said = "big: 12 % more busy time at a 210 MHz higher clock; big: the cluster 20.0 % of \
                the time in off instead of 50.0 %";
    assert_eq!(one(&two(1.0)).text, said);
    // +27.3 % are less than this margin.
    assert_eq!(one(&two(28.0)).text, "");
    // Without powers busy time alone is compared: 3 -> 2.12 s.
    let mut none = two(1.0);
    for run in &mut none.runs {
        let details = run.details.as_mut().expect("details");
        details.energy = None;
        for group in &mut details.residency {
            group.busy.as_mut().expect("measured").energy = None;
        }
    }
    let said = "little: 50 % less busy time at the same clock";
    assert_eq!(one(&none).text, said);
}

#[test]
fn who_moved_is_named() {
    let moved: Vec<(String, f64)> = { one(&two(1.0)).moved.into_iter() }
        .map(|of| (of.task, (of.moved_s * 10.0).round()))
        .collect();
    // render lost 0.5 s on big and has 0.8 on little; ui lost 0.6 and gained 0.3; bg did not move.
    assert_eq!(moved, [("render".to_owned(), 5.0), ("ui".to_owned(), 3.0)]);
}

#[test]
fn lines_have_a_fitting_unit() {
    let told = lines(&one(&two(1.0)), false);
    let energy = "Energy of CPUs and clusters +900 mJ (+27.27 %): busy time -230, power of busy \
                  time +530, idle and clusters +600.";
    assert_eq!(told[0], energy);
    let moved = "Run time that moved most: render 500 ms (-500 ms on big, +800 ms on little); ui \
                 300 ms (-600 ms on little, +300 ms on big).";
    assert_eq!(told[2], moved);
    // Within the margin nothing but moves is said.
    assert_eq!(lines(&one(&two(28.0)), true), [moved]);
    assert!(lines(&one(&two(1.0)), true)[0].starts_with("Modelled energy of CPUs"));
}

#[test]
fn clusters_head_their_policies() {
    let text = |format| {
        table(
            &two(1.0),
            |run| run.policy.clone(),
            format,
            Style::default(),
        )
    };
    let human = text(Format::Human);
    let words: Vec<Vec<String>> = { human.lines() }
        .filter(|line| !line.is_empty())
        .map(|line| line.split_whitespace().map(str::to_owned).collect())
        .collect();
    let expected = [
        &[
            "policy", "busy", "(CPU", "s)", "clock", "(MHz)", "power", "(W)", "idle",
        ][..],
        &["little"],
        &["old", "2", "1000", "0.5000", "70.0", "%"],
        &["new", "1", "1000", "0.5000", "60.0", "%"],
        &["big"],
        &["old", "1", "1000", "2", "0.0", "%"],
        &["new", "1.120", "1210", "2.500", "0.0", "%"],
    ];
    assert_eq!(words, expected);
    let row = "| big | new | 1.120 | 1210 | 2.500 | 0.0 % |";
    assert!(text(Format::Md).contains(row), "{}", text(Format::Md));
}
