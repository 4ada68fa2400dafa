//! One decision with all that it looked at: the record of `policy/include/wakeplace/explain.h`.
//!
//! What must stay: a copy is asked, never the run's own core, so explaining changes no run.
//! Energies are in the core's units (`energy_per_uw`). Free: what a record shows beside the C
//! record's fields.
//!
//! Tests by part: explain.rs: `energy_vector_of_today` (`explain`, `of_record`, `energy_per_uw`),
//! `a_copy_answers_alike` (`copy`, `copied`), `under_another_policy`,
//! `the_tipping_point_is_made_up`, `urgency_is_made_up`, `thresholds_are_those_of_the_other`
//! (`copy_under`), `every_word_is_there_once` (words of enum wp_drop).
//! `task_util_est` is shown by crates/engine/tests/behaviour/explain.rs.
//!
//! Callers: the engine's explain/ for `wakeplace explain`, and crates/study/src/kernel_diff.
//!
//! Tests: crates/policy-sys/tests/all/explain.rs,
//! crates/policy-sys/tests/all/energy_no_watts.rs::costs_of_hikey960

use crate::classes::ClassTask;
use crate::core::{Choice, Core, Request, zeroed_box};
use crate::machine::{MachineError, MachineFacts};
use crate::sys;
use crate::task::Task;
use crate::task_group::Group;
use crate::words::words;

words! {
    /// Why a CPU was not chosen.
    Dropped {
        None = WP_DROP_NONE, "none", "it was chosen";
        NotLookedAt = WP_DROP_NOT_LOOKED_AT, "not-looked-at",
            "the rule had decided before it came to this CPU, or does not look at it";
        Offline = WP_DROP_OFFLINE, "offline", "offline";
        NotAllowed = WP_DROP_NOT_ALLOWED, "not-allowed", "the task may not use it";
        Outside = WP_DROP_OUTSIDE, "outside", "outside the domain that the rule searches";
        Busy = WP_DROP_BUSY, "busy", "it is not idle";
        Unfit = WP_DROP_UNFIT, "unfit", "too small for the task, or for it and what runs there";
        Far = WP_DROP_FAR, "far",
            "idle, but in another cluster of the cache: taken only if no nearer one is idle";
        OtherCache = WP_DROP_OTHER_CACHE, "other-cache", "it does not share the target's cache";
        Limit = WP_DROP_LIMIT, "limit", "beyond the limit of the search (SIS_UTIL, SIS_PROP)";
        CoreBusy = WP_DROP_CORE_BUSY, "core-busy",
            "idle, but another CPU of its core or group is busy";
        LessSpare = WP_DROP_LESS_SPARE, "less-spare",
            "another CPU of its performance domain has as much spare capacity, or more";
        PrevSpare = WP_DROP_PREV_SPARE, "prev-spare",
            "the previous CPU is in its performance domain and has as much spare capacity, or more";
        MoreEnergy = WP_DROP_MORE_ENERGY, "more-energy",
            "another CPU costs as little energy, or less";
        Margin = WP_DROP_MARGIN, "margin", "it saves energy, but by no more than the margin";
        Hint = WP_DROP_HINT, "hint", "another CPU meets the task's uclamp better";
        Group = WP_DROP_GROUP, "group", "its group of CPUs was not chosen";
        IdleState = WP_DROP_IDLE_STATE, "idle-state",
            "another idle CPU of the group has a shorter exit latency, or went idle later";
        Outranked = WP_DROP_OUTRANKED, "outranked",
            "RT, deadline: the tasks there go first, or the chosen CPU has lower ones or is nearer";
        NoRoom = WP_DROP_NO_ROOM, "no-room", "packing: the CPU or its group is full";
        MoreRoom = WP_DROP_MORE_ROOM, "more-room",
            "packing: another CPU, or group, that can take the task is as full, or fuller";
        MoreLoad = WP_DROP_MORE_LOAD, "more-load",
            "another CPU of the group has as little load, or less";
        Idle = WP_DROP_IDLE, "idle", "packing: idle, and only busy CPUs get more tasks";
    }
}

const _: () = assert!(Dropped::ALL.len() == sys::WP_DROP_COUNT as usize);

words! {
    /// Why the energy-aware rule did not decide.
    NoEnergy {
        Asked = WP_NO_ENERGY_ASKED, "asked", "it decided, or was not asked";
        Kind = WP_NO_ENERGY_KIND, "kind", "it places woken tasks only";
        Inactive = WP_NO_ENERGY_INACTIVE, "inactive", "it is not active under this policy";
        Overutilized = WP_NO_ENERGY_OVERUTILIZED, "overutilized",
            "the system is beyond the tipping point";
        Domain = WP_NO_ENERGY_DOMAIN, "no-domain",
            "no domain of different CPUs joins the waking and the previous CPU";
    }
}

/// One CPU, as the decision saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// CPU number.
    pub cpu: u32,
    /// Looked at as the n-th CPU, from 1; 0: not.
    pub order: u32,
    /// Its utilisation with the task on it, 0..=1024.
    pub util: u32,
    /// Capacity left for fair tasks.
    pub capacity: u32,
    /// Capacity less that utilisation.
    pub spare: u32,
    /// 1: the task fits; 0: it does not; -1: it does but for its `uclamp_min`.
    pub fits: i32,
    /// Its queue's runnable signal as it stands; None: the policy keeps none (to 5.6).
    pub runnable: Option<u32>,
    /// The clock that the estimate took for its performance domain with the task there, kHz.
    pub clock_khz: Option<u32>,
    /// What the rule estimated for the task there, in the unit of its form (`Core::energy_per_uw`).
    pub energy: Option<u64>,
    /// Why it was not chosen.
    pub dropped: Dropped,
}

