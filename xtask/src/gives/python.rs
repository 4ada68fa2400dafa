//! `cargo xtask python [arm64]`: builds the wheel for Python into dist/ and tests it beside the
//! program; for 64-bit Arm under emulation (qemu-user, Debian's Python) (docs/guide/python.md).
//!
//! Wheels run with glibc 2.17 and later (manylinux2014): zig links them, which has the symbols of
//! that version. PYTHON=python3.12: another interpreter. PYTEST='-k sweep': arguments of pytest.
//! PYTHON_PROFILE=dev: built quickly with this machine's own linker and glibc, for work on it.
//! WAKEPLACE=FILE: the program to compare with, of the same commit; else it is built.
//!
//! What must stay: the wheel's tag, and that the module gives the program's bytes. Free: how it is
//! done, and words that no test or script reads. Tests by part: `run`, `build`, `prepare`, `pip`,
//! `wheel`, `program`, `of_this_machine`, `of_arm64`, `pytest` have no test of their own: a wheel
//! that is wrong fails crates/python/tests.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`build`).
//!
//! Tests: none; it runs crates/python/tests, in nightly.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use xshell::cmd;

use super::debian;
use crate::shop::{Shop, missing, run as call, text_of, usage};

const BASELINE: &str = "manylinux2014";
/// Every package with its sum; scripts/python/README.md says how to take newer ones.
const PINNED: [&str; 3] = ["--require-hashes", "--only-binary=:all:", "--requirement"];
/// Debian 12's interpreter for arm64.
const ARM64_PYTHON: [&str; 19] = [
    "python3.11-minimal",
    "libpython3.11-minimal",
    "libpython3.11-stdlib",
    "libc6",
    "libgcc-s1",
    "libstdc++6",
    "libexpat1",
    "zlib1g",
    "libssl3",
    "libffi8",
    "libbz2-1.0",
    "liblzma5",
    "libsqlite3-0",
    "libuuid1",
    "libcrypt1",
    "libdb5.3",
    "libncursesw6",
    "libtinfo6",
    "libreadline8",
];

struct Python<'a> {
    shop: &'a Shop,
    profile: String,
    room: PathBuf,
}

/// Builds and tests.
///
/// # Errors
/// A test fails, or something cannot be had here.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let arm64 = match arguments {
        [] => false,
        ["arm64"] => true,
        _ => return Err(usage("expected arm64, or nothing for this machine")),
    };
    build(
        shop,
        &text_of("PYTHON_PROFILE").unwrap_or("release".into()),
        arm64,
    )
}

/// Builds in a profile and tests, for this machine or for 64-bit Arm.
///
/// # Errors
/// A test fails, or something cannot be had here.
pub fn build(shop: &Shop, profile: &str, arm64: bool) -> Result<()> {
    let python = Python {
        shop,
        profile: profile.to_owned(),
        room: shop.target.join("python"),
    };
    python.prepare()?;
    let wheel = if arm64 {
        python.of_arm64()?
    } else {
        python.of_this_machine()?
    };
    println!("{}", wheel.display());
    Ok(())
}

