//! From what rt-app reads to what can run here. What is not modelled is refused here with its
//! place, never left out (docs/guide/rt-app.md, "How a file is read").
//!
//! Called by `Spec::parse_rtapp`. Everything that needs neither seed nor machine is settled here.
//! Memory of the scripts is bounded before they are made.
//!
//! What must stay: threads, timers and bytes are counted before they are made; a file is refused
//! here, or by the machine's CPUs in `expand`, and nowhere later. Free: what leaves scripts as they
//! are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes.
//! Tests by part: `what_cannot_run_here_names_its_place` (`load`, `task`, `phase`),
//! `a_group_nine_deep_is_not_modelled` (`refuse_unmodelled`, `group`),
//! `a_small_file_cannot_ask_for_all_memory` (`size`), `a_run_has_so_many_groups` (`group`),
//! `the_calibration_is_a_cpu_or_the_biggest` (`calibration`),
//! `timers_are_private_if_unique_and_absolute_if_one_event_is` (`timers`),
//! `accepted_files_expand_to_their_scripts` (`make_template`),
//! hostile.rs::`small_files_cannot_ask_for_much` (`size`, `roles`).
//!
//! Tests: crates/workload/tests/all/rtapp_files.rs, crates/workload/tests/all/rtapp_scripts.rs,
//! crates/workload/tests/all/hostile.rs
use super::forks::{self, Role};
use super::log::{self, LogPhase};
use super::notes::Notes;
use super::places::{self, Cpus};
use super::read::read;
use super::resources::Resources;
use super::scheduling::{self, Initial, Set};
use super::steps::{self, Step};
use super::structure::{Global, LoadCalibration, Position, Scheduling, Structure};
use super::structure::{Phase as RtPhase, Task as RtTask};
use crate::LoadOptions;
use crate::deadline::Declared;
use crate::error::{Fault, FaultKind, WorkloadError, cut};
use crate::limits;
use crate::script::{Calibration, Event, Loops, Shared, TaskGroup};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most threads one file may have at the start, and one for each task that is forked. A thread
/// here is a script of some 300 bytes.
const MAX_THREADS: u64 = 100_000;

/// The most memory the scripts of one file may need, bytes: a small file can ask for much (a long
/// name times many instances).
const MAX_BYTES: u64 = 64 << 20;

/// The most task groups of a file, rt-app's own limit.
const MAX_GROUPS: usize = 32;
const _: () = assert!(MAX_GROUPS <= TaskGroup::MAX);

/// A file that can run, before it is known on how many CPUs.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(super) calibration: Calibration,
    pub(super) calibration_at: Position,
    pub(super) duration_ns: Option<u64>,
    pub(super) start_spread_ns: u64,
    pub(super) unmodelled: Vec<String>,
    pub(super) deadlines: Vec<Declared>,
    pub(super) shared: Shared,
    /// Names of the task groups, each after those around it.
    pub(super) groups: Vec<String>,
    /// What the file says of them.
    pub(super) limits: Vec<limits::Declared>,
    /// Beginning of the logs' names, and whether slack is added up; None: no logs.
    pub(super) log: Option<(String, bool)>,
    pub(super) tasks: Vec<Task>,
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) name: String,
    /// Place in the file, by which `Step::Fork` names it.
    pub(super) place: usize,
    pub(super) instances: u32,
    pub(super) forked: bool,
    pub(super) initial: Initial,
    pub(super) cpus: Option<Cpus>,
    pub(super) delay_ns: u64,
    pub(super) loops: Loops,
    pub(super) phases: Vec<Phase>,
    pub(super) log: Arc<[LogPhase]>,
}

#[derive(Clone, Debug)]
pub(super) struct Phase {
    pub(super) name: String,
    pub(super) loops: Loops,
    pub(super) cpus: Option<Cpus>,
    pub(super) set: Set,
    pub(super) memory_nodes: Option<Arc<[u32]>>,
    pub(super) steps: Vec<Step>,
}

/// Reads and validates a file; the second half is its warnings.
pub(crate) fn load(
    text: &[u8],
    file: &str,
    options: &LoadOptions,
) -> Result<(Template, Vec<String>), WorkloadError> {
    let mut notes = Notes::of(options.dialect, None);
    let template = read(text, &mut notes).and_then(|structure| {
        let template = make_template(&structure, &mut notes)?;
        refuse_unmodelled(&mut notes, options)?;
        Ok(template)
    });
    let mut template = template.map_err(|fault| fault.in_file(file))?;
    let lines = notes
        .unmodelled
        .iter()
        .map(|(at, what)| format!("{file}:{at}: {}", cut(what)));
    template.unmodelled = lines.collect();
    Ok((template, notes.warning_lines(file)))
}

