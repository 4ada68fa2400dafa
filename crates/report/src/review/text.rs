//! A review as text: for a terminal, and as a mail of 72 columns (docs/guide/review.md, "The
//! mail").
//!
//! What must stay: failures come first, then what got worse; a mail has no line longer than 72
//! columns but for commands, and says its conditions; words for differences are those of
//! comparisons; `perc_diff` is the change in percent of the base, as LISA's tables call it. Other
//! words may change. Tests by part: review.rs::`a_mail_has_72_columns` (`mail`,
//! `figures`), review.rs::`a_review_says_what_got_worse_first` (`text`),
//! review.rs::`claims_are_judged` (`claims`), `what_never_happened_is_counted_apart` (`headline`,
//! `whole_of`).
//!
//! Callers: gates.rs (`item`).
//!
//! Tests: crates/cli/tests/all/review.rs

use super::gates::gates;
use super::{main_figures, place_of, shown, which, why_parted};
use crate::clusters;
use crate::comparison::expected_by_chance;
use crate::number;
use crate::phrase::{interval, wrap};
use crate::{Cell, Format, Style, Table};
use std::fmt::Write as _;
use wakeplace_outcome::{Claim, ClaimPlace, Difference, Holds, Parting, Review, ReviewRow, Run};
use wakeplace_text::{count, printable};

/// Columns of a mail, as those of kernel lists.
const MAIL: usize = 72;
/// Up to so many loads on boards, the figure that each is read by stands in the text.
const SHORT: usize = 12;
/// Most places where a claim does not hold or is not told.
const PLACES: usize = 5;
/// How the tables are to be read.
const HOW: &str = "base and change: means over the seeds. perc_diff: the change seed by seed (the \
    geometric mean of the ratios) with its 95 % interval; it is not the ratio of the two means.";
/// Figures that count some of what another one counts, and what that is.
const PARTS: [(&str, &str, &str); 4] = [
    ("missed_frames_total", "frames_total", "frames"),
    ("late_frames_total", "frames_total", "frames"),
    ("dropped_frames_total", "frames_total", "frames"),
    ("missed_periods_total", "periods_total", "periods"),
];
/// Columns of a board and a load.
const PLACE: usize = 28;
/// Most lines of one table, on a terminal and in a mail; CSV, JSON and the page have all.
const MOST: usize = 40;

/// For a terminal.
#[must_use]
pub fn text(review: &Review, style: Style) -> String {
    let width = if style.width == 0 { 100 } else { style.width };
    whole(review, width, true)
}

/// For a mailing list: nothing wider than 72 columns but commands.
#[must_use]
pub fn mail(review: &Review) -> String {
    printable_lines(&whole(review, MAIL, false))
}

