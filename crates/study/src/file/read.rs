//! From the text of a study file to a validated [`StudyFile`].

use super::raw::{RawCase, RawParam, RawStudy, RawVariation, Text};
use super::values::{
    at, count, duration_ns, hotplug, policies, position, sentence, settings, token,
};
use super::{Case, Shown, StudyFile, Variation, figures};
use crate::error::Flaw;
use crate::{Param, StudyError, apply_settings, verdict};
use std::collections::BTreeMap;
use wakeplace_engine::{Hotplug, Options};
use wakeplace_metrics::find_metric;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{LoadOptions, Spec};

impl StudyFile {
    /// Reads and validates a study; its name is taken from the file's path.
    pub(crate) fn read(text: &str, file: &str) -> Result<StudyFile, StudyError> {
        toml::from_str(text)
            .map_err(|error| Flaw::from_toml(&error))
            .and_then(|raw: RawStudy| study(&raw, study_name(file)))
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

fn study(raw: &RawStudy, name: String) -> Result<StudyFile, Flaw> {
    let platform = Platform::load(raw.platform.get_ref())
        .map_err(|e| Flaw::new(at(&raw.platform), e.to_string(), "expected a platform"))?;
    let policies = policies(&raw.policies, 2)?;
    let options = Options {
        duration_ns: duration_ns(&raw.duration)?,
        hotplug: schedule(raw.hotplug.as_ref(), Vec::new())?,
        ..Options::default()
    };
    let set = checked_settings(&raw.set, &options, &policies)?;
    let cases = cases(&raw.case, at(&raw.title))?;
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
        platform,
        policies,
        options,
        set,
        cases,
    };
    file.variants = variations(&raw.variant, &raw.case, &file)?;
    file.experiments = variations(&raw.experiment, &raw.case, &file)?;
    figures::published(&raw.published, &mut file)?;
    figures::calibration(raw, &mut file)?;
    templates(raw, &file)?;
    Ok(file)
}

/// CPUs that come and go: what the text says, or without one the others.
fn schedule(text: Option<&Text>, otherwise: Vec<Hotplug>) -> Result<Vec<Hotplug>, Flaw> {
    text.map_or(Ok(otherwise), hotplug)
}

/// Settings that options and policies take.
fn checked_settings(
    list: &[Text],
    options: &Options,
    policies: &[Policy],
) -> Result<Vec<(String, String)>, Flaw> {
    let set = settings(list)?;
    let (mut options, mut policies) = (options.clone(), policies.to_vec());
    for (text, pair) in list.iter().zip(&set) {
        apply_settings(std::slice::from_ref(pair), &mut options, &mut policies)
            .map_err(|e| Flaw::new(at(text), e.to_string(), "expected a setting"))?;
    }
    Ok(set)
}

/// Positions of the chosen cases, in the order of the file.
fn chosen<'a, I: Iterator<Item = &'a str>>(
    list: &[Text],
    tokens: impl Fn() -> I,
) -> Result<Vec<usize>, Flaw> {
    let one = |text: &Text| position(text, "case", tokens());
    let mut all: Vec<usize> = list.iter().map(one).collect::<Result<_, _>>()?;
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

fn cases(raw: &[RawCase], start: usize) -> Result<Vec<Case>, Flaw> {
    if raw.is_empty() {
        return Err(Flaw::new(
            start,
            "no case",
            "expected at least one [[case]]",
        ));
    }
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
        cases.push(Case {
            token,
            workload: workload(&raw.workload, raw.workload.get_ref())?,
            params: params(&raw.params),
        });
    }
    Ok(cases)
}

fn params(raw: &BTreeMap<String, RawParam>) -> BTreeMap<String, Param> {
    let word = |value: &RawParam| match value {
        RawParam::Number(number) => Param::Number(*number),
        RawParam::Word(word) => Param::Word(word.clone()),
    };
    let pair = |(key, value): (&String, &RawParam)| (key.clone(), word(value));
    raw.iter().map(pair).collect()
}

fn workload(place: &Text, argument: &str) -> Result<Spec, Flaw> {
    Spec::parse(argument, &LoadOptions::default())
        .map_err(|e| Flaw::new(at(place), e.to_string(), "expected a workload"))
}

fn metrics(raw: &RawStudy) -> Result<Vec<Shown>, Flaw> {
    if raw.metric.is_empty() {
        let expected = "expected at least one [[metric]]";
        return Err(Flaw::new(at(&raw.title), "no metric", expected));
    }
    let mut all: Vec<Shown> = Vec::new();
    for metric in &raw.metric {
        let name = metric.name.get_ref();
        find_metric(name)
            .map_err(|e| Flaw::new(at(&metric.name), e.to_string(), "expected a metric"))?;
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

fn variations(
    list: &[RawVariation],
    raw_cases: &[RawCase],
    file: &StudyFile,
) -> Result<Vec<Variation>, Flaw> {
    let mut all: Vec<Variation> = Vec::new();
    for raw in list {
        let name = token(&raw.name)?;
        if all.iter().any(|v| v.name == name) {
            let problem = format!("`{name}` stands here twice");
            return Err(Flaw::new(at(&raw.name), problem, "expected each name once"));
        }
        all.push(variation(raw, name, raw_cases, file)?);
    }
    Ok(all)
}

fn variation(
    raw: &RawVariation,
    name: String,
    raw_cases: &[RawCase],
    file: &StudyFile,
) -> Result<Variation, Flaw> {
    let policies = match &raw.policies {
        None => file.policies.clone(),
        Some(list) => policies(list, file.policies.len())?,
    };
    if policies.len() != file.policies.len() {
        let (problem, expected) = (policies.len(), file.policies.len());
        let expected = format!("expected {expected}, in the roles of the study's");
        return Err(Flaw::new(
            at(&raw.name),
            format!("{problem} policies"),
            expected,
        ));
    }
    let positions = match &raw.cases {
        None => (0..file.cases.len()).collect(),
        Some(list) => chosen(list, || file.cases.iter().map(|c| c.token.as_str()))?,
    };
    let changed = |case: usize| {
        let argument = raw_cases[case].workload.get_ref();
        let spec = match &raw.workload {
            None => file.cases[case].workload.clone(),
            Some(extra) => workload(extra, &format!("{argument},{}", extra.get_ref()))?,
        };
        Ok((case, spec))
    };
    Ok(Variation {
        name,
        why: sentence(&raw.why)?,
        set: checked_settings(&raw.set, &file.options, &policies)?,
        hotplug: schedule(raw.hotplug.as_ref(), file.options.hotplug.clone())?,
        cases: positions
            .into_iter()
            .map(changed)
            .collect::<Result<_, _>>()?,
        seeds: count(&raw.seeds)?,
        policies,
    })
}

/// The verdict templates name what exists and what the study has.
fn templates(raw: &RawStudy, file: &StudyFile) -> Result<(), Flaw> {
    for metric in &raw.metric {
        let Some(template) = &metric.verdict else {
            continue;
        };
        let is_published = |f: &super::Figure| f.cell.metric == *metric.name.get_ref();
        let published = file.published.iter().any(is_published);
        verdict::check(template.get_ref(), published, at(template))?;
    }
    Ok(())
}