/// The first of a file's unmodelled things stops it, unless they are to be dropped.
fn refuse_unmodelled(notes: &mut Notes, options: &LoadOptions) -> Result<(), Fault> {
    notes.unmodelled.sort_by_key(|(at, _)| *at);
    match notes.unmodelled.first() {
        Some((at, what)) if !options.allow_unmodelled => {
            let message = format!("{what} is not modelled");
            Err(Fault::new(*at, FaultKind::Unmodelled, message).expected(
                "groups at most 8 deep (--allow-unmodelled takes it for one of the root)",
            ))
        }
        _ => Ok(()),
    }
}

/// All tasks that run, with what they share.
fn make_template(structure: &Structure, notes: &mut Notes) -> Result<Template, Fault> {
    let global = &structure.global;
    let roles = roles(structure, notes)?;
    let by_name: BTreeMap<&str, usize> = (structure.tasks.iter().enumerate())
        .map(|(place, task)| (&*task.name, place))
        .collect();
    let mut maker = Maker {
        global,
        by_name,
        resources: Resources::new(&structure.tasks, global.pi_enabled),
        groups: Vec::new(),
    };
    let duration_s = u64::try_from(global.duration_s).ok().filter(|&s| s > 0);
    let mut tasks = Vec::new();
    let (mut threads, mut bytes) = (0_u64, 0_u64);
    for (place, (task, role)) in structure.tasks.iter().zip(roles).enumerate() {
        if !role.runs {
            continue;
        }
        let made = maker.task(task, place, role, notes)?;
        let scripts = u64::from(made.instances) + u64::from(role.forked);
        // Forked threads are counted when they are forked (docs/decisions/022).
        threads += scripts;
        bytes = bytes.saturating_add(scripts.saturating_mul(size(&made)));
        if role.forked {
            bytes = bytes.saturating_add(forks::LIMIT.saturating_mul(timers(&made)));
        }
        if threads > MAX_THREADS {
            let message = format!("more than {MAX_THREADS} threads");
            return Err(Fault::unusable(task.at, message).expected("fewer instances"));
        }
        if bytes > MAX_BYTES {
            let message = format!("the threads up to here need more than {MAX_BYTES} bytes");
            return Err(Fault::unusable(task.at, message));
        }
        tasks.push(made);
    }
    if tasks.is_empty() {
        let at = Position { line: 1, column: 1 };
        return Err(Fault::unusable(at, "0 tasks").expected("at least one started thread"));
    }
    Ok(Template {
        calibration: calibration(global)?,
        calibration_at: global.calibration_at,
        duration_ns: duration_s.map(|seconds| seconds * 1_000_000_000),
        start_spread_ns: global.start_spread_us * 1000, // read from 31 bits
        unmodelled: Vec::new(),
        deadlines: structure.deadlines.clone(),
        shared: maker.resources.shared,
        groups: maker.groups,
        limits: structure.groups.clone(),
        log: log::wanted(global),
        tasks,
    })
}

/// A given pLoad says nothing of the CPU it was measured on; rt-app users take the fastest. 0 lets
/// rt-app measure.
fn calibration(global: &Global) -> Result<Calibration, Fault> {
    Ok(match global.calibration {
        LoadCalibration::NsPerLoop(0) => Calibration::Cpu(0),
        LoadCalibration::NsPerLoop(_) => Calibration::Biggest,
        LoadCalibration::Cpu(cpu) => Calibration::Cpu(u32::try_from(cpu).map_err(|_| {
            Fault::unusable(
                global.calibration_at,
                format!("`calibration`: there is no CPU {cpu}"),
            )
        })?),
    })
}

/// Which tasks run; a number of threads below 0 ends rt-app before any does.
fn roles(structure: &Structure, notes: &mut Notes) -> Result<Vec<Role>, Fault> {
    for task in &structure.tasks {
        if task.instance < 0 {
            let message = format!("`instance` of task `{}` is {}", task.name, task.instance);
            return Err(Fault::unusable(task.at, message).expected("0 (a template) or more"));
        }
    }
    forks::roles(structure, notes)
}

/// About the memory a thread of the task needs, bytes.
fn size(task: &Task) -> u64 {
    /// A script, a phase, an event or timer, rounded up.
    const TASK: usize = 224;
    const PHASE: usize = 192;
    const STEP: usize = 24;
    let cpus = |cpus: &Option<Cpus>| cpus.as_ref().map_or(0, |cpus| cpus.list.len() * 4);
    let step = |step: &Step| match step {
        Step::Event(_) | Step::Fork(_) => STEP,
        // At most one timer is made for it, named after thread and timer.
        Step::Timer { name, .. } => STEP + 64 + name.len() + task.name.len(),
    };
    let phase = |phase: &Phase| {
        let steps: usize = phase.steps.iter().map(step).sum();
        let nodes = phase
            .memory_nodes
            .as_ref()
            .map_or(0, |nodes| nodes.len() * 4);
        PHASE + phase.name.len() + steps + cpus(&phase.cpus) + nodes
    };
    let phases: usize = task.phases.iter().map(phase).sum();
    (TASK + task.name.len() + phases + cpus(&task.cpus)) as u64
}

