//! The kernel's side of programs: structures laid out by its type information, and what they hold.

mod cids;
mod layout;
mod running;
mod state;
mod symbols;

pub(crate) use cids::{CMASK_HEADER, Place, in_arena};
pub(crate) use layout::Layout;
pub(crate) use running::{Running, UP_NS, write_mask};
pub(crate) use state::{State, Timer, get, put};
