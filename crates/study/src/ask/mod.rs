//! What somebody asks for in the words of the command line: the one way from them to a request, and
//! back to a command or lines of Python that give the same bytes (CONTRIBUTING.md, "Add an
//! argument").
//!
//! What must stay: an ask holds words and reads nothing until `request`; values of one argument
//! stand as they were given, arguments in the order of `ARGUMENTS`; the first wrong argument is the
//! error, and it is named. Tests by part: `what_is_wrong_names_its_argument` (`argument`, `check`,
//! `request`, `remove`), `json_is_the_same_question` (`give`), `bytes_are_as_good_as_a_file`
//! (`Value`, `apply`), `a_decision_is_asked_for_in_the_same_words` (`question`, `all`),
//! sweep/tests.rs::`wrong_keys_and_values_are_named` (`beside`),
//! crates/wasm/src/answer/tests.rs::`a_file_takes_the_place_of_its_name` (`sources_mut`),
//! test_results.py::`test_a_study_is_judged_by_its_margin` (`study_options`).
//!
//! Tests: crates/study/src/ask/tests.rs

mod argument;
mod arguments;
mod json;
mod python;
mod values;
mod words;

pub use argument::{Argument, Command, Field, Kind, Place, SCHEDULER};
pub use arguments::ARGUMENTS;
pub use python::python_module;
pub use values::{
    margin as parse_margin, seed as parse_seed, setting as parse_setting, whole as parse_whole,
};

use crate::{About, Question, Request, Source, StudyOptions};
use argument::Read;
use wakeplace_text::{did_you_mean, nearest};

/// The arguments that are given, as they were written. A value is read when a request is made of
/// it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    /// Each argument once, in the order of [`ARGUMENTS`].
    given: Vec<(&'static Argument, Vec<Value>)>,
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// As it was written; of a flag, nothing.
    Text(String),
    /// A platform or a workload.
    Source(Source),
}

impl From<&str> for Value {
    /// Words as they are typed.
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Source> for Value {
    /// A platform or workload whose text the caller already has.
    fn from(source: Source) -> Self {
        Self::Source(source)
    }
}

/// An argument that cannot be read, or several that do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The value of one argument.
    #[error("{argument}: {why}")]
    Value {
        /// Which.
        argument: &'static str,
        /// What is wrong, and what was expected.
        why: String,
    },
    /// There is none of this name.
    #[error("`{0}` is no argument{1}")]
    Unknown(String, String),
    /// Too many or too few of something.
    #[error("{0}")]
    Count(String),
}

/// The argument of a name.
///
/// # Errors
/// There is none; the message has the nearest.
pub fn argument(name: &str) -> Result<&'static Argument, AskError> {
    let found = ARGUMENTS.iter().find(|argument| argument.name == name);
    found.ok_or_else(|| {
        let names = ARGUMENTS.iter().map(|argument| argument.name);
        let hint = did_you_mean(nearest(name, names));
        AskError::Unknown(wakeplace_text::shorten(name), hint)
    })
}

impl Ask {
    /// Adds a value of an argument.
    pub fn give(&mut self, argument: &'static Argument, value: impl Into<Value>) {
        let value = match (argument.kind, value.into()) {
            (Kind::Sources, Value::Text(name)) => Value::Source(Source::named(name)),
            (_, value) => value,
        };
        if let Some((_, values)) = self.given.iter_mut().find(|(own, _)| *own == argument) {
            return values.push(value);
        }
        let order = |of: &Argument| ARGUMENTS.iter().position(|one| one == of);
        let at = { self.given.iter() }.take_while(|(own, _)| order(own) < order(argument));
        let at = at.count();
        self.given.insert(at, (argument, vec![value]));
    }

