//! What the program says: names that people type, notes that figures need, and no sentence too
//! often.
//! Pages: docs/guide/results.md; docs/guide/reasons.md.
//!
//! What must stay: what is said, once, where it matters; words are compared in part only.
//! Tests by part (in crates/cli/src): commands/policy.rs: `names_from_elsewhere_lead_to_ours`
//! (names that are not known); expect.rs: `lists_are_told_from_names` (`a_single`); args/show.rs:
//! `one_model_can_be_listed` (`WorkloadListArgs`), `a_check_says_for_which_machine`
//! (`WorkloadCheckArgs`); commands/workload.rs: `one_model_can_be_listed` (`list`, `flat`),
//! `a_check_says_for_which_machine` (`checked_for`), `a_check_names_what_is_no_rtapp_file`
//! (`check`); commands/explain/text.rs: `a_decision_says_each_reason_once` (`Sentences`, `others`);
//! crates/metrics/src/metric.rs: `modelled_joules_say_so_everywhere` (`of_power`, `MODELLED`);
//! crates/study/src/comparison/cautions.rs: `modelled_joules_say_so_everywhere` (in results),
//! `tasks_that_wake_together_are_told` (`together`, `waking_together`, `period_ns`);
//! commands/sweep.rs: `modelled_joules_say_so_in_sweeps` (`columns`, `show`);
//! crates/report/src/points.rs: `modelled_joules_say_so_in_sweeps` (`modelled`);
//! commands/simulate.rs: `what_does_nothing_is_told` (`sim`); args/help.rs:
//! `only_commands_with_expectations_speak_of_them` (`ANSWER_EXIT_CODES`, `CELLS_EXIT_CODES`);
//! crates/workload/src/rtapp/check.rs: `a_check_names_what_is_no_rtapp_file` (`check_file`,
//! `check_file_as`); crates/workload/src/rtapp/keys.rs: `refusals_of_rtapp_files_name_the_key`
//! (`first_unknown`); crates/workload/src/error.rs: `refusals_of_rtapp_files_name_the_key` (the
//! same on the command line); commands/platform_import.rs: `an_import_says_which_folder_it_needs`
//! (wrong folders).

use crate::common;

use common::{
    assert_code, assert_refused, compare, file, folder, run, run_in, sim, stderr, stdout,
};
use serde_json::Value;

/// Goal: what people call things elsewhere leads to what they are called here.
#[test]
fn names_from_elsewhere_lead_to_ours() {
    let with = |policy: &str| {
        let machine = ["sim", "--platform", "tc2", "--workload", "periodic"];
        run(&[&machine[..], &["--policy", policy]].concat())
    };
    let load = |workload: &str| {
        let machine = ["sim", "--platform", "tc2", "--policy", "linux-7.3"];
        run(&[&machine[..], &["--workload", workload]].concat())
    };
    for (output, meant) in [
        (with("6.12"), "did you mean `linux-6.12`?"),
        (with("eas"), "did you mean `linux-7.3+energy-aware`?"),
        (
            run(&["policy", "show", "v5.10"]),
            "did you mean `linux-5.10`?",
        ),
        (load("hackbench"), "did you mean `messaging`?"),
        (load("scroll"), "did you mean `workloads/scroll.json`?"),
        (load("periodic:pin=0"), "did you mean `cpus`?"),
        (
            run(&["workload", "list", "hackbench"]),
            "did you mean `messaging`?",
        ),
        (
            sim(&["--set", "model.governor=performance"]),
            "did you mean `governor`?",
        ),
        (
            sim(&["--set", "model.governor=performance"]),
            "model.cpuidle",
        ),
        (
            sim(&["--set", "schedutil.rate_limit_us=500"]),
            "did you mean `rate_limit_us`?",
        ),
        (
            sim(&["--set", "kernel.sched_nr_migrate=8"]),
            "did you mean `nr_migrate`?",
        ),
        (
            sim(&["--set", "model.uclamp_max=512"]),
            "as `periodic:uclamp_max=VALUE`",
        ),
    ] {
        assert_refused(&output, &[meant]);
    }
    let sweep = [
        "sweep",
        "--platform",
        "tc2",
        "--workload",
        "periodic:n=1",
        "--policy",
        "linux-7.3",
        "--duration",
        "10ms",
        "--vary",
        "uclamp=0,512",
    ];
    assert_refused(&run(&sweep), &["`workload.uclamp_min`"]);
}

