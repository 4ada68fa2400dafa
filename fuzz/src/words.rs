//! Runs made of the names that the program knows: platforms, models with their parameters, eras,
//! features, settings.
//!
//! What must stay: lists come from the program's own tables, so that new names are drawn without a
//! change here; draws depend on the stream alone. Free: what is drawn and how often. Tests by part:
//! mutations.rs::`equal_seeds_make_equal_inputs` (`mutate`), mutations.rs::`run` of
//! `keep_the_promises` (at least a tenth of the runs that `line`, `platform`, `workload`, `policy`,
//! `parameter`, `model`, `time`, `hotplug` and `expectation` make must be simulated). `put`,
//! `change_line`, `change_files` and `digits_changed` have no test of their own.
//!
//! Callers: mutate.rs (`mutate`, `digits_changed`). Rule: docs/internals/checks.md.
//!
//! Tests: fuzz/tests/all/mutations.rs

use crate::case::Case;
use crate::mutate::{document, index, lines, one_of, other_number};
use crate::tree::Form;
use wakeplace_engine::Options;
use wakeplace_metrics::METRICS;
use wakeplace_platform::builtin_names;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{Spec, Stream};

/// A run like `seed`, with lines of `donor` and new ones.
pub(crate) fn mutate(seed: &[u8], donor: &[u8], changes: u64, random: &mut Stream) -> Vec<u8> {
    let Some(mut case) = Case::read(seed) else {
        return lines(seed, donor, changes, random);
    };
    let donor = Case::read(donor).unwrap_or_default();
    for _ in 0..changes {
        match random.below(10) {
            0 | 1 if !case.lines.is_empty() => change_line(&mut case, random),
            2 if !case.lines.is_empty() => {
                let at = index(case.lines.len(), random);
                case.lines.remove(at);
            }
            3 if !donor.lines.is_empty() => {
                let taken = donor.lines[index(donor.lines.len(), random)].clone();
                put(&mut case, taken);
            }
            4 => change_files(&mut case, &donor, random),
            _ => {
                let made = line(random);
                put(&mut case, made);
            }
        }
    }
    case.write().into_bytes()
}

/// Puts a line into the run: of most options only one counts, so it takes the place of the other.
fn put(case: &mut Case, line: (String, String)) {
    let many = matches!(line.0.as_str(), "set" | "expect" | "policy-at");
    if !many {
        case.lines.retain(|(option, _)| *option != line.0);
    }
    case.lines.push(line);
}

/// Changes, doubles or renumbers a line.
fn change_line(case: &mut Case, random: &mut Stream) {
    let at = index(case.lines.len(), random);
    let (option, value) = case.lines[at].clone();
    match random.below(5) {
        0 => {
            let changed = lines(value.as_bytes(), b"", 1, random);
            case.lines[at].1 = String::from_utf8_lossy(&changed).replace('\n', " ");
        }
        1 => case.lines.push((option, value)),
        _ => case.lines[at].1 = digits_changed(&value, random),
    }
}

/// Changes an own file, or takes the donor's.
fn change_files(case: &mut Case, donor: &Case, random: &mut Stream) {
    let text = |file: &Option<String>| file.clone().unwrap_or_default();
    let mut change = |file: &mut Option<String>, other: &Option<String>, form: Form| {
        let Some(now) = file.clone() else {
            file.clone_from(other);
            return;
        };
        let changed = document(form, now.as_bytes(), text(other).as_bytes(), 2, random);
        if let Some(changed) = changed {
            *file = String::from_utf8(changed).ok();
        }
    };
    change(&mut case.platform, &donor.platform, Form::Toml);
    change(&mut case.workload, &donor.workload, Form::Json);
}

/// A new line: one argument of a run.
fn line(random: &mut Stream) -> (String, String) {
    let (option, value) = match random.below(13) {
        0 => ("platform", platform(random)),
        1 | 2 => ("workload", workload(random)),
        3 | 4 => ("policy", policy(random)),
        5 => (
            "policy-at",
            format!("{}={}", time(random), parameter(random)),
        ),
        6 => ("hotplug", hotplug(random)),
        7 => ("expect", expectation(random)),
        8 => ("set", model(random)),
        9 => ("seeds", one_of(&["2", "3"], random).to_owned()),
        10 => ("oracle", String::new()),
        _ => ("set", parameter(random)),
    };
    (option.to_owned(), value)
}

/// The name of a built-in platform.
fn platform(random: &mut Stream) -> String {
    let names: Vec<&str> = builtin_names().collect();
    one_of(&names, random).to_owned()
}

/// A model with some of its parameters at values near what their descriptions name.
fn workload(random: &mut Stream) -> String {
    let models: Vec<_> = Spec::catalogue().collect();
    let model = models[index(models.len(), random)];
    let mut text = model.name.to_owned();
    let mut between = ':';
    for _ in 0..random.below(4) {
        if model.parameters.is_empty() {
            break;
        }
        let parameter = model.parameters[index(model.parameters.len(), random)];
        let words: Vec<&str> = [parameter.default]
            .into_iter()
            .chain(parameter.unit.split([' ', ',', '.', '=', '/', '(', ')']))
            .filter(|word| !word.is_empty())
            .collect();
        let mut value = match random.below(3) {
            0 => one_of(
                &["0", "1", "2", "5", "40", "1us", "100us", "3ms", "50%"],
                random,
            )
            .to_owned(),
            _ if words.is_empty() => continue,
            _ => one_of(&words, random).to_owned(),
        };
        if random.below(3) == 0 {
            value = digits_changed(&value, random);
        }
        text.push_str(&format!("{between}{}={value}", parameter.name));
        between = ',';
    }
    text
}

