//! A page's part for a review: what got worse first (docs/guide/review.md, "The page").
//!
//! What must stay: rows stand as the review has them; words for differences are those of
//! comparisons, which follow on the page. Words and looks may change. Tests by part:
//! crates/cli/tests/all/review.rs::`a_review_says_what_got_worse_first` (`view`, `rows`,
//! `partings`), review.rs::`a_review_is_a_gate` (`gates`).
//!
//! Tests: crates/cli/tests/all/review.rs

use super::figures::{change, minus};
use super::view::{Answer, Block, Cell, ResultView, Section, Sentence, Table, Tile, tone};
use crate::clusters;
use crate::comparison::expected_by_chance;
use crate::number;
use crate::phrase::interval;
use crate::plain::plain;
use crate::review::{answer as explained, judged, main_figures, shown, which, why_parted};
use wakeplace_outcome::{Claim, Difference, Review, ReviewRow};
use wakeplace_text::time;

/// What a part of a page is called that shows a review.
pub(super) const KIND: &str = "Review";

/// A review's part of the page, from its title to the command.
pub(super) fn view(id: &str, review: &Review, name: &str) -> ResultView {
    let mut sections = vec![
        figures(id, review, Difference::Worse, "What got worse"),
        figures(id, review, Difference::Better, "What got better"),
    ];
    sections.push(main(id, review));
    sections.extend(claims(id, &review.claims));
    sections.extend(gates(id, review));
    sections.extend(partings(id, review));
    sections.push(rest(id, review));
    sections.push(conditions(id, review));
    ResultView {
        id: id.to_owned(),
        kind: KIND,
        title: format!("{} beside {}", review.change, review.base),
        name: name.to_owned(),
        facts: vec![review.title.clone()],
        answer: answer(review),
        sections,
    }
}

/// The rows of one meaning.
fn rows(review: &Review, wanted: Difference) -> Vec<&ReviewRow> {
    let rows = review.rows.iter();
    rows.filter(|row| row.difference == wanted.word()).collect()
}

/// How many figures got worse and better, the largest of each, and what is not told.
fn answer(review: &Review) -> Answer {
    let tile = |wanted: Difference, label: &str| {
        let own = rows(review, wanted);
        let largest = own.first().map_or_else(String::new, |row| {
            let pct = shown(row.delta_pct, change);
            format!(
                "{}, {}: {} {pct}",
                row.platform,
                row.load,
                plain(&row.metric)
            )
        });
        Tile {
            figure: own.len().to_string(),
            label: label.to_owned(),
            raw: format!("of {}", review.rows.len()),
            below: largest,
            tone: if own.is_empty() {
                "same"
            } else {
                tone(wanted.word())
            },
        }
    };
    let sentence = |text: &str, word: &str| Sentence {
        text: minus(text),
        tone: tone(word),
        badge: word.to_owned(),
        chips: Vec::new(),
    };
    let failures = review.failures.iter();
    let mut sure: Vec<String> = review.conditions.last().cloned().into_iter().collect();
    sure.extend(expected_by_chance(review.multiplicity.intervals));
    Answer {
        sentences: failures.map(|failure| sentence(failure, "worse")).collect(),
        tiles: vec![
            tile(Difference::Worse, "figures worse"),
            tile(Difference::Better, "figures better"),
            tile(Difference::NotTold, "not told from chance"),
        ],
        sure,
        warnings: review.warnings.clone(),
    }
}

/// A table of figures.
fn table(id: String, caption: &str, rows: &[&ReviewRow]) -> Table {
    let columns = ["metric", "where", "#base → change", "#difference"];
    let mut table = Table::new(id, caption, &columns);
    table.cards = true;
    let mean = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), number::short);
    for row in rows {
        let pct = shown(row.delta_pct, change);
        let unit = if row.unit == "count" {
            ""
        } else {
            row.unit.as_str()
        };
        let ends = interval(row.delta_ci95).map_or_else(String::new, |ends| minus(&ends));
        table.rows.push(vec![
            Cell::head(plain(&row.metric)).small(row.metric.clone()),
            Cell::of(row.platform.clone()).small(row.load.clone()),
            Cell::of(format!("{} → {}", mean(row.base), mean(row.change))).small(unit),
            Cell::of(pct).tone(tone(&row.difference)).small(ends),
        ]);
    }
    table
}

/// What got worse, or better.
fn figures(id: &str, review: &Review, wanted: Difference, title: &str) -> Section {
    let own = rows(review, wanted);
    let id = format!("{id}-{}", wanted.word());
    let blocks = match own.is_empty() {
        true => vec![Block::Text {
            text: "Nothing that is told from chance.".to_owned(),
        }],
        false => vec![Block::Table(table(format!("{id}-table"), title, &own))],
    };
    Section {
        id,
        title: title.to_owned(),
        lead: String::new(),
        blocks,
    }
}

/// The figure that each load is read by, on each board, closed.
fn main(id: &str, review: &Review) -> Section {
    let rows = main_figures(review);
    let rows: Vec<&ReviewRow> = rows.iter().collect();
    let all = table(format!("{id}-main-table"), "Each load on each board", &rows);
    Section {
        id: format!("{id}-main"),
        title: "What each load is read by".to_owned(),
        lead: "Means over the seeds; the difference is taken seed by seed (the geometric mean of \
               the ratios), so it is not the ratio of the two means."
            .to_owned(),
        blocks: vec![Block::Table(all.folded("Each load on each board"))],
    }
}

