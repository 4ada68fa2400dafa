//! One decision of a tree's own code, with the state that it found, and what the policy core says
//! to the same question.
//!
//! The core is asked about the tree's state: its averages, its queues, its idle CPUs, as the shim
//! has read them. What the tree does not tell (docs/guide/kernel.md, "In a run") is as on a core
//! that has just begun.

use super::{Asked, Finder, Missing};
use crate::machine::core_facts;
use crate::observe::{Happening, Observer, Placement, PlacementKind};
use crate::outcome::{Ended, RunReport};
use wakeplace_kernel_abi::{Choice, Decided, Party, abi};
use wakeplace_platform::{CpuId, Platform};
use wakeplace_policy_sys::sys::{self, wp_cpu, wp_task};
use wakeplace_policy_sys::{Core, Explained, MachineError, PlaceKind, Policy};
use wakeplace_policy_sys::{Request, Task, Waker};

/// A decision of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeExplanation {
    /// When, ns.
    pub time_ns: u64,
    /// Wake-up or fork, and the answer.
    pub placement: Placement,
    /// The n-th wake-up of its task, from 1; 0: its fork.
    pub number: u64,
    /// The task placed.
    pub task: String,
    /// Who ran where it was decided; None: nobody, or a thread of the kernel.
    pub waker: Option<String>,
    /// All that the tree had to decide by.
    pub decided: Decided,
}

/// Looks for the decision; what the tree tells of it comes just before it.
struct Follower<'a> {
    finder: Finder<'a>,
    told: Option<Decided>,
    found: Option<TreeExplanation>,
}

impl Observer for Follower<'_> {
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::Forked { script, .. } => self.finder.forked(script),
            Happening::Placement(ref it) => self.placement(time_ns, it),
            _ => {}
        }
    }

    fn wants_situation(&self) -> bool {
        true
    }

    fn decided(&mut self, _time_ns: u64, decided: &Decided) {
        self.told = Some(decided.clone());
    }

    fn is_done(&self) -> bool {
        self.found.is_some()
    }
}

impl Follower<'_> {
    fn placement(&mut self, time_ns: u64, placement: &Placement) {
        self.finder.placement(time_ns, placement);
        if self.found.is_none() && self.finder.is_done() {
            self.found = Some(TreeExplanation {
                time_ns,
                placement: *placement,
                number: self.finder.number(),
                task: self.finder.name(placement.task),
                waker: placement.waker.map(|waker| self.finder.name(waker)),
                decided: self.told.take().expect("a tree tells it before"),
            });
        }
    }
}

/// Why there is no explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoTreeExplanation {
    /// There can be no such run, or the tree failed before.
    Run(String),
    /// There is no such decision.
    Missing(Missing),
}

/// Explains a decision of a tree, which `run` runs; the inputs have passed `check`.
///
/// # Errors
/// The run cannot be made, or has no such decision.
pub fn explain_tree(
    workload: &wakeplace_workload::Workload,
    asked: &Asked,
    run: impl FnOnce(&mut dyn Observer) -> Result<RunReport, String>,
) -> Result<TreeExplanation, NoTreeExplanation> {
    let mut follower = Follower {
        finder: Finder::new(workload, asked),
        told: None,
        found: None,
    };
    let report = run(&mut follower).map_err(NoTreeExplanation::Run)?;
    if let Some(found) = follower.found {
        return Ok(found);
    }
    Err(match report.ended {
        Ended::Kernel { said } => NoTreeExplanation::Run(said),
        _ => NoTreeExplanation::Missing(follower.finder.missing(report.end_ns)),
    })
}

impl TreeExplanation {
    /// Of each CPU the name of the idle state that it is in; None: it is in none.
    #[must_use]
    pub fn idle(&self, platform: &Platform) -> Vec<Option<String>> {
        let name = |choice: &Choice| {
            let state = idle_state(platform, choice)?;
            Some(platform.idle_states[state].name.clone())
        };
        self.decided.choices.iter().map(name).collect()
    }

    /// The question as the core takes it; the task is the first of the two, the waker the other.
    fn request(&self) -> Request {
        let facts = &self.decided.facts;
        let waker = match facts.waker {
            abi::IDLE => Waker::Idle,
            // An interrupt that comes upon it is not its doing (select_idle_sibling()).
            abi::KTHREAD.. if facts.waker_pinned != 0 && facts.in_interrupt == 0 => {
                Waker::Kthread(1)
            }
            _ => Waker::Task(1),
        };
        Request {
            now_ns: self.time_ns,
            kind: match self.placement.kind {
                PlacementKind::Wake => PlaceKind::Wake,
                PlacementKind::Fork => PlaceKind::Fork,
                PlacementKind::Exec => PlaceKind::Exec,
            },
            this_cpu: facts.cpu,
            prev_cpu: facts.prev,
            sync: facts.sync != 0,
            waker_load: match waker {
                Waker::Idle => 0,
                _ => self.decided.waking.load,
            },
            waker,
        }
    }

