//! What the user asked for: a file or a model, validated but not yet expanded. The one way from an
//! argument or a file to a workload, for every program (docs/guide/workloads.md).
//!
//! Called by the command line, `crates/study` and the playground. What is accepted stays accepted.
//! An error comes from `parse`, with the nearest name, or from `expand` where the machine lacks a
//! CPU.
//!
//! What must stay: when an argument is a path; the order in `expand`: scripts, deadlines, cpusets,
//! then jitter, as each reads what is before it; same seed and machine, same scripts. Free: what
//! leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages
//! that no test quotes. Tests by part: `wrong_arguments_say_what_was_expected` (`parse`, `is_path`,
//! `model`), `the_seed_decides_and_more_tasks_shift_none` (`expand`),
//! `every_file_is_read_as_rtapp_reads_it` (`parse_rtapp`'s readers),
//! `the_catalogue_names_defaults_that_parse` (`catalogue`), rtapp_events.rs::`what_the_logs_need`
//! (`rtapp_log`), group_limits.rs::`files_of_groups_are_read` (cpusets),
//! recordings.rs::`recordings_are_workloads_everywhere` (`recorded`),
//! rtapp/hints.rs::`a_hint_stands_instead_of_the_files` (`hints`, `template`),
//! rtapp/hints.rs::`a_recorded_task_is_hinted_by_its_name` (`recording`),
//! rtapp_files.rs::`the_fixture_expands_to_its_threads` (`parse_file`). `jitter`, `is_rtapp`,
//! `is_model` and `metric` have no test of their own here.
//!
//! Tests: crates/workload/tests/all/periodic.rs, crates/workload/tests/all/corpus.rs,
//! crates/workload/tests/all/rtapp_events.rs, crates/workload/tests/all/group_limits.rs,
//! crates/workload/src/rtapp/hints.rs,
//! crates/cli/tests/all/recordings.rs
use crate::error::WorkloadError;
use crate::limits;
use crate::models::{self, Model, ModelInfo};
use crate::rtapp::template::Template;
use crate::{
    Deadlines, Jitter, LoadOptions, MachineFacts, RtAppLog, TaskHint, Workload, input, recording,
    rtapp,
};
use std::path::Path;
use std::sync::Arc;

/// A validated workload, still without seed and machine.
#[derive(Clone, Debug)]
pub struct Spec {
    /// What the user asked for, as typed.
    pub name: String,
    /// What the user may want to know, one line each: duplicate keys, near misses of key names,
    /// rt-app's traps. Not printed here.
    pub warnings: Vec<String>,
    source: Source,
    /// What is drawn beside what the workload itself draws.
    pub(crate) jitter: Option<Jitter>,
    /// Instead of those of its file.
    pub(crate) deadlines: Option<Deadlines>,
    /// Instead of those of its file; they are in the template or the recording already.
    pub(crate) hints: Vec<TaskHint>,
}

#[derive(Clone, Debug)]
enum Source {
    Model(Arc<dyn Model>),
    RtApp(Arc<Template>),
    Recorded(Arc<Workload>),
}

impl Spec {
    /// Reads an argument: `-` (standard input) or a path of an rt-app file, or
    /// `NAME:key=value,...`.
    ///
    /// It is a path if it contains `/`, ends in `.json` or names an existing file, unless it begins
    /// with a model's name and a colon.
    pub fn parse(argument: &str, options: &LoadOptions) -> Result<Self, WorkloadError> {
        if is_path(argument) {
            return Self::parse_file(&input::read(argument)?, argument, options);
        }
        let model = models::load(argument)?;
        Ok(Self {
            name: argument.to_owned(),
            warnings: model.warnings(argument),
            source: Source::Model(model),
            jitter: None,
            deadlines: None,
            hints: Vec::new(),
        })
    }

    /// What [`Spec::parse`] makes of a file of that name that holds these bytes.
    pub fn parse_file(
        text: &[u8],
        file: &str,
        options: &LoadOptions,
    ) -> Result<Self, WorkloadError> {
        let text = input::read_capped(text, file)?;
        if let Some(kind) = recording::form(&text).recording() {
            let file = file.to_owned();
            return Err(WorkloadError::Recording { file, kind });
        }
        Self::parse_rtapp(&text, file, options)
    }

