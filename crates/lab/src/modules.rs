//! Modules of a kernel of the user's own: where they are, and in which order a guest loads those
//! that it needs (docs/guide/lab.md, "A kernel of your own"). A module comes after those that it
//! needs.
//!
//! What must stay: the order of loading; only files below the named folder are read. Free: how the
//! files of a folder are read.
//!
//! Tests by part: `a_module_comes_after_those_that_it_needs` (`named`, `load`, `add`, `has`,
//! `information`, `unpacked`, `packing`, `plain_name`), `they_are_found_where_make_puts_them`
//! (`beside`, `in_folder`, `in_tree`, `folders_in`), `other_modules_are_refused_in_one_sentence`
//! (`named`: errors).
//!
//! Callers: own.rs.
//!
//! Tests: below,
//! crates/lab/tests/boot.rs::a_kernel_of_the_users_own_has_operating_points_by_its_module

use crate::{LabError, image};
use object::{Object as _, ObjectSection as _};
use std::collections::BTreeMap;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use wakeplace_archive::apt::files_by_name;

/// Where releases have their folders, below a root.
const BELOW_ROOT: [&str; 2] = ["lib/modules", "usr/lib/modules"];
/// A built tree has this file at its root.
const BUILT: &str = "modules.order";
/// Most modules that one needs; a chain of dependencies has a handful.
const MAX_LOADED: usize = 64;

/// A module as the guest loads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    /// With underscores, as `/sys/module` has it.
    pub(crate) name: String,
    /// Not packed.
    pub(crate) contents: Vec<u8>,
}

/// The modules of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Modules {
    folder: PathBuf,
    release: Option<String>,
    by_name: BTreeMap<String, PathBuf>,
}

impl Modules {
    /// Those below a folder that the user named: what `make modules_install INSTALL_MOD_PATH=`
    /// made, its `lib/modules/RELEASE`, or a built tree.
    ///
    /// # Errors
    /// When there are none of this release.
    pub(crate) fn named(folder: &Path, release: Option<&str>) -> Result<Self, LabError> {
        let refuse = |why: String| {
            Err(LabError::Request(format!(
                "--modules {}: {why}",
                folder.display()
            )))
        };
        if !folder.is_dir() {
            return refuse("expected a folder".to_owned());
        }
        let roots = BELOW_ROOT.map(|below| folder.join(below));
        let all: Vec<PathBuf> = roots.iter().flat_map(|root| folders_in(root)).collect();
        let of_release = all.iter().find(|one| match release {
            Some(release) => one.file_name().is_some_and(|name| name == release),
            None => all.len() == 1,
        });
        let found = match (of_release, all.is_empty()) {
            (Some(one), _) => Self::in_folder(one, release),
            (None, true) => Self::in_folder(folder, release),
            (None, false) => {
                let names = all.iter().filter_map(|one| one.file_name()?.to_str());
                let names = names.collect::<Vec<_>>().join(", ");
                let wanted = release.unwrap_or("a kernel that does not say its release");
                return refuse(format!("it has modules of {names}; expected {wanted}"));
            }
        };
        match found {
            Some(found) => Ok(found),
            None => refuse(
                "no modules in it; expected what `make modules_install INSTALL_MOD_PATH=` makes"
                    .to_owned(),
            ),
        }
    }

    /// Those of an image that stands where `make` or `make install` has put it: in a built tree, or
    /// below the root that has `lib/modules/RELEASE`, too.
    pub(crate) fn beside(image: &Path, release: Option<&str>) -> Option<Self> {
        let image = fs::canonicalize(image).ok()?;
        let tree = image.ancestors().nth(4);
        let built = tree.filter(|tree| in_tree(&image) && tree.join(BUILT).is_file());
        if let Some(found) = built.and_then(|tree| Self::in_folder(tree, release)) {
            return Some(found);
        }
        let release = release?;
        let roots = image.ancestors().skip(1);
        let mut folders = roots.flat_map(|root| BELOW_ROOT.map(|below| root.join(below)));
        folders.find_map(|folder| Self::in_folder(&folder.join(release), Some(release)))
    }

    /// None: there is no module below it.
    fn in_folder(folder: &Path, release: Option<&str>) -> Option<Self> {
        let files = files_by_name(folder).into_iter();
        let modules = files.filter_map(|(file, path)| {
            let (name, _) = file.split_once(".ko")?;
            (file.ends_with(".ko") || packing(&file).is_some()).then(|| (plain_name(name), path))
        });
        let by_name: BTreeMap<_, _> = modules.collect();
        (!by_name.is_empty()).then(|| Self {
            folder: folder.to_owned(),
            release: release.map(str::to_owned),
            by_name,
        })
    }