/// Is the task one that runs for a short time, for the rules that ask?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortTask {
    /// It is.
    pub short: bool,
    /// The length of a run where that ends, ns.
    pub limit_ns: u64,
}

/// A decision with what it looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The answer.
    pub choice: Choice,
    /// An idle CPU was searched around this one.
    pub target: Option<u32>,
    /// Why the energy-aware rule did not decide.
    pub no_energy: NoEnergy,
    /// CPUs that the search looked at.
    pub scanned: u32,
    /// None: no rule of the policy asks for it.
    pub short: Option<ShortTask>,
    /// All CPUs of the machine.
    pub candidates: Vec<Seen>,
}

/// A copy on the heap, never on the stack: these are megabytes.
pub(crate) fn copied<T: Copy>(from: &T) -> Box<T> {
    let mut to: Box<T> = zeroed_box();
    (*to).clone_from(from);
    to
}

impl Core {
    /// A second core in the same state.
    #[must_use]
    pub fn copy(&self) -> Self {
        let mut copy = Self::of_parts(
            copied(self.state()),
            self.groups.iter().map(Group::copy).collect(),
        );
        copy.state_mut().explain = 0;
        copy.state_mut().kept = 0;
        copy.state_mut().sched_cache = 0; // it places tasks, and balances none
        copy
    }

    /// A second core in the same state, under other parameters: its domains are built anew as those
    /// ask. Signals and queues stay as they are (docs/decisions/034).
    ///
    /// # Errors
    /// Facts that a core with these parameters refuses.
    pub fn copy_under(
        &self,
        facts: &MachineFacts,
        params: &sys::wp_params,
    ) -> Result<Self, MachineError> {
        let built = Self::new(facts, params)?;
        let mut copy = self.copy();
        let was = self.state();
        let to = copy.state_mut();
        to.params = *params;
        built.copy_topology(to);
        for (domain, old) in to.perf_doms.iter_mut().zip(&was.perf_doms) {
            domain.min_state = old.min_state;
            domain.max_state = old.max_state;
        }
        to.freq_doms.copy_from_slice(&was.freq_doms);
        let searches = |p: &sys::wp_params| (p.sis_util, p.sis_asym);
        let same_search = u32::from(searches(params) == searches(&was.params));
        let limits = |p: &sys::wp_params| (p.boost_urgency_low_pct, p.boost_urgency_high_pct);
        let same_urgency = u32::from(limits(params) == limits(&was.params));
        let was_active = u32::from(was.energy_active != 0);
        // SAFETY: the context is live and exclusive; the core masks every index.
        unsafe { sys::wp_explain_adopt(to, was_active, same_search, same_urgency) };
        Ok(copy)
    }

    /// What `select_cpu`, for a task of another class `select_class`, would answer, and why. It
    /// changes the state as those do: ask a copy.
    ///
    /// # Panics
    /// As `select_cpu`.
    pub fn explain(
        &mut self,
        tasks: &mut [Task],
        index: usize,
        class: Option<&ClassTask>,
        ask: &Request,
    ) -> Explained {
        let mut record: Box<sys::wp_explain> = zeroed_box();
        let address = &raw mut *record;
        // SAFETY: the record is live and exclusive.
        unsafe { sys::wp_explain_begin(address) };
        self.state_mut().explain = address.expose_provenance() as u64;
        let choice = match class {
            Some(class) => self.select_class(&tasks[index], class, ask),
            None => self.select_cpu(tasks, index, ask),
        };
        let (ctx, decision) = self.parts();
        let task = &raw mut tasks[index].0;
        // SAFETY: all are live and distinct; the record outlives the call, and the context forgets
        // its address right after.
        unsafe { sys::wp_explain_end(ctx, task, decision, ask.this_cpu) };
        self.state_mut().explain = 0;
        let cpus = (0..self.state().nr_cpus).zip(&record.seen);
        Explained {
            choice,
            target: Some(record.target).filter(|target| *target != sys::WP_NONE),
            no_energy: NoEnergy::from_number(record.no_energy),
            scanned: self.scanned(),
            short: (record.short_known != 0).then_some(ShortTask {
                short: record.is_short != 0,
                limit_ns: record.short_ns,
            }),
            candidates: cpus.map(|(cpu, seen)| of_record(cpu, seen)).collect(),
        }
    }

    /// What an estimate of energy is divided by to have microwatts on average; None: the policy
    /// makes none. The forms differ: milliwatts (v3, 5.0), microwatts (5.10, 6.1), tenths of them.
    #[must_use]
    pub fn energy_per_uw(&self) -> Option<f64> {
        match self.state().params.energy_aware {
            sys::WP_ENERGY_OFF => None,
            sys::WP_ENERGY_V3 | sys::WP_ENERGY_50 => Some(0.001),
            sys::WP_ENERGY_510 | sys::WP_ENERGY_61 => Some(1.0),
            _ => Some(10.0),
        }
    }

    /// What `util_est` says of a task, 0..=1024; its average where the policy keeps no estimate.
    #[must_use]
    pub fn task_util_est(&self, task: &Task) -> u32 {
        // SAFETY: reads both only.
        unsafe { sys::wp_task_util_est(self.state(), &raw const task.0) }
    }
}

/// What the record says of one CPU.
fn of_record(cpu: u32, seen: &sys::wp_seen) -> Seen {
    Seen {
        cpu,
        order: seen.order,
        util: seen.util,
        capacity: seen.capacity,
        spare: seen.spare,
        fits: seen.fits.cast_signed(),
        runnable: (seen.runnable != sys::WP_NONE).then_some(seen.runnable),
        clock_khz: (seen.khz != 0).then_some(seen.khz),
        energy: (seen.energy != u64::MAX).then_some(seen.energy),
        dropped: Dropped::from_number(seen.drop),
    }
}
