//! What a run cost within its window: the energy of CPUs and clusters by the platform's power
//! model, and how long tasks waited from their wake-up until they ran. Guests' traces and simulated
//! runs are measured by the same meter (docs/guide/lab.md, "What a run costs"). It reads the trace
//! alone; what the trace does not say has no figure.
//!
//! What must stay: energies J, waits us, within the window alone; the meter is crates/metrics'.
//! Free: how the trace is walked, and words of remarks that no test has.
//!
//! Tests by part: `a_trace_costs_what_the_platform_file_says` (`of_trace`, `Guest::of`, `begin`,
//! `idle`, `opp`, `WindowMeter`), `what_is_not_said_has_no_figure` (`of_trace`),
//! `frequencies_outlive_a_trace` (`opp`), `percentiles_are_waits_that_were_met` (`Cost::new`,
//! `wait_us`), crates/price/src/tests.rs::`a_job_is_priced_in_its_window` (`cpu_energy_j`,
//! `before`, `happened`). `cpu` of a CPU that was cut away has no test.
//!
//! Callers: crates/price/src/lib.rs, crates/fidelity (`of_trace`, `WindowMeter`).
//!
//! Tests: below, crates/price/src/tests.rs

use std::ops::Range;
use wakeplace_engine::observe::CpuPower;
use wakeplace_engine::{Happening, Observer};
use wakeplace_metrics::{EnergyMeter, PlatformPower, scaled};
use wakeplace_platform::{CpuId, Platform, PowerUnit};
use wakeplace_trace::read::Line;

/// Of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// CPUs and clusters, J. None: the platform has no powers in watts, or the trace does not say
    /// at which frequency a CPU was.
    pub cpu_energy_j: Option<f64>,
    /// From each wake-up in the window to the run after it, ns, ascending.
    waits_ns: Vec<u64>,
}

impl Cost {
    /// A cost of an energy and of waits in any order.
    #[must_use]
    pub fn new(cpu_energy_j: Option<f64>, mut waits_ns: Vec<u64>) -> Self {
        waits_ns.sort_unstable();
        Self {
            cpu_energy_j,
            waits_ns,
        }
    }

    /// The wait that `percent` of all wake-ups did not exceed, us; None without wake-ups.
    #[must_use]
    pub fn wait_us(&self, percent: usize) -> Option<f64> {
        let rank = (self.waits_ns.len() * percent).div_ceil(100);
        let wait_ns = self.waits_ns.get(rank.checked_sub(1)?)?;
        Some(*wait_ns as f64 / 1e3)
    }
}

/// Reads the energy meter at both ends of the window.
pub struct WindowMeter {
    meter: EnergyMeter<PlatformPower>,
    ends_ns: [u64; 2],
    read: [Option<u128>; 2],
}

impl WindowMeter {
    /// None where the platform has no powers in watts.
    #[must_use]
    pub fn new(platform: &Platform, window_ns: &Range<u64>) -> Option<Self> {
        let meter = EnergyMeter::of_platform(platform)?;
        (meter.unit() == PowerUnit::Microwatt).then_some(Self {
            meter,
            ends_ns: [window_ns.start, window_ns.end],
            read: [None; 2],
        })
    }

    /// Reads what is past, before something changes at this time.
    fn before(&mut self, time_ns: u64) {
        for (end_ns, read) in self.ends_ns.iter().zip(&mut self.read) {
            if read.is_none() && *end_ns <= time_ns {
                *read = Some(self.meter.clusters(*end_ns).sum());
            }
        }
    }

    /// The energy of CPUs in the window, J, once it is over.
    #[must_use]
    pub fn cpu_energy_j(&self) -> Option<f64> {
        let [begin, end] = self.read;
        scaled(self.meter.unit(), end? - begin?)
    }
}

impl Observer for WindowMeter {
    /// Passes on to the meter all but the end, which a trace does not have.
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        self.before(time_ns);
        // What is read lies in the run.
        if *what != Happening::Finish {
            self.meter.happened(time_ns, what);
        }
    }
}

/// A guest whose trace is priced.
pub struct Guest<'a> {
    /// What it models.
    pub platform: &'a Platform,
    /// The platform's number of each of its CPUs.
    pub cpus: Vec<u32>,
    /// The platform's CPUs that are busy as its trace begins; it says no more of them until they
    /// switch.
    pub busy: Vec<u32>,
}

