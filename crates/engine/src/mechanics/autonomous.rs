//! Hardware that chooses the clock by its own load, with a hint for what it is to prefer
//! (docs/decisions/059): HWP of Intel, CPPC of AMD. Nobody published how; the rule here is assumed.
//!
//! What must stay: all in integers, and hardware looks at times that depend on the run alone. A
//! hint is 0..=255 as EPP has it, 0 for most speed. The rule itself is assumed and may change with
//! docs/decisions/059. Tests by part: `a_load_has_a_clock` (`full_permille`, `look`),
//! `powersave_is_the_hardwares_choice_under_such_a_driver` (`choose_clocks`, `look_soon`,
//! `look_at_load`), the latter also `new` and `is_idle`.
//!
//! Callers: kernel/model/interface.rs (`choose_clocks`), clocks.rs (`look_soon`), sim.rs
//! (`look_at_load`).
//!
//! Tests: below,
//! crates/engine/tests/behaviour/clocks.rs::powersave_is_the_hardwares_choice_under_such_a_driver

use super::Mechanics;
use super::queue::Event;
use crate::ids::CpuId;
use crate::observe::Observer;
use wakeplace_platform::Platform;

/// From one look to the next while something runs: order of magnitude of what Intel said of HWP.
const LOOK_NS: u64 = 1_000_000;

/// How long a demand counts after it is over.
const MEMORY_NS: u64 = 10_000_000;

/// One frequency domain.
#[derive(Clone, Debug, Default)]
struct Watched {
    khz: Vec<u32>,
    /// A look is coming.
    armed: bool,
    looked_ns: u64,
    /// How long each of its CPUs had idled by then.
    idle_ns: Vec<u64>,
    /// The clock at which the load of late would be as full as it is to be, kHz.
    demand_khz: u64,
}

/// All of a machine that is built for it.
#[derive(Debug)]
pub(super) struct Autonomous {
    /// How full a CPU is to be, per mille; None: the kernel chooses clocks now.
    full_permille: Option<u64>,
    domains: Vec<Watched>,
}

/// A hint of 0 leaves half of the clock in reserve, one of 255 nothing.
fn full_permille(preference: u8) -> u64 {
    500 + 500 * u64::from(preference) / 255
}

impl Watched {
    /// The clock that a load asks for: `busy_ns` of `window_ns` at `khz`.
    fn look(&mut self, (busy_ns, window_ns): (u64, u64), khz: u64, full_permille: u64) -> u16 {
        let needs = khz * busy_ns * 1000 / (window_ns * full_permille).max(1);
        let left = MEMORY_NS - window_ns.min(MEMORY_NS);
        self.demand_khz = needs.max(self.demand_khz * left / MEMORY_NS);
        let enough = |khz: &u32| u64::from(*khz) < self.demand_khz;
        let at = self.khz.partition_point(enough);
        at.min(self.khz.len() - 1) as u16
    }
}

impl Autonomous {
    /// None: hardware of this machine does as the kernel says.
    pub(super) fn new(platform: &Platform, preference: Option<u8>) -> Option<Self> {
        platform.cpufreq.as_ref()?;
        let watched = |domain: &wakeplace_platform::FreqDomain| Watched {
            khz: domain.opps.iter().map(|opp| opp.khz).collect(),
            idle_ns: vec![0; domain.cpus.len()],
            ..Watched::default()
        };
        Some(Self {
            full_permille: preference.map(full_permille),
            domains: platform.freq_domains.iter().map(watched).collect(),
        })
    }
}

impl<O: Observer> Mechanics<'_, O> {
    /// From now on hardware chooses clocks, with this hint, or the kernel does (None).
    pub(crate) fn choose_clocks(&mut self, preference: Option<u8>) {
        let Some(own) = &mut self.hardware.clocks.autonomous else {
            return;
        };
        own.full_permille = preference.map(full_permille);
        for cpu in self.machine.cpus() {
            if !self.is_idle(cpu) {
                self.look_soon(cpu);
            }
        }
    }

    /// A CPU works: hardware looks at its load, if it chooses.
    pub(super) fn look_soon(&mut self, cpu: CpuId) {
        let domain = self.machine.domain_of[cpu.index()];
        let Some(own) = &mut self.hardware.clocks.autonomous else {
            return;
        };
        let watched = &mut own.domains[domain as usize];
        if own.full_permille.is_some() && !std::mem::replace(&mut watched.armed, true) {
            let at = self.clock.now + LOOK_NS;
            self.clock.push(at, Event::Look { domain });
        }
    }

    /// A look at a domain's load: the busiest of its CPUs counts.
    pub(crate) fn look_at_load(&mut self, domain: u32) {
        let now = self.clock.now;
        let Some(mut own) = self.hardware.clocks.autonomous.take() else {
            return;
        };
        let watched = &mut own.domains[domain as usize];
        watched.armed = false;
        let machine = self.machine;
        let cpus = &machine.domain_cpus[domain as usize];
        let window_ns = now - watched.looked_ns;
        let mut busiest_ns = 0;
        for (cpu, idle_ns) in cpus.iter().zip(&mut watched.idle_ns) {
            let idled = self.idle_ns(*cpu);
            busiest_ns = busiest_ns.max(window_ns - (idled - *idle_ns).min(window_ns));
            *idle_ns = idled;
        }
        watched.looked_ns = now;
        if let Some(full) = own.full_permille {
            let opp = usize::from(self.hardware.opp[domain as usize]);
            let khz = u64::from(watched.khz[opp]);
            self.hardware.clocks.asked[domain as usize] =
                watched.look((busiest_ns, window_ns), khz, full);
        }
        self.hardware.clocks.autonomous = Some(own);
        self.move_clock(domain);
        if let Some(busy) = cpus.iter().find(|cpu| !self.is_idle(**cpu)) {
            self.look_soon(*busy);
        }
    }

    /// Does the CPU neither run nor do kernel work?
    fn is_idle(&self, cpu: CpuId) -> bool {
        self.cpus[cpu].mode == super::Mode::Idle
    }
}

#[cfg(test)]
mod tests {
    use super::{Watched, full_permille};

    /// By hand: a hint of 128 fills a CPU to 750 per mille (500 + 500 * 128 / 255 = 750.98), one of
    /// 0 to half, one of 255 whole. A CPU busy all the time at 800 MHz needs 800 / 0.75 = 1066 MHz;
    /// then 1500 / 0.75 = 2000. 100 us of 1 ms at 2000 MHz need 266 MHz, but of what was needed
    /// 9/10 still count, 1800; ten ms later nothing does.
    #[test]
    fn a_load_has_a_clock() {
        assert_eq!([0, 128, 255].map(full_permille), [500, 750, 1000]);
        let mut watched = Watched {
            khz: vec![800_000, 1_100_000, 1_500_000, 2_000_000],
            ..Watched::default()
        };
        let mut look = |busy_us: u64, of_us: u64, mhz: u64| {
            let opp = watched.look((busy_us * 1000, of_us * 1000), mhz * 1000, 750);
            watched.khz[usize::from(opp)] / 1000
        };
        assert_eq!(look(1000, 1000, 800), 1100);
        assert_eq!(look(1000, 1000, 1500), 2000);
        assert_eq!(look(100, 1000, 2000), 2000, "1800 of late");
        assert_eq!(look(100, 10_000, 2000), 800);
        assert_eq!(look(1000, 1000, 2000), 2000, "no more than there is");
    }
}
