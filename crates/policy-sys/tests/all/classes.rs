//! RT and deadline tasks, interrupt time, I/O boost, frequency limits: the core's part
//! (docs/rules/signals.md, docs/rules/capacity.md).
//!
//! What must stay: figures are worked from the page each test names and are the kernel's; a class
//! task is joined before it runs and left before it sleeps. It covers
//! policy/src/load_tracking/rt_dl_irq.c, policy/src/placement/select_rt.c and
//! policy/src/frequency/iowait.c. Free: names of tasks, and how helpers build a state.
//! Tests by part: `class_signals_of_ten_ms`, `class_signals_fade`,
//! `idle_cpus_are_looked_after_until_rt_time_has_faded`, `a_cpu_full_of_rt_loses_its_idle_time`
//! (`wp_class_update`, `wp_class_ran`); `capacity_from_kept_signals`, `capacity_from_aged_time`
//! (`wp_update_cpu_capacity`, `wp_scale_rt_capacity_4_18`); `interrupts_and_the_task_clock`,
//! `interrupt_time_is_carried_over` (`wp_irqtime_account_irq`, `wp_irq_take`);
//! `classes_ask_for_frequency`, `class_signals_count_in_the_older_forms` (`wp_class_freq_util`);
//! the tests `io_*` (`wp_sugov_iowait_boost`, `wp_sugov_iowait_apply`); `a_limit_is_pressure`
//! (`wp_freq_limit`); `rt_goes_to_the_lowest`, `big_tasks_go_to_big_cpus`, the tests `rt_*` and
//! `deadline_tasks_*` (`wp_select_task_rq_rt`); `pull_the_highest_that_waits`,
//! `who_is_about_to_run_is_not_pulled` (`wp_class_pull_cpu`); `who_joins_is_queued`,
//! `two_tasks_of_any_class_are_an_overload`, `a_governors_thread_reserves_nothing`
//! (`wp_class_join`); `a_run_takes_of_the_budget_by_speed`, the tests `a_budget_*`
//! (`wp_dl_scaled_delta_exec`, `wp_dl_run_for`); `rt_does_not_move_from_one_small_cpu_to_another`
//! (`wp_select_task_rq_rt`), `io_boost_is_a_floor` (`wp_io_floors`), `io_wakeup_asks_at_once`
//! (`wp_sugov_iowait_boost`), `a_budget_lasts_as_long_as_it_takes_to_use_it_up` (`wp_dl_run_for`).
//! Helpers, and who fails with them: `lone`, `flat_facts` (9 tests, `class_signals_of_ten_ms` among
//! them); `run`, `four` (5 tests, `class_signals_of_ten_ms` among them); `task` (most tests,
//! `classes_ask_for_frequency` among them); `a73` (`classes_ask_for_frequency`); `io_turn`
//! (`io_boost_sequence`, `io_boost_is_forgotten_after_a_tick`, `io_boost_of_4_17_is_a_frequency`);
//! `place` (`rt_goes_to_the_lowest`, `rt_finds_the_lowest_without_domains`,
//! `deadline_tasks_displace_the_latest`, `deadline_tasks_go_to_free_cpus_first`); `due`
//! (`deadline_tasks_displace_the_latest`, `deadline_tasks_go_to_free_cpus_first`,
//! `who_is_about_to_run_is_not_pulled`).
#![allow(missing_docs, reason = "not a library")]

use crate::common;

use common::*;
use wakeplace_policy_sys::{
    ClassMove, ClassTask, Core, IdleKind, MachineFacts, PlaceKind, Reason, Rule, Task, sys,
};

const MS: u64 = 1_000_000;
const US: u64 = 1_000;
const S: u64 = 1_000 * MS;

fn lone(era: &str, settings: &[(&str, &str)]) -> Core {
    core(&lone_cpu(1024), era, settings)
}

/// A task that may use all CPUs, on `cpu`.
fn task(core: &mut Core, id: u32, cpu: u32) -> Task {
    let mut task = Task::new(id, 1024, cpu, None, core.state().nr_cpus);
    core.task_init(&mut task);
    task.raw_mut().cpu = cpu;
    task
}

/// Runs `class` alone on CPU 0 from `from` to `to`, with updates every `step`.
fn run(core: &mut Core, class: &mut ClassTask, from: u64, to: u64, step: u64) {
    let mut t = task(core, 1, 0);
    core.exit_idle(0, from);
    let _ = core.class_join(&mut t, class, from, ClassMove::Sleep);
    let _ = core.class_run(&mut t, class, from);
    let mut now = from;
    while now + step < to {
        now += step;
        let _ = core.class_tick(&mut t, now);
    }
    let _ = core.class_leave(&mut t, class, to, ClassMove::Sleep);
    core.enter_idle(0, to);
}

// ------------------------------------------------------------------------------- signals

