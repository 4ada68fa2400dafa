//! Perfetto's protobuf: kernel events in bundles by CPU, quantities and decisions on tracks.
//!
//! What waits is written as soon as it is a chunk; a chunk is one bundle per CPU, then its tracks.
//! Nothing in a chunk is earlier than anything in the one before.

mod bytes;
mod events;
mod tracks;

pub(super) use tracks::Names;

use super::place::{ExportError, Place};
use super::sink::{Counter, Decision, Sink};
use crate::event::Event;
use crate::proto::TracePacket;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len, message};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Bytes that make a chunk.
const CHUNK_BYTES: usize = 1 << 18;
/// `Trace.packet`, `TracePacket.ftrace_events` and `FtraceEventBundle.cpu`.
const PACKET: u32 = 1;
const FTRACE_EVENTS: u32 = 1;
const CPU: u32 = 1;

/// A trace being written.
#[derive(Debug)]
pub(super) struct Perfetto {
    writer: BufWriter<File>,
    /// By CPU: its events of this chunk.
    events: Vec<Vec<u8>>,
    /// Packets of this chunk.
    packets: Vec<u8>,
    /// Bytes in both.
    waiting: usize,
}

impl Perfetto {
    pub(super) fn create(path: &Path, names: &Names<'_>) -> Result<(Self, Place), ExportError> {
        let (place, writer) = Place::open(path)?;
        let mut trace = Self {
            writer,
            events: vec![Vec::new(); names.nr_cpus()],
            packets: Vec::new(),
            waiting: 0,
        };
        for packet in names.packets() {
            let told = trace.packet(&packet);
            told.map_err(|why| ExportError::new(path, why))?;
        }
        Ok((trace, place))
    }

    fn packet(&mut self, packet: &TracePacket) -> io::Result<()> {
        self.append(|packets| message::encode(PACKET, packet, packets))
    }

    fn append(&mut self, what: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let before = self.packets.len();
        what(&mut self.packets);
        self.waits(self.packets.len() - before)
    }

    fn waits(&mut self, bytes: usize) -> io::Result<()> {
        self.waiting += bytes;
        match self.waiting < CHUNK_BYTES {
            true => Ok(()),
            false => self.flush(),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        for (cpu, events) in (0..).zip(&mut self.events) {
            if !events.is_empty() {
                self.writer.write_all(&bundle_head(cpu, events.len()))?;
                self.writer.write_all(events)?;
                events.clear();
            }
        }
        self.writer.write_all(&self.packets)?;
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
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let buffer = &mut self.events[event.context.cpu as usize];
        let before = buffer.len();
        events::append(event, buffer);
        let bytes = buffer.len() - before;
        self.waits(bytes)
    }

    fn counter(&mut self, time_ns: u64, counter: Counter, value: f64) -> io::Result<()> {
        self.append(|packets| tracks::counter(time_ns, counter, value, packets))
    }

    fn decision(&mut self, time_ns: u64, decision: &Decision<'_>) -> io::Result<()> {
        self.append(|packets| tracks::decision(time_ns, decision, packets))
    }

    fn decision_over(&mut self, time_ns: u64, pid: i32) -> io::Result<()> {
        self.append(|packets| tracks::decision_over(time_ns, pid, packets))
    }

    fn thread(&mut self, pid: i32, comm: &str) -> io::Result<()> {
        self.packet(&tracks::thread(pid, comm))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush()?;
        self.writer.flush()
    }
}
