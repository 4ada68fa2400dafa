//! The wake-up fast path: hand-built states for each step, then an independent model of the whole
//! path (record_wakee, wake_wide, wake_affine, idle search) on random states. Source:
//! docs/rules/wake-ups.md#wake-wide to docs/rules/wake-ups.md#idle-scan, 4.17 form (docs in the
//! core name what differs).
//!
//! What must stay: `Model` calls nothing of the core. Steps are numbered as the page numbers them;
//! the era is 4.17, the later form is in wake_7_3.rs. It covers policy/src/placement/select.c and
//! idle_scan_5_11.c. Free: seeds and numbers of states, and how helpers build one.
//! Tests by part: `step_1_idle_target`, `step_2_idle_prev`, `step_4_recent`,
//! `step_6_no_cache_domain`, `step_9_busy_target` (`wp_select_idle_sibling`); `step_8_idle_core`
//! (`wp_select_idle_core_5_11`); `step_8_scan_wraps`, `step_8_scan_is_limited`, `scan_cost_average`
//! (`wp_select_idle_cpu_5_11`, `wp_scan_limit`, `wp_span_index`); `idle_sibling_thread`
//! (`wp_idle_thread`); `wake_wide_table`, `wake_wide_without_a_cache` (`wp_wake_wide`);
//! `children_have_the_flips_of_their_parent` (`wp_task_fork`); `record_wakee` (`wp_record_wakee`);
//! `wake_affine_by_weight` (`wp_wake_affine_weight`); `wake_affine_sync_alone`, `wake_affine_idle`
//! (`wp_wake_affine_idle`); `one_allowed_cpu` (one allowed CPU);
//! `random_states_agree_with_the_model` (all of them together).
//! Helpers, and who fails with them: `smt_machine`, `wake`, `idle` (most tests,
//! `step_1_idle_target` among them); `all_busy`, `wakee` (all tests, `step_1_idle_target` among
//! them); `cache`, `near`, `place`, `random_model`, `random_case`, `ask_core`
//! (`random_states_agree_with_the_model`); `wide` (`wake_wide_table`); `affine`
//! (`wake_affine_by_weight`, `wake_affine_sync_alone`, `random_states_agree_with_the_model`);
//! `from_0_to_3` (`wake_affine_by_weight`, `wake_affine_sync_alone`).

use crate::common;

use common::{NOW, Rng, ask, cluster, core, freeze, machine, make_busy, make_idle, sleeper};
use wakeplace_policy_sys::{
    Choice, Core, LevelFacts, MachineFacts, PlaceKind, Reason, Request, Rule, Task, Waker, sys,
};

/// `llcs` caches of `cores` cores of `threads` threads; threads of a core are neighbours.
fn smt_machine(llcs: usize, cores: usize, threads: usize) -> MachineFacts {
    let per_llc = cores * threads;
    let mut facts = machine(&vec![cluster(per_llc, 1024); llcs]);
    facts.perf_domains.clear();
    if threads > 1 {
        let level = LevelFacts {
            shares_capacity: true,
            shares_cache: true,
            group_of: common::labels(std::iter::repeat_n(threads, llcs * cores)),
            ..LevelFacts::default()
        };
        facts.levels.insert(0, level);
    }
    facts
}

/// All busy, flips 0 for all, no history.
fn all_busy(facts: &MachineFacts, overrides: &[(&str, &str)]) -> Core {
    let mut core = core(facts, "linux-4.17", overrides);
    freeze(&mut core);
    for cpu in 0..core.state().nr_cpus {
        make_busy(&mut core, cpu);
        core.cpu_mut(cpu).load.avg.load_avg = 1024;
        core.cpu_mut(cpu).load.avg.runnable_avg = 1024;
    }
    core
}

/// A task that last ran on `prev` and remembers `recent`.
fn wakee(core: &mut Core, prev: u32, recent: u32) -> Task {
    let mut task = sleeper(core, 1, prev, 0, 0);
    task.raw_mut().waker.recent_used_cpu = recent;
    task
}

fn wake(core: &mut Core, task: &Task, this_cpu: u32) -> Choice {
    let request = ask(PlaceKind::Wake, this_cpu, task.cpu());
    core.select_cpu(&mut [task.clone()], 0, &request)
}

fn idle(core: &mut Core, cpus: &[u32]) {
    for cpu in cpus {
        make_idle(core, *cpu);
    }
}

