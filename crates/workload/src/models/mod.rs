//! Built-in workload models: their catalogue and their `NAME:key=value,...` arguments
//! (docs/guide/workloads.md). A model and its keys stand once, in its `INFO`: list, help and checks
//! are made of it.
//!
//! Called by `Spec::parse`. A name or key that is there stays. Order of the catalogue is that of
//! lists. A new model is a module and one line of `MODELS`.
//!
//! What must stay: names of models and keys, their defaults, and the order of `MODELS`; a misspelt
//! name gets the nearest. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change
//! may touch"), and words of messages that no test quotes. Tests by part:
//! `the_catalogue_names_defaults_that_parse` (`catalogue`, `parameter`),
//! `other_names_lead_to_the_model` (`also`, `meant`, `nearest`),
//! `several_workloads_are_told_from_one` (lists of models), `other_names_are_no_names` (`find`),
//! `wrong_arguments_say_what_was_expected` (`load`, `split_name`, `fault`, `expected`),
//! `the_defaults_are_those_of_the_catalogue` (defaults against scripts),
//! `more_work_than_period_is_a_warning` (`warnings`), `other_names_lead_to_the_model`
//! (`unknown_model`), `wrong_arguments_say_what_was_expected` (`from`); `said` is the tests' own.
//! `expand` of a model has its tests in the model's file.
//!
//! Tests: below, crates/workload/tests/all/periodic.rs,
//! crates/workload/tests/all/benchmark_arguments.rs
mod adopt;
mod aim7_compute;
mod aim9;
mod aiostress;
mod builder;
mod busy_loops;
mod carrier;
mod class;
mod context_switch;
mod cyclictest;
mod dbench;
mod draw;
mod eas_behaviour;
mod grouping;
mod groups;
mod kbuild;
mod limits;
mod measures;
mod messaging;
mod netperf;
mod oltp;
mod parse;
mod periodic;
mod schbench;
mod shell;
mod specjbb;
mod sysbench;
mod sysbench_cpu;
mod sysbench_fileio;
mod sysbench_memory;
mod sysbench_threads;
mod tasks;
mod tbench;
mod tbench_load;
mod values;
mod work;
mod working_set;

use crate::error::{ArgumentFault, WorkloadError};
use crate::{MachineFacts, Workload};
pub(crate) use parse::cpu_list;
use std::fmt::Debug;
use std::sync::Arc;
use wakeplace_text::{nearest, one_at_a_time};

/// A built-in model, as `workload list` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// Name before the colon.
    pub name: &'static str,
    /// What people call it besides; offered, not taken.
    pub also: &'static [&'static str],
    /// One line.
    pub summary: &'static str,
    /// What can be set, in the order to show.
    pub parameters: &'static [ParameterInfo],
    /// The metric the benchmark is read by.
    pub metric: &'static str,
    /// Where the model comes from.
    pub source: &'static str,
}

/// A parameter of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// Key.
    pub name: &'static str,
    /// What people call it besides; offered, not taken.
    pub also: &'static [&'static str],
    /// Unit or form of the value.
    pub unit: &'static str,
    /// Value if the key is not given; empty if there is none.
    pub default: &'static str,
    /// One line.
    pub doc: &'static str,
}

/// What can be set.
const fn parameter(
    name: &'static str,
    unit: &'static str,
    default: &'static str,
    doc: &'static str,
) -> ParameterInfo {
    ParameterInfo {
        name,
        also: &[],
        unit,
        default,
        doc,
    }
}

/// What a model takes, a row each: key (and what people call it besides), form, default (empty:
/// none) and a line; or the name of a parameter that several models have.
macro_rules! parameters {
    (@ [$($done:expr,)*]) => { &[$($done,)*] };
    (@ [$($done:expr,)*] $shared:ident; $($rest:tt)*) => {
        parameters!(@ [$($done,)* $shared,] $($rest)*)
    };
    (
        @ [$($done:expr,)*]
        $key:literal $(also [$($also:literal),*])?, $form:expr, $default:expr, $doc:expr;
        $($rest:tt)*
    ) => {
        parameters!(@ [
            $($done,)*
            $crate::models::parameter($key, $form, $default, $doc)$(.also(&[$($also),*]))?,
        ] $($rest)*)
    };
    ($($rows:tt)*) => { parameters!(@ [] $($rows)*) };
}
use parameters;

