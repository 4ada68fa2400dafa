//! Energy-aware wake-ups and the tipping point on HiKey960
//! (docs/rules/energy-numbers.md#energy-statements,
//! docs/rules/energy-numbers.md#overutilized-numbers).
//!
//! What must stay: which CPU is right follows from the page's statements, not from a run;
//! capacities are HiKey960's. The rule itself is tested in
//! crates/policy-sys/tests/all/energy_vectors.rs and energy_7_3.rs.
//! Tests by part (in crates/engine/src): mechanics/told.rs:
//! `the_flag_follows_an_always_running_task` (`tell_overutilized`); kernel/model/interface.rs:
//! `a_new_table_moves_the_work` (`energy_model`); mechanics/hardware.rs:
//! `a_new_table_moves_the_work` (`em_scale`, `em_updates`); check.rs:
//! `new_tables_must_fit_the_machine` (`check_em_scale`); policy/src/energy in a run:
//! `a_small_task_ends_on_a_little_cpu`, `a_big_task_is_not_left_on_a_little_cpu`,
//! `affinity_limits_the_energy_rule`, `below_the_tipping_point_nothing_is_balanced`,
//! `an_artificial_model_places_as_the_one_it_was_made_of`; machine.rs (`perf_domains`):
//! `a_hybrid_is_energy_aware_from_its_drivers_first_kernel_on`.
//! Helpers, and who fails with them: `periodic` (most tests); `is_little`
//! (`a_small_task_ends_on_a_little_cpu`, `a_big_task_is_not_left_on_a_little_cpu`,
//! `below_the_tipping_point_nothing_is_balanced`, `a_new_table_moves_the_work`); `is_energy`
//! (`the_flag_follows_an_always_running_task`); `without`
//! (`a_hybrid_is_energy_aware_from_its_drivers_first_kernel_on`).

use crate::common::checker::check_log;
use crate::common::*;
use wakeplace_engine::Hotplug;
use wakeplace_engine::check;
use wakeplace_engine::observe::PlacementKind;
use wakeplace_platform::{EmCost, EmCosts, Platform, PowerUnit};
use wakeplace_policy_sys::Reason;
use wakeplace_workload::{Event, Loops, TaskScript, Timer, TimerMode, Workload};

const ENERGY: &str = "linux-4.17+energy-aware";

fn is_little(cpu: u32) -> bool {
    cpu < 4
}

/// Tasks of `(work in us on a big CPU, period in ms)`.
fn periodic(shapes: &[(u64, u64)]) -> Workload {
    let timer = |_| Timer {
        name: "unique".into(),
        mode: TimerMode::Absolute,
        start_delay_ns: 0,
    };
    let task = |(index, (work_us, period_ms)): (usize, &(u64, u64))| {
        let events = [
            Event::Run {
                work_ns: work_us * US,
            },
            Event::Timer {
                timer: index as u32,
                period_ns: period_ms * MS,
            },
        ];
        script(Loops::Forever, vec![phase(1, None, &events)])
    };
    workload(
        shapes.iter().enumerate().map(task).collect(),
        shapes.iter().map(timer).collect(),
    )
}

/// Goal: a small task on an idle system lives on a little CPU
/// (docs/rules/energy-numbers.md#energy-statements: must move from big; energy 12 against 36).
/// Method: 5 % of 16 ms; after ten wake-ups its new-task utilisation has decayed.
#[test]
fn a_small_task_ends_on_a_little_cpu() {
    let platform = builtin("hikey960");
    let (_, log) = simulate(
        &platform,
        &policy(ENERGY, &[]),
        &periodic(&[(800, 16)]),
        &all_on(3 * S),
    );
    let late = log.latencies(0);
    assert!(late.len() > 180);
    assert!(late.iter().skip(60).all(|(_, (cpu, _))| is_little(*cpu)));
    let flag = log.overutilized();
    assert!(
        flag.iter().all(|(time, _)| *time < 100 * MS),
        "only the start value, 512 on a CPU of 462, is over the tipping point: {flag:?}"
    );
    assert!(flag.last().is_none_or(|(_, on)| !on));
}

