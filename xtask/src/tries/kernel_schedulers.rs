//! `cargo xtask kernel-schedulers [--check | --arm64]`: the sched_ext schedulers of the kernel's
//! own tools (scx_simple, scx_central, ...) for `--scheduler`. Their source is GPL-2.0-only and
//! stays outside of the repository: it comes from Debian's package linux-source-7.3 and is built by
//! its own Makefile, into target/kernel-schedulers. `--check` runs each: the same bytes twice, and
//! interpreted as compiled; scx_simple as a static program too. `--arm64`: static programs for
//! arm64 (docs/guide/schedulers.md).
//!
//! Needs what `wakeplace lab kernels` has fetched, a C compiler, make, libelf and zlib, clang 22 or
//! 19 (BPF_CLANG names another). scx_qmap as clang 19 compiles it writes to a wild address.
//!
//! What must stay: nothing of the kernel's source enters the repository. Free: how it is done, and
//! words that no test or script reads. Tests by part: `of`, `tools`, `types`, `this_machine`,
//! `run`, `build`, `fetch`, `jobs`, `build_here`, `cross_tools`, `build_arm64`, `outcome`, `check`
//! have no test of their own: `cargo xtask kernel-schedulers --check` runs them.
//!
//! Callers: commands.rs (`run`).
//!
//! Tests: none; `--check` is a trial of crates/foreign with the kernel's own schedulers.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use xshell::cmd;

use crate::gives::debian;
use crate::gives::programs::Machine;
use crate::shop::{Shop, find, missing, quietly, read, run as call, text_of, usage, write};

const SERIES: &str = "7.3";
const KERNEL: &str = "7.3.4";
/// What the build needs of the source.
const PARTS: [&str; 11] = [
    "tools/sched_ext",
    "tools/lib",
    "tools/bpf",
    "tools/build",
    "tools/include",
    "tools/scripts",
    "tools/arch",
    "include/uapi",
    "kernel/bpf",
    "scripts",
    "arch/arm64/include/uapi",
];

struct Place {
    out: PathBuf,
    /// The lab's.
    cache: PathBuf,
    clang: String,
}

impl Place {
    /// Places and the compiler, from the environment.
    fn of(shop: &Shop) -> Self {
        let home = text_of("XDG_CACHE_HOME").map(|home| format!("{home}/wakeplace/lab"));
        let usual = format!(
            "{}/.cache/wakeplace/lab",
            text_of("HOME").unwrap_or_default()
        );
        let newer = find("clang-22").map_or("clang-19", |_| "clang-22");
        Self {
            out: shop.target.join("kernel-schedulers"),
            cache: text_of("WAKEPLACE_LAB_CACHE")
                .or(home)
                .unwrap_or(usual)
                .into(),
            clang: text_of("BPF_CLANG").unwrap_or(newer.to_owned()),
        }
    }

    /// Where the kernel's schedulers are.
    fn tools(&self) -> PathBuf {
        self.out.join("source/tools/sched_ext")
    }

    /// The type information that they are built with.
    fn types(&self, arch: &str) -> PathBuf {
        self.cache
            .join(format!("kernels/{arch}/{KERNEL}/vmlinux.btf"))
    }
}

/// Debian's name of this machine.
fn this_machine() -> &'static str {
    match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "amd64",
    }
}

/// `[--check | --arm64]`
///
/// # Errors
/// They do not build or do not hold, or something cannot be had here.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let folder = match arguments {
        [] | ["--check"] => build(shop, Machine::X86)?,
        ["--arm64"] => build(shop, Machine::Arm64)?,
        _ => return Err(usage("expected --check, --arm64 or nothing")),
    };
    if arguments == ["--check"] {
        check(shop, &folder)?;
    }
    println!("{}", folder.display());
    Ok(())
}

