//! A scheduler, loaded. The result names what was loaded, with a hash: all that decides must be in
//! that hash (docs/guide/schedulers.md).
//!
//! What must stay: the hash is over all that decides: program, arguments, kernel interface,
//! machine. Free: how the parts are kept between runs.
//!
//! Tests by part: `a_result_says_which_scheduler_it_was` (`Scheduler::load`, `Image::read`,
//! `started`, hash, `notes`, `loader_goes_on`), `what_is_no_scheduler_is_refused` (`parse`,
//! `from_words`, `find`, `is_object`, `check_object`), `wrong_options_are_refused`
//! (`OfferedKernel::new`, `version`, `has_sched_ext`),
//! schedulers.rs::`runs_are_the_same_twice_and_interpreted` (`instance`, `generic_loader`),
//! `damaged_objects_are_refused_or_run` (hostile). `schedulers_in` (near names) and `size` (`-v`)
//! have no test of their own.
//!
//! Callers: crates/cli/src/commands/schedulers.rs, crates/cli/src/commands/lab.rs (`parse`,
//! `generic_loader`).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::a_result_says_which_scheduler_it_was,
//! crates/cli/tests/all/schedulers.rs::what_is_no_scheduler_is_refused

use crate::kernel::Layout;
use crate::load::{self, Attached, Offered, OfferedKernel};
use crate::{ForeignError, Instance, words};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};
use wakeplace_bpf_vm::{Btf, Fault, Mode};
use wakeplace_platform::Platform;
use wakeplace_sched_ext::Callback;
use wakeplace_text::{did_you_mean_first, nearest_few};

/// The program that loads an object file, for those without a loader of their own.
const GENERIC_LOADER: &str = "wakeplace-bpf-load";

/// What the user calls a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// As it was given.
    pub text: String,
    /// The same with the program's name alone, for tables.
    pub name: String,
    /// The program, or the object file.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
}

impl Command {
    /// From one text, as `scx_bpfland -m powersave`.
    ///
    /// # Errors
    /// No such program.
    pub fn parse(text: &str) -> Result<Self, ForeignError> {
        let words = words::split(text).map_err(|why| ForeignError::Refused {
            program: text.to_owned(),
            why,
        })?;
        Self::from_words(&words)
    }

    /// From words.
    ///
    /// # Errors
    /// No such program.
    pub fn from_words(words: &[String]) -> Result<Self, ForeignError> {
        let (program, args) = words.split_first().ok_or_else(|| ForeignError::Refused {
            program: String::new(),
            why: "expected a scheduler's program or .bpf.o file".to_owned(),
        })?;
        let file = program.rsplit('/').next().unwrap_or(program);
        let mut name = vec![file.to_owned()];
        name.extend(args.iter().cloned());
        Ok(Self {
            text: words.join(" "),
            name: name.join(" "),
            program: find(program)?,
            args: args.to_vec(),
        })
    }

    /// Says whether what is to be loaded is an object file without a loader.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.program.extension().is_some_and(|end| end == "o")
    }
}

/// Bits of a file's mode: its owner, its group or others may execute it.
const ANY_MAY_EXECUTE: u32 = 0o111;

/// A path as it is, a name from `PATH`.
fn find(program: &str) -> Result<PathBuf, ForeignError> {
    let missing = |why: &str| ForeignError::Refused {
        program: program.to_owned(),
        why: why.to_owned(),
    };
    if program.contains('/') || program.ends_with(".o") {
        let path = PathBuf::from(program);
        return match path.metadata() {
            Ok(found) if found.is_dir() => Err(missing("it is a folder; expected a program")),
            Ok(found) if !program.ends_with(".o") && found.mode() & ANY_MAY_EXECUTE == 0 => Err(
                missing("it may not be executed; expected a program or a .o file"),
            ),
            Ok(_) => Ok(path),
            Err(_) => Err(missing("there is no such file")),
        };
    }
    let all = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&all).map(|folder| folder.join(program));
    let found = found.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| {
        let names = schedulers_in(&all);
        let near = nearest_few(program, names.iter().map(String::as_str), 1);
        let end = did_you_mean_first(&near, "expected a name there, or a path");
        missing(&format!("no such program in PATH{end}"))
    })
}

/// Names of programs there that are called as sched_ext schedulers are.
fn schedulers_in(path: &OsStr) -> BTreeSet<String> {
    let folders = env::split_paths(path).filter_map(|folder| fs::read_dir(folder).ok());
    let names = folders.flatten().flatten().map(|entry| entry.file_name());
    let names = names.filter_map(|name| name.into_string().ok());
    names.filter(|name| name.starts_with("scx_")).collect()
}

