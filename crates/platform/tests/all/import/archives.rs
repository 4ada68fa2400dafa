//! Where the tree is in an archive or folder, archives that are none of a machine, and files that
//! are given in place of one.
//! Page: docs/guide/import.md, "How a tree is read".
//!
//! What must stay: nothing outside of the archive is read; an archive without an end ends in a
//! message.
//! Tests by part (in crates/platform/src): import/mod.rs: `a_tree_below_one_folder`,
//! `a_nul_at_the_end_of_a_file` (`import`); sysfs/tar.rs: `two_machines_and_names_that_lead_out`
//! (names), `a_packed_archive_that_never_ends` (`MAX_READ_BYTES`), `links_are_left_out` (links);
//! given.rs: `other_descriptions_of_machines` (`is`, `instead`); sysfs/tar.rs:
//! `a_file_below_one_folder_has_its_whole_path_in_messages`.
//! Helpers, and who fails with them: `given` (all tests); `refused` (most tests); `packed`
//! (`a_tree_below_one_folder`).

use super::tree_files::Files;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use wakeplace_platform::import::{ImportError, Imported, Source, import};

/// A file of these bytes, imported as a tree.
fn given(name: &str, bytes: &[u8]) -> (tempfile::TempDir, Result<Imported, ImportError>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, bytes).expect("written");
    let imported = import(Source::Tree(&path), None, None);
    (folder, imported)
}

fn refused(bytes: &[u8]) -> String {
    let (_folder, imported) = given("x.tar", bytes);
    let message = imported.expect_err("refused").to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut into = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    into.write_all(bytes).expect("memory");
    into.finish().expect("memory")
}

/// Goal: what `tar cf pc.tar pc` and hwloc-gather-topology make is read, from whatever depth, and
/// packed with gzip, too.
#[test]
fn a_tree_below_one_folder() {
    let files = Files::named("hikey960.tree");
    let (_folder, root) = files.folder("x");
    let expected = import(Source::Tree(&root), None, None)
        .expect("a machine")
        .platform;
    for lead in ["", "./", "pc/", "./pc/", "tmp/dump.x/pc/"] {
        for bytes in [files.tar(lead), packed(&files.tar(lead))] {
            let (_folder, imported) = given("x", &bytes);
            let imported = imported.unwrap_or_else(|error| panic!("{lead}: {error}"));
            assert_eq!(imported.platform, expected, "{lead}");
        }
    }
    // A folder with one such folder in it, as the archive unpacks.
    let outer = tempfile::tempdir().expect("a folder");
    files.write(&outer.path().join("x/pc"));
    let path = outer.path().join("x");
    let imported = import(Source::Tree(&path), None, None).expect("a machine");
    assert_eq!(imported.platform, expected);
}

/// Goal: a wrong value is named by its place in the archive.
#[test]
fn a_file_below_one_folder_has_its_whole_path_in_messages() {
    let mut files = Files::named("hikey960.tree");
    files.put("cpu0/cpu_capacity", "lots");
    let message = refused(&files.tar("pc/"));
    let path = "x.tar/pc/sys/devices/system/cpu/cpu0/cpu_capacity: `lots`";
    assert!(message.contains(path), "{message}");
}

#[test]
fn two_machines_and_names_that_lead_out() {
    let one = Files::named("hikey960.tree");
    let mut both = Files::default();
    for (path, text) in &one.0 {
        for lead in ["a", "b"] {
            both.0.insert(format!("{lead}/{path}"), text.clone());
        }
    }
    let message = refused(&both.tar(""));
    assert!(
        message.contains("`sys` in several folders: `a`, `b`"),
        "{message}"
    );
    let outer = tempfile::tempdir().expect("a folder");
    both.write(&outer.path().join("x"));
    let path: PathBuf = outer.path().join("x");
    let error = import(Source::Tree(&path), None, None)
        .expect_err("two")
        .to_string();
    assert!(
        error.contains("`sys` in several folders: `a`, `b`"),
        "{error}"
    );
    for lead in ["/", "../", "pc/../"] {
        let message = refused(&one.tar(lead));
        assert!(
            message.contains("a name that leads out of it"),
            "{lead}: {message}"
        );
    }
}

