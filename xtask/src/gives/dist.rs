//! `cargo xtask dist [MACHINE...]`: all that can be given away, into dist/ (DIST=FOLDER: elsewhere)
//! (ARCHITECTURE.md, "The workshop").
//!
//! - wakeplace-VERSION-MACHINE-linux.tar.gz: programs, static and stripped; manual and completions
//! - wakeplace-VERSION-MACHINE-linux-debug.tar.gz: what a debugger reads of them
//! - `wakeplace_*.deb`, `scx-wakeplace_*.deb`
//! - crates/*.crate: sources, as cargo packages them
//! - *.cdx.json: what each program is made of (CycloneDX)
//! - SHA256SUMS
//!
//! Same sources and tools give the same bytes in any folder: paths are cut off, times are the
//! commit's.
//!
//! What must stay: names of what is given away, and equal bytes from equal sources (`dist-again`).
//! Free: how it is done, and words that no test or script reads. Tests by part: `folder`, `run`,
//! `built`, `clear`, `share`, `split_debug`, `archives`, `packages`, `bill_of_materials`,
//! `sources`, `sums`, `package`, `again` have no test of their own: nightly builds, compares and
//! installs what they make.
//!
//! Callers: commands.rs (`again`, `run`), checks/list.rs (`again`, `package`, `run`), live/unit.rs
//! (`folder`).
//!
//! Tests: none; nightly builds all of it twice, compares the bytes and installs the packages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xshell::cmd;

use super::programs::{self, Kind, MACHINES, Machine};
use super::release;
use crate::repo::Repo;
use crate::shop::{Shop, read, run as call, sha256, text_of, write};

const PROGRAMS: [&str; 3] = ["wakeplace", "wakeplace-bpf-load", "scx_wakeplace"];

struct Dist<'a> {
    shop: &'a Shop,
    to: PathBuf,
    /// Where parts are put together.
    work: PathBuf,
    version: String,
}

/// Where it all goes.
#[must_use]
pub fn folder(shop: &Shop) -> PathBuf {
    shop.root.join(text_of("DIST").unwrap_or("dist".into()))
}

/// Makes it.
///
/// # Errors
/// Something does not build or cannot be had here.
pub fn run(shop: &Shop, names: &[&str]) -> Result<()> {
    let mut machines = Vec::new();
    for name in names {
        machines.push(Machine::named(name)?);
    }
    if machines.is_empty() {
        machines.extend(MACHINES);
    }
    let sh = &shop.sh;
    let epoch = cmd!(sh, "git log -1 --format=%ct").quiet().read()?;
    for (name, value) in [
        ("SOURCE_DATE_EPOCH", epoch.as_str()),
        ("LC_ALL", "C"),
        ("TZ", "UTC"),
    ] {
        sh.set_var(name, value);
    }
    let dist = Dist {
        shop,
        to: folder(shop),
        work: shop.target.join("dist-files"),
        version: release::version(&Repo::load(&shop.root)?)?,
    };
    let deb = shop.tool("cargo-deb", "3.8.0", &[])?;
    let cyclonedx = shop.tool("cargo-cyclonedx", "0.5.9", &[])?;
    dist.clear()?;
    // The machine's own programs write the manual and the completions for both.
    programs::make(shop, Kind::Dist, &[Machine::X86])?;
    dist.share()?;
    for machine in machines {
        if machine != Machine::X86 {
            programs::make(shop, Kind::Dist, &[machine])?;
        }
        dist.split_debug(machine)?;
        dist.archives(machine, &epoch)?;
        dist.packages(machine, &deb)?;
    }
    dist.bill_of_materials(&cyclonedx)?;
    dist.sources()?;
    dist.sums()
}

