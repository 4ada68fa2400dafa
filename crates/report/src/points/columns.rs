//! A sweep's points as a table for people and for programs (docs/guide/results.md, "Sweeps").
//!
//! What must stay: columns for programs, by name: varied keys first, `power` last; what no point
//! has has no column. The same columns are the keys of `points` in JSON. Free: words for people
//! that no test quotes. Tests by part: `changes_are_from_the_base` (`table`, `change`),
//! `the_best_of_those_that_hold_is_chosen` (`marks`),
//! `a_modelled_power_is_told_to_programs` (`power`),
//! said.rs::`modelled_joules_say_so_in_sweeps` (`columns`, by the command).
//!
//! Tests: crates/report/src/points/tests.rs,
//! crates/cli/tests/all/said.rs::modelled_joules_say_so_in_sweeps

use super::{FoundPoints, Row};
use crate::paint::Tone;
use crate::phrase::{interval, power_word};
use crate::{Align, Cell, Format, Table, number, short};
use wakeplace_metrics::PairedDelta;
use wakeplace_outcome::Difference;

/// How many runs a point has, and how many more have no result.
const COUNTS: [&str; 2] = ["n", "failed"];

impl FoundPoints {
    /// A row per point. Words behind names of columns in joules and watts say that nobody measured
    /// the power of `some` of so many points (`of`); in JSON names are keys, and the column `power`
    /// says it of each point.
    #[must_use]
    pub fn table(&self, format: Format, (some, of): (usize, usize)) -> Table {
        let modelled = match format {
            Format::Json => (0, 0),
            _ => (some, of),
        };
        let columns = self.columns(format, modelled);
        let texts: Vec<&str> = columns.iter().map(String::as_str).collect();
        let names = self.shape.names.len();
        let mut table = Table::new("points", &texts)
            .as_typed()
            .keys(names + COUNTS.len());
        for column in &texts[names..] {
            table = table.align(column, Align::Right);
        }
        if for_people(format) && self.base.is_some() {
            // A mean and its change stay together.
            for metric in texts[names + COUNTS.len()..].iter().step_by(2) {
                table = table.part(metric);
            }
        }
        for (at, row) in self.rows.iter().enumerate() {
            table.row(self.cells(format, at, row));
        }
        table
    }

    /// Some of the marks behind the figures stand: whether points are bases, hold, and are chosen.
    fn marks(&self) -> [(&'static str, bool); 3] {
        [
            ("base", self.base.is_some()),
            ("holds", self.judged),
            ("chosen", self.choice.is_some()),
        ]
    }

    /// The names of the columns.
    fn columns(&self, format: Format, modelled: (usize, usize)) -> Vec<String> {
        let mut columns = self.shape.names.clone();
        columns.extend(COUNTS.map(str::to_owned));
        let people = for_people(format);
        for metric in &self.shape.metrics {
            let mark = power_word(metric, modelled).map_or_else(String::new, |w| format!(" ({w})"));
            columns.push(format!("{metric}{mark}"));
            if !people {
                columns.push(format!("{metric}_ci95{mark}"));
            }
            match (&self.base, people) {
                (None, _) => {}
                (Some(_), true) => columns.push("change".to_owned()),
                (Some(_), false) => {
                    let of = [
                        "delta_pct",
                        "delta_ci95_low",
                        "delta_ci95_high",
                        "difference",
                    ];
                    columns.extend(of.map(|what| format!("{metric}_{what}")));
                }
            }
        }
        let marks = self.marks().into_iter();
        // A base says so in the place of its change.
        let marks = marks.filter(|(name, stands)| *stands && !(people && *name == "base"));
        columns.extend(marks.map(|(name, _)| name.to_owned()));
        columns.extend((format == Format::Json).then(|| "power".to_owned()));
        columns
    }

    /// A point's cells.
    fn cells(&self, format: Format, at: usize, row: &Row) -> Vec<Cell> {
        let people = for_people(format);
        let name = |place: usize| -> Cell {
            match people {
                true => self.shape.told(row, place).into(),
                false => row.names[place].as_str().into(),
            }
        };
        let mut cells: Vec<Cell> = (0..self.shape.names.len()).map(name).collect();
        cells.push(row.n.into());
        cells.push(row.failed.into());
        for (place, figure) in row.figures.iter().enumerate() {
            match (figure, people) {
                (None, true) => cells.push(Cell::Empty),
                (None, false) => cells.extend([Cell::Empty, Cell::Empty]),
                (Some((mean, half)), true) => {
                    let half = half.map_or_else(String::new, |half| format!(" ±{}", short(half)));
                    cells.push(format!("{}{half}", short(*mean)).into());
                }
                (Some((mean, half)), false) => cells.extend([(*mean).into(), (*half).into()]),
            }
            if self.base.is_some() {
                let change = row.changes.get(place).copied().flatten();
                match people {
                    true => cells.push(self.told_change(row, place, change)),
                    false => cells.extend(self.change(place, change)),
                }
            }
        }
        for (mark, _) in self.marks().into_iter().filter(|(_, stands)| *stands) {
            match mark {
                "base" if people => {}
                "base" => cells.push(row.is_base.into()),
                "holds" => cells.push(row.holds.into()),
                _ => cells.push(self.is_the_chosen(at).into()),
            }
        }
        if format == Format::Json {
            cells.push(match row.power {
                "" => Cell::Empty,
                word => word.into(),
            });
        }
        cells
    }

    /// What a change means of a metric, by its place.
    fn difference(&self, metric: usize, change: &PairedDelta) -> Difference {
        change.difference(&self.shape.metrics[metric], self.shape.margin_pct)
    }

    /// A change for programs: percent, both ends of its interval, and what it means.
    fn change(&self, metric: usize, change: Option<PairedDelta>) -> [Cell; 4] {
        let ends = change.and_then(|change| change.ci95);
        let word = change.map(|change| self.difference(metric, &change).word());
        [
            change.map(|change| change.delta_pct).into(),
            ends.map(|(low, _)| low).into(),
            ends.map(|(_, high)| high).into(),
            word.into(),
        ]
    }

    /// The same for people.
    fn told_change(&self, row: &Row, metric: usize, change: Option<PairedDelta>) -> Cell {
        let Some(change) = change else {
            let told = row.figures[metric].is_some() && row.is_base;
            return if told { "base".into() } else { Cell::Empty };
        };
        let difference = self.difference(metric, &change);
        let ends = interval(change.ci95).map_or_else(String::new, |ends| format!(" ({ends})"));
        let text = format!(
            "{}{ends} {}",
            number::change(change.delta_pct),
            difference.word()
        );
        match difference {
            Difference::Better => Cell::Toned(Tone::Good, text),
            Difference::Worse => Cell::Toned(Tone::Bad, text),
            _ => text.into(),
        }
    }
}

/// A mean and its interval share a cell.
fn for_people(format: Format) -> bool {
    matches!(format, Format::Human | Format::Md)
}
