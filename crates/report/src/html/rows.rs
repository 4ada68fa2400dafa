//! A study's figures: charts and tables of published beside simulated ones (docs/guide/report.md).
//!
//! What must stay: rows stand in the study's order; figures, words and directions come with the
//! result; a calibrated row has a mark and no distance, and runs of another length have none
//! either. Words and looks may change. Tests by part: `the_json_of_a_study_is_read_back`
//! (`rows_table`, `figures`, `mean`, `label`), `results_of_version_1_are_read` (an old study),
//! `a_study_has_its_page` (a real study). What `charts` draws has no test of its own. `points`,
//! `around`, `means_chart` and `simulated_change` by the first one.
//!
//! Callers: study.rs (`rows_table`).
//!
//! Tests: crates/report/src/html/tests.rs, crates/cli/tests/all/report.rs::a_study_has_its_page

use super::charts::{Dot, dots, once};
use super::compared::badge;
use super::details::{changes, key};
use super::figures::{self, unit};
use super::view::{Cell, Chart, Table, tone};
use crate::phrase::finite as ends;
use crate::plain::plain;
use crate::{number, phrase};
use wakeplace_metrics::find_metric;
use wakeplace_outcome::{Figure, Row, Study};

/// The points of the two charts of a metric.
#[derive(Default)]
struct Dots {
    deltas: Vec<Dot>,
    means: Vec<Dot>,
}

/// The metric of rows in words, and that nobody measured what it is made of.
pub(super) fn label(rows: &[&Row]) -> String {
    let metric = rows[0].metric.as_str();
    let modelled = rows.iter().filter(|row| row.power.is_some()).count();
    match phrase::power_word(metric, (modelled, rows.len())) {
        Some(word) => format!("{}, {word}", plain(metric)),
        None => plain(metric),
    }
}

/// Changes from the base, then means.
pub(super) fn charts(id: &str, result: &Study, rows: &[&Row]) -> Vec<Chart> {
    if rows.is_empty() {
        return Vec::new();
    }
    let base = &result.base_policy;
    let published = |row: &&Row| row.published.is_some() || row.published_delta_pct.is_some();
    let has = rows.iter().any(published);
    let Dots { deltas, means } = points(base, rows, if has { "simulated" } else { "" });
    let mut charts = Vec::new();
    charts.extend(changes(
        format!("{id}-changes"),
        (&format!("{}: change from {base}", label(rows)), "case"),
        "Points: change of each case from the base policy, published and simulated, the latter \
         with its 95 % confidence interval. The table below has the figures.",
        deltas,
    ));
    if !means.is_empty() {
        charts.push(means_chart(id, rows, &means));
    }
    let both = charts.len() > 1;
    charts.iter_mut().for_each(|chart| chart.half = both);
    charts
}

/// Published and simulated values of rows as dots, one row of the plot per case.
fn points(base: &str, rows: &[&Row], simulated: &'static str) -> Dots {
    let policies = once(rows.iter().map(|row| &row.policy));
    let mut all = Dots::default();
    for row in rows {
        let position = policies.iter().position(|name| *name == row.policy);
        let dot = |source, value: Option<f64>, ends| {
            Some(Dot {
                row: row.case.clone(),
                series: phrase::short_policy(base, &row.policy),
                policy: position.unwrap_or(0),
                source,
                value: value?,
                ends,
            })
        };
        let ci95 = ends(row.simulated_delta_ci95);
        all.deltas
            .extend(dot("published", row.published_delta_pct, None));
        all.deltas
            .extend(dot(simulated, row.simulated_delta_pct, ci95));
        if let Some(figure) = &row.published {
            all.means
                .extend(dot("published", Some(figure.mean), around(figure)));
        }
        let figure = &row.simulated;
        all.means
            .extend(dot(simulated, Some(figure.mean), around(figure)));
    }
    all
}

/// One standard deviation around the mean.
fn around(figure: &Figure) -> Option<(f64, f64)> {
    let (mean, rsd) = (figure.mean, figure.rsd_pct?);
    let sd = mean.abs() * rsd / 100.0;
    sd.is_finite().then_some((mean - sd, mean + sd))
}

