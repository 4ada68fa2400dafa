//! What runs on the machine: a kernel decides which task runs where. The mechanics
//! (`crate::mechanics`) tell it what happens, by the trait `Kernel`; it tells them what CPUs do, by
//! their methods. There are two: `model`, our handlers around the policy core, and `tree`, any
//! kernel tree's own `kernel/sched` (ARCHITECTURE.md, "The engine's two halves").
//!
//! A kernel keeps all that has to do with scheduling: run queues, classes, ticks, timers that end
//! sleeps, what an interrupt is for, the idle governor, balancing, requests for frequencies,
//! threads of its own. ARCHITECTURE.md has the interface in a table. What a method may take for
//! granted is in its comment; both kernels and all places that call it rely on that.
//!
//! What must stay: the order of calls that the comments state, for both kernels. A new method is
//! implemented by both; ARCHITECTURE.md lists it, too. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `random_runs_obey_the_rules_1` and
//! `random_runs_with_all_classes_obey_the_rules` (the order of calls, of the model),
//! `no_kind_of_work_makes_it_warn` (that of a tree; where one is built),
//! crates/engine/tests/behaviour/frequency.rs::`changes_take_the_transition_latency`
//! (`opp_reached`),
//! crates/engine/tests/behaviour/sync.rs::`a_holder_is_lent_the_priority_of_its_waiter` (`lend`,
//! `level`). Methods that the list does not name (`boot`, `start`, `begin_event`, `event`, `awake`,
//! `irq_cpu`, `run_limit_ns`, `clock_is`, `show_state` ...) have their tests where they are
//! implemented: kernel/model/interface.rs and kernel/tree/interface.rs name them.
//!
//! Callers, all in crates/engine/src: sim.rs (`boot`, `start`, `begin_event`, `event`,
//! `kept_event`, `end_event`, `finish`, `interrupt`, `awake`, `show_state`, `overutilized`,
//! `event_name`), mechanics/work.rs (`work_done`, `ran`, `speed_is`, `run_limit_ns`, `schedule`),
//! mechanics/script/steps.rs (`sleep`, `exit`, `yields`, `exec`, `change`, `thread_goes_on`,
//! `wants_cpu`), mechanics/script/start.rs
//! (`add_task`, `spawn`, `fork`, `set_timer`), mechanics/script/sync (`wake`, `level`, `lend`),
//! mechanics/hardware.rs (`device`, `irq_cpu`, `freq_limit`, `energy_model`), mechanics/clocks.rs
//! (`opp_reached`, `clock_is`), mechanics/hotplug.rs (`hotplug`).
//!
//! Tests: crates/engine/tests/behaviour/invariants.rs, crates/cli/tests/all/kernel_runs.rs

pub(crate) mod model;
pub(crate) mod tree;

use crate::ids::{CpuId, TaskId};
use crate::mechanics::{Action, Event, KernelEvent, Mechanics};
use crate::observe::Observer;
use crate::outcome::{GroupTotals, KernelCounts, LinesTold, SchedExtReport};
use wakeplace_policy_sys::Reason;
use wakeplace_workload::Change;

/// What a kernel begins with.
#[derive(Debug)]
pub(crate) struct KernelSetup {
    /// The operating point of each frequency domain.
    pub(crate) opps: Vec<u16>,
    /// The hint for hardware that is to choose clocks itself; None: the kernel chooses.
    pub(crate) preference: Option<u8>,
    /// Which kernel it is, major and minor number: its drivers offer clocks by that.
    pub(crate) release: (u16, u16),
    /// What each of its own threads does when it first runs.
    pub(crate) threads: Vec<Action>,
}

/// What a kernel says at the end of a run; what it does not know is empty.
#[derive(Debug, Default)]
pub(crate) struct KernelReport {
    /// Energy-aware placement was on at the end.
    pub(crate) energy_active: bool,
    pub(crate) lock_wait_ns: Option<u64>,
    pub(crate) line_wait_ns: Option<u64>,
    pub(crate) double_placements: Option<u64>,
    pub(crate) sched_ext: Option<SchedExtReport>,
    /// What cache lines have cost in a tree's kernel; None: that was not asked for.
    pub(crate) lines: Option<LinesTold>,
    /// What a tree's kernel counted.
    pub(crate) counts: Option<KernelCounts>,
    /// Groups with a quota.
    pub(crate) groups: Vec<GroupTotals>,
    /// Choices by reason.
    pub(crate) reasons: Vec<(Reason, u64)>,
}

/// A kernel. `m` is the machine below it. Of what is called at the same time the mechanics have
/// done their own part before, if nothing else is said.
pub(crate) trait Kernel {
    /// The name of a kind of its events (`KernelEvent::kind`).
    fn event_name(kind: u8) -> &'static str;

    /// Time 0: all CPUs are there and wait. It puts them into idle states.
    fn boot<O: Observer>(&mut self, m: &mut Mechanics<'_, O>);

    /// Time 0 still: CPUs that the run begins without have left, and no task has begun.
    fn start<O: Observer>(&mut self, m: &mut Mechanics<'_, O>);

    /// Tells the kernel that an event is about to be handled.
    fn begin_event<O: Observer>(&mut self, _m: &mut Mechanics<'_, O>, _event: Event) {}

    /// Tells the kernel that the event is over.
    fn end_event<O: Observer>(&mut self, _m: &mut Mechanics<'_, O>) {}

    /// The next of its own events that it keeps itself, and when it is due, ns.
    fn kept_event(&self) -> Option<(u64, KernelEvent)> {
        None
    }

    /// An event of its own (`Mechanics::push`, `kept_event`).
    fn event<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, event: KernelEvent);

    /// Ends the run: checks the kernel's books and says what it has counted.
    fn finish<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) -> KernelReport;

    // Interrupts.

    /// Handles an inter-processor interrupt (`Mechanics::ipi`). It may be idle by now.
    fn interrupt<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId);

    /// Lets a CPU that has left its idle state take its interrupts.
    fn awake<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId);