/// Builds them where they are not there; for this machine, or for arm64. The folder of the
/// programs.
///
/// # Errors
/// They do not build, or something cannot be had here.
pub fn build(shop: &Shop, machine: Machine) -> Result<PathBuf> {
    let place = Place::of(shop);
    let own = this_machine();
    let apt = place.cache.join(format!("apt/{own}/apt.conf"));
    if !apt.exists() || !place.types(own).exists() {
        let what = format!("the lab's cache has no kernel {KERNEL}: run `wakeplace lab kernels`");
        return Err(missing(what));
    }
    let bin = place.out.join("bin");
    // bpftool, which runs here, is of the build for this machine.
    let has_arm64 = place.out.join("source/arch/arm64").exists();
    if !bin.join("scx_simple").exists() || (machine == Machine::Arm64 && !has_arm64) {
        fetch(shop, &place, &apt)?;
        build_here(shop, &place)?;
    }
    if machine == Machine::X86 {
        return Ok(bin);
    }
    let arm64 = place.out.join("arm64");
    if !arm64.join("scx_simple").exists() {
        build_arm64(shop, &place)?;
    }
    Ok(arm64)
}

/// Debian's source package, unpacked as far as it is needed.
fn fetch(shop: &Shop, place: &Place, apt: &Path) -> Result<()> {
    let package = format!("linux-source-{SERIES}");
    let (sh, scratch, source) = (&shop.sh, place.out.join("fetch"), place.out.join("source"));
    for folder in [&scratch, &source] {
        sh.remove_path(folder)?;
        sh.create_dir(folder)?;
    }
    eprintln!("{package}");
    {
        let _there = sh.push_dir(&scratch);
        call(cmd!(sh, "apt-get -qq download {package}").env("APT_CONFIG", apt))
            .map_err(|_| missing(format!("{package} cannot be fetched")))?;
    }
    const UNPACK: &str = "dpkg-deb --fsys-tarfile \"$1\"/*.deb | tar -xO ./usr/src/\"$2\".tar.xz | \
                          { to=$3; shift 3; tar -xJ -C \"$to\" --strip-components=1 \"$@\"; }";
    let parts = PARTS.iter().map(|part| format!("{package}/{part}"));
    call(
        cmd!(
            sh,
            "sh -c {UNPACK} unpack {scratch} {package} {source} {parts...}"
        )
        .quiet(),
    )?;
    Ok(sh.remove_path(&scratch)?)
}

/// One per processor.
fn jobs() -> String {
    std::thread::available_parallelism()
        .map_or(1, usize::from)
        .to_string()
}

/// By the kernel's own Makefile.
fn build_here(shop: &Shop, place: &Place) -> Result<()> {
    let (sh, tools, clang) = (&shop.sh, place.tools(), &place.clang);
    let (bin, log) = (place.out.join("bin"), place.out.join("log"));
    eprintln!("building with {clang}, its output is in {}", log.display());
    let jobs = jobs();
    let types = format!("VMLINUX_BTF={}", place.types(this_machine()).display());
    let make = cmd!(sh, "make -C {tools} -j {jobs} CLANG={clang} {types} all");
    quietly(make, &log).map_err(|error| missing(format!("they do not build: {error}")))?;
    let (built, objects) = (tools.join("build/bin"), tools.join("build/obj"));
    let cc = text_of("CC").unwrap_or("gcc".into());
    let object = objects.join("sched_ext/scx_simple.o");
    let library = objects.join("libbpf/libbpf.a");
    let to = built.join("scx_simple_static");
    let link = cmd!(
        sh,
        "{cc} -static -o {to} {object} {library} -lelf -lz -lpthread"
    );
    if quietly(link, &place.out.join("log-static")).is_err() {
        eprintln!("no static scx_simple");
    }
    sh.remove_path(&bin)?;
    call(cmd!(sh, "cp -r {built} {bin}").quiet())?;
    // The version that the programs to be checked depend on.
    let version = cmd!(sh, "{clang} -dumpversion").quiet().read()?;
    write(&place.out.join("clang"), version)
}

/// A compiler and its tools for arm64, by the names that the kernel's Makefiles call.
fn cross_tools(sysroot: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for tool in ["ar", "ld", "strip", "objcopy", "nm"] {
        let name = format!("aarch64-linux-gnu-{tool}");
        let link = folder.join(&name);
        drop(fs::remove_file(&link));
        symlink(
            find(&name).ok_or_else(|| missing(format!("no {name}")))?,
            link,
        )?;
    }
    let root = sysroot.display();
    let gcc = folder.join("aarch64-linux-gnu-gcc");
    let text = format!(
        "#!/bin/sh\ncase \" $* \" in *\" --shared \"*) static= ;; *) static=-static ;; esac\n\
         exec clang-19 --target=aarch64-linux-gnu $static -Wno-unused-command-line-argument \\\n\
         \x20   -L{root}/usr/lib/aarch64-linux-gnu \"$@\" \\\n\
         \x20   -isystem /usr/aarch64-linux-gnu/include -isystem {root}/usr/include\n"
    );
    write(&gcc, text)?;
    Ok(fs::set_permissions(
        &gcc,
        fs::Permissions::from_mode(0o755),
    )?)
}

