//! `--scheduler`: anybody's schedulers, loaded before anything is simulated
//! (docs/guide/schedulers.md).
//!
//! What a callback may ask is `wakeplace_foreign`'s and `wakeplace_sched_ext`'s.
//!
//! What must stay: schedulers are verified before the first run, each against each platform; the
//! order of schedulers is that of the options. What all runs may take is bounded before the first
//! (`limits`), and rights are given up before anything of a scheduler is loaded. Facts of
//! `contender` are in results under their names. Tests by part:
//! crates/cli/tests/all/schedulers.rs::`policies_and_schedulers_are_compared` (`add`),
//! schedulers.rs::`what_is_no_scheduler_is_refused` (`images`),
//! schedulers.rs::`wrong_options_are_refused` (`commands`, `kernel_of_file`),
//! schedulers.rs::`a_loader_sees_the_modelled_machine` (`kernel`),
//! schedulers.rs::`a_result_says_which_scheduler_it_was` (`contender`),
//! schedulers.rs::`runs_are_the_same_twice_and_interpreted` (`Loaded`, `--interpret`). No test of
//! its own: `limits` and `own_kernel`.
//!
//! Tests: crates/cli/tests/all/schedulers.rs

use crate::args::SchedulerArgs;
use crate::failure::Failure;
use crate::terminal::Terminal;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use wakeplace_foreign::wall::{Limits, lock_down, no_more_loaders};
use wakeplace_foreign::{Command, Image, Mode, OfferedKernel, Scheduler};
use wakeplace_lab::{Arch, Watch, kernels};
use wakeplace_policy_sys::Policy;
use wakeplace_sched_ext::{Loader, SchedExtOps};
use wakeplace_study::Matrix;

/// The kernel around a scheduler: classes above it, frequencies, idle states.
const KERNEL_AROUND: &str = "linux-7.3";
/// Most bytes of a file of type information that are read.
const MAX_TYPE_BYTES: u64 = 32 << 20;
/// The running kernel's type information.
const OWN_BTF: &str = "/sys/kernel/btf/vmlinux";

/// The schedulers that are asked for, as they are read before anything of them runs.
pub(crate) fn images(args: &SchedulerArgs) -> Result<Vec<Image>, Failure> {
    let commands = commands(args)?;
    let images = commands.into_iter().map(Image::read);
    images.collect::<Result<_, _>>().map_err(Failure::input)
}

/// Loads schedulers into every experiment, each against its platform. Nothing of this machine can
/// be reached any more from then on.
pub(crate) fn add(
    asked: Option<&Asked>,
    args: &SchedulerArgs,
    matrix: &mut Matrix,
    terminal: Terminal,
) -> Result<(), Failure> {
    let Some(Asked { images, kernel }) = asked else {
        return Ok(());
    };
    let locked = lock_down(limits(matrix, images.len()));
    locked.map_err(|error| {
        Failure::Environment(format!("the rights of a run cannot be given up: {error}"))
    })?;
    let mode = match args.interpret {
        true => Mode::Interpreted,
        false => Mode::Compiled,
    };
    // By the whole platform: two files may give theirs the same name.
    let mut loaded: Vec<(_, Vec<wakeplace_study::Scheduler>)> = Vec::new();
    for experiment in &mut matrix.experiments {
        let platform = &experiment.platform;
        let known = loaded.iter().find(|(of, _)| of == platform);
        experiment.schedulers = match known {
            Some((_, schedulers)) => schedulers.clone(),
            None => {
                let mut schedulers: Vec<wakeplace_study::Scheduler> = Vec::new();
                for image in images {
                    let scheduler = Scheduler::load(image, platform, kernel, mode);
                    let scheduler = scheduler.map_err(Failure::input)?;
                    describe(&scheduler, terminal);
                    schedulers.push(contender(scheduler)?);
                }
                loaded.push((platform.clone(), schedulers.clone()));
                schedulers
            }
        };
    }
    if images.iter().all(|image| image.command.is_object()) {
        no_more_loaders();
    }
    Ok(())
}

/// What all runs may take, each of them twice: it may be verified.
fn limits(matrix: &Matrix, nr_schedulers: usize) -> Limits {
    let experiments = matrix.experiments.iter();
    experiments.fold(Limits::default(), |limits, experiment| {
        let contenders = experiment.policies.len() + nr_schedulers;
        let runs = 0..2 * contenders * experiment.seeds.len();
        let simulated = Duration::from_nanos(experiment.options.duration_ns);
        let nr_cpus = experiment.platform.cpus.len();
        runs.fold(limits, |limits, _| limits.and_run(simulated, nr_cpus))
    })
}

