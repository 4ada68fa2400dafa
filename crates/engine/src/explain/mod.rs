//! One decision of a run, with all that the policy looked at and what others would have done.
//!
//! The run goes twice: once to find the decision asked for, with the answers it gave; then up to
//! just before it, where the core is copied and asked (docs/decisions/034). What the run itself
//! then does is taken along: the two must agree.
//!
//! What must stay: the second run is the first one up to the decision (same inputs, same events),
//! so nothing here may change a run; threads are numbered as `RunReport::threads` has them. Free:
//! how the decision is found and what of the copy is kept, and words of messages that no test has.
//! Tests by part: `by_number_time_and_cpu` (which decision is meant),
//! `an_interrupt_is_told_from_a_waker` (who wakes), `what_is_not_there` (messages),
//! `it_is_the_decision_of_the_run` (the answer). By function: `by_number_time_and_cpu` (`is_asked`,
//! `count`, `number`, `placement`, `is_done`), `an_interrupt_is_told_from_a_waker` (`woken`,
//! `party`), `what_is_not_there` (`missing`), `it_is_the_decision_of_the_run` (`explain`,
//! `situation`, `idle_states`), `it_is_the_same_again` (`others`, `same_signals`),
//! explained.rs::`the_number_is_one_of_its_task` (`forked`, `name`). The observers of both runs
//! (`new`, `happened`, `wants_situation`, `is_shown`, `shown`): all of these.
//!
//! Callers: crates/study/src/explain/mod.rs (`explain`).
//!
//! Tests: crates/engine/tests/behaviour/explain.rs

mod balances;
mod on_signals;
mod on_tree;
mod sched_ext;
mod tree;
mod turns;

pub use on_signals::{Compared, Figure, OnSignals, SignalKind};
pub use on_tree::OnTree;
pub use sched_ext::{CallbackSteps, SchedExtExplanation, explain_sched_ext};
pub use tree::{Looks, NoTreeExplanation, TreeExplanation, explain_tree, watch_tree};

use crate::observe::{CpuPower, Happening, Observer, Placement, PlacementKind, Situation, Waking};
use crate::options::Options;
use crate::threads::{Numbered, Threads};
use std::collections::BTreeSet;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::{Choice, Core, Explained, Policy, Reason, Task, Waker};
use wakeplace_sched_ext::Exit;
use wakeplace_workload::Workload;

/// Which of the decisions on the tasks asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The n-th wake-up, from 1; 0: where a new task begins.
    Wakeup(u64),
    /// The first wake-up at this time or after it, ns.
    At(u64),
    /// The first wake-up that went to this CPU.
    To(u32),
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Threads of these scripts (indices into `Workload::tasks`); None: of all.
    pub scripts: Option<Vec<u32>>,
    /// Of a script that is there to be forked: its thread of this number, from 0; None: all.
    pub fork: Option<u64>,
    /// Which of their decisions.
    pub which: Which,
}

/// There is no such decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// How many wake-ups there were of the tasks asked for.
    pub wakeups: u64,
    /// When the last of them was, ns.
    pub last_ns: Option<u64>,
    /// When the run ended, ns.
    pub end_ns: u64,
    /// How its sched_ext scheduler ended, if it did before the run.
    pub ended: Option<Exit>,
}

/// A thread that takes part in the decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// Thread name.
    pub name: String,
    /// The core's record of it, before the decision.
    pub record: wakeplace_policy_sys::sys::wp_task,
    /// What `util_est` says of it, 0..=1024.
    pub util_est: u32,
}

/// What another policy would have answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Its name.
    pub policy: String,
    /// Its answer on the same state.
    pub choice: Choice,
    /// It keeps its signals as the policy of the run does.
    pub same_signals: bool,
}

