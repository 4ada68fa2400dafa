//! Idle states, their latencies, clusters, and the tick of idle CPUs.
//! Rules: docs/guide/model.md, "Idle"; docs/decisions/006; docs/rules/cpuidle.md;
//! docs/rules/live-queue.md#vq-timer.
//!
//! What must stay: latencies are those of the boards' device trees (named in the test); bounds are
//! in ticks.
//! Tests by part (in crates/engine/src): mechanics/run.rs: `exit_latency_shows_in_wake_latency`
//! (`wake_latency_ns`); mechanics/cpu.rs: `only_the_last_pays_for_the_cluster` (`ClusterState`),
//! `no_driver_does_not_poll` (`idle`); kernel/model/cpu.rs:
//! `a_wakeup_during_entry_waits_for_its_end` (`next_timer_ns`), `stopped_ticks_stay_silent`
//! (`tick_stopped`); kernel/model/live.rs: `the_live_timer_rests_between_short_runs` (rest);
//! machine.rs: `the_switch_leaves_the_first_state` (`idle_states`); kernel/model/cpuidle/mod.rs:
//! `without_cpuidle_the_tick_stops_after_one` (`None`), `teo_is_of_the_era` (`Kind`);
//! kernel/model/idle.rs: `other_interrupts_neither_stop_nor_start_it` (tick);
//! kernel/model/event.rs: `a_polling_cpu_chooses_again` (`PollEnd`); mechanics/idle.rs: the tests
//! `a_cluster_*`; kernel/model/cpuidle: `without_a_tick_a_wrong_prediction_is_dropped`,
//! `no_governor_foresees_a_device`; kernel/model/live.rs: `the_live_timer_leaves_idle_cpus_alone`,
//! `an_empty_cache_opens_in_its_turn`; the core's slow path: `a_fork_takes_the_cheapest_way_out`.
//! Helpers, and who fails with them: `slow_beat` (most tests); `state_before`
//! (`exit_latency_shows_in_wake_latency`, `a_cluster_goes_no_deeper_than_its_shallowest_cpu`,
//! `without_a_tick_a_wrong_prediction_is_dropped`, `a_fork_takes_the_cheapest_way_out`);
//! `idle_ticks` (`without_cpuidle_the_tick_stops_after_one`,
//! `other_interrupts_neither_stop_nor_start_it`).

use crate::common::*;
use wakeplace_engine::observe::{CpuPower, KernelWork};
use wakeplace_engine::{CpuIdle, Happening, Hotplug, Observer, Options};
use wakeplace_platform::{IdleScope, Platform};
use wakeplace_workload::{Event, Loops, TaskScript, Timer, TimerMode, Workload};

/// One task of 1 ms each 100 ms on the given CPU.
fn slow_beat(cpu: u32) -> Workload {
    let timer = Timer {
        name: "unique".into(),
        mode: TimerMode::Absolute,
        start_delay_ns: 0,
    };
    let wait = Event::Timer {
        timer: 0,
        period_ns: 100 * MS,
    };
    let task = TaskScript {
        cpus: Some(vec![cpu]),
        ..script(Loops::Forever, vec![phase(1, None, &[run_ms(1), wait])])
    };
    workload(vec![task], vec![timer])
}

/// The state a CPU was last announced in before `at`.
fn state_before(platform: &Platform, log: &Log, cpu: u32, at: u64) -> Option<usize> {
    let last = log.power(cpu).into_iter().rfind(|(t, _)| *t < at);
    match last?.1 {
        CpuPower::Idle { state } => {
            assert!(usize::from(state) < platform.idle_states.len());
            Some(usize::from(state))
        }
        CpuPower::Busy | CpuPower::Transition { .. } => None,
    }
}

