//! Sessions of the command line: the program is run as a user runs it.
//!
//! One test program per crate: linking one more takes longer than running its tests.
//!
//! What must stay: a new file is named here, else it does not run. Nothing is asked of the
//! libraries: only the program is. Run one file: `cargo test -p wakeplace-cli --test all
//! results::`.
#![allow(missing_docs, reason = "not a library")]

mod bad_input;
mod bad_platforms;
mod callbacks;
mod coherence;
mod common;
mod compared;
mod doctor;
mod eras;
mod evaluate;
mod explain;
mod faults;
mod gates;
mod help;
mod hints;
mod hostile_text;
mod hotplug;
mod interception;
mod interrupt;
mod kept_inputs;
mod kernel;
mod kernel_diff;
mod kernel_runs;
mod lab;
mod late_frames;
mod mcp;
mod output;
mod promise;
mod recordings;
mod report;
mod results;
mod review;
mod round_trip;
mod rtapp_corpus;
mod said;
mod same_runs;
mod schedulers;
mod schema;
mod streams;
mod sweeps;
mod syscall_programs;
mod traces;
mod wakeup_cases;
mod wall;
