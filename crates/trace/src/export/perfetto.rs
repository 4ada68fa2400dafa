//! Perfetto's protobuf: kernel events in bundles by CPU, quantities and decisions on tracks.
//!
//! What waits is written as soon as it is a chunk; a chunk is one bundle per CPU, then its tracks.
//! Nothing in a chunk is earlier than anything in the one before (docs/rules/traces.md#perfetto).
//!
//! What must stay: numbers of fields are `trace.proto`'s; readers ask for order within a CPU's
//! bundle, and nothing in a chunk is earlier than the chunk before. How large a chunk is may
//! change. Tests by part: `whole_runs_read_back` (`flush`, `bundle_head`, `event`),
//! `clusters_and_hotplug_have_tracks` (`counter`), `decisions_carry_the_average_run` (`decision`,
//! `decision_over`), `events_told_by_hand` (as many events as ftrace has), all also `create`,
//! `packet`, `track`, `waits`, `thread` and `finish`.
//!
//! Tests: crates/trace/tests/all/traces.rs

mod events;
mod fields;
mod tracks;

pub(super) use tracks::Names;

use super::bytes::{Bytes, Chunk};
use super::sink::{Counter, Decision, Sink};
use crate::event::Event;
use crate::proto::TracePacket;
use fields::Stamp;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len, message};
use std::collections::BTreeSet;
use std::io::{self, IoSlice};
use std::path::Path;
use wakeplace_files::{Place, WriteBehind, WriteError};

/// Bytes that make a chunk.
const CHUNK_BYTES: usize = 1 << 18;
/// `Trace.packet`, `TracePacket.ftrace_events` and `FtraceEventBundle.cpu`.
const PACKET: u32 = 1;
const FTRACE_EVENTS: u32 = 1;
const CPU: u32 = 1;

/// A trace being written.
#[derive(Debug)]
pub(super) struct Perfetto {
    file: WriteBehind,
    /// By CPU: its events of this chunk.
    events: Vec<Chunk>,
    /// Packets of this chunk.
    packets: Chunk,
    /// Bytes in both.
    waiting: usize,
    /// Now.
    stamp: Stamp,
    names: events::Names,
    /// CPUs that have a track for that.
    seen_leaving: BTreeSet<u32>,
}

impl Perfetto {
    /// A new file, its first packets written.
    pub(super) fn create(path: &Path, names: &Names<'_>) -> Result<(Self, Place), WriteError> {
        let (place, file) = Place::open(path)?;
        let mut trace = Self {
            file: WriteBehind::new(file),
            events: (0..names.nr_cpus()).map(|_| Chunk::default()).collect(),
            packets: Chunk::default(),
            waiting: 0,
            stamp: Stamp::new(0),
            names: events::Names::default(),
            seen_leaving: BTreeSet::new(),
        };
        for packet in names.packets() {
            let told = trace.packet(&packet);
            told.map_err(|why| WriteError::new(path, why))?;
        }
        Ok((trace, place))
    }

    /// A packet made as a whole: what is rare.
    fn packet(&mut self, packet: &TracePacket) -> io::Result<()> {
        let mut bytes = Vec::new();
        message::encode(PACKET, packet, &mut bytes);
        self.packets.append(&bytes);
        self.waits(bytes.len())
    }

    /// A packet with an event on a track, written straight into memory.
    #[inline]
    fn track(
        &mut self,
        time_ns: u64,
        write: impl FnOnce(&Stamp, &mut Bytes<'_>),
    ) -> io::Result<()> {
        self.stamp.set(time_ns);
        let stamp = &self.stamp;
        let bytes = self.packets.element(|out| write(stamp, out));
        self.waits(bytes)
    }

    /// So many bytes more wait; past a chunk all of it is written.
    #[inline]
    fn waits(&mut self, bytes: usize) -> io::Result<()> {
        self.waiting += bytes;
        match self.waiting < CHUNK_BYTES {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Writes a chunk: a bundle per CPU, then the tracks.
    fn flush(&mut self) -> io::Result<()> {
        let full = (0..)
            .zip(&self.events)
            .filter(|(_, events)| !events.written().is_empty());
        let full: Vec<_> = full.collect();
        let heads = full
            .iter()
            .map(|(cpu, events)| bundle_head(*cpu, events.written().len()));
        let heads: Vec<_> = heads.collect();
        let bundles = heads.iter().zip(&full);
        let mut parts: Vec<_> = bundles
            .flat_map(|(head, (_, events))| [head.as_slice(), events.written()])
            .chain([self.packets.written()])
            .map(IoSlice::new)
            .collect();
        self.file.write_all_vectored(&mut parts)?;
        self.events.iter_mut().for_each(Chunk::clear);
        self.packets.clear();
        self.waiting = 0;
        Ok(())
    }
}

/// What stands before the encoded events of a CPU: the packet, the bundle and its CPU.
fn bundle_head(cpu: u64, events_bytes: usize) -> Vec<u8> {
    let bundle = key_len(CPU) + encoded_len_varint(cpu) + events_bytes;
    let packet = key_len(FTRACE_EVENTS) + encoded_len_varint(bundle as u64) + bundle;
    let mut head = Vec::with_capacity(32);
    encode_key(PACKET, WireType::LengthDelimited, &mut head);
    encode_varint(packet as u64, &mut head);
    encode_key(FTRACE_EVENTS, WireType::LengthDelimited, &mut head);
    encode_varint(bundle as u64, &mut head);
    encode_key(CPU, WireType::Varint, &mut head);
    encode_varint(cpu, &mut head);
    head
}

impl Sink for Perfetto {
    /// An event of a CPU, in the bundle that is in the making.
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.stamp.set(event.time_ns);
        let (stamp, names) = (&self.stamp, &mut self.names);
        let chunk = &mut self.events[event.context.cpu as usize];
        let bytes = chunk.element(|out| events::write(event, stamp, names, out));
        self.waits(bytes)
    }

    /// A value on its track; a CPU's own track begins when it first leaves.
    fn counter(&mut self, time_ns: u64, counter: Counter, value: f64) -> io::Result<()> {
        if let Counter::Online(cpu) = counter
            && self.seen_leaving.insert(cpu)
        {
            self.packet(&tracks::online(cpu))?;
        }
        self.track(time_ns, |stamp, out| {
            tracks::counter(stamp, counter, value, out);
        })
    }

    /// Begins a slice on the thread's track.
    fn decision(&mut self, time_ns: u64, decision: &Decision<'_>) -> io::Result<()> {
        self.track(time_ns, |stamp, out| tracks::decision(stamp, decision, out))
    }

    /// Ends that slice.
    fn decision_over(&mut self, time_ns: u64, pid: i32) -> io::Result<()> {
        self.track(time_ns, |stamp, out| tracks::decision_over(stamp, pid, out))
    }

    /// Describes the thread's track.
    fn thread(&mut self, pid: i32, comm: &str) -> io::Result<()> {
        self.packet(&tracks::thread(pid, comm))
    }

    /// Writes the last chunk.
    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}
