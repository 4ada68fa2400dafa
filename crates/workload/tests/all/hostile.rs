//! Input that means harm: mutated files never panic, and huge ones are refused at once.
//! Page: docs/internals/checks.md.
//!
//! What must stay: no input panics or takes long; what a small file can ask for is counted before
//! it is made. Mutations follow from the seed.
//! Tests by part (in crates/workload/src): rtapp and json: `mutated_files_never_panic`;
//! models/values.rs: `mutated_arguments_never_panic` (all of it); json/mod.rs:
//! `large_inputs_are_refused_or_read_at_once` (harmful texts); rtapp/template.rs:
//! `small_files_cannot_ask_for_much` (`size`, `roles`); rtapp/forks.rs:
//! `small_files_cannot_ask_for_much` (many forks).
//! Helpers, and who fails with them: `index`, `mutate` (`mutated_files_never_panic`,
//! `mutated_arguments_never_panic`).
use std::time::{Duration, Instant};
use wakeplace_workload::{Dialect, LoadOptions, MachineFacts, Spec, Stream, check_rtapp};

const SEEDS: [&[u8]; 6] = [
    include_bytes!("../fixtures/modelled.json"),
    include_bytes!("../../../../workloads/periodic-pair.json"),
    include_bytes!("../../../../workloads/ramp.json"),
    br#"{"resources":{"m":{"type":"mutex"}},"tasks":{"t":{"lock":"m","wait":{"ref":"q","mutex":"m"},
        "memrun":{"type":"chase","size":4096,"count":9,"ref":"r"},"suspend":"t","run":-5,
        "policy":"SCHED_DEADLINE","dl-runtime":5,"util_min":7,"taskgroup":"/a","cpus":["1",2.5]}},
        "global":{"ftrace":"main,none","log_size":"auto","calibration":"CPU1"}}"#,
    br#"{"tasks":{"t":{"instance":0,"barrier":"b","sem_post":"s","fork":"u",
        "timer":{"ref":"unique"}},"u":{"instance":2,"delay":3,"phases":{
        "p":{"fork":"t","mem":9,"policy":"SCHED_RR","priority":4},
        "q":{"policy":"SCHED_BATCH","dl-runtime":9,"sync":{"ref":"x"},"nodes_membind":[1,0],
        "taskgroup":"/g","memrun":{"type":"write","size":99,"count":7}}}}},
        "global":{"pi_enabled":true}}"#,
    br#"{"tasks":{"a":{"lock":"m","unlock":"m","suspend":"b","resume":"a","broadcast":"c",
        "signal":"c","iorun":4097,"yield":"","sem_wait":"s","barrier":"b","barrier2":"b",
        "util_max":9,"run":5,"taskgroup":"/","loop":2}},
        "global":{"io_device":"f","mem_buffer_size":64,"log_size":1}}"#,
];

/// Pieces that matter to the grammar, put in at random places.
const PIECES: [&str; 28] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "\\u",
    "\\",
    "-",
    "1e",
    "99999999999",
    "null",
    "True",
    "\"run\":1,",
    "\"suspend\",",
    "\"fork\":\"t\",",
    "\"instance\":0,",
    "\"barrier\":\"b\",",
    "\"phases\":{}",
    "\"loop\":0,",
    "\0",
    "\u{e9}",
    "0x",
];

fn index(stream: &mut Stream, length: usize) -> usize {
    stream.below(length as u64) as usize
}

