// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The Energy Model framework: performance domains with the power of each state
 * (docs/rules/energy-aware.md#energy-model, docs/rules/energy-aware.md#perf-domain-list,
 * docs/rules/energy-aware.md#em-tables) and the conditions under which energy-aware placement is
 * active (docs/rules/energy-aware.md#energy-conditions). An artificial model has no powers but
 * costs of its own, which are taken as they are.
 *
 * A home fills wp_ctx.em_scratch and registers it; a table can be replaced at run time: it is
 * built in the half that nobody reads and then published. A mark of an inefficient state stays for
 * good, as in the kernel (docs/rules/energy-aware.md#inefficient-states).
 *
 * What must stay: readers see the old table or the new one, never a half; kHz ascend, powers are
 * uW, costs scaled as the kernel's. Free: how tables are checked and kept; costs only with
 * the page and em_tables.csv.
 *
 * Tests by part: (below crates/policy-sys/tests) all/energy_vectors.rs: `em_table_rows`
 * (`wp_em_compute_costs`, `wp_em_cost_61`), `registration_errors` (`wp_em_check`,
 * `wp_em_dev_register_perf_domain`), `table_update_changes_the_decision`
 * (`wp_em_dev_update_perf_domain`, `wp_em_perf_table`), `each_condition_off_deactivates`
 * (`wp_energy_condition`, `wp_start`), `complexity_limit` (`wp_em_complexity`); all/energy_7_3.rs:
 * `an_inefficient_state_stays_marked` (`wp_em_marked`, `wp_em_cpufreq_update_efficiencies`),
 * `limits_of_a_domain` (`wp_em_update_performance_limits`, `wp_em_state_at`),
 * `artificial_models_have_costs_of_their_own` (`wp_em_unknown`); all/policy_matrix.rs:
 * `a_mode_changes_live` (`wp_reconsider`).
 *
 * Callers: crates/policy-sys/src/machine.rs (registration, tables, `wp_start`),
 * `Core::change_params` (`wp_reconsider`), crates/scx/src/bpf/machine.bpf.h.
 *
 * Kernel: em_dev_register_perf_domain(), em_dev_update_perf_domain(), em_compute_costs(),
 *         em_update_performance_limits(), em_cpufreq_update_efficiencies(),
 *         kernel/power/energy_model.c; sched_is_eas_possible() as wp_energy_condition(),
 *         kernel/sched/topology.c
 * Tests: all/energy_vectors.rs, fixtures/energy
 */
#include "wakeplace/policy.h"

#define WP_EM_MAX_POWER_UW 64000000u /* of a cost, too */

/*
 * Enum wp_em_error: is the table one that the kernel would take? Frequencies ascend, powers or
 * costs are within range.
 */
WP_INLINE u32 wp_em_check(const struct wp_em_perf_table *t)
{
	u32 i, last = 0;

	if (!t->nr_states || t->nr_states > WP_MAX_STATES)
		return WP_EM_NO_STATES;
	WP_FOR(i, t->nr_states, WP_MAX_STATES) {
		const struct wp_em_perf_state *s = WP_AT(t->state, i);

		if (s->khz <= last)
			return WP_EM_FREQ_ORDER;
		if (t->artificial) {
			if (!s->cost || s->cost > WP_EM_MAX_POWER_UW)
				return WP_EM_COST_RANGE;
		} else if (!s->power_uw || s->power_uw > WP_EM_MAX_POWER_UW) {
			return WP_EM_POWER_RANGE;
		}
		last = s->khz;
	}
	return WP_EM_OK;
}

/*
 * Cost of a state in 6.1: the power that the top frequency's work would take at it, uW
 * (docs/rules/energy-aware.md#em-tables).
 */
WP_INLINE u64 wp_em_cost_61(const struct wp_em_perf_table *t, const struct wp_em_perf_state *s)
{
	if (t->artificial)
		return s->cost;
	return wp_div((u64)t->max_khz * s->power_uw, s->khz);
}

/* The derived columns: performance, the costs of both forms, inefficient states. Marks that are
 * there already stay. */
WP_INLINE void wp_em_compute_costs(const struct wp_ctx *ctx, struct wp_em_perf_table *t,
				   u32 capacity)
{
	u64 lowest = ~0ull;
	u32 i;

	t->max_khz = WP_AT(t->state, t->nr_states - 1)->khz;
	WP_FOR(i, t->nr_states, WP_MAX_STATES) {
		struct wp_em_perf_state *s = WP_AT(t->state, i);

		s->performance = (u32)wp_div((u64)capacity * s->khz, t->max_khz);
		if (t->artificial)
			continue;
		s->cost = (u32)wp_div((u64)s->power_uw * 10, s->performance);
		s->cost_mw = (u32)wp_div((u64)t->max_khz * (s->power_uw / 1000), s->khz);
	}
	/* From the top down: a state that costs no less per work than a faster one is never worth
	 * it. */
	WP_FOR(i, t->nr_states, WP_MAX_STATES) {
		struct wp_em_perf_state *s = WP_AT(t->state, t->nr_states - 1 - i);

		u64 cost = WP_NOT_LIVE(ctx->params.energy_aware == WP_ENERGY_61)
				   ? wp_em_cost_61(t, s)
				   : s->cost;

		s->inefficient |= cost >= lowest;
		lowest = wp_min64(lowest, cost);
	}
}

/* The half of a domain's table that is in force. */
WP_INLINE const struct wp_em_perf_table *wp_em_perf_table(const struct wp_perf_domain *pd)
{
	return WP_AT(pd->table, pd->live);
}

/* Index of the state that runs at exactly `khz`, else WP_NONE. */
WP_INLINE u32 wp_em_state_at(const struct wp_em_perf_table *t, u32 khz)
{
	u32 i;

	WP_FOR(i, t->nr_states, WP_MAX_STATES) {
		if (WP_AT(t->state, i)->khz == khz)
			return i;
	}
	return WP_NONE;
}

/*
 * The hardware may use only the states from..=to until told otherwise, both frequencies of the
 * table (7.3).
 * Returns enum wp_em_error; nothing changes on an error.
 */
WP_FN u32 wp_em_update_performance_limits(struct wp_ctx *ctx WP_NONNULL, u32 pd_index, u32 khz_min,
					  u32 khz_max)
{
	struct wp_perf_domain *pd = WP_AT(ctx->perf_doms, pd_index);
	u32 from = wp_em_state_at(wp_em_perf_table(pd), khz_min);
	u32 to = wp_em_state_at(wp_em_perf_table(pd), khz_max);

	if (from == WP_NONE || to == WP_NONE || to < from)
		return WP_EM_LIMIT;
	pd->min_state = from;
	pd->max_state = to;
	return WP_EM_OK;
}

/*
 * Frequency selection skips the frequencies of inefficient states, as cpufreq does. There, too, a
 * frequency is marked and never unmarked.
 */
WP_INLINE void wp_em_cpufreq_update_efficiencies(struct wp_ctx *ctx,
						 const struct wp_perf_domain *pd)
{
	u32 cpu = *WP_AT(ctx->list, pd->first_cpu);
	struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, WP_AT(ctx->cpus, cpu)->topo.freq_dom);
	const struct wp_em_perf_table *t = wp_em_perf_table(pd);
	u64 marks = 0;
	u32 i;

	WP_FOR(i, fd->nr_opps, WP_MAX_STATES) {
		u32 state = wp_em_state_at(t, wp_opp_khz(ctx, fd, i));

		if (state != WP_NONE && WP_AT(t->state, state)->inefficient)
			marks |= 1ull << (i & 63);
	}
	fd->inefficient_opps |= marks;
}

/*
 * State `i` of the new table was found inefficient before. A kernel's new table is a duplicate of
 * the one in force in which powers are replaced: same states, and their marks are copied.
 */
WP_INLINE u32 wp_em_marked(const struct wp_em_perf_table *old, const struct wp_em_perf_table *next,
			   u32 i)
{
	const struct wp_em_perf_state *s = WP_AT(old->state, i);

	return old->nr_states == next->nr_states && s->khz == WP_AT(next->state, i)->khz &&
	       s->inefficient;
}

/* Register em_scratch for a set of CPUs. Returns enum wp_em_error; nothing changes on an error. */
WP_FN u32 wp_em_dev_register_perf_domain(struct wp_ctx *ctx WP_NONNULL, const u16 *cpus WP_NONNULL,
					 u32 nr_cpus)
{
	struct wp_perf_domain *pd = WP_AT(ctx->perf_doms, ctx->nr_perf_doms);
	u32 i, error = wp_em_check(&ctx->em_scratch);

	if (error)
		return error;
	if (ctx->nr_perf_doms == WP_MAX_PERF_DOMS || !nr_cpus ||
	    ctx->list_len + nr_cpus > WP_MAX_LIST)
		return WP_EM_FULL;
	for (i = 0; i < nr_cpus; i++) {
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpus[i]);

		if (c->load.capacity_orig != WP_AT(ctx->cpus, cpus[0])->load.capacity_orig)
			return WP_EM_CAPACITY;
		if (c->topo.perf_dom != WP_NONE)
			return WP_EM_TWICE;
	}
	pd->first_cpu = ctx->list_len;
	pd->nr_cpus = nr_cpus;
	pd->capacity = WP_AT(ctx->cpus, cpus[0])->load.capacity_orig;
	for (i = 0; i < nr_cpus; i++) {
		*WP_AT(ctx->list, ctx->list_len++) = cpus[i];
		WP_AT(ctx->cpus, cpus[i])->topo.perf_dom = ctx->nr_perf_doms;
	}
	ctx->nr_perf_doms++;
	return wp_em_dev_update_perf_domain(ctx, ctx->nr_perf_doms - 1);
}

/*
 * Replace the table of a domain by em_scratch (chip binning, leakage at another temperature). Of a
 * model that is not believed only the clocks count (docs/rules/energy-no-watts.md#no-watts-when).
 */
WP_FN u32 wp_em_dev_update_perf_domain(struct wp_ctx *ctx WP_NONNULL, u32 pd_index)
{
	struct wp_perf_domain *pd = WP_AT(ctx->perf_doms, pd_index);
	u32 error = wp_em_check(&ctx->em_scratch);
	struct wp_em_perf_table *next = WP_AT(pd->table, !pd->live);
	u32 i;

	if (error)
		return error;
	if (ctx->params.energy_no_watts == WP_NO_WATTS_ALWAYS)
		wp_em_fill_no_watts(&ctx->em_scratch, pd->capacity);
	next->nr_states = ctx->em_scratch.nr_states;
	next->artificial = ctx->em_scratch.artificial;
	WP_FOR(i, next->nr_states, WP_MAX_STATES) { /* not the whole table: BPF has no memcpy */
		*WP_AT(next->state, i) = *WP_AT(ctx->em_scratch.state, i);
		WP_AT(next->state, i)->inefficient = wp_em_marked(wp_em_perf_table(pd), next, i);
	}
	wp_em_compute_costs(ctx, next, pd->capacity);
	if (next->nr_states != wp_em_perf_table(pd)->nr_states) { /* old limits say nothing now */
		pd->min_state = 0;
		pd->max_state = next->nr_states - 1;
	}
	pd->live = !pd->live;
	wp_em_cpufreq_update_efficiencies(ctx, pd);
	return WP_EM_OK;
}

/* nr_pd * (nr_states + nr_cpus): 5.0 refuses machines on which the estimate would be slow. */
WP_INLINE u32 wp_em_complexity(const struct wp_ctx *ctx)
{
	u32 i, states = 0;

	WP_FOR(i, ctx->nr_perf_doms, WP_MAX_PERF_DOMS) {
		states += wp_em_perf_table(WP_AT(ctx->perf_doms, i))->nr_states;
	}
	return ctx->nr_perf_doms * (states + ctx->nr_cpus);
}

/* A model that the kernel of this form could not have registered: get_cost came with 5.19. */
WP_INLINE int wp_em_unknown(const struct wp_ctx *ctx, u32 pd)
{
	return WP_NOT_LIVE(ctx->params.energy_aware < WP_ENERGY_61) &&
	       wp_em_perf_table(WP_AT(ctx->perf_doms, pd))->artificial;
}

/*
 * Enum wp_energy_off: why energy-aware placement is not active; asked at the start and when
 * something of the machine or the policy changes.
 */
WP_INLINE u32 wp_energy_condition(const struct wp_ctx *ctx)
{
	u32 cpu;

	if (!ctx->params.energy_aware || ctx->params.mode == WP_MODE_PERFORMANCE)
		return WP_ENERGY_OFF_POLICY;
#ifdef WP_LIVE
	if (ctx->params.energy_aware != WP_ENERGY_73)
		return WP_ENERGY_OFF_FORM;
#endif
	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		u32 pd = WP_AT(ctx->cpus, cpu)->topo.perf_dom;

		if (WP_AT(ctx->cpus, cpu)->queue.online &&
		    (pd == WP_NONE || wp_em_unknown(ctx, pd)))
			return WP_ENERGY_OFF_NO_MODEL;
	}
	if (!ctx->asym)
		return WP_ENERGY_OFF_SYMMETRIC;
	if (ctx->smt)
		return WP_ENERGY_OFF_SMT;
	if (ctx->freq_external ? !ctx->freq_schedutil : wp_governor(ctx) != WP_GOV_SCHEDUTIL)
		return WP_ENERGY_OFF_GOVERNOR;
	if (ctx->params.energy_max_complexity &&
	    wp_em_complexity(ctx) > ctx->params.energy_max_complexity)
		return WP_ENERGY_OFF_COMPLEXITY;
	return WP_ENERGY_ON;
}

