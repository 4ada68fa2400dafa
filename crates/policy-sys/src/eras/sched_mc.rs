//! `sched-mc`: the series of 2011 for dual and quad Cortex-A9
//! (docs/rules/sched-mc.md#sched-mc-patches; docs/decisions/033), and its form for later kernels
//! (040). Its versions are the levels of the knob with all of its patches applied.
//!
//! What must stay: a version is a level of the knob with all patches; single patches are
//! parameters. Free: which patches a version has, with sched-mc.md.
//!
//! Tests by part: sched_mc.rs: `names_and_states` (`state`, `enable`, `disable`, `put`, `all`),
//! `patches_one_by_one` (`patches`); sched_mc_later.rs: `what_each_level_places` (`has_knob`).
//!
//! Callers: the table `FEATURES` (eras.rs); patches.rs.
//!
//! Tests: crates/policy-sys/tests/all/sched_mc.rs, crates/policy-sys/tests/all/sched_mc_later.rs

use crate::sys::{self, wp_params};

/// Values of `sched_mc_power_savings`.
pub(super) const VERSIONS: &[&str] = &["0", "1", "2"];

/// Is it the kernel that the series was made for, with the knob and its domains?
fn has_knob(p: &wp_params) -> bool {
    p.domain_form == sys::WP_DOMAINS_31
}

/// Patches 1 to 8, and how later kernels do what 3.1 did by its knob. At level 0 they change
/// nothing.
fn patches(p: &wp_params) -> [u32; 7] {
    [
        p.mc_topology,
        p.arch_power,
        p.mc_arch_hook,
        p.mc_freq_table,
        p.mc_lowest_first,
        p.mc_placement,
        p.mc_balance,
    ]
}

/// Gives the values that turn on all patches of the series.
fn all(p: &wp_params) -> [u32; 7] {
    let (knob, later) = (u32::from(has_knob(p)), u32::from(!has_knob(p)));
    [knob, 1, 1, 1, 1, later, later]
}

/// The seven parameters of patches 1 to 8, in the series' order.
fn put(p: &mut wp_params, on: [u32; 7]) {
    [
        p.mc_topology,
        p.arch_power,
        p.mc_arch_hook,
        p.mc_freq_table,
        p.mc_lowest_first,
        p.mc_placement,
        p.mc_balance,
    ] = on;
}

/// Patches 10 and 11 mend 3.1 whatever the knob says. They come with levels 1 and 2 only: level 0
/// is to be plain 3.1 (docs/rules/sched-mc.md#mc-acceptance (1)).
pub(super) fn enable(p: &mut wp_params, level: usize) {
    disable(p);
    put(p, all(p));
    p.sched_mc_power_savings = level as u32;
    if level > 0 && has_knob(p) {
        p.capacity_newidle = 1;
        p.ilb_idle_at_tick = 0;
    }
}

/// Sets the parameters as in all eras as shipped. What the series mended is broken again where the
/// era has it so.
pub(super) fn disable(p: &mut wp_params) {
    put(p, [0; 7]);
    if has_knob(p) {
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
    let mends = !has_knob(p) || (p.capacity_newidle != 0 && p.ilb_idle_at_tick == 0);
    match patches(p) {
        [0, 0, 0, 0, 0, 0, 0] => None,
        on if on == all(p) && (mends || level == 0) => Some(level),
        _ => Some(usize::MAX),
    }
}
