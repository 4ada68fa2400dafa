//! The kernel's energy model laid over a machine that another source described
//! (docs/guide/import.md, "What is read").
//!
//! Called where an energy model is given beside a source. Powers are µW or the kernel's own scale.
//!
//! What must stay: the model's powers replace the source's; a model of another machine is refused,
//! not cut to fit; power of clusters goes, as the kernel's power of a CPU has it inside. Free: what
//! leaves the files of imports as they are (ARCHITECTURE.md, "What a change may touch"), and words
//! of messages that no test quotes. Tests by part: `a_plat_info_with_the_kernels_energy_model`
//! (`lay_over`, what is refused), `a_device_tree_with_the_kernels_energy_model` (`give`: voltages
//! stay), `both_energy_models` (`idle_by_ratio`). No test of its own: the line about artificial
//! models.
//!
//! Tests: crates/platform/tests/all/import/mod.rs

use super::ImportError;
use super::found::{Clock, Found, FoundIdle, IdlePower, Origin, Point, Scale};
use crate::sysfs::{EnergyDomain, Tree, details};
use std::path::Path;

/// Gives the clocks the points and powers of debugfs's energy model in `folder`.
pub(super) fn lay_over(
    found: &mut Found,
    folder: &Path,
    said: &mut Vec<String>,
) -> Result<(), ImportError> {
    let place = folder.display().to_string();
    let expected = "a copy of /sys/kernel/debug/energy_model";
    if !folder.is_dir() {
        return Err(ImportError::wrong(&place, "no such folder", expected));
    }
    let numbers: Vec<u32> = found.cpus.iter().map(|cpu| cpu.number).collect();
    let count = numbers.iter().max().map_or(0, |last| *last as usize + 1);
    let domains = details::energy_model(&Tree::new(folder), count)?;
    if domains.is_empty() {
        said.push("the folder of the energy model has no performance domain".to_owned());
    }
    let numbered = |clock: &Clock| -> Vec<u16> {
        let number = |cpu: &u16| numbers.get(usize::from(*cpu)).copied();
        clock
            .cpus
            .iter()
            .filter_map(number)
            .filter_map(|n| u16::try_from(n).ok())
            .collect()
    };
    for domain in domains.iter().filter(|domain| !domain.artificial) {
        let mut covered = 0;
        for clock in &mut found.clocks {
            let cpus = numbered(clock);
            let within = cpus.iter().filter(|cpu| domain.cpus.contains(cpu)).count();
            if within == 0 {
                continue;
            }
            if within < cpus.len() {
                let problem = format!(
                    "domain {} has only some of the CPUs {cpus:?} of one clock",
                    domain.name
                );
                let expected = "performance domains of the same machine";
                return Err(ImportError::wrong(&place, problem, expected));
            }
            covered += within;
            give(clock, domain, &place);
            idle_by_ratio(clock, &mut found.idle, said);
        }
        if covered < domain.cpus.len() {
            let problem = format!("domain {} has CPUs that the machine lacks", domain.name);
            return Err(ImportError::wrong(
                &place,
                problem,
                "the energy model of this machine",
            ));
        }
    }
    if domains.iter().any(|domain| domain.artificial) {
        said.push(
            "the kernel's energy model is left out where it states costs without power".to_owned(),
        );
    }
    Ok(())
}

/// The points of the domain; voltages stay where the frequency is the same.
fn give(clock: &mut Clock, domain: &EnergyDomain, place: &str) {
    let known = std::mem::take(&mut clock.points);
    let mv = |khz: u32| {
        known
            .iter()
            .find(|point| point.khz == khz)
            .and_then(|point| point.mv)
    };
    let point = |state: &crate::sysfs::EnergyState| Point {
        khz: state.khz,
        mv: mv(state.khz),
        power: Some(u64::from(state.power_uw)),
        cluster_power: None,
    };
    clock.cluster_from = None;
    clock.points = domain.states.iter().map(point).collect();
    let scale = match domain.microwatts {
        true => Scale::Microwatt,
        false => Scale::Abstract,
    };
    let from = Origin::stated(format!("{place}/{}", domain.name));
    clock.points_from = Some(from.clone());
    clock.power = Some((scale, from));
}

/// What CPUs draw idle is brought to the unit of the energy model, whose power of a busy CPU has
/// that of its cluster in it (Linux Documentation/power/energy-model.rst).
fn idle_by_ratio(clock: &Clock, idle: &mut [FoundIdle], said: &mut Vec<String>) {
    let Some(lowest) = clock.points.iter().filter_map(|point| point.power).min() else {
        return;
    };
    let mut changed = false;
    for state in idle
        .iter_mut()
        .filter(|state| state.cpus.contains(&clock.cpus[0]))
    {
        let Some(power) = &mut state.power else {
            continue;
        };
        let (own, busy) = (power.cpu, power.lowest);
        let text = format!(
            "{lowest}, the lowest busy power, * {own}/{busy}: idle over lowest busy power by {}",
            power.from.text
        );
        *power = IdlePower {
            cpu: (u128::from(lowest) * u128::from(own) / u128::from(busy.max(1))) as u64,
            cluster: None,
            lowest,
            from: Origin::derived(text),
        };
        changed = true;
    }
    if changed {
        said.push(format!(
            "power in idle states of CPUs {}: by the ratios of `nrg-model` to the kernel's energy \
             model; power of clusters left out, since the kernel's has it in that of CPUs",
            super::found::cpu_list(&clock.cpus)
        ));
    }
}
