//! Machines of many cores: threads that share cores, nodes, CPUs that are better than others
//! (docs/rules/domains.md#domains, docs/rules/balancing.md#group-class to
//! docs/rules/balancing.md#nohz; docs/guide/model.md, "Threads of a core").
//!
//! What must stay: 1178 of 1024 for a core of two threads is the platforms' word; who is where at
//! the end follows from the pages.
//! Tests by part (in crates/engine/src): machine.rs: `threads_share_a_core` (`Smt`),
//! `nodes_of_an_epyc` (`core_facts`); mechanics/cpu.rs: `a_thread_speeds_up_when_its_sibling_stops`
//! (`executes`); mechanics/work.rs: `a_thread_speeds_up_when_its_sibling_stops` (`share_core`,
//! `busy_threads`); machine.rs (`threads_of`): `the_platform_states_what_threads_get`;
//! mechanics/handover.rs (`refill_caches`): `a_move_to_another_node_costs_more`; policy/src/balance
//! in a run: `half_of_a_server_full`, `a_hog_per_thread_of_a_server`,
//! `caches_of_a_node_are_evened_out`, `a_favoured_core_gets_the_task`; machine.rs (`core_facts`):
//! `the_machine_table`.
//! Helpers, and who fails with them: `job`, `ran` (`threads_share_a_core`,
//! `a_thread_speeds_up_when_its_sibling_stops`, `the_platform_states_what_threads_get`); `hogs`,
//! `at_the_end` (`half_of_a_server_full`, `a_hog_per_thread_of_a_server`,
//! `caches_of_a_node_are_evened_out`); `with_a_move_to` (`a_move_to_another_node_costs_more`);
//! `each_alone` (`half_of_a_server_full`, `caches_of_a_node_are_evened_out`); `domains`
//! (`the_machine_table`).

use crate::common::*;
use std::collections::BTreeMap;
use wakeplace_engine::RunReport;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::{Core, sys};
use wakeplace_workload::{Event, Loops, TaskScript};

/// Work of a core with two busy threads, of 1024 for one (platforms/*.toml, `[smt]`).
const BOTH: u64 = 1178;

/// So much work on one CPU, once.
fn job(cpu: u32, ms: u64) -> TaskScript {
    let mut script = script(Loops::Times(1), vec![phase(1, None, &[run_ms(ms)])]);
    script.cpus = Some(vec![cpu]);
    script
}

fn ran(platform: &Platform, tasks: Vec<TaskScript>, expected_us: &[u64]) {
    let load = workload(tasks, vec![]);
    let (report, _) = simulate(platform, &performance(), &load, &all_off(S));
    for (task, us) in expected_us.iter().enumerate() {
        let found = report.tasks[task].run_ns;
        // WFI is left within 1 us.
        assert!(
            found.abs_diff(us * US) <= 5 * US,
            "task {task}: {found} ns, not {us} us"
        );
    }
}

/// Goal: two busy threads of a core get 1178/2 of 1024 each; alone or on cores of their own all.
/// 100 ms x 2048 / 1178 = 173.854 ms.
#[test]
fn threads_share_a_core() {
    let platform = without_turbo("ivb-ep-2s");
    ran(&platform, vec![job(0, 100)], &[100_000]);
    ran(
        &platform,
        vec![job(0, 100), job(1, 100)],
        &[100_000, 100_000],
    );
    let both = 100_000 * 2048 / BOTH;
    ran(&platform, vec![job(0, 100), job(20, 100)], &[both, both]);
}

/// Goal: the speed changes when a sibling stops: 50 ms of work take 50 x 2048 / 1178 = 86.927 ms
/// together; then the other has 50 of its 100 ms left and the core for itself: 136.927 ms.
#[test]
fn a_thread_speeds_up_when_its_sibling_stops() {
    let platform = without_turbo("ivb-ep-2s");
    let together = 50_000 * 2048 / BOTH;
    let tasks = vec![job(0, 50), job(20, 100)];
    ran(&platform, tasks, &[together, together + 50_000]);
}

/// Goal: a core that gains nothing by its second thread is shared in halves, one that gains all
/// runs both at full speed: what the platform states is what happens.
#[test]
fn the_platform_states_what_threads_get() {
    let mut platform = without_turbo("ivb-ep-2s");
    for (capacity, each_ms) in [(1024, 200), (2048, 100)] {
        platform.smt.as_mut().expect("it has threads").core_capacity = vec![1024, capacity];
        let us = each_ms * 1000;
        ran(&platform, vec![job(0, 100), job(20, 100)], &[us, us]);
    }
}