/// Goal: an archive that stands for more bytes than any machine has ends in a message, soon: here
/// 1 GiB, 1 MiB packed.
#[test]
fn a_packed_archive_that_never_ends() {
    let mut header = tar::Header::new_gnu();
    header.set_path("pc/big").expect("a name");
    header.set_size(1 << 30);
    header.set_cksum();
    let mut into = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    into.write_all(header.as_bytes()).expect("memory");
    let zeros = vec![0; 1 << 20];
    (0..1024).for_each(|_| into.write_all(&zeros).expect("memory"));
    let bytes = into.finish().expect("memory");
    let message = refused(&bytes);
    assert!(
        message.contains("it has more than 536870912 bytes"),
        "{message}"
    );
}

/// A link in an archive is left out wherever it leads: nothing of this machine is read.
#[test]
fn links_are_left_out() {
    let mut files = Files::named("hikey960.tree");
    files
        .0
        .retain(|path, _| path != "sys/devices/system/cpu/possible");
    let mut archive = tar::Builder::new(Vec::new());
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    let to = "/sys/devices/system/cpu/possible";
    archive
        .append_link(&mut link, "sys/devices/system/cpu/possible", to)
        .expect("a link");
    let mut bytes = archive.into_inner().expect("an archive");
    bytes.truncate(bytes.len() - 1024);
    bytes.extend(files.tar(""));
    let message = refused(&bytes);
    assert!(message.contains("possible: no such file"), "{message}");
}

/// A NUL at the end of a file, as a 128-CPU arm64 server had it in node0/cpulist, is no part of it;
/// one within is shown in a form that harms no terminal.
#[test]
fn a_nul_at_the_end_of_a_file() {
    let mut files = Files::named("ivb-ep-2s.tree");
    let (_folder, path) = files.archive("x");
    let expected = import(Source::Tree(&path), None, None)
        .expect("a machine")
        .platform;
    for path in [
        "node0/cpulist",
        "node1/distance",
        "sys/devices/system/cpu/online",
    ] {
        let key = files
            .0
            .keys()
            .find(|own| own.ends_with(path))
            .expect(path)
            .clone();
        let text = files.0[&key].clone();
        files.0.insert(key, format!("{text}\n\0"));
    }
    let (_folder, path) = files.archive("x");
    let imported = import(Source::Tree(&path), None, None).expect("a machine");
    assert_eq!(imported.platform, expected);
    files.put("sys/devices/system/cpu/online", "0\0-3\n4\u{1b}[31m");
    let message = refused(&files.tar(""));
    assert!(!message.contains(['\0', '\u{1b}']), "{message:?}");
}

/// Goal: what people give in place of a tree is named, and so is what to give instead.
#[test]
fn other_descriptions_of_machines() {
    let tree = "hwloc-gather-topology NAME";
    for (text, is, instead) in [
        (
            "CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE\n  0    0      0    0 0:0:0:0 yes\n",
            "lscpu",
            tree,
        ),
        (
            "Architecture:            aarch64\nCPU(s):    8\n",
            "lscpu",
            tree,
        ),
        (
            "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n",
            "XML of hwloc",
            tree,
        ),
        (
            "processor\t: 0\nvendor_id\t: GenuineIntel\n",
            "/proc/cpuinfo",
            tree,
        ),
        (
            "/dts-v1/;\n/ { cpus { }; };\n",
            "source of a device tree",
            "dtc -I dts",
        ),
        ("\u{1}BZh91AY&SY", "", ""),
        ("BZh91AY&SY", "bzip2", "bunzip2"),
        ("platform-info:\n  conf:\n", "plat_info", "--lisa"),
    ] {
        // Short, and longer than a block of an archive.
        for text in [
            text.to_owned(),
            text.to_owned() + &"more of it\n".repeat(200),
        ] {
            let message = refused(text.as_bytes());
            assert!(
                message.contains(is) && message.contains(instead),
                "{text}: {message}"
            );
        }
    }
    let other = |source: fn(&Path) -> Source<'_>, bytes: &[u8]| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        fs::write(&path, bytes).expect("written");
        import(source(&path), None, None)
            .expect_err("refused")
            .to_string()
    };
    let dts = other(|path| Source::DeviceTree(path), b"/dts-v1/;\n/ { };");
    assert!(dts.contains("dtc -I dts"), "{dts}");
    let pickle = other(|path| Source::Lisa(path), &[0x80, 4, 0x95, 0xff, 0, 0]);
    assert!(pickle.contains("it is a pickle of Python"), "{pickle}");
    let tree = other(|path| Source::Lisa(path), b"processor\t: 0\n");
    assert!(tree.contains("/proc/cpuinfo"), "{tree}");
}
