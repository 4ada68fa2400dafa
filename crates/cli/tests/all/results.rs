//! What the commands answer.
//! Pages: docs/guide/results.md; docs/guide/report.md, "The state at a time".
//!
//! What must stay: keys of JSON and exit codes are a contract; the same command gives the same
//! bytes, whatever the number of threads.
//! Tests by part (in crates/cli/src): args/simulate.rs: `the_same_command_gives_the_same_bytes`
//! (`HowArgs`), `determinism_is_verified` (`verify_determinism`), `a_pattern_runs_several_studies`
//! (`StudyRunArgs`), `a_state_that_cannot_be_shown_is_refused` (`dump_state`);
//! commands/simulate.rs: `a_task_that_never_lets_time_pass_is_named` (`report`),
//! `compare_and_sim_follow_the_contract` (`compare`), `expectations_decide_the_exit_code`
//! (`judge`); commands/workload.rs: `loops_are_those_of_the_file` (`loops`),
//! `workloads_of_the_repository_are_accepted` (`examine`); crates/study/src/comparison/endings.rs:
//! `a_run_says_how_it_ended` (`endings`); commands/diff.rs: `two_results_are_compared` (`diff`);
//! expect.rs: `expectations_of_changes_are_told_or_not` (`one_of`); commands/study.rs:
//! `assumed_costs_are_tried_on_demand` (`options`); args/mod.rs: `lists_have_every_form`
//! (`FormatName`); args/show.rs: `a_platform_is_shown_with_its_sources` (`PlatformShowArgs`),
//! `a_policy_is_shown_with_what_was_set` (`PolicyShowArgs`); commands/platform_clocks.rs:
//! `clocks_points_and_moves_are_shown` (`section`); args/values.rs:
//! `lists_and_pages_of_platforms_are_short` (`newest_kernel`); commands/platform_text.rs:
//! `cores_and_domains_are_shown_as_they_are` (`cpus`); commands/doctor.rs:
//! `doctor_says_what_is_there` (`object`); crates/report/src/states.rs: `the_state_at_some_times`
//! (`outcome`); crates/study/src/request.rs: `a_file_says_how_long_it_runs`; commands/study.rs:
//! `a_study_runs_and_lists_its_rows`; whole runs: all others.
//! Helpers, and who fails with them: `json` (most tests); `packed` (`the_state_at_some_times`,
//! `a_state_that_cannot_be_shown_is_refused`).

use crate::common;

use common::{
    assert_code, assert_refused, compare, folder, repository, run, run_in, sim, stderr, stdout,
};
use serde_json::Value;

fn json(output: &std::process::Output) -> Value {
    assert_code(output, 0);
    let value: Value = serde_json::from_str(&stdout(output)).expect("one JSON object");
    // Results carry their runs; all else is as it was.
    let runs = |value: &Value| value.get("runs").is_some() || value.get("rows").is_some();
    let is_result = runs(&value) || runs(&value["studies"][0]);
    let version = if is_result { 2 } else { 1 };
    assert_eq!(value["schema_version"], version);
    value
}

#[test]
fn the_same_command_gives_the_same_bytes() {
    let with_jobs = |jobs| compare(&["--seeds", "3", "--format", "json", "--jobs", jobs]);
    let first = with_jobs("1");
    assert_code(&first, 0);
    for jobs in ["1", "2", "2"] {
        assert_eq!(stdout(&with_jobs(jobs)), stdout(&first), "--jobs {jobs}");
    }
}

#[test]
fn threads_change_nothing_where_balancing_and_preemption_do() {
    let folder = folder();
    // More runnable tasks than CPUs, of other weights, some pinned: queues are long and uneven.
    let text = r#"{
        "tasks": {
            "hog": {"instance": 8, "run": 40000, "sleep": 1000},
            "nice": {"instance": 3, "priority": 10, "run": 9000, "sleep": 500},
            "keen": {"instance": 3, "priority": -10, "run": 700, "timer":
                {"ref": "unique", "period": 5000}},
            "pinned": {"instance": 3, "cpus": [1, 2], "run": 3000, "sleep": 2000}
        },
        "global": {"duration": 1}
    }"#;
    common::file(&folder, "app.json", text);
    let with_jobs = |jobs: &str| {
        let args = [
            "compare",
            "--platform=juno-r0",
            "--workload=app.json",
            "--policy=linux-4.17",
            "--policy=linux-4.17+energy-aware",
            "--seeds=2",
            "--format=json",
            "--jobs",
            jobs,
        ];
        run_in(folder.path(), &args)
    };
    let one = with_jobs("1");
    assert_eq!(stdout(&one), stdout(&with_jobs("2")));
    let value = json(&one);
    let mean = |metric: &str| value["runs"][0]["metrics"][metric]["mean"].as_f64();
    for metric in ["migrations_total", "task_wait_s"] {
        assert!(mean(metric).is_some_and(|mean| mean > 0.0), "{metric}");
    }
}

