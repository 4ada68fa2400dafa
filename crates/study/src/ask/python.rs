//! The Python package's functions, made from the arguments: signatures and help
//! (docs/guide/python.md).
//!
//! What must stay: names, order and defaults of parameters, as callers have them. Help may change:
//! the example `python-module` writes the file again. Tests by part:
//! `the_python_module_is_made_from_the_list` (`python_module`, all of it),
//! `test_functions_agree_on_the_arguments_that_they_share` (`parameters`, `parameter`).
//!
//! Tests: crates/study/src/ask/tests.rs::the_python_module_is_made_from_the_list,
//! crates/python/tests/test_results.py::test_functions_agree_on_the_arguments_that_they_share

use super::{ARGUMENTS, Argument, Command, Kind};

/// A function of the package: what it has beside the arguments.
struct Function {
    command: Command,
    name: &'static str,
    /// What comes first: name, type and default, and its help; several lines each.
    first: &'static [[&'static str; 2]],
    /// What comes last.
    last: &'static [[&'static str; 2]],
    about: &'static str,
    raises: &'static str,
    /// What is returned.
    result: &'static str,
}

const JOBS: [&str; 2] = [
    "jobs: int | None = None",
    "Threads; results do not depend on it. All CPUs unless given.",
];
const STORE: [&str; 2] = [
    "store: str | os.PathLike[str] | None = None",
    "A file that keeps the runs; a call with the same arguments goes on with what it lacks.",
];
const EXECUTOR: [&str; 2] = [
    "executor: Any = None",
    "Who runs the cells: None for threads of this process (`jobs`), an executor of \
     ``concurrent.futures``, or a client of Dask distributed. This process alone writes the store.",
];

const FUNCTIONS: [Function; 6] = [
    Function {
        command: Command::Sim,
        name: "sim",
        first: &[],
        last: &[JOBS],
        about: "Simulates one policy, as ``wakeplace sim``.",
        raises: "What was asked for cannot be run.",
        result: "Result",
    },
    Function {
        command: Command::Compare,
        name: "compare",
        first: &[],
        last: &[JOBS],
        about: "Compares policies, as ``wakeplace compare``: every policy with every seed, on \
                every platform with every workload. The first policy is the base of the \
                differences.",
        raises: "What was asked for cannot be run.",
        result: "Result",
    },
    Function {
        command: Command::Explain,
        name: "explain",
        first: &[],
        last: &[],
        about: "One placement decision: its candidates, and what other policies would have done, \
                as ``wakeplace explain``.",
        raises: "There is no such decision; the message says what there is.",
        result: "Answer",
    },
    Function {
        command: Command::Evaluate,
        name: "evaluate",
        first: &[],
        last: &[JOBS],
        about: "One score of a policy beside a base on the loads of a battery, as ``wakeplace \
                evaluate``: 1 is like the base, more is better.",
        raises: "What was asked for cannot be run.",
        result: "Evaluation",
    },
    Function {
        command: Command::Sweep,
        name: "sweep",
        first: &[
            [
                "vary: Mapping[str, str | Iterable[Setting]]",
                "Key and values: a text as ``\"4..32:3\"`` (from, to, steps) or ``\"a,b\"``, or a \
                 list. Keys are {axes}, ``workload.KEY``, ``platform.PATH``, ``model.KEY``, or a \
                 parameter of the policies.",
            ],
            [
                "latin_hypercube: int | None = None",
                "So many points, drawn by ``design_seed``, instead of every value with every \
                 other.",
            ],
            ["design_seed: int = 1", "Seed of that draw."],
            [
                "base: Mapping[str, Setting] | None = None",
                "Keys and values of the point that others are compared with. Unless given the \
                 first of several policies, else the policy's own values of what is varied, or \
                 the first ones.",
            ],
        ],
        last: &[STORE, EXECUTOR, JOBS],
        about: "Runs every point of a design with every seed, as ``wakeplace sweep``. \
                ``platform``, ``workload`` and ``policy`` may be left out if they are varied.",
        raises: "A key or value is wrong, or the store is of another sweep.",
        result: "SweepResult",
    },
    Function {
        command: Command::Study,
        name: "study",
        first: &[
            [
                "names: str | os.PathLike[str] | Sequence[str]",
                "Names, in which ``*`` stands for anything, or files that end in ``.toml``.",
            ],
            [
                "quick: bool = False",
                "The reduced size, as the study says.",
            ],
            [
                "experiments: bool = False",
                "Also run what explains the result.",
            ],
            [
                "sensitivity: bool = False",
                "Try each conclusion at half and double of every assumed cost.",
            ],
        ],
        last: &[STORE, EXECUTOR, JOBS],
        about: "Runs studies, as ``wakeplace study run``; `studies` lists them. A file with a \
                table ``vary`` (studies/README.md) is a sweep: ``store`` and ``executor`` are \
                those of `sweep`, and so is the result.",
        raises: "There is no such study, or a file breaks a rule.",
        result: "Result | SweepResult",
    },
];

const HEAD: &str = r#""""The package's functions, with the command line's arguments.

`cargo run -p wakeplace-study --example python-module` writes this file from
crates/study/src/ask/arguments.rs, where an argument is described once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _run
from ._inputs import PlatformLike, Seeds, Setting, WorkloadLike, names_are_known
from ._result import Answer, Evaluation, Result, SweepResult
"#;

