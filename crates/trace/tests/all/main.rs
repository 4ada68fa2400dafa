//! Traces written and recordings read, against readings by hand and by the simulator itself.
#![allow(missing_docs, reason = "not a library")]

mod long_runs;
mod replay;
mod traces;
