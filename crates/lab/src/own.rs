//! A kernel of the user's own: an image in a file, with its modules or without. What the lab's
//! guests need and it lacks is said before anything is booted, as far as its configuration tells
//! (docs/guide/lab.md, "A kernel of your own"). What is lacking is named with the option of the
//! kernel's configuration.
//!
//! What must stay: whatever is known to be lacking is said before a boot, all of it. Free: words of
//! the sentences, but for those that tests quote.
//!
//! Tests by part (own/tests.rs): `a_version_is_no_path` (`Choice::of`, `is_version`),
//! `what_is_no_image_of_the_guest_is_refused` (`open`, `read`, `wrong`, `boot_file`),
//! `what_the_configuration_lacks_is_named` (`require`, `lacks`, `need`),
//! `a_module_that_is_there_will_do` (`modules`), `a_scheduler_needs_more_than_the_kernels_own`
//! (`require`), `a_configuration_beside_the_image_is_read` (`config_beside`). `unread` has no test
//! of its own; `no_opps`, `has_opps` and `version` are words and looks for run.rs.
//!
//! Callers: run.rs, bootable.rs, crates/cli/src/commands/lab.rs (`Choice::of`).
//!
//! Tests: crates/lab/src/own/tests.rs, crates/cli/tests/all/lab.rs

use crate::image::config::{self, Config, Setting};
use crate::image::{self, kind};
use crate::kernels::{BtfVerdict, WANTED, judge};
use crate::machine::Machine;
use crate::modules::{Module, Modules};
use crate::outcome::Scheduler;
use crate::{Arch, LabError};
use std::fs;
use std::path::{Path, PathBuf};
use wakeplace_archive::apt::sha256;
use wakeplace_host::Release;

/// Largest image that is read; the largest one seen has 60 MB.
const MAX_IMAGE_BYTES: u64 = 512 << 20;
/// Modules of what brings results back.
const OF_RESULTS: [&str; 2] = ["virtio_pci", "virtio_console"];
/// Modules of a platform's operating points (arm64).
const OF_OPPS: [&str; 2] = ["cpufreq_dt_platdev", "cpufreq_dt"];

/// Which kernel a guest has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The first usable one of [`WANTED`].
    #[default]
    Newest,
    /// Debian's of this version.
    Version(String),
    /// An image of the user's.
    Own(Box<Own>),
}

impl From<Option<String>> for Choice {
    fn from(version: Option<String>) -> Self {
        version.map_or(Self::Newest, Self::Version)
    }
}

impl Choice {
    /// A version or the path of an image, as a user types it; with the folder of its modules.
    ///
    /// # Errors
    /// When it is neither, or an image that a guest of `arch` cannot boot.
    pub fn of(text: &str, modules: Option<&Path>, arch: Arch) -> Result<Self, LabError> {
        if is_version(text) {
            return match modules {
                None => Ok(Self::Version(text.to_owned())),
                Some(folder) => Err(LabError::Request(format!(
                    "--modules {}: kernel {text} is Debian's and brings its own; expected the path \
                     of an image as the kernel",
                    folder.display()
                ))),
            };
        }
        Own::open(Path::new(text), modules, arch).map(|own| Self::Own(Box::new(own)))
    }
}

/// Anything else is a path: a file of such a name is `./7.3.4`.
pub(crate) fn is_version(text: &str) -> bool {
    Release::parse(text).is_some() && !text.contains(['/', '_', ' '])
}

/// An image in a file, looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    pub(crate) file: PathBuf,
    /// As `uname -r` will say it, if the image tells.
    pub(crate) release: Option<String>,
    pub(crate) sha256: String,
    arch: Arch,
    /// What it was configured with, if that is in the image or beside it.
    pub(crate) config: Option<String>,
    btf: BtfVerdict,
    modules: Option<Modules>,
}

/// What an option of the configuration is for.
struct Need {
    option: &'static str,
    /// The module that will do, too.
    module: Option<&'static str>,
    what_for: &'static str,
}

/// An option that is needed whatever modules there are.
const fn need(option: &'static str, what_for: &'static str) -> Need {
    Need {
        option,
        module: None,
        what_for,
    }
}