// ------------------------------------------------------------------------- idle sibling, each step

/// Goal: step 1, the target itself; idle means current idle, nothing queued, nothing pending.
/// Source: docs/rules/wake-ups.md#idle-sibling step 1 and E.
#[test]
fn step_1_idle_target() {
    let mut core = all_busy(&smt_machine(1, 4, 1), &[]);
    idle(&mut core, &[1, 2]);
    let task = wakee(&mut core, 1, 1);
    let got = wake(&mut core, &task, 1);
    assert_eq!((got.cpu, got.reason), (1, Reason::IdleTarget));
    for spoil in [
        (|c| c.queue.pending = 1) as fn(&mut sys::wp_cpu),
        |c| c.queue.nr_running = 1,
        |c| c.queue.curr_idle = 0,
    ] {
        make_idle(&mut core, 1);
        spoil(core.cpu_mut(1));
        let got = wake(&mut core, &task, 1);
        assert_eq!((got.cpu, got.reason), (2, Reason::IdleCpu));
        core.cpu_mut(1).queue.pending = 0;
    }
}

/// Goal: step 2, an idle previous CPU under the target's cache, before the recently used one.
/// Source: docs/rules/wake-ups.md#idle-sibling step 2, C ("step 2 before 4"). The waking CPU 0 is
/// the target by load: it has none.
#[test]
fn step_2_idle_prev() {
    for (prev, expected) in [(3, (3, Reason::IdlePrev)), (5, (2, Reason::IdleRecent))] {
        let mut core = all_busy(&smt_machine(2, 4, 1), &[("wake_affine_idle", "off")]);
        core.cpu_mut(0).load.avg.runnable_avg = 0;
        core.cpu_mut(prev).load.avg.runnable_avg = 9000;
        idle(&mut core, &[prev, 2]);
        let task = wakee(&mut core, prev, 2);
        let got = wake(&mut core, &task, 0);
        assert_eq!(
            (got.cpu, got.reason),
            expected,
            "CPU {prev} shares the cache or not"
        );
    }
}

/// Goal: step 4, the recently used CPU: idle, allowed, under the target's cache; replaced by prev.
/// Source: docs/rules/wake-ups.md#idle-sibling step 4.
#[test]
fn step_4_recent() {
    let facts = smt_machine(2, 4, 1);
    let try_recent = |recent: u32, busy: bool, allowed: &[u32], on: &str| {
        let mut core = all_busy(&facts, &[("sis_recent_used", on)]);
        if !busy {
            idle(&mut core, &[recent]);
        }
        let mut task = wakee(&mut core, 1, recent);
        task.set_allowed(Some(allowed), 8);
        let mut tasks = [task];
        let got = core.select_cpu(&mut tasks, 0, &ask(PlaceKind::Wake, 1, 1));
        (got.cpu, got.reason, tasks[0].raw().waker.recent_used_cpu)
    };
    let all: Vec<u32> = (0..8).collect();
    assert_eq!(try_recent(3, false, &all, "on"), (3, Reason::IdleRecent, 1));
    assert_eq!(try_recent(3, true, &all, "on").1, Reason::TargetBusy);
    assert_eq!(try_recent(3, false, &[0, 1, 2], "on").1, Reason::TargetBusy);
    assert_eq!(
        try_recent(5, false, &all, "on").1,
        Reason::TargetBusy,
        "another cache"
    );
    assert_eq!(try_recent(3, false, &all, "off").1, Reason::IdleCpu);
}

/// Goal: step 6, a CPU that shares its cache with nobody is the answer. Source:
/// docs/rules/wake-ups.md#idle-sibling step 6.
#[test]
fn step_6_no_cache_domain() {
    let facts = machine(&[cluster(1, 1024), cluster(3, 1024)]);
    let mut core = all_busy(&facts, &[]);
    idle(&mut core, &[2]);
    let task = wakee(&mut core, 0, 0);
    let got = wake(&mut core, &task, 0);
    assert_eq!((got.cpu, got.reason), (0, Reason::TargetNoLlc));
}

