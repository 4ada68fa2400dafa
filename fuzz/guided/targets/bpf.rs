//! `wakeplace_fuzz::bpf`, guided by coverage.
#![no_main]

wakeplace_fuzz_guided::guided!("bpf");
