//! What stands at the start of a trace, and what is drawn on tracks: quantities and decisions
//! (docs/rules/traces.md#perfetto). Numbers of tracks stay what they are for the whole trace.
//!
//! What must stay: numbers of tracks for the whole trace; names of tracks and categories, which
//! people look for in the viewer; a decision's track is not the thread's own. Free: what leaves the
//! bytes of files as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `decisions_carry_the_average_run` (`decision`, `decision_over`, `fields`),
//! `clusters_and_hotplug_have_tracks` (`counter`, `online`, `track`, `tracks`),
//! xtask/src/tries/traces.rs (`machine`, `thread` and `decision`, as Perfetto's own reader finds
//! them). `kernel` and `process` have no test of their own. `new`, `packets`, `clocks`, `interned`,
//! `packet`, `event`, `head`, `numbered`, `thread_track`, `counter_track`, `reason_iid` and
//! `nr_cpus` by all of these.
//!
//! Callers: export/perfetto.rs (`packets`, `online`).
//!
//! Tests: crates/trace/tests/all/traces.rs, xtask/src/tries/traces.rs

use super::fields::Stamp;
use crate::export::bytes::Bytes;
use crate::export::known::has_states;
use crate::export::sink::{Counter, Decision};
use crate::export::threads::LEADER;
use crate::proto::{
    ClockSnapshot, CounterDescriptor, CpuInfo, DebugAnnotationName, EventCategory, EventName,
    INCREMENTAL_STATE_CLEARED, InternedData, InternedString, NEEDS_INCREMENTAL_STATE,
    ProcessDescriptor, ProcessTree, SystemInfo, TracePacket, TrackDescriptor, Utsname,
    clock_snapshot::Clock,
    cpu_info, process_tree,
    trace_packet::{Data, OptionalTrustedPacketSequenceId},
    track_event::Type,
};
use wakeplace_engine::observe::PlacementKind;
use wakeplace_platform::{CpuId, Platform};
use wakeplace_policy_sys::Reason;
use wakeplace_workload::Workload;

/// The sequence of the packets that use interned strings.
const SEQUENCE_ID: u32 = 1;
const SEQUENCE: OptionalTrustedPacketSequenceId =
    OptionalTrustedPacketSequenceId::TrustedPacketSequenceId(SEQUENCE_ID);
/// The kernel release whose tracepoints the events are those of
/// (docs/rules/traces.md#trace-events), whatever era the policy is of: readers take the numbers of
/// task states from it.
const FORMAT_OF: &str = "7.3.4";
/// Clocks by Perfetto's numbers: monotonic, boot time.
const CLOCKS: [u32; 2] = [3, 6];
/// The category of decisions.
const DECISION: u64 = 1;
/// Notes on a decision, by their number less 1.
const NOTES: [&str; 8] = [
    "kind",
    "pid",
    "prev_cpu",
    "cpu",
    "waker_cpu",
    "waker_pid",
    "util",
    "dur_avg_ns",
];
/// Values of the first of them, by their number less 1.
const KINDS: [&str; 3] = ["wake", "fork", "exec"];

/// The process's track; threads' and counters' have numbers of their own ranges.
const PROCESS_TRACK: u64 = 1;
const GROUP_TRACKS: u64 = 1 << 8;
const THREAD_TRACKS: u64 = 1 << 32;
const COUNTER_TRACKS: u64 = 1 << 40;

/// A kind of counters: the one of a CPU's or a cluster's number.
type Numbered = fn(u32) -> Counter;

/// The number of the track for the decisions on a thread.
fn thread_track(pid: i32) -> u64 {
    THREAD_TRACKS + u64::from(pid.cast_unsigned())
}

/// A counter's kind and number of its kind.
fn numbered(counter: Counter) -> (u64, u32) {
    match counter {
        Counter::Util(cpu) => (1, cpu),
        Counter::Capacity(cpu) => (2, cpu),
        Counter::Energy(cluster) => (3, cluster),
        Counter::Power(cluster) => (4, cluster),
        Counter::Temperature(cluster) => (5, cluster),
        Counter::Overutilized => (6, 0),
        Counter::ClusterIdle(cluster) => (7, cluster),
        Counter::Online(cpu) => (8, cpu),
    }
}

