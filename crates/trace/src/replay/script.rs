//! What the tasks did, as scripts (docs/guide/traces-in.md, "What becomes of it").
//!
//! What must stay: tasks stand in the order of first sight and are named so; times are ns from
//! `zero_ns`, work ns at full speed; warnings say what is not known. Free: what leaves the scripts
//! of recordings as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `a_recording_by_hand` (`workload`, `script`, `nice`), exported.rs::`tasks_by_timers_come_back`
//! (`zero_ns`, `after_birth`), gaps.rs::`a_late_fork_does_not_move_the_beginning` (`zero_ns`,
//! `names`), forms.rs::`a_recording_without_wakeups_says_so_once` and
//! replay/mod.rs::`odd_recordings_have_a_defined_result` (`warnings`),
//! exported.rs::`a_timer_says_when_it_was_due_and_a_probe_that_a_waker_sleeps_soon` (sync),
//! `a_recording_by_hand` (`finish`, `once`). `realtime` has no test of its own.
//!
//! Tests: crates/trace/tests/all/replay

use super::deadlines::Deadlines;
use super::tracker::{Frames, Made, Odd, Step, Task, Tracker};
use crate::read::order::Found;
use wakeplace_workload::{
    Attributes, Calibration, Channel, Event, Loops, Phase, RealTime, SLEEPS_ON_NS, Shared, Start,
    TaskScript, Timer, TimerMode, Workload,
};

/// Highest priority of the real-time classes, and nice 0, as the kernel counts them.
const MAX_RT_PRIO: i32 = 100;
const DEFAULT_PRIO: i32 = 120;

/// Most work of a new task before its first sleep that is left out, ns.
const BIRTH_NS: u64 = 100_000;

/// What is said once of a recording of `sched_switch` alone.
const NO_WAKEUPS: &str = "the recording has no sched_waking and no sched_wakeup: who woke whom is \
    not known, nor since when a task was due. Each task counts as woken when it ran; results have \
    no wake-up latencies, no slack and no periods";

/// All that a recording said.
pub(super) struct Recorded {
    tasks: Vec<Task>,
    first_ns: u64,
    last_ns: u64,
    all_made_ns: Option<u64>,
    odd: Odd,
    frames: Frames,
    has_wakeups: bool,
    /// Time of all tasks on CPUs.
    ran_ns: u64,
    /// CPUs up to the highest that was seen.
    pub(super) cpus: u32,
}

impl Tracker {
    /// What was recorded.
    pub(super) fn finish(mut self) -> Recorded {
        self.end();
        Recorded {
            first_ns: self.first_ns.unwrap_or(0),
            last_ns: self.last_ns,
            all_made_ns: self.all_made_ns,
            odd: self.odd,
            has_wakeups: self.has_wakeups,
            ran_ns: self.ran_ns,
            cpus: self.seen_cpus(),
            frames: self.frames,
            tasks: self.tasks,
        }
    }
}

impl Recorded {
    /// What the user may want to know.
    pub(super) fn warnings(&self, found: &Found, assumed: bool) -> Vec<String> {
        let mut lines = Vec::new();
        let mut say = |count: u64, words: &str| {
            if count > 0 {
                lines.push(format!("{count} {words}"));
            }
        };
        say(
            found.lost,
            "times the recorder lost events: what tasks did meanwhile is not known",
        );
        say(
            found.late,
            "events stood too late in the file to be put in order; they count as of \
            then",
        );
        let unexplained = self.odd.unexplained * u64::from(self.has_wakeups);
        say(
            unexplained,
            "times a task ran that nobody had woken: taken as woken then",
        );
        say(
            self.odd.foreign,
            "wake-ups by a task that was not running by the recording: taken as \
            come from outside",
        );
        say(
            self.odd.gaps,
            "switches from another task than ran before: the time between is not \
            known",
        );
        if !self.has_wakeups {
            lines.push(NO_WAKEUPS.to_owned());
        }
        if found.cut {
            lines.push("the file ends inside an event".to_owned());
        }
        if self.tasks.iter().any(|task| task.prio < 0) {
            lines
                .push("deadline tasks run as SCHED_FIFO 99: a recording has no budgets".to_owned());
        }
        if assumed {
            lines.push(
                "the recording says nothing of its CPUs: all are taken to be of capacity 1024 at \
                 their highest frequency; `trace:FILE,platform=NAME` says more"
                    .to_owned(),
            );
        }
        lines
    }

