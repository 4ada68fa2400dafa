//! The measured part of the page: tables in Markdown, or one object (docs/results/fidelity.md).
//!
//! What must stay: the form of tables (README quotes some), keys of JSON. Free: what leaves the
//! tables of pages as they are. Tests by part: `tables_say_what_was_measured` (`markdown`,
//! `summary`, `total`, `cells`, `pct`, `machine`, `cost_table`, `energies`, `waits`, `set_row`,
//! `task_table`, `task`), `names_are_harmless` (names of others in all of these),
//! `the_object_has_every_wake_up` (`object`, `machine_object`, `set_object`, `cost_object`,
//! `agreement_object`); `result` is the tests' own.
//!
//! Callers: placement/starts/page.rs (`pct`), placement/truth/page.rs (`pct`).
//!
//! Tests: below

use super::agree::Agreement;
use super::{KERNEL_POLICY, LIVE_POLICY, MachineResult, PAIRS, RUNS, SetResult, sets, starts};
use serde_json::{Value, json};
use std::fmt::Write as _;
use wakeplace_price::cost::Cost;
use wakeplace_text::{markdown as plain, markdown_cell};

/// Runs whose shares are shown; the shifted one is there for the wake-ups only.
const SHOWN: usize = 4;

/// All tables.
pub(super) fn markdown(results: &[MachineResult]) -> String {
    let mut text = starts::markdown(results);
    text.push_str("\n## Agreement\n\nOf the first start.\n\n");
    text.push_str(&summary(results));
    for result in results {
        machine(&mut text, result);
    }
    text
}

/// Agreement over everything, by machine and together.
fn summary(results: &[MachineResult]) -> String {
    let mut text = String::new();
    let heads = PAIRS.map(|(_, _, name)| format!("{name} | random"));
    let _ = writeln!(text, "| machine | kernel | {} |", heads.join(" | "));
    let _ = writeln!(text, "|---|---|{}", "---:|".repeat(2 * PAIRS.len()));
    for result in results {
        let sums = total(result);
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            markdown_cell(&result.platform.name),
            markdown_cell(&result.kernel),
            cells(&sums)
        );
    }
    if results.len() > 1 {
        let mut all = [Agreement::default(); PAIRS.len()];
        for result in results {
            all.iter_mut()
                .zip(total(result))
                .for_each(|(sum, own)| sum.add(own));
        }
        let _ = writeln!(text, "| together | | {} |", cells(&all));
    }
    text
}

/// All sets of a machine together, by pair.
fn total(result: &MachineResult) -> [Agreement; PAIRS.len()] {
    let mut sums = [Agreement::default(); PAIRS.len()];
    for set in &result.sets {
        for (pair, sum) in sums.iter_mut().enumerate() {
            sum.add(set.all(pair, &result.clusters));
        }
    }
    sums
}

/// Agreement and what a draw at random would get, of every pair.
fn cells(sums: &[Agreement]) -> String {
    let cell = |sum: &Agreement| format!("{} | {}", pct(sum.pct()), pct(sum.random_pct()));
    sums.iter().map(cell).collect::<Vec<_>>().join(" | ")
}

/// `-`: nothing could be compared.
pub(super) fn pct(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1} %"))
}

/// The part of one machine.
fn machine(text: &mut String, result: &MachineResult) {
    let platform = &result.platform;
    let capacity: u32 = platform.cpus.iter().map(|cpu| cpu.capacity).sum();
    let tipping = sets::tipping_point(platform);
    let big = result.big();
    let _ = write!(
        text,
        "\n## {}\n\nCapacity {capacity}, tipping point {tipping}. One line per set; `one only` \
         for each pair,\n`on {}` (share of the wake-ups that began there) for a, b and both c:\n\n",
        plain(&platform.name),
        plain(&result.clusters.names[big]),
    );
    let heads = PAIRS.map(|(_, _, name)| format!("{name} | random"));
    let _ = writeln!(
        text,
        "| set | tasks | load | {} | wake-ups | one only | on {} |",
        heads.join(" | "),
        markdown_cell(&result.clusters.names[big]),
    );
    let _ = writeln!(text, "|---|---|{}", "---:|".repeat(2 * PAIRS.len() + 4));
    for set in &result.sets {
        set_row(text, result, set, big);
    }
    cost_table(text, result);
    task_table(text, result);
}

