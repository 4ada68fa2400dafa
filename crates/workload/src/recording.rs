//! What sort of file it is that is given as a workload or a recording, told by how it begins: never
//! by a name that stands in it (docs/guide/traces-in.md, "Forms").
//!
//! Called before a file is read, by `Spec::parse` and `wakeplace_trace`. Only the first bytes
//! decide. A form that is told here is not always one that can be read; then the message names what
//! makes one of it.
//!
//! What must stay: names of tasks decide nothing; a recording that is given as a workload is
//! refused with the name of its form. Free: what leaves scripts as they are (ARCHITECTURE.md, "What
//! a change may touch"), and words of messages that no test quotes. Tests by part:
//! `recordings_are_told_from_workloads` (`form`, `recording`, `object`, `has_key`),
//! `other_tools_are_known_by_their_lines` (`text_form`, `attaches_probes`, `is_latency_line`),
//! `names_of_tasks_decide_nothing` (`has_key`, `end_of_string`),
//! said.rs::`a_check_names_what_is_no_rtapp_file` (messages on the command line).
//!
//! Tests: below, crates/cli/tests/all/said.rs

use crate::json::Text;

/// Looked at for it, bytes; a comment at the start does not count.
const HEAD: usize = 4096;

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A JSON object, as an rt-app file is.
    Json,
    /// JSON for trace viewers.
    TraceViewer,
    /// A page of HTML, as systrace writes.
    Page,
    /// Text of ftrace, `trace-cmd report` or `perf script`.
    TraceText,
    /// Text of `trace-cmd report -l`, or of ftrace with its option latency-format.
    LatencyText,
    /// Text of LTTng, as babeltrace prints it.
    Lttng,
    /// What bpftrace printed.
    Bpftrace,
    /// Packets of Perfetto.
    Perfetto,
    /// perf.data.
    Perf,
    /// trace.dat.
    TraceCmd,
    /// Packed, and by what it is unpacked.
    Packed(&'static str),
    /// Text or bytes of some other sort.
    Other,
}

impl Form {
    /// In words, if it is a recording.
    pub(crate) fn recording(self) -> Option<&'static str> {
        match self {
            Self::Perf => Some("a recording of perf (perf.data)"),
            Self::TraceCmd => Some("a recording of trace-cmd (trace.dat)"),
            Self::Packed(_) => Some("a compressed file, perhaps a recording"),
            Self::TraceText => Some("a recording of ftrace (text)"),
            Self::TraceViewer => Some("a recording for trace viewers (traceEvents)"),
            Self::Page => Some("a page of HTML, perhaps of systrace"),
            Self::LatencyText => Some("a recording of ftrace in the latency format"),
            Self::Lttng => Some("a recording of LTTng (text of babeltrace)"),
            Self::Bpftrace => Some("output of bpftrace"),
            Self::Perfetto => Some("a recording of Perfetto"),
            Self::Json | Self::Other => None,
        }
    }
}

/// The form of a file that begins with these bytes.
///
/// Sources: perf tools/perf/util/header.h (`PERFILE2`), trace-cmd Documentation trace-cmd.dat.v6
/// (17 08 44 "tracing"), gzip, xz and zstd by their formats, Linux kernel/trace/trace.c
/// (`# tracer:`), trace-cmd report (`cpus=N`), Perfetto trace.proto (packets are field 1: byte
/// 0x0a), the Chrome trace event format.
#[must_use]
pub fn form(bytes: &[u8]) -> Form {
    if bytes.starts_with(b"PERFILE2") || bytes.starts_with(b"2ELIFREP") {
        return Form::Perf;
    }
    if bytes.starts_with(b"\x17\x08\x44tracing") {
        return Form::TraceCmd;
    }
    let packed: [(&[u8], &str); 3] = [
        (b"\x1f\x8b", "gunzip"),
        (b"\xfd7zXZ\0", "unxz"),
        (b"\x28\xb5\x2f\xfd", "unzstd"),
    ];
    if let Some((_, tool)) = packed.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Form::Packed(tool);
    }
    if let Some(object) = object(bytes) {
        let begin = &object[..object.len().min(HEAD)];
        let of_viewer = [&b"traceEvents"[..], b"systemTraceEvents"];
        return match of_viewer.iter().any(|key| has_key(begin, key)) {
            true => Form::TraceViewer,
            false => Form::Json,
        };
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    let control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\n' | b'\r' | b'\t' | 0x1b);
    // Of a text no line begins so: byte 0x0a is an empty line, and what follows is a length.
    if bytes.first() == Some(&0x0a) && head.iter().any(control) {
        return Form::Perfetto;
    }
    text_form(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head))
}