/// Goal: the exit latency of the state shows in the wake-up latency. Method: HiKey960, period
/// 100 ms on one CPU: each first run after a wake-up is late by the exit latency of the state the
/// CPU was in, and by that alone: costs are part of the run. Source: hi3660.dtsi: cluster sleep
/// 1600 and 2900 us, once all of the cluster are in it.
#[test]
fn exit_latency_shows_in_wake_latency() {
    let platform = builtin("hikey960");
    for (cpu, cluster, cluster_exit) in [(1, 0, 1600 * US), (6, 1, 2900 * US)] {
        let (_, log) = simulate(&platform, &performance(), &slow_beat(cpu), &all_on(5 * S));
        let late = log.latencies(0);
        assert!(late.len() >= 48);
        let mut deep = 0;
        for (at, (on, ns)) in late {
            assert_eq!(on, cpu);
            let state = state_before(&platform, &log, cpu, at - ns).expect("it slept");
            let down = log
                .cluster(cluster)
                .into_iter()
                .rfind(|(t, _)| *t < at - ns);
            let is_down = down.is_some_and(|(_, state)| state.is_some());
            let expected = match platform.idle_states[state].scope {
                IdleScope::Cluster if !is_down => continue,
                _ => platform.idle_states[state].exit_latency_ns,
            };
            assert_eq!(ns, expected, "at {at} from state {state}");
            deep += u32::from(is_down && ns == cluster_exit);
        }
        assert!(deep >= 30, "the cluster went down only {deep} times");
    }
}

/// Goal: a cluster whose other CPUs are awake stays up, and its CPU leaves the state like its own
/// deepest one (hi3660.dtsi: A53 650 us). Method: hogs on two others of the cluster.
#[test]
fn a_cluster_stays_up_for_its_busy_cpus() {
    let platform = builtin("hikey960");
    let mut load = slow_beat(1);
    load.tasks.push(hog(Some(&[2])));
    let (report, log) = simulate(&platform, &performance(), &load, &all_on(3 * S));
    let downs = log.cluster(0).into_iter().filter(|(_, s)| s.is_some());
    assert_eq!(downs.filter(|(at, _)| *at > 50 * MS).count(), 0);
    let late = log.latencies(0);
    let late: Vec<_> = late.iter().skip(3).map(|(_, (_, ns))| *ns).collect();
    assert!(
        late.iter().all(|ns| [US, 650 * US].contains(ns)),
        "{late:?}"
    );
    assert!(late.contains(&(650 * US)));
    assert!(report.tasks[1].run_ns > 2_900 * MS);
}

/// Goal: a cluster goes no deeper than the CPU that asks for least, whoever comes last, and is left
/// as the state that it is in. Source: docs/guide/model.md, Idle; docs/decisions/006. Method: CPU 0
/// beats every 10 ms, for which only the first of two cluster states pays, and CPU 1 every 100 ms,
/// for which the second does, in the middle of a sleep of CPU 0, so that CPU 1 comes last then.
#[test]
fn a_cluster_goes_no_deeper_than_its_shallowest_cpu() {
    let state = |entry, exit, residency| Idle {
        cluster: true,
        entry,
        exit,
        residency,
    };
    let board = Board {
        idle: vec![state(100, 300, 1_000), state(200, 900, 20_000)],
        ..Board::symmetric(2)
    };
    let platform = board.platform();
    let mut load = slow_beat(1);
    load.timers[0].start_delay_ns = 5 * MS;
    load.timers.push(Timer {
        start_delay_ns: 0,
        ..load.timers[0].clone()
    });
    let wait = Event::Timer {
        timer: 1,
        period_ns: 10 * MS,
    };
    load.tasks.push(TaskScript {
        cpus: Some(vec![0]),
        ..script(Loops::Forever, vec![phase(1, None, &[run_ms(1), wait])])
    });
    let options = Options {
        idle_states: true,
        ..all_off(3 * S)
    };
    let (_, log) = simulate(&platform, &performance(), &load, &options);
    let downs = log.cluster(0).into_iter();
    let downs: Vec<_> = downs.filter(|(at, s)| *at > S && s.is_some()).collect();
    assert!(downs.len() >= 200, "{}", downs.len());
    assert!(downs.iter().all(|(_, s)| *s == Some(1)), "{downs:?}");
    // What CPU 1 asked for is the second one all the same.
    let asked = |(at, _): &&(u64, Option<u16>)| state_before(&platform, &log, 1, at + 1) == Some(2);
    assert!(downs.iter().filter(asked).count() >= 150);
    let late = log.latencies(0).into_iter().filter(|(at, _)| *at > S);
    let late: Vec<_> = late.map(|(_, (_, ns))| ns).collect();
    assert!(
        late.len() >= 19 && late.iter().all(|ns| *ns == 300 * US),
        "{late:?}"
    );
}

