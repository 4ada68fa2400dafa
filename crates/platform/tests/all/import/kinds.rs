//! A device tree that names kinds of cores and has no capacities; a description that names none.
//! Page: docs/guide/import.md, "What is assumed, and how".
//!
//! What must stay: speeds are worked out by hand from `capacity-dmips-mhz` of Linux 7.3.4
//! qcom/sm8650.dtsi; the kernel's capacities stay alike, as the kernel has them without that
//! property. Free: clocks and kinds, if the speeds are worked out anew.
//! Tests by part (in crates/platform/src): import/speeds.rs: `kinds_without_capacities_have_speeds`
//! (`by_clock`); import/per_mhz.rs: `kinds_without_capacities_have_speeds`,
//! `cores_without_a_kind_are_said` (`of_kinds`); import/by_kinds.rs:
//! `a_board_is_made_of_kinds_and_clocks` (`read`), `wrong_clusters_are_refused` (`cluster`),
//! `one_clock_stands_still` (`still`, and known.rs: `still`); import/power_like.rs:
//! `powers_of_another_machine` (`give`), `no_power_gives_none` (`of`).
//! Helpers, and who fails with them: `board` (`kinds_without_capacities_have_speeds`,
//! `kinds_with_capacities_have_no_other_speeds`).

use super::standing;
use wakeplace_platform::fdt::{Node, Tree};
use wakeplace_platform::import::{Imported, PowerLike, device_tree, of_kinds, plat_info};
use wakeplace_platform::{Platform, PowerUnit, Standing};

/// CPUs 0 and 1 of one kind at 2000 MHz, CPUs 2 and 3 of another at 3000 MHz.
fn board(kinds: [&str; 2], capacities: Option<[u32; 2]>) -> Imported {
    let mut root = Node::new("");
    let mut cpus = Node::new("cpus");
    for number in 0..4u32 {
        let own = number as usize / 2;
        let mut cpu = Node::new(format!("cpu@{number}"));
        cpu.set_text("device_type", "cpu");
        cpu.set_text("compatible", kinds[own]);
        if let Some(capacities) = capacities {
            cpu.set_u32("capacity-dmips-mhz", &[capacities[own]]);
        }
        cpu.set_u32("qcom,freq-domain", &[9, number / 2]);
        cpu.set_u32("operating-points-v2", &[7 + number / 2]);
        cpus.children.push(cpu);
    }
    root.children.push(cpus);
    for (handle, hz) in [(7, 2_000_000_000), (8, 3_000_000_000)] {
        let mut table = Node::new(format!("opp-table-{handle}"));
        table.set_u32("phandle", &[handle]);
        let mut opp = Node::new(format!("opp-{hz}"));
        opp.set_u64("opp-hz", hz);
        table.children.push(opp);
        root.children.push(table);
    }
    device_tree(&Tree::new(root).write(), "a.dtb").expect("a board")
}

/// A520 1024 and A720 2909 of sm8650.dtsi: 3000 MHz * 2909 / 1024 = 8522.46 MHz of an A520, and
/// 2000 * 1024 / 8522.46 = 240.3.
#[test]
fn kinds_without_capacities_have_speeds() {
    let imported = board(["arm,cortex-a520", "arm,cortex-a725"], None);
    let figures = |cpu: usize| {
        let cpu = &imported.platform.cpus[cpu];
        (cpu.capacity, cpu.speed)
    };
    assert_eq!((figures(0), figures(3)), ((1024, 240), (1024, 1024)));
    assert_eq!(standing(&imported.platform, "speed"), Standing::Assumed);
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    let said = imported.said.join("\n");
    assert!(
        said.contains("cortex-a725 2909/1024 (qcom/sm8650.dtsi, as cortex-a720)"),
        "{said}"
    );
    // An unknown kind is taken to be as good as the best one that is known: 2000 * 1024 / 3000.
    let imported = board(["arm,cortex-a520", "acme,core-9"], None);
    assert_eq!(imported.platform.cpus[0].speed, 682);
    let warnings = imported.warnings.join("\n");
    assert!(
        warnings.starts_with("how fast a core `core-9` is per MHz is not known"),
        "{warnings}"
    );
    assert!(
        imported.platform.notes.contains(&warnings),
        "{:?}",
        imported.platform.notes
    );
}

