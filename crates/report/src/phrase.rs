//! Differences as sentences, and what colour may add to them (docs/guide/results.md, "Intervals").
//! A sentence says no more than the interval does.
//!
//! What must stay: terminal, Markdown and page take their sentences from here, so that all say the
//! same; words of `Difference` are in the JSON; the margin is in percent, and within it a change
//! does not matter; energy that was saved by less work is said to be. Sentences may change. Tests
//! by part: `sentences_say_what_it_means` (`sentence`, `amount`, `aside`, `interval`,
//! `interval_pct`), `less_work_is_said` (`of_work`), `a_change_may_go_another_way_than_the_mean`
//! (`is_apart`), `a_loss_from_nothing_is_a_loss`, `direction_decides_what_is_better` and
//! `the_margin_decides_what_matters` (the difference of `wakeplace_metrics`),
//! `a_headline_names_the_price` (`verdict`, `besides`, `paint`), study/tests.rs::`small_things`
//! (`short_policy`, `wrap`), study/tests.rs::`joules_of_a_modelled_power_say_so` (`power_word`),
//! the first also `finite`, html/tests.rs::`modelled_joules_have_a_word` (`noun`). `cell` and
//! `title` have no test of their own; `delta` is the tests' own.
//! diff/tests.rs::`what_grows_with_the_length_is_not_judged` (`is_judged`, `instead`).
//!
//! Callers: comparison.rs and json.rs (`is_judged`), comparison.rs and html/tables.rs (`instead`),
//! comparison.rs (`is_apart`, `verdict`), published.rs (`interval_pct`), study.rs
//! (`is_apart`), many files (`short_policy`, `power_word`, `wrap`).
//!
//! Tests: below, crates/report/src/comparison/tests.rs, crates/report/src/study/tests.rs

use crate::paint::Tone;
use crate::plain::plain;
use crate::{Cell, Style, number};
pub(crate) use wakeplace_metrics::{MODELLED, of_power};
use wakeplace_metrics::{MetricDef, PairedDelta, find_metric};
use wakeplace_outcome::{Delta, Difference, Verdict};
use wakeplace_study::{PolicyRuns, SHOWN_PCT};
use wakeplace_text::printable;

/// What stands for the word of what grows with the length, between runs of unlike length.
pub(crate) const LENGTHS_DIFFER: &str = "lengths differ";

/// The difference of this metric has a word; `unlike`: the runs are not as long.
pub(crate) fn is_judged(metric: &str, unlike: bool) -> bool {
    !unlike || !find_metric(metric).is_ok_and(MetricDef::grows_with_length)
}

/// What stands where a difference has no word. Results of version 1, which have none at all, have
/// no number of pairs either.
pub(crate) fn instead(delta: &Delta) -> Option<&'static str> {
    (delta.difference.is_none() && delta.n.is_some()).then_some(LENGTHS_DIFFER)
}

/// A difference's word as a cell of a table.
pub(crate) fn cell(difference: Difference) -> Cell {
    let word = difference.word();
    match difference {
        Difference::Better => Cell::Toned(Tone::Good, word.to_owned()),
        Difference::Worse => Cell::Toned(Tone::Bad, word.to_owned()),
        _ => word.into(),
    }
}

