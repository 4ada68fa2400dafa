//! What all coverage-guided programs have in common.
//!
//! What must stay: targets are those of `wakeplace-fuzz`; only what is tried differs; a changed
//! input is at most `max_size` long. Free: how often which way of changing is taken. `named` and
//! `change` have no test of their own: nightly runs the programs (`cargo xtask fuzz`,
//! xtask/src/tries/fuzz.rs). Callers: `guided!` of each file of fuzz/guided/targets.
//!
//! Tests: none; nightly runs the programs, and fuzz/tests tries the targets

use wakeplace_fuzz::mutate::mutate;
use wakeplace_fuzz::{Target, target};
use wakeplace_workload::Stream;

/// The target of this name, which is there.
#[must_use]
pub fn named(name: &str) -> &'static Target {
    target(name).unwrap_or_else(|| panic!("no target `{name}`"))
}

/// Changes the input in its place: one time in four as libFuzzer does, else by its structure.
pub fn change(target: &Target, data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Stream::for_task(u64::from(seed), target.name);
    if random.below(4) == 0 {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    let input = data[..size].to_vec();
    let changed = mutate(target.shape, &input, &input, &mut random);
    let length = changed.len().min(max_size);
    data[..length].copy_from_slice(&changed[..length]);
    length
}

/// A program of the target of this name.
#[macro_export]
macro_rules! guided {
    ($name:literal) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
            ($crate::named($name).body)(bytes);
        });
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            $crate::change($crate::named($name), data, size, max_size, seed)
        });
    };
}
