//! A booted kernel as the engine enters it. No call may depend on more than the kernel's own state:
//! runs repeat to the byte (docs/guide/kernel.md, "In a run").
//!
//! A method without a comment passes a call to the loaded kernel or takes up what it tells;
//! kernel-abi's tree.rs says what it means.
//!
//! What must stay: every entry is counted, every word taken up in its order. Free: how entries are
//! counted and words are gathered.
//!
//! Tests by part: `a_comparison_does_not_depend_on_threads` (all entries: `interrupt`, `device`,
//! `go_on`, `call`, `spawn`, `control`, `set_now`, `cpus`, `take_changed`, `has_told`, `take_told`,
//! `entry`), kernel_runs.rs::`a_decision_is_explained_by_the_trees_own_figures` (`set_detail`,
//! `placed`, `task_state`), kernel_runs.rs::`waits_for_devices_move_frequencies` (`frequency`),
//! kernel_runs.rs::`no_kind_of_work_makes_it_warn` (`warned`, `log`),
//! kernel_diff.rs::`the_cores_signals_are_the_kernels` (`set_signals`, `updated`),
//! kernel_runs.rs::`what_it_does_not_take_is_refused` (`get`). `fault`, `done`, `cpu_state`,
//! `task_cpu` and `is_awake` have no test of their own. All need a built kernel.
//!
//! Callers: crates/engine/src/kernel/tree (`Tree`), crates/kernel-tree (`Host`).
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs::a_comparison_does_not_depend_on_threads

use crate::faults::Place;
use std::ffi::CStr;
use std::rc::Rc;
use wakeplace_kernel_abi::{
    Ahead, Call, Cpu, CpuState, Decided, Fork, LineCost, Refused, TaskState, Told, Tree, Updated,
    Went,
};
use wakeplace_kernel_tree::Kernel;
use wakeplace_kernel_tree::kernel::{Decision, Fault, Host};

/// Takes down what the kernel says. What it fails by ends the run.
pub(crate) struct Heard {
    pub(crate) place: Rc<Place>,
    pub(crate) told: Told,
}

/// Levels of printk up to this one are worth a reader's time (`KERN_WARNING`).
const WARNING: u32 = 4;

impl Host for Heard {
    /// Lines up to a warning are kept for a failure's message.
    fn log(&mut self, level: u32, text: &str) {
        if level <= WARNING {
            self.place.heard(text);
        }
    }

    /// A WARN ends the run: the tree's figures would not be trusted.
    fn warned(&mut self, text: &str) {
        self.place.end_of_kernel(&format!("WARN: {text}"));
    }

    /// In words, as the run's outcome.
    fn fault(&mut self, kind: Fault, text: &str) {
        let what = match kind {
            Fault::Panic => "it panics: ",
            Fault::Deadlock => "a lock is taken twice: ",
            Fault::Missing => "it calls what the simulator's architecture does not have: ",
            Fault::Endless => "CPUs wait for each other for ever: ",
            Fault::Shim => "the simulator's architecture: ",
            Fault::Still => "time stands still: ",
            Fault::Host => "",
        };
        self.place.end_of_kernel(&format!("{what}{text}"));
    }

    /// Kept until the engine takes it (`take_told`).
    fn frequency(&mut self, domain: u32, khz: u32) {
        self.told.frequencies.push((domain, khz));
    }

    /// A decision with all that it depended on, copied: the kernel's lists end with the call.
    fn placed(&mut self, decision: &Decision<'_>) {
        self.told.decided.push(Decided {
            facts: *decision.facts,
            party: decision.party,
            waking: decision.waking,
            choices: decision.choices.to_vec(),
            energies: decision.energies.to_vec(),
        });
    }

    fn updated(&mut self, updated: Updated) {
        self.told.updated.push(updated);
    }

    fn done(&mut self, ticket: u64, result: i64) {
        self.told.done.push((ticket, result));
    }
}

/// The kernel, and where the run is.
pub(crate) struct Entered {
    pub(crate) kernel: Kernel<Heard>,
    pub(crate) place: Rc<Place>,
}

impl Entered {
    /// Counts entries: `on_second` sees by that whether the run gets anywhere.
    fn entry(&self) {
        self.place.entries.set(self.place.entries.get() + 1);
    }
}

impl Tree for Entered {
    fn set_now(&mut self, now_ns: u64) {
        self.place.now_ns.set(now_ns);
        self.kernel.set_now(now_ns);
    }

    fn set_ahead(&mut self, horizon_ns: u64, until_ns: u64) {
        self.kernel.set_ahead(horizon_ns, until_ns);
    }

    fn set_access(&mut self, cpu: u32, access_ps: u64) {
        self.kernel.set_access(cpu, access_ps);
    }

    /// Asked only where paths take time.
    fn ahead(&self) -> Ahead {
        self.kernel.ahead().expect("paths take time")
    }

    fn went_on(&self) -> &[Went] {
        self.kernel.went_on()
    }

    fn lines(&self) -> Vec<LineCost> {
        self.kernel.lines()
    }

    fn set_detail(&mut self, detail: bool) {
        self.kernel.set_detail(detail);
    }

    fn set_signals(&mut self, signals: bool) {
        self.kernel.set_signals(signals);
    }

    fn cpus(&self) -> &[Cpu] {
        self.kernel.cpus()
    }

    fn take_changed(&mut self, to: &mut Vec<u32>) {
        self.kernel.take_changed(to);
    }

    fn has_told(&self) -> bool {
        !self.kernel.host().told.is_empty()
    }

    fn take_told(&mut self, to: &mut Told) {
        std::mem::swap(&mut self.kernel.host_mut().told, to);
    }

    fn interrupt(&mut self, cpu: u32, what: u32) -> Result<i64, Refused> {
        self.entry();
        self.kernel.interrupt(cpu, what)
    }

    fn device(&mut self, cpu: u32, tasks: &[u32]) -> Result<i64, Refused> {
        self.entry();
        self.kernel.device(cpu, tasks)
    }

    fn go_on(&mut self, cpu: u32) -> Result<i64, Refused> {
        self.entry();
        self.kernel.go_on(cpu)
    }

    fn call(&mut self, cpu: u32, call: &Call<'_>) -> Result<i64, Refused> {
        self.entry();
        self.kernel.call(cpu, call)
    }

    fn spawn(&mut self, cpu: u32, fork: &Fork<'_>) -> Result<i64, Refused> {
        self.entry();
        self.kernel.spawn(cpu, fork)
    }

    fn control(&mut self, call: &Call<'_>, ticket: u64) -> Result<i64, Refused> {
        self.entry();
        self.kernel.control(call, ticket)
    }

    /// None also where the kernel has no such parameter.
    fn get(&self, name: &CStr) -> Option<String> {
        self.kernel.get(name).ok()
    }

    fn cpu_state(&self, cpu: u32) -> Option<CpuState> {
        self.kernel.cpu_state(cpu)
    }

    fn task_cpu(&self, task: u32) -> Option<u32> {
        self.kernel.task_cpu(task)
    }

    fn is_awake(&self, task: u32) -> bool {
        self.kernel.is_awake(task)
    }

    fn task_state(&self, task: u32) -> Option<TaskState> {
        self.kernel.task_state(task)
    }
}
