//! Counts of real runs, kept in a file so that the page can be made without a guest
//! (docs/guide/workloads.md, "How it is counted").
//!
//! What must stay: the form of the file, which `record` writes. Free: what leaves the tables of
//! pages as they are. Tests by part: `every_program_has_its_runs` (`recorded`, `runs`),
//! `a_file_that_breaks_a_rule_is_refused` (`parse`).
//!
//! Callers: programs.rs (`recorded`).
//!
//! Tests: below

use super::Run;
use super::list::Program;
use crate::Error;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The file within the repository, and its text.
const FILE: (&str, &str) = (
    "crates/fidelity/data/real_programs.json",
    include_str!("../../data/real_programs.json"),
);

/// Real runs, and where they were made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recorded {
    /// The command that made the file.
    pub(super) made_by: String,
    /// What the guest's kernel calls itself.
    pub(super) release: String,
    /// Debian packages and their versions: the kernel's, and the programs'.
    pub(super) packages: BTreeMap<String, String>,
    /// The emulated machine.
    pub(super) machine: String,
    /// Its CPUs.
    pub(super) cpus: u32,
    /// What emulates it.
    pub(super) emulator: String,
    /// In the order of the page.
    pub(super) programs: Vec<RealProgram>,
}

/// Runs of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RealProgram {
    /// Its key.
    pub(super) program: String,
    /// What was run.
    pub(super) command: String,
    /// At least one.
    pub(super) runs: Vec<Run>,
}

/// The runs of the repository.
pub(super) fn recorded() -> Result<Recorded, Error> {
    parse(FILE.0, FILE.1)
}

/// A file of another form, or without events, is refused.
fn parse(name: &str, text: &str) -> Result<Recorded, Error> {
    let wrong = |why: String| Error::Input(format!("{name}: {why}"));
    let recorded: Recorded =
        serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    for program in &recorded.programs {
        let key = &program.program;
        if program.runs.is_empty() || program.runs.iter().any(|run| run.events == 0) {
            return Err(wrong(format!("{key}: expected runs, each with events")));
        }
    }
    Ok(recorded)
}

impl Recorded {
    /// The runs of a program; an error if there are none, or of another command than now.
    pub(super) fn runs(&self, program: &Program) -> Result<&[Run], Error> {
        let found = self.programs.iter().find(|own| own.program == program.key);
        let now = program.command.join(" ");
        match found {
            Some(own) if own.command == now => Ok(&own.runs),
            Some(own) => Err(Error::Input(format!(
                "{}: {} was recorded as `{}`, and is `{now}` now; record it again with `{}`",
                FILE.0, program.key, own.command, self.made_by
            ))),
            None => Err(Error::Input(format!(
                "{}: there is no run of {}",
                FILE.0, program.key
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::list;

    #[test]
    fn every_program_has_its_runs() {
        let recorded = recorded().expect("valid");
        for program in &list::PROGRAMS {
            let runs = recorded.runs(program).expect("there");
            for run in runs {
                let tasks: u64 = run.structure.tasks.values().sum();
                // All but the first were made by it.
                assert_eq!(run.structure.forks + 1, tasks, "{}", program.key);
            }
        }
    }

    #[test]
    fn a_file_that_breaks_a_rule_is_refused() {
        let runs = "\"runs\": [{\"events\": 0, \"structure\": {\"tasks\": {}, \"forks\": 0, \
                    \"execs\": 0, \"wakes\": {}, \"sleeps\": {}, \"gave_way\": {}}}]";
        let file = |runs: &str| {
            format!(
                "{{\"made_by\": \"x\", \"release\": \"7\", \"packages\": {{}}, \
                 \"machine\": \"m\", \"cpus\": 4, \"emulator\": \"q\", \
                 \"programs\": [{{\"program\": \"rt-app\", \"command\": \"old\", {runs}}}]}}"
            )
        };
        for (text, expected) in [
            (file(runs), "f: rt-app: expected runs"),
            (file("\"runs\": []"), "f: rt-app: expected runs"),
            (file(runs).replace("cpus", "cpsu"), "unknown field `cpsu`"),
        ] {
            let refused = parse("f", &text).expect_err(expected);
            assert!(
                matches!(&refused, Error::Input(why) if why.contains(expected)),
                "{refused:?}"
            );
        }
        let old = parse("f", &file(&runs.replace("\"events\": 0", "\"events\": 1")));
        let old = old.expect("valid");
        let program = |key: &str| list::chosen(&[key.to_owned()]).expect("known")[0];
        assert!(old.runs(program("rt-app")).is_err());
        assert!(old.runs(program("cyclictest")).is_err());
    }
}
