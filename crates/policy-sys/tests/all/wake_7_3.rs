//! The wake-up fast path of Linux 7.3: hand-built states for each step, the limit of the idle
//! search. The asymmetric search is in `wake_asym_7_3.rs`, the path as a whole against an
//! independent model in `wake_model_7_3.rs`. Source: docs/rules/wake-ups.md#wake-wide to
//! docs/rules/wake-ups.md#idle-scan.
//!
//! What must stay: steps are numbered as the page numbers them; depths are of
//! tests/data/sis_util_scan.csv. It covers policy/src/placement/idle_sibling.c, idle_scan.c,
//! idle_hints.c and select.c. Free: how helpers build a machine, and which CPU is busy where no
//! rule reads it.
//! Tests by part: `step_1_target`, `step_2_prev`, `step_6_no_cache_domain`, `step_9_target`
//! (`wp_select_idle_sibling`); `queues_count_idle_policy` (`wp_idle_policy_enqueue`,
//! `wp_idle_policy_dequeue`); `step_2_and_9_clusters` (`wp_cpus_share_resources`); `step_3_kthread`
//! (`wp_kthread_done`); `step_4_recent` (`wp_take_recent`); `step_7_sibling_of_prev`
//! (`wp_select_idle_smt`); `step_8_idle_core` (`wp_select_idle_core`); `step_8_order`,
//! `search_ends_at_the_depth`, `depth_and_idle_cores` (`wp_select_idle_cpu`, `wp_scan_dom`);
//! `wake_wide` (`wp_wake_wide`); `wake_affine_by_weight` (`wp_wake_affine_weight`);
//! `wake_affine_by_idle` (`wp_wake_affine_idle`); `search_depth`, `search_depth_of_a_core`,
//! `depth_belongs_to_the_search_domain` (`wp_sis_depth`, `wp_update_idle_cpu_scan`).
//! Helpers, and who fails with them: `layers`, `all_busy`, `wakee`, `idle` (most tests,
//! `step_1_target` among them); `idle_policy_only` (`step_1_target`, `step_2_prev`,
//! `step_8_idle_core`); `affine` (`wake_affine_by_weight`, `wake_affine_by_idle`).

use crate::common;

use common::wake::{seen, wake, wake_sync};
use common::{NOW, ask, cluster, core, freeze, hikey960, machine, make_busy, make_idle, sleeper};
use common::{labels, table};
use wakeplace_policy_sys::{
    Core, LevelFacts, MachineFacts, PlaceKind, Reason, Request, Task, Waker,
};

/// `llcs` caches of `clusters` clusters of `cores` cores of `threads` threads, each level only
/// where it is more than one.
fn layers(llcs: usize, clusters: usize, cores: usize, threads: usize) -> MachineFacts {
    let per_llc = clusters * cores * threads;
    let mut facts = machine(&vec![cluster(per_llc, 1024); llcs]);
    facts.perf_domains.clear();
    let level = |size: usize, count: usize| LevelFacts {
        shares_cache: true,
        shares_capacity: size == threads,
        cluster: size != threads,
        group_of: labels(std::iter::repeat_n(size, count)),
        ..LevelFacts::default()
    };
    if clusters > 1 {
        facts
            .levels
            .insert(0, level(cores * threads, llcs * clusters));
    }
    if threads > 1 {
        facts
            .levels
            .insert(0, level(threads, llcs * clusters * cores));
    }
    facts
}

/// All busy, and the search goes as far as it likes.
fn all_busy(facts: &MachineFacts, overrides: &[(&str, &str)]) -> Core {
    let mut core = core(facts, "linux-7.3", overrides);
    freeze(&mut core);
    for cpu in 0..core.state().nr_cpus {
        make_busy(&mut core, cpu);
        core.cpu_mut(cpu).load.avg.load_avg = 1024;
        core.cpu_mut(cpu).idle.nr_idle_scan = 1024;
    }
    core
}

/// A task that last ran on `prev` and remembers `recent`.
fn wakee(core: &mut Core, prev: u32, recent: u32) -> Task {
    let mut task = sleeper(core, 1, prev, 0, 0);
    task.raw_mut().waker.recent_used_cpu = recent;
    task
}

fn idle(core: &mut Core, cpus: &[u32]) {
    cpus.iter().for_each(|cpu| make_idle(core, *cpu));
}