fn mutate(text: &mut Vec<u8>, stream: &mut Stream) {
    for _ in 0..=stream.below(4) {
        let at = index(stream, text.len() + 1);
        match stream.below(5) {
            0 if at < text.len() => text[at] = stream.next_u64() as u8,
            1 if at < text.len() => drop(text.remove(at)),
            2 => text.truncate(at),
            3 => {
                let end = (at + index(stream, 40)).min(text.len());
                let copy = text[at..end].to_vec();
                let place = index(stream, text.len() + 1);
                text.splice(place..place, copy);
            }
            _ => {
                let piece = PIECES[index(stream, PIECES.len())];
                text.splice(at..at, piece.bytes());
            }
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test of wall time")]
fn mutated_files_never_panic() {
    let start = Instant::now();
    let (mut accepted, mut refused) = (0_u32, 0_u32);
    for round in 0..50_000_u64 {
        let mut stream = Stream::for_task(round, "hostile");
        let mut text = SEEDS[index(&mut stream, SEEDS.len())].to_vec();
        mutate(&mut text, &mut stream);
        let check = check_rtapp(&text, "m.json", 2);
        let options = LoadOptions {
            allow_unmodelled: round % 2 == 0,
            dialect: Dialect {
                workgen: round % 3 == 0,
                suspend_ref: round % 5 == 0,
            },
        };
        match Spec::parse_rtapp(&text, "m.json", &options) {
            Ok(spec) => {
                let _ = spec.expand(round, MachineFacts::alike(2));
                accepted += 1;
            }
            Err(error) => {
                assert!(
                    error.to_string().starts_with("m.json:"),
                    "round {round}: {error}"
                );
                refused += 1;
            }
        }
        if check.exit_code == 2 {
            assert!(
                check.message.starts_with("m.json:"),
                "round {round}: {}",
                check.message
            );
        }
    }
    // A mutation that always or never breaks a file would test nothing.
    assert!(
        accepted > 1_000 && refused > 1_000,
        "{accepted} accepted, {refused} refused"
    );
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn mutated_arguments_never_panic() {
    let seed = b"periodic:n=2,period=10ms,duty=5%,cal=cpu5,nice=-7,cpus=6+0-1,phase=2ms";
    for round in 0..10_000_u64 {
        let mut stream = Stream::for_task(round, "argument");
        let mut text = seed.to_vec();
        mutate(&mut text, &mut stream);
        // A line from a mutated name must not become a path or standard input.
        let text = String::from_utf8_lossy(&text).replace(['/', '\0'], "");
        let argument = format!(
            "periodic:{}",
            text.strip_prefix("periodic:").unwrap_or(&text)
        );
        if let Ok(spec) = Spec::parse(&argument, &LoadOptions::default()) {
            let _ = spec.expand(round, MachineFacts::alike(8));
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test of wall time")]
fn large_inputs_are_refused_or_read_at_once() {
    let start = Instant::now();
    let cases = [
        "[".repeat(16 << 20),
        "{\"a\":".repeat(3 << 20),
        format!(
            "{{\"tasks\":{{\"t\":{{\"cpus\":[{}0],\"run\":1}}}}}}",
            "1,".repeat(900_000)
        ),
        format!(
            "{{\"tasks\":{{\"t\":{{{}\"run\":1}}}}}}",
            "\"x\":1,".repeat(900_000)
        ),
        format!(
            "{{\"tasks\":{{\"{}\":{{\"run\":1}}}}}}",
            "n".repeat(15 << 20)
        ),
        format!(
            "{{\"tasks\":{{\"t\":{{\"run\":{}}}}}}}",
            "9".repeat(15 << 20)
        ),
    ];
    for text in cases {
        let _ = check_rtapp(&text, "l.json", 2);
        let _ = Spec::parse_rtapp(text.as_bytes(), "l.json", &LoadOptions::default());
    }
    let distinct: String = (0..900_000).map(|key| format!("\"cpu{key}\":1,")).collect();
    let _ = check_rtapp(
        format!("{{\"tasks\":{{\"t\":{{{distinct}\"run\":1}}}}}}"),
        "l.json",
        2,
    );
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
}

/// Goal: threads, forks, timers and node lists that a small file multiplies are counted before they
/// are made, and the fault has its place.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test of wall time")]
fn small_files_cannot_ask_for_much() {
    let start = Instant::now();
    let parse = |text: &str| {
        let spec = Spec::parse_rtapp(text.as_bytes(), "s.json", &LoadOptions::default());
        spec.map_err(|error| error.to_string())
    };
    let file = |tasks: &str| format!("{{\"tasks\":{{{tasks}}}}}");
    let repeated = |count: u32, one: &dyn Fn(u32) -> String| {
        let parts: Vec<String> = (0..count).map(one).collect();
        parts.join(",")
    };
    // Each may be forked 1024 times, which is counted when it is (docs/decisions/022).
    let forked = |count| {
        let templates = repeated(count, &|i| format!("\"t{i}\":{{\"instance\":0,\"run\":1}}"));
        let forks = repeated(count, &|i| format!("\"fork{i}\":\"t{i}\""));
        file(&format!("{templates},\"a\":{{{forks}}}"))
    };
    let spec = parse(&forked(98)).expect("99 scripts");
    let workload = spec.expand(0, MachineFacts::alike(2)).expect("fits");
    assert_eq!(workload.tasks.len(), 99);
    let error = parse(&forked(100_000)).expect_err("100,001 scripts");
    assert!(
        error.starts_with("s.json:1:")
            && error.ends_with("more than 100000 threads; expected fewer instances"),
        "{error}"
    );
    let error = parse(&file(r#""t":{"instance":2147483647,"barrier":"b"}"#)).expect_err("2^31");
    assert!(error.contains("more than 100000 threads"), "{error}");
    // The parties are a sum that does not overflow.
    let barriers = repeated(100_000, &|i| format!("\"barrier{i}\":\"b\""));
    assert!(
        parse(&file(&format!(
            "\"t\":{{\"instance\":2147483647,{barriers}}}"
        )))
        .is_err()
    );
    let many = repeated(300_000, &|i| format!("\"barrier{i}\":\"b{i}\""));
    let spec = parse(&file(&format!("\"t\":{{{many}}}"))).expect("300,000 barriers");
    let workload = spec.expand(0, MachineFacts::alike(2)).expect("fits");
    assert_eq!(workload.shared.barriers.len(), 300_000);
    // 1024 threads with 100,000 timers each.
    let timers = repeated(100_000, &|i| {
        format!("\"timer{i}\":{{\"ref\":\"unique{i}\"}}")
    });
    let error = parse(&file(&format!("\"t\":{{\"fork\":\"t\",{timers}}}"))).expect_err("timers");
    assert!(error.contains("need more than 67108864 bytes"), "{error}");
    // 2,000 nodes in each of 200,000 phases.
    let nodes = repeated(2_000, &|i| i.to_string());
    let phases = repeated(200_000, &|i| format!("\"p{i}\":{{\"mem\":9999999}}"));
    let text = format!("\"t\":{{\"nodes_membind\":[{nodes}],\"phases\":{{{phases}}}}}");
    let error = parse(&file(&text)).expect_err("nodes");
    assert!(error.contains("need more than 67108864 bytes"), "{error}");
    let deep = format!(
        "\"t\":{{\"run\":1,\"yield\":{}1{}}}",
        "[".repeat(40),
        "]".repeat(40)
    );
    let error = parse(&file(&deep)).expect_err("40 levels");
    assert!(
        error.starts_with("s.json:1:") && error.contains("levels"),
        "{error}"
    );
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "{:?}",
        start.elapsed()
    );
}