/// What the options say; one without a value stands for what follows `--`.
fn commands(args: &SchedulerArgs) -> Result<Vec<Command>, Failure> {
    let mut rest = Some(&args.scheduler_words).filter(|words| !words.is_empty());
    let mut commands = Vec::new();
    for text in &args.scheduler {
        let command = match (text.is_empty(), rest) {
            (true, Some(words)) => {
                rest = None;
                Command::from_words(words)
            }
            (true, None) => {
                return Err(Failure::Input(
                    "--scheduler has no value; expected a command in quotes, an object file, or \
                     `-- PROGRAM ARGUMENTS...` at the end of the line"
                        .to_owned(),
                ));
            }
            (false, _) => Command::parse(text),
        };
        commands.push(command.map_err(Failure::input)?);
    }
    match rest {
        None => Ok(commands),
        Some(words) => Err(Failure::Input(format!(
            "`-- {}` belongs to no --scheduler; expected `--scheduler -- PROGRAM ARGUMENTS...`",
            words.join(" ")
        ))),
    }
}

/// Schedulers that are asked for, and the kernel whose interface they are offered.
pub(crate) struct Asked {
    pub(crate) images: Vec<Image>,
    pub(crate) kernel: OfferedKernel,
}

/// The kernel whose interface is offered.
pub(crate) fn kernel(version: Option<&str>, terminal: Terminal) -> Result<OfferedKernel, Failure> {
    if version.is_none()
        && let Some(own) = own_kernel()
    {
        return Ok(own);
    }
    if let Some(path) = version.filter(|version| version.contains('/')) {
        return kernel_of_file(Path::new(path));
    }
    let arch = Arch::host().map_err(Failure::input)?;
    let cache = wakeplace_lab::cache().map_err(Failure::input)?;
    let found = kernels::type_information(&cache, arch, version, &Told(terminal));
    let (release, btf) = found.map_err(Failure::input)?;
    OfferedKernel::new(&release, btf).map_err(Failure::input)
}

/// A file of raw type information, named by its kernel's release: `7.3.4-mine.btf`.
fn kernel_of_file(path: &Path) -> Result<OfferedKernel, Failure> {
    let bad = |why: String| Failure::Input(format!("--kernel {}: {why}", path.display()));
    let unread = |error: std::io::Error| bad(format!("cannot be read: {error}"));
    let found = fs::metadata(path).map_err(unread)?;
    if !found.is_file() {
        return Err(bad("it is no regular file".to_owned()));
    }
    // A file of `/sys` or one that grows says another length than it has.
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(unread)?;
    let read = file.take(MAX_TYPE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(unread)?;
    if bytes.len() as u64 > MAX_TYPE_BYTES {
        let most = MAX_TYPE_BYTES >> 20;
        return Err(bad(format!(
            "more than {most} MiB; a kernel's type information has about 10"
        )));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let release = name.strip_suffix(".btf").unwrap_or(&name);
    OfferedKernel::new(release, bytes).map_err(Failure::input)
}

/// The running machine's, if it has sched_ext.
fn own_kernel() -> Option<OfferedKernel> {
    let btf = fs::read(OWN_BTF).ok()?;
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    let kernel = OfferedKernel::new(release.trim(), btf).ok()?;
    kernel.has_sched_ext().then_some(kernel)
}

/// Says what the lab fetches.
struct Told(Terminal);

impl Watch for Told {
    /// A stage of the loading: for `-v`.
    fn step(&self, what: &str) {
        self.0.detail(what);
    }

    /// A remark of the loading: for `-v` too, as it changes no result.
    fn remark(&self, what: &str) {
        self.0.detail(what);
    }
}

/// For `-v`: what was loaded, how large it is, and which kernel's interface it was offered.
fn describe(scheduler: &Scheduler, terminal: Terminal) {
    let (programs, insns) = scheduler.size();
    terminal.detail(&format!(
        "scheduler {}: `{}`, {programs} programs of {insns} instructions, kernel {}",
        scheduler.command.text,
        scheduler.name(),
        scheduler.kernel
    ));
}

/// A loaded scheduler: each run has an instance.
#[derive(Debug)]
struct Loaded(Scheduler);

impl Loader for Loaded {
    /// A new instance for one run: runs share nothing. The text is why the scheduler cannot be
    /// started.
    fn load(&self) -> Result<Box<dyn SchedExtOps>, String> {
        match self.0.instance() {
            Ok(instance) => Ok(Box::new(instance)),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// As experiments want it.
fn contender(scheduler: Scheduler) -> Result<wakeplace_study::Scheduler, Failure> {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let loader = match scheduler.loader_goes_on() {
        true => "runs in virtual time",
        false => "ended after attach: it has nothing more to do",
    };
    Ok(wakeplace_study::Scheduler {
        name: scheduler.command.name.clone(),
        facts: vec![
            pair("scheduler", scheduler.name()),
            pair("scheduler.command", &scheduler.command.text),
            pair("scheduler.sha256", &scheduler.hash),
            pair("scheduler.kernel", &scheduler.kernel),
            pair("scheduler.loader", loader),
        ],
        notes: scheduler.notes(),
        kernel: Policy::parse(KERNEL_AROUND).map_err(Failure::input)?,
        loader: Arc::new(Loaded(scheduler)),
    })
}
