//! What the machine runs on, and what its user has asked it to favour: files of `/sys`, read anew
//! at every call (docs/guide/live.md, "Steer").
//!
//! What must stay: files only, read anew each time; None where the machine does not say. Free: how
//! files are read.
//!
//! Tests by part: `mains_go_before_batteries` (`power_source`), `the_profile_is_a_word`
//! (`platform_profile`).
//!
//! Callers: crates/scx/src/follow.rs.
//!
//! Tests: below

use crate::tree::Tree;
use std::path::Path;

/// Where the power comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerSource {
    /// A mains or USB supply is connected.
    Mains,
    /// No such supply is, and a battery discharges.
    Battery,
}

/// The source of power of the machine whose files are below `root`; None: nothing states it, as
/// on most desktop machines and servers.
#[must_use]
pub fn power_source(root: &Path) -> Option<PowerSource> {
    const FOLDER: &str = "sys/class/power_supply";
    let tree = Tree::new(root);
    let mut found = None;
    for name in tree.names(FOLDER).unwrap_or_default() {
        let read = |file: &str| tree.text(&format!("{FOLDER}/{name}/{file}")).ok();
        // A mouse has a battery, too.
        if read("scope").as_deref() == Some("Device") {
            continue;
        }
        match read("type").as_deref() {
            Some("Mains" | "USB") if read("online").as_deref() == Some("1") => {
                return Some(PowerSource::Mains);
            }
            Some("Battery") if read("status").as_deref() == Some("Discharging") => {
                found = Some(PowerSource::Battery);
            }
            _ => {}
        }
    }
    found
}

/// The platform profile in force, as firmware and user agreed: `low-power`, `balanced`, ... None:
/// the machine does not say.
#[must_use]
pub fn platform_profile(root: &Path) -> Option<String> {
    let tree = Tree::new(root);
    tree.text("sys/firmware/acpi/platform_profile").ok()
}

#[cfg(test)]
mod tests {
    use super::{PowerSource, platform_profile, power_source};
    use std::fs;
    use std::path::Path;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, format!("{text}\n")).expect("written");
    }

    #[test]
    fn mains_go_before_batteries() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        assert_eq!(power_source(root), None);
        let supply = |name: &str, file: &str, text: &str| {
            write(root, &format!("sys/class/power_supply/{name}/{file}"), text);
        };
        supply("mouse", "type", "Battery");
        supply("mouse", "scope", "Device");
        supply("mouse", "status", "Discharging");
        assert_eq!(power_source(root), None, "a mouse is not the machine");
        supply("BAT0", "type", "Battery");
        supply("BAT0", "status", "Discharging");
        supply("AC", "type", "Mains");
        supply("AC", "online", "0");
        assert_eq!(power_source(root), Some(PowerSource::Battery));
        supply("AC", "online", "1");
        assert_eq!(power_source(root), Some(PowerSource::Mains));
    }

    #[test]
    fn the_profile_is_a_word() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(platform_profile(folder.path()), None);
        write(
            folder.path(),
            "sys/firmware/acpi/platform_profile",
            "low-power",
        );
        assert_eq!(
            platform_profile(folder.path()).as_deref(),
            Some("low-power")
        );
    }
}