/// Goal: a CPU that asks for a cluster state while another CPU of the cluster is awake just powers
/// itself down, as platform-coordinated PSCI has it; the last one takes the cluster down and pays
/// for it. Source: Arm DEN0022, platform-coordinated mode: the implementation enters the deepest
/// state that all cores of the node permit. Method: own entry 100 us, cluster 700 us; CPU 1 ends
/// its work 0.5 ms after CPU 0.
#[test]
fn only_the_last_pays_for_the_cluster() {
    let state = |cluster, entry, residency| Idle {
        cluster,
        entry,
        exit: 300,
        residency,
    };
    let board = Board {
        idle: vec![state(false, 100, 1_000), state(true, 700, 2_000)],
        ..Board::symmetric(2)
    };
    let mut load = slow_beat(0);
    load.timers.push(Timer {
        start_delay_ns: 500 * US,
        ..load.timers[0].clone()
    });
    let wait = Event::Timer {
        timer: 1,
        period_ns: 100 * MS,
    };
    load.tasks.push(TaskScript {
        cpus: Some(vec![1]),
        ..script(Loops::Forever, vec![phase(1, None, &[run_ms(1), wait])])
    });
    let options = Options {
        idle_states: true,
        ..all_off(3 * S)
    };
    let (_, log) = simulate(&board.platform(), &performance(), &load, &options);
    for (cpu, entry) in [(0, 100 * US), (1, 700 * US)] {
        let powers = log.power(cpu);
        let ways = powers.windows(2).filter_map(|pair| match pair {
            [
                (began, CpuPower::Transition { state: 2 }),
                (ended, CpuPower::Idle { state: 2 }),
            ] => Some((*began, ended - began)),
            _ => None,
        });
        let ways: Vec<_> = ways.filter(|(began, _)| *began > S).collect();
        assert!(ways.len() >= 15, "CPU {cpu}: {ways:?}");
        assert!(
            ways.iter().all(|(_, ns)| *ns == entry),
            "CPU {cpu}: {ways:?}"
        );
    }
}

/// Goal: a CPU without a tick does not stay in a shallow state by a wrong prediction: nothing would
/// end it (docs/decisions/006). Method: a CPU that comes back knows no idle times, so that its
/// governor predicts none, and its tick is stopped; nothing runs there any more.
#[test]
fn without_a_tick_a_wrong_prediction_is_dropped() {
    let deep = Idle {
        cluster: false,
        entry: 100,
        exit: 650,
        residency: 1_500,
    };
    let board = Board {
        idle: vec![deep],
        ..Board::symmetric(2)
    };
    let platform = board.platform();
    let step = |at_ns, online| Hotplug {
        at_ns,
        cpu: 1,
        online,
    };
    let options = Options {
        idle_states: true,
        hotplug: vec![step(S, false), step(2 * S, true)],
        ..all_off(4 * S)
    };
    let (_, log) = simulate(&platform, &performance(), &slow_beat(0), &options);
    let back = log.power(1).into_iter().filter(|(at, _)| *at >= 2 * S);
    assert!(back.count() >= 2, "it came back");
    assert_eq!(state_before(&platform, &log, 1, 4 * S), Some(1));
}

