//! How a benchmark's tasks are grouped: `grouping=none|one|two|nested` (docs/guide/workloads.md).
//!
//! Called by models of pairs. Groups change who shares with whom, not what tasks do: scripts and
//! draws stay.
//!
//! What must stay: the words `none`, `one`, `two`, `nested`; every task is in a group, or none is.
//! Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of
//! messages that no test quotes. Tests by part: `all_tasks_of_a_session_are_in_its_group` (`one`),
//! `two_groups_part_each_pair` (`two`), `a_model_is_told_without_addresses` (`Second`),
//! `another_word_is_refused` (`grouped`),
//! group_limits.rs::`models_have_keys` (limits of such a group),
//! periodic.rs::`what_was_meant_is_said` (a misspelt word), all (`group`, `expand`; `expanded` is
//! the tests' own). `warnings` has no test of its own.
//!
//! Tests: below, crates/workload/tests/all/group_limits.rs, crates/workload/tests/all/periodic.rs

use super::limits::Limits;
use super::values::Values;
use super::{Model, ParameterInfo, parameter};
use crate::MachineFacts;
use crate::error::WorkloadError;
use crate::script::{TaskGroup, TaskScript, Workload};
use std::fmt;
use std::sync::Arc;

/// The key.
pub(crate) const GROUPING: ParameterInfo = parameter(
    "grouping",
    "none, one, two or nested",
    "none",
    "task groups: none, all in the root; one, as in a container or a session; two, the second of \
     each pair in a session of its own, as daemons are; nested, one group in two others",
);

/// What it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grouping {
    None,
    One,
    Two,
    Nested,
}

/// Groups around the inner one of `nested`: a session is in its user's slice, and that in the slice
/// of all users; a service's or a container's scope is as deep or deeper.
const OUTER: usize = 2;

/// Whether a task of a name is the second of a pair. Its `Debug` has no address: a workload's hash
/// is made of that text, and is the same on each machine.
struct Second(fn(&str) -> bool);

impl fmt::Debug for Second {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Second")
    }
}

/// A model whose tasks are in groups.
#[derive(Debug)]
struct Grouped<M> {
    model: M,
    grouping: Grouping,
    limits: Limits,
    second: Second,
}

/// The model with the groups that its `grouping` says. `second`: by its name, is a task the second
/// of a pair (a server, a child, a worker)?
pub(crate) fn grouped(
    argument: &str,
    values: &Values<'_>,
    model: impl Model + 'static,
    second: fn(&str) -> bool,
) -> Result<Arc<dyn Model>, WorkloadError> {
    let words = [
        ("none", Grouping::None),
        ("one", Grouping::One),
        ("two", Grouping::Two),
        ("nested", Grouping::Nested),
    ];
    let grouping = values.word(GROUPING.name, words)?;
    let groups = match grouping {
        Grouping::None => 0,
        Grouping::One | Grouping::Nested => 1,
        Grouping::Two => 2,
    };
    let limits = Limits::read(argument, values, groups)?;
    Ok(match grouping {
        Grouping::None => Arc::new(model),
        grouping => Arc::new(Grouped {
            model,
            grouping,
            limits,
            second: Second(second),
        }),
    })
}

/// The tasks for which this holds, as a group.
fn group(
    name: &str,
    outer: usize,
    tasks: &[TaskScript],
    holds: impl Fn(&str) -> bool,
) -> TaskGroup {
    let members = (0..).zip(tasks).filter(|(_, task)| holds(&task.name));
    TaskGroup {
        outer: vec![TaskGroup::DEFAULT_SHARES; outer],
        tasks: members.map(|(index, _)| index).collect(),
        ..TaskGroup::new(name)
    }
}

impl<M: Model> Model for Grouped<M> {
    /// Those of the model itself.
    fn warnings(&self, argument: &str) -> Vec<String> {
        self.model.warnings(argument)
    }

    /// The model's scripts, then the groups that hold them.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let mut workload = self.model.expand(argument, seed, machine)?;
        let (tasks, second) = (&workload.tasks, self.second.0);
        workload.groups = match self.grouping {
            Grouping::None => Vec::new(),
            Grouping::One => vec![group("session", 0, tasks, |_| true)],
            Grouping::Two => vec![
                group("session", 0, tasks, |name| !second(name)),
                group("daemon", 0, tasks, second),
            ],
            Grouping::Nested => vec![group("session", OUTER, tasks, |_| true)],
        };
        self.limits.apply(&mut workload.groups);
        Ok(workload)
    }
}

#[cfg(test)]
mod tests {
    use crate::{MachineFacts, Spec, Workload};

    fn expanded(argument: &str) -> Workload {
        let spec = Spec::parse(argument, &crate::LoadOptions::default()).unwrap();
        spec.expand(1, MachineFacts::alike(4)).unwrap()
    }

    #[test]
    fn all_tasks_of_a_session_are_in_its_group() {
        for (grouping, outer) in [("one", 0), ("nested", 2)] {
            let load = expanded(&format!("netperf-tcp-rr:pairs=3,grouping={grouping}"));
            let all: Vec<u32> = (0..load.tasks.len() as u32).collect();
            assert_eq!(load.groups.len(), 1);
            assert_eq!(load.groups[0].tasks, all);
            assert_eq!(load.groups[0].outer, vec![1024; outer]);
        }
        assert!(expanded("netperf-tcp-rr:pairs=3").groups.is_empty());
    }

    /// Goal: what a workload's hash is made of has no address of this run.
    #[test]
    fn a_model_is_told_without_addresses() {
        let spec = Spec::parse(
            "netperf-udp-rr:pairs=1,grouping=two",
            &crate::LoadOptions::default(),
        );
        let told = format!("{:?}", spec.expect("a model"));
        assert!(told.contains("Second") && !told.contains("0x"), "{told}");
    }

    #[test]
    fn two_groups_part_each_pair() {
        for (argument, second) in [
            ("netperf-udp-rr:pairs=2,start=ready", "netserver"),
            ("context-switch:pairs=2", "child"),
            ("tbench:clients=2", "tbench-srv"),
            ("oltp:clients=2", "server"),
            ("messaging:groups=1", "receiver"),
            ("schbench:messages=2", "message-0-worker-0"),
        ] {
            let load = expanded(&format!("{argument},grouping=two"));
            let named = |group: usize| {
                let tasks = load.groups[group].tasks.iter();
                let names: Vec<&str> = tasks.map(|t| &*load.tasks[*t as usize].name).collect();
                names
            };
            let (first, rest) = (named(0), named(1));
            assert!(
                !first.iter().any(|name| name.starts_with(second)),
                "{first:?}"
            );
            assert!(rest.iter().any(|name| name.starts_with(second)), "{rest:?}");
            assert_eq!(first.len() + rest.len(), load.tasks.len());
        }
    }

    #[test]
    fn another_word_is_refused() {
        let load = crate::LoadOptions::default();
        let error = Spec::parse("tbench:grouping=three", &load).unwrap_err();
        assert!(
            error.to_string().contains("none, one, two or nested"),
            "{error}"
        );
    }
}
