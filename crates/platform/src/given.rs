//! What a file is by its beginning, so that a message can say what to give instead. `platform
//! import` alone asks; a form that import learns to read leaves this list (docs/guide/import.md,
//! "Bad trees").
//!
//! Decides the words of a refusal, and whether an archive is unpacked first (`Given::Gzip`,
//! sysfs/tree.rs).
//!
//! What must stay: only a file that could not be read is named by this, as a form that is read may
//! begin as another one does; a form that another option reads is named with that option. Free:
//! what leaves each file's machine as it is (ARCHITECTURE.md, "What a change may touch"), and words
//! of messages that no test quotes. Tests by part: `beginnings_say_what_a_file_is` (`given`,
//! `of_text`), archives.rs::`other_descriptions_of_machines` (`is`, `instead`).
//!
//! Tests: below, crates/platform/tests/all/import/archives.rs

/// Most of a file that is looked at, bytes.
pub(crate) const HEAD_BYTES: usize = 4096;

/// Descriptions of machines, and files that people take for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    DeviceTree,
    DeviceTreeSource,
    PlatInfo,
    Platform,
    Pickle,
    HwlocXml,
    Lstopo,
    Lscpu,
    Cpuinfo,
    Gzip,
    Bzip2,
    Xz,
    Zstd,
    Zip,
}

/// What to give instead of a listing: the machine's `/sys` and `/proc` as a tree of files.
const TREE: &str = "a tree of the machine: `hwloc-gather-topology NAME` makes one there, and so \
                    does the script that `wakeplace platform capture` prints; --live reads this \
                    machine";

impl Given {
    /// In the words of a message.
    pub(crate) fn is(self) -> &'static str {
        match self {
            Self::DeviceTree => "it is a flattened device tree",
            Self::DeviceTreeSource => "it is the source of a device tree",
            Self::PlatInfo => "it is a plat_info file of LISA",
            Self::Platform => "it is a platform file already",
            Self::Pickle => "it is a pickle of Python, which is a program and is not run",
            Self::HwlocXml => "it is XML of hwloc, which has no clocks, capacities and idle states",
            Self::Lstopo => "it is output of lstopo, which has no clocks and idle states",
            Self::Lscpu => "it is output of lscpu, which has no capacities and idle states",
            Self::Cpuinfo => "it is /proc/cpuinfo, which has no caches, capacities and idle states",
            Self::Gzip => "it is packed with gzip",
            Self::Bzip2 => "it is packed with bzip2",
            Self::Xz => "it is packed with xz",
            Self::Zstd => "it is packed with zstd",
            Self::Zip => "it is a zip archive",
        }
    }

    /// What can be given for it.
    pub(crate) fn instead(self) -> &'static str {
        match self {
            Self::DeviceTree => "`--dtb FILE` for it",
            Self::DeviceTreeSource => {
                "what `dtc -I dts -O dtb -o board.dtb FILE` makes of it, with `--dtb board.dtb`"
            }
            Self::PlatInfo => "`--lisa FILE` for it",
            Self::Platform => "`--platform FILE` of the other commands, which takes it as it is",
            Self::Pickle => "the YAML that LISA writes (`PlatformInfo.to_yaml_map`), with `--lisa`",
            Self::HwlocXml | Self::Lstopo | Self::Lscpu | Self::Cpuinfo => TREE,
            Self::Gzip => "what `gunzip FILE` leaves",
            Self::Bzip2 => "what `bunzip2 FILE` leaves",
            Self::Xz => "what `unxz FILE` leaves",
            Self::Zstd => "what `unzstd FILE` leaves",
            Self::Zip => "what is in it: a folder, or a tar archive of one",
        }
    }
}

/// What the file is, as far as its first bytes say it.
pub(crate) fn given(head: &[u8]) -> Option<Given> {
    const MAGIC: &[(&[u8], Given)] = &[
        (&[0xd0, 0x0d, 0xfe, 0xed], Given::DeviceTree),
        (&[0x1f, 0x8b], Given::Gzip),
        (b"BZh", Given::Bzip2),
        (&[0xfd, b'7', b'z', b'X', b'Z', 0], Given::Xz),
        (&[0x28, 0xb5, 0x2f, 0xfd], Given::Zstd),
        (b"PK\x03\x04", Given::Zip),
    ];
    let magic = MAGIC.iter().find(|(magic, _)| head.starts_with(magic));
    if let Some((_, given)) = magic {
        return Some(*given);
    }
    // Protocols 2 to 5 (Python's Lib/pickle.py, PROTO); the older ones are text without a mark.
    if matches!(head, [0x80, 2..=5, ..]) {
        return Some(Given::Pickle);
    }
    let head = &head[..head.len().min(HEAD_BYTES)];
    let text = String::from_utf8_lossy(head);
    of_text(text.trim_start_matches('\u{feff}').trim_start())
}

