// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CPUs, and the two tasks of a wake-up, as a decision finds them. The rules are the tree's own
 * code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: it only reads, and fields are those of wakeplace.h; what a tree does not have is
 * 0 or WPK_NONE. May change: the spelling of a field that a version names otherwise (`#ifdef
 * WPK_HAS_`).
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it)
 * kernel_diff.rs: `the_core_decides_as_the_kernel` (the core answers from these fields:
 * `choice_of`, `groups_of`, `cache_of`, `party_of`, `h_load_of`, `part_of_cpu`, `number_of_wakee`,
 * `task_estimate`); `a_decision_is_explained_by_the_trees_own_figures` (`tell_choices`,
 * `idle_state_of`, capacities). `pressure_of` is 0 there, so no test compares it. The rest is read
 * by `choice_of`.
 *
 * Callers: decision.c, balance.c; state.c, signals.c and governor.c some estimates and counts.
 *
 * Tests: crates/cli/tests/all/kernel_runs.rs, crates/cli/tests/all/kernel_diff.rs,
 *        crates/kernel-shim/tests
 */
static struct wpk_choice *choices;

/* Before 6.8 this is a struct that begins with the same number. Its highest bit is a flag. */
static unsigned int estimate(const struct sched_avg *avg)
{
	return READ_ONCE(*(const unsigned int *)&avg->util_est) & 0x7fffffff;
}

/* As _task_util_est(): before 6.8 a task has two estimates, of which the higher one counts. */
static unsigned int task_estimate(const struct task_struct *p)
{
	unsigned int est = estimate(&p->se.avg);

#ifdef WPK_HAS_UTIL_EST_STRUCT
	est = max(est, READ_ONCE(p->se.avg.util_est.ewma));
#endif
	return est;
}

/* By the interface's number; WPK_NONE: it is in none. */
static unsigned int idle_state_of(unsigned int cpu)
{
	return idle_get_state(cpu_rq(cpu)) ? view.cpus[cpu].idle_state : WPK_NONE;
}

/* Tasks of the fair class that can run; the field's name differs by version. */
static unsigned int nr_fair(const struct cfs_rq *cfs)
{
#ifdef WPK_HAS_H_NR_RUNNABLE
	return cfs->h_nr_runnable;
#else
	return cfs->h_nr_running;
#endif
}

/* Tasks of SCHED_IDLE among them. */
static unsigned int nr_idle(const struct cfs_rq *cfs)
{
#ifdef WPK_HAS_H_NR_IDLE
	return cfs->h_nr_idle;
#else
	return cfs->idle_h_nr_running;
#endif
}

/* Sleepers that the queue keeps. */
static unsigned int nr_delayed(const struct cfs_rq *cfs)
{
#if defined(WPK_HAS_H_NR_DELAYED)
	return cfs->h_nr_delayed;
#elif defined(WPK_HAS_H_NR_QUEUED)
	return cfs->h_nr_queued - cfs->h_nr_runnable;
#else
	return 0;
#endif
}

/* What arch_scale_cpu_capacity() says and limits do not leave. */
static unsigned int pressure_of(struct rq *rq)
{
#ifdef WPK_HAS_HW_PRESSURE
	return max(hw_load_avg(rq), cpufreq_get_pressure(cpu_of(rq)));
#else
	return thermal_load_avg(rq);
#endif
}

/* What the CPUs of a last-level cache, or of the domain that idle searches look at, share. */
static void cache_of(struct wpk_choice *c, unsigned int cpu)
{
#ifdef WPK_HAS_BALANCE_SHARED
	struct sched_domain_shared *shared = rcu_dereference_raw(per_cpu(sd_balance_shared, cpu));
#else
	struct sched_domain_shared *shared = rcu_dereference_raw(per_cpu(sd_llc_shared, cpu));
#endif

#ifdef WPK_HAS_SCAN_COST
	if (rcu_dereference_raw(per_cpu(sd_llc, cpu)))
		c->scan_cost_ns = rcu_dereference_raw(per_cpu(sd_llc, cpu))->avg_scan_cost;
#endif
	if (!shared)
		return;
	c->nr_busy_cpus = atomic_read(&shared->nr_busy_cpus);
	c->has_idle_cores = READ_ONCE(shared->has_idle_cores);
#ifdef WPK_HAS_NR_IDLE_SCAN
	c->nr_idle_scan = READ_ONCE(shared->nr_idle_scan);
#endif
}