/// Goal: an RT or deadline task feeds its class's signal as a running task feeds its own. Source:
/// docs/rules/signals.md#pelt-update-numbers: 10 ms from 0 in one update: 191, sum 9035776; in 1000
/// updates: 181 (of the last boundary), 9036463.
#[test]
fn class_signals_of_ten_ms() {
    for (step, util, sum) in [(10 * MS, 191, 9_035_776), (10 * US, 181, 9_036_463)] {
        let mut core = lone("linux-7.3", &[]);
        run(&mut core, &mut ClassTask::rt(50), 0, 10 * MS, step);
        let c = core.cpu(0);
        assert_eq!((c.load.rt_util, c.queue.classes.rt.util_sum), (util, sum));
        assert_eq!(
            (c.load.dl_util, c.load.avg.util_avg, c.queue.rt_runnable),
            (0, 0, 0)
        );
        let mut core = lone("linux-7.3", &[]);
        let mut class = ClassTask::deadline(10 * MS, 20 * MS, 20 * MS);
        run(&mut core, &mut class, 0, 10 * MS, step);
        assert_eq!(
            (core.cpu(0).load.dl_util, core.cpu(0).load.rt_util),
            (util, 0)
        );
    }
}

/// Goal: they fade with the blocked averages: half of the sum after 32 idle periods. Source:
/// docs/rules/signals.md#pelt-decay decay, docs/rules/signals.md#pelt-vectors ramp (1024 after 345
/// periods).
#[test]
fn class_signals_fade() {
    let mut core = lone("linux-7.3", &[]);
    let period = 1 << 20;
    run(&mut core, &mut ClassTask::rt(50), 0, 400 * period, period);
    assert_eq!(core.cpu(0).load.rt_util, 1024);
    let sum = core.cpu(0).queue.classes.rt.util_sum;
    let _ = core.update_blocked(0, 432 * period);
    // decay_load(sum, 32), on the boundary of a period.
    let faded = ((sum >> 1) * 0xffff_ffff) >> 32;
    assert_eq!(core.cpu(0).load.rt_util, (faded / 46_718) as u32);
}

/// Goal: an idle CPU is looked after until what an RT task left has faded, and no longer. Source:
/// docs/rules/balancing.md#nohz (the averages of all classes), docs/rules/signals.md#pelt-decay: a
/// pass every 32 periods halves 1024, which is 1 or just below after 10 of them.
#[test]
fn idle_cpus_are_looked_after_until_rt_time_has_faded() {
    let mut core = lone("linux-7.3", &[]);
    let period = 1 << 20;
    let mut now = 400 * period;
    run(&mut core, &mut ClassTask::rt(50), 0, now, period);
    core.nohz_enter(0);
    let mut passes = 0;
    while core.state().nohz_has_blocked != 0 && passes < 20 {
        now += 32 * period;
        let _ = core.update_blocked(0, now);
        core.nohz_pass_end(now, false);
        passes += 1;
    }
    assert!((10..=11).contains(&passes), "{passes}");
    assert_eq!(core.cpu(0).load.rt_util, 0);
}

/// Goal: the time on a slow CPU that an RT task filled is not handed back when it goes idle
/// (docs/rules/signals.md#pelt-clock: the sums of all classes count).
#[test]
fn a_cpu_full_of_rt_loses_its_idle_time() {
    let lost = |ms: u64| {
        let mut core = core(&lone_cpu(512), "linux-7.3", &[]);
        run(&mut core, &mut ClassTask::rt(50), 0, ms * MS, MS);
        core.cpu(0).load.lost_idle_ns
    };
    assert_eq!(lost(100), 0);
    // Half speed: half of the time is missing.
    assert_eq!(lost(1000), 500 * MS);
}

// ------------------------------------------------------------------------------- capacity

/// Goal: the number of docs/rules/capacity.md#capacity-of-numbers with signals that the core keeps
/// itself: 1024, used 100, irq 50 -> 878.
#[test]
fn capacity_from_kept_signals() {
    let mut core = core(&flat_facts(2), "linux-7.3", &[]);
    let c = core.cpu_mut(0);
    c.queue.classes.kept = 2;
    (c.load.rt_util, c.load.dl_util, c.load.irq_util) = (60, 40, 50);
    let _ = attempt(&mut core, 0, 0, IdleKind::Idle);
    assert_eq!(core.cpu(0).load.capacity, 924 * 974 / 1024);
    assert_eq!(core.cpu(0).load.capacity, 878);
}

/// Goal: to 4.18 run time counts, halved every half second. 100 ms of the first 400 ms: 102400000 /
/// (500 + 400) ms = 113 of 1024 used. At 1100 ms: halved twice since, the second stamp at 1000 ms:
/// 25600000 / (500 + 100) = 42 used. Source: docs/rules/rt-and-deadline.md#rt-capacity-4-17.
#[test]
fn capacity_from_aged_time() {
    let mut core = core(&flat_facts(2), "linux-4.17", &[]);
    run(
        &mut core,
        &mut ClassTask::rt(50),
        100 * MS,
        200 * MS,
        4 * MS,
    );
    assert_eq!(core.cpu(0).load.rt_util, 0, "no such signal yet");
    let mut at = |now: u64| {
        let _ = core.update_blocked(0, now);
        let mut bal = wakeplace_policy_sys::Balance::default();
        bal.prepare(now, 0, 0, IdleKind::Idle);
        core.balance_begin(&mut bal);
        core.cpu(0).load.capacity
    };
    assert_eq!(at(400 * MS), 1024 - 113);
    assert_eq!(at(1100 * MS), 1024 - 42);
}