impl Python<'_> {
    /// An environment of its own with what building and testing need.
    fn prepare(&self) -> Result<()> {
        let (sh, room) = (&self.shop.sh, &self.room);
        self.shop.setup(&["python"])?;
        let python = text_of("PYTHON").unwrap_or("python3".into());
        const NEW_ENOUGH: &str = "import sys; sys.exit(sys.version_info < (3, 11))";
        let is_new = cmd!(sh, "{python} -c {NEW_ENOUGH}").quiet().ignore_stderr();
        is_new
            .run()
            .map_err(|_| missing(format!("PYTHON={python}: expected Python 3.11 or later")))?;
        if !room.join("bin/pip").exists() {
            call(cmd!(sh, "{python} -m venv --clear {room}"))?;
        }
        let own = PINNED.into_iter().chain(["scripts/python/all.txt"]);
        self.pip(own)
            .map_err(|_| missing("PyPI's packages cannot be installed"))?;
        let (interpreter, cache) = (room.join("bin/python"), self.shop.target.join("mypy"));
        call(
            cmd!(
                sh,
                "{interpreter} -m mypy --strict --ignore-missing-imports --cache-dir {cache}"
            )
            .arg("crates/python/python/wakeplace"),
        )
    }

    /// Into the environment of its own.
    fn pip<'s>(&self, arguments: impl IntoIterator<Item = &'s str>) -> Result<()> {
        let pip = self.room.join("bin/pip");
        call(
            cmd!(
                self.shop.sh,
                "{pip} install --quiet --disable-pip-version-check"
            )
            .args(arguments),
        )
    }

    /// Builds the wheel, whose name ends in `name`.
    fn wheel(&self, name: &str, more: &[&str]) -> Result<PathBuf> {
        let (sh, dist) = (&self.shop.sh, self.shop.root.join("dist"));
        sh.create_dir(&dist)?;
        let end = format!("{name}.whl");
        let wheels = || -> Result<Vec<PathBuf>> {
            let mut found = sh.read_dir(&dist)?;
            found.retain(|path| path.to_string_lossy().ends_with(&end));
            Ok(found)
        };
        for old in wheels()? {
            fs::remove_file(old)?;
        }
        // zig is among the tools, and maturin looks for it in PATH.
        let tools = self.room.join("bin");
        let path = format!(
            "{}:{}",
            tools.display(),
            text_of("PATH").unwrap_or_default()
        );
        let (maturin, interpreter, profile) =
            (tools.join("maturin"), tools.join("python"), &self.profile);
        call(
            cmd!(
                sh,
                "{maturin} build --locked --quiet --profile {profile} --out {dist}"
            )
            .args([
                "--manifest-path",
                "crates/python/Cargo.toml",
                "--interpreter",
            ])
            .arg(interpreter)
            .args(more)
            .env("PATH", path),
        )?;
        wheels()?.pop().context("maturin built no wheel")
    }

    /// The program that the module is compared with.
    fn program(&self) -> Result<PathBuf> {
        match text_of("WAKEPLACE") {
            Some(program) => Ok(self.shop.root.join(program)),
            None => self.shop.build(&self.profile),
        }
    }

    /// The wheel for this machine.
    fn of_this_machine(&self) -> Result<PathBuf> {
        let sh = &self.shop.sh;
        let machine = std::env::consts::ARCH;
        let target = format!("{machine}-unknown-linux-gnu");
        let how = match self.profile.as_str() {
            "dev" => vec!["--compatibility", "linux"],
            _ => vec!["--target", &target, "--zig", "--compatibility", BASELINE],
        };
        let built = self.wheel(&format!("_{machine}"), &how)?;
        self.pip(["--force-reinstall", "--no-deps", &built.to_string_lossy()])?;
        let python = self.room.join("bin/python");
        // What hangs says where after five minutes.
        let test = cmd!(
            sh,
            "{python} -m pytest -o faulthandler_timeout=300 crates/python/tests"
        );
        call(test.args(pytest()).env("WAKEPLACE", self.program()?))?;
        Ok(built)
    }

    /// What needs a second process of the interpreter, or a package with programs of its own, is
    /// left to the other machine: executors, Dask, notebooks. So is how soon Ctrl-C is heard.
    fn of_arm64(&self) -> Result<PathBuf> {
        let (shop, sh) = (self.shop, &self.shop.sh);
        shop.setup(&["emulator"])?;
        let target = "aarch64-unknown-linux-gnu";
        let sysroot = cmd!(sh, "rustc --print sysroot").quiet().read()?;
        if !PathBuf::from(sysroot)
            .join("lib/rustlib")
            .join(target)
            .join("lib")
            .is_dir()
        {
            call(cmd!(sh, "rustup target add {target}"))
                .map_err(|_| missing(format!("no Rust library for {target}")))?;
        }
        let how = ["--target", target, "--zig", "--compatibility", BASELINE];
        let built = self.wheel("_aarch64", &how)?;
        let place = shop.target.join("python-arm64");
        let (root, site) = (place.join("root"), place.join("site"));
        let python = root.join("usr/bin/python3.11");
        if !python.exists() {
            debian::unpack(shop, "arm64", &["bookworm"], &ARM64_PYTHON, &root)?;
        }
        let mut common = vec![
            "--only-binary=:all:".to_owned(),
            "--python-version=3.11".to_owned(),
        ];
        common.push(format!("--target={}", site.display()));
        for version in ["_2_17", "_2_24", "_2_26", "_2_27", "_2_28", "2014"] {
            common.push(format!("--platform=manylinux{version}_aarch64"));
        }
        let common: Vec<&str> = common.iter().map(String::as_str).collect();
        if !site.join("pyarrow").exists() {
            let pinned = PINNED.into_iter().chain(["scripts/python/arm64.txt"]);
            self.pip(common.iter().copied().chain(pinned))?;
        }
        let file = built.to_string_lossy();
        self.pip(common.into_iter().chain(["--upgrade", "--no-deps", &file]))?;
        let test = cmd!(
            sh,
            "qemu-aarch64 -L {root} {python} -m pytest -p no:cacheprovider"
        )
        .args(["crates/python/tests/test_results.py", "-k", "not ctrl_c"])
        .args(pytest())
        .env("WAKEPLACE", self.program()?)
        .env("PYTHONPATH", &site)
        .env("PYTHONDONTWRITEBYTECODE", "1");
        call(test)?;
        Ok(built)
    }
}

/// What the caller wants of pytest, one word for each blank-separated one.
fn pytest() -> Vec<String> {
    let words = text_of("PYTEST").unwrap_or_default();
    words.split_whitespace().map(str::to_owned).collect()
}
