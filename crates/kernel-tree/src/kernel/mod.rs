//! A built kernel in this process: loaded, booted on a modelled machine, entered CPU by CPU
//! (docs/guide/kernel.md, "In a run"). One thread enters a kernel; what it does depends on what it
//! was told alone.
//!
//! What must stay: one entry at a time; errors of entries are `Refused`. Free: how answers are kept
//! between entries.
//!
//! Tests by part: `a_kernel_is_booted_entered_and_left` (`boot`, `into_host`, `set_now`, `release`,
//! `hz`, `cpus`, `take_changed`, `events`, `interrupt`, `device`, `go_on`, `cpu_state`, `task_cpu`,
//! `is_awake`, `task_state`, `kthread_name`, `get`, `is_dead`, `view`, `edit`, `answer`),
//! `calls_are_what_the_header_says` (`call`, `spawn`, `control`, `check_mask`),
//! `each_kernel_has_its_own_state` (`drop`), `what_cannot_be_booted_is_refused` (`boot`, `object`),
//! `addresses_have_names` (`fault_entries`),
//! kernel_runs.rs::`a_decision_is_explained_by_the_trees_own_figures` (`set_detail`),
//! crates/cli/tests/all/kernel_diff.rs::`the_cores_signals_are_the_kernels` (`set_signals`),
//! real_tree.rs::`a_kernel_of_the_archive_boots` (`warnings`).
//!
//! Callers: crates/kernel-run/src/entered.rs and runs.rs.
//!
//! Tests: crates/kernel-tree/src/kernel/tests.rs, crates/cli/tests/all/kernel_runs.rs

mod claim;
mod entries;
mod host;
mod lines;
mod memory;
mod symbols;
#[cfg(test)]
mod tests;
mod types;

pub use host::{Deaf, Decision, Fault, FaultEntries, Host};
pub use symbols::Symbols;
pub use wakeplace_kernel_abi::{
    Ahead, Attr, CALL, Call, Choice, Cpu, CpuState, Domain, Energy, Facts, Fork, IdleState,
    LineCost, Machine, MachineCpu, Mask, Opp, Party, Refused, TaskState, Updated, Went, abi,
    balances, signals, turns,
};

use crate::TreeError;
use abi::{DEAD, HostTable, View};
use claim::Claim;
use entries::Entries;
use host::Context;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use wakeplace_kernel_abi::paths::RawPaths;

/// Longest value of a parameter, bytes.
const VALUE_BYTES: usize = 4096;

/// A kernel whose machine is up. `H` hears what it says. It stays on its thread; other threads can
/// have others, of the same object, too.
pub struct Kernel<H: Host> {
    path: PathBuf,
    entries: Entries,
    view: NonNull<View>,
    /// Of whatever the kernel calls: it has a pointer to it.
    context: NonNull<Context<H>>,
    /// And to this one.
    table: NonNull<HostTable>,
    /// Words of a mask of all CPUs.
    mask_words: usize,
    /// The kernel's globals are one thread's.
    one_thread: PhantomData<*mut ()>,
}

/// An object that cannot be used, and why.
fn object(path: &Path, why: impl Into<String>) -> TreeError {
    TreeError::Object {
        path: path.to_owned(),
        why: why.into(),
    }
}

