//! Short wake-ups: what is short, where a short waker pulls its wakee, where they stack, in all
//! versions of sis-short, each against its row of docs/rules/short-wakes.md#short-versions.
//!
//! What must stay: `State::stacks` is written from the rows of the page and calls nothing of the
//! core; figures are of tests/data/sis_util_scan.csv and the page's tables. It covers
//! policy/src/placement/short_wake.c and policy/src/load_tracking/duration.c. Free: seeds and
//! numbers of states, and how helpers build one.
//! Tests by part: `the_largest_short_average`, `granularity_of_other_queues`,
//! `the_edge_of_each_version`, `the_measure_of_v1` (`wp_is_short`, `wp_short_granularity`);
//! `hunk_a_of_v5`, `hunk_a_crosses_caches`, `the_place_of_hunk_a` (`wp_short_here`);
//! `each_version_stacks_as_its_row_says`, `the_decision_table_in_one_go` (`wp_short_decide`,
//! `wp_short_before_scan`, `wp_short_in_scan`); `the_idle_task_is_not_short` (`wp_curr_short`);
//! `the_gate_of_each_depth`, `where_the_gate_opens`, `exactly_sixty_percent_is_closed`,
//! `the_gate_needs_sis_util` (`wp_short_in_scan`); `a_fan_out_of_seven`,
//! `the_flip_of_this_wake_up_counts` (`wp_short_pair`, `wp_record_wakee`);
//! `the_prototype_compares_with_the_search` (`wp_scan_cost_ns`, `wp_note_scan_cost`).
//! Helpers, and who fails with them: `caches`, `busy`, `wakee`, `wake`, `build`, `ask` (all tests,
//! `hunk_a_of_v5` among them); `stacking` (5 tests, `the_edge_of_each_version` among them);
//! `stacks`, `states` (`each_version_stacks_as_its_row_says`); `waker_is_short`
//! (`the_largest_short_average`, `granularity_of_other_queues`).
#![allow(missing_docs, reason = "not a library")]

use crate::common;

use common::{NOW, ask, cluster, core, freeze, machine, make_busy, make_idle, sleeper, table};
use wakeplace_policy_sys::{
    Choice, Core, LevelFacts, MachineFacts, PlaceKind, Policy, Reason, Request, Task, Waker,
};

const VERSIONS: [&str; 8] = ["v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8"];

/// The waking task's number, as the CPU and the tasks know it.
const WAKER: u32 = 2;

/// Caches of so many CPUs each, in cores of `threads`.
fn caches(sizes: &[usize], threads: usize) -> MachineFacts {
    let clusters: Vec<_> = sizes.iter().map(|n| cluster(*n, 1024)).collect();
    let mut facts = machine(&clusters);
    facts.perf_domains.clear();
    if threads > 1 {
        let cores: usize = sizes.iter().map(|n| n / threads).sum();
        let level = LevelFacts {
            shares_capacity: true,
            shares_cache: true,
            group_of: common::labels(std::iter::repeat_n(threads, cores)),
            ..LevelFacts::default()
        };
        facts.levels.insert(0, level);
    }
    facts
}

/// All CPUs run one long task; the waker is on CPU 0.
fn busy(facts: &MachineFacts, name: &str, overrides: &[(&str, &str)]) -> Core {
    let mut core = core(facts, name, overrides);
    freeze(&mut core);
    for cpu in 0..core.state().nr_cpus {
        make_busy(&mut core, cpu);
        let c = core.cpu_mut(cpu);
        c.load.avg.load_avg = 1024;
        c.idle.nr_idle_scan = c.topo.llc_size;
        (c.queue.curr_id, c.queue.curr_dur_ns) = (100 + cpu, 10_000_000);
    }
    core.cpu_mut(0).queue.curr_id = WAKER;
    core
}

/// The woken task, last on `prev`, with this average.
fn wakee(core: &mut Core, prev: u32, dur_ns: u64) -> Task {
    let mut task = sleeper(core, 1, prev, 0, 0);
    task.raw_mut().waker.recent_used_cpu = prev;
    task.raw_mut().dur_avg_ns = dur_ns;
    task
}

/// A wake-up by the task that runs on CPU 0.
fn wake(core: &mut Core, wakee: &Task, waker: &Task, sync: bool) -> Choice {
    let request = Request {
        sync,
        waker: Waker::Task(1),
        ..ask(PlaceKind::Wake, 0, wakee.cpu())
    };
    core.select_cpu(&mut [wakee.clone(), waker.clone()], 0, &request)
}

