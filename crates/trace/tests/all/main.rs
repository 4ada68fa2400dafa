//! Traces written and recordings read, against readings by hand and by the simulator itself.
#![allow(missing_docs, reason = "not a library")]

mod replay;
mod traces;