fn flat_facts(cpus: usize) -> MachineFacts {
    machine(&[cluster(cpus, 1024)])
}

// ------------------------------------------------------------------------------- interrupts

/// Goal: the task clock leaves interrupts out. Source: docs/rules/signals.md#clocks: 10 % -> 0.9 of
/// the clock; the average of interrupts is then a tenth of 1024, within the ripple of one interrupt
/// (100 us of a period of 1024 us: 21 / 10 rounded up).
#[test]
fn interrupts_and_the_task_clock() {
    let mut core = lone("linux-7.3", &[]);
    core.exit_idle(0, 0);
    let start = core.cpu(0).load.clock_task_ns;
    for ms in 1..=1000 {
        core.irq_time(0, 100 * US);
        let _ = core.update_blocked(0, ms * MS);
    }
    let c = core.cpu(0);
    assert_eq!(
        (c.load.clock_ns, c.load.clock_task_ns - start),
        (S, 9 * S / 10)
    );
    assert!(c.load.irq_util.abs_diff(102) <= 3, "{}", c.load.irq_util);
    assert_eq!(c.load.clock_pelt_ns, c.load.clock_task_ns, "full speed");
}

/// Goal: interrupt time that does not fit is carried to the next update, and no clock goes back.
/// Source: docs/rules/signals.md#clocks.
#[test]
fn interrupt_time_is_carried_over() {
    let mut core = lone("linux-7.3", &[]);
    core.exit_idle(0, 0);
    core.irq_time(0, 3 * MS);
    let start = core.cpu(0).load.clock_task_ns;
    let mut seen = Vec::new();
    for ms in 1..=5 {
        let _ = core.update_blocked(0, ms * MS);
        seen.push((core.cpu(0).load.clock_task_ns - start) / MS);
    }
    assert_eq!(seen, [0, 0, 0, 1, 2]);
}

// ------------------------------------------------------------------------------- frequency

fn a73(era: &str, settings: &[(&str, &str)], set: impl Fn(&mut Core)) -> u32 {
    let mut core = core(&machine(&hikey960()), era, settings);
    set(&mut core);
    let now = NOW;
    let mut fair = task(&mut core, 9, 4);
    core.task_new(&mut fair, 4, now);
    (fair.raw_mut().avg.util_avg, fair.raw_mut().avg.runnable_avg) = (0, 0);
    let _ = core.enqueue_woken(&mut fair, 4, now);
    let domain = core.cpu(4).topo.freq_dom as usize;
    let opp = core.freq_request(domain);
    let first = core.state().freq_doms[domain].first_opp;
    core.state().opp_khz[(first + opp) as usize] / 1000
}

/// Goal: a queued RT task has the domain at its highest frequency; a deadline task at least at its
/// bandwidth (docs/rules/energy-aware.md#compute-energy-v3; docs/rules/capacity.md#schedutil). 300
/// of 1024 x 2362 = 692 -> 903; 400: 922 -> 1421. In 4.17 the bandwidth is demand like any other,
/// with headroom: 400 + 25 % = 1153 -> 1421.
#[test]
fn classes_ask_for_frequency() {
    for era in ["linux-4.17", "linux-7.3"] {
        let rt = |core: &mut Core| {
            let mut t = task(core, 1, 4);
            let _ = core.class_join(&mut t, &mut ClassTask::rt(1), NOW, ClassMove::Sleep);
        };
        assert_eq!(a73(era, &[], rt), 2362, "{era}");
        let dl = |share: u64| {
            move |core: &mut Core| {
                let mut t = task(core, 1, 4);
                let mut class = ClassTask::deadline(share * US, 1024 * US, 1024 * US);
                let _ = core.class_join(&mut t, &mut class, NOW, ClassMove::Sleep);
            }
        };
        assert_eq!(a73(era, &[], dl(300)), 903, "{era}");
        assert_eq!(a73(era, &[], dl(400)), 1421, "{era}");
    }
}

/// A wake-up from I/O, a frequency update a little later, a sleep. Only the update is the
/// governor's: it looks at nothing else. Returns the boost after each.
fn io_turn(core: &mut Core, t: &mut Task, now: u64, io: bool) -> u32 {
    let (cpu, domain) = (t.cpu(), core.cpu(t.cpu()).topo.freq_dom);
    let limit_us = common::hold_governor(core);
    if io {
        let _ = core.enqueue_io(t, cpu, now);
    }
    core.state_mut().params.rate_limit_us = limit_us;
    let _ = core.update_blocked(cpu, now + 1_050_000);
    common::hold_governor(core);
    if io {
        let _ = core.dequeue_sleep(t, now + 1_050_000);
    }
    core.state_mut().params.rate_limit_us = limit_us;
    core.runs_at(domain, core.freq_request(domain as usize));
    core.cpu(cpu).queue.classes.io_boost
}

