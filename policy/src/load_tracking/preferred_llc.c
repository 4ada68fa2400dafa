// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which last-level cache a process prefers (docs/rules/cache-aware.md#preferred-llc,
 * docs/rules/cache-aware.md#occupancy; SCHED_CACHE, from 7.2): the one in which its threads ran
 * most lately. The run times of a process are counted on each CPU and halved each epoch. At a tick
 * one of its threads adds them up by cache. Each thread takes the preference over as it runs, and
 * queues count the tasks that prefer a cache, for balancing (llc_balance.c).
 *
 *   a run:  account_mm_sched()  count it; drop a preference that no longer holds; take it over
 *   a tick: task_tick_cache()   once an epoch: task_cache_work() adds up and chooses
 *
 * What must stay: numbers of caches are those of wp_sched_cache_init; a task's preference counts
 * from 1, 0 is none. Free: how times are kept; counts and thresholds only with the page.
 *
 * Tests by part: (below crates/policy-sys/tests) all/sched_cache.rs: `the_cache_that_had_most`
 * (`wp_task_cache_work`, `wp_llc_occupancy`), `one_scan_an_epoch` (`wp_task_tick_cache`,
 * `wp_epoch_period`), `an_epoch_halves` (`wp_update_epoch`, `wp_update_mm_sched`, `wp_shr`),
 * `a_cpu_counts_all_processes` (`wp_account_mm_sched`, `wp_fraction_mm_sched`, `wp_mm_of`),
 * `queues_count_preferences` (`wp_account_llc_enqueue`, `wp_account_llc_dequeue`,
 * `wp_pref_llc_running`), `too_many_running` (`wp_invalid_llc_nr`, `wp_get_sched_cache_scale`),
 * `too_much_data` (`wp_exceed_llc_capacity`), `own_and_shared_sets` (`wp_prefers_none`),
 * `average_of_running_threads` (`wp_update_avg_scale`),
 * `where_it_acts` (`wp_sched_cache_init`, `wp_level_with`, `wp_same_label`, `wp_llc_of`,
 * `wp_sched_cache_of`, `wp_multi_llcs`, `wp_sched_cache_domains`, `wp_sched_cache_enabled`),
 * `a_task_stays_in_its_cache` (`wp_prefers_llc_of`).
 *
 * Callers: rq.c and delayed.c count, `wp_note_run` (util_est.c) accounts, balancing asks
 * (llc_balance.c); `Core::add_processes` begins.
 *
 * Kernel: exceed_llc_capacity(), invalid_llc_nr(), account_llc_enqueue(), account_llc_dequeue(),
 *         __update_mm_sched() as wp_update_mm_sched(), fraction_mm_sched(), account_mm_sched(),
 *         task_tick_cache(), task_cache_work(), update_avg_scale(), kernel/sched/fair.c;
 *         sd_in_multi_llcs() as wp_multi_llcs(), kernel/sched/topology.c
 * Tests: all/sched_cache.rs
 */
#include "wakeplace/policy.h"

/* Shares of an epoch are counted in this: NICE_0_LOAD of 64-bit kernels. */
#define WP_MM_FRACTION (1ull << 20)
/* llc_aggr_tolerance from which on nothing is too large. */
#define WP_LLC_TOLERATE_ALL 100u

/* What is kept of caches and processes; null: nobody asked. */
WP_INLINE struct wp_sched_cache *wp_sched_cache_of(const struct wp_ctx *ctx)
{
	return (struct wp_sched_cache *)(unsigned long)ctx->sched_cache;
}

/* Does a workload have processes, and the era the rule? */
WP_INLINE int wp_sched_cache_enabled(const struct wp_ctx *ctx)
{
	return ctx->sched_cache && ctx->params.sched_cache && wp_sched_cache_of(ctx)->present;
}

/* The process of this number; 0: none. */
WP_INLINE struct wp_mm *wp_mm_of(const struct wp_sched_cache *sc, u32 mm)
{
	if (!mm || mm > sc->nr_mms)
		return (struct wp_mm *)0;
	return (struct wp_mm *)(unsigned long)sc->mms + (mm - 1);
}

/* The number of a CPU's cache. */
WP_INLINE u32 wp_llc_of(const struct wp_sched_cache *sc, u32 cpu)
{
	return WP_AT(sc->cpu, cpu)->llc;
}

/* By how much a process may exceed a cache. */
WP_INLINE u64 wp_get_sched_cache_scale(const struct wp_ctx *ctx, u64 step)
{
	u32 tolerance = ctx->params.llc_aggr_tolerance;

	return tolerance ? 1 + (tolerance - 1) * step : 0;
}