/// Goal: a new task takes the idle CPU that is out of its state soonest, though another one has
/// idled for less long (docs/rules/wake-ups.md#slow-path, docs/rules/capacity.md#idle-states: exit
/// latency, smallest first, then the idle stamp). Method: a fork on CPU 0; of the idle cluster CPU
/// 1 sleeps for 1 ms, too short for the deep state's 1.5, and CPU 2, which went idle 0.4 ms after
/// it, for 98 ms.
#[test]
fn a_fork_takes_the_cheapest_way_out() {
    let deep = Idle {
        cluster: false,
        entry: 100,
        exit: 650,
        residency: 1_500,
    };
    let board = Board {
        clusters: vec![(1, 1024), (2, 1024)],
        idle: vec![deep],
        ..Board::symmetric(3)
    };
    let platform = board.platform();
    let run = |us: u64| Event::Run { work_ns: us * US };
    let mut load = slow_beat(1);
    let beats = |cpu: u32, timer: u32, steps: &[Event]| {
        let wait = Event::Timer {
            timer,
            period_ns: 100 * MS,
        };
        phase(10, Some(&[cpu]), &[&[wait], steps].concat())
    };
    let own = load.timers[0].clone();
    load.timers = vec![own.clone(), own.clone(), own];
    let fork = [run(1_700), Event::Fork { task: 3 }];
    let mut worker = script(Loops::Times(1), vec![phase(1, None, &[run(100)])]);
    worker.forks = Some(10);
    load.tasks = vec![
        script(Loops::Times(1), vec![beats(0, 0, &fork)]),
        script(
            Loops::Times(1),
            vec![beats(1, 1, &[run(1_000), sleep_ms(1), run(1_000)])],
        ),
        script(Loops::Times(1), vec![beats(2, 2, &[run(1_400)])]),
        worker,
    ];
    let options = wakeplace_engine::Options {
        idle_states: true,
        ..all_off(3 * S)
    };
    let policy = policy("linux-7.3", &[("governor", "performance")]);
    let (_, log) = simulate(&platform, &policy, &load, &options);
    let placed = log.pick(|w| match w {
        What::Placement(p) if p.task > 3 => Some(p.cpu),
        _ => None,
    });
    let (at, cpu) = *placed.last().expect("it forks");
    let state = |cpu| state_before(&platform, &log, cpu, at).expect("it sleeps");
    let exit_us = |cpu| platform.idle_states[state(cpu)].exit_latency_ns / US;
    assert_eq!((exit_us(1), exit_us(2)), (1, 650));
    let since = |cpu| {
        log.stretches(cpu)
            .iter()
            .rfind(|s| s.to <= at)
            .map(|s| s.to)
    };
    assert!(
        since(1) < since(2),
        "CPU 2 is the one of the latest idle stamp"
    );
    assert_eq!(cpu, 1);
}

/// Goal: a wake-up during the entry into a state waits for its end: entry + exit (platform model).
/// Method: the governor of CPU 1 knows of the timer of its own task, 100 ms away, and goes deep;
/// another task, woken on CPU 0, is moved to CPU 1 by its affinity 200 us later, in the entry of
/// 400 us. It starts 400 + 650 us after CPU 1 began to enter.
#[test]
fn a_wakeup_during_entry_waits_for_its_end() {
    let deep = Idle {
        cluster: false,
        entry: 400,
        exit: 650,
        residency: 1_500,
    };
    let board = Board {
        idle: vec![deep],
        ..Board::symmetric(2)
    };
    let mut load = slow_beat(1);
    let wait = Event::Timer {
        timer: 1,
        period_ns: 100 * MS,
    };
    let work = Event::Run { work_ns: 100 * US };
    load.timers.push(Timer {
        start_delay_ns: 1_200 * US, // both CPUs leave the state as late: 200 us after the other
        ..load.timers[0].clone()
    });
    load.tasks.push(script(
        Loops::Forever,
        vec![phase(1, Some(&[0]), &[wait]), phase(1, Some(&[1]), &[work])],
    ));
    let options = wakeplace_engine::Options {
        idle_states: true,
        ..all_off(3 * S)
    };
    let (_, log) = simulate(&board.platform(), &performance(), &load, &options);
    let (own, visits) = (log.stretches(0), log.stretches(1));
    let caught = own.iter().filter_map(|s| {
        let visit = visits.iter().find(|v| v.cpu == 1 && v.from >= s.to)?;
        Some(visit.from - s.to)
    });
    let caught: Vec<_> = caught.collect();
    assert!(caught.len() >= 28);
    let exact = caught.iter().filter(|ns| **ns == 1_050 * US).count();
    assert!(exact >= 25, "{caught:?}");
}

/// Goal: after a CPU has gone idle with its tick stopped nothing happens on it. Method: a task that
/// beats once a second on one CPU; the others have nothing to do. Ticks of 7 idle CPUs would be
/// 250 events a second each, and each would show as Busy.
#[test]
fn stopped_ticks_stay_silent() {
    let boards = ["hikey960", "juno-r0", "tc2"].map(builtin);
    for platform in boards.into_iter().chain([Board::symmetric(4).platform()]) {
        let name = &platform.name;
        let mut load = slow_beat(0);
        load.tasks[0].phases[0].events[1] = Event::Timer {
            timer: 0,
            period_ns: S,
        };
        let (report, log) = simulate(&platform, &performance(), &load, &all_on(20 * S));
        for cpu in 1..platform.cpus.len() as u32 {
            let wakes = log.power(cpu).into_iter();
            let wakes = wakes.filter(|(at, p)| *at > 2 * S && *p == CpuPower::Busy);
            let wakes: Vec<_> = wakes.collect();
            // A kick to balance or to decay signals may reach one at each beat
            // (docs/rules/balancing.md#nohz).
            assert!(
                wakes.len() <= 18 * 2,
                "{name} CPU {cpu}: {} wake-ups",
                wakes.len()
            );
        }
        assert!(report.events < 6_000, "{name}: {} events", report.events);
    }
}

