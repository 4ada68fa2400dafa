//! Recorded traces, told by their first bytes: they are no workloads.

/// Looked at for it, bytes.
const HEAD: usize = 4096;

/// What sort of recording a file is; None: none that is known.
///
/// Sources: perf tools/perf/util/header.h (`PERFILE2`), trace-cmd Documentation trace-cmd.dat.v6
/// (17 08 44 "tracing"), gzip, xz and zstd by their formats, Linux kernel/trace/trace.c
/// (`# tracer:`), trace-cmd report (`cpus=N`), Perfetto trace.proto (packets are field 1: byte
/// 0x0a), the Chrome trace event format.
pub(crate) fn kind(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"PERFILE2") || bytes.starts_with(b"2ELIFREP") {
        return Some("a recording of perf (perf.data)");
    }
    if bytes.starts_with(b"\x17\x08\x44tracing") {
        return Some("a recording of trace-cmd (trace.dat)");
    }
    let packed: [&[u8]; 3] = [b"\x1f\x8b", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"];
    if packed.iter().any(|magic| bytes.starts_with(magic)) {
        return Some("a compressed file, perhaps a recording");
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    let text = head.trim_ascii_start();
    let has = |part: &[u8]| head.windows(part.len()).any(|window| window == part);
    if text.starts_with(b"# tracer:") || text.starts_with(b"cpus=") || has(b": sched_switch: ") {
        return Some("a recording of ftrace (text)");
    }
    if text.starts_with(b"{") && has(b"\"traceEvents\"") {
        return Some("a recording for trace viewers (traceEvents)");
    }
    // An empty line may begin a text; what follows is no text in a protobuf.
    if bytes.first() == Some(&0x0a)
        && std::str::from_utf8(head).is_err_and(|e| e.error_len().is_some())
    {
        return Some("a recording of Perfetto");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn recordings_are_told_from_workloads() {
        let recordings: [&[u8]; 10] = [
            b"\x1f\x8b\x08\0",
            b"\xfd7zXZ\0\0",
            b"\x28\xb5\x2f\xfd\x04",
            b"PERFILE2h\0\0\0",
            b"\x17\x08\x44tracing6\0",
            b"# tracer: nop\n#\n",
            b"  cpus=8\n sh-12 [000] 5.1: sched_waking: comm=a",
            b" <idle>-0 [001] d..2. 7.000001: sched_switch: prev_comm=swapper/1",
            b"{\"traceEvents\":[{\"name\":\"a\"}]}",
            b"\x0a\x90\x01\x0a\xff\xfe\x80\x01",
        ];
        for bytes in recordings {
            assert!(kind(bytes).is_some(), "{}", bytes.escape_ascii());
        }
        let others: [&[u8]; 5] = [
            b"",
            b"{}",
            b"\n{\"tasks\":{}}",
            b"# a comment",
            "\n\u{e9}".as_bytes(),
        ];
        for bytes in others {
            assert_eq!(kind(bytes), None, "{}", bytes.escape_ascii());
        }
    }
}
