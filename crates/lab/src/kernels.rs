//! The kernels that guests can have: which are wanted, which can be had, which can be used
//! (docs/guide/lab.md). What was fetched is kept whole or fetched again.
//!
//! What must stay: files of the cache's folders, or kernels are fetched anew. Free: how the archive
//! is asked.
//!
//! Tests by part: `packages_are_chosen_by_version_and_flavour`, `modules_come_with_newer_kernels`
//! (`choose`), `a_kernel_is_judged_by_what_the_live_scheduler_calls` (`judge`),
//! `the_wanted_kernels_span_those_that_are_tried` (`WANTED`),
//! `versions_are_ordered_by_their_numbers` (`by_version`),
//! boot.rs::`an_x86_guest_runs_a_command_and_brings_back_what_it_did` (`pick`, `get`, `fetch`,
//! `open`, `read_btf`),
//! crates/cli/tests/all/doctor.rs::`what_is_kept_is_found_and_nothing_is_made` (`kept`). `config`,
//! `offers` and `type_information` have no test of their own.
//!
//! Callers: bootable.rs (`pick`, `config`), own.rs (`judge`), doctor.rs (`kept`),
//! crates/cli/src/commands (`offers`, `type_information`).
//!
//! Tests: crates/cli/tests/all/lab.rs, crates/cli/tests/all/doctor.rs, crates/lab/tests/boot.rs

use crate::error::Tried;
use crate::own::is_version;
use crate::{Arch, Cache, LabError, Watch, apt, image, modules};
use std::fs;
use std::path::{Path, PathBuf};
use wakeplace_archive::apt::{Package, files_by_name, read_record, write_record};
use wakeplace_archive::{WAITING, install};
use wakeplace_host::{Kfuncs, Release, State, kfuncs_read};

/// Versions in order of preference. 7.3.4 and 7.0.13 have different sched_ext interfaces (since 7.1
/// functions take a hidden argument); 6.18.15 is long-term; 6.16.12 is the oldest that Debian still
/// has with sched_ext. Debian's 7.1 and 7.2 are left out: their type information lacks tags.
pub const WANTED: [&str; 4] = ["7.3.4", "7.0.13", "6.18.15", "6.16.12"];

/// The module that gives a guest the operating points of its device tree.
const CPUFREQ_DT: &str = "cpufreq-dt.ko";
/// The type information, cut out of the image; it is judged anew at each use, since what the live
/// scheduler calls changes with its version.
const BTF: &str = "vmlinux.btf";
/// What it was configured with; fetched when the first scheduler wants to read it.
const CONFIG: &str = "config";

/// A kernel in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// As `7.3.4`.
    pub version: String,
    /// The package the image came in.
    pub package: Package,
    /// The image.
    pub image: PathBuf,
    /// The unpacked module for operating points (arm64).
    pub cpufreq_dt: Option<PathBuf>,
    /// What its type information says.
    pub btf: BtfVerdict,
}

/// Whether a scheduler can be loaded, by the kernel's type information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BtfVerdict {
    /// It can.
    pub usable: bool,
    /// In a few words.
    pub found: String,
}

/// One row of what can be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// As `7.3.4`.
    pub version: String,
    /// The kernel, or why there is none.
    pub kernel: Result<Kernel, String>,
}

/// Packages of one version: the image's, and the modules' where they come apart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Names {
    image: String,
    modules: Option<String>,
}