/// The number of a quantity's track.
fn counter_track(counter: Counter) -> u64 {
    let (kind, number) = numbered(counter);
    kind * COUNTER_TRACKS + u64::from(number)
}

/// A packet of this sequence.
fn packet(data: Data) -> TracePacket {
    TracePacket {
        data: Some(data),
        optional_trusted_packet_sequence_id: Some(SEQUENCE),
        ..TracePacket::default()
    }
}

/// What every packet with an event on a track has, by the numbers of the fields in `trace.proto`.
#[inline]
fn fields(stamp: &Stamp, out: &mut Bytes<'_>, event: impl FnOnce(&mut Bytes<'_>)) {
    out.stamp(8, stamp);
    out.unsigned(10, SEQUENCE_ID.into());
    event(out);
    out.unsigned(13, NEEDS_INCREMENTAL_STATE.into());
}

/// A packet with a small event on a track.
#[inline]
fn event(stamp: &Stamp, out: &mut Bytes<'_>, event: impl FnOnce(&mut Bytes<'_>)) {
    out.short(1, |out| fields(stamp, out, |out| out.short(11, event)));
}

/// Kind and track of an event.
#[inline]
fn head(kind: Type, track: u64, out: &mut Bytes<'_>) {
    out.number(9, i32::from(kind));
    out.unsigned(11, track);
}

/// A quantity has this value from now on.
pub(super) fn counter(stamp: &Stamp, counter: Counter, value: f64, out: &mut Bytes<'_>) {
    event(stamp, out, |out| {
        head(Type::Counter, counter_track(counter), out);
        match counter {
            Counter::Energy(_) | Counter::Power(_) | Counter::Temperature(_) => {
                out.double(44, value);
            }
            _ => out.number(30, value as i64),
        }
    });
}

/// A CPU was chosen for a thread: a slice on its track until it runs.
pub(super) fn decision(stamp: &Stamp, decision: &Decision<'_>, out: &mut Bytes<'_>) {
    let placement = decision.placement;
    let kind = match placement.kind {
        PlacementKind::Wake => 1,
        PlacementKind::Fork => 2,
        PlacementKind::Exec => 3,
    };
    let numbers = [
        u64::from(decision.pid.cast_unsigned()),
        u64::from(placement.prev_cpu),
        u64::from(placement.cpu),
        u64::from(placement.waker_cpu),
        u64::from(decision.waker.cast_unsigned()),
        u64::from(placement.util),
        placement.dur_avg_ns,
    ];
    // An average of no runs is none.
    let known = numbers.len() - usize::from(placement.dur_avg_ns == 0);
    let notes = |out: &mut Bytes<'_>| {
        out.unsigned(3, DECISION);
        out.short(4, |out| {
            out.unsigned(1, 1);
            out.unsigned(17, kind);
        });
        for (name, number) in (2..).zip(&numbers[..known]) {
            out.short(4, |out| {
                out.unsigned(1, name);
                out.unsigned(3, *number);
            });
        }
        head(Type::SliceBegin, thread_track(decision.pid), out);
        out.unsigned(10, reason_iid(placement.reason));
    };
    out.message(1, |out| fields(stamp, out, |out| out.message(11, notes)));
}

/// The number under which a reason's name is kept; 0 is none in Perfetto.
fn reason_iid(reason: Reason) -> u64 {
    1 + reason.index() as u64
}

/// The thread runs.
pub(super) fn decision_over(stamp: &Stamp, pid: i32, out: &mut Bytes<'_>) {
    event(stamp, out, |out| {
        head(Type::SliceEnd, thread_track(pid), out);
    });
}

