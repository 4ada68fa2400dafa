//! Machines from elsewhere: the kernel's files, device trees, LISA's descriptions.
//!
//! A source is read into what it says (`found`), what it does not say is filled in by stated rules
//! (`fill`), and a platform file is written of both (`write`). Nothing of the file is there without
//! its origin, and what was filled in is listed for the user (docs/guide/import.md).
//!
//! Called by `platform import` and `platform new`, the lab, the playground and fuzzing.
//!
//! What must stay: same bytes in, same file out; the written file is read back before it is given
//! out, so that no import breaks a rule of platforms; messages name the file as the caller did,
//! provenance without its folders. Free: what leaves the files of imports as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `an_archive_is_as_its_folder` (`import`, `of_tree`), `an_energy_model_beside_the_tree`
//! (`energy_model`, `name`), `this_machine_can_be_imported` (`Live`),
//! hostile.rs::`one_message_names_the_file` (errors), hostile.rs::`files_that_are_missing`
//! (`read_limited`), archives.rs::`other_descriptions_of_machines` (`refused`),
//! voltages.rs::`coefficients_and_voltages_make_power` (`place`),
//! round_trip.rs::`every_platform_comes_back` (`finish`, `completed`),
//! kinds.rs::`a_board_is_made_of_kinds_and_clocks` (`of_kinds`), `the_own_powers_come_back`
//! (`import_like`). `capture`, `device_tree`,
//! `plat_info` and `of_device_tree` are ways in: the files of archives.rs, hostile.rs and mod.rs go
//! through them; `wrong` with what is refused.
//!
//! Tests: crates/platform/tests/all/import

mod by_kinds;
mod costs;
mod devicetree;
mod energy;
mod fill;
mod found;
mod lisa;
mod nrg_model;
mod per_mhz;
mod power_like;
mod speeds;
mod sysfs;
mod text;
mod voltages;
mod write;
mod yaml;

use crate::given::{Given, given};
use crate::sysfs::{SysfsError, Tree};
use crate::{MAX_FILE_BYTES, Platform, PlatformError};
use found::Found;
pub use power_like::PowerLike;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use voltages::Voltages;