/// Goal: step 8 with SMT: a core with all threads idle, if the cache's flag says there may be one;
/// a search that fails clears the flag. Source: docs/rules/wake-ups.md#idle-scan (flag set) and
/// has_idle_cores.
#[test]
fn step_8_idle_core() {
    let facts = smt_machine(1, 4, 2);
    let mut core = all_busy(&facts, &[("sis_prop", "off")]);
    idle(&mut core, &[3, 6, 7]);
    core.cpu_mut(0).idle.has_idle_cores = 1;
    let task = wakee(&mut core, 0, 0);
    let got = wake(&mut core, &task, 0);
    assert_eq!((got.cpu, got.reason), (6, Reason::IdleCore));
    make_busy(&mut core, 7);
    let got = wake(&mut core, &task, 0);
    assert_eq!(
        (got.cpu, got.reason),
        (3, Reason::IdleCpu),
        "half a core only"
    );
    assert_eq!(
        core.cpu(0).idle.has_idle_cores,
        0,
        "the failed search cleared the flag"
    );
    idle(&mut core, &[7]);
    let got = wake(&mut core, &task, 0);
    assert_eq!(
        (got.cpu, got.reason),
        (3, Reason::IdleCpu),
        "flag clear: no core search"
    );
    core.enter_idle(7, NOW);
    assert_eq!(
        core.cpu(0).idle.has_idle_cores,
        1,
        "set when a CPU goes idle"
    );
}

/// Goal: step 8 without SMT: from the target on, wrapping, allowed CPUs only. Source:
/// docs/rules/wake-ups.md#idle-scan.
#[test]
fn step_8_scan_wraps() {
    let mut core = all_busy(&smt_machine(2, 8, 1), &[("sis_prop", "off")]);
    idle(&mut core, &[1, 2, 9]);
    let mut task = wakee(&mut core, 5, 5);
    let got = wake(&mut core, &task, 5);
    assert_eq!((got.cpu, got.reason), (1, Reason::IdleCpu));
    task.set_allowed(Some(&[2, 5, 6, 9]), 16);
    assert_eq!(wake(&mut core, &task, 5).cpu, 2);
    idle(&mut core, &[6]);
    assert_eq!(wake(&mut core, &task, 5).cpu, 6);
}

/// Goal: SIS_PROP looks at size * avg_idle / (cost + 1) CPUs, 4 if that is not more, less the
/// count's own start: `--nr <= 0` ends the scan, so nr - 1 are seen. Source:
/// docs/rules/wake-ups.md#idle-scan SIS_PROP; 4.17 form: avg_idle / 512. Size 8, avg_idle 512 * 100
/// ns: budget 800.
#[test]
fn step_8_scan_is_limited() {
    let seen = |cost: u64, idle_cpu: u32| {
        let mut core = all_busy(&smt_machine(1, 8, 1), &[]);
        let c = core.cpu_mut(0);
        c.idle.avg_idle_ns = 51_200;
        c.balance.lb[0].avg_scan_cost_ns = cost;
        idle(&mut core, &[idle_cpu]);
        let task = wakee(&mut core, 0, 0);
        wake(&mut core, &task, 0).reason == Reason::IdleCpu
    };
    // Cost 132 + 1: 800 / 133 = 6, so CPUs 0 to 4 are seen.
    assert!(seen(132, 4));
    assert!(!seen(132, 5));
    // Cost 199 + 1: 800 is not above 4 * 200, so 4: CPUs 0 to 2.
    assert!(seen(199, 2));
    assert!(!seen(199, 3));
}

/// Goal: the scan's cost is averaged by 1/8. Source: docs/rules/wake-ups.md#idle-scan (scan cost
/// EWMA 1/8). 8 CPUs of 50 ns = 400.
#[test]
fn scan_cost_average() {
    let mut core = all_busy(&smt_machine(1, 8, 1), &[("sis_prop", "off")]);
    let task = wakee(&mut core, 0, 0);
    wake(&mut core, &task, 0);
    assert_eq!(core.cpu(0).balance.lb[0].avg_scan_cost_ns, 50);
    wake(&mut core, &task, 0);
    assert_eq!(core.cpu(0).balance.lb[0].avg_scan_cost_ns, 50 + 43);
}

/// Goal: an idle thread of the target's core when the limited scan gave up. Source:
/// docs/rules/wake-ups.md#idle-sibling (SMT), 4.17.
#[test]
fn idle_sibling_thread() {
    let mut core = all_busy(&smt_machine(1, 8, 4), &[]);
    let c = core.cpu_mut(0);
    c.idle.avg_idle_ns = 0;
    idle(&mut core, &[3]);
    let task = wakee(&mut core, 0, 0);
    let got = wake(&mut core, &task, 0);
    assert_eq!(
        (got.cpu, got.reason),
        (3, Reason::IdleSmt),
        "three seen, CPU 3 is the fourth"
    );
}

