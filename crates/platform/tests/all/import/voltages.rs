//! A device tree with power coefficients and without voltages, and the list of them.
//! Page: docs/guide/import.md, "A device tree without voltages".
//!
//! What must stay: powers follow by the formula of the kernel (drivers/opp/of.c), by hand; each
//! wrong line has its message. Free: clocks and voltages, if the powers are worked out anew.
//! Tests by part (in crates/platform/src): import/devicetree.rs:
//! `coefficients_and_voltages_make_power` (`capacities`); import/devicetree/clocks.rs:
//! `coefficients_and_voltages_make_power` (`with_coefficient`, `clock_key`, `with_voltages`),
//! `clocks_without_a_coefficient` (none is invented); import/voltages.rs:
//! `lists_that_cannot_be_right` (`header`, `row`, `rising`), `clocks_without_a_coefficient`
//! (`has`).
//! Helpers, and who fails with them: `board`, `with` (`coefficients_and_voltages_make_power`,
//! `lists_that_cannot_be_right` and 1 more).

use std::fs;
use std::path::Path;
use wakeplace_platform::fdt::{Node, Tree};
use wakeplace_platform::import::{Imported, Source, import};
use wakeplace_platform::{CpuId, PowerUnit, Standing};

/// Two clocks of two CPUs: points with clocks of 500 and 1000.5 MHz, and none at all.
fn board(coefficients: [Option<u32>; 2]) -> Vec<u8> {
    let mut root = Node::new("");
    let mut cpus = Node::new("cpus");
    for number in 0..4u32 {
        let mut cpu = Node::new(format!("cpu@{number}"));
        cpu.set_text("device_type", "cpu");
        cpu.set_text("compatible", "arm,cortex-a53");
        cpu.set_u32("capacity-dmips-mhz", &[1024]);
        if let Some(coefficient) = coefficients[number as usize / 2] {
            cpu.set_u32("dynamic-power-coefficient", &[coefficient]);
        }
        cpu.set_u32("qcom,freq-domain", &[9, number / 2]);
        if number < 2 {
            cpu.set_u32("operating-points-v2", &[7]);
        }
        cpus.children.push(cpu);
    }
    let mut table = Node::new("opp-table");
    table.set_u32("phandle", &[7]);
    for hz in [500_000_000, 1_000_500_000] {
        let mut opp = Node::new(format!("opp-{hz}"));
        opp.set_u64("opp-hz", hz);
        table.children.push(opp);
    }
    root.children.extend([cpus, table]);
    Tree::new(root).write()
}

/// What is imported of a device tree with this list of voltages.
fn with(tree: &[u8], list: &str) -> Result<Imported, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let (dtb, csv) = (
        folder.path().join("board.dtb"),
        folder.path().join("volts.csv"),
    );
    fs::write(&dtb, tree).expect("written");
    fs::write(&csv, list).expect("written");
    import(Source::DeviceTreeAndVoltages(&dtb, &csv), None, None).map_err(|error| {
        error
            .to_string()
            .replace(&folder.path().join("").display().to_string(), "")
    })
}

const LIST: &str = "cpu,MHz,mV\n0,500,600\n1,1000.5,800 # another CPU of that clock\n\n2,700,650\n\
                    2,2000,1000\n";

/// Powers by the kernel's formula (drivers/opp/of.c), by hand:
/// 100 * 600^2 * 500 / 10^6 = 18000, 100 * 800^2 * 1000 / 10^6 = 64000 uW;
/// 300 * 650^2 * 700 / 10^6 = 88725, 300 * 1000^2 * 2000 / 10^6 = 600000 uW.
#[test]
fn coefficients_and_voltages_make_power() {
    let tree = board([Some(100), Some(300)]);
    let Imported {
        platform,
        toml,
        said,
        ..
    } = with(&tree, LIST).expect("a board");
    assert_eq!(platform.power_unit, PowerUnit::Microwatt);
    let opps = |cpu: u32| {
        let domain = &platform.freq_domains[platform.freq_domain_of(CpuId(cpu))];
        let opp = |opp: &wakeplace_platform::Opp| (opp.khz, opp.mv, opp.power);
        domain.opps.iter().map(opp).collect::<Vec<_>>()
    };
    let little = [
        (500_000, Some(600), Some(18_000)),
        (1_000_500, Some(800), Some(64_000)),
    ];
    let big = [
        (700_000, Some(650), Some(88_725)),
        (2_000_000, Some(1000), Some(600_000)),
    ];
    assert_eq!(opps(1), little);
    assert_eq!(opps(3), big);
    // 1000.5 / 2000 of the biggest, cut.
    assert_eq!(platform.cpus[0].capacity, 512);
    for what in ["cpu power of CPUs 0-1", "cpu power of CPUs 2-3"] {
        let (_, source) = platform
            .provenance
            .iter()
            .find(|(own, _)| own == what)
            .unwrap_or_else(|| panic!("{what} of {:?}", platform.provenance));
        assert!(
            source.text.contains("mV: list of voltages volts.csv"),
            "{}",
            source.text
        );
        assert_eq!(source.standing, Standing::Derived);
    }
    assert!(
        toml.contains("voltages: list of voltages volts.csv"),
        "{toml}"
    );
    assert!(
        said.iter().all(|line| !line.contains("left out")),
        "{said:?}"
    );
    // Units are the header's; a further line is left out, aloud.
    let other = "CPU kHz uV\n0 500000 600000\n0 600000 700000\n0 1000500 800999\n2 700000 650000\n\
                 2 2000000 1000000\n";
    let again = with(&tree, other).expect("a board");
    assert_eq!(again.platform.freq_domains, platform.freq_domains);
    assert!(
        again.said.join("\n").contains("1 of 3 lines of volts.csv"),
        "{:?}",
        again.said
    );
}

