//! Policies that are a kernel tree's own code, `kernel:...`: they are built when they are first
//! named. How far a build is goes to Python's logger `wakeplace` (docs/guide/python.md).
//!
//! Called once, when the module is imported.
//!
//! What must stay: what is logged changes nothing of a run; the logger's name `wakeplace`, which
//! programs configure. Free: words of what is logged. Tests by part:
//! `test_compare_gives_the_bytes_of_its_command`, `test_explain_gives_the_bytes_of_its_command`
//! (`provide`), `test_a_kernel_that_is_none_has_the_words_of_the_command_line` (errors). No test of
//! its own: `log`.
//!
//! Tests: crates/python/tests/test_kernels.py

use pyo3::prelude::*;
use std::sync::Arc;
use wakeplace_kernel_run::Trees;
use wakeplace_kernel_tree::Watch;
use wakeplace_policy_sys::{TreeRef, provide_trees};

/// Python's logger.
struct Logger;

impl Logger {
    /// A logger that fails stops nothing.
    fn log(level: &str, what: &str) {
        Python::attach(|py| {
            let said = PyModule::import(py, "logging")
                .and_then(|logging| logging.call_method1("getLogger", ("wakeplace",)))
                .and_then(|logger| logger.call_method1(level, ("%s", what)));
            drop(said);
        });
    }
}

impl Watch for Logger {
    /// A stage of a build.
    fn step(&self, what: &str) {
        Self::log("info", what);
    }

    /// What a reader should know though the build goes on.
    fn remark(&self, what: &str) {
        Self::log("warning", what);
    }
}

/// Lets names of trees be parsed from now on.
pub(crate) fn provide() {
    provide_trees(|name| {
        let trees = Trees::of_user(None, Box::new(Logger));
        let tree = trees.and_then(|trees| Arc::new(trees).find(name, &[]));
        tree.map(TreeRef::new).map_err(|error| error.to_string())
    });
}
