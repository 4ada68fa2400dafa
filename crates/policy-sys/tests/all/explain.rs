//! What `Core::explain` says of each candidate, against worked decisions
//! (docs/rules/energy-numbers.md#hikey960-decisions).
//!
//! What must stay: what is told of a candidate is what the rule computed, never computed anew;
//! asking changes neither the core nor the answer. Figures are of eas_vectors.csv and the pages. It
//! covers policy/src/explain and crates/policy-sys/src/explain.rs. Free: how helpers build a
//! machine, and words of messages.
//! Tests by part: `the_clock_that_was_assumed`, `each_form_says_its_clock` (`wp_explain_clock`);
//! `energy_vector_of_today`, `energy_vector_of_5_0`, `within_the_margin`
//! (`wp_drop_pick`, `wp_drop_loser`); `a_hint_decides` (`wp_explain_fits`);
//! `packing_names_what_has_room`, `packing_says_nothing_where_a_small_task_stays`,
//! `sched_mc_names_what_is_full` (`wp_drop_packed`); `tc2_case_a` (`wp_drop_groups`);
//! `beyond_the_tipping_point` (`wp_explain_no_energy`, `wp_drop`); `a_copy_answers_alike` (`copy`,
//! `explain`); `under_another_policy`, `the_tipping_point_is_made_up`,
//! `thresholds_are_those_of_the_other` (`copy_under`, `wp_explain_adopt`); `urgency_is_made_up`
//! (`wp_adopt_urgency`); `short_as_the_rules_ask`, `short_is_told_where_it_is_asked`
//! (`wp_short_limit_ns`); `every_word_is_there_once` (crates/policy-sys/src/words.rs);
//! `beyond_the_limit_of_a_search` (`wp_drop_beyond`).
//! Helpers, and who fails with them: `explain` (most tests, `within_the_margin` among them);
//! `dropped` (7 tests, `energy_vector_of_today` among them); `prev_big` (`energy_vector_of_today`,
//! `energy_vector_of_5_0`); `caches` (`packing_names_what_has_room`,
//! `packing_says_nothing_where_a_small_task_stays`).

use crate::common;

use common::{ask, core, freeze, hikey960, machine, make_busy, sleeper, tc2};
use wakeplace_policy_sys::{
    Core, Dropped, Explained, NoEnergy, PlaceKind, Reason, Rule, Seen, Task, sys,
};

/// A task with this utilisation and estimate that wakes by an interrupt on its last CPU.
fn explain(core: &mut Core, task: Task, this_cpu: u32) -> Explained {
    let prev = task.cpu();
    core.explain(&mut [task], 0, None, &ask(PlaceKind::Wake, this_cpu, prev))
}

fn dropped(e: &Explained) -> Vec<Dropped> {
    e.candidates.iter().map(|seen| seen.dropped).collect()
}

/// HiKey960, all idle but for what the task left on CPU 4
/// (docs/rules/energy-numbers.md#hikey960-decisions).
fn prev_big(era: &str) -> Explained {
    let mut core = core(&machine(&hikey960()), era, &[]);
    freeze(&mut core);
    core.cpu_mut(4).load.avg.util_avg = 43;
    let task = sleeper(&mut core, 1, 4, 43, 59);
    explain(&mut core, task, 4)
}

use Dropped::{
    Busy, Group, Hint, LessSpare, Margin, MoreEnergy, MoreLoad, MoreRoom, NoRoom, None as Chosen,
    NotAllowed, NotLookedAt, PrevSpare, Unfit,
};