/// What is changed in the list, and the message.
const WRONG: &[(&str, &str, &str)] = &[
    (
        "0,500,600",
        "0,500,-600",
        "volts.csv:2: `-600`; expected a voltage from 1 mV to 10 V",
    ),
    (
        "0,500,600",
        "0,-500,600",
        "volts.csv:2: `-500`; expected a frequency from 1 kHz",
    ),
    (
        "2,2000,1000",
        "2,2000,600",
        "volts.csv:6: 600 mV after 650 mV at a lower frequency",
    ),
    (
        "2,2000,1000",
        "2,700,1000",
        "volts.csv:6: 700 MHz after 700 MHz for the same clock",
    ),
    (
        "2,2000,1000",
        "4,2000,1000",
        "volts.csv:6: CPU 4; expected a CPU of the device tree",
    ),
    (
        "mV",
        "mW",
        "volts.csv:1: unknown unit `mW`; expected uV, mV or V",
    ),
    (
        "MHz",
        "rpm",
        "volts.csv:1: unknown unit `rpm`; expected Hz, kHz or MHz",
    ),
    (
        "cpu,MHz",
        "MHz",
        "volts.csv:1: 2 columns; expected the header `cpu MHz mV`",
    ),
    (
        "cpu,",
        "core,",
        "volts.csv:1: `core`; expected the header `cpu MHz mV`",
    ),
    (
        "0,500,600",
        "0,500",
        "volts.csv:2: 2 columns; expected a CPU, a frequency",
    ),
    (
        "0,500,600\n",
        "",
        "volts.csv: no voltage at 500 MHz for CPUs 0-1",
    ),
    (
        "2,700,650\n2,2000,1000\n",
        "",
        "volts.csv: no line for CPUs 2-3",
    ),
    ("2,2000,1000", "2,2000,1e3", "volts.csv:6: `1e3`"),
    ("2,2000,1000", "2,2000,99999", "volts.csv:6: `99999`"),
];

#[test]
fn lists_that_cannot_be_right() {
    let tree = board([Some(100), Some(300)]);
    for (from, to, expected) in WRONG {
        let list = LIST.replacen(from, to, 1);
        assert_ne!(list, LIST, "{from}");
        let error = with(&tree, &list).expect_err(expected);
        assert!(error.starts_with(*expected), "{error}");
    }
    for empty in ["", "# nothing\n", "cpu MHz mV\n"] {
        let error = with(&tree, empty).expect_err("empty");
        assert!(error.contains("no line with figures"), "{error}");
    }
    let binary = with(&tree, "\u{0}\u{1}").expect_err("binary");
    assert!(binary.starts_with("volts.csv:1: 1 columns"), "{binary}");
}

/// A clock without a coefficient needs no line, gets no power from one, and that is said.
#[test]
fn clocks_without_a_coefficient() {
    let tree = board([Some(100), None]);
    let imported = with(&tree, LIST).expect("a board");
    assert_eq!(imported.platform.power_unit, PowerUnit::None);
    let said = imported.said.join("\n");
    let words = "no power from the voltages of CPUs 2-3: no dynamic-power-coefficient";
    assert!(said.contains(words), "{said}");
    assert_eq!(imported.platform.freq_domains[1].opps[1].mv, Some(1000));
    assert!(
        import(
            Source::DeviceTreeAndVoltages(Path::new("/no"), Path::new("/no")),
            None,
            None
        )
        .is_err()
    );
}
