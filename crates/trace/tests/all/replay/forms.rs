//! The forms in which people have ftrace's events: one recording in each gives one workload, and
//! what is no such recording is named. The recording is two tasks by hand: `prod` runs 4 ms of 16
//! and wakes `cons` at its end, which runs 3 ms.
//! Page: docs/guide/traces-in.md, "Forms"; docs/rules/traces.md#trace-events.
//!
//! What must stay: one recording in each form gives one workload; what is none is named with what
//! to give instead.
//! Tests by part (in crates/trace/src): event.rs: `raw_fields_say_the_same` (`left_with`);
//! read/fields.rs: `raw_fields_say_the_same` (`switch`, `state`); read/mod.rs:
//! `pages_and_json_with_the_text_in_them` (`read`, `within`), `other_forms_are_named` (`other`,
//! `head`); read/text.rs: `pages_and_json_with_the_text_in_them` (`before_quote`),
//! `unreadable_lines_are_quoted` (`judge`, `read_event`); replay/mod.rs:
//! `a_recording_without_wakeups_says_so_once` (`load_bytes`).
//! Helpers, and who fails with them: `switch`, `events`, `text` (all tests); `spec`, `workload`
//! (`raw_fields_say_the_same`, `pages_and_json_with_the_text_in_them`,
//! `a_recording_without_wakeups_says_so_once`); `refusal` (`other_forms_are_named`,
//! `unreadable_lines_are_quoted`).

use wakeplace_trace::load_bytes;
use wakeplace_workload::{MachineFacts, Spec, Workload};

/// A line of the recording: who, CPU, us, event, fields.
type Event = (&'static str, u32, u64, &'static str, String);

fn switch(prev: (&str, u32), state: &str, next: (&str, u32)) -> String {
    format!(
        "prev_comm={} prev_pid={} prev_prio=120 prev_state={state} ==> next_comm={} next_pid={} \
         next_prio=120",
        prev.0, prev.1, next.0, next.1
    )
}

fn events() -> Vec<Event> {
    let (prod, cons) = (("prod", 300), ("cons", 301));
    let (idle0, idle1) = (("swapper/0", 0), ("swapper/1", 0));
    let woken = |(comm, pid): (&str, u32)| format!("comm={comm} pid={pid} prio=120 target_cpu=001");
    let mut all = Vec::new();
    for at in [100_000, 116_000, 132_000] {
        all.extend([
            ("<idle>-0", 0, at, "sched_waking", woken(prod)),
            ("<idle>-0", 0, at, "sched_switch", switch(idle0, "R", prod)),
            ("prod-300", 0, at + 4000, "sched_waking", woken(cons)),
            (
                "prod-300",
                0,
                at + 4000,
                "sched_switch",
                switch(prod, "S", idle0),
            ),
            (
                "<idle>-0",
                1,
                at + 4100,
                "sched_switch",
                switch(idle1, "R", cons),
            ),
            (
                "cons-301",
                1,
                at + 7100,
                "sched_switch",
                switch(cons, "D", idle1),
            ),
        ]);
    }
    all
}

/// As /sys/kernel/tracing/trace prints it.
fn text() -> String {
    let mut text = "# tracer: nop\n#\n".to_owned();
    for (who, cpu, us, name, fields) in events() {
        let (s, us) = (us / 1_000_000, us % 1_000_000);
        text += &format!("{who:>16} [{cpu:03}] d..2. {s}.{us:06}: {name}: {fields}\n");
    }
    text
}

fn spec(bytes: &[u8]) -> Spec {
    load_bytes("trace:x.txt", bytes, None).expect("a recording")
}

fn workload(bytes: &[u8]) -> Workload {
    spec(bytes).expand(1, MachineFacts::alike(2)).expect("fits")
}

fn refusal(bytes: &[u8]) -> String {
    let refused = load_bytes("trace:x.txt", bytes, None);
    refused.map(drop).expect_err("no recording").to_string()
}

/// `trace-cmd report -R` prints no arrow, and states as numbers (libtraceevent, tep_print_field).
#[test]
fn raw_fields_say_the_same() {
    let raw = text().replace(" ==> ", " ");
    let in_numbers = |text: &str, numbers: [&str; 3]| {
        let letters = ["prev_state=R ", "prev_state=S ", "prev_state=D "];
        let both = letters.into_iter().zip(numbers);
        both.fold(text.to_owned(), |text, (letter, number)| {
            text.replace(letter, &format!("prev_state={number} "))
        })
    };
    // R 0, S 1, D 2 (docs/rules/traces.md#trace-events); a `long` of 32 bits is hexadecimal.
    let letters = workload(text().as_bytes());
    for numbers in [["0", "1", "2"], ["0x0", "0x1", "0x2"]] {
        assert_eq!(workload(in_numbers(&raw, numbers).as_bytes()), letters);
    }
    // Preempted (256) is no sleep: `prod` goes on at once, so that it sleeps in one step less.
    let preempted = in_numbers(&raw, ["0", "256", "2"]);
    assert_ne!(workload(preempted.as_bytes()), letters);
}

