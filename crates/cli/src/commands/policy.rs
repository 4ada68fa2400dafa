//! `policy list` and `policy show` (docs/guide/policy.md). Keys and columns of JSON and CSV stay.
//!
//! Order: that of the catalogue and of the parameters' table (`wakeplace_policy_sys`). Free: the
//! pages for people.
//!
//! What must stay: no name, default or kernel is decided here. Keys of `object` and columns of
//! `flat`. Pages fit a terminal of 80 columns. Tests by part: `pages_fit_a_terminal` (`page`,
//! `parameters`, `kernels`), crates/cli/tests/all/results.rs::`a_policy_is_shown_with_what_was_set`
//! (`show`, `object`, `is_set`), results.rs::`lists_have_every_form` (`list`, `names`, `flat`),
//! crates/cli/tests/all/said.rs::`names_from_elsewhere_lead_to_ours` (names that are not known),
//! crates/cli/tests/all/eras.rs::`a_feature_that_is_off_names_its_successors` (`state`). No test of
//! its own: `of_patches`.
//!
//! Tests: below, crates/cli/tests/all/results.rs,
//! crates/cli/tests/all/said.rs::names_from_elsewhere_lead_to_ours,
//! crates/cli/tests/all/eras.rs::a_feature_that_is_off_names_its_successors

use crate::args::{FormatName, ListArgs, PolicyCommand, PolicyShowArgs, ShowFormat};
use crate::failure::{Failure, Outcome, Verdict};
use crate::page::{Form, Page};
use crate::settings::{any_policy, check_keys};
use crate::terminal::Terminal;
use crate::text::{format, json, style};
use serde_json::{Value, json};
use wakeplace_engine::Options;
use wakeplace_policy_sys::{FeatureView, ParamView, PatchView, Policy, Provenance};
use wakeplace_report::{Cell, Style, Table};
use wakeplace_study::apply_settings;

/// `policy ...`.
pub(crate) fn run(command: PolicyCommand, terminal: Terminal) -> Outcome {
    match command {
        PolicyCommand::List(args) => list(&args, terminal),
        PolicyCommand::Show(args) => show(&args, terminal),
    }
}

/// `policy list`: short for people, one row per name for programs.
fn list(args: &ListArgs, terminal: Terminal) -> Outcome {
    let text = match args.format {
        FormatName::Human => names(Form::Human(style(terminal)))?,
        FormatName::Md => names(Form::Markdown)?,
        other => flat()?.render(format(other), Style::default()),
    };
    terminal.print(&text)?;
    Ok(Verdict::Ok)
}

/// What the catalogue says a name is; features begin with `+`.
fn kind(name: &str) -> &'static str {
    if name.starts_with('+') {
        "feature"
    } else {
        "era"
    }
}

/// The features and their versions, as any era lists them.
fn features() -> Result<Vec<FeatureView>, Failure> {
    Ok(any_policy()?.features())
}

/// One row per name, for programs.
fn flat() -> Result<Table, Failure> {
    let features = features()?;
    let mut table = Table::new("policies", &["name", "kind", "versions", "doc"]);
    for (name, doc) in Policy::catalogue() {
        let feature = features
            .iter()
            .find(|f| Some(f.name) == name.strip_prefix('+'));
        let versions = feature.map_or(&[][..], |feature| feature.versions);
        table.row(vec![
            Cell::Own(name.clone()),
            Cell::from(kind(&name)),
            Cell::from(versions.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>()),
            Cell::from(doc),
        ]);
    }
    Ok(table)
}

/// The list for people: eras and features.
fn names(form: Form) -> Result<String, Failure> {
    let about = "A policy's name is ERA[+FEATURE[=VERSION]]...[-FEATURE]...[:KEY=VALUE,...]: what \
        that kernel shipped, with features added or taken away, as linux-4.17+energy-aware=5.0, \
        and parameters of its own. \
        `wakeplace policy show NAME` lists its parameters.";
    let mut page = Page::new(form, "Policies", about);
    let catalogue = Policy::catalogue();
    let mut eras = Table::new("eras", &["era", "what it is"]);
    for (name, doc) in catalogue.iter().filter(|(name, _)| kind(name) == "era") {
        eras.row(vec![Cell::from(name.clone()), Cell::from(*doc)]);
    }
    page.section("Eras");
    page.table(&eras);
    let mut table = Table::new("features", &["feature", "versions", "what it does"]);
    for feature in features()? {
        table.row(vec![
            Cell::from(feature.name),
            Cell::from(versions(&feature)),
            Cell::from(feature.doc),
        ]);
    }
    page.section("Features");
    page.table(&table);
    Ok(page.finish())
}