    /// What a policy of the core answers to the same question on the tree's state.
    ///
    /// # Errors
    /// A machine that the core refuses under this policy.
    pub fn asked_of(
        &self,
        platform: &Platform,
        policy: &Policy,
    ) -> Result<Explained, MachineError> {
        let facts = core_facts(platform, policy);
        let mut core = Core::new(&facts, policy.core_params())?;
        core.settle();
        core.state_mut().overutilized = self.decided.facts.overutilized;
        for choice in &self.decided.choices {
            take_cpu(choice, self.time_ns, core.cpu_mut(choice.cpu));
            core.set_exit_latency_us(choice.cpu, exit_latency_us(platform, choice));
        }
        let mut tasks = [self.placed(), self.waking()];
        let ask = self.request();
        if let Waker::Idle = ask.waker {
            // What an idle CPU's own thread remembers is kept with the CPU.
            core.cpu_mut(ask.this_cpu).idle.idle_waker = tasks[1].raw().waker;
        }
        core.task_set_allowed(&mut tasks[0]);
        Ok(core.explain(&mut tasks, 0, None, &ask))
    }

    fn placed(&self) -> Task {
        let (facts, party) = (&self.decided.facts, &self.decided.party);
        let choices = self.decided.choices.iter();
        let allowed = choices.filter(|choice| choice.allowed != 0);
        let allowed: Vec<u32> = allowed.map(|choice| choice.cpu).collect();
        let nr_cpus = self.decided.choices.len() as u32;
        let weight = party.weight.max(1);
        let mut task = Task::new(facts.task + 1, weight, facts.prev, Some(&allowed), nr_cpus);
        let raw = task.raw_mut();
        raw.avg.util_avg = facts.util;
        raw.util_est = facts.util_est;
        raw.util_est_ewma = facts.util_est;
        raw.uclamp_min = facts.uclamp_min;
        raw.uclamp_max = facts.uclamp_max;
        take_party(party, self.time_ns, raw);
        task
    }

    fn waking(&self) -> Task {
        let (facts, party) = (&self.decided.facts, &self.decided.waking);
        let nr_cpus = self.decided.choices.len() as u32;
        // No task has this number: threads of the kernel are one waker to the rules.
        let id = match facts.waker {
            abi::KTHREAD.. => u32::MAX,
            waker => waker + 1,
        };
        let mut task = Task::new(id, party.weight.max(1), facts.cpu, None, nr_cpus);
        take_party(party, self.time_ns, task.raw_mut());
        task
    }
}

fn take_party(party: &Party, now_ns: u64, raw: &mut wp_task) {
    raw.avg.load_avg = party.load;
    raw.avg.last_update_ns = now_ns;
    raw.idle_policy = party.idle_policy;
    raw.waker.wakee_flips = party.wakee_flips;
    raw.waker.last_wakee = match party.last_wakee {
        abi::NONE => 0,
        task => task + 1,
    };
    raw.waker.recent_used_cpu = party.recent_used_cpu;
    raw.waker.flip_decay_ns = party.flip_decay_ns;
}

fn take_cpu(choice: &Choice, now_ns: u64, cpu: &mut wp_cpu) {
    let queue = &mut cpu.queue;
    queue.nr_running = choice.nr_running;
    queue.nr_fair = choice.nr_fair;
    queue.pending = choice.pending;
    queue.online = choice.online;
    queue.curr_idle = choice.idle;
    queue.curr_fair = choice.curr_fair;
    queue.nr_idle_policy = choice.nr_idle_policy;
    let load = &mut cpu.load;
    load.avg.load_avg = choice.load;
    load.avg.runnable_avg = choice.runnable;
    load.avg.util_avg = choice.util;
    load.avg.last_update_ns = now_ns;
    (load.clock_ns, load.clock_task_ns, load.clock_pelt_ns) = (now_ns, now_ns, now_ns);
    load.load_weight = choice.weight;
    load.util_est = choice.util_est;
    load.capacity = choice.capacity;
    load.capacity_orig = choice.capacity_orig;
    (load.rt_util, load.dl_util, load.irq_util) = (choice.util_rt, choice.util_dl, choice.util_irq);
    take_hints(choice, cpu);
    let idle = &mut cpu.idle;
    idle.avg_idle_ns = choice.avg_idle_ns;
    idle.idle_stamp_ns = choice.idle_stamp_ns;
    idle.nr_busy_cpus = choice.nr_busy_cpus;
    idle.has_idle_cores = choice.has_idle_cores;
    idle.nr_idle_scan = choice.nr_idle_scan;
}

