/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A loader with a loop of its own tells it something: told[0] is the loader's, told[1] counts
 * wake-ups, told[2] is when the loader's word was seen first, ns.
 * Rule: docs/rules/sched-ext.md#loader.
 *
 * What must stay: the three places of `told` (`entry`) are read and written by
 * crates/bpf-load/examples/goes_on.rs.
 *
 * Tests: crates/cli/tests/all/schedulers.rs::a_loader_runs_in_virtual_time,
 * crates/cli/tests/all/schedulers.rs::runs_with_a_loader_beside_them_are_the_same
 */
#include "small.h"

#define BPF_MAP_TYPE_RINGBUF 27

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 3);
	__type(key, u32);
	__type(value, u64);
} told SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} records SEC(".maps");

static u64 *entry(u32 key)
{
	return bpf_map_lookup_elem(&told, &key);
}

OPS(select_cpu)
int told_select_cpu(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	u64 *word = entry(0), *wakeups = entry(1), *seen = entry(2);
	bool is_idle = false;
	s32 cpu = scx_bpf_select_cpu_dfl(p, args[1], args[2], &is_idle);

	if (!word || !wakeups || !seen)
		return cpu;
	(*wakeups)++;
	if (*word && !*seen) {
		*seen = bpf_ktime_get_ns();
		bpf_ringbuf_output(&records, seen, sizeof(*seen), 0);
	}
	if (is_idle)
		dsq_insert(p, SCX_DSQ_LOCAL, SLICE_NS + *word % 7 * 1000, 0);
	return cpu;
}

OPS(enqueue)
int told_enqueue(u64 *args)
{
	dsq_insert(ARG_TASK(args, 0), SHARED_DSQ, SLICE_NS, args[1]);
	return 0;
}

OPS(dispatch)
int told_dispatch(u64 *args)
{
	dsq_move_to_local(SHARED_DSQ);
	return 0;
}

OPS_SLEEPABLE(init)
int told_init(u64 *args)
{
	return scx_bpf_create_dsq(SHARED_DSQ, -1);
}

SEC(".struct_ops.link")
struct sched_ext_ops told_ops = {
	.select_cpu = (void *)told_select_cpu,
	.enqueue = (void *)told_enqueue,
	.dispatch = (void *)told_dispatch,
	.init = (void *)told_init,
	.name = "told",
};
