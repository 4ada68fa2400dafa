//! Eras and features as sets of parameter values. The only place where a kernel version is a fact
//! (docs/guide/policy.md).
//!
//! What must stay: an era's name and values, since results name it; a new kernel is a new era.
//! `names_turn_features_on_and_off` (policy.rs) tries features. Free: the lines for people; a
//! row is added, never renamed.
//!
//! Tests by part: policy.rs: `names_turn_features_on_and_off`,
//! early_eras.rs::`asym_capacity_is_added_to_4_7` (`set_asym_capacity`), energy_7_3.rs::`versions`
//! (`set_energy_aware`).
//!
//! Callers: policy.rs parses by these tables.
//!
//! Tests: crates/policy-sys/tests/all/forms_by_era.rs, crates/policy-sys/tests/all/early_eras.rs,
//! crates/cli/tests/all/eras.rs

mod base;
mod early;
mod later;
mod patches;
mod power;
mod sched_mc;
mod short;

use crate::sys::{self, wp_params};
pub(crate) use patches::patches;

/// A kernel version with what it shipped.
pub(crate) struct Era {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    /// Major and minor number of the kernel: whose drivers it has.
    pub(crate) release: (u16, u16),
    pub(crate) params: fn() -> wp_params,
    /// Versions that `+FEATURE` means in this era, where it is not the feature's first.
    pub(crate) versions: &'static [(&'static str, &'static str)],
}

/// One of the patch series, as something to add to or take from an era.
pub(crate) struct Feature {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    /// Versions to choose from, the oldest first; empty: on or off only.
    pub(crate) versions: &'static [&'static str],
    /// Number of the version that `+FEATURE` means in an era that names none.
    pub(crate) usual: usize,
    /// Applies version number `usize` (position in `versions`, 0 without versions).
    pub(crate) enable: fn(&mut wp_params, usize),
    pub(crate) disable: fn(&mut wp_params),
    /// Version number if the feature is on; out of range: on, but as none of its versions.
    pub(crate) state: fn(&wp_params) -> Option<usize>,
    /// Parameters by which later kernels do instead what the feature, when off, does not.
    pub(crate) successors: &'static [&'static str],
    /// Why an era cannot have it; `None`: it can.
    pub(crate) refused: fn(&wp_params) -> Option<&'static str>,
}

/// All eras.
pub(crate) const ERAS: &[Era] = &[
    Era {
        name: "linux-3.1",
        doc: "Linux 3.1 (October 2011): weights of queued tasks, no averages, all CPUs alike",
        release: (3, 1),
        params: early::linux_3_1,
        versions: &[],
    },
    Era {
        name: "linux-3.8",
        doc: "Linux 3.8 (February 2013): as 3.1, with averages that decide nothing yet",
        release: (3, 8),
        params: early::linux_3_8,
        versions: &[],
    },
    Era {
        name: "linux-4.7",
        doc: "Linux 4.7 (July 2016): scaled load averages, M:N wake-ups, no rule about capacity",
        release: (4, 7),
        params: early::linux_4_7,
        versions: &[],
    },
    Era {
        name: "linux-4.17",
        doc: "Linux 4.17 (June 2018): capacity-aware wake-ups, util_est, schedutil",
        release: (4, 17),
        params: base::linux_4_17,
        versions: &[],
    },
    Era {
        name: "linux-5.0",
        doc: "Linux 5.0 (March 2019): 4.17 with misfit tasks and energy-aware wake-ups",
        release: (5, 0),
        params: later::linux_5_0,
        versions: &[("energy-aware", "5.0")],
    },
    Era {
        name: "linux-5.10",
        doc: "Linux 5.10 (long-term, as of 5.10.223): group classes, clock-scaled signals, uclamp",
        release: (5, 10),
        params: later::linux_5_10,
        versions: &[("energy-aware", "5.10")],
    },
    Era {
        name: "linux-6.1",
        doc: "Linux 6.1 (long-term, as of 6.1.176): 6.2 without the limit of a turn",
        release: (6, 1),
        params: later::linux_6_1,
        versions: &[("energy-aware", "6.1")],
    },
    Era {
        name: "linux-6.2",
        doc: "Linux 6.2 (February 2023): CFS, group classes, clock-scaled signals, uclamp",
        release: (6, 2),
        params: later::linux_6_2,
        versions: &[("energy-aware", "6.1")],
    },
    Era {
        name: "linux-6.6",
        doc: "Linux 6.6 (long-term, as of 6.6.63): the first EEVDF, the runnable boost",
        release: (6, 6),
        params: later::linux_6_6,
        versions: &[("energy-aware", "6.1")],
    },
    Era {
        name: "linux-6.12",
        doc: "Linux 6.12 (long-term, as of 6.12.117): EEVDF, cores and clusters told apart",
        release: (6, 12),
        params: later::linux_6_12,
        versions: &[("energy-aware", "6.12")],
    },
    Era {
        name: "linux-6.18",
        doc: "Linux 6.18 (long-term, as of 6.18.15): 6.12 with slices protected apart",
        release: (6, 18),
        params: later::linux_6_18,
        versions: &[("energy-aware", "6.12")],
    },
    Era {
        name: "linux-7.3",
        doc: "Linux 7.3: EEVDF, clock-scaled signals, energy-aware wake-ups, uclamp, group classes",
        release: (7, 3),
        params: later::linux_7_3,
        versions: &[("energy-aware", "7.3")],
    },
    Era {
        name: "wakeplace",
        doc: "the live scheduler's own: linux-7.3 with its features, on the live queues",
        release: (7, 3),
        params: later::wakeplace,
        versions: &[("energy-aware", "7.3")],
    },
];

