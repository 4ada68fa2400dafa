//! Which guests a measurement has: machines, sets and starts (docs/results/fidelity.md).
//!
//! What must stay: the order of guests: what tells most comes first, should time run out. Numbers
//! of starts fix their offsets. Free: what leaves the tables of pages as they are. Tests by part:
//! `light_sets_and_first_starts_come_first` (`boots`), `heavy_sets_are_those_of_half_a_machine`
//! (`plans`, `chosen`, `all`); `names` is the tests' own.
//!
//! Callers: placement.rs (`plans`, `boots`), truth.rs (`boots`).
//!
//! Tests: below

use super::Request;
use super::record::{Boot, Side};
use super::sets::{self, Set};
use crate::Error;
use wakeplace_lab::Arch;
use wakeplace_lab::machine::Machine;
use wakeplace_platform::Platform;

/// Machines if none are named: the two whose energy model is published and that differ most.
const PLATFORMS: [&str; 2] = ["hikey960", "juno-r0"];
/// Of a quick look.
const QUICK: (&str, [&str; 2]) = ("hikey960", ["L35", "B"]);
/// A set is heavy from this share of the tipping point on, percent.
const HEAVY_PCT: f64 = 45.0;

/// What is to be run on a machine.
pub(super) struct Plan {
    pub(super) machine: Machine,
    pub(super) platform: Platform,
    /// In the order of the page.
    pub(super) sets: Vec<Set>,
    /// The same as guests run them.
    pub(super) parts: Vec<Part>,
}

/// The sets of a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) sets: Vec<Set>,
}

impl Part {
    /// Sets that ask for half of a machine or more take three quarters of the emulation: they have
    /// a guest of their own, so that less is lost with one that is interrupted.
    fn all(sets: &[Set], platform: &Platform) -> Vec<Self> {
        let (light, heavy): (Vec<Set>, Vec<Set>) = sets
            .iter()
            .cloned()
            .partition(|set| set.load_pct(platform) < HEAVY_PCT);
        [("light", light), ("heavy", heavy)]
            .into_iter()
            .filter(|(_, sets)| !sets.is_empty())
            .map(|(name, sets)| Self { name, sets })
            .collect()
    }
}

/// Machines and sets that were asked for.
pub(super) fn plans(request: &Request) -> Result<Vec<Plan>, Error> {
    let named: Vec<&str> = request.platforms.iter().map(String::as_str).collect();
    let names = match (named.is_empty(), request.quick) {
        (false, _) => named,
        (true, true) => vec![QUICK.0],
        (true, false) => PLATFORMS.to_vec(),
    };
    let mut plans = Vec::new();
    for name in names {
        let machine = Machine::load(name, Arch::Arm64, None)?;
        let Some(platform) = machine.platform.clone() else {
            return Err(Error::Input(format!(
                "--platform {name}: it has no clusters; expected a name from \
                 `wakeplace platform list`"
            )));
        };
        let sets = chosen(sets::all(&platform), request)?;
        plans.push(Plan {
            machine,
            parts: Part::all(&sets, &platform),
            platform,
            sets,
        });
    }
    Ok(plans)
}

/// The sets that were asked for, in the order of the page.
fn chosen(all: Vec<Set>, request: &Request) -> Result<Vec<Set>, Error> {
    let wanted: Vec<String> = match (request.sets.is_empty(), request.quick) {
        (false, _) => request.sets.clone(),
        (true, true) => QUICK.1.map(str::to_owned).to_vec(),
        (true, false) => return Ok(all),
    };
    let names: Vec<&str> = all.iter().map(|set| set.name.as_str()).collect();
    if let Some(unknown) = wanted.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(Error::Input(format!(
            "--sets: there is no set `{}`; expected some of {}",
            wakeplace_text::shorten(unknown),
            names.join(", ")
        )));
    }
    Ok(all
        .into_iter()
        .filter(|set| wanted.contains(&set.name))
        .collect())
}

/// The guests of a measurement: all starts of the light sets come first, and of each the start that
/// the first tables are made of.
pub(super) fn boots<'a>(plans: &'a [Plan], request: &Request) -> Vec<Boot<'a>> {
    let mut boots = Vec::new();
    for (start, plan) in (0..request.starts).flat_map(|start| plans.iter().map(move |p| (start, p)))
    {
        for (at, part) in plan.parts.iter().enumerate() {
            let mut boot = |side| {
                let boot = Boot {
                    plan,
                    part,
                    side,
                    start,
                    round_us: request.round_us,
                };
                boots.push((at, boot));
            };
            boot(Side::EnergyAware);
            if start == 0 {
                boot(Side::Live);
            }
            if request.capacity_aware {
                boot(Side::CapacityAware);
            }
        }
    }
    // Stable: within a part they stay as they are.
    boots.sort_by_key(|(part, _)| *part);
    boots.into_iter().map(|(_, boot)| boot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(request: &Request) -> String {
        let plans = plans(request).expect("machines");
        let boots = boots(&plans, request);
        let names: Vec<String> = boots.iter().map(Boot::to_string).collect();
        names.join(" ")
    }

    #[test]
    fn light_sets_and_first_starts_come_first() {
        assert_eq!(
            names(&Request {
                starts: 2,
                ..Request::of(&[], &["B", "L95"])
            }),
            "hikey960-eas-1-light hikey960-live-light juno-r0-eas-1-light juno-r0-live-light \
             hikey960-eas-2-light juno-r0-eas-2-light \
             hikey960-eas-1-heavy hikey960-live-heavy juno-r0-eas-1-heavy juno-r0-live-heavy \
             hikey960-eas-2-heavy juno-r0-eas-2-heavy"
        );
        assert_eq!(
            names(&Request {
                starts: 1,
                quick: true,
                capacity_aware: true,
                ..Request::of(&[], &[])
            }),
            "hikey960-eas-1-light hikey960-live-light hikey960-cas-1-light"
        );
    }

    #[test]
    fn heavy_sets_are_those_of_half_a_machine() {
        for plan in plans(&Request::of(&[], &[])).expect("both machines") {
            let parts = plan.parts.iter().map(|part| {
                let names = part.sets.iter().map(|set| set.name.as_str());
                (part.name, names.collect::<Vec<_>>().join(" "))
            });
            assert_eq!(
                parts.collect::<Vec<_>>(),
                [
                    ("light", "L20 L35 E B F D".to_owned()),
                    ("heavy", "L50 L65 L80 L95".to_owned())
                ]
            );
        }
    }
}