/// The tree's hints, as those of one queued task; of an idle CPU those of the task that left last.
fn take_hints(choice: &Choice, cpu: &mut wp_cpu) {
    let load = &mut cpu.load;
    if choice.nr_running == 0 {
        load.uclamp_last_cut = sys::WP_SCALE.saturating_sub(choice.uclamp_max);
        return;
    }
    (load.uclamp_tasks, load.uclamp_hinted) = (1, 1);
    let hints = [choice.uclamp_min, choice.uclamp_max];
    for (hint, value) in load.uclamp.iter_mut().zip(hints) {
        (hint.tasks[0], hint.highest[0]) = (1, value);
    }
}

/// The idle state that a CPU is in, as the platform numbers them; None: it is in none.
fn idle_state(platform: &Platform, choice: &Choice) -> Option<usize> {
    if choice.idle_state == abi::NONE {
        return None;
    }
    let states = platform.idle_states_of(CpuId(choice.cpu));
    // A tree's kernel is offered no state that polls.
    let states = states.filter(|(_, state)| !state.polling);
    let states: Vec<usize> = states.map(|(index, _)| index).collect();
    // Without a driver for states the CPU waits in its first.
    let at = states.get(choice.idle_state as usize).or(states.first());
    at.copied()
}

fn exit_latency_us(platform: &Platform, choice: &Choice) -> Option<u32> {
    let state = &platform.idle_states[idle_state(platform, choice)?];
    u32::try_from(state.wake_latency_ns() / 1000).ok()
}

#[cfg(test)]
mod tests {
    use super::TreeExplanation;
    use crate::observe::{Placement, PlacementKind};
    use wakeplace_kernel_abi::{Choice, Decided, Facts, Party, abi};
    use wakeplace_platform::Platform;
    use wakeplace_policy_sys::{Policy, Reason};

    /// A task of 50 of 1024 wakes on HiKey960 (littles 462), whose little CPUs are at 440, with
    /// one task each.
    fn wakes(task: [u32; 2], choice: impl Fn(u32) -> [u32; 2]) -> TreeExplanation {
        let choices = (0..8).map(|cpu| {
            let (little, [uclamp_min, uclamp_max]) = (cpu < 4, choice(cpu));
            let capacity = if little { 462 } else { 1024 };
            Choice {
                cpu,
                util: if little { 440 } else { 0 },
                capacity,
                capacity_orig: capacity,
                uclamp_min,
                uclamp_max,
                nr_running: little.into(),
                nr_fair: little.into(),
                curr_fair: little.into(),
                weight: if little { 1024 } else { 0 },
                idle: (!little).into(),
                idle_state: abi::NONE,
                allowed: 1,
                online: 1,
                ..Choice::default()
            }
        });
        let party = Party {
            weight: 1024,
            last_wakee: abi::NONE,
            ..Party::default()
        };
        let facts = Facts {
            task: 0,
            waker: 1,
            util: 50,
            uclamp_min: task[0],
            uclamp_max: task[1],
            energy_aware: 1,
            ..Facts::default()
        };
        TreeExplanation {
            time_ns: 1_000_000,
            placement: Placement {
                kind: PlacementKind::Wake,
                task: 0,
                waker: Some(1),
                waker_cpu: 0,
                prev_cpu: 0,
                cpu: 0,
                reason: Reason::Kernel,
                util: 50,
                dur_avg_ns: 0,
            },
            number: 1,
            task: "t0".to_owned(),
            waker: None,
            decided: Decided {
                facts,
                party,
                waking: party,
                choices: choices.collect(),
                energies: Vec::new(),
            },
        }
    }

    /// Which CPUs the task fits by 7.3: as the core says it of the tree's state.
    fn fits(explanation: &TreeExplanation) -> Vec<i32> {
        let platform = Platform::load("hikey960").expect("built in");
        let policy = Policy::parse("linux-7.3").expect("an era");
        let explained = explanation.asked_of(&platform, &policy).expect("a machine");
        explained.candidates.iter().map(|seen| seen.fits).collect()
    }

    /// Goal: the core hears of the tree's hints. The expected values are those of `util_fits_cpu()`
    /// (kernel/sched/fair.c): a task and a queue whose `uclamp_max` is at most the CPU's capacity
    /// fit it, however high its utilisation; the queue's hint counts where it is above the task's;
    /// a CPU whose capacity is below `uclamp_min` fits but for that (-1).
    #[test]
    fn hints_of_a_tree_reach_the_core() {
        let none = [0, 1024];
        let capped = wakes([0, 100], |cpu| if cpu == 1 { none } else { [0, 100] });
        assert_eq!(fits(&capped), [1, 0, 1, 1, 1, 1, 1, 1], "a queue's maximum");
        let uncapped = wakes(none, |_| [0, 100]);
        assert_eq!(fits(&uncapped)[..4], [0; 4], "the task's maximum");
    }
}