/// Run time of a task that moves from CPU 0 to another after 0.3 ms and runs as long there.
fn with_a_move_to(cpu: u32) -> u64 {
    let work = Event::Run { work_ns: 300_000 };
    let move_once = script(
        Loops::Times(1),
        vec![
            phase(1, Some(&[0]), &[work]),
            phase(1, Some(&[cpu]), &[work]),
        ],
    );
    let load = workload(vec![move_once], vec![]);
    let platform = without_turbo("ivb-ep-2s");
    let (report, _) = simulate(&platform, &performance(), &load, &all_on(20 * MS));
    report.tasks[0].run_ns
}

/// Goal: a move costs by distance: 3 us within a cache, 30 us to another node
/// (platforms/ivb-ep-2s.toml, `[costs]`).
#[test]
fn a_move_to_another_node_costs_more() {
    let difference = with_a_move_to(11) - with_a_move_to(1);
    assert!(difference.abs_diff(27 * US) <= 2 * US, "{difference} ns");
}

fn hogs(platform: &Platform, count: usize, duration: u64) -> (RunReport, Log) {
    let policy = policy("linux-7.3", &[("governor", "performance")]);
    let load = workload(vec![hog(None); count], vec![]);
    simulate(platform, &policy, &load, &all_on(duration))
}

/// How many hogs each part of the machine has at the end.
fn at_the_end(log: &Log, count: u32, part: impl Fn(u32) -> u32) -> BTreeMap<u32, u32> {
    let mut parts = BTreeMap::new();
    for task in 0..count {
        let cpu = log.stretches(task).last().expect("it runs").cpu;
        *parts.entry(part(cpu)).or_insert(0) += 1;
    }
    parts
}

/// Each hog has a CPU of its own and has run all of the last 100 ms.
fn each_alone(name: &str, count: u32) -> (Platform, Log) {
    let platform = builtin(name);
    let (report, log) = hogs(&platform, count as usize, 3 * S);
    assert_eq!(report.tasks.len(), count as usize);
    assert_eq!(at_the_end(&log, count, |cpu| cpu).len(), count as usize);
    for task in 0..count {
        let ran = log.ran(task, 2900 * MS, 3 * S, |_| true);
        assert_eq!(ran, 100 * MS, "task {task}");
    }
    (platform, log)
}

/// Goal: half as many hogs as threads on the two-socket server: nobody shares a CPU. (The nodes are
/// not even after 3 s: hogs sleep at the start line when they are created, so that their node looks
/// idle; later each has a CPU, and pushing one to the other node takes 5 failed passes,
/// docs/rules/balancing.md#active-balance.)
#[test]
fn half_of_a_server_full() {
    each_alone("spr-2s", 112);
}

/// Goal: as many hogs as threads: tasks that wait on the overloaded node go to the other: more than
/// half of it is taken within a second; the CPUs that have a hog lose nothing, and none is lost.
/// (The rest goes slowly: between nodes one idle CPU pulls at a time, each 224 ms, and one task.)
#[test]
fn a_hog_per_thread_of_a_server() {
    let platform = builtin("spr-2s");
    let (report, log) = hogs(&platform, 224, S);
    let nodes = at_the_end(&log, 224, |cpu| platform.cpus[cpu as usize].node);
    assert_eq!(nodes.values().sum::<u32>(), 224);
    assert!(nodes[&1] > 56, "{nodes:?}");
    let used = at_the_end(&log, 224, |cpu| cpu).len() as u64;
    let last = |task| log.ran(task, 900 * MS, S, |_| true);
    let ran: u64 = (0..224).map(last).sum();
    assert!(ran >= used * 99 * MS, "{used} CPUs ran {ran} ns");
    let lives = report.tasks.iter().map(|t| t.run_ns + t.wait_ns);
    assert!(lives.max() <= Some(S));
}

/// Goal: caches of a node are evened out (PREFER_SIBLING: a difference of two tasks is one too
/// many): 16 hogs where a node has 8 caches, none has more than two; each hog has a core.
#[test]
fn caches_of_a_node_are_evened_out() {
    let (platform, log) = each_alone("zen3-2s", 16);
    let caches = at_the_end(&log, 16, |cpu| platform.cpus[cpu as usize].cluster);
    assert!(caches.values().all(|n| *n <= 2), "{caches:?}");
    let cores = at_the_end(&log, 16, |cpu| platform.cpus[cpu as usize].core);
    assert_eq!(cores.len(), 16);
}

