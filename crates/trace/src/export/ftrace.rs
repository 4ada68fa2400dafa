//! ftrace text, as `trace-cmd report -t` prints it: no flags, times to the nanosecond.

mod line;

use super::sink::Sink;
use crate::event::{Context, Event, Kind, SOFTIRQS, SYNC_WAKE, Who};
use line::Line;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use wakeplace_files::{Place, WriteError};

/// Bytes that wait to be written.
const BUFFER_BYTES: usize = 1 << 18;
/// The recorder's word for every idle task; their own names are in the events' fields.
const IDLE_COMM: &str = "<idle>";

/// A text being written.
#[derive(Debug)]
pub(crate) struct Ftrace {
    file: File,
    waiting: Line,
    /// Now, and as it is printed.
    time_ns: u64,
    time: Line,
}

impl Ftrace {
    pub(crate) fn create(path: &Path, nr_cpus: usize) -> Result<(Self, Place), WriteError> {
        let (place, file) = Place::open(path)?;
        let mut waiting = Line::with_capacity(BUFFER_BYTES + (1 << 12));
        waiting.text("cpus=").number(nr_cpus as u64).text("\n");
        let trace = Self {
            file,
            waiting,
            time_ns: 0,
            time: time(0),
        };
        Ok((trace, place))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(self.waiting.bytes())?;
        self.waiting.clear();
        Ok(())
    }
}

/// Seconds in five places and nine digits of a second.
fn time(time_ns: u64) -> Line {
    let mut out = Line::with_capacity(24);
    out.right_aligned(time_ns / 1_000_000_000, 5);
    out.text(".").zero_padded(time_ns % 1_000_000_000, 9);
    out
}

impl Sink for Ftrace {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let Context { cpu, pid, comm, .. } = event.context;
        let comm = if pid == 0 { IDLE_COMM } else { comm };
        if event.time_ns != self.time_ns {
            (self.time_ns, self.time) = (event.time_ns, time(event.time_ns));
        }
        let out = &mut self.waiting;
        out.text_right_aligned(comm, 16).text("-");
        out.left_aligned(u64::from(pid.cast_unsigned()), 7);
        out.text(" [").zero_padded(cpu.into(), 3).text("] ");
        out.append(self.time.bytes()).text(": ");
        fields(out, &event.kind);
        out.text("\n");
        match out.bytes().len() < BUFFER_BYTES {
            true => Ok(()),
            false => self.flush(),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

/// Name and fields, as the kernel's tracepoints print them (docs/rules/traces.md#trace-events).
fn fields(out: &mut Line, kind: &Kind<'_>) {
    match kind {
        Kind::Switch {
            prev,
            prev_state,
            next,
        } => {
            out.text("sched_switch: prev_comm=").text(prev.comm);
            out.text(" prev_pid=").signed(prev.pid);
            out.text(" prev_prio=").signed(prev.prio);
            out.text(" prev_state=").text(prev_state.letters());
            out.text(" ==> next_comm=").text(next.comm);
            out.text(" next_pid=").signed(next.pid);
            out.text(" next_prio=").signed(next.prio);
        }
        Kind::Waking { task, target_cpu } => target(out, "sched_waking", task, *target_cpu),
        Kind::Wakeup { task, target_cpu } => target(out, "sched_wakeup", task, *target_cpu),
        Kind::WakeupNew { task, target_cpu } => target(out, "sched_wakeup_new", task, *target_cpu),
        Kind::Migrate {
            task,
            orig_cpu,
            dest_cpu,
        } => {
            named(out, "sched_migrate_task", task);
            out.text(" orig_cpu=").number((*orig_cpu).into());
            out.text(" dest_cpu=").number((*dest_cpu).into());
        }
        Kind::Frequency { khz, cpu } => state(out, "cpu_frequency", *khz, *cpu),
        Kind::Idle { state: to, cpu } => state(out, "cpu_idle", *to, *cpu),
        Kind::TimerStart { timer, expires_ns } => {
            timed(out, "hrtimer_start", *timer);
            out.text(" function=hrtimer_wakeup expires=")
                .number(*expires_ns);
            out.text(" softexpires=").number(*expires_ns);
            out.text(" mode=ABS");
        }
        Kind::TimerExpire { timer, now_ns } => {
            timed(out, "hrtimer_expire_entry", *timer);
            out.text(" function=hrtimer_wakeup now=").number(*now_ns);
        }
        Kind::TimerDone { timer } => timed(out, "hrtimer_expire_exit", *timer),
        Kind::Softirq { vec } => {
            let action = SOFTIRQS.get(*vec as usize).unwrap_or(&"");
            out.text("softirq_entry: vec=").number((*vec).into());
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
            out.text("task_newtask: pid=").signed(*pid);
            out.text(" comm=").text(comm);
            out.text(" clone_flags=").hex(*clone_flags);
            out.text(" oom_score_adj=0");
        }
        Kind::Rename { pid, old, new } => {
            out.text("task_rename: pid=").signed(*pid);
            out.text(" oldcomm=").text(old);
            out.text(" newcomm=").text(new);
            out.text(" oom_score_adj=0");
        }
        Kind::Exit { task, .. } => named(out, "sched_process_exit", task),
    }
}

fn state(out: &mut Line, event: &str, state: u32, cpu: u32) {
    out.text(event).text(": state=").number(state.into());
    out.text(" cpu_id=").number(cpu.into());
}

fn timed(out: &mut Line, event: &str, timer: u64) {
    out.text(event).text(": hrtimer=").hex_padded(timer, 16);
}

fn named(out: &mut Line, event: &str, task: &Who<'_>) {
    out.text(event).text(": comm=").text(task.comm);
    out.text(" pid=").signed(task.pid);
    out.text(" prio=").signed(task.prio);
}

fn target(out: &mut Line, event: &str, task: &Who<'_>, cpu: u32) {
    named(out, event, task);
    out.text(" target_cpu=").zero_padded(cpu.into(), 3);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::TaskState;

    fn line(kind: Kind<'_>) -> String {
        let mut out = Line::with_capacity(0);
        fields(&mut out, &kind);
        String::from_utf8(out.bytes().to_vec()).expect("text")
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