/// Goal: the live scheduler's timer for idle CPUs is where somebody is busy. Method: one task
/// without end; 750 ticks in the last 3 s, at each of which the timer fires. No idle CPU is busy
/// then: there is nothing to balance, and after a third of a second nothing to fade.
#[test]
fn the_live_timer_leaves_idle_cpus_alone() {
    for busy in [3, 7] {
        let load = workload(vec![hog(Some(&[busy]))], vec![]);
        let platform = Board::symmetric(8).platform();
        let (_, log) = simulate(&platform, &policy("wakeplace", &[]), &load, &all_on(4 * S));
        for cpu in (0..8).filter(|cpu| *cpu != busy) {
            let wakes = log.power(cpu).into_iter();
            let late = wakes.filter(|(at, p)| *at > S && *p == CpuPower::Busy);
            assert_eq!(late.count(), 0, "CPU {cpu} beside {busy}");
        }
    }
}

/// Goal: that timer rests while CPUs are busy for moments, none at its turns (docs/guide/model.md).
/// Method: 0.1 ms of work each 3 ms, ticks 4 ms apart. In the last 3 s a turn at every tick would
/// wake an idle CPU 750 times more often than the kernel does.
#[test]
fn the_live_timer_rests_between_short_runs() {
    let mut load = slow_beat(3);
    load.tasks[0].phases[0].events = vec![
        Event::Run { work_ns: 100 * US },
        Event::Timer {
            timer: 0,
            period_ns: 3 * MS,
        },
    ];
    let platform = Board::symmetric(4).platform();
    let busy = |name: &str| {
        let (_, log) = simulate(&platform, &policy(name, &[]), &load, &all_on(4 * S));
        let all = (0..4).flat_map(|cpu| log.power(cpu));
        let late = all.filter(|(at, p)| *at > S && *p == CpuPower::Busy);
        late.count()
    };
    let (kernel, ours) = (busy("linux-7.3"), busy("wakeplace"));
    assert!(kernel >= 1000, "{kernel} beats");
    assert!(ours < kernel + 400, "{ours} beside {kernel}");
}

/// Goal: where a mode packs, CPUs of an empty cache take a waiting task in their turn, and do take
/// it (docs/decisions/052). Method: two caches of 16 CPUs; each CPU of the first has a task that
/// may leave after a time, just before a seventeenth comes, bound to these CPUs for 1 ms. A turn is
/// every 32 ms (docs/rules/domains.md#domain-constants,
/// docs/rules/balancing.md#periodic-balancing: as many as the level has CPUs), or every 64 after
/// passes that found nothing; ticks are 4 ms apart.
#[test]
fn an_empty_cache_opens_in_its_turn() {
    let board = Board {
        clusters: vec![(16, 1024), (16, 1024)],
        ..Board::symmetric(16)
    };
    let bound = |cpus: &[u32], ms: u64| {
        let mut task = hog(None);
        task.phases.insert(0, phase(1, Some(cpus), &[run_ms(ms)]));
        task
    };
    let first: Vec<u32> = (0..16).collect();
    let policy = policy("wakeplace", &[("mode", "balanced")]);
    let wait = |start_ms: u64| {
        let own = first.iter().map(|cpu| bound(&[*cpu], start_ms - 1));
        let one_more = TaskScript {
            delay_ns: start_ms * MS,
            ..bound(&first, 1)
        };
        let load = workload(own.chain([one_more]).collect(), vec![]);
        let (_, log) = simulate(&board.platform(), &policy, &load, &all_on(S));
        let away = log.moves(|_| true).into_iter().find(|m| m.1.2 >= 16);
        away.expect("one is taken at last").0 - start_ms * MS
    };
    let waits: Vec<u64> = (200..264).step_by(8).map(wait).collect();
    assert!(waits.iter().all(|wait| *wait <= 72 * MS), "{waits:?}");
    assert!(waits.iter().any(|wait| *wait >= 24 * MS), "{waits:?}");
}

