//! Recordings: ftrace's text, what `trace-cmd report` and `perf script` print, and Perfetto's
//! protobuf, each read as a stream of events. What a recording says that is not about scheduling is
//! passed over.

mod fields;
pub(crate) mod order;
mod perfetto;
mod text;

use crate::event::Event;
use std::io::{BufRead, Read};

pub use order::{Order, Ordered};

/// What a reader finds, in the order of the file.
pub trait Sink {
    /// An event.
    ///
    /// # Errors
    /// It cannot be taken; the reader says where it stands.
    fn event(&mut self, event: &Event<'_>) -> Result<(), String>;
    /// The recorder lost events here.
    fn lost(&mut self);
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
const FORMS: &str = "text of ftrace, `trace-cmd report` or `perf script`, or a Perfetto trace";

/// Reads a recording to its end, whichever form it has.
///
/// # Errors
/// The form is none of those, something in it is damaged, or the sink refuses an event.
pub fn read(mut from: impl BufRead, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let head = head(&mut from)?;
    if let Some((kind, instead)) = other(&head) {
        return Err(ReadError::Wrong {
            place: "byte 0".to_owned(),
            problem: format!("it is {kind}"),
            expected: format!("{FORMS}: {instead}"),
        });
    }
    let from = (&head[..]).chain(from);
    // Of a text no line begins so: byte 0x0a is an empty line, and what follows is a length.
    let packets = head.first() == Some(&0x0a) && !looks_like_text(&head);
    match packets {
        true => perfetto::read(from, sink),
        false => text::read(std::io::BufReader::new(from), sink),
    }
}

/// The first bytes.
fn head(from: &mut impl BufRead) -> Result<Vec<u8>, ReadError> {
    let mut head = Vec::new();
    from.by_ref().take(4096).read_to_end(&mut head)?;
    Ok(head)
}

fn looks_like_text(head: &[u8]) -> bool {
    let control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\n' | b'\r' | b'\t' | 0x1b);
    !head.iter().any(control)
}

/// Recordings of other forms, and what makes one of these of them.
fn other(head: &[u8]) -> Option<(&'static str, &'static str)> {
    if head.starts_with(b"PERFILE2") || head.starts_with(b"2ELIFREP") {
        let instead = "`perf script -i FILE > FILE.txt` makes text of it";
        return Some(("a recording of perf (perf.data)", instead));
    }
    if head.starts_with(b"\x17\x08\x44tracing") {
        let instead = "`trace-cmd report -t -i FILE > FILE.txt` makes text of it";
        return Some(("a recording of trace-cmd (trace.dat)", instead));
    }
    let packed: [(&[u8], &str); 3] = [
        (b"\x1f\x8b", "`gunzip` unpacks it"),
        (b"\xfd7zXZ\0", "`unxz` unpacks it"),
        (b"\x28\xb5\x2f\xfd", "`unzstd` unpacks it"),
    ];
    let found = packed.iter().find(|(magic, _)| head.starts_with(magic));
    found.map(|(_, instead)| ("a compressed file", *instead))
}
