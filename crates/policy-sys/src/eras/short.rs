//! `sis-short`: the versions of the series, v1 (September 2022) to v8 (April 2023), and the
//! prototype that its authors dropped, as sets of its tests
//! (docs/rules/short-wakes.md#short-versions; docs/decisions/028).
//!
//! What must stay: positions of versions, which names of features count by. Free: a version's
//! row, with short-wakes.md#short-versions.
//!
//! Tests by part: short_names.rs: `names_and_states` (`state`, `enable`, `disable`),
//! `the_parameters_of_each_version` (`put`, `parts`); short_wake.rs:
//! `each_version_stacks_as_its_row_says`.
//!
//! Callers: the table `FEATURES` (eras.rs).
//!
//! Tests: crates/policy-sys/tests/all/short_names.rs, crates/policy-sys/tests/all/short_wake.rs

use crate::sys::{self, wp_params};

/// Names, in the order of `PARTS`.
pub(super) const VERSIONS: &[&str] = &["v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "scan-cost"];

/// Position of v5, which docs/rules/short-wakes.md describes in full.
pub(super) const V5: usize = 4;

/// The tests of one version, as the parameters `sis_short_*`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Parts {
    affine: u32,
    dur: u32,
    test: u32,
    gate: u32,
    no_core: u32,
    this: u32,
    alone: u32,
    wakee: u32,
    flips: u32,
    mutual: u32,
}

const PARTS_V5: Parts = Parts {
    affine: sys::WP_SHORT_AFFINE_AFTER_PREV,
    dur: sys::WP_SHORT_DUR_SLEEP,
    test: sys::WP_SHORT_BELOW_EIGHTH,
    gate: 1,
    no_core: 1,
    this: 1,
    alone: sys::WP_SHORT_AT_MOST_ONE,
    wakee: 1,
    flips: 0,
    mutual: 0,
};

const PARTS_V4: Parts = Parts {
    test: sys::WP_SHORT_UP_TO_EIGHTH,
    gate: 0,
    this: 0,
    alone: sys::WP_SHORT_ONE,
    ..PARTS_V5
};

const PARTS_V3: Parts = Parts {
    dur: sys::WP_SHORT_DUR_PUT,
    test: sys::WP_SHORT_UP_TO_WHOLE,
    ..PARTS_V4
};

const PARTS_V2: Parts = Parts {
    dur: sys::WP_SHORT_DUR_COARSE,
    gate: 1,
    wakee: 0,
    ..PARTS_V3
};

const PARTS_V1: Parts = Parts {
    affine: sys::WP_SHORT_AFFINE_FIRST,
    dur: sys::WP_SHORT_DUR_SWITCHES,
    alone: sys::WP_SHORT_ANY,
    wakee: 1,
    ..PARTS_V2
};

const PARTS_V6: Parts = Parts {
    flips: 1,
    ..PARTS_V5
};

const PARTS_V7: Parts = Parts {
    affine: sys::WP_SHORT_AFFINE_LAST,
    gate: 0,
    no_core: 0,
    mutual: 1,
    ..PARTS_V6
};

const PARTS_V8: Parts = Parts {
    test: sys::WP_SHORT_MIGRATION,
    ..PARTS_V7
};

/// Only "do not search longer than the task will run": no test of the domain, none of the wakee.
const PARTS_SCAN_COST: Parts = Parts {
    affine: sys::WP_SHORT_AFFINE_OFF,
    test: sys::WP_SHORT_SCAN_COST,
    gate: 0,
    this: 0,
    alone: sys::WP_SHORT_ONE,
    wakee: 0,
    ..PARTS_V5
};

const PARTS: [Parts; VERSIONS.len()] = [
    PARTS_V1,
    PARTS_V2,
    PARTS_V3,
    PARTS_V4,
    PARTS_V5,
    PARTS_V6,
    PARTS_V7,
    PARTS_V8,
    PARTS_SCAN_COST,
];

/// All ten tests at once: a version says each of them.
fn put(p: &mut wp_params, parts: &Parts) {
    p.sis_short_affine = parts.affine;
    p.sis_short_dur = parts.dur;
    p.sis_short_test = parts.test;
    p.sis_short_gate = parts.gate;
    p.sis_short_no_core = parts.no_core;
    p.sis_short_this = parts.this;
    p.sis_short_alone = parts.alone;
    p.sis_short_wakee = parts.wakee;
    p.sis_short_flips = parts.flips;
    p.sis_short_mutual = parts.mutual;
}

/// The tests as the parameters have them, to be compared with the versions.
fn parts(p: &wp_params) -> Parts {
    Parts {
        affine: p.sis_short_affine,
        dur: p.sis_short_dur,
        test: p.sis_short_test,
        gate: p.sis_short_gate,
        no_core: p.sis_short_no_core,
        this: p.sis_short_this,
        alone: p.sis_short_alone,
        wakee: p.sis_short_wakee,
        flips: p.sis_short_flips,
        mutual: p.sis_short_mutual,
    }
}

/// Version by its position in `PARTS`; two parameters have fixed values in all of them.
pub(super) fn enable(p: &mut wp_params, version: usize) {
    put(p, &PARTS[version]);
    p.sis_short_stack = 1;
    p.sis_short_min_llc = 0;
}

/// Sets the parameters as in all eras as shipped: nothing reads the other parameters then; they are
/// v5's.
pub(super) fn disable(p: &mut wp_params) {
    put(p, &PARTS_V5);
    p.sis_short_affine = sys::WP_SHORT_AFFINE_OFF;
    p.sis_short_stack = 0;
    p.sis_short_min_llc = 0;
}

/// A mixture of versions is on, but none of them.
pub(super) fn state(p: &wp_params) -> Option<usize> {
    if p.sis_short_stack == 0 && p.sis_short_affine == sys::WP_SHORT_AFFINE_OFF {
        return None;
    }
    let whole = PARTS.iter().position(|version| *version == parts(p));
    let whole = whole.filter(|_| p.sis_short_stack != 0);
    Some(whole.unwrap_or(usize::MAX))
}