/// Goal: the boost doubles with each wake-up from I/O and halves without. Source:
/// docs/rules/capacity.md#schedutil-numbers: 128, 256, 512, 1024, then 512, 256, 128, 0.
#[test]
fn io_boost_sequence() {
    let mut core = lone("linux-7.3", &[("rate_limit_us", "0")]);
    core.state_mut().tick_ns = 4_000_000;
    let mut t = task(&mut core, 1, 0);
    core.task_new(&mut t, 0, 0);
    let turns = (0..9).map(|turn| io_turn(&mut core, &mut t, NOW + turn * 2 * MS, turn < 5));
    let seen: Vec<_> = turns.collect();
    assert_eq!(seen, [128, 256, 512, 1024, 1024, 512, 256, 128, 0]);
}

/// Goal: more than a tick without an update starts the boost anew: at 128 with a request, at 0
/// without. Source: docs/rules/capacity.md#schedutil.
#[test]
fn io_boost_is_forgotten_after_a_tick() {
    for (io, after) in [(true, 128), (false, 0)] {
        let mut core = lone("linux-7.3", &[("rate_limit_us", "0")]);
        core.state_mut().tick_ns = 4_000_000;
        let mut t = task(&mut core, 1, 0);
        core.task_new(&mut t, 0, 0);
        core.cpu_mut(0).queue.classes.io_boost = 512;
        core.cpu_mut(0).queue.classes.io_stamp_ns = NOW;
        core.state_mut().freq_doms[0].io_boosted = 1;
        assert_eq!(io_turn(&mut core, &mut t, NOW + 4 * MS + 1, io), after);
    }
}

/// Goal: the boost is a floor on the CPU's own scale: 1024 of it on a 462 CPU is 462, and gives the
/// highest frequency. Source: docs/rules/capacity.md#schedutil: value * capacity / 1024.
#[test]
fn io_boost_is_a_floor() {
    let mut core = core(&machine(&hikey960()), "linux-7.3", &[]);
    let mut t = task(&mut core, 1, 0);
    core.task_new(&mut t, 0, 0);
    core.cpu_mut(0).queue.classes.io_boost = 512;
    core.cpu_mut(0).queue.classes.io_stamp_ns = NOW;
    let _ = core.enqueue_io(&mut t, 0, NOW);
    assert_eq!(core.cpu(0).queue.classes.io_boost, 1024);
    assert_eq!(core.cpu(0).queue.classes.io_floor, 462);
    let domain = &core.state().freq_doms[core.cpu(0).topo.freq_dom as usize];
    assert_eq!(domain.next_opp, domain.nr_opps - 1);
}

/// Goal: in 4.17 the boost is a frequency: the lowest, doubled, at most the highest
/// (docs/rules/rt-and-deadline.md#rt-capacity-4-17). A73: 903, 1806, 2362 MHz; halved without:
/// 1181, then below the lowest: none.
#[test]
fn io_boost_of_4_17_is_a_frequency() {
    let mut core = core(
        &machine(&hikey960()),
        "linux-4.17",
        &[("rate_limit_us", "0")],
    );
    core.state_mut().tick_ns = 4_000_000;
    let mut t = task(&mut core, 1, 4);
    core.task_new(&mut t, 4, 0);
    let turns = (0..5).map(|turn| io_turn(&mut core, &mut t, NOW + turn * 2 * MS, turn < 3));
    let seen: Vec<_> = turns.collect();
    assert_eq!(seen, [903_000, 1_806_000, 2_362_000, 1_181_000, 0]);
}

/// Goal: a limit below the top leaves less capacity from 6.10 on. Source:
/// docs/rules/capacity.md#capacity-of: 1805 of 2362 MHz: pressure 1024 - 782 = 242.
#[test]
fn a_limit_is_pressure() {
    for (era, pressure) in [("linux-7.3", 242), ("linux-4.17", 0)] {
        let mut core = core(&machine(&hikey960()), era, &[]);
        let opps = &core.state().opp_khz[core.state().freq_doms[1].first_opp as usize..];
        let limit = opps.iter().position(|khz| *khz == 1_805_000).unwrap() as u32;
        let _ = core.freq_limit(1, limit, NOW);
        for cpu in 4..8 {
            assert_eq!(core.cpu(cpu).load.pressure, pressure, "{era}");
        }
        assert_eq!(core.cpu(0).load.pressure, 0);
        let _ = core.freq_limit(1, 99, NOW);
        assert_eq!(core.cpu(4).load.pressure, 0);
    }
}

// ------------------------------------------------------------------------------- placement