    /// Is there such a module, named with underscores?
    pub(crate) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Where they are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Those of `names` that are there, each after those that it needs.
    ///
    /// # Errors
    /// When one cannot be read, or is of another kernel.
    pub(crate) fn load(&self, names: &[&str]) -> Result<Vec<Module>, LabError> {
        let mut loaded = Vec::new();
        for name in names {
            self.add(name, &mut Vec::new(), &mut loaded)?;
        }
        Ok(loaded)
    }

    /// What is not there is built in. `above`: those that need it.
    fn add(
        &self,
        name: &str,
        above: &mut Vec<String>,
        loaded: &mut Vec<Module>,
    ) -> Result<(), LabError> {
        let known = loaded.iter().any(|module| module.name == name)
            || above.iter().any(|other| other == name)
            || above.len() > MAX_LOADED;
        let Some(path) = self.by_name.get(name).filter(|_| !known) else {
            return Ok(());
        };
        let contents = unpacked(path)?;
        let says = information(path, &contents)?;
        let magic = says.get("vermagic").and_then(|text| text.split(' ').next());
        if let (Some(built), Some(release)) = (magic, &self.release)
            && built != release
        {
            return Err(LabError::Request(format!(
                "{}: a module of {built}; expected one of {release}, the kernel's release",
                path.display()
            )));
        }
        above.push(name.to_owned());
        let needs = says.get("depends").map_or("", String::as_str);
        for other in needs.split(',').filter(|other| !other.is_empty()) {
            self.add(&plain_name(other), above, loaded)?;
        }
        above.pop();
        let name = name.to_owned();
        loaded.push(Module { name, contents });
        Ok(())
    }
}

/// `TREE/arch/ARCH/boot/FILE`.
fn in_tree(image: &Path) -> bool {
    let above = |n| image.ancestors().nth(n).and_then(Path::file_name);
    above(1).is_some_and(|name| name == "boot") && above(3).is_some_and(|name| name == "arch")
}

/// Below a folder, sorted.
fn folders_in(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders
}

/// Files have either sign in their names, everything else the underscore.
fn plain_name(name: &str) -> String {
    name.replace('-', "_")
}

/// How a module's file is packed (CONFIG_MODULE_COMPRESS_*). None: it is not.
fn packing(file: &str) -> Option<&str> {
    let (_, end) = file.rsplit_once(".ko.")?;
    ["xz", "gz", "zst"].contains(&end).then_some(end)
}

/// A module's contents, not packed.
///
/// # Errors
/// When it cannot be read or unpacked.
pub(crate) fn unpacked(path: &Path) -> Result<Vec<u8>, LabError> {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let damaged = |why: String| LabError::damaged(path.display().to_string(), why);
    let read = || fs::read(path).map_err(LabError::reading(path));
    match packing(&file) {
        None if file.ends_with(".ko") => read(),
        Some("xz") => {
            let packed = fs::File::open(path).map_err(LabError::reading(path))?;
            let mut plain = Vec::new();
            lzma_rs::xz_decompress(&mut BufReader::new(packed), &mut plain)
                .map_err(|error| damaged(format!("xz: {error:?}")))?;
            Ok(plain)
        }
        Some(_) => image::unpack(&path.display().to_string(), &read()?),
        None => Err(damaged(
            "packed in an unknown way; expected .ko, .ko.xz, .ko.gz or .ko.zst".to_owned(),
        )),
    }
}