/// Memory of the timers that a forked thread has for itself, bytes.
fn timers(task: &Task) -> u64 {
    const TIMER: usize = 64;
    let steps = task.phases.iter().flat_map(|phase| &phase.steps);
    (steps
        .filter(|step| matches!(step, Step::Timer { .. }))
        .count()
        * TIMER) as u64
}

/// What the tasks of a file have in common while they are made.
struct Maker<'a> {
    global: &'a Global,
    by_name: BTreeMap<&'a str, usize>,
    resources: Resources,
    groups: Vec<String>,
}

impl Maker<'_> {
    /// One task; refuses what is not modelled.
    fn task(
        &mut self,
        task: &RtTask,
        place: usize,
        role: Role,
        notes: &mut Notes,
    ) -> Result<Task, Fault> {
        if task.phases.is_empty() {
            let message = format!("task `{}` has no phase", task.name);
            return Err(Fault::unusable(task.at, message).expected("at least one phase"));
        }
        let cpus = places::cpus(task.affinity.as_ref())?;
        let (initial, sets) = scheduling::resolve(task)?;
        let first = task
            .phases
            .first()
            .and_then(|phase| phase.scheduling.as_ref());
        let given_at = |set: &Scheduling| set.taskgroup_at;
        let at = first.and_then(given_at).or(given_at(&task.scheduling));
        self.group(initial.group.as_ref(), at.unwrap_or(task.at), notes)?;
        let mut nodes = places::nodes(task.nodes.as_ref())?;
        let mut phases = Vec::with_capacity(task.phases.len());
        for (phase, set) in task.phases.iter().zip(sets) {
            // Memory once bound stays so until a phase binds it anew.
            nodes = places::nodes(phase.nodes.as_ref())?.or(nodes);
            let at = phase.scheduling.as_ref().and_then(given_at);
            let group = set.group.as_ref().and_then(Option::as_ref);
            self.group(group, at.unwrap_or(phase.at), notes)?;
            let mut phase = self.phase(phase, set, nodes.clone())?;
            // A task without phases is read as a phase too, with the same affinity.
            phase.cpus = phase.cpus.filter(|own| cpus.as_ref() != Some(own));
            phases.push(phase);
        }
        let sums = |phase| log::sums(phase, self.global.calibration);
        Ok(Task {
            name: task.name.clone(),
            place,
            instances: u32::try_from(task.instance).unwrap_or(0),
            forked: role.forked,
            initial,
            cpus,
            delay_ns: steps::nanoseconds(task.delay_us, task.at, "delay")?,
            // Counted up from 0 and compared for equality: no negative number is ever reached.
            loops: u64::try_from(task.loops).map_or(Loops::Forever, Loops::Times),
            phases,
            log: task.phases.iter().map(sums).collect(),
        })
    }

    /// One phase with its steps.
    fn phase(
        &mut self,
        phase: &RtPhase,
        set: Set,
        memory_nodes: Option<Arc<[u32]>>,
    ) -> Result<Phase, Fault> {
        let mut steps = Vec::with_capacity(phase.events.len());
        for event in &phase.events {
            let find = |name: &str| self.by_name.get(name).copied();
            steps.extend(steps::make(event, self.global, &mut self.resources, find)?);
        }
        let stalls = |step: &Step| matches!(step, Step::Event(Event::Stall { .. }));
        Ok(Phase {
            name: phase.name.clone(),
            // Counted from 1: neither 0 nor a negative number is ever reached.
            loops: match u64::try_from(phase.loops) {
                Ok(0) | Err(_) => Loops::Forever,
                Ok(times) => Loops::Times(times),
            },
            cpus: places::cpus(phase.affinity.as_ref())?,
            set,
            memory_nodes: memory_nodes.filter(|_| steps.iter().any(stalls)),
            steps,
        })
    }

    /// Makes a group known by its name.
    fn group(
        &mut self,
        name: Option<&String>,
        at: Position,
        notes: &mut Notes,
    ) -> Result<(), Fault> {
        let Some(name) = name.filter(|name| !self.groups.contains(name)) else {
            return Ok(());
        };
        let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
        if parts.len() > TaskGroup::MAX_LEVELS {
            let most = TaskGroup::MAX_LEVELS;
            let what = format!("`taskgroup` \"/{name}\": a group more than {most} deep");
            notes.unmodelled(at, what);
        }
        // rt-app makes the groups around it, too.
        for outer in 1..parts.len() {
            let outer = parts[..outer].join("/");
            if parts.len() <= TaskGroup::MAX_LEVELS && !self.groups.contains(&outer) {
                self.groups.push(outer);
            }
        }
        if self.groups.len() >= MAX_GROUPS {
            let message = format!("more than {MAX_GROUPS} values of `taskgroup`");
            return Err(Fault::unusable(at, message));
        }
        self.groups.push(name.clone());
        Ok(())
    }
}