/* Parameters have changed while tasks run: what of them was decided before? */
WP_FN int wp_reconsider(struct wp_ctx *ctx WP_NONNULL)
{
	ctx->energy_off = wp_energy_condition(ctx);
	ctx->energy_active = ctx->energy_off == WP_ENERGY_ON;
	if (!ctx->energy_active) /* nobody keeps the mark: it would be of long ago */
		ctx->overutilized = 0;
	return 0;
}

/* The machine is described: decide what is active. Call again after a change of the machine. */
WP_FN int wp_start(struct wp_ctx *ctx WP_NONNULL)
{
	u32 i;

	wp_reconsider(ctx);
#ifndef WP_LIVE
	wp_fits_thresholds(ctx);
	wp_freq_response_times(ctx);
#endif
	if (ctx->freq_external)
		return 0;
	WP_FOR(i, ctx->nr_freq_doms, WP_MAX_FREQ_DOMS) {
		struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, i);

		if (wp_governor(ctx) == WP_GOV_PERFORMANCE)
			fd->next_opp = fd->nr_opps - 1;
		else
			fd->next_opp = 0;
		wp_freq_applied(ctx, i, fd->next_opp);
	}
#ifndef WP_LIVE
	wp_mc_boot(ctx);
#endif
	return 0;
}
