//! A device tree that names kinds of cores and has no capacities; a description that names none.
//! Page: docs/guide/import.md, "What is assumed, and how".
//!
//! What must stay: speeds are worked out by hand from `capacity-dmips-mhz` of Linux 7.3.4
//! qcom/sm8650.dtsi; the kernel's capacities stay alike, as the kernel has them without that
//! property. Free: clocks and kinds, if the speeds are worked out anew.
//! Tests by part (in crates/platform/src): import/speeds.rs: `kinds_without_capacities_have_speeds`
//! (`by_clock`); import/per_mhz.rs: `kinds_without_capacities_have_speeds`,
//! `cores_without_a_kind_are_said` (`of_kinds`).
//! Helpers, and who fails with them: `board` (`kinds_without_capacities_have_speeds`,
//! `kinds_with_capacities_have_no_other_speeds`).

use super::standing;
use wakeplace_platform::Standing;
use wakeplace_platform::fdt::{Node, Tree};
use wakeplace_platform::import::{Imported, device_tree, plat_info};

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
