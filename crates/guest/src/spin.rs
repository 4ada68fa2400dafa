//! Work without meaning: a loop that the compiler keeps (docs/guide/lab.md).
//!
//! What must stay: time grows with the count; nothing else reads what it computes. Free: the loop's
//! body, if the compiler keeps it.
//!
//! Tests by part: `load_runs_a_job_file_and_reports_each_task` (`spin`: a job takes the time that
//! it asks for).
//!
//! Callers: load/meter.rs, workers.rs, until_placed.rs.
//!
//! Tests: crates/guest/tests/programs.rs::load_runs_a_job_file_and_reports_each_task

use std::hint::black_box;

/// Iterations of one slice of work: about 12 us at 2 ns per instruction, about 1 us on hardware.
pub(crate) const SLICE_LOOPS: u64 = 1200;

/// Executes so many iterations.
#[inline(never)]
pub(crate) fn spin(loops: u64) {
    for at in 0..loops {
        black_box(at);
    }
}
