//! The three columns in Markdown, or as one object (docs/results/truth.md).
//!
//! What must stay: the form of docs/results/truth.md's tables; keys of JSON. Free: what leaves the
//! tables of pages as they are. Tests by part: `three_columns_say_who_is_as_the_guest` (`markdown`,
//! `title`, `rows`, `begun`, `summary`, `shares`, `verdict`, `tasks`, `columns`, `cell`,
//! `is_explained`), `one_start_has_no_repeats_to_agree` (`starts`, `verdict` of one),
//! `the_object_has_the_same` (`object`, `machine_object`, `task_objects`). `all_quantities`,
//! `quantity`, `each`, `quantities`, `quantity_row`, `by_tick`, `by_beginning`, `beginning_name`,
//! `causes`, `cause` have no test of their own: `three_columns_say_who_is_as_the_guest` goes
//! through them, and the page is looked at.
//!
//! Tests: below

use super::causes::{Beginning, Tried, differs};
use super::{MachineTruth, OTHER_STARTS, SetTruth};
use crate::placement::SetRun;
use crate::placement::page::pct;
use crate::placement::starts::{POINTS_MAX, Row, Runs, WAKEUPS_MIN_PCT};
use serde_json::{Value, json};
use std::fmt::Write as _;
use wakeplace_text::{markdown as plain, markdown_cell};

/// Up to so many starts each one's share is shown; of more the smallest, mean and largest.
const SHOWN_MAX: usize = 4;

/// All tables.
pub(super) fn markdown(machines: &[MachineTruth]) -> String {
    let mut text = String::new();
    for machine in machines {
        summary(&mut text, machine);
    }
    for machine in machines {
        let title = title(machine);
        let _ = write!(text, "\n### {title}\n\n");
        tasks(&mut text, machine);
        quantities(&mut text, machine);
        causes(&mut text, machine);
    }
    text
}

/// Platform and rules.
fn title(machine: &MachineTruth) -> String {
    let (platform, rules) = (plain(&machine.platform.name), machine.rules.name());
    format!("{platform} under {rules}")
}

/// Rows of all sets, by column.
fn rows(machine: &MachineTruth, runs: impl Fn(&SetTruth) -> &super::Simulated) -> [Vec<Row>; 2] {
    let mut all = [Vec::new(), Vec::new()];
    for set in &machine.sets {
        let rows = set.rows(runs(set), &machine.clusters, machine.big());
        for (all, own) in all.iter_mut().zip(rows) {
            all.extend(own);
        }
    }
    all
}

/// With each task where the guest's began; as they were where that was not tried.
fn begun(set: &SetTruth) -> &super::Simulated {
    let tried = set.tried.iter();
    let mut tried = tried.filter(|tried| tried.beginning == Beginning::Recorded);
    tried.next().map_or(&set.own, |tried| &tried.runs)
}

/// What agrees, in sentences.
fn summary(text: &mut String, machine: &MachineTruth) {
    let own = rows(machine, |set| &set.own);
    let recorded = rows(machine, begun);
    let tasks = own[0].len();
    let agree = own[0].iter().filter(|row| row.has_one_figure()).count();
    let count =
        |rows: &[Row], holds: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| holds(row)).count();
    let within = |rows: &[Row]| count(rows, &|row| row.has_one_figure() && row.within());
    let follow = |rows: &[Row]| count(rows, &Row::follows);
    let unsteady = |rows: &[Row]| {
        count(rows, &|row| {
            row.has_one_figure() && !row.within() && !row.wakes_alike()
        })
    };
    let _ = writeln!(
        text,
        "- **{}** ({}): {agree} of {tasks} tasks have repeats that agree. Of these are within \
         {POINTS_MAX:.0} points and {WAKEUPS_MIN_PCT:.0} % of wake-ups: {} in the same source \
         (`{}`, kernel {}), {} in our model (`{}`); of the others {} and {} have not that share of \
         their wake-ups on one cluster from one start of the guest to the next either. Start by \
         start, agreeing or not: {} and {} of all {tasks}; with each task on the CPU where the \
         guest's first ran: {} and {}.",
        title(machine),
        starts(machine),
        within(&own[0]),
        plain(&machine.tree),
        plain(&machine.kernel),
        within(&own[1]),
        plain(&machine.model),
        unsteady(&own[0]),
        unsteady(&own[1]),
        follow(&own[0]),
        follow(&own[1]),
        follow(&recorded[0]),
        follow(&recorded[1]),
    );
}

