// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cpu.max: a group has a budget of run time, its quota, for each period, and hands it to its CPUs
 * in slices. A CPU whose part is used up, and whose group has nothing left, is throttled until it
 * gets more: at the end of the period, or from what other CPUs give back
 * (docs/rules/group-bandwidth.md). The home arms the timers, and carries out.
 *
 * What must stay: times are ns; a CPU is on the list of throttled ones once, in the order in which
 * it was throttled. Free: how the list of throttled CPUs is kept.
 *
 * Tests by part: (below crates/policy-sys/tests) all/group_bandwidth.rs:
 * `the_first_period_ends_at_a_random_moment` (`wp_tg_init_bandwidth`, `wp_tg_set_bandwidth`,
 * `wp_start_cfs_bandwidth`), `a_running_cpu_takes_slices` (`wp_tg_account_runtime`,
 * `wp_tg_check_runtime`, `wp_assign_cfs_rq_runtime`, `wp_tg_unthrottle`, `wp_tg_unlist`),
 * `a_cpu_that_runs_nothing_takes_as_little_as_it_can`, `slack_goes_to_throttled_cpus`
 * (`wp_tg_return_runtime`, `wp_tg_slack_timer`, `wp_tg_distribute`, `wp_runtime_refresh_within`),
 * `the_timer_of_an_idle_group_stops` (`wp_tg_period_timer`), `a_burst_keeps_what_was_not_used`
 * (`wp_refill_cfs_bandwidth_runtime`). `wp_tg_record_throttle` and `wp_tg_release_cpu` have no test
 * of their own: they are run by engine/tests/behaviour/bandwidth.rs and hotplug.rs.
 *
 * Callers: crates/policy-sys/src/group_bandwidth.rs.
 *
 * Kernel: tg_set_cfs_bandwidth() as wp_tg_set_bandwidth(), kernel/sched/core.c;
 *         init_cfs_bandwidth() as wp_tg_init_bandwidth(), kernel/sched/fair.c;
 *         check_cfs_rq_runtime() as wp_tg_check_runtime(), kernel/sched/fair.c, to 6.17;
 *         __refill_cfs_bandwidth_runtime() as wp_refill_cfs_bandwidth_runtime(),
 *         __assign_cfs_rq_runtime() as wp_assign_cfs_rq_runtime(), start_cfs_bandwidth(),
 *         account_cfs_rq_runtime() as wp_tg_account_runtime(), __return_cfs_rq_runtime() as
 *         wp_tg_return_runtime(), runtime_refresh_within(), do_sched_cfs_period_timer() as
 *         wp_tg_period_timer(), do_sched_cfs_slack_timer() as
 *         wp_tg_slack_timer(), distribute_cfs_runtime() as wp_tg_distribute(),
 *         unthrottle_cfs_rq() as wp_tg_unthrottle(), unthrottle_offline_cfs_rqs() as
 *         wp_tg_release_cpu(), kernel/sched/fair.c
 * Tests: all/group_bandwidth.rs
 */
#include "wakeplace/policy.h"
#include "wakeplace/task_group.h"

/* What a running CPU asks for (sysctl_sched_cfs_bandwidth_slice). */
#define WP_TG_SLICE_NS 5000000
/* What a CPU without tasks keeps, and how near the end of a period slack is left alone. */
#define WP_TG_KEEPS_NS 1000000
#define WP_TG_EXPIRES_SOON_NS 2000000ull
/* The period of a group without a quota (default_cfs_period()). */
#define WP_TG_PERIOD_NS 100000000u

/* A period begins. What is left of a burst stays, up to the burst. */
WP_INLINE void wp_refill_cfs_bandwidth_runtime(struct wp_cfs_bandwidth *b)
{
	s64 most = (s64)(b->quota_ns + b->burst_ns), over;

	b->runtime_ns += (s64)b->quota_ns;
	over = b->runtime_snap_ns - b->runtime_ns;
	if (over > 0) {
		b->burst_time_ns += (u64)over;
		b->nr_bursts++;
	}
	if (b->runtime_ns > most)
		b->runtime_ns = most;
	b->runtime_snap_ns = b->runtime_ns;
}

/* The timer of the period is armed if it is not, for the end of the period that it is in. */
WP_INLINE void wp_start_cfs_bandwidth(struct wp_cfs_bandwidth *b, u64 now_ns)
{
	if (b->period_active)
		return;
	b->period_active = 1;
	if (b->expires_ns <= now_ns)
		b->expires_ns +=
			(wp_div(now_ns - b->expires_ns, b->period_ns) + 1) * b->period_ns;
}