/// Finds the packages of `version` among the archive's. Newer Debian kernels come in
/// `linux-binary-VERSION` (or `-unsigned-`) and `linux-modules-VERSION`; until 6.18 all is in
/// `linux-image-VERSION`. After the version stands the build, as in `7.3.4+deb13-arm64`; of several
/// the last in order is taken.
fn choose(names: &[String], version: &str, flavour: &str) -> Option<Names> {
    let find = |prefix: &str, end: &str| {
        let fits = |name: &&String| {
            let rest = name
                .strip_prefix(prefix)
                .and_then(|rest| rest.strip_prefix(version));
            let build = rest.and_then(|rest| rest.strip_suffix(end));
            let build = build.and_then(|build| build.strip_suffix(flavour)?.strip_suffix('-'));
            build.is_some_and(|build| {
                build.is_empty() || build.starts_with(['+', '-']) && !build[1..].contains('-')
            })
        };
        names.iter().filter(fits).max().cloned()
    };
    let apart = find("linux-binary-", "").or_else(|| find("linux-binary-unsigned-", ""));
    if let Some(image) = apart {
        let release = image
            .trim_start_matches("linux-binary-")
            .trim_start_matches("unsigned-");
        let modules = format!("linux-modules-{release}");
        return Some(Names {
            image,
            modules: names.contains(&modules).then_some(modules),
        });
    }
    let whole = find("linux-image-", "").or_else(|| find("linux-image-", "-unsigned"));
    whole.map(|image| Names {
        image,
        modules: None,
    })
}

/// Judges a kernel by its type information, raw.
pub(crate) fn judge(btf: &[u8], version: &str) -> BtfVerdict {
    let (usable, found) = match Kfuncs::from_btf(btf) {
        Ok(kfuncs) => {
            let check = kfuncs_read(&kfuncs, version);
            (check.state == State::Ok, check.found)
        }
        Err(error) => (
            false,
            format!("its type information cannot be read: {error}"),
        ),
    };
    BtfVerdict { usable, found }
}

/// The kernel of one version, from the cache or fetched; the cache is locked by the caller. One
/// that is there but not usable is no error.
fn get(cache: &Cache, arch: Arch, version: &str, watch: &dyn Watch) -> Result<Kernel, LabError> {
    let at = cache.path(&format!("kernels/{}/{version}", arch.debian()));
    if read_record(&at).is_none() {
        fetch(cache, arch, version, &at, watch)?;
    }
    open(&at, arch, version)
}

/// Fetches a kernel's packages and keeps what a guest needs of them.
fn fetch(
    cache: &Cache,
    arch: Arch,
    version: &str,
    at: &Path,
    watch: &dyn Watch,
) -> Result<(), LabError> {
    let apt = apt(cache, arch)?;
    apt.refresh(false, watch)?;
    let look = || Ok::<_, LabError>(choose(&apt.names("linux-")?, version, arch.flavour()));
    let found = match look()? {
        Some(found) => found,
        None => {
            // It may have come since the lists were fetched.
            apt.refresh(true, watch)?;
            look()?.ok_or_else(|| LabError::NoVersion {
                missing: Box::new(apt.missing(&format!("linux-binary or linux-image {version}"))),
            })?
        }
    };
    let scratch = cache.scratch()?;
    let (files, root) = (scratch.path().join("files"), scratch.path().join("kernel"));
    let wanted = |path: &Path| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        name.starts_with("vmlinuz") || (arch == Arch::Arm64 && name.starts_with(CPUFREQ_DT))
    };
    let mut packages = vec![apt.fetch(&found.image, &files, &wanted, watch)?];
    if let Some(modules) = found.modules.filter(|_| arch == Arch::Arm64) {
        packages.push(apt.fetch(&modules, &files, &wanted, watch)?);
    }
    fs::create_dir_all(&root).map_err(LabError::file(&root, "made"))?;
    let by_name = files_by_name(&files);
    let image = by_name.iter().find(|(name, _)| name.starts_with("vmlinuz"));
    let (_, image) = image.ok_or_else(|| LabError::damaged(&found.image, "no vmlinuz in it"))?;
    let to = root.join("vmlinuz");
    fs::rename(image, &to).map_err(LabError::writing(&to))?;
    if let Some(path) =
        (by_name.iter()).find_map(|(name, path)| name.starts_with(CPUFREQ_DT).then_some(path))
    {
        let to = root.join(CPUFREQ_DT);
        fs::write(&to, modules::unpacked(path)?).map_err(LabError::writing(&to))?;
    }
    watch.step(&format!("type information of {} {version}", arch.name()));
    // Without it the verdict says why.
    if let Ok(btf) = read_btf(arch, &to) {
        let file = root.join(BTF);
        fs::write(&file, btf).map_err(LabError::writing(&file))?;
    }
    write_record(&root, &packages)?;
    Ok(install(&root, at, &scratch)?)
}

