//! rt-app's logs: one file per thread, one line per iteration of a phase.
//!
//! What must stay: columns, rounding and names of files are rt-app's
//! (docs/rules/rt-app.md#rt-app-log); `files` writes, `line` is a line, `observer` listens.
//!
//! Tests: crates/trace/src/rtapp_log/observer/tests.rs, beside its modules
mod files;
mod line;
mod observer;

pub use files::LogError;
pub use observer::RtAppLogs;
