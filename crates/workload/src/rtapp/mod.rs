//! rt-app files: the grammar as rt-app 55cb0c0 implements it (src/rt-app_parse_config.c), what of
//! it is modelled, and the scripts made of that.
//!
//! [`structure`] is what rt-app makes of a file, `read`, `global`, `task` and `event` fill it by
//! rt-app's own rules, [`check`] stops there. `template` refuses what has no model, `expand` makes
//! one script per thread.
pub(crate) mod check;
mod class;
mod event;
pub(crate) mod expand;
mod fields;
mod global;
mod read;
pub mod structure;
mod task;
mod taskgroup;
pub(crate) mod template;
