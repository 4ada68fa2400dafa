//! ftrace text, as `trace-cmd report -t` prints it: no flags, times to the nanosecond
//! (docs/guide/traces.md). The same events as Perfetto's, in the kernel's own formats.
//!
//! What must stay: bytes are those of the kernel's print formats
//! (docs/rules/traces.md#trace-events), which other tools parse; times are seconds with nine
//! digits; the first line says how many CPUs there are. Free: what leaves the bytes of files as
//! they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `fields_are_as_the_kernel_prints_them` (`fields`, `target`, `state`, `named`),
//! `events_told_by_hand` (`create`, `context`, `by`: every line of tests/data/by_hand.txt),
//! `whole_runs_read_back` (`flush`), the first also `of`, all also `event` and `finish`; `line`
//! below is the test's own.
//!
//! Tests: below, crates/trace/tests/all/traces.rs::events_told_by_hand

mod line;
mod time;

use super::bytes::{Bytes, Chunk, Piece};
use super::names::ByThread;
use super::sink::Sink;
use crate::event::{Context, Event, Kind, SOFTIRQS, SYNC_WAKE, Who};
use line::Line;
use std::io;
use std::path::Path;
use time::Time;
use wakeplace_files::{Place, WriteBehind, WriteError};

/// Bytes that wait to be written.
const BUFFER_BYTES: usize = 1 << 18;
/// The recorder's word for every idle task; their own names are in the events' fields.
const IDLE: Who<'_> = Who {
    comm: "<idle>",
    pid: 0,
    prio: 0,
};

/// A text being written.
#[derive(Debug)]
pub(crate) struct Ftrace {
    file: WriteBehind,
    waiting: Chunk,
    parts: Parts,
    time: Time,
}

/// A number of a CPU, at least three digits.
type Cpu = Piece<16>;
/// A thread as the context of an event: a name of 15 bytes on 16 places, a number.
type By = Piece<64>;

/// What events have in common, made once.
#[derive(Debug, Default)]
struct Parts {
    cpus: Vec<Cpu>,
    contexts: ByThread<By>,
    names: ByThread<Name>,
}

/// A thread as events name it.
#[derive(Debug)]
struct Name {
    /// Of most events.
    own: Piece<64>,
    /// In a switch, with what stands before the state.
    prev: Piece<96>,
    /// In a switch, with what stands after the state.
    next: Piece<96>,
}

impl Name {
    /// The pieces of a line that name the thread.
    fn of(who: Who<'_>) -> Self {
        Self {
            own: Piece::new(|out| named(&mut Line(out), who)),
            prev: Piece::new(|out| {
                let mut out = Line(out);
                out.text("prev_comm=").text(who.comm);
                out.text(" prev_pid=").signed(who.pid);
                out.text(" prev_prio=").signed(who.prio);
                out.text(" prev_state=");
            }),
            next: Piece::new(|out| {
                let mut out = Line(out);
                out.text(" ==> next_comm=").text(who.comm);
                out.text(" next_pid=").signed(who.pid);
                out.text(" next_prio=").signed(who.prio);
            }),
        }
    }
}

impl Ftrace {
    /// A new file; its first line says how many CPUs there are. `Traces::ftrace` calls it and keeps
    /// the place, which `Traces::publish` moves to its name after the run.
    pub(crate) fn create(path: &Path, nr_cpus: usize) -> Result<(Self, Place), WriteError> {
        let (place, file) = Place::open(path)?;
        let mut waiting = Chunk::default();
        waiting.element(|out| {
            Line(out).text("cpus=").number(nr_cpus as u64).text("\n");
        });
        let cpu = |cpu| {
            Cpu::new(|out| {
                Line(out).zero_padded(cpu, 3);
            })
        };
        let cpus = (0..nr_cpus as u64).map(cpu).collect();
        let trace = Self {
            file: WriteBehind::new(file),
            waiting,
            parts: Parts {
                cpus,
                ..Parts::default()
            },
            time: Time::new(0),
        };
        Ok((trace, place))
    }

    /// Writes what waits to the file.
    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(self.waiting.written())?;
        self.waiting.clear();
        Ok(())
    }
}