/// A verdict in the colour of what it says: good with something worse beside it has none.
pub(crate) fn paint(verdict: &Verdict, text: &str, style: Style) -> String {
    let code = match Difference::of_word(&verdict.difference) {
        _ if !style.color => return text.to_owned(),
        Some(Difference::Better) if verdict.worse.is_empty() => "1;32",
        Some(Difference::Worse) => "1;31",
        _ => "1",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// The title of a table, perhaps with a name from a file in it.
pub(crate) fn title(text: &str, style: Style) -> String {
    let text = printable(text);
    if style.color {
        return format!("\x1b[1m{text}\x1b[0m");
    }
    text.into_owned()
}

/// `-14.0 to -12.8 %`; nothing for one seed. An end that is a factor makes it `+300 % to x 24.0`.
pub(crate) fn interval(ci95: Option<(f64, f64)>) -> Option<String> {
    let (low, high) = finite(ci95)?;
    let Some(times) = number::factor(high) else {
        return interval_pct(ci95);
    };
    let low = match number::factor(low) {
        Some(times) => format!("x {times}"),
        None => format!("{} %", number::bound(low)),
    };
    Some(format!("{low} to x {times}"))
}

/// The same in percent, however large.
pub(crate) fn interval_pct(ci95: Option<(f64, f64)>) -> Option<String> {
    let (low, high) = finite(ci95)?;
    let (low, high) = (number::bound(low), number::bound(high));
    Some(format!("{low} to {high} %"))
}

/// The interval, if it has both ends.
pub(crate) fn finite(ci95: Option<(f64, f64)>) -> Option<(f64, f64)> {
    ci95.filter(|(low, high)| low.is_finite() && high.is_finite())
}

/// Stands at a change whose sign is not that of the means.
pub(crate) const APART: &str = "†";

/// What that mark means.
pub(crate) const WHY_APART: &str = "† The change is taken seed by seed (the geometric mean of the \
    ratios). The mean over all seeds goes the other way: a few seeds with large values decide it.";

/// The change goes one way and the mean the other.
pub(crate) fn is_apart(base_mean: f64, mean: f64, delta_pct: f64) -> bool {
    let of_means = (mean - base_mean) / base_mean.abs() * 100.0;
    delta_pct.is_finite()
        && of_means * delta_pct < 0.0
        && of_means.abs() >= SHOWN_PCT
        && delta_pct.abs() >= SHOWN_PCT
}

/// A policy that extends the base's name is shown as what it adds.
pub(crate) fn short_policy(base: &str, policy: &str) -> String {
    match policy.strip_prefix(base) {
        Some(rest) if rest.starts_with(['+', '-']) => rest.to_owned(),
        _ => policy.to_owned(),
    }
}

/// Metrics a verdict is about, the first that was measured, and how to say it.
const SUBJECTS: [(&str, &str); 5] = [
    ("energy_j", "energy"),
    ("cpu_energy_j", "CPU energy"),
    ("cpu_energy_bogo", "CPU energy (in the platform's own unit)"),
    ("wake_latency_us_p99", "wake-up latency (99th percentile)"),
    ("runtime_s", "time"),
];

/// How to say what workloads are measured by; others by their metric's name.
const OWN: [(&str, &str); 7] = [
    ("missed_frames_total", MISSED_FRAMES),
    ("throughput_per_s", "throughput"),
    ("throughput_mb_per_s", "throughput"),
    ("jobs_per_min", "jobs per minute"),
    ("events_total", "events"),
    ("events_per_program", "events per program"),
    ("runtime_s", "time"),
];

/// What can be counted, one by one.
const MISSED_FRAMES: &str = "missed frames";

/// Subjects that fall where less is done.
const ENERGY: [&str; 3] = ["energy_j", "cpu_energy_j", "cpu_energy_bogo"];

/// The work that was done, and the energy for each unit of it.
const WORK: (&str, &str) = ("task_work_s", "cpu_energy_per_work_j");

/// The metric that shows what a saving cost.
const PRICE: (&str, &str) = (
    "wake_latency_us_p99",
    "99th percentile of the wake-up latency",
);

/// How to say what a metric measures; by its name if nobody has found words.
pub(crate) fn noun(metric: &str) -> &str {
    let known = SUBJECTS
        .iter()
        .chain(&OWN)
        .find(|(name, _)| *name == metric);
    known.map_or(metric, |(_, noun)| noun)
}

/// What verdicts of a result are made by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judge<'a> {
    /// The metric that the workload is read by.
    pub(crate) own: Option<&'a str>,
    /// All metrics that the result is read by, in order.
    pub(crate) key: &'a [&'a str],
    /// A difference of less does not matter, percent.
    pub(crate) margin_pct: f64,
    /// Nobody measured the power that joules are made of.
    pub(crate) modelled_power: bool,
    /// The runs are not as long: what grows with the length is no subject.
    pub(crate) unlike_lengths: bool,
}

