//! Power of Intel servers before Haswell: nobody published it, so it is modelled from the maker's
//! thermal design power (docs/decisions/037). Every figure is assumed; what they say is which parts
//! of a package sleep, not what a machine drew.
//!
//! ```text
//! package at its thermal design power (TDP) = uncore + cores with two busy threads each
//! uncore (shared cache, ring, memory controller, links)     25 % of TDP while a CPU is awake
//! core with one busy thread = C V^2 f + leakage             70 % + 30 % at the nominal clock
//! voltage, of nominal: 0.85 at the lowest clock, 1 at the nominal one, on a line; leakage as V^3
//! second busy thread of a core                              20 % more
//! C1  the clock stands: leakage                             30 %
//! C1E lowest voltage, 0.85 of nominal; leakage goes as V^3  18 %
//! C3  first and second cache empty, clock generator off     15 %
//! C6  power switched off                                     2 %
//! ```

use super::facts::Facts;
use super::pstates::PStates;
use super::text::{Standing, number, source};

/// Name of the machine, package's TDP, uW, and the model it is that of (the maker's data sheets).
const PACKAGES: &[(&str, u64, &str)] = &[
    ("nhm-ep-2s", 95_000_000, "Xeon X5570"),
    ("wsm-ep-2s", 95_000_000, "Xeon X5670"),
    ("wsm-ex-4s", 130_000_000, "Xeon E7-4870"),
    ("wsm-ex-4s-ht", 130_000_000, "Xeon E7-4870"),
    ("snb-ep-2s", 95_000_000, "Xeon E5-2650"),
    ("snb-ep-4s", 130_000_000, "Xeon E5-4650"),
];

/// Work of a second thread in power, of 1024 for one thread alone.
pub(super) const CORE_POWER: u64 = 1229;

/// Power of a core in an idle state, in percent of a busy one.
pub(super) const C1E_PCT: u64 = 18;
pub(super) const C6_PCT: u64 = 2;

/// Idle states: power of a core in percent of a busy one, of the uncore in percent of its own when
/// all CPUs of the package are in it, and why.
const STATES: &[(&str, u64, u64, &str)] = &[
    (
        "C1",
        30,
        100,
        "leakage at the voltage of the clock; the package is awake",
    ),
    (
        "C1E",
        C1E_PCT,
        100,
        "leakage at 0.85 of the voltage, by its third power; the package is awake",
    ),
    (
        "C3",
        15,
        60,
        "the same without clock generator; package C3: the shared cache's clock is slow",
    ),
    (
        "C6",
        C6_PCT,
        30,
        "power switched off; package C6: shared cache at retention, memory refreshes itself",
    ),
];

/// What draws `nominal_uw` at the nominal clock, at another one.
pub(super) fn of_nominal(nominal_uw: u64, khz: u64, lowest_khz: u64, nominal_khz: u64) -> u64 {
    const ONE: u128 = 1_000_000;
    let [khz, lowest, nominal] = [khz, lowest_khz, nominal_khz].map(u128::from);
    let volt = ONE * 85 / 100 + ONE * 15 / 100 * (khz - lowest) / (nominal - lowest);
    let dynamic = volt * volt * khz / nominal;
    let leakage = volt * volt * volt / ONE;
    let share = (dynamic * 70 + leakage * 30) / 100;
    (u128::from(nominal_uw) * share / (ONE * ONE)) as u64
}

/// The figures of one machine.
pub(super) struct Modelled {
    tdp_uw: u64,
    model: &'static str,
    cores: u64,
    threads: u64,
}

/// None where power is known or this model does not hold.
pub(super) fn modelled(facts: &Facts) -> Option<Modelled> {
    let (_, tdp_uw, model) = PACKAGES.iter().find(|(name, _, _)| *name == facts.name)?;
    let of_first = facts.cpus.iter().filter(|cpu| cpu.package == 0);
    let mut cores: Vec<u32> = of_first.clone().map(|cpu| cpu.core).collect();
    let cpus = cores.len() as u64;
    cores.sort_unstable();
    cores.dedup();
    Some(Modelled {
        tdp_uw: *tdp_uw,
        model,
        cores: cores.len() as u64,
        threads: cpus / cores.len() as u64,
    })
}

impl Modelled {
    /// A core with one busy thread.
    pub(super) fn cpu_uw(&self) -> u64 {
        let full = if self.threads > 1 { CORE_POWER } else { 1024 };
        self.tdp_uw * 75 / 100 / self.cores * 1024 / full
    }

