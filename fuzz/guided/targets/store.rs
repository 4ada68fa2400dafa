//! `wakeplace_fuzz::store`, guided by coverage.
#![no_main]

wakeplace_fuzz_guided::guided!("store");
