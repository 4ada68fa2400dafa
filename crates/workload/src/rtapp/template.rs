//! From what rt-app reads to what can run here: everything without a model is refused or dropped.
use super::fields::Notes;
use super::read::read;
use super::structure::{
    Action, Affinity, LoadCalibration, Policy, Position, Scheduling, Structure,
};
use super::structure::{Phase as RtPhase, Step as RtStep, Task as RtTask};
use super::taskgroup;
use crate::LoadOptions;
use crate::error::{Fault, FaultKind, WorkloadError};
use crate::realtime::Attributes;
use crate::script::{Calibration, Event, FairPolicy, Loops, TimerMode};

/// The most threads one file may start. A thread here is a script of some 300 bytes.
const MAX_THREADS: i64 = 1_000_000;

/// The most memory the scripts of one file may need, bytes: a small file can ask for much (a long
/// name times many instances).
const MAX_BYTES: u64 = 1 << 30;

/// Warnings shown of one file; a generated file can have thousands of the same.
const MAX_WARNINGS: usize = 100;

/// A file that can run, before it is known on how many CPUs.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(super) calibration: Calibration,
    pub(super) calibration_at: Position,
    pub(super) duration_ns: Option<u64>,
    pub(super) unmodelled: Vec<String>,
    pub(super) tasks: Vec<Task>,
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) name: String,
    pub(super) instances: u32,
    pub(super) nice: i8,
    pub(super) policy: FairPolicy,
    pub(super) attributes: Attributes,
    pub(super) cpus: Option<Cpus>,
    pub(super) group: Option<String>,
    pub(super) delay_ns: u64,
    pub(super) loops: Loops,
    pub(super) phases: Vec<Phase>,
}

#[derive(Clone, Debug)]
pub(super) struct Phase {
    pub(super) name: String,
    pub(super) loops: Loops,
    pub(super) cpus: Option<Cpus>,
    pub(super) nice: Option<i8>,
    pub(super) steps: Vec<Step>,
}

/// An affinity, ascending and without repetitions, and where its highest CPU is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cpus {
    pub(super) list: Vec<u32>,
    pub(super) highest_at: Position,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Event(Event),
    Timer {
        name: String,
        mode: TimerMode,
        period_ns: u64,
    },
}

/// Reads and validates a file; the second half is its warnings.
pub(crate) fn load(
    text: &[u8],
    file: &str,
    options: &LoadOptions,
) -> Result<(Template, Vec<String>), WorkloadError> {
    let mut notes = Notes::default();
    let template = read(text, &mut notes).and_then(|structure| {
        refuse_unmodelled(&mut notes, options)?;
        make_template(&structure)
    });
    let mut template = template.map_err(|fault| fault.in_file(file))?;
    let lines = notes
        .unmodelled
        .iter()
        .map(|(at, what)| format!("{file}:{at}: {what}"));
    template.unmodelled = lines.collect();
    Ok((template, warning_lines(&mut notes, file)))
}

/// The warnings in the file's order, `FILE:LINE:COL: message`.
pub(super) fn warning_lines(notes: &mut Notes, file: &str) -> Vec<String> {
    notes.warnings.sort_by_key(|(at, _)| *at);
    let shown = notes.warnings.iter().take(MAX_WARNINGS);
    let mut lines: Vec<String> = shown
        .map(|(at, message)| format!("{file}:{at}: {message}"))
        .collect();
    let more = notes.warnings.len().saturating_sub(MAX_WARNINGS) + notes.more_warnings;
    if more > 0 {
        lines.push(format!("{file}: {more} more warnings"));
    }
    lines
}

/// The first of a file's unmodelled things stops it, unless they are to be dropped.
fn refuse_unmodelled(notes: &mut Notes, options: &LoadOptions) -> Result<(), Fault> {
    notes.unmodelled.sort_by_key(|(at, _)| *at);
    match notes.unmodelled.first() {
        Some((at, what)) if !options.allow_unmodelled => {
            let message = format!("{what} is not modelled");
            Err(Fault::new(*at, FaultKind::Unmodelled, message).expected(
                "run, runtime, sleep and timer events under one policy \
                 (--allow-unmodelled drops the rest)",
            ))
        }
        _ => Ok(()),
    }
}

