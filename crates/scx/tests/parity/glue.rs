// SPDX-License-Identifier: GPL-2.0-only
//! One structure of the glue at a time: what src/bpf does with a task, a queue, a timer, a wish. It
//! is compiled for this machine with the core as it is loaded, on a kernel of one thread that
//! records what it is asked for (glue/fake.h). Needs clang, as the build does, and neither root nor
//! BPF. What the kernel's verifier says, and several CPUs at once, only guests show
//! (xtask/src/live/tests.rs). Page: docs/internals/checks.md; docs/decisions/011.
//!
//! What must stay: each case of glue/glue.c is a test here. Free: the order of cases.
//! Tests by part (in crates/scx/src/bpf): place.bpf.h: `wakes` (`wakeplace_select_cpu`, `decide`,
//! `fill_waker`, `count_reason`), `usable` (`usable`), `woken_sync` (`wakeplace_wake_up`), `execs`
//! (`wakeplace_exec`), `at_once` (`take_claimed`, and `at_once` of compat.h); task.bpf.h: `comes`
//! (`wakeplace_init_task`, `inherit_signals`), `user_time` (`note_user_time`), `carried`
//! (`end_carried`), `sleeps` (`arrive`, `depart`, `unqueue`, `account_run`, `wakeplace_stopping`),
//! `weights` (`wakeplace_set_weight`, `weight_of`, `note_class`, `withdraw`), `bound`
//! (`wakeplace_set_cpumask`, `copy_mask`, `count_bound`, `is_bound`), `hints` (`note_clamps`);
//! cgroup.bpf.h: `groups` (`wakeplace_cgroup_init`, `wakeplace_cgroup_exit`,
//! `wakeplace_cgroup_move`, `group_of`, `own_group_of`, `is_idle`), `quota_holders` (`has_quota`,
//! `quota_wait_ns`); quota.bpf.h: `held_at_return` (`park`, `park_waiting`, `held_back`,
//! `ask_return`, `returned`), `unparking` (`unpark`, `parked_wait_ns`, `before_parked`),
//! `a_lost_look` (`unpark_due`, `arm_unpark`); queue.bpf.h: `ticks` (`wakeplace_running`,
//! `wakeplace_tick`, `may_go_on`), `overdue` (`take_overdue`), `pushes` (`push_wanted`,
//! `drop_push`, `take_wish`), `preempting` and `the_next` (`queue_task`, `preempts`), `dispatching`
//! (`wakeplace_dispatch`), `yields` (`wakeplace_yield`), `pressure` (`note_pressure`); slice.bpf.h:
//! `timers` (`arm_timer`), `lazy` (`begin_slice`, `end_slice`), `slice_ends` (`slice_end`,
//! `arm_slice_end`); pull.bpf.h: `carried` (`take_to_wait`), `taking` (`take_to_run`,
//! `count_pulled`, `account_move`), `asking` (`ask_push`); machine.bpf.h: `claims`
//! (`forget_claim`), `rescue` (`rescue_queue`, `give_up_queue`), `idles` (`wakeplace_update_idle`);
//! state.bpf.h: `kicks` (`kick`), `leaving` (`wake_leaving`), `frequency` (`carry_out_freq`,
//! `request_freq`). Of the core, for two CPUs side by side: `two_settlers` (`wp_live_group_part`,
//! `wp_live_group_enter`).
//! Helpers, and who fails with them: `program`, `holds` (all tests, `user_time` among them).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What says nothing here: attributes of BPF alone, and what src/bpf has that no case calls.
const QUIET: [&str; 4] = [
    "-Wno-unused",
    "-Wno-ignored-attributes",
    "-Wno-unknown-attributes",
    "-Wno-unknown-pragmas",
];

/// The program, compiled once.
fn program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let at = Path::new(env!("CARGO_TARGET_TMPDIR")).join("glue");
        let clang = std::env::var("BPF_CLANG").unwrap_or_else(|_| "clang-19".to_owned());
        let includes = ["tests/parity/glue", "policy/include", "policy", "src/bpf"];
        let includes = includes.map(|folder| format!("-I{}", here.join(folder).display()));
        let output = Command::new(&clang)
            .args(["-std=gnu2x", "-O1", "-g", "-Wall", "-Werror"])
            .args(QUIET)
            .args(includes)
            .arg("-o")
            .arg(&at)
            .arg(here.join("tests/parity/glue/glue.c"))
            .output()
            .unwrap_or_else(|error| panic!("{clang}: {error}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{clang}: {said}");
        at
    })
}

/// What a case finds wrong is nothing.
fn holds(case: &str) {
    let output = Command::new(program()).arg(case).output();
    let output = output.expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{case}: {}\n{said}", output.status);
}

macro_rules! cases {
    ($($name:ident: $case:literal,)*) => {
        const CASES: &[&str] = &[$($case),*];
        $(
            #[test]
            fn $name() {
                holds($case);
            }
        )*
    };
}

cases! {
    user_time: "user-time",
    quota_holders: "quota-holders",
    held_at_return: "held-at-return",
    ticks: "ticks",
    unparking: "unparking",
    a_lost_look: "a-lost-look",
    timers: "timers",
    overdue: "overdue",
    carried: "carried",
    pushes: "pushes",
    claims: "claims",
    kicks: "kicks",
    two_settlers: "two-settlers",
    at_once: "at-once",
    sleeps: "sleeps",
    weights: "weights",
    bound: "bound",
    hints: "hints",
    usable: "usable",
    wakes: "wakes",
    woken_sync: "woken-sync",
    preempting: "preempting",
    the_next: "the-next",
    dispatching: "dispatching",
    taking: "taking",
    asking: "asking",
    yields: "yields",
    lazy: "lazy",
    slice_ends: "slice-ends",
    leaving: "leaving",
    frequency: "frequency",
    rescue: "rescue",
    idles: "idles",
    pressure: "pressure",
    comes: "comes",
    execs: "execs",
    groups: "groups",
}

#[test]
fn every_case_is_a_test() {
    let output = Command::new(program()).output().expect("it starts");
    let listed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(listed.lines().collect::<Vec<_>>(), CASES);
}
