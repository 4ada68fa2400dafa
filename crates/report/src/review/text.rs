//! A review as text: for a terminal, and as a mail of 72 columns (docs/guide/review.md, "The
//! mail").
//!
//! What must stay: failures come first, then what got worse; a mail has no line longer than 72
//! columns but for commands, and says its conditions; words for differences are those of
//! comparisons; `perc_diff` is the change in percent of the base, as LISA's tables call it. Other
//! words may change. Tests by part: review.rs::`a_mail_has_72_columns` (`mail`,
//! `figures`), review.rs::`a_review_says_what_got_worse_first` (`text`),
//! review.rs::`claims_are_judged` (`claims`).
//!
//! Tests: crates/cli/tests/all/review.rs

use super::rank;
use crate::comparison::expected_by_chance;
use crate::number;
use crate::phrase::{interval, wrap};
use crate::{Cell, Format, Style, Table};
use std::fmt::Write as _;
use wakeplace_outcome::{Claim, ClaimPlace, Difference, Parting, Review, ReviewRow};
use wakeplace_text::printable;

/// Columns of a mail, as those of kernel lists.
const MAIL: usize = 72;
/// Most lines of figures that got better, on a terminal and in a mail.
const MOST: usize = 40;

/// For a terminal.
#[must_use]
pub fn text(review: &Review, style: Style) -> String {
    let width = if style.width == 0 { 100 } else { style.width };
    let mut text = wrap(&headline(review), width) + "\n";
    text.push_str(&found(review, width));
    for parting in &review.partings {
        text.push_str(&parted(parting, width, true));
    }
    text.push_str(&conditions(review, width));
    text
}

/// For a mailing list: nothing wider than 72 columns but commands.
#[must_use]
pub fn mail(review: &Review) -> String {
    let mut text = wrap(&headline(review), MAIL) + "\n";
    text.push_str(&found(review, MAIL));
    for parting in &review.partings {
        text.push_str(&parted(parting, MAIL, false));
    }
    text.push_str(&conditions(review, MAIL));
    printable_lines(&text)
}

/// Without anything that a terminal would obey.
fn printable_lines(text: &str) -> String {
    let lines = text.lines().map(|line| printable(line).into_owned() + "\n");
    lines.collect()
}

/// All figures, one a line.
#[must_use]
pub fn csv(review: &Review) -> String {
    let columns = [
        "platform",
        "load",
        "metric",
        "unit",
        "base",
        "change",
        "delta_pct",
        "ci95_low_pct",
        "ci95_high_pct",
        "difference",
    ];
    let mut table = Table::new("review", &columns);
    for row in &review.rows {
        let ends = row.delta_ci95;
        let exact = |value: Option<f64>| Cell::from(value.and_then(number::exact));
        table.row(vec![
            row.platform.as_str().into(),
            row.load.as_str().into(),
            row.metric.as_str().into(),
            row.unit.as_str().into(),
            exact(row.base),
            exact(row.change),
            exact(row.delta_pct),
            exact(ends.map(|(low, _)| low)),
            exact(ends.map(|(_, high)| high)),
            row.difference.as_str().into(),
        ]);
    }
    table.render(Format::Csv, Style::default())
}

/// How many figures got worse and better, and of how many.
fn headline(review: &Review) -> String {
    let of = |wanted: Difference| {
        let rows = review.rows.iter();
        rows.filter(|row| row.difference == wanted.word()).count()
    };
    let places = review.comparisons.len();
    let rest = review.rows.len() - of(Difference::Worse) - of(Difference::Better);
    format!(
        "{} beside {}, {places} pairs of board and load: {} of {} figures worse, {} better, {rest} \
         not told from chance or below {} %.",
        printable(&review.change),
        printable(&review.base),
        of(Difference::Worse),
        review.rows.len(),
        of(Difference::Better),
        review.margin_pct,
    )
}