fn make_template(structure: &Structure) -> Result<Template, Fault> {
    let global = &structure.global;
    let calibration = match global.calibration {
        // A given pLoad says nothing of the CPU it was measured on; rt-app users take the fastest.
        LoadCalibration::NsPerLoop(_) => Calibration::Biggest,
        LoadCalibration::Cpu(cpu) => Calibration::Cpu(u32::try_from(cpu).map_err(|_| {
            Fault::unusable(global.calibration_at, format!("there is no CPU {cpu}"))
        })?),
    };
    let duration_s = u64::try_from(global.duration_s)
        .ok()
        .filter(|&seconds| seconds > 0);
    let mut template = Template {
        calibration,
        calibration_at: global.calibration_at,
        duration_ns: duration_s.map(|seconds| seconds * 1_000_000_000),
        unmodelled: Vec::new(),
        tasks: Vec::with_capacity(structure.tasks.len()),
    };
    let (mut threads, mut bytes) = (0_i64, 0_u64);
    for task in &structure.tasks {
        let task_template = make_task(task)?;
        threads += i64::from(task.instance);
        let instances = u64::from(task_template.instances);
        bytes = bytes.saturating_add(instances.saturating_mul(size(&task_template)));
        if threads > MAX_THREADS {
            return Err(Fault::unusable(
                task.at,
                format!("more than {MAX_THREADS} threads"),
            ));
        }
        if bytes > MAX_BYTES {
            let message = format!("the threads up to here need more than {MAX_BYTES} bytes");
            return Err(Fault::unusable(task.at, message));
        }
        template.tasks.push(task_template);
    }
    taskgroup::check_number(&structure.tasks)?;
    if threads == 0 {
        let at = Position { line: 1, column: 1 };
        return Err(Fault::unusable(at, "0 tasks").expected("at least one started thread"));
    }
    Ok(template)
}

/// About the memory a thread of the task needs, bytes.
fn size(task: &Task) -> u64 {
    /// A script, a phase, an event or timer, rounded up.
    const TASK: usize = 160;
    const PHASE: usize = 128;
    const STEP: usize = 24;
    let cpus = |cpus: &Option<Cpus>| cpus.as_ref().map_or(0, |cpus| cpus.list.len() * 4);
    let step = |step: &Step| match step {
        Step::Event(_) => STEP,
        // At most one timer is made for it, named after thread and timer.
        Step::Timer { name, .. } => STEP + 64 + name.len() + task.name.len(),
    };
    let phase = |phase: &Phase| {
        let steps: usize = phase.steps.iter().map(step).sum();
        PHASE + phase.name.len() + steps + cpus(&phase.cpus)
    };
    let phases: usize = task.phases.iter().map(phase).sum();
    (TASK + task.name.len() + phases + cpus(&task.cpus)) as u64
}

fn make_task(task: &RtTask) -> Result<Task, Fault> {
    let instances = u32::try_from(task.instance).map_err(|_| {
        let message = format!("task `{}` has {} instances", task.name, task.instance);
        Fault::unusable(task.at, message).expected("0 (a template) or more")
    })?;
    if task.phases.is_empty() {
        let message = format!("task `{}` has no phase", task.name);
        return Err(Fault::unusable(task.at, message).expected("at least one phase"));
    }
    let cpus = make_cpus(task.affinity.as_ref())?;
    let (fair, attributes) = task.attributes()?;
    let mut phases = Vec::with_capacity(task.phases.len());
    let mut policy = task.scheduling.policy;
    for phase in &task.phases {
        let changed = phase.scheduling.as_ref().and_then(|changes| changes.policy);
        policy = changed.or(policy);
        let mut phase = make_phase(phase, policy)?;
        // A task without phases is read as a phase too, with the same affinity.
        phase.cpus = phase.cpus.filter(|own| cpus.as_ref() != Some(own));
        // Only where a change back to the fair class was dropped.
        phase.nice = phase.nice.filter(|_| attributes.realtime.is_none());
        phases.push(phase);
    }
    Ok(Task {
        name: task.name.clone(),
        instances,
        nice: nice(&task.scheduling, task.scheduling.policy)?.unwrap_or(0),
        policy: fair,
        attributes,
        cpus,
        group: taskgroup::of_task(task).map(str::to_owned),
        delay_ns: nanoseconds(task.delay_us, task.at, "delay")?,
        // Counted up from 0 and compared for equality: no negative number is ever reached.
        loops: u64::try_from(task.loops).map_or(Loops::Forever, Loops::Times),
        phases,
    })
}

