//! What a store is of that is not the sweep that it was opened for, in words
//! (docs/guide/results.md, "Sweeps").
//!
//! Called for a store that is refused. What it is of is known by its points; they are compared with
//! the sweep's, the first ones of each. Free: the words.
//!
//! What must stay: what is named first is what decides most: the program, then what is varied, then
//! names, then what is behind a name, then options; where nothing of it differs, that is said.
//! Tests by part: grown.rs::`a_refusal_names_what_differs` (`differs`, `axes`, `names`, `files`,
//! `settings`), grown.rs::`of_many_keys_a_refusal_names_the_first` (`listed`),
//! sweeps.rs::`a_store_of_something_else_is_refused` (by the command).
//!
//! Tests: crates/store/tests/all/grown.rs, crates/cli/tests/all/sweeps.rs

use crate::Definition;
use std::collections::{BTreeMap, BTreeSet};
use wakeplace_study::{Design, RunRecord, Sweep, json_pairs, without_varied};
use wakeplace_text::{shorten, time};

/// Points of each that are looked at.
pub(crate) const MOST: usize = 1_000;
/// Names or settings that are told.
const MOST_TOLD: usize = 3;

/// Of what the runs of a store are, of which these are points and the program.
pub(crate) fn differs(
    program: Option<&str>,
    definition: &Definition<'_>,
    points: &[RunRecord],
) -> String {
    if let Some(made) = program.filter(|made| *made != definition.program) {
        return format!(
            "another version of the program: {}, and this is {}",
            shorten(made),
            shorten(definition.program)
        );
    }
    let sweep = definition.sweep;
    let made = (0..sweep.points().min(MOST)).filter_map(|number| sweep.point(number).ok());
    let ours: Vec<RunRecord> = made.map(|point| point.record().clone()).collect();
    // What could not be made says nothing of what it is.
    let made = points.iter().filter(|one| !one.platform_hash.is_empty());
    let theirs: Vec<RunRecord> = made.cloned().collect();
    let found = axes(sweep, points)
        .or_else(|| names(&ours, &theirs, true))
        .or_else(|| files(&ours, &theirs))
        .or_else(|| settings(&ours, &theirs))
        .or_else(|| names(&ours, &theirs, false))
        .or_else(|| drawn(sweep));
    match (found, program) {
        (Some(found), _) => found,
        (None, None) => "another sweep, an earlier program, or files that changed".to_owned(),
        (None, Some(_)) => "another sweep, or files that changed".to_owned(),
    }
}

/// Values that only one of two has.
fn beside<T: Ord + Clone>(one: &BTreeSet<T>, other: &BTreeSet<T>) -> Vec<T> {
    one.difference(other).cloned().collect()
}

/// Words for a message; of many the first: a store may have any number.
fn listed(words: &[String]) -> String {
    let shown = words.iter().take(MOST_TOLD);
    let shown: Vec<String> = shown.map(|word| format!("`{}`", shorten(word))).collect();
    match (words.len().saturating_sub(MOST_TOLD), shown.as_slice()) {
        (_, []) => "none".to_owned(),
        (0, all) => all.join(", "),
        (more, all) => format!("{}, and {more} more", all.join(", ")),
    }
}

/// What is varied, in this order: the numbers of cells count on it.
fn axes(sweep: &Sweep, points: &[RunRecord]) -> Option<String> {
    let first = points.first()?;
    let theirs: Vec<String> = first.labels.iter().map(|(key, _)| key.clone()).collect();
    let ours = sweep.labels();
    (theirs != ours).then(|| {
        format!(
            "another sweep: it varies {}, and this one {}",
            listed(&theirs),
            listed(&ours)
        )
    })
}

