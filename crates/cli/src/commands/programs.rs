//! `lab programs`: what is asked of the fidelity crate, and where its results go.

use super::marked_page::{Destination, Marks};
use crate::args::{LabProgramsArgs, ReportFormat};
use crate::failure::{Failure, Outcome, Verdict};
use crate::output::Output;
use crate::places;
use crate::terminal::Terminal;
use crate::text::json;
use std::time::Duration;
use wakeplace_fidelity::programs::{Measurement, Request};

/// The part of the page.
const PROGRAMS: Marks = Marks {
    begin: "<!-- programs: begin -->",
    end: "<!-- programs: end -->",
};

/// `lab programs`.
pub(super) fn run(args: &LabProgramsArgs, terminal: Terminal) -> Outcome {
    let measurement = Measurement::plan(&args.programs)?;
    if args.page.is_some() && !measurement.has_all() {
        return Err(Failure::input(
            "--page holds all programs; expected --output for some of them",
        ));
    }
    let place = Destination::prepare(args.page.as_deref(), args.output.as_deref(), &PROGRAMS)?;
    let record = args.record.as_deref();
    let record = record.map(|path| Output::prepare(Some(path))).transpose()?;
    let counts = match args.recorded {
        true => measurement.recorded()?,
        false => measurement.record(&request(args)?, &terminal)?,
    };
    if let Some(record) = record {
        record.write(&json(&counts.value()?), terminal)?;
    }
    let compared = measurement.compare(counts, &terminal)?;
    let text = match args.format {
        ReportFormat::Md => compared.markdown(),
        ReportFormat::Json => json(&compared.object()),
    };
    place.write(&text, terminal)?;
    Ok(Verdict::Ok)
}

fn request(args: &LabProgramsArgs) -> Result<Request, Failure> {
    let keep = places::keep_folder(args.keep.as_deref())?;
    Ok(Request {
        kernel: args.kernel.clone(),
        repeats: args.repeats,
        timeout: Duration::from_nanos(args.timeout),
        keep,
    })
}