/// A decision.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// When, ns.
    pub time_ns: u64,
    /// Wake-up or fork, with the answer that the run took.
    pub placement: Placement,
    /// The n-th wake-up of its task, from 1; 0: its fork.
    pub number: u64,
    /// The task placed.
    pub task: Party,
    /// Who ran where it was woken or made, and is the waker to the rules; None: nobody, or the
    /// thread that made all others.
    pub waker: Option<Party>,
    /// Its sleep was over, or a device woke it: an interrupt came upon who ran there.
    pub interrupt: bool,
    /// The waker says that it will sleep at once.
    pub sync: bool,
    /// The answer with its candidates.
    pub explained: Explained,
    /// Estimates of energy divided by this are microwatts; None: the policy makes none.
    pub energy_per_uw: Option<f64>,
    /// Estimates are costs without a unit: the energy model has no powers.
    pub energy_is_cost: bool,
    /// Why energy-aware placement is off although the policy asks for it.
    pub energy_inactive: Option<&'static str>,
    /// The idle state of each CPU, an index into the platform's; None: it is not in one.
    pub idle: Vec<Option<u16>>,
    /// The other policies, in the order asked.
    pub others: Vec<Other>,
}

/// The threads of a run by number, and how often each was woken.
#[derive(Debug)]
struct Wakeups<'a> {
    threads: Threads<'a>,
    counts: Vec<u64>,
}

impl<'a> Wakeups<'a> {
    /// Threads of the workload; those that are made join by `forked`.
    fn new(workload: &'a Workload) -> Self {
        Self {
            threads: Threads::new(workload),
            counts: vec![0; workload.tasks.len()],
        }
    }

    /// A thread was made.
    fn forked(&mut self, script: u32) {
        self.threads.forked(script);
        self.counts.push(0);
    }

    /// Who a thread is: every one that is told of was made.
    fn who(&self, thread: u32) -> Numbered {
        let known = self.threads.numbered(thread);
        known.expect("threads are told of when they are made")
    }

    /// A thread's name, as `RunReport::threads` has it.
    fn name(&self, thread: u32) -> String {
        self.threads.name(self.who(thread))
    }

    /// Is this thread one of those the question is about? Without names all are.
    fn is_asked(&self, thread: u32, asked: &Asked) -> bool {
        let who = self.who(thread);
        let scripts = asked.scripts.as_ref();
        scripts.is_none_or(|scripts| scripts.contains(&who.script))
            && asked.fork.is_none_or(|fork| who.fork == Some(fork))
    }

    /// A decision on this thread: its number.
    fn count(&mut self, placement: &Placement) -> u64 {
        let count = &mut self.counts[placement.task as usize];
        *count += u64::from(placement.kind == PlacementKind::Wake);
        *count
    }
}

/// Wake-ups and forks are shown before they are decided; a task that runs another program is not.
fn is_shown(placement: &Placement) -> bool {
    placement.kind != PlacementKind::Exec
}

/// Looks for the decision.
#[derive(Debug)]
struct Finder<'a> {
    threads: Wakeups<'a>,
    asked: &'a Asked,
    /// Decisions so far.
    passed: u64,
    found: Option<u64>,
    /// As `Explanation::number`, of the last decision.
    number: u64,
    wakeups: u64,
    last_ns: Option<u64>,
}

impl<'a> Finder<'a> {
    /// The workload's own threads; `forked` adds those that are made.
    fn new(workload: &'a Workload, asked: &'a Asked) -> Self {
        Self {
            threads: Wakeups::new(workload),
            asked,
            passed: 0,
            found: None,
            number: 0,
            wakeups: 0,
            last_ns: None,
        }
    }

    /// A thread's name, as `RunReport::threads` has it.
    fn name(&self, thread: u32) -> String {
        self.threads.name(thread)
    }

    /// The number among the wake-ups of its task that the last decision was, from 1; 0: a fork.
    fn number(&self) -> u64 {
        self.number
    }

    /// The error that the decision was not found, with what the run had instead.
    fn missing(&self, end_ns: u64) -> Missing {
        Missing {
            wakeups: self.wakeups,
            last_ns: self.last_ns,
            end_ns,
            ended: None,
        }
    }
}