/// Asks where a task of `class`, last on `prev`, goes when `this` wakes it.
fn place(core: &mut Core, class: &ClassTask, this: u32, prev: u32) -> (u32, Reason) {
    let t = task(core, 7, prev);
    let choice = core.select_class(&t, class, &ask(PlaceKind::Wake, this, prev));
    assert_eq!(choice.rule, Rule::Class);
    (choice.cpu, choice.reason)
}

fn four(levels: [u64; 4]) -> Core {
    let mut core = core(&flat_facts(4), "linux-7.3", &[]);
    for (cpu, level) in levels.iter().enumerate() {
        core.cpu_mut(cpu as u32).queue.classes.level = *level;
    }
    core
}

/// A deadline task of 1 ms within 10 ms, due at `deadline_ns`.
fn due(deadline_ns: u64) -> ClassTask {
    let mut class = ClassTask::deadline(MS, 10 * MS, 10 * MS);
    class.raw_mut().deadline_ns = deadline_ns;
    class
}

/// Goal: previous CPU, else the lowest, the deciding CPU first among equals.
/// Source: docs/rules/rt-and-deadline.md#rt-placement.
#[test]
fn rt_goes_to_the_lowest() {
    let class = ClassTask::rt(50);
    let ask = |levels, this, prev| place(&mut four(levels), &class, this, prev);
    assert_eq!(ask([0, 0, 0, 0], 0, 2), (2, Reason::ClassPrev));
    assert_eq!(
        ask([0, 0, 49, 0], 0, 2),
        (2, Reason::ClassPrev),
        "it displaces 49"
    );
    assert_eq!(
        ask([0, 0, 50, 0], 3, 2),
        (3, Reason::ClassLowest),
        "not its equal"
    );
    assert_eq!(ask([9, 0, 99, 0], 0, 2), (1, Reason::ClassLowest));
    assert_eq!(ask([30, 20, 60, 40], 0, 2), (1, Reason::ClassLowest));
    assert_eq!(ask([50, 51, 60, 99], 0, 2), (2, Reason::ClassWaits));
    let mut core = four([0, 0, 10, 0]);
    core.cpu_mut(2).queue.classes.curr_pinned = 1;
    assert_eq!(
        place(&mut core, &class, 0, 2),
        (0, Reason::ClassLowest),
        "spare the pinned one"
    );
}

/// Goal: CPUs outside all domains of the previous one come last, and of them, too, only one that
/// suits best is taken: the level 20 is the lowest, it is on CPU 2.
/// Source: docs/rules/rt-and-deadline.md#rt-placement.
#[test]
fn rt_finds_the_lowest_without_domains() {
    let mut facts = flat_facts(4);
    facts.levels.clear();
    let mut core = core(&facts, "linux-7.3", &[]);
    for (cpu, level) in [30, 60, 20, 70].into_iter().enumerate() {
        core.cpu_mut(cpu as u32).queue.classes.level = level;
    }
    let seen = place(&mut core, &ClassTask::rt(50), 0, 3);
    assert_eq!(seen, (2, Reason::ClassLowest));
}

/// Goal: deadline tasks see their like only, the latest deadline gives way first.
#[test]
fn deadline_tasks_displace_the_latest() {
    let levels = [
        due(20 * MS).level(),
        due(40 * MS).level(),
        due(30 * MS).level(),
        99,
    ];
    assert!(levels[0] > levels[2] && levels[2] > levels[1] && levels[1] > 99);
    let ask = |levels, deadline, prev| place(&mut four(levels), &due(deadline), 0, prev);
    assert_eq!(
        ask(levels, 25 * MS, 0),
        (3, Reason::ClassLowest),
        "RT counts for nothing"
    );
    let full = [levels[0], levels[1], levels[2], levels[0]];
    assert_eq!(ask(full, 25 * MS, 0), (1, Reason::ClassLowest));
    assert_eq!(
        ask(full, 25 * MS, 2),
        (2, Reason::ClassPrev),
        "its own will do"
    );
    assert_eq!(ask(full, 50 * MS, 2), (2, Reason::ClassWaits));
}

/// Goal: from 5.7 on an RT task wants a CPU as big as its hint, by default the biggest; a deadline
/// task one that does its runtime within its deadline. Source:
/// docs/rules/rt-and-deadline.md#rt-placement.
#[test]
fn big_tasks_go_to_big_cpus() {
    let rt = ClassTask::rt(50);
    let go = |era, class: &ClassTask, hint: u32| {
        let mut core = core(&machine(&hikey960()), era, &[]);
        let mut t = task(&mut core, 7, 0);
        core.task_set_uclamp(&mut t, hint, 1024);
        core.select_class(&t, class, &ask(PlaceKind::Wake, 0, 0))
            .cpu
    };
    assert_eq!(go("linux-4.17", &rt, 1024), 0);
    assert_eq!(go("linux-7.3", &rt, 1024), 4);
    assert_eq!(go("linux-7.3", &rt, 462), 0);
    // 10 ms x 462 / 1024 = 4.51 ms of work.
    let dl = |ms| ClassTask::deadline(ms * MS, 10 * MS, 20 * MS);
    assert_eq!(go("linux-7.3", &dl(4), 0), 0);
    assert_eq!(go("linux-7.3", &dl(5), 0), 4);
    assert_eq!(go("linux-4.17", &dl(5), 0), 0);
}