    /// When the tasks of the workload begin, in the recording's time: when those that were made at
    /// its beginning are all there, or are first woken; else with the recording.
    fn zero_ns(&self) -> u64 {
        let made = self
            .tasks
            .iter()
            .filter(|task| task.made == Some(Made::ByNobody));
        let started = made.filter_map(|task| match after_birth(task) {
            [Step::At(due), ..] => Some(*due),
            _ => None,
        });
        match (started.min(), self.all_made_ns) {
            (Some(started), Some(made)) => started.min(made),
            (Some(started), None) => started,
            (None, _) => self.first_ns,
        }
    }

    /// The deadlines that the recording says itself.
    pub(super) fn deadlines(&self, found: &Found) -> Deadlines {
        let names = self.names();
        let expected = &found.expected;
        Deadlines::of(
            &self.tasks,
            &names,
            &self.frames,
            expected,
            (self.has_wakeups, self.last_ns),
        )
    }

    /// The scripts; None: there is nothing that ran.
    pub(super) fn workload(&mut self, name: &str, deadlines: &Deadlines) -> Option<Workload> {
        let zero = self.zero_ns();
        let mut shared = Shared::default();
        let mut timers = Vec::new();
        // The number of each task among the scripts, and its channel.
        let kept: Vec<Option<u32>> = {
            let mut next = 0;
            let number = |task: &Task| {
                let has = !task.steps.is_empty();
                has.then(|| {
                    next += 1;
                    next - 1
                })
            };
            self.tasks.iter().map(number).collect()
        };
        let names = self.names();
        let channels: Vec<Option<u32>> = self
            .tasks
            .iter()
            .zip(&names)
            .map(|(task, name)| {
                task.steps.contains(&Step::Await).then(|| {
                    shared.channels.push(Channel {
                        name: format!("wakes {name}"),
                        ..Channel::default()
                    });
                    (shared.channels.len() - 1) as u32
                })
            })
            .collect();
        let mut tasks = Vec::new();
        for (at, name) in names.into_iter().enumerate() {
            let task = &mut self.tasks[at];
            if kept[at].is_none() {
                continue;
            }
            let steps = after_birth(task).to_vec();
            task.steps = Vec::new();
            let maker = Maker {
                zero,
                own_channel: channels[at],
                channels: &channels,
                kept: &kept,
                deadlines,
            };
            tasks.push(maker.script((at as u32, task), name, &steps, &mut timers));
        }
        (!tasks.is_empty()).then(|| Workload {
            name: name.to_owned(),
            calibration: Calibration::Biggest,
            tasks,
            start: Start::default(),
            timers,
            shared,
            series: Vec::new(),
            count: None,
            groups: Vec::new(),
            duration_ns: Some((self.last_ns - self.first_ns).max(1)),
            cpu_dma_latency_us: None,
            wakeups_unknown: !self.has_wakeups,
            recorded_run_ns: Some(self.ran_ns),
            chains: deadlines.chains.clone(),
            seed: 0,
            no_periods: true,
            unmodelled: Vec::new(),
        })
    }

    /// Names of the tasks; where several have one, with their numbers.
    fn names(&self) -> Vec<String> {
        let mut count = std::collections::BTreeMap::new();
        for task in &self.tasks {
            *count.entry(task.comm.as_str()).or_insert(0) += 1;
        }
        let name = |task: &Task| match (task.comm.as_str(), count[task.comm.as_str()]) {
            ("", _) => format!("task-{}", task.pid),
            (comm, 1) => comm.to_owned(),
            (comm, _) => format!("{comm}-{}", task.pid),
        };
        self.tasks.iter().map(name).collect()
    }
}