/// The versions that a feature can have, or `-` if it has none to choose from.
fn versions(feature: &FeatureView) -> String {
    if feature.versions.is_empty() {
        "-".to_owned()
    } else {
        feature.versions.join(", ")
    }
}

/// On, with its version, or off, with what does its work in later kernels.
fn state(feature: &FeatureView) -> String {
    match feature.state {
        Some(version) => version.to_owned(),
        None if feature.successors.is_empty() => "off".to_owned(),
        None => format!("off; successors: {}", feature.successors.join(", ")),
    }
}

/// `policy show`.
fn show(args: &PolicyShowArgs, terminal: Terminal) -> Outcome {
    let mut policy = Policy::parse(&args.name).map_err(Failure::input)?;
    check_keys(&args.set, &policy)?;
    let mut options = Options::default();
    apply_settings(&args.set, &mut options, std::slice::from_mut(&mut policy))
        .map_err(Failure::input)?;
    let text = match args.form.format {
        ShowFormat::Human => page(&policy, &options, Form::Human(style(terminal))),
        ShowFormat::Md => page(&policy, &options, Form::Markdown),
        ShowFormat::Json => json(&object(&policy)),
    };
    terminal.print(&text)?;
    Ok(Verdict::Ok)
}

/// The era's line in the catalogue.
fn doc(policy: &Policy) -> &'static str {
    let is_era = |name: &str| policy.name().starts_with(name);
    let catalogue = Policy::catalogue();
    let eras = catalogue.iter().filter(|(name, _)| is_era(name));
    eras.max_by_key(|(name, _)| name.len())
        .map_or("", |(_, doc)| *doc)
}

/// One policy: its features, patches and parameters, with what was set.
fn page(policy: &Policy, options: &Options, form: Form) -> String {
    let mut page = Page::new(form, policy.name(), &format!("{}.", doc(policy)));
    let mut features = Table::new(
        "features",
        &["feature", "state", "versions", "what it does"],
    );
    for feature in policy.features() {
        features.row(vec![
            Cell::from(feature.name),
            Cell::from(state(&feature)),
            Cell::from(versions(&feature)),
            Cell::from(feature.doc),
        ]);
    }
    page.section("Features");
    page.table(&features);
    for feature in policy.features() {
        let patches = policy.patches(feature.name);
        if feature.state.is_some() && !patches.is_empty() {
            page.section(&format!(
                "Patches of {}, each to be taken away",
                feature.name
            ));
            page.table(&of_patches(&patches));
        }
    }
    let params = policy.params();
    let mut groups: Vec<&str> = params.iter().map(|param| param.group).collect();
    groups.dedup();
    for group in groups {
        page.section(&format!("Parameters: {group}"));
        let own = params.iter().filter(|param| param.group == group);
        page.table(&parameters(policy, own));
    }
    let compared = params.iter().find_map(|param| param.provenance.compared);
    let compared = compared.map_or(String::new(), |version| {
        format!(
            " With `=` the own code of {version} was asked beside the rule (`wakeplace kernel \
             diff`)."
        )
    });
    page.paragraph(&format!(
        "kernels: the eras in a row that have this value; none: it comes from a series or from \
         you.{compared} All other rules were read in source alone."
    ));
    page.section("Switches of the machine's model, the same for every policy");
    page.table(&switches(options));
    page.paragraph("Change any of them with `--set KEY=VALUE` in `sim`, `compare`, `study run`.");
    page.finish()
}

/// The patches of a feature and which of them are in force.
fn of_patches(patches: &[PatchView]) -> Table {
    let columns = ["patch", "what it does", "switch", "state", "without it"];
    let mut table = Table::new("patches", &columns);
    for patch in patches {
        let (key, value) = patch.switch.as_ref().map_or(("none", "-"), |(k, v)| (k, v));
        table.row(vec![
            Cell::from(patch.number),
            Cell::from(patch.doc),
            Cell::from(key),
            Cell::from(value),
            Cell::from(patch.without),
        ]);
    }
    table
}