/// Goal: every CPU's figures and why it was dropped, in today's form. Source: eas_vectors.csv, row
/// hk_idle_5pct_prev_big, 6.12: A73 prev 4 adds 367157, A53 CPU 0 adds 127440, CPU 0 is chosen;
/// docs/rules/energy-aware.md#energy-wake-up: of a domain only the CPU with most spare capacity
/// counts, the first of equals, and where the previous CPU is only if it has more than that one.
#[test]
fn energy_vector_of_today() {
    let e = prev_big("linux-7.3");
    assert_eq!(
        (e.choice.cpu, e.choice.rule, e.choice.reason),
        (0, Rule::Energy, Reason::EnergyBest)
    );
    assert_eq!(
        dropped(&e),
        [
            Chosen, LessSpare, LessSpare, LessSpare, MoreEnergy, PrevSpare, LessSpare, LessSpare
        ]
    );
    let energies: Vec<_> = e.candidates.iter().map(|seen| seen.energy).collect();
    assert_eq!(energies[0], Some(127_440));
    assert_eq!(energies[4], Some(367_157));
    assert_eq!(energies.iter().flatten().count(), 2, "two are estimated");
    // 59 is the larger of 43 and the estimate; capacities 462 and 1024
    // (docs/rules/energy-numbers.md#em-numbers).
    let seen = |cpu: usize| -> Seen { e.candidates[cpu] };
    assert_eq!(
        (seen(0).util, seen(0).capacity, seen(0).spare),
        (59, 462, 403)
    );
    assert_eq!(
        (seen(4).util, seen(4).capacity, seen(4).spare),
        (59, 1024, 965)
    );
    assert_eq!(e.no_energy, NoEnergy::Asked);
}

/// Goal: the same in the form of 5.0. Source: that row, 5.0: A53 0: 12, A73 prev 4: 36, max_spare
/// 5: 36; 12 saves more than a sixteenth of 36.
#[test]
fn energy_vector_of_5_0() {
    let e = prev_big("linux-5.0");
    assert_eq!(e.choice.cpu, 0);
    let energies: Vec<_> = e.candidates.iter().filter_map(|s| s.energy).collect();
    assert_eq!(energies, [12, 36, 36]);
    assert_eq!(
        dropped(&e),
        [
            Chosen, LessSpare, LessSpare, LessSpare, MoreEnergy, MoreEnergy, LessSpare, LessSpare
        ]
    );
}

/// Goal: the clock of each estimate is told, and the signal that it follows. Source:
/// docs/rules/energy-numbers.md#em-numbers. Headroom(59) = 73 is within the first states, 133 and
/// 391. Where tasks wait on the A53s for 230 of 1024, the boost makes 230 of it, or 273 with the
/// task's 43: headroom is 287 or 341, and the state of 351 is the first above both.
#[test]
fn the_clock_that_was_assumed() {
    let e = prev_big("linux-7.3");
    let clocks: Vec<_> = e.candidates.iter().map(|seen| seen.clock_khz).collect();
    let expected = [
        Some(533_000),
        None,
        None,
        None,
        Some(903_000),
        None,
        None,
        None,
    ];
    assert_eq!(clocks, expected);
    let waits = |boost: &str| {
        let mut core = core(
            &machine(&hikey960()),
            "linux-7.3",
            &[("runnable_boost", boost)],
        );
        freeze(&mut core);
        for cpu in 0..4 {
            core.cpu_mut(cpu).load.avg.runnable_avg = 230;
        }
        core.cpu_mut(4).load.avg.util_avg = 43;
        let task = sleeper(&mut core, 1, 4, 43, 59);
        let e = explain(&mut core, task, 4);
        let signals: Vec<_> = e.candidates.iter().map(|seen| seen.runnable).collect();
        assert_eq!(
            signals[..5],
            [Some(230), Some(230), Some(230), Some(230), Some(0)]
        );
        e.candidates[0].clock_khz
    };
    assert_eq!(waits("off"), Some(533_000));
    assert_eq!(waits("on"), Some(1_402_000));
    assert_eq!(prev_big("linux-5.0").candidates[0].runnable, None, "to 5.6");
}