/// Runs only tasks of the policy SCHED_IDLE.
fn idle_policy_only(core: &mut Core, cpu: u32) {
    make_busy(core, cpu);
    core.cpu_mut(cpu).queue.nr_idle_policy = 1;
}

// ------------------------------------------------------------------------- idle sibling, each step

/// Goal: step 1, the target, idle or with nothing but SCHED_IDLE tasks. Source:
/// docs/rules/wake-ups.md#idle-sibling step 1, E.
#[test]
fn step_1_target() {
    let mut core = all_busy(&layers(1, 1, 4, 1), &[]);
    idle(&mut core, &[1, 2]);
    let task = wakee(&mut core, 1, 1);
    assert_eq!(wake(&mut core, &task, 1), (1, Reason::IdleTarget));
    core.cpu_mut(1).queue.pending = 1;
    assert_eq!(wake(&mut core, &task, 1), (2, Reason::IdleCpu));
    core.cpu_mut(1).queue.pending = 0;
    idle_policy_only(&mut core, 1);
    assert_eq!(wake(&mut core, &task, 1), (1, Reason::IdleTarget));
    core.cpu_mut(1).queue.nr_running = 2;
    assert_eq!(
        wake(&mut core, &task, 1),
        (2, Reason::IdleCpu),
        "one of two"
    );
}

/// Goal: a queue counts its SCHED_IDLE tasks from enqueue to dequeue, as they were at the enqueue.
/// Source: docs/rules/wake-ups.md#idle-sibling step 1 ("running only SCHED_IDLE tasks").
#[test]
fn queues_count_idle_policy() {
    let mut core = core(&layers(1, 1, 2, 1), "linux-7.3", &[]);
    let mut tasks: Vec<Task> = (1..=2)
        .map(|id| {
            let mut task = Task::new(id, 3, 0, None, 2);
            core.task_init(&mut task);
            task.raw_mut().idle_policy = u32::from(id == 1);
            task
        })
        .collect();
    for task in &mut tasks {
        core.task_new(task, 0, NOW);
        let _ = core.enqueue_new(task, 0, NOW);
    }
    assert_eq!(core.cpu(0).queue.nr_idle_policy, 1);
    tasks[0].raw_mut().idle_policy = 0;
    tasks[1].raw_mut().idle_policy = 1;
    let _ = core.dequeue_sleep(&mut tasks[1], NOW);
    assert_eq!(core.cpu(0).queue.nr_idle_policy, 1);
    let _ = core.dequeue_sleep(&mut tasks[0], NOW);
    assert_eq!(core.cpu(0).queue.nr_idle_policy, 0);
}

/// Goal: step 2, an idle prev under the target's cache, before the recently used CPU. Source:
/// docs/rules/wake-ups.md#idle-sibling step 2, C ("step 2 before 4").
#[test]
fn step_2_prev() {
    let mut core = all_busy(&layers(2, 1, 4, 1), &[]);
    let task = wakee(&mut core, 3, 2);
    idle(&mut core, &[2]);
    idle_policy_only(&mut core, 3);
    assert_eq!(wake_sync(&mut core, &task, 0), (3, Reason::IdlePrev));
    let far = wakee(&mut core, 5, 2);
    idle(&mut core, &[5]);
    assert_eq!(
        wake_sync(&mut core, &far, 0),
        (2, Reason::IdleRecent),
        "prev under another cache"
    );
}

/// Goal: step 2 on a machine with clusters: an idle prev in another cluster is taken only if the
/// search finds nothing (step 9). Source: docs/rules/wake-ups.md#idle-sibling step 2 and
/// docs/rules/capacity.md#capacity-and-frequency.
#[test]
fn step_2_and_9_clusters() {
    // Clusters 0-1, 2-3, 4-5, 6-7 of one cache.
    let mut core = all_busy(&layers(1, 4, 2, 1), &[]);
    idle(&mut core, &[4, 5]);
    let task = wakee(&mut core, 5, 5);
    assert_eq!(
        wake_sync(&mut core, &task, 0),
        (4, Reason::IdleCpu),
        "the search goes on from the target: CPU 4 comes first"
    );
    core.cpu_mut(0).idle.nr_idle_scan = 3; // CPUs 1 and 0 of the cluster, then 2
    assert_eq!(wake_sync(&mut core, &task, 0), (5, Reason::IdlePrevFar));
    assert_eq!(core.scanned(), 3);
    core.cpu_mut(0).idle.nr_idle_scan = 0;
    assert_eq!(
        wake_sync(&mut core, &task, 0),
        (5, Reason::IdlePrevFar),
        "not even searched"
    );
    let near = wakee(&mut core, 1, 1);
    idle(&mut core, &[1]);
    assert_eq!(wake_sync(&mut core, &near, 0), (1, Reason::IdlePrev));
    // Prev busy: the recently used CPU likewise, after an idle prev.
    make_busy(&mut core, 1);
    let recent = wakee(&mut core, 1, 4);
    assert_eq!(wake_sync(&mut core, &recent, 0), (4, Reason::IdleRecentFar));
    let both = wakee(&mut core, 5, 4);
    assert_eq!(wake_sync(&mut core, &both, 0), (5, Reason::IdlePrevFar));
}

