//! `sched-mc`: the series of 2011 for dual and quad Cortex-A9 (sched-mc 3; docs/decisions/033). Its
//! versions are the levels of the knob with all of its patches applied.

use crate::sys::{self, wp_params};

/// Values of `sched_mc_power_savings`.
pub(super) const VERSIONS: &[&str] = &["0", "1", "2"];

/// Patches 1 to 8. At level 0 they change nothing.
fn patches(p: &wp_params) -> [u32; 5] {
    [
        p.mc_topology,
        p.arch_power,
        p.mc_arch_hook,
        p.mc_freq_table,
        p.mc_lowest_first,
    ]
}

fn put(p: &mut wp_params, on: u32) {
    p.mc_topology = on;
    p.arch_power = on;
    p.mc_arch_hook = on;
    p.mc_freq_table = on;
    p.mc_lowest_first = on;
}

/// Patches 10 and 11 mend 3.1 whatever the knob says. They come with levels 1 and 2 only: level 0
/// is to be plain 3.1 (sched-mc 5.1).
pub(super) fn enable(p: &mut wp_params, level: usize) {
    disable(p);
    put(p, 1);
    p.sched_mc_power_savings = level as u32;
    if level > 0 {
        p.capacity_newidle = 1;
        p.ilb_idle_at_tick = 0;
    }
}

/// As in all eras as shipped. What the series mended is broken again where the era has it so.
pub(super) fn disable(p: &mut wp_params) {
    put(p, 0);
    if p.domain_form == sys::WP_DOMAINS_31 {
        p.capacity_newidle = 0;
        p.ilb_idle_at_tick = 1;
    }
    p.sched_mc_power_savings = 0;
    p.sched_smt_power_savings = 0;
    p.mc_tasks = sys::WP_NONE;
    p.mc_limit_khz = sys::WP_NONE;
    p.mc_boot_freq = 0;
    p.mc_kick_by_room = 0;
    p.mc_irq_idle_us = 0;
    p.mc_strict = 0;
}

/// Some of the patches only: on, but none of the versions. The bare knob is not the series.
pub(super) fn state(p: &wp_params) -> Option<usize> {
    let level = p.sched_mc_power_savings as usize;
    let mends = p.capacity_newidle != 0 && p.ilb_idle_at_tick == 0;
    match patches(p) {
        [0, 0, 0, 0, 0] => None,
        [1, 1, 1, 1, 1] if mends || level == 0 => Some(level),
        _ => Some(usize::MAX),
    }
}

/// The knob went with 3.5, and with it the balancing that the series builds on.
pub(super) fn refused(p: &wp_params) -> Option<&'static str> {
    (p.domain_form != sys::WP_DOMAINS_31)
        .then_some("it builds on the power-savings balancing of linux-3.1, which 3.5 removed")
}