/// All parts; `in_full`: with all that explains the first wake-ups, and without the gates, whose
/// table stands below.
fn whole(review: &Review, width: usize, in_full: bool) -> String {
    // What was run, then what came of it.
    let first = [review.title.clone(), headline(review)];
    let first = first.iter().filter(|line| !line.is_empty());
    let mut text: String = first.map(|line| wrap(line, width) + "\n").collect();
    text.push_str(&found(review, width));
    if !in_full {
        text.push_str(&gates(review, width));
    }
    for (nth, parting) in review.partings.iter().enumerate() {
        text.push_str(&parted(review, (nth + 1, parting), width, in_full));
    }
    text.push_str(&conditions(review, width));
    text
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

/// How many figures have this meaning.
fn nr(review: &Review, wanted: Difference) -> usize {
    let rows = review.rows.iter();
    rows.filter(|row| row.difference == wanted.word()).count()
}

/// It is 0 on both sides: nothing of the kind happened.
fn is_nothing(row: &ReviewRow) -> bool {
    let same = row.difference == Difference::Same.word();
    same && [row.base, row.change] == [Some(0.0); 2]
}

/// How many figures got worse and better, and of how many; those that are 0 on both sides are
/// counted apart.
fn headline(review: &Review) -> String {
    let of = |wanted| nr(review, wanted);
    let untold = of(Difference::NotTold) + of(Difference::Unknown);
    let nothing = review.rows.iter().filter(|row| is_nothing(row)).count();
    let apart = match nothing {
        0 => String::new(),
        1 => " 1 more is 0 on both sides.".to_owned(),
        many => format!(" {many} more are 0 on both sides."),
    };
    format!(
        "{} beside {}, {} of board and load: of {} {} worse, {} better, {untold} not told from \
         chance, {} within {} %.{apart}",
        printable(&review.change),
        printable(&review.base),
        count(review.comparisons.len(), "pair"),
        count(review.rows.len() - nothing, "figure"),
        of(Difference::Worse),
        of(Difference::Better),
        of(Difference::Same) - nothing,
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
        let _ = write!(text, "\n{title}\n{}", figures(review, &own));
    }
    if nr(review, Difference::NotTold) > 0 {
        let line = format!(
            "Not told: {}, whose intervals reach beyond the margin and into it; more seeds may \
             tell (`--format csv` has all figures).",
            count(nr(review, Difference::NotTold), "figure")
        );
        text.push_str(&("\n".to_owned() + &wrap(&line, width) + "\n"));
    }
    if nr(review, Difference::Unknown) > 0 {
        let line = format!(
            "Without an interval: {} of loads with one run (`--seeds`, `--jitter`).",
            count(nr(review, Difference::Unknown), "figure")
        );
        text.push_str(&("\n".to_owned() + &wrap(&line, width) + "\n"));
    }
    if let Some(line) = expected_by_chance(review.multiplicity.intervals) {
        text.push_str(&(wrap(&line, width) + "\n"));
    }
    let main = main_figures(review);
    if main.len() <= SHORT {
        let rows: Vec<&ReviewRow> = main.iter().collect();
        let _ = write!(
            text,
            "\nWhat each load is read by\n{}",
            figures(review, &rows)
        );
    }
    text.push_str(&("\n".to_owned() + &wrap(HOW, width) + "\n"));
    text.push_str(&claims(&review.claims, width));
    text
}

/// Figures metric by metric, in the order of their first row.
fn figures(review: &Review, rows: &[&ReviewRow]) -> String {
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
            let _ = writeln!(text, " {metric}: {} more (`--format csv`)", own.len());
            continue;
        }
        let unit = own.first().map_or("", |row| row.unit.as_str());
        let unit = match unit {
            "" | "count" => String::new(),
            unit => format!(", {unit}"),
        };
        let _ = writeln!(text, " {metric}{unit}");
        for row in own.iter().take(left) {
            text.push_str(&(figure(row) + "\n"));
            let whole = whole_of(review, row);
            text.extend(whole.map(|whole| format!("    {whole}\n")));
        }
        if own.len() > left {
            let _ = writeln!(text, "  and {} more (`--format csv`)", own.len() - left);
        }
        left = left.saturating_sub(own.len());
    }
    text
}

/// `of 485 frames`: how many there were of which the figure counts some, if a run counts them.
fn whole_of(review: &Review, row: &ReviewRow) -> Option<String> {
    let mut parts = PARTS.into_iter();
    let (_, total, noun) = parts.find(|(part, ..)| *part == row.metric)?;
    let (_, of) = place_of(review, row)?;
    let [base, change] = of.runs.as_slice() else {
        return None;
    };
    let mean = |run: &Run| run.metrics.value(total)?.mean.map(number::short);
    let (base, change) = (mean(base)?, mean(change)?);
    Some(match base == change {
        true => format!("of {base} {noun}"),
        false => format!("of {base} {noun} under the base, {change} under the change"),
    })
}