impl Observer for Finder<'_> {
    /// First run: threads are numbered and decisions counted, no more.
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::Forked { script, .. } => self.forked(script),
            Happening::Placement(ref it) => self.placement(time_ns, it),
            _ => {}
        }
    }

    /// Whether the first run is over: it ends at the decision.
    fn is_done(&self) -> bool {
        self.found.is_some()
    }
}

impl Finder<'_> {
    fn forked(&mut self, script: u32) {
        self.threads.forked(script);
    }

    /// Counts the placements of the task that is asked for; the wanted one is kept.
    fn placement(&mut self, time_ns: u64, placement: &Placement) {
        if self.found.is_some() || !is_shown(placement) {
            return;
        }
        self.passed += 1;
        let count = self.threads.count(placement);
        if !self.threads.is_asked(placement.task, self.asked) {
            return;
        }
        let wake = placement.kind == PlacementKind::Wake;
        self.number = count;
        if wake {
            self.wakeups += 1;
            self.last_ns = Some(time_ns);
        }
        let is_it = match self.asked.which {
            Which::Wakeup(0) => !wake,
            Which::Wakeup(number) => wake && self.wakeups == number,
            Which::At(from_ns) => wake && time_ns >= from_ns,
            Which::To(cpu) => wake && placement.cpu == cpu,
        };
        if is_it {
            self.found = Some(self.passed);
        }
    }
}

/// Takes it apart.
struct Taker<'a> {
    threads: Wakeups<'a>,
    /// Decisions left before the one asked for.
    left: u64,
    others: &'a [Policy],
    policy: &'a Policy,
    /// Tasks whose last wake-up was an interrupt's doing; a CPU may be chosen later.
    by_interrupt: BTreeSet<u32>,
    taken: Option<Explanation>,
    done: bool,
}

/// The policies keep their signals alike: all parameters of load tracking are the same.
fn same_signals(a: &Policy, b: &Policy) -> bool {
    let signals = |policy: &Policy| {
        let all = policy.params().into_iter();
        let kept = all.filter(|param| param.group == "load-tracking");
        kept.map(|param| param.value).collect::<Vec<_>>()
    };
    signals(a) == signals(b)
}

impl Taker<'_> {
    /// One of those that the decision is about: `number` is its thread, the record is as the core
    /// has it at this instant.
    fn party(&self, core: &Core, task: &Task, number: u32) -> Party {
        Party {
            name: self.threads.name(number),
            record: *task.raw(),
            util_est: core.task_util_est(task),
        }
    }

    /// What other policies answer, asked on copies of the core.
    fn others(&self, s: &Situation<'_>) -> Vec<Other> {
        let answer = |policy: &Policy| {
            let mut core = s.core.copy_under(s.facts, policy.core_params()).ok()?;
            let mut tasks = s.tasks.to_vec();
            Some(Other {
                policy: policy.name().to_owned(),
                choice: core.explain(&mut tasks, s.index, s.class, s.ask).choice,
                same_signals: same_signals(policy, self.policy),
            })
        };
        self.others.iter().filter_map(answer).collect()
    }
}

/// What observers call a thread: without those that nobody sees, which follow the scripts.
fn shown(workload: &Workload, hidden: usize, index: usize) -> Option<u32> {
    match index.checked_sub(workload.tasks.len()) {
        None => Some(index as u32),
        Some(after) => (after >= hidden).then(|| (index - hidden) as u32),
    }
}

/// The idle state that each CPU is in.
fn idle_states(power: &[Option<CpuPower>]) -> Vec<Option<u16>> {
    let state = |power: &Option<CpuPower>| match power {
        Some(CpuPower::Idle { state }) => Some(*state),
        _ => None,
    };
    power.iter().map(state).collect()
}