/// The `KEY=VALUE` texts of its section `.modinfo` (include/linux/module.h, MODULE_INFO).
fn information(path: &Path, module: &[u8]) -> Result<BTreeMap<String, String>, LabError> {
    let damaged = |why: &str| LabError::damaged(path.display().to_string(), why);
    let file = object::File::parse(module).map_err(|_| damaged("no ELF file"))?;
    let section = file.section_by_name(".modinfo");
    let section = section.ok_or_else(|| damaged("no kernel module: it has no .modinfo"))?;
    let data = section.data().map_err(|_| damaged("it is cut short"))?;
    let text = String::from_utf8_lossy(data);
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
    Ok(pairs
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with one section, `.modinfo`, and the names of sections.
    fn module(information: &str) -> Vec<u8> {
        let names = b"\0.modinfo\0.shstrtab\0";
        let (info_at, names_at) = (64, 64 + information.len());
        let sections_at = (names_at + names.len()).next_multiple_of(8);
        let mut file = b"\x7fELF\x02\x01\x01".to_vec();
        file.resize(16, 0);
        // e_type REL, e_machine x86-64, e_version; entry and program headers: none.
        for half in [1_u16, 62, 1, 0] {
            file.extend(half.to_le_bytes());
        }
        file.extend([0; 16]);
        file.extend((sections_at as u64).to_le_bytes());
        file.extend([0; 4]);
        for half in [64_u16, 0, 0, 64, 3, 2] {
            file.extend(half.to_le_bytes());
        }
        file.extend(information.as_bytes());
        file.extend(names);
        file.resize(sections_at + 64, 0);
        for (name, kind, at, size) in [
            (1_u32, 1_u32, info_at, information.len()),
            (10, 3, names_at, names.len()),
        ] {
            file.extend(name.to_le_bytes());
            file.extend(kind.to_le_bytes());
            for word in [0, 0, at as u64, size as u64, 0, 1, 0] {
                file.extend(word.to_le_bytes());
            }
        }
        file
    }

    fn write(root: &Path, below: &str, bytes: &[u8]) {
        let path = root.join(below);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, bytes).expect("written");
    }

    const RELEASE: &str = "7.3.4-own";

    /// What `make modules_install` leaves: one module needs another, which is packed.
    fn installed(root: &Path) {
        let below = "lib/modules/7.3.4-own/kernel/drivers";
        let console = module("depends=virtio-ring\0vermagic=7.3.4-own SMP\0");
        write(root, &format!("{below}/virtio-console.ko"), &console);
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, &module("depends=\0vermagic=7.3.4-own\0"))
            .expect("packed");
        let ring = encoder.finish().expect("packed");
        write(root, &format!("{below}/virtio_ring.ko.gz"), &ring);
        write(root, "lib/modules/7.3.4-own/modules.dep", b"");
    }

    fn names(modules: &Modules, wanted: &[&str]) -> Vec<String> {
        let loaded = modules.load(wanted).expect("modules");
        loaded.into_iter().map(|module| module.name).collect()
    }

    #[test]
    fn a_module_comes_after_those_that_it_needs() {
        let folder = tempfile::tempdir().expect("a folder");
        installed(folder.path());
        let modules = Modules::named(folder.path(), Some(RELEASE)).expect("modules");
        assert_eq!(
            names(&modules, &["virtio_console", "cpufreq_dt", "virtio_ring"]),
            ["virtio_ring", "virtio_console"]
        );
        assert!(modules.has("virtio_console") && !modules.has("cpufreq_dt"));
        let own = folder.path().join("lib/modules").join(RELEASE);
        assert_eq!(
            Modules::named(&own, Some(RELEASE))
                .expect("modules")
                .by_name,
            modules.by_name
        );
    }

    #[test]
    fn they_are_found_where_make_puts_them() {
        let folder = tempfile::tempdir().expect("a folder");
        installed(folder.path());
        write(folder.path(), "boot/vmlinuz-7.3.4-own", b"");
        let image = folder.path().join("boot/vmlinuz-7.3.4-own");
        let found = Modules::beside(&image, Some(RELEASE)).expect("below the same root");
        assert!(found.has("virtio_ring"));
        assert_eq!(Modules::beside(&image, Some("7.3.5")), None);
        let tree = tempfile::tempdir().expect("a folder");
        write(tree.path(), "arch/arm64/boot/Image", b"");
        write(tree.path(), "drivers/char/virtio_console.ko", b"");
        let image = tree.path().join("arch/arm64/boot/Image");
        assert_eq!(Modules::beside(&image, Some(RELEASE)), None, "not built");
        write(tree.path(), BUILT, b"");
        let found = Modules::beside(&image, Some(RELEASE)).expect("in the tree");
        assert!(found.has("virtio_console"));
    }

    #[test]
    fn other_modules_are_refused_in_one_sentence() {
        let folder = tempfile::tempdir().expect("a folder");
        let refused = |release| Modules::named(folder.path(), release).expect_err("refused");
        assert!(
            refused(Some(RELEASE))
                .to_string()
                .contains("no modules in it")
        );
        installed(folder.path());
        let other = refused(Some("6.1.0")).to_string();
        assert!(
            other.ends_with("it has modules of 7.3.4-own; expected 6.1.0"),
            "{other}"
        );
        // The folder's name is right, what is in it is not.
        let below = "lib/modules/7.3.4-own/kernel/drivers/virtio-console.ko";
        write(
            folder.path(),
            below,
            &module("depends=\0vermagic=7.3.5 SMP\0"),
        );
        let modules = Modules::named(folder.path(), Some(RELEASE)).expect("modules");
        let wrong = modules
            .load(&["virtio_console"])
            .expect_err("another kernel's");
        assert!(wrong.to_string().contains("a module of 7.3.5"), "{wrong}");
        assert_eq!(wrong.class(), crate::Class::Input);
        write(folder.path(), below, b"text");
        assert!(modules.load(&["virtio_console"]).is_err());
        let gone = folder.path().join("gone");
        assert!(Modules::named(&gone, None).is_err());
    }
}
