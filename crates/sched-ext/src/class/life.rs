//! The scheduler is loaded; tasks and cgroups come, change and go; CPUs leave and come back
//! (docs/rules/sched-ext.md#life). The order of callbacks is part of the rule.
//!
//! What must stay: the order of callbacks at load, at each change, and at the end. Free: how a
//! change is noticed.
//!
//! Tests by part: `weights_are_told_when_they_change` (`set_weight`, `tell_weight`, `move_cgroup`,
//! `change`, `add_task`, `init_task`, `enable`), `a_task_that_comes_back_has_its_new_weight`
//! (`set_class`, `disable`), engine's sched_ext/errors.rs::`hotplug_needs_callbacks` (`hotplug`,
//! `set_online`), crates/cli/tests/all/callbacks.rs::`of_a_task_that_is_given_other_cpus`
//! (`set_cpus_allowed`, `tell_cpumask`), engine's
//! sched_ext/clocks.rs::`clocks_advance_by_the_time_that_a_task_runs` (`set_rq_clock`), engine's
//! sched_ext/storms.rs::`a_wild_scheduler_loses_nobody` (`load`, `exit_task`, `unload`),
//! crates/cli/tests/all/schedulers.rs::`cids_leave_and_come_back` (`set_perf_cur`, `hotplug` with
//! callbacks). `refused` has no test of its own.
//!
//! Callers: engine's kernel/model/home/sched_ext.rs and kernel/model/sched_ext.
//!
//! Tests: crates/sched-ext/tests/all/life.rs

use super::kfuncs::FIRST_PID;
use super::task::{ExtTask, NewTask, TaskState, weight_to_cgroup};
use super::{ExtClass, Join, Leave, Scx, idle, validate};
use crate::consts::{PF_EXITING, SCX_TASK_QUEUED};
use crate::{Callback, CgroupId, Class, Exit, ExitKind, RqClock, Started, TaskId};

/// `SCX_ECODE_ACT_RESTART | SCX_ECODE_RSN_HOTPLUG`.
const ECODE_HOTPLUG: i64 = 1 << 48 | 1 << 32;

impl Scx {
    /// Masks and sizes of domains follow.
    fn set_online(&mut self, cpu: u32, online: bool) {
        idle::set(&mut self.idle.online, cpu, online);
        self.idle.update_topology();
        self.cpu_facts[cpu as usize].online = online;
    }
}

