//! Task groups: their memory, and the events that the core has other entry points for if a task is
//! in one. A core without groups does nothing of this (docs/decisions/020).
//!
//! What must stay: numbers of groups, in the order in which they are added; the root is no group
//! here. Free: which entry point an event takes, with task_group.c.
//!
//! Tests by part: task_groups.rs: `nothing_stays_of_a_group_without_tasks` (`add_group`, `enqueue`,
//! `task_exit`, `update_blocked`, `weighed`, `prepare_grouped`), the random steps there
//! (`enqueue_woken`, `enqueue_moved`), fixtures of task-group (`tg_weight`, `h_load`),
//! group_weights.rs: `a_nested_group_that_wakes_weighs_all_of_its_shares` (`add_group_in`,
//! `group_queue`, `path`, `path_read`), `no_more_groups_around_a_group_than_there_is_room_for`
//! (`nest_group`), group_accesses.rs: `groups_around_a_group_are_read_once_each`
//! (`take_group_accesses`), forms_by_era.rs: `new_tasks_and_the_tipping_point` (`enqueue_new`),
//! classes.rs: `io_boost_is_a_floor` (`enqueue_io`), fixtures of balance_38 (`idle_tick`).
//! `enqueue_throttled` is run by crates/engine/tests/behaviour/bandwidth.rs; `group_parent` and
//! `groups_around` likewise. `copy`, `take`, `nr_groups` and `group_mut` have no test of their own.
//!
//! Callers: the engine's events of tasks; a task without a group takes the plain entry point here,
//! too.
//!
//! Tests: crates/policy-sys/tests/all/task_groups.rs, crates/policy-sys/tests/all/group_accesses.rs

use crate::core::{Core, EventResult, zeroed_box};
use crate::explain::copied;
use crate::sys;
use crate::task::Task;
use std::ptr::null_mut;

/// Weight of a group's entity on a CPU (docs/rules/signals.md#load-for-balancing): `group_load`
/// counts `counted` for this CPU's queue, whose load is `load` now.
#[must_use]
pub fn tg_weight(shares: u32, group_load: u64, counted: u32, load: u32) -> u32 {
    // SAFETY: arithmetic on values.
    unsafe { sys::wp_calc_group_shares(shares, group_load, counted, load) }
}

/// How often calls read and wrote a group's load, the word that all CPUs share
/// (`wp_tg_load` in task_group.h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupAccesses {
    /// A weight was made of it.
    pub reads: u32,
    /// A queue told it of a change.
    pub writes: u32,
}

/// A group's memory, and which group is around it.
#[derive(Debug)]
pub(crate) struct Group {
    raw: Box<sys::wp_task_group>,
    parent: Option<usize>,
}

impl Group {
    /// A second one in the same state.
    pub(crate) fn copy(&self) -> Self {
        Self {
            raw: copied(&*self.raw),
            parent: self.parent,
        }
    }
}

/// What was counted, which begins anew.
fn take(load: &mut sys::wp_tg_load) -> GroupAccesses {
    GroupAccesses {
        reads: std::mem::take(&mut load.reads),
        writes: std::mem::take(&mut load.writes),
    }
}

impl Core {
    /// Groups around a group that hold nothing else.
    pub const MAX_OUTER_GROUPS: usize = sys::WP_MAX_TG_OUTER as usize;
    /// A group and those around it that have queues.
    pub const MAX_GROUP_LEVELS: usize = sys::WP_MAX_TG_LEVELS as usize;

    /// Makes a task group of the root; returns its number for `Task::set_group`. Before the first
    /// event.
    pub fn add_group(&mut self, shares: u32) -> usize {
        self.add_group_in(None, shares)
    }

    /// Adds a task group in another group.
    ///
    /// # Panics
    /// At more than `MAX_GROUP_LEVELS`.
    pub fn add_group_in(&mut self, parent: Option<usize>, shares: u32) -> usize {
        let levels = std::iter::successors(parent, |group| self.groups[*group].parent).count();
        assert!(
            levels < Self::MAX_GROUP_LEVELS,
            "too many groups around a group"
        );
        let mut group: Box<sys::wp_task_group> = zeroed_box();
        // SAFETY: both are live and exclusive. So below.
        unsafe { sys::wp_tg_init(self.ctx_mut(), &raw mut *group, shares) };
        self.groups.push(Group { raw: group, parent });
        self.groups.len() - 1
    }

