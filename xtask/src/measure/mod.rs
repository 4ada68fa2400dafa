//! What is measured by the program itself: whether runs stay the same, what they cost, and tables
//! of pages.

pub mod bench;
pub mod eras;
pub mod fidelity;
pub mod governors;
pub mod instructions;
pub mod outside;
pub mod runs;
pub mod same_bytes;
pub mod same_runs;
pub mod schedulers;
