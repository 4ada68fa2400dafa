//! Events in the order of time, from a file that has them nearly so: recorders write CPU by CPU, a
//! stretch of time each. Memory stays bounded: what cannot be put in order within a stretch is
//! refused (docs/guide/traces-in.md#order-gaps-size).
//!
//! What must stay: events of equal time keep the order of the file, but for timers that are armed;
//! memory is bounded (`WINDOW_NS`, `MAX_WAITING`); a clock that jumps back is refused. Times are
//! ns. Free: what leaves the scripts of recordings as they are (ARCHITECTURE.md, "What a change may
//! touch"). Tests by part: `bundles_are_put_in_order` (`event`, `pass`),
//! `a_long_recording_is_read_in_bounded_memory` (`WINDOW_NS`, `finish`),
//! replay/mod.rs::`odd_recordings_have_a_defined_result` (`MAX_BACK_NS`, `cut`),
//! gaps.rs::`the_time_of_lost_events_is_nobodys` (`lost`, gaps), all (`new`, `cpus`, `cpu_info`,
//! `number`, `text`, `task`, `who`, `own`, `kind`). `gap` is what `lost` leads to.
//!
//! Tests: crates/trace/tests/all/replay

use super::Sink;
use crate::event::{Context, Event, Kind, TaskState, Who};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// An event waits for earlier ones until one so much later has come, ns: a recorder empties its
/// buffers several times a second.
const WINDOW_NS: u64 = 2_000_000_000;
/// Most events that wait.
const MAX_WAITING: usize = 1 << 20;
/// An event that is so much earlier than the latest one is of another clock, ns.
const MAX_BACK_NS: u64 = 10_000_000_000;
/// Most different names of tasks, and longest one (TASK_COMM_LEN is 16).
const MAX_NAMES: usize = 1 << 20;
const MAX_NAME_BYTES: usize = 64;

/// Takes the events in order.
pub trait Ordered {
    /// The next event.
    ///
    /// # Errors
    /// It cannot be taken.
    fn event(&mut self, event: &Event<'_>) -> Result<(), String>;

    /// Events of a CPU before this time are missing.
    ///
    /// # Errors
    /// It cannot be taken.
    fn gap(&mut self, time_ns: u64, cpu: u32) -> Result<(), String>;
}

/// A task of an event, its name by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Task {
    pid: i32,
    prio: i32,
    comm: u32,
}

/// An event without borrowed names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owned {
    Switch(Task, i64, Task),
    Waking(Task, u32),
    Wakeup(Task, u32),
    WakeupNew(Task, u32),
    Migrate(Task, u32, u32),
    Frequency(u32, u32),
    Idle(u32, u32),
    TimerStart(u64, u64),
    TimerExpire(u64, u64),
    TimerDone(u64),
    Softirq(u32),
    SyncWake,
    NewTask(i32, u32, u64),
    Rename(i32, u32, u32),
    Exit(Task, i32),
    /// No event: those of this CPU before it are missing.
    Gap,
}

/// By time, then timers that are armed before all else (one that is due at once may strike another
/// CPU, which stands before its own in the file), then by place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    time_ns: u64,
    rank: u8,
    sequence: u64,
    cpu: u32,
    pid: i32,
    comm: u32,
    interrupt: bool,
    what: Owned,
}

/// What was found beside the events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// CPUs by the recording's header.
    pub cpus: Option<u32>,
    /// Capacity and highest frequency by CPU.
    pub info: BTreeMap<u32, (Option<u32>, Option<u32>)>,
    /// Places where the recorder lost events.
    pub lost: u64,
    /// Events that came too late to be put in order.
    pub late: u64,
    /// The file ends inside an event.
    pub cut: bool,
}

/// Puts events in order on the way to `next`.
pub struct Order<'a, N> {
    next: &'a mut N,
    waiting: BinaryHeap<Reverse<Waiting>>,
    names: Names,
    sequence: u64,
    latest_ns: u64,
    passed_ns: u64,
    found: Found,
    /// CPUs of which events are missing before the next one.
    gaps: Vec<u32>,
}

impl<'a, N: Ordered> Order<'a, N> {
    /// Nothing has come yet.
    pub fn new(next: &'a mut N) -> Self {
        Self {
            next,
            waiting: BinaryHeap::new(),
            names: Names::default(),
            sequence: 0,
            latest_ns: 0,
            passed_ns: 0,
            found: Found::default(),
            gaps: Vec::new(),
        }
    }

