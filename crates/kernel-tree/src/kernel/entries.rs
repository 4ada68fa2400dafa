//! The functions of a loaded object. Each is one of the C interface
//! (`crates/kernel-abi/src/abi.rs`). See docs/guide/kernel.md, "In a run".
//!
//! What must stay: one method per function of wakeplace.h; a method without a comment is the call
//! of that name. Answers below 0 are errno values. Safety: nothing is called after `close`. Free:
//! words of refusals.
//!
//! Tests by part: `a_kernel_is_booted_entered_and_left` (`open`, `release`, `hz`, `view`, `boot`,
//! `interrupt`, `device`, `go_on`, `cpu_state`, `task_cpu`, `is_awake`, `task_state`,
//! `kthread_name`, `get`, `text`), `calls_are_what_the_header_says` (`call`, `spawn`, `control`),
//! `each_kernel_has_its_own_state` (`close`), `what_cannot_be_booted_is_refused` (`open`,
//! `max_cpus`, `said`), `addresses_have_names` (`faults`).
//!
//! Callers: kernel/mod.rs.
//!
//! Tests: crates/kernel-tree/src/kernel/tests.rs, crates/kernel-tree/tests/all/real_tree.rs

use super::abi::{ABI, CpuState, HostTable, Machine, RawCall, TaskState, View};
use super::{Claim, FaultEntries, object};
use crate::TreeError;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, c_char};
use std::path::Path;
use std::ptr::NonNull;
use wakeplace_kernel_abi::lines::RawUse;

type Boot = unsafe extern "C" fn(*const HostTable, *const Machine) -> i32;
type OfCpu<T> = unsafe extern "C" fn(u32, *mut T) -> i32;

/// All of them, and the object that they are in.
pub(super) struct Entries {
    release: unsafe extern "C" fn() -> *const c_char,
    hz: unsafe extern "C" fn() -> u32,
    max_cpus: unsafe extern "C" fn() -> u32,
    view: unsafe extern "C" fn() -> *mut View,
    boot: Boot,
    interrupt: unsafe extern "C" fn(u32, u32) -> i32,
    device: unsafe extern "C" fn(u32, *const u32, u32) -> i32,
    go_on: unsafe extern "C" fn(u32) -> i32,
    call: unsafe extern "C" fn(u32, *const RawCall) -> i64,
    spawn: unsafe extern "C" fn(u32, *const RawCall) -> i64,
    control: unsafe extern "C" fn(*const RawCall) -> i64,
    cpu_state: OfCpu<CpuState>,
    task_cpu: unsafe extern "C" fn(u32) -> i32,
    is_awake: unsafe extern "C" fn(u32) -> u32,
    task_state: OfCpu<TaskState>,
    kthread_name: unsafe extern "C" fn(u32) -> *const c_char,
    get: unsafe extern "C" fn(*const c_char, *mut c_char, u32) -> i32,
    lines: unsafe extern "C" fn(*mut *const RawUse) -> u32,
    faults: FaultEntries,
    library: Option<Library>,
    /// Given back after the object is unloaded.
    _claim: Claim,
}

/// A function of the object.
macro_rules! entry {
    ($library:expr, $path:expr, $name:literal) => {{
        // SAFETY: the object has the interface's number, so that its function has this type; it is
        // called only while the object is loaded.
        let found = unsafe { $library.get($name.to_bytes_with_nul()) };
        match found {
            Ok(entry) => *entry,
            Err(error) => {
                let name = $name.to_string_lossy();
                return Err(object(
                    $path,
                    format!("it has no {name} ({})", said(&error)),
                ));
            }
        }
    }};
}