impl<'a> Guest<'a> {
    /// A guest whose CPUs have the platform's numbers and are idle at the beginning.
    #[must_use]
    pub fn of(platform: &'a Platform) -> Self {
        Self {
            platform,
            cpus: (0..).zip(&platform.cpus).map(|(cpu, _)| cpu).collect(),
            busy: Vec::new(),
        }
    }

    /// The platform's number of a guest's CPU; None: it was cut away.
    fn cpu(&self, of_guest: u32) -> Option<u32> {
        self.cpus.get(of_guest as usize).copied()
    }
}

/// Energy of a guest's window by its trace: a CPU is busy while it runs anything but its idle task,
/// and else in its first idle state, since the guest has no cpuidle driver. None: see [`Cost`].
/// `opps`: the operating point of each domain, as the trace of what ran before in this guest left
/// it; as this one leaves it afterwards.
pub fn of_trace(
    text: &str,
    guest: &Guest<'_>,
    window_ns: &Range<u64>,
    opps: &mut [Option<u16>],
) -> Option<f64> {
    let platform = guest.platform;
    let mut meter = WindowMeter::new(platform, window_ns)?;
    begin(&mut meter, guest, opps)?;
    let mut known: Vec<bool> = opps.iter().map(Option::is_some).collect();
    for line in text.lines().filter_map(Line::parse) {
        match line.name {
            "sched_switch" if line.time_ns < window_ns.end => {
                let cpu = guest.cpu(line.context.cpu)?;
                let power = match line.number::<u32>("next_pid")? {
                    0 => idle(platform, cpu)?,
                    _ => CpuPower::Busy,
                };
                meter.happened(line.time_ns, &Happening::CpuPower { cpu, power });
            }
            "cpu_frequency" => {
                let khz = line.number::<u64>("state")?;
                let cpu = CpuId(guest.cpu(line.number("cpu_id")?)?);
                let domain = platform.freq_domain_of(cpu);
                let opp = opp(platform, domain, khz)?;
                opps[domain] = Some(opp);
                known[domain] |= line.time_ns < window_ns.start;
                if line.time_ns < window_ns.end {
                    meter.happened(
                        line.time_ns,
                        &Happening::Frequency {
                            domain: domain as u32,
                            opp,
                        },
                    );
                }
            }
            _ => {}
        }
    }
    meter.happened(window_ns.end, &Happening::Finish);
    meter
        .cpu_energy_j()
        .filter(|_| known.iter().all(|known| *known))
}

/// The operating point of a domain at a frequency. None: the platform has no such frequency.
#[must_use]
pub fn opp(platform: &Platform, domain: usize, khz: u64) -> Option<u16> {
    let mut all = platform.freq_domains.get(domain)?.opps.iter();
    let at = all.position(|opp| u64::from(opp.khz) == khz)?;
    u16::try_from(at).ok()
}

/// A CPU in its first idle state. None: there is no such CPU or state.
fn idle(platform: &Platform, cpu: u32) -> Option<CpuPower> {
    platform.cpus.get(cpu as usize)?;
    let mut states = platform.idle_states_of(CpuId(cpu));
    // Polling is the driver's, and the guest has none.
    let (state, _) = states.find(|(_, state)| !state.polling)?;
    let state = u16::try_from(state).ok()?;
    Some(CpuPower::Idle { state })
}