/// Goal: the last step, the busy target; idle CPUs of another cache do not count. Source:
/// docs/rules/wake-ups.md#idle-sibling step 9.
#[test]
fn step_9_busy_target() {
    let mut core = all_busy(&smt_machine(2, 4, 1), &[]);
    idle(&mut core, &[6]);
    let task = wakee(&mut core, 2, 2);
    let got = wake(&mut core, &task, 2);
    assert_eq!((got.cpu, got.reason), (2, Reason::TargetBusy));
}

// ------------------------------------------------------------------------------- wake wide

/// Is the wake-up wide? Waker's CPU idle, prev busy, same cache: not wide takes the waker's CPU as
/// target, wide finds it in the scan around prev only.
fn wide(waker_flips: u32, wakee_flips: u32) -> bool {
    let mut core = all_busy(&smt_machine(1, 8, 1), &[("sis_prop", "off")]);
    idle(&mut core, &[7]);
    let mut task = wakee(&mut core, 0, 0);
    task.raw_mut().waker.wakee_flips = wakee_flips;
    let waker = &mut core.cpu_mut(7).idle.idle_waker;
    (waker.wakee_flips, waker.last_wakee, waker.flip_decay_ns) = (waker_flips, 1, NOW);
    let got = wake(&mut core, &task, 7);
    assert_eq!(got.cpu, 7);
    got.reason == Reason::IdleCpu
}

/// Goal: s >= llc_size and m >= s * llc_size, whoever is the master. Source:
/// docs/rules/wake-ups.md#wake-wide-numbers, llc 8.
#[test]
fn wake_wide_table() {
    for (m, s, expected) in [
        (64, 8, true),
        (63, 8, false),
        (100, 7, false),
        (1000, 8, true),
    ] {
        assert_eq!(wide(m, s), expected, "({m},{s})");
        assert_eq!(wide(s, m), expected, "({s},{m})");
    }
}

/// Goal: a cache of one CPU makes (1,1) wide. Source: docs/rules/wake-ups.md#wake-wide-numbers. A
/// synchronous waker alone on its CPU is the target unless the wake-up is wide.
#[test]
fn wake_wide_without_a_cache() {
    for (flips, expected) in [(1, 1), (0, 0)] {
        let facts = machine(&[cluster(1, 1024), cluster(1, 1024)]);
        let mut core = all_busy(&facts, &[]);
        let mut task = wakee(&mut core, 1, 1);
        task.raw_mut().waker.wakee_flips = flips;
        let mut waker = sleeper(&mut core, 2, 0, 0, 0);
        let w = &mut waker.raw_mut().waker;
        (w.wakee_flips, w.last_wakee, w.flip_decay_ns) = (flips, 1, NOW);
        let request = Request {
            sync: true,
            waker: Waker::Task(1),
            ..ask(PlaceKind::Wake, 0, 1)
        };
        let got = core.select_cpu(&mut [task, waker], 0, &request);
        assert_eq!(got.cpu, expected, "flips {flips}");
    }
}

/// Goal: children have what their parent remembered as a waker when it forked them: those of 8
/// flips are wide for one with 64. Their last CPU is their own. Source:
/// docs/rules/wake-ups.md#what-a-fork-copies, docs/rules/wake-ups.md#wake-wide-numbers, llc 8.
#[test]
fn children_have_the_flips_of_their_parent() {
    for (flips, expected) in [(8, Reason::IdleCpu), (7, Reason::IdleTarget)] {
        let mut core = all_busy(&smt_machine(1, 8, 1), &[("sis_prop", "off")]);
        idle(&mut core, &[7]);
        let mut parent = sleeper(&mut core, 2, 3, 0, 0);
        let w = &mut parent.raw_mut().waker;
        (w.wakee_flips, w.last_wakee, w.flip_decay_ns) = (flips, 9, NOW);
        let mut child = wakee(&mut core, 0, 0);
        child.forked_by(&parent);
        let w = &child.raw().waker;
        assert_eq!(
            (w.wakee_flips, w.last_wakee, w.flip_decay_ns),
            (flips, 9, NOW)
        );
        assert_eq!(w.recent_used_cpu, 0, "not the parent's, 3");
        let waker = &mut core.cpu_mut(7).idle.idle_waker;
        (waker.wakee_flips, waker.last_wakee, waker.flip_decay_ns) = (64, 1, NOW);
        assert_eq!(wake(&mut core, &child, 7).reason, expected, "{flips} flips");
    }
}

