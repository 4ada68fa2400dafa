//! Perfetto's protobuf, packet by packet (docs/rules/traces.md#perfetto). Of a packet only what is
//! looked at is decoded, one event at a time, so that no packet takes more memory than its bytes.
//!
//! What must stay: numbers of fields are `trace.proto`'s; damaged packets are errors with their
//! byte, unknown ones are passed over; no packet takes more memory than its bytes. Free: what
//! leaves the scripts of recordings as they are (ARCHITECTURE.md, "What a change may touch"). Tests
//! by part: `bundles_are_put_in_order` (`read`, `one`, `bundle`, `event`, and a file cut at every
//! byte), `the_compact_form_says_the_same_after_its_first_switches` (`compact`, `compact_switch`,
//! `compact_waking`, `interned`), stream.rs::`a_line_without_an_end` (`MAX_PACKET_BYTES`),
//! exported.rs::`tasks_by_timers_come_back` (`kind`, `cpu_info`), the first also `length`,
//! `fields`, `who`, `target` and `time`.
//!
//! Callers: mod.rs (`read`).
//!
//! Tests: crates/trace/tests/all/replay/perfetto.rs, crates/trace/tests/all/replay/exported.rs,
//! crates/trace/tests/all/replay/stream.rs::a_line_without_an_end

use super::{ReadError, Sink};
use crate::event::{Context, Event, Kind, SYNC_WAKE, TaskState, Who};
use crate::proto::ftrace_event::Event as Inner;
use crate::proto::ftrace_event_bundle::CompactSched;
use crate::proto::{self, CpuInfo, FtraceEvent};
use prost::Message;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use std::collections::BTreeMap;
use std::io::Read;

/// Longest packet, bytes. Perfetto's own are cut at some hundred KiB.
const MAX_PACKET_BYTES: u64 = 64 << 20;
/// Most CPUs.
const MAX_CPUS: u32 = 1024;
/// `Trace.packet`, length-delimited.
const PACKET_KEY: u8 = 0x0a;
/// Fields of `TracePacket` and `FtraceEventBundle` that are looked at.
const FTRACE_EVENTS: u32 = 1;
const CPU_INFO: u32 = 67;
const BUNDLE_CPU: u32 = 1;
const BUNDLE_EVENT: u32 = 2;
const BUNDLE_LOST: u32 = 3;
const BUNDLE_COMPACT: u32 = 4;

/// Who runs on each CPU by the compact form, which names only who comes.
type Running = BTreeMap<u32, Current>;

/// Pid, name and priority.
type Current = (i32, String, i32);

/// All packets of a trace; events go to the sink.
pub(super) fn read(mut from: impl Read, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut running = Running::new();
    let mut packet = Vec::new();
    let mut at = 0_u64;
    let mut events = 0;
    loop {
        let wrong = |problem: String| ReadError::Wrong {
            place: format!("byte {at}"),
            problem,
            expected: "a packet of a Perfetto trace".to_owned(),
        };
        let mut key = [0];
        if from.read(&mut key)? == 0 {
            break;
        }
        if key[0] != PACKET_KEY {
            return Err(wrong(format!(
                "the byte 0x{:02x} in the place of a packet",
                key[0]
            )));
        }
        let Some((size, taken)) = length(&mut from)? else {
            sink.cut();
            break;
        };
        if size > MAX_PACKET_BYTES {
            return Err(wrong(format!("a packet of {size} bytes")));
        }
        packet.clear();
        from.by_ref().take(size).read_to_end(&mut packet)?;
        if packet.len() as u64 != size {
            sink.cut();
            break;
        }
        events += one(&packet, &mut running, sink).map_err(wrong)?;
        at += 1 + taken + size;
    }
    match events {
        0 => Err(ReadError::Wrong {
            place: "byte 0".to_owned(),
            problem: "no event of the scheduler in it".to_owned(),
            expected: "a Perfetto trace with ftrace_events".to_owned(),
        }),
        _ => Ok(()),
    }
}

