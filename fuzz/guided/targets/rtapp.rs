//! `wakeplace_fuzz::targets::rtapp`, guided by coverage.
#![no_main]

wakeplace_fuzz_guided::guided!("rtapp");