/// Energy and waits of each set, and of all of them.
fn cost_table(text: &mut String, result: &MachineResult) {
    let _ = write!(
        text,
        "\nCPU energy in the window by the platform's power model, and the wait from wake-up to \
         run, p50 / p95 / p99:\n\n\
         | set | a | b | b of a | c ({KERNEL_POLICY}) | c ({LIVE_POLICY}) | a waits | b waits \
         | c waits | c ({LIVE_POLICY}) waits |\n|---|{}\n",
        "---:|".repeat(9),
    );
    for set in &result.sets {
        let costs: Vec<_> = set.runs.iter().take(SHOWN).map(|run| &run.cost).collect();
        let joules: Vec<_> = costs.iter().map(|cost| cost.cpu_energy_j).collect();
        let waits: Vec<_> = costs.iter().map(|cost| waits(cost)).collect();
        let name = markdown_cell(&set.set.name);
        let _ = writeln!(
            text,
            "| {name} | {} | {} |",
            energies(&joules),
            waits.join(" | ")
        );
    }
    let sum = |run: usize| {
        result
            .sets
            .iter()
            .map(|set| set.runs[run].cost.cpu_energy_j)
            .sum()
    };
    let sums: Vec<Option<f64>> = (0..SHOWN).map(sum).collect();
    let _ = writeln!(text, "| together | {} | | | | |", energies(&sums));
}

/// In joules, with the ratio of the first two after them.
fn energies(joules: &[Option<f64>]) -> String {
    let cell = |value: &Option<f64>| value.map_or("-".to_owned(), |j| format!("{j:.3} J"));
    let mut cells: Vec<_> = joules.iter().map(cell).collect();
    let ratio = joules[0]
        .zip(joules[1])
        .map(|(a, b)| format!("{:.3}", b / a));
    cells.insert(2, ratio.unwrap_or_else(|| "-".to_owned()));
    cells.join(" | ")
}

/// 50th, 95th and 99th percentile, us.
fn waits(cost: &Cost) -> String {
    let cell = |percent| {
        cost.wait_us(percent)
            .map_or("-".to_owned(), |us| format!("{us:.0}"))
    };
    format!("{} us", [50, 95, 99].map(cell).join(" / "))
}

/// One set in one line.
fn set_row(text: &mut String, result: &MachineResult, set: &SetResult, big: usize) {
    let clusters = &result.clusters;
    let sums: Vec<_> = (0..PAIRS.len())
        .map(|pair| set.all(pair, clusters))
        .collect();
    let one_only: Vec<_> = sums.iter().map(|sum| sum.one_only.to_string()).collect();
    let on_big = (0..SHOWN).map(|run| format!("{:.0} %", set.wakeups_on(run, big, clusters)));
    let _ = writeln!(
        text,
        "| {} | {} | {:.0} % | {} | {} | {} | {} |",
        markdown_cell(&set.set.name),
        markdown_cell(&set.set.what),
        set.set.load_pct(&result.platform),
        cells(&sums),
        sums[0].both,
        one_only.join(", "),
        on_big.collect::<Vec<_>>().join(", "),
    );
}

/// One line per task, all sets.
fn task_table(text: &mut String, result: &MachineResult) {
    let names = plain(&result.clusters.names.join(" / "));
    let _ = write!(
        text,
        "\nOne line per task; run time in percent on {names}:\n\n\
         | set | task | period | job | util | a | b | c ({KERNEL_POLICY}) \
         | c ({LIVE_POLICY}) | {} |\n\
         |---|---|---:|---:|---:|---|---|---|---|{}\n",
        PAIRS.map(|(_, _, name)| name).join(" | "),
        "---:|".repeat(PAIRS.len()),
    );
    for set in &result.sets {
        (0..set.set.tasks.len()).for_each(|at| task(text, result, set, at));
    }
}

