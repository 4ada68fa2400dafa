//! Kernel events as Perfetto has them: fields by their numbers of docs/rules/traces.md#perfetto and
//! `trace.proto`; the tests read them with the types made of that file.
//!
//! What must stay: numbers of fields (docs/rules/traces.md#perfetto, `proto/trace.proto`); an event
//! is an element of its CPU's bundle. Free: what leaves the bytes of files as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `events_told_by_hand` (`write`,
//! `fields`, `rare`, `wake`), `whole_runs_read_back` (`fields`), `an_interrupt_is_no_tasks_doing`
//! (flags of `write`), replay/exported.rs::`tasks_by_timers_come_back` (timers, in `rare`), all
//! also `of` and `named`.
//!
//! Callers: export/perfetto.rs (`write`).
//!
//! Tests: crates/trace/tests/all/traces.rs, crates/trace/tests/all/replay/exported.rs

use super::fields::Stamp;
use crate::event::{Event, Kind, SYNC_WAKE, Who};
use crate::export::bytes::{Bytes, Piece};
use crate::export::names::ByThread;
use crate::proto::{HARDIRQ, IRQS_OFF};

/// Bytes of a name of 15 bytes, a number and a priority with their keys: at most 34.
type Named = Piece<40>;

/// Threads as events name them: name, number and priority.
pub(super) type Names = ByThread<Name>;

#[derive(Debug)]
pub(super) struct Name {
    /// At the field numbers 1, 2 and 3.
    first: Named,
    /// At 5, 6 and 7.
    second: Named,
}

impl Name {
    /// The bytes of name, number and priority, at both places where events have them.
    fn of(who: Who<'_>) -> Self {
        Self {
            first: Piece::new(|out| named(1, who, out)),
            second: Piece::new(|out| named(5, who, out)),
        }
    }
}

/// Name, number and priority, at three numbers that follow each other.
fn named(first: u64, task: Who<'_>, out: &mut Bytes<'_>) {
    out.text(first, task.comm);
    out.number(first + 1, task.pid);
    out.number(first + 2, task.prio);
}

/// Writes an event, as an element of its bundle.
#[inline]
pub(super) fn write(event: &Event<'_>, stamp: &Stamp, names: &mut Names, out: &mut Bytes<'_>) {
    let context = &event.context;
    out.short(2, |out| {
        out.stamp(1, stamp);
        out.unsigned(2, context.pid.cast_unsigned().into());
        if context.interrupt {
            out.unsigned(5, (HARDIRQ | IRQS_OFF).into());
        }
        fields(&event.kind, context.cpu, names, out);
    });
}

/// The fields of the events that a trace has most of.
#[inline]
fn fields(kind: &Kind<'_>, cpu: u32, names: &mut Names, out: &mut Bytes<'_>) {
    match *kind {
        Kind::Switch {
            prev,
            prev_state,
            next,
        } => {
            names.know(prev, cpu, Name::of);
            names.know(next, cpu, Name::of);
            out.short(4, |out| {
                out.piece(&names.get(prev, cpu).first);
                out.number(4, prev_state.number());
                out.piece(&names.get(next, cpu).second);
            });
        }
        Kind::Waking { task, target_cpu } => wake(20, (task, cpu), target_cpu, names, out),
        Kind::Wakeup { task, target_cpu } => wake(17, (task, cpu), target_cpu, names, out),
        Kind::WakeupNew { task, target_cpu } => wake(114, (task, cpu), target_cpu, names, out),
        Kind::Idle { state, cpu } => out.short(13, |out| {
            out.number(1, state);
            out.number(2, cpu);
        }),
        Kind::Frequency { khz, cpu } => out.short(11, |out| {
            out.number(1, khz);
            out.number(2, cpu);
        }),
        _ => rare(kind, out),
    }
}

/// The fields of all other events.
fn rare(kind: &Kind<'_>, out: &mut Bytes<'_>) {
    match *kind {
        Kind::Migrate {
            task,
            orig_cpu,
            dest_cpu,
        } => out.short(491, |out| {
            named(1, task, out);
            out.number(4, orig_cpu);
            out.number(5, dest_cpu);
        }),
        Kind::TimerStart { timer, expires_ns } => out.short(551, |out| {
            out.unsigned(1, timer);
            out.unsigned(3, expires_ns);
            out.unsigned(4, expires_ns);
            out.number(5, 0); // HRTIMER_MODE_ABS
        }),
        Kind::TimerExpire { timer, now_ns } => out.short(553, |out| {
            out.unsigned(1, timer);
            out.unsigned(2, now_ns);
        }),
        Kind::TimerDone { timer } => out.short(554, |out| out.unsigned(1, timer)),
        Kind::Softirq { vec } => out.short(24, |out| out.number(1, vec)),
        Kind::SyncWake => out.short(542, |out| {
            out.text(1, SYNC_WAKE);
            out.number(2, 3); // KPROBE_TYPE_INSTANT
        }),
        Kind::NewTask {
            pid,
            comm,
            clone_flags,
        } => out.short(235, |out| {
            out.number(1, pid);
            out.text(2, comm);
            out.unsigned(3, clone_flags);
            out.number(4, 0);
        }),
        Kind::Rename { pid, old, new } => out.short(236, |out| {
            out.number(1, pid);
            out.text(2, old);
            out.text(3, new);
            out.number(4, 0);
        }),
        Kind::Exit { task, tgid } => out.short(238, |out| {
            out.text(1, task.comm);
            out.number(2, task.pid);
            out.number(3, tgid);
            out.number(4, task.prio);
        }),
        _ => unreachable!("written where it is frequent"),
    }
}

/// `sched_waking` and its like, which have the same fields.
#[inline]
fn wake(
    field: u64,
    (task, cpu): (Who<'_>, u32),
    target_cpu: u32,
    names: &mut Names,
    out: &mut Bytes<'_>,
) {
    names.know(task, cpu, Name::of);
    out.short(field, |out| {
        out.piece(&names.get(task, cpu).first);
        out.number(4, 1); // success
        out.number(5, target_cpu);
    });
}
