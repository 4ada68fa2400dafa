//! What there is to choose from, with the words of the program's own lists
//! (docs/guide/playground.md).
//!
//! Called by `answer.rs`; `playground-page` puts the answer into the page.
//!
//! What must stay: keys, which the scripts of `site/playground` read; the order of the program's
//! lists; what docs/guide/playground.md lists under "More". Free: how the lists are made, and new
//! keys. Tests by part: `the_names_are_the_programs` (`all`, `arguments`, `platform`, `modes`).
//!
//! Tests: crates/wasm/src/answer/tests.rs

use crate::COMMIT;
use serde_json::{Value, json};
use wakeplace_platform::{Platform, builtin_names};
use wakeplace_policy_sys::Policy;
use wakeplace_study::{ARGUMENTS, Command, Kind};
use wakeplace_workload::Spec;

/// Everything that a form offers, as JSON that the page's scripts read.
pub(crate) fn all() -> Result<Value, String> {
    let platforms: Vec<Value> = builtin_names().map(platform).collect::<Result<_, _>>()?;
    let models = Spec::catalogue().map(|model| {
        let keys = model.parameters.iter().map(|key| {
            json!({"name": key.name, "unit": key.unit, "default": key.default, "doc": key.doc})
        });
        json!({
            "name": model.name,
            "summary": model.summary,
            "metric": model.metric,
            "metric_name": wakeplace_report::plain(model.metric),
            "keys": keys.collect::<Vec<_>>(),
        })
    });
    let catalogue = Policy::catalogue().into_iter();
    let policies = catalogue.map(|(name, doc)| json!({"name": name, "doc": doc}));
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "commit": COMMIT,
        "platforms": platforms,
        "models": models.collect::<Vec<_>>(),
        "policies": policies.collect::<Vec<_>>(),
        "modes": modes()?,
        "arguments": arguments(),
    }))
}

/// The arguments of `compare` that a form has a field for; the page lays the others out itself.
fn arguments() -> Vec<Value> {
    let own = ARGUMENTS
        .iter()
        .filter(|one| one.is_taken_by(Command::Compare));
    let fields = own.filter_map(|one| {
        let field = one.field?;
        let kind = match one.kind {
            Kind::Flag => "flag",
            Kind::Texts | Kind::Pairs => "lines",
            _ => "text",
        };
        Some(json!({
            "name": one.name,
            "kind": kind,
            "label": field.label,
            "empty": field.empty,
            "more": field.more,
            "of_decisions": one.is_taken_by(Command::Explain),
            "help": one.help,
        }))
    });
    fields.collect()
}

/// A machine as the form shows it.
fn platform(name: &str) -> Result<Value, String> {
    let platform = Platform::load(name).map_err(|error| error.to_string())?;
    Ok(json!({
        "name": name,
        "title": platform.title,
        "cpus": platform.cpus.len(),
        "kinds": platform.kinds(),
    }))
}

/// What `mode` takes, out of its parameter.
fn modes() -> Result<Vec<String>, String> {
    let policy = wakeplace_study::any_policy().map_err(|error| error.to_string())?;
    let params = policy.params();
    let mode = params.iter().find(|param| param.key == "mode");
    Ok(mode
        .map(|mode| mode.choices.iter().map(|c| (*c).to_owned()).collect())
        .unwrap_or_default())
}
