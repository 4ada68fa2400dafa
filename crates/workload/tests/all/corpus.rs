//! The conformance corpus: what the real rt-app (55cb0c0, json-c 0.16, 2 CPUs, no NUMA) made of 119
//! files, exit code and parsed structure, down to its table of resources (fixtures/rtapp/corpus).
//! Rule: docs/rules/rt-app.md.
//!
//! What must stay: recorded answers are rt-app's and are never changed; `dump`, `dump_task`,
//! `dump_phase`, `event`, `named`, `waits`, `memory`, `cpus` and `scheduling` write our structure
//! in their form, and `Table` and `Recorded` keep the resources.
//! Tests by part (in crates/workload/src): rtapp/check.rs: `every_file_is_read_as_rtapp_reads_it`
//! (`check_rtapp`, `refused`); rtapp/event.rs: `every_file_is_read_as_rtapp_reads_it`
//! (`event_word`, `read_event`). `corpus`, `files` and `recorded` read them; `place`, `lasts`,
//! `counts`, `at` and `with` fill an event's record.
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use wakeplace_workload::check_rtapp;
use wakeplace_workload::structure::{
    Access, Action, Affinity, LoadCalibration, LogSize, Phase, Scheduling, Step, Structure, Task,
};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/rtapp/corpus")
}

/// The files of the corpus and their recorded answers, by name.
fn files() -> BTreeMap<String, (Vec<u8>, String)> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(corpus()).expect("the corpus") {
        let path = entry.expect("entry").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let name = path
                .file_stem()
                .expect("name")
                .to_string_lossy()
                .into_owned();
            let answer = std::fs::read_to_string(path.with_extension("txt")).expect("an answer");
            files.insert(name, (std::fs::read(&path).expect("file"), answer));
        }
    }
    files
}