/// The generic loader: beside this program, or where the environment says.
///
/// # Errors
/// When it is neither there nor in `PATH`.
pub fn generic_loader() -> Result<PathBuf, ForeignError> {
    if let Some(path) = env::var_os("WAKEPLACE_BPF_LOAD") {
        return Ok(path.into());
    }
    let own = env::current_exe().map_err(ForeignError::host("the place of this program"))?;
    let beside = own
        .ancestors()
        .skip(1)
        .take(2)
        .map(|folder| folder.join(GENERIC_LOADER));
    let found = beside.into_iter().find(|path| path.is_file());
    found.map_or_else(|| find(GENERIC_LOADER), Ok)
}

impl OfferedKernel {
    /// From the kernel's type information, and its release as uname(2) has it.
    ///
    /// # Errors
    /// When it is none, or the release does not begin with a version: loaders read it from there
    /// (libbpf's `get_kernel_version`).
    pub fn new(release: &str, bytes: Vec<u8>) -> Result<Self, ForeignError> {
        let bad = |why: String| ForeignError::Kernel {
            kernel: release.to_owned(),
            why,
        };
        if version(release).is_none() {
            return Err(bad(
                "its release is expected to begin with three numbers, as 7.3.4 (a file of type \
                 information is named by it: 7.3.4-mine.btf)"
                    .to_owned(),
            ));
        }
        let btf = Btf::parse(bytes.clone(), None).map_err(|error| bad(error.to_string()))?;
        Ok(Self {
            release: release.to_owned(),
            btf: Arc::new(btf),
            bytes: Arc::new(bytes),
        })
    }

    /// Has it the interface at all?
    #[must_use]
    pub fn has_sched_ext(&self) -> bool {
        Layout::of(&self.btf, &self.release).is_ok()
    }
}

/// The three numbers with which a release begins, as sscanf's `%u.%u.%u` takes them. None: it does
/// not begin so.
pub(crate) fn version(release: &str) -> Option<[u16; 3]> {
    let mut parts = release.splitn(3, '.');
    let [major, minor, rest] = [parts.next()?, parts.next()?, parts.next()?];
    let end = rest.find(|c: char| !c.is_ascii_digit());
    let patch = &rest[..end.unwrap_or(rest.len())];
    Some([
        major.parse().ok()?,
        minor.parse().ok()?,
        patch.parse().ok()?,
    ])
}

/// A scheduler's program as it was read, and what is started for it.
#[derive(Clone, Debug)]
pub struct Image {
    /// What the user called.
    pub command: Command,
    /// SHA-256 of the program or the object file.
    pub hash: String,
    /// The loader: the program itself, or that of object files.
    loader: PathBuf,
}

impl Image {
    /// Reads it.
    ///
    /// # Errors
    /// It cannot be read, is no object for BPF, or there is no loader for one.
    pub fn read(command: Command) -> Result<Self, ForeignError> {
        let bytes = fs::read(&command.program).map_err(|error| ForeignError::Start {
            program: command.program.display().to_string(),
            error,
        })?;
        let loader = match command.is_object() {
            true => {
                check_object(&command.program, &bytes)?;
                generic_loader()?
            }
            false => command.program.clone(),
        };
        let mut hash = String::new();
        for byte in Sha256::digest(&bytes) {
            let _ = write!(hash, "{byte:02x}");
        }
        Ok(Self {
            command,
            hash,
            loader,
        })
    }

    /// The program that is started, and its arguments.
    pub(crate) fn started(&self) -> (PathBuf, Vec<String>) {
        let object = (self.command.is_object()).then(|| self.command.program.display().to_string());
        let args = object.into_iter().chain(self.command.args.iter().cloned());
        (self.loader.clone(), args.collect())
    }
}

/// A scheduler that a loader has attached: where each run begins.
#[derive(Debug)]
pub struct Scheduler {
    /// What the user called.
    pub command: Command,
    /// SHA-256 of the program or the object file.
    pub hash: String,
    /// The kernel whose interface it was offered.
    pub kernel: String,
    attached: Attached,
    /// What each run starts anew: a loader of its own. None: it has nothing to do any more.
    start: Option<Start>,
}

/// How a loader is started.
#[derive(Debug)]
struct Start {
    program: PathBuf,
    args: Vec<String>,
    offered: Offered,
}

