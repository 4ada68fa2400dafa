// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What all forms of the energy-aware wake-up share: a CPU's utilisation with the task somewhere,
 * the domain within which they look, and how a decision is noted
 * (docs/rules/energy-aware.md#compute-energy-v3, docs/rules/energy-aware.md#sd-ea,
 * docs/rules/energy-aware.md#util-of-candidate).
 *
 * wp_cpu_util() is asked by the forms of 5.10 and 6.1 and by `explain`; v3, 5.0 and the forms from
 * 6.12 on ask wp_cpu_util_pair().
 *
 * What must stay: utilisation is 0..1024 of the biggest CPU; all forms note candidates alike, or
 * `explain` shows others than were compared. Free: how the pair is found; both of its values
 * at once, since all forms compare them.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/energy_7_3.rs: `runnable_boost`, `a_task_brings_its_waiting` (`wp_run_pair`,
 * `wp_cpu_util_pair`), `no_common_asymmetric_domain` (`wp_energy_dom`), `zero_util_stays`
 * (`wp_energy_no_util`), `eas_vector_rows` (`wp_note_candidate`, `wp_energy_decide`);
 * all/energy_vectors.rs: `eas_vector_rows` (the pair, v3 and 5.0); all/energy_7_3_oracle.rs:
 * `v61_agrees_on_random_states` (`wp_cpu_util`); fixtures/energy-idle: busy-time-of-idle-cpus.toml
 * (`wp_energy_leaves_out`), wait-counts.toml, wait-not-counted.toml (`wp_energy_wait`).
 *
 * Callers: all files of this folder; `wp_cpu_util` also explain.c.
 *
 * Kernel: cpu_util(), kernel/sched/fair.c
 * Tests: fixtures/energy, all/energy_7_3_oracle.rs, all/energy_vectors.rs
 */
#include "wakeplace/policy.h"

/*
 * Energy, `wakeplace`: what an idle CPU did before does not run while the task does, so it is not
 * charged for a higher frequency (docs/rules/energy-idle.md#energy-idle-free).
 */
WP_INLINE int wp_energy_leaves_out(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	return ctx->params.energy_idle_free && wp_cpu_idle(c);
}

/*
 * Energy, `wakeplace`: what waiting adds to a CPU's utilisation. Where a task runs already, both
 * are in the queue while one of them waits (docs/rules/energy-idle.md#energy-wait).
 */
WP_INLINE u32 wp_energy_wait(const struct wp_ctx *ctx, const struct wp_cpu *c,
			     const struct wp_task *task)
{
	if (!ctx->params.energy_wait || wp_cpu_idle(c))
		return 0;
	return wp_min(wp_max(c->load.util_est, 1), wp_task_util_est(ctx, task)) *
	       wp_max(wp_rq_urgency(ctx, c), wp_task_urgency(ctx, task)) / WP_URGENCY_STEPS;
}

/* A CPU's utilisation without the waking task, and with the task on it. */
struct wp_util_pair {
	u32 without;
	u32 with;
};

/*
 * What counts as run on `cpu`, without and with the task. With `boost`, time in the queue counts
 * like time on the CPU: what the frequency will follow. The task's own part of that goes and comes
 * with it; without `runnable_boost_task` only the task's time on the CPU does.
 */
WP_INLINE struct wp_util_pair wp_run_pair(const struct wp_ctx *ctx, u32 cpu,
					  const struct wp_task *task, u32 boost)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	struct wp_util_pair u = { c->load.avg.util_avg, c->load.avg.util_avg };
	struct wp_util_pair r = { c->load.avg.runnable_avg, c->load.avg.runnable_avg };
	u32 queued = wp_rq_urgency(ctx, c); /* always: a condition would cost the verifier more */

	if (WP_NOT_LIVE(ctx->params.runnable_boost_freq))
		boost = 0;
	if (WP_NOT_LIVE(boost && !ctx->params.runnable_boost_task)) {
		u.without = wp_runnable_boost(ctx, u.without, r.without, queued);
		u.with = u.without;
		boost = 0;
	}
	if (task->cpu == cpu) {
		u.without = (u32)wp_sub(u.without, task->avg.util_avg);
		r.without = (u32)wp_sub(r.without, task->avg.runnable_avg);
	} else {
		u.with += task->avg.util_avg;
		r.with += task->avg.runnable_avg;
	}
	if (boost) {
		u.without = wp_runnable_boost(ctx, u.without, r.without, queued);
		u.with = wp_runnable_boost(ctx, u.with, r.with,
					   wp_max(queued, wp_task_urgency(ctx, task)));
	}
	return u;
}