/// One task of a set in one line.
fn task(text: &mut String, result: &MachineResult, set: &SetResult, at: usize) {
    let spec = &set.set.tasks[at];
    let (period, job) = match set.runs[0].tasks[at].job_ns {
        Some(job_ns) => (
            format!("{} ms", spec.period_ns / 1_000_000),
            format!("{:.2} ms", job_ns as f64 / 1e6),
        ),
        None => ("none".to_owned(), "endless".to_owned()),
    };
    let util = set.runs[0].tasks[at]
        .job_ns
        .map_or(1024, |ns| ns * 1024 / spec.period_ns.max(1));
    let shares = set.runs.iter().take(SHOWN).map(|run| {
        let shares = run.tasks[at].shares(&result.clusters);
        shares
            .iter()
            .map(|share| format!("{share:.0}"))
            .collect::<Vec<_>>()
            .join(" / ")
    });
    let agreements = (0..PAIRS.len()).map(|pair| pct(set.task(pair, at, &result.clusters).pct()));
    let _ = writeln!(
        text,
        "| {} | {} | {period} | {job} | {util} | {} | {} |",
        markdown_cell(&set.set.name),
        markdown_cell(&spec.name),
        shares.collect::<Vec<_>>().join(" | "),
        agreements.collect::<Vec<_>>().join(" | "),
    );
}

/// The same as one object.
pub(super) fn object(results: &[MachineResult], round_us: Option<u32>) -> Value {
    let machines: Vec<Value> = results.iter().map(machine_object).collect();
    json!({
        "schema_version": wakeplace_report::SCHEMA_VERSION,
        "round_us": round_us,
        "machines": machines,
    })
}

/// The same as JSON.
fn machine_object(result: &MachineResult) -> Value {
    let sets: Vec<Value> = result
        .sets
        .iter()
        .map(|set| set_object(result, set))
        .collect();
    json!({
        "platform": result.platform.name,
        "kernel": result.kernel,
        "clusters": result.clusters.names,
        "tipping_point": sets::tipping_point(&result.platform),
        "agreement": agreement_object(&total(result)),
        "over_starts": starts::object(result),
        "sets": sets,
    })
}

/// One set as JSON.
fn set_object(result: &MachineResult, set: &SetResult) -> Value {
    let clusters = &result.clusters;
    let sums: Vec<_> = (0..PAIRS.len())
        .map(|pair| set.all(pair, clusters))
        .collect();
    let reasons = |at: usize| {
        let counts = set.runs[at].reasons.iter();
        counts
            .map(|(name, count)| (name.clone(), json!(count)))
            .collect::<serde_json::Map<_, _>>()
    };
    let task = |at: usize| {
        let spec = &set.set.tasks[at];
        let own: Vec<_> = (0..PAIRS.len())
            .map(|pair| set.task(pair, at, clusters))
            .collect();
        let runs: serde_json::Map<String, Value> = RUNS
            .iter()
            .zip(&set.runs)
            .map(|(name, run)| {
                let ran = &run.tasks[at];
                let wakeups: Vec<_> = ran.wakeups.iter().collect();
                let shares = ran.shares(clusters);
                let value = json!({ "run_share_pct": shares, "wakeups": wakeups });
                ((*name).to_owned(), value)
            })
            .collect();
        json!({
            "task": spec.name,
            "period_ns": spec.period_ns,
            "job_ns": set.runs[0].tasks[at].job_ns,
            "agreement": agreement_object(&own),
            "runs": runs,
        })
    };
    json!({
        "set": set.set.name,
        "what": set.set.what,
        "load_pct": set.set.load_pct(&result.platform),
        "agreement": agreement_object(&sums),
        "cost": cost_object(set),
        "simulated_reasons": { KERNEL_POLICY: reasons(2), LIVE_POLICY: reasons(3) },
        "tasks": (0..set.set.tasks.len()).map(task).collect::<Vec<_>>(),
    })
}

/// By run; null where it is not known.
fn cost_object(set: &SetResult) -> Value {
    let runs = RUNS.iter().zip(&set.runs).map(|(name, run)| {
        let wait_us = |percent| run.cost.wait_us(percent);
        let value = json!({
            "cpu_energy_j": run.cost.cpu_energy_j,
            "wake_latency_us_p50": wait_us(50),
            "wake_latency_us_p95": wait_us(95),
            "wake_latency_us_p99": wait_us(99),
        });
        ((*name).to_owned(), value)
    });
    Value::Object(runs.collect())
}