/* Has the process more data than the cache has room for? Only NUMA balancing knows how much. */
WP_INLINE int wp_exceed_llc_capacity(const struct wp_ctx *ctx, const struct wp_sched_cache *sc,
				     const struct wp_mm *mm, u32 cpu)
{
	u64 bytes = WP_AT(sc->llc, wp_llc_of(sc, cpu))->bytes;

	if (!WP_AT(ctx->cpus, cpu)->topo.nr_levels)
		return 1;
	if (!sc->numa || !bytes || ctx->params.llc_aggr_tolerance >= WP_LLC_TOLERATE_ALL)
		return 0;
	return bytes * wp_get_sched_cache_scale(ctx, 256) < mm->footprint;
}

/* Is it alone, or do more of its threads run than the cache has cores for, with a fifth to
 * spare? */
WP_INLINE int wp_invalid_llc_nr(const struct wp_ctx *ctx, const struct wp_sched_cache *sc,
				const struct wp_mm *mm, u32 cpu)
{
	u64 room = wp_get_sched_cache_scale(ctx, 1) * WP_AT(ctx->cpus, cpu)->topo.llc_size;

	if (mm->nr_threads <= 1)
		return 1;
	if (ctx->params.llc_aggr_tolerance >= WP_LLC_TOLERATE_ALL)
		return 0;
	return mm->nr_running_avg * sc->smt_threads * 1280 >= room * WP_SCALE;
}

/* Does the process prefer no cache, since it is too large for one or faster in two? */
WP_INLINE int wp_prefers_none(const struct wp_ctx *ctx, const struct wp_sched_cache *sc,
			      const struct wp_mm *mm, u32 cpu)
{
	return wp_invalid_llc_nr(ctx, sc, mm, cpu) || wp_exceed_llc_capacity(ctx, sc, mm, cpu) ||
	       wp_apart_is_faster(ctx, mm, WP_AT(sc->llc, wp_llc_of(sc, cpu))->bytes);
}

/* It is queued in the cache that it prefers, and can run. */
WP_INLINE void wp_pref_llc_running(const struct wp_ctx *ctx, const struct wp_task *task, u32 more)
{
	if (task->pref_llc_queued && !task->sched_delayed)
		WP_AT(wp_sched_cache_of(ctx)->cpu, task->cpu)->nr_pref_running += more;
}

/* A queue counts the task for the cache that it prefers. */
WP_INLINE void wp_account_llc_enqueue(const struct wp_ctx *ctx, struct wp_task *task)
{
	struct wp_sched_cache *sc = wp_sched_cache_of(ctx);
	u32 llc = task->preferred_llc - 1;

	if (!task->preferred_llc || !sc)
		return;
	task->pref_llc_queued = llc == wp_llc_of(sc, task->cpu);
	wp_pref_llc_running(ctx, task, 1);
	++*WP_AT(*WP_AT(sc->counts, task->cpu), llc);
	WP_AT(sc->llc, llc)->nr_prefer++;
}

/* What was counted in is counted out, from the queue that it was in. */
WP_INLINE void wp_account_llc_dequeue(const struct wp_ctx *ctx, struct wp_task *task)
{
	struct wp_sched_cache *sc = wp_sched_cache_of(ctx);
	u32 llc = task->preferred_llc - 1;

	if (!task->preferred_llc || !sc)
		return;
	wp_pref_llc_running(ctx, task, 0 - 1u);
	task->pref_llc_queued = 0;
	--*WP_AT(*WP_AT(sc->counts, task->cpu), llc);
	WP_AT(sc->llc, llc)->nr_prefer--;
}

/* Gives the length of an epoch, in ticks. */
WP_INLINE u64 wp_epoch_period(const struct wp_ctx *ctx)
{
	u64 set = ctx->params.llc_epoch_period;

	/* HZ / 100 */
	return set == WP_NONE ? wp_max64(wp_div(10000000, ctx->tick_ns), 1) : set;
}

/* 0 where all bits are shifted out. */
WP_INLINE u64 wp_shr(u64 value, u64 n)
{
	return n < 64 ? value >> n : 0;
}

/* A CPU's epoch is that of now, and its time of all processes is halved as often. */
WP_INLINE void wp_update_epoch(const struct wp_ctx *ctx, struct wp_epoch_cpu *c, u64 tick)
{
	u64 period = wp_epoch_period(ctx), n;

	if (tick <= c->next_tick)
		return;
	n = wp_div(tick - c->next_tick + period - 1, period);
	c->epoch += n;
	c->next_tick += n * period;
	c->runtime_ns = wp_shr(c->runtime_ns, n);
}

/* A CPU's epoch is that of now, and its time of one process is halved as often. */
WP_INLINE void wp_update_mm_sched(const struct wp_ctx *ctx, struct wp_epoch_cpu *c,
				  struct wp_mm_time *time, u64 tick)
{
	wp_update_epoch(ctx, c, tick);
	time->runtime_ns = wp_shr(time->runtime_ns, c->epoch - time->epoch);
	time->epoch = c->epoch;
}