/// Goal: docs/rules/energy-numbers.md#energy-statements: a task of util about 600 must not stay on
/// a little CPU: it does not fit (docs/rules/energy-numbers.md#overutilized-numbers: 370 is too
/// much for 462). Method: it runs 12 ms of big time and sleeps 6 ms, so that it wakes even from a
/// little CPU (there it runs 26.6 ms and its util nears 377 on average, more when it sleeps); on a
/// big one it is 472 to 682. Once it counts as big each wake-up is on a big CPU.
#[test]
fn a_big_task_is_not_left_on_a_little_cpu() {
    let platform = builtin("hikey960");
    let events = [
        Event::Run {
            work_ns: 9_600 * US,
        },
        Event::Sleep {
            duration_ns: 6 * MS,
        },
    ];
    let task = script(Loops::Forever, vec![phase(1, None, &events)]);
    let load = workload(vec![task], vec![]);
    let (_, log) = simulate(&platform, &policy(ENERGY, &[]), &load, &all_on(3 * S));
    let late = log.latencies(0);
    let settled: Vec<_> = late.iter().filter(|(at, _)| *at > 500 * MS).collect();
    assert!(settled.len() > 80);
    assert!(settled.iter().all(|(_, (cpu, _))| !is_little(*cpu)));
}

/// Goal: below the tipping point balancing is silent (docs/rules/energy-aware.md#overutilized: it
/// would undo placement). Method: ten small tasks on eight CPUs; new tasks count as half a CPU
/// each, which may raise the flag until that has decayed (half-life 32 ms: 500 ms leave nothing);
/// from then on the flag stays down and nothing is pulled.
#[test]
fn below_the_tipping_point_nothing_is_balanced() {
    let platform = builtin("hikey960");
    let load = periodic(&[(800, 16); 10]);
    let (_, log) = simulate(&platform, &policy(ENERGY, &[]), &load, &all_on(5 * S));
    let flags = log.overutilized();
    assert!(flags.iter().all(|(at, _)| *at < S / 2), "{flags:?}");
    let moves = log.balance_moves();
    assert!(moves.iter().all(|(at, _)| *at < S / 2), "{moves:?}");
    let little: u64 = (0..10).map(|t| log.ran(t, S, 5 * S, is_little)).sum();
    let all: u64 = (0..10).map(|t| log.ran(t, S, 5 * S, |_| true)).sum();
    assert!(little * 10 >= all * 9, "{little} of {all} on little CPUs");
}

/// Goal: the flag rises with an always-running task
/// (docs/rules/energy-numbers.md#overutilized-numbers: util 820 of 1024) and falls after its end,
/// at a pass of the top level. Bound for the rise: utilisation of 820 takes 45.1 ms from the fork
/// value on a big CPU, 76.8 ms more to leave a little one
/// (docs/rules/capacity-aware.md#time-to-big); a tick sees it. For the fall: a CPU that balances at
/// the top level: busy or idle, at most interval x busy factor (8 CPUs: 2 x 8 x 32 ms, cut to HZ x
/// cpus / 10 = 800 ms), and decay of 820 -> below in 1 ms.
#[test]
fn the_flag_follows_an_always_running_task() {
    let platform = builtin("hikey960");
    let mut load = periodic(&[(800, 16); 3]);
    load.tasks.push(script(
        Loops::Times(1),
        vec![phase(
            1,
            None,
            &[sleep_ms(1000), Event::Runtime { wall_ns: S }],
        )],
    ));
    let (_, log) = simulate(&platform, &policy(ENERGY, &[]), &load, &all_on(5 * S));
    let flag = log.overutilized();
    let end = log.exit(3).expect("it ends");
    let rises = flag.iter().find(|(at, on)| *on && *at > S / 2);
    let on = rises.expect("it rises").0; // new tasks' start values may have raised it before
    assert!(on > S && on < S + 150 * MS, "{flag:?}");
    let (off, last) = *flag.last().expect("changes");
    assert!(
        !last && off > end && off <= end + 820 * MS,
        "{flag:?} {end}"
    );
    // While it was off every wake-up was the energy rule's; while it was on none was.
    let wakes = log.pick(|w| match w {
        What::Placement(p) if p.kind == PlacementKind::Wake => Some(p.reason),
        _ => None,
    });
    for (at, reason) in wakes {
        let before = flag
            .iter()
            .rfind(|(t, _)| *t < at)
            .is_some_and(|(_, on)| *on);
        let after = flag
            .iter()
            .rfind(|(t, _)| *t <= at)
            .is_some_and(|(_, on)| *on);
        if before == after {
            assert_eq!(is_energy(reason), !before, "{reason} at {at}: {flag:?}");
        }
    }
}