/// How many starts the sets have.
fn starts(machine: &MachineTruth) -> String {
    let counts = machine.sets.iter().map(|set| set.own.tree.len());
    match (counts.clone().min(), counts.max()) {
        (Some(least), Some(most)) if least != most => format!("{least} to {most} starts"),
        (_, Some(1)) => "1 start".to_owned(),
        (_, most) => format!("{} starts", most.unwrap_or(0)),
    }
}

/// Each, or least, mean and most of many.
fn shares(runs: &Runs) -> String {
    let one = |share: &f64| format!("{share:.1}");
    if runs.shares.len() <= SHOWN_MAX {
        return runs.shares.iter().map(one).collect::<Vec<_>>().join(", ");
    }
    let share = &runs.share;
    [share.min, share.mean, share.max]
        .iter()
        .map(one)
        .collect::<Vec<_>>()
        .join(" / ")
}

/// Is it as the guest has it? Nothing to say where the guest's starts do not agree.
fn verdict(row: &Row) -> &'static str {
    match (row.has_one_figure(), row.within()) {
        (false, _) => "-",
        (true, true) => "yes",
        (true, false) => "**no**",
    }
}

/// The table of tasks.
fn tasks(text: &mut String, machine: &MachineTruth) {
    let big = plain(&machine.clusters.names[machine.big()]);
    let _ = write!(
        text,
        "Share of a task's run time on {big}, percent, by start (of more than {SHOWN_MAX} starts: \
         smallest / mean / largest). Same cluster: wake-ups of each start and of its simulation, \
         release by release. Within: `-` where the guest's starts do not agree.\n\n\
         | set | task | guest | same source | our model | same cluster, source | same cluster, \
         model | guest with itself | within, source | within, model |\n\
         |---|---|---|---|---|---:|---:|---:|---|---|\n"
    );
    let [tree, model] = rows(machine, |set| &set.own);
    for (tree, model) in tree.iter().zip(&model) {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            markdown_cell(&tree.set),
            markdown_cell(&tree.task),
            shares(&tree.kernel),
            shares(&tree.simulated),
            shares(&model.simulated),
            pct(tree.wakeups.pct()),
            pct(model.wakeups.pct()),
            pct(tree.own_wakeups.pct()),
            verdict(tree),
            verdict(model),
        );
    }
}

/// A figure of a run; None: there is none.
type Of = Box<dyn Fn(&SetRun) -> Option<f64>>;

/// What is shown of a run beside its tasks.
struct Quantity {
    name: String,
    unit: &'static str,
    digits: usize,
    of: Of,
    /// Its range over the times after a tick is shown.
    by_tick: bool,
    /// It is shown with each task where the guest's first ran, too.
    by_beginning: bool,
}

/// What is compared of each set's window.
fn all_quantities(machine: &MachineTruth) -> Vec<Quantity> {
    /// One figure of a run, with unit and decimals.
    fn quantity(
        name: &str,
        (unit, digits): (&'static str, usize),
        of: impl Fn(&SetRun) -> Option<f64> + 'static,
    ) -> Quantity {
        Quantity {
            name: name.to_owned(),
            unit,
            digits,
            of: Box::new(of),
            by_tick: false,
            by_beginning: false,
        }
    }
    let by_tick = |quantity: Quantity| Quantity {
        by_tick: true,
        ..quantity
    };
    let energy = quantity("CPU energy", (", J", 3), |run| run.cost.cpu_energy_j);
    let mut all = vec![Quantity {
        by_beginning: true,
        ..by_tick(energy)
    }];
    for (at, domain) in machine.platform.freq_domains.iter().enumerate() {
        let cpu = domain.cpus.first().map_or(0, |cpu| cpu.0);
        let cluster = machine.clusters.of_cpu(cpu).unwrap_or(0);
        let name = format!("mean clock, {}", machine.clusters.names[cluster]);
        all.push(by_tick(quantity(&name, (", MHz", 1), move |run| {
            let khz = run.inside.mean_khz.get(at).copied().flatten();
            khz.map(|khz| khz / 1e3)
        })));
    }
    let number = |number: u64| Some(number as f64);
    all.extend([
        quantity("changes of frequency", ("", 0), move |run| {
            number(run.inside.freq_changes)
        }),
        quantity("stretches of running", ("", 0), move |run| {
            number(run.inside.stretches)
        }),
        quantity("changes of CPU", ("", 0), move |run| {
            number(run.inside.moves)
        }),
        quantity("context switches", (", a second", 0), |run| {
            run.inside.counts.switches
        }),
        quantity("timer interrupts", (", a second", 0), |run| {
            run.inside.counts.timers
        }),
        quantity("balancing passes", (", a second", 1), |run| {
            run.inside.counts.passes
        }),
    ]);
    all
}

impl Quantity {
    /// Of each run; None if one has none.
    fn each<'a>(&self, runs: impl Iterator<Item = &'a SetRun>) -> Option<Vec<f64>> {
        runs.map(|run| (self.of)(run)).collect()
    }

    /// By column.
    fn columns(&self, set: &SetTruth) -> [Option<Vec<f64>>; 3] {
        let of = |starts: &[super::Start]| self.each(starts.iter().map(|start| &start.simulated));
        [
            self.each(set.own.tree.iter().map(|start| &start.kernel)),
            of(&set.own.tree),
            of(&set.own.model),
        ]
    }

    /// `-`: no run has it.
    fn cell(&self, values: Option<&Vec<f64>>) -> String {
        let Some(values) = values else {
            return "-".to_owned();
        };
        let one = |value: &f64| format!("{value:.*}", self.digits);
        if values.len() <= SHOWN_MAX {
            return values.iter().map(one).collect::<Vec<_>>().join(", ");
        }
        one(&(values.iter().sum::<f64>() / values.len() as f64))
    }
}

