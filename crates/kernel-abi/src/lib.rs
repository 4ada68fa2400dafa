//! What a kernel that was built for the simulator and the engine that runs it say to each other:
//! the C interface of `crates/kernel-shim/shim/wakeplace.h` in Rust ([`abi`]), the machine that a
//! kernel boots on, what tasks ask of it ([`Call`]), and all of that as a trait ([`Tree`]). The
//! engine knows this crate and not how an object is built, loaded or entered.
//!
//! What must stay: no code of loading or of running is here, so that engine and loader know nothing
//! of each other.
//!
//! Callers: crates/engine (kernel/tree), crates/kernel-tree, crates/kernel-run.
//!
//! Tests: crates/kernel-tree/tests/all

pub mod abi;
pub mod balances;
mod call;
pub mod lines;
mod machine;
pub mod paths;
pub mod signals;
mod tree;
pub mod turns;

pub use abi::{
    Attr, Choice, Cpu, CpuState, Energy, Facts, Group, MachineCpu, Opp, Party, TaskState,
};
pub use call::{Call, Fork, Mask};
pub use lines::{Coherence, LineCost};
pub use machine::{Domain, IdleState, Machine};
pub use paths::{Ahead, Went};
pub use signals::{Demand, FreqAsked, Governor, Signal, Updated};
pub use tree::{CALL, Decided, ORDER, Refused, Told, Tree};