impl Observer for Taker<'_> {
    fn happened(&mut self, _: u64, what: &Happening) {
        match *what {
            Happening::Forked { script, .. } => self.forked(script),
            Happening::Woken(ref it) => self.woken(it),
            Happening::Placement(ref it) => self.placement(it),
            _ => {}
        }
    }

    /// Whether this situation is to be shown. Only the decision asked for is: a look costs a copy
    /// of the core.
    fn wants_situation(&self) -> bool {
        self.left == 1 && self.taken.is_none()
    }

    /// Copies the core just before the decision, and asks the copy. The run itself goes on
    /// untouched.
    fn situation(&mut self, time_ns: u64, s: &Situation<'_>) {
        let mut core = s.core.copy();
        let mut tasks = s.tasks.to_vec();
        let explained = core.explain(&mut tasks, s.index, s.class, s.ask);
        let workload = self.threads.threads.workload();
        let task = shown(workload, s.hidden, s.index).expect("it is asked of seen ones only");
        let waker = match s.ask.waker {
            Waker::Task(index) | Waker::Kthread(index) => shown(workload, s.hidden, index)
                .map(|number| self.party(s.core, &s.tasks[index], number)),
            Waker::Idle => None,
        };
        self.taken = Some(Explanation {
            time_ns,
            // Until the run has taken its answer.
            placement: Placement {
                kind: PlacementKind::Wake,
                task,
                waker: None,
                waker_cpu: s.ask.this_cpu,
                prev_cpu: s.ask.prev_cpu,
                cpu: explained.choice.cpu,
                reason: explained.choice.reason,
                util: s.tasks[s.index].util_avg(),
                dur_avg_ns: s.tasks[s.index].raw().dur_avg_ns,
            },
            number: 0,
            task: self.party(s.core, &s.tasks[s.index], task),
            waker,
            interrupt: self.by_interrupt.contains(&task),
            sync: s.ask.sync,
            energy_per_uw: s.core.energy_per_uw(),
            energy_is_cost: s.core.energy_without_watts(),
            energy_inactive: s.core.energy_inactive(),
            idle: idle_states(s.power),
            others: self.others(s),
            explained,
        });
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

impl Taker<'_> {
    fn forked(&mut self, script: u32) {
        self.threads.forked(script);
    }

    /// Keeps which threads an interrupt has woken: a placement names no waker for those.
    fn woken(&mut self, waking: &Waking) {
        if waking.waker.is_none() {
            self.by_interrupt.insert(waking.task);
        } else {
            self.by_interrupt.remove(&waking.task);
        }
    }

    /// Counts down to the decision asked for; then what the run itself answered is noted beside.
    fn placement(&mut self, placement: &Placement) {
        if self.done || !is_shown(placement) {
            return;
        }
        let number = self.threads.count(placement);
        self.left -= 1;
        if self.left == 0
            && let Some(taken) = &mut self.taken
        {
            taken.placement = *placement;
            taken.number = number;
            self.done = true;
        }
    }
}

/// Explains a decision of a run; the inputs have passed `check`.
///
/// # Errors
/// The run has no such decision.
///
/// # Panics
/// As `run`, and if the copy of the core answers otherwise than the run.
pub fn explain(
    platform: &Platform,
    policy: &Policy,
    workload: &Workload,
    options: &Options,
    asked: &Asked,
    others: &[Policy],
) -> Result<Explanation, Missing> {
    let mut finder = Finder::new(workload, asked);
    let report = crate::run_watched(platform, policy, workload, options, &mut finder);
    let Some(found) = finder.found else {
        return Err(finder.missing(report.end_ns));
    };
    let mut taker = Taker {
        threads: Wakeups::new(workload),
        left: found,
        others,
        policy,
        taken: None,
        by_interrupt: BTreeSet::new(),
        done: false,
    };
    let _ = crate::run_watched(platform, policy, workload, options, &mut taker);
    let taken = taker.taken.expect("equal runs come to the same decisions");
    let explained = taken.explained.choice;
    // For a CPU that has left the machine the engine takes another: that is not the core's answer.
    if taken.placement.reason != Reason::NotAllowed {
        let took = (taken.placement.cpu, taken.placement.reason);
        assert_eq!(
            (explained.cpu, explained.reason),
            took,
            "the run decided otherwise"
        );
    }
    Ok(taken)
}