/// Which claims hold, and where not.
fn claims(id: &str, claims: &[Claim]) -> Option<Section> {
    let columns = ["claim", "where", "holds", "found"];
    let mut table = Table::new(
        format!("{id}-claims-table"),
        "Claims of the author",
        &columns,
    );
    table.cards = true;
    for claim in claims {
        for (nth, place) in claim.places.iter().enumerate() {
            let head = match nth {
                0 => Cell::head(claim.expect.clone()).small(claim.holds.word()),
                _ => Cell::default(),
            };
            let word = match place.holds {
                wakeplace_outcome::Holds::Yes => "better",
                wakeplace_outcome::Holds::No => "worse",
                wakeplace_outcome::Holds::NotTold => "not told",
            };
            let found = interval(place.delta_ci95).map(|ends| minus(&ends));
            table.rows.push(vec![
                head,
                Cell::of(place.platform.clone()).small(place.load.clone()),
                Cell::of(place.holds.word()).tone(tone(word)),
                Cell::from(found.or_else(|| place.mean.map(number::short))),
            ]);
        }
    }
    (!claims.is_empty()).then(|| Section {
        id: format!("{id}-claims"),
        title: "What the author claims".to_owned(),
        lead: String::new(),
        blocks: vec![Block::Table(table)],
    })
}

/// What became of the conditions of `--expect`, board by board.
fn gates(id: &str, review: &Review) -> Option<Section> {
    let columns = ["condition", "where", "verdict", "found"];
    let mut table = Table::new(format!("{id}-gates-table"), "Conditions", &columns);
    table.cards = true;
    for (load, of) in review.loads.iter().zip(&review.comparisons) {
        let platform = of.runs.first().map_or("", |run| run.platform.as_str());
        for check in &of.checks {
            let [side, verdict, found] = judged(of, check);
            let word = match check.holds {
                Some(true) => "better",
                Some(false) => "worse",
                None => "not told",
            };
            table.rows.push(vec![
                Cell::head(check.expected.clone()).small(side),
                Cell::of(platform.to_owned()).small(load.clone()),
                Cell::of(verdict.to_owned()).tone(tone(word)),
                Cell::of(minus(found)),
            ]);
        }
    }
    (!table.rows.is_empty()).then(|| Section {
        id: format!("{id}-gates"),
        title: "Gates (--expect)".to_owned(),
        lead: String::new(),
        blocks: vec![Block::Table(table)],
    })
}

/// The first wake-ups that went differently.
fn partings(id: &str, review: &Review) -> Option<Section> {
    let mut blocks = Vec::new();
    for (nth, parting) in review.partings.iter().enumerate() {
        let pct = shown(parting.delta_pct, change);
        let place = format!(
            "{}, {} ({} {pct}), seed {}",
            parting.platform,
            parting.load,
            plain(&parting.metric),
            parting.seed
        );
        let energy = parting.energy.as_ref().and_then(clusters::sentence);
        let energy = energy.map(|line| Block::Text { text: minus(&line) });
        let why = why_parted(review, parting);
        let why = (!why.is_empty()).then(|| Block::List {
            items: why.iter().map(|line| minus(line)).collect(),
        });
        let Some(wakeup) = &parting.wakeup else {
            let text = format!("{place}: every wake-up of both runs went to the same CPU.");
            blocks.push(Block::Text { text });
            blocks.extend(energy);
            blocks.extend(why);
            continue;
        };
        let which = which(wakeup);
        blocks.push(Block::Text {
            text: format!("{place}: {which}."),
        });
        let beside = parting.beside.iter().map(|row| {
            let pct = row.delta_pct.map_or_else(String::new, change);
            format!("{} {pct}", plain(&row.metric))
        });
        let beside: Vec<String> = beside.collect();
        if !beside.is_empty() {
            let text = format!("What else changed most there: {}.", beside.join(", "));
            blocks.push(Block::Text { text });
        }
        blocks.extend(energy);
        blocks.extend(why);
        blocks.extend(wakeup.differs.clone().map(|text| Block::Text { text }));
        let sides = [("Base", &wakeup.base), ("Change", &wakeup.change)];
        let item = |(side, told): (&str, &wakeplace_outcome::PartedSide)| {
            let why = explained(&told.explained);
            format!("{side}: CPU {} at {}. {why}", told.cpu, time(told.time_ns))
        };
        blocks.push(Block::List {
            items: sides.map(item).into(),
        });
        blocks.extend(sides.map(|(side, told)| Block::Command {
            id: format!("{id}-parting-{nth}-{side}"),
            text: told.command.clone(),
        }));
    }
    (!blocks.is_empty()).then(|| Section {
        id: format!("{id}-partings"),
        title: "The first wake-ups that went differently".to_owned(),
        lead: "Of the largest changes, with the first seed. The commands explain them in \
               full."
            .to_owned(),
        blocks,
    })
}

/// Figures that are not told or do not matter, closed.
fn rest(id: &str, review: &Review) -> Section {
    let told = [Difference::Worse.word(), Difference::Better.word()];
    let rows = review.rows.iter();
    let own: Vec<_> = rows
        .filter(|row| !told.contains(&row.difference.as_str()))
        .collect();
    let lead = format!(
        "{} figures whose change is not told from chance, or is less than {} %.",
        own.len(),
        review.margin_pct
    );
    let rest = table(format!("{id}-rest-table"), "All other figures", &own);
    Section {
        id: format!("{id}-rest"),
        title: "What is not told".to_owned(),
        lead,
        blocks: vec![Block::Table(rest.folded("All other figures"))],
    }
}

/// What the figures hold for, and the command.
fn conditions(id: &str, review: &Review) -> Section {
    let mut blocks = vec![Block::List {
        items: review.conditions.clone(),
    }];
    blocks.extend(review.command.clone().map(|text| Block::Command {
        id: format!("{id}-command"),
        text,
    }));
    Section {
        id: format!("{id}-conditions"),
        title: "Conditions".to_owned(),
        lead: String::new(),
        blocks,
    }
}