/// One line about a policy beside the base; None if they have no subject in common.
pub(crate) fn verdict(base: &PolicyRuns, other: &PolicyRuns, judge: Judge<'_>) -> Option<Verdict> {
    let Judge {
        own, margin_pct, ..
    } = judge;
    let delta = |metric: &str| {
        let judged = is_judged(metric, judge.unlike_lengths);
        wakeplace_metrics::paired(&base.metrics, &other.metrics, metric).filter(|_| judged)
    };
    let named = |own| {
        let known = OWN
            .iter()
            .chain(&SUBJECTS)
            .find(|(metric, _)| *metric == own);
        (own, known.map_or(own, |(_, noun)| *noun))
    };
    let subjects = own.map(named).into_iter().chain(SUBJECTS);
    let (metric, noun, delta_of_subject) =
        { subjects }.find_map(|(metric, noun)| delta(metric).map(|delta| (metric, noun, delta)))?;
    let sense = delta_of_subject.difference(metric, margin_pct);
    let names = (base.policy.as_str(), other.policy.as_str());
    let noun = match judge.modelled_power && of_power(metric) {
        true => format!("{MODELLED} {noun}"),
        false => noun.to_owned(),
    };
    let mut line = sentence(names, &noun, &delta_of_subject, (sense, margin_pct));
    if ENERGY.contains(&metric)
        && let Some(done) = delta(WORK.0)
    {
        line.push_str(&of_work(&done, delta(WORK.1).as_ref(), margin_pct));
    }
    if metric != PRICE.0
        && let Some(price) = delta(PRICE.0)
    {
        line.push_str(&aside(&price, price.difference(PRICE.0, margin_pct)));
    }
    let rest = judge.key.iter().filter(|name| **name != metric);
    let rest: Vec<_> = rest
        .filter_map(|name| {
            let delta = delta(name)?;
            Some((*name, delta, delta.difference(name, margin_pct)))
        })
        .collect();
    let all = |wanted: Difference| rest.iter().filter(move |(.., sense)| *sense == wanted);
    let unsaid = |(name, ..): &&(&str, PairedDelta, Difference)| *name != PRICE.0;
    for (word, wanted) in [("worse", Difference::Worse), ("better", Difference::Better)] {
        let named = all(wanted).filter(unsaid);
        let named: Vec<String> = named.map(|(name, delta, _)| besides(name, delta)).collect();
        // Good beside good is for the table.
        if !named.is_empty() && (wanted == Difference::Worse || wanted != sense) {
            line.push_str(&format!("; {word}: {}", named.join(", ")));
        }
    }
    line.push('.');
    Some(Verdict {
        policy: other.policy.clone(),
        metric: metric.to_owned(),
        difference: sense.word().to_owned(),
        worse: all(Difference::Worse)
            .map(|(name, ..)| (*name).to_owned())
            .collect(),
        text: line,
    })
}

/// What stands behind the name of a metric in joules or watts where nobody measured the power of
/// `some` of `of` machines, points or cases.
pub(crate) fn power_word(metric: &str, (some, of): (usize, usize)) -> Option<&'static str> {
    match some {
        0 => None,
        some if some < of => Some("partly modelled"),
        _ => Some(MODELLED),
    }
    .filter(|_| of_power(metric))
}

/// `missed periods +8.50 %`.
fn besides(metric: &str, delta: &PairedDelta) -> String {
    let name = plain(metric);
    let is_word = name.chars().nth(1).is_some_and(char::is_lowercase);
    let name = match is_word {
        true => name[..1].to_lowercase() + &name[1..],
        false => name,
    };
    format!("{name} {}", number::change(delta.delta_pct))
}

