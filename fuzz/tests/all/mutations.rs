//! A fixed number of seeded mutations through every target.
//! Page: docs/internals/checks.md.
//!
//! What must stay: equal seeds make equal inputs; a tenth of the mutations must pass the loaders,
//! else a target tests a parser only.
//! Tests by part (in fuzz/tests/src): fuzz/src/mutate.rs and every target: all tests. `fuzz` runs a
//! target, `keeps` judges it, `asked` reads numbers from the environment.

use crate::replay::{Replay, Tally};
use wakeplace_fuzz::corpus::{Input, regressions, seeds};
use wakeplace_fuzz::mutate::mutate;
use wakeplace_fuzz::{Reached, Target, target};
use wakeplace_workload::Stream;

/// Mutations of each target in a test run; `WAKEPLACE_FUZZ_INPUTS` asks for another number.
const INPUTS: u64 = 15;

/// Mutations that others are made of, and the longest of them, bytes.
const MOST_KEPT: usize = 50;
const MOST_KEPT_BYTES: usize = 16 << 10;

/// The number that `WAKEPLACE_FUZZ_SEED` does not change.
const SEED: u64 = 1;

fn asked(name: &str, otherwise: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(otherwise, |text| {
        text.parse().unwrap_or_else(|_| panic!("{name}: no number"))
    })
}

/// Mutations of the kept inputs, and of mutations that came as far as they, so that changes add up;
/// the same ones for the same seed.
fn fuzz(target: &'static Target) -> Tally {
    let seed = asked("WAKEPLACE_FUZZ_SEED", SEED);
    let inputs = asked("WAKEPLACE_FUZZ_INPUTS", INPUTS);
    let mut from = seeds(target).expect("readable seeds");
    from.extend(regressions(target).expect("readable regressions"));
    let kept = from.len();
    let mut random = Stream::for_task(seed, target.name);
    let mut replay = Replay::of(target);
    for number in 0..inputs {
        let mut pick = || &from[random.below(from.len() as u64) as usize];
        let (one, donor) = (pick(), pick());
        let bytes = mutate(target.shape, &one.bytes, &donor.bytes, &mut random);
        let name = format!("mutation {number} with seed {seed}");
        let input = Input { name, bytes };
        let reached = replay.take(&input);
        if reached == Some(Reached::Simulated) && input.bytes.len() <= MOST_KEPT_BYTES {
            if from.len() < 2 * kept + MOST_KEPT {
                from.push(input);
            } else {
                let at = kept + random.below((from.len() - kept) as u64) as usize;
                from[at] = input;
            }
        }
    }
    replay.tally
}

/// Goal: no mutation breaks a promise, and enough of them pass the loaders: a target of which fewer
/// than a tenth are simulated tests a parser.
fn keeps(name: &str) {
    let tally = fuzz(target(name).expect("a target"));
    let [refused, loaded, ran] = tally.reached;
    println!(
        "{name}: {} inputs: {refused} refused by the loader, {loaded} refused later, {ran} \
         simulated; slowest {:?} ({})",
        tally.executed(),
        tally.slowest.0,
        tally.slowest.1,
    );
    assert!(tally.failures.is_empty(), "{}", tally.failures.join("\n"));
    assert!(
        tally.simulated() * 10 >= tally.executed(),
        "only {ran} inputs were simulated"
    );
}

/// One test for each target, so that they run beside each other.
macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test] fn $name() { super::keeps(stringify!($name)); })*

        #[test]
        fn each_has_a_test() {
            let tested = [$(stringify!($name)),*];
            assert!(wakeplace_fuzz::TARGETS.iter().map(|t| t.name).eq(tested));
        }
    };
}

mod keep_the_promises {
    targets!(platform rtapp trace tree run study report bpf store);
}

/// Goal: a seed names its inputs: a finding is made again with the numbers that its message has.
#[test]
fn equal_seeds_make_equal_inputs() {
    let run = target("run").expect("a target");
    let made = |seed: u64| -> Vec<Vec<u8>> {
        let mut random = Stream::for_task(seed, "test");
        let one = |_| {
            mutate(
                run.shape,
                b"platform juno-r0\n",
                b"policy linux-6.12\n",
                &mut random,
            )
        };
        (0..20).map(one).collect()
    };
    assert_eq!(made(1), made(1));
    assert_ne!(made(1), made(2));
}