/// Goal: step 3, a kernel thread bound to prev and alone there has done its work: prev, before the
/// recently used CPU. Source: docs/rules/wake-ups.md#idle-sibling step 3.
#[test]
fn step_3_kthread() {
    let run = |this_cpu: u32, prev: u32, running: u32, kthread: bool| {
        let mut core = all_busy(&layers(1, 1, 4, 1), &[]);
        idle(&mut core, &[2]);
        core.cpu_mut(this_cpu).queue.nr_running = running;
        let task = wakee(&mut core, prev, 2);
        let waker = sleeper(&mut core, 2, this_cpu, 0, 0);
        let waker_is = if kthread { Waker::Kthread } else { Waker::Task };
        let request = Request {
            waker: waker_is(1),
            ..ask(PlaceKind::Wake, this_cpu, prev)
        };
        seen(core.select_cpu(&mut [task, waker], 0, &request))
    };
    assert_eq!(run(1, 1, 1, true), (1, Reason::KthreadPrev));
    assert_eq!(run(1, 1, 2, true), (2, Reason::IdleRecent), "not alone");
    assert_eq!(run(1, 1, 1, false), (2, Reason::IdleRecent), "not bound");
    assert_eq!(run(0, 1, 1, true).1, Reason::IdleRecent, "prev elsewhere");
}

/// Goal: step 4, the recently used CPU: idle, allowed, under the target's cache; it is replaced by
/// prev whether it is used or not, but not if an earlier step ends the search. Source:
/// docs/rules/wake-ups.md#idle-sibling step 4, E.
#[test]
fn step_4_recent() {
    let run = |recent: u32, idle_cpus: &[u32], allowed: &[u32]| {
        let mut core = all_busy(&layers(2, 1, 4, 1), &[]);
        idle(&mut core, idle_cpus);
        let mut task = wakee(&mut core, 1, recent);
        task.set_allowed(Some(allowed), 8);
        let mut tasks = [task];
        let got = core.select_cpu(&mut tasks, 0, &ask(PlaceKind::Wake, 1, 1));
        (got.cpu, got.reason, tasks[0].raw().waker.recent_used_cpu)
    };
    let all: Vec<u32> = (0..8).collect();
    assert_eq!(run(3, &[3], &all), (3, Reason::IdleRecent, 1));
    assert_eq!(run(3, &[], &all), (1, Reason::TargetBusy, 1));
    assert_eq!(run(3, &[3], &[0, 1, 2]), (1, Reason::TargetBusy, 1));
    assert_eq!(run(5, &[5], &all).1, Reason::TargetBusy, "another cache");
    assert_eq!(run(3, &[1, 3], &all), (1, Reason::IdleTarget, 3));
}

/// Goal: step 6, a CPU that shares its cache with nobody. Source:
/// docs/rules/wake-ups.md#idle-sibling step 6.
#[test]
fn step_6_no_cache_domain() {
    let facts = machine(&[cluster(1, 1024), cluster(3, 1024)]);
    let mut core = all_busy(&facts, &[]);
    idle(&mut core, &[2]);
    let task = wakee(&mut core, 0, 0);
    assert_eq!(wake(&mut core, &task, 0), (0, Reason::TargetNoLlc));
}