/// Of every guest.
const NEEDS: [Need; 9] = [
    need("BLK_DEV_INITRD", "the guest's files"),
    need("BINFMT_ELF", "programs"),
    need("BINFMT_SCRIPT", "scripts"),
    need("PROC_FS", "the guest's first process"),
    need("SYSFS", "the guest's first process"),
    need("DEVTMPFS", "devices"),
    need("PCI", "the way back of results"),
    Need {
        option: "VIRTIO_PCI",
        module: Some(OF_RESULTS[0]),
        what_for: "the way back of results",
    },
    Need {
        option: "VIRTIO_CONSOLE",
        module: Some(OF_RESULTS[1]),
        what_for: "the way back of results",
    },
];
/// Of those that load a scheduler.
const OF_SCHEDULERS: [Need; 4] = [
    need("SCHED_CLASS_EXT", "the scheduler"),
    need("BPF_SYSCALL", "the scheduler"),
    need("BPF_JIT", "the scheduler"),
    need("DEBUG_INFO_BTF", "the scheduler"),
];

impl Own {
    /// Looks at a file.
    ///
    /// # Errors
    /// When it is no image that a guest of `arch` boots, or there are no such modules.
    pub fn open(file: &Path, modules: Option<&Path>, arch: Arch) -> Result<Self, LabError> {
        let bytes = read(file)?;
        let refuse = |found: &str| {
            let name = boot_file(arch);
            Err(wrong(
                file,
                &format!("{found}; expected an image, as {name}"),
            ))
        };
        match kind::recognise(&bytes) {
            Ok(found) if found == arch => {}
            Ok(found) => return refuse(&format!("it is for {found}, the guest is {arch}")),
            Err(found) => return refuse(&found),
        }
        // Packed in a way that is not known here, it may boot all the same.
        let kernel = image::unpacked(arch, &bytes).ok();
        let release = kind::release(arch, &bytes, kernel.as_deref());
        let modules = match modules {
            Some(folder) => Some(Modules::named(folder, release.as_deref())?),
            None => Modules::beside(file, release.as_deref()),
        };
        let embedded = kernel.as_deref().and_then(config::of_kernel);
        Ok(Self {
            file: file.to_owned(),
            sha256: sha256(file)?,
            arch,
            config: embedded.or_else(|| config_beside(file, release.as_deref())),
            btf: kernel.as_deref().map_or_else(unread, |kernel| {
                match image::btf_of(arch, kernel) {
                    Ok(btf) => judge(&btf, release.as_deref().unwrap_or_default()),
                    Err(_) => BtfVerdict {
                        usable: false,
                        found: "no type information in it (CONFIG_DEBUG_INFO_BTF)".to_owned(),
                    },
                }
            }),
            release,
            modules,
        })
    }

    /// Gives what it is called where a version stands.
    pub(crate) fn version(&self) -> String {
        let own = || self.file.display().to_string();
        self.release.clone().unwrap_or_else(own)
    }

    /// Has it all that a guest needs, as far as one can know before it runs?
    ///
    /// # Errors
    /// What its configuration or its types lack, in one sentence.
    pub(crate) fn require(&self, machine: &Machine, scheduler: &Scheduler) -> Result<(), LabError> {
        let loads = *scheduler != Scheduler::Kernel;
        if let Some(config) = self.config.as_deref().and_then(Config::parse) {
            let console = match self.arch {
                Arch::X86_64 => "SERIAL_8250_CONSOLE",
                Arch::Arm64 => "SERIAL_AMBA_PL011_CONSOLE",
            };
            let mut needs = vec![need(console, "the guest's console")];
            needs.extend(NEEDS);
            if self.arch == Arch::Arm64 {
                needs.push(need("PCI_HOST_GENERIC", "the way back of results"));
            }
            if machine.cpus > 1 {
                needs.push(need("SMP", "more than one CPU"));
            }
            if loads {
                needs.extend(OF_SCHEDULERS);
            }
            let lacks: Vec<String> = (needs.iter())
                .filter_map(|need| self.lacks(need, &config))
                .collect();
            if !lacks.is_empty() {
                let why = format!("a guest needs {}", lacks.join(", "));
                return Err(wrong(&self.file, &why));
            }
        }
        match loads && !self.btf.usable {
            true => Err(wrong(
                &self.file,
                &format!("it cannot load {scheduler}: {}", self.btf.found),
            )),
            false => Ok(()),
        }
    }