/// The table of these.
fn quantities(text: &mut String, machine: &MachineTruth) {
    let _ = write!(
        text,
        "\nOf each set's window by start (of more than {SHOWN_MAX} starts: the mean). Over a \
         tick: the range of the first start, begun at {OTHER_STARTS} times after a tick. What is a \
         second is of the whole run, all CPUs and threads. `-`: not recorded, or not counted \
         there.\n\n\
         | set | quantity | guest | same source | our model |\n|---|---|---|---|---|\n"
    );
    for set in &machine.sets {
        for quantity in all_quantities(machine) {
            let columns = quantity.columns(set);
            if columns.iter().flatten().count() < 2 {
                continue; // nothing to compare
            }
            let cells = columns
                .each_ref()
                .map(|values| quantity.cell(values.as_ref()));
            quantity_row(text, set, &quantity, "", &cells);
            if quantity.by_tick {
                by_tick(text, set, &quantity);
            }
            if quantity.by_beginning && !set.tried.is_empty() {
                by_beginning(text, set, &quantity);
            }
        }
    }
}

/// A row of three columns.
fn quantity_row(
    text: &mut String,
    set: &SetTruth,
    quantity: &Quantity,
    of: &str,
    cells: &[String],
) {
    let _ = writeln!(
        text,
        "| {} | {}{}{of} | {} |",
        markdown_cell(&set.set.name),
        markdown_cell(&quantity.name),
        quantity.unit,
        cells.join(" | ")
    );
}

/// The range over the times after a tick at which a start may be.
fn by_tick(text: &mut String, set: &SetTruth, quantity: &Quantity) {
    let pairs = set.own.both().into_iter().zip(set.other_starts.both());
    let cells = pairs.map(|(own, others)| {
        let all = own
            .iter()
            .take(1)
            .chain(others)
            .map(|start| &start.simulated);
        let all = quantity.each(all).unwrap_or_default();
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{least:.*} to {most:.*}", quantity.digits, quantity.digits)
    });
    let cells: Vec<String> = std::iter::once("-".to_owned()).chain(cells).collect();
    quantity_row(text, set, quantity, ", over a tick", &cells);
}

/// With each task where the guest's first ran.
fn by_beginning(text: &mut String, set: &SetTruth, quantity: &Quantity) {
    let [tree, model] = begun(set).both().map(|starts| {
        let values = quantity.each(starts.iter().map(|start| &start.simulated));
        quantity.cell(values.as_ref())
    });
    let cells = ["-".to_owned(), tree, model];
    quantity_row(
        text,
        set,
        quantity,
        ", tasks begun where the guest's were",
        &cells,
    );
}

/// In words.
fn beginning_name(machine: &MachineTruth, beginning: Beginning) -> String {
    match beginning {
        Beginning::Recorded => "each task where the guest's first ran".to_owned(),
        Beginning::Creator { cpu, cluster } => {
            format!(
                "creator on CPU {cpu} ({})",
                plain(&machine.clusters.names[cluster])
            )
        }
        Beginning::Creation { ns } => format!("a creation takes {:.1} us", ns as f64 / 1e3),
    }
}