impl Scheduler {
    /// Runs the loader against the modelled machine until it has attached a scheduler.
    ///
    /// # Errors
    /// What it lacks, by name; or what it did instead.
    pub fn load(
        image: &Image,
        platform: &Platform,
        kernel: &OfferedKernel,
        mode: Mode,
    ) -> Result<Self, ForeignError> {
        let layout = Arc::new(Layout::of(&kernel.btf, &kernel.release)?);
        let offered = Offered {
            platform: platform.clone(),
            kernel: kernel.clone(),
            layout,
        };
        let command = &image.command;
        let (program, args) = image.started();
        let refused = |fault: Fault| ForeignError::Refused {
            program: command.text.clone(),
            why: fault.to_string(),
        };
        let (mut attached, process) = load::load(&command.text, &program, &args, &offered)?;
        attached.vm = attached.vm.copy().map_err(refused)?;
        drop(process);
        if mode == Mode::Compiled {
            // Only these run from now on.
            let called: Vec<_> = attached.table.called().collect();
            attached.vm.compile(&called).map_err(refused)?;
        }
        Ok(Self {
            command: command.clone(),
            hash: image.hash.clone(),
            kernel: kernel.release.clone(),
            attached,
            // The generic loader waits for the end, and does nothing else.
            start: (!command.is_object()).then_some(Start {
                program,
                args,
                offered,
            }),
        })
    }

    /// Its own name (`sched_ext_ops.name`).
    #[must_use]
    pub fn name(&self) -> &str {
        &self.attached.table.name
    }

    /// A scheduler with a state of its own, as it was when it was attached, and a loader of its own
    /// beside it.
    ///
    /// # Errors
    /// When the host has no room, or a second loader does something else than the first.
    pub fn instance(&self) -> Result<Instance, ForeignError> {
        let refused = |why: String| ForeignError::Refused {
            program: self.command.text.clone(),
            why,
        };
        let Some(start) = &self.start else {
            let copy = self
                .attached
                .copy()
                .map_err(|fault| refused(fault.to_string()))?;
            return Ok(Instance::new(copy, &self.kernel, None));
        };
        let (mut attached, process) = load::load(
            &self.command.text,
            &start.program,
            &start.args,
            &start.offered,
        )?;
        if !attached.vm.compiled_as(&self.attached.vm) {
            let why = "two loads of it differ: it has loaded other programs than before";
            return Err(refused(why.to_owned()));
        }
        Ok(Instance::new(attached, &self.kernel, Some(process)))
    }

    /// Does its loader go on while the simulation runs?
    #[must_use]
    pub fn loader_goes_on(&self) -> bool {
        self.start.is_some()
    }

    /// What a reader of a result must know of how it was run.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.attached.state.knows("arch_freq_scale") {
            notes.push("its programs read `arch_freq_scale`, which is always 1024 here".to_owned());
        }
        if !self.attached.uncalled.is_empty() {
            let names = self.attached.uncalled.join(", ");
            notes.push(format!("its tracing programs are not called: {names}"));
        }
        let vm = &self.attached.vm;
        let interpreted = |program: &usize| vm.compiles() && !vm.is_compiled(*program);
        let long: BTreeSet<_> = self.attached.table.called().filter(interpreted).collect();
        if !long.is_empty() {
            let names = long.iter().map(|at| vm.programs()[*at].name.as_str());
            let names = names.collect::<Vec<_>>().join(", ");
            notes.push(format!(
                "interpreted, since they are too long to be compiled: {names}"
            ));
        }
        let called = |member: &str| {
            let mut all = Callback::ALL.into_iter();
            all.any(|callback| callback.is_called() && callback.name() == member)
        };
        let members = self.attached.table.programs.keys();
        let names: Vec<_> = members.filter(|name| !called(name)).cloned().collect();
        if !names.is_empty() {
            let names = names.join(", ");
            notes.push(format!("its callbacks that are never called: {names}"));
        }
        notes
    }

    /// Programs and instructions, for `-v`.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        let programs = self.attached.vm.programs();
        (
            programs.len(),
            programs.iter().map(|program| program.nr_insns()).sum(),
        )
    }
}

/// `e_machine` of BPF (`EM_BPF`).
const EM_BPF: u16 = 247;

/// An object file of another architecture is refused before anything is started.
fn check_object(path: &Path, bytes: &[u8]) -> Result<(), ForeignError> {
    let refused = |why: String| ForeignError::Refused {
        program: path.display().to_string(),
        why,
    };
    if bytes.get(..4) != Some(b"\x7fELF") {
        return Err(refused(
            "no ELF file; expected an object for BPF".to_owned(),
        ));
    }
    match bytes.get(18..20).map(|b| u16::from_le_bytes([b[0], b[1]])) {
        Some(EM_BPF) => Ok(()),
        Some(other) => Err(refused(format!(
            "an object for another architecture (ELF machine {other}); expected BPF, {EM_BPF}"
        ))),
        None => Err(refused("it is cut short".to_owned())),
    }
}