/// Goal: each form of the estimate says its own clock. Source:
/// docs/rules/energy-numbers.md#hikey960-decisions, row 4: with 343 on a little CPU the forms that
/// ask by frequency need 1711287 kHz and take 1844 MHz; since 6.12 headroom(343) = 428 is exactly
/// the state of 1709 MHz; 6.1 asks for 1844000 * 428 / 462 = 1708294 kHz. The rework of 2025
/// takes the state of 6.12 (docs/rules/energy-push.md#cost).
#[test]
fn each_form_says_its_clock() {
    const NONE: &[(&str, &str)] = &[];
    const COST: &[(&str, &str)] = &[("energy_rework", "cost")];
    for (era, settings, little) in [
        ("linux-5.0", NONE, 1_844_000),
        ("linux-5.10", NONE, 1_844_000),
        ("linux-6.1", NONE, 1_709_000),
        ("linux-6.12", NONE, 1_709_000),
        ("linux-7.3", COST, 1_709_000),
    ] {
        let mut core = core(&machine(&hikey960()), era, settings);
        freeze(&mut core);
        for (cpu, util) in [300, 300, 300, 300, 43].into_iter().enumerate() {
            core.cpu_mut(cpu as u32).load.avg.util_avg = util;
        }
        let task = sleeper(&mut core, 1, 4, 43, 59);
        let e = explain(&mut core, task, 4);
        let seen = |cpu: usize| e.candidates[cpu].clock_khz;
        assert_eq!((seen(0), seen(4)), (Some(little), Some(903_000)), "{era}");
        assert_eq!(seen(1), None, "{era}: not estimated");
    }
}

/// Goal: a saving within the margin is named so. Source: eas_vectors.csv,
/// hk_10tasks_on_little_prev_big, 5.0: CPU 2 at 132 against the previous CPU's 156; a quarter of
/// that, 39, is more than the 24 saved.
#[test]
fn within_the_margin() {
    let facts = machine(&hikey960());
    let mut core = core(&facts, "linux-5.0", &[("energy_margin_shift", "2")]);
    freeze(&mut core);
    for (cpu, util) in [129, 129, 86, 86, 43, 0, 0, 0].into_iter().enumerate() {
        core.cpu_mut(cpu as u32).load.avg.util_avg = util;
    }
    let task = sleeper(&mut core, 1, 4, 43, 59);
    let e = explain(&mut core, task, 4);
    assert_eq!((e.choice.cpu, e.choice.reason), (4, Reason::EnergyPrev));
    assert_eq!(e.candidates[2].dropped, Margin);
    assert_eq!(
        (e.candidates[2].energy, e.candidates[4].energy),
        (Some(132), Some(156))
    );
    assert_eq!(core.energy_per_uw(), Some(0.001), "milliwatts");
}

/// Goal: where the task's hint decides, that is said, and no energy. Source:
/// docs/rules/energy-aware.md#energy-wake-up: a CPU that meets uclamp_min comes before one that
/// does not, whatever both cost; of A73s at 1024 and A53s at 462 only the former meet 800. Costs as
/// in `energy_vector_of_today`.
#[test]
fn a_hint_decides() {
    for (era, prev, rival, reason) in [
        ("linux-7.3", 4, 0, Reason::EnergyPrev),
        ("linux-7.3", 0, 4, Reason::EnergyHint),
        ("linux-6.2", 0, 4, Reason::EnergyHint),
    ] {
        let mut core = core(&machine(&hikey960()), era, &[]);
        freeze(&mut core);
        core.cpu_mut(prev).load.avg.util_avg = 43;
        let mut task = sleeper(&mut core, 1, prev, 43, 59);
        task.raw_mut().uclamp_min = 800;
        let e = explain(&mut core, task, prev);
        assert_eq!((e.choice.cpu, e.choice.reason), (4, reason), "{prev}");
        let loser = if prev == 4 { rival } else { prev };
        let (there, here) = (&e.candidates[loser as usize], &e.candidates[4]);
        assert_eq!((there.dropped, there.fits), (Hint, -1), "{prev}");
        assert!(there.energy < here.energy, "{prev}");
        assert_eq!(e.candidates[1].fits, -1, "{era}: not estimated, likewise");
    }
}