/// The form of a text that begins so.
fn text_form(head: &[u8]) -> Form {
    let text = head.trim_ascii_start();
    let has = |part: &[u8]| head.windows(part.len()).any(|window| window == part);
    let begins = |word: &str| {
        let start = text.get(..word.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    };
    if begins("<!doctype html") || begins("<html") {
        return Form::Page;
    }
    if text.starts_with(b"[") && has(b"\"ph\"") {
        return Form::TraceViewer;
    }
    if has(b": { cpu_id = ") {
        return Form::Lttng;
    }
    if attaches_probes(text) {
        return Form::Bpftrace;
    }
    if head.split(|byte| *byte == b'\n').any(is_latency_line) {
        return Form::LatencyText;
    }
    if text.starts_with(b"# tracer:") || text.starts_with(b"cpus=") || has(b": sched_switch: ") {
        return Form::TraceText;
    }
    Form::Other
}

/// `Attaching 3 probes...`, or `Attached 3 probes`.
fn attaches_probes(text: &[u8]) -> bool {
    let line = text.split(|byte| *byte == b'\n').next();
    let line = String::from_utf8_lossy(line.unwrap_or_default());
    let mut words = line.split(' ');
    let verb = matches!(words.next(), Some("Attaching" | "Attached"));
    let number = words.next().is_some_and(|word| word.parse::<u32>().is_ok());
    verb && number && words.next().is_some_and(|word| word.starts_with("probe"))
}

/// `COMM-PID CPUFLAGS TIME: EVENT:`, the number of the CPU without brackets and the flags at it
/// (trace-cmd tracecmd/trace-read.c, `%8.8s-%-5d %3d` and the latency flags; kernel/trace/
/// trace_output.c, `trace_print_lat_context`).
fn is_latency_line(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let words: Vec<&str> = line.split_ascii_whitespace().take(12).collect();
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_task = |word: &str| word.rsplit_once('-').is_some_and(|(_, pid)| is_digits(pid));
    let is_flags = |word: &str| {
        let flags = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let known = |b: u8| b.is_ascii_alphanumeric() || b == b'.' || b == b'#';
        let begins = flags.starts_with(['.', 'd', 'D', 'X', 'b', 'B']);
        begins && flags.len() < word.len() && flags.len() >= 3 && flags.bytes().all(known)
    };
    let is_time = |word: &str| {
        let time = word.trim_end_matches([':', '!', '+', '#', '*', '@', '$']);
        let seconds = time.split_once('.');
        seconds.is_some_and(|(seconds, part)| is_digits(seconds) && is_digits(part))
            || time.strip_suffix("us").is_some_and(is_digits)
    };
    let mut windows = words.windows(3);
    windows.any(|words| is_task(words[0]) && is_flags(words[1]) && is_time(words[2]))
}

/// The bytes from the `{` on, if a JSON object begins the file: only blanks and comments may stand
/// before.
fn object(bytes: &[u8]) -> Option<&[u8]> {
    let mut text = Text::new(bytes);
    text.skip_blanks().ok()?;
    let object = text.rest();
    text.take().filter(|byte| *byte == b'{')?;
    // A packet of Perfetto with 123 bytes begins with an empty line and a `{`, too.
    let _ = text.skip_blanks();
    let begins = matches!(text.peek(), None | Some(b'"' | b'\'' | b'}'));
    (begins || bytes.first() != Some(&0x0a)).then_some(object)
}

/// Whether the outermost object has this key, as far as it is there.
fn has_key(object: &[u8], key: &[u8]) -> bool {
    let mut depth = 0;
    let mut at = 0;
    while at < object.len() {
        match object[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b'"' | b'\'' => {
                let end = end_of_string(object, at);
                let after = object.get(end + 1..).unwrap_or_default();
                let is_key = after.trim_ascii_start().starts_with(b":");
                if depth == 1 && is_key && object[at + 1..end] == *key {
                    return true;
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    false
}

/// Where the string that begins at `at` has its closing quote, or the text its end.
fn end_of_string(text: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < text.len() && text[end] != text[at] {
        end += if text[end] == b'\\' { 2 } else { 1 };
    }
    end.min(text.len())
}

#[cfg(test)]
mod tests {
    use super::{Form, form};

    #[test]
    fn recordings_are_told_from_workloads() {
        let recordings: [&[u8]; 13] = [
            b"[{\"ph\": \"X\", \"ts\": 1}]",
            b"\x1f\x8b\x08\0",
            b"\xfd7zXZ\0\0",
            b"\x28\xb5\x2f\xfd\x04",
            b"PERFILE2h\0\0\0",
            b"\x17\x08\x44tracing6\0",
            b"# tracer: nop\n#\n",
            b"  cpus=8\n sh-12 [000] 5.1: sched_waking: comm=a",
            b" <idle>-0 [001] d..2. 7.000001: sched_switch: prev_comm=swapper/1",
            b"{\"traceEvents\":[{\"name\":\"a\"}]}",
            b"{ \"unit\": {\"a\": [\"\\\"\"]}, \"traceEvents\" : []}",
            b"\x0a\x90\x01\x0a\xff\xfe\x80\x01",
            // A packet of 123 bytes.
            b"\x0a{\x0a\x79\x08\x01",
        ];
        for bytes in recordings {
            let form = form(bytes);
            assert!(
                form.recording().is_some(),
                "{form:?}: {}",
                bytes.escape_ascii()
            );
        }
        let others: [&[u8]; 7] = [
            b"[1, 2]",
            b"Attaching importance to probes",
            b"",
            b"{}",
            b"\n{\"tasks\":{}}",
            b"# a comment",
            b"\n\xc3\xa9",
        ];
        for bytes in others {
            assert_eq!(form(bytes).recording(), None, "{}", bytes.escape_ascii());
        }
    }

    /// Goal: forms that other tools print, as their documents show them.
    #[test]
    fn other_tools_are_known_by_their_lines() {
        let lttng = "[15:34:29.123456789] (+0.000001234) host sched_switch: { cpu_id = 3 }, \
                     { prev_comm = \"swapper/3\", prev_tid = 0 }";
        for (text, expected) in [
            (lttng, Form::Lttng),
            ("Attaching 3 probes...\n@[bash]: 1\n", Form::Bpftrace),
            ("Attached 1 probe\n", Form::Bpftrace),
            (
                "cpus=8\n  <idle>-0       3dN.2  7153.123456: sched_wakeup: a:1",
                Form::LatencyText,
            ),
            (
                "# tracer: nop\n  <idle>-0       0d.h1.    5us+: sched_waking: c",
                Form::LatencyText,
            ),
            (
                "cpus=8\n  <idle>-0     [003] dN.2  7153.123456: sched_wakeup: a:1",
                Form::TraceText,
            ),
            ("<!DOCTYPE html>\n<html>", Form::Page),
            ("\u{feff}  <HTML lang=en>", Form::Page),
            ("{\"systemTraceEvents\": \"# tracer\"}", Form::TraceViewer),
        ] {
            assert_eq!(form(text.as_bytes()), expected, "{text}");
        }
    }

    /// Whatever its tasks are called, an object is no recording.
    #[test]
    fn names_of_tasks_decide_nothing() {
        for name in [
            "<idle>-0 [001] d..2. 7.000001: sched_switch: prev_comm=swapper/1",
            "# tracer: nop",
            "traceEvents",
            "x\\\"traceEvents",
        ] {
            for start in [
                "{\"tasks\": {",
                "\n/* : sched_switch: */ { \"tasks\": {",
                "//\n{'a':{",
            ] {
                let text = format!("{start}\"{name}\": {{\"run\": 1}}}}}}");
                assert_eq!(form(text.as_bytes()), Form::Json, "{text}");
            }
        }
    }
}