#[test]
fn a_task_that_never_lets_time_pass_is_named() {
    let folder = folder();
    common::spinning_load(&folder);
    let args = [
        "sim",
        "--platform=tc2",
        "--workload=app.json",
        "--policy=linux-4.17",
        "--duration=1s",
    ];
    let output = run_in(folder.path(), &args);
    assert_code(&output, 1);
    let (text, warnings) = (stdout(&output), stderr(&output));
    assert!(
        warnings.contains("task `spin-1` repeats steps"),
        "{warnings}"
    );
    assert!(text.contains("NOT complete"), "{text}");
    let output = run_in(folder.path(), &[&args[..], &["--format=csv"]].concat());
    assert_code(&output, 1);
    assert!(stderr(&output).contains("spin-1"), "{}", stderr(&output));
    // Without the warning the line itself says why.
    let output = run_in(folder.path(), &[&args[..], &["--quiet"]].concat());
    assert_code(&output, 1);
    assert_eq!(stderr(&output), "");
    let text = stdout(&output);
    let why = "nothing is judged: linux-4.17: the run ended at ";
    let said = text.split_once(why).map(|(_, rest)| rest.to_owned());
    assert!(
        said.is_some_and(|rest| rest.contains(" ns because task `spin-1` repeats")),
        "{text}"
    );
}

