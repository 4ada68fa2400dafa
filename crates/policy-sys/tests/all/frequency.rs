//! Frequency requests: docs/rules/capacity.md#schedutil and
//! docs/rules/energy-aware.md#util-to-freq.
//!
//! What must stay: frequencies are states of HiKey960 that follow from the page's formulas in exact
//! integers: change them only with the page. It covers policy/src/frequency/freq.c, demand.c,
//! perf_target.c and freq_limit.c. Free: how helpers make a CPU busy.
//! Tests by part: `utilisation_to_frequency`, `schedutil_examples` (`wp_map_util_freq`,
//! `wp_opp_for`); `a_schedulers_target_is_the_demand` (`wp_scx_bpf_cpuperf_set`);
//! `shared_clock_takes_the_maximum` (`wp_sugov_next_freq_shared`); `rate_limit_values`
//! (`wp_rate_limit_us`); `rate_limit_holds_back` (`wp_sugov_update_shared`);
//! `busy_lone_cpu_does_not_slow_down`, `a_kept_state_serves_the_demand` (`wp_sugov_hold_freq`);
//! `changed_limits_are_heeded_at_once`, `limits_and_changes_under_way`,
//! `a_limit_counts_after_the_change_under_way` (`wp_freq_limit`);
//! `a_cap_below_all_efficient_states` (`wp_efficient_within`); `full_speed_is_a_request_too`,
//! `fixed_governors` (`wp_freq_full`); `a_first_demand_of_nothing_is_looked_at` (`wp_most_demand`);
//! `a_request_counts_while_another_is_made` (`wp_sugov_deferred_update`, `wp_freq_taken`).
//! Helpers, and who fails with them: `signal_changed` (most tests, `shared_clock_takes_the_maximum`
//! among them); `requested_mhz` (`utilisation_to_frequency`, `schedutil_examples`); `lone_core`
//! (`busy_lone_cpu_does_not_slow_down`, `changed_limits_are_heeded_at_once`,
//! `a_first_demand_of_nothing_is_looked_at`, `a_kept_state_serves_the_demand`).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{Cluster, NOW, RunsAt as _, cluster, core, freeze, hikey960, lone_cpu, machine};
use wakeplace_policy_sys::{Core, map_util_freq, sys};

/// Tells the core that a CPU's signals changed, without changing them.
fn signal_changed(core: &mut Core, cpu: u32, now_ns: u64) -> bool {
    core.cpu_mut(cpu).load.nr_removed = 1;
    core.update_blocked(cpu, now_ns).freq()
}

/// MHz requested by a HiKey960 domain (0 = A53, 1 = A73) whose first CPU has this utilisation.
fn requested_mhz(domain: usize, util: u32) -> u32 {
    let facts = machine(&hikey960());
    let mut core = core(&facts, "linux-4.17", &[]);
    freeze(&mut core);
    let cpu = 4 * domain as u32;
    core.cpu_mut(cpu).queue.nr_fair = 1;
    core.cpu_mut(cpu).load.avg.util_avg = util;
    signal_changed(&mut core, cpu, NOW);
    facts.freq_domains[domain].opp_khz[core.freq_request(domain) as usize] / 1000
}

/// Goal: raw frequency in exact integers and the state it leads to. Source:
/// docs/rules/energy-aware.md#util-to-freq, table.
#[test]
fn utilisation_to_frequency() {
    for (domain, util, raw, mhz) in [
        (0, 106, 528_852, 533),
        (0, 107, 533_841, 999),
        (0, 343, 1_711_287, 1844),
        (1, 200, 576_660, 903),
        (1, 500, 1_441_650, 1805),
        (1, 733, 2_113_459, 2362),
        (1, 820, 2_364_306, 2362),
    ] {
        let (fmax, capacity) = [(1_844_000, 462), (2_362_000, 1024)][domain];
        assert_eq!(map_util_freq(util, fmax, capacity), raw, "{util}");
        assert_eq!(requested_mhz(domain, util), mhz, "{util}");
    }
}