/// What other beginnings change.
fn causes(text: &mut String, machine: &MachineTruth) {
    let with: Vec<&SetTruth> = machine
        .sets
        .iter()
        .filter(|set| !set.tried.is_empty())
        .collect();
    if with.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "\nTasks that are not as the guest's, with other beginnings; of those whose wake-ups the \
         guest does not repeat itself only the ones that some beginning helps. Yes: in every start \
         within {POINTS_MAX:.0} points of the guest's own start, and {WAKEUPS_MIN_PCT:.0} % of \
         wake-ups.\n\n\
         | set | task | beginning | guest | same source | | our model | |\n\
         |---|---|---|---|---|---|---|---|\n"
    );
    for set in with {
        let rows = |runs| set.rows(runs, &machine.clusters, machine.big());
        let mut all = vec![("as the guest's program does".to_owned(), rows(&set.own))];
        for Tried { beginning, runs } in &set.tried {
            all.push((beginning_name(machine, *beginning), rows(runs)));
        }
        for at in 0..set.set.tasks.len() {
            if all[0].1.iter().any(|rows| is_explained(&rows[at]))
                || all[0].1.iter().any(|rows| differs(&rows[at]))
                    && all[1..]
                        .iter()
                        .any(|(_, own)| own.iter().any(|rows| rows[at].follows()))
            {
                for (name, own) in &all {
                    cause(text, name, own.each_ref().map(|rows| &rows[at]));
                }
            }
        }
    }
}

/// It could be as the guest's, whose wake-ups repeat, and is not.
fn is_explained(row: &Row) -> bool {
    row.has_one_figure() && row.wakes_alike() && !row.within()
}

/// One beginning in one line.
fn cause(text: &mut String, beginning: &str, [tree, model]: [&Row; 2]) {
    let cell = |row: &Row| {
        let yes = if row.follows() { "yes" } else { "**no**" };
        format!(
            "{} | {}, {yes}",
            shares(&row.simulated),
            pct(row.wakeups.pct())
        )
    };
    let _ = writeln!(
        text,
        "| {} | {} | {beginning} | {} | {} | {} |",
        markdown_cell(&tree.set),
        markdown_cell(&tree.task),
        shares(&tree.kernel),
        cell(tree),
        cell(model),
    );
}

/// The same as one object.
pub(super) fn object(machines: &[MachineTruth]) -> Value {
    let machines: Vec<Value> = machines.iter().map(machine_object).collect();
    json!({
        "schema_version": wakeplace_report::SCHEMA_VERSION,
        "machines": machines,
    })
}

/// One machine as JSON.
fn machine_object(machine: &MachineTruth) -> Value {
    let sets = machine.sets.iter().map(|set| {
        let tried = set.tried.iter().map(|tried| {
            let name = beginning_name(machine, tried.beginning);
            json!({ "beginning": name, "tasks": task_objects(machine, set, &tried.runs) })
        });
        let quantities = all_quantities(machine).into_iter().map(|quantity| {
            let [guest, tree, model] = quantity.columns(set);
            json!({
                "quantity": quantity.name, "unit": quantity.unit,
                "guest": guest, "tree": tree, "model": model,
            })
        });
        json!({
            "set": set.set.name,
            "starts": set.own.tree.len(),
            "tasks": task_objects(machine, set, &set.own),
            "tried": tried.collect::<Vec<_>>(),
            "quantities": quantities.collect::<Vec<_>>(),
        })
    });
    json!({
        "platform": machine.platform.name,
        "rules": machine.rules.name(),
        "kernel": machine.kernel,
        "tree": machine.tree,
        "model": machine.model,
        "sets": sets.collect::<Vec<_>>(),
    })
}

/// The tasks of a set as JSON.
fn task_objects(machine: &MachineTruth, set: &SetTruth, runs: &super::Simulated) -> Vec<Value> {
    let [tree, model] = set.rows(runs, &machine.clusters, machine.big());
    let side = |row: &Row| {
        json!({
            "share_pct": row.simulated.shares,
            "same_cluster_pct": row.wakeups.pct(),
            "within": row.has_one_figure().then(|| row.within()),
            "follows": row.follows(),
        })
    };
    let pairs = tree.iter().zip(&model).map(|(tree, model)| {
        json!({
            "task": tree.task,
            "guest": {
                "share_pct": tree.kernel.shares,
                "same_cluster_pct": tree.own_wakeups.pct(),
                "repeats_agree": tree.has_one_figure(),
            },
            "tree": side(tree),
            "model": side(model),
        })
    });
    pairs.collect()
}

#[cfg(test)]
mod tests;