    /// The file has ended: the rest is passed on.
    ///
    /// # Errors
    /// An event cannot be taken.
    pub fn finish(mut self) -> Result<Found, String> {
        while !self.waiting.is_empty() {
            self.pass()?;
        }
        Ok(self.found)
    }

    /// Passes the earliest event on.
    fn pass(&mut self) -> Result<(), String> {
        let Some(Reverse(waiting)) = self.waiting.pop() else {
            return Ok(());
        };
        // A late one is taken for one of the time that is already passed.
        let late = waiting.time_ns < self.passed_ns;
        self.found.late += u64::from(late);
        self.passed_ns = self.passed_ns.max(waiting.time_ns);
        if waiting.what == Owned::Gap {
            return self.next.gap(self.passed_ns, waiting.cpu);
        }
        let names = &self.names;
        let Some(kind) = names.kind(waiting.what) else {
            return Ok(());
        };
        let event = Event {
            time_ns: self.passed_ns,
            context: Context {
                cpu: waiting.cpu,
                pid: waiting.pid,
                comm: names.text(waiting.comm),
                interrupt: waiting.interrupt,
            },
            kind,
        };
        self.next.event(&event)
    }
}

impl<N: Ordered> Sink for Order<'_, N> {
    /// Takes an event in; the earliest goes on as soon as nothing before it can come.
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        let (now, latest) = (event.time_ns, self.latest_ns);
        if now.saturating_add(MAX_BACK_NS) < latest {
            let seconds = |ns: u64| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
            return Err(format!(
                "the clock jumps back from {} s to {} s",
                seconds(latest),
                seconds(now)
            ));
        }
        self.latest_ns = latest.max(now);
        let cpu = event.context.cpu;
        if let Some(at) = self.gaps.iter().position(|gap| *gap == cpu) {
            self.gaps.swap_remove(at);
            self.sequence += 1;
            self.waiting.push(Reverse(Waiting {
                time_ns: now,
                rank: 0,
                sequence: self.sequence,
                cpu,
                pid: 0,
                comm: self.names.number("")?,
                interrupt: false,
                what: Owned::Gap,
            }));
        }
        self.sequence += 1;
        let waiting = Waiting {
            time_ns: now,
            rank: u8::from(!matches!(event.kind, Kind::TimerStart { .. })),
            sequence: self.sequence,
            cpu: event.context.cpu,
            pid: event.context.pid,
            comm: self.names.number(event.context.comm)?,
            interrupt: event.context.interrupt,
            what: self.names.own(&event.kind)?,
        };
        self.waiting.push(Reverse(waiting));
        let over = |order: &Self| {
            let earliest = order
                .waiting
                .peek()
                .map_or(0, |Reverse(first)| first.time_ns);
            order.waiting.len() > MAX_WAITING
                || earliest.saturating_add(WINDOW_NS) < order.latest_ns
        };
        while over(self) && !self.waiting.is_empty() {
            self.pass()?;
        }
        Ok(())
    }

    /// A gap: of that CPU, told before its next event.
    fn lost(&mut self, cpu: Option<u32>) {
        self.found.lost += 1;
        if let Some(cpu) = cpu.filter(|cpu| !self.gaps.contains(cpu)) {
            self.gaps.push(cpu);
        }
    }

    /// The largest number of CPUs that the file states.
    fn cpus(&mut self, count: u32) {
        self.found.cpus = Some(count.max(self.found.cpus.unwrap_or(0)));
    }

    /// Capacity and highest clock (kHz) of a CPU.
    fn cpu_info(&mut self, cpu: u32, capacity: Option<u32>, khz: Option<u32>) {
        self.found.info.insert(cpu, (capacity, khz));
    }

    /// The file ends within a line or packet.
    fn cut(&mut self) {
        self.found.cut = true;
    }
}

/// Names by number.
#[derive(Default)]
struct Names {
    by_text: BTreeMap<String, u32>,
    by_number: Vec<String>,
}