impl ParameterInfo {
    /// The same key with what people call it besides.
    const fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }
}

/// The name that was meant: one that is called so besides, else the nearest.
fn meant(
    word: &str,
    names: impl Iterator<Item = (&'static str, &'static [&'static str])>,
) -> Option<&'static str> {
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let names: Vec<_> = names.collect();
    let called = names
        .iter()
        .find(|(_, also)| also.iter().any(|other| plain(other) == plain(word)));
    let nearest = || nearest(word, names.iter().map(|(name, _)| *name));
    called.map(|(name, _)| *name).or_else(nearest)
}

/// The most tasks that an argument can ask for.
const MAX_TASKS: u32 = 100_000;

/// A validated argument of a model.
pub(crate) trait Model: Debug + Send + Sync {
    /// What the user may want to know of the argument.
    fn warnings(&self, _argument: &str) -> Vec<String> {
        Vec::new()
    }

    /// The scripts; the same seed and machine give the same scripts everywhere.
    ///
    /// # Errors
    /// The machine lacks a CPU that the argument names.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError>;
}

/// Reads and validates the argument of a model.
type Load = fn(&str) -> Result<Arc<dyn Model>, WorkloadError>;

/// All models, in the order to show.
const MODELS: &[(&ModelInfo, Load)] = &[
    (&periodic::INFO, periodic::load),
    (&eas_behaviour::INFO, eas_behaviour::load),
    (&busy_loops::INFO, busy_loops::load),
    (&context_switch::INFO, context_switch::load),
    (&messaging::INFO, messaging::load),
    (&sysbench_cpu::INFO, sysbench_cpu::load),
    (&sysbench_memory::INFO, sysbench_memory::load),
    (&sysbench_threads::INFO, sysbench_threads::load),
    (&cyclictest::INFO, cyclictest::load),
    (&netperf::TCP, netperf::load_tcp),
    (&netperf::UDP, netperf::load_udp),
    (&schbench::INFO, schbench::load),
    (&tbench::INFO, tbench::load),
    (&aim7_compute::INFO, aim7_compute::load),
    (&kbuild::INFO, kbuild::load),
    (&specjbb::INFO, specjbb::load),
    (&oltp::INFO, oltp::load),
    (&dbench::INFO, dbench::load),
    (&aim9::INFO, aim9::load),
    (&sysbench_fileio::INFO, sysbench_fileio::load),
    (&aiostress::INFO, aiostress::load),
    (&shell::INFO, shell::load),
];

/// What `workload list` shows.
pub(crate) fn catalogue() -> impl Iterator<Item = &'static ModelInfo> {
    MODELS.iter().map(|(info, _)| *info)
}

/// Reads `NAME:key=value,...`.
pub(crate) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    let (name, _) = split_name(argument);
    match MODELS.iter().find(|(info, _)| info.name == name) {
        Some((_, load)) => load(argument),
        None => Err(unknown_model(argument)),
    }
}

/// The name of a model and the text after its colon.
pub(crate) fn split_name(argument: &str) -> (&str, &str) {
    argument.split_once(':').unwrap_or((argument, ""))
}

/// The model of that name.
pub(crate) fn find(name: &str) -> Option<&'static ModelInfo> {
    catalogue().find(|model| model.name == name)
}

/// What people call a recording.
const RECORDINGS: [&str; 5] = ["record", "recording", "replay", "perfetto", "trace-cmd"];