/// Of an image as packages have it.
fn read_btf(arch: Arch, image: &Path) -> Result<Vec<u8>, LabError> {
    let bytes = fs::read(image).map_err(LabError::reading(image))?;
    image::btf(arch, &bytes)
}

/// A kernel that was fetched; one that is not whole is named.
fn open(at: &Path, arch: Arch, version: &str) -> Result<Kernel, LabError> {
    let damaged = |why: &str| {
        let what = format!("{} (remove it, it is fetched again)", at.display());
        LabError::damaged(what, why)
    };
    let record = read_record(at).ok_or_else(|| damaged("no record of its packages"))?;
    let package = record.packages.into_iter().next();
    let image = at.join("vmlinuz");
    let btf = match fs::read(at.join(BTF)) {
        Ok(btf) => Ok(btf),
        Err(_) => read_btf(arch, &image),
    };
    let module = at.join(CPUFREQ_DT);
    Ok(Kernel {
        version: version.to_owned(),
        package: package.ok_or_else(|| damaged("an empty record"))?,
        image,
        cpufreq_dt: module.is_file().then_some(module),
        btf: match btf {
            Ok(btf) => judge(&btf, version),
            Err(error) => BtfVerdict {
                usable: false,
                found: error.to_string(),
            },
        },
    })
}

/// The file that a kernel was configured with, which other machines have in `/boot`. It is in the
/// image's package, or in one that comes with it; the cache is locked by the caller.
///
/// # Errors
/// When it cannot be had.
pub(crate) fn config(
    cache: &Cache,
    arch: Arch,
    kernel: &Kernel,
    watch: &dyn Watch,
) -> Result<PathBuf, LabError> {
    let at = kernel.image.with_file_name(CONFIG);
    if at.is_file() {
        return Ok(at);
    }
    let image = &kernel.package.package;
    let apart = image.strip_prefix("linux-binary-");
    let release = apart.map(|rest| rest.trim_start_matches("unsigned-"));
    let package = release.map_or_else(|| image.clone(), |release| format!("linux-base-{release}"));
    let apt = apt(cache, arch)?;
    apt.refresh(false, watch)?;
    let scratch = cache.scratch()?;
    let files = scratch.path().join("files");
    let wanted = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name == CONFIG || name.starts_with("config-"))
    };
    apt.fetch(&package, &files, &wanted, watch)?;
    let found = files_by_name(&files).into_values().next();
    let found = found.ok_or_else(|| LabError::damaged(&package, "no configuration in it"))?;
    fs::rename(&found, &at).map_err(LabError::writing(&at))?;
    Ok(at)
}

/// The kernels in the cache, the oldest version first. One that is not whole is left out: a run
/// that wants it says so.
pub(crate) fn kept(cache: &Cache, arch: Arch) -> Vec<Kernel> {
    let folder = cache.path(&format!("kernels/{}", arch.debian()));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let kernel = |entry: fs::DirEntry| {
        let version = entry.file_name().into_string().ok()?;
        open(&entry.path(), arch, &version).ok()
    };
    let mut kept: Vec<Kernel> = entries.filter_map(kernel).collect();
    kept.sort_by(|a, b| by_version(&a.version).cmp(&by_version(&b.version)));
    kept
}

/// What versions are ordered by: their numbers, so that 6.9 is before 6.18.
fn by_version(version: &str) -> (Option<Release>, &str) {
    (Release::parse(version), version)
}

/// Every wanted kernel, fetched if it can be had.
///
/// # Errors
/// When the cache cannot be used.
pub fn offers(cache: &Cache, arch: Arch, watch: &dyn Watch) -> Result<Vec<Offer>, LabError> {
    let _lock = cache.lock(|| watch.step(WAITING))?;
    let offer = |version: &&str| Offer {
        version: (*version).to_owned(),
        kernel: get(cache, arch, version, watch).map_err(|error| error.to_string()),
    };
    Ok(WANTED.iter().map(offer).collect())
}

