//! `cargo xtask programs`: static programs for other places than this machine's own folders: what
//! runs inside the lab's guests (target/lab/{x86_64,arm64}), and what is given away
//! (target/lab/dist-MACHINE) (docs/internals/checks.md).
//!
//! What must stay: folders in which the lab looks (crates/lab/src/guest_bin.rs); programs are
//! static. Free: how it is done, and words that no test or script reads. Tests by part: `name`,
//! `triple`, `tool`, `named`, `run`, `make`, `build`, `quick_release`, `path_cuts`, `for_machine`,
//! `to_c`, `install`, `arm64_tool` have no test of their own: guests do not start without what they
//! make.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`for_machine`, `make`), dist.rs (`triple`),
//! live/schedulers.rs (`arm64_tool`).
//!
//! Tests: none; guests of the lab run what it builds.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Cmd, cmd};

use super::debian;
use crate::shop::{Shop, choose, run as call, text_of, usage};

/// A machine that programs are built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// 64-bit x86.
    X86,
    /// 64-bit Arm.
    Arm64,
}

/// All machines.
pub const MACHINES: [Machine; 2] = [Machine::X86, Machine::Arm64];

impl Machine {
    /// Its name in folders and archives.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::X86 => "x86_64",
            Self::Arm64 => "arm64",
        }
    }

    /// Cargo's name of it.
    #[must_use]
    pub const fn triple(self) -> &'static str {
        match self {
            Self::X86 => "x86_64-unknown-linux-gnu",
            Self::Arm64 => "aarch64-unknown-linux-gnu",
        }
    }

    /// The binutils program of this name for it.
    #[must_use]
    pub fn tool(self, name: &str) -> String {
        match self {
            Self::X86 => name.to_owned(),
            Self::Arm64 => format!("aarch64-linux-gnu-{name}"),
        }
    }

    /// A machine by its name.
    ///
    /// # Errors
    /// There is none.
    pub fn named(name: &str) -> Result<Self> {
        let names = MACHINES.map(Self::name);
        Ok(MACHINES[choose("machine", name, &names)?])
    }
}

/// What is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Load and stress, and the live scheduler.
    Guests,
    /// These, and the simulator for arm64, for `cargo xtask same-bytes`.
    Simulator,
    /// The guests' as the tests have built them, not optimized: those for x86-64 are the very files
    /// in target/debug, and need shared libraries in the guest.
    Tested,
    /// What is given away: simulator, loader of objects and live scheduler, with symbols.
    Dist,
}

/// `[--simulator | --tested | --dist] [MACHINE...]`
///
/// # Errors
/// Something does not build or cannot be had here.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let (kind, names) = match arguments {
        ["--simulator", names @ ..] => (Kind::Simulator, names),
        ["--tested", names @ ..] => (Kind::Tested, names),
        ["--dist", names @ ..] => (Kind::Dist, names),
        names => (Kind::Guests, names),
    };
    let mut machines = Vec::new();
    for name in names {
        machines.push(Machine::named(name)?);
    }
    if machines.is_empty() {
        machines.extend(MACHINES);
    }
    if kind == Kind::Simulator && !machines.contains(&Machine::Arm64) {
        return Err(usage(
            "the simulator is built for arm64 only: expected no machine, or arm64",
        ));
    }
    make(shop, kind, &machines)
}

/// Builds them.
///
/// # Errors
/// Something does not build or cannot be had here.
pub fn make(shop: &Shop, kind: Kind, machines: &[Machine]) -> Result<()> {
    shop.setup(&["lab"])?;
    for machine in machines {
        let mut names = match kind {
            Kind::Dist => vec!["wakeplace", "wakeplace-bpf-load", "scx_wakeplace"],
            _ => vec!["wakeplace-guest", "scx_wakeplace"],
        };
        if kind == Kind::Simulator && *machine == Machine::Arm64 {
            names.push("wakeplace");
        }
        let built = match (kind, machine) {
            (Kind::Tested, Machine::X86) => shop.target.join("debug"),
            _ => build(shop, kind, *machine, &names)?,
        };
        install(shop, kind, *machine, &built, &names)?;
    }
    Ok(())
}

/// Builds programs all at once, so that they share their libraries.
fn build(shop: &Shop, kind: Kind, machine: Machine, names: &[&str]) -> Result<PathBuf> {
    eprintln!("{} for {}", names.join(" "), machine.name());
    let triple = machine.triple();
    let profile = match kind {
        Kind::Tested => "dev",
        Kind::Dist => "dist",
        _ => "release",
    };
    let mut cargo = cmd!(
        shop.sh,
        "cargo build --locked --quiet --profile {profile} --target {triple}"
    );
    if kind == Kind::Tested {
        // All packages, although few are built: so build scripts and macros have the features with
        // which the tests have built them, and are not built once more.
        cargo = cargo.arg("--workspace");
    }
    for name in names {
        let package = match *name {
            "scx_wakeplace" => "wakeplace-scx",
            "wakeplace" => "wakeplace-cli",
            name => name,
        };
        if kind != Kind::Tested {
            cargo = cargo.args(["--package", package]);
        }
        cargo = cargo.args(["--bin", name]);
    }
    let cut = if kind == Kind::Dist {
        path_cuts(shop)
    } else {
        String::new()
    };
    if kind == Kind::Dist {
        cargo = cargo.env("CFLAGS", to_c(&cut));
    } else {
        // Symbols are of no use in a guest and five sixths of the file. Programs there wait for
        // each other far more than they compute: linking across crates would only cost time.
        cargo = quick_release(cargo)
            .env("CARGO_PROFILE_RELEASE_STRIP", "symbols")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "0");
    }
    call(for_machine(shop, cargo, machine, &cut)?)?;
    let folder = if profile == "dev" { "debug" } else { profile };
    Ok(shop.target.join(triple).join(folder))
}