/// 500 * 2000 * 1024 / (1000 * 3000) = 341 is the capacity and the speed, whatever the kinds are.
#[test]
fn kinds_with_capacities_have_no_other_speeds() {
    let imported = board(["arm,cortex-a520", "acme,core-9"], Some([500, 1000]));
    let little = &imported.platform.cpus[0];
    assert_eq!((little.capacity, little.speed), (341, 341));
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
}

/// LISA's `plat_info` has no kinds: where it has no capacities either, clocks alone count.
#[test]
fn cores_without_a_kind_are_said() {
    let text = "platform-info:\n  conf:\n    abi: arm64\n    cpus-count: 2\n    \
                freq-domains: [[0], [1]]\n    freqs: {0: [1000000], 1: [2000000]}\n";
    let imported = plat_info(text.as_bytes(), "a.yml").expect("a machine");
    assert_eq!(imported.platform.cpus[0].speed, 512);
    let warnings = imported.warnings.join("\n");
    assert!(warnings.contains("names no kinds"), "{warnings}");
}

/// What is made of these clusters, or the message.
fn made(clusters: &str) -> Result<Imported, String> {
    let made = of_kinds(clusters, "--clusters", "new-board", None);
    made.map_err(|error| error.to_string())
}

/// By hand, in MHz of an A520 (sm8650.dtsi: 1024, 2909 and 3591): 2246; 3052 * 2909 / 1024 =
/// 8670.2; 3782 * 3591 / 1024 = 13262.9. Of 1024 for the biggest: 173, 669, 1024.
#[test]
fn a_board_is_made_of_kinds_and_clocks() {
    let words = "2xcortex-a520@2246MHz, 5xcortex-a725@600-3052MHz,1xcortex-x4@3782MHz";
    let Imported { platform, said, .. } = made(words).expect("a board");
    let capacity = |cpu: usize| platform.cpus[cpu].capacity;
    assert_eq!((capacity(0), capacity(2), capacity(7)), (173, 669, 1024));
    assert_eq!(platform.cpus.len(), 8);
    assert_eq!(
        (platform.arch.as_str(), platform.clusters.len()),
        ("arm64", 3)
    );
    assert_eq!(platform.power_unit, PowerUnit::None);
    let khz = |domain: usize| {
        let opps = platform.freq_domains[domain].opps.iter();
        opps.map(|opp| opp.khz).collect::<Vec<_>>()
    };
    assert_eq!(khz(0), [2_246_000]);
    let mid = khz(1);
    assert_eq!(
        (mid[0], mid[1], mid[24], mid[25]),
        (600_000, 700_000, 3_000_000, 3_052_000)
    );
    let top = platform.topology.last().expect("a level");
    assert!(top.shares_cache && top.groups.len() == 1, "{top:?}");
    for what in ["cluster ", "topology", "frequencies of", "costs"] {
        assert_eq!(standing(&platform, what), Standing::Assumed, "{what}");
    }
    assert!(
        said.join("\n").contains("capacities: highest clock"),
        "{said:?}"
    );
    let old = made("2xcortex-a15@1200MHz,3xcortex-a7@1000MHz").expect("a board");
    assert_eq!(old.platform.arch, "arm");
}

/// Goal: that nothing scales where one clock is named is listed with what is assumed, and stands
/// with the results of the file; a range scales, and then nothing is said.
#[test]
fn one_clock_stands_still() {
    let of = |clusters: &str| {
        let made = made(clusters).expect("a board");
        let own = Platform::from_bytes(made.toml.as_bytes(), "own.toml").expect("a file");
        let said = made
            .said
            .iter()
            .find(|line| line.contains("operating point"));
        let beside = own.assumed_by_file().expect("assumed figures");
        (said.cloned().unwrap_or_default(), beside)
    };
    let (said, beside) = of("2xcortex-a520@600-2000MHz,1xcortex-a725@3000MHz,1xcortex-x4@3200MHz");
    assert!(
        said.starts_with("one operating point for CPUs 2-3: only a highest clock was named"),
        "{said}"
    );
    assert!(
        beside.contains("; the clocks of 2 of 4 CPUs stand still"),
        "{beside}"
    );
    let (_, beside) = of("2xcortex-a520@2000MHz");
    assert!(
        beside.contains("; the clocks of all CPUs stand still"),
        "{beside}"
    );
    let (said, beside) = of("2xcortex-a520@600-2000MHz");
    assert!(
        said.is_empty() && !beside.contains("stand still"),
        "{said} {beside}"
    );
}