/// Goal: with ASYM_PACKING a lone hog ends up on the favoured core, wherever it began; without, it
/// stays (a lone task is no imbalance). Source: docs/rules/domains.md#numa-nodes,
/// docs/rules/balancing.md#class-order, docs/rules/balancing.md#active-balance.
#[test]
fn a_favoured_core_gets_the_task() {
    let mut platform = without_turbo("ivb-ep-2s");
    platform.topology[1].asym_packing = true;
    for cpu in [5, 25] {
        platform.cpus[cpu].priority = 9;
    }
    let home = |setting: &str| {
        let settings = [("governor", "performance"), ("asym_packing", setting)];
        let load = workload(vec![hog(None)], vec![]);
        let policy = policy("linux-7.3", &settings);
        let (_, log) = simulate(&platform, &policy, &load, &all_on(S));
        let first = log.stretches(0).first().expect("it runs").cpu;
        (first, log.stretches(0).last().expect("it runs").cpu)
    };
    let (first, last) = home("on");
    assert!(![5, 25].contains(&first), "created on CPU {first}");
    assert!([5, 25].contains(&last), "it stayed on CPU {last}");
    let (_, without) = home("off");
    assert!(![5, 25].contains(&without), "moved to CPU {without}");
}

/// Spans of a CPU's domains from the bottom, size of its last-level cache, limit of its top level.
fn domains(platform: &Platform, policy_name: &str, cpu: u32) -> (Vec<u32>, u32, u32) {
    let policy = policy(policy_name, &[]);
    let facts = wakeplace_engine::core_facts(platform, &policy);
    let core = Core::new(&facts, policy.core_params()).expect("a machine the core takes");
    let c = core.cpu(cpu);
    let doms = &core.state().doms;
    let levels = c.topo.dom[..c.topo.nr_levels as usize].iter();
    let spans = levels.map(|dom| doms[*dom as usize].nr_cpus).collect();
    let top = c.topo.dom[c.topo.nr_levels as usize - 1] as usize;
    (spans, c.topo.llc_size, doms[top].imb_numa_nr)
}

/// Goal: the machine table of docs/rules/domains.md#known-machines, from the platform files;
/// imb_numa_nr 14 and 8 (docs/rules/domains.md#imb-numa).
#[test]
fn the_machine_table() {
    for (name, cpu, spans, llc) in [
        ("spr-2s", 0, vec![2, 112, 224], 112),
        ("spr-2s", 223, vec![2, 112, 224], 112),
        ("ivb-ep-2s", 0, vec![2, 20, 40], 20),
        ("ivb-ep-2s", 39, vec![2, 20, 40], 20),
        ("zen3-2s", 0, vec![2, 16, 128, 256], 16),
        ("zen3-2s", 255, vec![2, 16, 128, 256], 16),
        ("hikey960", 0, vec![4, 8], 4),
        ("hikey960", 4, vec![4, 8], 4),
        ("juno-r0", 0, vec![4, 6], 4),
        ("juno-r0", 1, vec![2, 6], 2),
        ("tc2", 0, vec![2, 5], 2),
        ("tc2", 2, vec![3, 5], 3),
    ] {
        for policy in ["linux-4.17", "linux-7.3"] {
            let (found, size, _) = domains(&builtin(name), policy, cpu);
            assert_eq!(
                (found, size),
                (spans.clone(), llc),
                "{name} CPU {cpu}, {policy}"
            );
        }
    }
    assert_eq!(domains(&builtin("spr-2s"), "linux-7.3", 0).2, 14);
    assert_eq!(domains(&builtin("zen3-2s"), "linux-7.3", 0).2, 8);
}

/// Goal: nodes 32 apart are near on EPYC by its own reclaim distance
/// (docs/rules/domains.md#numa-nodes), far in
/// 4.17, where it is 30 everywhere.
#[test]
fn nodes_of_an_epyc() {
    let top_flags = |name: &str| {
        let policy = policy(name, &[]);
        let facts = wakeplace_engine::core_facts(&builtin("zen3-2s"), &policy);
        let core = Core::new(&facts, policy.core_params()).expect("a machine");
        core.state().doms[core.cpu(0).topo.dom[3] as usize].flags
    };
    let near = sys::WP_SD_BALANCE_EXEC | sys::WP_SD_BALANCE_FORK | sys::WP_SD_WAKE_AFFINE;
    assert_eq!(top_flags("linux-7.3") & near, near);
    assert_eq!(top_flags("linux-4.17") & near, 0);
}