    /// None: the need is met.
    fn lacks(&self, need: &Need, config: &Config) -> Option<String> {
        let Need {
            option, what_for, ..
        } = need;
        match (config.get(option), need.module) {
            (Setting::BuiltIn, _) => None,
            (Setting::Module, Some(module)) => match &self.modules {
                Some(modules) if modules.has(module) => None,
                Some(modules) => Some(format!(
                    "the module {module}, which is not in {} ({what_for})",
                    modules.folder().display()
                )),
                None => Some(format!(
                    "the module {module} of CONFIG_{option}=m ({what_for}; `--modules` names its \
                     folder)"
                )),
            },
            (Setting::Module, None) => {
                Some(format!("CONFIG_{option}=y, which is a module ({what_for})"))
            }
            (Setting::Off, _) => Some(format!("CONFIG_{option}, which is off ({what_for})")),
        }
    }

    /// The modules that a guest of this machine loads.
    ///
    /// # Errors
    /// When one cannot be read, or is of another kernel.
    pub(crate) fn modules(&self, machine: &Machine) -> Result<Vec<Module>, LabError> {
        let Some(modules) = &self.modules else {
            return Ok(Vec::new());
        };
        let mut names = OF_RESULTS.to_vec();
        if has_opps(self.arch, machine) {
            names.extend(OF_OPPS);
        }
        modules.load(&names)
    }

    /// What a guest that came up without its platform's operating points says of this kernel.
    pub(crate) fn no_opps(&self) -> String {
        format!(
            "kernel {}: no operating points and no energy model in the guest (CONFIG_CPUFREQ_DT, \
             built in or with its module, and CONFIG_ENERGY_MODEL)",
            self.file.display()
        )
    }
}

/// Has a guest of this machine operating points?
pub(crate) fn has_opps(arch: Arch, machine: &Machine) -> bool {
    arch == Arch::Arm64 && machine.platform.is_some()
}

/// The verdict on an image whose packing is not read here.
fn unread() -> BtfVerdict {
    BtfVerdict {
        usable: false,
        found: "it is packed in a way that is not read here; expected gzip or zstd".to_owned(),
    }
}

/// The kernel's file, and why it does not do.
fn wrong(file: &Path, why: &str) -> LabError {
    LabError::Request(format!("kernel {}: {why}", file.display()))
}

/// What `make` makes, for messages.
fn boot_file(arch: Arch) -> &'static str {
    match arch {
        Arch::X86_64 => "arch/x86/boot/bzImage",
        Arch::Arm64 => "arch/arm64/boot/Image",
    }
}

/// An image's bytes, or what else would do.
fn read(file: &Path) -> Result<Vec<u8>, LabError> {
    let Ok(facts) = fs::metadata(file) else {
        let wanted = WANTED.join(", ");
        return Err(wrong(
            file,
            &format!("no such file; expected an image, or a version as one of {wanted}"),
        ));
    };
    if facts.is_dir() {
        let images = Arch::ALL.map(|arch| file.join(boot_file(arch)));
        let near = images.iter().find(|image| image.is_file());
        let near = near.map_or(String::new(), |image| {
            format!("; did you mean `{}`?", image.display())
        });
        return Err(wrong(file, &format!("a folder; expected an image{near}")));
    }
    if !facts.is_file() || facts.len() > MAX_IMAGE_BYTES {
        return Err(wrong(file, "expected a file of at most 512 MiB"));
    }
    fs::read(file).map_err(|error| wrong(file, &format!("cannot be read: {error}")))
}

/// `config-RELEASE` beside an installed image, or `.config` of a tree that was built as that
/// release.
fn config_beside(image: &Path, release: Option<&str>) -> Option<String> {
    let (image, release) = (fs::canonicalize(image).ok()?, release?);
    let installed = image.with_file_name(format!("config-{release}"));
    if let Ok(text) = fs::read_to_string(installed) {
        return Some(text);
    }
    let tree = image.ancestors().nth(4)?;
    let built = fs::read_to_string(tree.join("include/config/kernel.release")).ok()?;
    match built.trim() == release {
        true => fs::read_to_string(tree.join(".config")).ok(),
        false => None,
    }
}

#[cfg(test)]
mod tests;
