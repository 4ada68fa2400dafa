//! How much a core of a kind gets done per MHz beside a core of another kind, where a source names
//! kinds and no capacities (docs/guide/import.md, "What is assumed, and how").
//!
//! The figures are `capacity-dmips-mhz` of device trees, the ones that the built-in platforms rest
//! on. A device tree compares the cores of one chip, so kinds are measured by the small core that
//! their device trees share with them (a family). Kinds of two families have no common measure.
//!
//! Called by `speeds.rs` and `by_kinds.rs`.
//!
//! What must stay: a figure is as the named file has it; a kind that is not in the table is never
//! silently taken for another. Free: what leaves the files of imports as they are (ARCHITECTURE.md,
//! "What a change may touch"), and words of messages that no test quotes. Tests by part:
//! `a_kind_is_measured_by_the_small_core_of_its_chip` (`of_kinds`, `family`, `in_words`),
//! `a_kind_that_is_not_in_the_table_is_named` (`warning`),
//! crates/platform/tests/all/import/kinds.rs::`kinds_without_capacities_have_speeds` (both in an
//! import), kinds.rs::`wrong_clusters_are_refused` (`known`, `beside`).
//!
//! Tests: below, crates/platform/tests/all/import/kinds.rs

use crate::sysfs::quoted;

/// A kind of core: what it does per MHz, of its family's small core's, and who says so.
struct Kind {
    name: &'static str,
    part: u64,
    whole: u64,
    source: &'static str,
}

/// A row of the table.
const fn kind(name: &'static str, part: u64, whole: u64, source: &'static str) -> Kind {
    Kind {
        name,
        part,
        whole,
        source,
    }
}

/// Kinds with a common measure; the first of a family is the small core, which is 1. All files are
/// Linux 7.3.4's, below arch/arm/boot/dts or arch/arm64/boot/dts. Where several device trees have a
/// pair of kinds, the one that stands here also has the family's biggest core, or is the oldest.
const FAMILIES: &[&[Kind]] = &[
    &[
        kind("cortex-a7", 1, 1, "arm/vexpress-v2p-ca15_a7.dts"),
        kind("cortex-a15", 1024, 516, "arm/vexpress-v2p-ca15_a7.dts"),
    ],
    &[
        kind("cortex-a53", 1, 1, "arm/juno.dts"),
        kind("cortex-a57", 1024, 578, "arm/juno.dts"),
        kind("cortex-a72", 1024, 485, "arm/juno-r2.dts"),
        kind("cortex-a73", 1024, 592, "hisilicon/hi3660.dtsi"),
    ],
    &[
        kind("cortex-a55", 1, 1, "exynos/google/gs101.dtsi"),
        kind("cortex-a76", 620, 250, "exynos/google/gs101.dtsi"),
        kind("cortex-a78", 1024, 308, "mediatek/mt8195.dtsi"),
        kind("cortex-x1", 1024, 250, "exynos/google/gs101.dtsi"),
    ],
    &[
        kind("cortex-a510", 1, 1, "qcom/sm8550.dtsi"),
        kind("cortex-a710", 693, 326, "qcom/sm8550.dtsi"),
        kind("cortex-a715", 693, 326, "qcom/sm8550.dtsi"),
        kind("cortex-x3", 1024, 326, "qcom/sm8550.dtsi"),
    ],
    &[
        kind("cortex-a520", 1, 1, "qcom/sm8650.dtsi"),
        kind("cortex-a720", 2909, 1024, "qcom/sm8650.dtsi"),
        kind(
            "cortex-a725",
            2909,
            1024,
            "qcom/sm8650.dtsi, as cortex-a720",
        ),
        kind("cortex-x4", 3591, 1024, "qcom/sm8650.dtsi"),
    ],
    &[
        kind("icestorm", 1, 1, "apple/t8103.dtsi"),
        kind("firestorm", 1024, 714, "apple/t8103.dtsi"),
    ],
    &[
        kind("blizzard", 1, 1, "apple/t8112.dtsi"),
        kind("avalanche", 1024, 756, "apple/t8112.dtsi"),
    ],
];

/// Kinds of CPUs whose source names none (`fill.rs`).
const UNNAMED: [&str; 2] = ["arm", "arm64"];

/// What CPUs do per MHz, on any scale.
pub(super) struct PerMhz {
    /// Part and whole, of each CPU.
    pub(super) factors: Vec<(u64, u64)>,
    /// The factors in words.
    pub(super) said: String,
    /// What no source compares.
    pub(super) warning: Option<String>,
}

/// What CPUs of these kinds do per MHz; a kind for each CPU.
pub(super) fn of_kinds(kinds: &[&str]) -> PerMhz {
    let mut distinct: Vec<&str> = Vec::new();
    for kind in kinds {
        if !distinct.contains(kind) {
            distinct.push(kind);
        }
    }
    let family = family(&distinct);
    let find = |name: &str| family.iter().find(|kind| kind.name == name);
    // What is not known is taken to be as good as the best that is.
    let best = { distinct.iter() }
        .filter_map(|name| find(name))
        .max_by_key(|kind| kind.part * 1_000_000 / kind.whole);
    let factor = |name: &str| {
        let kind = find(name).or(best);
        kind.map_or((1, 1), |kind| (kind.part, kind.whole))
    };
    let (known, strange): (Vec<&str>, Vec<&str>) = distinct
        .iter()
        .copied()
        .partition(|name| find(name).is_some());
    let said = match (distinct.len() > 1, known.is_empty()) {
        (true, false) => in_words(known.iter().filter_map(|name| find(name))),
        _ => "1".to_owned(),
    };
    PerMhz {
        factors: kinds.iter().map(|name| factor(name)).collect(),
        said,
        warning: warning(&strange, &known, best),
    }
}

