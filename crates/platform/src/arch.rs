//! Instruction sets: those that a platform can have, by the names that kernels and files give them
//! (docs/guide/platforms.md, "What the words mean").
//!
//! Called by readers of files and imports, and where a run depends on the instruction set. Which
//! states and clocks a set implies is decided elsewhere.
//!
//! What must stay: the names of `name`, as platform files have them under `arch`, and the order of
//! `ALL`, which messages list. What is none of the seven is refused, never taken for another one.
//! Free: what leaves each file's machine as it is (ARCHITECTURE.md, "What a change may touch"), and
//! words of messages that no test quotes. Tests by part: `names_of_kernels` (`of`, `name`),
//! `every_architecture_is_told_by_its_lines` (`of_cpuinfo`),
//! architectures.rs::`other_instruction_sets_are_refused` (`expected`),
//! architectures.rs::`what_is_not_modelled_is_said` (`not_modelled`).
//!
//! Tests: below, crates/platform/tests/all/import/architectures.rs

use serde::Deserialize;

/// An instruction set of a platform, by the name that its file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Arch {
    Arm64,
    Arm,
    #[serde(rename = "x86_64")]
    X86,
    Riscv64,
    S390x,
    Ppc64,
    Loongarch64,
}

impl Arch {
    /// All of them, in the order that messages list them.
    const ALL: [Self; 7] = [
        Self::Arm64,
        Self::Arm,
        Self::X86,
        Self::Riscv64,
        Self::S390x,
        Self::Ppc64,
        Self::Loongarch64,
    ];

    /// By the kernel's name of it (`uname -m`), or by that of LISA's `abi`.
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "aarch64" | "arm64" => Some(Self::Arm64),
            "arm" | "armeabi" => Some(Self::Arm),
            "x86_64" | "i386" | "i486" | "i586" | "i686" | "x86" => Some(Self::X86),
            "riscv64" => Some(Self::Riscv64),
            "s390x" => Some(Self::S390x),
            "ppc64" | "ppc64le" => Some(Self::Ppc64),
            "loongarch64" => Some(Self::Loongarch64),
            _ if name.starts_with("armv8") => Some(Self::Arm64),
            _ if name.starts_with("armv") => Some(Self::Arm),
            _ => None,
        }
    }

    /// As platform files have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Arm64 => "arm64",
            Self::Arm => "arm",
            Self::X86 => "x86_64",
            Self::Riscv64 => "riscv64",
            Self::S390x => "s390x",
            Self::Ppc64 => "ppc64",
            Self::Loongarch64 => "loongarch64",
        }
    }

    /// What a message expects where the instruction set is none of these.
    pub(crate) fn expected() -> String {
        let names = Self::ALL.map(Self::name);
        format!("an instruction set that is modelled: {}", names.join(", "))
    }

    /// What the kernel does with CPUs of this kind and the model does not.
    pub(crate) fn not_modelled(self) -> Option<&'static str> {
        match self {
            Self::S390x => Some(
                "levels are those of other machines: books and drawers, and CPUs that the \
                 hypervisor parks (Linux arch/s390/kernel/topology.c), are not modelled",
            ),
            Self::Ppc64 => Some(
                "levels are those of other machines: POWER's own ones and its packing of threads \
                 (Linux arch/powerpc/kernel/smp.c) are not modelled",
            ),
            _ => None,
        }
    }
}

