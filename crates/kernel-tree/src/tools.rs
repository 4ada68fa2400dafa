//! The programs that a kernel is built with (docs/guide/kernel.md, "What it needs").
//!
//! What must stay: all that is missing is said at once. The compiler's line is part of an object's
//! key. Free: words of refusals; further programs.
//!
//! Tests by part: `an_old_gcc_is_told_from_a_new_one` (`too_old`),
//! crates/cli/tests/all/kernel.rs::`missing_tools_are_named` (`check`, `missing`, `require`).
//! `compiler` and `compiler_version` have no test of their own.
//!
//! Callers: compile.rs and kept.rs (`require`), builds.rs (`compiler_version`),
//! crates/cli/src/commands/doctor.rs and kernel.rs (`check`).
//!
//! Tests: below

use crate::TreeError;
use std::env;
use std::ffi::OsString;
use wakeplace_archive::program::{self, output};
use wakeplace_host::{Check, NeededFor, missing_or_ok};

/// What to do about missing ones.
pub(crate) const REMEDY: &str = "install them (Debian: apt-get install gcc make flex bison bc \
                                 xz-utils binutils), or run `scripts/setup.sh kernel` in the \
                                 source tree";
/// Names that all Unix systems have for them.
const TOOLS: [&str; 10] = [
    "bash", "make", "ld", "nm", "objcopy", "readelf", "flex", "bison", "bc", "xz",
];
/// Older compilers refuse options of newer trees.
const MIN_GCC: u32 = 12;

/// The C compiler: `CC`, else `gcc`.
pub(crate) fn compiler() -> OsString {
    let named = env::var_os("CC").filter(|name| !name.is_empty());
    named.unwrap_or_else(|| "gcc".into())
}

/// The compiler as it describes itself, on one line. None: it cannot be asked.
pub(crate) fn compiler_version() -> Option<String> {
    let said = output(std::process::Command::new(compiler()).arg("--version")).ok()?;
    let said = String::from_utf8_lossy(&said);
    Some(said.lines().next()?.trim().to_owned())
}

/// Fails with the names of what is missing.
pub(crate) fn require() -> Result<(), TreeError> {
    let missing = missing();
    if missing.is_empty() {
        return Ok(());
    }
    let verb = if missing.len() == 1 { "is" } else { "are" };
    Err(TreeError::Tools {
        missing: format!("{} {verb}", missing.join(", ")),
    })
}

/// What of the programs is not here.
fn missing() -> Vec<String> {
    let tools = program::missing(&TOOLS).into_iter();
    let mut missing: Vec<String> = tools.map(str::to_owned).collect();
    match compiler_version() {
        None => {
            let name = compiler().to_string_lossy().into_owned();
            missing.insert(0, name);
        }
        Some(version) => {
            if let Some(old) = too_old(&version) {
                missing.insert(0, format!("gcc {MIN_GCC} or later (here: {old})"));
            }
        }
    }
    missing
}

/// The number of a gcc that is too old; other compilers are taken at their word. None: it is new
/// enough.
fn too_old(version: &str) -> Option<String> {
    if !version.contains("gcc") && !version.contains("GCC") {
        return None;
    }
    let mut numbers = version.split_whitespace().rev();
    let number = numbers.find(|word| word.contains('.') && word.starts_with(char::is_numeric))?;
    let major: u32 = number.split('.').next()?.parse().ok()?;
    (major < MIN_GCC).then(|| number.to_owned())
}

/// For `doctor`: whether kernels can be built on this machine.
#[must_use]
pub fn check() -> Check {
    let missing = missing();
    let found = match missing.is_empty() {
        true => compiler_version().unwrap_or_default(),
        false => format!("not here: {}", missing.join(", ")),
    };
    let (home, lacks) = (NeededFor::KernelTrees, !missing.is_empty());
    missing_or_ok("kernel-tools", home, true, lacks, found, REMEDY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_gcc_is_told_from_a_new_one() {
        let old = "gcc (Debian 10.2.1-6) 10.2.1 20210110";
        assert_eq!(too_old(old).as_deref(), Some("10.2.1"));
        assert_eq!(too_old("gcc (Debian 12.2.0-14+deb12u1) 12.2.0"), None);
        assert_eq!(too_old("gcc-14 (GCC) 14.1.0"), None);
        assert_eq!(too_old("Debian clang version 11.0.1-2"), None);
    }
}
