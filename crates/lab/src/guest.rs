//! The emulated machine: its command line, its start, its end and what it leaves behind
//! (docs/guide/lab.md). A guest that hangs is ended, and its console is kept.
//!
//! What must stay: the command line decides what a guest is; equal requests have equal lines.
//! Patience is wall time and changes no result but that there is one. Free: lengths of patience,
//! and words.
//!
//! Tests by part (guest/tests.rs): `a_guest_that_stands_still_before_it_is_up_is_started_once_more`
//! (`boot`, `try_boot`, `start`, `is_up`), `a_guest_that_has_sent_its_results_was_up` (`is_up`,
//! `results`), `a_guest_that_dies_before_it_is_up_is_started_once_more_and_no_more`,
//! `an_emulator_that_fails_is_not_started_again` (`boot`, `messages_tail`),
//! `a_guest_that_hangs_at_work_is_ended_and_not_started_again` (`console_tail`, `drop`),
//! `a_kernel_that_lacks_what_a_guest_needs_is_named` (`enough`),
//! `a_quarter_of_the_time_is_for_the_start_within_bounds` (`Limits::of`),
//! `commas_in_paths_are_doubled_where_they_separate` (`file_argument`),
//! `a_clock_of_instructions_may_have_short_turns` (`count_instructions`),
//! `arm64_kernels_keep_one_set_of_page_tables` (`kernel_command_line`). Booting guests alone
//! (crates/lab/tests/boot.rs) try `command`, `base_command`, `arm64_machine`, `numa`,
//! `device_tree`, `unpack`, `keep`, `no_result`, `of_first_try`; `initrd`, `console`, `messages`
//! and `said` are names of files. `console_text` and `now` have no test of their own.
//!
//! Callers: run.rs.
//!
//! Tests: below, crates/lab/tests/boot.rs::a_guest_that_hangs_is_ended_with_its_console

use crate::bootable::Bootable;
use crate::machine::Machine;

use crate::qemu::Qemu;
use crate::run::Icount;
use crate::smp::Smp;
use crate::{Arch, LabError, Watch, console, devicetree};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use wakeplace_archive::program::{output, tail};
use wakeplace_files::Place;
use wakeplace_platform::fdt;

/// How often the guest is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Most of the console that is quoted, bytes.
const CONSOLE_TAIL_BYTES: usize = 3_000;
/// What the guest's first process writes when it is ready for work.
const IS_UP: &str = "lab: guest is up";
/// Shortest and longest time that a guest is given to come up: four CPUs take 3 s, beside other
/// work 10.
const MIN_START: Duration = Duration::from_secs(60);
const MAX_START: Duration = Duration::from_secs(300);

/// A guest that can be booted.
pub(crate) struct Guest<'a> {
    pub(crate) arch: Arch,
    pub(crate) machine: &'a Machine,
    pub(crate) qemu: &'a Qemu,
    pub(crate) kernel: &'a Bootable,
    pub(crate) icount: Option<Icount>,
    pub(crate) memory_mib: u32,
    /// Everything of this guest is in here.
    pub(crate) folder: &'a Path,
}

/// How long a guest may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Until it is ready for work.
    start: Duration,
    /// Until it ends.
    whole: Duration,
}

impl Limits {
    /// A quarter of the whole is for the start, within bounds, and never more than half.
    pub(crate) fn of(whole: Duration) -> Self {
        Self {
            start: (whole / 4).clamp(MIN_START, MAX_START).min(whole / 2),
            whole,
        }
    }
}

/// How a try ended.
enum Try {
    /// The guest came up, and ended by itself.
    Ended,
    /// It did not come up, in words.
    NeverUp(String),
}

/// An emulator that is ended when it is let go.
struct Running(Child);