impl<H: Host> Kernel<H> {
    /// Loads an object that [`crate::build()`] made, and boots it. What the boot had to say is the
    /// host's; a boot that failed gives the host back.
    ///
    /// # Errors
    /// When the object cannot be loaded or is of another interface, or the kernel does not boot.
    pub fn boot(path: &Path, machine: &Machine, host: H) -> Result<Self, (TreeError, H)> {
        let opened = Claim::take(path).and_then(|claim| Entries::open(path, claim));
        let entries = match opened {
            Ok(entries) => entries,
            Err(error) => return Err((error, host)),
        };
        let most = entries.max_cpus();
        let fits = machine.check().and_then(|()| match machine.cpus.len() {
            count if count > most as usize => {
                Err(format!("it has at most {most} CPUs, the machine {count}"))
            }
            _ => Ok(()),
        });
        if let Err(why) = fits {
            return Err((object(path, why), host));
        }
        let context = NonNull::from(Box::leak(Box::new(Context::new(host))));
        let table = NonNull::from(Box::leak(Box::new(Context::table(context))));
        let booted = machine.with_raw(|raw| entries.boot(table, raw));
        // From here on both are given back by `drop`.
        let view = entries.view();
        let mut kernel = Self {
            path: path.to_owned(),
            view: NonNull::dangling(),
            entries,
            context,
            table,
            mask_words: machine.cpus.len().div_ceil(64),
            one_thread: PhantomData,
        };
        let why = match (answer(booted.into()), view) {
            (Ok(_), Some(view)) => {
                kernel.view = view;
                return Ok(kernel);
            }
            (Ok(_), None) => "it shows nothing of its CPUs".to_owned(),
            (Err(Refused::Error(errno)), _) => format!("it does not boot (errno {errno})"),
            (Err(_), _) => "it does not boot".to_owned(),
        };
        let error = object(path, why);
        Err((error, kernel.into_host()))
    }

    /// Ends it, and gives the host back.
    #[must_use]
    pub fn into_host(self) -> H {
        let (context, table) = (self.context, self.table);
        // What is dropped unloads the object first, which had a pointer to the context.
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: `this` is not used again, and each part is read once.
        unsafe {
            drop(std::ptr::read(&raw const this.entries));
            drop(std::ptr::read(&raw const this.path));
            drop(Box::from_raw(table.as_ptr()));
            Box::from_raw(context.as_ptr()).into_host()
        }
    }

    /// Whom the kernel tells.
    #[must_use]
    pub fn host(&self) -> &H {
        // SAFETY: no entry is under way, so that nobody else refers to it.
        unsafe { &self.context.as_ref().host }
    }

    /// Whom the kernel tells.
    #[must_use]
    pub fn host_mut(&mut self) -> &mut H {
        // SAFETY: as in `host`.
        unsafe { &mut self.context.as_mut().host }
    }

    /// Where the object is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the tree's name for itself: `7.3.4`.
    #[must_use]
    pub fn release(&self) -> String {
        self.entries.release()
    }

    /// Gives the tree's ticks per second.
    #[must_use]
    pub fn hz(&self) -> u32 {
        self.entries.hz()
    }

    /// A copy of what both sides share.
    fn view(&self) -> View {
        // SAFETY: the object's own, for as long as it is loaded; no entry is under way.
        unsafe { self.view.read() }
    }

    /// Changes what both sides share; no entry is under way.
    fn edit(&mut self, edit: impl FnOnce(&mut View)) {
        // SAFETY: as in `view`, and nobody else refers to it.
        edit(unsafe { self.view.as_mut() });
    }

    /// The time at which the next entries happen.
    pub fn set_now(&mut self, now_ns: u64) {
        self.edit(|view| view.now_ns = now_ns);
    }

    /// What both sides say of paths. None: no path takes time.
    fn paths(&self) -> Option<&RawPaths> {
        // SAFETY: null, or the object's own for as long as it is loaded; no entry is under way.
        unsafe { self.view().paths.as_ref() }
    }

    /// For the next entry, where paths take time: when the next thing happens elsewhere but for
    /// paths, ns, and up to when CPUs may go on in theirs one after the other.
    pub fn set_ahead(&mut self, horizon_ns: u64, until_ns: u64) {
        // SAFETY: as in `paths`, and nobody else refers to it.
        if let Some(paths) = unsafe { self.view().paths.as_mut() } {
            paths.horizon_ns = horizon_ns;
            paths.until_ns = until_ns;
            paths.looked_ns = 0;
            paths.nr_went = 0;
        }
    }

    /// What an access to memory takes on a CPU from now on that needs no transfer, ps.
    pub fn set_access(&mut self, cpu: u32, access_ps: u64) {
        let view = self.view();
        if cpu < view.nr_cpus && !view.cpus.is_null() {
            // SAFETY: one of the object's own array, as in `take_changed`.
            unsafe { (*view.cpus.add(cpu as usize)).access_ps = access_ps };
        }
    }