/// Goal: more schedutil numbers of the frequency form. Source:
/// docs/rules/capacity.md#schedutil-numbers.
#[test]
fn schedutil_examples() {
    for (domain, util, mhz) in [(1, 627, 2112), (0, 370, 1844), (1, 1024, 2362), (1, 0, 903)] {
        assert_eq!(requested_mhz(domain, util), mhz, "{util}");
    }
    assert_eq!(map_util_freq(627, 2_362_000, 1024), 1_807_829);
}

/// Goal: a sched_ext scheduler's target stands for the fair class's demand, on the scale of
/// capacity. Source: docs/rules/sched-ext.md#cpuperf and the frequencies of
/// docs/rules/energy-aware.md#util-to-freq: 500 asks for 1 441 650 kHz, 106 for 528 852.
#[test]
fn a_schedulers_target_is_the_demand() {
    let facts = machine(&hikey960());
    for (domain, target, mhz) in [
        (0, 106, 533),
        (0, 1024, 1844), // more than it has
        (1, 0, 903),
        (1, 500, 1805),
        (1, 1024, 2362),
    ] {
        let mut core = core(&facts, "linux-7.3", &[]);
        freeze(&mut core);
        let cpu = 4 * domain as u32;
        // What its tasks show does not count.
        core.cpu_mut(cpu).queue.nr_fair = 1;
        core.cpu_mut(cpu).load.avg.util_avg = 300;
        core.set_perf_target(cpu, target, NOW);
        let khz = facts.freq_domains[domain].opp_khz[core.freq_request(domain) as usize];
        assert_eq!(khz / 1000, mhz, "{target}");
    }
}

/// Goal: CPUs that share a clock: the most demanding decides, util_est counts. Source:
/// docs/rules/capacity.md#schedutil, docs/rules/signals.md#util-est.
#[test]
fn shared_clock_takes_the_maximum() {
    let mut core = core(&machine(&hikey960()), "linux-4.17", &[]);
    freeze(&mut core);
    for (cpu, util) in [(4, 100), (5, 500), (6, 300)] {
        core.cpu_mut(cpu).queue.nr_fair = 1;
        core.cpu_mut(cpu).load.avg.util_avg = util;
    }
    assert!(signal_changed(&mut core, 4, NOW));
    assert_eq!(core.freq_request(1), 2, "1805 MHz for 500");
    core.runs_at(1, 2);
    assert_eq!(core.cpu(7).load.freq_scale, 1_805_000 * 1024 / 2_362_000);
    core.cpu_mut(6).load.util_est = 733;
    let later = NOW + 1_000_000_000;
    for cpu in 4..8 {
        core.cpu_mut(cpu).load.avg.last_update_ns = later;
    }
    assert!(signal_changed(&mut core, 4, later));
    assert_eq!(core.freq_request(1), 4, "2362 MHz for an estimate of 733");
}

/// Goal: limits by parameter, by latency, by default. Source: docs/rules/capacity.md#schedutil
/// constants: driver value, else latency * 1000 in older kernels, else 1000 us.
#[test]
fn rate_limit_values() {
    let limit = |latency, overrides: &[(&str, &str)]| {
        let mut facts = lone_cpu(1024);
        facts.freq_domains[0].transition_latency_us = latency;
        core(&facts, "linux-4.17", overrides).rate_limit_us(0)
    };
    assert_eq!(limit(0, &[]), 1000);
    assert_eq!(limit(5, &[]), 5000);
    assert_eq!(limit(5, &[("rate_limit_us", "777")]), 777);
}

/// Goal: no second change before the limit has passed. Source: docs/rules/capacity.md#schedutil.
#[test]
fn rate_limit_holds_back() {
    let mut core = core(
        &machine(&hikey960()),
        "linux-4.17",
        &[("rate_limit_us", "2000")],
    );
    freeze(&mut core);
    core.cpu_mut(4).queue.nr_fair = 1;
    let mut ask = |util, now| {
        core.cpu_mut(4).load.avg.util_avg = util;
        core.cpu_mut(4).load.avg.last_update_ns = now;
        let asked = signal_changed(&mut core, 4, now);
        if asked {
            let opp = core.freq_request(1);
            core.runs_at(1, opp);
        }
        (asked, core.freq_request(1))
    };
    assert_eq!(ask(500, NOW), (true, 2));
    assert_eq!(ask(800, NOW + 1_999_000), (false, 2), "too early");
    assert_eq!(ask(800, NOW + 2_000_000), (true, 4));
}

