/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One queue for all CPUs, first in, first out.
 * Rule: docs/rules/sched-ext.md#idle.
 *
 * What must stay: it is the simplest scheduler there is: explanations and results of tests are
 * worked out from these four callbacks.
 *
 * Tests: crates/cli/tests/all/schedulers.rs::a_result_says_which_scheduler_it_was,
 * crates/cli/tests/all/schedulers.rs::explain_says_what_callbacks_did,
 * crates/cli/tests/all/schedulers.rs::runs_are_the_same_twice_and_interpreted
 */
#include "small.h"

char _license[] SEC("license") = "GPL";

OPS(select_cpu)
int fifo_select_cpu(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	bool is_idle = false;
	s32 cpu = scx_bpf_select_cpu_dfl(p, args[1], args[2], &is_idle);

	if (is_idle)
		dsq_insert(p, SCX_DSQ_LOCAL, SLICE_NS, 0);
	return cpu;
}

OPS(enqueue)
int fifo_enqueue(u64 *args)
{
	dsq_insert(ARG_TASK(args, 0), SHARED_DSQ, SLICE_NS, args[1]);
	return 0;
}

OPS(dispatch)
int fifo_dispatch(u64 *args)
{
	dsq_move_to_local(SHARED_DSQ);
	return 0;
}

OPS_SLEEPABLE(init)
int fifo_init(u64 *args)
{
	return scx_bpf_create_dsq(SHARED_DSQ, -1);
}

SEC(".struct_ops.link")
struct sched_ext_ops fifo_ops = {
	.select_cpu = (void *)fifo_select_cpu,
	.enqueue = (void *)fifo_enqueue,
	.dispatch = (void *)fifo_dispatch,
	.init = (void *)fifo_init,
	.name = "fifo",
};
