//! What sort of file it is that is given as a workload or a recording, told by how it begins: never
//! by a name that stands in it.

use crate::json::Text;

/// Looked at for it, bytes; a comment at the start does not count.
const HEAD: usize = 4096;

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A JSON object, as an rt-app file is.
    Json,
    /// A JSON object for trace viewers.
    TraceViewer,
    /// Text of ftrace, `trace-cmd report` or `perf script`.
    TraceText,
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
        return match has_key(&object[..object.len().min(HEAD)], b"traceEvents") {
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
    let text = head.trim_ascii_start();
    let has = |part: &[u8]| head.windows(part.len()).any(|window| window == part);
    if text.starts_with(b"# tracer:") || text.starts_with(b"cpus=") || has(b": sched_switch: ") {
        return Form::TraceText;
    }
    Form::Other
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
        let recordings: [&[u8]; 12] = [
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
        let others: [&[u8]; 5] = [
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
