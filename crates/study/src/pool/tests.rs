//! One run as the pool makes it (docs/guide/model.md, "Energy").
//!
//! What must stay: the sum over the trace is exact, to the last unit.
//! Tests by part (in crates/study/src): pool.rs: `energy_for_work_is_the_sum_over_the_trace`
//! (`execute_watched`, `measured`).
//! Helpers, and who fails with them: `work`, `at_frequencies`, `load`, `run`
//! (`energy_for_work_is_the_sum_over_the_trace`).

use super::{Finished, Run};
use wakeplace_engine::observe::CpuPower;
use wakeplace_engine::{Happening, Observer, Options};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{LoadOptions, MachineFacts, Spec, Workload};

/// Writes down what the hardware does, with the time.
#[derive(Default)]
struct Trace {
    busy: Vec<(u64, u32, bool)>,
    opps: Vec<(u64, u32, u16)>,
    end_ns: u64,
}

impl Observer for Trace {
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::CpuPower { cpu, power } => self.cpu_power(time_ns, cpu, power),
            Happening::Frequency { domain, opp } => self.frequency(time_ns, domain, opp),
            Happening::Finish => self.finish(time_ns),
            _ => {}
        }
    }
}

impl Trace {
    fn cpu_power(&mut self, time_ns: u64, cpu: u32, power: CpuPower) {
        self.busy.push((time_ns, cpu, power == CpuPower::Busy));
    }

    fn frequency(&mut self, time_ns: u64, domain: u32, opp: u16) {
        self.opps.push((time_ns, domain, opp));
    }

    fn finish(&mut self, time_ns: u64) {
        self.end_ns = time_ns;
    }
}

impl Trace {
    /// uW x ns, by the stretches in which a CPU was busy and its clock stood still.
    fn work(&self, platform: &Platform) -> u128 {
        let (mut sum, cpus) = (0, platform.cpus.len());
        for cpu in (0..).take(cpus) {
            let domain = platform.freq_domain_of(wakeplace_platform::CpuId(cpu));
            let opps = &platform.freq_domains[domain].opps;
            let own = |(at, of, on): &(u64, u32, bool)| (*of == cpu).then_some((*at, *on));
            let busy: Vec<(u64, bool)> = self.busy.iter().filter_map(own).collect();
            let ends = busy.iter().skip(1).map(|(at, _)| *at).chain([self.end_ns]);
            for ((from, on), to) in busy.iter().zip(ends) {
                if *on {
                    sum += self.at_frequencies(domain as u32, *from..to, |opp| {
                        opps[usize::from(opp)].work_power.expect("it has one")
                    });
                }
            }
        }
        sum
    }

    fn at_frequencies(
        &self,
        domain: u32,
        stretch: std::ops::Range<u64>,
        power: impl Fn(u16) -> u64,
    ) -> u128 {
        let own = |(at, of, opp): &(u64, u32, u16)| (*of == domain).then_some((*at, *opp));
        let set: Vec<(u64, u16)> = self.opps.iter().filter_map(own).collect();
        let ends = set.iter().skip(1).map(|(at, _)| *at).chain([self.end_ns]);
        let part = |((from, opp), to): (&(u64, u16), u64)| {
            let time = to.min(stretch.end).saturating_sub(stretch.start.max(*from));
            u128::from(time) * u128::from(power(*opp))
        };
        set.iter().zip(ends).map(part).sum()
    }
}

fn load(text: &str) -> Workload {
    let spec = Spec::parse(text, &LoadOptions::default()).unwrap();
    spec.expand(1, MachineFacts::alike(8)).unwrap()
}

fn run(platform: &Platform, on: bool, trace: &mut Trace) -> Finished {
    let mut options = Options {
        duration_ns: 1_000_000_000,
        ..Options::default()
    };
    options
        .set("model.work_power", if on { "on" } else { "off" })
        .unwrap();
    let run = Run {
        platform,
        policy: &Policy::parse("linux-4.17+energy-aware").unwrap(),
        scheduler: None,
        workload: &load("periodic:n=20,period=16ms,duty=5%"),
        options: &options,
        oracle: None,
        timeline: None,
        label: String::new(),
        values_only: false,
    };
    run.execute_watched(Some(trace)).unwrap()
}

/// Goal: what the board draws for work is, to the last unit, the sum over the stretches in which a
/// CPU was busy of its operating point's `work_uw`; nothing else changes, and it can be taken away.
/// Method: the sum is made of the announcements alone, without the meter's books.
#[test]
fn energy_for_work_is_the_sum_over_the_trace() {
    let platform = Platform::builtin("hikey960").unwrap();
    let mut trace = Trace::default();
    let with = run(&platform, true, &mut trace);
    let sum = trace.work(&platform);
    assert!(
        sum > 0 && trace.opps.len() > 20,
        "{} changes",
        trace.opps.len()
    );
    let energy = with.metrics.energy.as_ref().unwrap();
    assert_eq!(energy.work_energy, Some(sum));
    let board = platform.board.as_ref().unwrap().power_uw;
    let all = energy.cpu_energy + sum + u128::from(board) * u128::from(trace.end_ns);
    let joules = with.metrics.values.get("energy_j").unwrap();
    assert!((joules - all as f64 / 1e15).abs() < 1e-9, "{joules}");

    let without = run(&platform, false, &mut Trace::default());
    assert_eq!(without.report, with.report, "the run is the same");
    let off = without.metrics.energy.as_ref().unwrap();
    assert_eq!((off.work_energy, off.cpu_energy), (None, energy.cpu_energy));
    assert_eq!(without.metrics.values.get("work_energy_j"), None);
    let mut bare = platform.clone();
    for domain in &mut bare.freq_domains {
        domain.opps.iter_mut().for_each(|opp| opp.work_power = None);
    }
    let bare = run(&bare, true, &mut Trace::default());
    assert_eq!(bare, without, "as a platform that states nothing");
}