/// Goal: a list where one name is expected is told as one, and how several are given.
#[test]
fn lists_are_told_from_names() {
    let once = "is a list; expected one";
    let of = |option: &str, value: &str| {
        let mut args = vec!["sim", "--platform", "tc2", "--workload", "periodic"];
        args.extend(["--policy", "linux-7.3"]);
        let at = args.iter().position(|arg| *arg == option).map(|at| at + 1);
        match at {
            Some(at) => args[at] = value,
            None => args.extend([option, value]),
        }
        run(&args)
    };
    for (option, value, said) in [
        ("--platform", "tc2,hikey960", once),
        ("--workload", "periodic,messaging", once),
        ("--policy", "linux-6.12,linux-7.3", once),
        ("--expect", "energy_j<=1,migrations_total<=2", once),
        ("--seed", "1,2,3", "several are `--seeds 1,2,3`"),
        (
            "--set",
            "busy_factor=3,nr_migrate=4",
            "are several settings",
        ),
        ("--workload", "periodic,n=2", "did you mean `periodic:n=2`?"),
    ] {
        assert_refused(&of(option, value), &[said]);
    }
    let both = [
        "compare",
        "--platform",
        "hikey960,rpi5",
        "--workload",
        "periodic:n=1",
    ];
    let policies = ["--policy", "linux-7.3,linux-5.0"];
    assert_refused(&run(&[&both[..], &policies].concat()), &[once]);
    let one_platform = ["compare", "--platform", "tc2", "--workload", "periodic:n=1"];
    assert_refused(&run(&[&one_platform[..], &policies].concat()), &[once]);
}

/// Goal: one model can be listed, alone.
#[test]
fn one_model_can_be_listed() {
    let output = run(&["workload", "list", "periodic"]);
    assert_code(&output, 0);
    let text = stdout(&output);
    assert!(
        text.contains("uclamp_min") && !text.contains("messaging"),
        "{text}"
    );
    assert!(!text.contains("workloads/"), "{text}");
    // All of them, and the files that are built in; any of these is taken without the repository.
    let all = stdout(&run(&["workload", "list"]));
    let files: Vec<&str> = { all.lines() }
        .map(str::trim)
        .filter(|line| line.starts_with("workloads/"))
        .collect();
    let held = std::fs::read_dir(common::repository("workloads")).expect("a folder");
    let held = held.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let held = held.filter(|name| name.ends_with(".json"));
    assert_eq!(files.len(), held.count(), "{files:?}");
    let folder = folder();
    let alone = ["sim", "--platform", "hikey960", "--policy", "linux-7.3"];
    let asked = [&alone[..], &["--duration=20ms", "--workload", files[0]]].concat();
    assert_code(&run_in(folder.path(), &asked), 0);
    let csv = stdout(&run(&[
        "workload", "list", "periodic", "kbuild", "--format", "csv",
    ]));
    let of = |name: &str| csv.lines().filter(|line| line.starts_with(name)).count();
    assert!(of("periodic,") > 10 && of("kbuild,") > 5, "{csv}");
    assert_eq!(csv.lines().count(), 1 + of("periodic,") + of("kbuild,"));
}

