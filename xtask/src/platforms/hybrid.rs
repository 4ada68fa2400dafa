//! Power of cores of hybrid Intel processors: nobody published it, so it is modelled as that of
//! servers is (`modelled`; docs/decisions/037), for two kinds of cores. Every figure is assumed.
//!
//! ```text
//! package at its base power = uncore + all threads busy, each kind of core at its base clock
//! uncore     25 % of it; not in these figures, since the file has no place for what all CPUs share
//! cores      the rest: four E cores draw as much as a P core with two busy threads
//! clocks, threads, idle states: as in `modelled`; what is deeper than C6 concerns the uncore
//! ```

use std::fmt::Write;

use super::facts::{Facts, Form};
use super::modelled::{C1E_PCT, C6_PCT, CORE_POWER, of_nominal};
use super::text::{Standing, cpu_list, mhz, number, source};

/// A processor, with the maker's figures, not checked.
struct Known {
    machine: &'static str,
    model: &'static str,
    base_uw: u64,
    p_base_khz: u64,
    e_base_khz: u64,
}

const KNOWN: &[Known] = &[Known {
    machine: "alder-lake-12900k",
    model: "Core i9-12900K",
    base_uw: 125_000_000,
    p_base_khz: 3_200_000,
    e_base_khz: 2_400_000,
}];

/// E cores that draw as much as one P core.
const E_PER_P: u64 = 4;
/// The lowest clock of both kinds: its voltage is 0.85 of that at the base clock.
const LOWEST_KHZ: u64 = 800_000;

/// The figures of one machine.
pub(super) struct Hybrid {
    known: &'static Known,
    p_cores: u64,
    e_cores: u64,
}

/// None where this model does not hold. With SMT off a kernel has an energy model without power,
/// which is another thing than this one.
pub(super) fn hybrid(facts: &Facts) -> Option<Hybrid> {
    let known = KNOWN.iter().find(|known| known.machine == facts.name)?;
    let cores = |kind: &str| {
        let first = |cpu: &&super::facts::Cpu| cpu.kind == kind && cpu.thread == 0;
        facts.cpus.iter().filter(first).count() as u64
    };
    (facts.form == Form::Whole).then(|| Hybrid {
        known,
        p_cores: cores("P"),
        e_cores: cores("E"),
    })
}

impl Hybrid {
    /// A core with one busy thread at its base clock.
    fn base_uw(&self, kind: &str) -> u64 {
        let cores_uw = self.known.base_uw * 75 / 100;
        let e_uw = cores_uw / (self.p_cores * E_PER_P + self.e_cores);
        match kind {
            "P" => e_uw * E_PER_P * 1024 / CORE_POWER,
            _ => e_uw,
        }
    }

    fn base_khz(&self, kind: &str) -> u64 {
        match kind {
            "P" => self.known.p_base_khz,
            _ => self.known.e_base_khz,
        }
    }

    /// The same at a clock.
    pub(super) fn cpu_uw(&self, kind: &str, khz: u64) -> u64 {
        of_nominal(self.base_uw(kind), khz, LOWEST_KHZ, self.base_khz(kind))
    }

    /// `cpu_power` of a kind's domain.
    pub(super) fn source(&self, kind: &str) -> String {
        let watts = self.known.base_uw / 1_000_000;
        let thread = match kind {
            "P" => "; one busy thread 1024/1229 of that with two",
            _ => "",
        };
        let words = format!(
            "Modelled, not measured (docs/decisions/037): base power of a {} {watts} W (the \
             maker's, not checked), 75 % of it in {} P and {} E cores, {E_PER_P} E cores as much \
             as a P core{thread}, at {} MHz; C V^2 f is 70 % of that, leakage 30 % and goes as \
             V^3; V is 0.85 of that at {} MHz. The uncore is not in it",
            self.known.model,
            self.p_cores,
            self.e_cores,
            mhz(self.base_khz(kind)),
            mhz(LOWEST_KHZ)
        );
        "\n[frequency_domain.cpu_power]\n".to_owned() + &source(&words, Standing::Assumed)
    }

    /// The kinds with their CPUs, as files name them.
    pub(super) fn kinds(&self, facts: &Facts) -> [(&'static str, String); 2] {
        ["P", "E"].map(|kind| {
            let of = facts.cpus.iter().filter(|cpu| cpu.kind == kind);
            (kind, cpu_list(&of.map(|cpu| cpu.id).collect::<Vec<_>>()))
        })
    }

    /// `[idle_state.power]`; each thread of a P core has its share.
    pub(super) fn idle(&self, kind: &str, state: &str) -> anyhow::Result<String> {
        let (percent, why) = match state {
            "C1E" => (
                C1E_PCT,
                "leakage at 0.85 of the voltage, by its third power",
            ),
            "C6" | "C8" | "C10" => (C6_PCT, "power switched off"),
            state => anyhow::bail!("no power is modelled for the idle state {state}"),
        };
        let (threads, share) = match kind {
            "P" => (2, ", shared by two threads"),
            _ => (1, ""),
        };
        let mut out = "\n[idle_state.power]\n".to_owned();
        let uw = self.base_uw(kind) * percent / 100 / threads;
        let _ = writeln!(out, "cpu_uw = {}", number(uw));
        let words = format!("Modelled: {percent} % of a busy {kind} core{share}: {why}");
        Ok(out + &source(&words, Standing::Assumed))
    }
}

#[cfg(test)]
mod tests {
    use super::{Hybrid, KNOWN};

    /// 93.75 W by 8 P and 8 E cores: 40 parts of 2.344 W, a P core four of them, 9.375 W with both
    /// threads and 7.811 W (* 1024/1229) with one. At 800 MHz: V 0.85, f 1/4: 0.7 * 0.7225 * 0.25 +
    /// 0.3 * 0.614125 = 0.31068.
    #[test]
    fn cores_share_three_quarters_of_the_package() {
        let power = Hybrid {
            known: &KNOWN[0],
            p_cores: 8,
            e_cores: 8,
        };
        assert_eq!(power.cpu_uw("E", 2_400_000), 2_343_750);
        assert_eq!(power.cpu_uw("P", 3_200_000), 7_811_228);
        let lowest = power.cpu_uw("P", 800_000) as f64;
        assert!((lowest - 7_811_228.0 * 0.31068).abs() < 100.0, "{lowest}");
        let c6 = power.idle("P", "C6").expect("known");
        assert!(c6.contains("cpu_uw = 78_112\n"), "{c6}");
        assert!(power.idle("P", "C2").is_err());
    }
}