/// The value, and whether `--set` gave it.
fn value(value: &str, is_set: bool) -> Cell {
    Cell::from(if is_set {
        format!("{value} (set)")
    } else {
        value.to_owned()
    })
}

/// Parameters with their values, those that were set marked.
fn parameters<'a>(policy: &Policy, params: impl Iterator<Item = &'a ParamView>) -> Table {
    let columns = ["key", "value", "default", "kernels", "meaning"];
    let mut table = Table::new("parameters", &columns)
        .keys(1)
        .optional("default");
    for param in params {
        table.row(vec![
            Cell::from(param.key),
            value(&param.value, is_set(policy, param)),
            Cell::from(param.default.clone()),
            Cell::from(kernels(&param.provenance)),
            Cell::from(param.doc),
        ]);
    }
    table
}

/// The eras that have the value, as `6.6-7.3`; with a mark where the rule was compared.
fn kernels(of: &Provenance) -> String {
    let mark = of.compared.map_or("", |_| " =");
    match (of.since, of.until) {
        (Some(since), Some(until)) if since == until => format!("{since}{mark}"),
        (Some(since), Some(until)) => format!("{since}-{until}{mark}"),
        _ => "none".to_owned(),
    }
}

/// Has the parameter another value than the policy's rules give?
fn is_set(policy: &Policy, param: &ParamView) -> bool {
    policy.overrides().iter().any(|(key, _)| *key == param.key)
}

/// Settings of the simulator.
fn switches(options: &Options) -> Table {
    let mut table = Table::new("switches", &["key", "value", "default", "meaning"]);
    let defaults = Options::default().keys();
    for ((key, now, doc), (_, default, _)) in options.keys().into_iter().zip(defaults) {
        let is_set = now != default;
        table.row(vec![
            Cell::from(key),
            value(&now, is_set),
            Cell::from(default),
            Cell::from(doc),
        ]);
    }
    table
}

/// One policy as JSON. Its keys stay.
fn object(policy: &Policy) -> Value {
    let patch = |patch: PatchView| {
        json!({
            "patch": patch.number,
            "doc": patch.doc,
            "switch": patch.switch.as_ref().map(|(key, _)| key),
            "state": patch.switch.as_ref().map(|(_, value)| value),
            "without": patch.without,
        })
    };
    let feature = |feature: &FeatureView| {
        json!({
            "name": feature.name,
            "state": feature.state.unwrap_or("off"),
            "successors": feature.successors,
            "versions": feature.versions,
            "patches": policy.patches(feature.name).into_iter().map(patch).collect::<Vec<_>>(),
            "doc": feature.doc,
        })
    };
    let param = |param: &ParamView| {
        json!({
            "key": param.key,
            "group": param.group,
            "value": param.value,
            "default": param.default,
            "overridden": is_set(policy, param),
            "live": param.live,
            "since": param.provenance.since,
            "until": param.provenance.until,
            "compared": param.provenance.compared,
            "rule": param.rule,
            "doc": param.doc,
        })
    };
    json!({
        "schema_version": wakeplace_report::SCHEMA_VERSION,
        "policy": policy.name(),
        "doc": doc(policy),
        "features": policy.features().iter().map(feature).collect::<Vec<_>>(),
        "parameters": policy.params().iter().map(param).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::{kind, page};
    use crate::page::Form;
    use wakeplace_engine::Options;
    use wakeplace_policy_sys::Policy;
    use wakeplace_report::Style;

    /// Goal: every era's page fits a terminal; in a wide one no column is missing.
    #[test]
    fn pages_fit_a_terminal() {
        let catalogue = Policy::catalogue();
        for (era, _) in catalogue.iter().filter(|(name, _)| kind(name) == "era") {
            let policy = Policy::parse(era).expect("an era");
            let at = |width: usize| {
                let color = false;
                page(
                    &policy,
                    &Options::default(),
                    Form::Human(Style { color, width }),
                )
            };
            let text = at(80);
            let wide = text.lines().find(|line| line.chars().count() > 80);
            assert_eq!(wide, None, "{era}: {text}");
            assert!(!at(100).contains("no room here"), "{era}");
        }
    }
}