/// All features.
pub(crate) const FEATURES: &[Feature] = &[
    Feature {
        name: "asym-capacity",
        doc: "capacity-aware wake-ups and balancing for big.LITTLE (2016)",
        versions: &[],
        usual: 0,
        enable: |p, _| set_asym_capacity(p, 1),
        disable: |p| set_asym_capacity(p, 0),
        state: |p| {
            let on = p.asym_balance_wake | p.wake_cap | p.idlest_spare | p.asym_no_pull;
            (on != 0).then_some(0)
        },
        successors: &["misfit", "sis_asym"],
        refused: |_| None,
    },
    Feature {
        name: "energy-aware",
        doc: "a waking task goes where it costs least energy (2018)",
        versions: &["v3", "5.0", "5.10", "6.1", "6.12", "7.3"],
        usual: 0,
        enable: set_energy_aware,
        disable: |p| p.energy_aware = sys::WP_ENERGY_OFF,
        state: |p| (p.energy_aware as usize).checked_sub(1),
        successors: &[],
        refused: |_| None,
    },
    Feature {
        name: "power-policy",
        doc: "fill groups of CPUs one after the other, so that others stay idle (2013)",
        versions: power::VERSIONS,
        usual: 0,
        enable: power::enable,
        disable: power::disable,
        state: power::state,
        successors: &[],
        refused: power::refused,
    },
    Feature {
        name: "sis-short",
        doc: "a short task woken by a short one stays on the waking CPU (2023)",
        versions: short::VERSIONS,
        usual: short::V5,
        enable: short::enable,
        disable: short::disable,
        state: short::state,
        successors: &[],
        refused: |_| None,
    },
    Feature {
        name: "sched-mc",
        doc: "tasks are packed on few cores while their clock is slow (2011); the knob's level",
        versions: sched_mc::VERSIONS,
        usual: 2,
        enable: sched_mc::enable,
        disable: sched_mc::disable,
        state: sched_mc::state,
        successors: &[],
        refused: |_| None,
    },
];

/// The six parameters of the series of 2016, all on or all off.
fn set_asym_capacity(p: &mut wp_params, on: u32) {
    p.asym_balance_wake = on;
    p.wake_cap = on;
    p.idlest_single_cpu = on;
    p.idlest_without_task = on;
    p.idlest_spare = on;
    p.asym_no_pull = on;
}

/// v3: margin 1/64; 5.0 and 5.10: margin 1/16 and a limit on the estimate's cost; 6.1: that limit
/// only; from 6.12 on neither (docs/rules/energy-aware.md#energy-wake-up-v3,
/// docs/rules/energy-aware.md#energy-5-0, docs/rules/energy-aware.md#energy-wake-up,
/// docs/rules/energy-aware.md#energy-conditions).
fn set_energy_aware(p: &mut wp_params, version: usize) {
    let (form, shift, complexity) = match version {
        0 => (sys::WP_ENERGY_V3, 6, 0),
        1 => (sys::WP_ENERGY_50, 4, 2048),
        2 => (sys::WP_ENERGY_510, 4, 2048),
        3 => (sys::WP_ENERGY_61, 6, 2048),
        4 => (sys::WP_ENERGY_612, 6, 0),
        _ => (sys::WP_ENERGY_73, 6, 0),
    };
    p.energy_aware = form;
    p.energy_margin_shift = shift;
    p.energy_max_complexity = complexity;
}
