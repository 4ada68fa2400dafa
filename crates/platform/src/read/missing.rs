//! All keys that a file lacks, in one message: its reader stops at the first
//! (docs/guide/platform-keys.md).
//!
//! Called by `Platform::from_toml` when a key is missing. No rule is checked here but that.
//!
//! What must stay: a key that `raw.rs` demands stands here, and no other; with one key missing the
//! reader's own message is told. Free: words and their order. Tests by part:
//! `the_tables_are_those_of_the_reader` (the tables), `the_page_has_every_key`
//! (docs/guide/platform-keys.md), bad_files.rs::`all_missing_keys_are_told_at_once` (`flaw`,
//! `look`, `described`, `named`).
//!
//! Tests: below, crates/platform/tests/all/bad_files.rs

use crate::error::Flaw;
use toml::Value;

/// Most places that a message names.
const MAX_PLACES: usize = 12;

/// What a table of the file must have.
struct Table {
    /// It stands as `[[NAME]]`, as often as there are such things.
    list: bool,
    /// Its keys that must be there, tables among them.
    needed: &'static [&'static str],
    /// Its keys that are tables, whether they must be there or not.
    below: &'static [(&'static str, &'static Table)],
}

/// A table with nothing below.
const fn plain(needed: &'static [&'static str]) -> Table {
    Table {
        list: false,
        needed,
        below: &[],
    }
}

const FILE: Table = Table {
    list: false,
    needed: &[
        "name",
        "title",
        "arch",
        "power_unit",
        "kernel",
        "cluster",
        "topology",
        "frequency_domain",
        "idle_state",
        "costs",
    ],
    below: &[
        ("kernel", &KERNEL),
        ("cluster", &CLUSTER),
        ("speed", &SOURCE),
        ("topology", &TOPOLOGY),
        ("numa", &NUMA),
        ("smt", &SMT),
        ("priority", &PRIORITY),
        ("sched_mc", &SCHED_MC),
        ("frequency_domain", &FREQUENCY_DOMAIN),
        ("measured_power", &SOURCE),
        ("idle_state", &IDLE_STATE),
        ("cpufreq", &CPUFREQ),
        ("turbo", &TURBO),
        ("power_limit", &POWER_LIMIT),
        ("costs", &COSTS),
        ("transfer", &SOURCE),
        ("coherence", &COHERENCE),
        ("cache", &CACHE),
        ("board", &BOARD),
        ("thermal", &THERMAL),
        ("housekeeping", &HOUSEKEEPING),
    ],
};

const SOURCE: Table = plain(&["source", "standing"]);
const KERNEL: Table = plain(&["tick_hz", "source", "standing"]);
const CLUSTER: Table = Table {
    list: true,
    needed: &["name", "cores", "source", "standing"],
    below: &[("cores", &CORES)],
};
const CORES: Table = plain(&["cpus", "kind", "capacity"]);
const TOPOLOGY: Table = Table {
    list: false,
    needed: &["levels", "source", "standing"],
    below: &[("levels", &LEVELS)],
};
const LEVELS: Table = plain(&["name"]);
const NUMA: Table = plain(&["distances", "source", "standing"]);
const SMT: Table = plain(&["core_capacity", "source", "standing"]);
const PRIORITY: Table = Table {
    list: false,
    needed: &["ranks", "source", "standing"],
    below: &[("ranks", &RANKS)],
};
const RANKS: Table = plain(&["cpus", "value"]);
const SCHED_MC: Table = plain(&["core_kind", "step_khz", "tasks", "source", "standing"]);
const FREQUENCY_DOMAIN: Table = Table {
    list: true,
    needed: &["cpus", "opps", "transition", "source", "standing"],
    below: &[
        ("opps", &OPPS),
        ("transition", &TRANSITION),
        ("cpu_power", &SOURCE),
        ("cluster_power", &SOURCE),
        ("work_power", &SOURCE),
        ("em_power", &SOURCE),
        ("em_costs", &EM_COSTS),
    ],
};
const OPPS: Table = plain(&["khz"]);
const TRANSITION: Table = plain(&["latency_us", "source", "standing"]);
const EM_COSTS: Table = Table {
    list: false,
    needed: &["since", "states", "source", "standing"],
    below: &[("states", &EM_STATES)],
};
const EM_STATES: Table = plain(&["level", "cost"]);
const IDLE_STATE: Table = Table {
    list: true,
    needed: &[
        "name",
        "scope",
        "cpus",
        "entry_latency_us",
        "exit_latency_us",
        "min_residency_us",
        "source",
        "standing",
    ],
    below: &[("power", &SOURCE)],
};
const CPUFREQ: Table = plain(&["driver", "source", "standing"]);
const TURBO: Table = Table {
    list: false,
    needed: &["awake", "bins", "source", "standing"],
    below: &[("bins", &BINS)],
};
const BINS: Table = plain(&["cpus", "khz"]);
const POWER_LIMIT: Table = plain(&["long_uw", "tau_ms", "short_uw", "source", "standing"]);
const COSTS: Table = plain(&[
    "context_switch_ns",
    "wakeup_ns",
    "ipi_ns",
    "tick_ns",
    "fork_ns",
    "migrate_shared_cache_ns",
    "migrate_other_cache_ns",
    "scan_cpu_ns",
    "source",
    "standing",
]);
const COHERENCE: Table = plain(&[
    "hit_ps",
    "near_ns",
    "near_range_ns",
    "far_ns",
    "far_range_ns",
    "clean_ns",
    "clean_range_ns",
    "source",
    "standing",
]);
const CACHE: Table = plain(&[
    "last_level_kib",
    "hit_ns",
    "memory_ns",
    "source",
    "standing",
]);
const BOARD: Table = plain(&["power_uw", "source", "standing"]);
const THERMAL: Table = Table {
    list: true,
    needed: &[
        "cluster",
        "trip_millic",
        "hysteresis_millic",
        "polling_ms",
        "passive_ms",
        "rc",
        "source",
        "standing",
    ],
    below: &[("rc", &RC)],
};
const RC: Table = plain(&[
    "ambient_millic",
    "resistance_mk_per_w",
    "capacity_mj_per_k",
    "source",
    "standing",
]);
const HOUSEKEEPING: Table = Table {
    list: false,
    needed: &["source", "standing"],
    below: &[("threads", &THREADS)],
};
const THREADS: Table = plain(&["name", "period_us", "run_us"]);

