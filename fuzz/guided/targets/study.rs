//! `wakeplace_fuzz::targets::study`, guided by coverage.
#![no_main]

wakeplace_fuzz_guided::guided!("study");