/// Failures, what got worse, what got better, what is not told, and the claims.
fn found(review: &Review, width: usize) -> String {
    let mut text = String::new();
    if !review.failures.is_empty() {
        text.push_str("\nFailures\n");
        let line = |failure: &String| item(failure, width);
        text.extend(review.failures.iter().map(line));
    }
    for (title, wanted) in [("Worse", Difference::Worse), ("Better", Difference::Better)] {
        let rows = review.rows.iter();
        let own: Vec<_> = rows.filter(|row| row.difference == wanted.word()).collect();
        if own.is_empty() {
            let _ = write!(text, "\n{title}: nothing that is told.\n");
            continue;
        }
        let _ = write!(text, "\n{title}\n{}", figures(&own));
    }
    let untold = review.rows.iter().filter(|row| rank(&row.difference) >= 2);
    let untold = untold.filter(|row| row.difference != Difference::Same.word());
    let untold = untold.count();
    if untold > 0 {
        let line = format!(
            "Not told: {untold} figures, whose intervals reach beyond the margin and into it; more \
             seeds may tell (`--format csv` has all figures)."
        );
        text.push_str(&("\n".to_owned() + &wrap(&line, width) + "\n"));
    }
    if let Some(line) = expected_by_chance(review.multiplicity.intervals) {
        text.push_str(&(wrap(&line, width) + "\n"));
    }
    text.push_str(&claims(&review.claims, width));
    text
}

/// Figures metric by metric, in the order of their first row.
fn figures(rows: &[&ReviewRow]) -> String {
    let mut text = format!(
        "{:30}{:>8}{:>8}{:>10}  95 % CI\n",
        "", "base", "change", "perc_diff"
    );
    let mut metrics: Vec<&str> = Vec::new();
    for row in rows {
        if !metrics.contains(&row.metric.as_str()) {
            metrics.push(&row.metric);
        }
    }
    let mut left = MOST;
    for metric in metrics {
        let own: Vec<_> = rows.iter().filter(|row| row.metric == metric).collect();
        if left == 0 {
            let _ = writeln!(text, " {metric}: {} more", own.len());
            continue;
        }
        let _ = writeln!(text, " {metric}");
        for row in own.iter().take(left) {
            text.push_str(&(figure(row) + "\n"));
        }
        if own.len() > left {
            let _ = writeln!(text, "  and {} more", own.len() - left);
        }
        left = left.saturating_sub(own.len());
    }
    text
}

/// One line of figures.
fn figure(row: &ReviewRow) -> String {
    let place = format!("{}, {}", row.platform, row.load);
    let mean = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number::short);
    let change = row
        .delta_pct
        .map_or_else(|| number::FROM_ZERO.to_owned(), number::percent);
    let ends = row
        .delta_ci95
        .filter(|(low, high)| low.is_finite() && high.is_finite());
    let ends = ends.map_or_else(String::new, |(low, high)| {
        format!("{}..{}", number::bound(low), number::bound(high))
    });
    let (base, new) = (mean(row.base), mean(row.change));
    let change = change.replace(" %", "%");
    format!("  {place:28}{base:>8}{new:>8}{change:>10}  {ends}")
        .trim_end()
        .to_owned()
}

/// Which claims hold, and of those that do not where.
fn claims(claims: &[Claim], width: usize) -> String {
    let mut text = String::new();
    for claim in claims {
        if text.is_empty() {
            text.push_str("\nClaims\n");
        }
        let named = |names: &[String], all: &str| match names.is_empty() {
            true => all.to_owned(),
            false => names.join(", "),
        };
        let places = claim.places.len();
        let line = format!(
            "{}: {} on {} with {} ({} of {places} places hold)",
            claim.expect,
            claim.holds.word(),
            named(&claim.boards, "all boards"),
            named(&claim.loads, "all loads"),
            claim
                .places
                .iter()
                .filter(|place| place.holds == claim_yes())
                .count(),
        );
        text.push_str(&(wrap(&line, width) + "\n"));
        let others = claim
            .places
            .iter()
            .filter(|place| place.holds != claim_yes());
        for place in others {
            text.push_str(&item(&place_line(place), width).replacen("- ", "    ", 1));
        }
    }
    text
}

