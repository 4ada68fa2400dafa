//! What an argument is: the one description that help, Python's functions, the playground's form
//! and the keys of files are made from (CONTRIBUTING.md, "Add an argument").
//!
//! What must stay: an argument's name and meaning; `default_of` and `is_needed_by` are the same for
//! the command line, the Python module, the playground's form and readers of files. Help, headings
//! and labels may change. Tests by part: `the_list_is_whole` (`check`, `is_taken_by`),
//! `what_is_wrong_names_its_argument` (`is_needed_by`, `Command`), `json_is_the_same_question`
//! (`Kind`, `is_flag`), `the_python_module_is_made_from_the_list` (`default_of` and `help` as
//! Python has them), sweep/tests.rs::`wrong_keys_and_values_are_named` (`is_axis`),
//! help.rs::`help_is_complete_and_fits` (`Place`, `help_of`).
//!
//! Tests: crates/study/src/ask/tests.rs, crates/cli/tests/all/help.rs::help_is_complete_and_fits

use crate::{About, Request, Source};

/// Who takes an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// `compare`
    Compare,
    /// `sim`
    Sim,
    /// `explain`
    Explain,
    /// `kernel diff`
    Diff,
    /// `sweep`
    Sweep,
    /// A sweep's file, which has a table `vary`
    SweepFile,
    /// `review`
    Review,
    /// `study run`
    Study,
    /// A study's file
    StudyFile,
    /// `evaluate`
    Evaluate,
}

impl Command {
    /// As it is typed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Compare => "compare",
            Self::Sim => "sim",
            Self::Explain => "explain",
            Self::Diff => "kernel diff",
            Self::Sweep => "sweep",
            Self::Review => "review",
            Self::Study => "study run",
            Self::SweepFile => "a sweep's file",
            Self::StudyFile => "a study's file",
            Self::Evaluate => "evaluate",
        }
    }
}

/// What an argument is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One text.
    Text,
    /// Seeds: a number of them, a list, or a text.
    Seeds,
    /// A whole number of 0 or more.
    Whole,
    /// A number of percent.
    Percent,
    /// It is there or not.
    Flag,
    /// Several texts, each given once more.
    Texts,
    /// Several pairs `KEY=VALUE`.
    Pairs,
    /// Platforms or workloads: names, paths, or texts with their names.
    Sources,
}

/// What `excludes` calls a sched_ext scheduler, which is no argument.
pub const SCHEDULER: &str = "scheduler";

/// Where an argument stands in help: a heading of the command line, a place below it, and whether
/// `-h` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Heading.
    pub heading: &'static str,
    /// Smaller ones come first.
    pub order: usize,
    /// Only `--help` shows it.
    pub long_only: bool,
}

/// How an argument looks in a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// What stands beside it.
    pub label: &'static str,
    /// What stands in it while it is empty.
    pub empty: &'static str,
    /// Below "More".
    pub more: bool,
}

/// What an argument wants changed.
#[derive(Clone, Copy)]
pub(crate) enum Read {
    /// A text of what is run; a flag's is empty.
    Run(fn(&mut Request, &str) -> Result<(), String>),
    /// A text of the decision that is asked about.
    Decision(fn(&mut About, &str) -> Result<(), String>),
    /// A platform or a workload.
    Source(fn(&mut Request, Source)),
    /// A text that the command takes by its name; here it is only checked.
    Own(fn(&str) -> Result<(), String>),
}

/// An argument.
#[derive(Clone, Copy)]
pub struct Argument {
    /// As Python, forms and files write it; the command line has `-` for `_`.
    pub name: &'static str,
    /// What it is written as.
    pub kind: Kind,
    /// What stands for its value in help.
    pub value_name: &'static str,
    /// What it does, in one line.
    pub help: &'static str,
    /// The rest, for `--help`.
    pub more: &'static str,
    /// What Python's help says, where it is not the same line.
    pub python: Option<&'static str>,
    /// What is expected of a value in Python.
    pub expected: &'static str,
    /// In help.
    pub place: Place,
    /// Who takes it.
    pub taken_by: &'static [Command],
    /// Who cannot do without it.
    pub needed_by: &'static [Command],
    /// What is taken where it is not given.
    pub defaults: &'static [(Command, &'static str)],
    /// The line of [`Argument::help`] where a command has another.
    pub helps: &'static [(Command, &'static str)],
    /// What cannot stand beside it: arguments, and [`SCHEDULER`].
    pub excludes: &'static [&'static str],
    /// In forms; None: it has no field.
    pub field: Option<Field>,
    pub(crate) read: Read,
}

impl std::fmt::Debug for Argument {
    /// The name alone: functions have no form to show.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Argument {
    /// Two arguments are one if their names are: the list has each once.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Argument {
    /// Does the command take it?
    #[must_use]
    pub fn is_taken_by(&self, command: Command) -> bool {
        match command {
            // The file says how many.
            Command::SweepFile => self.is_taken_by(Command::Sweep) && self.kind != Kind::Seeds,
            _ => self.taken_by.contains(&command),
        }
    }

    /// Can the command not do without it?
    #[must_use]
    pub fn is_needed_by(&self, command: Command) -> bool {
        self.needed_by.contains(&command)
    }

    /// What the command takes where it is not given.
    #[must_use]
    pub fn default_of(&self, command: Command) -> Option<&'static str> {
        let mut own = self.defaults.iter().filter(|(of, _)| *of == command);
        own.next().map(|(_, value)| *value)
    }

    /// Is it there or not?
    #[must_use]
    pub fn is_flag(&self) -> bool {
        self.kind == Kind::Flag
    }

    /// Can it be given more than once?
    #[must_use]
    pub fn takes_several(&self) -> bool {
        matches!(self.kind, Kind::Texts | Kind::Pairs | Kind::Sources)
    }

    /// Does the command line take it without an option's name?
    #[must_use]
    pub fn is_positional(&self, command: Command) -> bool {
        command == Command::Evaluate && self.is_needed_by(command)
    }

    /// Can a sweep vary it?
    #[must_use]
    pub fn is_axis(&self) -> bool {
        let one = matches!(self.kind, Kind::Text | Kind::Sources) || self.name == "policy";
        one && self.is_taken_by(Command::Sweep)
    }

    /// Its line in a command's help.
    #[must_use]
    pub fn help_of(&self, command: Command) -> &'static str {
        let mut own = self.helps.iter().filter(|(of, _)| *of == command);
        own.next().map_or(self.help, |(_, help)| help)
    }

    /// As the command line writes it, without `--`.
    #[must_use]
    pub fn option(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Reads a value by itself.
    ///
    /// # Errors
    /// What is wrong, and what was expected.
    pub fn check(&self, text: &str) -> Result<(), String> {
        match self.read {
            Read::Run(read) => read(&mut Request::default(), text),
            Read::Decision(read) => read(&mut About::default(), text),
            Read::Source(_) => Ok(()),
            Read::Own(check) => check(text),
        }
    }
}
