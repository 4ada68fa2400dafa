//! Whole runs against arithmetic: nothing is lost but what the model says it costs.
//! Rule: docs/guide/model.md, "Costs".
//!
//! What must stay: the sum is exact: a new cost is added to it by name. `longest_waste` is
//! common/waste.rs.
//! Tests by part: `busy_tasks_on_as_many_cpus_lose_the_modelled_costs_only` (the sum of all costs);
//! `work_is_conserved_within_a_cache` (balancing within a cache (policy/src/balance)).

use crate::common::waste::longest_waste;
use crate::common::*;
use wakeplace_workload::{Event, Loops, TaskScript};

/// Goal: n busy tasks on n CPUs lose nothing but the modelled costs, to the nanosecond, under every
/// queue. Method: one pinned task of 100 ms per CPU, all due at one instant: the way out of WFI,
/// then wake-up, switch, work, and the ticks that fall into it.
#[test]
fn busy_tasks_on_as_many_cpus_lose_the_modelled_costs_only() {
    const CPUS: u64 = 8;
    let work = Event::Run { work_ns: 100 * MS };
    let task = |cpu: u64| TaskScript {
        cpus: Some(vec![cpu as u32]),
        delay_ns: 10 * MS,
        ..script(Loops::Times(1), vec![phase(1, None, &[work])])
    };
    let load = workload((0..CPUS).map(task).collect(), vec![]);
    let platform = Board::symmetric(CPUS as u32).platform();
    for (name, queue) in [
        ("linux-4.17", "cfs"),
        ("linux-7.3", "eevdf"),
        ("wakeplace", "dsq"),
    ] {
        let policy = policy(name, &[("governor", "performance"), ("queue", queue)]);
        let (report, log) = simulate(&platform, &policy, &load, &all_on(S));
        // The parent leaves WFI (1 us) and is switched to (2 us); it looks for more to fork once
        // more than it has children; each look is a fork's work (40 us).
        let zero = (1 + 2 + 40 * (CPUS + 1)) * US;
        let start = zero + 10 * MS + US;
        let ticks = |from: u64, to: u64| to.div_ceil(4 * MS) - from.div_ceil(4 * MS);
        // The live scheduler's timer for idle CPUs has its turns on busy ones: on the first until
        // it rests, then on the one whose tick ends the rest. What those lose besides is its work.
        let mut with_timer = 0;
        for cpu in 0..CPUS as u32 {
            let last = *log.stretches(cpu).last().expect("it runs");
            let mut end = start + (3 + 2) * US + 100 * MS;
            // Each tick within costs 2 us, which may reach the next tick.
            loop {
                let all = start + (3 + 2) * US + 100 * MS + 2 * US * ticks(start, end);
                if all == end {
                    break;
                }
                end = all;
            }
            assert_eq!(last.from, start, "{queue}, CPU {cpu}");
            if queue == "dsq" && last.to > end {
                with_timer += 1;
            } else {
                assert_eq!(last.to, end, "{queue}, CPU {cpu}");
            }
            let waited = report.tasks[cpu as usize].wait_ns;
            assert!(waited < 50 * US * CPUS, "{queue}: {waited}");
        }
        assert!(with_timer <= 2, "{queue}: {with_timer}");
    }
}

/// Goal: work is conserved where the eras promise it: within a cache no CPU is without a task for
/// long while another has two. Method: eight hogs, all on CPU 0 for their first 10 ms of work, then
/// free; a CPU without a tick is kicked at the next tick of a busy one, and a level of 8 CPUs is
/// due every 8 to 16 ms (docs/rules/balancing.md#periodic-balancing), each pull halves what is
/// left: 100 ms are ample, 3 pulls.
#[test]
fn work_is_conserved_within_a_cache() {
    const CPUS: u32 = 8;
    let all: Vec<u32> = (0..CPUS).collect();
    let first = phase(1, Some(&[0]), &[run_ms(10)]);
    let task = script(
        Loops::Times(1),
        vec![first, phase(1, Some(&all), &[run_ms(1_000_000)])],
    );
    let load = workload(vec![task; CPUS as usize], vec![]);
    let platform = Board::symmetric(CPUS).platform();
    for (name, queue) in [
        ("linux-4.17", "cfs"),
        ("linux-7.3", "eevdf"),
        ("wakeplace", "dsq"),
    ] {
        let policy = policy(name, &[("governor", "performance"), ("queue", queue)]);
        let (_, log) = simulate(&platform, &policy, &load, &all_on(2 * S));
        let waste = longest_waste(&log, CPUS as usize, 120 * MS);
        assert!(waste <= 100 * MS, "{queue}: {} ms", waste / MS);
    }
    // It can fail: without balancing nothing is pulled.
    let off = [
        ("balance", "off"),
        ("newidle_balance", "off"),
        ("nohz_balance", "off"),
    ];
    let policy = policy("linux-4.17", &off);
    let (_, log) = simulate(&platform, &policy, &load, &all_on(2 * S));
    assert!(longest_waste(&log, CPUS as usize, 120 * MS) > S);
}
