//! Bytes that no person would write: refused quickly, never a panic.
//! Page: docs/internals/checks.md.
//!
//! What must stay: no bytes panic or take long; mutations follow from the seed.
//! Tests by part (in crates/platform/src): cpu_list.rs: `mutated_files_never_panic`
//! (`parse_cpu_list`); builtin.rs: `bytes_that_are_no_text_have_a_place` (`text_of_bytes`),
//! `names_and_paths_do_not_shadow_each_other` (`load`, `from_file`); error.rs:
//! `names_and_paths_do_not_shadow_each_other` (`UnknownName`, `Read`).
//! Helpers, and who fails with them: `mutate` (`mutated_files_never_panic`).

use std::fs;
use std::time::{Duration, Instant};

use wakeplace_platform::{MAX_FILE_BYTES, Platform, PlatformError, parse_cpu_list};

const GOOD: &str = include_str!("../good.toml");

/// Longest a refusal may take. Far above what is needed, far below what quadratic work would take.
const PATIENCE: Duration = Duration::from_secs(5);

/// xorshift64*: the same mutations on every machine.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }
}

/// Pieces that reach deeper than random bytes do.
const PIECES: &[&str] = &[
    "0",
    "-1",
    "1024",
    "18446744073709551615",
    "9223372036854775807",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "\"",
    "\"\"\"",
    "=",
    ",",
    "\n",
    "#",
    "\\",
    "\\u0000",
    "ä",
    "0-1023",
    "all",
    "little",
    "big,0",
    "none",
    "bogo",
    "[[cluster]]\n",
    "one_per = \"core\"\n",
    "1e9",
    "inf",
    "true",
    "\u{feff}",
];

fn mutate(text: &str, random: &mut Xorshift) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let end = (at + random.below(12)).min(bytes.len());
        match random.below(4) {
            0 => bytes[at] = random.below(256) as u8,
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..end, PIECES[random.below(PIECES.len())].bytes())),
            _ => {
                let lines: Vec<&str> = text.lines().collect();
                let line = format!("\n{}\n", lines[random.below(lines.len())]);
                drop(bytes.splice(at..at, line.bytes()));
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

#[test]
fn mutated_files_never_panic() {
    let mut random = Xorshift(0x0077_616B_6570_6C61);
    let (mut accepted, mut refused) = (0_u32, 0_u32);
    for _ in 0..20_000 {
        let bytes = mutate(GOOD, &mut random);
        let text = String::from_utf8_lossy(&bytes);
        match Platform::from_toml(&text, "p.toml") {
            Ok(platform) => {
                let cpus = parse_cpu_list("all", &platform).expect("a platform has CPUs");
                assert_eq!(cpus.len(), platform.cpus.len());
                accepted += 1;
            }
            Err(error) => {
                assert!(error.to_string().starts_with("p.toml:"), "{error}");
                refused += 1;
            }
        }
    }
    // Both outcomes must occur, or the mutations reach nothing.
    assert!(
        accepted > 100 && refused > 10_000,
        "{accepted} accepted, {refused} refused"
    );
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test is about how long a refusal takes"
)]
fn deep_and_long_texts_are_refused_quickly() {
    let size = MAX_FILE_BYTES;
    let texts = [
        "[".repeat(size),
        format!("a = {}", "[".repeat(size - 8)),
        format!("a = {}", "{a=".repeat(size / 3 - 8)),
        format!("{}a = 1", "a.".repeat(size / 2 - 8)),
        format!("[{}a]", "a.".repeat(size / 2 - 8)),
        "[[cluster]]\n".repeat(size / 12),
        "a = 1\n".repeat(size / 6),
        "\"".repeat(size),
        "\n".repeat(size),
        GOOD.replace("\"all\"", &format!("\"{}0\"", "0-3,".repeat(size / 5))),
        GOOD.replace(
            "power_uw = 1000",
            &format!("{} = 1000", "p".repeat(size / 2)),
        ),
    ];
    for text in texts {
        let start = Instant::now();
        let outcome = Platform::from_toml(&text, "p.toml");
        let head: String = text.chars().take(20).collect();
        assert!(
            start.elapsed() < PATIENCE,
            "{head}... took {:?}",
            start.elapsed()
        );
        if let Err(error) = outcome {
            assert!(
                error.to_string().len() < 2000,
                "{head}... gives a long message"
            );
        }
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test is about how long a refusal takes"
)]
fn a_huge_file_is_refused_unread() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("huge.toml");
    fs::write(&path, vec![b'['; 100_000_000]).expect("written");
    let path = path.to_str().expect("UTF-8");
    let start = Instant::now();
    let error = Platform::load(path).expect_err("too large");
    assert!(start.elapsed() < PATIENCE);
    assert!(
        matches!(
            error,
            PlatformError::TooLarge {
                limit: MAX_FILE_BYTES,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn bytes_that_are_no_text_have_a_place() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("latin1.toml");
    fs::write(&path, b"name = \"x\"\ntitle = \"caf\xe9\"\n").expect("written");
    let path = path.to_str().expect("UTF-8");
    let error = Platform::load(path).expect_err("no UTF-8").to_string();
    assert_eq!(
        error,
        format!("{path}:2:13: byte 0xe9 is not UTF-8; expected UTF-8 text")
    );
}

#[test]
fn names_and_paths_do_not_shadow_each_other() {
    let error = Platform::load("hikey").expect_err("unknown").to_string();
    // There are too many to list: the nearest stand first, then where all are listed.
    let expected = "Expected a name from `wakeplace platform list`, or a path with `/` or ending \
                    in `.toml`";
    let message = |near: &str| format!("; did you mean {near}? {expected}");
    let hikey = message("`hikey620` or `hikey960`");
    assert_eq!(error, format!("unknown platform `hikey`{hikey}"));
    let error = Platform::load("juno-r1").expect_err("unknown").to_string();
    assert!(
        error.ends_with(&message("`juno-r0` or `juno-r2`")),
        "{error}"
    );
    let error = Platform::load("./tc2").expect_err("a path").to_string();
    assert!(error.starts_with("./tc2: cannot be read: "), "{error}");
    let error = Platform::load("tc2.toml").expect_err("a path").to_string();
    assert!(error.starts_with("tc2.toml: cannot be read: "), "{error}");
    let error = Platform::load("platform:tc2.toml")
        .expect_err("a name")
        .to_string();
    assert!(
        error.starts_with("unknown platform `tc2.toml`; "),
        "{error}"
    );
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../platforms/tc2.toml");
    let from_file = Platform::load(file).unwrap_or_else(|e| panic!("{e}"));
    let mut built_in = Platform::load("platform:tc2").expect("built in");
    built_in.name = file.to_owned(); // results name the file, not what it calls itself
    assert_eq!(from_file, built_in);
}