/// One change as a sentence: better, worse, within the margin, or perhaps chance.
fn sentence(
    (base, other): (&str, &str),
    noun: &str,
    delta: &PairedDelta,
    (sense, margin_pct): (Difference, f64),
) -> String {
    let verb = match noun {
        "time" => "takes",
        _ if noun.contains("energy") => "uses",
        _ => "has",
    };
    let ([less, much], differs) = match noun {
        MISSED_FRAMES => (["fewer", "many"], "differ"),
        _ => (["less", "much"], "differs"),
    };
    let compared = match number::factor(delta.delta_pct) {
        Some(times) => format!("{other} {verb} {times} times as {much} {noun} as {base}"),
        None => {
            let amount = amount(delta.delta_pct, [less, "more"]);
            format!("{other} {verb} {amount} {noun} than {base}")
        }
    };
    let ci = match interval(delta.ci95) {
        _ if delta.delta_pct.is_infinite() => format!(" ({})", number::FROM_ZERO),
        Some(ci) => format!(" [95 % CI {ci}]"),
        None => String::new(),
    };
    match sense {
        Difference::Unknown => {
            format!("{compared} (one run, no interval)")
        }
        Difference::Same => {
            format!("No difference that matters in {noun} between {other} and {base}{ci}")
        }
        Difference::NotTold if delta.significant => format!(
            "{compared}{ci}; not told from {} seeds whether by more than the margin of \
             {margin_pct} %",
            delta.n
        ),
        Difference::NotTold => format!(
            "Not told from {} seeds whether {noun} {differs} between {other} and {base}{ci}",
            delta.n
        ),
        Difference::Better | Difference::Worse | Difference::Other => format!("{compared}{ci}"),
    }
}

/// `12.3 % less`; above a hundred percent without decimals, in words what rounds to nothing, and
/// without percent what is from 0.
fn amount(delta_pct: f64, [less, more]: [&str; 2]) -> String {
    if delta_pct.abs() < SHOWN_PCT {
        return format!("hardly {more} or {less}");
    }
    let side = if delta_pct < 0.0 { less } else { more };
    if delta_pct.is_infinite() {
        return side.to_owned();
    }
    let decimals = if delta_pct.abs() >= 100.0 { 0 } else { 1 };
    format!("{:.decimals$} % {side}", delta_pct.abs())
}

/// What a difference in energy rests on, if the work that was done is told to differ, too.
fn of_work(done: &PairedDelta, per_work: Option<&PairedDelta>, margin_pct: f64) -> String {
    let told = [Difference::Better, Difference::Worse];
    if !told.contains(&done.difference(WORK.0, margin_pct)) {
        return String::new();
    }
    let work = amount(done.delta_pct, ["less", "more"]);
    let energy = per_work.map(|delta| amount(delta.delta_pct, ["less", "more"]));
    let energy = energy.map_or_else(String::new, |amount| {
        format!(": {amount} CPU energy per work")
    });
    format!("; it does {work} work{energy}")
}

/// What happens to latency, for a verdict about something else.
fn aside(price: &PairedDelta, sense: Difference) -> String {
    let noun = PRICE.1;
    let amount = match number::factor(price.delta_pct) {
        Some(times) => format!("{times} times as high"),
        None => amount(price.delta_pct, ["lower", "higher"]),
    };
    match sense {
        Difference::Better | Difference::Worse | Difference::Other => {
            format!("; the {noun} is {amount}")
        }
        Difference::Same => format!("; no difference that matters in the {noun}"),
        Difference::NotTold if price.significant => {
            format!("; the {noun} is {amount}, whether by more than the margin is not told")
        }
        Difference::NotTold => format!("; the {noun} is not told from chance"),
        Difference::Unknown => String::new(),
    }
}