/// A varint and how many bytes it took; None at the end of the file.
fn length(from: &mut impl Read) -> Result<Option<(u64, u64)>, ReadError> {
    let (mut value, mut taken) = (0_u64, 0);
    let mut byte = [0];
    while from.read(&mut byte)? == 1 {
        if taken < 9 {
            value |= u64::from(byte[0] & 0x7f) << (7 * taken);
        }
        taken += 1;
        if byte[0] & 0x80 == 0 {
            return Ok(Some((value, taken)));
        }
        if taken == 10 {
            return Ok(Some((u64::MAX, taken)));
        }
    }
    Ok(None)
}

/// A field's bytes, if it is length-delimited, or its number.
enum Field<'a> {
    Bytes(&'a [u8]),
    Number(u64),
}

/// Calls for every field of a message.
fn fields<'a>(
    mut bytes: &'a [u8],
    mut each: impl FnMut(u32, Field<'a>) -> Result<(), String>,
) -> Result<(), String> {
    let damaged = |_| "a damaged field".to_owned();
    while !bytes.is_empty() {
        let (tag, wire) = decode_key(&mut bytes).map_err(damaged)?;
        match wire {
            WireType::LengthDelimited => {
                let size = decode_varint(&mut bytes).map_err(damaged)?;
                let size = usize::try_from(size)
                    .ok()
                    .filter(|size| *size <= bytes.len());
                let Some(size) = size else {
                    return Err("a field longer than its message".to_owned());
                };
                let (inner, rest) = bytes.split_at(size);
                bytes = rest;
                each(tag, Field::Bytes(inner))?;
            }
            WireType::Varint => {
                let value = decode_varint(&mut bytes).map_err(damaged)?;
                each(tag, Field::Number(value))?;
            }
            other => {
                skip_field(other, tag, &mut bytes, DecodeContext::default()).map_err(damaged)?
            }
        }
    }
    Ok(())
}

