/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every kind of map, a timer, loops and callbacks: what they count decides the slice.
 * Page: docs/guide/schedulers.md, "What its programs see".
 *
 * What must stay: every kind of map and helper that it uses has a part in the slice, so that a
 * fault changes the run. `add`, `spread` and `fire` are called by helpers.
 *
 * Tests: crates/cli/tests/all/schedulers.rs::runs_are_the_same_twice_and_interpreted,
 * crates/cli/tests/all/schedulers.rs::damaged_objects_are_refused_or_run
 */
#include "small.h"

char _license[] SEC("license") = "GPL";

#define BPF_MAP_TYPE_HASH 1
#define BPF_MAP_TYPE_QUEUE 22
#define BPF_MAP_TYPE_RINGBUF 27

struct counts {
	u64 wakeups;
	u64 slices;
};

struct due {
	struct bpf_timer timer;
	u64 fired;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, u32);
	__type(value, struct counts);
} by_pid SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, u64);
} per_cpu SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct counts);
} per_task SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct due);
} timers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 8);
	__type(value, u32);
} recent SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events SEC(".maps");

static u64 total;
static u64 slice_ns = SLICE_NS;

static int add(void *map, u32 *key, struct counts *value, u64 *sum)
{
	*sum += value->wakeups;
	return 0;
}

static int spread(u32 at, u64 *sum)
{
	*sum ^= (u64)at << (at & 7);
	return at >= 20;
}

static int fire(void *map, u32 *key, struct due *due)
{
	u64 sum = 0;

	due->fired++;
	bpf_for_each_map_elem(&by_pid, add, &sum, 0);
	bpf_loop(40, spread, &sum, 0);
	total = sum;
	slice_ns = SLICE_NS + (sum % 7) * 100000;
	bpf_timer_start(&due->timer, 3000000, 0);
	return 0;
}

OPS(select_cpu)
int maps_select_cpu(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	struct counts *of_task, *of_pid, first = {};
	u32 pid = p->pid, zero = 0, old;
	bool is_idle = false;
	u64 *cell, *event;
	s32 cpu;

	of_task = bpf_task_storage_get(&per_task, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (of_task)
		__sync_fetch_and_add(&of_task->wakeups, 1);
	of_pid = bpf_map_lookup_elem(&by_pid, &pid);
	if (of_pid)
		of_pid->wakeups++;
	else
		bpf_map_update_elem(&by_pid, &pid, &first, 0);
	cell = bpf_map_lookup_elem(&per_cpu, &zero);
	if (cell)
		(*cell)++;
	if (bpf_map_push_elem(&recent, &pid, 0))
		bpf_map_pop_elem(&recent, &old);
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (event) {
		*event = pid;
		bpf_ringbuf_submit(event, 0);
	}
	cpu = scx_bpf_select_cpu_dfl(p, args[1], args[2], &is_idle);
	if (is_idle)
		dsq_insert(p, SCX_DSQ_LOCAL, slice_ns, 0);
	return cpu;
}

OPS(enqueue)
int maps_enqueue(u64 *args)
{
	dsq_insert(ARG_TASK(args, 0), SHARED_DSQ, slice_ns, args[1]);
	return 0;
}

OPS(dispatch)
int maps_dispatch(u64 *args)
{
	dsq_move_to_local(SHARED_DSQ);
	return 0;
}

OPS_SLEEPABLE(init)
int maps_init(u64 *args)
{
	u32 zero = 0;
	struct due *due = bpf_map_lookup_elem(&timers, &zero);

	if (!due)
		return -2;
	bpf_timer_init(&due->timer, &timers, CLOCK_MONOTONIC);
	bpf_timer_set_callback(&due->timer, fire);
	bpf_timer_start(&due->timer, 1000000, 0);
	return scx_bpf_create_dsq(SHARED_DSQ, -1);
}

SEC(".struct_ops.link")
struct sched_ext_ops maps_ops = {
	.select_cpu = (void *)maps_select_cpu,
	.enqueue = (void *)maps_enqueue,
	.dispatch = (void *)maps_dispatch,
	.init = (void *)maps_init,
	.name = "maps",
};