impl Dist<'_> {
    /// Where a machine's programs are.
    fn built(&self, machine: Machine) -> PathBuf {
        self.shop
            .target
            .join(format!("lab/dist-{}", machine.name()))
    }

    /// Removes what an earlier run left.
    fn clear(&self) -> Result<()> {
        let sh = &self.shop.sh;
        sh.remove_path(&self.work)?;
        sh.create_dir(&self.work)?;
        sh.create_dir(&self.to)?;
        for path in sh.read_dir(&self.to)? {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let ours = [".tar.gz", ".deb", ".cdx.json"]
                .iter()
                .any(|end| name.ends_with(end));
            if ours || name == "SHA256SUMS" {
                sh.remove_path(path)?;
            }
        }
        Ok(())
    }

    /// Manual and completions, made by the programs themselves.
    fn share(&self) -> Result<()> {
        let (sh, from, to) = (
            &self.shop.sh,
            self.built(Machine::X86),
            self.work.join("share"),
        );
        let man = to.join("man/man1");
        sh.create_dir(&man)?;
        for name in ["wakeplace", "scx_wakeplace"] {
            let program = from.join(name);
            call(cmd!(sh, "{program} man {man}").quiet())?;
            let zsh = format!("_{name}");
            let fish = format!("{name}.fish");
            for (shell, file) in [("bash", name), ("zsh", &zsh), ("fish", &fish)] {
                let text = cmd!(sh, "{program} completions {shell}")
                    .quiet()
                    .output()?
                    .stdout;
                write(&to.join(shell).join(file), text)?;
            }
        }
        let pages = sh.read_dir(&man)?;
        call(cmd!(sh, "gzip -n9 {pages...}").quiet())
    }

    /// Programs without symbols, and beside them what a debugger reads.
    fn split_debug(&self, machine: Machine) -> Result<()> {
        let sh = &self.shop.sh;
        let (objcopy, to) = (machine.tool("objcopy"), self.work.join(machine.name()));
        sh.create_dir(&to)?;
        for name in PROGRAMS {
            let (from, debug) = (self.built(machine).join(name), format!("{name}.debug"));
            let _there = sh.push_dir(&to);
            call(cmd!(sh, "{objcopy} --only-keep-debug {from} {debug}").quiet())?;
            call(cmd!(sh, "{objcopy} --strip-all {from} {name}").quiet())?;
            let link = format!("--add-gnu-debuglink={debug}");
            call(cmd!(sh, "{objcopy} {link} {name}").quiet())?;
        }
        Ok(())
    }

    /// One to unpack anywhere, one for debuggers.
    fn archives(&self, machine: Machine, epoch: &str) -> Result<()> {
        let sh = &self.shop.sh;
        let name = format!("wakeplace-{}-{}-linux", self.version, machine.name());
        let debug = format!("{name}-debug");
        let from = self.work.join(machine.name());
        let place = self.work.join(format!("tree-{}", machine.name()));
        let tree = place.join(&name);
        for folder in [tree.join("bin"), place.join(&debug)] {
            sh.create_dir(folder)?;
        }
        for program in PROGRAMS {
            sh.copy_file(from.join(program), tree.join("bin").join(program))?;
            let file = format!("{program}.debug");
            sh.copy_file(from.join(&file), place.join(&debug).join(&file))?;
        }
        let share = self.work.join("share");
        call(cmd!(sh, "cp -r {share} {tree}").quiet())?;
        let own = [
            "LICENSE",
            "LICENSES",
            "README.md",
            "CHANGELOG.md",
            "packaging",
        ];
        call(cmd!(sh, "cp -r {own...} {tree}").quiet())?;
        // The same bytes whenever it is made.
        const PACK: &str = "tar -C \"$1\" --sort=name --mtime=\"@$2\" --owner=0 --group=0 \
                            --numeric-owner --mode=u=rwX,go=rX -c \"$0\" | gzip -n9 >\"$3\"";
        for name in [&name, &debug] {
            let to = self.to.join(format!("{name}.tar.gz"));
            call(cmd!(sh, "sh -c {PACK} {name} {place} {epoch} {to}").quiet())?;
        }
        Ok(())
    }

    /// Debian's. cargo-deb finds what goes in at one place for all machines.
    fn packages(&self, machine: Machine, deb: &Path) -> Result<()> {
        let sh = &self.shop.sh;
        let files = self.shop.root.join("target/dist-files/deb");
        sh.remove_path(&files)?;
        sh.create_dir(&files)?;
        for program in PROGRAMS {
            sh.copy_file(
                self.work.join(machine.name()).join(program),
                files.join(program),
            )?;
        }
        let share = self.work.join("share");
        call(cmd!(sh, "cp -r {share} {files}").quiet())?;
        // A package's programs are in /usr/bin, those of an administrator in /usr/local/bin.
        let service = read(&self.shop.root.join("packaging/scx_wakeplace.service"))?;
        let service = service.replace("/usr/local/bin/", "/usr/bin/");
        write(&files.join("scx_wakeplace.service"), service)?;
        let (triple, to) = (machine.triple(), &self.to);
        for package in ["wakeplace-cli", "wakeplace-scx"] {
            let build = cmd!(
                sh,
                "{deb} --quiet --no-build --no-strip --package {package}"
            );
            call(build.args(["--target", triple, "--output"]).arg(to))?;
        }
        Ok(())
    }

    /// What each program is made of.
    fn bill_of_materials(&self, cyclonedx: &Path) -> Result<()> {
        let (sh, root) = (&self.shop.sh, &self.shop.root);
        for (package, program) in [("cli", "wakeplace"), ("scx", "scx_wakeplace")] {
            let name = format!("{program}-{}", self.version);
            let manifest = format!("crates/{package}/Cargo.toml");
            call(
                cmd!(
                    sh,
                    "{cyclonedx} cyclonedx --manifest-path {manifest} --format json --quiet"
                )
                .args(["--override-filename", &name]),
            )?;
            let file = format!("{name}.json");
            let text = read(&root.join("crates").join(package).join(&file))?;
            // Its references to crates of ours begin with the folder they were built in.
            let text = text.replace(&format!("path+file://{}", root.display()), "path+file://.");
            write(&self.to.join(format!("{name}.cdx.json")), text)?;
            call(cmd!(sh, "find crates xtask fuzz -name {file} -delete").quiet())?;
        }
        Ok(())
    }

    /// Each crate as its registry would have it. That they build from these files is in nightly.
    fn sources(&self) -> Result<()> {
        let (sh, to) = (&self.shop.sh, self.to.join("crates"));
        let packed = self.shop.target.join("package");
        sh.remove_path(&to)?;
        sh.remove_path(&packed)?;
        call(package(self.shop).args(["--quiet", "--no-verify"]))?;
        sh.create_dir(&to)?;
        for path in sh.read_dir(&packed)? {
            if path.extension().is_some_and(|end| end == "crate") {
                sh.copy_file(&path, &to)?;
            }
        }
        Ok(())
    }

    /// SHA256SUMS of all that is given away.
    fn sums(&self) -> Result<()> {
        let mut names = Vec::new();
        for (folder, prefix) in [(self.to.clone(), "./"), (self.to.join("crates"), "crates/")] {
            for path in self.shop.sh.read_dir(&folder)? {
                let name = path
                    .file_name()
                    .context("a name")?
                    .to_string_lossy()
                    .into_owned();
                let ours = [".tar.gz", ".deb", ".cdx.json", ".crate"];
                if path.is_file() && ours.iter().any(|end| name.ends_with(end)) {
                    names.push((format!("{prefix}{name}"), path));
                }
            }
        }
        names.sort();
        let mut text = String::new();
        for (name, path) in names {
            text += &format!("{}  {name}\n", sha256(&fs::read(path)?, 64));
        }
        print!("{text}");
        write(&self.to.join("SHA256SUMS"), text)
    }
}