/// Optimized within crates only, which builds sooner.
pub fn quick_release(cargo: Cmd<'_>) -> Cmd<'_> {
    cargo
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
}

/// Where it was built is not in the program.
fn path_cuts(shop: &Shop) -> String {
    let home = text_of("HOME").map(|home| format!("{home}/.cargo"));
    let cargo = text_of("CARGO_HOME").or(home).unwrap_or_default();
    let root = shop.root.display();
    format!("--remap-path-prefix={root}=. --remap-path-prefix={cargo}=cargo")
}

/// Cargo links static programs for a machine that load BPF objects.
///
/// # Errors
/// A library cannot be had here.
pub fn for_machine<'a>(
    shop: &Shop,
    cargo: Cmd<'a>,
    machine: Machine,
    more: &str,
) -> Result<Cmd<'a>> {
    let flags = "-C target-feature=+crt-static";
    if machine == Machine::X86 {
        let libelf = cmd!(shop.sh, "cc -print-file-name=libelf.a")
            .quiet()
            .read()?;
        let folder = Path::new(&libelf).parent().context("no libelf.a")?;
        return Ok(cargo
            .env("LIBBPF_SYS_LIBRARY_PATH_x86_64_unknown_linux_gnu", folder)
            .env("RUSTFLAGS", format!("{flags} {more}")));
    }
    let root = debian::arm64_libraries(shop)?;
    let (target, include) = ("--target=aarch64-linux-gnu", root.join("usr/include"));
    let also = text_of("CFLAGS").unwrap_or_default();
    let c = format!("{target} -I{} {also} {}", include.display(), to_c(more));
    Ok(cargo
        .env(
            "LIBBPF_SYS_LIBRARY_PATH_aarch64_unknown_linux_gnu",
            root.join("usr/lib/aarch64-linux-gnu"),
        )
        .env("CC_aarch64_unknown_linux_gnu", "clang-19")
        .env("CFLAGS_aarch64_unknown_linux_gnu", c)
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "clang-19")
        .env("RUSTFLAGS", format!("{flags} -C link-arg={target} {more}")))
}

/// The same of paths for a C compiler.
fn to_c(flags: &str) -> String {
    flags.replace("--remap-path-prefix", "-ffile-prefix-map")
}

/// From a folder of cargo's to where they are looked for; to guests without what only a debugger
/// reads. Each is renamed in one step: a guest that starts meanwhile gets the old or the new one.
fn install(shop: &Shop, kind: Kind, machine: Machine, from: &Path, names: &[&str]) -> Result<()> {
    let own = if kind == Kind::Dist { "dist-" } else { "" };
    let to = shop.target.join(format!("lab/{own}{}", machine.name()));
    shop.sh.create_dir(&to)?;
    for name in names {
        let built = from.join(name);
        ensure!(
            built.exists(),
            "{} is missing: build the tests first",
            built.display()
        );
        if kind == Kind::Dist {
            shop.sh.copy_file(&built, to.join(name))?;
            continue;
        }
        let (strip, draft) = (machine.tool("strip"), to.join(format!(".{name}")));
        call(cmd!(shop.sh, "{strip} -o {draft} {built}").quiet())?;
        fs::rename(&draft, to.join(name))?;
    }
    Ok(())
}

/// A program of cargo's registry for arm64, static, at one version.
///
/// # Errors
/// It cannot be had here.
pub fn arm64_tool(shop: &Shop, name: &str, version: &str) -> Result<PathBuf> {
    let root = shop
        .root
        .join(format!("target/tools/{name}-{version}-arm64"));
    let program = root.join("bin").join(name);
    if !program.exists() {
        let install = cmd!(
            shop.sh,
            "cargo install {name} --version {version} --locked --quiet"
        )
        .args(["--target", Machine::Arm64.triple(), "--root"])
        .arg(&root)
        .env(
            "BPF_CLANG",
            text_of("BPF_CLANG").unwrap_or("clang-19".into()),
        )
        // What several of them share is built once.
        .env(
            "CARGO_TARGET_DIR",
            shop.root.join("target/tools/arm64-build"),
        );
        let install = for_machine(shop, quick_release(install), Machine::Arm64, "")?;
        let what = format!("{name} {version} for arm64 cannot be installed");
        call(install).map_err(|_| crate::shop::missing(what))?;
    }
    Ok(program)
}