/// Goal: step 7, SMT without a known idle core: an idle thread beside prev before the search, not
/// prev itself and not the target's. Source: docs/rules/wake-ups.md#idle-sibling step 7.
#[test]
fn step_7_sibling_of_prev() {
    let mut core = all_busy(&layers(1, 1, 4, 2), &[]);
    idle(&mut core, &[1, 5, 6, 7]);
    let task = wakee(&mut core, 4, 4);
    assert_eq!(wake_sync(&mut core, &task, 0), (5, Reason::IdleSmtPrev));
    core.cpu_mut(0).idle.has_idle_cores = 1;
    assert_eq!(wake_sync(&mut core, &task, 0), (6, Reason::IdleCore));
    core.cpu_mut(0).idle.has_idle_cores = 0;
    make_busy(&mut core, 5);
    assert_eq!(wake_sync(&mut core, &task, 0), (1, Reason::IdleCpu));
    let other_cache = {
        let mut core = all_busy(&layers(2, 1, 4, 2), &[]);
        idle(&mut core, &[3, 13]);
        let task = wakee(&mut core, 12, 12);
        wake_sync(&mut core, &task, 0)
    };
    assert_eq!(other_cache, (3, Reason::IdleCpu), "prev's cache is not it");
}

/// Goal: step 8 with the idle-core flag: the first core with all threads idle; a failed search
/// clears the flag and takes the first idle CPU it saw. Source: docs/rules/wake-ups.md#idle-scan,
/// has_idle_cores.
#[test]
fn step_8_idle_core() {
    let mut core = all_busy(&layers(1, 1, 4, 2), &[]);
    idle(&mut core, &[3, 6, 7]);
    core.cpu_mut(0).idle.has_idle_cores = 1;
    let task = wakee(&mut core, 0, 0);
    assert_eq!(wake(&mut core, &task, 0), (6, Reason::IdleCore));
    make_busy(&mut core, 7);
    assert_eq!(wake(&mut core, &task, 0), (3, Reason::IdleCpu));
    assert_eq!(core.cpu(0).idle.has_idle_cores, 0);
    core.cpu_mut(0).idle.has_idle_cores = 1;
    idle_policy_only(&mut core, 2);
    assert_eq!(
        wake(&mut core, &task, 0),
        (2, Reason::IdleCpu),
        "a CPU with SCHED_IDLE tasks is remembered but makes no idle core"
    );
    idle(&mut core, &[7]);
    core.enter_idle(7, NOW);
    assert_eq!(
        core.cpu(0).idle.has_idle_cores,
        1,
        "set when the last thread idles"
    );
}

/// Goal: step 8 without SMT: from behind the target on, wrapping, allowed CPUs only; the target's
/// cluster first where there are clusters. Source: docs/rules/wake-ups.md#idle-scan.
#[test]
fn step_8_order() {
    let mut core = all_busy(&layers(2, 1, 8, 1), &[]);
    idle(&mut core, &[1, 2, 9]);
    let mut task = wakee(&mut core, 5, 5);
    assert_eq!(wake(&mut core, &task, 5), (1, Reason::IdleCpu));
    assert_eq!(core.scanned(), 4, "6, 7, 0, 1");
    task.set_allowed(Some(&[2, 5, 6, 9]), 16);
    assert_eq!(wake(&mut core, &task, 5), (2, Reason::IdleCpu));
    assert_eq!(core.scanned(), 2, "CPUs that are not allowed do not count");

    let mut core = all_busy(&layers(1, 2, 4, 1), &[]);
    idle(&mut core, &[0, 6]);
    let task = wakee(&mut core, 2, 2);
    assert_eq!(wake(&mut core, &task, 2), (0, Reason::IdleCluster));
    make_busy(&mut core, 0);
    assert_eq!(wake(&mut core, &task, 2), (6, Reason::IdleCpu));
    assert_eq!(core.scanned(), 7, "each CPU once: 3, 0, 1, 2, then 4, 5, 6");
}

/// Goal: step 9, the busy target. Source: docs/rules/wake-ups.md#idle-sibling step 9.
#[test]
fn step_9_target() {
    let mut core = all_busy(&layers(2, 1, 4, 1), &[]);
    idle(&mut core, &[6]);
    let task = wakee(&mut core, 2, 2);
    assert_eq!(wake(&mut core, &task, 2), (2, Reason::TargetBusy));
    assert_eq!(core.scanned(), 4);
}

// -------------------------------------------------------------------------- wake wide, wake affine

