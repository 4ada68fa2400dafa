//! `wakeplace_fuzz::targets::trace`, guided by coverage.
#![no_main]

wakeplace_fuzz_guided::guided!("trace");