/// All that the file lacks, at the place of the reader's error; None: it is about something else,
/// or one key is missing.
pub(super) fn flaw(text: &str, error: &toml::de::Error) -> Option<Flaw> {
    if !error.message().starts_with("missing field ") {
        return None;
    }
    let file: toml::Table = toml::from_str(text).ok()?;
    let mut found = Found::default();
    found.look(&FILE, &file, "");
    if found.keys < 2 {
        return None;
    }
    let more = found.places.len().saturating_sub(MAX_PLACES);
    found.places.truncate(MAX_PLACES);
    let more = match more {
        0 => String::new(),
        more => format!("; and in {more} more places"),
    };
    let at = error.span().map_or(0, |span| span.start);
    let problem = format!("missing keys: {}{more}", found.places.join("; "));
    let expected = "expected all of them (docs/guide/platform-keys.md says what each is)";
    Some(Flaw::new(at, problem, expected))
}

/// What is missing.
#[derive(Default)]
struct Found {
    /// Keys with their place, a text for each table.
    places: Vec<String>,
    keys: usize,
}

impl Found {
    /// Looks at a table that is there, and at those below; `place` is its name.
    fn look(&mut self, table: &Table, own: &toml::Table, place: &str) {
        let absent = { table.needed.iter() }.filter(|key| !own.contains_key(**key));
        let absent: Vec<String> = absent
            .map(|key| self.described(table, key, place))
            .collect();
        match (absent.is_empty(), place.is_empty()) {
            (true, _) => {}
            (false, true) => self.places.push(absent.join(", ")),
            (false, false) => self
                .places
                .push(format!("{} of {place}", absent.join(", "))),
        }
        for (key, below) in table.below {
            let name = named(key, below, place);
            let within = |name: String| match place.is_empty() {
                true => name,
                false => format!("{name} of {place}"),
            };
            match own.get(*key) {
                Some(Value::Table(one)) => self.look(below, one, &within(name)),
                Some(Value::Array(all)) => {
                    for (number, one) in (1..).zip(all) {
                        if let Value::Table(one) = one {
                            self.look(below, one, &within(format!("{name} {number}")));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// A missing key, which is counted; of a table all that it must have.
    fn described(&mut self, table: &Table, key: &str, place: &str) -> String {
        let Some((_, below)) = table.below.iter().find(|(name, _)| *name == key) else {
            self.keys += 1;
            return format!("`{key}`");
        };
        let within = named(key, below, place);
        let needed = { below.needed.iter() }
            .map(|key| self.described(below, key, &within))
            .collect::<Vec<_>>();
        format!("{within} ({})", needed.join(", "))
    }
}

/// A table as a file has it: `[kernel]` and `[[cluster]]` at the top, by its key elsewhere.
fn named(key: &str, table: &Table, place: &str) -> String {
    match (place.is_empty(), table.list) {
        (true, true) => format!("`[[{key}]]`"),
        (true, false) => format!("`[{key}]`"),
        (false, _) => format!("`{key}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::{FILE, Table};
    use std::collections::BTreeMap;
    use std::path::Path;

    /// A key of a struct of `raw.rs`: its name, whether it must be there, and the struct that it
    /// is made of, if it is one.
    type Field = (String, bool, Option<String>);

    /// The structs of `raw.rs`.
    fn structs() -> BTreeMap<String, Vec<Field>> {
        let mut all: BTreeMap<String, Vec<Field>> = BTreeMap::new();
        let text = include_str!("raw.rs");
        let mut current = String::new();
        let mut has_default = false;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("pub(super) struct ") {
                current = rest.trim_end_matches(" {").to_owned();
                all.insert(current.clone(), Vec::new());
            } else if line.trim() == "#[serde(default)]" {
                has_default = true;
            } else if let Some(rest) = line.strip_prefix("    pub(super) ") {
                let (name, kind) = rest.split_once(": ").expect("a field");
                let needed = !has_default && !kind.starts_with("Option<");
                has_default = false;
                let inner = kind.rfind("Raw").map(|at| {
                    let word = kind[at..].trim_end_matches([',', '>']);
                    word.to_owned()
                });
                let fields = all.get_mut(&current).expect("a struct");
                fields.push((name.to_owned(), needed, inner));
            }
        }
        // Words are enums, and no tables.
        let names: Vec<String> = all.keys().cloned().collect();
        for (_, _, inner) in all.values_mut().flatten() {
            *inner = inner.take().filter(|name| names.contains(name));
        }
        all
    }

    /// Compares a table and those below with the struct of that name.
    fn compare(table: &Table, name: &str, structs: &BTreeMap<String, Vec<Field>>) {
        let fields = &structs[name];
        let needed = fields.iter().filter(|(_, needed, _)| *needed);
        let needed: Vec<&str> = needed.map(|(key, _, _)| key.as_str()).collect();
        assert_eq!(table.needed, needed, "{name}");
        let below = fields
            .iter()
            .filter_map(|(key, _, inner)| Some((key, inner.as_ref()?)));
        let below: Vec<(&String, &String)> = below.collect();
        let own: Vec<&str> = table.below.iter().map(|(key, _)| *key).collect();
        let there: Vec<&str> = below.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(own, there, "{name}");
        for ((_, table), (_, inner)) in table.below.iter().zip(below) {
            compare(table, inner, structs);
        }
    }

    #[test]
    fn the_tables_are_those_of_the_reader() {
        let structs = structs();
        assert!(structs.len() > 25, "{structs:?}");
        compare(&FILE, "RawPlatform", &structs);
    }

    /// The rows of the page below a heading are the keys of its struct, in the same order; each
    /// says whether it is needed, and what holds without it.
    #[test]
    fn the_page_has_every_key() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/platform-keys.md");
        let page = std::fs::read_to_string(page).expect("readable");
        let mut rows: BTreeMap<String, Vec<(String, bool)>> = BTreeMap::new();
        let mut heading = String::new();
        for line in page.lines() {
            if let Some(rest) = line.strip_prefix("## ") {
                heading = rest.to_owned();
            } else if let Some(row) = line.strip_prefix("| `") {
                let cells: Vec<&str> = row.trim_end_matches(" |").split(" | ").collect();
                assert_eq!(
                    cells.len(),
                    4,
                    "key, unit or form, without it, what it is: {line}"
                );
                let key = cells[0].trim_end_matches('`').to_owned();
                let own = rows.entry(heading.clone()).or_default();
                own.push((key, cells[2] == "needed"));
            }
        }
        let mut seen = 0;
        page_of(
            "RawPlatform",
            "The first lines",
            &structs(),
            &rows,
            &mut seen,
        );
        assert_eq!(seen, rows.len(), "headings: {:?}", rows.keys());
    }

    /// Compares one heading and those below it.
    fn page_of(
        name: &str,
        heading: &str,
        structs: &BTreeMap<String, Vec<Field>>,
        rows: &BTreeMap<String, Vec<(String, bool)>>,
        seen: &mut usize,
    ) {
        *seen += 1;
        let rows_here = rows
            .get(heading)
            .unwrap_or_else(|| panic!("no `## {heading}`"));
        let fields = structs[name].iter();
        let expected: Vec<(String, bool)> = fields.map(|(key, n, _)| (key.clone(), *n)).collect();
        assert_eq!(*rows_here, expected, "{heading}");
        for (key, _, inner) in &structs[name] {
            let Some(inner) = inner.as_deref().filter(|inner| *inner != "RawSource") else {
                continue;
            };
            let below = match heading {
                "The first lines" => key.clone(),
                heading => format!("{heading}.{key}"),
            };
            page_of(inner, &below, structs, rows, seen);
        }
    }
}