/// Goal: an RT task that only does not fit its previous CPU moves for one that it fits, for no
/// other; one that could not run there takes what there is. CPUs 4 to 7 (1024) run 60, the task is
/// 50. Source: docs/rules/rt-and-deadline.md#rt-placement.
#[test]
fn rt_does_not_move_from_one_small_cpu_to_another() {
    let go = |levels: [u64; 8], pinned: u32| {
        let mut core = core(&machine(&hikey960()), "linux-7.3", &[]);
        for (cpu, level) in levels.into_iter().enumerate() {
            core.cpu_mut(cpu as u32).queue.classes.level = level;
        }
        core.cpu_mut(0).queue.classes.curr_pinned = pinned;
        let mut t = task(&mut core, 7, 0);
        core.task_set_uclamp(&mut t, 1024, 1024);
        let ask = ask(PlaceKind::Wake, 2, 0);
        let choice = core.select_class(&t, &ClassTask::rt(50), &ask);
        (choice.cpu, choice.reason)
    };
    let prev = [10, 0, 0, 0, 60, 60, 60, 60];
    assert_eq!(go(prev, 0), (0, Reason::ClassPrev), "it displaces 10");
    assert_eq!(go(prev, 1), (2, Reason::ClassLowest), "10 is pinned");
    let taken = [50, 20, 10, 0, 60, 60, 60, 60];
    assert_eq!(go(taken, 0), (3, Reason::ClassLowest));
    let big = [10, 0, 0, 0, 60, 60, 40, 60];
    assert_eq!(go(big, 0), (6, Reason::ClassLowest), "it fits there");
}

/// Goal: a deadline task goes to a CPU without such tasks, if it fits none of them to the largest,
/// before all that have some; of those to the latest deadline, whether it fits or not. 6 ms within
/// 10 ms need 614: it fits CPUs 4 and 5 only (0 and 1: 300, 2 and 3: 500). It is due at 20 ms.
/// Source: docs/rules/rt-and-deadline.md#rt-placement.
#[test]
fn deadline_tasks_go_to_free_cpus_first() {
    let clusters = [cluster(2, 300), cluster(2, 500), cluster(2, 1024)];
    let mut class = ClassTask::deadline(6 * MS, 10 * MS, 10 * MS);
    class.raw_mut().deadline_ns = 20 * MS;
    // Deadlines in ms; 0: no deadline task.
    let go = |deadlines_ms: [u64; 6], prev| {
        let mut core = core(&machine(&clusters), "linux-7.3", &[]);
        for (cpu, ms) in deadlines_ms.into_iter().enumerate() {
            let level = if ms > 0 { due(ms * MS).level() } else { 99 };
            core.cpu_mut(cpu as u32).queue.classes.level = level;
        }
        place(&mut core, &class, prev, prev)
    };
    let lowest = |cpu| (cpu, Reason::ClassLowest);
    assert_eq!(go([0, 0, 0, 0, 90, 0], 0), lowest(5), "free, fits");
    assert_eq!(go([0, 0, 0, 0, 90, 80], 0), lowest(2), "free, 500 of 300");
    assert_eq!(go([0, 0, 0, 0, 90, 80], 3), lowest(3), "no larger one");
    assert_eq!(go([0, 0, 40, 40, 90, 80], 1), lowest(1), "300, but free");
    assert_eq!(go([40, 90, 60, 60, 80, 50], 0), lowest(1), "the latest");
    let fits = [40, 90, 60, 60, 80, 50];
    assert_eq!(go(fits, 5), (5, Reason::ClassPrev), "its own will do");
}

/// Goal: a CPU pulls the highest waiting task that goes before its own, also one that is the equal
/// of what runs there. Source: docs/rules/rt-and-deadline.md#rt-placement.
#[test]
fn pull_the_highest_that_waits() {
    let mut core = four([5, 80, 70, 60]);
    for cpu in 0..4 {
        core.cpu_mut(cpu).queue.classes.running = sys::WP_CLASS_RT;
    }
    let mut waits = |next: [u64; 4]| {
        for (cpu, level) in next.iter().enumerate() {
            core.cpu_mut(cpu as u32).queue.classes.next_level = *level;
        }
        core.class_pull_cpu(0)
    };
    assert_eq!(waits([0, 40, 50, 30]), Some(2));
    assert_eq!(waits([0, 80, 50, 30]), Some(1));
    assert_eq!(waits([99, 5, 4, 0]), None);
}

