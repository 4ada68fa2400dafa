//! What a kernel was configured with: the copy in its image (`CONFIG_IKCONFIG`), or a file
//! (docs/guide/lab.md, "A kernel of your own").
//!
//! What must stay: an option that is not mentioned is not set. Free: how the copy is found.
//!
//! Tests by part: `options_are_read` (`parse`, `get`), `the_copy_in_a_kernel_is_found`
//! (`of_kernel`).
//!
//! Callers: own.rs.
//!
//! Tests: below

use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read as _;

/// Stands before the packed copy in the image (kernel/configs.c).
const MARK: &[u8] = b"IKCFG_ST\x1f\x8b";
/// Most bytes that it is unpacked to; those of distributions have 300,000.
const MAX_BYTES: u64 = 4 << 20;

/// The copy in an unpacked kernel; none: the kernel was built without.
pub(crate) fn of_kernel(kernel: &[u8]) -> Option<String> {
    let at = kernel.windows(MARK.len()).position(|part| part == MARK)?;
    let packed = &kernel[at + MARK.len() - 2..];
    let mut text = String::new();
    let read = GzDecoder::new(packed)
        .take(MAX_BYTES)
        .read_to_string(&mut text);
    read.ok().map(|_| text)
}

/// How an option is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// `=y`.
    BuiltIn,
    /// `=m`.
    Module,
    /// Not set.
    Off,
}

/// A kernel's options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config(BTreeMap<String, Setting>);

impl Config {
    /// Reads `CONFIG_NAME=y` lines; none: there is no such line.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let line = |line: &str| {
            let (name, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
            let setting = match value.trim() {
                "y" => Setting::BuiltIn,
                "m" => Setting::Module,
                _ => return None,
            };
            Some((name.to_owned(), setting))
        };
        let options: BTreeMap<_, _> = text.lines().filter_map(line).collect();
        (!options.is_empty()).then_some(Self(options))
    }

    /// How the option `CONFIG_name` is set.
    pub(crate) fn get(&self, name: &str) -> Setting {
        self.0.get(name).copied().unwrap_or(Setting::Off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    const TEXT: &str = "# Linux/arm64\nCONFIG_SMP=y\nCONFIG_VIRTIO_CONSOLE=m\n\
                        # CONFIG_NUMA is not set\nCONFIG_HZ=250\n";

    #[test]
    fn options_are_read() {
        let config = Config::parse(TEXT).expect("options");
        let all = ["SMP", "VIRTIO_CONSOLE", "NUMA", "HZ"].map(|name| config.get(name));
        assert_eq!(
            all,
            [
                Setting::BuiltIn,
                Setting::Module,
                Setting::Off,
                Setting::Off
            ]
        );
        assert_eq!(Config::parse("# nothing\n"), None);
    }

    #[test]
    fn the_copy_in_a_kernel_is_found() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(TEXT.as_bytes()).expect("packed");
        let packed = encoder.finish().expect("packed");
        let kernel = [b"abc IKCFG_ST and IKCFG_ST", &packed[..], b"IKCFG_ED"].concat();
        assert_eq!(of_kernel(&kernel).as_deref(), Some(TEXT));
        assert_eq!(of_kernel(b"IKCFG_ST"), None);
    }
}
