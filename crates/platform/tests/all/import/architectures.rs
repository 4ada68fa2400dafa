//! The instruction set, and what hangs on it. What each one's lines are: Linux arch/*/kernel,
//! `show_cpuinfo`; ticks: its default configurations.
//! Page: docs/guide/import.md, "What is assumed, and how".
//!
//! What must stay: what each architecture's lines are is Linux's; an unknown one is refused, never
//! guessed.
//! Tests by part (in crates/platform/src): import/costs.rs:
//! `each_instruction_set_has_its_own_defaults` (who gets which); arch.rs:
//! `what_is_not_modelled_is_said` (`not_modelled`), `other_instruction_sets_are_refused`
//! (`expected`); import/devicetree.rs: `names_of_cpus_in_device_trees` (`kind`, `cpu_nodes`);
//! import/devicetree/architecture.rs: `names_of_cpus_in_device_trees` (`architecture`).
//! Helpers, and who fails with them: `tree`, `imported`
//! (`each_instruction_set_has_its_own_defaults`, `what_is_not_modelled_is_said`,
//! `other_instruction_sets_are_refused`).

use super::tree_files::Files;
use wakeplace_platform::import::{Imported, Source, device_tree, import};

/// Four CPUs of which nothing but /proc/cpuinfo says what they are.
fn tree(cpuinfo: &str) -> Files {
    let mut files = Files::default();
    for file in ["possible", "present", "online"] {
        files.put(&format!("sys/devices/system/cpu/{file}"), "0-3");
    }
    for cpu in 0..4 {
        let at = format!("cpu{cpu}/topology");
        files.put(&format!("{at}/thread_siblings_list"), &cpu.to_string());
        files.put(&format!("{at}/package_cpus_list"), "0-3");
        files.put(&format!("{at}/physical_package_id"), "0");
    }
    files.put("proc/cpuinfo", cpuinfo);
    files
}

fn imported(files: &Files) -> Result<Imported, String> {
    let (_folder, path) = files.archive("x");
    import(Source::Tree(&path), None, None).map_err(|error| error.to_string())
}

const S390: &str = "vendor_id       : IBM/S390\n# processors    : 4\nbogomips per cpu: 3033.00";
const POWER: &str = "processor\t: 0\ncpu\t\t: POWER9 (raw), altivec supported\nclock\t\t: 3.8GHz";

/// Architecture, tick, first idle state and the class of the costs (a context switch of 2 us on
/// boards, of 1.5 us on servers).
#[test]
fn each_instruction_set_has_its_own_defaults() {
    for (cpuinfo, arch, tick_hz, idle, switch_ns) in [
        (
            "vendor_id\t: GenuineIntel\nflags\t: fpu lm",
            "x86_64",
            1000,
            "HLT",
            1500,
        ),
        (
            "CPU implementer\t: 0x41\nCPU architecture: 8",
            "arm64",
            250,
            "WFI",
            2000,
        ),
        (
            "model name\t: ARMv7 Processor rev 5 (v7l)\nCPU architecture: 7",
            "arm",
            250,
            "WFI",
            2000,
        ),
        (
            "processor\t: 0\nhart\t\t: 0\nisa\t\t: rv64imafdc",
            "riscv64",
            250,
            "WFI",
            2000,
        ),
        (S390, "s390x", 100, "idle", 1500),
        (POWER, "ppc64", 100, "idle", 1500),
        (
            "system type\t: x\n\nISA\t: loongarch32 loongarch64",
            "loongarch64",
            250,
            "idle",
            1500,
        ),
    ] {
        let Imported { platform, said, .. } = imported(&tree(cpuinfo)).expect(arch);
        assert_eq!(platform.arch, arch);
        assert_eq!(platform.tick_hz, tick_hz, "{arch}");
        let mut states = platform.idle_states.iter();
        let first = states.find(|state| !state.polling).expect("one that halts");
        assert_eq!(first.name, idle, "{arch}");
        assert_eq!(platform.costs.context_switch_ns, switch_ns, "{arch}");
        assert!(!said.join("\n").contains("instruction set"), "{said:?}");
    }
}