/// Goal: no CPU pulls a task that has just woken and is of a higher class than what runs where it
/// waits: it is about to run there. The level of that CPU is then the task's own. Source:
/// docs/rules/rt-and-deadline.md#rt-placement.
#[test]
fn who_is_about_to_run_is_not_pulled() {
    let deadline = due(20 * MS).level();
    let pulled = |level: u64, running: u32| {
        let mut core = four([0, level, 40, 0]);
        let classes = |cpu, next, running, core: &mut Core| {
            let k = &mut core.cpu_mut(cpu).queue.classes;
            (k.next_level, k.running) = (next, running);
        };
        classes(1, level, running, &mut core);
        classes(2, 30, sys::WP_CLASS_RT, &mut core);
        core.class_pull_cpu(0)
    };
    assert_eq!(pulled(90, sys::WP_CLASS_FAIR), Some(2));
    assert_eq!(pulled(90, sys::WP_CLASS_RT), Some(1));
    assert_eq!(pulled(deadline, sys::WP_CLASS_FAIR), Some(2));
    assert_eq!(pulled(deadline, sys::WP_CLASS_RT), Some(2));
    assert_eq!(pulled(deadline, sys::WP_CLASS_DL), Some(1));
}

/// Goal: a waker may ask for its own CPU (WF_CURRENT_CPU), which affinity may forbid. Source:
/// docs/rules/wake-ups.md#try-to-wake-up.
#[test]
fn current_cpu() {
    let mut core = four([0; 4]);
    let mut tasks = vec![task(&mut core, 1, 2)];
    let choice = core.select_cpu(&mut tasks, 0, &ask(PlaceKind::WakeHere, 1, 2));
    assert_eq!((choice.cpu, choice.reason), (1, Reason::CurrentCpu));
    assert_eq!(choice.rule, Rule::Request);
    tasks[0].set_allowed(Some(&[2, 3]), 4);
    let choice = core.select_cpu(&mut tasks, 0, &ask(PlaceKind::WakeHere, 1, 2));
    assert_ne!(choice.reason, Reason::CurrentCpu);
}

/// Goal: a wake-up from I/O asks for a frequency itself, though no average has changed. Source:
/// docs/rules/capacity.md#schedutil, triggers: "enqueue with I/O wait"; 512 doubled is 1024, and
/// 462 of a CPU of 462.
#[test]
fn io_wakeup_asks_at_once() {
    let settings = [("rate_limit_us", "0")];
    let mut core = core(&machine(&hikey960()), "linux-7.3", &settings);
    freeze(&mut core);
    let mut t = sleeper(&mut core, 1, 0, 0, 0);
    core.cpu_mut(0).queue.classes.io_boost = 512;
    core.cpu_mut(0).queue.classes.io_stamp_ns = NOW;
    assert!(core.enqueue_io(&mut t, 0, NOW).freq());
    assert_eq!(core.freq_request(0), 4);
}

/// Goal: where classes have averages, what they and the fair class show is summed, up to all of the
/// CPU; 4.19 to 6.7, and those averages with the demand of 4.17. Source:
/// docs/rules/capacity.md#schedutil: U >= scale: scale; else map_util_freq: 300: 864990 kHz: 903;
/// 700: 2018310: 2112; 400 + 300 + 324 = 1024: the top.
#[test]
fn class_signals_count_in_the_older_forms() {
    let signals = [("class_capacity", "signals")];
    for (era, settings) in [("linux-4.17", &signals[..]), ("linux-5.0", &[])] {
        for (fair, rt, dl, mhz) in [
            (200, 100, 0, 903),
            (400, 300, 0, 2112),
            (400, 300, 324, 2362),
        ] {
            let mut core = core(&machine(&hikey960()), era, settings);
            freeze(&mut core);
            put(&mut core, 4, 1, 1024, fair, fair);
            let c = core.cpu_mut(4);
            c.queue.classes.kept = 2;
            for (avg, util) in [(&mut c.queue.classes.rt, rt), (&mut c.queue.classes.dl, dl)] {
                (avg.util_avg, avg.last_update_ns) = (util, NOW);
            }
            (c.load.rt_util, c.load.dl_util, c.load.nr_removed) = (rt, dl, 1);
            let _ = core.update_blocked(4, NOW);
            let opp = core.freq_request(1) as usize;
            assert_eq!(
                machine(&hikey960()).freq_domains[1].opp_khz[opp] / 1000,
                mhz,
                "{era}"
            );
        }
    }
}

/// Goal: who joins is queued, and not twice. Source: `on_rq` is a flag (runqueue.h).
#[test]
fn who_joins_is_queued() {
    let mut core = lone("linux-7.3", &[]);
    let mut t = task(&mut core, 1, 0);
    let mut class = ClassTask::rt(50);
    let _ = core.class_join(&mut t, &mut class, NOW, ClassMove::Sleep);
    assert_eq!(t.raw().on_rq, 1);
    let _ = core.class_leave(&mut t, &mut class, NOW, ClassMove::Sleep);
    assert_eq!(t.raw().on_rq, 0);
}

// --------------------------------------------------------------------- threads of schedutil