/// Goal: a check says which machine it was for, whether it passes or not.
#[test]
fn a_check_says_for_which_machine() {
    let folder = folder();
    let on = |cpu: u32| {
        let text =
            format!(r#"{{"tasks": {{"a": {{"cpus": [{cpu}], "run": 500, "sleep": 9000}}}}}}"#);
        common::file(&folder, &format!("{cpu}.json"), &text)
    };
    let (first, ninth) = (on(0), on(8));
    let check = |file: &std::path::Path, more: &[&str]| {
        let file = file.to_str().expect("UTF-8");
        run(&[&["workload", "check", file], more].concat())
    };
    let output = check(&first, &[]);
    assert_code(&output, 0);
    assert!(stdout(&output).contains("checked for a machine of 8 CPUs"));
    let output = check(&ninth, &[]);
    assert_refused(&output, &["checked for a machine of 8 CPUs"]);
    let output = check(&ninth, &["--cpus", "9"]);
    assert_code(&output, 0);
    assert!(stdout(&output).contains("checked for a machine of 9 CPUs"));
}

/// Goal: no reason stands on more than one line, though it is that of many CPUs.
#[test]
fn a_decision_says_each_reason_once() {
    let output = run(&[
        "explain",
        "--platform",
        "hikey960",
        "--workload",
        "periodic:n=10",
        "--policy",
        "linux-5.0",
        "--wakeup",
        "40",
    ]);
    assert_code(&output, 0);
    let text = stdout(&output);
    let section = |name: &str| {
        let begin = text.find(&format!("\n{name}\n")).expect(name);
        text[begin..]
            .split("\n\n")
            .next()
            .expect("a part")
            .to_owned()
    };
    for (name, rows) in [
        ("candidates", 6),
        ("the same state under other policies", 8),
    ] {
        let part = section(name);
        let marked = part
            .lines()
            .filter(|line| line.trim_end().ends_with(')'))
            .count();
        assert!(marked >= rows, "{name}: {text}");
        let legend: Vec<&str> = { part.lines() }
            .filter(|line| line.starts_with("  ("))
            .collect();
        assert!((1..8).contains(&legend.len()), "{text}");
        for line in legend {
            let sentence = line.split_once(") ").expect("a sentence").1;
            assert_eq!(part.matches(sentence).count(), 1, "{text}");
        }
    }
}

/// Goal: joules of alder-lake-12900k, whose power nobody measured, are called modelled by text,
/// CSV, JSON and page; those of rk3588 are not.
#[test]
fn modelled_joules_say_so_everywhere() {
    let with = |platform: &str, more: &[&str]| {
        let run_args = [
            "compare",
            "--platform",
            platform,
            "--workload",
            "periodic:n=2,start=spread",
            "--policy",
            "linux-6.12",
            "--policy",
            "linux-7.3",
            "--duration",
            "100ms",
            "--seeds",
            "2",
        ];
        let output = run(&[&run_args[..], more].concat());
        assert_code(&output, 0);
        stdout(&output)
    };
    let folder = folder();
    let page = folder.path().join("page.html");
    let export = ["--export-html", page.to_str().expect("UTF-8")];
    for (platform, modelled) in [("alder-lake-12900k", true), ("rk3588", false)] {
        let text = with(platform, &export);
        assert_eq!(text.contains("cpu_energy_j (modelled)"), modelled, "{text}");
        assert_eq!(
            text.contains("is modelled, not measured"),
            modelled,
            "{text}"
        );
        let html = std::fs::read_to_string(&page).expect("a page");
        assert_eq!(html.contains("CPU energy, modelled"), modelled);
        let csv = with(platform, &["--format", "csv"]);
        assert_eq!(csv.contains(",modelled\n"), modelled, "{csv}");
        let json: Value = serde_json::from_str(&with(platform, &["--format", "json"])).unwrap();
        assert_eq!(json["modelled_power"], modelled);
    }
}

/// Goal: the same of a sweep's columns, for people and in CSV; keys of JSON stay.
#[test]
fn modelled_joules_say_so_in_sweeps() {
    let sweep = [
        "sweep",
        "--platform",
        "alder-lake-12900k",
        "--workload",
        "periodic:n=1",
        "--policy",
        "linux-7.3",
        "--duration",
        "10ms",
        "--seeds",
        "1",
        "--vary",
        "busy_factor=16,32",
    ];
    let of_sweep = |more: &[&str]| stdout(&run(&[&sweep[..], more].concat()));
    let csv = of_sweep(&["--format", "csv"]);
    let heading = csv.lines().next().expect("a heading");
    assert!(heading.contains(",cpu_energy_j (modelled),"), "{heading}");
    assert!(!heading.contains("p99 (modelled)"), "{heading}");
    let both = of_sweep(&["--platform", "rk3588", "--metric", "cpu_energy_j"]);
    assert!(both.contains("cpu_energy_j (partly modelled)"), "{both}");
    assert!(of_sweep(&["--format", "json"]).contains("\"cpu_energy_j\""));
    let sweep = run(&sweep);
    for said in ["cpu_energy_j (modelled)", "is modelled, not measured"] {
        assert!(stdout(&sweep).contains(said), "{}", stdout(&sweep));
    }
}

/// Goal: tasks that wake together are told where it matters, and the figures of the run stay as
/// they are: a note is no part of it.
#[test]
fn tasks_that_wake_together_are_told() {
    let told = "tasks wake at the same nanosecond";
    let text = stdout(&compare(&[]));
    assert!(text.contains(told), "{text}");
    let spread = run(&[
        "sim",
        "--platform",
        "hikey960",
        "--workload",
        "periodic:n=4,start=spread",
        "--policy",
        "linux-7.3",
        "--duration",
        "100ms",
    ]);
    assert!(!stdout(&spread).contains(told), "{}", stdout(&spread));
}

/// Goal: what has no effect is told or refused.
#[test]
fn what_does_nothing_is_told() {
    let idle = sim(&["--set", "mode=balanced"]);
    assert!(
        stderr(&idle).contains("`mode=balanced` changes nothing"),
        "{}",
        stderr(&idle)
    );
    let acting = sim(&["--set", "mode=performance"]);
    assert!(
        !stderr(&acting).contains("changes nothing"),
        "{}",
        stderr(&acting)
    );
    assert_refused(
        &sim(&["--rtapp-dialect", "workgen"]),
        &["no workload is an rt-app file"],
    );
}

/// Goal: a command's help promises no check that the command does not have.
#[test]
fn only_commands_with_expectations_speak_of_them() {
    for command in ["explain", "report"] {
        for help in ["-h", "--help"] {
            let text = stdout(&run(&[command, help]));
            assert!(!text.contains("expectation"), "{command}: {text}");
        }
    }
    for command in ["sim", "compare", "sweep"] {
        assert!(
            stdout(&run(&[command, "--help"])).contains("all expectations hold"),
            "{command}"
        );
    }
}

/// Goal: a check tells recordings, models and pipes from rt-app files, as a run does.
#[test]
fn a_check_names_what_is_no_rtapp_file() {
    let folder = folder();
    let ftrace = "# tracer: nop\n  a-1 [000] 1.000000: sched_waking: comm=b pid=2 prio=120\n";
    file(&folder, "ftrace.txt", ftrace);
    file(
        &folder,
        "viewer.json",
        "{\"systemTraceEvents\": \"# tracer: nop\"}",
    );
    file(&folder, "trace.dat", "\x17\x08\x44tracing6");
    let check = |name: &str| run_in(folder.path(), &["workload", "check", name]);
    for (name, is) in [
        ("ftrace.txt", "is a recording of ftrace (text)"),
        (
            "viewer.json",
            "is a recording for trace viewers (traceEvents)",
        ),
        ("trace.dat", "is a recording of trace-cmd (trace.dat)"),
    ] {
        let checked = check(name);
        assert_refused(&checked, &[is, &format!("are read as trace:{name}")]);
        let begin = ["sim", "--platform", "tc2", "--policy", "linux-7.3"];
        let simulated = run_in(folder.path(), &[&begin[..], &["--workload", name]].concat());
        assert_eq!(stderr(&checked), stderr(&simulated));
    }
    assert_refused(
        &check("periodic"),
        &[
            "`periodic` is a model",
            "`wakeplace workload list periodic`",
        ],
    );
    let made = std::process::Command::new("mkfifo")
        .arg(folder.path().join("pipe"))
        .status();
    assert!(made.expect("mkfifo").success());
    assert_refused(
        &check("trace:pipe"),
        &["pipe: cannot be read: it is no regular file"],
    );
}

/// Goal: a key that is wrong or missing in an rt-app file is named.
#[test]
fn refusals_of_rtapp_files_name_the_key() {
    let folder = folder();
    for (task, said) in [
        (
            "\"exec_time\": 1000, \"period\": 500",
            &["`exec_time` is no key of a task", "did you mean `run`?"][..],
        ),
        (
            "\"policy\": \"SCHED_DEADLINE\", \"run\": 1000",
            &["task `a`: SCHED_DEADLINE, and `dl-runtime` is missing or 0"],
        ),
        (
            "\"priority\": \"high\", \"run\": 1000",
            &["`priority` is a string"],
        ),
    ] {
        file(
            &folder,
            "a.json",
            &format!("{{\"tasks\": {{\"a\": {{{task}}}}}}}"),
        );
        let args = ["sim", "--platform", "tc2", "--workload", "a.json"];
        let args = [&args[..], &["--policy", "linux-7.3"]].concat();
        assert_refused(&run_in(folder.path(), &args), said);
    }
}

/// Goal: whoever names the wrong folder of a saved tree reads which one is meant.
#[test]
fn an_import_says_which_folder_it_needs() {
    let folder = folder();
    let cpus = folder.path().join("board/sys/devices/system/cpu");
    std::fs::create_dir_all(cpus).expect("folders");
    let import = |tree: &str| run_in(folder.path(), &["platform", "import", "--sysfs", tree]);
    for tree in ["board/sys", "board/sys/devices/system/cpu"] {
        assert_refused(
            &import(tree),
            &["expected the folder that holds `sys`: ", "/board\n"],
        );
    }
    assert_refused(&import("nosuch"), &["nosuch: there is no such folder"]);
    assert_refused(&import("/dev/zero"), &["neither a folder nor an archive"]);
}