/// Begins the trace: all CPUs are idle but those that are known to be busy, and at their lowest
/// frequency where it is not known, until the trace says otherwise.
fn begin(meter: &mut WindowMeter, guest: &Guest<'_>, opps: &[Option<u16>]) -> Option<()> {
    for (cpu, _) in (0..).zip(&guest.platform.cpus) {
        let power = match guest.busy.contains(&cpu) {
            true => CpuPower::Busy,
            false => idle(guest.platform, cpu)?,
        };
        meter.happened(0, &Happening::CpuPower { cpu, power });
    }
    for (cluster, _) in (0..).zip(&guest.platform.clusters) {
        meter.happened(
            0,
            &Happening::ClusterPower {
                cluster,
                state: None,
            },
        );
    }
    for (domain, opp) in (0..).zip(opps) {
        meter.happened(
            0,
            &Happening::Frequency {
                domain,
                opp: opp.unwrap_or(0),
            },
        );
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// hikey960, CPU 4 of a domain of four big CPUs: runs from 2 s to 3 s at 903 MHz, then idles.
    const TRACE: &str = "\
 x-1 [000] .... 0.500000: cpu_frequency: state=533000 cpu_id=0
 x-1 [004] .... 0.500000: cpu_frequency: state=903000 cpu_id=4
 <idle>-0 [004] d..2. 2.000000: sched_switch: prev_comm=swapper/4 prev_pid=0 ==> next_comm=t \
next_pid=77 next_prio=120
 t-77 [004] d..2. 3.000000: sched_switch: prev_comm=t prev_pid=77 ==> next_comm=swapper/4 \
next_pid=0 next_prio=120
";

    fn hikey960() -> Platform {
        Platform::load("hikey960").expect("built in")
    }

    /// Goal: a second at an operating point costs what the platform file says. Method: by hand, of
    /// platforms/hikey960.toml: an A73 draws 243,358 uW at 903 MHz and 21,728 in WFI, their cluster
    /// nothing; an A53 5,223 in WFI, their cluster 12,000 at 533 MHz.
    #[test]
    fn a_trace_costs_what_the_platform_file_says() {
        let platform = hikey960();
        const S: u64 = 1_000_000_000;
        let of = |window: Range<u64>| {
            of_trace(TRACE, &Guest::of(&platform), &window, &mut [None; 2]).expect("known")
        };
        let idle_uw = 4 * 5_223 + 12_000 + 4 * 21_728;
        let near = |joules: f64, uw: i32| (joules - f64::from(uw) / 1e6).abs() < 1e-9;
        let (idle, busy) = (of(S..2 * S), of(2 * S..3 * S));
        assert!(near(idle, idle_uw), "{idle} {idle_uw}");
        let busy_uw = idle_uw - 21_728 + 243_358;
        assert!(near(busy, busy_uw), "{busy} {busy_uw}");
        let half = of(S / 2 * 5..S / 2 * 7);
        assert!(near(half, (idle_uw + busy_uw) / 2), "{half}");
    }

    /// Goal: what a trace does not say is no figure, and no panic.
    #[test]
    fn what_is_not_said_has_no_figure() {
        let platform = hikey960();
        let window = 2_000_000_000..3_000_000_000;
        let without = TRACE.replace("cpu_id=4", "cpu_id=1");
        for text in [
            without.as_str(),
            &TRACE.replace("903000", "903001"),
            &TRACE.replace("[004] d", "[044] d"),
            &TRACE.replace("cpu_id=4", "cpu_id=44"),
            "",
        ] {
            assert_eq!(
                of_trace(text, &Guest::of(&platform), &window, &mut [None; 2]),
                None,
                "{text}"
            );
        }
    }

    /// Goal: a domain that changes no frequency is where the trace before left it.
    #[test]
    fn frequencies_outlive_a_trace() {
        let platform = hikey960();
        let window = 2_000_000_000..3_000_000_000;
        let mut opps = [None; 2];
        let first = of_trace(TRACE, &Guest::of(&platform), &window, &mut opps);
        assert_eq!(opps, [Some(0), Some(0)]);
        let runs: String = TRACE
            .lines()
            .skip(2)
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(
            of_trace(&runs, &Guest::of(&platform), &window, &mut opps),
            first
        );
        assert_eq!(
            of_trace(&runs, &Guest::of(&platform), &window, &mut [Some(0), None]),
            None
        );
    }

    #[test]
    fn percentiles_are_waits_that_were_met() {
        let cost = Cost::new(None, (1..=200).rev().map(|us| us * 1000).collect());
        assert_eq!(
            (cost.wait_us(50), cost.wait_us(95)),
            (Some(100.0), Some(190.0))
        );
        assert_eq!(cost.wait_us(99), Some(198.0));
        assert_eq!(Cost::default().wait_us(50), None);
        assert_eq!(Cost::new(None, vec![7000]).wait_us(1), Some(7.0));
    }
}