/// Goal: a new wakee is a flip; flips are halved once, after more than a second. Source:
/// docs/rules/wake-ups.md#wake-wide.
#[test]
fn record_wakee() {
    let flips = |last: u32, decayed_at: u64, fix: &str| {
        let mut core = all_busy(&smt_machine(1, 4, 1), &[("wakee_flips_fix", fix)]);
        let task = wakee(&mut core, 0, 0);
        let waker = &mut core.cpu_mut(1).idle.idle_waker;
        (waker.wakee_flips, waker.last_wakee, waker.flip_decay_ns) = (9, last, decayed_at);
        wake(&mut core, &task, 1);
        let waker = core.cpu(1).idle.idle_waker;
        (waker.wakee_flips, waker.last_wakee, waker.flip_decay_ns)
    };
    const SECOND: u64 = 1_000_000_000;
    assert_eq!(flips(1, NOW, "off"), (9, 1, NOW), "the same wakee");
    assert_eq!(flips(5, NOW, "off"), (10, 1, NOW), "another one");
    assert_eq!(
        flips(1, NOW - SECOND, "off"),
        (9, 1, NOW - SECOND),
        "not more than a second"
    );
    assert_eq!(flips(1, NOW - SECOND - 1, "off"), (4, 1, NOW));
    assert_eq!(flips(1, NOW - 5 * SECOND, "off"), (4, 1, NOW), "once");
    assert_eq!(
        flips(5, NOW - SECOND - 1, "off"),
        (5, 1, NOW),
        "halved, then one more"
    );
    // docs/rules/capacity-aware.md#wakeup-cases: with the dropped patch the idle task records
    // nothing.
    assert_eq!(flips(5, NOW - 5 * SECOND, "on"), (9, 5, NOW - 5 * SECOND));
}

// ------------------------------------------------------------------------------- wake affine

/// Target of wake_affine between CPU 0 (waking) and CPU 3 (prev) of one cache, all busy.
fn affine(overrides: &[(&str, &str)], request: Request, change: fn(&mut Core)) -> u32 {
    let mut core = all_busy(&smt_machine(1, 4, 1), overrides);
    core.cpu_mut(0).queue.nr_running = 2;
    change(&mut core);
    // h_load of the task: 513 * 1024 / 1025 = 512.
    let mut task = wakee(&mut core, 3, 3);
    task.raw_mut().avg.load_avg = 513;
    let got = core.select_cpu(&mut [task], 0, &request);
    assert_eq!(got.reason, Reason::TargetBusy);
    got.cpu
}

fn from_0_to_3(sync: bool, waker_load: u32) -> Request {
    Request {
        sync,
        waker_load,
        ..ask(PlaceKind::Wake, 0, 3)
    }
}

/// Goal: the worked example: load 1024 on the waking CPU, all of it the waker's, task 512, 1024 on
/// prev with the task: sync goes to the waking CPU (51200 C < 55296 C + 1), not sync to prev.
/// Source: docs/rules/wake-ups.md#wake-affine-numbers.
#[test]
fn wake_affine_by_weight() {
    assert_eq!(affine(&[], from_0_to_3(true, 1024), |_| ()), 0);
    assert_eq!(affine(&[], from_0_to_3(false, 1024), |_| ()), 3);
    assert_eq!(
        affine(&[], from_0_to_3(true, 1025), |_| ()),
        0,
        "load(current) > A"
    );
    let off = [("wake_affine_weight", "off")];
    assert_eq!(
        affine(&off, from_0_to_3(true, 1024), |_| ()),
        3,
        "R: off is prev"
    );
    // Capacities weigh the loads: prev 92 % of the waking CPU's. 512*100*cap(q) < 512*108*cap(t).
    let equal = |core: &mut Core| {
        core.cpu_mut(0).load.avg.runnable_avg = 0; // A = 512, B = 512
        core.cpu_mut(3).load.capacity = 1024;
    };
    assert_eq!(affine(&[], from_0_to_3(false, 0), equal), 0, "bias of 8 %");
    let smaller = |core: &mut Core| {
        core.cpu_mut(0).load.avg.runnable_avg = 0;
        core.cpu_mut(0).load.capacity = 948; // 108 * 948 = 102384 < 102400
    };
    assert_eq!(affine(&[], from_0_to_3(false, 0), smaller), 3);
    let just = |core: &mut Core| {
        core.cpu_mut(0).load.avg.runnable_avg = 0;
        core.cpu_mut(0).load.capacity = 949; // 108 * 949 = 102492 > 102400
    };
    assert_eq!(affine(&[], from_0_to_3(false, 0), just), 0);
}

