//! Everything that is kept in the repository, through its target.
//! Page: docs/internals/checks.md.
//!
//! What must stay: an input that was once a finding stays kept; each says what it was, and the
//! corpus stays small.
//! Tests by part (in fuzz/tests/src): every target of fuzz/src: both tests.
//! Helpers, and who fails with them: `failures_of` (`every_kept_input_keeps_the_promises`).

use crate::replay::Replay;
use wakeplace_fuzz::corpus::{regressions, seeds};
use wakeplace_fuzz::{Reached, TARGETS, Target};

/// Goal: what was found once is not found again, and every kept input and every file of the
/// repository that a target starts from keeps all promises. The kept corpus goes the whole way: an
/// input that its target refuses would teach mutations nothing.
#[test]
fn every_kept_input_keeps_the_promises() {
    // A target per thread: they share nothing, and take half a minute one after the other.
    let failures: Vec<String> = std::thread::scope(|scope| {
        let all: Vec<_> = TARGETS
            .iter()
            .map(|target| scope.spawn(|| failures_of(target)))
            .collect();
        let joined = all.into_iter().map(|one| one.join().expect("an end"));
        joined.flatten().collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn failures_of(target: &'static Target) -> Vec<String> {
    let mut failures = Vec::new();
    let mut replay = Replay::of(target);
    let known = regressions(target).expect("readable regressions");
    let seeds = seeds(target).expect("readable seeds");
    assert!(
        !seeds.is_empty(),
        "{} has nothing to start from",
        target.name
    );
    for input in known.iter().chain(&seeds) {
        let reached = replay.take(input);
        if input.name.starts_with("fuzz/corpus/") && reached != Some(Reached::Simulated) {
            failures.push(format!("{}: {reached:?}, not simulated", input.name));
        }
    }
    let tally = replay.tally;
    println!(
        "{}: {} regressions, {} seeds, {} simulated, slowest {:?} ({})",
        target.name,
        known.len(),
        seeds.len(),
        tally.simulated(),
        tally.slowest.0,
        tally.slowest.1,
    );
    failures.extend(tally.failures);
    failures
}

/// Goal: each regression says what it was, and the corpus stays small enough for a repository.
#[test]
fn the_corpus_is_small_and_regressions_are_described() {
    let mut bytes = 0;
    for target in &TARGETS {
        let path = format!("fuzz/regressions/{}/README.md", target.name);
        let known = regressions(target).expect("readable regressions");
        let described = std::fs::read_to_string(wakeplace_fuzz::corpus::root().join(&path));
        let described = described.unwrap_or_default();
        for input in &known {
            let name = input.name.rsplit('/').next().unwrap_or_default();
            assert!(
                described.contains(&format!("`{name}`: ")),
                "{path}: nothing of {name}"
            );
        }
        let kept = seeds(target).expect("readable seeds").into_iter();
        let kept = kept.filter(|input| input.name.starts_with("fuzz/corpus/"));
        bytes += known
            .into_iter()
            .chain(kept)
            .map(|input| input.bytes.len())
            .sum::<usize>();
    }
    assert!(bytes <= 300_000, "{bytes} bytes are kept");
}
