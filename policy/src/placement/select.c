// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where a task goes when it wakes, is forked or execs (docs/rules/wake-ups.md#try-to-wake-up,
 * docs/rules/wake-ups.md#select-task-rq, docs/rules/wake-ups.md#wake-wide,
 * docs/rules/wake-ups.md#wake-affine; docs/rules/capacity-aware.md#wake-cap).
 *
 *   one allowed CPU                          -> that CPU
 *   the waker asks for its own CPU           -> that one
 *   wake-up, energy model active, system     -> energy_delta.c
 *     below the tipping point
 *   power-policy packs, some level has room  -> power_policy.c
 *   sched-mc packs, some CPU has room        -> sched_mc_pack.c
 *   wake-up that may stay near waker or prev -> wake_affine picks the target, cache_rent.c another
 *     where caches have prices, idle_sibling.c a CPU near it
 *   else, a domain has the request's flag    -> idlest.c
 *   else                                     -> idle_sibling.c around prev
 *
 * What must stay: a request fills every field of `dec` that reports read; what a question may
 * change is said at each function (signals, hints, the recently used CPU). Free: how a step
 * is written; what is chosen only together with its page (the rules are the kernels').
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/fast_path.rs: `record_wakee` (`wp_record_wakee`), `wake_wide_table` (`wp_wake_wide`),
 * `wake_affine_idle` and `wake_affine_sync_alone` (`wp_wake_affine_idle`), `wake_affine_by_weight`
 * (`wp_wake_affine_weight`, `wp_wake_affine`), `one_allowed_cpu` (`wp_select_begin`);
 * all/capacity_vectors.rs: `wake_cap_rows` (`wp_wake_cap`, `wp_too_big_for`, `wp_about_biggest`),
 * `wakeup_walk_on_tc2` (`wp_walk_domains`, `wp_select_slow`); all/classes.rs: `current_cpu`
 * (`wp_select_current`); fixtures/wake: result-not-allowed.toml (`wp_select_end`,
 * `wp_first_allowed`), waking-cpu-not-allowed.toml (`wp_wants_affine`), 3-1-*.toml, 3-8-*.toml and
 * 4-7-*.toml (`wp_select_sibling_old`); all/policy_matrix.rs: `line_7_energy_before_packing` (the
 * order of rules: `wp_select_task_rq_fair`, `wp_select_normal`, `wp_select_spread`).
 * `wp_select_task_rq_exec` is for BPF alone: crates/scx/tests/parity compares it.
 *
 * Callers: `Core::select_cpu` (crates/policy-sys/src/core.rs), crates/scx/src/bpf/place.bpf.h.
 *
 * Kernel: select_task_rq_fair(), record_wakee(), wake_wide(), wake_cap(), wake_affine(),
 *         wake_affine_idle(), wake_affine_weight(), kernel/sched/fair.c
 * Tests: fixtures/wake, fixtures/asym, all/fast_path.rs, all/wake_model_7_3.rs
 */
#include "wakeplace/policy.h"

/* HZ jiffies: a waker's flips are halved at most once a second. */
#define WP_FLIP_DECAY_NS 1000000000ull

/* A waker remembers how often it changes its wakee (docs/rules/wake-ups.md#wake-wide). */
WP_INLINE void wp_record_wakee(const struct wp_ctx *ctx, struct wp_waker *waker, u32 wakee,
			       const struct wp_request *req)
{
	if (req->waker_idle && ctx->params.wakee_flips_fix)
		return;
	if (req->now_ns > waker->flip_decay_ns + WP_FLIP_DECAY_NS) {
		waker->wakee_flips >>= 1;
		waker->flip_decay_ns = req->now_ns;
	}
	if (waker->last_wakee != wakee) {
		waker->last_wakee = wakee;
		waker->wakee_flips++;
	}
}

/*
 * An M:N relation too big for one cache: do not pull the wakees together
 * (docs/rules/wake-ups.md#wake-wide).
 */
WP_INLINE int wp_wake_wide(const struct wp_ctx *ctx, const struct wp_task *task,
			   const struct wp_waker *waker, u32 this_cpu)
{
	u32 factor = WP_AT(ctx->cpus, this_cpu)->topo.llc_size;
	u32 master = wp_max(waker->wakee_flips, task->waker.wakee_flips);
	u32 slave = wp_min(waker->wakee_flips, task->waker.wakee_flips);

	if (!ctx->params.wake_wide)
		return 0;
	return slave >= factor && master >= slave * factor;
}

/* Does the task, brought up to date, need more than a CPU of this capacity has? */
WP_INLINE int wp_too_big_for(const struct wp_ctx *ctx, const struct wp_task *task, u32 capacity)
{
	if (WP_NOT_LIVE(ctx->params.wake_cap_est))
		return !wp_fits_capacity(wp_task_util_est(ctx, task), capacity);
	return wp_unfit(task->avg.util_avg, capacity);
}

/*
 * Within an eighth of the biggest CPU of the root domain: sizes do not matter
 * (docs/rules/capacity-aware.md#wake-cap).
 */
WP_INLINE int wp_about_biggest(const struct wp_ctx *ctx, u32 capacity)
{
	return ctx->max_capacity_orig - capacity < ctx->max_capacity_orig >> 3;
}

/*
 * Waker's or previous CPU too small for the task: the fast path sees only CPUs like them
 * (docs/rules/capacity-aware.md#wake-cap).
 */
WP_INLINE int wp_wake_cap(struct wp_ctx *ctx, struct wp_task *task, const struct wp_request *req)
{
	u32 least = wp_min(WP_AT(ctx->cpus, req->this_cpu)->load.capacity_orig,
			   WP_AT(ctx->cpus, req->prev_cpu)->load.capacity_orig);

	if (!ctx->params.wake_cap)
		return 0;
	if (wp_about_biggest(ctx, least))
		return 0;
	wp_sync_entity_load_avg(ctx, task);
	return wp_too_big_for(ctx, task, least);
}

/* WA_IDLE: decide by who is idle, or will be at once. WP_NONE: undecided. */
WP_INLINE u32 wp_wake_affine_idle(struct wp_ctx *ctx, const struct wp_task *task,
				  const struct wp_request *req, struct wp_decision *dec)
{
	u32 here = req->this_cpu, prev = req->prev_cpu;

	if (!ctx->params.wake_affine_idle)
		return WP_NONE;
	/* An interrupt on an idle CPU must not pull tasks towards itself across an idle prev. */
	if (wp_idle_at(ctx, here) && wp_cpus_share_cache(ctx, here, prev))
		return wp_idle_at(ctx, prev) ? prev : here;
	if (req->sync && wp_nr_awake(WP_AT(ctx->cpus, here)) == 1)
		return here;
	if (wp_short_here(ctx, task, req, dec, WP_SHORT_AFFINE_FIRST))
		return here;
	if (ctx->params.wake_affine_prev_idle && wp_idle_at(ctx, prev))
		return prev;
	if (wp_short_here(ctx, task, req, dec, WP_SHORT_AFFINE_AFTER_PREV))
		return here;
	return WP_NONE;
}

/*
 * WA_WEIGHT: decide by effective load, with a bias towards the waking CPU
 * (docs/rules/wake-ups.md#wake-affine).
 */
WP_INLINE u32 wp_wake_affine_weight(const struct wp_ctx *ctx, const struct wp_task *task,
				    const struct wp_request *req, u32 pct)
{
	const struct wp_cpu *here = WP_AT(ctx->cpus, req->this_cpu);
	const struct wp_cpu *prev = WP_AT(ctx->cpus, req->prev_cpu);
	s64 load = (s64)wp_task_h_load(ctx, task);
	s64 here_load = (s64)wp_target_load(ctx, here, 0);
	s64 prev_load = (s64)wp_source_load(ctx, prev, 0);

	if (!ctx->params.wake_affine_weight)
		return WP_NONE;
	if (req->sync) {
		if ((s64)req->waker_load > here_load)
			return req->this_cpu;
		here_load -= (s64)req->waker_load;
	}
	here_load = (here_load + load) * 100 * (s64)prev->load.capacity;
	prev_load = (prev_load - load) * (s64)(100 + (pct - 100) / 2) * (s64)here->load.capacity;
	if (req->sync)
		prev_load += 1;
	return here_load < prev_load ? req->this_cpu : WP_NONE;
}

/* The target: the waking CPU or, if nothing speaks for that, the previous one. */
WP_FN u32 wp_wake_affine(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
			 const struct wp_request *req WP_NONNULL, u32 pct,
			 struct wp_decision *dec WP_NONNULL)
{
	u32 target = wp_wake_affine_idle(ctx, task, req, dec);

#ifndef WP_LIVE
	if (ctx->params.wake_affine_weight && ctx->params.wake_affine_form != WP_AFFINE_414)
		return wp_wake_affine_4_13(ctx, task, req, pct) ? req->this_cpu : req->prev_cpu;
#endif
	if (target == WP_NONE)
		target = wp_wake_affine_weight(ctx, task, req, pct);
	if (target == WP_NONE && wp_short_here(ctx, task, req, dec, WP_SHORT_AFFINE_LAST))
		target = req->this_cpu;
	return target == WP_NONE ? req->prev_cpu : target;
}

/* What the walk over the waking CPU's domains found. */
struct wp_walk {
	u32 affine; /* lowest WAKE_AFFINE domain that spans prev, WP_NONE: none wanted or found */
	u32 slow;   /* highest domain with the request's flag, for the slow path */
	u32 kept;   /* a level that saves power has room: nothing above it is looked at */
};

/*
 * Which domains of the waking CPU matter: the lowest for an affine wake-up, the highest for the
 * slow path.
 */
WP_FN int wp_walk_domains(const struct wp_ctx *ctx WP_NONNULL,
			  const struct wp_request *req WP_NONNULL, u32 want_affine,
			  struct wp_walk *walk WP_NONNULL)
{
	const struct wp_cpu *here = WP_AT(ctx->cpus, req->this_cpu);
	u32 flag = wp_place_flag(req->kind);
	u32 i;

	walk->affine = WP_NONE;
	walk->slow = WP_NONE;
	walk->kept = 0;
	WP_FOR(i, here->topo.nr_levels, WP_MAX_LEVELS) {
		u32 index = *WP_AT(here->topo.dom, i);
		const struct wp_sched_domain *dom = WP_AT(ctx->doms, index);

#ifndef WP_LIVE
		walk->kept |= (u32)wp_mc_keeps(ctx, dom);
#endif
		if (want_affine && (dom->flags & WP_SD_WAKE_AFFINE) &&
		    wp_span_has(dom, req->prev_cpu)) {
			walk->affine = index;
			walk->slow = WP_NONE;
			break;
		}
		if (WP_NOT_LIVE(walk->kept)) {
			if (!want_affine)
				break;
		} else if (dom->flags & flag) {
			walk->slow = index;
		} else if (!want_affine) {
			break;
		}
	}
	return 0;
}

/* The slow path, from the highest domain with the request's flag down. */
WP_INLINE int wp_select_slow(struct wp_ctx *ctx, struct wp_task *task, const struct wp_request *req,
			     u32 dom, struct wp_decision *dec)
{
	if (req->kind != WP_PLACE_FORK)
		wp_sync_entity_load_avg(ctx, task);
#ifndef WP_LIVE
	if (!ctx->params.idlest_classes && ctx->params.idlest_load != WP_IDLEST_410)
		return wp_find_idlest_down(ctx, task, req, dom, dec);
#endif
	return wp_find_idlest_cpu(ctx, task, req, dom, dec);
}

#ifndef WP_LIVE
/* The idle searches before 5.12. */
WP_INLINE int wp_select_sibling_old(struct wp_ctx *ctx, struct wp_task *task,
				    const struct wp_request *req, u32 target,
				    struct wp_decision *dec)
{
	switch (ctx->params.sis_form) {
	case WP_SIS_GROUPS:
		return wp_select_idle_sibling_4_8(ctx, task, req, target, dec);
	case WP_SIS_LEVELS:
		return wp_select_idle_sibling_3_1(ctx, task, req, target, dec);
	default:
		return wp_select_idle_sibling(ctx, task, req, target, dec);
	}
}
#endif

/* A wake-up: may waker's and previous CPU be compared? */
WP_FN int wp_wants_affine(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			  struct wp_waker *waker WP_NONNULL,
			  const struct wp_request *req WP_NONNULL,
			  struct wp_decision *dec WP_NONNULL)
{
	dec->wide = wp_wake_wide(ctx, task, waker, req->this_cpu);
	return !dec->wide && !wp_wake_cap(ctx, task, req) && wp_allowed(task, req->this_cpu);
}

/* Packing, and the slow path: all that decides for a fork and an exec, and what comes before the
 * search near a target for a wake-up. Returns 0 if that search is to decide. */
WP_INLINE int wp_select_spread(struct wp_ctx *ctx, struct wp_task *task,
			       const struct wp_request *req, struct wp_decision *dec,
			       int want_affine, struct wp_walk *walk)
{
	if (wp_pack_active(ctx) && ctx->params.power_placement &&
	    wp_pack_select(ctx, task, req, dec, (u32)want_affine))
		return 1;
	if (wp_mc_places(ctx, req->kind) && wp_mc_select(ctx, task, req, dec))
		return 1;
	wp_walk_domains(ctx, req, (u32)want_affine, walk);
	if (walk->slow != WP_NONE) {
		wp_select_slow(ctx, task, req, walk->slow, dec);
		return 1;
	}
	if (req->kind == WP_PLACE_WAKE)
		return 0;
	dec->cpu = req->prev_cpu; /* no domain balances forks: stay with the parent */
	dec->rule = WP_RULE_SLOW_PATH;
	dec->reason = WP_NOT_LIVE(walk->kept) ? WP_REASON_SAVES_POWER : WP_REASON_SLOW_LOCAL;
	return 1;
}

/* Everything but energy and affinity: affine target and fast path, or slow path. */
WP_FN int wp_select_normal(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
		     struct wp_waker *waker WP_NONNULL, const struct wp_request *req WP_NONNULL,
		     struct wp_decision *dec WP_NONNULL)
{
	int wake = req->kind == WP_PLACE_WAKE;
	u32 target = req->prev_cpu;
	struct wp_walk walk;
	int want_affine;

	want_affine = wake && wp_wants_affine(ctx, task, waker, req, dec);
	if (wp_select_spread(ctx, task, req, dec, want_affine, &walk))
		return 1;
	if (walk.affine != WP_NONE && req->this_cpu != req->prev_cpu)
		target = wp_wake_affine(ctx, task, req,
					WP_AT(ctx->doms, walk.affine)->imbalance_pct, dec);
	if (wp_rent_keeps(ctx, req, target, dec))
		target = req->prev_cpu;
	WP_EXPLAIN(ctx, wp_explain_target(ctx, target));
#ifndef WP_LIVE
	if (walk.affine == WP_NONE && !ctx->params.sis_always)
		return wp_idle_decide(dec, req->prev_cpu, WP_REASON_PREV_NO_DOMAIN);
	if (!ctx->params.sis_single_pass || ctx->params.sis_form != WP_SIS_SCAN) {
		wp_select_sibling_old(ctx, task, req, target, dec);
		if (want_affine)
			waker->recent_used_cpu = req->this_cpu;
		return 1;
	}
#endif
	if (walk.affine != WP_NONE && wp_rent_paid(ctx, task, req) &&
	    wp_select_near_waker(ctx, task, req, dec))
		return 1;
	return wp_select_idle_sibling(ctx, task, req, target, dec);
}

/* The lowest CPU the task may use: where it goes when nothing else decides. */
WP_FN u32 wp_first_allowed(const struct wp_ctx *ctx WP_NONNULL,
			   const struct wp_task *task WP_NONNULL, u32 otherwise)
{
	u32 word, bit;

	WP_FOR(word, (ctx->nr_cpus + 63) / 64, WP_MASK_WORDS) {
		u64 bits = *WP_AT(task->allowed, word);

		if (!bits)
			continue;
		WP_FOR(bit, 64, 64) {
			u32 cpu = word * 64 + bit;

			if ((bits >> bit & 1) && cpu < ctx->nr_cpus &&
			    WP_AT(ctx->cpus, cpu)->queue.online)
				return cpu;
		}
	}
	return otherwise;
}

/* Nothing is decided yet. Returns 1 if it is all the same: the task has one CPU. */
WP_INLINE int wp_select_begin(struct wp_ctx *ctx, struct wp_task *task,
			      const struct wp_request *req, struct wp_decision *dec)
{
	dec->nr_candidates = 0;
	dec->nr_scanned = 0;
	dec->scan_left = WP_NONE;
	dec->scan_spare = WP_NONE;
	dec->short_target = 0;
	dec->wide = 0;
	dec->nr_idlest_cpus = 0;
	dec->reason = WP_REASON_NONE;
	task->woken_sync = req->kind == WP_PLACE_WAKE && req->sync;
	if (task->nr_allowed != 1)
		return 0;
	dec->cpu = req->prev_cpu; /* the one, unless the set has just changed */
	if (!wp_allowed(task, dec->cpu))
		dec->cpu = wp_first_allowed(ctx, task, req->prev_cpu);
	dec->rule = WP_RULE_AFFINITY;
	dec->reason = WP_REASON_ONE_ALLOWED;
	return 1;
}

/* What the waker is, and whether it wants the task on its CPU. Returns 1 if so. */
WP_INLINE int wp_select_current(const struct wp_task *task, const struct wp_waker *waker,
				const struct wp_request *req, struct wp_decision *dec)
{
	dec->waker_flips = waker->wakee_flips;
	dec->waker_wakee = waker->last_wakee;
	if (!req->current_cpu || !wp_allowed(task, req->this_cpu))
		return 0;
	dec->cpu = req->this_cpu;
	dec->rule = WP_RULE_REQUEST;
	dec->reason = WP_REASON_CURRENT_CPU;
	return 1;
}

/* What was chosen may be forbidden. */
WP_INLINE void wp_select_end(struct wp_ctx *ctx, const struct wp_task *task,
			     const struct wp_request *req, struct wp_decision *dec)
{
	if (wp_allowed(task, dec->cpu))
		return;
	dec->cpu = wp_first_allowed(ctx, task, req->prev_cpu);
	dec->rule = WP_RULE_AFFINITY;
	dec->reason = WP_REASON_NOT_ALLOWED;
}

/*
 * wp_select_task_rq_fair for a task that execs, without what is for wake-ups alone: the verifier
 * need not look at that where only execs are asked about.
 */
WP_FN int wp_select_task_rq_exec(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				 struct wp_waker *waker WP_NONNULL,
				 const struct wp_request *req WP_NONNULL,
				 struct wp_decision *dec WP_NONNULL)
{
	struct wp_walk walk;

	if (wp_select_begin(ctx, task, req, dec) || wp_select_current(task, waker, req, dec))
		return 0;
	WP_EXPLAIN(ctx, wp_explain_no_energy(ctx, req));
	wp_select_spread(ctx, task, req, dec, 0, &walk);
	wp_select_end(ctx, task, req, dec);
	return 0;
}

/*
 * Choose a CPU for a task that wakes, was forked or execs. `waker` is the waking task's record, or
 * the idle_waker of this_cpu. Fills `dec`; carrying it out is the home's work.
 */
WP_FN int wp_select_task_rq_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				 struct wp_waker *waker WP_NONNULL,
				 const struct wp_request *req WP_NONNULL,
				 struct wp_decision *dec WP_NONNULL)
{
	if (wp_select_begin(ctx, task, req, dec))
		return 0;
	if (req->kind == WP_PLACE_WAKE && wp_live_queue_holds(ctx, task, req)) {
		dec->cpu = req->prev_cpu;
		dec->rule = WP_RULE_QUEUE;
		dec->reason = WP_REASON_QUEUE_HOLDS;
		return 0;
	}
	if (req->kind == WP_PLACE_WAKE)
		wp_record_wakee(ctx, waker, task->id, req);
	wp_count_rent(ctx, task, req);
	if (wp_select_current(task, waker, req, dec))
		return 0;
#ifdef WP_LIVE
	if (wp_select_prev_idle(ctx, task, waker, req, dec))
		return 0;
#endif
	if (req->kind != WP_PLACE_WAKE || !ctx->energy_active || ctx->overutilized ||
	    !wp_select_by_energy(ctx, task, req->this_cpu, req->prev_cpu, dec)) {
		WP_EXPLAIN(ctx, wp_explain_no_energy(ctx, req));
		wp_select_normal(ctx, task, waker, req, dec);
	}
	wp_select_end(ctx, task, req, dec);
	return 0;
}