    /// The same with a name that there is.
    ///
    /// # Panics
    /// There is no such argument.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.give(argument(name).expect("a name of `ARGUMENTS`"), value);
        self
    }

    /// Takes all values of an argument away.
    pub fn remove(&mut self, name: &str) {
        self.given.retain(|(argument, _)| argument.name != name);
    }

    /// The values of an argument.
    pub fn values(&self, name: &str) -> &[Value] {
        let found = self
            .given
            .iter()
            .find(|(argument, _)| argument.name == name);
        found.map_or(&[], |(_, values)| values)
    }

    /// The values of an argument as they were written; of a platform or workload, its name.
    #[must_use]
    pub fn texts(&self, name: &str) -> Vec<&str> {
        let texts = self.values(name).iter().map(|value| match value {
            Value::Text(text) => text.as_str(),
            Value::Source(source) => source.name(),
        });
        texts.collect()
    }

    /// Is the argument given?
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        !self.values(name).is_empty()
    }

    /// The platforms and workloads, to be filled with what they name.
    pub fn sources_mut(&mut self) -> impl Iterator<Item = &mut Source> {
        let values = { self.given.iter_mut() }.flat_map(|(_, values)| values);
        values.filter_map(|value| match value {
            Value::Source(source) => Some(source),
            Value::Text(_) => None,
        })
    }

    /// All that is given.
    pub fn given(&self) -> impl Iterator<Item = (&'static Argument, &[Value])> {
        { self.given.iter() }.map(|(argument, values)| (*argument, values.as_slice()))
    }

    /// Changes a request by all that is given: what holds one value is replaced, what holds several
    /// gets more.
    ///
    /// # Errors
    /// The first argument that cannot be read.
    pub fn apply(&self, request: &mut Request, about: &mut About) -> Result<(), AskError> {
        for (argument, values) in &self.given {
            for value in values {
                let read = match (argument.read, value) {
                    (Read::Run(read), Value::Text(text)) => read(request, text),
                    (Read::Decision(read), Value::Text(text)) => read(about, text),
                    (Read::Own(check), Value::Text(text)) => check(text),
                    (Read::Source(read), Value::Source(source)) => {
                        read(request, source.clone());
                        Ok(())
                    }
                    _ => Err("expected another kind of value".to_owned()),
                };
                let argument = argument.name;
                read.map_err(|why| AskError::Value { argument, why })?;
            }
        }
        Ok(())
    }

    /// What a command runs; what belongs to files of platforms and workloads is read later.
    ///
    /// # Errors
    /// The first argument that cannot be read.
    pub fn request(&self, command: Command) -> Result<Request, AskError> {
        let mut request = Request::default();
        self.all(command)
            .apply(&mut request, &mut About::default())?;
        Ok(request)
    }

    /// A request of a file with what is given instead of what the file says; settings are added.
    ///
    /// # Errors
    /// The first argument that cannot be read.
    pub fn beside(&self, mut base: Request) -> Result<Request, AskError> {
        if self.has("platform") {
            base.platforms.clear();
        }
        if self.has("workload") {
            base.workloads.clear();
        }
        if self.has("policy") {
            base.policies.clear();
        }
        self.apply(&mut base, &mut About::default())?;
        Ok(base)
    }

    /// How a study is run.
    ///
    /// # Errors
    /// The first argument that cannot be read.
    pub fn study_options(&self) -> Result<StudyOptions, AskError> {
        let request = self.request(Command::Study)?;
        Ok(StudyOptions {
            seeds: self.has("seeds").then_some(request.seeds),
            duration_ns: request.duration_ns,
            set: request.set,
            margin_pct: self.has("margin").then_some(request.margin_pct),
            ..StudyOptions::default()
        })
    }

    /// What `explain` asks.
    ///
    /// # Errors
    /// As [`Ask::request`], and what [`Ask::check`] finds.
    pub fn question(&self, schedulers: usize) -> Result<Question, AskError> {
        self.check(Command::Explain, schedulers)?;
        let (mut request, mut about) = (Request::default(), About::default());
        self.all(Command::Explain).apply(&mut request, &mut about)?;
        Ok(Question { request, about })
    }

    /// With what the command takes where nothing is given.
    fn all(&self, command: Command) -> Self {
        let mut all = self.clone();
        for argument in &ARGUMENTS {
            let excluded = argument.excludes.iter().any(|name| self.has(name));
            let default = argument.default_of(command);
            if let Some(text) = default.filter(|_| !self.has(argument.name) && !excluded) {
                all.give(argument, text);
            }
        }
        all
    }

    /// Does the command take what is given, and does it need no more? sched_ext schedulers count as
    /// policies.
    ///
    /// # Errors
    /// What there is too much or too little of.
    pub fn check(&self, command: Command, schedulers: usize) -> Result<(), AskError> {
        let said = |why: String| Err(AskError::Count(why));
        let name = command.name();
        for (argument, _) in &self.given {
            let own = argument.name;
            if !argument.is_taken_by(command) {
                return said(format!(
                    "{name} takes no {own}; expected a command that does"
                ));
            }
            let beside = |other: &&&str| match **other {
                SCHEDULER => schedulers > 0,
                other => self.has(other),
            };
            if let Some(other) = argument.excludes.iter().find(beside) {
                return said(format!(
                    "{name}: both {own} and {other} are given; expected one of them"
                ));
            }
        }
        let count = |own: &str| match own {
            "policy" => self.values(own).len() + schedulers,
            _ => self.values(own).len(),
        };
        let needed = ARGUMENTS.iter().filter(|one| one.is_needed_by(command));
        for Argument { name: own, .. } in needed {
            match (command, count(own)) {
                (_, 0) => return said(format!("no {own} given; expected at least one")),
                (Command::Sim | Command::Explain | Command::Diff | Command::Evaluate, n)
                    if n > 1 =>
                {
                    let own = match *own {
                        "policy" => "policy or scheduler",
                        own => own,
                    };
                    let several = match command {
                        Command::Sim => ", or `wakeplace compare` for several",
                        _ => "",
                    };
                    return said(format!(
                        "{name} takes one {own}, and {n} are given; expected one{several}"
                    ));
                }
                (Command::Compare, 1) if *own == "policy" && schedulers == 0 => {
                    return said(format!(
                        "compare needs two policies or more, and `{}` is the only policy; \
                         expected another one, or `wakeplace sim` for a single policy",
                        self.texts("policy")[0]
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
