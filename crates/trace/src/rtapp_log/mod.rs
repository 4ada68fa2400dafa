//! rt-app's logs: one file per thread, one line per iteration of a phase.
//!
//! What must stay: columns, rounding and names of files are rt-app's
//! (docs/rules/rt-app.md#rt-app-log); `files` writes, `line` is a line, `observer` listens. Free:
//! what leaves the bytes of files as they are (ARCHITECTURE.md, "What a change may touch"). Tests
//! by part: each module names its own; observer/tests.rs::`each_thread_has_its_file` (the three
//! together).
//!
//! Tests: crates/trace/src/rtapp_log/observer/tests.rs, beside its modules
mod files;
mod line;
mod observer;

pub use files::LogError;
pub use observer::RtAppLogs;