/// All kinds of the table.
pub(super) fn known() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().copied().flatten().map(|kind| kind.name)
}

/// The kinds that have a common measure with this one, itself among them.
pub(super) fn beside(kind: &str) -> Vec<&'static str> {
    family(&[kind]).iter().map(|kind| kind.name).collect()
}

/// The family of most of the kinds, the first among equals; empty: the table has none of them.
fn family(kinds: &[&str]) -> &'static [Kind] {
    let mut best: (usize, &'static [Kind]) = (0, &[]);
    for family in FAMILIES.iter().copied() {
        let own = family.iter().filter(|kind| kinds.contains(&kind.name));
        let count = own.count();
        if count > best.0 {
            best = (count, family);
        }
    }
    best.1
}

/// The factors of several kinds, with their source.
fn in_words<'a>(known: impl Iterator<Item = &'a Kind>) -> String {
    let one = |kind: &Kind| match kind.part == kind.whole {
        true => format!("{} 1", kind.name),
        false => format!(
            "{} {}/{} ({})",
            kind.name, kind.part, kind.whole, kind.source
        ),
    };
    let all: Vec<String> = known.map(one).collect();
    format!(
        "what its kind does per MHz by capacity-dmips-mhz of other boards' device trees in Linux \
         7.3.4: {}",
        all.join(", ")
    )
}

/// That kinds are not in the table, or not beside the others.
fn warning(strange: &[&str], known: &[&str], best: Option<&Kind>) -> Option<String> {
    if strange.is_empty() {
        return None;
    }
    let list = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        names.join(", ")
    };
    let taken = match best {
        Some(best) => format!(
            "nothing compares it with {}; it is taken to do as much per MHz as `{}`",
            list(known),
            best.name
        ),
        None => "every core is taken to do as much per MHz as any other".to_owned(),
    };
    let unnamed = strange.iter().all(|kind| UNNAMED.contains(kind));
    let whose = match unnamed {
        true => "a core is per MHz is not known, as the source names no kinds".to_owned(),
        false => format!("a core {} is per MHz is not known", list(strange)),
    };
    Some(format!(
        "how fast {whose}: {taken}; write what you know as `speed` into the file"
    ))
}

#[cfg(test)]
mod tests {
    use super::of_kinds;

    /// Linux 7.3.4 qcom/sm8650.dtsi: `capacity-dmips-mhz` 1024 (A520), 2909 (A720), 3591 (X4);
    /// gs101.dtsi: 250 (A55), 1024 (X1); mt8195.dtsi: 308 (A55), 1024 (A78).
    #[test]
    fn a_kind_is_measured_by_the_small_core_of_its_chip() {
        let phone = of_kinds(&["cortex-a520", "cortex-a725", "cortex-x4"]);
        assert_eq!(phone.factors, [(1, 1), (2909, 1024), (3591, 1024)]);
        assert_eq!(phone.warning, None);
        assert!(
            phone.said.contains("cortex-a725 2909/1024 (qcom/sm8650"),
            "{}",
            phone.said
        );
        // Without the small core, too.
        let big = of_kinds(&["cortex-a78", "cortex-a78", "cortex-x1"]);
        assert_eq!(big.factors, [(1024, 308), (1024, 308), (1024, 250)]);
        assert_eq!(big.warning, None);
        // One kind needs no comparison.
        let alike = of_kinds(&["cortex-a53", "cortex-a53"]);
        assert_eq!((alike.said.as_str(), alike.warning), ("1", None));
    }

    #[test]
    fn a_kind_that_is_not_in_the_table_is_named() {
        let new = of_kinds(&["cortex-a520", "cortex-a725", "cortex-x925"]);
        assert_eq!(new.factors[2], (2909, 1024), "as the best that is known");
        let warning = new.warning.expect("it is not known");
        assert!(
            warning.starts_with("how fast a core `cortex-x925` is per MHz is not known"),
            "{warning}"
        );
        assert!(warning.contains("as `cortex-a725`"), "{warning}");
        // Two families have no common measure.
        let two = of_kinds(&["cortex-a53", "cortex-a73", "cortex-x4"]);
        assert_eq!(two.factors, [(1, 1), (1024, 592), (1024, 592)]);
        assert!(two.warning.expect("no measure").contains("`cortex-x4`"));
        let none = of_kinds(&["acme-1", "acme-2"]);
        assert_eq!(none.factors, [(1, 1), (1, 1)]);
        let warning = none.warning.expect("it knows none");
        assert!(warning.contains("`acme-1`, `acme-2`"), "{warning}");
        let unnamed = of_kinds(&["arm64", "arm64"]).warning.expect("no kinds");
        assert!(
            unnamed.contains("the source names no kinds: every core"),
            "{unnamed}"
        );
    }
}
