//! A board that is not there yet: clusters by kind of core and clock
//! (docs/guide/import.md, "A board by its kinds of cores").
//!
//! Called by `import/mod.rs`. All that the words do not say is assumed, as for any source.
//!
//! What must stay: `NUMBERxKIND@CLOCK`, separated by commas; capacities are those that the kernel
//! would make of `capacity-dmips-mhz` of other boards; a kind without such a figure is refused, as
//! nothing is invented. Free: words of messages that no test quotes. Tests by part:
//! `a_board_is_made_of_kinds_and_clocks` (`read`, `found`, `arch`, `capacities`, `clock`),
//! `one_clock_stands_still` (`still`),
//! `wrong_clusters_are_refused` (`cluster`, `check_kinds`, `nearest_kind`).
//!
//! Tests: crates/platform/tests/all/import/kinds.rs

use super::ImportError;
use super::fill::grid;
use super::found::{Clock, Found, FoundCpu, Origin, Point, cpu_list, of_largest};
use super::per_mhz;
use crate::MAX_CPUS;
use crate::arch::Arch;
use crate::sysfs::partition::Partition;
use crate::sysfs::quoted;
use crate::sysfs::topology::Parts;
use wakeplace_text::{did_you_mean, nearest};

/// Highest clock that is believed, MHz (20 GHz).
const MAX_MHZ: u32 = 20_000;
/// Shortest beginning by which a kind is like another, characters.
const MIN_BEGINNING: usize = 3;
/// What a message says of the form.
const FORM: &str = "clusters as `4xcortex-a520@2000MHz,4xcortex-a725@600-3000MHz`: a number, `x`, \
                    a kind of core, `@`, and its highest clock, or its lowest and highest, in \
                    whole MHz";

/// Cores of one kind with one clock.
struct Cluster<'a> {
    cores: usize,
    kind: &'a str,
    low_khz: u32,
    high_khz: u32,
}

/// Reads the clusters; `option` is what messages call them.
pub(super) fn read(
    clusters: &str,
    option: &str,
    said: &mut Vec<String>,
) -> Result<Found, ImportError> {
    let wrong = |part: &str| {
        let problem = format!("{} is no cluster", quoted(part));
        ImportError::wrong(option, problem, FORM)
    };
    let all = clusters
        .split(',')
        .map(|part| cluster(part.trim()).ok_or_else(|| wrong(part)))
        .collect::<Result<Vec<_>, _>>()?;
    let count: usize = all.iter().map(|cluster| cluster.cores).sum();
    if count > MAX_CPUS {
        let problem = format!("{count} CPUs");
        let expected = format!("1 to {MAX_CPUS}");
        return Err(ImportError::wrong(option, problem, expected));
    }
    check_kinds(&all, option)?;
    Ok(found(&all, said))
}

/// A cluster of its words.
fn cluster(text: &str) -> Option<Cluster<'_>> {
    let (cores, clock) = text.split_once('@')?;
    let (number, kind) = cores.split_once('x')?;
    let clock = clock.strip_suffix("MHz")?;
    let (low, high) = clock.split_once('-').unwrap_or((clock, clock));
    let mhz = |text: &str| {
        let mhz = text.parse::<u32>().ok();
        mhz.filter(|mhz| (1..=MAX_MHZ).contains(mhz))
    };
    let (low, high) = (mhz(low)?, mhz(high)?);
    let cores = number.parse::<usize>().ok();
    let cores = cores.filter(|cores| (1..=MAX_CPUS).contains(cores))?;
    (low <= high && !kind.is_empty()).then_some(Cluster {
        cores,
        kind,
        low_khz: low * 1000,
        high_khz: high * 1000,
    })
}

/// All kinds are known, and have a common measure.
fn check_kinds(all: &[Cluster<'_>], option: &str) -> Result<(), ImportError> {
    let known: Vec<&str> = per_mhz::known().collect();
    if let Some(strange) = all.iter().find(|own| !known.contains(&own.kind)) {
        let problem = format!("unknown kind of core {}", quoted(strange.kind));
        let hint = did_you_mean(nearest_kind(strange.kind, &known));
        let expected = format!("one of {}{hint}", known.join(", "));
        return Err(ImportError::wrong(option, problem, expected));
    }
    let kinds: Vec<&str> = all.iter().map(|cluster| cluster.kind).collect();
    let beside = per_mhz::beside(kinds[0]);
    if let Some(other) = kinds.iter().find(|kind| !beside.contains(kind)) {
        let problem = format!("no device tree compares `{other}` with `{}`", kinds[0]);
        let expected = format!("kinds of one family: {}", beside.join(", "));
        return Err(ImportError::wrong(option, problem, expected));
    }
    Ok(())
}

/// The known kind that was meant: a slip apart, else the last of those with the longest common
/// beginning.
fn nearest_kind<'a>(kind: &str, known: &[&'a str]) -> Option<&'a str> {
    let common = |name: &str| {
        let pairs = name.chars().zip(kind.chars());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let like = { known.iter().copied() }.max_by_key(|name| common(name));
    let like = like.filter(|name| common(name) >= MIN_BEGINNING);
    nearest(kind, known.iter().copied()).or(like)
}