impl Names {
    /// The number of a text, each text kept once.
    fn number(&mut self, text: &str) -> Result<u32, String> {
        let mut end = text.len().min(MAX_NAME_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &text[..end];
        if let Some(number) = self.by_text.get(text) {
            return Ok(*number);
        }
        if self.by_number.len() >= MAX_NAMES {
            return Err(format!("more than {MAX_NAMES} names of tasks"));
        }
        let number = self.by_number.len() as u32;
        self.by_text.insert(text.to_owned(), number);
        self.by_number.push(text.to_owned());
        Ok(number)
    }

    /// The text of a number; nothing for one that was never given.
    fn text(&self, number: u32) -> &str {
        self.by_number
            .get(number as usize)
            .map_or("", String::as_str)
    }

    /// A task whose name is kept by its number.
    fn task(&mut self, who: &Who<'_>) -> Result<Task, String> {
        Ok(Task {
            pid: who.pid,
            prio: who.prio,
            comm: self.number(who.comm)?,
        })
    }

    /// The task with its name again.
    fn who(&self, task: Task) -> Who<'_> {
        Who {
            comm: self.text(task.comm),
            pid: task.pid,
            prio: task.prio,
        }
    }

    /// An event whose texts are kept here.
    fn own(&mut self, kind: &Kind<'_>) -> Result<Owned, String> {
        Ok(match kind {
            Kind::Switch {
                prev,
                prev_state,
                next,
            } => Owned::Switch(self.task(prev)?, prev_state.number(), self.task(next)?),
            Kind::Waking { task, target_cpu } => Owned::Waking(self.task(task)?, *target_cpu),
            Kind::Wakeup { task, target_cpu } => Owned::Wakeup(self.task(task)?, *target_cpu),
            Kind::WakeupNew { task, target_cpu } => Owned::WakeupNew(self.task(task)?, *target_cpu),
            Kind::Migrate {
                task,
                orig_cpu,
                dest_cpu,
            } => Owned::Migrate(self.task(task)?, *orig_cpu, *dest_cpu),
            Kind::Frequency { khz, cpu } => Owned::Frequency(*khz, *cpu),
            Kind::Idle { state, cpu } => Owned::Idle(*state, *cpu),
            Kind::TimerStart { timer, expires_ns } => Owned::TimerStart(*timer, *expires_ns),
            Kind::TimerExpire { timer, now_ns } => Owned::TimerExpire(*timer, *now_ns),
            Kind::TimerDone { timer } => Owned::TimerDone(*timer),
            Kind::Softirq { vec } => Owned::Softirq(*vec),
            Kind::SyncWake => Owned::SyncWake,
            Kind::NewTask {
                pid,
                comm,
                clone_flags,
            } => Owned::NewTask(*pid, self.number(comm)?, *clone_flags),
            Kind::Rename { pid, old, new } => {
                Owned::Rename(*pid, self.number(old)?, self.number(new)?)
            }
            Kind::Exit { task, tgid } => Owned::Exit(self.task(task)?, *tgid),
        })
    }

    /// None: it is no event.
    fn kind(&self, owned: Owned) -> Option<Kind<'_>> {
        let state = |number| TaskState::of_number(number).unwrap_or(TaskState::Interruptible);
        Some(match owned {
            Owned::Gap => return None,
            Owned::Switch(prev, left, next) => Kind::Switch {
                prev: self.who(prev),
                prev_state: state(left),
                next: self.who(next),
            },
            Owned::Waking(task, target_cpu) => Kind::Waking {
                task: self.who(task),
                target_cpu,
            },
            Owned::Wakeup(task, target_cpu) => Kind::Wakeup {
                task: self.who(task),
                target_cpu,
            },
            Owned::WakeupNew(task, target_cpu) => Kind::WakeupNew {
                task: self.who(task),
                target_cpu,
            },
            Owned::Migrate(task, orig_cpu, dest_cpu) => Kind::Migrate {
                task: self.who(task),
                orig_cpu,
                dest_cpu,
            },
            Owned::Frequency(khz, cpu) => Kind::Frequency { khz, cpu },
            Owned::Idle(state, cpu) => Kind::Idle { state, cpu },
            Owned::TimerStart(timer, expires_ns) => Kind::TimerStart { timer, expires_ns },
            Owned::TimerExpire(timer, now_ns) => Kind::TimerExpire { timer, now_ns },
            Owned::TimerDone(timer) => Kind::TimerDone { timer },
            Owned::Softirq(vec) => Kind::Softirq { vec },
            Owned::SyncWake => Kind::SyncWake,
            Owned::NewTask(pid, comm, clone_flags) => Kind::NewTask {
                pid,
                comm: self.text(comm),
                clone_flags,
            },
            Owned::Rename(pid, old, new) => Kind::Rename {
                pid,
                old: self.text(old),
                new: self.text(new),
            },
            Owned::Exit(task, tgid) => Kind::Exit {
                task: self.who(task),
                tgid,
            },
        })
    }
}