/// The module `wakeplace._ask`.
#[must_use]
pub fn python_module() -> String {
    let functions = FUNCTIONS.iter().map(Function::text);
    format!("{HEAD}{}", functions.collect::<String>())
}

impl Function {
    /// The arguments that this function takes, in the order of the list.
    fn arguments(&self) -> impl Iterator<Item = &'static Argument> + Clone {
        let command = self.command;
        ARGUMENTS.iter().filter(move |one| one.is_taken_by(command))
    }

    /// Each parameter with its help, those without a name at the call first.
    fn parameters(&self) -> (Vec<Parameter>, Vec<Parameter>) {
        let own = |all: &[[&'static str; 2]]| -> Vec<Parameter> {
            let one = |[typed, help]: &[&'static str; 2]| ((*typed).to_owned(), *help);
            all.iter().map(one).collect()
        };
        // Names of studies stand where other functions have platforms.
        let (names, first) = self.first.split_at(usize::from(self.name == "study"));
        let (mut unnamed, mut named) = (own(names), own(first));
        for argument in self.arguments() {
            let help = argument.python.unwrap_or(argument.help);
            let parameter = (parameter(argument, self.command), help);
            let is_unnamed = match self.command {
                Command::Evaluate => argument.is_needed_by(self.command),
                _ => matches!(argument.name, "platform" | "workload" | "policy"),
            };
            match is_unnamed {
                true => unnamed.push(parameter),
                false => named.push(parameter),
            }
        }
        named.extend(own(self.last));
        (unnamed, named)
    }

    /// The function with its signature and help, as it stands in the module.
    fn text(&self) -> String {
        let Self { name, result, .. } = self;
        let (unnamed, named) = self.parameters();
        let mut text = format!("\n\n@names_are_known\ndef {name}(\n");
        for (at, (typed, _)) in unnamed.iter().chain(&named).enumerate() {
            if at == unnamed.len() {
                text += "    *,\n";
            }
            text += &format!("    {typed},\n");
        }
        text += &format!(") -> {result}:\n");
        text += &wrapped(&format!("\"\"\"{}", self.about), 4, 4);
        text += "\n    Args:\n";
        for (typed, help) in unnamed.iter().chain(&named) {
            let own = typed.split(':').next().unwrap_or_default();
            let help = help.replace("{axes}", &axes());
            text += &wrapped(&format!("{own}: {help}"), 8, 12);
        }
        text += "\n    Raises:\n";
        text += &wrapped(&format!("WakeplaceError: {}", self.raises), 8, 12);
        text + &format!("    \"\"\"\n    return _run.{name}(locals())\n")
    }
}

/// The arguments that a sweep can vary.
fn axes() -> String {
    let axes = ARGUMENTS.iter().filter(|one| one.is_axis());
    let axes: Vec<String> = axes.map(|one| format!("``{}``", one.name)).collect();
    axes.join(", ")
}

/// Name, type and default, and the help.
type Parameter = (String, &'static str);

/// An argument as Python declares it: name, type and default.
fn parameter(argument: &Argument, command: Command) -> String {
    let name = argument.name;
    let several = matches!(
        command,
        Command::Compare | Command::Sweep | Command::Evaluate
    );
    let kind = match (argument.kind, name) {
        (Kind::Sources, _) => {
            let (first, rest) = name.split_at(1);
            let one = format!("{}{rest}Like", first.to_uppercase());
            match several {
                true => format!("{one} | Sequence[{one}]"),
                false => one,
            }
        }
        (Kind::Texts, "policy") => match command {
            Command::Compare => "Sequence[str]".to_owned(),
            Command::Sweep => "str | Sequence[str]".to_owned(),
            _ => "str".to_owned(),
        },
        (Kind::Texts, _) => "str | Iterable[str]".to_owned(),
        (Kind::Pairs, _) => "Mapping[str, Setting] | None".to_owned(),
        (Kind::Text, _) => "str | None".to_owned(),
        (Kind::Seeds, _) => "Seeds | None".to_owned(),
        (Kind::Whole, _) => "int | None".to_owned(),
        (Kind::Percent, _) => "float | None".to_owned(),
        (Kind::Flag, _) => "bool".to_owned(),
    };
    if let (Kind::Text, Some(default)) = (argument.kind, argument.default_of(command)) {
        return format!("{name}: str = \"{default}\"");
    }
    let absent = match argument.kind {
        _ if argument.is_needed_by(command) => return format!("{name}: {kind}"),
        Kind::Sources | Kind::Texts => "()",
        Kind::Flag => "False",
        _ => "None",
    };
    format!("{name}: {kind} = {absent}")
}

/// Lines of at most 99 characters; the first is indented by `first`, the others by `rest`.
fn wrapped(text: &str, first: usize, rest: usize) -> String {
    let mut lines = vec![" ".repeat(first)];
    let mut is_empty = true;
    for word in text.split(' ') {
        let line = lines.last_mut().expect("never empty");
        if !is_empty && line.chars().count() + 1 + word.chars().count() > 99 {
            lines.push(format!("{}{word}", " ".repeat(rest)));
            continue;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.join("\n") + "\n"
}