/// The machine, as far as the words say it.
fn found(all: &[Cluster<'_>], said: &mut Vec<String>) -> Found {
    let of_cpu = |(number, own): (u16, &Cluster<'_>)| vec![number; own.cores];
    let label: Vec<u16> = (0..).zip(all).flat_map(of_cpu).collect();
    let (capacity, capacity_from) = capacities(all, &label, said);
    let one = Partition::of_labels(&vec![0; label.len()]);
    said.push("one last-level cache for all CPUs, a cluster for each part of the words".to_owned());
    said.extend(still(all, &label));
    let cpus = (0u32..).zip(label.iter().zip(capacity));
    let cpu = |(number, (own, capacity)): (u32, (&u16, u64))| FoundCpu {
        number,
        kind: Some(all[usize::from(*own)].kind.to_owned()),
        capacity,
        package: 0,
    };
    let words = all.iter().map(|own| format!("{}x {}", own.cores, own.kind));
    Found {
        title: Some(words.collect::<Vec<_>>().join(" + ")),
        arch: Some((arch(all), Origin::derived("the kinds of cores"))),
        tick_hz: None,
        cpus: cpus.map(cpu).collect(),
        capacity_from,
        speed: None,
        parts: Parts {
            smt: Partition::singles(label.len()),
            cluster: Partition::of_labels(&label),
            llc: one.clone(),
            package: one.clone(),
            node: one,
        },
        parts_from: Origin::assumed(
            "Clusters as they were named, and one last-level cache for all of them",
        ),
        distances: Vec::new(),
        reclaim_distance: None,
        distances_from: None,
        rank: None,
        clocks: (0..).zip(all).map(|own| clock(own, &label)).collect(),
        idle: Vec::new(),
        notes: vec![
            "The board was named by its kinds of cores and their clocks; all else is assumed."
                .to_owned(),
        ],
    }
}

/// The instruction set of these kinds.
fn arch(all: &[Cluster<'_>]) -> Arch {
    let is_old = |own: &Cluster<'_>| matches!(own.kind, "cortex-a7" | "cortex-a15");
    match all.iter().all(is_old) {
        true => Arch::Arm,
        false => Arch::Arm64,
    }
}

/// Capacities as the kernel makes them: what the kind does per MHz times the highest clock, 1024
/// for the biggest. `label`: the cluster of each CPU.
fn capacities(all: &[Cluster<'_>], label: &[u16], said: &mut Vec<String>) -> (Vec<u64>, Origin) {
    let own = |label: &u16| &all[usize::from(*label)];
    let kinds: Vec<&str> = label.iter().map(|label| own(label).kind).collect();
    let per_mhz = per_mhz::of_kinds(&kinds);
    let work: Vec<u64> = { label.iter().zip(&per_mhz.factors) }
        .map(|(label, (part, whole))| u64::from(own(label).high_khz) * part / whole)
        .collect();
    let most = work.iter().copied().max().unwrap_or(1);
    let text = format!("highest clock times {}", per_mhz.said);
    said.push(format!("capacities: {text}"));
    let capacity = work.iter().map(|work| of_largest(*work, most)).collect();
    (capacity, Origin::assumed(text))
}

/// That clusters of one clock never change it.
fn still(all: &[Cluster<'_>], label: &[u16]) -> Option<String> {
    let stands = |label: &u16| {
        let own = &all[usize::from(*label)];
        own.low_khz == own.high_khz
    };
    let cpus = (0..).zip(label).filter(|(_, label)| stands(label));
    let cpus: Vec<u16> = cpus.map(|(cpu, _)| cpu).collect();
    (!cpus.is_empty()).then(|| {
        format!(
            "one operating point for CPUs {}: only a highest clock was named, so their clocks \
             stand still and no governor changes their speed; for others name the lowest, too, as \
             600-2000MHz",
            cpu_list(&cpus)
        )
    })
}

/// The clock of a cluster.
fn clock((number, own): (u16, &Cluster<'_>), label: &[u16]) -> Clock {
    let cpus = (0..).zip(label).filter(|(_, label)| **label == number);
    let (points, _) = grid(own.low_khz, own.high_khz);
    let text = match own.low_khz == own.high_khz {
        true => "The highest clock as it was named. With one point the clock stands still",
        false => "The limits as they were named, and multiples of 100 MHz between them",
    };
    let point = |khz| Point {
        khz,
        ..Point::default()
    };
    Clock {
        cpus: cpus.map(|(cpu, _)| cpu).collect(),
        points: points.into_iter().map(point).collect(),
        points_from: Some(Origin::assumed(text)),
        ..Clock::default()
    }
}
