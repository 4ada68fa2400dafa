//! What the output of guests says: whether it is as it must be (ARCHITECTURE.md, "Real machines").
//!
//! What must stay: a fault is named with its file and line; only slow answers are forgiven, and
//! only alone. Free: how it is done, and words that no test or script reads. Tests by part:
//! `ceilings_hold_per_kernel` (`over_ceilings`), `figures_must_be_near` and
//! `a_longer_wait_is_a_fault` (`apart`, `Near`),
//! `slow_answers_alone_are_no_fault` (`only_late`).
//!
//! Tests: below

use std::collections::BTreeMap;

use super::Said;

/// Did nothing fail but that changes of the policy were answered slowly? A guest whose time passes
/// as this machine's does needs no more for that than other work here.
pub(super) fn only_late(log: &str) -> bool {
    let failed = log
        .lines()
        .filter(|line| line.starts_with("step: ") && line.contains(" FAILED"));
    let late = log.lines().filter(|line| line.starts_with("late: "));
    let failed = failed.count();
    failed != 0 && failed == late.count()
}

/// Programs over their ceilings, without one, and ceilings without a program.
pub(super) fn over_ceilings(ceilings: &str, log: &str, old: bool, said: &mut Said) -> Vec<String> {
    let rows = ceilings.lines().filter(|line| !line.starts_with('#'));
    let rows = rows.map(|line| line.split_whitespace().collect::<Vec<_>>());
    let number = |text: &str| text.parse::<u64>().unwrap_or(u64::MAX);
    let rows = rows.filter(|row| row.len() == 3);
    let mut most: BTreeMap<&str, u64> = rows
        .map(|row| (row[0], number(row[1 + usize::from(old)])))
        .collect();
    let mut faults = Vec::new();
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    for line in log
        .lines()
        .filter_map(|line| line.strip_prefix("scx_wakeplace: verified: "))
    {
        let (name, count) = line.split_once(' ').unwrap_or((line, ""));
        let count = number(count);
        match most.get(name) {
            None => faults.push(format!("{name} has no ceiling")),
            Some(most) if count > *most => {
                faults.push(format!("{name} takes {count}, ceiling {most}"))
            }
            Some(_) => {
                seen.insert(name, count);
            }
        }
    }
    // A kernel has not all callbacks of control groups; one program stands in for another.
    if old {
        most.remove("wakeplace_cgroup_set_bandwidth");
    }
    for (here, other) in [
        ("wakeplace_cgroup_set_idle", "wakeplace_group_idle"),
        ("wakeplace_group_idle", "wakeplace_cgroup_set_idle"),
    ] {
        if seen.contains_key(here) {
            most.remove(other);
        }
    }
    faults.extend(
        most.keys()
            .filter(|name| !seen.contains_key(*name))
            .map(|name| format!("no program {name}")),
    );
    let sum: u64 = seen.values().sum();
    said.say(format!(
        "verifier: {} programs, {sum} instructions processed",
        seen.len()
    ));
    faults
}

/// How a figure of ours may differ from the kernel's.
#[derive(Clone, Copy)]
pub(super) enum Near {
    /// By so much to either side, in percent of the machine.
    Within(f64),
    /// It is larger by so much at most, in milliseconds.
    Beyond(f64),
}

impl Near {
    /// Is it near? What is not a number is far from everything.
    fn holds(self, kernel: f64, own: f64) -> bool {
        match self {
            Self::Within(most) => (own - kernel).abs() <= most,
            Self::Beyond(most) => own - kernel <= most,
        }
    }

    /// Unit of the figures.
    fn unit(self) -> &'static str {
        match self {
            Self::Within(_) => "%",
            Self::Beyond(_) => "ms",
        }
    }
}