/// Goal: a wide M:N relation looks around prev, any other around the waker. Source:
/// docs/rules/wake-ups.md#wake-wide-numbers.
#[test]
fn wake_wide() {
    for (m, s, wide) in [
        (64, 8, true),
        (63, 8, false),
        (100, 7, false),
        (1000, 8, true),
    ] {
        let mut core = all_busy(&layers(1, 1, 8, 1), &[]);
        let mut task = wakee(&mut core, 0, 0);
        task.raw_mut().waker.wakee_flips = s;
        let mut waker = sleeper(&mut core, 2, 7, 0, 0);
        let w = &mut waker.raw_mut().waker;
        (w.wakee_flips, w.last_wakee, w.flip_decay_ns) = (m, 1, NOW);
        let request = Request {
            sync: true,
            waker: Waker::Task(1),
            ..ask(PlaceKind::Wake, 7, 0)
        };
        let got = core.select_cpu(&mut [task, waker], 0, &request).cpu;
        assert_eq!(got, if wide { 0 } else { 7 }, "({m},{s})");
    }
}

/// Target between CPU 0 (waking) and CPU 3 (prev), nothing idle but what `change` makes idle.
fn affine(sync: bool, waker_load: u32, change: fn(&mut Core)) -> u32 {
    let mut core = all_busy(&layers(2, 1, 4, 1), &[("sis_recent_used", "off")]);
    core.cpu_mut(0).queue.nr_running = 2;
    change(&mut core);
    let mut task = wakee(&mut core, 3, 3);
    task.raw_mut().avg.load_avg = 513; // h_load 513 * 1024 / 1025 = 512
    let request = Request {
        sync,
        waker_load,
        ..ask(PlaceKind::Wake, 0, 3)
    };
    core.select_cpu(&mut [task], 0, &request).cpu
}

/// Goal: the worked example: A = 512*100*C, B = 512*108*C + 1 -> waking CPU if synchronous, else
/// 153600 C against 55296 C -> prev; B may be negative. Source:
/// docs/rules/wake-ups.md#wake-affine-numbers.
#[test]
fn wake_affine_by_weight() {
    assert_eq!(affine(true, 1024, |_| ()), 0);
    assert_eq!(affine(false, 1024, |_| ()), 3);
    assert_eq!(affine(true, 1025, |_| ()), 0, "load(current) > A");
    let light = |core: &mut Core| core.cpu_mut(0).load.avg.load_avg = 0;
    assert_eq!(affine(false, 0, light), 0, "51200 C < 55296 C");
    let negative = |core: &mut Core| {
        core.cpu_mut(0).load.avg.load_avg = 0;
        core.cpu_mut(3).load.avg.load_avg = 1; // h_load 256: B = (1 - 256) * 108 * C
    };
    assert_eq!(affine(false, 0, negative), 3);
}

/// Goal: the order of WA_IDLE: an idle waking CPU, a synchronous waker alone, an idle prev. Source:
/// docs/rules/wake-ups.md#wake-affine, WA_IDLE, points 1 to 3.
#[test]
fn wake_affine_by_idle() {
    let alone = |core: &mut Core| core.cpu_mut(0).queue.nr_running = 1;
    assert_eq!(affine(true, 0, alone), 0);
    let here_idle = |core: &mut Core| {
        make_idle(core, 0);
        core.cpu_mut(0).load.avg.load_avg = 9000;
    };
    assert_eq!(affine(false, 0, here_idle), 0);
    let both = |core: &mut Core| idle(core, &[0, 3]);
    assert_eq!(affine(false, 0, both), 3);
    // (2) before (3): prev idle under another cache, the synchronous waker alone here.
    let mut core = all_busy(&layers(2, 1, 4, 1), &[]);
    idle(&mut core, &[5]);
    let task = wakee(&mut core, 5, 5);
    assert_eq!(wake_sync(&mut core, &task, 0), (0, Reason::TargetBusy));
    core.cpu_mut(0).queue.nr_running = 2;
    assert_eq!(
        wake_sync(&mut core, &task, 0),
        (5, Reason::IdleTarget),
        "(3) prev idle"
    );
}

// ---------------------------------------------------------------------------- idle scan, the limit