/// As the table, with counts.
fn agreement_object(sums: &[Agreement]) -> Value {
    let pairs = PAIRS.iter().zip(sums).map(|((_, _, name), sum)| {
        let value = json!({
            "both": sum.both,
            "same": sum.same,
            "one_only": sum.one_only,
            "pct": sum.pct(),
            "random_pct": sum.random_pct(),
        });
        ((*name).to_owned(), value)
    });
    Value::Object(pairs.collect())
}

#[cfg(test)]
mod tests {
    use super::super::agree::{Clusters, Wakeups};
    use super::super::{SetRun, TaskRun};
    use super::*;
    use std::collections::BTreeMap;
    use wakeplace_platform::Platform;

    /// Set F of Juno with one wake-up per task; the second run has task t1 on a big CPU.
    fn result() -> MachineResult {
        let platform = Platform::load("juno-r0").expect("built in");
        let set = sets::all(&platform)
            .into_iter()
            .find(|set| set.name == "F")
            .expect("there");
        let run = |t1: u32| {
            let task = |cpu: u32, job_ns| TaskRun {
                wakeups: if cpu == 1 {
                    Wakeups::new()
                } else {
                    Wakeups::from([(7, cpu)])
                },
                run_ns: BTreeMap::from([(cpu, 5)]),
                job_ns,
                ..TaskRun::default()
            };
            let small = task(0, Some(800_000));
            let tasks = vec![
                task(1, None),
                task(t1, Some(800_000)),
                small.clone(),
                small.clone(),
                small,
            ];
            SetRun {
                tasks,
                ..SetRun::default()
            }
        };
        let runs = [run(0), run(2), run(0), run(2), run(0)];
        MachineResult {
            clusters: Clusters::of(&platform),
            platform,
            kernel: "7.3.4".to_owned(),
            sets: vec![SetResult {
                set,
                runs,
                energy_aware: Vec::new(),
                capacity_aware: Vec::new(),
            }],
        }
    }

    #[test]
    fn tables_say_what_was_measured() {
        let text = markdown(&[result()]);
        // Three of four small tasks agree between kernel and live scheduler; at random 4 of 6 CPUs.
        let row = "| juno-r0 | 7.3.4 | 75.0 % | 66.7 % | 100.0 % | 66.7 % | 100.0 % | 58.3 % \
                   | 100.0 % | 66.7 % |\n";
        assert!(text.contains(row), "{text}");
        assert!(
            text.contains("Capacity 3832, tipping point 3062."),
            "{text}"
        );
        // Of four wake-ups, none and one.
        assert!(
            text.contains(" | 4 | 0, 0, 0, 0 | 0 %, 25 %, 0 %, 25 % |\n"),
            "{text}"
        );
        let row = "| F | t1 | 16 ms | 0.80 ms | 51 | 100 / 0 | 0 / 100 | 100 / 0 | 0 / 100 | 0.0 % \
                   | 100.0 % | 100.0 % | 100.0 % |\n";
        assert!(text.contains(row), "{text}");
        assert!(
            text.contains("| F | t0 | none | endless | 1024 | 0 / 100 |"),
            "{text}"
        );
    }

    #[test]
    fn names_are_harmless() {
        let mut odd = result();
        odd.sets[0].set.tasks[1].name = "t|<b>".to_owned();
        let text = markdown(&[odd]);
        assert!(text.contains("| F | t\\|&lt;b> | 16 ms |"), "{text}");
    }

    #[test]
    fn the_object_has_every_wake_up() {
        let object = object(&[result()], None);
        let set = &object["machines"][0]["sets"][0];
        assert_eq!(set["agreement"]["a-b"]["same"], json!(3));
        assert_eq!(set["tasks"][1]["runs"]["live"]["wakeups"], json!([[7, 2]]));
        assert_eq!(set["tasks"][0]["job_ns"], Value::Null);
    }
}