    /// Reads the text of an rt-app file; `file` is its name in messages.
    pub fn parse_rtapp(
        text: &[u8],
        file: &str,
        options: &LoadOptions,
    ) -> Result<Self, WorkloadError> {
        let (template, warnings) = rtapp::template::load(text, file, options)?;
        Ok(Self {
            name: file.to_owned(),
            warnings,
            source: Source::RtApp(Arc::new(template)),
            jitter: None,
            deadlines: None,
            hints: Vec::new(),
        })
    }

    /// A workload that is given whole, as a recording gives it: every seed and machine have the
    /// same scripts.
    #[must_use]
    pub fn recorded(workload: Workload, warnings: Vec<String>) -> Self {
        Self {
            name: workload.name.clone(),
            warnings,
            source: Source::Recorded(Arc::new(workload)),
            jitter: None,
            deadlines: None,
            hints: Vec::new(),
        }
    }

    /// Makes the scripts: the same seed and machine give the same scripts everywhere.
    pub fn expand(&self, seed: u64, machine: MachineFacts<'_>) -> Result<Workload, WorkloadError> {
        let mut workload = match &self.source {
            Source::Model(model) => model.expand(&self.name, seed, machine)?,
            Source::RtApp(template) => {
                let own = self.deadlines.is_none();
                rtapp::expand::expand(template, &self.name, seed, machine, own)?
            }
            Source::Recorded(workload) => Workload::clone(workload),
        };
        // Where a kernel draws nothing all seeds are one run.
        if workload
            .groups
            .iter()
            .any(|group| group.limits.bandwidth.is_some())
        {
            workload.seed = seed;
        }
        if let Some(deadlines) = &self.deadlines {
            deadlines.apply(&mut workload)?;
        }
        limits::apply_cpusets(&mut workload)?;
        if let Some(jitter) = self.jitter {
            jitter.apply(&mut workload, seed);
        }
        Ok(workload)
    }

    /// The jitter that was added.
    #[must_use]
    pub fn jitter(&self) -> Option<Jitter> {
        self.jitter
    }

    /// It is an rt-app file.
    #[must_use]
    pub fn is_rtapp(&self) -> bool {
        matches!(self.source, Source::RtApp(_))
    }

    /// Hints of tasks that were given beside its file.
    pub fn hints(&self) -> impl Iterator<Item = &TaskHint> {
        self.hints.iter()
    }

    /// The rt-app file, to be changed; None: it is none.
    pub(crate) fn template(&mut self) -> Option<&mut Template> {
        match &mut self.source {
            Source::RtApp(template) => Some(Arc::make_mut(template)),
            Source::Model(_) | Source::Recorded(_) => None,
        }
    }

    /// The recording, to be changed; None: it is none.
    pub(crate) fn recording(&mut self) -> Option<&mut Workload> {
        match &mut self.source {
            Source::Recorded(workload) => Some(Arc::make_mut(workload)),
            Source::Model(_) | Source::RtApp(_) => None,
        }
    }

    /// It is one of the built-in models.
    pub(crate) fn is_model(&self) -> bool {
        matches!(self.source, Source::Model(_))
    }

    /// What the logs that rt-app writes of this file need, by the indices of `expand`; None for
    /// models, and for files that want no logs (`log_size`).
    pub fn rtapp_log(&self) -> Option<RtAppLog> {
        match &self.source {
            Source::Model(_) | Source::Recorded(_) => None,
            Source::RtApp(template) => rtapp::expand::log(template),
        }
    }

    /// The metric that the workload is read by; None: its file does not say.
    pub fn metric(&self) -> Option<&'static str> {
        match &self.source {
            Source::Model(_) => models::find(models::split_name(&self.name).0).map(|i| i.metric),
            Source::RtApp(_) | Source::Recorded(_) => None,
        }
    }

    /// The built-in model of that name.
    ///
    /// # Errors
    /// There is none; the nearest is offered.
    pub fn model(name: &str) -> Result<&'static ModelInfo, WorkloadError> {
        models::find(name).ok_or_else(|| models::unknown_model(name))
    }

    /// The built-in models, for `workload list`.
    pub fn catalogue() -> impl Iterator<Item = &'static ModelInfo> {
        models::catalogue()
    }
}

/// Is the argument one of a file, as [`Spec::parse`] reads it?
#[must_use]
pub fn is_path(argument: &str) -> bool {
    if argument == "-" || Path::new(argument).is_file() {
        return true;
    }
    // What stands before a colon is meant for a name, unless it is a folder's.
    let (name, _) = models::split_name(argument);
    let named = name != argument && !name.contains('/');
    !named && (argument.contains('/') || argument.ends_with(".json"))
}
