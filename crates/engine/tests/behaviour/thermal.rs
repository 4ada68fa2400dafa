//! Heat and the governor that caps for it (docs/guide/model.md), on the board that its users had to
//! cool. Expected temperatures: T_air + P R (1 - exp(-t / RC)) with R 11.111 K/W and RC 10 s.
//!
//! What must stay: temperatures follow the formula above within what a test allows; the governor is
//! tested look by look in crates/policy-sys/tests/all/thermal.rs.
//! Tests by part (in crates/engine/src): mechanics/power.rs:
//! `eight_busy_loops_are_too_much_for_the_a73` (`Drawn`, `power`);
//! crates/platform/src/read/thermal.rs: `eight_busy_loops_are_too_much_for_the_a73` (`zone`);
//! mechanics/thermal.rs: `threads_of_a_core_share_its_power` (powers); mechanics/thermal.rs:
//! `off_by_default_and_harmless_while_cool`.
//! Helpers, and who fails with them: `run`, `run_on` (all tests).

use wakeplace_engine::{Happening, Observer, Options, RunReport};
use wakeplace_platform::{Platform, Smt, Source, Standing};
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

const S: u64 = 1_000_000_000;

/// What the zones did, by cluster: 0 the A53, 1 the A73.
#[derive(Default)]
struct Heat {
    calls: u64,
    most: [i32; 2],
    last: [i32; 2],
    steps: [u32; 2],
    most_steps: [u32; 2],
    first_step_ns: Option<u64>,
    /// Operating point of the A73, the fastest so far, and looks that found one beyond the cap.
    fastest: u16,
    opp: u16,
    over_looks: u64,
}

impl Observer for Heat {
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::Thermal {
                cluster,
                millic,
                steps,
            } => self.thermal(time_ns, cluster, millic, steps),
            Happening::Frequency { domain, opp } => self.frequency(domain, opp),
            _ => {}
        }
    }
}

impl Heat {
    fn thermal(&mut self, time_ns: u64, cluster: u32, millic: i32, steps: u32) {
        let at = cluster as usize;
        self.calls += 1;
        self.most[at] = self.most[at].max(millic);
        self.last[at] = millic;
        // A change of frequency takes 300 us: by the next look of 10 ms it is there.
        if at == 1 && self.steps[1] > 0 && u32::from(self.opp) > 4 - self.steps[1] {
            self.over_looks += 1;
        }
        self.steps[at] = steps;
        self.most_steps[at] = self.most_steps[at].max(steps);
        if steps > 0 && self.first_step_ns.is_none() {
            self.first_step_ns = Some(time_ns);
        }
    }

    fn frequency(&mut self, domain: u32, opp: u16) {
        if domain == 1 {
            self.opp = opp;
            self.fastest = self.fastest.max(opp);
        }
    }
}

fn run(workload: &str, era: &str, on: bool, duration_ns: u64) -> (RunReport, Heat) {
    let platform = Platform::builtin("hikey960").unwrap();
    run_on(&platform, workload, era, on, duration_ns)
}

fn run_on(
    platform: &Platform,
    workload: &str,
    era: &str,
    on: bool,
    duration_ns: u64,
) -> (RunReport, Heat) {
    let spec = Spec::parse(workload, &LoadOptions::default()).unwrap();
    let workload = spec.expand(1, MachineFacts::alike(8)).unwrap();
    let mut options = Options {
        duration_ns,
        ..Options::default()
    };
    options
        .set("model.thermal", if on { "on" } else { "off" })
        .unwrap();
    let policy = Policy::parse(era).unwrap();
    wakeplace_engine::check(platform, &policy, &workload, &options).unwrap();
    let mut heat = Heat::default();
    let report = wakeplace_engine::run(platform, &policy, &workload, &options, &mut heat);
    (report, heat)
}

/// Four A73 draw 4 * 1571911 uW: 69.86 K above the air in the end, 50 K after 12.58 s. From there
/// on a step less each look of 100 ms that finds it warmer, and it never gets far above 75 degrees.
/// Four A53 and their cluster draw at most 1052475 uW: 25 + 11.694 (1 - exp(-3)) = 36.112 after
/// 30 s, no cap.
#[test]
fn eight_busy_loops_are_too_much_for_the_a73() {
    for era in ["linux-4.17", "linux-6.2", "linux-7.3"] {
        let (_, heat) = run("busy-loops:n=8", era, true, 30 * S);
        let first = heat.first_step_ns.expect("capped");
        // The last look before the trip point may have been 1 s earlier.
        assert!((12 * S..14 * S).contains(&first), "{era}: {first}");
        assert!(
            heat.most[1] >= 75_000 && heat.most[1] < 78_000,
            "{era}: {:?}",
            heat.most
        );
        assert!(heat.last[1] > 72_000, "{era}: {:?}", heat.last);
        assert!(heat.most_steps[1] > 0 && heat.most_steps[0] == 0, "{era}");
        let little = heat.last[0];
        assert!((30_000..36_212).contains(&little), "{era}: {little}");
        assert_eq!(heat.over_looks, 0, "{era}: faster than the cap");
    }
}

/// Threads of a core draw what the energy meter has (`core_power`; docs/guide/model.md, Heat). With
/// cores of two threads that draw together what one draws, four busy A73 are two cores: 2 * 1571911
/// uW, 34.931 K above the air in the end, 33.192 K after 30 s. That is no reason for a cap.
#[test]
fn threads_of_a_core_share_its_power() {
    let mut platform = Platform::builtin("hikey960").unwrap();
    for (index, cpu) in (0..).zip(&mut platform.cpus) {
        cpu.core = index / 2;
    }
    platform.smt = Some(Smt {
        core_capacity: vec![1024, 1024],
        core_power: vec![1024, 1024],
        source: Source {
            standing: Standing::Assumed,
            text: "test".to_owned(),
        },
    });
    let (_, heat) = run_on(&platform, "busy-loops:n=8", "linux-4.17", true, 30 * S);
    assert_eq!(heat.most_steps, [0, 0]);
    let big = heat.last[1];
    assert!((57_700..58_300).contains(&big), "{big}");
}

/// Off, nothing is told, and events are those of a run that never heard of heat; on and cool, too,
/// but for the steps themselves: what runs is the same.
#[test]
fn off_by_default_and_harmless_while_cool() {
    let load = "periodic:n=10";
    let (off, silent) = run(load, "linux-7.3", false, 2 * S);
    assert_eq!(silent.calls, 0);
    assert!(!Options::default().thermal);
    let (on, heat) = run(load, "linux-7.3", true, 2 * S);
    assert_eq!((heat.calls, heat.most_steps), (2 * 200, [0, 0]));
    assert_eq!(off.tasks, on.tasks);
    assert_eq!(off.reasons, on.reasons);
}
