// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a folder uses of one that stands above it in policy.c: the functions that have no prototype
 * in a header of include/wakeplace, each below the folder that defines it.
 *
 * What must stay: a prototype here is that of its definition, whose file has rule and tests; what
 * kernels before 7.3 alone need stands within `#ifndef WP_LIVE`. May change: an entry goes when no
 * folder below uses it any more.
 *
 * Tests: none of its own; both builds (crates/policy-sys/build.rs, crates/scx) fail with a wrong
 *        prototype.
 */
#ifndef WAKEPLACE_ABOVE_H
#define WAKEPLACE_ABOVE_H

#include "wakeplace/policy.h"

/* frequency */
WP_INLINE u32 wp_cpu_freq_demand(const struct wp_ctx *ctx, const struct wp_cpu *c);
/* energy */
#define WP_NO_ENERGY (~0ull)
WP_INLINE const struct wp_em_perf_table *wp_em_perf_table(const struct wp_perf_domain *pd);
WP_FN u32 wp_cpu_util(const struct wp_ctx *ctx WP_NONNULL, u32 cpu,
		      const struct wp_task *task WP_NONNULL, u32 dst, u32 boost);
WP_INLINE void wp_delta_hints(const struct wp_ctx *ctx, const struct wp_cpu *c,
			      const struct wp_task *task, struct wp_delta_pd *p);
/* balance */
WP_INLINE int wp_capacity_greater(u32 a, u32 b);
WP_INLINE struct wp_sched_domain *wp_bal_dom(struct wp_ctx *ctx, const struct wp_lb_env *bal);
WP_INLINE struct wp_lb *wp_bal_lb(struct wp_ctx *ctx, const struct wp_lb_env *bal);
WP_INLINE int wp_excluded(const struct wp_lb_env *bal, u32 cpu);
WP_INLINE void wp_refresh_local_group(struct wp_ctx *ctx, const struct wp_lb_env *bal);
WP_INLINE u32 wp_interval_max_ms(const struct wp_sched_domain *dom);
/* topology */
WP_INLINE void wp_update_group_capacity(struct wp_ctx *ctx, struct wp_sched_group *g);
/* placement */
WP_INLINE u32 wp_search_level(const struct wp_ctx *ctx, const struct wp_cpu *c);
WP_INLINE void wp_update_idle_core(struct wp_ctx *ctx, const struct wp_cpu *c, u32 cpu);
WP_INLINE u64 wp_scan_cost_ns(const struct wp_ctx *ctx, u32 cpu);
WP_INLINE u32 wp_local_group(const struct wp_ctx *ctx, u32 dom_index, u32 cpu);
WP_INLINE int wp_update_scan_without(struct wp_ctx *ctx, u32 cpu, u32 level, u64 left_out);
WP_INLINE int wp_free_at(const struct wp_ctx *ctx, u32 cpu);
WP_INLINE int wp_has_clusters(const struct wp_ctx *ctx, const struct wp_cpu *c);
WP_INLINE int wp_idle_at(const struct wp_ctx *ctx, u32 cpu);
WP_INLINE int wp_cpus_share_cache(const struct wp_ctx *ctx, u32 a, u32 b);
WP_INLINE u32 wp_smt_dom(const struct wp_ctx *ctx, u32 cpu);

#ifndef WP_LIVE
/* packing */
WP_INLINE u32 wp_mc_scaled(const struct wp_ctx *ctx, u32 cpu, u32 full);
/* frequency */
WP_INLINE int wp_cpufreq_update_util(struct wp_ctx *ctx, struct wp_cpu *c, u64 now_ns);
/* energy */
WP_FN u32 wp_cpu_util_uclamp(const struct wp_ctx *ctx WP_NONNULL, u32 cpu,
			     const struct wp_task *task WP_NONNULL, u32 dst, u32 boost);
#ifdef WP_EAS_REWORK
WP_INLINE int wp_check_pushable_task(struct wp_ctx *ctx, struct wp_task *task);
#endif
/* balance */
WP_FN int wp_update_sg_lb_stats_3_12(struct wp_ctx *ctx WP_NONNULL,
				     struct wp_lb_env *bal WP_NONNULL, u32 group, u32 local);
/* placement */
WP_INLINE int wp_about_biggest(const struct wp_ctx *ctx, u32 capacity);
WP_INLINE int wp_too_big_for(const struct wp_ctx *ctx, const struct wp_task *task, u32 capacity);
/* runqueue */
WP_INLINE int wp_tick_end(struct wp_ctx *ctx, struct wp_cpu *c, u32 cpu, int surplus, u64 now_ns);
#endif

#endif