/// A line for people, perhaps with names from files in it, broken at blanks so that it fits;
/// continuation lines are not indented, and a number stays with its `%`. 0 = any width.
pub(crate) fn wrap(line: &str, width: usize) -> String {
    let line = printable(line);
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ') {
        match words.last_mut() {
            Some(number) if word.starts_with('%') => {
                number.push(' ');
                number.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    let mut text = String::new();
    let mut used = 0;
    for word in words {
        let length = word.chars().count();
        if used > 0 && width > 0 && used + 1 + length > width {
            text.push('\n');
            used = 0;
        } else if used > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(&word);
        used += length;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Difference, amount, aside, interval, interval_pct, is_apart, of_work, sentence};
    use wakeplace_metrics::{Method, PairedDelta};

    const MARGIN: f64 = 1.0;

    /// Goal: energy that was saved by doing less is said to be so; where work does not differ by
    /// more than the margin, or is not told to, nothing is said.
    #[test]
    fn less_work_is_said() {
        let less = delta(-5.0, Some((-6.0, -4.0)));
        let per_work = delta(3.1, Some((2.0, 4.0)));
        let said = of_work(&less, Some(&per_work), MARGIN);
        assert_eq!(
            said,
            "; it does 5.0 % less work: 3.1 % more CPU energy per work"
        );
        assert_eq!(of_work(&less, None, MARGIN), "; it does 5.0 % less work");
        for open in [(-6.0, -0.5), (-0.4, 0.4)] {
            assert_eq!(of_work(&delta(-0.3, Some(open)), None, MARGIN), "");
        }
    }

    fn delta(delta_pct: f64, ci95: Option<(f64, f64)>) -> PairedDelta {
        PairedDelta {
            delta_pct,
            ci95,
            significant: ci95.is_some_and(|(low, high)| low > 0.0 || high < 0.0),
            n: 10,
            method: Method::LogRatio,
        }
    }

    #[test]
    fn sentences_say_what_it_means() {
        let say = |d: &PairedDelta| {
            let sense = d.difference("energy_j", MARGIN);
            sentence(("a", "b"), "energy", d, (sense, MARGIN))
        };
        assert_eq!(
            say(&delta(-12.34, Some((-13.0, -11.0)))),
            "b uses 12.3 % less energy than a [95 % CI -13.0 to -11.0 %]"
        );
        assert_eq!(
            say(&delta(0.4, Some((-1.0, 2.0)))),
            "Not told from 10 seeds whether energy differs between b and a [95 % CI -1.0 to +2.0 %]"
        );
        let frames = |d: &PairedDelta| {
            let sense = d.difference("missed_frames_total", MARGIN);
            sentence(("a", "b"), "missed frames", d, (sense, MARGIN))
        };
        assert_eq!(
            frames(&delta(-12.34, Some((-13.0, -11.0)))),
            "b has 12.3 % fewer missed frames than a [95 % CI -13.0 to -11.0 %]"
        );
        assert_eq!(
            frames(&delta(0.4, Some((-1.0, 2.0)))),
            "Not told from 10 seeds whether missed frames differ between b and a \
             [95 % CI -1.0 to +2.0 %]"
        );
        // It excludes 0, and reaches into the margin.
        assert_eq!(
            say(&delta(-1.57, Some((-2.6, -0.5)))),
            "b uses 1.6 % less energy than a [95 % CI -2.6 to -0.5 %]; not told from 10 seeds \
             whether by more than the margin of 1 %"
        );
        assert_eq!(
            say(&delta(0.1, Some((-0.1, 0.3)))),
            "No difference that matters in energy between b and a [95 % CI -0.1 to +0.3 %]"
        );
        assert_eq!(
            say(&delta(5.0, None)),
            "b uses 5.0 % more energy than a (one run, no interval)"
        );
        assert_eq!(
            say(&delta(0.0, None)),
            "b uses hardly more or less energy than a (one run, no interval)"
        );
        assert_eq!(amount(407.0, ["lower", "higher"]), "407 % higher");
        // 1407 % more are 15.07 times as much.
        assert_eq!(
            say(&delta(1407.0, Some((300.0, 2300.0)))),
            "b uses 15.1 times as much energy as a [95 % CI +300 % to x 24.0]"
        );
        let high = delta(1407.0, Some((1100.0, 2300.0)));
        assert_eq!(
            aside(&high, Difference::Worse),
            "; the 99th percentile of the wake-up latency is 15.1 times as high"
        );
        assert_eq!(interval(high.ci95).as_deref(), Some("x 12.0 to x 24.0"));
        assert_eq!(interval_pct(high.ci95).as_deref(), Some("+1100 to +2300 %"));
        let small = amount(-0.04, ["lower", "higher"]);
        assert_eq!(small, "hardly higher or lower");
        assert_eq!(interval(Some((f64::NAN, 0.0))), None);
        let inf = f64::INFINITY;
        assert_eq!(
            say(&delta(inf, Some((inf, inf)))),
            "b uses more energy than a (from 0)"
        );
        assert_eq!(
            say(&delta(inf, Some((-inf, inf)))),
            "Not told from 10 seeds whether energy differs between b and a (from 0)"
        );
    }

    /// Goal: the mark stands where sign and sign differ, and where both are shown. 205.6 to 201.8
    /// is -1.85 %.
    #[test]
    fn a_change_may_go_another_way_than_the_mean() {
        assert!(is_apart(205.6, 201.8, 56.67));
        assert!(!is_apart(205.6, 201.8, -1.2) && !is_apart(205.6, 201.8, 0.01));
        assert!(!is_apart(205.6, 205.6, 3.0) && !is_apart(0.0, 1.0, f64::INFINITY));
    }

    /// Goal: what is lost from a base of 0 is a loss, though it has no percent.
    #[test]
    fn a_loss_from_nothing_is_a_loss() {
        let inf = f64::INFINITY;
        let of = |metric: &str, low: f64, high: f64| {
            delta(high, Some((low, high))).difference(metric, MARGIN)
        };
        assert_eq!(of("missed_periods_total", inf, inf), Difference::Worse);
        assert_eq!(of("missed_periods_total", -inf, -inf), Difference::Better);
        assert_eq!(of("missed_periods_total", -inf, inf), Difference::NotTold);
        assert_eq!(of("wakeups_total", inf, inf), Difference::Other);
    }

    #[test]
    fn direction_decides_what_is_better() {
        let less = delta(-5.0, Some((-6.0, -4.0)));
        let of = |metric: &str, delta: &PairedDelta| delta.difference(metric, MARGIN);
        assert_eq!(of("energy_j", &less), Difference::Better);
        assert_eq!(of("idle_residency_pct", &less), Difference::Worse);
        assert_eq!(of("wakeups_total", &less), Difference::Other);
        assert_eq!(of("energy_j", &delta(-5.0, None)), Difference::Unknown);
        assert_eq!(
            of("energy_j", &delta(-5.0, Some((-11.0, 1.0)))),
            Difference::NotTold
        );
    }

    /// Goal: a difference is told only where its interval lies beyond the margin, and none is told
    /// where it lies inside, though it excludes 0.
    #[test]
    fn the_margin_decides_what_matters() {
        let of = |low: f64, high: f64, margin: f64| {
            delta(low, Some((low, high))).difference("energy_j", margin)
        };
        assert_eq!(of(0.2, 0.9, 1.0), Difference::Same);
        assert_eq!(of(0.2, 0.9, 0.1), Difference::Worse);
        assert_eq!(of(0.2, 1.1, 1.0), Difference::NotTold);
        assert_eq!(of(1.1, 1.2, 1.0), Difference::Worse);
        assert_eq!(of(-1.2, -1.1, 1.0), Difference::Better);
        assert_eq!(of(-0.1, 0.1, 0.0), Difference::NotTold);
        assert_eq!(of(0.0, 0.0, 0.0), Difference::Same);
        assert_eq!(of(f64::NAN, f64::NAN, 1.0), Difference::NotTold);
    }
}