fn is_energy(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::EnergyBest
            | Reason::EnergyPrev
            | Reason::EnergyPrevUnfit
            | Reason::EnergyNothingFits
            | Reason::EnergyZeroUtil
    )
}

/// Goal: the energy rule keeps to the allowed CPUs (docs/rules/energy-numbers.md#energy-statements,
/// last).
#[test]
fn affinity_limits_the_energy_rule() {
    let platform = builtin("hikey960");
    let mut load = periodic(&[(800, 16); 4]);
    for task in &mut load.tasks {
        *task = TaskScript {
            cpus: Some(vec![2, 5, 6]),
            ..task.clone()
        };
    }
    let (_, log) = simulate(&platform, &policy(ENERGY, &[]), &load, &all_on(2 * S));
    for task in 0..4 {
        let stretches = log.stretches(task);
        assert!(stretches.iter().all(|s| [2, 5, 6].contains(&s.cpu)));
        assert!(stretches.iter().skip(70).all(|s| s.cpu == 2));
    }
}

/// Goal: a table that changes in the run changes placement, and changes back; also with a CPU that
/// left meanwhile (the core is built anew then). Source: docs/rules/energy-aware.md#em-tables (chip
/// binning, leakage). Method: one small task; a little CPU's work costs at most 5312 a unit, a big
/// one's 6223 (docs/rules/energy-numbers.md#em-numbers). Little powers of 400 % make it at least
/// 8640, so the task belongs on the big CPUs from 2 s to 4 s. Nothing else changes: what the
/// hardware draws is the platform's.
#[test]
fn a_new_table_moves_the_work() {
    let platform = builtin("hikey960");
    for (era, hotplug) in [
        ("linux-7.3", false),
        ("linux-6.12", true),
        ("linux-5.0", false),
    ] {
        let mut options = all_on(6 * S);
        options
            .set("model.em_scale", "0:400%@2s+0:100@4s")
            .expect("a setting");
        if hotplug {
            let off = |at_ns, online| Hotplug {
                at_ns,
                cpu: 3,
                online,
            };
            options.hotplug = vec![off(2500 * MS, false), off(2600 * MS, true)];
        }
        let load = periodic(&[(800, 16)]);
        let (report, log) = simulate(&platform, &policy(era, &[]), &load, &options);
        check_log(&platform, &load, &log, &report, true);
        let little = |from, to| log.ran(0, from, to, is_little);
        let all = |from, to| log.ran(0, from, to, |_| true);
        for (from, to, on_little) in [
            (S, 2 * S, true),
            (3 * S, 4 * S, false),
            (5 * S, 6 * S, true),
        ] {
            let part = (little(from, to), all(from, to));
            assert!(part.1 > 40 * MS);
            let expected = if on_little { part.1 } else { 0 };
            assert_eq!(part.0, expected, "{era} from {from}");
        }
    }
}

/// Goal: a table of nothing, or out of the kernel's range, is refused with what there is.
#[test]
fn new_tables_must_fit_the_machine() {
    let error = |name: &str, value: &str| {
        let mut options = all_on(S);
        options.set("model.em_scale", value).expect("a setting");
        let load = periodic(&[(800, 16)]);
        let error = check(&builtin(name), &policy("linux-7.3", &[]), &load, &options);
        error.unwrap_err().to_string()
    };
    assert!(error("hikey960", "2:50").contains("0 to 1, the domains of `hikey960`"));
    // 1571911 uW x 50 = 78.6 W; the states below 64 W come first: 1161600 x 50 = 58.08 W
    let most = error("hikey960", "1:5000");
    assert!(
        most.contains("78595550 uW of 2362000 kHz; expected 1 uW to 64 W"),
        "{most}"
    );
    assert!(error("apple-m2", "0:50").contains("no model by power"));
}