// ------------------------------------------------------------------------------- what is short

/// Is a waker of this average short? Hunk A shows it: waker alone, previous CPU busy, so light that
/// the loads would leave the task there.
fn waker_is_short(core: &mut Core, dur_ns: u64) -> bool {
    let task = wakee(core, 1, 5_000);
    let waker = sleeper(core, WAKER, 0, 0, 0);
    core.cpu_mut(0).queue.curr_dur_ns = dur_ns;
    core.cpu_mut(1).load.avg.load_avg = 1;
    wake(core, &task, &waker, false).cpu == 0
}

/// Goal: the largest short average for each number of CPUs and each scaling, and one nanosecond
/// more. Source: docs/rules/short-wakes.md#is-short, table (log column in full; none and linear:
/// (0.75 ms x factor - 1) / 8).
#[test]
fn the_largest_short_average() {
    for (cpus, none, log, linear) in [
        (2, 93_749, 187_499, 187_499),
        (4, 93_749, 281_249, 374_999),
        (8, 93_749, 374_999, 749_999),
        (16, 93_749, 374_999, 749_999),
    ] {
        for (scaling, largest) in [("none", none), ("log", log), ("linear", linear)] {
            let set = [("tunable_scaling", scaling)];
            let mut core = busy(&caches(&[cpus], 1), "linux-6.2+sis-short", &set);
            (0..cpus as u32).for_each(|cpu| core.cpu_mut(cpu).idle.nr_idle_scan = 0);
            assert!(waker_is_short(&mut core, largest), "{cpus} {scaling}");
            assert!(!waker_is_short(&mut core, largest + 1), "{cpus} {scaling}");
            assert!(!waker_is_short(&mut core, 0), "0 is unknown");
            assert!(waker_is_short(&mut core, 1));
        }
    }
}

/// Goal: where the queue has no minimal granularity, the base slice stands for it: 0.75 ms as EEVDF
/// began, 0.70 ms since (375 and 350 us on 8 CPUs); on the live queues, too. Source:
/// docs/rules/short-wakes.md#is-short.
#[test]
fn granularity_of_other_queues() {
    for (name, slice, largest) in [
        ("linux-6.12+sis-short", "750000", 374_999),
        ("linux-6.12+sis-short", "700000", 349_999),
        ("linux-7.3+sis-short", "700000", 349_999),
        ("wakeplace+sis-short", "700000", 349_999),
    ] {
        let set = [("base_slice_ns", slice), ("min_granularity_ns", "1000")];
        let mut core = busy(&caches(&[8], 1), name, &set);
        (0..8).for_each(|cpu| core.cpu_mut(cpu).idle.nr_idle_scan = 0);
        assert!(waker_is_short(&mut core, largest), "{name}");
        assert!(!waker_is_short(&mut core, largest + 1), "{name}");
    }
    let default = Policy::parse("linux-7.3").expect("an era");
    assert_eq!(default.core_params().base_slice_ns, 700_000);
}

/// Goal: each version's edge on 8 CPUs, where the granularity is 3 ms, as hunk B has it for the
/// wakee (v2 tests no wakee, so the waker): v1 to v3 up to all of it with 0 short; v4 up to an
/// eighth, v5 to v7 below; v8 below 500 us. Source: docs/rules/short-wakes.md#short-versions (short
/// test), docs/rules/short-wakes.md#is-short.
#[test]
fn the_edge_of_each_version() {
    for (version, largest, unknown) in [
        ("v2", 3_000_000, true),
        ("v3", 3_000_000, true),
        ("v4", 375_000, false),
        ("v5", 374_999, false),
        ("v6", 374_999, false),
        ("v7", 374_999, false),
        ("v8", 499_999, false),
    ] {
        let short = |ns: u64| {
            let state = State {
                waker_ns: ns,
                wakee_ns: if version == "v2" { 0 } else { ns },
                ..State::stacking()
            };
            state.ask(version).cpu == 0
        };
        assert!(short(largest), "{version}");
        assert!(!short(largest + 1), "{version}");
        assert_eq!(short(0), unknown, "{version}");
    }
}

