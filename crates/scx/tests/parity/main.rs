// SPDX-License-Identifier: GPL-2.0-only
//! The policy core compiled natively and the same core compiled for BPF give equal answers: the
//! whole core, and the core as the live scheduler has it (WP_LIVE), which lacks what only kernels
//! before 7.3 did and therefore gets no policy with a part of theirs. The native core is always the
//! whole one.
//!
//! All builds get the same bytes: a random machine under a random policy in a random situation.
//! After each call every field that it may touch is compared (on a machine of more than 64 CPUs
//! what is near it, see builds.rs), after each batch every byte. Needs root and a kernel with BPF,
//! no sched_ext; elsewhere the tests say that they were skipped, or fail with
//! WAKEPLACE_REQUIRE_BPF=1. WAKEPLACE_PARITY_STATES is the number of states for each build (default
//! 100,000; nightly 1,000,000), WAKEPLACE_PARITY_SEED the seed (default 1).
//!
//! What must stay: every entry point of the core is called in all builds, and a difference of one
//! byte fails; a new entry point joins ops.rs and parity.bpf.c. Free: seeds and numbers of
//! situations.
//! Tests by part: `every_decision_is_the_same_in_all_builds`,
//! `every_event_is_the_same_in_all_builds` (the core, in all of policy/src, by ops.rs);
//! `every_entry_point_has_a_program` (ops.rs, parity.bpf.c);
//! `what_the_verifier_processes_stays_below_its_ceilings` (the size of each program).
//! Helpers, and who fails with them: `number`, `states`, `seed`
//! (`every_decision_is_the_same_in_all_builds`, `every_event_is_the_same_in_all_builds`);
//! `exec_alone`, `decide` (`every_decision_is_the_same_in_all_builds`); `ceilings`
//! (`what_the_verifier_processes_stays_below_its_ceilings`). Page: docs/internals/checks.md;
//! docs/decisions/011.

mod arguments;
mod builds;
mod events;
mod glue;
mod homes;
mod kernel;
mod loaded;
mod machines;
mod ops;
mod situations;
mod state;
mod tally;

use crate::builds::{Builds, SMALL_CPUS, load};
use crate::kernel::say;
use crate::loaded::declared;
use crate::machines::{Draw, Size, core};
use crate::ops::Op;
use crate::state::{State, copy_of, same_whole};
use crate::tally::{Decisions, Seen};
use wakeplace_policy_sys::{Reason, sys};

/// Decisions on one machine under one policy.
const BATCH: u64 = 400;
/// One batch in so many is on a machine of more than 64 CPUs.
const LARGE_EVERY: u64 = 16;
/// One batch in so many is under a policy that the live build holds; others may be.
const LIVE_EVERY: u64 = 2;

fn number(name: &str, default: u64) -> u64 {
    let Some(text) = std::env::var_os(name) else {
        return default;
    };
    let text = text.to_str().map(str::parse);
    match text {
        Some(Ok(number)) => number,
        _ => panic!("{name}: expected a number"),
    }
}

fn states() -> u64 {
    number("WAKEPLACE_PARITY_STATES", 100_000)
}

fn seed() -> u64 {
    number("WAKEPLACE_PARITY_SEED", 1)
}

/// For some of the tasks that exec: what is there after the function for execs alone.
fn exec_alone(state: &State, number: u64) -> Option<Box<State>> {
    if state.request.kind != sys::WP_PLACE_EXEC || !number.is_multiple_of(4) {
        return None;
    }
    let mut copy = copy_of(state);
    Op::select_task_rq_exec.call_native(&mut copy);
    Some(copy)
}

/// One batch: a machine, a policy, situations.
fn decide(builds: &mut Builds, seed: u64, batch: u64, decisions: u64, count: &mut Decisions) {
    let mut draw = Draw::new(seed, batch);
    let size = if batch.is_multiple_of(LARGE_EVERY) {
        Size::Large
    } else {
        Size::UpTo(SMALL_CPUS as usize)
    };
    // Counted from the large ones, so that some of these are under any policy.
    let live = !(batch / LARGE_EVERY + batch).is_multiple_of(LIVE_EVERY);
    let machine = core(&mut draw, size, live);
    builds.install(
        &machine,
        machine.live,
        &format!("seed {seed} batch {batch}"),
    );
    let cpus = builds.native().ctx.nr_cpus;
    let mut touched: Vec<usize> = (0..cpus as usize).collect();
    for number in 0..decisions {
        builds.renew(&touched, |native| {
            situations::situation(&mut draw, native, &touched);
        });
        let execs = exec_alone(builds.native(), number);
        builds.run(Op::select_task_rq_fair);
        if let Some(execs) = execs {
            assert!(
                same_whole(&execs, builds.native()),
                "an exec is placed otherwise by the function for execs alone"
            );
        }
        count.count(builds);
        touched = situations::touch(&mut draw, cpus);
    }
    builds.compare_all();
}

#[test]
fn every_decision_is_the_same_in_all_builds() {
    let test = "every_decision_is_the_same_in_all_builds";
    let Some(mut builds) = load(test) else { return };
    let (states, seed) = (states(), seed());
    let mut count = Decisions::new();
    let mut batch = 0;
    // Until both the whole core and the live build have answered for so many.
    while let left @ 1.. = states.saturating_sub(count.total.live.min(count.total.all)) {
        decide(&mut builds, seed, batch, left.min(BATCH), &mut count);
        batch += 1;
    }
    count.print(seed);
    let Seen { all, live, large } = count.total;
    assert!(all >= states && live >= states);
    assert_eq!(count.of(Reason::None).all, 0, "a decision without a reason");
    if states < 1_000_000 {
        return;
    }
    assert!(large * 20 >= all, "too few machines are large");
    let asked = || Reason::ALL[1..].iter().filter(|r| !ELSEWHERE.contains(r));
    let missing = asked().filter(|r| count.of(**r).all == 0);
    let missing: Vec<_> = missing.map(|r| r.name()).collect();
    assert!(
        missing.is_empty(),
        "no state led to {missing:?}: let situations.rs or machines.rs reach them"
    );
    let not_live = asked().filter(|r| count.of(**r).live == 0);
    let not_live: Vec<_> = not_live.map(|r| r.name()).collect();
    assert_eq!(not_live, EARLIER, "reasons that the live build never gave");
}

