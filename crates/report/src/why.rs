//! Why a policy's runs drew more or less than the base's (docs/guide/results.md, "Why a
//! difference"): busy time that is longer or elsewhere, what it draws in each second, and the rest.
//!
//! What must stay: figures are made of `details` of a result alone, means over the seeds; the three
//! parts of a change of energy add up to it; runs that got stuck, or that are of other machines,
//! are not compared. Words may change. Tests by part: `the_three_parts_add_up` (`of`, `split`,
//! `parts`, `change`), `who_moved_is_named` (`moved`, `by_task`), `clusters_head_their_policies`
//! (`table`, `rows`, `figures`, `heads`).
//!
//! Callers: json.rs (`of`), comparison.rs (`table`, `told`), review/text.rs (`lines`),
//! html/review.rs (`lines`), html/why.rs (`heads`, `rows`, `told`).
//!
//! Tests: crates/report/src/why/tests.rs

mod said;

pub(crate) use said::told;

use crate::phrase::MODELLED;
use crate::{Align, Cell, Format, Style, Table, Tone, number};
use said::text;
use std::collections::BTreeMap;
use wakeplace_outcome::{
    BusyTime, Comparison, Details, EnergySplit, GroupChange, MOST_TASKS, Residency, Run, TaskGroup,
    TaskMove, Why,
};

/// Machines of more groups of CPUs have no table of them.
const MOST_GROUPS: usize = 8;
/// Tables of more rows are left to pages and JSON.
const MOST_ROWS: usize = 32;
/// Tasks that are named.
const MOST_MOVED: usize = 3;
/// Who moved less of its time did not move.
const MOVED: f64 = 0.01;
/// Columns behind the policy; the third is of power.
const HEADS: [&str; 4] = ["busy (CPU s)", "clock (MHz)", "power", "idle"];

/// Clusters, or kinds of CPU where a cluster holds several.
fn groups(details: &Details) -> &[Residency] {
    match details.kinds.is_empty() {
        true => &details.residency,
        false => &details.kinds,
    }
}

/// Of each policy that can be compared with the base.
pub(crate) fn of(result: &Comparison) -> Vec<Why> {
    let [base, others @ ..] = result.runs.as_slice() else {
        return Vec::new();
    };
    let margin_pct = result.margin_pct.unwrap_or_default();
    let of = |other: &Run| why(base, other, margin_pct);
    others.iter().filter_map(of).collect()
}

/// Of one policy; None: it cannot be compared.
fn why(base: &Run, other: &Run, margin_pct: f64) -> Option<Why> {
    if !base.complete || !other.complete {
        return None;
    }
    let (old, new) = (base.details.as_ref()?, other.details.as_ref()?);
    let sides = [groups(old), groups(new)];
    let names = sides.map(|side| side.iter().map(Residency::name).collect::<Vec<_>>());
    if names[0] != names[1] || names[0].is_empty() {
        return None;
    }
    let both = sides[0].iter().zip(sides[1]);
    let changes: Option<Vec<GroupChange>> = both.map(|(old, new)| change(old, new)).collect();
    let changes = changes?;
    let energy = split(old, new, &changes);
    Some(Why {
        policy: other.policy.clone(),
        moved: moved(&old.task_group_run_s, &new.task_group_run_s),
        text: text([old, new], sides, &changes, energy.as_ref(), margin_pct),
        energy,
        groups: changes,
    })
}

/// Share of the CPUs' time in idle states, percent.
fn idle(of: &Residency) -> f64 {
    of.idle_pct.iter().fold(0.0, |sum, (_, pct)| sum + pct)
}

/// What became of a cluster or kind; None: a result of before does not say.
fn change(old: &Residency, new: &Residency) -> Option<GroupChange> {
    let (before, after) = (old.busy.as_ref()?, new.busy.as_ref()?);
    Some(GroupChange {
        group: old.name().to_owned(),
        busy_s: (before.s, after.s),
        busy_khz: (before.khz_mean, after.khz_mean),
        idle_pct: (idle(old), idle(new)),
        energy_by_time_by_power: parts(before, after),
    })
}

