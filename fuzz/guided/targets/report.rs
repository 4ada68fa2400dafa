//! `wakeplace_fuzz::targets::report`, guided by coverage.
#![no_main]

wakeplace_fuzz_guided::guided!("report");