/* The part of a CPU's time that the process had. */
WP_INLINE u64 wp_fraction_mm_sched(const struct wp_ctx *ctx, struct wp_sched_cache *sc,
				   struct wp_mm *mm, u32 cpu, u64 tick)
{
	struct wp_epoch_cpu *c = WP_AT(sc->cpu, cpu);
	struct wp_mm_time *time = WP_AT(mm->on, cpu);

	wp_update_mm_sched(ctx, c, time, tick);
	return WP_MM_FRACTION * time->runtime_ns / (c->runtime_ns + 1);
}

/* A fair task has run for so long on its CPU. */
WP_INLINE void wp_account_mm_sched(const struct wp_ctx *ctx, const struct wp_cpu *c,
				   struct wp_task *task, u64 ran_ns)
{
	struct wp_sched_cache *sc = wp_sched_cache_of(ctx);
	struct wp_epoch_cpu *here;
	struct wp_mm_time *time;
	struct wp_mm *mm;
	u32 prefers;

	if (!task->mm || !ran_ns || !wp_sched_cache_enabled(ctx))
		return;
	here = WP_AT(sc->cpu, task->cpu);
	wp_update_epoch(ctx, here, wp_div(c->load.clock_ns, ctx->tick_ns));
	here->runtime_ns += ran_ns;
	mm = wp_mm_of(sc, task->mm);
	if (!mm) /* alone in its process, which prefers nothing */
		return;
	time = WP_AT(mm->on, task->cpu);
	time->runtime_ns = wp_shr(time->runtime_ns, here->epoch - time->epoch) + ran_ns;
	time->epoch = here->epoch;
	if ((s64)(here->epoch - mm->epoch) > (s64)ctx->params.llc_epoch_affinity_timeout ||
	    wp_prefers_none(ctx, sc, mm, task->cpu))
		mm->preferred = 0;
	prefers = mm->preferred ? wp_llc_of(sc, mm->preferred - 1) + 1 : 0;
	if (task->preferred_llc == prefers || !task->on_rq || !task->avg.last_update_ns)
		return;
	wp_account_llc_dequeue(ctx, task);
	task->preferred_llc = prefers;
	wp_account_llc_enqueue(ctx, task);
}

/* What one cache has of a process. */
struct wp_llc_occupancy {
	u64 sum;
	u64 most;
	u32 cpu; /* which has the most, + 1 */
	u32 nr_running;
};

/* What a process ran on each CPU of a cache, added up. */
WP_INLINE struct wp_llc_occupancy wp_llc_occupancy(struct wp_ctx *ctx, struct wp_mm *mm,
						   const struct wp_sched_domain *dom, u32 number,
						   u64 tick)
{
	struct wp_llc_occupancy o = { 0 };
	u32 i;

	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, dom->first_cpu + i);
		const struct wp_cpu_queue *q = &WP_AT(ctx->cpus, cpu)->queue;
		u64 part = wp_fraction_mm_sched(ctx, wp_sched_cache_of(ctx), mm, cpu, tick);

		o.sum += part;
		if (part > o.most) {
			o.most = part;
			o.cpu = cpu + 1;
		}
		o.nr_running += q->curr_id && q->curr_mm == number;
	}
	return o;
}

/* avg + (sample - avg) / 2 to 8, by the size of the cache, rounded towards 0. */
WP_INLINE u64 wp_update_avg_scale(u64 avg, u64 sample, u32 llc_size)
{
	s64 divisor = wp_min(wp_max(llc_size >> 2, 2), 8);

	return (u64)((s64)avg + ((s64)sample - (s64)avg) / divisor);
}

/* A thread looks where its process has run, and prefers the cache that has more than twice what the
 * present one has. */
WP_INLINE void wp_task_cache_work(struct wp_ctx *ctx, const struct wp_task *task, struct wp_mm *mm,
			       u64 tick)
{
	struct wp_sched_cache *sc = wp_sched_cache_of(ctx);
	struct wp_llc_occupancy best = { 0 };
	u64 present = 0;
	u32 cpu, nr_running = 0;

	if (tick < mm->next_scan_tick)
		return;
	mm->next_scan_tick = tick + wp_epoch_period(ctx);
	if (wp_prefers_none(ctx, sc, mm, task->cpu)) {
		mm->preferred = 0;
		return;
	}
	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		const struct wp_cpu_topo *at = &WP_AT(ctx->cpus, cpu)->topo;
		struct wp_llc_occupancy o;

		if (at->llc_level == WP_NONE || at->llc_id != cpu)
			continue; /* each cache once */
		o = wp_llc_occupancy(ctx, mm, WP_AT(ctx->doms, *WP_AT(at->dom, at->llc_level)),
				     task->mm, tick);
		nr_running += o.nr_running;
		if (o.sum > best.sum)
			best = o;
		if (mm->preferred && wp_llc_of(sc, cpu) == wp_llc_of(sc, mm->preferred - 1))
			present = o.sum;
	}
	if (best.sum > 2 * present)
		mm->preferred = best.cpu;
	mm->nr_running_avg = wp_update_avg_scale(mm->nr_running_avg, nr_running,
						 WP_AT(ctx->cpus, task->cpu)->topo.llc_size);
}