fn lone_core() -> Core {
    let clusters = [Cluster {
        cpus: 1,
        ..hikey960()[1].clone()
    }];
    let mut core = core(&machine(&clusters), "linux-4.17", &[("rate_limit_us", "1")]);
    freeze(&mut core);
    core.cpu_mut(0).queue.nr_fair = 1;
    core
}

/// Goal: a lone CPU that had no idle since the last update does not slow down, and does so once it
/// had. Source: docs/rules/capacity.md#schedutil, a policy of one CPU that was never idle.
#[test]
fn busy_lone_cpu_does_not_slow_down() {
    let mut core = lone_core();
    let mut at = NOW;
    let mut update = |core: &mut Core, util, idled| {
        at += 1_000_000;
        core.cpu_mut(0).load.avg.util_avg = util;
        core.cpu_mut(0).load.avg.last_update_ns = at;
        core.cpu_mut(0).idle.idle_calls += u32::from(idled);
        if signal_changed(core, 0, at) {
            let opp = core.freq_request(0);
            core.runs_at(0, opp);
        }
        core.freq_request(0)
    };
    assert_eq!(update(&mut core, 800, true), 4);
    assert_eq!(update(&mut core, 200, false), 4, "no idle since: stays");
    assert_eq!(update(&mut core, 200, true), 0, "idle since: goes down");
    // The reference for `since` is the last update, whichever way that one went.
    assert_eq!(update(&mut core, 800, true), 4);
    assert_eq!(update(&mut core, 801, false), 4);
    assert_eq!(
        update(&mut core, 200, false),
        4,
        "no idle since the last update"
    );
}

/// Goal: a change of the limits is heeded by the next update, though the CPU has not idled since
/// the last one and though it asks for what it asked for before. Source:
/// docs/rules/capacity.md#schedutil (a change of limits); the cut is of the fastest state, 2362
/// MHz.
#[test]
fn changed_limits_are_heeded_at_once() {
    let mut core = lone_core();
    let mut at = NOW;
    let mut update = |core: &mut Core, util, cut: Option<u32>| {
        at += 1_000_000;
        if let Some(cut) = cut {
            core.state_mut().freq_doms[0].cut_opps = cut;
            core.state_mut().freq_doms[0].limits_changed = 1;
        }
        core.cpu_mut(0).load.avg.util_avg = util;
        core.cpu_mut(0).load.avg.last_update_ns = at;
        if signal_changed(core, 0, at) {
            let opp = core.freq_request(0);
            core.runs_at(0, opp);
        }
        core.freq_request(0)
    };
    assert_eq!(update(&mut core, 800, None), 4);
    assert_eq!(update(&mut core, 800, Some(1)), 3, "the same demand, cut");
    assert_eq!(update(&mut core, 800, Some(0)), 4, "the same demand, freed");
    assert_eq!(
        update(&mut core, 200, Some(0)),
        0,
        "busy, but limits changed"
    );
}

/// Goal: a limit that goes is heeded before the rate limit is over, and one that comes while a
/// change is under way asks for no second one. Source: docs/rules/capacity.md#schedutil ("Not
/// sooner than rate limit after the last change, except limits changed").
#[test]
fn limits_and_changes_under_way() {
    let clusters = [hikey960()[1].clone()];
    let second = [("rate_limit_us", "1000000")];
    let mut core = core(&machine(&clusters), "linux-4.17", &second);
    freeze(&mut core);
    core.cpu_mut(0).queue.nr_fair = 1;
    core.cpu_mut(0).load.avg.util_avg = 800;
    assert!(signal_changed(&mut core, 0, NOW));
    assert!(!core.freq_limit(0, 3, NOW).freq(), "one is under way");
    assert_eq!(core.freq_request(0), 3);
    core.runs_at(0, 3);
    assert!(!core.freq_limit(0, 4, NOW).freq(), "3 may stay");
    core.cpu_mut(0).load.avg.last_update_ns = NOW + 1_000_000;
    assert!(signal_changed(&mut core, 0, NOW + 1_000_000));
    assert_eq!(core.freq_request(0), 4);
    assert_eq!(core.state().freq_doms[0].limits_changed, 0, "heeded");
}