/// `policy` is the one in force during the phase.
fn make_phase(phase: &RtPhase, policy: Option<Policy>) -> Result<Phase, Fault> {
    let mut steps = Vec::with_capacity(phase.events.len());
    for event in &phase.events {
        steps.extend(make_step(event)?);
    }
    if steps.is_empty() {
        // All dropped: a step without time keeps the phase's affinity, nice value and loops.
        steps.push(Step::Event(Event::Run { work_ns: 0 }));
    }
    Ok(Phase {
        name: phase.name.clone(),
        // Counted from 1: neither 0 nor a negative number is ever reached.
        loops: match u64::try_from(phase.loops) {
            Ok(0) | Err(_) => Loops::Forever,
            Ok(times) => Loops::Times(times),
        },
        cpus: make_cpus(phase.affinity.as_ref())?,
        nice: match &phase.scheduling {
            Some(changes) => nice(changes, policy)?,
            None => None,
        },
        steps,
    })
}

fn make_step(step: &RtStep) -> Result<Option<Step>, Fault> {
    let ns = |us| nanoseconds(us, step.at, &step.key);
    Ok(Some(match &step.action {
        Action::Run(us) => Step::Event(Event::Run { work_ns: ns(*us)? }),
        Action::Runtime(us) => Step::Event(Event::Runtime { wall_ns: ns(*us)? }),
        Action::Sleep(us) => Step::Event(Event::Sleep {
            duration_ns: ns(*us)?,
        }),
        Action::Timer {
            reference,
            period_us,
            mode,
        } => Step::Timer {
            name: reference.clone(),
            mode: *mode,
            period_ns: ns(*period_us)?,
        },
        Action::Yield => Step::Event(Event::Yield),
        Action::Unmodelled { .. } => return Ok(None),
    }))
}

fn make_cpus(affinity: Option<&Affinity>) -> Result<Option<Cpus>, Fault> {
    let Some(affinity) = affinity else {
        return Ok(None);
    };
    let mut list = Vec::with_capacity(affinity.cpus.len());
    let (mut highest, mut highest_at) = (None, affinity.at);
    for number in &affinity.cpus {
        let cpu = u32::try_from(number.cpu).map_err(|_| {
            let message = format!("there is no CPU {}", number.cpu);
            Fault::unusable(number.at, message).expected("0 or more")
        })?;
        if highest.is_none_or(|highest| highest < cpu) {
            highest = Some(cpu);
            highest_at = number.at;
        }
        list.push(cpu);
    }
    if list.is_empty() {
        let message = "`cpus` is empty: no CPU is left";
        return Err(Fault::unusable(affinity.at, message).expected("at least one CPU"));
    }
    list.sort_unstable();
    list.dedup();
    Ok(Some(Cpus { list, highest_at }))
}

/// The nice value `priority` sets; a priority of another class (dropped) sets none.
fn nice(scheduling: &Scheduling, policy: Option<Policy>) -> Result<Option<i8>, Fault> {
    if policy.is_some_and(|policy| !policy.is_fair()) {
        return Ok(None);
    }
    let Some(priority) = scheduling.priority else {
        return Ok(None);
    };
    match i8::try_from(priority) {
        Ok(nice @ -20..=19) => Ok(Some(nice)),
        _ => {
            let at = scheduling.priority_at.unwrap_or_default();
            let message = format!("`priority` is {priority}");
            Err(Fault::unusable(at, message).expected("a nice value, -20 to 19"))
        }
    }
}

fn nanoseconds(us: i32, at: Position, key: &str) -> Result<u64, Fault> {
    let us = u64::try_from(us).map_err(|_| {
        Fault::unusable(at, format!("`{key}` is {us} us")).expected("0 or more microseconds")
    })?;
    Ok(us * 1_000)
}