/// Goal: a CPU with two tasks of any class marks the root domain overloaded, so that new-idle CPUs
/// look for work (add_nr_running, kernel/sched/sched.h: `nr_running >= 2`).
#[test]
fn two_tasks_of_any_class_are_an_overload() {
    let mut core = core(&flat_facts(2), "linux-7.3", &[]);
    let mut fair = task(&mut core, 1, 0);
    let _ = core.enqueue_new(&mut fair, 0, MS);
    assert_eq!(core.state().overload, 0);
    let mut other = task(&mut core, 2, 0);
    let mut class = ClassTask::deadline(0, 10 * MS, 10 * MS);
    let _ = core.class_join(&mut other, &mut class, 2 * MS, ClassMove::Sleep);
    assert_eq!(core.state().overload, 1);
}

/// Goal: a deadline task without a budget, as schedutil's threads are (SCHED_FLAG_SUGOV,
/// `dl_entity_is_special`), reserves no bandwidth and asks for no frequency; its time counts in the
/// class's signal.
#[test]
fn a_governors_thread_reserves_nothing() {
    let mut core = lone("linux-7.3", &[]);
    let mut class = ClassTask::deadline(0, 10 * MS, 10 * MS);
    let mut t = task(&mut core, 1, 0);
    core.exit_idle(0, 20 * MS);
    let joined = core.class_join(&mut t, &mut class, 20 * MS, ClassMove::Sleep);
    assert!(!joined.freq());
    assert_eq!(core.cpu(0).queue.classes.dl_bw, 0);
    let _ = core.class_run(&mut t, &class, 20 * MS);
    let left = core.class_leave(&mut t, &mut class, 30 * MS, ClassMove::Sleep);
    assert!(!left.freq());
    assert_eq!(
        (core.cpu(0).queue.classes.dl_bw, core.cpu(0).load.dl_util),
        (0, 191)
    );
    // One with a budget does both.
    let mut class = ClassTask::deadline(5 * MS, 10 * MS, 10 * MS);
    let _ = core.class_join(&mut t, &mut class, 40 * MS, ClassMove::Sleep);
    assert_eq!(core.cpu(0).queue.classes.dl_bw, 1 << 19);
}

// ------------------------------------------------------------------------------- budgets

/// Goal: from 4.16 on running takes of a deadline task's budget by the CPU's capacity and
/// frequency, each rounded down; before, its time. Source: docs/rules/rt-and-deadline.md#dl-scaled:
/// 5 ms last 11082252 ns on 462, and twice that at half the clock: 11082251 x 462 / 1024 =
/// 4999999.96, 11082252 x 462 / 1024 = 5000000.4.
#[test]
fn a_run_takes_of_the_budget_by_speed() {
    for (era, scaled) in [
        ("linux-4.7", false),
        ("linux-4.17", true),
        ("linux-7.3", true),
    ] {
        let mut core = core(&lone_cpu(462), era, &[]);
        for (freq_scale, lasts) in [(1024, 11_082_252), (512, 22_164_504)] {
            core.cpu_mut(0).load.freq_scale = freq_scale;
            if scaled {
                assert_eq!(core.dl_scaled_delta_exec(0, lasts), 5 * MS, "{era}");
                assert_eq!(core.dl_scaled_delta_exec(0, lasts - 1), 5 * MS - 1, "{era}");
                assert_eq!(core.dl_run_for(0, 5 * MS), lasts, "{era}");
            } else {
                assert_eq!(core.dl_scaled_delta_exec(0, lasts), lasts, "{era}");
                assert_eq!(core.dl_run_for(0, 5 * MS), 5 * MS, "{era}");
            }
        }
    }
}

/// Goal: the run that a budget lasts is the shortest that uses it up, at any speed. Method: the
/// rule in wide integers says what that run and one of 1 ns less take.
#[test]
fn a_budget_lasts_as_long_as_it_takes_to_use_it_up() {
    let takes = |ns: u64, freq: u32, capacity: u32| {
        let by = |ns: u128, scale: u32| ns * u128::from(scale) / 1024;
        by(by(ns.into(), freq), capacity)
    };
    for capacity in [1, 133, 462, 1023, 1024] {
        let mut core = core(&lone_cpu(capacity), "linux-7.3", &[]);
        for freq in [1, 77, 512, 1000, 1024] {
            core.cpu_mut(0).load.freq_scale = freq;
            for budget in [1, 2, 1023, 1024, 999_999, 5 * MS, 4 * S + 7] {
                let lasts = core.dl_run_for(0, budget);
                let said = format!("{budget} at {freq} of {capacity}");
                assert!(takes(lasts, freq, capacity) >= budget.into(), "{said}");
                assert!(takes(lasts - 1, freq, capacity) < budget.into(), "{said}");
            }
        }
    }
}

/// Goal: a clock that is next to nothing of the highest uses up no budget, and its end is not now.
#[test]
fn a_budget_at_a_clock_of_nothing() {
    let mut core = core(&lone_cpu(462), "linux-7.3", &[]);
    core.cpu_mut(0).load.freq_scale = 0;
    assert_eq!(core.dl_scaled_delta_exec(0, S), 0);
    assert!(core.dl_run_for(0, 1) > 0);
    assert_eq!(core.dl_run_for(0, 0), 0);
}
