//! Which guests a measurement has: machines, sets and starts.

use super::record::{Boot, Side};
use super::sets::{self, Set};
use crate::args::LabFidelityArgs;
use crate::commands::lab::failure;
use crate::failure::Failure;
use wakeplace_lab::Arch;
use wakeplace_lab::machine::Machine;
use wakeplace_platform::Platform;

/// Machines if none are named: the two whose energy model is published and that differ most.
const PLATFORMS: [&str; 2] = ["hikey960", "juno-r0"];
/// Of a quick look.
const QUICK: (&str, [&str; 2]) = ("hikey960", ["L35", "B"]);
/// What is to be run on a machine.
pub(super) struct Plan {
    pub(super) machine: Machine,
    pub(super) platform: Platform,
    pub(super) sets: Vec<Set>,
}

/// Machines and sets that were asked for.
pub(super) fn plans(args: &LabFidelityArgs) -> Result<Vec<Plan>, Failure> {
    let named: Vec<&str> = args.platform.iter().map(String::as_str).collect();
    let names = match (named.is_empty(), args.quick) {
        (false, _) => named,
        (true, true) => vec![QUICK.0],
        (true, false) => PLATFORMS.to_vec(),
    };
    let mut plans = Vec::new();
    for name in names {
        let machine = Machine::load(name, Arch::Arm64, None).map_err(|error| failure(&error))?;
        let Some(platform) = machine.platform.clone() else {
            return Err(Failure::Input(format!(
                "--platform {name}: it has no clusters; expected a name from \
                 `wakeplace platform list`"
            )));
        };
        let sets = chosen(sets::all(&platform), args)?;
        plans.push(Plan {
            machine,
            platform,
            sets,
        });
    }
    Ok(plans)
}

/// The sets that were asked for, in the order of the page.
fn chosen(all: Vec<Set>, args: &LabFidelityArgs) -> Result<Vec<Set>, Failure> {
    let wanted: Vec<String> = match (args.sets.is_empty(), args.quick) {
        (false, _) => args.sets.clone(),
        (true, true) => QUICK.1.map(str::to_owned).to_vec(),
        (true, false) => return Ok(all),
    };
    let names: Vec<&str> = all.iter().map(|set| set.name.as_str()).collect();
    if let Some(unknown) = wanted.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(Failure::Input(format!(
            "--sets: there is no set `{}`; expected of {}",
            wakeplace_text::shorten(unknown),
            names.join(", ")
        )));
    }
    Ok(all
        .into_iter()
        .filter(|set| wanted.contains(&set.name))
        .collect())
}

/// The guests of a measurement, so that what the first tables are made of comes first.
pub(super) fn boots<'a>(plans: &'a [Plan], args: &LabFidelityArgs) -> Vec<Boot<'a>> {
    let mut boots = Vec::new();
    for start in 0..args.starts {
        for plan in plans {
            let boot = |side| Boot { plan, side, start };
            boots.push(boot(Side::EnergyAware));
            if start == 0 {
                boots.push(boot(Side::Live));
            }
            if args.capacity_aware {
                boots.push(boot(Side::CapacityAware));
            }
        }
    }
    boots
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use clap::Parser;

    /// The options by themselves.
    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: LabFidelityArgs,
    }

    pub(crate) fn parsed(words: &[&str]) -> LabFidelityArgs {
        Line::try_parse_from(words).expect("valid").args
    }

    #[test]
    fn the_first_starts_come_first() {
        let words = ["lab", "--starts", "2"];
        let args = parsed(&words);
        let plans = plans(&args).expect("both machines");
        let names: Vec<String> = boots(&plans, &args).iter().map(Boot::to_string).collect();
        assert_eq!(
            names.join(" "),
            "hikey960-eas-1 hikey960-live juno-r0-eas-1 juno-r0-live hikey960-eas-2 juno-r0-eas-2"
        );
        let more = parsed(&["lab", "--starts", "1", "--quick", "--capacity-aware"]);
        let plans = super::plans(&more).expect("a machine");
        let names: Vec<String> = boots(&plans, &more).iter().map(Boot::to_string).collect();
        assert_eq!(names, ["hikey960-eas-1", "hikey960-live", "hikey960-cas-1"]);
    }
}
