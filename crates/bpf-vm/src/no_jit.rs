//! Without the feature `jit`: nothing is compiled, so that the interpreter runs every program.
//!
//! What must stay: the methods of the compiler (jit/mod.rs): `new` makes nothing, `entry` finds
//! nothing. Free: nothing: it only stands in.
//!
//! Tests: none; it stands in for the compiler where there is none, and compiles nothing.

use crate::Fault;
use crate::program::Program;
use crate::vm::Context;
use std::sync::Arc;

/// A compiled function: context and arguments.
pub(crate) type Entry = unsafe extern "C" fn(*mut Context, u64, u64, u64, u64, u64) -> u64;

/// No compiled programs.
#[derive(Debug)]
pub(crate) struct Compiled;

impl Compiled {
    /// Compiles none of them.
    #[expect(clippy::unnecessary_wraps, reason = "the compiler's own can fail")]
    pub(crate) fn new(_: &[(usize, Arc<Program>)]) -> Result<Self, Fault> {
        Ok(Self)
    }

    /// Finds no compiled code: there is none.
    #[expect(clippy::unused_self, reason = "as the compiler's own")]
    pub(crate) fn entry(&self, _: usize, _: usize) -> Option<Entry> {
        None
    }
}
