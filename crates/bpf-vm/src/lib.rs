//! Runs BPF programs in a memory of their own.
//!
//! The pieces: type information ([`btf`]), instructions and what is checked of them, maps
//! ([`map`]), helpers that need no kernel ([`helpers`]), an interpreter and a compiler. What a
//! program may call beside is the business of whoever implements [`Env`].
//!
//! Foreign code cannot reach the simulator: every address is checked against one region
//! ([`memory`]), all work and all bytes are from one budget ([`budget`]), and a fault ends the
//! program, not the process (docs/decisions/058).
//!
//! What must stay: no program reaches the host, whatever its bytes; equal runs are equal, compiled
//! or not; without the feature `jit` the interface is the same. Free: what is re-exported, as long
//! as crates/foreign and fuzz/ build. Tests by part: `any_bytes_are_refused_or_run` (the whole of
//! it), `compiled_programs_do_what_interpreted_ones_do` (both ways of running).
//!
//! Tests: crates/bpf-vm/tests/all, beside its modules

mod arena;
pub mod budget;
mod fault;
pub mod helpers;
mod insn;
mod interp;
#[cfg(feature = "jit")]
mod jit;
#[cfg(not(feature = "jit"))]
#[path = "no_jit.rs"]
mod jit;
pub mod map;
pub mod memory;
mod program;
mod vm;

pub use arena::Arena;
pub use fault::{Fault, Refusal};
pub use insn::Insn;
pub use map::{Map, MapKind, MapSpec};
pub use memory::{Memory, Retired};
pub use program::{Linker, Program};
pub use vm::{Env, Mode, Vm};
pub use wakeplace_btf::{self as btf, Btf, BtfError};