/// The same with a cross compiler, static.
fn build_arm64(shop: &Shop, place: &Place) -> Result<()> {
    shop.setup(&["lab"])?;
    let (sh, tools, clang) = (&shop.sh, place.tools(), &place.clang);
    let (cross, out) = (place.out.join("cross"), place.out.join("arm64-build"));
    cross_tools(&debian::arm64_libraries(shop)?, &cross)?;
    sh.create_dir(&out)?;
    let log = place.out.join("log-arm64");
    eprintln!(
        "building for arm64 with {clang}, its output is in {}",
        log.display()
    );
    let path = format!(
        "{}:{}",
        cross.display(),
        text_of("PATH").unwrap_or_default()
    );
    let jobs = jobs();
    let make = cmd!(
        sh,
        "make -C {tools} -j {jobs} ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-"
    )
    .arg("CLANG_CROSS_FLAGS=--target=aarch64-linux-gnu")
    .arg(format!("O={}", out.display()))
    .arg(format!("CLANG={clang}"))
    .arg(format!(
        "BPFTOOL={}",
        tools.join("build/sbin/bpftool").display()
    ))
    .arg(format!("VMLINUX_BTF={}", place.types("arm64").display()))
    .arg("all")
    .env("PATH", path);
    quietly(make, &log).map_err(|error| missing(format!("they do not build: {error}")))?;
    let (built, to) = (out.join("build/bin"), place.out.join("arm64"));
    sh.remove_path(&to)?;
    call(cmd!(sh, "cp -r {built} {to}").quiet())
}

/// The line with the hash of what happened, or the last that was said.
fn outcome(shop: &Shop, program: &Path, scheduler: &Path, more: &[&str]) -> Result<String> {
    let output = cmd!(
        shop.sh,
        "{program} sim --quiet --platform hikey960 --duration 300ms"
    )
    .args([
        "--workload",
        "periodic:n=12,duty=20%",
        "--kernel",
        KERNEL,
        "--scheduler",
    ])
    .arg(scheduler)
    .args(more)
    .arg("--verify-determinism")
    .quiet()
    .ignore_status()
    .output()?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let identical = said.lines().find(|line| line.starts_with("identical"));
    Ok(identical
        .or(said.lines().last())
        .unwrap_or_default()
        .to_owned())
}

/// Each runs twice, and interpreted, with the same bytes.
fn check(shop: &Shop, folder: &Path) -> Result<()> {
    let program = shop.program()?;
    let version = read(&folder.with_file_name("clang")).unwrap_or_default();
    let major: u32 = version
        .split('.')
        .next()
        .and_then(|part| part.parse().ok())
        .unwrap_or(0);
    let mut of_simple = None;
    // scx_userland gives up; docs/guide/schedulers.md says why.
    for name in [
        "simple",
        "central",
        "flatcg",
        "sdt",
        "cpu0",
        "pair",
        "qmap",
        "simple_static",
    ] {
        let scheduler = folder.join(format!("scx_{name}"));
        if !scheduler.exists() || (name == "qmap" && major < 22) {
            continue;
        }
        let compiled = outcome(shop, &program, &scheduler, &[])?;
        println!("{name:<14} {compiled}");
        ensure!(compiled.starts_with("identical:"), "scx_{name}: {compiled}");
        let interpreted = outcome(shop, &program, &scheduler, &["--interpret"])?;
        ensure!(
            compiled == interpreted,
            "scx_{name}, interpreted: {interpreted}"
        );
        match name {
            "simple" => of_simple = Some(compiled),
            "simple_static" if of_simple != Some(compiled) => bail!("static and dynamic differ"),
            _ => {}
        }
    }
    Ok(())
}