/// A packet; how many events it had.
fn one(packet: &[u8], running: &mut Running, sink: &mut dyn Sink) -> Result<u64, String> {
    let mut events = 0;
    fields(packet, |tag, field| {
        match (tag, field) {
            (FTRACE_EVENTS, Field::Bytes(bundle)) => events += self::bundle(bundle, running, sink)?,
            (CPU_INFO, Field::Bytes(info)) => cpu_info(info, sink)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(events)
}

/// Capacities of CPUs, where the trace states them.
fn cpu_info(bytes: &[u8], sink: &mut dyn Sink) -> Result<(), String> {
    let info = CpuInfo::decode(bytes).map_err(|_| "a damaged cpu_info".to_owned())?;
    let count = u32::try_from(info.cpus.len())
        .ok()
        .filter(|count| *count <= MAX_CPUS);
    sink.cpus(count.ok_or("a cpu_info of too many CPUs")?);
    for (cpu, facts) in (0..).zip(&info.cpus) {
        sink.cpu_info(cpu, facts.capacity, facts.frequencies.iter().copied().max());
    }
    Ok(())
}

/// The events of one CPU's bundle; how many there were.
fn bundle(bytes: &[u8], running: &mut Running, sink: &mut dyn Sink) -> Result<u64, String> {
    let (mut cpu, mut lost) = (0, false);
    fields(bytes, |tag, field| {
        match (tag, field) {
            (BUNDLE_CPU, Field::Number(number)) => cpu = number,
            (BUNDLE_LOST, Field::Number(1..)) => lost = true,
            _ => {}
        }
        Ok(())
    })?;
    let cpu = u32::try_from(cpu).ok().filter(|cpu| *cpu < MAX_CPUS);
    let cpu = cpu.ok_or("a CPU above 1023")?;
    if lost {
        sink.lost(Some(cpu));
    }
    let mut events = 0;
    fields(bytes, |tag, field| {
        match (tag, field) {
            (BUNDLE_EVENT, Field::Bytes(event)) => {
                let event = FtraceEvent::decode(event).map_err(|_| "a damaged event".to_owned())?;
                events += u64::from(self::event(&event, cpu, sink)?);
            }
            (BUNDLE_COMPACT, Field::Bytes(compact)) => {
                let compact = CompactSched::decode(compact);
                let compact = compact.map_err(|_| "a damaged compact_sched".to_owned())?;
                events += self::compact(&compact, cpu, running, sink)?;
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(events)
}

/// One event; whether it is looked at.
fn event(event: &FtraceEvent, cpu: u32, sink: &mut dyn Sink) -> Result<bool, String> {
    let Some(kind) = event.event.as_ref().and_then(kind) else {
        return Ok(false);
    };
    let interrupt = event.common_flags.unwrap_or(0) & (proto::HARDIRQ | proto::SOFTIRQ) != 0;
    let event = Event {
        time_ns: event.timestamp.unwrap_or(0),
        context: Context {
            cpu,
            pid: event.pid.unwrap_or(0).cast_signed(),
            comm: "",
            interrupt,
        },
        kind,
    };
    sink.event(&event).map(|()| true)
}

/// A task of an event; what is missing is nothing, number 0, priority 120.
fn who<'a>(comm: Option<&'a String>, pid: Option<i32>, prio: Option<i32>) -> Who<'a> {
    Who {
        comm: comm.map_or("", String::as_str),
        pid: pid.unwrap_or(0),
        prio: prio.unwrap_or(120),
    }
}

/// The CPU of a wake-up; 0 where none that can be is stated.
fn target(cpu: Option<i32>) -> u32 {
    cpu.and_then(|cpu| u32::try_from(cpu).ok()).unwrap_or(0)
}

/// Of a timer's clock; below 0 only where it was never set.
fn time(ns: Option<i64>) -> Option<u64> {
    u64::try_from(ns?).ok()
}

/// An event of the kernel's; None: it is not about scheduling.
fn kind(inner: &Inner) -> Option<Kind<'_>> {
    Some(match inner {
        Inner::SchedSwitch(e) => Kind::Switch {
            prev: who(e.prev_comm.as_ref(), e.prev_pid, e.prev_prio),
            prev_state: TaskState::left_with(e.prev_state.unwrap_or(0)),
            next: who(e.next_comm.as_ref(), e.next_pid, e.next_prio),
        },
        Inner::SchedWaking(e) => Kind::Waking {
            task: who(e.comm.as_ref(), e.pid, e.prio),
            target_cpu: target(e.target_cpu),
        },
        Inner::SchedWakeup(e) => Kind::Wakeup {
            task: who(e.comm.as_ref(), e.pid, e.prio),
            target_cpu: target(e.target_cpu),
        },
        Inner::SchedWakeupNew(e) => Kind::WakeupNew {
            task: who(e.comm.as_ref(), e.pid, e.prio),
            target_cpu: target(e.target_cpu),
        },
        Inner::SchedMigrateTask(e) => Kind::Migrate {
            task: who(e.comm.as_ref(), e.pid, e.prio),
            orig_cpu: target(e.orig_cpu),
            dest_cpu: target(e.dest_cpu),
        },
        Inner::CpuFrequency(e) => Kind::Frequency {
            khz: e.state.unwrap_or(0),
            cpu: e.cpu_id.unwrap_or(0),
        },
        Inner::CpuIdle(e) => Kind::Idle {
            state: e.state.unwrap_or(0),
            cpu: e.cpu_id.unwrap_or(0),
        },
        Inner::SoftirqEntry(e) => Kind::Softirq { vec: e.vec? },
        Inner::KprobeEvent(e) if e.name.as_ref()?.contains(SYNC_WAKE) => Kind::SyncWake,
        Inner::HrtimerStart(e) => Kind::TimerStart {
            timer: e.hrtimer?,
            expires_ns: time(e.expires)?,
        },
        Inner::HrtimerExpireEntry(e) => Kind::TimerExpire {
            timer: e.hrtimer?,
            now_ns: time(e.now)?,
        },
        Inner::HrtimerExpireExit(e) => Kind::TimerDone { timer: e.hrtimer? },
        Inner::TaskNewtask(e) => Kind::NewTask {
            pid: e.pid.unwrap_or(0),
            comm: e.comm.as_deref().unwrap_or(""),
            clone_flags: e.clone_flags.unwrap_or(0),
        },
        Inner::TaskRename(e) => Kind::Rename {
            pid: e.pid.unwrap_or(0),
            old: e.oldcomm.as_deref().unwrap_or(""),
            new: e.newcomm.as_deref().unwrap_or(""),
        },
        Inner::SchedProcessExit(e) => Kind::Exit {
            task: who(e.comm.as_ref(), e.pid, e.prio),
            tgid: e.tgid.unwrap_or(0),
        },
        _ => return None,
    })
}

/// The two columns of events merged by time. Who left a CPU is who came before; the first switch of
/// a CPU says only who came.
fn compact(
    compact: &CompactSched,
    cpu: u32,
    running: &mut Running,
    sink: &mut dyn Sink,
) -> Result<u64, String> {
    let times = |deltas: &[u64]| {
        let mut now = 0_u64;
        let add = |delta: &u64| {
            now = now.wrapping_add(*delta);
            now
        };
        deltas.iter().map(add).collect::<Vec<u64>>()
    };
    let (switches, wakings) = (
        times(&compact.switch_timestamp),
        times(&compact.waking_timestamp),
    );
    let (mut s, mut w) = (0, 0);
    while s < switches.len() || w < wakings.len() {
        let is_switch = w >= wakings.len() || s < switches.len() && switches[s] <= wakings[w];
        let current = running
            .get(&cpu)
            .cloned()
            .unwrap_or((-1, String::new(), 120));
        let context = Context {
            cpu,
            pid: current.0,
            comm: &current.1,
            interrupt: false,
        };
        if is_switch {
            let next = compact_switch(compact, s, switches[s], &current, context, sink)?;
            running.insert(cpu, next);
            s += 1;
        } else {
            compact_waking(compact, w, wakings[w], context, sink)?;
            w += 1;
        }
    }
    Ok((switches.len() + wakings.len()) as u64)
}

/// An entry of the table of names.
fn interned(compact: &CompactSched, index: Option<&u32>) -> Option<String> {
    let at = index.and_then(|index| usize::try_from(*index).ok())?;
    compact.intern_table.get(at).cloned()
}

/// One row of the switches; gives who came.
fn compact_switch(
    compact: &CompactSched,
    row: usize,
    time_ns: u64,
    current: &Current,
    context: Context<'_>,
    sink: &mut dyn Sink,
) -> Result<Current, String> {
    let pid = compact.switch_next_pid.get(row).copied();
    let next = (
        pid.ok_or("a column that is too short")?,
        interned(compact, compact.switch_next_comm_index.get(row)).unwrap_or_default(),
        compact.switch_next_prio.get(row).copied().unwrap_or(120),
    );
    let left = compact.switch_prev_state.get(row).copied().unwrap_or(0);
    let kind = Kind::Switch {
        prev: Who {
            comm: &current.1,
            pid: current.0,
            prio: current.2,
        },
        prev_state: TaskState::left_with(left),
        next: Who {
            comm: &next.1,
            pid: next.0,
            prio: next.2,
        },
    };
    sink.event(&Event {
        time_ns,
        context,
        kind,
    })?;
    Ok(next)
}

/// One row of the wake-ups.
fn compact_waking(
    compact: &CompactSched,
    row: usize,
    time_ns: u64,
    mut context: Context<'_>,
    sink: &mut dyn Sink,
) -> Result<(), String> {
    let flags = compact.waking_common_flags.get(row).copied().unwrap_or(0);
    context.interrupt = flags & (proto::HARDIRQ | proto::SOFTIRQ) != 0;
    let comm = interned(compact, compact.waking_comm_index.get(row));
    let (pid, prio) = (compact.waking_pid.get(row), compact.waking_prio.get(row));
    let kind = Kind::Waking {
        task: who(comm.as_ref(), pid.copied(), prio.copied()),
        target_cpu: target(compact.waking_target_cpu.get(row).copied()),
    };
    sink.event(&Event {
        time_ns,
        context,
        kind,
    })
}
