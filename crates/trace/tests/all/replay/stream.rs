//! Long recordings take no more memory than short ones, and what is too much is refused.
//! Page: docs/guide/traces-in.md, "Order, gaps, size".
//!
//! What must stay: memory is bounded by a window, whatever the length.
//! Tests by part (in crates/trace/src): read/mod.rs: `a_long_recording_is_read_in_bounded_memory`
//! (`read`); read/perfetto.rs: `a_line_without_an_end` (`MAX_PACKET_BYTES`); read/text.rs:
//! `a_line_without_an_end` (`next_line`).
//! Helpers, and who fails with them: `resident_kib` (`a_long_recording_is_read_in_bounded_memory`).

use std::io::{BufReader, Read};
use wakeplace_trace::event::Event;
use wakeplace_trace::read::{Order, Ordered, read};

/// A recording without an end, made as it is read.
struct Endless {
    line: Vec<u8>,
    at: usize,
    number: u64,
    most: u64,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.line.len() {
            if self.number == self.most {
                return Ok(0);
            }
            let (s, us) = (self.number / 1_000_000, self.number % 1_000_000);
            let cpu = self.number % 8;
            self.line = format!(
                " t-{n} [{cpu:03}] {s}.{us:06}: sched_switch: prev_comm=t prev_pid={n} \
                 prev_prio=120 prev_state=S ==> next_comm=u next_pid={m} next_prio=120\n",
                n = self.number % 97 + 1,
                m = self.number % 89 + 200,
            )
            .into_bytes();
            self.at = 0;
            self.number += 1;
        }
        let count = buffer.len().min(self.line.len() - self.at);
        buffer[..count].copy_from_slice(&self.line[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

struct Count(u64, u64);

impl Ordered for Count {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        assert!(event.time_ns >= self.1, "in order");
        *self = Self(self.0 + 1, event.time_ns);
        Ok(())
    }

    fn gap(&mut self, _: u64, _: u32) -> Result<(), String> {
        Ok(())
    }
}

/// The memory of this process, KiB; None where the system does not say.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Two windows' worth of lines go through the reader, of which memory may hold one.
/// WAKEPLACE_TRACE_LINES changes how many; 13 million are 2 GB of text.
#[test]
fn a_long_recording_is_read_in_bounded_memory() {
    let asked = std::env::var("WAKEPLACE_TRACE_LINES")
        .ok()
        .and_then(|n| n.parse().ok());
    let most = asked.unwrap_or(2_000_000);
    let mut count = Count(0, 0);
    let mut order = Order::new(&mut count);
    let endless = Endless {
        line: Vec::new(),
        at: 0,
        number: 0,
        most,
    };
    let before = resident_kib();
    read(BufReader::new(endless), &mut order).expect("a recording");
    order.finish().expect("in order");
    assert_eq!(count.0, most);
    // A window of a million events of some hundred bytes.
    if let (Some(before), Some(after)) = (before, resident_kib()) {
        assert!(after - before < 300 << 10, "{} MiB", (after - before) >> 10);
    }
}

/// A line without an end is no event and takes no memory.
#[test]
fn a_line_without_an_end() {
    let mut count = Count(0, 0);
    let mut order = Order::new(&mut count);
    let long = std::io::repeat(b'x').take(200 << 20);
    assert!(read(BufReader::new(long), &mut order).is_err());
    // Packets that say they are longer than the file.
    let packet: &[u8] = &[0x0a, 0xff, 0xff, 0xff, 0x0f, 1];
    assert!(read(packet, &mut order).is_err());
}