    /// What the last entry has said of paths. None: no path takes time.
    #[must_use]
    pub fn ahead(&self) -> Option<Ahead> {
        self.paths().map(|paths| Ahead {
            cpu: paths.cpu,
            local_ns: paths.local_ns,
            horizon_ns: paths.horizon_ns,
            looked_ns: paths.looked_ns,
            next: (paths.next_ns != abi::NEVER).then_some((paths.next_ns, paths.next_cpu)),
        })
    }

    /// Who has gone on in its path within the last entry, after the CPU that it was for, in order.
    #[must_use]
    pub fn went_on(&self) -> &[Went] {
        self.paths().map_or(&[], |paths| {
            &paths.went[..paths.went.len().min(paths.nr_went as usize)]
        })
    }

    /// What cache lines have cost, the most expensive first. Names are those of the object's debug
    /// information; what it does not tell is named by the function that asked for the memory.
    #[must_use]
    pub fn lines(&self) -> Vec<LineCost> {
        lines::named(&self.path, &self.entries.lines())
    }

    /// Decisions come with all that they depend on.
    pub fn set_detail(&mut self, detail: bool) {
        self.edit(|view| view.detail = detail.into());
    }

    /// Updates of signals are told.
    pub fn set_signals(&mut self, signals: bool) {
        self.edit(|view| view.signals = signals.into());
    }

