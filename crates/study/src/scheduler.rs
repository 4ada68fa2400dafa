//! A sched_ext scheduler in the place of a policy (docs/guide/schedulers.md).
//!
//! What must stay: it is loaded once per run (`pool.rs`), so that runs share no state of a
//! scheduler; an error names it as the caller did. What a scheduler may do is
//! `wakeplace_sched_ext`'s. Tests by part: `a_scheduler_takes_part` (`Scheduler`),
//! `a_scheduler_that_cannot_be_loaded_is_named` (`load`).
//!
//! Tests: crates/study/src/experiment/tests.rs::a_scheduler_takes_part,
//! crates/study/src/experiment/tests.rs::a_scheduler_that_cannot_be_loaded_is_named

use crate::StudyError;
use std::sync::Arc;
use wakeplace_engine::sched_ext::{Loader, SchedExtOps};
use wakeplace_policy_sys::Policy;

/// One of the contenders of an experiment.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// As results name it.
    pub name: String,
    /// What it is and how it was loaded, key and value.
    pub facts: Vec<(String, String)>,
    /// What a reader must know before believing the figures: a sentence each.
    pub notes: Vec<String>,
    /// The kernel beneath: its era, its frequencies.
    pub kernel: Policy,
    /// Loads it for each run.
    pub loader: Arc<dyn Loader>,
}

impl Scheduler {
    /// For one run.
    pub(crate) fn load(&self) -> Result<Box<dyn SchedExtOps>, StudyError> {
        self.loader.load().map_err(|reason| StudyError::Scheduler {
            name: self.name.clone(),
            reason,
        })
    }
}
