//! rt-app files: the grammar as rt-app 55cb0c0 implements it (src/rt-app_parse_config.c) and the
//! scripts made of it.
//!
//! [`structure`] is what rt-app makes of a file, `read`, `global`, `task` and `event` fill it by
//! rt-app's own rules (`keys` has the names of keys, `notes` takes the warnings), [`check`] stops
//! there. `template` makes threads' steps of it (`steps`, with
//! `resources`, `memory`, `places`, `scheduling`, `forks`), `expand` one script per thread.
//!
//! What must stay: `workload check` shares all readers with runs, so a file that is checked is read
//! as it would run (docs/rules/rt-app.md). Free: what leaves scripts as they are (ARCHITECTURE.md,
//! "What a change may touch"), and words of messages that no test quotes. Tests by part:
//! `every_file_is_read_as_rtapp_reads_it` (`structure`), `accepted_files_expand_to_their_scripts`
//! (`template`, `expand`), `every_file_of_the_corpus_has_its_place` (no file of the corpus is left
//! out).
//!
//! Tests: crates/workload/tests/all/corpus.rs, crates/workload/tests/all/rtapp_scripts.rs, beside
//! its modules
pub(crate) mod check;
mod event;
pub(crate) mod expand;
mod fields;
mod forks;
mod global;
mod keys;
pub(crate) mod log;
mod memory;
pub(crate) use memory::from_last_level_cache;
mod notes;
mod places;
mod read;
mod resources;
mod scheduling;
mod steps;
pub mod structure;
mod task;
pub(crate) mod template;