/// The track for the decisions on a thread, below the process. It is not the thread's own: a reader
/// that finds the number of a thread in a track's description takes `task_newtask` for another
/// thread of that number, and draws the decisions on the one that never runs (v55.3).
pub(super) fn thread(pid: i32, comm: &str) -> TracePacket {
    packet(Data::TrackDescriptor(TrackDescriptor {
        uuid: Some(thread_track(pid)),
        name: Some(format!("placements of {comm}")),
        parent_uuid: Some(PROCESS_TRACK),
        ..TrackDescriptor::default()
    }))
}

/// What a trace is about.
pub(in crate::export) struct Names<'a> {
    platform: &'a Platform,
    workload: &'a Workload,
    leader: &'a str,
    energy_unit: &'static str,
}

impl<'a> Names<'a> {
    /// What the first packets are made of.
    pub(in crate::export) fn new(
        platform: &'a Platform,
        workload: &'a Workload,
        leader: &'a str,
        energy_unit: &'static str,
    ) -> Self {
        Self {
            platform,
            workload,
            leader,
            energy_unit,
        }
    }

    /// CPUs of the machine.
    pub(super) fn nr_cpus(&self) -> usize {
        self.platform.cpus.len()
    }

    /// What stands at the start.
    pub(super) fn packets(&self) -> Vec<TracePacket> {
        let mut packets = vec![
            clocks(),
            self.kernel(),
            interned(),
            self.machine(),
            self.process(),
            packet(Data::TrackDescriptor(TrackDescriptor {
                uuid: Some(PROCESS_TRACK),
                process: Some(ProcessDescriptor {
                    pid: Some(LEADER),
                    process_name: Some(self.leader.to_owned()),
                }),
                ..TrackDescriptor::default()
            })),
        ];
        let cpus = 0..self.platform.cpus.len() as u32;
        let clusters = 0..self.platform.clusters.len() as u32;
        let named = |cluster: u32| self.platform.clusters[cluster as usize].name.as_str();
        let per_cpu: [(&str, Numbered); 2] = [
            ("utilisation", Counter::Util),
            ("capacity", Counter::Capacity),
        ];
        for (group, counter) in per_cpu {
            let label = |cpu: u32| format!("{group} cpu{cpu}");
            packets.extend(tracks(
                group,
                "",
                cpus.clone().map(|c| (counter(c), label(c))),
            ));
        }
        let power_unit = if self.energy_unit == "J" { "W" } else { "bogo" };
        let mut per_cluster: Vec<(&str, &str, Numbered)> = Vec::new();
        if !self.energy_unit.is_empty() {
            per_cluster.push(("energy", self.energy_unit, Counter::Energy));
            per_cluster.push(("power", power_unit, Counter::Power));
        }
        if !self.platform.thermal.is_empty() {
            per_cluster.push(("temperature", "degrees C", Counter::Temperature));
        }
        for (group, unit, counter) in per_cluster {
            let label = |cluster: u32| format!("{group} {}", named(cluster));
            let counters = clusters.clone().map(|c| (counter(c), label(c)));
            packets.extend(tracks(group, unit, counters));
        }
        let with_states = |c: &u32| {
            let first = self.platform.clusters[*c as usize].cpus[0];
            has_states(self.platform, first)
        };
        let with_states: Vec<_> = clusters.filter(with_states).collect();
        if !with_states.is_empty() {
            let label = |c: u32| format!("cluster idle {}", named(c));
            let counters = with_states.into_iter();
            let counters = counters.map(|c| (Counter::ClusterIdle(c), label(c)));
            packets.extend(tracks("cluster idle", "", counters));
        }
        packets.push(track(Counter::Overutilized, "overutilized", "", None));
        packets
    }

    /// The kernel whose events these are like.
    fn kernel(&self) -> TracePacket {
        let utsname = Utsname {
            sysname: Some("Linux".to_owned()),
            version: Some("simulated by wakeplace".to_owned()),
            release: Some(FORMAT_OF.to_owned()),
            machine: Some(self.platform.arch.clone()),
        };
        let utsname = Some(utsname);
        packet(Data::SystemInfo(SystemInfo { utsname }))
    }

