/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One queue in the order of virtual time: what a task has run, divided by its weight.
 * Rule: docs/rules/sched-ext.md#weights.
 *
 * What must stay: `vtime_stopping` divides by the weight as the kernel's example does; each
 * callback is called by the class.
 *
 * Tests: crates/cli/tests/all/schedulers.rs::runs_are_the_same_twice_and_interpreted,
 * crates/cli/tests/all/schedulers.rs::policies_and_schedulers_are_compared
 */
#include "small.h"

char _license[] SEC("license") = "GPL";

struct sched_ext_entity___more {
	u64 slice;
	u64 dsq_vtime;
	u32 weight;
} __attribute__((preserve_access_index));

struct task_struct___more {
	struct sched_ext_entity___more scx;
} __attribute__((preserve_access_index));

static u64 vtime_now;

#define SCX(p) (((struct task_struct___more *)(p))->scx)

OPS(select_cpu)
int vtime_select_cpu(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	bool is_idle = false;
	s32 cpu = scx_bpf_select_cpu_dfl(p, args[1], args[2], &is_idle);

	if (is_idle)
		dsq_insert(p, SCX_DSQ_LOCAL, SLICE_NS, 0);
	return cpu;
}

OPS(enqueue)
int vtime_enqueue(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	u64 vtime = SCX(p).dsq_vtime;

	/* A sleeper gets no more than one slice. */
	if ((s64)(vtime - (vtime_now - SLICE_NS)) < 0)
		vtime = vtime_now - SLICE_NS;
	dsq_insert_vtime(p, SHARED_DSQ, SLICE_NS, vtime, args[1]);
	return 0;
}

OPS(dispatch)
int vtime_dispatch(u64 *args)
{
	dsq_move_to_local(SHARED_DSQ);
	return 0;
}

OPS(running)
int vtime_running(u64 *args)
{
	u64 vtime = SCX(ARG_TASK(args, 0)).dsq_vtime;

	if ((s64)(vtime - vtime_now) > 0)
		vtime_now = vtime;
	return 0;
}

OPS(stopping)
int vtime_stopping(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	u64 used = SLICE_NS - SCX(p).slice;

	if (SCX(p).weight)
		SCX(p).dsq_vtime += used * 100 / SCX(p).weight;
	return 0;
}

OPS(enable)
int vtime_enable(u64 *args)
{
	SCX(ARG_TASK(args, 0)).dsq_vtime = vtime_now;
	return 0;
}

OPS_SLEEPABLE(init)
int vtime_init(u64 *args)
{
	return scx_bpf_create_dsq(SHARED_DSQ, -1);
}

SEC(".struct_ops.link")
struct sched_ext_ops vtime_ops = {
	.select_cpu = (void *)vtime_select_cpu,
	.enqueue = (void *)vtime_enqueue,
	.dispatch = (void *)vtime_dispatch,
	.running = (void *)vtime_running,
	.stopping = (void *)vtime_stopping,
	.enable = (void *)vtime_enable,
	.init = (void *)vtime_init,
	.name = "vtime",
};