impl ExtClass<'_> {
    /// Loads the scheduler: `init_cids`, `init`, then the cgroups. Tasks follow (`init_task`).
    pub fn load(&mut self) {
        if let Some(text) = validate::refusal(&self.scx.info) {
            return self.scx.error(text);
        }
        let result = self.call(Callback::InitCids, None, |ops, kernel| {
            ops.init_cids(kernel)
        });
        self.refused("init_cids", result);
        let result = self.call(Callback::Init, None, |ops, kernel| ops.init(kernel));
        self.refused("init", result);
        for cgroup in 0..=self.scx.cgroup_weights.len() as u32 {
            let cgroup = CgroupId(cgroup);
            let weight = crate::Kernel::cgroup_weight(&self.scx, cgroup);
            let result = self.call(Callback::CgroupInit, None, |ops, kernel| {
                ops.cgroup_init(kernel, cgroup, weight)
            });
            self.refused("cgroup_init", result);
        }
        self.run_due();
    }

    /// What a callback that may refuse returned (`ops_sanitize_err`).
    fn refused(&mut self, name: &str, result: Option<i32>) {
        match result {
            None | Some(0) => {}
            Some(errno @ -4095..0) => self.scx.error(format!("ops.{name}() failed ({errno})")),
            Some(other) => {
                let text = format!("ops.{name}() returned an invalid errno {other}");
                self.scx.error(text);
            }
        }
    }

    /// One more task, whose number is the next one. The scheduler does not know it yet.
    pub fn add_task(&mut self, new: &NewTask) {
        let task = TaskId(self.scx.tasks.len() as u32);
        let pid = |task: TaskId| FIRST_PID + task.0.cast_signed();
        let tgid = pid(new.group_leader.unwrap_or(task));
        let (nr_cpus, now_ns) = (self.scx.nr_cpus(), self.scx.now_ns);
        let entity = ExtTask::new(new, pid(task), tgid, nr_cpus, now_ns);
        self.scx.tasks.push(entity);
    }

    /// The scheduler hears of a task (`scx_init_task`, `scx_enable_task`).
    pub fn init_task(&mut self, task: TaskId, started: Started, parent: Option<TaskId>) {
        let now_ns = self.scx.now_ns;
        let parent_cpu = parent.map(|parent| self.scx.tasks[parent.index()].facts.cpu);
        let entity = self.scx.task_mut(task);
        entity.facts.cpu = parent_cpu.unwrap_or(entity.facts.cpu);
        entity.facts.wake_cpu = entity.facts.cpu;
        entity.facts.start_time_ns = now_ns;
        entity.facts.real_parent = parent;
        entity.facts.changes += 1;
        entity.runnable_at_ns = now_ns;
        let cgroup = entity.facts.cgroup;
        let result = self.call(Callback::InitTask, Some(task), |ops, kernel| {
            ops.init_task(kernel, task, started, cgroup)
        });
        self.refused("init_task", result);
        let entity = self.scx.task_mut(task);
        entity.state = TaskState::Ready;
        let (class, name) = (entity.facts.class, entity.name());
        if entity.disallow {
            let during = match started {
                Started::Forked => " during fork",
                Started::Existing => "; a fair class beside the scheduler is not modelled",
            };
            let text = format!("ops.init_task() set task->scx.disallow for {name}{during}");
            self.scx.error(text);
        }
        if class == Class::Ext {
            self.enable(task);
            // It comes from the fair class (`switching_to_scx`); who is forked comes from none.
            if started == Started::Existing {
                self.tell_cpumask(task);
            }
        }
        self.run_due();
    }

    /// From now on the scheduler has the task; it hears its weight at once.
    fn enable(&mut self, task: TaskId) {
        self.call(Callback::Enable, Some(task), |ops, kernel| {
            ops.enable(kernel, task)
        });
        self.tell_weight(task);
        self.scx.task_mut(task).state = TaskState::Enabled;
    }

    /// The task is no longer the scheduler's; it stays known.
    fn disable(&mut self, task: TaskId) {
        self.call(Callback::Disable, Some(task), |ops, kernel| {
            ops.disable(kernel, task)
        });
        self.scx.task_mut(task).state = TaskState::Ready;
    }

    /// The weight is 1..=10000, as cgroups have it.
    fn tell_weight(&mut self, task: TaskId) {
        let weight = self.scx.tasks[task.index()].facts.weight;
        self.call(Callback::SetWeight, Some(task), |ops, kernel| {
            ops.set_weight(kernel, task, weight)
        });
    }

    /// Its CPUs are asked for by `Kernel::task_cpus`.
    fn tell_cpumask(&mut self, task: TaskId) {
        self.call(Callback::SetCpumask, Some(task), |ops, kernel| {
            ops.set_cpumask(kernel, task)
        });
    }

    /// A task that has left its CPU for good is gone (`sched_ext_dead`).
    pub fn exit_task(&mut self, task: TaskId) {
        let facts = &mut self.scx.task_mut(task).facts;
        facts.flags |= PF_EXITING;
        facts.changes += 1;
        if self.scx.tasks[task.index()].state == TaskState::Enabled {
            self.disable(task);
        }
        self.call(Callback::ExitTask, Some(task), |ops, kernel| {
            ops.exit_task(kernel, task, false)
        });
        self.scx.task_mut(task).state = TaskState::None;
        self.run_due();
    }

    /// A task off its queue is of another class or policy from now on (`switching_to_scx`,
    /// `switched_from_scx`).
    pub fn set_class(&mut self, task: TaskId, class: Class, policy: u32, prio: i32) {
        let facts = &mut self.scx.task_mut(task).facts;
        let was = std::mem::replace(&mut facts.class, class);
        (facts.policy, facts.prio) = (policy, prio);
        facts.changes += 1;
        match (was == Class::Ext, class == Class::Ext) {
            (true, false) => self.disable(task),
            (false, true) => {
                self.enable(task);
                self.tell_cpumask(task);
            }
            _ => {}
        }
        self.run_due();
    }

    /// Its nice value and its weight in the fair class. If one is another the scheduler hears of it
    /// (within `change`), if it schedules the task (`set_user_nice`, `reweight_task_scx`).
    pub fn set_weight(&mut self, task: TaskId, nice: i8, load_weight: u32) {
        let facts = &self.scx.tasks[task.index()].facts;
        let (static_prio, weight) = (120 + i32::from(nice), weight_to_cgroup(load_weight));
        if (facts.static_prio, facts.weight) == (static_prio, weight) {
            return;
        }
        self.change(task, |class| {
            let entity = class.scx.task_mut(task);
            (entity.facts.static_prio, entity.facts.weight) = (static_prio, weight);
            if entity.facts.class == Class::Ext {
                entity.facts.prio = static_prio;
            }
            entity.facts.changes += 1;
            if entity.state == TaskState::Enabled {
                class.tell_weight(task);
            }
        });
    }

    /// CPUs that it may use. If they are the same as before nothing happens
    /// (`__set_cpus_allowed_ptr_locked`).
    pub fn set_cpus_allowed(&mut self, task: TaskId, cpus: &[u64]) {
        let now = &self.scx.tasks[task.index()].cpus;
        let same = |(at, word): (usize, &u64)| cpus.get(at).copied().unwrap_or(0) == *word;
        if now.iter().enumerate().all(same) {
            return;
        }
        self.change(task, |class| {
            let entity = class.scx.task_mut(task);
            let words = entity.cpus.iter_mut().enumerate();
            words.for_each(|(at, word)| *word = cpus.get(at).copied().unwrap_or(0));
            entity.facts.nr_cpus_allowed = entity.cpus.iter().map(|word| word.count_ones()).sum();
            entity.facts.changes += 1;
            class.tell_cpumask(task);
        });
    }

    /// It is in another cgroup (`scx_cgroup_move_task`).
    pub fn move_cgroup(&mut self, task: TaskId, to: CgroupId) {
        let from = self.scx.tasks[task.index()].facts.cgroup;
        if from == to {
            return;
        }
        let result = self.call(Callback::CgroupPrepMove, Some(task), |ops, kernel| {
            ops.cgroup_prep_move(kernel, task, from, to)
        });
        self.refused("cgroup_prep_move", result);
        self.change(task, |class| {
            let facts = &mut class.scx.task_mut(task).facts;
            facts.cgroup = to;
            facts.changes += 1;
            class.call(Callback::CgroupMove, Some(task), |ops, kernel| {
                ops.cgroup_move(kernel, task, from, to)
            });
        });
    }

    /// Something of a task changes: as the kernel does it, off its queue and on again, where a
    /// running one goes on running (`do_set_cpus_allowed`, `set_user_nice`). Of one that is on no
    /// queue it just changes.
    fn change(&mut self, task: TaskId, change: impl FnOnce(&mut Self)) {
        let entity = &self.scx.tasks[task.index()];
        let queued = entity.is_queued() && entity.facts.class == Class::Ext;
        let (runs, cpu) = (queued && entity.facts.on_cpu, entity.facts.cpu);
        if queued && !runs {
            self.dequeue_task(task, Leave::Change);
            change(self);
            return self.enqueue_task(task, cpu, Join::Change);
        }
        let deq_flags = self.scx.change_flags();
        if runs {
            self.call(Callback::Stopping, Some(task), |ops, kernel| {
                ops.stopping(kernel, task, false)
            });
            self.call(Callback::Quiescent, Some(task), |ops, kernel| {
                ops.quiescent(kernel, task, deq_flags)
            });
            self.scx.task_mut(task).facts.scx_flags &= !SCX_TASK_QUEUED;
        }
        change(self);
        if runs {
            self.scx.task_mut(task).facts.scx_flags |= SCX_TASK_QUEUED;
            self.call(Callback::Runnable, Some(task), |ops, kernel| {
                ops.runnable(kernel, task, 0)
            });
            self.call(Callback::Running, Some(task), |ops, kernel| {
                ops.running(kernel, task)
            });
        }
        self.run_due();
    }

    /// A CPU leaves or comes back (docs/rules/sched-ext.md#ext-hotplug): before its tasks leave,
    /// after it is there. Callbacks of both find it online.
    pub fn hotplug(&mut self, cpu: u32, online: bool) {
        if online {
            self.scx.set_online(cpu, true);
        }
        let number = cpu.cast_signed();
        let callback = if online {
            Callback::CpuOnline
        } else {
            Callback::CpuOffline
        };
        if !self.scx.info.callbacks.has(callback) {
            let to = if online { "online" } else { "offline" };
            return self.scx.end(Exit {
                kind: ExitKind::UnregKern,
                code: ECODE_HOTPLUG,
                message: format!("cpu {cpu} going {to}, exiting scheduler"),
            });
        }
        self.call(callback, None, |ops, kernel| match online {
            true => ops.cpu_online(kernel, number),
            false => ops.cpu_offline(kernel, number),
        });
        if !online {
            self.scx.set_online(cpu, false);
        }
        self.scx.cpus[cpu as usize].online = online;
        self.run_due();
    }

    /// The CPU runs at this fraction of its highest frequency, of 1024.
    pub fn set_perf_cur(&mut self, cpu: u32, perf: u32) {
        self.scx.cpus[cpu as usize].perf_cur = perf;
    }

    /// The clocks of the CPU's run queue.
    #[inline]
    pub fn set_rq_clock(&mut self, cpu: u32, clock: RqClock) {
        self.scx.cpus[cpu as usize].clock = clock;
    }

    /// The run is over, or the scheduler has ended: `exit` is the last callback.
    pub fn unload(&mut self) {
        let unreg = || Exit::new(ExitKind::Unreg, "");
        let exit = self.scx.exit.clone().unwrap_or_else(unreg);
        if self.scx.info.callbacks.has(Callback::Exit) {
            // A fault in it does not hide why the scheduler ended.
            let _ = self.ops.exit(&mut self.scx, &exit);
        }
    }
}