/// Says that there is no such model.
pub(crate) fn unknown_model(argument: &str) -> WorkloadError {
    let (name, _) = split_name(argument);
    let names: Vec<_> = catalogue().map(|model| model.name).collect();
    // `trace:PATH` is no model, but stands where one could.
    let known = || {
        let models = catalogue().map(|model| (model.name, model.also));
        models.chain([("trace", &RECORDINGS[..])])
    };
    let near = match name.split_once(',') {
        Some((first, keys)) if keys.contains('=') => {
            // A comma where the colon is.
            meant(first, known()).map(|model| format!("{model}:{keys}"))
        }
        Some(_) => {
            let list = one_at_a_time("workload", name).unwrap_or_default();
            return fault(argument, list).into();
        }
        None => meant(name, known()).map(str::to_owned),
    };
    let expected = format!(
        "a path, `trace:PATH` of a recording, or a model: {}",
        names.join(", ")
    );
    let mut fault = fault(
        argument,
        format!("no model is called `{name}`, and no file is"),
    )
    .expected(expected)
    .nearest(near.as_deref());
    fault.unknown_model = true;
    fault.into()
}

/// Begins a fault in an argument.
pub(crate) fn fault(argument: &str, message: impl Into<String>) -> ArgumentFault {
    ArgumentFault {
        argument: argument.to_owned(),
        message: message.into(),
        expected: String::new(),
        nearest: None,
        unknown_model: false,
    }
}

impl ArgumentFault {
    /// Adds what would do.
    pub(crate) fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = expected.into();
        self
    }

    /// Adds the name that was probably meant.
    fn nearest(mut self, name: Option<&str>) -> Self {
        self.nearest = name.map(str::to_owned);
        self
    }
}

impl From<ArgumentFault> for WorkloadError {
    /// An argument's fault as an error of the crate.
    fn from(fault: ArgumentFault) -> Self {
        WorkloadError::Argument(Box::new(fault))
    }
}

#[cfg(test)]
mod tests {
    use super::{catalogue, load};

    fn said(argument: &str) -> String {
        load(argument).expect_err(argument).to_string()
    }

    /// Goal: names that people know models and keys by lead to them, whatever their letters.
    #[test]
    fn other_names_lead_to_the_model() {
        for (argument, offered) in [
            ("hackbench", "messaging"),
            ("hackbench:groups=2", "messaging"),
            ("perf-bench-sched-messaging", "messaging"),
            ("rt-app", "periodic"),
            ("stress-ng", "busy-loops"),
            ("Kernel_Build", "kbuild"),
            ("netperf", "netperf-tcp-rr"),
            ("fio", "sysbench-fileio"),
            ("pgbench", "oltp"),
            ("recording", "trace"),
            ("peroidic", "periodic"),
            ("periodic,n=2,duty=5%", "periodic:n=2,duty=5%"),
            ("periodic:pin=0", "cpus"),
            ("periodic:threads=2", "n"),
            ("periodic:util_min=2", "uclamp_min"),
            ("messaging:g=2", "groups"),
        ] {
            let error = said(argument);
            let offer = format!("did you mean `{offered}`?");
            assert!(error.contains(&offer), "{argument}: {error}");
        }
    }

    #[test]
    fn several_workloads_are_told_from_one() {
        let list = "`messaging,periodic` is a list; expected one workload, and the option once";
        assert!(said("messaging,periodic").contains(list));
        let other = "`messaging` is another one, in an option of its own";
        assert!(said("periodic:n=2,messaging:groups=2").contains(other));
    }

    /// Goal: what something is called besides is no name of its own, and leads to one thing.
    #[test]
    fn other_names_are_no_names() {
        let names: Vec<&str> = catalogue().map(|model| model.name).collect();
        let mut others: Vec<&str> = catalogue().flat_map(|model| model.also).copied().collect();
        assert!(
            others.iter().all(|other| !names.contains(other)),
            "{others:?}"
        );
        others.sort_unstable();
        let all = others.len();
        others.dedup();
        assert_eq!(all, others.len(), "{others:?}");
        for model in catalogue() {
            let keys: Vec<&str> = model.parameters.iter().map(|key| key.name).collect();
            let mut others = model.parameters.iter().flat_map(|key| key.also);
            assert!(others.all(|other| !keys.contains(other)), "{}", model.name);
        }
    }
}