    /// Puts a group into one with these shares that holds nothing else; again: that one into
    /// another. Before the first event.
    ///
    /// # Panics
    /// At more than `MAX_OUTER_GROUPS`.
    pub fn nest_group(&mut self, group: usize, shares: u32) {
        let group = &raw mut *self.groups[group].raw;
        // SAFETY: both are live and exclusive.
        let nested = unsafe { sys::wp_tg_nest(self.ctx_mut(), group, shares) };
        assert!(nested != 0, "too many groups around a group");
    }

    /// What has been done to the load of a group (level 0) or one of those around it (from 1 on,
    /// from the inside) since the last time this was asked; None: there is no such level.
    pub fn take_group_accesses(&mut self, group: usize, level: usize) -> Option<GroupAccesses> {
        let group = &mut self.groups[group].raw;
        match level.checked_sub(1) {
            None => Some(take(&mut group.sum)),
            Some(outer) if outer < group.nr_outer as usize => Some(take(&mut group.outer[outer])),
            Some(_) => None,
        }
    }

    /// How many groups there are.
    #[inline]
    #[must_use]
    pub fn nr_groups(&self) -> usize {
        self.groups.len()
    }

    /// A group's queue on a CPU, and the entity that stands for it there.
    #[inline]
    #[must_use]
    pub fn group_queue(&self, group: usize, cpu: u32) -> &sys::wp_tg_queue {
        &self.groups[group].raw.queue[cpu as usize]
    }

    /// A group's raw state, if there is such a group: for tests and tools that build a situation
    /// by hand.
    #[must_use]
    pub fn group(&self, group: usize) -> Option<&sys::wp_task_group> {
        self.groups.get(group).map(|group| &*group.raw)
    }

    /// Gives a group's record to be changed.
    pub fn group_mut(&mut self, group: usize) -> &mut sys::wp_task_group {
        &mut self.groups[group].raw
    }

    /// The group around a group; None: the root.
    #[inline]
    #[must_use]
    pub fn group_parent(&self, group: usize) -> Option<usize> {
        self.groups[group].parent
    }

    /// A group and those around it, from the inside.
    pub fn groups_around(&self, group: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(group, |group| self.groups[*group].parent)
    }

    /// Gives a group and those around it, for a call into the core.
    pub(crate) fn path(&mut self, group: usize) -> sys::wp_tg_path {
        let mut path = sys::wp_tg_path {
            tg: [null_mut(); sys::WP_MAX_TG_LEVELS as usize],
            nr: 0,
            pad: 0,
        };
        let mut next = Some(group);
        while let Some(group) = next {
            let group = &mut self.groups[group];
            path.tg[path.nr as usize] = &raw mut *group.raw;
            path.nr += 1;
            next = group.parent;
        }
        path
    }

    /// Gives a group and those around it of a core that is only read: the core writes nothing
    /// through it.
    fn path_read(&self, group: usize) -> sys::wp_tg_path {
        let mut path = sys::wp_tg_path {
            tg: [null_mut(); sys::WP_MAX_TG_LEVELS as usize],
            nr: 0,
            pad: 0,
        };
        for group in self.groups_around(Some(group)) {
            path.tg[path.nr as usize] = (&raw const *self.groups[group].raw).cast_mut();
            path.nr += 1;
        }
        path
    }

    /// The group that a task is in. A task whose weight is known has one that is not here.
    fn group_here(&self, task: &Task) -> Option<usize> {
        task.group().filter(|group| *group < self.groups.len())
    }

    /// What a task of a group weighs for its CPU; None: it is in no group.
    #[must_use]
    pub fn h_load(&self, task: &Task) -> Option<u32> {
        let path = self.path_read(self.group_here(task)?);
        // SAFETY: reads the three only.
        Some(unsafe { sys::wp_tg_h_load(self.state(), &raw const path, &raw const task.0) })
    }

    /// A task of a group, before a question about it.
    pub(crate) fn prepare_grouped(&mut self, task: &mut Task) {
        if let Some(path) = self.group_here(task).map(|group| self.path(group)) {
            // SAFETY: all three are live and exclusive for the call.
            unsafe { sys::wp_tg_prepare(self.ctx_mut(), &raw const path, &raw mut task.0) };
        }
    }

    /// Gives a copy of a task that is only looked at, with its load through its groups, if it is in
    /// one.
    pub(crate) fn weighed(&self, task: &Task) -> Option<Task> {
        let load = self.h_load(task)?;
        let mut copy = task.clone();
        copy.0.group_load = load;
        Some(copy)
    }