/// Goal: a synchronous waker alone on its CPU decides at once. Source:
/// docs/rules/wake-ups.md#wake-affine, WA_IDLE, point 2.
#[test]
fn wake_affine_sync_alone() {
    let alone = |core: &mut Core| {
        core.cpu_mut(0).queue.nr_running = 1;
        core.cpu_mut(0).load.avg.runnable_avg = 9000;
    };
    assert_eq!(affine(&[], from_0_to_3(true, 0), alone), 0);
    assert_eq!(
        affine(&[], from_0_to_3(false, 0), alone),
        3,
        "not synchronous: by weight"
    );
    let off = [("wake_affine_idle", "off")];
    assert_eq!(
        affine(&off, from_0_to_3(true, 0), alone),
        3,
        "switched off: by weight"
    );
}

/// Goal: an idle waking CPU is taken only under prev's cache, and then an idle prev before it.
/// Source: docs/rules/wake-ups.md#wake-affine, WA_IDLE, point 1; point 3 where the era has it.
#[test]
fn wake_affine_idle() {
    let run = |prev: u32, prev_idle: bool, overrides: &[(&str, &str)]| {
        let mut core = all_busy(&smt_machine(2, 4, 1), overrides);
        idle(&mut core, &[0]);
        core.cpu_mut(0).load.avg.runnable_avg = 9000; // the load speaks against CPU 0
        if prev_idle {
            idle(&mut core, &[prev]);
        }
        let task = wakee(&mut core, prev, prev);
        let got = wake(&mut core, &task, 0);
        (got.cpu, got.reason)
    };
    assert_eq!(run(2, false, &[]), (0, Reason::IdleTarget));
    assert_eq!(run(2, true, &[]), (2, Reason::IdleTarget));
    assert_eq!(
        run(5, false, &[]),
        (5, Reason::TargetBusy),
        "another cache: by weight"
    );
    let here_busy = |overrides: &[(&str, &str)]| {
        let mut core = all_busy(&smt_machine(2, 4, 1), overrides);
        core.cpu_mut(0).load.avg.runnable_avg = 0;
        idle(&mut core, &[5, 1]);
        core.cpu_mut(5).load.avg.runnable_avg = 9000; // the load speaks for CPU 0
        let task = wakee(&mut core, 5, 5);
        wake(&mut core, &task, 0).cpu
    };
    assert_eq!(
        here_busy(&[("wake_affine_prev_idle", "on")]),
        5,
        "(3) prev idle"
    );
    assert_eq!(
        here_busy(&[]),
        1,
        "4.17 has no (3): by weight to CPU 0, near it CPU 1"
    );
}

// ------------------------------------------------------------------------------- whole path

/// A symmetric system as the model sees it: plain lists.
struct Model {
    llc: Vec<usize>,
    core_of: Vec<usize>,
    idle: Vec<bool>,
    load: Vec<i64>,
    idle_core_flag: Vec<bool>,
    running: Vec<u32>,
    threads: usize,
}

struct Case {
    this: usize,
    prev: usize,
    recent: usize,
    allowed: Vec<bool>,
    sync: bool,
    waker_load: i64,
    task_load: i64,
    flips: (u32, u32),
}

impl Model {
    fn cache(&self, cpu: usize) -> Vec<usize> {
        let all = 0..self.llc.len();
        all.filter(|c| self.llc[*c] == self.llc[cpu]).collect()
    }

