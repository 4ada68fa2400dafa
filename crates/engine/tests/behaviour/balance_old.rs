//! Load balancing in the forms of 3.1, 3.8 and 4.7, seen from outside
//! (docs/rules/linux-3-8.md#balance-3-8 and docs/rules/linux-3-8.md#nohz-3-8,
//! docs/rules/sched-mc.md#power-saving-balance and docs/rules/sched-mc.md#idle-load-balancer). The
//! rest of the policy is that of `linux-4.17`.
//!
//! What must stay: bounds follow from weights and room, by hand; only the balancing form differs
//! between runs.
//! Tests by part (in crates/engine/src): kernel/model/balance.rs: `pinned_tasks_stay` (affinity);
//! kernel/model/balance.rs with policy/src/balance/busiest_3_12.c: all others.
//! Helpers, and who fails with them: `in_form` (all tests).

use crate::common::*;
use wakeplace_engine::RunReport;
use wakeplace_platform::Platform;
use wakeplace_workload::TaskScript;

/// Parameters that make a form.
pub(crate) type Form = &'static [(&'static str, &'static str)];

pub(crate) const FORM_38: Form = &[
    ("group_form", "counts"),
    ("weight_is_load", "on"),
    ("nohz_form", "3.8"),
    ("newidle_by_cost", "off"),
    ("busy_factor", "64"),
];

pub(crate) const FORM_31: Form = &[
    ("group_form", "counts-3.1"),
    ("weight_is_load", "on"),
    ("nohz_form", "3.1"),
    ("ilb_idle_at_tick", "on"),
    ("newidle_by_cost", "off"),
    ("newidle_push", "off"),
    ("pinned_retry", "off"),
    ("busy_factor", "64"),
];

pub(crate) const FORM_47: Form = &[
    ("nohz_form", "4.7"),
    ("sibling_beyond_local", "off"),
    ("idle_pulls_overload", "off"),
    ("asym_no_pull_max", "on"),
];

pub(crate) const FORMS: [(&str, Form); 3] = [("3.1", FORM_31), ("3.8", FORM_38), ("4.7", FORM_47)];

fn in_form(
    platform: &Platform,
    form: &[(&str, &str)],
    tasks: Vec<TaskScript>,
    duration: u64,
) -> (RunReport, Log) {
    let mut settings = vec![("governor", "performance")];
    settings.extend_from_slice(form);
    let policy = policy("linux-4.17", &settings);
    simulate(
        platform,
        &policy,
        &workload(tasks, vec![]),
        &all_on(duration),
    )
}

/// Goal: as many always-running tasks as CPUs: within 1 s each has its own and stays there: one has
/// room on one CPU, so no group is over its room any more.
#[test]
fn hogs_get_a_cpu_each() {
    let two_caches = Board {
        clusters: vec![(2, 1024), (2, 1024)],
        ..Board::symmetric(4)
    };
    for platform in [Board::symmetric(4).platform(), two_caches.platform()] {
        for (name, form) in FORMS {
            let hogs = (0..4).map(|_| hog(None)).collect();
            let (report, log) = in_form(&platform, form, hogs, 5 * S);
            let mut homes: Vec<u32> = Vec::new();
            for task in 0..4 {
                let home = log.stretches(task).last().expect("it runs").cpu;
                let ran = log.ran(task, S, 5 * S, |cpu| cpu == home);
                assert_eq!(ran, 4 * S, "{name}: task {task}");
                homes.push(home);
                assert!(report.tasks[task as usize].run_ns >= 4_900 * MS, "{name}");
            }
            homes.sort_unstable();
            assert_eq!(homes, [0, 1, 2, 3], "{name}");
        }
    }
}

/// Goal: twice as many: each gets half a CPU, to 5 %.
#[test]
fn twice_as_many_get_half_each() {
    let platform = Board::symmetric(4).platform();
    for (name, form) in FORMS {
        let hogs = (0..8).map(|_| hog(None)).collect();
        let (report, _) = in_form(&platform, form, hogs, 10 * S);
        for (task, totals) in report.tasks.iter().enumerate() {
            let ran = totals.run_ns;
            assert!(ran.abs_diff(5 * S) <= S / 4, "{name}: task {task}: {ran}");
        }
    }
}

/// Goal: loads are weights: beside one task of nice -5 (3121) three of nice 0 (3072) are balanced,
/// as 3121 >= 3072 leaves one CPU nothing to pull, and the other has more. Two and two are not:
/// 4145 against 2048 is beyond any margin. So in the end the heavy one is alone: in the second half
/// of 20 s it has a whole CPU, to 5 %.
#[test]
fn weights_are_evened_out() {
    let platform = Board::symmetric(2).platform();
    for (name, form) in [("3.1", FORM_31), ("3.8", FORM_38)] {
        let heavy = TaskScript {
            nice: -5,
            ..hog(None)
        };
        let tasks = vec![hog(None), hog(None), hog(None), heavy];
        let (_, log) = in_form(&platform, form, tasks, 20 * S);
        let ran = log.ran(3, 10 * S, 20 * S, |_| true);
        assert!(ran >= 9_500 * MS, "{name}: {} ms", ran / MS);
    }
}

/// Goal: pinned tasks never leave, and none is lost.
#[test]
fn pinned_tasks_stay() {
    let platform = Board::symmetric(4).platform();
    for (name, form) in FORMS {
        let tasks = (0..6).map(|_| hog(Some(&[1]))).collect();
        let (report, log) = in_form(&platform, form, tasks, 3 * S);
        assert_eq!(log.balance_moves(), [], "{name}");
        let total: u64 = report.tasks.iter().map(|t| t.run_ns).sum();
        assert!(total > 2_990 * MS, "{name}");
    }
}
