// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * An energy model of what a scheduler knows without watts: the capacity of a CPU and its clocks
 * (docs/rules/energy-no-watts.md). It is an artificial model: each state has a cost per work, and
 * the energy-aware wake-up reads it as any other (energy_delta.c, energy_idle.c). Nothing is placed
 * here.
 *
 *   cost at a clock = (1 + 4 s^2) / s x (4 + x^2),   s = capacity / 1024,   x = clock / top clock
 *
 * `missing` makes it where no model was registered and CPUs differ in capacity, without SMT;
 * `always` in place of a registered one, too, whose states it keeps. No kernel has this.
 *
 * What must stay: costs rise with the clock, or a state would be marked as inefficient and cpufreq
 * would skip it; with the parameter off nothing of this runs. Free: the two factors, with the page
 * and its numbers, and the script that they are chosen by.
 *
 * Tests by part: (below crates/policy-sys/tests) all/energy_no_watts.rs: `costs_of_hikey960`
 * (`wp_kind_cost`, `wp_clock_cost`, `wp_em_register_no_watts`), `clocks_that_are_close_rise`
 * (`wp_em_fill_no_watts`), `a_machine_that_has_a_model_keeps_it` (missing and always),
 * `alike_cpus_and_threads_have_no_model` (`wp_capacities_differ`),
 * `small_work_goes_to_small_cpus`.
 *
 * Callers: crates/policy-sys/src/machine.rs (`wp_em_register_no_watts`);
 * `wp_em_dev_update_perf_domain` (energy_model.c) calls `wp_em_fill_no_watts`.
 *
 * Tests: all/energy_no_watts.rs
 */
#include "wakeplace/policy.h"

/* The biggest CPU's cost at its top clock is 5 * 5 * 2^30 >> this = 204800; that of a capacity of 1
 * stays below WP_EM_MAX_POWER_UW. */
#define WP_NO_WATTS_SHIFT 17

/* Cost per work by the size of the CPU, times 1024: 1 is drawn by a busy CPU of any size, 4 more by
 * the biggest, in proportion to the square of the capacity. */
WP_INLINE u64 wp_kind_cost(u32 capacity)
{
	return wp_div((u64)WP_SCALE * WP_SCALE + 4ull * capacity * capacity, capacity);
}

/* ... at a clock of those up to `max_khz`. */
WP_INLINE u32 wp_clock_cost(u32 capacity, u32 khz, u32 max_khz)
{
	u64 x = wp_div((u64)khz * WP_SCALE, max_khz);

	return (u32)((wp_kind_cost(capacity) * (4ull * WP_SCALE * WP_SCALE + x * x)) >>
		     WP_NO_WATTS_SHIFT);
}

/* Gives the table's states, which have their clocks, the costs of CPUs of this capacity. */
WP_INLINE void wp_em_fill_no_watts(struct wp_em_perf_table *t, u32 capacity)
{
	u32 i, max_khz;

	if (!t->nr_states)
		return;
	max_khz = WP_AT(t->state, t->nr_states - 1)->khz;
	WP_FOR(i, t->nr_states, WP_MAX_STATES) {
		struct wp_em_perf_state *s = WP_AT(t->state, i);
		/* Read back: a count of its own would give BPF's verifier a state for each turn. */
		u32 least = i ? WP_AT(t->state, i - 1)->cost + 1 : 1;

		s->cost = wp_max(wp_clock_cost(capacity, s->khz, max_khz), least);
		s->power_uw = 0; /* nobody states joules of it */
	}
	t->artificial = 1;
}

/* Is there something to choose between? */
WP_INLINE int wp_capacities_differ(const struct wp_ctx *ctx)
{
	u32 cpu, first = WP_AT(ctx->cpus, 0)->load.capacity_orig;

	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		if (WP_AT(ctx->cpus, cpu)->load.capacity_orig != first)
			return 1;
	}
	return 0;
}

/*
 * The model by clocks, for a machine that has registered none and could use one
 * (docs/rules/energy-no-watts.md#no-watts-when). A domain that the core refuses has none; then
 * energy-aware placement is off.
 */
WP_FN int wp_em_register_no_watts(struct wp_ctx *ctx WP_NONNULL)
{
	struct wp_em_perf_table *t = &ctx->em_scratch;
	u32 i, opp;

	if (!ctx->params.energy_no_watts || ctx->nr_perf_doms || ctx->smt ||
	    !wp_capacities_differ(ctx))
		return 0;
	WP_FOR(i, ctx->nr_freq_doms, WP_MAX_FREQ_DOMS) {
		const struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, i);
		const u16 *cpus = WP_AT(ctx->list, fd->first_cpu);

		t->nr_states = fd->nr_opps;
		WP_FOR(opp, fd->nr_opps, WP_MAX_STATES) {
			WP_AT(t->state, opp)->khz = wp_opp_khz(ctx, fd, opp);
		}
		wp_em_fill_no_watts(t, WP_AT(ctx->cpus, *cpus)->load.capacity_orig);
		wp_em_dev_register_perf_domain(ctx, cpus, fd->nr_cpus);
	}
	return 0;
}