/// Goal: under a cap below all efficient states the domain still follows its demand. Source:
/// docs/rules/capacity.md#schedutil: the lowest state of at least raw within the limits, efficient
/// ones first, if they are within the limits. Costs (docs/rules/energy-aware.md#inefficient-states)
/// are 5000, 5000, 4500: the first two states are inefficient. 100 asks for 600 MHz * 125 / 600 =
/// 125 MHz, 300 for 375.
#[test]
fn a_cap_below_all_efficient_states() {
    let little = Cluster {
        cpus: 1,
        capacity: 600,
        states: vec![(200_000, 100_000), (400_000, 200_000), (600_000, 270_000)],
    };
    let facts = machine(&[little, cluster(1, 1024)]);
    for era in ["linux-6.2", "linux-6.12", "linux-7.3"] {
        let asked = |util, cut| {
            let mut core = core(&facts, era, &[]);
            freeze(&mut core);
            core.runs_at(0, 1);
            let domain = &mut core.state_mut().freq_doms[0];
            (domain.next_opp, domain.cut_opps, domain.limits_changed) = (1, cut, 1);
            core.cpu_mut(0).queue.nr_fair = 1;
            core.cpu_mut(0).load.avg.util_avg = util;
            signal_changed(&mut core, 0, NOW);
            core.freq_request(0)
        };
        assert_eq!(asked(100, 0), 2, "{era}: no cap, the efficient one");
        assert_eq!(asked(100, 1), 0, "{era}: the lowest that serves");
        assert_eq!(asked(300, 1), 1, "{era}: 200 MHz is too little");
        assert_eq!(asked(600, 1), 1, "{era}: more than the cap");
    }
}

/// Goal: the performance governor's request is under way until it is carried out, like any other.
/// Source: docs/rules/capacity.md#schedutil.
#[test]
fn full_speed_is_a_request_too() {
    let governor = [("governor", "performance")];
    let mut core = core(&machine(&hikey960()), "linux-4.17", &governor);
    freeze(&mut core);
    core.runs_at(1, 0);
    core.state_mut().freq_doms[1].next_opp = 0;
    assert!(signal_changed(&mut core, 4, NOW));
    assert_eq!(core.freq_request(1), 4);
    assert_eq!(core.state().freq_doms[1].in_progress, 1);
    assert!(!core.freq_limit(1, 2, NOW).freq(), "one is under way");
    core.runs_at(1, 4);
    assert_eq!(core.state().freq_doms[1].in_progress, 0);
}

/// Goal: the first update looks, whatever it asks for: a demand of 0 is what the record of the last
/// one begins with. Source: docs/rules/capacity.md#schedutil; the lowest state that is at least 0
/// kHz is the first.
#[test]
fn a_first_demand_of_nothing_is_looked_at() {
    let mut core = lone_core();
    core.runs_at(0, 4);
    core.state_mut().freq_doms[0].next_opp = 4;
    core.cpu_mut(0).idle.idle_calls += 1;
    assert!(signal_changed(&mut core, 0, NOW));
    assert_eq!(core.freq_request(0), 0);
}