/* A new group. `random`: 32 random bits, from which the end of its periods may be drawn. */
WP_FN int wp_tg_init_bandwidth(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			       u32 random)
{
	if (ctx->params.group_timer_offset)
		tg->bandwidth.expires_ns = random % WP_TG_PERIOD_NS;
	return 0;
}

/* From the beginning of the run: a quota for each period, and its timer. */
WP_FN int wp_tg_set_bandwidth(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			      u64 quota_ns, u64 period_ns, u64 burst_ns)
{
	struct wp_cfs_bandwidth *b = &tg->bandwidth;
	u32 cpu;

	b->quota_ns = quota_ns;
	b->period_ns = wp_max64(period_ns, 1);
	b->burst_ns = burst_ns;
	b->expires_ns %= b->period_ns;
	wp_refill_cfs_bandwidth_runtime(b);
	wp_start_cfs_bandwidth(b, 0);
	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS)
		WP_AT(tg->queue, cpu)->runtime.remaining_ns = 1;
	return 0;
}

/* A CPU's part grows to `target`, as far as there is runtime. Returns 1 if it may run. */
WP_INLINE int wp_assign_cfs_rq_runtime(struct wp_cfs_bandwidth *b, struct wp_tg_runtime *r,
				       s64 target, u64 now_ns)
{
	s64 amount = target - r->remaining_ns;

	wp_start_cfs_bandwidth(b, now_ns);
	if (b->runtime_ns > 0) {
		if (amount > b->runtime_ns)
			amount = b->runtime_ns;
		b->runtime_ns -= amount;
		r->remaining_ns += amount;
		b->idle = 0;
	}
	return r->remaining_ns > 0;
}

/* A task of the group, or of one in it, has run for so long on `cpu`. */
WP_FN int wp_tg_account_runtime(struct wp_task_group *tg WP_NONNULL, u32 cpu, u64 delta_ns)
{
	if (tg->bandwidth.quota_ns)
		WP_AT(tg->queue, cpu)->runtime.remaining_ns -= (s64)delta_ns;
	return 0;
}

/*
 * The kernel looks at the group's part on `cpu`. While one of its tasks executes it asks for a
 * slice, else for as little as lets it run. Returns 1 if the group is throttled there from now on.
 */
WP_FN int wp_tg_check_runtime(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			      u32 cpu, u64 now_ns)
{
	struct wp_cfs_bandwidth *b = &tg->bandwidth;
	struct wp_tg_queue *q = WP_AT(tg->queue, cpu);
	struct wp_tg_runtime *r = &q->runtime;

	if (!b->quota_ns || r->throttled || r->remaining_ns > 0)
		return 0;
	if (wp_assign_cfs_rq_runtime(b, r, q->running ? WP_TG_SLICE_NS : 1, now_ns))
		return 0;
	r->throttled = 1;
	r->next_throttled = WP_NONE;
	if (!ctx->params.throttle_on_return)
		r->throttled_since_ns = now_ns;
	if (b->first_throttled == WP_NONE)
		b->first_throttled = cpu;
	else
		WP_AT(tg->queue, b->last_throttled)->runtime.next_throttled = cpu;
	b->last_throttled = cpu;
	return 1;
}

/* From 6.18 on: a task of the throttled group has left its queue. */
WP_FN int wp_tg_record_throttle(struct wp_task_group *tg WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_tg_runtime *r = &WP_AT(tg->queue, cpu)->runtime;

	if (r->throttled && r->throttled_since_ns == ~0ull)
		r->throttled_since_ns = now_ns;
	return 0;
}

/* Does the period end before so long? */
WP_INLINE int wp_runtime_refresh_within(const struct wp_cfs_bandwidth *b, u64 now_ns, u64 ns)
{
	return !b->period_active || b->expires_ns < now_ns + ns;
}

/* The group has nothing left to run on `cpu`: it gives back what it has beyond a millisecond. */
WP_FN int wp_tg_return_runtime(struct wp_task_group *tg WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cfs_bandwidth *b = &tg->bandwidth;
	struct wp_tg_queue *q = WP_AT(tg->queue, cpu);
	s64 slack = q->runtime.remaining_ns - WP_TG_KEEPS_NS;

	if (!b->quota_ns || q->nr || slack <= 0)
		return 0;
	b->runtime_ns += slack;
	q->runtime.remaining_ns -= slack;
	if (b->runtime_ns <= WP_TG_SLICE_NS || b->first_throttled == WP_NONE || b->slack_started ||
	    wp_runtime_refresh_within(b, now_ns, WP_TG_SLACK_NS + WP_TG_EXPIRES_SOON_NS))
		return 0;
	b->slack_started = 1;
	return WP_TG_SLACK;
}

