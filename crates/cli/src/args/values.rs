//! Reading the values of options: times, numbers of points, CPUs, threads and nanoseconds, and
//! dialects of rt-app.
//!
//! Called by clap for one value each. Seeds and settings are read by `wakeplace_study`. Free: the
//! words of errors.
//!
//! What must stay: what is accepted. Times are ns, as everywhere. An error is one sentence, says
//! what was expected, and becomes exit code 2. Tests by part: `instructions_take_powers_of_two`
//! (`icount_ns`), `threads_and_cpus_are_one_or_more` (`jobs`, `cpus`),
//! crates/cli/tests/all/bad_input.rs::`numbers_say_what_is_expected` (`jobs`, `cpus`),
//! crates/cli/tests/all/results.rs::`a_state_that_cannot_be_shown_is_refused` (`times`),
//! results.rs::`lists_and_pages_of_platforms_are_short` (`newest_kernel`),
//! crates/cli/tests/all/sweeps.rs::`no_run_counts_twice` (`points`). No test of its own: `dialect`.
//!
//! Tests: below, crates/cli/tests/all/bad_input.rs::numbers_say_what_is_expected,
//! crates/cli/tests/all/results.rs, crates/cli/tests/all/sweeps.rs::no_run_counts_twice

use wakeplace_platform::MAX_CPUS;
use wakeplace_policy_sys::Policy;
use wakeplace_study::parse_whole as whole;
use wakeplace_workload::Dialect;

/// Instants of a run, ns, so that clap takes them as one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Times(pub(crate) Vec<u64>);

/// Most instants of one run.
const MAX_TIMES: usize = 1000;

/// `TIME,...`; 0 is one.
pub(crate) fn times(text: &str) -> Result<Times, String> {
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > MAX_TIMES {
        return Err(format!(
            "{} times; expected at most {MAX_TIMES}",
            parts.len()
        ));
    }
    let time = |part: &&str| wakeplace_text::parse_duration_or_zero_ns(part.trim());
    let times = parts.iter().map(time).collect::<Result<Vec<_>, _>>();
    times.map(Times).map_err(|error| error.to_string())
}

/// The policy that is the newest kernel's.
pub(crate) fn newest_kernel() -> String {
    let names = Policy::catalogue().into_iter().map(|(name, _)| name);
    let mut kernels = names.filter(|name| name.starts_with("linux-"));
    kernels.next_back().unwrap_or_default()
}

/// Points of a design.
pub(crate) fn points(text: &str) -> Result<usize, String> {
    whole(text, "a number of points", (1, 1_000_000))
}

/// How many CPUs a machine has.
pub(crate) fn cpus(text: &str) -> Result<u32, String> {
    whole(text, "a number of CPUs", (1, MAX_CPUS as u32))
}

/// Nanoseconds that an instruction of a guest takes.
pub(crate) fn icount_ns(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(ns @ 1..=1024) if u32::is_power_of_two(ns) => Ok(ns),
        _ => Err("expected 1, 2, 4, ... 1024 nanoseconds".to_owned()),
    }
}

/// A number of threads.
pub(crate) fn jobs(text: &str) -> Result<usize, String> {
    whole(text, "a number of threads", (1, 1024))
}

/// Words of `--rtapp-dialect`.
pub(crate) fn dialect(text: &str) -> Result<Dialect, String> {
    Dialect::parse(text)
}

#[cfg(test)]
mod tests {
    use super::{cpus, icount_ns, jobs};

    #[test]
    fn instructions_take_powers_of_two() {
        assert_eq!(icount_ns("1"), Ok(1));
        assert_eq!(icount_ns("1024"), Ok(1024));
        for text in ["0", "3", "2048", "-2", "2ns", ""] {
            let error = icount_ns(text).expect_err(text);
            assert_eq!(error, "expected 1, 2, 4, ... 1024 nanoseconds", "{text}");
        }
    }

    #[test]
    fn threads_and_cpus_are_one_or_more() {
        assert_eq!(jobs("2"), Ok(2));
        assert!(jobs("0").is_err() && jobs("many").is_err());
        let range = "expected a number of CPUs from 1 to 1024";
        assert_eq!(cpus("0").unwrap_err(), range);
    }
}
