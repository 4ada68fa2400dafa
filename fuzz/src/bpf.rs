//! What a loader hands over by bpf(2), as text: pieces of its memory, and calls with their
//! attribute. What is attached then schedules.
//!
//! ```text
//! # all numbers are hexadecimal but the command's
//! @100 9feb0100                 the caller's memory from this address on
//! 18 0001000000000000           a call: command and `union bpf_attr`
//! ```
//!
//! Addresses are offsets in that memory, descriptors numbers in the order in which they were given,
//! from 1. A byte that is no digit stands for one, so that changed text is still read.
//!
//! What must stay: the form of inputs, or kept ones mean something else; any byte is read as
//! something; interpreted and compiled programs give the same result. Free: the limits `MOST_LINES`
//! and `MOST_BYTES`, the platform, and how far a run goes. Tests by part:
//! kept.rs::`every_kept_input_keeps_the_promises` (`steps`, `digit`, `bytes_of`, `play`,
//! `scheduler`, `kernel`, `load`: kept inputs of fuzz/corpus/bpf must be simulated),
//! mutations.rs::`bpf` of `keep_the_promises` (`bpf`: that both ways agree, that no input breaks
//! it).
//!
//! Callers: fuzz/src/lib.rs (`bpf`, as a target's body). Rule: docs/internals/checks.md.
//!
//! Tests: fuzz/tests/all

use crate::corpus::root;
use crate::whole::{page, scheduled};
use crate::{Reached, refused};
use std::sync::{Arc, OnceLock};
use wakeplace_engine::sched_ext::{Loader, SchedExtOps};
use wakeplace_foreign::{Mode, OfferedKernel, OwnCalls};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_study::Scheduler;

/// Most lines that are read, and most bytes of one.
const MOST_LINES: usize = 256;
const MOST_BYTES: usize = 64 << 10;

/// One line.
#[derive(Debug)]
enum Step {
    Memory(usize, Vec<u8>),
    Call(u32, Vec<u8>),
}

/// The value of a hexadecimal digit; a byte that is none has that of its lower four bits.
fn digit(byte: u8) -> u8 {
    char::from(byte)
        .to_digit(16)
        .map_or(byte & 15, |digit| digit as u8)
}

/// Bytes that are written with two digits each, at most `MOST_BYTES`.
fn bytes_of(text: &[u8]) -> Vec<u8> {
    let pairs = text.as_chunks::<2>().0.iter().take(MOST_BYTES);
    pairs
        .map(|[high, low]| digit(*high) << 4 | digit(*low))
        .collect()
}

/// The steps that the lines of an input are; other lines are left out.
fn steps(input: &[u8]) -> Vec<Step> {
    let lines = input.split(|byte| *byte == b'\n').take(MOST_LINES);
    let steps = lines.filter_map(|line| {
        let at = line.iter().position(|byte| *byte == b' ')?;
        let (first, rest) = (&line[..at], bytes_of(&line[at + 1..]));
        match first.split_first()? {
            (b'#', _) => None,
            (b'@', address) => {
                let low = address.iter().take(8);
                let address = low.fold(0, |sum, byte| sum << 4 | usize::from(digit(*byte)));
                Some(Step::Memory(address, rest))
            }
            _ => {
                let low = first.iter().take(3);
                let command = low.fold(0, |sum, byte| sum * 10 + u32::from(byte & 15));
                Some(Step::Call(command, rest))
            }
        }
    });
    steps.collect()
}

/// The small kernel of the schedulers for tests: what `kernel.bpf.c` there holds.
fn kernel() -> &'static OfferedKernel {
    static KERNEL: OnceLock<OfferedKernel> = OnceLock::new();
    KERNEL.get_or_init(|| {
        let bytes = std::fs::read(root().join("fuzz/kernel.btf")).expect("a kernel's types");
        OfferedKernel::new("7.3.0-small", bytes).expect("a kernel's types")
    })
}

/// Makes the calls, until a scheduler is attached or no call is left.
fn play(platform: &Platform, steps: &[Step]) -> OwnCalls {
    let mut calls = OwnCalls::new(platform, kernel()).expect("a caller");
    for step in steps {
        match step {
            Step::Memory(at, bytes) => calls.put(*at, bytes),
            Step::Call(command, attr) => drop(calls.call(*command, attr)),
        }
        if calls.is_attached() {
            break;
        }
    }
    calls
}

/// Loads it anew for each run.
#[derive(Debug)]
struct Played {
    platform: Platform,
    steps: Vec<Step>,
    mode: Mode,
}

impl Loader for Played {
    /// Plays the calls again and gives what they attach: a new instance each time.
    fn load(&self) -> Result<Box<dyn SchedExtOps>, String> {
        let instance = play(&self.platform, &self.steps).attached(self.mode)?;
        Ok(Box::new(instance))
    }
}

/// The scheduler that an input loads, always on the same kernel, so that findings repeat.
fn scheduler(platform: &Platform, input: &[u8], mode: Mode) -> Scheduler {
    Scheduler {
        name: "fuzz".to_owned(),
        facts: Vec::new(),
        notes: Vec::new(),
        kernel: Policy::parse("linux-7.3").expect("a policy"),
        loader: Arc::new(Played {
            platform: platform.clone(),
            steps: steps(input),
            mode,
        }),
    }
}

/// The target: what a loader hands over is refused by name, or runs, interpreted as compiled.
pub(crate) fn bpf(input: &[u8]) -> Reached {
    let platform = Platform::load("hikey960").expect("a platform of the list");
    let calls = play(&platform, &steps(input));
    if !calls.is_attached() {
        let said = calls.refused().join("; ");
        return match said.as_str() {
            "" => Reached::Refused,
            said => refused(&said),
        };
    }
    drop(calls);
    let run = |mode| scheduled(&platform, scheduler(&platform, input, mode));
    match (run(Mode::Interpreted), run(Mode::Compiled)) {
        (Ok(interpreted), Ok(compiled)) => {
            assert_eq!(interpreted, compiled, "interpreted, then compiled");
            page(&compiled);
            Reached::Simulated
        }
        (Err(error), Err(other)) => {
            assert_eq!(error.to_string(), other.to_string());
            refused(&error);
            Reached::Loaded
        }
        // Only who compiles can find no room for code.
        (Ok(_), Err(error)) => {
            refused(&error);
            Reached::Loaded
        }
        (Err(error), Ok(_)) => panic!("interpreted, not compiled: {error}"),
    }
}