#[test]
fn every_file_is_read_as_rtapp_reads_it() {
    let mut wrong = String::new();
    let files = files();
    for (name, (text, answer)) in &files {
        let (code, structure) = recorded(answer);
        let outcome = check_rtapp(text, name, 2);
        let dump = outcome.structure.as_ref().map_or(String::new(), dump);
        if u32::from(outcome.exit_code) != code || dump != structure {
            writeln!(
                wrong,
                "{name}: {outcome:?}\n--- ours\n{dump}--- rt-app\n{structure}"
            )
            .expect("string");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(files.len(), 119);
}

/// Exit code and structure of a recorded answer; buffer names end in an address, recorded as a tag.
fn recorded(text: &str) -> (u32, String) {
    let code = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("rc="))
        .expect("rc=");
    let mut structure = String::new();
    for line in text.lines().skip(1) {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with("msg:") {
            let line = match line.starts_with("ev") {
                true => line.to_owned(),
                // Elements of `cpus` are recorded as written.
                false => line.replace('"', ""),
            };
            writeln!(structure, "{line}").expect("string");
        }
    }
    (code.parse().expect("a number"), structure)
}

/// rt-app's table of resources: what is named first comes first, by name and type.
#[derive(Default)]
struct Table(Vec<(String, &'static str)>);

impl Table {
    fn place(&mut self, name: &str, kind: &'static str) -> String {
        let wanted = (name.to_owned(), kind);
        let known = self.0.iter().position(|known| *known == wanted);
        let place = known.unwrap_or_else(|| {
            self.0.push(wanted);
            self.0.len() - 1
        });
        place.to_string()
    }
}

/// The fields of a recorded event; `?` is one that it does not use.
struct Recorded {
    kind: u32,
    name: String,
    resource: String,
    dependence: String,
    duration: i32,
    count: i32,
}

impl Recorded {
    fn new(kind: u32, name: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.into(),
            resource: "?".to_owned(),
            dependence: "?".to_owned(),
            duration: 0,
            count: 0,
        }
    }

    fn lasts(self, duration: i32) -> Self {
        Self { duration, ..self }
    }

    fn counts(self, count: i32) -> Self {
        Self { count, ..self }
    }

    fn at(self, resource: String) -> Self {
        Self { resource, ..self }
    }

    fn with(self, dependence: String) -> Self {
        Self { dependence, ..self }
    }
}

/// An event in the form of the recorded answers.
fn event(step: &Step, task: &Task, table: &mut Table) -> String {
    let key = step.key.as_str();
    let event = match &step.action {
        Action::Run(us) => Recorded::new(6, key).lasts(*us),
        Action::Runtime(us) => Recorded::new(19, key).lasts(*us),
        Action::Sleep(us) => Recorded::new(5, key).lasts(*us),
        Action::Yield => Recorded::new(20, key),
        Action::Timer {
            reference,
            period_us,
            ..
        } => match reference.starts_with("unique") {
            // Those of a thread are in its own table.
            true => Recorded::new(11, format!("timer:{reference}<tag>")).at("0".to_owned()),
            false => {
                Recorded::new(10, format!("timer:{reference}")).at(table.place(reference, "timer"))
            }
        }
        .lasts(*period_us),
        Action::Mem(_) | Action::IoRun(_) | Action::MemRun(_) => memory(step, task, table),
        Action::Wait { condition, mutex } => waits(2, key, condition, mutex, table),
        Action::Sync { condition, mutex } => waits(7, key, condition, mutex, table),
        Action::Suspend(of) => waits(12, key, of, of, table),
        Action::Resume(of) => waits(13, key, of, of, table),
        Action::Lock(of) => named(8, key, of, "mutex", table),
        Action::Unlock(of) => named(9, key, of, "mutex", table),
        Action::Signal { condition, all } => {
            named(if *all { 4 } else { 3 }, key, condition, "wait", table)
        }
        Action::Barrier(of) => named(21, key, of, "barrier", table),
        Action::Fork(of) => named(22, key, of, "fork", table),
        Action::SemWait(of) => named(23, key, of, "sem", table),
        Action::SemPost(of) => named(24, key, of, "sem", table),
    };
    format!(
        "type={} name={} res={} dep={} dur={} cnt={}",
        event.kind, event.name, event.resource, event.dependence, event.duration, event.count
    )
}

fn named(kind: u32, key: &str, of: &str, resource: &'static str, table: &mut Table) -> Recorded {
    Recorded::new(kind, format!("{key}:{of}")).at(table.place(of, resource))
}

fn waits(kind: u32, key: &str, condition: &str, mutex: &str, table: &mut Table) -> Recorded {
    Recorded::new(kind, format!("{key}:{condition}:{mutex}"))
        .at(table.place(condition, "wait"))
        .with(table.place(mutex, "mutex"))
}

/// Buffers are a task's own: their names end in its address.
fn memory(step: &Step, task: &Task, table: &mut Table) -> Recorded {
    let of_task = |name: &str| format!("{name} of {}", task.name);
    match &step.action {
        Action::Mem(count) => Recorded::new(14, "mem<tag>")
            .at(table.place(&of_task("mem"), "mem"))
            .counts(*count),
        Action::IoRun(count) => Recorded::new(18, "mem<tag>")
            .at(table.place(&of_task("mem"), "mem"))
            .with(table.place("io_device", "iorun"))
            .counts(*count),
        Action::MemRun(run) => {
            let (kind, name) = match run.access {
                Access::Read => (16, format!("memrun_read_{}<tag>", run.size)),
                Access::Write => (15, format!("memrun_write_{}<tag>", run.size)),
                Access::Chase => {
                    let pattern = if run.random { 'r' } else { 's' };
                    let name = format!("memrun_{pattern}_{}_{}<tag>", run.stride, run.size);
                    (17, name)
                }
            };
            let place = table.place(&of_task(&name), "memrun");
            Recorded::new(kind, name).at(place).counts(run.count)
        }
        other => panic!("{other:?}"),
    }
}

/// The structure in the form of the recorded answers.
fn dump(structure: &Structure) -> String {
    let mut table = Table::default();
    for resource in &structure.resources {
        table.place(&resource.name, resource.kind);
    }
    let mut tasks = String::new();
    for task in &structure.tasks {
        dump_task(&mut tasks, task, &mut table);
    }
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
    format!(
        "global duration={} policy={} calib_cpu={cpu} ns={ns} logsize={log_size} lock={} pi={} \
         gnuplot={} membuf={} io={} cum={} logdir={} base={} ftrace=0x{:x} nthreads={} ntasks={} \
         nres={}\n{tasks}",
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
        table.0.len(),
    )
}

fn dump_task(text: &mut String, task: &Task, table: &mut Table) {
    let group = match task.scheduling.taskgroup.as_str() {
        "" => "-",
        group => group,
    };
    writeln!(
        text,
        "task {} inst={} loop={} delay={} nphases={} cpus={} tg={group}\n{}",
        task.name,
        task.instance,
        task.loops,
        task.delay_us,
        task.phases.len(),
        cpus(task.affinity.as_ref()),
        scheduling(&task.scheduling),
    )
    .expect("string");
    for (index, phase) in task.phases.iter().enumerate() {
        dump_phase(text, index, phase, task, table);
    }
}

fn dump_phase(text: &mut String, index: usize, phase: &Phase, task: &Task, table: &mut Table) {
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
    for (number, step) in phase.events.iter().enumerate() {
        writeln!(text, "ev{number} {}", event(step, task, table)).expect("string");
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