/// Goal: a task without phases is repeated as often as it says.
#[test]
fn loops_are_those_of_the_file() {
    let folder = folder();
    for (text, loops, shown) in [
        (r#""loop": 2, "run": 10, "sleep": 10"#, 2, "2"),
        (r#""loop": -1, "run": 10, "sleep": 10"#, -1, "for ever"),
        (r#""run": 10, "sleep": 10"#, -1, "for ever"),
        (
            r#""loop": 3, "phases": {"p": {"loop": 2, "run": 10}}"#,
            3,
            "3",
        ),
    ] {
        let text = format!(r#"{{"tasks": {{"a": {{{text}}}}}}}"#);
        common::file(&folder, "app.json", &text);
        let check = ["workload", "check", "app.json"];
        let value = json(&run_in(
            folder.path(),
            &[&check[..], &["--format=json"]].concat(),
        ));
        assert_eq!(value["tasks"][0]["loops"], loops, "{text}");
        let human = stdout(&run_in(folder.path(), &check));
        assert!(human.contains(&format!("  {shown}  ")), "{human}");
    }
}

#[test]
fn a_run_says_how_it_ended() {
    let folder = folder();
    let file = |loops: i32| {
        let text = r#"{"tasks": {"a": {"loop": LOOPS, "run": 1000, "sleep": 9000}}}"#;
        common::file(
            &folder,
            "app.json",
            &text.replace("LOOPS", &loops.to_string()),
        );
    };
    let says = |more: &[&str]| {
        let args = [
            "--platform=tc2",
            "--workload=app.json",
            "--policy=linux-4.17",
            "--duration=1s",
        ];
        let output = run_in(folder.path(), &[more, &args[..]].concat());
        assert_code(&output, 0);
        stdout(&output)
    };
    file(10);
    let text = says(&["sim"]);
    assert!(text.contains("\nended at 1"), "{text}");
    assert!(text.contains(" ms: all tasks were done\n"), "{text}");
    let text = says(&["compare", "--policy=linux-4.17+energy-aware", "--seeds=2"]);
    assert!(text.contains("\nlinux-4.17: ended at 1"), "{text}");
    file(1000);
    let text = says(&["sim"]);
    assert!(text.contains("\ncut at 1.00 s: not all tasks"), "{text}");
    file(-1);
    let text = says(&["sim"]);
    assert!(
        !text.contains("ended at") && !text.contains("cut at"),
        "{text}"
    );
}

#[test]
fn compare_and_sim_follow_the_contract() {
    let value = json(&compare(&["--seeds", "2", "--format", "json"]));
    let runs = value["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert_eq!(run["platform"], "hikey960");
        assert_eq!(run["workload"], common::PERIODIC);
        assert_eq!(run["seeds"], serde_json::json!([1, 2]));
        let latency = &run["metrics"]["wake_latency_us_p99"];
        assert!(
            latency["mean"].is_number() && latency["unit"] == "us",
            "{latency}"
        );
    }
    assert_eq!(runs[0]["policy"], "linux-4.17", "the base is first");
    let delta = &value["deltas"][0];
    assert_eq!(delta["base"], "linux-4.17");
    assert_eq!(delta["other"], "linux-4.17+energy-aware");
    let value = json(&sim(&["--format", "json"]));
    assert!(value.get("deltas").is_none());
    assert_eq!(value["runs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn work_wakes_as_often_as_its_periods_say() {
    // 4 tasks of 16 ms in 1.6 s: 100 periods each, one more or less by phase and end.
    let args = [
        "sim",
        "--platform",
        "juno-r0",
        "--workload",
        "periodic:n=4,period=16ms,duty=5%",
        "--policy",
        "linux-4.17",
        "--duration",
        "1600ms",
        "--format",
        "json",
    ];
    let value = json(&run(&args));
    let periods = value["runs"][0]["metrics"]["periods_total"]["mean"].as_f64();
    let periods = periods.expect("a count");
    assert!((392.0..=408.0).contains(&periods), "{periods}");
}

/// Goal: two kept results are compared by seed; what was asked otherwise comes first, a condition
/// decides the exit code, and a page is written. What is counted in another length is not judged.
#[test]
fn two_results_are_compared() {
    let folder = folder();
    for (file, duty) in [("a.json", "5%"), ("b.json", "10%"), ("c.json", "5%")] {
        let workload = format!("periodic:n=4,period=10ms,duty={duty},start=spread");
        let duration = if file == "c.json" { "200ms" } else { "100ms" };
        let asked = [
            "sim",
            "--platform=hikey960",
            "--policy=linux-7.3",
            "--seeds=3",
            "--format=json",
            &format!("--workload={workload}"),
            &format!("--output={file}"),
            &format!("--duration={duration}"),
        ];
        assert_code(&run_in(folder.path(), &asked), 0);
    }
    let asked = ["diff", "a.json", "b.json", "--export-html", "d.html"];
    let output = run_in(folder.path(), &asked);
    assert_code(&output, 0);
    let said = stdout(&output);
    let load = |duty| format!("periodic:n=4,period=10ms,duty={duty},start=spread");
    let first = format!(
        "hikey960, {}, linux-7.3: asked otherwise\n  workload: {}, then {}\n",
        load("10%"),
        load("5%"),
        load("10%")
    );
    let summary = "a.json → b.json: 1 pair, 1 worse, ";
    assert!(said.starts_with(summary) && said.contains(&first), "{said}");
    // The page has the length that the page of `sim` has: these tasks never end.
    let page = std::fs::read_to_string(folder.path().join("d.html")).expect("a page");
    assert!(page.contains("<li>100 ms</li>") && !page.contains("<li>to the end of its tasks</li>"));
    for (condition, code) in [("task_work_s>=+50%", 0), ("task_work_s<=base", 1)] {
        let asked = ["diff", "a.json", "b.json", "--expect", condition];
        let asked = [&asked[..], &["--export-junit", "checks.xml"]].concat();
        assert_code(&run_in(folder.path(), &asked), code);
        let checks = std::fs::read_to_string(folder.path().join("checks.xml")).expect("there");
        let counted = format!("tests=\"1\" failures=\"{code}\" skipped=\"0\"");
        assert!(
            checks.contains(&counted) && checks.contains("classname=\"linux-7.3, after\""),
            "{checks}"
        );
        // What does not hold says from what to what, and what was expected.
        let said = [" -&gt; ", "; expected at most the base"];
        let says = said.iter().all(|part| checks.contains(part));
        assert_eq!(says, code == 1, "{checks}");
    }
    let longer = ["diff", "a.json", "c.json", "--expect", "task_work_s<=base"];
    let longer = run_in(folder.path(), &longer);
    assert_code(&longer, 0);
    let said = stdout(&longer);
    assert!(
        said.contains("lengths differ") && said.contains("1 not told"),
        "{said}"
    );
    let other = [
        "diff",
        "a.json",
        "b.json",
        "--expect",
        "linux-5.0 task_work_s<=base",
    ];
    assert_refused(
        &run_in(folder.path(), &other),
        &["`linux-5.0` is not compared; expected one of linux-7.3"],
    );
    let wrong = run_in(folder.path(), &["diff", "a.json", "d.json"]);
    assert_refused(&wrong, &["d.json: cannot be read"]);
}

/// Goal: a change is judged by its interval, of the policy that is named or of all but the base;
/// what is not told fails only if that is asked for.
#[test]
fn expectations_of_changes_are_told_or_not() {
    let compare = |more: &[&str]| {
        let asked = [
            "compare",
            "--platform",
            "hikey960",
            "--workload",
            "periodic:n=4,period=16ms,duty=5%,start=spread",
            "--policy",
            "linux-7.3",
            "--policy",
            "linux-7.3-energy-aware",
            "--duration",
            "500ms",
        ];
        run(&[&asked[..], more].concat())
    };
    let said = |more: &[&str], code| {
        let output = compare(more);
        assert_code(&output, code);
        stdout(&output)
    };
    // Energy-aware placement is there to save energy; how much is not asked here.
    let more = said(&["--expect", "cpu_energy_j<=base"], 1);
    // Where a row has no room its figures stand below.
    let is_judged = |line: &&str| line.starts_with("cpu_energy_j<=base");
    assert_eq!(more.lines().filter(is_judged).count(), 1, "{more}");
    let mut judged = more.lines().skip_while(|line| !is_judged(line));
    let row = [judged.next(), judged.next()].map(Option::unwrap_or_default);
    assert!(row[0].contains("energy-aware"), "{more}");
    assert!(row.iter().any(|line| line.ends_with("FAIL")), "{more}");
    said(&["--expect", "cpu_energy_j>=+1%"], 0);
    said(&["--expect", "linux-7.3-energy-aware cpu_energy_j>+1%"], 0);
    let wide = ["--expect", "wake_latency_us_max<=base", "--seeds", "1"];
    let open = said(&wide, 0);
    assert!(
        open.contains("not told") && open.contains("more seeds may tell"),
        "{open}"
    );
    said(&[&wide[..], &["--strict"]].concat(), 1);
    // A policy's settings have commas; a list of conditions is told.
    let set = ["--policy", "linux-7.3:busy_factor=16,sis_util=on"];
    let of_it = ["linux-7.3:busy_factor=16,sis_util=on cpu_energy_j<=+900%"];
    said(&[&set[..], &["--expect"], &of_it].concat(), 0);
    for (condition, expected) in [
        (
            "linux-7 cpu_energy_j<=+3%",
            "`linux-7` is not compared; expected one of linux-7.3, ",
        ),
        (
            "linux-7.3 cpu_energy_j<=+3%",
            "is the base; expected a change of another policy",
        ),
        ("cpu_energy_j==base", "expected <= < >= or >"),
        (
            "cpu_energy_j<=3%",
            "expected a number, `base` or a change as `+3%`",
        ),
    ] {
        let output = compare(&["--expect", condition]);
        assert_refused(&output, &[expected]);
    }
}

#[test]
fn expectations_decide_the_exit_code() {
    let met = sim(&[
        "--expect",
        "wakeups_total>0",
        "--expect",
        "runtime_s == 0.05",
    ]);
    assert_code(&met, 0);
    assert!(
        stdout(&met).contains("All 2 expectations hold."),
        "{}",
        stdout(&met)
    );
    let unmet = compare(&["--expect", "wakeups_total<1"]);
    assert_code(&unmet, 1);
    assert!(
        stdout(&unmet).contains("2 of 2 expectations failed."),
        "every policy counts"
    );
    // tc2 has no power in watts: an absent metric does not hold.
    let args = [
        "sim",
        "--platform",
        "tc2",
        "--workload",
        "periodic",
        "--policy",
        "linux-4.17",
        "--duration",
        "20ms",
        "--format",
        "json",
        "--expect",
        "energy_j>=0",
    ];
    let absent = run(&args);
    assert_code(&absent, 1);
    assert!(
        stderr(&absent).contains("not measured here; `cpu_energy_bogo` is"),
        "{}",
        stderr(&absent)
    );
    assert!(
        serde_json::from_str::<Value>(&stdout(&absent)).is_ok(),
        "JSON stays JSON"
    );
}

#[test]
fn determinism_is_verified() {
    let output = sim(&["--verify-determinism"]);
    assert_code(&output, 0);
    assert!(
        stdout(&output).contains("\nidentical: events="),
        "{}",
        stdout(&output)
    );
    let output = sim(&["--verify-determinism", "--format", "json"]);
    assert!(
        stderr(&output).starts_with("identical: events="),
        "{}",
        stderr(&output)
    );
    json(&output);
}

#[test]
fn ten_thousand_tasks_run() {
    // Creating one takes 40 us of a full-speed CPU, so 89 us of CPU 0 (capacity 462): 0.9 s in all.
    let args = [
        "sim",
        "--platform",
        "hikey960",
        "--workload",
        "periodic:n=10000,period=16ms,duty=5%",
        "--policy",
        "linux-4.17+energy-aware",
        "--duration",
        "3s",
        "--format",
        "json",
    ];
    let value = json(&run(&args));
    let mean = |name: &str| value["runs"][0]["metrics"][name]["mean"].as_f64();
    assert_eq!(mean("forks_total"), Some(10_000.0));
    // They ask for 500 CPUs: once all are there, after 0.9 of the 3 s, the 8 are full; before, CPUs
    // wake for each new one and go idle again.
    assert!(
        mean("busy_cpus_mean").is_some_and(|cpus| cpus > 8.0 * (3.0 - 0.9) / 3.0),
        "{value}"
    );
    assert!(mean("missed_periods_total").is_some_and(|missed| missed > 0.0));
}

#[test]
fn a_file_says_how_long_it_runs() {
    let folder = folder();
    let text = r#"{"tasks": {"a": {"run": 100, "sleep": 900}}, "global": {"duration": 2}}"#;
    common::file(&folder, "app.json", text);
    let args = [
        "sim",
        "--platform",
        "tc2",
        "--workload",
        "app.json",
        "--policy",
        "linux-4.17",
        "--format",
        "json",
    ];
    assert_eq!(
        json(&run_in(folder.path(), &args))["duration_ns"],
        2_000_000_000u64
    );
    let shorter = [&args[..], &["--duration", "1s"]].concat();
    assert_eq!(
        json(&run_in(folder.path(), &shorter))["duration_ns"],
        1_000_000_000u64
    );
}

#[test]
fn a_study_runs_and_lists_its_rows() {
    let args = [
        "study",
        "run",
        "energy-aware/energy-hikey960",
        "--quick",
        "--seeds",
        "1",
        "--duration",
        "50ms",
        "--format",
        "json",
    ];
    let value = json(&run(&args));
    assert_eq!(value["study"], "energy-aware/energy-hikey960");
    assert_eq!(value["base_policy"], "linux-4.17");
    assert!(
        value["rows"]
            .as_array()
            .is_some_and(|rows| !rows.is_empty())
    );
}

#[test]
fn a_pattern_runs_several_studies() {
    let run_quick = |format: &str| {
        run(&[
            "study",
            "run",
            "energy-aware/energy-*",
            "--quick",
            "--seeds",
            "1",
            "--duration",
            "20ms",
            "--format",
            format,
        ])
    };
    let value = json(&run_quick("json"));
    assert_eq!(value["schema_version"], 2);
    let studies = value["studies"].as_array().expect("an array");
    let names: Vec<_> = studies
        .iter()
        .map(|study| study["study"].as_str())
        .collect();
    assert_eq!(
        names,
        [
            Some("energy-aware/energy-hikey960"),
            Some("energy-aware/energy-juno-r0")
        ]
    );
    let csv = run_quick("csv");
    let headings = stdout(&csv)
        .lines()
        .filter(|line| line.starts_with("study,"))
        .count();
    assert_eq!(headings, 1);
}

#[test]
fn assumed_costs_are_tried_on_demand() {
    let value = json(&run(&[
        "study",
        "run",
        "energy-aware/energy-juno-r0",
        "--quick",
        "--sensitivity",
        "--seeds",
        "2",
        "--duration",
        "20ms",
        "--format",
        "json",
    ]));
    let rows = value["sensitivity"].as_array().expect("an array");
    assert!(!rows.is_empty());
    for key in [
        "case",
        "metric",
        "policy",
        "cost",
        "factor",
        "delta_pct",
        "ci95",
    ] {
        assert!(rows[0].get(key).is_some(), "{key}");
    }
    let tried = |row: &&Value| row["policy"] != value["base_policy"];
    let robust = value["rows"].as_array().into_iter().flatten().filter(tried);
    assert!(robust.clone().count() > 0);
    robust.for_each(|row| assert!(row["robust"].is_boolean(), "{row}"));
}

#[test]
fn lists_have_every_form() {
    for list in ["platform", "workload", "policy", "study", "metric"] {
        json(&run(&[list, "list", "--format", "json"]));
        for format in ["human", "csv", "md"] {
            let output = run(&[list, "list", "--format", format]);
            assert_code(&output, 0);
            assert!(stdout(&output).lines().count() >= 3, "{list} {format}");
        }
    }
}

#[test]
fn a_platform_is_shown_with_its_sources() {
    let value = json(&run(&["platform", "show", "hikey960", "--format", "json"]));
    assert_eq!(value["cpus"].as_array().map(Vec::len), Some(8));
    assert_eq!(value["freq_domains"][1]["opps"][4]["performance"], 1024);
    assert_eq!(
        value["scheduling_domains"].as_array().map(Vec::len),
        Some(3)
    );
    for word in [
        "[published]",
        "[derived]",
        "[assumed]",
        "cortex-a73",
        "2362",
    ] {
        let text = stdout(&run(&["platform", "show", "hikey960"]));
        assert!(text.contains(word), "{word}");
    }
    // What the energy model of the core is made of: what a kernel believes, where a file says so.
    for (name, from) in [
        ("gs101", "the column EM mW (what the kernel believes)"),
        ("hikey960", "CPU power alone"),
    ] {
        let text = stdout(&run(&["platform", "show", name]));
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = format!("energy model, derived from {from}.");
        assert!(words.contains(&said), "{text}");
    }
    let markdown = stdout(&run(&["platform", "show", "tc2", "--format", "md"]));
    assert!(markdown.starts_with("# tc2\n") && markdown.contains("\n## CPUs\n"));
}

/// Goal: what the page of a machine says of clocks that hardware chooses or bounds, of lines that
/// go between CPUs, and of operating points is what platforms/alder-lake-12900k.toml and
/// platforms/hikey960.toml state.
#[test]
fn clocks_points_and_moves_are_shown() {
    let show = |name: &str, more: &[&str]| {
        let output = run(&[&["platform", "show", name], more].concat());
        stdout(&output)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let page = show("alder-lake-12900k", &[]);
    for part in [
        "The driver is intel_pstate: under `governor=powersave` hardware chooses the clock by its \
         own load, with the hint 128 of 255",
        "0-15 1 5200 2 5200 3 5000 4 5000 5+ 4900 16-23 1 3900",
        "A core in C1E counts.",
        "A package may draw 241 W at any time and 125 W in the mean over 56 s; 31.25 W of it \
         beside its CPUs and clusters.",
        "A cache line of another CPU: core 4 ns, cluster 50 ns, last-level cache 37 ns.",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let value = json(&run(&[
        "platform",
        "show",
        "alder-lake-12900k",
        "--format",
        "json",
    ]));
    assert_eq!(value["power_limit"]["short_uw"], 241_000_000);
    assert_eq!(
        value["turbo"]["bins"][1]["khz_by_awake_cores"][4],
        3_700_000
    );
    assert_eq!(value["transfer"]["cluster_ns"], 50);
    let page = show("hikey960", &[]);
    for point in ["533 700", "1844 1100", "903 700"] {
        assert!(page.contains(point), "{point}\n{page}");
    }
}

/// Goal: a list has a line for each machine, and a page of the biggest machine is one to read: what
/// hundreds of clocks, domains and sources have in common stands once.
#[test]
fn lists_and_pages_of_platforms_are_short() {
    let list = stdout(&run(&["platform", "list"]));
    let lines: Vec<&str> = list.lines().collect();
    let machines = lines
        .iter()
        .position(|line| line.is_empty())
        .expect("words below");
    assert_eq!(
        machines,
        1 + wakeplace_platform::builtin_names().count(),
        "{list}"
    );
    let row = |name: &str| {
        let row = lines
            .iter()
            .find(|line| line.split(' ').next() == Some(name));
        row.unwrap_or_else(|| panic!("no {name}"))
            .split_whitespace()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        row("gs101")[..5],
        ["gs101", "8", "watts", "Google", "Tensor"]
    );
    assert_eq!(
        row("alder-lake-12900k")[..3],
        ["alder-lake-12900k", "24", "modelled"]
    );
    let json = json(&run(&["platform", "list", "--format", "json"]));
    let all = json["platforms"].as_array().expect("a list");
    let of = |name: &str| {
        all.iter()
            .find(|platform| platform["name"] == name)
            .expect("one")
    };
    assert_eq!(of("snb-laptop")["power"], "modelled");
    assert_eq!(of("gs101")["also_known_as"][0], "Pixel 6");
    for name in wakeplace_platform::builtin_names() {
        let text = stdout(&run(&["platform", "show", name]));
        let lines = text.lines().count();
        assert!(lines <= 250, "{name}: {lines} lines");
        assert!(
            text.contains("Scheduling domains, as linux-7.3 builds them"),
            "{name}"
        );
    }
    // 256 cores of two threads.
    let text = stdout(&run(&["platform", "show", "zen5-2s-turin"]));
    assert!(text.contains("0,256 and 255 more such domains"), "{text}");
}

/// Goal: a core is counted once however its threads are numbered, and no heading lists hundreds of
/// frequency domains.
#[test]
fn cores_and_domains_are_shown_as_they_are() {
    let text = stdout(&run(&["platform", "show", "snb-ep-2s"]));
    let socket = text.lines().find(|line| line.contains("socket0"));
    let cells: Vec<_> = socket.expect(&text).split_whitespace().collect();
    assert_eq!(
        cells,
        [
            "socket0",
            "0-7,16-23",
            "core",
            "1024",
            "1024",
            "8",
            "0",
            "0"
        ]
    );
    let text = stdout(&run(&["platform", "show", "zen5-2s-turin"]));
    let heading = "\nOperating points of CPUs 0-511 (256 frequency domains)\n";
    assert!(text.contains(heading), "{text}");
}

#[test]
fn a_policy_is_shown_with_what_was_set() {
    let args = [
        "policy",
        "show",
        "linux-4.17",
        "--set",
        "imbalance_pct=117",
        "--format",
        "json",
    ];
    let value = json(&run(&args));
    let parameters = value["parameters"].as_array().expect("parameters");
    let set: Vec<_> = parameters
        .iter()
        .filter(|p| p["overridden"] == true)
        .collect();
    assert_eq!(set.len(), 1);
    assert_eq!(
        (&set[0]["key"], &set[0]["value"], &set[0]["default"]),
        (&"imbalance_pct".into(), &"117".into(), &"125".into())
    );
    assert!(stdout(&run(&args[..5])).contains("117 (set)"));
}

#[test]
fn doctor_says_what_is_there() {
    let value = json(&run(&["doctor", "--format", "json"]));
    assert_eq!(value["simulator"], true);
    assert!(
        value["checks"]
            .as_array()
            .is_some_and(|checks| checks.len() > 5)
    );
    assert!(stdout(&run(&["doctor"])).contains("can run here"));
}

#[test]
fn workloads_of_the_repository_are_accepted() {
    let folder = repository("workloads");
    for entry in std::fs::read_dir(&folder).expect("the folder") {
        let name = entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("UTF-8");
        if name.ends_with(".json") {
            let value = json(&run_in(
                &folder,
                &["workload", "check", &name, "--format", "json"],
            ));
            assert_eq!(value["accepted"], true, "{name}");
        }
    }
}

/// What `sim` has to show of four busy threads on a u8500 at 400 MHz, and more arguments.
const PACKED: &[&str] = &[
    "sim",
    "--platform",
    "u8500",
    "--workload",
    "sysbench-cpu:threads=4",
    "--policy",
    "linux-3.1+sched-mc=2",
    "--set",
    "model.freq_cap=0:399360",
    "--set",
    "governor=performance",
    "--duration",
    "1s",
];

fn packed(more: &[&str]) -> std::process::Output {
    run(&[PACKED, more].concat())
}

/// docs/rules/sched-mc.md#mc-freq-table and docs/rules/sched-mc.md#mc-debugfs: at 400 MHz and level
/// 2 a CPU claims 4096, by the table of its core.
#[test]
fn the_state_at_some_times() {
    let as_json = ["--format", "json", "--dump-state", "1s,250ms"];
    let value = json(&packed(&as_json));
    let states = value["states"].as_array().expect("an array");
    let times: Vec<_> = states.iter().map(|state| &state["time_ns"]).collect();
    assert_eq!(times, [250_000_000, 1_000_000_000]);
    for cpu in states[1]["cpus"].as_array().expect("CPUs") {
        let expected = serde_json::json!({
            "cpu_power": 4096, "scale": 1, "freq_khz": 399_360
        });
        assert_eq!(cpu["sched_mc"], expected);
        assert_eq!(cpu["freq_khz"], 399_360);
        assert_eq!(cpu["online"], true);
    }
    let queued = |cpu: usize| states[1]["cpus"][cpu]["nr_running"].as_u64();
    assert_eq!(queued(0).zip(queued(1)).map(|(a, b)| a + b), Some(4));
    let groups = &states[1]["domains"][0]["groups"];
    let second = serde_json::json!({ "cpus": [1], "capacity": 4096 });
    assert_eq!(groups[1], second);

    let human = packed(&["--dump-state", "1s"]);
    assert_code(&human, 0);
    let text = stdout(&human);
    for part in [
        "\nstate at 1 s\n",
        "PKG 0-1: groups {0} 4096, {1} 4096; ",
        "POWERSAVINGS_BALANCE",
    ] {
        assert!(text.contains(part), "{text}");
    }
    // Nothing else of the result is another one.
    let mut without = value.clone();
    without.as_object_mut().expect("an object").remove("states");
    assert_eq!(without, json(&packed(&["--format", "json"])));
}

#[test]
fn a_state_that_cannot_be_shown_is_refused() {
    for (more, expected) in [
        (
            &["--dump-state", "2s"][..],
            "the run takes 1 s; expected times up to that",
        ),
        (&["--dump-state", "1s,"], "--dump-state"),
        (
            &["--dump-state", "1s", "--format", "csv"],
            "expected --format human or json",
        ),
        (&["--dump-state", "1s", "--seeds", "2"], "--seeds"),
    ] {
        let refused = packed(more);
        assert_code(&refused, 2);
        assert!(stderr(&refused).contains(expected), "{}", stderr(&refused));
    }
    // A run that is over before: its task ends after 100 ms.
    let ended = run(&[
        "sim",
        "--platform",
        "u8500",
        "--workload",
        "sysbench-cpu:time=100ms",
        "--policy",
        "linux-3.1",
        "--duration",
        "10s",
        "--dump-state",
        "9s",
    ]);
    assert_code(&ended, 2);
    let text = stderr(&ended);
    assert!(text.contains("the run was over at"), "{text}");
}

/// Goal: each task has its periods, missed ones and run time, threads of one name together; a rest
/// is no miss, and a task without periods has none.
#[test]
fn periods_are_told_task_by_task() {
    let folder = folder();
    // In 1 s `ok` has 10 periods of 100 ms in each of two threads; `late` works longer than its
    // periods of 20 ms; `free` has no timer, and its rests are no periods.
    let load = r#"{"global": {"duration": 1}, "tasks": {
        "ok": {"instance": 2, "loop": -1, "run": 1000,
            "timer": {"ref": "unique", "period": 100000}},
        "late": {"loop": 10, "run": 60000, "timer": {"ref": "b", "period": 20000}},
        "free": {"loop": 5, "run": 1000, "sleep": 100000}}}"#;
    common::file(&folder, "load.json", load);
    let sim = |form: &str| {
        let asked = [
            "sim",
            "--platform=hikey960",
            "--workload=load.json",
            "--policy=linux-7.3",
            form,
        ];
        let output = run_in(folder.path(), &asked);
        assert_code(&output, 0);
        stdout(&output)
    };
    let json: serde_json::Value = serde_json::from_str(&sim("--format=json")).expect("JSON");
    let tasks = json["runs"][0]["details"]["task_threads_run_s_periods_missed"].clone();
    let names: Vec<&str> = { tasks.as_array().expect("tasks").iter() }
        .filter_map(|task| task[0].as_str())
        .collect();
    assert_eq!(names, ["ok", "late", "free"]);
    assert_eq!(tasks[0][1], 2.0);
    let periods = tasks[0][3].as_f64().expect("periods");
    assert!((18.0..=20.0).contains(&periods), "{tasks}");
    assert_eq!(tasks[0][4], 0.0, "{tasks}");
    // 60 ms of CPU 0, whose capacity is 462, are 27 ms of the fastest CPU: every pass is late.
    assert_eq!(
        (&tasks[1][3], &tasks[1][4]),
        (&10.0.into(), &10.0.into()),
        "{tasks}"
    );
    assert!(
        tasks[1][2].as_f64().is_some_and(|run_s| run_s >= 0.27),
        "{tasks}"
    );
    assert_eq!(
        (&tasks[2][3], &tasks[2][4]),
        (&().into(), &().into()),
        "{tasks}"
    );
    let said = sim("--format=human");
    let line = said.lines().find(|line| line.starts_with("late "));
    let words: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
    assert!(
        words.first() == Some(&"late") && words.ends_with(&["10", "10"]),
        "{said}"
    );
}

/// Goal: `compare` and `diff` have each task's periods and misses policy by policy.
#[test]
fn periods_are_compared_task_by_task() {
    let folder = folder();
    let load = r#"{"global": {"duration": 1}, "tasks": {
        "late": {"loop": 10, "run": 60000, "timer": {"ref": "b", "period": 20000}},
        "free": {"loop": 5, "run": 1000, "sleep": 100000}}}"#;
    common::file(&folder, "load.json", load);
    let asked = |command: &str, more: &[&str]| {
        let all = [command, "--platform=hikey960", "--workload=load.json"];
        let output = run_in(folder.path(), &[&all[..], more].concat());
        assert_code(&output, 0);
        stdout(&output)
    };
    let both = ["--policy=linux-5.0", "--policy=linux-7.3", "--seeds=2"];
    let rows = |said: &str, policies: [&str; 2]| {
        let at = said.lines().position(|line| line.trim_end() == "late");
        let own: Vec<Vec<&str>> = { said.lines().skip(at.expect(said) + 1).take(2) }
            .map(|line| line.split_whitespace().collect())
            .collect();
        for (row, policy) in own.iter().zip(policies) {
            let name = row[..row.len() - 4].join(" ");
            assert!(name == policy && row.ends_with(&["10", "10"]), "{said}");
        }
        assert!(!said.lines().any(|line| line.starts_with("free")), "{said}");
    };
    rows(&asked("compare", &both), ["linux-5.0", "linux-7.3"]);
    for (file, governor) in [("a.json", "schedutil"), ("b.json", "performance")] {
        let governor = format!("--set=governor={governor}");
        let sim = ["--policy=linux-7.3", &governor, "--format=json", "-o", file];
        asked("sim", &sim);
    }
    let output = run_in(folder.path(), &["diff", "a.json", "b.json"]);
    assert_code(&output, 0);
    rows(&stdout(&output), ["linux-7.3, before", "linux-7.3, after"]);
}
