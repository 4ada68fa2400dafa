//! Loads `callbacks.bpf.o` and prints a line for each record of a callback: the task's name, the
//! callback, and the flags that it was given. It looks for records every 20 ms.
//!
//! crates/cli/tests/all/callbacks.rs starts it, in the simulator and in guests with other kernels
//! (docs/rules/sched-ext.md#tasks), and reads its lines.
//!
//! What must stay: the form of a line ("callback TASK WHAT FLAGS") and of a record, which is that
//! of crates/foreign/tests/schedulers/callbacks.bpf.c.

use libbpf_rs::{MapCore as _, MapType, ObjectBuilder, RingBufferBuilder};
use std::io::Write as _;
use std::thread;
use std::time::Duration;

/// `struct record` of callbacks.bpf.c: two texts of 16 bytes, a word.
const RECORD: usize = 40;

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
}

fn print(record: &[u8]) -> i32 {
    let record: &[u8; RECORD] = record.try_into().expect("a record");
    let flags = u64::from_ne_bytes(record[32..].try_into().expect("eight bytes"));
    let (comm, what) = (text(&record[..16]), text(&record[16..32]));
    let written = writeln!(std::io::stdout(), "callback {comm} {what} {flags}");
    i32::from(written.is_err())
}

fn main() {
    let path = std::env::args().nth(1).expect("an object");
    let open = ObjectBuilder::default().open_file(path).expect("an object");
    let mut object = open.load().expect("loaded");
    let _link = {
        let mut maps = object.maps_mut();
        let table = maps.find(|map| map.map_type() == MapType::StructOps);
        let mut table = table.expect("a table");
        table.attach_struct_ops().expect("attached")
    };
    let records = object.maps().find(|map| map.name() == "records");
    let records = records.expect("a ring buffer");
    let mut builder = RingBufferBuilder::new();
    builder.add(&records, print).expect("a ring buffer");
    let ring = builder.build().expect("a ring buffer");
    loop {
        thread::sleep(Duration::from_millis(20));
        ring.consume().expect("records");
        std::io::stdout().flush().expect("printed");
    }
}