/// Goal: the depth of the search for each size and utilisation of the table, and how many CPUs a
/// wake-up then looks at: the depth, none if it is 0. Source: docs/rules/wake-ups.md#idle-scan,
/// sis_util_scan.csv.
#[test]
fn search_depth() {
    let table = table("sis_util_scan.csv");
    let mut shown = 0;
    for row in &table.rows {
        let size = table.number(row, "llc_cpus") as u32;
        let depth = table.number(row, "nr_idle_scan") as u32;
        let mut core = all_busy(&layers(1, 1, size as usize, 1), &[]);
        for cpu in 0..size {
            let sum = table.number(row, "sum_util") as u32;
            core.cpu_mut(cpu).load.avg.util_avg = sum / size;
        }
        core.sis_update(1, 0);
        assert_eq!(core.cpu(0).idle.nr_idle_scan, depth, "{row:?}");
        let task = wakee(&mut core, 1, 1);
        let got = wake(&mut core, &task, 1);
        assert_eq!(core.scanned(), depth, "{row:?}");
        let refused = table.number(row, "scan_refused") == 1;
        let why = if refused {
            Reason::TargetNoScan
        } else {
            Reason::TargetBusy
        };
        assert_eq!(got, (1, why), "{row:?}");
        shown += u32::from(size == 112 && matches!(depth, 73 | 56 | 0));
    }
    assert!(shown >= 3, "the named depths of 112 CPUs are in the table");
}

/// Goal: the depth's margin is the domain's: 110 where the threads of one core are the whole cache
/// domain. Source: docs/rules/wake-ups.md#idle-scan (pct), docs/rules/domains.md#domains (SMT 110):
/// 640^2 * 110^2 / (10000 * 1024) = 484, 2 * 540 / 1024.
#[test]
fn search_depth_of_a_core() {
    let mut core = all_busy(&layers(2, 1, 1, 2), &[]);
    (0..4).for_each(|cpu| core.cpu_mut(cpu).load.avg.util_avg = 640);
    core.sis_update(0, 0);
    assert_eq!(core.cpu(0).idle.nr_idle_scan, 1, "0 at 117: 2 * 477 / 1024");
}

/// Goal: the idle CPU at the limit is found, the one behind it is not. Source:
/// docs/rules/wake-ups.md#idle-scan ("at most `depth` CPUs are looked at").
#[test]
fn search_ends_at_the_depth() {
    let find = |depth: u32, idle_cpu: u32, limit: &str| {
        let mut core = all_busy(&layers(1, 1, 8, 1), &[("sis_util", limit)]);
        core.cpu_mut(0).idle.nr_idle_scan = depth;
        idle(&mut core, &[idle_cpu]);
        let task = wakee(&mut core, 0, 0);
        wake(&mut core, &task, 0).1
    };
    assert_eq!(find(3, 3, "on"), Reason::IdleCpu);
    assert_eq!(find(3, 4, "on"), Reason::TargetBusy);
    assert_eq!(find(0, 1, "on"), Reason::TargetNoScan);
    assert_eq!(find(0, 7, "off"), Reason::IdleCpu, "R: off is unlimited");
}

/// Goal: depth 0 forbids the search even if a core is known to be idle; any other depth does not
/// limit the search for a core. Source: docs/rules/wake-ups.md#idle-scan.
#[test]
fn depth_and_idle_cores() {
    let mut core = all_busy(&layers(1, 1, 4, 2), &[]);
    idle(&mut core, &[6, 7]);
    core.cpu_mut(0).idle.has_idle_cores = 1;
    let task = wakee(&mut core, 0, 0);
    core.cpu_mut(0).idle.nr_idle_scan = 1;
    assert_eq!(wake(&mut core, &task, 0), (6, Reason::IdleCore));
    core.cpu_mut(0).idle.nr_idle_scan = 0;
    assert_eq!(wake(&mut core, &task, 0), (0, Reason::TargetNoScan));
}

/// Goal: only the level that searches look at sets the depth. Source:
/// docs/rules/wake-ups.md#idle-scan ("a domain that spans exactly the LLC"); on asymmetric machines
/// of 7.3 the domain of docs/rules/wake-ups.md#idle-capacity.
#[test]
fn depth_belongs_to_the_search_domain() {
    let mut core = core(&layers(2, 1, 4, 1), "linux-7.3", &[]);
    assert_eq!(core.cpu(0).idle.nr_idle_scan, 0, "starts at 0");
    core.sis_update(2, 1);
    assert_eq!(
        core.cpu(0).idle.nr_idle_scan,
        0,
        "level 1 spans both caches"
    );
    core.sis_update(6, 0);
    assert_eq!(
        (core.cpu(0).idle.nr_idle_scan, core.cpu(4).idle.nr_idle_scan),
        (0, 4)
    );
    let mut hikey = common::core(&machine(&hikey960()), "linux-7.3", &[]);
    hikey.sis_update(5, 0);
    assert_eq!(hikey.cpu(4).idle.nr_idle_scan, 0);
    hikey.sis_update(5, 1);
    assert_eq!(hikey.cpu(0).idle.nr_idle_scan, 8);
}
