//! Every load-tracking update recorded on a real kernel, repeated by the core.
//! Rule: docs/rules/signals.md#pelt-update; the recordings: tests/data/README.md, "Recorded
//! updates".
//!
//! What must stay: the rows are a real kernel's (7.3.4) and are compared bit for bit: never change
//! a row, and allow no difference. It covers policy/src/load_tracking/pelt.c. Free: how rows are
//! read.
//! Tests by part: `every_recorded_update_is_reproduced` (`wp_update_load_sum`, `wp_avg_step`).
//! Helpers, and who fails with them: `state`, `step`, `check`
//! (`every_recorded_update_is_reproduced`).

use crate::common;

use common::{Table, data_dir};
use std::io::Read as _;
use wakeplace_policy_sys::{avg_update, sys};

/// The state columns, with or without the `pre_` prefix.
fn state(t: &Table, row: &[String], prefix: &str) -> sys::wp_sched_avg {
    let of = |name: &str| t.number(row, &format!("{prefix}{name}"));
    sys::wp_sched_avg {
        last_update_ns: of("last_update_time"),
        load_sum: of("load_sum"),
        runnable_sum: of("runnable_sum"),
        util_sum: of("util_sum"),
        load_avg: of("load_avg") as u32,
        runnable_avg: of("runnable_avg") as u32,
        util_avg: of("util_avg") as u32,
        period_contrib: of("period_contrib") as u32,
    }
}

/// Flags as tests/data/README.md names them; `weight` is scaled by 1024 there.
fn step(t: &Table, row: &[String]) -> sys::wp_pelt_step {
    let of = |name: &str| t.number(row, name) as u32;
    let blocked = t.text(row, "type") == "B";
    let on_rq = if blocked { 0 } else { of("on_rq") };
    let running = if blocked { 0 } else { of("h_running") };
    sys::wp_pelt_step {
        now_ns: t.number(row, "now"),
        load: on_rq,
        runnable: u32::from(on_rq != 0 && of("sched_delayed") == 0),
        running,
        weight: of("weight") / 1024,
        scale_cpu: 1024,
        scale_freq: 1024,
        runnable_is_load: 0,
        half_life: 0,
    }
}

/// Rows checked in a file: of entities, and of blocked ones.
fn check(name: &str) -> (usize, usize) {
    let path = data_dir().join("recorded").join(name);
    let packed = std::fs::read(&path).expect(name);
    let mut text = String::new();
    let mut unpack = flate2::read::GzDecoder::new(&packed[..]);
    unpack.read_to_string(&mut text).expect("gzip text");
    let t = Table::parse(&text);
    let (mut entity, mut blocked) = (0, 0);
    for (line, row) in t.rows.iter().enumerate() {
        match t.text(row, "type") {
            "X" => entity += 1,
            "B" => blocked += 1,
            _ => continue,
        }
        let mut avg = state(&t, row, "pre_");
        let crossed = avg_update(&mut avg, &step(&t, row));
        assert_eq!(avg, state(&t, row, ""), "{name} line {}: {row:?}", line + 2);
        assert_eq!(
            u64::from(crossed),
            t.number(row, "ret"),
            "{name} line {}",
            line + 2
        );
    }
    (entity, blocked)
}

/// Goal: Linux 7.3.4 and the core compute the same state, bit for bit. Source:
/// docs/rules/signals.md#pelt-update; data and flags: tests/data/README.md. The row counts are
/// those of the files.
#[test]
fn every_recorded_update_is_reproduced() {
    for name in ["P1.csv.gz", "P3.csv.gz"] {
        let (entity, blocked) = check(name);
        assert!(entity > 4000, "{name}: {entity} rows of type X");
        assert!(blocked > 500, "{name}: {blocked} rows of type B");
    }
}
