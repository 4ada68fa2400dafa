//! Powers of a known machine for one that has none: those of its cores of the same kind, else of
//! the nearest by what they get done, scaled (docs/guide/import.md, "Powers of another machine").
//!
//! Called by `fill.rs`. Powers are in the known machine's unit.
//!
//! What must stay: everything is marked as assumed and begins with "Modelled", so that joules by it
//! are called modelled (`Platform::modelled_power`); a source with powers of its own is refused, as
//! theirs are better. Free: words of messages that no test quotes. Tests by part:
//! `powers_of_another_machine` (`give`, `nearest`, `Scaled`), `no_power_gives_none` (`of`),
//! mod.rs::`the_own_powers_come_back` (`check`, and `give` of equal clocks).
//!
//! Tests: crates/platform/tests/all/import/kinds.rs, crates/platform/tests/all/import/mod.rs

use super::ImportError;
use super::found::{Found, Origin, Scale, cpu_list};
use crate::sysfs::quoted;
use crate::{FreqDomain, MeasuredPower, Opp, Platform, PowerUnit, builtin_names};
use wakeplace_text::{did_you_mean, nearest};

/// A machine whose powers another one takes.
#[derive(Clone, Debug)]
pub struct PowerLike {
    machine: Platform,
    scale: Scale,
    /// What messages call it.
    option: String,
}

/// A clock of the known machine for one of the new machine.
struct Scaled<'a> {
    domain: &'a FreqDomain,
    /// Highest clocks, kHz: the known one, the new one.
    top_khz: (u64, u64),
    /// What powers are multiplied by.
    factor: (u64, u64),
}

impl PowerLike {
    /// A built-in machine or a file; `option` names it in messages.
    ///
    /// # Errors
    /// It is unknown, or has no power.
    pub fn of(machine: &str, option: &str) -> Result<Self, ImportError> {
        let known = Platform::load(machine).map_err(|error| ImportError::Like {
            option: option.to_owned(),
            why: error.to_string(),
        })?;
        let scale = match known.power_unit {
            PowerUnit::Microwatt => Scale::Microwatt,
            PowerUnit::Bogo => Scale::Abstract,
            PowerUnit::None => {
                let all = builtin_names().filter(|name| {
                    let machine = Platform::builtin(name);
                    machine.is_ok_and(|machine| machine.power_unit != PowerUnit::None)
                });
                let all: Vec<&str> = all.collect();
                let hint = did_you_mean(nearest(machine, all.iter().copied()));
                let expected = format!("one of {}{hint}", all.join(", "));
                let problem = format!("{} has no power", quoted(machine));
                return Err(ImportError::wrong(option, problem, expected));
            }
        };
        Ok(Self {
            machine: known,
            scale,
            option: option.to_owned(),
        })
    }

    /// Refuses a source that has powers of its own.
    pub(super) fn check(&self, found: &Found) -> Result<(), ImportError> {
        match found.clocks.iter().any(|clock| clock.power.is_some()) {
            true => Err(ImportError::wrong(
                &self.option,
                "the source has powers of its own",
                "a source without any, or no such option",
            )),
            false => Ok(()),
        }
    }

    /// Gives all clocks powers; each has its points.
    pub(super) fn give(&self, found: &mut Found, said: &mut Vec<String>) {
        let speeds: Vec<u64> = match &found.speed {
            Some((speeds, _)) => speeds.clone(),
            None => found.cpus.iter().map(|cpu| cpu.capacity).collect(),
        };
        let mut told: Vec<(String, Vec<u16>)> = Vec::new();
        for clock in &mut found.clocks {
            let cpu = usize::from(clock.cpus[0]);
            let kind = found.cpus[cpu].kind.as_deref().unwrap_or_default();
            let top_khz = clock.points.last().map_or(1, |point| point.khz);
            let (scaled, text) = self.nearest(kind, speeds[cpu], u64::from(top_khz));
            let mut least = (1, 0);
            for point in &mut clock.points {
                let khz = u64::from(point.khz);
                // A higher clock draws no less: measured powers may fall.
                least.0 = scaled.at(khz, |opp, _| opp.power).unwrap_or(1).max(least.0);
                point.power = Some(least.0);
                let cluster = scaled.at(khz, cluster_power);
                point.cluster_power = cluster.map(|power| {
                    least.1 = power.max(least.1);
                    least.1
                });
            }
            let has_cluster = clock.points.iter().all(|p| p.cluster_power.is_some());
            let from = Origin::assumed(text.clone());
            clock.cluster_from = has_cluster.then(|| from.clone());
            clock.power = Some((self.scale, from));
            match told.iter_mut().find(|(known, _)| *known == text) {
                Some((_, cpus)) => cpus.extend(&clock.cpus),
                None => told.push((text, clock.cpus.clone())),
            }
        }
        let line =
            |(text, cpus): (String, Vec<u16>)| format!("power of CPUs {}: {text}", cpu_list(&cpus));
        said.extend(told.into_iter().map(line));
    }

