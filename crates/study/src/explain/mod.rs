//! One decision of a run: its candidates, and what other policies would have done
//! (docs/decisions/034).
//!
//! What must stay: the run is the one that `sim` makes, up to the decision, and asking other
//! policies changes nothing of it; powers are in the platform's unit, and a bogo unit stands for a
//! milliwatt; costs have no unit. Words for people are the crate cli's. Tests by part:
//! `the_object_has_what_the_contract_says` (`answer`, `json`), `the_same_again` (the run),
//! `mistakes_say_what_there_is` (errors), `what_costs_more_saves_nothing` (`power`, `shown_power`,
//! `dropped`), `a_cost_has_no_unit` (`power_unit`),
//! `a_tie_keeps_the_previous_cpu` (`reason`, `runnable`),
//! `the_title_has_the_number_that_was_asked_for` (`wakeup_of_run`).
//!
//! Tests: crates/cli/tests/all/explain.rs

mod about;
mod asked;
mod inputs;
mod json;
mod scheduler;
mod tree;
mod why_not;

pub(crate) use json::text as json_text;

pub use about::About;
pub use inputs::{Input, differing};
pub use scheduler::SchedulerAnswer;
pub use tree::{CoreAnswer, TreeAnswer};

use crate::{Experiment, Request, StudyError};
use wakeplace_engine::{Explanation, Party, Which};
use wakeplace_platform::{Platform, PowerUnit};
use wakeplace_policy_sys::{Reason, Seen};

/// Stands where estimates have no unit.
const COST: &str = "cost";

/// Which decision, and what is asked about it.
#[derive(Clone, Debug)]
pub struct Question {
    /// The run: one platform, workload, policy and seed.
    pub request: Request,
    /// The decision.
    pub about: About,
}

/// A decision and where it is from.
#[derive(Debug)]
pub struct Answer {
    /// The run.
    pub experiment: Experiment,
    /// The decision.
    pub explanation: Explanation,
    /// It was asked for as the run's wake-up of this number, from 1.
    pub wakeup_of_run: Option<u64>,
    /// The CPU that was asked about, and the answer.
    pub why_not: Option<(u32, String)>,
}

impl Question {
    /// Runs up to the decision.
    ///
    /// # Errors
    /// The run cannot be made, or it has no such decision; the message says what there is.
    pub fn answer(&self) -> Result<Answer, StudyError> {
        let experiment = self.request.resolve()?.experiments.swap_remove(0);
        let workload = experiment.first_workload()?;
        let others = asked::others(
            &experiment,
            &experiment.policies[0],
            &workload,
            &self.request.own_set()?,
            &self.about.compare_policy,
        )?;
        let Experiment {
            platform, options, ..
        } = &experiment;
        for (option, cpu) in [
            ("--to", to(self.about.which())),
            ("--why-not", self.about.why_not),
        ] {
            asked::check_cpu(option, cpu, platform)?;
        }
        let task = self.about.task.as_deref();
        let asked = asked::asked(&workload, task, self.about.which())?;
        let policy = &experiment.policies[0];
        let explanation =
            wakeplace_engine::explain(platform, policy, &workload, options, &asked, &others)
                .map_err(|missing| asked::no_such(missing, self.about.which(), task, options))?;
        let why_not = self.about.why_not;
        let why_not = why_not.map(|cpu| (cpu, why_not::sentence(&explanation, platform, cpu)));
        Ok(Answer {
            wakeup_of_run: self.wakeup_of_run(),
            explanation,
            why_not,
            experiment,
        })
    }

    /// The number, if a wake-up of the run was asked for, whosever it is.
    fn wakeup_of_run(&self) -> Option<u64> {
        match (self.about.which(), &self.about.task) {
            (Which::Wakeup(number), None) => Some(number),
            _ => None,
        }
    }
}

impl Answer {
    /// The machine.
    #[must_use]
    pub fn platform(&self) -> &Platform {
        &self.experiment.platform
    }

    /// An estimate of energy as power on average, in the platform's unit.
    #[must_use]
    pub fn power(&self, energy: u64) -> f64 {
        power(&self.explanation, self.platform(), energy)
    }

    /// The same for people.
    #[must_use]
    pub fn shown_power(&self, energy: u64) -> String {
        why_not::figure(self.power(energy))
    }

    /// Why a CPU that was not chosen was dropped, in words.
    #[must_use]
    pub fn dropped(&self, seen: &Seen) -> &'static str {
        why_not::dropped(&self.explanation, seen)
    }

    /// Why a CPU was chosen for the task, in words.
    #[must_use]
    pub fn reason(&self, reason: Reason) -> &'static str {
        why_not::reason(&self.explanation, reason)
    }

    /// The runnable signal of a task, time that it runs or waits; None: the policy keeps none.
    #[must_use]
    pub fn runnable(&self, party: &Party) -> Option<u32> {
        // Queues have one where tasks have.
        let mut queues = self.explanation.explained.candidates.iter();
        let is_kept = queues.any(|seen| seen.runnable.is_some());
        is_kept.then_some(party.record.avg.runnable_avg)
    }

    /// The unit of powers; None: they are costs, which have none.
    #[must_use]
    pub fn power_unit(&self) -> Option<&'static str> {
        power_unit(&self.explanation, self.platform())
    }

    /// The answer as one JSON object, with a newline.
    #[must_use]
    pub fn json(&self) -> String {
        json::text(&json::answer(self))
    }
}

/// The CPU of "the first wake-up that chose this CPU".
fn to(which: Which) -> Option<u32> {
    match which {
        Which::To(cpu) => Some(cpu),
        Which::At(_) | Which::Wakeup(_) => None,
    }
}

/// The models take a bogo unit for a milliwatt.
pub(crate) fn power(explanation: &Explanation, platform: &Platform, energy: u64) -> f64 {
    let scale = match platform.power_unit {
        PowerUnit::Bogo => 1000.0,
        PowerUnit::Microwatt | PowerUnit::None => 1.0,
    };
    energy as f64 / explanation.energy_per_uw.unwrap_or(1.0) / scale
}

/// The unit of powers in answers; the core's estimates are in it. None: its energy model has costs
/// and no powers.
pub(crate) fn power_unit(explanation: &Explanation, platform: &Platform) -> Option<&'static str> {
    let unit = match platform.power_unit {
        PowerUnit::Bogo => "bogo",
        PowerUnit::Microwatt | PowerUnit::None => "uW",
    };
    (!explanation.energy_is_cost).then_some(unit)
}
