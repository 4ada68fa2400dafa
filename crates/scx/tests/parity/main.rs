// SPDX-License-Identifier: GPL-2.0-only
//! The policy core compiled natively and the same core compiled for BPF give equal answers.
//!
//! Both builds get the same bytes: a random machine under a random policy in a random situation.
//! After each call every field that it may touch is compared, after each batch every byte. Needs
//! root and a kernel with BPF, no sched_ext; elsewhere the tests say that they were skipped, or
//! fail with WAKEPLACE_REQUIRE_BPF=1. WAKEPLACE_PARITY_STATES is the number of states (default
//! 1,000,000), WAKEPLACE_PARITY_SEED the seed (default 1).

mod events;
mod kernel;
mod machines;
mod ops;
mod situations;
mod state;

use crate::kernel::{Pair, install, load, say};
use crate::machines::{Draw, core};
use crate::ops::Op;
use wakeplace_policy_sys::Reason;

/// Decisions on one machine under one policy.
const BATCH: u64 = 400;
const MOST_CPUS: usize = 64;

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
    number("WAKEPLACE_PARITY_STATES", 1_000_000)
}

fn seed() -> u64 {
    number("WAKEPLACE_PARITY_SEED", 1)
}

/// One batch: a machine, a policy, situations. Counts the reasons.
fn decide(pair: &mut Pair, seed: u64, batch: u64, decisions: u64, count: &mut [u64]) {
    let mut draw = Draw::new(seed, batch);
    let (core, words) = core(&mut draw, MOST_CPUS);
    install(pair, core.state());
    pair.place = format!("seed {seed} batch {batch}\n{words}");
    for _ in 0..decisions {
        situations::situation(&mut draw, pair.native_mut());
        pair.publish_situation();
        pair.run(Op::select_cpu);
        count[pair.native().decision.reason as usize] += 1;
    }
    pair.compare_all();
}

#[test]
fn every_decision_is_the_same_in_both_builds() {
    let test = "every_decision_is_the_same_in_both_builds";
    let Some(mut pair) = load(test) else { return };
    let (states, seed) = (states(), seed());
    let mut count = vec![0u64; Reason::COUNT];
    for batch in 0..states.div_ceil(BATCH) {
        let left = states - batch * BATCH;
        decide(&mut pair, seed, batch, left.min(BATCH), &mut count);
    }
    say(&format!(
        "parity: {states} decisions, seed {seed}, by reason:"
    ));
    for reason in &Reason::ALL[1..] {
        say(&format!(
            "  {:22} {:9}",
            reason.name(),
            count[reason.index()]
        ));
    }
    assert_eq!(count.iter().sum::<u64>(), states);
    assert_eq!(
        count[Reason::None.index()],
        0,
        "a decision without a reason"
    );
    let missing = Reason::ALL[1..].iter().filter(|r| count[r.index()] == 0);
    let missing: Vec<_> = missing.map(|r| r.name()).collect();
    assert!(
        states < 1_000_000 || missing.is_empty(),
        "no state led to {missing:?}: let situations.rs or machines.rs reach them"
    );
}

/// Calls whose answer is other than 0 only when they do what they are there for.
const DEEP: [Op; 12] = [
    Op::enqueue,
    Op::tick,
    Op::idle_tick,
    Op::vq_preempts,
    Op::vq_expired,
    Op::idle_pass_wanted,
    Op::idle_decay,
    Op::sis_update,
    Op::balance_offer,
    Op::balance_end,
    Op::newidle_begin,
    Op::nohz_kick,
];

#[test]
fn every_event_is_the_same_in_both_builds() {
    let test = "every_event_is_the_same_in_both_builds";
    let Some(mut pair) = load(test) else { return };
    let (each, seed) = (states().div_ceil(10), seed());
    let count = events::run(&mut pair, seed, each);
    say(&format!(
        "parity: events, seed {seed}, calls by entry point, answers other than 0:"
    ));
    for (op, calls) in Op::ALL.iter().zip(&count) {
        say(&format!(
            "  {:22} {:9} {:9}",
            op.program(),
            calls.made,
            calls.answered
        ));
    }
    let idle = DEEP.iter().filter(|op| count[**op as usize].answered == 0);
    let idle: Vec<_> = idle.collect();
    assert!(
        each < 1000 || idle.is_empty(),
        "the walks never come to the point of {idle:?}"
    );
}

/// What runs before the first event is built natively and copied: its loops have no bounds.
const NATIVE_ONLY: [&str; 2] = ["build_domains", "em_register"];

#[test]
fn every_entry_point_has_a_program() {
    let header = include_str!("../../../../policy/include/wakeplace/policy.h");
    let declared = header.lines().filter_map(|line| {
        let (result, rest) = line.split_once(" wp_")?;
        let (name, _) = rest.split_once('(')?;
        ["int", "u32", "u64", "s32", "s64"]
            .contains(&result)
            .then_some(name)
    });
    let known = |name: &&str| {
        NATIVE_ONLY.contains(name) || Op::ALL.iter().any(|op| op.program()[2..] == **name)
    };
    let (known, missing): (Vec<_>, Vec<_>) = declared.partition(known);
    assert_eq!(known.len(), Op::ALL.len() + NATIVE_ONLY.len());
    assert!(
        missing.is_empty(),
        "policy.h declares {missing:?}: add programs to parity.bpf.c and rows to ops.rs"
    );
}

/// `program ceiling` per line; `#` begins a comment.
fn ceilings() -> Vec<(String, u32)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/verifier_ceiling.txt");
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let lines = text
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'));
    let entry = |line: &str| {
        let (name, most) = line.split_once(' ')?;
        Some((name.to_owned(), most.trim().parse().ok()?))
    };
    let entries = lines.map(|l| entry(l).unwrap_or_else(|| panic!("{path}: `{l}`")));
    entries.collect()
}

#[test]
fn what_the_verifier_processes_stays_below_its_ceilings() {
    let Some(pair) = load("what_the_verifier_processes_stays_below_its_ceilings") else {
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
    say("parity: instructions that the verifier processed, and their ceilings:");
    for (program, processed) in pair.processed_insns() {
        let entry = ceilings.iter().find(|(name, _)| name == program);
        let most = entry.map_or(0, |(_, most)| *most);
        say(&format!("  {program:22} {processed:9} {most:9}"));
        if processed > most {
            wrong.push(format!("{program} {processed}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "above their ceilings: {wrong:?}; if that cannot be helped, set them anew in \
         crates/scx/tests/verifier_ceiling.txt, to half more than what is printed here"
    );
}
