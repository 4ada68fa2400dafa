//! CPU lists: `0-3,12`, cluster names, `all` (docs/guide/platforms.md, "What the words mean").
//!
//! Called for keys of platform files and for options.
//!
//! What must stay: the language, as files and options have it. The answer is ascending and has each
//! CPU once. `at` is the byte offset of the wrong part: `read/machine.rs` points at it in the file.
//! Free: what leaves each file's machine as it is (ARCHITECTURE.md, "What a change may touch"), and
//! words of messages that no test quotes. Tests by part: `numbers_ranges_names_and_overlaps`
//! (`parse`, `add_part`, `range`), `wrong_lists_name_the_part_and_the_nearest_cluster` (`number`,
//! `at`, the hint), bad_files.rs::`cpus_and_clusters` (the limit of `MAX_CPUS`). `parse_cpu_list`
//! by hostile.rs::`mutated_files_never_panic` as well; `list` is the tests' own.
//!
//! Callers: assumed.rs (`parse_cpu_list`).
//!
//! Tests: below, crates/platform/tests/all/bad_files.rs

use crate::{Cluster, CpuId, MAX_CPUS, Platform};
use wakeplace_text::{did_you_mean, nearest, shorten};

/// A CPU list could not be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {expected}{}", did_you_mean(.hint.as_deref()))]
pub struct CpuListError {
    /// Byte offset of the wrong part in the list.
    pub at: usize,
    /// What is wrong.
    pub problem: String,
    /// What was expected.
    pub expected: String,
    /// Nearest cluster name.
    pub hint: Option<String>,
}

/// CPUs of a list such as `0-3,12`, `little` or `big,0`; `all` is every CPU. Ascending, each once.
///
/// # Errors
/// The list is empty, or a part is no CPU of the platform, no range and no cluster name.
pub fn parse_cpu_list(text: &str, platform: &Platform) -> Result<Vec<CpuId>, CpuListError> {
    parse(text, platform.cpus.len(), &platform.clusters)
}

/// The list, for a machine with CPUs `0..cpu_count` and these clusters.
pub(crate) fn parse(
    text: &str,
    cpu_count: usize,
    clusters: &[Cluster],
) -> Result<Vec<CpuId>, CpuListError> {
    let mut chosen = vec![false; cpu_count];
    let mut at = 0;
    for part in text.split(',') {
        let lead = part.len() - part.trim_start().len();
        add_part(part.trim(), at + lead, clusters, &mut chosen)?;
        at += part.len() + 1;
    }
    let cpus = (0..)
        .zip(chosen)
        .filter(|(_, chosen)| *chosen)
        .map(|(cpu, _)| CpuId(cpu));
    Ok(cpus.collect())
}

/// One part between commas: a number, a range, a cluster's name or `all`.
fn add_part(
    part: &str,
    at: usize,
    clusters: &[Cluster],
    chosen: &mut [bool],
) -> Result<(), CpuListError> {
    if part.starts_with(|c: char| c.is_ascii_digit()) {
        let (first, last) = range(part, at, chosen.len())?;
        chosen[first..=last].fill(true);
    } else if part == "all" {
        chosen.fill(true);
    } else if let Some(cluster) = clusters.iter().find(|c| c.name == part) {
        for cpu in &cluster.cpus {
            chosen[cpu.index()] = true;
        }
    } else {
        let names = || clusters.iter().map(|c| c.name.as_str()).chain(["all"]);
        let known = names().collect::<Vec<_>>().join("`, `");
        let problem = if part.is_empty() {
            "a part of the CPU list is empty".to_owned()
        } else {
            format!("`{}` is no CPU, no range and no cluster", shorten(part))
        };
        return Err(CpuListError {
            at,
            problem,
            expected: format!("expected CPUs as `0-3,12`, or `{}`", shorten(&known)),
            hint: nearest(part, names()).map(str::to_owned),
        });
    }
    Ok(())
}

/// First and last CPU of `7` or `4-7`.
fn range(part: &str, at: usize, cpu_count: usize) -> Result<(usize, usize), CpuListError> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let first_cpu = number(first, at, cpu_count)?;
    let last_at = at + part.len() - last.len();
    let last_cpu = number(last, last_at, cpu_count)?;
    if last_cpu < first_cpu {
        let problem = format!("the range {part} runs downwards");
        let expected = format!("expected `{last_cpu}-{first_cpu}`");
        return Err(CpuListError {
            at,
            problem,
            expected,
            hint: None,
        });
    }
    Ok((first_cpu, last_cpu))
}

/// The number of a CPU that the machine has.
fn number(digits: &str, at: usize, cpu_count: usize) -> Result<usize, CpuListError> {
    let fault = |problem: String, expected: String| {
        Err(CpuListError {
            at,
            problem,
            expected,
            hint: None,
        })
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if !is_number {
        return fault(
            format!("`{}` is no CPU number", shorten(digits)),
            "expected CPUs as `0-3,12`".to_owned(),
        );
    }
    match digits.parse::<usize>() {
        Ok(cpu) if cpu < cpu_count => Ok(cpu),
        _ if cpu_count == MAX_CPUS => fault(
            format!("CPU {} is beyond the limit", shorten(digits)),
            format!("expected at most {MAX_CPUS} CPUs, numbered from 0"),
        ),
        _ => fault(
            format!("there is no CPU {}", shorten(digits)),
            format!("expected a CPU from 0 to {}", cpu_count.saturating_sub(1)),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::{Cluster, CpuId};

    fn list(text: &str) -> Result<Vec<u32>, String> {
        let cluster = |name: &str, cpus: &[u32]| Cluster {
            name: name.to_owned(),
            cpus: cpus.iter().copied().map(CpuId).collect(),
        };
        let clusters = [cluster("little", &[0, 3, 4, 5]), cluster("big", &[1, 2])];
        match parse(text, 6, &clusters) {
            Ok(cpus) => Ok(cpus.into_iter().map(|c| c.0).collect()),
            Err(error) => Err(format!("{}: {error}", error.at)),
        }
    }

    #[test]
    fn numbers_ranges_names_and_overlaps() {
        assert_eq!(list("0-3,5"), Ok(vec![0, 1, 2, 3, 5]));
        assert_eq!(list("big, 0"), Ok(vec![0, 1, 2]));
        assert_eq!(list("little"), Ok(vec![0, 3, 4, 5]));
        assert_eq!(list("5,0-1,0"), Ok(vec![0, 1, 5]));
        assert_eq!(list("all"), Ok(vec![0, 1, 2, 3, 4, 5]));
    }

    #[test]
    fn wrong_lists_name_the_part_and_the_nearest_cluster() {
        let expected = "expected CPUs as `0-3,12`, or `little`, `big`, `all`";
        assert_eq!(
            list("0,6"),
            Err("2: there is no CPU 6; expected a CPU from 0 to 5".into())
        );
        assert_eq!(
            list("3-1"),
            Err("0: the range 3-1 runs downwards; expected `1-3`".into())
        );
        assert_eq!(
            list("0, litle"),
            Err(format!(
                "3: `litle` is no CPU, no range and no cluster; {expected}; did you mean `little`?"
            ))
        );
        assert_eq!(
            list(""),
            Err(format!("0: a part of the CPU list is empty; {expected}"))
        );
        assert_eq!(
            list("1-x"),
            Err("2: `x` is no CPU number; expected CPUs as `0-3,12`".into())
        );
        assert!(list("99999999999999999999999").is_err());
        assert!(list("0-4294967295").is_err());
        assert!(list("-1").is_err());
    }
}