    /// Lets a device interrupt a CPU, whatever it does, for so long.
    fn device<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, run_ns: u64);

    /// The CPU to which the interrupt of a device goes that may go elsewhere than to `cpu`.
    fn irq_cpu(&mut self, _now_ns: u64, cpu: CpuId) -> CpuId {
        cpu
    }

    /// Lets a CPU without a task go on, which has done its kernel work (`Mechanics::finish_work`).
    fn work_done<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId);

    // The running task.

    /// Tells the kernel how long a task has run since this was last said.
    fn ran(&mut self, _now_ns: u64, _cpu: CpuId, _task: TaskId, _delta_ns: u64) {}

    /// Tells that a CPU runs at another speed from now on (`machine.rs` has the unit).
    fn speed_is(&mut self, _cpu: CpuId, _speed: u64) {}

    /// Asks how long the task may run. Its step ends at another time than was said before, and it
    /// goes on at `from_ns`. Until when may it run before `schedule` is called in any case, ns?
    /// `u64::MAX`: for ever.
    fn run_limit_ns<O: Observer>(
        &mut self,
        _m: &mut Mechanics<'_, O>,
        _cpu: CpuId,
        _task: TaskId,
        _from_ns: u64,
    ) -> u64 {
        u64::MAX
    }

    /// Must it leave the CPU before it goes on (TIF_NEED_RESCHED)?
    fn wants_cpu(&self, cpu: CpuId) -> bool;

    /// Lets the CPU look whom it runs now. `changed`: this task has just left it for a change of
    /// its attributes.
    fn schedule<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        changed: Option<TaskId>,
    );

    /// Tells that the n-th thread of the kernel's own has done what it had to do. It sleeps or gets
    /// more.
    fn thread_goes_on<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        index: usize,
    );

    // What tasks ask for: `task` runs on `cpu`.

    /// A thread of this script exists, on no CPU yet. It runs after `fork`.
    fn add_task<O: Observer>(
        &mut self,
        m: &Mechanics<'_, O>,
        task: TaskId,
        script: u32,
        cpu: CpuId,
    );

    /// Lets the first thread begin to run, there if it may.
    fn spawn<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId, cpu: CpuId);

    /// Places `child`, which the running `parent` has made and which begins to run.
    fn fork<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, child: TaskId, parent: TaskId);

    /// Wakes a sleeping task, by what runs on `cpu`. `sync`: it will sleep soon.
    fn wake<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId, cpu: CpuId, sync: bool);

    /// Puts the running task to sleep, until then or until it is woken.
    fn sleep<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        until_ns: Option<u64>,
    );

    /// A task that sleeps already is to wake then.
    fn set_timer<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId, due_ns: u64);

    /// Ends the running task. The kernel says that it is gone by `Mechanics::gone` once it is off
    /// the CPU.
    fn exit<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, task: TaskId);

    /// Lets others go before the running task. Returns true if `schedule` is to be called.
    fn yields<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, task: TaskId) -> bool;

    /// Lets the kernel place a task anew that runs another program. Returns true if it was moved
    /// for that and is off the CPU: `schedule` is to be called.
    fn exec<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, task: TaskId) -> bool;

    /// Changes the running task's own attributes and (`allowed`) the CPUs that it may use, None:
    /// all. Returns true if it is off the CPU now: `schedule` is to be called.
    fn change<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        change: &Change,
        allowed: Option<Option<&[u32]>>,
    ) -> bool;

    /// How much a task matters: 0 fair ones, which lend nothing, above that the higher the sooner.
    fn level(&self, task: TaskId) -> u64;

    /// Gives a holder of mutexes what `donor` has, who waits for one of them, if that is above its
    /// own; None: nobody waits. Found out on the CPU `by`. Returns true if something changed.
    fn lend<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        holder: TaskId,
        donor: Option<TaskId>,
        by: CpuId,
    ) -> bool;

    // Hardware.

    /// Tells the kernel that a frequency domain is about to run at the operating point that was
    /// wanted (`Mechanics::want_opp`).
    fn opp_reached<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, domain: u32, opp: u16);

    /// Tells the kernel that a frequency domain runs at this operating point, which the kernel did
    /// not ask for: fewer or more cores are awake, a package draws too much, or hardware chooses.
    fn clock_is<O: Observer>(&mut self, _m: &mut Mechanics<'_, O>, _domain: u32, _opp: u16) {}

    /// Limits a domain to its operating points up to `most`. `cool`: those that heat leaves it, if
    /// that is known.
    fn freq_limit<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        domain: u32,
        most: u32,
        cool: Option<u32>,
    );

    /// Gives a domain another energy model: (kHz, uW) of each operating point.
    fn energy_model(&mut self, domain: usize, states: &[(u32, u32)]);

    /// Lets a CPU leave the machine or come back. The kernel calls `Mechanics::set_online`.
    fn hotplug<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, online: bool);

    // Views, for kernels that have them.

    /// Shows observers its state at this time (`Mechanics::look`).
    fn show_state<O: Observer>(&self, _m: &mut Mechanics<'_, O>, _time_ns: u64) {}

    /// Is some CPU used beyond what it is good for?
    fn overutilized(&self) -> bool {
        false
    }
}