    /// 6.3, with all capacities 1024 and `pct` of the common domain.
    fn affine(&self, case: &Case) -> usize {
        let (this, prev) = (case.this, case.prev);
        let same_cache = self.llc[this] == self.llc[prev];
        if self.idle[this] && same_cache {
            return if self.idle[prev] { prev } else { this };
        }
        if case.sync && self.running[this] == 1 {
            return this;
        }
        let same_core = self.threads > 1 && self.core_of[this] == self.core_of[prev];
        let pct = if same_core {
            110
        } else if same_cache {
            117
        } else {
            125
        };
        // h_load of the task in prev's queue: its load times root / (root + 1).
        let task = case.task_load * self.load[prev] / (self.load[prev] + 1);
        let mut here = self.load[this];
        if case.sync {
            if case.waker_load > here {
                return this;
            }
            here -= case.waker_load;
        }
        let a = (here + task) * 100;
        let b = (self.load[prev] - task) * (100 + (pct - 100) / 2);
        // Times 1024 on both sides; the extra 1 of a synchronous wake-up decides ties only.
        if a * 1024 < b * 1024 + i64::from(case.sync) {
            this
        } else {
            prev
        }
    }

    /// docs/rules/wake-ups.md#idle-sibling and docs/rules/wake-ups.md#idle-scan, without a limit.
    fn near(&self, case: &Case, target: usize) -> (usize, Reason) {
        let (prev, recent) = (case.prev, case.recent);
        let shares = |c: usize| self.llc[c] == self.llc[target];
        if self.idle[target] {
            return (target, Reason::IdleTarget);
        }
        if prev != target && shares(prev) && self.idle[prev] {
            return (prev, Reason::IdlePrev);
        }
        let usable = self.idle[recent] && case.allowed[recent];
        if recent != prev && recent != target && shares(recent) && usable {
            return (recent, Reason::IdleRecent);
        }
        let mut order = self.cache(target);
        let at = order
            .iter()
            .position(|c| *c == target)
            .expect("in its cache");
        order.rotate_left(at);
        let free = |c: usize| self.idle[c] && case.allowed[c];
        if self.threads > 1 && self.idle_core_flag[self.llc[target]] {
            let whole = |cpu: usize| {
                let mut threads =
                    (0..self.llc.len()).filter(|t| self.core_of[*t] == self.core_of[cpu]);
                threads.all(|t| self.idle[t])
            };
            if let Some(cpu) = order.iter().find(|c| case.allowed[**c] && whole(**c)) {
                return (*cpu, Reason::IdleCore);
            }
        }
        if let Some(cpu) = order.iter().find(|c| free(**c)) {
            return (*cpu, Reason::IdleCpu);
        }
        (target, Reason::TargetBusy)
    }

    fn place(&self, case: &Case) -> (usize, Reason) {
        let factor = self.cache(case.this).len() as u32;
        let (m, s) = (
            case.flips.0.max(case.flips.1),
            case.flips.0.min(case.flips.1),
        );
        let wide = s >= factor && m >= s * factor;
        let affine = !wide && case.allowed[case.this] && case.this != case.prev;
        let target = if affine { self.affine(case) } else { case.prev };
        let (cpu, reason) = self.near(case, target);
        if case.allowed[cpu] {
            return (cpu, reason);
        }
        // docs/rules/wake-ups.md#try-to-wake-up step 3: a CPU that is not allowed is replaced; the
        // core takes the lowest allowed one.
        let first = case
            .allowed
            .iter()
            .position(|a| *a)
            .expect("an allowed CPU");
        (first, Reason::NotAllowed)
    }
}

fn random_model(rng: &mut Rng, core: &mut Core, cores: usize, threads: usize) -> Model {
    let n = core.state().nr_cpus as usize;
    let per_llc = cores * threads;
    let rate = u64::from(rng.range(1, 6));
    let mut model = Model {
        llc: (0..n).map(|c| c / per_llc).collect(),
        core_of: (0..n).map(|c| c / threads).collect(),
        idle: Vec::new(),
        load: Vec::new(),
        idle_core_flag: Vec::new(),
        running: Vec::new(),
        threads,
    };
    for cpu in 0..n {
        let idle = rng.one_in(rate);
        let load = rng.range(0, 3000);
        if idle {
            make_idle(core, cpu as u32);
        } else {
            make_busy(core, cpu as u32);
        }
        let c = core.cpu_mut(cpu as u32);
        c.queue.nr_running = if idle { 0 } else { rng.range(1, 3) };
        c.load.avg.load_avg = load;
        c.load.avg.runnable_avg = load;
        model.idle.push(idle);
        model.load.push(i64::from(load));
        model.running.push(c.queue.nr_running);
        if cpu % per_llc == 0 {
            let flag = rng.one_in(2);
            c.idle.has_idle_cores = u32::from(flag);
            model.idle_core_flag.push(flag);
        }
    }
    model
}

