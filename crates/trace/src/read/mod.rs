//! Recordings: ftrace's text, what `trace-cmd report` and `perf script` print, pages and JSON that
//! have such text in a string, and Perfetto's protobuf, each read as a stream of events. What a
//! recording says that is not about scheduling is passed over (docs/guide/traces-in.md, "Forms").
//!
//! What must stay: forms that are read stay readable; memory does not grow with the file; what is
//! no recording has one message with what to give instead. Times are ns. Free: what leaves the
//! scripts of recordings as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! replay/forms.rs::`other_forms_are_named` (`other`, `head`),
//! replay/forms.rs::`pages_and_json_with_the_text_in_them` (`read`, `within`),
//! `what_is_no_recording_has_one_message` (errors),
//! replay/stream.rs::`a_long_recording_is_read_in_bounded_memory` (`read`). What a sink of events
//! has (`event`, `lost`, `cpus`, `cpu_info`, `cut`) is with who has one: read/order.rs,
//! replay/mod.rs, replay/tracker.rs.
//!
//! Callers: replay/mod.rs (`read`).
//!
//! Tests: crates/trace/tests/all/replay/forms.rs,
//! crates/trace/tests/all/replay/mod.rs::what_is_no_recording_has_one_message,
//! crates/trace/tests/all/replay/stream.rs

mod escapes;
mod fields;
pub(crate) mod order;
mod perfetto;
mod system_events;
mod text;

use crate::event::Event;
use escapes::Unescaped;
use std::io::{BufRead, BufReader, Read};
use system_events::SystemEvents;
use text::Place;
use wakeplace_workload::{Form, form};

pub use order::{Order, Ordered};
pub use text::Line;

/// What a reader finds, in the order of the file.
pub trait Sink {
    /// An event.
    ///
    /// # Errors
    /// It cannot be taken; the reader says where it stands.
    fn event(&mut self, event: &Event<'_>) -> Result<(), String>;
    /// The recorder lost events here: of that CPU, before its next event in the file. None: of
    /// which CPU is not said.
    fn lost(&mut self, cpu: Option<u32>);
    /// The recording was made on so many CPUs.
    fn cpus(&mut self, count: u32);
    /// Capacity and highest frequency of a CPU, kHz, where the recording has them.
    fn cpu_info(&mut self, cpu: u32, capacity: Option<u32>, khz: Option<u32>);
    /// A line or packet that is none, at the end of a file that was cut off.
    fn cut(&mut self);
}

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Something stands where it cannot.
    #[error("{place}: {problem}; expected {expected}")]
    Wrong {
        /// `line N`, or `byte N` of a protobuf.
        place: String,
        /// What is wrong.
        problem: String,
        /// What was expected.
        expected: String,
    },
    /// The system cannot read it.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
}

/// The forms that are read.
const FORMS: &str = "text of ftrace, `trace-cmd report` or `perf script`, alone or in a page or \
                     JSON (systemTraceEvents), or a Perfetto trace";

/// Reads a recording to its end, whichever form it has.
///
/// # Errors
/// The form is none of those, something in it is damaged, or the sink refuses an event.
pub fn read(mut from: impl BufRead, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let head = head(&mut from)?;
    let form = form(&head);
    if let Some((kind, instead)) = other(form) {
        return Err(ReadError::Wrong {
            place: "byte 0".to_owned(),
            problem: format!("it is {kind}"),
            expected: format!("{FORMS}: {instead}"),
        });
    }
    let from = (&head[..]).chain(from);
    match form {
        Form::Perfetto => perfetto::read(from, sink),
        Form::Page => within("the page", from, sink),
        Form::TraceViewer => {
            let events = SystemEvents::new(BufReader::new(from));
            within("the JSON for trace viewers (traceEvents)", events, sink)
        }
        _ => text::read(BufReader::new(from), Place::Alone, sink),
    }
}

/// Reads text of ftrace that stands in a string of a file.
fn within(what: &'static str, from: impl Read, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let text = Unescaped::new(BufReader::new(from));
    text::read(BufReader::new(text), Place::Within(what), sink)
}

/// The first bytes.
fn head(from: &mut impl BufRead) -> Result<Vec<u8>, ReadError> {
    let mut head = Vec::new();
    from.by_ref().take(4096).read_to_end(&mut head)?;
    Ok(head)
}

/// Files of other forms, and what makes one of these of them.
fn other(form: Form) -> Option<(&'static str, String)> {
    let unpack = |tool: &str| format!("`{tool}` unpacks it");
    let (kind, instead) = match form {
        Form::Perf => {
            let instead = "`perf script -i FILE > FILE.txt` makes text of it";
            ("a recording of perf (perf.data)", instead.to_owned())
        }
        Form::TraceCmd => {
            let instead = "`trace-cmd report -t -i FILE > FILE.txt` makes text of it";
            ("a recording of trace-cmd (trace.dat)", instead.to_owned())
        }
        Form::Packed(tool) => ("a compressed file", unpack(tool)),
        Form::LatencyText => {
            let instead = "`trace-cmd report -t` without `-l`, ftrace without its option \
                           latency-format";
            ("text in the latency format", instead.to_owned())
        }
        Form::Lttng => {
            let instead = "`trace-cmd record -e sched` records the same events";
            (
                "a recording of LTTng (text of babeltrace)",
                instead.to_owned(),
            )
        }
        Form::Bpftrace => {
            let instead = "`trace-cmd record -e sched` records all switches and wake-ups";
            ("output of bpftrace", instead.to_owned())
        }
        Form::Json => (
            "JSON",
            "an rt-app file is given without `trace:`".to_owned(),
        ),
        Form::TraceText | Form::TraceViewer | Form::Page | Form::Perfetto | Form::Other => {
            return None;
        }
    };
    Some((kind, instead))
}
