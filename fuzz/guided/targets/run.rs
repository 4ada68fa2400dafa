//! `wakeplace_fuzz::targets::run`, guided by coverage.
#![no_main]

wakeplace_fuzz_guided::guided!("run");