/// Power x time as a part of the time and a part of the power: each with the mean of the other.
/// Busy time that only one side has is drawn with that side's power.
fn parts(old: &BusyTime, new: &BusyTime) -> Option<(f64, f64)> {
    let power = |of: &BusyTime| Some(of.energy? / of.s).filter(|power| power.is_finite());
    let (before, after) = match (old.energy?, new.energy?, power(old), power(new)) {
        (.., Some(before), Some(after)) => (before, after),
        (.., Some(only), None) | (.., None, Some(only)) => (only, only),
        (.., None, None) => return Some((0.0, 0.0)),
    };
    let by_time = (new.s - old.s) * (before + after) / 2.0;
    let by_power = (old.s + new.s) / 2.0 * (after - before);
    Some((by_time, by_power))
}

/// The change of energy in its three parts; None: no powers are known.
fn split(old: &Details, new: &Details, changes: &[GroupChange]) -> Option<EnergySplit> {
    let (old, new) = (old.energy.as_ref()?, new.energy.as_ref()?);
    let parts: Option<Vec<(f64, f64)>> = { changes.iter() }
        .map(|change| change.energy_by_time_by_power)
        .collect();
    let parts = parts.filter(|_| old.unit == new.unit)?;
    let whole = |of: &wakeplace_outcome::Energy| {
        let all = of.cluster_state_energy_s.iter();
        all.fold(0.0, |sum, part| sum + part.2)
    };
    let (base, change) = (whole(old), whole(new));
    let busy_time = parts.iter().fold(0.0, |sum, part| sum + part.0);
    let busy_power = parts.iter().fold(0.0, |sum, part| sum + part.1);
    Some(EnergySplit {
        unit: old.unit.clone(),
        base,
        change,
        busy_time,
        busy_power,
        rest: change - base - busy_time - busy_power,
    })
}

/// Times of a task by group, in the order of results.
type Times<'a> = Vec<(&'a str, f64)>;

/// Tasks with their times.
fn by_task(all: &[TaskGroup]) -> BTreeMap<&str, Times<'_>> {
    let mut tasks: BTreeMap<&str, Times<'_>> = BTreeMap::new();
    for (task, group, run_s) in all {
        let own = tasks.entry(task.as_str()).or_default();
        own.push((group.as_str(), *run_s));
    }
    tasks
}

/// The tasks that ran less on some groups and more on others, who moved most first.
fn moved(old: &[TaskGroup], new: &[TaskGroup]) -> Vec<TaskMove> {
    let (olds, news) = (by_task(old), by_task(new));
    let none = Times::new();
    let mut all: Vec<TaskMove> = Vec::new();
    for (task, before) in &olds {
        let after = match news.get(task) {
            Some(after) => after,
            // It may have run, only not for so long as others.
            None if news.len() >= MOST_TASKS => continue,
            None => &none,
        };
        let mut changes: Vec<(&str, f64)> = before.iter().map(|(at, s)| (*at, -s)).collect();
        for (group, run_s) in after {
            match changes.iter_mut().find(|(at, _)| at == group) {
                Some((_, change)) => *change += run_s,
                None => changes.push((*group, *run_s)),
            }
        }
        let sum = |sign: f64| {
            let own = changes.iter().map(|(_, change)| (change * sign).max(0.0));
            own.fold(0.0, |sum, one| sum + one)
        };
        let moved_s = sum(1.0).min(sum(-1.0));
        let ran = before.iter().chain(after).fold(0.0, |sum, one| sum + one.1) / 2.0;
        if moved_s > 0.0 && moved_s >= ran * MOVED {
            let owned = |(group, change): (&str, f64)| (group.to_owned(), change);
            all.push(TaskMove {
                task: (*task).to_owned(),
                moved_s,
                group_s: changes.into_iter().map(owned).collect(),
            });
        }
    }
    all.sort_by(|a, b| b.moved_s.total_cmp(&a.moved_s));
    all.truncate(MOST_MOVED);
    all
}