/// A name of which a point is.
type Name = (&'static str, fn(&RunRecord) -> String);

/// The load without the keys that are varied, whatever their order.
fn load(record: &RunRecord) -> String {
    let labels = { record.labels.iter() }.map(|(key, value)| (key.as_str(), value.as_str()));
    let load = without_varied(&record.workload, labels);
    let Some((model, keys)) = load.split_once(':') else {
        return load;
    };
    let mut keys: Vec<&str> = keys.split(',').collect();
    keys.sort_unstable();
    format!("{model}:{}", keys.join(","))
}

/// Machines, loads and policies that are not varied: those that this sweep has not, or those that
/// the store has not, as one that is not full.
fn names(ours: &[RunRecord], theirs: &[RunRecord], lost: bool) -> Option<String> {
    let parts: [Name; 4] = [
        ("platform", |record| record.platform.clone()),
        ("workload", load),
        ("policy", |record| record.policy.clone()),
        ("duration", |record| time(record.duration_ns)),
    ];
    parts.into_iter().find_map(|(what, of)| {
        let set = |all: &[RunRecord]| -> BTreeSet<String> {
            let is_fixed = |one: &&RunRecord| one.labels.iter().all(|(key, _)| key != what);
            all.iter().filter(is_fixed).map(of).collect()
        };
        let (ours, theirs) = (set(ours), set(theirs));
        let (old, new) = (beside(&theirs, &ours), beside(&ours, &theirs));
        match (lost, old.as_slice(), new.as_slice()) {
            (true, [], _) | (false, _, []) => None,
            (true, old, []) => Some(format!("another sweep: its {what} is {}, too", listed(old))),
            (true, old, new) => Some(format!(
                "another sweep: its {what} is {}, and this one's {}",
                listed(old),
                listed(new)
            )),
            (false, _, new) => Some(format!(
                "another sweep: this one's {what} is {}, too",
                listed(new)
            )),
        }
    })
}

/// Points of one name, theirs and ours.
fn pairs<'a>(
    ours: &'a [RunRecord],
    theirs: &'a [RunRecord],
) -> impl Iterator<Item = (&'a RunRecord, &'a RunRecord)> {
    let name = |record: &RunRecord| {
        let names = [record.platform.clone(), load(record), record.policy.clone()];
        (record.labels.clone(), names)
    };
    let known: BTreeMap<_, &RunRecord> = theirs.iter().map(|one| (name(one), one)).collect();
    let both = ours
        .iter()
        .filter_map(move |one| Some((*known.get(&name(one))?, one)));
    both.collect::<Vec<_>>().into_iter()
}

/// What is behind the names.
fn files(ours: &[RunRecord], theirs: &[RunRecord]) -> Option<String> {
    pairs(ours, theirs).find_map(|(theirs, ours)| {
        let changed = |old: &str, new: &str| !old.is_empty() && old != new;
        let what = if changed(&theirs.platform_hash, &ours.platform_hash) {
            format!("the platform `{}` has", shorten(&ours.platform))
        } else if changed(&theirs.workload_hash, &ours.workload_hash)
            && theirs.jitter == ours.jitter
        {
            format!("the workload `{}` has", shorten(&ours.workload))
        } else {
            return None;
        };
        Some(format!("files that changed: {what} other contents now"))
    })
}

/// Options, and parameters of the policies.
fn settings(ours: &[RunRecord], theirs: &[RunRecord]) -> Option<String> {
    // Where no values are shared, any point of the same policy will do: what is varied is left out.
    let alone = theirs.first().zip(ours.first());
    let alone = alone.filter(|(theirs, ours)| theirs.policy == ours.policy);
    let pair = pairs(ours, theirs).next().or(alone)?;
    if pair.0.jitter != pair.1.jitter {
        let [old, new] = [&pair.0.jitter, &pair.1.jitter].map(|jitter| match jitter.as_str() {
            "" => "none".to_owned(),
            jitter => jitter.to_owned(),
        });
        return Some(format!(
            "another sweep: its jitter is {old}, and this one's {new}"
        ));
    }
    let map = |record: &RunRecord| -> BTreeMap<String, String> {
        let both = [&record.options, &record.settings].map(|text| json_pairs(text));
        let varied = |key: &str| record.labels.iter().any(|(own, _)| own == key);
        let all = both.into_iter().flatten();
        all.filter(|(key, _)| !varied(key)).collect()
    };
    let (old, new) = (map(pair.0), map(pair.1));
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differ = keys
        .into_iter()
        .filter(|key| old.get(*key) != new.get(*key));
    let value = |of: &BTreeMap<String, String>, key: &String| {
        of.get(key)
            .map_or_else(|| "absent".to_owned(), |value| shorten(value))
    };
    let one = |key: &String| {
        let key_shown = shorten(key);
        format!(
            "{key_shown} is {}, and this one's {}",
            value(&old, key),
            value(&new, key)
        )
    };
    let all: Vec<String> = differ.take(MOST_TOLD).map(one).collect();
    (!all.is_empty()).then(|| format!("another sweep: its {}", all.join("; its ")))
}

/// Points that are drawn are others with any other value, number or seed.
fn drawn(sweep: &Sweep) -> Option<String> {
    let drawn = matches!(sweep.design, Design::LatinHypercube { .. });
    drawn.then(|| {
        "another sweep: it was drawn with other values, another number of points or other seeds"
            .to_owned()
    })
}