/// Goal: v1's measure is all that a task ran by its number of sleeps, of the running task up to its
/// CPU's clock: 3 x 3 ms on 8 CPUs, and no nanosecond more. Source:
/// docs/rules/short-wakes.md#short-versions (v1).
#[test]
fn the_measure_of_v1() {
    let short = |wakee_ran: u64, waker_ran: u64, now_ns: u64| {
        let state = State::stacking();
        let (mut core, mut task, waker) = state.build("v1");
        (task.raw_mut().exec_ns, task.raw_mut().sleeps) = (wakee_ran, 3);
        let c = core.cpu_mut(0);
        (c.queue.curr_exec_ns, c.queue.curr_sleeps) = (waker_ran, 3);
        c.queue.curr_exec_start_ns = c.load.clock_task_ns - now_ns;
        wake(&mut core, &task, &waker, false).reason == Reason::ShortStack
    };
    assert!(short(9_000_000, 9_000_000, 0));
    assert!(short(0, 8_000_000, 1_000_000));
    assert!(!short(9_000_001, 9_000_000, 0), "the wakee");
    assert!(!short(9_000_000, 8_000_000, 1_000_001), "the waker");
}

// ------------------------------------------------------------------------------- hunk A

/// Goal: the table of hunk A: what v5 takes for the target, and the same without the feature. Where
/// the loads decide they leave it at prev. The search around the target finds nothing, so the
/// target is the answer; in the row "sync" that needs a prev of another cache, since an idle one of
/// the same cache is found next to any target. Source: docs/rules/short-wakes.md#hunk-a-table.
#[test]
fn hunk_a_of_v5() {
    // (this idle, sync, nr_running(this), waker short, prev idle, cache shared) -> v5, baseline
    for (idle, sync, nr, short, prev_idle, shared, v5, base) in [
        (false, false, 1, true, false, false, 0, 1),
        (false, false, 1, true, true, false, 1, 1),
        (false, false, 2, true, false, true, 1, 1),
        (false, false, 1, false, false, true, 1, 1),
        (false, true, 1, false, true, false, 0, 0),
        (false, true, 1, true, true, false, 0, 0),
        (true, false, 0, false, false, true, 0, 0),
    ] {
        for (name, expected) in [("linux-6.2+sis-short", v5), ("linux-6.2", base)] {
            let sizes: &[usize] = if shared { &[2] } else { &[1, 1] };
            let mut core = busy(&caches(sizes, 1), name, &[]);
            for cpu in 0..2 {
                core.cpu_mut(cpu).idle.nr_idle_scan = 0;
            }
            if prev_idle {
                make_idle(&mut core, 1);
            }
            core.cpu_mut(1).load.avg.load_avg = 1;
            let c = core.cpu_mut(0);
            c.queue.curr_dur_ns = if short { 5_000 } else { 10_000_000 };
            (c.queue.nr_running, c.queue.nr_fair) = (nr, nr);
            if idle {
                make_idle(&mut core, 0);
                core.cpu_mut(0).queue.curr_id = 0;
            }
            let task = wakee(&mut core, 1, 10_000_000);
            let waker = sleeper(&mut core, WAKER, 0, 0, 0);
            let choice = wake(&mut core, &task, &waker, sync);
            assert_eq!(
                choice.cpu, expected,
                "{name}: idle {idle}, sync {sync}, {nr}, short {short}, prev {prev_idle} {shared}"
            );
        }
    }
}

/// Goal: a short waker, alone, pulls any wakee to its own cache: an idle CPU there, else its own.
/// Source: docs/rules/short-wakes.md#hunk-a.
#[test]
fn hunk_a_crosses_caches() {
    let facts = caches(&[4, 4], 1);
    for (waker_ns, cpu, reason) in [
        (5_000, 2, Reason::IdleCpu),
        (375_000, 4, Reason::TargetBusy),
    ] {
        let mut core = busy(&facts, "linux-6.2+sis-short", &[]);
        core.cpu_mut(0).queue.curr_dur_ns = waker_ns;
        core.cpu_mut(4).load.avg.load_avg = 1;
        make_idle(&mut core, 2);
        let task = wakee(&mut core, 4, 10_000_000);
        let waker = sleeper(&mut core, WAKER, 0, 0, 0);
        let choice = wake(&mut core, &task, &waker, false);
        assert_eq!((choice.cpu, choice.reason), (cpu, reason));
        make_busy(&mut core, 2);
        let choice = wake(&mut core, &task, &waker, false);
        let (cpu, reason) = match cpu {
            2 => (0, Reason::ShortTarget),
            _ => (4, Reason::TargetBusy),
        };
        assert_eq!((choice.cpu, choice.reason), (cpu, reason));
    }
}