/// Where a machine is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// This machine's own files.
    Live,
    /// A saved tree: a folder, or a tar archive that `platform capture` made.
    Tree(&'a Path),
    /// A flattened device tree.
    DeviceTree(&'a Path),
    /// The same with a list of frequency and voltage, where it has no voltages.
    DeviceTreeAndVoltages(&'a Path, &'a Path),
    /// A `plat_info` file of LISA.
    Lisa(&'a Path),
}

/// An imported machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The platform file.
    pub toml: String,
    /// What the file makes.
    pub platform: Platform,
    /// What the source lacks and was filled in, and what of it was left out, one line each.
    pub said: Vec<String>,
    /// Of what was filled in, what may be far off: to be looked at before any result is believed.
    /// The file has these among its notes.
    pub warnings: Vec<String>,
}

/// Why there is no platform.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A tree that is no machine's.
    #[error("{0}")]
    Tree(#[from] SysfsError),
    /// The file cannot be read.
    #[error("{file}: cannot be read: {source}; expected {expected}")]
    Read {
        /// As the caller named it.
        file: String,
        /// What was expected.
        expected: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file says what cannot be.
    #[error("{file}: {problem}; expected {expected}")]
    Wrong {
        /// As the caller named it, with a line where there is one.
        file: String,
        /// What stands there.
        problem: String,
        /// What was expected.
        expected: String,
    },
    /// The machine whose powers were asked for is none.
    #[error("{option}: {why}")]
    Like {
        /// What the caller names it by.
        option: String,
        /// Why it is none.
        why: String,
    },
    /// What the source says breaks a rule of platforms.
    #[error("{place}: this machine is no platform: {why}")]
    NoPlatform {
        /// The source.
        place: String,
        /// The rule.
        why: String,
    },
}

impl ImportError {
    /// The source says what cannot be; `expected`: what would do.
    fn wrong(file: &str, problem: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Wrong {
            file: file.to_owned(),
            problem: problem.into(),
            expected: expected.into(),
        }
    }
}

/// Makes a platform file. `energy_model` is a folder of debugfs's energy model beside the source;
/// `name` is what the platform is called inside, else it is the source's name.
///
/// # Errors
/// The source cannot be read, says what cannot be, or breaks a rule of platforms.
pub fn import(
    source: Source<'_>,
    energy_model: Option<&Path>,
    name: Option<&str>,
) -> Result<Imported, ImportError> {
    import_like(source, energy_model, name, None)
}

/// The same with the powers of another machine, where the source has none.
///
/// # Errors
/// As `import`, or the source has powers of its own.
pub fn import_like(
    source: Source<'_>,
    energy_model: Option<&Path>,
    name: Option<&str>,
    like: Option<&PowerLike>,
) -> Result<Imported, ImportError> {
    let (place, own) = place(source);
    let mut said = Vec::new();
    let mut found = match source {
        Source::Live => of_tree(Tree::new(Path::new("/")), energy_model, &place, &mut said),
        Source::Tree(path) if path.is_file() => {
            of_tree(Tree::archive(path)?, energy_model, &place, &mut said)
        }
        Source::Tree(path) => of_tree(Tree::folder(path)?, energy_model, &place, &mut said),
        Source::DeviceTree(path) | Source::DeviceTreeAndVoltages(path, _) => {
            let file = path.display().to_string();
            let bytes = read_limited(&file, path, "a flattened device tree (.dtb)")?;
            let voltages = match source {
                Source::DeviceTreeAndVoltages(_, list) => Some(Voltages::read(list)?),
                _ => None,
            };
            of_device_tree(&bytes, voltages.as_ref(), (&file, &place), &mut said)
        }
        Source::Lisa(path) => {
            let file = path.display().to_string();
            let bytes = read_limited(&file, path, "a plat_info file of LISA")?;
            lisa::read(&bytes, &file, &place, &mut said)
        }
    }?;
    // A tree is read together with it.
    let of_tree = matches!(source, Source::Live | Source::Tree(_));
    if let Some(folder) = energy_model.filter(|_| !of_tree) {
        energy::lay_over(&mut found, folder, &mut said)?;
    }
    let made = imported_from(&place);
    completed(found, name.unwrap_or(&own), (&made, &place), like, said)
}

/// A platform of the bytes of a tar archive that `platform capture` made; `file` names it in
/// messages.
///
/// # Errors
/// As `import`.
pub fn capture(bytes: &[u8], file: &str) -> Result<Imported, ImportError> {
    let path = Path::new(file);
    let place = format!("saved tree {file}");
    let mut said = Vec::new();
    let tree = Tree::of_archive(path, Ok(bytes))?;
    let found = of_tree(tree, None, &place, &mut said)?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
    finish(found, stem.as_deref().unwrap_or(file), &place, said)
}

/// A platform of a device tree's bytes; `file` names it in messages.
///
/// # Errors
/// As `import`.
pub fn device_tree(bytes: &[u8], file: &str) -> Result<Imported, ImportError> {
    let mut said = Vec::new();
    let found = of_device_tree(bytes, None, (file, file), &mut said)?;
    finish(found, file, file, said)
}

/// A platform of the text of LISA's `plat_info`; `file` names it in messages.
///
/// # Errors
/// As `import`.
pub fn plat_info(bytes: &[u8], file: &str) -> Result<Imported, ImportError> {
    let mut said = Vec::new();
    let found = lisa::read(bytes, file, file, &mut said)?;
    finish(found, file, file, said)
}

/// A platform of clusters that are named by kind of core and clock, as
/// `4xcortex-a520@2000MHz,4xcortex-a725@3000MHz`; `option` names them in messages. `like` gives its
/// powers.
///
/// # Errors
/// They have another form, or name a kind of which no speed is known.
pub fn of_kinds(
    clusters: &str,
    option: &str,
    name: &str,
    like: Option<&PowerLike>,
) -> Result<Imported, ImportError> {
    let mut said = Vec::new();
    let found = by_kinds::read(clusters, option, &mut said)?;
    let made = "Made by `wakeplace platform new`";
    completed(found, name, (made, option), like, said)
}

/// Why a file is not read that is another description of a machine than the `wanted` one.
fn refused(bytes: &[u8], file: &str, wanted: Given) -> Option<ImportError> {
    let given = given(bytes).filter(|given| *given != wanted)?;
    Some(ImportError::wrong(file, given.is(), given.instead()))
}

/// A machine from the kernel's files, of this machine or of a copy.
fn of_tree(
    tree: Tree,
    energy_model: Option<&Path>,
    place: &str,
    said: &mut Vec<String>,
) -> Result<Found, ImportError> {
    if let Some(folder) = energy_model.filter(|folder| !folder.is_dir()) {
        let place = folder.display().to_string();
        return Err(ImportError::wrong(
            &place,
            "no such folder".to_owned(),
            "a copy of /sys/kernel/debug/energy_model",
        ));
    }
    let energy = energy_model.map(Tree::new);
    let found = sysfs::read(&tree, energy.as_ref(), place, said)?;
    Ok(found)
}

/// A machine from a flattened device tree.
fn of_device_tree(
    bytes: &[u8],
    voltages: Option<&Voltages>,
    (file, place): (&str, &str),
    said: &mut Vec<String>,
) -> Result<Found, ImportError> {
    let tree = crate::fdt::Tree::read(bytes).map_err(|error| {
        refused(bytes, file, Given::DeviceTree).unwrap_or_else(|| {
            ImportError::wrong(file, error.to_string(), "a flattened device tree (.dtb)")
        })
    })?;
    devicetree::read(&tree, voltages, (file, place), said)
}

/// Fills in what is not known and writes the platform file; all that was said goes with it.
fn finish(
    found: Found,
    name: &str,
    place: &str,
    said: Vec<String>,
) -> Result<Imported, ImportError> {
    completed(found, name, (&imported_from(place), place), None, said)
}

/// How the file of an import came to be.
fn imported_from(place: &str) -> String {
    format!("Imported by `wakeplace platform import` from {place}")
}

/// The same, with how the file came to be.
fn completed(
    mut found: Found,
    name: &str,
    (made, place): (&str, &str),
    like: Option<&PowerLike>,
    mut said: Vec<String>,
) -> Result<Imported, ImportError> {
    if let Some(like) = like {
        like.check(&found)?;
    }
    let mut warnings = Vec::new();
    said.extend(fill::fill(&mut found, like, &mut warnings));
    found.notes.extend(warnings.iter().cloned());
    let (toml, more) = write::file(&found, &text::slug(name), made);
    said.extend(more);
    let platform = Platform::from_toml(&toml, "platform").map_err(|error| {
        let why = match error {
            PlatformError::Invalid { problem, .. } => problem,
            other => other.to_string(),
        };
        ImportError::NoPlatform {
            place: place.to_owned(),
            why,
        }
    })?;
    Ok(Imported {
        toml,
        platform,
        said,
        warnings,
    })
}

/// The source in the words of a platform file, and a name for the platform. Folders stay out of it.
fn place(source: Source<'_>) -> (String, String) {
    let named = |path: &Path| match path.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => "tree".to_owned(),
    };
    let stem = |path: &Path| match path.file_stem() {
        Some(name) if path.is_file() => name.to_string_lossy().into_owned(),
        _ => named(path),
    };
    match source {
        Source::Live => ("this machine's files".to_owned(), "this-machine".to_owned()),
        Source::Tree(path) => (format!("saved tree {}", named(path)), stem(path)),
        Source::DeviceTree(path) | Source::DeviceTreeAndVoltages(path, _) => {
            (format!("device tree {}", named(path)), stem(path))
        }
        Source::Lisa(path) => (format!("LISA's {}", named(path)), stem(path)),
    }
}

/// A file of bounded length, or why it cannot be read.
fn read_limited(file: &str, path: &Path, expected: &'static str) -> Result<Vec<u8>, ImportError> {
    let failed = |source: std::io::Error| ImportError::Read {
        file: file.to_owned(),
        expected,
        source,
    };
    let mut bytes = Vec::new();
    let opened = File::open(path).map_err(failed)?;
    let mut limited = opened.take(MAX_FILE_BYTES as u64 + 1);
    limited.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > MAX_FILE_BYTES {
        let problem = format!("more than {MAX_FILE_BYTES} bytes");
        return Err(ImportError::wrong(file, problem, expected));
    }
    Ok(bytes)
}