    /// A task of a group joins its queue, by the core's entry point for groups.
    #[inline]
    fn enqueue(&mut self, task: &mut Task, cpu: u32, now_ns: u64, flags: u32) -> EventResult {
        self.touch(cpu);
        let ctx = self.ctx_mut();
        let record = &raw mut task.0;
        let Some(group) = task.group() else {
            // SAFETY: the context and the task are live and exclusive for the call.
            return EventResult::new(unsafe {
                sys::wp_enqueue_task_fair(ctx, record, cpu, now_ns, flags)
            });
        };
        task.0.cpu = cpu;
        let path = self.path(group);
        let ctx = self.ctx_mut();
        // SAFETY: so are the groups.
        EventResult::new(unsafe { sys::wp_tg_enqueue(ctx, &raw const path, record, now_ns, flags) })
    }

    /// A new task joins the queue of `cpu`.
    #[inline]
    pub fn enqueue_new(&mut self, task: &mut Task, cpu: u32, now_ns: u64) -> EventResult {
        self.enqueue(task, cpu, now_ns, sys::WP_Q_NEW)
    }

    /// A woken task joins the queue of `cpu`.
    #[inline]
    pub fn enqueue_woken(&mut self, task: &mut Task, cpu: u32, now_ns: u64) -> EventResult {
        self.enqueue(task, cpu, now_ns, sys::WP_Q_WAKEUP)
    }

    /// A task joins the queue of `cpu` that left it since its group was throttled.
    pub fn enqueue_throttled(&mut self, task: &mut Task, cpu: u32, now_ns: u64) -> EventResult {
        self.enqueue(task, cpu, now_ns, sys::WP_Q_WAKEUP | sys::WP_Q_THROTTLE)
    }

    /// A task joins the queue of `cpu` after a sleep that waited for I/O.
    pub fn enqueue_io(&mut self, task: &mut Task, cpu: u32, now_ns: u64) -> EventResult {
        self.enqueue(task, cpu, now_ns, sys::WP_Q_WAKEUP | sys::WP_Q_IOWAIT)
    }

    /// A task that was moved joins the queue of `cpu`.
    #[inline]
    pub fn enqueue_moved(&mut self, task: &mut Task, cpu: u32, now_ns: u64) -> EventResult {
        self.enqueue(task, cpu, now_ns, 0)
    }

    /// A dequeued task is gone for good.
    pub fn task_exit(&mut self, task: &mut Task) {
        self.touch(task.0.cpu);
        let record = &raw mut task.0;
        let Some(group) = task.group() else {
            // SAFETY: the context and the task are live and exclusive for the call.
            unsafe { sys::wp_task_dead_fair(self.ctx_mut(), record) };
            return;
        };
        let path = self.path(group);
        // SAFETY: so are the groups.
        unsafe { sys::wp_tg_task_exit(self.ctx_mut(), &raw const path, record) };
    }

    /// Bring a CPU's signals up to date before balancing reads them.
    pub fn update_blocked(&mut self, cpu: u32, now_ns: u64) -> EventResult {
        self.touch(cpu);
        let ctx = self.ctx_mut();
        if self.groups.is_empty() {
            // SAFETY: the context is live and exclusive; the core masks every index. So below.
            return EventResult::new(unsafe { sys::wp_update_blocked_averages(ctx, cpu, now_ns) });
        }
        let mut changed = 0;
        for group in 0..self.groups.len() {
            let path = self.path(group);
            let ctx = self.ctx_mut();
            // SAFETY: so are the groups.
            changed |= unsafe { sys::wp_tg_update_blocked(ctx, &raw const path, cpu, now_ns) };
        }
        let changed = changed.cast_unsigned();
        let ctx = self.ctx_mut();
        // SAFETY: see above.
        EventResult::new(unsafe { sys::wp_tg_blocked_end(ctx, cpu, now_ns, changed) })
    }

    /// The tick of an idle CPU that keeps it.
    pub fn idle_tick(&mut self, cpu: u32, now_ns: u64) -> EventResult {
        let groups = if self.groups.is_empty() {
            EventResult::default()
        } else {
            self.update_blocked(cpu, now_ns)
        };
        self.touch(cpu);
        // SAFETY: the context is live and exclusive; the core masks every index.
        let own = unsafe { sys::wp_idle_tick(self.ctx_mut(), cpu, now_ns) };
        groups.or(EventResult::new(own))
    }
}