/// The figures of two runs side by side, and what is not near or is missing. Ours may be near to
/// what the weights say instead (`weights: CASE OF NUMBER`), where the kernel's own take long.
pub(super) fn apart(
    kernel: &str,
    ours: &str,
    word: &str,
    near: Near,
) -> (Vec<String>, Vec<String>) {
    let figures = |text: &str, word: &str| -> BTreeMap<String, f64> {
        let lines = text.lines().filter(|line| line.starts_with(word));
        let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
        let words = words.filter(|words| words.len() == 4);
        words
            .map(|words| {
                (
                    format!("{} {}", words[1], words[2]),
                    words[3].parse().unwrap_or(f64::NAN),
                )
            })
            .collect()
    };
    let weights = figures(ours, "weights:");
    let (kernel, ours) = (figures(kernel, word), figures(ours, word));
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    for (of, own) in &ours {
        let Some(there) = kernel.get(of) else {
            wrong.push(format!("not measured under the kernel's: {of}"));
            continue;
        };
        let unit = near.unit();
        lines.push(format!(
            "{of}: kernel {there} {unit}, wakeplace {own} {unit}"
        ));
        let near_weights = weights
            .get(of)
            .is_some_and(|right| near.holds(*right, *own));
        if !near.holds(*there, *own) && !near_weights {
            wrong.push(format!("too far apart: {of}"));
        }
    }
    wrong.extend(
        kernel
            .keys()
            .filter(|of| !ours.contains_key(*of))
            .map(|of| format!("not measured: {of}")),
    );
    if kernel.is_empty() {
        wrong.push("nothing was measured".to_owned());
    }
    (lines, wrong)
}

#[cfg(test)]
mod tests {
    use super::{Near, Said, apart, only_late, over_ceilings};

    #[test]
    fn ceilings_hold_per_kernel() {
        let ceilings =
            "# heading\na 10 20\nwakeplace_group_idle 5 5\nwakeplace_cgroup_set_idle 5 5\n";
        let of = |log: &str, old| over_ceilings(ceilings, log, old, &mut Said::default());
        let log = |a: u32| {
            format!(
                "x\nscx_wakeplace: verified: a {a}\n\
                 scx_wakeplace: verified: wakeplace_group_idle 1\n"
            )
        };
        assert!(of(&log(10), false).is_empty());
        assert_eq!(of(&log(11), false).len(), 2, "over, and so not seen");
        assert!(of(&log(11), true).is_empty());
        assert_eq!(of("scx_wakeplace: verified: b 1\n", true).len(), 4);
    }

    #[test]
    fn figures_must_be_near() {
        let kernel = "share: a x 50\nshare: a y 10.5\n";
        let of = |ours: &str| apart(kernel, ours, "share:", Near::Within(3.0)).1;
        assert!(of("share: a x 52.9\nshare: a y 10\n").is_empty());
        assert_eq!(of("share: a x 54\nshare: a y nothing\n").len(), 2);
        assert_eq!(of("share: a x 50\nshare: b y 1\n").len(), 2);
        assert_eq!(apart("", "", "share:", Near::Within(3.0)).1.len(), 1);
        let by_weights = "share: a x 75\nshare: a y 10\nweights: a x 74\n";
        assert!(
            of(by_weights).is_empty(),
            "far from the kernel's, near to the weights"
        );
        assert_eq!(of(&by_weights.replace(" 74", " 71")).len(), 1);
    }

    /// A wait that is shorter than the kernel's is no fault, however much.
    #[test]
    fn a_longer_wait_is_a_fault() {
        let kernel = "inside: pi 1000 900\n";
        let of = |ours: &str| apart(kernel, ours, "inside:", Near::Beyond(50.0)).1;
        assert!(of("inside: pi 1000 3\n").is_empty() && of("inside: pi 1000 950\n").is_empty());
        assert_eq!(of("inside: pi 1000 951\n").len(), 1);
        assert_eq!(of("inside: pi 1000 none\n").len(), 1);
    }

    #[test]
    fn slow_answers_alone_are_no_fault() {
        assert!(only_late("step: a FAILED: x\nlate: a\n"));
        assert!(!only_late(
            "step: a FAILED: x\nstep: b FAILED: x\nlate: a\n"
        ));
        assert!(!only_late("step: a ok\n"));
    }
}