impl Drop for Running {
    /// The emulator never outlives this.
    fn drop(&mut self) {
        // One that has ended already is not there to be ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the kernel is started with.
///
/// Without `kpti=off` an arm64 kernel takes page tables of its own, since its addresses are random
/// (`kaslr_requires_kpti`). Then it changes tables whenever it is entered or left, and each time
/// the emulator forgets all translations. Three minutes of mixed load on eight CPUs (`cargo xtask
/// soak`) took 336 s of the host's time so, and 169 s without. The emulated CPU needs no such
/// tables: it says so (CSV3).
fn kernel_command_line(arch: Arch, console: &str) -> String {
    let own_tables = match arch {
        Arch::X86_64 => "",
        Arch::Arm64 => " kpti=off",
    };
    format!("console={console} quiet panic=-1{own_tables}")
}

/// The clock does not wait for the host when all CPUs are idle. A CPU's turn lasts until the next
/// timer of the whole machine, divided by the number of CPUs (QEMU's `icount_percpu_budget`). A
/// filter of a network that nobody uses has such a timer.
fn count_instructions(icount: Icount, command: &mut Command) {
    let clock = format!("shift={},sleep=off", icount.ns.trailing_zeros());
    command.args(["-icount", &clock, "-rtc", "clock=vm"]);
    if let Some(us) = icount.round_us {
        let filter = format!("filter-buffer,id=turns,netdev=unused,queue=rx,interval={us}");
        command.args(["-netdev", "hubport,id=unused,hubid=0", "-object", &filter]);
    }
}

impl Guest<'_> {
    /// Where its initramfs is to be.
    pub(crate) fn initrd(&self) -> PathBuf {
        self.folder.join("initrd")
    }

    /// Where the guest's console is written.
    fn console(&self) -> PathBuf {
        self.folder.join("console.log")
    }

    /// What the emulator itself says.
    fn messages(&self) -> PathBuf {
        self.folder.join("qemu.log")
    }

    /// What is said while it runs.
    fn said(&self) -> [PathBuf; 2] {
        [self.console(), self.messages()]
    }

    /// Gives the path of such a file of a start that was not the last.
    fn of_first_try(&self, file: &Path) -> PathBuf {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        self.folder.join(format!("first-{name}"))
    }

    /// Where the guest's files come back.
    fn results(&self) -> PathBuf {
        self.folder.join("out.tar")
    }

    /// Runs it to its end. A guest that does not come up gets one more try, aloud: the emulator's
    /// threads race with what a kernel does while it starts (it patches itself, wakes CPUs, maps
    /// devices), so that now and then one of the two dies or stands still before the guest's first
    /// process. Of 67 starts beside other work 2 stood still, of 75 others 1 emulator found its own
    /// tables wrong.
    pub(crate) fn boot(&self, limits: Limits, watch: &dyn Watch) -> Result<(), LabError> {
        let Try::NeverUp(how) = self.try_boot(limits.whole, Some(limits.start), watch)? else {
            return Ok(());
        };
        // A kernel that lacks what a guest needs will not have it the second time.
        self.enough()?;
        let last = |text: String| text.lines().last().unwrap_or_default().to_owned();
        watch.remark(&format!(
            "the guest did not come up and is started once more: {how}; the last that its console \
             said: {:?}, its emulator: {:?}",
            last(self.console_tail()),
            last(self.messages_tail())
        ));
        for file in self.said().into_iter().filter(|file| file.exists()) {
            let first = self.of_first_try(&file);
            fs::rename(&file, &first).map_err(LabError::writing(&first))?;
        }
        // No other limit than the whole: a machine that is slow and no more gets there.
        match self.try_boot(limits.whole, None, watch)? {
            Try::Ended => Ok(()),
            Try::NeverUp(_) => {
                let console = self.console_text();
                let why = match console::panic(&console) {
                    Some(why) => format!(", the kernel panicked: {why}"),
                    None if console.is_empty() => {
                        ", and its console said nothing: is it built in?".to_owned()
                    }
                    None => String::new(),
                };
                Err(self.no_result(&format!("it did not come up, twice{why}")))
            }
        }
    }

    /// Did nobody say that the kernel lacks something?
    fn enough(&self) -> Result<(), LabError> {
        let console = self.console_text();
        match console::lacks(&console) {
            Some(option) => Err(LabError::Kernel {
                kernel: self.kernel.origin.name(),
                option: option.to_owned(),
                console: self.console_tail(),
            }),
            None => Ok(()),
        }
    }

    /// One start of the emulator; the last if it has no time until which it is to be up.
    fn try_boot(
        &self,
        whole: Duration,
        start: Option<Duration>,
        watch: &dyn Watch,
    ) -> Result<Try, LabError> {
        watch.step(&format!(
            "booting Linux {} on {} ({} CPUs)",
            self.kernel.version, self.machine.name, self.machine.cpus
        ));
        let mut running = self.start()?;
        let started = now();
        let mut up = false;
        loop {
            let ended = running.0.try_wait();
            let ended = ended.map_err(LabError::reading(&self.messages()))?;
            if !up && self.is_up() {
                up = true;
                watch.step("the guest is up and at work");
            }
            if let Some(status) = ended {
                // Without a code it was a signal's doing, its own abort for one.
                if !status.success() && (up || start.is_none() || status.code().is_some()) {
                    let why = format!("{status}: {}", self.messages_tail());
                    return Err(LabError::program(self.arch.qemu().0, why));
                }
                let how = || Try::NeverUp(format!("its emulator ended ({status})"));
                return Ok(if up { Try::Ended } else { how() });
            }
            if started.elapsed() >= whole {
                return Err(LabError::Timeout {
                    seconds: whole.as_secs(),
                    console: self.console_tail(),
                });
            }
            if let Some(start) = start.filter(|start| !up && started.elapsed() >= *start) {
                let how = format!("it was not up after {} s", start.as_secs());
                return Ok(Try::NeverUp(how));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Starts the emulator; what an earlier try left is removed first.
    fn start(&self) -> Result<Running, LabError> {
        let of_last_try = self.results();
        if of_last_try.exists() {
            fs::remove_file(&of_last_try).map_err(LabError::file(&of_last_try, "removed"))?;
        }
        let messages = self.messages();
        let log = fs::File::create(&messages).map_err(LabError::writing(&messages))?;
        let spawned = self
            .command()?
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        spawned.map(Running).map_err(|error| {
            LabError::program(self.arch.qemu().0, format!("cannot be started: {error}"))
        })
    }

    /// The emulator's whole command line.
    fn command(&self) -> Result<Command, LabError> {
        let mut command = self.base_command();
        let console = match self.arch {
            Arch::X86_64 => {
                let smp = Smp::of(self.machine)?;
                let l3 = if smp.l3_cache { "on" } else { "off" };
                let cpu = format!("max,l3-cache={l3}");
                command.args(["-cpu", &cpu, "-smp", &smp.smp]);
                self.numa(&mut command, &smp.nodes);
                "ttyS0"
            }
            Arch::Arm64 => {
                self.arm64_machine(&mut command);
                if let Some(platform) = &self.machine.platform {
                    let file = self.device_tree(platform)?;
                    command.arg("-dtb").arg(file);
                }
                "ttyAMA0"
            }
        };
        let append = kernel_command_line(self.arch, console);
        command
            .arg("-kernel")
            .arg(&self.kernel.image)
            .arg("-initrd")
            .arg(self.initrd());
        command.args(["-append", &append]);
        command
            .arg("-serial")
            .arg(file_argument("file:", &self.console()));
        command.args(["-device", "virtio-serial-pci", "-chardev"]);
        command.arg(file_argument("file,id=out,path=", &self.results()));
        command.args(["-device", "virtserialport,chardev=out,name=out"]);
        if let Some(icount) = self.icount {
            count_instructions(icount, &mut command);
        }
        Ok(command)
    }

    /// What every start has, that which only asks for a device tree too.
    fn base_command(&self) -> Command {
        let mut command = self.qemu.command();
        command.args(["-accel", "tcg", "-m", &format!("{}M", self.memory_mib)]);
        command.args([
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
        ]);
        command
    }

    /// Version 3 of the interrupt controller, since version 2 has no more than 8 CPUs.
    fn arm64_machine(&self, command: &mut Command) {
        let cpus = self.machine.cpus;
        command.args(["-cpu", "cortex-a76", "-smp"]);
        command.arg(format!(
            "cpus={cpus},sockets=1,clusters=1,cores={cpus},threads=1"
        ));
        command.args(["-M", "virt,gic-version=3"]);
    }

    /// Memory in equal parts, one per node.
    fn numa(&self, command: &mut Command, nodes: &[Vec<u32>]) {
        let count = u32::try_from(nodes.len()).unwrap_or(u32::MAX).max(1);
        let mut left = self.memory_mib;
        for (node, cpus) in (0..).zip(nodes) {
            let size = if node + 1 == count {
                left
            } else {
                self.memory_mib / count
            };
            left -= size;
            command
                .arg("-object")
                .arg(format!("memory-backend-ram,id=m{node},size={size}M"));
            let list: String = cpus.iter().map(|cpu| format!(",cpus={cpu}")).collect();
            command
                .arg("-numa")
                .arg(format!("node,nodeid={node},memdev=m{node}{list}"));
        }
    }

    /// The emulator's own tree with the platform in it.
    fn device_tree(&self, platform: &wakeplace_platform::Platform) -> Result<PathBuf, LabError> {
        let (own, edited) = (
            self.folder.join("virt.dtb"),
            self.folder.join("machine.dtb"),
        );
        let mut command = self.base_command();
        self.arm64_machine(&mut command);
        // A second -M adds to the first.
        command.arg("-M").arg(file_argument("dumpdtb=", &own));
        output(&mut command)?;
        let bytes = fs::read(&own).map_err(LabError::reading(&own))?;
        let damaged = |error: fdt::FdtError| LabError::damaged("device tree", error.0);
        let mut tree = fdt::Tree::read(&bytes).map_err(damaged)?;
        devicetree::edit(&mut tree, platform)?;
        fs::write(&edited, tree.write()).map_err(LabError::writing(&edited))?;
        Ok(edited)
    }

    /// Extracts what the guest sent.
    pub(crate) fn unpack(&self, to: &Path) -> Result<(), LabError> {
        let path = self.results();
        let file = fs::File::open(&path).map_err(LabError::reading(&path))?;
        fs::create_dir_all(to).map_err(LabError::file(to, "made"))?;
        if file.metadata().map_err(LabError::reading(&path))?.len() == 0 {
            self.enough()?;
            return Err(self.no_result("it sent nothing"));
        }
        let unpacked = tar::Archive::new(file).unpack(to);
        unpacked.map_err(|error| self.no_result(&format!("what it sent is damaged: {error}")))
    }

    /// Copies what there is for the user.
    pub(crate) fn keep(&self, out: &Path, to: &Path) -> Result<(), LabError> {
        fs::create_dir_all(to).map_err(LabError::file(to, "made"))?;
        let mut files = self.said().to_vec();
        files.extend(self.said().map(|file| self.of_first_try(&file)));
        files.push(self.folder.join("machine.dtb"));
        let sent = fs::read_dir(out)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        files.extend(sent);
        for file in files.iter().filter(|file| file.is_file()) {
            if let Some(name) = file.file_name() {
                let to = to.join(name);
                let mut from = fs::File::open(file).map_err(LabError::reading(file))?;
                let (place, mut copy) = Place::open(&to).map_err(LabError::write)?;
                io::copy(&mut from, &mut copy).map_err(LabError::writing(&to))?;
                place.publish().map_err(LabError::write)?;
            }
        }
        Ok(())
    }

    /// That there is no result, with the end of the console.
    pub(crate) fn no_result(&self, why: &str) -> LabError {
        LabError::NoResult {
            why: why.to_owned(),
            console: self.console_tail(),
        }
    }

    /// Has its first process said so, or sent its results? A line of the kernel's may fall into
    /// what is said; a guest that has come to its end is not to run again for that.
    fn is_up(&self) -> bool {
        let sent = fs::metadata(self.results()).is_ok_and(|results| results.len() > 0);
        sent || self.console_text().contains(IS_UP)
    }

    /// What the guest has said so far; bytes that are no text are replaced.
    fn console_text(&self) -> String {
        let bytes = fs::read(self.console()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The end of what the emulator said.
    fn messages_tail(&self) -> String {
        let said = fs::read_to_string(self.messages()).unwrap_or_default();
        tail(&said, CONSOLE_TAIL_BYTES).to_owned()
    }

    /// The end of the console, for messages.
    fn console_tail(&self) -> String {
        tail(&self.console_text().replace('\r', ""), CONSOLE_TAIL_BYTES).to_owned()
    }
}

/// A path in an option of the emulator, where a comma is written twice.
fn file_argument(prefix: &str, path: &Path) -> String {
    let path = path.display().to_string();
    // `file:` takes the rest as it is.
    match prefix {
        "file:" => format!("{prefix}{path}"),
        _ => format!("{prefix}{}", path.replace(',', ",,")),
    }
}

/// Wall time: only for patience.
#[allow(
    clippy::disallowed_methods,
    reason = "ends a guest that hangs; no result depends on it"
)]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