    /// The same at another clock than the nominal one.
    pub(super) fn cpu_uw_at(&self, states: &PStates, khz: u64) -> u64 {
        let (lowest, nominal) = states.limits_khz();
        of_nominal(self.cpu_uw(), khz, lowest, nominal)
    }

    /// The uncore while a CPU is awake.
    pub(super) fn cluster_uw(&self) -> u64 {
        self.tdp_uw / 4
    }

    /// `cpu_power` and `cluster_power` of a clock.
    pub(super) fn sources(&self) -> String {
        let watts = self.tdp_uw / 1_000_000;
        let beside = if self.threads > 1 {
            " * 1024/1229 (a second thread adds a fifth)"
        } else {
            ""
        };
        let core = format!(
            "Modelled, not measured (docs/decisions/037): thermal design power of a {} {watts} W \
             (the maker's, not checked), 75 % of it in {} cores{beside} at the nominal clock; \
             C V^2 f is 70 % of that, leakage 30 % and goes as V^3; V is 0.85 of nominal at the \
             lowest clock",
            self.model, self.cores
        );
        let uncore = format!(
            "Modelled: 25 % of {watts} W for shared cache, ring, memory controller and links"
        );
        let head = |name: &str| format!("\n[frequency_domain.{name}]\n");
        head("cpu_power")
            + &source(&core, Standing::Assumed)
            + &head("cluster_power")
            + &source(&uncore, Standing::Assumed)
    }

    /// `[idle_state.power]`; each thread has its share of the core's.
    pub(super) fn idle(&self, state: &str) -> anyhow::Result<String> {
        let Some((_, core, uncore, why)) = STATES.iter().find(|(name, ..)| *name == state) else {
            anyhow::bail!("no power is modelled for the idle state {state}");
        };
        let cpu_uw = self.cpu_uw() * core / 100 / self.threads;
        let cluster_uw = self.cluster_uw() * uncore / 100;
        let share = if self.threads > 1 {
            ", shared by two threads"
        } else {
            ""
        };
        let words = format!(
            "Modelled: {core} % of a busy core{share}; {uncore} % of the uncore where all CPUs of \
             the package are in it: {why}"
        );
        let figures = format!(
            "\n[idle_state.power]\ncpu_uw = {}\ncluster_uw = {}\n",
            number(cpu_uw),
            number(cluster_uw)
        );
        Ok(figures + &source(&words, Standing::Assumed))
    }
}

#[cfg(test)]
mod tests {
    use super::Modelled;
    use crate::platforms::pstates;

    /// V 0.85, f 1066/2400: 0.7 * 0.7225 * 0.44417 + 0.3 * 0.614125 = 0.40888 of 9.75 W. At 2800
    /// MHz V is 1 + 0.15 * 400 / 1334 = 1.04498: 0.7 * 1.09198 * 1.16667 + 0.3 * 1.14110 = 1.23411.
    #[test]
    fn power_follows_the_clock() {
        let package = Modelled {
            tdp_uw: 130_000_000,
            model: "any",
            cores: 10,
            threads: 1,
        };
        let states = pstates::of("wsm-ex-4s").expect("known");
        let watts = |khz| package.cpu_uw_at(states, khz) as f64 / 1e6;
        assert!((watts(1_066_000) - 9.75 * 0.40888).abs() < 0.001);
        assert_eq!(package.cpu_uw_at(states, 2_400_000), package.cpu_uw());
        assert!((watts(2_800_000) - 9.75 * 1.23411).abs() < 0.001);
    }

    /// 95 W, 8 cores of two threads: 71.25 W / 8 = 8.906 W with both busy, 7.420 W with one
    /// (/ 1229 * 1024), uncore 23.75 W; in C6 2 % by two threads and 30 % of the uncore.
    #[test]
    fn a_package_adds_up_to_its_tdp() {
        let package = Modelled {
            tdp_uw: 95_000_000,
            model: "any",
            cores: 8,
            threads: 2,
        };
        assert_eq!(package.cpu_uw(), 7_420_667);
        assert_eq!(package.cluster_uw(), 23_750_000);
        let full = 8 * package.cpu_uw() * super::CORE_POWER / 1024 + package.cluster_uw();
        assert!((94_990_000..=95_000_000).contains(&full), "{full}");
        let c6 = package.idle("C6").expect("known");
        assert!(c6.contains("cpu_uw = 74_206\n") && c6.contains("cluster_uw = 7_125_000\n"));
        assert!(package.idle("C2").is_err());
    }
}