/// `cargo package` of all crates that are given away.
pub fn package(shop: &Shop) -> xshell::Cmd<'_> {
    let left_out = [
        "wakeplace-python",
        "wakeplace-wasm",
        "wakeplace-fuzz",
        "wakeplace-fidelity",
        "xtask",
    ];
    let left_out = left_out.iter().flat_map(|name| ["--exclude", name]);
    cmd!(shop.sh, "cargo package --locked --workspace {left_out...}")
}

/// `cargo xtask dist-again`: builds everything for x86-64 once more, from a clone in another
/// folder, and compares the sums.
///
/// # Errors
/// A sum differs, or `make dist` has not been run.
pub fn again(shop: &Shop) -> Result<()> {
    let mine = read(&folder(shop).join("SHA256SUMS"))?;
    let work = shop.scratch()?;
    let (sh, clone, to) = (
        &shop.sh,
        work.path().join("elsewhere"),
        work.path().join("dist"),
    );
    call(cmd!(sh, "git clone --quiet . {clone}"))?;
    sh.create_dir(clone.join("target"))?;
    std::os::unix::fs::symlink(shop.root.join("target/tools"), clone.join("target/tools"))?;
    let _there = sh.push_dir(&clone);
    call(
        cmd!(sh, "cargo xtask dist x86_64")
            .env("DIST", &to)
            .env_remove("CARGO_TARGET_DIR"),
    )?;
    let other = read(&to.join("SHA256SUMS"))?;
    let of_x86 = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|line| !line.contains("arm64"))
            .map(str::to_owned)
            .collect()
    };
    let (mine, other) = (of_x86(&mine), of_x86(&other));
    for line in mine.iter().filter(|line| !other.contains(line)) {
        println!("otherwise: {line}");
    }
    anyhow::ensure!(mine == other, "the bytes differ in another folder");
    println!("the same bytes in another folder");
    Ok(())
}