/// What stands below the heads; the power is of a busy CPU.
pub(crate) type Figures = [Option<String>; 4];

/// The figures of a policy's runs by group.
fn figures(details: &Details) -> Rows {
    let one = |of: &Residency| {
        let busy = of.busy.as_ref()?;
        let power = busy.energy.map(|energy| energy / busy.s);
        let khz = busy.khz_mean.map(|khz| format!("{:.0}", khz / 1000.0));
        let figures = [
            Some(number::short(busy.s)),
            khz,
            power.filter(|power| power.is_finite()).map(number::short),
            Some(format!("{:.1} %", idle(of))),
        ];
        Some((of.name().to_owned(), figures))
    };
    groups(details).iter().filter_map(one).collect()
}

/// Names, of groups or policies, with figures.
type Rows = Vec<(String, Figures)>;

/// Group by group the figures of each policy, by the name that it is given.
pub(crate) fn rows(result: &Comparison, name: impl Fn(&Run) -> String) -> Vec<(String, Rows)> {
    let mut all: Vec<(String, Rows)> = Vec::new();
    for run in &result.runs {
        for (group, own) in run.details.iter().flat_map(figures) {
            let row = (name(run), own);
            match all.iter_mut().find(|(known, _)| *known == group) {
                Some((_, rows)) => rows.push(row),
                None => all.push((group, vec![row])),
            }
        }
    }
    all
}

/// The columns behind the policy, and which of the figures each has: the power where it is known.
pub(crate) fn heads(result: &Comparison) -> Vec<(usize, String)> {
    let energy = { result.runs.iter() }.find_map(|run| run.details.as_ref()?.energy.as_ref());
    let unit = energy.map(
        |energy| match (energy.unit.as_str(), result.modelled_power) {
            ("J", false) => "W".to_owned(),
            ("J", true) => format!("W, {MODELLED}"),
            _ => "bogo".to_owned(),
        },
    );
    let head = |(at, head): (usize, &str)| match (head, &unit) {
        ("power", None) => None,
        ("power", Some(unit)) => Some((at, format!("power ({unit})"))),
        _ => Some((at, head.to_owned())),
    };
    HEADS.into_iter().enumerate().filter_map(head).collect()
}

/// Busy time, clock, power and idle share by cluster or kind, policy by policy; empty for very many
/// rows, or without figures.
pub(crate) fn table(
    result: &Comparison,
    name: impl Fn(&Run) -> String,
    format: Format,
    style: Style,
) -> String {
    let all = rows(result, name);
    let nr_rows: usize = all.iter().map(|(_, rows)| rows.len()).sum();
    if !(1..=MOST_GROUPS).contains(&all.len()) || nr_rows > MOST_ROWS {
        return String::new();
    }
    let (grouped, heads) = (format == Format::Human, heads(result));
    let first: &[&str] = match grouped {
        true => &["policy"],
        false => &["cluster", "policy"],
    };
    let rest: Vec<&str> = heads.iter().map(|(_, head)| head.as_str()).collect();
    let columns = [first, rest.as_slice()].concat();
    let mut table = Table::new("busy", &columns).as_typed().keys(first.len());
    for column in rest {
        table = table.align(column, Align::Right);
    }
    for (group, rows) in &all {
        if grouped {
            let mut heading = vec![Cell::Empty; columns.len()];
            heading[0] = Cell::Toned(Tone::Heading, group.clone());
            table.row(heading);
        }
        for (policy, figures) in rows {
            let mut row: Vec<Cell> = match grouped {
                true => vec![format!("  {policy}").into()],
                false => vec![group.as_str().into(), policy.as_str().into()],
            };
            let shown = heads.iter().map(|(at, _)| figures[*at].clone());
            row.extend(shown.map(Cell::from));
            table.row(row);
        }
    }
    format!("\n{}", table.render(format, style))
}

#[cfg(test)]
mod tests;
