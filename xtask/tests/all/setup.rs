//! `scripts/setup.sh` beside another installation: it waits, and says for whom.
//!
//! What must stay: the script waits for a held lock and says for whom; nothing of this system is
//! installed or changed.
//! Tests by part: `waits_for_a_held_lock` (scripts/setup.sh).
//! Helpers, and who fails with them: `programs` (`waits_for_a_held_lock`).
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use xtask::repo::Repo;

/// A folder of programs for PATH: what the script takes from a system, an `apt-get` that notes its
/// arguments, an `id` that says "root", and no browser.
fn programs(folder: &Path, noted: &Path) {
    for name in [
        "sh", "awk", "stat", "cat", "ls", "env", "sleep", "cut", "cc", "cargo",
    ] {
        let found = std::env::split_paths(&std::env::var_os("PATH").expect("a PATH"))
            .map(|part| part.join(name))
            .find(|path| path.exists())
            .unwrap_or_else(|| panic!("{name} is not in PATH"));
        symlink(found, folder.join(name)).expect("a link");
    }
    let apt = format!("#!/bin/sh\necho \"$*\" >>'{}'\n", noted.display());
    for (name, text) in [("apt-get", apt.as_str()), ("id", "#!/bin/sh\necho 0\n")] {
        let path = folder.join(name);
        fs::write(&path, text).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("rights");
    }
}

/// Goal: while somebody holds dpkg's lock nothing is installed and the script says who it is;
/// afterwards apt-get runs, told to wait as well.
#[test]
fn waits_for_a_held_lock() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let noted = at("noted");
    fs::create_dir(at("bin")).expect("a folder");
    programs(&at("bin"), &noted);
    let held = File::create(at("lock-frontend")).expect("a file");
    held.lock().expect("a lock");

    let mut child = Command::new(Repo::root().join("scripts/setup.sh"))
        .arg("browser")
        .env("PATH", at("bin"))
        .env("WAKEPLACE_DPKG_LOCK", at("lock-frontend"))
        .env("WAKEPLACE_LISTS_LOCK", at("lists-lock"))
        .stderr(Stdio::piped())
        .spawn()
        .expect("the script");
    let mut said = BufReader::new(child.stderr.take().expect("its stderr")).lines();
    let waits = said
        .by_ref()
        .map(|line| line.expect("text"))
        .find(|line| line.contains("waiting"))
        .expect("a line about the wait");
    let me = std::process::id();
    assert!(
        waits.contains(&format!("up to 600 s for process {me} "))
            && waits.contains("lock-frontend"),
        "{waits}"
    );
    assert!(!noted.exists(), "apt-get ran while the lock was held");

    held.unlock().expect("unlocked");
    assert!(child.wait().expect("an end").success());
    let noted = fs::read_to_string(noted).expect("what apt-get was called with");
    assert!(
        noted.contains("-o DPkg::Lock::Timeout=600 install -y"),
        "{noted}"
    );
}
