//! Traces written and recordings read, against readings by hand and by the simulator itself.
//!
//! What must stay: a new file is named here, else it does not run.
#![allow(missing_docs, reason = "not a library")]

mod long_runs;
mod replay;
mod traces;
