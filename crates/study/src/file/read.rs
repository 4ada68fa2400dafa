//! From the text of a study file to a validated [`StudyFile`] (studies/README.md). A file that
//! breaks a rule is refused with its line, as `file/values` says it.
//!
//! What must stay: cases stand as the study's own, those of others, drawn ones; a key that is there
//! stays valid; errors name file, line and column. `Study::from_toml` and the catalogue read by it.
//! Tests by part: `a_good_file_is_read` (`study`, `study_name`, `cases`, `params`), `rules_hold`
//! (`metrics`, `cases`), `the_least_that_a_file_has` (required keys),
//! `a_value_that_is_given_again_counts` (`with`), `a_case_may_be_a_recording` (`workload`),
//! `rules_of_columns_cases_and_sensitivity_hold` (`columns_fit`, `known_cpus`, `platform`),
//! `verdicts_about_what_was_published_need_it` (`templates`),
//! study/column_tests.rs::`an_oracle_may_be_asked` (`on_a_machine_that_stays`),
//! `errors_name_place_expectation_and_nearest` (`chosen`).
//!
//! Tests: below, crates/study/src/file/tests.rs, crates/study/src/study/column_tests.rs

use super::columns::{columns, settings_of};
use super::raw::{RawCase, RawParam, RawStudy, Text};
use super::sensitivity::sensitivity;
use super::values::{
    at, count, duration_ns, hotplug, jitter, metric as known_metric, position, sentence, token,
};
use super::variations::variations;
use super::{
    Case, Column, FigureValue, Shown, StudyFile, figures, from, promise, random, tradeoff,
};
use crate::error::Flaw;
use crate::oracle::machine;
use crate::{Command, Request, StudyError, catalogue, verdict};
use std::collections::BTreeMap;
use std::sync::Arc;
use wakeplace_engine::{Hotplug, Options};
use wakeplace_outcome::Param;
use wakeplace_platform::Platform;
use wakeplace_workload::{Jitter, Spec};

impl StudyFile {
    /// Reads and validates a study; its name is taken from the file's path.
    pub(crate) fn read(text: &str, file: &str) -> Result<StudyFile, StudyError> {
        let mut asked = Request::default();
        super::split(text, Command::StudyFile, &mut asked)
            .and_then(|raw: RawStudy| study(&raw, asked, study_name(file)))
            .map_err(|flaw| flaw.locate(file, text))
    }
}

/// `FAMILY/NAME` of `.../FAMILY/NAME/study.toml`; of any other file, its name without ending.
fn study_name(file: &str) -> String {
    let parts: Vec<&str> = file.split('/').collect();
    match parts.as_slice() {
        [.., family, name, "study.toml"] => format!("{family}/{name}"),
        [.., last] => last.trim_end_matches(".toml").to_owned(),
        [] => String::new(),
    }
}

/// `asked`: by the arguments at the top of the file.
fn study(raw: &RawStudy, asked: Request, name: String) -> Result<StudyFile, Flaw> {
    let mut platforms = Vec::new();
    platform(&raw.platform, &mut platforms)?;
    let columns = columns((raw.policies.as_ref(), raw.column.as_ref()), at(&raw.title))?;
    let options = Options {
        duration_ns: duration_ns(&raw.duration)?,
        ..asked.options
    };
    let set = settings_of(&raw.set, &columns)?;
    let context = Context {
        start: at(&raw.title),
        columns: &columns,
        duration_ns: options.duration_ns,
    };
    let cases = all_cases(raw, &context, &mut platforms)?;
    let tokens = || cases.iter().map(|case| case.token.as_str());
    let quick_cases = match &raw.quick.cases {
        None => (0..cases.len()).collect(),
        Some(list) => chosen(list, tokens)?,
    };
    let mut file = StudyFile {
        name,
        title: sentence(&raw.title)?,
        seeds: (1..=count(&raw.seeds)? as u64).collect(),
        quick_seeds: count(&raw.quick.seeds)?,
        quick_cases,
        metrics: metrics(raw)?,
        variants: Vec::new(),
        experiments: Vec::new(),
        published: Vec::new(),
        sources: vec![sentence(&raw.source)?],
        calibration: None,
        sensitivity: None,
        promise: None,
        tradeoff: None,
        oracle: asked.oracle,
        platforms,
        columns,
        options,
        set,
        cases,
    };
    columns_fit(raw, &file)?;
    if file.oracle {
        on_a_machine_that_stays(raw, &file)?;
    }
    file.variants = variations(&raw.variant, &raw.case, &mut file)?;
    file.experiments = variations(&raw.experiment, &raw.case, &mut file)?;
    figures::published(&raw.published, &mut file)?;
    figures::calibration(raw, &mut file)?;
    templates(raw, &file)?;
    file.promise = (raw.promise.as_ref())
        .map(|raw| promise::promise(raw, &file))
        .transpose()?;
    file.tradeoff = (raw.tradeoff.as_ref())
        .map(|raw| tradeoff::tradeoff(raw, &file))
        .transpose()?;
    file.sensitivity = raw
        .sensitivity
        .as_ref()
        .map(|raw| sensitivity(raw, &file))
        .transpose()?;
    Ok(file)
}

