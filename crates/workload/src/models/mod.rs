//! Built-in workload models: their catalogue and their `NAME:key=value,...` arguments.
mod class;
pub(crate) mod context_switch;
pub(crate) mod groups;
pub(crate) mod parts;
pub(crate) mod periodic;
pub(crate) mod value;

use crate::error::{ArgumentFault, WorkloadError};
use wakeplace_text::nearest;

/// A built-in model, as `workload list` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// Name before the colon.
    pub name: &'static str,
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
    /// Unit or form of the value.
    pub unit: &'static str,
    /// Value if the key is not given; empty if there is none.
    pub default: &'static str,
    /// One line.
    pub doc: &'static str,
}

/// All models, in the order to show.
pub(crate) const CATALOGUE: &[ModelInfo] = &[periodic::INFO, context_switch::INFO];

/// The name of a model and the text after its colon.
pub(crate) fn split_name(argument: &str) -> (&str, &str) {
    argument.split_once(':').unwrap_or((argument, ""))
}

/// The model of that name.
pub(crate) fn find(name: &str) -> Option<&'static ModelInfo> {
    CATALOGUE.iter().find(|model| model.name == name)
}

/// Says that there is no such model.
pub(crate) fn unknown_model(argument: &str) -> WorkloadError {
    let (name, _) = split_name(argument);
    let names: Vec<_> = CATALOGUE.iter().map(|model| model.name).collect();
    fault(
        argument,
        format!("no model is called `{name}`, and no file is"),
    )
    .expected(format!("a path, or a model: {}", names.join(", ")))
    .nearest(nearest(name, names))
    .into()
}

/// One `key=value` of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setting<'a> {
    pub(crate) key: &'static str,
    pub(crate) value: &'a str,
}

/// The settings in a model's argument: known keys, each at most once, each with a value.
pub(crate) fn settings<'a>(
    argument: &'a str,
    model: &ModelInfo,
) -> Result<Vec<Setting<'a>>, WorkloadError> {
    let (_, text) = split_name(argument);
    let mut settings: Vec<Setting<'a>> = Vec::new();
    if text.trim().is_empty() {
        return Ok(settings);
    }
    let names: Vec<&str> = model
        .parameters
        .iter()
        .map(|parameter| parameter.name)
        .collect();
    for part in text.split(',') {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let (key, value) = (key.trim(), value.trim());
        let Some(known) = model
            .parameters
            .iter()
            .find(|parameter| parameter.name == key)
        else {
            return Err(
                fault(argument, format!("`{}` has no key `{key}`", model.name))
                    .expected(format!("one of {}", names.join(", ")))
                    .nearest(nearest(key, names.iter().copied()))
                    .into(),
            );
        };
        if value.is_empty() {
            return Err(fault(argument, format!("`{key}` has no value"))
                .expected(format!("{key}=VALUE, {}", known.unit))
                .into());
        }
        if settings.iter().any(|setting| setting.key == known.name) {
            return Err(fault(argument, format!("`{key}` is given twice")).into());
        }
        settings.push(Setting {
            key: known.name,
            value,
        });
    }
    Ok(settings)
}

/// Begins a fault in an argument.
pub(crate) fn fault(argument: &str, message: impl Into<String>) -> ArgumentFault {
    ArgumentFault {
        argument: argument.to_owned(),
        message: message.into(),
        expected: String::new(),
        nearest: None,
    }
}

impl ArgumentFault {
    pub(crate) fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = expected.into();
        self
    }

    fn nearest(mut self, name: Option<&str>) -> Self {
        self.nearest = name.map(str::to_owned);
        self
    }
}

impl From<ArgumentFault> for WorkloadError {
    fn from(fault: ArgumentFault) -> Self {
        WorkloadError::Argument(Box::new(fault))
    }
}