    /// Says whether the kernel has ended the run.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.view().dead != 0
    }

    /// How often it warned.
    #[must_use]
    pub fn warnings(&self) -> u64 {
        self.view().warnings
    }

    /// Internal events since boot: decisions, deferred works, RCU callbacks. Their numbers show
    /// what shares of time do not.
    #[must_use]
    pub fn events(&self) -> (u64, u64, u64) {
        let view = self.view();
        (view.decisions, view.works, view.rcu_callbacks)
    }

    /// All CPUs as the last entry left them.
    #[must_use]
    pub fn cpus(&self) -> &[Cpu] {
        let view = self.view();
        if view.cpus.is_null() {
            return &[];
        }
        // SAFETY: the object's own array, which changes in entries only; those take `&mut self`.
        unsafe { std::slice::from_raw_parts(view.cpus, view.nr_cpus as usize) }
    }

    /// Moves the numbers of CPUs that changed to `to`, and marks them as seen.
    pub fn take_changed(&mut self, to: &mut Vec<u32>) {
        let view = self.view();
        let count = view.nr_changed.min(view.nr_cpus) as usize;
        if view.changed.is_null() || view.cpus.is_null() {
            return;
        }
        // SAFETY: as in `cpus`; the kernel lists each CPU at most once until it is marked as seen.
        unsafe {
            let changed = std::slice::from_raw_parts(view.changed, count);
            to.extend_from_slice(changed);
            let cpus = std::slice::from_raw_parts_mut(view.cpus, view.nr_cpus as usize);
            for number in changed {
                if let Some(cpu) = cpus.get_mut(*number as usize) {
                    cpu.changed = 0;
                }
            }
        }
        self.edit(|view| view.nr_changed = 0);
    }

    /// Interrupts arrive at a CPU: [`abi::RESCHED`], [`abi::CALL`], [`abi::TIMER`].
    ///
    /// # Errors
    /// The run is over.
    pub fn interrupt(&mut self, cpu: u32, what: u32) -> Result<i64, Refused> {
        answer(self.entries.interrupt(cpu, what).into())
    }

    /// A device's interrupt arrives, whose handler wakes tasks.
    ///
    /// # Errors
    /// The run is over.
    pub fn device(&mut self, cpu: u32, tasks: &[u32]) -> Result<i64, Refused> {
        answer(self.entries.device(cpu, tasks).into())
    }

    /// A CPU goes on that came up, waited for another one, or was at work.
    ///
    /// # Errors
    /// The run is over.
    pub fn go_on(&mut self, cpu: u32) -> Result<i64, Refused> {
        answer(self.entries.go_on(cpu).into())
    }

    /// A system call of the task that runs on a CPU.
    ///
    /// # Errors
    /// The kernel refuses, or the run is over.
    pub fn call(&mut self, cpu: u32, call: &Call<'_>) -> Result<i64, Refused> {
        self.check_mask(call)?;
        let ticket = CALL | u64::from(call.op());
        answer(self.entries.call(cpu, &call.raw(ticket)))
    }

    /// Creates a task that no simulated task creates.
    ///
    /// # Errors
    /// The kernel refuses, or the run is over.
    pub fn spawn(&mut self, cpu: u32, fork: &Fork<'_>) -> Result<i64, Refused> {
        let call = Call::Fork(*fork);
        self.check_mask(&call)?;
        let ticket = CALL | u64::from(call.op());
        answer(self.entries.spawn(cpu, &call.raw(ticket)))
    }

    /// An order of the machine's owner. What needs time is [`Refused::Pending`]; then
    /// [`Host::done`] is told with `ticket`.
    ///
    /// # Errors
    /// The kernel refuses, or the run is over.
    pub fn control(&mut self, call: &Call<'_>, ticket: u64) -> Result<i64, Refused> {
        self.check_mask(call)?;
        answer(self.entries.control(&call.raw(ticket)))
    }

    /// The kernel reads as many words as the machine has.
    fn check_mask(&self, call: &Call<'_>) -> Result<(), Refused> {
        const EINVAL: i32 = 22;
        match call.mask() {
            Some(mask) if mask.len() < self.mask_words => Err(Refused::Error(EINVAL)),
            _ => Ok(()),
        }
    }

    /// What an observer sees of a CPU. None: there is no such CPU.
    #[must_use]
    pub fn cpu_state(&self, cpu: u32) -> Option<CpuState> {
        self.entries.cpu_state(cpu)
    }

    /// The CPU that a task is on, or was last. None: there is no such task.
    #[must_use]
    pub fn task_cpu(&self, task: u32) -> Option<u32> {
        self.entries.task_cpu(task)
    }

    /// A task is queued or runs, and is not on its way there.
    #[must_use]
    pub fn is_awake(&self, task: u32) -> bool {
        self.entries.is_awake(task)
    }

    /// What an observer sees of a task. None: there is no such task.
    #[must_use]
    pub fn task_state(&self, task: u32) -> Option<TaskState> {
        self.entries.task_state(task)
    }

    /// The name of a kernel thread, by what [`Cpu::running`] says. None: it has none.
    #[must_use]
    pub fn kthread_name(&self, running: u32) -> Option<String> {
        self.entries.kthread_name(running)
    }

    /// The value of a parameter, as the kernel's own file would show it.
    ///
    /// # Errors
    /// There is no such parameter, or the run is over.
    pub fn get(&self, name: &CStr) -> Result<String, Refused> {
        let mut text = vec![0; VALUE_BYTES];
        let bytes = answer(self.entries.get(name, &mut text).into())?;
        text.truncate(usize::try_from(bytes).unwrap_or(0));
        Ok(String::from_utf8_lossy(&text)
            .trim_end_matches('\0')
            .to_owned())
    }

    /// For a handler of signals: it cannot have the kernel itself.
    #[must_use]
    pub fn fault_entries(&self) -> FaultEntries {
        self.entries.faults()
    }
}

impl<H: Host> Drop for Kernel<H> {
    /// Unloads the object first: it has pointers to what goes then.
    fn drop(&mut self) {
        self.entries.close();
        // SAFETY: leaked by `boot`, and the object that had pointers to them is gone.
        unsafe {
            drop(Box::from_raw(self.table.as_ptr()));
            drop(Box::from_raw(self.context.as_ptr()));
        }
    }
}

/// What an entry's number means.
fn answer(number: i64) -> Result<i64, Refused> {
    match number {
        DEAD => Err(Refused::Dead),
        abi::PENDING => Err(Refused::Pending),
        0.. => Ok(number),
        _ => Err(Refused::Error(
            i32::try_from(number.saturating_neg()).unwrap_or(i32::MAX),
        )),
    }
}