impl Entries {
    /// Loads an object and looks all functions up; one of another interface is refused.
    pub(super) fn open(path: &Path, claim: Claim) -> Result<Self, TreeError> {
        // SAFETY: what runs when it is loaded is what the shim's build put there, which is nothing.
        let library = unsafe { Library::open(Some(claim.name()), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|error| object(path, said(&error)))?;
        let abi: unsafe extern "C" fn() -> u32 = entry!(library, path, c"wpk_abi");
        // SAFETY: this function is the same in all interfaces.
        let found = unsafe { abi() };
        if found != ABI {
            let why = format!("its interface is {found}, this program's {ABI}");
            return Err(object(path, why));
        }
        Ok(Self {
            release: entry!(library, path, c"wpk_release"),
            hz: entry!(library, path, c"wpk_hz"),
            max_cpus: entry!(library, path, c"wpk_max_cpus"),
            view: entry!(library, path, c"wpk_view"),
            boot: entry!(library, path, c"wpk_boot"),
            interrupt: entry!(library, path, c"wpk_interrupt"),
            device: entry!(library, path, c"wpk_device"),
            go_on: entry!(library, path, c"wpk_continue"),
            call: entry!(library, path, c"wpk_call"),
            spawn: entry!(library, path, c"wpk_spawn"),
            control: entry!(library, path, c"wpk_control"),
            cpu_state: entry!(library, path, c"wpk_cpu_state"),
            task_cpu: entry!(library, path, c"wpk_task_cpu"),
            is_awake: entry!(library, path, c"wpk_is_awake"),
            task_state: entry!(library, path, c"wpk_task_state"),
            kthread_name: entry!(library, path, c"wpk_kthread_name"),
            get: entry!(library, path, c"wpk_get"),
            lines: entry!(library, path, c"wpk_lines"),
            faults: FaultEntries {
                die: entry!(library, path, c"wpk_die"),
                backtrace: entry!(library, path, c"wpk_backtrace"),
                in_guard: entry!(library, path, c"wpk_in_guard"),
                abi: entry!(library, path, c"wpk_abi"),
            },
            library: Some(library),
            _claim: claim,
        })
    }

    /// Unloads the object; none of its functions is called again.
    pub(super) fn close(&mut self) {
        drop(self.library.take());
    }

    /// The tree's release text.
    pub(super) fn release(&self) -> String {
        // SAFETY: no argument; a text of the object's own.
        text(unsafe { (self.release)() }).unwrap_or_default()
    }

    /// Gives the tree's ticks per second.
    pub(super) fn hz(&self) -> u32 {
        // SAFETY: no argument.
        unsafe { (self.hz)() }
    }

    /// CPUs that the object was configured for.
    pub(super) fn max_cpus(&self) -> u32 {
        // SAFETY: no argument.
        unsafe { (self.max_cpus)() }
    }

    /// Memory that kernel and host share; None: the object is broken.
    pub(super) fn view(&self) -> Option<NonNull<View>> {
        // SAFETY: no argument.
        NonNull::new(unsafe { (self.view)() })
    }

    /// 0, or a negative errno.
    pub(super) fn boot(&self, host: NonNull<HostTable>, machine: &Machine) -> i32 {
        // SAFETY: the machine is read during the call; the table lives as long as the kernel.
        unsafe { (self.boot)(host.as_ptr(), machine) }
    }

    /// `what`: bits of the interface. 0, or a negative errno.
    pub(super) fn interrupt(&self, cpu: u32, what: u32) -> i32 {
        // SAFETY: numbers, which the kernel checks.
        unsafe { (self.interrupt)(cpu, what) }
    }

    /// Its handler wakes these tasks.
    pub(super) fn device(&self, cpu: u32, tasks: &[u32]) -> i32 {
        let count = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
        // SAFETY: as many numbers as are said to be there.
        unsafe { (self.device)(cpu, tasks.as_ptr(), count) }
    }

    pub(super) fn go_on(&self, cpu: u32) -> i32 {
        // SAFETY: a number, which the kernel checks.
        unsafe { (self.go_on)(cpu) }
    }

    pub(super) fn call(&self, cpu: u32, call: &RawCall) -> i64 {
        // SAFETY: what the call points to lives as long as this call.
        unsafe { (self.call)(cpu, call) }
    }

    pub(super) fn spawn(&self, cpu: u32, call: &RawCall) -> i64 {
        // SAFETY: as for `call`.
        unsafe { (self.spawn)(cpu, call) }
    }

    pub(super) fn control(&self, call: &RawCall) -> i64 {
        // SAFETY: as for `call`; the kernel copies what it still needs after it.
        unsafe { (self.control)(call) }
    }

    /// None: there is no such CPU.
    pub(super) fn cpu_state(&self, cpu: u32) -> Option<CpuState> {
        let mut state = CpuState::default();
        // SAFETY: a struct of the interface.
        let answer = unsafe { (self.cpu_state)(cpu, &mut state) };
        (answer >= 0).then_some(state)
    }

    /// None: there is no such task.
    pub(super) fn task_cpu(&self, task: u32) -> Option<u32> {
        // SAFETY: a number, which the kernel checks.
        u32::try_from(unsafe { (self.task_cpu)(task) }).ok()
    }

    pub(super) fn is_awake(&self, task: u32) -> bool {
        // SAFETY: a number, which the kernel checks.
        unsafe { (self.is_awake)(task) != 0 }
    }

    pub(super) fn task_state(&self, task: u32) -> Option<TaskState> {
        let mut state = TaskState::default();
        // SAFETY: a struct of the interface.
        let answer = unsafe { (self.task_state)(task, &mut state) };
        (answer >= 0).then_some(state)
    }

    pub(super) fn kthread_name(&self, running: u32) -> Option<String> {
        // SAFETY: a number, which the kernel checks; a text of the object's own, or null.
        text(unsafe { (self.kthread_name)(running) })
    }

    /// The kernel's own text of a parameter goes to `to`; below 0: an errno.
    pub(super) fn get(&self, name: &CStr, to: &mut [u8]) -> i32 {
        let size = u32::try_from(to.len()).unwrap_or(u32::MAX);
        // SAFETY: a text, and room for as many bytes as are said to be there.
        unsafe { (self.get)(name.as_ptr(), to.as_mut_ptr().cast(), size) }
    }

    /// What lines have cost, and the type of each where the object's own text names it.
    pub(super) fn lines(&self) -> Vec<(RawUse, Option<String>)> {
        let mut uses = std::ptr::null();
        // SAFETY: room for a pointer.
        let count = unsafe { (self.lines)(&raw mut uses) };
        if uses.is_null() {
            return Vec::new();
        }
        // SAFETY: the object's own table, of as many as it says; it is copied at once.
        let uses = unsafe { std::slice::from_raw_parts(uses, count as usize) };
        uses.iter().map(|one| (*one, text(one.name))).collect()
    }

    /// What a handler of signals may call.
    pub(super) fn faults(&self) -> FaultEntries {
        self.faults
    }
}

/// An error with what it comes from, which has the system's words.
fn said(error: &libloading::Error) -> String {
    let mut said = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        said.push_str(&format!(": {inner}"));
        source = inner.source();
    }
    said
}

/// A text of the object's. None: null.
fn text(from: *const c_char) -> Option<String> {
    // SAFETY: the interface's texts end with a zero, and this one is copied at once.
    (!from.is_null()).then(|| {
        unsafe { CStr::from_ptr(from) }
            .to_string_lossy()
            .into_owned()
    })
}