/// Pages of systrace: the trace as text, or as a string of JavaScript in one line or in several;
/// JSON for trace viewers has it in a string of its own.
#[test]
fn pages_and_json_with_the_text_in_them() {
    let plain = workload(text().as_bytes());
    let script = "<script>\n// a line with sched_switch: in it\nfunction f(a) { return a[0]; }\n";
    let begin = format!("<!DOCTYPE html>\n<html>\n{script}");
    let end = ";\nrun();\n</script></html>\n";
    let escaped = text().replace('\n', "\\n");
    let lines = text().replace('\n', "\\n\\\n");
    let without_end = escaped.strip_suffix("\\n").expect("a line's end");
    for page in [
        format!(
            "{begin}</script><script class=\"trace-data\">\n{}\n</script></html>",
            text()
        ),
        format!("{begin}var linuxPerfData = \"\\\n{lines}\"{end}"),
        format!("{begin}var linuxPerfData = \"{escaped}\"{end}"),
        format!("{begin}var linuxPerfData = \"{without_end}\"{end}"),
        format!("{{\"traceEvents\":[{{\"ph\":\"X\"}}],\n\"systemTraceEvents\":\"{escaped}\"}}"),
        format!("{{\"systemTraceEvents\":\"{without_end}\",\"traceEvents\":[]}}"),
        format!(
            "{{\"traceEvents\":[],\"systemTraceEvents\":\"{}\"}}",
            escaped.replace('<', "\\u003c").replace('>', "\\u003e")
        ),
    ] {
        assert_eq!(workload(page.as_bytes()), plain, "{page}");
    }
}

/// Goal: whoever gives something else reads what it is, where, and what to give instead.
#[test]
fn other_forms_are_named() {
    let lttng = "[15:34:29.123456789] (+0.000001234) host sched_switch: { cpu_id = 3 }, \
                 { prev_comm = \"swapper/3\", prev_tid = 0, prev_prio = 20, prev_state = 0 }\n";
    let latency = "cpus=2\n  <idle>-0       0dN.2  100.000000: sched_wakeup: prod:300 [120] \
                   CPU:000\n";
    let page = "<html><body>nothing</body></html>\n";
    let one_line = "  prod-101 [000] 100.000000: sched_waking: comm=cons pid=102 prio=120 \
                    target_cpu=001";
    for (text, is, instead) in [
        (
            lttng,
            "a recording of LTTng (text of babeltrace)",
            "`trace-cmd record -e sched`",
        ),
        (
            "Attaching 3 probes...\n@[bash]: 1\n",
            "output of bpftrace",
            "`trace-cmd record",
        ),
        (
            latency,
            "text in the latency format",
            "`trace-cmd report -t` without `-l`",
        ),
        (
            "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1}]}",
            "no event of the scheduler as text of ftrace in the JSON for trace viewers",
            "systemTraceEvents",
        ),
        (
            "[{\"ph\":\"X\",\"ts\":1}]",
            "in the JSON for trace viewers (traceEvents)",
            "Perfetto",
        ),
        (
            &format!(
                "{{\"traceEvents\":[{{\"ph\":\"X\",\"args\":{{\"ftrace\":\"{one_line}\"}}}}]}}"
            ),
            "no event of the scheduler as text of ftrace in the JSON for trace viewers",
            "systemTraceEvents",
        ),
        (
            page,
            "no event of the scheduler as text of ftrace in the page",
            "systemTraceEvents",
        ),
    ] {
        let said = refusal(text.as_bytes());
        assert!(said.contains(is) && said.contains(instead), "{said}");
    }
}

/// Goal: a line that cannot be read is in the message, with its number and why.
#[test]
fn unreadable_lines_are_quoted() {
    let damaged = text().replacen("prev_state=S", "prev_stat=S", 1);
    let said = refusal(damaged.as_bytes());
    let line = "line 6: an event sched_switch without its fields: `prod-300 [000] d..2. 0.104000: ";
    assert!(said.contains(line), "{said}");
    let untimed = text().replacen("0.104000:", "104000:", 1);
    let said = refusal(untimed.as_bytes());
    let why = "line 5: an event sched_waking whose CPU or time cannot be read: `prod-300 [000]";
    assert!(said.contains(why), "{said}");
    // In a page, too: here no event can be read.
    let page = format!(
        "<html>\n{}</html>\n",
        text().replace("prev_", "was_").replace("pid", "p")
    );
    let said = refusal(page.as_bytes());
    assert!(
        said.contains("line 4: an event sched_waking without its fields: `<idle>-0"),
        "{said}"
    );
}

/// Goal: switches alone say nothing of who woke whom or since when a task was due: one warning
/// instead of a count, and a workload of which no latency is measured.
#[test]
fn a_recording_without_wakeups_says_so_once() {
    let whole = text();
    let lines = whole.lines().filter(|line| !line.contains("sched_waking"));
    let switches: String = lines.map(|line| format!("{line}\n")).collect();
    let spec = spec(switches.as_bytes());
    let about = |line: &&String| line.contains("wak") || line.contains("woken");
    let about: Vec<&String> = spec.warnings.iter().filter(about).collect();
    let [line] = about.as_slice() else {
        panic!("{about:?}");
    };
    assert!(
        line.starts_with("the recording has no sched_waking and no sched_wakeup"),
        "{line}"
    );
    assert!(workload(switches.as_bytes()).wakeups_unknown);
    // With wake-ups nothing of it is said.
    assert!(!workload(whole.as_bytes()).wakeups_unknown);
    let said = load_bytes("trace:x.txt", whole.as_bytes(), None).expect("a recording");
    assert!(
        !said
            .warnings
            .iter()
            .any(|line| line.contains("sched_waking"))
    );
    // `sched_wakeup` is enough.
    let wakeups = whole.replace("sched_waking", "sched_wakeup");
    assert!(!workload(wakeups.as_bytes()).wakeups_unknown);
}