/// What columns say of their own holds for every case.
fn columns_fit(raw: &RawStudy, file: &StudyFile) -> Result<(), Flaw> {
    for table in raw.column.iter().flat_map(|tables| tables.get_ref()) {
        if let Some(text) = &table.hotplug {
            let platforms = file
                .cases
                .iter()
                .map(|case| &*file.platforms[case.platform]);
            known_cpus(text, platforms)?;
        }
        if let Some(text) = &table.workload {
            for case in &file.cases {
                let argument = with(&case.workload.name, text.get_ref());
                let jitter = case.workload.jitter();
                workload(text, &argument, &file.platforms[case.platform], jitter)?;
            }
        }
    }
    Ok(())
}

/// Position of a platform in the list, which it is added to if it is not there.
pub(super) fn platform(text: &Text, all: &mut Vec<Arc<Platform>>) -> Result<usize, Flaw> {
    let found = all.iter().position(|p| p.name == *text.get_ref());
    if let Some(found) = found {
        return Ok(found);
    }
    let platform = Platform::load(text.get_ref())
        .map_err(|e| Flaw::new(at(text), e.to_string(), "expected a platform"))?;
    all.push(Arc::new(platform));
    Ok(all.len() - 1)
}

/// CPUs that come and go are there on every platform of the cases.
fn known_cpus<'a>(text: &Text, platforms: impl Iterator<Item = &'a Platform>) -> Result<(), Flaw> {
    let steps = hotplug(text)?;
    for platform in platforms {
        let last = platform.cpus.len() - 1;
        if let Some(step) = steps.iter().find(|step| step.cpu as usize > last) {
            let problem = format!("`{}` has no CPU {}", platform.name, step.cpu);
            let expected = format!("expected a CPU from 0 to {last}");
            return Err(Flaw::new(at(text), problem, expected));
        }
    }
    Ok(())
}

/// The best placement is that of a machine which keeps its CPUs and has one.
fn on_a_machine_that_stays(raw: &RawStudy, file: &StudyFile) -> Result<(), Flaw> {
    let place = at(&raw.title);
    let of_columns = file.columns.iter().filter_map(|c| c.hotplug.as_deref());
    let of_cases = file.cases.iter().filter_map(|c| c.hotplug.as_deref());
    let all = of_columns
        .chain(of_cases)
        .chain([file.options.hotplug.as_slice()]);
    if all.into_iter().any(|steps| !steps.is_empty()) {
        let expected = "expected no `hotplug`, or no `oracle`";
        return Err(Flaw::new(
            place,
            "an oracle, and CPUs that come and go",
            expected,
        ));
    }
    for platform in &file.platforms {
        machine(platform)
            .map_err(|e| Flaw::new(place, e.to_string(), "expected no `oracle`, or others"))?;
    }
    Ok(())
}

/// CPUs that come and go: what the text says, or without one the others.
pub(super) fn schedule(text: Option<&Text>, otherwise: Vec<Hotplug>) -> Result<Vec<Hotplug>, Flaw> {
    text.map_or(Ok(otherwise), hotplug)
}

/// Positions of the chosen cases, in the order of the file.
pub(super) fn chosen<'a, I: Iterator<Item = &'a str>>(
    list: &[Text],
    tokens: impl Fn() -> I,
) -> Result<Vec<usize>, Flaw> {
    let one = |text: &Text| position(text, "case", tokens());
    let mut all: Vec<usize> = list.iter().map(one).collect::<Result<_, _>>()?;
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// What a case takes over where it says nothing of its own.
struct Context<'a> {
    /// Where the file begins.
    start: usize,
    columns: &'a [Column],
    duration_ns: u64,
}

/// The study's own, those of others, those that are drawn.
fn all_cases(
    raw: &RawStudy,
    context: &Context<'_>,
    platforms: &mut Vec<Arc<Platform>>,
) -> Result<Vec<Case>, Flaw> {
    let mut cases = cases(&raw.case, context, platforms)?;
    from::cases(&raw.from, context.columns, platforms, &mut cases)?;
    if let Some(raw) = &raw.random {
        random::cases(raw, platforms, &mut cases)?;
    }
    if cases.is_empty() {
        let expected = "expected at least one [[case]], [[from]] or [random]";
        return Err(Flaw::new(context.start, "no case", expected));
    }
    Ok(cases)
}