/// Goal: where each version has hunk A. v1: before an idle prev, whoever else is queued; v2 to v6:
/// after it, alone; v7, v8: only what idle CPUs and loads leave open, and only a pair. Source:
/// docs/rules/short-wakes.md#short-versions.
#[test]
fn the_place_of_hunk_a() {
    // Two caches of one CPU: the target is the answer.
    let target = |version: &str, prev_idle: bool, nr: u32, prev_load: u32, pair: bool| {
        let name = format!("linux-6.2+sis-short={version}");
        let mut core = busy(&caches(&[1, 1], 1), &name, &[]);
        if prev_idle {
            make_idle(&mut core, 1);
        }
        core.cpu_mut(1).load.avg.load_avg = prev_load;
        let c = core.cpu_mut(0);
        (
            c.queue.nr_running,
            c.queue.nr_fair,
            c.queue.curr_dur_ns,
            c.queue.curr_sleeps,
        ) = (nr, nr, 5_000, 1);
        c.queue.curr_exec_start_ns = c.load.clock_task_ns;
        let mut task = wakee(&mut core, 1, 5_000);
        task.raw_mut().waker.last_wakee = if pair { WAKER } else { 9 };
        let mut waker = sleeper(&mut core, WAKER, 0, 0, 0);
        waker.raw_mut().waker.last_wakee = 1;
        waker.raw_mut().waker.flip_decay_ns = NOW;
        wake(&mut core, &task, &waker, false).cpu
    };
    for version in VERSIONS {
        let (first, last) = (version == "v1", version == "v7" || version == "v8");
        let here = |yes: bool| u32::from(!yes);
        assert_eq!(
            target(version, true, 1, 1, true),
            here(first),
            "{version}: prev idle"
        );
        assert_eq!(target(version, false, 1, 1, true), 0, "{version}: alone");
        assert_eq!(
            target(version, false, 2, 1, true),
            here(first),
            "{version}: not alone"
        );
        assert_eq!(
            target(version, false, 1, 1, false),
            here(!last),
            "{version}: no pair"
        );
        // The loads alone decide for this CPU: 1024 * 100 < 4096 * 108.
        assert_eq!(
            target(version, false, 1, 4096, false),
            0,
            "{version}: by load"
        );
    }
    assert_eq!(
        target("scan-cost", false, 1, 1, true),
        1,
        "it has no hunk A"
    );
}

// ------------------------------------------------------------------------------- hunk B

/// A state in which hunk B is asked: one cache of 112 CPUs, waker on CPU 0.
#[derive(Clone, Debug)]
struct State {
    smt: bool,
    idle_core: bool,
    depth: u32,
    nr: u32,
    waker_ns: u64,
    wakee_ns: u64,
    waker_flips: u32,
    wakee_flips: u32,
    /// They woke each other last.
    mutual: bool,
    /// The target: CPU 0, or the previous CPU 3.
    other_target: bool,
}

impl State {
    /// All versions stack.
    fn stacking() -> Self {
        Self {
            smt: false,
            idle_core: false,
            depth: 56,
            nr: 1,
            waker_ns: 5_000,
            wakee_ns: 5_000,
            waker_flips: 0,
            wakee_flips: 0,
            mutual: true,
            other_target: false,
        }
    }