/// Goal: what the model lacks of an architecture is said, and stands in the file.
#[test]
fn what_is_not_modelled_is_said() {
    for (cpuinfo, words) in [(S390, "books and drawers"), (POWER, "POWER's own ones")] {
        let Imported { platform, said, .. } = imported(&tree(cpuinfo)).expect("a machine");
        assert!(said.join("\n").contains(words), "{said:?}");
        assert!(
            platform.notes.join("\n").contains(words),
            "{:?}",
            platform.notes
        );
    }
    let old = imported(&tree("vendor_id\t: GenuineIntel\nflags\t: fpu")).expect("32 bits");
    assert!(
        old.said.join("\n").contains("32-bit x86 is not modelled"),
        "{:?}",
        old.said
    );
    let silent = imported(&tree("processor\t: 0")).expect("a machine");
    let said = silent.said.join("\n");
    assert!(
        said.contains("instruction set x86_64: the source does not say"),
        "{said}"
    );
}

/// Goal: a machine that no platform can be is refused by its name, and not made an x86 one. The
/// kernel's own word goes before the lines of /proc/cpuinfo.
#[test]
fn other_instruction_sets_are_refused() {
    let mut files = tree("system type\t: Malta\ncpu model\t: MIPS 24Kc V0.0");
    let expected = "expected an instruction set that is modelled: arm64, arm, x86_64, riscv64, \
                    s390x, ppc64, loongarch64";
    let error = imported(&files).expect_err("mips");
    assert!(
        error.contains("proc/cpuinfo: instruction set `mips`"),
        "{error}"
    );
    assert!(error.contains(expected), "{error}");
    files.put("proc/sys/kernel/arch", "sparc64");
    let error = imported(&files).expect_err("sparc64");
    assert!(
        error.contains("proc/sys/kernel/arch: instruction set `sparc64`"),
        "{error}"
    );
    files.put("proc/sys/kernel/arch", "aarch64");
    assert_eq!(imported(&files).expect("arm64").platform.arch, "arm64");
    let lisa = "cpus-count: 2\nabi: mips64\n";
    let lisa = wakeplace_platform::import::plat_info(lisa.as_bytes(), "x.yml");
    let error = lisa.expect_err("mips64").to_string();
    assert!(
        error.contains("abi `mips64`") && error.contains(expected),
        "{error}"
    );
}

/// Names of CPUs as bindings of Linux have them (Documentation/devicetree/bindings/arm/cpus.yaml,
/// riscv/cpus.yaml, mips/cpus.yaml).
#[test]
fn names_of_cpus_in_device_trees() {
    use wakeplace_platform::fdt::{Node, Tree};
    let read = |names: &str, isa: &str| {
        let mut root = Node::new("");
        let mut cpus = Node::new("cpus");
        let mut cpu = Node::new("cpu@0");
        cpu.set_text("device_type", "cpu");
        cpu.set_text("compatible", names);
        if !isa.is_empty() {
            cpu.set_text("riscv,isa", isa);
        }
        cpus.children.push(cpu);
        root.children.push(cpus);
        device_tree(&Tree::new(root).write(), "a.dtb").map_err(|error| error.to_string())
    };
    for (names, isa, arch) in [
        ("arm,cortex-a53", "", "arm64"),
        ("qcom,kryo485", "", "arm64"),
        ("apple,firestorm", "", "arm64"),
        ("arm,cortex-a7", "", "arm"),
        ("arm,arm1176jzf-s", "", "arm"),
        ("sifive,u74-mc\0riscv", "rv64imafdc", "riscv64"),
        ("loongson,la264", "", "loongarch64"),
    ] {
        let imported = read(names, isa).expect(names);
        assert_eq!(imported.platform.arch, arch, "{names}");
        assert!(
            !imported.said.join("\n").contains("instruction set"),
            "{:?}",
            imported.said
        );
    }
    let kind = read("sifive,u74-mc\0riscv", "rv64imafdc")
        .expect("a board")
        .platform;
    assert_eq!(kind.cpus[0].kind, "u74-mc");
    let unknown = read("acme,fast", "").expect("taken for arm64");
    let said = unknown.said.join("\n");
    assert!(said.contains("instruction set arm64: the device tree calls its CPUs `acme,fast`"));
    for (names, isa) in [
        ("mti,mips24KEc", ""),
        ("fsl,e5500", ""),
        ("riscv", "rv32imac"),
    ] {
        let error = read(names, isa).expect_err(names);
        assert!(
            error.contains("expected an instruction set that is modelled"),
            "{error}"
        );
    }
}