/// Goal: an update that keeps the state is no refusal: the demand counts as served, and the same
/// one is not looked at again. One that is refused because the CPU has not idled is. Source:
/// docs/rules/capacity.md#schedutil ("if raw equals the last raw value: keep frequency"; "does not
/// go down"). In 4.17 800 asks for (2362 + 590.5) * 800 / 1024 MHz = 2306640 kHz, and 790 for
/// 2277807: state 4 for both.
#[test]
fn a_kept_state_serves_the_demand() {
    let mut core = lone_core();
    let mut at = NOW;
    let mut update = |core: &mut Core, util| {
        at += 1_000_000;
        core.cpu_mut(0).load.avg.util_avg = util;
        core.cpu_mut(0).load.avg.last_update_ns = at;
        if signal_changed(core, 0, at) {
            let opp = core.freq_request(0);
            core.runs_at(0, opp);
        }
        core.state().freq_doms[0].last_raw_khz
    };
    assert_eq!(update(&mut core, 800), 2_306_640);
    assert_eq!(update(&mut core, 790), 2_277_807, "the same state");
    assert_eq!(update(&mut core, 200), sys::WP_NONE, "refused");
}

/// Goal: the fixed governors. Source: docs/rules/capacity.md#schedutil (off: performance governor).
#[test]
fn fixed_governors() {
    for (governor, opp) in [("performance", 4), ("powersave", 0)] {
        let mut core = core(
            &machine(&hikey960()),
            "linux-4.17",
            &[("governor", governor)],
        );
        freeze(&mut core);
        core.cpu_mut(4).queue.nr_fair = 1;
        core.cpu_mut(4).load.avg.util_avg = 500;
        assert!(!signal_changed(&mut core, 4, NOW));
        assert_eq!(core.freq_request(1), opp, "{governor}");
    }
}

/// Goal: from 4.18 on a request that comes after the last one was taken is told again, and one that
/// nobody has taken yet is replaced. To 4.17 nothing is asked for before the hardware is there.
/// Source: docs/rules/capacity.md#work-in-progress; the frequencies are of its table of numbers.
#[test]
fn a_request_counts_while_another_is_made() {
    for (era, at_once) in [
        ("linux-4.17", false),
        ("linux-5.0", true),
        ("linux-7.3", true),
    ] {
        let mut core = core(&machine(&hikey960()), era, &[]);
        freeze(&mut core);
        core.runs_at(1, 0);
        core.state_mut().freq_doms[1].next_opp = 0;
        let ask = |core: &mut Core, util, ms: u64| {
            let cpu = core.cpu_mut(4);
            (cpu.load.avg.util_avg, cpu.load.avg.util_sum) = (util, u64::from(util) * 47_742);
            cpu.queue.nr_fair = 1;
            let told = signal_changed(core, 4, NOW + ms * 1_000_000);
            (told, core.freq_request(1))
        };
        assert_eq!(ask(&mut core, 500, 0), (true, 2), "{era}: 1805 MHz");
        let second = ask(&mut core, 1000, 2);
        assert_eq!(second, (false, if at_once { 4 } else { 2 }), "{era}");
        let taken = core.take_freq_request(1);
        assert_eq!(taken, second.1, "{era}");
        let third = ask(&mut core, 200, 4);
        assert_eq!(third, (at_once, if at_once { 0 } else { 2 }), "{era}");
        assert!(!core.freq_applied(1, taken).freq(), "{era}");
    }
}

/// Goal: a limit that comes after a request was taken is carried out when the hardware has made
/// that change. Source: docs/rules/capacity.md#schedutil: the limit bounds the frequency.
#[test]
fn a_limit_counts_after_the_change_under_way() {
    for era in ["linux-4.17", "linux-7.3"] {
        let mut core = core(&machine(&hikey960()), era, &[("governor", "performance")]);
        freeze(&mut core);
        core.runs_at(1, 0);
        core.state_mut().freq_doms[1].next_opp = 0;
        assert!(signal_changed(&mut core, 4, NOW));
        let taken = core.take_freq_request(1);
        let told = core.freq_limit(1, 2, NOW).freq();
        assert_eq!((taken, core.freq_request(1)), (4, 2), "{era}");
        let later = core.freq_applied(1, taken).freq();
        assert!(told != later, "{era}: once, and not lost");
        core.take_freq_request(1);
        assert!(!core.freq_applied(1, 2).freq(), "{era}");
    }
}
