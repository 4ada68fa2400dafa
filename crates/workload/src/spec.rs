//! What the user asked for: a file or a model, validated but not yet expanded.
use crate::error::WorkloadError;
use crate::models::context_switch::{self, ContextSwitch};
use crate::models::periodic::Periodic;
use crate::models::{self, CATALOGUE, ModelInfo};
use crate::rtapp::template::Template;
use crate::{LoadOptions, MachineFacts, Workload, input, rtapp};
use std::path::Path;

/// A validated workload, still without seed and machine.
#[derive(Clone, Debug)]
pub struct Spec {
    /// What the user asked for, as typed.
    pub name: String,
    /// What the user may want to know, one line each: duplicate keys, near misses of key names,
    /// rt-app's traps. Not printed here.
    pub warnings: Vec<String>,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Periodic(Periodic),
    ContextSwitch(ContextSwitch),
    RtApp(Template),
}

impl Spec {
    /// Reads an argument: `-` (standard input) or a path of an rt-app file, or
    /// `NAME:key=value,...`.
    ///
    /// It is a path if it contains `/`, ends in `.json` or names an existing file, unless it begins
    /// with a model's name and a colon.
    pub fn parse(argument: &str, options: &LoadOptions) -> Result<Self, WorkloadError> {
        if is_path(argument) {
            return Self::parse_rtapp(&input::read(argument)?, argument, options);
        }
        let (name, _) = models::split_name(argument);
        if models::find(name).is_none() {
            return Err(models::unknown_model(argument));
        }
        let name = argument.to_owned();
        if models::split_name(argument).0 == context_switch::INFO.name {
            return Ok(Self {
                name,
                warnings: Vec::new(),
                source: Source::ContextSwitch(ContextSwitch::parse(argument)?),
            });
        }
        let model = Periodic::parse(argument)?;
        Ok(Self {
            name,
            warnings: model.warning(argument).into_iter().collect(),
            source: Source::Periodic(model),
        })
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
            source: Source::RtApp(template),
        })
    }

    /// Makes the scripts: the same seed and machine give the same scripts everywhere.
    pub fn expand(&self, seed: u64, machine: MachineFacts) -> Result<Workload, WorkloadError> {
        match &self.source {
            Source::Periodic(model) => model.expand(&self.name, seed, machine),
            Source::ContextSwitch(model) => Ok(model.expand(&self.name, seed, machine)),
            Source::RtApp(template) => rtapp::expand::expand(template, &self.name, machine),
        }
    }

    /// The built-in models, for `workload list`.
    pub fn catalogue() -> &'static [ModelInfo] {
        CATALOGUE
    }
}

fn is_path(argument: &str) -> bool {
    if argument == "-" || Path::new(argument).is_file() {
        return true;
    }
    let (name, _) = models::split_name(argument);
    models::find(name).is_none() && (argument.contains('/') || argument.ends_with(".json"))
}