/// One line of figures.
fn figure(row: &ReviewRow) -> String {
    let place = format!("{}, {}", row.platform, row.load);
    let mean = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number::short);
    let change = shown(row.delta_pct, number::percent);
    let ends = row
        .delta_ci95
        .filter(|(low, high)| low.is_finite() && high.is_finite());
    let ends = ends.map_or_else(String::new, |(low, high)| {
        format!("{}..{}", number::bound(low), number::bound(high))
    });
    let (base, new) = (mean(row.base), mean(row.change));
    let change = change.replace(" %", "%");
    let figures = format!("{base:>8}{new:>8}{change:>10}  {ends}");
    // A name that is too long for its column has a line of its own.
    let line = match place.chars().count() > PLACE {
        true => format!("  {place}\n  {:PLACE$}{figures}", ""),
        false => format!("  {place:PLACE$}{figures}"),
    };
    line.trim_end().to_owned()
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
        let of = |wanted: Holds| {
            claim
                .places
                .iter()
                .filter(move |place| place.holds == wanted)
        };
        let places = claim.places.len();
        let line = format!(
            "{}: {} on {} with {} ({} of {places} places hold)",
            claim.expect,
            claim.holds.word(),
            named(&claim.boards, "all boards"),
            named(&claim.loads, "all loads"),
            of(Holds::Yes).count(),
        );
        text.push_str(&item(&line, width));
        // Where it does not hold first.
        let others: Vec<_> = of(Holds::No).chain(of(Holds::NotTold)).collect();
        for place in others.iter().take(PLACES) {
            text.push_str(&item(&place_line(place), width).replacen("- ", "    ", 1));
        }
        if others.len() > PLACES {
            let _ = writeln!(text, "    and {} more", others.len() - PLACES);
        }
    }
    text
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
fn parted(review: &Review, (nth, parting): (usize, &Parting), width: usize, whole: bool) -> String {
    let change = shown(parting.delta_pct, number::change);
    let Parting {
        platform,
        load,
        metric,
        seed,
        ..
    } = parting;
    let mut text = format!("\n{nth}. First wake-up that went differently\n");
    let mut beside = beside(parting, width) + &by_cluster(parting, width);
    for line in why_parted(review, parting) {
        beside.push_str(&(wrap(&printable(&line), width) + "\n"));
    }
    let Some(wakeup) = &parting.wakeup else {
        let line = format!(
            "{platform}, {load} ({metric} {change}), seed {seed}: every wake-up of both runs (of \
             the first four million) went to the same CPU; what differs is not placement at \
             wake-up (clocks, balancing, order on a CPU)."
        );
        return text + &wrap(&line, width) + "\n" + &beside;
    };
    let which = which(wakeup);
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
    text.push_str(&(wrap(&printable(&line), width) + "\n" + &beside));
    if let Some(differs) = &wakeup.differs {
        text.push_str(&(wrap(&printable(differs), width) + "\n"));
    }
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

/// What else changed most where the runs part.
fn beside(parting: &Parting, width: usize) -> String {
    let one = |row: &ReviewRow| {
        let pct = row.delta_pct.map_or_else(String::new, number::change);
        format!("{} {pct}", row.metric)
    };
    let all: Vec<String> = parting.beside.iter().map(one).collect();
    match all.is_empty() {
        true => String::new(),
        false => {
            wrap(
                &format!("What else changed most there: {}.", all.join(", ")),
                width,
            ) + "\n"
        }
    }
}

/// Where the energy went.
fn by_cluster(parting: &Parting, width: usize) -> String {
    let line = parting.energy.as_ref().and_then(clusters::sentence);
    line.map_or_else(String::new, |line| wrap(&printable(&line), width) + "\n")
}

/// What `explain` says first, without its title, which is told already.
pub(crate) fn answer(explained: &str) -> String {
    let first = explained.split("\n\n").next().unwrap_or_default();
    let lines = first.lines().skip(1);
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// An item of a list; what does not fit stands below its text.
pub(super) fn item(text: &str, width: usize) -> String {
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
    if !review.warnings.is_empty() {
        text.push_str("\nWarnings\n");
        text.extend(review.warnings.iter().map(|line| item(line, width)));
    }
    if let Some(command) = &review.command {
        let _ = write!(text, "\nTo repeat:\n    {command}\n");
    }
    text
}
