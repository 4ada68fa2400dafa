//! The kernel's side of programs: structures laid out by its type information, and what they hold
//! (docs/guide/schedulers.md, "What its programs see").
//!
//! What must stay: nothing here answers a call: that is kfuncs/. Free: how it is divided into
//! files.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does, beside its modules

mod cids;
mod layout;
mod nodes;
mod objects;
mod running;
mod state;
mod symbols;
mod timers;

pub(crate) use cids::{CMASK_HEADER, Place, in_arena};
pub(crate) use layout::Layout;
pub(crate) use objects::{MAX_OBJECT, acquire, create};
pub(crate) use running::{Running, UP_NS, write_mask};
pub(crate) use state::{State, get, put};
pub(crate) use timers::Timer;
