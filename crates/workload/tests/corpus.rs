//! The conformance corpus: what the real rt-app (55cb0c0, json-c 0.16, 2 CPUs, no NUMA) made of 119
//! files, exit code and parsed structure. The corpus lies beside the repository; without it the
//! test says so and the fixtures in `rtapp_files.rs` stand alone.
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use wakeplace_workload::check_rtapp;
use wakeplace_workload::structure::{
    Action, Affinity, LoadCalibration, LogSize, Scheduling, Structure,
};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/rt-app-corpus")
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped corpus must be seen")]
fn every_file_is_read_as_rtapp_reads_it() {
    let Ok(folder) = std::fs::read_dir(corpus().join("quirks")) else {
        eprintln!("SKIPPED: no rt-app corpus at {}", corpus().display());
        return;
    };
    let (mut files, mut wrong) = (0, String::new());
    for entry in folder {
        let path = entry.expect("entry").path();
        let name = path
            .file_stem()
            .expect("name")
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read(&path).expect("file");
        let expected = corpus().join("expected/quirks").join(format!("{name}.txt"));
        let expected = std::fs::read_to_string(expected).expect("recorded answer");
        let (code, structure) = recorded(&expected);
        let outcome = check_rtapp(&text, &name, 2);
        let dump = outcome.structure.as_ref().map_or(String::new(), dump);
        if u32::from(outcome.exit_code) != code || dump != structure {
            writeln!(
                wrong,
                "{name}: {outcome:?}\n--- ours\n{dump}--- rt-app\n{structure}"
            )
            .expect("string");
        }
        files += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(files, 119);
}

/// Exit code and structure of a recorded answer, without what only rt-app's memory layout decides
/// (resource indices, event type numbers, buffer names).
fn recorded(text: &str) -> (u32, String) {
    let code = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("rc="))
        .expect("rc=");
    let mut structure = String::new();
    for line in text
        .lines()
        .skip(1)
        .filter(|line| !line.starts_with("msg:"))
    {
        let kept: Vec<String> = match line.trim_start() {
            "" => continue,
            event if event.starts_with("ev") => event.split(' ').filter_map(event_part).collect(),
            other => other
                .replace('"', "")
                .split(' ')
                .filter_map(other_part)
                .collect(),
        };
        writeln!(structure, "{}", kept.join(" ")).expect("string");
    }
    (code.parse().expect("a number"), structure)
}

fn event_part(part: &str) -> Option<String> {
    let (key, value) = part.split_once('=')?;
    match key {
        "name" if value.starts_with("mem") => Some("name=mem".to_owned()),
        "name" | "dur" | "cnt" => Some(part.to_owned()),
        _ => None,
    }
}

fn other_part(part: &str) -> Option<String> {
    (!part.starts_with("nres=")).then(|| part.to_owned())
}

/// The structure in the form of the recorded answers.
fn dump(structure: &Structure) -> String {
    let global = &structure.global;
    let (cpu, ns) = match global.calibration {
        LoadCalibration::Cpu(cpu) => (cpu, 0),
        LoadCalibration::NsPerLoop(ns) => (0, ns),
    };
    let log_size = match global.log_size {
        LogSize::Disabled => 0,
        LogSize::File => -2,
        LogSize::Mebibytes(size) => i64::from(size) << 20,
    };
    let mut text = format!(
        "global duration={} policy={} calib_cpu={cpu} ns={ns} logsize={log_size} lock={} pi={} \
         gnuplot={} membuf={} io={} cum={} logdir={} base={} ftrace=0x{:x} nthreads={} ntasks={}\n",
        global.duration_s,
        global.default_policy.number(),
        u8::from(global.lock_pages),
        u8::from(global.pi_enabled),
        u8::from(global.gnuplot),
        global.mem_buffer_size,
        global.io_device,
        u8::from(global.cumulative_slack),
        global.logdir,
        global.log_basename,
        global.ftrace,
        structure.threads(),
        structure.tasks.len(),
    );
    for task in &structure.tasks {
        let group = match task.scheduling.taskgroup.as_str() {
            "" => "-",
            group => group,
        };
        let line = format!(
            "task {} inst={} loop={} delay={} nphases={} cpus={} tg={group}\n{}\n",
            task.name,
            task.instance,
            task.loops,
            task.delay_us,
            task.phases.len(),
            cpus(task.affinity.as_ref()),
            scheduling(&task.scheduling),
        );
        text.push_str(&line);
        dump_phases(&mut text, task);
    }
    text
}

fn dump_phases(text: &mut String, task: &wakeplace_workload::structure::Task) {
    for (index, phase) in task.phases.iter().enumerate() {
        let attributes = phase
            .scheduling
            .as_ref()
            .map_or("sched=NULL".to_owned(), scheduling);
        writeln!(
            text,
            "phase{index} loop={} nev={} cpus={}\n{attributes}",
            phase.loops,
            phase.events.len(),
            cpus(phase.affinity.as_ref()),
        )
        .expect("string");
        for event in &phase.events {
            let (name, duration, count) = match &event.action {
                Action::Run(us) | Action::Runtime(us) | Action::Sleep(us) => {
                    (event.key.clone(), *us, 0)
                }
                Action::Timer {
                    reference,
                    period_us,
                    ..
                } => {
                    let tag = if reference.starts_with("unique") {
                        "<tag>"
                    } else {
                        ""
                    };
                    (format!("timer:{reference}{tag}"), *period_us, 0)
                }
                Action::Unmodelled { word, count, .. } if word.contains("mem") => {
                    ("mem".to_owned(), 0, *count)
                }
                Action::Unmodelled {
                    word: "iorun",
                    count,
                    ..
                } => ("mem".to_owned(), 0, *count),
                Action::Yield => (event.key.clone(), 0, 0),
                Action::Unmodelled { word, names, count } => (format!("{word}:{names}"), 0, *count),
            };
            writeln!(text, "name={name} dur={duration} cnt={count}").expect("string");
        }
    }
}

fn cpus(affinity: Option<&Affinity>) -> String {
    let Some(affinity) = affinity else {
        return "-".to_owned();
    };
    let numbers: Vec<String> = affinity
        .cpus
        .iter()
        .map(|number| number.cpu.to_string())
        .collect();
    if numbers.is_empty() {
        "[ ]".to_owned()
    } else {
        format!("[ {} ]", numbers.join(", "))
    }
}

fn scheduling(scheduling: &Scheduling) -> String {
    format!(
        "sched policy={} prio={} rt={} dl={} per={} umin={} umax={}",
        scheduling
            .policy
            .map_or(-1, |policy| i64::from(policy.number())),
        scheduling.priority.unwrap_or(i32::MAX),
        scheduling.runtime_ns,
        scheduling.deadline_ns,
        scheduling.period_ns,
        scheduling.util_min,
        scheduling.util_max,
    )
}
