//! Programs run twice, and bytes from anywhere.
#![allow(missing_docs, reason = "not a library")]

mod budget;
mod hostile;
mod maps;
mod programs;
mod same;
mod small;
