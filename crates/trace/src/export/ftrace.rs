//! ftrace text, as `trace-cmd report -t` prints it: no flags, times to the nanosecond.

use super::place::{ExportError, Place};
use super::sink::Sink;
use crate::event::{Context, Event, Kind, Who};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A text being written.
#[derive(Debug)]
pub(crate) struct Ftrace {
    writer: BufWriter<File>,
}

/// The recorder's word for every idle task; their own names are in the events' fields.
const IDLE_COMM: &str = "<idle>";

impl Ftrace {
    pub(crate) fn create(path: &Path, nr_cpus: usize) -> Result<(Self, Place), ExportError> {
        let (place, mut writer) = Place::open(path)?;
        writeln!(writer, "cpus={nr_cpus}").map_err(|why| ExportError::new(path, why))?;
        Ok((Self { writer }, place))
    }
}

impl Sink for Ftrace {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let Context { cpu, pid, comm, .. } = event.context;
        let comm = if pid == 0 { IDLE_COMM } else { comm };
        let (seconds, ns) = (event.time_ns / 1_000_000_000, event.time_ns % 1_000_000_000);
        let out = &mut self.writer;
        write!(out, "{comm:>16}-{pid:<7} [{cpu:03}] {seconds:5}.{ns:09}: ")?;
        fields(out, &event.kind)?;
        out.write_all(b"\n")
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Name and fields, as the kernel's tracepoints print them (spec traces section 1).
fn fields(out: &mut impl Write, kind: &Kind<'_>) -> io::Result<()> {
    match kind {
        Kind::Switch {
            prev,
            prev_state,
            next,
        } => write!(
            out,
            "sched_switch: prev_comm={} prev_pid={} prev_prio={} prev_state={} ==> next_comm={} \
             next_pid={} next_prio={}",
            prev.comm,
            prev.pid,
            prev.prio,
            prev_state.letters(),
            next.comm,
            next.pid,
            next.prio,
        ),
        Kind::Waking { task, target_cpu } => target(out, "sched_waking", task, *target_cpu),
        Kind::Wakeup { task, target_cpu } => target(out, "sched_wakeup", task, *target_cpu),
        Kind::WakeupNew { task, target_cpu } => target(out, "sched_wakeup_new", task, *target_cpu),
        Kind::Migrate {
            task,
            orig_cpu,
            dest_cpu,
        } => {
            named(out, "sched_migrate_task", task)?;
            write!(out, " orig_cpu={orig_cpu} dest_cpu={dest_cpu}")
        }
        Kind::Frequency { khz, cpu } => write!(out, "cpu_frequency: state={khz} cpu_id={cpu}"),
        Kind::Idle { state, cpu } => write!(out, "cpu_idle: state={state} cpu_id={cpu}"),
        Kind::NewTask {
            pid,
            comm,
            clone_flags,
        } => write!(
            out,
            "task_newtask: pid={pid} comm={comm} clone_flags={clone_flags:x} oom_score_adj=0"
        ),
        Kind::Rename { pid, old, new } => write!(
            out,
            "task_rename: pid={pid} oldcomm={old} newcomm={new} oom_score_adj=0"
        ),
        Kind::Exit { task, .. } => named(out, "sched_process_exit", task),
    }
}

fn named(out: &mut impl Write, event: &str, task: &Who<'_>) -> io::Result<()> {
    let Who { comm, pid, prio } = task;
    write!(out, "{event}: comm={comm} pid={pid} prio={prio}")
}

fn target(out: &mut impl Write, event: &str, task: &Who<'_>, cpu: u32) -> io::Result<()> {
    named(out, event, task)?;
    write!(out, " target_cpu={cpu:03}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::TaskState;

    fn line(kind: Kind<'_>) -> String {
        let mut out = Vec::new();
        fields(&mut out, &kind).expect("memory");
        String::from_utf8(out).expect("text")
    }

    /// Goal: the print formats of spec traces section 1, filled in by hand.
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