/// In whose context: up to the number of the CPU.
fn by(who: Who<'_>) -> By {
    By::new(|out| {
        let mut out = Line(out);
        out.text_right_aligned(who.comm, 16).text("-");
        out.left_aligned(u64::from(who.pid.cast_unsigned()), 7);
        out.text(" [");
    })
}

impl Sink for Ftrace {
    /// A line for the event; written with many others at once.
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.time.set(event.time_ns);
        let (parts, time) = (&mut self.parts, &self.time);
        self.waiting.element(|out| {
            parts.context(out, &event.context);
            time.write(out);
            parts.fields(out, &event.kind, event.context.cpu);
            out.push(b'\n');
        });
        match self.waiting.written().len() < BUFFER_BYTES {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Writes the rest.
    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

/// Name and fields, as the kernel's tracepoints print them (docs/rules/traces.md#trace-events).
impl Parts {
    /// Up to the CPU: who ran there. An idle task has the kernel's name and number 0.
    #[inline]
    fn context(&mut self, out: &mut Bytes<'_>, context: &Context<'_>) {
        let who = match context.pid {
            0 => IDLE,
            pid => Who {
                comm: context.comm,
                pid,
                prio: 0,
            },
        };
        self.contexts.know(who, context.cpu, by);
        out.piece(self.contexts.get(who, context.cpu));
        out.piece(&self.cpus[context.cpu as usize]);
    }

    /// The fields of an event, as the kernel's format prints them.
    #[inline]
    fn fields(&mut self, out: &mut Bytes<'_>, kind: &Kind<'_>, cpu: u32) {
        match *kind {
            Kind::Switch {
                prev,
                prev_state,
                next,
            } => {
                self.names.know(prev, cpu, Name::of);
                self.names.know(next, cpu, Name::of);
                Line(out).text("sched_switch: ");
                out.piece(&self.names.get(prev, cpu).prev);
                Line(out).text(prev_state.letters());
                out.piece(&self.names.get(next, cpu).next);
            }
            Kind::Waking { task, target_cpu } => {
                Line(out).text("sched_waking: ");
                self.target(out, (task, cpu), target_cpu);
            }
            Kind::Wakeup { task, target_cpu } => {
                Line(out).text("sched_wakeup: ");
                self.target(out, (task, cpu), target_cpu);
            }
            Kind::WakeupNew { task, target_cpu } => {
                Line(out).text("sched_wakeup_new: ");
                self.target(out, (task, cpu), target_cpu);
            }
            _ => fields(&mut Line(out), kind),
        }
    }

    /// What is woken on a CPU, and for which.
    #[inline]
    fn target(&mut self, out: &mut Bytes<'_>, (task, cpu): (Who<'_>, u32), target_cpu: u32) {
        self.names.know(task, cpu, Name::of);
        out.piece(&self.names.get(task, cpu).own);
        Line(out).text(" target_cpu=");
        out.piece(&self.cpus[target_cpu as usize]);
    }
}

/// Those in which no part is that of other events.
fn fields(out: &mut Line<'_, '_>, kind: &Kind<'_>) {
    match *kind {
        Kind::Migrate {
            task,
            orig_cpu,
            dest_cpu,
        } => {
            out.text("sched_migrate_task: ");
            named(out, task);
            out.text(" orig_cpu=").number(orig_cpu.into());
            out.text(" dest_cpu=").number(dest_cpu.into());
        }
        Kind::Frequency { khz, cpu } => state(out, "cpu_frequency", khz, cpu),
        Kind::Idle { state: to, cpu } => state(out, "cpu_idle", to, cpu),
        Kind::TimerStart { timer, expires_ns } => {
            out.text("hrtimer_start: hrtimer=").hex_padded(timer);
            out.text(" function=hrtimer_wakeup expires=");
            out.number(expires_ns);
            out.text(" softexpires=").number(expires_ns);
            out.text(" mode=ABS");
        }
        Kind::TimerExpire { timer, now_ns } => {
            out.text("hrtimer_expire_entry: hrtimer=").hex_padded(timer);
            out.text(" function=hrtimer_wakeup now=").number(now_ns);
        }
        Kind::TimerDone { timer } => {
            out.text("hrtimer_expire_exit: hrtimer=").hex_padded(timer);
        }
        Kind::Softirq { vec } => {
            let action = SOFTIRQS.get(vec as usize).unwrap_or(&"");
            out.text("softirq_entry: vec=").number(vec.into());
            out.text(" [action=").text(action).text("]");
        }
        Kind::SyncWake => {
            out.text(SYNC_WAKE).text(": (__wake_up_sync_key+0x0/0x20)");
        }
        Kind::NewTask {
            pid,
            comm,
            clone_flags,
        } => {
            out.text("task_newtask: pid=").signed(pid);
            out.text(" comm=").text(comm);
            out.text(" clone_flags=").hex(clone_flags);
            out.text(" oom_score_adj=0");
        }
        Kind::Rename { pid, old, new } => {
            out.text("task_rename: pid=").signed(pid);
            out.text(" oldcomm=").text(old);
            out.text(" newcomm=").text(new);
            out.text(" oom_score_adj=0");
        }
        Kind::Exit { task, .. } => {
            out.text("sched_process_exit: ");
            named(out, task);
        }
        _ => unreachable!("written where its parts are"),
    }
}

/// `cpu_idle` and its like: the state and the CPU.
fn state(out: &mut Line<'_, '_>, event: &str, state: u32, cpu: u32) {
    out.text(event).text(": state=").number(state.into());
    out.text(" cpu_id=").number(cpu.into());
}

/// Name, number and priority of a task, as `sched_*` events have them.
fn named(out: &mut Line<'_, '_>, task: Who<'_>) {
    out.text("comm=").text(task.comm);
    out.text(" pid=").signed(task.pid);
    out.text(" prio=").signed(task.prio);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::TaskState;

    fn line(kind: Kind<'_>) -> String {
        let mut chunk = Chunk::default();
        let cpus = ["000", "001", "002", "003", "004", "005", "006", "007"];
        let cpu = |text: &str| Cpu::new(|out| out.append(text.as_bytes()));
        let mut parts = Parts {
            cpus: cpus.map(cpu).to_vec(),
            ..Parts::default()
        };
        chunk.element(|out| parts.fields(out, &kind, 3));
        String::from_utf8(chunk.written().to_vec()).expect("text")
    }

    /// Goal: the print formats of docs/rules/traces.md#trace-events, filled in by hand.
    #[test]
    fn fields_are_as_the_kernel_prints_them() {
        let task = Who {
            comm: "thread0-0",
            pid: 1001,
            prio: 120,
        };
        let next = Who {
            comm: "swapper/3",
            pid: 0,
            prio: 120,
        };
        let prev_state = TaskState::Preempted;
        let prev = task;
        let switch = Kind::Switch {
            prev,
            prev_state,
            next,
        };
        assert_eq!(
            line(switch),
            "sched_switch: prev_comm=thread0-0 prev_pid=1001 prev_prio=120 prev_state=R+ ==> \
             next_comm=swapper/3 next_pid=0 next_prio=120"
        );
        let target_cpu = 7;
        assert_eq!(
            line(Kind::Waking { task, target_cpu }),
            "sched_waking: comm=thread0-0 pid=1001 prio=120 target_cpu=007"
        );
        assert_eq!(
            line(Kind::Idle {
                state: u32::MAX,
                cpu: 2
            }),
            "cpu_idle: state=4294967295 cpu_id=2"
        );
        let (khz, cpu) = (1_402_000, 5);
        assert_eq!(
            line(Kind::Frequency { khz, cpu }),
            "cpu_frequency: state=1402000 cpu_id=5"
        );
        let (orig_cpu, dest_cpu) = (0, 4);
        assert_eq!(
            line(Kind::Migrate {
                task,
                orig_cpu,
                dest_cpu
            }),
            "sched_migrate_task: comm=thread0-0 pid=1001 prio=120 orig_cpu=0 dest_cpu=4"
        );
    }
}