/// The instruction set that the lines of /proc/cpuinfo are of, as `uname -m` names it. None: no
/// line says it.
///
/// Each architecture prints lines of its own (Linux 7.3 arch/*/kernel, `c_show` or
/// `show_cpuinfo`): x86 has `vendor_id`, and so has s390 (`IBM/S390`); ARM has `CPU architecture`,
/// RISC-V `isa` from `rv32` or `rv64`, POWER the name of its core beside `platform` or `timebase`,
/// LoongArch and MIPS `system type` and a list of levels.
pub(crate) fn of_cpuinfo(text: &str) -> Option<&'static str> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let lines: Vec<(&str, &str)> = lines.map(|(k, v)| (k.trim(), v.trim())).collect();
    let value = |key: &str| {
        lines
            .iter()
            .find(|(k, _)| *k == key)
            .map(|(_, value)| *value)
    };
    let starts = |key: &str, words: &[&str]| {
        value(key).is_some_and(|value| words.iter().any(|word| value.starts_with(word)))
    };
    if let Some(vendor) = value("vendor_id") {
        let long = || value("flags").is_none_or(|flags| flags.split(' ').any(|flag| flag == "lm"));
        return Some(match vendor {
            "IBM/S390" => "s390x",
            _ if long() => "x86_64",
            _ => "i686",
        });
    }
    if let Some(version) = value("CPU architecture") {
        let wide = version == "8" || version == "AArch64";
        return Some(if wide { "aarch64" } else { "armv7l" });
    }
    if let Some(isa) = value("isa").filter(|isa| isa.starts_with("rv")) {
        return Some(match isa.starts_with("rv64") {
            true => "riscv64",
            false => "riscv32",
        });
    }
    if starts("Processor", &["ARM"]) || starts("model name", &["ARM"]) {
        return Some("armv7l");
    }
    let loongson = value("ISA").is_some_and(|isa| isa.contains("loongarch"));
    if loongson || starts("CPU Family", &["Loongson"]) {
        return Some("loongarch64");
    }
    if starts(
        "cpu",
        &["POWER", "PPC970", "PA6T", "Cell", "e5500", "e6500"],
    ) {
        return Some("ppc64");
    }
    if value("timebase").is_some() {
        return Some("ppc");
    }
    let others = [
        ("isa", "mips", "mips"),
        ("cpu model", "MIPS", "mips"),
        ("arch", "IA-64", "ia64"),
        ("cpu family", "PA-RISC", "parisc"),
        ("cpu", "Alpha", "alpha"),
        ("type", "sun4", "sparc64"),
        ("CPU", "68", "m68k"),
    ];
    let known = others.iter().find(|(key, word, _)| starts(key, &[word]));
    known.map(|(_, _, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::{Arch, of_cpuinfo};

    /// Lines as each architecture of Linux prints them.
    #[test]
    fn every_architecture_is_told_by_its_lines() {
        for (text, name) in [
            (
                "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu lm",
                "x86_64",
            ),
            (
                "processor\t: 0\nvendor_id\t: CentaurHauls\nflags\t\t: fpu",
                "i686",
            ),
            ("vendor_id       : IBM/S390\n# processors    : 4", "s390x"),
            (
                "BogoMIPS\t: 38.40\nCPU implementer\t: 0x41\nCPU architecture: 8",
                "aarch64",
            ),
            (
                "model name\t: ARMv7 Processor rev 5 (v7l)\nCPU implementer\t: 0x41\n\
                 CPU architecture: 7\nCPU part\t: 0xc07",
                "armv7l",
            ),
            (
                "Processor\t: ARM926EJ-S rev 5 (v5l)\nCPU architecture: 5TEJ",
                "armv7l",
            ),
            (
                "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nmmu\t\t: sv39",
                "riscv64",
            ),
            ("processor\t: 0\nhart\t\t: 0\nisa\t\t: rv32imac", "riscv32"),
            (
                "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 2.3GHz",
                "ppc64",
            ),
            (
                "processor\t: 0\ncpu\t\t: 7447A\n\ntimebase\t: 18432000",
                "ppc",
            ),
            (
                "system type\t\t: generic-loongson-machine\n\nISA\t\t\t: loongarch64",
                "loongarch64",
            ),
            (
                "CPU Family\t\t: Loongson-64bit\nModel Name\t\t: Loongson-3A5000",
                "loongarch64",
            ),
            (
                "system type\t\t: MIPS Malta\ncpu model\t\t: MIPS 24Kc V0.0",
                "mips",
            ),
            (
                "processor  : 0\nvendor     : GenuineIntel\narch       : IA-64",
                "ia64",
            ),
            ("cpu\t\t: TI UltraSparc II\ntype\t\t: sun4u", "sparc64"),
        ] {
            assert_eq!(of_cpuinfo(text), Some(name), "{text}");
        }
        assert_eq!(of_cpuinfo("processor\t: 0\nBogoMIPS\t: 38.40"), None);
        assert_eq!(of_cpuinfo(""), None);
    }

    #[test]
    fn names_of_kernels() {
        for (name, arch) in [
            ("aarch64", Arch::Arm64),
            ("armv7l", Arch::Arm),
            ("i686", Arch::X86),
            ("ppc64le", Arch::Ppc64),
            ("riscv64", Arch::Riscv64),
        ] {
            assert_eq!(Arch::of(name), Some(arch));
        }
        for other in ["mips", "riscv32", "ppc", "ia64", "s390", ""] {
            assert_eq!(Arch::of(other), None, "{other}");
        }
        for arch in Arch::ALL {
            assert_eq!(Arch::of(arch.name()), Some(arch));
        }
    }
}
