// SPDX-License-Identifier: GPL-2.0-only
/*
 * What schedutil makes of a call by the scheduler: a CPU's hook is a pointer, which the governor
 * sets when it starts on a domain. Its structs are those of the tree's text (build.sh).
 *
 * What must stay: the tree's own hook runs once for each call and chooses; what is told beside it
 * only reads, and only while the host asks (`view.signals`). Fields are wakeplace.h's
 * (docs/rules/README.md#signal-by-signal). May change: nothing but the spelling of fields.
 *
 * Tests by part: crates/cli/tests/all/kernel_diff.rs: `the_cores_signals_are_the_kernels` (kind
 * `schedutil-request`: `demand_of`, `demand_hints`, `governor_of`, `request_before`,
 * `request_after`), `a_broken_signal_is_found` (a wrong headroom is seen); kernel_runs.rs:
 * `waits_for_devices_move_frequencies` (`update_and_tell` passes calls on). Boosts after a call (in
 * `request_after`) have no test of their own. The rest by all of these.
 *
 * Callers: boot.c (`watch_governor`); `update_and_tell` the scheduler, by the CPU's hook;
 * `start_and_hook` the cpufreq core.
 *
 * Tests: crates/cli/tests/all/kernel_diff.rs, crates/cli/tests/all/kernel_runs.rs
 */
#include "sugov.h"

typedef void hook_fn(struct update_util_data *data, u64 time, unsigned int flags);

static hook_fn **hook_of_tree;
static struct wpk_demand *demands;
static int (*start_of_tree)(struct cpufreq_policy *policy);

/* What schedutil keeps of a CPU; NULL: it does not run there. */
static struct sugov_cpu *sugov_of(unsigned int cpu)
{
	struct update_util_data *data = rcu_dereference_raw(per_cpu(cpufreq_update_util_data, cpu));

	return data ? container_of(data, struct sugov_cpu, update_util) : NULL;
}

/* What it keeps of a domain. */
static struct wpk_governor governor_of(const struct sugov_policy *sg)
{
	return (struct wpk_governor){
		.last_update_ns = sg->last_freq_update_time,
		.next_khz = sg->next_freq,
		.raw_khz = sg->cached_raw_freq,
#ifdef WPK_HAS_NEED_FREQ_UPDATE
		.forced = sg->limits_changed || sg->need_freq_update,
#else
		.forced = sg->limits_changed,
#endif
		.in_progress = sg->work_in_progress,
	};
}

/* Hints of the queue; where none are used those that hold back nothing. */
static void demand_hints(struct wpk_demand *d, struct rq *rq)
{
	d->uclamp_max = SCHED_CAPACITY_SCALE;
	d->uclamp_idle = 1;
#ifdef CONFIG_UCLAMP_TASK
	if (!uclamp_is_used())
		return;
	d->uclamp_min = READ_ONCE(rq->uclamp[UCLAMP_MIN].value);
	d->uclamp_max = READ_ONCE(rq->uclamp[UCLAMP_MAX].value);
	d->uclamp_idle = !!(rq->uclamp_flags & UCLAMP_FLAG_IDLE);
#endif
}

/* A CPU's load as schedutil will read it, and its own notes of the CPU. */
static void demand_of(struct wpk_demand *d, unsigned int cpu)
{
	const struct sugov_cpu *sg = sugov_of(cpu);
	struct rq *rq = cpu_rq(cpu);

	*d = (struct wpk_demand){
		.cpu = cpu,
		.util = READ_ONCE(rq->cfs.avg.util_avg),
		.util_est = estimate(&rq->cfs.avg),
		.runnable = READ_ONCE(rq->cfs.avg.runnable_avg),
		.nr_fair = nr_fair(&rq->cfs),
		.capacity_orig = arch_scale_cpu_capacity(cpu),
		.util_rt = cpu_util_rt(rq),
		.util_dl = READ_ONCE(rq->avg_dl.util_avg),
		.util_irq = cpu_util_irq(rq),
		.bw_dl = cpu_bw_dl(rq),
		.rt_runnable = rt_rq_is_runnable(&rq->rt),
		.idle_calls = tick_nohz_get_idle_calls_cpu(cpu),
	};
	demand_hints(d, rq);
	if (!sg)
		return;
	d->iowait_boost = sg->iowait_boost;
	d->iowait_pending = sg->iowait_boost_pending;
	d->last_update_ns = sg->last_update;
	d->saved_idle_calls = sg->saved_idle_calls;
}

/* Of the domain and all its CPUs, before the tree decides. */
static void request_before(struct wpk_request *r, const struct sugov_policy *sg)
{
	const struct cpufreq_policy *policy = sg->policy;
	unsigned int cpu;

	r->rate_limit_ns = sg->freq_update_delay_ns;
	r->tick_ns = TICK_NSEC;
	r->khz = policy->cur;
	r->max_khz = policy->max;
	r->before = governor_of(sg);
	r->cpus = demands;
	for_each_cpu(cpu, policy->cpus)
		demand_of(&demands[r->nr_cpus++], cpu);
}

/* What the call has changed of that. */
static void request_after(struct wpk_request *r, const struct sugov_policy *sg)
{
	unsigned int i;

	r->after = governor_of(sg);
	for (i = 0; i < r->nr_cpus; i++) {
		const struct sugov_cpu *of = sugov_of(demands[i].cpu);

		demands[i].iowait_boost_after = of ? of->iowait_boost : 0;
		demands[i].iowait_pending_after = of ? of->iowait_boost_pending : 0;
	}
}

/* In place of the tree's hook, which it calls once. */
static void update_and_tell(struct update_util_data *data, u64 time, unsigned int flags)
{
	struct sugov_cpu *sg = container_of(data, struct sugov_cpu, update_util);
	struct wpk_request r = {
		.cpu = sg->cpu,
		.iowait = !!(flags & SCHED_CPUFREQ_IOWAIT),
		.now_ns = time,
	};

	if (!view.signals || view.dead || !host->requested) {
		hook_of_tree[sg->cpu](data, time, flags);
		return;
	}
	request_before(&r, sg->sg_policy);
	hook_of_tree[sg->cpu](data, time, flags);
	request_after(&r, sg->sg_policy);
	host->requested(host->data, &r);
}

/* Takes the place of the hooks of a domain's CPUs. */
static void hook_policy(const struct cpufreq_policy *policy)
{
	unsigned int cpu;

	for_each_cpu(cpu, policy->cpus) {
		struct update_util_data *data =
			rcu_dereference_raw(per_cpu(cpufreq_update_util_data, cpu));

		if (!data || data->func == update_and_tell)
			continue;
		hook_of_tree[cpu] = data->func;
		data->func = update_and_tell;
	}
}

/* In place of the governor's start: hooks are new after each. */
static int start_and_hook(struct cpufreq_policy *policy)
{
	int error = start_of_tree(policy);

	hook_policy(policy);
	return error;
}

/* The governor of policies that begin later is the same object. */
static void watch_governor(void)
{
	unsigned int i;

	hook_of_tree = wp_alloc(nr_cpus * sizeof(*hook_of_tree), 8);
	demands = wp_alloc(nr_cpus * sizeof(*demands), 64);
	for (i = 0; policies && i < nr_domains; i++) {
		struct cpufreq_governor *governor = policies[i] ? policies[i]->governor : NULL;

		if (!governor || strcmp(governor->name, "schedutil"))
			continue;
		if (governor->start != start_and_hook) {
			start_of_tree = governor->start;
			governor->start = start_and_hook;
		}
		hook_policy(policies[i]);
	}
}