/// Goal: costs of their own do what powers do. Source: docs/rules/energy-aware.md#em-tables
/// (`get_cost`): the costs are taken as they are, so those of the kernel's own table
/// (docs/rules/energy-numbers.md#em-numbers) without any power make the same decisions since 6.12;
/// kernels before 5.19 know no such model.
#[test]
fn an_artificial_model_places_as_the_one_it_was_made_of() {
    let by_power = builtin("hikey960");
    let load = periodic(&[(800, 16); 12]);
    let mut artificial = by_power.clone();
    artificial.power_unit = PowerUnit::None;
    artificial.board = None;
    let costs = [
        [2160, 2813, 3558, 4392, 5312],
        [6223, 8120, 10_282, 12_695, 15_350],
    ];
    for (domain, costs) in artificial.freq_domains.iter_mut().zip(costs) {
        let states = domain.opps.iter().zip(costs);
        let states = states.map(|(opp, cost)| EmCost {
            level: opp.khz,
            cost,
        });
        domain.em_costs = Some(EmCosts {
            since: (5, 19),
            states: states.collect(),
        });
        for opp in &mut domain.opps {
            (opp.power, opp.cluster_power) = (None, None);
        }
    }
    for state in &mut artificial.idle_states {
        (state.cpu_power, state.cluster_power) = (None, None);
    }
    let run = |platform: &Platform, era: &str| {
        simulate(platform, &policy(era, &[]), &load, &all_on(2 * S)).0
    };
    for era in ["linux-6.12", "linux-7.3"] {
        let (one, other) = (run(&by_power, era), run(&artificial, era));
        assert_eq!(one.event_hash, other.event_hash, "{era}");
        assert!(one.reasons == other.reasons);
    }
    let mut without = artificial.clone();
    for domain in &mut without.freq_domains {
        domain.em_costs = None;
    }
    let (old, bare) = (run(&artificial, "linux-5.0"), run(&without, "linux-5.0"));
    assert_eq!(old.event_hash, bare.event_hash);
    let (new, bare) = (run(&artificial, "linux-7.3"), run(&without, "linux-7.3"));
    assert_ne!(new.event_hash, bare.event_hash);
}

/// Goal: energy-aware placement of a hybrid processor without SMT is a fact of the kernel's driver
/// (docs/decisions/039): linux-7.3 has it, linux-6.12 has not, though the machine is one. Then a
/// task of 10 % goes to an E core: the lowest state costs 3 there and 4 on a P core, per unit of
/// work. With a driver that states the costs since 6.12 that era has it, too.
#[test]
fn a_hybrid_is_energy_aware_from_its_drivers_first_kernel_on() {
    let hybrid = builtin("alder-lake-12900k-nosmt");
    let load = periodic(&[(1600, 16)]);
    let run = |platform: &Platform, era: &str| {
        let (report, log) = simulate(platform, &policy(era, &[]), &load, &all_on(S));
        let on_e = log.ran(0, 0, S, |cpu| cpu >= 8);
        (report.energy_active, on_e)
    };
    let (active, on_e) = run(&hybrid, "linux-7.3");
    assert!(active && on_e > 100 * MS, "{active} {on_e}");
    assert_eq!(
        run(&hybrid, "linux-6.12"),
        run(&without(&hybrid), "linux-6.12")
    );
    assert!(!run(&hybrid, "linux-6.12").0);
    let mut earlier = hybrid.clone();
    for domain in &mut earlier.freq_domains {
        domain.em_costs.as_mut().expect("stated").since = (6, 12);
    }
    assert!(run(&earlier, "linux-6.12").0);
    assert!(!run(&without(&hybrid), "linux-7.3").0, "not by its watts");
}

/// The machine whose kernel knows no model at all.
fn without(platform: &Platform) -> Platform {
    let mut bare = platform.clone();
    bare.has_energy_model = false;
    bare.freq_domains
        .iter_mut()
        .for_each(|domain| domain.em_costs = None);
    bare
}
