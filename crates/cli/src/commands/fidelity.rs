//! `lab fidelity`: what is asked of the crate of the same name, and where its result goes.

use super::marked_page::{Destination, Marks};
use crate::args::{LabFidelityArgs, ReportFormat};
use crate::failure::{Failure, Outcome, Verdict};
use crate::places;
use crate::terminal::Terminal;
use crate::text::json;
use crate::trees;
use std::time::Duration;
use wakeplace_fidelity::placement::{self, Measurement, Request, TreeNames, Truth};
use wakeplace_kernel_tree::Spec;
use wakeplace_policy_sys::TREE_PREFIX;

/// The part of the page that was measured in guests.
const MEASURED: Marks = Marks {
    begin: "<!-- measured: begin -->",
    end: "<!-- measured: end -->",
};
/// The part made from recorded runs.
const RECORDED: Marks = Marks {
    begin: "<!-- recorded: begin -->",
    end: "<!-- recorded: end -->",
};

/// `lab fidelity`.
pub(super) fn run(args: &LabFidelityArgs, terminal: Terminal) -> Outcome {
    let place = |marks| Destination::prepare(args.page.as_deref(), args.output.as_deref(), marks);
    if args.page.is_some() && args.round.is_some() {
        return Err(Failure::input(
            "--page holds what is measured without --round; expected --output",
        ));
    }
    let (place, text) = if let Some(tree) = &args.tree {
        three_columns(args, tree, terminal)?
    } else if args.recorded {
        let place = place(&RECORDED)?;
        let compared = placement::compare()?;
        let text = match args.format {
            ReportFormat::Md => compared.markdown(),
            ReportFormat::Json => json(&compared.object()),
        };
        (place, text)
    } else {
        let measurement = Measurement::plan(request(args)?)?;
        let place = place(&MEASURED)?;
        let measured = measurement.run(&terminal)?;
        let text = match args.format {
            ReportFormat::Md => measured.markdown(),
            ReportFormat::Json => json(&measured.object()),
        };
        (place, text)
    };
    place.write(&text, terminal)?;
    Ok(Verdict::Ok)
}

/// Guests beside a kernel's own code and our model.
fn three_columns(
    args: &LabFidelityArgs,
    tree: &str,
    terminal: Terminal,
) -> Result<(Destination, String), Failure> {
    let marks = if args.recorded { &RECORDED } else { &MEASURED };
    let names = tree_names(tree)?;
    let measurement = match args.recorded {
        true => None,
        false => Some(Measurement::plan(request(args)?)?),
    };
    let place = Destination::prepare(args.page.as_deref(), args.output.as_deref(), marks)?;
    let policies = [names.energy_aware.clone(), names.capacity_aware.clone()];
    trees::provide(&policies, &[], None, terminal)?;
    let truth = match &measurement {
        None => Truth::of_recorded(&names, &terminal)?,
        Some(measurement) => Truth::of_guests(measurement, &names, &terminal)?,
    };
    let text = match args.format {
        ReportFormat::Md => truth.markdown(),
        ReportFormat::Json => json(&truth.object()),
    };
    Ok((place, text))
}

/// The tree as it is, and with energy-aware placement off by the kernel's own switch.
fn tree_names(tree: &str) -> Result<TreeNames, Failure> {
    if !tree.starts_with(TREE_PREFIX) {
        return Err(Failure::Input(format!(
            "--tree {}: expected a kernel, as {TREE_PREFIX}7.3.4",
            wakeplace_text::shorten(tree)
        )));
    }
    let off = Spec::with(tree, "sched_energy_aware", "0").map_err(Failure::Input)?;
    Ok(TreeNames {
        energy_aware: tree.to_owned(),
        capacity_aware: off,
    })
}

fn request(args: &LabFidelityArgs) -> Result<Request, Failure> {
    let keep = places::keep_folder(args.keep.as_deref())?;
    Ok(Request {
        platforms: args.platform.clone(),
        sets: args.sets.clone(),
        quick: args.quick,
        starts: args.starts,
        capacity_aware: args.capacity_aware,
        kernel: args.kernel.clone(),
        round_us: args.round,
        from: args.from.clone(),
        keep,
        timeout: Duration::from_nanos(args.timeout),
        jobs: args.jobs,
    })
}