/// Goal: with idle states off only the first is used.
#[test]
fn the_switch_leaves_the_first_state() {
    let platform = builtin("hikey960");
    let options = wakeplace_engine::Options {
        idle_states: false,
        ..all_on(S)
    };
    let (_, log) = simulate(&platform, &performance(), &slow_beat(3), &options);
    for cpu in 0..8 {
        let first = platform
            .idle_states_of(wakeplace_platform::CpuId(cpu))
            .next();
        let (first, _) = first.expect("each has one");
        let states = log.power(cpu).into_iter().map(|(_, p)| p);
        let state = first as u16;
        let (idle, between) = (CpuPower::Idle { state }, CpuPower::Transition { state });
        let first_only = |p| p == CpuPower::Busy || p == idle || p == between;
        assert!(states.into_iter().all(first_only));
    }
    assert!(log.cluster(0).iter().all(|(_, s)| s.is_none()));
}

/// When a CPU took ticks while it idled.
struct IdleTicks {
    of: u32,
    at: Vec<u64>,
}

impl Observer for IdleTicks {
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        if let Happening::KernelWork { cpu, work } = *what {
            self.kernel_work(time_ns, cpu, work)
        }
    }
}

impl IdleTicks {
    fn kernel_work(&mut self, at: u64, cpu: u32, work: KernelWork) {
        if cpu == self.of && work == KernelWork::IdleTick {
            self.at.push(at);
        }
    }
}

/// The ticks that an idle CPU takes where no cpuidle driver is.
fn idle_ticks(era: &str, load: &Workload, of: u32, options: &Options) -> Vec<u64> {
    let platform = Board::symmetric(4).platform();
    let policy = policy(era, &[("governor", "performance")]);
    let options = Options {
        cpuidle: CpuIdle::None,
        ..options.clone()
    };
    let mut ticks = IdleTicks { of, at: Vec::new() };
    wakeplace_engine::run(&platform, &policy, load, &options, &mut ticks);
    ticks.at
}

/// Goal: without a cpuidle driver a CPU that idles keeps its tick until one has ended its sleep, in
/// kernels with f4c31b07b136 ("sched: idle: Consolidate the handling of two special cases", 7.0,
/// 6.12.78); before, it stops the tick at once. Method: 1 ms of work every 100 ms on CPU 1: in each
/// pause one idle tick, the first one, or none. WFI's exit takes 1 us.
#[test]
fn without_cpuidle_the_tick_stops_after_one() {
    let tick = 1_000_000_000 / u64::from(Board::symmetric(4).platform().tick_hz);
    let options = all_off(2 * S);
    for era in ["linux-6.12", "linux-7.3"] {
        let at = idle_ticks(era, &slow_beat(1), 1, &options);
        let expected: Vec<u64> = (0..20).map(|n| n * 100 * MS + tick + US).collect();
        assert_eq!(at, expected, "{era}");
    }
    for era in ["linux-4.17", "linux-6.2"] {
        assert_eq!(idle_ticks(era, &slow_beat(1), 1, &options), [], "{era}");
    }
}

/// Goal: only a tick stops the tick: `got_tick` is what the last sleep ended by, so that another
/// interrupt leaves it running; once it is stopped, no interrupt starts it. Method: an interrupt
/// every 1.5 ms on a CPU without tasks; the tick is at 4 ms, and no other follows.
#[test]
fn other_interrupts_neither_stop_nor_start_it() {
    let mut options = all_off(S);
    options.set("model.irq", "3:1500us:10us").unwrap();
    let tick = 1_000_000_000 / u64::from(Board::symmetric(4).platform().tick_hz);
    assert!(tick > 3 * MS, "two interrupts come first");
    let at = idle_ticks("linux-7.3", &slow_beat(1), 3, &options);
    assert_eq!(at, [tick + US]);
}