/// What a text is, by its first lines: each form by what no other form begins with.
fn of_text(text: &str) -> Option<Given> {
    let first = text.lines().next().unwrap_or_default();
    let has = |word: &str| text.contains(word);
    let begins = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
    let keyed = |keys: &[&str]| {
        let key = first.split_once(':').map_or("", |(key, _)| key.trim());
        keys.contains(&key)
    };
    let columns: Vec<&str> = first.split_whitespace().collect();
    let of_lscpu = |word: &&str| matches!(*word, "CORE" | "SOCKET" | "NODE" | "ONLINE" | "MAXMHZ");
    if has("/dts-v1/") {
        return Some(Given::DeviceTreeSource);
    }
    if begins(&["<?xml", "<!DOCTYPE", "<topology"]) && has("<topology") {
        return Some(Given::HwlocXml);
    }
    if begins(&["Machine ("]) {
        return Some(Given::Lstopo);
    }
    let tables = begins(&["# The following is the parsable format"])
        || (columns.contains(&"CPU") && columns.iter().any(of_lscpu));
    let json = text.strip_prefix('{').map(str::trim_start);
    let json = json.is_some_and(|t| t.starts_with("\"lscpu\"") || t.starts_with("\"cpus\""));
    if tables || json || keyed(&["Architecture"]) {
        return Some(Given::Lscpu);
    }
    let by_line = |key: &str| text.lines().any(|line| line.trim_start().starts_with(key));
    if by_line("platform-info:") {
        return Some(Given::PlatInfo);
    }
    if by_line("[[cluster]]") || (by_line("tick_hz =") && by_line("[kernel]")) {
        return Some(Given::Platform);
    }
    let cpuinfo = ["processor", "vendor_id", "system type", "Processor", "cpu"];
    keyed(&cpuinfo).then_some(Given::Cpuinfo)
}

#[cfg(test)]
mod tests {
    use super::{Given, given};

    #[test]
    fn beginnings_say_what_a_file_is() {
        for (head, kind) in [
            (
                "CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE\n  0    0      0    0 0:0:0:0",
                Given::Lscpu,
            ),
            ("CPU CORE\n0 0\n", Given::Lscpu),
            (
                "Architecture:             x86_64\n  CPU op-mode(s):  32-bit",
                Given::Lscpu,
            ),
            (
                "# The following is the parsable format, which can be fed to",
                Given::Lscpu,
            ),
            ("{\n   \"lscpu\": [\n", Given::Lscpu),
            (
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \
                 \"hwloc2.dtd\">\n<topology version=\"2.0\">",
                Given::HwlocXml,
            ),
            ("Machine (15GB total)\n  Package L#0", Given::Lstopo),
            (
                "processor\t: 0\nvendor_id\t: GenuineIntel\n",
                Given::Cpuinfo,
            ),
            ("vendor_id       : IBM/S390\n", Given::Cpuinfo),
            ("// SPDX\n/dts-v1/;\n/ {", Given::DeviceTreeSource),
            ("platform-info:\n    conf:\n", Given::PlatInfo),
            ("name = \"x\"\n\n[kernel]\ntick_hz = 250\n", Given::Platform),
            ("BZh91AY&SY", Given::Bzip2),
        ] {
            assert_eq!(given(head.as_bytes()), Some(kind), "{head}");
        }
        assert_eq!(given(&[0x80, 4, 0x95]), Some(Given::Pickle));
        assert_eq!(given(&[0xd0, 0x0d, 0xfe, 0xed, 0]), Some(Given::DeviceTree));
        for other in [
            "",
            "pc/sys/devices\0\0",
            "CPU\n",
            "cpus-count: 2\n",
            "<html>",
            "{}",
        ] {
            assert_eq!(given(other.as_bytes()), None, "{other}");
        }
    }
}
