//! Reading the values of options: seeds, settings, threads.

use std::fmt::Display;
use std::str::FromStr;
use wakeplace_engine::{Hotplug, PolicyChange};
use wakeplace_metrics::Window;
use wakeplace_policy_sys::Policy;
use wakeplace_study::{Jitter, parse_hotplug, parse_policy_at, parse_seeds, parse_window};
use wakeplace_workload::Dialect;

/// Most CPUs of a machine.
const MAX_CPUS: u32 = 1024;

/// A list of seeds, so that clap takes it as one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seeds(pub(crate) Vec<u64>);

/// As [`parse_seeds`].
pub(crate) fn seeds(text: &str) -> Result<Seeds, String> {
    parse_seeds(text).map(Seeds)
}

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

/// `FROM..TO`, times of a run.
pub(crate) fn window(text: &str) -> Result<Window, String> {
    parse_window(text)
}

/// Amounts of jitter.
pub(crate) fn jitter(text: &str) -> Result<Jitter, String> {
    Jitter::parse(text)
}

/// Points of a design.
pub(crate) fn points(text: &str) -> Result<usize, String> {
    whole(text, "a number of points", (1, 1_000_000))
}

/// A percentage of 0 or more.
pub(crate) fn margin(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>();
    let margin = number.ok().filter(|n| n.is_finite() && *n >= 0.0);
    margin.ok_or_else(|| "expected a percentage of 0 or more, as `1`".to_owned())
}

/// `KEY=VALUE`.
pub(crate) fn setting(text: &str) -> Result<(String, String), String> {
    let assigns = |part: &str| part.contains('=');
    if text
        .split_once(',')
        .is_some_and(|(_, rest)| rest.split(',').any(assigns))
    {
        return Err(format!(
            "`{}` are several settings; expected one, and the option once for each",
            wakeplace_text::shorten(text)
        ));
    }
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected KEY=VALUE, as `energy_margin_shift=4`".to_owned()),
    }
}

/// CPUs that leave and come back, so that clap takes them as one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule(pub(crate) Vec<Hotplug>);

/// `TIME:CPU=on|off,...`.
pub(crate) fn hotplug(text: &str) -> Result<Schedule, String> {
    parse_hotplug(text).map(Schedule)
}

/// `TIME=KEY=VALUE`.
pub(crate) fn policy_at(text: &str) -> Result<PolicyChange, String> {
    parse_policy_at(text)
}

/// A whole number from `from` to the greatest that fits.
fn whole<T: FromStr + PartialOrd + Display>(
    text: &str,
    what: &str,
    (from, to): (T, T),
) -> Result<T, String> {
    let number = text
        .parse::<T>()
        .ok()
        .filter(|number| (&from..=&to).contains(&number));
    number.ok_or_else(|| format!("expected {what} from {from} to {to}"))
}

/// A seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    let seed = whole(text, "a whole number", (0, u64::MAX));
    seed.map_err(|expected| match seeds(text) {
        Ok(_) => format!("{expected}; several are `--seeds {text}`"),
        Err(_) => expected,
    })
}

/// The number of a wake-up.
pub(crate) fn wakeup(text: &str) -> Result<u64, String> {
    whole(text, "the number of a wake-up", (0, u64::MAX))
}

/// The number of a CPU of some platform: whether it has the CPU is asked later.
pub(crate) fn cpu(text: &str) -> Result<u32, String> {
    whole(text, "the number of a CPU,", (0, MAX_CPUS - 1))
}

/// How many CPUs a machine has.
pub(crate) fn cpus(text: &str) -> Result<u32, String> {
    whole(text, "a number of CPUs", (1, MAX_CPUS))
}

/// How often a measurement is repeated.
pub(crate) fn repeats(text: &str) -> Result<u32, String> {
    whole(text, "a number of repeats", (1, 5))
}

/// How many starts a set has.
pub(crate) fn starts(text: &str) -> Result<usize, String> {
    whole(text, "a number of starts", (1, 50))
}

/// Nanoseconds that an instruction of a guest takes.
pub(crate) fn icount_ns(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(ns @ 1..=1024) if u32::is_power_of_two(ns) => Ok(ns),
        _ => Err("expected 1, 2, 4, ... 1024 nanoseconds".to_owned()),
    }
}

/// Microseconds in which each CPU of a guest has its turn.
pub(crate) fn round_us(text: &str) -> Result<u32, String> {
    let ns = wakeplace_text::parse_duration_ns(text)?;
    match u32::try_from(ns / 1000) {
        Ok(us @ 1..=1_000_000) if ns % 1000 == 0 => Ok(us),
        _ => Err("expected whole microseconds from 1us to 1s".to_owned()),
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
    use super::{cpu, cpus, icount_ns, jobs, round_us, seed, setting, window};

    #[test]
    fn rounds_are_whole_microseconds() {
        assert_eq!([round_us("1us"), round_us("1s")], [Ok(1), Ok(1_000_000)]);
        for text in ["", "50", "999ns", "1500ns", "2s", "0us"] {
            round_us(text).expect_err(text);
        }
    }

    #[test]
    fn windows_have_a_length() {
        let found = window("0s..1200us").unwrap();
        assert_eq!((found.from_ns, found.to_ns), (0, 1_200_000));
        for text in ["", "1s", "1s..", "2s..1s", "1s..1s", "a..b"] {
            let error = window(text).expect_err(text);
            assert!(error.contains("expected FROM..TO"), "{text}: {error}");
        }
    }

    #[test]
    fn settings_and_jobs() {
        assert_eq!(setting("a = b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        let list = setting("a=b,c=d").unwrap_err();
        assert!(list.contains("several settings"), "{list}");
        assert!(setting("a").is_err() && setting("=b").is_err() && setting("a=").is_err());
        assert_eq!(jobs("2"), Ok(2));
        assert!(jobs("0").is_err() && jobs("many").is_err());
    }

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
    fn numbers_say_their_range() {
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(cpu("1023"), Ok(1023));
        let range = "expected a whole number from 0 to 18446744073709551615";
        for text in ["-1", "x", "", "1.5", "18446744073709551616"] {
            assert_eq!(seed(text), Err(range.to_owned()), "{text}");
        }
        let several = format!("{range}; several are `--seeds 1,2`");
        assert_eq!(seed("1,2"), Err(several));
        let cpu = cpu("1024").unwrap_err();
        assert_eq!(cpu, "expected the number of a CPU, from 0 to 1023");
        assert_eq!(
            cpus("0").unwrap_err(),
            "expected a number of CPUs from 1 to 1024"
        );
    }
}