/// Goal: a CPU that may only poll does so for a sixteenth of a tick, chooses again, and polls on
/// (docs/rules/cpuidle.md#poll). Method: a latency limit of 0 on a machine of x86, whose tick is
/// every ms: 62.5 us; between two ticks that is 16 times, which the tick may cut.
#[test]
fn a_polling_cpu_chooses_again() {
    let platform = builtin("ivb-ep-2s");
    assert_eq!(platform.tick_hz, 1000);
    let era = policy("linux-6.12", &[("governor", "performance")]);
    for cpuidle in [CpuIdle::Menu, CpuIdle::Teo, CpuIdle::Ladder] {
        let options = Options {
            idle_latency_us: Some(0),
            cpuidle,
            ..all_off(10 * MS)
        };
        let (_, log) = simulate(&platform, &era, &slow_beat(7), &options);
        let polls = log.power(7).into_iter().filter(|(at, power)| {
            let own = matches!(power, CpuPower::Idle { state: 0 });
            own && (4 * MS..5 * MS).contains(at)
        });
        let times: Vec<u64> = polls.map(|(at, _)| at).collect();
        let apart: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let whole = apart.iter().filter(|ns| **ns == 62_500).count();
        assert!(whole >= 14, "{cpuidle:?}: {times:?}");
        assert!(
            apart.iter().all(|ns| *ns <= 62_500),
            "{cpuidle:?}: {times:?}"
        );
    }
}

/// Goal: without a driver a CPU halts in its first state that does not poll; the driver's others
/// are there with it.
#[test]
fn no_driver_does_not_poll() {
    let platform = builtin("ivb-ep-2s");
    let options = Options {
        cpuidle: CpuIdle::None,
        ..all_on(50 * MS)
    };
    let (_, log) = simulate(&platform, &performance(), &slow_beat(1), &options);
    let states = log
        .power(1)
        .into_iter()
        .filter_map(|(_, power)| match power {
            CpuPower::Idle { state } => Some(usize::from(state)),
            _ => None,
        });
    let names: Vec<&str> = states.map(|s| &platform.idle_states[s].name[..]).collect();
    assert!(
        names.len() > 1 && names.iter().all(|name| *name == "C1"),
        "{names:?}"
    );
}

/// Goal: an era whose kernel had no teo refuses it, and has it in the form that it is given.
#[test]
fn teo_is_of_the_era() {
    let platform = Board::symmetric(4).platform();
    let options = Options {
        cpuidle: CpuIdle::Teo,
        ..all_on(50 * MS)
    };
    let check = |era, set: &[(&str, &str)]| {
        let policy = policy(era, set);
        wakeplace_engine::check(&platform, &policy, &slow_beat(1), &options)
    };
    for era in ["linux-3.8", "linux-4.17", "linux-5.0"] {
        let error = check(era, &[]).expect_err("it came with 5.1").to_string();
        assert!(
            error.contains("model.cpuidle=teo") && error.contains(era),
            "{error}"
        );
    }
    check("linux-5.0", &[("teo", "5.10")]).expect("a form");
    for era in ["linux-6.2", "linux-6.12", "linux-7.3"] {
        check(era, &[]).expect("it has teo");
    }
}

/// Goal: a governor sees a timer come, and not a device. Method: ten sleeps of 100 ms say that the
/// next is long; the eleventh lasts 300 us, less than any state below WFI pays after (hi3660.dtsi).
#[test]
fn no_governor_foresees_a_device() {
    let platform = builtin("hikey960");
    let duration_ns = 300 * US;
    let policy = policy("linux-6.12", &[("governor", "performance")]);
    let (timer, device) = (Event::Sleep { duration_ns }, Event::Io { duration_ns });
    for cpuidle in [CpuIdle::Menu, CpuIdle::Teo] {
        let options = Options {
            cpuidle,
            ..all_on(2 * S)
        };
        for (event, foreseen) in [(timer, true), (device, false)] {
            let long = phase(10, Some(&[1]), &[run_ms(1), sleep_ms(100)]);
            let short = phase(1, Some(&[1]), &[run_ms(1), event, run_ms(1)]);
            let load = workload(vec![script(Loops::Times(1), vec![long, short])], vec![]);
            let (_, log) = simulate(&platform, &policy, &load, &options);
            let (at, (_, late_ns)) = *log.latencies(0).last().expect("it woke");
            let before = |(t, _): &(u64, CpuPower)| *t < at - late_ns;
            let chosen = match log.power(1).into_iter().rfind(before).expect("it idled").1 {
                CpuPower::Idle { state } | CpuPower::Transition { state } => state,
                CpuPower::Busy => panic!("it was busy"),
            };
            let is_wfi = platform.idle_states[usize::from(chosen)].min_residency_ns < duration_ns;
            assert_eq!(is_wfi, foreseen, "{cpuidle:?}, {event:?}");
        }
    }
}