    /// The clock of the known machine for CPUs of a kind that get so much done at their highest
    /// clock; the rule in words.
    fn nearest(&self, kind: &str, speed: u64, own_khz: u64) -> (Scaled<'_>, String) {
        let machine = &self.machine;
        let first = |domain: &&FreqDomain| &machine.cpus[domain.cpus[0].index()];
        let far = |domain: &&FreqDomain| {
            let other = u64::from(first(domain).speed);
            // The ratio of the two, 4096 where they are equal.
            speed.max(other) * 4096 / speed.min(other).max(1)
        };
        let all = &machine.freq_domains;
        let alike = all.iter().filter(|domain| first(domain).kind == kind);
        let alike = alike.min_by_key(far);
        let domain = alike.or_else(|| all.iter().min_by_key(far));
        let domain = domain.unwrap_or(&all[0]);
        let known_khz = u64::from(domain.opps[domain.opps.len() - 1].khz);
        let known = first(&domain);
        let (factor, of) = match alike.is_some() {
            true => ((own_khz, known_khz), "highest clocks, kHz"),
            false => (
                (speed, u64::from(known.speed)),
                "of 1024 at the highest clock",
            ),
        };
        let whose = match alike.is_some() {
            true => format!("its {}", known.kind),
            false => format!("its {}, the nearest to a {kind} by capacity,", known.kind),
        };
        let text = format!(
            "Modelled after {} ({}): the power of {whose} at the same share of the highest clock, \
             * {}/{} ({of})",
            machine.name, self.option, factor.0, factor.1
        );
        let scaled = Scaled {
            domain,
            top_khz: (known_khz, own_khz),
            factor,
        };
        (scaled, text)
    }
}

/// What a cluster draws at an operating point, without its CPUs.
fn cluster_power(opp: &Opp, measured: Option<u64>) -> Option<u64> {
    opp.cluster_power.or(measured)
}

impl Scaled<'_> {
    /// A power at a clock of the new machine: between the known points on a line, below the lowest
    /// in proportion to the clock. `of`: the power of a known point, with what was measured of its
    /// cluster. None: it has none.
    fn at(&self, khz: u64, of: impl Fn(&Opp, Option<u64>) -> Option<u64>) -> Option<u64> {
        let (known_khz, own_khz) = self.top_khz;
        // In kHz times the own highest clock nothing is rounded.
        let place = i128::from(khz) * i128::from(known_khz);
        let known = |at: usize| -> Option<(i128, i128)> {
            let opp = &self.domain.opps[at];
            let measured = self.domain.measured.as_ref().map(|measured| {
                measured.points[measured.at(at, MeasuredPower::LOWEST_ROW)].cluster_uw
            });
            let power = of(opp, measured)?;
            Some((i128::from(opp.khz) * i128::from(own_khz), i128::from(power)))
        };
        let above = (0..self.domain.opps.len()).find(|at| {
            let opp = i128::from(self.domain.opps[*at].khz);
            opp * i128::from(own_khz) >= place
        });
        let high = above.unwrap_or(self.domain.opps.len() - 1);
        let (high_place, high_power) = known(high)?;
        let (low_place, low_power) = match high.checked_sub(1) {
            Some(low) => known(low)?,
            None => (0, 0),
        };
        let share = (high_power - low_power) * (place - low_place) / (high_place - low_place);
        let power = (low_power + share) * i128::from(self.factor.0);
        u64::try_from(power / i128::from(self.factor.1.max(1))).ok()
    }
}
