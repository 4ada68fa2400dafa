//! `platform list` and `platform show`; the others are in `platform_import`
//! (docs/guide/platforms.md, "What the words mean").
//!
//! Free: what people see.
//!
//! What must stay: columns of `known`, the list for programs. Platforms stand in the order of
//! `wakeplace_platform`'s catalogue. The list for people has a line for each machine. Words of
//! `power` are those of docs/guide/platforms.md. Tests by part:
//! crates/cli/tests/all/results.rs::`lists_have_every_form` (`list`),
//! results.rs::`lists_and_pages_of_platforms_are_short` (`names`, `short`, `known`, `power`),
//! results.rs::`a_platform_is_shown_with_its_sources` (`show`),
//! crates/cli/tests/all/bad_platforms.rs::`operating_points_must_rise` (files that are refused),
//! crates/cli/tests/all/bad_input.rs::`what_was_meant_comes_before_what_there_is` (names that are
//! not known).
//!
//! Tests: crates/cli/tests/all/results.rs, crates/cli/tests/all/bad_platforms.rs,
//! crates/cli/tests/all/bad_input.rs

use super::{platform_import, platform_json, platform_text};
use crate::args::{ListArgs, PlatformCommand, PlatformShowArgs, ShowFormat};
use crate::failure::{Failure, Outcome, Verdict};
use crate::machine::CoreView;
use crate::page::Form;
use crate::terminal::Terminal;
use crate::text::{format, json, style, wrapped};
use wakeplace_platform::{Platform, PowerUnit, Standing, builtin_names, other_names};
use wakeplace_policy_sys::Policy;
use wakeplace_report::{Align, Cell, Format, Style, Table};

/// `platform ...`.
pub(crate) fn run(command: PlatformCommand, terminal: Terminal) -> Outcome {
    match command {
        PlatformCommand::List(args) => list(&args, terminal),
        PlatformCommand::Show(args) => show(&args, terminal),
        PlatformCommand::Import(args) => platform_import::run(&args, terminal),
        PlatformCommand::New(args) => platform_import::new(&args, terminal),
        PlatformCommand::Capture(args) => platform_import::capture(&args, terminal),
    }
}

/// People get a line for each machine, and programs and documents what is known of it besides.
fn list(args: &ListArgs, terminal: Terminal) -> Outcome {
    let format = format(args.format);
    let style = style(terminal);
    let text = match format {
        Format::Human => names(style)?,
        format => known()?.render(format, style),
    };
    terminal.print(&text)?;
    Ok(Verdict::Ok)
}

/// The short list for people: a line for each machine.
fn names(style: Style) -> Result<String, Failure> {
    let columns = ["name", "cpus", "power", "machine"];
    let mut table = Table::new("platforms", &columns).align("cpus", Align::Right);
    for name in builtin_names() {
        let platform = Platform::load(name).map_err(Failure::input)?;
        table.row(vec![
            Cell::from(platform.name.clone()),
            Cell::from(platform.cpus.len()),
            Cell::from(power(&platform)),
            Cell::from(short(&platform.title)),
        ]);
    }
    let about = "Power: watts, in joules in results; modelled, watts that nobody measured or \
        published; bogo, in a unit of its own; none, and no energy in results. `wakeplace platform \
        show NAME` says what is known of a machine, and how.";
    let text = table.render(Format::Human, style);
    Ok(format!("{text}\n{}", wrapped(about, "", style)))
}

/// A title without what stands in brackets, the kinds of CPU, and without a nickname in quotation
/// marks behind it: a line for each machine.
fn short(title: &str) -> String {
    let title = title.split_once(", the \"").map_or(title, |(name, _)| name);
    match (title.split_once(" ("), title.rsplit_once(')')) {
        (Some((before, _)), Some((_, after))) => format!("{before}{after}"),
        _ => title.to_owned(),
    }
}

/// The whole list for programs: of each machine what is published, derived and assumed.
fn known() -> Result<Table, Failure> {
    let columns = [
        "name",
        "also_known_as",
        "cpus",
        "kinds",
        "power",
        "published",
        "derived",
        "assumed",
    ];
    let mut table = Table::new("platforms", &columns).align("cpus", Align::Right);
    for name in builtin_names() {
        let platform = Platform::load(name).map_err(Failure::input)?;
        let groups = |how| {
            let groups = platform.groups_known(how).into_iter().map(str::to_owned);
            Cell::from(groups.collect::<Vec<_>>())
        };
        table.row(vec![
            Cell::from(platform.name.clone()),
            Cell::from(other_names(name)),
            Cell::from(platform.cpus.len()),
            Cell::from(platform.kinds()),
            Cell::from(power(&platform)),
            groups(Standing::Published),
            groups(Standing::Derived),
            groups(Standing::Assumed),
        ]);
    }
    Ok(table)
}

/// What the power figures are in, and whether they are a model's.
fn power(platform: &Platform) -> &'static str {
    match (platform.power_unit, &platform.modelled_power()[..]) {
        (PowerUnit::Microwatt, cpus) if cpus.len() == platform.cpus.len() => "modelled",
        (unit_of, _) => unit(unit_of),
    }
}

/// What the power figures are in.
pub(super) fn unit(unit: PowerUnit) -> &'static str {
    match unit {
        PowerUnit::Microwatt => "watts",
        PowerUnit::Bogo => "bogo",
        PowerUnit::None => "none",
    }
}

/// `platform show`: one machine as the model and a policy's core understand it.
fn show(args: &PlatformShowArgs, terminal: Terminal) -> Outcome {
    let platform = Platform::load(&args.platform).map_err(Failure::input)?;
    let policy = Policy::parse(&args.policy).map_err(Failure::input)?;
    let core = CoreView::new(&platform, &policy)
        .map_err(|error| Failure::Input(format!("platform {}: {error}", args.platform)))?;
    let text = match args.form.format {
        ShowFormat::Json => json(&platform_json::object(&platform, &core, &args.policy)),
        ShowFormat::Md => platform_text::page(&platform, &core, &args.policy, Form::Markdown),
        ShowFormat::Human => {
            let form = Form::Human(style(terminal));
            platform_text::page(&platform, &core, &args.policy, form)
        }
    };
    terminal.print(&text)?;
    Ok(Verdict::Ok)
}