/// The steps of a task without what it did before it first slept, if it was made at the beginning
/// and did next to nothing: the simulator makes its tasks likewise, and lets them wait for each
/// other.
fn after_birth(task: &Task) -> &[Step] {
    match &task.steps[..] {
        [Step::Run(work_ns), rest @ ..]
            if task.made == Some(Made::ByNobody)
                && *work_ns <= BIRTH_NS
                && matches!(rest, [Step::At(_), ..]) =>
        {
            rest
        }
        steps => steps,
    }
}

/// Makes the script of one task.
struct Maker<'a> {
    zero: u64,
    own_channel: Option<u32>,
    channels: &'a [Option<u32>],
    kept: &'a [Option<u32>],
    deadlines: &'a Deadlines,
}

impl Maker<'_> {
    /// What one task did, as a script.
    fn script(
        &self,
        (at, task): (u32, &Task),
        name: String,
        steps: &[Step],
        timers: &mut Vec<Timer>,
    ) -> TaskScript {
        let forked = task.made == Some(Made::ByTask);
        // The start line is the first sleep of a task that was there at the beginning.
        let (delay_ns, steps) = match steps {
            [Step::At(due), rest @ ..] if !forked => (due.saturating_sub(self.zero), rest),
            steps => (0, steps),
        };
        let mut timer = None;
        let mut last = self.zero + delay_ns;
        let mut events = Vec::with_capacity(steps.len().max(1));
        for step in steps {
            events.extend(match *step {
                Step::Run(work_ns) => Some(Event::Run { work_ns }),
                Step::Io(duration_ns) => Some(Event::Io { duration_ns }),
                Step::At(due) => {
                    let period_ns = due.saturating_sub(last);
                    last = last.max(due);
                    let timer = *timer.get_or_insert_with(|| {
                        timers.push(Timer {
                            name: format!("wakes {name}"),
                            mode: TimerMode::Absolute,
                            start_delay_ns: delay_ns,
                        });
                        (timers.len() - 1) as u32
                    });
                    Some(Event::Timer { timer, period_ns })
                }
                Step::Await => self.own_channel.map(|channel| Event::Wait { channel }),
                Step::Wake(other, sync) => {
                    self.channels[other as usize].map(|channel| Event::Post { channel, sync })
                }
                Step::Fork(other) => self.kept[other as usize].map(|task| Event::Fork { task }),
                Step::Frame(number) => self.deadlines.begin(at, number),
                Step::Done(of, number) => self.deadlines.end(of, number),
            });
        }
        if !task.has_ended() {
            events.push(Event::Sleep {
                duration_ns: SLEEPS_ON_NS,
            });
        }
        if events.is_empty() {
            events.push(Event::Run { work_ns: 0 });
        }
        TaskScript {
            forks: forked.then_some(1),
            delay_ns,
            ..once(name, task.prio, events)
        }
    }
}

/// A task that does its events once, on any CPU.
fn once(name: String, prio: i32, events: Vec<Event>) -> TaskScript {
    let phase = Phase {
        name: "recorded".to_owned(),
        loops: Loops::Times(1),
        cpus: None,
        change: wakeplace_workload::Change::default(),
        memory_nodes: None,
        events,
    };
    TaskScript {
        nice: nice(prio),
        attributes: Attributes {
            realtime: realtime(prio),
            ..Attributes::default()
        },
        ..TaskScript::new(name, Loops::Times(1), vec![phase])
    }
}

/// The nice value of a kernel's priority; 0 for those above the fair class.
fn nice(prio: i32) -> i8 {
    let nice = (prio - DEFAULT_PRIO).clamp(-20, 19);
    match prio {
        MAX_RT_PRIO.. => nice as i8,
        _ => 0,
    }
}

/// Of the two real-time policies a recording shows the priority only.
fn realtime(prio: i32) -> Option<RealTime> {
    let priority = MAX_RT_PRIO - 1 - prio;
    (prio < MAX_RT_PRIO).then(|| RealTime::Fifo {
        priority: priority.clamp(1, 99) as u8,
    })
}