/// The word for a claim that holds.
fn claim_yes() -> wakeplace_outcome::Holds {
    wakeplace_outcome::Holds::Yes
}

/// Where a claim does not hold or is not told, with the figures.
fn place_line(place: &ClaimPlace) -> String {
    let found = match (interval(place.delta_ci95), place.mean) {
        (Some(ends), _) => format!(", {ends}"),
        (None, Some(mean)) => format!(", {}", number::short(mean)),
        (None, None) => String::new(),
    };
    format!(
        "{}, {}: {}{found}",
        place.platform,
        place.load,
        place.holds.word()
    )
}

/// The first wake-up that went differently, with what explains it on both sides.
fn parted(parting: &Parting, width: usize, whole: bool) -> String {
    let change = parting
        .delta_pct
        .map_or_else(|| number::FROM_ZERO.to_owned(), number::change);
    let Parting {
        platform,
        load,
        metric,
        seed,
        ..
    } = parting;
    let mut text = format!("\nFirst wake-up that went differently\n");
    let Some(wakeup) = &parting.wakeup else {
        let line = format!(
            "{platform}, {load} ({metric} {change}), seed {seed}: every wake-up of both runs went \
             to the same CPU; what differs is not placement at wake-up (clocks, balancing, order \
             on a CPU)."
        );
        return text + &wrap(&line, width) + "\n";
    };
    let which = match wakeup.number {
        0 => format!("the start of `{}`", wakeup.task),
        number => format!("wake-up {number} of `{}`", wakeup.task),
    };
    let before = match wakeup.base.time_ns == wakeup.change.time_ns {
        true => String::new(),
        false => " The runs had parted before in something else (clocks, balancing).".to_owned(),
    };
    let line = format!(
        "{platform}, {load} ({metric} {change}), seed {seed}: {which} went to CPU {} at {} under \
         the base and to CPU {} at {} under the change.{before}",
        wakeup.base.cpu,
        wakeplace_text::time(wakeup.base.time_ns),
        wakeup.change.cpu,
        wakeplace_text::time(wakeup.change.time_ns),
    );
    text.push_str(&(wrap(&printable(&line), width) + "\n"));
    for (side, told) in [("base", &wakeup.base), ("change", &wakeup.change)] {
        let explained = &told.explained;
        match whole {
            true => {
                let _ = write!(text, "\nUnder the {side}:\n{}", indented(explained));
            }
            false => {
                text.push_str(&item(&format!("{side}: {}", answer(explained)), width));
            }
        }
        let _ = writeln!(text, "    {}", told.command);
    }
    text
}

/// What `explain` says first, without its title, which is told already.
pub(crate) fn answer(explained: &str) -> String {
    let first = explained.split("\n\n").next().unwrap_or_default();
    let lines = first.lines().skip(1);
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// An item of a list; what does not fit stands below its text.
fn item(text: &str, width: usize) -> String {
    let wrapped = wrap(&printable(text), width - 2);
    let mut lines = wrapped.lines();
    let first = format!("- {}\n", lines.next().unwrap_or_default());
    lines.fold(first, |text, line| format!("{text}  {line}\n"))
}

/// Each line further to the right.
fn indented(text: &str) -> String {
    let line = |line: &str| match line.is_empty() {
        true => "\n".to_owned(),
        false => format!("  {line}\n"),
    };
    text.lines().map(line).collect()
}

/// What the figures hold for, and the command.
fn conditions(review: &Review, width: usize) -> String {
    let mut text = "\nConditions\n".to_owned();
    text.extend(review.conditions.iter().map(|line| item(line, width)));
    if let Some(command) = &review.command {
        let _ = write!(text, "\nTo repeat:\n    {command}\n");
    }
    text
}
