//! What of a machine is published, what follows from it, what is assumed: for lists of machines
//! (docs/guide/platforms.md, "What the words mean").
//!
//! Called by `platform list`, `platform show` and results (`assumed_by_file`). No run depends on
//! it.
//!
//! What must stay: words and order of `GROUPS`, which are in CSV, JSON and the table of
//! docs/guide/platforms.md; every entry of a provenance is in one group. Free: what leaves each
//! file's machine as it is (ARCHITECTURE.md, "What a change may touch"), and words of messages that
//! no test quotes. Tests by part: `every_table_is_known_in_one_way` (`known`, `group_of`,
//! `groups_known`, `kinds`), `the_page_lists_every_machine` (the words as the page has them), the
//! first also `has`; `a_file_says_what_it_assumes` (`assumed_by_file`),
//! import/kinds.rs::`one_clock_stands_still` (`still`).
//!
//! Tests: crates/platform/tests/all/builtin.rs, crates/platform/tests/all/import/kinds.rs

use crate::{CpuId, Platform, Standing, builtin_names};
use wakeplace_text::shell_word;

/// Groups of figures in the order lists show them, by how their entries in `provenance` begin.
const GROUPS: [(&str, &[&str]); 17] = [
    ("cpus", &["cluster "]),
    ("speed", &["speed"]),
    ("levels", &["topology", "numa", "priority"]),
    (
        "clocks",
        &["frequencies of", "frequency transition of", "cpufreq"],
    ),
    ("limits", &["turbo", "power_limit"]),
    (
        "power",
        &[
            "cpu power of",
            "measured power",
            "cluster power of",
            "work power of",
        ],
    ),
    ("energy model", &["em power of", "em costs of"]),
    ("idle states", &["idle state "]),
    ("idle power", &["power in idle state "]),
    ("threads", &["smt"]),
    ("tick", &["kernel"]),
    ("costs", &["costs"]),
    ("moves", &["transfer", "cache", "coherence"]),
    ("board", &["board"]),
    ("heat", &["thermal "]),
    ("packing", &["sched_mc"]),
    ("housekeeping", &["housekeeping"]),
];

/// How many tables of a group are known in each way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Known {
    /// The group: `cpus`, `speed`, `levels`, `clocks`, `limits`, `power`, `energy model`, `idle
    /// states`, `idle power`, `threads`, `tick`, `costs`, `moves`, `board`, `heat`, `packing` or
    /// `housekeeping`.
    #[serde(rename = "figures")]
    pub group: &'static str,
    /// Tables that a document states.
    pub published: usize,
    /// Tables computed from published figures.
    pub derived: usize,
    /// Tables nobody published, calibrated ones among them.
    pub assumed: usize,
}

impl Known {
    /// Whether any table of the group is known this way; calibrated counts as assumed.
    #[must_use]
    pub fn has(&self, standing: Standing) -> bool {
        let tables = match standing {
            Standing::Published => self.published,
            Standing::Derived => self.derived,
            Standing::Assumed | Standing::Calibrated => self.assumed,
        };
        tables > 0
    }
}

/// The group of an entry: that of the longest beginning which fits (`cluster power of CPUs 0-3` is
/// power, `cluster big` is CPUs).
fn group_of(what: &str) -> &'static str {
    let starts = GROUPS
        .iter()
        .flat_map(|(group, starts)| starts.iter().map(|s| (*group, *s)));
    let fitting = starts.filter(|(_, start)| what.starts_with(start));
    fitting
        .max_by_key(|(_, start)| start.len())
        .map_or("", |(group, _)| group)
}

impl Platform {
    /// What is known of the machine and how, per group of figures; groups it lacks are left out.
    #[must_use]
    pub fn known(&self) -> Vec<Known> {
        let mut all = Vec::new();
        for (group, _) in GROUPS {
            let mut known = Known {
                group,
                published: 0,
                derived: 0,
                assumed: 0,
            };
            let entries = self.provenance.iter();
            for (_, source) in entries.filter(|(what, _)| group_of(what) == group) {
                match source.standing {
                    Standing::Published => known.published += 1,
                    Standing::Derived => known.derived += 1,
                    Standing::Assumed | Standing::Calibrated => known.assumed += 1,
                }
            }
            if known.published + known.derived + known.assumed > 0 {
                all.push(known);
            }
        }
        all
    }

    /// The groups of which some table is known this way, as a list shows them.
    #[must_use]
    pub fn groups_known(&self, standing: Standing) -> Vec<&'static str> {
        let known = self.known();
        let having = known.iter().filter(|known| known.has(standing));
        having.map(|known| known.group).collect()
    }

    /// Which groups of figures a file of somebody's own assumes, that clocks stand still by it, and
    /// where the reasons are; None: it is a built-in platform, or assumes nothing.
    #[must_use]
    pub fn assumed_by_file(&self) -> Option<String> {
        let assumed = self.groups_known(Standing::Assumed);
        if assumed.is_empty() || builtin_names().any(|name| name == self.name) {
            return None;
        }
        Some(format!(
            "{}: assumed, in whole or in part, are {}{}; `wakeplace platform show {}` says why",
            self.name,
            assumed.join(", "),
            self.still().unwrap_or_default(),
            shell_word(&self.name)
        ))
    }

    /// That clocks have one operating point by assumption, so that no governor changes their speed.
    fn still(&self) -> Option<String> {
        let tables = self.assumed_tables("frequencies of CPUs ").into_iter();
        let assumed: Vec<CpuId> = tables.flat_map(|(_, cpus)| cpus).collect();
        let one = self.freq_domains.iter().filter(|own| own.opps.len() == 1);
        let cpus = one.flat_map(|own| &own.cpus);
        let still = cpus.filter(|cpu| assumed.contains(cpu)).count();
        let of = match (still, self.cpus.len()) {
            (0, _) => return None,
            (some, all) if some < all => format!("{some} of {all}"),
            _ => "all".to_owned(),
        };
        Some(format!(
            "; the clocks of {of} CPUs stand still, as each has one operating point"
        ))
    }

    /// Kinds of CPU with how many there are, in the order of their first CPU: `4 cortex-a53`.
    #[must_use]
    pub fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<(&str, usize)> = Vec::new();
        for cpu in &self.cpus {
            match kinds.iter_mut().find(|(kind, _)| *kind == cpu.kind) {
                Some((_, count)) => *count += 1,
                None => kinds.push((&cpu.kind, 1)),
            }
        }
        let text = |(kind, count): (&str, usize)| format!("{count} {kind}");
        kinds.into_iter().map(text).collect()
    }
}