    fn build(&self, version: &str) -> (Core, Task, Task) {
        let name = format!("linux-6.2+sis-short={version}");
        let facts = caches(&[112], if self.smt { 2 } else { 1 });
        // Hunk A off: where it would decide, the target is part of the state.
        let mut core = busy(&facts, &name, &[("sis_short_affine", "off")]);
        core.cpu_mut(0).idle.nr_idle_scan = self.depth;
        core.cpu_mut(0).idle.has_idle_cores = u32::from(self.idle_core);
        make_idle(&mut core, 50);
        if self.smt {
            make_idle(&mut core, 51);
        }
        let target = if self.other_target { 3 } else { 0 };
        let c = core.cpu_mut(target);
        (
            c.queue.nr_running,
            c.queue.nr_fair,
            c.queue.curr_dur_ns,
            c.queue.curr_sleeps,
        ) = (self.nr, self.nr, self.waker_ns, 1);
        // v1 counts what was run: the same average over one sleep
        c.queue.curr_exec_ns = self.waker_ns;
        c.queue.curr_exec_start_ns = c.load.clock_task_ns;
        if self.nr == 0 {
            c.queue.pending = 1; // else idle, and taken before
            (c.queue.curr_fair, c.queue.curr_idle, c.queue.curr_id) = (0, 1, 0);
        }
        let mut task = wakee(&mut core, target, self.wakee_ns);
        (task.raw_mut().exec_ns, task.raw_mut().sleeps) = (self.wakee_ns, 1);
        task.raw_mut().waker.wakee_flips = self.wakee_flips;
        task.raw_mut().waker.last_wakee = if self.mutual { WAKER } else { 9 };
        let mut waker = sleeper(&mut core, WAKER, 0, 0, 0);
        waker.raw_mut().waker.wakee_flips = self.waker_flips;
        waker.raw_mut().waker.last_wakee = 1; // this wake-up changes no partner
        waker.raw_mut().waker.flip_decay_ns = NOW;
        (core, task, waker)
    }

    fn ask(&self, version: &str) -> Choice {
        let (mut core, task, waker) = self.build(version);
        wake(&mut core, &task, &waker, false)
    }

    /// What the row of a version says (docs/rules/short-wakes.md#short-versions), in the order of
    /// the row. With hunk B the target, else what the search finds.
    fn stacks(&self, version: &str) -> bool {
        let gate = 5 * (u64::from(self.depth) + 1) < 3 * 112;
        let no_core = !self.idle_core;
        let running = self.nr > 0;
        let waker = if running { self.waker_ns } else { 0 };
        let flips = self.waker_flips == 0 && self.wakee_flips == 0;
        let below = |ns: u64, limit: u64| ns != 0 && ns < limit;
        let eighth = |ns: u64| below(ns, 375_000);
        let whole = |ns: u64| ns <= 3_000_000;
        let this = !self.other_target;
        match version {
            "v1" => no_core && gate && whole(self.wakee_ns) && whole(waker),
            "v2" => no_core && gate && self.nr == 1 && whole(waker),
            "v3" => no_core && self.nr == 1 && whole(self.wakee_ns) && whole(waker),
            "v4" => {
                let short = |ns| below(ns, 375_001);
                no_core && self.nr == 1 && short(self.wakee_ns) && short(waker)
            }
            "v5" | "v6" => {
                let pair = eighth(self.wakee_ns) && eighth(waker);
                let steady = version == "v5" || flips;
                no_core && this && gate && self.nr <= 1 && pair && steady
            }
            _ => {
                let limit = if version == "v7" { 375_000 } else { 500_000 };
                let pair = below(self.wakee_ns, limit) && below(waker, limit);
                this && self.nr <= 1 && pair && flips && self.mutual
            }
        }
    }
}

/// Every combination of what the versions differ in.
fn states() -> Vec<State> {
    let mut all = Vec::new();
    let times = [
        0, 5_000, 374_999, 375_000, 400_000, 500_000, 3_000_000, 3_000_001,
    ];
    for (smt, idle_core) in [(false, false), (true, false), (true, true)] {
        for (depth, nr) in [(73, 1), (67, 1), (66, 1), (56, 0), (56, 1), (56, 2), (1, 1)] {
            for waker_ns in times {
                for wakee_ns in times {
                    for bits in 0..16u32 {
                        all.push(State {
                            smt,
                            idle_core,
                            depth,
                            nr,
                            waker_ns,
                            wakee_ns,
                            waker_flips: bits & 1,
                            wakee_flips: bits >> 1 & 1,
                            mutual: bits & 4 != 0,
                            other_target: bits & 8 != 0,
                        });
                    }
                }
            }
        }
    }
    all
}

/// Goal: the versions differ exactly where their rows say, in every combination of what the rows
/// name. v2's gate is of its posting (docs/decisions/028). Source:
/// docs/rules/short-wakes.md#short-versions.
#[test]
fn each_version_stacks_as_its_row_says() {
    let states = states();
    let mut differ = std::collections::BTreeSet::new();
    for (at, state) in states.iter().enumerate() {
        // A ninth of the states for each version, other ones each, is thousands.
        let expected: Vec<bool> = VERSIONS.iter().map(|v| state.stacks(v)).collect();
        for (number, version) in VERSIONS.iter().enumerate() {
            if !(at + number).is_multiple_of(9) {
                continue;
            }
            let choice = state.ask(version);
            let target = if state.other_target { 3 } else { 0 };
            let stacked = choice.reason == Reason::ShortStack;
            assert_eq!(stacked, expected[number], "{version}: {state:?} {choice:?}");
            assert!(!stacked || choice.cpu == target);
        }
        for a in 0..8 {
            for b in 0..a {
                if expected[a] != expected[b] {
                    differ.insert((b, a));
                }
            }
        }
    }
    assert_eq!(differ.len(), 28, "each two versions differ somewhere");
}

