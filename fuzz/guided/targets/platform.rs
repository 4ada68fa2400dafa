//! `wakeplace_fuzz::targets::platform`, guided by coverage.
#![no_main]

wakeplace_fuzz_guided::guided!("platform");