/// An era with features.
fn policy(random: &mut Stream) -> String {
    let catalogue = Policy::catalogue();
    let (features, eras): (Vec<_>, Vec<_>) = catalogue
        .iter()
        .map(|(name, _)| name.as_str())
        .partition(|name| name.starts_with('+'));
    let mut name = one_of(&eras, random).to_owned();
    for _ in 0..random.below(3) {
        let feature = one_of(&features, random).trim_start_matches('+');
        let sign = one_of(&["+", "+", "-"], random);
        let views = Policy::parse(one_of(&eras, random)).map(|policy| policy.features());
        let views = views.unwrap_or_default();
        let versions = views
            .iter()
            .find(|view| view.name == feature)
            .map(|view| view.versions);
        let version = match versions {
            Some(versions) if !versions.is_empty() && sign == "+" && random.below(2) == 0 => {
                format!("={}", one_of(versions, random))
            }
            _ => String::new(),
        };
        name.push_str(&format!("{sign}{feature}{version}"));
    }
    name
}

/// A parameter of the policy with a value that it has in some era, or a number.
fn parameter(random: &mut Stream) -> String {
    let eras: Vec<String> = Policy::catalogue()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let eras: Vec<&str> = eras
        .iter()
        .map(String::as_str)
        .filter(|n| !n.starts_with('+'))
        .collect();
    let params = |name: &str| {
        Policy::parse(name)
            .map(|policy| policy.params())
            .unwrap_or_default()
    };
    let known = params(one_of(&eras, random));
    let chosen = &known[index(known.len(), random)];
    let key = chosen.key;
    let elsewhere = params(one_of(&eras, random));
    let value = match random.below(4) {
        0 => one_of(&["on", "off"], random).to_owned(),
        1 => other_number(&chosen.value, random),
        // A word of its description, where the values are named.
        2 => {
            let words: Vec<&str> = chosen.doc.split([' ', ',', '(', ')', ':', ';']).collect();
            one_of(&words, random).to_owned()
        }
        _ => elsewhere
            .iter()
            .find(|p| p.key == key)
            .map_or_else(String::new, |p| p.value.clone()),
    };
    format!("{key}={value}")
}

/// A setting of the machine's model.
fn model(random: &mut Stream) -> String {
    let keys = Options::default().keys();
    let (key, _, doc) = &keys[index(keys.len(), random)];
    let value = match *key {
        "model.irq" => format!(
            "{}:{}:{}{}",
            random.below(4),
            one_of(&["10us", "100us", "1ms"], random),
            one_of(&["1ns", "9us", "99us"], random),
            one_of(&["", ":movable", "+0:20us:19us"], random)
        ),
        "model.freq_cap" => format!("{}:max@{}", random.below(3), time(random)),
        "model.em_scale" => {
            format!(
                "{}:{}@{}",
                random.below(3),
                1 + random.below(10_000),
                time(random)
            )
        }
        _ => {
            let words: Vec<&str> = doc.split([' ', ',', '(', ')']).collect();
            match random.below(2) {
                0 => one_of(&words, random).to_owned(),
                _ => other_number("100", random),
            }
        }
    };
    format!("{key}={value}")
}

/// A time at which something changes.
fn time(random: &mut Stream) -> String {
    one_of(
        &["0s", "1ns", "1us", "999us", "4ms", "5ms", "19999us", "20ms"],
        random,
    )
    .to_owned()
}

/// A schedule of CPUs that go and come, of up to six steps.
fn hotplug(random: &mut Stream) -> String {
    let step = |random: &mut Stream| {
        let state = one_of(&["on", "off", "off"], random);
        format!("{}:{}={state}", time(random), random.below(5))
    };
    let steps: Vec<String> = (0..1 + random.below(6)).map(|_| step(random)).collect();
    steps.join(",")
}

/// An expectation: a metric with a sensible or senseless limit.
fn expectation(random: &mut Stream) -> String {
    let metric = METRICS[index(METRICS.len(), random)].name;
    let sign = one_of(&["<", "<=", ">", ">=", "==", "="], random);
    let limit = one_of(&["0", "-1", "1e300", "NaN", "0.5", ""], random);
    let cluster = one_of(&["little", "big", "cpu"], random);
    format!("{}{sign}{limit}", metric.replace("{cluster}", cluster))
}

/// The text with one of its numbers changed; without a number, with one at its end.
pub(crate) fn digits_changed(text: &str, random: &mut Stream) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match runs.last_mut() {
            Some((_, end)) if *end == at && byte.is_ascii_digit() => *end = at + 1,
            _ if byte.is_ascii_digit() => runs.push((at, at + 1)),
            _ => {}
        }
    }
    if runs.is_empty() {
        return format!("{text}{}", other_number("0", random));
    }
    let (start, end) = runs[index(runs.len(), random)];
    let number = other_number(&text[start..end], random);
    format!("{}{number}{}", &text[..start], &text[end..])
}
