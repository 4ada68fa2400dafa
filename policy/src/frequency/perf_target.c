// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A sched_ext scheduler says at which performance a CPU is to run: schedutil takes that for the
 * demand of the fair class (docs/rules/sched-ext.md#cpuperf).
 *
 * What must stay: 0..1024 as sched_ext has it; without a target the fair class's demand counts.
 * Free: where the target is kept.
 *
 * Tests by part: (below crates/policy-sys/tests) all/frequency.rs:
 * `a_schedulers_target_is_the_demand` (`wp_scx_bpf_cpuperf_set`).
 *
 * Callers: `Core::set_perf_target` (crates/policy-sys/src/classes.rs), for sched_ext schedulers
 * that run in the simulator.
 *
 * Kernel: scx_bpf_cpuperf_set(), kernel/sched/ext.c, 6.12 on
 * Tests: all/frequency.rs
 */
#include "wakeplace/policy.h"

/* From now on the CPU is to run at `perf`, 0..1024. Returns WP_DID_FREQ if its domain has a new
 * request. */
WP_FN int wp_scx_bpf_cpuperf_set(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 perf, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	c->queue.classes.perf_target = wp_min(perf, WP_SCALE) + 1;
	return wp_cpufreq_update_util(ctx, c, now_ns);
}