fn random_case(rng: &mut Rng, n: usize, llc: u32) -> Case {
    let all = rng.one_in(2);
    let mut allowed: Vec<bool> = (0..n).map(|_| all || rng.one_in(2)).collect();
    let (prev, this) = (rng.index(n), rng.index(n));
    allowed[prev] |= !rng.one_in(10);
    allowed[(prev + 1) % n] = true;
    allowed[(prev + 2) % n] = true; // at least two: a choice
    let flips = (rng.range(0, 2 * llc), rng.range(0, 2 * llc * llc));
    Case {
        this,
        prev,
        recent: rng.index(n),
        allowed,
        sync: rng.one_in(2),
        waker_load: i64::from(rng.range(0, 1500)),
        task_load: i64::from(rng.range(0, 1500)),
        flips: if rng.one_in(2) {
            (flips.1, flips.0)
        } else {
            flips
        },
    }
}

fn ask_core(core: &mut Core, case: &Case) -> Choice {
    let n = case.allowed.len() as u32;
    let mut task = wakee(core, case.prev as u32, case.recent as u32);
    let list: Vec<u32> = (0..n).filter(|c| case.allowed[*c as usize]).collect();
    task.set_allowed(Some(&list), n);
    task.raw_mut().avg.load_avg = case.task_load as u32;
    task.raw_mut().waker.wakee_flips = case.flips.1;
    let mut waker = sleeper(core, 2, case.this as u32, 0, 0);
    let w = &mut waker.raw_mut().waker;
    (w.wakee_flips, w.last_wakee, w.flip_decay_ns) = (case.flips.0, 1, NOW);
    let request = Request {
        sync: case.sync,
        waker: Waker::Task(1),
        waker_load: case.waker_load as u32,
        ..ask(PlaceKind::Wake, case.this as u32, case.prev as u32)
    };
    core.select_cpu(&mut [task, waker], 0, &request)
}

/// Goal: the whole fast path equals an independent evaluation on 60,000 random symmetric states,
/// with and without SMT, in one and in two caches. Source: docs/rules/wake-ups.md#wake-wide to
/// docs/rules/wake-ups.md#idle-scan (4.17 form).
#[test]
fn random_states_agree_with_the_model() {
    let mut reasons = [0u32; Reason::COUNT];
    for (llcs, cores, threads) in [(1, 4, 1), (2, 4, 1), (2, 3, 2), (3, 2, 2)] {
        let facts = smt_machine(llcs, cores, threads);
        let mut core = core(&facts, "linux-4.17", &[("sis_prop", "off")]);
        freeze(&mut core);
        let mut rng = Rng(11);
        for round in 0..15_000 {
            let model = random_model(&mut rng, &mut core, cores, threads);
            let case = random_case(&mut rng, llcs * cores * threads, (cores * threads) as u32);
            let want = model.place(&case);
            let got = ask_core(&mut core, &case);
            let got_pair = (got.cpu as usize, got.reason);
            assert_eq!(got_pair, want, "{llcs}x{cores}x{threads} round {round}");
            assert!(matches!(got.rule, Rule::IdleSibling | Rule::Affinity));
            reasons[got.reason.index()] += 1;
        }
    }
    for reason in [
        Reason::IdleTarget,
        Reason::IdlePrev,
        Reason::IdleRecent,
        Reason::IdleCore,
        Reason::IdleCpu,
        Reason::TargetBusy,
        Reason::NotAllowed,
    ] {
        assert!(reasons[reason.index()] > 50, "{reason} is exercised");
    }
}

/// Goal: one allowed CPU leaves no choice, whatever the state. Source:
/// docs/rules/wake-ups.md#try-to-wake-up step 3.
#[test]
fn one_allowed_cpu() {
    let mut core = all_busy(&smt_machine(1, 4, 1), &[]);
    idle(&mut core, &[0, 1]);
    let mut task = wakee(&mut core, 1, 1);
    task.set_allowed(Some(&[3]), 4);
    let got = wake(&mut core, &task, 0);
    assert_eq!(
        (got.cpu, got.rule, got.reason),
        (3, Rule::Affinity, Reason::OneAllowed)
    );
}
