//! Trees from a name to an object.
//!
//! One test program per crate: linking one more takes longer than running its tests.
//!
//! What must stay: a new file is named here, else it does not run. Free: the order of files.
#![allow(missing_docs, reason = "not a library")]

mod fake_tree;
mod real_tree;
