//! What `review` and `evaluate` share: a battery's loads with all that is tried on them.
//!
//! What must stay: everything that can be refused is refused before the first run; cells stand as
//! the battery has them. A kernel's tree and a sched_ext scheduler do not go together. Tests by
//! part: crates/cli/tests/all/review.rs::`wrong_reviews_are_refused` (`Tried::of`),
//! review.rs::`a_review_says_what_got_worse_first` (`cells`),
//! crates/cli/tests/all/review.rs::`schedulers_are_reviewed` (`cells` with schedulers),
//! review.rs::`a_battery_is_listed` (`list`).
//!
//! Tests: crates/cli/tests/all/review.rs

use super::schedulers::{self, Asked};
use crate::args::{FormatName, OutputArgs, SchedulerArgs};
use crate::failure::{Failure, Outcome, Verdict};
use crate::output::Output;
use crate::terminal::Terminal;
use crate::text::{format, plain, style};
use crate::trees;
use std::path::Path;
use wakeplace_policy_sys::TREE_PREFIX;
use wakeplace_report::{Cell, Table};
use wakeplace_study::{Battery, BatteryCell, Matrix, Request};
use wakeplace_text::{count, printable, time};

/// The loads of a battery, one a row.
pub(super) fn list(battery: &Battery, args: &OutputArgs, terminal: Terminal) -> Outcome {
    let output = Output::prepare(args.output.as_deref())?;
    let look = match output.is_stdout() {
        true => style(terminal),
        false => plain(),
    };
    let columns = ["load", "workload", "duration", "boards"];
    let mut table = Table::new("loads", &columns).keys(1).part("boards");
    for load in battery.loads() {
        let boards = load.boards.into_iter().map(str::to_owned);
        table.row(vec![
            load.name.into(),
            load.workload.into(),
            time(load.duration_ns).into(),
            Cell::List(boards.collect()),
        ]);
    }
    let rows = table.render(format(args.format), look);
    let text = match args.format {
        FormatName::Human => {
            let names: Vec<&str> = Battery::names().collect();
            let first = format!(
                "{}: {}, {}. Built in are {}.",
                battery.name,
                battery.title,
                count(battery.seeds.len(), "seed"),
                names.join(", ")
            );
            format!("{}\n\n{rows}", printable(&first))
        }
        _ => rows,
    };
    output.write(&text, terminal)?;
    Ok(Verdict::Ok)
}

/// A battery and what is tried on it.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) battery: Battery,
    pub(super) request: Request,
}

impl Tried {
    /// What is asked of a battery; kernels are built.
    pub(super) fn of(
        battery: Battery,
        request: Request,
        (schedulers, config): (&SchedulerArgs, Option<&Path>),
        terminal: Terminal,
    ) -> Result<Self, Failure> {
        let is_tree = |name: &&String| name.starts_with(TREE_PREFIX);
        let tree = request.policies.iter().find(is_tree);
        if let Some(tree) = tree.filter(|_| !schedulers.scheduler.is_empty()) {
            return Err(Failure::Input(format!(
                "--scheduler runs on the modelled kernel, not on a tree's own; expected no \
                 `{tree}` beside it"
            )));
        }
        let boards = battery.boards(&request);
        let boards: Vec<String> = boards.iter().map(|board| board.name().to_owned()).collect();
        trees::provide(&request.policies, &boards, false, config, terminal)?;
        Ok(Self { battery, request })
    }

    /// What is run, in one line.
    pub(super) fn title(&self) -> String {
        let own = &self.request.platforms;
        if own.is_empty() {
            return self.battery.title.clone();
        }
        let boards: Vec<&str> = own.iter().map(|board| board.name()).collect();
        format!(
            "The loads of `{}` on {}",
            self.battery.name,
            boards.join(", ")
        )
    }

    /// The loads on their boards, with the schedulers that are asked for: nothing of this machine
    /// can be reached any more from then on, if there are any.
    pub(super) fn cells(
        &self,
        foreign: Option<&Asked>,
        schedulers: &SchedulerArgs,
        terminal: Terminal,
    ) -> Result<Vec<BatteryCell>, Failure> {
        let mut cells = self.battery.cells(&self.request).map_err(Failure::input)?;
        let mut matrix = Matrix::of_cells(&cells, self.request.margin_pct);
        schedulers::add(foreign, schedulers, &mut matrix, terminal)?;
        for (cell, experiment) in cells.iter_mut().zip(matrix.experiments) {
            cell.experiment = experiment;
        }
        Ok(cells)
    }
}
