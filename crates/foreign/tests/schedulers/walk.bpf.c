/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walks over its queue for a task that may run here, and kicks the CPU that it is for.
 * Rule: docs/rules/sched-ext.md#dispatch.
 *
 * What must stay: `walk_dispatch` moves in the midst of its walk, and `walk_enqueue` kicks: both
 * are what it is for.
 *
 * Tests: crates/cli/tests/all/schedulers.rs::runs_are_the_same_twice_and_interpreted
 */
#include "small.h"

char _license[] SEC("license") = "GPL";

OPS(enqueue)
int walk_enqueue(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);

	dsq_insert(p, SHARED_DSQ, SLICE_NS, args[1]);
	if (args[1] & SCX_ENQ_WAKEUP)
		scx_bpf_kick_cpu(scx_bpf_task_cpu(p), SCX_KICK_PREEMPT);
	return 0;
}

OPS(dispatch)
int walk_dispatch(u64 *args)
{
	struct bpf_iter_scx_dsq it;
	struct task_struct *p;
	s32 cpu = args[0];

	if (bpf_iter_scx_dsq_new(&it, SHARED_DSQ, 0) == 0) {
		while ((p = bpf_iter_scx_dsq_next(&it))) {
			if (!bpf_cpumask_test_cpu(cpu, p->cpus_ptr))
				continue;
			if (scx_bpf_dsq_move(&it, p, SCX_DSQ_LOCAL_ON | cpu, 0))
				break;
		}
	}
	bpf_iter_scx_dsq_destroy(&it);
	return 0;
}

OPS_SLEEPABLE(init)
int walk_init(u64 *args)
{
	return scx_bpf_create_dsq(SHARED_DSQ, -1);
}

SEC(".struct_ops.link")
struct sched_ext_ops walk_ops = {
	.enqueue = (void *)walk_enqueue,
	.dispatch = (void *)walk_dispatch,
	.init = (void *)walk_init,
	.name = "walk",
};
