// SPDX-License-Identifier: GPL-2.0-only
/* The CPUs, and the two tasks of a wake-up, as a decision finds them. */
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

static unsigned int idle_state_of(unsigned int cpu)
{
	return view.cpus[cpu].running == WPK_IDLE ? view.cpus[cpu].idle_state : WPK_NONE;
}

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

/* What the CPUs of a last-level cache share. */
static void cache_of(struct wpk_choice *c, unsigned int cpu)
{
	struct sched_domain_shared *shared = rcu_dereference_raw(per_cpu(sd_llc_shared, cpu));

	if (!shared)
		return;
	c->nr_busy_cpus = atomic_read(&shared->nr_busy_cpus);
	c->has_idle_cores = READ_ONCE(shared->has_idle_cores);
#ifdef WPK_HAS_NR_IDLE_SCAN
	c->nr_idle_scan = READ_ONCE(shared->nr_idle_scan);
#endif
}

static void choice_of(struct wpk_choice *c, unsigned int cpu, struct task_struct *p)
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
		.idle = view.cpus[cpu].running == WPK_IDLE,
		.allowed = cpumask_test_cpu(cpu, p->cpus_ptr),
		.online = cpu_online(cpu),
		.load = READ_ONCE(rq->cfs.avg.load_avg),
		.weight = scale_load_down(rq->cfs.load.weight),
		.nr_fair = nr_fair(&rq->cfs),
		.nr_idle_policy = nr_idle(&rq->cfs),
		.curr_fair = rq->curr->sched_class == &fair_sched_class,
		.pending = rq->ttwu_pending,
		.util_rt = cpu_util_rt(rq),
		.util_dl = READ_ONCE(rq->avg_dl.util_avg),
		.util_irq = cpu_util_irq(rq),
		.avg_idle_ns = rq->avg_idle,
		.idle_stamp_ns = host_time(rq->idle_stamp),
#ifdef CONFIG_UCLAMP_TASK
		.uclamp_min = READ_ONCE(rq->uclamp[UCLAMP_MIN].value),
		.uclamp_max = READ_ONCE(rq->uclamp[UCLAMP_MAX].value),
#endif
	};
	cache_of(c, cpu);
}

static void tell_choices(struct wpk_decision *d, struct task_struct *p)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		choice_of(&choices[d->nr_choices++], cpu, p);
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

static void party_of(struct wpk_party *party, const struct task_struct *p)
{
	*party = (struct wpk_party){
		.load = READ_ONCE(p->se.avg.load_avg),
		.weight = scale_load_down(p->se.load.weight),
		.idle_policy = p->policy == SCHED_IDLE,
		.wakee_flips = p->wakee_flips,
		.last_wakee = number_of_wakee(p),
		.recent_used_cpu = p->recent_used_cpu,
		.flip_decay_ns = p->wakee_flip_decay_ts ?
			host_time((p->wakee_flip_decay_ts - INITIAL_JIFFIES) * TICK_NSEC) : 0,
	};
}
