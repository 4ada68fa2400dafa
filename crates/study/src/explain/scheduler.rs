//! One wake-up of a run under a sched_ext scheduler: what its callbacks did
//! (docs/guide/schedulers.md).
//!
//! What must stay: keys of the JSON (`crates/outcome` has them); callbacks and steps stand as they
//! happened; times are ns, queues hexadecimal. Tests by part: `explain_says_what_callbacks_did`
//! (`outcome`, `callback`, `step`, `task`), `explain_takes_one_scheduler_and_says_how_it_ended`
//! (`scheduler_answer`, its errors).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::explain_says_what_callbacks_did,
//! crates/cli/tests/all/schedulers.rs::explain_takes_one_scheduler_and_says_how_it_ended

use super::{Question, asked, json, to};
use crate::{Experiment, StudyError};
use wakeplace_engine::observe::SchedExtStep;
use wakeplace_engine::sched_ext::TaskId;
use wakeplace_engine::{CallbackSteps, SchedExtExplanation};
use wakeplace_outcome::{self as outcome, SchedulerDecision, SchedulerStep, SchedulerWakeup};

/// A wake-up under a scheduler and where it is from.
#[derive(Debug)]
pub struct SchedulerAnswer {
    /// The run; its first scheduler is the one.
    pub experiment: Experiment,
    /// The wake-up.
    pub told: SchedExtExplanation,
    /// It was asked for as the run's wake-up of this number, from 1.
    pub wakeup_of_run: Option<u64>,
}

impl Question {
    /// Runs up to the wake-up under the first scheduler of `experiment`, which was made of the
    /// question's request.
    ///
    /// # Errors
    /// The run cannot be made, or it has no such wake-up; the message says what there is.
    pub fn scheduler_answer(&self, experiment: Experiment) -> Result<SchedulerAnswer, StudyError> {
        let workload = experiment.first_workload()?;
        asked::check_cpu("--to", to(self.about.which()), &experiment.platform)?;
        let task = self.about.task.as_deref();
        let asked = asked::asked(&workload, task, self.about.which())?;
        let scheduler = experiment.schedulers.first();
        let scheduler = scheduler.ok_or(StudyError::Empty("no scheduler given"))?;
        let told = wakeplace_engine::explain_sched_ext(
            &experiment.platform,
            &scheduler.kernel,
            &workload,
            &experiment.options,
            &asked,
            &mut *scheduler.load()?,
        );
        let told = told.map_err(|missing| {
            let ended = missing.ended.clone();
            match (
                asked::no_such(missing, self.about.which(), task, &experiment.options),
                ended,
            ) {
                (StudyError::Explain(what), Some(exit)) => StudyError::Explain(format!(
                    "{what}; `{}` ended: {}: {}",
                    scheduler.name,
                    exit.kind.reason(),
                    exit.message
                )),
                (error, _) => error,
            }
        })?;
        Ok(SchedulerAnswer {
            wakeup_of_run: self.wakeup_of_run(),
            experiment,
            told,
        })
    }
}

impl SchedulerAnswer {
    /// The scheduler as the caller named it.
    #[must_use]
    pub fn scheduler(&self) -> &str {
        let first = self.experiment.schedulers.first();
        first.map_or("", |scheduler| scheduler.name.as_str())
    }

    /// A fact of the scheduler, as `scheduler.kernel`.
    #[must_use]
    pub fn fact(&self, key: &str) -> Option<&str> {
        let facts = self.experiment.schedulers.first()?.facts.iter();
        let mut found = facts.filter(|(name, _)| name == key);
        found.next().map(|(_, value)| value.as_str())
    }

    /// A task's name.
    #[must_use]
    pub fn task(&self, task: TaskId) -> &str {
        self.told.names.get(&task.0).map_or("?", String::as_str)
    }

    /// The answer as one JSON object, with a newline.
    #[must_use]
    pub fn json(&self) -> String {
        json::text(&self.outcome())
    }

    /// The whole answer, in the types of results.
    fn outcome(&self) -> SchedulerDecision {
        let told = &self.told;
        SchedulerDecision {
            schema_version: crate::SCHEMA_VERSION,
            platform: self.experiment.platform.name.clone(),
            workload: self.experiment.workload.name.clone(),
            scheduler: self.scheduler().to_owned(),
            kernel: self.fact("scheduler.kernel").map(str::to_owned),
            seed: self.experiment.seeds[0],
            wakeup: SchedulerWakeup {
                kind: told.placement.kind.name().to_owned(),
                number: told.number,
                number_in_run: self.wakeup_of_run,
                time_ns: told.time_ns,
                task: told.task.clone(),
                waker_cpu: told.placement.waker_cpu,
                prev_cpu: told.placement.prev_cpu,
            },
            cpu: told.placement.cpu,
            start_ns: told.start.map(|(at, _)| at),
            start_cpu: told.start.map(|(_, cpu)| cpu),
            callbacks: told.callbacks.iter().map(|c| self.callback(c)).collect(),
        }
    }

    /// A callback with what it did, in the types of results.
    fn callback(&self, callback: &CallbackSteps) -> outcome::CallbackSteps {
        outcome::CallbackSteps {
            time_ns: callback.time_ns,
            callback: callback.callback.name().to_owned(),
            cpu: callback.cpu,
            steps: callback.steps.iter().map(|step| self.step(step)).collect(),
        }
    }

    /// One thing that a callback did, in the types of results.
    fn step(&self, step: &SchedExtStep) -> SchedulerStep {
        let task = step.task().map(|task| self.task(task).to_owned());
        let queue = |dsq: u64| format!("{dsq:#x}");
        match *step {
            SchedExtStep::Callback { callback, cpu, .. } => SchedulerStep::Callback {
                callback: callback.name().to_owned(),
                cpu,
                task,
            },
            SchedExtStep::Selected { cpu, .. } => SchedulerStep::Selected { task, cpu },
            SchedExtStep::Picked { cpu } => SchedulerStep::Picked { cpu },
            SchedExtStep::Inserted {
                dsq,
                vtime,
                slice_ns,
                ..
            } => SchedulerStep::Inserted {
                task,
                dsq: queue(dsq),
                vtime,
                slice_ns,
            },
            SchedExtStep::Taken { dsq, cpu, by, .. } => SchedulerStep::Taken {
                task,
                dsq: dsq.map(queue),
                cpu,
                by_cpu: by,
            },
            SchedExtStep::Kicked { cpu, flags } => SchedulerStep::Kicked { cpu, flags },
        }
    }
}