/// Caches of so many CPUs, nothing known of energy.
fn caches(sizes: &[usize], busy: &[u32]) -> Core {
    let clusters: Vec<_> = (sizes.iter().map(|n| common::cluster(*n, 1024))).collect();
    let mut facts = machine(&clusters);
    facts.perf_domains.clear();
    let mut core = core(&facts, "linux-7.3+power-policy=powersaving", &[]);
    freeze(&mut core);
    for cpu in busy {
        common::put(&mut core, *cpu, 1, 1024, 1024, 1024);
    }
    core
}

/// Goal: packing says of a group that it is full or too empty, of a CPU that it has more to do.
/// Source: docs/rules/power-policy.md#p11-utilisation, docs/rules/power-policy.md#p12-placement: of
/// the smallest domain that has room the fullest group with some, in it the CPU of least load.
/// Within a cache groups are CPUs.
#[test]
fn packing_names_what_has_room() {
    let fork = |sizes: &[usize], busy: &[u32]| {
        let mut core = caches(sizes, busy);
        let mut new = Task::new(9, 1024, 0, None, core.state().nr_cpus);
        core.task_init(&mut new);
        let e = core.explain(&mut [new], 0, None, &ask(PlaceKind::Fork, 0, 0));
        assert_eq!(e.choice.reason, Reason::PowerLeader, "{busy:?}");
        dropped(&e)
    };
    assert_eq!(
        fork(&[3, 2], &[0]),
        [NoRoom, Chosen, MoreRoom, NotLookedAt, NotLookedAt]
    );
    assert_eq!(fork(&[2, 2], &[0, 1]), [NoRoom, NoRoom, Chosen, MoreLoad]);
}

/// Goal: a task that is small enough for the waking CPU stays there whichever group is the fullest:
/// nothing is said of the others. Source: docs/rules/power-policy.md#p13-small-tasks: 99 - 0 - 4 x
/// 1 is above 0 (10 of 1024 is below 1 %); two caches of two idle CPUs, the waker's is the leader.
#[test]
fn packing_says_nothing_where_a_small_task_stays() {
    let mut core = caches(&[2, 2], &[]);
    let task = sleeper(&mut core, 1, 3, 10, 10);
    let e = explain(&mut core, task, 0);
    assert_eq!(e.choice.reason, Reason::PowerSmallHere);
    assert_eq!(dropped(&e), [Chosen, NotLookedAt, NotLookedAt, NotLookedAt]);
}

/// Goal: sched-mc says which CPUs are full, and nothing where another rule decides. Source:
/// docs/rules/sched-mc.md#mc-arch-hook to docs/rules/sched-mc.md#mc-lowest-first,
/// docs/decisions/033: the lowest CPU of the cache that has room, one task each without a table;
/// with `mc_lowest_first` off no idle one.
#[test]
fn sched_mc_names_what_is_full() {
    let wake = |lowest_first: &str| {
        let mut facts = machine(&[common::cluster(3, 1024)]);
        facts.perf_domains.clear();
        let settings = [("mc_lowest_first", lowest_first)];
        let mut core = core(&facts, "linux-7.3+sched-mc=2", &settings);
        freeze(&mut core);
        common::put(&mut core, 0, 1, 1024, 1024, 1024);
        let task = sleeper(&mut core, 1, 2, 100, 100);
        let e = explain(&mut core, task, 2);
        (e.choice.reason, dropped(&e))
    };
    let (reason, seen) = wake("on");
    assert_eq!(reason, Reason::SavesPower);
    assert_eq!(seen, [NoRoom, Chosen, NotLookedAt]);
    let (reason, seen) = wake("off");
    assert_eq!(reason, Reason::IdleTarget);
    assert_eq!(seen, [NotLookedAt, NotLookedAt, Chosen]);
}

