//! Logs of a simulated run, written from the engine's events.
//!
//! [`RtAppLogs`] is an observer that writes what rt-app would have logged of the same file. It
//! measures nothing itself: every number is the engine's or the file's.
mod rtapp_log;

pub use rtapp_log::{LogError, RtAppLogs};
