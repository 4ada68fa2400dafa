//! What applications write into a recording: slices of their threads and counters, as atrace and
//! systrace have them (docs/rules/traces.md#marks). Of all slices only those that say where a frame
//! begins and where it is drawn have a name here, so that no name is kept.
//!
//! What must stay: a mark that is none of these, or lacks its process, is passed over; nothing of
//! it is kept. Free: what leaves the scripts of recordings as they are (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part: `marks_as_android_writes_them` (`of_text`, `parse`, `begins`,
//! `is_numbered`, `counter`), `what_is_no_mark_is_passed_over` (the same).
//!
//! Callers: text.rs (`of_text`), perfetto.rs (`parse`).
//!
//! Tests: below

/// Names of the events in text that have marks: ftrace prints where the text comes from in the
/// event's place, `trace-cmd report` and `perf script` the event.
const EVENTS: [&str; 2] = ["tracing_mark_write", "print"];

/// What a thread has marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// It begins a frame of this process.
    Frame {
        /// Number of the process.
        process: i32,
    },
    /// It begins to draw a frame of this process.
    Draw {
        /// Number of the process.
        process: i32,
    },
    /// It begins anything else.
    Slice,
    /// What it began last is done.
    End,
    /// A counter that changes with each vsync.
    Vsync {
        /// Which.
        source: Vsync,
        /// Its value from now on.
        value: i64,
    },
}

/// Counters of vsync, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vsync {
    /// `VSYNC-app`: applications are told.
    App,
    /// `VSYNC-sf`: the compositor is told.
    Compositor,
    /// `VSYNC`: the display's.
    Display,
}

impl Vsync {
    /// All of them, the best first.
    pub const ALL: [Self; 3] = [Self::App, Self::Compositor, Self::Display];

    /// The counter's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::App => "VSYNC-app",
            Self::Compositor => "VSYNC-sf",
            Self::Display => "VSYNC",
        }
    }
}

/// A mark with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marked {
    /// When, ns.
    pub time_ns: u64,
    /// Where.
    pub cpu: u32,
    /// The thread.
    pub pid: i32,
    /// What.
    pub mark: Mark,
}

/// The mark of an event of text; None: it has none that is looked at.
pub(super) fn of_text(event: &str, fields: &str) -> Option<Mark> {
    if !EVENTS.contains(&event) {
        return None;
    }
    // Behind the event's name the function or the address that wrote it.
    let text = match fields.split_once(": ") {
        Some((from, text)) if !from.contains(['|', ' ']) => text,
        _ => fields,
    };
    parse(text.trim_start())
}

/// `B|PROCESS|NAME`, `E|PROCESS` and `C|PROCESS|NAME|VALUE`.
pub(super) fn parse(text: &str) -> Option<Mark> {
    let text = text.trim_end_matches(['\n', '\0', ' ']);
    let (phase, rest) = text.split_once('|').unwrap_or((text, ""));
    if phase == "E" {
        return Some(Mark::End);
    }
    let (process, name) = rest.split_once('|')?;
    let process: i32 = process.trim().parse().ok()?;
    match phase {
        "B" => Some(begins(process, name)),
        "C" => counter(name),
        _ => None,
    }
}

/// A slice of that name begins.
fn begins(process: i32, name: &str) -> Mark {
    // `Choreographer#doFrame - resynced to N in T` stands inside of the frame's own slice.
    if let Some(rest) = name.strip_prefix("Choreographer#doFrame")
        && is_numbered(rest)
    {
        return Mark::Frame { process };
    }
    if let Some(rest) = name.strip_prefix("DrawFrame")
        && is_numbered(rest.strip_prefix('s').unwrap_or(rest))
    {
        return Mark::Draw { process };
    }
    Mark::Slice
}

/// Nothing, or the number of a vsync, stands behind a name.
fn is_numbered(rest: &str) -> bool {
    let number = rest.strip_prefix(' ').map(str::trim_end);
    rest.is_empty() || number.is_some_and(|number| number.parse::<i64>().is_ok())
}

/// `NAME|VALUE` of a counter.
fn counter(text: &str) -> Option<Mark> {
    let mut parts = text.split('|');
    let name = parts.next()?;
    let source = Vsync::ALL.into_iter().find(|one| one.name() == name)?;
    let value = parts.next()?.trim().parse().ok()?;
    Some(Mark::Vsync { source, value })
}

#[cfg(test)]
mod tests {
    use super::{Mark, Vsync, of_text};

    /// Goal: marks as the tools print them (docs/rules/traces.md#marks).
    #[test]
    fn marks_as_android_writes_them() {
        let process = 1636;
        for (event, fields, mark) in [
            (
                "tracing_mark_write",
                "B|1636|Choreographer#doFrame",
                Mark::Frame { process },
            ),
            (
                "print",
                "tracing_mark_write: B|1636|Choreographer#doFrame 55112",
                Mark::Frame { process },
            ),
            (
                "tracing_mark_write",
                "B|1636|Choreographer#doFrame - resynced to 55120 in 21.1ms",
                Mark::Slice,
            ),
            ("print", "0x0: B|1636|DrawFrame", Mark::Draw { process }),
            ("print", "B|1636|DrawFrames 55112", Mark::Draw { process }),
            ("print", "B|1636|DrawFrameTask: 7", Mark::Slice),
            ("print", "B|1636|", Mark::Slice),
            ("tracing_mark_write", "E|1636", Mark::End),
            ("tracing_mark_write", "E", Mark::End),
            (
                "tracing_mark_write",
                "C|610|VSYNC-app|1",
                Mark::Vsync {
                    source: Vsync::App,
                    value: 1,
                },
            ),
            (
                "print",
                "C|610|VSYNC-sf|0|Blob",
                Mark::Vsync {
                    source: Vsync::Compositor,
                    value: 0,
                },
            ),
        ] {
            assert_eq!(of_text(event, fields), Some(mark), "{event}: {fields}");
        }
    }

    /// Goal: what lacks its process or value, or is another sort, is none.
    #[test]
    fn what_is_no_mark_is_passed_over() {
        for fields in [
            "",
            "|",
            "B",
            "B|Choreographer#doFrame",
            "B||Choreographer#doFrame",
            "B|x|Choreographer#doFrame",
            "B|99999999999|Choreographer#doFrame",
            "S|1636|Choreographer#doFrame|7",
            "F|1636|Choreographer#doFrame|7",
            "I|1636|VSYNC-app",
            "C|610|VSYNC-app|",
            "C|610|VSYNC-app|high",
            "C|610|VSYNC-appSf|1",
            "trace_event_clock_sync: parent_ts=1.5",
            "some text: of anybody",
        ] {
            assert_eq!(of_text("print", fields), None, "{fields}");
        }
        assert_eq!(of_text("sched_waking", "E|1"), None);
    }
}