/// Goal: powers are those of the same kind at the same share of the highest clock, of another kind
/// those of the nearest by capacity, all modelled. By hand, by platforms/hikey960.toml: of 1844 MHz
/// 922 is a half, so 245436 / 2 and 70731 / 2 at the highest clock. 500 is 1000 of 1844, by a line
/// from 999 (70329) to 1402 (124918): 70329 + 54589 / 403 = 70464, and half of it. 200 is 400,
/// below 533: 28728 * 400 / 533 = 21559, and half of it. An A72 gets most done there, as an A73.
#[test]
fn powers_of_another_machine() {
    let like = PowerLike::of("hikey960", "--power-like").expect("a machine with power");
    let words = "4xcortex-a53@200-922MHz,2xcortex-a72@1181MHz";
    let made = of_kinds(words, "--clusters", "new-board", Some(&like)).expect("a board");
    let platform = &made.platform;
    assert_eq!(platform.power_unit, PowerUnit::Microwatt);
    let power = |domain: usize, khz: u32| {
        let mut opps = platform.freq_domains[domain].opps.iter();
        let opp = opps.find(|opp| opp.khz == khz).expect("a point");
        (opp.power, opp.cluster_power)
    };
    assert_eq!(power(0, 922_000), (Some(122_718), Some(35_365)));
    assert_eq!(power(0, 500_000).0, Some(35_232));
    assert_eq!(power(0, 200_000).0, Some(10_779));
    assert_eq!(power(1, 1_181_000), (Some(1_571_911), Some(0)));
    assert_eq!(standing(platform, "cpu power of"), Standing::Assumed);
    assert_eq!(platform.modelled_power().len(), 6);
    let said = made.said.join("\n");
    for part in [
        "power of CPUs 0-3: Modelled after hikey960 (--power-like): the power of its cortex-a53",
        "power of CPUs 4-5: Modelled after hikey960 (--power-like): the power of its cortex-a73, \
         the nearest to a cortex-a72 by capacity",
        "* 922000/1844000 (highest clocks, kHz)",
        "* 1024/1024 (of 1024 at the highest clock)",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

/// Goal: a machine without power, or none at all, is refused with the nearest name.
#[test]
fn no_power_gives_none() {
    let refused = |machine: &str| {
        let like = PowerLike::of(machine, "--power-like");
        like.expect_err(machine).to_string()
    };
    let message = refused("apple-m2");
    assert!(message.starts_with("--power-like: `apple-m2` has no power; expected one of "));
    assert!(message.ends_with("; did you mean `apple-m1`?"), "{message}");
    let message = refused("hikey961");
    assert!(
        message.starts_with("--power-like: ") && message.contains("hikey960"),
        "{message}"
    );
}

#[test]
fn wrong_clusters_are_refused() {
    for (words, expected) in [
        ("4xcortex-a521@2000MHz", "did you mean `cortex-a520`?"),
        (
            "4xcortex-zz@2000MHz",
            "unknown kind of core `cortex-zz`; expected one of cortex-a7,",
        ),
        (
            "4xcortex-a520",
            "--clusters: `4xcortex-a520` is no cluster; expected clusters as",
        ),
        ("0xcortex-a520@2000MHz", "is no cluster"),
        ("4xcortex-a520@2GHz", "is no cluster"),
        ("4xcortex-a520@3000-2000MHz", "is no cluster"),
        ("", "nothing is no cluster"),
        (
            "1024xcortex-a520@1MHz,1xcortex-x4@1MHz",
            "1025 CPUs; expected 1 to 1024",
        ),
        (
            "4xcortex-a53@2000MHz,1xcortex-x4@3000MHz",
            "no device tree compares `cortex-x4` with `cortex-a53`",
        ),
    ] {
        let message = made(words).expect_err(words);
        assert!(message.contains(expected), "{words}: {message}");
    }
}
