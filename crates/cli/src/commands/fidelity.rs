//! `lab fidelity`: what is asked of the crate of the same name, and where its result goes.

use super::marked_page::{Destination, Marks};
use crate::args::{LabFidelityArgs, ReportFormat};
use crate::failure::{Failure, Outcome, Verdict};
use crate::places;
use crate::terminal::Terminal;
use crate::text::json;
use std::time::Duration;
use wakeplace_fidelity::placement::{self, Measurement, Request};

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
    let (place, text) = if args.recorded {
        let place = place(&RECORDED)?;
        let compared = placement::compare()?;
        let text = match args.format {
            ReportFormat::Md => compared.markdown(),
            ReportFormat::Json => json(&compared.object()),
        };
        (place, text)
    } else {
        if args.page.is_some() && args.round.is_some() {
            return Err(Failure::input(
                "--page holds what is measured without --round; expected --output",
            ));
        }
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
