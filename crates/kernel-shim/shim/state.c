// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler's state as observers may see it. The rules are the tree's own code
 * (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: it only reads; fields are wakeplace.h's. May change: a field more, with
 * crates/kernel-abi/src/abi.rs.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it)
 * crates/kernel-tree/tests/all/real_tree.rs: `a_kernel_of_the_archive_boots` (`wpk_cpu_state`:
 * capacities); `probes` (`wpk_task_state`: a task that was woken is awake). `wpk_is_awake` and
 * `wpk_task_cpu` by every run with a kernel: a wrong answer wakes nobody. The rest is read by
 * these.
 *
 * Callers: crates/engine/src/kernel/tree: state.rs (`wpk_cpu_state`), interrupts.rs
 * (`wpk_is_awake`, `wpk_task_cpu`), tasks.rs (`wpk_task_cpu`), through
 * crates/kernel-tree/src/kernel/entries.rs.
 *
 * Tests: crates/kernel-tree/tests/all/real_tree.rs, crates/kernel-shim/tests,
 *        crates/cli/tests/all/kernel_runs.rs
 */

/* -EINVAL: no such CPU, or not booted. */
wpk_s32 wpk_cpu_state(wpk_u32 cpu, struct wpk_cpu_state *s)
{
	struct rq *rq;

	if (cpu >= nr_cpus || !wp_booted)
		return -EINVAL;
	rq = cpu_rq(cpu);
	*s = (struct wpk_cpu_state){
		.util = rq->cfs.avg.util_avg,
		.util_est = estimate(&rq->cfs.avg),
		.runnable = rq->cfs.avg.runnable_avg,
		.capacity = rq->cpu_capacity,
		.capacity_orig = arch_scale_cpu_capacity(cpu),
		.nr_running = rq->nr_running,
		.util_rt = rq->avg_rt.util_avg,
		.util_dl = rq->avg_dl.util_avg,
		.overutilized = !!rq->rd->overutilized,
		.online = cpu_online(cpu),
		.tick_stopped = tick_nohz_tick_stopped_cpu(cpu),
		.khz = domain_khz(machine_cpus[cpu].domain),
	};
	return 0;
}

/* The task's state; the field's name differs by version. */
static unsigned int state_of(const struct task_struct *p)
{
#ifdef WPK_HAS_TASK_STATE
	return READ_ONCE(p->__state);
#else
	return READ_ONCE(p->state);
#endif
}

/* -ESRCH: no such task. */
wpk_s32 wpk_task_cpu(wpk_u32 task)
{
	struct task_struct *p = task_by_number(task);

	return p ? task_cpu(p) : -ESRCH;
}

/* Queued or running. */
wpk_u32 wpk_is_awake(wpk_u32 task)
{
	struct task_struct *p = task_by_number(task);

	return p && state_of(p) == TASK_RUNNING;
}

/* -ESRCH: no such task. */
wpk_s32 wpk_task_state(wpk_u32 task, struct wpk_task_state *s)
{
	struct task_struct *p = task_by_number(task);

	if (!p)
		return -ESRCH;
	*s = (struct wpk_task_state){
		.util = p->se.avg.util_avg,
		.util_est = task_estimate(p),
		.runnable = p->se.avg.runnable_avg,
		.cpu = task_cpu(p),
		.on_rq = p->on_rq,
		.state = state_of(p),
		.policy = p->policy,
		.priority = p->rt_priority,
		.nice = task_nice(p),
		.group = group_of(p),
		.vruntime = p->se.vruntime,
		.runtime_ns = p->se.sum_exec_runtime,
#ifdef WPK_HAS_SLICE
		.deadline = p->se.deadline,
		.slice_ns = p->se.slice,
#endif
#ifdef CONFIG_UCLAMP_TASK
		.uclamp_min = uclamp_eff_value(p, UCLAMP_MIN),
		.uclamp_max = uclamp_eff_value(p, UCLAMP_MAX),
#endif
	};
	return 0;
}
