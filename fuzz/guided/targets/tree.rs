//! `wakeplace_fuzz::targets::tree`, guided by coverage.
#![no_main]

wakeplace_fuzz_guided::guided!("tree");