/// Goal: the slow path says of which groups it did not go. Source:
/// docs/rules/capacity-aware.md#tc2-walk a: 600 on an A7 of 430 goes to an A15, CPU 0; below, the
/// A15s are equal and it stays.
#[test]
fn tc2_case_a() {
    let mut core = core(&machine(&tc2()), "linux-4.7+asym-capacity", &[]);
    freeze(&mut core);
    core.cpu_mut(2).load.avg.util_avg = 600;
    let task = sleeper(&mut core, 1, 2, 600, 600);
    let e = explain(&mut core, task, 3);
    assert_eq!(
        (e.choice.cpu, e.choice.rule, e.choice.reason),
        (0, Rule::SlowPath, Reason::SlowSpare)
    );
    assert_eq!(dropped(&e), [Chosen, Group, Group, Group, Group]);
    // 430 * 1024 < 600 * 1280, and 1024 * 1024 is not less.
    let fits: Vec<_> = e.candidates.iter().map(|seen| seen.fits).collect();
    assert_eq!(fits, [1, 1, 0, 0, 0]);
    assert_eq!(e.candidates[0].spare, 1024 - 600);
    assert_eq!(e.target, None);
}

/// Goal: beyond the tipping point the energy-aware rule steps back, and the idle search says what
/// it met. Source: docs/rules/wake-ups.md#idle-sibling, docs/rules/wake-ups.md#idle-capacity:
/// target busy, then from the target on the first idle CPU that fits;
/// docs/rules/energy-aware.md#overutilized; 300 * 1280 < 462 * 1024, 370 * 1280 is not.
#[test]
fn beyond_the_tipping_point() {
    let mut core = core(&machine(&hikey960()), "linux-7.3", &[]);
    freeze(&mut core);
    core.state_mut().overutilized = 1;
    core.cpu_mut(0).idle.nr_idle_scan = 8; // of the domain: all may be looked at
    make_busy(&mut core, 0);
    make_busy(&mut core, 2);
    let mut task = sleeper(&mut core, 1, 0, 370, 370);
    task.raw_mut().allowed[0] = 0b1101_1111; // not CPU 5
    task.raw_mut().nr_allowed = 7;
    let e = explain(&mut core, task, 0);
    assert_eq!((e.choice.cpu, e.choice.reason), (4, Reason::IdleCapacity));
    assert_eq!((e.no_energy, e.target), (NoEnergy::Overutilized, Some(0)));
    assert_eq!(
        dropped(&e),
        [
            Busy,
            Unfit,
            Busy,
            Unfit,
            Chosen,
            NotAllowed,
            NotLookedAt,
            NotLookedAt
        ]
    );
    let order: Vec<_> = e.candidates.iter().map(|seen| seen.order).collect();
    assert_eq!(order[..4], [1, 2, 3, 4]);
    assert_eq!(order[6..], [0, 0]);
}

/// Goal: asking changes nothing but what deciding changes, and the copy nothing of the original.
#[test]
fn a_copy_answers_alike() {
    let mut core = core(&machine(&hikey960()), "linux-7.3", &[]);
    freeze(&mut core);
    core.cpu_mut(4).load.avg.util_avg = 43;
    let task = sleeper(&mut core, 1, 4, 43, 59);
    let mut copy = core.copy();
    assert_eq!(copy.state(), core.state());
    let e = explain(&mut copy, task.clone(), 4);
    assert_eq!(core.state().explain, 0);
    assert_eq!(copy.state().explain, 0);
    let choice = core.select_cpu(&mut [task], 0, &ask(PlaceKind::Wake, 4, 4));
    assert_eq!(e.choice, choice);
}

/// Goal: under other parameters the copy decides as a core of that policy would. Source:
/// eas_vectors.csv as above: the 5.0 form chooses 0; without the energy model the target, idle.
#[test]
fn under_another_policy() {
    let facts = machine(&hikey960());
    let mut core = core(&facts, "linux-7.3-energy-aware", &[]);
    freeze(&mut core);
    core.cpu_mut(4).load.avg.util_avg = 43;
    let task = sleeper(&mut core, 1, 4, 43, 59);
    let other = common::policy("linux-7.3", &[]);
    let mut under = core.copy_under(&facts, other.core_params()).unwrap();
    let e = explain(&mut under, task.clone(), 4);
    assert_eq!((e.choice.cpu, e.choice.reason), (0, Reason::EnergyBest));
    let e = explain(&mut core, task, 4);
    assert_eq!((e.choice.cpu, e.choice.reason), (4, Reason::IdleTarget));
}