/// Goal: rows 1 to 6 of the decision table of v5; rows 7 to 9 are fixtures, as these are. Source:
/// docs/rules/short-wakes.md#hunk-b-table.
#[test]
fn the_decision_table_in_one_go() {
    let first = State::stacking;
    let smt = State {
        smt: true,
        idle_core: true,
        ..first()
    };
    for (state, reason) in [
        (first(), Reason::ShortStack),
        (
            State {
                depth: 73,
                ..first()
            },
            Reason::IdleCpu,
        ),
        (smt, Reason::IdleCore),
        (State { nr: 2, ..first() }, Reason::IdleCpu),
        (
            State {
                waker_ns: 375_000,
                ..first()
            },
            Reason::IdleCpu,
        ),
        (
            State {
                wakee_ns: 0,
                ..first()
            },
            Reason::IdleCpu,
        ),
    ] {
        let choice = state.ask("v5");
        assert_eq!(choice.reason, reason, "{state:?}");
        let cpu = if reason == Reason::ShortStack { 0 } else { 50 };
        assert_eq!(choice.cpu, cpu, "{state:?}");
    }
}

/// Goal: an interrupt on an idle CPU with a wake-up on its way: the idle task is not short in the
/// versions that need an average, whatever ran there last. Source:
/// docs/rules/short-wakes.md#hunk-b.
#[test]
fn the_idle_task_is_not_short() {
    for version in ["v5", "v6", "v7", "v8"] {
        let state = State {
            nr: 0,
            ..State::stacking()
        };
        let (mut core, task, waker) = state.build(version);
        core.cpu_mut(0).queue.curr_dur_ns = 5_000;
        let choice = wake(&mut core, &task, &waker, false);
        assert_eq!(choice.reason, Reason::IdleCpu, "{version}");
    }
}

// ------------------------------------------------------------------------------- the gate

/// Goal: the gate of each depth of the table, on each of its machines; a depth of 0 refuses the
/// search before. Source: docs/rules/short-wakes.md#scan-gate, sis_util_scan.csv (column
/// sis_short_busy_gate).
#[test]
fn the_gate_of_each_depth() {
    let table = table("sis_util_scan.csv");
    let mut seen = [0; 3];
    for row in &table.rows {
        let size = table.number(row, "llc_cpus") as usize;
        let open = table.number(row, "sis_short_busy_gate") == 1;
        let refused = table.number(row, "scan_refused") == 1;
        let sum = table.number(row, "sum_util");
        let mut core = busy(&caches(&[size], 1), "linux-6.2+sis-short", &[]);
        for cpu in 0..size as u32 {
            core.cpu_mut(cpu).load.avg.util_avg = (sum / size as u64) as u32;
        }
        core.sis_update(0, 0);
        assert_eq!(
            u64::from(core.cpu(0).idle.nr_idle_scan),
            table.number(row, "nr_idle_scan")
        );
        core.cpu_mut(0).queue.curr_dur_ns = 5_000;
        let task = wakee(&mut core, 0, 5_000);
        let waker = sleeper(&mut core, WAKER, 0, 0, 0);
        let choice = wake(&mut core, &task, &waker, false);
        let (at, reason) = match (refused, open) {
            (true, _) => (0, Reason::TargetNoScan),
            (false, true) => (1, Reason::ShortStack),
            (false, false) => (2, Reason::TargetBusy),
        };
        assert_eq!(choice.reason, reason, "{row:?}");
        seen[at] += 1;
    }
    assert!(seen.iter().all(|n| *n > 10), "{seen:?}");
}