/* What balancing last left of the groups that the CPU is in, from the lowest level. */
static void groups_of(struct wpk_choice *c, unsigned int cpu)
{
	struct sched_domain *sd;

	for_each_domain(cpu, sd) {
		struct sched_group *own = sd->groups;

		if (c->nr_levels == WPK_LEVELS)
			break;
		c->groups[c->nr_levels++] = (struct wpk_group){
			.capacity = own->sgc->capacity,
			.min_capacity = own->sgc->min_capacity,
			.max_capacity = own->sgc->max_capacity,
			.imbalanced = own->sgc->imbalance,
		};
	}
}

/* Everything that is told of one CPU; `allowed`: those that may be chosen. */
static void choice_of(struct wpk_choice *c, unsigned int cpu, const struct cpumask *allowed)
{
	struct rq *rq = cpu_rq(cpu);

	*c = (struct wpk_choice){
		.cpu = cpu,
		.util = READ_ONCE(rq->cfs.avg.util_avg),
		.util_est = estimate(&rq->cfs.avg),
		.runnable = READ_ONCE(rq->cfs.avg.runnable_avg),
		.capacity = rq->cpu_capacity,
		.capacity_orig = arch_scale_cpu_capacity(cpu),
		.nr_running = rq->nr_running,
		.idle_state = idle_state_of(cpu),
		.idle = rq->curr == rq->idle,
		.allowed = cpumask_test_cpu(cpu, allowed),
		.online = cpu_online(cpu),
		.load = READ_ONCE(rq->cfs.avg.load_avg),
		.weight = scale_load_down(rq->cfs.load.weight),
		.nr_fair = nr_fair(&rq->cfs),
		.nr_idle_policy = nr_idle(&rq->cfs),
		.curr_fair = rq->curr->sched_class == &fair_sched_class,
		.nr_delayed = nr_delayed(&rq->cfs),
		.pressure = pressure_of(rq),
		.pending = rq->ttwu_pending,
		.misfit_load = rq->misfit_task_load,
		.util_rt = cpu_util_rt(rq),
		.util_dl = READ_ONCE(rq->avg_dl.util_avg),
		.util_irq = cpu_util_irq(rq),
		.avg_idle_ns = rq->avg_idle,
		.idle_stamp_ns = host_time(rq->idle_stamp),
#ifdef CONFIG_UCLAMP_TASK
		.uclamp_min = READ_ONCE(rq->uclamp[UCLAMP_MIN].value),
		.uclamp_max = READ_ONCE(rq->uclamp[UCLAMP_MAX].value),
		.uclamp_idle = !!(rq->uclamp_flags & UCLAMP_FLAG_IDLE),
#endif
	};
	cache_of(c, cpu);
	groups_of(c, cpu);
}

/* All CPUs, whether the task may use them or not. */
static void tell_choices(struct wpk_decision *d, struct task_struct *p)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		choice_of(&choices[d->nr_choices++], cpu, p->cpus_ptr);
	d->choices = choices;
}

/* The last wakee may be gone: like the scheduler, this looks at the pointer alone. */
static unsigned int number_of_wakee(const struct task_struct *p)
{
	unsigned int i;

	for (i = 0; p->last_wakee && i < task_table_size; i++)
		if (task_table[i] == p->last_wakee)
			return i;
	return WPK_NONE;
}

/*
 * What task_h_load() says of a task in this queue whose own load is `load`. The tree's is not
 * called: it refreshes the queue's `h_load` once a jiffy, so that a question before the tree's own
 * would settle what the tree finds.
 */
#ifdef CONFIG_FAIR_GROUP_SCHED
static unsigned int part_of_cpu(const struct cfs_rq *cfs, unsigned long h_load, unsigned long load)
{
	return div64_ul(load * h_load, READ_ONCE(cfs->avg.load_avg) + 1);
}
#endif

/*
 * As task_h_load(), from what the tree's own left of it: a queue's share of its CPU. Said after the
 * decision: it was refreshed where it was needed. `load` is the task's as wake_affine() saw it,
 * which is before it is brought up to date.
 */
static unsigned int h_load_of(struct task_struct *p, unsigned long load)
{
#ifdef CONFIG_FAIR_GROUP_SCHED
	return part_of_cpu(p->se.cfs_rq, READ_ONCE(p->se.cfs_rq->h_load), load);
#else
	return load;
#endif
}

/* Averages, weight and wakee flips of a task. */
static void party_of(struct wpk_party *party, const struct task_struct *p)
{
	*party = (struct wpk_party){
		.load = READ_ONCE(p->se.avg.load_avg),
		.weight = scale_load_down(p->se.load.weight),
		.idle_policy = p->policy == SCHED_IDLE,
		.wakee_flips = p->wakee_flips,
		.last_wakee = number_of_wakee(p),
		.recent_used_cpu = p->recent_used_cpu,
		.flip_age_ns = (jiffies - p->wakee_flip_decay_ts) * TICK_NSEC,
	};
}