/* At the end of the tick of a CPU that runs `task`: once an epoch the process is scanned. The
 * kernel does so as the task returns to its program, which is at once here. */
WP_INLINE void wp_task_tick_cache(struct wp_ctx *ctx, const struct wp_task *task, u64 now_ns)
{
	struct wp_sched_cache *sc = wp_sched_cache_of(ctx);
	struct wp_mm *mm;
	u64 epoch;

	if (!task->mm || !wp_sched_cache_enabled(ctx))
		return;
	mm = wp_mm_of(sc, task->mm);
	epoch = WP_AT(sc->cpu, task->cpu)->epoch;
	if (!mm || mm->epoch >= epoch)
		return;
	mm->epoch = epoch;
	wp_task_cache_work(ctx, task, mm, wp_div(now_ns, ctx->tick_ns));
}

/* Has a cache of several CPUs a domain above it? */
WP_INLINE int wp_multi_llcs(const struct wp_ctx *ctx)
{
	u32 cpu;

	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		const struct wp_cpu_topo *at = &WP_AT(ctx->cpus, cpu)->topo;

		if (at->llc_level != WP_NONE && at->llc_size > 1 &&
		    at->llc_level + 1 < at->nr_levels)
			return 1;
	}
	return 0;
}

/* The domains are new. (The kernel forgets then which queued tasks prefer which cache, and counts
 * each again when it is next queued. Here the counts stay.) */
WP_INLINE void wp_sched_cache_domains(struct wp_ctx *ctx)
{
	struct wp_sched_cache *sc = wp_sched_cache_of(ctx);

	if (sc)
		sc->present = wp_multi_llcs(ctx) && sc->nr_llcs <= WP_MAX_LLCS;
}

/* The number of the highest level whose CPUs share a cache or, with another flag, a core. */
WP_INLINE u32 wp_level_with(const struct wp_ctx *ctx, u32 flag)
{
	u32 level, found = WP_NONE;

	WP_FOR(level, ctx->nr_topo_levels, WP_MAX_LEVELS) {
		if (WP_AT(ctx->topo, level)->flags & flag)
			found = level;
	}
	return found;
}

/* Are the CPUs in one group of a level? */
WP_INLINE int wp_same_label(const struct wp_ctx *ctx, u32 level, u32 a, u32 b)
{
	const struct wp_topo_level *at = WP_AT(ctx->topo, level);

	return *WP_AT(at->group_of, a) == *WP_AT(at->group_of, b);
}

/* Numbers of caches and threads of a core, as the hardware has them: who is offline counts. */
WP_FN int wp_sched_cache_init(struct wp_ctx *ctx WP_NONNULL)
{
	struct wp_sched_cache *sc = wp_sched_cache_of(ctx);
	u32 cache = wp_level_with(ctx, WP_SD_SHARE_LLC);
	u32 core = wp_level_with(ctx, WP_SD_SHARE_CPUCAPACITY);
	u32 cpu, other;

	sc->numa = wp_level_with(ctx, WP_SD_NUMA) != WP_NONE;
	sc->nr_llcs = 0;
	sc->smt_threads = 1;
	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		u32 threads = 1, llc = WP_NONE;

		WP_FOR(other, cpu, WP_MAX_CPUS) {
			threads += core != WP_NONE && wp_same_label(ctx, core, cpu, other);
			if (cache != WP_NONE && wp_same_label(ctx, cache, cpu, other))
				llc = wp_llc_of(sc, other);
		}
		WP_AT(sc->cpu, cpu)->llc = llc == WP_NONE ? sc->nr_llcs++ : llc;
		sc->smt_threads = wp_max(sc->smt_threads, threads);
	}
	wp_sched_cache_domains(ctx);
	return 0;
}

/* For reports: where nobody asks for caches, the answer is yes. */
WP_FN int wp_prefers_llc_of(const struct wp_ctx *ctx WP_NONNULL,
			    const struct wp_task *task WP_NONNULL, u32 cpu)
{
	const struct wp_sched_cache *sc = wp_sched_cache_of(ctx);

	return !wp_sched_cache_enabled(ctx) || task->preferred_llc == wp_llc_of(sc, cpu) + 1;
}