/// Goal: the tipping point is found though the policy of the state did not watch for it. Source:
/// docs/rules/energy-aware.md#overutilized: a CPU used by more than 80 % of its capacity; 462 * 4 /
/// 5 = 369.6.
#[test]
fn the_tipping_point_is_made_up() {
    let facts = machine(&hikey960());
    let other = common::policy("linux-7.3", &[]);
    for (util, beyond) in [(369, false), (370, true)] {
        let mut core = core(&facts, "linux-7.3-energy-aware", &[]);
        freeze(&mut core);
        core.cpu_mut(1).load.avg.util_avg = util;
        let under = core.copy_under(&facts, other.core_params()).unwrap();
        assert_eq!(under.overutilized(), beyond, "{util}");
    }
}

/// Goal: what fits is what a tick leaves below the capacity, though the policy of the state asks
/// for a fifth. Source: docs/rules/overutilized.md#by-tick-numbers: 407 of 462 at a tick of 4 ms.
#[test]
fn thresholds_are_those_of_the_other() {
    let facts = machine(&hikey960());
    let other = common::policy("linux-7.3", &[("overutilized_margin", "tick")]);
    for (util, beyond) in [(406, false), (407, true)] {
        let mut core = core(&facts, "linux-7.3-energy-aware", &[]);
        freeze(&mut core);
        core.cpu_mut(1).load.avg.util_avg = util;
        let under = core.copy_under(&facts, other.core_params()).unwrap();
        assert_eq!(under.overutilized(), beyond, "{util}");
    }
    let core = core(&facts, "linux-7.3", &[]);
    let other = common::policy("linux-7.3", &[("fits_by_tick", "on")]);
    let under = core.copy_under(&facts, other.core_params()).unwrap();
    let fits = |util| under.util_fits(util, 0, 1024, 0);
    assert_eq!([fits(406), fits(407)], [1, 0]);
}

/// Goal: where the policy of the state has no urgency, or other limits of it, queued tasks count
/// whole, and with the same limits as they are counted. Source: docs/rules/energy-idle.md#urgency:
/// the waiting of a task without a period counts. Utilisation 100, runnable average 300, half of
/// the difference: 100 + floor(200 * 50 / 100) = 200; in step 2 of 4 half of that, 150.
#[test]
fn urgency_is_made_up() {
    let facts = machine(&[common::cluster(2, 1024)]);
    let limits = |low| {
        [
            ("boost_urgency_low_pct", low),
            ("boost_urgency_high_pct", "90"),
            ("runnable_boost_pct", "50"),
        ]
    };
    let (lower, same) = (limits("10"), limits("50"));
    let none: &[(&str, &str)] = &[];
    let other = common::policy("linux-7.3", &same);
    for (own, queued, counted, demand) in [
        (none, [0, 0, 0, 0], [0, 0, 0, 1], 200),
        (&lower[..], [0, 1, 0, 0], [0, 0, 0, 1], 200),
        (&same[..], [0, 1, 0, 0], [0, 1, 0, 0], 150),
    ] {
        let mut core = core(&facts, "linux-7.3", own);
        let state = core.cpu_mut(0);
        (state.load.avg.util_avg, state.load.avg.runnable_avg) = (100, 300);
        state.queue.nr_fair = 1;
        state.queue.nr_urgent = queued;
        let under = core.copy_under(&facts, other.core_params()).unwrap();
        assert_eq!(under.cpu(0).queue.nr_urgent, counted, "{own:?}");
        assert_eq!(under.cpu(1).queue.nr_urgent, [0; 4], "{own:?}");
        assert_eq!(under.perf_request(0), demand, "{own:?}");
    }
    // Without limits nothing is counted, and all of the waiting counts.
    let whole = common::policy("linux-7.3", &[("runnable_boost_pct", "50")]);
    let mut core = core(&facts, "linux-7.3", &same);
    let load = &mut core.cpu_mut(0).load;
    (load.avg.util_avg, load.avg.runnable_avg) = (100, 300);
    let under = core.copy_under(&facts, whole.core_params()).unwrap();
    assert_eq!(under.perf_request(0), 200);
}