/// The means of one metric, published beside simulated.
fn means_chart(id: &str, rows: &[&Row], means: &[Dot]) -> Chart {
    let name = label(rows);
    let title = match rows[0].unit.as_str() {
        "" => name.clone(),
        "us" => format!("{name} (µs)"),
        unit => format!("{name} ({unit})"),
    };
    Chart {
        id: format!("{id}-means"),
        title: format!("{name}: means"),
        alt: "Points: mean of each case and policy, published and simulated, with one standard \
              deviation. The table below has the figures."
            .to_owned(),
        note: key(means, "one standard deviation"),
        choice: String::new(),
        choices: Vec::new(),
        half: false,
        specs: vec![dots(means, (&title, "case"), "1 standard deviation", false)],
    }
}

/// What some row of a table has.
struct Has {
    means: bool,
    /// Nothing was published of runs of another length or other settings.
    distances: bool,
    changes: bool,
    robust: bool,
    difference: bool,
}

/// `kind`: of the rows, see [`Row::kind`].
pub(super) fn rows_table(id: &str, result: &Study, kind: &str, rows: &[&Row]) -> Table {
    let means = rows.iter().any(|row| row.published.is_some());
    let has = Has {
        means,
        distances: means && result.as_written,
        changes: means || rows.iter().any(|row| row.published_delta_pct.is_some()),
        robust: rows.iter().any(|row| row.robust.is_some()),
        difference: rows.iter().any(|row| row.difference.is_some()),
    };
    let mut columns = vec!["case", "policy"];
    columns.extend(has.means.then_some("#published"));
    columns.push("#simulated");
    columns.extend(has.changes.then_some("#change, published"));
    columns.push("#change, simulated");
    columns.extend(has.difference.then_some("difference"));
    columns.extend(has.distances.then_some("#off by"));
    columns.extend(has.robust.then_some("assumed costs"));
    let metric = &rows[0].metric;
    let mut caption = format!("{} ({metric})", label(rows));
    if !kind.is_empty() {
        caption += &format!(", {kind}");
    }
    if let Ok(def) = find_metric(metric) {
        caption += &format!(": {}", def.doc);
    }
    let mut table = Table::new(format!("{id}-table-{kind}"), caption, &columns);
    let mut before = "";
    for row in rows {
        let head = match row.case == before {
            true => Cell::default(),
            false => Cell::head(&row.case),
        };
        before = &row.case;
        let policy = phrase::short_policy(&result.base_policy, &row.policy);
        let mut cells = vec![head, Cell::of(policy)];
        cells.extend(figures(row, &has));
        table.rows.push(cells);
    }
    table
}

/// The cells after the policy: spreads stand below their means and the interval below its change,
/// so that all columns fit.
fn figures(row: &Row, has: &Has) -> Vec<Cell> {
    let change = |pct: Option<f64>| Cell::of(pct.map(figures::change).unwrap_or_default());
    let mut cells = Vec::new();
    if has.means {
        let published = row.published.as_ref();
        cells.push(mean(published, row, "").unwrap_or_else(|| Cell::from(None)));
    }
    let mark = if row.calibrated { " *" } else { "" };
    cells.extend(mean(Some(&row.simulated), row, mark));
    if has.changes {
        cells.push(change(row.published_delta_pct));
    }
    cells.push(simulated_change(row));
    if has.difference {
        let word = row.difference.as_deref().unwrap_or_default();
        cells.push(Cell::of(badge(word)).tone(tone(word)));
    }
    if has.distances {
        cells.push(change(row.distance_pct().filter(|_| !row.calibrated)));
    }
    if has.robust {
        cells.push(match row.robust {
            Some(true) => Cell::of("robust").tone("better"),
            Some(false) => Cell::of("not robust").tone("worse"),
            None => Cell::default(),
        });
    }
    cells
}

/// A mean and its spread, which one run has not.
fn mean(figure: Option<&Figure>, row: &Row, mark: &str) -> Option<Cell> {
    let figure = figure?;
    let mean = Some(figure.mean).filter(|mean| mean.is_finite());
    let mean = mean.map(|mean| unit(mean, &row.unit) + mark);
    let spread = figure.rsd_pct.filter(|_| figure.n.is_none_or(|n| n > 1));
    let spread = spread.map(figures::spread).unwrap_or_default();
    Some(Cell::from(mean).small(spread))
}

/// The change and its interval. What is judged without a percent is a change from 0.
fn simulated_change(row: &Row) -> Cell {
    let change = match (row.simulated_delta_pct, &row.difference) {
        (Some(pct), _) => figures::change(pct),
        (None, Some(_)) => number::FROM_ZERO.to_owned(),
        (None, None) => String::new(),
    };
    let interval = figures::interval(ends(row.simulated_delta_ci95));
    Cell::of(change).small(interval.unwrap_or_default())
}