/// Goal: where the gate opens and where the search ends, to one part in 1024, and the largest nr of
/// an open gate. Source: docs/rules/short-wakes.md#scan-gate, table.
#[test]
fn where_the_gate_opens() {
    for (size, largest_nr, opens, refuses) in [
        (4, 2, 620, 759),
        (8, 4, 620, 820),
        (16, 9, 580, 848),
        (28, 16, 574, 860),
        (32, 19, 559, 862),
        (64, 38, 559, 869),
        (112, 67, 556, 872),
    ] {
        let mut core = busy(&caches(&[size], 1), "linux-6.2+sis-short", &[]);
        let task = wakee(&mut core, 0, 5_000);
        let waker = sleeper(&mut core, WAKER, 0, 0, 0);
        core.cpu_mut(0).queue.curr_dur_ns = 5_000;
        let mut at = |util: Option<u32>, depth: Option<u32>| {
            for cpu in 0..size as u32 {
                core.cpu_mut(cpu).load.avg.util_avg = util.unwrap_or(0);
            }
            core.sis_update(0, 0);
            core.cpu_mut(0).idle.nr_idle_scan = depth.unwrap_or(core.cpu(0).idle.nr_idle_scan);
            wake(&mut core, &task, &waker, false).reason
        };
        assert_eq!(at(Some(opens - 1), None), Reason::TargetBusy, "{size}");
        assert_eq!(at(Some(opens), None), Reason::ShortStack, "{size}");
        assert_eq!(at(Some(refuses - 1), None), Reason::ShortStack, "{size}");
        assert_eq!(at(Some(refuses), None), Reason::TargetNoScan, "{size}");
        assert_eq!(at(None, Some(largest_nr - 1)), Reason::ShortStack, "{size}");
        assert_eq!(at(None, Some(largest_nr)), Reason::TargetBusy, "{size}");
    }
}

/// Goal: exactly 60 % is not less: a cache of 20 CPUs and a depth of 11, 5 x 12 = 3 x 20. Source:
/// docs/rules/short-wakes.md#hunk-b (strict).
#[test]
fn exactly_sixty_percent_is_closed() {
    for (depth, reason) in [(10, Reason::ShortStack), (11, Reason::TargetBusy)] {
        let mut core = busy(&caches(&[20], 1), "linux-6.2+sis-short", &[]);
        core.cpu_mut(0).idle.nr_idle_scan = depth;
        core.cpu_mut(0).queue.curr_dur_ns = 5_000;
        let task = wakee(&mut core, 0, 5_000);
        let waker = sleeper(&mut core, WAKER, 0, 0, 0);
        assert_eq!(wake(&mut core, &task, &waker, false).reason, reason);
    }
}

/// Goal: without SIS_UTIL hunk B of v5 is unreachable, that of v4 is not; before 5.12 likewise.
/// Source: docs/rules/short-wakes.md#hunk-b, docs/rules/short-wakes.md#short-versions.
#[test]
fn the_gate_needs_sis_util() {
    for (name, overrides, reason) in [
        ("linux-6.2+sis-short=v5", "off", Reason::IdleCpu),
        ("linux-6.2+sis-short=v4", "off", Reason::ShortStack),
        ("linux-4.17+sis-short=v5", "on", Reason::IdleCpu),
        ("linux-4.17+sis-short=v4", "on", Reason::ShortStack),
    ] {
        let set = [("sis_util", overrides), ("sis_prop", "off")];
        let mut core = busy(&caches(&[112], 1), name, &set);
        core.cpu_mut(0).idle.nr_idle_scan = 56;
        core.cpu_mut(0).queue.curr_dur_ns = 5_000;
        make_idle(&mut core, 50);
        let task = wakee(&mut core, 0, 5_000);
        let waker = sleeper(&mut core, WAKER, 0, 0, 0);
        let choice = wake(&mut core, &task, &waker, false);
        assert_eq!(choice.reason, reason, "{name} sis_util={overrides}");
    }
}

// ------------------------------------------------------------------------------- scenarios