/* A period ends. Returns enum wp_tg_bandwidth_asks bits. */
WP_FN int wp_tg_period_timer(struct wp_task_group *tg WP_NONNULL, u64 now_ns)
{
	struct wp_cfs_bandwidth *b = &tg->bandwidth;
	int throttled = b->first_throttled != WP_NONE;
	u64 overrun;

	if (!b->period_active || b->expires_ns > now_ns)
		return 0;
	overrun = wp_div(now_ns - b->expires_ns, b->period_ns) + 1;
	b->expires_ns += overrun * b->period_ns;
	b->nr_periods += overrun;
	wp_refill_cfs_bandwidth_runtime(b);
	if (b->idle && !throttled) {
		b->period_active = 0;
		return 0;
	}
	b->idle = !throttled;
	if (!throttled)
		return WP_TG_RESTART;
	b->nr_throttled += overrun;
	return WP_TG_RESTART | WP_TG_DISTRIBUTE;
}

/* What was given back has been gathered. Returns enum wp_tg_bandwidth_asks bits. */
WP_FN int wp_tg_slack_timer(struct wp_task_group *tg WP_NONNULL, u64 now_ns)
{
	struct wp_cfs_bandwidth *b = &tg->bandwidth;

	b->slack_started = 0;
	if (wp_runtime_refresh_within(b, now_ns, WP_TG_EXPIRES_SOON_NS) ||
	    b->runtime_ns <= WP_TG_SLICE_NS)
		return 0;
	return WP_TG_DISTRIBUTE;
}

/*
 * The next throttled CPU, in the order in which they were throttled, gets as much as it has run too
 * long, and a nanosecond. Returns the CPU if it may run again: the home has it call
 * wp_tg_unthrottle. WP_NONE: no more CPUs, or no more runtime.
 */
WP_FN u32 wp_tg_distribute(struct wp_task_group *tg WP_NONNULL, u32 nr_cpus)
{
	struct wp_cfs_bandwidth *b = &tg->bandwidth;
	u32 cpu = b->first_throttled, i;
	struct wp_tg_runtime *r;
	s64 runtime;

	WP_FOR(i, nr_cpus, WP_MAX_CPUS) {
		if (cpu == WP_NONE || b->runtime_ns <= 0)
			return WP_NONE;
		r = &WP_AT(tg->queue, cpu)->runtime;
		if (!r->unthrottling)
			break;
		cpu = r->next_throttled;
	}
	if (cpu == WP_NONE || i == nr_cpus)
		return WP_NONE;
	runtime = 1 - r->remaining_ns;
	if (runtime > b->runtime_ns)
		runtime = b->runtime_ns;
	b->runtime_ns -= runtime;
	r->remaining_ns += runtime;
	if (r->remaining_ns <= 0)
		return WP_NONE;
	r->unthrottling = 1;
	return cpu;
}

/* The CPU is off the list of throttled ones. */
WP_INLINE void wp_tg_unlist(struct wp_task_group *tg, u32 cpu)
{
	struct wp_cfs_bandwidth *b = &tg->bandwidth;
	u32 next = WP_AT(tg->queue, cpu)->runtime.next_throttled;
	u32 at = b->first_throttled, i;

	if (at == cpu)
		b->first_throttled = next;
	WP_FOR(i, WP_MAX_CPUS, WP_MAX_CPUS) {
		struct wp_tg_runtime *r;

		if (at == WP_NONE || b->first_throttled == next)
			break;
		r = &WP_AT(tg->queue, at)->runtime;
		if (r->next_throttled == cpu) {
			r->next_throttled = next;
			if (next == WP_NONE)
				b->last_throttled = at;
			break;
		}
		at = r->next_throttled;
	}
	if (b->first_throttled == WP_NONE)
		b->last_throttled = WP_NONE;
}

/* The group may run on `cpu` again. Returns 0 if what it got is used up already: it stays. */
WP_FN int wp_tg_unthrottle(struct wp_task_group *tg WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_tg_runtime *r = &WP_AT(tg->queue, cpu)->runtime;

	r->unthrottling = 0;
	if (!r->throttled || r->remaining_ns <= 0)
		return 0;
	r->throttled = 0;
	wp_tg_unlist(tg, cpu);
	if (r->throttled_since_ns != ~0ull)
		tg->bandwidth.throttled_ns += now_ns - r->throttled_since_ns;
	r->throttled_since_ns = ~0ull;
	return 1;
}

/* The CPU leaves the machine: who waits there for runtime may run, to be moved. */
WP_FN int wp_tg_release_cpu(struct wp_task_group *tg WP_NONNULL, u32 cpu)
{
	struct wp_tg_runtime *r = &WP_AT(tg->queue, cpu)->runtime;

	if (r->throttled)
		r->remaining_ns = 1;
	return (int)r->throttled;
}
