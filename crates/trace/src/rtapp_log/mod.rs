//! rt-app's logs: one file per thread, one line per iteration of a phase.
mod files;
mod line;
mod observer;

pub use files::LogError;
pub use observer::RtAppLogs;