/// Reasons that only forms before 7.3 give: of energy_5_0.c, idle_scan_5_11.c, idlest_5_4.c,
/// idle_sibling_4_8.c and of wake-ups before 4.3; the live build leaves them out.
const EARLIER: [&str; 4] = [
    "energy-no-domain",
    "idle-smt",
    "slow-spare",
    "prev-no-domain",
];

/// Reasons of select_rt.c, which only the simulator asks: RT and deadline tasks are the kernel's.
/// And those of a sched_ext scheduler and of a tree's own code in the core's place.
const ELSEWHERE: [Reason; 5] = [
    Reason::ClassPrev,
    Reason::ClassLowest,
    Reason::ClassWaits,
    Reason::Scheduler,
    Reason::Kernel,
];

/// Calls whose answer is other than 0 only when they do what they are there for.
const DEEP: [Op; 28] = [
    Op::enqueue_task_fair,
    Op::task_tick_fair,
    Op::idle_tick,
    Op::live_queue_preempts,
    Op::entity_eligible,
    Op::live_queue_before,
    Op::slice_left_ns,
    Op::live_queue_expired,
    Op::yield_task,
    Op::live_queue_retire,
    Op::live_queue_yields,
    Op::live_group_new,
    Op::live_group_wait_ns,
    Op::live_member_wait_ns,
    Op::live_parked_ns,
    Op::live_member_stop,
    Op::live_member_weigh,
    Op::pick_begin,
    Op::pick_offer,
    Op::pick_end,
    Op::preempt_offer,
    Op::idle_kick_needed,
    Op::idle_decay,
    Op::update_idle_cpu_scan,
    Op::balance_offer,
    Op::balance_end,
    Op::newidle_begin,
    Op::nohz_balancer_kick,
];

#[test]
fn every_event_is_the_same_in_all_builds() {
    let test = "every_event_is_the_same_in_all_builds";
    let Some(mut builds) = load(test) else { return };
    let (each, seed) = (states().div_ceil(10), seed());
    let count = events::run(&mut builds, seed, each);
    tally::print_calls(&count, seed);
    let rare = |op: &&Op| {
        let made = count[**op as usize].made;
        made.live * 4 < each || made.large * 20 < each
    };
    let rare: Vec<_> = Op::ALL.iter().filter(rare).collect();
    assert!(
        each < 100_000 || rare.is_empty(),
        "the live build or large machines have too few calls of {rare:?}"
    );
    let idle = DEEP.iter().filter(|op| count[**op as usize].answered == 0);
    let idle: Vec<_> = idle.collect();
    assert!(
        each < 1000 || idle.is_empty(),
        "the walks never come to the point of {idle:?}"
    );
}

#[test]
fn every_entry_point_has_a_program() {
    let known = |name: &&str| Op::ALL.iter().any(|op| op.name() == *name);
    let (known, missing): (Vec<_>, Vec<_>) = declared().into_iter().partition(known);
    assert_eq!(known.len(), Op::ALL.len());
    assert!(
        missing.is_empty(),
        "the headers declare {missing:?}: add programs to parity.bpf.c and rows to ops.rs"
    );
}

/// `program whole live` per line; `#` begins a comment.
fn ceilings() -> Vec<(String, [u32; 2])> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/verifier_ceiling.txt");
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let lines = text
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'));
    let entry = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next()?.to_owned();
        let mut most = || words.next()?.parse().ok();
        Some((name, [most()?, most()?]))
    };
    let entries = lines.map(|l| entry(l).unwrap_or_else(|| panic!("{path}: `{l}`")));
    entries.collect()
}

#[test]
fn what_the_verifier_processes_stays_below_its_ceilings() {
    let Some(builds) = load("what_the_verifier_processes_stays_below_its_ceilings") else {
        return;
    };
    let ceilings = ceilings();
    let mut wrong = Vec::new();
    let unknown = ceilings.iter().map(|(name, _)| name);
    let unknown = unknown.filter(|name| Op::ALL.iter().all(|op| op.program() != *name));
    assert_eq!(
        unknown.count(),
        0,
        "verifier_ceiling.txt names a program that does not exist"
    );
    say("parity: instructions that the verifier processed: whole core, WP_LIVE, their ceilings:");
    for op in Op::ALL {
        let program = op.program();
        let processed = builds.processed_insns(*op);
        let entry = ceilings.iter().find(|(name, _)| name == program);
        let most = entry.map_or([0, 0], |(_, most)| *most);
        let columns = processed.iter().chain(&most).map(|n| format!("{n:9}"));
        let columns: Vec<_> = columns.collect();
        say(&format!("  {program:22} {}", columns.join(" ")));
        if processed
            .iter()
            .zip(&most)
            .any(|(processed, most)| processed > most)
        {
            wrong.push(format!("{program} {processed:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "above their ceilings: {wrong:?}; if that cannot be helped, set them anew in \
         crates/scx/tests/verifier_ceiling.txt, to half more than what is printed here"
    );
}