/// Goal: one waker, seven short wakees, a busy cache: v5 stacks the first one only, since its CPU
/// then has two tasks; v6 stacks while its partner stays the same (its first flip, here the first
/// wake-up of another, ends that); v8 never, as nobody of them woke it. Source:
/// docs/rules/short-wakes.md#short-scenarios, point 4.
#[test]
fn a_fan_out_of_seven() {
    // Who stays on CPU 0 of the seven, if the first had been the waker's partner before.
    let stacked = |version: &str| {
        let name = format!("linux-6.2+sis-short={version}");
        let mut core = busy(&caches(&[112], 1), &name, &[]);
        core.cpu_mut(0).idle.nr_idle_scan = 56;
        core.cpu_mut(0).queue.curr_dur_ns = 5_000;
        let mut waker = sleeper(&mut core, WAKER, 0, 0, 0);
        waker.raw_mut().waker.last_wakee = 1;
        waker.raw_mut().waker.flip_decay_ns = NOW;
        let mut tasks = vec![waker];
        let mut on_0 = Vec::new();
        for number in 0..7 {
            let mut task = wakee(&mut core, 0, 5_000);
            task.raw_mut().id = if number == 0 { 1 } else { 10 + number };
            tasks.push(task);
            let request = Request {
                waker: Waker::Task(0),
                ..ask(PlaceKind::Wake, 0, 0)
            };
            let index = tasks.len() - 1;
            make_idle(&mut core, 50);
            let choice = core.select_cpu(&mut tasks, index, &request);
            if choice.cpu == 0 {
                on_0.push(number);
                core.cpu_mut(0).queue.nr_running += 1;
            }
        }
        (on_0, tasks)
    };
    assert_eq!(stacked("v5").0, [0]);
    let (v6, tasks) = stacked("v6");
    assert_eq!(v6, [0], "its partner of before");
    assert_eq!(tasks[0].raw().waker.wakee_flips, 6);
    assert!(stacked("v7").0.is_empty() && stacked("v8").0.is_empty());
    // After the first flip v6 stacks nobody, though its CPU has one task.
    let state = State {
        waker_flips: 1,
        ..State::stacking()
    };
    assert_eq!(state.ask("v6").reason, Reason::IdleCpu);
    assert_eq!(state.ask("v5").reason, Reason::ShortStack);
}

/// Goal: a wake-up that changes the partner counts before it is decided. Source:
/// docs/rules/short-wakes.md#short-versions (v6), docs/rules/wake-ups.md#wake-wide.
#[test]
fn the_flip_of_this_wake_up_counts() {
    let (mut core, task, mut waker) = State::stacking().build("v6");
    waker.raw_mut().waker.last_wakee = 77;
    let choice = wake(&mut core, &task, &waker, false);
    assert_eq!(choice.reason, Reason::IdleCpu);
}

// ------------------------------------------------------------------------------- prototype

/// Goal: the dropped prototype compares the waker's average with what searches cost: a search of 8
/// of 8 CPUs at 50 ns is 400 ns; the average starts at 0 and takes an eighth: 50 ns. A waker of 49
/// ns then spares the search, one of 50 ns does not; without a known average neither. Source:
/// docs/rules/short-wakes.md#short-facts (last point), docs/decisions/028.
#[test]
fn the_prototype_compares_with_the_search() {
    let facts = caches(&[9], 1);
    let mut core = busy(&facts, "linux-6.2+sis-short=scan-cost", &[]);
    let task = wakee(&mut core, 0, 10_000_000);
    let waker = sleeper(&mut core, WAKER, 0, 0, 0);
    core.cpu_mut(0).idle.nr_idle_scan = 8;
    core.cpu_mut(0).queue.curr_dur_ns = 1;
    let first = wake(&mut core, &task, &waker, false);
    assert_eq!(
        first.reason,
        Reason::TargetBusy,
        "nothing is known of searches"
    );
    let level = core.cpu(0).topo.llc_level as usize;
    assert_eq!(core.scanned(), 8);
    assert_eq!(core.cpu(0).balance.lb[level].avg_scan_cost_ns, 50);
    for (dur_ns, nr, reason) in [
        (49, 1, Reason::ShortNoScan),
        (49, 2, Reason::TargetBusy),
        (50, 1, Reason::TargetBusy),
        (0, 1, Reason::TargetBusy),
    ] {
        core.cpu_mut(0).balance.lb[level].avg_scan_cost_ns = 50;
        (
            core.cpu_mut(0).queue.curr_dur_ns,
            core.cpu_mut(0).queue.nr_running,
        ) = (dur_ns, nr);
        let choice = wake(&mut core, &task, &waker, false);
        assert_eq!((choice.cpu, choice.reason), (0, reason), "{dur_ns} {nr}");
    }
    let mut core = busy(&facts, "linux-6.2+sis-short", &[]);
    core.cpu_mut(0).idle.nr_idle_scan = 8;
    wake(&mut core, &task, &waker, false);
    let cost = core.cpu(0).balance.lb[level].avg_scan_cost_ns;
    assert_eq!(cost, 0, "nobody else keeps the average");
}
