//! One decision of a tree's own code: the state that it found, and what policies of the core answer
//! to the same question (docs/guide/kernel.md, "In a run").
//!
//! What must stay: keys of the JSON (`crates/outcome` has them); figures are the tree's own and in
//! its own units; what the core answers changes nothing of the tree's run; the nearest era comes
//! first. Tests by part: `a_decision_is_explained_by_the_trees_own_figures` (`tree_answer`,
//! `outcome`, `wakeup`, `candidate`, `core_policies`, where a tree is built). `ask_core`'s refusals
//! have no test of their own.
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs::a_decision_is_explained_by_the_trees_own_figures

use super::{Question, asked, json, to};
use crate::tree::{check, runs_of};
use crate::{Experiment, StudyError};
use wakeplace_engine::{NoTreeExplanation, TreeExplanation, explain_tree};
use wakeplace_kernel_abi::Choice;
use wakeplace_outcome::{Other, TreeCandidate, TreeDecision, TreeEnergy, TreeTask, TreeWakeup};
use wakeplace_policy_sys::{Explained, Policy};

/// What a policy of the core answers to the tree's question.
#[derive(Clone, Debug)]
pub struct CoreAnswer {
    /// Its name.
    pub policy: String,
    /// The answer, with its candidates.
    pub explained: Explained,
}

/// A decision of a tree and where it is from.
#[derive(Debug)]
pub struct TreeAnswer {
    /// The run; its first policy is the tree.
    pub experiment: Experiment,
    /// The decision.
    pub told: TreeExplanation,
    /// It was asked for as the run's wake-up of this number, from 1.
    pub wakeup_of_run: Option<u64>,
    /// Of each CPU the name of the idle state that it is in; None: it is in none.
    pub idle: Vec<Option<String>>,
    /// Policies of the core on the same state: the first is the one whose candidates are shown.
    pub core: Vec<CoreAnswer>,
    /// The CPU that was asked about.
    pub why_not: Option<u32>,
}

impl Question {
    /// The run's policy is a tree's own code, whose decisions [`Question::tree_answer`] explains.
    #[must_use]
    pub fn is_of_tree(&self) -> bool {
        let mut policies = self.request.policies.iter();
        policies.any(|name| name.starts_with(wakeplace_policy_sys::TREE_PREFIX))
    }

    /// Runs up to the decision of a tree.
    ///
    /// # Errors
    /// The run cannot be made, the tree fails before, or it has no such decision; the message says
    /// what there is.
    pub fn tree_answer(&self) -> Result<TreeAnswer, StudyError> {
        let experiment = self.request.resolve()?.experiments.swap_remove(0);
        let workload = experiment.first_workload()?;
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
        let tree = &experiment.policies[0];
        check(tree, &workload, options)?;
        let runs = runs_of(tree).expect("a policy of a tree's name has its code")?;
        let policies = self.core_policies(&experiment, &workload)?;
        let told = explain_tree(&workload, &asked, |observer| {
            runs.run(platform, &workload, options, observer)
        });
        let told = told.map_err(|why| match why {
            NoTreeExplanation::Missing(missing) => {
                asked::no_such(missing, self.about.which(), task, options)
            }
            NoTreeExplanation::Run(reason) => StudyError::Tree {
                name: tree.name().to_owned(),
                reason,
            },
        })?;
        Ok(TreeAnswer {
            wakeup_of_run: self.wakeup_of_run(),
            idle: told.idle(platform),
            core: ask_core(
                &told,
                &experiment,
                &policies,
                !self.about.compare_policy.is_empty(),
            )?,
            why_not: self.about.why_not,
            told,
            experiment,
        })
    }

    /// Those named; without any the era that is nearest to the tree, then the others.
    fn core_policies(
        &self,
        experiment: &Experiment,
        workload: &wakeplace_workload::Workload,
    ) -> Result<Vec<Policy>, StudyError> {
        let era = experiment.policies[0].tree().map(|tree| tree.era());
        let nearest = Policy::parse(era.unwrap_or("linux-7.3"))?;
        let named = &self.about.compare_policy;
        let others = asked::others(
            experiment,
            &nearest,
            workload,
            &self.request.own_set()?,
            named,
        )?;
        Ok(match named.is_empty() {
            true => std::iter::once(nearest).chain(others).collect(),
            false => others,
        })
    }
}

/// Where the nearest era cannot be asked on this machine nobody is; a policy that was named must.
fn ask_core(
    told: &TreeExplanation,
    experiment: &Experiment,
    policies: &[Policy],
    named: bool,
) -> Result<Vec<CoreAnswer>, StudyError> {
    let mut answers = Vec::new();
    for policy in policies {
        match told.asked_of(&experiment.platform, policy) {
            Ok(explained) => answers.push(CoreAnswer {
                policy: policy.name().to_owned(),
                explained,
            }),
            Err(error) if named => {
                let name = policy.name();
                return Err(StudyError::Explain(format!(
                    "--compare-policy {name}: {error}"
                )));
            }
            Err(_) if answers.is_empty() => break,
            Err(_) => {}
        }
    }
    Ok(answers)
}