/// Goal: the limit that is shown is the one that is asked about. Source:
/// docs/rules/short-wakes.md#short-versions: v8 known and below migration_cost_ns (500 us).
#[test]
fn short_as_the_rules_ask() {
    for (ns, short) in [(499_999, true), (500_000, false), (0, false)] {
        let mut core = core(&machine(&hikey960()), "linux-6.2+sis-short=v8", &[]);
        freeze(&mut core);
        let mut task = sleeper(&mut core, 1, 4, 43, 59);
        task.raw_mut().dur_avg_ns = ns;
        let known = explain(&mut core, task, 4).short.expect("the policy asks");
        assert_eq!((known.short, known.limit_ns), (short, 500_000), "{ns}");
    }
    let mut plain = core(&machine(&hikey960()), "linux-6.2", &[]);
    freeze(&mut plain);
    let task = sleeper(&mut plain, 1, 4, 43, 59);
    assert_eq!(explain(&mut plain, task, 4).short, None);
}

/// Goal: no reason to drop a CPU lacks a word, and none has another's.
#[test]
fn every_word_is_there_once() {
    assert_eq!(Dropped::ALL.len() as u32, sys::WP_DROP_COUNT);
    let header = |name: &str| {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../policy/include/wakeplace/"
        );
        std::fs::read_to_string(format!("{path}{name}")).expect("a header")
    };
    let symbol = |name: &str| name.to_ascii_uppercase().replace('-', "_");
    let (reasons, drops) = (header("reasons.h"), header("explain.h"));
    for reason in Reason::ALL {
        assert!(
            reasons.contains(&format!("WP_REASON_{},", symbol(reason.name()))),
            "{reason}"
        );
    }
    for rule in Rule::ALL {
        assert!(
            reasons.contains(&format!("WP_RULE_{},", symbol(rule.name()))),
            "{rule:?}"
        );
    }
    for drop in Dropped::ALL {
        assert!(
            drops.contains(&format!("WP_DROP_{},", symbol(drop.name()))),
            "{drop:?}"
        );
    }
    let mut names: Vec<_> = Dropped::ALL.iter().map(|d| d.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Dropped::ALL.len());
}

/// Goal: where no energy is asked for none is told, of the first CPU neither; which CPUs lie beyond
/// the limit of a search is counted from the target on. Source: docs/rules/wake-ups.md#idle-scan:
/// with depth 3 and all busy the search looks at 3 CPUs behind CPU 5, which are 6, 7 and 0; 1 to 4
/// are left.
#[test]
fn beyond_the_limit_of_a_search() {
    let mut core = core(&machine(&[common::cluster(8, 1024)]), "linux-7.3", &[]);
    freeze(&mut core);
    (0..8).for_each(|cpu| make_busy(&mut core, cpu));
    core.cpu_mut(0).idle.nr_idle_scan = 3;
    let task = sleeper(&mut core, 1, 5, 100, 100);
    let e = explain(&mut core, task, 5);
    assert_eq!((e.choice.cpu, e.target), (5, Some(5)));
    assert!(e.candidates.iter().all(|seen| seen.energy.is_none()));
    let limit = (0..8).filter(|cpu| e.candidates[*cpu].dropped == Dropped::Limit);
    assert_eq!(limit.collect::<Vec<_>>(), [1, 2, 3, 4]);
}

/// Goal: whether the task is short is told where one of the two rules asks. Source:
/// docs/rules/short-wakes.md#short-problem.
#[test]
fn short_is_told_where_it_is_asked() {
    for (affine, stack, told) in [
        ("off", "off", false),
        ("last", "off", true),
        ("off", "on", true),
    ] {
        let settings = [("sis_short_affine", affine), ("sis_short_stack", stack)];
        let mut core = core(&machine(&hikey960()), "linux-7.3", &settings);
        freeze(&mut core);
        let task = sleeper(&mut core, 1, 4, 43, 59);
        let e = explain(&mut core, task, 4);
        assert_eq!(e.short.is_some(), told, "{affine} {stack}");
    }
}
