//! `platform list` and `platform show`; the others are in `platform_import`.

use super::{platform_import, platform_json, platform_text};
use crate::args::{ListArgs, PlatformCommand, PlatformShowArgs, ShowFormat};
use crate::failure::{Failure, Outcome, Verdict};
use crate::machine::CoreView;
use crate::page::Form;
use crate::terminal::Terminal;
use crate::text::{format, json, style};
use wakeplace_platform::{Platform, PowerUnit, Standing, builtin_names};
use wakeplace_policy_sys::Policy;
use wakeplace_report::{Align, Cell, Table};

/// `platform ...`.
pub(crate) fn run(command: PlatformCommand, terminal: Terminal) -> Outcome {
    match command {
        PlatformCommand::List(args) => list(&args, terminal),
        PlatformCommand::Show(args) => show(&args, terminal),
        PlatformCommand::Import(args) => platform_import::run(&args, terminal),
        PlatformCommand::Capture(args) => platform_import::capture(&args, terminal),
    }
}

fn list(args: &ListArgs, terminal: Terminal) -> Outcome {
    let columns = [
        "name",
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
            Cell::from(platform.cpus.len()),
            Cell::from(platform.kinds()),
            Cell::from(unit(platform.power_unit)),
            groups(Standing::Published),
            groups(Standing::Derived),
            groups(Standing::Assumed),
        ]);
    }
    terminal.print(&table.render(format(args.format), style(terminal)))?;
    Ok(Verdict::Ok)
}

/// What the power figures are in.
pub(super) fn unit(unit: PowerUnit) -> &'static str {
    match unit {
        PowerUnit::Microwatt => "watts",
        PowerUnit::Bogo => "bogo",
        PowerUnit::None => "none",
    }
}

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