impl TreeAnswer {
    /// What the tree is, in results.
    #[must_use]
    pub fn tree(&self) -> &str {
        self.experiment.policies[0].name()
    }

    /// The CPUs that the task may use.
    pub fn allowed(&self) -> impl Iterator<Item = &Choice> {
        let all = self.told.decided.choices.iter();
        all.filter(|choice| choice.allowed != 0 && choice.online != 0)
    }

    /// What the first policy of the core says of a CPU, in words; it chose it: None.
    #[must_use]
    pub fn dropped(&self, cpu: u32) -> Option<&'static str> {
        let explained = &self.core.first()?.explained;
        let seen = explained.candidates.get(cpu as usize)?;
        (explained.choice.cpu != cpu).then(|| seen.dropped.doc())
    }

    /// The answer as one JSON object, with a newline.
    #[must_use]
    pub fn json(&self) -> String {
        json::text(&self.outcome())
    }

    /// The whole answer, in the types of results.
    pub(crate) fn outcome(&self) -> TreeDecision {
        let (told, facts) = (&self.told, &self.told.decided.facts);
        let core = self.core.iter().map(|core| Other {
            policy: core.policy.clone(),
            cpu: core.explained.choice.cpu,
            rule: core.explained.choice.rule.name().to_owned(),
            reason: core.explained.choice.reason.name().to_owned(),
            same_signals: None,
        });
        let energies = told.decided.energies.iter().map(|energy| TreeEnergy {
            first_cpu: energy.first_cpu,
            best_cpu: energy.best(),
            without: energy.without,
            with: energy.with,
        });
        TreeDecision {
            schema_version: crate::SCHEMA_VERSION,
            platform: self.experiment.platform.name.clone(),
            workload: self.experiment.workload.name.clone(),
            policy: self.tree().to_owned(),
            seed: self.experiment.seeds[0],
            wakeup: self.wakeup(),
            cpu: facts.answer,
            reason: told.placement.reason.name().to_owned(),
            energy_aware: facts.energy_aware != 0,
            overutilized: facts.overutilized != 0,
            candidates: self
                .allowed()
                .map(|choice| self.candidate(choice))
                .collect(),
            energies: energies.collect(),
            core: core.collect(),
        }
    }

    /// What was asked, in the types of results.
    fn wakeup(&self) -> TreeWakeup {
        let (told, facts) = (&self.told, &self.told.decided.facts);
        let party = &told.decided.party;
        TreeWakeup {
            kind: told.placement.kind.name().to_owned(),
            number: told.number,
            number_in_run: self.wakeup_of_run,
            time_ns: told.time_ns,
            task: TreeTask {
                load_avg: party.load,
                weight: party.weight,
                wakee_flips: party.wakee_flips,
                idle_policy: party.idle_policy != 0,
                runnable_avg: facts.runnable,
                recent_used_cpu: party.recent_used_cpu,
                name: told.task.clone(),
                util_avg: facts.util,
                util_est: facts.util_est,
                uclamp_min: facts.uclamp_min,
                uclamp_max: facts.uclamp_max,
            },
            waker: told.waker.clone(),
            interrupt: facts.in_interrupt != 0,
            waker_cpu: facts.cpu,
            sync: facts.sync != 0,
            flags: facts.flags,
            prev_cpu: facts.prev,
        }
    }

    /// A CPU as the tree knows it, in the types of results.
    fn candidate(&self, choice: &Choice) -> TreeCandidate {
        TreeCandidate {
            cpu: choice.cpu,
            util: choice.util,
            util_est: choice.util_est,
            runnable: choice.runnable,
            load: choice.load,
            capacity: choice.capacity,
            capacity_orig: choice.capacity_orig,
            nr_running: choice.nr_running,
            pending: choice.pending != 0,
            nr_idle_policy: choice.nr_idle_policy,
            util_rt: choice.util_rt,
            util_dl: choice.util_dl,
            util_irq: choice.util_irq,
            uclamp_min: choice.uclamp_min,
            uclamp_max: choice.uclamp_max,
            nr_idle_scan: choice.nr_idle_scan,
            has_idle_cores: choice.has_idle_cores != 0,
            idle: choice.idle != 0,
            idle_state: self.idle[choice.cpu as usize].clone(),
            dropped_by_core: self.dropped(choice.cpu).map(str::to_owned),
        }
    }
}
