//! Fuzz targets: each takes any bytes as one kind of input and goes as far with it as the program
//! would, up to every form of output.
//!
//! The bodies are plain functions, called by coverage-guided programs (`fuzz/guided`) and by a test
//! that replays the kept inputs and seeded mutations of them (`fuzz/tests`). None of them may
//! panic, hang or take much memory, and what is refused is refused with a message.
//!
//! What must stay: names of targets, which folders of kept inputs have; `refused` asks a message of
//! at most `MAX_MESSAGE_BYTES` of each refusal. Free: new targets, and what a target looks at.
//! Tests by part: `each_has_a_test` (`TARGETS`), kept.rs::`every_kept_input_keeps_the_promises`
//! (`target`, and `refused` for each kept input that is refused). `why` and `fnv1a` have no test of
//! their own: main.rs shows what `why` gives, and another `fnv1a` draws other runs for an input.
//!
//! Callers: targets.rs, whole.rs, bpf.rs and store.rs (`refused`), targets.rs and replay.rs
//! (`fnv1a`), main.rs (`target`, `why`).
//!
//! Tests: fuzz/tests/all

mod bpf;
pub mod case;
pub mod corpus;
pub mod mutate;
mod store;
pub mod targets;
pub mod tree;
mod whole;
mod words;

use mutate::Shape;
use std::cell::RefCell;
use wakeplace_workload::shorten;

/// How far an input came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// Its loader refused it.
    Refused,
    /// It was loaded, and did not go together with the rest.
    Loaded,
    /// It was simulated and every output was written.
    Simulated,
}

/// A kind of input and what is done with it.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name: that of its program and of its folders of kept inputs.
    pub name: &'static str,
    /// What is done with an input.
    pub body: fn(&[u8]) -> Reached,
    /// How inputs are changed.
    pub shape: Shape,
    /// Files of the repository to start from besides the kept ones: folder and ending.
    pub seeds: &'static [(&'static str, &'static str)],
}

/// All targets.
pub const TARGETS: [Target; 9] = [
    Target {
        name: "platform",
        body: targets::platform,
        shape: Shape::Toml,
        seeds: &[("platforms", ".toml")],
    },
    Target {
        name: "rtapp",
        body: targets::rtapp,
        shape: Shape::Json,
        seeds: &[
            ("workloads", ".json"),
            ("crates/workload/tests/fixtures/rtapp/corpus", ".json"),
        ],
    },
    Target {
        name: "trace",
        body: targets::trace,
        shape: Shape::Lines,
        seeds: &[("crates/trace/tests/data", ".txt")],
    },
    Target {
        name: "tree",
        body: targets::tree,
        shape: Shape::Bytes,
        seeds: &[("crates/platform/tests/import/trees", ".yml")],
    },
    Target {
        name: "run",
        body: targets::run,
        shape: Shape::Case,
        seeds: &[],
    },
    Target {
        name: "study",
        body: targets::study,
        shape: Shape::Toml,
        seeds: &[],
    },
    Target {
        name: "report",
        body: targets::report,
        shape: Shape::Json,
        seeds: &[],
    },
    Target {
        name: "bpf",
        body: bpf::bpf,
        shape: Shape::Lines,
        seeds: &[],
    },
    Target {
        name: "store",
        body: store::store,
        shape: Shape::Lines,
        seeds: &[],
    },
];

/// The target of this name. None: there is none.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// Longest message, bytes: a list of all names that are known takes most of it. What a file holds
/// is repeated in part only.
const MAX_MESSAGE_BYTES: usize = 8 << 10;

/// What every refusal must have: a reason that a person can read. Control characters of the input
/// may be in it: the command line replaces them where it prints.
pub(crate) fn refused(error: &dyn std::fmt::Display) -> Reached {
    let message = error.to_string();
    assert!(!message.trim().is_empty(), "refused without a message");
    let bytes = message.len();
    assert!(
        bytes <= MAX_MESSAGE_BYTES,
        "a message of {bytes} bytes: {:?}",
        shorten(&message)
    );
    WHY.set(message);
    Reached::Refused
}

thread_local! {
    static WHY: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The last refusal's message on this thread, which is forgotten.
#[must_use]
pub fn why() -> String {
    WHY.take()
}

/// FNV-1a, 64 bits: chooses what goes with an input.
#[must_use]
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