/* Both for `cpu`, with what was estimated; `with` is never less. */
WP_INLINE struct wp_util_pair wp_cpu_util_pair(const struct wp_ctx *ctx, u32 cpu,
					       const struct wp_task *task, u32 boost)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	struct wp_util_pair u = wp_run_pair(ctx, cpu, task, boost);

	if (ctx->params.util_est != WP_UTIL_EST_OFF) {
		u.without = wp_max(u.without, c->load.util_est);
		u.with = wp_max(u.with, c->load.util_est + wp_task_est(ctx, task));
	}
	if (boost)
		u.with += wp_energy_wait(ctx, c, task);
	u.without = wp_min(u.without, c->load.capacity_orig);
	u.with = wp_min(u.with, c->load.capacity_orig);
	return u;
}

#ifndef WP_LIVE
/* Utilisation of `cpu` if the waking task were on `dst`; WP_NONE: on no CPU. */
WP_FN u32 wp_cpu_util(const struct wp_ctx *ctx WP_NONNULL, u32 cpu,
		      const struct wp_task *task WP_NONNULL, u32 dst, u32 boost)
{
	struct wp_util_pair u = wp_cpu_util_pair(ctx, cpu, task, boost);

	return dst == cpu ? u.with : u.without;
}
#endif

/* Nothing to place the task by: no utilisation, and no wish for any. */
WP_INLINE int wp_energy_no_util(const struct wp_ctx *ctx, const struct wp_task *task)
{
#ifdef WP_UCLAMP_SUM
	if (wp_uclamp_sums(ctx))
		return !wp_task_util_est_uclamp(task);
#endif
	return !wp_task_util_est(ctx, task) && !wp_uclamp_eff_min(ctx, task);
}

/* A CPU that was looked at closely, for `explain`. */
WP_INLINE void wp_note_candidate(struct wp_decision *dec, u32 cpu, u32 util, u32 spare, s32 fits,
				 u64 energy)
{
	struct wp_candidate *cand;

	if (dec->nr_candidates >= WP_MAX_CANDIDATES)
		return;
	cand = WP_AT(dec->candidate, dec->nr_candidates);
	dec->nr_candidates++;
	cand->cpu = cpu;
	cand->util = util;
	cand->spare = spare;
	cand->fits = (u32)fits;
	cand->energy = energy;
}

/* The lowest domain of `this_cpu`, from `level` on, that spans `prev_cpu`; WP_NONE if there is
 * none. */
WP_INLINE u32 wp_energy_dom(const struct wp_ctx *ctx, u32 this_cpu, u32 prev_cpu, u32 level)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, this_cpu);
	u32 i;

	WP_FOR(i, c->topo.nr_levels, WP_MAX_LEVELS) {
		u32 dom = *WP_AT(c->topo.dom, i);

		if (i >= level && wp_span_has(WP_AT(ctx->doms, dom), prev_cpu))
			return dom;
	}
	return WP_NONE;
}

/* The energy-aware rule decides: 1, for the caller to return. */
WP_INLINE int wp_energy_decide(struct wp_decision *dec, u32 cpu, u32 reason)
{
	dec->cpu = cpu;
	dec->rule = WP_RULE_ENERGY;
	dec->reason = reason;
	return 1;
}
