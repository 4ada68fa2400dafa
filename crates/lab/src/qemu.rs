//! The emulator: the machine's own if it is new enough, else one fetched into the cache and started
//! through the loader it came with, so that it needs nothing of the host's libraries
//! (docs/guide/lab.md).
//!
//! What must stay: the oldest version that is taken, since the command line relies on it. Free:
//! where it is fetched from.
//!
//! Tests by part: `versions_are_read_and_compared` (`parse_version`),
//! `a_fetched_emulator_is_started_by_its_own_loader` (`fetched`, `command`),
//! `a_program_that_is_not_there_is_not_found` (`of_machine`, `version`), guest/tests.rs (`script`),
//! crates/cli/tests/all/doctor.rs::`what_is_kept_is_found_and_nothing_is_made` (`found`).
//! `get` and `guard` have no test of their own: each boot runs them (crates/lab/tests/boot.rs).
//!
//! Callers: run.rs (`get`), guest.rs (`command`), doctor.rs (`found`).
//!
//! Tests: below, crates/cli/tests/all/doctor.rs

use crate::{Arch, Cache, LabError, Watch, apt};
use std::path::{Path, PathBuf};
use std::process::Command;
use wakeplace_archive::apt::read_record;
use wakeplace_archive::program::output;

/// Older emulators are not used. In 7.2 on x86-64 a CPU can run on in the middle of an instruction
/// that another one is replacing (the kernel's `text_poke`): guests with 16 CPUs died in 4 of 9
/// boots, and in none of 8 with 10.0. With `-icount` a CPU keeps the turn up to the next deadline
/// there, so that jobs of 0.8 ms took 1.2 ms on average; with 10.0 they take 2 to 7 % more.
const MIN_VERSION: (u32, u32) = (10, 0);

/// How the emulator is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Qemu {
    program: PathBuf,
    /// Arguments in front of all others.
    prefix: Vec<std::ffi::OsString>,
    /// Where its parts that are loaded on demand are: those of another build on the host stop it.
    modules: Option<PathBuf>,
    /// It ends with this program, even if that is killed.
    guarded: bool,
    /// What it is, for people.
    pub(crate) version: String,
}

impl Qemu {
    /// Finds or fetches the emulator for guests of an architecture.
    ///
    /// # Errors
    /// When there is none here and none can be fetched.
    pub(crate) fn get(cache: &Cache, arch: Arch, watch: &dyn Watch) -> Result<Self, LabError> {
        let (name, package) = arch.qemu();
        let guarded = output(guard().arg("true")).is_ok();
        if let Some(own) = of_machine(name) {
            return Ok(Self { guarded, ..own });
        }
        let host = Arch::host()?;
        let closure = apt(cache, host)?.closure(&[package], watch)?;
        let fetched = fetched(&closure.root, host, name);
        let version = version(&fetched)?;
        Ok(Self {
            version,
            guarded,
            ..fetched
        })
    }

    /// A script in the emulator's place.
    #[cfg(test)]
    pub(crate) fn script(path: &Path) -> Self {
        Self {
            program: "sh".into(),
            prefix: vec![path.into()],
            modules: None,
            guarded: false,
            version: String::new(),
        }
    }

    /// A command that starts it.
    pub(crate) fn command(&self) -> Command {
        let mut command = match self.guarded {
            true => guard(),
            false => Command::new(&self.program),
        };
        if self.guarded {
            command.arg(&self.program);
        }
        command.args(&self.prefix);
        if let Some(modules) = &self.modules {
            command.env("QEMU_MODULE_DIR", modules);
        }
        command
    }
}

/// The emulator that a run would have without fetching anything, as it describes itself. None: it
/// would be fetched.
pub(crate) fn found(cache: Option<&Cache>, arch: Arch) -> Option<String> {
    let (name, package) = arch.qemu();
    if let Some(own) = of_machine(name) {
        return Some(own.version);
    }
    let host = Arch::host().ok()?;
    let kept = read_record(&cache?.closure(host.debian(), &[package]))?;
    version(&fetched(&kept.root, host, name)).ok()
}

/// What ends the emulator if this program is killed: util-linux's setpriv, where there is one.
fn guard() -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]);
    command
}

/// The emulator in the machine's search path, if it can be used.
fn of_machine(name: &str) -> Option<Qemu> {
    let mut own = Qemu {
        program: name.into(),
        prefix: Vec::new(),
        modules: None,
        guarded: false,
        version: String::new(),
    };
    own.version = version(&own).ok()?;
    (parse_version(&own.version)? >= MIN_VERSION).then_some(own)
}

/// The emulator in an extracted closure.
fn fetched(root: &Path, host: Arch, name: &str) -> Qemu {
    let loader = match host {
        Arch::X86_64 => "usr/lib64/ld-linux-x86-64.so.2",
        Arch::Arm64 => "usr/lib/ld-linux-aarch64.so.1",
    };
    let libraries = root.join("usr/lib").join(host.triplet());
    let mut prefix: Vec<std::ffi::OsString> =
        vec!["--library-path".into(), libraries.clone().into()];
    prefix.push(root.join("usr/bin").join(name).into());
    for firmware in ["usr/share/qemu", "usr/share/seabios"] {
        prefix.extend(["-L".into(), root.join(firmware).into()]);
    }
    Qemu {
        program: root.join(loader),
        modules: Some(libraries.join("qemu")),
        guarded: false,
        prefix,
        version: String::new(),
    }
}

/// The first line of what `--version` says.
fn version(qemu: &Qemu) -> Result<String, LabError> {
    let said = output(qemu.command().arg("--version"))?;
    let said = String::from_utf8_lossy(&said);
    Ok(said.lines().next().unwrap_or_default().to_owned())
}

/// `QEMU emulator version 10.0.13 (Debian ...)`. None: it is of another form.
fn parse_version(said: &str) -> Option<(u32, u32)> {
    let (_, rest) = said.split_once("version ")?;
    let mut numbers = rest.split(['.', ' ']).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared() {
        let read = parse_version;
        assert_eq!(
            read("QEMU emulator version 10.0.13 (Debian 1:10.0.13+ds)"),
            Some((10, 0))
        );
        assert_eq!(read("QEMU emulator version 7.2.17"), Some((7, 2)));
        assert_eq!(read("something else"), None);
        assert!(read("QEMU emulator version 7.2.22") < Some(MIN_VERSION));
    }

    #[test]
    fn a_fetched_emulator_is_started_by_its_own_loader() {
        let qemu = fetched(Path::new("/c"), Arch::X86_64, "qemu-system-aarch64");
        assert_eq!(qemu.program, Path::new("/c/usr/lib64/ld-linux-x86-64.so.2"));
        let words: Vec<_> = qemu
            .prefix
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        assert_eq!(
            words.join(" "),
            "--library-path /c/usr/lib/x86_64-linux-gnu /c/usr/bin/qemu-system-aarch64 \
             -L /c/usr/share/qemu -L /c/usr/share/seabios"
        );
    }

    #[test]
    fn a_program_that_is_not_there_is_not_found() {
        assert_eq!(of_machine("qemu-system-of-nobody"), None);
    }
}