/// A kernel's version and its type information, raw, for those who read it themselves: of
/// `version`, else of the first of [`WANTED`].
///
/// # Errors
/// When it cannot be had or read.
pub fn type_information(
    cache: &Cache,
    arch: Arch,
    version: Option<&str>,
    watch: &dyn Watch,
) -> Result<(String, Vec<u8>), LabError> {
    let _lock = cache.lock(|| watch.step(WAITING))?;
    let kernel = get(cache, arch, version.unwrap_or(WANTED[0]), watch)?;
    let beside = kernel.image.with_file_name(BTF);
    let btf = match fs::read(&beside) {
        Ok(btf) => btf,
        Err(_) => read_btf(arch, &kernel.image)?,
    };
    Ok((kernel.version, btf))
}

/// The kernel for a run: the one of `version`, else the first of [`WANTED`] that can be used. What
/// is passed over is said. With `operating_points` a kernel whose module for them is not in the
/// archive any more is passed over too, unless it is the named one: then the guest has one
/// frequency and no energy model, which is said.
///
/// # Errors
/// When the named one cannot be used or had, or none can.
pub(crate) fn pick(
    cache: &Cache,
    arch: Arch,
    version: Option<&str>,
    operating_points: bool,
    watch: &dyn Watch,
) -> Result<Kernel, LabError> {
    const NO_MODULE: &str = "its module cpufreq-dt is not in the archive: no operating points and \
                             no energy model in the guest";
    let named = version.is_some();
    let versions: Vec<&str> = match version {
        Some(version) => {
            if !is_version(version) {
                let wanted = WANTED.join(", ");
                let why = format!("kernel `{version}`: expected a version as one of {wanted}");
                return Err(LabError::Request(why));
            }
            vec![version]
        }
        None => WANTED.to_vec(),
    };
    let mut tried = Vec::new();
    for version in versions {
        let why = match get(cache, arch, version, watch) {
            Ok(kernel) if kernel.btf.usable => {
                match (operating_points && kernel.cpufreq_dt.is_none(), named) {
                    (true, false) => NO_MODULE.to_owned(),
                    (lacks, _) => {
                        if lacks {
                            watch.remark(&format!("kernel {version} for {arch}: {NO_MODULE}"));
                        }
                        return Ok(kernel);
                    }
                }
            }
            Ok(kernel) => kernel.btf.found,
            // Named, and there is no such kernel: no other one is looked for.
            Err(error @ LabError::NoVersion { .. }) if named => return Err(error),
            Err(error) => error.to_string(),
        };
        watch.remark(&format!(
            "kernel {version} for {arch} is passed over: {why}"
        ));
        tried.push(Tried {
            version: version.to_owned(),
            why,
        });
    }
    Err(LabError::NoKernel {
        arch: arch.name().to_owned(),
        tried,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeplace_host::called;

    fn names() -> Vec<String> {
        // As `apt-cache pkgnames linux-` gives them for trixie and trixie-backports.
        [
            "linux-binary-7.0.13+deb13-arm64",
            "linux-binary-7.0.13+deb13-cloud-amd64",
            "linux-binary-7.0.13+deb13-rt-arm64",
            "linux-binary-unsigned-7.3.4+deb13-arm64",
            "linux-binary-unsigned-7.3.4+deb13-cloud-amd64",
            "linux-image-6.12.90+deb12-cloud-amd64",
            "linux-image-6.12.90+deb12.1-cloud-amd64",
            "linux-image-6.16.12+deb13-arm64",
            "linux-image-6.16.12+deb13-cloud-amd64",
            "linux-image-6.16.12+deb13-cloud-arm64",
            "linux-image-6.1.0-50-cloud-amd64-unsigned",
            "linux-image-7.0.13+deb13-arm64",
            "linux-image-7.0.13+deb13-cloud-amd64",
            "linux-modules-7.0.13+deb13-arm64",
            "linux-modules-7.3.4+deb13-arm64",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    /// `doctor` and documents name the range of what is tried here.
    #[test]
    fn the_wanted_kernels_span_those_that_are_tried() {
        let wanted = WANTED.map(|text| Release::parse(text).expect("a release"));
        let series = |release: Option<&Release>| release.map(|r| r.series());
        let [oldest, newest] = Release::TRIED.map(|r| Some(r.series()));
        assert_eq!(series(wanted.iter().min()), oldest);
        assert_eq!(series(wanted.iter().max()), newest);
    }

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        let mut versions = ["7.3.4", "6.18.15", "6.9", "6.18.2", "6.9.1"];
        versions.sort_by(|a, b| by_version(a).cmp(&by_version(b)));
        assert_eq!(versions, ["6.9", "6.9.1", "6.18.2", "6.18.15", "7.3.4"]);
    }

    #[test]
    fn packages_are_chosen_by_version_and_flavour() {
        let image = |version, flavour| choose(&names(), version, flavour).map(|n| n.image);
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(
            image("7.3.4", "cloud-amd64"),
            some("linux-binary-unsigned-7.3.4+deb13-cloud-amd64")
        );
        // Not the empty package of the same version, not the real-time or cloud flavour.
        assert_eq!(
            image("7.0.13", "arm64"),
            some("linux-binary-7.0.13+deb13-arm64")
        );
        assert_eq!(
            image("6.16.12", "arm64"),
            some("linux-image-6.16.12+deb13-arm64")
        );
        assert_eq!(
            image("6.12.90", "cloud-amd64"),
            some("linux-image-6.12.90+deb12.1-cloud-amd64")
        );
        assert_eq!(
            image("6.1.0", "cloud-amd64"),
            some("linux-image-6.1.0-50-cloud-amd64-unsigned")
        );
        assert_eq!(image("7.3", "arm64"), None);
        assert_eq!(image("6.18.15", "arm64"), None);
    }

    #[test]
    fn modules_come_with_newer_kernels() {
        let modules = |version| choose(&names(), version, "arm64").and_then(|n| n.modules);
        assert_eq!(
            modules("7.3.4").as_deref(),
            Some("linux-modules-7.3.4+deb13-arm64")
        );
        assert_eq!(modules("6.16.12"), None);
    }

    /// Type information with functions, each tagged as callable or not (Documentation/bpf/btf.rst).
    fn types(functions: &[(&str, bool)]) -> Vec<u8> {
        let (mut strings, mut types) = (b"\0bpf_kfunc\0".to_vec(), Vec::new());
        let size = |bytes: &[u8]| u32::try_from(bytes.len()).expect("small");
        let words = |words: &[u32]| {
            words
                .iter()
                .flat_map(|w| w.to_le_bytes())
                .collect::<Vec<_>>()
        };
        for (name, _) in functions {
            types.extend(words(&[size(&strings), 12 << 24, 0]));
            strings.extend([name.as_bytes(), &[0]].concat());
        }
        for (number, _) in (1..).zip(functions).filter(|(_, (_, tagged))| *tagged) {
            types.extend(words(&[1, 17 << 24, number, u32::MAX]));
        }
        let header = [24, 0, size(&types), size(&types), size(&strings)];
        [vec![0x9f, 0xeb, 1, 0], words(&header), types, strings].concat()
    }

    #[test]
    fn a_kernel_is_judged_by_what_the_live_scheduler_calls() {
        let all = |tagged: bool| -> Vec<_> { called().map(|name| (name, tagged)).collect() };
        let verdict = judge(&types(&all(true)), "7.3.4");
        assert!(verdict.usable, "{verdict:?}");
        let mut broken = all(true);
        broken.retain(|(name, _)| *name != "scx_bpf_kick_cpu");
        broken.push(("scx_bpf_kick_cpu", false));
        let verdict = judge(&types(&broken), "7.2.12");
        assert!(
            !verdict.usable && verdict.found.contains("scx_bpf_kick_cpu"),
            "{verdict:?}"
        );
        // Before 7.1 no tag is needed.
        assert!(judge(&types(&broken), "7.0.13").usable);
        assert!(!judge(&types(&[]), "6.12.95").usable);
        assert!(!judge(b"no types", "7.3.4").usable);
    }
}