    /// The machine, in the trace's own packet.
    fn machine(&self) -> TracePacket {
        let cpu = |number: u32| {
            let cpu = &self.platform.cpus[number as usize];
            let domain = self.platform.freq_domain_of(CpuId(number));
            let opps = &self.platform.freq_domains[domain].opps;
            cpu_info::Cpu {
                processor: Some(cpu.kind.clone()),
                frequencies: opps.iter().map(|opp| opp.khz).collect(),
                capacity: Some(cpu.capacity),
            }
        };
        let cpus = (0..self.platform.cpus.len() as u32).map(cpu).collect();
        packet(Data::CpuInfo(CpuInfo { cpus }))
    }

    /// The process to which decisions belong.
    fn process(&self) -> TracePacket {
        let process = process_tree::Process {
            pid: Some(LEADER),
            ppid: None,
            cmdline: vec![self.leader.to_owned(), self.workload.name.clone()],
        };
        packet(Data::ProcessTree(ProcessTree {
            processes: vec![process],
            threads: Vec::new(),
        }))
    }
}

/// All clocks begin with the run.
fn clocks() -> TracePacket {
    let clock = |id| Clock {
        clock_id: Some(id),
        timestamp: Some(0),
    };
    let clocks = CLOCKS.map(clock).to_vec();
    packet(Data::ClockSnapshot(ClockSnapshot { clocks }))
}

/// All strings that events use, once.
fn interned() -> TracePacket {
    let name = |(iid, name): (u64, &str)| DebugAnnotationName {
        iid: Some(iid),
        name: Some(name.to_owned()),
    };
    let value = |(iid, text): (u64, &str)| InternedString {
        iid: Some(iid),
        str: Some(text.as_bytes().to_vec()),
    };
    let reason = |reason: &Reason| EventName {
        iid: Some(reason_iid(*reason)),
        name: Some(reason.name().to_owned()),
    };
    let category = EventCategory {
        iid: Some(DECISION),
        name: Some("decision".to_owned()),
    };
    TracePacket {
        interned_data: Some(InternedData {
            event_categories: vec![category],
            event_names: Reason::ALL.iter().map(reason).collect(),
            debug_annotation_names: (1..).zip(NOTES).map(name).collect(),
            debug_annotation_string_values: (1..).zip(KINDS).map(value).collect(),
        }),
        sequence_flags: Some(INCREMENTAL_STATE_CLEARED | NEEDS_INCREMENTAL_STATE),
        optional_trusted_packet_sequence_id: Some(SEQUENCE),
        ..TracePacket::default()
    }
}

/// Counters of one kind and the track that holds them.
fn tracks(
    group: &str,
    unit: &str,
    counters: impl Iterator<Item = (Counter, String)>,
) -> Vec<TracePacket> {
    let mut counters = counters.peekable();
    let kind = counters
        .peek()
        .map_or(0, |(counter, _)| numbered(*counter).0);
    let holder = GROUP_TRACKS + kind;
    let head = packet(Data::TrackDescriptor(TrackDescriptor {
        uuid: Some(holder),
        name: Some(group.to_owned()),
        ..TrackDescriptor::default()
    }));
    let counters = counters.map(|(counter, name)| track(counter, &name, unit, Some(holder)));
    [head].into_iter().chain(counters).collect()
}

/// The track of a CPU that leaves the machine; there is one only if that happens.
pub(super) fn online(cpu: u32) -> TracePacket {
    track(Counter::Online(cpu), &format!("online cpu{cpu}"), "", None)
}

/// The track of a quantity.
fn track(counter: Counter, name: &str, unit: &str, holder: Option<u64>) -> TracePacket {
    let unit = (!unit.is_empty()).then(|| unit.to_owned());
    packet(Data::TrackDescriptor(TrackDescriptor {
        uuid: Some(counter_track(counter)),
        name: Some(name.to_owned()),
        parent_uuid: holder,
        counter: Some(CounterDescriptor { unit_name: unit }),
        ..TrackDescriptor::default()
    }))
}