/// All cases, each with a token of its own.
fn cases(
    raw: &[RawCase],
    context: &Context<'_>,
    platforms: &mut Vec<Arc<Platform>>,
) -> Result<Vec<Case>, Flaw> {
    let mut cases: Vec<Case> = Vec::new();
    for raw in raw {
        let token = token(&raw.token)?;
        if cases.iter().any(|case| case.token == token) {
            let problem = format!("case `{token}` stands here twice");
            return Err(Flaw::new(
                at(&raw.token),
                problem,
                "expected each token once",
            ));
        }
        let on = match &raw.platform {
            None => 0,
            Some(text) => platform(text, platforms)?,
        };
        let argument = raw.workload.get_ref();
        let jitter = raw.jitter.as_ref().map(jitter).transpose()?;
        cases.push(Case {
            token,
            workload: workload(&raw.workload, argument, &platforms[on], jitter)?,
            params: params(&raw.params),
            platform: on,
            duration_ns: match &raw.duration {
                None => context.duration_ns,
                Some(text) => duration_ns(text)?,
            },
            seeds: raw.seeds.as_ref().map(count).transpose()?,
            set: settings_of(&raw.set, context.columns)?,
            hotplug: None,
            without: Vec::new(),
            goals: Vec::new(),
        });
    }
    Ok(cases)
}

/// The case's own parameters, which group cases in tables.
fn params(raw: &BTreeMap<String, RawParam>) -> BTreeMap<String, Param> {
    let word = |value: &RawParam| match value {
        RawParam::Number(number) => Param::Number(*number),
        RawParam::Word(word) => Param::Word(word.clone()),
    };
    let pair = |(key, value): (&String, &RawParam)| (key.clone(), word(value));
    raw.iter().map(pair).collect()
}

/// `MODEL:KEY=VALUE,...` with other values of some keys.
pub(crate) fn with(argument: &str, extra: &str) -> String {
    let (model, rest) = argument.split_once(':').unwrap_or((argument, ""));
    let key = |part: &str| part.split('=').next().unwrap_or_default().to_owned();
    let given: Vec<String> = extra.split(',').map(key).collect();
    let kept = rest
        .split(',')
        .filter(|part| !part.is_empty() && !given.contains(&key(part)));
    let parts: Vec<&str> = kept.chain(extra.split(',')).collect();
    format!("{model}:{}", parts.join(","))
}

/// `on`: the platform it is for, by which recordings are scaled where nothing says more.
pub(super) fn workload(
    place: &Text,
    argument: &str,
    on: &Platform,
    jitter: Option<Jitter>,
) -> Result<Spec, Flaw> {
    catalogue::workload(argument, on, jitter)
        .map_err(|error| Flaw::new(at(place), error.to_string(), "expected a workload"))
}

/// The metrics that the study shows, each once.
fn metrics(raw: &RawStudy) -> Result<Vec<Shown>, Flaw> {
    if raw.metric.is_empty() {
        let expected = "expected at least one [[metric]]";
        return Err(Flaw::new(at(&raw.title), "no metric", expected));
    }
    let mut all: Vec<Shown> = Vec::new();
    for metric in &raw.metric {
        let name = metric.name.get_ref();
        known_metric(&metric.name)?;
        if all.iter().any(|shown| shown.name == *name) {
            let problem = format!("metric `{name}` stands here twice");
            return Err(Flaw::new(
                at(&metric.name),
                problem,
                "expected each metric once",
            ));
        }
        all.push(Shown {
            name: name.clone(),
            verdict: metric.verdict.as_ref().map(sentence).transpose()?,
        });
    }
    Ok(all)
}

/// The verdict templates name what exists and what the study has.
fn templates(raw: &RawStudy, file: &StudyFile) -> Result<(), Flaw> {
    for metric in &raw.metric {
        let Some(template) = &metric.verdict else {
            continue;
        };
        let is_published = |f: &super::Figure| f.cell.metric == *metric.name.get_ref();
        let of_metric = || file.published.iter().filter(|f| is_published(f));
        let means = of_metric().any(|f| matches!(f.value, FigureValue::Mean(_)));
        let known = verdict::Known {
            published: of_metric().next().is_some(),
            means,
        };
        verdict::check(template.get_ref(), known, at(template))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_value_that_is_given_again_counts() {
        assert_eq!(super::with("m:a=1,b=2,c=3", "b=5"), "m:a=1,c=3,b=5");
        assert_eq!(super::with("m", "b=5,d=6"), "m:b=5,d=6");
    }
}
