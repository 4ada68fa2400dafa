//! Where the core ends when an index of its arrays is too large, in builds that check (build.rs).
//!
//! What must stay: C calls both by name, in builds that check alone; they never return. Free:
//! the words of the message.
//!
//! Tests by part: `an_index_past_the_end_is_told` (`wp_bounds_failed`). `wp_kept_failed` has no
//! test of its own: it is called where a kept sum is wrong.
//!
//! Callers: the C core, in builds with checks (policy/include/wakeplace, WP_AT; WP_CHECK_KEPT).
//!
//! Tests: crates/policy-sys/tests/all/bounds.rs

use std::backtrace::{Backtrace, BacktraceStatus};
use std::ffi::{CStr, c_char};
use std::io::Write as _;

/// Says where and what; the core ends the program then. Not by a panic, which cannot pass through
/// the core's C functions, nor by `eprintln`: that goes to a test's captured output, which is lost.
#[unsafe(no_mangle)]
extern "C" fn wp_bounds_failed(file: *const c_char, line: u32, index: u32, size: u32) {
    // SAFETY: the core passes `__FILE__`, a string constant.
    let file = unsafe { CStr::from_ptr(file) }.to_string_lossy();
    let trace = Backtrace::capture();
    let trace = match trace.status() {
        BacktraceStatus::Captured => trace.to_string(),
        _ => "RUST_BACKTRACE=1 shows the calls\n".to_owned(),
    };
    let message = format!("{file}:{line}: index {index} of an array of {size}\n{trace}");
    // Nobody to tell if this fails.
    let _ = std::io::stderr().write_all(message.as_bytes());
}

/// Says which sum that the core keeps (`policy/src/kept`) is not what a walk finds.
#[unsafe(no_mangle)]
extern "C" fn wp_kept_failed(what: *const c_char, at: u32, kept: u64, walked: u64) {
    // SAFETY: the core passes a string constant.
    let what = unsafe { CStr::from_ptr(what) }.to_string_lossy();
    let trace = Backtrace::capture();
    let message = format!("kept {what} of {at}: {kept}, a walk finds {walked}\n{trace}\n");
    // Nobody to tell if this fails.
    let _ = std::io::stderr().write_all(message.as_bytes());
}
