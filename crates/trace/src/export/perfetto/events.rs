//! Kernel events as Perfetto has them: fields by their numbers of spec traces section 4 and
//! `trace.proto`; the tests read them with the types made of that file.

use super::bytes::Bytes;
use crate::event::{Event, Kind, Who};
use crate::proto::{HARDIRQ, IRQS_OFF};

/// Appends an event, as an element of its bundle.
pub(super) fn append(event: &Event<'_>, buffer: &mut Vec<u8>) {
    let context = &event.context;
    Bytes(buffer).message(2, |out| {
        out.unsigned(1, event.time_ns);
        out.unsigned(2, context.pid.cast_unsigned().into());
        if context.interrupt {
            out.unsigned(5, (HARDIRQ | IRQS_OFF).into());
        }
        fields(&event.kind, out);
    });
}

fn fields(kind: &Kind<'_>, out: &mut Bytes<'_>) {
    match *kind {
        Kind::Switch {
            prev,
            prev_state,
            next,
        } => out.message(4, |out| {
            who(1, prev, out);
            out.number(4, prev_state.number());
            who(5, next, out);
        }),
        Kind::Waking { task, target_cpu } => wake(20, task, target_cpu, out),
        Kind::Wakeup { task, target_cpu } => wake(17, task, target_cpu, out),
        Kind::WakeupNew { task, target_cpu } => wake(114, task, target_cpu, out),
        Kind::Migrate {
            task,
            orig_cpu,
            dest_cpu,
        } => out.message(491, |out| {
            who(1, task, out);
            out.number(4, orig_cpu);
            out.number(5, dest_cpu);
        }),
        Kind::Frequency { khz, cpu } => out.message(11, |out| {
            out.number(1, khz);
            out.number(2, cpu);
        }),
        Kind::Idle { state, cpu } => out.message(13, |out| {
            out.number(1, state);
            out.number(2, cpu);
        }),
        Kind::NewTask {
            pid,
            comm,
            clone_flags,
        } => out.message(235, |out| {
            out.number(1, pid);
            out.text(2, comm);
            out.unsigned(3, clone_flags);
            out.number(4, 0);
        }),
        Kind::Rename { pid, old, new } => out.message(236, |out| {
            out.number(1, pid);
            out.text(2, old);
            out.text(3, new);
            out.number(4, 0);
        }),
        Kind::Exit { task, tgid } => out.message(238, |out| {
            out.text(1, task.comm);
            out.number(2, task.pid);
            out.number(3, tgid);
            out.number(4, task.prio);
        }),
    }
}

/// Name, number and priority, at three numbers that follow each other.
fn who(first: u64, task: Who<'_>, out: &mut Bytes<'_>) {
    out.text(first, task.comm);
    out.number(first + 1, task.pid);
    out.number(first + 2, task.prio);
}

/// `sched_waking` and its like, which have the same fields.
fn wake(field: u64, task: Who<'_>, target_cpu: u32, out: &mut Bytes<'_>) {
    out.message(field, |out| {
        who(1, task, out);
        out.number(4, 1); // success
        out.number(5, target_cpu);
    });
}
