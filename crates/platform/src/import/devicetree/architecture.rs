//! The instruction set, by the names of the CPUs (`compatible`). See docs/guide/import.md, "What is
//! read".
//!
//! Called by `devicetree.rs`.
//!
//! What must stay: a machine of an instruction set that is not modelled is refused, never taken for
//! another; an unknown name is arm64 and said to be assumed. `OTHERS` goes before all lists, and
//! `ARM32` before `ARM64`, whose beginnings are wider. Free: what leaves the files of imports as
//! they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test
//! quotes. Tests by part: `names_of_cpus_in_device_trees` (`architecture` and its lists).
//!
//! Tests: crates/platform/tests/all/import/architectures.rs

use crate::arch::Arch;
use crate::fdt::Node;
use crate::import::ImportError;
use crate::import::found::Origin;
use crate::sysfs::quoted;

/// Cores of ARMv7 and before (bindings/arm/cpus.yaml), without the vendor's name.
const ARM32: &[&str] = &[
    "cortex-a5",
    "cortex-a7",
    "cortex-a8",
    "cortex-a9",
    "cortex-a12",
    "cortex-a15",
    "cortex-a17",
    "cortex-a32",
    "brahma-b15",
    "krait",
    "scorpion",
    "pj4a",
    "pj4b",
    "armv7",
    "sheeva-v7",
];
/// Cores of ARMv4 to ARMv6 begin with these.
const ARM32_BEGIN: &[&str] = &["arm7", "arm9", "arm10", "arm11", "sa11", "fa526"];
/// Names of cores of ARMv8 and later begin with these.
const ARM64: &[&str] = &[
    "cortex-",
    "neoverse-",
    "armv8",
    "rtsm_ve,armv8",
    "foundation-aarch64",
    "kryo",
    "oryon",
    "denver",
    "carmel",
    "thunder",
    "vulcan",
    "brahma-b53",
    "mongoose",
    "falkor",
    "tsv110",
    "icestorm",
    "firestorm",
    "blizzard",
    "avalanche",
    "cyclone",
    "typhoon",
    "twister",
    "hurricane",
    "monsoon",
    "mistral",
    "vortex",
    "tempest",
    "lightning",
    "thunder",
    "everest",
    "sawtooth",
    "c1-",
];
/// CPUs of these are none that a platform can have.
const OTHERS: &[&str] = &[
    "mips",
    "mti,",
    "ingenic,",
    "brcm,bmips",
    "powerpc",
    "fsl,e",
    "snps,arc",
    "altr,nios2",
    "opencores,",
    "xtensa",
    "intel,ce",
    "sparc",
    "csky",
    "qcom,hexagon",
];

/// Reads it.
///
/// # Errors
/// It is none that a platform can have.
pub(super) fn architecture(
    nodes: &[&Node],
    file: &str,
    place: &str,
    said: &mut Vec<String>,
) -> Result<(Arch, Origin), ImportError> {
    let names: Vec<String> = nodes
        .iter()
        .flat_map(|node| node.texts("compatible"))
        .map(str::to_lowercase)
        .collect();
    let refused = |name: &str| {
        let problem = format!("CPUs {}", quoted(name));
        ImportError::wrong(file, problem, Arch::expected())
    };
    let node = nodes.iter().map(|node| node.name.to_lowercase());
    let mut all = names.iter().cloned().chain(node);
    if let Some(name) = all.find(|name| OTHERS.iter().any(|other| name.starts_with(other))) {
        return Err(refused(&name));
    }
    let from = Origin::derived(format!("{place}: compatible of the CPUs"));
    if names.iter().any(|name| name == "riscv") {
        let isa = |key: &str| nodes.iter().flat_map(|node| node.texts(key)).next();
        return match isa("riscv,isa-base").or_else(|| isa("riscv,isa")) {
            Some(isa) if !isa.starts_with("rv64") => Err(refused(isa)),
            _ => Ok((Arch::Riscv64, from)),
        };
    }
    if names.iter().any(|name| name.starts_with("loongson,la")) {
        return Ok((Arch::Loongarch64, from));
    }
    let part = |name: &String| {
        name.split_once(',')
            .map_or(name.clone(), |(_, part)| part.into())
    };
    let parts: Vec<String> = names.iter().map(part).collect();
    let old = |part: &String| {
        ARM32.contains(&part.as_str()) || ARM32_BEGIN.iter().any(|word| part.starts_with(word))
    };
    if parts.iter().any(old) {
        return Ok((Arch::Arm, from));
    }
    if parts
        .iter()
        .any(|part| ARM64.iter().any(|word| part.starts_with(word)))
    {
        return Ok((Arch::Arm64, from));
    }
    let unknown = match names.first() {
        Some(name) => format!("the device tree calls its CPUs {}", quoted(name)),
        None => "the device tree does not name its CPUs".to_owned(),
    };
    said.push(format!("instruction set arm64: {unknown}"));
    Ok((Arch::Arm64, Origin::assumed(unknown)))
}
