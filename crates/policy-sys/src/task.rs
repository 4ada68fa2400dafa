//! A task as the core sees it. What a home may change of it has a method; the rest is the core's.
//!
//! What must stay: the record is the core's `struct wp_task`; a home writes only what has a method
//! here. Free: which fields a home may write: each needs a method.
//!
//! Tests by part: signals.rs: `queue_is_the_sum_of_its_tasks` (`util_avg`, `new`, `weight`,
//! `load_avg`), fast_path.rs: `children_have_the_flips_of_their_parent` (`forked_by`), fits.rs:
//! `largest_allowed_capacity` (`set_allowed`, `may_use`), task_groups.rs:
//! `nothing_stays_of_a_group_without_tasks` (`set_group`, `group`), sched_cache.rs:
//! `a_task_stays_in_its_cache` (`set_process`). `cpu`, `raw` and `raw_mut` are looks.
//!
//! Callers: the engine keeps one of these per simulated task.
//!
//! Tests: crates/policy-sys/tests/all/signals.rs, crates/policy-sys/tests/all/fixtures.rs

use crate::sys;

/// The core's record of one task. The home keeps it; the core changes it in its entry points.
#[derive(Clone, Debug)]
#[repr(transparent)]
pub struct Task(pub(crate) sys::wp_task);

impl Task {
    /// A task not yet known to the core: call `Core::task_init` next.
    ///
    /// `id` is unique and not 0; `cpu` is its parent's. `allowed` lists CPUs; `None` = all of
    /// `nr_cpus`.
    #[must_use]
    pub fn new(id: u32, weight: u32, cpu: u32, allowed: Option<&[u32]>, nr_cpus: u32) -> Self {
        let mut raw = sys::wp_task {
            id,
            weight,
            cpu,
            ..Default::default()
        };
        let mut allow = |c: u32| raw.allowed[c as usize / 64] |= 1 << (c % 64);
        match allowed {
            Some(list) => list.iter().copied().for_each(&mut allow),
            None => (0..nr_cpus).for_each(&mut allow),
        }
        Self(raw)
    }

    /// A fork hands down what `parent` remembers as a waker: whom it woke last, how often another
    /// one (docs/rules/wake-ups.md#what-a-fork-copies).
    pub fn forked_by(&mut self, parent: &Self) {
        // SAFETY: both records are live, and this one is exclusive for the call.
        unsafe { sys::wp_task_fork(&raw mut self.0, &raw const parent.0.waker) };
    }

    /// Replaces the set of allowed CPUs; where capacities differ, call `Core::task_set_allowed`
    /// next.
    pub fn set_allowed(&mut self, allowed: Option<&[u32]>, nr_cpus: u32) {
        let fresh = Self::new(self.0.id, self.0.weight, self.0.cpu, allowed, nr_cpus);
        self.0.allowed = fresh.0.allowed;
        self.0.nr_allowed = self.0.allowed.iter().map(|w| w.count_ones()).sum();
    }

    /// True if the task may run on `cpu`.
    #[must_use]
    pub fn may_use(&self, cpu: u32) -> bool {
        self.0.allowed[cpu as usize / 64] >> (cpu % 64) & 1 != 0
    }

    /// The CPU it is on or was last on.
    #[inline]
    #[must_use]
    pub fn cpu(&self) -> u32 {
        self.0.cpu
    }

    /// Weight of its nice value.
    #[inline]
    #[must_use]
    pub fn weight(&self) -> u32 {
        self.0.weight
    }

    /// Load average, weight x share of time runnable.
    #[inline]
    #[must_use]
    pub fn load_avg(&self) -> u32 {
        self.0.avg.load_avg
    }

    /// Utilisation average, 0..=1024.
    #[inline]
    #[must_use]
    pub fn util_avg(&self) -> u32 {
        self.0.avg.util_avg
    }

    /// Its task group (`Core::add_group`), if it is in one.
    #[inline]
    #[must_use]
    pub fn group(&self) -> Option<usize> {
        (self.0.task_group as usize).checked_sub(1)
    }

    /// Puts it into a task group, or into none, before `Core::task_new`.
    pub fn set_group(&mut self, group: Option<usize>) {
        self.0.task_group = group.map_or(0, |group| group as u32 + 1);
    }

    /// Makes it a thread of a process with several (`Core::add_processes`), or alone in its own. A
    /// task to which nobody does this is a kernel thread.
    pub fn set_process(&mut self, process: Option<u32>) {
        self.0.mm = process.map_or(sys::WP_NONE, |process| process + 1);
    }

    /// The raw record: for tests and tools that build a situation by hand.
    #[must_use]
    pub fn raw(&self) -> &sys::wp_task {
        &self.0
    }

    /// Gives the core's record to be changed (`raw`).
    pub fn raw_mut(&mut self) -> &mut sys::wp_task {
        &mut self.0
    }
}
